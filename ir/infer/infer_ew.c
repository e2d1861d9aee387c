/* infer_ew.c - shape rules of elementwise operations, leaves, random bits and structure. See
 * infer.h. */
#include "ir/infer/infer.h"
#include <inttypes.h>

lz_status lz_infer_same(lz_infer *c)
{
    for (uint32_t i = 1; i < c->nopnd; i++)
        LZ_TRY(lz_infer_same_type(c, 0, i));
    if (c->attr->kind == LZ_ATTR_precision) {
        const lz_attr_precision *a = LZ_ATTR(precision, c->attr);
        if (a->exponent_bits < 1 || a->mantissa_bits < 0)
            return LZ_FAIL(LZ_EINVAL,
                           "%s: format e%" PRId64 "m%" PRId64
                           " needs at least 1 exponent bit and 0 mantissa bits",
                           c->name, a->exponent_bits, a->mantissa_bits);
    }
    c->result[0] = c->opnd[0];
    return LZ_OK;
}

lz_status lz_infer_pred(lz_infer *c)
{
    return lz_infer_give(c, LZ_BOOL, &c->opnd[0]->shape);
}

/* The operand's shape and dtype; of a complex operand, the dtype of its parts. */
lz_status lz_infer_part(lz_infer *c)
{
    return lz_infer_give(c, lz_dtype_part(c->opnd[0]->dtype), &c->opnd[0]->shape);
}

lz_status lz_infer_complex(lz_infer *c)
{
    LZ_TRY(lz_infer_same_type(c, 0, 1));
    return lz_infer_give(c, lz_dtype_of_parts(c->opnd[0]->dtype), &c->opnd[0]->shape);
}

lz_status lz_infer_convert(lz_infer *c)
{
    return lz_infer_give(c, LZ_ATTR(dtype, c->attr)->dtype, &c->opnd[0]->shape);
}

/* compare_type must be the one that the dtype has: the word changes no meaning except
 * TOTALORDER. */
static bool compare_type_fits(lz_dtype d, int32_t ct)
{
    switch (ct) {
    case LZ_CT_NOTYPE:
        return true;
    case LZ_CT_FLOAT:
        return lz_dtype_is_float(d) || lz_dtype_is_complex(d);
    case LZ_CT_TOTALORDER:
        return lz_dtype_is_float(d);
    case LZ_CT_SIGNED:
        return lz_dtype_is_signed(d);
    case LZ_CT_UNSIGNED:
        return lz_dtype_is_unsigned(d) || d == LZ_BOOL;
    default:
        return false;
    }
}

lz_status lz_infer_compare(lz_infer *c)
{
    static const char *const names[] = {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
    const lz_attr_compare *a = LZ_ATTR(compare, c->attr);
    lz_dtype d = c->opnd[0]->dtype;
    LZ_TRY(lz_infer_same_type(c, 0, 1));
    if (!compare_type_fits(d, a->compare_type))
        return LZ_FAIL(LZ_EDTYPE, "%s: compare_type %s is not for %s", c->name,
                       names[a->compare_type], LZ_TT(c->opnd[0]));
    if (lz_dtype_is_complex(d) && a->comparison_direction != LZ_CMP_EQ &&
        a->comparison_direction != LZ_CMP_NE)
        return LZ_FAIL(LZ_EDTYPE, "%s: %s has no order; only EQ and NE compare it", c->name,
                       LZ_TT(c->opnd[0]));
    return lz_infer_pred(c);
}

lz_status lz_infer_clamp(lz_infer *c)
{
    const lz_type *x = c->opnd[1];
    for (uint32_t i = 0; i <= 2; i += 2) {
        if (c->opnd[i]->shape.rank != 0 && !lz_shape_eq(&c->opnd[i]->shape, &x->shape))
            return LZ_FAIL(LZ_ESHAPE, "%s: bound %s is neither a scalar nor of the shape of %s",
                           c->name, LZ_TT(c->opnd[i]), LZ_TT(x));
        LZ_TRY(lz_infer_same_dtype(c, i, 1));
    }
    c->result[0] = x;
    return LZ_OK;
}

lz_status lz_infer_select(lz_infer *c)
{
    LZ_TRY(lz_infer_same_type(c, 1, 2));
    if (c->opnd[0]->shape.rank != 0 && !lz_shape_eq(&c->opnd[0]->shape, &c->opnd[1]->shape))
        return LZ_FAIL(LZ_ESHAPE, "%s: predicate %s is neither a scalar nor of the shape of %s",
                       c->name, LZ_TT(c->opnd[0]), LZ_TT(c->opnd[1]));
    c->result[0] = c->opnd[1];
    return LZ_OK;
}

/* ---- leaves ---- */

lz_status lz_infer_type(lz_infer *c)
{
    const lz_attr_type *a = LZ_ATTR(type, c->attr);
    return lz_infer_give(c, a->dtype, &a->shape);
}

lz_status lz_infer_iota(lz_infer *c)
{
    const lz_attr_iota *a = LZ_ATTR(iota, c->attr);
    LZ_TRY(lz_infer_give(c, a->dtype, &a->shape));
    if (a->dtype == LZ_BOOL || lz_dtype_is_storage(a->dtype))
        return LZ_FAIL(LZ_EDTYPE, "%s: %s cannot count", c->name, LZ_TT(c->result[0]));
    if (a->iota_dimension < 0 || a->iota_dimension >= a->shape.rank)
        return LZ_FAIL(LZ_EINVAL, "%s: dimension %" PRId64 " is outside the %d dimensions of %s",
                       c->name, a->iota_dimension, a->shape.rank, LZ_TT(c->result[0]));
    return LZ_OK;
}

/* ---- random bits ---- */

lz_status lz_infer_rng(lz_infer *c)
{
    const lz_attr_rng *a = LZ_ATTR(rng, c->attr);
    const lz_type *s = c->opnd[0];
    if (s->dtype != LZ_U64 || s->shape.rank != 1 || s->shape.dims[0] != 2)
        return LZ_FAIL(s->dtype != LZ_U64 ? LZ_EDTYPE : LZ_ESHAPE,
                       "%s: the state is %s, but u64[2] is needed", c->name, LZ_TT(s));
    if (!lz_dtype_is_int(a->dtype))
        return LZ_FAIL(LZ_EDTYPE, "%s: gives bits as integers, not as %s", c->name,
                       lz_dtype_name(a->dtype));
    LZ_TRY(lz_infer_give(c, a->dtype, &a->shape));
    c->result[1] = c->result[0];
    c->result[0] = s;
    c->nresult = 2;
    return LZ_OK;
}

/* ---- structure ---- */

lz_status lz_infer_barrier(lz_infer *c)
{
    if (c->nopnd == 0)
        return LZ_FAIL(LZ_EINVAL, "%s: needs at least one operand", c->name);
    for (uint32_t i = 0; i < c->nopnd; i++)
        c->result[i] = c->opnd[i];
    c->nresult = c->nopnd;
    return LZ_OK;
}

/* The operand's signature holds the other results; that the type is theirs is checked where the
 * operand is known. */
lz_status lz_infer_result(lz_infer *c)
{
    const lz_attr_index *a = LZ_ATTR(index, c->attr);
    if (a->index < 0)
        return LZ_FAIL(LZ_ERANGE, "%s: index %" PRId64 " is negative", c->name, a->index);
    return lz_infer_give(c, a->dtype, &a->shape);
}
