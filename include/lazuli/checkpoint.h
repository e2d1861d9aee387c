/* checkpoint.h - the checkpoints of a training, in a folder: which are kept, which is the newest
 * that is whole, and how a training that was interrupted goes on (PyTorch/XLA's
 * torch_xla.experimental.distributed_checkpoint.CheckpointManager, Orbax's CheckpointManager).
 *
 *     lz_checkpoint_manager *m = lz_checkpoint_manager_new("runs/7", .save_interval = 100,
 * .max_to_keep = 3); lz_checkpoint c = {.struct_size = sizeof c, .params = &params, .optim =
 * optim}; if (lz_checkpoint_manager_restore(m, LZ_LATEST_STEP, &c) == LZ_OK) lz_mark_step(); while
 * (c.step < steps) { train(c.step++); lz_checkpoint_manager_save_async(m, c.step, &c); if
 * (lz_checkpoint_manager_reached_preemption(m, c.step)) break;
 *     }
 *     lz_checkpoint_manager_join(m);
 *
 * A checkpoint is a folder, DIR/step_N: safetensors files with the parts that devices have of
 * tensors, each part once, and a manifest (docs/reference/checkpoint-format.md). It is there whole
 * or not at all, whenever the process is killed. It may be loaded on any mesh: each device is given
 * its part. A folder may be shared by processes.
 * Threads: a manager belongs to one thread at a time; another may train meanwhile.
 * Implemented in: nn/checkpoint_manager.c, nn/checkpoint_queue.c, nn/preemption.c. */
#ifndef LAZULI_CHECKPOINT_H
#define LAZULI_CHECKPOINT_H
#include <lazuli/amp.h>
LZ_EXTERN_C_BEGIN

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
    size_t nmetrics LZ_DEFAULT(0);
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
 * passed over: those of lz_checkpoint_load, as are what follows it. */
LZ_MUST_USE LZ_API lz_status lz_checkpoint_manager_restore_at(lz_checkpoint_manager *m,
                                                              int64_t step, lz_checkpoint *c,
                                                              const lz_site *site);
#define lz_checkpoint_manager_restore(m, step, c)                                                  \
    lz_checkpoint_manager_restore_at(m, step, c, LZ_SITE)
/* Copies the first n of the steps that are there, ascending, and gives their number: also of those
 * that are damaged, but of none that is being written. out may be NULL when n is 0. -1 with
 * LZ_ENULL, LZ_EIO, LZ_EMEM. */
LZ_API int64_t lz_checkpoint_manager_all_steps(lz_checkpoint_manager *m, int64_t *out, int64_t n);
/* The newest step that is whole, all of whose bytes are read for it; -1: there is none. A warning
 * says why one is passed over. */
LZ_API int64_t lz_checkpoint_manager_latest_step(lz_checkpoint_manager *m);
/* A number that a step was saved with. LZ_ENOENT: no such step, or it has none of the name;
 * LZ_ECORRUPT, LZ_ENULL. */
LZ_API lz_status lz_checkpoint_manager_metric(lz_checkpoint_manager *m, int64_t step,
                                              const char *name, double *out);
/* Whether SIGTERM has come since the manager was made, which needs chkpt_on_preemption: this step
 * is to be the last one, and saved. Then should_save is true of it. A program of several processes
 * calls it in each of them, with the same step. False for NULL. */
LZ_API bool lz_checkpoint_manager_reached_preemption(lz_checkpoint_manager *m, int64_t step);
LZ_EXTERN_C_END
#endif
