/* f32.c - the routines of core/ on float for processors with AVX2 and FMA. */
#ifdef __x86_64__
#define T float
#define FFT_LANES 8
#define INSTANCE lz_fft_f32_avx2
#include "fft/core/all.h"
#else
typedef int lz_fft_nothing;
#endif
