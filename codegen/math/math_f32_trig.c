/* math_f32_trig.c - f32 sin, cos, tan, atan2 and pow as LLVM IR.
 * Threads: an em belongs to one thread. */
#include "codegen/emit/emit_ew.h"
#include <math.h>

static const double SIN[] = {-1.666665375e-01, 8.332101628e-03, -1.950679725e-04};
static const double COS[] = {4.166664556e-02, -1.388730248e-03, 2.443088124e-05};
static const double ATAN[] = {-3.33329491539e-1, 1.99777106478e-1, -1.38776856032e-1,
                              8.05374449538e-2};
/* log2(m) = t L(t^2), t = (m - 1) / (m + 1) */
static const double LOG2[] = {2.8853900817779268,  0.96179669392597560, 0.57707801635558536,
                              0.41219858311113238, 0.32059889797532520, 0.26230818925253880,
                              0.22195308321368668};
/* 2^f, |f| <= 1/2: ln(2)^k / k! */
static const double EXP2D[] = {1.0,
                               0.69314718055994531,
                               0.24022650695910072,
                               0.055504108664821580,
                               0.0096181291076284772,
                               0.0013333558146428443,
                               0.00015403530393381610,
                               1.5252733804059841e-05,
                               1.3215486790144309e-06,
                               1.0178086009239699e-07,
                               7.0549116208011233e-09};
#define POLY(x, c) em_poly(e, x, c, (int)(sizeof c / sizeof *c))

static Val fabs_of(em *e, Val x)
{
    return em_intr1(e, "llvm.fabs", x);
}

/* sin and cos of the reduced argument of |x| <= 1e5, and the quadrant. */
static Val quadrant(em *e, Val x, Val *sn, Val *cs)
{
    Ty t = LLVMTypeOf(x), it = em_like(e, e->i32, x);
    Val q = em_intr1(e, "llvm.rint", FMUL(x, em_cf(t, 0.636619772f)));
    Val r = em_fma(e, q, em_cf(t, -1.57079637f), x);
    r = em_fma(e, q, em_cf(t, 4.37113883e-8f), r);
    r = em_fma(e, q, em_cf(t, 1.71512489e-15f), r);
    Val s = FMUL(r, r);
    *sn = em_fma(e, FMUL(r, s), POLY(s, SIN), r);
    *cs = em_fma(e, FMUL(s, s), POLY(s, COS), em_fma(e, s, em_cf(t, -0.5), em_cf(t, 1)));
    return LLVMBuildFreeze(e->b, LLVMBuildFPToSI(e->b, q, it, ""), "");
}

/* Beyond 1e5 the three-part pi/2 is not enough; such arguments are rare and take the C library's
 * exact reduction. */
static Val or_library(em *e, Val x, Val y, const char *name)
{
    Val large = FCMP(OGT, fabs_of(e, x), em_cf(LLVMTypeOf(x), 1e5));
    em_if s;
    em_if_begin(e, &s, em_any(e, large));
    Val z = SEL(large, em_libm(e, name, &x, 1), y), out;
    em_if_end(e, &s, 1, &z, &y, &out);
    return out;
}

static Val sine(em *e, Val x, int shift, const char *name)
{
    Val sn, cs, i = quadrant(e, x, &sn, &cs);
    Ty it = LLVMTypeOf(i);
    i = ADD(i, em_ci(it, shift));
    Val y = SEL(ICMP(EQ, AND(i, em_ci(it, 1)), em_ci(it, 0)), sn, cs);
    Val sign = SHL(AND(i, em_ci(it, 2)), em_ci(it, 30));
    y = BITS(XOR(BITS(y, it), sign), LLVMTypeOf(x));
    return or_library(e, x, y, name);
}

/* 1.6 ulp */
Val lz_sin_f32(em *e, Val x)
{
    Val y = sine(e, x, 0, "sinf");
    return SEL(FCMP(OEQ, x, em_cf(LLVMTypeOf(x), 0)), x, y);
}

Val lz_cos_f32(em *e, Val x)
{
    return sine(e, x, 1, "cosf");
}

Val lz_tan_f32(em *e, Val x)
{
    Ty t = LLVMTypeOf(x);
    Val sn, cs, i = quadrant(e, x, &sn, &cs);
    Ty it = LLVMTypeOf(i);
    Val even = ICMP(EQ, AND(i, em_ci(it, 1)), em_ci(it, 0));
    Val y = FDIV(SEL(even, sn, FNEG(cs)), SEL(even, cs, sn));
    y = or_library(e, x, y, "tanf");
    return SEL(FCMP(OLT, fabs_of(e, x), em_cf(t, 0x1p-13)), x, y);
}

/* atan(small / large) in [0, pi/4] from two halves of the range, then the octant. */
Val lz_atan2_f32(em *e, Val y, Val x)
{
    Ty t = LLVMTypeOf(x);
    Val ax = fabs_of(e, x), ay = fabs_of(e, y), swap = FCMP(OGT, ay, ax);
    Val hi = SEL(swap, ay, ax), lo = SEL(swap, ax, ay);
    Val down = SEL(FCMP(OGT, hi, em_cf(t, 0x1p100)), em_cf(t, 0x1p-26),
                   em_cf(t, 1)); /* hi + lo must not overflow, */
    Val up = SEL(FCMP(OLT, hi, em_cf(t, 0x1p-100)), em_cf(t, 0x1p26),
                 down); /* nor small ones lose bits */
    Val both_inf = AND(FCMP(OEQ, ax, em_cf(t, INFINITY)), FCMP(OEQ, ay, em_cf(t, INFINITY)));
    hi = FMUL(SEL(both_inf, em_cf(t, 1), hi), up);
    lo = FMUL(SEL(both_inf, em_cf(t, 1), lo), up);
    Val wide = FCMP(OGT, lo, FMUL(hi, em_cf(t, 0.414213562)));
    Val num = SEL(wide, FSUB(lo, hi), lo), den = SEL(wide, FADD(lo, hi), hi);
    Val zero = em_cf(t, 0), q = SEL(FCMP(OEQ, lo, zero), lo, FDIV(num, den)), s = FMUL(q, q);
    Val r = em_fma(e, FMUL(q, s), POLY(s, ATAN), q);
    r = FADD(r, SEL(wide, em_cf(t, M_PI_4), zero));
    r = SEL(swap, FSUB(em_cf(t, M_PI_2), r), r);
    Ty it = em_like(e, e->i32, x);
    Val left = ICMP(SLT, BITS(x, it), em_ci(it, 0)); /* -0 too */
    r = SEL(left, FSUB(em_cf(t, M_PI), r), r);
    r = em_intr2(e, "llvm.copysign", r, y);
    return SEL(FCMP(UNO, x, y), FADD(x, y), r);
}

/* log2 of a positive finite f64 (from a float: never subnormal). */
static Val log2_f64(em *e, Val x)
{
    Ty t = LLVMTypeOf(x), it = em_like(e, e->i64, x);
    Val u = BITS(x, it), d = SUB(u, em_ci(it, 0x3fe6a09e667f3bcd)); /* sqrt(1/2) */
    Val k = ASHR(d, em_ci(it, 52)), m = BITS(SUB(u, SHL(k, em_ci(it, 52))), t);
    Val r = FDIV(FSUB(m, em_cf(t, 1)), FADD(m, em_cf(t, 1)));
    Ty i32 = em_like(e, e->i32, x);
    Val kf = LLVMBuildSIToFP(e->b, LLVMBuildTrunc(e->b, k, i32, ""), t, "");
    return em_fma(e, r, POLY(FMUL(r, r), LOG2), kf);
}

/* 2^x as f32, x anything but NaN. */
static Val exp2_to_f32(em *e, Val x, Ty f32)
{
    Ty t = LLVMTypeOf(x), it = em_like(e, e->i64, x), i32 = em_like(e, e->i32, x);
    x = SEL(FCMP(OGT, x, em_cf(t, 160)), em_cf(t, 160), x);
    x = SEL(FCMP(OLT, x, em_cf(t, -200)), em_cf(t, -200), x);
    Val n = em_intr1(e, "llvm.rint", x), p = POLY(FSUB(x, n), EXP2D);
    Val k = LLVMBuildFreeze(e->b, LLVMBuildFPToSI(e->b, n, i32, ""), "");
    Val s = BITS(SHL(ADD(LLVMBuildSExt(e->b, k, it, ""), em_ci(it, 1023)), em_ci(it, 52)), t);
    return LLVMBuildFPTrunc(e->b, FMUL(p, s), f32, "");
}

/* In double: 2^(y log2 |x|) with every rule of IEEE 754 for the rest. Below 1 ulp. */
Val lz_pow_f32(em *e, Val x, Val y)
{
    Ty t = LLVMTypeOf(x), d = em_like(e, e->f64, x), it = em_like(e, e->i32, x);
    Val zero = em_cf(t, 0), one = em_cf(t, 1), inf = em_cf(t, INFINITY);
    Val ax = fabs_of(e, x), ay = fabs_of(e, y);
    Val normal = AND(FCMP(OGT, ax, zero), FCMP(OLT, ax, inf));
    Val lg = log2_f64(e, em_widen(e, SEL(normal, ax, one)));
    /* 0 and infinity as very small and very large numbers; then y = 0 alone must not meet them */
    Val w = em_cf(d, 1e6);
    Val dnormal = SEL(normal, lg, SEL(FCMP(OEQ, ax, zero), FNEG(w), w));
    Val yd =
        em_widen(e, SEL(FCMP(OLT, ay, inf), y, em_intr2(e, "llvm.copysign", em_cf(t, 0x1p100), y)));
    Val p = FMUL(dnormal, yd);
    p = SEL(FCMP(UNO, p, p), em_cf(d, 0), p);
    Val r = exp2_to_f32(e, p, t);
    /* 0 ^ y and inf ^ y for tiny y, which 1e6 does not bring out of range */
    Val to_zero = ICMP(NE, LLVMBuildZExt(e->b, FCMP(OEQ, ax, zero), it, ""),
                       LLVMBuildZExt(e->b, FCMP(OLT, y, zero), it, ""));
    r = SEL(AND(NOT(normal), FCMP(ONE, y, zero)), SEL(to_zero, zero, inf), r);
    /* negative base: odd exponents keep the sign, fractions are NaN */
    Val whole = FCMP(OEQ, em_intr1(e, "llvm.floor", ay), ay), half = FMUL(ay, em_cf(t, 0.5));
    Val odd = AND(AND(whole, FCMP(ONE, em_intr1(e, "llvm.floor", half), half)),
                  FCMP(OLT, ay, em_cf(t, 0x1p24)));
    Val neg = ICMP(SLT, BITS(x, it), em_ci(it, 0));
    r = SEL(AND(neg, odd), FNEG(r), r);
    Val bad = AND(AND(FCMP(OLT, x, zero), FCMP(ONE, ax, inf)), AND(NOT(whole), FCMP(OLT, ay, inf)));
    r = SEL(bad, em_cf(t, NAN), r);
    r = SEL(FCMP(UNO, x, y), FADD(x, y), r);
    Val is_one = OR(FCMP(OEQ, x, one), FCMP(OEQ, y, zero));
    return SEL(OR(is_one, AND(FCMP(OEQ, x, em_cf(t, -1)), FCMP(OEQ, ay, inf))), one, r);
}
