/* infer_reduce.c - shape rules of reduce and dot_general. See infer.h. */
#include "ir/infer/infer.h"
#include <stdio.h>

lz_status lz_infer_reduce(lz_infer *c)
{
    const lz_attr_reduce *a = LZ_ATTR(reduce, c->attr);
    if (c->nopnd == 0 || c->nopnd % 2)
        return LZ_FAIL(LZ_EINVAL, "%s: %u operands are not n inputs and n initial values", c->name,
                       c->nopnd);
    uint32_t n = c->nopnd / 2;
    const lz_type *x = c->opnd[0];
    LZ_TRY(lz_infer_dim_list(c, "dimensions", &a->dimensions, x->shape.rank, false));
    lz_shape s = {0};
    for (int i = 0; i < x->shape.rank; i++)
        if (!lz_ints_has(&a->dimensions, i))
            s.dims[s.rank++] = x->shape.dims[i];
    for (uint32_t i = 0; i < n; i++) {
        if (!lz_shape_eq(&c->opnd[i]->shape, &x->shape))
            return LZ_FAIL(LZ_ESHAPE, "%s: shapes of inputs %s and %s differ", c->name, LZ_TT(x),
                           LZ_TT(c->opnd[i]));
        if (c->opnd[n + i]->shape.rank != 0)
            return LZ_FAIL(LZ_ESHAPE, "%s: initial value %u is %s, not a scalar", c->name, i,
                           LZ_TT(c->opnd[n + i]));
        LZ_TRY(lz_infer_same_dtype(c, i, n + i));
    }
    LZ_TRY(lz_infer_body(c, "body", a->body, n));
    for (uint32_t i = n; i-- > 0;) {
        LZ_TRY(lz_infer_give(c, c->opnd[i]->dtype, &s));
        c->result[i] = c->result[0];
    }
    c->nresult = n;
    return LZ_OK;
}

/* Pairs of dimensions, one of each operand, with equal extents. */
static lz_status check_pairs(const lz_infer *c, const char *what, const lz_ints *l,
                             const lz_ints *r)
{
    const lz_type *x = c->opnd[0], *y = c->opnd[1];
    char field[64];
    snprintf(field, sizeof field, "lhs_%s_dimensions", what);
    LZ_TRY(lz_infer_dim_list(c, field, l, x->shape.rank, false));
    snprintf(field, sizeof field, "rhs_%s_dimensions", what);
    LZ_TRY(lz_infer_dim_list(c, field, r, y->shape.rank, false));
    if (l->n != r->n)
        return LZ_FAIL(LZ_EINVAL, "%s: %s dimensions %s and %s have different lengths", c->name,
                       what, LZ_IT(l), LZ_IT(r));
    for (int i = 0; i < l->n; i++) {
        int64_t p = x->shape.dims[l->v[i]], q = y->shape.dims[r->v[i]];
        if (p != q)
            return LZ_FAIL(LZ_ESHAPE,
                           "%s: %s dimension %" PRId64 " of %s is %" PRId64 ", dimension %" PRId64
                           " of %s is %" PRId64,
                           c->name, what, l->v[i], LZ_TT(x), p, r->v[i], LZ_TT(y), q);
    }
    return LZ_OK;
}

lz_status lz_infer_dot_general(lz_infer *c)
{
    const lz_attr_dot *a = LZ_ATTR(dot, c->attr);
    const lz_type *x = c->opnd[0], *y = c->opnd[1];
    LZ_TRY(lz_infer_same_dtype(c, 0, 1));
    LZ_TRY(check_pairs(c, "batching", &a->lhs_batching_dimensions, &a->rhs_batching_dimensions));
    LZ_TRY(check_pairs(c, "contracting", &a->lhs_contracting_dimensions,
                       &a->rhs_contracting_dimensions));
    LZ_TRY(lz_infer_disjoint(c, "lhs_batching_dimensions", &a->lhs_batching_dimensions,
                             "lhs_contracting_dimensions", &a->lhs_contracting_dimensions));
    LZ_TRY(lz_infer_disjoint(c, "rhs_batching_dimensions", &a->rhs_batching_dimensions,
                             "rhs_contracting_dimensions", &a->rhs_contracting_dimensions));
    int64_t out[2 * LZ_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < a->lhs_batching_dimensions.n; i++)
        out[rank++] = x->shape.dims[a->lhs_batching_dimensions.v[i]];
    for (int i = 0; i < x->shape.rank; i++)
        if (!lz_ints_has(&a->lhs_batching_dimensions, i) &&
            !lz_ints_has(&a->lhs_contracting_dimensions, i))
            out[rank++] = x->shape.dims[i];
    for (int i = 0; i < y->shape.rank; i++)
        if (!lz_ints_has(&a->rhs_batching_dimensions, i) &&
            !lz_ints_has(&a->rhs_contracting_dimensions, i))
            out[rank++] = y->shape.dims[i];
    return lz_infer_give_dims(c, x->dtype, rank, out);
}
