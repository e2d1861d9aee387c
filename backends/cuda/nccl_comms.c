/* nccl_comms.c - see nccl_comms.h. What is in flight is known by two events for each group and
 * clique, on the stream of its first member: one before the work, one behind it. An error belongs
 * to a generation of communicators; a job remembers the one it used. Communicators are not
 * destroyed at exit: that would wait for the devices.
 * Locks: `calls` for as long as a group is being made or called, `lock` for what this file knows,
 * which is let go while NCCL is not ready, then those of devices. */
#include "backends/cuda/nccl_comms.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/log.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOK_NS = 50000000, SPIN_NS = 50000, LEAST_NAP_NS = 10000, LONGEST_NAP_NS = 1000000 };

typedef struct flight flight;
struct flight {
    flight *next;
    cu_event begun, over;
    const lz_sig *sig; /* of a job in flight */
    int64_t since;     /* when it was first seen begun and not over; 0: not yet */
};

struct cuda_clique {
    cuda_clique *next;
    uint32_t n;
    bool made;
    uint32_t member[CUDA_DEVICES];
    nccl_comm comm[CUDA_DEVICES];
    flight *first, **last; /* in order */
    flight *next_one;      /* of the group that is called, before it flies; NULL: none yet */
    flight *spare;
};

static struct {
    lz_mutex calls, lock;
    lz_cond flies;
    cuda_clique *cliques;
    uint64_t generation; /* how often communicators were aborted */
    lz_error error;      /* why, the last time */
    uint32_t flying;
    bool off;            /* they cannot be made */
    bool watched, ended; /* there is a thread that looks; the process ends */
} nccl = {
    .calls = LZ_MUTEX_INIT("nccl calls"), .lock = LZ_MUTEX_INIT("nccl"), .flies = LZ_COND_INIT};

static void nap(int64_t ns)
{
    const struct timespec t = {ns / 1000000000, ns % 1000000000};
    (void)nanosleep(&t, NULL);
}

static int64_t limit_ns(void)
{
    int64_t s = lz_cfg_int(LZ_OPT_COLLECTIVE_TIMEOUT);
    return s ? s * INT64_C(1000000000) : INT64_MAX / 2;
}

/* ---- messages ---- */

/* "all_reduce of f32[4] among CUDA:[0, 1]" */
static const char *about(const lz_sig *sig, const cuda_clique *c, char *text, size_t n)
{
    char type[96];
    int at = 0;
    if (sig) {
        lz_type_short(sig->opnd[0], type, sizeof type);
        at = snprintf(text, n, "%s of %s%s among ", lz_op_get(sig->op)->text, type,
                      sig->nopnd > 1 ? ", .." : "");
    }
    for (uint32_t i = 0; i < c->n && (size_t)at + 16 < n; i++)
        at += snprintf(text + at, n - (size_t)at, "%s%u", i ? ", " : "CUDA:[", c->member[i]);
    (void)snprintf(text + at, n - (size_t)at, "]");
    return text;
}

lz_status cuda_nccl_called(int result, nccl_comm comm, const char *what)
{
    if (result == NCCL_OK || result == NCCL_IN_PROGRESS)
        return LZ_OK;
    const char *more = lz_nccl.GetLastError(comm);
    return LZ_FAIL(LZ_EDEVICE, "%s: NCCL: %s (%d)%s%.200s", what, lz_nccl.GetErrorString(result),
                   result, more && *more ? ", " : "", more ? more : "");
}

/* ---- what is in flight ---- */

static void drop(cuda_clique *c)
{
    flight *f = c->first;
    c->first = f->next;
    if (!c->first)
        c->last = &c->first;
    f->next = c->spare;
    c->spare = f;
    nccl.flying--;
}

/* Not when the process ends: that would wait for the devices. */
static void abort_members(cuda_clique *c)
{
    for (uint32_t i = 0; i < c->n && !nccl.ended; i++)
        if (c->comm[i])
            (void)lz_nccl.CommAbort(c->comm[i]);
    memset(c->comm, 0, sizeof c->comm);
    c->made = false;
}

/* An error of this group, or of an earlier one: nobody knows what the devices have. Communicators
 * that are being made have nothing to do with it. */
static void abort_all(void)
{
    nccl.error = *lz_error_get();
    nccl.generation++;
    lz_logf(LZ_LOG_WARN, "cuda", "NCCL's communicators are aborted: %s", nccl.error.message);
    LZ_QUIETLY {
        for (cuda_clique *c = nccl.cliques; c; c = c->next) {
            if (c->made)
                abort_members(c);
            while (c->first)
                drop(c);
        }
    }
}

/* A call in the device's context whose answer may be that it is not yet so. */
static lz_status reached(cuda_device *d, cu_event e, bool *yes)
{
    LZ_TRY(cuda_enter(d));
    int r = lz_cuda.EventQuery(e);
    *yes = r == CU_OK;
    lz_status s = r == CU_NOT_READY ? LZ_OK : cuda_check(d, r, "a collective");
    cuda_leave(d);
    return s;
}

static lz_status look_at_errors(const cuda_clique *c)
{
    char text[200];
    bool any;
    for (uint32_t i = 0; i < c->n; i++) {
        int result = NCCL_OK, r = lz_nccl.CommGetAsyncError(c->comm[i], &result);
        if (r != NCCL_OK || (result != NCCL_OK && result != NCCL_IN_PROGRESS))
            return cuda_nccl_called(r != NCCL_OK ? r : result, c->comm[i],
                                    about(c->first->sig, c, text, sizeof text));
        cuda_device *d = cuda_device_at(c->member[i]); /* whose loss the others wait for */
        LZ_TRY(reached(d, d->uploaded, &any));
    }
    return LZ_OK;
}

static lz_status look_at(cuda_clique *c, int64_t now)
{
    cuda_device *d = cuda_device_at(c->member[0]);
    bool begun, over = true;
    char text[200];
    while (c->first && over) {
        LZ_TRY(reached(d, c->first->over, &over));
        if (over)
            drop(c);
    }
    if (!c->first)
        return LZ_OK;
    LZ_TRY(look_at_errors(c));
    flight *f = c->first;
    LZ_TRY(reached(d, f->begun, &begun));
    if (begun && !f->since)
        f->since = now;
    if (!begun || now - f->since < limit_ns())
        return LZ_OK;
    return LZ_FAIL(LZ_ETIMEOUT,
                   "%s: is not over within %" PRId64 " s (LAZULI_COLLECTIVE_TIMEOUT): a device "
                   "has not come, or a link is down",
                   about(f->sig, c, text, sizeof text), lz_cfg_int(LZ_OPT_COLLECTIVE_TIMEOUT));
}

static void *watch(void *arg)
{
    (void)arg;
    lz_mutex_lock(&nccl.lock);
    for (;;) {
        while (!nccl.flying)
            lz_cond_wait(&nccl.flies, &nccl.lock);
        lz_status s = LZ_OK;
        for (cuda_clique *c = nccl.cliques; c && s == LZ_OK && !nccl.ended; c = c->next)
            if (c->first)
                s = look_at(c, lz_now_ns());
        if (s != LZ_OK)
            abort_all();
        lz_mutex_unlock(&nccl.lock);
        nap(LOOK_NS);
        lz_mutex_lock(&nccl.lock);
    }
    return NULL;
}

/* The driver may go before the thread does. */
static void end_watch(void)
{
    lz_mutex_lock(&nccl.lock);
    nccl.ended = true;
    lz_mutex_unlock(&nccl.lock);
}

static lz_status start_watch(void)
{
    pthread_t thread;
    if (nccl.watched)
        return LZ_OK;
    LZ_TRY(lz_thread_start(&thread, "lz-nccl", watch, NULL));
    (void)pthread_detach(thread);
    (void)atexit(end_watch);
    nccl.watched = true;
    return LZ_OK;
}

/* ---- communicators ---- */

/* Without the lock, for which the thread that looks and jobs that end may wait. */
static lz_status nap_unlocked(const cuda_clique *c, int64_t ns)
{
    bool made = c->made;
    lz_mutex_unlock(&nccl.lock);
    nap(ns);
    lz_mutex_lock(&nccl.lock);
    if (nccl.ended)
        return LZ_FAIL(LZ_EDEVICE, "the process ends");
    if (made == c->made)
        return LZ_OK;
    lz_error_set(&nccl.error);
    return nccl.error.status;
}

/* Until calls of a communicator are no longer in progress. */
static lz_status settle(const cuda_clique *c, const lz_sig *sig)
{
    char text[200];
    int64_t t0 = 0, wait = LEAST_NAP_NS;
    for (uint32_t i = 0; i < c->n;) {
        int result = NCCL_OK, r = lz_nccl.CommGetAsyncError(c->comm[i], &result);
        if (r != NCCL_OK || (result != NCCL_OK && result != NCCL_IN_PROGRESS))
            return cuda_nccl_called(r != NCCL_OK ? r : result, c->comm[i],
                                    about(sig, c, text, sizeof text));
        if (result == NCCL_OK) {
            i++;
            continue;
        }
        int64_t now = lz_now_ns();
        t0 = t0 ? t0 : now;
        if (now - t0 > limit_ns())
            return LZ_FAIL(LZ_ETIMEOUT,
                           "%s: NCCL is not ready within %" PRId64 " s (LAZULI_COLLECTIVE_TIMEOUT)",
                           about(sig, c, text, sizeof text), lz_cfg_int(LZ_OPT_COLLECTIVE_TIMEOUT));
        if (now - t0 < lz_spin_ns(SPIN_NS)) { /* a thread of NCCL's launches meanwhile */
            lz_cpu_relax();
            continue;
        }
        LZ_TRY(nap_unlocked(c, wait));
        wait = wait * 2 < LONGEST_NAP_NS ? wait * 2 : LONGEST_NAP_NS;
    }
    return LZ_OK;
}

static lz_status join_all(cuda_clique *c, nccl_id id)
{
    nccl_config config = {sizeof config, (unsigned)NCCL_MAGIC, NCCL_OLDEST, 0};
    for (uint32_t i = 0; i < c->n; i++) {
        cuda_device *d = cuda_device_at(c->member[i]);
        LZ_TRY(cuda_enter(d));
        int r = lz_nccl.CommInitRankConfig(&c->comm[i], (int)c->n, id, (int)i, &config);
        cuda_leave(d);
        LZ_TRY(cuda_nccl_called(r, NULL, "making a communicator"));
    }
    return LZ_OK;
}

static lz_status make_inside(cuda_clique *c)
{
    nccl_id id;
    LZ_TRY(cuda_nccl_called(lz_nccl.GetUniqueId(&id), NULL, "an identifier"));
    LZ_TRY(cuda_nccl_called(lz_nccl.GroupStart(), NULL, "beginning a group"));
    lz_status s = join_all(c, id);
    int r = lz_nccl.GroupEnd();
    if (s == LZ_OK)
        s = cuda_nccl_called(r, NULL, "making communicators");
    return s == LZ_OK ? settle(c, NULL) : s;
}

/* NCCL makes devices current as it goes: that stays below this context. */
static lz_status make(cuda_clique *c)
{
    cuda_device *d = cuda_device_at(c->member[0]);
    if (c->made)
        return LZ_OK;
    LZ_TRY(start_watch());
    LZ_TRY(cuda_enter(d));
    lz_status s = make_inside(c);
    c->made = s == LZ_OK;
    if (!c->made) {
        LZ_QUIETLY {
            abort_members(c);
        }
    }
    cuda_leave(d);
    return s;
}

static cuda_clique *find(const uint32_t *member, uint32_t n)
{
    cuda_clique *c = nccl.cliques;
    while (c && (c->n != n || memcmp(c->member, member, n * sizeof *member) != 0))
        c = c->next;
    return c;
}

static lz_status get_locked(const uint32_t *member, uint32_t n, cuda_clique **out)
{
    cuda_clique *c = find(member, n);
    if (!c) {
        c = lz_calloc(1, sizeof *c);
        if (!c)
            return LZ_FAIL(LZ_EMEM, "no memory for communicators");
        c->n = n;
        memcpy(c->member, member, n * sizeof *member);
        c->last = &c->first;
        c->next = nccl.cliques;
        nccl.cliques = c;
    }
    LZ_QUIETLY {
        if (make(c) == LZ_OK) {
            *out = c;
        } else {
            char text[200];
            nccl.off = true;
            lz_logf(LZ_LOG_WARN, "cuda", "GPUs copy to each other without NCCL, %s: %s",
                    about(NULL, c, text, sizeof text), lz_error_get()->message);
        }
    }
    return LZ_OK;
}

static void lock_calls(void)
{
    lz_mutex_lock(&nccl.calls);
    lz_mutex_lock(&nccl.lock);
}

static void unlock_calls(void)
{
    lz_mutex_unlock(&nccl.lock);
    lz_mutex_unlock(&nccl.calls);
}

lz_status cuda_clique_get(const uint32_t *member, uint32_t n, cuda_clique **out)
{
    lz_status s = LZ_OK;
    *out = NULL;
    if (!lz_nccl_load())
        return LZ_OK;
    lock_calls();
    if (!nccl.off)
        s = get_locked(member, n, out);
    unlock_calls();
    return s;
}

nccl_comm cuda_clique_comm(const cuda_clique *c, uint32_t place)
{
    return c->comm[place];
}

/* ---- groups ---- */

static lz_status new_flight(cuda_device *d, flight **out)
{
    flight *f = lz_calloc(1, sizeof *f);
    if (!f)
        return LZ_FAIL(LZ_EMEM, "no memory for a collective");
    lz_status s =
        cuda_check(d, lz_cuda.EventCreate(&f->begun, CU_EVENT_NO_TIMING), "making an event");
    if (s == LZ_OK)
        s = cuda_check(d, lz_cuda.EventCreate(&f->over, CU_EVENT_NO_TIMING), "making an event");
    if (s == LZ_OK) {
        *out = f;
        return LZ_OK;
    }
    if (f->begun)
        (void)lz_cuda.EventDestroy(f->begun);
    lz_free(f);
    return s;
}

static lz_status begin_flight(cuda_team *t, cuda_clique *c)
{
    const cuda_run *r = &t->run[c->member[0]];
    LZ_TRY(cuda_team_here(r));
    if (!c->next_one && c->spare) {
        c->next_one = c->spare;
        c->spare = c->spare->next;
    }
    if (!c->next_one)
        LZ_TRY(new_flight(r->d, &c->next_one));
    return cuda_check(r->d, lz_cuda.EventRecord(c->next_one->begun, r->d->compute),
                      "a collective: an event");
}

static lz_status end_flight(cuda_team *t, const lz_sig *sig, cuda_clique *c)
{
    const cuda_run *r = &t->run[c->member[0]];
    flight *f = c->next_one;
    LZ_TRY(cuda_team_here(r));
    LZ_TRY(cuda_check(r->d, lz_cuda.EventRecord(f->over, r->d->compute), "a collective: an event"));
    c->next_one = NULL;
    f->next = NULL;
    f->sig = sig;
    f->since = 0;
    *c->last = f;
    c->last = &f->next;
    if (nccl.flying++ == 0)
        lz_cond_signal(&nccl.flies);
    return LZ_OK;
}

static lz_status still_there(cuda_job *j)
{
    if (!j->nccl)
        j->nccl = nccl.generation + 1;
    if (j->nccl == nccl.generation + 1)
        return LZ_OK;
    lz_error_set(&nccl.error);
    return nccl.error.status;
}

static lz_status call_grouped(const lz_sig *sig, cuda_clique *const *with, uint32_t n,
                              lz_status (*fn)(const void *), const void *arg)
{
    char text[200];
    LZ_TRY(cuda_nccl_called(lz_nccl.GroupStart(), NULL, about(sig, with[0], text, sizeof text)));
    lz_status s = fn(arg);
    int r = lz_nccl.GroupEnd();
    if (s == LZ_OK)
        s = cuda_nccl_called(r, NULL, about(sig, with[0], text, sizeof text));
    for (uint32_t i = 0; i < n && s == LZ_OK; i++)
        s = settle(with[i], sig);
    return s;
}

static lz_status group_locked(cuda_team *t, const lz_sig *sig, cuda_clique *const *with, uint32_t n,
                              lz_status (*fn)(const void *), const void *arg)
{
    for (uint32_t i = 0; i < n; i++)
        LZ_TRY(make(with[i]));
    LZ_TRY(still_there(t->job)); /* others may have been aborted meanwhile */
    for (uint32_t i = 0; i < n; i++)
        LZ_TRY(begin_flight(t, with[i]));
    lz_status s = call_grouped(sig, with, n, fn, arg);
    for (uint32_t i = 0; i < n && s == LZ_OK; i++)
        s = end_flight(t, sig, with[i]);
    if (s != LZ_OK && t->job->nccl == nccl.generation + 1)
        abort_all();
    return s;
}

lz_status cuda_nccl_group(cuda_team *t, const lz_sig *sig, cuda_clique *const *with, uint32_t n,
                          lz_status (*fn)(const void *), const void *arg)
{
    if (!n)
        return LZ_OK;
    lock_calls();
    lz_status s = still_there(t->job);
    if (s == LZ_OK)
        s = group_locked(t, sig, with, n, fn, arg);
    unlock_calls();
    return s;
}

lz_status cuda_nccl_check(const cuda_job *j)
{
    lz_status s = LZ_OK;
    if (!j->nccl)
        return LZ_OK;
    lz_mutex_lock(&nccl.lock);
    if (j->nccl != nccl.generation + 1) {
        lz_error_set(&nccl.error);
        s = nccl.error.status;
    }
    lz_mutex_unlock(&nccl.lock);
    return s;
}
