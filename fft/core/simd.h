/* simd.h - vectors of the element type. The headers of core/ are one template: an instance defines
 *     T    float or double
 *     FFT_VECTOR_BYTES    16, 32 or 64
 * and includes core/all.h. A tile is an array of complex vectors; lanes are independent lines. */
#ifndef LZ_FFT_CORE_SIMD_H
#define LZ_FFT_CORE_SIMD_H
#include "fft/plan.h"
#include <string.h>

#ifndef T /* read alone */
#define T float
#define FFT_VECTOR_BYTES 16
#define INSTANCE lz_fft_f32_base
#endif

typedef T V __attribute__((vector_size(FFT_VECTOR_BYTES)));
typedef T VU __attribute__((vector_size(FFT_VECTOR_BYTES), aligned(sizeof(T)), may_alias));
enum { L = FFT_VECTOR_BYTES / sizeof(T) };
typedef struct CV {
    V re, im;
} CV;
#define INLINE static inline __attribute__((always_inline, unused))
#define MAYBE static __attribute__((unused))

/* Lanes of two vectors: those of even and of odd index, and both halves interleaved. The lists are
 * constants once they are inlined. */
typedef __typeof__((V){0} < (V){0}) VI;
INLINE VI even_lanes(void)
{
    VI r;
    for (int i = 0; i < L; i++)
        r[i] = 2 * i;
    return r;
}

INLINE VI low_lanes(void)
{
    VI r;
    for (int i = 0; i < L; i++)
        r[i] = i / 2 + (i % 2) * L;
    return r;
}

INLINE V even(V a, V b)
{
    return __builtin_shuffle(a, b, even_lanes());
}

INLINE V odd(V a, V b)
{
    return __builtin_shuffle(a, b, even_lanes() + 1);
}

INLINE V zip_low(V a, V b)
{
    return __builtin_shuffle(a, b, low_lanes());
}

INLINE V zip_high(V a, V b)
{
    return __builtin_shuffle(a, b, low_lanes() + L / 2);
}
#endif
