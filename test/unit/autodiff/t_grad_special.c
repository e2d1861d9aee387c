/* t_grad_special.c - gradients of CHLO's functions, by central differences of the first and the
 * second order. */
#include "grad_check.h"

#define EW1(NAME)                                                                                  \
    static lz_tensor *f_##NAME(lz_tensor **x)                                                      \
    {                                                                                              \
        return lz_hlo_ew_at("chlo." #NAME, x, 1, LZ_SITE);                                         \
    }
#define ROW(NAME, lo, hi)                                                                          \
    {                                                                                              \
#NAME, f_##NAME, 1, {S(2, 3) }, lo, hi, true                                               \
    }
/* clang-format off */
EW1(acos) EW1(acosh) EW1(asin) EW1(asinh) EW1(atan) EW1(atanh) EW1(bessel_i1e) EW1(cosh)
EW1(digamma) EW1(erf_inv) EW1(erfc) EW1(lgamma) EW1(sinh)
    /* clang-format on */

    static lz_tensor *order(lz_tensor *x, double n)
{
    return lz_full(LZ_F64, lz_shape_of(x), n);
}
static lz_tensor *f_polygamma(lz_tensor **x)
{
    lz_tensor *in[2] = {order(x[0], 2), x[0]};
    return lz_hlo_ew_at("chlo.polygamma", in, 2, LZ_SITE);
}
static lz_tensor *f_zeta(lz_tensor **x)
{
    lz_tensor *in[2] = {order(x[0], 2.5), x[0]};
    return lz_hlo_ew_at("chlo.zeta", in, 2, LZ_SITE);
}
static lz_tensor *f_user_polygamma(lz_tensor **x)
{
    return lz_polygamma(1, x[0]);
}
static lz_tensor *f_user_digamma(lz_tensor **x)
{
    return lz_digamma(lz_sinh(x[0]));
}

static const gcase cases[] = {
    ROW(acos, -0.8, 0.8),      ROW(acosh, 1.3, 3),
    ROW(asin, -0.8, 0.8),      ROW(asinh, -3, 3),
    ROW(atan, -3, 3),          ROW(atanh, -0.8, 0.8),
    ROW(bessel_i1e, -6, 6),    {"bessel_i1e far", f_bessel_i1e, 1, {S(2, 3)}, 7, 30, true},
    ROW(cosh, -2, 2),          ROW(digamma, 0.6, 4),
    ROW(erf_inv, -0.8, 0.8),   ROW(erfc, -2, 2),
    ROW(lgamma, 0.6, 4),       {"lgamma negative", f_lgamma, 1, {S(2, 3)}, -1.8, -1.2, true},
    ROW(sinh, -2, 2),          ROW(polygamma, 0.6, 4),
    ROW(zeta, 0.6, 4),         ROW(user_polygamma, 0.6, 4),
    ROW(user_digamma, 0.6, 2),
};
enum { NCASES = sizeof cases / sizeof *cases };

START_TEST(first_order)
{
    compare_first(cases, NCASES, _i);
}
END_TEST

START_TEST(second_order)
{
    compare_second(&cases[_i]);
}
END_TEST

START_TEST(edges)
{
    lz_tensor *x = lz_from_host(LZ_F64, LZ_SHAPE(1), (double[]){0}), *g,
              *n = lz_full(LZ_F64, LZ_SHAPE(1), 2);
    ck_assert_int_eq(lz_grad(lz_sum(lz_special_i1e(x)), &x, 1, &g), LZ_OK);
    ck_assert(fabs(lz_item(g) - 0.5) < 1e-13);
    lz_tensor *in[2] = {n, lz_full(LZ_F64, LZ_SHAPE(1), 1.5)};
    ck_assert_int_eq(lz_grad(lz_sum(lz_hlo_ew_at("chlo.zeta", in, 2, LZ_SITE)), &n, 1, &g),
                     LZ_EGRAD);
    ck_assert_int_eq(lz_grad(lz_sum(lz_hlo_ew_at("chlo.polygamma", in, 2, LZ_SITE)), &n, 1, &g),
                     LZ_EGRAD);
    ck_assert_int_eq(lz_status_of(lz_polygamma(-1, x)), LZ_EINVAL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("grad_special");
    TCase *t = tcase_create("grad");
    tcase_add_loop_test(t, first_order, 0, 2 * NCASES);
    tcase_add_loop_test(t, second_order, 0, NCASES);
    tcase_add_test(t, edges);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
