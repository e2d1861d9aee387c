/* vjp_region.c - gradients of reductions, windows and scatters with arbitrary regions. The
 * operation is decomposed into operations on whole tensors; the gradient of that is traced on
 * placeholders for operands and gradients, and then replayed in place. Regions of reductions are
 * associative (StableHLO requires it), so they are applied to neighbours as a tree of logarithmic
 * depth. */
#include "autodiff/vjp_region.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/batch/batch.h"
#include "runtime/region/region_trace.h"
#include <lazuli/grad.h>
#include <string.h>

static bool has_gradient(const lz_type *t)
{
    return lz_dtype_is_float(t->dtype) || lz_dtype_is_complex(t->dtype);
}

/* ---- a region on tensors ---- */

lz_status lz_v_apply(const lz_vjp *v, const lz_func *f, lz_tensor *const *in, lz_tensor **out)
{
    lz_shape s = lz_shape_of(in[0]);
    int64_t n = lz_numel(in[0]);
    bool *all = lz_alloc((size_t)f->nparam + f->nresult + 1);
    lz_node **node = lz_calloc((size_t)f->nparam + f->nresult + 1, sizeof *node);
    lz_status st = all && node && n >= 0 ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for a region");
    const lz_func *g = NULL;
    if (st == LZ_OK) {
        memset(all, true, (size_t)f->nparam + f->nresult);
        if (!(g = lz_batch_region(f, n, all, all)))
            st = lz_error_get()->status;
    }
    for (uint32_t i = 0; i < f->nparam && st == LZ_OK; i++)
        if (!(node[i] = lz_trace_node_of(lz_hlo_reshape_at(in[i], LZ_SHAPE(n), v->site))))
            st = lz_error_get()->status;
    if (st == LZ_OK)
        st = lz_region_replay(g, node, node + f->nparam, v->site);
    for (uint32_t k = 0; k < f->nresult && st == LZ_OK; k++)
        out[k] = lz_hlo_reshape_at(lz_trace_tensor_of(node[f->nparam + k], v->site), s, v->site);
    for (uint32_t i = 0; node && i < f->nparam + f->nresult; i++)
        lz_node_release(node[i]);
    lz_free(node);
    lz_free(all);
    return st;
}

/* Rows from, from + 2, .. of x[m, n], `rows` of them. */
static lz_tensor *every_other(const lz_vjp *v, lz_tensor *x, int64_t from, int64_t rows, int64_t n)
{
    int64_t start[2] = {from, 0}, limit[2] = {rows ? from + 2 * rows - 1 : from, n},
            step[2] = {2, 1};
    return lz_hlo_slice_at(x, start, limit, step, 2, v->site);
}

lz_status lz_v_tree(const lz_vjp *v, const lz_func *f, lz_tensor **x, int64_t m, int64_t n)
{
    uint32_t k = f->nresult;
    lz_tensor **pair = lz_calloc(3 * (size_t)k, sizeof *pair), **y = pair + 2 * k;
    lz_status s = pair ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for a region");
    while (m > 1 && s == LZ_OK) {
        int64_t half = m / 2;
        for (uint32_t i = 0; i < k; i++) {
            pair[i] = every_other(v, x[i], 0, half, n);
            pair[k + i] = every_other(v, x[i], 1, half, n);
        }
        s = lz_v_apply(v, f, pair, y);
        for (uint32_t i = 0; i < k && s == LZ_OK; i++) {
            lz_tensor *both[2] = {y[i], m % 2 ? every_other(v, x[i], m - 1, 1, n) : NULL};
            x[i] = m % 2 ? lz_hlo_concatenate_at(both, 2, 0, v->site) : y[i];
        }
        m = half + m % 2;
    }
    lz_free(pair);
    return s;
}

lz_status lz_v_fold(const lz_vjp *v, const lz_func *f, lz_tensor *const *init, lz_tensor **x,
                    int64_t m, int64_t n)
{
    uint32_t k = f->nresult;
    lz_tensor **both = lz_calloc(2 * (size_t)k, sizeof *both);
    lz_status s = both ? lz_v_tree(v, f, x, m, n) : LZ_FAIL(LZ_EMEM, "no memory for a region");
    for (uint32_t i = 0; i < k && s == LZ_OK; i++) {
        both[i] = lz_hlo_broadcast_in_dim_at(init[i], LZ_SHAPE(n), NULL, 0, v->site);
        both[k + i] = m ? lz_hlo_reshape_at(x[i], LZ_SHAPE(n), v->site) : NULL;
        x[i] = both[i]; /* of nothing */
    }
    if (s == LZ_OK && m)
        s = lz_v_apply(v, f, both, x);
    lz_free(both);
    return s;
}

/* ---- the gradient of what is written so ---- */

typedef struct composed {
    const lz_vjp *v;
    lz_v_recipe *recipe;
    lz_body b;
    lz_tensor **in, **given, **out, **param,
        **grad;            /* room: operands, gradients, results; wanted results */
    lz_node **node, **arg; /* gradients; arguments for the placeholders: owned */
    uint32_t nparam, narg;
} composed;

static lz_status add_placeholder(composed *c, const lz_type *t, lz_tensor *value,
                                 lz_tensor **placeholder)
{
    *placeholder = lz_body_tensor(&c->b, t);
    LZ_TRY(lz_status_of(*placeholder));
    if (!(c->arg[c->narg] = lz_trace_node_of(value)))
        return lz_error_get()->status;
    c->narg++;
    return LZ_OK;
}

static lz_status record(composed *c, const lz_func **region)
{
    const lz_vjp *v = c->v;
    lz_tensor *loss = NULL;
    for (uint32_t i = 0; i < v->sig->nopnd; i++)
        LZ_TRY(add_placeholder(c, v->sig->opnd[i], v->opnd[i], &c->in[i]));
    for (uint32_t k = 0; k < v->sig->nresult; k++)
        if (v->grad_out[k] && has_gradient(v->sig->result[k]))
            LZ_TRY(add_placeholder(c, v->sig->result[k], v->grad_out[k], &c->given[k]));
    lz_vjp inner = *v;
    inner.opnd = c->in;
    inner.result = NULL;
    LZ_TRY(c->recipe(&inner, c->out));
    for (uint32_t k = 0; k < v->sig->nresult; k++)
        if (c->given[k] && c->out[k])
            loss = lz_v_pair(v, c->out[k], c->given[k], loss);
    for (uint32_t i = 0; i < v->sig->nopnd; i++)
        if (v->need[i])
            c->param[c->nparam++] = c->in[i];
    if (!loss || !c->nparam)
        return LZ_OK;
    const lz_grad_options o = {.struct_size = sizeof o, .allow_unused = true};
    LZ_TRY(lz_grad_at(loss, c->param, c->nparam, c->grad, &o, v->site));
    for (uint32_t i = 0; i < c->nparam; i++)
        if (!(c->node[i] = lz_trace_node_of(c->grad[i])))
            return lz_error_get()->status;
    return lz_body_region(&c->b, c->node, c->nparam, region);
}

static lz_status replay(composed *c, const lz_func *region)
{
    const lz_vjp *v = c->v;
    lz_node **in = lz_calloc((size_t)region->nparam + region->nresult + 1, sizeof *in);
    if (!in)
        return LZ_FAIL(LZ_EMEM, "no memory for a gradient");
    memcpy(in, c->arg, c->narg * sizeof *in);
    for (uint32_t i = 0; i < c->b.captured.len; i++)
        in[c->narg + i] = c->b.captured.data[i];
    lz_node **r = in + region->nparam;
    lz_status s = lz_region_replay(region, in, r, v->site);
    for (uint32_t i = 0, at = 0; i < v->sig->nopnd && s == LZ_OK; i++)
        if (v->need[i])
            v->grad_in[i] = lz_trace_tensor_of(r[at++], v->site);
    for (uint32_t i = 0; i < region->nresult; i++)
        lz_node_release(r[i]);
    lz_free(in);
    return s;
}

static lz_dev *device_of(const lz_vjp *v)
{
    lz_dev *dev = NULL;
    for (uint32_t i = 0; i < v->sig->nopnd; i++) { /* host scalars have no device of their own */
        lz_node *n = lz_trace_node_of(v->opnd[i]);
        if (!n)
            return NULL;
        dev = !dev || !lz_node_is_host(n) ? n->dev : dev;
        lz_node_release(n);
    }
    return dev;
}

lz_status lz_v_composed(const lz_vjp *v, lz_v_recipe *recipe)
{
    composed c = {.v = v, .recipe = recipe};
    size_t n = v->sig->nopnd, r = v->sig->nresult;
    const lz_func *region = NULL;
    lz_dev *dev = device_of(v);
    c.in = lz_calloc(3 * n + 2 * r + 1, sizeof *c.in);
    c.node = lz_calloc(2 * n + r + 1, sizeof *c.node);
    c.given = c.in + n;
    c.out = c.given + r;
    c.param = c.out + r;
    c.grad = c.param + n;
    c.arg = c.node + n;
    lz_status s = !dev             ? lz_error_get()->status
                  : c.in && c.node ? lz_body_begin(&c.b, dev)
                                   : LZ_FAIL(LZ_EMEM, "no memory for a gradient");
    if (s == LZ_OK) {
        s = record(&c, &region);
        lz_body_end(&c.b);
        if (s == LZ_OK && region)
            s = replay(&c, region);
        lz_body_free(&c.b);
    }
    for (size_t i = 0; c.node && i < 2 * n + r; i++)
        lz_node_release(c.node[i]);
    lz_free(c.node);
    lz_free(c.in);
    return s;
}
