/* invariant_cache.h - results that a program keeps from one execution to the next
 * (lower/plan/plan_invariant.h): when it is worth it, and whether what is kept is still right. An
 * argument is stable when the last executions had the same bytes for it (lz_dbuf_content). What
 * depends on stable arguments alone is kept once it has been computed a few times; an execution
 * with another argument computes it anew, and a program whose arguments do not stay stable gives
 * up. Kept memory is the device's, counts as used, and is given up when the device is short of it.
 * LAZULI_KEEP says never, where it is worth it, or always.
 * Threads: lz_invariant_cache_begin to lz_invariant_cache_end is one execution; another one
 *   meanwhile, on another device, runs without. */
#ifndef LZ_BACKENDS_CPU_INVARIANT_CACHE_H
#define LZ_BACKENDS_CPU_INVARIANT_CACHE_H
#include "backends/common/job.h"

typedef struct lz_invariant_cache lz_invariant_cache;

/* *out stays NULL where nothing will ever be kept. */
lz_status lz_invariant_cache_new(const lz_plan_exec *g, lz_invariant_cache **out);
void lz_invariant_cache_free(lz_invariant_cache *k); /* NULL is fine */

/* Sets j->kept, unless the job runs as it is. k may be NULL. */
void lz_invariant_cache_begin(lz_invariant_cache *k, lz_job *j);
/* ok: the job has run */
void lz_invariant_cache_end(lz_invariant_cache *k, lz_job *j, bool ok);

/* The device is short of memory: gives up what can be; whether there was any. For cpu_mem.h. */
bool lz_invariant_cache_shortage(int device);

/* Sums over the process: launches that were left out; bytes kept now. */
typedef struct lz_kept_stats {
    uint64_t left_out, nbytes;
} lz_kept_stats;
void lz_kept_get_stats(lz_kept_stats *out);
#endif
