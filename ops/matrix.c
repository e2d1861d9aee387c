/* matrix.c - matrix helpers of ops/matrix.h, and the decompositions as primitive operations:
 * include/lazuli/hlo.h. */
#include "ops/matrix.h"
#include <lazuli/hlo.h>

int64_t lz_mx_rows(const lz_node *a)
{
    return lz_tracer_shape(a)->dims[lz_tracer_shape(a)->rank - 2];
}

int64_t lz_mx_cols(const lz_node *a)
{
    return lz_tracer_shape(a)->dims[lz_tracer_shape(a)->rank - 1];
}

lz_node *lz_mx_in(lz_tracer *c, lz_tensor *t)
{
    char text[128];
    lz_node *a = IN(t);
    if (!a)
        return NULL;
    lz_dtype d = lz_tracer_dtype(a);
    if (!lz_dtype_is_float(d) && !lz_dtype_is_complex(d)) {
        LZ_FAIL(LZ_EDTYPE, "the operand is %s: it must be a float or complex", lz_dtype_name(d));
        return NULL;
    }
    if (lz_tracer_shape(a)->rank < 2) {
        LZ_FAIL(LZ_ESHAPE, "%s is no matrix", lz_type_short(lz_node_type(a), text, sizeof text));
        return NULL;
    }
    return a;
}

lz_node *lz_mx_square(lz_node *a)
{
    char text[128];
    if (!a || lz_mx_rows(a) == lz_mx_cols(a))
        return a;
    LZ_FAIL(LZ_ESHAPE, "%s is not square in its last two dimensions",
            lz_type_short(lz_node_type(a), text, sizeof text));
    return NULL;
}

lz_node *lz_mx_transpose(lz_tracer *c, lz_node *a)
{
    if (!a)
        return NULL;
    lz_ints p = {.n = lz_tracer_shape(a)->rank};
    for (int i = 0; i < p.n; i++)
        p.v[i] = i < p.n - 2 ? i : 2 * p.n - 3 - i;
    return lz_tracer_transpose(c, a, &p);
}

lz_node *lz_mx_conj(lz_tracer *c, lz_node *a)
{
    if (!a || !lz_dtype_is_complex(lz_tracer_dtype(a)))
        return a;
    return lz_tracer_ew2(c, LZ_OP_COMPLEX, lz_tracer_ew1(c, LZ_OP_REAL, a),
                         NEG(lz_tracer_ew1(c, LZ_OP_IMAG, a)));
}

lz_node *lz_mx_adjoint(lz_tracer *c, lz_node *a)
{
    return lz_mx_conj(c, lz_mx_transpose(c, a));
}

lz_node *lz_mx_cut(lz_tracer *c, lz_node *a, int dim, int64_t from, int64_t to)
{
    return a ? lz_tracer_slice_dim(c, a, lz_tracer_shape(a)->rank - dim, from, to, 1) : NULL;
}

lz_node *lz_mx_triangle(lz_tracer *c, lz_node *a, lz_comparison_direction dir, int64_t k)
{
    if (!a)
        return NULL;
    const lz_shape *s = lz_tracer_shape(a);
    lz_node *i = lz_tracer_iota(c, LZ_I64, s, s->rank - 2, a),
            *j = lz_tracer_iota(c, LZ_I64, s, s->rank - 1, a);
    return SEL(lz_tracer_compare(c, dir, k ? ADD(i, K(i, (double)k)) : i, j), a, K(a, 0));
}

lz_node *lz_mx_eye(lz_tracer *c, lz_node *a, int64_t rows, int64_t cols)
{
    if (!a)
        return NULL;
    lz_shape s = *lz_tracer_shape(a);
    s.dims[s.rank - 2] = rows;
    s.dims[s.rank - 1] = cols;
    lz_node *i = lz_tracer_iota(c, LZ_I64, &s, s.rank - 2, a),
            *j = lz_tracer_iota(c, LZ_I64, &s, s.rank - 1, a);
    return TO(EQ(i, j), lz_tracer_dtype(a));
}

lz_node *lz_mx_diagonal(lz_tracer *c, lz_node *a)
{
    return a ? lz_tracer_diagonal(c, a, 0, lz_tracer_shape(a)->rank - 2,
                                  lz_tracer_shape(a)->rank - 1)
             : NULL;
}

lz_node *lz_mx_over_last(lz_tracer *c, lz_op op, lz_node *x, int n)
{
    lz_ints dims = {.n = n};
    if (!x)
        return NULL;
    for (int i = 0; i < n; i++)
        dims.v[i] = lz_tracer_shape(x)->rank - n + i;
    return lz_tracer_reduce(c, op, x, &dims);
}

lz_node *lz_mx_solve(lz_tracer *c, lz_node *a, lz_node *b, bool left, bool lower, bool unit,
                     lz_transpose how)
{
    lz_attr_any r;
    if (!a || !b)
        return NULL;
    lz_attr_init(&r, LZ_ATTR_triangular_solve);
    r.as_triangular_solve.left_side = left;
    r.as_triangular_solve.lower = lower;
    r.as_triangular_solve.unit_diagonal = unit;
    r.as_triangular_solve.transpose_a = (int32_t)how;
    return lz_tracer_op(c, LZ_OP_TRIANGULAR_SOLVE, &r.head, (lz_node *[]){a, b}, 2);
}

/* x with the leading dimensions of `batch`, which end where the last two of x begin. */
static lz_node *with_batch(lz_tracer *c, lz_node *x, lz_shape batch)
{
    batch.rank += 2;
    batch.dims[batch.rank - 2] = lz_mx_rows(x);
    batch.dims[batch.rank - 1] = lz_mx_cols(x);
    return lz_tracer_expand(c, x, &batch);
}

bool lz_mx_match(lz_tracer *c, lz_node **a, lz_node **b)
{
    if (!*a || !*b)
        return false;
    lz_shape sa = *lz_tracer_shape(*a), sb = *lz_tracer_shape(*b), s;
    lz_dtype d = lz_promote(lz_tracer_dtype(*a), lz_tracer_dtype(*b));
    sa.rank -= 2;
    sb.rank -= 2;
    if (d == LZ_DTYPE_NONE) {
        LZ_FAIL(LZ_EDTYPE, "%s and %s have no common dtype", lz_dtype_name(lz_tracer_dtype(*a)),
                lz_dtype_name(lz_tracer_dtype(*b)));
        return false;
    }
    if (!lz_tracer_broadcast_shapes(&sa, &sb, &s))
        return false;
    *a = TO(with_batch(c, *a, s), d);
    *b = TO(with_batch(c, *b, s), d);
    return *a && *b;
}

lz_node *lz_mx_decompose(lz_tracer *c, lz_op op, bool flag, lz_node *a)
{
    lz_attr_any r;
    if (!a)
        return NULL;
    lz_attr_init(&r, lz_op_get(op)->attr);
    if (op == LZ_OP_CHOLESKY)
        r.as_cholesky.lower = flag;
    else if (op == LZ_OP_QR)
        r.as_qr.complete = flag;
    else if (op == LZ_OP_SVD)
        r.as_svd.full = flag;
    else if (op == LZ_OP_EIGH)
        r.as_eigh.lower = flag;
    return lz_tracer_op(c, op, &r.head, &a, 1);
}

lz_node *lz_mx_divide(lz_tracer *c, lz_node *a, lz_node *b)
{
    lz_node *w = lz_mx_decompose(c, LZ_OP_LU, false, a);
    if (!w || !b)
        return NULL;
    lz_node *lu = lz_tracer_result(c, w, 0), *order = lz_tracer_result(c, w, 2);
    lz_shape s = *lz_tracer_shape(b);
    lz_ints dims = {.n = s.rank - 1};
    for (int i = 0; i < dims.n; i++)
        dims.v[i] = i;
    order = lz_tracer_broadcast_in_dim(c, TO(order, LZ_I64), &dims, &s);
    b = order ? lz_tracer_gather(c, b, s.rank - 2, order) : NULL;
    b = lz_mx_solve(c, lu, b, true, true, true, LZ_NO_TRANSPOSE);
    return lz_mx_solve(c, lu, b, true, false, false, LZ_NO_TRANSPOSE);
}

/* ---- the rows ---- */

lz_tensor *lz_hlo_lu_at(lz_tensor *a, lz_tensor **pivots, lz_tensor **order, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_hlo_lu");
    lz_node *w = lz_mx_decompose(c, LZ_OP_LU, false, IN(a));
    lz_tracer_also(c, w ? lz_tracer_result(c, w, 1) : NULL, pivots);
    lz_tracer_also(c, w ? lz_tracer_result(c, w, 2) : NULL, order);
    return lz_tracer_end(c, w ? lz_tracer_result(c, w, 0) : NULL);
}

lz_tensor *lz_hlo_qr_at(lz_tensor *a, bool complete, lz_tensor **r, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_hlo_qr");
    lz_node *w = lz_mx_decompose(c, LZ_OP_QR, complete, IN(a));
    lz_tracer_also(c, w ? lz_tracer_result(c, w, 1) : NULL, r);
    return lz_tracer_end(c, w ? lz_tracer_result(c, w, 0) : NULL);
}

lz_tensor *lz_hlo_geqrf_at(lz_tensor *a, lz_tensor **taus, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_hlo_geqrf");
    lz_node *w = lz_mx_decompose(c, LZ_OP_GEQRF, false, IN(a));
    lz_tracer_also(c, w ? lz_tracer_result(c, w, 1) : NULL, taus);
    return lz_tracer_end(c, w ? lz_tracer_result(c, w, 0) : NULL);
}

lz_tensor *lz_hlo_svd_at(lz_tensor *a, bool full, lz_tensor **s, lz_tensor **v, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_hlo_svd");
    lz_node *w = lz_mx_decompose(c, LZ_OP_SVD, full, IN(a));
    lz_tracer_also(c, w ? lz_tracer_result(c, w, 1) : NULL, s);
    lz_tracer_also(c, w ? lz_tracer_result(c, w, 2) : NULL, v);
    return lz_tracer_end(c, w ? lz_tracer_result(c, w, 0) : NULL);
}

lz_tensor *lz_mx_eig_at(lz_tensor *a, lz_tensor **vectors, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linalg_eig");
    lz_attr_any r;
    lz_attr_init(&r, LZ_ATTR_eig);
    r.as_eig.right = true;
    lz_node *x = IN(a), *w = x ? lz_tracer_op(c, LZ_OP_EIG, &r.head, &x, 1) : NULL;
    lz_tracer_also(c, w ? lz_tracer_result(c, w, 1) : NULL, vectors);
    return lz_tracer_end(c, w ? lz_tracer_result(c, w, 0) : NULL);
}
