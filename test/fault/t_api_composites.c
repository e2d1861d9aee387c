/* t_api_composites.c - memory runs out at the n-th allocation while a composite is recorded, for
 * every n: LZ_EMEM or a good tensor, nothing left behind. Each attempt has extents of its own, so
 * that types and signatures are new and memory is asked for. Nothing is executed. */
#include "base/alloc.h"
#include "suite.h"
#include <lazuli/hlo.h>
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The operands of an attempt: a, b [k, k], v [k], c [2, 4, k, k], at i64[k]. */
typedef struct operands {
    int64_t k;
    lz_tensor *a, *b, *v, *c, *at;
} operands;
typedef lz_tensor *record(const operands *o);

/* Bodies of the functions that record them. */
static void body(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_mul(in[0], in[0]);
}
static lz_tensor *never(lz_tensor *const *in, void *user)
{
    (void)user;
    return lz_lt(lz_sum(in[0]), lz_hlo_constant(LZ_F32, 0));
}
static void one_round(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i;
    body(in, out, user);
}
static void one_step(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next, lz_tensor **y,
                     void *user)
{
    (void)user;
    next[0] = lz_add(carry[0], x[0]), y[0] = next[0];
}
static void forward(lz_tensor *const *in, lz_tensor **out, lz_tensor **kept, void *user)
{
    body(in, out, user);
    kept[0] = in[0];
}
static void backward(lz_tensor *const *kept, lz_tensor *const *grad, lz_tensor **in, void *user)
{
    (void)user;
    in[0] = lz_mul(kept[0], grad[0]);
}
static void summed(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_sum(lz_mul(in[0], in[0]));
}

#define R(name, expr)                                                                              \
    static lz_tensor *r_##name(const operands *o)                                                  \
    {                                                                                              \
        return (expr);                                                                             \
    }
static lz_tensor *two[2], *extra;
static int room = 2;
/* clang-format off */
R(remainder, lz_remainder(o->a, o->v))
R(floor_divide, lz_floor_divide(o->a, o->v))
R(hypot, lz_hypot(o->a, o->v))
R(xlogy, lz_xlogy(o->a, o->v))
R(mish, lz_mish(lz_to(o->a, LZ_BF16)))
R(elu, lz_elu(o->a))
R(softplus, lz_softplus(o->a))
R(prelu, lz_prelu(o->a, o->v))
R(glu, lz_glu(o->c, 1))
R(adaptive, lz_adaptive_max_pool1d(o->a, &extra, 1))
R(logit, lz_logit(o->a, 0.25)) /* more temporaries than a tracer has places */
R(isclose, lz_isclose(o->a, o->v))
R(clamp, lz_clamp_tensor(o->a, o->v, NULL))
R(lerp, lz_lerp(o->a, o->b, o->v))
R(var_mean, lz_var_mean(o->a, &extra, .dims = LZ_DIM(0)))
R(max_dim, lz_max_dim(o->a, 0, false, &extra))
R(norm, lz_norm(o->a, .ord = 3))
R(renorm, lz_renorm(o->a, 2, 0, 1))
R(cdist, lz_cdist(o->a, o->b, 2))
R(pdist, lz_pdist(o->a, 1))
R(cosine, lz_cosine_similarity(o->a, o->b, 0, 1e-8))
R(histc, lz_histc(o->a, 4, 0, 0))
R(bincount, lz_bincount(o->at, o->v, 3))
R(roll, lz_roll(o->c, LZ_DIMS(1, 1), LZ_DIMS(2, 3)))
R(rot90, lz_rot90(o->c, 1, 0, 1))
R(repeat, lz_repeat(o->a, LZ_SHAPE(2, 2, 3)))
R(split, lz_split(o->c, 1, 0, two, &room) == LZ_OK ? two[1] : lz_error_tensor_last("lz_split", NULL))
R(diagonal, lz_diagonal(o->c, 1, 1, 3))
R(unfold_dim, lz_unfold_dim(o->c, 2, 2, 1))
R(as_strided, lz_as_strided(o->c, LZ_SHAPE(2, o->k), ((int64_t[]){1, 2}), 0))
R(slice_scatter, lz_slice_scatter(o->a, lz_slice(o->b, 0, 0, INT64_MAX, 2), 0, 0, INT64_MAX, 2))
R(diagonal_scatter, lz_diagonal_scatter(o->a, o->v, 0, 0, 1))
R(as_strided_scatter, lz_as_strided_scatter(o->a, o->v, ((int64_t[]){1}), 0))
R(tril, lz_tril(o->c, 0))
R(diag_embed, lz_diag_embed(o->a, 1, 0, 1))
R(block_diag, lz_block_diag(((lz_tensor *[]){o->a, o->v, o->b}), 3))
R(meshgrid, lz_meshgrid(((lz_tensor *[]){o->v, o->v}), 2, "xy", two) == LZ_OK ? two[1] : lz_error_tensor_last("lz_meshgrid", NULL))
R(vander, lz_vander(o->v, 4, false))
R(linspace, lz_linspace(LZ_F32, 0, 1, o->k))
R(tril_indices, lz_tril_indices(o->k, 3, 0))
R(index, lz_index(o->c, ((lz_tensor *[]){NULL, o->at, NULL, o->at}), 4))
R(index_put, lz_index_put(o->c, ((lz_tensor *[]){NULL, o->at, o->at}), 3, o->v, true))
R(index_add, lz_index_add(o->a, 0, o->at, o->b, 0.5))
R(scatter_reduce, lz_scatter_reduce(o->v, 0, o->at, o->v, "mean", false))
R(take_along_dim, lz_take_along_dim(o->a, lz_unsqueeze(o->at, 0), 1))
R(softmax, lz_softmax(o->a, 1))
R(log_softmax, lz_log_softmax(o->c, 1))
R(index_fill, lz_index_fill(o->a, 0, o->at, 2))
R(index_copy, lz_index_copy(o->a, 0, o->at, o->b))
R(put, lz_put(o->a, o->at, o->v, false))
R(masked_scatter, lz_masked_scatter(o->a, lz_gt(o->a, o->v), o->b))
R(embedding_padding, lz_embedding_padding(o->a, o->at, 1))
R(dense_backward, lz_embedding_dense_backward(o->a, o->at, 7, 0, true))
R(embedding_bag, lz_embedding_bag(o->a, o->at, lz_slice(o->at, 0, 0, 2, 1), .mode = 2, .max_indices = &extra))
R(addbmm, lz_addbmm(o->a, lz_select(o->c, 0, 0), lz_select(o->c, 0, 1), .alpha = 0.5))
R(einsum, lz_einsum("bcii,ij,j->cb", ((lz_tensor *[]){o->c, o->a, o->v}), 3))
R(kron, lz_kron(o->a, o->v))
R(cross, lz_cross(lz_expand(o->v, LZ_SHAPE(3, o->k)), lz_expand(o->v, LZ_SHAPE(3, o->k)), 0))
R(layer_norm, lz_native_layer_norm(o->c, LZ_SHAPE(o->k), o->v, o->v, 1e-5, &extra, NULL))
R(group_norm, lz_native_group_norm(o->c, NULL, NULL, 2, 1e-5, NULL, &extra))
R(batch_norm, lz_native_batch_norm(o->c, NULL, NULL, NULL, NULL, .training = true))
R(dropout, lz_native_dropout(o->a, 0.5, true, &extra))
R(randint, lz_randint(LZ_I32, 0, 5, LZ_SHAPE(o->k)))
R(randperm, lz_randperm(LZ_I64, o->k))
R(multinomial, lz_multinomial(o->v, 2, false))
R(nearest, lz_upsample_nearest(o->c, LZ_SHAPE(o->k + 1, 3), NULL, true))
R(bilinear, lz_upsample_bilinear2d(o->c, LZ_SHAPE(o->k + 1, 3), false, NULL))
R(bicubic, lz_upsample_bicubic2d(o->c, LZ_SHAPE(o->k + 1, 3), false, NULL))
R(grid, lz_grid_sampler_2d(o->c, lz_reshape(lz_slice(o->c, 1, 0, 2, 1), LZ_SHAPE(2, o->k, o->k, 2)), LZ_GRID_BICUBIC, LZ_GRID_REFLECTION, false))
R(affine_grid, lz_affine_grid_generator(lz_ones(LZ_F32, LZ_SHAPE(2, 2, 3)), LZ_SHAPE(2, 1, o->k, 3), true))
R(reflection_pad, lz_reflection_pad(o->c, ((int64_t[]){1, 1, 2, 0}), 4))
R(replication_pad, lz_replication_pad(o->c, ((int64_t[]){1, 1, 2, 0}), 4))
R(pixel_shuffle, lz_pixel_shuffle(o->c, 2))
R(im2col, lz_im2col(o->c, &((lz_window){.kernel = {2, 2}})))
R(col2im, lz_col2im(lz_im2col(o->c, &((lz_window){.kernel = {2, 2}})), o->k, o->k, &((lz_window){.kernel = {2, 2}})))
#define DONE(call, name) ((call) == LZ_OK ? two[0] : lz_error_tensor_last(name, NULL))
R(while_, DONE(lz_while(&o->a, 1, never, body, NULL, two), "lz_while"))
R(fori, DONE(lz_fori(0, 3, &o->a, 1, one_round, NULL, two), "lz_fori"))
R(scan, DONE(lz_scan(&o->v, 1, &o->a, 1, 1, one_step, NULL, two, &extra), "lz_scan"))
R(cond, DONE(lz_cond(lz_zeros(LZ_BOOL, LZ_SCALAR), body, body, &o->a, 1, 1, NULL, two), "lz_cond"))
R(switch_, DONE(lz_switch(lz_zeros(LZ_I32, LZ_SCALAR), ((lz_body_fn *const[]){body, body}), 2, &o->a, 1, 1, NULL, two), "lz_switch"))
R(remat, DONE(lz_checkpoint(body, &o->a, 1, 1, NULL, two), "lz_checkpoint"))
R(custom_vjp, DONE(lz_custom_vjp(forward, backward, &o->a, 1, 1, 1, NULL, two), "lz_custom_vjp"))
R(vmap, DONE(lz_vmap(body, &o->a, 1, 1, NULL, two), "lz_vmap"))
R(value_and_grad, DONE(lz_value_and_grad(summed, &o->a, 1, 1, NULL, two, &extra), "lz_value_and_grad"))
/* clang-format on */
#define ROW(name)                                                                                  \
    {                                                                                              \
#name, r_##name                                                                            \
    }
static const struct {
    const char *name;
    record *fn;
} rows[] = {
    ROW(remainder),
    ROW(floor_divide),
    ROW(hypot),
    ROW(xlogy),
    ROW(mish),
    ROW(elu),
    ROW(softplus),
    ROW(prelu),
    ROW(glu),
    ROW(adaptive),
    ROW(logit),
    ROW(isclose),
    ROW(clamp),
    ROW(lerp),
    ROW(var_mean),
    ROW(max_dim),
    ROW(norm),
    ROW(renorm),
    ROW(cdist),
    ROW(pdist),
    ROW(cosine),
    ROW(histc),
    ROW(bincount),
    ROW(roll),
    ROW(rot90),
    ROW(repeat),
    ROW(split),
    ROW(diagonal),
    ROW(unfold_dim),
    ROW(as_strided),
    ROW(slice_scatter),
    ROW(diagonal_scatter),
    ROW(as_strided_scatter),
    ROW(tril),
    ROW(diag_embed),
    ROW(block_diag),
    ROW(meshgrid),
    ROW(vander),
    ROW(linspace),
    ROW(tril_indices),
    ROW(index),
    ROW(index_put),
    ROW(index_add),
    ROW(scatter_reduce),
    ROW(take_along_dim),
    ROW(softmax),
    ROW(log_softmax),
    ROW(index_fill),
    ROW(index_copy),
    ROW(put),
    ROW(masked_scatter),
    ROW(embedding_padding),
    ROW(dense_backward),
    ROW(embedding_bag),
    ROW(addbmm),
    ROW(einsum),
    ROW(kron),
    ROW(cross),
    ROW(layer_norm),
    ROW(group_norm),
    ROW(batch_norm),
    ROW(dropout),
    ROW(randint),
    ROW(randperm),
    ROW(multinomial),
    ROW(nearest),
    ROW(bilinear),
    ROW(bicubic),
    ROW(grid),
    ROW(affine_grid),
    ROW(reflection_pad),
    ROW(replication_pad),
    ROW(pixel_shuffle),
    ROW(im2col),
    ROW(col2im),
    ROW(while_),
    ROW(fori),
    ROW(scan),
    ROW(cond),
    ROW(switch_),
    ROW(remat),
    ROW(custom_vjp),
    ROW(vmap),
    ROW(value_and_grad),
};
enum { NROWS = sizeof rows / sizeof *rows, MOST = 4000 };

static void make(operands *o, int64_t k, lz_dtype d)
{
    o->k = k;
    o->a = lz_zeros(d, LZ_SHAPE(k, k));
    o->b = lz_ones(d, LZ_SHAPE(k, k));
    o->v = lz_ones(d, LZ_SHAPE(k));
    o->c = lz_zeros(d, LZ_SHAPE(2, 4, k, k));
    o->at = lz_zeros(LZ_I64, LZ_SHAPE(k));
}

/* Whether the n-th allocation of a row was asked for, and failed. */
static bool attempt(int row, int64_t n, lz_dtype d)
{
    static int64_t k = 2;
    operands o;
    ck_assert_int_eq(lz_scope_begin(), LZ_OK);
    make(&o, ++k, d);
    ck_assert_int_eq(lz_status_of(o.at), LZ_OK);
    uint64_t before = lz_alloc_failed_count();
    lz_alloc_fail_at(n, false);
    lz_tensor *t = rows[row].fn(&o);
    bool failed = lz_alloc_failed_count() != before;
    lz_alloc_fail_at(0, false);
    lz_status s = lz_status_of(t);
    ck_assert_msg(s == LZ_OK || s == LZ_EMEM, "%s of %s, allocation %lld: %s", rows[row].name,
                  lz_dtype_name(d), (long long)n, lz_last_error_text());
    ck_assert_msg(failed || s == LZ_OK, "%s: %s", rows[row].name, lz_last_error_text());
    lz_clear_error();
    ck_assert_int_eq(lz_scope_end(), LZ_OK);
    return failed;
}

/* 16-bit floats are computed in wider ones, by conversions that may fail, too. */
START_TEST(nth_allocation_fails)
{
    ck_assert_msg(lz_set_device("REF") == LZ_OK, "%s", lz_last_error_text());
    for (int row = _i; row < NROWS; row += 8)
        for (int d = 0; d < 2; d++)
            for (int64_t n = 1; attempt(row, n, d ? LZ_BF16 : LZ_F32); n++)
                ck_assert_int_lt(n, MOST);
}
END_TEST

int main(void)
{
    setenv("PJRT_DEVICE", "REF", 1);
    setenv("LAZULI_CACHE", "0", 1);
    Suite *s = suite_create("memory of composites");
    TCase *t = tcase_create("recording");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, nth_allocation_fails, 0, 8);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
