/* scalar_operand.c - numbers as operands of elementwise operations: ATen's dtypes, and what becomes
 * of a number that an integer dtype cannot hold. See trace_builder.h. */
#include "runtime/graph/trace_builder.h"
#include <math.h>

/* The integers of d are those in [lowest, above). */
static double above(lz_dtype d)
{
    int bits = lz_dtype_bits(d);
    return ldexp(1, lz_dtype_is_signed(d) ? bits - 1 : bits);
}

static double lowest(lz_dtype d)
{
    return lz_dtype_is_signed(d) ? -above(d) : 0;
}

bool lz_dtype_holds(lz_dtype d, double v)
{
    return !lz_dtype_is_int(d) || (trunc(v) >= lowest(d) && trunc(v) < above(d));
}

bool lz_dtype_holds_integer(lz_dtype d, int64_t v)
{
    int bits = lz_dtype_bits(d);
    if (!lz_dtype_is_int(d))
        return true;
    if (!lz_dtype_is_signed(d))
        return v >= 0 && (bits == 64 || v >> bits == 0);
    return bits == 64 || v >> (bits - 1) == 0 || v >> (bits - 1) == -1;
}

bool lz_tracer_number_fits(lz_dtype d, double v)
{
    if (lz_dtype_holds(d, v))
        return true;
    LZ_FAIL(LZ_ERANGE, "%.17g does not fit into %s", v, lz_dtype_name(d));
    return false;
}

/* A count of bits that d holds, outside of its width where v is. */
static double bits_to_shift(lz_dtype d, double v)
{
    double width = (double)lz_dtype_size(d) * 8;
    return v < 0 || v > width ? width : v;
}

static lz_node *number(lz_tracer *c, lz_dtype d, double v, const lz_node *like, int range)
{
    int r = range & ~LZ_NUMBER_GIVEN;
    if (range != r && !lz_dtype_is_int(d))
        return lz_tracer_argument(c, d, v, like);
    if (r == LZ_NUMBER_SHIFTS && lz_dtype_is_int(d))
        v = bits_to_shift(d, v);
    return r == LZ_NUMBER_WRAPS ? lz_tracer_scalar_wrapped(c, d, v, like)
                                : lz_tracer_scalar(c, d, v, like);
}

lz_node *lz_tracer_scalar_for(lz_tracer *c, lz_node **x, double v, bool want_float, int range)
{
    if (!*x)
        return NULL;
    lz_dtype d = lz_node_type(*x)->dtype;
    bool integral = isfinite(v) && v == trunc(v);
    if (d == LZ_BOOL || lz_dtype_is_int(d)) {
        if (want_float || !integral)
            d = LZ_F32;
        else if (d == LZ_BOOL)
            d = LZ_I64;
        *x = lz_tracer_convert(c, *x, d);
    }
    return *x ? lz_tracer_fill(c, number(c, d, v, *x, range), &lz_node_type(*x)->shape) : NULL;
}

lz_node *lz_tracer_wide_scalar_for(lz_tracer *c, lz_node **x, double v, bool want_float, int range,
                                   lz_dtype *d)
{
    *d = *x ? lz_node_type(*x)->dtype : LZ_DTYPE_NONE;
    if (*d == LZ_F16 || *d == LZ_BF16)
        *x = lz_tracer_convert(c, *x, LZ_F32);
    lz_node *s = lz_tracer_scalar_for(c, x, v, want_float, range);
    if (s && !lz_dtype_is_float(*d))
        *d = lz_node_type(s)->dtype;
    return s;
}

/* Whether every integer of a dtype compares so with v, which lies above (or below) all of them. */
static bool outside(lz_comparison_direction dir, bool v_is_above)
{
    bool less = dir == LZ_CMP_LT || dir == LZ_CMP_LE;
    return dir == LZ_CMP_NE || (dir != LZ_CMP_EQ && less == v_is_above);
}

/* Integers: x < v is x < ceil(v), x <= v is x <= floor(v), and so on. */
lz_node *lz_tracer_compare_number(lz_tracer *c, lz_comparison_direction dir, lz_node *x, double v)
{
    if (!x)
        return NULL;
    if (lz_node_type(x)->dtype == LZ_BOOL)
        x = lz_tracer_convert(c, x, LZ_I64);
    if (x && lz_dtype_is_complex(lz_node_type(x)->dtype) && dir != LZ_CMP_EQ && dir != LZ_CMP_NE) {
        LZ_FAIL(LZ_EDTYPE, "the operand is %s: complex numbers have no order",
                lz_dtype_name(lz_node_type(x)->dtype));
        return NULL;
    }
    if (!x || !lz_dtype_is_int(lz_node_type(x)->dtype)) {
        lz_node *y = lz_tracer_scalar_for(c, &x, v, false, LZ_NUMBER_FITS);
        return lz_tracer_compare(c, dir, x, y);
    }
    lz_dtype d = lz_node_type(x)->dtype;
    double whole = dir == LZ_CMP_LT || dir == LZ_CMP_GE ? ceil(v) : floor(v);
    bool never = isnan(v) || ((dir == LZ_CMP_EQ || dir == LZ_CMP_NE) && v != whole);
    bool low = whole < lowest(d), high = whole >= above(d);
    if (never || low || high) {
        bool yes = never ? dir == LZ_CMP_NE : outside(dir, high);
        return lz_tracer_fill(c, lz_tracer_const(c, LZ_BOOL, yes, x), &lz_node_type(x)->shape);
    }
    lz_node *y = lz_tracer_fill(c, lz_tracer_scalar(c, d, whole, x), &lz_node_type(x)->shape);
    return lz_tracer_compare(c, dir, x, y);
}
