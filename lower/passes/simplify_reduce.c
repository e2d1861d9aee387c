/* simplify_reduce.c - pass `simplify`: reductions over no dimension, over dimensions of extent 1
 * or of empty arrays, and several independent reductions written as one. See simplify.c. */
#include "lower/passes/simplify.h"
#include <string.h>

#define RECORD(a) ((const lz_attr *)(const void *)&(a))

static lz_val spread(lz_rw *rw, lz_val scalar, const lz_shape *s)
{
    const lz_ints none = {0};
    return s->rank == 0 ? scalar : lz_build_broadcast(rw->out, scalar, &none, s);
}

/* Result k of region r is op(parameter k, parameter n + k), op commutative and associative: the
 * op. */
static lz_op independent(const lz_func *r, uint32_t n, uint32_t k)
{
    const lz_inst *in = &r->insts[r->results[k]];
    uint32_t need = LZ_F_COMM | LZ_F_ASSOC;
    if (in->sig->nopnd != 2 || (in->sig->flags & need) != need)
        return LZ_OP_NONE;
    bool forth = in->opnd[0] == k && in->opnd[1] == n + k,
         back = in->opnd[1] == k && in->opnd[0] == n + k;
    return forth || back ? in->sig->op : LZ_OP_NONE;
}

/* The value of result k of a reduction, or LZ_NOVAL when it is to stay. */
static lz_val reduced(lz_rw *rw, uint32_t i, uint32_t k)
{
    const lz_inst *in = &rw->in->insts[i];
    const lz_attr_reduce *a = LZ_ATTR(reduce, in->sig->attr);
    uint32_t n = in->sig->nopnd / 2;
    const lz_type *t = in->sig->opnd[k], *r = in->sig->result[k];
    lz_val x = lz_rw_opnd(rw, i, k), init = lz_rw_opnd(rw, i, n + k);
    if (t->nelem == 0)
        return r->nelem ? spread(rw, init, &r->shape) : LZ_NOVAL;
    lz_op op = independent(a->body, n, k);
    if (op == LZ_OP_NONE)
        return LZ_NOVAL;
    if (t->nelem == r->nelem) /* one element each */
        return lz_build_ew2(rw->out, op, spread(rw, init, &r->shape),
                            lz_build_reshape(rw->out, x, &r->shape));
    return n > 1 ? lz_build_reduce(rw->out, op, x, init, &a->dimensions) : LZ_NOVAL;
}

static lz_val empty_dot(lz_rw *rw, uint32_t i)
{
    const lz_sig *sig = rw->in->insts[i].sig;
    const lz_type *r = sig->result[0];
    return sig->opnd[0]->nelem == 0 && r->nelem && !lz_dtype_is_complex(r->dtype)
               ? lz_build_splat(rw->out, r, 0)
               : LZ_NOVAL;
}

lz_val lz_simplify_reduce(lz_rw *rw, uint32_t i)
{
    const lz_inst *in = &rw->in->insts[i];
    lz_op_class c = lz_op_get(in->sig->op)->cls;
    if (c == LZ_CLASS_REDUCE && in->sig->nresult == 1)
        return reduced(rw, i, 0);
    if (c == LZ_CLASS_DOT)
        return empty_dot(rw, i);
    if (c == LZ_CLASS_META && !(in->sig->flags & LZ_F_MULTI) &&
        lz_op_get(lz_inst_op(&rw->in->insts[in->opnd[0]]))->cls == LZ_CLASS_REDUCE)
        return reduced(rw, in->opnd[0], (uint32_t)LZ_ATTR(index, in->sig->attr)->index);
    return LZ_NOVAL;
}
