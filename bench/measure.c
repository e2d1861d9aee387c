/* measure.c - clock, sampling, processes of its own, the line of a result. */
#include "bench.h"
#include <ftw.h>
#include <math.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- sampling ---- */

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double rss_mb(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_maxrss / 1024;
}

/* Ticks of all processors: taken by other machines, and all of them. */
static void processor_ticks(double out[2])
{
    double t[8] = {0};
    FILE *f = fopen("/proc/stat", "r");
    if (f && fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", t, t + 1, t + 2, t + 3, t + 4, t + 5,
                    t + 6, t + 7) != 8)
        memset(t, 0, sizeof t);
    if (f)
        fclose(f);
    out[0] = t[7];
    out[1] = 0;
    for (int i = 0; i < 8; i++)
        out[1] += t[i];
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct sample bench_sample(double *s, int n)
{
    qsort(s, (size_t)n, sizeof *s, by_value);
    return (struct sample){.median = s[n / 2], .min = s[0], .n = n, .inner = 1, .rss_mb = rss_mb()};
}

/* Where --calls asks for it: a line per sample, when it began and ended and how many calls it
 * was. */
static void note_call(double begin, double end, int calls)
{
    static FILE *f;
    if (!bench.calls)
        return;
    if (!f && !(f = fopen(bench.calls, "we")))
        bench_fail("%s cannot be written", bench.calls);
    fprintf(f, "%.9f %.9f %d\n", begin, end, calls);
}

struct sample bench_run(void (*fn)(void *), void *arg)
{
    enum { MAX = 400, MIN = 7, FEW = 3 };
    static double s[MAX], cpu[MAX];
    double before[2], after[2];
    processor_ticks(before);
    fn(arg);
    double t = bench_now();
    fn(arg);
    double once = bench_now() - t, begin = bench_now(), spent = 0;
    int n = 0, inner = once < 3e-3 ? (int)fmin(3e-3 / fmax(once, 1e-9), 1e6) + 1 : 1;
    /* as the peers' scripts: at least MIN samples, or FEW when they are long */
    while (n < MAX && (spent < bench.secs || n < (spent < 4 * bench.secs ? MIN : FEW))) {
        double used = processor_seconds();
        t = bench_now();
        for (int i = 0; i < inner; i++)
            fn(arg);
        double end = bench_now();
        s[n] = (end - t) / inner;
        cpu[n++] = (processor_seconds() - used) / inner;
        note_call(t, end, inner);
        spent = bench_now() - begin;
    }
    processor_ticks(after);
    struct sample r = bench_sample(s, n);
    r.cpu = bench_sample(cpu, n).median;
    r.inner = inner;
    r.steal_pct = 100 * (after[0] - before[0]) / fmax(1, after[1] - before[1]);
    return r;
}

/* ---- the line ---- */

static void print_rates(const struct workload *w, double s, const struct limits *l)
{
    if (w->flops > 0)
        printf(",\"gflops\":%.2f", w->flops / s * 1e-9);
    if (w->nbytes > 0)
        printf(",\"gbs\":%.2f", w->nbytes / s * 1e-9);
    if (bench.device)
        return;
    if (w->flops > 0)
        printf(",\"pct_fma\":%.1f", 100 * w->flops / s * 1e-9 / l->fma_max);
    if (w->nbytes > 0)
        printf(",\"pct_triad_nt\":%.1f", 100 * w->nbytes / s * 1e-9 / l->triad_nt);
    printf(",\"limit\":{\"fma_max\":%.1f,\"fma_gflops\":%.1f,\"read_gbs\":%.1f,\"triad_nt_gbs\":%"
           ".1f,\"line_ns\":%.0f}",
           l->fma_max, l->fma, l->read, l->triad_nt, l->line_ns);
}

void bench_emit(const struct workload *w, const char *label, struct sample s, const char *extra,
                ...)
{
    static const struct limits none; /* of a device that has not been measured */
    const struct limits *l = bench.device ? &none : bench_limits();
    double load = 0;
    (void)getloadavg(&load, 1);
    printf("{\"peer\":\"lazuli\",\"workload\":\"%s\",\"median_ms\":%.6f,\"min_ms\":%.6f,\"extra\":{"
           "\"threads\":%d,\"n\":%d,\"cpu_ms\":%.6f,\"steal_pct\":%.1f,\"load\":%.2f",
           label, s.median * 1e3, s.min * 1e3, bench.threads, s.n, s.cpu * 1e3, s.steal_pct, load);
    print_rates(w, s.median, l);
    printf(",\"rss_mb\":%.1f", s.rss_mb);
    va_list ap;
    va_start(ap, extra);
    vprintf(extra, ap);
    va_end(ap);
    printf("}}\n");
    fflush(stdout);
}

/* ---- processes and folders of its own ---- */

void bench_child(const char *workload, int threads, const char *cache, char *said, size_t n)
{
    char since[64], count[16];
    int p[2], status;
    pid_t pid;
    snprintf(count, sizeof count, "%d", threads);
    char *argv[] = {"lz-bench",
                    (char *)workload,
                    "--threads",
                    count,
                    "--cache",
                    (char *)cache,
                    bench.device ? "--device" : NULL,
                    (char *)bench.device,
                    NULL};
    posix_spawn_file_actions_t fa;
    if (pipe(p) != 0 || posix_spawn_file_actions_init(&fa) != 0 ||
        posix_spawn_file_actions_adddup2(&fa, p[1], 1) != 0 ||
        posix_spawn_file_actions_addclose(&fa, p[0]) != 0)
        bench_fail("no process");
    snprintf(since, sizeof since, "%.9f", bench_now());
    if (setenv("LZ_BENCH_SINCE", since, 1) != 0 ||
        posix_spawn(&pid, "/proc/self/exe", &fa, NULL, argv, environ) != 0)
        bench_fail("no process");
    unsetenv("LZ_BENCH_SINCE");
    close(p[1]);
    posix_spawn_file_actions_destroy(&fa);
    FILE *f = fdopen(p[0], "r");
    bool read = f && fgets(said, (int)n, f);
    if (f)
        fclose(f);
    if (waitpid(pid, &status, 0) != pid || status != 0 || !read)
        bench_fail("a process that runs %s failed", workload);
}

void bench_temp_dir(char *path, size_t n)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(path, n, "%s/lz-bench-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(path))
        bench_fail("no folder for the cache in %s", tmp && *tmp ? tmp : "/tmp");
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

void bench_remove_dir(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
