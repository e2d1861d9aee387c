/* workers.c - see workers.h. How a job is shared: the units are dealt in equal shares to the
 * participating threads, and a share is cut into chunks, each half of what the ones before it left:
 * long ones while there is much to do, short ones at the end, so that a slow or preempted processor
 * is not left with a long one. A thread's share is one word {job number, end, next chunk}; a thread
 * claims a chunk, its own or another's (work stealing), by compare-and-swap on that word. The job
 * number makes a claim fail that was begun under an earlier job. What a worker read about the job
 * before a successful claim is valid, since the job cannot end, nor the next one be written, before
 * that chunk is done. The caller returns when the count of remaining chunks is zero: it waits
 * neither for workers that found nothing to do nor for those that have not woken up yet. A thread
 * subtracts its chunks from the count together, when it finds no more, because that cache line is
 * written by all threads. */
#include "backends/cpu/workers.h"
#include "base/config.h"
#include "base/log.h"
#include "base/timeline/timeline.h"
#include <limits.h>
#include <stdio.h>

enum { SPIN_NS = 40000 };

typedef struct run_word {
    _Alignas(64) _Atomic uint64_t word; /* job << 32 | end << 16 | next, in chunks */
} run_word;

static struct {
    lz_mutex lock; /* held by the caller of the running job, and while workers start or stop */
    int count;     /* threads with the caller; 0 before the first use */
    int started;
    pthread_t thread[LZ_WORKERS_MAX];
    _Atomic int configured; /* count, for reading without the lock */
    _Atomic bool stop;
    /* The job. Written by its caller before `job` is incremented; atomic because late workers may
     * read it. */
    _Alignas(64) _Atomic uint32_t job; /* number of the job; workers sleep on it */
    _Atomic uint32_t asleep;
    _Atomic(lz_workers_fn) fn;
    _Atomic(void *) ctx;
    _Atomic int64_t units;
    _Atomic int32_t threads, each;     /* participating threads; chunks of a share at most */
    _Alignas(64) _Atomic int32_t left; /* chunks not done yet */
    _Atomic uint32_t waiting;          /* the caller sleeps until `left` is 0 */
    run_word runs[LZ_WORKERS_MAX];
} w = {.lock = LZ_MUTEX_INIT("workers")};

static __thread bool inside; /* this thread is running units already */

/* ---- chunks ---- */

/* Claims a chunk of thread t's share; -1 when none is left, or the job is over. */
static int32_t claim(uint32_t job, int32_t t)
{
    _Atomic uint64_t *word = &w.runs[t].word;
    uint64_t v = atomic_load_explicit(word, memory_order_relaxed);
    while ((uint32_t)(v >> 32) == job && (v & 0xffff) < (v >> 16 & 0xffff))
        if (atomic_compare_exchange_weak_explicit(word, &v, v + 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return (int32_t)(v & 0xffff);
    return -1;
}

/* The caller may return as soon as it sees the count, so a wake-up may come late, during the next
 * job: that is harmless. */
static void chunks_done(int32_t n)
{
    if (atomic_fetch_sub(&w.left, n) == n && atomic_exchange(&w.waiting, 0))
        lz_futex_wake(&w.waiting, 1);
}

static int64_t share_begin(int64_t units, int32_t threads, int32_t t)
{
    return units / threads * t + units % threads * t / threads;
}

/* Number of chunks of a share of `units` >= 1 units, each of at least one unit, */
static int32_t chunks_of(int64_t units, int32_t each)
{
    int32_t n = 1;
    while (n < each && (units - 1) >> (n - 1))
        n++;
    return n;
}

/* and the units of the first c of them: half of the remainder, again and again. */
static int64_t units_before(int64_t units, int32_t c, int32_t chunks)
{
    return c == chunks ? units : units - ((units - 1) >> c) - 1;
}

/* Works on the job as thread `self`, on its own chunks first, then stealing. */
static void work(uint32_t job, int32_t self)
{
    int32_t each = atomic_load_explicit(&w.each, memory_order_relaxed);
    int32_t threads = atomic_load_explicit(&w.threads, memory_order_relaxed);
    int64_t units = atomic_load_explicit(&w.units, memory_order_relaxed);
    lz_workers_fn fn = atomic_load_explicit(&w.fn, memory_order_relaxed);
    void *ctx = atomic_load_explicit(&w.ctx, memory_order_relaxed);
    int64_t t0 = 0; /* the caller's processor time is counted by its launch */
    int32_t done = 0;
    for (int32_t i = 0; i < threads; i++) {
        int32_t t = (self + i) % threads, c;
        int64_t first = share_begin(units, threads, t),
                n = share_begin(units, threads, t + 1) - first;
        int32_t chunks = chunks_of(n, each);
        while ((c = claim(job, t)) >= 0) {
            if (self && !done)
                t0 = lz_timeline_begin();
            fn(ctx, first + units_before(n, c, chunks), first + units_before(n, c + 1, chunks),
               self);
            done++;
        }
    }
    if (done)
        chunks_done(done);
    lz_timeline_end(t0, .name = "share of a kernel", .category = "share", .key = {"chunks"},
                    .value = {done});
}

/* ---- workers ---- */

static uint32_t wait_job(uint32_t seen)
{
    int64_t end = lz_now_ns() + lz_spin_ns(SPIN_NS);
    uint32_t job;
    do {
        for (int i = 0; i < 32; i++) {
            job = atomic_load_explicit(&w.job, memory_order_acquire);
            if (job != seen || atomic_load_explicit(&w.stop, memory_order_relaxed))
                return job;
            lz_cpu_relax();
        }
    } while (lz_now_ns() < end);
    atomic_fetch_add(&w.asleep, 1);
    while ((job = atomic_load(&w.job)) == seen && !atomic_load(&w.stop))
        (void)lz_futex_wait(&w.job, seen, -1);
    atomic_fetch_sub(&w.asleep, 1);
    return job;
}

static void *serve(void *arg)
{
    int32_t self = (int32_t)(intptr_t)arg;
    uint32_t seen = 0;
    inside = true;
    for (;;) {
        seen = wait_job(seen);
        if (atomic_load(&w.stop))
            return NULL;
        work(seen, self);
    }
}

static int configured(void)
{
    int64_t n = lz_cfg_int(LZ_OPT_NUM_THREADS);
    if (n == 0)
        n = lz_num_cores();
    return n > LZ_WORKERS_MAX ? LZ_WORKERS_MAX : (int)n;
}

int lz_workers_count(void)
{
    int n = atomic_load_explicit(&w.configured, memory_order_acquire);
    if (n)
        return n;
    lz_mutex_lock(&w.lock);
    if (!w.count) {
        w.count = configured();
        atomic_store_explicit(&w.configured, w.count, memory_order_release);
    }
    n = w.count;
    lz_mutex_unlock(&w.lock);
    return n;
}

/* Under lock. Starting fewer threads than requested is no error: the work is done all the same. */
static void start(int threads)
{
    if (w.started + 1 >= threads)
        return;
    lz_fork_arm();
    for (; w.started + 1 < threads; w.started++) {
        char name[32];
        snprintf(name, sizeof name, "lz-worker-%d", w.started + 1);
        lz_status s = LZ_OK;
        LZ_QUIETLY {
            s = lz_thread_start(&w.thread[w.started], name, serve,
                                (void *)(intptr_t)(w.started + 1));
        }
        if (s != LZ_OK) {
            LZ_WARN_ONCE("cpu", "only %d of %d threads could be started", w.started + 1, threads);
            return;
        }
    }
}

void lz_workers_stop(void)
{
    lz_mutex_lock(&w.lock);
    if (!lz_fork_happened()) {
        atomic_store(&w.stop, true);
        atomic_fetch_add(&w.job, 1);
        lz_futex_wake(&w.job, INT_MAX);
        for (int i = 0; i < w.started; i++)
            pthread_join(w.thread[i], NULL);
        atomic_store(&w.stop, false);
        w.started = 0;
    }
    w.count = 0;
    atomic_store(&w.configured, 0);
    lz_mutex_unlock(&w.lock);
}

/* ---- jobs ---- */

static void publish(int64_t units, int32_t threads, int32_t each, lz_workers_fn fn, void *ctx)
{
    uint32_t job = atomic_load_explicit(&w.job, memory_order_relaxed) + 1;
    int32_t left = 0, chunks[LZ_WORKERS_MAX];
    atomic_store_explicit(&w.fn, fn, memory_order_relaxed);
    atomic_store_explicit(&w.ctx, ctx, memory_order_relaxed);
    atomic_store_explicit(&w.units, units, memory_order_relaxed);
    atomic_store_explicit(&w.threads, threads, memory_order_relaxed);
    atomic_store_explicit(&w.each, each, memory_order_relaxed);
    for (int32_t t = 0; t < threads; t++)
        left += chunks[t] =
            chunks_of(share_begin(units, threads, t + 1) - share_begin(units, threads, t), each);
    /* before any share's word: a worker that wakes late may claim as soon as its word is written */
    atomic_store_explicit(&w.left, left, memory_order_relaxed);
    for (int32_t t = 0; t < threads; t++)
        atomic_store_explicit(&w.runs[t].word, (uint64_t)job << 32 | (uint64_t)chunks[t] << 16,
                              memory_order_release);
    atomic_store(&w.job, job);
    if (atomic_load(&w.asleep))
        lz_futex_wake(&w.job, threads - 1);
}

static void wait_done(void)
{
    int64_t end = lz_now_ns() + lz_spin_ns(SPIN_NS);
    do {
        for (int i = 0; i < 32; i++) {
            if (atomic_load_explicit(&w.left, memory_order_acquire) == 0)
                return;
            lz_cpu_relax();
        }
    } while (lz_now_ns() < end);
    for (;;) {
        atomic_store(&w.waiting, 1);
        if (atomic_load(&w.left) == 0)
            break;
        (void)lz_futex_wait(&w.waiting, 1, -1);
    }
    atomic_store(&w.waiting, 0);
}

void lz_workers_run(int64_t units, int threads, lz_workers_fn fn, void *ctx)
{
    lz_workers_run_in(units, threads, LZ_WORKERS_CHUNKS, fn, ctx);
}

void lz_workers_run_in(int64_t units, int threads, int chunks, lz_workers_fn fn, void *ctx)
{
    if (units <= 0)
        return;
    int n = lz_workers_count();
    n = threads > 0 && threads < n ? threads : n;
    n = units < n ? (int)units : n;
    if (n < 2 || inside || lz_fork_happened() || !lz_mutex_trylock(&w.lock)) {
        bool was = inside;
        inside = true;
        fn(ctx, 0, units, 0);
        inside = was;
        return;
    }
    start(n);
    n = n < w.started + 1 ? n : w.started + 1;
    inside = true;
    publish(units, n, chunks, fn, ctx);
    work(atomic_load_explicit(&w.job, memory_order_relaxed), 0);
    wait_done();
    inside = false;
    lz_mutex_unlock(&w.lock);
}
