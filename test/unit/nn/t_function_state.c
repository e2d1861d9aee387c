/* t_function_state.c - a whole train step in lz_function_trace: what it reads and assigns outside,
 * gradients, optimizers, statistics, random numbers and the scaler are, bit for bit, those of the
 * same steps with lz_mark_step; nothing is recorded after the first call. */
#include "../runtime/rt.h"
#include <inttypes.h>

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
            OK(lz_function_call(f, in, 2, out, 2));
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

int main(void)
{
    Suite *s = suite_create("nn/function_state");
    TCase *t = tcase_create("function_state");
    tcase_add_loop_test(t, a_train_step_is_that_of_lz_mark_step, 0, OPTIMIZERS_N * (WAYS + 1));
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
