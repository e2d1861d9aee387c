/* norm_ops.h - ATen's native normalisations and dropout, with the statistics they save, and their
 * gradients as functions. Layers are in nn.h.
 * Floats; 16-bit ones are computed in f32, and the saved statistics are f32. Variances are biased
 * (divided by the count). Weights and biases may be NULL. Results stored through pointers (which
 * may be NULL) are handles of the innermost scope, error tensors on failure. Errors of all, as an
 * error tensor: LZ_ENULL, LZ_ESHAPE, LZ_EDTYPE, LZ_EINVAL, LZ_EMEM.
 * Implemented in: ops/normalization.c, ops/random.c. */
#ifndef LAZULI_NORM_OPS_H
#define LAZULI_NORM_OPS_H
#include <lazuli/tensor_ops.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* Over the last dimensions, which are normalized_shape: (x - mean) rstd weight + bias; weight and
 * bias have that shape. mean and rstd = 1 / sqrt(var + eps) have extents of 1 there. ATen's eps:
 * 1e-5. */
LZ_API lz_tensor *lz_native_layer_norm_at(lz_tensor *x, lz_shape normalized_shape,
                                          lz_tensor *weight, lz_tensor *bias, double eps,
                                          lz_tensor **mean, lz_tensor **rstd, const lz_site *site);
/* The gradient of x under lz_native_layer_norm; *grad_weight and *grad_bias. mean and rstd are
 * those that the forward gave. */
LZ_API lz_tensor *lz_native_layer_norm_backward_at(lz_tensor *grad, lz_tensor *x,
                                                   lz_shape normalized_shape, lz_tensor *mean,
                                                   lz_tensor *rstd, lz_tensor *weight,
                                                   lz_tensor **grad_weight, lz_tensor **grad_bias,
                                                   const lz_site *site);
/* x[N, C, ..]: over the C / groups channels of a group and all that follows. weight and bias are
 * [C]; mean and rstd [N, groups]. */
LZ_API lz_tensor *lz_native_group_norm_at(lz_tensor *x, lz_tensor *weight, lz_tensor *bias,
                                          int64_t groups, double eps, lz_tensor **mean,
                                          lz_tensor **rstd, const lz_site *site);
/* The gradient of x under lz_native_group_norm; *grad_weight and *grad_bias. mean and rstd are
 * those that the forward gave. */
LZ_API lz_tensor *lz_native_group_norm_backward_at(lz_tensor *grad, lz_tensor *x, lz_tensor *mean,
                                                   lz_tensor *rstd, lz_tensor *weight,
                                                   int64_t groups, lz_tensor **grad_weight,
                                                   lz_tensor **grad_bias, const lz_site *site);
typedef struct lz_native_batch_norm_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_native_batch_norm_options));
    bool training LZ_DEFAULT(false); /* use x's own statistics */
    /* running = (1 - momentum) running + momentum new, with the unbiased variance */
    double momentum LZ_DEFAULT(0.1);
    double eps LZ_DEFAULT(1e-5);                 /* is added to the variance */
    lz_tensor **save_mean LZ_DEFAULT(nullptr);   /* [C]: the statistics that were used */
    lz_tensor **save_invstd LZ_DEFAULT(nullptr); /* [C]: 1 / sqrt(var + eps) of them */
} lz_native_batch_norm_options;
#define LZ_NATIVE_BATCH_NORM_DEFAULTS .momentum = 0.1, .eps = 1e-5
/* x[N, C, ..]: each channel over all the others. The running statistics [C] are used when not
 * training, and assigned (lz_assign) when training, where they may be NULL. */
LZ_API lz_tensor *lz_native_batch_norm_at(lz_tensor *x, lz_tensor *weight, lz_tensor *bias,
                                          lz_tensor *running_mean, lz_tensor *running_var,
                                          const lz_native_batch_norm_options *o,
                                          const lz_site *site);
/* Elements kept with probability 1 - p and divided by it, the others 0; *mask says which. Without
 * train: x, and all true. p in [0, 1]; a run-time argument. */
LZ_API lz_tensor *lz_native_dropout_at(lz_tensor *x, double p, bool train, lz_tensor **mask,
                                       const lz_site *site);

#define lz_native_layer_norm(...) lz_native_layer_norm_at(__VA_ARGS__, LZ_SITE)
#define lz_native_layer_norm_backward(...) lz_native_layer_norm_backward_at(__VA_ARGS__, LZ_SITE)
#define lz_native_group_norm(...) lz_native_group_norm_at(__VA_ARGS__, LZ_SITE)
#define lz_native_group_norm_backward(...) lz_native_group_norm_backward_at(__VA_ARGS__, LZ_SITE)
#define lz_native_batch_norm(...) LZ_ARGS_native_batch_norm(__VA_ARGS__, )
#define LZ_ARGS_native_batch_norm(x, weight, bias, running_mean, running_var, ...)                 \
    LZ_OVERRIDING(lz_native_batch_norm_at(                                                         \
        x, weight, bias, running_mean, running_var,                                                \
        LZ_DEFAULTED(lz_native_batch_norm_options, LZ_NATIVE_BATCH_NORM_DEFAULTS, __VA_ARGS__),    \
        LZ_SITE))
#define lz_native_dropout(x, p, train, mask) lz_native_dropout_at(x, p, train, mask, LZ_SITE)
LZ_EXTERN_C_END
#endif
