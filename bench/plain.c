/* plain.c - forward passes of one example in double precision: plain loops that follow the
 * formulas. */
#include "plain.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *room(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        bench_fail("no memory to check");
    return p;
}

static float *values(lz_tensor *t)
{
    float *v = room(lz_nbytes(t), 1);
    bench_check(lz_to_host(t, v, lz_nbytes(t)), "read");
    return v;
}

/* ---- layers: each frees its argument and gives a new array ---- */

static double *linear(const lz_linear_layer *l, double *x)
{
    lz_shape s = lz_shape_of(l->weight);
    int64_t out = s.dims[0], in = s.dims[1];
    double *y = room((size_t)out, sizeof *y);
    float *w = values(l->weight), *b = l->bias ? values(l->bias) : NULL;
    for (int64_t o = 0; o < out; o++) {
        y[o] = b ? (double)b[o] : 0;
        for (int64_t i = 0; i < in; i++)
            y[o] += (double)w[o * in + i] * x[i];
    }
    free(w);
    free(b);
    free(x);
    return y;
}

static void relu(double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = x[i] > 0 ? x[i] : 0;
}

double *plain_mlp(const struct mlp *m, const float *x)
{
    double *h = room(784, sizeof *h);
    for (int i = 0; i < 784; i++)
        h[i] = (double)x[i];
    for (int l = 0; l < 3; l++) {
        h = linear(&m->l[l], h);
        if (l < 2)
            relu(h, 512);
    }
    return h;
}

/* ---- images: c planes of n x n ---- */

struct image {
    int64_t c, n;
    double *v;
};

/* one output plane from one input plane: adds w (k x k) times it */
static void convolve_plane(const double *x, int64_t n, const float *w, int64_t k, int64_t stride,
                           double *y, int64_t m)
{
    for (int64_t ky = 0; ky < k; ky++)
        for (int64_t kx = 0; kx < k; kx++) {
            double f = (double)w[ky * k + kx];
            for (int64_t i = 0; i < m; i++) {
                int64_t r = i * stride + ky - k / 2;
                for (int64_t j = 0; j < m && r >= 0 && r < n; j++) {
                    int64_t s = j * stride + kx - k / 2;
                    if (s >= 0 && s < n)
                        y[i * m + j] += f * x[r * n + s];
                }
            }
        }
}

static struct image convolve(const lz_conv_layer *l, struct image x)
{
    lz_shape s = lz_shape_of(l->weight);
    int64_t out = s.dims[0], k = s.dims[2],
            stride = l->options.stride[0] ? l->options.stride[0] : 1;
    struct image y = {out, (x.n + 2 * (k / 2) - k) / stride + 1, NULL};
    y.v = room((size_t)(out * y.n * y.n), sizeof *y.v);
    float *w = values(l->weight);
    for (int64_t o = 0; o < out; o++)
        for (int64_t i = 0; i < x.c; i++)
            convolve_plane(x.v + i * x.n * x.n, x.n, w + (o * x.c + i) * k * k, k, stride,
                           y.v + o * y.n * y.n, y.n);
    free(w);
    return y;
}

static void batch_norm(const lz_norm_layer *l, struct image x)
{
    float *w = values(l->weight), *b = values(l->bias), *mean = values(l->running_mean),
          *var = values(l->running_var);
    for (int64_t i = 0; i < x.c * x.n * x.n; i++) {
        int64_t c = i / (x.n * x.n);
        x.v[i] =
            (x.v[i] - (double)mean[c]) / sqrt((double)var[c] + 1e-5) * (double)w[c] + (double)b[c];
    }
    free(w);
    free(b);
    free(mean);
    free(var);
}

static struct image conv_norm(const struct resnet *m, int i, struct image x)
{
    struct image y = convolve(&m->conv[i], x);
    batch_norm(&m->norm[i], y);
    return y;
}

/* maxima of windows of 3x3 every 2, with a border of 1 */
static struct image pool(struct image x)
{
    struct image y = {x.c, (x.n - 1) / 2 + 1, NULL};
    y.v = room((size_t)(y.c * y.n * y.n), sizeof *y.v);
    for (int64_t c = 0; c < y.c; c++)
        for (int64_t i = 0; i < y.n * y.n; i++) {
            double m = -HUGE_VAL;
            for (int64_t k = 0; k < 9; k++) {
                int64_t r = i / y.n * 2 - 1 + k / 3, s = i % y.n * 2 - 1 + k % 3;
                if (r >= 0 && r < x.n && s >= 0 && s < x.n)
                    m = fmax(m, x.v[(c * x.n + r) * x.n + s]);
            }
            y.v[c * y.n * y.n + i] = m;
        }
    free(x.v);
    return y;
}

static struct image block(const struct resnet *m, const struct resnet_block *b, struct image x)
{
    struct image y = x;
    for (int i = 0; i < b->convs; i++) {
        struct image z = conv_norm(m, b->first + i, y);
        if (i > 0)
            free(y.v);
        y = z;
        if (i < b->convs - 1)
            relu(y.v, y.c * y.n * y.n);
    }
    if (b->projection) {
        struct image z = conv_norm(m, b->first + b->convs, x);
        free(x.v);
        x = z;
    }
    for (int64_t i = 0; i < y.c * y.n * y.n; i++)
        y.v[i] += x.v[i];
    relu(y.v, y.c * y.n * y.n);
    free(x.v);
    return y;
}

double *plain_resnet(const struct resnet *m, const float *pixels)
{
    struct image x = {3, m->kind == 50 ? 224 : 32, NULL};
    x.v = room((size_t)(3 * x.n * x.n), sizeof *x.v);
    for (int64_t i = 0; i < 3 * x.n * x.n; i++)
        x.v[i] = (double)pixels[i];
    struct image y = conv_norm(m, 0, x);
    free(x.v);
    relu(y.v, y.c * y.n * y.n);
    if (m->kind == 50)
        y = pool(y);
    for (int b = 0; b < m->blocks; b++)
        y = block(m, &m->block[b], y);
    double *mean = room((size_t)y.c, sizeof *mean);
    for (int64_t i = 0; i < y.c * y.n * y.n; i++)
        mean[i / (y.n * y.n)] += y.v[i] / (double)(y.n * y.n);
    free(y.v);
    return linear(&m->last, mean);
}

/* ---- one token of a GPT ---- */

static double *layer_norm(const lz_norm_layer *l, const double *x, int64_t n)
{
    float *w = values(l->weight), *b = values(l->bias);
    double mean = 0, var = 0, *y = room((size_t)n, sizeof *y);
    for (int64_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (int64_t i = 0; i < n; i++)
        var += (x[i] - mean) * (x[i] - mean) / (double)n;
    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) / sqrt(var + 1e-5) * (double)w[i] + (double)b[i];
    free(w);
    free(b);
    return y;
}

/* The keys before this one are 0: their scores are 0, and so are their parts of the sum. */
static double *attend(const struct gpt_block *b, const struct gpt_config *c, double *x,
                      int64_t before)
{
    lz_linear_layer in = {b->attention.in_proj_weight, b->attention.in_proj_bias};
    int64_t n = c->dim, width = n / c->heads;
    double *qkv = linear(&in, x), *y = room((size_t)n, sizeof *y);
    for (int64_t h = 0; h < c->heads; h++) {
        double score = 0;
        for (int64_t i = h * width; i < (h + 1) * width; i++)
            score += qkv[i] * qkv[n + i] / sqrt((double)width);
        for (int64_t i = h * width; i < (h + 1) * width; i++)
            y[i] = exp(score) / (exp(score) + (double)before) * qkv[2 * n + i];
    }
    free(qkv);
    return linear(&b->attention.out_proj, y);
}

static void add_to(double *x, double *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] += y[i];
    free(y);
}

double *plain_gpt_next(const struct gpt *m, int64_t token, int64_t position, int64_t before)
{
    int64_t n = m->config.dim;
    float *tokens = values(m->tokens.weight), *positions = values(m->positions.weight);
    double *x = room((size_t)n, sizeof *x);
    for (int64_t i = 0; i < n; i++)
        x[i] = (double)tokens[token * n + i] + (double)positions[position * n + i];
    free(tokens);
    free(positions);
    for (const struct gpt_block *b = m->block; b < m->block + m->config.layers; b++) {
        add_to(x, attend(b, &m->config, layer_norm(&b->ln1, x, n), before), n);
        double *h = linear(&b->up, layer_norm(&b->ln2, x, n));
        for (int64_t i = 0; i < 4 * n; i++)
            h[i] *= 0.5 * (1 + tanh(sqrt(2 / M_PI) * (h[i] + 0.044715 * h[i] * h[i] * h[i])));
        add_to(x, linear(&b->down, h), n);
    }
    double *y = layer_norm(&m->ln, x, n);
    free(x);
    return linear(&m->head, y);
}
