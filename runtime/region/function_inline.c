/* function_inline.c - calls of traced functions inside of bodies that are being recorded: the
 * function's operations are recorded again there. What it takes from outside and what it leaves
 * there is then the enclosing function's; bodies that run any number of times refuse state. */
#include "runtime/graph/trace_builder.h"
#include "runtime/region/function.h"
#include <string.h>

static lz_status may_leave_state(const lz_variant *v)
{
    for (uint32_t i = 0; i < v->states.len; i++) {
        const lz_function_state *x = &v->states.data[i];
        const lz_tensor *t = lz_handle_of_bits(x->handle);
        if (x->kind != LZ_STATE_TENSOR)
            LZ_TRY(lz_trace_may_set_grad(t));
        else
            LZ_TRY(lz_outside_may_assign(t));
    }
    return LZ_OK;
}

/* What the callback did on the host, in its order: *given is owned, NULL for effects. */
static lz_status event(lz_tracer *c, const lz_host_event *e, lz_node **given)
{
    lz_tensor *t;
    switch (e->kind) {
    case LZ_EVENT_ACTION:
        return lz_host_act(e->host, &e->action, e->data, e->ndata);
    case LZ_EVENT_SEED:
        return lz_recording_seed(e->dev, e->seed);
    case LZ_EVENT_DRAW:
        if (!(*given = lz_tracer_rng_state(c, e->dev, e->blocks)))
            return lz_error_get()->status;
        lz_node_retain(*given);
        return LZ_OK;
    case LZ_EVENT_NUMBER:
        t = lz_host_number(e->host, e->number, e->data, e->ndata, e->type->dtype, c->site);
        if (!(*given = lz_trace_node_of(t)))
            return lz_error_get()->status;
        return lz_release(t);
    }
    return LZ_OK;
}

static lz_node *leaf_of(const lz_function_leaf *l, lz_node *const *in, lz_node *const *given)
{
    lz_tensor *t = lz_handle_of_bits(l->handle);
    if (l->handle)
        return lz_trace_node_of(l->kind == LZ_LEAF_GRAD ? lz_trace_grad(t) : t);
    lz_node *n = l->kind == LZ_LEAF_INPUT  ? in[l->index]
                 : l->kind == LZ_LEAF_KEPT ? l->kept
                                           : given[l->index];
    lz_node_retain(n);
    return n;
}

static lz_status leave(const lz_function_state *x, lz_node *n, const lz_site *site)
{
    lz_tensor *t = lz_handle_of_bits(x->handle), *value = n ? lz_trace_tensor_of(n, site) : NULL;
    lz_status s = n ? lz_status_of(value) : LZ_OK;
    if (s == LZ_OK && x->kind == LZ_STATE_GRAD)
        s = lz_trace_set_grad(t, value);
    else if (s == LZ_OK)
        s = lz_assign_at(x->kind == LZ_STATE_GRAD_VALUE ? lz_trace_grad(t) : t, value, site);
    if (value)
        (void)lz_release(value);
    return s;
}

typedef struct nodes {
    lz_node **given, **leaf, **result; /* of events, leaves, results of the function: owned */
    uint32_t n;
} nodes;

static lz_status leave_states(const lz_variant *v, const nodes *x, const lz_site *site)
{
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i < v->states.len && s == LZ_OK; i++) {
        const lz_function_value *from = &v->states.data[i].value;
        lz_node *n = from->from == LZ_FROM_ROOT   ? x->result[v->root_result[from->index]]
                     : from->from == LZ_FROM_LEAF ? x->leaf[from->index]
                                                  : from->kept;
        s = leave(&v->states.data[i], n, site);
    }
    return s;
}

static lz_status inline_parts(const lz_variant *v, lz_node *const *in, const nodes *x, lz_tracer *c,
                              const lz_site *site)
{
    /* values of before: an action of the function's may make state that it takes */
    for (uint32_t i = 0; i < v->events.len; i++)
        LZ_TRY(event(c, &v->events.data[i], &x->given[i]));
    for (uint32_t i = 0; i < v->nleaf; i++)
        if (!(x->leaf[i] = leaf_of(&v->leaves[i], in, x->given)))
            return lz_error_get()->status;
    LZ_TRY(lz_region_perform(v->func, x->leaf, x->result, site));
    return leave_states(v, x, site);
}

static lz_status inline_variant(const lz_variant *v, lz_node *const *in, const nodes *x,
                                lz_tracer *c, const lz_site *site)
{
    LZ_TRY(may_leave_state(v));
    lz_status s = inline_parts(v, in, x, c, site);
    if (s != LZ_OK) /* some of its effects may be part of an enclosing function */
        lz_host_spoil();
    return s;
}

lz_status lz_function_inline(lz_function *f, lz_node *const *in, lz_node **results,
                             const lz_site *site)
{
    lz_variant *v;
    LZ_TRY(lz_function_variant(f, &v));
    uint32_t n = v->events.len + v->nleaf + v->func->nresult;
    nodes x = {.given = lz_calloc((size_t)n + 1, sizeof *x.given), .n = n};
    if (!x.given)
        return LZ_FAIL(LZ_EMEM, "no memory for a call of %u values", n);
    x.leaf = x.given + v->events.len;
    x.result = x.leaf + v->nleaf;
    lz_tracer c;
    lz_tracer_begin(&c, "lz_function_call", site);
    lz_status s = c.thr ? inline_variant(v, in, &x, &c, site) : lz_error_get()->status;
    for (int k = 0; k < f->nout && s == LZ_OK; k++)
        lz_node_retain(results[k] = x.result[v->root_result[v->result[k]]]);
    lz_tracer_drop(&c);
    for (uint32_t i = 0; i < n; i++)
        lz_node_release(x.given[i]);
    lz_free(x.given);
    return s;
}
