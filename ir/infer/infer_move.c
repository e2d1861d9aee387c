/* infer_move.c - shape rules of operations that move or relabel data. See infer.h. */
#include "ir/infer/infer.h"

lz_status lz_infer_bitcast(lz_infer *c)
{
    const lz_type *x = c->opnd[0];
    lz_dtype d = LZ_ATTR(dtype, c->attr)->dtype;
    int from = lz_dtype_bits(x->dtype), to = lz_dtype_bits(d);
    lz_shape s = x->shape;
    if (d != x->dtype && (d == LZ_BOOL || x->dtype == LZ_BOOL ||
                          lz_dtype_is_complex(d) != lz_dtype_is_complex(x->dtype)))
        return LZ_FAIL(LZ_EDTYPE, "%s: the bits of %s cannot be read as %s", c->name, LZ_TT(x),
                       lz_dtype_name(d));
    if (from > to) {
        if (s.rank == LZ_MAX_RANK)
            return LZ_FAIL(LZ_ESHAPE, "%s: %s as %s would have rank %d; at most %d is possible",
                           c->name, LZ_TT(x), lz_dtype_name(d), s.rank + 1, LZ_MAX_RANK);
        s.dims[s.rank++] = (int64_t)(from / to);
    } else if (from < to) {
        if (s.rank == 0 || s.dims[s.rank - 1] != (int64_t)(to / from))
            return LZ_FAIL(LZ_ESHAPE, "%s: to read %s as %s its last dimension must be %d", c->name,
                           LZ_TT(x), lz_dtype_name(d), to / from);
        s.dims[--s.rank] = 0;
    }
    return lz_infer_give(c, d, &s);
}

lz_status lz_infer_broadcast(lz_infer *c)
{
    const lz_attr_broadcast *a = LZ_ATTR(broadcast, c->attr);
    const lz_type *x = c->opnd[0];
    LZ_TRY(lz_infer_give(c, x->dtype, &a->shape));
    LZ_TRY(lz_infer_count(c, "broadcast_dimensions", &a->broadcast_dimensions, x->shape.rank,
                          "the operand's rank"));
    LZ_TRY(lz_infer_dim_list(c, "broadcast_dimensions", &a->broadcast_dimensions, a->shape.rank,
                             false));
    for (int i = 0; i < x->shape.rank; i++) {
        int64_t to = a->shape.dims[a->broadcast_dimensions.v[i]];
        if (x->shape.dims[i] != 1 && x->shape.dims[i] != to)
            return LZ_FAIL(LZ_ESHAPE,
                           "%s: dimension %d of %s is %" PRId64
                           ", which does not broadcast to dimension %" PRId64 " of %s",
                           c->name, i, LZ_TT(x), x->shape.dims[i], a->broadcast_dimensions.v[i],
                           LZ_TT(c->result[0]));
    }
    return LZ_OK;
}

lz_status lz_infer_concatenate(lz_infer *c)
{
    int64_t dim = LZ_ATTR(dim, c->attr)->dimension;
    if (c->nopnd == 0)
        return LZ_FAIL(LZ_EINVAL, "%s: needs at least one operand", c->name);
    lz_shape s = c->opnd[0]->shape;
    if (dim < 0 || dim >= s.rank)
        return LZ_FAIL(LZ_EINVAL, "%s: dimension %" PRId64 " is outside the %d dimensions of %s",
                       c->name, dim, s.rank, LZ_TT(c->opnd[0]));
    for (uint32_t i = 1; i < c->nopnd; i++) {
        const lz_type *t = c->opnd[i];
        bool fits = t->shape.rank == s.rank;
        for (int k = 0; fits && k < s.rank; k++)
            fits = k == dim || t->shape.dims[k] == s.dims[k];
        if (!fits)
            return LZ_FAIL(LZ_ESHAPE, "%s: shapes %s and %s differ beyond dimension %" PRId64,
                           c->name, LZ_TT(c->opnd[0]), LZ_TT(t), dim);
        LZ_TRY(lz_infer_same_dtype(c, 0, i));
        if (!lz_add_i64(s.dims[dim], t->shape.dims[dim], &s.dims[dim]))
            return LZ_FAIL(LZ_ERANGE,
                           "%s: the sum of dimension %" PRId64 " overflows at operand %u, %s",
                           c->name, dim, i, LZ_TT(t));
    }
    return lz_infer_give(c, c->opnd[0]->dtype, &s);
}

/* low + d + (d - 1) * interior + high for an extent d; false on overflow. The value may be
 * negative. */
static bool padded_extent(int64_t d, int64_t low, int64_t high, int64_t interior, int64_t *out)
{
    int64_t inner = 0;
    if (d > 1 && !lz_mul_i64(d - 1, interior, &inner))
        return false;
    return lz_add_i64(d, inner, out) && lz_add_i64(*out, low, out) && lz_add_i64(*out, high, out);
}

lz_status lz_infer_pad(lz_infer *c)
{
    const lz_attr_pad *a = LZ_ATTR(pad, c->attr);
    const lz_type *x = c->opnd[0];
    lz_shape s = x->shape;
    if (c->opnd[1]->shape.rank != 0)
        return LZ_FAIL(LZ_ESHAPE, "%s: the padding value is %s, not a scalar", c->name,
                       LZ_TT(c->opnd[1]));
    LZ_TRY(lz_infer_same_dtype(c, 0, 1));
    LZ_TRY(
        lz_infer_count(c, "edge_padding_low", &a->edge_padding_low, s.rank, "the operand's rank"));
    LZ_TRY(lz_infer_count(c, "edge_padding_high", &a->edge_padding_high, s.rank,
                          "the operand's rank"));
    LZ_TRY(
        lz_infer_count(c, "interior_padding", &a->interior_padding, s.rank, "the operand's rank"));
    for (int i = 0; i < s.rank; i++) {
        int64_t low = a->edge_padding_low.v[i], high = a->edge_padding_high.v[i],
                in = a->interior_padding.v[i];
        if (in < 0)
            return LZ_FAIL(LZ_EINVAL, "%s: interior_padding = %s is negative", c->name,
                           LZ_IT(&a->interior_padding));
        if (!padded_extent(s.dims[i], low, high, in, &s.dims[i]))
            return LZ_FAIL(LZ_ERANGE,
                           "%s: padding dimension %d of %s by %" PRId64 ", %" PRId64 ", %" PRId64
                           " overflows",
                           c->name, i, LZ_TT(x), low, high, in);
        if (s.dims[i] < 0)
            return LZ_FAIL(LZ_ESHAPE,
                           "%s: padding dimension %d of %s by %" PRId64 ", %" PRId64 ", %" PRId64
                           " leaves %" PRId64 " elements",
                           c->name, i, LZ_TT(x), low, high, in, s.dims[i]);
    }
    return lz_infer_give(c, x->dtype, &s);
}

lz_status lz_infer_reshape(lz_infer *c)
{
    LZ_TRY(lz_infer_give(c, c->opnd[0]->dtype, &LZ_ATTR(shape, c->attr)->shape));
    if (c->result[0]->nelem != c->opnd[0]->nelem)
        return LZ_FAIL(LZ_ESHAPE, "%s: %s has %" PRId64 " elements, %s has %" PRId64, c->name,
                       LZ_TT(c->opnd[0]), c->opnd[0]->nelem, LZ_TT(c->result[0]),
                       c->result[0]->nelem);
    return LZ_OK;
}

lz_status lz_infer_reverse(lz_infer *c)
{
    LZ_TRY(lz_infer_dim_list(c, "dimensions", &LZ_ATTR(dims, c->attr)->dimensions,
                             c->opnd[0]->shape.rank, false));
    c->result[0] = c->opnd[0];
    return LZ_OK;
}

lz_status lz_infer_slice(lz_infer *c)
{
    const lz_attr_slice *a = LZ_ATTR(slice, c->attr);
    const lz_type *x = c->opnd[0];
    lz_shape s = x->shape;
    LZ_TRY(lz_infer_count(c, "start_indices", &a->start_indices, s.rank, "the operand's rank"));
    LZ_TRY(lz_infer_count(c, "limit_indices", &a->limit_indices, s.rank, "the operand's rank"));
    LZ_TRY(lz_infer_count(c, "strides", &a->strides, s.rank, "the operand's rank"));
    for (int i = 0; i < s.rank; i++) {
        int64_t start = a->start_indices.v[i], limit = a->limit_indices.v[i],
                stride = a->strides.v[i];
        if (start < 0 || start > limit || limit > s.dims[i])
            return LZ_FAIL(LZ_ERANGE,
                           "%s: %" PRId64 ":%" PRId64 " is not inside dimension %d of %s", c->name,
                           start, limit, i, LZ_TT(x));
        if (stride < 1)
            return LZ_FAIL(LZ_EINVAL, "%s: stride %" PRId64 " of dimension %d is not positive",
                           c->name, stride, i);
        s.dims[i] = (limit - start) / stride + ((limit - start) % stride != 0);
    }
    return lz_infer_give(c, x->dtype, &s);
}

lz_status lz_infer_transpose(lz_infer *c)
{
    const lz_ints *p = &LZ_ATTR(perm, c->attr)->permutation;
    const lz_type *x = c->opnd[0];
    lz_shape s = {.rank = x->shape.rank};
    LZ_TRY(lz_infer_count(c, "permutation", p, s.rank, "the operand's rank"));
    LZ_TRY(lz_infer_dim_list(c, "permutation", p, s.rank, false));
    for (int i = 0; i < s.rank; i++)
        s.dims[i] = x->shape.dims[p->v[i]];
    return lz_infer_give(c, x->dtype, &s);
}
