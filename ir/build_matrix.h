/* build_matrix.h - what LAPACK's routines give, built of the rows of decompositions: matrices in
 * the last two dimensions, the others being a batch. Every function gives LZ_NOVAL after a failure,
 * which is the function's status. Threads: thread-compatible. */
#ifndef LZ_IR_BUILD_MATRIX_H
#define LZ_IR_BUILD_MATRIX_H
#include "ir/attr.h"
#include "ir/module.h"

/* a has at least two dimensions; square: where it says so. */
typedef struct lz_bm {
    lz_func *f;
    lz_dtype d;
    lz_shape batch; /* the dimensions before the last two */
    int64_t m, n;   /* rows and columns */
} lz_bm;
lz_bm lz_bm_of(lz_func *f, lz_val a);

lz_val lz_bm_adjoint(lz_func *f, lz_val a); /* conjugate and transposed */
/* 0 for each of the batch: i32 */
lz_val lz_bm_no_info(const lz_bm *b);
/* getrf: lu; the rows exchanged, from 1; the first diagonal element of u that is 0, from 1, or 0 */
void lz_bm_getrf(const lz_bm *b, lz_val a, lz_val *out);
/* potrf, a square: the factor, with a's other triangle; 1 where a is not positive definite, else 0
 */
void lz_bm_potrf(const lz_bm *b, lz_val a, bool lower, lz_val *out);
/* syevd, a square: eigenvectors in columns, eigenvalues in ascending order */
void lz_bm_syevd(const lz_bm *b, lz_val a, bool lower, lz_val *out);
/* gesdd: u, the singular values, v^H */
void lz_bm_gesdd(const lz_bm *b, lz_val a, bool full, lz_val *out);
/* The operation `op`, of its attributes and operands, whose results go to out. */
void lz_bm_forms(const lz_bm *b, lz_op op, const lz_attr_any *at, const lz_val *opnd, lz_val *out);
/* For each of the batch 1 where x, whose last `dims` dimensions are not of the batch, has a NaN:
 * what did not converge; else 0. */
lz_val lz_bm_nan_info(const lz_bm *b, lz_val x, int dims);
/* The number of the first 0 of d[batch, n], from 1, or 0. */
lz_val lz_bm_zero_info(const lz_bm *b, lz_val d);
/* The product q of the reflections whose vectors are below the diagonal of a[.., m, n], k <= n <= m
 * of them with taus[.., k]: its first n columns. */
lz_val lz_bm_orgqr(const lz_bm *b, lz_val a, lz_val taus);
/* q x, or x q (left false), with q^H instead of q when `adjoint`; q m x m. */
lz_val lz_bm_ormqr(const lz_bm *b, lz_val a, lz_val taus, lz_val x, bool left, bool adjoint);
#endif
