/* fusion_sort.c - partial sorts: finds sorts of whose results only the first positions are read
 * (top-k is a sort and slices of it), each by one slice. Such a slice is what the sort's kernel
 * stores: the rest of a row is neither ordered nor materialized.
 * Needs: lz_fusion.result.   Cost: O(instructions).   Threads: as lz_fusion. */
#include "lower/fusion/fusion.h"

/* By value: the instruction that reads it; LZ_NONE: none. MANY: several do, or it is a result. */
enum { MANY = UINT32_MAX - 1 };

static void find_readers(const lz_func *f, uint32_t *reader)
{
    for (uint32_t i = 0; i < f->ninst; i++)
        reader[i] = LZ_NONE;
    for (uint32_t i = 0; i < f->ninst; i++)
        for (uint32_t k = 0; k < f->insts[i].sig->nopnd; k++) {
            uint32_t *r = &reader[f->insts[i].opnd[k]];
            *r = *r == LZ_NONE || *r == i ? i : MANY;
        }
    for (uint32_t k = 0; k < f->nresult; k++)
        reader[f->results[k]] = MANY;
}

/* How many positions of dimension dim slice v gives when they are the first ones, and all of every
 * other dimension; 0: it gives others. */
static int64_t first_positions(const lz_inst *in, int64_t dim)
{
    if (in->sig->op != LZ_OP_SLICE || in->sig->result[0]->nelem == 0)
        return 0;
    const lz_attr_slice *a = LZ_ATTR(slice, in->sig->attr);
    const lz_shape *s = &in->sig->opnd[0]->shape;
    for (int d = 0; d < s->rank; d++)
        if (a->start_indices.v[d] != 0 || a->strides.v[d] != 1 ||
            (d != dim && a->limit_indices.v[d] != s->dims[d]))
            return 0;
    return a->limit_indices.v[dim] < s->dims[dim] ? a->limit_indices.v[dim] : 0;
}

/* Positions that the reader of result v wants, what others want being `keep` (-1: not known yet);
 * 0: all. */
static int64_t wanted(const lz_fusion *fu, const uint32_t *reader, lz_val v, int64_t dim,
                      int64_t keep)
{
    if (reader[v] == LZ_NONE)
        return keep;
    if (reader[v] == MANY)
        return 0;
    int64_t n = first_positions(&fu->f->insts[reader[v]], dim);
    return keep < 0 || n == keep ? n : 0;
}

static void look_at_sort(lz_fusion *fu, const uint32_t *reader, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    int64_t dim = LZ_ATTR(sort, in->sig->attr)->dimension, keep = -1;
    bool one = in->sig->nresult == 1;
    if (one)
        keep = wanted(fu, reader, v, dim, keep);
    for (lz_val r = fu->result[v]; !one && r != LZ_NOVAL; r = fu->next_result[r])
        keep = wanted(fu, reader, r, dim, keep);
    if (keep <= 0)
        return;
    if (one)
        fu->first[v] = reader[v];
    for (lz_val r = fu->result[v]; !one && r != LZ_NOVAL; r = fu->next_result[r])
        fu->first[r] = reader[r] == LZ_NONE ? LZ_NOVAL : reader[r];
}

lz_status lz_fusion_partial_sorts(lz_fusion *fu)
{
    const lz_func *f = fu->f;
    uint32_t *reader = lz_alloc(((size_t)f->ninst + 1) * sizeof *reader);
    if (!reader)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    find_readers(f, reader);
    for (uint32_t i = 0; i < f->ninst; i++)
        fu->first[i] = LZ_NOVAL;
    for (uint32_t i = f->nparam; i < f->ninst; i++)
        if (lz_op_get(lz_inst_op(&f->insts[i]))->cls == LZ_CLASS_SORT)
            look_at_sort(fu, reader, i);
    lz_free(reader);
    return LZ_OK;
}

bool lz_fusion_is_first(const lz_fusion *fu, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    return !in->lit && in->sig->op == LZ_OP_SLICE && fu->first[in->opnd[0]] == v;
}
