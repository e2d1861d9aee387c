/* gamma_numbers.c - random numbers of the gamma distribution, and those made of them:
 * include/lazuli/random_ops.h. Computed in f64.
 * Source: Marsaglia and Tsang 2000; the derivative of a sample by its parameter: Figurnov, Mohamed
 * and Mnih 2018, Implicit Reparameterization Gradients. */
#include "ops/science/science.h"
#include "base/status.h"
#include <float.h>
#include <lazuli/control.h>
#include <lazuli/grad.h>
#include <lazuli/random_ops.h>
#include <math.h>

/* ---- the sample, a >= 1: d (1 + c z)^3 with z normal, d = a - 1/3, by rejection ---- */

/* in: the sample so far, a; those that are still looked for are negative */
static lz_tensor *missing(lz_tensor *const *in, void *user)
{
    (void)user;
    return lz_any(lz_lt_scalar(in[0], 0));
}
static void draw(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    lz_tensor *d = lz_sub(in[1], lz_hlo_constant(LZ_F64, 1.0 / 3));
    lz_tensor *z = lz_randn_like(in[1]), *u = lz_rand_like(in[1]);
    lz_tensor *t = lz_add_scalar(lz_div(z, lz_sqrt(lz_mul(d, lz_hlo_constant(LZ_F64, 9)))), 1);
    lz_tensor *good = lz_gt_scalar(t, 0), *one = lz_hlo_constant(LZ_F64, 1);
    lz_tensor *v = lz_where(good, lz_mul(lz_mul(t, t), t), one);
    lz_tensor *bound = lz_mul(lz_mul(z, z), lz_hlo_constant(LZ_F64, 0.5));
    bound = lz_add(bound, lz_mul(d, lz_add(lz_sub(one, v), lz_log(v))));
    good = lz_logical_and(good, lz_lt(lz_log(u), bound));
    good = lz_logical_and(good, lz_lt_scalar(in[0], 0));
    out[0] = lz_where(good, lz_mul(d, v), in[0]);
    out[1] = in[1];
}

static void forward(lz_tensor *const *in, lz_tensor **out, lz_tensor **residuals, void *user)
{
    const lz_composite *c = user;
    lz_tensor *a = in[0], *last[2] = {NULL, NULL};
    /* nothing is drawn for infinity */
    lz_tensor *none = WHERE(lz_isinf_at(a, c->site), a, NUMBER(a, -1)), *of[2] = {none, a};
    (void)lz_while_at(of, 2, missing, draw, NULL, last, c->site);
    residuals[0] = a;
    residuals[1] = out[0] = last[0];
}

/* ---- its derivative by a: -(d P(a, x) / d a) / density(a, x), where P(a, x) is the density times
 * x / a times the sum of x^n / ((a + 1) .. (a + n)) ---- */

enum { LARGE = 100000 }; /* of a: x is a cube there as it is drawn, but for a^-2 */

/* in: n, the term and its derivative's factor, both sums, x, a */
static lz_tensor *grows(lz_tensor *const *in, void *user)
{
    (void)user;
    return lz_any(lz_gt(in[1], lz_mul(in[3], lz_hlo_constant(LZ_F64, DBL_EPSILON / 16))));
}
static void add_term(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    lz_tensor *n = lz_add_scalar(in[0], 1), *next = lz_add(in[6], n);
    out[0] = n;
    out[1] = lz_div(lz_mul(in[1], in[5]), next);
    out[2] = lz_sub(in[2], lz_reciprocal(next));
    out[3] = lz_add(in[3], out[1]);
    out[4] = lz_add(in[4], lz_mul(out[1], out[2]));
    out[5] = in[5];
    out[6] = in[6];
}

static lz_tensor *by_series(const lz_composite *c, lz_tensor *a, lz_tensor *x)
{
    lz_tensor *zero = MUL(NUMBER(a, 0), lz_ones_like_at(a, LZ_DTYPE_NONE, c->site));
    lz_tensor *one = lz_ones_like_at(a, LZ_DTYPE_NONE, c->site), *last[7] = {NULL};
    lz_tensor *first[7] = {NUMBER(a, 0), one, zero, one, zero, x, a};
    (void)lz_while_at(first, 7, grows, add_term, NULL, last, c->site);
    lz_tensor *slope = SUB(lz_log_at(x, c->site), lz_digamma_at(ADDS(a, 1), c->site));
    return lz_neg_at(MUL(DIV(x, a), ADD(MUL(slope, last[3]), last[4])), c->site);
}

/* Wilson and Hilferty: x = a (1 - 1 / (9 a) + z / (3 sqrt a))^3 */
static lz_tensor *by_cube(const lz_composite *c, lz_tensor *a, lz_tensor *x)
{
    lz_tensor *q = lz_exp_at(DIV(lz_log_at(DIV(x, a), c->site), NUMBER(a, 3)), c->site);
    lz_tensor *ninth = DIV(NUMBER(a, 1.0 / 9), a);
    /* a times the derivative of the bracket: 1 / (9 a) - z / (6 sqrt a) */
    lz_tensor *z3 = ADD(SUB(q, NUMBER(a, 1)), ninth);
    lz_tensor *d = SUB(ninth, MUL(z3, NUMBER(a, 0.5)));
    return MUL(MUL(q, q), ADD(q, MUL(NUMBER(a, 3), d)));
}

static void backward(lz_tensor *const *residuals, lz_tensor *const *grad_out, lz_tensor **grad_in,
                     void *user)
{
    const lz_composite *c = user;
    lz_tensor *a = residuals[0], *x = residuals[1];
    lz_tensor *large = lz_ge_at(a, NUMBER(a, LARGE), c->site), *one = NUMBER(a, 1);
    lz_tensor *finite = lz_isfinite_at(a, c->site);
    lz_tensor *s = by_series(c, WHERE(large, one, a), WHERE(large, one, x));
    lz_tensor *some = lz_logical_and_at(large, finite, c->site);
    lz_tensor *k = by_cube(c, WHERE(some, a, one), WHERE(some, x, one));
    grad_in[0] = MUL(grad_out[0], lz_composite_detached(c, WHERE(large, WHERE(finite, k, one), s)));
}

/* A sample as {g, l}, the sample being g exp(l): g of the parameter if it is 1 or more, else of one
 * more, with l = log(uniform) / parameter. NaN for a parameter that is none. f64. */
typedef struct sample {
    lz_tensor *g, *l;
} sample;

static sample sample_of(lz_composite *c, lz_tensor *alpha)
{
    alpha = TO(alpha, LZ_F64);
    lz_tensor *good = lz_ge_at(alpha, NUMBER(alpha, 0), c->site), *one = NUMBER(alpha, 1);
    lz_tensor *small = lz_lt_at(alpha, one, c->site), *g = NULL;
    lz_tensor *a = WHERE(good, WHERE(small, ADD(alpha, one), alpha), one);
    static const lz_custom_vjp_options name = {.struct_size = sizeof name, .name = "gamma sample"};
    (void)lz_custom_vjp_at(forward, backward, &a, 1, 1, 2, c, &g, &name, c->site);
    if (!g)
        return (sample){NULL, NULL};
    lz_tensor *u = SUB(one, lz_rand_like_at(alpha, LZ_F64, c->site)); /* in (0, 1] */
    lz_tensor *boosted = lz_logical_and_at(small, good, c->site);
    lz_tensor *l = DIV(lz_log_at(u, c->site), WHERE(boosted, alpha, one));
    l = WHERE(boosted, l, NUMBER(l, 0));
    return (sample){WHERE(good, g, lz_full_at(LZ_F64, LZ_SCALAR, NAN, c->site)), l};
}

static bool is_float(const lz_composite *c, const lz_tensor *t, const char *what)
{
    if (!lz_composite_real(c, t, what))
        return false;
    if (lz_dtype_is_float(lz_dtype_of(t)))
        return true;
    LZ_FAIL(LZ_EDTYPE, "%s is %s: random numbers are floats", what, lz_dtype_name(lz_dtype_of(t)));
    return false;
}

/* The smallest normal number of a dtype. */
static double tiny_of(lz_dtype d)
{
    return d == LZ_F16 ? 0x1p-14 : d == LZ_F64 ? DBL_MIN : (double)FLT_MIN;
}

lz_tensor *lz_standard_gamma_at(lz_tensor *alpha, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_standard_gamma");
    if (!is_float(c, alpha, "alpha"))
        return lz_composite_end(c, NULL);
    sample s = sample_of(c, alpha);
    if (!s.g)
        return lz_composite_end(c, NULL);
    lz_tensor *x = MUL(s.g, lz_exp_at(s.l, site)), *tiny = NUMBER(x, tiny_of(lz_dtype_of(alpha)));
    lz_tensor *zero = lz_eq_at(TO(alpha, LZ_F64), NUMBER(x, 0), site);
    x = WHERE(zero, NUMBER(x, 0), WHERE(lz_lt_at(x, tiny, site), tiny, x));
    return lz_composite_end(c, TO(x, lz_dtype_of(alpha)));
}

static lz_tensor *log_of(const lz_composite *c, sample s)
{
    return ADD(lz_log_at(s.g, c->site), s.l);
}

lz_tensor *lz_beta_at(lz_tensor *a, lz_tensor *b, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_beta");
    if (!is_float(c, a, "a") || !is_float(c, b, "b"))
        return lz_composite_end(c, NULL);
    lz_dtype d = lz_promote(lz_dtype_of(a), lz_dtype_of(b));
    lz_tensor *zero = MUL(NUMBER(a, 0), lz_composite_detached(c, ADD(a, b)));
    zero = lz_zeros_like_at(zero, LZ_F64, site);
    sample x = sample_of(c, ADD(TO(a, LZ_F64), zero)), y = sample_of(c, ADD(TO(b, LZ_F64), zero));
    if (!x.g || !y.g)
        return lz_composite_end(c, NULL);
    return lz_composite_end(c, TO(lz_sigmoid_at(SUB(log_of(c, x), log_of(c, y)), site), d));
}

lz_tensor *lz_dirichlet_at(lz_tensor *alpha, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_dirichlet");
    if (!is_float(c, alpha, "alpha"))
        return lz_composite_end(c, NULL);
    if (lz_rank_of(alpha) < 1) {
        LZ_FAIL(LZ_ESHAPE, "alpha has rank 0: it is [.., categories]");
        return lz_composite_end(c, NULL);
    }
    sample s = sample_of(c, alpha);
    return lz_composite_end(c, s.g ? TO(lz_softmax_at(log_of(c, s), -1, site), lz_dtype_of(alpha))
                                   : NULL);
}
