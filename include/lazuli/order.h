/* order.h - sorting and selection: sorted values, top-k, medians, quantiles, positions in sorted
 * sequences; and results of data-dependent size, up to a bound given by the program. Names,
 * argument order and results are ATen's, the bounds are JAX's.
 * Order: NaN is the largest, -0 equals 0, false is below true; complex numbers have none
 * (LZ_EDTYPE). Everything is stable: of equal elements the earlier one comes first. Indices are
 * i64. Where a function gives more than one tensor, the others are written to pointers, each of
 * which may be NULL, as handles of the innermost scope; on failure they are error tensors. A scalar
 * counts as a row of one element. Gradients go to the elements that were taken.
 * Errors: as in tensor_ops.h.
 * Implemented in: ops/ordering.c, ops/bounded_size.c. */
#ifndef LAZULI_ORDER_H
#define LAZULI_ORDER_H
#include <lazuli/tensor_ops.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* ---- sorting ---- */
/* x sorted along dim, stably; *indices (may be NULL): i64, where each element was. */
LZ_API lz_tensor *lz_sort_at(lz_tensor *x, int64_t dim, bool descending, lz_tensor **indices,
                             const lz_site *site);
/* The indices, i64, that sort x along dim, stably. */
LZ_API lz_tensor *lz_argsort_at(lz_tensor *x, int64_t dim, bool descending, const lz_site *site);
/* x sorted along dimension 0, ascending. */
LZ_API lz_tensor *lz_msort_at(lz_tensor *x, const lz_site *site);
/* The k largest (or smallest) along dim, best first. 0 <= k <= extent (LZ_ERANGE). ATen's `sorted`
 * has no counterpart: they are. */
LZ_API lz_tensor *lz_topk_at(lz_tensor *x, int64_t k, int64_t dim, bool largest,
                             lz_tensor **indices, const lz_site *site);
/* The k-th smallest along dim, 1 <= k <= extent (LZ_ERANGE); dim goes, or stays with extent 1. */
LZ_API lz_tensor *lz_kthvalue_at(lz_tensor *x, int64_t k, int64_t dim, bool keepdim,
                                 lz_tensor **indices, const lz_site *site);

/* ---- in the middle ---- */
/* The lower one of the two middle elements. With a NaN in the row: NaN, the first one; nanmedian
 * leaves NaN out, and is NaN where nothing is left. Empty rows are LZ_ESHAPE. dim LZ_ALL_DIMS: of
 * all elements, as one row (ATen's median without dim; indices then count in row-major order). */
LZ_API lz_tensor *lz_median_at(lz_tensor *x, int64_t dim, bool keepdim, lz_tensor **indices,
                               const lz_site *site);
LZ_API lz_tensor *lz_nanmedian_at(lz_tensor *x, int64_t dim, bool keepdim, lz_tensor **indices,
                                  const lz_site *site);
/* The value that occurs most often along dim, the smallest of several; NaN equals nothing. The
 * index is that of its last occurrence. */
LZ_API lz_tensor *lz_mode_at(lz_tensor *x, int64_t dim, bool keepdim, lz_tensor **indices,
                             const lz_site *site);
typedef struct lz_quantile_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_quantile_options));
    int64_t dim LZ_DEFAULT(LZ_ALL_DIMS); /* the reduced dimension; LZ_ALL_DIMS: x as one row */
    bool keepdim LZ_DEFAULT(false);      /* dim stays with extent 1 */
    /* "linear", "lower", "higher", "midpoint", "nearest" */
    const char *interpolation LZ_DEFAULT("linear");
} lz_quantile_options;
#define LZ_QUANTILE_DEFAULTS .dim = LZ_ALL_DIMS, .interpolation = "linear"
/* Floats only, q in [0, 1] (LZ_EINVAL; a tensor of q is clamped, NaN counts as 0): the element at q
 * (n - 1) of the sorted row, interpolated between its neighbours. With a NaN in the row: NaN;
 * nanquantile leaves NaN out. q of rank 1 gives one more dimension, in front. The number is a
 * run-time argument. */
LZ_API lz_tensor *lz_quantile_at(lz_tensor *x, double q, const lz_quantile_options *o,
                                 const lz_site *site);
LZ_API lz_tensor *lz_nanquantile_at(lz_tensor *x, double q, const lz_quantile_options *o,
                                    const lz_site *site);
LZ_API lz_tensor *lz_quantile_tensor_at(lz_tensor *x, lz_tensor *q, const lz_quantile_options *o,
                                        const lz_site *site);
LZ_API lz_tensor *lz_nanquantile_tensor_at(lz_tensor *x, lz_tensor *q, const lz_quantile_options *o,
                                           const lz_site *site);

/* ---- positions in sorted sequences ---- */
/* How many elements of the ascending row are below each value (`right`: not above it). sorted[n]
 * with values of any shape, or sorted[.., n] with values[.., m] of the same leading extents. dtypes
 * promote. O(m log n). */
LZ_API lz_tensor *lz_searchsorted_at(lz_tensor *sorted, lz_tensor *values, bool right,
                                     const lz_site *site);
/* lz_searchsorted(boundaries, x); boundaries has rank 1. */
LZ_API lz_tensor *lz_bucketize_at(lz_tensor *x, lz_tensor *boundaries, bool right,
                                  const lz_site *site);

/* ---- as many as there are, up to a bound: the shape does not depend on values ---- */
/* For size: exactly as many as there are, as in ATen. The count is read, which executes what is
 * pending for it and waits (counter MaterializedSizes), and every other count is another program.
 * Not in what is recorded to run later (loops, branches, lz_function_trace): reading there is an
 * error. */
#define LZ_EXACT_SIZE (-1)
typedef struct lz_size_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_size_options));
    /* rows of the result; 0: as many as there can be. What is more is left out. LZ_EXACT_SIZE */
    int64_t size LZ_DEFAULT(0);
    double fill LZ_DEFAULT(0);          /* in rows that are not there */
    lz_tensor **count LZ_DEFAULT(NULL); /* how many there are, also beyond size: i64, rank 0 */
} lz_size_options;
/* i64[size, rank]: indices of the elements that are not 0, in row-major order */
LZ_API lz_tensor *lz_nonzero_at(lz_tensor *x, const lz_size_options *o, const lz_site *site);
/* [size]: x where the boolean mask is true; both broadcast. */
LZ_API lz_tensor *lz_masked_select_at(lz_tensor *x, lz_tensor *mask, const lz_size_options *o,
                                      const lz_site *site);
typedef struct lz_unique_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_unique_options));
    int64_t size LZ_DEFAULT(0); /* as above */
    /* i64, of x's shape: which of the values each element is */
    lz_tensor **inverse LZ_DEFAULT(NULL);
    /* i64[size]: how often each occurs; 0 in rows that are not there */
    lz_tensor **counts LZ_DEFAULT(NULL);
    lz_tensor **count LZ_DEFAULT(NULL); /* how many there are: i64, rank 0 */
} lz_unique_options;
/* The different elements of x, ascending: [size]. All NaN are one (ATen: each its own). Rows that
 * are not there repeat the smallest. */
LZ_API lz_tensor *lz_unique_at(lz_tensor *x, const lz_unique_options *o, const lz_site *site);

#define lz_sort(x, dim, descending, indices) lz_sort_at(x, dim, descending, indices, LZ_SITE)
#define lz_argsort(x, dim, descending) lz_argsort_at(x, dim, descending, LZ_SITE)
#define lz_msort(x) lz_msort_at(x, LZ_SITE)
#define lz_topk(x, k, dim, largest, indices) lz_topk_at(x, k, dim, largest, indices, LZ_SITE)
#define lz_kthvalue(x, k, dim, keepdim, indices)                                                   \
    lz_kthvalue_at(x, k, dim, keepdim, indices, LZ_SITE)
#define lz_median(x, dim, keepdim, indices) lz_median_at(x, dim, keepdim, indices, LZ_SITE)
#define lz_nanmedian(x, dim, keepdim, indices) lz_nanmedian_at(x, dim, keepdim, indices, LZ_SITE)
#define lz_mode(x, dim, keepdim, indices) lz_mode_at(x, dim, keepdim, indices, LZ_SITE)
#define LZ_QUANTILE_OPTIONS(...)                                                                   \
    LZ_DEFAULTED(lz_quantile_options, LZ_QUANTILE_DEFAULTS, __VA_ARGS__)
#define lz_quantile(...) LZ_ARGS_quantile(__VA_ARGS__, )
#define LZ_ARGS_quantile(x, q, ...)                                                                \
    LZ_OVERRIDING(lz_quantile_at(x, q, LZ_QUANTILE_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_nanquantile(...) LZ_ARGS_nanquantile(__VA_ARGS__, )
#define LZ_ARGS_nanquantile(x, q, ...)                                                             \
    LZ_OVERRIDING(lz_nanquantile_at(x, q, LZ_QUANTILE_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_quantile_tensor(...) LZ_ARGS_quantile_tensor(__VA_ARGS__, )
#define LZ_ARGS_quantile_tensor(x, q, ...)                                                         \
    LZ_OVERRIDING(lz_quantile_tensor_at(x, q, LZ_QUANTILE_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_nanquantile_tensor(...) LZ_ARGS_nanquantile_tensor(__VA_ARGS__, )
#define LZ_ARGS_nanquantile_tensor(x, q, ...)                                                      \
    LZ_OVERRIDING(lz_nanquantile_tensor_at(x, q, LZ_QUANTILE_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_searchsorted(sorted, values, right) lz_searchsorted_at(sorted, values, right, LZ_SITE)
#define lz_bucketize(x, boundaries, right) lz_bucketize_at(x, boundaries, right, LZ_SITE)
#define lz_nonzero(...) LZ_ARGS_nonzero(__VA_ARGS__, )
#define LZ_ARGS_nonzero(x, ...)                                                                    \
    lz_nonzero_at(x, LZ_OPTIONS_OF(lz_size_options, __VA_ARGS__), LZ_SITE)
#define lz_masked_select(...) LZ_ARGS_masked_select(__VA_ARGS__, )
#define LZ_ARGS_masked_select(x, mask, ...)                                                        \
    lz_masked_select_at(x, mask, LZ_OPTIONS_OF(lz_size_options, __VA_ARGS__), LZ_SITE)
#define lz_unique(...) LZ_ARGS_unique(__VA_ARGS__, )
#define LZ_ARGS_unique(x, ...)                                                                     \
    lz_unique_at(x, LZ_OPTIONS_OF(lz_unique_options, __VA_ARGS__), LZ_SITE)
LZ_EXTERN_C_END
#endif
