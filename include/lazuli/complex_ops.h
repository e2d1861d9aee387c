/* complex_ops.h - complex numbers and Fourier transforms. lz_complex, lz_real, lz_imag, lz_abs,
 * lz_sign (ATen sgn) and the elementwise functions are in ops.h.
 * Names, defaults and results are those of torch and torch.fft. Floats are f32 and f64 here,
 * complex is c64 and c128; integers and booleans become f32 first.
 * Gradients of all. Errors of all, as an error tensor: LZ_ENULL, LZ_ESHAPE, LZ_EDTYPE, LZ_EINVAL,
 * LZ_ERANGE, LZ_EMEM. */
#ifndef LAZULI_COMPLEX_OPS_H
#define LAZULI_COMPLEX_OPS_H
#include <lazuli/shape_ops.h>
LZ_EXTERN_C_BEGIN

/* ---- complex numbers ---- */
/* the conjugate; any other dtype as it is */
LZ_API lz_tensor *lz_conj_at(lz_tensor *x, const lz_site *site);
/* in (-pi, pi]; of a float 0, pi below 0, or NaN */
LZ_API lz_tensor *lz_angle_at(lz_tensor *x, const lz_site *site);
/* abs (cos angle + i sin angle); broadcast */
LZ_API lz_tensor *lz_polar_at(lz_tensor *abs, lz_tensor *angle, const lz_site *site);
/* the parts as a last dimension of 2; a value, no view */
LZ_API lz_tensor *lz_view_as_real_at(lz_tensor *x, const lz_site *site);
/* back: the last dimension is 2 */
LZ_API lz_tensor *lz_view_as_complex_at(lz_tensor *x, const lz_site *site);

/* ---- transforms of one dimension ---- The sum over j of x[j] e^(-2 pi i j k / n); the inverse
 * with the other sign. A dimension of another extent than n is cut, or zeros are added at its end.
 * n >= 1 of any factors (docs/reference/semantics.md). norm says what is divided by n: "backward"
 * the inverse, "forward" the transform, "ortho" both by the root of n. */
typedef struct lz_fft_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_fft_options));
    /* 0: the extent of dim; of lz_irfft and lz_hfft 2 (extent - 1) */
    int64_t n LZ_DEFAULT(0);
    int64_t dim LZ_DEFAULT(-1);
    const char *norm LZ_DEFAULT("backward");
} lz_fft_options;
#define LZ_FFT_DEFAULTS .dim = -1
LZ_API lz_tensor *lz_fft_at(lz_tensor *x, const lz_fft_options *o, const lz_site *site);
LZ_API lz_tensor *lz_ifft_at(lz_tensor *x, const lz_fft_options *o, const lz_site *site);
/* of real numbers: elements 0..n/2 */
LZ_API lz_tensor *lz_rfft_at(lz_tensor *x, const lz_fft_options *o, const lz_site *site);
/* of those the n real numbers */
LZ_API lz_tensor *lz_irfft_at(lz_tensor *x, const lz_fft_options *o, const lz_site *site);
/* n real numbers: the transform of a signal with x[-j] the conjugate of x[j] */
LZ_API lz_tensor *lz_hfft_at(lz_tensor *x, const lz_fft_options *o, const lz_site *site);
/* its inverse: elements 0..n/2 */
LZ_API lz_tensor *lz_ihfft_at(lz_tensor *x, const lz_fft_options *o, const lz_site *site);

/* ---- of several dimensions ---- of a real transform, the last of `dims` is the one that is
 * halved */
typedef struct lz_fftn_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_fftn_options));
    /* lengths, one for each of dims; -1: the extent. rank 0: the extents */
    lz_shape s LZ_DEFAULT({});
    /* none: the last s.rank; without s all of them, of the functions ending in 2 the last two */
    lz_dims dims LZ_DEFAULT({});
    const char *norm LZ_DEFAULT("backward");
} lz_fftn_options;
LZ_API lz_tensor *lz_fft2_at(lz_tensor *x, const lz_fftn_options *o, const lz_site *site);
LZ_API lz_tensor *lz_ifft2_at(lz_tensor *x, const lz_fftn_options *o, const lz_site *site);
LZ_API lz_tensor *lz_rfft2_at(lz_tensor *x, const lz_fftn_options *o, const lz_site *site);
LZ_API lz_tensor *lz_irfft2_at(lz_tensor *x, const lz_fftn_options *o, const lz_site *site);
LZ_API lz_tensor *lz_fftn_at(lz_tensor *x, const lz_fftn_options *o, const lz_site *site);
LZ_API lz_tensor *lz_ifftn_at(lz_tensor *x, const lz_fftn_options *o, const lz_site *site);
LZ_API lz_tensor *lz_rfftn_at(lz_tensor *x, const lz_fftn_options *o, const lz_site *site);
LZ_API lz_tensor *lz_irfftn_at(lz_tensor *x, const lz_fftn_options *o, const lz_site *site);

/* ---- beside them ---- */
/* Frequencies of the elements of a transform of n samples d apart, in cycles per unit of d: 0, 1,
 * .., -2, -1 over n d; of a real one 0, 1, .., n/2. f32 or f64; d is a run-time argument. */
LZ_API lz_tensor *lz_fftfreq_at(lz_dtype dtype, int64_t n, double d, const lz_site *site);
LZ_API lz_tensor *lz_rfftfreq_at(lz_dtype dtype, int64_t n, double d, const lz_site *site);
/* frequency 0 in the middle; no dims: all. Any dtype */
LZ_API lz_tensor *lz_fftshift_at(lz_tensor *x, lz_dims dims, const lz_site *site);
LZ_API lz_tensor *lz_ifftshift_at(lz_tensor *x, lz_dims dims, const lz_site *site); /* back */

#define lz_conj(x) lz_conj_at((x), LZ_SITE)
#define lz_angle(x) lz_angle_at((x), LZ_SITE)
#define lz_polar(abs, angle) lz_polar_at((abs), (angle), LZ_SITE)
#define lz_view_as_real(x) lz_view_as_real_at((x), LZ_SITE)
#define lz_view_as_complex(x) lz_view_as_complex_at((x), LZ_SITE)
#define LZ_FFT_OPTIONS(...) LZ_DEFAULTED(lz_fft_options, LZ_FFT_DEFAULTS, ##__VA_ARGS__)
#define lz_fft(x, ...) LZ_OVERRIDING(lz_fft_at((x), LZ_FFT_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_ifft(x, ...) LZ_OVERRIDING(lz_ifft_at((x), LZ_FFT_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_rfft(x, ...) LZ_OVERRIDING(lz_rfft_at((x), LZ_FFT_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_irfft(x, ...) LZ_OVERRIDING(lz_irfft_at((x), LZ_FFT_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_hfft(x, ...) LZ_OVERRIDING(lz_hfft_at((x), LZ_FFT_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_ihfft(x, ...) LZ_OVERRIDING(lz_ihfft_at((x), LZ_FFT_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_fft2(x, ...) lz_fft2_at((x), LZ_OPTIONS(lz_fftn_options, ##__VA_ARGS__), LZ_SITE)
#define lz_ifft2(x, ...) lz_ifft2_at((x), LZ_OPTIONS(lz_fftn_options, ##__VA_ARGS__), LZ_SITE)
#define lz_rfft2(x, ...) lz_rfft2_at((x), LZ_OPTIONS(lz_fftn_options, ##__VA_ARGS__), LZ_SITE)
#define lz_irfft2(x, ...) lz_irfft2_at((x), LZ_OPTIONS(lz_fftn_options, ##__VA_ARGS__), LZ_SITE)
#define lz_fftn(x, ...) lz_fftn_at((x), LZ_OPTIONS(lz_fftn_options, ##__VA_ARGS__), LZ_SITE)
#define lz_ifftn(x, ...) lz_ifftn_at((x), LZ_OPTIONS(lz_fftn_options, ##__VA_ARGS__), LZ_SITE)
#define lz_rfftn(x, ...) lz_rfftn_at((x), LZ_OPTIONS(lz_fftn_options, ##__VA_ARGS__), LZ_SITE)
#define lz_irfftn(x, ...) lz_irfftn_at((x), LZ_OPTIONS(lz_fftn_options, ##__VA_ARGS__), LZ_SITE)
#define lz_fftfreq(dtype, n, d) lz_fftfreq_at((dtype), (n), (d), LZ_SITE)
#define lz_rfftfreq(dtype, n, d) lz_rfftfreq_at((dtype), (n), (d), LZ_SITE)
#define lz_fftshift(x, ...) lz_fftshift_at((x), LZ_DIMS(__VA_ARGS__), LZ_SITE)
#define lz_ifftshift(x, ...) lz_ifftshift_at((x), LZ_DIMS(__VA_ARGS__), LZ_SITE)
LZ_EXTERN_C_END
#endif
