/* t_nn_memory.c - the n-th allocation fails in layers, losses, optimizers, averages and
 * checkpoints: each gives an error or works, nothing crashes, and (under the address sanitizer)
 * nothing leaks. */
#include "base/alloc.h"
#include "nn/optim_rule.h"
#include "suite.h"
#include <lazuli/lazuli.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char path[300];

static bool layers(void)
{
    lz_params ps = {0};
    lz_attention_layer at;
    lz_norm_layer bn;
    lz_rnn_layer r;
    lz_conv_layer c;
    lz_kv_cache k = {0};
    bool ok = lz_scope_begin() == LZ_OK;
    if (!ok)
        return false;
    ok = lz_attention_layer_init(&at, &ps, "at", 8, 2, LZ_F32, .rotary_base = 100) == LZ_OK &&
         lz_norm_layer_init(&bn, LZ_BATCH_NORM, &ps, "bn", 3, LZ_F32) == LZ_OK &&
         lz_rnn_layer_init(&r, LZ_LSTM, &ps, "r", 8, 4, 2, true, LZ_F32) == LZ_OK &&
         lz_conv_layer_init(&c, 1, &ps, "c", 3, 2, LZ_F32, .kernel = {3}) == LZ_OK &&
         lz_kv_cache_init(&k, 2, 2, 3, 4, LZ_F32) == LZ_OK;
    if (ok) {
        lz_tensor *x = lz_ones(LZ_F32, LZ_SHAPE(2, 3, 8)), *h;
        lz_tensor *y = lz_attention_layer_forward(&at, x, .cache = &k);
        y = lz_norm_layer_forward(&bn, y, true);
        y = lz_add(y, lz_attention_layer_forward(&at, x, .is_causal = true));
        lz_tensor *z = lz_rnn_layer_forward(&r, y, NULL, NULL, &h, NULL);
        ok = lz_status_of(z) == LZ_OK && lz_status_of(h) == LZ_OK;
        lz_tensor *w = lz_conv_layer_forward(&c, lz_dropout(y, 0.5, true));
        lz_tensor *labels = lz_zeros(LZ_I32, LZ_SHAPE(2, 4));
        lz_tensor *loss = lz_cross_entropy(z, labels, .label_smoothing = 0.1);
        loss = lz_add(loss, lz_huber_loss(w, lz_zeros(LZ_F32, LZ_SHAPE(2, 2, 6))));
        ok = ok && lz_status_of(loss) == LZ_OK && lz_backward(loss) == LZ_OK;
        ok = ok && lz_status_of(lz_clip_grad_norm(&ps, 1, 2)) == LZ_OK;
    }
    lz_scope_end();
    lz_kv_cache_free(&k);
    lz_params_free(&ps);
    return ok;
}

static bool training(void)
{
    lz_params ps = {0}, some = {0};
    bool ok = lz_scope_begin() == LZ_OK;
    if (!ok)
        return false;
    float w[4] = {1, 2, 3, 4};
    ok = lz_params_add(&ps, "w", lz_from_host(LZ_F32, LZ_SHAPE(4), w)) == LZ_OK;
    lz_optim *o = ok ? lz_rmsprop(&ps, .momentum = 0.5, .centered = true) : NULL;
    lz_ema *e = o ? lz_ema_new(&ps, 0.5) : NULL;
    ok = o && e && lz_optim_add_group(o, &some) == LZ_OK;
    if (ok) {
        ok = lz_backward(lz_sum(lz_mul(ps.tensors[0], ps.tensors[0]))) == LZ_OK &&
             lz_optim_step(o) == LZ_OK && lz_ema_update(e) == LZ_OK && lz_mark_step() == LZ_OK;
        lz_checkpoint c = {.struct_size = sizeof c, .params = &ps, .optim = o, .ema = e, .step = 1};
        ok = ok && lz_checkpoint_save(path, &c) == LZ_OK && lz_checkpoint_load(path, &c) == LZ_OK &&
             lz_mark_step() == LZ_OK;
        ok = ok && lz_params_load(&ps, path, .partial = true) == LZ_OK && lz_mark_step() == LZ_OK;
    }
    lz_optim_free(o);
    lz_ema_free(e);
    lz_params_free(&ps);
    lz_scope_end();
    (void)!lz_wait_device_ops();
    return ok;
}

START_TEST(every_allocation_may_fail)
{
    bool (*const scenario)(void) = _i ? training : layers;
    const char *tmp = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/memory.safetensors", tmp ? tmp : "/tmp");
    ck_assert_int_eq(lz_set_device("REF:0"), LZ_OK);
    ck_assert_msg(scenario(), "%s", lz_last_error_text());
    ck_assert_msg(scenario(), "%s", lz_last_error_text());
    int step = getenv("LZ_TEST_QUICK") ? 7 : 1, failed = 0;
    for (int n = 1; n < 20000; n += step) {
        uint64_t before = lz_alloc_failed_count();
        lz_alloc_fail_at(n, false);
        bool ok = scenario();
        lz_alloc_fail_at(0, false);
        bool hit = lz_alloc_failed_count() != before;
        ck_assert_msg(ok || hit, "allocation %d: %s", n, lz_last_error_text());
        failed += !ok;
        (void)!lz_mark_step(); /* reports what is left of the failure */
        if (!hit)
            break;
        ck_assert_int_lt(n, 19000);
    }
    ck_assert_int_gt(failed, 0);
    ck_assert_msg(scenario(), "afterwards: %s", lz_last_error_text());
    unlink(path);
}
END_TEST

/* One step of sgd with gradients of 1 and its failure at the n-th allocation. Whether it failed. */
static bool a_step_fails(lz_optim *o, lz_params *ps, lz_grad_scaler *g, int n)
{
    lz_tensor *sum = lz_add(ps->tensors[0], lz_add(ps->tensors[1], ps->tensors[2]));
    ck_assert_int_eq(lz_optim_zero_grad(o), LZ_OK);
    ck_assert_int_eq(lz_backward(lz_grad_scaler_scale(g, sum)), LZ_OK);
    lz_alloc_fail_at(n, false);
    lz_status s = g->options.disabled ? lz_optim_step(o) : lz_grad_scaler_step(g, o);
    lz_alloc_fail_at(0, false);
    ck_assert_msg(s == LZ_OK || s == LZ_EMEM, "%s", lz_last_error_text());
    lz_clear_error();
    return s != LZ_OK;
}

static int64_t steps_of(const lz_optim *o, int group, size_t i)
{
    return i < o->groups[group].n ? o->groups[group].step[i] : 0;
}

/* A step that fails between two parameters counts as one of those that it has updated: what a
 * checkpoint says of the others, and their correction of the bias, is of the updates they got. */
START_TEST(failed_steps_count_for_the_updated_parameters)
{
    ck_assert_int_eq(lz_set_device("REF:0"), LZ_OK);
    bool hit = true, partly = false;
    for (int n = 1; hit && n < 20000; n++) {
        lz_scope_begin();
        lz_params ps = {0};
        lz_grad_scaler *g = lz_grad_scaler_new(.init_scale = 1, .disabled = _i == 0);
        ck_assert_int_eq(lz_params_add(&ps, "a", lz_zeros(LZ_F32, LZ_SCALAR)), LZ_OK);
        ck_assert_int_eq(lz_params_add(&ps, "b", lz_zeros(LZ_F32, LZ_SCALAR)), LZ_OK);
        lz_optim *o = lz_sgd(&ps, .lr = 1);
        lz_params other = {0};
        ck_assert_int_eq(lz_params_add(&other, "c", lz_zeros(LZ_F32, LZ_SCALAR)), LZ_OK);
        ck_assert_int_eq(lz_optim_add_group(o, &other), LZ_OK);
        lz_params all = {.tensors =
                             (lz_tensor *[]){ps.tensors[0], ps.tensors[1], other.tensors[0]}};
        ck_assert_int_eq(lz_mark_step(), LZ_OK);
        uint64_t before = lz_alloc_failed_count();
        bool failed = a_step_fails(o, &all, g, n);
        hit = lz_alloc_failed_count() != before;
        ck_assert_int_eq(lz_mark_step(), LZ_OK);
        const int64_t steps[] = {steps_of(o, 0, 0), steps_of(o, 0, 1), steps_of(o, 1, 0)};
        for (int i = 0; i < 3; i++)
            ck_assert_msg(lz_item(all.tensors[i]) == -(double)steps[i],
                          "allocation %d, parameter %d: %g after %d steps", n, i,
                          lz_item(all.tensors[i]), (int)steps[i]);
        partly = partly || (failed && steps[0] && !steps[2]);
        lz_optim_free(o);
        lz_grad_scaler_free(g);
        lz_params_free(&other);
        lz_params_free(&ps);
        lz_scope_end();
    }
    ck_assert(!hit && (partly || _i)); /* the scaler has made room before the updates */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("nn memory");
    TCase *t = tcase_create("nn memory");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, every_allocation_may_fail, 0, 2);
    tcase_add_loop_test(t, failed_steps_count_for_the_updated_parameters, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
