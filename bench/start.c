/* start.c - first_step: from exec to the end of the first training step of the digits program (examples/digits.c: 64-128-128-10,
 * batches of 32 picked from resident images, SGD with momentum 0.9), with everything it compiles already in the cache on
 * disk. This is what a user waits for at every start but the first. Each sample is a process of its own: this program runs
 * itself with LZ_BENCH_SINCE set to the moment before. The images are made up, so that reading a file is not measured. */
#include "bench.h"
#include <ftw.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

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

static void die(const char *what)
{
    fprintf(stderr, "lz-bench: first_step: %s\n", what);
    exit(1);
}

static void run_once(void *arg)
{
    start *s = arg;
    char since[64], threads[16], said[256] = "";
    int p[2], status;
    snprintf(threads, sizeof threads, "%d", bench.threads);
    char *argv[] = {"lz-bench", "first_step",     "--threads", threads,
                    "--cache",  (char *)s->cache, NULL};
    posix_spawn_file_actions_t fa;
    pid_t pid;
    if (pipe(p) != 0 || posix_spawn_file_actions_init(&fa) != 0 ||
        posix_spawn_file_actions_adddup2(&fa, p[1], 1) != 0 ||
        posix_spawn_file_actions_addclose(&fa, p[0]) != 0)
        die("no process");
    snprintf(since, sizeof since, "%.9f", bench_now());
    if (setenv("LZ_BENCH_SINCE", since, 1) != 0 ||
        posix_spawn(&pid, "/proc/self/exe", &fa, NULL, argv, environ) != 0)
        die("no process");
    unsetenv("LZ_BENCH_SINCE");
    close(p[1]);
    posix_spawn_file_actions_destroy(&fa);
    FILE *f = fdopen(p[0], "r");
    bool read = f && fgets(said, sizeof said, f);
    if (f)
        fclose(f);
    if (waitpid(pid, &status, 0) != pid || status != 0 || !read ||
        sscanf(said, "%lf %lf %d %d %ld", &s->took, &s->loss, &s->misses, &s->compiles,
               &s->rss_kb) != 5)
        die("a process failed");
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void first_step(const char *name)
{
    const char *since = getenv("LZ_BENCH_SINCE"), *tmp = getenv("TMPDIR");
    if (since) {
        measured(strtod(since, NULL));
        return;
    }
    char own[4096], extra[160];
    snprintf(own, sizeof own, "%s/lz-bench-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!bench.cache && !mkdtemp(own))
        die("no directory for the cache");
    start cold = {.cache = bench.cache ? bench.cache : own}, warm = cold;
    run_once(&cold);
    double at[400], begin = bench_now();
    int n = 0;
    while (n < 400 && (n < 7 || bench_now() - begin < bench.secs)) {
        run_once(&warm);
        at[n++] = warm.took;
        if (warm.misses || warm.compiles || warm.loss != cold.loss || !isfinite(warm.loss))
            die("a process with a warm cache compiled, or computed something else");
    }
    snprintf(extra, sizeof extra,
             ",\"process_rss_mb\":%.1f,\"first_run_ms\":%.3f,\"first_run_llvm_compiles\":%d",
             (double)warm.rss_kb / 1024, cold.took * 1e3, cold.compiles);
    bench_emit(name, bench_sample(at, n), extra);
    if (!bench.cache)
        (void)nftw(own, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const struct workload workloads_start[] = {
    {"first_step", first_step,
     "exec to the end of the first training step of the digits program, cache warm"},
    {0}};
