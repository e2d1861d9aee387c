/* lz-bench.c - measures Lazuli:  lz-bench WORKLOAD[,WORKLOAD...] [--threads N] [--cache DIR] [--secs S]; --help lists the workloads.
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

struct sample bench_sample(double *s, int n)
{
    qsort(s, (size_t)n, sizeof *s, by_value);
    return (struct sample){.median = s[n / 2], .min = s[0], .n = n, .inner = 1};
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
    int inner = r.inner;
    r = bench_sample(s, r.n);
    r.inner = inner;
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

static const struct workload *const tables[] = {workloads_overhead, workloads_train,
                                                workloads_start};
enum { NTABLES = sizeof tables / sizeof *tables };

static const struct workload *find(const char *name)
{
    for (int t = 0; t < NTABLES; t++)
        for (const struct workload *w = tables[t]; w->name; w++)
            if (strcmp(w->name, name) == 0)
                return w;
    return NULL;
}

static void help(FILE *f)
{
    fputs("usage: lz-bench WORKLOAD[,WORKLOAD...] [--threads N] [--cache DIR] [--secs S]\n\n", f);
    for (int t = 0; t < NTABLES; t++)
        for (const struct workload *w = tables[t]; w->name; w++)
            fprintf(f, "  %-12s %s\n", w->name, w->doc);
    fputs("\n  --threads N  threads that execute kernels (2)\n"
          "  --cache DIR  persistent cache (first_step: one of its own, else the default)\n"
          "  --secs S     time to spend on a workload after its warm-up (1)\n"
          "One JSON line per result; median_ms and min_ms are per call.\n",
          f);
}

static int wrong(const char *what, const char *text)
{
    fprintf(stderr, "lz-bench: %s '%s'; the workloads are", what, text);
    for (int t = 0; t < NTABLES; t++)
        for (const struct workload *w = tables[t]; w->name; w++)
            fprintf(stderr, " %s", w->name);
    fputs("\n", stderr);
    return 2;
}

/* A number in [lo, hi], or false after a message. */
static bool number(const char *option, const char *text, double lo, double hi, bool whole,
                   double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (end != text && !*end && *out >= lo && *out <= hi && !(whole && *out != floor(*out)))
        return true;
    fprintf(stderr, "lz-bench: %s takes %s from %g to %g, not '%s'\n", option,
            whole ? "an integer" : "a number", lo, hi, text);
    return false;
}

/* 0, or the exit status + 1: what the command line asks for is done, or is wrong. */
static int parse(int argc, char **argv)
{
    static const struct option names[] = {{"threads", 1, 0, 't'},
                                          {"cache", 1, 0, 'c'},
                                          {"secs", 1, 0, 's'},
                                          {"help", 0, 0, 'h'},
                                          {0}};
    double v = 0;
    for (int c; (c = getopt_long(argc, argv, "h", names, NULL)) != -1;)
        switch (c) {
        case 't':
            if (!number("--threads", optarg, 1, 1024, true, &v))
                return 3;
            bench.threads = (int)v;
            break;
        case 'c':
            bench.cache = optarg;
            break;
        case 's':
            if (!number("--secs", optarg, 0, 86400, false, &bench.secs))
                return 3;
            break;
        case 'h':
            help(stdout);
            return 1;
        default:
            return 3;
        }
    if (optind + 1 == argc)
        return 0;
    help(stderr);
    return 3;
}

int main(int argc, char **argv)
{
    bench.age_s = process_age();
    int done = parse(argc, argv);
    if (done)
        return done - 1;
    char *list = strdup(argv[optind]), *w;
    for (w = strtok(list, ","); w; w = strtok(NULL, ",")) /* before anything runs */
        if (!find(w))
            return wrong("unknown workload", w);
    bench_check(lz_set_num_threads(bench.threads), "threads");
    if (bench.cache)
        bench_check(lz_initialize_cache(bench.cache, false), "cache");
    for (w = strtok(argv[optind], ","); w; w = strtok(NULL, ",")) {
        current = w;
        find(w)->run(w);
    }
    free(list);
    return 0;
}
