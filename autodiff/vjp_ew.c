/* vjp_ew.c - gradients of the elementwise operations.
 * Sources: calculus; conventions at kinks are PyTorch's (clamp passes the gradient at its bounds, a tie of maximum or minimum
 * gives half to each side, abs has 0 at 0). */
#include "autodiff/vjp.h"
#include "base/status.h"

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

/* clang-format off */
RULE1(abs, mul(v, G, lz_v1(v, "sign", X)))
RULE1(cbrt, divide(v, G, lz_v_scale(v, square(v, R), 3)))
RULE1(cosine, neg(v, mul(v, G, lz_v1(v, "sine", X))))
RULE1(erf, mul(v, G, lz_v_scale(v, lz_v1(v, "exponential", neg(v, square(v, X))), 1.1283791670955126)))
RULE1(exponential, mul(v, G, R))
RULE1(expm1, mul(v, G, add(v, R, one(v))))
RULE1(log, divide(v, G, X))
RULE1(log1p, divide(v, G, add(v, X, one(v))))
RULE1(logistic, mul(v, G, mul(v, R, sub(v, one(v), R))))
RULE1(negate, neg(v, G))
/* Rounding is the identity up to rounding, so the gradient is rounded likewise. */
RULE1(reduce_precision, lz_hlo_reduce_precision_at(G, (int)LZ_ATTR(precision, v->sig->attr)->exponent_bits,
                                                   (int)LZ_ATTR(precision, v->sig->attr)->mantissa_bits, v->site))
RULE1(rsqrt, lz_v_scale(v, mul(v, G, divide(v, R, X)), -0.5))
RULE1(sine, mul(v, G, lz_v1(v, "cosine", X)))
RULE1(sqrt, lz_v_scale(v, divide(v, G, R), 0.5))
RULE1(tan, mul(v, G, add(v, square(v, R), one(v))))
RULE1(tanh, mul(v, G, sub(v, one(v), square(v, R))))
/* clang-format on */

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
        v->grad_in[0] = mul(v, G, Y);
    if (v->need[1])
        v->grad_in[1] = mul(v, G, X);
    return LZ_OK;
}

lz_status lz_vjp_divide(const lz_vjp *v)
{
    if (v->need[0])
        v->grad_in[0] = divide(v, G, Y);
    if (v->need[1]) /* -(g / y) * (x / y): no square that could overflow */
        v->grad_in[1] = neg(v, mul(v, divide(v, G, Y), R));
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

lz_status lz_vjp_atan2(const lz_vjp *v)
{
    lz_tensor *d = divide(v, G, add(v, square(v, X), square(v, Y)));
    if (v->need[0])
        v->grad_in[0] = mul(v, d, Y);
    if (v->need[1])
        v->grad_in[1] = neg(v, mul(v, d, X));
    return LZ_OK;
}

/* d/dx = y x^(y-1), 0 where y is 0; d/dy = x^y log x, 0 where x is 0 and y is not negative. As torch.pow. */
lz_status lz_vjp_power(const lz_vjp *v)
{
    lz_tensor *zero = lz_v_zeros(v, TYPE(0));
    if (v->need[0]) {
        lz_tensor *p = mul(v, Y, lz_v2(v, "power", X, sub(v, Y, one(v))));
        v->grad_in[0] = lz_v_mask(v, lz_v_cmp(v, LZ_HLO_NE, Y, zero), mul(v, G, p));
    }
    if (v->need[1]) {
        lz_tensor *p = mul(v, G, mul(v, R, lz_v1(v, "log", X)));
        lz_tensor *flat =
            lz_v2(v, "and", lz_v_cmp(v, LZ_HLO_EQ, X, zero), lz_v_cmp(v, LZ_HLO_GE, Y, zero));
        v->grad_in[1] = lz_v_mask(v, lz_v1(v, "not", flat), p);
    }
    return LZ_OK;
}

static lz_status pick(const lz_vjp *v, lz_hlo_direction wins)
{
    lz_tensor *half = lz_v_scale(v, G, 0.5);
    lz_tensor *tie = lz_v_cmp(v, LZ_HLO_EQ, X, Y);
    for (int i = 0; i < 2; i++) {
        if (!v->need[i])
            continue;
        lz_tensor *mine = lz_v_mask(v, lz_v_cmp(v, wins, v->opnd[i], v->opnd[1 - i]), G);
        v->grad_in[i] = lz_v3(v, "select", tie, half, mine);
    }
    return LZ_OK;
}

lz_status lz_vjp_maximum(const lz_vjp *v)
{
    return pick(v, LZ_HLO_GT);
}
lz_status lz_vjp_minimum(const lz_vjp *v)
{
    return pick(v, LZ_HLO_LT);
}

/* A bound or predicate that is a scalar beside a bigger x sums its gradient. */
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

/* result = min(max(x, lo), hi): hi wins over lo, x passes at the bounds. */
lz_status lz_vjp_clamp(const lz_vjp *v)
{
    const lz_type *t = TYPE(1);
    lz_tensor *lo = spread(v, v->opnd[0], t), *x = v->opnd[1], *hi = spread(v, v->opnd[2], t);
    if (v->need[1]) {
        lz_tensor *in =
            lz_v2(v, "and", lz_v_cmp(v, LZ_HLO_GE, x, lo), lz_v_cmp(v, LZ_HLO_LE, x, hi));
        v->grad_in[1] = lz_v_mask(v, in, G);
    }
    if (v->need[0]) {
        lz_tensor *at =
            lz_v2(v, "and", lz_v_cmp(v, LZ_HLO_LT, x, lo), lz_v_cmp(v, LZ_HLO_LT, lo, hi));
        v->grad_in[0] = to_scalar(v, lz_v_mask(v, at, G), TYPE(0));
    }
    if (v->need[2]) {
        lz_tensor *at = lz_v_cmp(v, LZ_HLO_GT, lz_v2(v, "maximum", x, lo), hi);
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
