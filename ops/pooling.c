/* pooling.c - pooling in windows of a given size, with ATen's rules: include/lazuli/window_ops.h.
 * Sizes: pooling_output_shape of ATen/native/Pool.h. */
#include "ops/compose.h"
#include "ops/window_builder.h"
#include <inttypes.h>
#include <lazuli/window_ops.h>
#include <math.h>

typedef struct pool {
    int n; /* spatial dimensions */
    lz_window_axis w[3];
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
    lz_window_axis *w = &p->w[d], *before = d ? &p->w[d - 1] : NULL;
    bool strides = o->stride[0] != 0;
    *w = (lz_window_axis){.base = 1, .dilation = 1};
    w->size = o->kernel_size[d] ? o->kernel_size[d] : before ? before->size : 0;
    w->stride = !strides ? w->size : o->stride[d] ? o->stride[d] : before ? before->stride : 1;
    w->low = o->padding[d];
    if (max)
        w->dilation = o->dilation[d] ? o->dilation[d] : before ? before->dilation : 1;
    int64_t reach, padded, span;
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
    if (!lz_add_i64(extent, w->low, &padded) || !lz_add_i64(padded, w->low, &padded) ||
        !lz_add_i64(padded - reach, p->ceil ? w->stride - 1 : 0, &span) || span == INT64_MAX) {
        LZ_FAIL(LZ_ERANGE,
                "dimension %d: an extent of %" PRId64 ", padding %" PRId64 " and stride %" PRId64
                " are too large",
                d, extent, w->low, w->stride);
        return false;
    }
    p->out[d] = span < 0 ? 0 : span / w->stride + 1;
    if (p->ceil && (p->out[d] - 1) * w->stride >= extent + w->low)
        p->out[d]--; /* the last window must begin inside, or in the padding before */
    if (p->out[d] < 1) {
        LZ_FAIL(LZ_ESHAPE,
                "dimension %d: no window of %" PRId64 " fits an extent of %" PRId64
                " with padding %" PRId64,
                d, reach, extent, w->low);
        return false;
    }
    w->high = (p->out[d] - 1) * w->stride - extent - w->low + reach;
    return true;
}

static bool geometry(const lz_node *x, const lz_pool_options *o, int n, bool max, pool *p)
{
    char text[160];
    const lz_shape *s = lz_tracer_shape(x);
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

static void windows_of(const pool *p, int rank, lz_window_axis *w)
{
    for (int d = 0; d < rank; d++)
        w[d] = d < rank - p->n ? (lz_window_axis){1, 1, 0, 0, 1, 1} : p->w[d - (rank - p->n)];
}

/* ---- maxima ---- */

static lz_node *max_pool(lz_tracer *c, lz_node *x, const pool *p)
{
    lz_window_axis w[LZ_MAX_RANK];
    windows_of(p, lz_tracer_shape(x)->rank, w);
    return lz_tracer_reduce_window(c, LZ_OP_MAXIMUM, x, w);
}

/* Row-major among the spatial dimensions. */
static lz_node *max_indices(lz_tracer *c, lz_node *x, const pool *p)
{
    lz_window_axis w[LZ_MAX_RANK];
    lz_node *value, *at;
    int64_t plane = 1;
    windows_of(p, lz_tracer_shape(x)->rank, w);
    for (int d = 0; d < p->n; d++)
        plane *= p->in[d];
    if (!lz_tracer_reduce_window_arg(c, true, lz_tracer_detached(c, x), w, &value, &at))
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
        lz_tracer_also(c, y && indices ? max_indices(c, a, &p) : NULL, indices);
    return lz_tracer_end(c, y);
}

#define MAX_POOL(name, n)                                                                          \
    lz_tensor *name##_at(lz_tensor *x, const lz_pool_options *o, const lz_site *site)              \
    {                                                                                              \
        LZ_PUBLIC_AT(LZ_FORK_TENSOR);                                                              \
        return maxima(#name, n, x, o, false, NULL, site);                                          \
    }                                                                                              \
    lz_tensor *name##_with_indices_at(lz_tensor *x, const lz_pool_options *o, lz_tensor **indices, \
                                      const lz_site *site)                                         \
    {                                                                                              \
        LZ_PUBLIC_AT(LZ_FORK_TENSOR);                                                              \
        return maxima(#name "_with_indices", n, x, o, true, indices, site);                        \
    }
MAX_POOL(lz_max_pool1d, 1)
MAX_POOL(lz_max_pool2d, 2)
MAX_POOL(lz_max_pool3d, 3)

/* ---- averages ---- */

/* Number of elements of each window, as a tensor of the spatial dimensions: those of x, or with the
 * padding (count_include_pad). */
static lz_node *counts(lz_tracer *c, const lz_node *like, const pool *p, bool with_padding)
{
    lz_shape s = {.rank = p->n};
    lz_window_axis w[3];
    for (int d = 0; d < p->n; d++) {
        int64_t pad = with_padding ? p->w[d].low : 0;
        s.dims[d] = p->in[d] + 2 * pad;
        w[d] = p->w[d];
        w[d].low -= pad;
        w[d].high -= pad;
    }
    lz_node *ones = lz_tracer_fill(c, lz_tracer_const(c, lz_tracer_dtype(like), 1, like), &s);
    return lz_tracer_reduce_window(c, LZ_OP_ADD, ones, w);
}

static lz_node *avg_pool(lz_tracer *c, lz_node *x, const lz_pool_options *o, const pool *p)
{
    lz_window_axis w[LZ_MAX_RANK];
    int rank = lz_tracer_shape(x)->rank;
    double all = 1;
    bool whole = true; /* every window has all its elements, or they count as such */
    for (int d = 0; d < p->n; d++) {
        all *= (double)p->w[d].size;
        whole &= o->count_include_pad ? p->w[d].high <= p->w[d].low
                                      : p->w[d].low == 0 && p->w[d].high <= 0;
    }
    windows_of(p, rank, w);
    lz_node *y = lz_tracer_reduce_window(c, LZ_OP_ADD, x, w);
    if (!y || o->divisor_override || whole)
        return DIV(y, K(y, o->divisor_override ? (double)o->divisor_override : all));
    lz_ints where = {.n = p->n};
    for (int d = 0; d < p->n; d++)
        where.v[d] = rank - p->n + d;
    return DIV(y, lz_tracer_broadcast_in_dim(c, counts(c, y, p, o->count_include_pad), &where,
                                             lz_tracer_shape(y)));
}

static lz_tensor *averages(const char *name, int n, lz_tensor *x, const lz_pool_options *o,
                           const lz_site *site)
{
    pool p;
    BEGIN(name);
    OPTIONS(lz_pool_options, opt, LZ_POOL_DEFAULTS);
    lz_node *a = lz_tracer_float(c, IN(x));
    lz_dtype d = lz_tracer_dtype(a);
    bool ok = a && opt && geometry(a, opt, n, false, &p);
    return lz_tracer_end(c, ok ? TO(avg_pool(c, lz_tracer_wide(c, a), opt, &p), d) : NULL);
}

#define AVG_POOL(name, n)                                                                          \
    lz_tensor *name##_at(lz_tensor *x, const lz_pool_options *o, const lz_site *site)              \
    {                                                                                              \
        LZ_PUBLIC_AT(LZ_FORK_TENSOR);                                                              \
        return averages(#name, n, x, o, site);                                                     \
    }
AVG_POOL(lz_avg_pool1d, 1)
AVG_POOL(lz_avg_pool2d, 2)
AVG_POOL(lz_avg_pool3d, 3)
