/* gen_rows.c - the systematic cases of every row: dtypes x shapes x attributes x special values. */
#include "support/gen_internal.h"
#include <string.h>

/* Shapes of operand 0: scalar, empty, one, odd, more dimensions, beyond a vector, large. */
static const lz_shape shapes[] = {
    {0, {0}},       {1, {0}},      {1, {1}},       {1, {7}},          {2, {3, 5}},
    {3, {2, 0, 3}}, {2, {1, 1}},   {3, {4, 1, 6}}, {4, {2, 3, 4, 5}}, {1, {33}},
    {2, {17, 19}},  {2, {40, 50}}, {3, {0, 4, 4}},
};
enum { NSHAPE = (int)(sizeof shapes / sizeof *shapes), SPECIAL_MAX = 64 };

/* The dtypes an op takes, in order; how many. A predicate stands beside values of any. */
static int dtypes_of(lz_op op, lz_dtype out[LZ_DTYPE_COUNT])
{
    int n = 0;
    bool any = lz_op_get(op)->dtypes == LZ_D_PRED;
    for (int d = 1; d < LZ_DTYPE_COUNT; d++)
        if (any || lz_op_accepts(op, (lz_dtype)d))
            out[n++] = (lz_dtype)d;
    return n;
}

/* ---- elementwise: a variant is one attribute record; it comes with specials and some shapes
 * ---- */

typedef struct variant {
    union {
        lz_attr_dtype dtype;
        lz_attr_precision precision;
        lz_attr_compare compare;
        lz_attr_kind kind;
    } attr;
    bool scalar0, scalar2; /* clamp's bounds, select's predicate */
} variant;

static bool precision_variant(int i, variant *v)
{
    static const int8_t formats[][2] = {{8, 7}, {5, 10}, {8, 23}, {11, 52}, {4, 3},
                                        {5, 2}, {1, 0},  {2, 1},  {8, 0}};
    if (i >= (int)(sizeof formats / sizeof *formats))
        return false;
    v->attr.precision = (lz_attr_precision){LZ_ATTR_precision, formats[i][0], formats[i][1]};
    return true;
}

static bool compare_variant(lz_dtype d, int i, variant *v)
{
    bool flt = lz_dtype_is_float(d);
    if (i >= (flt ? 12 : lz_dtype_is_complex(d) ? 2 : 6))
        return false;
    int32_t type = flt                     ? (i >= 6 ? LZ_CT_TOTALORDER : LZ_CT_FLOAT)
                   : lz_dtype_is_signed(d) ? LZ_CT_SIGNED
                   : lz_dtype_is_unsigned(d) || d == LZ_BOOL ? LZ_CT_UNSIGNED
                                                             : LZ_CT_FLOAT;
    v->attr.compare = (lz_attr_compare){LZ_ATTR_compare, i % 6, type};
    return true;
}

/* Variant i of the row for operands of dtype d; false: there are no more. */
static bool variant_of(lz_op op, lz_dtype d, int i, variant *v)
{
    memset(v, 0, sizeof *v);
    switch (lz_op_get(op)->attr) {
    case LZ_ATTR_dtype:
        v->attr.dtype = (lz_attr_dtype){LZ_ATTR_dtype, (lz_dtype)(i + 1)};
        return i + 1 < LZ_DTYPE_COUNT;
    case LZ_ATTR_precision:
        return precision_variant(i, v);
    case LZ_ATTR_compare:
        return compare_variant(d, i, v);
    default:
        v->attr.kind = LZ_ATTR_none;
        v->scalar0 = i & 1;
        v->scalar2 = i & 2;
        return i < (op == LZ_OP_CLAMP ? 4 : op == LZ_OP_SELECT ? 2 : 1);
    }
}

/* Operand k of element i in the case that has every combination of n specials. */
static int combination(int i, int k, int arity, int n)
{
    for (int j = arity - 1; j > k; j--)
        i /= n;
    return i % n;
}

static bool scalar_operand(const variant *v, int arity, int k)
{
    return arity == 3 && ((k == 0 && v->scalar0) || (k == 2 && v->scalar2));
}

static lz_dtype operand_dtype(lz_op op, lz_dtype d, int k)
{
    return op == LZ_OP_SELECT && k == 0 ? LZ_BOOL : d;
}

static lz_status special_args(lz_op op, const variant *v, lz_dtype d, const lz_func *f,
                              lz_literal **args)
{
    int arity = lz_op_get(op)->arity;
    uint64_t bits[SPECIAL_MAX];
    int n = lz_test_specials(d, bits), limit = arity == 3 ? 16 : SPECIAL_MAX;
    n = n < limit ? n : limit;
    for (int k = 0; k < arity; k++) {
        uint64_t own[SPECIAL_MAX];
        lz_dtype od = operand_dtype(op, d, k);
        int nown = od == d ? n : lz_test_specials(od, own);
        args[k] = lz_literal_new(lz_val_type(f, (lz_val)k));
        if (!args[k])
            return LZ_EMEM;
        for (int64_t i = 0; i < args[k]->type->nelem; i++) {
            int c = combination(scalar_operand(v, arity, k) ? 5 : (int)i,
                                scalar_operand(v, arity, k) ? arity - 1 : k, arity, n);
            lz_test_set_bits(args[k], i, od == d ? bits[c] : own[c % nown]);
        }
    }
    return LZ_OK;
}

static int64_t special_count(lz_op op, lz_dtype d)
{
    uint64_t bits[SPECIAL_MAX];
    int arity = lz_op_get(op)->arity, n = lz_test_specials(d, bits);
    if (arity == 3)
        n = n < 16 ? n : 16;
    return arity == 1 ? n : arity == 2 ? (int64_t)n * n : (int64_t)n * n * n;
}

/* `which` 0: all specials; else shape which - 1 with random values. */
static int ew_case(lz_op op, const variant *v, lz_dtype d, int which, int index, lz_func **f,
                   lz_literal ***args)
{
    int arity = lz_op_get(op)->arity;
    lz_shape s = which == 0 ? LZ_SHAPE(special_count(op, d)) : shapes[which - 1];
    lz_func *g = lz_func_new("row");
    if (!g)
        return -1;
    lz_val opnd[3];
    for (int k = 0; k < arity; k++) {
        const lz_type *t =
            lz_type_get(operand_dtype(op, d, k), scalar_operand(v, arity, k) ? &gen_scalar : &s);
        opnd[k] = t ? lz_build_param(g, t) : LZ_NOVAL;
    }
    lz_val r = lz_build(g, op, (const lz_attr *)&v->attr, opnd, (uint32_t)arity);
    lz_status st = r == LZ_NOVAL ? LZ_EINTERNAL : lz_func_set_results(g, &r, 1);
    if (st == LZ_OK && which > 0) {
        st = lz_gen_args(g, (uint64_t)index, index % 2 ? LZ_FILL_WILD : LZ_FILL_MODEST, args);
    } else if (st == LZ_OK) {
        *args = lz_calloc((size_t)arity, sizeof **args);
        st = *args ? special_args(op, v, d, g, *args) : LZ_EMEM;
        if (st != LZ_OK)
            lz_gen_args_free(g, *args);
    }
    if (st != LZ_OK) {
        lz_func_free(g);
        return -1;
    }
    *f = g;
    return 1;
}

static int ew_cases(lz_op op, int index, lz_func **f, lz_literal ***args)
{
    lz_dtype d[LZ_DTYPE_COUNT];
    int nd = dtypes_of(op, d), at = index;
    for (int k = 0; k < nd; k++) {
        variant v;
        for (int i = 0; variant_of(op, d[k], i, &v); i++) {
            /* every shape for the first variant, two for the others */
            int n = i == 0 ? 1 + NSHAPE : 3;
            if (at < n)
                return ew_case(op, &v, d[k], i == 0 || at == 0 ? at : 1 + (i * 2 + at) % NSHAPE,
                               index, f, args);
            at -= n;
        }
    }
    return 0;
}

/* ---- other rows: random attributes over dtypes and shapes ---- */

enum { ROUNDS = 3 };

static int other_cases(lz_op op, int index, lz_func **f, lz_literal ***args)
{
    lz_dtype d[LZ_DTYPE_COUNT];
    int nd = dtypes_of(op, d);
    if (op == LZ_OP_PARAMETER || op == LZ_OP_RESULT || index >= ROUNDS * nd * NSHAPE)
        return 0;
    gen g;
    lz_gen_options o = {.dtypes = ~UINT32_C(0), .max_elems = 4096};
    lz_val v = LZ_NOVAL;
    for (int tries = 0; v == LZ_NOVAL && tries < 60; tries++) {
        if (gen_begin(&g, (uint64_t)index * 1009 + (uint64_t)tries, &o) != LZ_OK)
            return -1;
        g.pure = true;
        g.dtype = d[index % nd];
        /* an operation that cannot have this shape (a scalar, say) gets a random one in the end */
        g.shape = tries < 30 ? &shapes[index / nd % NSHAPE] : NULL;
        v = gen_op(&g, op);
        if (v == LZ_NOVAL)
            lz_func_free(g.f);
    }
    if (v == LZ_NOVAL)
        return -1;
    lz_val out[8];
    uint32_t n = 0;
    for (uint32_t i = 0; i < g.f->ninst && n < 8; i++)
        if ((i >= g.f->nparam || g.f->ninst == g.f->nparam) && g.f->insts[i].sig->nresult == 1)
            out[n++] = i;
    lz_status s = lz_func_set_results(g.f, out, n);
    static const lz_fill fills[ROUNDS] = {LZ_FILL_MODEST, LZ_FILL_WILD, LZ_FILL_SPECIAL};
    int round = index / nd / NSHAPE;
    if (s == LZ_OK)
        s = lz_gen_args(g.f, (uint64_t)index, lz_gen_fill(g.f, fills[round], round == 2), args);
    if (s != LZ_OK) {
        lz_func_free(g.f);
        return -1;
    }
    *f = g.f;
    return 1;
}

int lz_gen_row_cases(lz_op op, int index, lz_func **f, lz_literal ***args)
{
    *f = NULL;
    *args = NULL;
    if (lz_op_get(op)->cls == LZ_CLASS_COLLECTIVE)
        return 0;
    return lz_op_get(op)->cls == LZ_CLASS_EW ? ew_cases(op, index, f, args)
                                             : other_cases(op, index, f, args);
}
