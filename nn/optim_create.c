/* optim_create.c - constructors of optimizers: defaults, and checks of each option. */
#include "nn/optim_rule.h"
#include <math.h>
#include <string.h>

static lz_optim *create(const lz_optim_rule *rule, lz_params *ps, double lr, double weight_decay,
                        const char *op, const lz_site *site)
{
    if (!ps) {
        LZ_NN_FAIL(LZ_ENULL, op, site, "the parameter list is NULL");
        return NULL;
    }
    lz_optim *o = lz_calloc(1, sizeof *o);
    lz_optim_group *g = o ? lz_calloc(1, sizeof *g) : NULL;
    lz_host *host = g ? lz_host_new(o, "optimizer") : NULL;
    if (!host) {
        LZ_NN_FAIL(LZ_EMEM, op, site, "no memory for the optimizer");
        lz_free(g);
        lz_free(o);
        return NULL;
    }
    *g = (lz_optim_group){.params = ps, .lr_scale = 1, .weight_decay = weight_decay};
    lz_mutex_init(&o->lock, "optim");
    o->rule = rule;
    o->lr = lr;
    o->groups = g;
    o->ngroups = 1;
    o->host = host;
    return o;
}

/* The caller's options over the defaults: a program built with an older header gives fewer
 * fields. */
static bool take(void *dst, size_t have, const void *src, const char *op, const lz_site *site)
{
    if (!src)
        return true;
    size_t n = *(const size_t *)src;
    if (n < sizeof n || n > have) {
        LZ_NN_FAIL(LZ_EINVAL, op, site, "struct_size is %zu: set it to the size of the struct", n);
        return false;
    }
    memcpy(dst, src, n);
    return true;
}

/* The valid range of an option; NaN is in none. */
typedef enum need { NON_NEGATIVE, BELOW_ONE, FINITE } need;

typedef struct checker {
    const char *op;
    const lz_site *site;
    bool ok;
} checker;

static void check(checker *c, const char *option, double v, need n)
{
    static const char *const says[] = {"a finite number >= 0 is needed", "it must be in [0, 1)",
                                       "it must be finite"};
    bool good = isfinite(v) && (n == FINITE || (v >= 0 && (n == NON_NEGATIVE || v < 1)));
    if (c->ok && !good) {
        c->ok = false;
        LZ_NN_FAIL(LZ_EINVAL, c->op, c->site, "%s is %g: %s", option, v, says[n]);
    }
}

/* ---- the optimizers: options that are numbers, and what they must be; defaults stand in the
 * header ---- */

#define SGD(X)                                                                                     \
    X(lr, NON_NEGATIVE) X(momentum, BELOW_ONE) X(dampening, FINITE) X(weight_decay, NON_NEGATIVE)
#define ADAM(X)                                                                                    \
    X(lr, NON_NEGATIVE)                                                                            \
    X(beta1, BELOW_ONE) X(beta2, BELOW_ONE) X(eps, NON_NEGATIVE) X(weight_decay, NON_NEGATIVE)
#define ADAMW(X) ADAM(X)
#define RMSPROP(X)                                                                                 \
    X(lr, NON_NEGATIVE)                                                                            \
    X(alpha, NON_NEGATIVE)                                                                         \
    X(eps, NON_NEGATIVE) X(weight_decay, NON_NEGATIVE) X(momentum, NON_NEGATIVE)
#define ADAGRAD(X)                                                                                 \
    X(lr, NON_NEGATIVE)                                                                            \
    X(lr_decay, NON_NEGATIVE)                                                                      \
    X(weight_decay, NON_NEGATIVE)                                                                  \
    X(initial_accumulator_value, NON_NEGATIVE) X(eps, NON_NEGATIVE)
#define LION(X)                                                                                    \
    X(lr, NON_NEGATIVE) X(beta1, BELOW_ONE) X(beta2, BELOW_ONE) X(weight_decay, NON_NEGATIVE)

static void check_nesterov(checker *k, const lz_sgd_options *c)
{
    if (!k->ok || !c->nesterov || (c->momentum != 0 && c->dampening == 0))
        return;
    LZ_NN_FAIL(LZ_EINVAL, k->op, k->site,
               "momentum is %g, dampening %g: nesterov needs some and none", c->momentum,
               c->dampening);
    k->ok = false;
}

#define CHECK(field, need) check(&k, #field, c.field, need);
#define NO_MORE(k, c) (void)0
/* lz_<name>_new_at; `more` checks options that are not numbers; the last is what the rule's options
 * become of `c`. */
#define OPTIMIZER(name, NAME, more, which, ...)                                                    \
    lz_optim *lz_##name##_new_at(lz_params *ps, const lz_##name##_options *opt,                    \
                                 const lz_site *site)                                              \
    {                                                                                              \
        LZ_PUBLIC_AT(NULL);                                                                        \
        checker k = {"lz_" #name, site, true};                                                     \
        lz_##name##_options c = {.struct_size = sizeof c, LZ_##NAME##_DEFAULTS};                   \
        if (!take(&c, sizeof c, opt, k.op, site))                                                  \
            return NULL;                                                                           \
        NAME(CHECK)                                                                                \
        more(&k, &c);                                                                              \
        lz_optim *o =                                                                              \
            k.ok ? create(&lz_rule_##which, ps, c.lr, c.weight_decay, k.op, site) : NULL;          \
        if (o)                                                                                     \
            o->which = __VA_ARGS__;                                                                \
        return o;                                                                                  \
    }
OPTIMIZER(sgd, SGD, check_nesterov, sgd, c)
OPTIMIZER(adam, ADAM, NO_MORE, adam, c)
OPTIMIZER(adamw, ADAMW, NO_MORE, adam,
          (lz_adam_options){.struct_size = sizeof o->adam,
                            .lr = c.lr,
                            .beta1 = c.beta1,
                            .beta2 = c.beta2,
                            .eps = c.eps,
                            .weight_decay = c.weight_decay,
                            .decoupled = true,
                            .amsgrad = c.amsgrad})
OPTIMIZER(rmsprop, RMSPROP, NO_MORE, rmsprop, c)
OPTIMIZER(adagrad, ADAGRAD, NO_MORE, adagrad, c)
OPTIMIZER(lion, LION, NO_MORE, lion, c)

lz_status lz_optim_add_group_at(lz_optim *o, lz_params *ps, const lz_group_options *opt,
                                const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char op[] = "lz_optim_add_group";
    checker k = {op, site, true};
    lz_group_options c = {.struct_size = sizeof c, .lr_scale = 1};
    if (!o || !ps)
        return LZ_NN_FAIL(LZ_ENULL, op, site, "%s is NULL",
                          o ? "the parameter list" : "the optimizer");
    if (!take(&c, sizeof c, opt, op, site))
        return LZ_EINVAL;
    check(&k, "lr_scale", c.lr_scale, NON_NEGATIVE);
    check(&k, "weight_decay", c.weight_decay, NON_NEGATIVE);
    if (!k.ok)
        return LZ_EINVAL;
    for (size_t i = 0; i < o->ngroups; i++)
        if (o->groups[i].params == ps)
            return LZ_NN_FAIL(LZ_EINVAL, op, site, "the list is group %zu already", i);
    lz_mutex_lock(&o->lock);
    lz_optim_group *g = lz_realloc(o->groups, (o->ngroups + 1) * sizeof *g);
    if (g) {
        o->groups = g;
        g[o->ngroups++] =
            (lz_optim_group){.params = ps, .lr_scale = c.lr_scale, .weight_decay = c.weight_decay};
        o->version++;
    }
    lz_mutex_unlock(&o->lock);
    return g ? LZ_OK : LZ_NN_FAIL(LZ_EMEM, op, site, "no memory for group %zu", o->ngroups);
}
