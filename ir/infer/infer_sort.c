/* infer_sort.c - shape rule of sort. See infer.h. */
#include "ir/infer/infer.h"

/* Parameters 2k and 2k + 1 are elements of operand k; one boolean result. */
static lz_status check_comparator(const lz_infer *c, const lz_func *f)
{
    if (!f)
        return LZ_FAIL(LZ_EINVAL, "%s: there is no comparator", c->name);
    if (f->nparam != 2 * c->nopnd || f->nresult != 1)
        return LZ_FAIL(LZ_EINVAL,
                       "%s: the comparator has %u parameters and %u results, but %u and 1 are "
                       "needed for %u operands",
                       c->name, f->nparam, f->nresult, 2 * c->nopnd, c->nopnd);
    for (uint32_t i = 0; i < f->nparam; i++) {
        const lz_type *have = lz_val_type(f, i), *like = c->opnd[i / 2];
        if (have->shape.rank != 0 || have->dtype != like->dtype)
            return LZ_FAIL(have->shape.rank != 0 ? LZ_ESHAPE : LZ_EDTYPE,
                           "%s: parameter %u of the comparator is %s, but operand %u is %s",
                           c->name, i, LZ_TT(have), i / 2, LZ_TT(like));
    }
    const lz_type *r = lz_val_type(f, f->results[0]);
    if (r->shape.rank != 0 || r->dtype != LZ_BOOL)
        return LZ_FAIL(LZ_EDTYPE, "%s: the comparator gives %s, not a boolean scalar", c->name,
                       LZ_TT(r));
    return LZ_OK;
}

lz_status lz_infer_sort(lz_infer *c)
{
    const lz_attr_sort *a = LZ_ATTR(sort, c->attr);
    if (c->nopnd == 0)
        return LZ_FAIL(LZ_EINVAL, "%s: there are no operands", c->name);
    const lz_type *x = c->opnd[0];
    if (a->dimension < 0 || a->dimension >= x->shape.rank)
        return LZ_FAIL(LZ_EINVAL, "%s: dimension %" PRId64 " is outside the %d dimensions of %s",
                       c->name, a->dimension, x->shape.rank, LZ_TT(x));
    for (uint32_t i = 1; i < c->nopnd; i++)
        if (!lz_shape_eq(&c->opnd[i]->shape, &x->shape))
            return LZ_FAIL(LZ_ESHAPE, "%s: shapes of operands %s and %s differ", c->name, LZ_TT(x),
                           LZ_TT(c->opnd[i]));
    LZ_TRY(check_comparator(c, a->comparator));
    for (uint32_t i = 0; i < c->nopnd; i++)
        c->result[i] = c->opnd[i];
    c->nresult = c->nopnd;
    return LZ_OK;
}
