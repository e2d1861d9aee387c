/* grad.c - reverse-mode differentiation of the traced graph: lz_grad, lz_backward. One walk gives
 * the nodes in topological order; a forward sweep marks those that depend on a parameter; a
 * backward sweep applies each operation's rule and accumulates the gradients. Everything the rules
 * record lies in one scope, of which only the results escape.
 * Threads: holds the device's trace lock while it walks; the gradient state of a handle is the
 *   runtime's. */
#include "autodiff/request.h"
#include "autodiff/vjp_softmax.h"
#include "autodiff/vjp_table.h"
#include "base/alloc.h"
#include "base/status.h"
#include <lazuli/grad.h>
#include <lazuli/hlo.h>
#include <string.h>

typedef struct reverse {
    lz_node **order;
    uint32_t n;
    struct lz_dev *dev; /* of all of them */
    uint64_t since;     /* nodes before it are leaves */
    bool *need;         /* node i depends on a parameter through differentiable operations */
    bool *param;        /* node i is a parameter: its gradient is a result */
    lz_tensor **value;  /* handle of node i, made when a rule wants it */
    lz_tensor **adj;    /* gradient of node i so far (operations with one result) */
    lz_tensor ***adjs;  /* gradients per result, for operations with several */
    lz_arena arena;
} reverse;

/* A gradient that arrives at n may go on to its operands. */
static bool differentiable(const reverse *r, const lz_node *n)
{
    return lz_node_has_history(n) && !lz_node_before(n, r->since) && !(n->flags & LZ_NODE_NOGRAD) &&
           !lz_vjp_rule_of(lz_node_op(n)).blocks &&
           (n->sig->nresult != 1 || lz_has_gradient(lz_node_type(n)));
}

static bool passes(const reverse *r, const lz_node *n)
{
    if (!differentiable(r, n))
        return false;
    for (uint32_t i = 0; i < n->sig->nopnd; i++)
        if (r->need[n->opnd[i]->index])
            return true;
    return false;
}

/* Nodes of another device are not part of the walk; their index belongs to that device's
 * walkers. */
static bool in_graph(const reverse *r, const lz_node *n)
{
    return n && n->dev == r->dev && n->index < r->n && r->order[n->index] == n;
}

static lz_status sweep_forward(reverse *r, lz_node *const *params, size_t nparam)
{
    r->need = lz_arena_alloc(&r->arena, r->n * sizeof *r->need);
    r->param = lz_arena_alloc(&r->arena, r->n * sizeof *r->param);
    r->value = lz_arena_alloc(&r->arena, r->n * sizeof *r->value);
    r->adj = lz_arena_alloc(&r->arena, r->n * sizeof *r->adj);
    r->adjs = lz_arena_alloc(&r->arena, r->n * sizeof *r->adjs);
    if (!r->need || !r->param || !r->value || !r->adj || !r->adjs)
        return LZ_FAIL(LZ_EMEM, "no memory to differentiate a graph of %u operations", r->n);
    for (size_t p = 0; p < nparam; p++)
        if (in_graph(r, params[p]))
            r->need[params[p]->index] = r->param[params[p]->index] = true;
    for (uint32_t i = 0; i < r->n; i++)
        r->need[i] = r->need[i] || passes(r, r->order[i]);
    return LZ_OK;
}

static void mark_arrivals(const reverse *r, const lz_node *loss, bool *arrives)
{
    arrives[loss->index] = true;
    for (uint32_t i = r->n; i-- > 0;) {
        const lz_node *n = r->order[i];
        for (uint32_t k = 0; arrives[i] && differentiable(r, n) && k < n->sig->nopnd; k++)
            arrives[n->opnd[k]->index] = true;
    }
}

/* LZ_EGRAD when a gradient would arrive at a node that has lost its history, and that a parameter
 * may be older than: what flows through it would be missing in the parameter's. */
static lz_status check_history(reverse *r, const lz_node *loss)
{
    bool *arrives = NULL;
    for (uint32_t i = r->n; i-- > 0;) {
        const lz_node *n = r->order[i];
        bool lost = lz_node_is_lost(n) && !r->param[i] && !lz_node_before(n, r->since);
        if (lost && !arrives) {
            arrives = lz_arena_alloc(&r->arena, r->n * sizeof *arrives);
            if (!arrives)
                return LZ_FAIL(LZ_EMEM, "no memory to differentiate");
            mark_arrivals(r, loss, arrives);
        }
        if (lost && arrives[i] && lz_has_gradient(lz_node_type(n)))
            return lz_request_lost(n);
    }
    return LZ_OK;
}

static lz_tensor *sum(lz_tensor *a, lz_tensor *b, const lz_site *site)
{
    lz_tensor *x[2] = {a, b};
    return a ? lz_hlo_ew_at("add", x, 2, site) : b;
}

static lz_status give(reverse *r, const lz_node *to, lz_tensor *g, const lz_site *site)
{
    if (!g)
        return LZ_OK;
    LZ_TRY(lz_status_of(g));
    r->adj[to->index] = sum(r->adj[to->index], g, site);
    return LZ_OK;
}

/* `result` nodes: the gradient is accumulated per result of the operation. */
static lz_status project(reverse *r, const lz_node *n)
{
    const lz_node *op = n->opnd[0];
    lz_tensor ***slot = &r->adjs[op->index];
    if (!*slot && !(*slot = lz_arena_alloc(&r->arena, op->sig->nresult * sizeof **slot)))
        return LZ_FAIL(LZ_EMEM, "no memory to differentiate");
    int64_t k = LZ_ATTR(index, n->sig->attr)->index;
    (*slot)[k] = sum((*slot)[k], r->adj[n->index], n->site);
    return LZ_OK;
}

static lz_tensor *value_of(reverse *r, lz_node *n)
{
    if (!r->value[n->index])
        r->value[n->index] = lz_trace_tensor_of(n, n->site);
    return r->value[n->index];
}

static lz_status apply_rule(reverse *r, lz_node *n, lz_vjp_fn rule)
{
    const lz_sig *sig = n->sig;
    lz_tensor **opnd = lz_arena_alloc(&r->arena, sig->nopnd * sizeof *opnd);
    lz_tensor **grad_in = lz_arena_alloc(&r->arena, sig->nopnd * sizeof *grad_in);
    bool *need = lz_arena_alloc(&r->arena, sig->nopnd * sizeof *need);
    if (!opnd || !grad_in || !need)
        return LZ_FAIL(LZ_EMEM, "no memory to differentiate");
    for (uint32_t i = 0; i < sig->nopnd; i++) {
        opnd[i] = value_of(r, n->opnd[i]);
        need[i] = r->need[n->opnd[i]->index] && lz_has_gradient(sig->opnd[i]);
    }
    lz_vjp v = {.sig = sig, .opnd = opnd, .need = need, .grad_in = grad_in, .site = n->site};
    v.result = sig->nresult == 1 ? value_of(r, n) : NULL;
    v.grad_out = sig->nresult == 1 ? &r->adj[n->index] : r->adjs[n->index];
    LZ_TRY(rule(&v));
    for (uint32_t i = 0; i < sig->nopnd; i++)
        if (need[i])
            LZ_TRY(give(r, n->opnd[i], grad_in[i], n->site));
    return LZ_OK;
}

/* A softmax whose inner operations get gradients from nowhere else: one rule gives the gradient of
 * the exponential's operand. */
static bool is_softmax(const reverse *r, const lz_node *n, lz_softmax *m)
{
    if (!lz_softmax_match(n, m))
        return false;
    const lz_node *begin = lz_softmax_sum(m)->opnd[1];
    if (in_graph(r, begin) && r->need[begin->index])
        return false;
    for (uint32_t i = 0; i < m->ninner; i++) {
        const lz_node *x = m->inner[i];
        if (!in_graph(r, x) || r->param[x->index] || !passes(r, x))
            return false;
    }
    return true;
}

static lz_status apply(reverse *r, lz_node *n)
{
    lz_vjp_rule rule = lz_vjp_rule_of(lz_node_op(n));
    lz_softmax m;
    if (rule.projects)
        return project(r, n);
    if (!is_softmax(r, n, &m))
        return apply_rule(r, n, rule.fn);
    return give(r, m.z, lz_softmax_vjp(&m, value_of(r, n), r->adj[n->index], n->site), n->site);
}

static lz_status sweep_backward(reverse *r)
{
    for (uint32_t i = r->n; i-- > 0;) {
        lz_node *n = r->order[i];
        if (!r->need[i] || !passes(r, n) || !(r->adj[i] || r->adjs[i]))
            continue;
        lz_name_gradients_of(lz_thread_state_self, n->scope);
        LZ_TRY(apply(r, n));
    }
    return LZ_OK;
}

static lz_tensor *ones_like(const lz_type *t, const lz_site *site)
{
    lz_tensor *one = lz_hlo_constant_at(t->dtype, 1, site);
    return t->shape.rank ? lz_hlo_broadcast_in_dim_at(one, t->shape, NULL, 0, site) : one;
}

/* The gradient of parameter `p`; NULL when the loss does not depend on it. */
static lz_status collect(reverse *r, lz_node *const *params, size_t n, lz_tensor **grads,
                         bool *reached, const lz_site *site)
{
    for (size_t p = 0; p < n; p++) {
        reached[p] = in_graph(r, params[p]);
        grads[p] = reached[p] ? r->adj[params[p]->index] : NULL;
        if (reached[p] &&
            !grads[p]) { /* it depends only through operations whose gradient is zero */
            const lz_type *t = lz_node_type(params[p]);
            lz_tensor *zero = lz_hlo_constant_at(t->dtype, 0, site);
            grads[p] =
                t->shape.rank ? lz_hlo_broadcast_in_dim_at(zero, t->shape, NULL, 0, site) : zero;
        }
        if (grads[p])
            LZ_TRY(lz_status_of(grads[p]));
    }
    return LZ_OK;
}

/* The backward pass, inside an open scope. */
static lz_status differentiate(lz_node *loss, lz_tensor *seed, lz_node *const *params, size_t n,
                               lz_tensor **grads, bool *reached, const lz_site *site)
{
    reverse r = {.dev = loss->dev, .since = lz_node_oldest(params, n)};
    /* tensors that rules create without operands are on the loss's device */
    struct lz_dev *here = lz_trace_use_device(loss->dev);
    lz_trace_lock(loss->dev);
    lz_status s = lz_trace_history(&loss, 1, r.since, &r.order, &r.n);
    if (s == LZ_OK)
        s = sweep_forward(&r, params, n);
    if (s == LZ_OK)
        s = check_history(&r, loss);
    if (s == LZ_OK) {
        r.adj[loss->index] = seed ? seed : ones_like(lz_node_type(loss), site);
        s = lz_status_of(r.adj[loss->index]);
    }
    bool named = s == LZ_OK && (s = lz_name_gradients_begin(lz_thread_state_self)) == LZ_OK;
    if (s == LZ_OK)
        s = sweep_backward(&r);
    if (named)
        lz_name_gradients_end(lz_thread_state_self);
    if (s == LZ_OK)
        s = collect(&r, params, n, grads, reached, site);
    lz_trace_unlock(loss->dev);
    (void)lz_trace_use_device(here);
    lz_free(r.order);
    lz_arena_free(&r.arena);
    return s;
}

/* ---- arguments ---- */
static lz_status check_loss(const lz_node *loss, lz_tensor *seed)
{
    const lz_type *t = lz_node_type(loss);
    char have[96];
    lz_type_short(t, have, sizeof have);
    if (!lz_has_gradient(t))
        return LZ_FAIL(LZ_EDTYPE, "the loss is %s; only floats and complex numbers have a gradient",
                       have);
    if (!seed && lz_dtype_is_complex(t->dtype))
        return LZ_FAIL(LZ_EDTYPE, "the loss is %s; without grad_output it must be real", have);
    if (!seed && t->nelem != 1)
        return LZ_FAIL(LZ_ESHAPE, "the loss is %s; without grad_output it must have one element",
                       have);
    if (!seed)
        return LZ_OK;
    lz_node *n = lz_trace_node_of(seed);
    if (!n)
        return lz_error_get()->status;
    bool same = lz_node_type(n) == t;
    lz_node_release(n);
    return same ? LZ_OK : LZ_FAIL(LZ_ESHAPE, "grad_output must be %s as the loss is", have);
}

/* marked: parameters without a value (a temporary dropped by the step, or one just released by
 * another thread) are skipped, because no loss can depend on them. */
static lz_status resolve(lz_tensor *const *params, size_t n, lz_node **nodes, bool marked)
{
    lz_error before = *lz_error_get();
    for (size_t i = 0; i < n; i++) {
        if (!params[i])
            return LZ_FAIL(LZ_ENULL, "parameter %zu is NULL", i);
        nodes[i] = lz_trace_node_of(params[i]);
        if (!nodes[i] && !marked)
            return lz_error_get()->status;
        if (!nodes[i]) {
            lz_error_set(&before);
            continue;
        }
        if (!lz_has_gradient(lz_node_type(nodes[i])))
            return LZ_FAIL(
                LZ_EDTYPE,
                "parameter %zu is of %s; only floats and complex numbers have a gradient", i,
                lz_dtype_name(lz_node_type(nodes[i])->dtype));
    }
    return LZ_OK;
}

static void release_nodes(lz_node **nodes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        lz_node_release(nodes[i]);
}

static lz_status unreachable(lz_tensor *param, size_t i)
{
    char where[160];
    return LZ_FAIL(LZ_EGRAD,
                   "the loss does not depend on parameter %zu through anything pending (%s): a "
                   "step, an assignment or lz_detach "
                   "lies between, or it was not used; allow_unused gives zeros",
                   i, *lz_trace_describe(param, where, sizeof where) ? where : "never assigned");
}

typedef struct request {
    lz_tensor *loss, *seed;
    lz_tensor *const *params;
    size_t n;
    bool marked;     /* lz_backward's: all marked tensors */
    lz_node **nodes; /* nodes of the parameters */
    bool *reached;
    lz_node *loss_node;
} request;

static lz_status open_request(request *q)
{
    q->nodes = lz_calloc(q->n + 1, sizeof *q->nodes);
    q->reached = lz_calloc(q->n + 1, sizeof *q->reached);
    if (!q->nodes || !q->reached)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu gradients", q->n);
    q->loss_node = lz_trace_node_of(q->loss);
    if (!q->loss_node)
        return lz_error_get()->status;
    LZ_TRY(check_loss(q->loss_node, q->seed));
    return resolve(q->params, q->n, q->nodes, q->marked);
}

static void close_request(request *q)
{
    if (q->nodes)
        release_nodes(q->nodes, q->n);
    lz_node_release(q->loss_node);
    lz_free(q->nodes);
    lz_free(q->reached);
}

static lz_status grads_of(request *q, lz_tensor **grads, bool allow_unused, const lz_site *site)
{
    LZ_TRY(open_request(q));
    LZ_TRY(differentiate(q->loss_node, q->seed, q->nodes, q->n, grads, q->reached, site));
    for (size_t i = 0; i < q->n; i++) {
        if (!q->reached[i] && !allow_unused)
            return unreachable(q->params[i], i);
        if (!q->reached[i])
            grads[i] = lz_zeros_at(lz_dtype_of(q->params[i]), lz_shape_of(q->params[i]), site);
    }
    return LZ_OK;
}

/* ---- public ---- */
lz_status lz_grad_at(lz_tensor *loss, lz_tensor *const *params, size_t n, lz_tensor **grads,
                     const lz_grad_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_api_frame frame = lz_api_enter("lz_grad", site);
    request q = {.loss = loss, .params = params, .n = n, .seed = o ? o->grad_output : NULL};
    lz_status s = LZ_OK;
    if (!loss || (n && (!params || !grads)))
        s = LZ_FAIL(LZ_ENULL, "%s is NULL",
                    !loss     ? "the loss"
                    : !params ? "the list of parameters"
                              : "the list of gradients");
    if (s == LZ_OK && (s = lz_scope_begin()) == LZ_OK) {
        s = grads_of(&q, grads, o && o->allow_unused, site);
        lz_request_close_scope(s, grads, n);
        close_request(&q);
    }
    return lz_request_finish(&frame, "lz_grad", s, grads, n, site);
}

/* Accumulates the new gradients into those of the parameters. */
static lz_status accumulate(const request *q, lz_tensor **grads, const lz_site *site)
{
    bool any = false;
    for (size_t i = 0; i < q->n; i++)
        if (q->reached[i])
            LZ_TRY(lz_trace_may_set_grad(q->params[i]));
    for (size_t i = 0; i < q->n; i++) {
        if (!q->reached[i])
            continue;
        any = true;
        lz_tensor *g = sum(lz_trace_grad(q->params[i]), grads[i], site);
        LZ_TRY(lz_status_of(g));
        LZ_TRY(lz_trace_set_grad(q->params[i], g));
    }
    if (!any)
        return LZ_FAIL(LZ_EGRAD,
                       "the loss depends on no tensor marked with lz_requires_grad (%zu are "
                       "marked): a step, an assignment or "
                       "lz_detach lies between, or none was used",
                       q->n);
    return LZ_OK;
}

lz_status lz_backward_at(lz_tensor *loss, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_api_frame frame = lz_api_enter("lz_backward", site);
    lz_tensor **marked = NULL, **grads = NULL;
    request q = {.loss = loss, .marked = true};
    lz_status s = loss ? LZ_OK : LZ_FAIL(LZ_ENULL, "the loss is NULL");
    if (s == LZ_OK) {
        q.n = lz_trace_marked(NULL, 0);
        marked = lz_calloc(q.n + 1, sizeof *marked);
        grads = lz_calloc(q.n + 1, sizeof *grads);
        if (!marked || !grads)
            s = LZ_FAIL(LZ_EMEM, "no memory for %zu gradients", q.n);
    }
    if (s == LZ_OK && (s = lz_scope_begin()) == LZ_OK) {
        size_t live = lz_trace_marked(marked, q.n);
        q.n = live < q.n ? live : q.n;
        q.params = marked;
        s = open_request(&q);
        if (s == LZ_OK)
            s = differentiate(q.loss_node, NULL, q.nodes, q.n, grads, q.reached, site);
        if (s == LZ_OK)
            s = accumulate(&q, grads, site);
        lz_request_close_scope(s, NULL, 0);
        close_request(&q);
    }
    lz_free(marked);
    lz_free(grads);
    return lz_request_finish(&frame, "lz_backward", s, NULL, 0, site);
}

lz_status lz_requires_grad(lz_tensor *t, bool on)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_api_frame frame = lz_api_enter("lz_requires_grad", NULL);
    lz_node *n = lz_trace_node_of(t);
    lz_status s = n ? LZ_OK : t ? lz_error_get()->status : LZ_FAIL(LZ_ENULL, "the tensor is NULL");
    if (s == LZ_OK && on && !lz_has_gradient(lz_node_type(n)))
        s = LZ_FAIL(LZ_EDTYPE,
                    "the tensor is of %s; only floats and complex numbers have a gradient",
                    lz_dtype_name(lz_node_type(n)->dtype));
    lz_node_release(n);
    if (s == LZ_OK)
        s = lz_trace_set_requires_grad(t, on);
    if (s != LZ_OK)
        lz_api_status(s);
    return lz_api_leave_update(&frame, s);
}

lz_tensor *lz_grad_of(lz_tensor *t)
{
    LZ_PUBLIC(LZ_FORK_TENSOR);
    return t ? lz_trace_grad(t) : NULL;
}

lz_status lz_zero_grad(lz_tensor *const *params, size_t n)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_api_frame frame = lz_api_enter("lz_zero_grad", NULL);
    lz_status s = params || !n ? LZ_OK : LZ_FAIL(LZ_ENULL, "the list of parameters is NULL");
    for (size_t i = 0; i < n && s == LZ_OK; i++)
        s = params[i] ? lz_trace_set_grad(params[i], NULL)
                      : LZ_FAIL(LZ_ENULL, "parameter %zu is NULL", i);
    if (s != LZ_OK)
        lz_api_status(s);
    return lz_api_leave_update(&frame, s);
}

lz_tensor *lz_detach_at(lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_api_frame frame = lz_api_enter("lz_detach", site);
    lz_node *n = lz_trace_node_of(x), *d = n ? lz_node_new_detached(n, site) : NULL;
    lz_tensor *t = d ? lz_trace_tensor_of(d, site) : lz_trace_error_tensor("lz_detach", site);
    lz_node_release(d);
    lz_node_release(n);
    return lz_api_leave_with(&frame, t);
}
