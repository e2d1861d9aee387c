/* dbuf.c - reference counts of device buffers. Threads: thread-safe. */
#include "backends/backend.h"

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
