/* lz-bench.c - measures Lazuli:  lz-bench WORKLOAD[,WORKLOAD...] [--threads N] [--cache DIR] [--secs S]
 * One JSON line per result: {"peer":"lazuli","workload":...,"median_ms":...,"min_ms":...,"extra":{...}}. Every workload checks what it computed
 * and fails the program when it is wrong. */
#include "bench.h"
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct bench_options bench = {.threads = 2, .secs = 1};
static const char *current = "";

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds since exec, from /proc (start in clock ticks since boot). */
static double process_age(void)
{
    char buf[1024], *p;
    FILE *f = fopen("/proc/self/stat", "r");
    size_t n = f ? fread(buf, 1, sizeof buf - 1, f) : 0;
    if (f)
        fclose(f);
    buf[n] = 0;
    if (!(p = strrchr(buf, ')')))
        return 0;
    unsigned long long start = 0;
    for (int field = 2; field < 22 && p; field++)
        p = strchr(p + 1, ' ');
    if (p)
        start = strtoull(p, NULL, 10);
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9 -
           (double)start / (double)sysconf(_SC_CLK_TCK);
}

void bench_check(lz_status s, const char *what)
{
    if (s == LZ_OK)
        return;
    fprintf(stderr, "lz-bench: %s: %s: %s\n", current, what, lz_last_error_text());
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct sample bench_run(void (*fn)(void *), void *arg)
{
    enum { MAX = 400, MIN = 7 };
    static double s[MAX];
    fn(arg);
    double t = bench_now();
    fn(arg);
    double once = bench_now() - t, begin = bench_now();
    struct sample r = {.inner = once < 3e-3 ? (int)fmin(3e-3 / fmax(once, 1e-9), 1e6) + 1 : 1};
    while (r.n < MAX && (r.n < MIN || bench_now() - begin < bench.secs)) {
        t = bench_now();
        for (int i = 0; i < r.inner; i++)
            fn(arg);
        s[r.n++] = (bench_now() - t) / r.inner;
    }
    qsort(s, (size_t)r.n, sizeof *s, by_value);
    r.median = s[r.n / 2];
    r.min = s[0];
    return r;
}

void bench_emit(const char *workload, struct sample s, const char *extra)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    printf("{\"peer\":\"lazuli\",\"workload\":\"%s\",\"median_ms\":%.6f,\"min_ms\":%.6f,\"extra\":{"
           "\"threads\":%d,\"n\":%d,\"rss_mb\":%.1f%s}}\n",
           workload, s.median * 1e3, s.min * 1e3, bench.threads, s.n, (double)u.ru_maxrss / 1024,
           extra);
    fflush(stdout);
}

static bool run_one(const char *name)
{
    static const struct workload *const tables[] = {workloads_overhead, workloads_train};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct workload *w = tables[t]; w->name; w++)
            if (strcmp(w->name, name) == 0) {
                current = name;
                w->run(name);
                return true;
            }
    return false;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {
        {"threads", 1, 0, 't'}, {"cache", 1, 0, 'c'}, {"secs", 1, 0, 's'}, {0}};
    bench.age_s = process_age();
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;)
        switch (c) {
        case 't':
            bench.threads = atoi(optarg);
            break;
        case 'c':
            bench.cache = optarg;
            break;
        case 's':
            bench.secs = atof(optarg);
            break;
        default:
            return 2;
        }
    if (optind + 1 != argc) {
        fprintf(stderr,
                "usage: lz-bench WORKLOAD[,WORKLOAD...] [--threads N] [--cache DIR] [--secs S]\n");
        return 2;
    }
    bench_check(lz_set_num_threads(bench.threads), "threads");
    if (bench.cache)
        bench_check(lz_initialize_cache(bench.cache, false), "cache");
    for (char *w = strtok(argv[optind], ","); w; w = strtok(NULL, ","))
        if (!run_one(w)) {
            fprintf(stderr, "lz-bench: unknown workload %s\n", w);
            return 2;
        }
    return 0;
}
