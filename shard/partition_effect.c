/* partition_effect.c - what the program does besides its values (a custom call that prints): it
 * happens once, as on one device. The first partition does it, of whole operands; what it gives
 * comes to all others. Along manual axes every partition does what the body says, of its own
 * values. See partition.h. */
#include "ir/func.h"
#include "shard/partition.h"

/* A region of the operation's operands that does it, or gives zeros; interned. NULL: the function
 * has failed. */
static const lz_func *branch(lz_partial *p, const lz_sig *sig, bool does)
{
    lz_func *f = lz_func_new(does ? "does" : "does_not");
    size_t n = (size_t)sig->nopnd + sig->nresult + 1;
    lz_val *v = lz_arena_alloc(p->scratch, n * sizeof *v), *r = v ? v + sig->nopnd : NULL;
    const lz_func *done = NULL;
    if (f && v) {
        for (uint32_t k = 0; k < sig->nopnd; k++)
            v[k] = lz_build_param(f, sig->opnd[k]);
        lz_val made = does ? lz_build(f, sig->op, sig->attr, v, sig->nopnd) : LZ_NOVAL;
        for (uint32_t k = 0; k < sig->nresult; k++)
            r[k] = does ? lz_build_result(f, made, k) : lz_build_splat_bits(f, sig->result[k], 0);
        if (f->status == LZ_OK && lz_func_set_results(f, r, sig->nresult) == LZ_OK)
            done = lz_region_intern(f);
    } else {
        (void)LZ_FAIL(LZ_EMEM, "no memory to partition %s", p->f->name);
    }
    lz_func_free(f);
    if (!done)
        (void)lz_func_failed(p->l.f);
    return done;
}

lz_status lz_part_effect(lz_partial *p, lz_val v)
{
    const lz_inst *in = &p->f->insts[v];
    const lz_sig *sig = in->sig;
    uint32_t n = sig->nopnd, axes = lz_mesh_all(p->l.mesh) & ~p->manual;
    lz_val *o = lz_arena_alloc(p->scratch, ((size_t)n + 1) * sizeof *o), made;
    if (!o)
        return LZ_FAIL(LZ_EMEM, "no memory to partition %s", p->f->name);
    for (uint32_t k = 0; k < n; k++)
        o[k + 1] = lz_part_want(p, in->opnd[k], lz_part_replicated(p, sig->opnd[k]->shape.rank));
    LZ_TRY(p->l.f->status);
    if (axes) {
        const lz_func *does = branch(p, sig, true), *not = does ? branch(p, sig, false) : NULL;
        LZ_TRY(p->l.f->status);
        o[0] = lz_local_is_first(&p->l, axes);
        made = lz_build_if(p->l.f, does, not, o, n + 1);
    } else {
        made = lz_build(p->l.f, sig->op, sig->attr, o + 1, n);
    }
    for (uint32_t k = 0; k < sig->nresult; k++) {
        lz_val r = lz_build_result(p->l.f, made, k);
        if (axes && r != LZ_NOVAL)
            r = lz_local_broadcast(&p->l, r, axes);
        lz_part_give_result(p, v, k, lz_part_replicated(p, sig->result[k]->shape.rank), r);
    }
    return p->l.f->status;
}
