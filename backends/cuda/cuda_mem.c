/* cuda_mem.c - memory of a CUDA device: blocks from a pool, 512-byte aligned, eight size classes
 * per power of two. A freed block stays in its class; when the driver has no more, or the limit is
 * reached, free blocks go back to it. LAZULI_DEVICE_MEMORY_MB caps used and free blocks together.
 * Threads: thread-safe. */
#include "backends/cuda/cuda_device.h"
#include "base/config.h"
#include <inttypes.h>
#include <stdio.h>

enum { MIN_BITS = 9, MAX_BITS = 48, FINE_BITS = 3 };

/* The size class for n bytes and its size; -1: too large. */
static int class_of(size_t n, size_t *size)
{
    *size = (size_t)1 << MIN_BITS;
    if (n <= *size)
        return 0;
    int bits = 63 - __builtin_clzll(n - 1); /* 2^bits < n <= 2^(bits+1) */
    if (bits >= MAX_BITS)
        return -1;
    size_t grain = (size_t)1 << (bits - FINE_BITS), i = (n - 1 - ((size_t)1 << bits)) / grain;
    *size = ((size_t)1 << bits) + (i + 1) * grain;
    return 1 + (bits - MIN_BITS) * 8 + (int)i;
}

static size_t class_size(int c)
{
    if (c == 0)
        return (size_t)1 << MIN_BITS;
    int bits = MIN_BITS + (c - 1) / 8;
    return ((size_t)1 << bits) + (((size_t)((c - 1) % 8) + 1) << (bits - FINE_BITS));
}

uint64_t cuda_limit(const cuda_device *d)
{
    uint64_t cap = (uint64_t)lz_cfg_int(LZ_OPT_DEVICE_MEM_LIMIT_MB) << 20;
    return cap && cap < d->total_bytes ? cap : d->total_bytes;
}

/* ---- the driver's memory; under the pool's lock and in the context ---- */

static void trim_to(cuda_device *d, uint64_t keep)
{
    cuda_pool *p = &d->pool;
    for (int c = CUDA_CLASSES - 1; c >= 0 && p->waiting_bytes > keep; c--)
        while (p->waiting[c].len && p->waiting_bytes > keep) {
            (void)cuda_check(d, lz_cuda.MemFree(p->waiting[c].data[--p->waiting[c].len]),
                             "giving memory back");
            p->waiting_bytes -= class_size(c);
        }
}

static lz_status take(cuda_device *d, int c, size_t size, cu_ptr *out)
{
    cuda_pool *p = &d->pool;
    uint64_t cap = (uint64_t)lz_cfg_int(LZ_OPT_DEVICE_MEM_LIMIT_MB) << 20;
    if (cap && p->used + size > cap)
        return LZ_EDEVMEM;
    if (p->waiting[c].len) {
        *out = p->waiting[c].data[--p->waiting[c].len];
        p->waiting_bytes -= size;
        p->reuses++;
        return LZ_OK;
    }
    if (cap && p->used + p->waiting_bytes + size > cap)
        trim_to(d, cap - p->used - size);
    int r = lz_cuda.MemAlloc(out, size);
    if (r == CU_OUT_OF_MEMORY && p->waiting_bytes) {
        trim_to(d, 0);
        r = lz_cuda.MemAlloc(out, size);
    }
    return r == CU_OUT_OF_MEMORY ? LZ_EDEVMEM : cuda_check(d, r, "allocating memory");
}

static lz_status no_memory(cuda_device *d, size_t nbytes)
{
    size_t nfree = 0, total = 0;
    (void)lz_cuda.MemGetInfo(&nfree, &total);
    return LZ_FAIL(LZ_EDEVMEM,
                   "CUDA:%d: no room for %zu bytes: this process uses %" PRIu64 " of %" PRIu64
                   " bytes (LAZULI_DEVICE_MEMORY_MB), the device has %zu free",
                   d->at.index, nbytes, d->pool.used, cuda_limit(d), nfree);
}

/* For timelines; under the pool's lock. */
static void count_used(const cuda_device *d)
{
    char name[40];
    if (!lz_timeline_on())
        return;
    snprintf(name, sizeof name, "CUDA:%d memory", d->at.index);
    lz_timeline_quantity(name, (int64_t)d->pool.used);
}

static lz_status take_counted(cuda_device *d, size_t nbytes, cu_ptr *out, size_t *size)
{
    cuda_pool *p = &d->pool;
    int c = class_of(nbytes, size);
    lz_mutex_lock(&p->lock);
    lz_status s = c < 0 ? LZ_EDEVMEM : take(d, c, *size, out);
    if (s == LZ_OK) {
        p->used += *size;
        p->allocs++;
        p->peak = p->used > p->peak ? p->used : p->peak;
        count_used(d);
    }
    lz_mutex_unlock(&p->lock);
    return s;
}

/* ---- buffers ---- */

lz_status cuda_alloc(cuda_device *d, size_t nbytes, lz_device_buffer **out)
{
    cu_ptr at = 0;
    size_t size = 0;
    *out = NULL;
    LZ_TRY(cuda_enter(d));
    lz_device_buffer *b = lz_device_buffer_new();
    lz_status s = b ? take_counted(d, nbytes, &at, &size) : LZ_EMEM;
    if (s == LZ_EDEVMEM) { /* running jobs hold memory until they are done */
        lz_queue_drain(d->finish);
        lz_queue_drain(d->out.finish);
        s = take_counted(d, nbytes, &at, &size);
    }
    if (s == LZ_EDEVMEM)
        s = no_memory(d, nbytes);
    cuda_leave(d);
    if (s != LZ_OK) {
        if (b)
            lz_device_buffer_recycle(b);
        return s;
    }
    b->backend = d->at.backend;
    b->device = (uint32_t)d->at.index;
    b->nbytes = nbytes;
    b->capacity = size;
    b->data = (void *)(uintptr_t)at;
    *out = b;
    return LZ_OK;
}

void cuda_free(cuda_device *d, lz_device_buffer *b)
{
    cuda_pool *p = &d->pool;
    size_t size;
    int c = class_of(b->capacity, &size);
    cu_ptr at = (cu_ptr)(uintptr_t)b->data;
    lz_device_buffer_recycle(b);
    if (lz_fork_happened())
        return;
    lz_mutex_lock(&p->lock);
    p->used -= size;
    count_used(d);
    bool kept = lz_vec_push(&p->waiting[c], at) == LZ_OK;
    if (kept)
        p->waiting_bytes += size;
    lz_mutex_unlock(&p->lock);
    if (!kept && cuda_enter(d) == LZ_OK) {
        (void)cuda_check(d, lz_cuda.MemFree(at), "giving memory back");
        cuda_leave(d);
    }
}

void cuda_trim(cuda_device *d)
{
    if (cuda_enter(d) != LZ_OK)
        return;
    lz_mutex_lock(&d->pool.lock);
    trim_to(d, 0);
    lz_mutex_unlock(&d->pool.lock);
    cuda_leave(d);
}
