/* cpu_exec.h - executables of the CPU backend: backends/common/job.h with kernels that are called
 * as functions, on several threads when that pays off. Threads: as backends/common/job.h. */
#ifndef LZ_BACKENDS_CPU_CPU_EXEC_H
#define LZ_BACKENDS_CPU_CPU_EXEC_H
#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/cpu_loops.h"
#include "backends/cpu/scratch.h"
#include "backends/common/job.h"
#include "backends/common/rendezvous.h"

/* Estimated time on one core, to decide what is worth sharing between threads or caching. */
static inline uint64_t lz_cpu_about_ns(uint64_t flops, uint64_t bytes)
{
    enum { FLOP_PER_NS = 16, BYTE_PER_NS = 8 };
    uint64_t f = flops / FLOP_PER_NS, b = bytes / BYTE_PER_NS;
    return f > b ? f : b;
}

/* The same for a launch, and how many threads should share its units (cpu_tuning.c). */
uint64_t lz_cpu_step_ns(const lz_step *s);
int lz_cpu_threads_for(const lz_step *s, int64_t grid);

/* A device's state besides its memory. Temporaries and scratch belong to one execution at a time:
 * the queue runs one. */
typedef struct lz_cpu_temp {
    void *p;
    size_t nbytes;
    int device;
    uint32_t oversized; /* executions in a row that needed far less */
} lz_cpu_temp;
typedef struct lz_cpu_device {
    lz_exec_device at;        /* first */
    LZ_VEC(lz_cpu_temp) temp; /* of each partition, in the memory of its device */
    lz_scratch scratch;
    int scratch_of; /* the device whose memory it is to be */
    bool at_once;   /* the partitions of what runs now may launch their kernels at the same time */
    atomic_bool leaving; /* the last thread that had chosen it has ended */
} lz_cpu_device;

typedef struct lz_cpu_exec_options {
    lz_cache *cache; /* may be NULL */
    bool loops; /* run the loop-IR interpreter instead of compiled kernels (LAZULI_EXEC=loop) */
    /* Name of the processor that launches are tuned for (backends/common/autotune.h); NULL: no
     * tuning. tune_all: tune launches however short. */
    bool look_up_branches; /* lz_compile_options.look_up_branches */
    const char *tuned_for;
    bool tune_all;
} lz_cpu_exec_options;
/* Takes over the plan, also on failure. */
lz_status lz_cpu_exec_new(lz_plan *p, const lz_target *t, lz_cpu_device *d,
                          const lz_cpu_exec_options *o, lz_exec **out);
/* Its loops that are one function each. */
const lz_cpu_loops *lz_cpu_exec_loops(const lz_exec *x);
/* Where devices meet. */
extern lz_rendezvous lz_cpu_rendezvous;
/* The number of a device among those of all processes that have joined. */
uint32_t lz_cpu_ordinal(int device);
/* lz_plan_exec_ops.collective: large ones are shared by the workers. */
lz_status lz_cpu_collective(void *run, const lz_step_collective *c, void *const *const *bufs);
/* lz_plan_exec_ops.each: a partition is one worker's where that leaves none of them idle, else the
 * workers share each launch. */
lz_status lz_cpu_each(void *run, uint32_t n, uint64_t flops, uint64_t bytes, lz_plan_each_fn *fn,
                      void *ctx);
/* frees temporaries and scratch; the queue is drained */
void lz_cpu_device_end(lz_cpu_device *d);

void lz_cpu_branch_kernels(lz_branch_kernels *out); /* of this process */

/* cpu.c: a buffer of the device. */
lz_status lz_cpu_alloc(int device, size_t nbytes, lz_device_buffer **out);
/* Whose memory partition q of a program on d has: device q, if it is there. */
int lz_cpu_device_of(const lz_exec_device *d, uint32_t q);
/* lz_exec_ops.alloc */
lz_status lz_cpu_alloc_result(const lz_exec_device *d, uint32_t q, size_t nbytes,
                              lz_device_buffer **out);
#endif
