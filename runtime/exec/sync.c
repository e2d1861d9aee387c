/* sync.c - steps, reads and flushes: selects the nodes to compute, gets their program, starts it,
 * and attaches buffers to the nodes. See sync.h. A step computes what the calling thread traced:
 * handles it made or assigned since its last step, and those of ended threads. */
#include "runtime/exec/sync.h"
#include "base/config.h"
#include "base/log.h"
#include "base/host_time.h"
#include "base/timeline/timeline.h"
#include "base/unseen_error.h"
#include "runtime/debug/events.h"
#include "runtime/exec/live_report.h"
#include "runtime/exec/capture.h"
#include "runtime/exec/compile_check.h"
#include "runtime/debug/graph_dump.h"
#include "runtime/debug/metrics.h"
#include "runtime/debug/value_check.h"
#include "runtime/exec/program.h"
#include "ir/custom_call.h"
#include "runtime/graph/effects.h"
#include "runtime/graph/recording.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A handle and the node it names. */
typedef struct temporary {
    uint64_t handle;
    lz_node *node; /* held */
} temporary;

/* What a step collected from the thread's pending handles. */
typedef struct step_plan {
    LZ_VEC(lz_node *) roots; /* held, distinct */
    LZ_VEC(uint64_t) rooted; /* their handles: queued again when the step fails */
    LZ_VEC(temporary) stale; /* temporaries to drop */
    /* assigned tensors, and the nodes they had at the last step: held, NULL where there is none */
    LZ_VEC(uint64_t) assigned;
    LZ_VEC(lz_node *) old;
    lz_error error; /* of the first error tensor */
    uint64_t epoch; /* marks the roots */
    bool cut;       /* what is computed forgets its history */
} step_plan;

typedef struct lz_sync_scratch {
    lz_capture cap;
    step_plan step;
    LZ_VEC(lz_node *) todo;    /* roots that are not computed yet */
    LZ_VEC(lz_node *) effects; /* of the calling thread, on the device: held */
    struct lz_sync_scratch *next;
} lz_sync_scratch;

/* Arrays of one step: a step that compiles releases the lock, so several may be active. The caller
 * holds the lock. */
static lz_sync_scratch *take_scratch(lz_dev *d)
{
    lz_sync_scratch *sc = d->scratch;
    if (sc)
        d->scratch = sc->next;
    else if (!(sc = lz_calloc(1, sizeof *sc)))
        LZ_FAIL(LZ_EMEM, "no memory for a step");
    return sc;
}

static void give_back(lz_dev *d, lz_sync_scratch *sc)
{
    sc->next = d->scratch;
    d->scratch = sc;
}

/* ---- running ---- */

static lz_status gather_inputs(lz_capture *c)
{
    c->in.len = 0;
    LZ_TRY(lz_vec_reserve(&c->in, c->leaves.len));
    for (uint32_t i = 0; i < c->leaves.len; i++) {
        lz_node *n = c->leaves.data[i];
        lz_device_buffer *b = lz_node_buf(n);
        if (n->kind == LZ_NODE_SCALAR)
            LZ_TRY(lz_dev_scalar(c->dev, lz_node_type(n), n->imm, &b));
        else
            lz_device_buffer_retain(b);
        c->in.data[c->in.len++] = b;
    }
    return LZ_OK;
}

static void drop_inputs(lz_capture *c)
{
    while (c->in.len)
        lz_device_buffer_release(c->in.data[--c->in.len]);
}

/* Donated inputs: our own reference is dropped first, so that the node's is the only one. */
static void drop_donated(lz_capture *c)
{
    for (uint32_t i = 0; c->ndonated && i < c->leaves.len; i++)
        if (c->given.data[i])
            lz_device_buffer_release(c->in.data[i]);
}

static void retake_donated(lz_capture *c)
{
    for (uint32_t i = 0; c->ndonated && i < c->leaves.len; i++)
        if (c->given.data[i])
            lz_device_buffer_retain(c->in.data[i]);
}

static void attach(lz_capture *c, const lz_program *p)
{
    for (uint32_t r = 0; r < c->roots.len; r++) {
        lz_node *n = c->roots.data[r];
        lz_device_buffer *b = c->out.data[p->root_result[r]];
        if (p->shared[r])
            atomic_fetch_or(&n->flags, LZ_NODE_TWIN);
        lz_device_buffer_retain(b);
        atomic_store_explicit(&n->buf, b, memory_order_release);
    }
    for (uint32_t i = 0; i < p->nresult; i++)
        lz_device_buffer_release(c->out.data[i]);
    /* A result that is a parameter shares its buffer. */
    for (uint32_t r = 0; r < c->roots.len; r++)
        for (uint32_t i = 0; p->shared[r] && i < c->leaves.len; i++)
            if (lz_node_buf(c->leaves.data[i]) == lz_node_buf(c->roots.data[r])) {
                atomic_fetch_or(&c->leaves.data[i]->flags, LZ_NODE_SHARED);
                atomic_fetch_or(&c->roots.data[r]->flags, LZ_NODE_SHARED);
            }
}

/* The started execution. */
typedef struct started {
    lz_event *done;      /* a reference; NULL when nothing was left to do */
    lz_check_run *check; /* to be ended without the lock; NULL: none */
    uint32_t nodes;      /* of the graph */
    lz_hash hash;
} started;

/* What a checked program reads is still there when its results are looked at. */
static void give_nothing(lz_capture *c)
{
    for (uint32_t i = 0; c->ndonated && i < c->leaves.len; i++)
        c->given.data[i] = false;
    c->ndonated = c->ngiven = 0;
}

static void begin_check(lz_dev *d, const lz_capture *c, lz_program *p, lz_check_run **out)
{
    LZ_QUIETLY {
        lz_func *f = NULL;
        uint32_t *order = NULL, *map = lz_calloc((size_t)c->roots.len + 1, sizeof *map);
        if (map)
            (void)lz_capture_func_order(c, p->name ? p->name : "main", &f, map, &order);
        lz_free(map);
        lz_check_begin(d, p, f, order, c->in.data, c->out.data, out);
    }
}

/* out->done: a reference owned by the caller. event: taken over. */
static lz_status execute(lz_dev *d, lz_capture *c, lz_program *p, bool awaited,
                         lz_execution_event *event, started *out)
{
    lz_status s = lz_vec_reserve(&c->out, p->nresult);
    if (s == LZ_OK)
        s = gather_inputs(c);
    if (s == LZ_OK) {
        int64_t t0 = lz_now_ns();
        if (lz_check_on())
            give_nothing(c);
        drop_donated(c);
        s = d->be->execute(p->exec, d->ordinal, c->in.data, c->given.data, awaited, c->out.data,
                           &out->done);
        retake_donated(c);
        if (s == LZ_OK) {
            lz_event_retain(out->done);
            lz_dev_fly(d, out->done, t0, event);
            event = NULL;
            if (lz_check_on())
                begin_check(d, c, p, &out->check);
            attach(c, p);
        }
    }
    lz_events_drop(event);
    drop_inputs(c);
    return s;
}

typedef struct sync_run {
    lz_sync_cause cause;
    bool awaited;
    int64_t now_ns;         /* about */
    const char *graph_name; /* of the thread; may be NULL */
    lz_program *prog;       /* a reference */
    lz_found found;
    bool again;
    started *out;
    lz_watch watch;
} sync_run;

static void tell_step(void)
{
    LZ_QUIETLY {
        if (lz_analysis_on())
            lz_analysis_step();
        if (lz_dump_on())
            lz_dump_step();
    }
}

/* Gets and starts the program of a captured graph. *again: the caller captures it again and calls
 * again, with the same *p. */
static lz_status run(lz_dev *d, lz_capture *c, sync_run *r)
{
    int64_t t0 = lz_host_begin(), e0 = lz_events_now();
    LZ_TRY(lz_capture_finish(c));
    lz_host_end(LZ_HOST_HASH, t0);
    r->watch.times.hash_ns = e0 ? lz_now_ns() - e0 : 0;
    LZ_TRY(lz_compile_check(c, r->cause));
    LZ_TRY(lz_program_get(c, r->graph_name, lz_watch_start(&r->watch, r->cause), &r->prog,
                          &r->found, &r->again));
    if (r->again)
        return LZ_OK;
    lz_watch_tell(&r->watch, r->prog, r->found);
    if (lz_dump_on())
        LZ_QUIETLY
            lz_dump_sync(c, r->prog);
    lz_metric_add_at(LZ_METRIC_TensorsGraphSize, c->nodes.len, r->now_ns);
    lz_counter_add(LZ_COUNTER_ExecuteComputation, 1);
    lz_counter_add(LZ_COUNTER_SyncTensorsToData, c->roots.len);
    r->out->nodes = c->nodes.len;
    r->out->hash = r->prog->hash;
    lz_execution_event *event = lz_events_execution(&r->watch, r->prog, r->found, d->name);
    lz_host_launch l = lz_host_launch_begin();
    lz_status s = execute(d, c, r->prog, r->awaited, event, r->out);
    lz_host_launch_end(l);
    return s;
}

/* A step makes values constants. After a flush, derivatives that would need the history are refused
 * (lz_node_is_lost). */
static void forget_history(lz_node *n, bool flush)
{
    if (flush && lz_node_has_history(n))
        atomic_fetch_or(&n->flags, LZ_NODE_LOST);
    lz_node_cut(n);
}

/* Values in the graph drop their history. */
static void cut_leaves(lz_capture *c)
{
    for (uint32_t i = 0; i < c->leaves.len; i++)
        lz_node_cut(c->leaves.data[i]);
}

/* Captures the roots that are not computed yet. */
static lz_status capture_roots(lz_dev *d, lz_sync_scratch *sc, lz_sync_cause cause)
{
    step_plan *st = &sc->step;
    sc->todo.len = 0;
    LZ_TRY(lz_vec_reserve(&sc->todo, st->roots.len));
    for (uint32_t i = 0; i < st->roots.len; i++)
        if (!lz_node_is_value(st->roots.data[i]))
            sc->todo.data[sc->todo.len++] = st->roots.data[i];
    if (!sc->todo.len && !sc->effects.len)
        return LZ_OK;
    lz_capture_effects effects = {sc->effects.data, sc->effects.len};
    LZ_TRY(lz_capture_walk(&sc->cap, d, effects, sc->todo.data, sc->todo.len));
    if (effects.n && cause != LZ_CAUSE_STEP) /* a step keeps what is to be kept */
        LZ_TRY(lz_capture_keep_effects(&sc->cap, effects));
    if (cause != LZ_CAUSE_STEP)
        return LZ_OK;
    cut_leaves(&sc->cap);
    if (st->old.len && lz_cfg_bool(LZ_OPT_ENABLE_PARAM_ALIASING))
        lz_capture_donate(&sc->cap, st->old.data, st->old.len);
    return d->be->placement
               ? lz_capture_keep_places(&sc->cap, st->assigned.data, st->old.data, st->old.len)
               : LZ_OK;
}

static void note_tracing(const lz_capture *c, int64_t t0, int64_t ns)
{
    lz_metric_add_at(LZ_METRIC_LazyTracing, (double)ns, t0 + ns);
    lz_timeline_note(t0, ns, .name = "trace graph", .category = "trace", .key = {"nodes"},
                     .value = {c->nodes.len});
}

/* What the thread recorded on the device for what it does, outside of bodies that it still records.
 * It is run once, or, when the program fails, never. */
static lz_status take_effects(lz_thread_state *t, const lz_dev *d, lz_sync_scratch *sc)
{
    uint64_t inside = UINT64_MAX;
    for (const lz_recording *r = t->recording; r; r = r->outer)
        inside = r->first_id;
    uint32_t end = lz_effects_since(t, inside), kept = 0;
    LZ_TRY(lz_vec_reserve(&sc->effects, end));
    for (uint32_t i = 0; i < t->effects.len; i++) {
        lz_node *n = t->effects.data[i];
        if (i < end && n->dev == d)
            sc->effects.data[sc->effects.len++] = n;
        else
            t->effects.data[kept++] = n;
    }
    t->effects.len = kept;
    return LZ_OK;
}

static void drop_effects(lz_sync_scratch *sc)
{
    while (sc->effects.len)
        lz_node_release(sc->effects.data[--sc->effects.len]);
}

/* Computes the step's roots. Compiling releases the lock, and the graph is captured again
 * afterwards: other threads may have computed some roots meanwhile, which invalidates the
 * capture. */
static lz_status compute_roots(lz_dev *d, lz_sync_scratch *sc, lz_sync_cause cause, bool awaited,
                               started *out)
{
    lz_thread_state *t = lz_thread_state_self;
    sync_run r = {.cause = cause,
                  .awaited = awaited,
                  .graph_name = t ? t->graph_name : NULL,
                  .again = true,
                  .out = out};
    lz_status s = t && t->effects.len ? take_effects(t, d, sc) : LZ_OK;
    int64_t t0 = cause == LZ_CAUSE_STEP || cause == LZ_CAUSE_FLUSH ? lz_now_ns() : 0;
    int64_t h0 = lz_host_begin(), e0 = lz_events_now();
    while (s == LZ_OK && r.again) {
        s = capture_roots(d, sc, cause);
        if (s != LZ_OK || !(sc->todo.len || sc->effects.len))
            break;
        r.now_ns = lz_now_ns();
        if (t0)
            note_tracing(&sc->cap, t0, r.now_ns - t0);
        lz_host_end(LZ_HOST_WALK, h0);
        r.watch.times.trace_ns = e0 ? r.now_ns - e0 : r.watch.times.trace_ns;
        t0 = h0 = e0 = 0; /* once */
        s = run(d, &sc->cap, &r);
    }
    drop_effects(sc);
    lz_watch_end(&r.watch);
    lz_program_release(r.prog);
    return s;
}

/* ---- given nodes ---- */

static lz_status sync_nodes(lz_dev *d, lz_node *const *nodes, uint32_t n, lz_sync_cause cause,
                            bool awaited, lz_check_run **check)
{
    LZ_TRY(lz_dev_may_wait());
    lz_dev_make_room(d);
    lz_dev_lock(d);
    lz_sync_scratch *sc = take_scratch(d);
    started out = {0};
    lz_status s = sc ? LZ_OK : LZ_EMEM;
    if (s == LZ_OK) {
        uint64_t epoch = lz_node_new_epoch();
        sc->step.roots.len = 0;
        for (uint32_t i = 0; i < n && s == LZ_OK; i++) {
            if (lz_node_is_value(nodes[i]) || nodes[i]->epoch == epoch)
                continue;
            nodes[i]->epoch = epoch;
            s = lz_vec_push(&sc->step.roots, nodes[i]);
        }
        if (s == LZ_OK)
            s = compute_roots(d, sc, cause, awaited, &out);
        sc->step.roots.len = 0;
        give_back(d, sc);
        lz_event_release(out.done);
        lz_dev_reap(d);
    }
    lz_dev_unlock(d);
    *check = out.check;
    if (s == LZ_EDEVMEM)
        lz_live_annotate();
    return s;
}

lz_status lz_sync_nodes(lz_dev *d, lz_node *const *nodes, uint32_t n, lz_sync_cause cause,
                        bool awaited)
{
    lz_check_run *check = NULL;
    lz_status s = sync_nodes(d, nodes, n, cause, awaited, &check);
    return lz_check_end(check, s);
}

lz_status lz_sync_nodes_locked(lz_dev *d, lz_node *const *nodes, uint32_t n, lz_check_run **check)
{
    return sync_nodes(d, nodes, n, LZ_CAUSE_SYNC, false, check);
}

lz_status lz_read_node(lz_node *n, void *dst, lz_sync_cause cause)
{
    const lz_type *type = lz_node_type(n);
    LZ_TRY(lz_node_not_placeholder(n));
    if (lz_node_is_host(n)) {
        memcpy(dst, n->imm, type->nbytes);
        return LZ_OK;
    }
    int64_t t0 = lz_now_ns();
    lz_device_buffer *b = lz_node_buf(n);
    lz_read_event event = {n->dev->name, type->nbytes, lz_events_now(), !b};
    if (!b) {
        LZ_TRY(lz_sync_nodes(n->dev, &n, 1, cause, true));
        b = lz_node_buf(n);
    }
    LZ_TRY(lz_dev_may_wait_for(b));
    lz_device_buffer_retain(b);
    lz_status s = n->dev->be->copy_out(b, dst, type->nbytes);
    lz_device_buffer_release(b);
    int64_t ns = lz_now_ns() - t0;
    lz_metric_add(LZ_METRIC_TransferFromDeviceTime, (double)ns);
    lz_analysis_took(LZ_METRIC_TransferFromDeviceTime,
                     lz_thread_state_self ? lz_thread_state_self->api_site : NULL, (double)ns);
    lz_events_read(&event);
    lz_timeline_note(t0, ns, .name = "copy from the device", .category = "copy", .key = {"bytes"},
                     .value = {(int64_t)type->nbytes}, .text_key = "device", .text = n->dev->name);
    lz_metric_add(LZ_METRIC_InboundData, (double)type->nbytes);
    return s;
}

/* ---- everything pending ---- */

/* What the thread assigned to tensors of the device since its last step. Their previous values,
 * which may be donated, stay in the slots until the step has succeeded: a snapshot that another
 * thread takes while this one compiles is of the last step. */
static lz_status take_assigned(const lz_thread_state *t, const lz_dev *d, step_plan *st)
{
    LZ_TRY(lz_vec_reserve(&st->assigned, t->unstepped.len));
    LZ_TRY(lz_vec_reserve(&st->old, t->unstepped.len));
    for (uint32_t i = 0; i < t->unstepped.len; i++) {
        uint64_t h = t->unstepped.data[i];
        lz_slot *s = lz_slot_unstepped(t, h) ? lz_slot_peek(h) : NULL;
        lz_node *n = s ? lz_slot_node_peek(s, h) : NULL;
        if (s && (!n || n->dev == d)) {
            st->assigned.data[st->assigned.len++] = h;
            st->old.data[st->old.len++] = lz_slot_old(s, h);
        }
        lz_node_release(n);
    }
    return LZ_OK;
}

/* The step has succeeded: what it computed are the values of the assigned tensors. */
static void commit(lz_thread_state *t, lz_dev *d, const step_plan *st)
{
    for (uint32_t i = 0; i < st->assigned.len; i++)
        lz_slot_step(t, st->assigned.data[i], st->old.data[i]);
    lz_slot_sweep_unstepped(t);
    lz_dev_rng_step(d, t->serial);
}

/* Made before the innermost scope was opened: it outlives the step, so it will be needed again. */
static bool is_outer(const lz_thread_state *t, const lz_node *n)
{
    return t->scopes.len && n->id < t->scopes.data[t->scopes.len - 1].first_id;
}

/* How often the thread is going to print n, which changes nothing for who reads n. */
static uint32_t count_prints(const lz_thread_state *t, const lz_node *n)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < t->effects.len; i++) {
        const lz_node *e = t->effects.data[i];
        bool print = e->sig->op == LZ_OP_CUSTOM_CALL && lz_ffi_is_silent(e->sig);
        for (uint32_t o = 0; print && o < e->sig->nopnd; o++)
            k += e->opnd[o] == n;
    }
    return k;
}

static bool is_root(const lz_thread_state *t, const lz_slot *s, const lz_node *n, uint32_t flags)
{
    return (flags & LZ_SLOT_ASSIGNED) || lz_slot_retained(s) || lz_node_type(n)->nelem == 1 ||
           lz_node_uses(n) == count_prints(t, n) || is_outer(t, n);
}

/* Classifies one handle of the pending list. *keep: it stays in the list. */
static lz_status sort_handle(const lz_thread_state *t, lz_dev *d, step_plan *st, uint64_t h,
                             bool flush, bool *keep)
{
    lz_slot *s = lz_slot_peek(h);
    *keep = false;
    if (!s || !lz_slot_pending(t, h))
        return LZ_OK;
    uint32_t flags = lz_slot_flags(s, h);
    lz_node *n = lz_slot_node_peek(s, h);
    if (!n) {
        *keep = flush && (flags & LZ_SLOT_ERROR);
        if (!*keep && (flags & LZ_SLOT_ERROR) && st->error.status == LZ_OK)
            (void)lz_slot_error_to_report(s, h, &st->error);
        return LZ_OK;
    }
    if (n->dev != d) {
        *keep = true;
        lz_node_release(n);
        return LZ_OK;
    }
    if (lz_node_is_value(n)) {
        if (st->cut)
            forget_history(n, flush);
        *keep = flush && lz_node_has_history(n);
        lz_node_release(n);
        return LZ_OK;
    }
    lz_status r = LZ_OK;
    if (is_root(t, s, n, flags)) {
        r = lz_vec_reserve(&st->roots, (uint64_t)st->roots.len + 1);
        if (r == LZ_OK)
            r = lz_vec_push(&st->rooted, h);
        if (r == LZ_OK && n->epoch != st->epoch) {
            n->epoch = st->epoch;
            st->roots.data[st->roots.len++] = n;
            return LZ_OK;
        }
    } else if (flush) {
        *keep = true;
    } else {
        r = lz_vec_push(&st->stale, ((temporary){h, n}));
        if (r == LZ_OK)
            return r;
    }
    lz_node_release(n);
    return r;
}

static lz_status sort_pending(lz_thread_state *t, lz_dev *d, step_plan *st, bool flush)
{
    st->epoch = lz_node_new_epoch();
    uint32_t kept = 0, i = 0;
    lz_status s = LZ_OK;
    for (; i < t->pending.len; i++) {
        uint64_t h = t->pending.data[i];
        bool keep;
        s = sort_handle(t, d, st, h, flush, &keep);
        if (s != LZ_OK)
            break; /* this handle and those after it stay */
        lz_slot *slot = lz_slot_peek(h);
        if (keep)
            t->pending.data[kept++] = h;
        else if (slot && lz_slot_pending(t, h))
            (void)lz_slot_flags_change(slot, h, 0, LZ_SLOT_QUEUED | (flush ? 0 : LZ_SLOT_ASSIGNED));
    }
    while (i < t->pending.len)
        t->pending.data[kept++] = t->pending.data[i++];
    t->pending.len = kept;
    t->pending_floor = kept;
    return s;
}

/* The step failed: its handles are pending again. The list has room, since they came from it. */
static void put_back(lz_thread_state *t, step_plan *st)
{
    for (uint32_t i = 0; i < st->rooted.len; i++) {
        lz_slot *s = lz_slot_peek(st->rooted.data[i]);
        if (s)
            (void)lz_slot_queue(t, s, st->rooted.data[i]);
    }
}

/* Drops values nobody keeps. A handle whose node is computed for another handle stays. */
static void drop_temporaries(step_plan *st)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < st->stale.len; i++) {
        lz_node *x = st->stale.data[i].node;
        uint64_t h = st->stale.data[i].handle;
        lz_slot *s = x->epoch != st->epoch ? lz_slot_peek(h) : NULL;
        if (s && atomic_load(&s->node) == x)
            n += lz_slot_drop_value(s, h, x, false);
        else
            lz_node_release(x); /* or another thread has assigned it by now */
    }
    st->stale.len = 0;
    if (n)
        lz_counter_add(LZ_COUNTER_DroppedTemporaries, n);
}

static void step_end(step_plan *st)
{
    while (st->roots.len)
        lz_node_release(st->roots.data[--st->roots.len]);
    while (st->old.len)
        lz_node_release(st->old.data[--st->old.len]);
    while (st->stale.len) /* the step failed before they were dropped */
        lz_node_release(st->stale.data[--st->stale.len].node);
    st->rooted.len = st->assigned.len = 0;
}

/* Nodes over which gradients can go back across flushes. A program without steps keeps as many. */
static int64_t history_limit(int64_t limit)
{
    enum { LIMITS = 4, AT_LEAST = 1 << 17 };
    return limit > AT_LEAST / LIMITS ? LIMITS * limit : AT_LEAST;
}

/* Cuts what flushes on the device computed before `id`, and forgets about it. The caller holds the
 * lock. */
static void cut_flushed(lz_thread_state *t, const lz_dev *d, uint64_t id, bool flush)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->flushed.len; i++) {
        struct lz_flushed *f = &t->flushed.data[i];
        bool alive = f->at <= id && lz_node_retain_live(f->node);
        bool it = alive && f->node->id == f->id;
        if (it && f->node->dev == d)
            forget_history(f->node, flush);
        if (f->at > id || (it && f->node->dev != d))
            t->flushed.data[kept++] = *f;
        if (alive)
            lz_node_release(f->node);
    }
    t->flushed.len = kept;
}

/* The roots are computed. After a step they have no history; after a flush they keep it until what
 * came since is long enough for every gradient. */
static void leave_roots(lz_thread_state *t, const lz_dev *d, step_plan *st, bool flush)
{
    uint64_t window = (uint64_t)history_limit(lz_cfg_int(LZ_OPT_GRAPH_LIMIT));
    cut_flushed(t, d, st->cut ? UINT64_MAX : t->id_next > window ? t->id_next - window : 0, flush);
    for (uint32_t i = 0; i < st->roots.len; i++) {
        lz_node *n = st->roots.data[i];
        t->flushed_bytes += lz_node_type(n)->nbytes;
        if (st->cut ||
            lz_vec_push(&t->flushed, ((struct lz_flushed){n, n->id, t->id_next})) != LZ_OK)
            forget_history(n, flush);
    }
    if (st->cut)
        t->flushed_bytes = 0;
}

/* The caller holds the lock. cut: of a flush; steps always cut. */
static lz_status step_locked(lz_thread_state *t, lz_dev *d, lz_sync_cause cause, bool cut,
                             bool awaited, started *out, lz_error *tensor_error)
{
    bool flush = cause == LZ_CAUSE_FLUSH;
    lz_sync_scratch *sc = take_scratch(d);
    if (!sc)
        return LZ_EMEM;
    step_plan *st = &sc->step;
    st->error.status = LZ_OK;
    st->cut = cut || !flush;
    t->copied_in = st->cut ? 0 : t->copied_in; /* else the history holds it */
    lz_status s = lz_thread_state_adopt_orphans(t);
    if (s == LZ_OK && !flush)
        s = take_assigned(t, d, st);
    if (s == LZ_OK)
        s = sort_pending(t, d, st, flush);
    if (s == LZ_OK && !flush)
        drop_temporaries(st);
    if (s == LZ_OK)
        s = compute_roots(d, sc, cause, awaited, out);
    if (s == LZ_OK)
        leave_roots(t, d, st, flush);
    else
        put_back(t, st);
    if (s == LZ_OK && !flush) {
        commit(t, d, st);
        lz_thread_state_stepped(t, d);
    }
    *tensor_error = st->error;
    step_end(st);
    give_back(d, sc);
    return s;
}

/* ---- counting what is pending ---- */

static int64_t own_nodes(const lz_thread_state *t)
{
    return atomic_load_explicit(&t->nodes, memory_order_relaxed);
}

static uint32_t check_interval(int64_t limit)
{
    return (uint32_t)(limit / 16 < 1024 ? limit / 16 : 1024);
}

/* Operations are counted from a thread's own last step or flush, and the count is looked at in the
 * same places of each: equal steps are flushed at equal places, so their pieces are equal
 * programs. What stays pending is held by the program. */
static void count_from_here(lz_thread_state *t)
{
    t->flush_check = check_interval(lz_cfg_int(LZ_OPT_GRAPH_LIMIT));
    t->flush_base = own_nodes(t);
    t->groups = 0;
}

/* The first of: the step's own error, an earlier asynchronous error, an error tensor. */
static lz_status report(lz_dev *d, lz_status s, const lz_error *tensor_error)
{
    if (s == LZ_OK)
        s = lz_dev_take_error(d);
    if (s == LZ_OK && tensor_error->status != LZ_OK) {
        lz_error_set(tensor_error);
        s = tensor_error->status;
    }
    return s;
}

static void note_step(int64_t t0, const started *out)
{
    char hash[33];
    lz_timeline_end(t0, .name = "lz_mark_step", .category = "step", .key = {"nodes"},
                    .value = {out->nodes}, .text_key = "graph",
                    .text = out->nodes ? lz_hash_text(out->hash, hash) : NULL);
}

/* From the end of one step of the device to the end of the next, whoever steps. */
static void note_step_time(lz_dev *d)
{
    int64_t now = lz_timeline_begin();
    if (now && d->stepped_ns) {
        char row[sizeof d->name + 16];
        snprintf(row, sizeof row, "steps of %s", d->name);
        lz_timeline_add(&(lz_span){.name = "step",
                                   .category = "step time",
                                   .key = {"step"},
                                   .value = {lz_counter_get(LZ_COUNTER_MarkStep)},
                                   .start_ns = d->stepped_ns,
                                   .ns = now - d->stepped_ns,
                                   .row = lz_timeline_row(row)});
    }
    d->stepped_ns = now;
}

lz_status lz_mark_step_at(const lz_mark_step_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_thread_state *t = lz_thread_state_get();
    lz_dev *d = t && lz_dev_may_wait() == LZ_OK ? lz_dev_current() : NULL;
    if (!d) {
        lz_error_annotate("lz_mark_step", site);
        return lz_error_get()->status;
    }
    lz_api_frame f = lz_api_enter("lz_mark_step", site);
    int64_t t0 = lz_timeline_begin();
    started out = {0};
    lz_error tensor_error;
    tensor_error.status = LZ_OK;
    bool wait = (o && o->struct_size >= sizeof *o && o->wait) || lz_cfg_bool(LZ_OPT_SYNC_WAIT);
    lz_dev_make_room(d);
    lz_dev_lock(d);
    lz_status s = step_locked(t, d, LZ_CAUSE_STEP, true, wait, &out, &tensor_error);
    count_from_here(t);
    if (wait) {
        lz_dev_unlock(d);
        lz_dev_settle(d);
        lz_dev_lock(d);
    }
    lz_dev_reap(d);
    s = report(d, s, &tensor_error);
    note_step_time(d);
    lz_dev_unlock(d);
    s = lz_check_end(out.check, s);
    lz_event_release(out.done);
    lz_counter_add(LZ_COUNTER_MarkStep, 1);
    note_step(t0, &out);
    if (lz_timeline_counts_steps() && lz_timeline_step()) {
        lz_dev_settle(d);
        lz_timeline_steps_over();
    }
    if (lz_analysis_on() || lz_dump_on())
        tell_step();
    if (s == LZ_EDEVMEM)
        lz_live_annotate();
    (void)lz_api_status(s);
    if (s != LZ_OK && f.outer)
        lz_unseen_step(lz_error_get());
    return lz_api_leave(&f, s);
}

static lz_status sync_tensors(lz_tensor *const *tensors, size_t n, bool wait)
{
    LZ_VEC(lz_node *) nodes = {0};
    lz_status s = LZ_OK;
    lz_dev *d = NULL;
    for (size_t i = 0; i < n && s == LZ_OK; i++) {
        lz_node *x = lz_trace_node_of(tensors[i]);
        if (!x) {
            s = lz_error_get()->status;
            break;
        }
        if (d && x->dev != d && !lz_node_is_host(x))
            s = LZ_FAIL(LZ_EINVAL, "tensors 0 and %zu are on two devices, %s and %s", i, d->name,
                        x->dev->name);
        else if (lz_vec_push(&nodes, x) != LZ_OK)
            s = LZ_EMEM;
        if (s != LZ_OK)
            lz_node_release(x);
        else if (!lz_node_is_host(x))
            d = x->dev;
    }
    if (s == LZ_OK && d)
        s = lz_sync_nodes(d, nodes.data, nodes.len, LZ_CAUSE_SYNC, wait);
    for (uint32_t i = 0; i < nodes.len; i++) {
        lz_device_buffer *b = lz_node_buf(nodes.data[i]);
        if (s == LZ_OK && wait && b)
            s = lz_dev_may_wait_for(b);
        if (s == LZ_OK && wait && b)
            s = lz_event_wait(b->ready);
        lz_node_release(nodes.data[i]);
    }
    lz_vec_free(&nodes);
    return s;
}

lz_status lz_sync_at(lz_tensor *const *tensors, size_t n, bool wait, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_api_frame f = lz_api_enter("lz_sync", site);
    lz_status s = LZ_OK;
    if (n && !tensors)
        s = LZ_FAIL(LZ_ENULL, "tensors is NULL");
    int64_t t0 = lz_timeline_begin();
    if (s == LZ_OK)
        s = sync_tensors(tensors, n, wait);
    lz_timeline_end(t0, .name = "lz_sync", .category = "step", .key = {"tensors"},
                    .value = {(int64_t)n});
    (void)lz_api_status(s);
    return lz_api_leave_read(&f, s);
}

lz_status lz_wait_device_ops(void)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_api_frame f = lz_api_enter("lz_wait_device_ops", NULL);
    lz_status s = lz_dev_may_wait();
    bool may = s == LZ_OK;
    int64_t t0 = lz_timeline_begin();
    lz_dev *d;
    for (uint32_t i = 0; may && (d = lz_dev_at(i)) != NULL; i++) {
        lz_dev_settle(d);
        lz_status w = d->be->wait_all(d->ordinal);
        lz_dev_lock(d);
        lz_dev_reap(d);
        if (s == LZ_OK)
            s = w != LZ_OK ? w : lz_dev_take_error(d);
        lz_dev_unlock(d);
    }
    lz_timeline_end(t0, .name = "lz_wait_device_ops", .category = "wait");
    (void)lz_api_status(s);
    return lz_api_leave(&f, s);
}

/* ---- too much pending ---- */

static uint64_t data_limit(void)
{
    static _Atomic uint64_t known;
    uint64_t limit = atomic_load_explicit(&known, memory_order_relaxed);
    if (!limit) {
        int64_t mib = lz_cfg_int(LZ_OPT_GRAPH_LIMIT_MB);
        long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
        limit = mib > 0                 ? (uint64_t)mib << 20
                : pages > 0 && page > 0 ? (uint64_t)pages / 4 * (uint64_t)page
                                        : (uint64_t)1 << 32;
        limit = limit ? limit : 1;
        atomic_store_explicit(&known, limit, memory_order_relaxed);
    }
    return limit;
}

static void warn_of_flush(int64_t nodes, int64_t limit, uint64_t copied_in)
{
    if (copied_in)
        LZ_WARN_ONCE("sync",
                     "%" PRIu64 " MiB of host data were copied in and no lz_mark_step has come: "
                     "the graph is run now, and from now on whenever that much gathers "
                     "(LAZULI_GRAPH_LIMIT_MB). Gradients cannot go back beyond this point",
                     copied_in >> 20);
    else
        LZ_WARN_ONCE("sync",
                     "%" PRId64 " operations are pending and no lz_mark_step has come: the graph "
                     "is run now, and from now on whenever that many gather "
                     "(LAZULI_GRAPH_LIMIT). Gradients can go back over %" PRId64
                     " operations without a step",
                     nodes, history_limit(limit));
}

static void flush(lz_thread_state *t, lz_dev *d, int64_t limit)
{
    bool data = t->copied_in > data_limit();
    bool cut = data || t->flushed_bytes > data_limit() / 4;
    warn_of_flush(own_nodes(t) - t->flush_base, limit, data ? t->copied_in : 0);
    started out = {0};
    lz_error tensor_error;
    LZ_QUIETLY {
        lz_dev_make_room(d);
        lz_dev_lock(d);
        lz_status s = step_locked(t, d, LZ_CAUSE_FLUSH, cut, false, &out, &tensor_error);
        lz_dev_reap(d);
        lz_dev_unlock(d);
        if (data && out.done) /* queued work holds its data too */
            (void)lz_event_wait(out.done);
        lz_event_release(out.done);
        lz_status checked = lz_check_end(out.check, s);
        if (s == LZ_OK && checked != LZ_OK)
            LZ_WARN("sync", "%s", lz_error_get()->message);
        lz_counter_add(LZ_COUNTER_AutoFlush, 1);
        if (s != LZ_OK)
            LZ_WARN("sync", "the graph could not be run: %s", lz_error_get()->message);
    }
    count_from_here(t);
}

void lz_sync_check_limit(lz_thread_state *t)
{
    int64_t limit = lz_cfg_int(LZ_OPT_GRAPH_LIMIT), nodes = own_nodes(t);
    t->flush_check = check_interval(limit);
    if (nodes < t->flush_base)
        t->flush_base = nodes;
    bool data = t->copied_in > data_limit(), many = nodes - t->flush_base >= limit;
    if (t->locked || lz_queue_is_running() || !(data || many || lz_thread_state_has_orphans()))
        return;
    int64_t all = lz_thread_state_sum_nodes();
    if (all < t->all_base)
        t->all_base = all;
    /* of many, other threads may have released most; nobody else counts what ended threads left */
    bool due = data || (many && all >= limit) || all - t->all_base >= limit;
    lz_dev *d = due ? lz_dev_current() : NULL;
    if (d && (nodes > t->flush_base || lz_thread_state_has_orphans()))
        flush(t, d, limit); /* else the program itself holds the data */
    else if (due || many)
        count_from_here(t);
    if (due)
        t->all_base = lz_thread_state_sum_nodes();
    t->copied_in = data ? 0 : t->copied_in;
}

void lz_sync_note_data(size_t nbytes)
{
    lz_thread_state *t = lz_thread_state_get();
    if (!t)
        return;
    t->copied_in += nbytes;
    if (t->copied_in > data_limit())
        t->flush_check = 0;
}
