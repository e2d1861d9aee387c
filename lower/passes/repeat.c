/* repeat.c - see repeat.h. */
#include "lower/passes/repeat.h"
#include <string.h>

lz_val lz_build_repeat(lz_func *f, lz_val x, const lz_ints *times)
{
    if (x == LZ_NOVAL)
        return x;
    lz_shape whole = lz_val_type(f, x)->shape, s = {0};
    lz_ints where = {0};
    for (int d = 0; d < whole.rank; d++) {
        where.v[where.n++] = s.rank;
        s.dims[s.rank++] = whole.dims[d];
        if (times->v[d] > 1)
            s.dims[s.rank++] = times->v[d];
        whole.dims[d] *= times->v[d];
    }
    if (s.rank == whole.rank)
        return x;
    return lz_build_reshape(f, lz_build_broadcast(f, x, &where, &s), &whole);
}

lz_val lz_repeated(const lz_func *f, lz_val v, lz_ints *times)
{
    const lz_inst *in = &f->insts[v];
    if (in->lit || in->sig->attr->kind != LZ_ATTR_shape)
        return LZ_NOVAL;
    const lz_inst *b = &f->insts[in->opnd[0]];
    if (b->lit || b->sig->attr->kind != LZ_ATTR_broadcast)
        return LZ_NOVAL;
    const lz_shape *x = &b->sig->opnd[0]->shape, *s = &b->sig->result[0]->shape,
                   *y = &in->sig->result[0]->shape;
    const lz_ints *dims = &LZ_ATTR(broadcast, b->sig->attr)->broadcast_dimensions;
    int at = 0;
    if (x->rank != y->rank)
        return LZ_NOVAL;
    times->n = x->rank;
    for (int d = 0; d < x->rank; d++) { /* its own dimension, and perhaps a new one */
        if (at == s->rank || dims->v[d] != at || s->dims[at] != x->dims[d])
            return LZ_NOVAL;
        bool more = at + 1 < s->rank && !lz_ints_has(dims, at + 1);
        times->v[d] = more ? s->dims[at + 1] : 1;
        at += 1 + more;
        if (y->dims[d] != x->dims[d] * times->v[d])
            return LZ_NOVAL;
    }
    return at == s->rank ? b->opnd[0] : LZ_NOVAL;
}
