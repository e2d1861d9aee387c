/* t_api_window.c - convolutions, pooling and cumulative sums against plain loops, on every device:
 * random data, and special values where what becomes of them is said. */
#include "unit/runtime/rt.h"

enum { MOST = 4096 };
static float xs[MOST], ws[MOST], bs[64], want[MOST], got[MOST];
static int64_t want_at[MOST], got_at[MOST];

static lz_tensor *tensor(float *v, lz_shape s)
{
    return lz_from_host(LZ_F32, s, v);
}

static void compare(const char *what, lz_tensor *t, lz_shape s, double tol)
{
    lz_shape have = lz_shape_of(t);
    ck_assert_msg(lz_status_of(t) == LZ_OK, "%s: %s", what, lz_last_error_text());
    ck_assert_msg(have.rank == s.rank && memcmp(have.dims, s.dims, sizeof s.dims) == 0,
                  "%s: [%d %d %d ..]", what, (int)have.dims[0], (int)have.dims[1],
                  (int)have.dims[2]);
    int n = (int)lz_numel(t);
    OK(lz_to_host(t, got, sizeof got));
    for (int i = 0; i < n; i++)
        ck_assert_msg(got[i] == want[i] || (isnan(got[i]) && isnan(want[i])) ||
                          fabs((double)got[i] - want[i]) <= tol * (1 + fabs((double)want[i])),
                      "%s: element %d is %.9g, not %.9g", what, i, got[i], want[i]);
}

static void compare_at(const char *what, lz_tensor *t)
{
    int n = (int)lz_numel(t);
    ck_assert_int_eq(lz_dtype_of(t), LZ_I64);
    OK(lz_to_host(t, got_at, sizeof got_at));
    for (int i = 0; i < n; i++)
        ck_assert_msg(got_at[i] == want_at[i], "%s: index %d is %lld, not %lld", what, i,
                      (long long)got_at[i], (long long)want_at[i]);
}

static int index3(const int *ext, const int *at)
{
    return (at[0] * ext[1] + at[1]) * ext[2] + at[2];
}

/* ---- convolutions ---- */

/* Three spatial dimensions; those that are not there have extent and kernel 1. */
typedef struct conv {
    int n, batch, in, out, groups;
    int x[3], k[3], s[3], p[3], d[3], extra[3], y[3];
} conv;

static const conv convs[] = {
    {1, 2, 3, 4, 1, {1, 1, 7}, {1, 1, 3}, {1, 1, 1}, {0}, {1, 1, 1}, {0}, {0}},
    {1, 2, 4, 6, 2, {1, 1, 9}, {1, 1, 2}, {1, 1, 3}, {0, 0, 2}, {1, 1, 2}, {0, 0, 1}, {0}},
    {2, 2, 1, 5, 1, {1, 8, 7}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, {0}, {0}},
    {2, 1, 17, 9, 1, {1, 6, 9}, {1, 3, 3}, {1, 2, 2}, {0, 1, 0}, {1, 1, 1}, {0, 1, 1}, {0}},
    {2, 3, 6, 6, 6, {1, 6, 5}, {1, 3, 2}, {1, 1, 2}, {0, 1, 1}, {1, 1, 1}, {0}, {0}},
    {2, 2, 16, 9, 1, {1, 4, 5}, {1, 1, 1}, {1, 1, 1}, {0}, {1, 1, 1}, {0}, {0}},
    {2, 2, 8, 4, 2, {1, 5, 4}, {1, 5, 4}, {1, 1, 1}, {0}, {1, 1, 1}, {0}, {0}},
    {3, 1, 2, 3, 1, {3, 4, 5}, {2, 2, 3}, {1, 2, 1}, {1, 0, 1}, {1, 1, 1}, {0}, {0}},
    {3, 1, 4, 4, 2, {3, 4, 3}, {2, 3, 1}, {2, 1, 1}, {1, 1, 0}, {2, 1, 1}, {1, 0, 0}, {0}},
};
enum { NCONV = sizeof convs / sizeof *convs };

static int volume(const int *e)
{
    return e[0] * e[1] * e[2];
}

/* Every pair of an element of x and one of the kernel adds to one element of y: forwards y takes of
 * x, transposed x gives to y. */
static void plain_convolution(const conv *c, bool transposed)
{
    int in = c->in / c->groups, out = c->out / c->groups, nx = volume(c->x), nk = volume(c->k),
        ny = volume(c->y);
    double sum[MOST];
    for (int i = 0; i < c->batch * c->out * ny; i++)
        sum[i] = bs[i / ny % c->out];
    for (int b = 0; b < c->batch; b++)
        for (int i = 0; i < c->in; i++)
            for (int o = i / in * out; o < (i / in + 1) * out; o++)
                for (int xi = 0; xi < nx; xi++)
                    for (int ki = 0; ki < nk; ki++) {
                        int at[3], rest_x = xi, rest_k = ki;
                        bool inside = true;
                        for (int d = 2; d >= 0; d--) {
                            int px = rest_x % c->x[d], pk = rest_k % c->k[d] * c->d[d];
                            rest_x /= c->x[d];
                            rest_k /= c->k[d];
                            int p = transposed ? px * c->s[d] + pk - c->p[d] : px + c->p[d] - pk;
                            at[d] = transposed ? p : p / c->s[d];
                            inside &= p >= 0 && at[d] < c->y[d] && (transposed || p % c->s[d] == 0);
                        }
                        float w = transposed ? ws[(i * out + o % out) * nk + ki]
                                             : ws[(o * in + i % in) * nk + ki];
                        if (inside)
                            sum[(b * c->out + o) * ny + index3(c->y, at)] +=
                                (double)xs[(b * c->in + i) * nx + xi] * w;
                    }
    for (int i = 0; i < c->batch * c->out * ny; i++)
        want[i] = (float)sum[i];
}

static lz_shape shape_of(int a, int b, const int *e, int n)
{
    int64_t d[5] = {a, b};
    for (int i = 0; i < n; i++)
        d[2 + i] = e[3 - n + i];
    return lz_shape_make(n + 2, d);
}

START_TEST(convolutions)
{
    rt_use(rt_devices[_i / (2 * NCONV)]);
    bool transposed = _i / NCONV % 2;
    conv c = convs[_i % NCONV];
    lz_conv_options o = {.struct_size = sizeof o, .groups = c.groups};
    for (int d = 0; d < 3; d++) {
        int reach = c.d[d] * (c.k[d] - 1);
        c.y[d] = transposed ? (c.x[d] - 1) * c.s[d] - 2 * c.p[d] + reach + c.extra[d] + 1
                            : (c.x[d] + 2 * c.p[d] - reach - 1) / c.s[d] + 1;
        if (d >= 3 - c.n) {
            int i = d - (3 - c.n);
            o.stride[i] = c.s[d];
            o.padding[i] = c.p[d];
            o.dilation[i] = c.d[d];
            o.output_padding[i] = transposed ? c.extra[d] : 0;
        }
    }
    rt_fill(xs, MOST);
    rt_fill(ws, MOST);
    rt_fill(bs, 64);
    plain_convolution(&c, transposed);
    lz_tensor *x = tensor(xs, shape_of(c.batch, c.in, c.x, c.n)), *b = tensor(bs, LZ_SHAPE(c.out)),
              *w = tensor(ws, transposed ? shape_of(c.in, c.out / c.groups, c.k, c.n)
                                         : shape_of(c.out, c.in / c.groups, c.k, c.n));
    static lz_tensor *(*const fn[2][3])(lz_tensor *, lz_tensor *, lz_tensor *,
                                        const lz_conv_options *, const lz_site *) = {
        {lz_conv1d_at, lz_conv2d_at, lz_conv3d_at},
        {lz_conv_transpose1d_at, lz_conv_transpose2d_at, lz_conv_transpose3d_at}};
    lz_shape r = shape_of(c.batch, c.out, c.y, c.n);
    compare("batch", fn[transposed][c.n - 1](x, w, b, &o, LZ_SITE), r, 1e-5);
    if (c.batch == 1) { /* one example without its dimension */
        lz_tensor *y = fn[transposed][c.n - 1](lz_squeeze(x, 0), w, b, &o, LZ_SITE);
        compare("one", lz_unsqueeze(y, 0), r, 1e-5);
    }
    lz_tensor *half =
        fn[transposed][c.n - 1](lz_to(x, LZ_BF16), lz_to(w, LZ_BF16), NULL, &o, LZ_SITE);
    ck_assert_int_eq(lz_dtype_of(half), LZ_BF16);
    for (int i = 0; i < 64; i++)
        bs[i] = 0;
    for (int i = 0; i < MOST; i++) { /* the operands as bf16 has them */
        uint32_t u;
        for (int k = 0; k < 2; k++) {
            float *v = k ? &ws[i] : &xs[i];
            memcpy(&u, v, 4);
            u = (u + 0x7fff + (u >> 16 & 1)) & 0xffff0000u;
            memcpy(v, &u, 4);
        }
    }
    plain_convolution(&c, transposed);
    compare("bf16", lz_to(half, LZ_F32), r, 8e-3);
}
END_TEST

/* ---- pooling ---- */

typedef struct pool {
    int n, x[3], k[3], s[3], p[3], d[3];
    bool ceil, with_padding;
    int divisor;
} pool;

static const pool pools[] = {
    {1, {1, 1, 9}, {1, 1, 3}, {1, 1, 2}, {0, 0, 1}, {1, 1, 1}, false, true, 0},
    {1, {1, 1, 10}, {1, 1, 3}, {1, 1, 3}, {0}, {1, 1, 2}, true, false, 0},
    {2, {1, 8, 6}, {1, 2, 2}, {1, 2, 2}, {0}, {1, 1, 1}, false, true, 0},
    {2, {1, 7, 9}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}, {1, 1, 1}, false, true, 0},
    {2, {1, 7, 8}, {1, 3, 2}, {1, 2, 3}, {0, 1, 1}, {1, 1, 1}, true, true, 0},
    {2, {1, 7, 8}, {1, 3, 2}, {1, 2, 3}, {0, 1, 1}, {1, 2, 1}, true, false, 0},
    {2, {1, 5, 5}, {1, 3, 4}, {1, 1, 1}, {0, 1, 2}, {1, 1, 1}, false, false, 5},
    {3, {4, 5, 3}, {2, 3, 1}, {2, 2, 1}, {1, 1, 0}, {1, 1, 1}, true, true, 0},
};
enum { NPOOL = sizeof pools / sizeof *pools, ROWS = 3 };

static int pooled(int x, int k, int s, int p, int d, bool ceil)
{
    int span = x + 2 * p - d * (k - 1) - 1, n = (span + (ceil ? s - 1 : 0)) / s + 1;
    return ceil && (n - 1) * s >= x + p ? n - 1 : n;
}

/* One window, as ATen walks it: the largest or the sum, and the number of elements that count. */
static void plain_window(const pool *c, const float *row, const int *at, bool max, float *out,
                         int64_t *index)
{
    float best = -INFINITY;
    double sum = 0;
    int64_t best_at = -1;
    int counted = 1, real = 0;
    for (int d = 0; d < 3; d++) {
        int from = at[d] * c->s[d] - c->p[d], to = from + c->k[d];
        counted *= (to < c->x[d] + c->p[d] ? to : c->x[d] + c->p[d]) - from;
    }
    for (int k = 0; k < volume(c->k); k++) {
        int rest = k, p[3];
        bool inside = true;
        for (int d = 2; d >= 0; d--) {
            p[d] = at[d] * c->s[d] - c->p[d] + rest % c->k[d] * (max ? c->d[d] : 1);
            rest /= c->k[d];
            inside &= p[d] >= 0 && p[d] < c->x[d];
        }
        if (!inside)
            continue;
        float v = row[index3(c->x, p)];
        real++;
        sum += v;
        if (best_at < 0 || v > best || isnan(v)) {
            best = v;
            best_at = index3(c->x, p);
        }
    }
    *index = best_at;
    *out = max ? best : (float)(sum / (c->divisor ? c->divisor : c->with_padding ? counted : real));
}

START_TEST(pooling)
{
    rt_use(rt_devices[_i / (3 * NPOOL)]);
    int mode = _i / NPOOL % 3; /* averages; maxima; maxima with special values and ties */
    const pool *c = &pools[_i % NPOOL];
    lz_pool_options o = {.struct_size = sizeof o,
                         .ceil_mode = c->ceil,
                         .count_include_pad = c->with_padding,
                         .divisor_override = c->divisor};
    int y[3], nx = volume(c->x);
    for (int d = 0; d < 3; d++) {
        y[d] = pooled(c->x[d], c->k[d], c->s[d], c->p[d], mode ? c->d[d] : 1, c->ceil);
        if (d >= 3 - c->n) {
            int i = d - (3 - c->n);
            o.kernel_size[i] = c->k[d];
            o.stride[i] = c->s[d];
            o.padding[i] = c->p[d];
            o.dilation[i] = c->d[d];
        }
    }
    for (int i = 0; i < ROWS * nx; i++) {
        uint32_t r = rt_random() % 8;
        xs[i] = mode == 2 ? (float)(rt_random() % 4) : rt_uniform();
        if (mode == 2 && r < 3)
            xs[i] = (float[]){NAN, -INFINITY, INFINITY}[r];
    }
    for (int i = 0; i < ROWS * volume(y); i++) {
        int at[3], rest = i % volume(y);
        for (int d = 2; d >= 0; d--) {
            at[d] = rest % y[d];
            rest /= y[d];
        }
        plain_window(c, xs + i / volume(y) * nx, at, mode > 0, &want[i], &want_at[i]);
    }
    static lz_tensor *(*const average[3])(lz_tensor *, const lz_pool_options *, const lz_site *) = {
        lz_avg_pool1d_at, lz_avg_pool2d_at, lz_avg_pool3d_at};
    static lz_tensor *(*const plain[3])(lz_tensor *, const lz_pool_options *, const lz_site *) = {
        lz_max_pool1d_at, lz_max_pool2d_at, lz_max_pool3d_at};
    static lz_tensor *(*const both[3])(lz_tensor *, const lz_pool_options *, lz_tensor **,
                                       const lz_site *) = {lz_max_pool1d_with_indices_at,
                                                           lz_max_pool2d_with_indices_at,
                                                           lz_max_pool3d_with_indices_at};
    lz_tensor *x = tensor(xs, shape_of(1, ROWS, c->x, c->n)), *indices;
    lz_shape r = shape_of(1, ROWS, y, c->n);
    if (mode == 0) {
        compare("mean", average[c->n - 1](x, &o, LZ_SITE), r, 1e-5);
        return;
    }
    compare("largest", plain[c->n - 1](x, &o, LZ_SITE), r, 0);
    compare("with indices", both[c->n - 1](x, &o, &indices, LZ_SITE), r, 0);
    compare_at("indices", indices);
}
END_TEST

START_TEST(adaptive)
{
    static const int sizes[][4] = {
        {6, 8, 3, 4}, {7, 5, 3, 2}, {5, 4, 7, 9}, {5, 3, 1, 1}, {4, 4, 4, 3}};
    rt_use(rt_devices[_i / 10]);
    const int *z = sizes[_i % 5];
    bool special = _i / 5 % 2;
    int plane = z[0] * z[1];
    static float maxima[MOST];
    for (int i = 0; i < 2 * plane; i++) {
        uint32_t r = rt_random() % 8;
        xs[i] = special ? (float)(rt_random() % 4) : rt_uniform();
        if (special && r < 2)
            xs[i] = (float[]){NAN, -INFINITY}[r];
    }
    for (int b = 0, n = 0; b < 2; b++)
        for (int i = 0; i < z[2]; i++)
            for (int j = 0; j < z[3]; j++, n++) {
                int h0 = i * z[0] / z[2], h1 = ((i + 1) * z[0] + z[2] - 1) / z[2],
                    w0 = j * z[1] / z[3], w1 = ((j + 1) * z[1] + z[3] - 1) / z[3];
                double sum = 0;
                maxima[n] = -INFINITY;
                want_at[n] = h0 * z[1] + w0;
                for (int h = h0; h < h1; h++)
                    for (int w = w0; w < w1; w++) {
                        float v = xs[b * plane + h * z[1] + w];
                        sum += v;
                        if (v > maxima[n] || isnan(v)) {
                            maxima[n] = v;
                            want_at[n] = h * z[1] + w;
                        }
                    }
                want[n] = (float)(sum / ((h1 - h0) * (w1 - w0)));
            }
    lz_tensor *x = tensor(xs, LZ_SHAPE(2, z[0], z[1])), *indices;
    compare("mean", lz_adaptive_avg_pool2d(x, z[2], z[3]), LZ_SHAPE(2, z[2], z[3]), 1e-5);
    memcpy(want, maxima, sizeof want);
    compare("largest", lz_adaptive_max_pool2d(x, &indices, z[2], z[3]), LZ_SHAPE(2, z[2], z[3]), 0);
    compare_at("indices", indices);
}
END_TEST

/* Maxima in n dimensions, those that are not there of extent 1; and the way back. */
START_TEST(adaptive_and_back)
{
    static const int ext[][3] = {{1, 1, 7}, {1, 5, 4}, {3, 4, 5}, {2, 3, 2}},
                     outs[][3] = {{1, 1, 3}, {1, 2, 4}, {2, 3, 2}, {4, 1, 5}};
    static float back[MOST];
    int k = _i % 4, n = k == 0 ? 1 : k == 1 ? 2 : 3, at[3], o[3], m = 0;
    const int *x = ext[k], *y = outs[k];
    int plane = x[0] * x[1] * x[2];
    rt_use(rt_devices[_i / 4]);
    memset(back, 0, sizeof back);
    for (int i = 0; i < 2 * plane; i++)
        xs[i] = (float)(rt_random() % 16) - 7;
    xs[1] = NAN;
    for (int b = 0; b < 2; b++)
        for (o[0] = 0; o[0] < y[0]; o[0]++)
            for (o[1] = 0; o[1] < y[1]; o[1]++)
                for (o[2] = 0; o[2] < y[2]; o[2]++, m++) {
                    int from[3], to[3], best = -1;
                    for (int d = 0; d < 3; d++) {
                        from[d] = o[d] * x[d] / y[d];
                        to[d] = ((o[d] + 1) * x[d] + y[d] - 1) / y[d];
                    }
                    for (at[0] = from[0]; at[0] < to[0]; at[0]++)
                        for (at[1] = from[1]; at[1] < to[1]; at[1]++)
                            for (at[2] = from[2]; at[2] < to[2]; at[2]++) {
                                int i = index3(x, at);
                                float v = xs[b * plane + i];
                                if (best < 0 || v > xs[b * plane + best] || isnan(v))
                                    best = i;
                            }
                    want[m] = back[b * plane + best] = xs[b * plane + best];
                    want_at[m] = best;
                }
    lz_shape sx = lz_shape_make(4, (int64_t[]){2, x[0], x[1], x[2]}),
             sy = lz_shape_make(4, (int64_t[]){2, y[0], y[1], y[2]});
    if (n < 3) {
        sx = n == 1 ? LZ_SHAPE(2, x[2]) : LZ_SHAPE(2, x[1], x[2]);
        sy = n == 1 ? LZ_SHAPE(2, y[2]) : LZ_SHAPE(2, y[1], y[2]);
    }
    lz_tensor *t = tensor(xs, sx), *i,
              *r = n == 1   ? lz_adaptive_max_pool1d(t, &i, y[2])
                   : n == 2 ? lz_adaptive_max_pool2d(t, &i, y[1], y[2])
                            : lz_adaptive_max_pool3d(t, &i, y[0], y[1], y[2]);
    compare("largest", r, sy, 0);
    compare_at("indices", i);
    memcpy(want, back, sizeof want);
    compare("back",
            n == 1   ? lz_max_unpool1d(r, i, x[2])
            : n == 2 ? lz_max_unpool2d(r, i, x[1], x[2])
                     : lz_max_unpool3d(r, i, x[0], x[1], x[2]),
            sx, 0);
}
END_TEST

/* ---- cumulative ---- */

static const int64_t rows[][3] = {{1, 1, 1},  {3, 7, 2},   {1, 33, 1},
                                  {2, 49, 3}, {1, 700, 1}, {2, 0, 3}};
enum { NROWS = sizeof rows / sizeof *rows };

START_TEST(cumulative)
{
    rt_use(rt_devices[_i / (2 * NROWS)]);
    const int64_t *z = rows[_i % NROWS];
    bool special = _i / NROWS % 2;
    int n = (int)z[1], inner = (int)z[2], total = (int)(z[0] * z[1] * z[2]);
    lz_shape s = lz_shape_make(3, z);
    static float product[MOST], logs[MOST], most[MOST];
    for (int i = 0; i < total; i++) {
        uint32_t r = rt_random() % 64;
        xs[i] = special ? (float)(rt_random() % 5) : rt_uniform();
        if (special && r < 2)
            xs[i] = (float[]){NAN, -INFINITY}[r];
    }
    for (int o = 0; o < total / (n ? n : 1); o++) {
        double sum = 0, prod = 1, log_sum = -INFINITY;
        float best = -INFINITY;
        int64_t best_at = 0;
        for (int i = 0; i < n; i++) {
            int at = (o / inner * n + i) * inner + o % inner;
            double v = xs[at], m = fmax(v, log_sum), w = fmin(v, log_sum);
            sum += v;
            prod *= v;
            log_sum = isnan(v) || isnan(log_sum) ? NAN : isinf(m) ? m : m + log1p(exp(w - m));
            if (isnan(v) || (!isnan(best) && v >= best)) {
                best = (float)v;
                best_at = i;
            }
            want[at] = (float)sum;
            product[at] = (float)prod;
            logs[at] = (float)log_sum;
            most[at] = best;
            want_at[at] = best_at;
        }
    }
    lz_tensor *x = tensor(xs, s), *at;
    compare("cumsum", lz_cumsum(x, 1), s, 1e-4);
    memcpy(want, logs, sizeof want);
    compare("logcumsumexp", lz_logcumsumexp(x, -2), s, 1e-5);
    memcpy(want, most, sizeof want);
    compare("cummax", lz_cummax(x, 1, &at), s, 0);
    compare_at("cummax", at);
    for (int i = 0; i < total; i++)
        want[i] = -most[i];
    compare("cummin", lz_cummin(lz_neg(x), 1, &at), s, 0);
    compare_at("cummin", at);
    if (n > 60 || special) /* overflows */
        return;
    memcpy(want, product, sizeof want);
    compare("cumprod", lz_cumprod(x, 1), s, 1e-4);
}
END_TEST

START_TEST(integers)
{
    rt_use(rt_devices[_i]);
    int64_t out[4];
    lz_tensor *x = lz_from_host(LZ_I8, LZ_SHAPE(4), (int8_t[]){100, 100, -3, 2});
    OK(lz_to_host(lz_cumsum(x, 0), out, sizeof out));
    ck_assert(out[1] == 200 && out[3] == 199);
    OK(lz_to_host(lz_cumprod(x, 0), out, sizeof out));
    ck_assert(out[1] == 10000 && out[3] == -60000);
    lz_tensor *p = lz_max_pool1d(lz_reshape(x, LZ_SHAPE(1, 4)), .kernel_size = {2});
    int8_t two[2];
    OK(lz_to_host(p, two, sizeof two));
    ck_assert(two[0] == 100 && two[1] == 2);
    ck_assert(lz_item(lz_cumsum(lz_full(LZ_F32, LZ_SHAPE(), 3), -1)) == 3);
}
END_TEST

/* One, two or three dimensions, the last of them `last` long, the others 4. */
static lz_shape spatial(int n, int64_t first, int64_t second, int64_t last)
{
    lz_shape s = {.rank = n + 2, .dims = {first, second, 4, 4, 4}};
    s.dims[n + 1] = last;
    return s;
}

static lz_tensor *convolved(int n, bool transposed, lz_tensor *x, lz_tensor *w,
                            const lz_conv_options *o)
{
    const lz_site *here = LZ_SITE;
    if (transposed)
        return n == 1   ? lz_conv_transpose1d_at(x, w, NULL, o, here)
               : n == 2 ? lz_conv_transpose2d_at(x, w, NULL, o, here)
                        : lz_conv_transpose3d_at(x, w, NULL, o, here);
    return n == 1   ? lz_conv1d_at(x, w, NULL, o, here)
           : n == 2 ? lz_conv2d_at(x, w, NULL, o, here)
                    : lz_conv3d_at(x, w, NULL, o, here);
}

/* Every convolution has a window, or is refused: extents, kernels, paddings and dilations around
 * where the last window ends. */
START_TEST(no_window_is_an_error)
{
    rt_use("REF");
    int n = _i % 3 + 1, transposed = _i / 3;
    for (int at = 0; at < 6 * 4 * 3 * 2; at++) {
        int64_t extent = at % 6, k = at / 6 % 4 + 1, pad = at / 24 % 3, dil = at / 72 + 1;
        lz_conv_options o = {.struct_size = sizeof o};
        o.padding[n - 1] = pad;
        for (int d = 0; d < n; d++)
            o.dilation[d] = d == n - 1 ? dil : 1;
        lz_tensor *x = lz_zeros(LZ_F32, spatial(n, 1, 2, extent));
        lz_tensor *y = convolved(n, transposed, x, lz_zeros(LZ_F32, spatial(n, 2, 2, k)), &o);
        int64_t reach = dil * (k - 1) + 1;
        int64_t extent_out =
            transposed ? extent - 1 - 2 * pad + reach : extent + 2 * pad - reach + 1;
        ck_assert_msg(lz_status_of(y) == (extent_out > 0 ? LZ_OK : LZ_ESHAPE),
                      "%d-D%s, extent %d, kernel %d, padding %d, dilation %d: %s", n,
                      transposed ? " transposed" : "", (int)extent, (int)k, (int)pad, (int)dil,
                      lz_status_name(lz_status_of(y)));
        if (extent_out > 0)
            ck_assert_int_eq(lz_shape_of(y).dims[n + 1], extent_out);
    }
}
END_TEST

START_TEST(refused)
{
    rt_use("REF");
    lz_tensor *x = lz_ones(LZ_F32, LZ_SHAPE(1, 3, 5)), *w = lz_ones(LZ_F32, LZ_SHAPE(4, 2, 3)), *i;
    BAD(lz_conv1d(x, w, NULL), LZ_ESHAPE, "3 channels, the weight takes 2");
    BAD(lz_conv1d(x, w, NULL, .groups = -1), LZ_EINVAL, "groups is -1");
    BAD(lz_conv1d(x, w, NULL, .stride = {-2}), LZ_EINVAL, "stride[0] is -2");
    BAD(lz_conv1d(x, w, NULL, .padding = {-2}), LZ_EINVAL, "padding[0]");
    BAD(lz_conv2d(x, w, NULL), LZ_ESHAPE, "rank 4");
    w = lz_ones(LZ_F32, LZ_SHAPE(4, 3, 3));
    BAD(lz_conv1d(x, w, w), LZ_ESHAPE, "bias must be [4]");
    BAD(lz_conv_transpose1d(x, lz_ones(LZ_F32, LZ_SHAPE(3, 2, 3)), NULL, .output_padding = {1}),
        LZ_EINVAL, "smaller than the stride");
    BAD(lz_conv1d(x, lz_ones(LZ_F32, LZ_SHAPE(4, 3, 6)), NULL), LZ_ESHAPE,
        "reaches over 6 elements in spatial dimension 0, the padded input has 5");
    BAD(lz_conv_transpose1d(x, lz_ones(LZ_F32, LZ_SHAPE(3, 2, 1)), NULL, .padding = {3}), LZ_ESHAPE,
        "nothing is left");
    BAD(lz_conv1d(NULL, w, NULL), LZ_ENULL, "");
    BAD(lz_max_pool1d(x), LZ_EINVAL, "kernel_size 0");
    BAD(lz_max_pool1d(x, .kernel_size = {2}, .padding = {2}), LZ_EINVAL, "half of the kernel");
    BAD(lz_max_pool1d(x, .kernel_size = {9}), LZ_ESHAPE, "no window of 9");
    BAD(lz_max_pool3d(x, .kernel_size = {1}), LZ_ESHAPE, "rank 4 or 5");
    BAD(lz_max_pool1d_with_indices(x, &i, .kernel_size = {9}), LZ_ESHAPE, "");
    ck_assert_int_eq(lz_status_of(i), LZ_ESHAPE);
    BAD(lz_adaptive_avg_pool1d(x, 0), LZ_ESHAPE, "0 windows");
    BAD(lz_adaptive_max_pool2d(x, &i, 2), LZ_ESHAPE, "2 extents");
    lz_tensor *at = lz_zeros(LZ_I64, LZ_SHAPE(1, 3, 5));
    BAD(lz_max_unpool1d(x, x, 9), LZ_EDTYPE, "f32");
    BAD(lz_max_unpool1d(x, lz_zeros(LZ_I64, LZ_SHAPE(1, 3, 4)), 9), LZ_ESHAPE, "one shape");
    BAD(lz_max_unpool1d(x, at, -1), LZ_ESHAPE, "extents >= 0");
    BAD(lz_max_unpool2d(x, at, 9), LZ_ESHAPE, "2 extents");
    BAD(lz_cumsum(x, 3), LZ_ERANGE, "3");
    BAD(lz_cummax(lz_zeros(LZ_C64, LZ_SHAPE(3)), 0, &i), LZ_EDTYPE, "");
    BAD(lz_logcumsumexp(lz_zeros(LZ_C64, LZ_SHAPE(3)), 0), LZ_EDTYPE, "complex");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("api_window");
    TCase *t = tcase_create("window");
    int first = getenv("LZ_TEST_QUICK") ? 1 : 0; /* device */
    tcase_add_loop_test(t, convolutions, first * 2 * NCONV, 4 * NCONV);
    tcase_add_loop_test(t, pooling, first * 3 * NPOOL, 6 * NPOOL);
    tcase_add_loop_test(t, adaptive, first * 10, 20);
    tcase_add_loop_test(t, adaptive_and_back, first * 4, 8);
    tcase_add_loop_test(t, cumulative, first * 2 * NROWS, 4 * NROWS);
    tcase_add_loop_test(t, integers, 0, 2);
    tcase_add_loop_test(t, no_window_is_an_error, 0, 6);
    tcase_add_test(t, refused);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
