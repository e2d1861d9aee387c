/* t_grad_linalg.c - gradients of decompositions, by central differences of the first and the second
 * order. */
#include "autodiff/vjp.h"
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

static lz_tensor *f_lu(lz_tensor **x)
{
    return lz_linalg_lu_factor(x[0], NULL);
}
static lz_tensor *f_inv(lz_tensor **x)
{
    return lz_linalg_inv(safe(x[0]));
}
static lz_tensor *f_solve(lz_tensor **x)
{
    return lz_linalg_solve(safe(x[0]), x[1], true);
}
static lz_tensor *f_det(lz_tensor **x)
{
    return lz_linalg_det(x[0]);
}
static lz_tensor *f_slogdet(lz_tensor **x)
{
    lz_tensor *l;
    lz_linalg_slogdet(x[0], &l);
    return l;
}
static lz_tensor *both(lz_tensor *a, lz_tensor *b)
{
    lz_tensor *v[2] = {lz_flatten(a, 0, -1), lz_flatten(b, 0, -1)};
    return lz_cat(v, 2, 0);
}
static lz_tensor *f_qr(lz_tensor **x)
{
    lz_tensor *r, *q = lz_linalg_qr(x[0], "reduced", &r);
    return both(q, r);
}
static lz_tensor *f_q(lz_tensor **x)
{
    return lz_linalg_qr(x[0], "complete", NULL);
}
static lz_tensor *f_r(lz_tensor **x)
{
    return lz_linalg_qr(x[0], "r", NULL);
}
static lz_tensor *f_svdvals(lz_tensor **x)
{
    return lz_linalg_svdvals(x[0]);
}
/* Signs do not show in squares of the vectors' elements. */
static lz_tensor *f_svd(lz_tensor **x)
{
    lz_tensor *s, *vh, *u = lz_linalg_svd(x[0], false, &s, &vh);
    return both(lz_mul(u, u), lz_mul(vh, vh));
}
static lz_tensor *f_eigh(lz_tensor **x)
{
    lz_tensor *v, *w = lz_linalg_eigh(x[0], false, &v);
    return both(w, lz_mul(v, v));
}
static lz_tensor *f_pinv(lz_tensor **x)
{
    return lz_linalg_pinv(x[0], -1);
}
static lz_tensor *f_nuclear(lz_tensor **x)
{
    return lz_linalg_matrix_norm(x[0], "nuc", false);
}
static lz_tensor *f_lstsq(lz_tensor **x)
{
    return lz_linalg_lstsq(x[0], x[1]);
}
static lz_tensor *f_power(lz_tensor **x)
{
    return lz_linalg_matrix_power(safe(x[0]), -3);
}

static lz_tensor *f_complete_r(lz_tensor **x)
{
    lz_tensor *r;
    (void)lz_linalg_qr(x[0], "complete", &r);
    return r;
}

static const gcase cases[] = {
    {"lu", f_lu, 1, {S(3, 3)}, -2, 2, true},
    {"lu batch", f_lu, 1, {S(2, 2, 2)}, -2, 2, true},
    {"lu tall", f_lu, 1, {S(4, 2)}, -2, 2, true},
    {"lu wide", f_lu, 1, {S(2, 4)}, -2, 2, true},
    {"inv", f_inv, 1, {S(3, 3)}, -1, 1, true},
    {"solve", f_solve, 2, {S(3, 3), S(3, 2)}, -1, 1, true},
    {"det", f_det, 1, {S(2, 3, 3)}, -2, 2, true},
    {"slogdet", f_slogdet, 1, {S(2, 3, 3)}, -2, 2, true},
    {"qr", f_qr, 1, {S(3, 3)}, -2, 2, true},
    {"qr tall", f_qr, 1, {S(4, 2)}, -2, 2, true},
    {"qr wide", f_qr, 1, {S(2, 3)}, -2, 2, true},
    {"q wide", f_q, 1, {S(2, 3)}, -2, 2, true},
    {"r", f_r, 1, {S(2, 3, 2)}, -2, 2, true},
    {"q complete", f_q, 1, {S(4, 2)}, -2, 2, true},
    {"q complete batch", f_q, 1, {S(2, 3, 1)}, -2, 2, true},
    {"q complete, deep", f_q, 1, {S(5, 3)}, -2, 2, true},
    {"r complete", f_complete_r, 1, {S(4, 2)}, -2, 2, true},
    {"svdvals", f_svdvals, 1, {S(3, 2)}, -2, 2, true},
    {"svd", f_svd, 1, {S(3, 3)}, -2, 2, true},
    {"svd tall", f_svd, 1, {S(4, 2)}, -2, 2, true},
    {"svd wide", f_svd, 1, {S(2, 3)}, -2, 2, true},
    {"eigh", f_eigh, 1, {S(3, 3)}, -2, 2, true},
    {"pinv", f_pinv, 1, {S(4, 2)}, -2, 2, true},
    {"nuclear", f_nuclear, 1, {S(3, 2)}, -2, 2, true},
    {"lstsq", f_lstsq, 2, {S(4, 2), S(4, 1)}, -2, 2, true},
    {"lstsq wide", f_lstsq, 2, {S(2, 3), S(2, 1)}, -2, 2, true},
    {"power", f_power, 1, {S(2, 2)}, -1, 1, true},
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
    compare_first(cases, NCASES, _i);
}
END_TEST

START_TEST(second_order)
{
    ck_assert_msg(lz_set_device(devices[_i / NCASES]) == LZ_OK, "%s", lz_last_error_text());
    if (cases[_i % NCASES].second)
        compare(&cases[_i % NCASES], 2);
}
END_TEST

/* What rows count in the gradient of a complete q, of many rows as well: less and less, but more
 * than nothing, even less the square. */
START_TEST(falls_to_more_than_nothing)
{
    static const int64_t lengths[] = {1, 100, 5700, 100000};
    int64_t n = lengths[_i];
    lz_vjp v = {.site = NULL};
    float *x = malloc((size_t)n * sizeof *x);
    ck_assert_ptr_nonnull(x);
    lz_scope_begin();
    lz_tensor *t = lz_v_falling(&v, LZ_F32, n, -1);
    ck_assert_int_eq(lz_to_host(t, x, (size_t)n * sizeof *x), LZ_OK);
    lz_scope_end();
    ck_assert(x[0] == 1);
    for (int64_t i = 1; i < n; i++)
        ck_assert(x[i] < x[i - 1] * (1 - 1e-4F));
    ck_assert(x[n - 1] * x[n - 1] > 1e-30F);
    free(x);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("grad_linalg");
    TCase *t = tcase_create("grad");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, first_order, 0, 2 * NCASES);
    tcase_add_loop_test(t, second_order, 0, 2 * NCASES);
    tcase_add_loop_test(t, falls_to_more_than_nothing, 0, 4);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
