/* image_ops.h - resizing, sampling, padding and windows of images: x is [N, C, spatial..] (padding
 * and shuffling: any leading dimensions). Names, defaults and results are ATen's; the number of
 * spatial dimensions is found from the arguments. Floats unless said, 16-bit ones computed in f32.
 * Errors of all, as an error tensor: LZ_ENULL, LZ_ESHAPE, LZ_EDTYPE, LZ_EINVAL, LZ_ERANGE,
 * LZ_EMEM.
 * Implemented in: ops/resample.c, ops/image.c, ops/science/torch_image.c. */
#ifndef LAZULI_IMAGE_OPS_H
#define LAZULI_IMAGE_OPS_H
#include <lazuli/tensor_ops.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* ---- resizing to `size`, the spatial extents (1 to 3 of them). scales: one for each, used instead
 * of the quotient of the extents; NULL: none ---- */
/* Element floor(i in / out) of each dimension; exact: floor((i + 1/2) in / out). Any dtype. */
LZ_API lz_tensor *lz_upsample_nearest_at(lz_tensor *x, lz_shape size, const double *scales,
                                         bool exact, const lz_site *site);
/* Linear, bilinear, trilinear. align_corners: the outer elements stay in the corners. */
LZ_API lz_tensor *lz_upsample_linear_at(lz_tensor *x, lz_shape size, bool align_corners,
                                        const double *scales, const lz_site *site);
/* Bicubic, two dimensions; align_corners as of lz_upsample_linear. Keys 1981, a = -0.75. */
LZ_API lz_tensor *lz_upsample_bicubic2d_at(lz_tensor *x, lz_shape size, bool align_corners,
                                           const double *scales, const lz_site *site);

/* ---- sampling ---- */
typedef enum lz_grid_mode { LZ_GRID_BILINEAR, LZ_GRID_NEAREST, LZ_GRID_BICUBIC } lz_grid_mode;
typedef enum lz_grid_padding { LZ_GRID_ZEROS, LZ_GRID_BORDER, LZ_GRID_REFLECTION } lz_grid_padding;
/* x[N, C, H, W] at grid[N, Ho, Wo, 2], whose pairs are (x, y), -1 and 1 the borders: [N, C, Ho,
 * Wo]. Elements of weight 0 do not count, NaN neither. A position that is NaN is outside (zeros) or
 * at the first element; bicubic: NaN. Differentiable in both. */
LZ_API lz_tensor *lz_grid_sampler_2d_at(lz_tensor *x, lz_tensor *grid, lz_grid_mode mode,
                                        lz_grid_padding padding, bool align_corners,
                                        const lz_site *site);
/* The grid [N, H, W, 2] that theta[N, 2, 3] maps (x, y, 1) to; size is [N, C, H, W]. */
LZ_API lz_tensor *lz_affine_grid_generator_at(lz_tensor *theta, lz_shape size, bool align_corners,
                                              const lz_site *site);

/* ---- the same under the names of torch.nn.functional ---- */
typedef struct lz_interpolate_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_interpolate_options));
    /* the spatial extents, or one for all of them; rank 0: scale_factor says */
    lz_shape size LZ_DEFAULT({});
    /* per spatial dimension; a 0 repeats the one before it. The extents are rounded down */
    double scale_factor[3] LZ_DEFAULT({});
    /* "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic" or "area" */
    const char *mode LZ_DEFAULT("nearest");
    bool align_corners LZ_DEFAULT(false); /* of the modes that end in "linear" or "cubic" */
    /* the quotient of the extents is used, not scale_factor itself */
    bool recompute_scale_factor LZ_DEFAULT(false);
} lz_interpolate_options;
/* x[N, C, spatial..] resized, by lz_upsample_nearest, lz_upsample_linear, lz_upsample_bicubic2d or
 * (area) adaptive average pooling. torch's antialias: not there. */
LZ_API lz_tensor *lz_interpolate_at(lz_tensor *x, const lz_interpolate_options *o,
                                    const lz_site *site);
typedef struct lz_grid_sample_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_grid_sample_options));
    const char *mode LZ_DEFAULT("bilinear");      /* or "nearest"; of images "bicubic" */
    const char *padding_mode LZ_DEFAULT("zeros"); /* or "border", "reflection" */
    bool align_corners LZ_DEFAULT(false); /* -1 and 1 are the middles of the outer elements */
} lz_grid_sample_options;
/* Images as lz_grid_sampler_2d; or volumes x[N, C, D, H, W] at grid[N, Do, Ho, Wo, 3], whose
 * triples are (x, y, z): [N, C, Do, Ho, Wo], "bilinear" being trilinear. Differentiable in both. */
LZ_API lz_tensor *lz_grid_sample_at(lz_tensor *x, lz_tensor *grid, const lz_grid_sample_options *o,
                                    const lz_site *site);
/* As lz_affine_grid_generator; of volumes theta is [N, 3, 4], size [N, C, D, H, W], and the grid
 * [N, D, H, W, 3]. */
LZ_API lz_tensor *lz_affine_grid_at(lz_tensor *theta, lz_shape size, bool align_corners,
                                    const lz_site *site);

/* ---- padding: n = 2, 4 or 6 numbers >= 0 in ATen's order, (low, high) of the last dimension
 * first. Any dtype ---- */
/* The inside reflected, without repeating the border. Each number is less than the extent. */
LZ_API lz_tensor *lz_reflection_pad_at(lz_tensor *x, const int64_t *pad, int n,
                                       const lz_site *site);
/* The border repeated. */
LZ_API lz_tensor *lz_replication_pad_at(lz_tensor *x, const int64_t *pad, int n,
                                        const lz_site *site);
/* The other end repeated. Each number is at most the extent. */
LZ_API lz_tensor *lz_circular_pad_at(lz_tensor *x, const int64_t *pad, int n, const lz_site *site);

/* ---- channels and space. Any dtype ---- */
/* Channels to space: [.., C r r, H, W] -> [.., C, H r, W r], where r is factor. */
LZ_API lz_tensor *lz_pixel_shuffle_at(lz_tensor *x, int64_t factor, const lz_site *site);
/* Space to channels, the inverse of lz_pixel_shuffle: [.., C, H r, W r] -> [.., C r r, H, W]. */
LZ_API lz_tensor *lz_pixel_unshuffle_at(lz_tensor *x, int64_t factor, const lz_site *site);
/* x[N, C, ..] with the channels in groups: channel (g, k) goes to (k, g). */
LZ_API lz_tensor *lz_channel_shuffle_at(lz_tensor *x, int64_t groups, const lz_site *site);

/* ---- windows ---- */
typedef struct lz_window { /* (height, width) each; 0 in dilation and stride stands for 1 */
    int64_t kernel[2], dilation[2], padding[2], stride[2];
} lz_window;
/* [N, C, H, W] -> [N, C kh kw, L], the L windows as columns; zeros around. Any dtype.
 * torch.nn.functional.unfold. */
LZ_API lz_tensor *lz_im2col_at(lz_tensor *x, const lz_window *window, const lz_site *site);
/* [N, C kh kw, L] -> [N, C, H, W], overlapping windows are summed. Numbers.
 * torch.nn.functional.fold. */
LZ_API lz_tensor *lz_col2im_at(lz_tensor *x, int64_t height, int64_t width, const lz_window *window,
                               const lz_site *site);

#define lz_upsample_nearest(x, size, scales, exact)                                                \
    lz_upsample_nearest_at(x, size, scales, exact, LZ_SITE)
#define lz_upsample_linear(x, size, align_corners, scales)                                         \
    lz_upsample_linear_at(x, size, align_corners, scales, LZ_SITE)
#define lz_upsample_bicubic2d(x, size, align_corners, scales)                                      \
    lz_upsample_bicubic2d_at(x, size, align_corners, scales, LZ_SITE)
#define lz_upsample_nearest2d(x, size, scales)                                                     \
    lz_upsample_nearest_at(x, size, scales, false, LZ_SITE)
#define lz_upsample_bilinear2d lz_upsample_linear
#define lz_grid_sampler_2d(x, grid, mode, padding, align_corners)                                  \
    lz_grid_sampler_2d_at(x, grid, mode, padding, align_corners, LZ_SITE)
#define lz_affine_grid_generator(theta, size, align_corners)                                       \
    lz_affine_grid_generator_at(theta, size, align_corners, LZ_SITE)
#define lz_interpolate(...) LZ_ARGS_interpolate(__VA_ARGS__, )
#define LZ_ARGS_interpolate(x, ...)                                                                \
    lz_interpolate_at(x, LZ_OPTIONS_OF(lz_interpolate_options, __VA_ARGS__), LZ_SITE)
#define lz_grid_sample(...) LZ_ARGS_grid_sample(__VA_ARGS__, )
#define LZ_ARGS_grid_sample(x, grid, ...)                                                          \
    lz_grid_sample_at(x, grid, LZ_OPTIONS_OF(lz_grid_sample_options, __VA_ARGS__), LZ_SITE)
#define lz_affine_grid(theta, size, align_corners)                                                 \
    lz_affine_grid_at(theta, size, align_corners, LZ_SITE)
#define lz_reflection_pad(...) lz_reflection_pad_at(__VA_ARGS__, LZ_SITE)
#define lz_replication_pad(...) lz_replication_pad_at(__VA_ARGS__, LZ_SITE)
#define lz_circular_pad(...) lz_circular_pad_at(__VA_ARGS__, LZ_SITE)
#define lz_pixel_shuffle(x, factor) lz_pixel_shuffle_at(x, factor, LZ_SITE)
#define lz_pixel_unshuffle(x, factor) lz_pixel_unshuffle_at(x, factor, LZ_SITE)
#define lz_channel_shuffle(x, groups) lz_channel_shuffle_at(x, groups, LZ_SITE)
#define lz_im2col(x, window) lz_im2col_at(x, window, LZ_SITE)
#define lz_col2im(x, height, width, window) lz_col2im_at(x, height, width, window, LZ_SITE)
LZ_EXTERN_C_END
#endif
