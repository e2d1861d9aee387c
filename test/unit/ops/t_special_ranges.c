/* t_special_ranges.c - where elementwise functions have exact or extreme results: logarithms of
 * exact powers, ldexp from end to end, numbers beside 16-bit floats, roots, poles and half-integers
 * of the gamma functions. */
#include "aten.h"

static const struct range {
    lz_dtype dtype;
    int lowest, highest; /* powers of two, denormal ones too */
    int tens;            /* powers of ten */
} ranges[] = {{LZ_F64, -1074, 1023, 308},
              {LZ_F32, -149, 127, 37},
              {LZ_F16, -24, 15, 4},
              {LZ_BF16, -133, 127, 3}};
enum { NRANGES = sizeof ranges / sizeof *ranges, MOST = 2200 };
static double x[MOST], want[MOST], got[MOST];

/* The n results are `want` in their dtype, to the last bit and sign of 0. */
static void expect_bits(lz_tensor *t, lz_dtype d, int n, const char *what)
{
    ck_assert_msg(lz_status_of(t) == LZ_OK, "%s: %s", what, lz_last_error_text());
    ck_assert_int_eq(lz_dtype_of(t), d);
    lz_tensor *w = lz_to(lz_to(lz_from_host(LZ_F64, LZ_SHAPE(n), want), d), LZ_F64);
    OK(lz_to_host(lz_to(t, LZ_F64), got, (size_t)n * 8));
    OK(lz_to_host(w, want, (size_t)n * 8));
    for (int i = 0; i < n; i++)
        ck_assert_msg(isnan(want[i]) ? isnan(got[i])
                                     : got[i] == want[i] && !signbit(got[i]) == !signbit(want[i]),
                      "%s of %s: element %d is %.17g, not %.17g", what, lz_dtype_name(d), i, got[i],
                      want[i]);
}

static lz_tensor *in(lz_dtype d, int n, const double *v)
{
    return lz_to(lz_from_host(LZ_F64, LZ_SHAPE(n), v), d);
}

START_TEST(logarithms_of_powers)
{
    ON_DEVICE(_i);
    for (int k = 0; k < NRANGES; k++) {
        const struct range *r = &ranges[k];
        int n = 0;
        lz_scope_begin();
        for (int e = r->lowest; e <= r->highest; e++, n++) {
            x[n] = ldexp(1, e);
            want[n] = e;
        }
        expect_bits(lz_log2(in(r->dtype, n, x)), r->dtype, n, "log2");
        n = 0;
        for (int e = lz_dtype_size(r->dtype) > 2 ? -r->tens : 0; e <= r->tens; e++, n++) {
            char text[16];
            snprintf(text, sizeof text, "1e%d", e);
            x[n] = r->dtype == LZ_F64 ? strtod(text, NULL) : (double)strtof(text, NULL);
            want[n] = e;
        }
        n = r->dtype == LZ_BF16 ? 3 : n; /* 1000 is no bf16 */
        expect_bits(lz_log10(in(r->dtype, n, x)), r->dtype, n, "log10");
        lz_tensor *(*const f[])(lz_tensor *, const lz_site *) = {lz_log2_at, lz_log10_at};
        for (int i = 0; i < 2; i++) {
            const double ends[] = {0, -0.0, -1, INFINITY, NAN};
            memcpy(want, (double[]){-INFINITY, -INFINITY, NAN, INFINITY, NAN}, sizeof ends);
            expect_bits(f[i](in(r->dtype, 5, ends), LZ_SITE), r->dtype, 5, "a logarithm");
        }
        lz_scope_end();
    }
}
END_TEST

/* Random floats and exponents that bring them to every place of the range, and out of it. */
START_TEST(ldexp_rounds_once)
{
    ON_DEVICE(_i);
    static const lz_dtype counts[] = {LZ_I32, LZ_I64, LZ_I16, LZ_DTYPE_NONE /* the floats' own */};
    for (int k = 0; k < NRANGES; k++)
        for (int j = 0; j < 4; j++) {
            const struct range *r = &ranges[k];
            const lz_dtype by = counts[j] ? counts[j] : r->dtype;
            enum { N = 600 };
            static double b[N];
            int width = r->highest - r->lowest;
            lz_scope_begin();
            for (int i = 0; i < N; i++)
                x[i] = ldexp(at_unit() - 0.5, r->lowest + (int)(at_unit() * (width + 2)));
            OK(lz_to_host(lz_to(in(r->dtype, N, x), LZ_F64), x, sizeof(double) * N));
            for (int i = 0; i < N; i++)
                b[i] = floor((2 * at_unit() - 1) * (width + 20));
            OK(lz_to_host(lz_to(in(by, N, b), LZ_F64), b, sizeof b)); /* bf16 rounds large ones */
            for (int i = 0; i < N; i++)
                want[i] = ldexp(x[i], (int)b[i]);
            if (r->dtype == LZ_F32) /* not by way of f64, which rounds itself */
                for (int i = 0; i < N; i++)
                    want[i] = (double)ldexpf((float)x[i], (int)b[i]);
            expect_bits(lz_ldexp(in(r->dtype, N, x), in(by, N, b)), r->dtype, N, "ldexp");
            lz_scope_end();
        }
    double a[] = {0, -0.0, INFINITY, NAN, 1, -1, 3, 0x1p-149},
           e[] = {1e9, 5, -2e9, 3, -1e9, 1e9, 2, 2e9};
    memcpy(want, (double[]){0, -0.0, INFINITY, NAN, 0, -INFINITY, 12, INFINITY}, sizeof a);
    expect_bits(lz_ldexp(in(LZ_F32, 8, a), in(LZ_I64, 8, e)), LZ_F32, 8, "ldexp");
    memcpy(want, (double[]){sqrt(2) / 2, sqrt(8)}, 16);
    lz_tensor *t = lz_ldexp(in(LZ_F64, 2, (double[]){1, 1}), in(LZ_F64, 2, (double[]){-0.5, 1.5}));
    at_expect_at(t, LZ_F64, LZ_SHAPE(2), want, 1e-15, "ldexp", __LINE__);
}
END_TEST

/* Each function that computes with a number beside a 16-bit float: as of f32, rounded once. */
START_TEST(numbers_are_not_rounded_to_16_bits)
{
    ON_DEVICE(_i);
    enum { N = 200 };
    static const lz_dtype narrow[] = {LZ_F16, LZ_BF16};
    static double y[N];
    static const double numbers[] = {0.3, 0.1, -1.7, 2.6};
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < 4; j++) {
            double s = numbers[j];
            lz_dtype d = narrow[k];
            lz_scope_begin();
            at_fill(x, N, -8, 8);
            at_fill(y, N, -8, 8);
            lz_tensor *a = in(d, N, x), *b = in(d, N, y), *wa = lz_to(a, LZ_F32),
                      *wb = lz_to(b, LZ_F32), *pa = lz_abs(a), *pw = lz_abs(wa);
#define SAME(call, wide)                                                                           \
    do {                                                                                           \
        OK(lz_to_host(lz_to(wide, LZ_F64), want, sizeof(double) * N));                             \
        expect_bits(call, d, N, #call);                                                            \
    } while (0)
            SAME(lz_add_scalar(a, s), lz_add_scalar(wa, s));
            SAME(lz_sub_scalar(a, s), lz_sub_scalar(wa, s));
            SAME(lz_mul_scalar(a, s), lz_mul_scalar(wa, s));
            SAME(lz_div_scalar(a, s), lz_div_scalar(wa, s));
            SAME(lz_rsub_scalar(a, s), lz_rsub_scalar(wa, s));
            SAME(lz_fmod_scalar(a, s), lz_fmod_scalar(wa, s));
            SAME(lz_remainder_scalar(a, s), lz_remainder_scalar(wa, s));
            SAME(lz_floor_divide_scalar(a, s), lz_floor_divide_scalar(wa, s));
            SAME(lz_div_scalar_mode(a, s, "trunc"), lz_div_scalar_mode(wa, s, "trunc"));
            SAME(lz_div_scalar_mode(a, s, "floor"), lz_div_scalar_mode(wa, s, "floor"));
            SAME(lz_xlogy_scalar(a, fabs(s)), lz_xlogy_scalar(wa, fabs(s)));
            SAME(lz_pow_scalar(pa, s), lz_pow_scalar(pw, s));
            SAME(lz_scalar_pow(fabs(s), a), lz_scalar_pow(fabs(s), wa));
            SAME(lz_lerp_scalar(a, b, s), lz_lerp_scalar(wa, wb, s));
            SAME(lz_add_alpha(a, b, s), lz_add_alpha(wa, wb, s));
            SAME(lz_sub_alpha(a, b, s), lz_sub_alpha(wa, wb, s));
            SAME(lz_addcmul(a, a, b, s), lz_addcmul(wa, wa, wb, s));
            SAME(lz_addcdiv(a, b, pa, s), lz_addcdiv(wa, wb, pw, s));
            SAME(lz_leaky_relu(a, .negative_slope = s), lz_leaky_relu(wa, .negative_slope = s));
            SAME(lz_elu(a, .alpha = s, .scale = 1.1, .input_scale = .7),
                 lz_elu(wa, .alpha = s, .scale = 1.1, .input_scale = .7));
            SAME(lz_celu(a, s), lz_celu(wa, s));
            SAME(lz_softplus(a, .beta = s, .threshold = 1.1),
                 lz_softplus(wa, .beta = s, .threshold = 1.1));
            SAME(lz_softshrink(a, fabs(s)), lz_softshrink(wa, fabs(s)));
            SAME(lz_hardtanh(a, .min_val = s, .max_val = 3.3),
                 lz_hardtanh(wa, .min_val = s, .max_val = 3.3));
            SAME(lz_clamp_min(a, s), lz_clamp_min(wa, s));
            SAME(lz_clamp_max(a, s), lz_clamp_max(wa, s));
            SAME(lz_logit(a, 0.1), lz_logit(wa, 0.1));
            SAME(lz_floor_divide(a, b), lz_floor_divide(wa, wb));
            SAME(lz_deg2rad(a), lz_deg2rad(wa));
            SAME(lz_log10(pa), lz_log10(pw));
            lz_scope_end();
        }
}
END_TEST

static void expect_mask(lz_tensor *t, int n, const bool *mask, const char *what, double s)
{
    bool out[MOST];
    OK(lz_to_host(t, out, (size_t)n));
    for (int i = 0; i < n; i++)
        ck_assert_msg(out[i] == mask[i], "%s of %.17g and %g is %d", what, x[i], s, out[i]);
}

/* What is only compared with is rounded to the dtype first, as in ATen: at the number it becomes
 * and beside it, the unrounded one would compare differently. */
START_TEST(numbers_to_compare_with_are_rounded)
{
    ON_DEVICE(_i);
    enum { N = 5 };
    static const lz_dtype narrow[] = {LZ_F16, LZ_BF16};
    static const double numbers[] = {0.3, 0.1, 1.7, 2.6};
    static lz_tensor *(*const compare[])(lz_tensor *, double, const lz_site *) = {
        lz_lt_scalar_at, lz_le_scalar_at, lz_gt_scalar_at,
        lz_ge_scalar_at, lz_eq_scalar_at, lz_ne_scalar_at};
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < 4; j++) {
            double s = numbers[j], r;
            lz_dtype d = narrow[k];
            lz_scope_begin();
            OK(lz_to_host(lz_to(in(d, 1, &s), LZ_F64), &r, sizeof r));
            memcpy(x, (double[]){r, s * 1.02, s * 0.98, -r, NAN}, sizeof(double) * N);
            OK(lz_to_host(lz_to(in(d, N, x), LZ_F64), x, sizeof(double) * N));
            for (int o = 0; o < 6; o++) {
                bool mask[N];
                for (int i = 0; i < N; i++)
                    mask[i] = o == 0   ? x[i] < r
                              : o == 1 ? x[i] <= r
                              : o == 2 ? x[i] > r
                              : o == 3 ? x[i] >= r
                              : o == 4 ? x[i] == r
                                       : x[i] != r;
                expect_mask(compare[o](in(d, N, x), s, LZ_SITE), N, mask, "a comparison", s);
            }
            for (int i = 0; i < N; i++)
                want[i] = fabs(x[i]) <= r ? 0 : x[i];
            expect_bits(lz_hardshrink(in(d, N, x), s), d, N, "hardshrink");
            for (int i = 0; i < N; i++)
                want[i] = x[i] <= r ? 0.7 : x[i];
            expect_bits(lz_threshold(in(d, N, x), s, 0.7), d, N, "threshold");
            lz_scope_end();
        }
}
END_TEST

START_TEST(roots_and_poles)
{
    ON_DEVICE(_i);
    for (int k = 0; k < NRANGES; k++) {
        lz_dtype d = ranges[k].dtype;
        lz_scope_begin();
        memset(want, 0, 16);
        expect_bits(lz_lgamma(in(d, 2, (double[]){1, 2})), d, 2, "lgamma");
        const double poles[] = {0, -0.0, -1, -7};
        memcpy(want, (double[]){-INFINITY, INFINITY, NAN, NAN}, sizeof poles);
        expect_bits(lz_digamma(in(d, 4, poles)), d, 4, "digamma");
        memcpy(want, (double[]){-INFINITY, INFINITY, NAN, NAN}, sizeof poles);
        expect_bits(lz_polygamma(0, in(d, 4, poles)), d, 4, "polygamma");
        lz_scope_end();
    }
}
END_TEST

/* Values by mpmath, 80 digits. */
START_TEST(zeta_between_poles)
{
    ON_DEVICE(_i);
    static const struct {
        double s, q, zeta;
    } of[] = {{7, -20.5, 1.9355943577134324e-9},   {7, -88.5, 3.3528395838193367e-13},
              {5, -1.5, 0.013073166646113807},     {3, -0.5, 0.4143983221171599978},
              {9, -1000.5, 1.240041137717972e-25}, {3, -1.4375, -6.286139575742933},
              {5, -7.53125, 20.583730634963559},   {4, -7.25, 259.75686586723408}};
    enum { N = sizeof of / sizeof *of };
    double a[N], b[N];
    for (int i = 0; i < N; i++) {
        a[i] = of[i].s;
        b[i] = of[i].q;
    }
    for (int wide = 0; wide < 2; wide++) {
        lz_dtype d = wide ? LZ_F64 : LZ_F32;
        double eps = wide ? 4.5e-16 : 2.4e-7;
        OK(lz_to_host(lz_to(lz_special_zeta(in(d, N, a), in(d, N, b)), LZ_F64), got, N * 8));
        for (int i = 0; i < N; i++)
            ck_assert_msg(fabs(got[i] - of[i].zeta) <= eps * fabs(of[i].zeta),
                          "zeta(%g, %g) is %.17g, not %.17g", a[i], b[i], got[i], of[i].zeta);
    }
}
END_TEST

/* The terms of an odd power cancel to the last bit around half a whole number: reflected. */
START_TEST(zeta_at_halves)
{
    ON_DEVICE(_i);
    static const double powers[] = {3, 5, 7, 21};
    enum { N = 100 };
    for (int wide = 0; wide < 2; wide++)
        for (int p = 0; p < 4; p++) {
            double q[N], mirror[N], s[N];
            lz_dtype d = wide ? LZ_F64 : LZ_F32;
            lz_scope_begin();
            for (int i = 0; i < N; i++) {
                q[i] = -0.5 - i;
                mirror[i] = 1 - q[i];
                s[i] = powers[p];
            }
            lz_tensor *y = lz_special_zeta(in(d, N, s), in(d, N, mirror));
            OK(lz_to_host(lz_to(y, LZ_F64), want, sizeof(double) * N));
            expect_bits(lz_special_zeta(in(d, N, s), in(d, N, q)), d, N, "zeta");
            lz_scope_end();
        }
}
END_TEST

/* Values by mpmath, 60 digits. */
START_TEST(polygamma_between_poles)
{
    ON_DEVICE(_i);
    static const struct {
        int n;
        double x, value;
    } of[] = {{2, -1.5, -0.236204051641727403},
              {6, -20.5, -1.3936279375536713313e-6},
              {8, -30.5, -5.8909268269023336369e-9}};
    for (int wide = 0; wide < 2; wide++)
        for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
            lz_dtype d = wide ? LZ_F64 : LZ_F32;
            OK(lz_to_host(lz_to(lz_polygamma(of[i].n, in(d, 1, &of[i].x)), LZ_F64), got, 8));
            ck_assert_msg(fabs(got[0] - of[i].value) <= (wide ? 9e-16 : 4.8e-7) * fabs(of[i].value),
                          "polygamma(%d, %g) of %s is %.17g, not %.17g", of[i].n, of[i].x,
                          lz_dtype_name(d), got[0], of[i].value);
        }
}
END_TEST

int main(void)
{
    rt_use("REF");
    Suite *s = suite_create("special ranges");
    TCase *t = tcase_create("special ranges");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, logarithms_of_powers, 0, at_devices());
    tcase_add_loop_test(t, ldexp_rounds_once, 0, at_devices());
    tcase_add_loop_test(t, numbers_are_not_rounded_to_16_bits, 0, at_devices());
    tcase_add_loop_test(t, numbers_to_compare_with_are_rounded, 0, at_devices());
    tcase_add_loop_test(t, roots_and_poles, 0, at_devices());
    tcase_add_loop_test(t, zeta_between_poles, 0, at_devices());
    tcase_add_loop_test(t, zeta_at_halves, 0, at_devices());
    tcase_add_loop_test(t, polygamma_between_poles, 0, at_devices());
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
