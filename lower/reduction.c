/* reduction.c - the plan of a reduction. See reduction.h.
 * A reduction whose region is one associative op starts from that op's identity. Any other region
 * gets one more accumulator, a flag that says whether there is a value yet, because its initial
 * value need not be an identity and may be used once only. */
#include "lower/reduction.h"
#include <string.h>

const lz_func *lz_red_body(const lz_inst *in)
{
    return in->sig->attr->kind == LZ_ATTR_reduce ? LZ_ATTR(reduce, in->sig->attr)->body
                                                 : LZ_ATTR(reduce_window, in->sig->attr)->body;
}

void lz_red_plan_of(const lz_func *f, lz_val v, lz_red_plan *p)
{
    const lz_inst *in = &f->insts[v];
    memset(p, 0, sizeof *p);
    lz_dtype d = in->sig->opnd[0]->dtype;
    p->acc = lz_acc_dtype(d);
    if (in->sig->flags & LZ_F_MULTI) {
        uint64_t id;
        p->comb = in->sig->nopnd == 2 ? lz_region_as_binary(lz_red_body(in)) : LZ_OP_NONE;
        if (p->comb != LZ_OP_NONE && !lz_identity_bits(p->comb, p->acc, &id))
            p->comb = LZ_OP_NONE;
        p->fold = true;
        if (p->comb == LZ_OP_NONE)
            return;
        p->init = id;
        /* The usual initial values do no harm however often they are used: +0 in a sum, an identity
         * in the rest. */
        uint64_t own = 0, at_d = 0, zero = 0;
        const lz_literal *lit = lz_val_splat(f, in->opnd[1], &own);
        if (lit && lit->type->dtype == d) {
            lz_identity_bits(p->comb, d, &at_d);
            if (own == at_d)
                p->fold = false;
            if (own == zero && lz_op_has(p->comb, LZ_F_ID0)) {
                p->fold = false;
                p->init = 0;
            }
        }
    } else { /* a product */
        p->comb = LZ_OP_ADD;
    }
}

uint32_t lz_red_nacc(const lz_func *f, lz_val v)
{
    lz_red_plan p;
    lz_red_plan_of(f, v, &p);
    return p.comb != LZ_OP_NONE ? 1 : f->insts[v].sig->nopnd / 2 + 1;
}
