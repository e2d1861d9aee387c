/* function.c - traced functions (include/lazuli/jit.h): a callback is traced once into a program,
 * with placeholders for its arguments and for what it takes from outside
 * (runtime/graph/function_trace.h); what it assigns outside is further results. The calls:
 * function_call.c.
 * A callback may ask whether a tensor has a gradient: when the answer of a call is another one than
 * the trace's, it is traced once more, and both variants are kept. */
#include "runtime/graph/effects.h"
#include "runtime/region/function.h"
#include "base/config.h"
#include "runtime/debug/events.h"
#include "runtime/region/callback.h"
#include <string.h>

enum { MOST = 1 << 16 };

static void value_free(const lz_function_value *v)
{
    lz_node_release(v->kept);
}

static void variant_free(lz_variant *v)
{
    if (!v)
        return;
    for (uint32_t i = 0; v->leaves && i < v->nleaf; i++) {
        lz_node_release(v->leaves[i].kept);
        lz_slot_let_go(v->leaves[i].handle);
    }
    for (uint32_t i = 0; i < v->states.len; i++) {
        value_free(&v->states.data[i].value);
        lz_slot_let_go(v->states.data[i].handle);
    }
    for (uint32_t i = 0; i < v->events.len; i++)
        lz_host_event_free(&v->events.data[i]);
    for (uint32_t i = 0; i < v->guards.len; i++)
        lz_slot_let_go(v->guards.data[i].handle);
    lz_program_release(v->prog);
    lz_func_free(v->func);
    lz_vec_free(&v->states);
    lz_vec_free(&v->events);
    lz_vec_free(&v->guards);
    lz_free(v->root_result);
    lz_free(v->root_sig);
    lz_free(v->result);
    lz_free(v->leaves);
    lz_free(v);
}

void lz_function_free(lz_function *f)
{
    LZ_PUBLIC();
    if (!f)
        return;
    for (lz_variant *v = atomic_load(&f->variants), *next; v; v = next) {
        next = atomic_load(&v->next);
        variant_free(v);
    }
    lz_mutex_destroy(&f->lock);
    lz_free(f->in_type);
    lz_free(f->donate);
    lz_free(f);
}

/* ---- recording ---- */

typedef struct trace {
    lz_function *f;
    lz_variant *v;
    lz_body b;
    lz_function_trace ft;
    LZ_VEC(lz_node *) roots; /* owned, distinct */
    lz_map numbers;          /* root -> 1 + its number; then those of arguments and sources */
    lz_map leaves;           /* leaf -> 1 + its number */
    lz_capture cap;
} trace;

static lz_hash key_of(const lz_node *n)
{
    return (lz_hash){(uintptr_t)n, 0};
}

static uint32_t number_of(const lz_map *m, const lz_node *n)
{
    return m->len ? (uint32_t)(uintptr_t)lz_map_get(m, key_of(n)) : 0;
}

static lz_status set_number(lz_map *m, const lz_node *n, uint32_t i)
{
    return lz_map_put(m, key_of(n), (void *)(uintptr_t)(i + 1));
}

/* Takes over n, an operation; *root is its number. */
static lz_status add_root(trace *t, lz_node *n, uint32_t *root)
{
    uint32_t i = number_of(&t->numbers, n);
    if (i) {
        lz_node_release(n);
        *root = i - 1;
        return LZ_OK;
    }
    if (n->dev != t->f->dev) {
        lz_status s =
            LZ_FAIL(LZ_EINVAL, "a value that the function gives is on %s, but it runs on %s",
                    n->dev->name, t->f->dev->name);
        lz_node_release(n);
        return s;
    }
    if (lz_vec_push(&t->roots, n) != LZ_OK) {
        lz_node_release(n);
        return LZ_EMEM;
    }
    *root = t->roots.len - 1;
    return set_number(&t->numbers, n, *root);
}

/* A result is a value of its own, also where the callback gives back what it was given. */
static lz_status take_result(trace *t, int k, lz_tensor *r)
{
    lz_node *n = r ? lz_trace_node_of(r) : NULL;
    if (!r)
        return LZ_FAIL(LZ_ENULL, "result %d was not given", k);
    if (!n)
        return lz_error_get()->status;
    bool again = lz_node_is_value(n) || number_of(&t->numbers, n);
    lz_node *root = again ? lz_node_new_detached(n, t->f->site) : n;
    if (again)
        lz_node_release(n);
    return root ? add_root(t, root, &t->v->result[k]) : lz_error_get()->status;
}

/* ---- what is left outside ---- */

/* Takes over n. */
static lz_status take_value(trace *t, lz_node *n, lz_function_value *out)
{
    *out = (lz_function_value){.from = LZ_FROM_ROOT};
    if (!lz_node_is_value(n))
        return add_root(t, n, &out->index);
    out->from = n->kind == LZ_NODE_PLACEHOLDER ? LZ_FROM_LEAF : LZ_FROM_KEPT;
    out->kept = n; /* of a leaf until the leaves are numbered */
    return LZ_OK;
}

/* Takes over n; NULL: nothing. */
static lz_status add_state(trace *t, lz_state_kind kind, uint64_t h, lz_node *n,
                           const lz_site *site)
{
    lz_function_state s = {.kind = kind, .handle = h, .site = site};
    lz_status st = LZ_OK;
    if (n)
        st = take_value(t, n, &s.value);
    else
        s.value.from = LZ_FROM_NOTHING;
    if (st == LZ_OK && (st = lz_slot_retain(h)) == LZ_OK &&
        (st = lz_vec_push(&t->v->states, s)) != LZ_OK)
        lz_slot_let_go(h);
    if (st != LZ_OK)
        value_free(&s.value);
    return st;
}

static lz_status take_grad(trace *t, const lz_traced_grad *g)
{
    lz_bound_handle *b = g->start ? lz_function_trace_bound(&t->ft, g->start) : NULL;
    lz_node *n = NULL;
    if (g->read) {
        lz_function_guard guard = {g->handle, g->start != 0};
        LZ_TRY(lz_slot_retain(g->handle));
        if (lz_vec_push(&t->v->guards, guard) != LZ_OK) {
            lz_slot_let_go(g->handle);
            return LZ_EMEM;
        }
    }
    bool assigned = b && b->assigned;
    if (assigned)
        b->assigned = false; /* it is no tensor's of its own */
    if (g->set && g->now && !(n = lz_trace_node_of(lz_handle_of_bits(g->now))))
        return lz_error_get()->status;
    if (g->set)
        return add_state(t, LZ_STATE_GRAD, g->handle, n, t->f->site);
    if (!assigned)
        return LZ_OK;
    lz_node_retain(b->now);
    return add_state(t, LZ_STATE_GRAD_VALUE, g->handle, b->now, b->site);
}

static lz_status take_states(trace *t)
{
    for (uint32_t i = 0; i < t->ft.grads.len; i++)
        LZ_TRY(take_grad(t, &t->ft.grads.data[i]));
    for (uint32_t i = 0; i < t->b.rec.bound.len; i++) {
        const lz_bound_handle *b = &t->b.rec.bound.data[i];
        if (!b->assigned)
            continue;
        lz_node_retain(b->now);
        LZ_TRY(add_state(t, LZ_STATE_TENSOR, b->handle, b->now, b->site));
    }
    return LZ_OK;
}

static lz_status check_trace(const trace *t)
{
    if (t->ft.spoilt) {
        lz_error_set(&t->ft.error);
        return t->ft.error.status;
    }
    if (t->b.rec.refused) /* though the callback did not look */
        return LZ_FAIL(LZ_EINVAL,
                       "a body inside of the function assigns to a tensor from outside, or leaves "
                       "a gradient with one: give the values back as its results");
    return LZ_OK;
}

static lz_status record(trace *t)
{
    lz_function *f = t->f;
    lz_tensor **args = lz_calloc((size_t)f->nin + (size_t)f->nout + 1, sizeof *args);
    lz_status s = args ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for %d arguments", f->nin);
    for (int i = 0; i < f->nin && s == LZ_OK; i++) {
        args[i] = lz_body_tensor(&t->b, f->in_type[i]);
        s = lz_status_of(args[i]);
    }
    if (s == LZ_OK) {
        lz_loop_frame *loop = t->b.thr->loop; /* of a body around the trace, not of the calls */
        t->b.thr->loop = NULL;
        lz_callback back = lz_callback_begin(t->b.thr, true);
        f->fn(args, args + f->nin, f->user);
        lz_callback_end(t->b.thr, &back);
        t->b.thr->loop = loop;
        s = lz_function_trace_end(&t->ft);
        if (s == LZ_OK)
            s = check_trace(t);
    }
    for (int k = 0; k < f->nout && s == LZ_OK; k++)
        s = take_result(t, k, args[f->nin + k]);
    if (s == LZ_OK)
        s = take_states(t);
    if (s == LZ_OK)
        s = check_trace(t); /* reading gradients may have failed */
    lz_free(args);
    return s;
}

/* ---- leaves ---- */

/* The leaf of a placeholder; the handle is retained. */
static lz_status describe(const trace *t, const lz_node *n, lz_function_leaf *l)
{
    uint32_t i = number_of(&t->numbers, n), nin = t->b.placeholders.len;
    if (!i)
        return lz_node_not_placeholder(n); /* a placeholder of an enclosing body */
    if (i <= nin) {
        l->kind = LZ_LEAF_INPUT;
        l->index = i - 1;
        return LZ_OK;
    }
    const lz_source *s = &t->ft.sources.data[i - 1 - nin];
    l->kind = s->kind == LZ_SOURCE_EVENT  ? LZ_LEAF_EVENT
              : s->kind == LZ_SOURCE_GRAD ? LZ_LEAF_GRAD
                                          : LZ_LEAF_HANDLE;
    l->index = s->event;
    if (s->handle)
        LZ_TRY(lz_slot_retain(s->handle));
    l->handle = s->handle;
    return LZ_OK;
}

static lz_status add_leaf(trace *t, lz_node *n)
{
    LZ_TRY(set_number(&t->leaves, n, t->v->nleaf));
    lz_function_leaf *l = &t->v->leaves[t->v->nleaf++];
    *l = (lz_function_leaf){.kind = LZ_LEAF_KEPT, .type = lz_node_type(n)};
    if (n->kind == LZ_NODE_PLACEHOLDER)
        return describe(t, n, l);
    lz_node_retain(l->kept = n);
    return LZ_OK;
}

/* States that are another tensor's value of before the call, or an argument. */
static lz_status number_aliases(trace *t)
{
    for (uint32_t i = 0; i < t->v->states.len; i++) {
        lz_function_value *v = &t->v->states.data[i].value;
        if (v->from != LZ_FROM_LEAF)
            continue;
        lz_node *n = v->kept;
        v->kept = NULL;
        lz_status s = number_of(&t->leaves, n) ? LZ_OK : add_leaf(t, n);
        v->index = number_of(&t->leaves, n) - 1;
        lz_node_release(n);
        LZ_TRY(s);
    }
    return LZ_OK;
}

static lz_hash source_key(uint64_t handle, bool grad)
{
    return (lz_hash){handle, grad};
}

/* The memory of what a call overwrites is its own. */
static lz_status donate_state(lz_variant *v)
{
    lz_map of = {0}; /* a tensor or its gradient -> its leaf */
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i < v->nparam && s == LZ_OK; i++) {
        lz_function_leaf *l = &v->leaves[i];
        if (l->handle)
            s = lz_map_put(&of, source_key(l->handle, l->kind == LZ_LEAF_GRAD), l);
    }
    for (uint32_t i = 0; of.len && i < v->states.len && s == LZ_OK; i++) {
        const lz_function_state *x = &v->states.data[i];
        lz_function_leaf *l = lz_map_get(&of, source_key(x->handle, x->kind != LZ_STATE_TENSOR));
        if (l)
            l->donate = true;
    }
    lz_map_free(&of);
    return s;
}

/* So is that of arguments which are given to it; but not what is a value of the state afterwards.
 */
static lz_status donate(trace *t)
{
    lz_variant *v = t->v;
    for (uint32_t i = 0; i < v->nparam; i++)
        v->leaves[i].donate =
            v->leaves[i].kind == LZ_LEAF_INPUT && t->f->donate[v->leaves[i].index];
    if (lz_cfg_bool(LZ_OPT_ENABLE_PARAM_ALIASING))
        LZ_TRY(donate_state(v));
    for (uint32_t i = 0; i < v->states.len; i++)
        if (v->states.data[i].value.from == LZ_FROM_LEAF)
            v->leaves[v->states.data[i].value.index].donate = false;
    for (uint32_t i = 0; i < v->nparam; i++) {
        t->cap.donate.data[i] = v->leaves[i].donate;
        t->cap.ndonated += v->leaves[i].donate;
        t->cap.ngiven += v->leaves[i].donate;
    }
    return LZ_OK;
}

static lz_status note_leaves(trace *t)
{
    uint32_t n = t->cap.leaves.len;
    t->v->leaves = lz_calloc((size_t)n + t->v->states.len + 1, sizeof *t->v->leaves);
    if (!t->v->leaves)
        return LZ_FAIL(LZ_EMEM, "no memory for %u parameters", n);
    lz_map_free(&t->numbers);
    uint32_t nin = t->b.placeholders.len;
    for (uint32_t i = 0; i < nin; i++)
        LZ_TRY(set_number(&t->numbers, t->b.placeholders.data[i], i));
    for (uint32_t i = 0; i < t->ft.sources.len; i++)
        LZ_TRY(set_number(&t->numbers, t->ft.sources.data[i].node, nin + i));
    for (uint32_t i = 0; i < n; i++)
        LZ_TRY(add_leaf(t, t->cap.leaves.data[i]));
    t->v->nparam = n;
    LZ_TRY(number_aliases(t));
    return donate(t);
}

/* ---- the program ---- */

static lz_status compile(trace *t)
{
    lz_variant *v = t->v;
    lz_dev *dev = t->f->dev;
    lz_found found = LZ_FOUND_MEMORY;
    LZ_TRY(lz_dev_may_wait()); /* for another thread that compiles the same */
    lz_thread_state *thr = t->b.thr;
    uint32_t first = lz_effects_since(thr, t->b.rec.first_id);
    lz_capture_effects effects = {thr->effects.data + first, thr->effects.len - first};
    lz_dev_lock(dev);
    t->cap.placeholders = true;
    lz_status s = lz_capture_walk(&t->cap, dev, effects, t->roots.data, t->roots.len);
    if (s == LZ_OK)
        s = note_leaves(t);
    if (s == LZ_OK)
        s = lz_capture_func(&t->cap, t->f->name, &v->func, v->root_result);
    if (s == LZ_OK)
        s = lz_capture_finish(&t->cap);
    bool again =
        true; /* nobody else computes these nodes: the compiled program is valid as it is */
    lz_watch watch = {0};
    while (s == LZ_OK && again && !v->prog)
        s = lz_program_get(&t->cap, t->f->name, lz_watch_start(&watch, LZ_CAUSE_FUNCTION), &v->prog,
                           &found, &again);
    if (s == LZ_OK)
        lz_watch_tell(&watch, v->prog, found);
    lz_watch_end(&watch);
    lz_capture_free(&t->cap);
    lz_dev_unlock(dev);
    return s;
}

static lz_status room_for_roots(trace *t)
{
    lz_variant *v = t->v;
    v->nroot = t->roots.len;
    v->root_sig = lz_calloc((size_t)v->nroot + 1, sizeof *v->root_sig);
    v->root_result = lz_calloc((size_t)v->nroot + 1, sizeof *v->root_result);
    if (!v->root_sig || !v->root_result)
        return LZ_FAIL(LZ_EMEM, "no memory for %u results", v->nroot);
    for (uint32_t i = 0; i < v->nroot; i++)
        if (!(v->root_sig[i] = lz_node_buffer_sig(lz_node_type(t->roots.data[i]))))
            return lz_error_get()->status;
    return LZ_OK;
}

/* The variant has the events from now on. */
static void take_events(trace *t)
{
    lz_variant *v = t->v;
    v->events.data = t->ft.events.data;
    v->events.len = t->ft.events.len;
    v->events.cap = t->ft.events.cap;
    t->ft.events.data = NULL;
    t->ft.events.len = t->ft.events.cap = 0;
    v->alone = v->states.len > 0;
    for (uint32_t i = 0; i < v->events.len; i++)
        v->alone |= v->events.data[i].kind == LZ_EVENT_ACTION;
}

static lz_status trace_variant(lz_function *f, lz_variant **out)
{
    trace t = {.f = f, .v = lz_calloc(1, sizeof *t.v)};
    if (!t.v || !(t.v->result = lz_calloc((size_t)f->nout, sizeof *t.v->result))) {
        variant_free(t.v);
        return LZ_FAIL(LZ_EMEM, "no memory for a function of %d results", f->nout);
    }
    lz_status s = lz_body_begin(&t.b, f->dev);
    if (s == LZ_OK) {
        lz_function_trace_begin(&t.ft, &t.b.rec, t.b.thr, f->dev);
        s = record(&t);
        if (s == LZ_OK)
            s = room_for_roots(&t);
        if (s == LZ_OK)
            s = compile(&t);
        if (s == LZ_OK)
            take_events(&t);
        lz_body_end(&t.b);
    }
    while (t.roots.len)
        lz_node_release(t.roots.data[--t.roots.len]);
    lz_vec_free(&t.roots);
    lz_map_free(&t.numbers);
    lz_map_free(&t.leaves);
    lz_function_trace_free(&t.ft);
    lz_body_free(&t.b);
    if (s != LZ_OK) {
        variant_free(t.v);
        t.v = NULL;
    }
    *out = t.v;
    return s;
}

/* ---- variants ---- */

bool lz_variant_fits(const lz_variant *v)
{
    for (uint32_t i = 0; i < v->guards.len; i++) {
        const lz_function_guard *g = &v->guards.data[i];
        if ((lz_trace_grad(lz_handle_of_bits(g->handle)) != NULL) != g->present)
            return false;
    }
    return true;
}

lz_status lz_function_variant(lz_function *f, lz_variant **out)
{
    lz_variant *v = atomic_load_explicit(&f->variants, memory_order_acquire);
    while (v && !lz_variant_fits(v))
        v = atomic_load_explicit(&v->next, memory_order_acquire);
    *out = v;
    if (v)
        return LZ_OK;
    LZ_TRY(trace_variant(f, &v));
    lz_mutex_lock(&f->lock);
    _Atomic(lz_variant *) *at = &f->variants;
    while (atomic_load(at))
        at = &atomic_load(at)->next;
    atomic_store_explicit(at, v, memory_order_release);
    lz_mutex_unlock(&f->lock);
    *out = v;
    return LZ_OK;
}

/* ---- public ---- */

static lz_status take_types(lz_function *f, lz_tensor *const *in)
{
    bool host = true; /* so far: numbers have no device of their own */
    for (int i = 0; i < f->nin; i++) {
        lz_node *n = in[i] ? lz_trace_node_of(in[i]) : NULL;
        if (!in[i])
            return LZ_FAIL(LZ_ENULL, "in[%d] is NULL", i);
        if (!n)
            return lz_error_get()->status;
        f->in_type[i] = lz_node_type(n);
        if (!f->dev || (host && !lz_node_is_host(n)))
            f->dev = n->dev;
        host = host && lz_node_is_host(n);
        lz_node_release(n);
    }
    if (!f->dev)
        f->dev = lz_dev_current();
    return f->dev ? LZ_OK : lz_error_get()->status;
}

static lz_status begin(lz_function *f, lz_tensor *const *in, const lz_function_options *o)
{
    f->in_type = lz_calloc((size_t)f->nin + 1, sizeof *f->in_type);
    f->donate = lz_calloc((size_t)f->nin + 1, sizeof *f->donate);
    if (!f->in_type || !f->donate)
        return LZ_FAIL(LZ_EMEM, "no memory for a function of %d arguments", f->nin);
    if (o && o->donate && f->nin)
        memcpy(f->donate, o->donate, (size_t)f->nin * sizeof *f->donate);
    f->name = o && o->name ? lz_thread_state_intern(o->name) : NULL;
    lz_variant *v;
    LZ_TRY(take_types(f, in));
    return lz_function_variant(f, &v);
}

lz_status lz_function_trace_at(lz_body_fn *fn, void *user, lz_tensor *const *in, int nin, int nout,
                               const lz_function_options *o, lz_function **out, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_api_frame frame = lz_api_enter("lz_function_trace", site);
    lz_function *f = lz_calloc(1, sizeof *f);
    lz_status s = LZ_OK;
    if (!f)
        s = LZ_FAIL(LZ_EMEM, "no memory for a function");
    else
        lz_mutex_init(&f->lock, "function");
    if (s == LZ_OK && (!fn || !out || (nin > 0 && !in)))
        s = LZ_FAIL(LZ_ENULL, "%s is NULL", !fn ? "fn" : !out ? "out" : "in");
    if (s == LZ_OK && (nin < 0 || nin > MOST || nout < 1 || nout > MOST))
        s = LZ_FAIL(LZ_EINVAL, "%d arguments and %d results", nin, nout);
    if (s == LZ_OK) {
        f->nin = nin;
        f->nout = nout;
        f->fn = fn;
        f->user = user;
        f->site = site;
        s = begin(f, in, o);
    }
    if (s != LZ_OK) {
        (void)lz_api_status(s);
        lz_function_free(f);
        f = NULL;
    }
    if (out)
        *out = f;
    return lz_api_leave(&frame, s);
}
