/* handle.c - see handle.h. */
#include "runtime/graph/handle.h"
#include "base/unseen_error.h"
#include "runtime/graph/recording.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Never in memory: for gdb, which prints *t only of a type that is complete. */
struct lz_tensor {};

enum { CHUNK_SLOTS = 1 << LZ_SLOT_CHUNK_BITS };

/* Slot 0 is the error tensor that is returned when there is no memory for another: it is never
 * released. */
static lz_shared_error no_memory = {
    1, NULL, false, {.status = LZ_EMEM, .message = "no memory for another tensor handle"}};
static lz_slot chunk0[CHUNK_SLOTS] = {
    {.state = (UINT64_C(1) << 32) | 1,
     .err = &no_memory,
     .flags = (UINT64_C(1) << 32) | LZ_SLOT_ERROR | LZ_SLOT_INTERNAL}};
_Atomic(lz_slot *) lz_slot_chunks[LZ_SLOT_MAX_CHUNKS] = {chunk0};
static uint32_t nchunks;

lz_slot *lz_slot_new_chunk(uint32_t *n)
{
    lz_slot *c = nchunks == 0 ? chunk0 : NULL;
    if (nchunks >= LZ_SLOT_MAX_CHUNKS) {
        LZ_FAIL(LZ_EMEM, "%d tensor handles are alive: release some",
                LZ_SLOT_MAX_CHUNKS * CHUNK_SLOTS);
        return NULL;
    }
    if (!c && !(c = lz_calloc(CHUNK_SLOTS, sizeof *c))) {
        LZ_FAIL(LZ_EMEM, "no memory for %zu bytes of tensor handles", CHUNK_SLOTS * sizeof *c);
        return NULL;
    }
    for (uint32_t i = nchunks == 0; i < CHUNK_SLOTS; i++) {
        c[i].index = (nchunks << LZ_SLOT_CHUNK_BITS) | i;
        atomic_store(&c[i].state, UINT64_C(1) << 32);
    }
    atomic_store_explicit(&lz_slot_chunks[nchunks], c, memory_order_release);
    uint32_t first = nchunks == 0;
    nchunks++;
    *n = CHUNK_SLOTS - first;
    return c + first;
}

static lz_status bad_handle(uint64_t h)
{
    if (h == 0)
        return LZ_FAIL(LZ_ENULL, "the tensor is NULL");
    return LZ_FAIL(LZ_EHANDLE,
                   "tensor handle 0x%" PRIx64
                   " was released (by lz_release, or at the end of its scope), or never was one",
                   h);
}

lz_slot *lz_slot_get(const lz_tensor *t)
{
    lz_slot *s = lz_slot_peek(lz_handle_bits(t));
    if (__builtin_expect(s == NULL, 0))
        (void)bad_handle(lz_handle_bits(t));
    return s;
}

lz_node *lz_slot_node_peek(lz_slot *s, uint64_t h)
{
    for (;;) {
        lz_node *n = atomic_load_explicit(&s->node, memory_order_acquire);
        if (!n)
            return NULL;
        if (!lz_node_retain_live(n))
            continue; /* another thread has just replaced it */
        if (atomic_load(&s->node) == n && atomic_load(&s->state) >> 32 == h >> 32)
            return n;
        lz_node_release(n);
        if (!lz_slot_alive(h))
            return NULL;
    }
}

/* ---- errors ---- */

/* Errors without references. They are not given back to the system, since a thread may still hold a
 * pointer that it read from a slot. */
static lz_mutex spare_lock = LZ_MUTEX_INIT("handle");
static lz_shared_error *spare;

static lz_shared_error *error_new(void)
{
    lz_mutex_lock(&spare_lock);
    lz_shared_error *e = spare;
    if (e)
        spare = e->next;
    lz_mutex_unlock(&spare_lock);
    return e ? e : lz_calloc(1, sizeof *e);
}

static void error_release(lz_shared_error *e)
{
    if (!e || atomic_fetch_sub(&e->refs, 1) != 1)
        return;
    lz_mutex_lock(&spare_lock);
    e->next = spare;
    spare = e;
    lz_mutex_unlock(&spare_lock);
}

/* false when e has been released for good; e may be any error that ever was */
static bool error_retain_live(lz_shared_error *e)
{
    uint32_t v = atomic_load_explicit(&e->refs, memory_order_relaxed);
    do {
        if (v == 0)
            return false;
    } while (!atomic_compare_exchange_weak(&e->refs, &v, v + 1));
    return true;
}

/* A reference to the error; NULL: it has none, or has ended. */
static lz_shared_error *error_peek(lz_slot *s, uint64_t h)
{
    for (;;) {
        lz_shared_error *e = atomic_load_explicit(&s->err, memory_order_acquire);
        if (!e)
            return NULL;
        if (error_retain_live(e)) {
            if (atomic_load(&s->err) == e && atomic_load(&s->state) >> 32 == h >> 32)
                return e;
            error_release(e);
        }
        if (!lz_slot_alive(h))
            return NULL;
    }
}

bool lz_slot_error(lz_slot *s, uint64_t h, lz_error *out)
{
    lz_shared_error *e = error_peek(s, h);
    if (!e)
        return false;
    *out = e->error;
    error_release(e);
    return true;
}

bool lz_slot_error_to_report(lz_slot *s, uint64_t h, lz_error *out)
{
    lz_shared_error *e = error_peek(s, h);
    bool report = e && !atomic_load(&e->looked);
    if (report)
        *out = e->error;
    error_release(e);
    return report;
}

void lz_slot_looked(const lz_error *e)
{
    lz_thread_state *t = lz_thread_state_self;
    if ((t && t->api_op) || lz_error_spoken_for() || !lz_unseen_looked(e) || !t)
        return; /* a public function inside of another reports to that */
    for (uint32_t i = 0; i < t->pending.len; i++) {
        uint64_t h = t->pending.data[i];
        lz_slot *s = lz_slot_peek(h);
        lz_shared_error *x = s && (lz_slot_flags(s, h) & LZ_SLOT_ERROR) ? error_peek(s, h) : NULL;
        if (x && x->error.serial == e->serial)
            atomic_store(&x->looked, true);
        error_release(x);
    }
}

/* Records why a value is gone; false when the handle has ended. */
static bool tell_stale(lz_slot *s, uint64_t h, uint32_t flags)
{
    char text[128];
    const lz_site *site = atomic_load_explicit(&s->site, memory_order_acquire);
    uint32_t op = atomic_load_explicit(&s->op, memory_order_acquire);
    const lz_type *type = lz_slot_type(s, h);
    if (!type)
        return false;
    LZ_FAIL(LZ_ESTALE, "this value (%s, %s, made at %s:%d) was %s", lz_op_get((lz_op)op)->text,
            lz_type_short(type, text, sizeof text), site && site->file ? site->file : "?",
            site ? site->line : 0,
            flags & LZ_SLOT_DONATED
                ? "donated to lz_function_call: use its results, or record the function "
                  "without .donate for this argument"
                : "a temporary that the step did not keep: lz_retain it before lz_mark_step, "
                  "or read it before the step");
    return true;
}

/* Records why there is no node. False: there is one by now. */
static bool tell_why(lz_slot *s, uint64_t h)
{
    lz_error e;
    uint32_t f = lz_slot_flags(s, h);
    if ((f & LZ_SLOT_ERROR) && lz_slot_error(s, h, &e))
        lz_error_set(&e);
    else if (!(f & LZ_SLOT_STALE) || !tell_stale(s, h, f)) {
        if (lz_slot_alive(h))
            return false;
        (void)bad_handle(h);
    }
    return true;
}

lz_node *lz_slot_node(lz_slot *s, uint64_t h)
{
    for (;;) {
        lz_node *n = lz_slot_node_peek(s, h);
        if (__builtin_expect(n != NULL, 1))
            return n;
        if (tell_why(s, h))
            return NULL;
    }
}

lz_node *lz_trace_node_of(const lz_tensor *t)
{
    lz_slot *s = lz_slot_get(t);
    const lz_thread_state *self = lz_thread_state_self;
    if (__builtin_expect(s && self && self->recording, 0)) {
        lz_node *n;
        if (lz_recording_read(self, s, lz_handle_bits(t), &n))
            return n;
    }
    return s ? lz_slot_node(s, lz_handle_bits(t)) : NULL;
}

/* ---- making ---- */

static uint64_t generation(const lz_slot *s)
{
    return atomic_load_explicit(&s->state, memory_order_relaxed) & ~UINT64_C(0xffffffff);
}

static lz_slot *new_slot(lz_thread_state *t, lz_node *n, const lz_site *site)
{
    lz_slot *s = lz_pool_take(t, LZ_POOL_SLOT);
    if (!s)
        return NULL;
    uint64_t gen = generation(s);
    atomic_store_explicit(&s->type, n ? lz_node_type(n) : NULL, memory_order_release);
    atomic_store_explicit(&s->site, site, memory_order_release);
    atomic_store_explicit(&s->err, NULL, memory_order_release);
    atomic_store_explicit(&s->made, t->id_next, memory_order_relaxed);
    atomic_store_explicit(&s->sharding, NULL, memory_order_relaxed);
    atomic_store_explicit(&s->flags, gen, memory_order_release);
    atomic_store_explicit(&s->owner, gen, memory_order_relaxed);
    atomic_store_explicit(&s->node, n, memory_order_release);
    LZ_THREAD_STATE_ADD(t->made, 1);
    return s;
}

/* The handle of a slot that is not published yet. */
static uint64_t handle_to_be(const lz_slot *s)
{
    return generation(s) | s->index;
}

static uint64_t publish(lz_slot *s, uint64_t scoped)
{
    uint64_t gen = generation(s);
    atomic_store_explicit(&s->state, gen | scoped | 1, memory_order_release);
    return gen | s->index;
}

bool lz_slot_pending(const lz_thread_state *t, uint64_t h)
{
    lz_slot *s = lz_slot_peek(h);
    uint64_t owner = (h & ~UINT64_C(0xffffffff)) | t->serial;
    return s && atomic_load_explicit(&s->owner, memory_order_relaxed) == owner;
}

void lz_slot_own(lz_slot *s, uint64_t h, const lz_thread_state *t)
{
    uint64_t v = atomic_load_explicit(&s->owner, memory_order_relaxed);
    do {
        if (v >> 32 != h >> 32)
            return;
    } while (!atomic_compare_exchange_weak_explicit(&s->owner, &v,
                                                    (h & ~UINT64_C(0xffffffff)) | t->serial,
                                                    memory_order_relaxed, memory_order_relaxed));
}

/* Room for `more` handles: first by dropping ended ones. */
static lz_status room_pending(lz_thread_state *t, uint32_t more)
{
    uint64_t need = (uint64_t)t->pending.len + more;
    if (need > t->pending.cap && t->pending.len >= 2 * t->pending_floor) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < t->pending.len; i++)
            if (lz_slot_pending(t, t->pending.data[i]))
                t->pending.data[n++] = t->pending.data[i];
        t->pending.len = n;
        t->pending_floor = n;
    }
    return lz_vec_reserve(&t->pending, (uint64_t)t->pending.len + more);
}

static lz_status push_pending(lz_thread_state *t, uint64_t h)
{
    if (t->pending.len == t->pending.cap)
        LZ_TRY(room_pending(t, 1));
    return lz_vec_push(&t->pending, h);
}

lz_status lz_slot_queue(lz_thread_state *t, lz_slot *s, uint64_t h)
{
    if ((lz_slot_flags(s, h) & LZ_SLOT_QUEUED) && lz_slot_pending(t, h))
        return LZ_OK;
    LZ_TRY(push_pending(t, h));
    lz_slot_own(s, h, t);
    (void)lz_slot_flags_change(s, h, LZ_SLOT_QUEUED, 0);
    return LZ_OK;
}

/* ---- the value of the last step ---- */

bool lz_slot_unstepped(const lz_thread_state *t, uint64_t h)
{
    lz_slot *s = lz_slot_peek(h);
    return s && (lz_slot_flags(s, h) & LZ_SLOT_UNSTEPPED) && lz_slot_pending(t, h);
}

void lz_slot_sweep_unstepped(lz_thread_state *t)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->unstepped.len; i++)
        if (lz_slot_unstepped(t, t->unstepped.data[i]))
            t->unstepped.data[n++] = t->unstepped.data[i];
    t->unstepped.len = n;
    t->unstepped_floor = n;
}

static lz_status room_unstepped(lz_thread_state *t, uint32_t more)
{
    uint64_t need = (uint64_t)t->unstepped.len + more;
    if (need > t->unstepped.cap && t->unstepped.len >= 2 * t->unstepped_floor)
        lz_slot_sweep_unstepped(t);
    return lz_vec_reserve(&t->unstepped, (uint64_t)t->unstepped.len + more);
}

lz_status lz_slot_reserve(lz_thread_state *t, uint32_t n)
{
    lz_status s = room_pending(t, n);
    if (s == LZ_OK)
        s = room_unstepped(t, n);
    return s;
}

static lz_status push_unstepped(lz_thread_state *t, uint64_t h)
{
    if (t->unstepped.len == t->unstepped.cap)
        LZ_TRY(room_unstepped(t, 1));
    return lz_vec_push(&t->unstepped, h);
}

lz_status lz_slot_keep_old(lz_thread_state *t, lz_slot *s, uint64_t h)
{
    bool kept = (lz_slot_flags(s, h) & LZ_SLOT_UNSTEPPED) != 0;
    uint32_t owner = lz_slot_owner(s, h);
    if (kept && owner == t->serial)
        return LZ_OK;
    LZ_TRY(push_unstepped(t, h));
    if (kept && lz_thread_state_lives(owner))
        return LZ_OK; /* that thread has not stepped: the value of before it counts */
    lz_node_release(atomic_exchange(&s->old, lz_slot_node_peek(s, h)));
    (void)lz_slot_flags_change(s, h, LZ_SLOT_UNSTEPPED, 0);
    return LZ_OK;
}

lz_node *lz_slot_old(lz_slot *s, uint64_t h)
{
    for (;;) {
        lz_node *n = atomic_load_explicit(&s->old, memory_order_acquire);
        if (!n)
            return NULL;
        if (!lz_node_retain_live(n))
            continue;
        if (atomic_load(&s->old) == n && lz_slot_alive(h))
            return n;
        lz_node_release(n);
        if (!lz_slot_alive(h))
            return NULL;
    }
}

void lz_slot_step(const lz_thread_state *t, uint64_t h, lz_node *old)
{
    lz_slot *s = lz_slot_peek(h);
    if (!s)
        return;
    lz_node *is = old;
    if (old && atomic_compare_exchange_strong(&s->old, &is, NULL))
        lz_node_release(old);
    if (lz_slot_owner(s, h) == t->serial)
        (void)lz_slot_flags_change(s, h, 0, LZ_SLOT_UNSTEPPED);
}

void lz_slot_put(lz_slot *s, uint64_t h, lz_node *n, const lz_site *site, bool pending)
{
    lz_node_release(atomic_exchange(&s->node, n));
    atomic_store_explicit(&s->site, site, memory_order_release);
    (void)lz_slot_flags_change(s, h, LZ_SLOT_WAS_ASSIGNED | (pending ? LZ_SLOT_ASSIGNED : 0),
                               LZ_SLOT_STALE | LZ_SLOT_DONATED);
}

static bool needs_step(const lz_node *n)
{
    return n->kind == LZ_NODE_OP && (!lz_node_buf(n) || lz_node_has_history(n));
}

uint64_t lz_slot_new_unscoped(lz_thread_state *t, lz_node *n, const lz_site *site)
{
    lz_slot *s = new_slot(t, n, site);
    if (!s)
        return 0;
    uint64_t h = publish(s, 0);
    if (needs_step(n) && lz_slot_queue(t, s, h) != LZ_OK) {
        atomic_store(&s->node, NULL);
        (void)lz_slot_release(h);
        return 0;
    }
    return h;
}

static lz_tensor *out_of_memory(void)
{
    return lz_handle_of_bits(LZ_HANDLE_NO_MEMORY);
}

/* For a slot that no other thread knows yet: its flags need no atomic change. */
static lz_status queue_new(lz_thread_state *t, lz_slot *s, uint64_t h)
{
    LZ_TRY(push_pending(t, h));
    uint64_t flags = atomic_load_explicit(&s->flags, memory_order_relaxed);
    atomic_store_explicit(&s->owner, generation(s) | t->serial, memory_order_relaxed);
    atomic_store_explicit(&s->flags, flags | LZ_SLOT_QUEUED, memory_order_relaxed);
    return LZ_OK;
}

static lz_tensor *into_scope(lz_thread_state *t, lz_slot *s)
{
    lz_node *n = atomic_load_explicit(&s->node, memory_order_relaxed);
    lz_status queued = n && needs_step(n) ? queue_new(t, s, handle_to_be(s)) : LZ_OK;
    uint64_t h = publish(s, LZ_STATE_SCOPED);
    if (queued != LZ_OK || lz_scope_push(t, h) != LZ_OK) {
        (void)lz_slot_release(h);
        return out_of_memory();
    }
    return lz_handle_of_bits(h);
}

lz_tensor *lz_slot_new(lz_thread_state *t, lz_node *n, const lz_site *site)
{
    lz_slot *s = new_slot(t, n, site);
    if (s)
        return into_scope(t, s);
    lz_node_release(n);
    return out_of_memory();
}

static lz_tensor *new_error(lz_thread_state *t, lz_shared_error *e)
{
    lz_slot *s = new_slot(t, NULL, NULL);
    if (!s)
        return out_of_memory();
    atomic_fetch_add(&e->refs, 1);
    atomic_store_explicit(&s->err, e, memory_order_release);
    atomic_store_explicit(&s->flags, generation(s) | LZ_SLOT_ERROR, memory_order_relaxed);
    uint64_t h = publish(s, LZ_STATE_SCOPED);
    /* Queued, so that the next step reports the error. */
    if (lz_scope_push(t, h) != LZ_OK || lz_slot_queue(t, s, h) != LZ_OK) {
        (void)lz_slot_release(h);
        return out_of_memory();
    }
    return lz_handle_of_bits(h);
}

lz_tensor *lz_slot_new_error(lz_thread_state *t, const lz_error *e)
{
    lz_shared_error *se = t ? error_new() : NULL;
    if (!se)
        return out_of_memory();
    se->error = *e;
    atomic_store(&se->looked, false);
    atomic_store(&se->refs, 1);
    lz_unseen_note(e);
    lz_tensor *r = new_error(t, se);
    error_release(se);
    return r;
}

lz_tensor *lz_slot_new_same_error(lz_thread_state *t, lz_slot *from, uint64_t h)
{
    lz_shared_error *e = t ? error_peek(from, h) : NULL;
    lz_tensor *r = e ? new_error(t, e) : t ? NULL : out_of_memory();
    error_release(e);
    return r;
}

/* ---- references ---- */

lz_status lz_slot_retain(uint64_t h)
{
    lz_slot *s = lz_slot_peek(h);
    if (!s)
        return bad_handle(h);
    if (s->index == 0)
        return LZ_OK;
    uint64_t v = atomic_load(&s->state);
    do {
        if (v >> 32 != h >> 32 || !(v & LZ_STATE_REFS))
            return bad_handle(h);
        if ((v & LZ_STATE_REFS) == LZ_STATE_REFS)
            return LZ_FAIL(LZ_ERANGE, "a tensor has 2^31 - 1 references");
    } while (!atomic_compare_exchange_weak(&s->state, &v, v + 1));
    return LZ_OK;
}

static void drop_old(lz_slot *s)
{
    if (atomic_load(&s->old))
        lz_node_release(atomic_exchange(&s->old, NULL));
}

/* The slot has no references left: releases what it owns. Gives the gradient's handle, to be
 * released next. */
static uint64_t destroy(lz_slot *s)
{
    lz_thread_state *t = lz_thread_state_self;
    if (atomic_load(&s->node))
        lz_node_release(atomic_exchange(&s->node, NULL));
    drop_old(s);
    if (atomic_load_explicit(&s->err, memory_order_relaxed))
        error_release(atomic_exchange(&s->err, NULL));
    uint64_t grad = atomic_load(&s->grad) ? atomic_exchange(&s->grad, 0) : 0;
    if (t)
        LZ_THREAD_STATE_ADD(t->destroyed, 1);
    lz_pool_give(t, LZ_POOL_SLOT, s);
    return grad;
}

/* Drops one reference (and the scope's mark when asked). *gone: it was the last. False when the
 * handle had ended. */
static bool drop(lz_slot *s, uint64_t h, bool scope, bool *gone)
{
    uint64_t v = atomic_load(&s->state), w;
    *gone = false;
    if (s->index == 0)
        return true;
    do {
        if (v >> 32 != h >> 32 || !(v & LZ_STATE_REFS))
            return false;
        w = v - 1;
        if (scope)
            w &= ~LZ_STATE_SCOPED;
        *gone = (w & LZ_STATE_REFS) == 0;
        if (*gone) { /* the next generation; 0 is skipped, so that no handle is NULL */
            uint32_t gen = (uint32_t)(v >> 32) + 1;
            w = (uint64_t)(gen ? gen : 1) << 32;
        }
    } while (!atomic_compare_exchange_weak(&s->state, &v, w));
    return true;
}

/* For a slot that lz_slot_peek gave. */
static bool release(lz_slot *s, uint64_t h, bool scope)
{
    bool gone;
    if (!drop(s, h, scope, &gone))
        return false;
    while (gone) {
        h = destroy(s);
        if (!h || !(s = lz_slot_peek(h)) || !drop(s, h, false, &gone))
            break;
    }
    return true;
}

lz_status lz_slot_release(uint64_t h)
{
    lz_slot *s = lz_slot_peek(h);
    return s && release(s, h, false) ? LZ_OK : bad_handle(h);
}

void lz_slot_let_go(uint64_t h)
{
    lz_slot *s = lz_slot_peek(h);
    if (s)
        (void)release(s, h, false);
}

void lz_slot_release_scoped(uint64_t h)
{
    lz_slot *s = lz_slot_peek(h);
    /* The mark is gone only if the program has released the handle already. */
    if (s && (atomic_load(&s->state) & LZ_STATE_SCOPED))
        (void)release(s, h, true);
}

/* The flag comes first: who finds no node finds the reason. */
static bool take_node(lz_slot *s, uint64_t h, lz_node *x, uint32_t flags)
{
    lz_node *now = x;
    if (atomic_load(&s->flags) >> 32 != h >> 32)
        return false;
    atomic_store_explicit(&s->op, lz_node_op(x), memory_order_release);
    if (!lz_slot_flags_change(s, h, flags, 0))
        return false;
    if (atomic_compare_exchange_strong(&s->node, &now, NULL))
        return true;
    if (now) /* another thread has assigned it meanwhile */
        (void)lz_slot_flags_change(s, h, 0, flags);
    return false;
}

bool lz_slot_drop_value(lz_slot *s, uint64_t h, lz_node *x, bool donated)
{
    bool had = take_node(s, h, x, LZ_SLOT_STALE | (donated ? LZ_SLOT_DONATED : 0));
    if (had)
        lz_node_release_two(x);
    else
        lz_node_release(x);
    return had;
}
