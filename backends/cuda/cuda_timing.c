/* cuda_timing.c - times of the device's work, for timelines (base/timeline/timeline.h) and
 * LAZULI_PROFILE: driver events around stretches of a stream. Event times are relative to a base
 * event, recorded on an idle stream between two reads of the host's clock; the base is renewed
 * every second, so that neither the clocks drift apart nor the driver's float of milliseconds loses
 * microseconds. Rows are streams, so the stretches of a row are in order; one that would overlap
 * because of jitter starts where the last one ended. Nothing here is an error: a stretch that
 * cannot be measured is missing. A lost device is reported by the operation it was lost in.
 * Threads: thread-safe; a stretch belongs to the thread that began it. All but cuda_times_end
 * between cuda_enter and cuda_leave. */
#include "backends/cuda/cuda_device.h"
#include "backends/common/profile.h"
#include <stdio.h>

enum { WAITING = 1024, TRIES = 3, BASE_NS = 1000000000 };

/* Created with the device's first span: an idle GPU has no rows. */
static void name_rows(cuda_device *d)
{
    static const char *const names[CUDA_ROWS] = {"programs", "compute", "copy in", "copy out",
                                                 "copy across"};
    char name[32];
    lz_mutex_lock(&d->times.lock);
    for (int i = 0; i < CUDA_ROWS && !d->times.row[i]; i++) {
        snprintf(name, sizeof name, "CUDA:%d %s", d->at.index, names[i]);
        d->times.row[i] = lz_timeline_row(name);
    }
    lz_mutex_unlock(&d->times.lock);
}

/* ---- events; under the lock ---- */

static cu_event take(cuda_times *t)
{
    cu_event e = NULL;
    if (t->spare.len)
        return t->spare.data[--t->spare.len];
    return lz_cuda.EventCreate(&e, 0) == CU_OK ? e : NULL;
}

static void give(cuda_times *t, cu_event e)
{
    if (e && lz_vec_push(&t->spare, e) != LZ_OK)
        (void)lz_cuda.EventDestroy(e);
}

static void give_both(cuda_times *t, cuda_stretch *s)
{
    give(t, s->from);
    give(t, s->to);
    s->from = s->to = NULL;
}

/* ---- stretches ---- */

void cuda_stretch_drop(cuda_device *d, cuda_stretch *s)
{
    lz_mutex_lock(&d->times.lock);
    give_both(&d->times, s);
    lz_mutex_unlock(&d->times.lock);
}

void cuda_stretch_begin(cuda_device *d, cu_stream stream, cuda_stretch *s)
{
    if (lz_timeline_on())
        name_rows(d);
    lz_mutex_lock(&d->times.lock);
    s->from = take(&d->times);
    s->to = take(&d->times);
    lz_mutex_unlock(&d->times.lock);
    if (!s->from || !s->to || lz_cuda.EventRecord(s->from, stream) != CU_OK)
        cuda_stretch_drop(d, s);
}

void cuda_stretch_end(cuda_device *d, cu_stream stream, cuda_stretch *s)
{
    if (s->to && lz_cuda.EventRecord(s->to, stream) != CU_OK)
        cuda_stretch_drop(d, s);
}

bool cuda_stretch_wait(const cuda_stretch *s)
{
    return s->to && lz_cuda.EventSynchronize(s->to) == CU_OK;
}

bool cuda_stretch_ns(const cuda_stretch *s, int64_t *ns)
{
    float ms = 0;
    if (lz_cuda.EventElapsedTime(&ms, s->from, s->to) != CU_OK)
        return false;
    *ns = (int64_t)((double)ms * 1e6);
    return true;
}

/* ---- the two clocks; under the lock ---- */

/* The attempt that took the host least time is the most precise. */
static bool new_base(cuda_times *t)
{
    int64_t least = INT64_MAX;
    if (!t->clock && lz_cuda.StreamCreate(&t->clock, CU_STREAM_NON_BLOCKING) != CU_OK) {
        t->clock = NULL;
        return false;
    }
    for (int i = 0; i < TRIES; i++) {
        cu_event e = take(t);
        int64_t before = lz_now_ns();
        bool ok =
            e && lz_cuda.EventRecord(e, t->clock) == CU_OK && lz_cuda.EventSynchronize(e) == CU_OK;
        int64_t after = lz_now_ns();
        if (!ok || after - before >= least) {
            give(t, e);
            continue;
        }
        least = after - before;
        give(t, t->base);
        t->base = e;
        t->base_ns = before + least / 2;
    }
    return least != INT64_MAX;
}

static bool have_base(cuda_times *t)
{
    int64_t age = lz_now_ns() - t->base_ns;
    return (t->base && age < BASE_NS) || new_base(t);
}

static bool host_time(const cuda_times *t, cu_event e, int64_t *ns)
{
    float ms = 0;
    if (lz_cuda.EventElapsedTime(&ms, t->base, e) != CU_OK)
        return false;
    *ns = t->base_ns + (int64_t)((double)ms * 1e6);
    return true;
}

/* ---- into the timeline ---- */

static void put(const cuda_stretch *s, uint32_t row, int64_t begin, int64_t end)
{
    if (s->launch)
        lz_profile_span(s->launch, row, begin, end - begin);
    else
        lz_timeline_add(&(lz_span){.name = s->name,
                                   .category = s->collective ? "collective" : "copy",
                                   .key = {"bytes"},
                                   .value = {(int64_t)s->nbytes},
                                   .start_ns = begin,
                                   .ns = end - begin,
                                   .row = row});
}

/* Under the lock: its place on its row. */
static bool place(cuda_times *t, const cuda_stretch *s, int64_t *begin, int64_t *end)
{
    if (!s->to || !host_time(t, s->from, begin) || !host_time(t, s->to, end))
        return false;
    int64_t *last = &t->last[s->row];
    *begin = *begin > *last ? *begin : *last;
    *end = *end > *begin ? *end : *begin;
    *last = *end;
    return true;
}

static void note_locked(cuda_times *t, cuda_stretch *s, int64_t *first, int64_t *end)
{
    int64_t begin;
    if (place(t, s, &begin, end)) {
        *first = *first ? *first : begin;
        put(s, t->row[s->row], begin, *end);
    }
    give_both(t, s);
}

void cuda_stretches_note(cuda_device *d, cuda_stretch *s, uint32_t n, int64_t *begin, int64_t *end)
{
    cuda_times *t = &d->times;
    *begin = *end = 0;
    lz_mutex_lock(&t->lock);
    bool on = lz_timeline_on() && have_base(t);
    for (uint32_t i = 0; i < n; i++)
        if (on)
            note_locked(t, &s[i], begin, end);
        else
            give_both(t, &s[i]);
    lz_mutex_unlock(&t->lock);
}

void cuda_stretch_note(cuda_device *d, cuda_stretch *s)
{
    int64_t begin, end;
    cuda_stretches_note(d, s, 1, &begin, &end);
}

void cuda_program_note(cuda_device *d, const lz_job *j, int64_t begin, int64_t end)
{
    lz_mutex_lock(&d->times.lock);
    int64_t *last = &d->times.last[CUDA_ROW_PROGRAMS];
    begin = begin > *last ? begin : *last;
    *last = end > begin ? end : begin;
    lz_mutex_unlock(&d->times.lock);
    lz_timeline_add(&(lz_span){.name = j->x->label[0] ? j->x->label : "program",
                               .category = "program",
                               .key = {"launches"},
                               .value = {j->x->plan_exec.nlaunch},
                               .start_ns = begin,
                               .ns = end - begin,
                               .row = d->times.row[CUDA_ROW_PROGRAMS],
                               .flow = j->flow});
}

/* ---- those nobody waits for ---- */

/* In order. all: waits for each; otherwise stops at the first that is not complete. */
static void note_waiting(cuda_times *t, bool all)
{
    uint32_t n = 0;
    int64_t first = 0, end;
    bool on = t->waiting.len && lz_timeline_on() && have_base(t);
    for (; n < t->waiting.len; n++) {
        cuda_stretch *s = &t->waiting.data[n];
        bool there = all                  ? lz_cuda.EventSynchronize(s->to) == CU_OK
                     : lz_cuda.EventQuery ? lz_cuda.EventQuery(s->to) == CU_OK
                                          : false;
        if (!there && !all)
            break;
        if (there && on)
            note_locked(t, s, &first, &end);
        else
            give_both(t, s);
    }
    for (uint32_t i = n; i < t->waiting.len; i++)
        t->waiting.data[i - n] = t->waiting.data[i];
    t->waiting.len -= n;
}

void cuda_stretch_later(cuda_device *d, cuda_stretch *s)
{
    cuda_times *t = &d->times;
    lz_mutex_lock(&t->lock);
    note_waiting(t, t->waiting.len >= WAITING);
    if (s->to && lz_vec_push(&t->waiting, *s) != LZ_OK)
        give_both(t, s);
    lz_mutex_unlock(&t->lock);
}

void cuda_times_look(cuda_device *d)
{
    lz_mutex_lock(&d->times.lock);
    note_waiting(&d->times, false);
    lz_mutex_unlock(&d->times.lock);
}

void cuda_times_end(cuda_device *d)
{
    if (cuda_enter(d) != LZ_OK)
        return;
    lz_mutex_lock(&d->times.lock);
    note_waiting(&d->times, true);
    lz_mutex_unlock(&d->times.lock);
    cuda_leave(d);
}
