/* exec.h - executables of the CPU backend: a plan, its kernels, and launch records made once.
 * Threads: an executable is immutable and thread-safe; a device runs one execution at a time, in
 * the order they were enqueued. */
#ifndef LZ_BACKENDS_CPU_EXEC_H
#define LZ_BACKENDS_CPU_EXEC_H
#include "backends/backend.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/prog.h"
#include "lower/plan.h"

/* What a device of this backend has besides memory. Its temporaries and scratch are used by one
 * execution at a time: the queue sees to it. */
typedef struct lz_cpu_device {
    int index;
    uint32_t backend;
    lz_queue *queue;
    void *temp;
    size_t temp_bytes;
    uint32_t oversized; /* executions in a row that needed far less */
    void *scratch;
    size_t scratch_bytes;
} lz_cpu_device;

/* Takes over the plan, also on failure. loops: run the slow executor instead of compiled kernels
 * (LAZULI_EXEC=loop). */
lz_status lz_cpu_exec_new(lz_plan *p, const lz_target *t, lz_cache *cache, bool loops,
                          lz_exec **out);
void lz_cpu_exec_free(lz_exec *x);
void lz_cpu_exec_info(const lz_exec *x, lz_exec_info *out);
void lz_cpu_exec_note(lz_exec *x, double compile_ms);
const lz_plan *lz_cpu_exec_plan(const lz_exec *x);
/* Kernels of the plan and of the plans of its regions. *load: NULL with loops. */
uint32_t lz_cpu_exec_kernels(const lz_exec *x);
const lz_kernel *lz_cpu_exec_kernel(const lz_exec *x, uint32_t i, const lz_kernel_load **load);
lz_status lz_cpu_exec_run(lz_exec *x, lz_cpu_device *d, lz_dbuf *const *in, const bool *donated,
                          lz_dbuf **out, lz_event **done);
/* frees temporaries and scratch; the queue is drained */
void lz_cpu_device_end(lz_cpu_device *d);

/* cpu.c: a buffer of the device. */
lz_status lz_cpu_alloc(int device, size_t nbytes, lz_dbuf **out);
#endif
