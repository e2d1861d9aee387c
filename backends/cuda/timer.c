/* timer.c - what launches take by the device's own clock, and when that was by the host's: a span of the timeline is as far behind a base
 * event as the device says, and the base was recorded on an idle stream between two readings of the host's clock.
 * Distances come in milliseconds as floats, so the base is not kept for longer than they stay exact to a tenth of a microsecond.
 * Threads: of the launching queue, between enter and leave. */
#include "backends/cuda/device.h"
#include "base/timeline.h"
#include <stdio.h>

enum { BASE_NS = 1000000000 };

static lz_status make_event(cuda_device *d, cu_event *e)
{
    return *e ? LZ_OK : cuda_check(d, lz_cuda.EventCreate(e, 0), "making an event");
}

static lz_status place(cuda_device *d, cuda_timer *t)
{
    char name[32];
    LZ_TRY(make_event(d, &t->base));
    CUDA_TRY(d, StreamSynchronize(d->compute), "waiting for kernels");
    int64_t before = lz_now_ns();
    CUDA_TRY(d, EventRecord(t->base, d->compute), "recording an event");
    CUDA_TRY(d, EventSynchronize(t->base), "waiting for an event");
    t->base_ns = before + (lz_now_ns() - before) / 2;
    if (!t->row) {
        snprintf(name, sizeof name, "CUDA:%d compute", d->at.index);
        t->row = lz_timeline_row(name);
    }
    return LZ_OK;
}

lz_status cuda_timer_from(cuda_device *d)
{
    cuda_timer *t = &d->timer;
    LZ_TRY(make_event(d, &t->from));
    LZ_TRY(make_event(d, &t->to));
    t->placed = lz_timeline_on();
    if (t->placed && (!t->base_ns || lz_now_ns() - t->base_ns > BASE_NS)) {
        t->base_ns = 0;
        LZ_TRY(place(d, t));
    }
    return cuda_check(d, lz_cuda.EventRecord(t->from, d->compute), "recording an event");
}

lz_status cuda_timer_to(cuda_device *d, int64_t *start_ns, int64_t *ns)
{
    cuda_timer *t = &d->timer;
    float ms = 0, behind = 0;
    CUDA_TRY(d, EventRecord(t->to, d->compute), "recording an event");
    CUDA_TRY(d, EventSynchronize(t->to), "waiting for a kernel");
    CUDA_TRY(d, EventElapsedTime(&ms, t->from, t->to), "reading the time");
    *ns = (int64_t)((double)ms * 1e6);
    *start_ns = 0;
    if (!t->placed)
        return LZ_OK;
    CUDA_TRY(d, EventElapsedTime(&behind, t->base, t->from), "reading the time");
    *start_ns = t->base_ns + (int64_t)((double)behind * 1e6);
    if (*start_ns <
        t->last_ns) /* a base is right to some microseconds: the next one may lie before */
        *start_ns = t->last_ns;
    t->last_ns = *start_ns + *ns;
    return LZ_OK;
}
