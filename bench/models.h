/* models.h - the networks of the training and inference workloads: layers, parameters, forward
 * passes. The same as the peers' scripts have; initial values are the layers' own, from the seed
 * that lz_manual_seed set. */
#ifndef LZ_BENCH_MODELS_H
#define LZ_BENCH_MODELS_H
#include "bench.h"

/* 784-512-512-10 with relu */
struct mlp {
    lz_linear_layer l[3];
};
void mlp_init(struct mlp *m, lz_params *ps);
lz_tensor *mlp_forward(struct mlp *m, lz_tensor *x);

/* Two convolutions of 5x5 with pooling, relu and batch norm, two linear layers; x [batch, 1, 28,
 * 28]. */
struct mnist {
    lz_conv_layer c[2];
    lz_norm_layer b[2];
    lz_linear_layer l[2];
};
void mnist_init(struct mnist *m, lz_params *ps);
lz_tensor *mnist_forward(struct mnist *m, lz_tensor *x);

/* He et al. 2016: kind 18 for images of 32x32 (3x3 stem without pooling), or 50 for 224x224. */
enum { RESNET_MAX_CONVS = 53, RESNET_MAX_BLOCKS = 16 };
struct resnet_block {
    int first, convs; /* in struct resnet's conv and norm */
    int stride;
    bool projection; /* one more convolution, of the input */
};
struct resnet {
    int kind, convs, blocks;
    lz_conv_layer conv[RESNET_MAX_CONVS];
    lz_norm_layer norm[RESNET_MAX_CONVS];
    struct resnet_block block[RESNET_MAX_BLOCKS];
    lz_linear_layer last;
};
void resnet_init(struct resnet *m, lz_params *ps, int kind, int64_t classes);
lz_tensor *resnet_forward(struct resnet *m, lz_tensor *x, bool training);

/* Radford et al. 2019: layer norm before each part, gelu by tanh, no dropout. */
enum { GPT_MAX_LAYERS = 12 };
struct gpt_config {
    int64_t layers, dim, heads, context, vocabulary, batch;
};
extern const struct gpt_config gpt_small, gpt_2s, gpt_2;
struct gpt_block {
    lz_norm_layer ln1, ln2;
    lz_attention_layer attention;
    lz_linear_layer up, down;
};
struct gpt {
    struct gpt_config config;
    lz_embedding_layer tokens, positions;
    struct gpt_block block[GPT_MAX_LAYERS];
    lz_norm_layer ln;
    lz_linear_layer head;
};
void gpt_init(struct gpt *m, lz_params *ps, const struct gpt_config *config);
/* ids [batch, length], from position 0 -> logits [batch, length, vocabulary] */
lz_tensor *gpt_forward(struct gpt *m, lz_tensor *ids);
/* One token [1] after those in the caches (one per layer); position [1] is where it is. */
lz_tensor *gpt_next(struct gpt *m, lz_tensor *token, lz_tensor *position, lz_kv_cache *caches);
#endif
