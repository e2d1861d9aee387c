/* fft.h - discrete Fourier transforms on the host: of the last 1 to 3 dimensions of arrays, complex
 * or real, forward and back, of any lengths, in f32 and f64. Written for this project, so results
 * depend on no library that happens to be installed.
 * Arrays are those of the IR: dense, row-major, complex numbers interleaved, transforms of a batch
 * one behind the other. Errors are O(eps log n) of the norm: roots of unity are computed in long
 * double (those of long lines as products of two) and rounded once.
 * A unit is a transform, or a group of lines; it is computed by one thread, so results do not
 * depend on how units are divided among threads; they do depend on the instruction set (AVX-512,
 * AVX2 or the baseline), as those of generated code do.
 * Units: bytes, elements. Threads: a plan is immutable; scratch memory belongs to one call. */
#ifndef LZ_FFT_FFT_H
#define LZ_FFT_FFT_H
#include "base/alloc.h"
#include "base/status.h"

typedef enum lz_fft_kind {
    LZ_FFT_FORWARD,  /* complex to complex */
    LZ_FFT_BACKWARD, /* the same, divided by the number of elements */
    LZ_FFT_REAL,     /* real to the first n / 2 + 1 of the last dimension */
    LZ_FFT_HALF      /* those to real, divided by the number of elements */
} lz_fft_kind;

enum { LZ_FFT_DIMS = 3, LZ_FFT_LONGEST = 1 << 22 }; /* Bluestein's convolutions are twice as long */

typedef struct lz_fft_task {
    lz_fft_kind kind;
    bool wide;              /* f64, else f32 */
    int ndim;               /* 1 to LZ_FFT_DIMS */
    int64_t n[LZ_FFT_DIMS]; /* of the signal, the last one fastest; from 1 to LZ_FFT_LONGEST */
    int64_t batch;          /* from 1 */
} lz_fft_task;

/* The tables of a transform, in the memory of an arena. */
typedef struct lz_fft_plan lz_fft_plan;

lz_status lz_fft_plan_new(lz_arena *mem, const lz_fft_task *t, const lz_fft_plan **out);
int64_t lz_fft_units(const lz_fft_plan *p);
/* Scratch memory of one call, aligned to 64. */
size_t lz_fft_scratch(const lz_fft_plan *p);
/* Estimate for all of the batch. */
double lz_fft_flops(const lz_fft_task *t);
/* Units begin..end. bufs: result, operand, apart from each other. plan: an lz_fft_plan, as the
 * run-time arguments of kernels are passed. */
void lz_fft_run(void *const *bufs, const int64_t *plan, int64_t begin, int64_t end, void *scratch);

#endif
