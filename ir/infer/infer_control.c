/* infer_control.c - shape rules of while, if and what else runs regions. See infer.h. */
#include "ir/infer/infer.h"
#include <inttypes.h>

/* A region takes exactly the operands from `first` on. */
static lz_status takes_operands(const lz_infer *c, const char *field, const lz_func *r,
                                uint32_t first)
{
    if (!r)
        return LZ_FAIL(LZ_EINVAL, "%s: there is no %s", c->name, field);
    if (r->nparam != c->nopnd - first)
        return LZ_FAIL(LZ_EINVAL, "%s: %s has %u parameters for %u values", c->name, field,
                       r->nparam, c->nopnd - first);
    for (uint32_t i = 0; i < r->nparam; i++)
        if (lz_val_type(r, i) != c->opnd[first + i])
            return LZ_FAIL(lz_val_type(r, i)->dtype != c->opnd[first + i]->dtype ? LZ_EDTYPE
                                                                                 : LZ_ESHAPE,
                           "%s: parameter %u of %s is %s, but its value is %s", c->name, i, field,
                           LZ_TT(lz_val_type(r, i)), LZ_TT(c->opnd[first + i]));
    return LZ_OK;
}

static lz_status is_predicate(const lz_infer *c, const char *what, const lz_type *t)
{
    if (t->dtype != LZ_BOOL || t->shape.rank != 0)
        return LZ_FAIL(t->dtype != LZ_BOOL ? LZ_EDTYPE : LZ_ESHAPE,
                       "%s: %s is %s, but one boolean is needed", c->name, what, LZ_TT(t));
    return LZ_OK;
}

/* Parameter or result k of a region beside the value it stands for. */
static lz_status stands_for(const lz_infer *c, const char *what, uint32_t k, const lz_type *t,
                            const lz_type *value)
{
    return t == value ? LZ_OK
                      : LZ_FAIL(t->dtype != value->dtype ? LZ_EDTYPE : LZ_ESHAPE,
                                "%s: %s %u of backward is %s, but its value is %s", c->name, what,
                                k, LZ_TT(t), LZ_TT(value));
}

lz_status lz_infer_custom_vjp(lz_infer *c)
{
    const lz_attr_custom_vjp *a = LZ_ATTR(custom_vjp, c->attr);
    const lz_func *r = a->backward;
    if (!r)
        return LZ_FAIL(LZ_EINVAL, "%s: there is no backward", c->name);
    if (a->results < 1 || a->results > c->nopnd)
        return LZ_FAIL(LZ_ERANGE, "%s: %" PRId64 " results of %u operands", c->name, a->results,
                       c->nopnd);
    uint32_t n = (uint32_t)a->results, rest = c->nopnd - n;
    if (r->nresult > rest || r->nparam != 2 * (uint64_t)n + rest - r->nresult)
        return LZ_FAIL(LZ_EINVAL,
                       "%s: backward has %u parameters and %u results for %u results and %u other "
                       "operands",
                       c->name, r->nparam, r->nresult, n, rest);
    for (uint32_t i = 0; i < n; i++) {
        LZ_TRY(stands_for(c, "parameter", i, lz_val_type(r, i), c->opnd[i]));
        LZ_TRY(stands_for(c, "parameter", n + i, lz_val_type(r, n + i), c->opnd[i]));
        c->result[i] = c->opnd[i];
    }
    for (uint32_t i = 0; i < r->nresult; i++)
        LZ_TRY(stands_for(c, "result", i, lz_val_type(r, r->results[i]), c->opnd[n + i]));
    for (uint32_t i = 2 * n; i < r->nparam; i++)
        LZ_TRY(stands_for(c, "parameter", i, lz_val_type(r, i), c->opnd[i - n + r->nresult]));
    c->nresult = n;
    return LZ_OK;
}

lz_status lz_infer_while(lz_infer *c)
{
    const lz_attr_loop *a = LZ_ATTR(loop, c->attr);
    LZ_TRY(takes_operands(c, "cond", a->cond, 0));
    LZ_TRY(takes_operands(c, "body", a->body, 0));
    if (a->cond->nresult != 1)
        return LZ_FAIL(LZ_EINVAL, "%s: cond has %u results, not one", c->name, a->cond->nresult);
    LZ_TRY(is_predicate(c, "the result of cond", lz_val_type(a->cond, a->cond->results[0])));
    uint32_t n = a->body->nresult;
    if (n == 0 || n > c->nopnd)
        return LZ_FAIL(LZ_EINVAL, "%s: body has %u results for %u values", c->name, n, c->nopnd);
    for (uint32_t i = 0; i < n; i++) {
        const lz_type *t = lz_val_type(a->body, a->body->results[i]);
        if (t != c->opnd[i])
            return LZ_FAIL(t->dtype != c->opnd[i]->dtype ? LZ_EDTYPE : LZ_ESHAPE,
                           "%s: result %u of body is %s, but the value it follows is %s", c->name,
                           i, LZ_TT(t), LZ_TT(c->opnd[i]));
        c->result[i] = t;
    }
    c->nresult = n;
    return LZ_OK;
}

lz_status lz_infer_if(lz_infer *c)
{
    const lz_attr_branches *a = LZ_ATTR(branches, c->attr);
    if (c->nopnd == 0)
        return LZ_FAIL(LZ_EINVAL, "%s: there is no predicate", c->name);
    LZ_TRY(is_predicate(c, "the predicate", c->opnd[0]));
    LZ_TRY(takes_operands(c, "true_branch", a->true_branch, 1));
    LZ_TRY(takes_operands(c, "false_branch", a->false_branch, 1));
    uint32_t n = a->true_branch->nresult;
    if (n == 0 || n != a->false_branch->nresult)
        return LZ_FAIL(LZ_EINVAL, "%s: the branches have %u and %u results", c->name, n,
                       a->false_branch->nresult);
    for (uint32_t i = 0; i < n; i++) {
        const lz_type *t = lz_val_type(a->true_branch, a->true_branch->results[i]),
                      *f = lz_val_type(a->false_branch, a->false_branch->results[i]);
        if (t != f)
            return LZ_FAIL(t->dtype != f->dtype ? LZ_EDTYPE : LZ_ESHAPE,
                           "%s: result %u of the branches is %s and %s", c->name, i, LZ_TT(t),
                           LZ_TT(f));
        c->result[i] = t;
    }
    c->nresult = n;
    return LZ_OK;
}
