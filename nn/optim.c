/* optim.c - a step of an optimizer: every parameter that has a gradient, by the rule of its kind (optim_rules.c). A step
 * records the updates; the next lz_mark_step runs them together with the backward pass, in place (donated). */
#include "nn/optim_rule.h"
#include <lazuli/grad.h>
#include <math.h>

static lz_status reserve(lz_optim_group *g, const char *op, const lz_site *site)
{
    size_t n = g->params->len;
    if (n <= g->n)
        return LZ_OK;
    bool ok = true;
    for (int k = 0; k < LZ_OPTIM_STATES; k++) {
        lz_tensor **t = lz_realloc(g->state[k], n * sizeof *t);
        if (t)
            g->state[k] = t;
        ok = ok && t;
    }
    int64_t *step = ok ? lz_realloc(g->step, n * sizeof *step) : NULL;
    if (!step)
        return LZ_NN_FAIL(LZ_EMEM, op, site, "no memory for the state of %zu parameters", n);
    g->step = step;
    for (size_t i = g->n; i < n; i++) {
        g->state[0][i] = g->state[1][i] = g->state[2][i] = NULL;
        g->step[i] = 0;
    }
    g->n = n;
    return LZ_OK;
}

lz_status lz_optim_reserve(lz_optim *o, const char *op, const lz_site *site)
{
    lz_status s = LZ_OK;
    for (size_t i = 0; i < o->ngroups && s == LZ_OK; i++)
        s = reserve(&o->groups[i], op, site);
    return s;
}

static lz_status step_group(lz_optim *o, lz_optim_group *group, const lz_site *site)
{
    lz_status s = LZ_OK;
    for (size_t i = 0; i < group->params->len && s == LZ_OK; i++) {
        lz_tensor *p = group->params->tensors[i], *g = lz_grad_of(p);
        if (!g)
            continue;
        lz_optim_update u = {o, group, i, ++group->step[i], o->lr * group->lr_scale, p, g, site};
        s = o->rule->update(&u);
    }
    return s;
}

lz_status lz_optim_step_at(lz_optim *o, const lz_site *site)
{
    if (!o)
        return LZ_NN_FAIL(LZ_ENULL, "lz_optim_step", site, "the optimizer is NULL");
    lz_status s = lz_optim_reserve(o, "lz_optim_step", site);
    if (s == LZ_OK)
        s = lz_scope_begin();
    if (s != LZ_OK)
        return s;
    for (size_t i = 0; i < o->ngroups && s == LZ_OK; i++)
        s = step_group(o, &o->groups[i], site);
    lz_scope_end();
    return s;
}

lz_status lz_optim_zero_grad(lz_optim *o)
{
    if (!o)
        return LZ_NN_FAIL(LZ_ENULL, "lz_optim_zero_grad", NULL, "the optimizer is NULL");
    lz_status s = LZ_OK;
    for (size_t i = 0; i < o->ngroups && s == LZ_OK; i++)
        s = lz_zero_grad(o->groups[i].params->tensors, o->groups[i].params->len);
    return s;
}

lz_status lz_optim_set_lr(lz_optim *o, double lr)
{
    if (!o)
        return LZ_NN_FAIL(LZ_ENULL, "lz_optim_set_lr", NULL, "the optimizer is NULL");
    if (!(lr >= 0) || isinf(lr))
        return LZ_NN_FAIL(LZ_EINVAL, "lz_optim_set_lr", NULL,
                          "lr is %g: a finite number >= 0 is needed", lr);
    o->lr = lr;
    return LZ_OK;
}

double lz_optim_lr(const lz_optim *o)
{
    return o ? o->lr : NAN;
}

void lz_optim_free(lz_optim *o)
{
    if (!o)
        return;
    for (size_t k = 0; k < o->ngroups; k++) {
        lz_optim_group *g = &o->groups[k];
        for (int j = 0; j < LZ_OPTIM_STATES; j++) {
            for (size_t i = 0; i < g->n; i++)
                lz_release(g->state[j][i]);
            lz_free(g->state[j]);
        }
        lz_free(g->step);
    }
    lz_free(o->groups);
    lz_free(o);
}
