/* f32.c - the routines of core/ on float for any processor. */
#define T float
#define FFT_LANES 4
#define INSTANCE lz_fft_f32_base
#include "fft/core/all.h"
