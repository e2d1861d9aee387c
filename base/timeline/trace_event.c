/* trace_event.c - see trace_event.h. Bytes of an event: tid, start, duration and flow of 8 bytes
 * each, little-endian; a byte of flags and one that counts arguments; then texts, each after a byte
 * with its length: the row's name, the event's, the category; and for each argument its key, a byte
 * that says what it is, and 8 bytes of a number or a text. */
#include "base/timeline/trace_event.h"
#include "base/formats/json.h"
#include "base/text.h"
#include <inttypes.h>
#include <string.h>

enum { SENDS = 1 };
enum { NUMBER = 0, TEXT = 1 };

lz_trace_text lz_trace_text_of(const char *s)
{
    return (lz_trace_text){s ? s : "", (uint8_t)(s ? strnlen(s, LZ_TRACE_TEXT) : 0)};
}

bool lz_trace_text_is(lz_trace_text t, const char *s)
{
    return strlen(s) == t.n && memcmp(t.at, s, t.n) == 0;
}

const lz_trace_arg *lz_trace_arg_of(const lz_trace_event *e, const char *key)
{
    for (uint32_t i = 0; i < e->narg; i++)
        if (lz_trace_text_is(e->arg[i].key, key))
            return &e->arg[i];
    return NULL;
}

bool lz_trace_curve_dense(lz_trace_curves *c, lz_trace_text name, int64_t now_ns)
{
    enum { SLOTS = sizeof c->latest_ns / sizeof *c->latest_ns };
    static const int64_t apart_ns = 500000;
    uint32_t h = name.n;
    for (uint32_t i = 0; i < name.n; i++)
        h = h * 31 + (uint8_t)name.at[i];
    _Atomic int64_t *latest = &c->latest_ns[h % SLOTS];
    if (now_ns < atomic_load_explicit(latest, memory_order_relaxed) + apart_ns)
        return true;
    atomic_store_explicit(latest, now_ns, memory_order_relaxed);
    return false;
}

/* ---- JSON ---- */

static void put_micros(lz_buf *b, const char *what, int64_t ns)
{
    lz_buf_printf(b, ",\"%s\":%" PRId64 ".%03d", what, ns / 1000, (int)(ns % 1000));
}

static void begin_event(lz_buf *b, const char *phase, int pid)
{
    lz_buf_printf(b, "{\"ph\":\"%s\",\"pid\":%d", phase, pid);
}

static void put_args(lz_buf *b, const lz_trace_event *e)
{
    lz_buf_puts(b, ",\"args\":{");
    for (uint32_t i = 0; i < e->narg; i++) {
        const lz_trace_arg *a = &e->arg[i];
        lz_buf_printf(b, "%s\"%.*s\":", i ? "," : "", (int)a->key.n, a->key.at);
        if (a->is_text)
            lz_buf_json(b, a->text.at, a->text.n);
        else
            lz_buf_printf(b, "%" PRId64, a->number);
    }
    lz_buf_putc(b, '}');
}

void lz_trace_arrow_json(lz_buf *b, const lz_trace_event *e, int pid, int64_t began_ns)
{
    begin_event(b, e->sends ? "s" : "f", pid);
    lz_buf_printf(b, ",\"tid\":%" PRId64 ",\"name\":\"run\",\"cat\":\"flow\",\"id\":%" PRIu64 "%s",
                  e->tid, e->flow, e->sends ? "" : ",\"bp\":\"e\"");
    put_micros(b, "ts", e->start_ns - began_ns);
    lz_buf_putc(b, '}');
}

void lz_trace_event_json(const lz_trace_event *e, int pid, int64_t began_ns,
                         lz_buf *(*next)(void *user), void *user)
{
    lz_buf *b = next(user);
    bool span = e->category.n > 0;
    begin_event(b, span ? "X" : "C", pid);
    if (span)
        lz_buf_printf(b, ",\"tid\":%" PRId64, e->tid);
    lz_buf_puts(b, ",\"name\":");
    lz_buf_json(b, e->name.at, e->name.n);
    if (span)
        lz_buf_printf(b, ",\"cat\":\"%.*s\"", (int)e->category.n, e->category.at);
    put_micros(b, "ts", e->start_ns - began_ns);
    if (span)
        put_micros(b, "dur", e->ns);
    if (e->narg)
        put_args(b, e);
    lz_buf_putc(b, '}');
    if (e->flow)
        lz_trace_arrow_json(next(user), e, pid, began_ns);
}

void lz_trace_name_json(lz_buf *b, int pid, int64_t tid, const char *what, lz_trace_text name)
{
    begin_event(b, "M", pid);
    lz_buf_printf(b, ",\"tid\":%" PRId64 ",\"name\":\"%s\",\"args\":{\"name\":", tid, what);
    lz_buf_json(b, name.at, name.n);
    lz_buf_puts(b, "}}");
}

/* ---- bytes ---- */

/* A capture of a busy program encodes ten thousands of events a second, so each is made on the
 * stack and appended at once. */
enum {
    HEAD_BYTES = 4 * 8 + 2,
    MOST_BYTES =
        HEAD_BYTES + 3 * (1 + LZ_TRACE_TEXT) + LZ_TRACE_ARGS * (2 * (1 + LZ_TRACE_TEXT) + 1)
};

static uint8_t *put_u64(uint8_t *at, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        at[i] = (uint8_t)(v >> 8 * i);
    return at + 8;
}

static uint8_t *put_text(uint8_t *at, lz_trace_text t)
{
    *at = t.n;
    memcpy(at + 1, t.at, t.n);
    return at + 1 + t.n;
}

void lz_trace_event_put(lz_buf *b, const lz_trace_event *e)
{
    uint8_t bytes[MOST_BYTES], *at = bytes;
    at = put_u64(at, (uint64_t)e->tid);
    at = put_u64(at, (uint64_t)e->start_ns);
    at = put_u64(at, (uint64_t)e->ns);
    at = put_u64(at, e->flow);
    *at++ = e->sends ? SENDS : 0;
    *at++ = (uint8_t)e->narg;
    at = put_text(at, e->row);
    at = put_text(at, e->name);
    at = put_text(at, e->category);
    for (uint32_t i = 0; i < e->narg && i < LZ_TRACE_ARGS; i++) {
        const lz_trace_arg *a = &e->arg[i];
        at = put_text(at, a->key);
        *at++ = a->is_text ? TEXT : NUMBER;
        at = a->is_text ? put_text(at, a->text) : put_u64(at, (uint64_t)a->number);
    }
    lz_buf_put(b, bytes, (size_t)(at - bytes));
}

static lz_trace_text get_text(lz_rd *r)
{
    uint8_t n = lz_rd_u8(r);
    const char *p = lz_rd_bytes(r, n);
    return p ? (lz_trace_text){p, n} : (lz_trace_text){"", 0};
}

/* What JSON shows without quoting: categories and keys are literals of the library. */
static lz_trace_text get_word(lz_rd *r)
{
    lz_trace_text t = get_text(r);
    for (uint8_t i = 0; i < t.n; i++)
        if (!lz_is_alnum(t.at[i]) && !memchr(" _-.", t.at[i], 4))
            r->failed = true;
    return t;
}

/* A time that sums and differences of times have room for. */
static int64_t get_time(lz_rd *r)
{
    uint64_t v = lz_rd_u64(r);
    if (v > INT64_MAX / 4)
        r->failed = true;
    return (int64_t)v;
}

bool lz_trace_event_get(lz_rd *r, lz_trace_event *e)
{
    if (r->failed || r->p == r->end)
        return false;
    e->tid = get_time(r);
    e->start_ns = get_time(r);
    e->ns = get_time(r);
    e->flow = lz_rd_u64(r);
    uint8_t flags = lz_rd_u8(r);
    e->narg = lz_rd_u8(r);
    if (flags > SENDS || e->narg > LZ_TRACE_ARGS)
        r->failed = true;
    e->sends = flags == SENDS;
    e->row = get_text(r);
    e->name = get_text(r);
    e->category = get_word(r);
    for (uint32_t i = 0; i < e->narg && !r->failed; i++) {
        lz_trace_arg *a = &e->arg[i];
        a->key = get_word(r);
        uint8_t kind = lz_rd_u8(r);
        if (kind > TEXT)
            r->failed = true;
        a->is_text = kind == TEXT;
        a->number = a->is_text ? 0 : (int64_t)lz_rd_u64(r);
        a->text = a->is_text ? get_text(r) : (lz_trace_text){"", 0};
        if (a->key.n == 0)
            r->failed = true;
        for (uint32_t k = 0; k < i; k++) /* an object has each key once */
            if (a->key.n == e->arg[k].key.n && memcmp(a->key.at, e->arg[k].key.at, a->key.n) == 0)
                r->failed = true;
    }
    return !r->failed;
}
