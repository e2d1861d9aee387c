/* eval_ew.c - reference evaluation of the elementwise operations.
 * Each rule is one line of formula inside a macro that gives it loops over the kinds of element it
 * has a meaning for. A dtype without a meaning is LZ_EUNSUPPORTED (the shape rules refuse it
 * earlier; raw scalar calls may get here). Threads: pure. */
#include "ir/eval/eval_complex.h"
#include <math.h>
#include <string.h>

static __attribute__((noinline)) lz_status no_meaning(const lz_ref_ew *e)
{
    return LZ_FAIL(LZ_EUNSUPPORTED, "%s is not defined on %s", lz_op_get(e->op)->text,
                   lz_dtype_name(e->in[0]));
}

static bool is_int(lz_dtype d)
{
    return lz_dtype_is_int(d) || d == LZ_BOOL;
}

static unsigned width_of(lz_dtype d)
{
    return (unsigned)lz_dtype_bits(d);
}

static uint64_t mask_of(lz_dtype d)
{
    return ~UINT64_C(0) >> (64 - width_of(d));
}

#define EACH(e) for (int64_t i = 0; i < (e)->n; i++)
#define LOADF(k) lz_ref_load_f(e->in[k], e->src[k], i * e->step[k])
#define LOADU(k) lz_ref_load_u(e->in[k], e->src[k], i * e->step[k])
#define LOADC(k) lz_ref_load_c(e->in[k], e->src[k], i * e->step[k])
#define STOREF(v) lz_ref_store_f(e->out, e->dst, i, (v))
#define STOREU(v) lz_ref_store_u(e->out, e->dst, i, (v))
#define STOREC(v) lz_ref_store_c(e->out, e->dst, i, (v))

/* One float operand. EXACT: the formula rounds correctly in double. WIDE: f64 uses the long double
 * formula. */
#define FLOAT1_EXACT(name, formula)                                                                \
    lz_status lz_ref_##name(const lz_ref_ew *e)                                                    \
    {                                                                                              \
        if (!lz_dtype_is_float(e->in[0]))                                                          \
            return no_meaning(e);                                                                  \
        EACH (e) {                                                                                 \
            double x = LOADF(0);                                                                   \
            STOREF(formula);                                                                       \
        }                                                                                          \
        return LZ_OK;                                                                              \
    }
#define FLOAT1_WIDE_FN(linkage, fn, formula, formula_l)                                            \
    linkage lz_status fn(const lz_ref_ew *e)                                                       \
    {                                                                                              \
        if (!lz_dtype_is_float(e->in[0]))                                                          \
            return no_meaning(e);                                                                  \
        if (e->in[0] == LZ_F64) {                                                                  \
            EACH (e) {                                                                             \
                long double x = LOADF(0);                                                          \
                STOREF((double)(formula_l));                                                       \
            }                                                                                      \
            return LZ_OK;                                                                          \
        }                                                                                          \
        EACH (e) {                                                                                 \
            double x = LOADF(0);                                                                   \
            STOREF(formula);                                                                       \
        }                                                                                          \
        return LZ_OK;                                                                              \
    }

/* Floats, and complex numbers by lz_cx_<name>. */
#define FLC1(name, formula, formula_l)                                                             \
    static lz_status name##_of_floats(const lz_ref_ew *e);                                         \
    lz_status lz_ref_##name(const lz_ref_ew *e)                                                    \
    {                                                                                              \
        return lz_dtype_is_complex(e->in[0]) ? lz_ref_complex1(e, lz_cx_##name)                    \
                                             : name##_of_floats(e);                                \
    }                                                                                              \
    FLOAT1_WIDE_FN(static, name##_of_floats, formula, formula_l)

FLOAT1_EXACT(ceil, ceil(x))
FLOAT1_EXACT(floor, floor(x))
FLOAT1_EXACT(round_afz, round(x))
FLOAT1_EXACT(round_even, roundeven(x))
FLC1(cbrt, cbrt(x), cbrtl(x))
FLC1(cosine, cos(x), cosl(x))
FLOAT1_WIDE_FN(, lz_ref_erf, erf(x), erfl(x))
FLC1(exponential, exp(x), expl(x))
FLC1(expm1, expm1(x), expm1l(x))
FLC1(log, log(x), logl(x))
FLC1(log1p, log1p(x), log1pl(x))
FLC1(logistic, 1 / (1 + exp(-x)), 1 / (1 + expl(-x)))
FLC1(rsqrt, 1 / sqrt(x), 1 / sqrtl(x))
FLC1(sqrt, sqrt(x), sqrt((double)x))
FLC1(sine, sin(x), sinl(x))
FLC1(tan, tan(x), tanl(x))
FLC1(tanh, tanh(x), tanhl(x))

lz_status lz_ref_is_finite(const lz_ref_ew *e)
{
    if (!lz_dtype_is_float(e->in[0]))
        return no_meaning(e);
    EACH (e)
        STOREU(isfinite(LOADF(0)) != 0);
    return LZ_OK;
}

lz_status lz_ref_abs(const lz_ref_ew *e)
{
    if (lz_dtype_is_float(e->in[0])) {
        EACH (e)
            STOREF(fabs(LOADF(0)));
    } else if (is_int(e->in[0])) {
        EACH (e) {
            uint64_t x = LOADU(0);
            STOREU(lz_dtype_is_signed(e->in[0]) && (int64_t)x < 0 ? 0 - x : x);
        }
    } else if (lz_dtype_is_complex(e->in[0]) && e->out == lz_dtype_part(e->in[0])) {
        EACH (e)
            STOREF((double)lz_cx_abs(LOADC(0)));
    } else {
        return no_meaning(e);
    }
    return LZ_OK;
}

lz_status lz_ref_negate(const lz_ref_ew *e)
{
    if (lz_dtype_is_float(e->in[0])) {
        EACH (e)
            STOREF(-LOADF(0));
    } else if (lz_dtype_is_int(e->in[0])) {
        EACH (e)
            STOREU(0 - LOADU(0));
    } else if (lz_dtype_is_complex(e->in[0])) {
        EACH (e)
            STOREC(((lz_cx){-LOADC(0).re, -LOADC(0).im}));
    } else {
        return no_meaning(e);
    }
    return LZ_OK;
}

lz_status lz_ref_sign(const lz_ref_ew *e)
{
    if (lz_dtype_is_float(e->in[0])) {
        EACH (e) {
            double x = LOADF(0);
            STOREF(x > 0 ? 1 : x < 0 ? -1 : x);
        }
    } else if (is_int(e->in[0])) {
        bool sgn = lz_dtype_is_signed(e->in[0]);
        EACH (e) {
            uint64_t x = LOADU(0);
            STOREU(x == 0 ? 0 : sgn && (int64_t)x < 0 ? ~UINT64_C(0) : 1);
        }
    } else if (lz_dtype_is_complex(e->in[0])) {
        return lz_ref_complex1(e, lz_cx_sign);
    } else {
        return no_meaning(e);
    }
    return LZ_OK;
}

/* ---- parts of complex numbers ---- */

static lz_status part(const lz_ref_ew *e, bool imaginary)
{
    if (lz_dtype_is_complex(e->in[0])) {
        EACH (e)
            STOREF((double)(imaginary ? LOADC(0).im : LOADC(0).re));
    } else if (lz_dtype_is_float(e->in[0])) {
        EACH (e)
            STOREF(imaginary ? 0 : LOADF(0));
    } else {
        return no_meaning(e);
    }
    return LZ_OK;
}

lz_status lz_ref_real(const lz_ref_ew *e)
{
    return part(e, false);
}

lz_status lz_ref_imag(const lz_ref_ew *e)
{
    return part(e, true);
}

lz_status lz_ref_complex(const lz_ref_ew *e)
{
    if (!lz_dtype_is_complex(e->out))
        return no_meaning(e);
    EACH (e)
        STOREC(((lz_cx){LOADF(0), LOADF(1)}));
    return LZ_OK;
}

/* ---- bits ---- */

#define BITS1(name, formula)                                                                       \
    lz_status lz_ref_##name(const lz_ref_ew *e)                                                    \
    {                                                                                              \
        if (!is_int(e->in[0]))                                                                     \
            return no_meaning(e);                                                                  \
        uint64_t mask = mask_of(e->in[0]);                                                         \
        unsigned width = width_of(e->in[0]);                                                       \
        (void)width;                                                                               \
        EACH (e) {                                                                                 \
            uint64_t x = LOADU(0) & mask;                                                          \
            STOREU(formula);                                                                       \
        }                                                                                          \
        return LZ_OK;                                                                              \
    }
BITS1(not, ~x)
BITS1(popcnt, (uint64_t)__builtin_popcountll(x))
BITS1(clz, x == 0 ? width : (uint64_t)__builtin_clzll(x) - (64 - width))

/* Two integers; a and b sign- or zero-extended. */
#define BITS2(name, formula)                                                                       \
    lz_status lz_ref_##name(const lz_ref_ew *e)                                                    \
    {                                                                                              \
        if (!is_int(e->in[0]))                                                                     \
            return no_meaning(e);                                                                  \
        EACH (e) {                                                                                 \
            uint64_t a = LOADU(0), b = LOADU(1);                                                   \
            STOREU(formula);                                                                       \
        }                                                                                          \
        return LZ_OK;                                                                              \
    }
BITS2(and, a &b)
BITS2(or, a | b)
BITS2(xor, a ^ b)

/* Shifts by an amount read as unsigned; `in_width` is false for amounts of the width or more,
 * negative ones included. */
#define SHIFT(name, formula)                                                                       \
    lz_status lz_ref_##name(const lz_ref_ew *e)                                                    \
    {                                                                                              \
        if (!lz_dtype_is_int(e->in[0]))                                                            \
            return no_meaning(e);                                                                  \
        uint64_t mask = mask_of(e->in[0]);                                                         \
        unsigned width = width_of(e->in[0]);                                                       \
        EACH (e) {                                                                                 \
            uint64_t a = LOADU(0), b = LOADU(1) & mask;                                            \
            bool in_width = b < width;                                                             \
            STOREU(formula);                                                                       \
        }                                                                                          \
        return LZ_OK;                                                                              \
    }
/* The operand of an arithmetic shift, of whatever signedness, with its top bit copied upwards. */
static int64_t extend(uint64_t a, unsigned width)
{
    return (int64_t)(a << (64 - width)) >> (64 - width);
}
SHIFT(shl, in_width ? a << b : 0)
SHIFT(shr, in_width ? (a &mask) >> b : 0)
SHIFT(sar, (uint64_t)(extend(a, width) >> (in_width ? b : width - 1)))

/* ---- arithmetic on two operands ---- */

static lz_cx c_add(lz_cx a, lz_cx b)
{
    return (lz_cx){a.re + b.re, a.im + b.im};
}
static lz_cx c_sub(lz_cx a, lz_cx b)
{
    return (lz_cx){a.re - b.re, a.im - b.im};
}
static lz_cx c_mul(lz_cx a, lz_cx b)
{
    double rr = (double)(a.re * b.re), ii = (double)(a.im * b.im), ri = (double)(a.re * b.im),
           ir = (double)(a.im * b.re); /* where a product overflows, that shows */
    return (lz_cx){rr - ii, ri + ir};
}

/* Integer division that never traps. */
static uint64_t int_div(uint64_t a, uint64_t b, bool sgn)
{
    if (b == 0)
        return ~UINT64_C(0);
    if (!sgn)
        return a / b;
    return b == ~UINT64_C(0) ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}
static uint64_t int_rem(uint64_t a, uint64_t b, bool sgn)
{
    if (b == 0)
        return a;
    if (!sgn)
        return a % b;
    return b == ~UINT64_C(0) ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}
static uint64_t int_pow(uint64_t a, uint64_t b, bool sgn)
{
    if (sgn && (int64_t)b < 0) {
        if (a != 1 && a != ~UINT64_C(0))
            return 0;
        b = 0 - b;
    }
    uint64_t r = 1;
    for (; b; b >>= 1, a *= a)
        if (b & 1)
            r *= a;
    return r;
}

/* Larger and smaller: NaN wins, -0 is below +0, complex numbers are ordered by real part, then
 * imaginary part. */
static double f_max(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? a : b;
    if (a == b)
        return signbit(a) ? b : a;
    return a > b ? a : b;
}
static double f_min(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? a : b;
    if (a == b)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}
static uint64_t i_max(uint64_t a, uint64_t b, bool sgn)
{
    return (sgn ? (int64_t)a > (int64_t)b : a > b) ? a : b;
}
static uint64_t i_min(uint64_t a, uint64_t b, bool sgn)
{
    return (sgn ? (int64_t)a < (int64_t)b : a < b) ? a : b;
}
static bool c_less(lz_cx a, lz_cx b)
{
    return a.re < b.re || (a.re == b.re && a.im < b.im);
}
/* NaN in any part is larger and smaller than all numbers; of two such, part by part: then the order
 * of several does not matter, and x with itself is x. */
static bool c_nan(lz_cx a)
{
    return isnan(a.re) || isnan(a.im);
}
static lz_cx c_extremum(lz_cx a, lz_cx b, bool a_wins)
{
    if (c_nan(a) && c_nan(b))
        return (lz_cx){f_max((double)a.re, (double)b.re), f_max((double)a.im, (double)b.im)};
    if (c_nan(a) || c_nan(b))
        return c_nan(a) ? a : b;
    return a_wins ? a : b;
}
static lz_cx c_max(lz_cx a, lz_cx b)
{
    return c_extremum(a, b, c_less(b, a));
}
static lz_cx c_min(lz_cx a, lz_cx b)
{
    return c_extremum(a, b, c_less(a, b));
}

/* glibc's powl is wrong where the exponent is -2^63 and the result is exact; pow is right wherever
 * the result is not an ordinary number. */
static long double pow_wide(double a, double b)
{
    double r = pow(a, b);
    return !isfinite(r) || r == 0 || fabs(r) == 1 ? r : powl(a, b);
}

/* Floats in double (both operands are exact there), integers modulo 2^64, booleans, complex
 * numbers. NONE: no meaning there. */
#define FLOATS(formula)                                                                            \
    if (lz_dtype_is_float(e->in[0])) {                                                             \
        EACH (e) {                                                                                 \
            double a = LOADF(0), b = LOADF(1);                                                     \
            STOREF(formula);                                                                       \
        }                                                                                          \
        return LZ_OK;                                                                              \
    }
#define FLOATS_WIDE(formula, formula_l)                                                            \
    if (e->in[0] == LZ_F64) {                                                                      \
        EACH (e) {                                                                                 \
            long double a = LOADF(0), b = LOADF(1);                                                \
            STOREF((double)(formula_l));                                                           \
        }                                                                                          \
        return LZ_OK;                                                                              \
    }                                                                                              \
    FLOATS(formula)
#define INTS(formula)                                                                              \
    if (lz_dtype_is_int(e->in[0])) {                                                               \
        bool sgn = lz_dtype_is_signed(e->in[0]);                                                   \
        (void)sgn;                                                                                 \
        EACH (e) {                                                                                 \
            uint64_t a = LOADU(0), b = LOADU(1);                                                   \
            STOREU(formula);                                                                       \
        }                                                                                          \
        return LZ_OK;                                                                              \
    }
#define BOOLS(formula)                                                                             \
    if (e->in[0] == LZ_BOOL) {                                                                     \
        EACH (e) {                                                                                 \
            uint64_t a = LOADU(0), b = LOADU(1);                                                   \
            STOREU(formula);                                                                       \
        }                                                                                          \
        return LZ_OK;                                                                              \
    }
#define COMPLEX(fn)                                                                                \
    if (lz_dtype_is_complex(e->in[0]))                                                             \
        return lz_ref_complex2(e, fn);
#define NONE
#define ARITH2(name, floats, ints, bools, complexes)                                               \
    lz_status lz_ref_##name(const lz_ref_ew *e)                                                    \
    {                                                                                              \
        floats ints bools complexes return no_meaning(e);                                          \
    }
ARITH2(add, FLOATS(a + b), INTS(a + b), BOOLS(a | b), COMPLEX(c_add))
ARITH2(subtract, FLOATS(a - b), INTS(a - b), NONE, COMPLEX(c_sub))
ARITH2(multiply, FLOATS(a *b), INTS(a *b), BOOLS(a &b), COMPLEX(c_mul))
ARITH2(divide, FLOATS(a / b), INTS(int_div(a, b, sgn)), NONE, COMPLEX(lz_cx_divide))
ARITH2(remainder, FLOATS(fmod(a, b)), INTS(int_rem(a, b, sgn)), NONE, NONE)
ARITH2(maximum, FLOATS(f_max(a, b)), INTS(i_max(a, b, sgn)), BOOLS(a | b), COMPLEX(c_max))
ARITH2(minimum, FLOATS(f_min(a, b)), INTS(i_min(a, b, sgn)), BOOLS(a &b), COMPLEX(c_min))
ARITH2(power, FLOATS_WIDE(pow(a, b), pow_wide((double)a, (double)b)), INTS(int_pow(a, b, sgn)),
       NONE, COMPLEX(lz_cx_power))
ARITH2(atan2, FLOATS_WIDE(atan2(a, b), atan2l(a, b)), NONE, NONE, COMPLEX(lz_cx_atan2))

/* ---- comparison, selection ---- */

/* Bits of a float as an integer that orders like totalOrder: -NaN < -inf < .. < -0 < +0 < .. < inf
 * < NaN. */
static int64_t total_key(lz_dtype d, const void *p, int64_t i)
{
    switch (d) {
    case LZ_F64: {
        int64_t v;
        memcpy(&v, (const char *)p + i * 8, sizeof v);
        return v < 0 ? v ^ INT64_MAX : v;
    }
    case LZ_F32: {
        int32_t v;
        memcpy(&v, (const char *)p + i * 4, sizeof v);
        return v < 0 ? v ^ INT32_MAX : v;
    }
    default: {
        int16_t v;
        memcpy(&v, (const char *)p + i * 2, sizeof v);
        return v < 0 ? v ^ INT16_MAX : v;
    }
    }
}

/* lt, eq: a < b, a = b. Both false for unordered; gt is what remains for ordered ones. */
static bool decide(int32_t dir, bool lt, bool eq, bool gt)
{
    switch (dir) {
    case LZ_CMP_EQ:
        return eq;
    case LZ_CMP_NE:
        return !eq;
    case LZ_CMP_GE:
        return gt || eq;
    case LZ_CMP_GT:
        return gt;
    case LZ_CMP_LE:
        return lt || eq;
    default:
        return lt;
    }
}

lz_status lz_ref_compare(const lz_ref_ew *e)
{
    const lz_attr_compare *at = LZ_ATTR(compare, e->attr);
    int32_t dir = at->comparison_direction;
    lz_dtype d = e->in[0];
    EACH (e) {
        bool r;
        if (lz_dtype_is_float(d) && at->compare_type == LZ_CT_TOTALORDER) {
            int64_t a = total_key(d, e->src[0], i * e->step[0]),
                    b = total_key(d, e->src[1], i * e->step[1]);
            r = decide(dir, a<b, a == b, a> b);
        } else if (lz_dtype_is_float(d)) {
            double a = LOADF(0), b = LOADF(1);
            r = decide(dir, a<b, a == b, a> b);
        } else if (lz_dtype_is_complex(d)) {
            lz_cx a = LOADC(0), b = LOADC(1);
            r = decide(dir, c_less(a, b), a.re == b.re && a.im == b.im, c_less(b, a));
        } else {
            uint64_t a = LOADU(0), b = LOADU(1);
            bool lt = lz_dtype_is_signed(d) ? (int64_t)a < (int64_t)b : a < b;
            r = decide(dir, lt, a == b, !lt && a != b);
        }
        STOREU(r);
    }
    return LZ_OK;
}

lz_status lz_ref_clamp(const lz_ref_ew *e)
{
    lz_dtype d = e->in[1];
    bool sgn = lz_dtype_is_signed(d);
    EACH (e) {
        if (lz_dtype_is_float(d))
            STOREF(f_min(f_max(LOADF(1), LOADF(0)), LOADF(2)));
        else if (lz_dtype_is_complex(d))
            STOREC(c_min(c_max(LOADC(1), LOADC(0)), LOADC(2)));
        else
            STOREU(i_min(i_max(LOADU(1), LOADU(0), sgn), LOADU(2), sgn));
    }
    return LZ_OK;
}

lz_status lz_ref_select(const lz_ref_ew *e)
{
    size_t esize = lz_dtype_size(e->out);
    EACH (e) {
        int k = LOADU(0) ? 1 : 2;
        memcpy((char *)e->dst + (size_t)i * esize,
               (const char *)e->src[k] + (size_t)(i * e->step[k]) * esize, esize);
    }
    return LZ_OK;
}
