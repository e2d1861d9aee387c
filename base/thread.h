/* thread.h - the few things the library needs from the system's threads: cores, clock, futex,
 * latch; the locks of mutex.h and what happens at a fork (fork.h). Units: times in nanoseconds of
 * CLOCK_MONOTONIC. Threads: everything here is thread-safe. */
#ifndef LZ_BASE_THREAD_H
#define LZ_BASE_THREAD_H
#include "base/fork.h"
#include "base/mutex.h"
#include "base/status.h"
#include <pthread.h>
#include <stdatomic.h>

/* Starts a thread with every signal blocked (signals belong to the embedding program). name: at
 * most 15 bytes are kept; the thread has it before fn runs.
 * Errors: LZ_EMEM when the system gives no thread. */
lz_status lz_thread_start(pthread_t *out, const char *name, void *(*fn)(void *), void *arg);
/* The same without lz_fork_arm: of a thread that a forked child can do without. All that it shares
 * it touches under locks of mutex.h, for which a fork waits, and whoever starts it mends in the
 * child (pthread_atfork) what it leaves. */
lz_status lz_thread_start_unarmed(pthread_t *out, const char *name, void *(*fn)(void *), void *arg);

/* cores this process may use: affinity mask and cgroup quota; at least 1 */
int lz_num_cores(void);
/* How long to wait for another thread by looping before sleeping: ns, or 0 where one core is all
 * there is, and the loop would keep the other thread from running. */
int64_t lz_spin_ns(int64_t ns);
int64_t lz_now_ns(void);  /* monotonic */
int64_t lz_wall_ns(void); /* since the Unix epoch */
int64_t lz_cpu_ns(void);  /* processor time of this process, all threads */
static inline void lz_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/* Sleeps while *word == expect, at most timeout_ns (negative: no limit). May wake up without a
 * reason: check again.
 * Gives false when the time ran out. */
bool lz_futex_wait(_Atomic uint32_t *word, uint32_t expect, int64_t timeout_ns);
void lz_futex_wake(_Atomic uint32_t *word, int count);

/* A latch: once set, every waiter passes. Zero-initialise. What was written before lz_latch_set is
 * visible after a wait that returned true. The setter does not touch the latch after a waiter can
 * have seen it set, except for one wake-up system call on its address; so a waiter may free it (the
 * address is not read by the kernel). */
typedef struct lz_latch {
    _Atomic uint32_t state; /* 0 not set, 1 set, 2 not set and somebody sleeps */
} lz_latch;
void lz_latch_set(lz_latch *l);
void lz_latch_reset(lz_latch *l); /* only while nobody waits */
bool lz_latch_is_set(const lz_latch *l);
/* negative: no limit; false when the time ran out */
bool lz_latch_wait(lz_latch *l, int64_t timeout_ns);
#endif
