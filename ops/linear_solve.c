/* linear_solve.c - Cholesky, LU and triangular solves, and what is made of them: inverse,
 * determinant, matrix power: include/lazuli/decompositions.h. */
#include "ops/matrix.h"
#include <inttypes.h>
#include <lazuli/decompositions.h>

lz_tensor *lz_linalg_cholesky_at(lz_tensor *a, bool upper, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linalg_cholesky");
    lz_node *x = lz_mx_square(lz_mx_in(c, a));
    return lz_tracer_end(c, lz_mx_decompose(c, LZ_OP_CHOLESKY, !upper, x));
}

/* (l l^H)^-1 b, of u = l^H */
static lz_node *by_factor(lz_tracer *c, lz_node *l, lz_node *b, bool upper)
{
    b = lz_mx_solve(c, l, b, true, !upper, false, upper ? LZ_ADJOINT : LZ_NO_TRANSPOSE);
    return lz_mx_solve(c, l, b, true, !upper, false, upper ? LZ_NO_TRANSPOSE : LZ_ADJOINT);
}

lz_tensor *lz_cholesky_solve_at(lz_tensor *b, lz_tensor *l, bool upper, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_cholesky_solve");
    lz_node *x = lz_mx_in(c, b), *f = x ? lz_mx_square(lz_mx_in(c, l)) : NULL;
    return lz_tracer_end(c, lz_mx_match(c, &x, &f) ? by_factor(c, f, x, upper) : NULL);
}

lz_tensor *lz_cholesky_inverse_at(lz_tensor *l, bool upper, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_cholesky_inverse");
    lz_node *f = lz_mx_square(lz_mx_in(c, l));
    return lz_tracer_end(
        c, f ? by_factor(c, f, lz_mx_eye(c, f, lz_mx_rows(f), lz_mx_rows(f)), upper) : NULL);
}

static lz_tensor *triangular(const char *name, lz_tensor *a, lz_tensor *b, bool upper, bool left,
                             bool unit, lz_transpose how, const lz_site *site)
{
    BEGIN(name);
    lz_node *x = lz_mx_square(lz_mx_in(c, a)), *y = x ? lz_mx_in(c, b) : NULL;
    return lz_tracer_end(c, lz_mx_match(c, &x, &y) ? lz_mx_solve(c, x, y, left, !upper, unit, how)
                                                   : NULL);
}

lz_tensor *lz_linalg_solve_triangular_at(lz_tensor *a, lz_tensor *b, bool upper, bool left,
                                         bool unitriangular, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return triangular("lz_linalg_solve_triangular", a, b, upper, left, unitriangular,
                      LZ_NO_TRANSPOSE, site);
}

lz_tensor *lz_triangular_solve_at(lz_tensor *b, lz_tensor *a, bool upper, bool transpose,
                                  bool unitriangular, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return triangular("lz_triangular_solve", a, b, upper, true, unitriangular,
                      transpose ? LZ_TRANSPOSE : LZ_NO_TRANSPOSE, site);
}

/* ---- elimination ---- */

lz_tensor *lz_linalg_lu_factor_at(lz_tensor *a, lz_tensor **pivots, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linalg_lu_factor");
    lz_node *w = lz_mx_decompose(c, LZ_OP_LU, false, lz_mx_in(c, a));
    lz_node *p = w ? lz_tracer_result(c, w, 1) : NULL;
    lz_tracer_also(c, p ? ADD(p, K(p, 1)) : NULL, pivots);
    return lz_tracer_end(c, w ? lz_tracer_result(c, w, 0) : NULL);
}

/* p[.., m, m]: row i of the product comes from row order[i], so p[order[i], i] = 1. */
static lz_node *permutation(lz_tracer *c, lz_node *order, lz_node *a)
{
    if (!order)
        return NULL;
    lz_shape s = *lz_tracer_shape(a);
    lz_ints dims = {.n = s.rank - 1};
    s.dims[s.rank - 1] = s.dims[s.rank - 2];
    for (int i = 0; i < dims.n; i++)
        dims.v[i] = i < dims.n - 1 ? i : s.rank - 1;
    lz_node *rows = lz_tracer_iota(c, LZ_I32, &s, s.rank - 2, a);
    return TO(EQ(rows, lz_tracer_broadcast_in_dim(c, order, &dims, &s)), lz_tracer_dtype(a));
}

lz_tensor *lz_linalg_lu_at(lz_tensor *a, lz_tensor **l, lz_tensor **u, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linalg_lu");
    lz_node *x = lz_mx_in(c, a), *w = lz_mx_decompose(c, LZ_OP_LU, false, x), *low = NULL,
            *up = NULL, *p = NULL;
    if (w) {
        int64_t m = lz_mx_rows(x), n = lz_mx_cols(x), k = m < n ? m : n;
        lz_node *lu = lz_tracer_result(c, w, 0);
        low =
            ADD(lz_mx_triangle(c, lz_mx_cut(c, lu, 1, 0, k), LZ_CMP_GT, 0), lz_mx_eye(c, lu, m, k));
        up = lz_mx_triangle(c, lz_mx_cut(c, lu, 2, 0, k), LZ_CMP_LE, 0);
        p = permutation(c, lz_tracer_result(c, w, 2), x);
    }
    lz_tracer_also(c, low, l);
    lz_tracer_also(c, up, u);
    return lz_tracer_end(c, p);
}

/* Whether b is a vector, or a batch of as many vectors as a has matrices. */
static bool holds_vectors(const lz_node *a, const lz_node *b)
{
    const lz_shape *sa = lz_tracer_shape(a), *sb = lz_tracer_shape(b);
    bool same = sb->rank == sa->rank - 1;
    for (int i = 0; same && i < sb->rank; i++)
        same = sa->dims[i] == sb->dims[i];
    return sb->rank == 1 || same;
}

static lz_node *solve(lz_tracer *c, lz_node *a, lz_node *b, bool left)
{
    char ta[128], tb[128];
    if (!a || !b)
        return NULL;
    bool vectors = holds_vectors(a, b);
    if (vectors && !left) {
        LZ_FAIL(LZ_EINVAL, "a vector is on the right: left is needed");
        return NULL;
    }
    b = vectors ? lz_tracer_unsqueeze(c, b, lz_tracer_shape(b)->rank) : b;
    if (!left) { /* x a = b is a^T x^T = b^T */
        a = lz_mx_transpose(c, a);
        b = lz_mx_transpose(c, b);
    }
    if (!a || !b)
        return NULL;
    if (lz_mx_rows(b) != lz_mx_rows(a)) {
        LZ_FAIL(LZ_ESHAPE, "%s does not fit %s", lz_type_short(lz_node_type(b), tb, sizeof tb),
                lz_type_short(lz_node_type(a), ta, sizeof ta));
        return NULL;
    }
    if (!lz_mx_match(c, &a, &b))
        return NULL;
    lz_node *x = lz_mx_divide(c, a, b);
    if (!x || left)
        return vectors && x ? lz_tracer_squeeze(c, x, lz_tracer_shape(x)->rank - 1) : x;
    return lz_mx_transpose(c, x);
}

lz_tensor *lz_linalg_solve_at(lz_tensor *a, lz_tensor *b, bool left, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    char text[128];
    BEGIN("lz_linalg_solve");
    lz_node *x = lz_mx_square(lz_mx_in(c, a)), *y = x ? IN(b) : NULL;
    if (y && lz_tracer_shape(y)->rank == 0) {
        LZ_FAIL(LZ_ESHAPE, "b is %s", lz_type_short(lz_node_type(y), text, sizeof text));
        y = NULL;
    }
    return lz_tracer_end(c, solve(c, x, y, left));
}

static lz_node *inverse(lz_tracer *c, lz_node *a)
{
    return a ? lz_mx_divide(c, a, lz_mx_eye(c, a, lz_mx_rows(a), lz_mx_rows(a))) : NULL;
}

lz_tensor *lz_linalg_inv_at(lz_tensor *a, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linalg_inv");
    return lz_tracer_end(c, inverse(c, lz_mx_square(lz_mx_in(c, a))));
}

/* The diagonal of u; *sign: the sign of the permutation, in a's dtype. */
static lz_node *diagonal_of(lz_tracer *c, lz_node *a, lz_node **sign)
{
    lz_node *w = lz_mx_decompose(c, LZ_OP_LU, false, a);
    if (!w)
        return NULL;
    lz_node *p = lz_tracer_result(c, w, 1);
    if (!p)
        return NULL;
    lz_node *moved =
        NE(p, lz_tracer_iota(c, LZ_I32, lz_tracer_shape(p), lz_tracer_shape(p)->rank - 1, p));
    lz_node *odd = lz_mx_over_last(c, LZ_OP_XOR, moved, 1), *one = TO(NOT(odd), lz_tracer_dtype(a));
    *sign = SUB(one, TO(odd, lz_tracer_dtype(a)));
    return *sign ? lz_mx_diagonal(c, lz_tracer_result(c, w, 0)) : NULL;
}

lz_tensor *lz_linalg_det_at(lz_tensor *a, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linalg_det");
    lz_node *sign = NULL, *d = diagonal_of(c, lz_mx_square(lz_mx_in(c, a)), &sign);
    return lz_tracer_end(c, d ? MUL(sign, lz_mx_over_last(c, LZ_OP_MULTIPLY, d, 1)) : NULL);
}

lz_tensor *lz_linalg_slogdet_at(lz_tensor *a, lz_tensor **logabsdet, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linalg_slogdet");
    lz_node *sign = NULL, *d = diagonal_of(c, lz_mx_square(lz_mx_in(c, a)), &sign);
    lz_tracer_also(c, d ? lz_mx_over_last(c, LZ_OP_ADD, LOG(ABS(d)), 1) : NULL, logabsdet);
    return lz_tracer_end(c, d ? MUL(sign, lz_mx_over_last(c, LZ_OP_MULTIPLY, SIGN(d), 1)) : NULL);
}

/* By repeated squaring. */
static lz_node *power(lz_tracer *c, lz_node *a, int64_t n)
{
    if (!a)
        return NULL;
    if (n < -(INT64_C(1) << 30) || n > INT64_C(1) << 30) {
        LZ_FAIL(LZ_ERANGE, "n is %" PRId64 ": at most 2^30 either way", n);
        return NULL;
    }
    if (n == 0)
        return lz_mx_eye(c, a, lz_mx_rows(a), lz_mx_rows(a));
    lz_node *x = n < 0 ? inverse(c, a) : a, *r = NULL;
    for (n = n < 0 ? -n : n; x; n >>= 1) {
        if (n & 1)
            r = r ? lz_tracer_matmul(c, r, x) : x;
        if (n == 1 || (n & 1 && !r))
            return r;
        x = lz_tracer_matmul(c, x, x);
    }
    return NULL;
}

lz_tensor *lz_linalg_matrix_power_at(lz_tensor *a, int64_t n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linalg_matrix_power");
    return lz_tracer_end(c, power(c, lz_mx_square(lz_mx_in(c, a)), n));
}
