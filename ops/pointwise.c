/* pointwise.c - elementwise operations with options or three operands:
 * include/lazuli/math_ops.h. */
#include "ops/compose.h"
#include "ops/elementwise.h"
#include <lazuli/math_ops.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- scaled sums ---- */

/* A number as an operand of x's dtype; integers and booleans take whole numbers only. */
static lz_node *factor(lz_tracer *c, lz_node *x, double v, const char *what)
{
    if (x && !lz_dtype_is_float(lz_tracer_dtype(x)) && !lz_dtype_is_complex(lz_tracer_dtype(x)) &&
        v != trunc(v)) {
        LZ_FAIL(LZ_EDTYPE, "%s is %g, the operands %s: integers need a whole number", what, v,
                lz_dtype_name(lz_tracer_dtype(x)));
        return NULL;
    }
    if (x && lz_dtype_is_float(lz_tracer_dtype(x)))
        return ARG(x, v);
    return x ? lz_tracer_fill(c, lz_tracer_scalar_wrapped(c, lz_tracer_dtype(x), v, x),
                              lz_tracer_shape(x))
             : NULL;
}

static lz_tensor *with_alpha(const char *name, lz_op op, lz_tensor *a, lz_tensor *b, double alpha,
                             const lz_site *site)
{
    BEGIN(name);
    lz_node *x = IN(a), *y = x ? IN(b) : NULL;
    if (!y || !lz_tracer_match(c, &x, &y))
        return lz_tracer_end(c, NULL);
    lz_dtype d = lz_tracer_dtype(x);
    x = lz_tracer_wide(c, x);
    y = lz_tracer_wide(c, y);
    y = MUL(y, factor(c, y, alpha, "alpha"));
    return lz_tracer_end(c, TO(lz_tracer_ew2(c, op, x, y), d));
}

lz_tensor *lz_add_alpha_at(lz_tensor *a, lz_tensor *b, double alpha, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return with_alpha("lz_add_alpha", LZ_OP_ADD, a, b, alpha, site);
}

lz_tensor *lz_sub_alpha_at(lz_tensor *a, lz_tensor *b, double alpha, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return with_alpha("lz_sub_alpha", LZ_OP_SUBTRACT, a, b, alpha, site);
}

/* All three promoted to one dtype and broadcast to one shape. */
static bool match3(lz_tracer *c, lz_node **x, lz_node **a, lz_node **b)
{
    return lz_tracer_match(c, a, b) && lz_tracer_match(c, x, a) && lz_tracer_match(c, x, b) &&
           lz_tracer_match(c, x, a);
}

static lz_tensor *fused(const char *name, lz_op op, lz_tensor *x, lz_tensor *a, lz_tensor *b,
                        double value, const lz_site *site)
{
    BEGIN(name);
    lz_node *n = IN(x), *p = n ? IN(a) : NULL, *q = p ? IN(b) : NULL;
    if (!q || !match3(c, &n, &p, &q))
        return lz_tracer_end(c, NULL);
    if (op == LZ_OP_DIVIDE) {
        n = lz_tracer_float(c, n);
        p = lz_tracer_float(c, p);
        q = lz_tracer_float(c, q);
    }
    lz_dtype d = lz_tracer_dtype(n);
    n = lz_tracer_wide(c, n);
    lz_node *t = lz_tracer_ew2(c, op, lz_tracer_wide(c, p), lz_tracer_wide(c, q));
    t = MUL(factor(c, t, value, "value"), t);
    return lz_tracer_end(c, TO(ADD(n, t), d));
}

lz_tensor *lz_addcmul_at(lz_tensor *x, lz_tensor *a, lz_tensor *b, double value,
                         const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return fused("lz_addcmul", LZ_OP_MULTIPLY, x, a, b, value, site);
}

lz_tensor *lz_addcdiv_at(lz_tensor *x, lz_tensor *a, lz_tensor *b, double value,
                         const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return fused("lz_addcdiv", LZ_OP_DIVIDE, x, a, b, value, site);
}

static lz_node *lerp(lz_tracer *c, lz_node *a, lz_node *b, lz_node *w)
{
    lz_dtype d = lz_tracer_dtype(a);
    a = lz_tracer_wide(c, a);
    b = lz_tracer_wide(c, b);
    w = lz_tracer_wide(c, w);
    lz_node *way = SUB(b, a), *near = LT(ABS(w), K(w, 0.5));
    return TO(SEL(near, ADD(a, MUL(w, way)), SUB(b, MUL(way, SUB(K(w, 1), w)))), d);
}

lz_tensor *lz_lerp_at(lz_tensor *start, lz_tensor *end, lz_tensor *weight, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_lerp");
    lz_node *a = lz_tracer_float(c, IN(start)), *b = a ? lz_tracer_float(c, IN(end)) : NULL,
            *w = b ? lz_tracer_float(c, IN(weight)) : NULL;
    return lz_tracer_end(c, w && match3(c, &a, &b, &w) ? lerp(c, a, b, w) : NULL);
}

lz_tensor *lz_lerp_scalar_at(lz_tensor *start, lz_tensor *end, double weight, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_lerp_scalar");
    lz_node *a = lz_tracer_float(c, IN(start)), *b = a ? lz_tracer_float(c, IN(end)) : NULL;
    if (!b || !lz_tracer_match(c, &a, &b))
        return lz_tracer_end(c, NULL);
    lz_dtype d = lz_tracer_dtype(a);
    a = lz_tracer_wide(c, a);
    return lz_tracer_end(c, TO(lerp(c, a, b, ARG(a, weight)), d));
}

/* ---- quotients and powers ---- */

static lz_node *divided(lz_tracer *c, lz_node *a, lz_node *b, const char *mode)
{
    if (!mode) {
        lz_dtype d = lz_tracer_dtype(a = lz_tracer_float(c, a));
        return lz_tracer_convert(c, DIV(a, lz_tracer_float(c, b)), d);
    }
    lz_dtype d = lz_tracer_dtype(a);
    a = lz_tracer_wide(c, a);
    b = lz_tracer_wide(c, b);
    if (strcmp(mode, "floor") == 0)
        return TO(lz_ew_floor_divide(c, a, b), d);
    if (strcmp(mode, "trunc") == 0)
        return lz_dtype_is_float(d) ? TO(lz_ew_trunc(c, DIV(a, b)), d) : DIV(a, b);
    LZ_FAIL(LZ_EINVAL, "rounding mode \"%.40s\": \"trunc\", \"floor\" or NULL", mode);
    return NULL;
}

lz_tensor *lz_div_mode_at(lz_tensor *a, lz_tensor *b, const char *rounding_mode,
                          const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_div_mode");
    lz_node *x = IN(a), *y = x ? IN(b) : NULL;
    return lz_tracer_end(c,
                         y && lz_tracer_match(c, &x, &y) ? divided(c, x, y, rounding_mode) : NULL);
}

lz_tensor *lz_div_scalar_mode_at(lz_tensor *a, double b, const char *rounding_mode,
                                 const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_div_scalar_mode");
    lz_dtype d;
    lz_node *x = IN(a), *y = lz_tracer_wide_scalar_for(c, &x, b, !rounding_mode,
                                                       LZ_NUMBER_FITS | LZ_NUMBER_GIVEN, &d);
    return lz_tracer_end(c, y ? TO(divided(c, x, y, rounding_mode), d) : NULL);
}

lz_tensor *lz_scalar_pow_at(double base, lz_tensor *exponent, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_scalar_pow");
    lz_dtype d;
    lz_node *x = IN(exponent), *b = lz_tracer_wide_scalar_for(c, &x, base, false,
                                                              LZ_NUMBER_FITS | LZ_NUMBER_GIVEN, &d);
    return lz_tracer_end(c, b ? TO(POW(b, x), d) : NULL);
}

/* ---- bounds ---- */

/* A maximum and a minimum, so that x and a bound that are equal share the gradient. Bounds that are
 * NaN win. */
static lz_node *clamp(lz_tracer *c, lz_node *x, lz_node *lo, lz_node *hi)
{
    if (!lo && !hi) {
        LZ_FAIL(LZ_ENULL, "both bounds are NULL");
        return NULL;
    }
    if (!lz_tracer_is_real(x) || (lo && !lz_tracer_is_real(lo)) || (hi && !lz_tracer_is_real(hi)))
        return NULL;
    if (lo && hi ? !match3(c, &x, &lo, &hi) : !lz_tracer_match(c, &x, lo ? &lo : &hi))
        return NULL;
    x = lo ? MAX(x, lo) : x;
    return hi ? MIN(x, hi) : x;
}

lz_tensor *lz_clamp_tensor_at(lz_tensor *x, lz_tensor *lo, lz_tensor *hi, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_clamp_tensor");
    lz_node *n = IN(x), *l = n && lo ? IN(lo) : NULL, *h = n && hi && (l || !lo) ? IN(hi) : NULL;
    return lz_tracer_end(c, n && (l || !lo) && (h || !hi) ? clamp(c, n, l, h) : NULL);
}

/* x, or the bound beyond which or at which it is: the value of a maximum (minimum), NaN and the
 * sign of a zero included, but the gradient at the bound is 0. */
static lz_node *clamp_side(lz_tracer *c, lz_node *x, lz_node *bound, bool low)
{
    lz_node *most = low ? MAX(x, bound) : MIN(x, bound);
    if (!most || !lz_dtype_is_float(lz_tracer_dtype(x)))
        return most;
    return SEL(low ? GT(x, bound) : LT(x, bound), x, lz_tracer_detached(c, most));
}

/* Whether a bound leaves every value of d as it is: an infinite one, or one beyond the integers of
 * d, on its own side. */
static bool bounds_nothing(lz_dtype d, double bound, bool low)
{
    return low == (bound < 0) && (isinf(bound) || !lz_dtype_holds(d, bound));
}

lz_node *lz_tracer_clamp(lz_tracer *c, lz_node *x, const double *lo, const double *hi)
{
    bool real = (lo && (!isfinite(*lo) || *lo != trunc(*lo))) ||
                (hi && (!isfinite(*hi) || *hi != trunc(*hi)));
    if (!lz_tracer_is_real(x))
        return NULL;
    if (!lo && !hi)
        return x;
    x = real ? lz_tracer_float(c, x) : lz_tracer_dtype(x) == LZ_BOOL ? TO(x, LZ_I64) : x;
    if (!x)
        return NULL;
    lz_dtype d = lz_tracer_dtype(x);
    lo = lo && bounds_nothing(d, *lo, true) ? NULL : lo;
    hi = hi && bounds_nothing(d, *hi, false) ? NULL : hi;
    lz_node *l =
        lo ? lz_tracer_scalar_for(c, &x, *lo, false, LZ_NUMBER_FITS | LZ_NUMBER_GIVEN) : NULL;
    lz_node *h =
        hi ? lz_tracer_scalar_for(c, &x, *hi, false, LZ_NUMBER_FITS | LZ_NUMBER_GIVEN) : NULL;
    if ((lo && !l) || (hi && !h))
        return NULL;
    /* not a maximum and a minimum: the gradient at the bounds is 0, as in ATen */
    return l && h ? CLAMP(l, x, h)
           : l    ? clamp_side(c, x, l, true)
           : h    ? clamp_side(c, x, h, false)
                  : x;
}

lz_tensor *lz_clamp_min_at(lz_tensor *x, double lo, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_clamp_min");
    return lz_tracer_end(c, lz_tracer_clamp(c, IN(x), &lo, NULL));
}

lz_tensor *lz_clamp_max_at(lz_tensor *x, double hi, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_clamp_max");
    return lz_tracer_end(c, lz_tracer_clamp(c, IN(x), NULL, &hi));
}

/* ---- single values ---- */

lz_tensor *lz_round_decimals_at(lz_tensor *x, int decimals, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_round_decimals");
    lz_node *n = IN(x);
    if (n && (decimals < -18 || decimals > 18)) {
        LZ_FAIL(LZ_ERANGE, "%d decimals: -18 to 18 are possible", decimals);
        n = NULL;
    }
    if (n && !lz_tracer_is_float(n))
        n = NULL;
    lz_dtype d = lz_tracer_dtype(n);
    n = lz_tracer_wide(c, n);
    lz_node *ten = K(n, pow(10, fabs((double)decimals)));
    lz_node *r =
        lz_tracer_ew1(c, LZ_OP_ROUND_NEAREST_EVEN, decimals < 0 ? DIV(n, ten) : MUL(n, ten));
    return lz_tracer_end(c, TO(decimals < 0 ? MUL(r, ten) : DIV(r, ten), d));
}

/* Infinite at 0 and 1 with its derivatives, and NaN with them outside, where the difference of the
 * logarithms has a finite slope. */
static lz_node *logit(lz_tracer *c, lz_node *x)
{
    lz_node *one = K(x, 1), *outside = OR(LT(x, K(x, 0)), GT(x, one));
    lz_node *nan = SQRT(SEL(outside, NEG(ABS(x)), one));
    x = SEL(outside, K(x, 0.5), x);
    return SEL(outside, nan, SUB(LOG(x), LOG(SUB(one, x))));
}

lz_tensor *lz_logit_at(lz_tensor *x, double eps, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_logit");
    lz_node *n = lz_tracer_float(c, IN(x));
    lz_dtype d = lz_tracer_dtype(n);
    n = lz_tracer_wide(c, n);
    if (!isnan(eps)) { /* the gradient passes at the bounds, unlike clamp's */
        lz_node *lo = ARG(n, eps), *hi = ARG(n, 1 - eps);
        n = SEL(LT(n, lo), lo, SEL(GT(n, hi), hi, n));
    }
    return lz_tracer_end(c, TO(logit(c, n), d));
}

static double largest(lz_dtype d)
{
    return d == LZ_F64   ? 1.7976931348623157e308
           : d == LZ_F32 ? 3.4028234663852886e38
           : d == LZ_F16 ? 65504
                         : 3.3895313892515355e38;
}

static lz_node *numbers(lz_tracer *c, lz_node *n, const lz_nan_to_num_options *p)
{
    lz_dtype d = lz_tracer_dtype(n);
    double top = p->posinf != 0 || p->posinf_zero ? p->posinf : largest(d);
    double bottom = p->neginf != 0 || p->neginf_zero ? p->neginf : -largest(d);
    lz_node *r = SEL(lz_ew_isneginf(c, n), ARG(n, bottom), n);
    r = SEL(lz_ew_isposinf(c, n), ARG(n, top), r);
    return SEL(IS_NAN(n), ARG(n, p->nan), r);
}

lz_tensor *lz_nan_to_num_at(lz_tensor *x, const lz_nan_to_num_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_nan_to_num");
    OPTIONS(lz_nan_to_num_options, p, .nan = 0);
    lz_node *n = p ? IN(x) : NULL;
    if (n && lz_dtype_is_complex(lz_tracer_dtype(n)))
        n = lz_tracer_ew2(c, LZ_OP_COMPLEX, numbers(c, RE(n), p), numbers(c, IM(n), p));
    else if (n && lz_dtype_is_float(lz_tracer_dtype(n)))
        n = numbers(c, n, p);
    return lz_tracer_end(c, n);
}

/* ---- nearness ---- */

static lz_node *as_u64(lz_tracer *c, lz_node *x)
{
    return lz_tracer_dtype(x) == LZ_U64 ? x : lz_tracer_bitcast(c, x, LZ_U64);
}

/* The difference of two integers is exact in u64, and so is its comparison with what is allowed,
 * rounded down. */
static lz_node *isclose_integers(lz_tracer *c, lz_node *a, lz_node *b, const lz_isclose_options *o)
{
    if (lz_tracer_dtype(a) != LZ_U64) {
        a = TO(a, LZ_I64);
        b = TO(b, LZ_I64);
    }
    lz_node *actual = SUB(as_u64(c, MAX(a, b)), as_u64(c, MIN(a, b))), *real = TO(b, LZ_F64);
    lz_node *allowed = ADD(ARG(real, o->atol), ABS(MUL(real, ARG(real, o->rtol))));
    return OR(EQ(a, b), LE(actual, TO(allowed, LZ_U64)));
}

static lz_node *isclose(lz_tracer *c, lz_node *a, lz_node *b, const lz_isclose_options *o)
{
    if (!lz_tracer_match(c, &a, &b))
        return NULL;
    if (!(o->rtol >= 0) || !(o->atol >= 0)) {
        LZ_FAIL(LZ_EINVAL, "rtol %g, atol %g: they must not be negative", o->rtol, o->atol);
        return NULL;
    }
    if (lz_dtype_is_integral(lz_tracer_dtype(a)))
        return isclose_integers(c, a, b, o);
    lz_node *close = EQ(a, b);
    a = lz_tracer_wide(c, a);
    b = lz_tracer_wide(c, b);
    if (o->equal_nan)
        close = OR(close, AND(IS_NAN(a), IS_NAN(b)));
    lz_node *actual = ABS(SUB(a, b)), *size = ABS(b);
    lz_node *allowed = ADD(ARG(size, o->atol), MUL(size, ARG(size, o->rtol)));
    return OR(close, AND(FINITE(actual), LE(actual, allowed)));
}

lz_tensor *lz_isclose_at(lz_tensor *a, lz_tensor *b, const lz_isclose_options *o,
                         const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_isclose");
    OPTIONS(lz_isclose_options, p, LZ_ISCLOSE_DEFAULTS);
    lz_node *x = p ? IN(a) : NULL, *y = x ? IN(b) : NULL;
    return lz_tracer_end(c, y ? isclose(c, x, y, p) : NULL);
}

static lz_node *all_true(lz_tracer *c, lz_node *x)
{
    lz_reduced_dims r;
    return x && lz_tracer_reduction(x, NULL, &r) ? lz_tracer_combine(c, &r, LZ_OP_AND, x) : NULL;
}

lz_tensor *lz_allclose_at(lz_tensor *a, lz_tensor *b, const lz_isclose_options *o,
                          const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_allclose");
    OPTIONS(lz_isclose_options, p, LZ_ISCLOSE_DEFAULTS);
    lz_node *x = p ? IN(a) : NULL, *y = x ? IN(b) : NULL;
    return lz_tracer_end(c, y ? all_true(c, isclose(c, x, y, p)) : NULL);
}

lz_tensor *lz_equal_at(lz_tensor *a, lz_tensor *b, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_equal");
    lz_node *x = IN(a), *y = x ? IN(b) : NULL;
    if (!y)
        return lz_tracer_end(c, NULL);
    if (!lz_shape_eq(lz_tracer_shape(x), lz_tracer_shape(y)))
        return lz_tracer_end(c, lz_tracer_const(c, LZ_BOOL, 0, x));
    return lz_tracer_end(c, lz_tracer_match(c, &x, &y) ? all_true(c, EQ(x, y)) : NULL);
}
