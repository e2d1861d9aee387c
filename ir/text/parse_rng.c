/* parse_rng.c - stablehlo.rng: numbers of a distribution without a state, which StableHLO leaves to
 * the implementation. Here the draws of a program are those of Philox4x32-10 as rng_bit_generator
 * makes them, draw k (from 0, in the order of execution, calls included) with the key k and the
 * counter 0: the same numbers in every run and on every device. Threads: thread-compatible. */
#include "ir/func.h"
#include "ir/text/parse_chlo.h"
#include <math.h>
#include <string.h>

/* ---- bits ---- */

static lz_val state_of(lz_func *f, uint64_t key, uint64_t counter)
{
    const lz_shape pair = {.rank = 1, .dims = {2}};
    const lz_type *t = lz_type_get(LZ_U64, &pair);
    const uint64_t state[2] = {key, counter};
    lz_literal *l = t ? lz_literal_copy_from(t, state) : NULL;
    lz_val v = l ? lz_build_const(f, l) : lz_func_failed(f);
    lz_literal_release(l);
    return v;
}

static lz_val bits_of(lz_func *f, lz_dtype d, const lz_shape *s, uint64_t key, uint64_t counter)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_rng);
    a.as_rng.rng_algorithm = LZ_RNG_PHILOX;
    a.as_rng.dtype = d;
    a.as_rng.shape = *s;
    lz_val state = state_of(f, key, counter);
    lz_val both = lz_build(f, LZ_OP_RNG_BIT_GENERATOR, &a.head, &state, 1);
    (void)lz_build_result(f, both, 0); /* as it is read from text */
    return lz_build_result(f, both, 1);
}

static lz_val like(lz_func *f, lz_val x, double v)
{
    return x == LZ_NOVAL ? x : lz_build_splat(f, lz_val_type(f, x), v);
}

/* How many bits the significand of a float has. */
static int significant(lz_dtype d)
{
    return d == LZ_F64 ? 53 : d == LZ_F32 ? 24 : d == LZ_F16 ? 11 : 8;
}

/* [0, 1) from the `keep` highest bits: every value is exact, and 1 is never reached. */
static lz_val unit(lz_func *f, lz_val bits, int width, int keep, lz_dtype d)
{
    lz_val v = lz_build_ew2(f, LZ_OP_SHIFT_RIGHT_LOGICAL, bits, like(f, bits, width - keep));
    v = lz_build_convert(f, v, d);
    return lz_build_ew2(f, LZ_OP_MULTIPLY, v, like(f, v, ldexp(1, -keep)));
}

/* ---- distributions; a and b already have the result's shape ---- */

/* a + (b - a) u in f32 or f64, where u has as many bits as the result: from 0 to 1 nothing is
 * rounded. Elsewhere rounding may reach b, which is not in the interval. */
static lz_val uniform_floats(lz_func *f, lz_val a, lz_val b, const lz_type *t, uint64_t key)
{
    bool wide = t->dtype == LZ_F64;
    lz_dtype d = wide ? LZ_F64 : LZ_F32;
    lz_val bits = bits_of(f, wide ? LZ_U64 : LZ_U32, &t->shape, key, 0);
    lz_val u = unit(f, bits, wide ? 64 : 32, significant(t->dtype), d);
    lz_val x = lz_build_convert(f, a, d), y = lz_build_convert(f, b, d);
    lz_val r = lz_build_ew2(
        f, LZ_OP_ADD, x, lz_build_ew2(f, LZ_OP_MULTIPLY, lz_build_ew2(f, LZ_OP_SUBTRACT, y, x), u));
    r = lz_build_convert(f, r, t->dtype);
    return lz_build_select(f, lz_build_compare(f, LZ_CMP_GE, r, b), a, r);
}

/* a + bits mod (b - a), all modulo 2^64: the difference of two integers always fits without a
 * sign. */
static lz_val uniform_integers(lz_func *f, lz_val a, lz_val b, const lz_type *t, uint64_t key)
{
    lz_val bits = bits_of(f, LZ_U64, &t->shape, key, 0);
    lz_val x = lz_build_convert(f, a, LZ_U64), y = lz_build_convert(f, b, LZ_U64);
    lz_val r = lz_build_ew2(f, LZ_OP_REMAINDER, bits, lz_build_ew2(f, LZ_OP_SUBTRACT, y, x));
    return lz_build_convert(f, lz_build_ew2(f, LZ_OP_ADD, x, r), t->dtype);
}

/* a + b sqrt(-2 ln(1 - u1)) cos(2 pi u2) (Box and Muller 1958): f64 takes two 64-bit words for a
 * number, the others the halves of one. */
static lz_val normal(lz_func *f, lz_val a, lz_val b, const lz_type *t, uint64_t key)
{
    bool wide = t->dtype == LZ_F64;
    lz_dtype d = wide ? LZ_F64 : LZ_F32;
    lz_val b1 = bits_of(f, LZ_U64, &t->shape, key, 0);
    lz_val b2 = wide ? bits_of(f, LZ_U64, &t->shape, key, (uint64_t)1 << 63)
                     : lz_build_ew2(f, LZ_OP_SHIFT_LEFT, b1, like(f, b1, 32));
    lz_val u1 = unit(f, b1, 64, significant(d), d), u2 = unit(f, b2, 64, significant(d), d);
    lz_val r = lz_build_ew1(f, LZ_OP_LOG, lz_build_ew2(f, LZ_OP_SUBTRACT, like(f, u1, 1), u1));
    r = lz_build_ew1(f, LZ_OP_SQRT, lz_build_ew2(f, LZ_OP_MULTIPLY, r, like(f, r, -2)));
    lz_val angle = lz_build_ew2(f, LZ_OP_MULTIPLY, u2, like(f, u2, 6.283185307179586476925));
    r = lz_build_ew2(f, LZ_OP_MULTIPLY, r, lz_build_ew1(f, LZ_OP_COSINE, angle));
    r = lz_build_ew2(f, LZ_OP_MULTIPLY, r, lz_build_convert(f, b, d));
    return lz_build_convert(f, lz_build_ew2(f, LZ_OP_ADD, r, lz_build_convert(f, a, d)), t->dtype);
}

/* ---- the operation ---- */

/* distribution = NORMAL | rng_distribution = #stablehlo<rng_distribution NORMAL> */
static lz_status distribution_of(lz_parser *p, const lz_stmt *t, bool *is_normal)
{
    const lz_parse_entry *e = lz_stmt_find(t, t->generic ? "rng_distribution" : "distribution");
    lz_lexer at = p->c;
    if (!e)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "rng: the distribution is missing");
    at.p = e->value;
    (void)lz_lex_eat(&at, "#stablehlo<rng_distribution");
    *is_normal = lz_lex_eat_word(&at, "NORMAL");
    return *is_normal || lz_lex_eat_word(&at, "UNIFORM")
               ? LZ_OK
               : lz_lex_fail(&p->c, e->value, LZ_EPARSE, "rng: expected UNIFORM or NORMAL");
}

/* Element i of a constant, which may be written as one number for all; v as it is when it is
 * none. */
static int64_t known_element(const lz_func *f, lz_val x, int i, int64_t v)
{
    const lz_inst *in = &f->insts[x];
    if (lz_inst_op(in) == LZ_OP_BROADCAST_IN_DIM)
        in = &f->insts[in->opnd[0]];
    const lz_literal *l = in->lit;
    return l ? lz_elem_get_i64(l->type->dtype, l->data, l->type->nelem == 1 ? 0 : i) : v;
}

/* a, b: scalars of the result's dtype; the shape: one integer for each of its dimensions, and what
 * it says where it is a constant. */
static lz_status check(lz_parser *p, const lz_scope *s, const lz_stmt *t)
{
    if (t->result_types.len != 1)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "rng: the result's type is missing");
    const lz_type *r = t->result_types.data[0], *shape = lz_val_type(s->f, t->opnd.data[2]);
    for (int k = 0; k < 2; k++) {
        const lz_type *x = lz_val_type(s->f, t->opnd.data[k]);
        if (x->shape.rank != 0 || x->dtype != r->dtype)
            return lz_lex_fail(&p->c, t->at, LZ_EPARSE,
                               "rng: operand %d is no scalar of the result's dtype", k);
    }
    bool fits = lz_dtype_is_int(shape->dtype) && shape->shape.rank == 1 &&
                shape->shape.dims[0] == r->shape.rank;
    for (int i = 0; fits && i < r->shape.rank; i++)
        fits = known_element(s->f, t->opnd.data[2], i, r->shape.dims[i]) == r->shape.dims[i];
    return fits ? LZ_OK
                : lz_lex_fail(&p->c, t->at, LZ_EPARSE, "rng: the shape is not the result's");
}

lz_status lz_expand_rng(lz_parser *p, lz_scope *s, lz_stmt *t)
{
    bool is_normal;
    LZ_TRY(distribution_of(p, t, &is_normal));
    LZ_TRY(check(p, s, t));
    const lz_type *r = t->result_types.data[0];
    bool floats = lz_dtype_is_float(r->dtype);
    if (!floats && (is_normal || !lz_dtype_is_int(r->dtype)))
        return lz_lex_fail(&p->c, t->at, LZ_EUNSUPPORTED, "rng: no %s of %s",
                           is_normal ? "NORMAL" : "UNIFORM", lz_dtype_name(r->dtype));
    if (p->regions)
        return lz_lex_fail(&p->c, t->at, LZ_EUNSUPPORTED,
                           "rng: in a region it would give the same numbers in every round");
    uint64_t key = p->draws++;
    const lz_ints none = {0};
    lz_val a = lz_build_broadcast(s->f, t->opnd.data[0], &none, &r->shape),
           b = lz_build_broadcast(s->f, t->opnd.data[1], &none, &r->shape);
    lz_val v = is_normal ? normal(s->f, a, b, r, key)
               : floats  ? uniform_floats(s->f, a, b, r, key)
                         : uniform_integers(s->f, a, b, r, key);
    return lz_parse_push(p, t, v);
}
