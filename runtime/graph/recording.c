/* recording.c - see recording.h. */
#include "runtime/graph/recording.h"
#include "runtime/graph/function_trace.h"

void lz_recording_begin(lz_recording *r, lz_thread_state *t)
{
    *r = (lz_recording){.outer = t->recording, .op = t->api_op, .site = t->api_site};
    /* a number that is nobody's: a handle made just before has that of the next node */
    r->first_id = ++t->id_next;
    t->recording = r;
}

void lz_recording_end(lz_recording *r, lz_thread_state *t)
{
    t->recording = r->outer;
}

void lz_recording_free(lz_recording *r)
{
    for (uint32_t i = 0; i < r->bound.len; i++) {
        lz_node_release(r->bound.data[i].now);
        lz_slot_let_go(r->bound.data[i].handle);
    }
    lz_vec_free(&r->bound);
}

bool lz_recording_made(const lz_recording *r, const lz_thread_state *t, const lz_slot *s)
{
    uint64_t made = atomic_load_explicit(&((lz_slot *)s)->made, memory_order_relaxed);
    return made >= r->first_id && made <= t->id_next;
}

static lz_bound_handle *find(const lz_recording *r, uint64_t h)
{
    if (r->function)
        return lz_function_trace_bound(r->function, h);
    for (uint32_t i = 0; i < r->bound.len; i++)
        if (r->bound.data[i].handle == h)
            return &r->bound.data[i];
    return NULL;
}

bool lz_recording_read(const lz_thread_state *t, lz_slot *s, uint64_t h, lz_node **out)
{
    for (const lz_recording *r = t->recording; r && !lz_recording_made(r, t, s); r = r->outer) {
        if (r->function) {
            *out = lz_function_trace_read(r->function, h);
            return true;
        }
        lz_bound_handle *b = r->bound.len ? find(r, h) : NULL;
        if (b) {
            lz_node_retain(*out = b->now);
            return true;
        }
    }
    return false;
}

/* r: the body that refuses it, and so do those around it that the tensor is from outside of. */
static lz_status refuse(lz_recording *r, const lz_thread_state *t, lz_slot *s, uint64_t h,
                        const char *why)
{
    char text[128];
    const lz_site *made = atomic_load_explicit(&s->site, memory_order_acquire), *at = r->site;
    const lz_type *type = lz_slot_type(s, h);
    for (lz_recording *x = t->recording; x && !lz_recording_made(x, t, s); x = x->outer)
        x->refused = true;
    bool again = (lz_slot_flags(s, h) & LZ_SLOT_WAS_ASSIGNED) != 0;
    return LZ_FAIL(LZ_EINVAL,
                   "the tensor (%s, %s at %s:%d) is from outside of the body that %s at %s:%d "
                   "records%s",
                   type ? lz_type_short(type, text, sizeof text) : "?", again ? "assigned" : "made",
                   made && made->file ? made->file : "?", made ? made->line : 0,
                   r->op ? r->op : "the library", at && at->file ? at->file : "?",
                   at ? at->line : 0, why);
}

lz_status lz_recording_may_keep_grad(const lz_thread_state *t, lz_slot *s, uint64_t h)
{
    lz_recording *r = t->recording;
    return !r || r->function || lz_recording_made(r, t, s)
               ? LZ_OK
               : refuse(r, t, s, h, ", so it cannot keep a gradient from inside: use lz_grad");
}

/* The bodies around the innermost one assign it, too, when that is recorded; those around a
 * function when it is called. */
lz_status lz_recording_may_assign(const lz_thread_state *t, lz_slot *s, uint64_t h, bool *inside)
{
    lz_recording *r = t->recording;
    *inside = r && !lz_recording_made(r, t, s);
    if (*inside && r->function)
        return lz_function_trace_expect(r->function, h);
    for (; r && !r->function && !lz_recording_made(r, t, s); r = r->outer)
        if (r->rule == LZ_ASSIGN_REFUSED)
            return refuse(r, t, s, h,
                          ", which may run any number of times: give the value back as a result");
    return LZ_OK;
}

lz_status lz_recording_reserve(const lz_thread_state *t, uint32_t n)
{
    lz_recording *r = t->recording;
    return r ? lz_vec_reserve(&r->bound, (uint64_t)r->bound.len + n) : LZ_OK;
}

bool lz_recording_assign(const lz_thread_state *t, uint64_t h, lz_node *n, const lz_site *site)
{
    lz_recording *r = t->recording;
    lz_bound_handle *b = find(r, h);
    bool first = !b;
    if (first) {
        b = &r->bound.data[r->bound.len++];
        *b = (lz_bound_handle){.handle = h};
    }
    lz_node_release(b->now);
    b->now = n;
    b->assigned = true;
    b->site = site;
    return first;
}
