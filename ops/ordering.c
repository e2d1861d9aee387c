/* ordering.c - sort, top-k, medians, quantiles, searchsorted: include/lazuli/order.h. Operations
 * that take few elements of a row find their positions and gather them, so that their gradient is a
 * scatter. */
#include "ops/order_builder.h"
#include "ops/compose.h"
#include <inttypes.h>
#include <lazuli/order.h>
#include <math.h>
#include <string.h>

/* ---- rows ---- */

/* x with at least one dimension, and the resolved dimension; all: x as one row. NULL after a
 * failure. */
static lz_node *rows_of(lz_tracer *c, lz_node *x, int64_t *dim)
{
    if (!x)
        return NULL;
    lz_shape s = *lz_tracer_shape(x);
    bool all = *dim == LZ_ALL_DIMS;
    if (!all && !lz_tracer_dim(*dim, s.rank, dim))
        return NULL;
    if (s.rank > 0 && !all)
        return x;
    *dim = 0;
    s = (lz_shape){.rank = 1, .dims = {lz_node_type(x)->nelem}};
    return lz_tracer_reshape(c, x, &s);
}

/* The shape of a per-row result: dim kept with extent 1, or removed. x is the tensor as given. */
static lz_shape reduced_shape(const lz_node *x, int64_t dim, bool keepdim)
{
    lz_shape s = *lz_tracer_shape(x), r = {0};
    if (dim != LZ_ALL_DIMS && s.rank > 0)
        (void)lz_tracer_dim(dim, s.rank, &dim);
    for (int i = 0; i < s.rank; i++) {
        bool gone = dim == LZ_ALL_DIMS || i == dim;
        if (!gone || keepdim)
            r.dims[r.rank++] = gone ? 1 : s.dims[i];
    }
    return r;
}

static bool not_empty(const lz_node *rows, int64_t dim)
{
    if (lz_tracer_shape(rows)->dims[dim] > 0)
        return true;
    LZ_FAIL(LZ_ESHAPE, "dimension %" PRId64 " is empty: no element can be taken of it", dim);
    return false;
}

/* ---- sorting ---- */

static lz_node *sorted(lz_tracer *c, lz_node *x, int64_t dim, bool descending, lz_node **indices)
{
    lz_node *values = NULL, *rows = rows_of(c, x, &dim);
    *indices = NULL;
    if (!rows || !(*indices = lz_tracer_argsort(c, rows, dim, descending, &values)))
        return NULL;
    *indices = lz_tracer_reshape(c, *indices, lz_tracer_shape(x));
    return lz_tracer_reshape(c, values, lz_tracer_shape(x));
}

lz_tensor *lz_sort_at(lz_tensor *x, int64_t dim, bool descending, lz_tensor **indices,
                      const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_sort");
    lz_node *i, *v = sorted(c, IN(x), dim, descending, &i);
    lz_tracer_also(c, i, indices);
    return lz_tracer_end(c, v);
}

lz_tensor *lz_argsort_at(lz_tensor *x, int64_t dim, bool descending, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_argsort");
    lz_node *i;
    (void)sorted(c, IN(x), dim, descending, &i);
    return lz_tracer_end(c, i);
}

lz_tensor *lz_msort_at(lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_msort");
    lz_node *n = IN(x);
    int64_t dim = 0;
    lz_node *rows = rows_of(c, n, &dim);
    return lz_tracer_end(
        c, rows ? lz_tracer_reshape(
                      c, lz_tracer_result(c, lz_tracer_sort(c, &rows, 1, 0, 1, false), 0),
                      lz_tracer_shape(n))
                : NULL);
}

/* Elements first..first+k-1 of the sorted rows; *where gets their places. */
static lz_node *part(lz_tracer *c, lz_node *rows, int64_t dim, bool descending, int64_t first,
                     int64_t k, lz_node **where)
{
    lz_node *all = lz_tracer_argsort(c, rows, dim, descending, NULL);
    *where = lz_tracer_slice_dim(c, all, dim, first, first + k, 1);
    return k ? lz_tracer_gather(c, rows, dim, *where) : lz_tracer_slice_dim(c, rows, dim, 0, 0, 1);
}

static lz_node *topk(lz_tracer *c, lz_node *x, int64_t k, int64_t dim, bool largest,
                     lz_node **where)
{
    lz_node *rows = rows_of(c, x, &dim);
    if (!rows)
        return NULL;
    if (k < 0 || k > lz_tracer_shape(rows)->dims[dim]) {
        LZ_FAIL(LZ_ERANGE, "k is %" PRId64 ", but dimension %" PRId64 " has %" PRId64 " elements",
                k, dim, lz_tracer_shape(rows)->dims[dim]);
        return NULL;
    }
    lz_node *v = part(c, rows, dim, largest, 0, k, where);
    if (!v || lz_tracer_shape(x)->rank > 0 || k == 0)
        return v;
    *where = lz_tracer_reshape(c, *where, lz_tracer_shape(x));
    return lz_tracer_reshape(c, v, lz_tracer_shape(x));
}

lz_tensor *lz_topk_at(lz_tensor *x, int64_t k, int64_t dim, bool largest, lz_tensor **indices,
                      const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_topk");
    lz_node *i = NULL, *v = topk(c, IN(x), k, dim, largest, &i);
    lz_tracer_also(c, v ? i : NULL, indices);
    return lz_tracer_end(c, v);
}

/* ---- one of every row ---- */

/* The elements of the rows at `where` (extent 1), and where they are, in the shape of one per
 * row. */
static lz_tensor *one_per_row(lz_tracer *c, lz_node *x, lz_node *rows, int64_t dim, int64_t row_dim,
                              bool keepdim, lz_node *where, lz_tensor **indices)
{
    lz_node *v = where ? lz_tracer_gather(c, rows, row_dim, where) : NULL;
    if (v) {
        lz_shape s = reduced_shape(x, dim, keepdim);
        v = lz_tracer_reshape(c, v, &s);
        where = lz_tracer_reshape(c, where, &s);
    }
    lz_tracer_also(c, v ? where : NULL, indices);
    return lz_tracer_end(c, v);
}

static lz_node *kth(lz_tracer *c, lz_node *rows, int64_t k, int64_t dim)
{
    int64_t n = rows ? lz_tracer_shape(rows)->dims[dim] : 0;
    if (rows && (k < 1 || k > n)) {
        LZ_FAIL(LZ_ERANGE, "k is %" PRId64 ", but dimension %" PRId64 " has %" PRId64 " elements",
                k, dim, n);
        return NULL;
    }
    return rows ? lz_tracer_slice_dim(c, lz_tracer_argsort(c, rows, dim, false, NULL), dim, k - 1,
                                      k, 1)
                : NULL;
}

lz_tensor *lz_kthvalue_at(lz_tensor *x, int64_t k, int64_t dim, bool keepdim, lz_tensor **indices,
                          const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_kthvalue");
    lz_node *n = IN(x);
    int64_t d = dim;
    lz_node *rows = rows_of(c, n, &d);
    return one_per_row(c, n, rows, dim, d, keepdim, kth(c, rows, k, d), indices);
}

/* The number of elements of each row that are not NaN: i64, dim kept. */
static lz_node *numbers_in(lz_tracer *c, lz_node *rows, int64_t dim)
{
    lz_reduced_dims r;
    lz_dims d = {1, {dim}};
    if (!rows || !lz_tracer_reduction_of(rows, &d, true, &r))
        return NULL;
    lz_node *is = TO(NOT(IS_NAN(rows)), LZ_I64);
    return lz_tracer_reduced(c, &r, lz_tracer_combine(c, &r, LZ_OP_ADD, is));
}

/* Position of each row's median in sorted order. NaN sorts last, so the first NaN stands where the
 * numbers end. */
static lz_node *median(lz_tracer *c, lz_node *rows, int64_t dim, bool leave_out)
{
    if (!rows || !not_empty(rows, dim))
        return NULL;
    int64_t n = lz_tracer_shape(rows)->dims[dim];
    lz_node *all = lz_tracer_argsort(c, rows, dim, false, NULL);
    if (!lz_dtype_is_float(lz_tracer_dtype(rows)))
        return lz_tracer_slice_dim(c, all, dim, (n - 1) / 2, (n - 1) / 2 + 1, 1);
    lz_node *m = numbers_in(c, rows, dim), *half, *at;
    if (!m)
        return NULL;
    half = lz_tracer_ew2(c, LZ_OP_DIVIDE, SUB(m, K(m, 1)), K(m, 2)); /* (0 - 1) / 2 is 0 */
    at = leave_out ? half : SEL(LT(m, K(m, (double)n)), m, half);
    return lz_tracer_gather(c, all, dim, at);
}

static lz_tensor *median_of(const char *name, lz_tensor *x, int64_t dim, bool keepdim,
                            lz_tensor **indices, bool leave_out, const lz_site *site)
{
    BEGIN(name);
    lz_node *n = IN(x);
    int64_t d = dim;
    lz_node *rows = rows_of(c, n, &d);
    return one_per_row(c, n, rows, dim, d, keepdim, median(c, rows, d, leave_out), indices);
}

lz_tensor *lz_median_at(lz_tensor *x, int64_t dim, bool keepdim, lz_tensor **indices,
                        const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return median_of("lz_median", x, dim, keepdim, indices, false, site);
}

lz_tensor *lz_nanmedian_at(lz_tensor *x, int64_t dim, bool keepdim, lz_tensor **indices,
                           const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return median_of("lz_nanmedian", x, dim, keepdim, indices, true, site);
}

/* The mode of the sorted row: position of the first of the longest runs of equal elements. */
static lz_node *mode(lz_tracer *c, lz_node *rows, int64_t dim)
{
    if (!rows || !not_empty(rows, dim))
        return NULL;
    lz_node *s = NULL, *where = lz_tracer_argsort(c, rows, dim, false, &s),
            *place = lz_tracer_places(c, s, dim);
    if (!where || !place)
        return NULL;
    lz_node *fresh =
        NE(s, lz_tracer_shift(c, s, dim, 1, lz_tracer_const(c, lz_tracer_dtype(s), 0, s)));
    fresh = OR(fresh, EQ(place, K(place, 0)));
    lz_node *start = lz_tracer_scan(c, LZ_OP_MAXIMUM, SEL(fresh, place, K(place, 0)), dim),
            *run = SUB(place, start);
    lz_reduced_dims r;
    lz_dims d = {1, {dim}};
    if (!run || !lz_tracer_reduction_of(run, &d, true, &r))
        return NULL;
    lz_node *longest = lz_tracer_spread(c, &r, lz_tracer_combine(c, &r, LZ_OP_MAXIMUM, run), run);
    int64_t n = lz_tracer_shape(rows)->dims[dim];
    lz_node *first =
        lz_tracer_combine(c, &r, LZ_OP_MINIMUM, SEL(EQ(run, longest), place, K(place, (double)n)));
    return lz_tracer_gather(c, where, dim, TO(lz_tracer_reduced(c, &r, first), LZ_I64));
}

lz_tensor *lz_mode_at(lz_tensor *x, int64_t dim, bool keepdim, lz_tensor **indices,
                      const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_mode");
    lz_node *n = IN(x);
    int64_t d = dim;
    lz_node *rows = rows_of(c, n, &d);
    return one_per_row(c, n, rows, dim, d, keepdim, mode(c, rows, d), indices);
}

/* ---- quantiles ---- */

typedef enum how { LINEAR, LOWER, HIGHER, MIDPOINT, NEAREST, NO_WAY } how;

static how way_of(const char *name)
{
    static const char *const names[] = {"linear", "lower", "higher", "midpoint", "nearest"};
    for (int i = 0; name && i < NO_WAY; i++)
        if (strcmp(names[i], name) == 0)
            return (how)i;
    LZ_FAIL(name ? LZ_EINVAL : LZ_ENULL,
            "interpolation \"%.40s\": linear, lower, higher, midpoint or nearest",
            name ? name : "");
    return NO_WAY;
}

/* q[m] or q[] along dim of `s`, where the extent is m: f64. */
static lz_node *spread_q(lz_tracer *c, lz_node *q, const lz_shape *s, int64_t dim)
{
    const lz_ints none = {0}, one = {.n = 1, .v = {dim}};
    q = TO(q, LZ_F64);
    if (!q)
        return NULL;
    q = SEL(IS_NAN(q), K(q, 0), MIN(MAX(q, K(q, 0)), K(q, 1)));
    return lz_tracer_broadcast_in_dim(c, q, lz_tracer_shape(q)->rank ? &one : &none, s);
}

static lz_node *pick(lz_tracer *c, lz_node *s, lz_node *rank, int64_t dim)
{
    return lz_tracer_gather(c, s, dim, TO(rank, LZ_I64));
}

/* Between the elements around `rank` of the sorted rows; equal ones are not subtracted, so that
 * infinities stay. */
static lz_node *interpolate(lz_tracer *c, lz_node *s, lz_node *rank, int64_t dim, how way)
{
    if (way == NEAREST)
        return pick(c, s, lz_tracer_ew1(c, LZ_OP_ROUND_NEAREST_EVEN, rank), dim);
    lz_node *lo = way == HIGHER ? NULL : pick(c, s, FLOOR(rank), dim),
            *hi = way == LOWER ? NULL : pick(c, s, CEIL(rank), dim);
    if (way == LOWER || way == HIGHER)
        return way == LOWER ? lo : hi;
    if (!lo || !hi)
        return NULL;
    lz_node *w = way == MIDPOINT ? K(lo, 0.5) : TO(SUB(rank, FLOOR(rank)), lz_tracer_dtype(lo));
    lz_node *d = SUB(hi, lo), *near = LT(w, K(w, 0.5));
    lz_node *mix = SEL(near, ADD(lo, MUL(w, d)), SUB(hi, MUL(d, SUB(K(w, 1), w))));
    return SEL(EQ(lo, hi), lo, mix);
}

/* With m numbers of q (m 1 for a scalar one): rows with extent m at dim. */
static lz_node *quantile_rows(lz_tracer *c, lz_node *rows, lz_node *q, int64_t dim, how way,
                              bool leave_out)
{
    lz_shape s = *lz_tracer_shape(rows);
    double n = (double)s.dims[dim];
    s.dims[dim] = lz_tracer_shape(q)->rank ? lz_tracer_shape(q)->dims[0] : 1;
    lz_node *m = numbers_in(c, rows, dim), *sorted_rows,
            *count = m ? lz_tracer_broadcast_in_dim(
                             c, lz_tracer_reshape(c, TO(m, LZ_F64), lz_tracer_shape(m)),
                             &(lz_ints){.n = s.rank, .v = {0, 1, 2, 3, 4, 5, 6, 7}}, &s)
                       : NULL;
    lz_node *at = spread_q(c, q, &s, dim);
    if (!at || !count)
        return NULL;
    at = MUL(at, leave_out ? MAX(SUB(count, K(count, 1)), K(count, 0)) : K(count, n - 1));
    (void)lz_tracer_argsort(c, rows, dim, false, &sorted_rows);
    lz_node *v = interpolate(c, sorted_rows, at, dim, way);
    return v && !leave_out ? SEL(EQ(count, K(count, n)), v, K(v, NAN)) : v;
}

static lz_node *quantile(lz_tracer *c, lz_node *x, lz_node *q, const lz_quantile_options *o,
                         bool leave_out)
{
    int64_t dim = o ? o->dim : 0;
    lz_node *rows = o && q && lz_tracer_is_float(x) ? rows_of(c, x, &dim) : NULL;
    how way = rows ? way_of(o->interpolation) : NO_WAY;
    if (way == NO_WAY || !not_empty(rows, dim))
        return NULL;
    if (lz_tracer_shape(q)->rank > 1) {
        LZ_FAIL(LZ_ESHAPE, "q has rank %d: it is a scalar, or a vector", lz_tracer_shape(q)->rank);
        return NULL;
    }
    lz_dtype d = lz_tracer_dtype(x);
    lz_node *v = TO(quantile_rows(c, lz_tracer_wide(c, rows), q, dim, way, leave_out), d);
    lz_shape r = reduced_shape(x, o->dim, o->keepdim);
    if (!v || lz_tracer_shape(q)->rank == 0)
        return v ? lz_tracer_reshape(c, v, &r) : NULL;
    lz_ints perm = {.n = 1, .v = {dim}};
    for (int i = 0; i < lz_tracer_shape(v)->rank; i++)
        if (i != dim)
            perm.v[perm.n++] = i;
    v = lz_tracer_transpose(c, v, &perm);
    if (r.rank == LZ_MAX_RANK) {
        LZ_FAIL(LZ_ESHAPE, "the result would have rank %d", r.rank + 1);
        return NULL;
    }
    memmove(r.dims + 1, r.dims, (size_t)r.rank++ * sizeof *r.dims);
    r.dims[0] = lz_tracer_shape(q)->dims[0];
    return v ? lz_tracer_reshape(c, v, &r) : NULL;
}

static lz_tensor *by_number(const char *name, lz_tensor *x, double q, const lz_quantile_options *o,
                            bool leave_out, const lz_site *site)
{
    BEGIN(name);
    OPTIONS(lz_quantile_options, opt, LZ_QUANTILE_DEFAULTS);
    lz_node *n = IN(x);
    if (n && !(q >= 0 && q <= 1)) {
        LZ_FAIL(LZ_EINVAL, "q is %g: it must be in [0, 1]", q);
        return lz_tracer_end(c, NULL);
    }
    lz_node *p = n ? lz_tracer_scalar(c, LZ_F64, q, n) : NULL;
    return lz_tracer_end(c, quantile(c, n, p, opt, leave_out));
}

static lz_tensor *by_tensor(const char *name, lz_tensor *x, lz_tensor *q,
                            const lz_quantile_options *o, bool leave_out, const lz_site *site)
{
    BEGIN(name);
    OPTIONS(lz_quantile_options, opt, LZ_QUANTILE_DEFAULTS);
    lz_node *n = IN(x), *p = n ? IN(q) : NULL;
    if (p && !lz_tracer_is_float(p))
        p = NULL;
    return lz_tracer_end(c, quantile(c, n, p, opt, leave_out));
}

lz_tensor *lz_quantile_at(lz_tensor *x, double q, const lz_quantile_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return by_number("lz_quantile", x, q, o, false, site);
}

lz_tensor *lz_nanquantile_at(lz_tensor *x, double q, const lz_quantile_options *o,
                             const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return by_number("lz_nanquantile", x, q, o, true, site);
}

lz_tensor *lz_quantile_tensor_at(lz_tensor *x, lz_tensor *q, const lz_quantile_options *o,
                                 const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return by_tensor("lz_quantile_tensor", x, q, o, false, site);
}

lz_tensor *lz_nanquantile_tensor_at(lz_tensor *x, lz_tensor *q, const lz_quantile_options *o,
                                    const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return by_tensor("lz_nanquantile_tensor", x, q, o, true, site);
}

/* ---- positions ---- */

static lz_node *positions(lz_tracer *c, lz_node *rows, lz_node *values, bool right)
{
    char tr[128], tv[128];
    if (!rows || !values)
        return NULL;
    const lz_shape *s = lz_tracer_shape(rows), *v = lz_tracer_shape(values);
    bool fits = s->rank == 1 || (s->rank == v->rank && s->rank > 0);
    for (int i = 0; fits && s->rank > 1 && i + 1 < s->rank; i++)
        fits = s->dims[i] == v->dims[i];
    if (!fits) {
        LZ_FAIL(LZ_ESHAPE,
                "sorted is %s, values %s: it must have rank 1, or the same extents but the last",
                lz_type_short(lz_node_type(rows), tr, sizeof tr),
                lz_type_short(lz_node_type(values), tv, sizeof tv));
        return NULL;
    }
    lz_dtype d = lz_tracer_result_dtype(rows, values);
    if (lz_dtype_is_complex(d)) {
        LZ_FAIL(LZ_EDTYPE, "complex numbers have no order");
        return NULL;
    }
    return d == LZ_DTYPE_NONE ? NULL : lz_tracer_searchsorted(c, TO(rows, d), TO(values, d), right);
}

lz_tensor *lz_searchsorted_at(lz_tensor *sorted_rows, lz_tensor *values, bool right,
                              const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_searchsorted");
    lz_node *s = IN(sorted_rows), *v = s ? IN(values) : NULL;
    return lz_tracer_end(c, positions(c, s, v, right));
}

lz_tensor *lz_bucketize_at(lz_tensor *x, lz_tensor *boundaries, bool right, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_bucketize");
    lz_node *v = IN(x), *b = v ? IN(boundaries) : NULL;
    if (b && lz_tracer_shape(b)->rank != 1) {
        LZ_FAIL(LZ_ESHAPE, "boundaries have rank %d: they are a vector", lz_tracer_shape(b)->rank);
        b = NULL;
    }
    return lz_tracer_end(c, positions(c, b, v, right));
}
