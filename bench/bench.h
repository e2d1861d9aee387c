/* bench.h - what every workload of lz-bench uses: clock, sampling, processes of its own, one JSON
 * line per result. Times in ms in the output, seconds inside. Fields as the peers' scripts
 * (bench/peers) print them. */
#ifndef LZ_BENCH_H
#define LZ_BENCH_H
#include <lazuli/lazuli.h>
#include <stdbool.h>

struct bench_options {
    int threads;
    double secs;       /* time to spend per workload */
    const char *cache; /* persistent cache directory: the caller's, or one of its own that was empty
                          at the start */
    const char *calls; /* NULL, or the file in which the moments of all samples are noted */
    const char *device; /* NULL: the processor, whose limits are measured beside */
    double exec;        /* the moment of bench_now's clock when the process began */
    bool measured; /* another process measures this one: exec is the moment before it was started */
};
extern struct bench_options bench;

/* A workload prints its own lines. */
struct workload {
    const char *name;
    void (*run)(const struct workload *w);
    double flops, nbytes; /* of one call, the least that the work takes; 0: not said */
    const void *data;     /* the family's own */
    const char *doc;
};
/* one table per family, ended by a row without a name */
extern const struct workload workloads_kernels[], workloads_train[], workloads_infer[],
    workloads_overhead[], workloads_start[], workloads_change[], workloads_collectives[],
    workloads_limits[];

struct sample {
    double median, min; /* seconds per call */
    int n, inner;
    double
        cpu; /* median processor seconds per call, of all threads: what others do counts for less */
    double rss_mb;    /* highest of the process so far */
    double steal_pct; /* processor time that went to other machines meanwhile */
};
double bench_now(void); /* seconds, monotonic */
/* of n times in seconds, which are sorted */
struct sample bench_sample(double *s, int n);
/* warm up, then sample for bench.secs */
struct sample bench_run(void (*fn)(void *), void *arg);
/* Prints the line of `label` with the workload's rates. `extra` (as printf) is "" or more JSON
 * members, each beginning with a comma. */
__attribute__((format(printf, 4, 5))) void bench_emit(const struct workload *w, const char *label,
                                                      struct sample s, const char *extra, ...);
/* exits 1 naming the workload and what was wrong with it */
__attribute__((noreturn, format(printf, 1, 2))) void bench_fail(const char *what, ...);
/* the same with the last error, unless s is LZ_OK */
void bench_check(lz_status s, const char *what);
/* Runs this program on one workload in a new process with bench.measured set; the first line it
 * prints, or bench_fail. */
void bench_child(const char *workload, int threads, const char *cache, char *said, size_t n);
/* An empty folder; NUL-terminated in path. bench_fail when there is none. And its end. */
void bench_temp_dir(char *path, size_t n);
void bench_remove_dir(const char *path);

/* ---- limits.c: what this machine can do, measured in the same run ---- */
struct limits {
    double fma_max, fma, read, triad_nt; /* f32 GFLOP/s: best and median; GB/s */
    double line_ns;                      /* from one processor to another; 0: there is one */
    double tiles_bf16, tiles_int8;       /* of AMX, best; 0: there are none */
};
/* Measured once by a child process, so that its memory is not this one's. */
const struct limits *bench_limits(void);
/* limits_tiles.c: whether this process may use AMX tiles; products of one thread, operations done
 */
bool bench_has_tiles(void);
double bench_tiles_bf16(int thread);
double bench_tiles_int8(int thread);

/* ---- reference.c: random data, and results in double precision ---- */
/* n numbers in +-scale/2, always the same for a seed; 64-byte aligned, to be freed */
float *bench_random(uint64_t seed, size_t n, double scale);
/* Numbers compared so far: the largest error of any in units of its tolerance (above 1: wrong), and
 * in itself. */
struct difference {
    double worst, error;
    size_t n, at; /* how many; the worst one */
};
void bench_compare(struct difference *d, double got, double expect, double tolerance);
/* bench_fail when one was wrong or none was compared */
void bench_verdict(const struct difference *d);
#endif
