/* expand_svd.c - lazuli.svd: one-sided Jacobi rotations (Hestenes 1958) of r^H, where a = q r, so
 * r = v s u^H follows from u s v^H = r^H. A step rotates all columns in pairs at once, column i of
 * one half with column i of the other; then the columns move round (Brent and Luk 1985), so that n
 * - 1 steps pair every two columns once and restore their order. Sweeps repeat until all columns
 * are orthogonal. Columns of u where s is 0 are completed by a last QR.
 * Threads: as rewrite.h. */
#include "lower/passes/expand_linalg.h"
#include <float.h>
#include <math.h>

enum { SWEEPS = 40 };

typedef struct jacobi {
    int64_t n, half; /* rows and columns, 2 half of them */
    double tol;      /* columns are orthogonal */
} jacobi;

static lz_val mul(const lz_mats *t, lz_val a, lz_val b)
{
    return lz_build_ew2(t->f, LZ_OP_MULTIPLY, a, b);
}

static lz_val ew1(const lz_mats *t, lz_op op, lz_val a)
{
    return lz_build_ew1(t->f, op, a);
}

/* Sums over the rows of conj(a) b: [batch, 1, cols]. */
static lz_val sums(const lz_mats *t, lz_val a, lz_val b, int64_t cols)
{
    return lz_mat_reduce(t, LZ_OP_ADD, mul(t, lz_mat_conj(t, a), b), 1, cols);
}

static lz_val squares(const lz_mats *t, lz_val a, int64_t cols)
{
    lz_val s = lz_mat_abs(t, a);
    return lz_mat_reduce(t, LZ_OP_ADD, mul(t, s, s), 1, cols);
}

/* The larger of the scalar v and any element of x. */
static lz_val at_least(const lz_mats *t, lz_val v, lz_val x)
{
    lz_ints dims = lz_ints_make(3, (int64_t[]){0, 1, 2});
    lz_val init = lz_build_scalar(t->f, lz_dtype_part(t->d), 0);
    return lz_build_ew2(t->f, LZ_OP_MAXIMUM, v,
                        lz_build_reduce(t->f, LZ_OP_MAXIMUM, x, init, &dims));
}

/* Cosine and sine (with the phase of g) by which columns of squared norms a, b and product g become
 * orthogonal; 1 and 0 where they are. */
static void rotation(const lz_mats *t, lz_val a, lz_val b, lz_val g, lz_val on, int64_t cols,
                     lz_val *cosine, lz_val *sine)
{
    lz_func *f = t->f;
    lz_val unit = lz_mat_number(t, 1, 1, cols), zero = lz_mat_number(t, 0, 1, cols);
    lz_val size = lz_build_select(f, on, lz_mat_abs(t, g), unit);
    lz_val zeta = lz_build_ew2(f, LZ_OP_DIVIDE, lz_mat_sub(t, b, a), lz_mat_add(t, size, size));
    lz_val big = lz_mat_abs(t, zeta);
    lz_val tangent = lz_build_ew2(
        f, LZ_OP_DIVIDE, unit,
        lz_mat_add(t, big, ew1(t, LZ_OP_SQRT, lz_mat_add(t, unit, mul(t, zeta, zeta)))));
    tangent = lz_build_select(f, lz_build_compare(f, LZ_CMP_LT, zeta, zero),
                              ew1(t, LZ_OP_NEGATE, tangent), tangent);
    lz_val c = lz_build_ew2(f, LZ_OP_DIVIDE, unit,
                            ew1(t, LZ_OP_SQRT, lz_mat_add(t, unit, mul(t, tangent, tangent))));
    lz_val s = lz_build_select(f, on, mul(t, c, tangent), zero);
    *cosine = lz_mat_complex(t, lz_build_select(f, on, c, unit));
    *sine = mul(t, lz_mat_complex(t, s), lz_mat_over(t, g, size));
}

/* The columns of both halves move round; the first one stays. */
static lz_val join(const lz_mats *t, lz_val a, lz_val b)
{
    lz_attr_dim at = {.kind = LZ_ATTR_dim, .dimension = 2};
    return lz_build(t->f, LZ_OP_CONCATENATE, (const lz_attr *)(const void *)&at, (lz_val[]){a, b},
                    2);
}

static lz_val columns(const lz_mats *t, lz_val x, int64_t rows, int64_t from, int64_t cols)
{
    return lz_mat_window(t, x, lz_mat_index(t, 0), lz_mat_index(t, from), rows, cols);
}

static void move_round(const lz_mats *t, lz_val *a, lz_val *b, int64_t rows, int64_t half)
{
    if (half == 1)
        return;
    lz_val x = join(t, columns(t, *a, rows, 0, 1), columns(t, *b, rows, 0, 1));
    if (half > 2)
        x = join(t, x, columns(t, *a, rows, 1, half - 2));
    lz_val y = join(t, columns(t, *b, rows, 1, half - 1), columns(t, *a, rows, half - 1, 1));
    *a = x;
    *b = y;
}

/* One step. v: the largest cosine of an angle so far; both halves of the columns, above them those
 * of the rotations. */
static void rotate(const lz_mats *t, lz_val step, const lz_val *v, lz_val *out, void *user)
{
    const jacobi *p = user;
    lz_func *f = t->f;
    int64_t n = p->n, h = p->half, all = n + 2 * h;
    (void)step;
    lz_val x = lz_mat_corner(t, v[1], n, h), y = lz_mat_corner(t, v[2], n, h);
    lz_val a = squares(t, x, h), b = squares(t, y, h), g = sums(t, x, y, h);
    lz_val norms = mul(t, ew1(t, LZ_OP_SQRT, a), ew1(t, LZ_OP_SQRT, b));
    lz_val some = lz_build_compare(f, LZ_CMP_GT, norms, lz_mat_number(t, 0, 1, h));
    lz_val angle = lz_build_select(f, some, lz_build_ew2(f, LZ_OP_DIVIDE, lz_mat_abs(t, g), norms),
                                   lz_mat_number(t, 0, 1, h));
    lz_val on = lz_build_compare(f, LZ_CMP_GT, angle, lz_mat_number(t, p->tol, 1, h)), c, s;
    rotation(t, a, b, g, on, h, &c, &s);
    out[0] = at_least(t, v[0], angle);
    c = lz_mat_repeat(t, c, all, h);
    lz_val to = lz_mat_repeat(t, s, all, h), from = lz_mat_repeat(t, lz_mat_conj(t, s), all, h);
    out[1] = lz_mat_sub(t, mul(t, c, v[1]), mul(t, from, v[2]));
    out[2] = lz_mat_add(t, mul(t, to, v[1]), mul(t, c, v[2]));
    move_round(t, &out[1], &out[2], all, h);
}

/* v: whether the last sweep rotated; both halves. */
static void sweep(const lz_mats *t, lz_val number, const lz_val *v, lz_val *out, void *user)
{
    const jacobi *p = user;
    (void)number;
    lz_dtype d = lz_dtype_part(t->d);
    lz_val x[3] = {lz_build_scalar(t->f, d, 0), v[1], v[2]};
    lz_mat_loop(t, 2 * p->half - 1, x, 3, 0, rotate, user);
    out[0] = lz_build_compare(t->f, LZ_CMP_GT, x[0], lz_build_scalar(t->f, d, p->tol));
    out[1] = x[1];
    out[2] = x[2];
}

/* The columns of x[batch, rows, cols] from the longest to the shortest, whose squared norms these
 * are. */
static lz_val by_norm(const lz_mats *t, lz_val x, lz_val norms, int64_t cols, int64_t rows)
{
    lz_func *f = t->f;
    lz_dtype d = lz_dtype_part(t->d);
    lz_shape s = lz_mat_shape(t, 1, cols);
    lz_attr_sort a = {.kind = LZ_ATTR_sort, .dimension = 2, .is_stable = true};
    a.comparator = lz_region_order((lz_dtype[]){d, LZ_I64}, 2, 1, true);
    if (!a.comparator) {
        f->status = lz_error_get()->status;
        return LZ_NOVAL;
    }
    lz_val v[2] = {norms, lz_build_iota(f, lz_type_get(LZ_I64, &s), 2)};
    lz_val w = lz_build(f, LZ_OP_SORT, (const lz_attr *)(const void *)&a, v, 2);
    if (w == LZ_NOVAL)
        return w;
    lz_val order = lz_mat_transpose(t, lz_build_result(f, w, 1));
    return lz_mat_transpose(t, lz_mat_rows(t, lz_mat_transpose(t, x), order, cols, rows));
}

/* Columns whose diagonal element of r is not positive, or not real, rotated so that it is. */
static lz_val turn(const lz_mats *t, lz_val q, lz_val r, int64_t n)
{
    lz_val zeros = lz_mat_zeros(t, n, n);
    lz_val on = lz_build_select(t->f, lz_mat_triangle(t, LZ_CMP_EQ, n, n), r, zeros);
    lz_val d = lz_mat_reduce(t, LZ_OP_ADD, on, 1, n), size = lz_mat_abs(t, d);
    lz_val some = lz_build_compare(t->f, LZ_CMP_GT, size, lz_mat_number(t, 0, 1, n));
    lz_val unit = lz_mat_number(t, 1, 1, n);
    lz_val phase =
        lz_build_select(t->f, some, lz_mat_over(t, d, lz_build_select(t->f, some, size, unit)),
                        lz_mat_complex(t, unit));
    return mul(t, q, lz_mat_repeat(t, phase, n, n));
}

/* u, s (as [batch, 1, n]) and v of the square matrix x of n columns. */
static void decompose(const lz_mats *t, lz_val x, int64_t n, lz_val *u, lz_val *s, lz_val *v)
{
    bool wide = lz_dtype_part(t->d) == LZ_F64;
    jacobi p = {n, (n + 1) / 2, 2 * sqrt((double)n) * (wide ? DBL_EPSILON : (double)FLT_EPSILON)};
    int64_t even = 2 * p.half, all = n + even;
    lz_attr_dim at = {.kind = LZ_ATTR_dim, .dimension = 1};
    lz_val both[2] = {lz_mat_pad(t, x, n, n, n, even, -1), lz_mat_eye(t, even, even)};
    x = lz_build(t->f, LZ_OP_CONCATENATE, (const lz_attr *)(const void *)&at, both, 2);
    lz_val c[3] = {lz_build_scalar(t->f, LZ_BOOL, 1), columns(t, x, all, 0, p.half),
                   columns(t, x, all, p.half, p.half)};
    lz_mat_loop_while(t, SWEEPS, c, 3, 0, sweep, &p);
    x = join(t, c[1], c[2]);
    /* the column that made it even is in its place still, and 0 */
    lz_val norms = squares(t, lz_mat_corner(t, x, n, even), even);
    if (even > n)
        norms = lz_build_select(t->f, lz_mat_where(t, 2, LZ_CMP_EQ, lz_mat_index(t, n), 1, even),
                                lz_mat_number(t, -1, 1, even), norms);
    x = by_norm(t, x, norms, even, all);
    lz_val us = lz_mat_corner(t, x, n, n), q, r;
    *s = ew1(t, LZ_OP_SQRT, squares(t, us, n));
    *v = lz_mat_window(t, x, lz_mat_index(t, n), lz_mat_index(t, 0), n, n);
    lz_mat_qr(t, us, n, n, n, &q, &r);
    *u = turn(t, q, r, n);
}

/* The largest magnitude of each matrix, or 1 when that is 0 or NaN: [batch, 1, 1]. */
static lz_val scale_of(const lz_mats *t, lz_val a, int64_t n)
{
    lz_val unit = lz_mat_number(t, 1, 1, 1);
    lz_val most = lz_mat_reduce(t, LZ_OP_MAXIMUM,
                                lz_mat_reduce(t, LZ_OP_MAXIMUM, lz_mat_abs(t, a), 1, n), 2, 1);
    lz_val good = lz_build_ew2(t->f, LZ_OP_AND, ew1(t, LZ_OP_IS_FINITE, most),
                               lz_build_compare(t->f, LZ_CMP_GT, most, lz_mat_number(t, 0, 1, 1)));
    return lz_build_select(t->f, good, most, unit);
}

void lz_mat_svd(const lz_mats *t, lz_val a, int64_t m, int64_t n, int64_t cols, lz_val *u,
                lz_val *s, lz_val *v)
{
    lz_val q, r, inner, scale = scale_of(t, a, n);
    a = lz_mat_over(t, a, lz_mat_spread(t, scale, m, n));
    lz_mat_qr(t, a, m, n, cols, &q, &r);
    r = lz_mat_corner(t, r, n, n);
    decompose(t, lz_mat_conj(t, lz_mat_transpose(t, r)), n, v, s, &inner);
    *s = mul(t, *s, lz_mat_spread(t, scale, 1, n));
    *u = lz_mat_dot(t, lz_mat_corner(t, q, m, n), inner, 2, 1);
    if (cols > n)
        *u = join(t, *u, columns(t, q, m, n, cols - n));
}

void lz_expand_svd(lz_rw *rw, uint32_t i, lz_val *out)
{
    lz_mats own, *t = &own;
    int64_t m, n;
    lz_val a = lz_mat_operand(rw, i, 0, t, &m, &n), u, s, v;
    bool full = LZ_ATTR(svd, rw->in->insts[i].sig->attr)->full;
    if (m >= n)
        lz_mat_svd(t, a, m, n, full ? m : n, &u, &s, &v);
    else
        lz_mat_svd(t, lz_mat_conj(t, lz_mat_transpose(t, a)), n, m, full ? n : m, &v, &s, &u);
    out[0] = lz_mat_result(rw, i, 0, u);
    out[1] = lz_mat_result(rw, i, 1, s);
    out[2] = lz_mat_result(rw, i, 2, v);
}
