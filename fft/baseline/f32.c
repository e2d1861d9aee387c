/* f32.c - the routines of core/ on float for any processor. */
#define T float
#define FFT_VECTOR_BYTES 16
#define INSTANCE lz_fft_f32_base
#include "fft/core/all.h"
