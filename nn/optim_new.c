/* optim_new.c - making optimizers: defaults, and options checked one by one. */
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
    if (!g) {
        LZ_NN_FAIL(LZ_EMEM, op, site, "no memory for the optimizer");
        lz_free(o);
        return NULL;
    }
    *g = (lz_optim_group){.params = ps, .lr_scale = 1, .weight_decay = weight_decay};
    o->rule = rule;
    o->lr = lr;
    o->groups = g;
    o->ngroups = 1;
    return o;
}

/* The caller's options over the defaults: a program built with an older header gives fewer fields. */
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

/* What an option must be; NaN is none of them. */
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

lz_optim *lz_sgd_new_at(lz_params *ps, const lz_sgd_options *opt, const lz_site *site)
{
    checker k = {"lz_sgd", site, true};
    lz_sgd_options c = {.struct_size = sizeof c, .lr = 1e-3};
    if (!take(&c, sizeof c, opt, k.op, site))
        return NULL;
    check(&k, "lr", c.lr, NON_NEGATIVE);
    check(&k, "momentum", c.momentum, BELOW_ONE);
    check(&k, "dampening", c.dampening, FINITE);
    check(&k, "weight_decay", c.weight_decay, NON_NEGATIVE);
    if (k.ok && c.nesterov && (c.momentum == 0 || c.dampening != 0)) {
        LZ_NN_FAIL(LZ_EINVAL, k.op, site,
                   "momentum is %g, dampening %g: nesterov needs some and none", c.momentum,
                   c.dampening);
        k.ok = false;
    }
    lz_optim *o = k.ok ? create(&lz_rule_sgd, ps, c.lr, c.weight_decay, k.op, site) : NULL;
    if (o)
        o->sgd = c;
    return o;
}

static lz_optim *adam(lz_params *ps, const lz_adam_options *c, const char *op, const lz_site *site)
{
    checker k = {op, site, true};
    check(&k, "lr", c->lr, NON_NEGATIVE);
    check(&k, "beta1", c->beta1, BELOW_ONE);
    check(&k, "beta2", c->beta2, BELOW_ONE);
    check(&k, "eps", c->eps, NON_NEGATIVE);
    check(&k, "weight_decay", c->weight_decay, NON_NEGATIVE);
    lz_optim *o = k.ok ? create(&lz_rule_adam, ps, c->lr, c->weight_decay, op, site) : NULL;
    if (o)
        o->adam = *c;
    return o;
}

lz_optim *lz_adam_new_at(lz_params *ps, const lz_adam_options *opt, const lz_site *site)
{
    lz_adam_options c = {
        .struct_size = sizeof c, .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    return take(&c, sizeof c, opt, "lz_adam", site) ? adam(ps, &c, "lz_adam", site) : NULL;
}

lz_optim *lz_adamw_new_at(lz_params *ps, const lz_adamw_options *opt, const lz_site *site)
{
    lz_adamw_options c = {.struct_size = sizeof c,
                          .lr = 1e-3,
                          .beta1 = 0.9,
                          .beta2 = 0.999,
                          .eps = 1e-8,
                          .weight_decay = 1e-2};
    if (!take(&c, sizeof c, opt, "lz_adamw", site))
        return NULL;
    const lz_adam_options a = {sizeof a, c.lr,           c.beta1, c.beta2,
                               c.eps,    c.weight_decay, true,    c.amsgrad};
    return adam(ps, &a, "lz_adamw", site);
}

lz_optim *lz_rmsprop_new_at(lz_params *ps, const lz_rmsprop_options *opt, const lz_site *site)
{
    checker k = {"lz_rmsprop", site, true};
    lz_rmsprop_options c = {.struct_size = sizeof c, .lr = 1e-2, .alpha = 0.99, .eps = 1e-8};
    if (!take(&c, sizeof c, opt, k.op, site))
        return NULL;
    check(&k, "lr", c.lr, NON_NEGATIVE);
    check(&k, "alpha", c.alpha, NON_NEGATIVE);
    check(&k, "eps", c.eps, NON_NEGATIVE);
    check(&k, "weight_decay", c.weight_decay, NON_NEGATIVE);
    check(&k, "momentum", c.momentum, NON_NEGATIVE);
    lz_optim *o = k.ok ? create(&lz_rule_rmsprop, ps, c.lr, c.weight_decay, k.op, site) : NULL;
    if (o)
        o->rmsprop = c;
    return o;
}

lz_optim *lz_adagrad_new_at(lz_params *ps, const lz_adagrad_options *opt, const lz_site *site)
{
    checker k = {"lz_adagrad", site, true};
    lz_adagrad_options c = {.struct_size = sizeof c, .lr = 1e-2, .eps = 1e-10};
    if (!take(&c, sizeof c, opt, k.op, site))
        return NULL;
    check(&k, "lr", c.lr, NON_NEGATIVE);
    check(&k, "lr_decay", c.lr_decay, NON_NEGATIVE);
    check(&k, "weight_decay", c.weight_decay, NON_NEGATIVE);
    check(&k, "initial_accumulator_value", c.initial_accumulator_value, NON_NEGATIVE);
    check(&k, "eps", c.eps, NON_NEGATIVE);
    lz_optim *o = k.ok ? create(&lz_rule_adagrad, ps, c.lr, c.weight_decay, k.op, site) : NULL;
    if (o)
        o->adagrad = c;
    return o;
}

lz_optim *lz_lion_new_at(lz_params *ps, const lz_lion_options *opt, const lz_site *site)
{
    checker k = {"lz_lion", site, true};
    lz_lion_options c = {.struct_size = sizeof c, .lr = 1e-4, .beta1 = 0.9, .beta2 = 0.99};
    if (!take(&c, sizeof c, opt, k.op, site))
        return NULL;
    check(&k, "lr", c.lr, NON_NEGATIVE);
    check(&k, "beta1", c.beta1, BELOW_ONE);
    check(&k, "beta2", c.beta2, BELOW_ONE);
    check(&k, "weight_decay", c.weight_decay, NON_NEGATIVE);
    lz_optim *o = k.ok ? create(&lz_rule_lion, ps, c.lr, c.weight_decay, k.op, site) : NULL;
    if (o)
        o->lion = c;
    return o;
}

lz_status lz_optim_add_group_at(lz_optim *o, lz_params *ps, const lz_group_options *opt,
                                const lz_site *site)
{
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
    lz_optim_group *g = lz_realloc(o->groups, (o->ngroups + 1) * sizeof *g);
    if (!g)
        return LZ_NN_FAIL(LZ_EMEM, op, site, "no memory for group %zu", o->ngroups);
    g[o->ngroups] =
        (lz_optim_group){.params = ps, .lr_scale = c.lr_scale, .weight_decay = c.weight_decay};
    o->groups = g;
    o->ngroups++;
    return LZ_OK;
}
