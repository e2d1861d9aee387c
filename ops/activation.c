/* activation.c - activation functions: rows of ops/user_ops.def, and those with options of
 * include/lazuli/math_ops.h. As in elementwise_math.c, a branch of a formula that is not selected
 * is kept finite. */
#include "ops/compose.h"
#include "ops/elementwise.h"
#include <inttypes.h>
#include <lazuli/math_ops.h>
#include <math.h>

enum { GIVEN = LZ_NUMBER_FITS | LZ_NUMBER_GIVEN };

/* ---- without options ---- */

/* clamp(x, lo, hi) that passes NaN, with gradient 0 at the bounds, unlike clamp. */
static lz_node *hard(lz_tracer *c, lz_node *x, lz_node *lo, lz_node *hi)
{
    return SEL(LE(x, lo), lo, SEL(GE(x, hi), hi, x));
}

lz_node *lz_ew_relu6(lz_tracer *c, lz_node *x)
{
    return hard(c, x, K(x, 0), K(x, 6));
}

lz_node *lz_ew_hardsigmoid(lz_tracer *c, lz_node *x)
{
    return DIV(lz_ew_relu6(c, ADD(x, K(x, 3))), K(x, 6));
}

lz_node *lz_ew_hardswish(lz_tracer *c, lz_node *x)
{
    return DIV(MUL(x, lz_ew_relu6(c, ADD(x, K(x, 3)))), K(x, 6));
}

/* log(1 + exp(-|x|)). The side is chosen by one comparison, here and beside it, where max(x, 0) and
 * |x| would each have a kink: the sum is smooth, and has its derivatives at 0, of any order. */
static lz_node *log_one_plus_small(lz_tracer *c, lz_node *x, lz_node *above)
{
    return LOG1P(EXP(SEL(above, NEG(x), x)));
}

/* log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)) */
static lz_node *log_one_plus_exp(lz_tracer *c, lz_node *x)
{
    lz_node *zero = K(x, 0), *above = GE(x, zero);
    return ADD(SEL(above, x, zero), log_one_plus_small(c, x, above));
}

lz_node *lz_ew_log_sigmoid(lz_tracer *c, lz_node *x)
{
    lz_node *zero = K(x, 0), *above = GE(x, zero);
    return SUB(SEL(above, zero, x), log_one_plus_small(c, x, above));
}

lz_node *lz_ew_mish(lz_tracer *c, lz_node *x)
{
    return MUL(x, TANH(log_one_plus_exp(c, x)));
}

lz_node *lz_ew_softsign(lz_tracer *c, lz_node *x)
{
    lz_node *a = ABS(x);
    return DIV(x, TO(ADD(a, K(a, 1)), lz_tracer_dtype(x)));
}

lz_node *lz_ew_tanhshrink(lz_tracer *c, lz_node *x)
{
    return SUB(x, TANH(x));
}

/* positive x where x > 0, else negative (exp(inner x) - 1), which is not computed for large x */
static lz_node *exponential_unit(lz_tracer *c, lz_node *x, lz_node *positive, lz_node *negative,
                                 lz_node *inner)
{
    lz_node *zero = K(x, 0), *above = GT(x, zero);
    lz_node *low = EXPM1(MUL(SEL(above, zero, x), inner));
    return SEL(above, MUL(x, positive), MUL(low, negative));
}

lz_node *lz_ew_selu(lz_tracer *c, lz_node *x)
{
    const double alpha = 1.6732632423543772848170429916717,
                 scale = 1.0507009873554804934193349852946;
    return exponential_unit(c, x, K(x, scale), K(x, alpha * scale), K(x, 1));
}

/* ---- with options ---- */

/* x as floats, 16-bit ones widened; *d is the dtype of the result. */
static lz_node *prepared(lz_tracer *c, lz_node *x, lz_dtype *d)
{
    x = lz_tracer_float(c, x);
    *d = lz_tracer_dtype(x);
    return lz_tracer_wide(c, x);
}

lz_tensor *lz_leaky_relu_at(lz_tensor *x, const lz_leaky_relu_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_dtype d;
    BEGIN("lz_leaky_relu");
    OPTIONS(lz_leaky_relu_options, p, LZ_LEAKY_RELU_DEFAULTS);
    lz_node *n = p ? prepared(c, IN(x), &d) : NULL;
    return lz_tracer_end(c, n ? TO(SEL(GT(n, K(n, 0)), n, MUL(n, ARG(n, p->negative_slope))), d)
                              : NULL);
}

lz_tensor *lz_elu_at(lz_tensor *x, const lz_elu_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_dtype d;
    BEGIN("lz_elu");
    OPTIONS(lz_elu_options, p, LZ_ELU_DEFAULTS);
    lz_node *n = p ? prepared(c, IN(x), &d) : NULL;
    if (n)
        n = TO(exponential_unit(c, n, ARG(n, p->scale), ARG(n, p->alpha * p->scale),
                                ARG(n, p->input_scale)),
               d);
    return lz_tracer_end(c, n);
}

lz_tensor *lz_celu_at(lz_tensor *x, double alpha, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_dtype d;
    BEGIN("lz_celu");
    lz_node *n = prepared(c, IN(x), &d);
    if (n && alpha == 0) {
        LZ_FAIL(LZ_EINVAL, "alpha is 0");
        n = NULL;
    }
    if (n)
        n = TO(exponential_unit(c, n, K(n, 1), ARG(n, alpha), ARG(n, 1 / alpha)), d);
    return lz_tracer_end(c, n);
}

static lz_node *softplus(lz_tracer *c, lz_node *x, double beta, double threshold)
{
    lz_node *b = ARG(x, beta), *z = MUL(x, b), *linear = GT(z, ARG(x, threshold));
    z = SEL(linear, K(x, 0), z);
    return SEL(linear, x, DIV(log_one_plus_exp(c, z), b));
}

lz_tensor *lz_softplus_at(lz_tensor *x, const lz_softplus_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_dtype d;
    BEGIN("lz_softplus");
    OPTIONS(lz_softplus_options, p, LZ_SOFTPLUS_DEFAULTS);
    lz_node *n = p ? prepared(c, IN(x), &d) : NULL;
    return lz_tracer_end(c, n ? TO(softplus(c, n, p->beta, p->threshold), d) : NULL);
}

lz_tensor *lz_hardtanh_at(lz_tensor *x, const lz_hardtanh_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_hardtanh");
    OPTIONS(lz_hardtanh_options, p, LZ_HARDTANH_DEFAULTS);
    lz_node *n = p ? IN(x) : NULL;
    if (n && !(p->min_val <= p->max_val)) {
        LZ_FAIL(LZ_EINVAL, "min_val %g is not below max_val %g", p->min_val, p->max_val);
        n = NULL;
    }
    bool real = n && (p->min_val != trunc(p->min_val) || p->max_val != trunc(p->max_val));
    lz_node *lo = n ? lz_tracer_scalar_for(c, &n, p->min_val, real, GIVEN) : NULL,
            *hi = lo ? lz_tracer_scalar_for(c, &n, p->max_val, real, GIVEN) : NULL;
    return lz_tracer_end(c, hi ? hard(c, n, lo, hi) : NULL);
}

lz_tensor *lz_hardshrink_at(lz_tensor *x, double lambd, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_hardshrink");
    lz_node *n = lz_tracer_float(c, IN(x)), *l = ARG(n, lambd);
    return lz_tracer_end(c, SEL(AND(GE(n, NEG(l)), LE(n, l)), K(n, 0), n));
}

lz_tensor *lz_softshrink_at(lz_tensor *x, double lambd, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_dtype d;
    BEGIN("lz_softshrink");
    lz_node *n = prepared(c, IN(x), &d), *l = ARG(n, lambd);
    if (n && !(lambd >= 0)) {
        LZ_FAIL(LZ_EINVAL, "lambd is %g: it must not be negative", lambd);
        n = NULL;
    }
    lz_node *inside = SEL(IS_NAN(n), n, K(n, 0));
    return lz_tracer_end(c, TO(SEL(GT(n, l), SUB(n, l), SEL(LT(n, NEG(l)), ADD(n, l), inside)), d));
}

lz_tensor *lz_threshold_at(lz_tensor *x, double threshold, double value, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_threshold");
    lz_node *n = IN(x);
    bool real = threshold != trunc(threshold) || value != trunc(value);
    lz_node *t = n ? lz_tracer_scalar_for(c, &n, threshold, real, GIVEN) : NULL,
            *v = t ? lz_tracer_scalar_for(c, &n, value, real, GIVEN) : NULL;
    return lz_tracer_end(c, v ? SEL(LE(n, t), v, n) : NULL);
}

static lz_node *prelu(lz_tracer *c, lz_node *x, lz_node *w)
{
    const lz_shape *s = lz_tracer_shape(x), *ws = lz_tracer_shape(w);
    char tx[128], tw[128];
    int at = s->rank > 1 ? 1 : 0;
    lz_dtype d = lz_tracer_result_dtype(x, w);
    lz_node *row;
    if (d == LZ_DTYPE_NONE)
        return NULL;
    if (lz_node_type(w)->nelem == 1) {
        lz_shape one = lz_shape_make(0, NULL);
        row = lz_tracer_fill(c, lz_tracer_reshape(c, TO(w, d), &one), s);
    } else if (ws->rank == 1 && s->rank > 0 && ws->dims[0] == s->dims[at]) {
        row = lz_tracer_broadcast_in_dim(c, TO(w, d), &(lz_ints){.n = 1, .v = {at}}, s);
    } else {
        LZ_FAIL(LZ_ESHAPE, "x is %s, weight %s: weight needs one element, or one for each channel",
                lz_type_short(lz_node_type(x), tx, sizeof tx),
                lz_type_short(lz_node_type(w), tw, sizeof tw));
        return NULL;
    }
    x = TO(x, d);
    return SEL(GT(x, K(x, 0)), x, MUL(row, x));
}

lz_tensor *lz_prelu_at(lz_tensor *x, lz_tensor *weight, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_prelu");
    lz_node *n = lz_tracer_float(c, IN(x)), *w = n ? lz_tracer_float(c, IN(weight)) : NULL;
    return lz_tracer_end(c, w ? prelu(c, n, w) : NULL);
}

static lz_node *glu(lz_tracer *c, lz_node *x, int64_t dim)
{
    char text[128];
    if (!x || !lz_tracer_dim(dim, lz_tracer_shape(x)->rank, &dim))
        return NULL;
    const lz_shape *s = lz_tracer_shape(x);
    if (s->rank == 0 || s->dims[dim] % 2) {
        LZ_FAIL(LZ_ESHAPE, "%s: the extent of dimension %" PRId64 " must be even",
                lz_type_short(lz_node_type(x), text, sizeof text), dim);
        return NULL;
    }
    lz_ints lo = {.n = s->rank}, hi = lz_ints_make(s->rank, s->dims), st = {.n = s->rank};
    for (int i = 0; i < s->rank; i++)
        st.v[i] = 1;
    hi.v[dim] /= 2;
    lz_node *a = lz_tracer_slice(c, x, &lo, &hi, &st);
    lo.v[dim] = hi.v[dim];
    hi.v[dim] *= 2;
    return MUL(a, SIGMOID(lz_tracer_slice(c, x, &lo, &hi, &st)));
}

lz_tensor *lz_glu_at(lz_tensor *x, int64_t dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_dtype d;
    BEGIN("lz_glu");
    lz_node *n = prepared(c, IN(x), &d);
    return lz_tracer_end(c, TO(glu(c, n, dim), d));
}

/* ---- softmax in another dtype ---- */

static lz_tensor *softmax_in(const char *name, lz_tensor *x, int64_t dim, lz_dtype dtype, bool log,
                             const lz_site *site)
{
    BEGIN(name);
    lz_node *n = IN(x);
    if (n && dtype != LZ_DTYPE_NONE && !lz_dtype_is_float(dtype)) {
        LZ_FAIL(LZ_EDTYPE, "dtype %s: it must be a float", lz_dtype_name(dtype));
        n = NULL;
    }
    return lz_tracer_end(c,
                         lz_tracer_softmax(c, dtype == LZ_DTYPE_NONE ? n : TO(n, dtype), dim, log));
}

lz_tensor *lz_softmax_dtype_at(lz_tensor *x, int64_t dim, lz_dtype dtype, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return softmax_in("lz_softmax_dtype", x, dim, dtype, false, site);
}

lz_tensor *lz_log_softmax_dtype_at(lz_tensor *x, int64_t dim, lz_dtype dtype, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return softmax_in("lz_log_softmax_dtype", x, dim, dtype, true, site);
}

lz_tensor *lz_softmin_at(lz_tensor *x, int64_t dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_softmin");
    return lz_tracer_end(c, lz_tracer_softmax(c, NEG(lz_tracer_float(c, IN(x))), dim, false));
}
