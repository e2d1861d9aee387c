/* statistics.c - standard deviations, extremes with positions, norms, distances, histograms:
 * include/lazuli/reduce_ops.h. */
#include "ops/index_builder.h"
#include "ops/compose.h"
#include <inttypes.h>
#include <lazuli/reduce_ops.h>
#include <math.h>

static lz_node *divide_by(lz_tracer *c, lz_node *x, double n)
{
    return DIV(x, K(x, n));
}

lz_node *lz_tracer_root(lz_tracer *c, lz_node *x)
{
    if (!x)
        return NULL;
    lz_node *zero = K(x, 0), *at0 = EQ(x, zero);
    return SEL(at0, zero, SQRT(SEL(at0, K(x, 1), x)));
}

/* The variance, or its root, and the mean. */
static lz_tensor *deviation(const char *name, bool std, lz_tensor *x, lz_tensor **mean,
                            const lz_reduce_options *o, const lz_site *site)
{
    lz_reduced_dims r;
    lz_node *m = NULL, *v = NULL;
    BEGIN(name);
    lz_node *n = lz_tracer_float(c, IN(x));
    lz_dtype d = lz_tracer_dtype(n);
    if (n && lz_tracer_reduction(n, o, &r)) {
        n = lz_tracer_wide(c, n);
        m = divide_by(c, lz_tracer_combine(c, &r, LZ_OP_ADD, n), (double)r.n);
        lz_node *e = SUB(n, lz_tracer_spread(c, &r, m, n));
        v = lz_tracer_corrected(c, lz_tracer_combine(c, &r, LZ_OP_ADD, lz_tracer_magnitude2(c, e)),
                                &r);
        v = TO(lz_tracer_reduced(c, &r, std ? lz_tracer_root(c, v) : v), lz_tracer_real_dtype(d));
        m = TO(lz_tracer_reduced(c, &r, m), d);
    }
    lz_tracer_also(c, m, mean);
    return lz_tracer_end(c, v);
}

lz_tensor *lz_std_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return deviation("lz_std", true, x, NULL, o, site);
}

lz_tensor *lz_var_mean_at(lz_tensor *x, lz_tensor **mean, const lz_reduce_options *o,
                          const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return deviation("lz_var_mean", false, x, mean, o, site);
}

lz_tensor *lz_std_mean_at(lz_tensor *x, lz_tensor **mean, const lz_reduce_options *o,
                          const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return deviation("lz_std_mean", true, x, mean, o, site);
}

/* ---- extremes ---- */

lz_tensor *lz_aminmax_at(lz_tensor *x, lz_tensor **max, const lz_reduce_options *o,
                         const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_reduced_dims r;
    lz_node *low = NULL, *high = NULL;
    BEGIN("lz_aminmax");
    lz_node *n = IN(x);
    if (n && lz_tracer_reduction(n, o, &r)) {
        if (r.n == 0) {
            LZ_FAIL(LZ_ESHAPE, "the reduced dimensions are empty: nothing is the smallest");
        } else if (lz_tracer_is_real(n)) {
            low = lz_tracer_reduced(c, &r, lz_tracer_combine(c, &r, LZ_OP_MINIMUM, n));
            high = lz_tracer_reduced(c, &r, lz_tracer_combine(c, &r, LZ_OP_MAXIMUM, n));
        }
    }
    lz_tracer_also(c, high, max);
    return lz_tracer_end(c, low);
}

/* The elements at one position of dim for each of the others; index has extent 1 there. */
static lz_node *at_position(lz_tracer *c, lz_node *x, int64_t dim, lz_node *index)
{
    lz_attr_any a;
    const lz_shape *s = lz_tracer_shape(x);
    if (!index)
        return NULL;
    if (s->rank == 0)
        return x;
    lz_attr_init(&a, LZ_ATTR_gather);
    a.as_gather.collapsed_slice_dims = a.as_gather.start_index_map = (lz_ints){.n = 1, .v = {dim}};
    for (int i = 0; i < s->rank; i++)
        if (i != dim)
            a.as_gather.operand_batching_dims.v[a.as_gather.operand_batching_dims.n++] = i;
    a.as_gather.start_indices_batching_dims = a.as_gather.operand_batching_dims;
    a.as_gather.index_vector_dim = s->rank;
    a.as_gather.slice_sizes.n = s->rank;
    for (int i = 0; i < s->rank; i++)
        a.as_gather.slice_sizes.v[i] = 1;
    lz_node *o[2] = {x, index};
    return lz_tracer_op(c, LZ_OP_GATHER, &a.head, o, 2);
}

static lz_tensor *extreme_along(const char *name, bool max, lz_tensor *x, int64_t dim, bool keepdim,
                                lz_tensor **indices, const lz_site *site)
{
    lz_reduced_dims r;
    lz_node *v = NULL, *at = NULL;
    BEGIN(name);
    lz_node *n = IN(x);
    if (n && lz_tracer_reduction_of(n, &(lz_dims){1, {dim}}, keepdim, &r) &&
        (at = lz_tracer_argminmax(c, max, n, dim))) {
        lz_shape rest = *lz_tracer_shape(at);
        v = lz_tracer_reshape(c, at_position(c, n, r.dims.v[0], lz_tracer_reshape(c, at, &r.kept)),
                              &rest);
        v = lz_tracer_reduced(c, &r, v);
        at = lz_tracer_reduced(c, &r, at);
    }
    lz_tracer_also(c, at, indices);
    return lz_tracer_end(c, v);
}

lz_tensor *lz_max_dim_at(lz_tensor *x, int64_t dim, bool keepdim, lz_tensor **indices,
                         const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return extreme_along("lz_max_dim", true, x, dim, keepdim, indices, site);
}

lz_tensor *lz_min_dim_at(lz_tensor *x, int64_t dim, bool keepdim, lz_tensor **indices,
                         const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return extreme_along("lz_min_dim", false, x, dim, keepdim, indices, site);
}

/* ---- counts ---- */

lz_tensor *lz_count_nonzero_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_reduced_dims r;
    BEGIN("lz_count_nonzero");
    lz_node *n = IN(x);
    if (!n || !lz_tracer_reduction(n, o, &r))
        return lz_tracer_end(c, NULL);
    n = TO(TO(n, LZ_BOOL), LZ_I64);
    return lz_tracer_end(c, lz_tracer_reduced(c, &r, lz_tracer_combine(c, &r, LZ_OP_ADD, n)));
}

static lz_tensor *without_nan(const char *name, bool mean, lz_tensor *x, const lz_reduce_options *o,
                              const lz_site *site)
{
    lz_reduced_dims r;
    BEGIN(name);
    lz_node *n = IN(x);
    if (!n || !lz_tracer_reduction(n, o, &r))
        return lz_tracer_end(c, NULL);
    lz_dtype d = r.dtype ? r.dtype : lz_tracer_dtype(n);
    if (mean ? lz_dtype_is_integral(d) : false)
        d = LZ_F32;
    if (!mean && lz_dtype_is_integral(d))
        d = LZ_I64;
    if (mean && !lz_dtype_is_float(d)) {
        LZ_FAIL(LZ_EDTYPE, "the mean of %s: of floats and integers, as floats", lz_dtype_name(d));
        return lz_tracer_end(c, NULL);
    }
    n = lz_tracer_wide(c, TO(n, d));
    lz_node *count = NULL;
    if (lz_dtype_is_float(lz_tracer_dtype(n))) {
        lz_node *nan = IS_NAN(n);
        n = SEL(nan, K(n, 0), n);
        count = mean ? TO(NOT(nan), lz_tracer_dtype(n)) : NULL;
    }
    lz_node *s = lz_tracer_combine(c, &r, LZ_OP_ADD, n);
    if (mean)
        s = DIV(s, lz_tracer_combine(c, &r, LZ_OP_ADD, count));
    return lz_tracer_end(c, TO(lz_tracer_reduced(c, &r, s), d));
}

lz_tensor *lz_nansum_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return without_nan("lz_nansum", false, x, o, site);
}

lz_tensor *lz_nanmean_at(lz_tensor *x, const lz_reduce_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return without_nan("lz_nanmean", true, x, o, site);
}

lz_tensor *lz_trace_at(lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    char text[128];
    lz_reduced_dims r;
    BEGIN("lz_trace");
    lz_node *n = IN(x);
    if (n && lz_tracer_shape(n)->rank != 2) {
        LZ_FAIL(LZ_ESHAPE, "%s is no matrix", lz_type_short(lz_node_type(n), text, sizeof text));
        n = NULL;
    }
    lz_dtype d = lz_tracer_dtype(n);
    if (lz_dtype_is_integral(d))
        n = TO(n, d = LZ_I64);
    n = lz_tracer_diagonal(c, lz_tracer_wide(c, n), 0, 0, 1);
    return lz_tracer_end(c, n && lz_tracer_reduction(n, NULL, &r)
                                ? TO(lz_tracer_combine(c, &r, LZ_OP_ADD, n), d)
                                : NULL);
}

/* ---- norms ---- */

/* The p-norm of x, wide, over the dimensions of r, which are removed. Where |x| or the sum is 0,
 * its power is not taken: the gradient there is 0. */
static lz_node *norm(lz_tracer *c, lz_node *x, double p, const lz_reduced_dims *r)
{
    if (!x)
        return NULL;
    if (isnan(p)) {
        LZ_FAIL(LZ_EINVAL, "the order of a norm is NaN");
        return NULL;
    }
    if (p == 0)
        return lz_tracer_combine(c, r, LZ_OP_ADD,
                                 TO(NE(x, K(x, 0)), lz_tracer_real_dtype(lz_tracer_dtype(x))));
    lz_node *a = ABS(x);
    if (isinf(p)) {
        if (r->n == 0) {
            LZ_FAIL(LZ_ESHAPE, "the reduced dimensions are empty: they have no norm of order %g",
                    p);
            return NULL;
        }
        return lz_tracer_combine(c, r, p > 0 ? LZ_OP_MAXIMUM : LZ_OP_MINIMUM, a);
    }
    if (p == 1)
        return lz_tracer_combine(c, r, LZ_OP_ADD, a);
    if (p == 2)
        return lz_tracer_root(c, lz_tracer_combine(c, r, LZ_OP_ADD, lz_tracer_magnitude2(c, x)));
    lz_node *zero = K(a, 0), *at0 = EQ(a, zero);
    lz_node *power = POW(p > 0 ? SEL(at0, K(a, 1), a) : a, K(a, p));
    lz_node *s = lz_tracer_combine(c, r, LZ_OP_ADD, p > 0 ? SEL(at0, zero, power) : power);
    lz_node *s0 = EQ(s, K(s, 0));
    lz_node *n = POW(p > 0 ? SEL(s0, K(s, 1), s) : s, K(s, 1 / p));
    return p > 0 ? SEL(s0, K(s, 0), n) : n;
}

lz_tensor *lz_linalg_vector_norm_at(lz_tensor *x, const lz_norm_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_reduced_dims r;
    BEGIN("lz_linalg_vector_norm");
    OPTIONS(lz_norm_options, p, LZ_NORM_DEFAULTS);
    lz_node *n = p ? IN(x) : NULL;
    if (n && p->dtype && !lz_dtype_is_float(p->dtype) && !lz_dtype_is_complex(p->dtype)) {
        LZ_FAIL(LZ_EDTYPE, "dtype %s: norms are of floats and complex numbers",
                lz_dtype_name(p->dtype));
        n = NULL;
    }
    if (n && lz_dtype_is_complex(lz_tracer_dtype(n)) && p->dtype &&
        !lz_dtype_is_complex(p->dtype)) {
        LZ_FAIL(LZ_EDTYPE, "dtype %s of %s: it would drop imaginary parts", lz_dtype_name(p->dtype),
                lz_dtype_name(lz_tracer_dtype(n)));
        n = NULL;
    }
    n = lz_tracer_float(c, n && p->dtype ? TO(n, p->dtype) : n);
    if (!n || !lz_tracer_reduction_of(n, &p->dims, p->keepdim, &r))
        return lz_tracer_end(c, NULL);
    lz_dtype d = lz_tracer_real_dtype(lz_tracer_dtype(n));
    return lz_tracer_end(
        c, TO(lz_tracer_reduced(c, &r, norm(c, lz_tracer_wide(c, n), p->ord, &r)), d));
}

static lz_node *renorm(lz_tracer *c, lz_node *x, double p, int64_t dim, double maxnorm)
{
    lz_reduced_dims r;
    lz_dims others = {0};
    char text[128];
    if (!x || !lz_tracer_dim(dim, lz_tracer_shape(x)->rank, &dim))
        return NULL;
    if (lz_tracer_shape(x)->rank < 2 || !(p > 0) || !(maxnorm >= 0)) {
        LZ_FAIL(LZ_EINVAL, "%s, p %g, maxnorm %g: needs rank 2 or more, p > 0, maxnorm >= 0",
                lz_type_short(lz_node_type(x), text, sizeof text), p, maxnorm);
        return NULL;
    }
    for (int i = 0; i < lz_tracer_shape(x)->rank; i++)
        if (i != dim)
            others.v[others.n++] = i;
    lz_dtype d = lz_tracer_dtype(x);
    x = lz_tracer_wide(c, x);
    if (!x || !lz_tracer_reduction_of(x, &others, false, &r))
        return NULL;
    lz_node *n = norm(c, x, p, &r), *most = ARG(n, maxnorm);
    lz_node *f = SEL(GT(n, most), DIV(most, ADD(n, K(n, 1e-7))), K(n, 1));
    return TO(MUL(x, lz_tracer_spread(c, &r, TO(f, lz_tracer_dtype(x)), x)), d);
}

lz_tensor *lz_renorm_at(lz_tensor *x, double p, int64_t dim, double maxnorm, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_renorm");
    return lz_tracer_end(c, renorm(c, lz_tracer_float(c, IN(x)), p, dim, maxnorm));
}

lz_tensor *lz_dist_at(lz_tensor *a, lz_tensor *b, double p, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_reduced_dims r;
    BEGIN("lz_dist");
    lz_node *x = lz_tracer_float(c, IN(a)), *y = x ? lz_tracer_float(c, IN(b)) : NULL;
    if (!y || !lz_tracer_match(c, &x, &y))
        return lz_tracer_end(c, NULL);
    lz_dtype d = lz_tracer_real_dtype(lz_tracer_dtype(x));
    lz_node *e = SUB(lz_tracer_wide(c, x), lz_tracer_wide(c, y));
    return lz_tracer_end(c,
                         e && lz_tracer_reduction(e, NULL, &r) ? TO(norm(c, e, p, &r), d) : NULL);
}

/* [.., P, M] as [.., P, 1, M] less [.., R, M] as [.., 1, R, M], their norms along the last. */
static lz_node *cdist(lz_tracer *c, lz_node *a, lz_node *b, double p)
{
    char ta[128], tb[128];
    lz_reduced_dims r;
    const lz_shape *sa = lz_tracer_shape(a), *sb = lz_tracer_shape(b);
    if (sa->rank < 2 || sb->rank < 2 || sa->rank >= LZ_MAX_RANK || sb->rank >= LZ_MAX_RANK ||
        sa->dims[sa->rank - 1] != sb->dims[sb->rank - 1]) {
        LZ_FAIL(LZ_ESHAPE, "%s and %s: rows of equal length are needed, [.., P, M] and [.., R, M]",
                lz_type_short(lz_node_type(a), ta, sizeof ta),
                lz_type_short(lz_node_type(b), tb, sizeof tb));
        return NULL;
    }
    if (!(p >= 0)) {
        LZ_FAIL(LZ_EINVAL, "p is %g: it must not be negative", p);
        return NULL;
    }
    bool nothing = sa->dims[sa->rank - 1] == 0;
    a = lz_tracer_unsqueeze(c, a, -2);
    b = lz_tracer_unsqueeze(c, b, -3);
    if (!a || !b || !lz_tracer_match(c, &a, &b))
        return NULL;
    lz_dtype d = lz_tracer_real_dtype(lz_tracer_dtype(a));
    lz_node *e = SUB(lz_tracer_wide(c, a), lz_tracer_wide(c, b));
    if (!e || !lz_tracer_reduction_of(e, &(lz_dims){1, {-1}}, false, &r))
        return NULL;
    return TO(nothing ? lz_tracer_combine(c, &r, LZ_OP_ADD, ABS(e)) : norm(c, e, p, &r), d);
}

lz_tensor *lz_cdist_at(lz_tensor *a, lz_tensor *b, double p, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_cdist");
    lz_node *x = lz_tracer_float(c, IN(a)), *y = x ? lz_tracer_float(c, IN(b)) : NULL;
    return lz_tracer_end(c, y ? cdist(c, x, y, p) : NULL);
}

/* Row i with the rows after it, for each i: what stands right of the diagonal, without computing
 * the rest. */
static lz_node *pdist(lz_tracer *c, lz_node *x, double p)
{
    char text[128];
    if (!x)
        return NULL;
    const lz_shape *s = lz_tracer_shape(x);
    if (s->rank != 2 || !(p >= 0)) {
        LZ_FAIL(LZ_ESHAPE, "%s, p %g: a matrix and p >= 0 are needed",
                lz_type_short(lz_node_type(x), text, sizeof text), p);
        return NULL;
    }
    int64_t n = s->dims[0], count = n * (n - 1) / 2;
    if (n > 1 << 20) {
        LZ_FAIL(LZ_ERANGE, "%" PRId64 " rows have too many pairs", n);
        return NULL;
    }
    lz_shape flat = {.rank = 1, .dims = {n * n}}, none = {.rank = 1, .dims = {0}};
    lz_node *all = cdist(c, x, x, p);
    if (n < 2)
        return lz_tracer_reshape(
            c, lz_tracer_slice_dim(c, lz_tracer_reshape(c, all, &flat), 0, 0, 0, 1), &none);
    /* the k-th pair (i, j) stands at i n + j; with the pairs counted from the end, row r from the
     * end has r of them */
    lz_shape ks = {.rank = 1, .dims = {count}};
    lz_node *k = SUB(lz_tracer_fill(c, lz_tracer_const(c, LZ_I64, (double)(count - 1), x), &ks),
                     lz_tracer_iota(c, LZ_I64, &ks, 0, x));
    lz_node *f = TO(k, LZ_F64);
    lz_node *root8 = SQRT(ADD(MUL(f, K(f, 8)), K(f, 1)));
    lz_node *r = TO(FLOOR(DIV(SUB(root8, K(f, 1)), K(f, 2))), LZ_I64);
    lz_node *before =
        DIV(MUL(r, ADD(r, K(r, 1))), K(r, 2)); /* pairs of the rows nearer to the end */
    lz_node *i = SUB(K(r, (double)(n - 2)), r), *j = SUB(K(r, (double)(n - 1)), SUB(k, before));
    return lz_tracer_take(c, lz_tracer_reshape(c, all, &flat), 0, ADD(MUL(i, K(i, (double)n)), j));
}

lz_tensor *lz_pdist_at(lz_tensor *x, double p, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_pdist");
    return lz_tracer_end(c, pdist(c, lz_tracer_float(c, IN(x)), p));
}

lz_tensor *lz_cosine_similarity_at(lz_tensor *a, lz_tensor *b, int64_t dim, double eps,
                                   const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_reduced_dims r;
    BEGIN("lz_cosine_similarity");
    lz_node *x = lz_tracer_float(c, IN(a)), *y = x ? lz_tracer_float(c, IN(b)) : NULL;
    if (!y || !lz_tracer_match(c, &x, &y) || !lz_tracer_is_real(x) ||
        !lz_tracer_reduction_of(x, &(lz_dims){1, {dim}}, false, &r))
        return lz_tracer_end(c, NULL);
    lz_dtype d = lz_tracer_dtype(x);
    x = lz_tracer_wide(c, x);
    y = lz_tracer_wide(c, y);
    lz_node *nx = norm(c, x, 2, &r), *ny = norm(c, y, 2, &r), *e = ARG(nx, eps);
    lz_node *dot = lz_tracer_combine(c, &r, LZ_OP_ADD, MUL(x, y));
    return lz_tracer_end(c, TO(DIV(dot, MUL(MAX(nx, e), MAX(ny, e))), d));
}

/* ---- histograms ---- */

/* updates added into n zeros at the indices; what is outside is dropped. */
static lz_node *add_up(lz_tracer *c, int64_t n, lz_node *index, lz_node *updates)
{
    lz_attr_any a;
    lz_shape s = {.rank = 1, .dims = {n}};
    if (!index || !updates)
        return NULL;
    lz_attr_init(&a, LZ_ATTR_scatter);
    a.as_scatter.inserted_window_dims = a.as_scatter.scatter_dims_to_operand_dims =
        (lz_ints){.n = 1, .v = {0}};
    a.as_scatter.index_vector_dim = 1;
    if (!(a.as_scatter.update_computation = lz_region_binary(LZ_OP_ADD, lz_tracer_dtype(updates))))
        return NULL;
    lz_node *o[3] = {
        lz_tracer_fill(c, lz_tracer_const(c, lz_tracer_dtype(updates), 0, updates), &s), index,
        updates};
    return lz_tracer_result(c, lz_tracer_op(c, LZ_OP_SCATTER, &a.head, o, 3), 0);
}

static lz_node *histc(lz_tracer *c, lz_node *x, int64_t bins, double min, double max)
{
    lz_reduced_dims r;
    lz_node *lo, *hi;
    if (!lz_tracer_is_float(x))
        return NULL;
    if (bins < 1 || !(min <= max) || !isfinite(min) || !isfinite(max)) {
        LZ_FAIL(LZ_EINVAL, "%" PRId64 " bins from %g to %g", bins, min, max);
        return NULL;
    }
    lz_shape flat = {.rank = 1, .dims = {lz_node_type(x)->nelem}};
    lz_dtype d = lz_tracer_dtype(x);
    x = lz_tracer_wide(c, lz_tracer_reshape(c, x, &flat));
    if (min == max && flat.dims[0] > 0) {
        if (!x || !lz_tracer_reduction(x, NULL, &r))
            return NULL;
        lo = lz_tracer_combine(c, &r, LZ_OP_MINIMUM, x);
        hi = lz_tracer_combine(c, &r, LZ_OP_MAXIMUM, x);
        lz_node *same = EQ(lo, hi), *one = K(lo, 1), *zero = K(lo, 0);
        lo = SUB(lo, SEL(same, one, zero));
        hi = ADD(hi, SEL(same, one, zero));
    } else {
        lo = lz_tracer_scalar(c, lz_tracer_dtype(x), min, x);
        hi = lz_tracer_scalar(c, lz_tracer_dtype(x), max, x);
    }
    lo = lz_tracer_fill(c, lo, &flat);
    hi = lz_tracer_fill(c, hi, &flat);
    lz_node *inside = AND(GE(x, lo), LE(x, hi));
    lz_node *at = TO(MUL(DIV(SUB(x, lo), SUB(hi, lo)), K(x, (double)bins)), LZ_I64);
    at = MIN(at, K(at, (double)(bins - 1)));
    lz_node *n = add_up(c, bins, SEL(inside, at, K(at, -1)), K(at, 1));
    return TO(n, d);
}

lz_tensor *lz_histc_at(lz_tensor *x, int64_t bins, double min, double max, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_histc");
    return lz_tracer_end(c, histc(c, IN(x), bins, min, max));
}

static lz_node *bincount(lz_tracer *c, lz_node *x, lz_node *w, int64_t size)
{
    char tx[128], tw[128] = "none";
    if (!lz_dtype_is_int(lz_tracer_dtype(x)) || lz_tracer_shape(x)->rank != 1 ||
        (w && !lz_shape_eq(lz_tracer_shape(x), lz_tracer_shape(w)))) {
        LZ_FAIL(LZ_ESHAPE, "x is %s, weights %s: integers of rank 1 and as many weights are needed",
                lz_type_short(lz_node_type(x), tx, sizeof tx),
                w ? lz_type_short(lz_node_type(w), tw, sizeof tw) : tw);
        return NULL;
    }
    if (size < 0) {
        LZ_FAIL(LZ_EINVAL, "size is %" PRId64, size);
        return NULL;
    }
    if (lz_tracer_dtype(x) == LZ_U64) /* what is too large for i64 is outside, not negative */
        x = MIN(x, K(x, 9223372036854774784.0));
    x = TO(x, LZ_I64);
    if (w && lz_dtype_is_integral(lz_tracer_dtype(w)))
        w = TO(w, LZ_F64);
    lz_dtype d = lz_tracer_dtype(w);
    return w ? TO(add_up(c, size, x, lz_tracer_wide(c, w)), d) : add_up(c, size, x, K(x, 1));
}

lz_tensor *lz_bincount_at(lz_tensor *x, lz_tensor *weights, int64_t size, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_bincount");
    lz_node *n = IN(x), *w = n && weights ? IN(weights) : NULL;
    return lz_tracer_end(c, n && (w || !weights) ? bincount(c, n, w, size) : NULL);
}
