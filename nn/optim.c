/* optim.c - a step of an optimizer: every parameter that has a gradient, by the rule of its kind
 * (optim_rules.c). A step records the updates; the next lz_mark_step runs them together with the
 * backward pass, in place (donated). */
#include "nn/optim_rule.h"
#include <lazuli/grad.h>
#include <lazuli/ops.h>
#include <lazuli/shape_ops.h>
#include <lazuli/tensor_ops.h>
#include <math.h>

static lz_status reserve(lz_optim_group *g, const char *op, const lz_site *site)
{
    size_t n = g->params->len;
    if (n <= g->n)
        return LZ_OK;
    bool ok = true;
    for (int k = 0; k < LZ_OPTIM_SLOTS; k++) {
        lz_tensor **t = lz_realloc(g->state[k], n * sizeof *t);
        if (t)
            g->state[k] = t;
        ok = ok && t;
    }
    int64_t *step = ok ? lz_realloc(g->step, n * sizeof *step) : NULL;
    g->step = step ? step : g->step;
    uint64_t *recent = step ? lz_realloc(g->recent, n * sizeof *recent) : NULL;
    if (!recent)
        return LZ_NN_FAIL(LZ_EMEM, op, site, "no memory for the state of %zu parameters", n);
    g->recent = recent;
    for (size_t i = g->n; i < n; i++) {
        for (int k = 0; k < LZ_OPTIM_SLOTS; k++)
            g->state[k][i] = NULL;
        g->step[i] = 0;
        g->recent[i] = 0;
    }
    g->n = n;
    return LZ_OK;
}

lz_status lz_optim_reserve(lz_optim *o, const char *op, const lz_site *site)
{
    lz_status s = LZ_OK;
    lz_mutex_lock(&o->lock);
    for (size_t i = 0; i < o->ngroups && s == LZ_OK; i++)
        s = reserve(&o->groups[i], op, site);
    lz_mutex_unlock(&o->lock);
    return s;
}

void lz_optim_publish(lz_optim *o, lz_tensor **slot, lz_tensor *t)
{
    lz_mutex_lock(&o->lock);
    *slot = lz_retain(t);
    o->version++;
    lz_mutex_unlock(&o->lock);
}

/* Begins a step, in which the parameters that have a gradient take part. */
static lz_status count_step(lz_optim *o, const lz_site *site)
{
    if (!o->counted) {
        lz_tensor *t = lz_scalar_at(LZ_I64, (double)o->count, site);
        LZ_TRY(lz_nn_status_of(t, "lz_optim_step"));
        lz_optim_publish(o, &o->counted, t);
    }
    LZ_TRY(lz_assign_at(o->counted, lz_scalar_at(LZ_I64, (double)o->count + 1, site), site));
    lz_mutex_lock(&o->lock);
    if (!o->count)
        o->lrs[0] = o->lr;
    o->lrs[++o->count % LZ_OPTIM_HISTORY] = o->lr;
    for (size_t i = 0; i < o->ngroups; i++)
        for (size_t k = 0; k < o->groups[i].n; k++) {
            lz_optim_group *g = &o->groups[i];
            bool part = k < g->params->len && lz_grad_of(g->params->tensors[k]);
            g->step[k] += part;
            g->recent[k] = g->recent[k] << 1 | part;
        }
    lz_mutex_unlock(&o->lock);
    return LZ_OK;
}

/* Those parameters behind the first `done` did not take part in the last step: it failed before. */
static void uncount_step(lz_optim *o, size_t done)
{
    lz_mutex_lock(&o->lock);
    for (size_t i = 0, at = 0; i < o->ngroups; i++)
        for (size_t k = 0; k < o->groups[i].n; k++) {
            lz_optim_group *g = &o->groups[i];
            bool part = at++ >= done && g->recent[k] & 1;
            g->step[k] -= part;
            g->recent[k] &= ~(uint64_t)part;
        }
    lz_mutex_unlock(&o->lock);
}

/* Counts one more step that may have been skipped. */
static lz_status count_skip(lz_tensor *skipped, lz_tensor *skip, const lz_site *site)
{
    lz_tensor *one = lz_to_at(skip, LZ_F32, site);
    return lz_assign_at(skipped, lz_add_at(skipped, one, site), site);
}

/* A parameter that does not take part in a step that may be skipped gets its own count from here
 * on. */
static lz_status stand_aside(lz_optim *o, lz_optim_group *group, size_t i, const lz_site *site)
{
    lz_tensor **own = &group->state[LZ_OPTIM_SKIPPED][i];
    if (*own || group->params->is_buffer[i])
        return LZ_OK;
    lz_tensor *t = lz_clone_at(o->skipped, site);
    lz_status s = lz_nn_status_of(t, "lz_optim_step");
    if (s == LZ_OK)
        lz_optim_publish(o, own, t);
    return s;
}

/* Adds to *done the parameters up to the first failure. */
static lz_status step_group(lz_optim *o, lz_optim_group *group, lz_tensor *skip,
                            const lz_site *site, size_t *done)
{
    lz_status s = LZ_OK;
    size_t before = *done;
    for (size_t i = 0; i < group->params->len && s == LZ_OK; i++) {
        lz_tensor *p = group->params->tensors[i], *g = lz_grad_of(p);
        *done = before + i;
        if (!g) {
            s = skip ? stand_aside(o, group, i, site) : LZ_OK;
            continue;
        }
        lz_optim_update u = {.o = o,
                             .group = group,
                             .i = i,
                             .step = group->step[i],
                             .lr = o->lr * group->lr_scale,
                             .p = p,
                             .g = g,
                             .skip = skip,
                             .skipped = lz_optim_skipped(o, group, i),
                             .site = site};
        s = o->rule->update(&u);
        *done += s == LZ_OK;
        if (s == LZ_OK && skip && u.skipped != o->skipped)
            s = count_skip(u.skipped, skip, site);
    }
    *done = s == LZ_OK ? before + group->n : *done;
    return s;
}

lz_status lz_optim_step_unless(lz_optim *o, lz_tensor *skip, const char *op, const lz_site *site)
{
    if (!o)
        return LZ_NN_FAIL(LZ_ENULL, op, site, "the optimizer is NULL");
    lz_status s = lz_optim_reserve(o, op, site);
    if (s == LZ_OK)
        s = lz_scope_begin();
    if (s != LZ_OK)
        return s;
    size_t done = 0;
    s = count_step(o, site);
    bool counted = s == LZ_OK;
    if (s == LZ_OK && skip && !o->skipped) {
        lz_tensor *t = lz_nn_filled(LZ_F32, LZ_SCALAR, false, site);
        s = lz_nn_status_of(t, "lz_optim_step");
        if (s == LZ_OK)
            lz_optim_publish(o, &o->skipped, t);
        else
            (void)lz_nn_annotated(s, op, site);
    }
    for (size_t i = 0; i < o->ngroups && s == LZ_OK; i++)
        s = step_group(o, &o->groups[i], skip, site, &done);
    if (s != LZ_OK && counted)
        uncount_step(o, done);
    if (s == LZ_OK && skip)
        s = count_skip(o->skipped, skip, site);
    lz_scope_end();
    return s;
}

lz_status lz_optim_step_at(lz_optim *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    return lz_nn_given(lz_optim_step_unless(o, NULL, "lz_optim_step", site));
}

lz_status lz_optim_zero_grad(lz_optim *o)
{
    LZ_PUBLIC(LZ_EFORK);
    if (!o)
        return LZ_NN_FAIL(LZ_ENULL, "lz_optim_zero_grad", NULL, "the optimizer is NULL");
    lz_status s = LZ_OK;
    for (size_t i = 0; i < o->ngroups && s == LZ_OK; i++)
        s = lz_zero_grad(o->groups[i].params->tensors, o->groups[i].params->len);
    return s;
}

lz_status lz_optim_set_lr(lz_optim *o, double lr)
{
    LZ_PUBLIC(LZ_EFORK);
    if (!o)
        return LZ_NN_FAIL(LZ_ENULL, "lz_optim_set_lr", NULL, "the optimizer is NULL");
    if (!(lr >= 0) || isinf(lr))
        return LZ_NN_FAIL(LZ_EINVAL, "lz_optim_set_lr", NULL,
                          "lr is %g: a finite number >= 0 is needed", lr);
    lz_mutex_lock(&o->lock);
    o->lr = lr;
    o->lr_count = o->count;
    o->lr_setter = pthread_self();
    lz_mutex_unlock(&o->lock);
    return LZ_OK;
}

double lz_optim_lr(const lz_optim *o)
{
    LZ_PUBLIC(NAN);
    return o ? o->lr : NAN;
}

void lz_optim_free(lz_optim *o)
{
    LZ_PUBLIC();
    if (!o)
        return;
    for (size_t k = 0; k < o->ngroups; k++) {
        lz_optim_group *g = &o->groups[k];
        for (int j = 0; j < LZ_OPTIM_SLOTS; j++) {
            for (size_t i = 0; i < g->n; i++)
                lz_release(g->state[j][i]);
            lz_free(g->state[j]);
        }
        lz_free(g->step);
        lz_free(g->recent);
    }
    lz_release(o->skipped);
    lz_release(o->counted);
    lz_mutex_destroy(&o->lock);
    lz_free(o->groups);
    lz_free(o);
}
