/* to_loops_sort.c - elemental rule of sort: every operand at the same index map is a row, and the
 * region compares two positions. The second stage of the kernel reads the sorted rows
 * (to_loops.c).
 * Threads: as the emitter. */
#include "lower/loops/elemental.h"
#include <string.h>

static lz_status comparator(lz_emit *e, const lz_inst *in, lz_sort *r)
{
    lz_soplist l = {0};
    int32_t args[2 * LZ_SORT_MAX], out = -1;
    for (uint32_t i = 0; i < 2 * r->nrow; i++) {
        lz_sop s;
        memset(&s, 0, sizeof s);
        s.kind = LZ_S_ELT;
        s.dtype = in->sig->opnd[i / 2]->dtype;
        s.a = (int32_t)i;
        s.b = s.c = -1;
        s.size.slot = -1;
        args[i] = lz_sops_add(&l, &s);
    }
    lz_status s = lz_emit_region(&l, LZ_ATTR(sort, in->sig->attr)->comparator, args, &out);
    if (s == LZ_OK) {
        r->body = lz_arena_copy(e->arena, l.v.data, l.v.len * sizeof l.v.data[0]);
        r->nbody = l.v.len;
        r->less = out;
        if (!r->body || l.failed)
            s = LZ_FAIL(LZ_EMEM, "out of memory");
    }
    lz_sops_free(&l);
    return s;
}

lz_status lz_loops_sort(lz_emit *e, lz_frame *f)
{
    const lz_inst *in = &e->f->insts[f->v];
    uint32_t n = in->sig->nopnd;
    if (f->v != e->root)
        return lz_emit_stop_realise(e, f->v);
    if (n > LZ_SORT_MAX)
        return LZ_FAIL(LZ_EUNSUPPORTED, "sort: %u operands, at most %d are supported", n,
                       LZ_SORT_MAX);
    if (f->step == 0) {
        for (uint32_t k = 0; k < n; k++)
            LZ_TRY(lz_emit_want(e, f, in->opnd[k], &f->map, -1));
        return LZ_OK;
    }
    lz_sort *r = lz_arena_alloc(e->arena, sizeof *r);
    if (!r)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    r->nrow = n;
    for (uint32_t k = 0; k < n; k++)
        r->value[k] = f->want[k]->result;
    f->result = 0;
    e->sort = r;
    return comparator(e, in, r);
}
