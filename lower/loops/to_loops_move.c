/* to_loops_move.c - elemental rules of leaves, data movement and computed addresses: each turns
 * the index map of a result into index maps of operands. elemental.h says how a rule is called.
 * Threads: as the emitter. */
#include "lower/loops/elemental.h"
#include <string.h>

static const lz_inst *inst_of(const lz_emit *e, const lz_frame *f)
{
    return &e->f->insts[f->v];
}

static lz_status one_operand(lz_emit *e, lz_frame *f, const lz_ixmap *map)
{
    return lz_emit_want(e, f, inst_of(e, f)->opnd[0], map, f->guard);
}

static lz_status answer(lz_frame *f, uint32_t i)
{
    f->result = f->want[i]->result;
    return LZ_OK;
}

/* ---- leaves ---- */

lz_status lz_loops_parameter(lz_emit *e, lz_frame *f)
{
    (void)e;
    return LZ_FAIL(LZ_EINTERNAL, "emit: parameter %u has no memory", (unsigned)f->v);
}

lz_status lz_loops_constant(lz_emit *e, lz_frame *f)
{
    const lz_inst *in = inst_of(e, f);
    uint64_t bits;
    if (!lz_literal_splat(in->lit, &bits))
        return LZ_FAIL(LZ_EINTERNAL, "emit: constant %u has no memory", (unsigned)f->v);
    f->result = lz_sops_const(&e->sops, in->sig->result[0]->dtype, bits);
    return LZ_OK;
}

lz_status lz_loops_iota(lz_emit *e, lz_frame *f)
{
    const lz_inst *in = inst_of(e, f);
    int64_t d = LZ_ATTR(iota, in->sig->attr)->iota_dimension;
    f->result = lz_sops_convert(&e->sops, lz_emit_ix(e, &f->map.d[d]), in->sig->result[0]->dtype);
    return LZ_OK;
}

/* One device alone is number 0. */
lz_status lz_loops_place(lz_emit *e, lz_frame *f)
{
    f->result = lz_sops_const(&e->sops, inst_of(e, f)->sig->result[0]->dtype, 0);
    return LZ_OK;
}

/* ---- affine movement ---- */

lz_status lz_loops_broadcast(lz_emit *e, lz_frame *f)
{
    if (f->step)
        return answer(f, 0);
    const lz_inst *in = inst_of(e, f);
    lz_ixmap m;
    lz_ixmap_broadcast(&f->map, LZ_ATTR(broadcast, in->sig->attr), &in->sig->opnd[0]->shape, &m);
    return one_operand(e, f, &m);
}

lz_status lz_loops_transpose(lz_emit *e, lz_frame *f)
{
    if (f->step)
        return answer(f, 0);
    lz_ixmap m;
    lz_ixmap_transpose(&f->map, LZ_ATTR(perm, inst_of(e, f)->sig->attr), &m);
    return one_operand(e, f, &m);
}

lz_status lz_loops_slice(lz_emit *e, lz_frame *f)
{
    if (f->step)
        return answer(f, 0);
    lz_ixmap m;
    lz_ixmap_slice(&f->map, LZ_ATTR(slice, inst_of(e, f)->sig->attr), &m);
    return one_operand(e, f, &m);
}

lz_status lz_loops_reverse(lz_emit *e, lz_frame *f)
{
    if (f->step)
        return answer(f, 0);
    const lz_inst *in = inst_of(e, f);
    lz_ixmap m;
    lz_ixmap_reverse(&f->map, LZ_ATTR(dims, in->sig->attr), &in->sig->opnd[0]->shape, &m);
    return one_operand(e, f, &m);
}

lz_status lz_loops_reshape(lz_emit *e, lz_frame *f)
{
    if (f->step)
        return answer(f, 0);
    const lz_inst *in = inst_of(e, f);
    lz_ix flat;
    lz_ixmap m;
    uint32_t loop = UINT32_MAX;
    int64_t inner = 0;
    lz_val x =
        in->opnd[0]; /* below all reshapes: one in between may cut where the whole does not */
    while (lz_inst_op(&e->f->insts[x]) == LZ_OP_RESHAPE)
        x = e->f->insts[x].opnd[0];
    if (lz_ixmap_flat(&f->map, &in->sig->result[0]->shape, &flat) &&
        lz_ixmap_unflat(&flat, &e->ax, &lz_val_type(e->f, x)->shape, &m, &loop, &inner))
        return lz_emit_want(e, f, x, &m, f->guard);
    if (loop == UINT32_MAX || e->ax.n == LZ_LOOP_MAX)
        return lz_emit_stop_realise(e, x);
    e->stop = true;
    e->split_loop = loop;
    e->split_inner = inner;
    e->realise = x; /* should the split not be wanted */
    return LZ_OK;
}

/* A bit cast is another view of memory. */
lz_status lz_loops_bitcast(lz_emit *e, lz_frame *f)
{
    return lz_emit_stop_realise(e, inst_of(e, f)->opnd[0]);
}

lz_status lz_loops_barrier(lz_emit *e, lz_frame *f)
{
    return lz_emit_stop_realise(e, inst_of(e, f)->opnd[0]);
}

/* Has memory always (fusion_values.c), so nobody asks for it in a kernel. */
lz_status lz_loops_control(lz_emit *e, lz_frame *f)
{
    return LZ_FAIL(LZ_EINTERNAL, "emit: %%%u (%s) is not a matter of one kernel", (unsigned)f->v,
                   lz_op_get(lz_inst_op(inst_of(e, f)))->text);
}

lz_status lz_loops_result(lz_emit *e, lz_frame *f)
{
    const lz_inst *in = inst_of(e, f);
    const lz_inst *multi = &e->f->insts[in->opnd[0]];
    if (lz_op_get(lz_inst_op(multi))->cls == LZ_CLASS_META)
        return lz_emit_stop_realise(e, multi->opnd[LZ_ATTR(index, in->sig->attr)->index]);
    return LZ_FAIL(LZ_EINTERNAL, "emit: result %u of %s has no memory", (unsigned)f->v,
                   lz_op_get(lz_inst_op(multi))->text);
}

lz_status lz_loops_window_view(lz_emit *e, lz_frame *f)
{
    if (f->step)
        return answer(f, 0);
    const lz_inst *in = inst_of(e, f);
    lz_ixmap m;
    lz_ixmap_window_view(&f->map, LZ_ATTR(window_view, in->sig->attr), &m);
    return one_operand(e, f, &m);
}

/* Adds lo <= x <= hi to the condition *p, leaving out what always holds. */
static void add_bounds(lz_emit *e, const lz_ix *x, int32_t xs, int64_t lo, int64_t hi, int32_t *p)
{
    int64_t least, most;
    bool known = lz_emit_range(e, x, &least, &most);
    if (!known || least < lo)
        *p = lz_sops_and(&e->sops, *p,
                         lz_sops_compare(&e->sops, LZ_CMP_GE, xs, lz_emit_size(e, lo)));
    if (!known || most > hi)
        *p = lz_sops_and(&e->sops, *p,
                         lz_sops_compare(&e->sops, LZ_CMP_LE, xs, lz_emit_size(e, hi)));
}

/* x / gap, for x >= 0, and whether it is whole; of other x anything. In 32 bits, where that is
 * enough: vectors have no division, and none of 64 bits by a constant either. */
static int32_t divide_whole(lz_emit *e, int32_t x, int64_t gap, bool narrow, int32_t *whole)
{
    lz_dtype d = narrow ? LZ_U32 : LZ_I64;
    lz_soplist *l = &e->sops;
    int32_t at = lz_sops_convert(l, x, d), by = lz_sops_const(l, d, (uint64_t)gap);
    int32_t rem = lz_sops_ew(l, LZ_OP_REMAINDER, d, at, by, -1, NULL);
    *whole = lz_sops_compare(l, LZ_CMP_EQ, rem, lz_sops_zero(l, d));
    return lz_sops_convert(l, lz_sops_ew(l, LZ_OP_DIVIDE, d, at, by, -1, NULL), LZ_I64);
}

/* One dimension of pad: where in the operand, and under which condition there is an element. */
static void pad_dim(lz_emit *e, const lz_ix *at, int64_t low, int64_t interior, int64_t extent,
                    lz_ix *out, int32_t *p)
{
    *out = *at;
    out->c -= low;
    int64_t least, most, last = (extent - 1) * (interior + 1);
    bool known = lz_emit_range(e, out, &least, &most);
    if (known && least >= 0 && most <= last && interior == 0)
        return;
    int32_t x = lz_emit_ix(e, out);
    add_bounds(e, out, x, 0, last, p);
    if (interior == 0)
        return;
    bool narrow = known && most <= INT32_MAX && least >= -INT32_MAX && interior < INT32_MAX;
    int32_t whole, at_of = divide_whole(e, x, interior + 1, narrow, &whole);
    *p = lz_sops_and(&e->sops, *p, whole);
    memset(out, 0, sizeof *out);
    out->ndyn = 1;
    out->dyn[0].sop = at_of;
    out->dyn[0].scale = 1;
}

lz_status lz_loops_pad(lz_emit *e, lz_frame *f)
{
    const lz_inst *in = inst_of(e, f);
    const lz_attr_pad *a = LZ_ATTR(pad, in->sig->attr);
    const lz_type *t = in->sig->opnd[0];
    if (f->step == 0) {
        LZ_TRY(lz_emit_want_scalar(e, f, in->opnd[1]));
        if (t->nelem == 0)
            return LZ_OK;
        lz_ixmap m;
        memset(&m, 0, sizeof m);
        m.rank = t->shape.rank;
        int32_t p = -1;
        for (int d = 0; d < m.rank; d++)
            pad_dim(e, &f->map.d[d], a->edge_padding_low.v[d], a->interior_padding.v[d],
                    t->shape.dims[d], &m.d[d], &p);
        return lz_emit_want(e, f, in->opnd[0], &m, lz_sops_and(&e->sops, f->guard, p));
    }
    if (t->nelem == 0)
        return answer(f, 0);
    /* the operand's guard is false outside of it, or the whole frame is guarded and the result is
     * not looked at */
    int32_t p = f->want[1]->guard;
    f->result = p < 0 ? f->want[1]->result
                      : lz_sops_select(&e->sops, p, f->want[1]->result, f->want[0]->result);
    return LZ_OK;
}

/* Inside a kernel a concatenation is a chain of selections between guarded operands; those the map
 * never meets are left out. */
lz_status lz_loops_concatenate(lz_emit *e, lz_frame *f)
{
    const lz_inst *in = inst_of(e, f);
    int64_t dim = LZ_ATTR(dim, in->sig->attr)->dimension, start = 0;
    if (in->sig->nopnd > 4)
        return lz_emit_stop_realise(e, f->v);
    for (uint32_t i = 0; i < in->sig->nopnd && f->step == 0; i++) {
        lz_ixmap m;
        int64_t n = in->sig->opnd[i]->shape.dims[dim], least, most;
        int32_t p = -1;
        lz_ixmap_copy(&m, &f->map);
        m.d[dim].c -= start;
        start += n;
        bool known = lz_emit_range(e, &m.d[dim], &least, &most);
        if (in->sig->opnd[i]->nelem == 0 || (known && (most < 0 || least >= n)))
            continue;
        add_bounds(e, &m.d[dim], lz_emit_ix(e, &m.d[dim]), 0, n - 1, &p);
        LZ_TRY(lz_emit_want(e, f, in->opnd[i], &m, lz_sops_and(&e->sops, f->guard, p)));
    }
    if (f->step == 0 && f->nwant)
        return LZ_OK;
    if (f->nwant == 0) { /* under a guard that is never true */
        f->result = lz_sops_zero(&e->sops, in->sig->result[0]->dtype);
        return LZ_OK;
    }
    f->result = f->want[f->nwant - 1]->result;
    for (uint32_t i = f->nwant - 1; i-- > 0;)
        f->result = lz_sops_select(&e->sops, f->want[i]->guard, f->want[i]->result, f->result);
    return LZ_OK;
}

/* ---- computed addresses ---- */

lz_status lz_loops_dynamic_slice(lz_emit *e, lz_frame *f)
{
    const lz_inst *in = inst_of(e, f);
    const lz_shape *s = &in->sig->opnd[0]->shape, *r = &in->sig->result[0]->shape;
    if (f->step == 0) {
        for (int d = 0; d < s->rank; d++)
            LZ_TRY(lz_emit_want_scalar(e, f, in->opnd[1 + d]));
        if (s->rank)
            return LZ_OK;
    }
    if (f->nwant > (uint32_t)s->rank)
        return answer(f, (uint32_t)s->rank);
    lz_ixmap m;
    lz_ixmap_copy(&m, &f->map);
    for (int d = 0; d < s->rank; d++) {
        if (s->dims[d] == r->dims[d])
            continue;
        lz_ix at;
        memset(&at, 0, sizeof at);
        at.ndyn = 1;
        at.dyn[0].sop = lz_emit_clamp_index(e, lz_emit_index_of(e, f->want[d]->result),
                                            s->dims[d] - r->dims[d]);
        at.dyn[0].scale = 1;
        if (!lz_ix_add(&m.d[d], &at, 1))
            return lz_emit_stop_realise(e, in->opnd[0]);
    }
    return lz_emit_want(e, f, in->opnd[0], &m, f->guard);
}

/* Of the result dimensions of gather: which come from the indices, in order. */
static void gather_batch_map(const lz_attr_gather *a, const lz_ixmap *m, const lz_shape *indices,
                             lz_ixmap *out)
{
    memset(out, 0, sizeof *out);
    out->rank = indices->rank;
    int b = 0;
    for (int d = 0; d < m->rank; d++) {
        if (lz_ints_has(&a->offset_dims, d))
            continue;
        if (b == a->index_vector_dim)
            b++;
        out->d[b++] = m->d[d];
    }
}

static lz_status gather_starts(lz_emit *e, lz_frame *f, const lz_attr_gather *a, const lz_inst *in)
{
    const lz_shape *is = &in->sig->opnd[1]->shape;
    for (int k = 0; k < a->start_index_map.n; k++) {
        lz_ixmap m;
        gather_batch_map(a, &f->map, is, &m);
        if (a->index_vector_dim < is->rank)
            m.d[a->index_vector_dim].c = k;
        LZ_TRY(lz_emit_want(e, f, in->opnd[1], &m, f->guard));
    }
    return LZ_OK;
}

lz_status lz_loops_gather(lz_emit *e, lz_frame *f)
{
    const lz_inst *in = inst_of(e, f);
    const lz_attr_gather *a = LZ_ATTR(gather, in->sig->attr);
    const lz_shape *s = &in->sig->opnd[0]->shape;
    uint32_t nstart = (uint32_t)a->start_index_map.n;
    if (f->step == 0) {
        LZ_TRY(gather_starts(e, f, a, in));
        if (nstart)
            return LZ_OK;
    }
    if (f->nwant > nstart)
        return answer(f, nstart);
    lz_ixmap batch, m;
    gather_batch_map(a, &f->map, &in->sig->opnd[1]->shape, &batch);
    memset(&m, 0, sizeof m);
    m.rank = s->rank;
    int off = 0;
    for (int d = 0; d < s->rank; d++) {
        bool dropped =
            lz_ints_has(&a->collapsed_slice_dims, d) || lz_ints_has(&a->operand_batching_dims, d);
        if (!dropped)
            m.d[d] = f->map.d[a->offset_dims.v[off++]];
        for (int k = 0; k < a->operand_batching_dims.n; k++)
            if (a->operand_batching_dims.v[k] == d)
                m.d[d] = batch.d[a->start_indices_batching_dims.v[k]];
        for (int k = 0; k < a->start_index_map.n; k++) {
            int64_t room = s->dims[d] - a->slice_sizes.v[d];
            if (a->start_index_map.v[k] != d || room == 0)
                continue;
            lz_ix at;
            memset(&at, 0, sizeof at);
            at.ndyn = 1;
            at.dyn[0].sop = lz_emit_clamp_index(e, lz_emit_index_of(e, f->want[k]->result), room);
            at.dyn[0].scale = 1;
            if (!lz_ix_add(&m.d[d], &at, 1))
                return lz_emit_stop_realise(e, in->opnd[0]);
        }
    }
    return lz_emit_want(e, f, in->opnd[0], &m, f->guard);
}

/* The stored part of a dynamic_update_slice is a node of its own (fusion_nodes.c); inside an
 * expression it needs memory. */
lz_status lz_loops_dynamic_update_slice(lz_emit *e, lz_frame *f)
{
    return lz_emit_stop_realise(e, f->v);
}

lz_status lz_loops_expanded(lz_emit *e, lz_frame *f)
{
    return LZ_FAIL(LZ_EUNSUPPORTED, "%s: must have been taken apart (pass `expand_windows`)",
                   lz_op_get(lz_inst_op(inst_of(e, f)))->text);
}

lz_status lz_loops_linalg(lz_emit *e, lz_frame *f)
{
    return LZ_FAIL(LZ_EUNSUPPORTED, "%s: must have been expanded (pass `expand`)",
                   lz_op_get(lz_inst_op(inst_of(e, f)))->text);
}

lz_status lz_loops_fft(lz_emit *e, lz_frame *f)
{
    return LZ_FAIL(LZ_EUNSUPPORTED, "%s: must have been expanded (pass `expand`)",
                   lz_op_get(lz_inst_op(inst_of(e, f)))->text);
}

lz_status lz_loops_rng(lz_emit *e, lz_frame *f)
{
    return LZ_FAIL(LZ_EUNSUPPORTED, "%s: must have been expanded (pass `expand`)",
                   lz_op_get(lz_inst_op(inst_of(e, f)))->text);
}
