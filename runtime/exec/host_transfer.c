/* host_transfer.c - values in and out: uploads, borrowed memory, reads, and queries of a tensor
 * that execute nothing. */
#include "base/callout.h"
#include "base/config.h"
#include "base/log.h"
#include "base/timeline/timeline.h"
#include "base/unseen_error.h"
#include "runtime/debug/metrics.h"
#include "runtime/exec/sync.h"
#include "runtime/graph/recording.h"
#include "runtime/graph/trace_builder.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- in ---- */

/* A buffer with nbytes of data. */
static lz_status copied(lz_dev *d, size_t nbytes, const void *data, lz_device_buffer **out)
{
    int64_t t0 = lz_now_ns();
    LZ_TRY(d->be->alloc(d->ordinal, nbytes, out));
    lz_status s = nbytes ? d->be->copy_in(*out, data, nbytes) : LZ_OK;
    if (s != LZ_OK) {
        lz_device_buffer_release(*out);
        return s;
    }
    int64_t ns = lz_now_ns() - t0;
    lz_metric_add(LZ_METRIC_TransferToDeviceTime, (double)ns);
    lz_timeline_note(t0, ns, .name = "copy to the device", .category = "copy", .key = {"bytes"},
                     .value = {(int64_t)nbytes}, .text_key = "device", .text = d->name);
    lz_metric_add(LZ_METRIC_OutboundData, (double)nbytes);
    return LZ_OK;
}

/* For backends without a zero fill of their own. */
static lz_status copied_zeros(lz_dev *d, size_t nbytes, lz_device_buffer **out)
{
    void *zero = lz_calloc(1, nbytes + 1);
    if (!zero)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu bytes of zeros", nbytes);
    lz_status s = copied(d, nbytes, zero, out);
    lz_free(zero);
    return s;
}

static lz_node *data_node(lz_dev *d, const lz_type *type, lz_device_buffer *b, const lz_site *site)
{
    lz_sync_note_data(type->nbytes);
    lz_node *n = lz_node_new_buffer(type, d, b, site);
    if (!n)
        lz_device_buffer_release(b);
    return n;
}

static lz_node *upload(lz_dev *d, const lz_type *type, const void *data, const lz_site *site)
{
    lz_device_buffer *b = NULL;
    return copied(d, type->nbytes, data, &b) == LZ_OK ? data_node(d, type, b, site) : NULL;
}

static lz_node *from_zeros(lz_tracer *c, lz_dtype dtype, const lz_shape *shape)
{
    lz_dev *d = lz_tracer_dev(c, NULL);
    const lz_type *type = d ? lz_type_get(dtype, shape) : NULL;
    lz_device_buffer *b = NULL;
    if (!type)
        return NULL;
    lz_status s = d->be->zeros ? d->be->zeros(d->ordinal, type->nbytes, &b)
                               : copied_zeros(d, type->nbytes, &b);
    return s == LZ_OK ? lz_tracer_own(c, data_node(d, type, b, c->site)) : NULL;
}

lz_tensor *lz_from_zeros_at(lz_dtype dtype, lz_shape shape, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_tracer c;
    lz_tracer_begin(&c, "lz_from_zeros", site);
    return lz_tracer_end(&c, from_zeros(&c, dtype, &shape));
}

lz_status lz_host_data_check(lz_dtype dtype, const void *data, size_t nbytes)
{
    const unsigned char *p = data;
    bool narrow = lz_dtype_is_narrow(dtype);
    for (size_t i = 0; narrow && i < nbytes; i++)
        if (p[i] != (unsigned char)lz_dtype_wrap(dtype, p[i]))
            return LZ_FAIL(
                LZ_EINVAL,
                "element %zu of a tensor of %s is the byte 0x%02x, which is no such number", i,
                lz_dtype_name(dtype), p[i]);
    for (size_t i = 0; dtype == LZ_BOOL && i < nbytes; i++)
        if (p[i] > 1)
            return LZ_FAIL(LZ_EINVAL, "element %zu of a boolean tensor is %u: it must be 0 or 1", i,
                           p[i]);
    return LZ_OK;
}

static const char *host_type_name(lz_dtype host)
{
    switch (host) {
#define LZ_DTYPE(NAME, value, name, text, nbytes, cls, ctype)                                      \
    case LZ_##NAME:                                                                                \
        return #ctype;
#include <lazuli/dtypes.def>
#undef LZ_DTYPE
    default:
        return "?";
    }
}

/* Whether elements of C type `host` are how those of dtype are stored: floats and complex numbers
 * as themselves, complex ones as pairs, too; integers, and floats that C has no type for, as
 * integers of their width. Unsigned ones may be the bits of a float. */
static bool stored_as(lz_dtype dtype, lz_dtype host)
{
    if (lz_dtype_is_float(host) || lz_dtype_is_complex(host))
        return dtype == host || (lz_dtype_is_complex(dtype) && lz_dtype_part(dtype) == host);
    bool whole = dtype != LZ_F32 && dtype != LZ_F64 && !lz_dtype_is_complex(dtype);
    return lz_dtype_size(dtype) == lz_dtype_size(host) &&
           (whole || (dtype == LZ_F32 && host == LZ_U32) || (dtype == LZ_F64 && host == LZ_U64));
}

typedef struct host_data {
    const void *at;
    size_t nbytes; /* (size_t)-1: unknown */
    lz_dtype host; /* what its elements are as C type; LZ_DTYPE_NONE: unknown */
} host_data;

/* The type of a tensor that data can be the elements of; NULL: an error. */
static const lz_type *type_of_data(lz_dtype dtype, const lz_shape *shape, const host_data *h)
{
    char text[128];
    const lz_type *type = lz_type_get(dtype, shape);
    if (!type)
        return NULL;
    if (!h->at && type->nbytes)
        LZ_FAIL(LZ_ENULL, "data is NULL");
    else if (h->host != LZ_DTYPE_NONE && !stored_as(dtype, h->host))
        LZ_FAIL(LZ_EDTYPE, "data points to %s, but the dtype is %s", host_type_name(h->host),
                lz_dtype_name(dtype));
    else if (h->nbytes < type->nbytes)
        LZ_FAIL(LZ_ERANGE, "data has %zu bytes, but %s takes %zu", h->nbytes,
                lz_type_short(type, text, sizeof text), type->nbytes);
    else if (lz_host_data_check(dtype, h->at, type->nbytes) == LZ_OK)
        return type;
    return NULL;
}

static lz_node *from_host(lz_tracer *c, lz_dtype dtype, const lz_shape *shape, const host_data *h)
{
    lz_dev *d = lz_tracer_dev(c, NULL);
    const lz_type *type = d ? type_of_data(dtype, shape, h) : NULL;
    return type ? lz_tracer_own(c, upload(d, type, h->at, c->site)) : NULL;
}

lz_tensor *lz_from_host_typed_at(lz_dtype dtype, lz_shape shape, const void *data, size_t nbytes,
                                 lz_dtype host, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_tracer c;
    lz_tracer_begin(&c, "lz_from_host", site);
    host_data h = {data, nbytes, host};
    return lz_tracer_end(&c, from_host(&c, dtype, &shape, &h));
}

lz_tensor *lz_from_host_at(lz_dtype dtype, lz_shape shape, const void *data, size_t nbytes,
                           const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return lz_from_host_typed_at(dtype, shape, data, nbytes, LZ_DTYPE_NONE, site);
}

typedef struct borrowing {
    host_data data;
    void (*release)(void *user);
    void *user;
    bool taken; /* the buffer will call release */
} borrowing;

static lz_node *from_borrowed(lz_tracer *c, lz_dtype dtype, const lz_shape *shape, borrowing *b)
{
    lz_dev *d = lz_tracer_dev(c, NULL);
    const lz_type *type = d ? type_of_data(dtype, shape, &b->data) : NULL;
    void *data = (void *)b->data.at;
    lz_device_buffer *buf = NULL;
    if (!type)
        return NULL;
    if (!type->nbytes || !d->be->host_memory || !d->be->wrap || (uintptr_t)data % 64)
        return lz_tracer_own(c, upload(d, type, data, c->site));
    if (d->be->wrap(d->ordinal, data, type->nbytes, b->release, b->user, &buf) != LZ_OK)
        return NULL;
    b->taken = true;
    lz_node *n = lz_node_new_buffer(type, d, buf, c->site);
    if (!n) {
        lz_device_buffer_release(buf);
        return NULL;
    }
    atomic_fetch_or(&n->flags, LZ_NODE_SHARED);
    return lz_tracer_own(c, n);
}

lz_tensor *lz_from_borrowed_typed_at(lz_dtype dtype, lz_shape shape, void *data, size_t nbytes,
                                     lz_dtype host, void (*release)(void *user), void *user,
                                     const lz_site *site)
{
    LZ_PUBLIC_AT((release ? release(user) : (void)0, LZ_FORK_TENSOR));
    lz_tracer c;
    borrowing b = {.data = {data, nbytes, host}, .release = release, .user = user};
    lz_tracer_begin(&c, "lz_from_borrowed", site);
    lz_tensor *t = lz_tracer_end(&c, from_borrowed(&c, dtype, &shape, &b));
    if (!b.taken && release)
        LZ_CALL_OUT("a release function")
    release(user);
    return t;
}

lz_tensor *lz_from_borrowed_at(lz_dtype dtype, lz_shape shape, void *data, size_t nbytes,
                               void (*release)(void *user), void *user, const lz_site *site)
{
    LZ_PUBLIC_AT((release ? release(user) : (void)0, LZ_FORK_TENSOR));
    return lz_from_borrowed_typed_at(dtype, shape, data, nbytes, LZ_DTYPE_NONE, release, user,
                                     site);
}

/* ---- out ---- */

static lz_status to_host(lz_tensor *t, void *dst, size_t nbytes)
{
    lz_node *n = lz_trace_node_of(t);
    if (!n)
        return lz_error_get()->status;
    const lz_type *type = lz_node_type(n);
    lz_status s;
    if (!dst && type->nbytes)
        s = LZ_FAIL(LZ_ENULL, "dst is NULL");
    else if (nbytes < type->nbytes)
        s = LZ_FAIL(LZ_ERANGE, "dst has %zu bytes, the tensor has %zu", nbytes, type->nbytes);
    else
        s = lz_read_node(n, dst, LZ_CAUSE_READ);
    lz_node_release(n);
    return s;
}

lz_status lz_to_host_at(lz_tensor *t, void *dst, size_t nbytes, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_api_frame f = lz_api_enter("lz_to_host", site);
    int64_t t0 = lz_timeline_begin();
    lz_status s = lz_api_status(to_host(t, dst, nbytes));
    lz_timeline_end(t0, .name = "lz_to_host", .category = "read");
    return lz_api_leave_read(&f, s);
}

static lz_status read_item(lz_tensor *t, lz_dtype *dtype, unsigned char bytes[16])
{
    lz_node *n = lz_trace_node_of(t);
    if (!n)
        return lz_error_get()->status;
    const lz_type *type = lz_node_type(n);
    char text[128];
    lz_status s = LZ_OK;
    if (type->nelem != 1)
        s = LZ_FAIL(LZ_ESHAPE, "the tensor is %s and has %" PRId64 " elements: it must have one",
                    lz_type_short(type, text, sizeof text), type->nelem);
    else if (lz_dtype_is_complex(type->dtype))
        s = LZ_FAIL(LZ_EDTYPE, "a complex number is no single number: use lz_to_host");
    else
        s = lz_read_node(n, bytes, LZ_CAUSE_READ);
    *dtype = type->dtype;
    lz_node_release(n);
    return s;
}

static lz_status traced_item(const char *op, lz_tensor *t, lz_dtype *dtype, unsigned char bytes[16])
{
    int64_t t0 = lz_timeline_begin();
    lz_status s = read_item(t, dtype, bytes);
    lz_timeline_end(t0, .name = op, .category = "read");
    return s;
}

double lz_item_at(lz_tensor *t, const lz_site *site)
{
    LZ_PUBLIC_AT(NAN);
    unsigned char bytes[16];
    lz_dtype d;
    lz_api_frame f = lz_api_enter("lz_item", site);
    lz_status s = lz_api_status(traced_item("lz_item", t, &d, bytes));
    (void)lz_api_leave(&f, s);
    if (s != LZ_OK)
        lz_unseen_note(lz_error_get());
    return s == LZ_OK ? lz_elem_get_f64(d, bytes, 0) : NAN;
}

int64_t lz_item_i64_at(lz_tensor *t, const lz_site *site)
{
    LZ_PUBLIC_AT(INT64_MIN);
    unsigned char bytes[16];
    lz_dtype d;
    lz_api_frame f = lz_api_enter("lz_item_i64", site);
    lz_status s = lz_api_status(traced_item("lz_item_i64", t, &d, bytes));
    (void)lz_api_leave(&f, s);
    if (s != LZ_OK)
        lz_unseen_note(lz_error_get());
    return s == LZ_OK ? lz_elem_get_i64(d, bytes, 0) : INT64_MIN;
}

/* ---- asking ---- */

lz_status lz_status_of(const lz_tensor *t)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_node *n = lz_trace_node_of(t);
    if (!n) {
        lz_slot_looked(lz_error_get());
        return lz_error_get()->status;
    }
    lz_node_release(n);
    return LZ_OK;
}

/* A stale handle still has a type; an error tensor has none. */
static const lz_type *type_of(const lz_tensor *t)
{
    lz_slot *s = lz_slot_peek(lz_handle_bits(t));
    return s ? lz_slot_type(s, lz_handle_bits(t)) : NULL;
}

lz_dtype lz_dtype_of(const lz_tensor *t)
{
    LZ_PUBLIC(LZ_DTYPE_NONE);
    const lz_type *type = type_of(t);
    return type ? type->dtype : LZ_DTYPE_NONE;
}

lz_shape lz_shape_of(const lz_tensor *t)
{
    LZ_PUBLIC((lz_shape){.rank = -1});
    static const lz_shape none = {.rank = -1};
    const lz_type *type = type_of(t);
    return type ? type->shape : none;
}

int32_t lz_rank_of(const lz_tensor *t)
{
    LZ_PUBLIC(-1);
    const lz_type *type = type_of(t);
    return type ? type->shape.rank : -1;
}

int64_t lz_numel(const lz_tensor *t)
{
    LZ_PUBLIC(-1);
    const lz_type *type = type_of(t);
    return type ? type->nelem : -1;
}

size_t lz_nbytes(const lz_tensor *t)
{
    LZ_PUBLIC(0);
    const lz_type *type = type_of(t);
    return type ? type->nbytes : 0;
}

const char *lz_mark_of(lz_tensor *x)
{
    lz_slot *s = lz_slot_get(x);
    const char *text = s ? atomic_load(&s->sharding) : NULL;
    lz_node *n = s && !text ? lz_slot_node_peek(s, lz_handle_bits(x)) : NULL;
    lz_device_buffer *b = n ? lz_node_buf(n) : NULL;
    if (b && n->dev->be->placement)
        text = n->dev->be->placement(b);
    lz_node_release(n);
    return text;
}

/* ---- the last error ---- */

lz_status lz_last_error(lz_error_info *out)
{
    const lz_error *e = lz_error_get();
    if (out)
        *out = (lz_error_info){e->status, e->op, e->message, e->file, e->line};
    lz_slot_looked(e);
    return e->status;
}

const char *lz_last_error_text(void)
{
    static _Thread_local char text[LZ_ERROR_TEXT];
    lz_slot_looked(lz_error_get());
    return lz_error_text(lz_error_get(), text);
}

void lz_clear_error(void)
{
    lz_slot_looked(lz_error_get());
    lz_error_clear();
}
