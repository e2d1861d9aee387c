/* math_f32.c - f32 elementary functions as LLVM IR, scalars or vectors: range reduction and minimax
 * polynomials, for the full range with subnormals, infinities and NaN.
 * Coefficients: Lawson-weighted minimax fits, rounded to f32 one after the other; atan: Cephes
 * (S. Moshier).
 * The errors in the comments are the largest over all 2^32 arguments; ops.def has the bounds, which
 * test/unit/codegen/t_emit.c checks.
 * Threads: an em belongs to one thread. */
#include "codegen/emit/emit_ew.h"
#include <math.h>

static const double EXP6[] = {5.000000000e-01, 1.666651964e-01, 4.166639224e-02, 8.368832059e-03,
                              1.394153573e-03};
static const double EXP2_5[] = {1.000000119e+00, 6.931472421e-01, 2.402191609e-01,
                                5.550085753e-02, 9.685306810e-03, 1.352068153e-03};
static const double EM1[] = {5.000000000e-01, 1.666654348e-01, 4.166642204e-02, 8.366555907e-03,
                             1.393894549e-03};
static const double LOG7[] = {3.333344758e-01, -2.500019372e-01, 1.999111325e-01, -1.664377749e-01,
                              1.446747184e-01, -1.318636388e-01, 1.058296412e-01, -4.617497697e-02};
static const double ERFS[] = {1.283791661e-01, -3.761262894e-01, 1.128362268e-01, -2.685540542e-02,
                              5.191225559e-03, -8.032448823e-04, 7.907654799e-05};
static const double ERFL[] = {-1.838606113e-04, 1.629170656e+00,  9.146115780e-01,
                              1.550446600e-01,  -3.529195115e-02, 5.536699202e-03,
                              -4.775407142e-04, 4.531779723e-06,  1.923755690e-06};
#define POLY(x, c) em_poly(e, x, c, (int)(sizeof c / sizeof *c))
#define EVEN_ODD(x, c) estrin(e, x, c, (int)(sizeof c / sizeof *c))

/* Even and odd coefficients apart: half as long a chain. */
static Val estrin(em *e, Val x, const double *c, int n)
{
    Ty t = LLVMTypeOf(x);
    Val s = FMUL(x, x), half[2];
    for (int par = 0; par < 2; par++) {
        int top = (n - 1) % 2 == par ? n - 1 : n - 2;
        half[par] = em_cf(t, c[top]);
        for (int i = top - 2; i >= par; i -= 2)
            half[par] = em_fma(e, half[par], s, em_cf(t, c[i]));
    }
    return em_fma(e, half[1], x, half[0]);
}

static Val fabs_of(em *e, Val x)
{
    return em_intr1(e, "llvm.fabs", x);
}

static Val with_sign(em *e, Val magnitude, Val sign)
{
    return em_intr2(e, "llvm.copysign", magnitude, sign);
}

/* Bounded from one side; NaN passes. */
static Val at_least(em *e, Val x, double lo)
{
    Val c = em_cf(LLVMTypeOf(x), lo);
    return SEL(FCMP(OLT, x, c), c, x);
}

static Val at_most(em *e, Val x, double hi)
{
    Val c = em_cf(LLVMTypeOf(x), hi);
    return SEL(FCMP(OGT, x, c), c, x);
}

/* A float holding a small integer, as i32 (NaN gives anything). */
static Val to_i32(em *e, Val n)
{
    return LLVMBuildFreeze(e->b, LLVMBuildFPToSI(e->b, n, em_like(e, e->i32, n), ""), "");
}

/* The integer nearest to x y, |x y| < 2^22, and 2^(that + bias) where that is a normal number. No
 * conversion is needed: a sum with 3 2^22 has no bits for fractions, and the integer in its lowest
 * ones. */
static Val nearest(em *e, Val x, double y, int bias, Val *power)
{
    enum { BIG = 3 << 22 };
    Ty t = LLVMTypeOf(x), it = em_like(e, e->i32, x);
    Val big = em_cf(t, BIG), sum = y == 1 ? FADD(x, big) : em_fma(e, x, em_cf(t, y), big);
    *power = BITS(ADD(SHL(BITS(sum, it), em_ci(it, 23)), em_ci(it, (127 + bias) << 23)), t);
    return FSUB(sum, big);
}

/* v * 2^n where `some`, else 0. */
static Val scale_avx512(em *e, Val v, Val n, Val some)
{
    Val a[5] = {v, n, LLVMConstNull(LLVMTypeOf(v)), BITS(some, e->i16), em_c32(e, 4)};
    return em_intr(e, "llvm.x86.avx512.mask.scalef.ps.512", NULL, 0, a, 5);
}

/* v * 2^n, rounded once, for integral -252 <= n <= 254 where one of the two steps stays normal. */
static Val scale(em *e, Val v, Val n)
{
    Ty t = LLVMTypeOf(v);
    Val k = to_i32(e, n);
    Ty it = LLVMTypeOf(k);
    Val k1 = ASHR(k, em_ci(it, 1)), k2 = SUB(k, k1);
    Val s1 = BITS(SHL(ADD(k1, em_ci(it, 127)), em_ci(it, 23)), t),
        s2 = BITS(SHL(ADD(k2, em_ci(it, 127)), em_ci(it, 23)), t);
    return FMUL(FMUL(v, s1), s2);
}

/* x - n ln 2 */
static Val less_ln2(em *e, Val x, Val n)
{
    Ty t = LLVMTypeOf(x);
    Val r = em_fma(e, n, em_cf(t, -0.693145752f), x);
    return em_fma(e, n, em_cf(t, -1.42860677e-6f), r);
}

/* x = n ln 2 + r, |r| <= ln 2 / 2 */
static Val reduce_ln2(em *e, Val x, Val *n)
{
    *n = em_intr1(e, "llvm.rint", FMUL(x, em_cf(LLVMTypeOf(x), 1.44269504f)));
    return less_ln2(e, x, *n);
}

/* The same, with 2^(n + bias) for n. */
static Val reduce_to_power(em *e, Val x, int bias, Val *power)
{
    return less_ln2(e, x, nearest(e, x, 1.44269504f, bias, power));
}

/* 2^(x log2 e), by an instruction or an emulator's call: off by 2 ulp and |x| half ones. Results
 * below 2^-126 may be 0. */
static Val exp_quick(em *e, Val x)
{
    Val y = FMUL(x, em_cf(LLVMTypeOf(x), 1.44269504f));
    return e->nvptx ? em_intr(e, "llvm.nvvm.ex2.approx.ftz.f", NULL, 0, &y, 1)
                    : em_call(e, "lz_simt_exp2", e->f32, &y, 1);
}

/* 1.02 ulp */
Val lz_exp_f32(em *e, Val x)
{
    if (e->quick && e->simt && em_lanes(x) == 1)
        return exp_quick(e, x);
    /* What becomes 0 is not made by underflow: some processors take 150 cycles for that, and all
     * that a mask hides is such. */
    Ty t = LLVMTypeOf(x);
    bool masks = e->avx512 && em_lanes(x) == 16;
    Val n, none = FCMP(OLT, x, em_cf(t, -104)), zero = em_cf(t, 0);
    Val r = reduce_ln2(e, at_most(e, masks ? x : SEL(none, zero, x), 89), &n);
    Val p = FADD(em_fma(e, FMUL(r, r), POLY(r, EXP6), r), em_cf(t, 1));
    return masks ? scale_avx512(e, p, n, NOT(none)) : SEL(none, zero, scale(e, p, n));
}

/* expm1(r) for the reduced argument */
static Val expm1_reduced(em *e, Val r)
{
    return em_fma(e, FMUL(r, r), POLY(r, EM1), r);
}

Val lz_expm1_f32(em *e, Val x)
{
    Ty t = LLVMTypeOf(x);
    Val s; /* half the scale: 2^128 is no float */
    Val r = reduce_to_power(e, at_most(e, at_least(e, x, -30), 89), -1, &s);
    Val p = expm1_reduced(e, r);
    Val y = em_fma(e, s, p, FSUB(s, em_cf(t, 0.5)));
    y = FADD(y, y);
    return SEL(FCMP(OLT, fabs_of(e, x), em_cf(t, 0x1p-24)), x, y);
}

/* x = m 2^e with m in [0.75, 1.5); x positive and finite, subnormal or not. */
static void split(em *e, Val x, Val *m, Val *ex)
{
    Ty t = LLVMTypeOf(x), it = em_like(e, e->i32, x);
    Val tiny = FCMP(OLT, x, em_cf(t, 0x1p-126));
    Val u = BITS(SEL(tiny, FMUL(x, em_cf(t, 0x1p24)), x), it);
    Val d = SUB(u, em_ci(it, 0x3f400000));
    Val k = ASHR(d, em_ci(it, 23));
    *m = BITS(SUB(u, SHL(k, em_ci(it, 23))), t);
    k = SUB(k, SEL(tiny, em_ci(it, 24), em_ci(it, 0)));
    *ex = LLVMBuildSIToFP(e->b, k, t, "");
}

static void split_avx512(em *e, Val x, Val *m, Val *ex)
{
    Ty t = LLVMTypeOf(x);
    Val all = em_ci(e->i16, -1), z = em_cf(t, 0);
    Val g[5] = {x, em_c32(e, 3 | 2 << 2), z, all,
                em_c32(e, 4)}; /* mantissa in [0.75, 1.5), NaN for negative numbers */
    *m = em_intr(e, "llvm.x86.avx512.mask.getmant.ps.512", NULL, 0, g, 5);
    Val h[4] = {x, z, all, em_c32(e, 4)};
    Val k = em_intr(e, "llvm.x86.avx512.mask.getexp.ps.512", NULL, 0, h, 4);
    *ex = SEL(FCMP(OLT, *m, em_cf(t, 1)), FADD(k, em_cf(t, 1)), k);
}

/* log(m 2^ex) */
static Val log_of_parts(em *e, Val m, Val ex)
{
    Ty t = LLVMTypeOf(m);
    Val f = FSUB(m, em_cf(t, 1)), s = FMUL(f, f);
    Val r = em_fma(e, FMUL(f, s), EVEN_ODD(f, LOG7), FMUL(ex, em_cf(t, 1.42860677e-6f)));
    r = em_fma(e, s, em_cf(t, -0.5), r);
    return em_fma(e, ex, em_cf(t, 0.693145752f), FADD(f, r));
}

/* 0.88 ulp */
Val lz_log_f32(em *e, Val x)
{
    Ty t = LLVMTypeOf(x);
    Val m, ex;
    if (e->avx512 &&
        em_lanes(x) == 16) { /* right for 0, infinity and NaN by itself, except inf - inf */
        split_avx512(e, x, &m, &ex);
        Val y = log_of_parts(e, m, ex);
        Val zero = FCMP(OEQ, x, em_cf(t, 0)), inf = FCMP(OEQ, x, em_cf(t, INFINITY));
        return SEL(inf, x, SEL(zero, em_cf(t, -INFINITY), y));
    }
    split(e, x, &m, &ex);
    Val y = log_of_parts(e, m, ex);
    y = SEL(FCMP(OGT, x, em_cf(t, 0)), y,
            SEL(FCMP(OEQ, x, em_cf(t, 0)), em_cf(t, -INFINITY), em_cf(t, NAN)));
    return SEL(FCMP(ULT, x, em_cf(t, INFINITY)), SEL(FCMP(UNO, x, x), x, y), x);
}

/* log(1 + x) = log(u) + (x - (u - 1)) / u with u = 1 + x rounded: the second term is the rounding
 * error's share. */
Val lz_log1p_f32(em *e, Val x)
{
    Ty t = LLVMTypeOf(x);
    Val u = FADD(x, em_cf(t, 1)), c = FSUB(x, FSUB(u, em_cf(t, 1)));
    Val y = FADD(lz_log_f32(e, u), FDIV(c, u));
    y = SEL(FCMP(OEQ, x, em_cf(t, -1)), em_cf(t, -INFINITY), y);
    Val keep = OR(FCMP(OEQ, x, em_cf(t, INFINITY)), FCMP(OLT, fabs_of(e, x), em_cf(t, 0x1p-25)));
    return SEL(keep, x, y);
}

/* By exp of a negative number always, so that small results keep their digits. */
Val lz_logistic_f32(em *e, Val x)
{
    Ty t = LLVMTypeOf(x);
    Val z = lz_exp_f32(e, FNEG(fabs_of(e, x))), one = em_cf(t, 1);
    return em_fdiv(e, SEL(FCMP(OLT, x, em_cf(t, 0)), z, one), FADD(z, one));
}

/* em / (em + 2), em = expm1(2 |x|): 2.5 ulp, 2 below 2^-13 */
Val lz_tanh_f32(em *e, Val x)
{
    Ty t = LLVMTypeOf(x);
    Val s, a = fabs_of(e, x), r = reduce_to_power(e, at_most(e, FADD(a, a), 20), 0, &s);
    Val p = expm1_reduced(e, r);
    Val m = em_fma(e, s, p, FSUB(s, em_cf(t, 1)));
    return with_sign(e, em_fdiv(e, m, FADD(m, em_cf(t, 2))), x);
}

/* x + x P(x^2) below 0.85, 1 - 2^(-Q(x)) above: 1.55 ulp */
Val lz_erf_f32(em *e, Val x)
{
    Ty t = LLVMTypeOf(x);
    Val a = at_most(e, fabs_of(e, x), 3.95);
    Val lo = em_fma(e, x, EVEN_ODD(FMUL(x, x), ERFS), x);
    Val q = FNEG(EVEN_ODD(a, ERFL)), power, f = FSUB(q, nearest(e, q, 1, 0, &power));
    Val hi = FSUB(em_cf(t, 1), FMUL(POLY(f, EXP2_5), power));
    return SEL(FCMP(OGE, a, em_cf(t, 0.85)), with_sign(e, hi, x), lo);
}

/* A third of the exponent gives 5 bits; two steps of Halley's method triple them twice. */
Val lz_cbrt_f32(em *e, Val x)
{
    Ty t = LLVMTypeOf(x), it = em_like(e, e->i32, x);
    Val a = fabs_of(e, x), tiny = FCMP(OLT, a, em_cf(t, 0x1p-126)),
        huge = FCMP(OGT, a, em_cf(t, 0x1p120));
    a = FMUL(a, SEL(tiny, em_cf(t, 0x1p24), SEL(huge, em_cf(t, 0x1p-24), em_cf(t, 1))));
    Val bits = LLVMBuildSIToFP(e->b, BITS(a, it), t, "");
    Val third = LLVMBuildFPToSI(e->b, FMUL(bits, em_cf(t, 1.0 / 3)), it, "");
    Val y = BITS(ADD(third, em_ci(it, 0x2a5137a0)), t);
    Val c = FMUL(FMUL(y, y), y);
    y = FMUL(y, FDIV(FADD(c, FADD(a, a)), FADD(FADD(c, c), a)));
    /* the second time as y + y (a - y^3) / (2 y^3 + a): the correction is small, so its rounding
     * is, too */
    Val y2 = FMUL(y, y), d = em_fma(e, FNEG(y2), y, a);
    c = FMUL(y2, y);
    y = em_fma(e, y, FDIV(d, FADD(FADD(c, c), a)), y);
    y = FMUL(y, SEL(tiny, em_cf(t, 0x1p-8), SEL(huge, em_cf(t, 0x1p8), em_cf(t, 1))));
    Val plain = OR(FCMP(OEQ, x, em_cf(t, 0)), FCMP(UEQ, fabs_of(e, x), em_cf(t, INFINITY)));
    return SEL(plain, x, with_sign(e, y, x));
}
