/* cuda_transfer.c - copies between host memory and the device through pinned staging pieces, which
 * the device reads and writes while it computes. A piece is reused once the event behind its last
 * copy is complete. Threads: thread-safe; one transfer at a time in each direction. */
#include "backends/cuda/cuda_device.h"
#include <string.h>

static const size_t piece = 4 << 20;

static lz_status prepare(cuda_device *d, cuda_staging *s)
{
    for (int i = 0; i < CUDA_SLOTS && !s->ready; i++) {
        if (!s->slot[i].p)
            CUDA_TRY(d, MemHostAlloc(&s->slot[i].p, piece, 0), "allocating pinned memory");
        if (!s->slot[i].free)
            CUDA_TRY(d, EventCreate(&s->slot[i].free, CU_EVENT_NO_TIMING), "making an event");
    }
    s->ready = true;
    return LZ_OK;
}

static lz_status upload(cuda_device *d, cu_ptr dst, const char *src, size_t nbytes)
{
    cuda_staging *s = &d->up;
    LZ_TRY(prepare(d, s));
    for (size_t at = 0; at < nbytes; at += piece) {
        size_t n = nbytes - at < piece ? nbytes - at : piece;
        uint32_t i = s->next++ % CUDA_SLOTS;
        CUDA_TRY(d, EventSynchronize(s->slot[i].free), "waiting for a copy");
        memcpy(s->slot[i].p, src + at, n);
        CUDA_TRY(d, MemcpyHtoDAsync(dst + at, s->slot[i].p, n, s->stream), "copying to it");
        CUDA_TRY(d, EventRecord(s->slot[i].free, s->stream), "recording an event");
    }
    CUDA_TRY(d, EventRecord(d->uploaded, s->stream), "recording an event");
    atomic_fetch_add(&d->uploads, 1);
    return LZ_OK;
}

lz_status cuda_copy_in(cuda_device *d, cu_ptr dst, const void *src, size_t nbytes)
{
    if (!nbytes)
        return LZ_OK;
    cuda_stretch t = {.row = CUDA_ROW_IN, .name = "copy in", .nbytes = nbytes};
    bool timed = lz_timeline_on();
    LZ_TRY(cuda_enter(d));
    lz_mutex_lock(&d->up.lock);
    if (timed)
        cuda_stretch_begin(d, d->up.stream, &t);
    lz_status s = upload(d, dst, src, nbytes);
    if (timed) {
        cuda_stretch_end(d, d->up.stream, &t);
        cuda_stretch_later(d, &t);
    }
    lz_mutex_unlock(&d->up.lock);
    cuda_leave(d);
    return s;
}

static lz_status start_piece(cuda_device *d, cu_ptr src, size_t nbytes, uint32_t i)
{
    cuda_staging *s = &d->down;
    CUDA_TRY(d, MemcpyDtoHAsync(s->slot[i].p, src, nbytes, s->stream), "copying from it");
    return cuda_check(d, lz_cuda.EventRecord(s->slot[i].free, s->stream), "recording an event");
}

/* Piece k is copied out while the next ones are in flight. t ends behind the last; NULL: not
 * measured. */
static lz_status download(cuda_device *d, char *dst, cu_ptr src, size_t nbytes, cuda_stretch *t)
{
    cuda_staging *s = &d->down;
    size_t pieces = (nbytes + piece - 1) / piece, started = 0;
    LZ_TRY(prepare(d, s));
    for (size_t k = 0; k < pieces; k++) {
        for (; started < pieces && started < k + CUDA_SLOTS; started++) {
            size_t left = nbytes - started * piece;
            LZ_TRY(start_piece(d, src + started * piece, left < piece ? left : piece,
                               (uint32_t)(started % CUDA_SLOTS)));
            if (t && started + 1 == pieces)
                cuda_stretch_end(d, s->stream, t);
        }
        size_t n = nbytes - k * piece < piece ? nbytes - k * piece : piece;
        CUDA_TRY(d, EventSynchronize(s->slot[k % CUDA_SLOTS].free), "waiting for a copy");
        memcpy(dst + k * piece, s->slot[k % CUDA_SLOTS].p, n);
    }
    return LZ_OK;
}

static lz_status after_uploads(cuda_device *d, cu_stream stream)
{
    lz_mutex_lock(&d->up.lock);
    lz_status s =
        cuda_check(d, lz_cuda.StreamWaitEvent(stream, d->uploaded, 0), "ordering streams");
    lz_mutex_unlock(&d->up.lock);
    return s;
}

lz_status cuda_copy_out(cuda_device *d, void *dst, cu_ptr src, size_t nbytes)
{
    if (!nbytes)
        return LZ_OK;
    cuda_stretch t = {.row = CUDA_ROW_OUT, .name = "copy out", .nbytes = nbytes};
    bool timed = lz_timeline_on();
    LZ_TRY(cuda_enter(d));
    lz_mutex_lock(&d->down.lock);
    lz_status s = after_uploads(d, d->down.stream);
    if (s == LZ_OK && timed)
        cuda_stretch_begin(d, d->down.stream, &t);
    if (s == LZ_OK)
        s = download(d, dst, src, nbytes, timed ? &t : NULL);
    if (s == LZ_OK && cuda_stretch_wait(&t))
        cuda_stretch_note(d, &t);
    else if (t.to)
        cuda_stretch_drop(d, &t);
    lz_mutex_unlock(&d->down.lock);
    cuda_leave(d);
    return s;
}

lz_status cuda_after_uploads(cuda_device *d, cuda_launcher *l)
{
    uint64_t now = atomic_load(&d->uploads);
    if (now == l->uploads_seen)
        return LZ_OK;
    LZ_TRY(after_uploads(d, d->compute));
    l->uploads_seen = now;
    return LZ_OK;
}
