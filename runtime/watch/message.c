/* message.c - see message.h. */
#include "runtime/watch/message.h"
#include "backends/distributed/launcher.h"

static lz_rd reader(const void *p, size_t n)
{
    return (lz_rd){p, (const uint8_t *)p + n, false, false};
}

void lz_watch_put_ask(lz_buf *b, const lz_watch_ask *a)
{
    lz_buf_u32(b, a->version);
    lz_buf_u32(b, a->what);
    lz_buf_u32(b, a->duration_ms);
}

lz_status lz_watch_get_ask(const void *p, size_t n, lz_watch_ask *out)
{
    lz_rd r = reader(p, n);
    *out = (lz_watch_ask){.version = lz_rd_u32(&r)};
    if (!r.failed && out->version != LZ_WATCH_VERSION)
        return LZ_OK;
    uint32_t what = lz_rd_u32(&r);
    out->duration_ms = lz_rd_u32(&r);
    if (what == 0 || what >= LZ_WATCH_WHATS || out->duration_ms > LZ_WATCH_LONGEST_MS ||
        (what == LZ_WATCH_CAPTURE) != (out->duration_ms > 0))
        r.failed = true;
    out->what = (lz_watch_what)what;
    return lz_wire_ended(&r, "question");
}

/* ---- a trace ---- */

static void get_process(lz_rd *r, uint32_t *pid, uint32_t *rank, uint32_t *size)
{
    *pid = lz_rd_u32(r);
    *rank = lz_rd_u32(r);
    *size = lz_rd_u32(r);
    if (*pid > INT32_MAX || *size == 0 || *size > LZ_PROCESSES_MAX || *rank >= *size)
        r->failed = true;
}

static void put_process(lz_buf *b, uint32_t pid, uint32_t rank, uint32_t size)
{
    lz_buf_u32(b, pid);
    lz_buf_u32(b, rank);
    lz_buf_u32(b, size);
}

/* A time that sums and differences have room for. */
static int64_t get_time(lz_rd *r)
{
    uint64_t v = lz_rd_u64(r);
    if (v > INT64_MAX / 4)
        r->failed = true;
    return (int64_t)v;
}

void lz_watch_put_origin(lz_buf *b, const lz_watch_origin *o)
{
    put_process(b, o->pid, o->rank, o->size);
    lz_buf_u64(b, (uint64_t)o->began_ns);
    lz_buf_u64(b, (uint64_t)o->began_unix_ns);
    lz_wire_put_text(b, o->host, sizeof o->host);
    lz_wire_put_text(b, o->program, sizeof o->program);
}

lz_status lz_watch_get_origin(const void *p, size_t n, lz_watch_origin *out)
{
    lz_rd r = reader(p, n);
    get_process(&r, &out->pid, &out->rank, &out->size);
    out->began_ns = get_time(&r);
    out->began_unix_ns = get_time(&r);
    lz_wire_get_text(&r, out->host, sizeof out->host);
    lz_wire_get_text(&r, out->program, sizeof out->program);
    return lz_wire_ended(&r, "origin");
}

void lz_watch_put_end(lz_buf *b, const lz_watch_end *e)
{
    lz_buf_u64(b, (uint64_t)e->ns);
    lz_buf_u64(b, e->dropped);
}

lz_status lz_watch_get_end(const void *p, size_t n, lz_watch_end *out)
{
    lz_rd r = reader(p, n);
    out->ns = get_time(&r);
    out->dropped = lz_rd_u64(&r);
    return lz_wire_ended(&r, "end");
}

/* ---- statistics ---- */

void lz_watch_put_statistics(lz_buf *b, const lz_watch_statistics *s)
{
    put_process(b, s->pid, s->rank, s->size);
    lz_wire_put_text(b, s->host, sizeof s->host);
    lz_wire_put_text(b, s->program, sizeof s->program);
#define STATISTIC(name) lz_buf_u64(b, s->name);
    LZ_STATISTICS
#undef STATISTIC
    lz_buf_u32(b, s->ndevice);
    for (uint32_t i = 0; i < s->ndevice; i++) {
        const lz_watch_device *d = &s->device[i];
        lz_wire_put_text(b, d->name, sizeof d->name);
        lz_buf_u64(b, d->used);
        lz_buf_u64(b, d->peak);
        lz_buf_u64(b, d->limit);
    }
}

lz_status lz_watch_get_statistics(const void *p, size_t n, lz_watch_statistics *out)
{
    enum { DEVICE_BYTES = 4 + 3 * 8 };
    lz_rd r = reader(p, n);
    *out = (lz_watch_statistics){0};
    get_process(&r, &out->pid, &out->rank, &out->size);
    lz_wire_get_text(&r, out->host, sizeof out->host);
    lz_wire_get_text(&r, out->program, sizeof out->program);
#define STATISTIC(name) out->name = lz_rd_u64(&r);
    LZ_STATISTICS
#undef STATISTIC
    if (out->now_ns > INT64_MAX || out->cpu_ns > INT64_MAX)
        r.failed = true;
    uint32_t ndevice = lz_rd_count(&r, DEVICE_BYTES);
    if (ndevice > LZ_WATCH_DEVICES)
        r.failed = true;
    for (uint32_t i = 0; i < ndevice && !r.failed; i++) {
        lz_watch_device *d = &out->device[i];
        lz_wire_get_text(&r, d->name, sizeof d->name);
        d->used = lz_rd_u64(&r);
        d->peak = lz_rd_u64(&r);
        d->limit = lz_rd_u64(&r);
        out->ndevice = i + 1;
    }
    return lz_wire_ended(&r, "statistics");
}
