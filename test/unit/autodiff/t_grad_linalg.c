/* t_grad_linalg.c - gradients of decompositions, by central differences of the first and the second order. */
#include "grad_check.h"

/* Far from singular: x + 3 I. */
static lz_tensor *safe(lz_tensor *x)
{
    lz_shape s = lz_shape_of(x);
    int64_t n = s.dims[s.rank - 1];
    return lz_add(x, lz_mul(lz_eye(LZ_F64, n, n), lz_full(LZ_F64, LZ_SHAPE(1), 3)));
}

static lz_tensor *f_cholesky(lz_tensor **x)
{
    return lz_hlo_cholesky(safe(x[0]), true);
}
static lz_tensor *f_cholesky_upper(lz_tensor **x)
{
    return lz_hlo_cholesky(safe(x[0]), false);
}

#define SOLVE(NAME, left, lower, unit, how)                                                        \
    static lz_tensor *f_##NAME(lz_tensor **x)                                                      \
    {                                                                                              \
        return lz_hlo_triangular_solve(safe(x[0]), x[1], left, lower, unit, LZ_HLO_##how);         \
    }
/* clang-format off */
SOLVE(left_lower, true, true, false, NO_TRANSPOSE)
SOLVE(left_upper, true, false, false, TRANSPOSE)
SOLVE(left_unit, true, true, true, ADJOINT)
SOLVE(right_lower, false, true, false, TRANSPOSE)
SOLVE(right_upper, false, false, false, NO_TRANSPOSE)
SOLVE(right_unit, false, false, true, ADJOINT)
/* clang-format on */

static const gcase cases[] = {
    {"cholesky", f_cholesky, 1, {S(3, 3)}, -0.7, 0.7, true},
    {"cholesky batch", f_cholesky, 1, {S(2, 2, 2)}, -0.7, 0.7, true},
    {"cholesky upper", f_cholesky_upper, 1, {S(3, 3)}, -0.7, 0.7, true},
    {"left lower", f_left_lower, 2, {S(3, 3), S(3, 2)}, -1, 1, true},
    {"left upper", f_left_upper, 2, {S(2, 3, 3), S(2, 3, 1)}, -1, 1, true},
    {"left unit", f_left_unit, 2, {S(3, 3), S(3, 2)}, -1, 1, true},
    {"right lower", f_right_lower, 2, {S(3, 3), S(2, 3)}, -1, 1, true},
    {"right upper", f_right_upper, 2, {S(3, 3), S(2, 3)}, -1, 1, true},
    {"right unit", f_right_unit, 2, {S(3, 3), S(1, 3)}, -1, 1, true},
};
enum { NCASES = sizeof cases / sizeof *cases };

START_TEST(first_order)
{
    ck_assert_msg(lz_set_device(devices[_i / NCASES]) == LZ_OK, "%s", lz_last_error_text());
    compare(&cases[_i % NCASES], 1);
}
END_TEST

START_TEST(second_order)
{
    ck_assert_msg(lz_set_device(devices[_i / NCASES]) == LZ_OK, "%s", lz_last_error_text());
    if (cases[_i % NCASES].second)
        compare(&cases[_i % NCASES], 2);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("grad_linalg");
    TCase *t = tcase_create("grad");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, first_order, 0, 2 * NCASES);
    tcase_add_loop_test(t, second_order, 0, 2 * NCASES);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
