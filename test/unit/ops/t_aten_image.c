/* t_aten_image.c - interpolation, grid sampling, padding, pixel shuffle, unfold and fold, element
 * by element in double. */
#include "aten.h"

static double x[240], want[AT_MAX];
static const lz_shape S4 = {4, {2, 3, 4, 5}};
#define PX(n, ch, i, j) x[(((n)*3 + (ch)) * 4 + (i)) * 5 + (j)]
#define EACH4(h, w, expr)                                                                          \
    do {                                                                                           \
        int64_t at_ = 0;                                                                           \
        for (int64_t n = 0; n < 2; n++)                                                            \
            for (int64_t ch = 0; ch < 3; ch++)                                                     \
                for (int64_t i = 0; i < (h); i++)                                                  \
                    for (int64_t j = 0; j < (w); j++)                                              \
                        want[at_++] = (expr);                                                      \
    } while (0)

static int64_t lim(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

START_TEST(nearest)
{
    ON_DEVICE(_i);
    lz_tensor *X = at_random(LZ_F32, S4, -2, 2, x);
    static const int64_t sizes[][2] = {{8, 15}, {3, 7}, {4, 5}, {1, 1}, {9, 2}};
    for (int k = 0; k < 5; k++) {
        int64_t h = sizes[k][0], w = sizes[k][1];
        EACH4(h, w,
              PX(n, ch, lim((int64_t)floorf((float)i * (4.0f / (float)h)), 4),
                 lim((int64_t)floorf((float)j * (5.0f / (float)w)), 5)));
        EXPECT(lz_upsample_nearest2d(X, LZ_SHAPE(h, w), NULL), LZ_F32, LZ_SHAPE(2, 3, h, w), want,
               0);
        if (k == 0 || k == 2)
            continue;
        EACH4(h, w,
              PX(n, ch, lim((int64_t)floorf(((float)i + 0.5f) * (4.0f / (float)h)), 4),
                 lim((int64_t)floorf(((float)j + 0.5f) * (5.0f / (float)w)), 5)));
        EXPECT(lz_upsample_nearest(X, LZ_SHAPE(h, w), NULL, true), LZ_F32, LZ_SHAPE(2, 3, h, w),
               want, 0);
    }
    EACH4(7, 9,
          PX(n, ch, lim((int64_t)floorf((float)i * (float)(1 / 1.9)), 4),
             lim((int64_t)floorf((float)j * (float)(1 / 1.85)), 5)));
    EXPECT(lz_upsample_nearest2d(X, LZ_SHAPE(7, 9), ((double[]){1.9, 1.85})), LZ_F32,
           LZ_SHAPE(2, 3, 7, 9), want, 0);
    EACH4(4, 10, PX(n, ch, i, j / 2));
    EXPECT(lz_upsample_nearest(lz_reshape(X, LZ_SHAPE(2, 12, 5)), LZ_SHAPE(10), NULL, false),
           LZ_F32, LZ_SHAPE(2, 12, 10), want, 0);
    BAD(lz_upsample_nearest2d(X, LZ_SHAPE(7), NULL), LZ_ESHAPE, "1 extents");
    BAD(lz_upsample_nearest2d(X, LZ_SHAPE(7, 0), NULL), LZ_ESHAPE, "[2,3,4,5]");
}
END_TEST

static double pos(int64_t i, int64_t in, int64_t out, bool align, bool clamp)
{
    double p = align ? (out > 1 ? (double)i * (double)(in - 1) / (double)(out - 1) : 0)
                     : ((double)i + 0.5) * (double)in / (double)out - 0.5;
    return clamp && p < 0 ? 0 : p;
}
static double keys(double d)
{
    const double a = -0.75;
    d = fabs(d);
    return d <= 1  ? (a + 2) * d * d * d - (a + 3) * d * d + 1
           : d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a
                   : 0;
}
/* The value at (y, x) of one image of 4 by 5, linear or cubic, the border repeated. */
static double sample(int64_t n, int64_t ch, double y, double px, bool cubic)
{
    double s = 0;
    int64_t y0 = (int64_t)floor(y), x0 = (int64_t)floor(px);
    for (int64_t i = -1; i < 3; i++)
        for (int64_t j = -1; j < 3; j++) {
            double dy = y - (double)(y0 + i), dx = px - (double)(x0 + j);
            double w = cubic ? keys(dy) * keys(dx) : fmax(0, 1 - fabs(dy)) * fmax(0, 1 - fabs(dx));
            s += w * PX(n, ch, lim(y0 + i, 4), lim(x0 + j, 5));
        }
    return s;
}

START_TEST(linear_and_cubic)
{
    ON_DEVICE(_i);
    lz_tensor *X = at_random(LZ_F64, S4, -2, 2, x);
    static const int64_t sizes[][2] = {{8, 10}, {3, 7}, {1, 3}};
    for (int k = 0; k < 3; k++)
        for (int align = 0; align < 2; align++) {
            int64_t h = sizes[k][0], w = sizes[k][1];
            EACH4(h, w, sample(n, ch, pos(i, 4, h, align, true), pos(j, 5, w, align, true), false));
            EXPECT(lz_upsample_bilinear2d(X, LZ_SHAPE(h, w), align, NULL), LZ_F64,
                   LZ_SHAPE(2, 3, h, w), want, 1e-12);
            EACH4(h, w,
                  sample(n, ch, pos(i, 4, h, align, false), pos(j, 5, w, align, false), true));
            EXPECT(lz_upsample_bicubic2d(X, LZ_SHAPE(h, w), align, NULL), LZ_F64,
                   LZ_SHAPE(2, 3, h, w), want, 1e-12);
        }
    EACH4(4, 9, sample(n, ch, (double)i, pos(j, 5, 9, false, true), false));
    EXPECT(lz_upsample_linear(lz_reshape(X, LZ_SHAPE(2, 12, 5)), LZ_SHAPE(9), false, NULL), LZ_F64,
           LZ_SHAPE(2, 12, 9), want, 1e-12);
    EACH4(4, 9, sample(n, ch, (double)i, fmax(0, ((double)j + 0.5) / 1.5 - 0.5), false));
    EXPECT(
        lz_upsample_linear(lz_reshape(X, LZ_SHAPE(2, 12, 5)), LZ_SHAPE(9), false, (double[]){1.5}),
        LZ_F64, LZ_SHAPE(2, 12, 9), want, 1e-12);
    ck_assert_int_eq(
        lz_dtype_of(lz_upsample_linear(lz_to(X, LZ_BF16), LZ_SHAPE(2, 2), false, NULL)), LZ_BF16);
    BAD(lz_upsample_bicubic2d(X, LZ_SHAPE(7), false, NULL), LZ_ESHAPE, "1 extents");
}
END_TEST

/* ---- grid sampler, as its documentation says ---- */

static double reflected(double p, double low, double high)
{
    if (low == high)
        return 0;
    double span = high - low, q = fabs(p - low), e = fmod(q, span);
    return (int64_t)floor(q / span) % 2 == 0 ? e + low : span - e + low;
}
static double padded(double p, int64_t n, int padding, bool align)
{
    if (padding == LZ_GRID_REFLECTION)
        p = reflected(p, align ? 0 : -0.5, align ? (double)(n - 1) : (double)n - 0.5);
    return padding == LZ_GRID_ZEROS ? p : fmin(fmax(p, 0), (double)(n - 1));
}
static double at_or_zero(int64_t n, int64_t ch, double y, double px)
{
    return y >= 0 && y <= 3 && px >= 0 && px <= 4 ? PX(n, ch, (int64_t)y, (int64_t)px) : 0;
}
static double grid_value(int64_t n, int64_t ch, double gx, double gy, int mode, int padding,
                         bool align)
{
    double px = align ? (gx + 1) / 2 * 4 : ((gx + 1) * 5 - 1) / 2,
           py = align ? (gy + 1) / 2 * 3 : ((gy + 1) * 4 - 1) / 2, s = 0;
    if (mode != LZ_GRID_BICUBIC) {
        px = padded(px, 5, padding, align);
        py = padded(py, 4, padding, align);
    }
    if (mode == LZ_GRID_NEAREST)
        return at_or_zero(n, ch, rint(py), rint(px));
    double x0 = floor(px), y0 = floor(py);
    int lo = mode == LZ_GRID_BICUBIC ? -1 : 0, hi = mode == LZ_GRID_BICUBIC ? 3 : 2;
    for (int i = lo; i < hi; i++)
        for (int j = lo; j < hi; j++) {
            double dy = py - (y0 + i), dx = px - (x0 + j);
            double qy = y0 + i, qx = x0 + j;
            if (mode == LZ_GRID_BICUBIC) {
                qy = padded(qy, 4, padding, align);
                qx = padded(qx, 5, padding, align);
            }
            s += (mode == LZ_GRID_BICUBIC ? keys(dy) * keys(dx) : (1 - fabs(dy)) * (1 - fabs(dx))) *
                 at_or_zero(n, ch, qy, qx);
        }
    return s;
}

START_TEST(grids)
{
    ON_DEVICE(_i);
    double g[2 * 3 * 2 * 2];
    lz_tensor *X = at_random(LZ_F64, S4, -2, 2, x),
              *G = at_random(LZ_F64, LZ_SHAPE(2, 3, 2, 2), -2.5, 2.5, g);
    for (int mode = 0; mode < 3; mode++)
        for (int padding = 0; padding < 3; padding++)
            for (int align = 0; align < 2; align++) {
                EACH4(3, 2,
                      grid_value(n, ch, g[((n * 3 + i) * 2 + j) * 2],
                                 g[((n * 3 + i) * 2 + j) * 2 + 1], mode, padding, align));
                EXPECT(
                    lz_grid_sampler_2d(X, G, (lz_grid_mode)mode, (lz_grid_padding)padding, align),
                    LZ_F64, LZ_SHAPE(2, 3, 3, 2), want, 1e-11);
            }
    BAD(lz_grid_sampler_2d(X, X, LZ_GRID_NEAREST, LZ_GRID_ZEROS, false), LZ_ESHAPE,
        "[N, Ho, Wo, 2]");
    BAD(lz_grid_sampler_2d(X, G, (lz_grid_mode)3, LZ_GRID_ZEROS, false), LZ_EINVAL, "mode 3");
    double t[12];
    lz_tensor *T = at_random(LZ_F64, LZ_SHAPE(2, 2, 3), -2, 2, t);
    for (int align = 0; align < 2; align++) {
        int at = 0;
        for (int n = 0; n < 2; n++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 4; j++)
                    for (int k = 0; k < 2; k++) {
                        double px = align ? -1 + 2.0 * j / 3 : (2.0 * j + 1) / 4 - 1,
                               py = align ? -1 + 1.0 * i : (2.0 * i + 1) / 3 - 1;
                        want[at++] = t[n * 6 + k * 3] * px + t[n * 6 + k * 3 + 1] * py +
                                     t[n * 6 + k * 3 + 2];
                    }
        EXPECT(lz_affine_grid_generator(T, LZ_SHAPE(2, 7, 3, 4), align), LZ_F64,
               LZ_SHAPE(2, 3, 4, 2), want, 1e-12);
    }
}
END_TEST

/* ---- grids with pixels and positions that are no numbers ---- */

/* A coordinate among n elements as padding says; NaN is at the first, or outside. */
static double brought(double p, int64_t n, int padding, bool align)
{
    if (padding == LZ_GRID_ZEROS)
        return isfinite(p) ? p : -2;
    if (padding == LZ_GRID_REFLECTION) {
        double low = align ? 0 : -0.5, span = align ? (double)(n - 1) : (double)n;
        double q = span == 0 ? 0 : fmod(fabs(p - low), 2 * span);
        p = (q > span ? 2 * span - q : q) + low;
    }
    return !(p > 0) ? 0 : p > (double)(n - 1) ? (double)(n - 1) : p;
}

/* The value at g (x, y and of volumes z) of an image of these extents (W, H, D): the sum over the
 * elements that have a weight. */
static double special_value(const double *image, int nd, const int64_t *extent, const double *g,
                            int mode, int padding, bool align)
{
    double p[3], sum = 0;
    bool cubic = mode == LZ_GRID_BICUBIC;
    int lo = cubic ? -1 : 0, taps = cubic ? 4 : mode == LZ_GRID_NEAREST ? 1 : 2, all = 1;
    for (int k = 0; k < nd; k++) {
        double n = (double)extent[k];
        p[k] = align ? (g[k] + 1) / 2 * (n - 1) : ((g[k] + 1) * n - 1) / 2;
        if (!cubic)
            p[k] = brought(p[k], extent[k], padding, align);
        all *= taps;
    }
    for (int i = 0; i < all; i++) {
        double w = 1;
        int64_t at = 0, stride = 1;
        bool in = true;
        for (int k = 0, rest = i; k < nd; rest /= taps, k++) {
            double by = lo + rest % taps, d = p[k] - floor(p[k]) - by;
            double q = mode == LZ_GRID_NEAREST ? rint(p[k]) : floor(p[k]) + by;
            w *= mode == LZ_GRID_NEAREST ? 1 : cubic ? isnan(d) ? NAN : keys(d) : 1 - fabs(d);
            if (cubic)
                q = brought(q, extent[k], padding, align);
            in = in && q >= 0 && q <= (double)(extent[k] - 1);
            at += in ? (int64_t)q * stride : 0;
            stride *= extent[k];
        }
        sum += isnan(w) ? NAN : in && w != 0 ? w * image[at] : 0;
    }
    return sum;
}

static const int64_t extents[] = {5, 4, 3};
/* Eighths, exact in f32; every other image pixel is a special one. */
static const double places[] = {-1,   -0.5, 0,     0.5,  1,        -1.25, 1.25,      -0.75,
                                0.25, 3,    0.125, -2.5, INFINITY, NAN,   -INFINITY, 1e30};
enum { NPLACES = sizeof places / sizeof *places, NGRID = 400 };

static void special_grid(lz_dtype d, int nd)
{
    static const double specials[] = {NAN, INFINITY, -INFINITY, 1e30};
    static const char *const modes[] = {"bilinear", "nearest", "bicubic"};
    static const char *const pads[] = {"zeros", "border", "reflection"};
    static double g[NGRID * 3];
    int64_t n = nd == 2 ? 20 : 60, np = d == LZ_F64 ? NPLACES : NPLACES - 1;
    for (int i = 0; i < n; i++)
        x[i] = rt_random() % 3 ? (double)(rt_random() % 64) / 8 - 4 : specials[rt_random() % 4];
    for (int i = 0; i < NGRID * nd; i++)
        g[i] = places[rt_random() % (rt_random() % 4 ? NPLACES - 4 : np)];
    lz_tensor *X = at_tensor(d, nd == 2 ? LZ_SHAPE(1, 1, 4, 5) : LZ_SHAPE(1, 1, 3, 4, 5), x);
    lz_tensor *G =
        at_tensor(d, nd == 2 ? LZ_SHAPE(1, NGRID / 4, 4, 2) : LZ_SHAPE(1, NGRID / 4, 2, 2, 3), g);
    OK(lz_to_host(lz_to(X, LZ_F64), x, sizeof(double) * (size_t)n));
    for (int mode = 0; mode < (nd == 2 ? 3 : 2); mode++)
        for (int padding = 0; padding < 3; padding++)
            for (int align = 0; align < 2; align++) {
                for (int i = 0; i < NGRID; i++)
                    want[i] = special_value(x, nd, extents, g + i * nd, mode, padding, align);
                EXPECT(lz_grid_sample(X, G, .mode = modes[mode], .padding_mode = pads[padding],
                                      .align_corners = align),
                       d, nd == 2 ? LZ_SHAPE(1, 1, NGRID / 4, 4) : LZ_SHAPE(1, 1, NGRID / 4, 2, 2),
                       want, d == LZ_F64 ? 1e-11 : 2e-3);
            }
}

START_TEST(grids_of_special_values)
{
    ON_DEVICE(_i);
    for (int nd = 2; nd <= 3; nd++) {
        special_grid(LZ_F64, nd);
        special_grid(LZ_F32, nd);
    }
}
END_TEST

/* An infinite element stays where it is: at the places of the source it alone counts. */
START_TEST(resizing_of_special_values)
{
    ON_DEVICE(_i);
    const double v[] = {1, INFINITY, 3, NAN}, up[] = {1, INFINITY, INFINITY, INFINITY, 3, NAN, NAN};
    EXPECT(lz_upsample_linear(at_tensor(LZ_F32, LZ_SHAPE(1, 1, 4), v), LZ_SHAPE(7), true, NULL),
           LZ_F32, LZ_SHAPE(1, 1, 7), up, 0);
    const double square[] = {1, 2, 3, 4, INFINITY, 5, 6, 7, NAN};
    EXPECT(lz_upsample_bicubic2d(at_tensor(LZ_F32, LZ_SHAPE(1, 1, 3, 3), square), LZ_SHAPE(3, 3),
                                 true, NULL),
           LZ_F32, LZ_SHAPE(1, 1, 3, 3), square, 1e-6);
}
END_TEST

START_TEST(paddings)
{
    ON_DEVICE(_i);
    lz_tensor *X = at_random(LZ_I32, S4, -99, 99, x);
    const int64_t p[] = {2, 1, 0, 3};
    EACH4(7, 8, PX(n, ch, i < 4 ? i : 6 - i, j < 2 ? 2 - j : j < 7 ? j - 2 : 3));
    EXPECT(lz_reflection_pad(X, p, 4), LZ_I32, LZ_SHAPE(2, 3, 7, 8), want, 0);
    EACH4(7, 8, PX(n, ch, lim(i, 4), lim(j - 2, 5)));
    EXPECT(lz_replication_pad(X, p, 4), LZ_I32, LZ_SHAPE(2, 3, 7, 8), want, 0);
    EACH4(7, 8, PX(n, ch, i % 4, (j + 3) % 5));
    EXPECT(lz_circular_pad(X, p, 4), LZ_I32, LZ_SHAPE(2, 3, 7, 8), want, 0);
    EACH4(4, 8, PX(n, ch, i, lim(j - 2, 5)));
    EXPECT(lz_replication_pad(X, p, 2), LZ_I32, LZ_SHAPE(2, 3, 4, 8), want, 0);
    BAD(lz_reflection_pad(X, ((int64_t[]){5, 0}), 2), LZ_EINVAL, "5 before");
    BAD(lz_circular_pad(X, ((int64_t[]){0, 6}), 2), LZ_EINVAL, "6 after");
    BAD(lz_replication_pad(X, ((int64_t[]){-1, 0}), 2), LZ_EINVAL, "-1");
    BAD(lz_replication_pad(X, p, 3), LZ_EINVAL, "3 padding");
}
END_TEST

START_TEST(shuffles)
{
    ON_DEVICE(_i);
    lz_tensor *X = at_random(LZ_I32, LZ_SHAPE(2, 8, 3, 2), -99, 99, x);
    int64_t at = 0;
    for (int n = 0; n < 2; n++)
        for (int ch = 0; ch < 2; ch++)
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 4; j++)
                    want[at++] = x[((n * 8 + ch * 4 + i % 2 * 2 + j % 2) * 3 + i / 2) * 2 + j / 2];
    lz_tensor *Y = lz_pixel_shuffle(X, 2);
    EXPECT(Y, LZ_I32, LZ_SHAPE(2, 2, 6, 4), want, 0);
    EXPECT(lz_pixel_unshuffle(Y, 2), LZ_I32, LZ_SHAPE(2, 8, 3, 2), x, 0);
    at = 0;
    for (int n = 0; n < 2; n++)
        for (int ch = 0; ch < 8; ch++)
            for (int i = 0; i < 6; i++)
                want[at++] = x[(n * 8 + ch % 4 * 2 + ch / 4) * 6 + i];
    EXPECT(lz_channel_shuffle(X, 4), LZ_I32, LZ_SHAPE(2, 8, 3, 2), want, 0);
    BAD(lz_pixel_shuffle(X, 3), LZ_ESHAPE, "by 3");
    BAD(lz_pixel_unshuffle(X, 2), LZ_ESHAPE, "height");
    BAD(lz_channel_shuffle(X, 3), LZ_ESHAPE, "3 groups");
}
END_TEST

START_TEST(windows)
{
    ON_DEVICE(_i);
    lz_tensor *X = at_random(LZ_F32, S4, -2, 2, x);
    static const lz_window w[] = {
        {.kernel = {2, 3}},
        {.kernel = {3, 2}, .dilation = {1, 2}, .padding = {1, 2}, .stride = {2, 1}}};
    for (int k = 0; k < 2; k++) {
        int64_t kh = w[k].kernel[0], kw = w[k].kernel[1], dh = k ? 1 : 1, dw = k ? 2 : 1,
                ph = w[k].padding[0], pw = w[k].padding[1], sh = k ? 2 : 1, sw = 1;
        int64_t oh = (4 + 2 * ph - dh * (kh - 1) - 1) / sh + 1,
                ow = (5 + 2 * pw - dw * (kw - 1) - 1) / sw + 1, at = 0;
        static double back[240];
        memset(back, 0, sizeof back);
        for (int64_t n = 0; n < 2; n++)
            for (int64_t ch = 0; ch < 3; ch++)
                for (int64_t a = 0; a < kh; a++)
                    for (int64_t b = 0; b < kw; b++)
                        for (int64_t i = 0; i < oh; i++)
                            for (int64_t j = 0; j < ow; j++) {
                                int64_t y = i * sh + a * dh - ph, z = j * sw + b * dw - pw;
                                bool in = y >= 0 && y < 4 && z >= 0 && z < 5;
                                want[at] = in ? PX(n, ch, y, z) : 0;
                                if (in)
                                    back[((n * 3 + ch) * 4 + y) * 5 + z] += want[at];
                                at++;
                            }
        lz_tensor *cols = lz_im2col(X, &w[k]);
        EXPECT(cols, LZ_F32, LZ_SHAPE(2, 3 * kh * kw, oh * ow), want, 0);
        EXPECT(lz_col2im(cols, 4, 5, &w[k]), LZ_F32, S4, back, TOL32);
    }
    lz_window big = {.kernel = {5, 1}};
    BAD(lz_im2col(X, &big), LZ_EINVAL, "windows of 5");
    BAD(lz_col2im(X, 4, 5, &w[0]), LZ_ESHAPE, "[2,3,4,5]");
    BAD(lz_im2col(X, NULL), LZ_ENULL, "window");
}
END_TEST

/* Window i of n over an extent: from floor(i e / n) to ceil((i + 1) e / n). */
START_TEST(adaptive_pooling_in_space)
{
    ON_DEVICE(_i);
    enum { D = 4, H = 3, W = 5, OD = 2, OH = 3, OW = 2 };
    lz_tensor *X = at_random(LZ_F32, LZ_SHAPE(2, 2, D, H, W), -2, 2, x);
    int at = 0;
    for (int g = 0; g < 4; g++)
        for (int d = 0; d < OD; d++)
            for (int h = 0; h < OH; h++)
                for (int w = 0; w < OW; w++) {
                    double s = 0;
                    int n = 0;
                    for (int i = d * D / OD; i < ((d + 1) * D + OD - 1) / OD; i++)
                        for (int j = h * H / OH; j < ((h + 1) * H + OH - 1) / OH; j++)
                            for (int k = w * W / OW; k < ((w + 1) * W + OW - 1) / OW; k++, n++)
                                s += x[((g * D + i) * H + j) * W + k];
                    want[at++] = s / n;
                }
    EXPECT(lz_adaptive_avg_pool3d(X, OD, OH, OW), LZ_F32, LZ_SHAPE(2, 2, OD, OH, OW), want, TOL32);
}
END_TEST

int main(void)
{
    rt_use("REF");
    Suite *s = suite_create("aten images");
    TCase *t = tcase_create("values");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, nearest, 0, at_devices());
    tcase_add_loop_test(t, linear_and_cubic, 0, at_devices());
    tcase_add_loop_test(t, grids, 0, at_devices());
    tcase_add_loop_test(t, grids_of_special_values, 0, at_devices());
    tcase_add_loop_test(t, resizing_of_special_values, 0, at_devices());
    tcase_add_loop_test(t, paddings, 0, at_devices());
    tcase_add_loop_test(t, shuffles, 0, at_devices());
    tcase_add_loop_test(t, windows, 0, at_devices());
    tcase_add_loop_test(t, adaptive_pooling_in_space, 0, at_devices());
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
