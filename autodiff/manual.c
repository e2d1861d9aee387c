/* manual.c - lz_manual (include/lazuli/manual.h): a body that each device runs on its parts, as
 * sdy.manual_computation. Its gradient is another one, whose body computes the first again and
 * differentiates it: what is the same on several devices outside gets the sum of what they give,
 * and of a result that all give each is given its share. Threads: of the thread that records. */
#include "autodiff/manual_axes.h"
#include "autodiff/vjp.h"
#include "base/alloc.h"
#include "base/fork.h"
#include "ir/attr.h"
#include "runtime/region/region_trace.h"
#include "runtime/spmd/mark.h"
#include <inttypes.h>
#include <lazuli/grad.h>
#include <lazuli/manual.h>
#include <lazuli/math_ops.h>
#include <lazuli/tensor_ops.h>

enum { MOST_VALUES = 1 << 16 };

typedef struct manual {
    const lz_mesh *mesh;
    lz_dev *dev;
    const lz_site *site;
    lz_body_fn *fn;
    void *user;
    int nin, nout;          /* nin: with what the body took from outside, once it is recorded */
    const lz_sharding **at; /* of the inputs, */
    const lz_sharding **to; /* and of the results */
    lz_tensor **in;         /* [nin] */
    const lz_func *body;
    uint64_t inside; /* nodes from this id on were made in the body */
} manual;

/* ---- as operations ---- */

static void release_all(lz_node **n, uint32_t count)
{
    for (uint32_t i = 0; n && i < count; i++)
        lz_node_release(n[i]);
    lz_free(n);
}

/* Nodes of handles: owned. NULL with the error recorded. */
static lz_node **nodes_of(lz_tensor *const *t, uint32_t n)
{
    lz_node **x = lz_calloc((size_t)n + 1, sizeof *x);
    if (!x)
        (void)LZ_FAIL(LZ_EMEM, "no memory for %u values", n);
    for (uint32_t i = 0; x && i < n; i++)
        if (!(x[i] = lz_trace_node_of(t[i]))) {
            release_all(x, n);
            return NULL;
        }
    return x;
}

/* body on all devices; on one device it is what the body is. */
static lz_status emit(const manual *m, const lz_func *body, const lz_sharding *const *at,
                      const lz_sharding *const *to, lz_tensor *const *in, lz_tensor **out)
{
    lz_attr_any a;
    uint32_t nin = body->nparam, nout = body->nresult;
    lz_node **x = nodes_of(in, nin), **r = lz_calloc((size_t)nout + 1, sizeof *r);
    lz_status s = x && r ? LZ_OK : lz_error_get()->status;
    lz_attr_init(&a, LZ_ATTR_manual);
    a.as_manual.manual_axes = lz_mesh_all(m->mesh);
    a.as_manual.body = body;
    if (s == LZ_OK && (!(a.as_manual.in_shardings = lz_shardings_text(at, nin)) ||
                       !(a.as_manual.out_shardings = lz_shardings_text(to, nout))))
        s = lz_error_get()->status;
    if (s == LZ_OK)
        s = m->mesh->nfactor
                ? lz_control_op(LZ_OP_MANUAL_COMPUTATION, &a.head, x, nin, NULL, 0, r, m->site)
                : lz_region_replay(body, x, r, m->site);
    for (uint32_t k = 0; k < nout && s == LZ_OK; k++)
        out[k] = lz_trace_tensor_of(r[k], m->site);
    release_all(x, nin);
    release_all(r, nout);
    return s;
}

/* ---- the gradient ---- */

static bool has_gradient(const lz_type *t)
{
    return lz_dtype_is_float(t->dtype) || lz_dtype_is_complex(t->dtype);
}

/* loss and the dot product of result k with its gradient, whose share each of the devices that give
 * it has.
 */
static lz_tensor *add_term(const manual *m, int k, lz_tensor *y, lz_tensor *g, lz_tensor *loss)
{
    uint32_t same = lz_mesh_all(m->mesh) & ~lz_sharding_dims_mask(m->to[k]);
    int64_t n = lz_mesh_mask_size(m->mesh, same);
    const lz_vjp v = {.site = m->site};
    g = n > 1 ? lz_mul_scalar_at(g, 1.0 / (double)n, m->site) : g;
    return lz_v_pair(&v, y, g, loss);
}

/* Sums of what the results contribute. NULL: no result has a gradient. */
static lz_tensor *loss_of(const manual *m, lz_node *const *y, lz_tensor *const *g)
{
    lz_tensor *loss = NULL;
    for (int k = 0; k < m->nout; k++)
        if (has_gradient(lz_node_type(y[k])))
            loss = add_term(m, k, lz_trace_tensor_of(y[k], m->site), g[k], loss);
    return loss;
}

/* g[i]: gradients of the body by its n inputs that have one, summed over the devices that have the
 * same input. */
static lz_status differentiate(const manual *m, lz_tensor *loss, lz_tensor *const *x, uint32_t n,
                               const int *which, lz_tensor **g)
{
    const lz_grad_options o = {.struct_size = sizeof o, .allow_unused = true};
    LZ_TRY(lz_grad_at(loss, x, n, g, &o, m->site));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t same = lz_mesh_all(m->mesh) & ~lz_sharding_dims_mask(m->at[which[i]]);
        g[i] = lz_manual_sum(m->mesh, same, g[i], m->site);
        LZ_TRY(lz_status_of(g[i]));
    }
    return LZ_OK;
}

/* Records the body of the gradient: of inputs and gradients of results. t: room for both, and twice
 * as many more. which: numbers of the n inputs that have a gradient. */
static lz_status record_gradient(const manual *m, lz_body *b, lz_tensor **t, const int *which,
                                 uint32_t n, const lz_func **out)
{
    uint32_t nparam = m->body->nparam, nresult = m->body->nresult;
    lz_tensor **x = t + nparam + nresult, **g = x + nparam;
    for (uint32_t i = 0; i < nparam + nresult; i++) {
        t[i] = lz_body_tensor(b, i < nparam ? lz_val_type(m->body, i)
                                            : lz_val_type(m->body, m->body->results[i - nparam]));
        LZ_TRY(lz_status_of(t[i]));
    }
    for (uint32_t i = 0; i < n; i++)
        x[i] = t[which[i]];
    lz_node **in = nodes_of(t, nparam), **y = lz_calloc((size_t)nresult + 1, sizeof *y), **r = NULL;
    lz_status s = in && y ? lz_region_replay(m->body, in, y, m->site) : LZ_EMEM;
    if (s == LZ_OK) {
        lz_tensor *loss = loss_of(m, y, t + nparam);
        s = loss ? differentiate(m, loss, x, n, which, g)
                 : LZ_FAIL(LZ_EGRAD, "no result is a float");
    }
    if (s == LZ_OK && !(r = nodes_of(g, n)))
        s = lz_error_get()->status;
    if (s == LZ_OK)
        s = lz_body_region(b, r, n, out);
    release_all(in, nparam);
    release_all(y, nresult);
    release_all(r, n);
    return s;
}

/* Runs the gradient's body on inputs, gradients of results and what it took from outside (numbers).
 */
static lz_status emit_gradient(const manual *m, const lz_func *body, const lz_body *b,
                               lz_tensor *const *in, lz_tensor *const *grad_out, const int *which,
                               lz_tensor **grad_in)
{
    uint32_t nin = m->body->nparam, nout = m->body->nresult, all = body->nparam, n = body->nresult;
    const lz_sharding **at = lz_calloc((size_t)all + n + 1, sizeof *at);
    lz_tensor **t = lz_calloc((size_t)all + n + 1, sizeof *t);
    lz_status s = at && t ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for a gradient");
    for (uint32_t i = 0; s == LZ_OK && i < all; i++) {
        if (i < nin + nout) {
            at[i] = i < nin ? m->at[i] : m->to[i - nin];
            t[i] = i < nin ? in[i] : grad_out[i - nin];
            continue;
        }
        t[i] = lz_trace_tensor_of(b->captured.data[i - nin - nout], m->site);
        at[i] = lz_sharding_replicated(m->mesh, lz_val_type(body, i)->shape.rank);
        s = at[i] ? lz_status_of(t[i]) : lz_error_get()->status;
    }
    for (uint32_t k = 0; s == LZ_OK && k < n; k++)
        at[all + k] = m->at[which[k]];
    if (s == LZ_OK)
        s = emit(m, body, at, at + all, t, t + all);
    for (uint32_t k = 0; s == LZ_OK && k < n; k++)
        grad_in[which[k]] = t[all + k];
    lz_free(t);
    lz_free(at);
    return s;
}

static lz_status gradient(const manual *m, lz_tensor *const *in, lz_tensor *const *grad_out,
                          lz_tensor **grad_in)
{
    uint32_t nparam = m->body->nparam, n = 0;
    lz_tensor **t = lz_calloc(3 * (size_t)nparam + m->body->nresult + 1, sizeof *t);
    int *which = lz_calloc((size_t)nparam + 1, sizeof *which);
    const lz_func *body = NULL;
    lz_body b = {0};
    lz_status s =
        t && which ? lz_body_begin(&b, m->dev) : LZ_FAIL(LZ_EMEM, "no memory for a gradient");
    for (uint32_t i = 0; s == LZ_OK && i < nparam; i++)
        if (has_gradient(lz_val_type(m->body, i)))
            which[n++] = (int)i;
    if (s == LZ_OK) {
        s = record_gradient(m, &b, t, which, n, &body);
        lz_body_end(&b);
    }
    if (s == LZ_OK)
        s = emit_gradient(m, body, &b, in, grad_out, which, grad_in);
    lz_body_free(&b);
    lz_free(t);
    lz_free(which);
    return s;
}

static void forward(lz_tensor *const *in, lz_tensor **out, lz_tensor **residuals, void *user)
{
    const manual *m = user;
    for (int i = 0; i < m->nin; i++)
        residuals[i] = in[i];
    lz_status s = emit(m, m->body, m->at, m->to, in, out);
    for (int k = 0; k < m->nout && s != LZ_OK; k++)
        out[k] = lz_trace_error_tensor("lz_manual", m->site);
}

static void backward(lz_tensor *const *residuals, lz_tensor *const *grad_out, lz_tensor **grad_in,
                     void *user)
{
    const manual *m = user;
    if (gradient(m, residuals, grad_out, grad_in) != LZ_OK && m->nin)
        grad_in[0] = lz_trace_error_tensor("lz_manual", m->site);
}

/* ---- recording ---- */

/* What a device has of an input. */
static const lz_type *local_type(const manual *m, int k, const lz_type *whole)
{
    const lz_sharding *s = m->at[k];
    lz_buf b = {0};
    for (int d = 0; d < s->rank; d++) {
        int64_t n = lz_axis_list_size(m->mesh, &s->dims[d]);
        if (whole->shape.dims[d] % n == 0)
            continue;
        lz_sharding_print(&b, s, "mesh");
        (void)LZ_FAIL(LZ_ESHAPE,
                      "input %d: dimension %d of %" PRId64 " elements does not split over %" PRId64
                      " devices, %.120s",
                      k, d, whole->shape.dims[d], n, lz_buf_str(&b));
        lz_buf_free(&b);
        return NULL;
    }
    return lz_sharding_local(s, whole);
}

static lz_status callback(const manual *m, lz_body *b, lz_tensor **t)
{
    for (int i = 0; i < m->nin; i++) {
        lz_node *n = lz_trace_node_of(m->in[i]);
        const lz_type *local = n ? local_type(m, i, lz_node_type(n)) : NULL;
        lz_node_release(n);
        if (!local)
            return lz_error_get()->status;
        t[i] = lz_body_tensor(b, local);
        LZ_TRY(lz_status_of(t[i]));
    }
    lz_callback back = lz_callback_begin(b->thr);
    lz_manual_mesh = m->mesh;
    m->fn(t, t + m->nin, m->user);
    lz_manual_mesh = NULL;
    lz_callback_end(b->thr, &back);
    for (int k = 0; k < m->nout; k++) {
        if (!t[m->nin + k])
            return LZ_FAIL(LZ_ENULL, "result %d is NULL", k);
        LZ_TRY(lz_status_of(t[m->nin + k]));
    }
    return LZ_OK;
}

static const lz_sharding *spec_sharding(const manual *m, const lz_partition_spec *spec,
                                        const lz_type *type)
{
    const char *text = lz_spec_text(m->mesh, spec, type);
    return text ? lz_sharding_parse(text) : NULL;
}

/* The region; what it takes from outside become inputs, whole on each device. */
static lz_status record(manual *m, lz_body *b, lz_tensor **t, const lz_partition_spec *out_specs)
{
    m->inside = b->rec.first_id;
    LZ_TRY(callback(m, b, t));
    lz_node **r = nodes_of(t + m->nin, (uint32_t)m->nout);
    lz_status s = r ? LZ_OK : lz_error_get()->status;
    for (int k = 0; k < m->nout && s == LZ_OK; k++)
        if (!(m->to[k] = spec_sharding(m, &out_specs[k], lz_node_type(r[k]))))
            s = lz_error_get()->status;
    if (s == LZ_OK)
        s = lz_body_region(b, r, (uint32_t)m->nout, &m->body);
    release_all(r, (uint32_t)m->nout);
    return s;
}

static lz_status take_captured(manual *m, const lz_body *b)
{
    uint32_t n = (uint32_t)m->nin, all = n + b->captured.len;
    const lz_sharding **at = lz_realloc(m->at, ((size_t)all + 1) * sizeof *at);
    m->at = at ? at : m->at;
    lz_tensor **in = at ? lz_realloc(m->in, ((size_t)all + 1) * sizeof *in) : NULL;
    m->in = in ? in : m->in;
    if (!in)
        return LZ_FAIL(LZ_EMEM, "no memory for %u values", all);
    for (uint32_t i = 0; i < b->captured.len; i++) {
        lz_node *x = b->captured.data[i];
        m->in[n + i] = lz_trace_tensor_of(x, m->site);
        LZ_TRY(lz_status_of(m->in[n + i]));
        if (!(m->at[n + i] = lz_sharding_replicated(m->mesh, lz_node_type(x)->shape.rank)))
            return lz_error_get()->status;
    }
    m->nin = (int)all;
    return LZ_OK;
}

/* Whether a gradient may ever be asked for: of a float result, by a float that is not detached, nor
 * a number of the body's own. */
static bool may_have_gradient(const manual *m)
{
    bool to = false, from = false;
    for (uint32_t k = 0; k < m->body->nresult; k++)
        to |= has_gradient(lz_val_type(m->body, m->body->results[k]));
    for (uint32_t i = 0; i < m->body->nparam; i++) {
        lz_node *n = has_gradient(lz_val_type(m->body, i)) ? lz_trace_node_of(m->in[i]) : NULL;
        from |= n && n->id < m->inside && !(atomic_load(&n->flags) & LZ_NODE_NOGRAD);
        lz_node_release(n);
    }
    return to && from;
}

static lz_status apply(manual *m, lz_tensor **out)
{
    if (!may_have_gradient(m))
        return emit(m, m->body, m->at, m->to, m->in, out);
    return lz_custom_vjp_at(forward, backward, m->in, m->nin, m->nout, m->nin, m, out, NULL,
                            m->site);
}

static lz_status open(manual *m, lz_tensor *const *in, const lz_partition_spec *in_specs)
{
    m->dev = NULL;
    for (int i = 0; i < m->nin; i++) {
        if (!in[i])
            return LZ_FAIL(LZ_ENULL, "in[%d] is NULL", i);
        lz_node *n = lz_trace_node_of(in[i]);
        if (!n)
            return lz_error_get()->status;
        m->in[i] = in[i];
        m->dev = m->dev && lz_node_is_host(n) ? m->dev : n->dev;
        m->at[i] = spec_sharding(m, &in_specs[i], lz_node_type(n));
        lz_node_release(n);
        if (!m->at[i])
            return lz_error_get()->status;
    }
    m->dev = m->dev ? m->dev : lz_dev_current();
    return m->dev ? lz_mark_check_device(m->dev, m->mesh) : lz_error_get()->status;
}

static lz_status check(const manual *m, lz_tensor *const *in, const lz_partition_spec *in_specs,
                       const lz_partition_spec *out_specs)
{
    if (!m->mesh || !m->fn)
        return LZ_FAIL(LZ_ENULL, "%s is NULL", m->mesh ? "fn" : "mesh");
    if (m->nin < 0 || m->nout < 1 || m->nin > MOST_VALUES || m->nout > MOST_VALUES)
        return LZ_FAIL(LZ_EINVAL, "%d inputs and %d results", m->nin, m->nout);
    if ((m->nin && (!in || !in_specs)) || !out_specs)
        return LZ_FAIL(LZ_ENULL, "%s is NULL", !out_specs ? "out_specs" : in ? "in_specs" : "in");
    if (lz_manual_mesh)
        return LZ_FAIL(LZ_EUNSUPPORTED, "lz_manual inside of the body of another");
    return LZ_OK;
}

static lz_status run(manual *m, lz_tensor *const *in, const lz_partition_spec *in_specs,
                     const lz_partition_spec *out_specs, lz_tensor **out)
{
    lz_body b = {0};
    LZ_TRY(check(m, in, in_specs, out_specs));
    lz_tensor **t = lz_calloc((size_t)m->nin + (size_t)m->nout, sizeof *t);
    m->at = lz_calloc((size_t)m->nin + 1, sizeof *m->at);
    m->to = lz_calloc((size_t)m->nout + 1, sizeof *m->to);
    m->in = lz_calloc((size_t)m->nin + 1, sizeof *m->in);
    lz_status s = t && m->at && m->to && m->in
                      ? open(m, in, in_specs)
                      : LZ_FAIL(LZ_EMEM, "no memory for %d values", m->nin);
    if (s == LZ_OK)
        s = lz_body_begin(&b, m->dev);
    if (s == LZ_OK) {
        s = record(m, &b, t, out_specs);
        lz_body_end(&b);
    }
    if (s == LZ_OK)
        s = take_captured(m, &b);
    if (s == LZ_OK)
        s = apply(m, out);
    lz_body_free(&b);
    lz_free(t);
    lz_free(m->at);
    lz_free(m->to);
    lz_free(m->in);
    return s;
}

lz_status lz_manual_at(lz_body_fn *fn, lz_mesh *mesh, lz_tensor *const *in,
                       const lz_partition_spec *in_specs, int nin,
                       const lz_partition_spec *out_specs, int nout, void *user, lz_tensor **out,
                       const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    manual m = {.mesh = mesh, .site = site, .fn = fn, .user = user, .nin = nin, .nout = nout};
    lz_api_frame f = lz_api_enter("lz_manual", site);
    int n = nout > 0 && nout <= MOST_VALUES ? nout : 0;
    lz_tensor **made = lz_calloc((size_t)n + 1, sizeof *made);
    lz_node **r = NULL;
    lz_status s = !made ? LZ_FAIL(LZ_EMEM, "no memory for %d results", nout)
                  : out ? lz_scope_begin()
                        : LZ_FAIL(LZ_ENULL, "out is NULL");
    if (s == LZ_OK) {
        s = run(&m, in, in_specs, out_specs, made);
        if (s == LZ_OK && !(r = nodes_of(made, (uint32_t)n)))
            s = lz_error_get()->status;
        LZ_QUIETLY {
            (void)lz_scope_end();
        }
    }
    s = lz_api_results(&f, lz_api_status(s), out, n, r, site);
    release_all(r, (uint32_t)n);
    lz_free(made);
    return lz_api_leave(&f, s);
}
