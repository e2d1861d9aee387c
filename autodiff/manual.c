/* manual.c - lz_manual (include/lazuli/manual.h): a body that each device runs on its parts, as
 * sdy.manual_computation, whose gradient is in vjp_manual.c. Threads: of the thread that records.
 */
#include "autodiff/manual_axes.h"
#include "base/alloc.h"
#include "base/fork.h"
#include "ir/attr.h"
#include "runtime/region/region_trace.h"
#include "runtime/spmd/mark.h"
#include <inttypes.h>
#include <lazuli/manual.h>

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

/* The body on all devices; on one device it is what the body is. */
static lz_status emit(const manual *m, lz_tensor **out)
{
    lz_attr_any a;
    uint32_t nin = m->body->nparam, nout = m->body->nresult;
    lz_node **x = nodes_of(m->in, nin), **r = lz_calloc((size_t)nout + 1, sizeof *r);
    lz_status s = x && r ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for %u results", nout);
    lz_attr_init(&a, LZ_ATTR_manual);
    a.as_manual.manual_axes = lz_mesh_all(m->mesh);
    a.as_manual.body = m->body;
    if (s == LZ_OK && (!(a.as_manual.in_shardings = lz_shardings_text(m->at, nin)) ||
                       !(a.as_manual.out_shardings = lz_shardings_text(m->to, nout))))
        s = lz_error_get()->status;
    if (s == LZ_OK)
        s = m->mesh->nfactor
                ? lz_control_op(LZ_OP_MANUAL_COMPUTATION, &a.head, x, nin, NULL, 0, r, m->site)
                : lz_region_perform(m->body, x, r, m->site);
    for (uint32_t k = 0; k < nout && s == LZ_OK; k++)
        out[k] = lz_trace_tensor_of(r[k], m->site);
    release_all(x, nin);
    release_all(r, nout);
    return s;
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
    lz_callback back = lz_callback_begin(b->thr, true);
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
        s = emit(m, out);
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
