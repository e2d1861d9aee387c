/* lz-bench.c - measures Lazuli:  lz-bench WORKLOAD[,WORKLOAD...] [--threads N] [--cache DIR]
 * [--secs S] [--calls FILE] [--device D]; --help lists the workloads. One JSON line per result:
 * {"peer":"lazuli","workload":...,"median_ms":...,"min_ms":...,"extra":{...}}. Every workload
 * checks what it computed and fails the program when it is wrong. */
#include "bench.h"
#include <getopt.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct bench_options bench = {.threads = 2, .secs = 1};
static const char *current = "";

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

void bench_fail(const char *what, ...)
{
    va_list ap;
    fprintf(stderr, "lz-bench: %s: ", current);
    va_start(ap, what);
    vfprintf(stderr, what, ap);
    va_end(ap);
    fputs("\n", stderr);
    exit(1); /* removes the cache of its own, too */
}

void bench_check(lz_status s, const char *what)
{
    if (s != LZ_OK)
        bench_fail("%s: %s", what, lz_last_error_text());
}

/* A single thread stays on one processor, as the peers' does. Others go where they are put. */
static void pin_single_thread(void)
{
    cpu_set_t all, one;
    int last = -1;
    if (bench.threads != 1 || sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all))
            last = i;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    (void)sched_setaffinity(0, sizeof one, &one);
}

static char own_cache[4096];
static void remove_own_cache(void)
{
    bench_remove_dir(own_cache);
}

/* Without --cache nothing is found on disk at the start, and nothing is left there. */
static void choose_cache(void)
{
    if (!bench.cache) {
        bench_temp_dir(own_cache, sizeof own_cache);
        atexit(remove_own_cache);
        bench.cache = own_cache;
    }
    bench_check(lz_initialize_cache(bench.cache, false), "cache");
}

static const struct workload *const tables[] = {
    workloads_kernels, workloads_train,  workloads_infer,       workloads_overhead,
    workloads_start,   workloads_change, workloads_collectives, workloads_limits};
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
    fputs("usage: lz-bench WORKLOAD[,WORKLOAD...] [--threads N] [--cache DIR] [--secs S] "
          "[--calls FILE] [--device D]\n\n",
          f);
    for (int t = 0; t < NTABLES; t++)
        for (const struct workload *w = tables[t]; w->name; w++)
            fprintf(f, "  %-20s %s\n", w->name, w->doc);
    fputs("\n  --threads N  threads that execute kernels (2)\n"
          "  --cache DIR  persistent cache (one of its own, empty at the start)\n"
          "  --secs S     time to spend on a workload after its warm-up (1)\n"
          "  --calls FILE when each sample began and ended (bench/where.py)\n"
          "  --device D   such as CUDA, where large_* are for; limits are not measured beside it\n"
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
                                          {"device", 1, 0, 'd'},
                                          {"calls", 1, 0, 'C'},
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
        case 'C':
            bench.calls = optarg;
            break;
        case 'd':
            bench.device = optarg;
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
    const char *since = getenv("LZ_BENCH_SINCE");
    bench.measured = since != NULL;
    bench.exec = since ? strtod(since, NULL) : bench_now() - process_age();
    int done = parse(argc, argv);
    if (done)
        return done - 1;
    char *list = strdup(argv[optind]), *w;
    for (w = strtok(list, ","); w; w = strtok(NULL, ",")) /* before anything runs */
        if (!find(w))
            return wrong("unknown workload", w);
    pin_single_thread();
    bench_check(lz_set_num_threads(bench.threads), "threads");
    if (bench.device) /* which starts it */
        bench_check(lz_set_device(bench.device), "device");
    choose_cache();
    for (w = strtok(argv[optind], ","); w; w = strtok(NULL, ",")) {
        const struct workload *row = find(w);
        current = row->name;
        row->run(row);
    }
    free(list);
    return 0;
}
