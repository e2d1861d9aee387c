/* optim.c - SGD with momentum, Adam and AdamW, as torch.optim. A step records the updates; the next lz_mark_step runs them together
 * with the backward pass. Rates are run-time scalars; state buffers are updated in place (donated). */
#include <lazuli/grad.h>
#include <lazuli/ops.h>
#include <lazuli/optim.h>
#include <lazuli/tensor_ops.h>

#include "nn/internal.h"
#include <math.h>
#include <stdio.h>

typedef enum kind { SGD, ADAM } kind;
struct lz_optim {
    kind kind;
    lz_params *params;
    lz_sgd_options sgd;
    lz_adam_options adam;
    double lr;
    int64_t step;
    lz_tensor **m, **v;         /* momentum or first moment; second moment. NULL until the parameter's first step */
    size_t nstate;
};

static lz_optim *bad(const char *op, const char *what, double value)
{
    char msg[96];
    snprintf(msg, sizeof msg, "%s is %g", what, value);
    lz_nn_fail(LZ_EINVAL, op, msg);
    return NULL;
}

static lz_optim *create(kind k, lz_params *ps, double lr, const char *op)
{
    if (!ps) {
        lz_nn_fail(LZ_ENULL, op, "the parameter list is NULL");
        return NULL;
    }
    if (!(lr >= 0) || isinf(lr))
        return bad(op, "lr must be a number >= 0 but", lr);
    lz_optim *o = lz_calloc(1, sizeof *o);
    if (!o) {
        lz_nn_fail(LZ_EMEM, op, "no memory for the optimizer");
        return NULL;
    }
    o->kind = k;
    o->params = ps;
    o->lr = lr;
    return o;
}

lz_optim *lz_sgd_new(lz_params *ps, const lz_sgd_options *opt)
{
    const lz_sgd_options dflt = {.struct_size = sizeof dflt, .lr = 1e-3};
    if (!opt)
        opt = &dflt;
    if (!(opt->momentum >= 0 && opt->momentum < 1))
        return bad("lz_sgd", "momentum must be in [0, 1) but", opt->momentum);
    if (!(opt->weight_decay >= 0))
        return bad("lz_sgd", "weight_decay must be >= 0 but", opt->weight_decay);
    if (opt->nesterov && (opt->momentum == 0 || opt->dampening != 0))
        return bad("lz_sgd", "nesterov needs momentum > 0 and dampening 0; dampening", opt->dampening);
    lz_optim *o = create(SGD, ps, opt->lr, "lz_sgd");
    if (o)
        o->sgd = *opt;
    return o;
}

lz_optim *lz_adam_new(lz_params *ps, const lz_adam_options *opt)
{
    const lz_adam_options dflt = {.struct_size = sizeof dflt, .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    if (!opt)
        opt = &dflt;
    if (!(opt->beta1 >= 0 && opt->beta1 < 1))
        return bad("lz_adam", "beta1 must be in [0, 1) but", opt->beta1);
    if (!(opt->beta2 >= 0 && opt->beta2 < 1))
        return bad("lz_adam", "beta2 must be in [0, 1) but", opt->beta2);
    if (!(opt->eps >= 0))
        return bad("lz_adam", "eps must be >= 0 but", opt->eps);
    if (!(opt->weight_decay >= 0))
        return bad("lz_adam", "weight_decay must be >= 0 but", opt->weight_decay);
    lz_optim *o = create(ADAM, ps, opt->lr, "lz_adam");
    if (o)
        o->adam = *opt;
    return o;
}

static lz_status ensure_state(lz_optim *o)
{
    size_t n = o->params->len;
    if (n <= o->nstate)
        return LZ_OK;
    lz_tensor **m = lz_realloc(o->m, n * sizeof *m);
    if (!m)
        return lz_nn_fail(LZ_EMEM, "lz_optim_step", "no memory for the optimizer's state");
    o->m = m;
    lz_tensor **v = lz_realloc(o->v, n * sizeof *v);
    if (!v)
        return lz_nn_fail(LZ_EMEM, "lz_optim_step", "no memory for the optimizer's state");
    o->v = v;
    for (size_t i = o->nstate; i < n; i++)
        o->m[i] = o->v[i] = NULL;
    o->nstate = n;
    return LZ_OK;
}

/* State starts as real buffers of zeros, so that the first step traces the same graph as all later ones and compiles once. */
static lz_status zero_state(lz_tensor **state, lz_tensor *like)
{
    if (*state)
        return LZ_OK;
    void *zeros = lz_calloc(1, lz_nbytes(like) + 1);
    if (!zeros)
        return lz_nn_fail(LZ_EMEM, "lz_optim_step", "no memory for the optimizer's state");
    lz_tensor *t = lz_from_host_at(lz_dtype_of(like), lz_shape_of(like), zeros, NULL);
    lz_free(zeros);
    lz_status s = lz_status_of(t);
    if (s == LZ_OK)
        *state = lz_retain(t);
    return s;
}

static lz_tensor *plus_scaled(lz_tensor *a, lz_tensor *b, double s)
{
    return lz_add_at(a, lz_mul_scalar_at(b, s, NULL), NULL);
}

static lz_status sgd_update(lz_optim *o, size_t i, lz_tensor *p, lz_tensor *g)
{
    const lz_sgd_options *c = &o->sgd;
    if (c->weight_decay != 0)
        g = plus_scaled(g, p, c->weight_decay);
    if (c->momentum != 0) {
        bool first = !o->m[i];
        lz_status s = zero_state(&o->m[i], p);
        if (s != LZ_OK)
            return s;
        /* torch.optim.SGD does not dampen the first gradient */
        double take = first ? 1 : 1 - c->dampening;
        lz_tensor *m = plus_scaled(lz_mul_scalar_at(o->m[i], c->momentum, NULL), g, take);
        if ((s = lz_assign_at(o->m[i], m, NULL)) != LZ_OK)
            return s;
        g = c->nesterov ? plus_scaled(g, m, c->momentum) : m;
    }
    return lz_assign_at(p, lz_sub_at(p, lz_mul_scalar_at(g, o->lr, NULL), NULL), NULL);
}

/* Kingma and Ba 2015, Loshchilov and Hutter 2019. Bias corrections are run-time scalars: they change every step. */
static lz_status adam_update(lz_optim *o, size_t i, lz_tensor *p, lz_tensor *g)
{
    const lz_adam_options *c = &o->adam;
    double t = (double)o->step, fix1 = 1 - pow(c->beta1, t), fix2 = 1 - pow(c->beta2, t);
    lz_status s = zero_state(&o->m[i], p);
    if (s == LZ_OK)
        s = zero_state(&o->v[i], p);
    if (s != LZ_OK)
        return s;
    lz_tensor *base = p;
    if (c->weight_decay != 0 && c->decoupled)
        base = lz_mul_scalar_at(p, 1 - o->lr * c->weight_decay, NULL);
    else if (c->weight_decay != 0)
        g = plus_scaled(g, p, c->weight_decay);
    lz_tensor *m = plus_scaled(lz_mul_scalar_at(g, 1 - c->beta1, NULL), o->m[i], c->beta1);
    lz_tensor *v = plus_scaled(lz_mul_scalar_at(lz_mul_at(g, g, NULL), 1 - c->beta2, NULL), o->v[i], c->beta2);
    lz_tensor *denom = lz_add_scalar_at(lz_mul_scalar_at(lz_sqrt_at(v, NULL), 1 / sqrt(fix2), NULL), c->eps, NULL);
    lz_tensor *update = lz_mul_scalar_at(lz_div_at(m, denom, NULL), o->lr / fix1, NULL);
    if ((s = lz_assign_at(o->m[i], m, NULL)) != LZ_OK || (s = lz_assign_at(o->v[i], v, NULL)) != LZ_OK)
        return s;
    return lz_assign_at(p, lz_sub_at(base, update, NULL), NULL);
}

lz_status lz_optim_step(lz_optim *o)
{
    if (!o)
        return lz_nn_fail(LZ_ENULL, "lz_optim_step", "the optimizer is NULL");
    lz_status s = ensure_state(o);
    if (s == LZ_OK)
        s = lz_scope_begin();
    if (s != LZ_OK)
        return s;
    o->step++;
    for (size_t i = 0; i < o->params->len && s == LZ_OK; i++) {
        lz_tensor *p = o->params->tensors[i], *g = lz_grad_of(p);
        if (g)
            s = o->kind == SGD ? sgd_update(o, i, p, g) : adam_update(o, i, p, g);
    }
    lz_scope_end();
    return s;
}

lz_status lz_optim_zero_grad(lz_optim *o)
{
    if (!o)
        return lz_nn_fail(LZ_ENULL, "lz_optim_zero_grad", "the optimizer is NULL");
    return lz_zero_grad(o->params->tensors, o->params->len);
}

lz_status lz_optim_set_lr(lz_optim *o, double lr)
{
    if (!o)
        return lz_nn_fail(LZ_ENULL, "lz_optim_set_lr", "the optimizer is NULL");
    if (!(lr >= 0) || isinf(lr)) {
        bad("lz_optim_set_lr", "lr must be a number >= 0 but", lr);
        return LZ_EINVAL;
    }
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
