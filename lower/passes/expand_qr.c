/* expand_qr.c - lazuli.qr, lazuli.geqrf: Householder reflections, column by column in blocks of
 * columns. The reflections of a block, I - tau v v^H each, are applied to the rest at once as I -
 * V T V^H, where the inverse of T has the products v_i^H v_j above its diagonal and 1 / tau on it
 * (Puglisi 1992). q is formed from the identity by the blocks from the last to the first. Signs
 * are those of LAPACK's geqrf: a diagonal element of r has the opposite sign of the element it
 * replaces, unless everything below it is zero.
 * Threads: as rewrite.h. */
#include "lower/passes/expand_linalg.h"

typedef struct panel {
    int64_t rows, cols; /* of the panel */
    int64_t all, steps; /* columns of the matrix, of all reflections */
    int64_t count;      /* blocks of them */
} panel;

typedef struct reflection {
    lz_val v, inverse; /* [batch, rows, 1]; 1 / tau [batch, 1, 1] */
    lz_val none;       /* it is the identity [batch, 1, 1] */
    lz_val beta;       /* the element that stays */
} reflection;

static lz_val mul(const lz_mats *t, lz_val a, lz_val b)
{
    return lz_build_ew2(t->f, LZ_OP_MULTIPLY, a, b);
}

static lz_val one(const lz_mats *t)
{
    return lz_mat_complex(t, lz_mat_number(t, 1, 1, 1));
}

/* The square of the norm of a column: real. */
static lz_val square(const lz_mats *t, lz_val x)
{
    return lz_mat_real(t, lz_mat_dot(t, lz_mat_conj(t, x), x, 1, 1));
}

/* What maps `column` from row r on to a multiple of the first unit vector. */
static reflection reflect(const lz_mats *t, lz_val column, lz_val r, int64_t m)
{
    lz_func *f = t->f;
    lz_val zero = lz_mat_index(t, 0), nought = lz_mat_number(t, 0, 1, 1);
    lz_val tail =
        lz_build_select(f, lz_mat_where(t, 1, LZ_CMP_GT, r, m, 1), column, lz_mat_zeros(t, m, 1));
    lz_val alpha = lz_mat_window(t, column, r, zero, 1, 1);
    lz_val longest = lz_mat_reduce(t, LZ_OP_MAXIMUM, lz_mat_abs(t, tail), 1, 1);
    lz_val most = lz_build_ew2(f, LZ_OP_MAXIMUM, lz_mat_abs(t, alpha), longest);
    lz_val scale = lz_build_select(f, lz_build_compare(f, LZ_CMP_GT, most, nought), most,
                                   lz_mat_number(t, 1, 1, 1));
    lz_val head = lz_mat_over(t, alpha, scale), part = lz_mat_real(t, head);
    lz_val left = square(t, lz_mat_over(t, tail, lz_mat_spread(t, scale, m, 1)));
    lz_val norm = lz_build_ew1(f, LZ_OP_SQRT, lz_mat_add(t, left, square(t, head)));
    norm = lz_build_select(f, lz_build_compare(f, LZ_CMP_LT, part, nought), norm,
                           lz_build_ew1(f, LZ_OP_NEGATE, norm));
    lz_val none = lz_build_compare(f, LZ_CMP_EQ, longest, nought); /* squares may be 0 before */
    if (lz_dtype_is_complex(t->d))
        none =
            lz_build_ew2(f, LZ_OP_AND, none,
                         lz_build_compare(f, LZ_CMP_EQ, lz_build_ew1(f, LZ_OP_IMAG, head), nought));
    none = lz_build_ew2(f, LZ_OP_OR, none,
                        lz_mat_where(t, 1, LZ_CMP_GE, lz_mat_sub(t, lz_mat_index(t, m), r), 1, 1));
    lz_val beta = lz_mat_complex(t, norm), by = lz_mat_sub(t, head, beta);
    by = lz_build_select(f, none, one(t), by); /* alpha - beta, scaled */
    lz_val v = lz_mat_over(t, tail, lz_mat_spread(t, scale, m, 1));
    v = lz_build_ew2(f, LZ_OP_DIVIDE, v, lz_mat_spread(t, by, m, 1));
    v = lz_build_select(f, lz_mat_where(t, 1, LZ_CMP_EQ, r, m, 1), lz_mat_spread(t, one(t), m, 1),
                        v);
    v = lz_build_select(f, lz_mat_spread(t, none, m, 1), lz_mat_zeros(t, m, 1), v);
    lz_val inverse = lz_build_ew2(f, LZ_OP_DIVIDE, beta, lz_build_ew1(f, LZ_OP_NEGATE, by));
    return (reflection){v, lz_build_select(f, none, one(t), inverse), none,
                        lz_build_select(f, none, alpha, lz_mat_complex(t, mul(t, norm, scale)))};
}

/* Column j of a panel whose diagonal starts at row k. v: the panel, the vectors, 1 / tau of each;
 * k. */
static void reflect_column(const lz_mats *t, lz_val j, const lz_val *v, lz_val *out, void *user)
{
    const panel *p = user;
    lz_func *f = t->f;
    int64_t m = p->rows, w = p->cols;
    lz_val zero = lz_mat_index(t, 0), r = lz_mat_add(t, v[3], j);
    lz_val column = lz_mat_window(t, v[0], zero, j, m, 1);
    reflection h = reflect(t, column, r, m);
    lz_val tau = lz_mat_conj(t, lz_build_ew2(f, LZ_OP_DIVIDE, one(t), h.inverse));
    lz_val row =
        mul(t, lz_mat_dot(t, lz_mat_conj(t, h.v), v[0], 1, 1), lz_mat_spread(t, tau, 1, w));
    lz_val rest =
        lz_mat_sub(t, v[0], mul(t, lz_mat_repeat(t, h.v, m, w), lz_mat_repeat(t, row, m, w)));
    lz_val kept = lz_build_select(f, lz_mat_where(t, 1, LZ_CMP_EQ, r, m, 1),
                                  lz_mat_spread(t, h.beta, m, 1), lz_mat_zeros(t, m, 1));
    kept = lz_build_select(f, lz_mat_where(t, 1, LZ_CMP_LT, r, m, 1), column, kept);
    out[0] = lz_build_select(f, lz_mat_where(t, 2, LZ_CMP_EQ, j, m, w),
                             lz_mat_repeat(t, kept, m, w), rest);
    out[1] = lz_mat_put(t, v[1], h.v, zero, j);
    out[2] = lz_mat_put(t, v[2], h.inverse, j, zero);
}

/* The inverse of T for the vectors v and the numbers 1 / tau. */
static lz_val inverse_of_t(const lz_mats *t, lz_val v, lz_val inverse, int64_t w)
{
    lz_val g = lz_mat_dot(t, lz_mat_conj(t, v), v, 1, 1);
    return lz_build_select(t->f, lz_mat_triangle(t, LZ_CMP_EQ, w, w),
                           lz_mat_repeat(t, inverse, w, w), g);
}

/* x less v T v^H x; T's adjoint when `adjoint`. */
static lz_val apply(const lz_mats *t, lz_val x, lz_val v, lz_val inverse, int64_t w, int64_t cols,
                    bool adjoint)
{
    lz_val y = lz_mat_dot(t, lz_mat_conj(t, v), x, 1, 1);
    if (adjoint)
        inverse = lz_mat_conj(t, lz_mat_transpose(t, inverse));
    y = lz_mat_solve(t, inverse, y, w, cols, adjoint, false);
    return lz_mat_sub(t, x, lz_mat_dot(t, v, y, 2, 1));
}

/* v[0]: the panel; gives its vectors and 1 / tau in v[1], v[2]. */
static void reflect_panel(const lz_mats *t, lz_val *v, lz_val k, int64_t rows, int64_t cols,
                          int64_t steps)
{
    panel p = {rows, cols, 0, 0, 1};
    v[1] = lz_mat_zeros(t, rows, steps);
    v[2] = lz_mat_zeros(t, steps, 1);
    v[3] = k;
    lz_mat_loop(t, steps, v, 3, 1, reflect_column, &p);
}

/* Block number b of columns. v: the matrix, all vectors, the inverses of T side by side. */
static void reflect_block(const lz_mats *t, lz_val b, const lz_val *v, lz_val *out, void *user)
{
    const panel *p = user;
    int64_t m = p->rows, w = LZ_MAT_BLOCK;
    lz_val zero = lz_mat_index(t, 0);
    lz_val k = lz_build_ew2(t->f, LZ_OP_MULTIPLY, b, lz_mat_index(t, w));
    lz_val own[4] = {lz_mat_window(t, v[0], zero, k, m, w)};
    reflect_panel(t, own, k, m, w, w);
    lz_val inverse = inverse_of_t(t, own[1], own[2], w);
    lz_val a = apply(t, v[0], own[1], inverse, w, p->all, true);
    lz_val done = lz_mat_where(t, 2, LZ_CMP_LT, k, m, p->all);
    a = lz_build_select(t->f, done, v[0], a);
    out[0] = lz_mat_put(t, a, own[0], zero, k);
    out[1] = lz_mat_put(t, v[1], own[1], zero, k);
    out[2] = lz_mat_put(t, v[2], inverse, zero, k);
}

/* Block number b from the end applied to q. v: q; all vectors, the inverses of T. */
static void apply_block(const lz_mats *t, lz_val b, const lz_val *v, lz_val *out, void *user)
{
    const panel *p = user;
    int64_t w = LZ_MAT_BLOCK;
    lz_val zero = lz_mat_index(t, 0), from = lz_mat_index(t, p->steps - w);
    lz_val k = lz_mat_sub(t, from, lz_build_ew2(t->f, LZ_OP_MULTIPLY, b, lz_mat_index(t, w)));
    out[0] = apply(t, v[0], lz_mat_window(t, v[1], zero, k, p->rows, w),
                   lz_mat_window(t, v[2], zero, k, w, w), w, p->cols, false);
}

/* v[0]: a[batch, m, n] becomes r, of as many columns as p->all; v[1]: the vectors; v[2]: of one
 * block 1 / tau [batch, steps, 1], else the inverses of T side by side. */
static void reflect_all(const lz_mats *t, lz_val *v, int64_t n, const panel *p)
{
    int64_t m = p->rows, w = p->steps / p->count;
    if (p->count == 1) {
        reflect_panel(t, v, lz_mat_index(t, 0), m, n, w);
        return;
    }
    v[0] = lz_mat_pad(t, v[0], m, n, m, p->all, -1);
    v[1] = lz_mat_zeros(t, m, p->steps);
    v[2] = lz_mat_zeros(t, w, p->steps);
    panel own = *p;
    lz_mat_loop(t, p->count, v, 3, 0, reflect_block, &own);
}

/* Of m x n matrices. */
static panel panel_of(int64_t m, int64_t n, int64_t qcols)
{
    int64_t k = m < n ? m : n, count = lz_mat_blocks(k), steps = count * lz_mat_block(k);
    return (panel){m, qcols, n > steps ? n : steps, steps, count};
}

void lz_mat_qr(const lz_mats *t, lz_val a, int64_t m, int64_t n, int64_t qcols, lz_val *q,
               lz_val *r)
{
    int64_t k = m < n ? m : n;
    lz_val eye = lz_mat_eye(t, m, qcols), v[4] = {a};
    panel p = panel_of(m, n, qcols);
    reflect_all(t, v, n, &p);
    if (p.count == 1) {
        *q = apply(t, eye, v[1], inverse_of_t(t, v[1], v[2], k), k, qcols, false);
    } else {
        lz_val x[3] = {eye, v[1], v[2]};
        lz_mat_loop(t, p.count, x, 1, 2, apply_block, &p);
        *q = x[0];
    }
    *r = lz_build_select(t->f, lz_mat_triangle(t, LZ_CMP_LE, qcols, n),
                         lz_mat_corner(t, v[0], qcols, n), lz_mat_zeros(t, qcols, n));
}

void lz_expand_qr(lz_rw *rw, uint32_t i, lz_val *out)
{
    lz_mats own, *t = &own;
    int64_t m, n;
    lz_val a = lz_mat_operand(rw, i, 0, t, &m, &n), q, r;
    const lz_shape *s = &rw->in->insts[i].sig->result[0]->shape;
    lz_mat_qr(t, a, m, n, s->dims[s->rank - 1], &q, &r);
    out[0] = lz_mat_result(rw, i, 0, q);
    out[1] = lz_mat_result(rw, i, 1, r);
}

/* The taus as [batch, 1, steps], 0 of vectors that are 0: of these 1 / tau was 1. */
static lz_val taus(const lz_mats *t, const lz_val *v, const panel *p)
{
    int64_t steps = p->steps;
    lz_val inverse = v[2], one_row = lz_mat_complex(t, lz_mat_number(t, 1, 1, steps));
    if (p->count == 1) {
        inverse = lz_mat_transpose(t, inverse);
    } else { /* the diagonals of the blocks */
        int64_t w = steps / p->count;
        lz_shape s = lz_mat_shape(t, w, steps);
        const lz_type *type = lz_type_get(LZ_I64, &s);
        lz_val width = lz_build_splat(t->f, type, (double)w);
        lz_val in = lz_build_ew2(t->f, LZ_OP_REMAINDER, lz_build_iota(t->f, type, 2), width);
        lz_val on = lz_build_compare(t->f, LZ_CMP_EQ, in, lz_build_iota(t->f, type, 1));
        inverse = lz_mat_reduce(
            t, LZ_OP_ADD, lz_build_select(t->f, on, inverse, lz_mat_zeros(t, w, steps)), 1, steps);
    }
    lz_val size = lz_mat_reduce(t, LZ_OP_MAXIMUM, lz_mat_abs(t, v[1]), 1, steps);
    lz_val none = lz_build_compare(t->f, LZ_CMP_EQ, size, lz_mat_number(t, 0, 1, steps));
    return lz_build_select(t->f, none, lz_mat_zeros(t, 1, steps),
                           lz_build_ew2(t->f, LZ_OP_DIVIDE, one_row, inverse));
}

void lz_expand_geqrf(lz_rw *rw, uint32_t i, lz_val *out)
{
    lz_mats own, *t = &own;
    int64_t m, n;
    lz_val v[4] = {lz_mat_operand(rw, i, 0, t, &m, &n)};
    int64_t k = m < n ? m : n;
    panel p = panel_of(m, n, k);
    reflect_all(t, v, n, &p);
    lz_val below = lz_mat_corner(t, v[1], m, k);
    below = lz_mat_pad(t, below, m, k, m, n, -1);
    lz_val packed = lz_build_select(t->f, lz_mat_triangle(t, LZ_CMP_LE, m, n),
                                    lz_mat_corner(t, v[0], m, n), below);
    out[0] = lz_mat_result(rw, i, 0, packed);
    out[1] = lz_mat_result(rw, i, 1, lz_mat_corner(t, taus(t, v, &p), 1, k));
}
