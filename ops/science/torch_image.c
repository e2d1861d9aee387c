/* torch_image.c - interpolate, grid_sample and affine_grid as torch.nn.functional has them, over
 * the functions that ATen makes them of; and grids of volumes: include/lazuli/image_ops.h. */
#include "ops/science/science.h"
#include "base/status.h"
#include <inttypes.h>
#include <lazuli/image_ops.h>
#include <lazuli/window_ops.h>
#include <math.h>
#include <string.h>

/* The place of name in a list of n; -1 with LZ_EINVAL recorded. */
static int one_of(const char *what, const char *name, const char *const *list, int n)
{
    char all[160] = "";
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        if (name && strcmp(name, list[i]) == 0)
            return i;
        size_t len = strlen(list[i]);
        if (at + len + 3 < sizeof all) {
            memcpy(all + at, i ? ", " : "", i ? 2 : 0);
            at += i ? 2 : 0;
            memcpy(all + at, list[i], len + 1);
            at += len;
        }
    }
    LZ_FAIL(LZ_EINVAL, "%s is \"%.40s\": one of %s is needed", what, name ? name : "", all);
    return -1;
}

/* ---- interpolate ---- */

typedef enum way { NEAREST, EXACT, LINEAR, BILINEAR, TRILINEAR, BICUBIC, AREA, WAYS } way;
static const char *const ways[WAYS] = {"nearest",   "nearest-exact", "linear", "bilinear",
                                       "trilinear", "bicubic",       "area"};

/* The extents that are asked for, and the scales that go with them (NULL: none). */
static bool target_of(const lz_tensor *x, const lz_interpolate_options *o, lz_shape *size,
                      const double **scales)
{
    int n = lz_rank_of(x) - 2;
    lz_shape s = lz_shape_of(x);
    double scale[3];
    bool by_size = o->size.rank != 0, by_scale = o->scale_factor[0] != 0;
    *scales = NULL;
    if (by_size == by_scale) {
        LZ_FAIL(LZ_EINVAL, "%s: one of size and scale_factor is needed",
                by_size ? "size and scale_factor are given" : "neither is given");
        return false;
    }
    if (by_size) {
        if (o->size.rank != n && o->size.rank != 1) {
            LZ_FAIL(LZ_ESHAPE, "size has rank %d: one extent, or %d", o->size.rank, n);
            return false;
        }
        size->rank = n;
        for (int i = 0; i < n; i++)
            size->dims[i] = o->size.dims[o->size.rank == 1 ? 0 : i];
        return true;
    }
    size->rank = n;
    for (int i = 0; i < n; i++) {
        scale[i] = o->scale_factor[i] != 0 ? o->scale_factor[i] : scale[i - 1];
        double extent = floor((double)s.dims[2 + i] * scale[i]);
        if (!(scale[i] > 0) || !(extent >= 1 && extent < 1 << 30)) {
            LZ_FAIL(LZ_ESHAPE, "dimension %d of %" PRId64 ": its scale_factor leaves no extent",
                    2 + i, s.dims[2 + i]);
            return false;
        }
        size->dims[i] = (int64_t)extent;
    }
    if (!o->recompute_scale_factor)
        *scales = o->scale_factor;
    return true;
}

static lz_tensor *area(const lz_composite *c, lz_tensor *x, lz_shape size)
{
    if (size.rank == 1)
        return lz_adaptive_avg_pool1d_at(x, size.dims[0], c->site);
    return size.rank == 2 ? lz_adaptive_avg_pool2d_at(x, size, c->site)
                          : lz_adaptive_avg_pool3d_at(x, size, c->site);
}

static lz_tensor *interpolate(const lz_composite *c, lz_tensor *x, const lz_interpolate_options *o)
{
    static const int dims[WAYS] = {[LINEAR] = 1, [BILINEAR] = 2, [TRILINEAR] = 3, [BICUBIC] = 2};
    char text[160];
    lz_shape size = {0};
    const double *given;
    double scales[3];
    if (!lz_composite_in(c, x, "x"))
        return NULL;
    int w = one_of("mode", o->mode ? o->mode : ways[0], ways, WAYS), n = lz_rank_of(x) - 2;
    if (w < 0)
        return NULL;
    if (n < 1 || n > 3 || (dims[w] && dims[w] != n)) {
        LZ_FAIL(LZ_ESHAPE,
                "x is %s: mode \"%s\" takes [N, C, spatial..] with %s spatial dimensions",
                lz_composite_shape(x, text), ways[w],
                dims[w] == 1   ? "1"
                : dims[w] == 2 ? "2"
                : dims[w] == 3 ? "3"
                               : "1 to 3");
        return NULL;
    }
    if (o->align_corners && !dims[w]) {
        LZ_FAIL(LZ_EINVAL, "align_corners has no meaning for mode \"%s\"", ways[w]);
        return NULL;
    }
    if (!target_of(x, o, &size, &given))
        return NULL;
    for (int i = 0; given && i < n; i++)
        scales[i] = given[i] != 0 ? given[i] : scales[i - 1];
    const double *by = given ? scales : NULL;
    if (w == NEAREST || w == EXACT)
        return lz_upsample_nearest_at(x, size, by, w == EXACT, c->site);
    if (w == AREA)
        return area(c, x, size);
    return w == BICUBIC ? lz_upsample_bicubic2d_at(x, size, o->align_corners, by, c->site)
                        : lz_upsample_linear_at(x, size, o->align_corners, by, c->site);
}

lz_tensor *lz_interpolate_at(lz_tensor *x, const lz_interpolate_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_interpolate");
    lz_interpolate_options opt = {.struct_size = sizeof opt, .mode = "nearest"};
    lz_tensor *r = lz_composite_options(c, &opt, sizeof opt, o) ? interpolate(c, x, &opt) : NULL;
    return lz_composite_end(c, r);
}

/* ---- grid_sample ---- */

typedef struct volume {
    lz_tensor *x;      /* [N, C, D H W], wide */
    int64_t extent[3]; /* W, H, D: in the order of a position's coordinates */
    lz_grid_padding padding;
    bool align;
} volume;

/* Coordinate v reflected until it is in [low, high]. ATen: reflect_coordinates. */
static lz_tensor *reflected(const lz_composite *c, lz_tensor *v, double low, double high)
{
    double span = high - low;
    if (span == 0)
        return lz_zeros_like_at(v, LZ_DTYPE_NONE, c->site);
    lz_tensor *round = NUMBER(v, 2 * span); /* there and back */
    v = lz_fmod_at(lz_abs_at(SUB(v, NUMBER(v, low)), c->site), round, c->site);
    v = WHERE(lz_gt_at(v, NUMBER(v, span), c->site), SUB(round, v), v);
    return ADD(v, NUMBER(v, low));
}

/* Positions -1..1 of one dimension as coordinates of its elements, padded. */
static lz_tensor *coordinate(const lz_composite *c, const volume *s, lz_tensor *g, int64_t n)
{
    lz_tensor *one = NUMBER(g, 1), *v = ADD(g, one), *last = NUMBER(g, (double)(n - 1));
    if (s->align)
        v = MUL(DIV(v, NUMBER(g, 2)), last);
    else
        v = DIV(SUB(MUL(v, NUMBER(g, (double)n)), one), NUMBER(g, 2));
    if (s->padding == LZ_GRID_ZEROS) /* what is no number is outside; its weights are inf - inf */
        return WHERE(lz_isfinite_at(v, c->site), v, NUMBER(v, -2));
    if (s->padding == LZ_GRID_REFLECTION)
        v = s->align ? reflected(c, v, 0, (double)(n - 1)) : reflected(c, v, -0.5, (double)n - 0.5);
    lz_tensor *zero = NUMBER(v, 0); /* for NaN, too; the gradient at the bounds is 0 */
    return WHERE(lz_gt_at(v, zero, c->site), WHERE(lz_ge_at(v, last, c->site), last, v), zero);
}

/* The elements at the whole coordinates p (x, y, z) [N, P], 0 outside, times w: [N, C, P]. An
 * infinite or NaN one without weight is not there: 0. A finite one stays, for the gradient of w is
 * the element. */
static lz_tensor *corner(const lz_composite *c, const volume *s, lz_tensor *const *p, lz_tensor *w)
{
    lz_tensor *in = NULL, *at = NULL;
    for (int k = 2; k >= 0; k--) {
        lz_tensor *zero = NUMBER(p[k], 0), *last = NUMBER(p[k], (double)(s->extent[k] - 1));
        lz_tensor *fits = lz_logical_and_at(lz_ge_at(p[k], zero, c->site),
                                            lz_le_at(p[k], last, c->site), c->site);
        lz_tensor *i = TO(WHERE(fits, p[k], zero), LZ_I64);
        in = in ? lz_logical_and_at(in, fits, c->site) : fits;
        at = at ? ADD(MULS(at, (double)s->extent[k]), i) : i;
    }
    lz_shape x = lz_shape_of(s->x), out = {3, {x.dims[0], x.dims[1], lz_shape_of(p[0]).dims[1]}};
    at = lz_expand_at(lz_unsqueeze_at(at, 1, c->site), out, c->site);
    lz_tensor *v = lz_gather_at(s->x, 2, at, c->site);
    in = lz_unsqueeze_at(in, 1, c->site);
    v = WHERE(in, v, NUMBER(v, 0));
    if (!w)
        return v;
    w = lz_unsqueeze_at(w, 1, c->site);
    lz_tensor *there =
        lz_logical_or_at(lz_isfinite_at(v, c->site), lz_ne_at(w, NUMBER(w, 0), c->site), c->site);
    return MUL(WHERE(there, v, NUMBER(v, 0)), w);
}

static lz_tensor *trilinear(const lz_composite *c, const volume *s, lz_tensor *const *v)
{
    lz_tensor *low[3], *part[3][2], *sum = NULL;
    for (int k = 0; k < 3; k++) {
        low[k] = lz_composite_detached(c, lz_floor_at(v[k], c->site));
        part[k][1] = SUB(v[k], low[k]);
        part[k][0] = SUB(NUMBER(v[k], 1), part[k][1]);
    }
    for (int i = 0; i < 8; i++) {
        lz_tensor *p[3], *w = NULL;
        for (int k = 0; k < 3; k++) {
            int up = i >> k & 1;
            p[k] = up ? ADD(low[k], NUMBER(low[k], 1)) : low[k];
            w = w ? MUL(w, part[k][up]) : part[k][up];
        }
        lz_tensor *t = corner(c, s, p, w);
        sum = sum ? ADD(sum, t) : t;
    }
    return sum;
}

static lz_tensor *sample_volume(const lz_composite *c, lz_tensor *x, lz_tensor *grid,
                                lz_grid_mode mode, lz_grid_padding padding, bool align)
{
    char tx[160], tg[160];
    lz_shape s = lz_shape_of(x), g = lz_shape_of(grid);
    if (g.rank != 5 || g.dims[4] != 3 || g.dims[0] != s.dims[0] || s.dims[2] < 1 || s.dims[3] < 1 ||
        s.dims[4] < 1) {
        LZ_FAIL(LZ_ESHAPE,
                "x is %s, the grid %s: [N, C, D, H, W] and [N, Do, Ho, Wo, 3] are needed",
                lz_composite_shape(x, tx), lz_composite_shape(grid, tg));
        return NULL;
    }
    if (mode == LZ_GRID_BICUBIC) {
        LZ_FAIL(LZ_EINVAL, "mode \"bicubic\" is of [N, C, H, W]: x is %s",
                lz_composite_shape(x, tx));
        return NULL;
    }
    lz_dtype d = lz_composite_dtype(x);
    volume v = {lz_composite_wide(c, x), {s.dims[4], s.dims[3], s.dims[2]}, padding, align};
    v.x = RESHAPE(v.x, LZ_SHAPE(s.dims[0], s.dims[1], s.dims[2] * s.dims[3] * s.dims[4]));
    grid = TO(grid, lz_dtype_of(v.x));
    lz_tensor *at[3];
    for (int k = 0; k < 3; k++) {
        at[k] = RESHAPE(lz_select_at(grid, 4, k, c->site),
                        LZ_SHAPE(g.dims[0], g.dims[1] * g.dims[2] * g.dims[3]));
        at[k] = coordinate(c, &v, at[k], v.extent[k]);
        if (mode == LZ_GRID_NEAREST)
            at[k] = lz_round_at(at[k], c->site);
    }
    lz_tensor *r = mode == LZ_GRID_NEAREST ? corner(c, &v, at, NULL) : trilinear(c, &v, at);
    return TO(RESHAPE(r, LZ_SHAPE(s.dims[0], s.dims[1], g.dims[1], g.dims[2], g.dims[3])), d);
}

lz_tensor *lz_grid_sample_at(lz_tensor *x, lz_tensor *grid, const lz_grid_sample_options *o,
                             const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    static const char *const modes[] = {"bilinear", "nearest", "bicubic"};
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    COMPOSITE("lz_grid_sample");
    lz_grid_sample_options opt = {
        .struct_size = sizeof opt, .mode = "bilinear", .padding_mode = "zeros"};
    lz_tensor *r = NULL;
    if (lz_composite_options(c, &opt, sizeof opt, o) && lz_composite_real(c, x, "x") &&
        lz_composite_real(c, grid, "the grid")) {
        int mode = one_of("mode", opt.mode ? opt.mode : modes[0], modes, 3);
        int pad = mode < 0 ? -1
                           : one_of("padding_mode",
                                    opt.padding_mode ? opt.padding_mode : paddings[0], paddings, 3);
        if (pad >= 0)
            r = lz_rank_of(x) == 5
                    ? sample_volume(c, x, grid, (lz_grid_mode)mode, (lz_grid_padding)pad,
                                    opt.align_corners)
                    : lz_grid_sampler_2d_at(x, grid, (lz_grid_mode)mode, (lz_grid_padding)pad,
                                            opt.align_corners, site);
    }
    return lz_composite_end(c, r);
}

/* ---- affine_grid ---- */

/* -1..1 along dim of s, from border to border, or the middles of n parts. */
static lz_tensor *axis(const lz_composite *c, lz_tensor *theta, lz_shape s, int64_t dim, bool align)
{
    double n = (double)s.dims[dim];
    lz_tensor *i = lz_composite_iota(c, theta, lz_dtype_of(theta), s, dim);
    if (align)
        return n > 1 ? SUB(MUL(i, NUMBER(i, 2 / (n - 1))), NUMBER(i, 1)) : MUL(i, NUMBER(i, 0));
    return SUB(DIV(ADD(ADD(i, i), NUMBER(i, 1)), NUMBER(i, n)), NUMBER(i, 1));
}

/* theta[N, 3, 4], size [N, C, D, H, W] */
static lz_tensor *volume_grid(const lz_composite *c, lz_tensor *theta, lz_shape size, bool align)
{
    char text[160];
    lz_shape s = lz_shape_of(theta);
    if (s.rank != 3 || s.dims[1] != 3 || s.dims[2] != 4 || s.dims[0] != size.dims[0] ||
        size.dims[2] < 1 || size.dims[3] < 1 || size.dims[4] < 1) {
        LZ_FAIL(LZ_ESHAPE, "theta is %s: for [N, C, D, H, W] it is [N, 3, 4]",
                lz_composite_shape(theta, text));
        return NULL;
    }
    lz_dtype d = lz_composite_dtype(theta);
    theta = lz_composite_wide(c, theta);
    lz_shape points = {4, {1, size.dims[2], size.dims[3], size.dims[4]}};
    lz_tensor *at[4];
    for (int k = 0; k < 3; k++)
        at[k] = axis(c, theta, points, 3 - k, align);
    at[3] = lz_ones_like_at(at[0], LZ_DTYPE_NONE, c->site);
    lz_tensor *base = lz_stack_at(at, 4, -1, c->site);
    int64_t n = points.dims[1] * points.dims[2] * points.dims[3];
    base = RESHAPE(base, LZ_SHAPE(1, n, 4));
    lz_tensor *r = lz_matmul_at(base, lz_transpose_at(theta, 1, 2, c->site), c->site);
    return TO(RESHAPE(r, LZ_SHAPE(s.dims[0], size.dims[2], size.dims[3], size.dims[4], 3)), d);
}

lz_tensor *lz_affine_grid_at(lz_tensor *theta, lz_shape size, bool align_corners,
                             const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_affine_grid");
    lz_tensor *r = NULL;
    if (lz_composite_real(c, theta, "theta"))
        r = size.rank == 5 ? volume_grid(c, theta, size, align_corners)
                           : lz_affine_grid_generator_at(theta, size, align_corners, site);
    return lz_composite_end(c, r);
}
