/* window_ops.h - convolutions, pooling, cumulative sums. Names, layouts, defaults and results are
 * ATen's: x is [batch, channels, spatial..], or [channels, spatial..] for one example. dtypes
 * promote; 16-bit floats accumulate in f32.
 * Lists have an entry per spatial dimension. In strides, dilations and kernel sizes an entry of 0
 * repeats the one before it, so .stride = {2} is 2 everywhere; in paddings it is 0. Errors: as in
 * tensor_ops.h. Source: the ATen function of the name.
 * Implemented in: ops/convolution.c, ops/pooling.c, ops/adaptive_pooling.c, ops/cumulative.c. */
#ifndef LAZULI_WINDOW_OPS_H
#define LAZULI_WINDOW_OPS_H
#include <lazuli/tensor_ops.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* ---- convolutions ---- */
typedef struct lz_conv_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_conv_options));
    int64_t stride[3] LZ_DEFAULT({});   /* default 1 */
    int64_t padding[3] LZ_DEFAULT({});  /* zeros on both sides */
    int64_t dilation[3] LZ_DEFAULT({}); /* between the elements of the kernel; default 1 */
    /* transposed: more on one side of the result; smaller than stride or dilation */
    int64_t output_padding[3] LZ_DEFAULT({});
    int64_t groups LZ_DEFAULT(0); /* default 1 */
} lz_conv_options;
#define LZ_CONV_OPTIONS(...) LZ_OPTIONS_OF(lz_conv_options, __VA_ARGS__)
/* x * weight[out, in / groups, k] + bias[out]; bias may be NULL. The extent becomes (n + 2 padding
 * - dilation (k - 1) - 1) / stride + 1. LZ_ESHAPE: the kernel is larger than the padded input. */
LZ_API lz_tensor *lz_conv1d_at(lz_tensor *x, lz_tensor *weight, lz_tensor *bias,
                               const lz_conv_options *o, const lz_site *site);
/* As lz_conv1d over two dimensions: weight[out, in / groups, kh, kw]. */
LZ_API lz_tensor *lz_conv2d_at(lz_tensor *x, lz_tensor *weight, lz_tensor *bias,
                               const lz_conv_options *o, const lz_site *site);
/* As lz_conv1d over three dimensions: weight[out, in / groups, kd, kh, kw]. */
LZ_API lz_tensor *lz_conv3d_at(lz_tensor *x, lz_tensor *weight, lz_tensor *bias,
                               const lz_conv_options *o, const lz_site *site);
/* The gradient of a convolution as a function: weight is [in, out / groups, k]. The extent becomes
 * (n - 1) stride - 2 padding + dilation (k - 1) + output_padding + 1. LZ_ESHAPE: that is < 1. */
LZ_API lz_tensor *lz_conv_transpose1d_at(lz_tensor *x, lz_tensor *weight, lz_tensor *bias,
                                         const lz_conv_options *o, const lz_site *site);
/* As lz_conv_transpose1d over two dimensions: weight[in, out / groups, kh, kw]. */
LZ_API lz_tensor *lz_conv_transpose2d_at(lz_tensor *x, lz_tensor *weight, lz_tensor *bias,
                                         const lz_conv_options *o, const lz_site *site);
/* As lz_conv_transpose1d over three dimensions: weight[in, out / groups, kd, kh, kw]. */
LZ_API lz_tensor *lz_conv_transpose3d_at(lz_tensor *x, lz_tensor *weight, lz_tensor *bias,
                                         const lz_conv_options *o, const lz_site *site);

/* ---- pooling ---- */
typedef struct lz_pool_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_pool_options));
    int64_t kernel_size[3] LZ_DEFAULT({}); /* needed */
    int64_t stride[3] LZ_DEFAULT({});      /* default: kernel_size */
    int64_t padding[3] LZ_DEFAULT({});     /* at most half of kernel_size */
    int64_t dilation[3] LZ_DEFAULT({});    /* of maxima only; default 1 */
    /* windows that begin inside but end outside count, too */
    bool ceil_mode LZ_DEFAULT(false);
    bool count_include_pad LZ_DEFAULT(true); /* of averages: padding counts as elements */
    /* of averages: divide by this instead of the number of elements; 0: do not */
    int64_t divisor_override LZ_DEFAULT(0);
} lz_pool_options;
#define LZ_POOL_DEFAULTS .count_include_pad = true
#define LZ_POOL_OPTIONS(...) LZ_DEFAULTED(lz_pool_options, LZ_POOL_DEFAULTS, __VA_ARGS__)
/* The largest of each window; NaN if any is. *indices (may be NULL): i64, its row-major position
 * among the spatial dimensions; the first of equal ones, the last NaN. The gradient goes to the
 * first of equal ones. */
LZ_API lz_tensor *lz_max_pool1d_at(lz_tensor *x, const lz_pool_options *o, const lz_site *site);
LZ_API lz_tensor *lz_max_pool2d_at(lz_tensor *x, const lz_pool_options *o, const lz_site *site);
LZ_API lz_tensor *lz_max_pool3d_at(lz_tensor *x, const lz_pool_options *o, const lz_site *site);
LZ_API lz_tensor *lz_max_pool1d_with_indices_at(lz_tensor *x, const lz_pool_options *o,
                                                lz_tensor **indices, const lz_site *site);
LZ_API lz_tensor *lz_max_pool2d_with_indices_at(lz_tensor *x, const lz_pool_options *o,
                                                lz_tensor **indices, const lz_site *site);
LZ_API lz_tensor *lz_max_pool3d_with_indices_at(lz_tensor *x, const lz_pool_options *o,
                                                lz_tensor **indices, const lz_site *site);
/* Floats: the mean of each window. */
LZ_API lz_tensor *lz_avg_pool1d_at(lz_tensor *x, const lz_pool_options *o, const lz_site *site);
LZ_API lz_tensor *lz_avg_pool2d_at(lz_tensor *x, const lz_pool_options *o, const lz_site *site);
LZ_API lz_tensor *lz_avg_pool3d_at(lz_tensor *x, const lz_pool_options *o, const lz_site *site);
/* Windows of nearly equal size, such that the result has output_size (-1 keeps an extent): window i
 * begins at floor(i n / size) and ends before ceil((i + 1) n / size). */
LZ_API lz_tensor *lz_adaptive_avg_pool1d_at(lz_tensor *x, int64_t output_size, const lz_site *site);
LZ_API lz_tensor *lz_adaptive_avg_pool2d_at(lz_tensor *x, lz_shape output_size,
                                            const lz_site *site);
LZ_API lz_tensor *lz_adaptive_avg_pool3d_at(lz_tensor *x, lz_shape output_size,
                                            const lz_site *site);
LZ_API lz_tensor *lz_adaptive_max_pool1d_at(lz_tensor *x, int64_t output_size, lz_tensor **indices,
                                            const lz_site *site);
LZ_API lz_tensor *lz_adaptive_max_pool2d_at(lz_tensor *x, lz_shape output_size, lz_tensor **indices,
                                            const lz_site *site);
LZ_API lz_tensor *lz_adaptive_max_pool3d_at(lz_tensor *x, lz_shape output_size, lz_tensor **indices,
                                            const lz_site *site);
/* x's elements at their indices (as max_pool gives them; i32 or i64, of x's shape) among spatial
 * dimensions of output_size, zeros elsewhere. Of several at one place the last counts, those
 * outside go nowhere. */
LZ_API lz_tensor *lz_max_unpool1d_at(lz_tensor *x, lz_tensor *indices, lz_shape output_size,
                                     const lz_site *site);
LZ_API lz_tensor *lz_max_unpool2d_at(lz_tensor *x, lz_tensor *indices, lz_shape output_size,
                                     const lz_site *site);
LZ_API lz_tensor *lz_max_unpool3d_at(lz_tensor *x, lz_tensor *indices, lz_shape output_size,
                                     const lz_site *site);

/* ---- along a dimension, each element with all before it ---- */
/* Sum of each element and all before it along dim. Integers and booleans give i64. */
LZ_API lz_tensor *lz_cumsum_at(lz_tensor *x, int64_t dim, const lz_site *site);
/* Product of each element and all before it along dim. Integers and booleans give i64. */
LZ_API lz_tensor *lz_cumprod_at(lz_tensor *x, int64_t dim, const lz_site *site);
/* log(cumsum(exp(x))) along dim, without overflow. Floats. */
LZ_API lz_tensor *lz_logcumsumexp_at(lz_tensor *x, int64_t dim, const lz_site *site);
/* The largest element so far along dim, NaN from the first NaN on; *indices (may be NULL): i64,
 * where it is, the last of equal ones. */
LZ_API lz_tensor *lz_cummax_at(lz_tensor *x, int64_t dim, lz_tensor **indices, const lz_site *site);
/* The smallest element so far along dim, NaN from the first NaN on; *indices (may be NULL): i64,
 * where it is, the last of equal ones. */
LZ_API lz_tensor *lz_cummin_at(lz_tensor *x, int64_t dim, lz_tensor **indices, const lz_site *site);

#define lz_conv1d(...) LZ_ARGS_conv1d(__VA_ARGS__, )
#define LZ_ARGS_conv1d(x, w, b, ...) lz_conv1d_at(x, w, b, LZ_CONV_OPTIONS(__VA_ARGS__), LZ_SITE)
#define lz_conv2d(...) LZ_ARGS_conv2d(__VA_ARGS__, )
#define LZ_ARGS_conv2d(x, w, b, ...) lz_conv2d_at(x, w, b, LZ_CONV_OPTIONS(__VA_ARGS__), LZ_SITE)
#define lz_conv3d(...) LZ_ARGS_conv3d(__VA_ARGS__, )
#define LZ_ARGS_conv3d(x, w, b, ...) lz_conv3d_at(x, w, b, LZ_CONV_OPTIONS(__VA_ARGS__), LZ_SITE)
#define lz_conv_transpose1d(...) LZ_ARGS_conv_transpose1d(__VA_ARGS__, )
#define LZ_ARGS_conv_transpose1d(x, w, b, ...)                                                     \
    lz_conv_transpose1d_at(x, w, b, LZ_CONV_OPTIONS(__VA_ARGS__), LZ_SITE)
#define lz_conv_transpose2d(...) LZ_ARGS_conv_transpose2d(__VA_ARGS__, )
#define LZ_ARGS_conv_transpose2d(x, w, b, ...)                                                     \
    lz_conv_transpose2d_at(x, w, b, LZ_CONV_OPTIONS(__VA_ARGS__), LZ_SITE)
#define lz_conv_transpose3d(...) LZ_ARGS_conv_transpose3d(__VA_ARGS__, )
#define LZ_ARGS_conv_transpose3d(x, w, b, ...)                                                     \
    lz_conv_transpose3d_at(x, w, b, LZ_CONV_OPTIONS(__VA_ARGS__), LZ_SITE)
#define lz_max_pool1d(...) LZ_ARGS_max_pool1d(__VA_ARGS__, )
#define LZ_ARGS_max_pool1d(x, ...)                                                                 \
    LZ_OVERRIDING(lz_max_pool1d_at(x, LZ_POOL_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_max_pool2d(...) LZ_ARGS_max_pool2d(__VA_ARGS__, )
#define LZ_ARGS_max_pool2d(x, ...)                                                                 \
    LZ_OVERRIDING(lz_max_pool2d_at(x, LZ_POOL_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_max_pool3d(...) LZ_ARGS_max_pool3d(__VA_ARGS__, )
#define LZ_ARGS_max_pool3d(x, ...)                                                                 \
    LZ_OVERRIDING(lz_max_pool3d_at(x, LZ_POOL_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_max_pool1d_with_indices(...) LZ_ARGS_max_pool1d_with_indices(__VA_ARGS__, )
#define LZ_ARGS_max_pool1d_with_indices(x, indices, ...)                                           \
    LZ_OVERRIDING(lz_max_pool1d_with_indices_at(x, LZ_POOL_OPTIONS(__VA_ARGS__), indices, LZ_SITE))
#define lz_max_pool2d_with_indices(...) LZ_ARGS_max_pool2d_with_indices(__VA_ARGS__, )
#define LZ_ARGS_max_pool2d_with_indices(x, indices, ...)                                           \
    LZ_OVERRIDING(lz_max_pool2d_with_indices_at(x, LZ_POOL_OPTIONS(__VA_ARGS__), indices, LZ_SITE))
#define lz_max_pool3d_with_indices(...) LZ_ARGS_max_pool3d_with_indices(__VA_ARGS__, )
#define LZ_ARGS_max_pool3d_with_indices(x, indices, ...)                                           \
    LZ_OVERRIDING(lz_max_pool3d_with_indices_at(x, LZ_POOL_OPTIONS(__VA_ARGS__), indices, LZ_SITE))
#define lz_avg_pool1d(...) LZ_ARGS_avg_pool1d(__VA_ARGS__, )
#define LZ_ARGS_avg_pool1d(x, ...)                                                                 \
    LZ_OVERRIDING(lz_avg_pool1d_at(x, LZ_POOL_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_avg_pool2d(...) LZ_ARGS_avg_pool2d(__VA_ARGS__, )
#define LZ_ARGS_avg_pool2d(x, ...)                                                                 \
    LZ_OVERRIDING(lz_avg_pool2d_at(x, LZ_POOL_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_avg_pool3d(...) LZ_ARGS_avg_pool3d(__VA_ARGS__, )
#define LZ_ARGS_avg_pool3d(x, ...)                                                                 \
    LZ_OVERRIDING(lz_avg_pool3d_at(x, LZ_POOL_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_adaptive_avg_pool1d(x, size) lz_adaptive_avg_pool1d_at(x, size, LZ_SITE)
#define lz_adaptive_avg_pool2d(x, ...) lz_adaptive_avg_pool2d_at(x, LZ_SHAPE(__VA_ARGS__), LZ_SITE)
#define lz_adaptive_avg_pool3d(x, ...) lz_adaptive_avg_pool3d_at(x, LZ_SHAPE(__VA_ARGS__), LZ_SITE)
#define lz_adaptive_max_pool1d(x, indices, size)                                                   \
    lz_adaptive_max_pool1d_at(x, size, indices, LZ_SITE)
#define lz_adaptive_max_pool2d(x, indices, ...)                                                    \
    lz_adaptive_max_pool2d_at(x, LZ_SHAPE(__VA_ARGS__), indices, LZ_SITE)
#define lz_adaptive_max_pool3d(x, indices, ...)                                                    \
    lz_adaptive_max_pool3d_at(x, LZ_SHAPE(__VA_ARGS__), indices, LZ_SITE)
#define lz_max_unpool1d(x, indices, ...)                                                           \
    lz_max_unpool1d_at(x, indices, LZ_SHAPE(__VA_ARGS__), LZ_SITE)
#define lz_max_unpool2d(x, indices, ...)                                                           \
    lz_max_unpool2d_at(x, indices, LZ_SHAPE(__VA_ARGS__), LZ_SITE)
#define lz_max_unpool3d(x, indices, ...)                                                           \
    lz_max_unpool3d_at(x, indices, LZ_SHAPE(__VA_ARGS__), LZ_SITE)
#define lz_cumsum(x, dim) lz_cumsum_at(x, dim, LZ_SITE)
#define lz_cumprod(x, dim) lz_cumprod_at(x, dim, LZ_SITE)
#define lz_logcumsumexp(x, dim) lz_logcumsumexp_at(x, dim, LZ_SITE)
#define lz_cummax(x, dim, indices) lz_cummax_at(x, dim, indices, LZ_SITE)
#define lz_cummin(x, dim, indices) lz_cummin_at(x, dim, indices, LZ_SITE)
LZ_EXTERN_C_END
#endif
