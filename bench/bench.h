/* bench.h - what every workload of lz-bench uses: clock, sampling, one JSON line per result.
 * Times in ms in the output, seconds inside. Fields as the peers' scripts print them. */
#ifndef LZ_BENCH_H
#define LZ_BENCH_H
#include <lazuli/lazuli.h>
#include <stdbool.h>

struct bench_options {
    int threads;
    double secs;       /* time to spend per workload */
    const char *cache; /* persistent cache directory; NULL: the default one */
    double age_s;      /* process age when main began */
};
extern struct bench_options bench;

struct sample {
    double median, min; /* seconds per call */
    int n, inner;
};
double bench_now(void); /* seconds, monotonic */
/* of n times in seconds, which are sorted */
struct sample bench_sample(double *s, int n);
/* warm up, then sample for bench.secs */
struct sample bench_run(void (*fn)(void *), void *arg);
/* Prints the line. `extra` is "" or more JSON members, each beginning with a comma. */
void bench_emit(const char *workload, struct sample s, const char *extra);
/* exits 1 naming the workload's error */
void bench_check(lz_status s, const char *what);

/* A workload prints its own lines. */
struct workload {
    const char *name;
    void (*run)(const char *name);
    const char *doc;
};
extern const struct workload workloads_overhead[], workloads_train[], workloads_start[];
#endif
