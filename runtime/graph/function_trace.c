/* function_trace.c - see function_trace.h. */
#include "runtime/graph/function_trace.h"
#include "base/alloc.h"
#include <string.h>

/* Nodes that bodies inside record must be younger than the placeholders that they capture, and a
 * placeholder is made at the first use: so many ids are kept for them. Those beyond share one. */
enum { IDS = 1 << 16 };

void lz_function_trace_begin(lz_function_trace *f, lz_recording *r, lz_thread_state *t, lz_dev *dev)
{
    *f = (lz_function_trace){.rec = r, .dev = dev, .id = t->id_next};
    f->last_id = f->id + IDS - 1;
    t->id_next += IDS;
    r->function = f;
    r->rule = LZ_ASSIGN_STATE;
}

void lz_function_trace_free(lz_function_trace *f)
{
    for (uint32_t i = 0; i < f->sources.len; i++) {
        lz_node_release(f->sources.data[i].node);
        lz_slot_let_go(f->sources.data[i].handle);
    }
    for (uint32_t i = 0; i < f->events.len; i++)
        lz_host_event_free(&f->events.data[i]);
    for (uint32_t i = 0; i < f->grads.len; i++) {
        lz_slot_let_go(f->grads.data[i].handle);
        lz_slot_let_go(f->grads.data[i].start);
        lz_slot_let_go(f->grads.data[i].now);
    }
    for (uint32_t i = 0; i < f->ends.len; i++)
        lz_host_release(f->ends.data[i].host);
    lz_vec_free(&f->ends);
    lz_vec_free(&f->sources);
    lz_vec_free(&f->events);
    lz_vec_free(&f->grads);
    lz_map_free(&f->bound);
    lz_map_free(&f->graded);
}

lz_status lz_function_trace_end(lz_function_trace *f)
{
    lz_status first = LZ_OK;
    lz_error error = *lz_error_get();
    for (uint32_t i = 0; i < f->ends.len; i++) {
        void *object = lz_host_object(f->ends.data[i].host);
        lz_status s = object ? f->ends.data[i].fn(object) : lz_error_get()->status;
        if (s != LZ_OK && first == LZ_OK)
            error = *lz_error_get();
        first = first == LZ_OK ? s : first;
    }
    lz_error_set(&error);
    return first;
}

lz_function_trace *lz_function_trace_of(const lz_thread_state *t, const lz_slot *s)
{
    const lz_recording *r = t ? t->recording : NULL;
    while (r && !r->function && !(s && lz_recording_made(r, t, s)))
        r = r->outer;
    return r && r->function && !(s && lz_recording_made(r, t, s)) ? r->function : NULL;
}

/* ---- by handle ---- */

static lz_hash key_of(uint64_t h)
{
    return (lz_hash){h, 0};
}

static uint32_t index_in(const lz_map *m, uint64_t h)
{
    return m->len ? (uint32_t)(uintptr_t)lz_map_get(m, key_of(h)) : 0;
}

static lz_status put_index(lz_map *m, uint64_t h, uint32_t i)
{
    return lz_map_put(m, key_of(h), (void *)(uintptr_t)(i + 1));
}

lz_bound_handle *lz_function_trace_bound(const lz_function_trace *f, uint64_t h)
{
    uint32_t i = index_in(&f->bound, h);
    return i ? &f->rec->bound.data[i - 1] : NULL;
}

/* An entry that has no value yet. */
static lz_status add_bound(lz_function_trace *f, uint64_t h)
{
    LZ_TRY(lz_vec_reserve(&f->rec->bound, (uint64_t)f->rec->bound.len + 1));
    LZ_TRY(put_index(&f->bound, h, f->rec->bound.len));
    lz_status s = lz_slot_retain(h);
    if (s != LZ_OK) {
        (void)lz_map_del(&f->bound, key_of(h));
        return s;
    }
    f->rec->bound.data[f->rec->bound.len++] = (lz_bound_handle){.handle = h};
    return LZ_OK;
}

lz_status lz_function_trace_expect(lz_function_trace *f, uint64_t h)
{
    return lz_function_trace_bound(f, h) ? LZ_OK : add_bound(f, h);
}

static lz_node *new_placeholder(lz_function_trace *f, const lz_type *type, lz_dev *dev,
                                const lz_site *site)
{
    lz_node *n = type ? lz_node_new_buffer(type, dev, NULL, site) : NULL;
    if (!n)
        return NULL;
    n->kind = LZ_NODE_PLACEHOLDER;
    n->id = f->id;
    f->id += f->id < f->last_id;
    return n;
}

/* Takes over n; the handle is retained. */
static lz_status add_source(lz_function_trace *f, lz_source_kind kind, uint64_t h, uint32_t event,
                            lz_node *n)
{
    lz_status s = h ? lz_slot_retain(h) : LZ_OK;
    if (s == LZ_OK && (s = lz_vec_push(&f->sources, ((lz_source){kind, event, h, n}))) != LZ_OK)
        lz_slot_let_go(h);
    if (s != LZ_OK)
        lz_node_release(n);
    return s;
}

/* g is the handle that is read inside, h the one that it is found by. */
static lz_status bind(lz_function_trace *f, lz_source_kind kind, uint64_t g, uint64_t h)
{
    lz_slot *s = lz_slot_peek(g);
    lz_node *n = s ? lz_slot_node(s, g) : NULL;
    if (!n)
        return s ? lz_error_get()->status : LZ_FAIL(LZ_EHANDLE, "the tensor was released");
    lz_node *p = new_placeholder(f, lz_node_type(n), lz_node_is_host(n) ? f->dev : n->dev,
                                 atomic_load_explicit(&s->site, memory_order_acquire));
    lz_node_release(n);
    if (!p)
        return lz_error_get()->status;
    LZ_TRY(add_source(f, kind, h, 0, p));
    LZ_TRY(lz_function_trace_expect(f, g));
    lz_node_retain(lz_function_trace_bound(f, g)->now = p);
    return LZ_OK;
}

static bool is_bound(const lz_function_trace *f, uint64_t h)
{
    const lz_bound_handle *b = lz_function_trace_bound(f, h);
    return b && b->now;
}

lz_node *lz_function_trace_read(lz_function_trace *f, uint64_t h)
{
    if (!is_bound(f, h) && bind(f, LZ_SOURCE_HANDLE, h, h) != LZ_OK)
        return NULL;
    lz_node *n = lz_function_trace_bound(f, h)->now;
    lz_node_retain(n);
    return n;
}

/* ---- gradients ---- */

static lz_status grad_slot(lz_function_trace *f, uint64_t h, lz_traced_grad **out)
{
    uint32_t i = index_in(&f->graded, h);
    if (!i) {
        LZ_TRY(lz_vec_reserve(&f->grads, (uint64_t)f->grads.len + 1));
        LZ_TRY(lz_slot_retain(h));
        f->grads.data[f->grads.len++] = (lz_traced_grad){.handle = h};
        LZ_TRY(put_index(&f->graded, h, f->grads.len - 1));
        i = f->grads.len;
    }
    *out = &f->grads.data[i - 1];
    return LZ_OK;
}

/* The gradient of outside is read: from now on it stands for whatever gradient h has in a call. */
static lz_status begin_grad(lz_function_trace *f, lz_slot *s, lz_traced_grad *g)
{
    uint64_t start = atomic_load(&s->grad);
    g->read = true;
    if (!start)
        return LZ_OK;
    LZ_TRY(lz_slot_retain(start));
    g->start = start;
    LZ_TRY(lz_slot_retain(start));
    g->now = start;
    if (!is_bound(f, start))
        return bind(f, LZ_SOURCE_GRAD, start, g->handle);
    for (uint32_t i = 0; i < f->sources.len; i++) { /* it was read as a tensor before */
        lz_source *x = &f->sources.data[i];
        if (x->kind != LZ_SOURCE_HANDLE || x->handle != start)
            continue;
        LZ_TRY(lz_slot_retain(g->handle));
        lz_slot_let_go(x->handle);
        x->kind = LZ_SOURCE_GRAD;
        x->handle = g->handle;
    }
    return LZ_OK;
}

lz_status lz_function_trace_grad(lz_function_trace *f, lz_slot *s, uint64_t h, uint64_t *out)
{
    lz_traced_grad *g;
    *out = 0;
    LZ_TRY(grad_slot(f, h, &g));
    if (!g->set && !g->read)
        LZ_TRY(begin_grad(f, s, g));
    *out = g->now;
    return LZ_OK;
}

lz_status lz_function_trace_set_grad(lz_function_trace *f, uint64_t h, uint64_t g)
{
    lz_traced_grad *slot;
    LZ_TRY(grad_slot(f, h, &slot));
    if (g)
        LZ_TRY(lz_slot_retain(g));
    lz_slot_let_go(slot->now);
    slot->now = g;
    slot->set = true;
    return LZ_OK;
}

/* ---- events ---- */

lz_status lz_function_trace_event(lz_function_trace *f, const lz_host_event *e)
{
    void *data = lz_alloc(e->ndata + 1);
    if (!data)
        return LZ_FAIL(LZ_EMEM, "no memory for what a function does on the host");
    if (e->ndata)
        memcpy(data, e->data, e->ndata);
    if (lz_vec_push(&f->events, *e) != LZ_OK) {
        lz_free(data);
        return LZ_EMEM;
    }
    f->events.data[f->events.len - 1].data = data;
    lz_host_retain(e->host);
    return LZ_OK;
}

lz_node *lz_function_trace_given(lz_function_trace *f, const lz_host_event *e)
{
    lz_node *n = new_placeholder(f, e->type, e->dev ? e->dev : f->dev, NULL);
    if (!n)
        return NULL;
    if (lz_function_trace_event(f, e) != LZ_OK) {
        lz_node_release(n);
        return NULL;
    }
    return add_source(f, LZ_SOURCE_EVENT, 0, f->events.len - 1, n) == LZ_OK ? n : NULL;
}
