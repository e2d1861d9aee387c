/* t_modules.c - layers with parameters: names and initial values, recurrent cells against formulas
 * and differences, attention with a cache against attention without. */
#include "../autodiff/grad_check.h"
#include "nn/nn_internal.h"

#define OK(call) ck_assert_msg((call) == LZ_OK, "%s", lz_last_error_text())

static void fill(double *x, int n, unsigned seed)
{
    for (int i = 0; i < n; i++)
        x[i] = 2 * noise(&seed) - 1;
}

static void values(lz_tensor *t, const double *want, int n, double tolerance, const char *what)
{
    double got[512];
    ck_assert_msg(lz_numel(t) == n, "%s: %s", what, lz_last_error_text());
    OK(lz_to_host(lz_to(t, LZ_F64), got, sizeof got));
    for (int i = 0; i < n; i++)
        ck_assert_msg(fabs(got[i] - want[i]) <= tolerance * (1 + fabs(want[i])),
                      "%s[%d]: %.15g, not %.15g", what, i, got[i], want[i]);
}

/* ---- names ---- */

START_TEST(names_are_torchs)
{
    static const char *const want[] = {
        "e.weight",
        "ln.weight",
        "ln.bias",
        "rms.weight",
        "bn.weight",
        "bn.bias",
        "bn.running_mean",
        "bn.running_var",
        "bn.num_batches_tracked",
        "at.in_proj_weight",
        "at.in_proj_bias",
        "at.out_proj.weight",
        "at.out_proj.bias",
        "r.weight_ih_l0",
        "r.weight_hh_l0",
        "r.bias_ih_l0",
        "r.bias_hh_l0",
        "r.weight_ih_l1",
        "r.weight_hh_l1",
        "r.bias_ih_l1",
        "r.bias_hh_l1",
        "weight",
    };
    lz_params ps = {0};
    lz_embedding_layer e;
    lz_norm_layer ln, rms, bn, none;
    lz_attention_layer at;
    lz_rnn_layer r;
    OK(lz_embedding_layer_init(&e, &ps, "e", 7, 3, LZ_F32));
    OK(lz_norm_layer_init(&ln, LZ_LAYER_NORM, &ps, "ln", 4, LZ_F32));
    OK(lz_norm_layer_init(&rms, LZ_RMS_NORM, &ps, "rms", 4, LZ_F32, .eps = -1));
    OK(lz_norm_layer_init(&bn, LZ_BATCH_NORM, &ps, "bn", 4, LZ_F32));
    OK(lz_norm_layer_init(&none, LZ_INSTANCE_NORM, &ps, "in", 4, LZ_F32, .no_affine = true));
    OK(lz_attention_layer_init(&at, &ps, "at", 8, 4, LZ_F32, .kv_heads = 2));
    OK(lz_rnn_layer_init(&r, LZ_GRU, &ps, "r", 3, 5, 2, true, LZ_F32));
    OK(lz_embedding_layer_init(&e, &ps, "", 2, 2, LZ_F32));
    ck_assert_uint_eq(ps.len, sizeof want / sizeof *want);
    for (size_t i = 0; i < ps.len; i++)
        ck_assert_str_eq(ps.names[i], want[i]);
    ck_assert(ps.is_buffer[6] && ps.is_buffer[8] && !ps.is_buffer[5]);
    ck_assert_int_eq(lz_shape_of(at.in_proj_weight).dims[0], 8 + 2 * 2 * 2);
    OK(lz_mark_step());
    values(bn.running_var, (double[]){1, 1, 1, 1}, 4, 0, "running_var");
    values(ln.bias, (double[]){0, 0, 0, 0}, 4, 0, "bias");
    lz_params_free(&ps);
}
END_TEST

START_TEST(mistakes_add_nothing)
{
    lz_params ps = {0};
    lz_norm_layer n;
    lz_attention_layer a;
    lz_rnn_layer r;
    lz_embedding_layer e;
    lz_kv_cache k;
#define REFUSED(call, st, text)                                                                    \
    ck_assert_int_eq(call, st);                                                                    \
    ck_assert_msg(strstr(lz_last_error_text(), text) != NULL, "%s", lz_last_error_text());         \
    ck_assert_uint_eq(ps.len, 0)
    REFUSED(lz_norm_layer_init(&n, LZ_LAYER_NORM, &ps, "n", 0, LZ_F32), LZ_EINVAL, "n is 0");
    REFUSED(lz_norm_layer_init(&n, LZ_LAYER_NORM, &ps, "n", 4, LZ_I32), LZ_EDTYPE, "i32");
    REFUSED(lz_norm_layer_init(&n, LZ_LAYER_NORM, &ps, "n", 4, LZ_F32, .eps = -1), LZ_EINVAL,
            "eps is -1");
    REFUSED(lz_norm_layer_init(&n, LZ_GROUP_NORM, &ps, "n", 4, LZ_F32, .num_groups = 3), LZ_EINVAL,
            "4 channels are not 3");
    REFUSED(lz_norm_layer_init(NULL, LZ_GROUP_NORM, &ps, "n", 4, LZ_F32), LZ_ENULL,
            "layer is NULL");
    REFUSED(lz_attention_layer_init(&a, &ps, "a", 10, 4, LZ_F32), LZ_EINVAL, "dim 10 is not 4");
    REFUSED(lz_attention_layer_init(&a, &ps, "a", 8, 4, LZ_F32, .kv_heads = 3), LZ_EINVAL,
            "kv_heads 3");
    REFUSED(lz_attention_layer_init(&a, &ps, "a", 12, 4, LZ_F32, .rotary_base = 10), LZ_EINVAL,
            "head_dim 3");
    REFUSED(lz_attention_layer_init(&a, &ps, "a", 12, 4, LZ_BOOL), LZ_EDTYPE, "");
    REFUSED(lz_rnn_layer_init(&r, LZ_LSTM, &ps, "r", 1, 2, 9, true, LZ_F32), LZ_EINVAL, "layers 9");
    REFUSED(lz_rnn_layer_init(&r, LZ_LSTM, NULL, "r", 1, 2, 1, true, LZ_F32), LZ_ENULL,
            "the list is NULL");
    REFUSED(lz_embedding_layer_init(&e, &ps, "e", 0, 2, LZ_F32), LZ_EINVAL, "num is 0");
    REFUSED(lz_kv_cache_init(&k, 1, 1, 0, 4, LZ_F32), LZ_EINVAL, "capacity 0");
    lz_kv_cache_free(NULL);
    ck_assert_int_eq(lz_status_of(lz_norm_layer_forward(NULL, NULL, false)), LZ_ENULL);
    ck_assert_int_eq(lz_status_of(lz_attention_layer_forward(NULL, NULL)), LZ_ENULL);
}
END_TEST

START_TEST(norm_layers_call_their_function)
{
    double x[24];
    fill(x, 24, 1);
    lz_params ps = {0};
    lz_norm_layer n;
    lz_scope_begin();
    lz_tensor *t = lz_from_host(LZ_F64, LZ_SHAPE(2, 4, 3), x), *want;
    double y[24];
    OK(lz_norm_layer_init(&n, LZ_LAYER_NORM, &ps, "a", 3, LZ_F64));
    want = lz_layer_norm(t, LZ_SHAPE(3), n.weight, n.bias, 1e-5);
    OK(lz_to_host(want, y, sizeof y));
    values(lz_norm_layer_forward(&n, t, false), y, 24, 0, "layer_norm");
    OK(lz_norm_layer_init(&n, LZ_GROUP_NORM, &ps, "b", 4, LZ_F64, .num_groups = 2));
    OK(lz_to_host(lz_group_norm(t, 2, n.weight, n.bias, 1e-5), y, sizeof y));
    values(lz_norm_layer_forward(&n, t, false), y, 24, 0, "group_norm");
    OK(lz_norm_layer_init(&n, LZ_BATCH_NORM, &ps, "c", 4, LZ_F64));
    OK(lz_to_host(lz_batch_norm(t, NULL, NULL, .training = true), y, sizeof y));
    values(lz_norm_layer_forward(&n, t, true), y, 24, 1e-12, "batch_norm");
    OK(lz_mark_step());
    ck_assert_int_eq(lz_item_i64(n.num_batches_tracked), 1);
    OK(lz_to_host(lz_batch_norm(t, n.running_mean, n.running_var), y, sizeof y));
    values(lz_norm_layer_forward(&n, t, false), y, 24, 1e-12, "batch_norm evaluated");
    ck_assert_int_eq(lz_item_i64(n.num_batches_tracked), 1);
    lz_scope_end();
    lz_params_free(&ps);
}
END_TEST

START_TEST(convolution_layers)
{
    double x[2 * 4 * 5 * 6], y[512];
    fill(x, 2 * 4 * 5 * 6, 1);
    lz_params ps = {0};
    lz_conv_layer l;
    lz_scope_begin();
    lz_tensor *t = lz_from_host(LZ_F64, LZ_SHAPE(2, 4, 5, 6), x), *want;
    OK(lz_conv_layer_init(&l, 2, &ps, "c", 4, 6, LZ_F64, .kernel = {3, 2},
                          .conv = {.stride = {2}, .padding = {1}, .groups = 2}));
    ck_assert_str_eq(ps.names[1], "c.bias");
    ck_assert(lz_shape_of(l.weight).dims[1] == 2 && lz_shape_of(l.weight).dims[3] == 2);
    double w[6 * 2 * 3 * 2];
    OK(lz_to_host(l.weight, w, sizeof w));
    for (size_t i = 0; i < sizeof w / sizeof *w; i++)
        ck_assert(fabs(w[i]) <= 1 / sqrt(2 * 3 * 2));
    want = lz_conv2d(t, l.weight, l.bias, .stride = {2}, .padding = {1}, .groups = 2);
    OK(lz_to_host(want, y, sizeof y));
    values(lz_conv_layer_forward(&l, t), y, (int)lz_numel(want), 0, "conv2d");
    OK(lz_conv_layer_init(&l, 1, &ps, "u", 4, 2, LZ_F64, .kernel = {3}, .transposed = true,
                          .no_bias = true));
    ck_assert(lz_shape_of(l.weight).rank == 3 && lz_shape_of(l.weight).dims[0] == 4 && !l.bias);
    want = lz_conv_transpose1d(lz_select(t, 2, 0), l.weight, NULL);
    OK(lz_to_host(want, y, sizeof y));
    values(lz_conv_layer_forward(&l, lz_select(t, 2, 0)), y, (int)lz_numel(want), 0,
           "conv_transpose1d");
    size_t before = ps.len;
    ck_assert_int_eq(lz_conv_layer_init(&l, 4, &ps, "x", 4, 2, LZ_F64, .kernel = {3}), LZ_EINVAL);
    ck_assert_int_eq(lz_conv_layer_init(&l, 2, &ps, "x", 4, 2, LZ_F64), LZ_EINVAL);
    ck_assert_int_eq(
        lz_conv_layer_init(&l, 2, &ps, "x", 4, 3, LZ_F64, .kernel = {3}, .conv = {.groups = 2}),
        LZ_EINVAL);
    ck_assert_uint_eq(ps.len, before);
    ck_assert_int_eq(lz_status_of(lz_conv_layer_forward(NULL, t)), LZ_ENULL);
    lz_scope_end();
    lz_params_free(&ps);
}
END_TEST

/* ---- recurrent ---- */

enum { N = 2, I = 3, H = 2 };

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* rows of w x + b */
static double row(const double *w, const double *x, const double *b, int r, int n)
{
    double s = b[r];
    for (int i = 0; i < n; i++)
        s += w[r * n + i] * x[i];
    return s;
}

START_TEST(cells_follow_their_formulas)
{
    double x[N * I], h[N * H], c[N * H], wi[4 * H * I], wh[4 * H * H], bi[4 * H], bh[4 * H],
        y[N * H], cy[N * H];
    fill(x, N * I, 1), fill(h, N * H, 2), fill(c, N * H, 3), fill(wi, 4 * H * I, 4),
        fill(wh, 4 * H * H, 5), fill(bi, 4 * H, 6), fill(bh, 4 * H, 7);
    lz_scope_begin();
#define T(p, ...) lz_from_host(LZ_F64, LZ_SHAPE(__VA_ARGS__), p)
    for (int n = 0; n < N; n++)
        for (int k = 0; k < H; k++) {
            double g[4];
            for (int q = 0; q < 4; q++)
                g[q] = row(wi, x + n * I, bi, q * H + k, I) + row(wh, h + n * H, bh, q * H + k, H);
            cy[n * H + k] = sigmoid(g[1]) * c[n * H + k] + sigmoid(g[0]) * tanh(g[2]);
            y[n * H + k] = sigmoid(g[3]) * tanh(cy[n * H + k]);
        }
    lz_tensor *cell;
    values(lz_lstm_cell(T(x, N, I), T(h, N, H), T(c, N, H), T(wi, 4 * H, I), T(wh, 4 * H, H),
                        T(bi, 4 * H), T(bh, 4 * H), &cell),
           y, N * H, 1e-12, "lstm h");
    values(cell, cy, N * H, 1e-12, "lstm c");
    for (int n = 0; n < N; n++)
        for (int k = 0; k < H; k++) {
            double r = sigmoid(row(wi, x + n * I, bi, k, I) + row(wh, h + n * H, bh, k, H));
            double z = sigmoid(row(wi, x + n * I, bi, H + k, I) + row(wh, h + n * H, bh, H + k, H));
            double f = tanh(row(wi, x + n * I, bi, 2 * H + k, I) +
                            r * row(wh, h + n * H, bh, 2 * H + k, H));
            y[n * H + k] = (1 - z) * f + z * h[n * H + k];
        }
    values(lz_gru_cell(T(x, N, I), T(h, N, H), T(wi, 3 * H, I), T(wh, 3 * H, H), T(bi, 3 * H),
                       T(bh, 3 * H)),
           y, N * H, 1e-12, "gru");
    ck_assert_int_eq(lz_status_of(lz_gru_cell(T(x, N, I), T(h, N, H), T(wi, 4 * H, I),
                                              T(wh, 4 * H, H), NULL, NULL)),
                     LZ_ESHAPE);
    ck_assert_int_eq(lz_status_of(lz_lstm_cell(T(x, N, I), T(h, N, H), T(c, N, H), T(wi, 3 * H, I),
                                               T(wh, 3 * H, H), NULL, NULL, &cell)),
                     LZ_ESHAPE);
    ck_assert_int_eq(lz_status_of(cell), LZ_ESHAPE);
    lz_scope_end();
}
END_TEST

static lz_tensor *f_gru(lz_tensor **x)
{
    return lz_gru_cell(x[0], x[1], x[2], lz_slice(x[2], 1, 0, 2, 1), NULL, NULL);
}
static lz_tensor *f_lstm_h(lz_tensor **x)
{
    lz_tensor *c;
    return lz_lstm_cell(x[0], x[1], lz_mul(x[1], x[1]), x[2], lz_slice(x[2], 1, 0, 2, 1), NULL,
                        NULL, &c);
}
static const gcase cases[] = {
    {"lstm", f_lstm_h, 3, {S(N, I), S(N, H), S(4 * H, I)}, -1, 1, false},
    {"gru", f_gru, 3, {S(N, I), S(N, H), S(3 * H, I)}, -1, 1, false},
};

START_TEST(gradients)
{
    OK(lz_set_device(devices[0]));
    compare(&cases[_i], 1);
}
END_TEST

START_TEST(layers_are_their_cells_in_a_row)
{
    enum { STEPS = 4 };
    for (int kind = LZ_LSTM; kind <= LZ_GRU; kind++) {
        lz_params ps = {0};
        lz_rnn_layer l;
        double x[N * STEPS * I], want[N * H];
        fill(x, N * STEPS * I, 9);
        lz_scope_begin();
        OK(lz_rnn_layer_init(&l, (lz_rnn_kind)kind, &ps, "r", I, H, 2, true, LZ_F64));
        lz_tensor *t = T(x, N, STEPS, I), *state, *cell, *h[2], *c[2], *in = NULL;
        lz_tensor *y = lz_rnn_layer_forward(&l, t, NULL, NULL, &state, &cell);
        for (int i = 0; i < 2; i++)
            h[i] = c[i] = lz_zeros(LZ_F64, LZ_SHAPE(N, H));
        for (int s = 0; s < STEPS; s++)
            for (int i = 0; i < 2; i++) {
                in = i ? h[0] : lz_select(t, 1, s);
                h[i] = kind == LZ_LSTM
                           ? lz_lstm_cell(in, h[i], c[i], l.w_ih[i], l.w_hh[i], l.b_ih[i],
                                          l.b_hh[i], &c[i])
                           : lz_gru_cell(in, h[i], l.w_ih[i], l.w_hh[i], l.b_ih[i], l.b_hh[i]);
            }
        OK(lz_to_host(h[1], want, sizeof want));
        values(lz_select(y, 1, STEPS - 1), want, N * H, 1e-12, "last output");
        values(lz_select(state, 0, 1), want, N * H, 1e-12, "state");
        /* in two halves, the second from the state of the first */
        lz_tensor *first = lz_slice(t, 1, 0, 2, 1), *second = lz_slice(t, 1, 2, STEPS, 1), *s1, *c1;
        lz_rnn_layer_forward(&l, first, NULL, NULL, &s1, kind == LZ_LSTM ? &c1 : NULL);
        y = lz_rnn_layer_forward(&l, second, s1, kind == LZ_LSTM ? c1 : NULL, NULL, NULL);
        values(lz_select(y, 1, 1), want, N * H, 1e-12, "two halves");
        ck_assert_int_eq(
            lz_status_of(lz_rnn_layer_forward(&l, lz_select(t, 1, 0), NULL, NULL, NULL, NULL)),
            LZ_ESHAPE);
        lz_scope_end();
        lz_params_free(&ps);
    }
}
END_TEST

/* ---- attention ---- */

/* Position by position through the cache gives what all at once gives; and no position compiles
 * anything new. */
START_TEST(a_cache_gives_the_same)
{
    enum { B = 2, L = 6, D = 8 };
    double x[B * L * D], whole[B * L * D];
    fill(x, B * L * D, 3);
    lz_params ps = {0};
    lz_attention_layer a;
    lz_kv_cache cache;
    OK(lz_attention_layer_init(&a, &ps, "a", D, 4, LZ_F64, .kv_heads = _i ? 2 : 0,
                               .rotary_base = _i ? 100 : 0));
    OK(lz_kv_cache_init(&cache, B, a.kv_heads, L, D / 4, LZ_F64));
    OK(lz_mark_step());
    lz_scope_begin();
    lz_tensor *t = lz_retain(T(x, B, L, D));
    OK(lz_to_host(lz_attention_layer_forward(&a, t, .is_causal = true), whole, sizeof whole));
    lz_scope_end();
    int64_t compiled = 0;
    for (int round = 0; round < 2; round++) {
        cache.length = 0;
        for (int l = 0; l < L;) {
            int n = l == 0 ? 2 : 1; /* a prompt of two, then one by one */
            double want[B * 2 * D];
            for (int b = 0; b < B; b++)
                memcpy(want + b * n * D, whole + (b * L + l) * D, (size_t)(n * D) * sizeof *want);
            lz_scope_begin();
            lz_tensor *in = T(x, B, L, D);
            in = lz_index_select(
                in, 1, lz_add(lz_iota(LZ_I32, LZ_SHAPE(n), 0), lz_full(LZ_I32, LZ_SCALAR, l)));
            lz_tensor *y = lz_retain(lz_attention_layer_forward(&a, in, .cache = &cache));
            OK(lz_mark_step());
            lz_scope_end();
            values(y, want, B * n * D, 1e-12, "with the cache");
            lz_release(y);
            l += n;
            if (round == 0 && l == 3)
                compiled = lz_counter_value("UncachedCompile");
        }
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), compiled);
    lz_scope_begin();
    ck_assert_int_eq(
        lz_status_of(lz_attention_layer_forward(&a, lz_slice(t, 1, 0, 1, 1), .cache = &cache)),
        LZ_ERANGE);
    ck_assert_int_eq(lz_status_of(lz_attention_layer_forward(&a, lz_slice(t, 2, 0, 4, 1))),
                     LZ_ESHAPE);
    lz_scope_end();
    lz_release(t);
    lz_kv_cache_free(&cache);
    lz_params_free(&ps);
}
END_TEST

/* ---- initial values ---- */

/* Layers that begin with the same ones and zeros do not share them, nor averages the statistics
 * they follow: the first step is the same program as all later ones. */
START_TEST(the_first_step_is_one_like_all_others)
{
    lz_params ps = {0};
    lz_norm_layer norm[3];
    lz_attention_layer heads[2];
    lz_dtype d = _i ? LZ_BF16 : LZ_F32;
    static const char *const names[] = {"a", "b", "c"};
    static float v[2 * 4 * 4];
    for (int i = 0; i < 32; i++)
        v[i] = sinf((float)i);
    lz_scope_begin();
    for (int i = 0; i < 3; i++)
        OK(lz_norm_layer_init(&norm[i], i == 2 ? LZ_LAYER_NORM : LZ_BATCH_NORM, &ps, names[i], 4,
                              d));
    OK(lz_attention_layer_init(&heads[0], &ps, "d", 4, 2, d));
    OK(lz_attention_layer_init(&heads[1], &ps, "e", 4, 2, d));
    OK(lz_mark_step());
    lz_scope_end();
    float ones[4];
    lz_scope_begin();
    OK(lz_to_host(lz_to(norm[1].running_var, LZ_F32), ones, sizeof ones));
    for (int i = 0; i < 4; i++)
        ck_assert(ones[i] == 1);
    lz_scope_end();
    lz_optim *o = lz_adamw(&ps);
    lz_ema *ema = lz_ema_new(&ps, 0.9);
    int64_t before = lz_counter_value("UncachedCompile");
    for (int step = 0; step < 4; step++) {
        lz_scope_begin();
        lz_tensor *x = lz_to(lz_from_host(LZ_F32, LZ_SHAPE(2, 4, 4), v), d);
        for (int i = 0; i < 3; i++)
            x = lz_norm_layer_forward(&norm[i], x, true);
        x = lz_attention_layer_forward(&heads[1], lz_attention_layer_forward(&heads[0], x));
        OK(lz_backward(lz_mean(lz_square(x))));
        OK(lz_optim_step(o));
        OK(lz_optim_zero_grad(o));
        OK(lz_ema_update(ema));
        OK(lz_mark_step());
        lz_scope_end();
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile") - before, 1);
    lz_ema_free(ema);
    lz_optim_free(o);
    lz_params_free(&ps);
}
END_TEST

/* Zeros are one tensor, and nothing is recorded for them. */
START_TEST(zeros_record_nothing)
{
    const lz_site here = {"t_modules.c", "f", 1};
    lz_tensor *z = NULL;
    lz_scope_begin();
    int64_t made = lz_counter_value("CreateXlaTensor");
    OK(lz_nn_zeros(&z, LZ_F32, LZ_SHAPE(3, 5), "lz_test", &here));
    ck_assert_int_eq(lz_counter_value("CreateXlaTensor"), made + 1);
    OK(lz_release(z));
    ck_assert_int_eq(lz_nn_zeros(&z, (lz_dtype)99, LZ_SHAPE(2), "lz_test", &here), LZ_EDTYPE);
    lz_scope_end();
}
END_TEST

START_TEST(initialisers_have_their_moments)
{
    enum { M = 20000 };
    static float v[M];
    OK(lz_manual_seed(3));
    lz_scope_begin();
    const struct {
        lz_tensor *t;
        double var, limit;
    } rows[] = {{lz_init_kaiming_normal(LZ_F32, LZ_SHAPE(100, 200), 0), 2.0 / 200, 1},
                {lz_init_xavier_normal(LZ_F32, LZ_SHAPE(100, 200), 1), 2.0 / 300, 1},
                {lz_init_trunc_normal(LZ_F32, LZ_SHAPE(M), 0, 2, -2, 2), 4 * 0.29112509, 2},
                {lz_init_trunc_normal(LZ_F32, LZ_SHAPE(M), 0, 0.02, -2, 2), 0.0004, 0.2}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double sum = 0, sq = 0;
        OK(lz_to_host(rows[r].t, v, sizeof v));
        for (int i = 0; i < M; i++) {
            sum += v[i];
            sq += (double)v[i] * v[i];
            ck_assert_msg(fabsf(v[i]) <= rows[r].limit, "row %zu: %g", r, v[i]);
        }
        ck_assert_msg(fabs(sum / M) < 5 * sqrt(rows[r].var / M), "row %zu: mean %g", r, sum / M);
        ck_assert_msg(fabs(sq / M / rows[r].var - 1) < 0.05, "row %zu: variance %g, not %g", r,
                      sq / M, rows[r].var);
    }
    ck_assert_int_eq(lz_status_of(lz_init_trunc_normal(LZ_F32, LZ_SHAPE(2), 0, 1, 2, -2)),
                     LZ_EINVAL);
    lz_scope_end();
}
END_TEST

START_TEST(orthogonal_matrices)
{
    double q[60], want[36];
    for (int tall = 0; tall < 2; tall++) {
        lz_shape s = tall ? LZ_SHAPE(10, 2, 3) : LZ_SHAPE(6, 10);
        lz_scope_begin();
        OK(lz_to_host(lz_init_orthogonal(LZ_F64, s, 2), q, sizeof q));
        lz_tensor *m = lz_from_host(LZ_F64, tall ? LZ_SHAPE(10, 6) : LZ_SHAPE(6, 10), q);
        if (tall)
            m = lz_transpose(m, 0, 1);
        for (int i = 0; i < 36; i++)
            want[i] = i % 7 == 0 ? 4 : 0;
        values(lz_matmul(m, lz_transpose(m, 0, 1)), want, 36, 1e-12, "q q^T");
        lz_scope_end();
    }
    ck_assert_int_eq(lz_status_of(lz_init_orthogonal(LZ_F64, LZ_SHAPE(3), 1)), LZ_ESHAPE);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("modules");
    TCase *t = tcase_create("modules");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, names_are_torchs);
    tcase_add_test(t, mistakes_add_nothing);
    tcase_add_test(t, norm_layers_call_their_function);
    tcase_add_test(t, convolution_layers);
    tcase_add_test(t, cells_follow_their_formulas);
    tcase_add_loop_test(t, gradients, 0, sizeof cases / sizeof *cases);
    tcase_add_test(t, layers_are_their_cells_in_a_row);
    tcase_add_loop_test(t, a_cache_gives_the_same, 0, 2);
    tcase_add_loop_test(t, the_first_step_is_one_like_all_others, 0, 2);
    tcase_add_test(t, zeros_record_nothing);
    tcase_add_test(t, initialisers_have_their_moments);
    tcase_add_test(t, orthogonal_matrices);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
