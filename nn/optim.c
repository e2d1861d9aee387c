/* optim.c - a step of an optimizer: every parameter that has a gradient, by the rule of its kind
 * (optim_rules.c). A step records the updates; the next lz_mark_step runs them together with the
 * backward pass, in place (donated). */
#include "nn/optim_rule.h"
#include <lazuli/debug.h>
#include <lazuli/grad.h>
#include <lazuli/ops.h>
#include <lazuli/shape_ops.h>
#include <lazuli/tensor_ops.h>
#include <math.h>
#include <string.h>

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

/* ---- numbers of the step ---- */

typedef struct number_of {
    lz_optim_number_kind kind;
    size_t group, i; /* of the parameter */
    double a;
} number_of;

static double number_now(const void *object, const void *data)
{
    const lz_optim *o = object;
    const number_of *n = data;
    if (n->kind == LZ_NEXT_STEP_COUNT)
        return (double)o->count + 1;
    const lz_optim_group *g = &o->groups[n->group];
    double lr = o->lr * g->lr_scale, t = (double)g->step[n->i], a = n->a;
    switch (n->kind) {
    case LZ_RATE:
        return lr;
    case LZ_KEPT_SHARE:
        return 1 - lr * a;
    case LZ_STEP:
        return t;
    case LZ_BIAS_ROOT:
        return 1 / sqrt(1 - pow(a, t));
    case LZ_BIAS_RATE:
        return lr / (1 - pow(a, t));
    case LZ_DECAYING_RATE:
        return lr / (1 + (t - 1) * a);
    case LZ_FIRST_ONE:
        return t == 1 ? 1 : a;
    case LZ_NEXT_STEP_COUNT:
        break;
    }
    return NAN;
}

lz_tensor *lz_optim_number(const lz_optim_update *u, lz_optim_number_kind kind, double a,
                           lz_dtype dtype)
{
    number_of n;
    memset(&n, 0, sizeof n);
    n.kind = kind;
    n.group = u->group ? (size_t)(u->group - u->o->groups) : 0;
    n.i = u->i;
    n.a = a;
    return lz_host_number(u->o->host, number_now, &n, sizeof n, dtype, u->site);
}

/* ---- counting. In a function that is recorded each call counts: what follows does not look at
 * gradients, which are there while the callback runs ---- */

/* A step, or in *data one per parameter, of those of all groups that there are when it is made. */
typedef struct step_parts {
    size_t n;
    double lr; /* what the history had in the step's place */
    bool part[];
} step_parts;

static void count_parts(lz_optim *o, step_parts *p, bool back)
{
    lz_mutex_lock(&o->lock);
    if (!o->count)
        o->lrs[0] = o->lr;
    double *lr = &o->lrs[(o->count + !back) % LZ_OPTIM_HISTORY];
    double was = *lr;
    *lr = back ? p->lr : o->lr;
    p->lr = was;
    o->count += back ? -1 : 1;
    for (size_t i = 0, at = 0; i < o->ngroups; i++)
        for (size_t k = 0; k < o->groups[i].n; k++, at++) {
            lz_optim_group *g = &o->groups[i];
            bool part = at < p->n && p->part[at];
            g->step[k] += back ? -(int64_t)part : part;
            g->recent[k] = back ? g->recent[k] >> 1 : g->recent[k] << 1 | part;
        }
    lz_mutex_unlock(&o->lock);
}

static void count(void *o, void *parts)
{
    count_parts(o, parts, false);
}

static void count_back(void *o, void *parts)
{
    count_parts(o, parts, true);
}

/* The parameters that have a gradient take part. */
static lz_status count_taking_part(lz_optim *o, const lz_site *site)
{
    static const lz_host_action action = {count, count_back};
    size_t n = 0, at = 0;
    for (size_t i = 0; i < o->ngroups; i++)
        n += o->groups[i].n;
    step_parts *p = lz_calloc(1, sizeof *p + n);
    if (!p)
        return LZ_NN_FAIL(LZ_EMEM, "lz_optim_step", site, "no memory for a step");
    p->n = n;
    for (size_t i = 0; i < o->ngroups; i++)
        for (size_t k = 0; k < o->groups[i].n; k++) {
            const lz_params *ps = o->groups[i].params;
            p->part[at++] = k < ps->len && lz_grad_of(ps->tensors[k]);
        }
    lz_status s = lz_host_act(o->host, &action, p, sizeof *p + n);
    lz_free(p);
    return s;
}

/* Begins a step. */
static lz_status count_step(lz_optim *o, const lz_site *site)
{
    if (!o->counted) {
        const lz_outside outside = lz_outside_begin();
        lz_tensor *t = lz_scalar_at(LZ_I64, (double)o->count, site);
        lz_status s = lz_nn_status_of(t, "lz_optim_step");
        lz_outside_end(&outside, t);
        LZ_TRY(s);
        lz_optim_publish(o, &o->counted, t);
    }
    const lz_optim_update u = {.o = o, .site = site};
    LZ_TRY(lz_assign_at(o->counted, lz_optim_number(&u, LZ_NEXT_STEP_COUNT, 0, LZ_I64), site));
    return count_taking_part(o, site);
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
    const lz_outside outside = lz_outside_begin();
    lz_tensor *t = lz_clone_at(o->skipped, site);
    lz_status s = lz_nn_status_of(t, "lz_optim_step");
    lz_outside_end(&outside, t);
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

/* Whether the step may assign what it updates: a body that runs any number of times refuses it, and
 * then nothing has changed, also on the host. */
static lz_status may_step(const lz_optim *o, const char *op, const lz_site *site)
{
    for (size_t i = 0; i < o->ngroups; i++)
        for (size_t k = 0; k < o->groups[i].params->len; k++) {
            lz_tensor *p = o->groups[i].params->tensors[k];
            lz_status s = lz_grad_of(p) ? lz_outside_may_assign(p) : LZ_OK;
            if (s != LZ_OK)
                return lz_nn_annotated(s, op, site);
        }
    return LZ_OK;
}

/* The state of a step that may be skipped. */
static lz_status begin_skipping(lz_optim *o, const char *op, const lz_site *site)
{
    const lz_outside outside = lz_outside_begin();
    lz_tensor *t = lz_nn_filled(LZ_F32, LZ_SCALAR, false, site);
    lz_status s = lz_nn_status_of(t, "lz_optim_step");
    lz_outside_end(&outside, t);
    if (s != LZ_OK)
        return lz_nn_annotated(s, op, site);
    lz_optim_publish(o, &o->skipped, t);
    return LZ_OK;
}

lz_status lz_optim_step_unless(lz_optim *o, lz_tensor *skip, const char *op, const lz_site *site)
{
    if (!o)
        return LZ_NN_FAIL(LZ_ENULL, op, site, "the optimizer is NULL");
    lz_status s = may_step(o, op, site);
    if (s == LZ_OK)
        s = lz_optim_reserve(o, op, site);
    if (s == LZ_OK)
        s = lz_scope_begin();
    if (s != LZ_OK)
        return s;
    size_t done = 0;
    bool named = lz_name_scope_begin("optimizer") == LZ_OK;
    s = count_step(o, site);
    bool counted = s == LZ_OK;
    if (s == LZ_OK && skip && !o->skipped)
        s = begin_skipping(o, op, site);
    for (size_t i = 0; i < o->ngroups && s == LZ_OK; i++)
        s = step_group(o, &o->groups[i], skip, site, &done);
    if (s != LZ_OK && lz_host_records())
        lz_host_spoil();
    else if (s != LZ_OK && counted)
        uncount_step(o, done);
    if (s == LZ_OK && skip)
        s = count_skip(o->skipped, skip, site);
    if (named)
        lz_name_scope_end();
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

/* A rate, and what was there before. */
typedef struct set_rate {
    double lr, was;
    int64_t was_count;
    pthread_t was_setter;
} set_rate;

static void set_lr(void *object, void *data)
{
    lz_optim *o = object;
    set_rate *r = data;
    lz_mutex_lock(&o->lock);
    *r = (set_rate){r->lr, o->lr, o->lr_count, o->lr_setter};
    o->lr = r->lr;
    o->lr_count = o->count;
    o->lr_setter = pthread_self();
    lz_mutex_unlock(&o->lock);
}

static void set_lr_back(void *object, void *data)
{
    lz_optim *o = object;
    const set_rate *r = data;
    lz_mutex_lock(&o->lock);
    o->lr = r->was;
    o->lr_count = r->was_count;
    o->lr_setter = r->was_setter;
    lz_mutex_unlock(&o->lock);
}

lz_status lz_optim_set_lr(lz_optim *o, double lr)
{
    LZ_PUBLIC(LZ_EFORK);
    if (!o)
        return LZ_NN_FAIL(LZ_ENULL, "lz_optim_set_lr", NULL, "the optimizer is NULL");
    if (!(lr >= 0) || isinf(lr))
        return LZ_NN_FAIL(LZ_EINVAL, "lz_optim_set_lr", NULL,
                          "lr is %g: a finite number >= 0 is needed", lr);
    static const lz_host_action action = {set_lr, set_lr_back};
    const set_rate r = {.lr = lr};
    lz_status s = lz_host_act(o->host, &action, &r, sizeof r);
    return s == LZ_OK ? s : lz_nn_annotated(s, "lz_optim_set_lr", NULL);
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
    lz_host_end(o->host);
    lz_mutex_destroy(&o->lock);
    lz_free(o->groups);
    lz_free(o);
}
