/* invariant_cache.h - the constant cache: run-time constant folding for inference. Results of
 * launches that depend only on arguments that stay the same (packed or transposed weights, folded
 * norms; lower/plan/plan_invariant.h) are cached between executions, and those launches skipped. An
 * argument is stable when the last executions had the same content for it
 * (lz_device_buffer_content). Results that depend on stable arguments alone are cached after a few
 * executions; an execution with another argument recomputes them, and a program whose arguments
 * keep changing gives up. The cache's memory is the device's, counts as used, and is freed when the
 * device runs out. LAZULI_CONSTANT_CACHE: never, where it saves time, or always. Threads:
 * lz_invariant_cache_begin to lz_invariant_cache_end is one execution; a concurrent one, on another
 * device, runs uncached. */
#ifndef LZ_BACKENDS_CPU_INVARIANT_CACHE_H
#define LZ_BACKENDS_CPU_INVARIANT_CACHE_H
#include "backends/common/job.h"

typedef struct lz_invariant_cache lz_invariant_cache;

/* *out is NULL when nothing can ever be cached. */
lz_status lz_invariant_cache_new(const lz_plan_exec *g, lz_invariant_cache **out);
void lz_invariant_cache_free(lz_invariant_cache *k); /* NULL is fine */

/* Sets j->cached, unless the job runs without the cache. k may be NULL. */
void lz_invariant_cache_begin(lz_invariant_cache *k, lz_job *j);
/* ok: the job has run without an error */
void lz_invariant_cache_end(lz_invariant_cache *k, lz_job *j, bool ok);

/* The device is out of memory: frees caches that are not in use; gives whether there were any. For
 * cpu_mem.h. */
bool lz_invariant_cache_shortage(int device);

/* Totals of the process: launches skipped; bytes cached now. */
typedef struct lz_invariant_cache_stats {
    uint64_t skipped, nbytes;
} lz_invariant_cache_stats;
void lz_invariant_cache_get_stats(lz_invariant_cache_stats *out);
#endif
