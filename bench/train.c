/* train.c - whole training steps, with the models, sizes and batches of the peers' scripts. Without
 * --cache the first step compiles everything; then processes of their own take the same first steps
 * again: one that finds everything in the cache, one with another number of threads, and one that
 * compiles again where this one had not. Their losses must agree, bit for bit at the same number of
 * threads, and the loss must fall. */
#include "models.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { FIRST_STEPS = 4 }; /* that are compared */

struct training {
    void (*init)(lz_params *ps);
    lz_tensor *(*forward)(lz_tensor *x);
    lz_shape x; /* numbers in +-1/2, or, of a GPT, tokens */
    int64_t classes;
    const struct gpt_config *gpt; /* or NULL */
    double momentum;              /* of SGD with rate 0.01 */
    bool autocast;                /* to bf16 */
};

static struct {
    const struct training *t;
    lz_params params;
    lz_optim *optimizer;
    lz_tensor *x, *y, *loss;
} run;

/* ---- the models ---- */

static union {
    struct mlp mlp;
    struct mnist mnist;
    struct resnet resnet;
    struct gpt gpt;
} model;

static void init_mlp(lz_params *ps)
{
    mlp_init(&model.mlp, ps);
}
static lz_tensor *forward_mlp(lz_tensor *x)
{
    return mlp_forward(&model.mlp, x);
}
static void init_mnist(lz_params *ps)
{
    mnist_init(&model.mnist, ps);
}
static lz_tensor *forward_mnist(lz_tensor *x)
{
    return mnist_forward(&model.mnist, x);
}
static void init_resnet18(lz_params *ps)
{
    resnet_init(&model.resnet, ps, 18, 10);
}
static void init_resnet50(lz_params *ps)
{
    resnet_init(&model.resnet, ps, 50, 1000);
}
static lz_tensor *forward_resnet(lz_tensor *x)
{
    return resnet_forward(&model.resnet, x, true);
}
static void init_gpt(lz_params *ps)
{
    gpt_init(&model.gpt, ps, run.t->gpt);
}
static lz_tensor *forward_gpt(lz_tensor *x)
{
    return gpt_forward(&model.gpt, x);
}

/* ---- making one, a step of it ---- */

static int32_t *random_classes(uint64_t seed, size_t n, int64_t classes)
{
    float *x = bench_random(seed, n, (double)classes);
    int32_t *y = malloc(n * sizeof *y);
    if (!y)
        bench_fail("no memory for %zu labels", n);
    for (size_t i = 0; i < n; i++) {
        y[i] = (int32_t)floor((double)x[i] + (double)classes / 2);
        y[i] = y[i] < classes ? y[i] : (int32_t)classes - 1;
    }
    free(x);
    return y;
}

/* Each token's label is the one after it. */
static void make_text(const struct gpt_config *c)
{
    size_t rows = (size_t)c->batch, len = (size_t)c->context;
    int32_t *ids = random_classes(1, rows * (len + 1), c->vocabulary);
    int32_t *in = malloc(2 * rows * len * sizeof *in), *next = in + rows * len;
    if (!in)
        bench_fail("no memory for the text");
    for (size_t r = 0; r < rows; r++) {
        memcpy(in + r * len, ids + r * (len + 1), len * sizeof *in);
        memcpy(next + r * len, ids + r * (len + 1) + 1, len * sizeof *in);
    }
    run.x = lz_from_host(LZ_I32, LZ_SHAPE(c->batch, c->context), in);
    run.y = lz_from_host(LZ_I32, LZ_SHAPE(c->batch * c->context), next);
    free(in);
    free(ids);
}

static void make_batch(const struct training *t)
{
    size_t n = 1;
    for (int i = 0; i < t->x.rank; i++)
        n *= (size_t)t->x.dims[i];
    float *x = bench_random(1, n, 1);
    int32_t *y = random_classes(2, (size_t)t->x.dims[0], t->classes);
    run.x = lz_from_host(LZ_F32, t->x, x);
    run.y = lz_from_host(LZ_I32, LZ_SHAPE(t->x.dims[0]), y);
    free(x);
    free(y);
}

static void make(const struct training *t)
{
    run.t = t;
    bench_check(lz_manual_seed(1), "seed");
    t->init(&run.params);
    run.optimizer =
        t->gpt ? lz_adamw(&run.params, .lr = 3e-4, .beta1 = 0.9, .beta2 = 0.95, .weight_decay = 0.1)
               : lz_sgd(&run.params, .lr = 0.01, .momentum = t->momentum);
    if (!run.optimizer)
        bench_fail("optimizer: %s", lz_last_error_text());
    lz_scope_begin();
    if (t->gpt)
        make_text(t->gpt);
    else
        make_batch(t);
    lz_retain(run.x);
    lz_retain(run.y);
    lz_scope_end();
    bench_check(lz_mark_step(.wait = true), "initial weights");
}

static void step(void *arg)
{
    (void)arg;
    lz_scope_begin();
    if (run.t->autocast)
        bench_check(lz_autocast_begin(LZ_BF16), "autocast");
    lz_tensor *logits = run.t->forward(run.x);
    if (run.t->gpt)
        logits = lz_flatten(logits, 0, 1);
    lz_tensor *loss = lz_cross_entropy(logits, run.y);
    if (run.t->autocast)
        bench_check(lz_autocast_end(), "autocast");
    bench_check(lz_backward(loss), "backward");
    bench_check(lz_optim_step(run.optimizer), "optimizer");
    bench_check(lz_optim_zero_grad(run.optimizer), "gradients");
    lz_release(run.loss);
    run.loss = lz_retain(loss);
    bench_check(lz_mark_step(.wait = true), "step");
    lz_scope_end();
}

static void unmake(void)
{
    lz_optim_free(run.optimizer);
    lz_params_free(&run.params);
    lz_release(run.x);
    lz_release(run.y);
    lz_release(run.loss);
    memset(&run, 0, sizeof run);
}

/* ---- the first steps, here and in other processes ---- */

struct first {
    double start_s, step_s, rss_mb; /* exec to the end of the first step; that step */
    double system_s;                /* of all threads until then: most of all for fresh memory */
    long compiles;                  /* kernels given to LLVM */
    double loss[FIRST_STEPS];
};

static double system_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_stime.tv_sec + (double)u.ru_stime.tv_usec * 1e-6;
}

static struct first first_steps(const struct training *t)
{
    struct first f;
    lz_cache_counts c0 = {.struct_size = sizeof c0}, c = c0;
    bench_check(lz_get_cache_counts(&c0), "counts");
    make(t);
    double before = bench_now();
    step(NULL);
    double after = bench_now();
    f.step_s = after - before;
    f.start_s = after - bench.exec;
    f.system_s = system_seconds();
    for (int i = 0; i < FIRST_STEPS; i++) {
        if (i > 0)
            step(NULL);
        f.loss[i] = lz_item(run.loss);
    }
    bench_check(lz_get_cache_counts(&c), "counts");
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    f.compiles = (long)(c.llvm_compiles - c0.llvm_compiles);
    f.rss_mb = (double)u.ru_maxrss / 1024;
    return f;
}

static void say(const struct first *f)
{
    printf("%.9f %.9f %.9f %.1f %ld", f->start_s, f->step_s, f->system_s, f->rss_mb, f->compiles);
    for (int i = 0; i < FIRST_STEPS; i++)
        printf(" %.17g", f->loss[i]);
    printf("\n");
}

static struct first elsewhere(const char *workload, int threads, const char *cache)
{
    struct first f;
    char said[512];
    int used, at = 0;
    bench_child(workload, threads, cache, said, sizeof said);
    if (sscanf(said, "%lf %lf %lf %lf %ld%n", &f.start_s, &f.step_s, &f.system_s, &f.rss_mb,
               &f.compiles, &at) != 5)
        bench_fail("a process said %s", said);
    for (int i = 0; i < FIRST_STEPS; i++, at += used)
        if (sscanf(said + at, "%lf%n", &f.loss[i], &used) != 1)
            bench_fail("a process said %s", said);
    return f;
}

/* tolerance 0: the same bits */
static void agree(const struct first *here, const struct first *there, double tolerance,
                  const char *what)
{
    for (int i = 0; i < FIRST_STEPS; i++)
        if (!(fabs(here->loss[i] - there->loss[i]) <= tolerance * fabs(here->loss[i])))
            bench_fail("step %d has the loss %.9g, but %.9g %s", i + 1, here->loss[i],
                       there->loss[i], what);
}

/* With autotuning, each number of threads and each cache may choose other variants, which sum in
 * another order, and steps diverge from there. */
#define ROUNDED 3e-3
static bool is_tuned(void)
{
    const char *tune = getenv("LAZULI_TUNE");
    return tune && atoi(tune);
}

static void train(const struct workload *w)
{
    const struct training *t = w->data;
    struct first here = first_steps(t);
    if (bench.measured) {
        say(&here);
        return;
    }
    struct sample s = bench_run(step, NULL);
    double last = lz_item(run.loss);
    unmake();
    if (!(last < here.loss[0]) || !isfinite(last))
        bench_fail("the loss went from %g to %g", here.loss[0], last);
    struct first warm = elsewhere(w->name, bench.threads, bench.cache), cold = here;
    if (warm.compiles)
        bench_fail("a process with a warm cache compiled %ld kernels", warm.compiles);
    agree(&here, &warm, 0, "with a warm cache");
    if (!bench.device) {
        struct first other = elsewhere(w->name, bench.threads == 1 ? 2 : 1, bench.cache);
        agree(&here, &other, is_tuned() ? ROUNDED : 1e-4, "with another number of threads");
    }
    if (!here.compiles) {
        char empty[4096];
        bench_temp_dir(empty, sizeof empty);
        cold = elsewhere(w->name, bench.threads, empty);
        bench_remove_dir(empty);
        agree(&here, &cold, is_tuned() ? ROUNDED : 0, "with an empty cache");
    }
    bench_emit(w, w->name, s,
               ",\"first_step_s\":%.4f,\"compile_s\":%.4f,\"start_to_first_step_s\":%.4f,\"llvm_"
               "compiles\":%ld,\"cold_compile_s\":%.4f,\"warm_start_to_first_step_s\":%.4f,"
               "\"warm_start_overhead_s\":%.4f,\"warm_start_system_s\":%.4f,"
               "\"first_loss\":%.6f,\"loss\":%.6g",
               here.step_s, here.step_s - s.median, here.start_s, here.compiles,
               cold.step_s - s.median, warm.start_s, warm.start_s - s.median, warm.system_s,
               here.loss[0], last);
}

/* ---- the table ---- */

#define IMAGES(...) .x = {.rank = 4, .dims = {__VA_ARGS__}}
#define TRAIN(NAME, FLOPS, DOC, ...) TRAINING("train_" #NAME, FLOPS, DOC, __VA_ARGS__)
#define TRAINING(NAME, FLOPS, DOC, ...)                                                            \
    {                                                                                              \
        .name = NAME, .run = train, .flops = FLOPS, .data = &(const struct training){__VA_ARGS__}, \
        .doc = DOC                                                                                 \
    }

/* clang-format off */
const struct workload workloads_train[] = {
    TRAIN(mlp, 410.8e6, "784-512-512-10, batch 128, SGD with momentum",
          .init = init_mlp, .forward = forward_mlp, .x = {.rank = 2, .dims = {128, 784}},
          .classes = 10, .momentum = 0.9),
    TRAIN(mnist, 332e6, "two convolutions, two linear layers, batch 128, SGD with momentum",
          .init = init_mnist, .forward = forward_mnist, IMAGES(128, 1, 28, 28), .classes = 10, .momentum = 0.5),
    TRAIN(resnet18, 106.9e9, "ResNet-18 of 32x32, batch 32, SGD with momentum",
          .init = init_resnet18, .forward = forward_resnet, IMAGES(32, 3, 32, 32), .classes = 10, .momentum = 0.9),
    TRAIN(resnet50, 194e9, "ResNet-50 of 224x224, batch 8, SGD with momentum",
          .init = init_resnet50, .forward = forward_resnet, IMAGES(8, 3, 224, 224), .classes = 1000, .momentum = 0.9),
    TRAIN(gpt, 57.9e9, "GPT of 4 layers, width 256, 8 sequences of 256, AdamW",
          .init = init_gpt, .forward = forward_gpt, .gpt = &gpt_small),
    TRAINING("large_train_gpt2", 14e12, "GPT of 12 layers, width 768, 16 sequences of 1024, bf16 by autocast, AdamW",
             .init = init_gpt, .forward = forward_gpt, .gpt = &gpt_2, .autocast = true),
    TRAINING("large_train_resnet50", 6.2e12, "ResNet-50 of 224x224, batch 256, bf16 by autocast, SGD with momentum",
             .init = init_resnet50, .forward = forward_resnet, IMAGES(256, 3, 224, 224), .classes = 1000, .momentum = 0.9,
             .autocast = true),
    {0}};
/* clang-format on */
