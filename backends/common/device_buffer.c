/* device_buffer.c - reference counts of device buffers. Threads: thread-safe. */
#include "backends/backend.h"
#include "base/thread.h"
#include <string.h>

/* Descriptors are made and freed with every execution: a free list keeps some for reuse. */
enum { SPARES = 256 };
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;
static lz_dbuf *spare[SPARES];
static int nspare;

lz_dbuf *lz_dbuf_new(void)
{
    pthread_mutex_lock(&spare_lock);
    lz_dbuf *b = nspare ? spare[--nspare] : NULL;
    pthread_mutex_unlock(&spare_lock);
    if (!b && !(b = lz_alloc(sizeof *b))) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for a buffer");
        return NULL;
    }
    *b = (lz_dbuf){.refs = 1};
    return b;
}

void lz_dbuf_recycle(lz_dbuf *b)
{
    pthread_mutex_lock(&spare_lock);
    bool keep = nspare < SPARES;
    if (keep)
        spare[nspare++] = b;
    pthread_mutex_unlock(&spare_lock);
    if (!keep)
        lz_free(b);
}

void lz_dbuf_retain(lz_dbuf *b)
{
    __atomic_fetch_add(&b->refs, 1, __ATOMIC_RELAXED);
}

void lz_dbuf_release(lz_dbuf *b)
{
    if (!b || __atomic_fetch_sub(&b->refs, 1, __ATOMIC_ACQ_REL) != 1)
        return;
    lz_event_release(b->ready);
    b->ready = NULL;
    if (b->release) {
        b->release(b->user);
        b->release = NULL;
        b->data = NULL;
    }
    lz_backend_at(b->backend)->free(b);
}

/* ---- what is in them ---- */

/* States of `content` other than a number: not asked for yet; lent for good. */
static const uint64_t unasked = 0, lent = UINT64_MAX;

uint64_t lz_dbuf_content(lz_dbuf *b)
{
    static uint64_t last;
    uint64_t c = __atomic_load_n(&b->content, __ATOMIC_ACQUIRE);
    if (b->capacity == 0 || c == lent)
        return 0;
    if (c != unasked)
        return c;
    uint64_t fresh = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(&b->content, &c, fresh, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return fresh;
    return c == lent ? 0 : c;
}

void lz_dbuf_changed(lz_dbuf *b)
{
    uint64_t c = __atomic_load_n(&b->content, __ATOMIC_RELAXED);
    while (c != unasked && c != lent &&
           !__atomic_compare_exchange_n(&b->content, &c, unasked, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
        ;
}

void lz_dbuf_lent(lz_dbuf *b)
{
    __atomic_store_n(&b->content, lent, __ATOMIC_RELEASE);
}

/* ---- host memory ---- */

static lz_status ready(const lz_dbuf *b, size_t nbytes)
{
    if (nbytes > b->nbytes)
        return LZ_FAIL(LZ_ERANGE, "copying %zu bytes of a buffer of %zu", nbytes, b->nbytes);
    return lz_event_wait(b->ready);
}

lz_status lz_dbuf_host_in(lz_dbuf *dst, const void *src, size_t nbytes)
{
    LZ_TRY(ready(dst, nbytes));
    lz_dbuf_changed(dst);
    if (nbytes)
        memcpy(dst->data, src, nbytes);
    return LZ_OK;
}

lz_status lz_dbuf_host_out(lz_dbuf *src, void *dst, size_t nbytes)
{
    LZ_TRY(ready(src, nbytes));
    if (nbytes)
        memcpy(dst, src->data, nbytes);
    return LZ_OK;
}
