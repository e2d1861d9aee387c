/* event.c - events of the C API: the engine's, and those that a host makes and sets itself.
 * Threads: thread-safe. */
#include "base/alloc.h"
#include "pjrt/plugin.h"
#include <stdatomic.h>
#include <stdio.h>

struct PJRT_Event {
    lz_event *e;     /* NULL: complete */
    atomic_bool set; /* of one that the host made */
};

PJRT_Event *lz_pjrt_event(lz_event *e)
{
    PJRT_Event *x = lz_alloc(sizeof *x);
    if (!x) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for an event");
        return NULL;
    }
    if (e)
        lz_event_retain(e);
    x->e = e;
    atomic_init(&x->set, true);
    return x;
}

PJRT_Event *lz_pjrt_event_new(lz_event **e)
{
    *e = lz_event_new();
    PJRT_Event *x = *e ? lz_pjrt_event(*e) : NULL;
    if (!x) {
        lz_event_release(*e);
        *e = NULL;
    }
    return x;
}

PJRT_Error *lz_pjrt_Event_Destroy(PJRT_Event_Destroy_Args *a)
{
    static const lz_error never = {.status = LZ_ESTATE,
                                   .message = "the event was destroyed before it was set"};
    if (!a->event)
        return NULL;
    if (!atomic_exchange(&a->event->set, true))
        lz_event_complete(a->event->e, &never);
    lz_event_release(a->event->e);
    lz_free(a->event);
    return NULL;
}

PJRT_Error *lz_pjrt_Event_IsReady(PJRT_Event_IsReady_Args *a)
{
    a->is_ready = !a->event->e || lz_event_done(a->event->e);
    return NULL;
}

PJRT_Error *lz_pjrt_Event_Await(PJRT_Event_Await_Args *a)
{
    PJRT_Error *e = lz_pjrt_check_wait(a->event->e);
    if (e)
        return e;
    PJRT_TRY(lz_event_wait(a->event->e));
    return NULL;
}

PJRT_Error *lz_pjrt_Event_Error(PJRT_Event_Error_Args *a)
{
    if (a->event->e && !lz_event_done(a->event->e))
        return lz_pjrt_error(PJRT_FAILED_PRECONDITION, "the event is not complete yet");
    PJRT_TRY(lz_event_wait(a->event->e));
    return NULL;
}

typedef struct waiting {
    PJRT_Event_OnReadyCallback fn;
    void *user;
} waiting;

static void ready(void *user, const lz_error *err)
{
    waiting w = *(waiting *)user;
    lz_free(user);
    w.fn(lz_pjrt_error_of(err), w.user); /* the error is the callback's */
}

PJRT_Error *lz_pjrt_Event_OnReady(PJRT_Event_OnReady_Args *a)
{
    if (!a->event->e) {
        a->callback(NULL, a->user_arg);
        return NULL;
    }
    waiting *w = lz_alloc(sizeof *w);
    if (!w)
        return lz_pjrt_error(PJRT_RESOURCE_EXHAUSTED, "no memory for a callback");
    *w = (waiting){a->callback, a->user_arg};
    if (lz_event_then(a->event->e, ready, w) == LZ_OK)
        return NULL;
    lz_free(w);
    return lz_pjrt_failed();
}

PJRT_Error *lz_pjrt_Event_Create(PJRT_Event_Create_Args *a)
{
    lz_event *e;
    a->event = lz_pjrt_event_new(&e);
    if (!a->event)
        return lz_pjrt_failed();
    lz_event_release(e);
    atomic_store(&a->event->set, false);
    return NULL;
}

PJRT_Error *lz_pjrt_Event_Set(PJRT_Event_Set_Args *a)
{
    if (atomic_exchange(&a->event->set, true))
        return lz_pjrt_error(PJRT_FAILED_PRECONDITION,
                             "the event is set, or is not one that Event_Create gave");
    lz_error err = {.status = lz_pjrt_status(a->error_code)};
    size_t n =
        a->error_message_size < sizeof err.message ? a->error_message_size : sizeof err.message - 1;
    (void)snprintf(err.message, sizeof err.message, "%.*s", (int)n,
                   a->error_message ? a->error_message : "");
    lz_event *e = a->event->e; /* a callback may destroy the host's object, and with it the event */
    lz_event_retain(e);
    lz_event_complete(e, err.status == LZ_OK ? NULL : &err);
    lz_event_release(e);
    return NULL;
}
