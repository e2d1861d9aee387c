/* t_exact_powers.c - functions whose results are exact at some points: at powers of two and ten
 * logarithms at every power that the dtype has, ldexp over the whole range of both operands,
 * against the C library. */
#include "suite.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdio.h>

static const char *const devices[] = {"CPU:0", "REF:0"};
enum { MOST = 2100 };

static void device(int i)
{
    ck_assert_int_eq(lz_set_device(devices[i]), LZ_OK);
}

static double at_dtype(lz_dtype d, double v)
{
    return d == LZ_F64 ? v : (double)(float)v;
}

static lz_tensor *numbers(lz_dtype d, const double *v, int n)
{
    return lz_to(lz_from_host(LZ_F64, LZ_SHAPE(n), v), d);
}

static void equal(lz_tensor *y, const double *want, int n, const char *what)
{
    static double got[MOST];
    ck_assert_msg(lz_to_host(lz_to(y, LZ_F64), got, (size_t)n * sizeof *got) == LZ_OK, "%s",
                  lz_last_error_text());
    for (int i = 0; i < n; i++)
        ck_assert_msg(got[i] == want[i], "%s, number %d: %.17g, %.17g is right", what, i, got[i],
                      want[i]);
}

START_TEST(logarithms)
{
    static double v[MOST], want[MOST];
    static const lz_dtype types[] = {LZ_F64, LZ_F32, LZ_BF16};
    static const int least[] = {-1074, -149, -126}, most[] = {1023, 127, 127};
    device(_i);
    for (int t = 0; t < 3; t++) {
        int n = 0;
        for (int k = least[t]; k <= most[t]; k++, n++)
            v[n] = ldexp(1, k), want[n] = types[t] == LZ_BF16 && abs(k) > 256 ? k & ~1 : k;
        equal(lz_log2(numbers(types[t], v, n)), want, n, "log2");
    }
    for (int t = 0; t < 2; t++) {
        int n = 0;
        for (int k = t ? -37 : 0; k <= (t ? 38 : 22); k++, n++)
            v[n] = at_dtype(types[t], pow(10, k)), want[n] = k;
        equal(lz_log10(numbers(types[t], v, n)), want, n, "log10");
    }
}
END_TEST

START_TEST(ldexp_of_the_whole_range)
{
    enum { N = 1500 };
    static double v[N], want[N];
    static int32_t by[N];
    device(_i);
    for (int t = 0; t < 2; t++) {
        int digits = t ? 149 : 1074, large = t ? 127 : 1023;
        for (int i = 0; i < N; i++) {
            double m = at_dtype(t ? LZ_F32 : LZ_F64, 1 + i / 1501.0);
            v[i] = at_dtype(t ? LZ_F32 : LZ_F64, ldexp(m, i * 91 % (digits + large) - digits));
            by[i] = i * 37 % (4 * large) - 2 * large;
            want[i] = t ? (double)ldexpf((float)v[i], by[i]) : ldexp(v[i], by[i]);
        }
        lz_tensor *n = lz_from_host(LZ_I32, LZ_SHAPE(N), by);
        equal(lz_ldexp(numbers(t ? LZ_F32 : LZ_F64, v, N), n), want, N, "ldexp");
    }
}
END_TEST

/* The sides of digamma's pole at 0; the roots of lgamma, which are +0. */
START_TEST(poles_and_roots)
{
    device(_i);
    for (int t = 0; t < 2; t++) {
        lz_dtype d = t ? LZ_F32 : LZ_F64;
        equal(lz_digamma(numbers(d, (double[]){0.0, -0.0}, 2)), (double[]){-INFINITY, INFINITY}, 2,
              "digamma");
        lz_tensor *roots = lz_lgamma(numbers(d, (double[]){1, 2}, 2));
        equal(lz_reciprocal(roots), (double[]){INFINITY, INFINITY}, 2, "1 / lgamma");
    }
}
END_TEST

/* The terms of an odd power cancel to the last bit around half a whole number. */
START_TEST(zeta_at_halves)
{
    static const double powers[] = {3, 5, 7, 21};
    device(_i);
    for (int t = 0; t < 2; t++)
        for (int p = 0; p < 4; p++) {
            double q[100], mirror[100], s[100], want[100];
            for (int i = 0; i < 100; i++)
                q[i] = -0.5 - i, mirror[i] = 1 - q[i], s[i] = powers[p];
            lz_dtype d = t ? LZ_F32 : LZ_F64;
            lz_tensor *y = lz_special_zeta(numbers(d, s, 100), numbers(d, mirror, 100));
            ck_assert_int_eq(lz_to_host(lz_to(y, LZ_F64), want, sizeof want), LZ_OK);
            equal(lz_special_zeta(numbers(d, s, 100), numbers(d, q, 100)), want, 100, "zeta");
        }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("exact_powers");
    TCase *t = tcase_create("exact_powers");
    tcase_add_loop_test(t, logarithms, 0, 2);
    tcase_add_loop_test(t, ldexp_of_the_whole_range, 0, 2);
    tcase_add_loop_test(t, poles_and_roots, 0, 2);
    tcase_add_loop_test(t, zeta_at_halves, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
