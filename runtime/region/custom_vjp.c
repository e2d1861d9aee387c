/* custom_vjp.c - functions with a gradient rule of their own (lz_custom_vjp).
 * include/lazuli/grad.h. The function is traced as it stands; its gradient becomes a region of an
 * operation (lazuli.custom_vjp) that passes the results through, which the compiler drops. */
#include "ir/attr.h"
#include "runtime/region/callback.h"
#include <lazuli/grad.h>
#include <string.h>

typedef struct custom {
    lz_call c;
    lz_custom_forward_fn *forward;
    lz_custom_backward_fn *backward;
    int nin, nout, nresidual;
    void *user;
    const char *name;
    lz_tensor **t;  /* room for what callbacks get and give */
    lz_node **made; /* results, then residuals: owned */
    LZ_VEC(lz_node *) opnd;
} custom;

static lz_status run_forward(custom *x, lz_tensor *const *in)
{
    lz_tensor **out = x->t, **residual = out + x->nout;
    lz_thread_state *thr = lz_thread_state_get();
    if (!thr)
        return lz_error_get()->status;
    LZ_TRY(lz_scope_begin());
    lz_callback back = lz_callback_begin(thr, x->c.frame.outer);
    x->forward(in, out, residual, x->user);
    lz_callback_end(thr, &back);
    lz_status s = lz_body_results(out, (uint32_t)x->nout, NULL, "result", x->made);
    if (s == LZ_OK)
        s = lz_body_results(residual, (uint32_t)x->nresidual, NULL, "residual", x->made + x->nout);
    LZ_QUIETLY {
        (void)lz_scope_end();
    }
    return s;
}

/* The result that residual k is; -1: none. */
static int result_of(const custom *x, int k)
{
    for (int i = 0; i < x->nout; i++)
        if (x->made[i] == x->made[x->nout + k])
            return i;
    return -1;
}

/* Placeholders: gradients of the results, results, residuals that are not results. */
static lz_status add_placeholders(custom *x, lz_body *b, lz_tensor **given, lz_tensor **residual)
{
    for (int twice = 0; twice < 2; twice++)
        for (int i = 0; i < x->nout; i++) {
            lz_tensor *t = lz_body_tensor(b, lz_node_type(x->made[i]));
            LZ_TRY(lz_status_of(t));
            if (!twice)
                given[i] = t;
            for (int k = 0; twice && k < x->nresidual; k++)
                if (result_of(x, k) == i)
                    residual[k] = t;
        }
    for (int k = 0; k < x->nresidual; k++)
        if (!residual[k]) {
            residual[k] = lz_body_tensor(b, lz_node_type(x->made[x->nout + k]));
            LZ_TRY(lz_status_of(residual[k]));
        }
    return LZ_OK;
}

/* The gradient that the callback gave for each input; zeros for NULL. */
static lz_status take_gradients(custom *x, lz_tensor **g, lz_node **node)
{
    for (int i = 0; i < x->nin; i++) {
        const lz_type *t = lz_node_type(x->c.in.data[i]);
        char text[128];
        if (!g[i]) {
            if (!(node[i] = lz_node_new_zeros(t, x->c.dev, x->c.site)))
                return lz_error_get()->status;
            continue;
        }
        if (!(node[i] = lz_trace_node_of(g[i])))
            return lz_error_get()->status;
        const lz_type *have = lz_node_type(node[i]);
        char want[128];
        if (have != t)
            return LZ_FAIL(have->dtype != t->dtype ? LZ_EDTYPE : LZ_ESHAPE,
                           "backward%s%s: the gradient of input %d is %s, but must be %s",
                           x->name ? " of " : "", x->name ? x->name : "", i,
                           lz_type_short(have, text, sizeof text),
                           lz_type_short(t, want, sizeof want));
    }
    return LZ_OK;
}

static lz_status record_backward(custom *x, lz_body *b, const lz_func **region)
{
    lz_tensor **given = x->t, **residual = given + x->nout, **g = residual + x->nresidual;
    lz_node **node = lz_calloc((size_t)x->nin + 1, sizeof *node);
    for (int k = 0; k < x->nresidual; k++)
        residual[k] = NULL;
    lz_status s = node ? add_placeholders(x, b, given, residual)
                       : LZ_FAIL(LZ_EMEM, "no memory for %d gradients", x->nin);
    if (s == LZ_OK) {
        lz_callback back = lz_callback_begin(b->thr, x->c.frame.outer);
        x->backward(residual, given, g, x->user);
        lz_callback_end(b->thr, &back);
        s = take_gradients(x, g, node);
    }
    if (s == LZ_OK)
        s = lz_body_region(b, node, (uint32_t)x->nin, region);
    for (int i = 0; node && i < x->nin; i++)
        lz_node_release(node[i]);
    lz_free(node);
    return s;
}

static lz_status push(custom *x, lz_node *n)
{
    return lz_vec_push(&x->opnd, n);
}

static lz_status run(custom *x, lz_tensor *const *in, lz_node **results)
{
    lz_attr_any a;
    lz_body b;
    lz_attr_init(&a, LZ_ATTR_custom_vjp);
    a.as_custom_vjp.results = x->nout;
    a.as_custom_vjp.name = x->name;
    LZ_TRY(run_forward(x, in));
    for (int i = 0; i < x->nout && !x->nin; i++) /* no operand has a device */
        x->c.dev = lz_node_is_host(x->made[i]) ? x->c.dev : x->made[i]->dev;
    LZ_TRY(lz_body_begin(&b, x->c.dev));
    lz_status s = record_backward(x, &b, &a.as_custom_vjp.backward);
    lz_body_end(&b);
    for (int i = 0; i < x->nout && s == LZ_OK; i++)
        s = push(x, x->made[i]);
    for (int i = 0; i < x->nin && s == LZ_OK; i++)
        s = push(x, x->c.in.data[i]);
    for (int k = 0; k < x->nresidual && s == LZ_OK; k++)
        if (result_of(x, k) < 0)
            s = push(x, x->made[x->nout + k]);
    if (s == LZ_OK)
        s = lz_control_op(LZ_OP_CUSTOM_VJP, &a.head, x->opnd.data, x->opnd.len, b.captured.data,
                          b.captured.len, results, x->c.site);
    lz_body_free(&b);
    return s;
}

static lz_status open(custom *x, lz_tensor *const *in)
{
    LZ_TRY(lz_call_take(&x->c, in, x->nin, "in"));
    if (x->nout < 1 || x->nout > LZ_CALL_MOST || x->nresidual < 0 || x->nresidual > LZ_CALL_MOST)
        return LZ_FAIL(LZ_EINVAL, "%d results and %d residuals", x->nout, x->nresidual);
    if (!x->forward || !x->backward)
        return LZ_FAIL(LZ_ENULL, "%s is NULL", x->forward ? "backward" : "forward");
    if (x->name && !(x->name = lz_string_get(x->name, strlen(x->name))))
        return lz_error_get()->status;
    size_t n = (size_t)x->nin + (size_t)x->nout + (size_t)x->nresidual + 1;
    x->t = lz_calloc(n, sizeof *x->t);
    x->made = lz_calloc(n, sizeof *x->made);
    return x->t && x->made ? lz_call_device(&x->c)
                           : LZ_FAIL(LZ_EMEM, "no memory for %zu values", n);
}

lz_status lz_custom_vjp_at(lz_custom_forward_fn *forward, lz_custom_backward_fn *backward,
                           lz_tensor *const *in, int nin, int nout, int nresiduals, void *user,
                           lz_tensor **out, const lz_custom_vjp_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    custom x = {.forward = forward,
                .backward = backward,
                .nin = nin,
                .nout = nout,
                .nresidual = nresiduals,
                .user = user,
                .name = o ? o->name : NULL};
    lz_node **r = NULL;
    lz_status s = lz_call_open(&x.c, "lz_custom_vjp", site, out, nout);
    if (s == LZ_OK)
        s = open(&x, in);
    if (s == LZ_OK && !(r = lz_calloc((size_t)nout, sizeof *r)))
        s = LZ_FAIL(LZ_EMEM, "no memory for %d results", nout);
    if (s == LZ_OK)
        s = run(&x, in, r);
    for (int i = 0; x.made && i < nout + nresiduals; i++)
        lz_node_release(x.made[i]);
    lz_vec_free(&x.opnd);
    lz_free(x.made);
    lz_free(x.t);
    return lz_call_close(&x.c, s, r, r ? nout : 0);
}
