/* checkpoint.c - lz_checkpoint (include/lazuli/control.h): a function whose gradient computes it
 * again. It is a branch that is always taken, hidden from the compiler by an optimization barrier:
 * its gradient runs the branch again, and no pass can merge that with the first run. The function
 * is recorded once and runs once in the forward pass, so what it assigns to tensors from outside
 * (statistics of batch norm) are further results, and are assigned when it is recorded. */
#include "ir/attr.h"
#include "runtime/exec/assign.h"
#include "runtime/region/callback.h"
#include <lazuli/control.h>

typedef struct checkpoint {
    lz_call c; /* operands: the predicate, then those of the function */
    lz_body b;
    lz_body_fn *fn;
    void *user;
    int nin, nout;
    lz_node **node;   /* results, then assigned values: owned. Then those of the operation */
    lz_tensor **t;    /* what the function gets and gives */
    uint32_t nresult; /* results and assigned values */
} checkpoint;

/* True, behind a barrier. */
static lz_status add_predicate(checkpoint *x)
{
    static const lz_shape scalar;
    const unsigned char yes = 1;
    lz_tracer c;
    lz_tracer_begin(&c, "lz_checkpoint", x->c.site);
    const lz_type *t = c.thr ? lz_type_get(LZ_BOOL, &scalar) : NULL;
    lz_node *p =
        t ? lz_tracer_own(&c, lz_node_new_host(LZ_NODE_CONST, t, &yes, x->c.dev, x->c.site)) : NULL;
    p = p ? lz_tracer_op(&c, LZ_OP_OPTIMIZATION_BARRIER, NULL, &p, 1) : NULL;
    lz_status s = p ? lz_vec_push(&x->c.in, p) : lz_error_get()->status;
    if (s == LZ_OK) {
        lz_node_retain(p);
        for (uint32_t i = x->c.in.len - 1; i > 0; i--)
            x->c.in.data[i] = x->c.in.data[i - 1];
        x->c.in.data[0] = p;
    }
    lz_tracer_drop(&c);
    return s;
}

/* The results and what was assigned, as nodes. */
static lz_status take_results(checkpoint *x)
{
    const lz_recording *r = &x->b.rec;
    x->nresult = (uint32_t)x->nout + r->bound.len;
    x->node = lz_calloc(2 * (size_t)x->nresult, sizeof *x->node);
    if (!x->node)
        return LZ_FAIL(LZ_EMEM, "no memory for %u results", x->nresult);
    LZ_TRY(lz_body_results(x->t + x->nin, (uint32_t)x->nout, NULL, "result", x->node));
    for (uint32_t i = 0; i < r->bound.len; i++)
        lz_node_retain(x->node[x->nout + (int)i] = r->bound.data[i].now);
    return LZ_OK;
}

static lz_status record(checkpoint *x, const lz_func **region)
{
    lz_body *b = &x->b;
    LZ_TRY(lz_body_begin(b, x->c.dev));
    b->rec.rule = LZ_ASSIGN_RESULT;
    lz_status s = lz_body_handles(b, x->c.in.data + 1, (uint32_t)x->nin, x->t);
    if (s == LZ_OK) {
        lz_callback f = lz_callback_begin(b->thr, x->c.frame.outer);
        x->fn(x->t, x->t + x->nin, x->user);
        lz_callback_end(b->thr, &f);
        s = take_results(x);
    }
    if (s == LZ_OK)
        s = lz_body_region(b, x->node, x->nresult, region);
    lz_body_end(b);
    return s;
}

/* Outside of the body: what it assigned gets its value. */
static lz_status assign(checkpoint *x, lz_node *const *values)
{
    lz_recording *r = &x->b.rec;
    lz_assignments all = {0};
    lz_status s = lz_vec_reserve(&all, r->bound.len);
    for (uint32_t i = 0; i < r->bound.len && s == LZ_OK; i++) {
        lz_bound_handle *d = &r->bound.data[i];
        lz_tensor *t = lz_trace_tensor_of(values[i], d->site);
        s = lz_status_of(t);
        if (s == LZ_OK)
            s = lz_assignments_add(&all, lz_handle_of_bits(d->handle), t);
        else
            lz_slot_let_go(lz_handle_bits(t));
    }
    if (s == LZ_OK)
        s = lz_assign_all(&all, x->c.site);
    for (uint32_t i = 0; i < all.len; i++)
        lz_slot_let_go(lz_handle_bits(all.data[i].value));
    lz_vec_free(&all);
    return s;
}

static lz_status run(checkpoint *x, lz_tensor *const *in)
{
    lz_attr_any a;
    const lz_func *region = NULL;
    LZ_TRY(lz_call_take(&x->c, in, x->nin, "in"));
    if (x->nout < 1 || x->nout > LZ_CALL_MOST)
        return LZ_FAIL(LZ_EINVAL, "%d results", x->nout);
    if (!x->fn)
        return LZ_FAIL(LZ_ENULL, "the function is NULL");
    LZ_TRY(lz_call_device(&x->c));
    LZ_TRY(add_predicate(x));
    if (!(x->t = lz_calloc((size_t)x->nin + (size_t)x->nout, sizeof *x->t)))
        return LZ_FAIL(LZ_EMEM, "no memory for %d values", x->nin);
    LZ_TRY(record(x, &region));
    lz_attr_init(&a, LZ_ATTR_branches);
    a.as_branches.true_branch = a.as_branches.false_branch = region;
    lz_node **out = x->node + x->nresult;
    LZ_TRY(lz_control_op(LZ_OP_IF, &a.head, x->c.in.data, x->c.in.len, x->b.captured.data,
                         x->b.captured.len, out, x->c.site));
    return assign(x, out + x->nout);
}

lz_status lz_checkpoint_at(lz_body_fn *fn, lz_tensor *const *in, int nin, int nout, void *user,
                           lz_tensor **out, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    checkpoint x = {.fn = fn, .user = user, .nin = nin, .nout = nout};
    lz_status s = lz_call_open(&x.c, "lz_checkpoint", site, out, nout);
    if (s == LZ_OK)
        s = run(&x, in);
    lz_node **results = lz_calloc((size_t)(nout > 0 ? nout : 0) + 1, sizeof *results);
    if (s == LZ_OK && !results)
        s = LZ_FAIL(LZ_EMEM, "no memory for %d results", nout);
    for (uint32_t i = 0; x.node && i < 2 * x.nresult; i++) {
        bool result = i >= x.nresult && i - x.nresult < (uint32_t)nout;
        if (result && s == LZ_OK)
            results[i - x.nresult] = x.node[i];
        else
            lz_node_release(x.node[i]);
    }
    lz_free(x.node);
    lz_free(x.t);
    lz_body_free(&x.b);
    return lz_call_close(&x.c, s, results, results && s == LZ_OK ? nout : 0);
}
