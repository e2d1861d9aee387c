/* vmap.c - vmap, automatic batching (include/lazuli/transforms.h). The callback is traced on one
 * example, which gives a region; the batching rules (ir/batch/batch.h) turn it into a function of
 * the whole batch, which is recorded in its place. */
#include "ir/batch/batch.h"
#include "runtime/region/callback.h"
#include <inttypes.h>
#include <lazuli/transforms.h>
#include <string.h>

typedef struct vmap {
    lz_call c;
    const lz_vmap_options *o;
    int nin, nout;
    int64_t n;            /* batch size; -1: not known yet */
    int64_t *in_axis;     /* batch dimension, from the front; -1: not batched */
    const lz_type **type; /* argument types of one example */
    const lz_func *one;   /* region traced on one example */
    LZ_VEC(lz_node *)
    args; /* of `one`: batched arguments, their dimensions, captured values. Owned */
    LZ_VEC(bool) mapped;
} vmap;

/* ---- arguments ---- */

static lz_status find_axis(vmap *x, int i)
{
    int64_t axis = x->o && x->o->in_axes ? x->o->in_axes[i] : 0;
    const lz_type *t = lz_node_type(x->c.in.data[i]);
    lz_shape s = {.rank = t->shape.rank - 1};
    char text[128];
    x->type[i] = t;
    x->in_axis[i] = -1;
    if (axis == LZ_UNMAPPED)
        return LZ_OK;
    int64_t at = axis < 0 ? axis + t->shape.rank : axis;
    if (at < 0 || at >= t->shape.rank)
        return LZ_FAIL(LZ_ERANGE, "in[%d] is %s and has no dimension %" PRId64, i,
                       lz_type_short(t, text, sizeof text), axis);
    if (x->n >= 0 && t->shape.dims[at] != x->n)
        return LZ_FAIL(LZ_ESHAPE,
                       "in[%d] is %s: dimension %" PRId64 " has not %" PRId64 " examples", i,
                       lz_type_short(t, text, sizeof text), axis, x->n);
    x->n = t->shape.dims[at];
    x->in_axis[i] = at;
    for (int d = 0, k = 0; d < t->shape.rank; d++)
        if (d != at)
            s.dims[k++] = t->shape.dims[d];
    x->type[i] = lz_type_get(t->dtype, &s);
    return x->type[i] ? LZ_OK : lz_error_get()->status;
}

static lz_status find_axes(vmap *x)
{
    x->n = x->o && x->o->size > 0 ? x->o->size : -1;
    for (int i = 0; i < x->nin; i++)
        LZ_TRY(find_axis(x, i));
    return x->n >= 0 ? LZ_OK : LZ_FAIL(LZ_EINVAL, "no argument has examples, and no size is given");
}

static lz_status give(vmap *x, lz_node *n, bool mapped)
{
    if (!n)
        return lz_error_get()->status;
    LZ_TRY(lz_vec_push(&x->mapped, mapped));
    LZ_TRY(lz_vec_push(&x->args, n));
    lz_node_retain(n);
    return LZ_OK;
}

/* Argument i with the batch dimension in front. */
static lz_node *in_front(lz_tracer *t, const vmap *x, int i)
{
    lz_node *n = x->c.in.data[i];
    lz_ints perm = {.n = lz_node_type(n)->shape.rank, .v = {x->in_axis[i]}};
    if (x->in_axis[i] <= 0)
        return n;
    for (int d = 1; d < perm.n; d++)
        perm.v[d] = d <= x->in_axis[i] ? d - 1 : d;
    return lz_tracer_transpose(t, n, &perm);
}

static lz_status gather_args(vmap *x, lz_node *const *captured, uint32_t n)
{
    lz_tracer t;
    lz_tracer_begin(&t, "lz_vmap", x->c.site);
    lz_status s = t.thr ? LZ_OK : lz_error_get()->status;
    for (int i = 0; i < x->nin && s == LZ_OK; i++)
        s = give(x, in_front(&t, x, i), x->in_axis[i] >= 0);
    lz_shape examples = {.rank = 1, .dims = {x->n}};
    lz_node *like =
        lz_node_new_zeros(lz_type_get(LZ_I64, &(lz_shape){.rank = 0}), x->c.dev, x->c.site);
    if (s == LZ_OK)
        s = give(x, lz_tracer_iota(&t, LZ_I64, &examples, 0, like), true);
    lz_node_release(like);
    for (uint32_t i = 0; i < n && s == LZ_OK; i++)
        s = give(x, captured[i], false);
    lz_tracer_drop(&t);
    return s;
}

/* ---- recording ---- */

static lz_status record(vmap *x, lz_body *b, lz_body_fn *fn, void *user, lz_tensor **t,
                        lz_node **node)
{
    static const lz_shape scalar;
    for (int i = 0; i < x->nin; i++) {
        t[i] = lz_body_tensor(b, x->type[i]);
        LZ_TRY(lz_status_of(t[i]));
    }
    lz_node *number = lz_body_placeholder(b, lz_type_get(LZ_I64, &scalar));
    if (!number)
        return lz_error_get()->status;
    lz_body_loop(b, number, (uint64_t)x->n);
    lz_callback back = lz_callback_begin(b->thr, x->c.frame.outer);
    fn(t, t + x->nin, user);
    lz_callback_end(b->thr, &back);
    LZ_TRY(lz_body_results(t + x->nin, (uint32_t)x->nout, NULL, "result", node));
    return lz_body_region(b, node, (uint32_t)x->nout, &x->one);
}

static lz_status record_one(vmap *x, lz_body_fn *fn, void *user)
{
    lz_body b;
    lz_tensor **t = lz_calloc((size_t)x->nin + (size_t)x->nout + 1, sizeof *t);
    lz_node **node = lz_calloc((size_t)x->nout + 1, sizeof *node);
    lz_status s = t && node ? lz_body_begin(&b, x->c.dev)
                            : LZ_FAIL(LZ_EMEM, "no memory for %d arguments", x->nin);
    if (s == LZ_OK) {
        s = record(x, &b, fn, user, t, node);
        lz_body_end(&b);
        if (s == LZ_OK)
            s = gather_args(x, b.captured.data, b.captured.len);
        lz_body_free(&b);
    }
    for (int k = 0; node && k < x->nout; k++)
        lz_node_release(node[k]);
    lz_free(t);
    lz_free(node);
    return s;
}

/* ---- all examples ---- */

/* Result k with the batch dimension where it is wanted. */
static lz_val place(const vmap *x, lz_func *f, int k, lz_val v, bool mapped)
{
    int64_t axis = x->o && x->o->out_axes ? x->o->out_axes[k] : 0;
    if (axis == LZ_UNMAPPED && !mapped)
        return v;
    if (axis == LZ_UNMAPPED) {
        (void)LZ_FAIL(LZ_EINVAL, "result %d is unmapped, but each example has its own", k);
        return LZ_NOVAL;
    }
    v = lz_batch_front(f, v, x->n, mapped);
    if (v == LZ_NOVAL)
        return v;
    const lz_shape *s = &lz_val_type(f, v)->shape;
    int64_t at = axis < 0 ? axis + s->rank : axis;
    lz_ints perm = {.n = s->rank};
    if (at < 0 || at >= s->rank) {
        (void)LZ_FAIL(LZ_ERANGE, "result %d has %d dimensions with the examples, none is %" PRId64,
                      k, s->rank, axis);
        return LZ_NOVAL;
    }
    for (int d = 0; d < perm.n; d++)
        perm.v[d] = d < at ? d + 1 : d == at ? 0 : d;
    return at == 0 ? v : lz_build_transpose(f, v, &perm);
}

static lz_status build_all(const vmap *x, lz_func *f, lz_val *v, bool *mapped)
{
    lz_val *out = v + x->args.len;
    for (uint32_t i = 0; i < x->args.len; i++)
        v[i] = lz_build_param(f, lz_node_type(x->args.data[i]));
    LZ_TRY(f->status);
    LZ_TRY(lz_batch_inline(f, x->one, x->n, v, x->mapped.data, out, mapped));
    for (int k = 0; k < x->nout; k++) {
        out[k] = place(x, f, k, out[k], mapped[k]);
        if (out[k] == LZ_NOVAL)
            return lz_error_get()->status;
    }
    return lz_func_set_results(f, out, (uint32_t)x->nout);
}

static lz_status run_all(const vmap *x, lz_node **results)
{
    lz_func *f = lz_func_new("examples");
    lz_val *v = lz_alloc(((size_t)x->args.len + (size_t)x->nout + 1) * sizeof *v);
    bool *mapped = lz_calloc((size_t)x->nout + 1, sizeof *mapped);
    lz_status s = f && v && mapped ? build_all(x, f, v, mapped)
                                   : LZ_FAIL(LZ_EMEM, "no memory for a function");
    lz_func *g = s == LZ_OK ? lz_func_prune(f) : NULL;
    if (s == LZ_OK)
        s = g ? lz_region_perform(g, x->args.data, results, x->c.site) : lz_error_get()->status;
    lz_func_free(g);
    lz_func_free(f);
    lz_free(v);
    lz_free(mapped);
    return s;
}

static lz_status run(vmap *x, lz_body_fn *fn, void *user, lz_node **results)
{
    x->in_axis = lz_calloc((size_t)x->nin + 1, sizeof *x->in_axis);
    x->type = lz_calloc((size_t)x->nin + 1, sizeof *x->type);
    if (!x->in_axis || !x->type)
        return LZ_FAIL(LZ_EMEM, "no memory for %d arguments", x->nin);
    LZ_TRY(find_axes(x));
    LZ_TRY(lz_call_device(&x->c));
    LZ_TRY(record_one(x, fn, user));
    return run_all(x, results);
}

lz_status lz_vmap_at(lz_body_fn *fn, lz_tensor *const *in, int nin, int nout, void *user,
                     lz_tensor **out, const lz_vmap_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    vmap x = {.o = o, .nin = nin, .nout = nout};
    lz_node **r = NULL;
    lz_status s = lz_call_open(&x.c, "lz_vmap", site, out, nout);
    if (s == LZ_OK)
        s = lz_call_take(&x.c, in, nin, "in");
    if (s == LZ_OK && (nout < 1 || nout > LZ_CALL_MOST))
        s = LZ_FAIL(LZ_EINVAL, "%d results", nout);
    if (s == LZ_OK && (!fn || !out))
        s = LZ_FAIL(LZ_ENULL, "%s is NULL", fn ? "out" : "fn");
    if (s == LZ_OK && !(r = lz_calloc((size_t)nout, sizeof *r)))
        s = LZ_FAIL(LZ_EMEM, "no memory for %d results", nout);
    if (s == LZ_OK)
        s = run(&x, fn, user, r);
    for (uint32_t i = 0; i < x.args.len; i++)
        lz_node_release(x.args.data[i]);
    lz_vec_free(&x.args);
    lz_vec_free(&x.mapped);
    lz_free(x.in_axis);
    lz_free(x.type);
    return lz_call_close(&x.c, s, r, r ? nout : 0);
}
