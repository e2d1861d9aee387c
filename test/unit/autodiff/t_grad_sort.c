/* t_grad_sort.c - gradients through sorting, against central differences. */
#include "grad_check.h"

static lz_tensor *f_sort(lz_tensor **x)
{
    return lz_hlo_sort(x, 1, 1, 1, false, NULL);
}
static lz_tensor *f_sort_descending(lz_tensor **x)
{
    return lz_hlo_sort(x, 1, 0, 1, true, NULL);
}
/* both results count: each gradient goes back in the order of the first operand */
static lz_tensor *f_sort_pair(lz_tensor **x)
{
    lz_tensor *y[2];
    lz_hlo_sort(x, 2, -1, 1, false, y);
    return lz_mul(y[0], y[1]);
}
static lz_tensor *f_sort_two_keys(lz_tensor **x)
{
    lz_tensor *in[3] = {lz_hlo_ew_at("round_nearest_even", x, 1, LZ_SITE), x[1], x[0]}, *y[3];
    lz_hlo_sort(in, 3, 0, 2, true, y);
    return lz_add(lz_mul(y[1], y[2]), y[0]);
}

static lz_tensor *f_user_sort(lz_tensor **x)
{
    return lz_sort(x[0], 0, true, NULL);
}
static lz_tensor *f_topk(lz_tensor **x)
{
    lz_tensor *v = lz_topk(x[0], 3, 1, true, NULL);
    return lz_mul(v, v);
}
static lz_tensor *f_kthvalue(lz_tensor **x)
{
    return lz_kthvalue(x[0], 2, 0, false, NULL);
}
static lz_tensor *f_median(lz_tensor **x)
{
    return lz_median(x[0], 1, true, NULL);
}
static lz_tensor *f_mode(lz_tensor **x)
{
    return lz_mode(x[0], 1, true, NULL);
}
static lz_tensor *f_quantile(lz_tensor **x)
{
    return lz_quantile(x[0], 0.35, .dim = 1);
}
static lz_tensor *f_nanquantile(lz_tensor **x)
{
    return lz_nanquantile(x[0], 0.35, .interpolation = "midpoint");
}
static lz_tensor *f_masked_select(lz_tensor **x)
{
    return lz_masked_select(x[0], lz_gt(x[0], lz_zeros(LZ_F64, LZ_SHAPE(1))), .size = 9);
}

static const gcase cases[] = {
    {"lz_sort", f_user_sort, 1, {S(5, 3)}, -2, 2, false},
    {"topk", f_topk, 1, {S(3, 7)}, -2, 2, true},
    {"kthvalue", f_kthvalue, 1, {S(5, 3)}, -2, 2, false},
    {"median", f_median, 1, {S(3, 6)}, -2, 2, false},
    {"mode", f_mode, 1, {S(3, 4)}, -2, 2, false},
    {"quantile", f_quantile, 1, {S(3, 7)}, -2, 2, false},
    {"nanquantile", f_nanquantile, 1, {S(11)}, -2, 2, false},
    {"masked_select", f_masked_select, 1, {S(4, 5)}, -2, 2, false},
    {"sort", f_sort, 1, {S(3, 7)}, -2, 2, false},
    {"sort_descending", f_sort_descending, 1, {S(5, 3)}, -2, 2, false},
    {"sort_pair", f_sort_pair, 2, {S(2, 6), S(2, 6)}, -2, 2, true},
    {"sort_two_keys", f_sort_two_keys, 2, {S(9), S(9)}, -2, 2, true},
};
enum { NCASES = sizeof cases / sizeof *cases };

START_TEST(first_order)
{
    compare_first(cases, NCASES, _i);
}
END_TEST

START_TEST(second_order)
{
    if (cases[_i].second)
        compare(&cases[_i], 2);
}
END_TEST

START_TEST(bad_calls)
{
    lz_tensor *x = lz_ones(LZ_F32, LZ_SHAPE(2, 3)), *s = lz_ones(LZ_F32, LZ_SHAPE()),
              *two[2] = {x, x};
    ck_assert_int_eq(lz_status_of(lz_hlo_sort(&x, 1, 2, 1, false, NULL)), LZ_ERANGE);
    ck_assert_int_eq(lz_status_of(lz_hlo_sort(&x, 0, 0, 1, false, NULL)), LZ_EINVAL);
    ck_assert_int_eq(lz_status_of(lz_hlo_sort(&x, 1, 0, 2, false, NULL)), LZ_EINVAL);
    ck_assert_int_eq(lz_status_of(lz_hlo_sort(two, 2, 0, 1, false, NULL)), LZ_ENULL);
    ck_assert_int_eq(lz_status_of(lz_hlo_sort(&s, 1, 0, 1, false, NULL)), LZ_ESHAPE);
    lz_tensor *c = lz_zeros(LZ_C64, LZ_SHAPE(3)), *out[2];
    ck_assert_int_eq(lz_status_of(lz_hlo_sort(&c, 1, 0, 1, false, NULL)), LZ_EDTYPE);
    two[1] = lz_ones(LZ_F32, LZ_SHAPE(3, 2));
    lz_hlo_sort(two, 2, 0, 1, false, out);
    ck_assert_int_eq(lz_status_of(out[0]), LZ_ESHAPE);
    ck_assert_int_eq(lz_status_of(out[1]), LZ_ESHAPE);
}
END_TEST

/* The read of the count does not cut what is differentiated. */
START_TEST(selection_of_exact_size)
{
    double v[5] = {1, -2, 3, NAN, 4}, back[5];
    ck_assert_int_eq(lz_set_device(devices[_i]), LZ_OK);
    lz_scope_begin();
    lz_tensor *x = lz_from_host(LZ_F64, LZ_SHAPE(5), v), *g;
    lz_tensor *some = lz_masked_select(x, lz_gt_scalar(x, 0), .size = LZ_EXACT_SIZE);
    ck_assert_int_eq(lz_numel(some), 3);
    ck_assert_int_eq(lz_grad(lz_sum(lz_mul(some, some)), &x, 1, &g), LZ_OK);
    ck_assert_int_eq(lz_to_host(g, back, sizeof back), LZ_OK);
    for (int k = 0; k < 5; k++)
        ck_assert(back[k] == (v[k] > 0 ? 2 * v[k] : 0));
    lz_scope_end();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("grad_sort");
    TCase *t = tcase_create("grad");
    tcase_add_loop_test(t, first_order, 0, 2 * NCASES);
    tcase_add_loop_test(t, second_order, 0, NCASES);
    tcase_add_test(t, bad_calls);
    tcase_add_loop_test(t, selection_of_exact_size, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
