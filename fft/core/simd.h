/* simd.h - vectors of the element type. The headers of core/ are one template: an instance defines
 *     T    float or double
 *     FFT_LANES    elements of a vector: 2, 4, 8 or 16
 * and includes core/all.h. A tile is an array of complex vectors; lanes are independent lines. */
#ifndef LZ_FFT_CORE_SIMD_H
#define LZ_FFT_CORE_SIMD_H
#include "fft/plan.h"
#include <string.h>

#ifndef T /* read alone */
#define T float
#define FFT_LANES 4
#define INSTANCE lz_fft_f32_base
#endif

typedef T V __attribute__((vector_size(FFT_LANES * sizeof(T))));
typedef T VU __attribute__((vector_size(FFT_LANES * sizeof(T)), aligned(sizeof(T)), may_alias));
enum { L = FFT_LANES };
typedef struct CV {
    V re, im;
} CV;
#define INLINE static inline __attribute__((always_inline, unused))
#define MAYBE static __attribute__((unused))

/* Lanes of two vectors: those of even and of odd index, and both halves interleaved. */
#if FFT_LANES == 16
#define FFT_EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define FFT_ODD 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define FFT_ZIP_LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define FFT_ZIP_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif FFT_LANES == 8
#define FFT_EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define FFT_ODD 1, 3, 5, 7, 9, 11, 13, 15
#define FFT_ZIP_LOW 0, 8, 1, 9, 2, 10, 3, 11
#define FFT_ZIP_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#elif FFT_LANES == 4
#define FFT_EVEN 0, 2, 4, 6
#define FFT_ODD 1, 3, 5, 7
#define FFT_ZIP_LOW 0, 4, 1, 5
#define FFT_ZIP_HIGH 2, 6, 3, 7
#else
#define FFT_EVEN 0, 2
#define FFT_ODD 1, 3
#define FFT_ZIP_LOW 0, 2
#define FFT_ZIP_HIGH 1, 3
#endif

INLINE V even(V a, V b)
{
    return __builtin_shufflevector(a, b, FFT_EVEN);
}

INLINE V odd(V a, V b)
{
    return __builtin_shufflevector(a, b, FFT_ODD);
}

INLINE V zip_low(V a, V b)
{
    return __builtin_shufflevector(a, b, FFT_ZIP_LOW);
}

INLINE V zip_high(V a, V b)
{
    return __builtin_shufflevector(a, b, FFT_ZIP_HIGH);
}
#endif
