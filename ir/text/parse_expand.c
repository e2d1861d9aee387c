/* parse_expand.c - operations that StableHLO or CHLO has and the table has not, written with those
 * of the table. */
#include "ir/text/parse_chlo.h"
#include <math.h>

typedef lz_val expand_fn(lz_func *f, const lz_stmt *t);
struct lz_expansion {
    const char *name;
    uint32_t nopnd; /* 0: the statement counts them itself */
    expand_fn *fn;
    lz_status (*statement)(lz_parser *p, lz_scope *s, lz_stmt *t); /* instead */
};

/* A constant of the operand's type. */
static lz_val like(lz_func *f, lz_val x, double v)
{
    return lz_build_splat(f, lz_val_type(f, x), v);
}

static lz_val ew2(lz_func *f, lz_op op, lz_val a, lz_val b)
{
    return lz_build_ew2(f, op, a, b);
}

/* ---- CHLO ---- */

/* ((x - y) (x + y), 2 x y): parts are infinite only where the square's are, and 0 where they are of
 * one size. */
static lz_val complex_square(lz_func *f, lz_val z)
{
    lz_val x = lz_build_ew1(f, LZ_OP_REAL, z), y = lz_build_ew1(f, LZ_OP_IMAG, z);
    lz_val re = ew2(f, LZ_OP_MULTIPLY, ew2(f, LZ_OP_SUBTRACT, x, y), ew2(f, LZ_OP_ADD, x, y)),
           im = ew2(f, LZ_OP_MULTIPLY, x, y);
    lz_val equal = lz_build_compare(f, LZ_CMP_EQ, lz_build_ew1(f, LZ_OP_ABS, x),
                                    lz_build_ew1(f, LZ_OP_ABS, y));
    equal = ew2(f, LZ_OP_AND, equal, lz_build_ew1(f, LZ_OP_IS_FINITE, x));
    if (re == LZ_NOVAL)
        return re;
    re = lz_build_select(f, equal, like(f, re, 0), re);
    return ew2(f, LZ_OP_COMPLEX, re, ew2(f, LZ_OP_ADD, im, im));
}

static lz_val square(lz_func *f, const lz_stmt *t)
{
    lz_val x = t->opnd.data[0];
    return lz_dtype_is_complex(lz_val_type(f, x)->dtype) ? complex_square(f, x)
                                                         : ew2(f, LZ_OP_MULTIPLY, x, x);
}

static lz_val tan_(lz_func *f, const lz_stmt *t)
{
    return lz_build_ew1(f, LZ_OP_TAN, t->opnd.data[0]);
}

static lz_val log1p_(lz_func *f, const lz_stmt *t)
{
    return lz_build_ew1(f, LZ_OP_LOG_PLUS_ONE, t->opnd.data[0]);
}

static lz_val conj_(lz_func *f, const lz_stmt *t)
{
    return lz_build_conj(f, t->opnd.data[0]);
}

static lz_val is_inf(lz_func *f, const lz_stmt *t)
{
    lz_val x = lz_build_ew1(f, LZ_OP_ABS, t->opnd.data[0]);
    return lz_build_compare(f, LZ_CMP_EQ, x, like(f, t->opnd.data[0], INFINITY));
}

static lz_val is_pos_inf(lz_func *f, const lz_stmt *t)
{
    return lz_build_compare(f, LZ_CMP_EQ, t->opnd.data[0], like(f, t->opnd.data[0], INFINITY));
}

static lz_val is_neg_inf(lz_func *f, const lz_stmt *t)
{
    return lz_build_compare(f, LZ_CMP_EQ, t->opnd.data[0], like(f, t->opnd.data[0], -INFINITY));
}

/* ---- chlo.mulhi: the upper half of the product ---- */

static lz_val cast(lz_func *f, lz_val x, lz_dtype d)
{
    return lz_build_convert(f, x, d);
}

static lz_val bits_as(lz_func *f, lz_val x, lz_dtype d)
{
    lz_attr_dtype a = {.kind = LZ_ATTR_dtype, .dtype = d};
    return lz_build(f, LZ_OP_BITCAST_CONVERT, (const lz_attr *)(const void *)&a, &x, 1);
}

/* Of unsigned 64-bit numbers, by their halves; no sum overflows. */
static lz_val mulhi_u64(lz_func *f, lz_val a, lz_val b)
{
    lz_val low = like(f, a, 4294967295.0), by = like(f, a, 32);
    lz_val ah = ew2(f, LZ_OP_SHIFT_RIGHT_LOGICAL, a, by), al = ew2(f, LZ_OP_AND, a, low),
           bh = ew2(f, LZ_OP_SHIFT_RIGHT_LOGICAL, b, by), bl = ew2(f, LZ_OP_AND, b, low);
    lz_val m = ew2(f, LZ_OP_MULTIPLY, al, bl), mid = ew2(f, LZ_OP_MULTIPLY, ah, bl);
    mid = ew2(f, LZ_OP_ADD, mid, ew2(f, LZ_OP_SHIFT_RIGHT_LOGICAL, m, by));
    lz_val cross = ew2(f, LZ_OP_ADD, ew2(f, LZ_OP_MULTIPLY, al, bh), ew2(f, LZ_OP_AND, mid, low));
    lz_val high = ew2(f, LZ_OP_ADD, ew2(f, LZ_OP_MULTIPLY, ah, bh),
                      ew2(f, LZ_OP_SHIFT_RIGHT_LOGICAL, mid, by));
    return ew2(f, LZ_OP_ADD, high, ew2(f, LZ_OP_SHIFT_RIGHT_LOGICAL, cross, by));
}

/* A negative factor is 2^64 too large when it is read without sign. */
static lz_val mulhi_i64(lz_func *f, lz_val a, lz_val b)
{
    lz_val zero = like(f, a, 0);
    lz_val r = bits_as(f, mulhi_u64(f, bits_as(f, a, LZ_U64), bits_as(f, b, LZ_U64)), LZ_I64);
    lz_val over_a = lz_build_select(f, lz_build_compare(f, LZ_CMP_LT, a, zero), b, zero),
           over_b = lz_build_select(f, lz_build_compare(f, LZ_CMP_LT, b, zero), a, zero);
    return ew2(f, LZ_OP_SUBTRACT, ew2(f, LZ_OP_SUBTRACT, r, over_a), over_b);
}

static lz_val mulhi(lz_func *f, const lz_stmt *t)
{
    lz_val a = t->opnd.data[0], b = t->opnd.data[1];
    lz_dtype d = lz_val_type(f, a)->dtype, e = lz_val_type(f, b)->dtype;
    size_t size = lz_dtype_size(d);
    bool sgn = lz_dtype_is_signed(d);
    if (!lz_dtype_is_int(d) || d != e) {
        (void)LZ_FAIL(LZ_EDTYPE, "chlo.mulhi: %s and %s are not integers of one dtype",
                      lz_dtype_name(d), lz_dtype_name(e));
        return LZ_NOVAL;
    }
    if (size == 8)
        return sgn ? mulhi_i64(f, a, b) : mulhi_u64(f, a, b);
    lz_dtype wide = sgn ? (size == 1   ? LZ_I16
                           : size == 2 ? LZ_I32
                                       : LZ_I64)
                        : (size == 1   ? LZ_U16
                           : size == 2 ? LZ_U32
                                       : LZ_U64);
    lz_val m = ew2(f, LZ_OP_MULTIPLY, cast(f, a, wide), cast(f, b, wide));
    if (m == LZ_NOVAL)
        return m;
    m = ew2(f, LZ_OP_SHIFT_RIGHT_LOGICAL, m, like(f, m, lz_dtype_bits(d)));
    return cast(f, m, d);
}

/* ---- older StableHLO ---- */

/* dot: the last dimension of the first with the first of the second. */
static lz_val dot(lz_func *f, const lz_stmt *t)
{
    int64_t last = lz_val_type(f, t->opnd.data[0])->shape.rank - 1, first = 0;
    lz_attr_dot a = {.kind = LZ_ATTR_dot,
                     .lhs_contracting_dimensions = lz_ints_make(1, &last),
                     .rhs_contracting_dimensions = lz_ints_make(1, &first)};
    return lz_build(f, LZ_OP_DOT_GENERAL, (const lz_attr *)(const void *)&a, t->opnd.data, 2);
}

/* broadcast: new dimensions in front; which sizes they have, the result's type says. */
static lz_val broadcast(lz_func *f, const lz_stmt *t)
{
    const lz_shape *from = &lz_val_type(f, t->opnd.data[0])->shape;
    lz_ints dims = {.n = from->rank};
    for (int i = 0; i < from->rank; i++)
        dims.v[i] = t->result_types.len ? t->result_types.data[0]->shape.rank - from->rank + i : i;
    return lz_build_broadcast(f, t->opnd.data[0], &dims,
                              t->result_types.len ? &t->result_types.data[0]->shape : from);
}

static const lz_expansion expansions[] = {
    {"chlo.square", 1, square, NULL},
    {"stablehlo.square", 1, square, NULL},
    {"chlo.conj", 1, conj_, NULL},
    {"chlo.log1p", 1, log1p_, NULL},
    {"chlo.mulhi", 2, mulhi, NULL},
    {"chlo.ragged_dot", 3, NULL, lz_chlo_ragged_dot},
    {"chlo.top_k", 0, NULL, lz_chlo_top_k},
    {"chlo.tan", 1, tan_, NULL},
    {"chlo.is_inf", 1, is_inf, NULL},
    {"chlo.is_pos_inf", 1, is_pos_inf, NULL},
    {"chlo.is_neg_inf", 1, is_neg_inf, NULL},
    {"stablehlo.map", 0, NULL, lz_expand_map},
    {"stablehlo.batch_norm_inference", 5, NULL, lz_expand_norm_inference},
    {"stablehlo.batch_norm_training", 3, NULL, lz_expand_norm_training},
    {"stablehlo.batch_norm_grad", 5, NULL, lz_expand_norm_grad},
    {"stablehlo.rng", 3, NULL, lz_expand_rng},
    {"stablehlo.dot", 2, dot, NULL},
    {"stablehlo.einsum", 2, NULL, lz_expand_einsum},
    {"stablehlo.unary_einsum", 1, NULL, lz_expand_unary_einsum},
    {"stablehlo.get_dimension_size", 1, NULL, lz_dimension_size},
    {"stablehlo.torch_index_select", 2, NULL, lz_torch_index_select},
    {"stablehlo.dynamic_iota", 1, NULL, lz_dynamic_shaped},
    {"stablehlo.dynamic_broadcast_in_dim", 2, NULL, lz_dynamic_shaped},
    {"stablehlo.dynamic_reshape", 2, NULL, lz_dynamic_shaped},
    {"stablehlo.dynamic_pad", 5, NULL, lz_dynamic_pad},
    {"stablehlo.dynamic_gather", 3, NULL, lz_dynamic_gather},
    {"stablehlo.dynamic_conv", 3, NULL, lz_dynamic_conv},
    {"stablehlo.real_dynamic_slice", 4, NULL, lz_real_dynamic_slice},
    {"stablehlo.broadcast", 1, broadcast, NULL},
};

const lz_expansion *lz_expansion_find(lz_slice name)
{
    static const lz_expansion broadcasting = {"chlo.broadcast_", 0, NULL, lz_chlo_broadcast};
    if (lz_chlo_is_broadcast(name))
        return &broadcasting;
    for (size_t i = 0; i < sizeof expansions / sizeof *expansions; i++)
        if (lz_slice_is(name, expansions[i].name))
            return &expansions[i];
    return NULL;
}

lz_status lz_expansion_apply(lz_parser *p, lz_scope *s, lz_stmt *t, const lz_expansion *e)
{
    if (e->nopnd && t->opnd.len != e->nopnd)
        return lz_lex_fail(&p->c, t->at, LZ_EPARSE, "%s: takes %u operands, not %u", e->name,
                           e->nopnd, t->opnd.len);
    return e->statement ? e->statement(p, s, t) : lz_parse_push(p, t, e->fn(s->f, t));
}
