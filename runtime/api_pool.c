/* api_pool.c - pooling with ATen's rules: include/lazuli/window_ops.h. Sizes: pooling_output_shape of ATen/native/Pool.h. */
#include "runtime/compose.h"
#include "runtime/tr_window.h"
#include <inttypes.h>
#include <lazuli/window_ops.h>
#include <math.h>

typedef struct pool {
    int n; /* spatial dimensions */
    lz_window w[3];
    int64_t in[3], out[3];
    bool ceil;
} pool;

static const char *text_of(const lz_node *x, char text[160])
{
    return lz_type_short(lz_node_type(x), text, 160);
}

/* ---- geometry ---- */

static bool one_window(const lz_pool_options *o, int d, bool max, int64_t extent, pool *p)
{
    lz_window *w = &p->w[d], *before = d ? &p->w[d - 1] : NULL;
    bool strides = o->stride[0] != 0;
    *w = (lz_window){.base = 1, .dilation = 1};
    w->size = o->kernel_size[d] ? o->kernel_size[d] : before ? before->size : 0;
    w->stride = !strides ? w->size : o->stride[d] ? o->stride[d] : before ? before->stride : 1;
    w->low = o->padding[d];
    if (max)
        w->dilation = o->dilation[d] ? o->dilation[d] : before ? before->dilation : 1;
    int64_t reach, span;
    if (w->size < 1 || w->stride < 1 || w->dilation < 1 || w->low < 0 || w->low > w->size / 2 ||
        !lz_window_reach(w->size, w->dilation, &reach)) {
        LZ_FAIL(LZ_EINVAL,
                "dimension %d: kernel_size %" PRId64 ", stride %" PRId64 ", padding %" PRId64
                ", dilation %" PRId64
                ": all but the padding must be positive, the padding at most half of the kernel",
                d, w->size, w->stride, w->low, w->dilation);
        return false;
    }
    p->in[d] = extent;
    span = extent + 2 * w->low - reach;
    p->out[d] = span < 0 && !p->ceil ? 0 : (span + (p->ceil ? w->stride - 1 : 0)) / w->stride + 1;
    if (p->ceil && span + w->stride - 1 < 0)
        p->out[d] = 0;
    if (p->ceil && (p->out[d] - 1) * w->stride >= extent + w->low)
        p->out[d]--; /* the last window must begin inside, or in the padding before */
    if (p->out[d] < 1) {
        LZ_FAIL(LZ_ESHAPE,
                "dimension %d: no window of %" PRId64 " fits an extent of %" PRId64
                " with padding %" PRId64,
                d, reach, extent, w->low);
        return false;
    }
    w->high = (p->out[d] - 1) * w->stride + reach - extent - w->low;
    return true;
}

static bool geometry(const lz_node *x, const lz_pool_options *o, int n, bool max, pool *p)
{
    char text[160];
    const lz_shape *s = lz_tr_shape(x);
    *p = (pool){.n = n, .ceil = o->ceil_mode};
    if (s->rank != n + 1 && s->rank != n + 2) {
        LZ_FAIL(LZ_ESHAPE, "x is %s: it must have rank %d or %d", text_of(x, text), n + 1, n + 2);
        return false;
    }
    for (int d = 0; d < n; d++)
        if (!one_window(o, d, max, s->dims[s->rank - n + d], p))
            return false;
    return true;
}

static void windows_of(const pool *p, int rank, lz_window *w)
{
    for (int d = 0; d < rank; d++)
        w[d] = d < rank - p->n ? (lz_window){1, 1, 0, 0, 1, 1} : p->w[d - (rank - p->n)];
}

/* ---- maxima ---- */

static lz_node *max_pool(lz_tr *c, lz_node *x, const pool *p)
{
    lz_window w[LZ_MAX_RANK];
    windows_of(p, lz_tr_shape(x)->rank, w);
    return lz_tr_reduce_window(c, LZ_OP_MAXIMUM, x, w);
}

/* Row-major among the spatial dimensions. */
static lz_node *max_indices(lz_tr *c, lz_node *x, const pool *p)
{
    lz_window w[LZ_MAX_RANK];
    lz_node *value, *at;
    int64_t plane = 1;
    windows_of(p, lz_tr_shape(x)->rank, w);
    for (int d = 0; d < p->n; d++)
        plane *= p->in[d];
    if (!lz_tr_reduce_window_arg(c, true, lz_tr_detached(c, x), w, &value, &at))
        return NULL;
    return REM(at, K(at, (double)plane));
}

static lz_tensor *maxima(const char *name, int n, lz_tensor *x, const lz_pool_options *o, bool want,
                         lz_tensor **indices, const lz_site *site)
{
    pool p;
    BEGIN(name);
    OPTIONS(lz_pool_options, opt, LZ_POOL_DEFAULTS);
    lz_node *a = IN(x);
    bool ok = a && opt && geometry(a, opt, n, true, &p);
    lz_node *y = ok ? max_pool(c, a, &p) : NULL;
    if (want)
        lz_tr_also(c, y && indices ? max_indices(c, a, &p) : NULL, indices);
    return lz_tr_end(c, y);
}

#define MAX_POOL(name, n)                                                                          \
    lz_tensor *name##_at(lz_tensor *x, const lz_pool_options *o, const lz_site *site)              \
    {                                                                                              \
        return maxima(#name, n, x, o, false, NULL, site);                                          \
    }                                                                                              \
    lz_tensor *name##_with_indices_at(lz_tensor *x, const lz_pool_options *o, lz_tensor **indices, \
                                      const lz_site *site)                                         \
    {                                                                                              \
        return maxima(#name "_with_indices", n, x, o, true, indices, site);                        \
    }
MAX_POOL(lz_max_pool1d, 1)
MAX_POOL(lz_max_pool2d, 2)
MAX_POOL(lz_max_pool3d, 3)

/* ---- averages ---- */

/* How many elements each window has, as a tensor of the spatial dimensions: those of x, with the padding when that counts. */
static lz_node *counts(lz_tr *c, const lz_node *like, const pool *p, bool with_padding)
{
    lz_shape s = {.rank = p->n};
    lz_window w[3];
    for (int d = 0; d < p->n; d++) {
        int64_t pad = with_padding ? p->w[d].low : 0;
        s.dims[d] = p->in[d] + 2 * pad;
        w[d] = p->w[d];
        w[d].low -= pad;
        w[d].high -= pad;
    }
    lz_node *ones = lz_tr_fill(c, lz_tr_const(c, lz_tr_dtype(like), 1, like), &s);
    return lz_tr_reduce_window(c, LZ_OP_ADD, ones, w);
}

static lz_node *avg_pool(lz_tr *c, lz_node *x, const lz_pool_options *o, const pool *p)
{
    lz_window w[LZ_MAX_RANK];
    int rank = lz_tr_shape(x)->rank;
    int64_t all = 1;
    bool whole = true; /* every window has all its elements, or they count as such */
    for (int d = 0; d < p->n; d++) {
        all *= p->w[d].size;
        whole &= o->count_include_pad ? p->w[d].high <= p->w[d].low
                                      : p->w[d].low == 0 && p->w[d].high <= 0;
    }
    windows_of(p, rank, w);
    lz_node *y = lz_tr_reduce_window(c, LZ_OP_ADD, x, w);
    if (!y || o->divisor_override || whole)
        return DIV(y, K(y, (double)(o->divisor_override ? o->divisor_override : all)));
    lz_ints where = {.n = p->n};
    for (int d = 0; d < p->n; d++)
        where.v[d] = rank - p->n + d;
    return DIV(y, lz_tr_broadcast_in_dim(c, counts(c, y, p, o->count_include_pad), &where,
                                         lz_tr_shape(y)));
}

static lz_tensor *averages(const char *name, int n, lz_tensor *x, const lz_pool_options *o,
                           const lz_site *site)
{
    pool p;
    BEGIN(name);
    OPTIONS(lz_pool_options, opt, LZ_POOL_DEFAULTS);
    lz_node *a = lz_tr_float(c, IN(x));
    lz_dtype d = lz_tr_dtype(a);
    bool ok = a && opt && geometry(a, opt, n, false, &p);
    return lz_tr_end(c, ok ? TO(avg_pool(c, lz_tr_wide(c, a), opt, &p), d) : NULL);
}

#define AVG_POOL(name, n)                                                                          \
    lz_tensor *name##_at(lz_tensor *x, const lz_pool_options *o, const lz_site *site)              \
    {                                                                                              \
        return averages(#name, n, x, o, site);                                                     \
    }
AVG_POOL(lz_avg_pool1d, 1)
AVG_POOL(lz_avg_pool2d, 2)
AVG_POOL(lz_avg_pool3d, 3)

/* ---- windows of a given number ---- */

/* The windows of one dimension, [out, longest]: the elements, and which of them belong to it. */
static lz_node *ragged(lz_tr *c, const lz_node *like, int64_t in, int64_t out, lz_node **inside)
{
    int64_t longest = 0;
    for (int64_t i = 0; i < out; i++) {
        int64_t n = ((i + 1) * in + out - 1) / out - i * in / out;
        longest = n > longest ? n : longest;
    }
    lz_shape s = lz_shape_make(2, (int64_t[]){out, longest});
    lz_node *i = lz_tr_iota(c, LZ_I64, &s, 0, like), *j = lz_tr_iota(c, LZ_I64, &s, 1, like);
    lz_node *first = DIV(MUL(i, K(i, (double)in)), K(i, (double)out));
    lz_node *end = DIV(ADD(MUL(ADD(i, K(i, 1)), K(i, (double)in)), K(i, (double)(out - 1))),
                       K(i, (double)out));
    lz_node *at = ADD(first, j);
    *inside = LT(at, end);
    return MIN(at, K(at, (double)(in - 1)));
}

/* Dimension d of x replaced by its windows: extents out, longest. What is outside of a window is `outside`. */
static lz_node *take_windows(lz_tr *c, lz_node *x, int d, int64_t out, lz_node *outside)
{
    lz_node *inside, *at;
    if (!x)
        return NULL;
    const lz_shape *s = lz_tr_shape(x);
    at = ragged(c, x, s->dims[d], out, &inside);
    if (!at || !inside)
        return NULL;
    lz_shape flat = lz_shape_make(1, &lz_node_type(at)->nelem), cut = {.rank = s->rank + 1};
    for (int k = 0; k < cut.rank; k++)
        cut.dims[k] = k < d       ? s->dims[k]
                      : k > d + 1 ? s->dims[k - 1]
                                  : lz_tr_shape(at)->dims[k - d];
    const lz_ints where = {2, {d, d + 1}};
    lz_node *y = lz_tr_reshape(c, lz_tr_take(c, x, d, lz_tr_reshape(c, at, &flat)), &cut);
    return SEL(lz_tr_broadcast_in_dim(c, inside, &where, &cut), y, lz_tr_fill(c, outside, &cut));
}

static bool sizes(const lz_node *x, const lz_shape *size, int n, int64_t *out)
{
    char text[160];
    const lz_shape *s = lz_tr_shape(x);
    if (size->rank != n || (s->rank != n + 1 && s->rank != n + 2)) {
        LZ_FAIL(LZ_ESHAPE,
                "x is %s, output_size has %d extents: x must have rank %d or %d, and %d "
                "extents are needed",
                text_of(x, text), size->rank, n + 1, n + 2, n);
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

static lz_node *adaptive_avg(lz_tr *c, lz_node *x, int n, const int64_t *out)
{
    for (int k = 0; k < n && x; k++) {
        int rank = lz_tr_shape(x)->rank, d = rank - n + k;
        int64_t in = lz_tr_shape(x)->dims[d];
        const lz_ints reduced = {1, {d + 1}}, where = {1, {d}};
        if (in % out[k] == 0) { /* windows of one size */
            lz_shape cut = {.rank = rank + 1};
            for (int i = 0; i <= rank; i++)
                cut.dims[i] = lz_tr_shape(x)->dims[i > d ? i - 1 : i];
            cut.dims[d] = out[k];
            cut.dims[d + 1] = in / out[k];
            x = lz_tr_reduce(c, LZ_OP_ADD, lz_tr_reshape(c, x, &cut), &reduced);
            x = DIV(x, K(x, (double)(in / out[k])));
            continue;
        }
        lz_node *inside;
        lz_node *y = take_windows(c, x, d, out[k], lz_tr_const(c, lz_tr_dtype(x), 0, x));
        if (!y || !ragged(c, x, in, out[k], &inside))
            return NULL;
        y = lz_tr_reduce(c, LZ_OP_ADD, y, &reduced);
        const lz_ints one = {1, {1}};
        lz_node *count = lz_tr_reduce(c, LZ_OP_ADD, TO(inside, lz_tr_dtype(x)), &one);
        x = y ? DIV(y, lz_tr_broadcast_in_dim(c, count, &where, lz_tr_shape(y))) : NULL;
    }
    return x;
}

static lz_tensor *adaptive_averages(const char *name, int n, lz_tensor *x, const lz_shape *size,
                                    const lz_site *site)
{
    int64_t out[3];
    BEGIN(name);
    lz_node *a = lz_tr_float(c, IN(x));
    lz_dtype d = lz_tr_dtype(a);
    bool ok = a && sizes(a, size, n, out);
    return lz_tr_end(c, ok ? TO(adaptive_avg(c, lz_tr_wide(c, a), n, out), d) : NULL);
}

lz_tensor *lz_adaptive_avg_pool1d_at(lz_tensor *x, int64_t output_size, const lz_site *site)
{
    lz_shape s = lz_shape_make(1, &output_size);
    return adaptive_averages("lz_adaptive_avg_pool1d", 1, x, &s, site);
}

lz_tensor *lz_adaptive_avg_pool2d_at(lz_tensor *x, lz_shape output_size, const lz_site *site)
{
    return adaptive_averages("lz_adaptive_avg_pool2d", 2, x, &output_size, site);
}

lz_tensor *lz_adaptive_avg_pool3d_at(lz_tensor *x, lz_shape output_size, const lz_site *site)
{
    return adaptive_averages("lz_adaptive_avg_pool3d", 3, x, &output_size, site);
}

/* x [.., oh, lh, ow, lw]: windows of both dimensions. */
static lz_node *both_windows(lz_tr *c, lz_node *x, const int64_t *out, lz_node *outside)
{
    int rank = lz_tr_shape(x)->rank;
    return take_windows(c, take_windows(c, x, rank - 2, out[0], outside), rank, out[1], outside);
}

/* Positions of the largest: the first of equal ones, the last NaN. */
static lz_node *adaptive_max_at(lz_tr *c, lz_node *x, const int64_t *out)
{
    const lz_shape *s = lz_tr_shape(x);
    int rank = s->rank;
    int64_t plane = s->dims[rank - 2] * s->dims[rank - 1];
    lz_shape flat = lz_shape_make(1, &plane), hw = lz_shape_make(2, s->dims + rank - 2);
    const lz_ints both = {2, {rank - 1, rank + 1}};
    lz_ints kept = {.n = rank};
    lz_node *values = both_windows(c, x, out, lz_tr_identity(c, LZ_OP_MAXIMUM, lz_tr_dtype(x), x));
    lz_node *places = lz_tr_reshape(c, lz_tr_iota(c, LZ_I64, &flat, 0, x), &hw);
    lz_node *none = lz_tr_const(c, LZ_I64, -1, x);
    places = places ? both_windows(c, places, out, none) : NULL;
    if (!values || !places)
        return NULL;
    for (int d = 0; d < rank; d++)
        kept.v[d] = d < rank - 1 ? d : rank;
    const lz_ints tail = {4, {rank - 2, rank - 1, rank, rank + 1}};
    const lz_shape *vs = lz_tr_shape(values);
    lz_node *at = lz_tr_broadcast_in_dim(c, places, &tail, vs);
    lz_node *most = lz_tr_reduce(c, LZ_OP_MAXIMUM, values, &both);
    most = most ? lz_tr_broadcast_in_dim(c, most, &kept, vs) : NULL;
    lz_node *far = at ? K(at, (double)plane) : NULL;
    lz_node *hit = AND(EQ(values, most), GE(at, at ? K(at, 0) : NULL));
    lz_node *first = lz_tr_reduce(c, LZ_OP_MINIMUM, SEL(hit, at, far), &both);
    if (!lz_dtype_is_float(lz_tr_dtype(x)))
        return first;
    lz_node *nan =
        lz_tr_reduce(c, LZ_OP_MAXIMUM, SEL(IS_NAN(values), at, lz_tr_fill(c, none, vs)), &both);
    return SEL(GE(nan, nan ? K(nan, 0) : NULL), nan, first);
}

lz_tensor *lz_adaptive_max_pool2d_at(lz_tensor *x, lz_shape output_size, lz_tensor **indices,
                                     const lz_site *site)
{
    int64_t out[2];
    lz_node *at = NULL, *y = NULL;
    BEGIN("lz_adaptive_max_pool2d");
    lz_node *a = IN(x);
    if (a && sizes(a, &output_size, 2, out) &&
        (at = adaptive_max_at(c, lz_tr_detached(c, a), out))) {
        lz_shape planes = *lz_tr_shape(a), rows = *lz_tr_shape(at), shape = rows;
        planes.rank--;
        planes.dims[planes.rank - 1] *= planes.dims[planes.rank];
        rows.rank--;
        rows.dims[rows.rank - 1] *= rows.dims[rows.rank];
        planes.dims[planes.rank] = rows.dims[rows.rank] = 0;
        y = lz_tr_gather(c, lz_tr_reshape(c, a, &planes), planes.rank - 1,
                         lz_tr_reshape(c, at, &rows));
        y = lz_tr_reshape(c, y, &shape);
    }
    lz_tr_also(c, y ? at : NULL, indices);
    return lz_tr_end(c, y);
}
