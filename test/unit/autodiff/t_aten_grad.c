/* t_aten_grad.c - gradients of composites: against central differences, and at the special points
 * where ATen has a rule (kinks, zeros, infinities). */
#include "grad_check.h"

#define F(name, expr)                                                                              \
    static lz_tensor *g_##name(lz_tensor **x)                                                      \
    {                                                                                              \
        return (expr);                                                                             \
    }
static lz_tensor *idx(int n, const int64_t *v)
{
    return lz_from_host(LZ_I64, LZ_SHAPE(n), v);
}
#define IDX(...) idx((int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]){__VA_ARGS__})
/* clang-format off */
F(exp2, lz_exp2(x[0]))
F(frac, lz_frac(x[0]))
F(hardsigmoid, lz_hardsigmoid(x[0]))
F(hardswish, lz_hardswish(x[0]))
F(log10, lz_log10(x[0]))
F(log2, lz_log2(x[0]))
F(log_sigmoid, lz_log_sigmoid(x[0]))
F(mish, lz_mish(x[0]))
F(reciprocal, lz_reciprocal(x[0]))
F(relu6, lz_relu6(x[0]))
F(selu, lz_selu(x[0]))
F(sinc, lz_sinc(x[0]))
F(softsign, lz_softsign(x[0]))
F(square, lz_square(x[0]))
F(tanhshrink, lz_tanhshrink(x[0]))
F(copysign, lz_copysign(x[0], x[1]))
F(fmax, lz_fmax(x[0], x[1]))
F(fmin, lz_fmin(x[0], x[1]))
F(hypot, lz_hypot(x[0], x[1]))
F(ldexp, lz_ldexp(x[0], x[1]))
F(logaddexp, lz_logaddexp(x[0], x[1]))
F(logaddexp2, lz_logaddexp2(x[0], x[1]))
F(remainder, lz_remainder(x[0], x[1]))
F(rsub, lz_rsub(x[0], x[1]))
F(xlog1py, lz_xlog1py(x[0], x[1]))
F(xlogy, lz_xlogy(x[0], x[1]))
F(fmod_scalar, lz_fmod_scalar(x[0], 0.75))
F(scalar_pow, lz_scalar_pow(2.5, x[0]))
F(add_alpha, lz_add_alpha(x[0], x[1], -1.5))
F(addcmul, lz_addcmul(x[0], x[1], x[2], 0.5))
F(addcdiv, lz_addcdiv(x[0], x[1], x[2], 0.5))
F(lerp, lz_lerp(x[0], x[1], x[2]))
F(bounded, lz_clamp_tensor(x[0], x[1], lz_add_scalar(x[2], 1)))
F(clamp_max, lz_clamp_max(x[0], 0.25))
F(logit, lz_logit(x[0], 0.2))
F(leaky_relu, lz_leaky_relu(x[0]))
F(elu, lz_elu(x[0], .alpha = 2, .scale = 1.5, .input_scale = 0.5))
F(celu, lz_celu(x[0], 1.5))
F(softplus, lz_softplus(x[0], .beta = 2, .threshold = 3))
F(hardtanh, lz_hardtanh(x[0]))
F(hardshrink, lz_hardshrink(x[0], 0.5))
F(softshrink, lz_softshrink(x[0], 0.5))
F(threshold, lz_threshold(x[0], 0.25, 20))
F(prelu, lz_prelu(x[0], x[1]))
F(glu, lz_glu(x[0], 0))
F(softmin, lz_softmin(x[0], 1))
F(std, lz_std(x[0], .dims = LZ_DIM(1)))
F(std_mean, lz_std_mean(x[0], NULL))
F(max_dim, lz_max_dim(x[0], 1, true, NULL))
F(nanmean, lz_nanmean(x[0], .dims = LZ_DIM(0)))
F(norm2, lz_norm(x[0], .dims = LZ_DIM(-1)))
F(norm1, lz_norm(x[0], .ord = 1))
F(norm3, lz_norm(x[0], .ord = 3, .dims = LZ_DIM(0)))
F(norm_half, lz_norm(x[0], .ord = 0.5))
F(norm_inf, lz_norm(x[0], .ord = INFINITY, .dims = LZ_DIM(1)))
F(renorm, lz_renorm(x[0], 2, 0, 1))
F(cdist, lz_cdist(x[0], lz_unsqueeze(x[1], 0), 2))
F(cdist3, lz_cdist(x[0], lz_unsqueeze(x[1], 0), 3))
F(pdist, lz_pdist(lz_t(x[0]), 2))
F(cosine, lz_cosine_similarity(x[0], x[1], 1, 1e-8))
F(trace, lz_trace(x[0]))
F(roll, lz_roll(x[0], LZ_DIMS(1, 1), LZ_DIMS(0, 1)))
F(rot90, lz_rot90(x[0], 1, 0, 1))
F(repeat, lz_repeat(x[0], LZ_SHAPE(2, 1, 2)))
F(resize, lz_resize(x[0], LZ_SHAPE(5)))
F(resize_more, lz_resize(x[0], LZ_SHAPE(2, 7)))
F(repeat_interleave, lz_repeat_interleave(x[0], 2, 1))
F(diagonal, lz_diagonal(x[0], 1, 0, 1))
F(diag_embed, lz_diag_embed(x[0], 1, -1, 0))
F(unfold_dim, lz_unfold_dim(x[0], 1, 2, 1))
F(as_strided, lz_as_strided(x[0], LZ_SHAPE(2, 3), ((int64_t[]){1, 2}), 0))
F(slice_scatter, lz_slice_scatter(x[0], lz_reshape(lz_slice(x[1], 0, 0, 2, 1), LZ_SHAPE(2, 1)), 1, 1, 2, 1))
F(slice_scatter_step, lz_slice_scatter(x[0], lz_expand(lz_slice(x[1], 0, 0, 2, 1), LZ_SHAPE(2, 2)), 1, 0, 3, 2))
F(select_scatter, lz_select_scatter(x[0], x[1], 0, 1))
F(diagonal_scatter, lz_diagonal_scatter(x[0], lz_slice(x[1], 0, 0, 2, 1), 1, 0, 1))
F(as_strided_scatter, lz_as_strided_scatter(x[0], x[1], ((int64_t[]){2}), 1))
F(index, lz_index(x[0], ((lz_tensor *[]){IDX(1, -1, 0), IDX(2, 0, 2)}), 2))
F(index_put, lz_index_put(x[0], ((lz_tensor *[]){IDX(1, -1, 0), IDX(2, 2, 2)}), 2, x[1], false))
F(index_put_add, lz_index_put(x[0], ((lz_tensor *[]){IDX(1, -1, 0), IDX(2, 2, 2)}), 2, x[1], true))
F(index_add, lz_index_add(x[0], 0, IDX(1), lz_unsqueeze(x[1], 0), 0.5))
F(index_copy, lz_index_copy(x[0], 0, IDX(1), lz_unsqueeze(x[1], 0)))
F(index_fill, lz_index_fill(x[0], 1, IDX(-1), 2))
F(scatter, lz_scatter(x[0], 0, lz_unsqueeze(IDX(1, 0, 1), 0), lz_unsqueeze(x[1], 0)))
F(scatter_sum, lz_scatter_reduce(x[0], 0, lz_unsqueeze(IDX(1, 0, 1), 0), lz_unsqueeze(x[1], 0), "sum", false))
F(scatter_mean, lz_scatter_reduce(x[0], 0, lz_unsqueeze(IDX(1, 0, 1), 0), lz_unsqueeze(x[1], 0), "mean", true))
F(scatter_amax, lz_scatter_reduce(x[0], 0, lz_unsqueeze(IDX(1, 0, 1), 0), lz_unsqueeze(x[1], 0), "amax", true))
F(scatter_amin, lz_scatter_reduce(x[0], 0, lz_unsqueeze(IDX(1, 0, 1), 0), lz_unsqueeze(x[1], 0), "amin", false))
F(take, lz_take(x[0], IDX(5, 0, -1)))
F(put, lz_put(x[0], IDX(5, 0, 1), x[1], false))
F(take_along_dim, lz_take_along_dim(x[0], lz_unsqueeze(IDX(2, 0), 0), 1))
F(masked_fill, lz_masked_fill(x[0], lz_gt_scalar(lz_detach(x[0]), 0), 3))
F(embedding_padding, lz_embedding(x[0], IDX(1, 0, 1)))
F(bag_sum, lz_embedding_bag(x[0], IDX(1, 0, 1), IDX(0, 2), .per_sample_weights = x[1]))
F(bag_mean, lz_embedding_bag(x[0], IDX(1, 0, 1), IDX(0, 2), .mode = 1))
F(bag_max, lz_embedding_bag(x[0], IDX(1, 0, 1), IDX(0, 2), .mode = 2))
F(addmm, lz_addmm(x[1], x[0], lz_expand(x[1], LZ_SHAPE(3, 3)), .beta = 0.5, .alpha = 2))
F(outer, lz_outer(lz_select(x[0], 0, 0), x[1]))
F(einsum, lz_einsum("ij,j,kj->ki", ((lz_tensor *[]){x[0], x[1], x[0]}), 3))
F(einsum_diagonal, lz_einsum("ii->i", ((lz_tensor *[]){lz_outer(x[1], x[1])}), 1))
F(tensordot, lz_tensordot(x[0], x[1], ((lz_dims){1, {1}}), ((lz_dims){1, {0}})))
F(kron, lz_kron(x[0], x[1]))
F(cross, lz_cross(x[0], x[1], 1))
F(layer_norm, lz_native_layer_norm(x[0], LZ_SHAPE(3), x[1], NULL, 1e-5, NULL, NULL))
F(group_norm, lz_native_group_norm(lz_reshape(x[0], LZ_SHAPE(1, 2, 3)), NULL, NULL, 1, 1e-5, NULL, NULL))
F(batch_norm, lz_native_batch_norm(x[0], x[1], NULL, NULL, NULL, .training = true, .eps = 0.5))
#define IMAGE lz_reshape(x[0], LZ_SHAPE(1, 1, 2, 3))
F(nearest, lz_upsample_nearest2d(IMAGE, LZ_SHAPE(4, 4), NULL))
F(bilinear, lz_upsample_bilinear2d(IMAGE, LZ_SHAPE(3, 4), false, NULL))
F(bicubic, lz_upsample_bicubic2d(IMAGE, LZ_SHAPE(3, 4), true, NULL))
F(reflection, lz_reflection_pad(IMAGE, ((int64_t[]){2, 1, 1, 0}), 4))
F(replication, lz_replication_pad(IMAGE, ((int64_t[]){2, 1, 1, 0}), 4))
F(circular, lz_circular_pad(IMAGE, ((int64_t[]){2, 1, 1, 0}), 4))
F(im2col, lz_im2col(IMAGE, &((lz_window){.kernel = {2, 2}, .padding = {1, 0}})))
F(col2im, lz_col2im(lz_reshape(x[0], LZ_SHAPE(1, 2, 3)), 1, 4, &((lz_window){.kernel = {1, 2}})))
F(grid_image, lz_grid_sampler_2d(IMAGE, lz_sub_scalar(lz_mul_scalar(lz_reshape(lz_iota(LZ_F64, LZ_SHAPE(6), 0), LZ_SHAPE(1, 3, 1, 2)), 0.23), 0.4), LZ_GRID_BILINEAR, LZ_GRID_ZEROS, false))
F(grid_position, lz_grid_sampler_2d(lz_square(lz_reshape(lz_iota(LZ_F64, LZ_SHAPE(12), 0), LZ_SHAPE(1, 1, 4, 3))), lz_reshape(x[0], LZ_SHAPE(1, 3, 1, 2)), LZ_GRID_BILINEAR, LZ_GRID_ZEROS, true))
F(grid_cubic, lz_grid_sampler_2d(lz_reshape(lz_iota(LZ_F64, LZ_SHAPE(12), 0), LZ_SHAPE(1, 1, 4, 3)), lz_reshape(x[0], LZ_SHAPE(1, 3, 1, 2)), LZ_GRID_BICUBIC, LZ_GRID_BORDER, false))
F(pixel_shuffle, lz_pixel_shuffle(lz_reshape(lz_tile(x[0], LZ_SHAPE(2, 2)), LZ_SHAPE(4, 2, 3)), 2))
F(masked_scatter, lz_masked_scatter(x[0], lz_eye(LZ_BOOL, 2, 3), x[1]))
F(norm_all, lz_norm(x[0]))
F(norm3_all, lz_norm(x[0], .ord = 3))
F(norm_top, lz_norm(x[0], .ord = INFINITY))
F(std_all, lz_std(x[0]))
F(max_first, lz_max_dim(x[0], 0, false, NULL))
F(tril, lz_tril(x[0], 0))
F(vander, lz_vander(lz_select(x[0], 0, 0), 3, true))
/* clang-format on */

#define V23 S(2, 3)
#define C1(name, lo, hi)                                                                           \
    {                                                                                              \
#name, g_##name, 1, {V23 }, lo, hi, false                                                  \
    }
#define C2(name, lo, hi)                                                                           \
    {                                                                                              \
#name, g_##name, 2, {V23, S(3) }, lo, hi, false                                            \
    }
#define C3(name, lo, hi)                                                                           \
    {                                                                                              \
#name, g_##name, 3, {V23, S(2, 1), V23 }, lo, hi, false                                    \
    }
static const gcase cases[] = {
    C1(exp2, -2, 2),
    C1(frac, 0.1, 0.9),
    C1(hardsigmoid, -2.9, 2.9),
    C1(hardswish, -2.9, 5),
    C1(log10, 0.2, 3),
    C1(log2, 0.2, 3),
    C1(log_sigmoid, -3, 3),
    C1(mish, -3, 3),
    C1(reciprocal, 0.5, 2),
    C1(relu6, 0.1, 5.9),
    C1(selu, -3, 3),
    C1(sinc, 0.1, 2),
    C1(softsign, -2, 2),
    C1(square, -2, 2),
    C1(tanhshrink, -2, 2),
    C2(copysign, 0.2, 2),
    C2(fmax, -2, 2),
    C2(fmin, -2, 2),
    C2(hypot, -2, 2),
    C2(ldexp, -2, 2),
    C2(logaddexp, -2, 2),
    C2(logaddexp2, -2, 2),
    C2(remainder, 0.7, 3),
    C2(rsub, -2, 2),
    C2(xlog1py, 0.2, 2),
    C2(xlogy, 0.2, 2),
    C1(fmod_scalar, 0.1, 0.7),
    C1(scalar_pow, -2, 2),
    C2(add_alpha, -2, 2),
    C3(addcmul, -2, 2),
    C3(addcdiv, 0.5, 2),
    C3(lerp, 0.05, 0.95),
    C3(bounded, -2, 2),
    C1(clamp_max, -1, 1),
    C1(logit, 0.05, 0.95),
    C1(leaky_relu, -2, 2),
    C1(elu, -2, 2),
    C1(celu, -2, 2),
    C1(softplus, -2, 2),
    C1(hardtanh, -2, 2),
    C1(hardshrink, -2, 2),
    C1(softshrink, -2, 2),
    C1(threshold, -2, 2),
    C2(prelu, -2, 2),
    C1(glu, -2, 2),
    C1(softmin, -2, 2),
    C1(std, -2, 2),
    C1(std_mean, -2, 2),
    C1(max_dim, -2, 2),
    C1(nanmean, -2, 2),
    C1(norm2, -2, 2),
    C1(norm1, -2, 2),
    C1(norm3, -2, 2),
    C1(norm_half, 0.5, 2),
    C1(norm_inf, -2, 2),
    C1(renorm, -2, 2),
    C2(cdist, -2, 2),
    C2(cdist3, -2, 2),
    C1(pdist, -2, 2),
    C2(cosine, -2, 2),
    C1(trace, -2, 2),
    C1(roll, -2, 2),
    C1(rot90, -2, 2),
    C1(repeat, -2, 2),
    C1(resize, -2, 2),
    C1(resize_more, -2, 2),
    C1(repeat_interleave, -2, 2),
    C1(diagonal, -2, 2),
    C1(diag_embed, -2, 2),
    C1(unfold_dim, -2, 2),
    C1(as_strided, -2, 2),
    C2(slice_scatter, -2, 2),
    C2(slice_scatter_step, -2, 2),
    C2(select_scatter, -2, 2),
    C2(diagonal_scatter, -2, 2),
    C2(as_strided_scatter, -2, 2),
    C1(tril, -2, 2),
    C1(index, -2, 2),
    C2(index_put, -2, 2),
    C2(index_put_add, -2, 2),
    C2(index_add, -2, 2),
    C2(index_copy, -2, 2),
    C1(index_fill, -2, 2),
    C2(scatter, -2, 2),
    C2(scatter_sum, -2, 2),
    C2(scatter_mean, -2, 2),
    C2(scatter_amax, -2, 2),
    C2(scatter_amin, -2, 2),
    C1(take, -2, 2),
    C2(put, -2, 2),
    C1(take_along_dim, -2, 2),
    C1(masked_fill, -2, 2),
    C1(embedding_padding, -2, 2),
    C2(bag_sum, -2, 2),
    C1(bag_mean, -2, 2),
    C2(addmm, -2, 2),
    C2(outer, -2, 2),
    C2(einsum, -2, 2),
    {"einsum_diagonal", g_einsum_diagonal, 2, {V23, S(3)}, -2, 2, false},
    C2(tensordot, -2, 2),
    C2(kron, -2, 2),
    C2(cross, -2, 2),
    C2(layer_norm, -2, 2),
    C1(group_norm, -2, 2),
    C2(batch_norm, -2, 2),
    C1(nearest, -2, 2),
    C1(bilinear, -2, 2),
    C1(bicubic, -2, 2),
    C1(reflection, -2, 2),
    C1(replication, -2, 2),
    C1(circular, -2, 2),
    C1(im2col, -2, 2),
    C1(col2im, -2, 2),
    C1(pixel_shuffle, -2, 2),
    C1(grid_cubic, -0.9, 0.9),
    C1(grid_image, -2, 2),
    C1(grid_position, 0.05, 0.6),
    C1(bag_max, -2, 2),
    C2(masked_scatter, -2, 2),
    C1(vander, 0.5, 2),
};
enum { NCASES = sizeof cases / sizeof *cases };

START_TEST(by_differences)
{
    ck_assert_int_eq(lz_set_device("REF:0"), LZ_OK);
    for (int i = _i; i < NCASES; i += 8)
        compare(&cases[i], 1);
}
END_TEST

/* ---- special points ---- */

/* The gradient of sum(f(x)) at n values, with x[0] the given ones and x[1] of `second`. */
static void at_points_line(fn f, int which, int n, const double *v, const double *second,
                           const double *want, const char *what, int line)
{
    double got[16];
    lz_tensor *x[3] = {lz_from_host(LZ_F64, LZ_SHAPE(n), v),
                       lz_from_host(LZ_F64, LZ_SHAPE(n), second ? second : v)},
              *g;
    ck_assert_msg(lz_grad(lz_sum(f(x)), &x[which], 1, &g) == LZ_OK, "line %d: %s: %s", line, what,
                  lz_last_error_text());
    ck_assert_int_eq(lz_to_host(g, got, sizeof got), LZ_OK);
    for (int i = 0; i < n; i++)
        ck_assert_msg(got[i] == want[i] || fabs(got[i] - want[i]) < 1e-12 ||
                          (isnan(got[i]) && isnan(want[i])),
                      "line %d: %s: gradient %d is %.17g, not %.17g", line, what, i, got[i],
                      want[i]);
}
#define D(...) ((const double[]){__VA_ARGS__})
/* AT(f, points, gradients) */
#define AT(f, n, v, want) at_points_line(g_##f, 0, (n), (v), NULL, (want), #f, __LINE__)
#define AT2(f, which, n, a, b, want)                                                               \
    at_points_line(g_##f, (which), (n), (a), (b), (want), #f, __LINE__)

START_TEST(kinks_of_activations)
{
    ck_assert_int_eq(lz_set_device(devices[_i]), LZ_OK);
    lz_scope_begin();
    AT(relu6, 4, D(0, 6, -1, 3), D(0, 0, 0, 1));
    AT(hardtanh, 4, D(-1, 1, 0, 7), D(0, 0, 1, 0));
    AT(hardsigmoid, 4, D(-3, 3, 0, 9), D(0, 0, 1.0 / 6, 0));
    AT(hardswish, 3, D(-4, 0, 4), D(0, 0.5, 1));
    AT(leaky_relu, 2, D(0, -2), D(0.01, 0.01));
    AT(hardshrink, 4, D(0.5, -0.5, 0.6, 0), D(0, 0, 1, 0));
    AT(softshrink, 4, D(0.5, -0.5, -0.6, 0), D(0, 0, 1, 0));
    AT(threshold, 2, D(0.25, 0.26), D(0, 1));
    AT(log_sigmoid, 3, D(0, 800, -800), D(0.5, 0, 1));
    AT(softplus, 3, D(0, 800, -800), D(0.5, 1, 0));
    AT(mish, 2, D(800, -800), D(1, 0));
    AT(elu, 3, D(0, 1000, -1000), D(1.5, 1.5, 0));
    AT(selu, 2, D(1000, -1000), D(1.0507009873554805, 0));
    AT(logit, 4, D(0.2, 0.8, 0.1, 0.9), D(6.25, 6.25, 0, 0));
    AT(sinc, 1, D(0), D(0));
    lz_scope_end();
}
END_TEST

START_TEST(special_points_of_two_operands)
{
    ck_assert_int_eq(lz_set_device(devices[_i]), LZ_OK);
    lz_scope_begin();
    AT2(copysign, 0, 4, D(0, -0.0, 2, -2), D(1, -1, -1, -1), D(0, 0, -1, 1));
    AT2(fmax, 0, 4, D(1, NAN, 2, 1), D(1, 1, NAN, 3), D(0.5, 0, 1, 0));
    AT2(fmax, 1, 4, D(1, NAN, 2, 1), D(1, 1, NAN, 3), D(0.5, 1, 0, 1));
    AT2(logaddexp, 0, 3, D(1, 1000, -INFINITY), D(1, -1000, 5), D(0.5, 1, 0));
    AT2(xlogy, 0, 3, D(0, 0, 2), D(0, -1, 3), D(0, 0, log(3)));
    AT2(xlogy, 0, 1, D(0), D(3), D(log(3)));
    AT2(xlogy, 1, 3, D(0, 2, 0), D(0, 4, 3), D(0, 0.5, 0));
    AT2(hypot, 0, 2, D(3e200, 3e-200), D(4e200, 4e-200), D(0.6, 0.6));
    AT2(remainder, 1, 2, D(-7, 7), D(2, -2), D(4, 4));
    lz_scope_end();
}
END_TEST

static lz_tensor *g_cdist_self(lz_tensor **x)
{
    return lz_cdist(lz_unsqueeze(x[0], 1), lz_unsqueeze(lz_detach(x[0]), 1), 2);
}

START_TEST(norms_at_zero)
{
    ck_assert_int_eq(lz_set_device(devices[_i]), LZ_OK);
    lz_scope_begin();
    const double *z = D(0, 0, 0);
    AT(norm_all, 3, z, z);
    AT(norm1, 3, D(0, -2, 3), D(0, -1, 1));
    AT(norm3_all, 3, z, z);
    AT(norm3_all, 3, D(0, 1, 0), D(0, 1, 0));
    AT(norm_half, 3, z, z);
    AT(norm_half, 2, D(0, 4), D(0, 1));
    AT(norm_top, 4, D(0, -3, 3, 1), D(0, -0.5, 0.5, 0));
    AT(std_all, 3, D(2, 2, 2), z);
    AT(cdist_self, 2, D(1, 4), D(-1, 1));
    AT(max_first, 4, D(1, 3, 3, 0), D(0, 1, 0, 0));
    lz_scope_end();
}
END_TEST

START_TEST(padding_gets_no_gradient)
{
    lz_scope_begin();
    double w[6] = {1, 2, 3, 4, 5, 6}, got[6];
    lz_tensor *W = lz_from_host(LZ_F64, LZ_SHAPE(3, 2), w), *g;
    ck_assert_int_eq(lz_grad(lz_sum(lz_embedding_padding(W, IDX(1, 2, 1, 0), 1)), &W, 1, &g),
                     LZ_OK);
    ck_assert_int_eq(lz_to_host(g, got, sizeof got), LZ_OK);
    for (int i = 0; i < 6; i++)
        ck_assert(got[i] == (i / 2 == 1 ? 0 : 1));
    lz_scope_end();
}
END_TEST

/* The backward functions give what the gradient of the forward ones is. */
START_TEST(backwards_are_gradients)
{
    ck_assert_int_eq(lz_set_device(devices[_i]), LZ_OK);
    lz_scope_begin();
    double data[4][24], got[2][24];
    unsigned seed = 3;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 24; k++)
            data[i][k] = noise(&seed) * 4 - 2;
    for (int group = 0; group < 2; group++) {
        lz_shape s = group ? LZ_SHAPE(2, 4, 3) : LZ_SHAPE(2, 3, 4);
        lz_tensor *x = lz_from_host(LZ_F64, s, data[0]), *g = lz_from_host(LZ_F64, s, data[1]);
        lz_tensor *p[3] = {x, lz_from_host(LZ_F64, LZ_SHAPE(4), data[2]),
                           lz_from_host(LZ_F64, LZ_SHAPE(4), data[3])};
        lz_tensor *mean, *rstd, *by_grad[3], *direct[3];
        lz_tensor *y = group ? lz_native_group_norm(x, p[1], p[2], 2, 1e-5, &mean, &rstd)
                             : lz_native_layer_norm(x, LZ_SHAPE(4), p[1], p[2], 1e-5, &mean, &rstd);
        ck_assert_msg(lz_grad(y, p, 3, by_grad, .grad_output = g) == LZ_OK, "%s",
                      lz_last_error_text());
        direct[0] =
            group ? lz_native_group_norm_backward(g, x, mean, rstd, p[1], 2, &direct[1], &direct[2])
                  : lz_native_layer_norm_backward(g, x, LZ_SHAPE(4), mean, rstd, p[1], &direct[1],
                                                  &direct[2]);
        for (int i = 0; i < 3; i++) {
            ck_assert_msg(lz_to_host(by_grad[i], got[0], sizeof got[0]) == LZ_OK, "%s",
                          lz_last_error_text());
            ck_assert_msg(lz_to_host(direct[i], got[1], sizeof got[1]) == LZ_OK, "%s",
                          lz_last_error_text());
            for (int k = 0; k < (i ? 4 : 24); k++)
                ck_assert_msg(fabs(got[0][k] - got[1][k]) < 1e-10,
                              "%d: input %d element %d: %g, %g", group, i, k, got[0][k], got[1][k]);
        }
    }
    lz_tensor *w = lz_from_host(LZ_F64, LZ_SHAPE(4, 3), data[0]), *at = IDX(1, 3, 1),
              *gy = lz_from_host(LZ_F64, LZ_SHAPE(3, 3), data[1]), *gw;
    ck_assert_int_eq(lz_grad(lz_embedding(w, at), &w, 1, &gw, .grad_output = gy), LZ_OK);
    ck_assert_int_eq(lz_to_host(gw, got[0], sizeof got[0]), LZ_OK);
    ck_assert_int_eq(
        lz_to_host(lz_embedding_dense_backward(gy, at, 4, -1, false), got[1], sizeof got[1]),
        LZ_OK);
    for (int k = 0; k < 12; k++)
        ck_assert(fabs(got[0][k] - got[1][k]) < 1e-12);
    lz_scope_end();
}
END_TEST

static lz_tensor *g_floor(lz_tensor **x)
{
    return lz_floor_divide(x[0], x[1]);
}
static lz_tensor *g_nan_to_num(lz_tensor **x)
{
    return lz_mul_scalar(lz_nan_to_num(x[0]), 2);
}

START_TEST(flat_and_replaced)
{
    lz_scope_begin();
    AT2(floor, 0, 3, D(7, -7, 1), D(2, 2, 0), D(0, 0, 0));
    AT2(floor, 1, 3, D(7, -7, 1), D(2, 2, 0), D(0, 0, 0));
    AT(nan_to_num, 4, D(NAN, INFINITY, -INFINITY, 3), D(0, 0, 0, 2));
    lz_scope_end();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("gradients of composites");
    TCase *t = tcase_create("by differences");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, by_differences, 0, 8);
    suite_add_tcase(s, t);
    t = tcase_create("special points");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, kinks_of_activations, 0, 2);
    tcase_add_loop_test(t, special_points_of_two_operands, 0, 2);
    tcase_add_loop_test(t, norms_at_zero, 0, 2);
    tcase_add_test(t, padding_gets_no_gradient);
    tcase_add_loop_test(t, backwards_are_gradients, 0, 2);
    tcase_add_test(t, flat_and_replaced);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
