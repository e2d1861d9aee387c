/* jvp.c - forward-mode differentiation of the traced graph: lz_jvp. One walk gives the nodes in
 * topological order; a sweep in that order applies each operation's rule where a tangent arrives.
 * Everything the rules record lies in one scope, of which only the results escape.
 * Threads: holds the device's trace lock while it walks. */
#include "autodiff/jvp.h"
#include "autodiff/request.h"
#include "autodiff/vjp_table.h"
#include "base/alloc.h"
#include "base/status.h"
#include <lazuli/grad.h>
#include <string.h>

typedef struct forward {
    lz_node **order;
    uint32_t n;
    struct lz_dev *dev;
    uint64_t since;    /* nodes before it are leaves */
    lz_tensor **value; /* handle of node i, made when a rule wants it */
    lz_tensor **tan;   /* tangent of node i; NULL: zero */
    lz_tensor ***tans; /* per result, of operations with several */
    bool *wanted;      /* an output's tangent needs that of node i */
    lz_arena arena;
} forward;

static lz_jvp_fn *const rules[LZ_OP_COUNT] = {
#define LZ_EW(E, ...) [LZ_OP_##E] = lz_jvp_diagonal,
#define LZ_OP(E, text, cls, arity, attr, dtypes, flags, infer, vjp, jvp, ...)                      \
    [LZ_OP_##E] = lz_jvp_##jvp,
#include "ir/ops.def"
};

/* A leaf, or piecewise constant: tangents neither arrive nor pass. */
lz_status lz_jvp_zero(const lz_jvp *j)
{
    (void)j;
    return LZ_OK;
}
lz_status lz_jvp_none(const lz_jvp *j)
{
    return j->sig->nopnd
               ? LZ_FAIL(LZ_EGRAD, "%s has no rule of its derivative", lz_op_get(j->sig->op)->text)
               : LZ_OK;
}
lz_status lz_jvp_result(const lz_jvp *j)
{
    (void)j;
    return LZ_FAIL(LZ_EINTERNAL, "the rule of `result` is the forward pass's own");
}

static lz_status open_forward(forward *w)
{
    size_t n = (size_t)w->n + 1;
    w->value = lz_arena_alloc(&w->arena, n * sizeof *w->value);
    w->tan = lz_arena_alloc(&w->arena, n * sizeof *w->tan);
    w->tans = lz_arena_alloc(&w->arena, n * sizeof *w->tans);
    w->wanted = lz_arena_alloc(&w->arena, n * sizeof *w->wanted);
    return w->value && w->tan && w->tans && w->wanted
               ? LZ_OK
               : LZ_FAIL(LZ_EMEM, "no memory to differentiate a graph of %u operations", w->n);
}

static bool in_graph(const forward *w, const lz_node *n)
{
    return n->dev == w->dev && n->index < w->n && w->order[n->index] == n;
}

static lz_tensor *value_of(forward *w, lz_node *n)
{
    if (!w->value[n->index])
        w->value[n->index] = lz_trace_tensor_of(n, n->site);
    return w->value[n->index];
}

/* Tangents of the operands of n can make one of n. */
static bool goes_on(const forward *w, const lz_node *n)
{
    return lz_node_has_history(n) && !lz_node_before(n, w->since) && !(n->flags & LZ_NODE_NOGRAD);
}

static bool passes(const forward *w, const lz_node *n)
{
    lz_op op = lz_node_op(n);
    if (!goes_on(w, n) || lz_vjp_rule_of(op).projects)
        return false;
    if (lz_op_get(op)->cls == LZ_CLASS_EW && lz_vjp_rule_of(op).blocks)
        return false;
    if (n->sig->nresult == 1 && !lz_has_gradient(lz_node_type(n)))
        return false;
    for (uint32_t i = 0; i < n->sig->nopnd; i++)
        if (w->tan[n->opnd[i]->index])
            return true;
    return false;
}

static lz_status apply_rule(forward *w, lz_node *n)
{
    const lz_sig *sig = n->sig;
    lz_tensor **opnd = lz_arena_alloc(&w->arena, sig->nopnd * sizeof *opnd);
    lz_tensor **tan = lz_arena_alloc(&w->arena, sig->nopnd * sizeof *tan);
    lz_tensor **out = lz_arena_alloc(&w->arena, sig->nresult * sizeof *out);
    if (!opnd || !tan || !out)
        return LZ_FAIL(LZ_EMEM, "no memory to differentiate");
    for (uint32_t i = 0; i < sig->nopnd; i++) {
        opnd[i] = value_of(w, n->opnd[i]);
        tan[i] = w->tan[n->opnd[i]->index];
    }
    lz_jvp j = {.sig = sig, .opnd = opnd, .tan = tan, .out = out, .site = n->site};
    j.result = sig->nresult == 1 ? value_of(w, n) : NULL;
    LZ_TRY(rules[sig->op](&j));
    for (uint32_t k = 0; k < sig->nresult; k++)
        if (out[k])
            LZ_TRY(lz_status_of(out[k]));
    if (sig->nresult == 1)
        w->tan[n->index] = out[0];
    else
        w->tans[n->index] = out;
    return LZ_OK;
}

static void find_wanted(forward *w, lz_node *const *out, size_t nout)
{
    for (size_t k = 0; k < nout; k++)
        w->wanted[out[k]->index] = true;
    for (uint32_t i = w->n; i-- > 0;) {
        const lz_node *n = w->order[i];
        for (uint32_t k = 0; w->wanted[i] && goes_on(w, n) && k < n->sig->nopnd; k++)
            w->wanted[n->opnd[k]->index] |= lz_jvp_wants(n->sig, k);
    }
}

/* given: the node is an input, whose tangent is given. */
static lz_status sweep(forward *w, const bool *given)
{
    for (uint32_t i = 0; i < w->n; i++) {
        lz_node *n = w->order[i];
        if (given[i] || !w->wanted[i])
            continue;
        if (lz_node_is_lost(n) && !lz_node_before(n, w->since) && lz_has_gradient(lz_node_type(n)))
            return lz_request_lost(n);
        if (lz_vjp_rule_of(lz_node_op(n)).projects && goes_on(w, n)) {
            lz_tensor **all = w->tans[n->opnd[0]->index];
            w->tan[i] = all ? all[LZ_ATTR(index, n->sig->attr)->index] : NULL;
        } else if (passes(w, n)) {
            LZ_TRY(apply_rule(w, n));
        }
    }
    return LZ_OK;
}

/* ---- one call ---- */

typedef struct request {
    lz_node **out, **in; /* owned */
    size_t nout, nin;
    lz_tensor *const *tangents;
    bool allow_unused;
    const lz_site *site;
} request;

static lz_status check_input(const request *q, size_t i)
{
    const lz_type *t = lz_node_type(q->in[i]);
    char text[128];
    if (!lz_has_gradient(t))
        return LZ_FAIL(LZ_EDTYPE, "input %zu is %s; only floats and complex numbers have a tangent",
                       i, lz_type_short(t, text, sizeof text));
    if (!q->tangents[i])
        return LZ_FAIL(LZ_ENULL, "tangent %zu is NULL", i);
    LZ_TRY(lz_status_of(q->tangents[i]));
    lz_shape s = lz_shape_of(q->tangents[i]);
    if (!lz_shape_eq(&s, &t->shape) || lz_dtype_of(q->tangents[i]) != t->dtype)
        return LZ_FAIL(LZ_ESHAPE, "tangent %zu must be %s as its input is", i,
                       lz_type_short(t, text, sizeof text));
    return LZ_OK;
}

static lz_status start(forward *w, const request *q, bool *given)
{
    for (size_t i = 0; i < q->nin; i++) {
        lz_node *n = q->in[i];
        if (!in_graph(w, n)) {
            if (q->allow_unused)
                continue;
            return LZ_FAIL(LZ_EGRAD,
                           "no output depends on input %zu through anything pending: a step, an "
                           "assignment or lz_detach lies between, or it was not used; allow_unused "
                           "takes it as it is",
                           i);
        }
        given[n->index] = true;
        w->tan[n->index] = lz_j_sum(w->tan[n->index], q->tangents[i], q->site);
    }
    return LZ_OK;
}

static lz_status differentiate(const request *q, lz_tensor **out)
{
    forward w = {.dev = q->out[0]->dev, .since = lz_node_oldest(q->in, q->nin)};
    struct lz_dev *here = lz_trace_use_device(
        w.dev); /* tensors that rules create without operands are on the output's device */
    lz_trace_lock(w.dev);
    lz_status s = lz_trace_history(q->out, (uint32_t)q->nout, w.since, &w.order, &w.n);
    bool *given = s == LZ_OK ? lz_arena_alloc(&w.arena, (size_t)w.n + 1) : NULL;
    if (s == LZ_OK)
        s = given ? open_forward(&w) : LZ_FAIL(LZ_EMEM, "no memory to differentiate");
    if (s == LZ_OK) {
        find_wanted(&w, q->out, q->nout);
        s = start(&w, q, given);
    }
    if (s == LZ_OK)
        s = sweep(&w, given);
    for (size_t k = 0; k < q->nout && s == LZ_OK; k++) {
        lz_tensor *t = w.tan[q->out[k]->index];
        out[k] = t ? t : lz_j_zeros(lz_node_type(q->out[k]), q->site);
        s = lz_status_of(out[k]);
    }
    lz_trace_unlock(w.dev);
    (void)lz_trace_use_device(here);
    lz_free(w.order);
    lz_arena_free(&w.arena);
    return s;
}

static lz_status resolve(lz_tensor *const *t, size_t n, const char *what, lz_node **nodes)
{
    for (size_t i = 0; i < n; i++) {
        if (!t[i])
            return LZ_FAIL(LZ_ENULL, "%s %zu is NULL", what, i);
        if (!(nodes[i] = lz_trace_node_of(t[i])))
            return lz_error_get()->status;
        if (nodes[i]->dev != nodes[0]->dev && !lz_node_is_host(nodes[i]))
            return LZ_FAIL(LZ_EINVAL, "%s %zu is on another device than the first", what, i);
    }
    return LZ_OK;
}

static lz_status run(request *q, lz_tensor *const *outputs, lz_tensor *const *inputs,
                     lz_tensor **out)
{
    q->out = lz_calloc(q->nout + 1, sizeof *q->out);
    q->in = lz_calloc(q->nin + 1, sizeof *q->in);
    if (!q->out || !q->in)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu tangents", q->nin + q->nout);
    LZ_TRY(resolve(outputs, q->nout, "output", q->out));
    LZ_TRY(resolve(inputs, q->nin, "input", q->in));
    for (size_t i = 0; i < q->nin; i++)
        LZ_TRY(check_input(q, i));
    return differentiate(q, out);
}

static void close_request(request *q)
{
    for (size_t k = 0; q->out && k < q->nout; k++)
        lz_node_release(q->out[k]);
    for (size_t i = 0; q->in && i < q->nin; i++)
        lz_node_release(q->in[i]);
    lz_free(q->out);
    lz_free(q->in);
}

lz_status lz_jvp_at(lz_tensor *const *outputs, size_t nout, lz_tensor *const *inputs,
                    lz_tensor *const *tangents, size_t nin, lz_tensor **out,
                    const lz_jvp_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_api_frame frame = lz_api_enter("lz_jvp", site);
    request q = {.nout = nout,
                 .nin = nin,
                 .tangents = tangents,
                 .allow_unused = o && o->allow_unused,
                 .site = site};
    lz_status s = LZ_OK;
    if (!outputs || !out || (nin && (!inputs || !tangents)))
        s = LZ_FAIL(LZ_ENULL, "%s is NULL",
                    !outputs  ? "the list of outputs"
                    : !out    ? "the list of results"
                    : !inputs ? "the list of inputs"
                              : "the list of tangents");
    if (s == LZ_OK && nout == 0)
        s = LZ_FAIL(LZ_EINVAL, "there are no outputs");
    if (s == LZ_OK && (s = lz_scope_begin()) == LZ_OK) {
        s = run(&q, outputs, inputs, out);
        lz_request_close_scope(s, out, nout);
        close_request(&q);
    }
    return lz_request_finish(&frame, "lz_jvp", s, out, nout, site);
}
