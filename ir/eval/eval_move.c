/* eval_move.c - reference evaluation of leaves and of what moves data without looking at it.
 * Threads: pure. */
#include "ir/eval/bitcast.h"
#include "ir/eval/eval_complex.h"
#include <string.h>

static size_t esize_of(const lz_ref_call *c)
{
    return lz_dtype_size(c->sig->result[0]->dtype);
}

lz_status lz_ref_iota(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    const lz_type *t = c->sig->result[0];
    int64_t dim = LZ_ATTR(iota, c->sig->attr)->iota_dimension;
    int64_t i = 0;
    for (lz_ref_walk w = lz_ref_walk_of(t->shape.rank, t->shape.dims); w.more;
         lz_ref_walk_next(&w), i++) {
        int64_t v = t->shape.rank ? w.idx[dim] : 0;
        if (lz_dtype_is_complex(t->dtype))
            lz_ref_store_c(t->dtype, c->result[0]->data, i, (lz_cx){(long double)v, 0});
        else if (lz_dtype_is_float(t->dtype))
            lz_ref_store_f(t->dtype, c->result[0]->data, i,
                           t->dtype == LZ_F64 ? (double)v : lz_ref_round_odd_i64(v));
        else
            lz_ref_store_u(t->dtype, c->result[0]->data, i, (uint64_t)v);
    }
    return LZ_OK;
}

lz_status lz_ref_reshape(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    memcpy(c->result[0]->data, c->opnd[0]->data, c->result[0]->nbytes);
    return LZ_OK;
}

lz_status lz_ref_bitcast(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    lz_bitcast_copy(c->sig->opnd[0], c->opnd[0]->data, c->sig->result[0], c->result[0]->data);
    return LZ_OK;
}

lz_status lz_ref_broadcast(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    const lz_shape *in = &c->sig->opnd[0]->shape, *out = &c->sig->result[0]->shape;
    const lz_ints *dims = &LZ_ATTR(broadcast, c->sig->attr)->broadcast_dimensions;
    int64_t is[LZ_MAX_RANK], os[LZ_MAX_RANK], ss[LZ_MAX_RANK] = {0};
    lz_ref_strides(in, is);
    lz_ref_strides(out, os);
    for (int d = 0; d < in->rank; d++)
        ss[dims->v[d]] = in->dims[d] == 1 ? 0 : is[d];
    lz_ref_copy_affine(out->rank, out->dims, esize_of(c), c->result[0]->data, 0, os,
                       c->opnd[0]->data, 0, ss);
    return LZ_OK;
}

lz_status lz_ref_transpose(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    const lz_shape *in = &c->sig->opnd[0]->shape, *out = &c->sig->result[0]->shape;
    const lz_ints *perm = &LZ_ATTR(perm, c->sig->attr)->permutation;
    int64_t is[LZ_MAX_RANK], os[LZ_MAX_RANK], ss[LZ_MAX_RANK] = {0};
    lz_ref_strides(in, is);
    lz_ref_strides(out, os);
    for (int d = 0; d < out->rank; d++)
        ss[d] = is[perm->v[d]];
    lz_ref_copy_affine(out->rank, out->dims, esize_of(c), c->result[0]->data, 0, os,
                       c->opnd[0]->data, 0, ss);
    return LZ_OK;
}

lz_status lz_ref_reverse(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    const lz_shape *s = &c->sig->result[0]->shape;
    const lz_ints *dims = &LZ_ATTR(dims, c->sig->attr)->dimensions;
    int64_t os[LZ_MAX_RANK], ss[LZ_MAX_RANK], base = 0;
    if (c->result[0]->type->nelem == 0)
        return LZ_OK; /* strides of empty shapes mean nothing */
    lz_ref_strides(s, os);
    memcpy(ss, os, sizeof ss);
    for (int k = 0; k < dims->n; k++) {
        int64_t d = dims->v[k];
        base += (s->dims[d] - 1) * os[d];
        ss[d] = -os[d];
    }
    lz_ref_copy_affine(s->rank, s->dims, esize_of(c), c->result[0]->data, 0, os, c->opnd[0]->data,
                       base, ss);
    return LZ_OK;
}

lz_status lz_ref_slice(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    const lz_shape *in = &c->sig->opnd[0]->shape, *out = &c->sig->result[0]->shape;
    const lz_attr_slice *a = LZ_ATTR(slice, c->sig->attr);
    int64_t is[LZ_MAX_RANK], os[LZ_MAX_RANK], ss[LZ_MAX_RANK] = {0}, base = 0;
    if (c->result[0]->type->nelem == 0)
        return LZ_OK;
    lz_ref_strides(in, is);
    lz_ref_strides(out, os);
    for (int d = 0; d < out->rank; d++) {
        base += a->start_indices.v[d] * is[d];
        ss[d] = out->dims[d] > 1 ? a->strides.v[d] * is[d] : 0;
    }
    lz_ref_copy_affine(out->rank, out->dims, esize_of(c), c->result[0]->data, 0, os,
                       c->opnd[0]->data, base, ss);
    return LZ_OK;
}

lz_status lz_ref_concatenate(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    const lz_shape *out = &c->sig->result[0]->shape;
    int64_t dim = LZ_ATTR(dim, c->sig->attr)->dimension;
    int64_t os[LZ_MAX_RANK], is[LZ_MAX_RANK], base = 0;
    if (c->result[0]->type->nelem == 0)
        return LZ_OK;
    lz_ref_strides(out, os);
    for (uint32_t k = 0; k < c->sig->nopnd; k++) {
        const lz_shape *in = &c->sig->opnd[k]->shape;
        lz_ref_strides(in, is);
        lz_ref_copy_affine(in->rank, in->dims, esize_of(c), c->result[0]->data, base, os,
                           c->opnd[k]->data, 0, is);
        base += in->dims[dim] * os[dim];
    }
    return LZ_OK;
}

/* Where element idx of the operand goes; false when negative padding removed it. */
static bool pad_target(const lz_attr_pad *a, const lz_shape *out, const int64_t *idx, int64_t *to)
{
    for (int d = 0; d < out->rank; d++) {
        __int128 at = (__int128)a->edge_padding_low.v[d] +
                      (__int128)idx[d] * ((__int128)a->interior_padding.v[d] + 1);
        if (at < 0 || at >= out->dims[d])
            return false;
        to[d] = (int64_t)at;
    }
    return true;
}

lz_status lz_ref_pad(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    const lz_shape *in = &c->sig->opnd[0]->shape, *out = &c->sig->result[0]->shape;
    const lz_attr_pad *a = LZ_ATTR(pad, c->sig->attr);
    size_t esize = esize_of(c);
    char *dst = c->result[0]->data;
    const char *src = c->opnd[0]->data;
    int64_t os[LZ_MAX_RANK], to[LZ_MAX_RANK];
    lz_ref_strides(out, os);
    for (int64_t i = 0; i < c->result[0]->type->nelem; i++)
        memcpy(dst + (size_t)i * esize, c->opnd[1]->data, esize);
    for (lz_ref_walk w = lz_ref_walk_of(in->rank, in->dims); w.more;
         lz_ref_walk_next(&w), src += esize)
        if (pad_target(a, out, w.idx, to))
            memcpy(dst + (size_t)lz_ref_dot_index(out->rank, to, os) * esize, src, esize);
    return LZ_OK;
}
