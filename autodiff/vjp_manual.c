/* vjp_manual.c - the gradient of sdy.manual_computation is another one, whose body computes the
 * first again and differentiates it: what is the same on several devices outside gets the sum of
 * what they give, and of a result that all give each is given its share. As it is such an operation
 * itself, it has a gradient again. */
#include "autodiff/manual_axes.h"
#include "autodiff/vjp.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/attr.h"
#include "runtime/region/region_trace.h"
#include <lazuli/grad.h>
#include <lazuli/tensor_ops.h>

typedef struct manual {
    const lz_vjp *v;
    const lz_attr_manual *a;
    const lz_sharding **at, **to; /* of the operands, and of the results */
    uint32_t nin, nout;
    uint32_t *of, nof;     /* the operands whose gradient is wanted */
    uint32_t *from, nfrom; /* the results that have a gradient */
    lz_node **opnd;        /* [nin + nfrom]: operands, gradients of results; references */
    const lz_func *body;
    lz_body b;
} manual;

static bool moves(const lz_type *t)
{
    return lz_dtype_is_float(t->dtype) || lz_dtype_is_complex(t->dtype);
}

static lz_status open(manual *m)
{
    const lz_sig *sig = m->v->sig;
    size_t n = (size_t)sig->nopnd + sig->nresult + 1;
    m->at = lz_calloc(n, sizeof *m->at);
    m->of = lz_calloc(n, sizeof *m->of);
    m->opnd = lz_calloc(n, sizeof *m->opnd);
    if (!m->at || !m->of || !m->opnd)
        return LZ_FAIL(LZ_EMEM, "no memory for a gradient");
    m->to = m->at + m->nin;
    m->from = m->of + m->nin;
    LZ_TRY(lz_shardings_parse(m->a->in_shardings, m->at, m->nin));
    LZ_TRY(lz_shardings_parse(m->a->out_shardings, m->to, m->nout));
    for (uint32_t i = 0; i < m->nin; i++) {
        if (m->v->need[i] && moves(sig->opnd[i]))
            m->of[m->nof++] = i;
        if (!(m->opnd[i] = lz_trace_node_of(m->v->opnd[i])))
            return lz_error_get()->status;
    }
    for (uint32_t k = 0; k < m->nout; k++) {
        lz_tensor *g = m->v->grad_out[k];
        if (!g || !moves(sig->result[k]))
            continue;
        if (!(m->opnd[m->nin + m->nfrom] = lz_trace_node_of(g)))
            return lz_error_get()->status;
        m->from[m->nfrom++] = k;
    }
    return LZ_OK;
}

static void close(manual *m)
{
    for (uint32_t i = 0; m->opnd && i < m->nin + m->nfrom; i++)
        lz_node_release(m->opnd[i]);
    lz_free(m->opnd);
    lz_free(m->of);
    lz_free(m->at);
}

/* ---- the body ---- */

/* The manual axes along which a value is the same on all devices. */
static uint32_t same(const manual *m, const lz_sharding *s)
{
    return (uint32_t)m->a->manual_axes & ~lz_sharding_dims_mask(s);
}

/* The sum of the dot products of results with their gradients, whose share each of the devices that
 * give a result has. */
static lz_tensor *loss_of(const manual *m, lz_node *const *y, lz_node *const *g)
{
    lz_tensor *loss = NULL;
    for (uint32_t i = 0; i < m->nfrom; i++) {
        const lz_sharding *s = m->to[m->from[i]];
        int64_t n = lz_mesh_mask_size(s->mesh, same(m, s));
        lz_tensor *share = lz_trace_tensor_of(g[i], m->v->site);
        share = n > 1 ? lz_mul_scalar_at(share, 1.0 / (double)n, m->v->site) : share;
        loss = lz_v_pair(m->v, lz_trace_tensor_of(y[m->from[i]], m->v->site), share, loss);
    }
    return loss;
}

/* x, g: room for as many as are wanted. */
static lz_status differentiate(const manual *m, lz_node *const *in, lz_tensor *loss, lz_tensor **x,
                               lz_tensor **g, lz_node **r)
{
    const lz_grad_options o = {.struct_size = sizeof o, .allow_unused = true};
    for (uint32_t i = 0; i < m->nof; i++)
        x[i] = lz_trace_tensor_of(in[m->of[i]], m->v->site);
    LZ_TRY(lz_grad_at(loss, x, (int)m->nof, g, &o, m->v->site));
    for (uint32_t i = 0; i < m->nof; i++) {
        const lz_sharding *s = m->at[m->of[i]];
        g[i] = lz_manual_sum(s->mesh, same(m, s), g[i], m->v->site);
        if (!(r[i] = lz_trace_node_of(g[i])))
            return lz_error_get()->status;
    }
    return LZ_OK;
}

/* in: room for the operands and gradients, the results of the body, and of this one. */
static lz_status record(manual *m, lz_node **in, lz_tensor **x)
{
    const lz_func *f = m->a->body;
    lz_node **y = in + m->nin + m->nfrom, **r = y + m->nout;
    for (uint32_t i = 0; i < m->nin + m->nfrom; i++) {
        lz_val of = i < m->nin ? i : f->results[m->from[i - m->nin]];
        if (!(in[i] = lz_body_placeholder(&m->b, lz_val_type(f, of))))
            return lz_error_get()->status;
    }
    LZ_TRY(lz_region_replay(f, in, y, m->v->site));
    lz_status s = differentiate(m, in, loss_of(m, y, in + m->nin), x, x + m->nof, r);
    if (s == LZ_OK)
        s = lz_body_region(&m->b, r, m->nof, &m->body);
    for (uint32_t k = 0; k < m->nout + m->nof; k++)
        lz_node_release(y[k]);
    return s;
}

static lz_status record_body(manual *m)
{
    lz_node **in = lz_calloc((size_t)m->nin + m->nfrom + m->nout + m->nof + 1, sizeof *in);
    lz_tensor **x = lz_calloc(2 * (size_t)m->nof + 1, sizeof *x);
    lz_status s = in && x ? record(m, in, x) : LZ_FAIL(LZ_EMEM, "no memory for a gradient");
    lz_free(in);
    lz_free(x);
    return s;
}

/* ---- the operation ---- */

/* Shardings of operands, gradients of results and what the body took from outside (numbers), which
 * is whole everywhere; then of the gradients. */
static lz_status place(const manual *m, const lz_sharding **at)
{
    uint32_t n = 0, all = m->body->nparam;
    const lz_mesh *mesh = m->to[0]->mesh;
    for (uint32_t i = 0; i < m->nin; i++)
        at[n++] = m->at[i];
    for (uint32_t i = 0; i < m->nfrom; i++)
        at[n++] = m->to[m->from[i]];
    for (; n < all; n++)
        if (!(at[n] = lz_sharding_replicated(mesh, lz_val_type(m->body, n)->shape.rank)))
            return lz_error_get()->status;
    for (uint32_t i = 0; i < m->nof; i++)
        at[n++] = m->at[m->of[i]];
    return LZ_OK;
}

/* at, r: room for all. */
static lz_status emit(const manual *m, const lz_sharding **at, lz_node **r)
{
    lz_attr_any a;
    uint32_t n = m->nin + m->nfrom;
    lz_attr_init(&a, LZ_ATTR_manual);
    a.as_manual.manual_axes = m->a->manual_axes;
    a.as_manual.body = m->body;
    LZ_TRY(place(m, at));
    if (!(a.as_manual.in_shardings = lz_shardings_text(at, m->body->nparam)) ||
        !(a.as_manual.out_shardings = lz_shardings_text(at + m->body->nparam, m->nof)))
        return lz_error_get()->status;
    LZ_TRY(lz_control_op(LZ_OP_MANUAL_COMPUTATION, &a.head, m->opnd, n, m->b.captured.data,
                         m->b.captured.len, r, m->v->site));
    for (uint32_t i = 0; i < m->nof; i++) {
        m->v->grad_in[m->of[i]] = lz_trace_tensor_of(r[i], m->v->site);
        lz_node_release(r[i]);
    }
    return LZ_OK;
}

static lz_status emit_body(const manual *m)
{
    const lz_sharding **at = lz_calloc((size_t)m->body->nparam + m->nof + 1, sizeof *at);
    lz_node **r = lz_calloc((size_t)m->nof + 1, sizeof *r);
    lz_status s = at && r ? emit(m, at, r) : LZ_FAIL(LZ_EMEM, "no memory for a gradient");
    lz_free(at);
    lz_free(r);
    return s;
}

lz_status lz_vjp_manual(const lz_vjp *v)
{
    manual m = {
        .v = v, .a = LZ_ATTR(manual, v->sig->attr), .nin = v->sig->nopnd, .nout = v->sig->nresult};
    lz_status s = open(&m);
    if (s == LZ_OK && m.nof && m.nfrom) {
        s = lz_body_begin(&m.b, m.opnd[m.of[0]]->dev);
        if (s == LZ_OK) {
            s = record_body(&m);
            lz_body_end(&m.b);
        }
        if (s == LZ_OK)
            s = emit_body(&m);
        lz_body_free(&m.b);
    }
    close(&m);
    return s;
}
