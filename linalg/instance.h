/* instance.h - what each instance of the routines (core/, by element type and instruction set)
 * gives, and what they share. */
#ifndef LZ_LINALG_INSTANCE_H
#define LZ_LINALG_INSTANCE_H
#include "linalg/linalg.h"

/* All operations on one matrix: bufs are its own. */
typedef void lz_linalg_fn(const lz_linalg_task *t, void *const *bufs, char *scratch);
typedef struct lz_linalg_instance {
    lz_linalg_fn *fn[LZ_LINALG_NOPS];
    size_t (*scratch)(const lz_linalg_task *t);
} lz_linalg_instance;

extern const lz_linalg_instance lz_linalg_f32_base, lz_linalg_f64_base;
#ifdef __x86_64__
extern const lz_linalg_instance lz_linalg_f32_avx2, lz_linalg_f64_avx2, lz_linalg_f32_avx512,
    lz_linalg_f64_avx512;
#endif

/* ---- layout of scratch memory, in elements ---- */

/* Columns of matrices begin at multiples of a cache line, and not at multiples of a page. */
static inline int64_t lz_linalg_ld(int64_t rows)
{
    int64_t ld = (rows + 15) / 16 * 16;
    return ld % 256 == 0 ? ld + 16 : ld;
}

enum {
    LZ_LINALG_BLOCK = 32, /* columns of a block of reflections */
    LZ_LINALG_MC = 192,   /* of a product: rows of A, its columns, columns of B packed at a time */
    LZ_LINALG_KC = 256,
    LZ_LINALG_NC = 512,
    LZ_LINALG_TILE = 32,   /* a multiple of the rows and columns of all register tiles */
    LZ_LINALG_SWEEPS = 96, /* rotations recorded before they are applied, in sweeps of n */
    LZ_LINALG_LINES = 128, /* bytes of a column that rotations are applied to at a time */
};
#endif
