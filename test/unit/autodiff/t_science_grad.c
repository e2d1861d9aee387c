/* t_science_grad.c - gradients of the composites of ops/science against central differences in
 * f64, in first and second order and as tangents; and where a value is not smooth. */
#include "grad_check.h"

#define F(name, expr)                                                                              \
    static lz_tensor *g_##name(lz_tensor **x)                                                      \
    {                                                                                              \
        return (expr);                                                                             \
    }
/* clang-format off */
F(cov, lz_cov(x[0]))
F(cov_weighted, lz_cov(x[0], .aweights = lz_exp(x[1]), .correction = 0.5))
F(corrcoef, lz_corrcoef(x[0]))
F(diff, lz_diff(x[0], .n = 2))
F(trapezoid, lz_trapezoid(x[0], x[1], 1, -1))
F(cumulative, lz_cumulative_trapezoid(x[0], NULL, 0.3, 0))
/* between the points 0, 1 and 2.5, which move a little; and outside of them */
#define POINTS lz_add(lz_mul_scalar(x[1], 0.01), lz_from_host(LZ_F64, LZ_SHAPE(3), (double[]){0, 1, 2.5}))
F(interp, lz_interp(lz_add_scalar(lz_mul_scalar(x[0], 0.05), 0.6), POINTS, lz_exp(x[2])))
F(interp_outside, lz_interp(lz_sub_scalar(x[0], 9), POINTS, lz_exp(x[2])))
F(interp_period, lz_interp(lz_add_scalar(lz_mul_scalar(x[0], 0.05), 8.6), POINTS, lz_exp(x[2]), .period = 4))
/* a complex result as its real and imaginary parts */
static lz_tensor *parts(lz_tensor *z)
{
    return lz_view_as_real(z);
}
#define COMPLEX lz_complex(x[0], x[1])
F(matrix_exp, lz_matrix_exp(lz_mul_scalar(x[0], 2)))
F(matrix_exp_complex, parts(lz_matrix_exp(COMPLEX)))
F(eigvals, parts(lz_linalg_eigvals(x[0])))
F(eigvals_complex, parts(lz_linalg_eigvals(COMPLEX)))
/* what does not depend on the phases of the vectors: projections onto them, and magnitudes */
static lz_tensor *eig_free(lz_tensor *a)
{
    lz_tensor *v, *w = lz_linalg_eig(a, &v);
    lz_tensor *p = lz_mul(lz_unsqueeze(v, 1), lz_unsqueeze(lz_conj(v), 0));
    lz_tensor *both[2] = {lz_reshape(parts(p), LZ_SHAPE(-1)), lz_reshape(parts(lz_sin(w)), LZ_SHAPE(-1))};
    return lz_cat(both, 2, 0);
}
F(eig, eig_free(x[0]))
F(eig_complex, eig_free(COMPLEX))
#define WINDOW lz_add_scalar(x[1], 3)
F(stft, parts(lz_stft(x[0], 4, .hop_length = 2, .window = WINDOW)))
F(istft, lz_istft(lz_view_as_complex(x[0]), 4, .window = WINDOW))
F(interpolate, lz_interpolate(lz_reshape(x[0], LZ_SHAPE(1, 1, 2, 2, 2)), .scale_factor = {1.5}, .mode = "trilinear"))
#define VOLUME lz_reshape(x[0], LZ_SHAPE(1, 1, 2, 2, 3))
#define SPOTS lz_mul_scalar(lz_reshape(x[1], LZ_SHAPE(1, 1, 1, 2, 3)), 0.3)
F(volume, lz_grid_sample(VOLUME, SPOTS))
F(volume_border, lz_grid_sample(VOLUME, lz_mul_scalar(SPOTS, 4), .padding_mode = "border", .align_corners = true))
F(volume_reflection, lz_grid_sample(VOLUME, lz_mul_scalar(SPOTS, 4), .padding_mode = "reflection"))
F(affine, lz_affine_grid(lz_reshape(x[0], LZ_SHAPE(1, 3, 4)), LZ_SHAPE(1, 1, 2, 1, 2), false))
/* clang-format on */

static const gcase cases[] = {
    {"cov", g_cov, 1, {S(2, 4)}, -2, 2, true},
    {"cov_weighted", g_cov_weighted, 2, {S(2, 4), S(4)}, -2, 2, true},
    {"corrcoef", g_corrcoef, 1, {S(3, 5)}, -2, 2, true},
    {"diff", g_diff, 1, {S(2, 5)}, -2, 2, false},
    {"trapezoid", g_trapezoid, 2, {S(2, 4), S(4)}, -2, 2, true},
    {"cumulative", g_cumulative, 1, {S(3, 2)}, -2, 2, false},
    {"interp", g_interp, 3, {S(4), S(3), S(3)}, -2, 2, true},
    {"interp_outside", g_interp_outside, 3, {S(4), S(3), S(3)}, -2, 2, false},
    {"interp_period", g_interp_period, 3, {S(4), S(3), S(3)}, -2, 2, true},
    {"matrix_exp", g_matrix_exp, 1, {S(2, 3, 3)}, -1, 1, true},
    {"matrix_exp_complex", g_matrix_exp_complex, 2, {S(2, 2), S(2, 2)}, -1, 1, true},
    {"eigvals", g_eigvals, 1, {S(2, 3, 3)}, -1, 1, true},
    {"eigvals_complex", g_eigvals_complex, 2, {S(3, 3), S(3, 3)}, -1, 1, true},
    {"eig", g_eig, 1, {S(3, 3)}, -1, 1, true},
    {"eig_complex", g_eig_complex, 2, {S(3, 3), S(3, 3)}, -1, 1, true},
    {"stft", g_stft, 2, {S(2, 7), S(4)}, -2, 2, false},
    {"istft", g_istft, 2, {S(1, 3, 3, 2), S(4)}, -1, 1, true},
    {"interpolate", g_interpolate, 1, {S(8)}, -2, 2, false},
    {"volume", g_volume, 2, {S(12), S(6)}, -2, 2, true},
    {"volume_border", g_volume_border, 2, {S(12), S(6)}, -2, 2, false},
    {"volume_reflection", g_volume_reflection, 2, {S(12), S(6)}, -2, 2, false},
    {"affine", g_affine, 1, {S(12)}, -2, 2, false},
};
enum { NCASES = sizeof cases / sizeof *cases };

START_TEST(first)
{
    compare_first(cases, NCASES, _i);
}
END_TEST

START_TEST(second)
{
    compare_second(&cases[_i]);
}
END_TEST

/* The gradient at a point is that of the piece that begins there; infinities and NaN of x, and an
 * infinite point far away, leave the rest alone. */
START_TEST(interpolation_at_its_points)
{
    ck_assert_int_eq(lz_set_device(devices[_i]), LZ_OK);
    double at[] = {0, 1, 2, 3, -1, INFINITY, -INFINITY, NAN, 0.5}, g[9], gf[4];
    static const double want[] = {2, -3, 7, 7, 0, 0, 0, 0, 2};
    static const double want_f[] = {3.5, 1.5, 1, 2};
    lz_tensor *x[] = {lz_from_host(LZ_F64, LZ_SHAPE(9), at),
                      lz_from_host(LZ_F64, LZ_SHAPE(4), ((double[]){1, 3, 0, 7}))},
              *d[2];
    lz_tensor *xp = lz_from_host(LZ_F64, LZ_SHAPE(4), ((double[]){0, 1, 2, 3}));
    ck_assert_int_eq(lz_grad(lz_sum(lz_interp(x[0], xp, x[1])), x, 2, d), LZ_OK);
    ck_assert_int_eq(lz_to_host(d[0], g, sizeof g), LZ_OK);
    ck_assert_int_eq(lz_to_host(d[1], gf, sizeof gf), LZ_OK);
    for (int i = 0; i < 9; i++)
        ck_assert_msg(g[i] == want[i], "at %g: %g, not %g", at[i], g[i], want[i]);
    for (int i = 0; i < 4; i++)
        ck_assert_msg(gf[i] == want_f[i], "fp %d: %g, not %g", i, gf[i], want_f[i]);
}
END_TEST

/* On a pixel the neighbour has no weight, but the slope is the difference to it; NaN pixels without
 * weight and positions that are none leave the gradients finite. */
START_TEST(gradients_of_special_grids)
{
    ck_assert_int_eq(lz_set_device(devices[_i]), LZ_OK);
    double image[] = {1, 3, 10, 0, 5, NAN}, dx[6], dg[6];
    const double grid[] = {-1, -1, 0, 0, NAN, INFINITY};
    for (int volume = 0; volume < 2; volume++) {
        lz_tensor *X = lz_from_host(LZ_F64, LZ_SHAPE(1, 1, 3, 2), image),
                  *G = lz_from_host(LZ_F64, LZ_SHAPE(1, 1, 3, 2), grid), *d[2];
        lz_tensor *both[] = {X, G};
        lz_tensor *y =
            volume
                ? lz_grid_sample(lz_unsqueeze(X, 2),
                                 lz_unsqueeze(lz_constant_pad_nd(G, ((int64_t[]){0, 1}), 2, 0), 1),
                                 .align_corners = true)
                : lz_grid_sample(X, G, .align_corners = true);
        ck_assert_int_eq(lz_grad(lz_sum(y), both, 2, d), LZ_OK);
        ck_assert_int_eq(lz_to_host(d[0], dx, sizeof dx), LZ_OK);
        ck_assert_int_eq(lz_to_host(d[1], dg, sizeof dg), LZ_OK);
        /* the middle is (0.5, 1): half of 10 and of 0, sloping to 5 and NaN below */
        ck_assert(!memcmp(dx, (double[]){1, 0, 0.5, 0.5, 0, 0}, sizeof dx));
        ck_assert(dg[0] == (3 - 1) * 0.5 && dg[1] == (10 - 1) * 1.0 && dg[2] == (0 - 10) * 0.5);
        for (int i = 0; i < 6; i++)
            ck_assert_msg(isfinite(dg[i]), "gradient %d of the grid is %g", i, dg[i]);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("gradients of science");
    TCase *t = tcase_create("by differences");
    tcase_add_loop_test(t, first, 0, 2 * NCASES);
    tcase_add_loop_test(t, second, 0, NCASES);
    tcase_add_loop_test(t, interpolation_at_its_points, 0, 2);
    tcase_add_loop_test(t, gradients_of_special_grids, 0, 2);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
