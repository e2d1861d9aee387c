/* t_functional.c - normalisation, dropout, attention and losses: results against the formulas in
 * double, gradients against central differences. */
#include "support/graph_reads.h"
#include "values.h"
#include <float.h>

/* ---- gradients ---- */

static const int64_t label_data[] = {2, 0, 4, -100, 1, 1};
static lz_tensor *labels(lz_shape s)
{
    return lz_from_host(LZ_I64, s, label_data);
}
static lz_tensor *signs(void)
{
    return lz_from_host(LZ_F64, LZ_SHAPE(4), ((double[]){1, -1, -1, 1}));
}
#define F(name, expr)                                                                              \
    static lz_tensor *f_##name(lz_tensor **x)                                                      \
    {                                                                                              \
        return expr;                                                                               \
    }
F(layer_norm, lz_layer_norm(x[0], LZ_SHAPE(5), x[1], x[2], 1e-5))
F(layer_norm2, lz_layer_norm(x[0], LZ_SHAPE(2, 3), NULL, NULL, 1e-3))
F(rms_norm, lz_rms_norm(x[0], LZ_SHAPE(5), x[1], 1e-6))
F(group_norm, lz_group_norm(x[0], 2, x[1], x[2], 1e-5))
F(instance_norm, lz_instance_norm(x[0], x[1], x[2], 1e-5))
F(batch_norm, lz_batch_norm(x[0], NULL, NULL, .weight = x[1], .bias = x[2], .training = true))
F(batch_norm_eval, lz_batch_norm(x[0], x[1], x[2]))
F(normalize, lz_normalize(x[0], 2, -1, 1e-12))
F(normalize3, lz_normalize(x[0], 3, 0, 1e-12))
F(attention, lz_scaled_dot_product_attention(x[0], x[1], x[2]))
F(attention_causal,
  lz_scaled_dot_product_attention(x[0], x[1], x[2], .is_causal = true, .scale = 0.7))
F(attention_gqa,
  lz_scaled_dot_product_attention(x[0], x[1], x[2], .is_causal = true, .enable_gqa = true))
static lz_tensor *mask_of_no_key(void)
{
    static const uint8_t m[12] = {1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1};
    return lz_from_host(LZ_BOOL, LZ_SHAPE(3, 4), m);
}
F(attention_mask, lz_scaled_dot_product_attention(x[0], x[1], x[2], .attn_mask = mask_of_no_key()))
F(rotary, lz_rotary_embedding(x[0], NULL, 100, false))
F(rotary_pairs, lz_rotary_embedding(x[0], lz_full(LZ_I32, LZ_SCALAR, 3), 100, true))
F(cross_entropy, lz_cross_entropy(x[0], labels(LZ_SHAPE(6))))
F(cross_entropy_all, lz_cross_entropy(x[0], labels(LZ_SHAPE(6)), .weight = x[1],
                                      .label_smoothing = 0.2, .ignore_index = 1))
F(cross_entropy_planes, lz_cross_entropy(x[0], labels(LZ_SHAPE(2, 3)), .reduction = LZ_REDUCE_NONE))
F(cross_entropy_soft, lz_cross_entropy(x[0], lz_softmax(x[1], 1), .label_smoothing = 0.1))
F(nll_loss, lz_nll_loss(lz_log_softmax(x[0], 1), labels(LZ_SHAPE(6)), .reduction = LZ_REDUCE_SUM))
F(mse_loss, lz_mse_loss(x[0], x[1]))
F(l1_loss, lz_l1_loss(x[0], x[1], .reduction = LZ_REDUCE_SUM))
F(smooth_l1_loss, lz_smooth_l1_loss(x[0], x[1], .beta = 0.5))
F(huber_loss, lz_huber_loss(x[0], x[1], .delta = 0.5))
F(bce, lz_binary_cross_entropy(x[0], x[1], .weight = x[2]))
F(bce_with_logits,
  lz_binary_cross_entropy_with_logits(x[0], x[1], .pos_weight = x[2], .weight = x[1]))
F(kl_div, lz_kl_div(x[0], x[1], .batchmean = true))
F(kl_div_log, lz_kl_div(x[0], x[1], .log_target = true))
F(cosine_embedding_loss, lz_cosine_embedding_loss(x[0], x[1], signs(), .margin = 0.1))
F(triplet_margin_loss, lz_triplet_margin_loss(x[0], x[1], x[2]))
F(triplet_swap, lz_triplet_margin_loss(x[0], x[1], x[2], .p = 3, .swap = true, .margin = 2))

static const gcase cases[] = {
    {"layer_norm", f_layer_norm, 3, {S(3, 5), S(5), S(5)}, -2, 2, true},
    {"layer_norm over two", f_layer_norm2, 1, {S(3, 2, 3)}, -2, 2, false},
    {"rms_norm", f_rms_norm, 2, {S(3, 5), S(5)}, -2, 2, true},
    {"group_norm", f_group_norm, 3, {S(2, 4, 3), S(4), S(4)}, -2, 2, false},
    {"instance_norm", f_instance_norm, 3, {S(2, 3, 2, 2), S(3), S(3)}, -2, 2, false},
    {"batch_norm", f_batch_norm, 3, {S(4, 2, 3), S(2), S(2)}, -2, 2, false},
    {"batch_norm evaluated", f_batch_norm_eval, 3, {S(4, 3), S(3), S(3)}, 0.5, 2, false},
    {"normalize", f_normalize, 1, {S(3, 4)}, 0.5, 2, false},
    {"normalize 3", f_normalize3, 1, {S(3, 4)}, 0.5, 2, false},
    {"attention", f_attention, 3, {S(2, 3, 2), S(2, 4, 2), S(2, 4, 3)}, -1, 1, false},
    {"attention causal",
     f_attention_causal,
     3,
     {S(1, 2, 3, 2), S(1, 2, 3, 2), S(1, 2, 3, 2)},
     -1,
     1,
     false},
    {"attention gqa",
     f_attention_gqa,
     3,
     {S(1, 4, 3, 2), S(1, 2, 3, 2), S(1, 2, 3, 2)},
     -1,
     1,
     false},
    {"attention mask", f_attention_mask, 3, {S(2, 3, 2), S(2, 4, 2), S(2, 4, 3)}, -1, 1, false},
    {"rotary", f_rotary, 1, {S(2, 3, 4)}, -1, 1, false},
    {"rotary of pairs", f_rotary_pairs, 1, {S(3, 6)}, -1, 1, false},
    {"cross_entropy", f_cross_entropy, 1, {S(6, 5)}, -2, 2, true},
    {"cross_entropy with all options", f_cross_entropy_all, 2, {S(6, 5), S(5)}, 0.5, 2, false},
    {"cross_entropy of planes", f_cross_entropy_planes, 1, {S(2, 5, 3)}, -2, 2, false},
    {"cross_entropy of probabilities", f_cross_entropy_soft, 2, {S(3, 4), S(3, 4)}, -2, 2, false},
    {"nll_loss", f_nll_loss, 1, {S(6, 5)}, -2, 2, false},
    {"mse_loss", f_mse_loss, 2, {S(3, 4), S(3, 4)}, -2, 2, false},
    {"l1_loss", f_l1_loss, 2, {S(3, 4), S(4)}, -2, 2, false},
    {"smooth_l1_loss", f_smooth_l1_loss, 2, {S(3, 4), S(3, 4)}, -2, 2, false},
    {"huber_loss", f_huber_loss, 2, {S(3, 4), S(3, 4)}, -2, 2, false},
    {"binary_cross_entropy", f_bce, 3, {S(3, 4), S(3, 4), S(4)}, 0.1, 0.9, false},
    {"binary_cross_entropy_with_logits",
     f_bce_with_logits,
     3,
     {S(3, 4), S(3, 4), S(4)},
     0.1,
     2,
     false},
    {"kl_div", f_kl_div, 2, {S(3, 4), S(3, 4)}, 0.1, 1, false},
    {"kl_div of logarithms", f_kl_div_log, 2, {S(3, 4), S(3, 4)}, -2, 0, false},
    {"cosine_embedding_loss", f_cosine_embedding_loss, 2, {S(4, 3), S(4, 3)}, 0.2, 1, false},
    {"triplet_margin_loss", f_triplet_margin_loss, 3, {S(4, 3), S(4, 3), S(4, 3)}, -1, 1, false},
    {"triplet_margin_loss swapped", f_triplet_swap, 3, {S(4, 3), S(4, 3), S(4, 3)}, -1, 1, false},
};
enum { NCASES = sizeof cases / sizeof *cases };

START_TEST(gradients)
{
    OK(lz_set_device(devices[0]));
    compare(&cases[_i], 1);
    if (cases[_i].second)
        compare(&cases[_i], 2);
}
END_TEST

/* The compiled results and gradients are those of the reference. */
START_TEST(compiled_agrees_with_the_reference)
{
    const gcase *c = &cases[_i];
    double y[2][256], g[2][MAX_IN][MAX_ELEM];
    point p;
    if (getenv("LZ_TEST_QUICK") && _i % 3)
        return;
    start(c, &p, 5);
    for (int d = 0; d < 2; d++) {
        lz_tensor *x[MAX_IN], *grads[MAX_IN];
        OK(lz_set_device(devices[d]));
        lz_scope_begin();
        make(c, &p, x);
        lz_tensor *t = c->f(x);
        OK(lz_grad(weigh(t, 3), x, (size_t)c->nin, grads));
        OK(lz_to_host(t, y[d], sizeof y[d]));
        for (int i = 0; i < c->nin; i++)
            OK(lz_to_host(grads[i], g[d][i], sizeof g[d][i]));
        if (d)
            for (int64_t i = 0; i < lz_numel(t); i++)
                ck_assert_msg(fabs(y[0][i] - y[1][i]) <= 1e-12 * (1 + fabs(y[0][i])),
                              "%s: %g and %g", c->name, y[0][i], y[1][i]);
        for (int i = 0; d && i < c->nin; i++)
            for (int64_t k = 0; k < p.n[i]; k++)
                ck_assert_msg(fabs(g[0][i][k] - g[1][i][k]) <= 1e-11 * (1 + fabs(g[0][i][k])),
                              "%s: %g and %g", c->name, g[0][i][k], g[1][i][k]);
        lz_scope_end();
    }
}
END_TEST

/* ---- values ---- */

/* Standardised over blocks of n values. */
static void standardise(double *x, int blocks, int n, double eps)
{
    for (int b = 0; b < blocks; b++) {
        double m = 0, v = 0, *p = x + b * n;
        for (int i = 0; i < n; i++)
            m += p[i] / n;
        for (int i = 0; i < n; i++)
            v += (p[i] - m) * (p[i] - m) / n;
        for (int i = 0; i < n; i++)
            p[i] = (p[i] - m) / sqrt(v + eps);
    }
}

START_TEST(norms)
{
    double x[48], w[6], b[6], want[48];
    fill(x, 48, 1);
    fill(w, 6, 2);
    fill(b, 6, 3);
    lz_scope_begin();
    lz_tensor *tx = lz_from_host(LZ_F64, LZ_SHAPE(2, 4, 6), x),
              *tw = lz_from_host(LZ_F64, LZ_SHAPE(6), w),
              *tb = lz_from_host(LZ_F64, LZ_SHAPE(6), b);
    memcpy(want, x, sizeof x);
    standardise(want, 8, 6, 1e-5);
    for (int i = 0; i < 48; i++)
        want[i] = want[i] * w[i % 6] + b[i % 6];
    values(lz_layer_norm(tx, LZ_SHAPE(6), tw, tb, 1e-5), want, 48, "layer_norm");
    memcpy(want, x, sizeof x);
    standardise(want, 4, 12, 1e-3);
    lz_tensor *cw = lz_slice(tw, 0, 0, 4, 1), *cb = lz_slice(tb, 0, 0, 4, 1);
    for (int i = 0; i < 48; i++)
        want[i] = want[i] * w[i / 6 % 4] + b[i / 6 % 4];
    values(lz_group_norm(tx, 2, cw, cb, 1e-3), want, 48, "group_norm");
    memcpy(want, x, sizeof x);
    standardise(want, 8, 6, 1e-5);
    values(lz_instance_norm(tx, NULL, NULL, 1e-5), want, 48, "instance_norm");
    values(lz_group_norm(tx, 4, NULL, NULL, 1e-5), want, 48, "group_norm of each channel");
    for (int r = 0; r < 8; r++) {
        double ms = 0;
        for (int i = 0; i < 6; i++)
            ms += x[6 * r + i] * x[6 * r + i] / 6;
        for (int i = 0; i < 6; i++)
            want[6 * r + i] = x[6 * r + i] / sqrt(ms + 0x1p-52) * w[i];
    }
    values(lz_rms_norm(tx, LZ_SHAPE(6), tw, -1), want, 48, "rms_norm");
    lz_scope_end();
}
END_TEST

START_TEST(batch_norm_follows_its_statistics)
{
    enum { N = 4, C = 3, L = 2 };
    double x[N * C * L], mean[C] = {0.5, -1, 0}, var[C] = {1, 2, 0.5}, want[N * C * L];
    lz_scope_begin();
    lz_tensor *rm = lz_retain(lz_from_host(LZ_F64, LZ_SHAPE(C), mean)),
              *rv = lz_retain(lz_from_host(LZ_F64, LZ_SHAPE(C), var));
    lz_scope_end();
    for (unsigned step = 0; step < 2; step++) {
        fill(x, N * C * L, 7 + step);
        for (int c = 0; c < C; c++) {
            double m = 0, v = 0;
            for (int i = 0; i < N * L; i++)
                m += x[i / L * C * L + c * L + i % L] / (N * L);
            for (int i = 0; i < N * L; i++)
                v += pow(x[i / L * C * L + c * L + i % L] - m, 2);
            for (int i = 0; i < N * L; i++) {
                int at = i / L * C * L + c * L + i % L;
                want[at] = (x[at] - m) / sqrt(v / (N * L) + 1e-5);
            }
            mean[c] = 0.75 * mean[c] + 0.25 * m;
            var[c] = 0.75 * var[c] + 0.25 * v / (N * L - 1);
        }
        lz_scope_begin();
        lz_tensor *t = lz_retain(lz_batch_norm(lz_from_host(LZ_F64, LZ_SHAPE(N, C, L), x), rm, rv,
                                               .training = true, .momentum = 0.25));
        OK(lz_mark_step());
        lz_scope_end();
        values(t, want, N * C * L, "training");
        values(rm, mean, C, "running mean");
        values(rv, var, C, "running variance");
        lz_release(t);
    }
    for (int i = 0; i < N * C * L; i++)
        want[i] = (x[i] - mean[i / L % C]) / sqrt(var[i / L % C] + 1e-5);
    lz_scope_begin();
    values(lz_batch_norm(lz_from_host(LZ_F64, LZ_SHAPE(N, C, L), x), rm, rv), want, N * C * L,
           "evaluated");
    lz_tensor *one = lz_from_host(LZ_F64, LZ_SHAPE(1, C), x);
    ck_assert_int_eq(lz_status_of(lz_batch_norm(one, rm, rv, .training = true)), LZ_ESHAPE);
    ck_assert_int_eq(lz_status_of(lz_batch_norm(one, NULL, rv)), LZ_ENULL);
    lz_scope_end();
    lz_release(rm);
    lz_release(rv);
}
END_TEST

START_TEST(dropout)
{
    enum { N = 20000 };
    static float y[N], z[N];
    lz_scope_begin();
    lz_tensor *ones = lz_ones(LZ_F32, LZ_SHAPE(N));
    OK(lz_manual_seed(1));
    OK(lz_to_host(lz_dropout(ones, 0.25, true), y, sizeof y));
    int kept = 0;
    for (int i = 0; i < N; i++) {
        ck_assert(y[i] == 0 || fabsf(y[i] - 4.0f / 3) < 1e-6f);
        kept += y[i] != 0;
    }
    ck_assert(fabs(kept - 0.75 * N) < 5 * sqrt(0.75 * 0.25 * N));
    OK(lz_to_host(lz_dropout(ones, 0.25, true), z, sizeof z));
    ck_assert(memcmp(y, z, sizeof y) != 0); /* other numbers */
    OK(lz_manual_seed(1));
    OK(lz_to_host(lz_dropout(ones, 0.25, true), z, sizeof z));
    ck_assert(memcmp(y, z, sizeof y) == 0);
    ck_assert_ptr_eq(lz_dropout(ones, 0.25, false), ones);
    ck_assert(lz_item(lz_sum(lz_dropout(ones, 1, true))) == 0);
    ck_assert_int_eq(lz_status_of(lz_dropout(ones, 1.5, true)), LZ_EINVAL);
    lz_scope_end();
}
END_TEST

/* softmax(q k^T scale) v of one head, with seen(i, j) */
static void attend(const double *q, const double *k, const double *v, int L, int S, int E, int V,
                   bool causal, double *out)
{
    for (int i = 0; i < L; i++) {
        double w[16], sum = 0;
        for (int j = 0; j < S; j++) {
            double s = 0;
            for (int e = 0; e < E; e++)
                s += q[i * E + e] * k[j * E + e];
            w[j] = causal && j > i ? 0 : exp(s / sqrt(E));
            sum += w[j];
        }
        for (int e = 0; e < V; e++) {
            out[i * V + e] = 0;
            for (int j = 0; j < S; j++)
                out[i * V + e] += w[j] / sum * v[j * V + e];
        }
    }
}

START_TEST(attention_values)
{
    enum { B = 2, H = 4, K = 2, L = 3, E = 2, V = 3 };
    double q[B * H * L * E], k[B * K * L * E], v[B * K * L * V], want[B * H * L * V];
    fill(q, B * H * L * E, 1);
    fill(k, B * K * L * E, 2);
    fill(v, B * K * L * V, 3);
    for (int h = 0; h < B * H; h++) {
        int g = h / H * K + h % H / (H / K);
        attend(q + h * L * E, k + g * L * E, v + g * L * V, L, L, E, V, true, want + h * L * V);
    }
    lz_scope_begin();
    lz_tensor *tq = lz_from_host(LZ_F64, LZ_SHAPE(B, H, L, E), q),
              *tk = lz_from_host(LZ_F64, LZ_SHAPE(B, K, L, E), k),
              *tv = lz_from_host(LZ_F64, LZ_SHAPE(B, K, L, V), v);
    values(lz_scaled_dot_product_attention(tq, tk, tv, .is_causal = true, .enable_gqa = true), want,
           B * H * L * V, "grouped queries");
    /* the same by a float mask, and by a boolean one that broadcasts */
    double inf = INFINITY, low[L * L] = {0, -inf, -inf, 0, 0, -inf, 0, 0, 0};
    uint8_t see[L * L] = {1, 0, 0, 1, 1, 0, 1, 1, 1};
    values(lz_scaled_dot_product_attention(tq, tk, tv, .enable_gqa = true,
                                           .attn_mask = lz_from_host(LZ_F64, LZ_SHAPE(L, L), low)),
           want, B * H * L * V, "float mask");
    values(lz_scaled_dot_product_attention(tq, tk, tv, .enable_gqa = true,
                                           .attn_mask =
                                               lz_from_host(LZ_BOOL, LZ_SHAPE(1, 1, L, L), see)),
           want, B * H * L * V, "boolean mask");
    memset(see, 0, L); /* the first query sees nothing */
    for (int h = 0; h < B * H; h++)
        memset(want + h * L * V, 0, V * sizeof *want);
    values(lz_scaled_dot_product_attention(tq, tk, tv, .enable_gqa = true,
                                           .attn_mask = lz_from_host(LZ_BOOL, LZ_SHAPE(L, L), see)),
           want, B * H * L * V, "nothing seen");
    ck_assert_int_eq(lz_status_of(lz_scaled_dot_product_attention(tq, tk, tv)), LZ_ESHAPE);
    ck_assert_int_eq(lz_status_of(lz_scaled_dot_product_attention(tq, tq, tk)), LZ_ESHAPE);
    ck_assert_int_eq(lz_status_of(lz_scaled_dot_product_attention(tk, tk, tv, .attn_mask = tk)),
                     LZ_ESHAPE);
    ck_assert_int_eq(lz_status_of(lz_scaled_dot_product_attention(tk, tk, lz_to(tv, LZ_F32))),
                     LZ_EDTYPE);
    lz_scope_end();
}
END_TEST

/* Masks of the lowest finite number, which are added, and of -infinity, which hide: a row of the
 * former sees all keys alike. Rows: all lowest; all -infinity; one lowest among -infinity; one 0
 * among lowest. For the kernels of few keys and of many. */
START_TEST(masks_of_the_lowest_number)
{
    static const struct {
        lz_dtype of_scores, of_mask;
        double lowest, tol;
    } types[] = {{LZ_F32, LZ_F32, -FLT_MAX, 1e-5},
                 {LZ_F64, LZ_F64, -DBL_MAX, 1e-12},
                 {LZ_BF16, LZ_BF16, -0x1.fep127, 2e-2},
                 {LZ_F32, LZ_BF16, -0x1.fep127, 1e-5},
                 {LZ_F64, LZ_F32, -FLT_MAX, 1e-12}};
    enum { L = 4, E = 16, KEYS = 200 };
    static const int keys[] = {3, 40, KEYS};
    static double q[L * E], k[KEYS * E], v[KEYS * E], m[L * KEYS], want[L * E], got[L * E];
    for (unsigned i = 0; i < 5 * 3; i++) {
        lz_dtype d = types[i % 5].of_scores;
        int S = keys[i / 5];
        for (int j = 0; j < S * E; j++)
            k[j] = (j * 7 % 13 - 6) / 8.0, v[j] = (j * 5 % 17) / 4.0, q[j % (L * E)] = j % 3 / 2.0;
        memset(want, 0, sizeof want);
        for (int j = 0; j < S; j++) {
            double low = types[i % 5].lowest;
            m[j] = low, m[S + j] = -INFINITY;
            m[2 * S + j] = j == S / 2 ? low : -INFINITY, m[3 * S + j] = j == 1 ? 0 : low;
            for (int e = 0; e < E; e++)
                want[e] += v[j * E + e] / S;
        }
        memcpy(want + 2 * E, v + S / 2 * E, E * sizeof *v);
        memcpy(want + 3 * E, v + E, E * sizeof *v);
        lz_tensor *mask = lz_to(lz_from_host(LZ_F64, LZ_SHAPE(L, S), m), types[i % 5].of_mask);
        lz_tensor *t[3] = {lz_to(lz_from_host(LZ_F64, LZ_SHAPE(1, L, E), q), d),
                           lz_to(lz_from_host(LZ_F64, LZ_SHAPE(1, S, E), k), d),
                           lz_to(lz_from_host(LZ_F64, LZ_SHAPE(1, S, E), v), d)};
        lz_tensor *y = lz_scaled_dot_product_attention(t[0], t[1], t[2], .attn_mask = mask), *g[3];
        ck_assert_int_eq(lz_to_host(lz_to(y, LZ_F64), got, sizeof got), LZ_OK);
        for (int j = 0; j < L * E; j++)
            ck_assert_double_eq_tol(got[j], want[j], types[i % 5].tol * 4);
        lz_grad(lz_sum(y), t, 3, g);
        for (int j = 0; j < 3; j++) /* rows that see nothing give no NaN to others */
            ck_assert(isfinite(lz_item(lz_sum(lz_to(g[j], LZ_F64)))));
        /* the sum of the values has a gradient of 1 for each query that sees keys */
        ck_assert_double_eq_tol(lz_item(lz_sum(lz_to(g[2], LZ_F64))), 3 * E, E * types[i % 5].tol);
    }
}
END_TEST

/* Invariant: attention has one square for its gradient, causal or with a mask; the weights are not
 * stored masked and unmasked. */
START_TEST(attention_keeps_one_square)
{
    lz_scope_begin();
    lz_tensor *q[3], *g[3], *mask = _i ? mask_of_no_key() : NULL;
    for (int i = 0; i < 3; i++)
        q[i] = lz_randn(LZ_F32, LZ_SHAPE(2, i ? 4 : 3, 4));
    lz_tensor *y =
        lz_scaled_dot_product_attention(q[0], q[1], q[2], .is_causal = !_i, .attn_mask = mask);
    ck_assert_int_eq(lz_grad(lz_sum(lz_mul(y, y)), q, 3, g), LZ_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(reads_of(g[i], "stablehlo.exponential"), 2);
        ck_assert_int_gt(reads_of(g[i], "stablehlo.divide"), 1);
        ck_assert_int_eq(reads_by(g[i], "stablehlo.divide", "stablehlo.select"), 0);
    }
    lz_scope_end();
}
END_TEST

/* The largest difference of two tensors, relative to the largest number of the second. */
static double apart(lz_tensor *a, lz_tensor *b)
{
    a = lz_to(a, LZ_F64);
    double most = lz_item(lz_amax(lz_abs(lz_sub(a, b)))), of = lz_item(lz_amax(lz_abs(b)));
    ck_assert_double_gt(of, 0);
    return most / of;
}

/* 16-bit attention whose gradient makes the weights again: results, gradients, and gradients of
 * these are those of f64. */
START_TEST(half_attention_makes_its_weights_again)
{
    enum { B = 2, H = 4, K = 2, L = 35, S = 70, E = 16, V = 24 };
    static const struct {
        lz_dtype d;
        double tol;
        bool causal, grouped;
    } forms[] = {{LZ_BF16, 0.03, false, false},
                 {LZ_BF16, 0.03, true, true},
                 {LZ_F16, 0.004, true, false},
                 {LZ_F16, 0.004, false, true}};
    bool causal = forms[_i].causal, grouped = forms[_i].grouped;
    int64_t heads = grouped ? K : H, keys = causal ? L : S;
    lz_scope_begin();
    lz_tensor *t[2][3], *g[2][3], *h[2][3], *y[2];
    t[0][0] = lz_to(lz_randn(LZ_F32, LZ_SHAPE(B, H, L, E)), forms[_i].d);
    t[0][1] = lz_to(lz_randn(LZ_F32, LZ_SHAPE(B, heads, keys, E)), forms[_i].d);
    t[0][2] = lz_to(lz_randn(LZ_F32, LZ_SHAPE(B, heads, keys, V)), forms[_i].d);
    lz_tensor *by = lz_randn(LZ_F32, LZ_SHAPE(B, H, L, V));
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 3; j++)
            t[i][j] = i ? lz_to(t[0][j], LZ_F64) : t[0][j];
        y[i] = lz_scaled_dot_product_attention(t[i][0], t[i][1], t[i][2], .is_causal = causal,
                                               .enable_gqa = grouped);
        static char text[1 << 16];
        ck_assert_uint_lt(lz_dump_graph(&y[i], 1, "stablehlo", text, sizeof text), sizeof text);
        ck_assert_int_eq(strstr(text, "optimization_barrier") != NULL, i == 0);
        lz_dtype wide = i ? LZ_F64 : LZ_F32;
        lz_tensor *loss = lz_sum(lz_mul(lz_to(y[i], wide), lz_to(by, wide)));
        ck_assert_int_eq(lz_grad(loss, t[i], 3, g[i]), LZ_OK);
        loss = lz_sum(lz_square(lz_to(g[i][0], wide)));
        ck_assert_int_eq(lz_grad(loss, t[i], 3, h[i]), LZ_OK);
    }
    ck_assert_double_lt(apart(y[0], y[1]), forms[_i].tol);
    for (int j = 0; j < 3; j++) {
        ck_assert_int_eq(lz_dtype_of(g[0][j]), forms[_i].d);
        ck_assert_double_lt(apart(g[0][j], g[1][j]), forms[_i].tol);
        ck_assert_double_lt(apart(h[0][j], h[1][j]), 2 * forms[_i].tol);
    }
    lz_scope_end();
}
END_TEST

/* No queries, no keys, no features of values, one of each: shapes, zeros, gradients without NaN. */
START_TEST(half_attention_of_nothing)
{
    static const struct {
        int64_t l, s, v;
    } sizes[] = {{3, 0, 2}, {0, 3, 2}, {0, 0, 2}, {3, 2, 0}, {1, 1, 1}, {5, 2, 2}, {2, 5, 2}};
    int64_t l = sizes[_i / 2].l, s = sizes[_i / 2].s, v = sizes[_i / 2].v;
    lz_scope_begin();
    lz_tensor *t[3] = {lz_to(lz_randn(LZ_F32, LZ_SHAPE(2, l, 4)), LZ_BF16),
                       lz_to(lz_randn(LZ_F32, LZ_SHAPE(2, s, 4)), LZ_BF16),
                       lz_to(lz_randn(LZ_F32, LZ_SHAPE(2, s, v)), LZ_BF16)};
    lz_tensor *g[3], *y = lz_scaled_dot_product_attention(t[0], t[1], t[2], .is_causal = _i % 2);
    ck_assert_int_eq(lz_status_of(y), LZ_OK);
    ck_assert_int_eq(lz_numel(y), 2 * l * v);
    if (!s)
        ck_assert_double_eq(lz_item(lz_sum(lz_abs(y))), 0);
    ck_assert_int_eq(lz_grad(lz_sum(lz_mul(y, y)), t, 3, g), LZ_OK);
    for (int j = 0; j < 3; j++) {
        ck_assert_int_eq(lz_numel(g[j]), lz_numel(t[j]));
        ck_assert(isfinite(lz_item(lz_sum(g[j]))));
    }
    lz_scope_end();
}
END_TEST

static void attend_one(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_scaled_dot_product_attention(in[0], in[1], in[2], .is_causal = true);
}

/* Mapped, and forward mode: as in f64. */
START_TEST(half_attention_in_transforms)
{
    enum { N = 3, L = 17, E = 8 };
    lz_scope_begin();
    lz_tensor *t[2][3], *d[2][3], *y[2], *of[2], *g[2][3];
    for (int j = 0; j < 3; j++) {
        t[0][j] = lz_to(lz_randn(LZ_F32, LZ_SHAPE(N, L, E)), LZ_BF16);
        d[0][j] = lz_to(lz_randn(LZ_F32, LZ_SHAPE(N, L, E)), LZ_BF16);
        t[1][j] = lz_to(t[0][j], LZ_F64);
        d[1][j] = lz_to(d[0][j], LZ_F64);
    }
    ck_assert_int_eq(lz_vmap(attend_one, t[0], 3, 1, NULL, y), LZ_OK);
    attend_one(t[1], y + 1, NULL);
    ck_assert_double_lt(apart(y[0], y[1]), 0.03);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(lz_jvp(y + i, 1, t[i], d[i], 3, of + i), LZ_OK);
        lz_tensor *loss = lz_sum(lz_square(lz_to(y[i], i ? LZ_F64 : LZ_F32)));
        ck_assert_int_eq(lz_grad(loss, t[i], 3, g[i]), LZ_OK);
    }
    ck_assert_double_lt(apart(of[0], of[1]), 0.03);
    for (int j = 0; j < 3; j++)
        ck_assert_double_lt(apart(g[0][j], g[1][j]), 0.03);
    lz_scope_end();
}
END_TEST

/* The number of products in the graph of a result. */
static int products_in(lz_tensor *y)
{
    static char text[1 << 18];
    ck_assert_uint_lt(lz_dump_graph(&y, 1, "stablehlo", text, sizeof text), sizeof text);
    int n = 0;
    for (const char *p = text; (p = strstr(p, "stablehlo.dot_general")); p++)
        n++;
    return n;
}

/* Of many queries, causal attention is made of blocks, each with the keys that it sees: the same
 * numbers as those of f32, which is not. */
START_TEST(causal_attention_of_blocks)
{
    enum { H = 64, L = 512, E = 8, V = 6 };
    lz_scope_begin();
    lz_tensor *t[2][3], *g[2][3], *y[2];
    for (int j = 0; j < 3; j++)
        t[0][j] = lz_to(lz_randn(LZ_F32, LZ_SHAPE(H, L, j == 2 ? V : E)), LZ_BF16);
    lz_tensor *by = lz_randn(LZ_F32, LZ_SHAPE(H, L, V));
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 3; j++)
            t[i][j] = i ? lz_to(t[0][j], LZ_F32) : t[0][j];
        y[i] = lz_scaled_dot_product_attention(t[i][0], t[i][1], t[i][2], .is_causal = true);
        if (!i) /* two blocks: forward, and five of each in the gradient's region */
            ck_assert_int_eq(products_in(y[0]), 2 * 7);
        ck_assert_int_eq(lz_grad(lz_sum(lz_mul(lz_to(y[i], LZ_F32), by)), t[i], 3, g[i]), LZ_OK);
    }
    ck_assert_double_lt(apart(y[0], lz_to(y[1], LZ_F64)), 0.03);
    for (int j = 0; j < 3; j++)
        ck_assert_double_lt(apart(g[0][j], lz_to(g[1][j], LZ_F64)), 0.03);
    lz_scope_end();
}
END_TEST

START_TEST(rotary_turns_pairs)
{
    enum { L = 3, D = 4 };
    double x[L * D], want[L * D];
    fill(x, L * D, 1);
    lz_scope_begin();
    lz_tensor *t = lz_from_host(LZ_F64, LZ_SHAPE(L, D), x);
    for (int pairs = 0; pairs < 2; pairs++)
        for (int first = 0; first < 6; first += 5) {
            for (int l = 0; l < L; l++)
                for (int i = 0; i < D / 2; i++) {
                    double a = (first + l) * pow(10000, -2.0 * i / D);
                    int u = l * D + (pairs ? 2 * i : i), w = pairs ? u + 1 : u + D / 2;
                    want[u] = x[u] * cos(a) - x[w] * sin(a);
                    want[w] = x[w] * cos(a) + x[u] * sin(a);
                }
            lz_tensor *offset = first ? lz_full(LZ_I64, LZ_SCALAR, first) : NULL;
            values(lz_rotary_embedding(t, offset, 10000, pairs), want, L * D, "rotary");
        }
    ck_assert_int_eq(lz_status_of(lz_rotary_embedding(lz_from_host(LZ_F64, LZ_SHAPE(4, 3), x), NULL,
                                                      100, false)),
                     LZ_ESHAPE);
    ck_assert_int_eq(lz_status_of(lz_rotary_embedding(t, t, 100, false)), LZ_ESHAPE);
    lz_scope_end();
}
END_TEST

/* cross_entropy as a sum over n of what torch's documentation writes. */
static double ce(const double *x, const int64_t *t, int n, int c, const double *w, double eps,
                 int64_t ignore, double *count)
{
    double total = 0;
    *count = 0;
    for (int i = 0; i < n; i++) {
        double top = -INFINITY, s = 0, spread = 0;
        if (t[i] == ignore)
            continue;
        for (int k = 0; k < c; k++)
            top = fmax(top, x[i * c + k]);
        for (int k = 0; k < c; k++)
            s += exp(x[i * c + k] - top);
        for (int k = 0; k < c; k++)
            spread -= w[k] * (x[i * c + k] - top - log(s));
        total += (1 - eps) * w[t[i]] * -(x[i * c + t[i]] - top - log(s)) + eps / c * spread;
        *count += w[t[i]];
    }
    return total;
}

START_TEST(cross_entropy_options)
{
    enum { N = 6, C = 5 };
    double x[N * C], w[C] = {0.5, 1, 2, 0.25, 3}, ones[C] = {1, 1, 1, 1, 1}, count;
    fill(x, N * C, 1);
    lz_scope_begin();
    lz_tensor *t = lz_from_host(LZ_F64, LZ_SHAPE(N, C), x), *y = labels(LZ_SHAPE(N)),
              *tw = lz_from_host(LZ_F64, LZ_SHAPE(C), w);
    double want = ce(x, label_data, N, C, ones, 0, -100, &count);
    ck_assert(count == 5);
    values(lz_cross_entropy(t, y), (double[]){want / count}, 1, "mean");
    values(lz_cross_entropy(t, y, .reduction = LZ_REDUCE_SUM), &want, 1, "sum");
    values(lz_nll_loss(lz_log_softmax(t, 1), y), (double[]){want / count}, 1, "nll");
    values(lz_cross_entropy(lz_select(t, 0, 2), lz_full(LZ_I32, LZ_SCALAR, 4)),
           (double[]){ce(x + 2 * C, label_data + 2, 1, C, ones, 0, -1, &count)}, 1, "one row");
    want = ce(x, label_data, N - 3, C, w, 0.3, 0, &count); /* the label 0 is ignored */
    values(lz_cross_entropy(lz_slice(t, 0, 0, 3, 1), labels(LZ_SHAPE(3)), .weight = tw,
                            .label_smoothing = 0.3, .ignore_index = 0),
           (double[]){want / count}, 1, "all options");
    ck_assert_int_eq(lz_status_of(lz_cross_entropy(t, y, .label_smoothing = 2)), LZ_EINVAL);
    ck_assert_int_eq(lz_status_of(lz_cross_entropy(t, y, .weight = y)), LZ_ESHAPE);
    ck_assert_int_eq(lz_status_of(lz_cross_entropy(t, y, .reduction = (lz_reduction)7)), LZ_EINVAL);
    ck_assert_int_eq(lz_status_of(lz_nll_loss(t, t)), LZ_ESHAPE);
    lz_scope_end();
}
END_TEST

START_TEST(losses_have_torchs_values)
{
    const double x[4] = {0.25, 0.5, 0.75, 1}, t[4] = {1, 0, 0.5, 1};
    lz_scope_begin();
    lz_tensor *a = lz_from_host(LZ_F64, LZ_SHAPE(4), x), *b = lz_from_host(LZ_F64, LZ_SHAPE(4), t);
    double d[4] = {0.75, 0.5, 0.25, 0}, want = 0;
    values(lz_l1_loss(a, b, .reduction = LZ_REDUCE_NONE), d, 4, "l1");
    values(lz_mse_loss(a, b), (double[]){(0.5625 + 0.25 + 0.0625) / 4}, 1, "mse");
    values(lz_smooth_l1_loss(a, b, .beta = 0.5, .reduction = LZ_REDUCE_NONE),
           (double[]){0.5, 0.25, 0.0625, 0}, 4, "smooth_l1");
    values(lz_smooth_l1_loss(a, b, .beta = 0, .reduction = LZ_REDUCE_NONE), d, 4,
           "smooth_l1 without beta");
    values(lz_huber_loss(a, b, .delta = 0.5, .reduction = LZ_REDUCE_NONE),
           (double[]){0.25, 0.125, 0.03125, 0}, 4, "huber");
    for (int i = 0; i < 4; i++)
        want -= (t[i] * log(x[i]) + (1 - t[i]) * fmax(log(1 - x[i]), -100)) / 4;
    values(lz_binary_cross_entropy(a, b), &want, 1, "bce");
    want = 0;
    for (int i = 0; i < 4; i++)
        want -=
            (3 * t[i] * log(1 / (1 + exp(-x[i]))) + (1 - t[i]) * log(1 - 1 / (1 + exp(-x[i])))) / 4;
    values(lz_binary_cross_entropy_with_logits(a, b, .pos_weight = lz_full(LZ_F64, LZ_SCALAR, 3)),
           &want, 1, "bce_with_logits");
    double far[2] = {-800, 800};
    lz_tensor *tf = lz_from_host(LZ_F64, LZ_SHAPE(2), far);
    values(lz_binary_cross_entropy_with_logits(tf, lz_zeros(LZ_F64, LZ_SHAPE(2)),
                                               .reduction = LZ_REDUCE_NONE),
           (double[]){0, 800}, 2, "no overflow");
    values(lz_kl_div(a, b, .reduction = LZ_REDUCE_NONE),
           (double[]){-0.25, 0, 0.5 * (log(0.5) - 0.75), -1}, 4, "kl_div");
    const double u[6] = {1, 0, 0, 3, 4, 0}, v[6] = {2, 0, 0, 0, 5, 0}, s[2] = {1, -1};
    lz_tensor *ta = lz_from_host(LZ_F64, LZ_SHAPE(2, 3), u),
              *tb = lz_from_host(LZ_F64, LZ_SHAPE(2, 3), v);
    lz_tensor *cosine = lz_cosine_embedding_loss(ta, tb, lz_from_host(LZ_F64, LZ_SHAPE(2), s),
                                                 .margin = 0.5, .reduction = LZ_REDUCE_NONE);
    double got[2];
    OK(lz_to_host(cosine, got, sizeof got));
    ck_assert(fabs(got[0]) < 1e-9 && fabs(got[1] - 0.3) < 1e-9);
    double triplet = lz_item(lz_triplet_margin_loss(ta, tb, lz_zeros(LZ_F64, LZ_SHAPE(2, 3))));
    ck_assert_msg(fabs(triplet - (1 + 0) / 2.0) < 1e-4, "%g", triplet);
    ck_assert_int_eq(lz_status_of(lz_huber_loss(a, b, .delta = -1)), LZ_EINVAL);
    ck_assert_int_eq(lz_status_of(lz_triplet_margin_loss(ta, tb, ta, .p = 0)), LZ_EINVAL);
    ck_assert_int_eq(lz_status_of(lz_cosine_embedding_loss(ta, tb, ta)), LZ_ESHAPE);
    lz_scope_end();
}
END_TEST

/* 16-bit floats are computed in f32 and rounded once. */
START_TEST(half_precision_is_computed_in_single)
{
    double x[12];
    float y[12], z[12];
    fill(x, 12, 1);
    lz_scope_begin();
    lz_tensor *h = lz_to(lz_from_host(LZ_F64, LZ_SHAPE(3, 4), x), LZ_BF16), *f = lz_to(h, LZ_F32);
    lz_tensor *a = lz_layer_norm(h, LZ_SHAPE(4), NULL, NULL, 1e-5),
              *b = lz_layer_norm(f, LZ_SHAPE(4), NULL, NULL, 1e-5);
    ck_assert_int_eq(lz_dtype_of(a), LZ_BF16);
    OK(lz_to_host(lz_to(a, LZ_F32), y, sizeof y));
    OK(lz_to_host(lz_to(lz_to(b, LZ_BF16), LZ_F32), z, sizeof z));
    ck_assert(memcmp(y, z, sizeof y) == 0);
    ck_assert_int_eq(lz_dtype_of(lz_cross_entropy(h, labels(LZ_SHAPE(3)))), LZ_BF16);
    ck_assert_int_eq(lz_dtype_of(lz_scaled_dot_product_attention(h, h, h)), LZ_BF16);
    lz_scope_end();
}
END_TEST

START_TEST(mistakes_name_the_values)
{
    double x[12] = {0};
    lz_scope_begin();
    lz_tensor *t = lz_from_host(LZ_F64, LZ_SHAPE(3, 4), x), *i = lz_to(t, LZ_I32);
#define SAYS(expr, st, text)                                                                       \
    ck_assert_int_eq(lz_status_of(expr), st);                                                      \
    ck_assert_msg(strstr(lz_last_error_text(), text) != NULL, "%s", lz_last_error_text())
    SAYS(lz_layer_norm(t, LZ_SHAPE(3), NULL, NULL, 1e-5), LZ_ESHAPE,
         "[3, 4] and does not end with normalized_shape [3]");
    SAYS(lz_layer_norm(t, LZ_SHAPE(4), t, NULL, 1e-5), LZ_ESHAPE, "the weight is [3, 4], not [4]");
    SAYS(lz_layer_norm(i, LZ_SHAPE(4), NULL, NULL, 1e-5), LZ_EDTYPE, "i32");
    SAYS(lz_layer_norm(NULL, LZ_SHAPE(4), NULL, NULL, 1e-5), LZ_ENULL, "lz_layer_norm");
    SAYS(lz_group_norm(t, 3, NULL, NULL, 1e-5), LZ_EINVAL, "4 channels are not 3");
    SAYS(lz_rms_norm(t, LZ_SHAPE(4), NULL, NAN), LZ_EINVAL, "eps");
    SAYS(lz_normalize(t, -1, 0, 0), LZ_EINVAL, "p is -1");
    lz_tensor *bad = lz_matmul(t, t);
    ck_assert_int_eq(lz_status_of(lz_layer_norm(bad, LZ_SHAPE(4), NULL, NULL, 1e-5)), LZ_ESHAPE);
    lz_scope_end();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("functional");
    TCase *t = tcase_create("gradients");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, gradients, 0, NCASES);
    tcase_add_loop_test(t, compiled_agrees_with_the_reference, 0, NCASES);
    suite_add_tcase(s, t);
    t = tcase_create("values");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, norms);
    tcase_add_test(t, batch_norm_follows_its_statistics);
    tcase_add_test(t, dropout);
    tcase_add_test(t, attention_values);
    tcase_add_test(t, masks_of_the_lowest_number);
    tcase_add_loop_test(t, attention_keeps_one_square, 0, 2);
    tcase_add_loop_test(t, half_attention_makes_its_weights_again, 0, 4);
    tcase_add_loop_test(t, half_attention_of_nothing, 0, 14);
    tcase_add_test(t, half_attention_in_transforms);
    tcase_add_test(t, causal_attention_of_blocks);
    tcase_add_test(t, rotary_turns_pairs);
    tcase_add_test(t, cross_entropy_options);
    tcase_add_test(t, losses_have_torchs_values);
    tcase_add_test(t, half_precision_is_computed_in_single);
    tcase_add_test(t, mistakes_name_the_values);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
