/* buffer.c - buffers of the C API: one of the engine's with its type and its device. A buffer that
 * is deleted, or that an execution took over, has no content any more; who reads its memory from
 * outside (NumPy's views) keeps that. Threads: thread-safe. */
#include "base/alloc.h"
#include "pjrt/plugin.h"
#include <string.h>

/* ---- types ---- */

static const struct {
    int32_t number;
    lz_dtype dtype;
} types[] = {
#define TYPE(number, dtype) {number, dtype},
#include "backends/pjrt/types.def"
#undef TYPE
};
enum { TYPES = sizeof types / sizeof *types };

int32_t lz_pjrt_type_number(lz_dtype d)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].dtype == d)
            return types[i].number;
    return 0;
}

const lz_type *lz_pjrt_type(int32_t type, const int64_t *dims, size_t n)
{
    for (int i = 0; i < TYPES; i++) {
        if (types[i].number != type)
            continue;
        if (n > LZ_MAX_RANK) {
            (void)LZ_FAIL(LZ_ESHAPE, "an array of %zu dimensions: there may be %d", n, LZ_MAX_RANK);
            return NULL;
        }
        lz_shape s = lz_shape_make((int)n, dims);
        return lz_type_get(types[i].dtype, &s);
    }
    (void)LZ_FAIL(LZ_EUNSUPPORTED, "buffers of element type %d are not implemented", type);
    return NULL;
}

/* ---- life ---- */

PJRT_Buffer *lz_pjrt_buffer(PJRT_Device *d, const lz_type *t, lz_device_buffer *b)
{
    PJRT_Buffer *x = lz_alloc(sizeof *x);
    if (!x) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for a buffer");
        lz_device_buffer_release(b);
        return NULL;
    }
    *x = (PJRT_Buffer){.device = d, .type = t, .b = b};
    lz_mutex_init(&x->lock, "pjrt_buffer");
    return x;
}

PJRT_Error *lz_pjrt_buffer_use(PJRT_Buffer *x, lz_device_buffer **b)
{
    lz_mutex_lock(&x->lock);
    *b = x->deleted ? NULL : x->b;
    if (*b)
        lz_device_buffer_retain(*b);
    lz_mutex_unlock(&x->lock);
    return *b ? NULL
              : lz_pjrt_error(PJRT_INVALID_ARGUMENT, "the buffer has been deleted or donated");
}

void lz_pjrt_buffer_delete(PJRT_Buffer *x)
{
    lz_device_buffer *b = NULL;
    lz_mutex_lock(&x->lock);
    x->deleted = true;
    if (!x->external) {
        b = x->b;
        x->b = NULL;
    }
    lz_mutex_unlock(&x->lock);
    lz_device_buffer_release(b);
}

bool lz_pjrt_buffer_take(PJRT_Buffer *x, const void *who, bool now)
{
    lz_mutex_lock(&x->lock);
    bool free = now && !x->taker;
    if (free)
        x->taker = who;
    bool mine = now ? free : x->taker == who;
    lz_mutex_unlock(&x->lock);
    return mine;
}

void lz_pjrt_buffer_leave(PJRT_Buffer *x, const void *who)
{
    lz_mutex_lock(&x->lock);
    if (x->taker == who)
        x->taker = NULL;
    lz_mutex_unlock(&x->lock);
}

void lz_pjrt_buffer_restore(PJRT_Buffer *x, lz_device_buffer *b)
{
    lz_mutex_lock(&x->lock);
    if (!x->b) {
        lz_device_buffer_retain(b);
        x->b = b;
    }
    x->deleted = false;
    lz_mutex_unlock(&x->lock);
}

PJRT_Error *lz_pjrt_Buffer_Destroy(PJRT_Buffer_Destroy_Args *a)
{
    PJRT_Buffer *x = a->buffer;
    if (!x)
        return NULL;
    lz_device_buffer_release(x->b);
    lz_mutex_destroy(&x->lock);
    lz_free(x);
    return NULL;
}

PJRT_Error *lz_pjrt_Buffer_Delete(PJRT_Buffer_Delete_Args *a)
{
    lz_pjrt_buffer_delete(a->buffer);
    return NULL;
}

PJRT_Error *lz_pjrt_Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args *a)
{
    lz_mutex_lock(&a->buffer->lock);
    a->is_deleted = a->buffer->deleted;
    lz_mutex_unlock(&a->buffer->lock);
    return NULL;
}

/* ---- what it is ---- */

LZ_PJRT_GIVES(Buffer_ElementType, type, lz_pjrt_type_number(a->buffer->type->dtype))
LZ_PJRT_LIST(Buffer_Dimensions, dims, a->buffer->type->shape.dims, num_dims,
             (size_t)a->buffer->type->shape.rank)
LZ_PJRT_LIST(Buffer_UnpaddedDimensions, unpadded_dims, a->buffer->type->shape.dims, num_dims,
             (size_t)a->buffer->type->shape.rank)
LZ_PJRT_LIST(Buffer_DynamicDimensionIndices, dynamic_dim_indices, NULL, num_dynamic_dims, 0)

/* Dimensions from the last to the first, as row-major arrays are: the end of this list. */
PJRT_Error *lz_pjrt_Buffer_GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args *a)
{
    static const int64_t descending[] = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    _Static_assert(sizeof descending / sizeof *descending == LZ_MAX_RANK, "one for each dimension");
    size_t n = (size_t)a->buffer->type->shape.rank;
    memset(&a->layout.tiled, 0, sizeof a->layout.tiled);
    a->layout.type = PJRT_LAYOUT_TILED;
    a->layout.tiled.struct_size = sizeof a->layout.tiled;
    a->layout.tiled.minor_to_major = descending + LZ_MAX_RANK - n;
    a->layout.tiled.minor_to_major_size = n;
    return NULL;
}

LZ_PJRT_GIVES(Buffer_OnDeviceSizeInBytes, on_device_size_in_bytes, a->buffer->type->nbytes)
LZ_PJRT_GIVES(Buffer_Device, device, a->buffer->device)
LZ_PJRT_GIVES(Buffer_Memory, memory, &a->buffer->device->memory.base)
LZ_PJRT_GIVES(Buffer_IsOnCpu, is_on_cpu, a->buffer->device->client->topology.be->host_memory)

PJRT_Error *lz_pjrt_Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args *a)
{
    static const lz_error gone = {.status = LZ_EINVAL,
                                  .message = "the buffer has been deleted or donated"};
    PJRT_Buffer *x = a->buffer;
    lz_mutex_lock(&x->lock);
    lz_device_buffer *b = x->deleted ? NULL : x->b;
    if (b)
        lz_device_buffer_retain(b);
    lz_mutex_unlock(&x->lock);
    lz_event *never = NULL;
    a->event = b ? lz_pjrt_event(b->ready) : lz_pjrt_event_new(&never);
    if (never) { /* some hosts do not survive an error of this call */
        lz_event_complete(never, &gone);
        lz_event_release(never);
    }
    lz_device_buffer_release(b);
    return a->event ? NULL : lz_pjrt_failed();
}

/* ---- readers outside ---- */

PJRT_Error *
lz_pjrt_Buffer_IncreaseExternalReferenceCount(PJRT_Buffer_IncreaseExternalReferenceCount_Args *a)
{
    PJRT_Buffer *x = a->buffer;
    lz_mutex_lock(&x->lock);
    bool there = x->b && !x->deleted;
    x->external += there;
    lz_mutex_unlock(&x->lock);
    return there ? NULL
                 : lz_pjrt_error(PJRT_INVALID_ARGUMENT, "the buffer has been deleted or donated");
}

PJRT_Error *
lz_pjrt_Buffer_DecreaseExternalReferenceCount(PJRT_Buffer_DecreaseExternalReferenceCount_Args *a)
{
    PJRT_Buffer *x = a->buffer;
    lz_device_buffer *b = NULL;
    lz_mutex_lock(&x->lock);
    bool was = x->external > 0;
    x->external -= was;
    if (was && !x->external && x->deleted) {
        b = x->b;
        x->b = NULL;
    }
    lz_mutex_unlock(&x->lock);
    lz_device_buffer_release(b);
    return was ? NULL
               : lz_pjrt_error(PJRT_FAILED_PRECONDITION,
                               "nobody outside holds the buffer's memory");
}

/* The content is there when this returns: who asks for an address reads it. From now on the memory
 * is shared, so nothing is concluded from its being the same buffer. */
static PJRT_Error *address(PJRT_Buffer *x, void **out)
{
    lz_device_buffer *b;
    PJRT_Error *e = lz_pjrt_buffer_use(x, &b);
    if (e)
        return e;
    e = lz_pjrt_check_wait(b->ready);
    if (!e && lz_event_wait(b->ready) != LZ_OK)
        e = lz_pjrt_failed();
    if (!e)
        lz_device_buffer_lent(b);
    *out = b->data;
    lz_device_buffer_release(b);
    return e;
}

PJRT_Error *lz_pjrt_Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args *a)
{
    void *p = NULL;
    PJRT_Error *e = address(a->buffer, &p);
    a->buffer_pointer = (uintptr_t)p;
    return e;
}

PJRT_Error *
lz_pjrt_Buffer_OpaqueDeviceMemoryDataPointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args *a)
{
    return address(a->buffer, &a->device_memory_ptr);
}
