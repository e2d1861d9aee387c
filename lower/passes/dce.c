/* dce.c - dead-code elimination. Instructions are hash-consed as they are copied, so equal ones
 * become one by construction: there is no pass for common subexpressions.
 * Does:      drops instructions that no result depends on; replaces an op that only passes its
 *   operands on (an alias) by them.
 * Needs:     nothing.
 * Recreates: nothing.
 * Breaks:    nothing.
 * Cost:      O(instructions).                           Off: LAZULI_PASSES_OFF=dce */
#include "lower/passes.h"
#include "lower/passes/rewrite.h"

static lz_val keep(lz_rw *rw, uint32_t i, void *user)
{
    const lz_inst *in = &rw->in->insts[i],
                  *multi = in->sig->nopnd ? &rw->in->insts[in->opnd[0]] : in;
    (void)user;
    rw->fired = true; /* let the hash decide */
    if (in->sig->flags & LZ_F_ALIAS && in->sig->nresult == 1)
        return lz_rw_opnd(rw, i, 0);
    if (multi->sig->flags & LZ_F_ALIAS && in->sig->attr->kind == LZ_ATTR_index)
        return rw->map[multi->opnd[LZ_ATTR(index, in->sig->attr)->index]];
    return LZ_NOVAL;
}

lz_status lz_pass_dce(const lz_func *in, const lz_lower_options *o, lz_func **out)
{
    (void)o;
    return lz_rw_run(in, keep, NULL, out);
}
