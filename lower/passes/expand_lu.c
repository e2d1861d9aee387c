/* expand_lu.c - lazuli.lu: Gaussian elimination with partial pivoting, column by column in blocks
 * of columns (right-looking): the columns right of a block get its row exchanges, a triangular
 * solve and a dot. Padding columns are zero; they exchange and eliminate nothing.
 * Source: Golub and Van Loan, Matrix Computations, 3.4. Threads: as rewrite.h. */
#include "lower/passes/expand_linalg.h"

typedef struct panel {
    int64_t rows, cols;
} panel;

/* In x, row r and the row where `there` is true are exchanged; they are `row` and `other`. */
typedef struct swap {
    lz_val here, there; /* [batch, rows, 1] */
    int64_t rows;
} swap;

static lz_val exchange(const lz_mats *t, const swap *s, lz_val x, lz_val row, lz_val other,
                       int64_t cols)
{
    lz_val in = lz_build_select(t->f, lz_mat_repeat(t, s->there, s->rows, cols),
                                lz_mat_repeat(t, row, s->rows, cols), x);
    return lz_build_select(t->f, lz_mat_repeat(t, s->here, s->rows, cols),
                           lz_mat_repeat(t, other, s->rows, cols), in);
}

/* The row of x where `there` is true. */
static lz_val row_there(const lz_mats *t, lz_val x, lz_val there, int64_t rows, int64_t cols,
                        lz_dtype d)
{
    lz_shape s = lz_mat_shape(t, rows, cols);
    lz_val zero = lz_build_splat(t->f, lz_type_get(d, &s), 0);
    x = lz_build_select(t->f, lz_mat_repeat(t, there, rows, cols), x, zero);
    return lz_mat_reduce(t, LZ_OP_ADD, x, 1, cols);
}

/* LAPACK's measure of a pivot: the sum of the magnitudes of both parts. */
static lz_val pivot_size(const lz_mats *t, lz_val column)
{
    lz_val re = lz_build_ew1(t->f, LZ_OP_ABS, lz_mat_real(t, column));
    if (!lz_dtype_is_complex(t->d))
        return re;
    lz_val im = lz_build_ew1(t->f, LZ_OP_IMAG, column);
    return lz_mat_add(t, re, lz_build_ew1(t->f, LZ_OP_ABS, im));
}

/* The row from r on whose element of `column` is the largest: [batch, 1, 1]. */
static lz_val pivot_row(const lz_mats *t, lz_val column, lz_val r, int64_t rows)
{
    lz_func *f = t->f;
    lz_shape one = lz_mat_shape(t, 1, 1), line = lz_mat_shape(t, rows, 1);
    const lz_func *body = lz_region_arg(true, lz_dtype_part(t->d), LZ_I64);
    lz_val size = lz_build_select(f, lz_mat_where(t, 1, LZ_CMP_GE, r, rows, 1),
                                  pivot_size(t, column), lz_mat_number(t, -1, rows, 1));
    lz_val v[4] = {size, lz_build_iota(f, lz_type_get(LZ_I64, &line), 1),
                   lz_build_scalar(f, lz_dtype_part(t->d), -1), lz_mat_index(t, rows)};
    if (!body) {
        f->status = lz_error_get()->status;
        return LZ_NOVAL;
    }
    lz_attr_reduce a = {.kind = LZ_ATTR_reduce, .body = body};
    a.dimensions = lz_ints_make(2, (int64_t[]){1, 2});
    lz_val w = lz_build(f, LZ_OP_REDUCE, (const lz_attr *)(const void *)&a, v, 4);
    return w == LZ_NOVAL ? w : lz_build_reshape(f, lz_build_result(f, w, 1), &one);
}

/* Column j of a panel whose diagonal starts at row k. v: the panel, the order of its rows, the rows
 * exchanged; k. */
static void eliminate(const lz_mats *t, lz_val j, const lz_val *v, lz_val *out, void *user)
{
    const panel *p = user;
    lz_func *f = t->f;
    int64_t m = p->rows, w = p->cols;
    lz_val zero = lz_mat_index(t, 0), r = lz_mat_add(t, v[3], j);
    lz_val at = pivot_row(t, lz_mat_window(t, v[0], zero, j, m, 1), r, m);
    lz_shape line = lz_mat_shape(t, m, 1);
    lz_val numbers = lz_build_iota(f, lz_type_get(LZ_I64, &line), 1);
    swap s = {lz_mat_where(t, 1, LZ_CMP_EQ, r, m, 1),
              lz_build_compare(f, LZ_CMP_EQ, numbers, lz_mat_spread(t, at, m, 1)), m};
    lz_val other = row_there(t, v[0], s.there, m, w, t->d);
    lz_val x = exchange(t, &s, v[0], lz_mat_window(t, v[0], r, zero, 1, w), other, w);
    out[1] = exchange(t, &s, v[1], lz_mat_window(t, v[1], r, zero, 1, 1),
                      row_there(t, v[1], s.there, m, 1, LZ_I64), 1);
    out[2] = lz_mat_put(t, v[2], at, r, zero);
    lz_val pivot = lz_mat_window(t, other, zero, j, 1, 1),
           column = lz_mat_window(t, x, zero, j, m, 1);
    lz_val all = lz_mat_spread(t, pivot, m, 1), none = lz_mat_zeros(t, m, 1);
    lz_val l = lz_build_select(f, lz_build_compare(f, LZ_CMP_EQ, all, none), none,
                               lz_build_ew2(f, LZ_OP_DIVIDE, column, all));
    lz_val rest = lz_mat_sub(
        t, x,
        lz_build_ew2(f, LZ_OP_MULTIPLY, lz_mat_repeat(t, l, m, w), lz_mat_repeat(t, other, m, w)));
    lz_val below = lz_mat_where(t, 1, LZ_CMP_GT, r, m, w);
    lz_val right = lz_mat_where(t, 2, LZ_CMP_GT, j, m, w),
           own = lz_mat_where(t, 2, LZ_CMP_EQ, j, m, w);
    lz_val changed =
        lz_build_select(f, right, rest, lz_build_select(f, own, lz_mat_repeat(t, l, m, w), x));
    out[0] = lz_build_select(f, below, changed, x);
}

static lz_val in_order(const lz_mats *t, int64_t rows)
{
    lz_shape s = lz_mat_shape(t, rows, 1);
    return lz_build_iota(t->f, lz_type_get(LZ_I64, &s), 1);
}

/* *v: the panel, anything, the rows exchanged. */
static void eliminate_panel(const lz_mats *t, lz_val *v, lz_val k, int64_t rows, int64_t cols,
                            int64_t steps)
{
    panel p = {rows, cols};
    v[1] = in_order(t, rows);
    v[3] = k;
    lz_mat_loop(t, steps, v, 3, 1, eliminate, &p);
}

/* Block number b of columns. v: the matrix, the order of its rows, the rows exchanged. */
static void eliminate_block(const lz_mats *t, lz_val b, const lz_val *v, lz_val *out, void *user)
{
    const panel *p = user;
    lz_func *f = t->f;
    int64_t m = p->rows, n = p->cols, w = LZ_MAT_BLOCK;
    lz_val zero = lz_mat_index(t, 0);
    lz_val k = lz_build_ew2(f, LZ_OP_MULTIPLY, b, lz_mat_index(t, w));
    lz_val next = lz_mat_add(t, k, lz_mat_index(t, w));
    lz_val own[4] = {lz_mat_window(t, v[0], zero, k, m, w), LZ_NOVAL, v[2]};
    eliminate_panel(t, own, k, m, w, w);
    lz_val a = lz_mat_put(t, lz_mat_rows(t, v[0], own[1], m, n), own[0], zero, k);
    lz_val l = lz_mat_window(t, own[0], k, zero, w, w), u = lz_mat_window(t, a, k, zero, w, n);
    lz_val right = lz_mat_where(t, 2, LZ_CMP_GE, next, w, n);
    lz_val solved = lz_mat_solve(t, l, u, w, n, true, true);
    a = lz_mat_put(t, a, lz_build_select(f, right, solved, u), k, zero);
    l = lz_build_select(f, lz_mat_where(t, 1, LZ_CMP_GE, next, m, w), own[0],
                        lz_mat_zeros(t, m, w));
    u = lz_build_select(f, right, solved, lz_mat_zeros(t, w, n));
    out[0] = lz_mat_sub(t, a, lz_mat_dot(t, l, u, 2, 1));
    out[1] = lz_mat_rows(t, v[1], own[1], m, 1);
    out[2] = own[2];
}

void lz_expand_lu(lz_rw *rw, uint32_t i, lz_val *out)
{
    lz_mats own, *t = &own;
    int64_t m, n;
    lz_val a = lz_mat_operand(rw, i, 0, t, &m, &n);
    int64_t k = m < n ? m : n, count = lz_mat_blocks(k), w = lz_mat_block(k), steps = count * w;
    int64_t rows = count == 1 || m > steps ? m : steps, cols = count == 1 || n > steps ? n : steps;
    lz_shape s = lz_mat_shape(t, steps, 1);
    lz_val none = lz_build_splat(t->f, lz_type_get(LZ_I64, &s), 0);
    lz_val v[4] = {lz_mat_pad(t, a, m, n, rows, cols, -1), in_order(t, rows), none};
    if (count == 1) {
        eliminate_panel(t, v, lz_mat_index(t, 0), m, n, k);
    } else {
        panel p = {rows, cols};
        lz_mat_loop(t, count, v, 3, 0, eliminate_block, &p);
    }
    out[0] = lz_mat_result(rw, i, 0, lz_mat_corner(t, v[0], m, n));
    out[1] = lz_mat_result(rw, i, 1, lz_mat_corner(t, v[2], k, 1));
    out[2] = lz_mat_result(rw, i, 2, lz_mat_corner(t, v[1], m, 1));
}
