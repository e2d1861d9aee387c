/* queue.c - the ordered execution queue of one device. One item runs at a time: on the queue's
 * thread, or in the calling thread when the queue is idle. The thread is started by the first item
 * that needs it; when it runs out of work it spins briefly, then sleeps. An item that its caller
 * runs later (lz_queue_push_unlocked) is in the queue, but nobody is woken for it: the queue's
 * thread takes it only if something else wakes that before the caller gets to it.
 * Threads: thread-safe; an item must not drain or free its own queue. */
#include "backends/backend.h"
#include "base/alloc.h"
#include "base/host_time.h"
#include "base/thread.h"
#include "base/timeline/timeline.h"
#include <stdio.h>
#include <string.h>

enum { SPIN_NS = 50000, MAX_SPARE = 64 };

typedef struct item {
    struct item *next;
    void (*fn)(void *arg);
    void *arg;
} item;

struct lz_queue {
    lz_mutex lock;
    /* under lock: */
    item *head, **tail, *spare;
    uint32_t nspare;
    uint64_t taken; /* items so far that the queue held */
    int64_t depth;  /* items that it holds */
    bool running;   /* an item is running, on whichever thread */
    bool started, stop;
    lz_cond idle; /* idle: nothing runs, nothing waits */
    pthread_t thread;
    char name[16], title[32]; /* title: of its curve */
    /* The thread sleeps on `changed`, which every change it may wait for increments. */
    _Atomic uint32_t changed, asleep;
};

lz_queue *lz_queue_new(const char *name)
{
    lz_queue *q = lz_calloc(1, sizeof *q);
    if (!q) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for the queue of %s", name);
        return NULL;
    }
    lz_mutex_init(&q->lock, "queue");
    lz_cond_init(&q->idle);
    q->tail = &q->head;
    snprintf(q->name, sizeof q->name, "%s", name);
    snprintf(q->title, sizeof q->title, "queue depth %s", q->name);
    return q;
}

/* ---- waking and sleeping ---- */

static void notify(lz_queue *q)
{
    atomic_fetch_add(&q->changed, 1);
    if (atomic_load(&q->asleep))
        lz_futex_wake(&q->changed, 1);
}

static void wait_change(lz_queue *q, uint32_t seen)
{
    int64_t end = lz_now_ns() + lz_spin_ns(SPIN_NS);
    do {
        for (int i = 0; i < 32; i++) {
            if (atomic_load_explicit(&q->changed, memory_order_acquire) != seen)
                return;
            lz_cpu_relax();
        }
    } while (lz_now_ns() < end);
    atomic_store(&q->asleep, 1);
    while (atomic_load(&q->changed) == seen)
        (void)lz_futex_wait(&q->changed, seen, -1);
    atomic_store(&q->asleep, 0);
}

/* ---- items; all of these under lock ---- */

static item *item_new(lz_queue *q)
{
    item *i = q->spare;
    if (!i)
        return lz_alloc(sizeof *i);
    q->spare = i->next;
    q->nspare--;
    return i;
}

static void item_done(lz_queue *q, item *i)
{
    if (q->nspare == MAX_SPARE) {
        lz_free(i);
        return;
    }
    i->next = q->spare;
    q->spare = i;
    q->nspare++;
}

/* A curve of how much waits. */
static void count(lz_queue *q, int change)
{
    q->depth += change;
    lz_timeline_count(q->title, q->depth);
}

static item *take(lz_queue *q)
{
    item *i = q->running ? NULL : q->head;
    if (!i)
        return NULL;
    q->head = i->next;
    if (!q->head)
        q->tail = &q->head;
    q->running = true;
    q->taken++;
    count(q, -1);
    return i;
}

/* Ends the item that ran; gives whether the thread has more to do now. */
static bool finished(lz_queue *q)
{
    q->running = false;
    if (q->head)
        return true;
    lz_cond_broadcast(&q->idle);
    return false;
}

static _Thread_local int running; /* nesting depth of items, of any queue */

static void run(void (*fn)(void *arg), void *arg)
{
    running++;
    fn(arg);
    running--;
}

bool lz_queue_is_running(void)
{
    return running != 0;
}

static void *serve(void *arg)
{
    lz_queue *q = arg;
    lz_mutex_lock(&q->lock);
    for (;;) {
        item *i = take(q);
        if (i) {
            lz_mutex_unlock(&q->lock);
            run(i->fn, i->arg);
            if (lz_fork_happened()) /* by a function of the program that it called: the child's */
                return NULL;        /* only thread ends here, and so does the child */
            lz_mutex_lock(&q->lock);
            item_done(q, i);
            (void)finished(q);
            continue;
        }
        if (q->stop && !q->head && !q->running)
            break;
        uint32_t seen = atomic_load(&q->changed);
        lz_mutex_unlock(&q->lock);
        wait_change(q, seen);
        lz_mutex_lock(&q->lock);
    }
    lz_mutex_unlock(&q->lock);
    return NULL;
}

/* ---- the interface ---- */

static lz_status start(lz_queue *q)
{
    if (q->started)
        return LZ_OK;
    lz_fork_arm();
    LZ_TRY(lz_thread_start(&q->thread, q->name, serve, q));
    q->started = true;
    return LZ_OK;
}

/* Whether the queue is idle; then it is the caller who runs, until leave_here. */
static bool enter_here(lz_queue *q)
{
    lz_mutex_lock_leaf(&q->lock);
    bool idle = !q->running && !q->head;
    q->running |= idle;
    lz_mutex_unlock_leaf(&q->lock);
    return idle;
}

static void leave_here(lz_queue *q)
{
    lz_mutex_lock_leaf(&q->lock);
    bool more = finished(q);
    lz_mutex_unlock_leaf(&q->lock);
    if (more)
        notify(q);
}

static lz_status append(lz_queue *q, void (*fn)(void *arg), void *arg)
{
    item *i = item_new(q);
    if (!i)
        return LZ_FAIL(LZ_EMEM, "no memory for an item of the queue %s", q->name);
    *i = (item){NULL, fn, arg};
    *q->tail = i;
    q->tail = &i->next;
    count(q, 1);
    return LZ_OK;
}

lz_status lz_queue_push(lz_queue *q, void (*fn)(void *arg), void *arg, bool inline_ok)
{
    LZ_TRY(lz_fork_check());
    if (inline_ok && enter_here(q)) {
        lz_put_off_begin(); /* a function of the program's may wait for the queue: it comes after */
        run(fn, arg);
        leave_here(q);
        lz_put_off_end();
        return LZ_OK;
    }
    lz_mutex_lock(&q->lock);
    lz_status s = start(q);
    if (s == LZ_OK)
        s = append(q, fn, arg);
    lz_mutex_unlock(&q->lock);
    if (s == LZ_OK)
        notify(q);
    return s;
}

/* The item that this thread is to run, the taken-th of q; q NULL: none. */
static _Thread_local struct {
    lz_queue *q;
    uint64_t taken;
    lz_unlocked_call call;
    bool put_off; /* call is in the thread's list */
} own;

void lz_queue_run_own(void)
{
    lz_queue *q = own.q;
    if (!q)
        return;
    own.q = NULL;
    lz_mutex_lock(&q->lock);
    item *i = q->taken == own.taken ? take(q) : NULL;
    lz_mutex_unlock(&q->lock);
    if (!i)
        return; /* the queue's thread has it */
    lz_host_launch l = lz_host_launch_begin();
    lz_put_off_begin();
    run(i->fn, i->arg);
    lz_host_launch_end(l);
    lz_event_ran_here();
    lz_mutex_lock(&q->lock);
    item_done(q, i);
    bool more = finished(q);
    lz_mutex_unlock(&q->lock);
    if (more)
        notify(q);
    lz_put_off_end();
}

static void run_put_off(lz_unlocked_call *c)
{
    (void)c;
    own.put_off = false;
    lz_queue_run_own();
}

lz_status lz_queue_push_unlocked(lz_queue *q, void (*fn)(void *arg), void *arg)
{
    if (lz_unlocked_now() || own.q)
        return lz_queue_push(q, fn, arg, !own.q);
    LZ_TRY(lz_fork_check());
    lz_mutex_lock(&q->lock);
    bool idle = !q->running && !q->head;
    lz_status s = idle ? append(q, fn, arg) : LZ_OK;
    if (idle && s == LZ_OK) {
        own.q = q;
        own.taken = q->taken;
    }
    lz_mutex_unlock(&q->lock);
    if (!idle)
        return lz_queue_push(q, fn, arg, false);
    if (s == LZ_OK && !own.put_off) {
        own.put_off = true;
        own.call.fn = run_put_off;
        lz_call_unlocked(&own.call);
    }
    return s;
}

void lz_queue_drain(lz_queue *q)
{
    if (lz_fork_happened())
        return; /* the thread belongs to the parent process */
    lz_queue_run_own();
    lz_mutex_lock(&q->lock);
    while (q->head || q->running)
        lz_cond_wait(&q->idle, &q->lock);
    lz_mutex_unlock(&q->lock);
}

void lz_queue_free(lz_queue *q)
{
    if (!q || lz_fork_happened())
        return;
    lz_queue_drain(q);
    lz_mutex_lock(&q->lock);
    q->stop = true;
    bool join = q->started;
    lz_mutex_unlock(&q->lock);
    notify(q);
    if (join)
        pthread_join(q->thread, NULL);
    for (item *i = q->spare, *next; i; i = next) {
        next = i->next;
        lz_free(i);
    }
    lz_cond_destroy(&q->idle);
    lz_mutex_destroy(&q->lock);
    lz_free(q);
}
