/* device_buffer.c - reference counts of device buffers. Threads: thread-safe. */
#include "backends/backend.h"
#include "base/spares.h"
#include "base/callout.h"
#include "base/thread.h"
#include <stddef.h>
#include <string.h>

static lz_spares spares = LZ_SPARES_INIT("device_buffer", LZ_SPARES_MOST);

lz_device_buffer *lz_device_buffer_new(void)
{
    lz_device_buffer *b = lz_spares_take(&spares, sizeof *b);
    if (!b) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for a buffer");
        return NULL;
    }
    *b = (lz_device_buffer){.refs = 1};
    return b;
}

void lz_device_buffer_recycle(lz_device_buffer *b)
{
    lz_spares_give(&spares, b);
}

void lz_device_buffer_retain(lz_device_buffer *b)
{
    __atomic_fetch_add(&b->refs, 1, __ATOMIC_RELAXED);
}

static void give_back(lz_unlocked_call *call)
{
    lz_device_buffer *b =
        (lz_device_buffer *)(void *)((char *)call - offsetof(lz_device_buffer, call));
    LZ_CALL_OUT("a release function")
    b->release(b->user);
    b->release = NULL;
    b->data = NULL;
    lz_backend_at(b->backend)->free(b);
}

void lz_device_buffer_release(lz_device_buffer *b)
{
    if (!b || __atomic_fetch_sub(&b->refs, 1, __ATOMIC_ACQ_REL) != 1)
        return;
    lz_event_release(b->ready);
    b->ready = NULL;
    if (b->release) {
        b->call.fn = give_back;
        lz_call_unlocked(&b->call);
    } else {
        lz_backend_at(b->backend)->free(b);
    }
}

/* ---- what is in them ---- */

/* States of `content` other than a number: not asked for yet; lent for good. */
static const uint64_t unasked = 0, lent = UINT64_MAX;

uint64_t lz_device_buffer_content(lz_device_buffer *b)
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

void lz_device_buffer_changed(lz_device_buffer *b)
{
    uint64_t c = __atomic_load_n(&b->content, __ATOMIC_RELAXED);
    while (c != unasked && c != lent &&
           !__atomic_compare_exchange_n(&b->content, &c, unasked, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
        ;
}

void lz_device_buffer_lent(lz_device_buffer *b)
{
    __atomic_store_n(&b->content, lent, __ATOMIC_RELEASE);
}

/* ---- host memory ---- */

static lz_status ready(const lz_device_buffer *b, size_t nbytes)
{
    if (nbytes > b->nbytes)
        return LZ_FAIL(LZ_ERANGE, "copying %zu bytes of a buffer of %zu", nbytes, b->nbytes);
    return lz_event_wait(b->ready);
}

lz_status lz_device_buffer_host_in(lz_device_buffer *dst, const void *src, size_t nbytes)
{
    LZ_TRY(ready(dst, nbytes));
    lz_device_buffer_changed(dst);
    if (nbytes)
        memcpy(dst->data, src, nbytes);
    return LZ_OK;
}

lz_status lz_device_buffer_host_out(lz_device_buffer *src, void *dst, size_t nbytes)
{
    LZ_TRY(ready(src, nbytes));
    if (nbytes)
        memcpy(dst, src->data, nbytes);
    return LZ_OK;
}
