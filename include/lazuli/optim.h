/* optim.h - optimizers and learning-rate schedules. A step is recorded, not run: lz_mark_step runs it fused with the backward pass.
 * Learning rates are run-time arguments: changing them compiles nothing. */
#ifndef LAZULI_OPTIM_H
#define LAZULI_OPTIM_H
#include <lazuli/nn.h>
LZ_EXTERN_C_BEGIN
typedef struct lz_optim lz_optim;
typedef struct lz_sgd_options {                       /* torch.optim.SGD */
    size_t struct_size LZ_DEFAULT(sizeof(lz_sgd_options));
    double lr LZ_DEFAULT(1e-3), momentum LZ_DEFAULT(0), dampening LZ_DEFAULT(0), weight_decay LZ_DEFAULT(0);
    bool nesterov LZ_DEFAULT(false);
} lz_sgd_options;
typedef struct lz_adam_options {                      /* torch.optim.Adam */
    size_t struct_size LZ_DEFAULT(sizeof(lz_adam_options));
    double lr LZ_DEFAULT(1e-3), beta1 LZ_DEFAULT(0.9), beta2 LZ_DEFAULT(0.999), eps LZ_DEFAULT(1e-8), weight_decay LZ_DEFAULT(0);
    bool decoupled LZ_DEFAULT(false);                 /* torch.optim.AdamW */
} lz_adam_options;
/* The optimizer refers to ps, which must outlive it. NULL with an error recorded (LZ_ENULL; LZ_EINVAL
 * names the option; LZ_EMEM). Options NULL: the defaults. */
LZ_API lz_optim *lz_sgd_new_at(lz_params *ps, const lz_sgd_options *o, const lz_site *site);
LZ_API lz_optim *lz_adam_new_at(lz_params *ps, const lz_adam_options *o, const lz_site *site);
/* lz_sgd(&params, .lr = 0.1, .momentum = 0.9): fields left out have torch's defaults. */
#ifdef __cplusplus
#define LZ_SGD_OPTIONS(...) {__VA_ARGS__}
#define LZ_ADAM_OPTIONS(...) {__VA_ARGS__}
#else
#define LZ_SGD_OPTIONS(...) {.struct_size = sizeof(lz_sgd_options), .lr = 1e-3, ##__VA_ARGS__}
#define LZ_ADAM_OPTIONS(...)                                                                       \
    {.struct_size = sizeof(lz_adam_options), .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, ##__VA_ARGS__}
#endif
#define lz_sgd(ps, ...)                                                                            \
    __extension__({                                                                                \
        LZ_OVERRIDE_BEGIN const lz_sgd_options lz_o_ = LZ_SGD_OPTIONS(__VA_ARGS__);                \
        LZ_OVERRIDE_END lz_sgd_new_at((ps), &lz_o_, LZ_SITE);                                      \
    })
#define lz_adam(ps, ...)                                                                           \
    __extension__({                                                                                \
        LZ_OVERRIDE_BEGIN const lz_adam_options lz_o_ = LZ_ADAM_OPTIONS(__VA_ARGS__);              \
        LZ_OVERRIDE_END lz_adam_new_at((ps), &lz_o_, LZ_SITE);                                     \
    })
/* Records the update of every parameter that has a gradient (lz_backward). LZ_ENULL, LZ_EMEM, errors of
 * the gradients. */
LZ_API lz_status lz_optim_step_at(lz_optim *o, const lz_site *site);
#define lz_optim_step(o) lz_optim_step_at((o), LZ_SITE)
LZ_API lz_status lz_optim_zero_grad(lz_optim *o);     /* forgets the gradients */
LZ_API lz_status lz_optim_set_lr(lz_optim *o, double lr);  /* for the next steps; compiles nothing. LZ_EINVAL when negative or not finite */
LZ_API double lz_optim_lr(const lz_optim *o);         /* NaN for NULL */
LZ_API void lz_optim_free(lz_optim *o);               /* and its state, not the parameters. NULL is fine */
/* Schedules: pure functions of the step, which counts from 0.
 * cosine: base * (step + 1) / warmup during the warm-up, then half a cosine from base to final_lr at step `total` (Loshchilov and Hutter 2017, without
 * restarts). step: base * factor^(step / every), rounded down; every <= 0: base. */
LZ_API double lz_lr_cosine(double base, int64_t step, int64_t total, int64_t warmup, double final_lr);
LZ_API double lz_lr_step(double base, int64_t step, int64_t every, double factor);
LZ_EXTERN_C_END
#endif
