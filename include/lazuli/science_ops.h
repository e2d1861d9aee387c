/* science_ops.h - what programs of scientists need beside the rest: covariances, differences and
 * integrals of sampled functions, linear interpolation, membership. Names, defaults and results are
 * torch's, of lz_interp NumPy's. "floats": integers and booleans are converted to f32 first; 16-bit
 * floats are computed in f32 and rounded once. A tensor that is "may be NULL" is left out then.
 * Errors of all, as an error tensor: LZ_ENULL, LZ_ESHAPE, LZ_EDTYPE, LZ_EINVAL, LZ_ERANGE, LZ_EMEM.
 * Implemented in: ops/science/covariance.c, ops/science/series.c, ops/science/membership.c,
 *   ops/science/science.c. */
#ifndef LAZULI_SCIENCE_OPS_H
#define LAZULI_SCIENCE_OPS_H
#include <lazuli/tensor_ops.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* ---- covariances ---- */
typedef struct lz_cov_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_cov_options));
    double correction LZ_DEFAULT(1); /* the divisor is the number of observations less this */
    /* [observations]: how often each was made; integers (LZ_EDTYPE). May be NULL */
    lz_tensor *fweights LZ_DEFAULT(nullptr);
    /* [observations]: how much each counts; floats. May be NULL */
    lz_tensor *aweights LZ_DEFAULT(nullptr);
} lz_cov_options;
#define LZ_COV_DEFAULTS .correction = 1
/* Covariances of x[variables, observations]: [variables, variables]; of one row of observations
 * its variance, rank 0. Floats and complex numbers: sum over k of w[k] (x[i, k] - mean[i])
 * conj(x[j, k] - mean[j]) / (sum w - correction), a divisor below 0 counting as 0; with aweights
 * the correction is times sum(w aweights) / sum(w). The number is a run-time argument. Rank 3 and
 * more: LZ_ESHAPE. */
LZ_API lz_tensor *lz_cov_at(lz_tensor *x, const lz_cov_options *o, const lz_site *site);
/* Pearson's correlations: covariances over the deviations of both rows, real and imaginary parts
 * clipped to [-1, 1]; NaN for a row of equal values. */
LZ_API lz_tensor *lz_corrcoef_at(lz_tensor *x, const lz_site *site);

/* ---- sampled functions ---- */
typedef struct lz_diff_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_diff_options));
    int64_t n LZ_DEFAULT(1);    /* how often; 0: x as it is */
    int64_t dim LZ_DEFAULT(-1); /* the dimension along which neighbours are subtracted */
    /* x's shape but for dim, joined to x before; may be NULL */
    lz_tensor *prepend LZ_DEFAULT(nullptr);
    lz_tensor *append LZ_DEFAULT(nullptr); /* the same behind x */
} lz_diff_options;
#define LZ_DIFF_DEFAULTS .n = 1, .dim = -1
/* x[i + 1] - x[i] along dim, n times: the extent is n less, or 0. Any dtype; of booleans whether
 * they differ. Rank 1 or more (LZ_ESHAPE). */
LZ_API lz_tensor *lz_diff_at(lz_tensor *x, const lz_diff_options *o, const lz_site *site);
/* The integral along dim by trapezoids: the sum of (y[i] + y[i + 1]) / 2 times the distance of
 * the points: of x, a vector of y's extent or of a shape that broadcasts to y's; x NULL: dx, a
 * run-time argument. 0 for less than two points. Floats and complex numbers. */
LZ_API lz_tensor *lz_trapezoid_at(lz_tensor *y, lz_tensor *x, double dx, int64_t dim,
                                  const lz_site *site);
/* The same up to each point but the first one: the extent of dim is one less. */
LZ_API lz_tensor *lz_cumulative_trapezoid_at(lz_tensor *y, lz_tensor *x, double dx, int64_t dim,
                                             const lz_site *site);
typedef struct lz_interp_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_interp_options));
    lz_tensor *left LZ_DEFAULT(nullptr);  /* rank 0: the value below xp[0]; NULL: fp[0] */
    lz_tensor *right LZ_DEFAULT(nullptr); /* the value above the last xp; NULL: the last fp */
    /* > 0: x and xp are taken modulo this, xp is sorted, left and right do not count; 0: none */
    double period LZ_DEFAULT(0);
} lz_interp_options;
/* For each x, of any shape, the value of the function through the points xp[n] (ascending), fp[n],
 * n >= 1 (LZ_ESHAPE), which is linear between them. Floats of the wider dtype of all; fp may be
 * complex. NaN for an x that is NaN; at a point its fp. Gradients by x, xp and fp; at a point those
 * of the piece that begins there. O(m log n). Source: numpy.interp. */
LZ_API lz_tensor *lz_interp_at(lz_tensor *x, lz_tensor *xp, lz_tensor *fp,
                               const lz_interp_options *o, const lz_site *site);

/* ---- membership ---- */
/* Boolean, of the shape of elements: whether each is one of test_elements (any shape), or is none
 * of them (invert). NaN is in nothing. dtypes promote; no complex numbers. O((n + m) log m). */
LZ_API lz_tensor *lz_isin_at(lz_tensor *elements, lz_tensor *test_elements, bool invert,
                             const lz_site *site);
typedef struct lz_searchsorted_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_searchsorted_options));
    bool right LZ_DEFAULT(false); /* behind equal elements, not before them */
    /* "left" or "right", which must not contradict `right`; NULL: as that says */
    const char *side LZ_DEFAULT(nullptr);
    /* i64 (or i32) of the shape of `sorted`, the order that sorts its rows: lz_argsort; NULL: they
     * are sorted */
    lz_tensor *sorter LZ_DEFAULT(nullptr);
    bool out_int32 LZ_DEFAULT(false); /* the result is i32, not i64 */
} lz_searchsorted_options;
/* As lz_searchsorted (order.h), with all options of torch.searchsorted. */
LZ_API lz_tensor *lz_searchsorted_with_at(lz_tensor *sorted, lz_tensor *values,
                                          const lz_searchsorted_options *o, const lz_site *site);

#define lz_cov(...) LZ_ARGS_cov(__VA_ARGS__, )
#define LZ_ARGS_cov(x, ...)                                                                        \
    LZ_OVERRIDING(lz_cov_at(x, LZ_DEFAULTED(lz_cov_options, LZ_COV_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define lz_corrcoef(x) lz_corrcoef_at(x, LZ_SITE)
#define lz_diff(...) LZ_ARGS_diff(__VA_ARGS__, )
#define LZ_ARGS_diff(x, ...)                                                                       \
    LZ_OVERRIDING(                                                                                 \
        lz_diff_at(x, LZ_DEFAULTED(lz_diff_options, LZ_DIFF_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define lz_trapezoid(y, x, dx, dim) lz_trapezoid_at(y, x, dx, dim, LZ_SITE)
#define lz_cumulative_trapezoid(y, x, dx, dim) lz_cumulative_trapezoid_at(y, x, dx, dim, LZ_SITE)
#define lz_interp(...) LZ_ARGS_interp(__VA_ARGS__, )
#define LZ_ARGS_interp(x, xp, fp, ...)                                                             \
    lz_interp_at(x, xp, fp, LZ_OPTIONS_OF(lz_interp_options, __VA_ARGS__), LZ_SITE)
#define lz_isin(elements, test_elements, invert)                                                   \
    lz_isin_at(elements, test_elements, invert, LZ_SITE)
#define lz_searchsorted_with(...) LZ_ARGS_searchsorted_with(__VA_ARGS__, )
#define LZ_ARGS_searchsorted_with(sorted, values, ...)                                             \
    lz_searchsorted_with_at(sorted, values, LZ_OPTIONS_OF(lz_searchsorted_options, __VA_ARGS__),   \
                            LZ_SITE)
LZ_EXTERN_C_END
#endif
