/* optim_rule.h - an optimizer from inside: groups of parameters, their state, and the rule that
 * moves one parameter.
 * Threads: thread-compatible. */
#ifndef LZ_NN_OPTIM_RULE_H
#define LZ_NN_OPTIM_RULE_H
#include "nn/internal.h"
#include <lazuli/optim.h>

enum { LZ_OPTIM_STATES = 3 };
struct lz_optim_update;
typedef struct lz_optim_rule {
    const char *name;                    /* as in checkpoints */
    const char *states[LZ_OPTIM_STATES]; /* torch's names; NULL: not used */
    lz_status (*update)(const struct lz_optim_update *u);
} lz_optim_rule;

/* Index i is that of the parameter in its list. */
typedef struct lz_optim_group {
    lz_params *params;
    double lr_scale, weight_decay;
    lz_tensor **state[LZ_OPTIM_STATES]; /* NULL until the first step of the parameter */
    int64_t *step;                      /* steps of the parameter */
    size_t n;                           /* parameters that have room above */
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
    lz_optim_group *groups;
    size_t ngroups;
};

/* What a rule updates: parameter p with its gradient g, as step number `step` (from 1) at rate
 * `lr`. */
typedef struct lz_optim_update {
    lz_optim *o;
    lz_optim_group *group;
    size_t i;
    int64_t step;
    double lr;
    lz_tensor *p, *g;
    const lz_site *site;
} lz_optim_update;

extern const lz_optim_rule lz_rule_sgd, lz_rule_adam, lz_rule_rmsprop, lz_rule_adagrad,
    lz_rule_lion;
/* Room for the state of every parameter in the lists. */
lz_status lz_optim_reserve(lz_optim *o, const char *op, const lz_site *site);

struct lz_ema {
    lz_params *params;
    lz_params average;
    double decay;
};
#endif
