/* optim_rule.h - internals of optimizers, scaler and averages: groups of parameters, their state,
 * and the update rule. Threads: thread-compatible, but for saving: another thread may save an
 * optimizer that this one uses. What is on the host of it is written under its lock, and its count
 * of steps is a tensor, too: a snapshot says which steps of the counts it is to see. */
#ifndef LZ_NN_OPTIM_RULE_H
#define LZ_NN_OPTIM_RULE_H
#include "base/mutex.h"
#include "nn/nn_internal.h"
#include "runtime/graph/host_event.h"
#include <lazuli/amp.h>

/* State per parameter: up to three states of the rule; and an f32 of rank 0, the number of its
 *   skipped steps, where it differs from the optimizer's count. */
enum { LZ_OPTIM_STATES = 3, LZ_OPTIM_SKIPPED = LZ_OPTIM_STATES, LZ_OPTIM_SLOTS };
enum { LZ_OPTIM_HISTORY = 64 }; /* steps that may be recorded and not run while it is saved */
struct lz_optim_update;
typedef struct lz_optim_rule {
    const char *name;                    /* names in checkpoints */
    const char *states[LZ_OPTIM_STATES]; /* torch's names; NULL: not used */
    lz_status (*update)(const struct lz_optim_update *u);
} lz_optim_rule;

/* Index i is that of the parameter in its list. */
typedef struct lz_optim_group {
    lz_params *params;
    double lr_scale, weight_decay;
    lz_tensor **state[LZ_OPTIM_SLOTS]; /* NULL until the first step of the parameter */
    int64_t *step;                     /* steps of the parameter */
    uint64_t *recent;                  /* bit k: it took part in the optimizer's k-th last step */
    size_t n;                          /* parameters that have room above */
} lz_optim_group;

struct lz_optim {
    const lz_optim_rule *rule;
    double lr;
    union {
        lz_sgd_options sgd;
        lz_adam_options adam;
        lz_rmsprop_options rmsprop;
        lz_adagrad_options adagrad;
        lz_lion_options lion;
    };
    lz_mutex lock;    /* held to write what follows, to read it where the owner does not */
    uint64_t version; /* rises when one of the tensors here becomes another */
    lz_optim_group *groups;
    size_t ngroups;
    int64_t count;                /* its steps */
    lz_tensor *counted;           /* the same as a tensor, i64; NULL before the first */
    double lrs[LZ_OPTIM_HISTORY]; /* rate of step k, at k % LZ_OPTIM_HISTORY */
    int64_t lr_count;             /* its steps when lr was set, */
    pthread_t lr_setter;          /* by which thread */
    /* f32, rank 0: number of skipped steps; NULL: none can be */
    lz_tensor *skipped;
    lz_host *host; /* what functions that were recorded with it know of it */
};

/* One update: parameter p with gradient g. */
typedef struct lz_optim_update {
    lz_optim *o;
    lz_optim_group *group;
    size_t i;
    lz_tensor *p, *g;
    lz_tensor *skip;    /* boolean, rank 0: the step is skipped; NULL: it is not */
    lz_tensor *skipped; /* number of skipped steps so far; NULL: none */
    const lz_site *site;
} lz_optim_update;

/* Numbers of a step, of the rate lr of a parameter and its number t (from 1). In a function that is
 * recorded they are of each call. */
typedef enum lz_optim_number_kind {
    LZ_RATE,           /* lr */
    LZ_KEPT_SHARE,     /* 1 - lr a */
    LZ_STEP,           /* t */
    LZ_BIAS_ROOT,      /* 1 / sqrt(1 - a^t) */
    LZ_BIAS_RATE,      /* lr / (1 - a^t) */
    LZ_DECAYING_RATE,  /* lr / (1 + (t - 1) a) */
    LZ_FIRST_ONE,      /* 1 at the first step, then a */
    LZ_NEXT_STEP_COUNT /* the optimizer's count with the step that begins */
} lz_optim_number_kind;
/* As a rank-0 tensor of the dtype. */
lz_tensor *lz_optim_number(const lz_optim_update *u, lz_optim_number_kind kind, double a,
                           lz_dtype dtype);

extern const lz_optim_rule lz_rule_sgd, lz_rule_adam, lz_rule_rmsprop, lz_rule_adagrad,
    lz_rule_lion;
/* Room for the state of every parameter in the lists. */
lz_status lz_optim_reserve(lz_optim *o, const char *op, const lz_site *site);
/* *slot becomes t, retained, where others may be saving; it is outside of a body that is recorded.
 */
void lz_optim_publish(lz_optim *o, lz_tensor **slot, lz_tensor *t);

/* The number of skipped steps of parameter i; NULL: none. */
static inline lz_tensor *lz_optim_skipped(const lz_optim *o, const lz_optim_group *g, size_t i)
{
    return g->state[LZ_OPTIM_SKIPPED][i] ? g->state[LZ_OPTIM_SKIPPED][i] : o->skipped;
}
/* lz_optim_step as part of `op`; skip: as above. */
lz_status lz_optim_step_unless(lz_optim *o, lz_tensor *skip, const char *op, const lz_site *site);

struct lz_grad_scaler {
    lz_grad_scaler_options options;
    lz_tensor *scale, *growth_tracker; /* f32 and i32, rank 0 */
    struct lz_scaled {
        lz_optim *optim;
        lz_tensor *found_inf; /* boolean, rank 0 */
        bool stepped;
    } * done; /* since the last update */
    size_t ndone, capacity;
    lz_host *host;
    bool recorded; /* a function that uses it is being recorded */
};

struct lz_ema {
    lz_params *params;
    lz_params average;
    double decay;
};
#endif
