/* elementwise_math.c - composite elementwise functions (rows LZ_UNARY_OF and LZ_BINARY_OF of
 * ops/user_ops.def). Operands come prepared: in one dtype and shape, floats for the kind FLOAT.
 * Where a branch of a formula is not selected and would not be finite, its operand is replaced
 * first, so that no NaN reaches the gradient. */
#include "ops/compose.h"
#include "ops/elementwise.h"
#include <math.h>

lz_node *lz_ew_deg2rad(lz_tracer *c, lz_node *x)
{
    return MUL(x, K(x, M_PI / 180));
}

lz_node *lz_ew_rad2deg(lz_tracer *c, lz_node *x)
{
    return MUL(x, K(x, 180 / M_PI));
}

/* The real factor v times each part: the product by v + 0i makes NaN of an infinite part. */
static lz_node *scaled(lz_tracer *c, lz_node *x, double v)
{
    if (!x || !lz_dtype_is_complex(lz_tracer_dtype(x)))
        return MUL(x, K(x, v));
    lz_node *re = RE(x), *im = IM(x);
    return lz_tracer_ew2(c, LZ_OP_COMPLEX, MUL(re, K(re, v)), MUL(im, K(im, v)));
}

lz_node *lz_ew_exp2(lz_tracer *c, lz_node *x)
{
    lz_dtype d = lz_tracer_dtype(x);
    if (lz_dtype_is_complex(d)) /* of c64 in f64, where the product's rounding does not count */
        return TO(EXP(scaled(c, TO(x, LZ_C128), M_LN2)), d);
    return POW(K(x, 2), x);
}

lz_node *lz_ew_trunc(lz_tracer *c, lz_node *x)
{
    return SEL(LT(x, K(x, 0)), CEIL(x), FLOOR(x));
}

lz_node *lz_ew_frac(lz_tracer *c, lz_node *x)
{
    return SUB(x, lz_ew_trunc(c, x));
}

lz_node *lz_ew_isinf(lz_tracer *c, lz_node *x)
{
    lz_node *a = ABS(x);
    return EQ(a, K(a, INFINITY));
}

lz_node *lz_ew_isposinf(lz_tracer *c, lz_node *x)
{
    return EQ(x, K(x, INFINITY));
}

lz_node *lz_ew_isneginf(lz_tracer *c, lz_node *x)
{
    return EQ(x, K(x, -INFINITY));
}

lz_node *lz_ew_isnan(lz_tracer *c, lz_node *x)
{
    return IS_NAN(x);
}

/* f32 and f64: what composites of 16-bit floats are computed in, too. */
typedef struct layout {
    lz_dtype bits;
    int mantissa, bias; /* stored bits; 2^bias is the largest power of two */
} layout;

static layout layout_of(const lz_node *x)
{
    return lz_tracer_dtype(x) == LZ_F64 ? (layout){LZ_I64, 52, 1023} : (layout){LZ_I32, 23, 127};
}

/* 2^n in x's dtype, for integers n from 1 - bias to bias: by its bits. No gradient. */
static lz_node *power_of_two(lz_tracer *c, lz_node *n)
{
    layout l = layout_of(n);
    lz_node *i = TO(n, l.bits), *bits = ADD(i, K(i, l.bias));
    bits = lz_tracer_ew2(c, LZ_OP_SHIFT_LEFT, bits, K(bits, l.mantissa));
    return lz_tracer_bitcast(c, bits, lz_tracer_dtype(n));
}

/* 2^n, for integers n of which it is a number, denormal or not; for others some number. */
static lz_node *exact_power_of_two(lz_tracer *c, lz_node *n)
{
    layout l = layout_of(n);
    lz_node *lowest = K(n, 1 - l.bias), *most = K(n, l.bias);
    n = CLAMP(K(n, 1 - l.bias - l.mantissa), SEL(IS_NAN(n), K(n, 0), n), most);
    lz_node *normal = MAX(n, lowest);
    return MUL(power_of_two(c, normal), power_of_two(c, SUB(n, normal)));
}

/* 10^|n| of an integer n by squaring: exact for |n| up to 22 (f32: 10), near the powers beyond,
 * infinite where they are. */
static lz_node *power_of_ten(lz_tracer *c, lz_node *n)
{
    bool wide = lz_tracer_dtype(n) == LZ_F64;
    lz_node *i = TO(MIN(SEL(IS_NAN(n), K(n, 0), ABS(n)), K(n, wide ? 400 : 60)), LZ_I32);
    lz_node *p = K(n, 1), *one = K(n, 1);
    double ten = 10;
    for (int k = 0; k < (wide ? 9 : 6); k++, ten *= ten) {
        lz_node *odd = NE(AND(i, K(i, 1 << k)), K(i, 0));
        p = MUL(p, SEL(odd, K(n, ten), one));
    }
    return p;
}

/* y where x is a power of the base, r, is r. The gradient remains y's. */
static lz_node *snapped(lz_tracer *c, lz_node *y, lz_node *r, lz_node *is_power)
{
    lz_node *off = SEL(is_power, SUB(r, y), K(y, 0));
    return ADD(y, lz_tracer_detached(c, off));
}

static lz_node *whole(lz_tracer *c, lz_node *y)
{
    return lz_tracer_detached(c, lz_tracer_ew1(c, LZ_OP_ROUND_NEAREST_EVEN, y));
}

lz_node *lz_ew_log2(lz_tracer *c, lz_node *x)
{
    lz_node *y = scaled(c, LOG(x), M_LOG2E);
    if (!y || lz_dtype_is_complex(lz_tracer_dtype(x)))
        return y;
    lz_node *r = whole(c, y);
    return snapped(c, y, r, EQ(x, exact_power_of_two(c, r)));
}

/* Beyond the powers that are exact every x within `near` of one has the integer as the nearest
 * logarithm. */
lz_node *lz_ew_log10(lz_tracer *c, lz_node *x)
{
    lz_node *y = scaled(c, LOG(x), M_LOG10E);
    if (!y || lz_dtype_is_complex(lz_tracer_dtype(x)))
        return y;
    bool wide = lz_tracer_dtype(x) == LZ_F64;
    double exact = wide ? 22 : 10, near = wide ? 0x1p-49 : 0x1p-20;
    lz_node *r = whole(c, y), *n = r, *one = K(x, 1);
    /* where 10^|r| may be infinite: x and its power times a power of ten, far from either end */
    double tens = wide ? 20 : 8;
    lz_node *low = LT(r, K(r, wide ? -300 : -31));
    lz_node *within = SEL(low, K(x, wide ? 0x1p-44 : 0x1p-18), K(x, near)); /* sparse numbers */
    x = SEL(low, MUL(x, K(x, wide ? 1e20 : 1e8)), x);
    n = SEL(low, ADD(n, K(n, tens)), n);
    lz_node *p = power_of_ten(c, n);
    p = SEL(LT(r, K(r, 0)), DIV(one, p), p);
    lz_node *off = ABS(SUB(x, p)), *far = GT(ABS(r), K(r, exact));
    lz_node *close = AND(AND(far, FINITE(p)), LE(off, MUL(p, within)));
    return snapped(c, y, r, AND(FINITE(y), OR(EQ(x, p), close)));
}

lz_node *lz_ew_reciprocal(lz_tracer *c, lz_node *x)
{
    return DIV(K(x, 1), x);
}

lz_node *lz_ew_square(lz_tracer *c, lz_node *x)
{
    if (lz_tracer_dtype(x) == LZ_BOOL) /* ATen: pow(x, 2), and 2 is an integer */
        x = TO(x, LZ_I64);
    return MUL(x, x);
}

/* ATen defines abs of unsigned integers and sign of these and booleans; StableHLO has neither. */
lz_node *lz_ew_abs(lz_tracer *c, lz_node *x)
{
    return lz_dtype_is_unsigned(lz_tracer_dtype(x)) ? x : ABS(x);
}

lz_node *lz_ew_sign(lz_tracer *c, lz_node *x)
{
    lz_dtype d = lz_tracer_dtype(x);
    if (d == LZ_BOOL)
        return x;
    return lz_dtype_is_unsigned(d) ? TO(NE(x, K(x, 0)), d) : SIGN(x);
}

lz_node *lz_ew_signbit(lz_tracer *c, lz_node *x)
{
    lz_dtype d = lz_tracer_dtype(x);
    if (!lz_dtype_is_float(d))
        return d == LZ_BOOL ? K(x, 0) : LT(x, K(x, 0));
    static const lz_dtype same_width[] = {[2] = LZ_I16, [4] = LZ_I32, [8] = LZ_I64};
    lz_node *bits = lz_tracer_bitcast(c, x, same_width[lz_dtype_size(d)]);
    return LT(bits, K(bits, 0));
}

/* Near 0 its series: the derivatives of the quotient are differences of nearly equal numbers
 * there. */
lz_node *lz_ew_sinc(lz_tracer *c, lz_node *x)
{
    enum { TERMS = 11 }; /* of z^2k / (2k + 1)!: the last is below 2e-20 */
    lz_node *z = MUL(x, K(x, M_PI)), *size = ABS(z), *near = LT(size, K(size, 1));
    lz_node *one = K(x, 1), *far = SEL(near, one, z), *zz = SEL(near, z, K(x, 0)), *s = one;
    zz = MUL(zz, zz);
    for (int k = TERMS - 1; k > 0; k--)
        s = SUB(one, MUL(MUL(zz, K(x, 1.0 / (2 * k * (2 * k + 1)))), s));
    return SEL(near, s, DIV(SIN(far), far));
}

lz_node *lz_ew_copysign(lz_tracer *c, lz_node *a, lz_node *b)
{
    lz_node *m = ABS(a);
    return SEL(lz_ew_signbit(c, b), NEG(m), m);
}

/* Where a remainder has the sign opposite to the divisor's, floor and trunc of the quotient differ
 * by 1. */
static lz_node *crosses(lz_tracer *c, lz_node *r, lz_node *b)
{
    lz_node *zero = K(r, 0);
    return AND(NE(r, zero), NE(LT(r, zero), LT(b, zero)));
}

lz_node *lz_ew_remainder(lz_tracer *c, lz_node *a, lz_node *b)
{
    lz_node *r = REM(a, b), *zero = K(b, 0);
    lz_dtype d = lz_tracer_dtype(b);
    if (lz_dtype_is_unsigned(d))
        return r;
    lz_node *adjust = crosses(c, r, b);
    if (lz_dtype_is_int(d)) /* x % 0 is x */
        adjust = AND(adjust, NE(b, zero));
    return ADD(r, SEL(adjust, b, zero));
}

/* Integers: truncated quotient, less 1 where the remainder crosses. Floats as
 *   c10::div_floor_floating: from the remainder, which is exact, then rounded to the integer it is
 *   next to; a zero takes the sign of a / b. The last operation is floor, so the gradient is 0. */
lz_node *lz_ew_floor_divide(lz_tracer *c, lz_node *a, lz_node *b)
{
    if (!a || !b)
        return NULL;
    lz_dtype d = lz_tracer_dtype(a);
    lz_node *r = REM(a, b), *zero = K(a, 0), *one = K(a, 1);
    if (lz_dtype_is_unsigned(d))
        return DIV(a, b);
    lz_node *adjust = crosses(c, r, b);
    if (lz_dtype_is_int(d))
        return SUB(DIV(a, b), SEL(AND(adjust, NE(b, zero)), one, zero));
    lz_node *q = DIV(a, b), *e = DIV(SUB(a, r), b);
    e = SUB(e, SEL(adjust, one, zero));
    lz_node *f = FLOOR(e);
    f = ADD(f, SEL(GT(SUB(e, f), K(a, 0.5)), one, zero));
    f = SEL(EQ(f, zero), SEL(lz_ew_signbit(c, q), K(a, -0.0), zero), f);
    return FLOOR(SEL(EQ(b, zero), q, f));
}

lz_node *lz_ew_rsub(lz_tracer *c, lz_node *a, lz_node *b)
{
    return SUB(b, a);
}

/* The extreme of a and b, of which one that is NaN counts as the other, so that equal values share
 * the gradient as those of maximum do; of two NaN it is all the first's. */
static lz_node *without_nan(lz_tracer *c, lz_op op, lz_node *a, lz_node *b)
{
    if (!a || !lz_dtype_is_float(lz_tracer_dtype(a)))
        return lz_tracer_ew2(c, op, a, b);
    lz_node *na = IS_NAN(a), *nb = IS_NAN(b), *zero = K(a, 0);
    lz_node *both = lz_tracer_ew2(c, op, SEL(na, zero, a), SEL(nb, zero, b));
    return SEL(nb, a, SEL(na, b, both));
}

lz_node *lz_ew_fmax(lz_tracer *c, lz_node *a, lz_node *b)
{
    return without_nan(c, LZ_OP_MAXIMUM, a, b);
}

lz_node *lz_ew_fmin(lz_tracer *c, lz_node *a, lz_node *b)
{
    return without_nan(c, LZ_OP_MINIMUM, a, b);
}

lz_node *lz_ew_heaviside(lz_tracer *c, lz_node *a, lz_node *b)
{
    lz_node *zero = K(a, 0);
    return SEL(EQ(a, zero), b, SEL(GT(a, zero), K(a, 1), zero));
}

/* Scaled by the larger of the two, which cancels. An infinity wins over NaN, as in C. */
lz_node *lz_ew_hypot(lz_tracer *c, lz_node *a, lz_node *b)
{
    lz_node *m = MAX(ABS(a), ABS(b)), *one = K(a, 1);
    lz_node *s = lz_tracer_detached(c, SEL(AND(FINITE(m), GT(m, K(m, 0))), m, one));
    lz_node *p = DIV(a, s), *q = DIV(b, s);
    lz_node *h = MUL(s, lz_tracer_root(c, ADD(MUL(p, p), MUL(q, q))));
    return SEL(OR(lz_ew_isinf(c, a), lz_ew_isinf(c, b)), K(a, INFINITY), h);
}

/* a 2^trunc(b) in steps, of which only the last may round or overflow, times what 2^b is more. */
lz_node *lz_ew_ldexp(lz_tracer *c, lz_node *a, lz_node *b)
{
    if (!a || !b || !lz_dtype_is_float(lz_tracer_dtype(a)))
        return MUL(a, lz_ew_exp2(c, b));
    layout l = layout_of(a);
    lz_node *finite = FINITE(b), *end = SEL(finite, K(b, 0), b);
    end = MUL(a, lz_ew_exp2(c, end)); /* 0 2^inf is NaN */
    double most = 2 * (l.bias + l.mantissa), down = l.bias - 2 - l.mantissa;
    b = SEL(IS_NAN(b), b, CLAMP(K(b, -most), b, K(b, most)));
    lz_node *n = lz_tracer_detached(c, lz_ew_trunc(c, b)), *part = SUB(b, n);
    n = SEL(IS_NAN(n), K(n, 0), n);
    for (int k = 0; k < 2; k++) { /* a step down leaves more places than it may round away */
        lz_node *low = LT(n, K(n, 1 - l.bias)), *high = GT(n, K(n, l.bias));
        lz_node *step = SEL(low, K(n, -down), SEL(high, K(n, l.bias), K(n, 0)));
        a = MUL(a, power_of_two(c, step));
        n = SUB(n, step);
    }
    a = MUL(a, lz_ew_exp2(c, part));
    a = MUL(a, power_of_two(c, CLAMP(K(n, 1 - l.bias), n, K(n, l.bias))));
    return SEL(finite, a, end);
}

/* max + log(1 + base^(min - max)) / log(base), the logarithm given. One comparison says which is
 * the larger: a maximum and an absolute value would each have a kink where a = b, though the sum is
 * smooth. Equal infinities are the result, with all of the gradient for the first. */
lz_node *lz_tracer_log_add(lz_tracer *c, lz_node *a, lz_node *b, double base)
{
    lz_node *first = GE(a, b), *high = SEL(first, a, b), *low = SEL(first, b, a);
    lz_node *same = AND(EQ(a, b), NOT(FINITE(a)));
    lz_node *d = SEL(same, K(a, 0), SUB(low, high)); /* infinity - infinity is NaN */
    if (base != 1)
        d = MUL(d, K(d, base));
    lz_node *l = LOG1P(EXP(d));
    if (base != 1)
        l = MUL(l, K(l, 1 / base));
    return SEL(same, a, ADD(high, l));
}

lz_node *lz_ew_logaddexp(lz_tracer *c, lz_node *a, lz_node *b)
{
    return lz_tracer_log_add(c, a, b, 1);
}

lz_node *lz_ew_logaddexp2(lz_tracer *c, lz_node *a, lz_node *b)
{
    return lz_tracer_log_add(c, a, b, M_LN2);
}

/* The logarithm is not taken where it is multiplied with 0 and not finite. */
static lz_node *times_log(lz_tracer *c, lz_node *a, lz_node *b, double pole, lz_op log)
{
    lz_node *none = AND(EQ(a, K(a, 0)), OR(LE(b, K(b, pole)), EQ(b, K(b, INFINITY))));
    lz_node *l = lz_tracer_ew1(c, log, SEL(none, K(b, 1), b));
    return SEL(none, K(a, 0), MUL(a, l));
}

lz_node *lz_ew_xlogy(lz_tracer *c, lz_node *a, lz_node *b)
{
    return times_log(c, a, b, 0, LZ_OP_LOG);
}

lz_node *lz_ew_xlog1py(lz_tracer *c, lz_node *a, lz_node *b)
{
    return times_log(c, a, b, -1, LZ_OP_LOG_PLUS_ONE);
}
