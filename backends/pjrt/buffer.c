/* buffer.c - device buffers of a plugin. The engine's buffers are bytes, a plugin's have a type: so
 * what comes from the host stays there until a program says as what it wants it. Results have their
 * type from the start. A buffer that a program wants as another type than it has is read back.
 * Threads: thread-safe. */
#include "backends/pjrt/client.h"
#include "base/alloc.h"
#include <string.h>

typedef struct buffer {
    lz_device_buffer b; /* data: this struct */
    lz_plugin *p;
    lz_mutex lock;
    void *host;             /* the bytes; NULL: they are in the array */
    lz_plugin_array *array; /* a reference; NULL with host NULL: nobody has written yet */
    bool gone;              /* donated */
} buffer;

/* ---- types ---- */

static const struct {
    int32_t number;
    lz_dtype dtype;
} types[] = {
#define TYPE(number, dtype) {number, dtype},
#include "backends/pjrt/types.def"
#undef TYPE
};

int32_t lz_plugin_type_number(lz_dtype d)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].dtype == d)
            return types[i].number;
    return 0;
}

/* ---- arrays ---- */

static void count(lz_plugin *p, size_t nbytes)
{
    uint64_t now = atomic_fetch_add(&p->used, nbytes) + nbytes, top = atomic_load(&p->peak);
    while (now > top && !atomic_compare_exchange_weak(&p->peak, &top, now))
        ;
}

void lz_plugin_buffer_destroy(lz_plugin *p, PJRT_Buffer *b)
{
    if (lz_fork_happened()) /* the plugin's threads are not there, nor is who holds its locks */
        return;
    LZ_PLUGIN_ARGS(x, Buffer_Destroy, .buffer = b);
    LZ_QUIETLY {
        (void)LZ_PLUGIN_CALL(p, Buffer_Destroy, x);
    }
}

lz_plugin_array *lz_plugin_array_new(lz_plugin *p, PJRT_Buffer *b, const lz_type *t)
{
    lz_plugin_array *a = lz_alloc(sizeof *a);
    if (!a) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for a buffer of plugin %s", p->name);
        lz_plugin_buffer_destroy(p, b);
        return NULL;
    }
    *a = (lz_plugin_array){.p = p, .handle = b, .type = t};
    atomic_init(&a->refs, 1);
    count(p, t->nbytes);
    return a;
}

void lz_plugin_array_release(lz_plugin_array *a)
{
    if (!a || atomic_fetch_sub(&a->refs, 1) != 1)
        return;
    atomic_fetch_sub(&a->p->used, a->type->nbytes);
    lz_plugin_buffer_destroy(a->p, a->handle);
    lz_free(a);
}

lz_status lz_plugin_array_check(lz_plugin *p, PJRT_Buffer *b, const lz_type *t, const char *what)
{
    char want[96];
    LZ_PLUGIN_ARGS(e, Buffer_ElementType, .buffer = b);
    LZ_PLUGIN_ARGS(d, Buffer_Dimensions, .buffer = b);
    LZ_TRY(LZ_PLUGIN_CALL(p, Buffer_ElementType, e));
    LZ_TRY(LZ_PLUGIN_CALL(p, Buffer_Dimensions, d));
    bool same = e.a.type == lz_plugin_type_number(t->dtype) &&
                d.a.num_dims == (size_t)t->shape.rank && (!d.a.num_dims || d.a.dims);
    for (int i = 0; i < t->shape.rank && same; i++)
        same = d.a.dims[i] == t->shape.dims[i];
    if (!same)
        return LZ_FAIL(LZ_EDEVICE,
                       "plugin %s: %s is of element type %d and %zu dimensions (the first %lld), "
                       "not %s",
                       p->name, what, e.a.type, d.a.num_dims,
                       d.a.num_dims && d.a.dims ? (long long)d.a.dims[0] : 0,
                       lz_type_short(t, want, sizeof want));
    return LZ_OK;
}

/* ---- life ---- */

static buffer *buffer_new(lz_plugin *p, int device, size_t nbytes)
{
    buffer *x = lz_calloc(1, sizeof *x);
    if (!x) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for a buffer of plugin %s", p->name);
        return NULL;
    }
    x->b.refs = 1;
    x->b.backend = (uint32_t)lz_backend_index(lz_plugin_backend(p->slot));
    x->b.device = (uint32_t)device;
    x->b.nbytes = nbytes;
    x->b.capacity = nbytes ? nbytes : 1;
    x->b.data = x;
    x->p = p;
    lz_mutex_init(&x->lock, "plugin_buffer");
    return x;
}

lz_status lz_plugin_alloc(lz_plugin *p, int device, size_t nbytes, lz_device_buffer **out)
{
    *out = NULL;
    LZ_TRY(lz_plugin_device_check(p, device));
    buffer *x = buffer_new(p, device, nbytes);
    if (!x)
        return LZ_EMEM;
    *out = &x->b;
    return LZ_OK;
}

lz_device_buffer *lz_plugin_result(lz_plugin *p, int device, lz_plugin_array *a)
{
    buffer *x = buffer_new(p, device, a->type->nbytes);
    if (!x) {
        lz_plugin_array_release(a);
        return NULL;
    }
    x->array = a;
    return &x->b;
}

void lz_plugin_free(lz_device_buffer *b)
{
    buffer *x = (buffer *)b;
    lz_plugin_array_release(x->array);
    lz_free(x->host);
    lz_mutex_destroy(&x->lock);
    lz_free(x);
}

/* The array, with a reference, or the host's bytes, which stay while the lock is held. */
static lz_status look(buffer *x, lz_plugin_array **array)
{
    if (x->gone)
        return LZ_FAIL(LZ_EINTERNAL, "plugin %s: a buffer that was donated is used", x->p->name);
    *array = x->array;
    if (x->array)
        atomic_fetch_add(&x->array->refs, 1);
    return LZ_OK;
}

/* Puts new content in the place of what there was; `gone`: there is none any more. */
static void put(buffer *x, void *host, lz_plugin_array *array, bool gone)
{
    lz_mutex_lock(&x->lock);
    void *old_host = x->host;
    lz_plugin_array *old = x->array;
    x->host = host;
    x->array = array;
    x->gone |= gone;
    lz_mutex_unlock(&x->lock);
    lz_free(old_host);
    lz_plugin_array_release(old);
}

void lz_plugin_buffer_gone(lz_device_buffer *b)
{
    put((buffer *)b, NULL, NULL, true);
}

/* ---- from the host ---- */

lz_status lz_plugin_copy_in(lz_device_buffer *dst, const void *src, size_t nbytes)
{
    buffer *x = (buffer *)dst;
    if (nbytes > dst->nbytes)
        return LZ_FAIL(LZ_ERANGE, "copying %zu bytes to a buffer of %zu", nbytes, dst->nbytes);
    char *host = lz_calloc(1, dst->nbytes ? dst->nbytes : 1);
    if (!host)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu bytes of plugin %s", dst->nbytes, x->p->name);
    lz_status s = LZ_OK;
    if (nbytes < dst->nbytes && (x->host || x->array)) /* what stays */
        s = lz_plugin_copy_out(dst, host, dst->nbytes);
    if (s != LZ_OK) {
        lz_free(host);
        return s;
    }
    lz_device_buffer_changed(dst);
    if (nbytes)
        memcpy(host, src, nbytes);
    put(x, host, NULL, false);
    return LZ_OK;
}

static lz_status upload(lz_plugin *p, uint32_t device, const void *bytes, const lz_type *t,
                        lz_plugin_array **out)
{
    LZ_PLUGIN_ARGS(x, Client_BufferFromHostBuffer, .client = p->client, .data = bytes,
                   .type = lz_plugin_type_number(t->dtype), .dims = t->shape.dims,
                   .num_dims = (size_t)t->shape.rank,
                   .host_buffer_semantics = PJRT_IMMUTABLE_ONLY_DURING_CALL,
                   .device = p->device[device].handle);
    LZ_TRY(LZ_PLUGIN_CALL(p, Client_BufferFromHostBuffer, x));
    lz_status s = lz_plugin_await(p, x.a.done_with_host_buffer, "Client_BufferFromHostBuffer");
    if (s == LZ_OK && !x.a.buffer)
        s = LZ_FAIL(LZ_EDEVICE,
                    "plugin %s: PJRT_Client_BufferFromHostBuffer gave no buffer, and "
                    "no error",
                    p->name);
    if (s == LZ_OK)
        s = lz_plugin_array_check(p, x.a.buffer, t, "a buffer made from the host's");
    if (s != LZ_OK) {
        if (x.a.buffer)
            lz_plugin_buffer_destroy(p, x.a.buffer);
        return s;
    }
    *out = lz_plugin_array_new(p, x.a.buffer, t);
    return *out ? LZ_OK : LZ_EMEM;
}

/* ---- to the host ---- */

/* Reads all of it. A plugin that has no time left, or that there was no memory to wait for, may
 * still write when it wakes up: then the bytes are left to it. */
static lz_status download(lz_plugin *p, const lz_plugin_array *a, void *dst)
{
    int64_t order[LZ_MAX_RANK + 1];
    int rank = a->type->shape.rank;
    for (int i = 0; i < rank; i++)
        order[i] = rank - 1 - i;
    PJRT_Buffer_MemoryLayout layout = {.struct_size = sizeof layout, .type = PJRT_LAYOUT_TILED};
    layout.tiled = (PJRT_Buffer_MemoryLayout_Tiled){.struct_size = sizeof layout.tiled,
                                                    .minor_to_major = order,
                                                    .minor_to_major_size = (size_t)rank};
    size_t n = a->type->nbytes;
    void *stage = p->config.timeout > 0 ? lz_alloc(n + 1) : NULL;
    if (p->config.timeout > 0 && !stage)
        return LZ_FAIL(LZ_EMEM, "no memory to read %zu bytes of plugin %s", n, p->name);
    LZ_PLUGIN_ARGS(x, Buffer_ToHostBuffer, .src = a->handle, .host_layout = &layout,
                   .dst = stage ? stage : dst, .dst_size = n);
    lz_status s = LZ_PLUGIN_CALL(p, Buffer_ToHostBuffer, x);
    if (s == LZ_OK)
        s = lz_plugin_await(p, x.a.event, "Buffer_ToHostBuffer");
    if (s == LZ_OK && stage)
        memcpy(dst, stage, n);
    if (s != LZ_ETIMEOUT && s != LZ_EMEM)
        lz_free(stage);
    return s;
}

lz_status lz_plugin_copy_out(lz_device_buffer *src, void *dst, size_t nbytes)
{
    buffer *x = (buffer *)src;
    lz_plugin_array *a = NULL;
    if (nbytes > src->nbytes)
        return LZ_FAIL(LZ_ERANGE, "copying %zu bytes of a buffer of %zu", nbytes, src->nbytes);
    LZ_TRY(lz_event_wait(src->ready));
    lz_mutex_lock(&x->lock);
    lz_status s = look(x, &a);
    if (s == LZ_OK && !a && nbytes) {
        if (x->host)
            memcpy(dst, x->host, nbytes);
        else
            memset(dst, 0, nbytes);
    }
    lz_mutex_unlock(&x->lock);
    if (s != LZ_OK || !a)
        return s;
    if (nbytes == a->type->nbytes) {
        s = nbytes ? download(x->p, a, dst) : LZ_OK;
    } else {
        char *all = lz_alloc(a->type->nbytes + 1);
        s = all ? download(x->p, a, all)
                : LZ_FAIL(LZ_EMEM, "no memory to read %zu bytes", a->type->nbytes);
        if (s == LZ_OK)
            memcpy(dst, all, nbytes);
        lz_free(all);
    }
    lz_plugin_array_release(a);
    return s;
}

/* ---- as a program wants it ---- */

/* A type that fits in the buffer's bytes, uploaded from all of them. */
static lz_status convert(buffer *x, const lz_type *t, lz_plugin_array **out)
{
    char *bytes = lz_alloc(x->b.nbytes + 1);
    if (!bytes)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu bytes of plugin %s", x->b.nbytes, x->p->name);
    lz_status s = lz_plugin_copy_out(&x->b, bytes, x->b.nbytes);
    if (s == LZ_OK)
        s = upload(x->p, x->b.device, bytes, t, out);
    lz_free(bytes);
    return s;
}

lz_status lz_plugin_buffer_as(lz_device_buffer *b, const lz_type *t, lz_plugin_array **out)
{
    buffer *x = (buffer *)b;
    *out = NULL;
    lz_mutex_lock(&x->lock);
    lz_status s = look(x, out);
    lz_mutex_unlock(&x->lock);
    if (s != LZ_OK || (*out && (*out)->type == t))
        return s;
    lz_plugin_array_release(*out);
    *out = NULL;
    LZ_TRY(convert(x, t, out));
    if (t->nbytes == b->nbytes) { /* all of it: it stays there */
        atomic_fetch_add(&(*out)->refs, 1);
        put(x, NULL, *out, false);
    }
    return LZ_OK;
}
