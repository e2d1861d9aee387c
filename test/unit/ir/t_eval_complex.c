/* t_eval_complex.c - complex functions of the reference against the C library's, definitions, and
 * the tables of annex G. */
#include "ir/eval/eval_complex.h"
#include "suite.h"
#include "support/rnd.h"
#include <complex.h>
#include <math.h>

typedef long double complex cld;

static cld of(lz_cx z)
{
    return __builtin_complex(z.re, z.im);
}

static const struct {
    const char *name;
    lz_cx (*mine)(lz_cx);
    cld (*theirs)(cld);
    bool annex; /* annex G says what it does to special values */
} functions[] = {
    {"exponential", lz_cx_exponential, cexpl, true},
    {"log", lz_cx_log, clogl, true},
    {"sine", lz_cx_sine, csinl, true},
    {"cosine", lz_cx_cosine, ccosl, true},
    {"tan", lz_cx_tan, ctanl, true},
    {"tanh", lz_cx_tanh, ctanhl, true},
    {"sqrt", lz_cx_sqrt, csqrtl, true},
    {"acos", lz_cx_acos, cacosl, true},
    {"acosh", lz_cx_acosh, cacoshl, true},
    {"asin", lz_cx_asin, casinl, true},
    {"asinh", lz_cx_asinh, casinhl, true},
    {"atan", lz_cx_atan, catanl, true},
    {"atanh", lz_cx_atanh, catanhl, true},
    {"cosh", lz_cx_cosh, ccoshl, true},
    {"sinh", lz_cx_sinh, csinhl, true},
};
enum { NFUNC = sizeof functions / sizeof *functions };

static long double part(lz_rnd *r, int from, int to)
{
    long double v = ldexpl(1 + lz_rnd_unit(r), (int)lz_rnd_range(r, from, to));
    return lz_rnd_chance(r, 50) ? -v : v;
}

static void near(const char *name, lz_cx z, cld got, cld want, long double eps)
{
    long double err = cabsl(got - want), size = cabsl(want);
    ck_assert_msg(err <= eps * size + 0x1p-1070L,
                  "%s(%.17Lg, %.17Lg) = (%.17Lg, %.17Lg), want (%.17Lg, %.17Lg)", name, z.re, z.im,
                  creall(got), cimagl(got), creall(want), cimagl(want));
}

START_TEST(functions_of_the_library)
{
    lz_rnd r = {3};
    for (int i = 0; i < 4000; i++) {
        int wide = i % 3 == 0 ? 6 : i % 3 == 1 ? 1 : -3;
        lz_cx z = {part(&r, wide - 8, wide), part(&r, wide - 8, wide)};
        near(functions[_i].name, z, of(functions[_i].mine(z)), functions[_i].theirs(of(z)), 1e-17L);
    }
}
END_TEST

/* Magnitudes of parts; signs where they are not left open. */
static bool same_special(long double a, long double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    if (a == 0 || isinf(a))
        return fabsl(a) == fabsl(b);
    return fabsl(a - b) <= 1e-17L * fabsl(b);
}

START_TEST(special_values_of_annex_g)
{
    static const long double v[] = {0, -0.0L, 1, -1, 2.5L, INFINITY, -INFINITY, NAN};
    for (int i = 0; functions[_i].annex && i < 64; i++) {
        lz_cx z = {v[i / 8], v[i % 8]};
        cld got = of(functions[_i].mine(z)),
            want = functions[_i].theirs(__builtin_complex(z.re, z.im));
        ck_assert_msg(same_special(creall(got), creall(want)) &&
                          same_special(cimagl(got), cimagl(want)),
                      "%s(%Lg, %Lg) = (%Lg, %Lg), want (%Lg, %Lg)", functions[_i].name, z.re, z.im,
                      creall(got), cimagl(got), creall(want), cimagl(want));
    }
}
END_TEST

/* The branch cuts are continuous from the side that the sign of zero says. */
START_TEST(branch_cuts)
{
    ck_assert(lz_cx_sqrt((lz_cx){-4, 0}).im == 2 && lz_cx_sqrt((lz_cx){-4, -0.0L}).im == -2);
    ck_assert(lz_cx_log((lz_cx){-1, 0}).im > 3 && lz_cx_log((lz_cx){-1, -0.0L}).im < -3);
    ck_assert(lz_cx_log1p((lz_cx){-2, 0}).im > 3 && lz_cx_log1p((lz_cx){-2, -0.0L}).im < -3);
    ck_assert(lz_cx_rsqrt((lz_cx){-4, 0}).im == -0.5L &&
              lz_cx_rsqrt((lz_cx){-4, -0.0L}).im == 0.5L);
    ck_assert(lz_cx_cbrt((lz_cx){-8, 0}).im > 1 && lz_cx_cbrt((lz_cx){-8, -0.0L}).im < -1);
}
END_TEST

/* By their definitions, where those do not cancel; then where they do. */
START_TEST(definitions)
{
    lz_rnd r = {17};
    for (int i = 0; i < 4000; i++) {
        lz_cx z = {part(&r, -3, 3), part(&r, -3, 3)}, w = {part(&r, -2, 2), part(&r, -2, 2)};
        cld x = of(z), y = of(w), root = of(lz_cx_cbrt(z));
        near("expm1", z, of(lz_cx_expm1(z)) + 1, cexpl(x), 2e-17L * (1 + 1 / cabsl(cexpl(x))));
        near("log1p", z, cexpl(of(lz_cx_log1p(z))), 1 + x, 1e-16L * (1 + 1 / cabsl(1 + x)));
        near("logistic", z, of(lz_cx_logistic(z)) * (1 + cexpl(-x)), 1,
             1e-16L * (1 + 1 / cabsl(1 + cexpl(-x))));
        near("rsqrt", z, of(lz_cx_rsqrt(z)) * csqrtl(x), 1, 1e-17L);
        near("cbrt", z, root * root * root, x, 1e-17L);
        ck_assert(fabsl(cargl(root)) <= 1.0472L);
        near("sign", z, of(lz_cx_sign(z)) * cabsl(x), x, 1e-17L);
        near("divide", z, of(lz_cx_divide(z, w)) * y, x, 1e-17L);
        near("power", z, of(lz_cx_power(z, w)), cexpl(y * clogl(x)), 1e-16L);
        near("atan2", z, of(lz_cx_atan2(z, w)), -I * clogl((y + I * x) / csqrtl(y * y + x * x)),
             1e-14L);
        lz_cx tiny = {z.re * 0x1p-80L, z.im * 0x1p-80L}, d = {z.re * 0x1p-70L, w.re * 0x1p-35L};
        near("expm1 of little", tiny, of(lz_cx_expm1(tiny)), of(tiny), 1e-18L);
        near("log1p of little", tiny, of(lz_cx_log1p(tiny)), of(tiny), 1e-18L);
        near("tanh of little", tiny, of(lz_cx_tanh(tiny)), of(tiny), 1e-18L);
        near("log near 1", d, of(lz_cx_log((lz_cx){1 + d.re, d.im})), I * d.im, 1e-9L);
    }
}
END_TEST

/* What lies between overflow of a factor and overflow of the result. */
START_TEST(no_needless_overflow)
{
    long double big = 11500; /* e^big is not a long double's */
    lz_cx e = lz_cx_exponential((lz_cx){big, 1e-300L});
    ck_assert(isinf(e.re) && isfinite(e.im) && e.im > 0);
    e = lz_cx_sine((lz_cx){1e-300L, big});
    ck_assert(isfinite(e.re) && e.re > 0 && isinf(e.im));
    e = lz_cx_tanh((lz_cx){big, 1});
    ck_assert(e.re == 1 && e.im == 0);
    e = lz_cx_logistic((lz_cx){-big, 1});
    ck_assert(fabsl(e.re) < 1e-4000L && lz_cx_logistic((lz_cx){big, 1}).re == 1);
}
END_TEST

START_TEST(quotients_of_special_values)
{
    lz_cx q = lz_cx_divide((lz_cx){1, 2}, (lz_cx){0, 0});
    ck_assert(isinf(q.re) && isinf(q.im));
    q = lz_cx_divide((lz_cx){1, 2}, (lz_cx){INFINITY, NAN});
    ck_assert(q.re == 0 || isnan(q.re));
    q = lz_cx_divide((lz_cx){INFINITY, 2}, (lz_cx){3, 4});
    ck_assert(isinf(q.re) || isinf(q.im));
    q = lz_cx_divide((lz_cx){1, 2}, (lz_cx){INFINITY, 5});
    ck_assert(q.re == 0 && q.im == 0);
    q = lz_cx_power((lz_cx){0, 0}, (lz_cx){2, 1});
    ck_assert(q.re == 0 && q.im == 0);
    q = lz_cx_power((lz_cx){NAN, 0}, (lz_cx){0, 0});
    ck_assert(q.re == 1 && q.im == 0);
    q = lz_cx_sign((lz_cx){-0.0L, 0});
    ck_assert(q.re == 0 && signbit(q.re) && q.im == 0);
}
END_TEST

START_TEST(parts)
{
    const struct {
        lz_op op;
        lz_dtype out, in;
    } row[] = {{LZ_OP_REAL, LZ_F32, LZ_C64},
               {LZ_OP_IMAG, LZ_F32, LZ_C64},
               {LZ_OP_REAL, LZ_F16, LZ_F16},
               {LZ_OP_IMAG, LZ_F64, LZ_F64},
               {LZ_OP_ABS, LZ_F32, LZ_C64}};
    const float z[2] = {3, -4}, want[] = {3, -4, 0, 0, 5};
    for (int i = 0; i < 5; i++) {
        double out = 0;
        const void *src = z;
        double real = 2.5;
        if (!lz_dtype_is_complex(row[i].in))
            src = &real;
        ck_assert_int_eq(lz_ref_eval_scalar(row[i].op, NULL, row[i].out, &row[i].in, &src, &out),
                         LZ_OK);
        double got = lz_elem_get_f64(row[i].out, &out, 0);
        if (i != 2)
            ck_assert_double_eq(got, want[i]);
        const lz_shape s = LZ_SCALAR;
        const lz_type *t = lz_type_get(row[i].in, &s);
        const lz_sig *sig = lz_sig_get(row[i].op, NULL, &t, 1);
        ck_assert(sig && sig->result[0]->dtype == row[i].out);
    }
    const lz_shape s = LZ_SCALAR;
    const lz_type *f16 = lz_type_get(LZ_F16, &s), *two[2] = {f16, f16};
    ck_assert(!lz_sig_get(LZ_OP_COMPLEX, NULL, two, 2));
    ck_assert_int_eq(lz_error_get()->status, LZ_EDTYPE);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("eval_complex");
    TCase *t = tcase_create("functions");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, functions_of_the_library, 0, NFUNC);
    tcase_add_loop_test(t, special_values_of_annex_g, 0, NFUNC);
    tcase_add_test(t, branch_cuts);
    tcase_add_test(t, definitions);
    tcase_add_test(t, no_needless_overflow);
    tcase_add_test(t, quotients_of_special_values);
    tcase_add_test(t, parts);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
