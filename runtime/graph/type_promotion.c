/* type_promotion.c - ATen's type promotion and broadcasting of binary operations. Source:
 * c10/core/ScalarType.cpp (promotion table) and ATen/native/TypeProperties.cpp (rank-0 operands).
 * See trace_builder.h. */
#include "runtime/graph/trace_builder.h"
#include <math.h>
#include <stdio.h>

static int int_width(lz_dtype d)
{
    return lz_dtype_bits(d);
}

static lz_dtype signed_of_width(int bits)
{
    return bits <= 8    ? LZ_I8
           : bits <= 16 ? LZ_I16
           : bits <= 32 ? LZ_I32
           : bits <= 64 ? LZ_I64
                        : LZ_DTYPE_NONE;
}

lz_dtype lz_promote(lz_dtype a, lz_dtype b)
{
    if (a == b)
        return a;
    if (lz_dtype_is_storage(a) || lz_dtype_is_storage(b))
        return LZ_DTYPE_NONE;
    if (a == LZ_BOOL || b == LZ_BOOL)
        return a == LZ_BOOL ? b : a;
    if (lz_dtype_is_complex(a) || lz_dtype_is_complex(b))
        return lz_dtype_part(a) == LZ_F64 || lz_dtype_part(b) == LZ_F64 ? LZ_C128 : LZ_C64;
    bool fa = lz_dtype_is_float(a), fb = lz_dtype_is_float(b);
    if (fa != fb)
        return fa ? a : b;
    if (fa) {
        if (a == LZ_F64 || b == LZ_F64)
            return LZ_F64;
        return LZ_F32; /* also f16 with bf16: neither can represent the other */
    }
    bool sa = lz_dtype_is_signed(a), sb = lz_dtype_is_signed(b);
    int wa = int_width(a), wb = int_width(b);
    if (sa == sb)
        return wa > wb ? a : b;
    int ws = sa ? wa : wb, wu = sa ? wb : wa; /* the smallest signed type that can represent both */
    return signed_of_width(ws > wu ? ws : 2 * wu);
}

/* bool < integers < floats < complex. Storage-only floats promote with nothing. */
static int category(lz_dtype d)
{
    return d == LZ_BOOL ? 0 : lz_dtype_is_int(d) ? 1 : lz_dtype_is_float(d) ? 2 : 3;
}

lz_dtype lz_tracer_result_dtype(const lz_node *a, const lz_node *b)
{
    const lz_type *ta = lz_node_type(a), *tb = lz_node_type(b);
    lz_dtype d;
    if (ta->dtype == tb->dtype)
        return ta->dtype;
    bool stored = lz_dtype_is_storage(ta->dtype) || lz_dtype_is_storage(tb->dtype);
    if (!stored && (ta->shape.rank == 0) != (tb->shape.rank == 0)) {
        const lz_type *dim = ta->shape.rank ? ta : tb, *zero = ta->shape.rank ? tb : ta;
        d = category(dim->dtype) >= category(zero->dtype) ? dim->dtype
                                                          : lz_promote(dim->dtype, zero->dtype);
    } else {
        d = lz_promote(ta->dtype, tb->dtype);
    }
    if (d == LZ_DTYPE_NONE)
        LZ_FAIL(LZ_EDTYPE, "%s and %s have no common dtype: convert one with lz_to",
                lz_dtype_name(ta->dtype), lz_dtype_name(tb->dtype));
    return d;
}

static void shape_text(const lz_shape *s, char *buf, size_t n)
{
    size_t at = (size_t)snprintf(buf, n, "[");
    for (int i = 0; i < s->rank && at < n; i++)
        at += (size_t)snprintf(buf + at, n - at, "%s%lld", i ? "," : "", (long long)s->dims[i]);
    if (at < n)
        snprintf(buf + at, n - at, "]");
}

bool lz_tracer_broadcast_shapes(const lz_shape *a, const lz_shape *b, lz_shape *out)
{
    int rank = a->rank > b->rank ? a->rank : b->rank;
    lz_shape r = {.rank = rank};
    for (int i = 0; i < rank; i++) {
        int ia = a->rank - 1 - i, ib = b->rank - 1 - i;
        int64_t da = ia >= 0 ? a->dims[ia] : 1, db = ib >= 0 ? b->dims[ib] : 1;
        if (da != db && da != 1 && db != 1) {
            char ta[160], tb[160];
            shape_text(a, ta, sizeof ta);
            shape_text(b, tb, sizeof tb);
            LZ_FAIL(LZ_ESHAPE, "shapes %s and %s do not broadcast: dimension %d is %lld and %lld",
                    ta, tb, rank - 1 - i, (long long)da, (long long)db);
            return false;
        }
        r.dims[rank - 1 - i] = da == 1 ? db : da;
    }
    *out = r;
    return true;
}

lz_node *lz_tracer_expand(lz_tracer *c, lz_node *x, const lz_shape *s)
{
    if (!x)
        return NULL;
    const lz_shape *from = &lz_node_type(x)->shape;
    if (lz_shape_eq(from, s))
        return x;
    lz_ints dims = {.n = from->rank};
    bool fits = from->rank <= s->rank;
    for (int i = 0; fits && i < from->rank; i++) {
        dims.v[i] = s->rank - from->rank + i;
        fits = from->dims[i] == s->dims[dims.v[i]] || from->dims[i] == 1;
    }
    if (!fits) {
        char ta[160], tb[160];
        shape_text(from, ta, sizeof ta);
        shape_text(s, tb, sizeof tb);
        LZ_FAIL(LZ_ESHAPE, "shape %s does not broadcast to %s", ta, tb);
        return NULL;
    }
    return lz_tracer_broadcast_in_dim(c, x, &dims, s);
}

/* A host scalar of another device is copied to the other operand's device. */
static inline lz_node *bring(lz_tracer *c, lz_node *x, const lz_node *to)
{
    if (x->dev == to->dev || !lz_node_is_host(x))
        return x;
    return lz_tracer_own(
        c, lz_node_new_host((lz_node_kind)x->kind, lz_node_type(x), x->imm, to->dev, x->site));
}

bool lz_tracer_match(lz_tracer *c, lz_node **a, lz_node **b)
{
    if (!*a || !*b || !(*a = bring(c, *a, *b)) || !(*b = bring(c, *b, *a)))
        return false;
    const lz_type *ta = lz_node_type(*a), *tb = lz_node_type(*b);
    if (ta == tb)
        return true;
    lz_dtype d = lz_tracer_result_dtype(*a, *b);
    lz_shape s;
    if (d == LZ_DTYPE_NONE || !lz_tracer_broadcast_shapes(&ta->shape, &tb->shape, &s))
        return false;
    *a = lz_tracer_expand(c, lz_tracer_convert(c, *a, d), &s);
    *b = lz_tracer_expand(c, lz_tracer_convert(c, *b, d), &s);
    return *a && *b;
}

lz_node *lz_tracer_binary(lz_tracer *c, lz_op op, lz_node *a, lz_node *b)
{
    return lz_tracer_match(c, &a, &b) ? lz_tracer_ew2(c, op, a, b) : NULL;
}

lz_node *lz_tracer_float(lz_tracer *c, lz_node *x)
{
    if (!x)
        return NULL;
    lz_dtype d = lz_node_type(x)->dtype;
    return d == LZ_BOOL || lz_dtype_is_int(d) ? lz_tracer_convert(c, x, LZ_F32) : x;
}

bool lz_tracer_dim(int64_t dim, int32_t rank, int64_t *out)
{
    int64_t n = rank ? rank : 1;
    if (dim < -n || dim >= n) {
        LZ_FAIL(LZ_ERANGE, "dimension %lld of a tensor of rank %d: it must be in [%lld, %lld]",
                (long long)dim, rank, (long long)-n, (long long)n - 1);
        return false;
    }
    *out = dim < 0 ? dim + n : dim;
    return true;
}
