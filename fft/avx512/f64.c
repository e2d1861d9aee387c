/* f64.c - the routines of core/ on double for processors with AVX-512. */
#ifdef __x86_64__
#define T double
#define FFT_LANES 8
#define INSTANCE lz_fft_f64_avx512
#include "fft/core/all.h"
#else
typedef int lz_fft_nothing;
#endif
