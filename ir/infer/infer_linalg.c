/* infer_linalg.c - shape rules of matrix decompositions and of triangular systems. See infer.h. */
#include "ir/infer/infer.h"

/* The last two dimensions of operand i are a square matrix. */
static lz_status check_square(const lz_infer *c, uint32_t i)
{
    const lz_shape *s = &c->opnd[i]->shape;
    if (s->rank < 2)
        return LZ_FAIL(LZ_ESHAPE, "%s: %s has %d dimensions; a matrix has at least 2", c->name,
                       LZ_TT(c->opnd[i]), s->rank);
    if (s->dims[s->rank - 1] != s->dims[s->rank - 2])
        return LZ_FAIL(LZ_ESHAPE, "%s: %s is not square in its last two dimensions", c->name,
                       LZ_TT(c->opnd[i]));
    return LZ_OK;
}

lz_status lz_infer_cholesky(lz_infer *c)
{
    LZ_TRY(check_square(c, 0));
    return lz_infer_give(c, c->opnd[0]->dtype, &c->opnd[0]->shape);
}

lz_status lz_infer_triangular_solve(lz_infer *c)
{
    const lz_attr_triangular_solve *at = LZ_ATTR(triangular_solve, c->attr);
    const lz_type *a = c->opnd[0], *b = c->opnd[1];
    LZ_TRY(lz_infer_same_dtype(c, 0, 1));
    LZ_TRY(check_square(c, 0));
    int rank = a->shape.rank;
    bool fits = b->shape.rank == rank &&
                b->shape.dims[rank - (at->left_side ? 2 : 1)] == a->shape.dims[rank - 1];
    for (int i = 0; fits && i < rank - 2; i++)
        fits = a->shape.dims[i] == b->shape.dims[i];
    if (!fits)
        return LZ_FAIL(LZ_ESHAPE, "%s: %s does not fit %s on the %s side", c->name, LZ_TT(b),
                       LZ_TT(a), at->left_side ? "right" : "left");
    return lz_infer_give(c, b->dtype, &b->shape);
}

/* ---- with several results ---- */

static lz_status matrix_of(const lz_infer *c, int64_t *m, int64_t *n)
{
    const lz_shape *s = &c->opnd[0]->shape;
    *m = *n = 0;
    if (s->rank < 2)
        return LZ_FAIL(LZ_ESHAPE, "%s: %s has %d dimensions; a matrix has at least 2", c->name,
                       LZ_TT(c->opnd[0]), s->rank);
    *m = s->dims[s->rank - 2];
    *n = s->dims[s->rank - 1];
    return LZ_OK;
}

/* Result k: the batch, then rows and, unless negative, columns. */
static lz_status give(lz_infer *c, uint32_t k, lz_dtype d, int64_t rows, int64_t cols)
{
    lz_shape s = c->opnd[0]->shape;
    s.dims[s.rank - 2] = rows;
    s.dims[s.rank - 1] = cols < 0 ? 0 : cols;
    s.rank -= cols < 0;
    if (cols < 0)
        s.dims[s.rank] = 0;
    c->result[k] = lz_type_get(d, &s);
    c->nresult = k + 1;
    return c->result[k] ? LZ_OK : lz_error_get()->status;
}

lz_status lz_infer_lu(lz_infer *c)
{
    int64_t m, n;
    LZ_TRY(matrix_of(c, &m, &n));
    LZ_TRY(give(c, 0, c->opnd[0]->dtype, m, n));
    LZ_TRY(give(c, 1, LZ_I32, m < n ? m : n, -1));
    return give(c, 2, LZ_I32, m, -1);
}

lz_status lz_infer_qr(lz_infer *c)
{
    int64_t m, n;
    LZ_TRY(matrix_of(c, &m, &n));
    int64_t k = m < n || LZ_ATTR(qr, c->attr)->complete ? m : n;
    LZ_TRY(give(c, 0, c->opnd[0]->dtype, m, k));
    return give(c, 1, c->opnd[0]->dtype, k, n);
}

lz_status lz_infer_geqrf(lz_infer *c)
{
    int64_t m, n;
    LZ_TRY(matrix_of(c, &m, &n));
    LZ_TRY(give(c, 0, c->opnd[0]->dtype, m, n));
    return give(c, 1, c->opnd[0]->dtype, m < n ? m : n, -1);
}

lz_status lz_infer_eigh(lz_infer *c)
{
    int64_t m, n;
    LZ_TRY(matrix_of(c, &m, &n));
    LZ_TRY(check_square(c, 0));
    LZ_TRY(give(c, 0, c->opnd[0]->dtype, n, n));
    return give(c, 1, lz_dtype_part(c->opnd[0]->dtype), n, -1);
}

lz_status lz_infer_svd(lz_infer *c)
{
    int64_t m, n;
    LZ_TRY(matrix_of(c, &m, &n));
    bool full = LZ_ATTR(svd, c->attr)->full;
    int64_t k = m < n ? m : n;
    LZ_TRY(give(c, 0, c->opnd[0]->dtype, m, full ? m : k));
    LZ_TRY(give(c, 1, lz_dtype_part(c->opnd[0]->dtype), k, -1));
    return give(c, 2, c->opnd[0]->dtype, n, full ? n : k);
}

/* ---- forms on the way to eigenvalues ---- */

lz_status lz_infer_hessenberg(lz_infer *c)
{
    const lz_attr_hessenberg *at = LZ_ATTR(hessenberg, c->attr);
    int64_t n;
    LZ_TRY(matrix_of(c, &n, &n));
    LZ_TRY(check_square(c, 0));
    if (at->leading < 0 || at->trailing < 0 || at->leading > n || at->trailing > n - at->leading)
        return LZ_FAIL(LZ_EINVAL, "%s: %s has no %lld rows before and %lld after those reduced",
                       c->name, LZ_TT(c->opnd[0]), (long long)at->leading, (long long)at->trailing);
    LZ_TRY(give(c, 0, c->opnd[0]->dtype, n, n));
    return give(c, 1, c->opnd[0]->dtype, n > 0 ? n - 1 : 0, -1);
}

lz_status lz_infer_tridiagonal(lz_infer *c)
{
    int64_t n;
    LZ_TRY(matrix_of(c, &n, &n));
    LZ_TRY(check_square(c, 0));
    int64_t less = n > 0 ? n - 1 : 0;
    LZ_TRY(give(c, 0, c->opnd[0]->dtype, n, n));
    LZ_TRY(give(c, 1, lz_dtype_part(c->opnd[0]->dtype), n, -1));
    LZ_TRY(give(c, 2, lz_dtype_part(c->opnd[0]->dtype), less, -1));
    return give(c, 3, c->opnd[0]->dtype, less, -1);
}

/* Operand k is the batch of operand 0, and n numbers. */
static lz_status check_line(const lz_infer *c, uint32_t k, lz_dtype d, int64_t n)
{
    const lz_type *a = c->opnd[0], *t = c->opnd[k];
    int rank = a->shape.rank - 1;
    bool fits = t->dtype == d && t->shape.rank == rank && t->shape.dims[rank - 1] == n;
    for (int i = 0; fits && i < rank - 1; i++)
        fits = t->shape.dims[i] == a->shape.dims[i];
    return fits ? LZ_OK
                : LZ_FAIL(t->dtype == d ? LZ_ESHAPE : LZ_EDTYPE,
                          "%s: operand %u is %s, which does not fit %s", c->name, k, LZ_TT(t),
                          LZ_TT(a));
}

lz_status lz_infer_geqp3(lz_infer *c)
{
    int64_t m, n;
    LZ_TRY(matrix_of(c, &m, &n));
    LZ_TRY(check_line(c, 1, LZ_I32, n));
    LZ_TRY(give(c, 0, c->opnd[0]->dtype, m, n));
    LZ_TRY(give(c, 1, LZ_I32, n, -1));
    return give(c, 2, c->opnd[0]->dtype, m < n ? m : n, -1);
}

lz_status lz_infer_gtsv(lz_infer *c)
{
    int64_t n, cols;
    LZ_TRY(matrix_of(c, &n, &cols));
    for (uint32_t k = 1; k < 4; k++)
        LZ_TRY(check_line(c, k, c->opnd[0]->dtype, n));
    LZ_TRY(give(c, 0, c->opnd[0]->dtype, n, cols));
    for (uint32_t k = 1; k < 4; k++)
        LZ_TRY(give(c, k, c->opnd[0]->dtype, n, -1));
    return LZ_OK;
}

static lz_dtype complex_of(lz_dtype d)
{
    return lz_dtype_part(d) == LZ_F64 ? LZ_C128 : LZ_C64;
}

lz_status lz_infer_schur(lz_infer *c)
{
    int64_t n;
    uint32_t k = 0;
    LZ_TRY(matrix_of(c, &n, &n));
    LZ_TRY(check_square(c, 0));
    LZ_TRY(give(c, k++, c->opnd[0]->dtype, n, n));
    if (LZ_ATTR(schur, c->attr)->vectors)
        LZ_TRY(give(c, k++, c->opnd[0]->dtype, n, n));
    return give(c, k, complex_of(c->opnd[0]->dtype), n, -1);
}

lz_status lz_infer_eig(lz_infer *c)
{
    const lz_attr_eig *at = LZ_ATTR(eig, c->attr);
    int64_t n;
    uint32_t k = 0;
    LZ_TRY(matrix_of(c, &n, &n));
    LZ_TRY(check_square(c, 0));
    LZ_TRY(give(c, k++, complex_of(c->opnd[0]->dtype), n, -1));
    for (int i = 0; i < at->left + at->right; i++)
        LZ_TRY(give(c, k++, complex_of(c->opnd[0]->dtype), n, n));
    return LZ_OK;
}
