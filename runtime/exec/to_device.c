/* to_device.c - copies to other devices: peer-to-peer where the backend supports it, through the
 * host otherwise. The source is computed first, and the copy starts a graph of its own: a graph is
 * of one device. Threads: thread-safe; never holds two devices' locks. */
#include "base/log.h"
#include "runtime/debug/metrics.h"
#include "runtime/graph/handle.h"
#include "runtime/exec/sync.h"
#include "runtime/graph/trace_builder.h"
#include <inttypes.h>

/* ---- copying ---- */

static void count(lz_metric_id bytes, lz_metric_id time, size_t nbytes, int64_t t0)
{
    lz_metric_add(time, (double)(lz_now_ns() - t0));
    lz_metric_add(bytes, (double)nbytes);
}

static lz_status read_to(const lz_dev *from, lz_device_buffer *src, void *p, size_t nbytes)
{
    int64_t t0 = lz_now_ns();
    LZ_TRY(from->be->copy_out(src, p, nbytes));
    count(LZ_METRIC_InboundData, LZ_METRIC_TransferFromDeviceTime, nbytes, t0);
    return LZ_OK;
}

static lz_status write_from(const lz_dev *to, lz_device_buffer *dst, const void *p, size_t nbytes)
{
    int64_t t0 = lz_now_ns();
    LZ_TRY(to->be->copy_in(dst, p, nbytes));
    count(LZ_METRIC_OutboundData, LZ_METRIC_TransferToDeviceTime, nbytes, t0);
    return LZ_OK;
}

/* In one copy where either device's memory is host memory. */
static lz_status through_host(const lz_dev *from, lz_device_buffer *src, const lz_dev *to,
                              lz_device_buffer *dst, size_t nbytes)
{
    LZ_TRY(lz_dev_may_wait_for(src));
    if (from->be->host_memory) {
        LZ_TRY(lz_event_wait(src->ready));
        return write_from(to, dst, src->data, nbytes);
    }
    if (to->be->host_memory)
        return read_to(from, src, dst->data, nbytes);
    void *p = lz_alloc(nbytes);
    if (!p)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu bytes on their way from %s to %s", nbytes,
                       from->name, to->name);
    lz_status s = read_to(from, src, p, nbytes);
    if (s == LZ_OK)
        s = write_from(to, dst, p, nbytes);
    lz_free(p);
    return s;
}

static lz_status copy(const lz_dev *from, lz_device_buffer *src, const lz_dev *to,
                      lz_device_buffer *dst, size_t nbytes)
{
    if (!nbytes)
        return LZ_OK;
    if (from->be == to->be && from->be->copy_across) {
        lz_error before = *lz_error_get();
        lz_status s = from->be->copy_across(dst, src, nbytes);
        if (s == LZ_OK)
            lz_metric_add(LZ_METRIC_DeviceToDeviceData, (double)nbytes);
        if (s != LZ_EUNSUPPORTED)
            return s;
        lz_error_set(&before);
    }
    return through_host(from, src, to, dst, nbytes);
}

/* ---- moving ---- */

/* The buffer of a node that the caller holds, computed or being computed. */
static lz_status buffer_of(lz_node *n, lz_device_buffer **out)
{
    LZ_TRY(lz_node_not_placeholder(n));
    if (!lz_node_buf(n))
        LZ_TRY(lz_sync_nodes(n->dev, &n, 1, LZ_CAUSE_SYNC, false));
    *out = lz_node_buf(n);
    lz_device_buffer_retain(*out);
    return LZ_OK;
}

static lz_node *move(lz_node *n, lz_dev *to, const lz_site *site)
{
    const lz_type *type = lz_node_type(n);
    lz_device_buffer *src, *dst = NULL;
    if (buffer_of(n, &src) != LZ_OK)
        return NULL;
    lz_status s = to->be->alloc(to->ordinal, type->nbytes, &dst);
    if (s == LZ_OK)
        s = copy(n->dev, src, to, dst, type->nbytes);
    lz_device_buffer_release(src);
    lz_node *r = s == LZ_OK ? lz_node_new_buffer(type, to, dst, site) : NULL;
    if (!r)
        lz_device_buffer_release(dst);
    else
        lz_sync_note_data(type->nbytes);
    return r;
}

/* Whether x, or a value it depends on, requires a gradient. */
static bool requires_grad(lz_node *x)
{
    size_t n = lz_trace_marked(NULL, 0);
    lz_tensor **marked = n ? lz_alloc(n * sizeof *marked) : NULL;
    lz_node **order = NULL;
    uint32_t count = 0;
    bool found = false;
    if (!marked)
        return false;
    size_t now = lz_trace_marked(marked, n);
    lz_trace_lock(x->dev);
    if (lz_trace_order(&x, 1, 0, &order, &count) == LZ_OK)
        for (size_t i = 0; i < now && i < n && !found; i++) {
            uint64_t h = lz_handle_bits(marked[i]);
            lz_slot *s = lz_slot_peek(h);
            lz_node *m = s ? lz_slot_node_peek(s, h) : NULL;
            found = m && m->index < count && order[m->index] == m;
            lz_node_release(m);
        }
    lz_trace_unlock(x->dev);
    lz_free(order);
    lz_free(marked);
    return found;
}

static lz_node *to_device(lz_tracer *c, lz_node *n, const char *device)
{
    lz_dev *to = n ? (device ? lz_dev_find(device) : lz_tracer_dev(c, NULL)) : NULL;
    if (!to || n->dev == to)
        return to ? n : NULL;
    if (lz_node_is_host(n))
        return lz_tracer_own(
            c, lz_node_new_host((lz_node_kind)n->kind, lz_node_type(n), n->imm, to, c->site));
    if (requires_grad(n))
        LZ_WARN_ONCE(
            "autodiff",
            "lz_to_device: gradients end at the copy, and what it copies is made of a tensor "
            "that requires one: take lz_grad of the copy, and give it, moved back, as "
            "the grad_output of what was copied");
    return lz_tracer_own(c, move(n, to, c->site));
}

lz_tensor *lz_to_device_at(lz_tensor *x, const char *device, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_tracer c;
    lz_tracer_begin(&c, "lz_to_device", site);
    return lz_tracer_end(&c, to_device(&c, lz_tracer_in(&c, x), device));
}

size_t lz_device_of(const lz_tensor *t, char *buf, size_t n)
{
    LZ_PUBLIC(0);
    lz_node *x = lz_trace_node_of(t);
    lz_buf text = {0};
    if (x)
        lz_buf_printf(&text, "%s", x->dev->name);
    else
        lz_error_annotate("lz_device_of", NULL);
    lz_node_release(x);
    return lz_api_text(&text, buf, n);
}
