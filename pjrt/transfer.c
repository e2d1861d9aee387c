/* transfer.c - between host memory and buffers, and from one device to another. Copies in are done
 * when the call returns, so every semantics that a host may ask for holds. Threads: thread-safe. */
#include "base/alloc.h"
#include "ir/eval/bitcast.h"
#include "pjrt/plugin.h"
#include <string.h>

/* ---- in ---- */

static lz_status copy_dense(const lz_backend *be, lz_device_buffer *b, const lz_type *t,
                            const void *data, const int64_t *stride)
{
    if (lz_pjrt_is_dense(t, stride))
        return be->copy_in(b, data, t->nbytes);
    int64_t row[LZ_MAX_RANK];
    lz_pjrt_row_major(t, row);
    if (be->host_memory) {
        lz_pjrt_copy_strided(t, b->data, row, data, stride);
        lz_device_buffer_changed(b);
        return LZ_OK;
    }
    void *dense = lz_alloc(t->nbytes);
    if (!dense)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu bytes", t->nbytes);
    lz_pjrt_copy_strided(t, dense, row, data, stride);
    lz_status s = be->copy_in(b, dense, t->nbytes);
    lz_free(dense);
    return s;
}

static lz_status upload(PJRT_Device *d, const lz_type *t, const void *data, const int64_t *strides,
                        size_t nstride, PJRT_Buffer **out)
{
    const lz_backend *be = d->client->topology.be;
    int64_t stride[LZ_MAX_RANK];
    lz_device_buffer *b;
    lz_pjrt_row_major(t, stride);
    if (nstride && nstride != (size_t)t->shape.rank)
        return LZ_FAIL(LZ_EINVAL, "%zu strides for an array of %d dimensions", nstride,
                       t->shape.rank);
    if (nstride && strides)
        memcpy(stride, strides, nstride * sizeof *stride);
    LZ_TRY(be->alloc(d->description.id, t->nbytes, &b));
    lz_status s = t->nbytes ? copy_dense(be, b, t, data, stride) : LZ_OK;
    if (s != LZ_OK) {
        lz_device_buffer_release(b);
        return s;
    }
    *out = lz_pjrt_buffer(d, t, b);
    return *out ? LZ_OK : LZ_EMEM;
}

PJRT_Error *lz_pjrt_Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args *a)
{
    PJRT_REACHES(a, buffer);
    const lz_type *t = lz_pjrt_type(a->type, a->dims, a->num_dims);
    if (!t)
        return lz_pjrt_failed();
    if (!a->data && t->nbytes)
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT, "data is NULL");
    int64_t order[LZ_MAX_RANK];
    PJRT_TRY(lz_pjrt_strides(a->device_layout, t, order)); /* on the device all are row-major */
    PJRT_Device *d = lz_pjrt_device_of(a->client, a->device, a->memory);
    PJRT_Event *done = lz_pjrt_event(NULL);
    if (!done)
        return lz_pjrt_failed();
    if (upload(d, t, a->data, a->byte_strides, a->num_byte_strides, &a->buffer) != LZ_OK) {
        lz_free(done);
        return lz_pjrt_failed();
    }
    a->done_with_host_buffer = done;
    return NULL;
}

PJRT_Error *lz_pjrt_Client_CreateUninitializedBuffer(PJRT_Client_CreateUninitializedBuffer_Args *a)
{
    PJRT_REACHES(a, buffer);
    const lz_type *t = lz_pjrt_type(a->shape_element_type, a->shape_dims, a->shape_num_dims);
    if (!t)
        return lz_pjrt_failed();
    PJRT_Device *d = lz_pjrt_device_of(a->client, a->device, a->memory);
    lz_device_buffer *b;
    PJRT_TRY(a->client->topology.be->alloc(d->description.id, t->nbytes, &b));
    a->buffer = lz_pjrt_buffer(d, t, b);
    return a->buffer ? NULL : lz_pjrt_failed();
}

typedef struct view {
    void (*fn)(void *device_buffer_ptr, void *user);
    void *data, *user;
} view;

static void view_ends(void *user)
{
    view v = *(view *)user;
    lz_free(user);
    if (v.fn)
        v.fn(v.data, v.user);
}

PJRT_Error *lz_pjrt_Client_CreateViewOfDeviceBuffer(PJRT_Client_CreateViewOfDeviceBuffer_Args *a)
{
    PJRT_REACHES(a, buffer);
    const lz_backend *be = a->client->topology.be;
    const lz_type *t = lz_pjrt_type(a->element_type, a->dims, a->num_dims);
    int64_t stride[LZ_MAX_RANK];
    lz_device_buffer *b;
    if (!t)
        return lz_pjrt_failed();
    PJRT_TRY(lz_pjrt_strides(a->layout, t, stride));
    if (!be->wrap || !lz_pjrt_is_dense(t, stride))
        return lz_pjrt_error(PJRT_UNIMPLEMENTED, "views of memory that is not row-major");
    PJRT_Device *d =
        lz_pjrt_device_of(a->client, a->device, PJRT_HAS(a, memory) ? a->memory : NULL);
    view *v = lz_alloc(sizeof *v);
    if (!v)
        return lz_pjrt_error(PJRT_RESOURCE_EXHAUSTED, "no memory for a view");
    memcpy(&v->fn, &a->on_delete_callback, sizeof v->fn);
    v->data = a->device_buffer_ptr;
    v->user = a->on_delete_callback_arg;
    if (be->wrap(d->description.id, a->device_buffer_ptr, t->nbytes, view_ends, v, &b) != LZ_OK) {
        lz_free(v);
        return lz_pjrt_failed();
    }
    a->buffer = lz_pjrt_buffer(d, t, NULL);
    if (!a->buffer) {
        v->fn = NULL; /* the memory stays the caller's */
        lz_device_buffer_release(b);
        return lz_pjrt_failed();
    }
    a->buffer->b = b;
    return NULL;
}

/* ---- out ---- */

/* A copy to the host that waits for the content. */
typedef struct download {
    const lz_backend *be;
    lz_device_buffer *b; /* a reference */
    const lz_type *type;
    void *dst;
    int64_t offset, nbytes; /* of a part, densely; nbytes -1: all, with strides */
    int64_t stride[LZ_MAX_RANK];
    lz_event *done; /* a reference */
} download;

static lz_status copy_part(const download *w)
{
    if (w->be->host_memory) {
        memcpy(w->dst, (const char *)w->b->data + w->offset, (size_t)w->nbytes);
        return LZ_OK;
    }
    char *all = lz_alloc(w->type->nbytes);
    if (!all)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu bytes", w->type->nbytes);
    lz_status s = w->be->copy_out(w->b, all, w->type->nbytes);
    if (s == LZ_OK)
        memcpy(w->dst, all + w->offset, (size_t)w->nbytes);
    lz_free(all);
    return s;
}

static lz_status copy_now(const download *w)
{
    const lz_type *t = w->type;
    int64_t row[LZ_MAX_RANK];
    if (w->nbytes >= 0)
        return copy_part(w);
    if (lz_pjrt_is_dense(t, w->stride))
        return w->be->copy_out(w->b, w->dst, t->nbytes);
    void *dense = lz_alloc(t->nbytes);
    if (!dense)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu bytes", t->nbytes);
    lz_status s = w->be->copy_out(w->b, dense, t->nbytes);
    lz_pjrt_row_major(t, row);
    if (s == LZ_OK)
        lz_pjrt_copy_strided(t, w->dst, w->stride, dense, row);
    lz_free(dense);
    return s;
}

static void finish(void *user, const lz_error *err)
{
    download *w = user;
    lz_error failed = *err;
    LZ_QUIETLY {
        if (failed.status == LZ_OK && copy_now(w) != LZ_OK)
            failed = *lz_error_get();
    }
    lz_event_complete(w->done, failed.status == LZ_OK ? NULL : &failed);
    lz_event_release(w->done);
    lz_device_buffer_release(w->b);
    lz_free(w);
}

/* Takes the reference to w->b over. Where the content is in host memory and not there yet, whoever
 * completes it copies; else this thread does. */
static PJRT_Error *start(const download *from, PJRT_Event **out)
{
    static const lz_error fine = {.status = LZ_OK};
    PJRT_Error *e = lz_pjrt_check_wait(from->b->ready);
    if (e) {
        lz_device_buffer_release(from->b);
        return e;
    }
    download *w = lz_alloc(sizeof *w);
    PJRT_Event *event = w ? lz_pjrt_event_new(&w->done) : NULL;
    if (!event) {
        lz_free(w);
        lz_device_buffer_release(from->b);
        return lz_pjrt_error(PJRT_RESOURCE_EXHAUSTED, "no memory for a transfer");
    }
    lz_event *done = w->done;
    *w = *from;
    w->done = done;
    *out = event;
    lz_event *ready = w->b->ready;
    if (!w->be->host_memory || !ready || lz_event_done(ready) ||
        lz_event_then(ready, finish, w) != LZ_OK) {
        lz_error err = fine;
        if (lz_event_wait(ready) != LZ_OK)
            err = *lz_error_get();
        finish(w, &err);
    }
    return NULL;
}

PJRT_Error *lz_pjrt_Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args *a)
{
    PJRT_REACHES(a, event);
    const lz_type *t = a->src->type;
    download w = {
        .be = a->src->device->client->topology.be, .type = t, .dst = a->dst, .nbytes = -1};
    PJRT_TRY(lz_pjrt_strides(a->host_layout, t, w.stride));
    if (!a->dst) {
        a->dst_size = t->nbytes;
        return NULL;
    }
    if (a->dst_size < t->nbytes)
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT, "dst has %zu bytes, the buffer %zu",
                             a->dst_size, t->nbytes);
    if (!lz_pjrt_fits(t, w.stride, a->dst_size))
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT, "the layout reaches out of dst's %zu bytes",
                             a->dst_size);
    PJRT_Error *e = lz_pjrt_buffer_use(a->src, &w.b);
    return e ? e : start(&w, &a->event);
}

PJRT_Error *lz_pjrt_Buffer_CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args *a)
{
    PJRT_REACHES(a, event);
    const lz_type *t = a->buffer->type;
    if (a->offset < 0 || a->transfer_size < 0 || (uint64_t)a->offset > t->nbytes ||
        (uint64_t)a->transfer_size > t->nbytes - (uint64_t)a->offset)
        return lz_pjrt_error(
            PJRT_INVALID_ARGUMENT, "bytes %lld to %lld of a buffer of %zu", (long long)a->offset,
            (long long)((uint64_t)a->offset + (uint64_t)a->transfer_size), t->nbytes);
    download w = {.be = a->buffer->device->client->topology.be,
                  .type = t,
                  .dst = a->dst,
                  .offset = a->offset,
                  .nbytes = a->transfer_size};
    PJRT_Error *e = lz_pjrt_buffer_use(a->buffer, &w.b);
    return e ? e : start(&w, &a->event);
}

/* ---- across ---- */

/* dst, of type t, gets what is in x, of type `from`: the same bits. */
static lz_status through_host(const lz_backend *be, const lz_type *from, lz_device_buffer *x,
                              const lz_type *t, lz_device_buffer *dst)
{
    void *host = lz_alloc(from->nbytes + 1), *as = lz_alloc(t->nbytes + 1);
    lz_status s = host && as
                      ? be->copy_out(x, host, from->nbytes)
                      : LZ_FAIL(LZ_EMEM, "no memory for %zu bytes", from->nbytes + t->nbytes);
    if (s == LZ_OK) {
        lz_bitcast_copy(from, host, t, as);
        s = be->copy_in(dst, as, t->nbytes);
    }
    lz_free(host);
    lz_free(as);
    return s;
}

/* A new buffer of type t on device d of the same content. */
static lz_status copy_across(const lz_backend *be, PJRT_Device *d, const lz_type *from,
                             lz_device_buffer *src, const lz_type *t, lz_device_buffer **out)
{
    bool direct = be->copy_across && (int32_t)src->device != d->description.id && from == t;
    LZ_TRY(be->alloc(d->description.id, t->nbytes, out));
    lz_status s = direct ? be->copy_across(*out, src, t->nbytes) : LZ_EUNSUPPORTED;
    if (s == LZ_EUNSUPPORTED)
        s = through_host(be, from, src, t, *out);
    if (s != LZ_OK)
        lz_device_buffer_release(*out);
    return s;
}

/* The content of x as a buffer of type t on device d. */
static PJRT_Error *copy_to(PJRT_Buffer *x, PJRT_Device *d, const lz_type *t, PJRT_Buffer **out)
{
    lz_device_buffer *src, *copy;
    PJRT_Error *e = lz_pjrt_buffer_use(x, &src);
    if (e)
        return e;
    if ((e = lz_pjrt_check_wait(src->ready))) {
        lz_device_buffer_release(src);
        return e;
    }
    lz_status s = copy_across(d->client->topology.be, d, x->type, src, t, &copy);
    lz_device_buffer_release(src);
    *out = s == LZ_OK ? lz_pjrt_buffer(d, t, copy) : NULL;
    return *out ? NULL : lz_pjrt_failed();
}

PJRT_Error *lz_pjrt_Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args *a)
{
    return copy_to(a->buffer, a->dst_device, a->buffer->type, &a->dst_buffer);
}

PJRT_Error *lz_pjrt_Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args *a)
{
    return copy_to(a->buffer, ((lz_pjrt_memory *)a->dst_memory)->device, a->buffer->type,
                   &a->dst_buffer);
}

static uint64_t bits_of(const lz_type *t)
{
    return (uint64_t)t->nelem * (uint64_t)lz_dtype_bits(t->dtype);
}

/* The same bits as another type. A copy: each buffer's memory is its own, so that one can be
 * donated. */
PJRT_Error *lz_pjrt_Buffer_Bitcast(PJRT_Buffer_Bitcast_Args *a)
{
    PJRT_REACHES(a, out_buffer);
    const lz_type *from = a->buffer->type, *t = lz_pjrt_type(a->element_type, a->dims, a->num_dims);
    int64_t stride[LZ_MAX_RANK];
    char one[128], other[128];
    if (!t)
        return lz_pjrt_failed();
    PJRT_TRY(lz_pjrt_strides(a->device_layout, t, stride));
    bool pred = t->dtype != from->dtype && (t->dtype == LZ_BOOL || from->dtype == LZ_BOOL);
    if (bits_of(t) != bits_of(from) || pred) /* whose byte is 0 or 1 */
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT, "%s has other bits than %s",
                             lz_type_short(t, one, sizeof one),
                             lz_type_short(from, other, sizeof other));
    bool narrow = lz_dtype_is_narrow(t->dtype) || lz_dtype_is_narrow(from->dtype);
    if (!lz_pjrt_is_dense(t, stride) ||
        (narrow && (lz_dtype_is_complex(t->dtype) || lz_dtype_is_complex(from->dtype))))
        return lz_pjrt_error(PJRT_UNIMPLEMENTED,
                             "%s as %s is not supported: buffers are row-major, and numbers of "
                             "less than 8 bits lie in a byte each",
                             lz_type_short(from, other, sizeof other),
                             lz_type_short(t, one, sizeof one));
    return copy_to(a->buffer, a->buffer->device, t, &a->out_buffer);
}
