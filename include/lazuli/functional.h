/* functional.h - layers without parameters of their own, and losses: torch.nn.functional. Written
 * with the public operations only.
 * Names, argument order, defaults and results are torch's. 16-bit floats are computed in f32 and
 * rounded once. A weight, bias or mask that is "may be NULL" is left out then. Errors of all, as an
 * error tensor: LZ_ENULL, LZ_ESHAPE, LZ_EDTYPE, LZ_EINVAL, LZ_ERANGE, LZ_EMEM; an operand that is
 * an error tensor is returned. Source of each: the function of torch.nn.functional of its name.
 * Implemented in: nn/norm.c, nn/dropout.c, nn/attention.c, nn/loss_class.c, nn/loss.c,
 *   nn/loss_margin.c, nn/loss_ctc.c. */
#ifndef LAZULI_FUNCTIONAL_H
#define LAZULI_FUNCTIONAL_H
#include <lazuli/tensor_ops.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* ---- normalisation: (x - mean) / sqrt(var + eps) * weight + bias, with the biased variance;
 * floats ---- */
/* Over the last dimensions, whose shape is normalized_shape; weight and bias have it too, and may
 * be NULL. Ba et al. 2016. */
LZ_API lz_tensor *lz_layer_norm_at(lz_tensor *x, lz_shape normalized_shape, lz_tensor *weight,
                                   lz_tensor *bias, double eps, const lz_site *site);
/* x / sqrt(mean(x^2) + eps) * weight; weight may be NULL; eps < 0: the distance from 1 to the next
 * number of x's dtype. Zhang and Sennrich 2019. */
LZ_API lz_tensor *lz_rms_norm_at(lz_tensor *x, lz_shape normalized_shape, lz_tensor *weight,
                                 double eps, const lz_site *site);
/* x[N, C, ..] over each of num_groups groups of channels; weight and bias [C] may be NULL. Wu and
 * He 2018. */
LZ_API lz_tensor *lz_group_norm_at(lz_tensor *x, int64_t num_groups, lz_tensor *weight,
                                   lz_tensor *bias, double eps, const lz_site *site);
typedef struct lz_batch_norm_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_batch_norm_options));
    lz_tensor *weight LZ_DEFAULT(nullptr); /* [C]; may be NULL */
    lz_tensor *bias LZ_DEFAULT(nullptr);   /* [C]; may be NULL */
    /* statistics of x; and then the running ones, if given, become (1 - momentum) old + momentum
     * new (unbiased variance) */
    bool training LZ_DEFAULT(false);
    double momentum LZ_DEFAULT(0.1); /* weight of the new statistics in the running ones */
    double eps LZ_DEFAULT(1e-5);     /* is added to the variance */
} lz_batch_norm_options;
#define LZ_BATCH_NORM_DEFAULTS .momentum = 0.1, .eps = 1e-5
/* x[N, C, ..] over everything but channels (in training at least 2 values each, else LZ_ESHAPE).
 * The running statistics [C] are assigned to, so they are used and updated by the step; without
 * training they are needed. Ioffe and Szegedy 2015. */
LZ_API lz_tensor *lz_batch_norm_at(lz_tensor *x, lz_tensor *running_mean, lz_tensor *running_var,
                                   const lz_batch_norm_options *o, const lz_site *site);
/* x[N, C, ..] over what follows the channels, for each sample; weight and bias [C] may be NULL.
 * Ulyanov et al. 2016. */
LZ_API lz_tensor *lz_instance_norm_at(lz_tensor *x, lz_tensor *weight, lz_tensor *bias, double eps,
                                      const lz_site *site);
/* x over its p-norm along dim, at least eps. */
LZ_API lz_tensor *lz_normalize_at(lz_tensor *x, double p, int64_t dim, double eps,
                                  const lz_site *site);
/* The p-norm along the last dimension of a - b + eps; a and b broadcast. */
LZ_API lz_tensor *lz_pairwise_distance_at(lz_tensor *a, lz_tensor *b, double p, double eps,
                                          bool keepdim, const lz_site *site);
/* x[N, C, ..] (k + alpha / size sum of x^2)^-beta, where the sum is over `size` neighbouring
 * channels, size / 2 of them before. Krizhevsky et al. 2012. */
LZ_API lz_tensor *lz_local_response_norm_at(lz_tensor *x, int64_t size, double alpha, double beta,
                                            double k, const lz_site *site);

/* ---- random layers; random numbers are the device's (lz_manual_seed) ---- */
/* In training each element becomes 0 with probability p, else x / (1 - p); otherwise x. p in
 * [0, 1]. */
LZ_API lz_tensor *lz_dropout_at(lz_tensor *x, double p, bool training, const lz_site *site);
/* lz_dropout of whole channels of x[N, C, ..]: torch's dropout1d, 2d, 3d. */
LZ_API lz_tensor *lz_feature_dropout_at(lz_tensor *x, double p, bool training, const lz_site *site);
/* Dropout that keeps mean and variance of what selu gives. Klambauer et al. 2017. */
LZ_API lz_tensor *lz_alpha_dropout_at(lz_tensor *x, double p, bool training, const lz_site *site);
/* x, times a slope where it is below 0: in training random from lower to upper for each element,
 * otherwise the middle of both. torch's defaults: 1/8 and 1/3. Xu et al. 2015. */
LZ_API lz_tensor *lz_rrelu_at(lz_tensor *x, double lower, double upper, bool training,
                              const lz_site *site);

/* ---- attention ---- */
typedef struct lz_attention_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_attention_options));
    /* broadcast to [.., L, S]: boolean, true takes part; or a float that is added to the scores */
    lz_tensor *attn_mask LZ_DEFAULT(nullptr);
    double dropout_p LZ_DEFAULT(0);   /* of the weights; random */
    bool is_causal LZ_DEFAULT(false); /* query i sees keys 0..i */
    double scale LZ_DEFAULT(0);       /* 0: 1 / sqrt(E) */
    /* dimension -3 of query is a multiple of that of key and value: each serves a group of heads */
    bool enable_gqa LZ_DEFAULT(false);
} lz_attention_options;
/* query[.., L, E], key[.., S, E], value[.., S, V] of one rank >= 2 and one float dtype -> [.., L,
 * V]: softmax(query key^T scale + mask) value. A query that sees no key gives 0. Of 16-bit floats
 * without attn_mask and dropout, the gradient computes the weights again, from the weights' 16
 * bits: none is kept from the forward pass. Vaswani et al. 2017; Dao et al. 2022. */
LZ_API lz_tensor *lz_scaled_dot_product_attention_at(lz_tensor *query, lz_tensor *key,
                                                     lz_tensor *value,
                                                     const lz_attention_options *o,
                                                     const lz_site *site);
/* x[.., L, D], D even, with the pairs of each position turned by position * base^(-2i/D): positions
 * are offset, offset + 1, ..; offset is a rank-0 integer tensor, NULL is 0. interleaved: the pairs
 * are neighbours (GPT-J), else the halves (Llama, GPT-NeoX). Su et al. 2021. */
LZ_API lz_tensor *lz_rotary_embedding_at(lz_tensor *x, lz_tensor *offset, double base,
                                         bool interleaved, const lz_site *site);

/* ---- losses ---- operands of elementwise ones broadcast */
typedef enum lz_reduction { LZ_REDUCE_MEAN = 0, LZ_REDUCE_SUM, LZ_REDUCE_NONE } lz_reduction;
/* One struct for all losses; each takes the fields that its comment names. */
typedef struct lz_loss_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_loss_options));
    /* of all losses: mean and sum give rank 0; LZ_REDUCE_NONE one value each */
    lz_reduction reduction LZ_DEFAULT(LZ_REDUCE_MEAN);
    /* factors: [C] by class, or broadcast, as the loss says; NULL: 1 */
    lz_tensor *weight LZ_DEFAULT(nullptr);
    /* cross_entropy, nll_loss: targets of this class count nowhere */
    int64_t ignore_index LZ_DEFAULT(-100);
    /* cross_entropy, in [0, 1]: this part of the target is spread evenly over all classes */
    double label_smoothing LZ_DEFAULT(0);
    /* binary_cross_entropy_with_logits: factor of the first term; NULL: 1 */
    lz_tensor *pos_weight LZ_DEFAULT(nullptr);
    double beta LZ_DEFAULT(1);         /* smooth_l1_loss: where it becomes linear */
    double delta LZ_DEFAULT(1);        /* huber_loss: where it becomes linear */
    bool log_target LZ_DEFAULT(false); /* kl_div: target is given as logarithms */
    bool batchmean LZ_DEFAULT(false);  /* kl_div: the sum over the first extent */
    /* of the losses that name it; NaN: the loss's own default */
    double margin LZ_DEFAULT(__builtin_nan(""));
    /* triplet_margin_loss, multi_margin_loss: the exponent; NaN: the loss's own default */
    double p LZ_DEFAULT(__builtin_nan(""));
    /* of the losses that name it; NaN: the loss's own default */
    double eps LZ_DEFAULT(__builtin_nan(""));
    /* triplet_margin_loss: the nearer of anchor and positive to negative counts */
    bool swap LZ_DEFAULT(false);
    bool log_input LZ_DEFAULT(true); /* poisson_nll_loss: x is a logarithm */
    bool full LZ_DEFAULT(false); /* poisson_nll_loss, gaussian_nll_loss: with the constant term */
    int64_t blank LZ_DEFAULT(0); /* ctc_loss: the class that stands for no label */
    /* ctc_loss: infinite losses, and their gradients, are 0 */
    bool zero_infinity LZ_DEFAULT(false);
} lz_loss_options;
#define LZ_LOSS_DEFAULTS                                                                           \
    .ignore_index = -100, .beta = 1, .delta = 1, .margin = __builtin_nan(""),                      \
    .p = __builtin_nan(""), .eps = __builtin_nan(""), .log_input = true
/* Logits [C] or [N, C, ..] in floats; target of i32 or i64, [] or [N, ..]:
 * -log_softmax(logits)[target], or of a float and the logits' shape: probabilities of the classes.
 * weight [C]: by class, and the mean is over the weights. Targets equal to ignore_index count
 * nowhere; others outside 0..C-1 add 0. label_smoothing in [0, 1]: this part of the target is
 * spread evenly over all classes. */
LZ_API lz_tensor *lz_cross_entropy_at(lz_tensor *logits, lz_tensor *target,
                                      const lz_loss_options *o, const lz_site *site);
/* As lz_cross_entropy, of what lz_log_softmax gives; no label_smoothing. */
LZ_API lz_tensor *lz_nll_loss_at(lz_tensor *log_probabilities, lz_tensor *target,
                                 const lz_loss_options *o, const lz_site *site);
/* (x - target)^2. Elementwise. */
LZ_API lz_tensor *lz_mse_loss_at(lz_tensor *x, lz_tensor *target, const lz_loss_options *o,
                                 const lz_site *site);
/* |x - target|. Elementwise. */
LZ_API lz_tensor *lz_l1_loss_at(lz_tensor *x, lz_tensor *target, const lz_loss_options *o,
                                const lz_site *site);
/* d^2 / (2 beta) where |d| < beta, else |d| - beta / 2, d = x - target. Elementwise. */
LZ_API lz_tensor *lz_smooth_l1_loss_at(lz_tensor *x, lz_tensor *target, const lz_loss_options *o,
                                       const lz_site *site);
/* d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2), d = x - target. Elementwise. */
LZ_API lz_tensor *lz_huber_loss_at(lz_tensor *x, lz_tensor *target, const lz_loss_options *o,
                                   const lz_site *site);
/* -weight (target log x + (1 - target) log(1 - x)), logarithms not below -100; x in [0, 1]. weight
 * broadcasts. */
LZ_API lz_tensor *lz_binary_cross_entropy_at(lz_tensor *x, lz_tensor *target,
                                             const lz_loss_options *o, const lz_site *site);
/* lz_binary_cross_entropy of sigmoid(x), without overflow; pos_weight multiplies the first term. */
LZ_API lz_tensor *lz_binary_cross_entropy_with_logits_at(lz_tensor *x, lz_tensor *target,
                                                         const lz_loss_options *o,
                                                         const lz_site *site);
/* target (log target - x), 0 where target is 0; x are log probabilities. log_target: exp(target)
 * (target - x). batchmean: the sum over the first extent. */
LZ_API lz_tensor *lz_kl_div_at(lz_tensor *x, lz_tensor *target, const lz_loss_options *o,
                               const lz_site *site);
/* Rows of a, b [N, D] or [D], target 1 or -1: 1 - cos(a, b), or max(0, cos(a, b) - margin);
 * margin's default is 0. */
LZ_API lz_tensor *lz_cosine_embedding_loss_at(lz_tensor *a, lz_tensor *b, lz_tensor *target,
                                              const lz_loss_options *o, const lz_site *site);
/* max(0, |anchor - positive| - |anchor - negative| + margin) with the p-norm of rows (of the
 * difference + eps); the defaults: margin 1, p 2, eps 1e-6. swap: the nearer of anchor and positive
 * to negative counts. */
LZ_API lz_tensor *lz_triplet_margin_loss_at(lz_tensor *anchor, lz_tensor *positive,
                                            lz_tensor *negative, const lz_loss_options *o,
                                            const lz_site *site);
/* x where target is 1, max(0, margin - x) where it is -1; margin's default is 1. Elementwise. */
LZ_API lz_tensor *lz_hinge_embedding_loss_at(lz_tensor *x, lz_tensor *target,
                                             const lz_loss_options *o, const lz_site *site);
/* max(0, -target (a - b) + margin), target 1 or -1; margin's default is 0. Elementwise. */
LZ_API lz_tensor *lz_margin_ranking_loss_at(lz_tensor *a, lz_tensor *b, lz_tensor *target,
                                            const lz_loss_options *o, const lz_site *site);
/* log(1 + exp(-target x)), target 1 or -1. Elementwise. */
LZ_API lz_tensor *lz_soft_margin_loss_at(lz_tensor *x, lz_tensor *target, const lz_loss_options *o,
                                         const lz_site *site);
/* exp(x) - target x; log_input false: x - target log(x + eps), eps' default is 1e-8. full: with
 * Stirling's approximation of log(target!) where target > 1. Elementwise. */
LZ_API lz_tensor *lz_poisson_nll_loss_at(lz_tensor *x, lz_tensor *target, const lz_loss_options *o,
                                         const lz_site *site);
/* (log v + (x - target)^2 / v) / 2, v = max(variance, eps), eps' default is 1e-6; full: and half of
 * log 2 pi. variance: of x's shape, or broadcast to it, or one for each row of the last dimension.
 * What is below eps has the gradient of eps. */
LZ_API lz_tensor *lz_gaussian_nll_loss_at(lz_tensor *x, lz_tensor *target, lz_tensor *variance,
                                          const lz_loss_options *o, const lz_site *site);
/* x [N, C] or [C], target [N] or [] of i32 or i64: the mean over classes of max(0, margin -
 * x[target] + x[class])^p, where the target itself adds 0, times weight[target]. p: 1 or 2. The
 * defaults: margin 1, p 1. */
LZ_API lz_tensor *lz_multi_margin_loss_at(lz_tensor *x, lz_tensor *target, const lz_loss_options *o,
                                          const lz_site *site);
/* x and target of one shape [N, C] or [C]; a row's labels, of i32 or i64, end before the first
 * negative one: the sum of max(0, 1 - x[label] + x[class]) over labels and classes that are none,
 * divided by C. */
LZ_API lz_tensor *lz_multilabel_margin_loss_at(lz_tensor *x, lz_tensor *target,
                                               const lz_loss_options *o, const lz_site *site);
/* The mean over the last dimension of binary_cross_entropy_with_logits, times weight. */
LZ_API lz_tensor *lz_multilabel_soft_margin_loss_at(lz_tensor *x, lz_tensor *target,
                                                    const lz_loss_options *o, const lz_site *site);
/* -log of the chance that log_probs [T, N, C], logarithms of probabilities, give the labels:
 * targets [N, S], of which target_lengths [N] count; input_lengths [N] steps of log_probs count.
 * All of i32 or i64; lengths are clamped to 0..S and 0..T. blank: the class that stands for no
 * label. The mean divides by the labels of each row (1 at least). A row that has too few steps
 * gives infinity (0 with zero_infinity) and no gradient. Graves et al. 2006. */
LZ_API lz_tensor *lz_ctc_loss_at(lz_tensor *log_probs, lz_tensor *targets, lz_tensor *input_lengths,
                                 lz_tensor *target_lengths, const lz_loss_options *o,
                                 const lz_site *site);
/* Fraction of rows whose largest logit is at the label: f32, rank 0. logits [N, C], labels [N] of
 * i32 or i64. */
LZ_API lz_tensor *lz_accuracy_at(lz_tensor *logits, lz_tensor *labels, const lz_site *site);

#define lz_layer_norm(x, shape, weight, bias, eps)                                                 \
    lz_layer_norm_at(x, shape, weight, bias, eps, LZ_SITE)
#define lz_rms_norm(x, shape, weight, eps) lz_rms_norm_at(x, shape, weight, eps, LZ_SITE)
#define lz_group_norm(x, groups, weight, bias, eps)                                                \
    lz_group_norm_at(x, groups, weight, bias, eps, LZ_SITE)
#define lz_batch_norm(...) LZ_ARGS_batch_norm(__VA_ARGS__, )
#define LZ_ARGS_batch_norm(x, running_mean, running_var, ...)                                      \
    LZ_OVERRIDING(lz_batch_norm_at(                                                                \
        x, running_mean, running_var,                                                              \
        LZ_DEFAULTED(lz_batch_norm_options, LZ_BATCH_NORM_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define lz_instance_norm(x, weight, bias, eps) lz_instance_norm_at(x, weight, bias, eps, LZ_SITE)
#define lz_normalize(x, p, dim, eps) lz_normalize_at(x, p, dim, eps, LZ_SITE)
#define lz_pairwise_distance(a, b, p, eps, keepdim)                                                \
    lz_pairwise_distance_at(a, b, p, eps, keepdim, LZ_SITE)
#define lz_local_response_norm(x, size, alpha, beta, k)                                            \
    lz_local_response_norm_at(x, size, alpha, beta, k, LZ_SITE)
#define lz_dropout(x, p, training) lz_dropout_at(x, p, training, LZ_SITE)
#define lz_feature_dropout(x, p, training) lz_feature_dropout_at(x, p, training, LZ_SITE)
#define lz_alpha_dropout(x, p, training) lz_alpha_dropout_at(x, p, training, LZ_SITE)
#define lz_rrelu(x, lower, upper, training) lz_rrelu_at(x, lower, upper, training, LZ_SITE)
#define lz_scaled_dot_product_attention(...) LZ_ARGS_scaled_dot_product_attention(__VA_ARGS__, )
#define LZ_ARGS_scaled_dot_product_attention(q, k, v, ...)                                         \
    lz_scaled_dot_product_attention_at(q, k, v, LZ_OPTIONS_OF(lz_attention_options, __VA_ARGS__),  \
                                       LZ_SITE)
#define lz_rotary_embedding(x, offset, base, interleaved)                                          \
    lz_rotary_embedding_at(x, offset, base, interleaved, LZ_SITE)
#define LZ_LOSS2(f, x, y, ...)                                                                     \
    LZ_OVERRIDING(f(x, y, LZ_DEFAULTED(lz_loss_options, LZ_LOSS_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define LZ_LOSS3(f, x, y, z, ...)                                                                  \
    LZ_OVERRIDING(f(x, y, z, LZ_DEFAULTED(lz_loss_options, LZ_LOSS_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define lz_cross_entropy(...) LZ_ARGS_cross_entropy(__VA_ARGS__, )
#define LZ_ARGS_cross_entropy(logits, target, ...)                                                 \
    LZ_LOSS2(lz_cross_entropy_at, logits, target, __VA_ARGS__)
#define lz_nll_loss(...) LZ_ARGS_nll_loss(__VA_ARGS__, )
#define LZ_ARGS_nll_loss(x, target, ...) LZ_LOSS2(lz_nll_loss_at, x, target, __VA_ARGS__)
#define lz_mse_loss(...) LZ_ARGS_mse_loss(__VA_ARGS__, )
#define LZ_ARGS_mse_loss(x, target, ...) LZ_LOSS2(lz_mse_loss_at, x, target, __VA_ARGS__)
#define lz_l1_loss(...) LZ_ARGS_l1_loss(__VA_ARGS__, )
#define LZ_ARGS_l1_loss(x, target, ...) LZ_LOSS2(lz_l1_loss_at, x, target, __VA_ARGS__)
#define lz_smooth_l1_loss(...) LZ_ARGS_smooth_l1_loss(__VA_ARGS__, )
#define LZ_ARGS_smooth_l1_loss(x, target, ...)                                                     \
    LZ_LOSS2(lz_smooth_l1_loss_at, x, target, __VA_ARGS__)
#define lz_huber_loss(...) LZ_ARGS_huber_loss(__VA_ARGS__, )
#define LZ_ARGS_huber_loss(x, target, ...) LZ_LOSS2(lz_huber_loss_at, x, target, __VA_ARGS__)
#define lz_binary_cross_entropy(...) LZ_ARGS_binary_cross_entropy(__VA_ARGS__, )
#define LZ_ARGS_binary_cross_entropy(x, target, ...)                                               \
    LZ_LOSS2(lz_binary_cross_entropy_at, x, target, __VA_ARGS__)
#define lz_binary_cross_entropy_with_logits(...)                                                   \
    LZ_ARGS_binary_cross_entropy_with_logits(__VA_ARGS__, )
#define LZ_ARGS_binary_cross_entropy_with_logits(x, target, ...)                                   \
    LZ_LOSS2(lz_binary_cross_entropy_with_logits_at, x, target, __VA_ARGS__)
#define lz_kl_div(...) LZ_ARGS_kl_div(__VA_ARGS__, )
#define LZ_ARGS_kl_div(x, target, ...) LZ_LOSS2(lz_kl_div_at, x, target, __VA_ARGS__)
#define lz_cosine_embedding_loss(...) LZ_ARGS_cosine_embedding_loss(__VA_ARGS__, )
#define LZ_ARGS_cosine_embedding_loss(a, b, target, ...)                                           \
    LZ_LOSS3(lz_cosine_embedding_loss_at, a, b, target, __VA_ARGS__)
#define lz_triplet_margin_loss(...) LZ_ARGS_triplet_margin_loss(__VA_ARGS__, )
#define LZ_ARGS_triplet_margin_loss(a, p, n, ...)                                                  \
    LZ_LOSS3(lz_triplet_margin_loss_at, a, p, n, __VA_ARGS__)
#define lz_hinge_embedding_loss(...) LZ_ARGS_hinge_embedding_loss(__VA_ARGS__, )
#define LZ_ARGS_hinge_embedding_loss(x, target, ...)                                               \
    LZ_LOSS2(lz_hinge_embedding_loss_at, x, target, __VA_ARGS__)
#define lz_soft_margin_loss(...) LZ_ARGS_soft_margin_loss(__VA_ARGS__, )
#define LZ_ARGS_soft_margin_loss(x, target, ...)                                                   \
    LZ_LOSS2(lz_soft_margin_loss_at, x, target, __VA_ARGS__)
#define lz_poisson_nll_loss(...) LZ_ARGS_poisson_nll_loss(__VA_ARGS__, )
#define LZ_ARGS_poisson_nll_loss(x, target, ...)                                                   \
    LZ_LOSS2(lz_poisson_nll_loss_at, x, target, __VA_ARGS__)
#define lz_multi_margin_loss(...) LZ_ARGS_multi_margin_loss(__VA_ARGS__, )
#define LZ_ARGS_multi_margin_loss(x, target, ...)                                                  \
    LZ_LOSS2(lz_multi_margin_loss_at, x, target, __VA_ARGS__)
#define lz_multilabel_margin_loss(...) LZ_ARGS_multilabel_margin_loss(__VA_ARGS__, )
#define LZ_ARGS_multilabel_margin_loss(x, target, ...)                                             \
    LZ_LOSS2(lz_multilabel_margin_loss_at, x, target, __VA_ARGS__)
#define lz_multilabel_soft_margin_loss(...) LZ_ARGS_multilabel_soft_margin_loss(__VA_ARGS__, )
#define LZ_ARGS_multilabel_soft_margin_loss(x, target, ...)                                        \
    LZ_LOSS2(lz_multilabel_soft_margin_loss_at, x, target, __VA_ARGS__)
#define lz_margin_ranking_loss(...) LZ_ARGS_margin_ranking_loss(__VA_ARGS__, )
#define LZ_ARGS_margin_ranking_loss(a, b, target, ...)                                             \
    LZ_LOSS3(lz_margin_ranking_loss_at, a, b, target, __VA_ARGS__)
#define lz_gaussian_nll_loss(...) LZ_ARGS_gaussian_nll_loss(__VA_ARGS__, )
#define LZ_ARGS_gaussian_nll_loss(x, target, variance, ...)                                        \
    LZ_LOSS3(lz_gaussian_nll_loss_at, x, target, variance, __VA_ARGS__)
#define lz_ctc_loss(...) LZ_ARGS_ctc_loss(__VA_ARGS__, )
#define LZ_ARGS_ctc_loss(log_probs, targets, input_lengths, target_lengths, ...)                   \
    LZ_OVERRIDING(lz_ctc_loss_at(log_probs, targets, input_lengths, target_lengths,                \
                                 LZ_DEFAULTED(lz_loss_options, LZ_LOSS_DEFAULTS, __VA_ARGS__),     \
                                 LZ_SITE))
#define lz_accuracy(logits, labels) lz_accuracy_at(logits, labels, LZ_SITE)
LZ_EXTERN_C_END
#endif
