/* capture.c - see capture.h. */
#include "runtime/watch/capture.h"
#include "runtime/watch/statistics.h"
#include <string.h>

static void add_event(const lz_trace_event *e, void *user)
{
    lz_watch_capture *c = user;
    lz_mutex_lock(&c->lock);
    size_t begun = c->pieces.len ? c->pieces.data[c->pieces.len - 1] : 0, was = c->bytes.len;
    if (!e->category.n && lz_trace_curve_dense(&c->curves, e->name, e->start_ns)) {
        /* nothing is missing */
    } else if (c->bytes.failed || was >= LZ_CAPTURE_BYTES) {
        c->dropped++;
    } else {
        if (was - begun >= LZ_WATCH_FRAME && lz_vec_push(&c->pieces, was) != LZ_OK)
            c->bytes.failed = true;
        lz_trace_event_put(&c->bytes, e);
        c->dropped += c->bytes.failed;
    }
    lz_mutex_unlock(&c->lock);
}

lz_status lz_watch_capture_begin(lz_watch_capture *c)
{
    memset(c, 0, sizeof *c);
    lz_mutex_init(&c->lock, "capture");
    c->tap = (lz_timeline_tap){.event = add_event, .user = c};
    lz_status s = lz_timeline_tap_on(&c->tap);
    if (s != LZ_OK)
        lz_mutex_destroy(&c->lock);
    return s;
}

void lz_watch_capture_origin(const lz_watch_capture *c, lz_watch_origin *out)
{
    lz_watch_self self;
    lz_watch_who(&self);
    *out = (lz_watch_origin){.pid = self.pid,
                             .rank = self.rank,
                             .size = self.size,
                             .began_ns = c->tap.began_ns,
                             .began_unix_ns = c->tap.began_wall_ns};
    memcpy(out->host, self.host, sizeof out->host);
    memcpy(out->program, self.program, sizeof out->program);
}

lz_status lz_watch_capture_take(lz_watch_capture *c,
                                lz_status (*fn)(const void *p, size_t n, void *user), void *user)
{
    lz_mutex_lock(&c->lock);
    lz_watch_capture taken = {.bytes = c->bytes};
    memcpy(&taken.pieces, &c->pieces, sizeof taken.pieces);
    memset(&c->bytes, 0, sizeof c->bytes);
    memset(&c->pieces, 0, sizeof c->pieces);
    lz_mutex_unlock(&c->lock);
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i <= taken.pieces.len && taken.bytes.len && !taken.bytes.failed; i++) {
        size_t at = i ? taken.pieces.data[i - 1] : 0;
        size_t end = i < taken.pieces.len ? taken.pieces.data[i] : taken.bytes.len;
        s = fn(taken.bytes.data + at, end - at, user);
        if (s != LZ_OK)
            break;
    }
    lz_buf_free(&taken.bytes);
    lz_vec_free(&taken.pieces);
    return s;
}

void lz_watch_capture_stop(lz_watch_capture *c)
{
    lz_timeline_tap_off(&c->tap);
}

uint64_t lz_watch_capture_dropped(const lz_watch_capture *c)
{
    return c->dropped + c->tap.missed;
}

void lz_watch_capture_end(lz_watch_capture *c)
{
    lz_buf_free(&c->bytes);
    lz_vec_free(&c->pieces);
    lz_mutex_destroy(&c->lock);
}
