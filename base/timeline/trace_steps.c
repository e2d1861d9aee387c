/* trace_steps.c - see trace_steps.h. The file of the last steps is replaced by the next one, so a
 * killed process leaves a whole one. */
#include "base/timeline/trace_steps.h"
#include "base/text.h"
#include "base/thread.h"
#include <stdio.h>
#include <string.h>

enum { WRITE_NS = 1000000000, MOST_STEPS = 100000 };

bool lz_trace_steps_parse(const char *text, lz_trace_steps *out)
{
    const char *colon = strchr(text, ':');
    int64_t first = 0, last = INT64_MAX;
    *out = (lz_trace_steps){0, INT64_MAX, 0};
    if (!*text)
        return true;
    if (!colon)
        return false;
    size_t n = (size_t)(colon - text), m = strlen(colon + 1);
    if ((n && lz_text_i64(text, n, -MOST_STEPS, INT64_MAX, &first) != LZ_OK) ||
        (m && lz_text_i64(colon + 1, m, 0, INT64_MAX, &last) != LZ_OK))
        return false;
    if (first < 0 && m)
        return false;
    *out = (lz_trace_steps){first < 0 ? 0 : first, last, first < 0 ? (uint32_t)-first : 0};
    return last > out->first;
}

/* ---- the ring ---- */

lz_status lz_timeline_ring_open(lz_timeline_ring *r, const char *path, uint32_t steps)
{
    lz_outfile probe;
    memset(r, 0, sizeof *r);
    LZ_TRY(lz_outfile_begin(&probe, path, false));
    r->stream = !probe.target;
    (void)lz_outfile_end(&probe, LZ_EIO); /* nothing is written yet */
    snprintf(r->path, sizeof r->path, "%s", path);
    r->begun_ns = lz_calloc((size_t)steps + 1, sizeof *r->begun_ns);
    if (!r->begun_ns)
        return LZ_FAIL(LZ_EMEM, "no memory for a trace of %u steps", steps);
    r->steps = steps;
    return LZ_OK;
}

void lz_timeline_ring_step(lz_timeline_ring *r, int64_t now_ns)
{
    r->begun_ns[r->nbegun++ % (r->steps + 1)] = now_ns;
}

lz_buf *lz_timeline_ring_event(lz_timeline_ring *r, int64_t end_ns)
{
    if (lz_vec_push(&r->events, ((lz_ring_event){end_ns, r->text.len})) != LZ_OK)
        r->text.failed = true;
    return &r->text;
}

/* Drops what ended before the oldest of the steps began. */
static void forget_old(lz_timeline_ring *r)
{
    uint32_t n = r->steps + 1;
    int64_t oldest = r->nbegun >= n ? r->begun_ns[r->nbegun % n] : INT64_MIN;
    uint32_t kept = 0;
    size_t len = 0;
    for (uint32_t i = 0; i < r->events.len; i++) {
        lz_ring_event e = r->events.data[i];
        size_t end = i + 1 < r->events.len ? r->events.data[i + 1].at : r->text.len;
        if (e.end_ns < oldest)
            continue;
        memmove(r->text.data + len, r->text.data + e.at, end - e.at);
        r->events.data[kept++] = (lz_ring_event){e.end_ns, len};
        len += end - e.at;
    }
    r->events.len = kept;
    r->text.len = len;
}

static lz_status write_whole(lz_timeline_ring *r, const lz_trace_totals *e)
{
    if (r->text.failed)
        return LZ_FAIL(LZ_EMEM, "no memory for events of the trace %s", r->path);
    LZ_TRY(lz_trace_file_open(&r->file, r->path, false));
    for (uint32_t i = 0; i < r->events.len; i++) {
        size_t at = r->events.data[i].at,
               end = i + 1 < r->events.len ? r->events.data[i + 1].at : r->text.len;
        lz_buf_put(lz_trace_file_event(&r->file), r->text.data + at, end - at);
    }
    return lz_trace_file_close(&r->file, e);
}

void lz_timeline_ring_flush(lz_timeline_ring *r, const lz_trace_totals *e)
{
    int64_t now = lz_now_ns();
    if (r->stream || now - r->written_ns < WRITE_NS)
        return;
    r->written_ns = now;
    forget_old(r);
    (void)write_whole(r, e); /* the next one may succeed, and the last one says why not */
}

lz_status lz_timeline_ring_close(lz_timeline_ring *r, const lz_trace_totals *e)
{
    forget_old(r);
    lz_status s = write_whole(r, e);
    lz_timeline_ring_forget(r);
    return s;
}

void lz_timeline_ring_forget(lz_timeline_ring *r)
{
    lz_buf_free(&r->text);
    lz_vec_free(&r->events);
    lz_free(r->begun_ns);
    r->begun_ns = NULL;
    r->steps = 0;
}
