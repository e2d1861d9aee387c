/* fusion_updates.c - values that get memory so that an array can be updated in place.
 * Does:     gives memory to a slice of an array of which dynamic_update_slice or scatter makes the
 *   next value, when a kernel could otherwise read the old value while, or after, it is written
 *   over. A slice is small; the copy of the array that would be needed is not.
 * Needs:    the values that have memory whatever it costs.
 * Cost:     O(instructions).   Threads: pure. */
#include "base/alloc.h"
#include "lower/fusion/fusion.h"

enum { SMALL = 4 }; /* a slice is at most one part of so many */

static const lz_val NOT_SEEN = LZ_NOVAL - 1, MANY = LZ_NOVAL;

/* Which operand an update puts into its first one; 0: it is no update of one value. */
static uint32_t update_operand(const lz_inst *in)
{
    if (in->sig->op == LZ_OP_DYNAMIC_UPDATE_SLICE)
        return 1;
    return in->sig->op == LZ_OP_SCATTER && in->sig->nresult == 1 ? 2 : 0;
}

static bool is_slice(const lz_inst *in)
{
    return in->sig->op == LZ_OP_SLICE || in->sig->op == LZ_OP_DYNAMIC_SLICE ||
           in->sig->op == LZ_OP_GATHER;
}

static void meet(lz_val *into, lz_val with)
{
    *into = *into == NOT_SEEN || *into == with ? with : MANY;
}

/* into[v]: the update that each element of v comes to the same element of, through elementwise
 * operations alone, and nothing else; MANY: there is no such one. */
static void find_updates(const lz_func *f, lz_val *into)
{
    for (uint32_t i = 0; i < f->ninst; i++)
        into[i] = NOT_SEEN;
    for (uint32_t k = 0; k < f->nresult; k++)
        into[f->results[k]] = MANY;
    for (uint32_t i = f->ninst; i-- > f->nparam;) {
        const lz_inst *in = &f->insts[i];
        uint32_t update = update_operand(in);
        bool alike = !in->lit &&
                     (lz_op_get(in->sig->op)->cls == LZ_CLASS_EW || in->sig->op == LZ_OP_RESHAPE);
        for (uint32_t k = 0; k < in->sig->nopnd; k++) {
            bool same = alike && in->sig->opnd[k]->nelem == in->sig->result[0]->nelem;
            meet(&into[in->opnd[k]], update && k == update ? i : same ? into[i] : MANY);
        }
    }
}

/* changed[r]: the only update of the memory r, or MANY. */
static void find_changed(const lz_fusion *fu, const bool *donate, lz_val *changed)
{
    const lz_func *f = fu->f;
    for (uint32_t i = 0; i < f->ninst; i++)
        changed[i] = NOT_SEEN;
    for (uint32_t i = f->nparam; i < f->ninst; i++) {
        lz_val r =
            update_operand(&f->insts[i]) ? lz_fusion_memory(fu, f->insts[i].opnd[0]) : LZ_NOVAL;
        if (r != LZ_NOVAL && !f->insts[r].lit && (r >= f->nparam || (donate && donate[r])))
            meet(&changed[r], i);
    }
}

lz_status lz_fusion_updates(lz_fusion *fu, const bool *donate)
{
    const lz_func *f = fu->f;
    lz_val *into = lz_alloc(2 * ((size_t)f->ninst + 1) * sizeof *into);
    if (!into)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    lz_val *changed = into + f->ninst + 1;
    find_updates(f, into);
    find_changed(fu, donate, changed);
    for (uint32_t i = f->nparam; i < f->ninst; i++) {
        const lz_inst *in = &f->insts[i];
        lz_val r = is_slice(in) ? lz_fusion_memory(fu, in->opnd[0]) : LZ_NOVAL;
        if (r == LZ_NOVAL || changed[r] == NOT_SEEN || changed[r] == MANY || into[i] == changed[r])
            continue;
        if (in->sig->result[0]->nelem <= lz_val_type(f, r)->nelem / SMALL)
            fu->early[i] = lz_fusion_realise(fu, i);
    }
    lz_free(into);
    return LZ_OK;
}
