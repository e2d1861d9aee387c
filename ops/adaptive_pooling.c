/* adaptive_pooling.c - adaptive and fractional pooling, and max unpooling:
 * include/lazuli/window_ops.h. */
#include "ops/index_builder.h"
#include "ops/compose.h"
#include <inttypes.h>
#include <lazuli/window_ops.h>

/* The longest window [floor(i in / out), ceil((i + 1) in / out)): with p / q = in / out in lowest
 * terms, i p mod q takes every value, and q - 1 gives it. */
static int64_t longest_window(int64_t in, int64_t out)
{
    int64_t p = in, q = out;
    while (q) {
        int64_t r = p % q;
        p = q;
        q = r;
    }
    int64_t gcd = p;
    p = in / gcd;
    q = out / gcd;
    return q == 1 ? p : (p + q - 2) / q + 1;
}

/* The windows of one dimension, padded to [out, longest]: positions of the elements, and which of
 * them belong to the window. */
static lz_node *ragged(lz_tracer *c, const lz_node *like, int64_t in, int64_t out, lz_node **inside)
{
    lz_shape s = lz_shape_make(2, (int64_t[]){out, longest_window(in, out)});
    lz_node *i = lz_tracer_iota(c, LZ_I64, &s, 0, like),
            *j = lz_tracer_iota(c, LZ_I64, &s, 1, like);
    lz_node *first = DIV(MUL(i, K(i, (double)in)), K(i, (double)out));
    lz_node *end = DIV(ADD(MUL(ADD(i, K(i, 1)), K(i, (double)in)), K(i, (double)(out - 1))),
                       K(i, (double)out));
    lz_node *at = ADD(first, j);
    *inside = LT(at, end);
    return MIN(at, K(at, (double)(in - 1)));
}

/* Dimension d of x replaced by its windows: extents out, longest. Positions beyond a window hold
 * `outside`. */
static lz_node *take_windows(lz_tracer *c, lz_node *x, int d, int64_t out, lz_node *outside)
{
    lz_node *inside, *at;
    if (!x)
        return NULL;
    const lz_shape *s = lz_tracer_shape(x);
    at = ragged(c, x, s->dims[d], out, &inside);
    if (!at || !inside)
        return NULL;
    lz_shape flat = lz_shape_make(1, &lz_node_type(at)->nelem), cut = {.rank = s->rank + 1};
    for (int k = 0; k < cut.rank; k++)
        cut.dims[k] = k < d       ? s->dims[k]
                      : k > d + 1 ? s->dims[k - 1]
                                  : lz_tracer_shape(at)->dims[k - d];
    const lz_ints where = {2, {d, d + 1}};
    lz_node *y =
        lz_tracer_reshape(c, lz_tracer_take(c, x, d, lz_tracer_reshape(c, at, &flat)), &cut);
    return SEL(lz_tracer_broadcast_in_dim(c, inside, &where, &cut), y,
               lz_tracer_fill(c, outside, &cut));
}

static bool sizes(const lz_node *x, const lz_shape *size, int n, int64_t *out)
{
    char text[160];
    const lz_shape *s = lz_tracer_shape(x);
    if (size->rank != n || (s->rank != n + 1 && s->rank != n + 2)) {
        LZ_FAIL(LZ_ESHAPE,
                "x is %s, output_size has %d extents: x must have rank %d or %d, and %d "
                "extents are needed",
                lz_type_short(lz_node_type(x), text, sizeof text), size->rank, n + 1, n + 2, n);
        return false;
    }
    for (int d = 0; d < n; d++) {
        int64_t in = s->dims[s->rank - n + d];
        out[d] = size->dims[d] == -1 ? in : size->dims[d];
        if (out[d] < 1 || in < 1 || out[d] > INT32_MAX || in > INT32_MAX) {
            LZ_FAIL(LZ_ESHAPE, "dimension %d: %" PRId64 " windows over an extent of %" PRId64, d,
                    out[d], in);
            return false;
        }
    }
    return true;
}

static lz_node *adaptive_avg(lz_tracer *c, lz_node *x, int n, const int64_t *out)
{
    for (int k = 0; k < n && x; k++) {
        int rank = lz_tracer_shape(x)->rank, d = rank - n + k;
        int64_t in = lz_tracer_shape(x)->dims[d];
        const lz_ints reduced = {1, {d + 1}}, where = {1, {d}};
        if (in % out[k] == 0) { /* windows of one size */
            lz_shape cut = {.rank = rank + 1};
            for (int i = 0; i <= rank; i++)
                cut.dims[i] = lz_tracer_shape(x)->dims[i > d ? i - 1 : i];
            cut.dims[d] = out[k];
            cut.dims[d + 1] = in / out[k];
            x = lz_tracer_reduce(c, LZ_OP_ADD, lz_tracer_reshape(c, x, &cut), &reduced);
            x = DIV(x, K(x, (double)(in / out[k])));
            continue;
        }
        lz_node *inside;
        lz_node *y = take_windows(c, x, d, out[k], lz_tracer_const(c, lz_tracer_dtype(x), 0, x));
        if (!y || !ragged(c, x, in, out[k], &inside))
            return NULL;
        y = lz_tracer_reduce(c, LZ_OP_ADD, y, &reduced);
        const lz_ints one = {1, {1}};
        lz_node *count = lz_tracer_reduce(c, LZ_OP_ADD, TO(inside, lz_tracer_dtype(x)), &one);
        x = y ? DIV(y, lz_tracer_broadcast_in_dim(c, count, &where, lz_tracer_shape(y))) : NULL;
    }
    return x;
}

static lz_tensor *adaptive_averages(const char *name, int n, lz_tensor *x, const lz_shape *size,
                                    const lz_site *site)
{
    int64_t out[3];
    BEGIN(name);
    lz_node *a = lz_tracer_float(c, IN(x));
    lz_dtype d = lz_tracer_dtype(a);
    bool ok = a && sizes(a, size, n, out);
    return lz_tracer_end(c, ok ? TO(adaptive_avg(c, lz_tracer_wide(c, a), n, out), d) : NULL);
}

lz_tensor *lz_adaptive_avg_pool1d_at(lz_tensor *x, int64_t output_size, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_shape s = lz_shape_make(1, &output_size);
    return adaptive_averages("lz_adaptive_avg_pool1d", 1, x, &s, site);
}

lz_tensor *lz_adaptive_avg_pool2d_at(lz_tensor *x, lz_shape output_size, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return adaptive_averages("lz_adaptive_avg_pool2d", 2, x, &output_size, site);
}

lz_tensor *lz_adaptive_avg_pool3d_at(lz_tensor *x, lz_shape output_size, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return adaptive_averages("lz_adaptive_avg_pool3d", 3, x, &output_size, site);
}

/* Windows of the last n dimensions: x [.., o1, l1, o2, l2, ..] for sizes o and longest windows
 * l. */
static lz_node *all_windows(lz_tracer *c, lz_node *x, int n, const int64_t *out, lz_node *outside)
{
    int first = lz_tracer_shape(x)->rank - n;
    for (int k = 0; k < n && x; k++)
        x = take_windows(c, x, first + 2 * k, out[k], outside);
    return x;
}

/* Dimensions first, first + 2, ..: n of them. */
static lz_ints every_other(int first, int n)
{
    lz_ints d = {.n = n};
    for (int k = 0; k < n; k++)
        d.v[k] = first + 2 * k;
    return d;
}

/* Row-major positions among the last n dimensions of x. */
static lz_node *positions(lz_tracer *c, const lz_node *x, int n)
{
    const lz_shape *s = lz_tracer_shape(x);
    lz_shape spatial = lz_shape_make(n, s->dims + s->rank - n), flat = {.rank = 1, .dims = {1}};
    for (int d = 0; d < n; d++)
        flat.dims[0] *= spatial.dims[d];
    return lz_tracer_reshape(c, lz_tracer_iota(c, LZ_I64, &flat, 0, x), &spatial);
}

/* Of the `hit` elements of each window, at positions `at`: the first, or the last. None: beyond
 * all, or -1. */
static lz_node *extreme(lz_tracer *c, bool last, lz_node *hit, lz_node *at, const lz_ints *within)
{
    lz_node *other = K(at, last ? -1 : 0x1p62);
    return lz_tracer_reduce(c, last ? LZ_OP_MAXIMUM : LZ_OP_MINIMUM, SEL(hit, at, other), within);
}

/* Positions of the maxima: the first of equal ones, the last NaN. */
static lz_node *adaptive_max_at(lz_tracer *c, lz_node *x, int n, const int64_t *out)
{
    int first = lz_tracer_shape(x)->rank - n;
    const lz_ints within = every_other(first + 1, n);
    lz_ints kept = {.n = first + n}, tail = {.n = 2 * n};
    lz_node *values =
        all_windows(c, x, n, out, lz_tracer_identity(c, LZ_OP_MAXIMUM, lz_tracer_dtype(x), x));
    lz_node *places = positions(c, x, n);
    places = places ? all_windows(c, places, n, out, lz_tracer_const(c, LZ_I64, -1, x)) : NULL;
    if (!values || !places)
        return NULL;
    for (int d = 0; d < first + n; d++)
        kept.v[d] = d < first ? d : first + 2 * (d - first);
    for (int d = 0; d < 2 * n; d++)
        tail.v[d] = first + d;
    const lz_shape *vs = lz_tracer_shape(values);
    lz_node *at = lz_tracer_broadcast_in_dim(c, places, &tail, vs);
    lz_node *most = lz_tracer_reduce(c, LZ_OP_MAXIMUM, values, &within);
    most = most ? lz_tracer_broadcast_in_dim(c, most, &kept, vs) : NULL;
    lz_node *inside = GE(at, K(at, 0));
    lz_node *best = extreme(c, false, AND(EQ(values, most), inside), at, &within);
    if (!lz_dtype_is_float(lz_tracer_dtype(x)))
        return best;
    lz_node *nan = extreme(c, true, IS_NAN(values), at, &within);
    return SEL(GE(nan, K(nan, 0)), nan, best);
}

/* Merges the last n dimensions. */
static lz_shape flattened(const lz_node *x, int n)
{
    lz_shape s = *lz_tracer_shape(x);
    int64_t plane = 1;
    for (int d = 0; d < n; d++) {
        plane *= s.dims[--s.rank];
        s.dims[s.rank] = 0;
    }
    s.dims[s.rank++] = plane;
    return s;
}

static lz_tensor *adaptive_maxima(const char *name, int n, lz_tensor *x, const lz_shape *size,
                                  lz_tensor **indices, const lz_site *site)
{
    int64_t out[3];
    lz_node *at = NULL, *y = NULL;
    BEGIN(name);
    lz_node *a = IN(x);
    if (a && sizes(a, size, n, out) &&
        (at = adaptive_max_at(c, lz_tracer_detached(c, a), n, out))) {
        lz_shape planes = flattened(a, n), rows = flattened(at, n);
        y = lz_tracer_gather(c, lz_tracer_reshape(c, a, &planes), planes.rank - 1,
                             lz_tracer_reshape(c, at, &rows));
        y = lz_tracer_reshape(c, y, lz_tracer_shape(at));
    }
    lz_tracer_also(c, y ? at : NULL, indices);
    return lz_tracer_end(c, y);
}

lz_tensor *lz_adaptive_max_pool1d_at(lz_tensor *x, int64_t output_size, lz_tensor **indices,
                                     const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_shape s = lz_shape_make(1, &output_size);
    return adaptive_maxima("lz_adaptive_max_pool1d", 1, x, &s, indices, site);
}

lz_tensor *lz_adaptive_max_pool2d_at(lz_tensor *x, lz_shape output_size, lz_tensor **indices,
                                     const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return adaptive_maxima("lz_adaptive_max_pool2d", 2, x, &output_size, indices, site);
}

lz_tensor *lz_adaptive_max_pool3d_at(lz_tensor *x, lz_shape output_size, lz_tensor **indices,
                                     const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return adaptive_maxima("lz_adaptive_max_pool3d", 3, x, &output_size, indices, site);
}

/* ---- the way back ---- */

/* x's shape with the last n extents replaced; false with the reason recorded. */
static bool unpooled(const lz_node *x, const lz_node *at, const lz_shape *size, int n,
                     lz_shape *out)
{
    char text[2][160];
    const lz_shape *s = lz_tracer_shape(x), *i = lz_tracer_shape(at);
    *out = *s;
    bool fits = size->rank == n && (s->rank == n + 1 || s->rank == n + 2) && i->rank == s->rank;
    for (int d = 0; fits && d < s->rank; d++)
        fits = s->dims[d] == i->dims[d];
    for (int d = 0; fits && d < n; d++)
        fits = (out->dims[s->rank - n + d] = size->dims[d]) >= 0;
    if (!fits)
        LZ_FAIL(LZ_ESHAPE,
                "x is %s, indices %s, and output_size has %d extents: x and indices must have one "
                "shape of rank %d or %d, and %d extents >= 0 are needed",
                lz_type_short(lz_node_type(x), text[0], sizeof text[0]),
                lz_type_short(lz_node_type(at), text[1], sizeof text[1]), size->rank, n + 1, n + 2,
                n);
    return fits;
}

static lz_tensor *unpool(const char *name, int n, lz_tensor *x, lz_tensor *indices,
                         const lz_shape *size, const lz_site *site)
{
    lz_shape shape;
    lz_node *y = NULL;
    BEGIN(name);
    lz_node *a = IN(x), *at = a ? IN(indices) : NULL;
    if (at && lz_tracer_is_index(at) && unpooled(a, at, size, n, &shape)) {
        lz_node *zeros = lz_tracer_fill(c, lz_tracer_const(c, lz_tracer_dtype(a), 0, a), &shape);
        lz_shape from = flattened(a, n), to = zeros ? flattened(zeros, n) : from;
        y = lz_tracer_scatter_along(c, LZ_OP_NONE, lz_tracer_reshape(c, zeros, &to), to.rank - 1,
                                    lz_tracer_reshape(c, at, &from),
                                    lz_tracer_reshape(c, a, &from));
        y = lz_tracer_reshape(c, y, &shape);
    }
    return lz_tracer_end(c, y);
}

#define UNPOOL(name, n)                                                                            \
    lz_tensor *name##_at(lz_tensor *x, lz_tensor *indices, lz_shape output_size,                   \
                         const lz_site *site)                                                      \
    {                                                                                              \
        LZ_PUBLIC_AT(LZ_FORK_TENSOR);                                                              \
        return unpool(#name, n, x, indices, &output_size, site);                                   \
    }
UNPOOL(lz_max_unpool1d, 1)
UNPOOL(lz_max_unpool2d, 2)
UNPOOL(lz_max_unpool3d, 3)
