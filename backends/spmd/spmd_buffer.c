/* spmd_buffer.c - buffers of the virtual device. The host's data waits until a program says where
 * its parts are to be; then each device gets its own, once. Threads: thread-safe. */
#include "backends/spmd/spmd.h"
#include "base/alloc.h"
#include "shard/tiles.h"
#include <string.h>

static lz_spmd_buffer *buffer_new(size_t nbytes)
{
    lz_spmd_buffer *b = lz_calloc(1, sizeof *b);
    if (!b) {
        (void)LZ_FAIL(LZ_EMEM, "SPMD: no memory for a buffer");
        return NULL;
    }
    b->b.refs = 1;
    b->b.backend = lz_spmd.index;
    b->b.nbytes = b->b.capacity = nbytes;
    b->b.data = b;
    lz_mutex_init(&b->lock, "spmd_buffer");
    return b;
}

lz_status lz_spmd_zeros(int device, size_t nbytes, lz_device_buffer **out)
{
    (void)device;
    lz_spmd_buffer *b = buffer_new(nbytes);
    *out = b ? &b->b : NULL;
    return b ? LZ_OK : LZ_EMEM;
}

lz_status lz_spmd_alloc(int device, size_t nbytes, lz_device_buffer **out)
{
    LZ_TRY(lz_spmd_zeros(device, nbytes, out));
    lz_spmd_buffer *b = (lz_spmd_buffer *)*out;
    b->host = lz_alloc(nbytes ? nbytes : 1);
    if (b->host)
        return LZ_OK;
    lz_spmd_free(*out);
    *out = NULL;
    return LZ_FAIL(LZ_EMEM, "SPMD: no memory for a buffer of %zu bytes", nbytes);
}

static lz_device_buffer **parts_new(void)
{
    lz_device_buffer **part = lz_calloc((size_t)lz_spmd.nlocal, sizeof(lz_device_buffer *));
    if (!part)
        (void)LZ_FAIL(LZ_EMEM, "SPMD: no memory for %lld parts", (long long)lz_spmd.nlocal);
    return part;
}

static void release_parts(lz_device_buffer **part)
{
    for (int64_t l = 0; part && l < lz_spmd.nlocal; l++)
        lz_device_buffer_release(part[l]);
    lz_free(part);
}

void lz_spmd_free(lz_device_buffer *buffer)
{
    lz_spmd_buffer *b = (lz_spmd_buffer *)buffer;
    release_parts(b->part);
    lz_free(b->host);
    lz_mutex_destroy(&b->lock);
    lz_free(b);
}

const char *lz_spmd_placement(const lz_device_buffer *buffer)
{
    lz_spmd_buffer *b = (lz_spmd_buffer *)(uintptr_t)buffer;
    return atomic_load_explicit(&b->text, memory_order_acquire);
}

bool lz_spmd_is_chosen(const lz_device_buffer *buffer)
{
    return atomic_load(&((lz_spmd_buffer *)(uintptr_t)buffer)->chosen);
}

lz_status lz_spmd_of_parts(const lz_type *type, const lz_sharding *at, lz_device_buffer **part,
                           lz_device_buffer **out)
{
    const char *text = lz_sharding_text(at);
    lz_spmd_buffer *b = text ? buffer_new(type->nbytes) : NULL;
    *out = b ? &b->b : NULL;
    if (!b)
        return LZ_EMEM;
    b->type = type;
    b->at = at;
    atomic_init(&b->text, text);
    b->part = part;
    return LZ_OK;
}

static int64_t partition_of(const lz_sharding *at, int64_t l)
{
    return lz_spmd_partition_of(at->mesh, l);
}

/* The device of this process whose partition is the lowest that has the same as its device l. */
static int64_t first_local(const lz_sharding *at, int64_t l)
{
    int64_t of = lz_tile_first(at, partition_of(at, l)), best = l;
    if (!lz_spmd_is_multiprocess())
        return of;
    for (int64_t k = 0; k < lz_spmd.nlocal; k++)
        if (lz_tile_first(at, partition_of(at, k)) == of &&
            partition_of(at, k) < partition_of(at, best))
            best = k;
    return best;
}

/* ---- the host's data ---- */

lz_status lz_spmd_copy_in(lz_device_buffer *dst, const void *src, size_t nbytes)
{
    lz_spmd_buffer *b = (lz_spmd_buffer *)dst;
    lz_status s = LZ_OK;
    lz_mutex_lock(&b->lock);
    if (!b->host || b->at)
        s = LZ_FAIL(LZ_EINTERNAL, "SPMD: a copy into a buffer that has its parts");
    else if (nbytes)
        memcpy(b->host, src, nbytes);
    lz_mutex_unlock(&b->lock);
    return s;
}

/* A partition's part into the whole array. */
static lz_status read_part(const lz_sharding *at, const lz_type *type, int64_t p,
                           lz_device_buffer *part, void *dst)
{
    const lz_backend *be = lz_spmd.be;
    if (be->host_memory) {
        LZ_TRY(lz_event_wait(part->ready));
        return lz_tile_join(at, type, p, part->data, dst);
    }
    const lz_type *local = lz_sharding_local(at, type);
    void *bytes = local ? lz_alloc(local->nbytes + 1) : NULL;
    if (!bytes)
        return LZ_FAIL(LZ_EMEM, "SPMD: no memory to read a part");
    lz_status s = be->copy_out(part, bytes, local->nbytes);
    if (s == LZ_OK)
        s = lz_tile_join(at, type, p, bytes, dst);
    lz_free(bytes);
    return s;
}

/* Errors: also those of a collective, where other processes have some. */
static lz_status read_parts(const lz_sharding *at, const lz_type *type, lz_device_buffer **part,
                            void *dst)
{
    if (!lz_spmd_has_all(at))
        return lz_spmd_gather(at, type, part, dst);
    for (int64_t l = 0; l < lz_spmd.nlocal && type->nbytes; l++)
        if (first_local(at, l) == l)
            LZ_TRY(read_part(at, type, partition_of(at, l), part[l], dst));
    return LZ_OK;
}

/* Parts that stay while they are read: a reference each. NULL: no memory. */
static lz_device_buffer **retain_parts(lz_device_buffer *const *part)
{
    lz_device_buffer **own = parts_new();
    for (int64_t l = 0; own && l < lz_spmd.nlocal; l++) {
        lz_device_buffer_retain(part[l]);
        own[l] = part[l];
    }
    return own;
}

lz_status lz_spmd_copy_out(lz_device_buffer *src, void *dst, size_t nbytes)
{
    lz_spmd_buffer *b = (lz_spmd_buffer *)src;
    lz_device_buffer **part = NULL;
    LZ_TRY(lz_event_wait(src->ready));
    lz_mutex_lock(&b->lock);
    const lz_sharding *at = b->at;
    const lz_type *type = b->type;
    if (at)
        part = retain_parts(b->part);
    else if (b->host && nbytes)
        memcpy(dst, b->host, nbytes);
    else if (nbytes)
        memset(dst, 0, nbytes);
    lz_mutex_unlock(&b->lock);
    if (!at)
        return LZ_OK;
    lz_status s = part ? read_parts(at, type, part, dst) : LZ_EMEM;
    release_parts(part);
    return s;
}

/* ---- placing ---- */

/* l: the local device; the other is its number among all. */
static lz_status send_part(const lz_type *type, const lz_sharding *at, int64_t l,
                           const lz_type *local, const void *whole, void *bytes,
                           lz_device_buffer **out)
{
    const lz_backend *be = lz_spmd.be;
    if (!whole && be->zeros)
        return be->zeros((int)l, local->nbytes, out);
    LZ_TRY(be->alloc((int)l, local->nbytes, out));
    if (!local->nbytes)
        return LZ_OK;
    if (!whole)
        memset(bytes, 0, local->nbytes);
    else
        LZ_TRY(lz_tile_cut(at, type, partition_of(at, l), whole,
                           be->host_memory ? (*out)->data : bytes));
    return whole && be->host_memory ? LZ_OK : be->copy_in(*out, bytes, local->nbytes);
}

/* The parts of a whole array (NULL: of zeros). */
static lz_status send(const lz_type *type, const lz_sharding *at, const void *whole,
                      lz_device_buffer ***out)
{
    const lz_type *local = lz_sharding_local(at, type);
    lz_device_buffer **part = parts_new();
    void *bytes = local ? lz_alloc(local->nbytes + 1) : NULL;
    lz_status s =
        part && bytes ? LZ_OK : LZ_FAIL(LZ_EMEM, "SPMD: no memory to send a tensor's parts");
    for (int64_t l = 0; l < lz_spmd.nlocal && s == LZ_OK; l++)
        s = send_part(type, at, l, local, whole, bytes, &part[l]);
    lz_free(bytes);
    if (s != LZ_OK) {
        release_parts(part);
        part = NULL;
    }
    *out = part;
    return s;
}

/* Elsewhere by way of the host: only when another thread has placed the buffer between the choice
 * of the program and its execution, when it is two arguments of a program that wants them in two
 * places, or once when a search finds a better place than that which a program before has chosen.
 */
static lz_status fetch(lz_spmd_buffer *b)
{
    void *whole = lz_alloc(b->type->nbytes + 1);
    if (!whole)
        return LZ_FAIL(LZ_EMEM, "SPMD: no memory for %zu bytes", b->type->nbytes);
    lz_status s = lz_event_wait(b->b.ready);
    if (s == LZ_OK)
        s = read_parts(b->at, b->type, b->part, whole);
    if (s != LZ_OK) {
        lz_free(whole);
        return s;
    }
    release_parts(b->part);
    b->part = NULL;
    b->at = NULL;
    b->host = whole;
    return LZ_OK;
}

static lz_status place_locked(lz_spmd_buffer *b, const lz_type *type, const lz_sharding *at,
                              bool chosen)
{
    if (!chosen || !b->at)
        atomic_store(&b->chosen, chosen);
    if (b->at && lz_sharding_same_place(b->at, at))
        return LZ_OK;
    const char *text = lz_sharding_text(at);
    if (!text)
        return LZ_EMEM;
    if (b->at)
        LZ_TRY(fetch(b));
    LZ_TRY(send(type, at, b->host, &b->part));
    lz_free(b->host);
    b->host = NULL;
    b->type = type;
    b->at = at;
    atomic_store_explicit(&b->text, text, memory_order_release);
    return LZ_OK;
}

lz_status lz_spmd_place(lz_spmd_buffer *b, const lz_type *type, const lz_sharding *at, bool chosen,
                        lz_device_buffer ***in, uint32_t i)
{
    lz_mutex_lock(&b->lock);
    lz_status s = place_locked(b, type, at, chosen);
    for (int64_t l = 0; l < lz_spmd.nlocal && s == LZ_OK; l++) {
        in[l][i] = b->part[l];
        lz_device_buffer_retain(in[l][i]);
    }
    lz_mutex_unlock(&b->lock);
    return s;
}

/* ---- one part ---- */

/* The elements of a part (NULL: of an empty one) on a device, with zeros behind the end. */
static lz_status send_dense(const lz_type *type, const lz_sharding *at, int64_t l,
                            const lz_type *local, const void *dense, void *bytes,
                            lz_device_buffer **out)
{
    const lz_backend *be = lz_spmd.be;
    LZ_TRY(be->alloc((int)l, local->nbytes, out));
    if (!local->nbytes)
        return LZ_OK;
    void *to = be->host_memory ? (*out)->data : bytes;
    lz_tile_unpack(at, type, partition_of(at, l), dense, to);
    return be->host_memory ? LZ_OK : be->copy_in(*out, bytes, local->nbytes);
}

static lz_status send_all_dense(const lz_type *type, const lz_sharding *at, const void *const *part,
                                lz_device_buffer **out)
{
    const lz_type *local = lz_sharding_local(at, type);
    void *bytes = local ? lz_alloc(local->nbytes + 1) : NULL;
    lz_status s = bytes ? LZ_OK : LZ_FAIL(LZ_EMEM, "SPMD: no memory for a part");
    for (int64_t l = 0; l < lz_spmd.nlocal && s == LZ_OK; l++)
        s = send_dense(type, at, l, local, part[partition_of(at, first_local(at, l))], bytes,
                       &out[l]);
    lz_free(bytes);
    return s;
}

lz_status lz_spmd_from_parts(const lz_type *type, const char *text, const void *const *part,
                             lz_device_buffer **out)
{
    const lz_sharding *at = lz_sharding_parse(text);
    *out = NULL;
    if (!at)
        return lz_error_get()->status;
    LZ_ASSERT(at->mesh->ndevice == lz_spmd.n);
    lz_device_buffer **own = parts_new();
    lz_status s = own ? send_all_dense(type, at, part, own) : LZ_EMEM;
    if (s == LZ_OK)
        s = lz_spmd_of_parts(type, at, own, out);
    if (s != LZ_OK)
        release_parts(own);
    return s;
}

static lz_status read_dense(const lz_sharding *at, const lz_type *type, int64_t p,
                            lz_device_buffer *part, void *dst)
{
    const lz_backend *be = lz_spmd.be;
    const lz_type *local = lz_sharding_local(at, type);
    if (!local)
        return LZ_EMEM;
    if (be->host_memory) {
        LZ_TRY(lz_event_wait(part->ready));
        lz_tile_pack(at, type, p, part->data, dst);
        return LZ_OK;
    }
    void *bytes = lz_alloc(local->nbytes + 1);
    if (!bytes)
        return LZ_FAIL(LZ_EMEM, "SPMD: no memory to read a part");
    lz_status s = be->copy_out(part, bytes, local->nbytes);
    if (s == LZ_OK)
        lz_tile_pack(at, type, p, bytes, dst);
    lz_free(bytes);
    return s;
}

lz_status lz_spmd_read_part(lz_device_buffer *src, const lz_type *type, int64_t partition,
                            void *dst)
{
    lz_spmd_buffer *b = (lz_spmd_buffer *)src;
    LZ_TRY(lz_event_wait(src->ready));
    lz_mutex_lock(&b->lock);
    const lz_sharding *at = b->at;
    int64_t l = 0;
    while (at && l < lz_spmd.nlocal && partition_of(at, l) != partition)
        l++;
    lz_device_buffer *part = at && l < lz_spmd.nlocal ? b->part[l] : NULL;
    if (part)
        lz_device_buffer_retain(part);
    lz_mutex_unlock(&b->lock);
    if (!at)
        return lz_spmd_copy_out(src, dst, type->nbytes);
    if (!part)
        return LZ_FAIL(LZ_EUNSUPPORTED, "SPMD: partition %lld is another process's",
                       (long long)partition);
    lz_status s = read_dense(at, type, partition, part, dst);
    lz_device_buffer_release(part);
    return s;
}
