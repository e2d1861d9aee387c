/* image.c - image operations: reflection and replication padding, pixel and channel shuffles,
 * unfold and fold: include/lazuli/image_ops.h. */
#include "ops/index_builder.h"
#include "ops/compose.h"
#include <inttypes.h>
#include <lazuli/image_ops.h>

static const char *text_of(const lz_node *x, char *text)
{
    return lz_type_short(lz_node_type(x), text, 128);
}

/* ---- padding ---- */

typedef enum border { REFLECT, REPLICATE, CIRCULAR } border;

/* `n` padding elements for one side of dim; low: those in front. */
static lz_node *side(lz_tracer *c, lz_node *x, int64_t dim, int64_t n, bool low, border b)
{
    int64_t extent = lz_tracer_shape(x)->dims[dim];
    if (b == CIRCULAR)
        return lz_tracer_slice_dim(c, x, dim, low ? extent - n : 0, low ? extent : n, 1);
    if (b == REFLECT) {
        x = lz_tracer_slice_dim(c, x, dim, low ? 1 : extent - 1 - n, low ? n + 1 : extent - 1, 1);
        return x ? lz_tracer_flip(c, x, &(lz_dims){1, {dim}}) : NULL;
    }
    lz_shape s = *lz_tracer_shape(x);
    x = lz_tracer_slice_dim(c, x, dim, low ? 0 : extent - 1, low ? 1 : extent, 1);
    s.dims[dim] = n;
    return x ? lz_tracer_expand(c, x, &s) : NULL;
}

static lz_node *pad_dim(lz_tracer *c, lz_node *x, int64_t dim, int64_t low, int64_t high, border b)
{
    char text[128];
    int64_t extent = lz_tracer_shape(x)->dims[dim], most = low > high ? low : high;
    bool ok = low >= 0 && high >= 0 &&
              (b == REFLECT     ? most < extent
               : b == REPLICATE ? extent > 0
                                : most <= extent);
    if (!ok) {
        LZ_FAIL(LZ_EINVAL, "%s: %" PRId64 " before and %" PRId64 " after dimension %" PRId64,
                text_of(x, text), low, high, dim);
        return NULL;
    }
    lz_node *part[3];
    uint32_t n = 0;
    if (low && !(part[n++] = side(c, x, dim, low, true, b)))
        return NULL;
    part[n++] = x;
    if (high && !(part[n++] = side(c, x, dim, high, false, b)))
        return NULL;
    return lz_tracer_concat(c, part, n, dim);
}

static lz_tensor *pad(const char *name, lz_tensor *x, const int64_t *p, int n, border b,
                      const lz_site *site)
{
    char text[128];
    BEGIN(name);
    lz_node *t = IN(x);
    if (!t)
        return lz_tracer_end(c, NULL);
    int rank = lz_tracer_shape(t)->rank;
    if (!p || n < 2 || n > 6 || n % 2 || n / 2 > rank) {
        LZ_FAIL(p ? LZ_EINVAL : LZ_ENULL,
                "%d padding values for %s: 2, 4 or 6, a pair for each "
                "dimension",
                n, text_of(t, text));
        return lz_tracer_end(c, NULL);
    }
    for (int i = 0; t && i < n / 2; i++)
        t = pad_dim(c, t, rank - 1 - i, p[2 * i], p[2 * i + 1], b);
    return lz_tracer_end(c, t);
}

lz_tensor *lz_reflection_pad_at(lz_tensor *x, const int64_t *pads, int n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return pad("lz_reflection_pad", x, pads, n, REFLECT, site);
}

lz_tensor *lz_replication_pad_at(lz_tensor *x, const int64_t *pads, int n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return pad("lz_replication_pad", x, pads, n, REPLICATE, site);
}

lz_tensor *lz_circular_pad_at(lz_tensor *x, const int64_t *pads, int n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return pad("lz_circular_pad", x, pads, n, CIRCULAR, site);
}

/* ---- channels and space ---- */

/* Leading dimensions as one: [L, a, b, c]. */
static lz_shape last_three(const lz_shape *s)
{
    lz_shape r = {.rank = 4, .dims = {1}};
    for (int i = 0; i < s->rank - 3; i++)
        r.dims[0] *= s->dims[i];
    for (int i = 0; i < 3; i++)
        r.dims[1 + i] = s->dims[s->rank - 3 + i];
    return r;
}

static lz_node *shuffle(lz_tracer *c, lz_node *x, int64_t r, bool back)
{
    char text[128];
    if (!x)
        return NULL;
    const lz_shape *s = lz_tracer_shape(x);
    lz_shape q = s->rank >= 3 ? last_three(s) : (lz_shape){.rank = 0}, out = *s;
    if (s->rank < 3 || r < 1 || r > INT32_MAX ||
        (back ? q.dims[2] % r || q.dims[3] % r : q.dims[1] % (r * r))) {
        LZ_FAIL(LZ_ESHAPE, "%s by %" PRId64 ": %s must be divisible", text_of(x, text), r,
                back ? "height and width" : "the channels (by its square)");
        return NULL;
    }
    int64_t *o = out.dims + s->rank - 3;
    lz_shape six = {.rank = 6};
    lz_ints perm = {.n = 6};
    if (back) { /* [L, C, H, r, W, r] -> [L, C, r, r, H, W] */
        six = (lz_shape){6, {q.dims[0], q.dims[1], q.dims[2] / r, r, q.dims[3] / r, r}};
        perm = (lz_ints){.n = 6, .v = {0, 1, 3, 5, 2, 4}};
        if (!lz_mul_i64(o[0], r * r, &o[0]))
            return LZ_FAIL(LZ_ERANGE, "too many channels"), NULL;
        o[1] /= r;
        o[2] /= r;
    } else { /* [L, C, r, r, H, W] -> [L, C, H, r, W, r] */
        six = (lz_shape){6, {q.dims[0], q.dims[1] / (r * r), r, r, q.dims[2], q.dims[3]}};
        perm = (lz_ints){.n = 6, .v = {0, 1, 4, 2, 5, 3}};
        o[0] /= r * r;
        if (!lz_mul_i64(o[1], r, &o[1]) || !lz_mul_i64(o[2], r, &o[2]))
            return LZ_FAIL(LZ_ERANGE, "too many elements"), NULL;
    }
    return lz_tracer_reshape(c, lz_tracer_transpose(c, lz_tracer_reshape(c, x, &six), &perm), &out);
}

lz_tensor *lz_pixel_shuffle_at(lz_tensor *x, int64_t factor, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_pixel_shuffle");
    return lz_tracer_end(c, shuffle(c, IN(x), factor, false));
}

lz_tensor *lz_pixel_unshuffle_at(lz_tensor *x, int64_t factor, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_pixel_unshuffle");
    return lz_tracer_end(c, shuffle(c, IN(x), factor, true));
}

lz_tensor *lz_channel_shuffle_at(lz_tensor *x, int64_t groups, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    char text[128];
    BEGIN("lz_channel_shuffle");
    lz_node *n = IN(x);
    if (!n)
        return lz_tracer_end(c, NULL);
    const lz_shape s = *lz_tracer_shape(n);
    if (s.rank < 3 || groups < 1 || s.dims[1] % groups) {
        LZ_FAIL(LZ_ESHAPE,
                "%s in %" PRId64 " groups: [N, C, ..] and groups that divide C are needed",
                text_of(n, text), groups);
        return lz_tracer_end(c, NULL);
    }
    lz_shape four = {4, {s.dims[0], groups, s.dims[1] / groups, 1}};
    for (int i = 2; i < s.rank; i++)
        four.dims[3] *= s.dims[i];
    n = lz_tracer_transpose(c, lz_tracer_reshape(c, n, &four),
                            &(lz_ints){.n = 4, .v = {0, 2, 1, 3}});
    return lz_tracer_end(c, lz_tracer_reshape(c, n, &s));
}

/* ---- windows ---- */

typedef struct windows { /* of one direction */
    int64_t kernel, dilation, padding, stride, count;
} windows;

/* False with the error recorded. */
static bool windows_of(const lz_window *w, const int64_t *extent, windows *out)
{
    if (!w) {
        LZ_FAIL(LZ_ENULL, "window is NULL");
        return false;
    }
    for (int i = 0; i < 2; i++) {
        windows *v = &out[i];
        *v = (windows){w->kernel[i], w->dilation[i] ? w->dilation[i] : 1, w->padding[i],
                       w->stride[i] ? w->stride[i] : 1, 0};
        const int64_t most = INT32_MAX;
        bool ok = v->kernel > 0 && v->kernel < most && v->dilation > 0 && v->dilation < most &&
                  v->padding >= 0 && v->padding < most && v->stride > 0 && v->stride < most &&
                  extent[i] >= 0 && extent[i] < most * most;
        int64_t room = ok ? extent[i] + 2 * v->padding - v->dilation * (v->kernel - 1) - 1 : -1;
        if (!ok || room < 0) {
            LZ_FAIL(LZ_EINVAL,
                    "windows of %" PRId64 ", dilation %" PRId64 ", stride %" PRId64
                    ", padding %" PRId64 " of an extent of %" PRId64,
                    v->kernel, v->dilation, v->stride, v->padding, extent[i]);
            return false;
        }
        v->count = room / v->stride + 1;
    }
    int64_t all;
    if (!lz_mul_i64(out[0].count, out[1].count, &all) ||
        !lz_mul_i64(out[0].kernel, out[0].count, &all) ||
        !lz_mul_i64(out[1].kernel, out[1].count, &all)) {
        LZ_FAIL(LZ_ERANGE, "%" PRId64 " by %" PRId64 " windows: too many", out[0].count,
                out[1].count);
        return false;
    }
    return true;
}

/* Positions in the padded image of element k of window o: [kernel, count]. */
static lz_node *window_positions(lz_tracer *c, const windows *w, const lz_node *like)
{
    lz_shape s = {.rank = 2, .dims = {w->kernel, w->count}};
    lz_node *k = lz_tracer_iota(c, LZ_I64, &s, 0, like),
            *o = lz_tracer_iota(c, LZ_I64, &s, 1, like);
    return ADD(MUL(k, K(k, (double)w->dilation)), MUL(o, K(o, (double)w->stride)));
}

static lz_node *im2col(lz_tracer *c, lz_node *x, const lz_window *window)
{
    char text[128];
    windows w[2];
    if (!x)
        return NULL;
    const lz_shape s = *lz_tracer_shape(x);
    if (s.rank != 4) {
        LZ_FAIL(LZ_ESHAPE, "x is %s: [N, C, H, W] is needed", text_of(x, text));
        return NULL;
    }
    if (!windows_of(window, s.dims + 2, w))
        return NULL;
    lz_ints edge = {.n = 4, .v = {0, 0, w[0].padding, w[1].padding}}, none = {.n = 4};
    x = lz_tracer_pad(c, x, &edge, &edge, &none);
    lz_node *rows = window_positions(c, &w[0], x), *cols = window_positions(c, &w[1], x);
    x = rows ? lz_tracer_take(c, x, 2, rows) : NULL;      /* [N, C, kh, oh, W] */
    x = x && cols ? lz_tracer_take(c, x, 4, cols) : NULL; /* [N, C, kh, oh, kw, ow] */
    x = lz_tracer_transpose(c, x, &(lz_ints){.n = 6, .v = {0, 1, 2, 4, 3, 5}});
    lz_shape r = {3, {s.dims[0], s.dims[1], w[0].count * w[1].count}};
    if (!x || !lz_mul_i64(r.dims[1], w[0].kernel * w[1].kernel, &r.dims[1]))
        return NULL;
    return lz_tracer_reshape(c, x, &r);
}

lz_tensor *lz_im2col_at(lz_tensor *x, const lz_window *window, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_im2col");
    return lz_tracer_end(c, im2col(c, IN(x), window));
}

/* Scatters the slices of dim, summed, into `extent` zeros at their positions. */
static lz_node *gather_back(lz_tracer *c, lz_node *x, int64_t dim, int64_t extent, lz_node *at)
{
    if (!x || !at)
        return NULL;
    lz_shape s = *lz_tracer_shape(x), row = {.rank = 1, .dims = {lz_node_type(at)->nelem}};
    s.dims[dim] = extent;
    return lz_tracer_into_slices(
        c, LZ_OP_ADD, lz_tracer_fill(c, lz_tracer_const(c, lz_tracer_dtype(x), 0, x), &s), dim,
        lz_tracer_reshape(c, at, &row), x);
}

static lz_node *col2im(lz_tracer *c, lz_node *x, int64_t height, int64_t width,
                       const lz_window *window)
{
    char text[128];
    windows w[2];
    if (!x || !windows_of(window, (int64_t[]){height, width}, w))
        return NULL;
    const lz_shape s = *lz_tracer_shape(x);
    int64_t cells = w[0].kernel * w[1].kernel;
    if (s.rank != 3 || s.dims[1] % cells || s.dims[2] != w[0].count * w[1].count) {
        LZ_FAIL(LZ_ESHAPE, "x is %s: [N, C %" PRId64 ", %" PRId64 "] is needed", text_of(x, text),
                cells, w[0].count * w[1].count);
        return NULL;
    }
    int64_t n = s.dims[0], ch = s.dims[1] / cells, hp = height + 2 * w[0].padding,
            wp = width + 2 * w[1].padding;
    lz_shape six = {6, {n, ch, w[0].kernel, w[1].kernel, w[0].count, w[1].count}},
             five = {5, {n, ch, w[0].kernel, w[0].count, w[1].kernel * w[1].count}},
             four = {4, {n, ch, w[0].kernel * w[0].count, wp}};
    lz_dtype d = lz_tracer_dtype(x);
    x = lz_tracer_reshape(c, lz_tracer_wide(c, x), &six);
    x = lz_tracer_transpose(c, x, &(lz_ints){.n = 6, .v = {0, 1, 2, 4, 3, 5}});
    x = gather_back(c, lz_tracer_reshape(c, x, &five), 4, wp, window_positions(c, &w[1], x));
    x = gather_back(c, lz_tracer_reshape(c, x, &four), 2, hp, window_positions(c, &w[0], x));
    if (x)
        x = lz_tracer_slice_dim(c, x, 2, w[0].padding, w[0].padding + height, 1);
    if (x)
        x = lz_tracer_slice_dim(c, x, 3, w[1].padding, w[1].padding + width, 1);
    return TO(x, d);
}

lz_tensor *lz_col2im_at(lz_tensor *x, int64_t height, int64_t width, const lz_window *window,
                        const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_col2im");
    return lz_tracer_end(c, col2im(c, IN(x), height, width, window));
}
