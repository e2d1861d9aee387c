/* start.c - first_step: from exec to the end of the first training step of the digits program
 * (examples/digits.c: 64-128-128-10, batches of 32 picked from resident images, SGD with momentum
 * 0.9), with everything it compiles already in the cache on disk. This is what a user waits for at
 * every start but the first. Each sample is a process of its own: this program runs itself
 * (bench_child). The images are made up, so that reading a file is not measured. */
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* ---- the process that is measured ---- */

enum { IMAGES = 1438, PIXELS = 64, HIDDEN = 128, CLASSES = 10, BATCH = 32 };
static lz_linear_layer l1, l2, l3;
static lz_params params;
static lz_tensor *images, *labels;

static void make(void)
{
    static float x[IMAGES * PIXELS];
    static int32_t y[IMAGES];
    unsigned r = 1;
    for (int i = 0; i < IMAGES * PIXELS; i++)
        x[i] = (float)((r = r * 1664525u + 1013904223u) >> 28);
    for (int i = 0; i < IMAGES; i++)
        y[i] = (int32_t)((r = r * 1664525u + 1013904223u) >> 16) % CLASSES;
    images = lz_div_scalar(lz_from_host(LZ_F32, LZ_SHAPE(IMAGES, PIXELS), x), 16);
    labels = lz_from_host(LZ_I32, LZ_SHAPE(IMAGES), y);
    bench_check(lz_manual_seed(1), "seed");
    bench_check(lz_linear_layer_init(&l1, &params, "l1", PIXELS, HIDDEN, true, LZ_F32), "l1");
    bench_check(lz_linear_layer_init(&l2, &params, "l2", HIDDEN, HIDDEN, true, LZ_F32), "l2");
    bench_check(lz_linear_layer_init(&l3, &params, "l3", HIDDEN, CLASSES, true, LZ_F32), "l3");
}

static lz_tensor *step(lz_optim *sgd)
{
    int64_t rows[BATCH];
    for (int i = 0; i < BATCH; i++)
        rows[i] = i * 37;
    lz_tensor *batch = lz_from_host(LZ_I64, LZ_SHAPE(BATCH), rows);
    lz_tensor *h = lz_index_select(images, 0, batch);
    h = lz_relu(lz_linear_layer_forward(&l1, h));
    h = lz_relu(lz_linear_layer_forward(&l2, h));
    lz_tensor *loss =
        lz_cross_entropy(lz_linear_layer_forward(&l3, h), lz_index_select(labels, 0, batch));
    bench_check(lz_backward(loss), "backward");
    bench_check(lz_optim_step(sgd), "optimizer");
    bench_check(lz_optim_zero_grad(sgd), "zero_grad");
    bench_check(lz_mark_step(), "step");
    bench_check(lz_wait_device_ops(), "wait");
    return loss;
}

/* Prints what run_once reads. */
static void measured(double since)
{
    make();
    lz_optim *sgd = lz_sgd(&params, .lr = 0.1, .momentum = 0.9);
    bench_check(lz_mark_step(), "initial weights");
    lz_tensor *loss = step(sgd);
    double took = bench_now() - since;
    lz_cache_counts c = {.struct_size = sizeof c};
    bench_check(lz_get_cache_counts(&c), "counts");
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    printf("%.9f %.9g %d %d %ld\n", took, lz_item(loss), (int)c.program_misses,
           (int)c.llvm_compiles, u.ru_maxrss);
    lz_optim_free(sgd);
    lz_params_free(&params);
}

/* ---- the process that measures ---- */

typedef struct start {
    const char *cache;
    double took, loss;
    int misses, compiles;
    long rss_kb;
} start;

static void run_once(start *s)
{
    char said[256];
    bench_child("first_step", bench.threads, s->cache, said, sizeof said);
    if (sscanf(said, "%lf %lf %d %d %ld", &s->took, &s->loss, &s->misses, &s->compiles,
               &s->rss_kb) != 5)
        bench_fail("a process said %s", said);
}

static void first_step(const struct workload *w)
{
    if (bench.measured) {
        measured(bench.exec);
        return;
    }
    start cold = {.cache = bench.cache}, warm = cold;
    run_once(&cold);
    double at[400], begin = bench_now();
    int n = 0;
    while (n < 400 && (n < 7 || bench_now() - begin < bench.secs)) {
        run_once(&warm);
        at[n++] = warm.took;
        if (warm.misses || warm.compiles || warm.loss != cold.loss || !isfinite(warm.loss))
            bench_fail("a process with a warm cache compiled, or computed something else");
    }
    bench_emit(w, w->name, bench_sample(at, n),
               ",\"process_rss_mb\":%.1f,\"first_run_ms\":%.3f,\"first_run_llvm_compiles\":%d",
               (double)warm.rss_kb / 1024, cold.took * 1e3, cold.compiles);
}

const struct workload workloads_start[] = {
    {.name = "first_step",
     .run = first_step,
     .doc = "exec to the end of the first training step of the digits program, cache warm"},
    {0}};
