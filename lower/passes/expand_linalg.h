/* expand_linalg.h - matrix decompositions as loops of dots and elementwise operations (part of
 * pass `expand`). Failures are recorded in rw->out->status.
 * Threads: thread-compatible. */
#ifndef LZ_LOWER_PASSES_EXPAND_LINALG_H
#define LZ_LOWER_PASSES_EXPAND_LINALG_H
#include "lower/passes/matrix_builder.h"
#include "lower/passes/rewrite.h"

enum { LZ_LINALG_RESULTS = 4 };
/* The results of instruction i, of class LINALG, in rw->out. */
void lz_expand_linalg(lz_rw *rw, uint32_t i, lz_val *out);
/* The same by the operation on f32, where the dtype has 16 bits; false: it has not. */
bool lz_widen_linalg(lz_rw *rw, uint32_t i, lz_val *out);

/* ---- between the expand_*.c files of decompositions ---- */
/* The matrices of operand k as [batch, rows, cols], in the dtype that is computed with; fills
 * *t. */
lz_val lz_mat_operand(lz_rw *rw, uint32_t i, uint32_t k, lz_mats *t, int64_t *rows, int64_t *cols);
/* x as result number k of instruction i */
lz_val lz_mat_result(lz_rw *rw, uint32_t i, uint32_t k, lz_val x);
void lz_expand_lu(lz_rw *rw, uint32_t i, lz_val *out);
void lz_expand_qr(lz_rw *rw, uint32_t i, lz_val *out);
void lz_expand_geqrf(lz_rw *rw, uint32_t i, lz_val *out);
void lz_expand_svd(lz_rw *rw, uint32_t i, lz_val *out);
void lz_expand_eigh(lz_rw *rw, uint32_t i, lz_val *out);

/* Householder's factors of a[batch, m, n]: *q with m rows and qcols <= m columns, *r with as many
 * rows, and n columns. expand_qr.c */
void lz_mat_qr(const lz_mats *t, lz_val a, int64_t m, int64_t n, int64_t qcols, lz_val *q,
               lz_val *r);
/* Of a[batch, m, n], m >= n: u with `cols` >= n columns, s as [batch, 1, n], v. expand_svd.c */
void lz_mat_svd(const lz_mats *t, lz_val a, int64_t m, int64_t n, int64_t cols, lz_val *u,
                lz_val *s, lz_val *v);
#endif
