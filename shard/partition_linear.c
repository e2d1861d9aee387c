/* partition_linear.c - which operations a reduction may wait behind: f(a + b) = f(a) + f(b), and
 * the like for maxima. See partition.h. */
#include "shard/partition.h"

typedef enum carry { CARRY_NONE, CARRY_ALL, CARRY_ONE } carry;

static uint32_t first_n(uint32_t n)
{
    return n >= 32 ? 0 : (UINT32_C(1) << n) - 1;
}

/* What moves elements and makes none: linear in all it moves, for every reduction. */
static carry of_moves(const lz_part_op *o, uint32_t *mask)
{
    switch (o->sig->op) {
    case LZ_OP_RESHAPE:
    case LZ_OP_TRANSPOSE:
    case LZ_OP_SLICE:
    case LZ_OP_REVERSE:
    case LZ_OP_BROADCAST_IN_DIM:
    case LZ_OP_DYNAMIC_SLICE:
        *mask = 1;
        return CARRY_ALL;
    case LZ_OP_CONCATENATE:
    case LZ_OP_PAD:
        *mask = first_n(o->sig->nopnd);
        return CARRY_ALL;
    case LZ_OP_DYNAMIC_UPDATE_SLICE:
        *mask = 3;
        return CARRY_ALL;
    case LZ_OP_SELECT:
        *mask = 6;
        return CARRY_ALL;
    default:
        return CARRY_NONE;
    }
}

static carry of_sums(const lz_part_op *o, uint32_t *mask)
{
    lz_dtype d = o->sig->result[0]->dtype;
    switch (o->sig->op) {
    case LZ_OP_NEGATE:
    case LZ_OP_REAL:
    case LZ_OP_IMAG:
        *mask = 1;
        return CARRY_ALL;
    case LZ_OP_DIVIDE:
        *mask = 1;
        return lz_dtype_is_int(d) ? CARRY_NONE : CARRY_ALL;
    case LZ_OP_ADD:
    case LZ_OP_SUBTRACT:
        *mask = 3;
        return CARRY_ALL;
    case LZ_OP_MULTIPLY:
    case LZ_OP_DOT_GENERAL:
        *mask = 3;
        return CARRY_ONE;
    case LZ_OP_REDUCE:
        *mask = 1;
        return o->sig->nresult == 1 &&
                       lz_region_as_binary(LZ_ATTR(reduce, o->sig->attr)->body) == LZ_OP_ADD
                   ? CARRY_ALL
                   : CARRY_NONE;
    default:
        return of_moves(o, mask);
    }
}

static carry of_others(const lz_part_op *o, lz_op reduction, uint32_t *mask)
{
    if (o->sig->op == reduction) {
        *mask = 3;
        return CARRY_ALL;
    }
    if (o->sig->op == LZ_OP_REDUCE && o->sig->nresult == 1 &&
        lz_region_as_binary(LZ_ATTR(reduce, o->sig->attr)->body) == reduction) {
        *mask = 1;
        return CARRY_ALL;
    }
    return of_moves(o, mask);
}

/* The axes along which operand k is in parts, where nobody else makes a whole of it. */
static uint32_t parts_of(const lz_part_op *o, uint32_t k)
{
    const lz_partial *p = o->p;
    lz_val v = p->same[o->opnd[k]];
    const lz_sharding *now = lz_part_now(p, v);
    if (!now || !now->unreduced || p->uses[v] != 1 || p->forms[v]->next)
        return 0;
    return now->unreduced;
}

/* Bytes of the result against those of the operand, both of one device: a reduction is put off only
 * where it gets no larger. */
static bool no_larger(const lz_part_op *o, uint32_t k, int64_t result)
{
    lz_shape s;
    int64_t n = (int64_t)lz_dtype_size(o->sig->opnd[k]->dtype);
    lz_sharding_local_shape(lz_part_now(o->p, o->opnd[k]), &o->sig->opnd[k]->shape, &s);
    for (int d = 0; d < s.rank; d++)
        n *= s.dims[d];
    return result <= n;
}

uint32_t lz_part_carries(const lz_part_op *o, uint32_t used, int64_t result_bytes, uint32_t *mask,
                         lz_op *reduction)
{
    uint32_t found = 0, axes = 0, may = 0;
    carry c = CARRY_NONE;
    *mask = 0;
    if (o->sig->nresult != 1 || o->sig->nopnd > 31)
        return 0;
    for (uint32_t k = 0; k < o->sig->nopnd; k++) {
        uint32_t parts = parts_of(o, k);
        lz_op op = parts ? lz_part_now(o->p, o->opnd[k])->reduction : LZ_OP_NONE;
        if (!parts || parts & used || (*reduction && op != *reduction) ||
            !no_larger(o, k, result_bytes))
            continue;
        c = op == LZ_OP_ADD ? of_sums(o, &may) : of_others(o, op, &may);
        if (c == CARRY_NONE || !(may >> k & 1) || (found && c == CARRY_ONE))
            continue;
        *reduction = op;
        found |= UINT32_C(1) << k;
        axes |= parts;
    }
    if (found)
        *mask = c == CARRY_ONE ? found : may;
    return axes;
}
