/* thread.c - see thread.h. Linux: futex, sched_getaffinity, cgroup v2 cpu.max. */
#include "base/thread.h"
#include "base/alloc.h"
#include "base/file_io.h"
#include "base/main_end.h"
#include "base/text.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Handed to the new thread, which frees it. */
typedef struct thread_start {
    char name[16];
    void *(*fn)(void *);
    void *arg;
} thread_start;

/* The thread names itself before anything else runs in it: what it records under its name, such as
 * spans of the timeline, never sees the name of its parent. */
static void *thread_main(void *p)
{
    thread_start start = *(thread_start *)p;
    lz_free(p);
    (void)pthread_setname_np(pthread_self(), start.name);
    lz_main_end_thread(true);
    void *result = start.fn(start.arg);
    lz_main_end_thread(false);
    return result;
}

lz_status lz_thread_start(pthread_t *out, const char *name, void *(*fn)(void *), void *arg)
{
    lz_fork_arm();
    return lz_thread_start_unarmed(out, name, fn, arg);
}

lz_status lz_thread_start_unarmed(pthread_t *out, const char *name, void *(*fn)(void *), void *arg)
{
    thread_start *start = lz_alloc(sizeof *start);
    if (!start)
        return LZ_FAIL(LZ_EMEM, "cannot start thread %s: out of memory", name);
    *start = (thread_start){.fn = fn, .arg = arg};
    snprintf(start->name, sizeof start->name, "%s", name);
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(out, NULL, thread_main, start);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc == 0)
        return LZ_OK;
    lz_free(start);
    return LZ_FAIL(LZ_EMEM, "cannot start thread %s: %s", name, strerrordesc_np(rc));
}

/* Cores allowed by the affinity mask; masks of machines with more than 1,024 cores need a larger
 * set. */
static int cores_by_affinity(void)
{
    enum { MAX_CPUS = 1 << 15 };
    static const size_t nbytes = MAX_CPUS / 8;
    unsigned long set[MAX_CPUS / (8 * sizeof(unsigned long))];
    memset(set, 0, sizeof set);
    if (sched_getaffinity(0, nbytes, (cpu_set_t *)set) == 0) {
        int n = CPU_COUNT_S(nbytes, (cpu_set_t *)set);
        if (n > 0)
            return n;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < INT_MAX ? (int)online : 1;
}

/* The quota of the container, rounded up to whole cores; INT_MAX when there is none. */
static int cores_by_quota(void)
{
    char text[64];
    if (!lz_file_text("/sys/fs/cgroup/cpu.max", text, sizeof text))
        return INT_MAX;
    uint64_t quota, period; /* "max 100000" has none */
    size_t n = strlen(text), k = lz_text_digits(text, n, &quota);
    if (!k || text[k] != ' ' || !lz_text_digits(text + k + 1, n - k - 1, &period) || !quota ||
        !period)
        return INT_MAX;
    uint64_t cores = quota / period + (quota % period != 0);
    return cores < INT_MAX ? (int)cores : INT_MAX;
}

int lz_num_cores(void)
{
    int saved = errno;
    int a = cores_by_affinity(), q = cores_by_quota();
    errno = saved;
    return a < q ? a : q;
}

int64_t lz_spin_ns(int64_t ns)
{
    static _Atomic int cores; /* asked once: asking costs more than a loop does */
    int n = atomic_load_explicit(&cores, memory_order_relaxed);
    if (!n) {
        n = lz_num_cores();
        atomic_store_explicit(&cores, n, memory_order_relaxed);
    }
    return n > 1 ? ns : 0;
}

static int64_t clock_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t lz_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t lz_cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t lz_wall_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

bool lz_futex_wait(_Atomic uint32_t *word, uint32_t expect, int64_t timeout_ns)
{
    struct timespec t, *tp = NULL;
    if (timeout_ns >= 0) {
        t.tv_sec = (time_t)(timeout_ns / 1000000000);
        t.tv_nsec = (long)(timeout_ns % 1000000000);
        tp = &t;
    }
    int saved = errno;
    long rc = syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expect, tp, NULL, 0);
    bool timed_out = rc != 0 && errno == ETIMEDOUT;
    errno = saved;
    return !timed_out;
}

void lz_futex_wake(_Atomic uint32_t *word, int count)
{
    int saved = errno;
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
    errno = saved;
}

void lz_latch_set(lz_latch *l)
{
    if (atomic_exchange_explicit(&l->state, 1, memory_order_acq_rel) == 2)
        lz_futex_wake(&l->state, INT_MAX);
}

void lz_latch_reset(lz_latch *l)
{
    atomic_store_explicit(&l->state, 0, memory_order_relaxed);
}

bool lz_latch_is_set(const lz_latch *l)
{
    return atomic_load_explicit(&l->state, memory_order_acquire) == 1;
}

bool lz_latch_wait(lz_latch *l, int64_t timeout_ns)
{
    if (lz_latch_is_set(l))
        return true;
    int64_t start = timeout_ns > 0 ? lz_now_ns() : 0, left = timeout_ns;
    for (;;) {
        uint32_t s = 0;
        if (!atomic_compare_exchange_strong_explicit(&l->state, &s, 2, memory_order_acquire,
                                                     memory_order_acquire) &&
            s == 1)
            return true;
        if (timeout_ns == 0)
            return false;
        if (timeout_ns > 0 && (left = timeout_ns - (lz_now_ns() - start)) <= 0)
            return lz_latch_is_set(l);
        (void)lz_futex_wait(&l->state, 2, left);
    }
}
