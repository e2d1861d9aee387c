/* vjp_control.c - gradients of loops and branches. The gradient of a region is traced on
 * placeholders for its parameters and for the gradients of its results, and becomes a region
 * itself. A counted loop is run again, stacking the carried values at the start of each iteration,
 * then backwards: each reverse iteration computes the gradients of the carried values before an
 * iteration from those after it, and accumulates those of the other operands. Where the loop's
 * value is wanted too, the compiler fuses its run with the one that stacks
 * (lower/passes/fuse_loops.c). Memory: one copy per iteration of what the gradient needs. */
#include "autodiff/vjp.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/attr.h"
#include "runtime/region/region_trace.h"
#include <lazuli/grad.h>
#include <string.h>

/* ---- the gradient of a region ---- */

/* What is differentiated: a region whose parameters are the first placeholders of the body;
 *   placeholder grad[k] is the gradient of result k (LZ_NOVAL: none arrives); the new region's
 *   results are the gradients of the parameters listed in `of`. */
typedef struct lz_region_vjp {
    const lz_func *f;
    const uint32_t *grad;
    const uint32_t *of;
    uint32_t nof;
} lz_region_vjp;

static lz_status record_vjp(const lz_vjp *v, lz_body *b, const lz_region_vjp *q, lz_node **room,
                            lz_tensor **t, const lz_func **out)
{
    const lz_func *f = q->f;
    lz_tensor *loss = NULL, **params = t, **grads = t + q->nof;
    LZ_TRY(lz_region_replay(f, b->placeholders.data, room, v->site));
    for (uint32_t k = 0; k < f->nresult; k++) {
        if (q->grad[k] != LZ_NOVAL)
            loss = lz_v_pair(v, lz_trace_tensor_of(room[k], v->site),
                             lz_trace_tensor_of(b->placeholders.data[q->grad[k]], v->site), loss);
        lz_node_release(room[k]);
        room[k] = NULL;
    }
    for (uint32_t i = 0; i < q->nof; i++)
        params[i] = lz_trace_tensor_of(b->placeholders.data[q->of[i]], v->site);
    LZ_TRY(
        lz_grad_at(loss, params, q->nof, grads, &(lz_grad_options){.allow_unused = true}, v->site));
    for (uint32_t i = 0; i < q->nof; i++)
        if (!(room[i] = lz_trace_node_of(grads[i])))
            return lz_error_get()->status;
    return lz_body_region(b, room, q->nof, out);
}

/* b is begun and has its placeholders. */
static lz_status region_vjp(const lz_vjp *v, lz_body *b, const lz_region_vjp *q,
                            const lz_func **out)
{
    size_t n = (size_t)q->f->nresult + q->nof + 1;
    lz_node **room = lz_calloc(n, sizeof *room);
    lz_tensor **t = lz_calloc(2 * (size_t)q->nof + 1, sizeof *t);
    lz_status s = room && t ? record_vjp(v, b, q, room, t, out)
                            : LZ_FAIL(LZ_EMEM, "no memory to differentiate a region");
    for (size_t i = 0; room && i < n; i++)
        lz_node_release(room[i]);
    lz_free(room);
    lz_free(t);
    return s;
}

static lz_status add_placeholders(lz_body *b, const lz_type *const *t, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!lz_body_placeholder(b, t[i]))
            return lz_error_get()->status;
    return LZ_OK;
}

/* The operands of an operation: owned. */
typedef LZ_VEC(lz_node *) nodes;

static lz_status push(nodes *v, lz_node *n)
{
    if (!n)
        return lz_error_get()->status;
    lz_status s = lz_vec_push(v, n);
    if (s != LZ_OK)
        lz_node_release(n);
    return s;
}

static lz_status push_tensor(nodes *v, lz_tensor *t)
{
    return push(v, lz_trace_node_of(t));
}

static lz_status push_retained(nodes *v, lz_node *n)
{
    lz_node_retain(n);
    return push(v, n);
}

static void nodes_free(nodes *v)
{
    for (uint32_t i = 0; i < v->len; i++)
        lz_node_release(v->data[i]);
    lz_vec_free(v);
}

/* ---- branches ---- */

typedef struct branches {
    const lz_vjp *v;
    uint32_t *of, nof; /* operands of the regions whose gradient is wanted */
    uint32_t *grad;    /* per result */
    nodes opnd;
} branches;

static lz_status vjp_branches(branches *x, lz_body *b, lz_attr_branches *a)
{
    const lz_vjp *v = x->v;
    const lz_attr_branches *from = LZ_ATTR(branches, v->sig->attr);
    uint32_t m = v->sig->nopnd - 1, ngrad = 0;
    LZ_TRY(add_placeholders(b, v->sig->opnd + 1, m));
    for (uint32_t k = 0; k < v->sig->nresult; k++) {
        x->grad[k] = LZ_NOVAL;
        if (!v->grad_out[k] || !lz_has_gradient(v->sig->result[k]))
            continue;
        x->grad[k] = m + ngrad++;
        LZ_TRY(add_placeholders(b, &v->sig->result[k], 1));
        LZ_TRY(push_tensor(&x->opnd, v->grad_out[k]));
    }
    lz_region_vjp q = {from->true_branch, x->grad, x->of, x->nof};
    LZ_TRY(region_vjp(v, b, &q, &a->true_branch));
    q.f = from->false_branch;
    LZ_TRY(region_vjp(v, b, &q, &a->false_branch));
    LZ_TRY(lz_body_widen(b, &a->true_branch));
    LZ_TRY(lz_body_widen(b, &a->false_branch));
    for (uint32_t i = 0; i < b->captured.len; i++)
        LZ_TRY(push_retained(&x->opnd, b->captured.data[i]));
    return LZ_OK;
}

static lz_status run_branches(branches *x, lz_node **results)
{
    const lz_vjp *v = x->v;
    lz_attr_any a;
    lz_body b;
    lz_attr_init(&a, LZ_ATTR_branches);
    for (uint32_t i = 0; i < v->sig->nopnd; i++)
        LZ_TRY(push_tensor(&x->opnd, v->opnd[i]));
    lz_dev *dev = x->opnd.data[0]->dev;
    for (uint32_t i = 0; i < v->sig->nopnd; i++)
        dev = lz_node_is_host(x->opnd.data[i]) ? dev : x->opnd.data[i]->dev;
    LZ_TRY(lz_body_begin(&b, dev));
    lz_status s = vjp_branches(x, &b, &a.as_branches);
    lz_body_end(&b);
    if (s == LZ_OK)
        s = lz_control_op(LZ_OP_IF, &a.head, x->opnd.data, x->opnd.len, NULL, 0, results, v->site);
    lz_body_free(&b);
    return s;
}

lz_status lz_vjp_if(const lz_vjp *v)
{
    branches x = {.v = v};
    uint32_t n = v->sig->nopnd + v->sig->nresult;
    lz_node **r = lz_calloc(n, sizeof *r);
    x.of = lz_calloc((size_t)n, sizeof *x.of);
    x.grad = x.of ? x.of + v->sig->nopnd : NULL;
    lz_status s = r && x.of ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory to differentiate a branch");
    for (uint32_t i = 1; i < v->sig->nopnd && s == LZ_OK; i++)
        if (v->need[i])
            x.of[x.nof++] = i - 1;
    bool any = false;
    for (uint32_t k = 0; k < v->sig->nresult; k++)
        any |= v->grad_out[k] && lz_has_gradient(v->sig->result[k]);
    if (s == LZ_OK && any && x.nof)
        s = run_branches(&x, r);
    for (uint32_t i = 0; i < x.nof && s == LZ_OK && any; i++)
        v->grad_in[x.of[i] + 1] = lz_trace_tensor_of(r[i], v->site);
    for (uint32_t i = 0; r && i < n; i++)
        lz_node_release(r[i]);
    nodes_free(&x.opnd);
    lz_free(r);
    lz_free(x.of);
    return s;
}

/* ---- counted loops ---- */

/* Operands: the iteration, n carried values, m others. Parameters of the gradient's region: the
 * iteration, n + m values, then a gradient for each carried value that has one. */
typedef struct loop {
    const lz_vjp *v;
    const lz_func *body, *grad; /* one iteration, and its gradient */
    int64_t trip_count;
    uint32_t n, m;
    uint32_t *of, nof; /* carried values with a gradient, then others whose gradient is wanted:
                          parameters of body */
    uint32_t ncarried; /* of them */
    uint32_t *place;   /* per result of body: the placeholder of its gradient, or LZ_NOVAL */
    uint32_t *uses;    /* per value of `grad` */
    nodes in, captured;
    lz_dev *dev;
    lz_node **stack; /* per carried value, its stack; NULL: not needed. Owned */
} loop;

static bool starts_at_zero(const lz_node *n)
{
    static const unsigned char zero[sizeof(int64_t)];
    return n->kind == LZ_NODE_CONST && memcmp(n->imm, zero, sizeof zero) == 0;
}

static lz_status open_loop(loop *x)
{
    const lz_sig *sig = x->v->sig;
    x->trip_count = lz_control_counted(sig);
    x->body = LZ_ATTR(loop, sig->attr)->body;
    x->n = sig->nresult - 1;
    x->m = sig->nopnd - sig->nresult;
    for (uint32_t i = 0; i < sig->nopnd; i++)
        LZ_TRY(push_tensor(&x->in, x->v->opnd[i]));
    if (x->trip_count < 0 || !starts_at_zero(x->in.data[0]))
        return LZ_FAIL(LZ_EGRAD, "how often this loop runs is not known when it is recorded, so it "
                                 "has no reverse gradient: lz_fori and lz_scan have");
    x->dev = x->in.data[0]->dev;
    for (uint32_t i = 0; i < x->in.len; i++)
        x->dev = lz_node_is_host(x->in.data[i]) ? x->dev : x->in.data[i]->dev;
    x->of = lz_calloc((size_t)sig->nopnd + sig->nresult + 1, sizeof *x->of);
    x->stack = lz_calloc((size_t)x->n + 1, sizeof *x->stack);
    if (!x->of || !x->stack)
        return LZ_FAIL(LZ_EMEM, "no memory to differentiate a loop");
    x->place = x->of + sig->nopnd;
    for (uint32_t i = 1; i < sig->nopnd; i++)
        if (i <= x->n ? lz_has_gradient(sig->opnd[i]) : x->v->need[i])
            x->of[x->nof++] = i;
    for (uint32_t k = 0; k < sig->nresult; k++)
        x->place[k] = k && lz_has_gradient(sig->result[k]) ? sig->nopnd + x->ncarried++ : LZ_NOVAL;
    return LZ_OK;
}

static lz_status iteration_gradient(loop *x)
{
    const lz_sig *sig = x->v->sig;
    lz_body b;
    LZ_TRY(lz_body_begin(&b, x->dev));
    lz_status s = add_placeholders(&b, sig->opnd, sig->nopnd);
    for (uint32_t k = 1; k < sig->nresult && s == LZ_OK; k++)
        if (x->place[k] != LZ_NOVAL)
            s = add_placeholders(&b, &sig->result[k], 1);
    lz_region_vjp q = {x->body, x->place, x->of, x->nof};
    if (s == LZ_OK)
        s = region_vjp(x->v, &b, &q, &x->grad);
    lz_body_end(&b);
    for (uint32_t i = 0; i < b.captured.len && s == LZ_OK; i++)
        s = push_retained(&x->captured, b.captured.data[i]);
    lz_body_free(&b);
    LZ_TRY(s);
    x->uses = lz_alloc(((size_t)x->grad->ninst + 1) * sizeof *x->uses);
    if (!x->uses)
        return LZ_FAIL(LZ_EMEM, "no memory to differentiate a loop");
    lz_func_use_counts(x->grad, x->uses);
    return LZ_OK;
}

static bool is_stacked(const loop *x, uint32_t k)
{
    return x->uses[1 + k] > 0;
}

/* The loop again, with each iteration stacking its carried values first. */
static lz_status build_stacking(const loop *x, lz_func *f, lz_val *v)
{
    const lz_func *body = x->body;
    lz_val *carried = v + 1, *stack = carried + x->n, *others = stack + x->n, *in = others + x->m,
           *out = in + body->nparam;
    v[0] = lz_build_param(f, lz_val_type(body, 0));
    for (uint32_t k = 0; k < x->n; k++)
        carried[k] = lz_build_param(f, lz_val_type(body, 1 + k));
    for (uint32_t k = 0; k < x->n; k++)
        if (is_stacked(x, k))
            stack[k] = lz_build_param(f, lz_node_type(x->stack[k]));
    for (uint32_t i = 0; i < x->m; i++)
        others[i] = lz_build_param(f, lz_val_type(body, 1 + x->n + i));
    LZ_TRY(f->status);
    memcpy(in, v, (1 + (size_t)x->n) * sizeof *in);
    if (x->m)
        memcpy(in + 1 + x->n, others, x->m * sizeof *in);
    LZ_TRY(lz_build_inline(f, body, in, out));
    uint32_t n = x->n;
    for (uint32_t k = 0; k < x->n; k++)
        out[k] = out[k + 1]; /* without the iteration */
    for (uint32_t k = 0; k < x->n; k++)
        if (is_stacked(x, k))
            out[n++] = lz_loop_put(f, stack[k], carried[k], v[0]);
    return f->status != LZ_OK ? f->status : lz_func_set_results(f, out, n);
}

static lz_status intern(lz_func *f, lz_status s, const lz_func **out)
{
    if (s == LZ_OK && !(*out = lz_region_intern(f)))
        s = lz_error_get()->status;
    lz_func_free(f);
    return s;
}

static lz_status stack_starts(loop *x)
{
    const lz_func *iteration = NULL;
    nodes opnd = {0};
    uint32_t nstack = 0;
    lz_status s = LZ_OK;
    for (uint32_t k = 0; k < x->n && s == LZ_OK; k++)
        s = push_retained(&opnd, x->in.data[1 + k]);
    for (uint32_t k = 0; k < x->n && s == LZ_OK; k++) {
        if (!is_stacked(x, k))
            continue;
        const lz_type *t =
            lz_loop_stack_type(lz_val_type(x->body, 1 + k), x->trip_count ? x->trip_count : 1);
        x->stack[k] = t ? lz_node_new_zeros(t, x->dev, x->v->site) : NULL;
        s = x->stack[k] ? push_retained(&opnd, x->stack[k]) : lz_error_get()->status;
        nstack++;
    }
    if (nstack == 0) {
        nodes_free(&opnd);
        return s;
    }
    for (uint32_t i = 0; i < x->m && s == LZ_OK; i++)
        s = push_retained(&opnd, x->in.data[1 + x->n + i]);
    lz_func *f = lz_func_new("keep");
    size_t room = 4 * (size_t)x->body->nparam + x->body->nresult + 3 * (size_t)x->n + 4;
    lz_val *v = lz_alloc(room * sizeof *v);
    lz_node **r = lz_calloc((size_t)x->n + nstack + 1, sizeof *r);
    if (s == LZ_OK)
        s = f && v && r ? build_stacking(x, f, v) : LZ_FAIL(LZ_EMEM, "no memory for a loop");
    s = intern(f, s, &iteration);
    if (s == LZ_OK)
        s = lz_control_count(iteration, x->trip_count, opnd.data, opnd.len, x->n + nstack, x->dev,
                             r, x->v->site);
    for (uint32_t k = 0, at = x->n; k < x->n && s == LZ_OK; k++)
        if (is_stacked(x, k)) {
            lz_node_release(x->stack[k]);
            x->stack[k] = r[at];
            r[at++] = NULL;
        }
    for (uint32_t i = 0; r && i < x->n + nstack; i++)
        lz_node_release(r[i]);
    lz_free(r);
    lz_free(v);
    nodes_free(&opnd);
    return s;
}

static bool is_zeros(const lz_func *f, lz_val v)
{
    while (!f->insts[v].lit && lz_inst_op(&f->insts[v]) == LZ_OP_BROADCAST_IN_DIM)
        v = f->insts[v].opnd[0];
    const lz_literal *l = f->insts[v].lit;
    for (size_t i = 0; l && i < l->nbytes; i++)
        if (((const char *)l->data)[i])
            return false;
    return l != NULL;
}

/* The accumulated gradient plus that of one iteration. The gradient of a slice is zero outside of
 * it: then only that slice of the sum is updated, in place. A sum that begins with 0 is never -0,
 * so skipping the zeros changes no bit. */
static lz_val add_to(lz_func *f, lz_val sum, lz_val g)
{
    if (sum == LZ_NOVAL || g == LZ_NOVAL)
        return LZ_NOVAL;
    const lz_inst in = f->insts[g];
    lz_val v[2 + LZ_MAX_RANK];
    if (lz_inst_op(&in) != LZ_OP_DYNAMIC_UPDATE_SLICE || !is_zeros(f, in.opnd[0]))
        return lz_build_ew2(f, LZ_OP_ADD, sum, g);
    lz_attr_any a;
    const lz_shape *s = &lz_val_type(f, in.opnd[1])->shape;
    lz_attr_init(&a, LZ_ATTR_sizes);
    a.as_sizes.slice_sizes = lz_ints_make(s->rank, s->dims);
    memcpy(v, in.opnd, in.sig->nopnd * sizeof *v);
    v[1] = sum;
    lz_val part = lz_build(f, LZ_OP_DYNAMIC_SLICE, &a.head, v + 1, 1 + (uint32_t)s->rank);
    v[0] = sum;
    v[1] = lz_build_ew2(f, LZ_OP_ADD, part, in.opnd[1]);
    return lz_build(f, LZ_OP_DYNAMIC_UPDATE_SLICE, NULL, v, in.sig->nopnd);
}

/* Parameters: the iteration; gradients carried and sums; stacks, other operands, what the gradient
 *   captured. */
static lz_status build_backward(const loop *x, lz_func *f, lz_val *v)
{
    const lz_func *g = x->grad;
    lz_val *acc = v + 1, *stack = acc + x->nof, *others = stack + x->n, *cap = others + x->m,
           *in = cap + x->captured.len, *out = in + g->nparam;
    v[0] = lz_build_param(f, lz_val_type(x->body, 0));
    for (uint32_t i = 0; i < x->nof; i++)
        acc[i] = lz_build_param(f, lz_val_type(x->body, x->of[i]));
    for (uint32_t k = 0; k < x->n; k++)
        if (is_stacked(x, k))
            stack[k] = lz_build_param(f, lz_node_type(x->stack[k]));
    for (uint32_t i = 0; i < x->m; i++)
        others[i] = lz_build_param(f, lz_val_type(x->body, 1 + x->n + i));
    for (uint32_t i = 0; i < x->captured.len; i++)
        cap[i] = lz_build_param(f, lz_node_type(x->captured.data[i]));
    in[0] =
        lz_build_ew2(f, LZ_OP_SUBTRACT, lz_build_scalar_i64(f, LZ_I64, x->trip_count - 1), v[0]);
    LZ_TRY(f->status);
    for (uint32_t k = 0; k < x->n; k++)
        in[1 + k] = is_stacked(x, k) ? lz_loop_slice(f, stack[k], in[0])
                                     : lz_build_splat(f, lz_val_type(x->body, 1 + k), 0);
    memcpy(in + 1 + x->n, others, x->m * sizeof *in);
    memcpy(in + 1 + x->n + x->m, acc, x->ncarried * sizeof *in);
    memcpy(in + 1 + x->n + x->m + x->ncarried, cap, x->captured.len * sizeof *in);
    LZ_TRY(f->status);
    LZ_TRY(lz_build_inline(f, g, in, out));
    for (uint32_t i = x->ncarried; i < x->nof; i++)
        out[i] = add_to(f, acc[i], out[i]);
    return f->status != LZ_OK ? f->status : lz_func_set_results(f, out, x->nof);
}

static lz_status start_of(const loop *x, uint32_t i, nodes *opnd)
{
    lz_tensor *g = i < x->ncarried ? x->v->grad_out[x->of[i]] : NULL;
    return g ? push_tensor(opnd, g)
             : push(opnd, lz_node_new_zeros(lz_val_type(x->body, x->of[i]), x->dev, x->v->site));
}

static lz_status run_backward(const loop *x, lz_node **r)
{
    const lz_func *iteration = NULL;
    nodes opnd = {0};
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i < x->nof && s == LZ_OK; i++)
        s = start_of(x, i, &opnd);
    for (uint32_t k = 0; k < x->n && s == LZ_OK; k++)
        if (is_stacked(x, k))
            s = push_retained(&opnd, x->stack[k]);
    for (uint32_t i = 0; i < x->m && s == LZ_OK; i++)
        s = push_retained(&opnd, x->in.data[1 + x->n + i]);
    for (uint32_t i = 0; i < x->captured.len && s == LZ_OK; i++)
        s = push_retained(&opnd, x->captured.data[i]);
    lz_func *f = lz_func_new("backward");
    size_t room = 2 * (size_t)x->grad->nparam + x->grad->nresult + 2 * (size_t)x->body->nparam +
                  x->nof + x->captured.len + 4;
    lz_val *v = lz_alloc(room * sizeof *v);
    if (s == LZ_OK)
        s = f && v ? build_backward(x, f, v) : LZ_FAIL(LZ_EMEM, "no memory for a loop");
    s = intern(f, s, &iteration);
    if (s == LZ_OK)
        s = lz_control_count(iteration, x->trip_count, opnd.data, opnd.len, x->nof, x->dev, r,
                             x->v->site);
    lz_free(v);
    nodes_free(&opnd);
    return s;
}

static void close_loop(loop *x)
{
    for (uint32_t k = 0; x->stack && k < x->n; k++)
        lz_node_release(x->stack[k]);
    nodes_free(&x->in);
    nodes_free(&x->captured);
    lz_free(x->stack);
    lz_free(x->uses);
    lz_free(x->of);
}

static lz_status differentiate(loop *x)
{
    LZ_TRY(open_loop(x));
    if (x->ncarried == 0)
        return LZ_OK;
    LZ_TRY(iteration_gradient(x));
    LZ_TRY(stack_starts(x));
    lz_node **r = lz_calloc((size_t)x->nof + 1, sizeof *r);
    lz_status s = r ? run_backward(x, r) : LZ_FAIL(LZ_EMEM, "no memory to differentiate a loop");
    for (uint32_t i = 0; i < x->nof && s == LZ_OK; i++)
        if (x->v->need[x->of[i]])
            x->v->grad_in[x->of[i]] = lz_trace_tensor_of(r[i], x->v->site);
    for (uint32_t i = 0; r && i < x->nof; i++)
        lz_node_release(r[i]);
    lz_free(r);
    return s;
}

lz_status lz_vjp_while(const lz_vjp *v)
{
    loop x = {.v = v};
    lz_status s = differentiate(&x);
    close_loop(&x);
    return s;
}
