/* f64.c - the routines of core/ on double for any processor. */
#define T double
#define FFT_LANES 2
#define INSTANCE lz_fft_f64_base
#include "fft/core/all.h"
