/* function_call.c - calls of traced functions: the values of arguments and of what the function
 * takes from outside are passed in the order of the program's parameters, which is executed once;
 * results become handles, and state is assigned. A call is a step of the state that it assigns:
 * where nothing of it was assigned since the thread's last step, it counts at once, also for
 * snapshots of other threads.
 * What a call does on the host comes first, before it holds the device's lock: objects have locks
 * of their own, which are taken before that one. A call that fails undoes it, and assigns nothing.
 * Threads: calls take the device's lock, as steps do; those that leave state the function's, too.
 */
#include "base/thread.h"
#include "runtime/debug/events.h"
#include "runtime/debug/metrics.h"
#include "runtime/debug/value_check.h"
#include "runtime/exec/compile_check.h"
#include "runtime/exec/sync.h"
#include "runtime/region/function.h"
#include <string.h>

typedef struct run {
    lz_function *f;
    lz_variant *v;
    const lz_site *site;
    lz_slot **slot;         /* per argument */
    lz_node **in;           /* per argument, owned */
    lz_node **result;       /* per result: owned */
    lz_node **leaf;         /* per leaf: owned but for arguments and kept values; NULL: an event */
    lz_device_buffer **buf; /* per parameter of the program: owned but for donated ones */
    lz_device_buffer **out; /* per result of the program */
    lz_node **root;         /* per root: owned */
    lz_node **next;         /* per state: its value, owned; NULL: none */
    uint64_t *grad;         /* per state: the new gradient's handle, owned, then the old one's */
    lz_event_value *value;  /* per event */
    bool *donated;
    bool later;                   /* the state counts with the thread's next step */
    lz_check_run *before, *check; /* of what the call reads, and of the call */
    void *block, *first_block;
} run;

/* ---- room: one allocation for the lists of the arguments, one for those of the variant ---- */

static lz_status arguments_room(run *r, void **few, size_t n)
{
    size_t nin = (size_t)r->f->nin, need = 2 * nin + (size_t)r->f->nout;
    void **p = few;
    if (need > n && !(p = r->first_block = lz_alloc(need * sizeof *p)))
        return LZ_FAIL(LZ_EMEM, "no memory for a call of %d arguments", r->f->nin);
    memset(p, 0, need * sizeof *p);
    r->slot = (lz_slot **)p;
    r->in = (lz_node **)(p + nin);
    r->result = (lz_node **)(p + 2 * nin);
    return LZ_OK;
}

static lz_status variant_room(run *r, void **few, size_t n)
{
    const lz_variant *v = r->v;
    size_t nleaf = v->nleaf, nparam = v->nparam, nres = v->prog->nresult, nroot = v->nroot,
           nstate = v->states.len, nevent = v->events.len,
           pointers = 2 * nevent + nleaf + nparam + nres + nroot + 2 * nstate,
           need = pointers * sizeof(void *) + nparam + 1;
    void **p = few;
    if (need > n * sizeof *p && !(p = r->block = lz_alloc(need)))
        return LZ_FAIL(LZ_EMEM, "no memory for a call of %u parameters", v->nparam);
    memset(p, 0, need);
    r->value = (lz_event_value *)p;
    p += 2 * nevent;
    r->leaf = (lz_node **)p;
    r->buf = (lz_device_buffer **)(p + nleaf);
    r->out = r->buf + nparam;
    r->root = (lz_node **)(r->out + nres);
    r->next = r->root + nroot;
    r->grad = (uint64_t *)(r->next + nstate);
    r->donated = (bool *)(r->grad + nstate);
    return LZ_OK;
}
_Static_assert(sizeof(lz_event_value) == 2 * sizeof(void *), "two pointers");

/* ---- what goes in ---- */

static lz_status take_argument(run *r, int i, const lz_tensor *t)
{
    char a[128], b[128];
    if (!t)
        return LZ_FAIL(LZ_ENULL, "in[%d] is NULL", i);
    if (!(r->slot[i] = lz_slot_get(t)) || !(r->in[i] = lz_trace_node_of(t)))
        return lz_error_get()->status;
    const lz_node *n = r->in[i];
    const lz_type *want = r->f->in_type[i], *have = lz_node_type(n);
    if (have != want)
        return LZ_FAIL(have->dtype != want->dtype ? LZ_EDTYPE : LZ_ESHAPE,
                       "in[%d] is %s, but the function was recorded for %s", i,
                       lz_type_short(have, a, sizeof a), lz_type_short(want, b, sizeof b));
    if (n->dev != r->f->dev && !lz_node_is_host(n))
        return LZ_FAIL(LZ_EINVAL, "in[%d] is on %s, but the function runs on %s", i, n->dev->name,
                       r->f->dev->name);
    return LZ_OK;
}

/* A tensor from outside, or its gradient, is not as it was recorded. */
static lz_status not_as_recorded(const run *r, const lz_function_leaf *l, const lz_slot *s,
                                 const lz_node *n)
{
    char a[128], b[128];
    const lz_site *at =
        atomic_load_explicit(&((lz_slot *)(uintptr_t)s)->site, memory_order_acquire);
    const lz_type *have = lz_node_type(n);
    const char *which = l->kind == LZ_LEAF_GRAD ? "the gradient" : "the tensor",
               *file = at && at->file ? at->file : "?";
    int line = at ? at->line : 0;
    LZ_TRY(lz_node_not_placeholder(n));
    if (have != l->type)
        return LZ_FAIL(have->dtype != l->type->dtype ? LZ_EDTYPE : LZ_ESHAPE,
                       "%s from outside (made or assigned at %s:%d) is %s, but the function was "
                       "recorded with %s",
                       which, file, line, lz_type_short(have, a, sizeof a),
                       lz_type_short(l->type, b, sizeof b));
    return LZ_FAIL(LZ_EINVAL,
                   "%s from outside (%s, made or assigned at %s:%d) is on %s, but the function "
                   "runs on %s",
                   which, lz_type_short(have, a, sizeof a), file, line, n->dev->name,
                   r->f->dev->name);
}

static lz_status take_outside(run *r, uint32_t i)
{
    const lz_function_leaf *l = &r->v->leaves[i];
    uint64_t h = l->handle;
    lz_slot *s = lz_slot_peek(h);
    if (s && l->kind == LZ_LEAF_GRAD) {
        h = atomic_load(&s->grad);
        s = h ? lz_slot_peek(h) : NULL;
    }
    if (!s)
        return LZ_FAIL(LZ_EHANDLE, "%s that the function was recorded with has been released",
                       l->kind == LZ_LEAF_GRAD ? "a gradient" : "a tensor");
    lz_node *n = r->leaf[i] = lz_slot_node(s, h);
    if (!n)
        return lz_error_get()->status;
    bool good = lz_node_type(n) == l->type && (n->dev == r->f->dev || lz_node_is_host(n)) &&
                n->kind != LZ_NODE_PLACEHOLDER;
    return good ? LZ_OK : not_as_recorded(r, l, s, n);
}

static bool owns_leaf(const lz_function_leaf *l)
{
    return l->handle != 0;
}

/* Values that are not computed yet are computed first, all in one program. */
static lz_status compute_pending(run *r, bool any)
{
    LZ_VEC(lz_node *) pending = {0};
    lz_status s = LZ_OK;
    for (uint32_t i = 0; any && i < r->v->nleaf && s == LZ_OK; i++)
        if (r->leaf[i] && !lz_node_is_value(r->leaf[i]))
            s = lz_vec_push(&pending, r->leaf[i]);
    if (s == LZ_OK && pending.len)
        s = lz_sync_nodes_locked(r->f->dev, pending.data, pending.len, &r->before);
    lz_vec_free(&pending);
    return s;
}

static lz_status take_leaves(run *r)
{
    bool pending = false;
    for (uint32_t i = 0; i < r->v->nleaf; i++) {
        const lz_function_leaf *l = &r->v->leaves[i];
        if (l->kind == LZ_LEAF_INPUT) {
            LZ_TRY(lz_node_not_placeholder(r->leaf[i] = r->in[l->index]));
        } else if (owns_leaf(l)) {
            LZ_TRY(take_outside(r, i));
        } else {
            r->leaf[i] = l->kept;
        }
        pending |= r->leaf[i] && !lz_node_is_value(r->leaf[i]);
    }
    return compute_pending(r, pending);
}

/* Whether the handle is the only owner of the value's memory. */
static bool is_alone(const lz_node *n)
{
    const lz_device_buffer *b = lz_node_buf(n);
    return lz_node_refs(n) == 2 && b && !b->release &&
           __atomic_load_n(&b->refs, __ATOMIC_ACQUIRE) == 1 &&
           !(atomic_load(&((lz_node *)(uintptr_t)n)->flags) & LZ_NODE_SHARED);
}

/* A gradient's value goes with its handle, which somebody else may hold. */
static bool grad_is_alone(const lz_function_leaf *l)
{
    const lz_slot *s = lz_slot_peek(l->handle);
    const lz_slot *g = s ? lz_slot_peek(atomic_load(&((lz_slot *)(uintptr_t)s)->grad)) : NULL;
    return g && (atomic_load(&((lz_slot *)(uintptr_t)g)->state) & LZ_STATE_REFS) == 1;
}

static lz_status gather(run *r)
{
    lz_dev *dev = r->f->dev;
    bool donates = !lz_check_on(); /* else what is read is looked at afterwards */
    for (uint32_t i = 0; i < r->v->nparam; i++) {
        const lz_function_leaf *l = &r->v->leaves[i];
        const lz_node *n = r->leaf[i];
        if (!n || lz_node_is_host(n)) {
            LZ_TRY(lz_dev_scalar(dev, l->type, n ? n->imm : r->value[l->index].bytes, &r->buf[i]));
            continue;
        }
        r->buf[i] = lz_node_buf(n);
        r->donated[i] =
            donates && l->donate && is_alone(n) && (l->kind != LZ_LEAF_GRAD || grad_is_alone(l));
        if (!r->donated[i])
            lz_device_buffer_retain(r->buf[i]);
    }
    return LZ_OK;
}

/* ---- what comes out ---- */

/* Nothing can fail once the program runs, which may overwrite the state: the nodes of its results
 * come first, and get their values then. */
static lz_status make_roots(run *r)
{
    for (uint32_t k = 0; k < r->v->nroot; k++)
        if (!(r->root[k] = lz_node_new_buffer_of(r->v->root_sig[k], r->f->dev, NULL, NULL)))
            return lz_error_get()->status;
    return LZ_OK;
}

static void fill_roots(run *r)
{
    const lz_program *p = r->v->prog;
    for (uint32_t k = 0; k < r->v->nroot; k++) {
        lz_device_buffer *b = r->out[p->root_result[k]];
        lz_device_buffer_retain(b);
        atomic_store_explicit(&r->root[k]->buf, b, memory_order_release);
        if (p->shared[k])
            atomic_fetch_or(&r->root[k]->flags, LZ_NODE_SHARED);
    }
    for (uint32_t i = 0; i < p->nresult; i++)
        lz_device_buffer_release(r->out[i]);
}

/* A result that is a parameter shares its memory: neither is donated from now on. */
static void mark_shared(const run *r)
{
    for (uint32_t k = 0; k < r->v->nroot; k++)
        for (uint32_t i = 0; r->v->prog->shared[k] && i < r->v->nparam; i++)
            if (r->leaf[i] && lz_node_buf(r->leaf[i]) == lz_node_buf(r->root[k]))
                atomic_fetch_or(&r->leaf[i]->flags, LZ_NODE_SHARED);
}

/* Each result has a root of its own, which it takes over. */
static void give_results(run *r)
{
    for (int k = 0; k < r->f->nout; k++) {
        r->result[k] = r->root[r->v->result[k]];
        r->root[r->v->result[k]] = NULL;
    }
}

/* ---- state ---- */

/* A new reference. */
static lz_node *value_of(run *r, const lz_function_value *v)
{
    const lz_function_leaf *l = v->from == LZ_FROM_LEAF ? &r->v->leaves[v->index] : NULL;
    if (l && l->kind == LZ_LEAF_EVENT)
        return lz_node_new_host(LZ_NODE_SCALAR, l->type, r->value[l->index].bytes, r->f->dev,
                                r->site);
    lz_node *n = l ? r->leaf[v->index] : v->from == LZ_FROM_ROOT ? r->root[v->index] : v->kept;
    if (n)
        lz_node_retain(n);
    return n;
}

/* Whether the thread, or another one, has assigned something of the state and not stepped. */
static bool is_unstepped(const run *r)
{
    for (uint32_t i = 0; i < r->v->states.len; i++) {
        const lz_function_state *x = &r->v->states.data[i];
        const lz_slot *s = x->kind == LZ_STATE_TENSOR ? lz_slot_peek(x->handle) : NULL;
        if (s && (lz_slot_flags(s, x->handle) & LZ_SLOT_UNSTEPPED))
            return true;
    }
    return false;
}

/* What can fail of assigning tensors comes before the program runs. */
static lz_status begin_states(run *r)
{
    r->later = is_unstepped(r);
    if (r->later)
        LZ_TRY(lz_slot_reserve(lz_thread_state_self, r->v->states.len));
    for (uint32_t i = 0; r->later && i < r->v->states.len; i++) {
        uint64_t h = r->v->states.data[i].handle;
        if (r->v->states.data[i].kind != LZ_STATE_TENSOR)
            continue;
        LZ_TRY(lz_slot_keep_old(lz_thread_state_self, lz_slot_peek(h), h));
        LZ_TRY(lz_slot_queue(lz_thread_state_self, lz_slot_peek(h), h));
    }
    return LZ_OK;
}

static lz_status make_states(run *r)
{
    for (uint32_t i = 0; i < r->v->states.len; i++) {
        const lz_function_state *x = &r->v->states.data[i];
        if (x->value.from == LZ_FROM_NOTHING)
            continue;
        if (!(r->next[i] = value_of(r, &x->value)))
            return lz_error_get()->status;
        if (x->kind != LZ_STATE_GRAD)
            continue;
        lz_node_retain(r->next[i]);
        r->grad[i] = lz_slot_new_unscoped(lz_thread_state_self, r->next[i], r->site);
        if (!r->grad[i]) {
            lz_node_release(r->next[i]);
            return lz_error_get()->status;
        }
    }
    return LZ_OK;
}

/* Nothing here fails. */
static void assign_states(run *r)
{
    for (uint32_t i = 0; i < r->v->states.len; i++) {
        const lz_function_state *x = &r->v->states.data[i];
        uint64_t h = x->handle;
        lz_slot *s = lz_slot_peek(h);
        if (s && x->kind == LZ_STATE_GRAD) { /* the old one is released without the lock */
            r->grad[i] = atomic_exchange(&s->grad, r->grad[i]);
            continue;
        }
        if (s && x->kind == LZ_STATE_GRAD_VALUE) {
            h = atomic_load(&s->grad);
            s = lz_slot_peek(h);
        }
        if (!s)
            continue;
        lz_slot_put(s, h, r->next[i], r->site, r->later && x->kind == LZ_STATE_TENSOR);
        r->next[i] = NULL;
    }
    if (r->v->events.len && !r->later)
        lz_dev_rng_step(r->f->dev, lz_thread_state_self->serial);
}

/* ---- the call ---- */

/* The call sites are those where the function was recorded. */
static void begin_check(run *r)
{
    LZ_QUIETLY {
        lz_func *f = NULL;
        (void)lz_func_copy(r->v->func, &f);
        lz_check_begin(r->f->dev, r->v->prog, f, NULL, r->buf, r->out, &r->check);
    }
}

static lz_status execute(run *r)
{
    lz_dev *dev = r->f->dev;
    lz_event *done = NULL;
    LZ_TRY(take_leaves(r));
    LZ_TRY(make_roots(r));
    LZ_TRY(make_states(r));
    LZ_TRY(begin_states(r));
    lz_status s = gather(r);
    if (s == LZ_OK) {
        int64_t t0 = lz_now_ns();
        lz_execution_event *event = lz_events_call(r->v->prog, dev->name);
        s = dev->be->execute(r->v->prog->exec, dev->ordinal, r->buf, r->donated, false, r->out,
                             &done);
        if (s == LZ_OK) {
            lz_dev_fly(dev, done, t0, event);
            lz_counter_add(LZ_COUNTER_ExecuteComputation, 1);
            if (lz_check_on())
                begin_check(r);
        } else {
            lz_events_drop(event);
        }
    }
    for (uint32_t i = 0; i < r->v->nparam; i++)
        if (r->buf[i] && !r->donated[i])
            lz_device_buffer_release(r->buf[i]);
    if (s == LZ_OK) {
        fill_roots(r);
        mark_shared(r);
        assign_states(r);
        give_results(r);
    }
    return s;
}

static void run_end(run *r)
{
    const lz_variant *v = r->v;
    if (!r->leaf) /* there was no memory for the lists */
        return;
    for (uint32_t i = 0; i < v->nleaf; i++)
        if (owns_leaf(&v->leaves[i]))
            lz_node_release(r->leaf[i]);
    for (uint32_t i = 0; i < v->nroot; i++)
        lz_node_release(r->root[i]);
    for (uint32_t i = 0; i < v->states.len; i++) {
        lz_node_release(r->next[i]);
        lz_slot_let_go(r->grad[i]);
    }
    lz_free(r->block);
}

/* The variant is chosen again under the lock: another call may have left gradients meanwhile. */
static lz_status choose(run *r)
{
    for (;;) {
        LZ_TRY(lz_function_variant(r->f, &r->v));
        if (!r->v->alone && !r->v->guards.len)
            return LZ_OK;
        lz_mutex_lock(&r->f->lock);
        if (lz_variant_fits(r->v))
            return LZ_OK;
        lz_mutex_unlock(&r->f->lock);
    }
}

static lz_status call_outside(run *r)
{
    void *few[128];
    LZ_TRY(lz_dev_may_wait());
    LZ_TRY(lz_compile_check(NULL, LZ_CAUSE_FUNCTION));
    lz_dev_make_room(r->f->dev);
    LZ_TRY(choose(r));
    bool locked = r->v->alone || r->v->guards.len;
    uint32_t nevent = r->v->events.len;
    lz_status s = variant_room(r, few, sizeof few / sizeof *few);
    if (s == LZ_OK && nevent)
        s = lz_host_events_run(r->v->events.data, nevent, r->value);
    if (s == LZ_OK) {
        lz_dev_lock(r->f->dev);
        s = execute(r);
        lz_dev_unlock(r->f->dev);
        if (s != LZ_OK)
            lz_host_events_undo(r->v->events.data, nevent, r->value);
    }
    run_end(r);
    if (locked)
        lz_mutex_unlock(&r->f->lock);
    return lz_check_end(r->check, lz_check_end(r->before, s));
}

static lz_status check_call(const lz_function *f, lz_tensor *const *in, int nin, lz_tensor **out,
                            int nout)
{
    if (!f || !out || (nin > 0 && !in))
        return LZ_FAIL(LZ_ENULL, "%s is NULL", !f ? "the function" : !out ? "out" : "in");
    if (nin != f->nin || nout != f->nout)
        return LZ_FAIL(LZ_EINVAL, "%d arguments and %d results, but the function has %d and %d",
                       nin, nout, f->nin, f->nout);
    return LZ_OK;
}

lz_status lz_function_call_at(lz_function *f, lz_tensor *const *in, int nin, lz_tensor **out,
                              int nout, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_api_frame frame = lz_api_enter("lz_function_call", site);
    void *few[32];
    run r = {.f = f, .site = site};
    const lz_thread_state *t = lz_thread_state_self;
    lz_status s = t ? check_call(f, in, nin, out, nout) : lz_error_get()->status;
    bool room = s == LZ_OK && (s = arguments_room(&r, few, sizeof few / sizeof *few)) == LZ_OK;
    bool inside = t && t->recording; /* the call becomes part of the body */
    for (int i = 0; i < nin && s == LZ_OK; i++)
        s = take_argument(&r, i, in[i]);
    if (s == LZ_OK)
        s = inside ? lz_function_inline(f, r.in, r.result, site) : call_outside(&r);
    lz_status told = lz_api_results(&frame, s, out, nout, r.result, site);
    for (int k = 0; room && k < nout; k++)
        lz_node_release(r.result[k]);
    for (int i = 0; room && i < nin; i++) {
        if (s == LZ_OK && !inside && f->donate[i])
            (void)lz_slot_drop_value(r.slot[i], lz_handle_bits(in[i]), r.in[i], true);
        else
            lz_node_release(r.in[i]);
    }
    lz_free(r.first_block);
    (void)lz_api_leave(&frame, told);
    return s;
}
