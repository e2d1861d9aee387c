/* random.c - distributions and dropout over the device's stream: include/lazuli/random_ops.h,
 * lz_native_dropout. */
#include "ops/random_builder.h"
#include "ops/index_builder.h"
#include "ops/compose.h"
#include <inttypes.h>
#include <lazuli/hlo.h>
#include <lazuli/norm_ops.h>
#include <lazuli/order.h>
#include <lazuli/random_ops.h>
#include <math.h>

static const char *text_of(const lz_node *x, char *text)
{
    return lz_type_short(lz_node_type(x), text, 128);
}

static bool float_dtype(lz_dtype d)
{
    if (lz_dtype_is_float(d))
        return true;
    LZ_FAIL(LZ_EDTYPE, "%s: random numbers are floats", lz_dtype_name(d));
    return false;
}

/* Bernoulli: whether a uniform number is below each element of p (floats); it has f32's or f64's
 *   precision whatever p has. */
static lz_node *chosen(lz_tracer *c, lz_node *p)
{
    if (!p)
        return NULL;
    lz_node *u =
        lz_tracer_uniform(c, lz_tracer_dtype(p) == LZ_F64 ? LZ_F64 : LZ_F32, lz_tracer_shape(p), p);
    return u ? LT(u, TO(p, lz_tracer_dtype(u))) : NULL;
}

/* ---- like another tensor ---- */

static lz_tensor *like(const char *name, lz_tensor *x, lz_dtype dtype, bool normal,
                       const lz_site *site)
{
    BEGIN(name);
    lz_node *n = IN(x);
    lz_dtype d = dtype == LZ_DTYPE_NONE ? lz_tracer_dtype(n) : dtype;
    if (!n || !float_dtype(d))
        return lz_tracer_end(c, NULL);
    return lz_tracer_end(
        c, (normal ? lz_tracer_normal : lz_tracer_uniform)(c, d, lz_tracer_shape(n), n));
}

lz_tensor *lz_rand_like_at(lz_tensor *x, lz_dtype dtype, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return like("lz_rand_like", x, dtype, false, site);
}

lz_tensor *lz_randn_like_at(lz_tensor *x, lz_dtype dtype, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return like("lz_randn_like", x, dtype, true, site);
}

/* ---- of a dtype and a shape ---- */

lz_tensor *lz_uniform_at(lz_dtype dtype, lz_shape shape, double low, double high,
                         const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_uniform");
    if (!float_dtype(dtype))
        return lz_tracer_end(c, NULL);
    if (!(low <= high) || !isfinite(high - low)) {
        LZ_FAIL(LZ_EINVAL, "from %g to %g", low, high);
        return lz_tracer_end(c, NULL);
    }
    lz_node *u = lz_tracer_uniform(c, dtype, &shape, NULL);
    if (!u)
        return lz_tracer_end(c, NULL);
    lz_dtype d = lz_tracer_dtype(u);
    u = lz_tracer_wide(c, u);
    lz_node *r = TO(ADD(MUL(u, ARG(u, high - low)), ARG(u, low)), d);
    /* rounding may reach high, which is not in the interval */
    return lz_tracer_end(c, low == high ? r : SEL(GE(r, ARG(r, high)), ARG(r, low), r));
}

lz_tensor *lz_randint_at(lz_dtype dtype, int64_t low, int64_t high, lz_shape shape,
                         const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_randint");
    if (dtype == LZ_BOOL || lz_dtype_is_complex(dtype) || !lz_dtype_size(dtype)) {
        LZ_FAIL(LZ_EDTYPE, "%s: numbers are drawn", lz_dtype_name(dtype));
        return lz_tracer_end(c, NULL);
    }
    if (low >= high) {
        LZ_FAIL(LZ_EINVAL, "from %" PRId64 " to below %" PRId64, low, high);
        return lz_tracer_end(c, NULL);
    }
    if (!(lz_dtype_holds_integer(dtype, low) && lz_dtype_holds_integer(dtype, high - 1))) {
        LZ_FAIL(LZ_ERANGE, "from %" PRId64 " to below %" PRId64 ": not all fit into %s", low, high,
                lz_dtype_name(dtype));
        return lz_tracer_end(c, NULL);
    }
    lz_node *bits = lz_tracer_random_bits(c, LZ_U64, &shape, NULL);
    if (!bits)
        return lz_tracer_end(c, NULL);
    /* run-time arguments with all of their 64 bits */
    uint64_t span = (uint64_t)high - (uint64_t)low;
    static const lz_shape scalar;
    const lz_type *ut = lz_type_get(LZ_U64, &scalar), *it = lz_type_get(LZ_I64, &scalar);
    lz_node *n =
        ut ? lz_tracer_own(c, lz_node_new_host(LZ_NODE_SCALAR, ut, &span, bits->dev, c->site))
           : NULL;
    lz_node *l =
        it ? lz_tracer_own(c, lz_node_new_host(LZ_NODE_SCALAR, it, &low, bits->dev, c->site))
           : NULL;
    lz_node *r = REM(bits, lz_tracer_fill(c, n, lz_tracer_shape(bits)));
    r = lz_tracer_bitcast(c, r, LZ_I64); /* the sum wraps to the right value */
    return lz_tracer_end(c, r ? TO(ADD(r, lz_tracer_fill(c, l, lz_tracer_shape(r))), dtype) : NULL);
}

/* A permutation: positions sorted by random keys; with 64-bit keys collisions are practically
 * impossible. */
lz_tensor *lz_randperm_at(lz_dtype dtype, int64_t n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_shape s = {.rank = 1, .dims = {n}};
    BEGIN("lz_randperm");
    if (n < 0 || dtype == LZ_BOOL || lz_dtype_is_complex(dtype)) {
        LZ_FAIL(n < 0 ? LZ_EINVAL : LZ_EDTYPE, "%" PRId64 " numbers of %s", n,
                lz_dtype_name(dtype));
        return lz_tracer_end(c, NULL);
    }
    if (!lz_type_get(dtype, &s))
        return lz_tracer_end(c, NULL);
    if (n > 0 && !lz_dtype_holds_integer(dtype, n - 1)) {
        LZ_FAIL(LZ_ERANGE, "%" PRId64 " numbers: %s does not hold all of them", n,
                lz_dtype_name(dtype));
        return lz_tracer_end(c, NULL);
    }
    lz_node *bits = lz_tracer_random_bits(c, LZ_U64, &s, NULL);
    lz_tensor *keys = bits ? lz_trace_tensor_of(bits, site) : NULL;
    lz_tensor *order = keys ? lz_argsort_at(keys, 0, false, site) : NULL;
    lz_tensor *r = lz_tracer_end(c, order ? TO(IN(order), dtype) : NULL);
    (void)lz_release(keys);
    (void)lz_release(order);
    return r;
}

static lz_tensor *normal(const char *name, lz_dtype dtype, lz_shape shape, double mean, double std,
                         bool exponential, const lz_site *site)
{
    BEGIN(name);
    if (!float_dtype(dtype))
        return lz_tracer_end(c, NULL);
    if (!(std >= 0)) {
        LZ_FAIL(LZ_EINVAL, "std is %g: it must not be negative", std);
        return lz_tracer_end(c, NULL);
    }
    lz_node *z = lz_tracer_normal(c, dtype == LZ_F64 ? LZ_F64 : LZ_F32, &shape, NULL);
    z = z ? ADD(MUL(z, ARG(z, std)), ARG(z, mean)) : NULL;
    return lz_tracer_end(c, TO(exponential ? EXP(z) : z, dtype));
}

lz_tensor *lz_normal_scalar_at(lz_dtype dtype, lz_shape shape, double mean, double std,
                               const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return normal("lz_normal_scalar", dtype, shape, mean, std, false, site);
}

lz_tensor *lz_log_normal_at(lz_dtype dtype, lz_shape shape, double mean, double std,
                            const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return normal("lz_log_normal", dtype, shape, mean, std, true, site);
}

/* Cauchy: median + sigma tan(pi (u - 1/2)), with u in the middle of its interval, so that the
 *   tangent's poles are not hit */
lz_tensor *lz_cauchy_at(lz_dtype dtype, lz_shape shape, double median, double sigma,
                        const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_cauchy");
    if (!float_dtype(dtype))
        return lz_tracer_end(c, NULL);
    if (!(sigma > 0)) {
        LZ_FAIL(LZ_EINVAL, "sigma is %g: it must be positive", sigma);
        return lz_tracer_end(c, NULL);
    }
    lz_dtype d = dtype == LZ_F64 ? LZ_F64 : LZ_F32;
    lz_node *u = lz_tracer_uniform(c, d, &shape, NULL);
    u = u ? ADD(SUB(u, K(u, 0.5)), K(u, d == LZ_F64 ? 0x1p-54 : 0x1p-25)) : NULL;
    lz_node *t = lz_tracer_ew1(c, LZ_OP_TAN, MUL(u, K(u, M_PI)));
    return lz_tracer_end(c, t ? TO(ADD(MUL(t, ARG(t, sigma)), ARG(t, median)), dtype) : NULL);
}

/* -ln(1 - u) with u in [0, 1): never infinite */
static lz_node *exponential(lz_tracer *c, lz_dtype d, const lz_shape *s, const lz_node *like)
{
    lz_node *u = lz_tracer_uniform(c, d, s, like);
    return NEG(LOG1P(NEG(u)));
}

lz_tensor *lz_exponential_at(lz_dtype dtype, lz_shape shape, double lambd, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_exponential");
    if (!float_dtype(dtype))
        return lz_tracer_end(c, NULL);
    if (!(lambd > 0)) {
        LZ_FAIL(LZ_EINVAL, "lambd is %g: it must be positive", lambd);
        return lz_tracer_end(c, NULL);
    }
    lz_node *e = exponential(c, dtype == LZ_F64 ? LZ_F64 : LZ_F32, &shape, NULL);
    return lz_tracer_end(c, e ? TO(DIV(e, ARG(e, lambd)), dtype) : NULL);
}

/* floor(ln(1 - u) / ln(1 - p)) + 1 */
lz_tensor *lz_geometric_at(lz_dtype dtype, lz_shape shape, double p, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_geometric");
    if (dtype == LZ_BOOL || dtype == LZ_C64 || !lz_dtype_size(dtype)) {
        LZ_FAIL(LZ_EDTYPE, "%s: numbers are drawn", lz_dtype_name(dtype));
        return lz_tracer_end(c, NULL);
    }
    if (!(p > 0 && p < 1)) {
        LZ_FAIL(LZ_EINVAL, "p is %g: it must be in (0, 1)", p);
        return lz_tracer_end(c, NULL);
    }
    lz_node *e = exponential(c, LZ_F64, &shape, NULL);
    return lz_tracer_end(c, e ? TO(ADD(FLOOR(DIV(e, ARG(e, -log1p(-p)))), K(e, 1)), dtype) : NULL);
}

/* ---- by parameters that are tensors ---- */

lz_tensor *lz_bernoulli_at(lz_tensor *p, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_bernoulli");
    lz_node *n = IN(p);
    return lz_tracer_end(c,
                         n && lz_tracer_is_float(n) ? TO(chosen(c, n), lz_tracer_dtype(n)) : NULL);
}

static bool probability(double p)
{
    if (p >= 0 && p <= 1)
        return true;
    LZ_FAIL(LZ_EINVAL, "p is %g: it must be in [0, 1]", p);
    return false;
}

lz_tensor *lz_bernoulli_p_at(lz_tensor *x, double p, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_bernoulli_p");
    lz_node *n = IN(x);
    if (!n || !probability(p))
        return lz_tracer_end(c, NULL);
    lz_node *like = lz_tracer_fill(c, lz_tracer_scalar(c, LZ_F32, p, n), lz_tracer_shape(n));
    return lz_tracer_end(c, TO(chosen(c, like), lz_tracer_dtype(n)));
}

lz_tensor *lz_normal_at(lz_tensor *mean, lz_tensor *std, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_normal");
    lz_node *m = lz_tracer_float(c, IN(mean)), *s = m ? lz_tracer_float(c, IN(std)) : NULL;
    if (!s || !lz_tracer_match(c, &m, &s))
        return lz_tracer_end(c, NULL);
    lz_dtype d = lz_tracer_dtype(m);
    lz_node *z = lz_tracer_normal(c, d == LZ_F64 ? LZ_F64 : LZ_F32, lz_tracer_shape(m), m);
    return lz_tracer_end(c, TO(ADD(MUL(z, lz_tracer_wide(c, s)), lz_tracer_wide(c, m)), d));
}

/* The largest p / e with e exponential is drawn by weight p (exponential races); the k largest are
 * a draw without replacement. */
lz_tensor *lz_multinomial_at(lz_tensor *p, int64_t num_samples, bool replacement,
                             const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    char text[128];
    BEGIN("lz_multinomial");
    lz_node *n = IN(p);
    if (!n || !lz_tracer_is_float(n))
        return lz_tracer_end(c, NULL);
    const lz_shape s = *lz_tracer_shape(n);
    int64_t k = s.rank ? s.dims[s.rank - 1] : 0;
    if ((s.rank != 1 && s.rank != 2) || num_samples < 1 || k < 1 ||
        (!replacement && num_samples > k)) {
        LZ_FAIL(LZ_EINVAL, "%" PRId64 " samples of %s%s", num_samples, text_of(n, text),
                replacement ? "" : ", each at most once");
        return lz_tracer_end(c, NULL);
    }
    n = lz_tracer_wide(c, n);
    lz_shape draws = s;
    lz_ints dims = {.n = s.rank, .v = {0, 1}};
    if (replacement) { /* a race for each sample */
        draws.rank = s.rank + 1;
        draws.dims[s.rank - 1] = num_samples;
        draws.dims[s.rank] = k;
        dims.v[s.rank - 1] = s.rank;
        n = lz_tracer_broadcast_in_dim(c, n, &dims, &draws);
    }
    lz_node *e = n ? exponential(c, lz_tracer_dtype(n), &draws, n) : NULL;
    lz_node *tiny = K(e, lz_tracer_dtype(e) == LZ_F64 ? 1e-300 : 1e-37);
    lz_node *race = DIV(n, MAX(e, tiny));
    if (replacement || !race)
        return lz_tracer_end(c, race ? lz_tracer_argminmax(c, true, race, draws.rank - 1) : NULL);
    lz_tensor *t = lz_trace_tensor_of(race, site), *at = NULL;
    lz_tensor *v = lz_topk_at(t, num_samples, -1, true, &at, site);
    lz_tensor *r = lz_tracer_end(c, IN(at));
    (void)lz_release(t);
    (void)lz_release(v);
    (void)lz_release(at);
    return r;
}

/* ---- dropout ---- */

lz_tensor *lz_native_dropout_at(lz_tensor *x, double p, bool train, lz_tensor **mask,
                                const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_node *m = NULL, *y = NULL;
    BEGIN("lz_native_dropout");
    lz_node *n = lz_tracer_float(c, IN(x));
    if (n && !train) {
        m = lz_tracer_fill(c, lz_tracer_const(c, LZ_BOOL, 1, n), lz_tracer_shape(n));
        y = n;
    } else if (n && probability(p)) {
        m = chosen(c, lz_tracer_fill(c, lz_tracer_scalar(c, LZ_F32, 1 - p, n), lz_tracer_shape(n)));
        y = SEL(m, MUL(n, ARG(n, p < 1 ? 1 / (1 - p) : 0)), K(n, 0));
    }
    lz_tracer_also(c, y ? m : NULL, mask);
    return lz_tracer_end(c, y);
}
