/* verify.c - every invariant of a function, checked. Linear in instructions and operands; regions
 * were verified when they were interned. Threads: reads only. */
#include "ir/func.h"
#include <inttypes.h>

#define BAD(...) LZ_FAIL(LZ_EINTERNAL, __VA_ARGS__)

static lz_status verify_leaf(const lz_func *f, uint32_t v, const lz_inst *in)
{
    bool is_param = in->sig->op == LZ_OP_PARAMETER, is_const = in->sig->op == LZ_OP_CONSTANT;
    if (is_param != (v < f->nparam))
        return BAD("%s: value %u is %sa parameter, but %u parameters come first", f->name, v,
                   is_param ? "" : "not ", f->nparam);
    if (is_const && !in->lit)
        return BAD("%s: constant %u has no value", f->name, v);
    if (!is_const && in->lit)
        return BAD("%s: %s %u has a literal", f->name, lz_op_get(in->sig->op)->text, v);
    if (is_const && in->lit->type != in->sig->result[0]) {
        char a[200], b[200];
        return BAD("%s: constant %u is %s, but its value is %s", f->name, v,
                   lz_type_short(in->sig->result[0], a, sizeof a),
                   lz_type_short(in->lit->type, b, sizeof b));
    }
    return LZ_OK;
}

static lz_status verify_inst(const lz_func *f, uint32_t v)
{
    const lz_inst *in = &f->insts[v];
    if (!in->sig)
        return BAD("%s: value %u has no signature", f->name, v);
    const char *name = lz_op_get(in->sig->op)->text;
    LZ_TRY(verify_leaf(f, v, in));
    if (in->sig->nopnd && !in->opnd)
        return BAD("%s: %s %u has no operands", f->name, name, v);
    for (uint32_t k = 0; k < in->sig->nopnd; k++) {
        lz_val o = in->opnd[k];
        if (o >= v)
            return BAD("%s: operand %u of %s %u is value %u, which does not come before it",
                       f->name, k, name, v, o);
        const lz_sig *from = f->insts[o].sig;
        if (from->nresult > 1 && in->sig->op != LZ_OP_RESULT)
            return BAD("%s: operand %u of %s %u is %s %u with %u results, not one of them", f->name,
                       k, name, v, lz_op_get(from->op)->text, o, from->nresult);
        if (from->result[0] != in->sig->opnd[k]) {
            char a[200], b[200];
            return BAD("%s: operand %u of %s %u is %s, but the signature says %s", f->name, k, name,
                       v, lz_type_short(from->result[0], a, sizeof a),
                       lz_type_short(in->sig->opnd[k], b, sizeof b));
        }
    }
    return in->sig->op == LZ_OP_RESULT ? lz_func_check_result(f->insts[in->opnd[0]].sig, in->sig)
                                       : LZ_OK;
}

lz_status lz_func_verify(const lz_func *f)
{
    if (f->status != LZ_OK)
        return BAD("%s: building it failed with %s", f->name, lz_status_name(f->status));
    if (f->nparam > f->ninst)
        return BAD("%s: %u parameters, but %u values", f->name, f->nparam, f->ninst);
    for (uint32_t v = 0; v < f->ninst; v++)
        LZ_TRY(verify_inst(f, v));
    for (uint32_t i = 0; i < f->nresult; i++) {
        if (f->results[i] >= f->ninst)
            return BAD("%s: result %u is value %u of %u", f->name, i, f->results[i], f->ninst);
        const lz_sig *s = f->insts[f->results[i]].sig;
        if (s->nresult > 1)
            return BAD("%s: result %u is %s %u with %u results, not one of them", f->name, i,
                       lz_op_get(s->op)->text, f->results[i], s->nresult);
    }
    return LZ_OK;
}
