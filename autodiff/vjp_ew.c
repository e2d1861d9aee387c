/* vjp_ew.c - gradients of the elementwise operations.
 * Sources: calculus; of complex numbers PyTorch's convention (the conjugate Wirtinger derivative,
 *   see lz_v_conj); at kinks PyTorch's (clamp has 0 at its bounds, a tie of maximum or minimum
 * gives half to each side, abs has 0 at 0). Where a factor is masked out its operands are made
 *   harmless first: 0 times an infinite derivative would be NaN in the second order. */
#include "autodiff/vjp.h"
#include "base/status.h"
#include "ir/module.h"
#include "runtime/region/region_trace.h"
#include <lazuli/grad.h>
#include <math.h>

#define X (v->opnd[0])
#define Y (v->opnd[1])
#define R (v->result)
#define G (v->grad_out[0])
#define TYPE(i) (v->sig->opnd[i])

/* A rule with one operand: grad = expression. */
#define RULE1(name, expr)                                                                          \
    lz_status lz_vjp_##name(const lz_vjp *v)                                                       \
    {                                                                                              \
        v->grad_in[0] = (expr);                                                                    \
        return LZ_OK;                                                                              \
    }

static lz_tensor *mul(const lz_vjp *v, lz_tensor *a, lz_tensor *b)
{
    return lz_v2(v, "multiply", a, b);
}
static lz_tensor *divide(const lz_vjp *v, lz_tensor *a, lz_tensor *b)
{
    return lz_v2(v, "divide", a, b);
}
static lz_tensor *sub(const lz_vjp *v, lz_tensor *a, lz_tensor *b)
{
    return lz_v2(v, "subtract", a, b);
}
static lz_tensor *add(const lz_vjp *v, lz_tensor *a, lz_tensor *b)
{
    return lz_v2(v, "add", a, b);
}
static lz_tensor *neg(const lz_vjp *v, lz_tensor *a)
{
    return lz_v1(v, "negate", a);
}
static lz_tensor *one(const lz_vjp *v)
{
    return lz_v_const_like(v, TYPE(0), 1);
}
static lz_tensor *square(const lz_vjp *v, lz_tensor *a)
{
    return mul(v, a, a);
}

static lz_tensor *cj(const lz_vjp *v, lz_tensor *a)
{
    return lz_v_conj(v, a);
}

/* clang-format off */
RULE1(abs, mul(v, lz_hlo_convert_at(G, TYPE(0)->dtype, v->site), lz_v1(v, "sign", X)))
RULE1(cbrt, divide(v, G, lz_v_scale(v, cj(v, square(v, R)), 3)))
RULE1(cosine, neg(v, mul(v, G, cj(v, lz_v1(v, "sine", X)))))
RULE1(erf, mul(v, G, lz_v_scale(v, lz_v1(v, "exponential", neg(v, square(v, X))), 1.1283791670955126)))
RULE1(exponential, mul(v, G, cj(v, R)))
RULE1(expm1, mul(v, G, cj(v, add(v, R, one(v)))))
RULE1(log, divide(v, G, cj(v, X)))
RULE1(log1p, divide(v, G, cj(v, add(v, X, one(v)))))
RULE1(logistic, mul(v, G, cj(v, mul(v, R, sub(v, one(v), R)))))
RULE1(negate, neg(v, G))
/* Rounding is the identity up to rounding (straight-through), so the gradient is rounded
 * likewise. */
RULE1(reduce_precision, lz_hlo_reduce_precision_at(G, (int)LZ_ATTR(precision, v->sig->attr)->exponent_bits,
                                                   (int)LZ_ATTR(precision, v->sig->attr)->mantissa_bits, v->site))
RULE1(rsqrt, lz_v_scale(v, mul(v, G, cj(v, divide(v, R, X))), -0.5))
RULE1(sine, mul(v, G, cj(v, lz_v1(v, "cosine", X))))
RULE1(sqrt, lz_v_scale(v, divide(v, G, cj(v, R)), 0.5))
RULE1(tan, mul(v, G, cj(v, add(v, square(v, R), one(v)))))
RULE1(tanh, mul(v, G, cj(v, sub(v, one(v), square(v, R)))))
/* clang-format on */

/* sign of a complex number, x / |x|: the radial part of the gradient vanishes: (g - s re(conj(s)
 * g)) / |x|, 0 at 0. Of a real number it is piecewise constant. */
lz_status lz_vjp_sign(const lz_vjp *v)
{
    const lz_type *t = TYPE(0);
    if (!lz_dtype_is_complex(t->dtype))
        return LZ_OK;
    lz_tensor *along = lz_hlo_convert_at(lz_v1(v, "real", mul(v, cj(v, R), G)), t->dtype, v->site);
    lz_tensor *across = sub(v, G, mul(v, R, along));
    lz_tensor *size = lz_hlo_convert_at(lz_v1(v, "abs", X), t->dtype, v->site);
    lz_tensor *turns = lz_v_cmp(v, LZ_HLO_NE, X, lz_v_zeros(v, t));
    v->grad_in[0] = lz_v_mask(v, turns, divide(v, across, size));
    return LZ_OK;
}

static lz_tensor *zero_like(const lz_vjp *v, lz_tensor *a)
{
    lz_shape shape = lz_shape_of(a);
    lz_tensor *zero = lz_hlo_constant_at(lz_dtype_of(a), 0, v->site);
    return shape.rank ? lz_hlo_broadcast_in_dim_at(zero, shape, NULL, 0, v->site) : zero;
}

lz_status lz_vjp_real(const lz_vjp *v)
{
    bool c = lz_dtype_is_complex(TYPE(0)->dtype);
    v->grad_in[0] = c ? lz_v2(v, "complex", G, zero_like(v, G)) : G;
    return LZ_OK;
}

lz_status lz_vjp_imag(const lz_vjp *v)
{
    if (lz_dtype_is_complex(TYPE(0)->dtype))
        v->grad_in[0] = lz_v2(v, "complex", zero_like(v, G), G);
    return LZ_OK;
}

lz_status lz_vjp_complex(const lz_vjp *v)
{
    v->grad_in[0] = lz_v1(v, "real", G);
    v->grad_in[1] = lz_v1(v, "imag", G);
    return LZ_OK;
}

lz_status lz_vjp_convert(const lz_vjp *v)
{
    v->grad_in[0] = lz_hlo_convert_at(G, TYPE(0)->dtype, v->site);
    return LZ_OK;
}

lz_status lz_vjp_add(const lz_vjp *v)
{
    v->grad_in[0] = v->grad_in[1] = G;
    return LZ_OK;
}

lz_status lz_vjp_subtract(const lz_vjp *v)
{
    v->grad_in[0] = G;
    if (v->need[1])
        v->grad_in[1] = neg(v, G);
    return LZ_OK;
}

lz_status lz_vjp_multiply(const lz_vjp *v)
{
    if (v->need[0])
        v->grad_in[0] = mul(v, G, cj(v, Y));
    if (v->need[1])
        v->grad_in[1] = mul(v, G, cj(v, X));
    return LZ_OK;
}

lz_status lz_vjp_divide(const lz_vjp *v)
{
    if (v->need[0])
        v->grad_in[0] = divide(v, G, cj(v, Y));
    if (v->need[1]) /* -(g / y) * (x / y): no square that could overflow */
        v->grad_in[1] = neg(v, mul(v, divide(v, G, cj(v, Y)), cj(v, R)));
    return LZ_OK;
}

/* remainder = x - y * trunc(x / y); trunc is piecewise constant. */
lz_status lz_vjp_remainder(const lz_vjp *v)
{
    v->grad_in[0] = G;
    if (!v->need[1])
        return LZ_OK;
    lz_tensor *q = divide(v, sub(v, X, R), Y);
    v->grad_in[1] = neg(v, mul(v, G, lz_v1(v, "round_nearest_even", q)));
    return LZ_OK;
}

/* (y, -x) / (x^2 + y^2), with coordinates scaled by the larger, which cancels: no square
 * underflows or overflows. 0 at the origin, as in ATen, and where a coordinate is infinite. */
static void of_angle(const lz_vjp *v)
{
    lz_tensor *s = lz_v2(v, "maximum", lz_v1(v, "abs", X), lz_v1(v, "abs", Y));
    s = lz_detach_at(s, v->site);
    lz_tensor *ends = lz_v2(v, "or", lz_v_cmp(v, LZ_HLO_EQ, s, lz_v_zeros(v, TYPE(0))),
                            lz_v_cmp(v, LZ_HLO_EQ, s, lz_v_const_like(v, TYPE(0), INFINITY)));
    s = lz_v3(v, "select", ends, one(v), s);
    lz_tensor *x = divide(v, lz_v3(v, "select", ends, one(v), X), s);
    lz_tensor *y = divide(v, lz_v3(v, "select", ends, one(v), Y), s);
    lz_tensor *g = divide(v, lz_v_mask(v, lz_v1(v, "not", ends), G), s);
    lz_tensor *sum = add(v, square(v, x), square(v, y));
    if (v->need[0])
        v->grad_in[0] = mul(v, g, divide(v, y, sum));
    if (v->need[1])
        v->grad_in[1] = neg(v, mul(v, g, divide(v, x, sum)));
}

lz_status lz_vjp_atan2(const lz_vjp *v)
{
    if (!lz_dtype_is_complex(TYPE(0)->dtype)) {
        of_angle(v);
        return LZ_OK;
    }
    lz_tensor *d = divide(v, G, cj(v, add(v, square(v, X), square(v, Y))));
    if (v->need[0])
        v->grad_in[0] = mul(v, d, cj(v, Y));
    if (v->need[1])
        v->grad_in[1] = neg(v, mul(v, d, cj(v, X)));
    return LZ_OK;
}

/* The type of the real parts of t. */
static const lz_type *part_type(const lz_type *t)
{
    return lz_type_get(lz_dtype_part(t->dtype), &t->shape);
}

/* Where y is 0 and x^(y-1) is no number: x is 0, denormal or NaN. Elsewhere 0 comes of itself, and
 * the derivative of that by y is 1 / x. */
static lz_tensor *is_constant(const lz_vjp *v, lz_tensor *y0)
{
    if (lz_dtype_is_complex(TYPE(0)->dtype))
        return y0;
    lz_tensor *inverse = divide(v, one(v), X);
    return lz_v2(v, "and", y0, lz_v1(v, "not", lz_v1(v, "is_finite", inverse)));
}

/* d/dx = y x^(y-1), 0 where y is 0; d/dy = x^y log x, 0 where x is 0 and y is not negative. As
 * torch.pow. */
lz_status lz_vjp_power(const lz_vjp *v)
{
    lz_tensor *zero = lz_v_zeros(v, TYPE(0));
    if (v->need[0]) {
        lz_tensor *constant = is_constant(v, lz_v_cmp(v, LZ_HLO_EQ, Y, zero));
        lz_tensor *x = lz_v3(v, "select", constant, one(v), X);
        lz_tensor *p = mul(v, Y, lz_v2(v, "power", x, sub(v, Y, one(v))));
        v->grad_in[0] = lz_v_mask(v, lz_v1(v, "not", constant), mul(v, G, cj(v, p)));
    }
    if (v->need[1]) {
        lz_tensor *y = lz_dtype_is_complex(TYPE(1)->dtype) ? lz_v1(v, "real", Y) : Y;
        lz_tensor *flat = lz_v2(v, "and", lz_v_cmp(v, LZ_HLO_EQ, X, zero),
                                lz_v_cmp(v, LZ_HLO_GE, y, lz_v_zeros(v, part_type(TYPE(1)))));
        lz_tensor *x = lz_v3(v, "select", flat, one(v), X);
        lz_tensor *p = mul(v, G, cj(v, mul(v, R, lz_v1(v, "log", x))));
        v->grad_in[1] = lz_v_mask(v, lz_v1(v, "not", flat), p);
    }
    return LZ_OK;
}

/* What loses gets nothing, equal values half; with a NaN none loses, and each gets all. */
static lz_status pick(const lz_vjp *v, lz_hlo_direction loses)
{
    lz_tensor *half = lz_v_scale(v, G, 0.5);
    lz_tensor *tie = lz_v_cmp(v, LZ_HLO_EQ, X, Y);
    for (int i = 0; i < 2; i++) {
        if (!v->need[i])
            continue;
        lz_tensor *lost = lz_v_cmp(v, loses, v->opnd[i], v->opnd[1 - i]);
        lz_tensor *mine = lz_v_mask(v, lz_v1(v, "not", lost), G);
        v->grad_in[i] = lz_v3(v, "select", tie, half, mine);
    }
    return LZ_OK;
}

lz_status lz_vjp_maximum(const lz_vjp *v)
{
    return pick(v, LZ_HLO_LT);
}
lz_status lz_vjp_minimum(const lz_vjp *v)
{
    return pick(v, LZ_HLO_GT);
}

/* A scalar bound or predicate beside a larger x sums its gradient. */
static lz_tensor *to_scalar(const lz_vjp *v, lz_tensor *g, const lz_type *t)
{
    return t->shape.rank == 0 ? lz_v_sum_all(v, g) : g;
}

static lz_tensor *spread(const lz_vjp *v, lz_tensor *a, const lz_type *like)
{
    if (lz_rank_of(a) == 0 && like->shape.rank > 0)
        return lz_hlo_broadcast_in_dim_at(a, like->shape, NULL, 0, v->site);
    return a;
}

/* result = min(max(x, lo), hi): hi wins over lo; at a bound neither it nor x has a gradient. */
lz_status lz_vjp_clamp(const lz_vjp *v)
{
    const lz_type *t = TYPE(1);
    lz_tensor *lo = spread(v, v->opnd[0], t), *x = v->opnd[1], *hi = spread(v, v->opnd[2], t);
    if (v->need[1]) {
        lz_tensor *in =
            lz_v2(v, "and", lz_v_cmp(v, LZ_HLO_GT, x, lo), lz_v_cmp(v, LZ_HLO_LT, x, hi));
        v->grad_in[1] = lz_v_mask(v, in, G);
    }
    if (v->need[0]) {
        lz_tensor *at =
            lz_v2(v, "and", lz_v_cmp(v, LZ_HLO_LT, x, lo), lz_v_cmp(v, LZ_HLO_LT, lo, hi));
        v->grad_in[0] = to_scalar(v, lz_v_mask(v, at, G), TYPE(0));
    }
    if (v->need[2]) { /* where the bounds meet, all of it, whatever x is: the result is hi */
        lz_tensor *at = lz_v2(v, "or", lz_v_cmp(v, LZ_HLO_GT, lz_v2(v, "maximum", x, lo), hi),
                              lz_v_cmp(v, LZ_HLO_EQ, lo, hi));
        v->grad_in[2] = to_scalar(v, lz_v_mask(v, at, G), TYPE(2));
    }
    return LZ_OK;
}

lz_status lz_vjp_select(const lz_vjp *v)
{
    lz_tensor *zero = lz_v_zeros(v, v->sig->result[0]);
    if (v->need[1])
        v->grad_in[1] = lz_v3(v, "select", X, G, zero);
    if (v->need[2])
        v->grad_in[2] = lz_v3(v, "select", X, zero, G);
    return LZ_OK;
}
