/* nn.h - layers, initialisers, losses, parameter lists. Written with the public operations only. */
#ifndef LAZULI_NN_H
#define LAZULI_NN_H
#include <lazuli/tensor.h>
LZ_EXTERN_C_BEGIN

/* A growing list of named parameters; zero-initialise. Holds a reference to each. */
typedef struct lz_params {
    lz_tensor **tensors;
    char **names;
    size_t len, cap;
} lz_params;
LZ_API lz_status lz_params_add(lz_params *ps, const char *name, lz_tensor *t);  /* retains t and marks it as requiring a gradient */
LZ_API void lz_params_free(lz_params *ps);

/* y = x @ weight^T + bias, weight [out, in], bias [out]: torch.nn.Linear, with its default initialisation (uniform +-1/sqrt(in)). */
typedef struct lz_linear_layer {
    lz_tensor *weight, *bias;
} lz_linear_layer;
/* Adds "<name>.weight" and "<name>.bias" to ps (which owns them). bias may be left out. f32 unless dtype says otherwise. */
LZ_API lz_status lz_linear_layer_init(lz_linear_layer *l, lz_params *ps, const char *name, int64_t in, int64_t out, bool bias, lz_dtype dtype);
LZ_API lz_tensor *lz_linear_layer_forward(const lz_linear_layer *l, lz_tensor *x);

/* Initialisers return fresh tensors. fan_in and fan_out of shape [out, in, ...] as in torch.nn.init. */
LZ_API lz_tensor *lz_init_uniform(lz_dtype dtype, lz_shape shape, double lo, double hi);
LZ_API lz_tensor *lz_init_normal(lz_dtype dtype, lz_shape shape, double mean, double std);
LZ_API lz_tensor *lz_init_kaiming_uniform(lz_dtype dtype, lz_shape shape, double a);
LZ_API lz_tensor *lz_init_xavier_uniform(lz_dtype dtype, lz_shape shape, double gain);

/* Losses: mean over the batch. logits [N, C], labels [N] of i32 or i64 with 0 <= label < C. */
LZ_API lz_tensor *lz_cross_entropy_at(lz_tensor *logits, lz_tensor *labels, const lz_site *site);
LZ_API lz_tensor *lz_mse_loss_at(lz_tensor *x, lz_tensor *target, const lz_site *site);
#define lz_cross_entropy(logits, labels) lz_cross_entropy_at((logits), (labels), LZ_SITE)
#define lz_mse_loss(x, target) lz_mse_loss_at((x), (target), LZ_SITE)
/* Fraction of rows whose largest logit is at the label: f32 scalar. */
LZ_API lz_tensor *lz_accuracy_at(lz_tensor *logits, lz_tensor *labels, const lz_site *site);
#define lz_accuracy(logits, labels) lz_accuracy_at((logits), (labels), LZ_SITE)
LZ_EXTERN_C_END
#endif
