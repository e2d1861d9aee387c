/* change.c - recompilation after a small change: the time of the first step of a model with a new
 * batch size or an added layer, which is a new graph, minus that of a later step. Everything else
 * of the model has run before in this process. */
#include "models.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 5, FULL = 128 };

struct changing {
    bool all_sizes; /* no batch size needs other kernels: reductions stay on one side of the lengths
                       that divide them */
    void (*init)(lz_params *ps);
    lz_tensor *(*forward)(lz_tensor *x);
    lz_shape x; /* of a batch of FULL */
};

static struct {
    const struct changing *c;
    lz_params params;
    lz_optim *optimizer;
    lz_tensor *x, *y;
} run;

/* ---- the models ---- */

static struct mlp mlp;
static struct mnist mnist;
static int activation; /* of the first layer of the mlp */

static lz_tensor *activate(lz_tensor *x)
{
    switch (activation) {
    case 0:
        return lz_relu(x);
    case 1:
        return lz_gelu(x, true);
    case 2:
        return lz_silu(x);
    case 3:
        return lz_tanh(x);
    case 4:
        return lz_sigmoid(x);
    case 5:
        return lz_square(x);
    case 6:
        return lz_mul(x, lz_tanh(x));
    default:
        return lz_gelu(x, false);
    }
}
enum { EDITS = 7 };

static void init_mlp(lz_params *ps)
{
    mlp_init(&mlp, ps);
}
static lz_tensor *forward_mlp(lz_tensor *x)
{
    x = activate(lz_linear_layer_forward(&mlp.l[0], x));
    x = lz_relu(lz_linear_layer_forward(&mlp.l[1], x));
    return lz_linear_layer_forward(&mlp.l[2], x);
}
static void init_mnist(lz_params *ps)
{
    mnist_init(&mnist, ps);
}
static lz_tensor *forward_mnist(lz_tensor *x)
{
    return mnist_forward(&mnist, x);
}

/* ---- steps ---- */

static void make_batch(int64_t n)
{
    lz_shape s = run.c->x;
    size_t all = (size_t)(s.dims[0] = n);
    for (int i = 1; i < s.rank; i++)
        all *= (size_t)s.dims[i];
    float *x = bench_random(1, all, 1);
    int32_t y[FULL];
    for (int i = 0; i < FULL; i++)
        y[i] = i % 10;
    lz_release(run.x);
    lz_release(run.y);
    run.x = lz_from_host(LZ_F32, s, x);
    run.y = lz_from_host(LZ_I32, LZ_SHAPE(n), y);
    free(x);
}

static void step(void)
{
    lz_scope_begin();
    bench_check(lz_backward(lz_cross_entropy(run.c->forward(run.x), run.y)), "backward");
    bench_check(lz_optim_step(run.optimizer), "optimizer");
    bench_check(lz_optim_zero_grad(run.optimizer), "gradients");
    bench_check(lz_mark_step(.wait = true), "step");
    lz_scope_end();
}

/* Seconds of a first step less a later one, and kernels that it compiled. */
static double first_less_later(long *compiled)
{
    lz_cache_counts c0 = {.struct_size = sizeof c0}, c = c0;
    double t[STEPS + 1], begin = bench_now();
    bench_check(lz_get_cache_counts(&c0), "counts");
    for (int i = 0; i <= STEPS; i++, begin = bench_now()) {
        step();
        t[i] = bench_now() - begin;
    }
    bench_check(lz_get_cache_counts(&c), "counts");
    *compiled = (long)(c.llvm_compiles - c0.llvm_compiles);
    return t[0] - bench_sample(t + 1, STEPS).median;
}

static void begin(const struct workload *w)
{
    long compiled;
    run.c = w->data;
    activation = 0;
    bench_check(lz_manual_seed(1), "seed");
    run.c->init(&run.params);
    run.optimizer = lz_sgd(&run.params, .lr = 0.01, .momentum = 0.9);
    make_batch(FULL);
    bench_check(lz_mark_step(.wait = true), "initial weights");
    (void)first_less_later(&compiled);
}

static void end(void)
{
    lz_optim_free(run.optimizer);
    lz_params_free(&run.params);
    lz_release(run.x);
    lz_release(run.y);
    memset(&run, 0, sizeof run);
}

/* ---- what changes ---- */

static void new_batch(const struct workload *w)
{
    enum { N = 12 };
    double t[N];
    long all = 0, sizes = 0;
    begin(w);
    bool must = run.c->all_sizes;
    for (int i = 0; i < N; i++) {
        long compiled;
        make_batch(FULL - 8 * (i + 1));
        t[i] = first_less_later(&compiled);
        all += compiled;
        sizes += compiled > 0;
    }
    end();
    if (all && must)
        bench_fail("other batch sizes compiled %ld kernels", all);
    bench_emit(w, w->name, bench_sample(t, N),
               ",\"llvm_compiles\":%ld,\"sizes\":%d,\"sizes_that_compiled\":%ld", all, N, sizes);
}

static void new_layer(const struct workload *w)
{
    enum { MOST = 3 }; /* the layer, and its gradients */
    double t[EDITS];
    long all = 0;
    begin(w);
    for (int i = 0; i < EDITS; i++) {
        long compiled;
        activation = i + 1;
        t[i] = first_less_later(&compiled);
        all += compiled;
        if (compiled < 1 || compiled > MOST)
            bench_fail("another activation compiled %ld kernels", compiled);
    }
    end();
    bench_emit(w, w->name, bench_sample(t, EDITS), ",\"llvm_compiles\":%.2f", (double)all / EDITS);
}

static const struct changing
    of_mlp = {true, init_mlp, forward_mlp, {.rank = 2, .dims = {FULL, 784}}},
    of_mnist = {false, init_mnist, forward_mnist, {.rank = 4, .dims = {FULL, 1, 28, 28}}};

const struct workload workloads_change[] = {
    {.name = "new_batch_mlp",
     .run = new_batch,
     .data = &of_mlp,
     .doc = "first step of train_mlp's model with another batch size, less a step"},
    {.name = "new_batch_mnist",
     .run = new_batch,
     .data = &of_mnist,
     .doc = "first step of train_mnist's model with another batch size, less a step"},
    {.name = "new_layer",
     .run = new_layer,
     .data = &of_mlp,
     .doc = "first step of train_mlp's model with another activation in one layer, less a step"},
    {0}};
