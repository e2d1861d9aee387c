/* elementwise.c - the elementwise functions of include/lazuli/ops.h: one per row of
 * ops/user_ops.def, by the row's kind. */
#include "ops/elementwise.h"
#include "ops/compose.h"
#include <lazuli/ops.h>

typedef enum kind { KEEP, WHOLE, FLOAT, EXPONENT, BOOL, BITS, SHIFT } kind;
typedef enum part { REAL, COMPLEX } part;

static bool is_bits(lz_dtype d)
{
    return d == LZ_BOOL || lz_dtype_is_int(d);
}

/* Requirements of the row's kind on an operand, after promotion. */
static lz_node *prepare(lz_tracer *c, kind k, lz_node *x)
{
    if (!x)
        return NULL;
    lz_dtype d = lz_node_type(x)->dtype;
    switch (k) {
    case KEEP:
    case WHOLE:
        break;
    case FLOAT:
    case EXPONENT:
        return lz_tracer_float(c, x);
    case BOOL:
        return lz_tracer_convert(c, x, LZ_BOOL);
    case BITS:
        if (is_bits(d))
            break;
        LZ_FAIL(LZ_EDTYPE, "%s operands: booleans and integers have bits to work on",
                lz_dtype_name(d));
        return NULL;
    case SHIFT:
        if (lz_dtype_is_int(d))
            break;
        LZ_FAIL(LZ_EDTYPE, "%s operands: only integers are shifted", lz_dtype_name(d));
        return NULL;
    }
    return x;
}

static lz_node *unary(lz_tracer *c, lz_op op, kind k, lz_node *x)
{
    if (x && k == WHOLE && lz_dtype_is_int(lz_node_type(x)->dtype))
        return x;
    return lz_tracer_ew1(c, op, prepare(c, k, x));
}

/* Both operands in one dtype and shape, as the kind requires. */
static bool prepare_both(lz_tracer *c, kind k, lz_node **a, lz_node **b)
{
    if (k == BOOL) {
        *a = prepare(c, k, *a);
        *b = prepare(c, k, *b);
    }
    if (!lz_tracer_match(c, a, b))
        return false;
    if (k != KEEP && k != BOOL) {
        *a = prepare(c, k, *a);
        *b = prepare(c, k, *b);
    }
    return *a && *b;
}

static lz_node *binary(lz_tracer *c, lz_op op, kind k, part p, lz_node *a, lz_node *b)
{
    if (!prepare_both(c, k, &a, &b) || (p == REAL && !lz_tracer_is_real(a)))
        return NULL;
    if (op == LZ_OP_SHIFT_RIGHT_ARITHMETIC && lz_dtype_is_unsigned(lz_node_type(a)->dtype))
        op = LZ_OP_SHIFT_RIGHT_LOGICAL;
    return lz_tracer_ew2(c, op, a, b);
}

static lz_node *compare(lz_tracer *c, lz_comparison_direction dir, lz_node *a, lz_node *b)
{
    bool ordered = dir != LZ_CMP_EQ && dir != LZ_CMP_NE;
    if (!lz_tracer_match(c, &a, &b) || (ordered && !lz_tracer_is_real(a)))
        return NULL;
    return lz_tracer_compare(c, dir, a, b);
}

/* The result of a composite in the dtype of its operands, unless its kind gives another. */
static lz_node *narrow(lz_tracer *c, lz_node *r, lz_dtype d)
{
    return r && lz_dtype_is_float(lz_node_type(r)->dtype) ? lz_tracer_convert(c, r, d) : r;
}

static lz_node *unary_of(lz_tracer *c, kind k, part p, lz_node *(*f)(lz_tracer *, lz_node *),
                         lz_node *x)
{
    if (!x || (p == REAL && !lz_tracer_is_real(x)))
        return NULL;
    if (k == WHOLE && lz_dtype_is_int(lz_node_type(x)->dtype))
        return x;
    if (!(x = prepare(c, k, x)))
        return NULL;
    lz_dtype d = lz_node_type(x)->dtype;
    return k == FLOAT ? narrow(c, f(c, lz_tracer_wide(c, x)), d) : f(c, x);
}

static lz_node *binary_of(lz_tracer *c, kind k, part p,
                          lz_node *(*f)(lz_tracer *, lz_node *, lz_node *), lz_node *a, lz_node *b)
{
    if (!a || !b || (p == REAL && !(lz_tracer_is_real(a) && lz_tracer_is_real(b))))
        return NULL;
    lz_dtype d = k == EXPONENT ? lz_tracer_result_dtype(a, b) : LZ_DTYPE_NONE;
    bool rounds = d == LZ_F16 || d == LZ_BF16;
    if (rounds) {
        a = lz_tracer_convert(c, a, LZ_F32);
        b = lz_tracer_convert(c, b, LZ_F32);
    }
    if (!prepare_both(c, k, &a, &b))
        return NULL;
    d = rounds ? d : lz_node_type(a)->dtype;
    return narrow(c, f(c, lz_tracer_wide(c, a), lz_tracer_wide(c, b)), d);
}

/* What each row records; lz_ew_<name> are in activation.c, elementwise_math.c and pointwise.c. */
#define LZ_UNARY(name, OP, kind, doc)                                                              \
    static lz_node *node_##name(lz_tracer *c, lz_node *x)                                          \
    {                                                                                              \
        return unary(c, LZ_OP_##OP, kind, x);                                                      \
    }
#define LZ_BINARY(name, OP, kind, part, doc)                                                       \
    static lz_node *node_##name(lz_tracer *c, lz_node *a, lz_node *b)                              \
    {                                                                                              \
        return binary(c, LZ_OP_##OP, kind, part, a, b);                                            \
    }                                                                                              \
    enum { float_##name = kind == FLOAT };
#define LZ_COMPARE(name, DIR, doc)                                                                 \
    static lz_node *node_##name(lz_tracer *c, lz_node *a, lz_node *b)                              \
    {                                                                                              \
        return compare(c, LZ_CMP_##DIR, a, b);                                                     \
    }                                                                                              \
    enum { direction_##name = LZ_CMP_##DIR };
#define LZ_UNARY_OF(name, kind, part, takes, doc)                                                  \
    static lz_node *node_##name(lz_tracer *c, lz_node *x)                                          \
    {                                                                                              \
        return unary_of(c, kind, part, lz_ew_##name, x);                                           \
    }
#define LZ_BINARY_OF(name, kind, part, takes, doc)                                                 \
    static lz_node *node_##name(lz_tracer *c, lz_node *a, lz_node *b)                              \
    {                                                                                              \
        return binary_of(c, kind, part, lz_ew_##name, a, b);                                       \
    }                                                                                              \
    enum { float_##name = kind == FLOAT };
#include "ops/user_ops.def"

/* The public functions. */
#define PUBLIC_UNARY(name)                                                                         \
    lz_tensor *lz_##name##_at(lz_tensor *x, const lz_site *site)                                   \
    {                                                                                              \
        LZ_PUBLIC_AT(LZ_FORK_TENSOR);                                                              \
        lz_tracer c;                                                                               \
        lz_tracer_begin(&c, "lz_" #name, site);                                                    \
        return lz_tracer_end(&c, node_##name(&c, lz_tracer_in(&c, x)));                            \
    }
#define PUBLIC_BINARY(name)                                                                        \
    lz_tensor *lz_##name##_at(lz_tensor *a, lz_tensor *b, const lz_site *site)                     \
    {                                                                                              \
        LZ_PUBLIC_AT(LZ_FORK_TENSOR);                                                              \
        lz_tracer c;                                                                               \
        lz_tracer_begin(&c, "lz_" #name, site);                                                    \
        lz_node *x = lz_tracer_in(&c, a), *y = x ? lz_tracer_in(&c, b) : NULL;                     \
        return lz_tracer_end(&c, y ? node_##name(&c, x, y) : NULL);                                \
    }
#define LZ_UNARY(name, OP, kind, doc) PUBLIC_UNARY(name)
#define LZ_UNARY_OF(name, kind, part, takes, doc) PUBLIC_UNARY(name)
#define LZ_BINARY(name, OP, kind, part, doc) PUBLIC_BINARY(name)
#define LZ_BINARY_OF(name, kind, part, takes, doc) PUBLIC_BINARY(name)
#define LZ_COMPARE(name, DIR, doc) PUBLIC_BINARY(name)
#define NODE_SCALAR(name, s, range)                                                                \
    lz_dtype d;                                                                                    \
    lz_node *b = lz_tracer_wide_scalar_for(&c, &a, s, float_##name, range, &d);                    \
    lz_node *r = b ? narrow(&c, node_##name(&c, a, b), d) : NULL
#define NODE_SCALAR_WRAPS(name, s) NODE_SCALAR(name, s, LZ_NUMBER_WRAPS)
#define NODE_SCALAR_FITS(name, s) NODE_SCALAR(name, s, LZ_NUMBER_FITS)
#define NODE_SCALAR_SHIFTS(name, s) NODE_SCALAR(name, s, LZ_NUMBER_SHIFTS)
#define NODE_SCALAR_EXACT(name, s)                                                                 \
    lz_node *r = lz_tracer_compare_number(&c, (lz_comparison_direction)direction_##name, a, s)
#define LZ_WITH_SCALAR(name, range)                                                                \
    lz_tensor *lz_##name##_scalar_at(lz_tensor *x, double s, const lz_site *site)                  \
    {                                                                                              \
        LZ_PUBLIC_AT(LZ_FORK_TENSOR);                                                              \
        lz_tracer c;                                                                               \
        lz_tracer_begin(&c, "lz_" #name "_scalar", site);                                          \
        lz_node *a = lz_tracer_in(&c, x);                                                          \
        NODE_SCALAR_##range(name, s);                                                              \
        return lz_tracer_end(&c, r);                                                               \
    }
#include "ops/user_ops.def"
