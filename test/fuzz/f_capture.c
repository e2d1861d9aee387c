/* f_capture.c - what goes between a server and those who watch a process: a first byte that says
 * what, then a message, or the events of a trace. Whatever is received is read within its bounds,
 * what is accepted is written back as it was, and files of events are whole: JSON without what may
 * not stand in it, and an XSpace whose lengths fit. */
#include "base/timeline/trace_event.h"
#include "runtime/watch/message.h"
#include "runtime/watch/xplane.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BEGAN = 1000 };

static void must(bool x)
{
    if (!x)
        abort();
}

/* What was read, written again, is what was given; texts may have lost what does not print. */
static void check(lz_buf *b, const uint8_t *data, size_t size, bool texts)
{
    must(!b->failed && b->len == size);
    if (!texts)
        must(memcmp(b->data, data, size) == 0);
    lz_buf_free(b);
}

static void messages(const uint8_t *data, size_t size)
{
    static lz_watch_statistics s;
    lz_watch_ask a;
    lz_watch_origin o;
    lz_watch_end e;
    lz_buf b = {0};
    if (lz_watch_get_ask(data, size, &a) == LZ_OK && a.version == LZ_WATCH_VERSION) {
        must(a.what < LZ_WATCH_WHATS && a.duration_ms <= LZ_WATCH_LONGEST_MS);
        lz_watch_put_ask(&b, &a);
        check(&b, data, size, false);
    }
    if (lz_watch_get_origin(data, size, &o) == LZ_OK) {
        must(o.rank < o.size && o.began_ns >= 0);
        lz_watch_put_origin(&b, &o);
        check(&b, data, size, true);
    }
    if (lz_watch_get_end(data, size, &e) == LZ_OK) {
        lz_watch_put_end(&b, &e);
        check(&b, data, size, false);
    }
    if (lz_watch_get_statistics(data, size, &s) == LZ_OK) {
        must(s.ndevice <= LZ_WATCH_DEVICES);
        lz_watch_put_statistics(&b, &s);
        check(&b, data, size, true);
    }
}

/* ---- events ---- */

static lz_buf *line(void *user)
{
    lz_buf_putc(user, '\n');
    return user;
}

/* Braces are balanced outside of strings, and strings have no byte that has to be escaped. */
static void check_json(const lz_buf *b)
{
    int depth = 0;
    bool string = false;
    for (size_t i = 0; i < b->len; i++) {
        char c = b->data[i];
        if (string && c == '\\') {
            i++;
            continue;
        }
        must(!string || (unsigned char)c >= ' ');
        string ^= c == '"';
        depth += string ? 0 : (c == '{') - (c == '}');
        must(depth >= 0);
    }
    must(depth == 0 && !string);
}

/* Fields whose lengths fit, messages in messages as far as xplane.proto has them. */
static uint64_t varint(const uint8_t **p, const uint8_t *end)
{
    uint64_t v = 0;
    for (int shift = 0;; shift += 7) {
        must(*p < end && shift < 70);
        uint8_t byte = *(*p)++;
        v |= (uint64_t)(byte & 127) << (shift < 64 ? shift : 63);
        if (!(byte & 128))
            return v;
    }
}

static void check_fields(const uint8_t *p, const uint8_t *end)
{
    while (p < end) {
        uint64_t key = varint(&p, end), v = varint(&p, end);
        must((key & 7) == 0 || (key & 7) == 2);
        if ((key & 7) == 2) {
            must(v <= (uint64_t)(end - p));
            p += v;
        }
    }
    must(p == end);
}

static void check_space(const lz_buf *b)
{
    const uint8_t *p = (const uint8_t *)b->data, *end = p + b->len;
    while (p < end) {
        uint64_t key = varint(&p, end), n = varint(&p, end);
        must((key & 7) == 2 && n <= (uint64_t)(end - p));
        if (key >> 3 == 1)
            check_fields(p, p + n);
        p += n;
    }
}

static void events(const uint8_t *data, size_t size)
{
    lz_rd r = {data, data + size, false, false};
    lz_trace_event e;
    lz_buf again = {0}, json = {0}, space = {0};
    lz_xplane *x = lz_xplane_new("host", BEGAN, BEGAN);
    must(x != NULL);
    const uint8_t *at = r.p;
    while (lz_trace_event_get(&r, &e)) {
        must(e.narg <= LZ_TRACE_ARGS && e.ns >= 0 && e.start_ns >= 0);
        again.len = 0;
        lz_trace_event_put(&again, &e);
        must(again.len == (size_t)(r.p - at) && memcmp(again.data, at, again.len) == 0);
        at = r.p;
        if (e.start_ns >= BEGAN)
            lz_trace_event_json(&e, 1, BEGAN, line, &json);
        must(lz_xplane_add(x, &e) == LZ_OK);
    }
    must(lz_xplane_encode(x, &space) == LZ_OK);
    check_json(&json);
    check_space(&space);
    lz_xplane_free(x);
    lz_buf_free(&again);
    lz_buf_free(&json);
    lz_buf_free(&space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] % 2)
        events(data + 1, size - 1);
    else
        messages(data + 1, size - 1);
    return 0;
}
