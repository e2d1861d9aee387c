/* d_sums.c - how far long sums are off, by every schedule that sums: functions x the dimensions
 * that are reduced x lengths x widths, on the CPU with each form of code forced and left out, on
 * the CUDA device (the library that stands in for the driver). In units of roundoff (2^-24),
 * against the same in f64. A chain of n additions would be off by up to n of them. */
#include "base/config.h"
#include "suite.h"
#include "support/mock.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What no sum of positive numbers may be off by: the chains are of 32 and of 16 steps, whose errors
 * mostly cancel; of equal numbers, they do not. */
static const double U = 0x1p-24, MOST = 8, MOST_OF_EQUAL = 24;
enum { MAX_POINTS = 1 << 21 };

static const struct where {
    const char *device, *forms;
} where[] = {{"CPU:0", ""},
             {"CPU:0", "-vectors"},
             {"CPU:0", "-col_reduction,-dot"},
             {"CPU:0", "+col_reduction"},
             {"CUDA:0", ""}};

static lz_tensor *heavy(lz_tensor *x, lz_dims d)
{
    return lz_sum(lz_exp(lz_sin(x)), d);
}
static lz_tensor *plain(lz_tensor *x, lz_dims d)
{
    return lz_sum(x, d);
}
static lz_tensor *mean_square(lz_tensor *x, lz_dims d)
{
    return lz_mean(lz_mul(x, x), d);
}
static lz_tensor *var(lz_tensor *x, lz_dims d)
{
    return lz_var(x, .dims = d);
}
static lz_tensor *log_sum(lz_tensor *x, lz_dims d)
{
    return lz_logsumexp(x, d);
}
static lz_tensor *complex_sum(lz_tensor *x, lz_dims d)
{
    return lz_real(lz_sum(lz_complex(x, x), d));
}
/* a bias' gradient */
static lz_tensor *gradient(lz_tensor *x, lz_dims d)
{
    lz_tensor *b = lz_mul_scalar(lz_sum(x, .dims = d, .keepdim = true), 0), *y = lz_add(x, b), *g;
    lz_grad(lz_sum(lz_mul(y, y)), &b, 1, &g);
    return g;
}
static lz_tensor *(*const functions[])(lz_tensor *, lz_dims) = {
    heavy, plain, mean_square, var, log_sum, complex_sum, gradient};

/* [a, n, b]; n, or a and n are reduced */
static const int64_t lengths[] = {33, 100, 1000, 4096, 20000}, widths[] = {1, 3, 33, 128, 300};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static double unit(uint64_t *r)
{
    *r = *r * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t x = *r ^ *r >> 29;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    return (double)((x ^ x >> 32) >> 11) * 0x1p-53;
}

static double worst(unsigned fn, lz_shape s, lz_dims d, const float *v, const double *w,
                    const char *device)
{
    lz_tensor *y = functions[fn](lz_from_host(LZ_F32, s, v), d),
              *z = functions[fn](lz_from_host(LZ_F64, s, w), d);
    int64_t n = lz_numel(y);
    float *got = malloc((size_t)n * sizeof *got);
    double *want = malloc((size_t)n * sizeof *want), most = 0;
    ck_assert(got && want);
    ck_assert_msg(lz_to_host(y, got, (size_t)n * sizeof *got) == LZ_OK &&
                      lz_to_host(z, want, (size_t)n * sizeof *want) == LZ_OK,
                  "%s: %s", device, lz_last_error_text());
    for (int64_t i = 0; i < n; i++) {
        double off = fabs(got[i] - want[i]) / fabs(want[i]) / U;
        ck_assert_msg(isfinite(off), "%s: function %u: element %lld is %g, not %g", device, fn,
                      (long long)i, (double)got[i], want[i]); /* fmax would drop a NaN */
        most = fmax(most, off);
    }
    free(got);
    free(want);
    return most;
}

static void check(const struct where *p, unsigned fn, lz_shape s, bool two, bool equal, uint64_t *r)
{
    static float v[MAX_POINTS];
    static double w[MAX_POINTS];
    for (int64_t i = 0; i < s.dims[0] * s.dims[1] * s.dims[2]; i++)
        w[i] = v[i] = equal ? 0.1f : (float)(0.5 + unit(r));
    lz_scope_begin();
    double most = worst(fn, s, two ? (lz_dims)LZ_DIM(0, 1) : (lz_dims)LZ_DIM(1), v, w, p->device);
    lz_scope_end();
    ck_assert_msg(most <= (equal ? MOST_OF_EQUAL : MOST),
                  "%s %s: function %u of [%lld, %lld, %lld]%s%s: off by %.1f units of roundoff",
                  p->device, p->forms, fn, (long long)s.dims[0], (long long)s.dims[1],
                  (long long)s.dims[2], two ? " over 0 and 1" : " over 1",
                  equal ? ", all equal" : "", most);
}

START_TEST(long_sums)
{
    const struct where *p = &where[_i];
    uint64_t r = 1 + lz_test_seed();
    ck_assert_int_eq(lz_config_set("LAZULI_VARIANTS", p->forms), LZ_OK);
    ck_assert_int_eq(lz_mock_use(), LZ_OK);
    ck_assert_int_eq(lz_set_device(p->device), LZ_OK);
    unsigned i = 0;
    for (unsigned n = 0; n < COUNT(lengths); n++)
        for (unsigned b = 0; b < COUNT(widths); b++)
            for (int two = 0; two < 2; two++) {
                lz_shape s = LZ_SHAPE(two && lengths[n] > 64 ? 8 : 2, lengths[n], widths[b]);
                if (two && lengths[n] > 64)
                    s.dims[1] /= 8;
                if (s.dims[0] * s.dims[1] * s.dims[2] > MAX_POINTS)
                    continue;
                for (unsigned fn = 0; fn < COUNT(functions); fn++, i++)
                    if (lz_test_in_turn(i, 4))
                        check(p, fn, s, two, i % 8 < 4 && fn != 3, &r);
            }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sums");
    TCase *t = tcase_create("sums");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, long_sums, 0, COUNT(where));
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
