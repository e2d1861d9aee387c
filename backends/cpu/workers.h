/* workers.h - the threads that share one kernel: N-1 workers and the caller. The units 0..n-1 of a
 * job are cut into chunks the same way every time; each thread has its own run of chunks, long ones
 * first, and, when it is done, helps the others. Nothing is started before the first job that is
 * worth it; idle workers spin for some tens of microseconds, then sleep. One job at a time: a
 * caller that finds the workers taken, that is a worker itself, or that was forked does all its
 * units alone.
 * Threads: thread-safe. */
#ifndef LZ_BACKENDS_CPU_WORKERS_H
#define LZ_BACKENDS_CPU_WORKERS_H
#include "base/status.h"

enum { LZ_WORKERS_MAX = 256 };

/* Does units begin..end-1. worker: 0..lz_workers_count()-1 whatever `threads` is, never the same
 * number on two threads at once within a job. */
typedef void (*lz_workers_fn)(void *ctx, int64_t begin, int64_t end, int worker);
/* Threads a job may use: LAZULI_NUM_THREADS, or one per core. Read at the first call, then fixed
 * until lz_workers_stop. */
int lz_workers_count(void);
/* Runs all units; returns when they are done. threads: at most so many take part (0: all). */
void lz_workers_run(int64_t units, int threads, lz_workers_fn fn, void *ctx);
/* The same where each thread's share is cut into so many chunks at most, 1 to 64, each half of what
 * those before it left and the last as long as the one before: the fewer, the more units a thread
 * does in a row, and the less others can help it. lz_workers_run takes LZ_WORKERS_CHUNKS: the last
 * chunks are a hundredth of a share. */
enum { LZ_WORKERS_CHUNKS = 8 };
void lz_workers_run_in(int64_t units, int threads, int chunks, lz_workers_fn fn, void *ctx);
/* Ends the workers (tests, library end). The next job starts them again, with the number configured
 * then. */
void lz_workers_stop(void);
#endif
