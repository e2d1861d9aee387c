/* fold.c - pass `fold`: constant folding with the reference evaluator.
 * Does:      an op on constants becomes a constant if it and its operands are small; a constant
 *   whose elements are all equal becomes a broadcast scalar, which costs nothing and fuses.
 * Needs:     nothing (simplify first brings constants together).
 * Recreates: nothing.
 * Breaks:    nothing.
 * Cost:      O(instructions), MAX_IN elements read per folded one.   Off: LAZULI_PASSES_OFF=fold */
#include "ir/eval/eval.h"
#include "lower/passes.h"
#include "lower/passes/rewrite.h"

enum { MAX_OUT = 64, MAX_IN = 1024, MAX_OPNDS = 32 };

/* Spreading and counting are cheaper than memory. */
static bool worth_folding(const lz_sig *s)
{
    lz_op_class c = lz_op_get(s->op)->cls;
    bool kind = c == LZ_CLASS_EW || c == LZ_CLASS_MOVE || c == LZ_CLASS_REDUCE ||
                c == LZ_CLASS_DOT || c == LZ_CLASS_INDEX;
    bool grows = s->op == LZ_OP_BROADCAST_IN_DIM && s->result[0]->nelem != 1;
    return kind && !grows && s->nopnd && s->nopnd <= MAX_OPNDS && s->nresult == 1 &&
           s->result[0]->nelem <= MAX_OUT;
}

/* The value of v when it is a constant, perhaps a spread one: a new reference. NULL when it is
 * none, or without memory. */
static lz_literal *constant(lz_rw *rw, lz_val v)
{
    const lz_inst *in = lz_rw_inst(rw, v);
    lz_literal *out = NULL;
    if (in->lit && in->lit->type->nelem <= MAX_IN) {
        lz_literal_retain(in->lit);
        return in->lit;
    }
    if (in->sig->op != LZ_OP_BROADCAST_IN_DIM || in->sig->result[0]->nelem > MAX_IN ||
        !lz_rw_inst(rw, in->opnd[0])->lit)
        return NULL;
    lz_literal *src = lz_rw_inst(rw, in->opnd[0])->lit;
    if (lz_ref_eval_inst(in->sig, &src, &out) != LZ_OK)
        rw->out->status = lz_error_get()->status;
    return out;
}

static lz_val fold(lz_rw *rw, uint32_t i, void *user)
{
    (void)user;
    const lz_inst *in = &rw->in->insts[i];
    lz_literal *o[MAX_OPNDS], *r = NULL;
    uint64_t bits;
    if (in->lit && in->lit->type->nelem > 1 && lz_literal_splat(in->lit, &bits))
        return lz_build_splat_bits(rw->out, in->lit->type, bits);
    if (!worth_folding(in->sig))
        return LZ_NOVAL;
    uint32_t n = 0;
    while (n < in->sig->nopnd && (o[n] = constant(rw, lz_rw_opnd(rw, i, n))) != NULL)
        n++;
    lz_val v = LZ_NOVAL;
    if (n == in->sig->nopnd) {
        if (lz_ref_eval_inst(in->sig, o, &r) == LZ_OK)
            v = lz_build_const(rw->out, r);
        else if (lz_error_get()->status == LZ_EMEM)
            rw->out->status = LZ_EMEM;
    }
    lz_literal_release(r);
    while (n-- > 0)
        lz_literal_release(o[n]);
    return v;
}

lz_status lz_pass_fold(const lz_func *in, const lz_lower_options *o, lz_func **out)
{
    (void)o;
    return lz_rw_run(in, fold, NULL, out);
}
