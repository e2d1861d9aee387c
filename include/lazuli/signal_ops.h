/* signal_ops.h - windows, and Fourier transforms of short times. Names, defaults and results are
 * torch's. Errors of all, as an error tensor: LZ_ENULL, LZ_ESHAPE, LZ_EDTYPE, LZ_EINVAL, LZ_ERANGE,
 * LZ_EMEM.
 * Implemented in: ops/science/spectral.c, ops/special/torch_special.c. */
#ifndef LAZULI_SIGNAL_OPS_H
#define LAZULI_SIGNAL_OPS_H
#include <lazuli/tensor_ops.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* ---- windows: [n] of a float dtype, computed in f64. periodic: of n + 1 elements without the last
 * one, as transforms want them, else symmetric. One element is 1 ---- */
/* 1/2 - 1/2 cos(2 pi t), t from 0 to 1. */
LZ_API lz_tensor *lz_hann_window_at(lz_dtype dtype, int64_t n, bool periodic, const lz_site *site);
/* 0.54 - 0.46 cos(2 pi t). */
LZ_API lz_tensor *lz_hamming_window_at(lz_dtype dtype, int64_t n, bool periodic,
                                       const lz_site *site);
/* 0.42 - 0.5 cos(2 pi t) + 0.08 cos(4 pi t). */
LZ_API lz_tensor *lz_blackman_window_at(lz_dtype dtype, int64_t n, bool periodic,
                                        const lz_site *site);
/* 1 - |2 t - 1|. */
LZ_API lz_tensor *lz_bartlett_window_at(lz_dtype dtype, int64_t n, bool periodic,
                                        const lz_site *site);
/* i0(beta sqrt(1 - (2 t - 1)^2)) / i0(beta), of torch beta is 12 by default; it is a run-time
 * argument. */
LZ_API lz_tensor *lz_kaiser_window_at(lz_dtype dtype, int64_t n, bool periodic, double beta,
                                      const lz_site *site);

/* ---- transforms of short times ---- */
/* One struct for both; each takes the fields that its comment names, the others have no effect. */
typedef struct lz_stft_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_stft_options));
    int64_t hop_length LZ_DEFAULT(0); /* from one frame to the next; 0: n_fft / 4 */
    int64_t win_length LZ_DEFAULT(0); /* elements of the window, at most n_fft; 0: n_fft */
    /* [win_length], real, zeros around; NULL: ones */
    lz_tensor *window LZ_DEFAULT(nullptr);
    /* frame k is centred on element k hop_length: the signal has n_fft / 2 more on both sides */
    bool center LZ_DEFAULT(true);
    /* of lz_stft, what these are: "reflect", "replicate", "circular" or "constant" (zeros) */
    const char *pad_mode LZ_DEFAULT("reflect");
    bool normalized LZ_DEFAULT(false); /* times 1 / sqrt(n_fft) */
    /* frequencies 0..n_fft / 2, of real signals; a complex signal of lz_stft has all of them */
    bool onesided LZ_DEFAULT(true);
    int64_t length LZ_DEFAULT(0); /* of lz_istft, elements of the signal; 0: all there are */
    bool return_complex LZ_DEFAULT(false); /* of lz_istft, not onesided: a complex signal */
} lz_stft_options;
#define LZ_STFT_DEFAULTS .center = true, .onesided = true
/* Transforms of the frames of x[.., samples]: [.., frequencies, frames], complex; of f32 and f64,
 * integers and 16-bit floats as f32. 1 + (samples - n_fft) / hop_length frames, of the padded
 * signal (LZ_ESHAPE: it is shorter than n_fft). Gradients by x and the window. */
LZ_API lz_tensor *lz_stft_at(lz_tensor *x, int64_t n_fft, const lz_stft_options *o,
                             const lz_site *site);
/* The signal that has the transforms x[.., frequencies, frames], of least squares when there is
 * none: windowed frames are added and divided by the sum of the windows' squares. NaN where that is
 * less than 1e-11 (torch: an error). hop_length is at most win_length. */
LZ_API lz_tensor *lz_istft_at(lz_tensor *x, int64_t n_fft, const lz_stft_options *o,
                              const lz_site *site);

#define lz_hann_window(dtype, n, periodic) lz_hann_window_at(dtype, n, periodic, LZ_SITE)
#define lz_hamming_window(dtype, n, periodic) lz_hamming_window_at(dtype, n, periodic, LZ_SITE)
#define lz_blackman_window(dtype, n, periodic) lz_blackman_window_at(dtype, n, periodic, LZ_SITE)
#define lz_bartlett_window(dtype, n, periodic) lz_bartlett_window_at(dtype, n, periodic, LZ_SITE)
#define lz_kaiser_window(dtype, n, periodic, beta)                                                 \
    lz_kaiser_window_at(dtype, n, periodic, beta, LZ_SITE)
#define lz_stft(...) LZ_ARGS_stft(__VA_ARGS__, )
#define LZ_ARGS_stft(x, n_fft, ...)                                                                \
    LZ_OVERRIDING(lz_stft_at(                                                                      \
        x, n_fft, LZ_DEFAULTED(lz_stft_options, LZ_STFT_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define lz_istft(...) LZ_ARGS_istft(__VA_ARGS__, )
#define LZ_ARGS_istft(x, n_fft, ...)                                                               \
    LZ_OVERRIDING(lz_istft_at(                                                                     \
        x, n_fft, LZ_DEFAULTED(lz_stft_options, LZ_STFT_DEFAULTS, __VA_ARGS__), LZ_SITE))
LZ_EXTERN_C_END
#endif
