/* host_event.c - see host_event.h, and function_trace.h for the events of a call. */
#include "runtime/graph/host_event.h"
#include "base/alloc.h"
#include "runtime/graph/function_trace.h"
#include "runtime/graph/trace_builder.h"
#include <string.h>

struct lz_host {
    _Atomic uint32_t refs;
    _Atomic(void *) object; /* NULL: it has ended */
    const char *what;
};

lz_host *lz_host_new(void *object, const char *what)
{
    lz_host *h = lz_alloc(sizeof *h);
    if (!h) {
        LZ_FAIL(LZ_EMEM, "no memory for an object that functions know");
        return NULL;
    }
    atomic_init(&h->refs, 1);
    atomic_init(&h->object, object);
    h->what = what;
    return h;
}

void lz_host_retain(lz_host *h)
{
    if (h)
        atomic_fetch_add(&h->refs, 1);
}

void lz_host_release(lz_host *h)
{
    if (h && atomic_fetch_sub(&h->refs, 1) == 1)
        lz_free(h);
}

void lz_host_end(lz_host *h)
{
    if (h)
        atomic_store(&h->object, NULL);
    lz_host_release(h);
}

void *lz_host_object(const lz_host *h)
{
    if (!h)
        return NULL;
    void *object = atomic_load(&((lz_host *)(uintptr_t)h)->object);
    if (!object)
        LZ_FAIL(LZ_ESTATE, "the %s that the function was recorded with has been freed", h->what);
    return object;
}

void lz_host_event_free(lz_host_event *e)
{
    lz_host_release(e->host);
    lz_free(e->data);
}

/* ---- recording ---- */

static lz_function_trace *recorded(void)
{
    return lz_function_trace_of(lz_thread_state_self, NULL);
}

bool lz_host_records(void)
{
    return recorded() != NULL;
}

void lz_host_spoil(void)
{
    lz_function_trace *f = recorded();
    if (!f || f->spoilt)
        return;
    f->spoilt = true;
    f->error = *lz_error_get();
}

lz_status lz_host_at_end(lz_host *h, lz_status (*fn)(void *object))
{
    lz_function_trace *f = recorded();
    if (!f)
        return LZ_OK;
    LZ_TRY(lz_vec_push(&f->ends, ((lz_trace_ending){h, fn})));
    lz_host_retain(h);
    return LZ_OK;
}

lz_status lz_host_act(lz_host *h, const lz_host_action *a, const void *data, size_t n)
{
    lz_function_trace *f = recorded();
    const lz_thread_state *t = lz_thread_state_self;
    lz_host_event e = {.kind = LZ_EVENT_ACTION, .host = h, .action = *a, .ndata = n};
    if (!f) {
        void *own = lz_alloc(n + 1);
        if (!own)
            return LZ_FAIL(LZ_EMEM, "no memory for a step of the %s", h->what);
        memcpy(own, data, n);
        a->run(atomic_load(&h->object), own);
        lz_free(own);
        return LZ_OK;
    }
    for (const lz_recording *r = t->recording; r != f->rec; r = r->outer)
        if (r->rule == LZ_ASSIGN_REFUSED)
            return LZ_FAIL(LZ_EINVAL,
                           "the body that %s records may run any number of times, and this call "
                           "changes the %s, which is outside",
                           r->op ? r->op : "the library", h->what);
    e.data = (void *)(uintptr_t)data;
    return lz_function_trace_event(f, &e);
}

lz_tensor *lz_host_number(lz_host *h, lz_host_number_fn fn, const void *data, size_t n,
                          lz_dtype dtype, const lz_site *site)
{
    static const lz_shape scalar;
    lz_function_trace *f = recorded();
    if (!f) {
        lz_tracer c;
        lz_tracer_begin(&c, "lz_full", site);
        double v = fn(atomic_load(&h->object), data);
        return lz_tracer_end(&c, c.thr ? lz_tracer_argument(&c, dtype, v, NULL) : NULL);
    }
    lz_host_event e = {.kind = LZ_EVENT_NUMBER,
                       .host = h,
                       .number = fn,
                       .data = (void *)(uintptr_t)data,
                       .ndata = n,
                       .type = lz_type_get(dtype, &scalar)};
    lz_node *x = e.type ? lz_function_trace_given(f, &e) : NULL;
    return x ? lz_trace_tensor_of(x, site) : lz_trace_error_tensor("lz_full", site);
}

/* ---- state that begins while a body is recorded ---- */

lz_outside lz_outside_begin(void)
{
    lz_thread_state *t = lz_thread_state_self;
    lz_outside o = {t ? t->recording : NULL, t ? t->loop : NULL};
    if (t) {
        t->recording = NULL;
        t->loop = NULL;
    }
    return o;
}

void lz_outside_end(const lz_outside *o, lz_tensor *made)
{
    lz_thread_state *t = lz_thread_state_self;
    lz_slot *s = lz_slot_peek(lz_handle_bits(made));
    if (s)
        atomic_store_explicit(&s->made, 0, memory_order_relaxed);
    if (t) {
        t->recording = o->recording;
        t->loop = o->loop;
    }
}

lz_status lz_outside_may_assign(const lz_tensor *t)
{
    const lz_thread_state *self = lz_thread_state_self;
    lz_slot *s = self && self->recording ? lz_slot_get(t) : NULL;
    bool inside;
    return s ? lz_recording_may_assign(self, s, lz_handle_bits(t), &inside) : LZ_OK;
}
