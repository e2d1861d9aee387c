/* math_f64_special.c - CHLO's special functions of f64 as LLVM IR, for targets that have no libm,
 * by the methods of ir/eval/special.c: series in double-double (math_dd.c) where terms cancel.
 * erf_inv is a minimax polynomial.
 * Sources: Abramowitz and Stegun 6.1, 6.3, 9.6, 9.7, 23.2. Threads: an em belongs to one thread. */
#include "codegen/math/math_f64.h"
#include <float.h>
#include <math.h>

/* erf_inv(x) / x of w = -log(1 - x^2): in w - 3.125 below 6.25; in sqrt(w) - 3.25 below 16; in
 * sqrt(w) - 5.005. The first coefficients are in two parts. */
static const double INV_NEAR[] = {
    1.6536545626831027,      0.2401581824255883,     -0.00603367087142785,
    -0.000740702534154477,   0.00018673420802464837, -1.3882523394405316e-05,
    -1.3654691850603575e-06, 4.234788173782339e-07,  -2.9070382262927266e-08,
    -4.11266082002324e-09,   1.0512181539804126e-09, -5.414287198084716e-11,
    -1.2976885526532075e-11, 2.6304834740560442e-12, -8.118399443074353e-14,
    -4.001237735091896e-14,  6.596407712420834e-15,  -4.0282154327661744e-17,
    -1.3016928016796445e-16, 1.557432024623325e-17,  1.150022252066253e-18,
    -3.4996044354754177e-19, -1.113483769832702e-21, 3.240704459379902e-21};
static const double INV_MID[] = {
    3.0838856104922208,      1.0052589676941652,      0.005370914553555,
    -0.0037512085082129646,  0.0024914420979613473,   -0.0016882755358974366,
    0.0009532893414096963,   -0.0003550378059365349,  2.403151587282171e-05,
    6.828704184072581e-05,   -4.732070992437172e-05,  1.24654656999624e-05,
    2.9327494598870005e-06,  -3.987294601217741e-06,  1.4809717310912044e-06,
    -2.397266269818646e-08,  -2.4405164215404765e-07, 1.2645854486818457e-07,
    -2.296292648388391e-08,  -1.1265651590107561e-08, 9.303061750813343e-09,
    -1.3642746356447974e-09, -5.508714490952429e-10};
static const double INV_FAR[] = {
    4.854957900238093,       1.0102990615820382,      -0.0001419333954448684,
    -0.0002135151233864801,  7.55049267396539e-05,    -1.9546509363872792e-05,
    4.49145641609606e-06,    -9.839237281188172e-07,  2.2604344115846016e-07,
    -6.614272146465545e-08,  2.8198050330837244e-08,  -1.4750505672902373e-08,
    7.587226376177206e-09,   -3.4444975290021946e-09, 1.2979784678932797e-09,
    -3.731679072618062e-10,  6.201034472811282e-11,   1.1245767103961036e-11,
    -1.5717631113719793e-11, 6.675369710329631e-12,   -8.27816860598427e-13,
    -1.6220127918074296e-13};
static const double INV_LOW[3] = {1.0585618167629541e-17, -8.717498657592625e-17,
                                  -3.768421552824668e-17};
/* zeta(k) / k from k = 2, signs alternating: log gamma(1 + v) = -gamma v + .. */
static const double NEAR_ONE[] = {0.8224670334241132,   -0.40068563438653143, 0.27058080842778454,
                                  -0.20738555102867398, 0.1695571769974082,   -0.1440498967688461};
/* (zeta(k) - 1) / k: log gamma(2 + v) = (1 - gamma) v + .. */
static const double NEAR_TWO[] = {0.3224670334241132,    -0.0673523010531981,
                                  0.020580808427784546,  -0.007385551028673986,
                                  0.0028905103307415234, -0.001192753911703261};
/* Bernoulli's numbers B2, B4, ..: numerator and denominator */
enum { TERMS = 14, FROM = 24 };
static const double BERNOULLI[TERMS][2] = {
    {1, 6},       {-1, 30},           {1, 42},       {-1, 30},
    {5, 66},      {-691, 2730},       {7, 6},        {-3617, 510},
    {43867, 798}, {-174611, 330},     {854513, 138}, {-236364091, 2730},
    {8553103, 6}, {-23749461029, 870}};
static const double MINUS_EULER[2] = {-0.5772156649015329, 4.942915152430645e-18};
static const double ONE_LESS_EULER[2] = {0.42278433509846713, 4.942915152430645e-18};
static const double LOG_PI[2] = {1.1447298858494002, 1.0265951162707826e-17};
static const double HALF_LOG_TAU[2] = {0.9189385332046728, -3.8782941580672414e-17};

static Val c(em *e, double v)
{
    return em_cf(e->f64, v);
}

static Val mag(em *e, Val x)
{
    return em_intr1(e, "llvm.fabs", x);
}

static Val is_integral(em *e, Val x)
{
    return FCMP(OEQ, em_intr1(e, "llvm.floor", x), x);
}

static Val is_odd(em *e, Val integral)
{
    Val half = FMUL(integral, c(e, 0.5));
    return NOT(is_integral(e, half));
}

static Val value(em *e, dd a)
{
    return FADD(a.hi, a.lo);
}

static dd single(em *e, Val x)
{
    return (dd){x, c(e, 0)};
}

static dd two(em *e, const double *v)
{
    return dd_const(e, v[0], v[1]);
}

/* x from lo up to hi; NaN is lo */
static Val bounded(em *e, Val x, double lo, double hi)
{
    x = SEL(FCMP(OGT, x, c(e, lo)), x, c(e, lo));
    return SEL(FCMP(OLT, x, c(e, hi)), x, c(e, hi));
}

static Val to_count(em *e, Val x)
{
    return LLVMBuildFPToSI(e->b, em_intr1(e, "llvm.ceil", x), e->i64, "");
}

static Val index_of(em *e, const em_loop *l)
{
    return LLVMBuildSIToFP(e->b, l->i, e->f64, "");
}

static void loop(em *e, em_loop *l, Val times, int n, const Val *init)
{
    em_loop_begin(e, l, em_c64(e, 0), times, em_c64(e, 1), n, init);
}

/* ---- gamma functions ---- */

/* sum over k of B2k / (2k (2k - 1 or 1)) inv^(2k): Stirling's series times inv, digamma's */
static dd asymptotic(em *e, dd inv, bool stirling)
{
    dd z = dd_mul(e, inv, inv), p = dd_const(e, 0, 0);
    for (int k = TERMS; k > 0; k--) {
        const double *b = BERNOULLI[k - 1];
        double by = 2 * k * (stirling ? 2 * k - 1 : 1);
        p = dd_mul(e, dd_add(e, p, dd_ratio(e, b[0], b[1] * by)), z);
    }
    return p;
}

/* Around 1 and 2, where log gamma has its roots: v from there, |v| < 2^-9 */
static dd near_root(em *e, Val v, const double *slope, const double *more)
{
    Val p = m64_poly(e, v, more, sizeof NEAR_ONE / sizeof *NEAR_ONE);
    dd y = dd_mul1(e, two(e, slope), v);
    return m64_fast_sum(e, y.hi, m64_fma(e, FMUL(v, v), p, y.lo));
}

/* log gamma(a) of 2^-100 <= a < 2^1000, as Stirling's series from FROM on, less the logarithm of
 * what was shifted over. */
static dd far_lgamma(em *e, Val a)
{
    em_loop l;
    Val one = c(e, 1), zero = c(e, 0), init[4] = {a, zero, one, zero};
    loop(e, &l, to_count(e, bounded(e, FSUB(c(e, FROM), a), 0, FROM)), 4, init);
    dd at = {l.phi[0], l.phi[1]}, product = {l.phi[2], l.phi[3]};
    product = dd_mul(e, product, at);
    at = dd_add(e, single(e, a), single(e, FADD(index_of(e, &l), one)));
    em_loop_end(e, &l, (Val[]){at.hi, at.lo, product.hi, product.lo});
    at = (dd){l.phi[0], l.phi[1]};
    product = (dd){l.phi[2], l.phi[3]};
    dd inv = dd_div(e, dd_const(e, 1, 0), at), less = dd_add(e, at, dd_const(e, -0.5, 0));
    dd y = dd_add(e, dd_mul(e, less, dd_log(e, at)), dd_neg(e, at));
    y = dd_add(e, y, two(e, HALF_LOG_TAU));
    y = dd_add(e, y, dd_mul(e, at, asymptotic(e, inv, true)));
    return dd_add(e, y, dd_neg(e, dd_log(e, product)));
}

/* log gamma(a), 0 < a < 2^1000 */
static dd positive_lgamma(em *e, Val a)
{
    Val tiny = FCMP(OLT, a, c(e, 0x1p-100)), close = c(e, 0x1p-9), safe = c(e, 3);
    Val v1 = FSUB(a, c(e, 1)), v2 = FSUB(a, c(e, 2));
    Val one = FCMP(OLT, mag(e, v1), close), other = FCMP(OLT, mag(e, v2), close);
    dd y = far_lgamma(e, SEL(tiny, safe, a));
    y = dd_select(e, tiny, dd_neg(e, dd_log(e, single(e, a))), y);
    y = dd_select(e, one, near_root(e, v1, MINUS_EULER, NEAR_ONE), y);
    return dd_select(e, other, near_root(e, v2, ONE_LESS_EULER, NEAR_TWO), y);
}

/* log(pi / |x sin(pi x)|) - log gamma(-x) for x < 0 */
Val m64_lgamma(em *e, const Val *a)
{
    Val x = a[0], m = mag(e, x), inf = c(e, INFINITY), one = c(e, 1), most = c(e, 0x1p1000);
    Val negative = FCMP(OLT, x, c(e, 0)), whole = AND(is_integral(e, x), FCMP(OLE, x, c(e, 0)));
    Val usual = AND(FCMP(OGT, m, c(e, 0)), FCMP(OLT, m, most)), s = SEL(usual, m, one);
    dd y = positive_lgamma(e, s), sine, log = dd_log(e, single(e, s));
    dd_circle(e, s, &sine, NULL);
    Val flat = FCMP(OEQ, sine.hi, c(e, 0)), down = FCMP(OLT, sine.hi, c(e, 0));
    sine = dd_select(e, flat, dd_const(e, 1, 0), dd_select(e, down, dd_neg(e, sine), sine));
    dd mirror = dd_add(e, log, dd_add(e, dd_log(e, sine), y));
    mirror = dd_add(e, two(e, LOG_PI), dd_neg(e, mirror));
    /* where x sin(pi x) is pi x^2 and would underflow */
    mirror = dd_select(e, FCMP(OLT, s, c(e, 0x1p-100)), dd_neg(e, log), mirror);
    Val r = value(e, dd_select(e, negative, mirror, y));
    Val big = FMUL(
        m, FSUB(value(e, dd_log(e, single(e, SEL(usual, one, bounded(e, m, 1, DBL_MAX))))), one));
    r = SEL(FCMP(OGE, m, most), big, r);
    r = SEL(OR(whole, FCMP(OEQ, m, inf)), inf, r);
    return SEL(FCMP(UNO, x, x), x, FADD(r, c(e, 0))); /* +0 at the roots */
}

/* log(y) - 1 / 2y - .. from FROM on, less 1/y + 1/(y + 1) + ..; y > 0, or some number */
static dd positive_digamma(em *e, dd y)
{
    em_loop l;
    Val one = c(e, 1), zero = c(e, 0), init[4] = {y.hi, y.lo, zero, zero};
    loop(e, &l, to_count(e, bounded(e, FSUB(c(e, FROM), y.hi), 0, FROM)), 4, init);
    dd at = {l.phi[0], l.phi[1]}, sum = {l.phi[2], l.phi[3]};
    sum = dd_add(e, sum, dd_div(e, dd_const(e, 1, 0), at));
    at = dd_add(e, y, single(e, FADD(index_of(e, &l), one)));
    em_loop_end(e, &l, (Val[]){at.hi, at.lo, sum.hi, sum.lo});
    at = (dd){l.phi[0], l.phi[1]};
    sum = (dd){l.phi[2], l.phi[3]};
    dd inv = dd_div(e, dd_const(e, 1, 0), at);
    dd v = dd_add(e, dd_log(e, at), dd_times(e, inv, -0.5));
    v = dd_add(e, v, dd_neg(e, asymptotic(e, inv, false)));
    return dd_add(e, v, dd_neg(e, sum));
}

/* psi(1 - x) - pi cos(pi x) / sin(pi x) for x < 0 */
Val m64_digamma(em *e, const Val *a)
{
    Val x = a[0], one = c(e, 1), zero = c(e, 0), most = c(e, 0x1p1000);
    Val negative = FCMP(OLE, x, zero), small = FCMP(OLT, mag(e, x), c(e, 0x1p-1000));
    Val usual = AND(NOT(small), FCMP(OLT, mag(e, x), most)), s = SEL(usual, x, one);
    dd y = dd_select(e, negative, dd_add(e, single(e, one), single(e, FNEG(s))), single(e, s));
    dd v = positive_digamma(e, y), sine, cosine;
    dd_circle(e, s, &sine, &cosine);
    Val flat = FCMP(OEQ, sine.hi, zero);
    sine = dd_select(e, flat, dd_const(e, 1, 0), sine);
    dd mirror = dd_div(e, dd_mul(e, two(e, dd_pi), cosine), sine);
    mirror = dd_add(e, v, dd_neg(e, mirror));
    Val r = value(e, dd_select(e, negative, mirror, v));
    Val big = bounded(e, x, 1, DBL_MAX);
    r = SEL(FCMP(OGE, x, most), value(e, dd_log(e, single(e, big))), r);
    r = SEL(small, FDIV(c(e, -1), x), r);
    r = SEL(AND(FCMP(OLT, x, zero), is_integral(e, x)), c(e, NAN), r); /* not at 0 */
    return SEL(FCMP(UEQ, x, c(e, INFINITY)), x, r);
}

/* ---- zeta and what is made of it ---- */

/* Sum over the terms before *q is a positive number of FROM or more, each divided by base^-s. *q
 * becomes that. */
static dd zeta_head(em *e, Val s, dd *q, dd log_base)
{
    em_loop l;
    Val zero = c(e, 0), from = q->hi, positive = FCMP(OGT, from, zero);
    Val n = SEL(positive, c(e, FROM), FSUB(c(e, FROM), from));
    n = SEL(FCMP(OGT, from, c(e, 1e12)), zero, n);
    Val odd = is_odd(e, s), init[4] = {from, zero, zero, zero};
    loop(e, &l, to_count(e, n), 4, init);
    dd at = {l.phi[0], l.phi[1]}, sum = {l.phi[2], l.phi[3]};
    Val below = FCMP(OLT, at.hi, zero), k;
    dd size = dd_select(e, below, dd_neg(e, at), at);
    dd less = dd_add(e, log_base, dd_neg(e, dd_log(e, size)));
    dd term = dd_exp(e, dd_mul1(e, less, s), &k);
    Val v = dd_scaled(e, (dd){term.hi, zero}, k), w = dd_scaled(e, (dd){term.lo, zero}, k);
    dd t = m64_fast_sum(e, v, w);
    t = dd_select(e, AND(below, odd), dd_neg(e, t), t);
    sum = dd_add(e, sum, t);
    at = dd_add(e, single(e, from), single(e, FADD(index_of(e, &l), c(e, 1))));
    em_loop_end(e, &l, (Val[]){at.hi, at.lo, sum.hi, sum.lo});
    *q = (dd){l.phi[0], l.phi[1]};
    return (dd){l.phi[2], l.phi[3]};
}

/* Euler and Maclaurin's series over its first term: q / (s - 1) + 1/2 + B2 s / 2q + ..; times
 * `scale`, since the first part may have no float */
static dd zeta_rest(em *e, Val s, dd q, Val scale)
{
    Val inv = FDIV(c(e, 1), q.hi), z = FMUL(inv, inv), tail = c(e, 0);
    Val small = SEL(FCMP(OLT, s, c(e, 1000)), s, c(e, 1)), f = FMUL(small, inv);
    for (int k = 1; k <= TERMS; k++) {
        const double *b = BERNOULLI[k - 1];
        double fact = 1;
        for (int i = 2; i <= 2 * k; i++)
            fact *= i;
        tail = m64_fma(e, f, c(e, b[0] / b[1] / fact), tail);
        Val up = FMUL(FADD(small, c(e, 2 * k - 1)), FADD(small, c(e, 2 * k)));
        f = FMUL(f, FMUL(up, z));
    }
    tail = SEL(FCMP(OLT, s, c(e, 1000)), tail, c(e, 0));
    dd less = dd_add(e, single(e, s), dd_const(e, -1, 0));
    q = (dd){FMUL(q.hi, scale), FMUL(q.lo, scale)};
    dd half = dd_mul1(e, dd_add(e, dd_const(e, 0.5, 0), single(e, tail)), scale);
    return dd_add(e, dd_div(e, q, less), half);
}

/* exp(shift) zeta(s, q). All terms are taken relative to the largest, whose size is part of the
 * exponent. */
static Val zeta_shifted(em *e, Val s0, Val q0, dd shift)
{
    Val zero = c(e, 0), one = c(e, 1), inf = c(e, INFINITY), k, huge = c(e, 1e290);
    Val s = SEL(FCMP(OGT, s0, one), SEL(FCMP(OLT, s0, huge), s0, huge), c(e, 2));
    Val whole = is_integral(e, q0), pole = AND(FCMP(OLE, q0, zero), whole);
    Val odd_one = OR(pole, OR(FCMP(OLT, q0, c(e, -10000)), FCMP(UEQ, q0, inf)));
    Val q = SEL(odd_one, one, q0);
    /* between -q and q the terms of an odd power cancel where q is half a whole number */
    Val halves = AND(is_integral(e, FADD(q, q)), AND(is_integral(e, s), is_odd(e, s)));
    q = SEL(AND(FCMP(OLT, q, zero), halves), FSUB(one, q), q);
    Val near = mag(e, FSUB(q, em_intr1(e, "llvm.rint", q)));
    Val base = SEL(FCMP(OGT, q, zero), q, near);
    dd log_base = dd_log(e, single(e, base)), at = single(e, q);
    dd sum = zeta_head(e, s, &at, log_base);
    dd less = dd_add(e, log_base, dd_neg(e, dd_log(e, at)));
    dd first = dd_exp(e, dd_mul1(e, less, s), &k);
    Val hi = dd_scaled(e, (dd){first.hi, zero}, k), lo = dd_scaled(e, (dd){first.lo, zero}, k);
    Val big = FCMP(OGT, q, c(e, 1e200)), scale = SEL(big, c(e, 0x1p-200), one);
    dd rest = dd_mul(e, m64_fast_sum(e, hi, lo), zeta_rest(e, s, at, scale));
    sum = dd_select(e, FCMP(OEQ, hi, zero), sum, dd_add(e, sum, rest));
    dd size = dd_exp(e, dd_add(e, shift, dd_neg(e, dd_mul1(e, log_base, s))), &k);
    k = ADD(k, SEL(big, em_c64(e, 200), em_c64(e, 0)));
    Val y = dd_scaled(e, dd_mul(e, sum, size), k);
    Val over = OR(FCMP(OGT, s, c(e, 100)), FCMP(OLT, q0, c(e, -10000)));
    y = SEL(AND(FCMP(OLE, q0, zero), OR(NOT(is_integral(e, s)), over)), c(e, NAN), y);
    y = SEL(FCMP(OEQ, q0, inf), zero, y);
    y = SEL(OR(pole, FCMP(OEQ, s0, one)), inf, y);
    return SEL(OR(FCMP(UNO, s0, q0), FCMP(OLT, s0, one)), c(e, NAN), y);
}

Val m64_zeta(em *e, const Val *a)
{
    return zeta_shifted(e, a[0], a[1], dd_const(e, 0, 0));
}

/* (-1)^(n+1) n! zeta(n + 1, x); the factorial is part of the exponent. Where n is so large that n!
 * x^-n has no float, only which side of 1 it is on counts: that of n / (e x). */
Val m64_polygamma(em *e, const Val *a)
{
    Val n = a[0], x = a[1], zero = c(e, 0), one = c(e, 1), inf = c(e, INFINITY);
    Val good = AND(AND(FCMP(OGE, n, zero), FCMP(OLT, n, inf)), is_integral(e, n));
    Val most = c(e, 1e280), far = FCMP(OGT, n, most);
    Val order = SEL(good, SEL(far, one, n), one), s = FADD(order, one);
    Val y = zeta_shifted(e, s, x, positive_lgamma(e, s));
    Val above = FCMP(OGT, FMUL(n, c(e, 0x1p-4)), FMUL(x, c(e, 0x1.5bf0a8b145769p-3)));
    Val beyond = SEL(FCMP(OGT, x, zero), SEL(above, inf, zero), c(e, NAN));
    beyond = SEL(AND(FCMP(OLE, x, zero), is_integral(e, x)), inf, beyond);
    y = SEL(far, beyond, y);
    y = SEL(AND(is_odd(e, order), NOT(far)), y, FNEG(y));
    y = SEL(FCMP(OEQ, n, zero), em_libm(e, "lz_digamma", &x, 1), y);
    return SEL(good, y, c(e, NAN));
}

/* ---- the others ---- */

/* c[0] + low + t (c[1] + ..), the last sum in two parts */
static dd fitted(em *e, Val t, const double *k, int n, double low)
{
    Val p = m64_poly(e, t, k + 1, n - 1);
    dd m = m64_product(e, t, p), y = m64_fast_sum(e, c(e, k[0]), m.hi);
    y.lo = FADD(y.lo, FADD(m.lo, c(e, low)));
    return y;
}
#define FITTED(e, t, k, low) fitted(e, t, k, (int)(sizeof(k) / sizeof *(k)), low)

Val m64_erf_inv(em *e, const Val *a)
{
    Val x = a[0], m = mag(e, x), one = c(e, 1), inside = FCMP(OLT, m, one);
    Val s = SEL(inside, x, c(e, 0)), left = m64_fma(e, FNEG(s), s, one);
    Val w = FNEG(em_libm(e, "log", &left, 1)), root = em_intr1(e, "llvm.sqrt", w);
    dd y = FITTED(e, FSUB(w, c(e, 3.125)), INV_NEAR, INV_LOW[0]);
    dd mid = FITTED(e, FSUB(root, c(e, 3.25)), INV_MID, INV_LOW[1]);
    dd far = FITTED(e, FSUB(root, c(e, 5.005)), INV_FAR, INV_LOW[2]);
    y = dd_select(e, FCMP(OLT, w, c(e, 6.25)), y, dd_select(e, FCMP(OLT, w, c(e, 16)), mid, far));
    Val r = m64_fma(e, s, y.hi, FMUL(s, y.lo));
    r = SEL(inside, r, SEL(FCMP(OEQ, m, one), FMUL(x, c(e, INFINITY)), c(e, NAN)));
    return SEL(FCMP(OEQ, x, c(e, 0)), x, r);
}

/* x/2 sum (x^2/4)^k / (k! (k+1)!) up to 40; beyond, (1 - 3 / 8x - ..) / sqrt(2 pi x). Both times
 * exp(-|x|). */
Val m64_bessel_i1e(em *e, const Val *a)
{
    enum { POWERS = 90, INVERSES = 26 };
    static const double norm[2] = {0.3989422804014327, -2.49232720227773e-17}; /* 1 / sqrt(2 pi) */
    em_loop l;
    Val x = a[0], m = mag(e, x), near = FCMP(OLE, m, c(e, 40)), zero = c(e, 0), one = c(e, 1), n;
    Val s = SEL(near, m, one), init[4] = {one, zero, one, zero};
    dd z = dd_times(e, m64_product(e, s, s), 0.25);
    loop(e, &l, em_c64(e, POWERS), 4, init);
    dd t = {l.phi[0], l.phi[1]}, sum = {l.phi[2], l.phi[3]};
    Val k = FADD(index_of(e, &l), one);
    t = dd_div(e, dd_mul(e, t, z), single(e, FMUL(k, FADD(k, one))));
    sum = dd_add(e, sum, t);
    em_loop_end(e, &l, (Val[]){t.hi, t.lo, sum.hi, sum.lo});
    sum = (dd){l.phi[2], l.phi[3]};
    dd scale = dd_exp(e, single(e, FNEG(s)), &n), y = dd_times(e, dd_mul(e, sum, scale), 0.5);
    Val p2 = BITS(SHL(ADD(n, em_c64(e, 1023)), em_c64(e, 52)), e->f64);
    y = (dd){FMUL(y.hi, p2), FMUL(y.lo, p2)};
    Val small = m64_fma(e, s, y.hi, FMUL(s, y.lo));
    Val b = bounded(e, m, 40, DBL_MAX), inv = FDIV(one, b), more = zero;
    for (int i = INVERSES; i > 0; i--) /* f_i (1 + more), f_i = -(4 - (2i - 1)^2) / 8 i x */
        more = FMUL(FMUL(c(e, -(4.0 - (2 * i - 1) * (2 * i - 1)) / (8 * i)), inv), FADD(one, more));
    Val r = em_intr1(e, "llvm.sqrt", b), off = m64_fma(e, FNEG(r), r, b);
    dd root = m64_fast_sum(e, r, FDIV(off, FADD(r, r)));
    dd large = dd_div(e, dd_mul(e, two(e, norm), m64_fast_sum(e, one, more)), root);
    Val v = SEL(near, small, SEL(FCMP(OEQ, m, c(e, INFINITY)), zero, value(e, large)));
    return SEL(FCMP(UNO, x, x), x, em_intr2(e, "llvm.copysign", v, x));
}
