/* workers.h - the thread pool that shares one kernel: N-1 workers and the caller. The units 0..n-1
 * of a job are always cut into chunks the same way; each thread has its own run of chunks, long
 * ones first, and steals from the others when it is done. Threads start with the first job that is
 * worth it; idle workers spin for some tens of microseconds, then sleep. One job at a time: a
 * caller that finds the pool busy, that is a worker itself, or that was forked does all its units
 * alone. Threads: thread-safe. */
#ifndef LZ_BACKENDS_CPU_WORKERS_H
#define LZ_BACKENDS_CPU_WORKERS_H
#include "base/status.h"

enum { LZ_WORKERS_MAX = 256 };

/* Runs units begin..end-1. worker: 0..lz_workers_count()-1 whatever `threads` is; within a job no
 * two threads have the same number at once. */
typedef void (*lz_workers_fn)(void *ctx, int64_t begin, int64_t end, int worker);
/* Threads per job: LAZULI_NUM_THREADS, or one per core. Read at the first call, then fixed until
 *   lz_workers_stop. */
int lz_workers_count(void);
/* Runs all units and returns when they are done, on at most `threads` threads (0: all). */
void lz_workers_run(int64_t units, int threads, lz_workers_fn fn, void *ctx);
/* The same with the chunks of a share limited to 1..64, each half of the remainder and the last as
 * long as the one before: fewer chunks give longer runs of units per thread and less to steal.
 * lz_workers_run uses LZ_WORKERS_CHUNKS: the last chunks are a hundredth of a share. */
enum { LZ_WORKERS_CHUNKS = 8 };
void lz_workers_run_in(int64_t units, int threads, int chunks, lz_workers_fn fn, void *ctx);
/* Ends the workers (tests, unloading). The next job starts them again, with the number configured
 * then. */
void lz_workers_stop(void);
#endif
