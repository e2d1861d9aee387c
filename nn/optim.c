/* optim.c - SGD with momentum, Adam and AdamW, as torch.optim. A step records the updates; the next
 * lz_mark_step runs them together with the backward pass. Rates are run-time arguments; state buffers
 * are updated in place (donated). */
#include <lazuli/grad.h>
#include <lazuli/ops.h>
#include <lazuli/optim.h>
#include <lazuli/tensor_ops.h>

#include "nn/internal.h"
#include <math.h>
#include <string.h>

typedef enum kind { SGD, ADAM } kind;
struct lz_optim {
    kind kind;
    lz_params *params;
    lz_sgd_options sgd;
    lz_adam_options adam;
    double lr;
    int64_t step;
    lz_tensor **m, **v; /* momentum or first moment; second moment. NULL until the first step */
    size_t nstate;
};

/* ---- making ---- */

static bool bad_rate(double lr)
{
    return !(lr >= 0) || isinf(lr);
}

static lz_optim *create(kind k, lz_params *ps, double lr, const char *op, const lz_site *site)
{
    lz_optim *o = NULL;
    if (!ps)
        LZ_NN_FAIL(LZ_ENULL, op, site, "the parameter list is NULL");
    else if (bad_rate(lr))
        LZ_NN_FAIL(LZ_EINVAL, op, site, "lr is %g: a finite number >= 0 is needed", lr);
    else if (!(o = lz_calloc(1, sizeof *o)))
        LZ_NN_FAIL(LZ_EMEM, op, site, "no memory for the optimizer");
    else
        *o = (lz_optim){.kind = k, .params = ps, .lr = lr};
    return o;
}

/* The caller's options over the defaults: a program built with an older header gives fewer fields. */
static lz_status take_options(void *dst, size_t have, const void *src, const char *op,
                              const lz_site *site)
{
    if (!src)
        return LZ_OK;
    size_t n = *(const size_t *)src;
    if (n < sizeof n || n > have)
        return LZ_NN_FAIL(LZ_EINVAL, op, site,
                          "struct_size is %zu: set it to the size of the struct", n);
    memcpy(dst, src, n);
    return LZ_OK;
}

static lz_optim *refuse(const char *op, const lz_site *site, const char *option, double value,
                        const char *need)
{
    LZ_NN_FAIL(LZ_EINVAL, op, site, "%s is %g: %s", option, value, need);
    return NULL;
}

lz_optim *lz_sgd_new_at(lz_params *ps, const lz_sgd_options *opt, const lz_site *site)
{
    static const char op[] = "lz_sgd";
    lz_sgd_options c = {.struct_size = sizeof c, .lr = 1e-3};
    if (take_options(&c, sizeof c, opt, op, site) != LZ_OK)
        return NULL;
    if (!(c.momentum >= 0 && c.momentum < 1))
        return refuse(op, site, "momentum", c.momentum, "it must be in [0, 1)");
    if (!isfinite(c.dampening))
        return refuse(op, site, "dampening", c.dampening, "it must be finite");
    if (!(c.weight_decay >= 0))
        return refuse(op, site, "weight_decay", c.weight_decay, "it must be >= 0");
    if (c.nesterov && c.momentum == 0)
        return refuse(op, site, "momentum", c.momentum, "nesterov needs some");
    if (c.nesterov && c.dampening != 0)
        return refuse(op, site, "dampening", c.dampening, "nesterov takes none");
    lz_optim *o = create(SGD, ps, c.lr, op, site);
    if (o)
        o->sgd = c;
    return o;
}

lz_optim *lz_adam_new_at(lz_params *ps, const lz_adam_options *opt, const lz_site *site)
{
    static const char op[] = "lz_adam";
    lz_adam_options c = {
        .struct_size = sizeof c, .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    if (take_options(&c, sizeof c, opt, op, site) != LZ_OK)
        return NULL;
    if (!(c.beta1 >= 0 && c.beta1 < 1))
        return refuse(op, site, "beta1", c.beta1, "it must be in [0, 1)");
    if (!(c.beta2 >= 0 && c.beta2 < 1))
        return refuse(op, site, "beta2", c.beta2, "it must be in [0, 1)");
    if (!(c.eps >= 0))
        return refuse(op, site, "eps", c.eps, "it must be >= 0");
    if (!(c.weight_decay >= 0))
        return refuse(op, site, "weight_decay", c.weight_decay, "it must be >= 0");
    lz_optim *o = create(ADAM, ps, c.lr, op, site);
    if (o)
        o->adam = c;
    return o;
}

/* ---- a step ---- */

static lz_status ensure_state(lz_optim *o, const lz_site *site)
{
    size_t n = o->params->len;
    if (n <= o->nstate)
        return LZ_OK;
    lz_tensor **m = lz_realloc(o->m, n * sizeof *m);
    if (m)
        o->m = m;
    lz_tensor **v = m ? lz_realloc(o->v, n * sizeof *v) : NULL;
    if (!v)
        return LZ_NN_FAIL(LZ_EMEM, "lz_optim_step", site,
                          "no memory for the state of %zu parameters", n);
    o->v = v;
    for (size_t i = o->nstate; i < n; i++)
        o->m[i] = o->v[i] = NULL;
    o->nstate = n;
    return LZ_OK;
}

/* State starts as real buffers of zeros, so that the first step traces the same graph as all later
 * ones and compiles once. */
static lz_status zero_state(lz_tensor **state, lz_tensor *like, const lz_site *site)
{
    if (*state)
        return LZ_OK;
    void *zeros = lz_calloc(1, lz_nbytes(like) + 1);
    if (!zeros)
        return LZ_NN_FAIL(LZ_EMEM, "lz_optim_step", site, "no memory for %zu bytes of state",
                          lz_nbytes(like));
    lz_tensor *t = lz_from_host_at(lz_dtype_of(like), lz_shape_of(like), zeros, site);
    lz_free(zeros);
    lz_status s = lz_status_of(t);
    if (s == LZ_OK)
        *state = lz_retain(t);
    return s;
}

/* What a rule updates: parameter i, its gradient. */
typedef struct update {
    lz_optim *o;
    size_t i;
    lz_tensor *p, *g;
    const lz_site *site;
} update;

/* By a number of the optimizer's options, which stays what it is. */
static lz_tensor *scaled(const update *u, lz_tensor *a, double s)
{
    return lz_mul_scalar_at(a, s, u->site);
}

/* By a number that changes from step to step: an argument also when it happens to be 0 or 1. */
static lz_tensor *rated(const update *u, lz_tensor *a, double s)
{
    return lz_mul_at(a, lz_full_at(lz_dtype_of(u->p), LZ_SCALAR, s, u->site), u->site);
}

static lz_tensor *plus(const update *u, lz_tensor *a, lz_tensor *b)
{
    return lz_add_at(a, b, u->site);
}

static lz_status sgd_update(const update *u)
{
    const lz_sgd_options *c = &u->o->sgd;
    lz_tensor *g = u->g, **state = &u->o->m[u->i];
    if (c->weight_decay != 0)
        g = plus(u, g, scaled(u, u->p, c->weight_decay));
    if (c->momentum != 0) {
        bool first = !*state;
        lz_status s = zero_state(state, u->p, u->site);
        if (s != LZ_OK)
            return s;
        lz_tensor *m = scaled(u, *state, c->momentum);
        /* torch.optim.SGD does not dampen the first gradient */
        m = plus(u, m, c->dampening != 0 ? rated(u, g, first ? 1 : 1 - c->dampening) : g);
        if ((s = lz_assign_at(*state, m, u->site)) != LZ_OK)
            return s;
        g = c->nesterov ? plus(u, g, scaled(u, m, c->momentum)) : m;
    }
    return lz_assign_at(u->p, lz_sub_at(u->p, rated(u, g, u->o->lr), u->site), u->site);
}

/* Kingma and Ba 2015, Loshchilov and Hutter 2019. */
static lz_status adam_update(const update *u)
{
    lz_optim *o = u->o;
    const lz_adam_options *c = &o->adam;
    double t = (double)o->step, fix1 = 1 - pow(c->beta1, t), fix2 = 1 - pow(c->beta2, t);
    lz_status s = zero_state(&o->m[u->i], u->p, u->site);
    if (s == LZ_OK)
        s = zero_state(&o->v[u->i], u->p, u->site);
    if (s != LZ_OK)
        return s;
    lz_tensor *base = u->p, *g = u->g;
    if (c->weight_decay != 0 && c->decoupled)
        base = rated(u, u->p, 1 - o->lr * c->weight_decay);
    else if (c->weight_decay != 0)
        g = plus(u, g, scaled(u, u->p, c->weight_decay));
    lz_tensor *m = plus(u, scaled(u, g, 1 - c->beta1), scaled(u, o->m[u->i], c->beta1));
    lz_tensor *v = scaled(u, lz_mul_at(g, g, u->site), 1 - c->beta2);
    v = plus(u, v, scaled(u, o->v[u->i], c->beta2));
    lz_tensor *denom = rated(u, lz_sqrt_at(v, u->site), 1 / sqrt(fix2));
    denom = lz_add_scalar_at(denom, c->eps, u->site);
    lz_tensor *by = rated(u, lz_div_at(m, denom, u->site), o->lr / fix1);
    if ((s = lz_assign_at(o->m[u->i], m, u->site)) != LZ_OK ||
        (s = lz_assign_at(o->v[u->i], v, u->site)) != LZ_OK)
        return s;
    return lz_assign_at(u->p, lz_sub_at(base, by, u->site), u->site);
}

lz_status lz_optim_step_at(lz_optim *o, const lz_site *site)
{
    if (!o)
        return LZ_NN_FAIL(LZ_ENULL, "lz_optim_step", site, "the optimizer is NULL");
    lz_status s = ensure_state(o, site);
    if (s == LZ_OK)
        s = lz_scope_begin();
    if (s != LZ_OK)
        return s;
    o->step++;
    for (size_t i = 0; i < o->params->len && s == LZ_OK; i++) {
        lz_tensor *p = o->params->tensors[i], *g = lz_grad_of(p);
        update u = {o, i, p, g, site};
        if (g)
            s = o->kind == SGD ? sgd_update(&u) : adam_update(&u);
    }
    lz_scope_end();
    return s;
}

lz_status lz_optim_zero_grad(lz_optim *o)
{
    if (!o)
        return LZ_NN_FAIL(LZ_ENULL, "lz_optim_zero_grad", NULL, "the optimizer is NULL");
    return lz_zero_grad(o->params->tensors, o->params->len);
}

lz_status lz_optim_set_lr(lz_optim *o, double lr)
{
    if (!o)
        return LZ_NN_FAIL(LZ_ENULL, "lz_optim_set_lr", NULL, "the optimizer is NULL");
    if (bad_rate(lr))
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
    for (size_t i = 0; i < o->nstate; i++) {
        lz_release(o->m[i]);
        lz_release(o->v[i]);
    }
    lz_free(o->m);
    lz_free(o->v);
    lz_free(o);
}

/* Loshchilov and Hutter 2017 without restarts, after a linear warm-up. */
double lz_lr_cosine(double base, int64_t step, int64_t total, int64_t warmup, double final_lr)
{
    if (warmup > 0 && step < warmup)
        return base * (double)(step + 1) / (double)warmup;
    if (total <= warmup || step >= total)
        return final_lr;
    double t = (double)(step - warmup) / (double)(total - warmup);
    return final_lr + 0.5 * (base - final_lr) * (1 + cos(3.14159265358979323846 * t));
}

double lz_lr_step(double base, int64_t step, int64_t every, double factor)
{
    return every > 0 && step > 0 ? base * pow(factor, (double)(step / every)) : base;
}
