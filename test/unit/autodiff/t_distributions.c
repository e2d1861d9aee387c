/* t_distributions.c - random numbers against the distribution functions, worked out in long double
 * by series and sums: largest distance of the empirical one (Kolmogorov), moments, special
 * parameters; and the derivatives of samples against those of quantiles. Seeds are fixed. */
#include "unit/ops/aten.h"

enum { N = 3000, MANY = 24000 };
static double v[MANY], g[MANY];

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* P(a, x), the lower incomplete gamma function over its limit. */
static long double gamma_below(long double a, long double x)
{
    if (x <= 0)
        return 0;
    long double term = 1, sum = 1;
    for (long double n = 1; term > 1e-22L * sum; n++)
        sum += term *= x / (a + n);
    return sum * expl(a * logl(x) - x - lgammal(a + 1));
}

static double read_n(lz_tensor *t, int n, double *mean)
{
    double s = 0, q = 0;
    ck_assert_msg(lz_numel(t) == n, "%s", lz_last_error_text());
    OK(lz_to_host(lz_to(t, LZ_F64), v, (size_t)n * sizeof *v));
    for (int i = 0; i < n; i++) {
        s += v[i];
        q += v[i] * v[i];
    }
    *mean = s / n;
    return q / n - *mean * *mean;
}

/* The largest distance of the sorted v[0..N-1] from F is what chance allows. */
static void expect_distribution(long double (*below)(double x, double a, double b), double a,
                                double b, const char *what)
{
    double most = 0;
    qsort(v, N, sizeof *v, ascending);
    for (int i = 0; i < N; i++) {
        double f = (double)below(v[i], a, b);
        most = fmax(most, fmax(fabs(f - (double)i / N), fabs(f - (i + 1.0) / N)));
    }
    ck_assert_msg(most < 2 / sqrt(N), "%s of %g, %g: %g", what, a, b, most);
}

static long double gamma_cdf(double x, double a, double b)
{
    (void)b;
    return gamma_below(a, x);
}
static long double beta_cdf(double x, double a, double b)
{
    if (b == 1)
        return powl(x, a);
    if (a == 1)
        return 1 - powl(1 - (long double)x, b);
    return x * x * (6 - 8 * x + 3 * x * x); /* 2, 3 */
}

START_TEST(gamma_numbers)
{
    ON_DEVICE(_i);
    static const double alpha[] = {0.05, 0.5, 1, 2.5, 40, 1e4};
    for (int k = 0; k < 6; k++) {
        OK(lz_manual_seed(3));
        double mean,
            var = read_n(lz_standard_gamma(lz_full(LZ_F64, LZ_SHAPE(N), alpha[k])), N, &mean);
        ck_assert_msg(fabs(mean - alpha[k]) < 4 * sqrt(alpha[k] / N), "%g: %g", alpha[k], mean);
        ck_assert_msg(fabs(var / alpha[k] - 1) < 4 * sqrt((2 + 6 / alpha[k]) / N), "%g: %g",
                      alpha[k], var);
        expect_distribution(gamma_cdf, alpha[k], 0, "gamma");
    }
    static const double odd[] = {0, -1, NAN, INFINITY, 1e-30};
    double got[5];
    OK(lz_to_host(lz_standard_gamma(at_tensor(LZ_F64, LZ_SHAPE(5), odd)), got, sizeof got));
    ck_assert(got[0] == 0 && isnan(got[1]) && isnan(got[2]) && got[3] == INFINITY &&
              got[4] == DBL_MIN);
    ck_assert_int_eq(lz_numel(lz_standard_gamma(lz_zeros(LZ_F32, LZ_SHAPE(2, 0)))), 0);
    ck_assert_int_eq(lz_dtype_of(lz_standard_gamma(lz_ones(LZ_BF16, LZ_SCALAR))), LZ_BF16);
    BAD(lz_standard_gamma(lz_ones(LZ_I32, LZ_SHAPE(2))), LZ_EDTYPE, "lz_standard_gamma");
}
END_TEST

START_TEST(beta_numbers)
{
    ON_DEVICE(_i);
    static const double ab[][2] = {{0.3, 1}, {4, 1}, {1, 0.2}, {1, 9}, {2, 3}};
    for (int k = 0; k < 5; k++) {
        OK(lz_manual_seed(5));
        double mean;
        (void)read_n(lz_beta(lz_full(LZ_F64, LZ_SHAPE(N, 1), ab[k][0]),
                             lz_full(LZ_F64, LZ_SCALAR, ab[k][1])),
                     N, &mean);
        expect_distribution(beta_cdf, ab[k][0], ab[k][1], "beta");
    }
    double mean,
        var = read_n(lz_beta(lz_full(LZ_F32, LZ_SHAPE(N), 1e-3), lz_full(LZ_F32, LZ_SCALAR, 1e-3)),
                     N, &mean);
    ck_assert(fabs(mean - 0.5) < 0.04 && var > 0.24);
    /* independent numbers where one parameter is broadcast; rows of a simplex */
    OK(lz_manual_seed(6));
    static const double alpha[] = {0.2, 1, 3};
    lz_tensor *D = lz_dirichlet(lz_expand(at_tensor(LZ_F64, LZ_SHAPE(3), alpha), LZ_SHAPE(N, 3)));
    (void)read_n(D, 3 * N, &mean);
    double part[3] = {0};
    for (int i = 0; i < N; i++) {
        ck_assert(fabs(v[3 * i] + v[3 * i + 1] + v[3 * i + 2] - 1) < 1e-14);
        for (int k = 0; k < 3; k++)
            part[k] += v[3 * i + k] / N;
    }
    for (int k = 0; k < 3; k++)
        ck_assert_msg(fabs(part[k] - alpha[k] / 4.2) < 4 * sqrt(0.25 / 5.2 / N), "%d: %g", k,
                      part[k]);
    for (int i = 0; i < N; i++)
        v[i] = v[3 * i + 1] / (1 - v[3 * i]); /* of parameters 1 and 3 */
    expect_distribution(beta_cdf, 1, 3, "dirichlet");
    BAD(lz_dirichlet(lz_scalar(LZ_F32, 2)), LZ_ESHAPE, "categories");
    BAD(lz_beta(lz_ones(LZ_F32, LZ_SHAPE(2)), lz_ones(LZ_F32, LZ_SHAPE(3))), LZ_ESHAPE, "lz_beta");
}
END_TEST

/* The counts v[0..N-1] against chances chance[0..most]: the distance of the sums. */
static void expect_counts(const long double *chance, int most, const char *what)
{
    long double sum = 0;
    int seen = 0;
    qsort(v, N, sizeof *v, ascending);
    for (int k = 0, i = 0; k <= most; k++) {
        sum += chance[k];
        while (i < N && v[i] <= k)
            i++;
        seen = i;
        ck_assert_msg(fabsl(sum - (long double)i / N) < 2 / sqrtl(N), "%s: %d up to %d, not %g",
                      what, i, k, (double)sum * N);
    }
    ck_assert_msg(seen >= N - 1 && v[0] >= 0, "%s: %d", what, seen);
    for (int i = 0; i < N; i++)
        ck_assert(v[i] == floor(v[i]));
}

START_TEST(poisson_numbers)
{
    ON_DEVICE(_i);
    static const double rate[] = {0.01, 1, 9.9, 10, 47.5, 300};
    static long double chance[1000];
    for (int k = 0; k < 6; k++) {
        OK(lz_manual_seed(7));
        double mean, var = read_n(lz_poisson(lz_full(LZ_F64, LZ_SHAPE(N), rate[k])), N, &mean);
        ck_assert_msg(fabs(mean - rate[k]) < 4 * sqrt(rate[k] / N), "%g: %g", rate[k], mean);
        ck_assert_msg(fabs(var / rate[k] - 1) < 4 * sqrt((2 + 1 / rate[k]) / N), "%g: %g", rate[k],
                      var);
        for (int i = 0; i < 1000; i++)
            chance[i] = expl(i * logl(rate[k]) - rate[k] - lgammal(i + 1.0L));
        expect_counts(chance, 999, "poisson");
    }
    double mean, var = read_n(lz_poisson(lz_full(LZ_F64, LZ_SHAPE(N), 1e9)), N, &mean);
    ck_assert(fabs(mean - 1e9) < 4 * sqrt(1e9 / N) && fabs(var / 1e9 - 1) < 0.2);
    double got[4];
    static const double odd[] = {0, -1, NAN, INFINITY};
    OK(lz_to_host(lz_poisson(at_tensor(LZ_F64, LZ_SHAPE(4), odd)), got, sizeof got));
    ck_assert(got[0] == 0 && isnan(got[1]) && isnan(got[2]) && isnan(got[3]));
    ck_assert_int_eq(lz_numel(lz_poisson(lz_zeros(LZ_F32, LZ_SHAPE(0)))), 0);
    BAD(lz_poisson(lz_ones(LZ_I32, LZ_SHAPE(2))), LZ_EDTYPE, "rate");
}
END_TEST

START_TEST(binomial_numbers)
{
    ON_DEVICE(_i);
    static const double np[][2] = {{1, 0.5},   {12, 0.3},   {12, 0.9},   {40, 0.25},
                                   {100, 0.5}, {500, 0.97}, {900, 0.004}};
    static long double chance[1001];
    for (int k = 0; k < 7; k++) {
        OK(lz_manual_seed(8));
        int n = (int)np[k][0];
        long double p = np[k][1];
        double mean;
        (void)read_n(
            lz_binomial(lz_full(LZ_F64, LZ_SHAPE(N), n), lz_full(LZ_F64, LZ_SCALAR, np[k][1])), N,
            &mean);
        ck_assert_msg(fabs(mean - n * np[k][1]) < 4 * sqrt(n * np[k][1] * (1 - np[k][1]) / N),
                      "%d: %g", n, mean);
        for (int i = 0; i <= n; i++)
            chance[i] = expl(lgammal(n + 1.0L) - lgammal(i + 1.0L) - lgammal(n - i + 1.0L) +
                             i * logl(p) + (n - i) * log1pl(-p));
        expect_counts(chance, n, "binomial");
    }
    double got[7];
    lz_tensor *n = at_tensor(LZ_F64, LZ_SHAPE(7), ((double[]){5, 5, 0, -1, 5, NAN, 5})),
              *p = at_tensor(LZ_F64, LZ_SHAPE(7), ((double[]){0, 1, 0.5, 0.5, 1.5, 0.5, NAN}));
    OK(lz_to_host(lz_binomial(n, p), got, sizeof got));
    ck_assert(got[0] == 0 && got[1] == 5 && got[2] == 0);
    for (int i = 3; i < 7; i++)
        ck_assert(isnan(got[i]));
    BAD(lz_binomial(n, lz_ones(LZ_I32, LZ_SHAPE(7))), LZ_EDTYPE, "prob");
}
END_TEST

/* The y with P(a, y) = level, near x. */
static double quantile(long double a, long double level, double x)
{
    long double low = x * 0.9L, high = x * 1.1L;
    for (int i = 0; i < 200; i++) {
        long double m = (low + high) / 2;
        if (gamma_below(a, m) < level)
            low = m;
        else
            high = m;
    }
    return (double)low;
}

START_TEST(derivatives_of_samples)
{
    ON_DEVICE(_i);
    static const double alpha[] = {1, 1.5, 3.7, 21, 500, 2e5};
    enum { K = 6, EACH = 4 };
    OK(lz_manual_seed(9));
    lz_tensor *A =
        lz_expand(lz_unsqueeze(at_tensor(LZ_F64, LZ_SHAPE(K), alpha), 1), LZ_SHAPE(K, EACH));
    A = lz_add_scalar(A, 0);
    lz_tensor *X = lz_standard_gamma(A), *G;
    OK(lz_grad(lz_sum(X), &A, 1, &G));
    OK(lz_to_host(X, v, K * EACH * 8));
    OK(lz_to_host(G, g, K * EACH * 8));
    for (int i = 0; i < K * EACH; i++) {
        long double a = alpha[i / EACH], h = a * 1e-6L, p = gamma_below(a, v[i]);
        double want = (quantile(a + h, p, v[i]) - quantile(a - h, p, v[i])) / (double)(2 * h);
        ck_assert_msg(fabs(g[i] - want) < 2e-6 * fabs(want), "%g at %g: %.10g, not %.10g",
                      alpha[i / EACH], v[i], g[i], want);
    }
    /* on the average, that of the mean: 1; and for beta(a, 1), whose mean is a / (a + 1) */
    static const double small[] = {0.3, 1, 4};
    for (int k = 0; k < 3; k++) {
        double mean, dev;
        lz_tensor *a = lz_full(LZ_F64, LZ_SHAPE(MANY), small[k]), *d;
        OK(lz_grad(lz_sum(lz_standard_gamma(a)), &a, 1, &d));
        dev = sqrt(read_n(d, MANY, &mean) / MANY);
        ck_assert_msg(fabs(mean - 1) < 4 * dev && dev < 0.1, "%g: %g", small[k], mean);
        OK(lz_grad(lz_sum(lz_beta(a, lz_ones(LZ_F64, LZ_SCALAR))), &a, 1, &d));
        dev = sqrt(read_n(d, MANY, &mean) / MANY);
        double want = 1 / (small[k] + 1) / (small[k] + 1);
        ck_assert_msg(fabs(mean - want) < 4 * dev && dev < 0.1, "%g: %g", small[k], mean);
    }
    lz_tensor *r = lz_full(LZ_F64, LZ_SHAPE(3), 4), *d;
    OK(lz_grad(lz_sum(lz_mul(lz_poisson(r), r)), &r, 1, &d));
    ck_assert(lz_item(lz_amax(d)) == floor(lz_item(lz_amax(d)))); /* the count, and no more */
}
END_TEST

int main(void)
{
    rt_use("REF");
    Suite *s = suite_create("distributions");
    TCase *t = tcase_create("numbers");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, gamma_numbers, 0, at_devices());
    tcase_add_loop_test(t, beta_numbers, 0, at_devices());
    tcase_add_loop_test(t, poisson_numbers, 0, at_devices());
    tcase_add_loop_test(t, binomial_numbers, 0, at_devices());
    tcase_add_loop_test(t, derivatives_of_samples, 0, at_devices());
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
