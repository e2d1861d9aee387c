/* t_amp.c - automatic mixed precision: which function takes what, gradients through the
 * conversions, and loss scaling. */
#include "suite.h"
#include "runtime/graph/autocast.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#define OK(call) ck_assert_msg((call) == LZ_OK, "%s", lz_last_error_text())
#define IS(t, d)                                                                                   \
    ck_assert_msg(lz_dtype_of(t) == (d), "%s is %s, not %s (%s)", #t,                              \
                  lz_dtype_name(lz_dtype_of(t)), lz_dtype_name(d), lz_last_error_text())

static const struct {
    const char *name;
    lz_autocast_policy policy;
    const void *function; /* the table names functions that there are */
} rows[] = {
#define LZ_AUTOCAST(name, policy) {#name, LZ_AUTOCAST_##policy, (const void *)(size_t)name##_at},
#include "runtime/graph/autocast.def"
#undef LZ_AUTOCAST
};
enum { ROWS = sizeof rows / sizeof *rows };

START_TEST(the_table_is_sorted_and_found)
{
    for (int i = 0; i < ROWS; i++) {
        ck_assert(i == 0 || strcmp(rows[i - 1].name, rows[i].name) < 0);
        ck_assert_int_eq(lz_autocast_policy_of(rows[i].name), rows[i].policy);
    }
    ck_assert_int_eq(lz_autocast_policy_of("lz_add"), LZ_AUTOCAST_NONE);
    ck_assert_int_eq(lz_autocast_policy_of(""), LZ_AUTOCAST_NONE);
    ck_assert_int_eq(lz_autocast_policy_of("lz_zeros"), LZ_AUTOCAST_NONE);
}
END_TEST

/* ---- dtypes ---- */

static float wave(int i)
{
    return sinf(1.7f * (float)i + 0.3f);
}

static lz_tensor *data(lz_shape s)
{
    float v[512];
    int64_t n = 1;
    for (int i = 0; i < s.rank; i++)
        n *= s.dims[i];
    for (int i = 0; i < n; i++)
        v[i] = wave(i);
    return lz_from_host(LZ_F32, s, v);
}

static void same(lz_tensor *a, lz_tensor *b, double tolerance, const char *what)
{
    float x[512], y[512];
    ck_assert_int_eq(lz_numel(a), lz_numel(b));
    size_t n = (size_t)lz_numel(a);
    OK(lz_to_host(lz_to(a, LZ_F32), x, n * sizeof *x));
    OK(lz_to_host(lz_to(b, LZ_F32), y, n * sizeof *y));
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(fabsf(x[i] - y[i]) <= tolerance * (1 + fabsf(y[i])),
                      "%s: element %zu is %g, not %g", what, i, (double)x[i], (double)y[i]);
}

static const lz_dtype low[] = {LZ_BF16, LZ_F16};

START_TEST(operands_become_what_the_table_says)
{
    lz_dtype d = low[_i], other = low[1 - _i];
    lz_scope_begin();
    lz_tensor *a = data(LZ_SHAPE(3, 4)), *b = data(LZ_SHAPE(4, 5)), *w = data(LZ_SHAPE(2, 4)),
              *bias = data(LZ_SHAPE(2)), *image = data(LZ_SHAPE(1, 2, 6, 6)),
              *kernel = data(LZ_SHAPE(3, 2, 3, 3)), *a64 = lz_to(a, LZ_F64), *half = lz_to(a, d),
              *label = lz_from_host(LZ_I64, LZ_SHAPE(3), ((int64_t[]){1, 0, 3}));
    OK(lz_autocast_begin(d));
    ck_assert_int_eq(lz_autocast_dtype(), d);
    IS(lz_matmul(a, b), d);
    IS(lz_matmul(a64, lz_to(b, LZ_F64)), LZ_F64);
    IS(lz_linear(a, w, bias), d);
    IS(lz_addmm(lz_matmul(a, b), a, b), d);
    IS(lz_einsum("ij,jk->ik", ((lz_tensor *[]){a, b}), 2), d);
    IS(lz_conv2d(image, kernel, NULL), d);
    IS(lz_max_pool2d(image, .kernel_size = {2}), d);
    IS(lz_relu(a), d);
    IS(lz_relu(lz_to(a, other)), d);
    IS(lz_relu(lz_to(a, LZ_I32)), LZ_I32);
    IS(lz_softmax(half, 1), LZ_F32);
    IS(lz_log_softmax(half, 1), LZ_F32);
    IS(lz_pow_scalar(half, 2), LZ_F32);
    IS(lz_prod(half, .dims = LZ_DIMS(0)), LZ_F32);
    IS(lz_mse_loss(half, half), LZ_F32);
    IS(lz_cross_entropy(half, label), LZ_F32);
    IS(lz_nll_loss(half, label), LZ_F32);
    IS(lz_batch_norm(half, NULL, NULL, .training = true), LZ_F32);
    IS(lz_cosine_embedding_loss(half, half, lz_ones(LZ_F32, LZ_SHAPE(3))), LZ_F32);
    IS(lz_linalg_inv(lz_to(data(LZ_SHAPE(3, 3)), d)), LZ_F32);
    IS(lz_mse_loss(a64, a64), LZ_F64);
    /* not in the table: as they come */
    IS(lz_add(half, half), d);
    IS(lz_add(half, a), LZ_F32);
    IS(lz_exp(half), d);
    IS(lz_layer_norm(half, LZ_SHAPE(4), NULL, NULL, 1e-5), d);
    IS(lz_cat(((lz_tensor *[]){half, a}), 2, 0), LZ_F32);
    IS(lz_hlo_dot_general(a, b, (&(lz_dot_dims){0, 1, {0}, {0}, {1}, {0}})), LZ_F32);
    lz_tensor *at = lz_from_host(LZ_I64, LZ_SHAPE(1), ((int64_t[]){2}));
    IS(lz_index_copy(half, 0, at, data(LZ_SHAPE(1, 4))), LZ_F32);
    IS(lz_index_copy(a, 0, at, lz_to(data(LZ_SHAPE(1, 4)), d)), LZ_F32);
    OK(lz_autocast_end());
    IS(lz_matmul(a, b), LZ_F32);
    IS(lz_softmax(half, 1), d);
    IS(lz_mse_loss(half, half), d);
    lz_scope_end();
}
END_TEST

static void *elsewhere(void *arg)
{
    (void)arg;
    lz_scope_begin();
    lz_tensor *a = data(LZ_SHAPE(2, 2));
    lz_dtype d = lz_dtype_of(lz_matmul(a, a));
    lz_scope_end();
    return d == LZ_F32 && lz_autocast_dtype() == LZ_DTYPE_NONE && lz_autocast_end() == LZ_ESTATE
               ? arg
               : NULL;
}

START_TEST(scopes_nest_and_belong_to_a_thread)
{
    lz_scope_begin();
    lz_tensor *a = data(LZ_SHAPE(2, 2));
    ck_assert_int_eq(lz_autocast_end(), LZ_ESTATE);
    ck_assert_int_eq(lz_autocast_begin(LZ_F32), LZ_EDTYPE);
    ck_assert(strstr(lz_last_error_text(), "lz_autocast_begin") != NULL);
    ck_assert_int_eq(lz_autocast_begin((lz_dtype)99), LZ_EDTYPE);
    ck_assert_int_eq(lz_autocast_dtype(), LZ_DTYPE_NONE);
    OK(lz_autocast_begin(LZ_BF16));
    OK(lz_autocast_begin(LZ_DTYPE_NONE));
    IS(lz_matmul(a, a), LZ_F32);
    OK(lz_autocast_begin(LZ_F16));
    IS(lz_matmul(a, a), LZ_F16);
    pthread_t t;
    void *good = NULL;
    ck_assert_int_eq(pthread_create(&t, NULL, elsewhere, a), 0);
    ck_assert_int_eq(pthread_join(t, &good), 0);
    ck_assert_ptr_eq(good, a);
    OK(lz_autocast_end());
    OK(lz_autocast_end());
    IS(lz_matmul(a, a), LZ_BF16);
    ck_assert_ptr_null(lz_autocast_operand("lz_matmul", NULL));
    ck_assert_ptr_eq(lz_autocast_operand("lz_tanh", a), a);
    ck_assert_ptr_eq(lz_autocast_operand("lz_softmax", a), a);
    IS(lz_autocast_operand("lz_matmul", a), LZ_BF16);
    ck_assert_int_eq(lz_status_of(lz_autocast_operand("lz_matmul", lz_matmul(a, NULL))), LZ_ENULL);
    OK(lz_autocast_end());
    ck_assert_ptr_eq(lz_autocast_operand("lz_matmul", a), a);
    lz_scope_end();
}
END_TEST

/* ---- values and gradients ---- */

/* The same as autocast, with the conversions written down. */
static lz_tensor *by_hand(lz_tensor *x, lz_tensor *w, lz_tensor *v, lz_dtype d)
{
    lz_tensor *h = lz_linear(lz_to(x, d), lz_to(w, d), NULL);
    h = lz_layer_norm(lz_relu(h), LZ_SHAPE(6), NULL, NULL, 1e-5);
    h = lz_matmul(lz_to(h, d), lz_to(v, d));
    return lz_mean(lz_pow_scalar(lz_softmax(lz_to(h, LZ_F32), 1), 2));
}

static lz_tensor *by_scope(lz_tensor *x, lz_tensor *w, lz_tensor *v, lz_dtype d)
{
    OK(lz_autocast_begin(d));
    lz_tensor *h = lz_layer_norm(lz_relu(lz_linear(x, w, NULL)), LZ_SHAPE(6), NULL, NULL, 1e-5);
    lz_tensor *y = lz_mean(lz_pow_scalar(lz_softmax(lz_matmul(h, v), 1), 2));
    OK(lz_autocast_end());
    return y;
}

START_TEST(values_and_gradients_are_those_of_the_conversions)
{
    lz_dtype d = low[_i];
    lz_scope_begin();
    lz_tensor *p[3] = {data(LZ_SHAPE(5, 4)), data(LZ_SHAPE(6, 4)), data(LZ_SHAPE(6, 3))};
    lz_tensor *want[3], *got[3], *inside[3];
    lz_tensor *a = by_hand(p[0], p[1], p[2], d), *b = by_scope(p[0], p[1], p[2], d);
    OK(lz_grad(a, p, 3, want));
    OK(lz_grad(b, p, 3, got));
    OK(lz_autocast_begin(d));
    OK(lz_grad(b, p, 3, inside));
    OK(lz_autocast_end());
    same(a, b, 0, "the value");
    for (int i = 0; i < 3; i++) {
        IS(got[i], LZ_F32);
        same(got[i], want[i], 0, "a gradient");
        same(inside[i], want[i], 0, "a gradient taken inside");
    }
    /* and near those in f32 */
    lz_tensor *exact[3], *e = by_hand(p[0], p[1], p[2], LZ_F32);
    OK(lz_grad(e, p, 3, exact));
    same(b, e, 0.02, "the value in f32");
    for (int i = 0; i < 3; i++)
        same(got[i], exact[i], 0.02, "the gradient in f32");
    lz_scope_end();
}
END_TEST

static int count(const char *text, const char *what)
{
    int n = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        n++;
    return n;
}

START_TEST(a_parameter_is_converted_once)
{
    static char text[1 << 16];
    lz_scope_begin();
    lz_tensor *x = data(LZ_SHAPE(4, 4)), *w = data(LZ_SHAPE(4, 4));
    OK(lz_autocast_begin(LZ_BF16));
    lz_tensor *y = lz_matmul(lz_matmul(lz_matmul(x, w), w), w);
    OK(lz_autocast_end());
    ck_assert(lz_dump_graph(&y, 1, "stablehlo", text, sizeof text) < sizeof text);
    ck_assert_msg(count(text, "stablehlo.convert") == 2, "%s", text);
    lz_scope_end();
}
END_TEST

static void twice(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_tanh(lz_matmul(in[0], in[1]));
}

START_TEST(bodies_of_callbacks_are_inside)
{
    lz_scope_begin();
    lz_tensor *in[2] = {data(LZ_SHAPE(3, 4)), data(LZ_SHAPE(4, 4))}, *y, *g[2], *want[2];
    OK(lz_autocast_begin(LZ_BF16));
    OK(lz_checkpoint(twice, in, 2, 1, NULL, &y));
    OK(lz_autocast_end());
    IS(y, LZ_BF16);
    lz_tensor *z = lz_tanh(lz_matmul(lz_to(in[0], LZ_BF16), lz_to(in[1], LZ_BF16)));
    OK(lz_grad(lz_sum(lz_to(y, LZ_F32)), in, 2, g));
    OK(lz_grad(lz_sum(lz_to(z, LZ_F32)), in, 2, want));
    same(y, z, 0, "the value");
    for (int i = 0; i < 2; i++)
        same(g[i], want[i], 0.02, "the gradient");
    lz_scope_end();
}
END_TEST

START_TEST(layers_run_in_low_precision)
{
    lz_dtype d = low[_i];
    lz_params ps = {0};
    lz_conv_layer conv;
    lz_norm_layer norm;
    lz_rnn_layer lstm, gru;
    lz_attention_layer heads;
    lz_scope_begin();
    OK(lz_conv_layer_init(&conv, 1, &ps, "conv", 4, 4, LZ_F32, .kernel = {3},
                          .conv = {.padding = {1}}));
    OK(lz_norm_layer_init(&norm, LZ_BATCH_NORM, &ps, "norm", 4, LZ_F32));
    OK(lz_rnn_layer_init(&lstm, LZ_LSTM, &ps, "lstm", 4, 4, 2, true, LZ_F32));
    OK(lz_rnn_layer_init(&gru, LZ_GRU, &ps, "gru", 4, 4, 1, true, LZ_F32));
    OK(lz_attention_layer_init(&heads, &ps, "heads", 4, 2, LZ_F32));
    OK(lz_mark_step());
    lz_tensor *x = data(LZ_SHAPE(2, 4, 5)), *y[2];
    for (int k = 0; k < 2; k++) {
        OK(lz_autocast_begin(k ? d : LZ_DTYPE_NONE));
        lz_tensor *t = lz_norm_layer_forward(&norm, lz_conv_layer_forward(&conv, x), true);
        t = lz_rnn_layer_forward(&lstm, lz_transpose(t, 1, 2), NULL, NULL, NULL, NULL);
        t = lz_rnn_layer_forward(&gru, t, NULL, NULL, NULL, NULL);
        y[k] = lz_attention_layer_forward(&heads, t, .is_causal = true);
        OK(lz_autocast_end());
    }
    IS(y[1], d);
    same(y[1], y[0], d == LZ_F16 ? 0.005 : 0.03, "the layers");
    OK(lz_backward(lz_mean(lz_to(y[1], LZ_F32))));
    for (size_t i = 0; i < ps.len; i++)
        if (!ps.is_buffer[i]) {
            ck_assert_msg(lz_grad_of(ps.tensors[i]) != NULL, "%s has no gradient", ps.names[i]);
            IS(lz_grad_of(ps.tensors[i]), LZ_F32);
        }
    OK(lz_mark_step());
    lz_scope_end();
    lz_params_free(&ps);
}
END_TEST

/* ---- loss scaling ---- */

/* A step of p -= 0.5 g where g is `slope`, through the scaler. */
static void scaled_step(lz_grad_scaler *s, lz_params *ps, lz_optim *o, float slope)
{
    lz_scope_begin();
    lz_tensor *k = lz_from_host(LZ_F32, LZ_SHAPE(3), ((float[]){1, slope, -1}));
    OK(lz_backward(lz_grad_scaler_scale(s, lz_sum(lz_mul(ps->tensors[0], k)))));
    OK(lz_grad_scaler_step(s, o));
    OK(lz_grad_scaler_update(s));
    OK(lz_optim_zero_grad(o));
    OK(lz_mark_step());
    lz_scope_end();
}

static lz_params one_parameter(void)
{
    lz_params ps = {0};
    lz_scope_begin();
    OK(lz_params_add(&ps, "p", lz_from_host(LZ_F32, LZ_SHAPE(3), ((float[]){1, 2, 3}))));
    lz_scope_end();
    return ps;
}

/* torch.amp.GradScaler(init_scale=1024, growth_interval=2) on the same gradients. */
START_TEST(the_scale_grows_and_shrinks)
{
    static const float slope[] = {2, 2, 2, INFINITY, 2, NAN, NAN, 2, 2, 2},
                       scale[] = {1024, 2048, 2048, 1024, 1024, 512, 256, 256, 512, 512};
    lz_params ps = one_parameter();
    lz_optim *o = lz_sgd(&ps, .lr = 0.5);
    lz_grad_scaler *s = lz_grad_scaler_new(.init_scale = 1024, .growth_interval = 2);
    ck_assert_msg(s != NULL, "%s", lz_last_error_text());
    float want[3] = {1, 2, 3}, got[3];
    int64_t compiled = 0;
    for (int i = 0; i < 10; i++) {
        scaled_step(s, &ps, o, slope[i]);
        for (int j = 0; j < 3 && isfinite(slope[i]); j++)
            want[j] -= 0.5f * (float[]){1, slope[i], -1}[j];
        OK(lz_to_host(ps.tensors[0], got, sizeof got));
        for (int j = 0; j < 3; j++)
            ck_assert_msg(got[j] == want[j], "step %d, element %d: %g, not %g", i, j,
                          (double)got[j], (double)want[j]);
        float now;
        OK(lz_to_host(lz_grad_scaler_get_scale(s), &now, sizeof now));
        ck_assert_msg(now == scale[i], "step %d: scale %g", i, (double)now);
        if (i == 0)
            compiled = lz_counter_value("UncachedCompile");
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), compiled); /* one program for all steps */
    lz_grad_scaler_free(s);
    lz_optim_free(o);
    lz_params_free(&ps);
}
END_TEST

START_TEST(nothing_is_read_back)
{
    lz_params ps = one_parameter();
    lz_optim *o = lz_adamw(&ps, .lr = 0.5);
    lz_grad_scaler *s = lz_grad_scaler_new();
    lz_metric_summary before = {0}, after = {0};
    scaled_step(s, &ps, o, 1);
    (void)lz_metric_data("TransferFromDeviceTime", &before);
    for (int i = 0; i < 4; i++)
        scaled_step(s, &ps, o, i == 2 ? NAN : 1);
    OK(lz_wait_device_ops());
    (void)lz_metric_data("TransferFromDeviceTime", &after);
    ck_assert_uint_eq(before.total_samples, after.total_samples);
    lz_grad_scaler_free(s);
    lz_optim_free(o);
    lz_params_free(&ps);
}
END_TEST

/* A scale too large for f32 stays; one whose loss overflows shrinks. */
START_TEST(a_scale_stays_finite)
{
    lz_params ps = one_parameter();
    lz_optim *o = lz_sgd(&ps, .lr = 0.5);
    lz_grad_scaler *s = lz_grad_scaler_new(.init_scale = 0x1p127, .growth_interval = 1);
    scaled_step(s, &ps, o, 1e-3f);
    ck_assert(lz_item(lz_grad_scaler_get_scale(s)) == 0x1p127);
    scaled_step(s, &ps, o, 4);
    ck_assert(lz_item(lz_grad_scaler_get_scale(s)) == 0x1p126);
    lz_grad_scaler_free(s);
    lz_optim_free(o);
    lz_params_free(&ps);
}
END_TEST

START_TEST(two_optimizers_share_a_scale)
{
    lz_params a = one_parameter(), b = one_parameter();
    lz_optim *oa = lz_sgd(&a, .lr = 1), *ob = lz_sgd(&b, .lr = 1);
    lz_grad_scaler *s = lz_grad_scaler_new(.init_scale = 4);
    lz_scope_begin();
    lz_tensor *k = lz_from_host(LZ_F32, LZ_SHAPE(3), ((float[]){1, INFINITY, 1}));
    lz_tensor *loss = lz_add(lz_sum(a.tensors[0]), lz_sum(lz_mul(b.tensors[0], k)));
    OK(lz_backward(lz_grad_scaler_scale(s, loss)));
    OK(lz_grad_scaler_unscale(s, oa));
    ck_assert_int_eq(lz_grad_scaler_unscale(s, oa), LZ_ESTATE);
    same(lz_grad_of(a.tensors[0]), lz_ones(LZ_F32, LZ_SHAPE(3)), 0, "unscaled");
    (void)lz_clip_grad_norm(&a, 0.5 * sqrt(3), 2);
    OK(lz_grad_scaler_step(s, oa));
    OK(lz_grad_scaler_step(s, ob));
    ck_assert_int_eq(lz_grad_scaler_step(s, ob), LZ_ESTATE);
    OK(lz_grad_scaler_update(s));
    ck_assert_int_eq(lz_grad_scaler_update(s), LZ_ESTATE);
    OK(lz_mark_step());
    same(a.tensors[0], lz_from_host(LZ_F32, LZ_SHAPE(3), ((float[]){.5, 1.5, 2.5})), 1e-5, "moved");
    same(b.tensors[0], lz_from_host(LZ_F32, LZ_SHAPE(3), ((float[]){1, 2, 3})), 0, "skipped");
    ck_assert(lz_item(lz_grad_scaler_get_scale(s)) == 2);
    lz_scope_end();
    lz_grad_scaler_free(s);
    lz_optim_free(oa);
    lz_optim_free(ob);
    lz_params_free(&a);
    lz_params_free(&b);
}
END_TEST

START_TEST(a_scaler_turned_off_does_nothing)
{
    lz_params ps = one_parameter();
    lz_optim *o = lz_sgd(&ps, .lr = 0.5);
    lz_grad_scaler *s = lz_grad_scaler_new(.disabled = true);
    scaled_step(s, &ps, o, 2);
    lz_scope_begin();
    same(ps.tensors[0], lz_from_host(LZ_F32, LZ_SHAPE(3), ((float[]){.5, 1, 3.5})), 0, "moved");
    OK(lz_grad_scaler_unscale(s, o));
    ck_assert(lz_item(lz_grad_scaler_get_scale(s)) == 65536);
    lz_scope_end();
    lz_grad_scaler_free(s);
    lz_optim_free(o);
    lz_params_free(&ps);
}
END_TEST

START_TEST(bad_scalers_are_refused)
{
    static const lz_grad_scaler_options bad[] = {
        {sizeof *bad, 0, 2, .5, 1, false},     {sizeof *bad, INFINITY, 2, .5, 1, false},
        {sizeof *bad, 1, 1, .5, 1, false},     {sizeof *bad, 1, 2, 1, 1, false},
        {sizeof *bad, 1, 2, 0, 1, false},      {sizeof *bad, 1, 2, .5, 0, false},
        {sizeof *bad, 1, NAN, .5, 1, false},   {sizeof *bad, 1, 2, .5, 1LL << 31, false},
        {sizeof *bad + 1, 1, 2, .5, 1, false}, {0, 1, 2, .5, 1, false},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_ptr_null(lz_grad_scaler_new_at(&bad[i], LZ_SITE));
        ck_assert_int_eq(lz_last_error(NULL), LZ_EINVAL);
        ck_assert(strstr(lz_last_error_text(), "lz_grad_scaler_new") != NULL);
    }
    lz_params ps = one_parameter();
    lz_optim *o = lz_sgd(&ps);
    lz_grad_scaler *s = lz_grad_scaler_new_at(NULL, LZ_SITE);
    lz_scope_begin();
    ck_assert_int_eq(lz_status_of(lz_grad_scaler_scale(NULL, ps.tensors[0])), LZ_ENULL);
    ck_assert_int_eq(lz_status_of(lz_grad_scaler_scale(s, NULL)), LZ_ENULL);
    ck_assert_int_eq(lz_status_of(lz_grad_scaler_scale(s, lz_zeros(LZ_I32, LZ_SCALAR))), LZ_EDTYPE);
    ck_assert_int_eq(lz_grad_scaler_step(NULL, o), LZ_ENULL);
    ck_assert_int_eq(lz_grad_scaler_step(s, NULL), LZ_ENULL);
    ck_assert_int_eq(lz_grad_scaler_unscale(s, NULL), LZ_ENULL);
    ck_assert_int_eq(lz_grad_scaler_update(NULL), LZ_ENULL);
    ck_assert_ptr_null(lz_grad_scaler_get_scale(NULL));
    lz_scope_end();
    lz_grad_scaler_free(NULL);
    lz_grad_scaler_free(s);
    lz_optim_free(o);
    lz_params_free(&ps);
}
END_TEST

/* f16 with a scale learns what f32 learns. */
START_TEST(a_network_in_f16_learns)
{
    lz_params ps = {0};
    lz_linear_layer l[2];
    lz_manual_seed(3);
    lz_scope_begin();
    OK(lz_linear_layer_init(&l[0], &ps, "0", 4, 16, true, LZ_F32));
    OK(lz_linear_layer_init(&l[1], &ps, "1", 16, 1, true, LZ_F32));
    OK(lz_mark_step());
    lz_scope_end();
    lz_optim *o = lz_adam(&ps, .lr = 0.02);
    lz_grad_scaler *s = lz_grad_scaler_new(.init_scale = 0x1p24, .growth_interval = 20);
    double first = 0, last = 0;
    int64_t compiled = 0;
    for (int i = 0; i < 60; i++) {
        lz_scope_begin();
        lz_tensor *x = data(LZ_SHAPE(32, 4));
        lz_tensor *want = lz_mul(lz_select(x, 1, 0), lz_select(x, 1, 2));
        OK(lz_autocast_begin(LZ_F16));
        lz_tensor *y = lz_linear_layer_forward(&l[1], lz_tanh(lz_linear_layer_forward(&l[0], x)));
        lz_tensor *loss = lz_mse_loss(lz_squeeze(y, 1), want);
        OK(lz_autocast_end());
        OK(lz_backward(lz_grad_scaler_scale(s, loss)));
        OK(lz_grad_scaler_step(s, o));
        OK(lz_grad_scaler_update(s));
        OK(lz_optim_zero_grad(o));
        OK(lz_mark_step());
        last = lz_item(loss);
        first = i ? first : last;
        compiled = i ? compiled : lz_counter_value("UncachedCompile");
        lz_scope_end();
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), compiled);
    ck_assert_msg(last < first / 10, "loss %g, then %g", first, last);
    double scale = lz_item(lz_grad_scaler_get_scale(s)); /* the first steps overflowed */
    ck_assert_msg(scale < 0x1p24 && scale > 1, "scale %g", scale);
    lz_grad_scaler_free(s);
    lz_optim_free(o);
    lz_params_free(&ps);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("amp");
    TCase *t = tcase_create("amp");
    setenv("LAZULI_CACHE", "0", 1);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, the_table_is_sorted_and_found);
    tcase_add_loop_test(t, operands_become_what_the_table_says, 0, 2);
    tcase_add_test(t, scopes_nest_and_belong_to_a_thread);
    tcase_add_loop_test(t, values_and_gradients_are_those_of_the_conversions, 0, 2);
    tcase_add_test(t, a_parameter_is_converted_once);
    tcase_add_test(t, bodies_of_callbacks_are_inside);
    tcase_add_loop_test(t, layers_run_in_low_precision, 0, 2);
    tcase_add_test(t, the_scale_grows_and_shrinks);
    tcase_add_test(t, nothing_is_read_back);
    tcase_add_test(t, a_scale_stays_finite);
    tcase_add_test(t, two_optimizers_share_a_scale);
    tcase_add_test(t, a_scaler_turned_off_does_nothing);
    tcase_add_test(t, bad_scalers_are_refused);
    tcase_add_test(t, a_network_in_f16_learns);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
