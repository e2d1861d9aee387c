/* optim.h - optimizers, gradient clipping, averages, checkpoints, learning-rate schedules. A step
 * is recorded, not run: lz_mark_step runs it fused with the backward pass. Learning rates are
 * run-time arguments: changing them compiles nothing.
 * Implemented in: nn/optim_create.c, nn/optim.c, nn/clip.c, nn/ema.c, nn/state.c,
 *   nn/state_load.c, nn/checkpoint_manager.c, nn/lr_schedule.c. */
#ifndef LAZULI_OPTIM_H
#define LAZULI_OPTIM_H
#include <lazuli/nn.h>
LZ_EXTERN_C_BEGIN
typedef struct lz_optim lz_optim;
typedef struct lz_grad_scaler lz_grad_scaler; /* amp.h */

/* ---- optimizers: names, formulas and defaults of torch.optim. Gradients whose squares no number
 * holds move the parameter all the same: a mean of squares v (exp_avg_sq, square_avg, sum) of a
 * quarter of 2^E or more, where the dtype ends at 2^E, is stored as -v 2^-E. ---- */
typedef struct lz_sgd_options { /* torch.optim.SGD */
    size_t struct_size LZ_DEFAULT(sizeof(lz_sgd_options));
    double lr LZ_DEFAULT(1e-3);        /* learning rate */
    double momentum LZ_DEFAULT(0);     /* decay of the running sum of gradients; 0: none */
    double dampening LZ_DEFAULT(0);    /* of a gradient as it is added to the sum */
    double weight_decay LZ_DEFAULT(0); /* times the parameter is added to the gradient */
    bool nesterov LZ_DEFAULT(false);   /* look ahead by the momentum */
} lz_sgd_options;
typedef struct lz_adam_options { /* torch.optim.Adam: Kingma and Ba 2015 */
    size_t struct_size LZ_DEFAULT(sizeof(lz_adam_options));
    double lr LZ_DEFAULT(1e-3);        /* learning rate */
    double beta1 LZ_DEFAULT(0.9);      /* decay of the mean of gradients */
    double beta2 LZ_DEFAULT(0.999);    /* decay of the mean of squares */
    double eps LZ_DEFAULT(1e-8);       /* is added to the denominator */
    double weight_decay LZ_DEFAULT(0); /* times the parameter is added to the gradient */
    bool decoupled LZ_DEFAULT(false);  /* weight decay as in AdamW */
    bool amsgrad LZ_DEFAULT(false);    /* Reddi et al. 2018 */
} lz_adam_options;
/* torch.optim.AdamW: Loshchilov and Hutter 2019 */
typedef struct lz_adamw_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_adamw_options));
    double lr LZ_DEFAULT(1e-3);           /* learning rate */
    double beta1 LZ_DEFAULT(0.9);         /* decay of the mean of gradients */
    double beta2 LZ_DEFAULT(0.999);       /* decay of the mean of squares */
    double eps LZ_DEFAULT(1e-8);          /* is added to the denominator */
    double weight_decay LZ_DEFAULT(1e-2); /* decoupled: the parameter shrinks by lr times this */
    bool amsgrad LZ_DEFAULT(false);       /* Reddi et al. 2018 */
} lz_adamw_options;
/* torch.optim.RMSprop: Hinton 2012; centered: Graves 2013 */
typedef struct lz_rmsprop_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_rmsprop_options));
    double lr LZ_DEFAULT(1e-2);        /* learning rate */
    double alpha LZ_DEFAULT(0.99);     /* decay of the mean of squares */
    double eps LZ_DEFAULT(1e-8);       /* is added to the denominator */
    double weight_decay LZ_DEFAULT(0); /* times the parameter is added to the gradient */
    double momentum LZ_DEFAULT(0);     /* decay of the running sum of steps; 0: none */
    bool centered LZ_DEFAULT(false);   /* divide by the deviation instead of the root mean square */
} lz_rmsprop_options;
typedef struct lz_adagrad_options { /* torch.optim.Adagrad: Duchi et al. 2011 */
    size_t struct_size LZ_DEFAULT(sizeof(lz_adagrad_options));
    double lr LZ_DEFAULT(1e-2);        /* learning rate */
    double lr_decay LZ_DEFAULT(0);     /* lr / (1 + lr_decay step) */
    double weight_decay LZ_DEFAULT(0); /* times the parameter is added to the gradient */
    double initial_accumulator_value LZ_DEFAULT(0); /* initial value of the sums of squares */
    double eps LZ_DEFAULT(1e-10);                   /* is added to the denominator */
} lz_adagrad_options;
/* Chen et al. 2023, algorithm 2; weight decay is decoupled */
typedef struct lz_lion_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_lion_options));
    double lr LZ_DEFAULT(1e-4);        /* learning rate */
    double beta1 LZ_DEFAULT(0.9);      /* weight of the momentum in the step */
    double beta2 LZ_DEFAULT(0.99);     /* decay of the momentum */
    double weight_decay LZ_DEFAULT(0); /* decoupled: the parameter shrinks by lr times this */
} lz_lion_options;
/* The optimizer refers to ps, which must outlive it. NULL with an error recorded (LZ_ENULL;
 * LZ_EINVAL names the option; LZ_EMEM). Options NULL: the defaults. */
LZ_API lz_optim *lz_sgd_new_at(lz_params *ps, const lz_sgd_options *o, const lz_site *site);
LZ_API lz_optim *lz_adam_new_at(lz_params *ps, const lz_adam_options *o, const lz_site *site);
LZ_API lz_optim *lz_adamw_new_at(lz_params *ps, const lz_adamw_options *o, const lz_site *site);
LZ_API lz_optim *lz_rmsprop_new_at(lz_params *ps, const lz_rmsprop_options *o, const lz_site *site);
LZ_API lz_optim *lz_adagrad_new_at(lz_params *ps, const lz_adagrad_options *o, const lz_site *site);
LZ_API lz_optim *lz_lion_new_at(lz_params *ps, const lz_lion_options *o, const lz_site *site);
/* lz_sgd(&params, .lr = 0.1, .momentum = 0.9): fields left out have torch's defaults. */
#define LZ_SGD_DEFAULTS .lr = 1e-3
#define LZ_ADAM_DEFAULTS .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8
#define LZ_ADAMW_DEFAULTS LZ_ADAM_DEFAULTS, .weight_decay = 1e-2
#define LZ_RMSPROP_DEFAULTS .lr = 1e-2, .alpha = 0.99, .eps = 1e-8
#define LZ_ADAGRAD_DEFAULTS .lr = 1e-2, .eps = 1e-10
#define LZ_LION_DEFAULTS .lr = 1e-4, .beta1 = 0.9, .beta2 = 0.99
#define LZ_OPTIM_NEW(name, NAME, ps, ...)                                                          \
    LZ_OVERRIDING(lz_##name##_new_at(                                                              \
        ps, LZ_DEFAULTED(lz_##name##_options, LZ_##NAME##_DEFAULTS, __VA_ARGS__), LZ_SITE))
#define lz_sgd(...) LZ_ARGS_sgd(__VA_ARGS__, )
#define LZ_ARGS_sgd(ps, ...) LZ_OPTIM_NEW(sgd, SGD, ps, __VA_ARGS__)
#define lz_adam(...) LZ_ARGS_adam(__VA_ARGS__, )
#define LZ_ARGS_adam(ps, ...) LZ_OPTIM_NEW(adam, ADAM, ps, __VA_ARGS__)
#define lz_adamw(...) LZ_ARGS_adamw(__VA_ARGS__, )
#define LZ_ARGS_adamw(ps, ...) LZ_OPTIM_NEW(adamw, ADAMW, ps, __VA_ARGS__)
#define lz_rmsprop(...) LZ_ARGS_rmsprop(__VA_ARGS__, )
#define LZ_ARGS_rmsprop(ps, ...) LZ_OPTIM_NEW(rmsprop, RMSPROP, ps, __VA_ARGS__)
#define lz_adagrad(...) LZ_ARGS_adagrad(__VA_ARGS__, )
#define LZ_ARGS_adagrad(ps, ...) LZ_OPTIM_NEW(adagrad, ADAGRAD, ps, __VA_ARGS__)
#define lz_lion(...) LZ_ARGS_lion(__VA_ARGS__, )
#define LZ_ARGS_lion(ps, ...) LZ_OPTIM_NEW(lion, LION, ps, __VA_ARGS__)

/* One more group of parameters, with its own rate and weight decay (none on biases, say). A
 * parameter belongs in one group only. ps must outlive the optimizer. LZ_ENULL, LZ_EINVAL,
 * LZ_EMEM. */
typedef struct lz_group_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_group_options));
    double lr_scale LZ_DEFAULT(1);     /* times the optimizer's rate */
    double weight_decay LZ_DEFAULT(0); /* instead of the optimizer's */
} lz_group_options;
LZ_API lz_status lz_optim_add_group_at(lz_optim *o, lz_params *ps, const lz_group_options *g,
                                       const lz_site *site);
#define lz_optim_add_group(...) LZ_ARGS_optim_add_group(__VA_ARGS__, )
#define LZ_ARGS_optim_add_group(o, ps, ...)                                                        \
    LZ_OVERRIDING(lz_optim_add_group_at(                                                           \
        o, ps, LZ_DEFAULTED(lz_group_options, .lr_scale = 1, __VA_ARGS__), LZ_SITE))

/* Records the update of every parameter that has a gradient (lz_backward); others keep value and
 * state. LZ_ENULL, LZ_EMEM, errors of the gradients. */
LZ_API lz_status lz_optim_step_at(lz_optim *o, const lz_site *site);
#define lz_optim_step(o) lz_optim_step_at(o, LZ_SITE)
/* Forgets the gradients. Without it the next lz_backward adds to them: gradient accumulation. */
LZ_API lz_status lz_optim_zero_grad(lz_optim *o);
/* The learning rate of the next steps; compiles nothing. LZ_EINVAL when negative or not finite. */
LZ_API lz_status lz_optim_set_lr(lz_optim *o, double lr);
/* The learning rate; NaN for NULL. */
LZ_API double lz_optim_lr(const lz_optim *o);
/* Ends the optimizer and its state, not the parameters. NULL is fine. */
LZ_API void lz_optim_free(lz_optim *o);

/* ---- gradients ---- */
/* torch.nn.utils.clip_grad_norm_: gradients times min(1, max_norm / (total + 1e-6)), where total is
 * the norm of all gradients as one vector; norm_type 2, 1, any p > 0, or INFINITY. Gives total,
 * rank 0: reading it is not needed. Errors as an error tensor: LZ_ENULL, LZ_EINVAL; 0 without
 * gradients. */
LZ_API lz_tensor *lz_clip_grad_norm_at(const lz_params *ps, double max_norm, double norm_type,
                                       const lz_site *site);
/* torch.nn.utils.clip_grad_value_: every element to [-value, value]. LZ_ENULL, LZ_EINVAL. */
LZ_API lz_status lz_clip_grad_value_at(const lz_params *ps, double value, const lz_site *site);
#define lz_clip_grad_norm(ps, max_norm, norm_type)                                                 \
    lz_clip_grad_norm_at(ps, max_norm, norm_type, LZ_SITE)
#define lz_clip_grad_value(ps, value) lz_clip_grad_value_at(ps, value, LZ_SITE)

/* ---- exponential moving average of parameters (torch.optim.swa_utils.get_ema_multi_avg_fn)
 * ---- */
typedef struct lz_ema lz_ema;
/* Averages start from the present values; buffers and what is not floating point are followed, not
 * averaged. decay in [0, 1]. NULL with an error recorded. */
LZ_API lz_ema *lz_ema_new_at(lz_params *ps, double decay, const lz_site *site);
#define lz_ema_new(ps, decay) lz_ema_new_at(ps, decay, LZ_SITE)
/* Records average += (1 - decay) (parameter - average); after a step. */
LZ_API lz_status lz_ema_update_at(lz_ema *e, const lz_site *site);
#define lz_ema_update(e) lz_ema_update_at(e, LZ_SITE)
/* Exchanges averages and parameters: for an evaluation, and again afterwards. */
LZ_API lz_status lz_ema_swap_at(lz_ema *e, const lz_site *site);
#define lz_ema_swap(e) lz_ema_swap_at(e, LZ_SITE)
/* The averages, under the parameters' names; NULL for NULL. */
LZ_API const lz_params *lz_ema_params(const lz_ema *e);
/* Ends the averages. NULL is fine. */
LZ_API void lz_ema_free(lz_ema *e);

/* ---- checkpoints: all that a training continues from, in one safetensors file, bit for bit
 * ---- */
typedef struct lz_checkpoint {
    size_t struct_size LZ_DEFAULT(sizeof(lz_checkpoint));
    /* parameters and buffers; this and each of the others may be NULL */
    lz_params *params LZ_DEFAULT(nullptr);
    lz_optim *optim LZ_DEFAULT(nullptr);        /* its state and learning rate */
    lz_ema *ema LZ_DEFAULT(nullptr);            /* the averages */
    lz_grad_scaler *scaler LZ_DEFAULT(nullptr); /* its scale and counts */
    int64_t step LZ_DEFAULT(0);                 /* >= 0; saved; filled in by loading */
} lz_checkpoint;
/* Writes a checkpoint, or replaces the file, whole or not at all. Parameters are saved under their
 * names (other programs can read them), state of the optimizer as optimizer/<what>/<name>, averages
 * as ema/<name>, the scaler's as scaler/<what>; the rate, the step and the state of the random
 * numbers are metadata. A snapshot, as that of lz_save_safetensors: while another thread trains,
 * all of it but `step`, which is the caller's, is of one step of that thread. LZ_ESTATE: that
 * thread has recorded 64 steps of the optimizer and no lz_mark_step. Errors: as lz_params_save, and
 * LZ_EINVAL for a negative step. */
LZ_MUST_USE LZ_API lz_status lz_checkpoint_save_at(const char *path, const lz_checkpoint *c,
                                                   const lz_site *site);
/* Restores all that lz_checkpoint_save wrote, or what is in the folder of a step of a checkpoint
 * manager (the optimizer must be of the kind that was saved, LZ_EINVAL); on error nothing is
 * changed. A step, rate, state of the random numbers or of the scaler that lz_checkpoint_save would
 * not write is LZ_ECORRUPT, or LZ_EDTYPE. Where the scaler's growth_interval is another than that
 * of the file, the scale grows after the good step with which its count is at least the new one.
 * Loading assigns: with an lz_mark_step after it, the next step of the training is one like all
 * others, and compiles nothing. Errors: as lz_params_load. */
LZ_MUST_USE LZ_API lz_status lz_checkpoint_load_at(const char *path, lz_checkpoint *c,
                                                   const lz_site *site);
#define lz_checkpoint_save(path, c) lz_checkpoint_save_at(path, c, LZ_SITE)
#define lz_checkpoint_load(path, c) lz_checkpoint_load_at(path, c, LZ_SITE)

/* ---- many checkpoints of a training, in a folder: which are kept, which is the newest that is
 * whole, and how a training that was interrupted goes on. A checkpoint is a folder, DIR/step_N:
 * safetensors files with the parts that devices have of tensors, each once, and a manifest. It is
 * there whole or not at all, whenever the process is killed, and may be loaded on any mesh: each
 * device is given its part. Processes may share DIR. A manager belongs to one thread at a time;
 * another may train meanwhile. Guide and example: docs/checkpoints.md. Source: PyTorch/XLA's
 * torch_xla.experimental.distributed_checkpoint.CheckpointManager. ---- */
typedef struct lz_checkpoint_manager lz_checkpoint_manager;
/* A checkpoint is kept that one of max_to_keep, keep_best and keep_period asks for; all are where
 * none of them does. */
typedef struct lz_checkpoint_manager_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_checkpoint_manager_options));
    /* steps that are multiples of it are saved; >= 1 */
    int64_t save_interval LZ_DEFAULT(1);
    int64_t max_to_keep LZ_DEFAULT(0); /* this many of the newest; 0: see above */
    int64_t keep_best LZ_DEFAULT(0);   /* this many of the best by best_metric */
    /* A metric that checkpoints are saved with. Those without it, or with NaN, are the worst. */
    const char *best_metric LZ_DEFAULT(nullptr);
    bool best_is_highest LZ_DEFAULT(false); /* accuracy, not a loss */
    int64_t keep_period LZ_DEFAULT(0);      /* steps that are multiples of it are kept for ever */
    /* asynchronous saves that may wait, each with a copy of all values, 1..64 */
    int max_pending_async LZ_DEFAULT(1);
    /* SIGTERM is no end but asks for a checkpoint: lz_checkpoint_manager_reached_preemption */
    bool chkpt_on_preemption LZ_DEFAULT(false);
} lz_checkpoint_manager_options;
#define LZ_CHECKPOINT_MANAGER_DEFAULTS .save_interval = 1, .max_pending_async = 1
/* The manager of a folder, which is made where it is not there; what killed processes left in it is
 * swept. NULL with an error recorded: LZ_ENULL, LZ_EINVAL (names the option), LZ_EPERM, LZ_EIO,
 * LZ_EMEM. With chkpt_on_preemption it handles SIGTERM until the last such manager ends, and calls
 * the handler of before. */
LZ_API lz_checkpoint_manager *lz_checkpoint_manager_new_at(const char *path,
                                                           const lz_checkpoint_manager_options *o,
                                                           const lz_site *site);
#define lz_checkpoint_manager_new(...) LZ_ARGS_checkpoint_manager_new(__VA_ARGS__, )
#define LZ_ARGS_checkpoint_manager_new(path, ...)                                                  \
    LZ_OVERRIDING(lz_checkpoint_manager_new_at(                                                    \
        path,                                                                                      \
        LZ_DEFAULTED(lz_checkpoint_manager_options, LZ_CHECKPOINT_MANAGER_DEFAULTS, __VA_ARGS__),  \
        LZ_SITE))
/* Waits for what is being saved, and ends the manager. A failure that nobody has been given is
 * logged. NULL is fine. */
LZ_API void lz_checkpoint_manager_free(lz_checkpoint_manager *m);

/* A number that is saved with a checkpoint: a loss, an accuracy, where the data stand. */
typedef struct lz_checkpoint_metric {
    const char *name;
    double value;
} lz_checkpoint_metric;
typedef struct lz_checkpoint_save_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_checkpoint_save_options));
    bool
        force LZ_DEFAULT(false); /* also a step that lz_checkpoint_manager_should_save is not for */
    const lz_checkpoint_metric *metrics LZ_DEFAULT(nullptr); /* nmetrics of them */
    size_t nmetrics LZ_DEFAULT(0);                           /* how many metrics there are */
} lz_checkpoint_save_options;
/* Whether lz_checkpoint_manager_save of this step would save: it is a multiple of save_interval, or
 * the process is to end (preemption), and it is not saved yet. */
LZ_API bool lz_checkpoint_manager_should_save(lz_checkpoint_manager *m, int64_t step);
/* Saves c as of this step, which counts instead of c->step, where should_save says so or it is
 * forced; else does nothing. It is on the disk afterwards, and then those that nothing asks for are
 * removed. A snapshot, as that of lz_checkpoint_save. Errors: that of an earlier asynchronous save,
 * which is given once, and then nothing is saved; LZ_EEXIST (the step is there: another process's,
 * or forced twice), LZ_ENULL, LZ_EINVAL, and those of lz_checkpoint_save; then nothing of it is
 * there. */
LZ_MUST_USE LZ_API lz_status lz_checkpoint_manager_save_at(lz_checkpoint_manager *m, int64_t step,
                                                           const lz_checkpoint *c,
                                                           const lz_checkpoint_save_options *o,
                                                           const lz_site *site);
/* The same, but what is written by a thread of the manager's is a copy of the values, which this
 * call makes: training goes on, and may update them, as soon as it returns. It waits while
 * max_pending_async saves are not done. Failures of writing are given by the next call of save,
 * save_async or join. */
LZ_MUST_USE LZ_API lz_status
lz_checkpoint_manager_save_async_at(lz_checkpoint_manager *m, int64_t step, const lz_checkpoint *c,
                                    const lz_checkpoint_save_options *o, const lz_site *site);
#define lz_checkpoint_manager_save(...) LZ_ARGS_checkpoint_manager_save(__VA_ARGS__, )
#define LZ_ARGS_checkpoint_manager_save(m, step, c, ...)                                           \
    lz_checkpoint_manager_save_at(m, step, c,                                                      \
                                  LZ_OPTIONS_OF(lz_checkpoint_save_options, __VA_ARGS__), LZ_SITE)
#define lz_checkpoint_manager_save_async(...) LZ_ARGS_checkpoint_manager_save_async(__VA_ARGS__, )
#define LZ_ARGS_checkpoint_manager_save_async(m, step, c, ...)                                     \
    lz_checkpoint_manager_save_async_at(                                                           \
        m, step, c, LZ_OPTIONS_OF(lz_checkpoint_save_options, __VA_ARGS__), LZ_SITE)
/* Waits until all asynchronous saves are done. The error of one, which is given once; LZ_ENULL. */
LZ_MUST_USE LZ_API lz_status lz_checkpoint_manager_join_at(lz_checkpoint_manager *m,
                                                           const lz_site *site);
#define lz_checkpoint_manager_join(m) lz_checkpoint_manager_join_at(m, LZ_SITE)

enum { LZ_LATEST_STEP = -1 };
/* Restores all of c, and c->step, or nothing. LZ_LATEST_STEP: of the newest checkpoint that is
 * whole; one that is damaged is passed over, with a warning that says why. Waits for asynchronous
 * saves. LZ_ENOENT: there is no such step, or none at all; LZ_ECORRUPT, LZ_EPARSE, LZ_EIO: the step
 * that was asked for, or every one, is damaged. What does not fit the program is an error and never
 * passed over: those of lz_checkpoint_load, as are what follows it, LZ_EPERM (it may not be read)
 * and LZ_EUNSUPPORTED (a later version of the library wrote it). */
LZ_MUST_USE LZ_API lz_status lz_checkpoint_manager_restore_at(lz_checkpoint_manager *m,
                                                              int64_t step, lz_checkpoint *c,
                                                              const lz_site *site);
#define lz_checkpoint_manager_restore(m, step, c)                                                  \
    lz_checkpoint_manager_restore_at(m, step, c, LZ_SITE)
/* Copies the first n of the steps that are there, ascending, and gives their number: also of those
 * that are damaged, but of none that is being written. out may be NULL when n is 0. -1 with
 * LZ_ENULL, LZ_EIO, LZ_EMEM. */
LZ_API int64_t lz_checkpoint_manager_all_steps(lz_checkpoint_manager *m, int64_t *out, int64_t n);
/* The newest step that is whole, all of whose bytes are read for it; -1: there is none, or, with an
 * error recorded, one cannot be read that may be whole (LZ_EPERM, LZ_EUNSUPPORTED, LZ_EMEM,
 * LZ_EIO). A warning says why one is passed over. */
LZ_API int64_t lz_checkpoint_manager_latest_step(lz_checkpoint_manager *m);
/* A number that a step was saved with. LZ_ENOENT: no such step, or it has none of the name;
 * LZ_ECORRUPT, LZ_ENULL. */
LZ_API lz_status lz_checkpoint_manager_metric(lz_checkpoint_manager *m, int64_t step,
                                              const char *name, double *out);
/* Whether SIGTERM has come since the manager was made, which needs chkpt_on_preemption: this step
 * is to be the last one, and saved. Then should_save is true of it. A program of several processes
 * calls it in each of them, with the same step. False for NULL. */
LZ_API bool lz_checkpoint_manager_reached_preemption(lz_checkpoint_manager *m, int64_t step);

/* ---- schedules: pure functions of the step, which counts from 0; give the result to
 * lz_optim_set_lr. Formulas of torch.optim.lr_scheduler ---- */
/* base * (step + 1) / warmup during the warm-up, then half a cosine from base to final_lr at step
 * `total`. Loshchilov and Hutter 2017, without restarts. */
LZ_API double lz_lr_cosine(double base, int64_t step, int64_t total, int64_t warmup,
                           double final_lr);
/* StepLR: base * factor^(step / every), rounded down; every <= 0: base. */
LZ_API double lz_lr_step(double base, int64_t step, int64_t every, double factor);
/* MultiStepLR: base * factor^(number of the n milestones that are <= step). */
LZ_API double lz_lr_multistep(double base, int64_t step, const int64_t *milestones, size_t n,
                              double factor);
/* ExponentialLR: base * factor^step. */
LZ_API double lz_lr_exponential(double base, int64_t step, double factor);
/* LinearLR, the warm-up: base times a factor that goes from start to end in `total` steps and stays
 * there. */
LZ_API double lz_lr_linear(double base, int64_t step, int64_t total, double start, double end);
/* PolynomialLR: base * (1 - step / total)^power, then 0. */
LZ_API double lz_lr_polynomial(double base, int64_t step, int64_t total, double power);
/* OneCycleLR, cosine: from max_lr / div up to max_lr in pct_start of the `total` steps, then down
 * to max_lr / div / final_div at the last. torch's defaults: pct_start 0.3, div 25, final_div
 * 1e4. */
LZ_API double lz_lr_one_cycle(double max_lr, int64_t step, int64_t total, double pct_start,
                              double div, double final_div);
LZ_EXTERN_C_END
#endif
