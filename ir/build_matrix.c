/* build_matrix.c - LAPACK's routines from the rows of decompositions. See build_matrix.h. */
#include "ir/build_matrix.h"
#include "ir/attr.h"

lz_bm lz_bm_of(lz_func *f, lz_val a)
{
    const lz_type *t = lz_val_type(f, a);
    lz_bm b = {f, t->dtype, t->shape, 0, 0};
    int rank = t->shape.rank;
    b.m = t->shape.dims[rank - 2];
    b.n = t->shape.dims[rank - 1];
    b.batch.dims[rank - 2] = b.batch.dims[rank - 1] = 0;
    b.batch.rank = rank - 2;
    return b;
}

/* ---- pieces ---- */

static lz_shape shape_of(const lz_bm *b, int64_t rows, int64_t cols)
{
    lz_shape s = b->batch;
    s.dims[s.rank++] = rows;
    s.dims[s.rank++] = cols;
    return s;
}

static lz_val ew2(const lz_bm *b, lz_op op, lz_val x, lz_val y)
{
    return lz_build_ew2(b->f, op, x, y);
}

static lz_val fill(const lz_bm *b, lz_dtype d, int64_t rows, int64_t cols, double v)
{
    lz_shape s = shape_of(b, rows, cols);
    return lz_build_splat(b->f, lz_type_get(d, &s), v);
}

/* row `dir` column */
static lz_val triangle(const lz_bm *b, lz_comparison_direction dir, int64_t rows, int64_t cols)
{
    lz_shape s = shape_of(b, rows, cols);
    const lz_type *t = lz_type_get(LZ_I32, &s);
    int rank = s.rank;
    if (!t) {
        b->f->status = lz_error_get()->status;
        return LZ_NOVAL;
    }
    return lz_build_compare(b->f, dir, lz_build_iota(b->f, t, rank - 2),
                            lz_build_iota(b->f, t, rank - 1));
}

static lz_val zero_outside(const lz_bm *b, lz_val x, lz_comparison_direction dir, int64_t rows,
                           int64_t cols)
{
    return lz_build_select(b->f, triangle(b, dir, rows, cols), x, fill(b, b->d, rows, cols, 0));
}

static lz_val eye(const lz_bm *b, int64_t rows, int64_t cols)
{
    return zero_outside(b, fill(b, b->d, rows, cols, 1), LZ_CMP_EQ, rows, cols);
}

/* The first rows and columns. */
static lz_val corner(const lz_bm *b, lz_val x, int64_t rows, int64_t cols)
{
    lz_shape s = shape_of(b, rows, cols);
    return lz_build_slice(b->f, x, NULL, s.dims, NULL);
}

/* The product of the last two dimensions. */
static lz_val product(const lz_bm *b, lz_val x, lz_val y)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_dot);
    int n = b->batch.rank;
    a.as_dot.lhs_batching_dimensions.n = a.as_dot.rhs_batching_dimensions.n = n;
    for (int d = 0; d < n; d++)
        a.as_dot.lhs_batching_dimensions.v[d] = a.as_dot.rhs_batching_dimensions.v[d] = d;
    a.as_dot.lhs_contracting_dimensions = lz_ints_make(1, (int64_t[]){n + 1});
    a.as_dot.rhs_contracting_dimensions = lz_ints_make(1, (int64_t[]){n});
    a.as_dot.precision = LZ_PRECISION_HIGHEST; /* decompositions are as exact as their dtype */
    return lz_build(b->f, LZ_OP_DOT_GENERAL, &a.head, (lz_val[]){x, y}, 2);
}

lz_val lz_bm_adjoint(lz_func *f, lz_val a)
{
    if (a == LZ_NOVAL)
        return a;
    lz_ints perm = {.n = lz_val_type(f, a)->shape.rank};
    for (int d = 0; d < perm.n; d++)
        perm.v[d] = d < perm.n - 2 ? d : 2 * perm.n - 3 - d;
    return lz_build_conj(f, lz_build_transpose(f, a, &perm));
}

/* Over the last `count` dimensions of x. */
static lz_val reduced(const lz_bm *b, lz_op op, lz_val x, int count, double init)
{
    if (x == LZ_NOVAL)
        return x;
    const lz_type *t = lz_val_type(b->f, x);
    lz_ints dims = {.n = count};
    for (int i = 0; i < count; i++)
        dims.v[i] = t->shape.rank - count + i;
    return lz_build_reduce(b->f, op, x, lz_build_scalar(b->f, t->dtype, init), &dims);
}

/* x[batch, ..], whose dimensions after the batch are those of `at` (from 0), as [batch, rows,
 * cols]. */
static lz_val spread(const lz_bm *b, lz_val x, lz_ints at, int64_t rows, int64_t cols)
{
    lz_shape s = shape_of(b, rows, cols);
    lz_ints dims = {.n = b->batch.rank + at.n};
    for (int d = 0; d < dims.n; d++)
        dims.v[d] = d < b->batch.rank ? d : b->batch.rank + at.v[d - b->batch.rank];
    return lz_build_broadcast(b->f, x, &dims, &s);
}

lz_val lz_bm_no_info(const lz_bm *b)
{
    return lz_build_splat(b->f, lz_type_get(LZ_I32, &b->batch), 0);
}

/* ---- the routines ---- */

void lz_bm_getrf(const lz_bm *b, lz_val a, lz_val *out)
{
    lz_func *f = b->f;
    int64_t k = b->m < b->n ? b->m : b->n;
    lz_build_all_results(f, lz_build(f, LZ_OP_LU, NULL, &a, 1), 3, out);
    if (out[1] != LZ_NOVAL)
        out[1] = ew2(b, LZ_OP_ADD, out[1], lz_build_splat(f, lz_val_type(f, out[1]), 1));
    lz_shape s = shape_of(b, b->m, b->n);
    lz_val number = lz_build_iota(f, lz_type_get(LZ_I32, &s), s.rank - 1);
    number = ew2(b, LZ_OP_ADD, number, fill(b, LZ_I32, b->m, b->n, 1));
    lz_val zero = lz_build_compare(f, LZ_CMP_EQ, out[0], fill(b, b->d, b->m, b->n, 0));
    zero = ew2(b, LZ_OP_AND, zero, triangle(b, LZ_CMP_EQ, b->m, b->n));
    lz_val none = fill(b, LZ_I32, b->m, b->n, (double)k + 1);
    lz_val first = reduced(b, LZ_OP_MINIMUM, lz_build_select(f, zero, number, none), 2, k + 1.0);
    if (first == LZ_NOVAL)
        return;
    none = lz_build_splat(f, lz_val_type(f, first), (double)k + 1);
    out[2] =
        lz_build_select(f, lz_build_compare(f, LZ_CMP_LT, first, none), first, lz_bm_no_info(b));
}

void lz_bm_potrf(const lz_bm *b, lz_val a, bool lower, lz_val *out)
{
    lz_func *f = b->f;
    lz_attr_any at;
    lz_attr_init(&at, LZ_ATTR_cholesky);
    at.as_cholesky.lower = lower;
    lz_val l = lz_build(f, LZ_OP_CHOLESKY, &at.head, &a, 1);
    lz_val own = triangle(b, lower ? LZ_CMP_GE : LZ_CMP_LE, b->n, b->n);
    out[0] = lz_build_select(f, own, l, a);
    lz_val bad =
        ew2(b, LZ_OP_AND, triangle(b, LZ_CMP_EQ, b->n, b->n), lz_build_compare(f, LZ_CMP_NE, l, l));
    bad = reduced(b, LZ_OP_OR, bad, 2, 0);
    out[1] = lz_build_convert(f, bad, LZ_I32);
}

static void svd(const lz_bm *b, lz_val a, bool full, lz_val *usv)
{
    lz_attr_any at;
    lz_attr_init(&at, LZ_ATTR_svd);
    at.as_svd.full = full;
    lz_build_all_results(b->f, lz_build(b->f, LZ_OP_SVD, &at.head, &a, 1), 3, usv);
}

void lz_bm_gesdd(const lz_bm *b, lz_val a, bool full, lz_val *out)
{
    svd(b, a, full, out);
    out[2] = lz_bm_adjoint(b->f, out[2]);
}

void lz_bm_syevd(const lz_bm *b, lz_val a, bool lower, lz_val *out)
{
    lz_attr_any at;
    lz_attr_init(&at, LZ_ATTR_eigh);
    at.as_eigh.lower = lower;
    lz_build_all_results(b->f, lz_build(b->f, LZ_OP_EIGH, &at.head, &a, 1), 2, out);
}

void lz_bm_forms(const lz_bm *b, lz_op op, const lz_attr_any *at, const lz_val *opnd, lz_val *out)
{
    lz_val v = lz_build(b->f, op, at ? &at->head : NULL, opnd, (uint32_t)lz_op_get(op)->arity);
    if (v == LZ_NOVAL)
        return;
    uint32_t n = b->f->insts[v].sig->nresult;
    if (n == 1)
        out[0] = v;
    else
        lz_build_all_results(b->f, v, n, out);
}

lz_val lz_bm_nan_info(const lz_bm *b, lz_val x, int dims)
{
    lz_val re = lz_build_ew1(b->f, LZ_OP_REAL, x);
    lz_val bad = reduced(b, LZ_OP_OR, lz_build_compare(b->f, LZ_CMP_NE, re, re), dims, 0);
    return lz_build_convert(b->f, bad, LZ_I32);
}

lz_val lz_bm_zero_info(const lz_bm *b, lz_val d)
{
    lz_func *f = b->f;
    if (d == LZ_NOVAL)
        return d;
    const lz_type *t = lz_val_type(f, d), *whole = lz_type_get(LZ_I32, &t->shape);
    double none = (double)b->m + 1;
    if (!whole) {
        f->status = lz_error_get()->status;
        return LZ_NOVAL;
    }
    lz_val zero = lz_build_compare(f, LZ_CMP_EQ, d, lz_build_splat(f, t, 0));
    lz_val number =
        ew2(b, LZ_OP_ADD, lz_build_iota(f, whole, t->shape.rank - 1), lz_build_splat(f, whole, 1));
    lz_val first =
        reduced(b, LZ_OP_MINIMUM, lz_build_select(f, zero, number, lz_build_splat(f, whole, none)),
                1, none);
    if (first == LZ_NOVAL)
        return first;
    lz_val end = lz_build_splat(f, lz_val_type(f, first), none);
    return lz_build_select(f, lz_build_compare(f, LZ_CMP_LT, first, end), first, lz_bm_no_info(b));
}

/* ---- products of reflections: I - V T V^H, where the inverse of T has the products v_i^H v_j
 * above its diagonal and 1 / tau on it ---- */

/* V, with 0 in place of the vectors whose tau is 0, and T's inverse, with 1 in place of 1 / tau. */
static void reflections(const lz_bm *b, lz_val a, lz_val taus, int64_t k, lz_val *v,
                        lz_val *inverse)
{
    lz_func *f = b->f;
    lz_val below = zero_outside(b, corner(b, a, b->m, k), LZ_CMP_GT, b->m, k);
    *v = ew2(b, LZ_OP_ADD, below, eye(b, b->m, k));
    lz_val tau = spread(b, taus, lz_ints_make(1, (int64_t[]){1}), b->m, k);
    lz_val nothing = fill(b, b->d, b->m, k, 0);
    *v = lz_build_select(f, lz_build_compare(f, LZ_CMP_EQ, tau, nothing), nothing, *v);
    tau = spread(b, taus, lz_ints_make(1, (int64_t[]){1}), k, k);
    lz_val one = fill(b, b->d, k, k, 1);
    lz_val over = lz_build_select(f, lz_build_compare(f, LZ_CMP_EQ, tau, fill(b, b->d, k, k, 0)),
                                  one, ew2(b, LZ_OP_DIVIDE, one, tau));
    *inverse = lz_build_select(f, triangle(b, LZ_CMP_EQ, k, k), over,
                               product(b, lz_bm_adjoint(f, *v), *v));
}

/* T x, or T^H x */
static lz_val t_times(const lz_bm *b, lz_val inverse, lz_val x, bool adjoint)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_triangular_solve);
    a.as_triangular_solve.left_side = true;
    a.as_triangular_solve.transpose_a = adjoint ? LZ_ADJOINT : LZ_NO_TRANSPOSE;
    return lz_build(b->f, LZ_OP_TRIANGULAR_SOLVE, &a.head, (lz_val[]){inverse, x}, 2);
}

static int64_t last(lz_func *f, lz_val x)
{
    const lz_shape *s = &lz_val_type(f, x)->shape;
    return s->dims[s->rank - 1];
}

lz_val lz_bm_orgqr(const lz_bm *b, lz_val a, lz_val taus)
{
    int64_t k = last(b->f, taus);
    lz_val v, inverse;
    reflections(b, a, taus, k, &v, &inverse);
    lz_val top =
        lz_bm_adjoint(b->f, corner(b, v, b->n, k)); /* V^H of the columns of the identity */
    return ew2(b, LZ_OP_SUBTRACT, eye(b, b->m, b->n),
               product(b, v, t_times(b, inverse, top, false)));
}

lz_val lz_bm_ormqr(const lz_bm *b, lz_val a, lz_val taus, lz_val x, bool left, bool adjoint)
{
    lz_val v, inverse;
    x = left ? x : lz_bm_adjoint(b->f, x); /* x q is (q^H x^H)^H */
    adjoint ^= !left;
    reflections(b, a, taus, last(b->f, taus), &v, &inverse);
    lz_val y = product(b, lz_bm_adjoint(b->f, v), x);
    x = ew2(b, LZ_OP_SUBTRACT, x, product(b, v, t_times(b, inverse, y, adjoint)));
    return left ? x : lz_bm_adjoint(b->f, x);
}
