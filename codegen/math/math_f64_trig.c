/* math_f64_trig.c - f64 sin, cos, tan and atan2 as LLVM IR. Argument reduction: below 2^20
 * Cody-Waite with pi/2 in three parts, above Payne-Hanek. Threads: an em belongs to one thread. */
#include "codegen/math/math_f64.h"
#include <math.h>

static const double PI2[3] = {1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33};
static const double SIN[] = {
    -1 / 6.,        1 / 120.,        -1 / 5040.,          1 / 362880.,
    -1 / 39916800., 1 / 6227020800., -1 / 1307674368000., 1 / 355687428096000.};
static const double COS[] = {
    1 / 24.,        -1 / 720.,         1 / 40320.,          -1 / 3628800.,
    1 / 479001600., -1 / 87178291200., 1 / 20922789888000., -1 / 6402373705728000.};
/* (atan(q) / q - 1) / q^2 in q^2, |q| <= tan(pi/8) */
static const double ATAN[] = {-0.3333333333333333,  0.1999999999999552,   -0.14285714284666542,
                              0.11111111015256361,  -0.09090904578123901, 0.07692183190826078,
                              -0.06664511447381855, 0.05858148912801507,  -0.050854497379370145,
                              0.03923165829550329,  -0.019176887118969276};
/* 2/pi as a binary fraction, after 64 bits of zero */
static const uint64_t TWO_OVER_PI[] = {0,
                                       0xa2f9836e4e441529,
                                       0xfc2757d1f534ddc0,
                                       0xdb6295993c439041,
                                       0xfe5163abdebbc561,
                                       0xb7246e3a424dd2e0,
                                       0x06492eea09d1921c,
                                       0xfe1deb1cb129a73e,
                                       0xe88235f52ebb4484,
                                       0xe99c7026b45f7e41,
                                       0x3991d639835339f4,
                                       0x9c845f8bbdf9283b,
                                       0x1ff897ffde05980f,
                                       0xef2f118b5a0a6d1f,
                                       0x6d367ecf27cb09b7,
                                       0x4f463f669e5fea2d,
                                       0x7527bac7ebe5f17b,
                                       0x3d0739f78a5292ea,
                                       0x6bfb5fb11f8d5d08,
                                       0x56033046fc7b6bab,
                                       0xf0cfbc209af4361d};
enum { WORDS = sizeof TWO_OVER_PI / sizeof *TWO_OVER_PI };

static Val c(em *e, double v)
{
    return em_cf(e->f64, v);
}

static Val mag(em *e, Val x)
{
    return em_intr1(e, "llvm.fabs", x);
}

/* ---- reduction: |x| = q pi/2 + r, |r| <= pi/4 and a little ---- */

typedef struct reduced {
    Val hi, lo, q; /* q: i64, any number with the right last two bits */
} reduced;

static reduced reduce_small(em *e, Val x)
{
    Val q = em_intr1(e, "llvm.rint", FMUL(x, c(e, 0.6366197723675814))), minus = FNEG(q);
    Val a = m64_fma(e, minus, c(e, PI2[0]), x);
    dd w = m64_product(e, q, c(e, PI2[1]));
    Val r = FSUB(a, w.hi);
    Val lo = m64_fma(e, minus, c(e, PI2[2]), FSUB(FSUB(FSUB(a, r), w.hi), w.lo));
    dd s = m64_fast_sum(e, r, lo);
    return (reduced){s.hi, s.lo, LLVMBuildFPToSI(e->b, q, e->i64, "")};
}

static Val table(em *e)
{
    Val g = LLVMGetNamedGlobal(e->m, "lz_two_over_pi");
    if (g)
        return g;
    Val word[WORDS];
    for (int i = 0; i < WORDS; i++)
        word[i] = em_c64(e, (int64_t)TWO_OVER_PI[i]);
    g = LLVMAddGlobalInAddressSpace(e->m, LLVMArrayType2(e->i64, WORDS), "lz_two_over_pi",
                                    e->nvptx ? 1 : 0);
    LLVMSetInitializer(g, LLVMConstArray2(e->i64, word, WORDS));
    LLVMSetGlobalConstant(g, 1);
    LLVMSetLinkage(g, LLVMInternalLinkage);
    LLVMSetAlignment(g, 8);
    return g;
}

static Val times(em *e, Val a, Val b, Val *high)
{
    Ty wide = LLVMIntTypeInContext(e->cx, 128);
    Val p = MUL(LLVMBuildZExt(e->b, a, wide, ""), LLVMBuildZExt(e->b, b, wide, ""));
    *high = LLVMBuildTrunc(e->b, LSHR(p, em_ci(wide, 64)), e->i64, "");
    return LLVMBuildTrunc(e->b, p, e->i64, "");
}

/* x = m 2^ex; of m 2^ex 2/pi, the multiples of 4 come from the first bits of 2/pi and are left out:
 * the next 192 bits give what is left, as a fraction of 4. Its first two bits are the quadrant. */
static reduced reduce_large(em *e, Val x)
{
    Val u = BITS(x, e->i64), field = LSHR(u, em_c64(e, 52));
    Val m = OR(AND(u, em_c64(e, (INT64_C(1) << 52) - 1)), em_c64(e, INT64_C(1) << 52));
    Val at = SUB(field, em_c64(e, 1075 - 62)); /* first bit, counted from the table's start */
    at = AND(at, em_c64(e, 0x7ff));
    Val t = em_at(e, table(e), LSHR(at, em_c64(e, 6)), 8), by = AND(at, em_c64(e, 63));
    Val w[4], b[3], none = ICMP(EQ, by, em_c64(e, 0)),
                    back = AND(SUB(em_c64(e, 64), by), em_c64(e, 63));
    for (int i = 0; i < 4; i++)
        w[i] = em_load(e, e->i64, em_at(e, t, em_c64(e, i), 8), 8);
    for (int i = 0; i < 3; i++)
        b[i] = OR(SHL(w[i], by), SEL(none, em_c64(e, 0), LSHR(w[i + 1], back)));
    Val h2, h1, h0;
    (void)times(e, m, b[2], &h2);
    Val l1 = times(e, m, b[1], &h1), p1 = ADD(l1, h2);
    Val carry = LLVMBuildZExt(e->b, ICMP(ULT, p1, l1), e->i64, "");
    Val p0 = ADD(ADD(times(e, m, b[0], &h0), h1), carry);
    Val q = LSHR(ADD(p0, em_c64(e, INT64_C(1) << 61)), em_c64(e, 62));
    p0 = SUB(p0, SHL(q, em_c64(e, 62)));
    Val neg = ICMP(SLT, p0, em_c64(e, 0));
    Val one_more = LLVMBuildZExt(e->b, ICMP(EQ, p1, em_c64(e, 0)), e->i64, "");
    Val high = SEL(neg, ADD(NOT(p0), one_more), p0);
    Val low = SEL(neg, LLVMBuildNeg(e->b, p1, ""), p1);
    /* 53 bits and the 64 after them, in units of 2^-117 */
    Val first = LLVMBuildUIToFP(e->b, LSHR(high, em_c64(e, 11)), e->f64, "");
    Val rest = OR(SHL(high, em_c64(e, 53)), LSHR(low, em_c64(e, 11)));
    dd f = m64_fast_sum(e, FMUL(first, c(e, 0x1p-53)),
                        FMUL(LLVMBuildUIToFP(e->b, rest, e->f64, ""), c(e, 0x1p-117)));
    dd r = m64_product(e, f.hi, c(e, 4 * PI2[0]));
    r.lo = FADD(r.lo, m64_fma(e, f.hi, c(e, 4 * PI2[1]), FMUL(f.lo, c(e, 4 * PI2[0]))));
    r = m64_fast_sum(e, r.hi, r.lo);
    return (reduced){SEL(neg, FNEG(r.hi), r.hi), SEL(neg, FNEG(r.lo), r.lo), q};
}

/* Of a finite x >= 0. */
static reduced reduce(em *e, Val x)
{
    em_ifelse f;
    em_ifelse_begin(e, &f, FCMP(OLT, x, c(e, 0x1p20)));
    reduced s = reduce_small(e, x);
    em_ifelse_else(e, &f);
    reduced l = reduce_large(e, x);
    Val out[3];
    em_ifelse_end(e, &f, 3, (Val[]){s.hi, s.lo, s.q}, (Val[]){l.hi, l.lo, l.q}, out);
    return (reduced){out[0], out[1], out[2]};
}

/* ---- sin, cos, tan ---- */

static void sin_cos(em *e, reduced r, Val *sn, Val *cs)
{
    Val z = FMUL(r.hi, r.hi), half = FMUL(z, c(e, 0.5));
    Val p = m64_fma(e, FMUL(z, r.hi), M64_POLY(e, z, SIN), m64_fma(e, FNEG(half), r.lo, r.lo));
    *sn = FADD(r.hi, p);
    Val w = FSUB(c(e, 1), half), lost = FSUB(FSUB(c(e, 1), w), half);
    Val tail = m64_fma(e, FMUL(z, z), M64_POLY(e, z, COS), FNEG(FMUL(r.hi, r.lo)));
    *cs = FADD(w, FADD(lost, tail));
}

static Val finite_or_0(em *e, Val x, Val *is)
{
    *is = FCMP(OLT, x, c(e, INFINITY));
    return SEL(*is, x, c(e, 0));
}

/* sin(a + quarter pi / 2) */
static Val sin_shifted(em *e, const Val *a, int quarter)
{
    Val ok, sn, cs, x = finite_or_0(e, mag(e, a[0]), &ok);
    reduced r = reduce(e, x);
    sin_cos(e, r, &sn, &cs);
    Val q = ADD(r.q, em_c64(e, quarter));
    Val y = SEL(ICMP(EQ, AND(q, em_c64(e, 1)), em_c64(e, 0)), sn, cs);
    y = BITS(XOR(BITS(y, e->i64), SHL(AND(q, em_c64(e, 2)), em_c64(e, 62))), e->f64);
    return SEL(ok, y, FSUB(a[0], a[0]));
}

Val m64_sin(em *e, const Val *a)
{
    Val y = sin_shifted(e, a, 0), sign = AND(BITS(a[0], e->i64), em_c64(e, INT64_MIN));
    y = BITS(XOR(BITS(y, e->i64), sign), e->f64);
    return SEL(FCMP(OLT, mag(e, a[0]), c(e, 0x1p-27)), a[0], y);
}

Val m64_cos(em *e, const Val *a)
{
    return sin_shifted(e, a, 1);
}

Val m64_tan(em *e, const Val *a)
{
    Val ok, sn, cs, x = finite_or_0(e, mag(e, a[0]), &ok);
    reduced r = reduce(e, x);
    sin_cos(e, r, &sn, &cs);
    Val even = ICMP(EQ, AND(r.q, em_c64(e, 1)), em_c64(e, 0));
    Val y = FDIV(SEL(even, sn, FNEG(cs)), SEL(even, cs, sn));
    Val sign = AND(BITS(a[0], e->i64), em_c64(e, INT64_MIN));
    y = BITS(XOR(BITS(y, e->i64), sign), e->f64);
    y = SEL(ok, y, FSUB(a[0], a[0]));
    return SEL(FCMP(OLT, mag(e, a[0]), c(e, 0x1p-27)), a[0], y);
}

/* ---- atan2 ---- */

/* a + r where a is a constant of two parts */
static Val plus(em *e, Val where, double hi, double lo, Val r, bool minus)
{
    Val s = minus ? FNEG(r) : r, y = FADD(c(e, hi), FADD(s, c(e, lo)));
    return SEL(where, y, r);
}

/* atan(small / large) in [0, pi/4] from two halves of the range, then the octant. */
Val m64_atan2(em *e, const Val *a)
{
    Val y = a[0], x = a[1], ax = mag(e, x), ay = mag(e, y), zero = c(e, 0);
    Val inf = c(e, INFINITY), swap = FCMP(OGT, ay, ax);
    Val hi = SEL(swap, ay, ax), lo = SEL(swap, ax, ay);
    Val by = SEL(FCMP(OGT, hi, c(e, 0x1p1000)), c(e, 0x1p-60),
                 SEL(FCMP(OLT, hi, c(e, 0x1p-900)), c(e, 0x1p60), c(e, 1)));
    Val both_inf = AND(FCMP(OEQ, ax, inf), FCMP(OEQ, ay, inf));
    hi = FMUL(SEL(both_inf, c(e, 1), hi), by);
    lo = FMUL(SEL(both_inf, c(e, 1), lo), by);
    Val wide = FCMP(OGT, lo, FMUL(hi, c(e, 0.41421356237309503)));
    Val num = SEL(wide, FSUB(lo, hi), lo), den = SEL(wide, FADD(lo, hi), hi);
    Val q = SEL(FCMP(OEQ, lo, zero), lo, FDIV(num, den)), s = FMUL(q, q);
    Val r = m64_fma(e, FMUL(q, s), M64_POLY(e, s, ATAN), q);
    r = plus(e, wide, M_PI_4, 3.061616997868383e-17, r, false);
    r = plus(e, swap, M_PI_2, PI2[1], r, true);
    Val left = ICMP(SLT, BITS(x, e->i64), em_c64(e, 0)); /* -0 too */
    r = plus(e, left, M_PI, 2 * PI2[1], r, true);
    r = em_intr2(e, "llvm.copysign", r, y);
    return SEL(FCMP(UNO, x, y), FADD(x, y), r);
}

/* The other side of the triangle. */
static Val leg(em *e, Val x)
{
    return em_intr1(e, "llvm.sqrt", FMUL(FSUB(c(e, 1), x), FADD(c(e, 1), x)));
}

Val m64_asin(em *e, const Val *a)
{
    return em_libm(e, "atan2", (Val[]){a[0], leg(e, a[0])}, 2);
}

Val m64_acos(em *e, const Val *a)
{
    return em_libm(e, "atan2", (Val[]){leg(e, a[0]), a[0]}, 2);
}

Val m64_atan(em *e, const Val *a)
{
    return em_libm(e, "atan2", (Val[]){a[0], c(e, 1)}, 2);
}
