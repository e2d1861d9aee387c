/* linalg.h - dense linear algebra on the host: Cholesky, triangular and tridiagonal systems, LU,
 * QR, Hermitian and general eigenvalues, the forms on the way to them, and singular values of
 * batches of matrices, in f32, f64 and complex numbers of them.
 * Written for this project, so results depend on no library that happens to be installed.
 * Arrays are those of the IR: dense, row-major, complex numbers interleaved, matrices of a batch
 * one behind the other. A matrix is computed by one thread, so results do not depend on how a batch
 * is divided among threads; they do depend on the instruction set (AVX-512, AVX2 or the
 * baseline), as those of generated code do.
 * NaN or infinity in a matrix makes all results of EIGH, SVD and what is below them NaN, but for
 * GTSV; in others it goes where sums and quotients take it, complex quotients as C11's annex G has
 * them. Nothing iterates without a bound: what does not converge is NaN.
 * Units: bytes, elements. Threads: thread-safe; scratch memory belongs to one call. */
#ifndef LZ_LINALG_LINALG_H
#define LZ_LINALG_LINALG_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum lz_linalg_op {
    LZ_LINALG_CHOLESKY,    /* l; a */
    LZ_LINALG_SOLVE,       /* x; a, b: op(a) x = b, or x op(a) = b */
    LZ_LINALG_LU,          /* lu, i32 pivots, i32 order; a */
    LZ_LINALG_QR,          /* q, r; a */
    LZ_LINALG_GEQRF,       /* reflections and r, taus; a */
    LZ_LINALG_EIGH,        /* vectors, values; a */
    LZ_LINALG_SVD,         /* u, s, v; a */
    LZ_LINALG_HESSENBERG,  /* h and reflections, taus; a */
    LZ_LINALG_TRIDIAGONAL, /* reflections, diagonal, the one beside it, taus; a */
    LZ_LINALG_PIVOTED, /* reflections and r, i32 order from 1, taus; a, i32: not 0 to be first */
    LZ_LINALG_GTSV,    /* x, diagonals of u; b, diagonals below, in and above the middle */
    LZ_LINALG_SCHUR,   /* t, z where k, complex values; a */
    LZ_LINALG_EIG,     /* complex values, left vectors where `left`, right ones where k; a */
    LZ_LINALG_NOPS
} lz_linalg_op;

typedef enum lz_linalg_transpose {
    LZ_LINALG_NO_TRANSPOSE,
    LZ_LINALG_TRANSPOSE,
    LZ_LINALG_ADJOINT
} lz_linalg_transpose;

/* One routine on matrices of one size. Integers, so that it can be passed on as an array of them
 * to lz_linalg_run. */
typedef struct lz_linalg_task {
    int64_t op;       /* lz_linalg_op */
    int64_t wide;     /* f64, else f32 */
    int64_t complex_; /* complex numbers of these */
    int64_t m, n;     /* rows and columns of a */
    /* columns of q, of the full u or v; rows or columns of b that are not n; the last rows that
     * HESSENBERG leaves alone */
    int64_t k;
    int64_t lower; /* the triangle that is read; the first rows that HESSENBERG leaves alone */
    int64_t left, unit, transpose; /* of a solve */
} lz_linalg_task;

/* Scratch memory of one matrix at a time, aligned to 64; SIZE_MAX where that overflows. The same
 * for all instruction sets. */
size_t lz_linalg_scratch(const lz_linalg_task *t);
/* Estimate for one matrix. */
double lz_linalg_flops(const lz_linalg_task *t);
/* Matrices begin..end of the batch. bufs: results, then operands, as listed above; none of the
 * results is in the memory of another or of an operand. task: an lz_linalg_task. */
void lz_linalg_run(void *const *bufs, const int64_t *task, int64_t begin, int64_t end,
                   void *scratch);

#endif
