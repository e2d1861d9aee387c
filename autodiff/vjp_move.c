/* vjp_move.c - gradients of data movement. Each operation is linear and its gradient the transpose:
 * broadcast becomes a sum, slice becomes pad. */
#include "autodiff/vjp.h"
#include "base/status.h"
#include "ir/sharding/sharding.h"
#include "runtime/region/region_trace.h"
#include <string.h>

#define G (v->grad_out[0])
#define TYPE(i) (v->sig->opnd[i])
#define ATTRS(kind) LZ_ATTR(kind, v->sig->attr)
/* Sums over the dimensions that were duplicated, then restores the operand's dimension order. */
lz_status lz_vjp_broadcast(const lz_vjp *v)
{
    const lz_shape *in = &TYPE(0)->shape, *out = &v->sig->result[0]->shape;
    const lz_ints *map = &ATTRS(broadcast)->broadcast_dimensions;
    int64_t from[LZ_MAX_RANK], summed[LZ_MAX_RANK], perm[LZ_MAX_RANK];
    bool identity = true;
    int nsum = 0, nkept = 0;
    for (int64_t d = 0; d < out->rank; d++) {
        int operand = -1;
        for (int i = 0; i < map->n; i++)
            if (map->v[i] == d && in->dims[i] == out->dims[d])
                operand = i;
        if (operand < 0)
            summed[nsum++] = d;
        else
            from[nkept++] = operand;
    }
    lz_tensor *g = nsum ? lz_hlo_reduce_at("add", G, summed, nsum, v->site) : G;
    /* g's dimension i holds operand dimension from[i]; operand extents of 1 that were expanded are
     * missing */
    int n = 0;
    for (int i = 0; i < in->rank; i++)
        for (int j = 0; j < nkept; j++)
            if (from[j] == i) {
                identity = identity && j == n;
                perm[n++] = j;
            }
    if (!identity)
        g = lz_hlo_transpose_at(g, perm, n, v->site);
    v->grad_in[0] = n == in->rank ? g : lz_hlo_reshape_at(g, *in, v->site);
    return LZ_OK;
}

lz_status lz_vjp_reshape(const lz_vjp *v)
{
    v->grad_in[0] = lz_hlo_reshape_at(G, TYPE(0)->shape, v->site);
    return LZ_OK;
}

lz_status lz_vjp_transpose(const lz_vjp *v)
{
    const lz_ints *p = &ATTRS(perm)->permutation;
    int64_t inverse[LZ_MAX_RANK];
    for (int i = 0; i < p->n; i++)
        inverse[p->v[i]] = i;
    v->grad_in[0] = lz_hlo_transpose_at(G, inverse, p->n, v->site);
    return LZ_OK;
}

lz_status lz_vjp_reverse(const lz_vjp *v)
{
    const lz_ints *d = &ATTRS(dims)->dimensions;
    v->grad_in[0] = lz_hlo_reverse_at(G, d->v, d->n, v->site);
    return LZ_OK;
}

lz_status lz_vjp_concatenate(const lz_vjp *v)
{
    int64_t dim = ATTRS(dim)->dimension, at = 0;
    const lz_shape *out = &v->sig->result[0]->shape;
    for (uint32_t i = 0; i < v->sig->nopnd; i++) {
        int64_t start[LZ_MAX_RANK] = {0}, limit[LZ_MAX_RANK];
        memcpy(limit, out->dims, sizeof limit);
        start[dim] = at;
        limit[dim] = at += TYPE(i)->shape.dims[dim];
        if (v->need[i])
            v->grad_in[i] = lz_hlo_slice_at(G, start, limit, NULL, out->rank, v->site);
    }
    return LZ_OK;
}

lz_status lz_vjp_slice(const lz_vjp *v)
{
    const lz_attr_slice *a = ATTRS(slice);
    const lz_shape *in = &TYPE(0)->shape, *out = &v->sig->result[0]->shape;
    int64_t low[LZ_MAX_RANK], high[LZ_MAX_RANK], interior[LZ_MAX_RANK];
    for (int i = 0; i < in->rank; i++) {
        int64_t n = out->dims[i], stride = a->strides.v[i];
        low[i] = a->start_indices.v[i];
        interior[i] = n > 1 ? stride - 1 : 0;
        high[i] = in->dims[i] - low[i] - (n > 0 ? (n - 1) * stride + 1 : 0);
    }
    lz_tensor *zero = lz_hlo_constant_at(TYPE(0)->dtype, 0, v->site);
    v->grad_in[0] = lz_hlo_pad_at(G, zero, low, high, interior, in->rank, v->site);
    return LZ_OK;
}

/* The operand's gradient is a strided slice of g; the rest of g belongs to the padding value. */
lz_status lz_vjp_pad(const lz_vjp *v)
{
    const lz_attr_pad *a = ATTRS(pad);
    const lz_shape *in = &TYPE(0)->shape;
    int64_t low[LZ_MAX_RANK], high[LZ_MAX_RANK], start[LZ_MAX_RANK] = {0}, limit[LZ_MAX_RANK],
                                                 stride[LZ_MAX_RANK];
    for (int i = 0; i < in->rank; i++) {
        int64_t n = in->dims[i], step = a->interior_padding.v[i] + 1;
        low[i] = -a->edge_padding_low.v[i];
        high[i] = -a->edge_padding_high.v[i];
        limit[i] = n > 0 ? (n - 1) * step + 1 : 0;
        stride[i] = step;
    }
    lz_tensor *zero = lz_hlo_constant_at(TYPE(0)->dtype, 0, v->site);
    if (v->need[0]) {
        lz_tensor *g = lz_hlo_pad_at(G, zero, low, high, NULL, in->rank, v->site);
        v->grad_in[0] = lz_hlo_slice_at(g, start, limit, stride, in->rank, v->site);
    }
    if (v->need[1]) {
        lz_tensor *one = lz_hlo_constant_at(TYPE(0)->dtype, 1, v->site);
        lz_tensor *outside =
            lz_hlo_pad_at(lz_v_zeros(v, TYPE(0)), one, a->edge_padding_low.v,
                          a->edge_padding_high.v, a->interior_padding.v, in->rank, v->site);
        lz_tensor *is = lz_v_cmp(v, LZ_HLO_NE, outside, lz_v_zeros(v, v->sig->result[0]));
        v->grad_in[1] = lz_v_sum_all(v, lz_v_mask(v, is, G));
    }
    return LZ_OK;
}

/* dynamic_slice and dynamic_update_slice clamp start indices alike, so the transpose uses the same
 * starts. */
lz_status lz_vjp_dynamic_slice(const lz_vjp *v)
{
    lz_tensor *zeros = lz_v_zeros(v, TYPE(0));
    v->grad_in[0] =
        lz_hlo_dynamic_update_slice_at(zeros, G, v->opnd + 1, TYPE(0)->shape.rank, v->site);
    return LZ_OK;
}

lz_status lz_vjp_dynamic_update_slice(const lz_vjp *v)
{
    lz_tensor *const *starts = v->opnd + 2;
    int rank = TYPE(0)->shape.rank;
    if (v->need[0])
        v->grad_in[0] =
            lz_hlo_dynamic_update_slice_at(G, lz_v_zeros(v, TYPE(1)), starts, rank, v->site);
    if (v->need[1])
        v->grad_in[1] = lz_hlo_dynamic_slice_at(G, starts, TYPE(1)->shape.dims, rank, v->site);
    return LZ_OK;
}

lz_status lz_vjp_barrier(const lz_vjp *v)
{
    for (uint32_t i = 0; i < v->sig->nopnd; i++)
        if (v->need[i] && v->grad_out[i])
            v->grad_in[i] = lz_hlo_optimization_barrier_at(v->grad_out[i], v->site);
    return LZ_OK;
}

/* The same mark; but a gradient is no part of a reduction where its value is one. */
lz_status lz_vjp_mark(const lz_vjp *v)
{
    lz_tracer c;
    lz_attr_any whole;
    const lz_attr *mark = v->sig->attr;
    if (v->sig->op == LZ_OP_SHARDING_CONSTRAINT) {
        const lz_sharding *s = lz_sharding_parse(LZ_ATTR(sharding, mark)->sharding);
        const lz_sharding *r = s ? lz_sharding_reduced(s) : NULL;
        lz_attr_init(&whole, LZ_ATTR_sharding);
        whole.as_sharding.sharding = r ? lz_sharding_text(r) : NULL;
        if (!whole.as_sharding.sharding)
            return lz_error_get()->status;
        mark = &whole.head;
    }
    lz_tracer_begin(&c, lz_op_get(v->sig->op)->text, v->site);
    lz_node *g = lz_tracer_in(&c, G);
    v->grad_in[0] = lz_tracer_end(&c, lz_tracer_op(&c, v->sig->op, mark, &g, 1));
    return LZ_OK;
}
