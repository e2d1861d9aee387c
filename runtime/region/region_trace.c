/* region_trace.c - see region_trace.h. What depends on a placeholder was recorded after it, so a
 * walk stops at older nodes and touches none of them: another thread may be walking the graph
 * outside. */
#include "runtime/region/region_trace.h"
#include "ir/attr.h"
#include "runtime/debug/metrics.h"
#include "runtime/graph/effects.h"
#include <inttypes.h>
#include <string.h>

lz_status lz_trace_history(lz_node *const *roots, uint32_t nroots, uint64_t since, lz_node ***order,
                           uint32_t *n)
{
    lz_status s = lz_trace_order(roots, nroots, since, order, n);
    lz_counter_add(LZ_COUNTER_DerivativeNodes, *n);
    return s;
}

lz_status lz_body_begin(lz_body *b, lz_dev *dev)
{
    memset(b, 0, sizeof *b);
    b->thr = lz_thread_state_get();
    b->dev = dev;
    if (!b->thr)
        return lz_error_get()->status;
    LZ_TRY(lz_scope_begin());
    lz_recording_begin(&b->rec, b->thr);
    b->thr->locked++;
    return LZ_OK;
}

lz_node *lz_body_placeholder(lz_body *b, const lz_type *t)
{
    lz_node *n = lz_node_new_buffer(t, b->dev, NULL, NULL);
    if (!n)
        return NULL;
    n->kind = LZ_NODE_PLACEHOLDER;
    if (lz_vec_push(&b->placeholders, n) == LZ_OK)
        return n;
    lz_node_release(n);
    return NULL;
}

lz_tensor *lz_body_tensor(lz_body *b, const lz_type *t)
{
    lz_node *n = lz_body_placeholder(b, t);
    return n ? lz_trace_tensor_of(n, NULL) : lz_trace_error_tensor(NULL, NULL);
}

void lz_body_loop(lz_body *b, lz_node *index, uint64_t trip_count)
{
    b->loop = (lz_loop_frame){b->thr->loop, index, trip_count};
    b->thr->loop = &b->loop;
    b->looping = true;
}

void lz_body_end(lz_body *b)
{
    if (b->looping)
        b->thr->loop = b->loop.outer;
    b->looping = false;
    lz_effects_drop(b->thr, b->rec.first_id);
    lz_recording_end(&b->rec, b->thr);
    b->thr->locked--;
    LZ_QUIETLY {
        (void)lz_scope_end();
    }
}

void lz_body_free(lz_body *b)
{
    for (uint32_t i = 0; i < b->placeholders.len; i++)
        lz_node_release(b->placeholders.data[i]);
    for (uint32_t i = 0; i < b->captured.len; i++)
        lz_node_release(b->captured.data[i]);
    lz_vec_free(&b->placeholders);
    lz_vec_free(&b->captured);
    lz_recording_free(&b->rec);
}

/* Within a walk the function is a gradient rule's, which may run under the step lock; the program's
 * own never does. */
lz_callback lz_callback_begin(lz_thread_state *t, bool program)
{
    lz_callback c = {program, t->api_op, t->api_site, t->api_caller};
    if (!t->walks)
        lz_assert_unlocked("the function of a body");
    if (!program)
        return c;
    t->api_op = NULL;
    t->api_site = NULL;
    return c;
}

void lz_callback_end(lz_thread_state *t, const lz_callback *c)
{
    if (!c->program)
        return;
    t->api_op = c->op;
    t->api_site = c->site;
    t->api_caller = c->caller;
    t->error_before.saved = false; /* what the program's own calls failed with stays */
}

/* ---- the region ---- */

typedef struct walk {
    lz_body *b;
    lz_func *f;
    LZ_VEC(lz_node *) order; /* recorded inside, operands first */
    LZ_VEC(struct {
        lz_node *n;
        uint32_t next;
    }) stack;
    LZ_VEC(bool) inside; /* by position in order: depends on a placeholder */
    LZ_VEC(lz_val) val;  /* by position in order */
    LZ_VEC(lz_val) opnd;
    uint64_t epoch;
} walk;

/* Traced by this thread since the body began. */
static bool is_new(const lz_body *b, const lz_node *n)
{
    return n->id >= b->rec.first_id && n->id < b->thr->id_next;
}

static lz_status enter(walk *w, lz_node *n)
{
    if (!is_new(w->b, n) || n->epoch == w->epoch)
        return LZ_OK;
    n->epoch = w->epoch;
    return lz_vec_push(&w->stack, ((__typeof__(*w->stack.data)){n, 0}));
}

static lz_status order_nodes(walk *w, lz_node *const *roots, uint32_t nroots)
{
    for (uint32_t r = 0; r < nroots; r++) {
        LZ_TRY(enter(w, roots[r]));
        while (w->stack.len) {
            lz_node *n = w->stack.data[w->stack.len - 1].n;
            uint32_t *next = &w->stack.data[w->stack.len - 1].next,
                     nopnd = n->opnd && !lz_node_is_value(n) ? n->sig->nopnd : 0;
            if (*next < nopnd) {
                LZ_TRY(enter(w, n->opnd[(*next)++]));
                continue;
            }
            n->index = w->order.len;
            w->stack.len--;
            LZ_TRY(lz_vec_push(&w->order, n));
        }
    }
    return LZ_OK;
}

/* What is made in the body of less, and costs next to nothing to make (a broadcast, a counter),
 * stays there with all that is made of it, though it depends on nothing of the body: outside it
 * would be memory, in a body that is run again (lz_checkpoint) till then. */
static bool is_cheap_to_make(const lz_node *n)
{
    if (n->kind != LZ_NODE_OP || !(n->sig->flags & LZ_F_CHEAP))
        return false;
    size_t from = 0;
    for (uint32_t k = 0; k < n->sig->nopnd; k++)
        from += n->sig->opnd[k]->nbytes;
    return from < n->sig->result[0]->nbytes;
}

/* It happens where it was recorded, as often as that runs. */
static bool has_effect(const lz_node *n)
{
    return n->kind == LZ_NODE_OP && (n->sig->flags & LZ_F_EFFECT);
}

static lz_status find_inside(walk *w)
{
    LZ_TRY(lz_vec_reserve(&w->inside, (uint64_t)w->order.len + 1));
    for (uint32_t i = 0; i < w->order.len; i++) {
        const lz_node *n = w->order.data[i];
        bool in = n->kind == LZ_NODE_PLACEHOLDER || is_cheap_to_make(n) || has_effect(n);
        for (uint32_t k = 0; !in && n->opnd && !lz_node_is_value(n) && k < n->sig->nopnd; k++)
            in = is_new(w->b, n->opnd[k]) && w->inside.data[n->opnd[k]->index];
        w->inside.data[w->inside.len++] = in;
    }
    return LZ_OK;
}

/* Whether n is made in the region (a placeholder of an enclosing body is not). */
static bool is_inside(const walk *w, const lz_node *n)
{
    return is_new(w->b, n) && n->epoch == w->epoch && w->inside.data[n->index];
}

static lz_status note_use(walk *w, lz_node *n)
{
    if (is_inside(w, n) || n->kind == LZ_NODE_CONST)
        return LZ_OK;
    for (uint32_t i = 0; i < w->b->captured.len; i++)
        if (w->b->captured.data[i] == n)
            return LZ_OK;
    if (n->dev != w->b->dev && !lz_node_is_host(n))
        return LZ_FAIL(LZ_EINVAL, "the body uses a value of %s, but runs on %s", n->dev->name,
                       w->b->dev->name);
    LZ_TRY(lz_vec_push(&w->b->captured, n));
    lz_node_retain(n);
    return LZ_OK;
}

static lz_val value_of(walk *w, const lz_node *n)
{
    if (is_inside(w, n))
        return w->val.data[n->index];
    if (n->kind == LZ_NODE_CONST) {
        lz_literal *l = lz_literal_copy_from(lz_node_type(n), n->imm);
        lz_val v = lz_build_const(w->f, l);
        lz_literal_release(l);
        return v;
    }
    uint32_t i = 0;
    while (w->b->captured.data[i] != n)
        i++;
    return w->b->placeholders.len + i;
}

static lz_status build_node(walk *w, const lz_node *n)
{
    lz_val v = LZ_NOVAL;
    if (n->kind == LZ_NODE_PLACEHOLDER) {
        for (uint32_t i = 0; i < w->b->placeholders.len; i++)
            if (w->b->placeholders.data[i] == n)
                v = i;
        return v == LZ_NOVAL ? LZ_FAIL(LZ_EINVAL, "a value of another body is used here")
                             : lz_vec_push(&w->val, v);
    }
    LZ_TRY(lz_vec_reserve(&w->opnd, (uint64_t)n->sig->nopnd + 1));
    for (uint32_t k = 0; k < n->sig->nopnd; k++)
        w->opnd.data[k] = value_of(w, n->opnd[k]);
    w->f->now = (lz_origin){n->site, n->scope, LZ_NOVAL};
    v = lz_build_sig(w->f, n->sig, w->opnd.data);
    if (v == LZ_NOVAL)
        return lz_error_get()->status;
    return lz_vec_push(&w->val, v);
}

static lz_status build(walk *w, lz_node *const *roots, uint32_t n)
{
    lz_body *b = w->b;
    for (uint32_t i = 0; i < b->placeholders.len; i++)
        (void)lz_build_param(w->f, lz_node_type(b->placeholders.data[i]));
    for (uint32_t i = 0; i < b->captured.len; i++)
        (void)lz_build_param(w->f, lz_node_type(b->captured.data[i]));
    LZ_TRY(w->f->status);
    for (uint32_t i = 0; i < w->order.len; i++) {
        if (w->inside.data[i])
            LZ_TRY(build_node(w, w->order.data[i]));
        else
            LZ_TRY(lz_vec_push(&w->val, LZ_NOVAL));
    }
    LZ_TRY(lz_vec_reserve(&w->opnd, (uint64_t)n + 1));
    for (uint32_t i = 0; i < n; i++)
        w->opnd.data[i] = value_of(w, roots[i]);
    return lz_func_set_results(w->f, w->opnd.data, n);
}

static lz_status make_region(walk *w, lz_node *const *roots, uint32_t n)
{
    const lz_thread_state *t = w->b->thr;
    uint32_t first = lz_effects_since(t, w->b->rec.first_id);
    w->epoch = lz_node_new_epoch();
    LZ_TRY(order_nodes(w, t->effects.data + first, t->effects.len - first));
    LZ_TRY(order_nodes(w, roots, n));
    LZ_TRY(find_inside(w));
    for (uint32_t i = 0; i < w->order.len; i++) {
        const lz_node *x = w->order.data[i];
        for (uint32_t k = 0; w->inside.data[i] && x->kind == LZ_NODE_OP && k < x->sig->nopnd; k++)
            LZ_TRY(note_use(w, x->opnd[k]));
    }
    for (uint32_t i = 0; i < n; i++)
        LZ_TRY(note_use(w, roots[i]));
    return build(w, roots, n);
}

lz_status lz_body_region(lz_body *b, lz_node *const *roots, uint32_t n, const lz_func **out)
{
    walk w = {.b = b, .f = lz_func_new("body")};
    *out = NULL;
    if (!w.f)
        return LZ_EMEM;
    lz_trace_lock(b->dev);
    lz_status s = make_region(&w, roots, n);
    lz_trace_unlock(b->dev);
    if (s == LZ_OK && !(*out = lz_region_intern(w.f)))
        s = lz_error_get()->status;
    if (s == LZ_OK) /* the region has them, another one of the body has not */
        lz_effects_drop(b->thr, b->rec.first_id);
    lz_func_free(w.f);
    lz_vec_free(&w.order);
    lz_vec_free(&w.stack);
    lz_vec_free(&w.inside);
    lz_vec_free(&w.val);
    lz_vec_free(&w.opnd);
    return s;
}

lz_status lz_body_widen(lz_body *b, const lz_func **region)
{
    const lz_func *r = *region;
    uint32_t n = b->placeholders.len + b->captured.len;
    if (r->nparam == n)
        return LZ_OK;
    lz_func *f = lz_func_new(r->name);
    lz_val *v = lz_alloc(((size_t)n + r->nresult + 1) * sizeof *v);
    lz_status s = f && v ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for a region");
    for (uint32_t i = 0; i < n && s == LZ_OK; i++)
        v[i] = lz_build_param(f, lz_node_type(i < b->placeholders.len
                                                  ? b->placeholders.data[i]
                                                  : b->captured.data[i - b->placeholders.len]));
    if (s == LZ_OK)
        s = lz_build_inline(f, r, v, v + n);
    if (s == LZ_OK)
        s = lz_func_set_results(f, v + n, r->nresult);
    if (s == LZ_OK && !(*region = lz_region_intern(f)))
        s = lz_error_get()->status;
    lz_free(v);
    lz_func_free(f);
    return s;
}

/* ---- recording a region again ---- */

/* A stop-gradient: lz_detach records a reshape to the same shape, which nothing else does. */
static bool is_stop_gradient(const lz_inst *in)
{
    return in->sig->op == LZ_OP_RESHAPE && in->sig->opnd[0] == in->sig->result[0];
}

static lz_node *replay_inst(const lz_inst *in, lz_node *const *val, lz_node **opnd, lz_dev *dev,
                            const lz_site *site)
{
    if (in->lit && in->lit->nbytes > LZ_NODE_IMM) {
        (void)LZ_FAIL(LZ_EUNSUPPORTED, "a constant of %zu bytes in a region", in->lit->nbytes);
        return NULL;
    }
    if (in->lit)
        return lz_node_new_host(LZ_NODE_CONST, in->lit->type, in->lit->data, dev, site);
    for (uint32_t k = 0; k < in->sig->nopnd; k++)
        opnd[k] = val[in->opnd[k]];
    return is_stop_gradient(in) ? lz_node_new_detached(opnd[0], site)
                                : lz_node_new_op(in->sig, opnd, dev, site);
}

static lz_status replay(const lz_func *f, lz_node *const *args, lz_node **results,
                        const lz_site *site, bool effects)
{
    lz_dev *dev = f->nparam ? args[0]->dev : lz_dev_current();
    for (uint32_t i = 0; i < f->nparam; i++) /* host scalars have no device of their own */
        dev = lz_node_is_host(args[i]) ? dev : args[i]->dev;
    lz_node **val = lz_calloc((size_t)f->ninst + lz_func_widest(f), sizeof *val);
    if (!val)
        return LZ_FAIL(LZ_EMEM, "no memory for %u values", f->ninst);
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i < f->ninst && s == LZ_OK; i++) {
        if (i < f->nparam)
            lz_node_retain(val[i] = args[i]);
        else if (!(val[i] = replay_inst(&f->insts[i], val, val + f->ninst, dev, site)))
            s = lz_error_get()->status;
        else if (effects)
            s = lz_effects_note(lz_thread_state_get(), val[i]);
    }
    for (uint32_t k = 0; k < f->nresult && s == LZ_OK; k++)
        lz_node_retain(results[k] = val[f->results[k]]);
    for (uint32_t i = 0; i < f->ninst; i++)
        lz_node_release(val[i]);
    lz_free(val);
    return s;
}

lz_status lz_region_replay(const lz_func *f, lz_node *const *args, lz_node **results,
                           const lz_site *site)
{
    return replay(f, args, results, site, false);
}

lz_status lz_region_perform(const lz_func *f, lz_node *const *args, lz_node **results,
                            const lz_site *site)
{
    return replay(f, args, results, site, true);
}

/* ---- operations ---- */

/* A derivative's operation computes values again; what happened beside them has happened. */
static lz_node *control_node(lz_tracer *c, lz_op op, const lz_attr *record, lz_node *const *opnd,
                             uint32_t n)
{
    lz_attr_any a;
    if (!c->thr->walks || !record)
        return lz_tracer_op(c, op, record, opnd, n);
    lz_attr_init(&a, record->kind);
    lz_attr_copy(&a.head, record);
    return lz_attr_drop_effects(&a.head) == LZ_OK ? lz_tracer_op(c, op, &a.head, opnd, n) : NULL;
}

lz_status lz_control_op(lz_op op, const lz_attr *record, lz_node *const *opnd, uint32_t n,
                        lz_node *const *captured, uint32_t ncaptured, lz_node **results,
                        const lz_site *site)
{
    lz_tracer c;
    size_t total = (size_t)n + ncaptured;
    lz_node **all = lz_alloc((total + 1) * sizeof *all);
    if (!all)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu operands", total);
    if (n)
        memcpy(all, opnd, n * sizeof *all);
    if (ncaptured)
        memcpy(all + n, captured, ncaptured * sizeof *all);
    lz_tracer_begin(&c, lz_op_get(op)->text, site);
    lz_node *m = c.thr ? control_node(&c, op, record, all, (uint32_t)total) : NULL;
    lz_status s = m ? lz_effects_note(c.thr, m) : lz_error_get()->status;
    uint32_t got = 0;
    for (; s == LZ_OK && got < m->sig->nresult; got++) {
        lz_node *r = lz_tracer_result(&c, m, got);
        s = r ? LZ_OK : lz_error_get()->status;
        if (s == LZ_OK && r != m)
            s = lz_effects_note(c.thr, r);
        if (s != LZ_OK)
            break;
        lz_node_retain(results[got] = r);
    }
    while (s != LZ_OK && got > 0)
        lz_node_release(results[--got]);
    lz_tracer_drop(&c);
    lz_free(all);
    return s;
}

/* ---- pieces of loops ---- */

/* Zeros, to be overwritten. */
lz_node *lz_node_new_zeros(const lz_type *t, lz_dev *dev, const lz_site *site)
{
    lz_tracer c;
    lz_node *like = NULL, *z = NULL;
    static const lz_shape scalar;
    static const unsigned char zero[LZ_NODE_IMM];
    lz_tracer_begin(&c, "zeros", site);
    const lz_type *one = c.thr ? lz_type_get(t->dtype, &scalar) : NULL;
    if (one)
        like = lz_tracer_own(&c, lz_node_new_host(LZ_NODE_CONST, one, zero, dev, site));
    z = like ? lz_tracer_fill(&c, like, &t->shape) : NULL;
    if (z)
        lz_node_retain(z);
    lz_tracer_drop(&c);
    return z;
}

lz_status lz_control_count(const lz_func *body, int64_t trip_count, lz_node *const *opnd,
                           uint32_t n, uint32_t ncarried, lz_dev *dev, lz_node **results,
                           const lz_site *site)
{
    static const lz_shape scalar;
    lz_attr_any a;
    const int64_t zero = 0;
    const lz_type *t = lz_type_get(LZ_I64, &scalar);
    lz_attr_init(&a, LZ_ATTR_loop);
    LZ_TRY(lz_count_regions(body, trip_count, ncarried, &a.as_loop));
    lz_node *first = t ? lz_node_new_host(LZ_NODE_CONST, t, &zero, dev, site) : NULL;
    lz_node **r = lz_calloc((size_t)ncarried + 1, sizeof *r);
    lz_status s = !r      ? LZ_FAIL(LZ_EMEM, "no memory for %u results", ncarried)
                  : first ? lz_control_op(LZ_OP_WHILE, &a.head, &first, 1, opnd, n, r, site)
                          : lz_error_get()->status;
    if (s == LZ_OK) {
        lz_node_release(r[0]);
        memcpy(results, r + 1, ncarried * sizeof *results);
    }
    lz_node_release(first);
    lz_free(r);
    return s;
}
