/* call.c - what a plugin answers: its errors become statuses, and its events the engine's.
 * A plugin tells that an event is complete by calling back. What it is given for that is the number
 * of an entry of a table here and not an address: a call that comes after the time is up finds an
 * entry that nobody waits for, and one that comes twice finds it free, or somebody else's with
 * another number.
 * Threads: thread-safe. */
#include "backends/pjrt/client.h"
#include "base/alloc.h"
#include <stdio.h>
#include <string.h>

/* ---- errors ---- */

void lz_plugin_text(char *to, size_t room, const char *from, size_t n)
{
    size_t len = 0;
    for (; from && len < n && len + 1 < room && from[len]; len++)
        to[len] = (unsigned char)from[len] < ' ' ? ' ' : from[len];
    to[len] = '\0';
}

static lz_status status_of(int32_t code)
{
    switch (code) {
    case PJRT_INVALID_ARGUMENT:
        return LZ_EINVAL;
    case PJRT_DEADLINE_EXCEEDED:
        return LZ_ETIMEOUT;
    case PJRT_NOT_FOUND:
        return LZ_ENOENT;
    case PJRT_ALREADY_EXISTS:
        return LZ_EEXIST;
    case PJRT_PERMISSION_DENIED:
    case PJRT_UNAUTHENTICATED:
        return LZ_EPERM;
    case PJRT_RESOURCE_EXHAUSTED:
        return LZ_EDEVMEM;
    case PJRT_FAILED_PRECONDITION:
        return LZ_ESTATE;
    case PJRT_OUT_OF_RANGE:
        return LZ_ERANGE;
    case PJRT_UNIMPLEMENTED:
        return LZ_EUNSUPPORTED;
    case PJRT_UNAVAILABLE:
        return LZ_EUNAVAILABLE;
    case PJRT_DATA_LOSS:
        return LZ_ECORRUPT;
    default: /* and PJRT_OK, which no error has */
        return LZ_EDEVICE;
    }
}

/* Takes e over. */
static void read_error(lz_plugin *p, const char *function, PJRT_Error *e, lz_error *out)
{
    char text[256] = "";
    LZ_PLUGIN_ARGS(m, Error_Message, .error = e);
    LZ_PLUGIN_ARGS(c, Error_GetCode, .error = e);
    LZ_PLUGIN_ARGS(d, Error_Destroy, .error = e);
    (void)p->api.Error_Message(&m.a);
    (void)p->api.Error_GetCode(&c.a);
    lz_plugin_text(text, sizeof text, m.a.message, m.a.message_size);
    *out = (lz_error){.status = status_of(c.a.code)};
    (void)snprintf(out->message, sizeof out->message, "plugin %s: PJRT_%s: %s", p->name, function,
                   text[0] ? text : "it failed without a message");
    (void)p->api.Error_Destroy(&d.a);
}

lz_status lz_plugin_check_optional(lz_plugin *p, const char *function, PJRT_Error *e, bool there,
                                   bool *had)
{
    lz_error err;
    *had = there;
    if (!e)
        return LZ_OK;
    read_error(p, function, e, &err);
    *had = err.status != LZ_EUNSUPPORTED;
    return *had ? LZ_FAIL(err.status, "%s", err.message) : LZ_OK;
}

lz_status lz_plugin_check(lz_plugin *p, const char *function, PJRT_Error *e)
{
    lz_error err;
    if (!e)
        return LZ_OK;
    read_error(p, function, e, &err);
    return LZ_FAIL(err.status, "%s", err.message);
}

/* ---- events ---- */

typedef struct watch {
    uint32_t number; /* of the last who used the entry */
    lz_plugin *p;    /* NULL: the entry is free */
    lz_event *done;  /* NULL: its time was up, and the callback is still to come */
    const char *function;
    int64_t deadline; /* 0: none */
} watch;
static struct {
    lz_mutex lock;
    LZ_VEC(watch) all;
    bool timed;              /* the thread runs that looks at deadlines */
    int64_t next;            /* when it wakes up; INT64_MAX: when there is a deadline */
    _Atomic uint32_t sooner; /* counts deadlines before that */
} watches = {.lock = LZ_MUTEX_INIT("plugin_watches"), .next = INT64_MAX};

_Static_assert(sizeof(void *) >= sizeof(uint64_t), "a callback is given an entry and its number");

/* Takes the entry of this number, if there is one: out->p is NULL where there is not. */
static void take(uint64_t token, watch *out)
{
    uint32_t at = (uint32_t)token, number = (uint32_t)(token >> 32);
    *out = (watch){0};
    lz_mutex_lock(&watches.lock);
    if (at < watches.all.len && watches.all.data[at].number == number) {
        *out = watches.all.data[at];
        watches.all.data[at].p = NULL;
        watches.all.data[at].done = NULL;
    }
    lz_mutex_unlock(&watches.lock);
}

static void fail(watch *w, lz_status s, const char *why)
{
    lz_error err = {.status = s};
    (void)snprintf(err.message, sizeof err.message, "plugin %s: PJRT_%s: %s", w->p->name,
                   w->function, why);
    lz_event_complete(w->done, &err);
    lz_event_release(w->done);
}

static void on_ready(PJRT_Error *e, void *user)
{
    watch w;
    lz_error err;
    take((uintptr_t)user, &w);
    if (!w.p)
        return; /* nobody knows whose error it is */
    if (e)
        read_error(w.p, w.function, e, &err);
    if (w.done)
        lz_event_complete(w.done, e ? &err : NULL);
    lz_event_release(w.done);
}

/* Gives up one whose time is up; false: there is none, and watches.next is the earliest. */
static bool give_up_one(void)
{
    watch w = {0};
    int64_t now = lz_now_ns(), next = INT64_MAX;
    lz_mutex_lock(&watches.lock);
    for (uint32_t i = 0; i < watches.all.len && !w.done; i++) {
        watch *x = &watches.all.data[i];
        if (!x->done || !x->deadline)
            continue;
        if (x->deadline < now) {
            w = *x;
            x->done = NULL;
        } else if (x->deadline < next) {
            next = x->deadline;
        }
    }
    watches.next = next;
    lz_mutex_unlock(&watches.lock);
    if (w.done)
        fail(&w, LZ_ETIMEOUT, "its event is not complete in time (LAZULI_PLUGIN_TIMEOUT)");
    return w.done != NULL;
}

static void *look_at_deadlines(void *unused)
{
    for (;;) {
        uint32_t sooner = atomic_load(&watches.sooner);
        while (give_up_one())
            ;
        lz_mutex_lock(&watches.lock);
        int64_t next = watches.next;
        lz_mutex_unlock(&watches.lock);
        int64_t left = next - lz_now_ns() + 1;
        if (left > 0)
            (void)lz_futex_wait(&watches.sooner, sooner, next == INT64_MAX ? -1 : left);
    }
    return unused;
}

/* The lock is held: the thread that looks at deadlines will be awake at this one. */
static void expect(int64_t deadline)
{
    pthread_t thread;
    if (deadline < watches.next) {
        watches.next = deadline;
        atomic_fetch_add(&watches.sooner, 1);
        lz_futex_wake(&watches.sooner, 1);
    }
    LZ_QUIETLY { /* if it does not start, the next deadline tries again */
        if (!watches.timed)
            watches.timed =
                lz_thread_start(&thread, "lz-plugin-time", look_at_deadlines, NULL) == LZ_OK &&
                pthread_detach(thread) == 0;
    }
}

/* Enters it; false without memory. */
static bool enter(const watch *w, uint64_t *token)
{
    uint32_t at = 0;
    lz_mutex_lock(&watches.lock);
    while (at < watches.all.len && watches.all.data[at].p)
        at++;
    bool ok = at < watches.all.len || lz_vec_push(&watches.all, (watch){0}) == LZ_OK;
    if (ok) {
        uint32_t number = watches.all.data[at].number + 1;
        watches.all.data[at] = *w;
        watches.all.data[at].number = number;
        *token = (uint64_t)number << 32 | at;
        if (w->deadline)
            expect(w->deadline);
    }
    lz_mutex_unlock(&watches.lock);
    return ok;
}

static void destroy_event(lz_plugin *p, PJRT_Event *e)
{
    LZ_PLUGIN_ARGS(d, Event_Destroy, .event = e);
    LZ_QUIETLY {
        (void)LZ_PLUGIN_CALL(p, Event_Destroy, d);
    }
}

void lz_plugin_watch(lz_plugin *p, PJRT_Event *e, const char *function, lz_event *done)
{
    double limit = p->config.timeout;
    watch w = {.p = p, .done = done, .function = function};
    uint64_t token;
    lz_event_retain(done);
    if (limit > 0)
        w.deadline = lz_now_ns() + (int64_t)(limit * 1e9);
    if (!e) {
        fail(&w, LZ_EDEVICE, "it gave no event, and no error");
        return;
    }
    if (!enter(&w, &token)) {
        fail(&w, LZ_EMEM, "no memory to wait for its event");
    } else {
        LZ_PLUGIN_ARGS(x, Event_OnReady, .event = e, .callback = on_ready,
                       .user_arg = (void *)(uintptr_t)token);
        PJRT_Error *failed = p->api.Event_OnReady(&x.a);
        if (failed)
            on_ready(failed, (void *)(uintptr_t)token);
    }
    destroy_event(p, e);
}

/* Without a time limit by the plugin's own function, if it has that: nothing here can run out. */
lz_status lz_plugin_await(lz_plugin *p, PJRT_Event *e, const char *function)
{
    if (e && p->config.timeout <= 0 && p->api.Event_Await &&
        !atomic_load_explicit(&p->no_await, memory_order_relaxed)) {
        bool had;
        LZ_PLUGIN_ARGS(x, Event_Await, .event = e);
        lz_status s = lz_plugin_check_optional(p, function, p->api.Event_Await(&x.a), true, &had);
        if (had) {
            destroy_event(p, e);
            return s;
        }
        atomic_store_explicit(&p->no_await, true, memory_order_relaxed);
    }
    lz_event *done = lz_event_new();
    if (!done)
        return LZ_EMEM;
    lz_plugin_watch(p, e, function, done);
    lz_status s = lz_event_wait(done);
    lz_event_release(done);
    return s;
}
