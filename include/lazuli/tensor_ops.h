/* tensor_ops.h - user-level operations that are not elementwise: products, reductions, shapes,
 * indexing, activations.
 * Names, argument order and results are ATen's. Dimensions may be negative (from the end).
 * Elementwise ones are in ops.h. dtypes promote as in ATen (bool < integers < floats; the wider
 * wins); shapes broadcast as in ATen.
 * Errors of all, as an error tensor: LZ_ENULL, LZ_ESHAPE, LZ_EDTYPE, LZ_EINVAL, LZ_ERANGE
 * (dimensions and indices), LZ_EMEM; an operand that is an error tensor is returned. Source of
 * each: the ATen function of its name. Composites (softmax, mean, var, gelu, ...) of 16-bit floats
 * are computed in f32 and rounded once. "Floats" below: integers and booleans are converted to f32
 * first.
 * Implemented in: ops/reduction.c, ops/indexing.c, ops/shape.c. */
#ifndef LAZULI_TENSOR_OPS_H
#define LAZULI_TENSOR_OPS_H
#include <lazuli/tensor.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* A list of dimensions; an empty one is what the function says, usually all. */
typedef struct lz_dims {
    int n;
    int64_t v[LZ_MAX_RANK];
} lz_dims;
typedef struct lz_reduce_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_reduce_options));
    /* what is reduced: .dims = LZ_DIM(0, 1), or .dims = {1, {-1}}; default all */
    lz_dims dims LZ_DEFAULT({});
    bool keepdim LZ_DEFAULT(false); /* reduced dimensions stay with extent 1 */
    /* of var and std, whose default is 1: subtracted from the count */
    double correction LZ_DEFAULT(1);
    /* sum, mean, prod: x is converted to it first, and so is the result's; default: as said
     * below */
    lz_dtype dtype LZ_DEFAULT(LZ_DTYPE_NONE);
} lz_reduce_options;
#define LZ_REDUCE_OPTIONS(...) LZ_OPTIONS_OF(lz_reduce_options, __VA_ARGS__)
/* .dims = LZ_DIM(0, 1) */
#ifdef __cplusplus
#define LZ_DIM(...) lz_dims_of(__VA_ARGS__)
#define LZ_DIMS_BEFORE_LAST(...) lz_dims_before_last(__VA_ARGS__)
#else
#define LZ_DIMS_BEFORE_LAST(...)                                                                   \
    lz_dims_make((int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)) - 1,              \
                 (const int64_t[]){__VA_ARGS__})
#define LZ_DIM(...)                                                                                \
    {                                                                                              \
        (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                                 \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#endif
static inline lz_dims lz_dims_make(int n, const int64_t *dims)
{
    lz_dims d;
    d.n = n;
    for (int i = 0; i < LZ_MAX_RANK; i++)
        d.v[i] = i < n ? dims[i] : 0;
    return d;
}

/* ---- products ---- */
/* Vectors, matrices, and batches of matrices with broadcasting: [.., m, k] x [.., k, n] -> [.., m,
 * n]; a vector loses its dimension. dtypes promote, also integers; 16-bit floats accumulate in f32.
 * LZ_ESHAPE for rank 0 or unequal k. */
LZ_API lz_tensor *lz_matmul_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
/* x[.., in] @ weight[out, in]^T + bias[out]; bias may be NULL. */
LZ_API lz_tensor *lz_linear_at(lz_tensor *x, lz_tensor *weight, lz_tensor *bias,
                               const lz_site *site);

/* ---- reductions: the dimensions of the options (default: all) are combined and go, or stay with
 * extent 1. Options may be NULL ---- */
/* Sum. Integers and booleans sum to i64. Of nothing: 0. */
LZ_API lz_tensor *lz_sum_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site);
/* Mean. Floats. Of nothing: NaN. */
LZ_API lz_tensor *lz_mean_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site);
/* Product. Integers and booleans give i64. Of nothing: 1. */
LZ_API lz_tensor *lz_prod_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site);
/* Largest element; NaN if any is. Of nothing: LZ_ESHAPE. */
LZ_API lz_tensor *lz_amax_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site);
/* Smallest element; NaN if any is. Of nothing: LZ_ESHAPE. */
LZ_API lz_tensor *lz_amin_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site);
/* Boolean: whether an element is not 0. Of nothing: false. */
LZ_API lz_tensor *lz_any_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site);
/* Boolean: whether no element is 0. Of nothing: true. */
LZ_API lz_tensor *lz_all_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site);
/* Variance: sum of squared distances from the mean, in two passes, divided by max(0, count -
 * correction). Floats; of complex numbers, real: the distances are magnitudes. */
LZ_API lz_tensor *lz_var_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site);
/* log(sum(exp(x))) without overflow. Floats. */
LZ_API lz_tensor *lz_logsumexp_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site);
#define LZ_ALL_DIMS (INT64_MIN + 0xa11) /* for dim: of all elements, as one row */
/* Index of the largest element along dim, as i64: the first on ties; NaN is the largest. dim goes,
 * or stays with extent 1 (keepdim); LZ_ALL_DIMS: of all elements, as one row. An empty dimension is
 * LZ_ESHAPE. */
LZ_API lz_tensor *lz_argmax_at(lz_tensor *x, int64_t dim, bool keepdim, const lz_site *site);
/* Index of the smallest element along dim, as i64: the first on ties; NaN is the smallest. dim
 * goes, or stays with extent 1 (keepdim); LZ_ALL_DIMS: of all elements, as one row. An empty
 * dimension is LZ_ESHAPE. */
LZ_API lz_tensor *lz_argmin_at(lz_tensor *x, int64_t dim, bool keepdim, const lz_site *site);

/* ---- shapes: the same elements; the dtype stays ---- */
/* The elements in row-major order under another shape of as many; one extent may be -1: what is
 * left. */
LZ_API lz_tensor *lz_reshape_at(lz_tensor *x, lz_shape shape, const lz_site *site);
/* Dimension i of the result is dimension dims[i] of x. */
LZ_API lz_tensor *lz_permute_at(lz_tensor *x, lz_dims dims, const lz_site *site);
/* Two dimensions exchanged. */
LZ_API lz_tensor *lz_transpose_at(lz_tensor *x, int64_t dim0, int64_t dim1, const lz_site *site);
/* x broadcast to shape; -1 keeps an extent. */
LZ_API lz_tensor *lz_expand_at(lz_tensor *x, lz_shape shape, const lz_site *site);
/* x without dim if its extent is 1, else x. */
LZ_API lz_tensor *lz_squeeze_at(lz_tensor *x, int64_t dim, const lz_site *site);
/* x with a new dimension of extent 1 at dim, in -(rank+1)..rank. */
LZ_API lz_tensor *lz_unsqueeze_at(lz_tensor *x, int64_t dim, const lz_site *site);
/* Dimensions start_dim..end_dim as one. */
LZ_API lz_tensor *lz_flatten_at(lz_tensor *x, int64_t start_dim, int64_t end_dim,
                                const lz_site *site);
/* n >= 1 tensors, promoted to one dtype, joined along dim, where their extents may differ. */
LZ_API lz_tensor *lz_cat_at(lz_tensor *const *xs, int n, int64_t dim, const lz_site *site);
/* n >= 1 tensors of one shape, promoted to one dtype, joined along a new dimension dim. */
LZ_API lz_tensor *lz_stack_at(lz_tensor *const *xs, int n, int64_t dim, const lz_site *site);
/* Elements start, start + step, ... before end of one dimension, by Python's rules: negative ones
 * count from the end, all are clamped; step >= 1. */
LZ_API lz_tensor *lz_slice_at(lz_tensor *x, int64_t dim, int64_t start, int64_t end, int64_t step,
                              const lz_site *site);
/* One index of dim, which goes; negative ones count from the end. LZ_ERANGE. */
LZ_API lz_tensor *lz_select_at(lz_tensor *x, int64_t dim, int64_t index, const lz_site *site);
/* The order along dims reversed; none given: along all. */
LZ_API lz_tensor *lz_flip_at(lz_tensor *x, lz_dims dims, const lz_site *site);
/* `value` around x. pad: n numbers in ATen's order, (low, high) of the last dimension first;
 * negative ones remove elements. */
LZ_API lz_tensor *lz_constant_pad_nd_at(lz_tensor *x, const int64_t *pad, int n, double value,
                                        const lz_site *site);

/* ---- indexing: an index is i32 or i64. Positions are clamped into bounds when reading (ATen: an
 * error), and dropped when adding ---- */
/* The slices of x along dim at index, which has rank 1. */
LZ_API lz_tensor *lz_index_select_at(lz_tensor *x, int64_t dim, lz_tensor *index,
                                     const lz_site *site);
/* result[i][j][k] = x[index[i][j][k]][j][k] for dim 0. index has x's rank, and extents not above
 * x's outside of dim; the result has its shape. */
LZ_API lz_tensor *lz_gather_at(lz_tensor *x, int64_t dim, lz_tensor *index, const lz_site *site);
/* x with src[i][j][k] added at [index[i][j][k]][j][k] for dim 0, in row-major order. src has x's
 * dtype and rank, index extents not above those of src. */
LZ_API lz_tensor *lz_scatter_add_at(lz_tensor *x, int64_t dim, lz_tensor *index, lz_tensor *src,
                                    const lz_site *site);
/* Rows of weight[V, D] at indices[..]: [.., D]. */
LZ_API lz_tensor *lz_embedding_at(lz_tensor *weight, lz_tensor *indices, const lz_site *site);
/* index[..] -> [.., num_classes]: 1 at the index, 0 elsewhere; an index outside gives zeros. */
LZ_API lz_tensor *lz_one_hot_at(lz_tensor *index, int64_t num_classes, lz_dtype dtype,
                                const lz_site *site);

/* ---- choosing and converting ---- */
/* a where cond is not 0, else b. All three broadcast. */
LZ_API lz_tensor *lz_where_at(lz_tensor *cond, lz_tensor *a, lz_tensor *b, const lz_site *site);
/* min(max(x, lo), hi); a bound that is NaN is none; NaN in x stays. The gradient at the bounds, and
 * at NaN, is 0. LZ_ERANGE: an integer x cannot hold the result (lo above all integers of the dtype,
 * hi below them). LZ_EDTYPE: complex. */
LZ_API lz_tensor *lz_clamp_at(lz_tensor *x, double lo, double hi, const lz_site *site);
/* x converted to dtype. To an integer: truncates, saturates, NaN gives 0; to boolean: x != 0. */
LZ_API lz_tensor *lz_to_at(lz_tensor *x, lz_dtype dtype, const lz_site *site);

/* ---- activations ---- */
/* 0 where x <= 0, else x; NaN stays. Any number dtype. The gradient at 0 is 0. */
LZ_API lz_tensor *lz_relu_at(lz_tensor *x, const lz_site *site);
/* x times the normal distribution function of x, by erf or by the tanh formula. Floats. Hendrycks
 * and Gimpel 2016. */
LZ_API lz_tensor *lz_gelu_at(lz_tensor *x, bool tanh_approximation, const lz_site *site);
/* x * sigmoid(x). Floats. */
LZ_API lz_tensor *lz_silu_at(lz_tensor *x, const lz_site *site);
/* exp(x) / sum(exp(x)) along dim, without overflow. Floats. */
LZ_API lz_tensor *lz_softmax_at(lz_tensor *x, int64_t dim, const lz_site *site);
/* The logarithm of softmax along dim, without overflow. Floats. */
LZ_API lz_tensor *lz_log_softmax_at(lz_tensor *x, int64_t dim, const lz_site *site);

/* ---- scalar operands: the number is a run-time argument (1 and -1 are constants; 0, and of
 * products and quotients 1, are not), so changing it never recompiles. It is converted to x's
 * dtype, modulo the range of an integer one; with a fraction it turns an integer or boolean x into
 * f32, without one a boolean x into i64. LZ_ERANGE: beyond 64 bits ---- */
/* x + s. */
LZ_API lz_tensor *lz_add_scalar_at(lz_tensor *x, double s, const lz_site *site);
/* x - s. */
LZ_API lz_tensor *lz_sub_scalar_at(lz_tensor *x, double s, const lz_site *site);
/* x * s. */
LZ_API lz_tensor *lz_mul_scalar_at(lz_tensor *x, double s, const lz_site *site);
/* x / s. Floats. */
LZ_API lz_tensor *lz_div_scalar_at(lz_tensor *x, double s, const lz_site *site);
/* x to the power s. 2 and 0.5 are part of the program: x * x, sqrt(x). s < 0: floats. LZ_ERANGE: an
 * integer x cannot hold s. */
LZ_API lz_tensor *lz_pow_scalar_at(lz_tensor *x, double s, const lz_site *site);

#define lz_matmul(a, b) lz_matmul_at(a, b, LZ_SITE)
#define lz_linear(x, w, b) lz_linear_at(x, w, b, LZ_SITE)
#define lz_sum(...) LZ_ARGS_sum(__VA_ARGS__, )
#define LZ_ARGS_sum(x, ...) lz_sum_at(x, LZ_REDUCE_OPTIONS(__VA_ARGS__), LZ_SITE)
#define lz_mean(...) LZ_ARGS_mean(__VA_ARGS__, )
#define LZ_ARGS_mean(x, ...) lz_mean_at(x, LZ_REDUCE_OPTIONS(__VA_ARGS__), LZ_SITE)
#define lz_prod(...) LZ_ARGS_prod(__VA_ARGS__, )
#define LZ_ARGS_prod(x, ...) lz_prod_at(x, LZ_REDUCE_OPTIONS(__VA_ARGS__), LZ_SITE)
#define lz_amax(...) LZ_ARGS_amax(__VA_ARGS__, )
#define LZ_ARGS_amax(x, ...) lz_amax_at(x, LZ_REDUCE_OPTIONS(__VA_ARGS__), LZ_SITE)
#define lz_amin(...) LZ_ARGS_amin(__VA_ARGS__, )
#define LZ_ARGS_amin(x, ...) lz_amin_at(x, LZ_REDUCE_OPTIONS(__VA_ARGS__), LZ_SITE)
#define lz_any(...) LZ_ARGS_any(__VA_ARGS__, )
#define LZ_ARGS_any(x, ...) lz_any_at(x, LZ_REDUCE_OPTIONS(__VA_ARGS__), LZ_SITE)
#define lz_all(...) LZ_ARGS_all(__VA_ARGS__, )
#define LZ_ARGS_all(x, ...) lz_all_at(x, LZ_REDUCE_OPTIONS(__VA_ARGS__), LZ_SITE)
#define LZ_VARIANCE_DEFAULTS .correction = 1
#define lz_var(...) LZ_ARGS_var(__VA_ARGS__, )
#define LZ_ARGS_var(x, ...)                                                                        \
    LZ_OVERRIDING(                                                                                 \
        lz_var_at(x, LZ_DEFAULTED(lz_reduce_options, LZ_VARIANCE_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define lz_logsumexp(...) LZ_ARGS_logsumexp(__VA_ARGS__, )
#define LZ_ARGS_logsumexp(x, ...) lz_logsumexp_at(x, LZ_REDUCE_OPTIONS(__VA_ARGS__), LZ_SITE)
#define lz_argmax(x, dim, keepdim) lz_argmax_at(x, dim, keepdim, LZ_SITE)
#define lz_argmin(x, dim, keepdim) lz_argmin_at(x, dim, keepdim, LZ_SITE)
#define lz_reshape(x, shape) lz_reshape_at(x, shape, LZ_SITE)
#define lz_permute(x, ...) lz_permute_at(x, (lz_dims)LZ_DIM(__VA_ARGS__), LZ_SITE)
#define lz_transpose(x, d0, d1) lz_transpose_at(x, d0, d1, LZ_SITE)
#define lz_expand(x, shape) lz_expand_at(x, shape, LZ_SITE)
#define lz_squeeze(x, dim) lz_squeeze_at(x, dim, LZ_SITE)
#define lz_unsqueeze(x, dim) lz_unsqueeze_at(x, dim, LZ_SITE)
#define lz_flatten(x, start, end) lz_flatten_at(x, start, end, LZ_SITE)
#define lz_cat(...) lz_cat_at(__VA_ARGS__, LZ_SITE)
#define lz_stack(...) lz_stack_at(__VA_ARGS__, LZ_SITE)
#define lz_slice(x, dim, start, end, step) lz_slice_at(x, dim, start, end, step, LZ_SITE)
#define lz_select(x, dim, index) lz_select_at(x, dim, index, LZ_SITE)
#define lz_flip(x, ...) lz_flip_at(x, (lz_dims)LZ_DIM(__VA_ARGS__), LZ_SITE)
#define lz_constant_pad_nd(...) lz_constant_pad_nd_at(__VA_ARGS__, LZ_SITE)
#define lz_index_select(x, dim, index) lz_index_select_at(x, dim, index, LZ_SITE)
#define lz_gather(x, dim, index) lz_gather_at(x, dim, index, LZ_SITE)
#define lz_scatter_add(x, dim, index, src) lz_scatter_add_at(x, dim, index, src, LZ_SITE)
#define lz_embedding(weight, indices) lz_embedding_at(weight, indices, LZ_SITE)
#define lz_one_hot(index, n, dtype) lz_one_hot_at(index, n, dtype, LZ_SITE)
#define lz_where(c, a, b) lz_where_at(c, a, b, LZ_SITE)
#define lz_clamp(x, lo, hi) lz_clamp_at(x, lo, hi, LZ_SITE)
#define lz_to(x, dtype) lz_to_at(x, dtype, LZ_SITE)
#define lz_relu(x) lz_relu_at(x, LZ_SITE)
#define lz_gelu(x, approx) lz_gelu_at(x, approx, LZ_SITE)
#define lz_silu(x) lz_silu_at(x, LZ_SITE)
#define lz_softmax(x, dim) lz_softmax_at(x, dim, LZ_SITE)
#define lz_log_softmax(x, dim) lz_log_softmax_at(x, dim, LZ_SITE)
#define lz_add_scalar(x, s) lz_add_scalar_at(x, s, LZ_SITE)
#define lz_sub_scalar(x, s) lz_sub_scalar_at(x, s, LZ_SITE)
#define lz_mul_scalar(x, s) lz_mul_scalar_at(x, s, LZ_SITE)
#define lz_div_scalar(x, s) lz_div_scalar_at(x, s, LZ_SITE)
#define lz_pow_scalar(x, s) lz_pow_scalar_at(x, s, LZ_SITE)
LZ_EXTERN_C_END

#ifdef __cplusplus
template <class... T> inline lz_dims lz_dims_of(T... dim)
{
    return lz_dims{static_cast<int>(sizeof...(dim)), {static_cast<int64_t>(dim)...}};
}
template <class... T> inline lz_dims lz_dims_before_last(T... dim)
{
    const int64_t list[] = {static_cast<int64_t>(dim)...};
    return lz_dims_make(static_cast<int>(sizeof...(dim)) - 1, list);
}
#endif
#endif
