/* math_f64_hyperbolic.c - f64 hyperbolic functions, their inverses and erfc as LLVM IR, made of
 * those of math_f64.c.
 * Threads: an em belongs to one thread. */
#include "codegen/math/math_f64.h"
#include <math.h>

/* x exp(x^2) erfc(x) in 1 / x^2, from 6 to 28 */
static const double ERFC_FAR[] = {0.5641895835477562,  -0.2820947917736846, 0.4231421875204269,
                                  -1.0578554158216689, 3.7024821065013502,  -16.659493963598358,
                                  91.47198618343951,   -585.0251591189383,  4002.2479045020195,
                                  -24194.64454393511,  86636.65557514448};

static Val c(em *e, double v)
{
    return em_cf(e->f64, v);
}

static Val mag(em *e, Val x)
{
    return em_intr1(e, "llvm.fabs", x);
}

static Val call(em *e, const char *name, Val x)
{
    return em_libm(e, name, &x, 1);
}

static Val signed_like(em *e, Val x, Val sign)
{
    return em_intr2(e, "llvm.copysign", x, sign);
}

/* exp(x) / 2 for x beyond 22, where exp(x) itself may overflow */
static Val half_exp(em *e, Val x)
{
    Val h = call(e, "exp", FMUL(x, c(e, 0.5)));
    return FMUL(FMUL(h, c(e, 0.5)), h);
}

/* (t + t / (t + 1)) / 2, t = expm1(|x|) */
Val m64_sinh(em *e, const Val *a)
{
    Val x = mag(e, a[0]), far = FCMP(OGT, x, c(e, 22));
    Val t = call(e, "expm1", SEL(far, c(e, 0), x));
    Val y = FMUL(FADD(t, FDIV(t, FADD(t, c(e, 1)))), c(e, 0.5));
    y = SEL(FCMP(OLT, x, c(e, 0x1p-28)), x, SEL(far, half_exp(e, x), y));
    return signed_like(e, y, a[0]);
}

Val m64_cosh(em *e, const Val *a)
{
    Val x = mag(e, a[0]), far = FCMP(OGT, x, c(e, 22));
    Val t = call(e, "exp", SEL(far, c(e, 0), x));
    Val y = FADD(FMUL(t, c(e, 0.5)), FDIV(c(e, 0.5), t));
    return SEL(far, half_exp(e, x), y);
}

/* log(2 x) of a large x */
static Val log_twice(em *e, Val x)
{
    return FADD(call(e, "log", x), c(e, dd_ln2[0]));
}

/* log1p(x + x^2 / (1 + sqrt(1 + x^2))) */
Val m64_asinh(em *e, const Val *a)
{
    Val x = mag(e, a[0]), far = FCMP(OGT, x, c(e, 0x1p28)), s = SEL(far, c(e, 1), x);
    Val z = FMUL(s, s), root = em_intr1(e, "llvm.sqrt", FADD(z, c(e, 1)));
    Val y = call(e, "log1p", FADD(s, FDIV(z, FADD(root, c(e, 1)))));
    y = SEL(FCMP(OLT, x, c(e, 0x1p-28)), x, SEL(far, log_twice(e, x), y));
    return signed_like(e, y, a[0]);
}

/* log1p(t + sqrt(2 t + t^2)), t = x - 1 */
Val m64_acosh(em *e, const Val *a)
{
    Val x = a[0], far = FCMP(OGT, x, c(e, 0x1p28));
    Val t = FSUB(SEL(far, c(e, 1), x), c(e, 1));
    Val root = em_intr1(e, "llvm.sqrt", m64_fma(e, t, t, FADD(t, t)));
    Val y = SEL(far, log_twice(e, x), call(e, "log1p", FADD(t, root)));
    return SEL(FCMP(OLT, x, c(e, 1)), c(e, NAN), y);
}

/* log1p(2 x / (1 - x)) / 2 */
Val m64_atanh(em *e, const Val *a)
{
    Val x = mag(e, a[0]), t = FDIV(FADD(x, x), FSUB(c(e, 1), x));
    Val y = FMUL(call(e, "log1p", t), c(e, 0.5));
    y = SEL(FCMP(OLT, x, c(e, 0x1p-28)), x, y);
    return signed_like(e, y, a[0]);
}

/* 1 - erf(x) near 0; beyond, exp(-x^2) with x^2 in two parts times a polynomial. */
Val m64_erfc(em *e, const Val *a)
{
    Val x = mag(e, a[0]), b = SEL(FCMP(OGT, x, c(e, 28)), c(e, 28), x), six = c(e, 6);
    dd z = m64_product(e, b, b);
    Val near = m64_erfc_scaled(e, SEL(FCMP(OLT, b, six), b, six));
    Val far_b = SEL(FCMP(OGT, b, six), b, six), w = FDIV(c(e, 1), FMUL(far_b, far_b));
    Val far = FDIV(M64_POLY(e, w, ERFC_FAR), far_b);
    Val r = FMUL(m64_exp_of(e, FNEG(z.hi), FNEG(z.lo)), SEL(FCMP(OGT, b, six), far, near));
    r = SEL(FCMP(OLT, a[0], c(e, 0)), FSUB(c(e, 2), r), r);
    Val y = SEL(FCMP(OLT, x, c(e, 0.84)), FSUB(c(e, 1), call(e, "erf", a[0])), r);
    return SEL(FCMP(UNO, x, x), x, y);
}
