/* complex_ops.h - complex numbers and Fourier transforms. lz_complex, lz_real, lz_imag, lz_abs,
 * lz_sign (ATen sgn) and the elementwise functions are in ops.h.
 * Names, defaults and results are those of torch and torch.fft. Floats are f32 and f64 here,
 * complex is c64 and c128; integers and booleans become f32 first.
 * Gradients of all. Errors of all, as an error tensor: LZ_ENULL, LZ_ESHAPE, LZ_EDTYPE, LZ_EINVAL,
 * LZ_ERANGE, LZ_EMEM.
 * Implemented in: ops/complex.c, ops/fft.c. */
#ifndef LAZULI_COMPLEX_OPS_H
#define LAZULI_COMPLEX_OPS_H
#include <lazuli/shape_ops.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* ---- complex numbers ---- */
/* The complex conjugate; any other dtype as it is. */
LZ_API lz_tensor *lz_conj_at(lz_tensor *x, const lz_site *site);
/* The phase in (-pi, pi]; of a float 0, pi below 0, or NaN. */
LZ_API lz_tensor *lz_angle_at(lz_tensor *x, const lz_site *site);
/* abs (cos angle + i sin angle); both broadcast. */
LZ_API lz_tensor *lz_polar_at(lz_tensor *abs, lz_tensor *angle, const lz_site *site);
/* Real and imaginary parts as a last dimension of 2; a value, no view. */
LZ_API lz_tensor *lz_view_as_real_at(lz_tensor *x, const lz_site *site);
/* Complex numbers of a last dimension of 2; a value, no view. */
LZ_API lz_tensor *lz_view_as_complex_at(lz_tensor *x, const lz_site *site);

/* ---- transforms of one dimension ---- The sum over j of x[j] e^(-2 pi i j k / n); the inverse
 * with the other sign. A dimension of another extent than n is cut, or zeros are added at its end.
 * n >= 1 of any factors (docs/reference/semantics.md). norm: "backward" divides the inverse by n,
 * "forward" the transform, "ortho" both by sqrt(n). */
typedef struct lz_fft_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_fft_options));
    /* length; 0: the extent of dim, of lz_irfft and lz_hfft 2 (extent - 1) */
    int64_t n LZ_DEFAULT(0);
    int64_t dim LZ_DEFAULT(-1);              /* the dimensions to transform */
    const char *norm LZ_DEFAULT("backward"); /* "backward", "forward" or "ortho" */
} lz_fft_options;
#define LZ_FFT_DEFAULTS .dim = -1
/* The transform along dim. */
LZ_API lz_tensor *lz_fft_at(lz_tensor *x, const lz_fft_options *o, const lz_site *site);
/* The inverse transform along dim. */
LZ_API lz_tensor *lz_ifft_at(lz_tensor *x, const lz_fft_options *o, const lz_site *site);
/* The transform of real numbers: its elements 0..n/2, the others being their conjugates. */
LZ_API lz_tensor *lz_rfft_at(lz_tensor *x, const lz_fft_options *o, const lz_site *site);
/* The n real numbers whose lz_rfft x is. */
LZ_API lz_tensor *lz_irfft_at(lz_tensor *x, const lz_fft_options *o, const lz_site *site);
/* n real numbers: the transform of a signal with x[-j] the conjugate of x[j]. */
LZ_API lz_tensor *lz_hfft_at(lz_tensor *x, const lz_fft_options *o, const lz_site *site);
/* The inverse of lz_hfft: its elements 0..n/2. */
LZ_API lz_tensor *lz_ihfft_at(lz_tensor *x, const lz_fft_options *o, const lz_site *site);

/* ---- of several dimensions ---- of a real transform, the last of `dims` is the one that is
 * halved */
typedef struct lz_fftn_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_fftn_options));
    /* lengths, one for each of dims; -1: the extent. rank 0: the extents */
    lz_shape s LZ_DEFAULT({});
    /* none: the last s.rank; without s all of them, of the functions ending in 2 the last two */
    lz_dims dims LZ_DEFAULT({});
    const char *norm LZ_DEFAULT("backward"); /* "backward", "forward" or "ortho" */
} lz_fftn_options;
/* The transform of two dimensions. */
LZ_API lz_tensor *lz_fft2_at(lz_tensor *x, const lz_fftn_options *o, const lz_site *site);
/* The inverse transform of two dimensions. */
LZ_API lz_tensor *lz_ifft2_at(lz_tensor *x, const lz_fftn_options *o, const lz_site *site);
/* The transform of two dimensions of real numbers. */
LZ_API lz_tensor *lz_rfft2_at(lz_tensor *x, const lz_fftn_options *o, const lz_site *site);
/* The real numbers whose lz_rfft2 x is. */
LZ_API lz_tensor *lz_irfft2_at(lz_tensor *x, const lz_fftn_options *o, const lz_site *site);
/* The transform of several dimensions. */
LZ_API lz_tensor *lz_fftn_at(lz_tensor *x, const lz_fftn_options *o, const lz_site *site);
/* The inverse transform of several dimensions. */
LZ_API lz_tensor *lz_ifftn_at(lz_tensor *x, const lz_fftn_options *o, const lz_site *site);
/* The transform of several dimensions of real numbers. */
LZ_API lz_tensor *lz_rfftn_at(lz_tensor *x, const lz_fftn_options *o, const lz_site *site);
/* The real numbers whose lz_rfftn x is. */
LZ_API lz_tensor *lz_irfftn_at(lz_tensor *x, const lz_fftn_options *o, const lz_site *site);

/* ---- helpers ---- */
/* Frequencies of the elements of a transform of n samples d apart, in cycles per unit of d: 0, 1,
 * .., -2, -1 over n d. f32 or f64; d is a run-time argument. */
LZ_API lz_tensor *lz_fftfreq_at(lz_dtype dtype, int64_t n, double d, const lz_site *site);
/* Frequencies of the elements of a transform of n real samples d apart, in cycles per unit of d: 0,
 * 1, .., n/2 over n d. f32 or f64; d is a run-time argument. */
LZ_API lz_tensor *lz_rfftfreq_at(lz_dtype dtype, int64_t n, double d, const lz_site *site);
/* Elements moved so that frequency 0 is in the middle; no dims: of all. Any dtype. */
LZ_API lz_tensor *lz_fftshift_at(lz_tensor *x, lz_dims dims, const lz_site *site);
/* The inverse of lz_fftshift. */
LZ_API lz_tensor *lz_ifftshift_at(lz_tensor *x, lz_dims dims, const lz_site *site);

#define lz_conj(x) lz_conj_at(x, LZ_SITE)
#define lz_angle(x) lz_angle_at(x, LZ_SITE)
#define lz_polar(abs, angle) lz_polar_at(abs, angle, LZ_SITE)
#define lz_view_as_real(x) lz_view_as_real_at(x, LZ_SITE)
#define lz_view_as_complex(x) lz_view_as_complex_at(x, LZ_SITE)
#define LZ_FFT_OPTIONS(...) LZ_DEFAULTED(lz_fft_options, LZ_FFT_DEFAULTS, __VA_ARGS__)
#define lz_fft(...) LZ_ARGS_fft(__VA_ARGS__, )
#define LZ_ARGS_fft(x, ...) LZ_OVERRIDING(lz_fft_at(x, LZ_FFT_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_ifft(...) LZ_ARGS_ifft(__VA_ARGS__, )
#define LZ_ARGS_ifft(x, ...) LZ_OVERRIDING(lz_ifft_at(x, LZ_FFT_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_rfft(...) LZ_ARGS_rfft(__VA_ARGS__, )
#define LZ_ARGS_rfft(x, ...) LZ_OVERRIDING(lz_rfft_at(x, LZ_FFT_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_irfft(...) LZ_ARGS_irfft(__VA_ARGS__, )
#define LZ_ARGS_irfft(x, ...) LZ_OVERRIDING(lz_irfft_at(x, LZ_FFT_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_hfft(...) LZ_ARGS_hfft(__VA_ARGS__, )
#define LZ_ARGS_hfft(x, ...) LZ_OVERRIDING(lz_hfft_at(x, LZ_FFT_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_ihfft(...) LZ_ARGS_ihfft(__VA_ARGS__, )
#define LZ_ARGS_ihfft(x, ...) LZ_OVERRIDING(lz_ihfft_at(x, LZ_FFT_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_fft2(...) LZ_ARGS_fft2(__VA_ARGS__, )
#define LZ_ARGS_fft2(x, ...) lz_fft2_at(x, LZ_OPTIONS_OF(lz_fftn_options, __VA_ARGS__), LZ_SITE)
#define lz_ifft2(...) LZ_ARGS_ifft2(__VA_ARGS__, )
#define LZ_ARGS_ifft2(x, ...) lz_ifft2_at(x, LZ_OPTIONS_OF(lz_fftn_options, __VA_ARGS__), LZ_SITE)
#define lz_rfft2(...) LZ_ARGS_rfft2(__VA_ARGS__, )
#define LZ_ARGS_rfft2(x, ...) lz_rfft2_at(x, LZ_OPTIONS_OF(lz_fftn_options, __VA_ARGS__), LZ_SITE)
#define lz_irfft2(...) LZ_ARGS_irfft2(__VA_ARGS__, )
#define LZ_ARGS_irfft2(x, ...) lz_irfft2_at(x, LZ_OPTIONS_OF(lz_fftn_options, __VA_ARGS__), LZ_SITE)
#define lz_fftn(...) LZ_ARGS_fftn(__VA_ARGS__, )
#define LZ_ARGS_fftn(x, ...) lz_fftn_at(x, LZ_OPTIONS_OF(lz_fftn_options, __VA_ARGS__), LZ_SITE)
#define lz_ifftn(...) LZ_ARGS_ifftn(__VA_ARGS__, )
#define LZ_ARGS_ifftn(x, ...) lz_ifftn_at(x, LZ_OPTIONS_OF(lz_fftn_options, __VA_ARGS__), LZ_SITE)
#define lz_rfftn(...) LZ_ARGS_rfftn(__VA_ARGS__, )
#define LZ_ARGS_rfftn(x, ...) lz_rfftn_at(x, LZ_OPTIONS_OF(lz_fftn_options, __VA_ARGS__), LZ_SITE)
#define lz_irfftn(...) LZ_ARGS_irfftn(__VA_ARGS__, )
#define LZ_ARGS_irfftn(x, ...) lz_irfftn_at(x, LZ_OPTIONS_OF(lz_fftn_options, __VA_ARGS__), LZ_SITE)
#define lz_fftfreq(dtype, n, d) lz_fftfreq_at(dtype, n, d, LZ_SITE)
#define lz_rfftfreq(dtype, n, d) lz_rfftfreq_at(dtype, n, d, LZ_SITE)
/* the 0 is dropped: it stands for dims where there are none */
#define lz_fftshift(...) LZ_ARGS_fftshift(__VA_ARGS__, 0)
#define LZ_ARGS_fftshift(x, ...) lz_fftshift_at(x, LZ_DIMS_BEFORE_LAST(__VA_ARGS__), LZ_SITE)
#define lz_ifftshift(...) LZ_ARGS_ifftshift(__VA_ARGS__, 0)
#define LZ_ARGS_ifftshift(x, ...) lz_ifftshift_at(x, LZ_DIMS_BEFORE_LAST(__VA_ARGS__), LZ_SITE)
LZ_EXTERN_C_END
#endif
