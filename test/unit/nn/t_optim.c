/* t_optim.c - optimizers, groups, clipping, averages and schedules against their formulas, step by
 * step in double. */
#include "suite.h"
#include <lazuli/lazuli.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK(call) ck_assert_msg((call) == LZ_OK, "%s", lz_last_error_text())

enum { N = 6, STEPS = 6 };
static const double start[N] = {0.5, -1.25, 2, -0.03125, 7, 0};
/* loss = sum(coef * p^2) / 2 + sum(slope * p): the gradient is coef * p + slope */
static const double coef[N] = {1, 0.5, -0.25, 2, 0.125, 0}, slope[N] = {0, 0.1, 0, 0, -0.2, 0};

typedef struct state {
    double p[N], a[N], b[N], c[N];
} state;
typedef struct row {
    const char *name;
    lz_optim *(*make)(lz_params *);
    void (*expect)(state *s, const double *g, int t);
} row;

static lz_params list_of(const double *values, const char *name)
{
    lz_params ps = {0};
    lz_scope_begin();
    OK(lz_params_add(&ps, name, lz_from_host(LZ_F64, LZ_SHAPE(N), values)));
    lz_scope_end();
    return ps;
}

static void backward(lz_tensor *p, double scale)
{
    lz_tensor *c = lz_from_host(LZ_F64, LZ_SHAPE(N), coef),
              *s = lz_from_host(LZ_F64, LZ_SHAPE(N), slope);
    lz_tensor *half = lz_mul_scalar(lz_mul(c, lz_mul(p, p)), 0.5);
    OK(lz_backward(lz_mul_scalar(lz_sum(lz_add(half, lz_mul(s, p))), scale)));
}

static void gradient(const double *p, double *g)
{
    for (int i = 0; i < N; i++)
        g[i] = coef[i] * p[i] + slope[i];
}

static void close_to(lz_tensor *t, const double *want, const char *what, int step)
{
    double got[N];
    OK(lz_to_host(t, got, sizeof got));
    for (int i = 0; i < N; i++)
        ck_assert_msg(fabs(got[i] - want[i]) <= 1e-12 * (1 + fabs(want[i])),
                      "%s, step %d, element %d: %.17g, not %.17g", what, step, i, got[i], want[i]);
}

static lz_optim *make_adamw(lz_params *ps)
{
    return lz_adamw(ps, .lr = 0.05);
}
static void adam_core(state *s, int i, double g, int t, double largest, double lr)
{
    s->a[i] = 0.9 * s->a[i] + 0.1 * g;
    s->p[i] -= lr * (s->a[i] / (1 - pow(0.9, t))) / (sqrt(largest / (1 - pow(0.999, t))) + 1e-8);
}
static void adamw(state *s, const double *g, int t)
{
    for (int i = 0; i < N; i++) {
        s->p[i] *= 1 - 0.05 * 0.01;
        s->b[i] = 0.999 * s->b[i] + 0.001 * g[i] * g[i];
        adam_core(s, i, g[i], t, s->b[i], 0.05);
    }
}
static lz_optim *make_amsgrad(lz_params *ps)
{
    return lz_adam(ps, .lr = 0.05, .amsgrad = true);
}
static void amsgrad(state *s, const double *g, int t)
{
    for (int i = 0; i < N; i++) {
        s->b[i] = 0.999 * s->b[i] + 0.001 * g[i] * g[i];
        s->c[i] = fmax(s->c[i], s->b[i]);
        adam_core(s, i, g[i], t, s->c[i], 0.05);
    }
}
static lz_optim *make_rmsprop(lz_params *ps)
{
    return lz_rmsprop(ps, .weight_decay = 0.1);
}
static void rmsprop(state *s, const double *g, int t)
{
    (void)t;
    for (int i = 0; i < N; i++) {
        double d = g[i] + 0.1 * s->p[i];
        s->a[i] = 0.99 * s->a[i] + 0.01 * d * d;
        s->p[i] -= 0.01 * d / (sqrt(s->a[i]) + 1e-8);
    }
}
static lz_optim *make_centered(lz_params *ps)
{
    return lz_rmsprop(ps, .lr = 0.02, .alpha = 0.9, .eps = 1e-3, .momentum = 0.8, .centered = true);
}
static void centered(state *s, const double *g, int t)
{
    (void)t;
    for (int i = 0; i < N; i++) {
        s->a[i] = 0.9 * s->a[i] + 0.1 * g[i] * g[i];
        s->b[i] = 0.9 * s->b[i] + 0.1 * g[i];
        s->c[i] = 0.8 * s->c[i] + g[i] / (sqrt(s->a[i] - s->b[i] * s->b[i]) + 1e-3);
        s->p[i] -= 0.02 * s->c[i];
    }
}
static lz_optim *make_adagrad(lz_params *ps)
{
    return lz_adagrad(ps, .lr = 0.1, .lr_decay = 0.25, .weight_decay = 0.01,
                      .initial_accumulator_value = 0.5);
}
static void adagrad(state *s, const double *g, int t)
{
    for (int i = 0; i < N; i++) {
        double d = g[i] + 0.01 * s->p[i];
        s->a[i] = (t == 1 ? 0.5 : s->a[i]) + d * d;
        s->p[i] -= 0.1 / (1 + (t - 1) * 0.25) * d / (sqrt(s->a[i]) + 1e-10);
    }
}
static lz_optim *make_lion(lz_params *ps)
{
    return lz_lion(ps, .lr = 0.01, .weight_decay = 0.2);
}
static void lion(state *s, const double *g, int t)
{
    (void)t;
    for (int i = 0; i < N; i++) {
        double c = 0.9 * s->a[i] + 0.1 * g[i];
        s->p[i] = s->p[i] * (1 - 0.01 * 0.2) - 0.01 * ((c > 0) - (c < 0));
        s->a[i] = 0.99 * s->a[i] + 0.01 * g[i];
    }
}

static const row rows[] = {
    {"adamw", make_adamw, adamw},       {"amsgrad", make_amsgrad, amsgrad},
    {"rmsprop", make_rmsprop, rmsprop}, {"rmsprop centered", make_centered, centered},
    {"adagrad", make_adagrad, adagrad}, {"lion", make_lion, lion},
};

/* Formulas; and the graph of the first step serves all, whatever the rate. */
START_TEST(rules_follow_their_formulas)
{
    const row *r = &rows[_i];
    state s = {{0}, {0}, {0}, {0}};
    memcpy(s.p, start, sizeof start);
    lz_params ps = list_of(start, "p");
    lz_optim *o = r->make(&ps);
    ck_assert_msg(o != NULL, "%s", lz_last_error_text());
    int64_t compiled = 0;
    for (int t = 1; t <= STEPS; t++) {
        double g[N];
        gradient(s.p, g);
        r->expect(&s, g, t);
        lz_scope_begin();
        backward(ps.tensors[0], 1);
        OK(lz_optim_step(o));
        OK(lz_optim_zero_grad(o));
        OK(lz_mark_step());
        lz_scope_end();
        close_to(ps.tensors[0], s.p, r->name, t);
        if (t == 1)
            compiled = lz_counter_value("UncachedCompile");
    }
    static const double rates[] = {0, 1, 1e-5};
    for (int t = 0; t < 3; t++) {
        OK(lz_optim_set_lr(o, rates[t]));
        lz_scope_begin();
        backward(ps.tensors[0], 1);
        OK(lz_optim_step(o));
        OK(lz_optim_zero_grad(o));
        OK(lz_mark_step());
        lz_scope_end();
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), compiled);
    lz_optim_free(o);
    lz_params_free(&ps);
}
END_TEST

static lz_optim *make_dampened(lz_params *ps)
{
    return lz_sgd(ps, .lr = 0.05, .momentum = 0.9, .dampening = 0.5);
}
static void dampened(state *s, const double *g, int t)
{
    for (int i = 0; i < N; i++) {
        s->a[i] = 0.9 * s->a[i] + (t == 1 ? 1 : 0.5) * g[i];
        s->p[i] -= 0.05 * s->a[i];
    }
}
static const row dampened_row = {"sgd", make_dampened, dampened};
enum { ROWS = sizeof rows / sizeof *rows };

/* Steps of a scaler whose gradients are not finite change nothing and are not counted, from the
 * first one on; a parameter that takes part later counts its own; and a training goes on from a
 * checkpoint as if there had been none. */
START_TEST(skipped_steps_are_none)
{
    const row *r = _i < ROWS ? &rows[_i] : &dampened_row;
    static const bool bad[12] = {true, false, false, true, true, false, false, false, true};
    enum { LATE = 5, SAVE = 7 };
    char path[200];
    snprintf(path, sizeof path, "%s/lazuli-skip-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             (int)getpid());
    state s[2] = {{{0}, {0}, {0}, {0}}, {{0}, {0}, {0}, {0}}};
    lz_params ps = list_of(start, "p"), more = list_of(start, "q");
    OK(lz_params_add(&ps, "q", more.tensors[0]));
    memcpy(s[0].p, start, sizeof start);
    memcpy(s[1].p, start, sizeof start);
    lz_optim *o = r->make(&ps);
    lz_grad_scaler *scaler = lz_grad_scaler_new(.init_scale = 256);
    int t[2] = {0, 0};
    for (int i = 0; i < 12; i++) {
        for (int k = 0; k < (i < LATE ? 1 : 2) && !bad[i]; k++) {
            double g[N];
            gradient(s[k].p, g);
            r->expect(&s[k], g, ++t[k]);
        }
        lz_scope_begin();
        lz_tensor *by = lz_from_host(LZ_F64, LZ_SCALAR, (double[]){bad[i] ? NAN : 1});
        for (int k = 0; k < (i < LATE ? 1 : 2); k++) {
            lz_tensor *p = ps.tensors[k], *c = lz_from_host(LZ_F64, LZ_SHAPE(N), coef);
            lz_tensor *half = lz_mul_scalar(lz_mul(c, lz_mul(p, p)), 0.5);
            lz_tensor *loss = lz_add(half, lz_mul(lz_from_host(LZ_F64, LZ_SHAPE(N), slope), p));
            OK(lz_backward(lz_grad_scaler_scale(scaler, lz_mul(lz_sum(loss), by))));
        }
        OK(lz_grad_scaler_step(scaler, o));
        OK(lz_grad_scaler_update(scaler));
        OK(lz_optim_zero_grad(o));
        OK(lz_mark_step());
        lz_scope_end();
        close_to(ps.tensors[0], s[0].p, r->name, i);
        close_to(ps.tensors[1], s[1].p, r->name, i);
        if (i != SAVE)
            continue;
        lz_checkpoint c = {.struct_size = sizeof c, .params = &ps, .optim = o, .scaler = scaler};
        OK(lz_checkpoint_save(path, &c));
        lz_optim_free(o);
        lz_grad_scaler_free(scaler);
        c.optim = o = r->make(&ps);
        c.scaler = scaler = lz_grad_scaler_new();
        OK(lz_checkpoint_load(path, &c));
        OK(lz_mark_step());
        ck_assert(lz_item(lz_grad_scaler_get_scale(scaler)) == 256 / 8);
    }
    lz_optim_free(o);
    lz_grad_scaler_free(scaler);
    lz_params_free(&ps);
    lz_params_free(&more);
    remove(path);
}
END_TEST

START_TEST(groups_have_their_own_rate_and_decay)
{
    lz_params a = list_of(start, "a"), b = list_of(start, "b"), unused = list_of(start, "u");
    double pa[N], pb[N];
    memcpy(pa, start, sizeof pa);
    memcpy(pb, start, sizeof pb);
    lz_optim *o = lz_sgd(&a, .lr = 0.5, .weight_decay = 0.1);
    OK(lz_optim_add_group(o, &b, .lr_scale = 0.25));
    OK(lz_optim_add_group(o, &unused));
    ck_assert_int_eq(lz_optim_add_group(o, &b), LZ_EINVAL);
    ck_assert_int_eq(lz_optim_add_group(NULL, &b), LZ_ENULL);
    ck_assert_int_eq(lz_optim_add_group(o, &b, .lr_scale = -1), LZ_EINVAL);
    for (int t = 1; t <= 3; t++) {
        double lr = t == 3 ? 0.1 : 0.5;
        OK(lz_optim_set_lr(o, lr));
        for (int i = 0; i < N; i++) {
            pa[i] -= lr * (coef[i] * pa[i] + slope[i] + 0.1 * pa[i]);
            pb[i] -= lr * 0.25 * (coef[i] * pb[i] + slope[i]);
        }
        lz_scope_begin();
        backward(a.tensors[0], 1);
        backward(b.tensors[0], 1);
        OK(lz_optim_step(o));
        OK(lz_optim_zero_grad(o));
        OK(lz_mark_step());
        lz_scope_end();
        close_to(a.tensors[0], pa, "first group", t);
        close_to(b.tensors[0], pb, "second group", t);
        close_to(unused.tensors[0], start, "no gradient", t);
    }
    lz_optim_free(o);
    lz_params_free(&a);
    lz_params_free(&b);
    lz_params_free(&unused);
}
END_TEST

static bool named_b(const char *name, lz_tensor *t, void *user)
{
    (void)t;
    return strcmp(name, user) == 0;
}

START_TEST(lists_are_found_and_selected)
{
    lz_params ps = list_of(start, "a"), chosen = {0};
    lz_scope_begin();
    int32_t seven = 7;
    OK(lz_params_add(&ps, "b", lz_from_host(LZ_F64, LZ_SHAPE(N), coef)));
    OK(lz_params_add_buffer(&ps, "count", lz_from_host(LZ_I32, LZ_SCALAR, &seven)));
    ck_assert_int_eq(lz_params_add(&ps, "wrong", lz_from_host(LZ_I32, LZ_SCALAR, &seven)),
                     LZ_EDTYPE);
    lz_scope_end();
    ck_assert_uint_eq(ps.len, 3);
    ck_assert(ps.is_buffer[2] && !ps.is_buffer[1]);
    ck_assert_ptr_eq(lz_params_find(&ps, "b"), ps.tensors[1]);
    ck_assert_ptr_null(lz_params_find(&ps, "c"));
    OK(lz_params_select(&ps, &chosen, named_b, "b"));
    ck_assert_uint_eq(chosen.len, 1);
    ck_assert_ptr_eq(chosen.tensors[0], ps.tensors[1]);
    lz_params_free(&chosen);
    lz_params_free(&ps);
}
END_TEST

START_TEST(bad_options_name_the_option)
{
    lz_params ps = {0};
#define REFUSED(call, text)                                                                        \
    ck_assert_ptr_null(call);                                                                      \
    ck_assert_msg(strstr(lz_last_error_text(), text) != NULL, "%s", lz_last_error_text())
    REFUSED(lz_adamw(&ps, .weight_decay = -1), "weight_decay is -1");
    REFUSED(lz_adamw(&ps, .beta1 = 1), "beta1 is 1");
    REFUSED(lz_rmsprop(&ps, .alpha = -0.5), "alpha is -0.5");
    REFUSED(lz_rmsprop(&ps, .momentum = NAN), "momentum");
    REFUSED(lz_adagrad(&ps, .initial_accumulator_value = -2), "initial_accumulator_value is -2");
    REFUSED(lz_adagrad(&ps, .lr_decay = INFINITY), "lr_decay is inf");
    REFUSED(lz_lion(&ps, .beta2 = 2), "beta2 is 2");
    REFUSED(lz_lion(NULL), "NULL");
    REFUSED(lz_sgd(&ps, .nesterov = true), "nesterov");
}
END_TEST

/* ---- gradients ---- */

static void with_gradients(lz_params *out)
{
    lz_params ps = list_of(start, "a");
    lz_scope_begin();
    OK(lz_params_add(&ps, "b", lz_from_host(LZ_F64, LZ_SHAPE(N), coef)));
    OK(lz_params_add(&ps, "none", lz_from_host(LZ_F64, LZ_SHAPE(N), coef)));
    lz_scope_end();
    backward(ps.tensors[0], 3);
    backward(ps.tensors[1], -2);
    *out = ps;
}

START_TEST(clipping_by_norm)
{
    static const double types[] = {2, 1, 3, INFINITY}, limits[] = {0.5, 1e6, 0};
    for (int k = 0; k < 4; k++)
        for (int l = 0; l < 3; l++) {
            lz_params ps;
            double g[2][N], total = 0;
            lz_scope_begin();
            with_gradients(&ps);
            gradient(start, g[0]);
            gradient(coef, g[1]);
            for (int i = 0; i < 2 * N; i++) {
                double *x = &g[i / N][i % N];
                *x *= i < N ? 3 : -2;
                total = isinf(types[k]) ? fmax(total, fabs(*x)) : total + pow(fabs(*x), types[k]);
            }
            total = isinf(types[k]) ? total : pow(total, 1 / types[k]);
            double by = fmin(1, limits[l] / (total + 1e-6));
            lz_tensor *norm = lz_clip_grad_norm(&ps, limits[l], types[k]);
            ck_assert_msg(fabs(lz_item(norm) - total) < 1e-12 * total, "type %g: %g, not %g",
                          types[k], lz_item(norm), total);
            for (int i = 0; i < 2 * N; i++)
                g[i / N][i % N] *= by;
            close_to(lz_grad_of(ps.tensors[0]), g[0], "clipped", k);
            close_to(lz_grad_of(ps.tensors[1]), g[1], "clipped", k);
            ck_assert_ptr_null(lz_grad_of(ps.tensors[2]));
            OK(lz_zero_grad(ps.tensors, ps.len));
            ck_assert(lz_item(lz_clip_grad_norm(&ps, 1, 2)) == 0);
            lz_params_free(&ps);
            lz_scope_end();
        }
    lz_params ps = {0};
    ck_assert_int_eq(lz_status_of(lz_clip_grad_norm(NULL, 1, 2)), LZ_ENULL);
    ck_assert_int_eq(lz_status_of(lz_clip_grad_norm(&ps, -1, 2)), LZ_EINVAL);
    ck_assert_int_eq(lz_status_of(lz_clip_grad_norm(&ps, 1, 0)), LZ_EINVAL);
}
END_TEST

/* Norms and clipped gradients are right though powers of the gradients have no place in their
 * dtype: large ones, small ones, both together. */
static const struct {
    lz_dtype dtype;
    double at[4];
} extreme_gradients[] = {
    {LZ_F32, {3e25, 4e25, 1, 0}},       {LZ_F32, {3e-25, -4e-25, 0, 0}},
    {LZ_F32, {1e38, -2e38, 1e-38, 3}},  {LZ_F32, {2e-42, 1e-42, 0, 0}},
    {LZ_F64, {3e200, -4e200, 1e99, 0}}, {LZ_F64, {3e-200, 4e-200, 0, 0}},
    {LZ_BF16, {3e25, -4e25, 1e9, 0}},   {LZ_BF16, {3e-30, 4e-30, 0, 0}},
    {LZ_F16, {6e4, -6e4, 5e4, 6e-8}},   {LZ_F16, {6e-8, 1.2e-7, 0, 0}},
};

START_TEST(clipping_of_extreme_gradients)
{
    lz_dtype d = extreme_gradients[_i].dtype;
    double eps = d == LZ_F64 ? 1e-14 : d == LZ_F32 ? 4e-7 : d == LZ_F16 ? 1e-3 : 8e-3;
    for (int p = 2; p <= 9; p += 1 + (p == 3) * 5) {
        lz_scope_begin();
        lz_params ps = {0};
        lz_tensor *w = lz_zeros(d, LZ_SHAPE(4)),
                  *g = lz_to(lz_from_host(LZ_F64, LZ_SHAPE(4), extreme_gradients[_i].at), d);
        double at[4], got[4], norm = 0, most = 0;
        OK(lz_to_host(lz_to(g, LZ_F64), at, sizeof at));
        OK(lz_params_add(&ps, "w", w));
        OK(lz_backward(lz_sum(lz_mul(w, g))));
        for (int i = 0; i < 4; i++)
            most = fmax(most, fabs(at[i]));
        for (int i = 0; i < 4; i++)
            norm += pow(fabs(at[i]) / most, p);
        norm = pow(norm, 1.0 / p) * most;
        double limit = norm > 1e-6 ? norm / 16 : 1e-7, by = fmin(1, limit / (norm + 1e-6));
        double has = lz_item(lz_clip_grad_norm(&ps, limit, p));
        ck_assert_msg(fabs(has - norm) <= eps * norm + 0x1p-149, "p %d: %g, not %g", p, has, norm);
        OK(lz_to_host(lz_to(lz_grad_of(w), LZ_F64), got, sizeof got));
        double least = d == LZ_F64   ? 0x1p-1074
                       : d == LZ_F32 ? 0x1p-149
                       : d == LZ_F16 ? 0x1p-24
                                     : 0x1p-133;
        for (int i = 0; i < 4; i++)
            ck_assert_msg(fabs(got[i] - by * at[i]) <= eps * fabs(by * at[i]) + least,
                          "p %d: %g, not %g", p, got[i], by * at[i]);
        lz_params_free(&ps);
        lz_scope_end();
    }
}
END_TEST

START_TEST(clipping_by_value)
{
    lz_params ps;
    double g[N];
    lz_scope_begin();
    with_gradients(&ps);
    gradient(start, g);
    for (int i = 0; i < N; i++)
        g[i] = fmin(fmax(3 * g[i], -0.75), 0.75);
    OK(lz_clip_grad_value(&ps, 0.75));
    close_to(lz_grad_of(ps.tensors[0]), g, "clamped", 0);
    ck_assert_int_eq(lz_clip_grad_value(&ps, NAN), LZ_EINVAL);
    ck_assert_int_eq(lz_clip_grad_value(NULL, 1), LZ_ENULL);
    lz_params_free(&ps);
    lz_scope_end();
}
END_TEST

/* k backward passes, each a step of its own, then one update. */
START_TEST(gradients_accumulate_over_steps)
{
    lz_params ps = list_of(start, "p");
    double p[N], g[N];
    memcpy(p, start, sizeof p);
    lz_optim *o = lz_sgd(&ps, .lr = 0.3);
    int64_t compiled = 0;
    for (int t = 0; t < 4; t++) {
        gradient(p, g);
        for (int i = 0; i < N; i++)
            p[i] -= 0.3 * g[i];
        for (int k = 0; k < 3; k++) {
            lz_scope_begin();
            backward(ps.tensors[0], 1.0 / 3);
            if (k == 2) {
                OK(lz_optim_step(o));
                OK(lz_optim_zero_grad(o));
            }
            OK(lz_mark_step());
            lz_scope_end();
        }
        close_to(ps.tensors[0], p, "accumulated", t);
        if (t == 0)
            compiled = lz_counter_value("UncachedCompile");
    }
    ck_assert_int_eq(lz_counter_value("UncachedCompile"), compiled);
    lz_optim_free(o);
    lz_params_free(&ps);
}
END_TEST

START_TEST(averages_follow_the_parameters)
{
    lz_params ps = list_of(start, "p");
    lz_scope_begin();
    int32_t count = 0;
    OK(lz_params_add_buffer(&ps, "count", lz_from_host(LZ_I32, LZ_SCALAR, &count)));
    lz_scope_end();
    lz_ema *e = lz_ema_new(&ps, 0.9);
    ck_assert_msg(e != NULL, "%s", lz_last_error_text());
    double p[N], a[N], g[N];
    memcpy(p, start, sizeof p);
    memcpy(a, start, sizeof a);
    lz_optim *o = lz_sgd(&ps, .lr = 0.3);
    for (int t = 1; t <= 3; t++) {
        gradient(p, g);
        for (int i = 0; i < N; i++) {
            p[i] -= 0.3 * g[i];
            a[i] += 0.1 * (p[i] - a[i]);
        }
        lz_scope_begin();
        backward(ps.tensors[0], 1);
        OK(lz_optim_step(o));
        OK(lz_assign(ps.tensors[1], lz_add_scalar(ps.tensors[1], 1)));
        OK(lz_ema_update(e));
        OK(lz_optim_zero_grad(o));
        OK(lz_mark_step());
        lz_scope_end();
        close_to(ps.tensors[0], p, "parameter", t);
        close_to(lz_ema_params(e)->tensors[0], a, "average", t);
        ck_assert_int_eq(lz_item_i64(lz_ema_params(e)->tensors[1]), t);
    }
    for (int k = 0; k < 2; k++) { /* there and back, within a step and over one */
        OK(lz_ema_swap(e));
        if (k)
            OK(lz_mark_step());
        close_to(ps.tensors[0], a, "swapped", k);
        close_to(lz_ema_params(e)->tensors[0], p, "swapped", k);
        OK(lz_ema_swap(e));
        OK(lz_mark_step());
        close_to(ps.tensors[0], p, "swapped back", k);
        close_to(lz_ema_params(e)->tensors[0], a, "swapped back", k);
    }
    ck_assert_ptr_null(lz_ema_new(&ps, 1.5));
    ck_assert_ptr_null(lz_ema_new(NULL, 0.5));
    ck_assert_int_eq(lz_ema_update(NULL), LZ_ENULL);
    ck_assert_int_eq(lz_ema_swap(NULL), LZ_ENULL);
    lz_ema_free(e);
    lz_ema_free(NULL);
    lz_optim_free(o);
    lz_params_free(&ps);
}
END_TEST

/* ---- schedules: values of torch.optim.lr_scheduler ---- */

static void near(double got, double want)
{
    ck_assert_msg(fabs(got - want) <= 1e-12 * (1 + fabs(want)), "%.17g, not %.17g", got, want);
}

START_TEST(schedules)
{
    static const int64_t milestones[] = {30, 80};
    near(lz_lr_multistep(0.05, 29, milestones, 2, 0.1), 0.05);
    near(lz_lr_multistep(0.05, 30, milestones, 2, 0.1), 0.005);
    near(lz_lr_multistep(0.05, 80, milestones, 2, 0.1), 0.0005);
    near(lz_lr_multistep(0.05, 80, NULL, 2, 0.1), 0.05);
    near(lz_lr_exponential(2, 3, 0.5), 0.25);
    near(lz_lr_linear(0.05, 0, 4, 0.5, 1), 0.025);
    near(lz_lr_linear(0.05, 1, 4, 0.5, 1), 0.03125);
    near(lz_lr_linear(0.05, 4, 4, 0.5, 1), 0.05);
    near(lz_lr_linear(0.05, 9, 0, 0.5, 1), 0.05);
    near(lz_lr_polynomial(1, 1, 4, 2), 0.5625);
    near(lz_lr_polynomial(1, 4, 4, 2), 0);
    /* OneCycleLR(max_lr=0.1, total_steps=100): the top at step 29, the bottom at 99 */
    near(lz_lr_one_cycle(0.1, 0, 100, 0.3, 25, 1e4), 0.004);
    near(lz_lr_one_cycle(0.1, 29, 100, 0.3, 25, 1e4), 0.1);
    near(lz_lr_one_cycle(0.1, 99, 100, 0.3, 25, 1e4), 4e-7);
    near(lz_lr_one_cycle(0.1, 64, 100, 0.3, 25, 1e4), (0.1 + 4e-7) / 2);
    near(lz_lr_one_cycle(0.1, 1000, 100, 0.3, 25, 1e4), 4e-7);
}
END_TEST

/* The weight after each step of the optimizer on one weight with the gradients given. */
static void follow(const row *r, lz_dtype d, const double *g, int n, double *weights)
{
    lz_params ps = {0};
    lz_scope_begin();
    lz_tensor *w = lz_to(lz_from_host(LZ_F64, LZ_SHAPE(1), (double[]){1}), d);
    OK(lz_params_add(&ps, "w", w));
    lz_optim *o = r->make(&ps);
    for (int i = 0; i < n; i++) {
        lz_tensor *by = lz_to(lz_from_host(LZ_F64, LZ_SHAPE(1), &g[i]), d);
        OK(lz_optim_zero_grad(o));
        OK(lz_backward(lz_sum(lz_mul(w, by))));
        OK(lz_optim_step(o));
        OK(lz_mark_step());
        weights[i] = lz_item(w);
    }
    lz_optim_free(o);
    lz_params_free(&ps);
    lz_scope_end();
}

/* Gradients whose squares no f32 holds move the weight as they do in f64. */
START_TEST(squares_of_gradients_do_not_overflow)
{
    static const double g[][6] = {{1e38, 1e38, -3e37, 1e20, 5, 1e38},
                                  {1e20, 1e20, 1e20, 2e19, 1e19, 1e18},
                                  {1, 1e18, 2e19, 1e38, -1e38, 1e-30},
                                  {4.5e18, 9e18, 1.8e19, 1.9e19, 3.6e19, 1e17}};
    const row *r = &rows[_i];
    for (size_t k = 0; k < sizeof g / sizeof *g; k++) {
        double narrow[6], wide[6];
        follow(r, LZ_F32, g[k], 6, narrow);
        follow(r, LZ_F64, g[k], 6, wide);
        for (int i = 0; i < 6; i++)
            ck_assert_msg(fabs(narrow[i] - wide[i]) <= 1e-4 * (1 + fabs(wide[i])),
                          "%s, row %d, step %d: %.9g, not %.9g", r->name, (int)k, i, narrow[i],
                          wide[i]);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("optim");
    TCase *t = tcase_create("optim");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, rules_follow_their_formulas, 0, ROWS);
    tcase_add_loop_test(t, skipped_steps_are_none, 0, ROWS + 1);
    tcase_add_loop_test(t, squares_of_gradients_do_not_overflow, 0, ROWS);
    tcase_add_test(t, groups_have_their_own_rate_and_decay);
    tcase_add_test(t, lists_are_found_and_selected);
    tcase_add_test(t, bad_options_name_the_option);
    tcase_add_test(t, clipping_by_norm);
    tcase_add_loop_test(t, clipping_of_extreme_gradients, 0,
                        sizeof extreme_gradients / sizeof *extreme_gradients);
    tcase_add_test(t, clipping_by_value);
    tcase_add_test(t, gradients_accumulate_over_steps);
    tcase_add_test(t, averages_follow_the_parameters);
    tcase_add_test(t, schedules);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
