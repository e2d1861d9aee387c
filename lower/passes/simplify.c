/* simplify.c - pass `simplify`: algebraic simplification that preserves every bit.
 * Does:      elementwise (this file): involutions, idempotents, identities by the flags of the op,
 *   selection by constants, exact pairs of conversions, division by powers of two, parts of
 *   complex values, ops on broadcasts moved before the broadcast. Movement and reductions:
 *   simplify_move.c, simplify_reduce.c.
 *   Floats: only what also holds for -0, infinities and NaN: x * 1, x / 1, x - (+0), x + (-0), but
 *   not x + (+0).
 * Needs:     nothing.   Recreates: nothing.   Breaks: nothing.
 * Cost:      O(instructions) per iteration, at most ROUNDS.   Off: LAZULI_PASSES_OFF=simplify */
#include "lower/passes/simplify.h"
#include "lower/passes.h"
#include <string.h>

enum { ROUNDS = 8 };

#define RECORD(a) ((const lz_attr *)(const void *)&(a))

static bool splat_is(const lz_rw *rw, lz_val v, uint64_t bits)
{
    uint64_t b;
    return lz_rw_splat(rw->out, v, &b) && b == bits;
}

static bool splat_is_value(const lz_rw *rw, lz_val v, double x)
{
    uint64_t bits = 0;
    lz_dtype d = lz_rw_type(rw, v)->dtype;
    if (lz_dtype_is_complex(d))
        return false;
    lz_elem_set_f64(d, &bits, 0, x);
    return splat_is(rw, v, bits);
}

/* b is a right identity of op, bit for bit. */
static bool is_identity(const lz_rw *rw, lz_op op, lz_val b)
{
    uint64_t bits;
    lz_dtype d = lz_rw_type(rw, b)->dtype;
    if (lz_dtype_is_complex(d))
        return false;
    if (lz_op_has(op, LZ_F_ID0)) { /* x + -0 and x - +0 keep -0 */
        if (!lz_dtype_is_float(d))
            return splat_is(rw, b, 0);
        return splat_is_value(rw, b, lz_op_has(op, LZ_F_COMM) ? -0.0 : 0.0);
    }
    return lz_identity_bits(op, d, &bits) && splat_is(rw, b, bits);
}

/* ---- conversions ---- */

static int int_bits(lz_dtype d) /* of the magnitude */
{
    return lz_dtype_bits(d) - lz_dtype_is_signed(d);
}

static int float_bits(lz_dtype d) /* integers exactly held */
{
    return d == LZ_F64 ? 53 : d == LZ_F32 ? 24 : d == LZ_F16 ? 11 : 8;
}

static bool real_number(lz_dtype d)
{
    return lz_dtype_is_float(d) || lz_dtype_is_storage(d);
}

static bool lossless(lz_dtype a, lz_dtype b)
{
    if (a == b || a == LZ_BOOL)
        return a == b || !lz_dtype_is_complex(b);
    if (lz_dtype_is_storage(b))
        return false;
    if (lz_dtype_is_complex(a) || lz_dtype_is_complex(b) || b == LZ_BOOL)
        return a == LZ_C64 && b == LZ_C128;
    if (real_number(a))
        return lz_dtype_is_float(b) && lz_dtype_size(b) > lz_dtype_size(a);
    if (lz_dtype_is_float(b))
        return int_bits(a) <= float_bits(b);
    if (lz_dtype_is_signed(a) && !lz_dtype_is_signed(b))
        return false;
    return int_bits(a) <= int_bits(b);
}

static lz_val simplify_convert(lz_rw *rw, uint32_t i, lz_val x)
{
    lz_dtype to = rw->in->insts[i].sig->result[0]->dtype, via = lz_rw_type(rw, x)->dtype;
    if (via == to)
        return x;
    if (lz_rw_op(rw, x) != LZ_OP_CONVERT)
        return LZ_NOVAL;
    lz_val y = lz_rw_inst(rw, x)->opnd[0];
    lz_dtype from = lz_rw_type(rw, y)->dtype;
    bool kind = real_number(from) == real_number(via);
    if (!lossless(from, via) || !(kind || to == from || lossless(from, to)))
        return LZ_NOVAL;
    return lz_build_convert(rw->out, y, to);
}

/* ---- selection ---- */

static lz_val simplify_select(lz_rw *rw, lz_val p, lz_val a, lz_val b)
{
    uint64_t bits, no;
    if (lz_rw_type(rw, a)->dtype == LZ_BOOL && lz_rw_splat(rw->out, a, &bits) &&
        lz_rw_splat(rw->out, b, &no) && bits != no)
        return bits ? p : lz_build_ew1(rw->out, LZ_OP_NOT, p);
    if (a == b)
        return a;
    if (lz_rw_splat(rw->out, p, &bits))
        return bits & 1 ? a : b;
    if (lz_rw_op(rw, p) == LZ_OP_NOT)
        return lz_build_select(rw->out, lz_rw_inst(rw, p)->opnd[0], b, a);
    return LZ_NOVAL;
}

/* ---- division by powers of two ---- */

static lz_val simplify_divide(lz_rw *rw, lz_val a, lz_val b)
{
    uint64_t bits;
    const lz_type *t = lz_rw_type(rw, b);
    if (!lz_dtype_is_float(t->dtype) || !lz_rw_splat(rw->out, b, &bits))
        return LZ_NOVAL;
    double v = lz_elem_get_f64(t->dtype, &bits, 0), m = v < 0 ? -v : v;
    int e = 0;
    for (; m > 1 && e < 3; e++)
        m /= 2;
    for (; m < 1 && m > 0 && e > -3; e--)
        m *= 2;
    if (m != 1) /* small ones only: a batch size that happens to be a power of two makes no other
                   kernel */
        return LZ_NOVAL;
    return lz_build_ew2(rw->out, LZ_OP_MULTIPLY, a, lz_build_splat(rw->out, t, 1 / v));
}

/* ---- parts of complex numbers ---- */

/* A part of a number made of parts is that part; a number made of the parts of one is that one. */
static lz_val simplify_part(const lz_rw *rw, lz_op op, lz_val a)
{
    bool c = lz_dtype_is_complex(lz_rw_type(rw, a)->dtype);
    if (!c)
        return op == LZ_OP_REAL ? a : LZ_NOVAL;
    return lz_rw_op(rw, a) == LZ_OP_COMPLEX ? lz_rw_inst(rw, a)->opnd[op == LZ_OP_IMAG] : LZ_NOVAL;
}

static lz_val simplify_complex(const lz_rw *rw, lz_val a, lz_val b)
{
    if (lz_rw_op(rw, a) != LZ_OP_REAL || lz_rw_op(rw, b) != LZ_OP_IMAG)
        return LZ_NOVAL;
    lz_val x = lz_rw_inst(rw, a)->opnd[0], y = lz_rw_inst(rw, b)->opnd[0];
    return x == y && lz_dtype_is_complex(lz_rw_type(rw, x)->dtype) ? x : LZ_NOVAL;
}

/* ---- operations on broadcasts ---- */

typedef struct spread {
    const lz_attr_broadcast
        *attr; /* the broadcast all operands that are not scalars share; NULL: all are scalars */
    lz_shape small;
    lz_ints dims;
} spread;

/* What operand k is before it was broadcast; false when it was not, or otherwise than the
 * others. */
static bool before_broadcast(const lz_rw *rw, lz_val v, spread *s, lz_val *small)
{
    const lz_inst *in = lz_rw_inst(rw, v);
    if (in->sig->result[0]->shape.rank == 0) {
        *small = v;
        return true;
    }
    if (in->sig->op != LZ_OP_BROADCAST_IN_DIM)
        return false;
    *small = in->opnd[0];
    if (in->sig->opnd[0]->shape.rank == 0)
        return true;
    const lz_attr_broadcast *a = LZ_ATTR(broadcast, in->sig->attr);
    if (s->attr)
        return s->attr == a && lz_shape_eq(&s->small, &in->sig->opnd[0]->shape);
    s->attr = a;
    s->small = in->sig->opnd[0]->shape;
    return true;
}

/* f(broadcast a, broadcast b) is broadcast f(a, b): less work, and scalars fold. */
static lz_val before_broadcasts(lz_rw *rw, uint32_t i)
{
    const lz_inst *in = &rw->in->insts[i];
    spread s = {0};
    lz_val small[3];
    s.small = LZ_SCALAR;
    const lz_type *r = in->sig->result[0];
    if (r->shape.rank == 0 || in->sig->nopnd > 3)
        return LZ_NOVAL;
    for (uint32_t k = 0; k < in->sig->nopnd; k++)
        if (!before_broadcast(rw, lz_rw_opnd(rw, i, k), &s, &small[k]))
            return LZ_NOVAL;
    if (s.attr) {
        const lz_type *t = lz_type_get(r->dtype, &s.small);
        if (!t || t->nelem >= r->nelem)
            return LZ_NOVAL;
        const lz_ints none = {0};
        for (uint32_t k = 0; k < in->sig->nopnd; k++)
            if (lz_rw_type(rw, small[k])->shape.rank == 0 && in->sig->opnd[k]->shape.rank != 0)
                small[k] = lz_build_broadcast(rw->out, small[k], &none, &s.small);
    }
    lz_val v = lz_build(rw->out, in->sig->op, in->sig->attr, small, in->sig->nopnd);
    const lz_ints none = {0};
    return lz_build_broadcast(rw->out, v, s.attr ? &s.attr->broadcast_dimensions : &none,
                              &r->shape);
}

lz_val lz_simplify_ew(lz_rw *rw, uint32_t i)
{
    const lz_sig *sig = rw->in->insts[i].sig;
    lz_val a = lz_rw_opnd(rw, i, 0), b = sig->nopnd > 1 ? lz_rw_opnd(rw, i, 1) : LZ_NOVAL,
           v = LZ_NOVAL;
    if (sig->flags & LZ_F_INVOL && lz_rw_op(rw, a) == sig->op)
        return lz_rw_inst(rw, a)->opnd[0];
    if (sig->nopnd == 2) {
        if (sig->flags & LZ_F_IDEM && a == b)
            return a;
        if (is_identity(rw, sig->op, b))
            return a;
        if (sig->flags & LZ_F_COMM && is_identity(rw, sig->op, a))
            return b;
    }
    if (sig->op == LZ_OP_CONVERT)
        v = simplify_convert(rw, i, a);
    else if (sig->op == LZ_OP_SELECT && lz_rw_type(rw, a)->shape.rank == sig->result[0]->shape.rank)
        v = simplify_select(rw, a, b, lz_rw_opnd(rw, i, 2));
    else if (sig->op == LZ_OP_DIVIDE)
        v = simplify_divide(rw, a, b);
    else if (sig->op == LZ_OP_REAL || sig->op == LZ_OP_IMAG)
        v = simplify_part(rw, sig->op, a);
    else if (sig->op == LZ_OP_COMPLEX)
        v = simplify_complex(rw, a, b);
    else if (sig->op == LZ_OP_ADD && sig->result[0]->dtype != LZ_BOOL)
        v = lz_simplify_sum_of_parts(rw, i);
    return v != LZ_NOVAL || rw->out->status != LZ_OK ? v : before_broadcasts(rw, i);
}

static lz_val simplify(lz_rw *rw, uint32_t i, void *user)
{
    (void)user;
    lz_op_class c = lz_op_get(lz_inst_op(&rw->in->insts[i]))->cls;
    if (c == LZ_CLASS_EW)
        return lz_simplify_ew(rw, i);
    if (c == LZ_CLASS_MOVE || c == LZ_CLASS_INDEX)
        return lz_simplify_move(rw, i);
    return lz_simplify_reduce(rw, i);
}

lz_status lz_pass_simplify(const lz_func *in, const lz_lower_options *o, lz_func **out)
{
    (void)o;
    const lz_func *cur = in;
    lz_func *own = NULL;
    for (int round = 0; round < ROUNDS; round++) {
        lz_func *next = NULL;
        lz_status s = lz_rw_run(cur, simplify, NULL, &next);
        if (s != LZ_OK) {
            lz_func_free(own);
            return s;
        }
        if (!next)
            break;
        lz_func_free(own);
        cur = own = next;
    }
    *out = own;
    return LZ_OK;
}
