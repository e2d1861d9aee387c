/* emit_complex.c - complex elementary functions as LLVM IR: the formulas of ir/eval/eval_complex.c
 * in f64, for both complex dtypes. complex64 is widened first, so results are correct to about an
 * ULP of their magnitude; complex128 (`full`: arguments of the whole range of f64) uses formulas
 * without intermediate overflow or underflow.
 * Threads: an em belongs to one thread. */
#include "codegen/emit/emit_complex.h"
#include <math.h>

typedef struct Z {
    Val re, im;
} Z;

typedef struct cem {
    em *e;
    Ty t; /* f64 with the operands' lanes */
    bool full;
} cem;

/* ---- real arithmetic ---- */

static Val num(const cem *c, double v)
{
    return em_cf(c->t, v);
}

static Val call1(const cem *c, const char *name, Val x)
{
    return em_libm(c->e, name, &x, 1);
}

static Val call2(const cem *c, const char *name, Val x, Val y)
{
    return em_libm(c->e, name, (Val[]){x, y}, 2);
}

static Val fabs_(const cem *c, Val x)
{
    return em_intr1(c->e, "llvm.fabs", x);
}

static Val sqrt_(const cem *c, Val x)
{
    return em_intr1(c->e, "llvm.sqrt", x);
}

static Val copysign_(const cem *c, Val x, Val y)
{
    return em_intr2(c->e, "llvm.copysign", x, y);
}

static Val half(const cem *c, Val x)
{
    em *e = c->e;
    return FMUL(x, num(c, 0.5));
}

static Val is(const cem *c, Val x, double v)
{
    em *e = c->e;
    return FCMP(OEQ, x, num(c, v));
}

static Val is_inf(const cem *c, Val x)
{
    return is(c, fabs_(c, x), INFINITY);
}

static Val is_odd(const cem *c, Val x) /* infinite or NaN */
{
    em *e = c->e;
    return NOT(FCMP(OLT, fabs_(c, x), num(c, INFINITY)));
}

static Val either(const cem *c, Val p, Val q)
{
    em *e = c->e;
    return OR(p, q);
}

static Val both(const cem *c, Val p, Val q)
{
    em *e = c->e;
    return AND(p, q);
}

static Val pick(const cem *c, Val p, Val x, Val y)
{
    em *e = c->e;
    return SEL(p, x, y);
}

static Z pick2(const cem *c, Val p, Z x, Z y)
{
    return (Z){pick(c, p, x.re, y.re), pick(c, p, x.im, y.im)};
}

/* The magnitude. Parts that come from f32 have squares that f64 holds. */
static Val magnitude(const cem *c, Z z)
{
    em *e = c->e;
    if (c->full)
        return call2(c, "hypot", z.re, z.im);
    Val r = sqrt_(c, FADD(FMUL(z.re, z.re), FMUL(z.im, z.im)));
    return pick(c, either(c, is_inf(c, z.re), is_inf(c, z.im)), num(c, INFINITY), r);
}

/* z times a power of two, so that neither squares overflow nor denormal numbers take part; this is
 * the choice between three constants by the larger part. */
static Val by_size(const cem *c, Z z, double huge, double tiny, double ordinary)
{
    em *e = c->e;
    Val x = fabs_(c, z.re), y = fabs_(c, z.im), big = pick(c, FCMP(OGT, x, y), x, y);
    Val r = pick(c, FCMP(OGT, big, num(c, 0x1p1000)), num(c, huge), num(c, ordinary));
    return pick(c, FCMP(OLT, big, num(c, 0x1p-900)), num(c, tiny), r);
}

static Z scaled(const cem *c, Z z, Val by)
{
    em *e = c->e;
    return (Z){FMUL(z.re, by), FMUL(z.im, by)};
}

/* ---- exponentials ---- */

static Z cexp_(const cem *c, Z z)
{
    em *e = c->e;
    Val t = call1(c, "exp", half(c, z.re)), odd = is_odd(c, z.im), one = num(c, 1);
    Val co = pick(c, both(c, odd, is_inf(c, z.re)), one, call1(c, "cos", z.im));
    Val si = pick(c, both(c, odd, is(c, z.re, -INFINITY)), one, call1(c, "sin", z.im));
    Val im = FMUL(FMUL(t, si), t);
    return (Z){FMUL(FMUL(t, co), t), pick(c, is(c, z.im, 0), z.im, im)};
}

static Z cexpm1_(const cem *c, Z z)
{
    em *e = c->e;
    Z far = cexp_(c, z);
    Val h = call1(c, "sin", half(c, z.im));
    Val near =
        FSUB(FMUL(call1(c, "expm1", z.re), call1(c, "cos", z.im)), FMUL(FMUL(num(c, 2), h), h));
    Val big = FCMP(OGT, fabs_(c, z.re), num(c, 40));
    return (Z){pick(c, big, FSUB(far.re, num(c, 1)), near), far.im};
}

/* sinh(a) g and cosh(a) g' with |a| <= 40 by expm1, beyond by e^|a/2| twice. */
static void hyperbolic(const cem *c, Val a, Val g, Val gc, Val *sinh_g, Val *cosh_g)
{
    em *e = c->e;
    Val x = fabs_(c, a), big = FCMP(OGT, x, num(c, 40)), one = num(c, 1);
    Val t = call1(c, "exp", half(c, x)), m = call1(c, "expm1", x), m1 = FADD(m, one);
    Val sh = copysign_(c, half(c, FADD(m, FDIV(m, m1))), a);
    Val ch = FADD(one, half(c, FDIV(FMUL(m, m), m1)));
    Val s = FMUL(FMUL(FMUL(copysign_(c, num(c, 0.5), a), t), g), t);
    Val h = FMUL(FMUL(FMUL(num(c, 0.5), t), gc), t);
    *sinh_g = pick(c, big, s, FMUL(sh, g));
    *cosh_g = pick(c, big, h, FMUL(ch, gc));
}

static Z csin_(const cem *c, Z z)
{
    Val a = z.im, b = z.re, sh, ch;
    Val absorbs = both(c, is_odd(c, b), either(c, is_inf(c, a), is(c, a, 0)));
    hyperbolic(c, a, pick(c, absorbs, num(c, 1), call1(c, "cos", b)), call1(c, "sin", b), &sh, &ch);
    return (Z){pick(c, is(c, b, 0), b, ch), sh};
}

static Z ccos_(const cem *c, Z z)
{
    em *e = c->e;
    Val a = z.im, b = z.re, odd = is_odd(c, b), one = num(c, 1), sh, ch;
    Val co = pick(c, both(c, odd, is_inf(c, a)), one, call1(c, "cos", b));
    Val si = pick(c, both(c, odd, is(c, a, 0)), one, call1(c, "sin", b));
    hyperbolic(c, a, si, co, &sh, &ch);
    Val sign =
        pick(c, FCMP(UNO, a, a), one, copysign_(c, one, a)); /* 0 is 0, however large sinh a is */
    sh = pick(c, is(c, b, 0), FMUL(sign, b), sh);
    return (Z){ch, FNEG(sh)};
}

static Z ctanh_(const cem *c, Z z)
{
    em *e = c->e;
    Val x = z.re, y = z.im, one = num(c, 1), ax = fabs_(c, x), odd = is_odd(c, y);
    Val inf = is_inf(c, x), absorbs = both(c, odd, inf), sh, ch;
    Val si = pick(c, absorbs, one, call1(c, "sin", y)),
        co = pick(c, absorbs, one, call1(c, "cos", y));
    Val decay = call1(c, "exp", FMUL(num(c, -2), ax));
    Z far = {copysign_(c, pick(c, both(c, odd, NOT(inf)), num(c, NAN), one), x),
             FMUL(FMUL(FMUL(num(c, 4), si), co), decay)};
    Val t = call1(c, "tan", y), beta = FADD(one, FMUL(t, t));
    hyperbolic(c, x, one, one, &sh, &ch);
    Val rho = sqrt_(c, FADD(one, FMUL(sh, sh))), d = FADD(one, FMUL(FMUL(beta, sh), sh));
    Z near = {pick(c, is(c, x, 0), x, FDIV(FMUL(FMUL(beta, rho), sh), d)), FDIV(t, d)};
    Z r = pick2(c, FCMP(OGT, ax, num(c, 22)), far, near);
    return (Z){r.re, pick(c, is(c, y, 0), y, r.im)};
}

static Z ctan_(const cem *c, Z z)
{
    Z w = ctanh_(c, (Z){z.im, z.re});
    return (Z){w.im, w.re};
}

static Z clogistic_(const cem *c, Z z)
{
    em *e = c->e;
    Val x = z.re, y = z.im, one = num(c, 1), minus = FNEG(fabs_(c, x));
    Val ex = call1(c, "exp", minus), m = FNEG(call1(c, "expm1", minus));
    Val far = both(c, is_odd(c, y), is_inf(c, x));
    Val h = pick(c, far, one, call1(c, "cos", half(c, y)));
    Val s = pick(c, far, one, call1(c, "sin", y)), up = FMUL(FMUL(num(c, 2), h), h);
    Val d = FADD(FMUL(m, m), FMUL(FMUL(num(c, 2), ex), up));
    Val re = pick(c, FCMP(OLT, x, num(c, 0)), FMUL(ex, FSUB(up, m)), FADD(m, FMUL(ex, up)));
    return (Z){FDIV(re, d), pick(c, is(c, y, 0), y, FDIV(FMUL(ex, s), d))};
}

/* ---- logarithms, roots ---- */

static Val log_magnitude(const cem *c, Z z)
{
    em *e = c->e;
    if (!c->full)
        return call1(c, "log", magnitude(c, z));
    Val by = by_size(c, z, 0x1p-60, 0x1p200, 1);
    Val back = by_size(c, z, 60 * 0x1.62e42fefa39efp-1, -200 * 0x1.62e42fefa39efp-1, 0);
    return FADD(call1(c, "log", magnitude(c, scaled(c, z, by))), back);
}

static Z clog_(const cem *c, Z z)
{
    em *e = c->e;
    Val x = fabs_(c, z.re), y = fabs_(c, z.im), one = num(c, 1), more = FCMP(OGT, x, y);
    Val big = pick(c, more, x, y), small = pick(c, more, y, x);
    Val d = FADD(FMUL(FSUB(big, one), FADD(big, one)), FMUL(small, small));
    Val unit = both(c, FCMP(OGT, big, num(c, 0.5)), FCMP(OLT, big, num(c, 1.5)));
    Val near = half(c, call1(c, "log1p", d));
    return (Z){pick(c, unit, near, log_magnitude(c, z)), call2(c, "atan2", z.im, z.re)};
}

static Z clog1p_(const cem *c, Z z)
{
    em *e = c->e;
    Val x = z.re, y = z.im, x1 = FADD(num(c, 1), x);
    Val d = FADD(FMUL(x, FADD(x, num(c, 2))), FMUL(y, y));
    Val small = both(c, FCMP(OLT, fabs_(c, x), num(c, 0.5)), FCMP(OLT, fabs_(c, y), num(c, 0.5)));
    Val far = log_magnitude(c, (Z){x1, y});
    return (Z){pick(c, small, half(c, call1(c, "log1p", d)), far), call2(c, "atan2", y, x1)};
}

/* The root of z that is neither 0 nor has an infinite imaginary part. */
static Z root(const cem *c, Z z)
{
    em *e = c->e;
    Val t = sqrt_(c, half(c, FADD(fabs_(c, z.re), magnitude(c, z)))), t2 = FADD(t, t);
    Z right = {t, FDIV(z.im, t2)}, left = {FDIV(fabs_(c, z.im), t2), copysign_(c, t, z.im)};
    return pick2(c, FCMP(OGE, z.re, num(c, 0)), right, left);
}

static Val is_zero(const cem *c, Z z)
{
    return both(c, is(c, z.re, 0), is(c, z.im, 0));
}

static Z csqrt_(const cem *c, Z z)
{
    Z r;
    if (c->full) {
        r = root(c, scaled(c, z, by_size(c, z, 0x1p-60, 0x1p200, 1)));
        r = scaled(c, r, by_size(c, z, 0x1p30, 0x1p-100, 1));
    } else {
        r = root(c, z);
    }
    r = pick2(c, is_inf(c, z.im), (Z){num(c, INFINITY), z.im}, r);
    return pick2(c, is_zero(c, z), (Z){num(c, 0), z.im}, r);
}

static Z crsqrt_(const cem *c, Z z)
{
    em *e = c->e;
    Z w = c->full ? scaled(c, z, by_size(c, z, 0x1p-60, 0x1p200, 1)) : z, s = root(c, w);
    Val h = magnitude(c, w);
    Z r = {FDIV(s.re, h), FDIV(FNEG(s.im), h)};
    if (c->full)
        r = scaled(c, r, by_size(c, z, 0x1p-30, 0x1p100, 1));
    Val below = FCMP(OLT, z.im, num(c, 0));
    Z far = {num(c, 0), pick(c, below, num(c, 0), num(c, -0.0))};
    r = pick2(c, either(c, is_inf(c, z.re), is_inf(c, z.im)), far, r);
    return pick2(c, is_zero(c, z), (Z){num(c, INFINITY), num(c, NAN)}, r);
}

static Z ccbrt_(const cem *c, Z z)
{
    em *e = c->e;
    Val r, a = FDIV(call2(c, "atan2", z.im, z.re), num(c, 3));
    if (c->full) {
        r = call1(c, "cbrt", magnitude(c, scaled(c, z, by_size(c, z, 0x1p-60, 0x1p300, 1))));
        r = FMUL(r, by_size(c, z, 0x1p20, 0x1p-100, 1));
    } else {
        r = call1(c, "cbrt", magnitude(c, z));
    }
    return (Z){FMUL(r, call1(c, "cos", a)), pick(c, is(c, a, 0), a, FMUL(r, call1(c, "sin", a)))};
}

static Z csign_(const cem *c, Z z)
{
    em *e = c->e;
    Z w = c->full ? scaled(c, z, by_size(c, z, 0x1p-60, 0x1p200, 1)) : z;
    Val h = magnitude(c, w);
    return pick2(c, is_zero(c, z), z, (Z){FDIV(w.re, h), FDIV(w.im, h)});
}

/* ---- two operands ---- */

/* 1 with x's sign where x is infinite, else 0 with it, or x where `where` is false. */
static Val boxed(const cem *c, Val where, Val x)
{
    Val b = copysign_(c, pick(c, is_inf(c, x), num(c, 1), num(c, 0)), x);
    return pick(c, where, b, x);
}

/* 2^-n for n the exponent of the larger part, of finite z that is not 0; 1 otherwise. *back is
 * n. */
static Val normal_factor(const cem *c, Z z, Val *back)
{
    em *e = c->e;
    Ty it = em_like(e, e->i64, z.re);
    Val x = fabs_(c, z.re), y = fabs_(c, z.im), big = pick(c, FCMP(OGT, x, y), x, y);
    Val n = SUB(LSHR(BITS(big, it), em_ci(it, 52)), em_ci(it, 1023));
    Val low = SEL(ICMP(SLT, n, em_ci(it, -1022)), em_ci(it, -1022), n); /* denormal */
    low = SEL(ICMP(SGT, low, em_ci(it, 1022)), em_ci(it, 1022), low);   /* 2^-1023 would be */
    Val usable = both(c, FCMP(OGT, big, num(c, 0)), FCMP(OLT, big, num(c, INFINITY)));
    *back = SEL(usable, low, em_ci(it, 0));
    return BITS(SHL(SUB(em_ci(it, 1023), *back), em_ci(it, 52)), c->t);
}

/* 2^n for n in -1022..1023. */
static Val power_of_two(const cem *c, Val n)
{
    em *e = c->e;
    Ty it = LLVMTypeOf(n);
    return BITS(SHL(ADD(n, em_ci(it, 1023)), em_ci(it, 52)), c->t);
}

/* x / y, where both have parts whose squares are in range. Where that gives NaN twice, annex G of C
 * says what infinities and zeros mean: infinite / finite and nonzero / 0 are infinite, finite /
 * infinite is 0. */
static Z quotient(const cem *c, Z x, Z y)
{
    em *e = c->e;
    Val zero = num(c, 0), inf = num(c, INFINITY), den = FADD(FMUL(y.re, y.re), FMUL(y.im, y.im));
    Z q = {FDIV(FADD(FMUL(x.re, y.re), FMUL(x.im, y.im)), den),
           FDIV(FSUB(FMUL(x.im, y.re), FMUL(x.re, y.im)), den)};
    Val lost = both(c, FCMP(UNO, q.re, q.re), FCMP(UNO, q.im, q.im)), by_zero = is(c, den, 0);
    Val x_inf = either(c, is_inf(c, x.re), is_inf(c, x.im)),
        y_inf = either(c, is_inf(c, y.re), is_inf(c, y.im));
    Val x_odd = either(c, is_odd(c, x.re), is_odd(c, x.im)),
        y_odd = either(c, is_odd(c, y.re), is_odd(c, y.im));
    Val up = both(c, x_inf, NOT(y_odd)), down = both(c, y_inf, NOT(x_odd));
    Z n = {boxed(c, up, x.re), boxed(c, up, x.im)},
      d = {boxed(c, down, y.re), boxed(c, down, y.im)};
    Val by = pick(c, up, inf, zero), far = copysign_(c, inf, y.re);
    Z r = {FMUL(by, FADD(FMUL(n.re, d.re), FMUL(n.im, d.im))),
           FMUL(by, FSUB(FMUL(n.im, d.re), FMUL(n.re, d.im)))};
    r = pick2(c, by_zero, (Z){FMUL(far, x.re), FMUL(far, x.im)}, r);
    return pick2(c, both(c, lost, either(c, by_zero, either(c, up, down))), r, q);
}

/* A part, scaled. One that vanished has its sign still where infinity is to be multiplied by it: in
 * the divisor of an infinite number, and divided by 0. */
static Val kept(const cem *c, Val where, Val part, Val scaled_part)
{
    em *e = c->e;
    Val vanished = both(c, is(c, scaled_part, 0), NOT(is(c, part, 0)));
    return pick(c, both(c, where, vanished), copysign_(c, num(c, 1), part), scaled_part);
}

/* Both operands are brought to parts around 1 first, and the quotient back in two steps, because
 * 2^n itself may be out of range. */
static Z cdiv_(const cem *c, Z x, Z y)
{
    em *e = c->e;
    if (!c->full)
        return quotient(c, x, y);
    Val nx, ny, fx = normal_factor(c, x, &nx), fy = normal_factor(c, y, &ny);
    Val x_inf = either(c, is_inf(c, x.re), is_inf(c, x.im)),
        by_zero = both(c, is(c, y.re, 0), is(c, y.im, 0));
    Z n_x = scaled(c, x, fx), n_y = scaled(c, y, fy);
    Z q = quotient(c, (Z){kept(c, by_zero, x.re, n_x.re), kept(c, by_zero, x.im, n_x.im)},
                   (Z){kept(c, x_inf, y.re, n_y.re), kept(c, x_inf, y.im, n_y.im)});
    Val n = SUB(nx, ny), half_n = ASHR(n, em_ci(LLVMTypeOf(n), 1));
    q = scaled(c, q, power_of_two(c, half_n));
    return scaled(c, q, power_of_two(c, SUB(n, half_n)));
}

static Z cpow_(const cem *c, Z a, Z b)
{
    em *e = c->e;
    Z l = clog_(c, a), one = {num(c, 1), num(c, 0)}, zero = {num(c, 0), num(c, 0)},
      none = {num(c, NAN), num(c, NAN)};
    Z w = {FSUB(FMUL(b.re, l.re), FMUL(b.im, l.im)), FADD(FMUL(b.re, l.im), FMUL(b.im, l.re))};
    Z of_zero = pick2(c, FCMP(OGT, b.re, num(c, 0)), zero, none);
    return pick2(c, is_zero(c, b), one, pick2(c, is_zero(c, a), of_zero, cexp_(c, w)));
}

static Z catan2_(const cem *c, Z y, Z x)
{
    em *e = c->e;
    const double pi = 0x1.921fb54442d18p+1;
    Val nan = num(c, NAN);
    Val odd = either(c, either(c, is_odd(c, x.re), is_odd(c, x.im)),
                     either(c, is_odd(c, y.re), is_odd(c, y.im)));
    odd = either(c, odd, both(c, is_zero(c, x), is_zero(c, y))); /* 0 / 0 */
    if (c->full) { /* the result depends on the ratio alone */
        Val ax = fabs_(c, x.re), bx = fabs_(c, x.im), ay = fabs_(c, y.re), by = fabs_(c, y.im);
        Val mx = pick(c, FCMP(OGT, ax, bx), ax, bx), my = pick(c, FCMP(OGT, ay, by), ay, by);
        Val n, by2 = normal_factor(c, (Z){mx, my}, &n);
        x = scaled(c, x, by2);
        y = scaled(c, y, by2);
    }
    Z p = {FSUB(x.re, y.im), FADD(x.im, y.re)}, m = {FADD(x.re, y.im), FSUB(x.im, y.re)};
    Val x2 = FADD(FMUL(x.re, x.re), FMUL(y.re, y.re)),
        y2 = FADD(FMUL(x.im, x.im), FMUL(y.im, y.im));
    Val q = FADD(FMUL(x.re, x.im), FMUL(y.re, y.im));
    Val at =
        FSUB(call2(c, "atan2", p.im, p.re), half(c, call2(c, "atan2", FADD(q, q), FSUB(x2, y2))));
    Val dot = FADD(FMUL(x.re, y.re), FMUL(x.im, y.im));
    Val diff =
        FSUB(FADD(FMUL(x.re, x.re), FMUL(x.im, x.im)), FADD(FMUL(y.re, y.re), FMUL(y.im, y.im)));
    Val pp = FADD(FMUL(p.re, p.re), FMUL(p.im, p.im)),
        mm = FADD(FMUL(m.re, m.re), FMUL(m.im, m.im));
    Val less = FCMP(OLT, pp, mm), low = pick(c, less, pp, mm), high = pick(c, less, mm, pp);
    Val equal = FCMP(OLT, FMUL(num(c, 100), low), high), zero = num(c, 0); /* |x| and |y| */
    dot = pick(c, equal, FSUB(FMUL(p.im, m.re), FMUL(p.re, m.im)), FADD(dot, dot));
    diff = pick(c, equal, FADD(FMUL(p.re, m.re), FMUL(p.im, m.im)), diff);
    Val mid = half(c, call2(c, "atan2", dot, diff));
    Val turns = FDIV(fabs_(c, FSUB(at, mid)), num(c, pi));
    Val back = either(c, FCMP(OGT, mid, zero), both(c, is(c, mid, 0), FCMP(OLT, at, zero)));
    Val rotated = FADD(mid, pick(c, back, num(c, -pi), num(c, pi)));
    Val odd_turns = both(c, FCMP(OGT, turns, num(c, 0.75)), FCMP(OLT, turns, num(c, 1.75)));
    mid = pick(c, odd_turns, rotated, mid);
    Val cross = FMUL(num(c, 4), FSUB(FMUL(x.re, y.im), FMUL(x.im, y.re)));
    Val neg = FCMP(OLT, cross, num(c, 0));
    Val below = pick(c, neg, mm, pp);
    Val im = FMUL(num(c, 0.25), call1(c, "log1p", FDIV(fabs_(c, cross), below)));
    im = pick(c, is(c, cross, 0), cross, pick(c, neg, FNEG(im), im));
    Val apart = FSUB(call1(c, "log", magnitude(c, m)), call1(c, "log", magnitude(c, p)));
    im = pick(c, equal, half(c, apart), im);
    return pick2(c, odd, (Z){nan, nan}, (Z){mid, im});
}

/* ---- inverse functions: see ir/eval/eval_complex_arc.c ---- */

static Z swapped(Z z)
{
    return (Z){z.im, z.re};
}

static Val is_nan(const cem *c, Val x)
{
    em *e = c->e;
    return FCMP(UNO, x, x);
}

static Val special(const cem *c, Z z)
{
    return either(c, is_odd(c, z.re), is_odd(c, z.im));
}

static Val distant(const cem *c, Z z)
{
    em *e = c->e;
    Val x = FCMP(OGT, fabs_(c, z.re), num(c, 0x1p100)),
        y = FCMP(OGT, fabs_(c, z.im), num(c, 0x1p100));
    return either(c, x, y);
}

static Z special_asinh(const cem *c, Z z)
{
    Val x = z.re, y = z.im, nan = num(c, NAN), iy = is_inf(c, y), ix = is_inf(c, x),
        nx = is_nan(c, x);
    Val turn = copysign_(c, pick(c, iy, num(c, M_PI / 4), num(c, 0)), y);
    Z at_inf = {x, pick(c, is_nan(c, y), nan, turn)};
    Z at_nan = {pick(c, iy, num(c, INFINITY), nan), pick(c, is(c, y, 0), y, nan)};
    Z finite = {pick(c, iy, copysign_(c, num(c, INFINITY), x), nan),
                pick(c, iy, copysign_(c, num(c, M_PI / 2), y), nan)};
    return pick2(c, ix, at_inf, pick2(c, nx, at_nan, finite));
}

/* The roots of 1 - z and 1 + z. */
static void two_roots(const cem *c, Z z, Z *s, Z *t)
{
    em *e = c->e;
    *s = csqrt_(c, (Z){FSUB(num(c, 1), z.re), FNEG(z.im)});
    *t = csqrt_(c, (Z){FADD(num(c, 1), z.re), z.im});
}

static Val log_twice(const cem *c, Z z)
{
    em *e = c->e;
    return FADD(log_magnitude(c, z), num(c, M_LN2));
}

static Z casin_(const cem *c, Z z)
{
    em *e = c->e;
    Z s, t;
    two_roots(c, z, &s, &t);
    Val side = FSUB(FMUL(s.re, t.re), FMUL(s.im, t.im)),
        up = FSUB(FMUL(s.re, t.im), FMUL(s.im, t.re)), big = distant(c, z);
    Val re = call2(c, "atan2", z.re, pick(c, big, fabs_(c, z.im), side));
    Val im = pick(c, big, copysign_(c, log_twice(c, z), z.im), call1(c, "asinh", up));
    return pick2(c, special(c, z), swapped(special_asinh(c, swapped(z))), (Z){re, im});
}

static Z casinh_(const cem *c, Z z)
{
    return swapped(casin_(c, swapped(z)));
}

static Z special_acos(const cem *c, Z z)
{
    em *e = c->e;
    Val x = z.re, y = z.im, nan = num(c, NAN), iy = is_inf(c, y), ny = is_nan(c, y),
        neg = FCMP(OLT, x, num(c, 0)), away = FNEG(copysign_(c, num(c, INFINITY), y));
    Val half_way = pick(c, neg, num(c, 3 * M_PI / 4), num(c, M_PI / 4)),
        end = pick(c, neg, num(c, M_PI), num(c, 0));
    Z at_inf = {pick(c, ny, nan, pick(c, iy, half_way, end)), pick(c, ny, num(c, INFINITY), away)};
    Z at_nan = {nan, pick(c, iy, away, nan)};
    Z finite = {pick(c, either(c, iy, is(c, x, 0)), num(c, M_PI / 2), nan), pick(c, iy, away, nan)};
    return pick2(c, is_inf(c, x), at_inf, pick2(c, is_nan(c, x), at_nan, finite));
}

static Z cacos_(const cem *c, Z z)
{
    em *e = c->e;
    Z s, t;
    two_roots(c, z, &s, &t);
    Val up = FSUB(FMUL(t.re, s.im), FMUL(t.im, s.re)), big = distant(c, z);
    Val at = call2(c, "atan2", pick(c, big, fabs_(c, z.im), s.re), pick(c, big, z.re, t.re));
    Val re = pick(c, big, at, FADD(at, at));
    Val im = pick(c, big, FNEG(copysign_(c, log_twice(c, z), z.im)), call1(c, "asinh", up));
    return pick2(c, special(c, z), special_acos(c, z), (Z){re, im});
}

static Z cacosh_(const cem *c, Z z)
{
    Z w = cacos_(c, z);
    return (Z){fabs_(c, w.im), pick(c, is_nan(c, z.im), w.re, copysign_(c, w.re, z.im))};
}

static Z special_atanh(const cem *c, Z z)
{
    Val x = z.re, y = z.im, nan = num(c, NAN), nx = is_nan(c, x), ny = is_nan(c, y);
    Val quarter = copysign_(c, num(c, M_PI / 2), y), none = copysign_(c, num(c, 0), x),
        iy = is_inf(c, y);
    Z at_nan = {pick(c, iy, num(c, 0), nan), pick(c, iy, quarter, nan)};
    Z im_nan = {pick(c, either(c, is_inf(c, x), is(c, x, 0)), none, nan), nan};
    return pick2(c, nx, at_nan, pick2(c, ny, im_nan, (Z){none, quarter}));
}

static Z catanh_(const cem *c, Z z)
{
    em *e = c->e;
    Val x = fabs_(c, z.re), y = z.im, one = num(c, 1), off = FSUB(one, x), big = distant(c, z);
    Val y2 = FMUL(y, y), ratio = FDIV(FMUL(num(c, 4), x), FADD(FMUL(off, off), y2));
    Val re = FMUL(num(c, 0.25), call1(c, "log1p", ratio));
    if (c->full) { /* the square of a tiny y is 0: beside the pole it is all that counts */
        Val ay = fabs_(c, y), tiny = both(c, is(c, off, 0), FCMP(OLT, ay, num(c, 0x1p-400)));
        re = pick(c, tiny, half(c, FSUB(num(c, M_LN2), call1(c, "log", ay))), re);
    }
    Val m = magnitude(c, z);
    re = copysign_(c, pick(c, big, FDIV(FDIV(x, m), m), re), z.re);
    Val im = half(c, call2(c, "atan2", FADD(y, y), FSUB(FMUL(off, FADD(one, x)), y2)));
    im = pick(c, big, copysign_(c, num(c, M_PI / 2), y), im);
    return pick2(c, special(c, z), special_atanh(c, z), (Z){re, im});
}

static Z catan_(const cem *c, Z z)
{
    return swapped(catanh_(c, swapped(z)));
}

static Z csinh_(const cem *c, Z z)
{
    return swapped(csin_(c, swapped(z)));
}

static Z ccosh_(const cem *c, Z z)
{
    em *e = c->e;
    return ccos_(c, (Z){FNEG(z.im), z.re});
}

/* ---- between the dtypes ---- */

static cem begin(em *e, const lz_ew *w)
{
    return (cem){e, em_vec(e->f64, w->n), lz_dtype_part(w->in[0]) == LZ_F64};
}

static Z widen(const cem *c, Ev a)
{
    em *e = c->e;
    if (c->full)
        return (Z){a.v, a.im};
    return (Z){em_widen(e, a.v), em_widen(e, a.im)};
}

static Ev narrow(const cem *c, Z z)
{
    em *e = c->e;
    Ty t = em_like(e, e->f32, z.re);
    if (c->full)
        return (Ev){z.re, z.im};
    return (Ev){LLVMBuildFPTrunc(e->b, z.re, t, ""), LLVMBuildFPTrunc(e->b, z.im, t, "")};
}

#define FUNCTION1(name, fn)                                                                        \
    Ev lz_complex_##name(em *e, const lz_ew *w, const Ev *a)                                       \
    {                                                                                              \
        cem c = begin(e, w);                                                                       \
        return narrow(&c, fn(&c, widen(&c, a[0])));                                                \
    }
#define FUNCTION2(name, fn)                                                                        \
    Ev lz_complex_##name(em *e, const lz_ew *w, const Ev *a)                                       \
    {                                                                                              \
        cem c = begin(e, w);                                                                       \
        return narrow(&c, fn(&c, widen(&c, a[0]), widen(&c, a[1])));                               \
    }
FUNCTION1(cbrt, ccbrt_)
FUNCTION1(cosine, ccos_)
FUNCTION1(exponential, cexp_)
FUNCTION1(expm1, cexpm1_)
FUNCTION1(log, clog_)
FUNCTION1(log1p, clog1p_)
FUNCTION1(logistic, clogistic_)
FUNCTION1(rsqrt, crsqrt_)
FUNCTION1(sign, csign_)
FUNCTION1(sine, csin_)
FUNCTION1(sqrt, csqrt_)
FUNCTION1(tan, ctan_)
FUNCTION1(tanh, ctanh_)
FUNCTION1(acos, cacos_)
FUNCTION1(acosh, cacosh_)
FUNCTION1(asin, casin_)
FUNCTION1(asinh, casinh_)
FUNCTION1(atan, catan_)
FUNCTION1(atanh, catanh_)
FUNCTION1(cosh, ccosh_)
FUNCTION1(sinh, csinh_)
FUNCTION2(divide, cdiv_)
FUNCTION2(power, cpow_)
FUNCTION2(atan2, catan2_)

Ev lz_complex_abs(em *e, const lz_ew *w, const Ev *a)
{
    cem c = begin(e, w);
    return (Ev){narrow(&c, (Z){magnitude(&c, widen(&c, a[0])), num(&c, 0)}).v, NULL};
}
