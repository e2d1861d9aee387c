/* math_special.c - CHLO's special functions of f32 as LLVM IR, scalars or vectors, for the full
 * range. They are computed in f64, so results are almost always correctly rounded.
 * Sources: Abramowitz and Stegun 4.6, 6.1, 6.3; the polynomials are Chebyshev fits.
 * Threads: an em belongs to one thread. */
#include "codegen/emit/emit_special.h"
#include <math.h>

#define POLY(x, c) horner(e, x, c, (int)(sizeof c / sizeof *c))

/* of t = 3 / (3 + x): exp(x^2) erfc(x) / t, for x up to 10.4 */
static const double ERFCX[] = {
    1.88062840138078946e-1,  1.88075125173268885e-1,  1.77432663344977436e-1,
    1.58401406776965071e-1,  1.16703550652452097e-1,  1.3805035930628009e-1,
    -8.98982143386580174e-2, 3.74730238917757626e-1,  -6.06209894864159102e-1,
    7.67584509831008568e-1,  -6.95721692063424272e-1, 3.83283446091695121e-1,
    -1.15148434800159546e-1, 1.46540958351761721e-2,
};
/* erf_inv(x) / x: of w = -log(1 - x^2) below 5, and of sqrt(w) up to 4.2 */
static const double INV_MID[] = {
    8.86226925429958507e-1,   2.32013668321952229e-1,   1.15493188159505456e-2,
    -2.3349828964549219e-3,   -1.28359616844579541e-4,  4.71145899006261002e-5,
    1.50458528561115705e-6,   -6.58125691887765747e-7,  -2.03641446345556111e-7,
    7.5541389141917533e-8,    -9.93146056658472684e-9,  6.07861014106098978e-10,
    -1.14312762069225992e-11, -2.79604104843321938e-13,
};
static const double INV_TAIL[] = {
    1.33892869517149719e+1,  -5.5075449795478744e+1,  1.10784179258601105e+2,
    -1.33702254739998591e+2, 1.08583993145444165e+2,  -6.24788949849843714e+1,
    2.62218749145773073e+1,  -8.14184409964455355,    1.87392483846616403,
    -3.16320179429237538e-1, 3.81217105581038371e-2,  -3.11008558457492004e-3,
    1.54108631155771356e-4,  -3.50581442008297214e-6,
};
/* log gamma(2 + v) / (v (v + 1)) for |v| <= 1 */
static const double GAMMA_R[] = {
    4.22784335098467139e-1,  -1.00317301674354209e-1, 3.29650006211559659e-2,
    -1.23841921933364025e-2, 4.99864116468036015e-3,  -2.10813083520551129e-3,
    9.15376922859274743e-4,  -4.05707376718340237e-4, 1.82552628961646087e-4,
    -8.30953205143400953e-5, 3.81689838392897344e-5,  -1.76605494368599631e-5,
    8.22164118468845867e-6,  -3.85162802456863467e-6, 1.81019653745853811e-6,
    -8.41787818556620709e-7, 3.98291986191765263e-7,  -2.11602094152952679e-7,
    1.00900825014163906e-7,  -1.91557989128059159e-8, 8.98075293131932845e-9,
    -2.96893772361782225e-8, 1.43546025381865477e-8,  7.54698210604421572e-9,
    -3.6707781973177215e-9,  -3.04508310461640577e-9, 1.47567844979562575e-9,
};
/* exp(-x) I1(x) / x of x / 4 - 1 up to 8; beyond, sqrt(x) exp(-x) I1(x) of 16 / x - 1 */
static const double I1_SMALL[] = {
    4.46877098756088318e-2,  -6.1124338030776093e-2,  6.80575999098404353e-2,
    -6.84826061082572949e-2, 6.37674036844960602e-2,  -5.52800417579883112e-2,
    4.46745733713305835e-2,  -3.36713252642520559e-2, 2.36860079887411154e-2,
    -1.55715098231274865e-2, 9.584021629800054e-3,    -5.53375749296579309e-3,
    3.00552199461025471e-3,  -1.54096975551329112e-3, 7.45134432329413919e-4,
    -3.37644021132090888e-4, 1.47371410746520159e-4,  -6.52705338771222654e-5,
    2.53790971486611495e-5,  -6.55219262846317597e-6, 2.52229744596040685e-6,
    -2.07918863568570504e-6, 6.60138680227876441e-7,
};
static const double I1_LARGE[] = {
    3.8939845902582601e-1,   -9.74957719312356689e-3, -2.19235759208636196e-4,
    -1.50385582418427101e-5, -1.83499128126239024e-6, -3.48204925074331764e-7,
    -9.94341881843275768e-8, -4.42625130098602297e-8, -2.55599368764825292e-8,
    -4.92245392444230009e-9, 1.17201885421744873e-8,  8.09316003208624366e-9,
    -1.49560413100483655e-9, -1.84762167819910881e-9,
};
/* Bernoulli's numbers over factorials: B2k / (2k)! */
static const double EULER[] = {1.0 / 12,          -1.0 / 720,
                               1.0 / 30240,       -1.0 / 1209600,
                               1.0 / 47900160,    -691.0 / 1307674368000,
                               1.0 / 74724249600, -3617.0 / 10670622842880000};
/* Stirling's series, digamma's: of 1 / x^2 */
static const double STIRLING[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                  1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400};
static const double PSI[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                             1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};

static Val horner(em *e, Val x, const double *c, int n)
{
    Ty t = LLVMTypeOf(x);
    Val p = em_cf(t, c[n - 1]);
    for (int i = n - 2; i >= 0; i--)
        p = em_fma(e, p, x, em_cf(t, c[i]));
    return p;
}

static Val num(Val like, double v)
{
    return em_cf(LLVMTypeOf(like), v);
}

static Val narrow(em *e, Val x)
{
    return LLVMBuildFPTrunc(e->b, x, em_like(e, e->f32, x), "");
}

static Val magnitude(em *e, Val x)
{
    return em_intr1(e, "llvm.fabs", x);
}

static Val with_sign(em *e, Val v, Val sign)
{
    return em_intr2(e, "llvm.copysign", v, sign);
}

static Val inverse(em *e, Val x)
{
    return FDIV(num(x, 1), x);
}

/* ---- exp and log in double ---- */

/* 2^52 + 2^51: added to a small integer, its low bits are that integer. */
#define MAGIC_BITS 0x4338000000000000
#define MAGIC 0x1.8p52

/* Relative error 4e-16 for |x| <= 700; beyond, that of the bound. NaN passes. */
static Val d_exp(em *e, Val x)
{
    static const double c[] = {1,
                               1,
                               1.0 / 2,
                               1.0 / 6,
                               1.0 / 24,
                               1.0 / 120,
                               1.0 / 720,
                               1.0 / 5040,
                               1.0 / 40320,
                               1.0 / 362880,
                               1.0 / 3628800,
                               1.0 / 39916800,
                               1.0 / 479001600};
    Ty it = em_like(e, e->i64, x);
    x = SEL(FCMP(OGT, x, num(x, 700)), num(x, 700), x);
    x = SEL(FCMP(OLT, x, num(x, -700)), num(x, -700), x);
    Val n = em_intr1(e, "llvm.rint", FMUL(x, num(x, 1.44269504088896341)));
    Val r = em_fma(e, n, num(x, -0x1.62e42fee00000p-1), x);
    r = em_fma(e, n, num(x, -0x1.a39ef35793c76p-33), r);
    Val k = SUB(BITS(FADD(n, num(x, MAGIC)), it), em_ci(it, MAGIC_BITS));
    Val scale = BITS(SHL(ADD(k, em_ci(it, 1023)), em_ci(it, 52)), LLVMTypeOf(x));
    return FMUL(POLY(r, c), scale);
}

/* 2 atanh(s) + k ln 2 */
static Val log_of(em *e, Val s, Val k)
{
    static const double c[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
                               1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};
    Val z = FMUL(s, s), p = em_fma(e, FMUL(s, z), POLY(z, c), s);
    p = FADD(p, p);
    return em_fma(e, k, num(s, 0x1.62e42fefa0000p-1),
                  em_fma(e, k, num(s, 0x1.cf79abc9e3b3ap-40), p));
}

/* x = m 2^k with m in [sqrt 1/2, sqrt 2), for a positive normal x: k as a double, and (m - 1) / (m
 * + 1). */
static Val reduce_log(em *e, Val x, Val *k)
{
    Ty t = LLVMTypeOf(x), it = em_like(e, e->i64, x);
    Val bits = BITS(x, it);
    Val ki = ASHR(SUB(bits, em_ci(it, 0x3fe6a09e667f3bcd)), em_ci(it, 52));
    *k = FSUB(BITS(ADD(ki, em_ci(it, MAGIC_BITS)), t), em_cf(t, MAGIC));
    Val m = BITS(SUB(bits, SHL(ki, em_ci(it, 52))), t);
    return FDIV(FSUB(m, em_cf(t, 1)), FADD(m, em_cf(t, 1)));
}

/* What a logarithm of x is, given what it is for positive finite ones. */
static Val log_edges(em *e, Val x, Val v)
{
    v = SEL(FCMP(OGT, x, num(x, 0)), v, num(x, NAN));
    v = SEL(FCMP(OEQ, x, num(x, 0)), num(x, -INFINITY), v);
    return SEL(FCMP(OEQ, x, num(x, INFINITY)), x, v);
}

static Val d_log(em *e, Val x)
{
    Val k, s = reduce_log(e, x, &k);
    return log_edges(e, x, log_of(e, s, k));
}

/* log(1 + z) */
static Val d_log1p(em *e, Val z)
{
    Val y = FADD(z, num(z, 1)), k, s = reduce_log(e, y, &k);
    Val near = FCMP(OLT, magnitude(e, z), num(z, 0.25));
    s = SEL(near, FDIV(z, FADD(z, num(z, 2))), s);
    return log_edges(e, y, log_of(e, s, SEL(near, num(z, 0), k)));
}

/* ---- hyperbolic functions and their inverses ---- */

Val lz_sinh_f32(em *e, Val x)
{
    static const double c[] = {1, 1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880, 1.0 / 39916800};
    Val w = em_widen(e, x), a = magnitude(e, w), ex = d_exp(e, a);
    Val big = FMUL(FSUB(ex, inverse(e, ex)), num(w, 0.5)), small = FMUL(a, POLY(FMUL(a, a), c));
    return narrow(e, with_sign(e, SEL(FCMP(OLT, a, num(w, 1)), small, big), w));
}

Val lz_cosh_f32(em *e, Val x)
{
    Val w = em_widen(e, x), ex = d_exp(e, magnitude(e, w));
    return narrow(e, FMUL(FADD(ex, inverse(e, ex)), num(w, 0.5)));
}

Val lz_asinh_f32(em *e, Val x)
{
    Val w = em_widen(e, x), a = magnitude(e, w), sq = FMUL(a, a), one = num(w, 1);
    Val root = em_intr1(e, "llvm.sqrt", FADD(sq, one));
    Val z = FADD(a, FDIV(sq, FADD(root, one)));
    z = SEL(FCMP(OEQ, a, num(w, INFINITY)), a, z);
    return narrow(e, with_sign(e, d_log1p(e, z), w));
}

Val lz_acosh_f32(em *e, Val x)
{
    Val w = em_widen(e, x), t = FSUB(w, num(w, 1));
    Val z = FADD(t, em_intr1(e, "llvm.sqrt", FMUL(t, FADD(t, num(w, 2)))));
    return narrow(e, SEL(FCMP(OLT, w, num(w, 1)), num(w, NAN), d_log1p(e, z)));
}

Val lz_atanh_f32(em *e, Val x)
{
    Val w = em_widen(e, x), a = magnitude(e, w);
    Val z = FDIV(FADD(a, a), FSUB(num(w, 1), a));
    return narrow(e, with_sign(e, FMUL(d_log1p(e, z), num(w, 0.5)), w));
}

/* ---- inverse circular functions ---- */

/* sqrt((1 - x) (1 + x)): NaN beyond 1 */
static Val rim(em *e, Val x)
{
    Val one = num(x, 1);
    return em_intr1(e, "llvm.sqrt", FMUL(FSUB(one, x), FADD(one, x)));
}

Val lz_asin_f32(em *e, Val x)
{
    return lz_atan2_f32(e, x, rim(e, x));
}

Val lz_acos_f32(em *e, Val x)
{
    return lz_atan2_f32(e, rim(e, x), x);
}

Val lz_atan_f32(em *e, Val x)
{
    return lz_atan2_f32(e, x, num(x, 1));
}

/* ---- error functions ---- */

Val lz_erfc_f32(em *e, Val x)
{
    Val w = em_widen(e, x), a = magnitude(e, w);
    Val t = FDIV(num(w, 3), FADD(a, num(w, 3)));
    Val y = FMUL(FMUL(t, POLY(t, ERFCX)), d_exp(e, FNEG(FMUL(a, a))));
    return narrow(e, SEL(FCMP(OLT, w, num(w, 0)), FSUB(num(w, 2), y), y));
}

Val lz_erf_inv_f32(em *e, Val x)
{
    Val v = em_widen(e, x), one = num(v, 1);
    Val w = FNEG(d_log(e, FMUL(FSUB(one, v), FADD(one, v)))), s = em_intr1(e, "llvm.sqrt", w);
    Val p = SEL(FCMP(OLT, w, num(v, 5)), POLY(w, INV_MID), POLY(s, INV_TAIL));
    Val edge = FCMP(OEQ, magnitude(e, v), one);
    return narrow(e, SEL(edge, with_sign(e, num(v, INFINITY), v), FMUL(v, p)));
}

/* ---- gamma functions ---- */

/* x - n for the nearest integer n, and sin and cos of pi times that */
static void circle(em *e, Val x, Val *sine, Val *cosine)
{
    double s[12], c[12], term = M_PI, even = 1;
    for (int k = 0; k < 12; k++) {
        s[k] = term;
        c[k] = even;
        term *= -M_PI * M_PI / ((2 * k + 2) * (2 * k + 3));
        even *= -M_PI * M_PI / ((2 * k + 1) * (2 * k + 2));
    }
    Val r = FSUB(x, em_intr1(e, "llvm.rint", x)), z = FMUL(r, r);
    *sine = FMUL(r, horner(e, z, s, 12));
    *cosine = horner(e, z, c, 12);
}

/* log gamma(a), a >= 0. Between the roots at 1 and 2 and around them a polynomial that has them;
 * Stirling's series from 8 on; shifted in between. */
static Val positive_lgamma(em *e, Val a)
{
    Val one = num(a, 1), below = FCMP(OLT, a, one), u = SEL(below, FADD(a, one), a);
    Val near = FCMP(OLT, u, num(a, 3)), mid = FCMP(OLT, u, num(a, 8)), product = u;
    for (int k = 1; k < 5; k++)
        product = FMUL(product, FADD(u, num(a, k)));
    Val v = FSUB(u, num(a, 2)), small = FMUL(FMUL(FADD(v, one), v), POLY(v, GAMMA_R));
    Val big = SEL(mid, FADD(u, num(a, 5)), u), inv = inverse(e, big);
    Val large = FMUL(FSUB(big, num(a, 0.5)), d_log(e, big));
    large = FADD(FSUB(large, big), num(a, 0.918938533204672742));
    large = em_fma(e, inv, POLY(FMUL(inv, inv), STIRLING), large);
    Val shift = SEL(near, SEL(below, a, one), SEL(mid, product, one));
    Val y = FSUB(SEL(near, small, large), d_log(e, shift));
    return SEL(FCMP(OEQ, a, num(a, INFINITY)), a, y);
}

Val lz_lgamma_f32(em *e, Val x)
{
    Val w = em_widen(e, x), a = magnitude(e, w), y = positive_lgamma(e, a), s, c;
    circle(e, a, &s, &c);
    Val mirror = FSUB(d_log(e, FDIV(num(w, M_PI), FMUL(a, magnitude(e, s)))), y);
    mirror = SEL(FCMP(OEQ, s, num(w, 0)), num(w, INFINITY), mirror);
    y = SEL(FCMP(OLT, w, num(w, 0)), mirror, y);
    y = FADD(y, num(w, 0)); /* +0 at the roots */
    return narrow(e, SEL(FCMP(OEQ, a, num(w, INFINITY)), a, y));
}

static Val d_digamma(em *e, Val w)
{
    Val one = num(w, 1), zero = num(w, 0), s, c;
    Val neg = FCMP(OLE, w, zero), y = SEL(neg, FSUB(one, w), w), top = zero, bottom = one;
    for (int k = 0; k < 10; k++) { /* 1/y + 1/(y+1) + .. as one fraction */
        Val more = FCMP(OLT, y, num(w, 10));
        top = SEL(more, em_fma(e, top, y, bottom), top);
        bottom = SEL(more, FMUL(bottom, y), bottom);
        y = SEL(more, FADD(y, one), y);
    }
    Val inv = inverse(e, y), z = FMUL(inv, inv);
    Val v = FSUB(d_log(e, y), FMUL(inv, num(w, 0.5)));
    v = FSUB(FSUB(v, FMUL(z, POLY(z, PSI))), FDIV(top, bottom));
    circle(e, w, &s, &c);
    Val mirror = FSUB(v, FDIV(FMUL(num(w, M_PI), c), s));
    mirror = SEL(FCMP(OEQ, s, zero), num(w, NAN), mirror);
    mirror = SEL(FCMP(OEQ, w, zero), FDIV(num(w, -1), w), mirror); /* the pole's sides at +-0 */
    return SEL(neg, mirror, v);
}

Val lz_digamma_f32(em *e, Val x)
{
    return narrow(e, d_digamma(e, em_widen(e, x)));
}

/* ---- zeta and what is made of it ---- */

static Val is_integral(em *e, Val x)
{
    return FCMP(OEQ, em_intr1(e, "llvm.floor", x), x);
}

/* Whether an integral double is odd. */
static Val is_odd(em *e, Val x)
{
    Val half = FMUL(x, num(x, 0.5));
    return FCMP(UNE, em_intr1(e, "llvm.floor", half), half);
}

/* exp(shift) q^-s; q not 0. A negative base has an integral exponent. */
static Val zeta_term(em *e, Val s, Val q, Val shift)
{
    Val v = d_exp(e, FSUB(shift, FMUL(s, d_log(e, magnitude(e, q)))));
    return SEL(AND(FCMP(OLT, q, num(q, 0)), is_odd(e, s)), FNEG(v), v);
}

/* The terms from q on one by one: ten positive ones in every lane, which are all that counts where
 * s is large. *q becomes where they end. */
static Val zeta_head(em *e, Val s, Val *q, Val shift)
{
    Blk pre = LLVMGetInsertBlock(e->b), blk[3];
    for (int i = 0; i < 3; i++)
        blk[i] = LLVMAppendBasicBlockInContext(e->cx, e->f, "");
    Ty t = LLVMTypeOf(s);
    Val zero = em_cf(t, 0), from = SEL(FCMP(OGT, *q, zero), *q, zero);
    Val end = SEL(FCMP(OLT, *q, em_cf(t, 1e12)), FADD(from, em_cf(t, 10)), *q);
    LLVMBuildBr(e->b, blk[0]);
    LLVMPositionBuilderAtEnd(e->b, blk[0]);
    Val sum = LLVMBuildPhi(e->b, t, ""), at = LLVMBuildPhi(e->b, t, "");
    LLVMAddIncoming(sum, &zero, &pre, 1);
    LLVMAddIncoming(at, q, &pre, 1);
    Val more = FCMP(OLT, at, end);
    LLVMBuildCondBr(e->b, em_any(e, more), blk[1], blk[2]);
    LLVMPositionBuilderAtEnd(e->b, blk[1]);
    Val next = SEL(more, FADD(sum, zeta_term(e, s, at, shift)), sum),
        after = SEL(more, FADD(at, em_cf(t, 1)), at);
    Blk latch = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, blk[0]);
    LLVMAddIncoming(sum, &next, &latch, 1);
    LLVMAddIncoming(at, &after, &latch, 1);
    LLVMPositionBuilderAtEnd(e->b, blk[2]);
    *q = at;
    return sum;
}

/* exp(shift) zeta(s, q): single terms, then Euler and Maclaurin's series. Large s make the series
 * overflow where it does not count any more. */
static Val d_zeta(em *e, Val s, Val q0, Val shift)
{
    s = SEL(FCMP(OEQ, s, num(s, INFINITY)), num(s, 1e300), s); /* inf log 1 is NaN */
    Val zero = num(s, 0), one = num(s, 1), q = q0, far = FCMP(OLT, q0, num(s, -10000));
    Val pole = AND(FCMP(OLE, q0, zero), is_integral(e, q0));
    q = SEL(OR(far, pole), num(s, 10), q);
    /* between -q and q the terms of an odd power cancel where q is half a whole number */
    Val halves = AND(is_integral(e, FADD(q, q)), AND(is_integral(e, s), is_odd(e, s)));
    q = SEL(AND(FCMP(OLT, q, zero), halves), FSUB(one, q), q);
    Val sum = zeta_head(e, s, &q, shift), first = zeta_term(e, s, q, shift);
    Val inv = inverse(e, q), z = FMUL(inv, inv), f = FMUL(s, inv), tail = zero;
    for (int k = 0; k < (int)(sizeof EULER / sizeof *EULER); k++) {
        tail = em_fma(e, f, num(s, EULER[k]), tail);
        Val up = FMUL(FADD(s, num(s, 2 * k + 1)), FADD(s, num(s, 2 * k + 2)));
        f = FMUL(f, FMUL(up, z));
    }
    tail = SEL(FCMP(OGT, s, num(s, 200)), zero, tail);
    Val rest = FADD(FADD(FDIV(q, FSUB(s, one)), num(s, 0.5)), tail);
    Val y = FADD(sum, SEL(FCMP(OEQ, first, zero), zero, FMUL(first, rest)));
    Val beyond = OR(far, FCMP(OGT, s, num(s, 100)));
    Val bad = AND(FCMP(OLE, q0, zero), OR(NOT(is_integral(e, s)), beyond));
    y = SEL(bad, num(s, NAN), y);
    y = SEL(pole, num(s, INFINITY), y);
    y = SEL(FCMP(OEQ, q0, num(s, INFINITY)), zero, y);
    y = SEL(FCMP(OEQ, s, one), num(s, INFINITY), y);
    return SEL(OR(FCMP(UNO, s, q0), FCMP(OLT, s, one)), num(s, NAN), y);
}

Val lz_zeta_f32(em *e, Val s, Val q)
{
    Val w = em_widen(e, s);
    return narrow(e, d_zeta(e, w, em_widen(e, q), num(w, 0)));
}

/* (-1)^(n+1) n! zeta(n + 1, x); the factorial is part of every term's exponent, so that it does not
 * overflow by itself. */
Val lz_polygamma_f32(em *e, Val n, Val x)
{
    Val w = em_widen(e, n), v = em_widen(e, x), s = FADD(w, num(w, 1));
    Val y = d_zeta(e, s, v, positive_lgamma(e, magnitude(e, s)));
    y = SEL(is_odd(e, w), y, FNEG(y));
    y = SEL(FCMP(OEQ, w, num(w, 0)), d_digamma(e, v), y);
    Val good = AND(FCMP(OGE, w, num(w, 0)), FCMP(OLT, w, num(w, INFINITY)));
    good = AND(good, is_integral(e, w));
    return narrow(e, SEL(good, y, num(w, NAN)));
}

/* ---- Bessel functions ---- */

Val lz_bessel_i1e_f32(em *e, Val x)
{
    Val w = em_widen(e, x), a = magnitude(e, w), near = FCMP(OLE, a, num(w, 8));
    Val u = SEL(near, em_fma(e, a, num(w, 0.25), num(w, -1)), num(w, 0));
    Val b = SEL(near, num(w, 8), a), t = FSUB(FDIV(num(w, 16), b), num(w, 1));
    Val large = FDIV(POLY(t, I1_LARGE), em_intr1(e, "llvm.sqrt", b));
    return narrow(e, with_sign(e, SEL(near, FMUL(a, POLY(u, I1_SMALL)), large), w));
}
