/* t_function_state.c - a whole train step in lz_function_trace: what it reads and assigns outside,
 * gradients, optimizers, statistics, random numbers and the scaler are, bit for bit, those of the
 * same steps with lz_mark_step; no call records an operation, unless it traces a variant. */
#include "../runtime/rt.h"
#include "runtime/graph/thread_state.h"
#include <pthread.h>

enum { IN = 6, HIDDEN = 5, OUT = 3, BATCH = 8, STEPS = 6 };

/* ---- every optimizer, with every option that is state or a number of the step ---- */

#define OPTIMIZERS(X)                                                                              \
    X(sgd, lz_sgd(ps, .lr = 0.1))                                                                  \
    X(momentum, lz_sgd(ps, .lr = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true))    \
    X(dampened, lz_sgd(ps, .lr = 0.1, .momentum = 0.9, .dampening = 0.5))                          \
    X(adam, lz_adam(ps, .lr = 0.05, .weight_decay = 0.01))                                         \
    X(amsgrad, lz_adam(ps, .lr = 0.05, .amsgrad = true))                                           \
    X(adamw, lz_adamw(ps, .lr = 0.05, .weight_decay = 0.1))                                        \
    X(rmsprop, lz_rmsprop(ps, .lr = 0.02))                                                         \
    X(centered, lz_rmsprop(ps, .lr = 0.02, .momentum = 0.8, .centered = true))                     \
    X(adagrad, lz_adagrad(ps, .lr = 0.1, .lr_decay = 0.25, .initial_accumulator_value = 0.5))      \
    X(lion, lz_lion(ps, .lr = 0.01, .weight_decay = 0.2))
#define MAKE(name, call)                                                                           \
    static lz_optim *make_##name(lz_params *ps)                                                    \
    {                                                                                              \
        return call;                                                                               \
    }
OPTIMIZERS(MAKE)
#define ROW(name, call) {#name, make_##name},
static const struct {
    const char *name;
    lz_optim *(*make)(lz_params *ps);
} optimizers[] = {OPTIMIZERS(ROW)};
enum { OPTIMIZERS_N = sizeof optimizers / sizeof *optimizers };

/* ---- the step ---- */

static lz_params params, some, rest;
static lz_linear_layer first, last;
static lz_norm_layer norm;
static lz_optim *optim;
static lz_grad_scaler *scaler;
static lz_ema *ema;
static int recorded;

typedef enum way { PLAIN, ZERO_LAST, ACCUMULATE, SCALED, CLIPPED, WAYS } way;

static lz_tensor *loss_of(lz_tensor *x, lz_tensor *y)
{
    lz_tensor *h = lz_relu(lz_norm_layer_forward(&norm, lz_linear_layer_forward(&first, x), true));
    h = lz_dropout(h, 0.25, true);
    return lz_mse_loss(lz_linear_layer_forward(&last, h), y);
}

static void step(lz_tensor *const *in, lz_tensor **out, void *user)
{
    way w = *(way *)user;
    recorded++;
    if (w == PLAIN || w == SCALED || w == CLIPPED)
        OK(lz_optim_zero_grad(optim));
    out[0] = loss_of(in[0], in[1]);
    out[1] = lz_rand(LZ_F32, LZ_SHAPE(3));
    OK(lz_backward(w == SCALED ? lz_grad_scaler_scale(scaler, out[0]) : out[0]));
    if (w == SCALED)
        OK(lz_grad_scaler_unscale(scaler, optim));
    if (w == CLIPPED)
        OK(lz_status_of(lz_clip_grad_norm(&params, 0.5, 2)));
    if (w == SCALED) {
        OK(lz_grad_scaler_step(scaler, optim));
        OK(lz_grad_scaler_update(scaler));
    } else {
        OK(lz_optim_step(optim));
    }
    OK(lz_ema_update(ema));
    if (w == ZERO_LAST)
        OK(lz_optim_zero_grad(optim));
}

static bool is_scale(const char *name, lz_tensor *t, void *user)
{
    (void)name;
    return (lz_rank_of(t) > 1) == (user != NULL);
}

static void begin(int which)
{
    params = some = rest = (lz_params){0};
    OK(lz_manual_seed(7));
    OK(lz_linear_layer_init(&first, &params, "first", IN, HIDDEN, true, LZ_F32));
    OK(lz_norm_layer_init(&norm, LZ_BATCH_NORM, &params, "norm", HIDDEN, LZ_F32));
    OK(lz_linear_layer_init(&last, &params, "last", HIDDEN, OUT, true, LZ_F32));
    OK(lz_params_select(&params, &some, is_scale, &params));
    OK(lz_params_select(&params, &rest, is_scale, NULL));
    optim = optimizers[which].make(&some);
    ck_assert_msg(optim != NULL, "%s", lz_last_error_text());
    OK(lz_optim_add_group(optim, &rest, .lr_scale = 0.5));
    scaler = lz_grad_scaler_new(.init_scale = 1024, .growth_interval = 2);
    OK(lz_mark_step());
    ema = lz_ema_new(&params, 0.9);
    ck_assert_ptr_nonnull(ema);
}

static void end(void)
{
    lz_ema_free(ema);
    lz_grad_scaler_free(scaler);
    lz_optim_free(optim);
    lz_params_free(&some);
    lz_params_free(&rest);
    lz_params_free(&params);
}

enum { MOST = 1 << 14 };
typedef struct trail {
    float v[MOST];
    int n;
} trail;

static void keep(trail *t, lz_tensor *x)
{
    ck_assert_int_le(t->n + lz_numel(x), MOST);
    x = lz_dtype_of(x) == LZ_F32 ? x : lz_to(x, LZ_F32);
    OK(lz_to_host(x, t->v + t->n, sizeof(float) * (size_t)lz_numel(x)));
    t->n += (int)lz_numel(x);
}

/* Everything that there is between two steps. */
static void keep_all(trail *t, lz_tensor *const *out)
{
    keep(t, out[0]);
    keep(t, out[1]);
    for (size_t i = 0; i < params.len; i++) {
        lz_tensor *g = lz_grad_of(params.tensors[i]);
        keep(t, params.tensors[i]);
        keep(t, lz_ema_params(ema)->tensors[i]);
        t->v[t->n++] = g != NULL;
        if (g)
            keep(t, g);
    }
    keep(t, lz_grad_scaler_get_scale(scaler));
}

static void batch(int i, lz_tensor **in, bool infinite)
{
    float x[BATCH * IN], y[BATCH * OUT];
    uint32_t s = (uint32_t)i * 2654435761u + 1;
    for (int k = 0; k < BATCH * IN; k++)
        x[k] = (float)((s = s * 1664525 + 1013904223) >> 8) * 0x1p-23f - 1;
    for (int k = 0; k < BATCH * OUT; k++)
        y[k] = (float)((s = s * 1664525 + 1013904223) >> 8) * 0x1p-23f - 1;
    if (infinite)
        y[0] = INFINITY;
    in[0] = lz_from_host(LZ_F32, LZ_SHAPE(BATCH, IN), x);
    in[1] = lz_from_host(LZ_F32, LZ_SHAPE(BATCH, OUT), y);
}

/* A call, which records operations only when it runs the callback. */
static void call(lz_function *f, lz_tensor *const *in, int nin, lz_tensor **out, int nout)
{
    uint64_t before[LZ_OP_COUNT], after[LZ_OP_COUNT];
    int runs = recorded;
    lz_thread_state_sum_ops(before);
    OK(lz_function_call(f, in, nin, out, nout));
    lz_thread_state_sum_ops(after);
    for (int i = 0; i < LZ_OP_COUNT && runs == recorded; i++)
        ck_assert_msg(after[i] == before[i], "the call records %s", lz_op_get((lz_op)i)->text);
}

/* The scale of every third step overflows. */
static void steps(int which, way w, bool function, trail *t)
{
    lz_function *f = NULL;
    t->n = 0;
    begin(which);
    for (int i = 0; i < STEPS; i++) {
        lz_tensor *in[2], *out[2];
        lz_scope_begin();
        OK(lz_optim_set_lr(optim, lz_lr_cosine(0.1, i, STEPS, 2, 0)));
        batch(i, in, w == SCALED && i % 3 == 1);
        if (w == ACCUMULATE && i == 3)
            OK(lz_optim_zero_grad(optim));
        if (function && !f) {
            lz_rng_state before, after;
            OK(lz_get_rng_state(&before));
            OK(lz_function_trace(step, &w, in, 2, 2, &f, .name = "train"));
            OK(lz_get_rng_state(&after));
            ck_assert_uint_eq(before.counter, after.counter);
        }
        if (function) {
            call(f, in, 2, out, 2);
        } else {
            step(in, out, &w);
            OK(lz_mark_step());
        }
        keep_all(t, out);
        lz_scope_end();
    }
    lz_function_free(f);
    end();
}

/* Gradients that are added up are there in later calls, and not in the first: two variants. */
START_TEST(a_train_step_is_that_of_lz_mark_step)
{
    static trail want, got;
    bool compiled = _i >= OPTIMIZERS_N * WAYS; /* each optimizer in one way, to be quick */
    int which = compiled ? _i - OPTIMIZERS_N * WAYS : _i / WAYS;
    way w = (way)(_i % WAYS);
    rt_use(rt_devices[compiled]);
    steps(which, w, false, &want);
    recorded = 0;
    steps(which, w, true, &got);
    ck_assert_int_eq(recorded, w == ACCUMULATE ? 2 : 1);
    ck_assert_int_eq(want.n, got.n);
    for (int i = 0; i < want.n; i++)
        ck_assert_msg(memcmp(&want.v[i], &got.v[i], sizeof(float)) == 0,
                      "%s: number %d of %d is %.9g, not %.9g", optimizers[which].name, i, want.n,
                      got.v[i], want.v[i]);
}
END_TEST

/* ---- what is read and assigned outside ---- */

static lz_tensor *u, *v;

static lz_tensor *pair_of(float a, float b)
{
    OK(lz_scope_begin());
    lz_tensor *t = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){a, b}));
    OK(lz_scope_end());
    return t;
}
static void expect(lz_tensor *t, float a, float b)
{
    rt_expect(t, (float[]){a, b}, 2, 0);
}
static lz_function *traced(lz_body_fn *fn, void *user, lz_tensor *const *in, int nin)
{
    lz_function *f = NULL;
    OK(lz_function_trace(fn, user, in, nin, 1, &f));
    return f;
}
static lz_tensor *called(lz_function *f, lz_tensor *const *in, int nin)
{
    lz_tensor *out = NULL;
    call(f, in, nin, &out, 1);
    return out;
}

static void reads(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)in, (void)user;
    recorded++;
    out[0] = lz_add(u, v);
}
static void counts(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)in, (void)user;
    recorded++;
    OK(lz_assign(u, lz_add_scalar(u, 1)));
    OK(lz_assign(u, lz_mul(u, v)));
    out[0] = u;
}
static void swaps(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)in, (void)user;
    lz_tensor *was = lz_detach(u);
    OK(lz_assign(u, v));
    OK(lz_assign(v, was));
    out[0] = lz_add(u, u);
}
static void takes(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    OK(lz_assign(u, in[0]));
    OK(lz_assign(v, u));
    out[0] = in[0];
}

START_TEST(tensors_from_outside_are_those_of_the_call)
{
    rt_use(rt_devices[_i]);
    u = pair_of(1, 2), v = pair_of(3, 4);
    lz_function *f = traced(reads, NULL, NULL, 0), *g = traced(counts, NULL, NULL, 0),
                *h = traced(swaps, NULL, NULL, 0);
    expect(u, 1, 2); /* nothing happened yet */
    expect(called(f, NULL, 0), 4, 6);
    OK(lz_assign(u, lz_mul_scalar(v, 10))); /* pending */
    expect(called(f, NULL, 0), 33, 44);
    OK(lz_mark_step());
    recorded = 0;
    expect(called(g, NULL, 0), 93, 164);
    expect(u, 93, 164);
    expect(called(g, NULL, 0), 282, 660);
    OK(lz_assign(v, lz_from_host(LZ_F32, LZ_SHAPE(2), (float[]){1, 0})));
    expect(called(g, NULL, 0), 283, 0);
    OK(lz_mark_step());
    expect(u, 283, 0);
    expect(called(h, NULL, 0), 2, 0);
    expect(u, 1, 0);
    expect(v, 283, 0);
    expect(called(h, NULL, 0), 566, 0);
    expect(called(f, NULL, 0), 284, 0);
    lz_tensor *x = pair_of(5, 6);
    lz_function *k = traced(takes, NULL, &x, 1);
    expect(called(k, &x, 1), 5, 6);
    expect(v, 5, 6);
    OK(lz_assign(u, lz_add(u, v)));
    OK(lz_mark_step());
    expect(x, 5, 6);
    expect(v, 5, 6);
    expect(called(g, NULL, 0), 55, 78);
    ck_assert_int_eq(recorded, 0);
    OK(lz_release(u));
    OK(lz_release(v)); /* the functions still have them */
    expect(called(f, NULL, 0), 60, 84);
    lz_function_free(f), lz_function_free(g), lz_function_free(h), lz_function_free(k);
    ck_assert_int_eq(lz_status_of(u), LZ_EHANDLE);
}
END_TEST

/* A value is donated where nobody else has it, and only there. */
START_TEST(state_that_others_hold_is_not_overwritten)
{
    rt_use(rt_devices[_i]);
    u = pair_of(1, 2), v = pair_of(1, 1);
    lz_function *g = traced(counts, NULL, NULL, 0);
    lz_tensor *was = lz_detach(u), *other = pair_of(0, 0);
    OK(lz_assign(other, u));
    lz_tensor *now = lz_retain(called(g, NULL, 0));
    (void)called(g, NULL, 0);
    expect(u, 3, 4);
    expect(now, 2, 3);
    expect(was, 1, 2);
    expect(other, 1, 2);
    OK(lz_mark_step());
    (void)called(g, NULL, 0);
    expect(other, 1, 2);
    expect(u, 4, 5);
    lz_function_free(g);
}
END_TEST

/* ---- bodies and functions inside ---- */

static lz_function *inner;
static lz_status inside;

static void calls_inner(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    inside = lz_function_call(inner, in, 1, out, 1);
}
static void calls_twice(lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *x, *y, *g;
    calls_inner(in, &x, user);
    calls_inner(&x, &y, user);
    OK(lz_grad(lz_sum(y), &x, 1, &g));
    out[0] = lz_add(y, g);
}
static void round_of_inner(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i;
    calls_inner(in, out, user);
    if (inside != LZ_OK)
        out[0] = in[0];
}
static void loops(lz_tensor *const *in, lz_tensor **out, void *user)
{
    OK(lz_fori(0, 3, in, 1, round_of_inner, user, out));
}
static void leaves_state(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    OK(lz_assign(u, lz_add_scalar(u, 1)));
    out[0] = lz_mul(in[0], u);
}
static void draws(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    out[0] = lz_add(lz_mul(in[0], v), lz_rand(LZ_F32, LZ_SHAPE(2)));
}

START_TEST(a_call_inside_becomes_part_of_the_body)
{
    rt_use(rt_devices[_i]);
    u = pair_of(1, 2), v = pair_of(2, 3);
    lz_tensor *x = pair_of(1, 1), *y;
    inner = traced(leaves_state, NULL, &x, 1);
    lz_function *f = traced(calls_twice, NULL, &x, 1);
    expect(u, 1, 2);
    expect(called(f, &x, 1), 2 * 3 + 3, 3 * 4 + 4);
    expect(u, 3, 4);
    expect(called(f, &x, 1), 4 * 5 + 5, 5 * 6 + 6);
    expect(u, 5, 6);
    lz_function_free(f);
    FAILS(lz_function_trace(loops, NULL, &x, 1, 1, &f), LZ_EINVAL, "body inside");
    ck_assert_int_eq(inside, LZ_EINVAL);
    OK(lz_fori(0, 3, &x, 1, round_of_inner, NULL, &y));
    ck_assert_int_eq(inside, LZ_EINVAL);
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "f32[2]"));
    expect(y, 1, 1);
    expect(u, 5, 6);
    lz_function_free(inner);
}
END_TEST

/* Rounds of a loop draw the numbers that they draw without the function around. */
START_TEST(loops_inside_draw_what_they_draw_outside)
{
    float want[2][2], got[2];
    rt_use(rt_devices[_i]);
    v = pair_of(2, 3);
    lz_tensor *x = pair_of(1, 1), *y;
    inner = traced(draws, NULL, &x, 1);
    lz_function *f = traced(loops, NULL, &x, 1);
    for (int k = 0; k < 4; k++) {
        if (k % 2 == 0)
            OK(lz_manual_seed(3));
        if (k < 2)
            loops(&x, &y, NULL);
        else
            y = called(f, &x, 1);
        OK(lz_to_host(y, k < 2 ? want[k] : got, sizeof got));
        if (k >= 2)
            ck_assert(got[0] == want[k - 2][0] && got[1] == want[k - 2][1]);
    }
    ck_assert(want[0][0] != want[1][0]);
    lz_function_free(f), lz_function_free(inner);
}
END_TEST

/* First used inside of a body; assigned in lz_checkpoint. */
static void round_of_outer(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i, (void)user;
    out[0] = lz_add(lz_mul(in[0], v), u);
}
static void in_checkpoint(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    OK(lz_assign(u, lz_add(u, in[0])));
    out[0] = lz_mul(in[0], u);
}
static void bodies(lz_tensor *const *in, lz_tensor **out, void *user)
{
    lz_tensor *x;
    OK(lz_fori(0, 2, in, 1, round_of_outer, user, &x));
    OK(lz_checkpoint(in_checkpoint, &x, 1, 1, user, out));
}

START_TEST(bodies_inside_use_what_is_outside)
{
    rt_use(rt_devices[_i]);
    u = pair_of(1, 2), v = pair_of(2, 3);
    lz_tensor *x = pair_of(1, 1);
    lz_function *f = traced(bodies, NULL, &x, 1);
    expect(called(f, &x, 1), 7 * 8, 17 * 19);
    expect(u, 8, 19);
    OK(lz_assign(v, lz_zeros(LZ_F32, LZ_SHAPE(2))));
    expect(called(f, &x, 1), 8 * 16, 19 * 38);
    expect(u, 16, 38);
    lz_function_free(f);
}
END_TEST

/* ---- what goes wrong ---- */

static lz_params one;
static void trains(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    OK(lz_optim_zero_grad(optim));
    out[0] = lz_sum(lz_add(lz_mul(lz_mul(u, u), in[0]), lz_rand(LZ_F32, LZ_SHAPE(2))));
    out[0] = lz_add(out[0], lz_sum(lz_mul_scalar(v, 0)));
    OK(lz_backward(out[0]));
    OK(lz_optim_step(optim));
}

static void begin_one(void)
{
    u = pair_of(1, 2), v = pair_of(1, 1);
    one = (lz_params){0};
    OK(lz_params_add(&one, "u", u));
    optim = lz_adam(&one, .lr = 0.5);
    OK(lz_mark_step());
}

/* Of two equal programs, one with calls that fail between the steps. */
START_TEST(a_call_that_fails_leaves_everything)
{
    float got[2][2];
    rt_use(rt_devices[_i]);
    lz_tensor *in = pair_of(1, 1), *out;
    for (int k = 0; k < 2; k++) {
        begin_one();
        OK(lz_requires_grad(u, true));
        OK(lz_manual_seed(9));
        lz_function *f = traced(trains, NULL, &in, 1);
        for (int i = 0; i < 3; i++) {
            if (k) {
                lz_tensor *wrong = pair_of(1, 1), *dead;
                lz_function *gives = NULL;
                OK(lz_function_trace(reads, NULL, &v, 1, 1, &gives, .donate = (bool[]){true}));
                OK(lz_function_call(gives, &v, 1, &dead, 1));
                FAILS(lz_function_call(f, &in, 1, &out, 1), LZ_ESTALE, "donated");
                OK(lz_assign(v, wrong));
                FAILS(lz_function_call(f, (lz_tensor *[]){in, in}, 2, &out, 1), LZ_EINVAL,
                      "2 arguments");
                FAILS(lz_function_call(f, &(lz_tensor *){lz_sum(in)}, 1, &out, 1), LZ_ESHAPE,
                      "in[0]");
                lz_function_free(gives);
            }
            (void)called(f, &in, 1);
        }
        OK(lz_to_host(u, got[k], sizeof got[k]));
        lz_function_free(f);
        lz_optim_free(optim);
        lz_params_free(&one);
    }
    ck_assert(got[0][0] == got[1][0] && got[0][1] == got[1][1]);
}
END_TEST

START_TEST(what_goes_wrong_names_things)
{
    rt_use("CPU");
    begin_one();
    OK(lz_requires_grad(u, true));
    lz_tensor *in = pair_of(1, 1), *out;
    lz_function *f = traced(trains, NULL, &in, 1), *g = traced(reads, NULL, NULL, 0);
    lz_optim_free(optim);
    FAILS(lz_function_call(f, &in, 1, &out, 1), LZ_ESTATE, "optimizer");
    BAD(out, LZ_ESTATE, "lz_function_call");
    expect(u, 1, 2);
    OK(lz_assign(v, lz_to_device(lz_add(v, v), "REF")));
    FAILS(lz_function_call(g, NULL, 0, &out, 1), LZ_EINVAL, "runs on CPU:0");
    ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "f32[2]"));
    lz_function_free(f), lz_function_free(g);
}
END_TEST

/* A half of what the scaler does in a step. */
static void only_unscales(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    OK(lz_backward(lz_grad_scaler_scale(scaler, lz_sum(lz_mul(u, in[0])))));
    OK(lz_grad_scaler_unscale(scaler, optim));
    out[0] = in[0];
}
static void only_updates(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)user;
    inside = lz_grad_scaler_update(scaler);
    out[0] = in[0];
}
START_TEST(a_step_of_the_scaler_is_whole)
{
    rt_use(rt_devices[_i]);
    begin_one();
    OK(lz_requires_grad(u, true));
    scaler = lz_grad_scaler_new();
    lz_tensor *x = pair_of(1, 1);
    lz_function *f;
    FAILS(lz_function_trace(only_unscales, NULL, &x, 1, 1, &f), LZ_ESTATE, "lz_grad_scaler_update");
    lz_tensor *out;
    only_unscales(&x, &out, NULL);
    OK(lz_function_trace(only_updates, NULL, &x, 1, 1, &f));
    ck_assert_int_eq(inside, LZ_ESTATE);
    lz_function_free(f);
    OK(lz_grad_scaler_step(scaler, optim));
    OK(lz_grad_scaler_update(scaler));
    OK(lz_mark_step());
    lz_grad_scaler_free(scaler);
    lz_optim_free(optim);
    lz_params_free(&one);
}
END_TEST

/* A step that a body refuses does not count. */
static void round_that_steps(lz_tensor *i, lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)i, (void)user;
    inside = lz_optim_step(optim);
    out[0] = in[0];
}
START_TEST(a_step_that_is_refused_does_not_count)
{
    float got[2][2];
    rt_use(rt_devices[_i]);
    for (int k = 0; k < 2; k++) {
        begin_one();
        OK(lz_requires_grad(u, true));
        for (int i = 0; i < 3; i++) {
            lz_tensor *x = pair_of(1, 1), *y;
            OK(lz_optim_zero_grad(optim));
            OK(lz_backward(lz_sum(lz_mul(u, u))));
            if (k) {
                OK(lz_fori(0, 2, &x, 1, round_that_steps, NULL, &y));
                ck_assert_int_eq(inside, LZ_EINVAL);
                ck_assert_ptr_nonnull(strstr(lz_last_error_text(), "f32[2]"));
            }
            OK(lz_optim_step(optim));
            OK(lz_mark_step());
        }
        OK(lz_to_host(u, got[k], sizeof got[k]));
        lz_optim_free(optim);
        lz_params_free(&one);
    }
    ck_assert(got[0][0] == got[1][0] && got[0][1] == got[1][1]);
}
END_TEST

/* ---- threads: calls that leave state run one after the other, and who saves sees whole ones ----
 */

enum { CALLERS = 3, CALLS = 200 };
static lz_function *shared;
static _Atomic int running;

static void both(lz_tensor *const *in, lz_tensor **out, void *user)
{
    (void)in, (void)user;
    OK(lz_assign(u, lz_add_scalar(u, 1)));
    OK(lz_assign(v, lz_add_scalar(v, 1)));
    out[0] = lz_sub(u, v);
}
static void *calls(void *arg)
{
    for (int i = 0; i < CALLS; i++) {
        lz_tensor *out;
        lz_scope_begin();
        if (lz_function_call(shared, NULL, 0, &out, 1) != LZ_OK)
            *(int *)arg = 1;
        lz_scope_end();
    }
    running--;
    return NULL;
}

START_TEST(calls_of_threads_are_whole)
{
    pthread_t t[CALLERS];
    int failed[CALLERS] = {0};
    rt_use(rt_devices[_i]);
    u = pair_of(1, 2), v = pair_of(1, 2);
    shared = traced(both, NULL, NULL, 0);
    running = CALLERS;
    for (int i = 0; i < CALLERS; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, calls, &failed[i]), 0);
    while (running) {
        lz_array a[2];
        lz_tensor *pair[2] = {u, v};
        OK(lz_tensor_arrays(pair, 2, a));
        ck_assert_int_eq(memcmp(a[0].data, a[1].data, 8), 0);
        lz_array_free(&a[0]), lz_array_free(&a[1]);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(t[i], NULL);
        ck_assert_int_eq(failed[i], 0);
    }
    expect(u, 1 + CALLERS * CALLS, 2 + CALLERS * CALLS);
    expect(v, 1 + CALLERS * CALLS, 2 + CALLERS * CALLS);
    lz_function_free(shared);
}
END_TEST

/* ---- checkpoints between calls ---- */

static void go_on(lz_function *f, lz_tensor **in, int n, trail *t)
{
    for (int i = 0; i < n; i++) {
        lz_tensor *out[2];
        if (f) {
            call(f, in, 2, out, 2);
        } else {
            way w = PLAIN;
            step(in, out, &w);
            OK(lz_mark_step());
        }
        if (t)
            keep_all(t, out);
    }
}

START_TEST(checkpoints_between_calls_are_right)
{
    static trail want, got;
    char path[64];
    way w = PLAIN;
    lz_tensor *in[2];
    rt_use("REF");
    snprintf(path, sizeof path, "function_state_%d.safetensors", (int)getpid());
    want.n = got.n = 0;
    for (int k = 0; k < 3; k++) { /* with steps; with calls; on from the file */
        begin(3);
        batch(0, in, false);
        lz_checkpoint c = {.struct_size = sizeof c,
                           .params = &params,
                           .optim = optim,
                           .ema = ema,
                           .scaler = scaler};
        lz_function *f = NULL;
        if (k)
            OK(lz_function_trace(step, &w, in, 2, 2, &f));
        if (k == 2)
            OK(lz_checkpoint_load(path, &c));
        else
            go_on(f, in, 3, NULL);
        if (k == 1)
            OK(lz_checkpoint_save(path, &c));
        got.n = 0;
        go_on(f, in, 2, k ? &got : &want);
        lz_function_free(f);
        end();
        for (int i = 0; k && i < want.n; i++)
            ck_assert_msg(memcmp(&want.v[i], &got.v[i], sizeof(float)) == 0, "%d: number %d", k, i);
    }
    (void)unlink(path);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("nn/function_state");
    TCase *t = tcase_create("function_state");
    tcase_add_loop_test(t, a_train_step_is_that_of_lz_mark_step, 0, OPTIMIZERS_N * (WAYS + 1));
    tcase_add_loop_test(t, tensors_from_outside_are_those_of_the_call, 0, 2);
    tcase_add_loop_test(t, state_that_others_hold_is_not_overwritten, 0, 2);
    tcase_add_loop_test(t, a_call_inside_becomes_part_of_the_body, 0, 2);
    tcase_add_loop_test(t, loops_inside_draw_what_they_draw_outside, 0, 2);
    tcase_add_loop_test(t, bodies_inside_use_what_is_outside, 0, 2);
    tcase_add_loop_test(t, a_call_that_fails_leaves_everything, 0, 2);
    tcase_add_test(t, what_goes_wrong_names_things);
    tcase_add_loop_test(t, a_step_of_the_scaler_is_whole, 0, 2);
    tcase_add_loop_test(t, a_step_that_is_refused_does_not_count, 0, 2);
    tcase_add_loop_test(t, calls_of_threads_are_whole, 0, 2);
    tcase_add_test(t, checkpoints_between_calls_are_right);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
