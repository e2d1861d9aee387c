/* t_science.c - covariances, differences, integrals, interpolation, membership against plain loops
 * of the test in double: values, special values, empty and one-element shapes, refusals. */
#include "aten.h"

static double x[AT_MAX], y[AT_MAX], w[AT_MAX], f[AT_MAX], want[AT_MAX];

/* The covariance of rows i and j by its definition, with the weights f (how often) and w. */
static double cov_of(const double *v, int n, int i, int j, const double *often,
                     const double *weight, double correction)
{
    double sum = 0, mean_i = 0, mean_j = 0, weighted = 0, c = 0;
    for (int k = 0; k < n; k++) {
        double g = (often ? often[k] : 1) * (weight ? weight[k] : 1);
        sum += g;
        weighted += g * (weight ? weight[k] : 0);
        mean_i += g * v[i * n + k];
        mean_j += g * v[j * n + k];
    }
    for (int k = 0; k < n; k++) {
        double g = (often ? often[k] : 1) * (weight ? weight[k] : 1);
        c += g * (v[i * n + k] - mean_i / sum) * (v[j * n + k] - mean_j / sum);
    }
    double by = sum - correction * (weight ? weighted / sum : 1);
    return c / (by > 0 ? by : 0);
}

START_TEST(covariances)
{
    ON_DEVICE(_i);
    enum { V = 4, N = 9 };
    double often[N];
    lz_tensor *X = at_random(LZ_F64, LZ_SHAPE(V, N), -3, 3, x),
              *A = at_random(LZ_F64, LZ_SHAPE(N), 0.1, 2, w);
    for (int k = 0; k < N; k++)
        often[k] = 1 + k % 3;
    lz_tensor *F = at_tensor(LZ_I64, LZ_SHAPE(N), often);
    for (int pass = 0; pass < 4; pass++) {
        const double *of = pass & 1 ? often : NULL, *by = pass & 2 ? w : NULL;
        for (int i = 0; i < V * V; i++)
            want[i] = cov_of(x, N, i / V, i % V, of, by, 0.5);
        EXPECT(lz_cov(X, .correction = 0.5, .fweights = of ? F : NULL, .aweights = by ? A : NULL),
               LZ_F64, LZ_SHAPE(V, V), want, TOL64);
    }
    want[0] = cov_of(x, N, 0, 0, NULL, NULL, 1);
    EXPECT(lz_cov(lz_select(X, 0, 0)), LZ_F64, LZ_SCALAR, want, TOL64);
    EXPECT(lz_cov(lz_to(lz_select(X, 0, 0), LZ_BF16), .correction = 1), LZ_BF16, LZ_SCALAR, want,
           0.02);
    for (int i = 0; i < V * V; i++)
        want[i] = cov_of(x, N, i / V, i % V, NULL, NULL, 1) /
                  sqrt(cov_of(x, N, i / V, i / V, NULL, NULL, 1) *
                       cov_of(x, N, i % V, i % V, NULL, NULL, 1));
    EXPECT(lz_corrcoef(X), LZ_F64, LZ_SHAPE(V, V), want, TOL64);
    /* too few observations, a constant row, one value, none */
    double nan[4] = {NAN, NAN, NAN, NAN}, zero[4] = {0}, inf[1] = {INFINITY};
    EXPECT(lz_cov(lz_ones(LZ_F64, LZ_SHAPE(2, 1))), LZ_F64, LZ_SHAPE(2, 2), nan, 0);
    EXPECT(lz_cov(lz_ones(LZ_F64, LZ_SHAPE(2, 3))), LZ_F64, LZ_SHAPE(2, 2), zero, 0);
    EXPECT(lz_corrcoef(lz_ones(LZ_F64, LZ_SHAPE(2, 3))), LZ_F64, LZ_SHAPE(2, 2), nan, 0);
    EXPECT(lz_cov(lz_slice(lz_select(X, 0, 0), 0, 0, 2, 1), .correction = 3), LZ_F64, LZ_SCALAR,
           inf, 0);
    EXPECT(lz_cov(lz_scalar(LZ_I32, 3)), LZ_F32, LZ_SCALAR, nan, 0);
    EXPECT(lz_cov(lz_zeros(LZ_F64, LZ_SHAPE(0, 3))), LZ_F64, LZ_SHAPE(0, 0), nan, 0);
    EXPECT(lz_cov(lz_zeros(LZ_F64, LZ_SHAPE(2, 0))), LZ_F64, LZ_SHAPE(2, 2), nan, 0);
    /* of complex numbers: conjugates on the right */
    lz_tensor *C = lz_complex(lz_slice(X, 0, 0, 2, 1), lz_slice(X, 0, 2, 4, 1));
    double re[4], im[4];
    for (int i = 0; i < 4; i++) {
        int p = i / 2, q = i % 2;
        re[i] = cov_of(x, N, p, q, NULL, NULL, 1) + cov_of(x, N, p + 2, q + 2, NULL, NULL, 1);
        im[i] = cov_of(x, N, p + 2, q, NULL, NULL, 1) - cov_of(x, N, p, q + 2, NULL, NULL, 1);
    }
    EXPECT(lz_real(lz_cov(C)), LZ_F64, LZ_SHAPE(2, 2), re, TOL64);
    EXPECT(lz_imag(lz_cov(C)), LZ_F64, LZ_SHAPE(2, 2), im, 1e-10);
    ck_assert_int_eq(lz_dtype_of(lz_corrcoef(C)), LZ_C128);
    BAD(lz_cov(lz_zeros(LZ_F32, LZ_SHAPE(1, 2, 3))), LZ_ESHAPE, "[1, 2, 3]");
    BAD(lz_cov(X, .fweights = A), LZ_EDTYPE, "fweights");
    BAD(lz_cov(X, .aweights = F), LZ_EDTYPE, "aweights");
    BAD(lz_cov(X, .aweights = lz_slice(A, 0, 0, 3, 1)), LZ_ESHAPE, "9 observations");
    BAD(lz_corrcoef(NULL), LZ_ENULL, "lz_corrcoef");
}
END_TEST

START_TEST(differences)
{
    ON_DEVICE(_i);
    enum { R = 3, N = 6 };
    lz_tensor *X = at_random(LZ_F64, LZ_SHAPE(R, N), -3, 3, x);
    for (int i = 0; i < R * (N - 1); i++)
        want[i] = x[i / (N - 1) * N + i % (N - 1) + 1] - x[i / (N - 1) * N + i % (N - 1)];
    EXPECT(lz_diff(X), LZ_F64, LZ_SHAPE(R, N - 1), want, TOL64);
    for (int i = 0; i < N; i++)
        want[i] = x[2 * N + i] - 2 * x[N + i] + x[i];
    EXPECT(lz_diff(X, .n = 2, .dim = 0), LZ_F64, LZ_SHAPE(1, N), want, 1e-10);
    EXPECT(lz_diff(X, .n = 0), LZ_F64, LZ_SHAPE(R, N), x, 0);
    EXPECT(lz_diff(X, .n = 6), LZ_F64, LZ_SHAPE(R, 0), want, 0);
    EXPECT(lz_diff(X, .n = INT64_MAX), LZ_F64, LZ_SHAPE(R, 0), want, 0);
    EXPECT(lz_diff(lz_zeros(LZ_F64, LZ_SHAPE(2, 0))), LZ_F64, LZ_SHAPE(2, 0), want, 0);
    lz_tensor *one = lz_from_host(LZ_I32, LZ_SHAPE(3), ((int32_t[]){4, 9, 7})),
              *two = lz_from_host(LZ_I32, LZ_SHAPE(1), ((int32_t[]){1}));
    EXPECT(lz_diff(one, .prepend = two, .append = two), LZ_I32, LZ_SHAPE(4),
           ((double[]){3, 5, -2, -6}), 0);
    EXPECT(lz_diff(lz_gt_scalar(one, 4)), LZ_BOOL, LZ_SHAPE(2), ((double[]){1, 0}), 0);
    BAD(lz_diff(lz_scalar(LZ_F32, 2)), LZ_ESHAPE, "lz_diff");
    BAD(lz_diff(one, .n = -1), LZ_EINVAL, "-1");
    BAD(lz_diff(one, .dim = 1), LZ_ERANGE, "lz_diff");
    BAD(lz_diff(X, .prepend = one), LZ_ESHAPE, "lz_diff");
}
END_TEST

START_TEST(integrals)
{
    ON_DEVICE(_i);
    enum { R = 3, N = 5 };
    lz_tensor *Y = at_random(LZ_F64, LZ_SHAPE(R, N), -3, 3, y),
              *X = at_random(LZ_F64, LZ_SHAPE(N), 0, 1, x),
              *G = at_random(LZ_F64, LZ_SHAPE(R, N), 0, 1, w);
    double all[R * (N - 1)], grid[R];
    for (int r = 0; r < R; r++) {
        want[r] = grid[r] = 0;
        for (int k = 1; k < N; k++) {
            double mean = (y[r * N + k] + y[r * N + k - 1]) / 2;
            want[r] += mean * (x[k] - x[k - 1]);
            grid[r] += mean * (w[r * N + k] - w[r * N + k - 1]);
            all[r * (N - 1) + k - 1] = want[r];
        }
    }
    EXPECT(lz_trapezoid(Y, X, 1, -1), LZ_F64, LZ_SHAPE(R), want, TOL64);
    EXPECT(lz_trapezoid(lz_t(Y), X, 1, 0), LZ_F64, LZ_SHAPE(R), want, TOL64);
    EXPECT(lz_trapezoid(Y, G, 1, -1), LZ_F64, LZ_SHAPE(R), grid, TOL64);
    EXPECT(lz_cumulative_trapezoid(Y, X, 1, -1), LZ_F64, LZ_SHAPE(R, N - 1), all, 1e-11);
    lz_tensor *n = lz_from_host(LZ_I32, LZ_SHAPE(3), ((int32_t[]){1, 2, 4}));
    EXPECT(lz_trapezoid(n, NULL, 0.5, 0), LZ_F32, LZ_SCALAR, ((double[]){2.25}), 0);
    EXPECT(lz_cumulative_trapezoid(n, NULL, 1, 0), LZ_F32, LZ_SHAPE(2), ((double[]){1.5, 4.5}), 0);
    EXPECT(lz_trapezoid(lz_slice(n, 0, 0, 1, 1), NULL, 1, 0), LZ_F32, LZ_SCALAR, ((double[]){0}),
           0);
    EXPECT(lz_trapezoid(lz_zeros(LZ_F32, LZ_SHAPE(2, 0)), NULL, 1, 1), LZ_F32, LZ_SHAPE(2),
           ((double[]){0, 0}), 0);
    BAD(lz_trapezoid(Y, lz_slice(X, 0, 0, 3, 1), 1, -1), LZ_ESHAPE, "5 points along dimension 1");
    BAD(lz_trapezoid(lz_scalar(LZ_F32, 1), NULL, 1, 0), LZ_ESHAPE, "lz_trapezoid");
}
END_TEST

/* The line through the points left and right of v. */
static double line(double v, const double *xp, const double *fp, int n, double left, double right)
{
    if (isnan(v))
        return NAN;
    if (v < xp[0])
        return left;
    if (v > xp[n - 1])
        return right;
    for (int k = 0; k < n; k++)
        if (v == xp[k] && (k == n - 1 || xp[k + 1] != v))
            return fp[k];
    int k = 0;
    while (xp[k + 1] < v)
        k++;
    double t = (v - xp[k]) / (xp[k + 1] - xp[k]);
    return (1 - t) * fp[k] + t * fp[k + 1];
}

START_TEST(interpolation)
{
    ON_DEVICE(_i);
    static const double xp[] = {-1, 0, 0.5, 2, 2, 7}, fp[] = {3, -1, 4, 0.25, 5, 6};
    static const double at[] = {-2, -1,  -0.75, 0,   0.4, 0.5,      1.9,
                                2,  2.5, 7,     7.5, NAN, INFINITY, -INFINITY};
    enum { N = 6, M = sizeof at / sizeof *at };
    lz_tensor *XP = at_tensor(LZ_F64, LZ_SHAPE(N), xp), *FP = at_tensor(LZ_F64, LZ_SHAPE(N), fp),
              *X = at_tensor(LZ_F64, LZ_SHAPE(2, M / 2), at);
    for (int i = 0; i < M; i++)
        want[i] = line(at[i], xp, fp, N, fp[0], fp[N - 1]);
    EXPECT(lz_interp(X, XP, FP), LZ_F64, LZ_SHAPE(2, M / 2), want, TOL64);
    for (int i = 0; i < M; i++)
        want[i] = line(at[i], xp, fp, N, NAN, -8);
    EXPECT(lz_interp(X, XP, FP, .left = lz_scalar(LZ_F64, NAN), .right = lz_scalar(LZ_I32, -8)),
           LZ_F64, LZ_SHAPE(2, M / 2), want, TOL64);
    /* an infinite value reaches up to its neighbours, and not beyond */
    static const double up[] = {1, INFINITY, INFINITY, 2};
    EXPECT(lz_interp(at_tensor(LZ_F64, LZ_SHAPE(7), ((double[]){0, 0.5, 1, 1.5, 2, 2.5, 3})),
                     at_tensor(LZ_F64, LZ_SHAPE(4), ((double[]){0, 1, 2, 3})),
                     at_tensor(LZ_F64, LZ_SHAPE(4), up)),
           LZ_F64, LZ_SHAPE(7),
           ((double[]){1, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, 2}), 0);
    /* degrees around the circle; the points are in no order */
    static const double angle[] = {190, -190, 350, -350}, height[] = {5, 10, 3, 4};
    static const double asked[] = {-180, -170, -185, 185, -10, -5, 0, 365};
    EXPECT(lz_interp(at_tensor(LZ_F64, LZ_SHAPE(8), asked), at_tensor(LZ_F64, LZ_SHAPE(4), angle),
                     at_tensor(LZ_F64, LZ_SHAPE(4), height), .period = 360),
           LZ_F64, LZ_SHAPE(8), ((double[]){7.5, 5, 8.75, 6.25, 3, 3.25, 3.5, 3.75}), TOL64);
    /* one point; no x; whole numbers; complex values */
    lz_tensor *p = lz_scalar(LZ_F64, 2), *one = lz_reshape(p, LZ_SHAPE(1));
    EXPECT(lz_interp(at_tensor(LZ_F64, LZ_SHAPE(3), ((double[]){1, 2, 3})), one, one,
                     .left = lz_scalar(LZ_F64, -1)),
           LZ_F64, LZ_SHAPE(3), ((double[]){-1, 2, 2}), 0);
    EXPECT(lz_interp(lz_zeros(LZ_F64, LZ_SHAPE(0)), XP, FP), LZ_F64, LZ_SHAPE(0), want, 0);
    EXPECT(lz_interp(lz_scalar(LZ_I32, 1), lz_arange(LZ_I32, 0, 6, 2), lz_arange(LZ_I32, 0, 12, 4)),
           LZ_F32, LZ_SCALAR, ((double[]){2}), 0);
    lz_tensor *z = lz_interp(lz_scalar(LZ_F64, 0.25), XP, lz_complex(FP, lz_neg(FP)));
    EXPECT(lz_imag(z), LZ_F64, LZ_SCALAR, ((double[]){-1.5}), TOL64);
    BAD(lz_interp(X, XP, one), LZ_ESHAPE, "fp [1]");
    BAD(lz_interp(X, lz_zeros(LZ_F64, LZ_SHAPE(0)), lz_zeros(LZ_F64, LZ_SHAPE(0))), LZ_ESHAPE,
        "at least 1");
    BAD(lz_interp(X, XP, FP, .left = XP), LZ_ESHAPE, "left");
    BAD(lz_interp(X, XP, FP, .period = -1), LZ_EINVAL, "lz_interp");
}
END_TEST

START_TEST(membership)
{
    ON_DEVICE(_i);
    enum { N = 40, M = 9 };
    for (int pass = 0; pass < 3; pass++) {
        lz_dtype d = (lz_dtype[]){LZ_I32, LZ_F64, LZ_BF16}[pass];
        for (int i = 0; i < N; i++)
            x[i] = (double)(rt_random() % 20) - 4;
        for (int i = 0; i < M; i++)
            y[i] = (double)(rt_random() % 20) - 4;
        if (pass) {
            x[0] = y[0] = NAN, x[1] = INFINITY, x[2] = -INFINITY, y[1] = INFINITY;
            x[3] = -0.0, y[2] = 0;
        }
        lz_tensor *E = at_tensor(d, LZ_SHAPE(8, 5), x), *T = at_tensor(d, LZ_SHAPE(3, 3), y);
        for (int i = 0; i < N; i++) {
            want[i] = 0;
            for (int k = 0; k < M; k++)
                want[i] = want[i] != 0 || x[i] == y[k];
        }
        EXPECT(lz_isin(E, T, false), LZ_BOOL, LZ_SHAPE(8, 5), want, 0);
        for (int i = 0; i < N; i++)
            want[i] = want[i] == 0;
        EXPECT(lz_isin(E, T, true), LZ_BOOL, LZ_SHAPE(8, 5), want, 0);
        EXPECT(lz_isin(E, lz_zeros(d, LZ_SHAPE(0)), false), LZ_BOOL, LZ_SHAPE(8, 5), f, 0);
    }
    EXPECT(lz_isin(lz_scalar(LZ_BOOL, 1), lz_scalar(LZ_I32, 1), false), LZ_BOOL, LZ_SCALAR,
           ((double[]){1}), 0);
    EXPECT(lz_isin(lz_zeros(LZ_F32, LZ_SHAPE(0)), lz_scalar(LZ_F32, 1), false), LZ_BOOL,
           LZ_SHAPE(0), want, 0);
    lz_tensor *c = lz_zeros(LZ_C64, LZ_SHAPE(1));
    BAD(lz_isin(c, c, false), LZ_EDTYPE, "lz_isin");
}
END_TEST

START_TEST(places)
{
    ON_DEVICE(_i);
    static const double rows[] = {5, 1, 3, 3, 9, 2, 2, 0};
    lz_tensor *R = at_tensor(LZ_F32, LZ_SHAPE(2, 4), rows),
              *V = at_tensor(LZ_F32, LZ_SHAPE(2, 3), ((double[]){3, 0, 6, 2, 9, 10}));
    lz_tensor *order = lz_argsort(R, -1, false);
    static const double left[] = {1, 0, 4, 1, 3, 4}, right[] = {3, 0, 4, 3, 4, 4};
    EXPECT(lz_searchsorted_with(R, V, .sorter = order), LZ_I64, LZ_SHAPE(2, 3), left, 0);
    EXPECT(lz_searchsorted_with(R, V, .sorter = order, .side = "left", .out_int32 = true), LZ_I32,
           LZ_SHAPE(2, 3), left, 0);
    EXPECT(lz_searchsorted_with(R, V, .sorter = order, .side = "right"), LZ_I64, LZ_SHAPE(2, 3),
           right, 0);
    EXPECT(lz_searchsorted_with(lz_sort(R, -1, false, NULL), V, .right = true), LZ_I64,
           LZ_SHAPE(2, 3), right, 0);
    EXPECT(lz_searchsorted_with(lz_zeros(LZ_F32, LZ_SHAPE(0)), V), LZ_I64, LZ_SHAPE(2, 3),
           ((double[]){0, 0, 0, 0, 0, 0}), 0);
    BAD(lz_searchsorted_with(R, V, .side = "left", .right = true), LZ_EINVAL, "right is true");
    BAD(lz_searchsorted_with(R, V, .side = "middle"), LZ_EINVAL, "middle");
    BAD(lz_searchsorted_with(R, V, .sorter = lz_select(order, 0, 0)), LZ_ESHAPE, "sorter is [4]");
    BAD(lz_searchsorted_with(R, V, .sorter = R), LZ_EDTYPE, "sorter");
}
END_TEST

int main(void)
{
    rt_use("REF");
    Suite *s = suite_create("science");
    TCase *t = tcase_create("science");
    tcase_add_loop_test(t, covariances, 0, at_devices());
    tcase_add_loop_test(t, differences, 0, at_devices());
    tcase_add_loop_test(t, integrals, 0, at_devices());
    tcase_add_loop_test(t, interpolation, 0, at_devices());
    tcase_add_loop_test(t, membership, 0, at_devices());
    tcase_add_loop_test(t, places, 0, at_devices());
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
