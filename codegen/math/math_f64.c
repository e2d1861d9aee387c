/* math_f64.c - an f64 libm as LLVM IR for targets that have none (GPUs): the table of functions by
 * libm's names, and exp, log, pow and those like them. A function is emitted once per module, and
 * called. Range reduction, then Taylor series or minimax fits. f32 functions (fmodf, sinf of large
 * arguments) go through f64.
 * Threads: an em belongs to one thread. */
#include "codegen/math/math_f64.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double LN2_32 = 0.6931471806019545, LN2_REST = -4.2009150726810846e-11; /* 32 bits */
/* (exp(r) - 1 - r) / r^2 */
static const double EXP[] = {1 / 2.,          1 / 6.,        1 / 24.,        1 / 120.,
                             1 / 720.,        1 / 5040.,     1 / 40320.,     1 / 362880.,
                             1 / 3628800.,    1 / 39916800., 1 / 479001600., 1 / 6227020800.,
                             1 / 87178291200.};
/* log((1 + s) / (1 - s)) = 2 s + s^3 (2/3 + s^2 LOG(s^2)) */
static const double LOG[] = {2 / 5.,  2 / 7.,  2 / 9.,  2 / 11., 2 / 13.,
                             2 / 15., 2 / 17., 2 / 19., 2 / 21., 2 / 23.};
/* erf(x) / x in x^2, below 0.84 */
static const double ERF[] = {
    1.1283791670955126,      -0.37612638903183754,    0.11283791670955126,
    -0.026866170645131252,   0.005223977625442188,    -0.0008548327023450853,
    0.00012055332981789664,  -1.492565035840625e-05,  1.6462114365889248e-06,
    -1.6365844691234924e-07, 1.4807192815879218e-08,  -1.2290555301717928e-09,
    9.422759064650411e-11,   -6.7113668551641105e-12, 4.4632242632864775e-13};
/* exp(x^2) (1 - erf(x)) in (x - 2) / (x + 2), from 0.84 to 6 */
static const double ERFC[] = {
    0.25539567631050575,     -0.4271858474139584,     0.24165819424246635,
    -0.07897858101573285,    0.0037328924043456705,   0.006997461739267052,
    -0.0008471432520358886,  -0.000981977029043329,   4.355563763366563e-05,
    0.0001743612059439411,   2.7524843485518772e-05,  -2.75800627611703e-05,
    -1.3961426655494448e-05, 1.3903650526175126e-06,  3.750506783048689e-06,
    1.2107782284331124e-06,  -4.2312625256903553e-07, -5.559035722378944e-07,
    -9.362655784559138e-08,  1.4123337577600038e-07};

/* ---- arithmetic ---- */

Val m64_fma(em *e, Val a, Val b, Val c)
{
    if (!e->fma)
        return em_call(e, "fma", e->f64, (Val[]){a, b, c}, 3);
    return em_intr(e, "llvm.fma", &e->f64, 1, (Val[]){a, b, c}, 3);
}

Val m64_poly(em *e, Val x, const double *c, int n)
{
    Val p = em_cf(e->f64, c[n - 1]);
    for (int i = n - 2; i >= 0; i--)
        p = m64_fma(e, p, x, em_cf(e->f64, c[i]));
    return p;
}

dd m64_fast_sum(em *e, Val a, Val b)
{
    Val h = FADD(a, b);
    return (dd){h, FADD(FSUB(a, h), b)};
}

dd m64_product(em *e, Val a, Val b)
{
    Val h = FMUL(a, b);
    return (dd){h, m64_fma(e, a, b, FNEG(h))};
}

static Val c(em *e, double v)
{
    return em_cf(e->f64, v);
}

static Val mag(em *e, Val x)
{
    return em_intr1(e, "llvm.fabs", x);
}

static Val bits(em *e, Val x)
{
    return BITS(x, e->i64);
}

/* 2^k for an i64 -1022 <= k <= 1023 */
static Val pow2(em *e, Val k)
{
    return BITS(SHL(ADD(k, em_c64(e, 1023)), em_c64(e, 52)), e->f64);
}

static Val to_i64(em *e, Val integral)
{
    return LLVMBuildFreeze(e->b, LLVMBuildFPToSI(e->b, integral, e->i64, ""), "");
}

/* v 2^k, rounded once, |k| <= 2044 */
static Val scale(em *e, Val v, Val k)
{
    Val half = ASHR(k, em_c64(e, 1));
    return FMUL(FMUL(v, pow2(e, half)), pow2(e, SUB(k, half)));
}

/* ---- exponentials ---- */

/* x = n ln 2 + r, |r| <= ln 2 / 2, for |x| < 1100 */
static Val reduce(em *e, Val x, Val *n)
{
    *n = em_intr1(e, "llvm.rint", FMUL(x, c(e, 1.4426950408889634)));
    return m64_fma(e, *n, c(e, -dd_ln2[1]), m64_fma(e, *n, c(e, -dd_ln2[0]), x));
}

static Val exp_minus_one(em *e, Val r)
{
    return m64_fma(e, FMUL(r, r), M64_POLY(e, r, EXP), r);
}

static Val bounded(em *e, Val x, double lo, double hi)
{
    x = SEL(FCMP(OLT, x, c(e, lo)), c(e, lo), x);
    return SEL(FCMP(OGT, x, c(e, hi)), c(e, hi), x);
}

/* exp(hi + lo) */
Val m64_exp_of(em *e, Val hi, Val lo)
{
    Val n, x = bounded(e, hi, -746, 710), r = reduce(e, x, &n);
    if (lo)
        r = FADD(r, lo);
    return scale(e, FADD(c(e, 1), exp_minus_one(e, r)), to_i64(e, n));
}

Val m64_exp(em *e, const Val *a)
{
    return m64_exp_of(e, a[0], NULL);
}

Val m64_expm1(em *e, const Val *a)
{
    Val n, r = reduce(e, bounded(e, a[0], -50, 710), &n);
    Val half = pow2(e, SUB(to_i64(e, n), em_c64(e, 1))); /* 2^1024 is no float */
    Val y = m64_fma(e, half, exp_minus_one(e, r), FSUB(half, c(e, 0.5)));
    return SEL(FCMP(OLT, mag(e, a[0]), c(e, 0x1p-54)), a[0], FADD(y, y));
}

/* t / (t + 2), t = expm1(2 |x|) */
Val m64_tanh(em *e, const Val *a)
{
    Val x = mag(e, a[0]), two = SEL(FCMP(OGT, x, c(e, 22)), c(e, 44), FADD(x, x));
    Val t = em_libm(e, "expm1", &two, 1);
    Val y = FDIV(t, FADD(t, c(e, 2)));
    y = SEL(FCMP(OLT, x, c(e, 0x1p-28)), x, y);
    return em_intr2(e, "llvm.copysign", y, a[0]);
}

Val m64_erfc_scaled(em *e, Val x)
{
    return M64_POLY(e, FDIV(FSUB(x, c(e, 2)), FADD(x, c(e, 2))), ERFC);
}

Val m64_erf(em *e, const Val *a)
{
    Val x = mag(e, a[0]), z = FMUL(a[0], a[0]);
    Val lo = FMUL(a[0], M64_POLY(e, z, ERF));
    Val b = SEL(FCMP(OGT, x, c(e, 6)), c(e, 6), x);
    Val q = FNEG(FMUL(b, b));
    Val hi = FSUB(c(e, 1), FMUL(em_libm(e, "exp", &q, 1), m64_erfc_scaled(e, b)));
    hi = em_intr2(e, "llvm.copysign", hi, a[0]);
    return SEL(FCMP(OGE, x, c(e, 0.84)), hi, lo);
}

/* ---- logarithms ---- */

/* log(x) of a positive finite number, in two parts: its error is some 2^-64 of it. */
static dd log_of(em *e, Val x)
{
    Val tiny = FCMP(OLT, x, c(e, 0x1p-1022));
    Val u = bits(e, SEL(tiny, FMUL(x, c(e, 0x1p54)), x));
    Val k = ASHR(SUB(u, em_c64(e, 0x3fe6a09e667f3bcd)), em_c64(e, 52)); /* sqrt(1/2) */
    Val m = BITS(SUB(u, SHL(k, em_c64(e, 52))), e->f64);
    Val kf = LLVMBuildSIToFP(e->b, SUB(k, SEL(tiny, em_c64(e, 54), em_c64(e, 0))), e->f64, "");
    Val f = FSUB(m, c(e, 1)), den = FADD(m, c(e, 1)), den_lo = FSUB(m, FSUB(den, c(e, 1)));
    Val s = FDIV(f, den);
    Val left = FSUB(m64_fma(e, FNEG(s), den, f), FMUL(s, den_lo)), s_lo = FDIV(left, den);
    dd z = m64_product(e, s, s);
    z.lo = m64_fma(e, FADD(s, s), s_lo, z.lo);
    dd t = m64_fast_sum(e, c(e, 0.6666666666666666), FMUL(z.hi, M64_POLY(e, z.hi, LOG)));
    t.lo = FADD(t.lo, c(e, 3.700743415417188e-17));
    dd w = m64_product(e, s, z.hi);
    w.lo = FADD(w.lo, m64_fma(e, s, z.lo, FMUL(s_lo, z.hi)));
    dd v = m64_product(e, w.hi, t.hi);
    v.lo = FADD(v.lo, m64_fma(e, w.hi, t.lo, FMUL(w.lo, t.hi)));
    dd h = m64_fast_sum(e, FADD(s, s), v.hi);
    h.lo = FADD(h.lo, FADD(v.lo, FADD(s_lo, s_lo)));
    dd all = m64_fast_sum(e, FMUL(kf, c(e, LN2_32)), h.hi);
    all.lo = FADD(all.lo, m64_fma(e, kf, c(e, LN2_REST), h.lo));
    return m64_fast_sum(e, all.hi, all.lo);
}

/* y where x is positive and finite; what log has for the rest. */
static Val log_edges(em *e, Val x, Val y)
{
    y = SEL(FCMP(OEQ, x, c(e, INFINITY)), x, y);
    y = SEL(FCMP(OEQ, x, c(e, 0)), c(e, -INFINITY), y);
    y = SEL(FCMP(OLT, x, c(e, 0)), c(e, NAN), y);
    return SEL(FCMP(UNO, x, x), x, y);
}

static Val ordinary(em *e, Val x)
{
    return SEL(AND(FCMP(OGT, x, c(e, 0)), FCMP(OLT, x, c(e, INFINITY))), x, c(e, 1));
}

Val m64_log(em *e, const Val *a)
{
    return log_edges(e, a[0], log_of(e, ordinary(e, a[0])).hi);
}

/* log(u) + (x - (u - 1)) / u with u = 1 + x rounded */
Val m64_log1p(em *e, const Val *a)
{
    Val x = a[0], u = FADD(x, c(e, 1)), safe = ordinary(e, u);
    Val lost = SEL(FCMP(OGE, x, c(e, 1)), FSUB(c(e, 1), FSUB(u, x)), FSUB(x, FSUB(u, c(e, 1))));
    dd l = log_of(e, safe);
    Val y = log_edges(e, u, FADD(l.hi, FADD(l.lo, FDIV(lost, safe))));
    return SEL(FCMP(OLT, mag(e, x), c(e, 0x1p-54)), x, y);
}

/* exp(y log |x|), then every rule of IEEE 754 for the rest. */
Val m64_pow(em *e, const Val *a)
{
    Val x = a[0], y = a[1], ax = mag(e, x), ay = mag(e, y), zero = c(e, 0), one = c(e, 1),
        inf = c(e, INFINITY);
    dd l = log_of(e, ordinary(e, ax));
    /* beyond this any |log| but 0 is out of range, or the result is 1 */
    Val y2 = SEL(FCMP(OGT, ay, c(e, 0x1p65)), em_intr2(e, "llvm.copysign", c(e, 0x1p65), y), y);
    dd p = m64_product(e, l.hi, y2);
    p.lo = m64_fma(e, l.lo, y2, p.lo);
    Val far = FCMP(OGT, mag(e, p.hi), c(e, 800));
    Val r = m64_exp_of(e, p.hi, SEL(far, zero, p.lo));
    Val is_zero = FCMP(OEQ, ax, zero), is_inf = FCMP(OEQ, ax, inf), down = FCMP(OLT, y, zero);
    r = SEL(is_zero, SEL(down, inf, zero), r);
    r = SEL(is_inf, SEL(down, zero, inf), r);
    Val whole = FCMP(OEQ, em_intr1(e, "llvm.floor", ay), ay), half = FMUL(ay, c(e, 0.5));
    Val odd = AND(AND(whole, FCMP(ONE, em_intr1(e, "llvm.floor", half), half)),
                  FCMP(OLT, ay, c(e, 0x1p53)));
    Val negative = ICMP(SLT, bits(e, x), em_c64(e, 0));
    r = SEL(AND(negative, odd), FNEG(r), r);
    Val no_root = AND(AND(FCMP(OLT, x, zero), NOT(is_inf)), AND(NOT(whole), FCMP(OLT, ay, inf)));
    r = SEL(no_root, c(e, NAN), r);
    r = SEL(FCMP(UNO, x, y), FADD(x, y), r);
    Val is_one = OR(FCMP(OEQ, x, one), FCMP(OEQ, y, zero));
    return SEL(OR(is_one, AND(FCMP(OEQ, ax, one), FCMP(OEQ, ay, inf))), one, r);
}

/* ---- roots and remainders ---- */

/* A third of the exponent gives 5 bits; each step of Halley's method triples them. */
Val m64_cbrt(em *e, const Val *a)
{
    Val x = mag(e, a[0]), tiny = FCMP(OLT, x, c(e, 0x1p-1022)), huge = FCMP(OGT, x, c(e, 0x1p1000));
    Val s = FMUL(x, SEL(tiny, c(e, 0x1p54), SEL(huge, c(e, 0x1p-54), c(e, 1))));
    Val third = LLVMBuildUDiv(e->b, bits(e, s), em_c64(e, 3), "");
    Val y = BITS(ADD(third, em_c64(e, 0x2a9f7893782da1ce)), e->f64);
    for (int i = 0; i < 2; i++) {
        Val q = FMUL(FMUL(y, y), y);
        y = FMUL(y, FDIV(FADD(q, FADD(s, s)), FADD(FADD(q, q), s)));
    }
    /* the last time as y + y (s - y^3) / (2 y^3 + s), the difference in two parts */
    dd y2 = m64_product(e, y, y), y3 = m64_product(e, y2.hi, y);
    Val diff = FSUB(FSUB(FSUB(s, y3.hi), y3.lo), FMUL(y2.lo, y));
    y = m64_fma(e, y, FDIV(diff, FADD(FADD(y3.hi, y3.hi), s)), y);
    y = FMUL(y, SEL(tiny, c(e, 0x1p-18), SEL(huge, c(e, 0x1p18), c(e, 1))));
    Val plain = OR(FCMP(OEQ, x, c(e, 0)), FCMP(UEQ, x, c(e, INFINITY)));
    return SEL(plain, a[0], em_intr2(e, "llvm.copysign", y, a[0]));
}

Val m64_hypot(em *e, const Val *a)
{
    Val r = em_intr1(e, "llvm.sqrt", m64_fma(e, a[0], a[0], FMUL(a[1], a[1])));
    Val inf = c(e, INFINITY);
    return SEL(OR(FCMP(OEQ, mag(e, a[0]), inf), FCMP(OEQ, mag(e, a[1]), inf)), inf, r);
}

/* u = m 2^(ex - 1075), m with bit 52 set; u not 0. */
static Val mantissa(em *e, Val u, Val *ex)
{
    Val field = LSHR(u, em_c64(e, 52)), sub = ICMP(EQ, field, em_c64(e, 0));
    Val lead = em_intr(e, "llvm.ctlz", &e->i64, 1, (Val[]){u, em_ci(e->i1, 0)}, 2);
    Val up = AND(SUB(lead, em_c64(e, 11)), em_c64(e, 63));
    Val m = OR(AND(u, em_c64(e, (INT64_C(1) << 52) - 1)), em_c64(e, INT64_C(1) << 52));
    *ex = SEL(sub, SUB(em_c64(e, 1), up), field);
    return SEL(sub, SHL(u, up), m);
}

/* In integers, 11 bits of the quotient a step. */
Val m64_fmod(em *e, const Val *a)
{
    Val one = em_c64(e, 1), zero = em_c64(e, 0), sign = em_c64(e, INT64_MIN);
    Val ux = bits(e, mag(e, a[0])), uy = bits(e, mag(e, a[1]));
    Val inf = em_c64(e, INT64_C(0x7ff) << 52);
    Val bad = OR(OR(ICMP(EQ, uy, zero), ICMP(UGT, uy, inf)), ICMP(UGE, ux, inf));
    Val work = AND(NOT(bad), ICMP(UGE, ux, uy));
    Val ex, ey, mx = mantissa(e, SEL(work, ux, one), &ex),
                my = mantissa(e, SEL(work, uy, one), &ey);
    Val n = SUB(ex, ey), first = LLVMBuildURem(e->b, n, em_c64(e, 11), "");
    Val r = LLVMBuildURem(e->b, SHL(mx, first), my, "");
    em_loop l;
    em_loop_begin(e, &l, zero, LLVMBuildUDiv(e->b, n, em_c64(e, 11), ""), one, 1, &r);
    Val next = LLVMBuildURem(e->b, SHL(l.phi[0], em_c64(e, 11)), my, "");
    em_loop_end(e, &l, &next);
    r = l.phi[0];
    Val none = ICMP(EQ, r, zero), rr = SEL(none, one, r);
    Val up =
        SUB(em_intr(e, "llvm.ctlz", &e->i64, 1, (Val[]){rr, em_ci(e->i1, 0)}, 2), em_c64(e, 11));
    Val er = SUB(ey, up), m = SHL(rr, up);
    Val normal = OR(AND(m, em_c64(e, (INT64_C(1) << 52) - 1)), SHL(er, em_c64(e, 52)));
    Val down = AND(SUB(one, er), em_c64(e, 63));
    Val u = SEL(none, zero, SEL(ICMP(SGT, er, zero), normal, LSHR(m, down)));
    u = OR(SEL(work, u, ux), AND(bits(e, a[0]), sign));
    Val nan = FMUL(a[0], a[1]);
    return SEL(bad, FDIV(nan, nan), BITS(u, e->f64));
}

/* ---- by name ---- */

typedef struct function {
    const char *name, *f32_name; /* f32_name: the f32 function that goes through this one */
    unsigned arity;
    Val (*emit)(em *e, const Val *a);
} function;
static const function functions[] = {
    {"exp", NULL, 1, m64_exp},
    {"expm1", NULL, 1, m64_expm1},
    {"log", NULL, 1, m64_log},
    {"log1p", NULL, 1, m64_log1p},
    {"tanh", NULL, 1, m64_tanh},
    {"erf", NULL, 1, m64_erf},
    {"cbrt", NULL, 1, m64_cbrt},
    {"pow", NULL, 2, m64_pow},
    {"hypot", NULL, 2, m64_hypot},
    {"fmod", "fmodf", 2, m64_fmod},
    {"sin", "sinf", 1, m64_sin},
    {"cos", "cosf", 1, m64_cos},
    {"tan", "tanf", 1, m64_tan},
    {"atan2", NULL, 2, m64_atan2},
    {"asin", NULL, 1, m64_asin},
    {"acos", NULL, 1, m64_acos},
    {"atan", NULL, 1, m64_atan},
    {"sinh", NULL, 1, m64_sinh},
    {"cosh", NULL, 1, m64_cosh},
    {"asinh", NULL, 1, m64_asinh},
    {"acosh", NULL, 1, m64_acosh},
    {"atanh", NULL, 1, m64_atanh},
    {"erfc", NULL, 1, m64_erfc},
    {"lz_lgamma", NULL, 1, m64_lgamma},
    {"lz_digamma", NULL, 1, m64_digamma},
    {"lz_polygamma", NULL, 2, m64_polygamma},
    {"lz_zeta", NULL, 2, m64_zeta},
    {"lz_erf_inv", NULL, 1, m64_erf_inv},
    {"lz_bessel_i1e", NULL, 1, m64_bessel_i1e},
};

/* The module's function for a row; made now if there is none. */
static Val defined(em *e, const function *fn)
{
    char name[32];
    snprintf(name, sizeof name, "lz_m_%s", fn->name);
    Val f = LLVMGetNamedFunction(e->m, name);
    if (f)
        return f;
    Val outer = e->f;
    Blk here = LLVMGetInsertBlock(e->b);
    f = em_func(e, name, e->f64, (Ty[]){e->f64, e->f64}, fn->arity, false);
    Val a[2] = {LLVMGetParam(f, 0), fn->arity > 1 ? LLVMGetParam(f, 1) : NULL};
    LLVMBuildRet(e->b, fn->emit(e, a));
    e->f = outer;
    LLVMPositionBuilderAtEnd(e->b, here);
    return f;
}

Val lz_math_f64(em *e, const char *name, const Val *a, unsigned n)
{
    Ty t = LLVMTypeOf(a[0]), args[2] = {e->f64, e->f64};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const function *fn = &functions[i];
        bool f32 = fn->f32_name && strcmp(fn->f32_name, name) == 0;
        if (fn->arity != n || (!f32 && strcmp(fn->name, name) != 0))
            continue;
        Val wide[2];
        for (unsigned k = 0; k < n; k++)
            wide[k] = f32 ? em_widen(e, a[k]) : a[k];
        Val f = defined(e, fn);
        Val y = LLVMBuildCall2(e->b, LLVMFunctionType(e->f64, args, n, 0), f, wide, n, "");
        return f32 ? LLVMBuildFPTrunc(e->b, y, t, "") : y;
    }
    char what[96];
    snprintf(what, sizeof what, "the function %s is not there on this device", name);
    return em_fail(e, t, what);
}
