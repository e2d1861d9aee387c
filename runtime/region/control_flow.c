/* control_flow.c - structured control flow: while, fori, scan, cond, switch.
 * include/lazuli/control.h; the regions are traced by runtime/region/region_trace.h. */
#include "ir/attr.h"
#include "runtime/region/callback.h"
#include <inttypes.h>
#include <lazuli/control.h>
#include <string.h>

/* Room for the arguments and results of a callback, as handles and as nodes. */
typedef struct room {
    lz_tensor **in, **out;
    lz_node **node;
    const lz_type **type;
    uint32_t nin, nout;
} room;

static lz_status room_new(room *r, uint32_t nin, uint32_t nout)
{
    size_t n = (size_t)nin + nout + 1;
    *r = (room){.nin = nin, .nout = nout};
    r->in = lz_calloc(n, sizeof *r->in);
    r->node = lz_calloc(n, sizeof *r->node);
    r->type = lz_calloc(n, sizeof *r->type);
    r->out = r->in ? r->in + nin : NULL;
    return r->in && r->node && r->type ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for %zu values", n);
}

static void room_free(room *r)
{
    for (uint32_t i = 0; r->node && i < r->nout; i++)
        lz_node_release(r->node[i]);
    lz_free(r->in);
    lz_free(r->node);
    lz_free(r->type);
}

static void types_of(const lz_call *c, uint32_t n, const lz_type **out)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = lz_node_type(c->in.data[i]);
}

/* ---- while ---- */

static lz_status record_while(lz_call *c, lz_body *b, room *r, lz_cond_fn *cond, lz_body_fn *body,
                              void *user, lz_attr_loop *a)
{
    uint32_t n = c->in.len;
    static const lz_shape scalar;
    const lz_type *p = lz_type_get(LZ_BOOL, &scalar);
    LZ_TRY(lz_body_handles(b, c->in.data, n, r->in));
    types_of(c, n, r->type);
    /* an iteration counter of its own, behind the carried values, for random numbers */
    lz_node *iteration = lz_body_placeholder(b, lz_type_get(LZ_I64, &scalar));
    if (!p || !iteration)
        return lz_error_get()->status;
    lz_body_loop(b, iteration, UINT64_C(1) << 20);
    lz_callback f = lz_callback_begin(b->thr, c->frame.outer);
    lz_tensor *more = cond(r->in, user);
    lz_callback_end(b->thr, &f);
    lz_node *pred = NULL, *next = NULL;
    lz_status s = lz_body_results(&more, 1, &p, "the condition", &pred);
    if (s == LZ_OK) /* before the body is recorded: what happens in that is not the condition's */
        s = lz_body_region(b, &pred, 1, &a->cond);
    lz_node_release(pred);
    LZ_TRY(s);
    f = lz_callback_begin(b->thr, c->frame.outer);
    body(r->in, r->out, user);
    lz_callback_end(b->thr, &f);
    LZ_TRY(lz_body_results(r->out, n, r->type, "result", r->node));
    lz_tracer t;
    lz_tracer_begin(&t, "lz_while", c->site);
    const int64_t one = 1;
    lz_node *k = t.thr ? lz_tracer_own(&t, lz_node_new_host(LZ_NODE_CONST, lz_node_type(iteration),
                                                            &one, c->dev, c->site))
                       : NULL;
    next = lz_tracer_ew2(&t, LZ_OP_ADD, iteration, k);
    if (next)
        lz_node_retain(next);
    lz_tracer_drop(&t);
    if (!next)
        return lz_error_get()->status;
    r->node[n] = next;
    r->nout = n + 1;
    LZ_TRY(lz_body_region(b, r->node, n + 1, &a->body));
    return lz_body_widen(b, &a->cond);
}

static lz_status run_while(lz_call *c, lz_cond_fn *cond, lz_body_fn *body, void *user,
                           lz_node **results)
{
    uint32_t n = c->in.len;
    lz_attr_any a;
    lz_body b;
    room r;
    static const lz_shape scalar;
    const int64_t zero = 0;
    lz_attr_init(&a, LZ_ATTR_loop);
    LZ_TRY(lz_body_begin(&b, c->dev));
    lz_status s = room_new(&r, n, n + 1);
    if (s == LZ_OK)
        s = record_while(c, &b, &r, cond, body, user, &a.as_loop);
    lz_body_end(&b);
    room_free(&r);
    const lz_type *t = lz_type_get(LZ_I64, &scalar);
    lz_node *first =
        s == LZ_OK && t ? lz_node_new_host(LZ_NODE_CONST, t, &zero, c->dev, c->site) : NULL;
    if (s == LZ_OK)
        s = first ? lz_vec_push(&c->in, first) : lz_error_get()->status;
    if (s == LZ_OK)
        s = lz_control_op(LZ_OP_WHILE, &a.head, c->in.data, n + 1, b.captured.data, b.captured.len,
                          results, c->site);
    lz_body_free(&b);
    return s;
}

lz_status lz_while_at(lz_tensor *const *init, int n, lz_cond_fn *cond, lz_body_fn *body, void *user,
                      lz_tensor **out, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_call c;
    lz_node **r = NULL;
    lz_status s = lz_call_open(&c, "lz_while", site, out, n);
    if (s == LZ_OK)
        s = lz_call_take(&c, init, n, "init");
    if (s == LZ_OK && (n < 1 || !cond || !body))
        s = n < 1 ? LZ_FAIL(LZ_EINVAL, "%d values", n) : LZ_FAIL(LZ_ENULL, "a callback is NULL");
    if (s == LZ_OK)
        s = lz_call_device(&c);
    if (s == LZ_OK && !(r = lz_calloc((size_t)n + 1, sizeof *r)))
        s = LZ_FAIL(LZ_EMEM, "no memory for %d results", n);
    if (s == LZ_OK)
        s = run_while(&c, cond, body, user, r);
    return lz_call_close(&c, s, r, r ? n + 1 : 0);
}

/* ---- counted loops ---- */

/* i as the callback sees it: the iteration plus the lower bound. */
static lz_tensor *round_handle(lz_node *iteration, int64_t lower, const lz_site *site)
{
    lz_tracer t;
    lz_tracer_begin(&t, "lz_fori", site);
    lz_node *at = NULL;
    if (t.thr)
        at = lz_tracer_own(&t, lz_node_new_host(LZ_NODE_CONST, lz_node_type(iteration), &lower,
                                                iteration->dev, site));
    return lz_tracer_end(&t, lower ? lz_tracer_ew2(&t, LZ_OP_ADD, iteration, at) : iteration);
}

static lz_status run_fori(lz_call *c, int64_t lower, int64_t trip_count, lz_round_fn *body,
                          void *user, lz_node **results)
{
    uint32_t n = c->in.len;
    static const lz_shape scalar;
    const lz_func *region = NULL;
    lz_body b;
    room r;
    LZ_TRY(lz_body_begin(&b, c->dev));
    lz_node *iteration = lz_body_placeholder(&b, lz_type_get(LZ_I64, &scalar));
    lz_status s = room_new(&r, n, n);
    if (s == LZ_OK && !iteration)
        s = lz_error_get()->status;
    if (s == LZ_OK)
        s = lz_body_handles(&b, c->in.data, n, r.in);
    if (s == LZ_OK) {
        types_of(c, n, r.type);
        lz_tensor *i = round_handle(iteration, lower, c->site);
        lz_body_loop(&b, iteration, (uint64_t)trip_count);
        lz_callback f = lz_callback_begin(b.thr, c->frame.outer);
        body(i, r.in, r.out, user);
        lz_callback_end(b.thr, &f);
        s = lz_body_results(r.out, n, r.type, "result", r.node);
    }
    if (s == LZ_OK)
        s = lz_body_region(&b, r.node, n, &region);
    lz_body_end(&b);
    room_free(&r);
    for (uint32_t i = 0; i < b.captured.len && s == LZ_OK; i++) {
        lz_node_retain(b.captured.data[i]);
        s = lz_vec_push(&c->in, b.captured.data[i]);
    }
    if (s == LZ_OK)
        s = lz_control_count(region, trip_count, c->in.data, c->in.len, n, c->dev, results,
                             c->site);
    lz_body_free(&b);
    return s;
}

lz_status lz_fori_at(int64_t lower, int64_t upper, lz_tensor *const *init, int n, lz_round_fn *body,
                     void *user, lz_tensor **out, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_call c;
    lz_node **r = NULL;
    int64_t trip_count = 0;
    lz_status s = lz_call_open(&c, "lz_fori", site, out, n);
    if (s == LZ_OK)
        s = lz_call_take(&c, init, n, "init");
    if (s == LZ_OK && (n < 1 || !body))
        s = n < 1 ? LZ_FAIL(LZ_EINVAL, "%d values", n) : LZ_FAIL(LZ_ENULL, "body is NULL");
    if (s == LZ_OK && upper > lower && __builtin_sub_overflow(upper, lower, &trip_count))
        s = LZ_FAIL(LZ_ERANGE, "rounds from %" PRId64 " to %" PRId64, lower, upper);
    if (s == LZ_OK)
        s = lz_call_device(&c);
    if (s == LZ_OK && !(r = lz_calloc((size_t)n, sizeof *r)))
        s = LZ_FAIL(LZ_EMEM, "no memory for %d results", n);
    if (s == LZ_OK)
        s = run_fori(&c, lower, trip_count, body, user, r);
    return lz_call_close(&c, s, r, r ? n : 0);
}

/* ---- scan: a counted loop that slices and stacks ---- */

typedef struct scan {
    int ncarry, nx, ny;
    int64_t length;
    bool reverse;
    lz_scan_fn *body;
    void *user;
} scan;

static lz_status scan_length(const lz_call *c, scan *x)
{
    for (int i = 0; i < x->nx; i++) {
        const lz_type *t = lz_node_type(c->in.data[x->ncarry + i]);
        char text[128];
        if (t->shape.rank == 0)
            return LZ_FAIL(LZ_ESHAPE, "xs[%d] is %s: there is nothing to step over", i,
                           lz_type_short(t, text, sizeof text));
        if (x->length == 0)
            x->length = t->shape.dims[0];
        if (t->shape.dims[0] != x->length)
            return LZ_FAIL(LZ_ESHAPE, "xs[%d] is %s, but there are %" PRId64 " steps", i,
                           lz_type_short(t, text, sizeof text), x->length);
    }
    return x->length < 0 ? LZ_FAIL(LZ_EINVAL, "%" PRId64 " steps", x->length) : LZ_OK;
}

/* The step as a region: of carried values, slices and captured values; gives carried values, then
 * ys. */
static lz_status record_step(lz_call *c, const scan *x, lz_body *b, lz_node **iteration,
                             const lz_func **region)
{
    uint32_t n = (uint32_t)x->ncarry, nx = (uint32_t)x->nx, ny = (uint32_t)x->ny;
    static const lz_shape scalar;
    room r;
    lz_status s = room_new(&r, n + nx, n + ny);
    *iteration = s == LZ_OK ? lz_body_placeholder(b, lz_type_get(LZ_I64, &scalar)) : NULL;
    if (s == LZ_OK && !*iteration)
        s = lz_error_get()->status;
    if (s == LZ_OK)
        s = lz_body_handles(b, c->in.data, n, r.in);
    for (uint32_t i = 0; i < nx && s == LZ_OK; i++) {
        const lz_type *t = lz_loop_slice_type(lz_node_type(c->in.data[n + i]));
        r.in[n + i] = t ? lz_body_tensor(b, t) : NULL;
        s = t ? lz_status_of(r.in[n + i]) : lz_error_get()->status;
    }
    if (s == LZ_OK) {
        types_of(c, n, r.type);
        lz_body_loop(b, *iteration, (uint64_t)x->length);
        lz_callback f = lz_callback_begin(b->thr, c->frame.outer);
        x->body(r.in, r.in + n, r.out, r.out + n, x->user);
        lz_callback_end(b->thr, &f);
        s = lz_body_results(r.out, n, r.type, "carried value", r.node);
    }
    if (s == LZ_OK)
        s = lz_body_results(r.out + n, ny, NULL, "y", r.node + n);
    if (s == LZ_OK)
        s = lz_body_region(b, r.node, n + ny, region);
    room_free(&r);
    return s;
}

/* Parameters: the iteration; carried values, stacks; xs, captured. v: room for all of them and for
 * the step's. */
static lz_status build_iteration(const scan *x, const lz_func *step, const lz_type *const *stack,
                                 const lz_type *const *xs, lz_func *f, lz_val *v)
{
    uint32_t n = (uint32_t)x->ncarry, nx = (uint32_t)x->nx, ny = (uint32_t)x->ny,
             nc = step->nparam - 1 - n - nx;
    lz_val *carry = v + 1, *ys = carry + n, *src = ys + ny, *cap = src + nx, *in = cap + nc,
           *out = in + step->nparam;
    v[0] = lz_build_param(f, lz_val_type(step, 0));
    for (uint32_t i = 0; i < n; i++)
        carry[i] = lz_build_param(f, lz_val_type(step, 1 + i));
    for (uint32_t i = 0; i < ny; i++)
        ys[i] = lz_build_param(f, stack[i]);
    for (uint32_t i = 0; i < nx; i++)
        src[i] = lz_build_param(f, xs[i]);
    for (uint32_t i = 0; i < nc; i++)
        cap[i] = lz_build_param(f, lz_val_type(step, 1 + n + nx + i));
    lz_val at = v[0];
    if (x->reverse)
        at = lz_build_ew2(f, LZ_OP_SUBTRACT, lz_build_scalar_i64(f, LZ_I64, x->length - 1), at);
    LZ_TRY(f->status);
    in[0] = v[0];
    memcpy(in + 1, carry, n * sizeof *in);
    for (uint32_t i = 0; i < nx; i++)
        in[1 + n + i] = lz_loop_slice(f, src[i], at);
    memcpy(in + 1 + n + nx, cap, nc * sizeof *in);
    LZ_TRY(f->status);
    LZ_TRY(lz_build_inline(f, step, in, out));
    for (uint32_t i = 0; i < ny; i++)
        out[n + i] = lz_loop_put(f, ys[i], out[n + i], at);
    return f->status != LZ_OK ? f->status : lz_func_set_results(f, out, n + ny);
}

/* With no iterations, the carried values are the initial ones, and nothing is stacked. */
static lz_status scan_nothing(const lz_call *c, const scan *x, const lz_func *step,
                              lz_node **results)
{
    for (int i = 0; i < x->ncarry; i++)
        lz_node_retain(results[i] = c->in.data[i]);
    for (int i = 0; i < x->ny; i++) {
        const lz_type *t = lz_loop_stack_type(lz_val_type(step, step->results[x->ncarry + i]), 0);
        results[x->ncarry + i] = t ? lz_node_new_zeros(t, c->dev, c->site) : NULL;
        if (!results[x->ncarry + i])
            return lz_error_get()->status;
    }
    return LZ_OK;
}

static lz_status scan_iteration(const lz_call *c, const scan *x, const lz_func *step,
                                const lz_type **types, const lz_func **out)
{
    const lz_type **stack = types, **xs = types + x->ny;
    for (int i = 0; i < x->ny; i++) {
        stack[i] = lz_loop_stack_type(lz_val_type(step, step->results[x->ncarry + i]), x->length);
        if (!stack[i])
            return lz_error_get()->status;
    }
    for (int i = 0; i < x->nx; i++)
        xs[i] = lz_node_type(c->in.data[x->ncarry + i]);
    lz_func *f = lz_func_new("round");
    lz_val *v =
        lz_alloc((3 * (size_t)step->nparam + step->nresult + (size_t)x->ny + 4) * sizeof *v);
    lz_status s = f && v ? build_iteration(x, step, stack, xs, f, v)
                         : LZ_FAIL(LZ_EMEM, "no memory for a scan");
    if (s == LZ_OK && !(*out = lz_region_intern(f)))
        s = lz_error_get()->status;
    lz_func_free(f);
    lz_free(v);
    return s;
}

static lz_status run_scan(lz_call *c, const scan *x, lz_node **results)
{
    lz_body b;
    lz_node *iteration;
    const lz_func *step = NULL, *loop = NULL;
    LZ_TRY(lz_body_begin(&b, c->dev));
    lz_status s = record_step(c, x, &b, &iteration, &step);
    lz_body_end(&b);
    if (s == LZ_OK && x->length == 0) {
        s = scan_nothing(c, x, step, results);
        lz_body_free(&b);
        return s;
    }
    const lz_type **types = lz_calloc((size_t)x->nx + (size_t)x->ny + 1, sizeof *types);
    LZ_VEC(lz_node *) opnd = {0};
    if (s == LZ_OK)
        s = types ? scan_iteration(c, x, step, types, &loop)
                  : LZ_FAIL(LZ_EMEM, "no memory for a scan");
    for (int i = 0; i < x->ncarry && s == LZ_OK; i++)
        if ((s = lz_vec_push(&opnd, c->in.data[i])) == LZ_OK)
            lz_node_retain(c->in.data[i]);
    for (int i = 0; i < x->ny && s == LZ_OK; i++) {
        lz_node *z = lz_node_new_zeros(types[i], c->dev, c->site);
        s = z ? lz_vec_push(&opnd, z) : lz_error_get()->status;
        if (s != LZ_OK)
            lz_node_release(z);
    }
    for (int i = 0; i < x->nx && s == LZ_OK; i++)
        if ((s = lz_vec_push(&opnd, c->in.data[x->ncarry + i])) == LZ_OK)
            lz_node_retain(c->in.data[x->ncarry + i]);
    for (uint32_t i = 0; i < b.captured.len && s == LZ_OK; i++)
        if ((s = lz_vec_push(&opnd, b.captured.data[i])) == LZ_OK)
            lz_node_retain(b.captured.data[i]);
    if (s == LZ_OK)
        s = lz_control_count(loop, x->length, opnd.data, opnd.len,
                             (uint32_t)x->ncarry + (uint32_t)x->ny, c->dev, results, c->site);
    for (uint32_t i = 0; i < opnd.len; i++)
        lz_node_release(opnd.data[i]);
    lz_vec_free(&opnd);
    lz_free(types);
    lz_body_free(&b);
    return s;
}

lz_status lz_scan_at(lz_tensor *const *init, int ncarry, lz_tensor *const *xs, int nx, int ny,
                     lz_scan_fn *body, void *user, lz_tensor **out, lz_tensor **ys,
                     const lz_scan_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_call c;
    lz_node **r = NULL;
    scan x = {ncarry, nx, ny, o ? o->length : 0, o && o->reverse, body, user};
    int n = ncarry > 0 && ny > 0 ? ncarry + ny : ncarry > 0 ? ncarry : ny > 0 ? ny : 0;
    lz_tensor **all = lz_calloc((size_t)n + 1, sizeof *all);
    if (!all)
        return LZ_FAIL(LZ_EMEM, "lz_scan: no memory for %d results", n);
    lz_status s = lz_call_open(&c, "lz_scan", site, all, n);
    if (s == LZ_OK)
        s = lz_call_take(&c, init, ncarry, "init");
    if (s == LZ_OK)
        s = lz_call_take(&c, xs, nx, "xs");
    if (s == LZ_OK && (n < 1 || ny < 0 || ny > LZ_CALL_MOST))
        s = LZ_FAIL(LZ_EINVAL, "%d carried values and %d results of a step", ncarry, ny);
    if (s == LZ_OK && (!body || (ncarry && !out) || (ny && !ys)))
        s = LZ_FAIL(LZ_ENULL, "%s is NULL", !body ? "body" : ny && !ys ? "ys" : "out");
    if (s == LZ_OK)
        s = scan_length(&c, &x);
    if (s == LZ_OK)
        s = lz_call_device(&c);
    if (s == LZ_OK && !(r = lz_calloc((size_t)n, sizeof *r)))
        s = LZ_FAIL(LZ_EMEM, "no memory for %d results", n);
    if (s == LZ_OK)
        s = run_scan(&c, &x, r);
    s = lz_call_close(&c, s, r, r ? n : 0);
    for (int i = 0; i < n; i++) {
        if (i < ncarry && out)
            out[i] = all[i];
        else if (i >= ncarry && ys)
            ys[i - (ncarry > 0 ? ncarry : 0)] = all[i];
    }
    lz_free(all);
    return s;
}

/* ---- branches ---- */

typedef struct choice {
    lz_body_fn *const *fn;
    int n, nin, nout;
    void *user;
    const lz_func **region;
} choice;

/* The first operand is the predicate or index. */
static lz_status record_branch(lz_call *c, const choice *x, lz_body *b, int k,
                               const lz_type **types)
{
    room r;
    lz_status s = room_new(&r, (uint32_t)x->nin, (uint32_t)x->nout);
    for (int i = 0; i < x->nin && s == LZ_OK; i++) {
        /* every branch has the same arguments */
        r.in[i] = lz_trace_tensor_of(b->placeholders.data[i], c->site);
        s = lz_status_of(r.in[i]);
    }
    if (s == LZ_OK) {
        lz_callback f = lz_callback_begin(b->thr, c->frame.outer);
        x->fn[k](r.in, r.out, x->user);
        lz_callback_end(b->thr, &f);
        s = lz_body_results(r.out, r.nout, k ? types : NULL,
                            k ? "result of a later branch" : "result", r.node);
    }
    if (s == LZ_OK)
        s = lz_body_region(b, r.node, r.nout, &x->region[k]);
    for (int i = 0; i < x->nout && s == LZ_OK; i++)
        types[i] = lz_node_type(r.node[i]);
    room_free(&r);
    return s;
}

static lz_status record_branches(lz_call *c, const choice *x, lz_body *b)
{
    const lz_type **types = lz_calloc((size_t)x->nout + 1, sizeof *types);
    lz_status s = types ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for a choice");
    for (int i = 0; i < x->nin && s == LZ_OK; i++)
        s = lz_body_placeholder(b, lz_node_type(c->in.data[1 + i])) ? LZ_OK
                                                                    : lz_error_get()->status;
    for (int k = 0; k < x->n && s == LZ_OK; k++)
        s = record_branch(c, x, b, k, types);
    for (int k = 0; k < x->n && s == LZ_OK; k++)
        s = lz_body_widen(b, &x->region[k]);
    lz_free(types);
    return s;
}

/* A switch decomposed: traced from a function of index and operands. */
static lz_status replay_case(const choice *x, lz_node *const *opnd, uint32_t n, lz_node **results,
                             const lz_site *site)
{
    lz_func *f = lz_func_new("case");
    lz_val *v = lz_alloc(((size_t)n + (size_t)x->nout + 1) * sizeof *v);
    lz_status s = f && v ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for a choice");
    for (uint32_t i = 0; i < n && s == LZ_OK; i++)
        v[i] = lz_build_param(f, lz_node_type(opnd[i]));
    if (s == LZ_OK)
        s = lz_build_case(f, v[0], x->region, (uint32_t)x->n, v + 1, v + n);
    if (s == LZ_OK)
        s = lz_func_set_results(f, v + n, (uint32_t)x->nout);
    if (s == LZ_OK)
        s = lz_region_perform(f, opnd, results, site);
    lz_func_free(f);
    lz_free(v);
    return s;
}

static lz_status run_choice(lz_call *c, choice *x, bool two, lz_node **results)
{
    lz_body b;
    lz_attr_any a;
    x->region = lz_calloc((size_t)x->n, sizeof *x->region);
    if (!x->region)
        return LZ_FAIL(LZ_EMEM, "no memory for %d branches", x->n);
    lz_status s = lz_body_begin(&b, c->dev);
    if (s != LZ_OK) {
        lz_free(x->region);
        return s;
    }
    s = record_branches(c, x, &b);
    lz_body_end(&b);
    for (uint32_t i = 0; i < b.captured.len && s == LZ_OK; i++) {
        lz_node_retain(b.captured.data[i]);
        s = lz_vec_push(&c->in, b.captured.data[i]);
    }
    if (s == LZ_OK && two) {
        lz_attr_init(&a, LZ_ATTR_branches);
        a.as_branches.true_branch = x->region[0];
        a.as_branches.false_branch = x->region[1];
        s = lz_control_op(LZ_OP_IF, &a.head, c->in.data, c->in.len, NULL, 0, results, c->site);
    } else if (s == LZ_OK) {
        s = replay_case(x, c->in.data, c->in.len, results, c->site);
    }
    lz_free(x->region);
    lz_body_free(&b);
    return s;
}

/* One boolean, or one integer, of any rank. */
static lz_status check_chooser(lz_call *c, bool two)
{
    static const lz_shape scalar;
    lz_node *x = c->in.data[0];
    const lz_type *t = lz_node_type(x);
    char text[128];
    if (two ? t->dtype != LZ_BOOL : !lz_dtype_is_int(t->dtype))
        return LZ_FAIL(LZ_EDTYPE, "%s is %s, but one %s is needed", two ? "pred" : "index",
                       lz_type_short(t, text, sizeof text), two ? "boolean" : "integer");
    if (t->nelem != 1)
        return LZ_FAIL(LZ_ESHAPE, "%s is %s, but one element is needed", two ? "pred" : "index",
                       lz_type_short(t, text, sizeof text));
    lz_tracer r;
    lz_tracer_begin(&r, c->frame.op, c->site);
    lz_node *y = r.thr ? lz_tracer_reshape(&r, x, &scalar) : NULL;
    if (y) {
        lz_node_retain(y);
        c->in.data[0] = y;
        lz_node_release(x);
    }
    lz_tracer_drop(&r);
    return y ? LZ_OK : lz_error_get()->status;
}

static lz_status choose(const char *op, lz_tensor *by, choice *x, lz_tensor *const *in, bool two,
                        lz_tensor **out, const lz_site *site)
{
    lz_call c;
    lz_node **r = NULL;
    lz_status s = lz_call_open(&c, op, site, out, x->nout);
    if (s == LZ_OK)
        s = lz_call_take(&c, &by, 1, two ? "pred" : "index");
    if (s == LZ_OK)
        s = check_chooser(&c, two);
    if (s == LZ_OK)
        s = lz_call_take(&c, in, x->nin, "in");
    if (s == LZ_OK && (x->nout < 1 || x->nout > LZ_CALL_MOST || x->n < 1 || x->n > LZ_CALL_MOST))
        s = LZ_FAIL(LZ_EINVAL, "%d branches with %d results", x->n, x->nout);
    for (int k = 0; s == LZ_OK && k < x->n; k++)
        if (!x->fn || !x->fn[k])
            s = LZ_FAIL(LZ_ENULL, "branch %d is NULL", k);
    if (s == LZ_OK)
        s = lz_call_device(&c);
    if (s == LZ_OK && !(r = lz_calloc((size_t)x->nout, sizeof *r)))
        s = LZ_FAIL(LZ_EMEM, "no memory for %d results", x->nout);
    if (s == LZ_OK)
        s = run_choice(&c, x, two, r);
    return lz_call_close(&c, s, r, r ? x->nout : 0);
}

lz_status lz_cond_at(lz_tensor *pred, lz_body_fn *on_true, lz_body_fn *on_false,
                     lz_tensor *const *in, int nin, int nout, void *user, lz_tensor **out,
                     const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_body_fn *const fn[2] = {on_true, on_false};
    choice x = {fn, 2, nin, nout, user, NULL};
    return choose("lz_cond", pred, &x, in, true, out, site);
}

lz_status lz_switch_at(lz_tensor *index, lz_body_fn *const *branches, int n, lz_tensor *const *in,
                       int nin, int nout, void *user, lz_tensor **out, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    choice x = {branches, n, nin, nout, user, NULL};
    return choose("lz_switch", index, &x, in, false, out, site);
}
