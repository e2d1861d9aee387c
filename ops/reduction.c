/* reduction.c - reductions, composites of them, and matrix products, with ATen's rules:
 * include/lazuli/tensor_ops.h. 16-bit floats are computed in f32 and rounded once, at the end. */
#include "ops/compose.h"
#include <inttypes.h>
#include <lazuli/tensor_ops.h>
#include <math.h>

static const lz_type *type_of(const lz_node *x)
{
    return lz_node_type(x);
}

static lz_node *total(lz_tracer *c, lz_op op, lz_node *x, const lz_reduce_options *o)
{
    lz_reduced_dims r;
    if (!x || !lz_tracer_reduction(x, o, &r))
        return NULL;
    lz_dtype d = r.dtype                                   ? r.dtype
                 : lz_dtype_is_integral(type_of(x)->dtype) ? LZ_I64
                                                           : type_of(x)->dtype;
    x = lz_tracer_wide(c, lz_tracer_convert(c, x, d));
    return lz_tracer_convert(c, lz_tracer_reduced(c, &r, lz_tracer_combine(c, &r, op, x)), d);
}

lz_tensor *lz_sum_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_sum");
    return lz_tracer_end(c, total(c, LZ_OP_ADD, lz_tracer_in(c, x), o));
}

lz_tensor *lz_prod_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_prod");
    return lz_tracer_end(c, total(c, LZ_OP_MULTIPLY, lz_tracer_in(c, x), o));
}

static lz_node *divide_by(lz_tracer *c, lz_node *x, double n)
{
    return lz_tracer_ew2(c, LZ_OP_DIVIDE, x, lz_tracer_const_like(c, x, n));
}

static lz_node *mean(lz_tracer *c, lz_node *x, const lz_reduce_options *o)
{
    lz_reduced_dims r;
    if (!x || !lz_tracer_reduction(x, o, &r) ||
        !(x = lz_tracer_float(c, r.dtype ? lz_tracer_convert(c, x, r.dtype) : x)))
        return NULL;
    lz_dtype d = type_of(x)->dtype;
    lz_node *m =
        divide_by(c, lz_tracer_combine(c, &r, LZ_OP_ADD, lz_tracer_wide(c, x)), (double)r.n);
    return lz_tracer_convert(c, lz_tracer_reduced(c, &r, m), d);
}

lz_tensor *lz_mean_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_mean");
    return lz_tracer_end(c, mean(c, lz_tracer_in(c, x), o));
}

static lz_node *extreme(lz_tracer *c, lz_op op, lz_node *x, const lz_reduce_options *o)
{
    lz_reduced_dims r;
    if (!lz_tracer_is_real(x) || !lz_tracer_reduction(x, o, &r))
        return NULL;
    if (r.n == 0) {
        LZ_FAIL(LZ_ESHAPE, "the reduced dimensions are empty: nothing is the %s",
                op == LZ_OP_MAXIMUM ? "largest" : "smallest");
        return NULL;
    }
    return lz_tracer_reduced(c, &r, lz_tracer_combine(c, &r, op, x));
}

lz_tensor *lz_amax_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_amax");
    return lz_tracer_end(c, extreme(c, LZ_OP_MAXIMUM, lz_tracer_in(c, x), o));
}

lz_tensor *lz_amin_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_amin");
    return lz_tracer_end(c, extreme(c, LZ_OP_MINIMUM, lz_tracer_in(c, x), o));
}

static lz_node *truth(lz_tracer *c, lz_op op, lz_node *x, const lz_reduce_options *o)
{
    lz_reduced_dims r;
    if (!(x = lz_tracer_convert(c, x, LZ_BOOL)) || !lz_tracer_reduction(x, o, &r))
        return NULL;
    return lz_tracer_reduced(c, &r, lz_tracer_combine(c, &r, op, x));
}

lz_tensor *lz_any_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_any");
    return lz_tracer_end(c, truth(c, LZ_OP_OR, lz_tracer_in(c, x), o));
}

lz_tensor *lz_all_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_all");
    return lz_tracer_end(c, truth(c, LZ_OP_AND, lz_tracer_in(c, x), o));
}

/* Two-pass variance: first the mean, then the squared deviations. */
static lz_node *variance(lz_tracer *c, lz_node *x, const lz_reduce_options *o)
{
    lz_reduced_dims r;
    if (!(x = lz_tracer_float(c, x)) || !lz_tracer_reduction(x, o, &r))
        return NULL;
    lz_dtype d = type_of(x)->dtype;
    x = lz_tracer_wide(c, x);
    lz_node *m = lz_tracer_spread(
        c, &r, divide_by(c, lz_tracer_combine(c, &r, LZ_OP_ADD, x), (double)r.n), x);
    lz_node *e = lz_tracer_ew2(c, LZ_OP_SUBTRACT, x, m);
    lz_node *v = lz_tracer_combine(c, &r, LZ_OP_ADD, lz_tracer_magnitude2(c, e));
    return lz_tracer_convert(c, lz_tracer_reduced(c, &r, lz_tracer_corrected(c, v, &r)),
                             lz_tracer_real_dtype(d));
}

lz_tensor *lz_var_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_var");
    return lz_tracer_end(c, variance(c, lz_tracer_in(c, x), o));
}

/* log(sum(exp(x - m))) + m with m the largest, or 0 where that is infinite. m cancels, so it has no
 * gradient. Of nothing but -infinity it is that, and the gradient 0. */
static lz_node *logsumexp(lz_tracer *c, lz_node *x, const lz_reduce_options *o)
{
    lz_reduced_dims r;
    if (!(x = lz_tracer_float(c, x)) || !lz_tracer_reduction(x, o, &r))
        return NULL;
    lz_dtype d = type_of(x)->dtype;
    x = lz_tracer_wide(c, x);
    lz_node *m = lz_tracer_combine(c, &r, LZ_OP_MAXIMUM, x);
    m = lz_tracer_no_gradient(lz_tracer_ew3(c, LZ_OP_SELECT, lz_tracer_ew1(c, LZ_OP_IS_FINITE, m),
                                            m, lz_tracer_const_like(c, m, 0)));
    lz_node *e = lz_tracer_ew1(c, LZ_OP_EXPONENTIAL,
                               lz_tracer_ew2(c, LZ_OP_SUBTRACT, x, lz_tracer_spread(c, &r, m, x)));
    lz_node *s = lz_tracer_combine(c, &r, LZ_OP_ADD, e);
    lz_node *none = lz_tracer_compare(c, LZ_CMP_EQ, s, lz_tracer_const_like(c, s, 0));
    s = lz_tracer_ew3(c, LZ_OP_SELECT, none, lz_tracer_const_like(c, s, 1), s);
    s = lz_tracer_ew2(c, LZ_OP_ADD, lz_tracer_ew1(c, LZ_OP_LOG, s), m);
    s = lz_tracer_ew3(c, LZ_OP_SELECT, none, lz_tracer_const_like(c, s, -INFINITY), s);
    return lz_tracer_convert(c, lz_tracer_reduced(c, &r, s), d);
}

lz_tensor *lz_logsumexp_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_logsumexp");
    return lz_tracer_end(c, logsumexp(c, lz_tracer_in(c, x), o));
}

lz_node *lz_tracer_softmax(lz_tracer *c, lz_node *x, int64_t dim, bool logarithm)
{
    lz_reduced_dims r;
    lz_reduce_options o = {.struct_size = sizeof o, .dims = {1, {dim}}};
    if (!(x = lz_tracer_float(c, x)) || !lz_tracer_reduction(x, &o, &r))
        return NULL;
    lz_dtype d = type_of(x)->dtype;
    x = lz_tracer_wide(c, x);
    lz_node *m = lz_tracer_no_gradient(
        lz_tracer_spread(c, &r, lz_tracer_combine(c, &r, LZ_OP_MAXIMUM, x), x));
    if (m == x) /* a scalar is its own maximum; the stop-gradient must not apply to x itself */
        m = lz_tracer_detached(c, x);
    lz_node *z = lz_tracer_ew2(c, LZ_OP_SUBTRACT, x, m),
            *e = lz_tracer_ew1(c, LZ_OP_EXPONENTIAL, z);
    lz_node *s = lz_tracer_combine(c, &r, LZ_OP_ADD, e);
    lz_node *y = logarithm
                     ? lz_tracer_ew2(c, LZ_OP_SUBTRACT, z,
                                     lz_tracer_spread(c, &r, lz_tracer_ew1(c, LZ_OP_LOG, s), x))
                     : lz_tracer_ew2(c, LZ_OP_DIVIDE, e, lz_tracer_spread(c, &r, s, x));
    return lz_tracer_convert(c, y, d);
}

lz_tensor *lz_softmax_at(lz_tensor *x, int64_t dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_softmax");
    return lz_tracer_end(c, lz_tracer_softmax(c, lz_tracer_in(c, x), dim, false));
}

lz_tensor *lz_log_softmax_at(lz_tensor *x, int64_t dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_log_softmax");
    return lz_tracer_end(c, lz_tracer_softmax(c, lz_tracer_in(c, x), dim, true));
}

/* ---- products ---- */

static lz_node *dot(lz_tracer *c, lz_node *a, lz_node *b, int nbatch, int64_t ka, int64_t kb)
{
    lz_attr_any r;
    lz_attr_init(&r, LZ_ATTR_dot);
    r.as_dot.lhs_batching_dimensions.n = r.as_dot.rhs_batching_dimensions.n = nbatch;
    for (int i = 0; i < nbatch; i++)
        r.as_dot.lhs_batching_dimensions.v[i] = r.as_dot.rhs_batching_dimensions.v[i] = i;
    r.as_dot.lhs_contracting_dimensions = (lz_ints){.n = 1, .v = {ka}};
    r.as_dot.rhs_contracting_dimensions = (lz_ints){.n = 1, .v = {kb}};
    lz_node *o[2] = {a, b};
    return lz_tracer_op(c, LZ_OP_DOT_GENERAL, &r.head, o, 2);
}

/* Both to the same dtype; false after a failure. */
static bool same_dtype(lz_tracer *c, lz_node **a, lz_node **b)
{
    lz_dtype d = lz_promote(type_of(*a)->dtype, type_of(*b)->dtype);
    if (d == LZ_DTYPE_NONE) {
        LZ_FAIL(LZ_EDTYPE, "%s and %s have no common dtype", lz_dtype_name(type_of(*a)->dtype),
                lz_dtype_name(type_of(*b)->dtype));
        return false;
    }
    *a = lz_tracer_convert(c, *a, d);
    *b = lz_tracer_convert(c, *b, d);
    return *a && *b;
}

static lz_shape batch_of(const lz_node *x)
{
    lz_shape s = type_of(x)->shape;
    s.rank -= 2;
    s.dims[s.rank] = s.dims[s.rank + 1] = 0;
    return s;
}

static lz_node *with_batch(lz_tracer *c, lz_node *x, const lz_shape *batch)
{
    const lz_shape *s = &type_of(x)->shape;
    lz_shape to = *batch;
    to.dims[to.rank++] = s->dims[s->rank - 2];
    to.dims[to.rank++] = s->dims[s->rank - 1];
    return lz_tracer_expand(c, x, &to);
}

static lz_node *matmul_batched(lz_tracer *c, lz_node *a, lz_node *b)
{
    lz_shape sa = batch_of(a), sb = batch_of(b), s;
    if (!lz_tracer_broadcast_shapes(&sa, &sb, &s)) {
        char ta[128], tb[128];
        LZ_FAIL(LZ_ESHAPE, "%s times %s: the dimensions before the last two do not broadcast",
                lz_type_short(type_of(a), ta, sizeof ta), lz_type_short(type_of(b), tb, sizeof tb));
        return NULL;
    }
    a = with_batch(c, a, &s);
    b = with_batch(c, b, &s);
    return a && b ? dot(c, a, b, s.rank, s.rank + 1, s.rank) : NULL;
}

lz_node *lz_tracer_matmul(lz_tracer *c, lz_node *a, lz_node *b)
{
    char ta[128], tb[128];
    if (!a || !b)
        return NULL;
    const lz_shape *sa = &type_of(a)->shape, *sb = &type_of(b)->shape;
    int ra = sa->rank, rb = sb->rank;
    if (ra == 0 || rb == 0) {
        LZ_FAIL(LZ_ESHAPE, "%s and %s: a product needs vectors or matrices",
                lz_type_short(type_of(a), ta, sizeof ta), lz_type_short(type_of(b), tb, sizeof tb));
        return NULL;
    }
    int64_t ka = sa->dims[ra - 1], kb = sb->dims[rb == 1 ? 0 : rb - 2];
    if (ka != kb) {
        LZ_FAIL(LZ_ESHAPE,
                "%s times %s: the last extent of the first is %" PRId64
                ", the %s of the second %" PRId64,
                lz_type_short(type_of(a), ta, sizeof ta), lz_type_short(type_of(b), tb, sizeof tb),
                ka, rb == 1 ? "only one" : "last but one", kb);
        return NULL;
    }
    if (!same_dtype(c, &a, &b))
        return NULL;
    if (rb == 1 || rb == 2) /* the free dimensions come out in ATen's order */
        return dot(c, a, b, 0, ra - 1, 0);
    if (ra == 1)
        return dot(c, b, a, 0, rb - 2, 0);
    return matmul_batched(c, a, b);
}

lz_tensor *lz_matmul_at(lz_tensor *a, lz_tensor *b, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_matmul");
    lz_node *x = lz_tracer_in(c, a), *y = x ? lz_tracer_in(c, b) : NULL;
    return lz_tracer_end(c, lz_tracer_matmul(c, x, y));
}

static lz_node *linear(lz_tracer *c, lz_node *x, lz_node *w, lz_node *bias)
{
    char tx[128], tw[128];
    const lz_shape *sx = &type_of(x)->shape, *sw = &type_of(w)->shape;
    if (sx->rank < 1 || sw->rank != 2 || sx->dims[sx->rank - 1] != sw->dims[1]) {
        LZ_FAIL(LZ_ESHAPE, "x is %s, weight %s: they must be [..., in] and [out, in]",
                lz_type_short(type_of(x), tx, sizeof tx), lz_type_short(type_of(w), tw, sizeof tw));
        return NULL;
    }
    if (bias && (type_of(bias)->shape.rank != 1 || type_of(bias)->shape.dims[0] != sw->dims[0])) {
        LZ_FAIL(LZ_ESHAPE, "bias is %s, weight %s: bias must be [out]",
                lz_type_short(type_of(bias), tx, sizeof tx),
                lz_type_short(type_of(w), tw, sizeof tw));
        return NULL;
    }
    if (!same_dtype(c, &x, &w))
        return NULL;
    lz_node *y = dot(c, x, w, 0, sx->rank - 1, 1);
    return bias ? lz_tracer_binary(c, LZ_OP_ADD, y, bias) : y;
}

lz_tensor *lz_linear_at(lz_tensor *x, lz_tensor *weight, lz_tensor *bias, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linear");
    lz_node *a = lz_tracer_in(c, x), *w = a ? lz_tracer_in(c, weight) : NULL,
            *b = w && bias ? lz_tracer_in(c, bias) : NULL;
    return lz_tracer_end(c, w && (b || !bias) ? linear(c, a, w, b) : NULL);
}
