/* expand_linalg.c - cholesky and triangular_solve as loops. A matrix of up to LZ_MAT_WHOLE columns
 * is processed column by column (cholesky) or row by row; a larger one in blocks of LZ_MAT_BLOCK,
 * each of which is first updated by a dot with everything before it, so most of the work is
 * dot_general. Elements not computed yet are 0, so the dots run over whole matrices and every
 * iteration is the same program. 16-bit floats are computed in f32.
 * Source: Golub and Van Loan, Matrix Computations, 4.2 and 3.1. Threads: as rewrite.h. */
#include "lower/passes/expand_linalg.h"
#include "lower/linalg_call.h"
#include "lower/passes/matrix_builder.h"
#include <math.h>

/* The matrices of operand k as [batch, rows, cols], in the dtype that is computed with. */
lz_val lz_mat_operand(lz_rw *rw, uint32_t i, uint32_t k, lz_mats *t, int64_t *rows, int64_t *cols)
{
    const lz_type *type = rw->in->insts[i].sig->opnd[k];
    int rank = type->shape.rank;
    *rows = type->shape.dims[rank - 2];
    *cols = type->shape.dims[rank - 1];
    t->f = rw->out;
    t->d = lz_dtype_size(type->dtype) == 2 ? LZ_F32 : type->dtype;
    t->batch = 1;
    for (int d = 0; d < rank - 2; d++)
        t->batch *= type->shape.dims[d];
    lz_shape s = lz_mat_shape(t, *rows, *cols);
    return lz_build_convert(rw->out, lz_build_reshape(rw->out, lz_rw_opnd(rw, i, k), &s), t->d);
}

lz_val lz_mat_result(lz_rw *rw, uint32_t i, uint32_t k, lz_val x)
{
    const lz_type *type = rw->in->insts[i].sig->result[k];
    x = x == LZ_NOVAL ? x : lz_build_convert(rw->out, x, type->dtype);
    return x == LZ_NOVAL ? x : lz_build_reshape(rw->out, x, &type->shape);
}

/* ---- cholesky ---- */

typedef struct panel {
    int64_t rows, cols;
} panel;

/* Column j of a panel whose diagonal starts at row k. v: the columns done, the panel, k. */
static void factor_column(const lz_mats *t, lz_val j, const lz_val *v, lz_val *out, void *user)
{
    const panel *p = user;
    lz_func *f = t->f;
    lz_dtype real = lz_dtype_part(t->d);
    lz_shape one = lz_mat_shape(t, 1, 1);
    lz_val zero = lz_mat_index(t, 0), at = lz_mat_add(t, v[2], j);
    lz_val row = lz_mat_conj(t, lz_mat_window(t, v[0], at, zero, 1, p->cols));
    lz_val s =
        lz_mat_sub(t, lz_mat_window(t, v[1], zero, j, p->rows, 1), lz_mat_dot(t, v[0], row, 2, 2));
    lz_val square = lz_mat_real(t, lz_mat_window(t, s, at, zero, 1, 1));
    lz_val none = lz_build_splat(f, lz_type_get(real, &one), 0);
    lz_val root = lz_build_select(f, lz_build_compare(f, LZ_CMP_GT, square, none),
                                  lz_build_ew1(f, LZ_OP_SQRT, square),
                                  lz_build_splat(f, lz_type_get(real, &one), NAN));
    lz_val d = lz_mat_spread(t, root, p->rows, 1);
    lz_val above = lz_build_select(f, lz_mat_where(t, 1, LZ_CMP_EQ, at, p->rows, 1),
                                   lz_mat_complex(t, d), lz_mat_zeros(t, p->rows, 1));
    lz_val column = lz_build_select(f, lz_mat_where(t, 1, LZ_CMP_GT, at, p->rows, 1),
                                    lz_mat_over(t, s, d), above);
    out[0] = lz_mat_put(t, v[0], column, zero, j);
}

static lz_val factor_panel(const lz_mats *t, lz_val a, lz_val k, int64_t rows, int64_t cols)
{
    panel p = {rows, cols};
    lz_val v[3] = {lz_mat_zeros(t, rows, cols), a, k};
    lz_mat_loop(t, cols, v, 1, 2, factor_column, &p);
    return v[0];
}

/* Block number b of columns. v: the columns done, the matrix. */
static void factor_block(const lz_mats *t, lz_val b, const lz_val *v, lz_val *out, void *user)
{
    const panel *p = user;
    lz_val zero = lz_mat_index(t, 0);
    lz_val k = lz_build_ew2(t->f, LZ_OP_MULTIPLY, b, lz_mat_index(t, LZ_MAT_BLOCK));
    lz_val rows = lz_mat_conj(t, lz_mat_window(t, v[0], k, zero, LZ_MAT_BLOCK, p->rows));
    lz_val a = lz_mat_sub(t, lz_mat_window(t, v[1], zero, k, p->rows, LZ_MAT_BLOCK),
                          lz_mat_dot(t, v[0], rows, 2, 2));
    out[0] = lz_mat_put(t, v[0], factor_panel(t, a, k, p->rows, LZ_MAT_BLOCK), zero, k);
}

/* The lower triangle as NaN where anything of the matrix is. */
static lz_val mark_failed(const lz_mats *t, lz_val l, int64_t n)
{
    lz_func *f = t->f;
    lz_shape s = lz_mat_shape(t, n, n);
    lz_dtype d = lz_dtype_part(t->d);
    lz_val re = lz_mat_real(t, l), nan = lz_build_splat(f, lz_type_get(d, &s), NAN);
    lz_ints dims = lz_ints_make(2, (int64_t[]){1, 2});
    lz_val bad = lz_build_reduce(f, LZ_OP_OR, lz_build_compare(f, LZ_CMP_NE, re, re),
                                 lz_build_scalar(f, LZ_BOOL, 0), &dims);
    if (lz_dtype_is_complex(t->d))
        nan = lz_build_ew2(f, LZ_OP_COMPLEX, nan, nan);
    bad = lz_mat_spread(t, bad, n, n);
    return lz_build_select(f, lz_build_ew2(f, LZ_OP_AND, bad, lz_mat_triangle(t, LZ_CMP_GE, n, n)),
                           nan, l);
}

static lz_val cholesky(lz_rw *rw, uint32_t i)
{
    bool lower = LZ_ATTR(cholesky, rw->in->insts[i].sig->attr)->lower;
    lz_mats m, *t = &m;
    int64_t n, same;
    lz_val a = lz_mat_operand(rw, i, 0, t, &n, &same);
    int64_t count = lz_mat_blocks(n), to = count == 1 ? n : count * LZ_MAT_BLOCK;
    if (!lower)
        a = lz_mat_conj(t, lz_mat_transpose(t, a));
    if (count == 1) {
        a = factor_panel(t, a, lz_mat_index(t, 0), n, n);
    } else {
        panel p = {to, LZ_MAT_BLOCK};
        lz_val v[2] = {lz_mat_zeros(t, to, to), lz_mat_pad(t, a, n, n, to, to, n)};
        lz_mat_loop(t, count, v, 1, 1, factor_block, &p);
        a = to == n ? v[0] : lz_mat_corner(t, v[0], n, n);
    }
    a = mark_failed(t, a, n);
    if (!lower)
        a = lz_mat_conj(t, lz_mat_transpose(t, a));
    return lz_mat_result(rw, i, 0, a);
}

/* ---- triangular_solve ---- */

typedef struct system {
    int64_t n, cols;
    bool lower, unit;
} system;

/* Round i of n: its row or block. */
static lz_val place(const lz_mats *t, const system *s, lz_val i, int64_t n)
{
    return s->lower ? i : lz_mat_sub(t, lz_mat_index(t, n - 1), i);
}

/* One row of x. v: the rows done, the right side, the matrix without its diagonal, the matrix; n
 * rows and columns. */
static void solve_row(const lz_mats *t, lz_val i, const lz_val *v, lz_val *out, void *user)
{
    const system *s = user;
    lz_val zero = lz_mat_index(t, 0), j = place(t, s, i, s->n);
    lz_val x = lz_mat_sub(t, lz_mat_window(t, v[1], j, zero, 1, s->cols),
                          lz_mat_dot(t, lz_mat_window(t, v[2], j, zero, 1, s->n), v[0], 2, 1));
    if (!s->unit)
        x = lz_build_ew2(t->f, LZ_OP_DIVIDE, x,
                         lz_mat_spread(t, lz_mat_window(t, v[3], j, j, 1, 1), 1, s->cols));
    out[0] = lz_mat_put(t, v[0], x, j, zero);
}

static lz_val solve_rows(const lz_mats *t, const system *s, lz_val b, lz_val strict, lz_val a)
{
    system own = *s;
    lz_val v[4] = {lz_mat_zeros(t, s->n, s->cols), b, strict, a};
    lz_mat_loop(t, s->n, v, 1, 3, solve_row, &own);
    return v[0];
}

/* One block of rows of x, of what solve_row is given. */
static void solve_block(const lz_mats *t, lz_val i, const lz_val *v, lz_val *out, void *user)
{
    const system *s = user;
    lz_val zero = lz_mat_index(t, 0);
    lz_val k = lz_build_ew2(t->f, LZ_OP_MULTIPLY, place(t, s, i, s->n / LZ_MAT_BLOCK),
                            lz_mat_index(t, LZ_MAT_BLOCK));
    lz_val b =
        lz_mat_sub(t, lz_mat_window(t, v[1], k, zero, LZ_MAT_BLOCK, s->cols),
                   lz_mat_dot(t, lz_mat_window(t, v[2], k, zero, LZ_MAT_BLOCK, s->n), v[0], 2, 1));
    system block = {LZ_MAT_BLOCK, s->cols, s->lower, s->unit};
    lz_val x = solve_rows(t, &block, b, lz_mat_window(t, v[2], k, k, LZ_MAT_BLOCK, LZ_MAT_BLOCK),
                          lz_mat_window(t, v[3], k, k, LZ_MAT_BLOCK, LZ_MAT_BLOCK));
    out[0] = lz_mat_put(t, v[0], x, k, zero);
}

lz_val lz_mat_solve(const lz_mats *t, lz_val a, lz_val b, int64_t n, int64_t cols, bool lower,
                    bool unit)
{
    int64_t count = lz_mat_blocks(n), to = count * lz_mat_block(n);
    system s = {to, cols, lower, unit};
    a = lz_mat_pad(t, a, n, n, to, to, n);
    b = lz_mat_pad(t, b, n, cols, to, cols, -1);
    lz_val strict = lz_build_select(t->f, lz_mat_triangle(t, lower ? LZ_CMP_GT : LZ_CMP_LT, to, to),
                                    a, lz_mat_zeros(t, to, to));
    if (count == 1)
        return solve_rows(t, &s, b, strict, a);
    lz_val v[4] = {lz_mat_zeros(t, to, cols), b, strict, a};
    lz_mat_loop(t, count, v, 1, 3, solve_block, &s);
    return to == n ? v[0] : lz_mat_corner(t, v[0], n, cols);
}

/* x op(a) = b is solved as op(a)^T x^T = b^T. */
static lz_val triangular_solve(lz_rw *rw, uint32_t i)
{
    const lz_attr_triangular_solve *at = LZ_ATTR(triangular_solve, rw->in->insts[i].sig->attr);
    bool turn = (at->transpose_a != LZ_NO_TRANSPOSE) == at->left_side;
    lz_mats m, *t = &m;
    int64_t n, rows, cols;
    lz_val a = lz_mat_operand(rw, i, 0, t, &n, &n), b = lz_mat_operand(rw, i, 1, t, &rows, &cols);
    if (turn)
        a = lz_mat_transpose(t, a);
    if (at->transpose_a == LZ_ADJOINT)
        a = lz_mat_conj(t, a);
    if (!at->left_side)
        b = lz_mat_transpose(t, b);
    lz_val x =
        lz_mat_solve(t, a, b, n, at->left_side ? cols : rows, at->lower != turn, at->unit_diagonal);
    return lz_mat_result(rw, i, 0, at->left_side ? x : lz_mat_transpose(t, x));
}

/* Results without elements, and identities where there is nothing to decompose. */
static lz_val nothing(lz_rw *rw, uint32_t i, uint32_t k)
{
    const lz_sig *s = rw->in->insts[i].sig;
    const lz_type *t = s->result[k];
    if (t == s->opnd[s->nopnd - 1])
        return lz_rw_opnd(rw, i, s->nopnd - 1);
    if (t->nelem == 0)
        return lz_build_splat(rw->out, t, 0);
    if (!lz_dtype_is_int(t->dtype)) {
        lz_mats m = {rw->out, t->dtype, 1};
        int64_t n = t->shape.dims[t->shape.rank - 1];
        for (int d = 0; d < t->shape.rank - 2; d++)
            m.batch *= t->shape.dims[d];
        return lz_build_reshape(rw->out, lz_mat_eye(&m, n, n), &t->shape);
    }
    return lz_build_iota(rw->out, t, t->shape.rank - 1);
}

bool lz_widen_linalg(lz_rw *rw, uint32_t i, lz_val *out)
{
    const lz_sig *s = rw->in->insts[i].sig;
    lz_val v[2];
    if (lz_dtype_size(s->opnd[0]->dtype) != 2 || s->opnd[0]->nelem == 0 || s->result[0]->nelem == 0)
        return false;
    for (uint32_t k = 0; k < s->nopnd; k++)
        v[k] = lz_build_convert(rw->out, lz_rw_opnd(rw, i, k), LZ_F32);
    lz_val x = lz_build(rw->out, s->op, s->attr, v, s->nopnd);
    for (uint32_t k = 0; k < s->nresult; k++) {
        lz_val r = lz_build_result(rw->out, x, k);
        out[k] = r == LZ_NOVAL ? r : lz_build_convert(rw->out, r, s->result[k]->dtype);
    }
    return true;
}

/* Those that iterate without a bound that a loop of dots could have, or permute as they go. */
static void on_host(lz_rw *rw, uint32_t i, lz_val *out)
{
    const lz_sig *s = rw->in->insts[i].sig;
    lz_val opnd[4];
    for (uint32_t k = 0; k < s->nopnd; k++)
        opnd[k] = lz_rw_opnd(rw, i, k);
    lz_linalg_call_build(rw->out, s, opnd, out);
}

void lz_expand_linalg(lz_rw *rw, uint32_t i, lz_val *out)
{
    const lz_inst *in = &rw->in->insts[i];
    const lz_sig *s = in->sig;
    if (s->opnd[0]->nelem == 0 || s->result[0]->nelem == 0) {
        for (uint32_t k = 0; k < s->nresult; k++)
            out[k] = nothing(rw, i, k);
        return;
    }
    switch (s->op) {
    case LZ_OP_CHOLESKY:
        out[0] = cholesky(rw, i);
        return;
    case LZ_OP_TRIANGULAR_SOLVE:
        out[0] = triangular_solve(rw, i);
        return;
    case LZ_OP_LU:
        lz_expand_lu(rw, i, out);
        return;
    case LZ_OP_QR:
        lz_expand_qr(rw, i, out);
        return;
    case LZ_OP_GEQRF:
        lz_expand_geqrf(rw, i, out);
        return;
    case LZ_OP_EIGH:
        lz_expand_eigh(rw, i, out);
        return;
    case LZ_OP_SVD:
        lz_expand_svd(rw, i, out);
        return;
    default:
        on_host(rw, i, out);
    }
}
