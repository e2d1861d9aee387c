/* t_nn_memory.c - the n-th allocation fails in layers, losses, optimizers, averages and
 * checkpoints: each gives an error or works, nothing crashes, what changes many tensors changes all
 * or none, and (under the address sanitizer) nothing leaks. */
#include "base/alloc.h"
#include "nn/optim_rule.h"
#include "runtime/graph/thread_state.h"
#include "suite.h"
#include <lazuli/lazuli.h>
#include <pthread.h>
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

/* A train step as a function: traced, and called once. n: which allocation of the call fails; 0:
 * none. w: the parameter afterwards, of a call that fails and then does not, or of one. */
static lz_tensor *weight;
static void function_step(lz_tensor *const *in, lz_tensor **out, void *optim)
{
    (void)in;
    lz_tensor *noise = lz_rand(LZ_F32, LZ_SHAPE(4));
    (void)lz_optim_zero_grad(optim);
    out[0] = lz_sum(lz_mul(lz_mul(weight, weight), noise));
    (void)lz_backward(out[0]);
    (void)lz_optim_step(optim);
}

/* Sets the thread's pools aside but for a few objects, so that those after them are allocations. */
static lz_pool held[LZ_POOL_KINDS];

static void hold_pools(int left)
{
    lz_thread_state *t = lz_thread_state_get();
    for (int k = 0; k < LZ_POOL_KINDS; k++) {
        void *few[16];
        for (int i = 0; i < left; i++)
            few[i] = lz_pool_take(t, (lz_pool_kind)k);
        held[k] = t->pool[k];
        t->pool[k] = (lz_pool){0};
        for (int i = 0; i < left; i++)
            lz_pool_give(t, (lz_pool_kind)k, few[i]);
    }
}

/* What is in them by now is not used again. */
static void give_pools(void)
{
    memcpy(lz_thread_state_get()->pool, held, sizeof held);
}

static bool function_with(int n, int left, float *w, bool *hit, bool *late)
{
    lz_params ps = {0};
    float first[4] = {1, 2, 3, 4};
    lz_tensor *out;
    lz_function *f = NULL;
    if (lz_scope_begin() != LZ_OK)
        return false;
    bool ok = lz_params_add(&ps, "w", lz_from_host(LZ_F32, LZ_SHAPE(4), first)) == LZ_OK;
    lz_optim *o = ok ? lz_adam(&ps, .amsgrad = true) : NULL;
    weight = ok ? ps.tensors[0] : NULL;
    ok = o && lz_requires_grad(weight, true) == LZ_OK && lz_manual_seed(1) == LZ_OK &&
         lz_function_trace(function_step, o, NULL, 0, 1, &f) == LZ_OK;
    if (ok && n) {
        uint64_t before = lz_alloc_failed_count();
        hold_pools(left);
        lz_alloc_fail_at(n, false);
        ok = lz_function_call(f, NULL, 0, &out, 1) == LZ_OK;
        *late = lz_wait_device_ops() != LZ_OK && ok; /* the device ran short, as of a step */
        lz_alloc_fail_at(0, false);
        give_pools();
        *hit = lz_alloc_failed_count() != before;
        if (!ok)
            ok = lz_function_call(f, NULL, 0, &out, 1) == LZ_OK;
    } else if (ok) {
        ok = lz_function_call(f, NULL, 0, &out, 1) == LZ_OK;
    }
    ok = ok && (!w || (late && *late) || lz_to_host(weight, w, 16) == LZ_OK);
    lz_function_free(f);
    lz_optim_free(o);
    lz_params_free(&ps);
    lz_scope_end();
    (void)!lz_wait_device_ops();
    return ok;
}

static bool function(void)
{
    return function_with(0, 0, NULL, NULL, NULL);
}

START_TEST(a_call_without_memory_assigns_nothing)
{
    float want[4], got[4];
    bool hit = true, late = false;
    int left = _i / 2;
    ck_assert_int_eq(lz_set_device(_i % 2 ? "CPU:0" : "REF:0"), LZ_OK);
    ck_assert_msg(function_with(0, 0, want, NULL, NULL), "%s", lz_last_error_text());
    for (int n = 1; hit; n++) {
        ck_assert_msg(function_with(n, left, got, &hit, &late),
                      "%d objects left, allocation %d: %s", left, n, lz_last_error_text());
        for (int i = 0; i < 4 && !late; i++)
            ck_assert_msg(want[i] == got[i],
                          "%d objects left, allocation %d: element %d is %g, not %g", left, n, i,
                          got[i], want[i]);
        (void)!lz_mark_step(); /* reports what is left of the failure */
    }
}
END_TEST

/* A function in a function, which does not look at the status of the call. */
static lz_tensor *first, *second;
static void changes_two(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)in, (void)user;
    out[0] = lz_rand(LZ_F32, LZ_SHAPE(2));
    (void)!lz_assign(first, lz_add_scalar(first, 1));
    (void)!lz_assign(second, lz_mul_scalar(second, 2));
}

static void calls_and_goes_on(lz_tensor *const *in, lz_tensor **out, void *inner)
{
    lz_tensor *r;
    (void)in;
    (void)!lz_function_call(inner, NULL, 0, &r, 1);
    out[0] = lz_add(first, second);
}

START_TEST(a_call_inside_is_recorded_whole_or_not_at_all)
{
    lz_function *inner, *outer;
    lz_tensor *out;
    bool hit = true;
    ck_assert_int_eq(lz_set_device("REF:0"), LZ_OK);
    for (int n = 1; hit; n++) {
        uint64_t before = lz_alloc_failed_count();
        lz_scope_begin();
        first = lz_from_host(LZ_F32, LZ_SCALAR, &(float){1});
        second = lz_from_host(LZ_F32, LZ_SCALAR, &(float){3});
        ck_assert_int_eq(lz_function_trace(changes_two, NULL, NULL, 0, 1, &inner), LZ_OK);
        hold_pools(_i);
        lz_alloc_fail_at(n, false);
        lz_status s = lz_function_trace(calls_and_goes_on, inner, NULL, 0, 1, &outer);
        lz_alloc_fail_at(0, false);
        give_pools();
        hit = lz_alloc_failed_count() != before;
        if (s == LZ_OK) {
            lz_rng_state old, now;
            ck_assert_int_eq(lz_get_rng_state(&old), LZ_OK);
            ck_assert_int_eq(lz_function_call(outer, NULL, 0, &out, 1), LZ_OK);
            ck_assert_int_eq(lz_get_rng_state(&now), LZ_OK);
            bool drew = now.counter != old.counter;
            double a = lz_item(first), b = lz_item(second);
            ck_assert_msg((a == 2 && b == 6 && drew) || (hit && a == 1 && b == 3 && !drew),
                          "allocation %d: %g and %g, %s numbers drawn", n, a, b,
                          drew ? "with" : "no");
        }
        ck_assert(hit || s == LZ_OK);
        lz_function_free(s == LZ_OK ? outer : NULL);
        lz_function_free(inner);
        lz_scope_end();
        lz_clear_error();
    }
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    bool (*const scenario)(void) = _i == 2 ? function : _i ? training : layers;
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
    /* a step without memory for its name scope goes on without: that is no failure to look at */
    ck_assert_int_eq(lz_name_scope_begin("optimizer"), LZ_OK);
    ck_assert_int_eq(lz_name_scope_end(), LZ_OK);
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

/* ---- what changes many tensors changes all or none ---- */

enum { MANY = 40 }; /* more than a list that grows has room for at first */

typedef struct many {
    lz_params ps;
    lz_optim *o;
    lz_ema *e;
    lz_grad_scaler *g;
    int64_t step; /* of the checkpoint that was loaded last */
} many;

static char checkpoint[300], doubles[300];

static lz_status load_all(many *m)
{
    lz_checkpoint c = {
        .struct_size = sizeof c, .params = &m->ps, .optim = m->o, .ema = m->e, .scaler = m->g};
    lz_status s = lz_checkpoint_load(checkpoint, &c);
    m->step = c.step;
    return s;
}
static lz_status load_converted(many *m)
{
    return lz_params_load(&m->ps, doubles);
}
static lz_status average(many *m)
{
    return lz_ema_update(m->e);
}
static lz_status swap(many *m)
{
    return lz_ema_swap(m->e);
}
static lz_status clip_norm(many *m)
{
    return lz_status_of(lz_clip_grad_norm(&m->ps, 1, 2));
}
static lz_status clip_value(many *m)
{
    return lz_clip_grad_value(&m->ps, 0.5);
}
static lz_status unscale(many *m)
{
    return lz_grad_scaler_unscale(m->g, m->o);
}

static const struct {
    const char *name;
    lz_status (*change)(many *m);
} changes[] = {{"lz_checkpoint_load", load_all},   {"lz_params_load", load_converted},
               {"lz_ema_update", average},         {"lz_ema_swap", swap},
               {"lz_clip_grad_norm", clip_norm},   {"lz_clip_grad_value", clip_value},
               {"lz_grad_scaler_unscale", unscale}};
enum { CHANGES = sizeof changes / sizeof *changes };

/* Parameters of some dtype that have gradients of 4, and averages, which lag behind. */
static void many_begin(many *m, lz_dtype dtype, double value)
{
    *m = (many){0};
    lz_scope_begin();
    ck_assert_int_eq(lz_manual_seed((uint64_t)value), LZ_OK);
    lz_tensor *sum = NULL;
    for (int i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        ck_assert_int_eq(lz_params_add(&m->ps, name, lz_full(dtype, LZ_SCALAR, value + i)), LZ_OK);
    }
    ck_assert_int_eq(lz_mark_step(), LZ_OK);
    m->o = lz_sgd(&m->ps, .lr = value, .momentum = 0.5);
    m->e = lz_ema_new(&m->ps, 0.5);
    m->g = lz_grad_scaler_new(.init_scale = 2 * value);
    ck_assert(m->o && m->e && m->g);
    for (int i = 0; i < MANY; i++) {
        lz_tensor *p = m->ps.tensors[i];
        sum = sum ? lz_add(sum, p) : p;
    }
    ck_assert_int_eq(lz_backward(lz_mul_scalar(sum, 4)), LZ_OK);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(lz_assign(m->ps.tensors[i], lz_full(dtype, LZ_SCALAR, 2 * value + i)),
                         LZ_OK);
    ck_assert_int_eq(lz_mark_step(), LZ_OK);
}

static void many_end(many *m)
{
    lz_optim_free(m->o);
    lz_ema_free(m->e);
    lz_grad_scaler_free(m->g);
    lz_params_free(&m->ps);
    lz_scope_end();
}

enum { SEEN = 3 * MANY + 5 };

static void look(const many *m, double v[SEEN])
{
    lz_rng_state r;
    for (int i = 0; i < MANY; i++) {
        *v++ = lz_item(m->ps.tensors[i]);
        *v++ = lz_item(lz_ema_params(m->e)->tensors[i]);
        *v++ = lz_item(lz_grad_of(m->ps.tensors[i]));
    }
    ck_assert_int_eq(lz_get_rng_state(&r), LZ_OK);
    *v++ = lz_item(lz_grad_scaler_get_scale(m->g));
    *v++ = lz_optim_lr(m->o);
    *v++ = (double)r.seed;
    *v++ = (double)r.counter;
    *v++ = (double)m->step;
}

typedef struct attempt {
    many *m;
    int row, n;
    lz_status status;
    char error[300];
} attempt;

/* In a thread of its own, whose lists are short. */
static void *attempts(void *p)
{
    attempt *a = p;
    if ((a->status = lz_set_device("REF:0")) != LZ_OK)
        return NULL;
    lz_alloc_fail_at(a->n, false);
    a->status = changes[a->row].change(a->m);
    lz_alloc_fail_at(0, false);
    snprintf(a->error, sizeof a->error, "%s", lz_last_error_text());
    lz_clear_error();
    return NULL;
}

/* Row i with its n-th allocation failing, n > 0, or with a parameter that was released. Whether it
 * failed for that. */
static bool changed_in_part(int i, int n)
{
    double before[SEEN], after[SEEN];
    many m;
    many_begin(&m, LZ_F32, 2);
    look(&m, before);
    uint64_t count = lz_alloc_failed_count();
    lz_tensor *gone = m.ps.tensors[MANY / 2];
    if (n == 0)
        m.ps.tensors[MANY / 2] = lz_matmul(gone, gone); /* an error */
    attempt a = {.m = &m, .row = i, .n = n};
    pthread_t t;
    ck_assert_int_eq(pthread_create(&t, NULL, attempts, &a), 0);
    pthread_join(t, NULL);
    lz_status s = a.status;
    bool hit = n ? lz_alloc_failed_count() != count : s != LZ_OK;
    ck_assert_msg(s == LZ_OK || hit, "%s, allocation %d: %s", changes[i].name, n, a.error);
    m.ps.tensors[MANY / 2] = gone;
    (void)!lz_mark_step(); /* reports what is left of the failure */
    lz_clear_error();
    look(&m, after);
    bool same = memcmp(before, after, sizeof before) == 0;
    for (int k = 0; s != LZ_OK && !same && k < SEEN; k++)
        ck_assert_msg(before[k] == after[k], "%s, allocation %d failed: number %d was %g and is %g",
                      changes[i].name, n, k, before[k], after[k]);
    ck_assert_msg(same == (s != LZ_OK), "%s changes nothing", changes[i].name);
    many_end(&m);
    return hit;
}

START_TEST(many_tensors_change_together_or_not_at_all)
{
    const char *tmp = getenv("TMPDIR");
    many other;
    ck_assert_int_eq(lz_set_device("REF:0"), LZ_OK);
    snprintf(checkpoint, sizeof checkpoint, "%s/many.safetensors", tmp ? tmp : "/tmp");
    snprintf(doubles, sizeof doubles, "%s/doubles.safetensors", tmp ? tmp : "/tmp");
    many_begin(&other, LZ_F32, 7);
    ck_assert_int_eq(lz_optim_step(other.o), LZ_OK);
    lz_checkpoint c = {.struct_size = sizeof c,
                       .params = &other.ps,
                       .optim = other.o,
                       .ema = other.e,
                       .scaler = other.g,
                       .step = 5};
    ck_assert_int_eq(lz_checkpoint_save(checkpoint, &c), LZ_OK);
    many_end(&other);
    many_begin(&other, LZ_F64, 9);
    ck_assert_int_eq(lz_params_save(&other.ps, doubles), LZ_OK);
    many_end(&other);
    (void)changed_in_part(_i, 0);
    int step = getenv("LZ_TEST_QUICK") ? 7 : 1, n = 1;
    while (changed_in_part(_i, n))
        n += n < 200 ? step : 7 * step;
    ck_assert_int_gt(n, 1);
    unlink(checkpoint);
    unlink(doubles);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("nn memory");
    TCase *t = tcase_create("nn memory");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, every_allocation_may_fail, 0, 3);
    tcase_add_loop_test(t, a_call_inside_is_recorded_whole_or_not_at_all, 0, 16);
    tcase_add_loop_test(t, a_call_without_memory_assigns_nothing, 0, 24);
    tcase_add_loop_test(t, failed_steps_count_for_the_updated_parameters, 0, 2);
    tcase_add_loop_test(t, many_tensors_change_together_or_not_at_all, 0, CHANGES);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
