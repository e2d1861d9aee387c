/* matrix_builder.h - builders for loops over matrices: values [batch, rows, cols] of one dtype,
 * slices of them at run-time offsets, counted loops. After a failure, recorded in the function's
 * status, every function returns LZ_NOVAL.
 * Threads: thread-compatible. */
#ifndef LZ_LOWER_PASSES_MATRIX_BUILDER_H
#define LZ_LOWER_PASSES_MATRIX_BUILDER_H
#include "ir/module.h"

typedef struct lz_mats {
    lz_func *f;
    lz_dtype d;
    int64_t batch;
} lz_mats;

lz_shape lz_mat_shape(const lz_mats *t, int64_t rows, int64_t cols);
lz_val lz_mat_index(const lz_mats *t, int64_t v); /* an i64 scalar */
lz_val lz_mat_add(const lz_mats *t, lz_val a, lz_val b);
lz_val lz_mat_sub(const lz_mats *t, lz_val a, lz_val b);
lz_val lz_mat_zeros(const lz_mats *t, int64_t rows, int64_t cols);
/* rows x cols elements of x from (row, col), i64 scalars */
lz_val lz_mat_window(const lz_mats *t, lz_val x, lz_val row, lz_val col, int64_t rows,
                     int64_t cols);
lz_val lz_mat_put(const lz_mats *t, lz_val x, lz_val y, lz_val row, lz_val col);
/* Sums over dimension ca of a and cb of b, 1 or 2: [batch, the other of a, the other of b]. */
lz_val lz_mat_dot(const lz_mats *t, lz_val a, lz_val b, int ca, int cb);
lz_val lz_mat_transpose(const lz_mats *t, lz_val x);
lz_val lz_mat_conj(const lz_mats *t, lz_val x);    /* x itself when it is real */
lz_val lz_mat_real(const lz_mats *t, lz_val x);    /* the same */
lz_val lz_mat_complex(const lz_mats *t, lz_val x); /* the real x in dtype d */
/* x divided by the real y of the same shape */
lz_val lz_mat_over(const lz_mats *t, lz_val x, lz_val y);
/* one element for each of the batch, [batch, 1, 1] of any dtype, in rows x cols */
lz_val lz_mat_spread(const lz_mats *t, lz_val x, int64_t rows, int64_t cols);
/* the number of each row (dim 1) or column (dim 2), compared with an i64 scalar */
lz_val lz_mat_where(const lz_mats *t, int dim, lz_comparison_direction dir, lz_val at, int64_t rows,
                    int64_t cols);
/* row `dir` column */
lz_val lz_mat_triangle(const lz_mats *t, lz_comparison_direction dir, int64_t rows, int64_t cols);
/* zeros after the last rows and columns, and before: [from, from] elements of 1 on the diagonal
 * from `ones` on (-1: none) */
lz_val lz_mat_pad(const lz_mats *t, lz_val x, int64_t rows, int64_t cols, int64_t to_rows,
                  int64_t to_cols, int64_t ones);

/* x with extents of 1 in its place of rows or columns repeated: rows x cols */
lz_val lz_mat_repeat(const lz_mats *t, lz_val x, int64_t rows, int64_t cols);
/* combined over the rows (dim 1) or columns (dim 2), which stay with an extent of 1: the other one
 * is n */
lz_val lz_mat_reduce(const lz_mats *t, lz_op op, lz_val x, int dim, int64_t n);
lz_val lz_mat_abs(const lz_mats *t, lz_val x); /* real */
/* the rows of x at index[batch, rows, 1] (i64) */
lz_val lz_mat_rows(const lz_mats *t, lz_val x, lz_val index, int64_t rows, int64_t cols);
/* a splat of the real dtype */
lz_val lz_mat_number(const lz_mats *t, double v, int64_t rows, int64_t cols);
lz_val lz_mat_eye(const lz_mats *t, int64_t rows, int64_t cols);
/* the first rows and columns of x */
lz_val lz_mat_corner(const lz_mats *t, lz_val x, int64_t rows, int64_t cols);
/* x with a x = b, a triangular and n x n; only its triangle is read. expand_linalg.c */
lz_val lz_mat_solve(const lz_mats *t, lz_val a, lz_val b, int64_t n, int64_t cols, bool lower,
                    bool unit);
/* Columns are worked through in blocks of so many where there are more than LZ_MAT_WHOLE. */
enum { LZ_MAT_WHOLE = 64, LZ_MAT_BLOCK = 32 };
/* the number of blocks */
static inline int64_t lz_mat_blocks(int64_t n)
{
    return n <= LZ_MAT_WHOLE ? 1 : (n + LZ_MAT_BLOCK - 1) / LZ_MAT_BLOCK;
}
/* and how many columns one has */
static inline int64_t lz_mat_block(int64_t n)
{
    return n <= LZ_MAT_WHOLE ? n : LZ_MAT_BLOCK;
}

/* Values after round i (i64) in out, as many as are carried; v: those before it, then the
 * others. */
typedef void lz_mat_round(const lz_mats *t, lz_val i, const lz_val *v, lz_val *out, void *user);
/* Rounds 0 .. n-1 over v[0 .. ncarried-1], which become the results; `others` more stay as they
 * are. At most 12 values in all. */
/* ... as long as v[0], a boolean scalar that is carried, is true. */
void lz_mat_loop_while(const lz_mats *t, int64_t n, lz_val *v, uint32_t ncarried, uint32_t others,
                       lz_mat_round *round, void *user);
void lz_mat_loop(const lz_mats *t, int64_t n, lz_val *v, uint32_t ncarried, uint32_t others,
                 lz_mat_round *round, void *user);
#endif
