/* models.c - mlp, convnet of MNIST, residual networks, GPT. */
#include "models.h"
#include <stdio.h>

/* ---- mlp ---- */

void mlp_init(struct mlp *m, lz_params *ps)
{
    static const int64_t width[] = {784, 512, 512, 10};
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "l%d", i + 1);
        bench_check(lz_linear_layer_init(&m->l[i], ps, name, width[i], width[i + 1], true, LZ_F32),
                    name);
    }
}

lz_tensor *mlp_forward(struct mlp *m, lz_tensor *x)
{
    x = lz_relu(lz_linear_layer_forward(&m->l[0], x));
    x = lz_relu(lz_linear_layer_forward(&m->l[1], x));
    return lz_linear_layer_forward(&m->l[2], x);
}

/* ---- convnet ---- */

void mnist_init(struct mnist *m, lz_params *ps)
{
    static const int64_t channels[] = {1, 10, 20}, width[] = {320, 50, 10};
    for (int i = 0; i < 2; i++) {
        char name[3][16];
        snprintf(name[0], sizeof name[0], "c%d", i + 1);
        snprintf(name[1], sizeof name[1], "b%d", i + 1);
        snprintf(name[2], sizeof name[2], "f%d", i + 1);
        bench_check(lz_conv_layer_init(&m->c[i], 2, ps, name[0], channels[i], channels[i + 1],
                                       LZ_F32, .kernel = {5}),
                    name[0]);
        bench_check(
            lz_norm_layer_init(&m->b[i], LZ_BATCH_NORM, ps, name[1], channels[i + 1], LZ_F32),
            name[1]);
        bench_check(
            lz_linear_layer_init(&m->l[i], ps, name[2], width[i], width[i + 1], true, LZ_F32),
            name[2]);
    }
}

lz_tensor *mnist_forward(struct mnist *m, lz_tensor *x)
{
    for (int i = 0; i < 2; i++) {
        x = lz_max_pool2d(lz_conv_layer_forward(&m->c[i], x), .kernel_size = {2});
        x = lz_norm_layer_forward(&m->b[i], lz_relu(x), true);
    }
    x = lz_relu(lz_linear_layer_forward(&m->l[0], lz_flatten(x, 1, -1)));
    return lz_linear_layer_forward(&m->l[1], x);
}

/* ---- residual networks ---- */

static void resnet_conv(struct resnet *m, lz_params *ps, int64_t kernel, int64_t in, int64_t out,
                        int64_t stride)
{
    char name[32];
    int i = m->convs++;
    snprintf(name, sizeof name, "conv%d", i);
    bench_check(
        lz_conv_layer_init(&m->conv[i], 2, ps, name, in, out, LZ_F32, .kernel = {kernel},
                           .conv = {.stride = {stride}, .padding = {kernel / 2, kernel / 2}},
                           .no_bias = true),
        name);
    snprintf(name, sizeof name, "norm%d", i);
    bench_check(lz_norm_layer_init(&m->norm[i], LZ_BATCH_NORM, ps, name, out, LZ_F32), name);
}

void resnet_init(struct resnet *m, lz_params *ps, int kind, int64_t classes)
{
    static const int blocks[2][4] = {{2, 2, 2, 2}, {3, 4, 6, 3}};
    bool wide = kind == 50; /* bottlenecks of 1x1, 3x3, 1x1 */
    *m = (struct resnet){.kind = kind};
    resnet_conv(m, ps, wide ? 7 : 3, 3, 64, wide ? 2 : 1);
    int64_t c = 64;
    for (int stage = 0; stage < 4; stage++)
        for (int i = 0; i < blocks[wide][stage]; i++) {
            int64_t w = 64 << stage, out = wide ? 4 * w : w;
            int stride = stage > 0 && i == 0 ? 2 : 1;
            struct resnet_block *b = &m->block[m->blocks++];
            *b = (struct resnet_block){.first = m->convs,
                                       .convs = wide ? 3 : 2,
                                       .stride = stride,
                                       .projection = stride != 1 || c != out};
            if (wide)
                resnet_conv(m, ps, 1, c, w, 1);
            resnet_conv(m, ps, 3, wide ? w : c, w, stride);
            resnet_conv(m, ps, wide ? 1 : 3, w, out, 1);
            if (b->projection)
                resnet_conv(m, ps, 1, c, out, stride);
            c = out;
        }
    bench_check(lz_linear_layer_init(&m->last, ps, "last", c, classes, true, LZ_F32), "last");
}

static lz_tensor *conv_norm(struct resnet *m, int i, lz_tensor *x, bool training)
{
    return lz_norm_layer_forward(&m->norm[i], lz_conv_layer_forward(&m->conv[i], x), training);
}

lz_tensor *resnet_forward(struct resnet *m, lz_tensor *x, bool training)
{
    x = lz_relu(conv_norm(m, 0, x, training));
    if (m->kind == 50)
        x = lz_max_pool2d(x, .kernel_size = {3}, .stride = {2}, .padding = {1, 1});
    for (const struct resnet_block *b = m->block; b < m->block + m->blocks; b++) {
        lz_tensor *y = x;
        for (int i = 0; i < b->convs; i++) {
            y = conv_norm(m, b->first + i, y, training);
            if (i < b->convs - 1)
                y = lz_relu(y);
        }
        if (b->projection)
            x = conv_norm(m, b->first + b->convs, x, training);
        x = lz_relu(lz_add(y, x));
    }
    return lz_linear_layer_forward(&m->last, lz_mean(x, .dims = LZ_DIM(2, 3)));
}

/* ---- GPT ---- */

const struct gpt_config gpt_small = {.layers = 4,
                                     .dim = 256,
                                     .heads = 8,
                                     .context = 256,
                                     .vocabulary = 4096,
                                     .batch = 8},
                        gpt_2s = {.layers = 12,
                                  .dim = 768,
                                  .heads = 12,
                                  .context = 512,
                                  .vocabulary = 32000,
                                  .batch = 1},
                        gpt_2 = {.layers = 12,
                                 .dim = 768,
                                 .heads = 12,
                                 .context = 1024,
                                 .vocabulary = 50304,
                                 .batch = 16};

static void gpt_block_init(struct gpt_block *b, lz_params *ps, int i, const struct gpt_config *c)
{
    char name[5][24];
    static const char *const part[] = {"ln1", "ln2", "attention", "up", "down"};
    for (int k = 0; k < 5; k++)
        snprintf(name[k], sizeof name[k], "block%d.%s", i, part[k]);
    bench_check(lz_norm_layer_init(&b->ln1, LZ_LAYER_NORM, ps, name[0], c->dim, LZ_F32), name[0]);
    bench_check(lz_norm_layer_init(&b->ln2, LZ_LAYER_NORM, ps, name[1], c->dim, LZ_F32), name[1]);
    bench_check(lz_attention_layer_init(&b->attention, ps, name[2], c->dim, c->heads, LZ_F32),
                name[2]);
    bench_check(lz_linear_layer_init(&b->up, ps, name[3], c->dim, 4 * c->dim, true, LZ_F32),
                name[3]);
    bench_check(lz_linear_layer_init(&b->down, ps, name[4], 4 * c->dim, c->dim, true, LZ_F32),
                name[4]);
}

void gpt_init(struct gpt *m, lz_params *ps, const struct gpt_config *c)
{
    m->config = *c;
    bench_check(lz_embedding_layer_init(&m->tokens, ps, "wte", c->vocabulary, c->dim, LZ_F32),
                "wte");
    bench_check(lz_embedding_layer_init(&m->positions, ps, "wpe", c->context, c->dim, LZ_F32),
                "wpe");
    for (int i = 0; i < c->layers; i++)
        gpt_block_init(&m->block[i], ps, i, c);
    bench_check(lz_norm_layer_init(&m->ln, LZ_LAYER_NORM, ps, "ln", c->dim, LZ_F32), "ln");
    bench_check(lz_linear_layer_init(&m->head, ps, "head", c->dim, c->vocabulary, false, LZ_F32),
                "head");
}

static lz_tensor *gpt_blocks(struct gpt *m, lz_tensor *x, lz_kv_cache *caches)
{
    for (int i = 0; i < m->config.layers; i++) {
        struct gpt_block *b = &m->block[i];
        lz_tensor *h = lz_norm_layer_forward(&b->ln1, x, true);
        x = lz_add(x, lz_attention_layer_forward(&b->attention, h, .is_causal = !caches,
                                                 .cache = caches ? &caches[i] : NULL));
        h = lz_linear_layer_forward(&b->up, lz_norm_layer_forward(&b->ln2, x, true));
        x = lz_add(x, lz_linear_layer_forward(&b->down, lz_gelu(h, true)));
    }
    return lz_linear_layer_forward(&m->head, lz_norm_layer_forward(&m->ln, x, true));
}

lz_tensor *gpt_forward(struct gpt *m, lz_tensor *ids)
{
    lz_tensor *positions = lz_slice(m->positions.weight, 0, 0, lz_shape_of(ids).dims[1], 1);
    return gpt_blocks(m, lz_add(lz_embedding_layer_forward(&m->tokens, ids), positions), NULL);
}

lz_tensor *gpt_next(struct gpt *m, lz_tensor *token, lz_tensor *position, lz_kv_cache *caches)
{
    lz_tensor *x = lz_add(lz_embedding_layer_forward(&m->tokens, token),
                          lz_embedding_layer_forward(&m->positions, position));
    return gpt_blocks(m, lz_unsqueeze(x, 0), caches);
}
