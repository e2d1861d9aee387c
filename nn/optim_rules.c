/* optim_rules.c - the update rule of each optimizer. Formulas and order of operations are
 * torch.optim's. Every rule traces the same graph at each step: state begins as real buffers, and
 * numbers that change are run-time arguments. */
#include "nn/optim_rule.h"
#include "runtime/exec/assign.h"
#include <lazuli/hlo.h>
#include <lazuli/ops.h>
#include <lazuli/tensor_ops.h>
#include <math.h>
#include <stdlib.h>

typedef lz_optim_update update;

/* ---- shorthands ---- */

/* State starts as real buffers, so that the first step traces the same graph as all later ones and
 * compiles once. */
static lz_status begin_state(const update *u, int which, double value)
{
    lz_tensor **state = &u->group->state[which][u->i], *t;
    if (*state)
        return LZ_OK;
    lz_dtype d = lz_dtype_of(u->p);
    const lz_outside outside = lz_outside_begin();
    if (value == 0)
        t = lz_nn_filled(d, lz_shape_of(u->p), false, u->site);
    else
        t = lz_marked_like(lz_full_at(d, lz_shape_of(u->p), value, u->site), u->p, u->site);
    lz_follow_sharding(t, u->p);
    lz_status s =
        value == 0 ? lz_nn_status_of(t, "lz_optim_step") : lz_sync_at(&t, 1, false, u->site);
    lz_outside_end(&outside, t);
    if (s != LZ_OK)
        return lz_nn_annotated(s, "lz_optim_step", u->site);
    lz_optim_publish(u->o, state, t);
    return LZ_OK;
}

static lz_tensor *state(const update *u, int which)
{
    return u->group->state[which][u->i];
}

/* dst = value, unless the step is skipped. */
static lz_status store(const update *u, lz_tensor *dst, lz_tensor *value)
{
    return lz_assign_at(dst, u->skip ? lz_where_at(u->skip, dst, value, u->site) : value, u->site);
}

static lz_status set_state(const update *u, int which, lz_tensor *value)
{
    return store(u, u->group->state[which][u->i], value);
}

/* Multiplies by a constant of the optimizer's options. */
static lz_tensor *scaled(const update *u, lz_tensor *a, double s)
{
    return lz_mul_scalar_at(a, s, u->site);
}

/* A number that changes from step to step: an argument even when it is 0 or 1. */
static lz_tensor *number(const update *u, lz_optim_number_kind kind, double a)
{
    return lz_optim_number(u, kind, a, lz_dtype_of(u->p));
}

static lz_tensor *rated(const update *u, lz_tensor *a)
{
    return lz_mul_at(a, number(u, LZ_RATE, 0), u->site);
}

/* Multiplies by a number of the options that is an argument all the same. */
static lz_tensor *by_argument(const update *u, lz_tensor *a, double s)
{
    return lz_mul_at(a, lz_full_at(lz_dtype_of(u->p), LZ_SCALAR, s, u->site), u->site);
}

static lz_tensor *plus(const update *u, lz_tensor *a, lz_tensor *b)
{
    return lz_add_at(a, b, u->site);
}

static lz_tensor *minus(const update *u, lz_tensor *a, lz_tensor *b)
{
    return lz_sub_at(a, b, u->site);
}

/* decay * old + (1 - decay) * value */
static lz_tensor *mixed(const update *u, lz_tensor *old, lz_tensor *value, double decay)
{
    return plus(u, scaled(u, value, 1 - decay), scaled(u, old, decay));
}

/* The gradient with L2 weight decay added. */
static lz_tensor *penalised(const update *u)
{
    double w = u->group->weight_decay;
    return w != 0 ? plus(u, u->g, scaled(u, u->p, w)) : u->g;
}

/* The parameter after decoupled weight decay. */
static lz_tensor *decayed(const update *u)
{
    double w = u->group->weight_decay;
    return w != 0 ? lz_mul_at(u->p, number(u, LZ_KEPT_SHARE, w), u->site) : u->p;
}

/* ---- means of squares: a square may be beyond the largest number where its root is not. Such a
 * state v, 2^E or more of a dtype that ends there, is kept as the negative number -v 2^-E, which no
 * mean of squares is otherwise: below, the states are torch's. ---- */

/* E: the first power of two that d does not hold. */
static int beyond(lz_dtype d)
{
    return d == LZ_F16 ? 16 : d == LZ_F64 ? 1024 : 128;
}

/* A number that is part of the program. */
static lz_tensor *fixed(const update *u, const lz_tensor *like, double v)
{
    return lz_hlo_constant_at(lz_dtype_of(like), v, u->site);
}

/* What both of the following need of the dtype: each is made once for a parameter. */
typedef struct powers {
    int half;                    /* E / 2 */
    lz_tensor *zero, *up, *down; /* 2^half and 2^-half */
} powers;

static powers powers_of(const update *u)
{
    int half = beyond(lz_dtype_of(u->p)) / 2;
    return (powers){half, fixed(u, u->p, 0), fixed(u, u->p, ldexp(1, half)),
                    fixed(u, u->p, ldexp(1, -half))};
}

static lz_tensor *times(const update *u, lz_tensor *a, lz_tensor *b)
{
    return lz_mul_at(a, b, u->site);
}

static lz_tensor *above(const update *u, lz_tensor *a, int n)
{
    return lz_gt_at(a, fixed(u, a, ldexp(1, n)), u->site);
}

static lz_tensor *negative(const update *u, const powers *w, lz_tensor *a)
{
    return lz_lt_at(a, w->zero, u->site);
}

/* decay v + share g g, in torch's order: share g g may be a number where g g is not. */
static lz_tensor *mean_square(const update *u, const powers *w, lz_tensor *v, lz_tensor *g,
                              double decay, double share)
{
    lz_tensor *below = negative(u, w, v), *kept = lz_abs_at(v, u->site);
    lz_tensor *big = above(u, lz_abs_at(g, u->site), w->half - 2);
    big = lz_logical_or_at(big, above(u, kept, 2 * w->half - 2), u->site);
    big = lz_logical_or_at(big, below, u->site);
    g = lz_where_at(big, times(u, g, w->down), g, u->site);
    lz_tensor *down = times(u, times(u, kept, w->down), w->down);
    kept = lz_where_at(lz_logical_xor_at(big, below, u->site), down, kept, u->site);
    lz_tensor *next = times(u, share == 1 ? g : scaled(u, g, share), g);
    next = plus(u, next, decay == 1 ? kept : scaled(u, kept, decay));
    lz_tensor *up = times(u, times(u, next, w->up), w->up);
    lz_tensor *much = lz_ge_at(next, fixed(u, next, 0.25), u->site);
    lz_tensor *large = lz_where_at(much, lz_neg_at(next, u->site), up, u->site);
    return lz_where_at(big, large, next, u->site);
}

/* sqrt(v - mean mean); mean: NULL for 0 */
static lz_tensor *root(const update *u, const powers *w, lz_tensor *v, lz_tensor *mean)
{
    lz_tensor *below = negative(u, w, v), *size = lz_abs_at(v, u->site);
    if (mean) {
        mean = lz_where_at(below, times(u, mean, w->down), mean, u->site);
        size = minus(u, size, times(u, mean, mean));
    }
    size = lz_sqrt_at(size, u->site);
    return lz_where_at(below, times(u, size, w->up), size, u->site);
}

/* The larger of two states, of which a negative one is. */
static lz_tensor *larger(const update *u, const powers *w, lz_tensor *a, lz_tensor *b)
{
    lz_tensor *low = lz_minimum_at(a, b, u->site), *high = lz_maximum_at(a, b, u->site);
    return lz_where_at(negative(u, w, low), low, high, u->site);
}

/* ---- numbers that depend on the step: the host knows them, unless steps may have been skipped
 * ---- */

/* The step number without skipped steps: f32, or f64 for a parameter of that dtype. */
static lz_tensor *device_step(const update *u)
{
    lz_dtype d = lz_dtype_of(u->p) == LZ_F64 ? LZ_F64 : LZ_F32;
    lz_tensor *t = lz_optim_number(u, LZ_STEP, 0, d);
    return minus(u, t, lz_to_at(u->skipped, d, u->site));
}

/* lr / (1 - beta^t); or 1 / the root of that divisor. */
static lz_tensor *by_bias(const update *u, double beta, bool rooted)
{
    if (!u->skipped)
        return number(u, rooted ? LZ_BIAS_ROOT : LZ_BIAS_RATE, beta);
    lz_tensor *fix = lz_expm1_at(scaled(u, device_step(u), log(beta)), u->site);
    fix = lz_neg_at(fix, u->site);
    fix = lz_reciprocal_at(rooted ? lz_sqrt_at(fix, u->site) : fix, u->site);
    fix = rooted ? by_argument(u, fix, 1) : rated(u, fix);
    return lz_to_at(fix, lz_dtype_of(u->p), u->site);
}

/* lr / (1 + (t - 1) decay) */
static lz_tensor *decaying(const update *u, double decay)
{
    if (!u->skipped || decay == 0)
        return number(u, LZ_DECAYING_RATE, decay);
    lz_tensor *by = scaled(u, lz_add_scalar_at(device_step(u), -1, u->site), decay);
    by = lz_reciprocal_at(lz_add_scalar_at(by, 1, u->site), u->site);
    return lz_to_at(rated(u, by), lz_dtype_of(u->p), u->site);
}

/* g (1 - dampening), but g itself at the first step, as torch.optim.SGD has it. */
static lz_tensor *dampened(const update *u, lz_tensor *g, double dampening)
{
    if (!u->skipped)
        return lz_mul_at(g, number(u, LZ_FIRST_ONE, 1 - dampening), u->site);
    lz_tensor *t = device_step(u), *begun = lz_gt_scalar_at(t, 1, u->site);
    return lz_where_at(begun, by_argument(u, g, 1 - dampening), g, u->site);
}

#define TRY(expr)                                                                                  \
    do {                                                                                           \
        lz_status try_ = (expr);                                                                   \
        if (try_ != LZ_OK)                                                                         \
            return try_;                                                                           \
    } while (0)

/* ---- rules ---- */

static lz_status sgd(const update *u)
{
    const lz_sgd_options *c = &u->o->sgd;
    lz_tensor *g = penalised(u);
    if (c->momentum != 0) {
        TRY(begin_state(u, 0, 0));
        lz_tensor *m = scaled(u, state(u, 0), c->momentum);
        m = plus(u, m, c->dampening != 0 ? dampened(u, g, c->dampening) : g);
        TRY(set_state(u, 0, m));
        g = c->nesterov ? plus(u, g, scaled(u, m, c->momentum)) : m;
    }
    return store(u, u->p, minus(u, u->p, rated(u, g)));
}

static lz_status adam(const update *u)
{
    const lz_adam_options *c = &u->o->adam;
    TRY(begin_state(u, 0, 0));
    TRY(begin_state(u, 1, 0));
    lz_tensor *base = c->decoupled ? decayed(u) : u->p, *g = c->decoupled ? u->g : penalised(u);
    const powers w = powers_of(u);
    lz_tensor *m = mixed(u, state(u, 0), g, c->beta1);
    lz_tensor *v = mean_square(u, &w, state(u, 1), g, c->beta2, 1 - c->beta2), *largest = v;
    if (c->amsgrad) {
        TRY(begin_state(u, 2, 0));
        largest = larger(u, &w, state(u, 2), v);
        TRY(set_state(u, 2, largest));
    }
    lz_tensor *denom = root(u, &w, largest, NULL);
    denom = lz_mul_at(denom, by_bias(u, c->beta2, true), u->site);
    denom = lz_add_scalar_at(denom, c->eps, u->site);
    lz_tensor *by = lz_div_at(m, denom, u->site);
    by = lz_mul_at(by, by_bias(u, c->beta1, false), u->site);
    TRY(set_state(u, 0, m));
    TRY(set_state(u, 1, v));
    return store(u, u->p, minus(u, base, by));
}

static lz_status rmsprop(const update *u)
{
    const lz_rmsprop_options *c = &u->o->rmsprop;
    lz_tensor *g = penalised(u);
    TRY(begin_state(u, 0, 0));
    const powers w = powers_of(u);
    lz_tensor *v = mean_square(u, &w, state(u, 0), g, c->alpha, 1 - c->alpha), *mean = NULL;
    TRY(set_state(u, 0, v));
    if (c->centered) {
        TRY(begin_state(u, 2, 0));
        mean = mixed(u, state(u, 2), g, c->alpha);
        TRY(set_state(u, 2, mean));
    }
    lz_tensor *by = root(u, &w, v, mean);
    by = lz_div_at(g, lz_add_scalar_at(by, c->eps, u->site), u->site);
    if (c->momentum != 0) {
        TRY(begin_state(u, 1, 0));
        by = plus(u, scaled(u, state(u, 1), c->momentum), by);
        TRY(set_state(u, 1, by));
    }
    return store(u, u->p, minus(u, u->p, rated(u, by)));
}

static lz_status adagrad(const update *u)
{
    const lz_adagrad_options *c = &u->o->adagrad;
    lz_tensor *g = penalised(u);
    TRY(begin_state(u, 0, c->initial_accumulator_value));
    const powers w = powers_of(u);
    lz_tensor *sum = mean_square(u, &w, state(u, 0), g, 1, 1);
    TRY(set_state(u, 0, sum));
    lz_tensor *by = lz_add_scalar_at(root(u, &w, sum, NULL), c->eps, u->site);
    by = lz_div_at(g, by, u->site);
    by = lz_mul_at(by, decaying(u, c->lr_decay), u->site);
    return store(u, u->p, minus(u, u->p, by));
}

static lz_status lion(const update *u)
{
    const lz_lion_options *c = &u->o->lion;
    TRY(begin_state(u, 0, 0));
    lz_tensor *way = lz_sign_at(mixed(u, state(u, 0), u->g, c->beta1), u->site);
    lz_tensor *next = minus(u, decayed(u), rated(u, way));
    TRY(set_state(u, 0, mixed(u, state(u, 0), u->g, c->beta2)));
    return store(u, u->p, next);
}

const lz_optim_rule lz_rule_sgd = {"sgd", {"momentum_buffer"}, sgd};
const lz_optim_rule lz_rule_adam = {"adam", {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}, adam};
const lz_optim_rule lz_rule_rmsprop = {
    "rmsprop", {"square_avg", "momentum_buffer", "grad_avg"}, rmsprop};
const lz_optim_rule lz_rule_adagrad = {"adagrad", {"sum"}, adagrad};
const lz_optim_rule lz_rule_lion = {"lion", {"exp_avg"}, lion};
