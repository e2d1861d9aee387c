/* torch_special.c - special functions of torch.special made of several operations: rows of
 * ops/user_ops.def, polynomials of include/lazuli/math_ops.h, and Kaiser's window. All are computed
 * in f64, those of f32 too, and rounded once: polynomials of special_tables.h on pieces of the
 * domain, or series. Where a piece is not selected its operand is one from inside, so that no NaN
 * reaches the gradient. */
#include "ops/compose.h"
#include "ops/elementwise.h"
#include "ops/special/special_tables.h"
#include <inttypes.h>
#include <lazuli/math_ops.h>
#include <lazuli/signal_ops.h>
#include <math.h>

#define COS(a) lz_tracer_ew1(c, LZ_OP_COSINE, (a))
#define SERIES(t, a) series(c, (t), (a), (int)(sizeof(a) / sizeof *(a)))
#define SQRT_HALF 0.70710678118654752440
#define TWO_OVER_PI 0.63661977236758134308

/* a[0] + a[1] t + a[2] t^2 .. */
static lz_node *series(lz_tracer *c, lz_node *t, const double *a, int n)
{
    lz_node *y = K(t, a[n - 1]);
    for (int k = n - 2; k >= 0; k--)
        y = ADD(MUL(y, t), K(t, a[k]));
    return y;
}

/* |x|, with the slope 1 at 0: of even functions, whose second derivative the slope 0 of abs hides.
 */
static lz_node *folded(lz_tracer *c, lz_node *x)
{
    return SEL(LT(x, K(x, 0)), NEG(x), x);
}

typedef lz_node *of_f64(lz_tracer *c, lz_node *x);
static lz_node *by_f64(lz_tracer *c, lz_node *x, of_f64 *f)
{
    lz_dtype d = lz_tracer_dtype(x);
    return TO(f(c, TO(x, LZ_F64)), d);
}
#define BY_F64(name)                                                                               \
    lz_node *lz_ew_special_##name(lz_tracer *c, lz_node *x)                                        \
    {                                                                                              \
        return by_f64(c, x, name);                                                                 \
    }

/* ---- modified Bessel functions ---- */

enum { NEAR_TERMS = 30 };

/* The sum of (x / 2)^2k / (k! (k + order)!), |x| <= 8: all terms are positive. */
static lz_node *near_i(lz_tracer *c, lz_node *x, int order)
{
    double a[NEAR_TERMS];
    long double term = 1;
    for (int k = 0; k < NEAR_TERMS; k++) {
        a[k] = (double)term;
        term /= 4.0L * (k + 1) * (k + 1 + order);
    }
    return SERIES(MUL(x, x), a);
}

/* exp(-x) i0(x), x >= 8 */
static lz_node *far_i0e(lz_tracer *c, lz_node *x)
{
    return DIV(SERIES(SUB(DIV(K(x, 16), x), K(x, 1)), i0e_far), SQRT(x));
}

static lz_node *i0(lz_tracer *c, lz_node *x)
{
    lz_node *a = ABS(x), *eight = K(x, 8), *near = LT(a, eight), *b = SEL(near, eight, a);
    lz_node *half = EXP(MUL(b, K(b, 0.5)));
    lz_node *far = MUL(MUL(far_i0e(c, b), half), half);
    return SEL(near, near_i(c, SEL(near, x, K(x, 0)), 0), SEL(EQ(a, K(a, INFINITY)), a, far));
}
BY_F64(i0)

static lz_node *i0e(lz_tracer *c, lz_node *x)
{
    lz_node *a = ABS(x), *eight = K(x, 8), *near = LT(a, eight);
    lz_node *n = SEL(near, x, K(x, 0));
    return SEL(near, MUL(near_i(c, n, 0), EXP(NEG(ABS(n)))), far_i0e(c, SEL(near, eight, a)));
}
BY_F64(i0e)

static lz_node *i1(lz_tracer *c, lz_node *x)
{
    lz_node *a = ABS(x), *near = LT(a, K(x, 8)), *n = SEL(near, x, K(x, 0));
    lz_node *f = SEL(near, K(x, 8), x), *half = EXP(MUL(ABS(f), K(f, 0.5)));
    lz_node *far = MUL(MUL(lz_tracer_ew1(c, LZ_OP_BESSEL_I1E, f), half), half);
    return SEL(near, MUL(MUL(n, K(n, 0.5)), near_i(c, n, 1)), SEL(EQ(a, K(a, INFINITY)), x, far));
}
BY_F64(i1)

/* ---- Bessel functions ---- */

static const struct zero {
    double high, low; /* their sum */
} zeros[2][2] = {
    {{2.404825557695773, -1.176691651530894e-16}, {5.520078110286311, 8.088597146146722e-17}},
    {{3.8317059702075125, -1.5269184090088067e-16}, {7.015586669815619, -9.414165653410389e-17}}};

static lz_node *square_of(lz_tracer *c, lz_node *x)
{
    return SUB(MUL(MUL(x, x), K(x, 1.0 / 32)), K(x, 1));
}

/* j of the order, by x of the order 1; 0 <= x <= 8. Its first zeros are factors, so that it is
 * accurate beside them. */
static lz_node *near_j(lz_tracer *c, lz_node *x, int order)
{
    lz_node *t = square_of(c, x);
    lz_node *y = order ? SERIES(t, bessel_j1_near) : SERIES(t, bessel_j0_near);
    for (int k = 0; k < 2; k++) {
        struct zero z = zeros[order][k];
        y = MUL(y, MUL(SUB(SUB(x, K(x, z.high)), K(x, z.low)), ADD(x, K(x, z.high))));
    }
    return y;
}

/* j or y of x >= 8: sqrt(2 / (pi x)) (P cos(x - turn) - Q sin(x - turn)), and with sin, cos; turn
 * is pi / 4, of order 1 three times that. */
static lz_node *far_jy(lz_tracer *c, lz_node *x, int order, bool second)
{
    lz_node *t = SUB(DIV(K(x, 128), MUL(x, x)), K(x, 1));
    lz_node *p = order ? SERIES(t, bessel_p1) : SERIES(t, bessel_p0),
            *q = order ? SERIES(t, bessel_q1) : SERIES(t, bessel_q0);
    q = DIV(MUL(q, K(q, 8)), x);
    lz_node *s = SIN(x), *co = COS(x), *sum = ADD(co, s), *dif = SUB(s, co);
    lz_node *cos_turned = order ? dif : sum, *sin_turned = order ? NEG(sum) : dif;
    lz_node *y = second ? ADD(MUL(p, sin_turned), MUL(q, cos_turned))
                        : SUB(MUL(p, cos_turned), MUL(q, sin_turned));
    return DIV(y, MUL(SQRT(x), K(x, 1.7724538509055160273)));
}

static lz_node *bessel_j(lz_tracer *c, lz_node *x, int order)
{
    lz_node *a = folded(c, x), *eight = K(x, 8), *zero = K(x, 0), *near = LT(a, eight);
    lz_node *n = near_j(c, SEL(near, a, zero), order),
            *f = far_jy(c, SEL(near, eight, a), order, false);
    if (order) {
        n = MUL(n, SEL(near, x, zero));
        f = SEL(LT(x, zero), NEG(f), f);
    }
    return SEL(near, n, SEL(EQ(a, K(a, INFINITY)), zero, f));
}

/* Of x > 0; minus infinity at 0, NaN below. */
static lz_node *bessel_y(lz_tracer *c, lz_node *x, int order)
{
    lz_node *zero = K(x, 0), *one = K(x, 1), *eight = K(x, 8), *good = GT(x, zero);
    lz_node *near = AND(good, LT(x, eight)), *n = SEL(near, x, one), *t = square_of(c, n);
    lz_node *j = near_j(c, n, order), *y;
    if (order) {
        y = SUB(MUL(LOG(n), MUL(n, j)), DIV(one, n));
        y = ADD(MUL(y, K(y, TWO_OVER_PI)), MUL(n, SERIES(t, bessel_y1_near)));
    } else {
        y = ADD(MUL(MUL(LOG(n), j), K(j, TWO_OVER_PI)), SERIES(t, bessel_y0_near));
    }
    lz_node *far = far_jy(c, SEL(GE(x, eight), x, eight), order, true);
    y = SEL(near, y, SEL(EQ(x, K(x, INFINITY)), zero, far));
    lz_node *at_zero = EQ(x, zero), *pole = LOG(SEL(at_zero, x, one));
    lz_node *nothing = SQRT(SEL(OR(good, at_zero), one, x)); /* NaN, its slope, too */
    return SEL(good, y, SEL(at_zero, pole, nothing));
}

static lz_node *bessel_j0(lz_tracer *c, lz_node *x)
{
    return bessel_j(c, x, 0);
}
BY_F64(bessel_j0)

static lz_node *bessel_j1(lz_tracer *c, lz_node *x)
{
    return bessel_j(c, x, 1);
}
BY_F64(bessel_j1)

static lz_node *bessel_y0(lz_tracer *c, lz_node *x)
{
    return bessel_y(c, x, 0);
}
BY_F64(bessel_y0)

static lz_node *bessel_y1(lz_tracer *c, lz_node *x)
{
    return bessel_y(c, x, 1);
}
BY_F64(bessel_y1)

/* ---- error functions and the normal distribution ---- */

/* exp(s x x), |x| <= 64: the square of x to a sixteenth is exact, and the rest is small. */
static lz_node *exp_square(lz_tracer *c, lz_node *x, double s)
{
    lz_node *h = MUL(FLOOR(MUL(x, K(x, 16))), K(x, 1.0 / 16));
    lz_node *rest = MUL(SUB(x, h), ADD(x, h)), *hh = MUL(h, h);
    return MUL(EXP(MUL(hh, K(x, s))), EXP(MUL(rest, K(x, s))));
}

/* erfcx of x >= 0. Shepherd and Laframboise 1981. */
static lz_node *positive_erfcx(lz_tracer *c, lz_node *x)
{
    lz_node *one = K(x, 1), *t = SUB(one, DIV(K(x, 7.5), ADD(x, K(x, 3.75))));
    return DIV(SERIES(t, erfcx_all), ADD(one, ADD(x, x)));
}

static lz_node *erfcx(lz_tracer *c, lz_node *x)
{
    lz_node *zero = K(x, 0), *below = LT(x, zero), *e = positive_erfcx(c, folded(c, x));
    lz_node *n = MAX(SEL(below, x, zero), K(x, -30)); /* infinite from -26.7 */
    return SEL(below, SUB(MUL(exp_square(c, n, 1), K(x, 2)), e), e);
}
BY_F64(erfcx)

/* The normal distribution from x >= 0 on. */
static lz_node *normal_tail(lz_tracer *c, lz_node *x)
{
    x = SEL(GT(x, K(x, 40)), K(x, 40), x); /* 0 from 38.6 */
    return MUL(MUL(exp_square(c, x, -0.5), K(x, 0.5)), positive_erfcx(c, MUL(x, K(x, SQRT_HALF))));
}

static lz_node *ndtr(lz_tracer *c, lz_node *x)
{
    lz_node *tail = normal_tail(c, folded(c, x));
    return SEL(LT(x, K(x, 0)), tail, SUB(K(x, 1), tail));
}
BY_F64(ndtr)

static lz_node *log_ndtr(lz_tracer *c, lz_node *x)
{
    lz_node *zero = K(x, 0), *below = LT(x, zero), *n = SEL(below, NEG(x), zero);
    lz_node *e = positive_erfcx(c, MUL(n, K(n, SQRT_HALF)));
    lz_node *low = SUB(LOG(MUL(e, K(e, 0.5))), MUL(MUL(n, n), K(n, 0.5)));
    return SEL(below, low, LOG1P(NEG(normal_tail(c, SEL(below, zero, x)))));
}
BY_F64(log_ndtr)

/* What r = sqrt(-2 log p) is more than minus the quantile of p < 0.1, on r from lo to hi. */
static lz_node *beyond(lz_tracer *c, lz_node *r, double lo, double hi, const double *a, int n)
{
    double from = 1 / hi, to = 1 / lo;
    r = CLAMP(K(r, lo), r, K(r, hi));
    lz_node *s = DIV(K(r, 1), r);
    return series(c, MUL(SUB(s, K(s, (from + to) / 2)), K(s, 2 / (to - from))), a, n);
}

static lz_node *ndtri(lz_tracer *c, lz_node *p)
{
    lz_node *half = K(p, 0.5), *one = K(p, 1), *upper = GT(p, half);
    lz_node *q = SEL(upper, SUB(one, p), p), *central = OR(GE(q, K(q, 0.1)), EQ(q, K(q, 0)));
    lz_node *m = SEL(central, p, half);
    m = lz_tracer_ew1(c, LZ_OP_ERF_INV, SUB(ADD(m, m), one));
    lz_node *r = SQRT(MUL(LOG(SEL(central, K(q, 0.05), q)), K(q, -2)));
    lz_node *by = SEL(LT(r, K(r, 5)),
                      beyond(c, r, 2.1, 5, ndtri_tail, sizeof ndtri_tail / sizeof *ndtri_tail),
                      beyond(c, r, 5, 39, ndtri_far, sizeof ndtri_far / sizeof *ndtri_far));
    lz_node *x = ADD(r, by);
    return SEL(central, MUL(m, K(m, 1.4142135623730950488)), SEL(upper, x, NEG(x)));
}
BY_F64(ndtri)

lz_node *lz_ew_special_entr(lz_tracer *c, lz_node *x)
{
    lz_node *zero = K(x, 0), *below = LT(x, zero);
    lz_node *l = LOG(SEL(LE(x, zero), K(x, 1), x));
    lz_node *at_zero = EQ(x, zero), *y = NEG(MUL(x, SEL(at_zero, zero, l)));
    lz_node *steep = SQRT(SEL(at_zero, x, K(x, 1))); /* 0 with an infinite slope */
    return SEL(below, K(x, -INFINITY), SEL(at_zero, steep, y));
}

/* ---- orthogonal polynomials ---- */

enum { MOST_DEGREE = 1024 };
typedef enum family { CHEBYSHEV, HERMITE_H, HERMITE_HE, LAGUERRE, LEGENDRE } family;

/* P[k + 1] of P[k] and P[k - 1], by x. */
static lz_node *next_polynomial(lz_tracer *c, family f, int k, lz_node *x, lz_node *p,
                                lz_node *before)
{
    lz_node *xp = MUL(x, p);
    switch (f) {
    case CHEBYSHEV:
        return SUB(ADD(xp, xp), before);
    case HERMITE_H:
        xp = SUB(xp, MUL(before, K(x, k)));
        return ADD(xp, xp);
    case HERMITE_HE:
        return SUB(xp, MUL(before, K(x, k)));
    case LAGUERRE:
        xp = SUB(MUL(p, K(x, 2 * k + 1)), xp);
        break;
    case LEGENDRE:
        xp = MUL(xp, K(x, 2 * k + 1));
        break;
    }
    return DIV(SUB(xp, MUL(before, K(x, k))), K(x, k + 1));
}

/* The polynomial of degree n of a family whose first one is a x + b; of 2 x - 1 where shifted. */
static lz_tensor *polynomial(const char *name, family f, lz_tensor *t, int n, double a, double b,
                             bool shifted, const lz_site *site)
{
    BEGIN(name);
    lz_node *x = IN(t);
    if (x && n > MOST_DEGREE) {
        LZ_FAIL(LZ_EINVAL, "n is %d: at most %d is allowed", n, MOST_DEGREE);
        return lz_tracer_end(c, NULL);
    }
    if (!lz_tracer_is_real(x) || !(x = lz_tracer_float(c, x)))
        return lz_tracer_end(c, NULL);
    lz_dtype d = lz_tracer_dtype(x);
    x = TO(x, LZ_F64);
    if (shifted)
        x = SUB(ADD(x, x), K(x, 1));
    lz_node *before = K(x, n < 0 ? 0 : 1), *p = before;
    for (int k = 0; k < n && p; k++) {
        lz_node *next = k ? next_polynomial(c, f, k, x, p, before) : ADD(MUL(x, K(x, a)), K(x, b));
        before = p, p = next;
    }
    return lz_tracer_end(c, TO(p, d));
}

#define POLYNOMIAL(name, family, a, b, shifted)                                                    \
    lz_tensor *lz_special_##name##_at(lz_tensor *x, int n, const lz_site *site)                    \
    {                                                                                              \
        LZ_PUBLIC_AT(LZ_FORK_TENSOR);                                                              \
        return polynomial("lz_special_" #name, family, x, n, a, b, shifted, site);                 \
    }
POLYNOMIAL(chebyshev_polynomial_t, CHEBYSHEV, 1, 0, false)
POLYNOMIAL(chebyshev_polynomial_u, CHEBYSHEV, 2, 0, false)
POLYNOMIAL(chebyshev_polynomial_v, CHEBYSHEV, 2, -1, false)
POLYNOMIAL(chebyshev_polynomial_w, CHEBYSHEV, 2, 1, false)
POLYNOMIAL(shifted_chebyshev_polynomial_t, CHEBYSHEV, 1, 0, true)
POLYNOMIAL(shifted_chebyshev_polynomial_u, CHEBYSHEV, 2, 0, true)
POLYNOMIAL(shifted_chebyshev_polynomial_v, CHEBYSHEV, 2, -1, true)
POLYNOMIAL(shifted_chebyshev_polynomial_w, CHEBYSHEV, 2, 1, true)
POLYNOMIAL(hermite_polynomial_h, HERMITE_H, 2, 0, false)
POLYNOMIAL(hermite_polynomial_he, HERMITE_HE, 1, 0, false)
POLYNOMIAL(laguerre_polynomial_l, LAGUERRE, -1, 1, false)
POLYNOMIAL(legendre_polynomial_p, LEGENDRE, 1, 0, false)

/* ---- a window ---- */

/* i0(beta sqrt(1 - z^2)) / i0(beta), z from -1 to 1; both scaled, for beta beyond 700. */
static lz_node *kaiser(lz_tracer *c, lz_dtype dtype, int64_t n, bool periodic, double beta)
{
    if (!lz_dtype_is_float(dtype)) {
        LZ_FAIL(LZ_EDTYPE, "%s: windows are floats", lz_dtype_name(dtype));
        return NULL;
    }
    if (n < 0) {
        LZ_FAIL(LZ_EINVAL, "%" PRId64 " elements", n);
        return NULL;
    }
    lz_shape s = {.rank = 1, .dims = {n}};
    lz_node *i = lz_tracer_iota(c, LZ_F64, &s, 0, NULL);
    if (n <= 1)
        return TO(K(i, 1), dtype);
    int64_t length = periodic ? n : n - 1;
    lz_node *one = K(i, 1), *z = SUB(DIV(ADD(i, i), K(i, (double)length)), one);
    lz_node *b = ABS(ARG(i, beta)), *r = MUL(b, SQRT(MUL(SUB(one, z), ADD(one, z))));
    return TO(DIV(MUL(i0e(c, r), EXP(SUB(r, b))), i0e(c, b)), dtype);
}

lz_tensor *lz_kaiser_window_at(lz_dtype dtype, int64_t n, bool periodic, double beta,
                               const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_kaiser_window");
    return lz_tracer_end(c, kaiser(c, dtype, n, periodic, beta));
}
