/* math_dd.c - double-double arithmetic (two f64, some 104 bits) as LLVM IR: exp, log, sin and cos
 * of pi x. For functions that suffer from cancellation. Sources: Dekker 1971 and Knuth 4.2.2 for
 * the sums; Taylor series on reduced ranges. Arguments are finite: callers select results for
 * infinity and NaN.
 * Threads: an em belongs to one thread. */
#include "codegen/math/math_f64.h"
#include <math.h>

const double dd_ln2[2] = {0.6931471805599453, 2.3190468138462996e-17};
const double dd_pi[2] = {3.141592653589793, 1.2246467991473532e-16};

static Val c(em *e, double v)
{
    return em_cf(e->f64, v);
}

dd dd_const(em *e, double hi, double lo)
{
    return (dd){c(e, hi), c(e, lo)};
}

dd dd_ratio(em *e, double num, double den)
{
    double q = num / den;
    return dd_const(e, q, -fma(q, den, -num) / den);
}

dd dd_select(em *e, Val which, dd a, dd b)
{
    return (dd){SEL(which, a.hi, b.hi), SEL(which, a.lo, b.lo)};
}

/* ---- arithmetic ---- */

dd dd_sum(em *e, Val a, Val b)
{
    Val h = FADD(a, b), t = FSUB(h, a);
    return (dd){h, FADD(FSUB(a, FSUB(h, t)), FSUB(b, t))};
}

dd dd_neg(em *e, dd a)
{
    return (dd){FNEG(a.hi), FNEG(a.lo)};
}

dd dd_add(em *e, dd a, dd b)
{
    dd s = dd_sum(e, a.hi, b.hi), t = dd_sum(e, a.lo, b.lo);
    s = m64_fast_sum(e, s.hi, FADD(s.lo, t.hi));
    return m64_fast_sum(e, s.hi, FADD(s.lo, t.lo));
}

dd dd_mul(em *e, dd a, dd b)
{
    dd p = m64_product(e, a.hi, b.hi);
    p.lo = FADD(p.lo, m64_fma(e, a.hi, b.lo, FMUL(a.lo, b.hi)));
    return m64_fast_sum(e, p.hi, p.lo);
}

dd dd_mul1(em *e, dd a, Val b)
{
    dd p = m64_product(e, a.hi, b);
    return m64_fast_sum(e, p.hi, m64_fma(e, a.lo, b, p.lo));
}

dd dd_div(em *e, dd a, dd b)
{
    Val q = FDIV(a.hi, b.hi);
    dd left = dd_add(e, a, dd_neg(e, dd_mul1(e, b, q)));
    return m64_fast_sum(e, q, FDIV(left.hi, b.hi));
}

dd dd_times(em *e, dd a, double power_of_two)
{
    Val f = c(e, power_of_two);
    return (dd){FMUL(a.hi, f), FMUL(a.lo, f)};
}

static dd plus(em *e, double x, dd a)
{
    return dd_add(e, dd_const(e, x, 0), a);
}

/* ---- exponentials and logarithms ---- */

/* With r = x - n ln 2, by squaring exp(r / 256) eight times, which loses 8 bits. */
dd dd_exp(em *e, dd x, Val *n)
{
    enum { TERMS = 9, SQUARES = 8 };
    Val most = c(e, 2600), least = c(e, -2600), zero = c(e, 0);
    Val over = FCMP(OGT, x.hi, most), under = FCMP(OLT, x.hi, least);
    x = dd_select(e, OR(over, under), (dd){SEL(over, most, least), zero}, x);
    Val k = em_intr1(e, "llvm.rint", FMUL(x.hi, c(e, 1.4426950408889634)));
    dd r = dd_add(e, x, dd_mul1(e, dd_const(e, dd_ln2[0], dd_ln2[1]), FNEG(k)));
    r = dd_times(e, r, 1.0 / (1 << SQUARES));
    dd p = dd_ratio(e, 1, TERMS);
    for (int i = TERMS - 1; i > 0; i--) /* (1 + r p) / i */
        p = dd_mul(e, plus(e, 1, dd_mul(e, r, p)), dd_ratio(e, 1, i));
    p = dd_mul(e, r, p);
    for (int i = 0; i < SQUARES; i++)
        p = dd_mul(e, p, plus(e, 2, p));
    *n = LLVMBuildFreeze(e->b, LLVMBuildFPToSI(e->b, k, e->i64, ""), "");
    return plus(e, 1, p);
}

Val dd_scaled(em *e, dd a, Val n)
{
    Val quarter = ASHR(n, em_c64(e, 2)), rest = SUB(n, MUL(quarter, em_c64(e, 3)));
    Val y = FADD(a.hi, a.lo);
    for (int i = 0; i < 4; i++) {
        Val k = ADD(i < 3 ? quarter : rest, em_c64(e, 1023));
        y = FMUL(y, BITS(SHL(k, em_c64(e, 52)), e->f64));
    }
    return y;
}

/* 2 atanh((m - 1) / (m + 1)) + k ln 2, for x = m 2^k, m between the roots of 1/2 and 2. */
dd dd_log(em *e, dd x)
{
    enum { TERMS = 21 };
    Val tiny = FCMP(OLT, x.hi, c(e, 0x1p-1000)), up = c(e, 0x1p60), one = c(e, 1);
    x = dd_select(e, tiny, (dd){FMUL(x.hi, up), FMUL(x.lo, up)}, x);
    Val k = ASHR(SUB(BITS(x.hi, e->i64), em_c64(e, 0x3fe6a09e667f3bcd)), em_c64(e, 52));
    Val half = ASHR(k, em_c64(e, 1)), rest = SUB(k, half);
    for (int i = 0; i < 2; i++) { /* 2^-k in two parts: it need not be a float */
        Val bits = SHL(SUB(em_c64(e, 1023), i ? rest : half), em_c64(e, 52));
        Val f = BITS(bits, e->f64);
        x = (dd){FMUL(x.hi, f), FMUL(x.lo, f)};
    }
    dd top = dd_sum(e, FSUB(x.hi, one), x.lo), bottom = plus(e, 1, x), s = dd_div(e, top, bottom);
    dd z = dd_mul(e, s, s), p = dd_ratio(e, 1, 2 * TERMS + 1);
    for (int i = TERMS - 1; i >= 0; i--)
        p = dd_add(e, dd_mul(e, z, p), dd_ratio(e, 1, 2 * i + 1));
    k = SUB(k, SEL(tiny, em_c64(e, 60), em_c64(e, 0)));
    Val kf = LLVMBuildSIToFP(e->b, k, e->f64, "");
    dd whole = dd_mul1(e, dd_const(e, dd_ln2[0], dd_ln2[1]), kf);
    return dd_add(e, whole, dd_times(e, dd_mul(e, s, p), 2));
}

/* ---- the circle ---- */

/* 1 - z / (a (a + 1)) (1 - z / ((a + 2) (a + 3)) (1 - ..)) */
static dd alternating(em *e, dd z, int a)
{
    enum { TERMS = 18 };
    dd p = dd_const(e, 1, 0);
    for (int i = TERMS - 1; i >= 0; i--) {
        int k = a + 2 * i;
        p = plus(e, 1, dd_mul(e, dd_mul(e, z, dd_ratio(e, -1, k * (k + 1.0))), p));
    }
    return p;
}

void dd_circle(em *e, Val x, dd *sine, dd *cosine)
{
    Val r = FSUB(x, em_intr1(e, "llvm.rint", x));
    dd y = dd_mul1(e, dd_const(e, dd_pi[0], dd_pi[1]), r), z = dd_mul(e, y, y);
    *sine = dd_mul(e, y, alternating(e, z, 2));
    if (cosine)
        *cosine = alternating(e, z, 1);
}
