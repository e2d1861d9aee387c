/* grad_state.c - gradient state of a handle: its mark (lz_requires_grad), the gradient it owns, and
 * the list of marked handles. See node.h. Threads: thread-safe. */
#include "runtime/graph/function_trace.h"
#include "runtime/graph/recording.h"
#include <stdio.h>

static lz_mutex lock = LZ_MUTEX_INIT("grad_state");
static LZ_VEC(uint64_t)
    marked; /* oldest first; ended handles are removed when the list would grow */

static void sweep(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < marked.len; i++) {
        lz_slot *s = lz_slot_peek(marked.data[i]);
        if (s && (lz_slot_flags(s, marked.data[i]) & LZ_SLOT_GRAD))
            marked.data[n++] = marked.data[i];
    }
    marked.len = n;
}

lz_status lz_trace_set_requires_grad(lz_tensor *t, bool on)
{
    uint64_t h = lz_handle_bits(t);
    lz_slot *s = lz_slot_get(t);
    if (!s)
        return lz_error_get()->status;
    lz_status st = LZ_OK;
    lz_mutex_lock(&lock);
    bool was = (lz_slot_flags(s, h) & LZ_SLOT_GRAD) != 0;
    if (on && !was) {
        if (marked.len == marked.cap)
            sweep();
        st = lz_vec_push(&marked, h);
        if (st == LZ_OK && !lz_slot_flags_change(s, h, LZ_SLOT_GRAD, 0)) {
            marked.len--; /* another thread has released it */
            st = LZ_FAIL(LZ_EHANDLE, "the tensor was released by another thread");
        }
    } else if (!on && was) {
        (void)lz_slot_flags_change(s, h, 0, LZ_SLOT_GRAD);
        sweep();
    }
    lz_mutex_unlock(&lock);
    return st;
}

bool lz_trace_requires_grad(const lz_tensor *t)
{
    lz_slot *s = lz_slot_peek(lz_handle_bits(t));
    return s && (lz_slot_flags(s, lz_handle_bits(t)) & LZ_SLOT_GRAD);
}

size_t lz_trace_marked(lz_tensor **out, size_t n)
{
    lz_mutex_lock(&lock);
    sweep();
    size_t len = marked.len;
    for (size_t i = 0; i < len && i < n; i++)
        out[i] = lz_handle_of_bits(marked.data[i]);
    lz_mutex_unlock(&lock);
    return len;
}

lz_tensor *lz_trace_grad(const lz_tensor *t)
{
    lz_slot *s = lz_slot_peek(lz_handle_bits(t));
    const lz_thread_state *self = lz_thread_state_self;
    uint64_t g = s ? atomic_load(&s->grad) : 0;
    if (__builtin_expect(s && self && self->recording, 0)) {
        lz_function_trace *f = lz_function_trace_of(self, s);
        if (f && lz_function_trace_grad(f, s, lz_handle_bits(t), &g) != LZ_OK)
            lz_host_spoil();
    }
    return g && lz_slot_alive(lz_handle_bits(t)) ? lz_handle_of_bits(g) : NULL;
}

lz_status lz_trace_set_grad(lz_tensor *t, lz_tensor *g)
{
    uint64_t h = lz_handle_bits(t);
    const lz_thread_state *self = lz_thread_state_self;
    LZ_TRY(lz_slot_retain(h));
    lz_function_trace *f =
        self && self->recording ? lz_function_trace_of(self, lz_slot_peek(h)) : NULL;
    if (f) {
        lz_status st = lz_function_trace_set_grad(f, h, lz_handle_bits(g));
        lz_slot_let_go(h);
        return st;
    }
    lz_status s = g ? lz_slot_retain(lz_handle_bits(g)) : LZ_OK;
    if (s == LZ_OK) {
        uint64_t old = atomic_exchange(&lz_slot_peek(h)->grad, lz_handle_bits(g));
        if (old)
            s = lz_slot_release(old);
    }
    lz_slot_let_go(h);
    return s;
}

lz_status lz_trace_may_set_grad(const lz_tensor *t)
{
    const lz_thread_state *self = lz_thread_state_self;
    lz_slot *s = self && self->recording ? lz_slot_get(t) : NULL;
    return s ? lz_recording_may_keep_grad(self, s, lz_handle_bits(t)) : LZ_OK;
}

const char *lz_trace_describe(const lz_tensor *t, char *buf, size_t n)
{
    lz_slot *s = lz_slot_peek(lz_handle_bits(t));
    if (!n)
        return "";
    buf[0] = '\0';
    const lz_site *site = s ? atomic_load_explicit(&s->site, memory_order_acquire) : NULL;
    if (s && (lz_slot_flags(s, lz_handle_bits(t)) & LZ_SLOT_WAS_ASSIGNED)) {
        snprintf(buf, n, "assigned at %s:%d", site && site->file ? site->file : "?",
                 site ? site->line : 0);
    }
    return buf;
}
