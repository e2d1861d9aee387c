/* work.c - what the search counts of an instruction: operations of products and factorizations
 * (shard/work.h), elements of what else a device has to pass over. See model.h.
 * Regions nest at most LZ_MAX_REGION_DEPTH deep. Threads: pure functions. */
#include "ir/attr.h"
#include "shard/auto/model.h"
#include "shard/work.h"

static double of_elements(const lz_sig *sig)
{
    int64_t n = 0;
    for (uint32_t k = 0; k < sig->nopnd; k++)
        n = sig->opnd[k]->nelem > n ? sig->opnd[k]->nelem : n;
    for (uint32_t k = 0; k < sig->nresult; k++)
        n = sig->result[k]->nelem > n ? sig->result[k]->nelem : n;
    return (double)n;
}

double lz_auto_work(const lz_sig *sig)
{
    lz_op_class cls = lz_op_get(sig->op)->cls;
    if (lz_work_is_product(sig->op) || cls == LZ_CLASS_LINALG)
        return lz_work_flops(sig);
    switch (cls) {
    case LZ_CLASS_LEAF: /* made where it is read */
    case LZ_CLASS_META:
    case LZ_CLASS_CONTROL:
    case LZ_CLASS_COLLECTIVE:
        return 0;
    default:
        return of_elements(sig);
    }
}

bool lz_auto_is_product(const lz_sig *sig)
{
    return lz_auto_work(sig) > of_elements(sig);
}

static double work_of(const lz_func *f, int depth)
{
    double n = 0;
    for (lz_val v = f->nparam; v < f->ninst && depth <= LZ_MAX_REGION_DEPTH; v++) {
        const lz_inst *in = &f->insts[v];
        const lz_attr *a = in->sig->attr;
        if (a->kind == LZ_ATTR_loop)
            n += lz_work_times(work_of(LZ_ATTR(loop, a)->cond, depth + 1) +
                                   work_of(LZ_ATTR(loop, a)->body, depth + 1),
                               lz_work_rounds(f, in, NULL));
        else if (a->kind == LZ_ATTR_branches)
            n += work_of(LZ_ATTR(branches, a)->true_branch, depth + 1) +
                 work_of(LZ_ATTR(branches, a)->false_branch, depth + 1);
        else if (a->kind == LZ_ATTR_manual)
            n += work_of(LZ_ATTR(manual, a)->body, depth + 1);
        else
            n += lz_auto_work(in->sig);
    }
    return n;
}

double lz_auto_work_of(const lz_func *f)
{
    return work_of(f, 0);
}
