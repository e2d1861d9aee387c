/* collective_stream.c - see collective_stream.h. Operations are numbered; `begun` of them have been
 * started, `over` have ended. The thread sleeps on the one number and the job on the other. */
#include "backends/common/collective_stream.h"
#include "backends/common/collective_totals.h"
#include "base/alloc.h"
#include "base/thread.h"
#include "base/timeline/timeline.h"
#include "ir/op.h"
#include <limits.h>
#include <stdio.h>

enum { ROOM = 64 };            /* a power of two; who starts more waits for the oldest */
#define FIRST ((uint32_t)-100) /* so that numbers soon begin again at 0, in tests too */

typedef struct flight {
    lz_plan_meet_fn *fn;
    void *user;
    const lz_step_collective *c;
    const lz_site *site;
    void *const *bufs;
    uint32_t reached;
    int64_t begun_ns, over_ns; /* the latter is the thread's */
    uint64_t flow;             /* of the timeline: the arrow from its start */
} flight;

struct lz_collective_stream {
    char name[16];
    bool started; /* the thread */
    pthread_t thread;
    _Atomic bool stop;
    _Atomic uint32_t begun, over;
    flight all[ROOM]; /* by number: written before `begun` says so */
    _Atomic bool failed;
    uint32_t reached; /* of the first that failed; written before `failed` says so */
    lz_error err;
    int64_t over_ns; /* of the thread: when the last one ended */
};

lz_collective_stream *lz_collective_stream_new(const char *name)
{
    lz_collective_stream *s = lz_calloc(1, sizeof *s);
    if (!s) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for the collectives of %s", name);
        return NULL;
    }
    snprintf(s->name, sizeof s->name, "%s", name);
    atomic_init(&s->begun, FIRST);
    atomic_init(&s->over, FIRST);
    return s;
}

/* ---- the thread ---- */

static void come_to(lz_collective_stream *s, flight *f)
{
    int64_t before = s->over_ns, t0 = lz_timeline_begin();
    if (!atomic_load(&s->failed) && f->fn(f->user, f->c, f->site, f->bufs, f->reached) != LZ_OK) {
        s->err = *lz_error_get();
        s->reached = f->reached;
        atomic_store(&s->failed, true);
    }
    s->over_ns = f->over_ns = lz_now_ns();
    /* from its start on, but not while one before was on its way: that has counted */
    lz_collective_took(s->over_ns - (f->begun_ns > before ? f->begun_ns : before), 0);
    lz_timeline_end(t0, .name = lz_op_get(f->c->sig->op)->text, .category = "in flight",
                    .flow = f->flow, .key = {"queued_ns"}, .value = {t0 - f->begun_ns});
}

static void *serve(void *arg)
{
    lz_collective_stream *s = arg;
    for (uint32_t n = FIRST;;) {
        if (atomic_load_explicit(&s->begun, memory_order_acquire) == n) {
            (void)lz_futex_wait(&s->begun, n, -1);
            continue;
        }
        if (atomic_load(&s->stop)) /* looked at behind `begun`, which then counts nothing */
            return NULL;
        LZ_QUIETLY {
            come_to(s, &s->all[n % ROOM]);
        }
        atomic_store_explicit(&s->over, ++n, memory_order_release);
        lz_futex_wake(&s->over, INT_MAX);
    }
}

void lz_collective_stream_free(lz_collective_stream *s)
{
    if (s && s->started) {
        atomic_store(&s->stop, true);
        atomic_fetch_add(&s->begun, 1); /* so that it does not go to sleep */
        lz_futex_wake(&s->begun, 1);
        (void)pthread_join(s->thread, NULL);
    }
    lz_free(s);
}

/* ---- the job ---- */

/* Until collective number n is over. */
static void await(lz_collective_stream *s, uint32_t n)
{
    uint32_t over = atomic_load_explicit(&s->over, memory_order_acquire);
    if ((int32_t)(over - n) > 0)
        return;
    int64_t t0 = lz_now_ns();
    while ((int32_t)(over - n) <= 0) {
        (void)lz_futex_wait(&s->over, over, -1);
        over = atomic_load_explicit(&s->over, memory_order_acquire);
    }
    int64_t now = lz_now_ns(), ns = now - t0, since = now;
    uint32_t begun = atomic_load_explicit(&s->begun, memory_order_relaxed);
    /* it takes until who waits for it runs again, or another one is on its way */
    if (atomic_load_explicit(&s->over, memory_order_acquire) == begun)
        since = s->all[(begun - 1) % ROOM].over_ns;
    since = since > now ? now : since;
    const lz_sig *sig = s->all[n % ROOM].c->sig;
    lz_collective_took(now - (since > t0 ? since : t0), ns);
    lz_timeline_note(t0, ns, .name = "wait for a collective", .category = "collective wait",
                     .text_key = "collective", .text = lz_op_get(sig->op)->text);
}

/* The error of the first that failed, of those up to number n, which are over. */
static lz_status outcome(const lz_collective_stream *s)
{
    if (!atomic_load(&s->failed))
        return LZ_OK;
    lz_error_set(&s->err);
    return s->err.status;
}

lz_status lz_collective_stream_start(lz_collective_stream *s, lz_plan_meet_fn *fn, void *user,
                                     const lz_step_collective *c, const lz_site *site,
                                     void *const *bufs, uint32_t reached)
{
    if (!s->started)
        LZ_TRY(lz_thread_start(&s->thread, s->name, serve, s));
    s->started = true;
    uint32_t n = atomic_load_explicit(&s->begun, memory_order_relaxed);
    if (n - atomic_load_explicit(&s->over, memory_order_acquire) == ROOM)
        await(s, n - ROOM);
    int64_t t0 = lz_now_ns();
    s->all[n % ROOM] = (flight){
        fn, user, c, site, bufs, reached, t0, 0, lz_timeline_on() ? lz_timeline_flow() : 0};
    if (lz_timeline_on())
        lz_timeline_note(t0, lz_now_ns() - t0, .name = "start", .category = "collective start",
                         .text_key = "collective", .text = lz_op_get(c->sig->op)->text,
                         .flow = s->all[n % ROOM].flow, .sends = true);
    atomic_store_explicit(&s->begun, n + 1, memory_order_release);
    lz_futex_wake(&s->begun, 1);
    return LZ_OK;
}

lz_status lz_collective_stream_done(lz_collective_stream *s, const lz_step_collective *c)
{
    uint32_t begun = atomic_load_explicit(&s->begun, memory_order_relaxed);
    for (uint32_t k = 1; k <= ROOM; k++)
        if (s->all[(begun - k) % ROOM].c == c) {
            await(s, begun - k);
            break;
        }
    return outcome(s);
}

uint32_t lz_collective_stream_drain(lz_collective_stream *s)
{
    uint32_t begun = atomic_load_explicit(&s->begun, memory_order_relaxed);
    if (begun != atomic_load_explicit(&s->over, memory_order_acquire))
        await(s, begun - 1);
    if (outcome(s) == LZ_OK)
        return UINT32_MAX;
    atomic_store(&s->failed, false);
    return s->reached;
}

bool lz_collective_stream_busy(const lz_collective_stream *s)
{
    return s &&
           (atomic_load(&s->failed) || atomic_load_explicit(&s->begun, memory_order_relaxed) !=
                                           atomic_load_explicit(&s->over, memory_order_acquire));
}
