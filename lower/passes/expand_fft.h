/* expand_fft.h - Fourier transforms as dots with small matrices (part of pass `expand`).
 * Threads: thread-compatible. */
#ifndef LZ_LOWER_PASSES_EXPAND_FFT_H
#define LZ_LOWER_PASSES_EXPAND_FFT_H
#include "lower/passes/rewrite.h"

/* The value of instruction i, an fft, in rw->out. LZ_NOVAL with rw->out->status set on failure. */
lz_val lz_expand_fft(lz_rw *rw, uint32_t i);
#endif
