/* resample.c - interpolation and grid sampling of images: include/lazuli/image_ops.h. Positions are
 * computed in the program, in f32 (f64 for f64), by the formulas of ATen's UpSample.h and
 * GridSampler.h. Resizing goes dimension by dimension. */
#include "ops/index_builder.h"
#include "ops/compose.h"
#include <inttypes.h>
#include <lazuli/image_ops.h>
#include <math.h>

static const char *text_of(const lz_node *x, char *text)
{
    return lz_type_short(lz_node_type(x), text, 128);
}

/* ---- resizing ---- */

/* [N, C, spatial..] and as many extents, scales that are positive. */
static bool resizable(const lz_node *x, const lz_shape *size, const double *scales, int least,
                      int most)
{
    char text[128];
    const lz_shape *s = lz_tracer_shape(x);
    bool ok = size->rank >= least && size->rank <= most && s->rank == size->rank + 2;
    for (int i = 0; ok && i < size->rank; i++)
        ok = size->dims[i] > 0 && s->dims[2 + i] > 0 && size->dims[i] < 1 << 30 &&
             (!scales || (scales[i] > 0 && isfinite(scales[i])));
    if (!ok)
        LZ_FAIL(LZ_ESHAPE,
                "%s to %d extents: [N, C, spatial..], an extent >= 1 and a scale > 0 for each are "
                "needed",
                text_of(x, text), size->rank);
    return ok;
}

static lz_node *counter(lz_tracer *c, lz_dtype d, int64_t n, const lz_node *like)
{
    lz_shape s = {.rank = 1, .dims = {n}};
    return lz_tracer_iota(c, d, &s, 0, like);
}

/* Each element r times: n becomes n r. */
static lz_node *repeat_each(lz_tracer *c, lz_node *x, int64_t dim, int64_t r)
{
    lz_shape s = *lz_tracer_shape(x), out = s, four = {4, {1, s.dims[dim], r, 1}};
    for (int i = 0; i < s.rank; i++)
        if (i != dim)
            four.dims[i < dim ? 0 : 3] *= s.dims[i];
    out.dims[dim] *= r;
    lz_shape three = {3, {four.dims[0], four.dims[1], four.dims[3]}};
    x = lz_tracer_broadcast_in_dim(c, lz_tracer_reshape(c, x, &three),
                                   &(lz_ints){.n = 3, .v = {0, 1, 3}}, &four);
    return lz_tracer_reshape(c, x, &out);
}

static lz_node *nearest_dim(lz_tracer *c, lz_node *x, int64_t dim, int64_t out, const double *scale,
                            bool exact)
{
    int64_t in = lz_tracer_shape(x)->dims[dim];
    if (in == out && !scale)
        return x;
    if (!scale && out % in == 0)
        return repeat_each(c, x, dim, out / in);
    float step = scale ? (float)(1 / *scale) : (float)in / (float)out;
    lz_node *i = counter(c, LZ_F32, out, x);
    if (exact)
        i = ADD(i, K(i, 0.5));
    lz_node *at = TO(FLOOR(MUL(i, K(i, step))), LZ_I64);
    return at ? lz_tracer_take(c, x, dim, at) : NULL; /* clamped to the last */
}

lz_tensor *lz_upsample_nearest_at(lz_tensor *x, lz_shape size, const double *scales, bool exact,
                                  const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_upsample_nearest");
    lz_node *n = IN(x);
    if (!n || !resizable(n, &size, scales, 1, 3))
        return lz_tracer_end(c, NULL);
    for (int i = 0; n && i < size.rank; i++)
        n = nearest_dim(c, n, 2 + i, size.dims[i], scales ? &scales[i] : NULL, exact);
    return lz_tracer_end(c, n);
}

/* Where in the source each of `out` elements comes from. */
static lz_node *source(lz_tracer *c, lz_node *x, int64_t in, int64_t out, bool align,
                       const double *scale)
{
    lz_node *i = counter(c, lz_tracer_dtype(x), out, x);
    if (align)
        return MUL(i, K(i, out > 1 ? (double)(in - 1) / (double)(out - 1) : 0));
    double step = scale ? 1 / *scale : (double)in / (double)out;
    return SUB(MUL(ADD(i, K(i, 0.5)), K(i, step)), K(i, 0.5));
}

/* A factor for each element of dim. */
static lz_node *along(lz_tracer *c, lz_node *f, int64_t dim, const lz_node *like)
{
    return f && like ? lz_tracer_broadcast_in_dim(c, f, &(lz_ints){.n = 1, .v = {dim}},
                                                  lz_tracer_shape(like))
                     : NULL;
}

/* v w for each element of dim; an infinite or NaN v without weight is not there: 0. */
static lz_node *part(lz_tracer *c, lz_node *v, lz_node *w, int64_t dim)
{
    w = along(c, w, dim, v);
    return SEL(EQ(w, K(w, 0)), K(v, 0), MUL(v, w));
}

static lz_node *linear_dim(lz_tracer *c, lz_node *x, int64_t dim, int64_t out, bool align,
                           const double *scale)
{
    int64_t in = lz_tracer_shape(x)->dims[dim];
    if (in == out && !scale)
        return x;
    lz_node *p = source(c, x, in, out, align, scale);
    p = MAX(p, K(p, 0));
    lz_node *f = FLOOR(p), *i0 = TO(f, LZ_I64);
    i0 = MIN(i0, K(i0, (double)(in - 1)));
    lz_node *i1 = MIN(ADD(i0, K(i0, 1)), K(i0, (double)(in - 1)));
    lz_node *w = SUB(p, TO(i0, lz_tracer_dtype(x)));
    w = MIN(MAX(w, K(w, 0)), K(w, 1));
    if (!w || !i1)
        return NULL;
    lz_node *a = lz_tracer_take(c, x, dim, i0), *b = lz_tracer_take(c, x, dim, i1);
    return ADD(part(c, a, SUB(K(w, 1), w), dim), part(c, b, w, dim));
}

/* Keys' cubic: the four factors at distances 1 + t, t, 1 - t, 2 - t. */
static void cubic(lz_tracer *c, lz_node *t, lz_node *w[4])
{
    const double a = -0.75;
    lz_node *one = K(t, 1);
    for (int k = 0; k < 4; k++) {
        lz_node *d = k < 2 ? t : SUB(one, t);
        if (k == 0 || k == 3) { /* ((a d - 5a) d + 8a) d - 4a */
            d = ADD(d, one);
            w[k] = SUB(MUL(ADD(MUL(SUB(MUL(d, K(d, a)), K(d, 5 * a)), d), K(d, 8 * a)), d),
                       K(d, 4 * a));
        } else { /* ((a + 2) d - (a + 3)) d d + 1 */
            w[k] = ADD(MUL(MUL(SUB(MUL(d, K(d, a + 2)), K(d, a + 3)), d), d), one);
        }
    }
}

static lz_node *cubic_dim(lz_tracer *c, lz_node *x, int64_t dim, int64_t out, bool align,
                          const double *scale)
{
    lz_node *w[4], *sum = NULL;
    int64_t in = lz_tracer_shape(x)->dims[dim];
    lz_node *p = source(c, x, in, out, align, scale), *f = FLOOR(p);
    lz_node *i = TO(f, LZ_I64);
    cubic(c, SUB(p, f), w);
    for (int k = 0; k < 4 && i; k++) {
        lz_node *at = ADD(i, K(i, k - 1));
        lz_node *v = at ? lz_tracer_take(c, x, dim, at) : NULL; /* clamped: the border repeated */
        v = part(c, v, w[k], dim);
        sum = k ? ADD(sum, v) : v;
    }
    return sum;
}

static lz_tensor *resize(const char *name, lz_tensor *x, lz_shape size, bool align,
                         const double *scales, bool bicubic, const lz_site *site)
{
    BEGIN(name);
    lz_node *n = lz_tracer_float(c, IN(x));
    if (!n || !resizable(n, &size, scales, bicubic ? 2 : 1, bicubic ? 2 : 3))
        return lz_tracer_end(c, NULL);
    lz_dtype d = lz_tracer_dtype(n);
    n = lz_tracer_wide(c, n);
    for (int i = 0; n && i < size.rank; i++)
        n = (bicubic ? cubic_dim : linear_dim)(c, n, 2 + i, size.dims[i], align,
                                               scales ? &scales[i] : NULL);
    return lz_tracer_end(c, TO(n, d));
}

lz_tensor *lz_upsample_linear_at(lz_tensor *x, lz_shape size, bool align_corners,
                                 const double *scales, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return resize("lz_upsample_linear", x, size, align_corners, scales, false, site);
}

lz_tensor *lz_upsample_bicubic2d_at(lz_tensor *x, lz_shape size, bool align_corners,
                                    const double *scales, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return resize("lz_upsample_bicubic2d", x, size, align_corners, scales, true, site);
}

/* ---- sampling ---- */

typedef struct sampler {
    lz_node *image; /* [N, C, H W] */
    int64_t height, width, channels;
    lz_grid_padding padding;
    bool align;
} sampler;

/* 0 below and for NaN, hi above; the gradient at the bounds is 0, as ATen's. */
static lz_node *clip(lz_tracer *c, lz_node *p, double hi)
{
    lz_node *l = K(p, 0), *h = K(p, hi);
    return SEL(GT(p, l), SEL(GE(p, h), h, p), l);
}

/* A coordinate brought to where there are elements; with zeros it stays, if it is one: otherwise
 * its weights would be inf - inf. */
static lz_node *inside(lz_tracer *c, const sampler *s, lz_node *p, int64_t extent)
{
    if (s->padding == LZ_GRID_ZEROS || !p)
        return SEL(FINITE(p), p, K(p, -2));
    if (s->padding == LZ_GRID_REFLECTION) {
        double low = s->align ? 0 : -0.5, span = s->align ? (double)(extent - 1) : (double)extent;
        if (span == 0) {
            p = MUL(p, K(p, 0));
        } else {
            /* there and back: a quotient that is rounded up would turn once too often */
            lz_node *way = K(p, 2 * span), *q = REM(ABS(SUB(p, K(p, low))), way);
            p = ADD(SEL(GT(q, K(p, span)), SUB(way, q), q), K(p, low));
        }
    }
    return clip(c, p, (double)(extent - 1));
}

/* From -1..1 to element numbers. */
static lz_node *unnormalised(lz_tracer *c, const sampler *s, lz_node *g, int64_t extent)
{
    lz_node *one = K(g, 1);
    if (s->align)
        return MUL(DIV(ADD(g, one), K(g, 2)), K(g, (double)(extent - 1)));
    return DIV(SUB(MUL(ADD(g, one), K(g, (double)extent)), one), K(g, 2));
}

/* The elements at whole coordinates [N, P], 0 outside: [N, C, P]. */
static lz_node *pick(lz_tracer *c, const sampler *s, lz_node *px, lz_node *py)
{
    lz_attr_any a;
    lz_node *zero = K(px, 0);
    lz_node *in = AND(AND(GE(px, zero), LE(px, K(px, (double)(s->width - 1)))),
                      AND(GE(py, zero), LE(py, K(py, (double)(s->height - 1)))));
    lz_node *x = TO(SEL(in, px, zero), LZ_I64), *y = TO(SEL(in, py, zero), LZ_I64);
    lz_node *at = ADD(MUL(y, K(y, (double)s->width)), x);
    lz_attr_init(&a, LZ_ATTR_gather);
    a.as_gather.offset_dims = (lz_ints){.n = 1, .v = {1}};
    a.as_gather.collapsed_slice_dims = a.as_gather.start_index_map = (lz_ints){.n = 1, .v = {2}};
    a.as_gather.operand_batching_dims = a.as_gather.start_indices_batching_dims =
        (lz_ints){.n = 1, .v = {0}};
    a.as_gather.index_vector_dim = 2;
    a.as_gather.slice_sizes = (lz_ints){.n = 3, .v = {1, s->channels, 1}};
    lz_node *o[2] = {s->image, at}, *v = lz_tracer_op(c, LZ_OP_GATHER, &a.head, o, 2);
    if (!v)
        return NULL;
    in = lz_tracer_broadcast_in_dim(c, in, &(lz_ints){.n = 2, .v = {0, 2}}, lz_tracer_shape(v));
    return SEL(in, v, K(v, 0));
}

/* v w; an infinite or NaN v without weight is not there: 0. A finite one stays, for the gradient of
 * w is v. */
static lz_node *weighted(lz_tracer *c, lz_node *v, lz_node *w)
{
    if (!v || !w)
        return NULL;
    w = lz_tracer_broadcast_in_dim(c, w, &(lz_ints){.n = 2, .v = {0, 2}}, lz_tracer_shape(v));
    return MUL(SEL(OR(FINITE(v), NE(w, K(w, 0))), v, K(v, 0)), w);
}

static lz_node *bilinear(lz_tracer *c, const sampler *s, lz_node *x, lz_node *y)
{
    lz_node *x0 = FLOOR(x), *y0 = FLOOR(y), *sum = NULL;
    lz_node *wx[2], *wy[2], *one = K(x, 1);
    wx[1] = SUB(x, x0);
    wy[1] = SUB(y, y0);
    wx[0] = SUB(one, wx[1]);
    wy[0] = SUB(one, wy[1]);
    for (int k = 0; k < 4; k++) {
        lz_node *v = pick(c, s, k & 1 ? ADD(x0, one) : x0, k & 2 ? ADD(y0, one) : y0);
        v = weighted(c, v, MUL(wx[k & 1], wy[k >> 1]));
        sum = k ? ADD(sum, v) : v;
    }
    return sum;
}

static lz_node *bicubic(lz_tracer *c, const sampler *s, lz_node *x, lz_node *y)
{
    lz_node *x0 = FLOOR(x), *y0 = FLOOR(y), *wx[4], *wy[4], *sum = NULL;
    cubic(c, SUB(x, x0), wx);
    cubic(c, SUB(y, y0), wy);
    for (int k = 0; k < 16; k++) {
        lz_node *px = inside(c, s, ADD(x0, K(x0, k % 4 - 1)), s->width);
        lz_node *py = inside(c, s, ADD(y0, K(y0, k / 4 - 1)), s->height);
        /* reflected about half an element, whole numbers stay whole */
        lz_node *v = weighted(c, pick(c, s, px, py), MUL(wx[k % 4], wy[k / 4]));
        sum = k ? ADD(sum, v) : v;
    }
    return sum;
}

static lz_node *grid_sampler(lz_tracer *c, lz_node *x, lz_node *grid, lz_grid_mode mode,
                             lz_grid_padding padding, bool align)
{
    char tx[128], tg[128];
    const lz_shape sx = *lz_tracer_shape(x), sg = *lz_tracer_shape(grid);
    if (sx.rank != 4 || sg.rank != 4 || sg.dims[3] != 2 || sx.dims[0] != sg.dims[0] ||
        sx.dims[2] < 1 || sx.dims[3] < 1) {
        LZ_FAIL(LZ_ESHAPE, "x is %s, the grid %s: [N, C, H, W] and [N, Ho, Wo, 2] are needed",
                text_of(x, tx), text_of(grid, tg));
        return NULL;
    }
    if ((unsigned)mode > LZ_GRID_BICUBIC || (unsigned)padding > LZ_GRID_REFLECTION) {
        LZ_FAIL(LZ_EINVAL, "mode %d, padding %d", (int)mode, (int)padding);
        return NULL;
    }
    lz_dtype d = lz_tracer_dtype(x), wide;
    if (!(x = lz_tracer_wide(c, x)))
        return NULL;
    wide = lz_tracer_dtype(x);
    grid = TO(grid, wide);
    lz_shape flat = {3, {sx.dims[0], sx.dims[1], sx.dims[2] * sx.dims[3]}},
             points = {2, {sg.dims[0], sg.dims[1] * sg.dims[2]}},
             out = {4, {sx.dims[0], sx.dims[1], sg.dims[1], sg.dims[2]}};
    sampler s = {.image = lz_tracer_reshape(c, x, &flat),
                 .height = sx.dims[2],
                 .width = sx.dims[3],
                 .channels = sx.dims[1],
                 .padding = padding,
                 .align = align};
    lz_node *g[2];
    for (int k = 0; k < 2; k++)
        if (!grid || !s.image ||
            !(g[k] = lz_tracer_reshape(c, lz_tracer_slice_dim(c, grid, 3, k, k + 1, 1), &points)))
            return NULL;
    lz_node *px = unnormalised(c, &s, g[0], s.width), *py = unnormalised(c, &s, g[1], s.height), *r;
    if (mode == LZ_GRID_BICUBIC) {
        r = bicubic(c, &s, px, py);
    } else {
        px = inside(c, &s, px, s.width);
        py = inside(c, &s, py, s.height);
        r = mode == LZ_GRID_BILINEAR ? bilinear(c, &s, px, py)
                                     : pick(c, &s, lz_tracer_ew1(c, LZ_OP_ROUND_NEAREST_EVEN, px),
                                            lz_tracer_ew1(c, LZ_OP_ROUND_NEAREST_EVEN, py));
    }
    return TO(lz_tracer_reshape(c, r, &out), d);
}

lz_tensor *lz_grid_sampler_2d_at(lz_tensor *x, lz_tensor *grid, lz_grid_mode mode,
                                 lz_grid_padding padding, bool align_corners, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_grid_sampler_2d");
    lz_node *n = lz_tracer_float(c, IN(x)), *g = n ? lz_tracer_float(c, IN(grid)) : NULL;
    return lz_tracer_end(c, g ? grid_sampler(c, n, g, mode, padding, align_corners) : NULL);
}

/* -1..1 in n steps: from border to border, or the middles of n parts. */
static lz_node *base(lz_tracer *c, lz_dtype d, const lz_shape *s, int64_t dim, bool align,
                     const lz_node *like)
{
    int64_t n = s->dims[dim];
    lz_node *i = lz_tracer_iota(c, d, s, dim, like);
    if (align)
        return n > 1 ? SUB(MUL(i, K(i, 2 / (double)(n - 1))), K(i, 1)) : K(i, 0);
    return SUB(DIV(ADD(MUL(i, K(i, 2)), K(i, 1)), K(i, (double)n)), K(i, 1));
}

lz_tensor *lz_affine_grid_generator_at(lz_tensor *theta, lz_shape size, bool align_corners,
                                       const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    char text[128];
    BEGIN("lz_affine_grid_generator");
    lz_node *t = lz_tracer_float(c, IN(theta));
    if (!t)
        return lz_tracer_end(c, NULL);
    const lz_shape st = *lz_tracer_shape(t);
    if (st.rank != 3 || st.dims[1] != 2 || st.dims[2] != 3 || size.rank != 4 ||
        size.dims[0] != st.dims[0] || size.dims[2] < 1 || size.dims[3] < 1) {
        LZ_FAIL(LZ_ESHAPE, "theta is %s, size has rank %d: [N, 2, 3] and [N, C, H, W] are needed",
                text_of(t, text), size.rank);
        return lz_tracer_end(c, NULL);
    }
    lz_dtype d = lz_tracer_dtype(t);
    t = lz_tracer_wide(c, t);
    lz_dtype wide = lz_tracer_dtype(t);
    lz_shape grid = {4, {size.dims[0], size.dims[2], size.dims[3], 2}};
    lz_node *sum = NULL;
    if (!t || !lz_type_get(wide, &grid))
        return lz_tracer_end(c, NULL);
    for (int k = 0; k < 3; k++) { /* column k of theta times x, y, 1 */
        lz_node *col = lz_tracer_squeeze(c, lz_tracer_slice_dim(c, t, 2, k, k + 1, 1), 2);
        lz_node *f = lz_tracer_broadcast_in_dim(c, col, &(lz_ints){.n = 2, .v = {0, 3}}, &grid);
        if (k < 2)
            f = MUL(f, base(c, wide, &grid, k == 0 ? 2 : 1, align_corners, t));
        sum = k ? ADD(sum, f) : f;
    }
    return lz_tracer_end(c, TO(sum, d));
}
