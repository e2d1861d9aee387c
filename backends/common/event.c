/* event.c - completion of asynchronous work: set once, with a status and the error by value.
 * Threads: thread-safe. What was written before lz_event_complete is visible after a wait or a true
 *   lz_event_done. */
#include "backends/backend.h"
#include "base/alloc.h"
#include "base/callout.h"
#include "base/spares.h"
#include "base/host_time.h"
#include "base/timeline/timeline.h"
#include <stdio.h>
#include <string.h>

enum { SPIN_NS = 30000, AT_ONCE_NS = 20000, SURE = 2, SUREST = 8 };

/* What is called when an event is complete. */
typedef struct follower {
    lz_unlocked_call call; /* first */
    struct follower *next;
    lz_event *e; /* a reference */
    void (*fn)(void *user, const lz_error *err);
    void *user;
} follower;

struct lz_event {
    _Atomic uint32_t refs;
    lz_latch done;
    _Atomic(follower *) followers;  /* the last one first; nobody: no more are taken */
    int64_t began_ns, completed_ns; /* as error */
    lz_error error; /* LZ_OK: success. Written before `done` is set, never after; valid only when it
                       is set */
};

static lz_spares spares = LZ_SPARES_INIT("event", 64);

lz_event *lz_event_new(void)
{
    lz_event *e = lz_spares_take(&spares, sizeof *e);
    if (!e) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for an event");
        return NULL;
    }
    atomic_init(&e->refs, 1);
    atomic_init(&e->done.state, 0);
    atomic_init(&e->followers, NULL);
    e->error.status = LZ_OK;
    e->began_ns = 0;
    return e;
}

void lz_event_retain(lz_event *e)
{
    atomic_fetch_add_explicit(&e->refs, 1, memory_order_relaxed);
}

void lz_event_release(lz_event *e)
{
    if (e && atomic_fetch_sub_explicit(&e->refs, 1, memory_order_acq_rel) == 1)
        lz_spares_give(&spares, e);
}

_Atomic bool lz_event_times;

void lz_event_begins(lz_event *e)
{
    if (__builtin_expect(atomic_load_explicit(&lz_event_times, memory_order_relaxed), 0))
        e->began_ns = lz_now_ns();
}

int64_t lz_event_began_ns(const lz_event *e)
{
    return e->began_ns;
}

/* ---- who is told ---- */

static follower nobody;

static void tell(lz_unlocked_call *c)
{
    follower *f = (follower *)c;
    LZ_CALL_OUT("a callback of an event")
    f->fn(f->user, &f->e->error);
    lz_event_release(f->e);
    lz_free(f);
}

/* Those of an event that nobody but them may still refer to. */
static void tell_all(follower *last)
{
    follower *first = NULL;
    while (last) {
        follower *before = last->next;
        last->next = first;
        first = last;
        last = before;
    }
    while (first) {
        follower *next = first->next;
        lz_call_unlocked(&first->call);
        first = next;
    }
}

lz_status lz_event_then(lz_event *e, void (*fn)(void *user, const lz_error *err), void *user)
{
    follower *f = lz_alloc(sizeof *f);
    if (!f)
        return LZ_FAIL(LZ_EMEM, "no memory for a callback");
    *f = (follower){.call.fn = tell, .e = e, .fn = fn, .user = user};
    lz_event_retain(e);
    follower *last = atomic_load(&e->followers);
    do
        f->next = last;
    while (last != &nobody && !atomic_compare_exchange_weak(&e->followers, &last, f));
    if (last == &nobody) {
        (void)lz_latch_wait(&e->done, -1); /* it is about to be set */
        lz_call_unlocked(&f->call);
    }
    return LZ_OK;
}

/* ---- the habit ---- */

/* Per thread: the event started last and not waited for (compared only), and how many times in a
 *   row the thread waited at once. A late wait, perhaps because the thread lost its processor,
 *   halves the count; starting more work instead of waiting clears it. */
static __thread struct {
    const lz_event *last;
    int64_t at;
    int times;
} habit;

void lz_event_started(const lz_event *e)
{
    if (habit.last)
        habit.times = 0;
    habit.last = e;
    habit.at = lz_now_ns();
}

void lz_event_ran_here(void)
{
    habit.at = lz_now_ns();
}

bool lz_event_awaited_lately(void)
{
    return habit.times >= SURE;
}

static void waits_for(const lz_event *e)
{
    if (!habit.last || e != habit.last)
        return;
    bool at_once = lz_now_ns() - habit.at < AT_ONCE_NS;
    habit.times = !at_once ? habit.times / 2 : habit.times < SUREST ? habit.times + 1 : SUREST;
    habit.last = NULL;
}

/* ---- completing ---- */

/* Whoever sees the latch set may free the event: it is not touched afterwards. */
void lz_event_complete(lz_event *e, const lz_error *err)
{
    if (err)
        e->error = *err;
    e->completed_ns = lz_now_ns();
    follower *last = atomic_exchange(&e->followers, &nobody);
    lz_latch_set(&e->done);
    tell_all(last);
}

bool lz_event_done(const lz_event *e)
{
    return lz_latch_is_set(&e->done);
}

int64_t lz_event_completed_ns(const lz_event *e)
{
    return e->completed_ns;
}

/* ---- waiting ---- */

/* A step is often nearly finished when somebody asks: spin first, because sleeping and waking would
 * cost more than the rest of it. */
static bool spin(const lz_event *e)
{
    int64_t end = lz_now_ns() + lz_spin_ns(SPIN_NS);
    do {
        for (int i = 0; i < 32; i++) {
            if (lz_event_done(e))
                return true;
            lz_cpu_relax();
        }
    } while (lz_now_ns() < end);
    return false;
}

static void wait_done(lz_event *e)
{
    int64_t t0 = lz_timeline_begin();
    int64_t h0 = lz_host_time_on() && !lz_queue_is_running() ? lz_now_ns() : 0;
    if (!spin(e))
        (void)lz_latch_wait(&e->done, -1);
    lz_host_end(LZ_HOST_WAIT, h0);
    lz_timeline_end(t0, .name = "wait", .category = "wait");
}

const lz_error *lz_event_failure(lz_event *e)
{
    if (e && !lz_event_done(e)) {
        if (lz_fork_check() != LZ_OK) /* in a forked child nobody will complete it */
            return lz_error_get();
        lz_queue_run_own(); /* it may be what is waited for */
        if (!lz_event_done(e))
            wait_done(e);
    }
    return e && e->error.status != LZ_OK ? &e->error : NULL;
}

lz_status lz_event_wait(lz_event *e)
{
    if (e)
        waits_for(e);
    const lz_error *err = lz_event_failure(e);
    if (!err)
        return LZ_OK;
    if (err != lz_error_get())
        lz_error_set(err);
    return err->status;
}
