/* t_aten_norm.c - native normalisations against loops, their running statistics; dropout and random
 * distributions by range, moments, reproducibility. */
#include "aten.h"

static double x[240], want[240], wm[60], wr[60];

/* Normalises groups of elements: group(i) tells which one element i is in. */
static void normalise(int n, int ngroups, int (*group)(int), double eps, double *out, double *mean,
                      double *rstd)
{
    double count[60] = {0}, var[60] = {0};
    memset(mean, 0, (size_t)ngroups * sizeof *mean);
    for (int i = 0; i < n; i++) {
        mean[group(i)] += x[i];
        count[group(i)]++;
    }
    for (int g = 0; g < ngroups; g++)
        mean[g] /= count[g];
    for (int i = 0; i < n; i++)
        var[group(i)] += (x[i] - mean[group(i)]) * (x[i] - mean[group(i)]) / count[group(i)];
    for (int g = 0; g < ngroups; g++)
        rstd[g] = 1 / sqrt(var[g] + eps);
    for (int i = 0; i < n; i++)
        out[i] = (x[i] - mean[group(i)]) * rstd[group(i)];
}
static int row(int i)
{
    return i / 20;
} /* [2, 3, 4, 5] over the last two */
static int in_group(int i)
{
    return i / 120 * 2 + i % 120 / 60;
} /* [2, 6, 4, 5] in 2 groups of 3 channels */
static int channel(int i)
{
    return i / 20 % 6;
} /* [2, 6, 4, 5] */

START_TEST(layers)
{
    ON_DEVICE(_i);
    double w[20], b[20];
    lz_tensor *X = at_random(LZ_F32, LZ_SHAPE(2, 3, 4, 5), -2, 2, x),
              *W = at_random(LZ_F32, LZ_SHAPE(4, 5), -2, 2, w),
              *B = at_random(LZ_F32, LZ_SHAPE(4, 5), -2, 2, b), *mean, *rstd;
    normalise(120, 6, row, 1e-3, want, wm, wr);
    EXPECT(lz_native_layer_norm(X, LZ_SHAPE(4, 5), NULL, NULL, 1e-3, &mean, &rstd), LZ_F32,
           LZ_SHAPE(2, 3, 4, 5), want, 5e-5);
    EXPECT(mean, LZ_F32, LZ_SHAPE(2, 3, 1, 1), wm, 1e-5);
    EXPECT(rstd, LZ_F32, LZ_SHAPE(2, 3, 1, 1), wr, 1e-5);
    for (int i = 0; i < 120; i++)
        want[i] = want[i] * w[i % 20] + b[i % 20];
    EXPECT(lz_native_layer_norm(X, LZ_SHAPE(4, 5), W, B, 1e-3, NULL, NULL), LZ_F32,
           LZ_SHAPE(2, 3, 4, 5), want, 5e-5);
    ck_assert_int_eq(lz_dtype_of(lz_native_layer_norm(lz_to(X, LZ_BF16), LZ_SHAPE(5), NULL, NULL,
                                                      1e-3, &mean, NULL)),
                     LZ_BF16);
    ck_assert_int_eq(lz_dtype_of(mean), LZ_F32);
    BAD(lz_native_layer_norm(X, LZ_SHAPE(4), NULL, NULL, 1e-3, &mean, NULL), LZ_ESHAPE, "last");
    ck_assert_int_eq(lz_status_of(mean), LZ_ESHAPE);
    BAD(lz_native_layer_norm(X, LZ_SHAPE(5), W, NULL, 1e-3, NULL, NULL), LZ_ESHAPE,
        "weight is f32[4,5]");
}
END_TEST

START_TEST(groups)
{
    ON_DEVICE(_i);
    double w[6], b[6];
    lz_tensor *X = at_random(LZ_F32, LZ_SHAPE(2, 6, 4, 5), -2, 2, x),
              *W = at_random(LZ_F32, LZ_SHAPE(6), -2, 2, w),
              *B = at_random(LZ_F32, LZ_SHAPE(6), -2, 2, b), *mean, *rstd;
    normalise(240, 4, in_group, 1e-5, want, wm, wr);
    for (int i = 0; i < 240; i++)
        want[i] = want[i] * w[channel(i)] + b[channel(i)];
    EXPECT(lz_native_group_norm(X, W, B, 2, 1e-5, &mean, &rstd), LZ_F32, LZ_SHAPE(2, 6, 4, 5), want,
           2e-5);
    EXPECT(mean, LZ_F32, LZ_SHAPE(2, 2), wm, 2e-5);
    EXPECT(rstd, LZ_F32, LZ_SHAPE(2, 2), wr, 1e-5);
    BAD(lz_native_group_norm(X, NULL, NULL, 4, 1e-5, NULL, NULL), LZ_ESHAPE, "4 groups");
}
END_TEST

START_TEST(batches)
{
    ON_DEVICE(_i);
    double w[6], b[6], rm[6], rv[6], unbiased[6], y[240];
    lz_tensor *X = at_random(LZ_F32, LZ_SHAPE(2, 6, 4, 5), -2, 2, x),
              *W = at_random(LZ_F32, LZ_SHAPE(6), -2, 2, w),
              *B = at_random(LZ_F32, LZ_SHAPE(6), -2, 2, b), *mean, *inv;
    lz_tensor *M = lz_retain(at_random(LZ_F32, LZ_SHAPE(6), -2, 2, rm)),
              *V = lz_retain(at_random(LZ_F32, LZ_SHAPE(6), 0.5, 2, rv));
    for (int i = 0; i < 240; i++)
        want[i] =
            (x[i] - rm[channel(i)]) / sqrt(rv[channel(i)] + 1e-5) * w[channel(i)] + b[channel(i)];
    EXPECT(lz_native_batch_norm(X, W, B, M, V), LZ_F32, LZ_SHAPE(2, 6, 4, 5), want, 2e-5);
    normalise(240, 6, channel, 1e-2, want, wm, wr);
    for (int i = 0; i < 240; i++)
        y[i] = want[i] * w[channel(i)] + b[channel(i)];
    EXPECT(lz_native_batch_norm(X, W, B, M, V, .training = true, .momentum = 0.25, .eps = 1e-2,
                                .save_mean = &mean, .save_invstd = &inv),
           LZ_F32, LZ_SHAPE(2, 6, 4, 5), y, 2e-5);
    EXPECT(mean, LZ_F32, LZ_SHAPE(6), wm, 1e-4);
    EXPECT(inv, LZ_F32, LZ_SHAPE(6), wr, 1e-5);
    for (int i = 0; i < 6; i++) {
        unbiased[i] = 0.75 * rv[i] + 0.25 * (1 / (wr[i] * wr[i]) - 1e-2) * 40 / 39;
        rm[i] = 0.75 * rm[i] + 0.25 * wm[i];
    }
    EXPECT(M, LZ_F32, LZ_SHAPE(6), rm, 1e-4);
    EXPECT(V, LZ_F32, LZ_SHAPE(6), unbiased, 1e-5);
    EXPECT(lz_native_batch_norm(X, W, B, NULL, NULL, .training = true, .eps = 1e-2), LZ_F32,
           LZ_SHAPE(2, 6, 4, 5), y, 2e-5);
    BAD(lz_native_batch_norm(X, W, B, M, NULL), LZ_ENULL, "running_var");
    BAD(lz_native_batch_norm(X, W, lz_zeros(LZ_F32, LZ_SHAPE(5)), M, V), LZ_ESHAPE, "bias");
    lz_release(M), lz_release(V);
}
END_TEST

/* ---- random ---- */

static double r[AT_MAX];
static int64_t numbers(lz_tensor *t)
{
    int64_t n = lz_numel(t);
    ck_assert_msg(n >= 0 && n <= AT_MAX, "%s", lz_last_error_text());
    OK(lz_to_host(lz_to(t, LZ_F64), r, sizeof r));
    return n;
}
/* Mean and variance of many numbers, within five standard errors of the mean. */
static void moments(lz_tensor *t, double mean, double var, double lo, double hi, int line)
{
    int64_t n = numbers(t);
    double s = 0, q = 0;
    for (int i = 0; i < n; i++) {
        ck_assert_msg(r[i] >= lo && r[i] <= hi, "line %d: %g is outside [%g, %g]", line, r[i], lo,
                      hi);
        s += r[i] / (double)n;
    }
    for (int i = 0; i < n; i++)
        q += (r[i] - s) * (r[i] - s) / (double)n;
    ck_assert_msg(fabs(s - mean) <= 5 * sqrt(var / (double)n) + 1e-12, "line %d: mean %g, not %g",
                  line, s, mean);
    ck_assert_msg(fabs(q - var) <= 0.25 * var + 1e-12, "line %d: variance %g, not %g", line, q,
                  var);
}
#define MOMENTS(t, ...) moments((t), __VA_ARGS__, __LINE__)

START_TEST(distributions)
{
    ON_DEVICE(_i);
    OK(lz_manual_seed(7));
    const lz_shape s = LZ_SHAPE(2000);
    for (int d = 0; d < 2; d++) {
        lz_dtype dt = d ? LZ_F64 : LZ_F32;
        lz_tensor *X = lz_zeros(dt, s);
        MOMENTS(lz_uniform(dt, s, -1, 3), 1, 16.0 / 12, -1, 3);
        MOMENTS(lz_rand_like(X), 0.5, 1.0 / 12, 0, 1);
        MOMENTS(lz_randn_like(X), 0, 1, -8, 8);
        MOMENTS(lz_normal_scalar(dt, s, 5, 2), 5, 4, -15, 25);
        MOMENTS(lz_normal(lz_full(dt, s, 5), lz_full(dt, LZ_SCALAR, 0.5)), 5, 0.25, 0, 10);
        MOMENTS(lz_exponential(dt, s, 2), 0.5, 0.25, 0, 20);
        MOMENTS(lz_log(lz_log_normal(dt, s, 1, 0.5)), 1, 0.25, -3, 5);
        MOMENTS(lz_lt_scalar(lz_cauchy(dt, s, 3, 2), 5), 0.75, 0.25 * 0.75, 0, 1);
        MOMENTS(lz_geometric(dt, s, 0.5), 2, 2, 1, 60);
        MOMENTS(lz_bernoulli(lz_full(dt, s, 0.25)), 0.25, 0.25 * 0.75, 0, 1);
        MOMENTS(lz_bernoulli_p(X, 0.75), 0.75, 0.25 * 0.75, 0, 1);
        MOMENTS(lz_randint(dt, -3, 5, s), 0.5, 63.0 / 12, -3, 4);
    }
    MOMENTS(lz_randint(LZ_I8, -128, 128, s), -0.5, 65535.0 / 12, -128, 127);
    MOMENTS(lz_uniform(LZ_BF16, s, 0, 1), 0.5, 1.0 / 12, 0, 0.9999);
    MOMENTS(lz_bernoulli(lz_ones(LZ_F32, s)), 1, 0, 1, 1);
    MOMENTS(lz_bernoulli(lz_zeros(LZ_F32, s)), 0, 0, 0, 0);
    ck_assert_int_eq(lz_item_i64(lz_randint(LZ_I64, INT64_MAX - 1, INT64_MAX, LZ_SCALAR)),
                     INT64_MAX - 1);
    ck_assert_int_eq(lz_item_i64(lz_randint(LZ_I64, INT64_MIN, INT64_MIN + 1, LZ_SCALAR)),
                     INT64_MIN);
    BAD(lz_randint(LZ_I32, 3, 3, s), LZ_EINVAL, "below 3");
    BAD(lz_uniform(LZ_F32, s, 2, 1), LZ_EINVAL, "from 2 to 1");
    BAD(lz_uniform(LZ_I32, s, 1, 2), LZ_EDTYPE, "i32");
    BAD(lz_exponential(LZ_F32, s, 0), LZ_EINVAL, "lambd");
    BAD(lz_cauchy(LZ_F32, s, 0, 0), LZ_EINVAL, "sigma");
    BAD(lz_geometric(LZ_I32, s, 1), LZ_EINVAL, "p is 1");
    MOMENTS(lz_geometric(LZ_I32, s, 0.8), 1.25, 0.3125, 1, 20);
    BAD(lz_normal_scalar(LZ_F32, s, 0, -1), LZ_EINVAL, "std");
    BAD(lz_bernoulli_p(lz_zeros(LZ_F32, s), 1.5), LZ_EINVAL, "1.5");
    OK(lz_manual_seed(7));
    double first[8];
    numbers(lz_uniform(LZ_F64, LZ_SHAPE(8), 0, 1));
    memcpy(first, r, sizeof first);
    OK(lz_manual_seed(7));
    numbers(lz_uniform(LZ_F64, LZ_SHAPE(8), 0, 1));
    ck_assert_int_eq(memcmp(first, r, sizeof first), 0);
}
END_TEST

START_TEST(permutations_and_samples)
{
    ON_DEVICE(_i);
    OK(lz_manual_seed(3));
    bool seen[100] = {false};
    int moved = 0;
    ck_assert_int_eq(numbers(lz_randperm(LZ_I64, 100)), 100);
    for (int i = 0; i < 100; i++) {
        ck_assert(r[i] >= 0 && r[i] < 100 && !seen[(int)r[i]]);
        seen[(int)r[i]] = true;
        moved += r[i] != i;
    }
    ck_assert_int_gt(moved, 80);
    ck_assert_int_eq(numbers(lz_randperm(LZ_F32, 0)), 0);
    BAD(lz_randperm(LZ_I32, -1), LZ_EINVAL, "-1");
    lz_tensor *p = at_tensor(LZ_F32, LZ_SHAPE(4), (double[]){1, 0, 6, 3});
    int count[4] = {0};
    ck_assert_int_eq(numbers(lz_multinomial(p, 2000, true)), 2000);
    for (int i = 0; i < 2000; i++)
        count[(int)r[i]]++;
    ck_assert_msg(count[1] == 0 && abs(count[0] - 200) < 70 && abs(count[2] - 1200) < 120,
                  "%d %d %d %d", count[0], count[1], count[2], count[3]);
    int firsts[4] = {0};
    lz_tensor *rows = lz_expand(p, LZ_SHAPE(1000, 4)), *draw = lz_multinomial(rows, 3, false);
    ck_assert_int_eq(lz_rank_of(draw), 2);
    numbers(draw);
    for (int i = 0; i < 1000; i++) {
        ck_assert(r[3 * i] != r[3 * i + 1] && r[3 * i] != r[3 * i + 2] &&
                  r[3 * i + 1] != r[3 * i + 2]);
        ck_assert(r[3 * i] != 1 && r[3 * i + 1] != 1 && r[3 * i + 2] != 1);
        firsts[(int)r[3 * i]]++;
    }
    ck_assert_msg(abs(firsts[2] - 600) < 90 && abs(firsts[3] - 300) < 90, "%d %d %d", firsts[0],
                  firsts[2], firsts[3]);
    BAD(lz_multinomial(p, 5, false), LZ_EINVAL, "at most once");
    BAD(lz_multinomial(p, 0, true), LZ_EINVAL, "0 samples");
}
END_TEST

START_TEST(dropout)
{
    ON_DEVICE(_i);
    OK(lz_manual_seed(5));
    double m[1000];
    lz_tensor *X = lz_full(LZ_F32, LZ_SHAPE(1000), 3), *mask;
    lz_tensor *y = lz_native_dropout(X, 0.25, true, &mask);
    ck_assert_int_eq(lz_dtype_of(mask), LZ_BOOL);
    OK(lz_to_host(lz_to(mask, LZ_F64), m, sizeof m));
    numbers(y);
    int kept = 0;
    for (int i = 0; i < 1000; i++) {
        ck_assert(m[i] ? r[i] == 4 : r[i] == 0);
        kept += m[i] != 0;
    }
    ck_assert_msg(abs(kept - 750) < 70, "%d kept", kept);
    ck_assert_double_eq(
        lz_item(lz_sum(lz_native_dropout(lz_full(LZ_F32, LZ_SHAPE(9), INFINITY), 1, true, &mask))),
        0);
    ck_assert_double_eq(lz_item(lz_sum(lz_native_dropout(X, 0.5, false, &mask))), 3000);
    ck_assert_int_eq(lz_item_i64(lz_all(mask)), 1);
    BAD(lz_native_dropout(X, -0.5, true, &mask), LZ_EINVAL, "-0.5");
}
END_TEST

int main(void)
{
    rt_use("REF");
    Suite *s = suite_create("aten normalisations and random numbers");
    TCase *t = tcase_create("values");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, layers, 0, at_devices());
    tcase_add_loop_test(t, groups, 0, at_devices());
    tcase_add_loop_test(t, batches, 0, at_devices());
    tcase_add_loop_test(t, distributions, 0, at_devices());
    tcase_add_loop_test(t, permutations_and_samples, 0, at_devices());
    tcase_add_loop_test(t, dropout, 0, at_devices());
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
