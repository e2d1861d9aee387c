/* train.c - whole training steps, with the models, sizes and batches of the peers' scripts. */
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- train_mlp: 784-512-512-10, batch 128, SGD with momentum 0.9 ---- */
enum { MLP_IN = 784, MLP_HIDDEN = 512, MLP_OUT = 10, MLP_BATCH = 128 };
static struct {
    lz_linear_layer l1, l2, l3;
    lz_params params;
    lz_optim *sgd;
    lz_tensor *x, *y, *loss;
} mlp;

static void mlp_step(void *arg)
{
    (void)arg;
    lz_scope_begin();
    lz_tensor *h = lz_relu(lz_linear_layer_forward(&mlp.l1, mlp.x));
    h = lz_relu(lz_linear_layer_forward(&mlp.l2, h));
    lz_tensor *loss = lz_cross_entropy(lz_linear_layer_forward(&mlp.l3, h), mlp.y);
    bench_check(lz_backward(loss), "backward");
    bench_check(lz_optim_step(mlp.sgd), "optimizer");
    lz_optim_zero_grad(mlp.sgd);
    lz_release(mlp.loss);
    mlp.loss = lz_retain(loss);
    bench_check(lz_mark_step(.wait = true), "step");
    lz_scope_end();
}

static void mlp_make(void)
{
    static float x[MLP_BATCH * MLP_IN];
    int32_t y[MLP_BATCH];
    unsigned r = 12345;
    for (int i = 0; i < MLP_BATCH * MLP_IN; i++)
        x[i] = (float)((r = r * 1664525u + 1013904223u) >> 8) / 16777216.0f - 0.5f;
    for (int i = 0; i < MLP_BATCH; i++)
        y[i] = (int32_t)((r = r * 1664525u + 1013904223u) >> 16) % MLP_OUT;
    lz_manual_seed(1);
    bench_check(lz_linear_layer_init(&mlp.l1, &mlp.params, "l1", MLP_IN, MLP_HIDDEN, true, LZ_F32),
                "l1");
    bench_check(
        lz_linear_layer_init(&mlp.l2, &mlp.params, "l2", MLP_HIDDEN, MLP_HIDDEN, true, LZ_F32),
        "l2");
    bench_check(lz_linear_layer_init(&mlp.l3, &mlp.params, "l3", MLP_HIDDEN, MLP_OUT, true, LZ_F32),
                "l3");
    mlp.sgd = lz_sgd(&mlp.params, .lr = 0.05, .momentum = 0.9);
    lz_scope_begin();
    mlp.x = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(MLP_BATCH, MLP_IN), x));
    mlp.y = lz_retain(lz_from_host(LZ_I32, LZ_SHAPE(MLP_BATCH), y));
    lz_scope_end();
    bench_check(lz_mark_step(.wait = true), "initial weights");
}

static void train_mlp(const char *name)
{
    double begin = bench_now() - bench.age_s;
    mlp_make();
    double before = bench_now();
    mlp_step(NULL);
    double first = bench_now(), loss0 = lz_item(mlp.loss);
    struct sample s = bench_run(mlp_step, NULL);
    double loss1 = lz_item(mlp.loss);
    if (!(loss1 < loss0) || !isfinite(loss1)) {
        fprintf(stderr, "lz-bench: %s: the loss went from %g to %g\n", name, loss0, loss1);
        exit(1);
    }
    lz_cache_counts c = {.struct_size = sizeof c};
    lz_get_cache_counts(&c);
    char extra[400];
    snprintf(extra, sizeof extra,
             ",\"gflops\":%.1f,\"loss0\":%.6f,\"loss\":%.6g,\"first_step_s\":%.4f,\"start_to_first_"
             "step_s\":%.4f,\"compile_s\":%.4f,\"llvm_compiles\":%llu",
             410.8e6 / s.median / 1e9, loss0, loss1, first - before, first - begin,
             c.compile_ms / 1e3, (unsigned long long)c.llvm_compiles);
    bench_emit(name, s, extra);
}

const struct workload workloads_train[] = {
    {"train_mlp", train_mlp, "training steps of 784-512-512-10, batch 128, SGD with momentum"},
    {0}};
