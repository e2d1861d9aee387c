/* reduce_ops.h - reductions beyond those of tensor_ops.h: deviations, extremes with positions,
 * norms, distances, histograms. Names, defaults and results are ATen's. Options, dimensions,
 * promotion and errors are as in tensor_ops.h; "floats": integers and booleans are converted to f32
 * first;
 * 16-bit floats are computed in f32 and rounded once. A second result is a second handle of the
 * innermost scope, stored through a pointer that may be NULL; on failure it is an error tensor
 * too.
 * Implemented in: ops/statistics.c. */
#ifndef LAZULI_REDUCE_OPS_H
#define LAZULI_REDUCE_OPS_H
#include <lazuli/tensor_ops.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* Standard deviation; the default of correction is 1. Floats. The gradient is 0 where the result is
 * 0. */
LZ_API lz_tensor *lz_std_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site);
/* Variance; *mean is the mean. The default of correction is 1. Floats. */
LZ_API lz_tensor *lz_var_mean_at(lz_tensor *x, lz_tensor **mean, const lz_reduce_options *o,
                                 const lz_site *site);
/* Standard deviation; *mean is the mean. The default of correction is 1. Floats. */
LZ_API lz_tensor *lz_std_mean_at(lz_tensor *x, lz_tensor **mean, const lz_reduce_options *o,
                                 const lz_site *site);
/* The smallest element; *max is the largest. NaN if any is. */
LZ_API lz_tensor *lz_aminmax_at(lz_tensor *x, lz_tensor **max, const lz_reduce_options *o,
                                const lz_site *site);
/* The largest element along dim; *indices says where it is (i64; the first on ties, NaN wins). The
 * gradient goes to that element alone. LZ_ESHAPE of nothing. */
LZ_API lz_tensor *lz_max_dim_at(lz_tensor *x, int64_t dim, bool keepdim, lz_tensor **indices,
                                const lz_site *site);
/* The smallest element along dim; *indices says where it is (i64; the first on ties, NaN wins). The
 * gradient goes to that element alone. LZ_ESHAPE of nothing. */
LZ_API lz_tensor *lz_min_dim_at(lz_tensor *x, int64_t dim, bool keepdim, lz_tensor **indices,
                                const lz_site *site);
/* How many elements are not 0: i64; NaN counts. */
LZ_API lz_tensor *lz_count_nonzero_at(lz_tensor *x, const lz_reduce_options *o,
                                      const lz_site *site);
/* Sum, in which NaN counts as 0. */
LZ_API lz_tensor *lz_nansum_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site);
/* Mean of the elements that are not NaN. Floats. */
LZ_API lz_tensor *lz_nanmean_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site);
/* Sum of the diagonal of a matrix. */
LZ_API lz_tensor *lz_trace_at(lz_tensor *x, const lz_site *site);

/* ---- norms and distances: floats ---- */
typedef struct lz_norm_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_norm_options));
    /* also infinity (largest magnitude), -infinity (smallest), 0 (how many are not 0) */
    double ord LZ_DEFAULT(2);
    lz_dims dims LZ_DEFAULT({});              /* default all */
    bool keepdim LZ_DEFAULT(false);           /* reduced dimensions stay with extent 1 */
    lz_dtype dtype LZ_DEFAULT(LZ_DTYPE_NONE); /* x is converted to it first */
} lz_norm_options;
#define LZ_NORM_DEFAULTS .ord = 2
/* (sum |x|^ord)^(1/ord), real also of complex numbers. The gradient is 0 where the norm is 0. ord
 * is part of the program. */
LZ_API lz_tensor *lz_linalg_vector_norm_at(lz_tensor *x, const lz_norm_options *o,
                                           const lz_site *site);
/* Every slice along dim whose p-norm is above maxnorm is scaled down to it. p > 0, maxnorm >= 0,
 * rank 2 or more. */
LZ_API lz_tensor *lz_renorm_at(lz_tensor *x, double p, int64_t dim, double maxnorm,
                               const lz_site *site);
/* p-norm of a - b, broadcast; rank 0, real */
LZ_API lz_tensor *lz_dist_at(lz_tensor *a, lz_tensor *b, double p, const lz_site *site);
/* p-norms of the differences of rows: [.., P, M], [.., R, M] -> [.., P, R], other dimensions
 * broadcast. p >= 0. */
LZ_API lz_tensor *lz_cdist_at(lz_tensor *a, lz_tensor *b, double p, const lz_site *site);
/* rows of [N, M] with those after them: [N (N - 1) / 2] */
LZ_API lz_tensor *lz_pdist_at(lz_tensor *x, double p, const lz_site *site);
/* Along dim: sum(a b) / (max(|a|, eps) max(|b|, eps)); a and b broadcast. ATen's eps: 1e-8.
 * LZ_EDTYPE: complex numbers. */
LZ_API lz_tensor *lz_cosine_similarity_at(lz_tensor *a, lz_tensor *b, int64_t dim, double eps,
                                          const lz_site *site);

/* ---- histograms ---- */
/* How many elements fall into each of `bins` equal parts of [min, max], in x's dtype; equal bounds:
 * those of x. Others and NaN are not counted. */
LZ_API lz_tensor *lz_histc_at(lz_tensor *x, int64_t bins, double min, double max,
                              const lz_site *site);
/* How often each value 0..size-1 occurs in x (integers, rank 1): i64, or the sum of their weights
 * (floats as they are, others as f64). Others are not counted. */
LZ_API lz_tensor *lz_bincount_at(lz_tensor *x, lz_tensor *weights, int64_t size,
                                 const lz_site *site);

#define lz_std(...) LZ_ARGS_std(__VA_ARGS__, )
#define LZ_ARGS_std(x, ...)                                                                        \
    LZ_OVERRIDING(                                                                                 \
        lz_std_at(x, LZ_DEFAULTED(lz_reduce_options, LZ_VARIANCE_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define lz_var_mean(...) LZ_ARGS_var_mean(__VA_ARGS__, )
#define LZ_ARGS_var_mean(x, mean, ...)                                                             \
    LZ_OVERRIDING(lz_var_mean_at(                                                                  \
        x, mean, LZ_DEFAULTED(lz_reduce_options, LZ_VARIANCE_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define lz_std_mean(...) LZ_ARGS_std_mean(__VA_ARGS__, )
#define LZ_ARGS_std_mean(x, mean, ...)                                                             \
    LZ_OVERRIDING(lz_std_mean_at(                                                                  \
        x, mean, LZ_DEFAULTED(lz_reduce_options, LZ_VARIANCE_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define lz_aminmax(...) LZ_ARGS_aminmax(__VA_ARGS__, )
#define LZ_ARGS_aminmax(x, max, ...) lz_aminmax_at(x, max, LZ_REDUCE_OPTIONS(__VA_ARGS__), LZ_SITE)
#define lz_max_dim(x, dim, keepdim, indices) lz_max_dim_at(x, dim, keepdim, indices, LZ_SITE)
#define lz_min_dim(x, dim, keepdim, indices) lz_min_dim_at(x, dim, keepdim, indices, LZ_SITE)
#define lz_count_nonzero(...) LZ_ARGS_count_nonzero(__VA_ARGS__, )
#define LZ_ARGS_count_nonzero(x, ...)                                                              \
    lz_count_nonzero_at(x, LZ_REDUCE_OPTIONS(__VA_ARGS__), LZ_SITE)
#define lz_nansum(...) LZ_ARGS_nansum(__VA_ARGS__, )
#define LZ_ARGS_nansum(x, ...) lz_nansum_at(x, LZ_REDUCE_OPTIONS(__VA_ARGS__), LZ_SITE)
#define lz_nanmean(...) LZ_ARGS_nanmean(__VA_ARGS__, )
#define LZ_ARGS_nanmean(x, ...) lz_nanmean_at(x, LZ_REDUCE_OPTIONS(__VA_ARGS__), LZ_SITE)
#define lz_trace(x) lz_trace_at(x, LZ_SITE)
#define lz_linalg_vector_norm(...) LZ_ARGS_linalg_vector_norm(__VA_ARGS__, )
#define LZ_ARGS_linalg_vector_norm(x, ...)                                                         \
    LZ_OVERRIDING(lz_linalg_vector_norm_at(                                                        \
        x, LZ_DEFAULTED(lz_norm_options, LZ_NORM_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define lz_norm lz_linalg_vector_norm
#define lz_renorm(x, p, dim, maxnorm) lz_renorm_at(x, p, dim, maxnorm, LZ_SITE)
#define lz_dist(a, b, p) lz_dist_at(a, b, p, LZ_SITE)
#define lz_cdist(a, b, p) lz_cdist_at(a, b, p, LZ_SITE)
#define lz_pdist(x, p) lz_pdist_at(x, p, LZ_SITE)
#define lz_cosine_similarity(a, b, dim, eps) lz_cosine_similarity_at(a, b, dim, eps, LZ_SITE)
#define lz_histc(x, bins, min, max) lz_histc_at(x, bins, min, max, LZ_SITE)
#define lz_bincount(x, weights, size) lz_bincount_at(x, weights, size, LZ_SITE)
LZ_EXTERN_C_END
#endif
