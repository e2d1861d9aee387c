/* to_loops_scatter.c - elemental rule of scatter: combines every element of the updates into the
 * inputs at the computed indices. The loops are those of the updates. The inputs have been copied,
 * or are dead and updated in place; stores out of range are skipped.
 * Threads: as the emitter. */
#include "lower/loops/elemental.h"
#include <string.h>

/* The map of the index array for update element `m`: the update's scatter dimensions in order,
 * around index_vector_dim. */
static void index_map(const lz_attr_scatter *a, const lz_ixmap *m, int rank, lz_ixmap *out)
{
    memset(out, 0, sizeof *out);
    out->rank = rank;
    int b = 0;
    for (int d = 0; d < m->rank; d++) {
        if (lz_ints_has(&a->update_window_dims, d))
            continue;
        if (b == a->index_vector_dim)
            b++;
        out->d[b++] = m->d[d];
    }
}

/* Where in an input: one expression per dimension, and whether it is inside. */
static lz_status address(lz_emit *e, lz_frame *f, const lz_attr_scatter *a, const lz_inst *in,
                         uint32_t n, lz_ixmap *at, int32_t *guard)
{
    const lz_shape *s = &in->sig->opnd[0]->shape;
    lz_ixmap batch;
    index_map(a, &f->map, in->sig->opnd[n]->shape.rank, &batch);
    memset(at, 0, sizeof *at);
    at->rank = s->rank;
    *guard = -1;
    int win = 0;
    for (int d = 0; d < s->rank; d++) {
        if (!lz_ints_has(&a->inserted_window_dims, d) && !lz_ints_has(&a->input_batching_dims, d))
            at->d[d] = f->map.d[a->update_window_dims.v[win++]];
        for (int k = 0; k < a->input_batching_dims.n; k++)
            if (a->input_batching_dims.v[k] == d)
                at->d[d] = batch.d[a->scatter_indices_batching_dims.v[k]];
        int64_t least, most;
        bool dynamic = false;
        for (int k = 0; k < a->scatter_dims_to_operand_dims.n; k++) {
            if (a->scatter_dims_to_operand_dims.v[k] != d)
                continue;
            lz_ix start;
            memset(&start, 0, sizeof start);
            start.ndyn = 1;
            start.dyn[0].sop = lz_emit_index_of(e, f->want[k]->result);
            start.dyn[0].scale = 1;
            if (!lz_ix_add(&at->d[d], &start, 1))
                return LZ_FAIL(LZ_EINTERNAL, "scatter: computed indices collide");
            dynamic = true;
        }
        if (!dynamic && lz_emit_range(e, &at->d[d], &least, &most) && least >= 0 &&
            most < s->dims[d])
            continue;
        int32_t x = lz_emit_ix(e, &at->d[d]);
        int32_t ge = lz_sops_compare(&e->sops, LZ_CMP_GE, x, lz_emit_size(e, 0));
        int32_t lt = lz_sops_compare(&e->sops, LZ_CMP_LT, x, lz_emit_size(e, s->dims[d]));
        *guard = lz_sops_and(&e->sops, *guard, lz_sops_and(&e->sops, ge, lt));
    }
    return LZ_OK;
}

static lz_status combine(lz_emit *e, lz_frame *f, const lz_attr_scatter *a, const lz_inst *in,
                         uint32_t n, uint32_t nstart)
{
    lz_ixmap at;
    lz_ix flat;
    int32_t guard, args[16], out[8];
    if (n > 8)
        return LZ_FAIL(LZ_EUNSUPPORTED, "scatter: %u inputs, at most 8 are supported", n);
    LZ_TRY(address(e, f, a, in, n, &at, &guard));
    if (!lz_ixmap_flat(&at, &in->sig->opnd[0]->shape, &flat))
        return LZ_FAIL(LZ_EUNSUPPORTED, "scatter: more than %d computed dimensions", LZ_IX_DYN);
    uint32_t buf[8];
    for (uint32_t k = 0; k < n; k++) {
        LZ_TRY(e->target(e, k, &buf[k]));
        LZ_TRY(lz_emit_load(e, buf[k], in->sig->result[k]->dtype, &flat, guard, &args[k]));
        args[n + k] = f->want[nstart + k]->result;
    }
    LZ_TRY(lz_emit_region(&e->sops, a->update_computation, args, out));
    for (uint32_t k = 0; k < n; k++) {
        lz_loop_store st;
        LZ_TRY(lz_emit_access(e, buf[k], &flat, guard, &st.at));
        st.value = out[k];
        st.node = e->sops.node;
        LZ_TRY(lz_vec_push(&e->stores, st));
    }
    f->result = 0;
    return LZ_OK;
}

lz_status lz_loops_scatter(lz_emit *e, lz_frame *f)
{
    const lz_inst *in = &e->f->insts[f->v];
    if (f->v != e->root)
        return lz_emit_stop_realise(e, f->v);
    const lz_attr_scatter *a = LZ_ATTR(scatter, in->sig->attr);
    uint32_t n = in->sig->nresult, nstart = (uint32_t)a->scatter_dims_to_operand_dims.n;
    if (f->step)
        return combine(e, f, a, in, n, nstart);
    for (uint32_t k = 0; k < nstart; k++) {
        lz_ixmap m;
        int rank = in->sig->opnd[n]->shape.rank;
        index_map(a, &f->map, rank, &m);
        if (a->index_vector_dim < rank)
            m.d[a->index_vector_dim].c = k;
        LZ_TRY(lz_emit_want(e, f, in->opnd[n], &m, -1));
    }
    for (uint32_t k = 0; k < n; k++)
        LZ_TRY(lz_emit_want(e, f, in->opnd[n + 1 + k], &f->map, -1));
    return LZ_OK;
}
