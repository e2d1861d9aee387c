/* cpu_tuning.h - what may be tuned of the CPU's launches (backends/common/autotune.h): the code
 * variant. Threads: thread-safe. */
#ifndef LZ_BACKENDS_CPU_CPU_TUNING_H
#define LZ_BACKENDS_CPU_CPU_TUNING_H
#include "backends/cpu/cpu_kernels.h"
#include "backends/common/autotune.h"

/* How a launch runs: its code, and what follows from the code and the sizes. */
typedef struct lz_cpu_code {
    lz_kcode *code; /* a reference */
    lz_run_fn run;
    int64_t grid;
    int threads, chunks; /* chunks of a thread's share: lz_workers_run_in */
    size_t scratch;      /* scratch bytes per thread */
} lz_cpu_code;
void lz_cpu_code_of(lz_kcode *c, const lz_kernel *k, const lz_step *s, lz_cpu_code *out);

/* A launch being tuned: the tuner's `user`. */
typedef struct lz_cpu_tuning {
    const lz_target *target;
    lz_cache *cache;
    const char *processor; /* its name */
    int device;
} lz_cpu_tuning;
extern const lz_tune_ops lz_cpu_tune_ops;
/* The kernel's code with these variants; a reference. */
lz_status lz_cpu_tuned_code(const lz_cpu_tuning *t, const lz_kernel *k, lz_choice c,
                            lz_kcode **out);
#endif
