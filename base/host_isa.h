/* host_isa.h - which of the instances of routines in C (fft/, linalg/) this processor runs: 0 for
 * the baseline of the target, 1 for AVX2 with FMA, 2 for AVX-512 (F, VL, DQ, BW).
 * Threads: thread-safe. */
#ifndef LZ_BASE_HOST_ISA_H
#define LZ_BASE_HOST_ISA_H

/* How many of them there are here, from 0 on. */
int lz_host_isas(void);
/* The last of these that LAZULI_CPU leaves, or what a test has chosen: lz_host_use_isa(-1) ends
 * that. */
int lz_host_isa(void);
void lz_host_use_isa(int isa);
#endif
