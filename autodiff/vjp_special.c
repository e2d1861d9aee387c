/* vjp_special.c - gradients of CHLO's functions. Sources: calculus; Abramowitz and Stegun 6.4, 7.1,
 * 9.6, 23.2. */
#include "autodiff/vjp.h"
#include "base/status.h"

#define X (v->opnd[0])
#define Y (v->opnd[1])
#define R (v->result)
#define G (v->grad_out[0])
#define MUL(a, b) lz_v2(v, "multiply", (a), (b))
#define DIV(a, b) lz_v2(v, "divide", (a), (b))
#define ADD(a, b) lz_v2(v, "add", (a), (b))
#define SUB(a, b) lz_v2(v, "subtract", (a), (b))
#define NEG(a) lz_v1(v, "negate", (a))
#define CJ(a) lz_v_conj(v, (a)) /* a real number is its own */
#define C(value) lz_v_const_like(v, v->sig->opnd[0], (value))

#define RULE1(name, expr)                                                                          \
    lz_status lz_vjp_##name(const lz_vjp *v)                                                       \
    {                                                                                              \
        v->grad_in[0] = (expr);                                                                    \
        return LZ_OK;                                                                              \
    }

/* sqrt((1 - x) (1 + x)), and the like with plus: no square that overflows near 1 */
static lz_tensor *rim(const lz_vjp *v)
{
    return lz_v1(v, "sqrt", MUL(SUB(C(1), X), ADD(C(1), X)));
}

/* sqrt(x - 1) sqrt(x + 1): one root of the product has another sign left of the imaginary axis, and
 * overflows */
static lz_tensor *outer_rim(const lz_vjp *v)
{
    lz_tensor *a = SUB(X, C(1)), *b = ADD(X, C(1));
    return MUL(lz_v1(v, "sqrt", a), lz_v1(v, "sqrt", b));
}

/* Where 1 is below the rounding of the square of a real number, before that overflows. */
static lz_tensor *is_far(const lz_vjp *v, lz_tensor *size)
{
    lz_dtype d = v->sig->opnd[0]->dtype;
    return lz_v_cmp(v, LZ_HLO_GT, size, C(d == LZ_F64 ? 0x1p28 : d == LZ_F32 ? 0x1p14 : 128));
}

/* sqrt(x^2 + 1), which far away is |x| */
static lz_tensor *root_above(const lz_vjp *v)
{
    if (lz_dtype_is_complex(v->sig->opnd[0]->dtype))
        return lz_v1(v, "sqrt", ADD(MUL(X, X), C(1)));
    lz_tensor *a = lz_v1(v, "abs", X), *far = is_far(v, a);
    lz_tensor *x = lz_v3(v, "select", far, C(1), X);
    return lz_v3(v, "select", far, a, lz_v1(v, "sqrt", ADD(MUL(x, x), C(1))));
}

/* g / (x^2 + 1), which far away is g / x / x */
static lz_tensor *over_square(const lz_vjp *v)
{
    if (lz_dtype_is_complex(v->sig->opnd[0]->dtype))
        return DIV(G, CJ(ADD(MUL(X, X), C(1))));
    lz_tensor *far = is_far(v, lz_v1(v, "abs", X));
    lz_tensor *x = lz_v3(v, "select", far, C(1), X), *y = lz_v3(v, "select", far, X, C(1));
    return lz_v3(v, "select", far, DIV(DIV(G, y), y), DIV(G, ADD(MUL(x, x), C(1))));
}

RULE1(acos, NEG(DIV(G, CJ(rim(v)))))
RULE1(acosh, DIV(G, CJ(outer_rim(v))))
RULE1(asin, DIV(G, CJ(rim(v))))
RULE1(asinh, DIV(G, CJ(root_above(v))))
RULE1(atan, over_square(v))
RULE1(atanh, DIV(G, CJ(MUL(SUB(C(1), X), ADD(C(1), X)))))
RULE1(cosh, MUL(G, CJ(lz_v1(v, "chlo.sinh", X))))
RULE1(sinh, MUL(G, CJ(lz_v1(v, "chlo.cosh", X))))
RULE1(digamma, MUL(G, lz_v2(v, "chlo.polygamma", C(1), X)))
RULE1(lgamma, MUL(G, lz_v1(v, "chlo.digamma", X)))
/* 2 / sqrt(pi), and its inverse */
RULE1(erfc, NEG(MUL(G, lz_v_scale(v, lz_v1(v, "exponential", NEG(MUL(X, X))), 1.1283791670955126))))
RULE1(erf_inv, MUL(G, lz_v_scale(v, lz_v1(v, "exponential", MUL(R, R)), 0.88622692545275801)))

static lz_status no_rule(const lz_vjp *v, const char *what)
{
    return LZ_FAIL(LZ_EGRAD, "%s has no gradient by its %s", lz_op_get(v->sig->op)->text, what);
}

lz_status lz_vjp_polygamma(const lz_vjp *v)
{
    if (v->need[0])
        return no_rule(v, "order");
    v->grad_in[1] = MUL(G, lz_v2(v, "chlo.polygamma", ADD(X, C(1)), Y));
    return LZ_OK;
}

lz_status lz_vjp_zeta(const lz_vjp *v)
{
    if (v->need[0])
        return no_rule(v, "exponent");
    v->grad_in[1] = NEG(MUL(G, MUL(X, lz_v2(v, "chlo.zeta", ADD(X, C(1)), Y))));
    return LZ_OK;
}

/* ---- bessel_i1e: its derivative is i0e - sign(x) i1e - i1e / x; i0e as polynomials (fits of our
 * own) ---- */

static const double I0_SMALL[] = {
    2.07001921223988348e-1,  -1.13004326886205944e-1, 9.45156285393937409e-2,
    -8.90434413606043651e-2, 8.73434162066915452e-2,  -8.49633809248511943e-2,
    7.92752252230239299e-2,  -6.95411954264324345e-2, 5.67770398117053793e-2,
    -4.29859516279961517e-2, 3.01778592970562714e-2,  -1.96826399804699629e-2,
    1.19603064343751855e-2,  -6.79246365409276418e-3, 3.61646466670783173e-3,
    -1.81170200243049933e-3, 8.57621458464587562e-4,  -3.83267075481472319e-4,
    1.60647140394176569e-4,  -6.50168086983983035e-5, 2.67819617263783061e-5,
    -9.69423521444067999e-6, 2.33531919246278668e-6,  -8.37120753710473146e-7,
    6.43645703535344034e-7,  -1.91968343011799596e-7,
};
static const double I0_LARGE[] = {
    4.02176509445008138e-1,  3.3605519836678762e-3,    1.3621607437737267e-4,
    1.11430337918930448e-5,  1.48384815086177091e-6,   2.97359788529027367e-7,
    8.87129319360467691e-8,  3.93271230858329364e-8,   2.16244603431245809e-8,
    7.54377523825073381e-9,  -7.11674449975798772e-9,  -1.33563277174321403e-8,
    -4.27064972136382492e-9, 7.39696658721915796e-9,   5.14320898586228434e-9,
    -3.21251295103573022e-9, -2.89273336696039445e-9,  1.16613969273145264e-9,
    9.5445985964082174e-10,  -3.07190328440973638e-10, -1.44456662418080385e-10,
    4.13587033690403702e-11,
};

static lz_tensor *polynomial(const lz_vjp *v, lz_tensor *u, const double *c, int n)
{
    lz_tensor *p = C(c[n - 1]);
    for (int i = n - 2; i >= 0; i--)
        p = ADD(MUL(p, u), C(c[i]));
    return p;
}

/* In a / 4 - 1 up to 8, in 16 / a - 1 beyond. */
static lz_tensor *i0e(const lz_vjp *v)
{
    lz_tensor *a = lz_v1(v, "abs", X), *far = lz_v_cmp(v, LZ_HLO_GT, a, C(8));
    lz_tensor *b = lz_v2(v, "maximum", a, C(8)), *s = lz_v2(v, "minimum", a, C(8));
    lz_tensor *small = polynomial(v, SUB(lz_v_scale(v, s, 0.25), C(1)), I0_SMALL,
                                  (int)(sizeof I0_SMALL / sizeof *I0_SMALL));
    lz_tensor *large = polynomial(v, SUB(DIV(C(16), b), C(1)), I0_LARGE,
                                  (int)(sizeof I0_LARGE / sizeof *I0_LARGE));
    return lz_v3(v, "select", far, DIV(large, lz_v1(v, "sqrt", b)), small);
}

/* i1e / x; where x is small its series, whose own derivatives lose no digits. */
static lz_tensor *i1e_ratio(const lz_vjp *v)
{
    enum { TERMS = 10 }; /* of (x^2 / 4)^k / (2 k! (k + 1)!) */
    lz_tensor *a = lz_v1(v, "abs", X), *near = lz_v_cmp(v, LZ_HLO_LT, a, C(1)), *s = C(1);
    lz_tensor *x = lz_v3(v, "select", near, X, C(0)), *q = lz_v_scale(v, MUL(x, x), 0.25);
    for (int k = TERMS - 1; k > 0; k--)
        s = ADD(C(1), lz_v_scale(v, MUL(q, s), 1.0 / (k * (k + 1))));
    s = lz_v_scale(v, MUL(s, lz_v1(v, "exponential", NEG(lz_v1(v, "abs", x)))), 0.5);
    return lz_v3(v, "select", near, s, DIV(R, lz_v3(v, "select", near, C(1), X)));
}

lz_status lz_vjp_bessel_i1e(const lz_vjp *v)
{
    lz_tensor *ratio = i1e_ratio(v);
    lz_tensor *d = SUB(SUB(i0e(v), MUL(lz_v1(v, "sign", X), R)), ratio);
    v->grad_in[0] = MUL(G, d);
    return LZ_OK;
}
