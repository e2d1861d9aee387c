/* wire.c - see wire.h. */
#include "backends/distributed/wire.h"
#include <string.h>

#define MAGIC UINT32_C(0x315a4c2e) /* ".LZ1" */

void lz_wire_put_header(uint8_t out[LZ_WIRE_HEADER], const lz_wire_header *h)
{
    uint32_t v[4] = {MAGIC, h->type, h->tag, MAGIC ^ h->type ^ h->tag};
    for (int i = 0; i < 16; i++)
        out[i] = (uint8_t)(v[i / 4] >> 8 * (i % 4));
    for (int i = 0; i < 8; i++)
        out[16 + i] = (uint8_t)(h->nbytes >> 8 * i);
}

lz_status lz_wire_get_header(const uint8_t in[LZ_WIRE_HEADER], lz_wire_header *out)
{
    uint32_t type = lz_le32(in + 4);
    *out = (lz_wire_header){(lz_wire_type)type, lz_le32(in + 8), lz_le64(in + 16)};
    if (lz_le32(in) != MAGIC || lz_le32(in + 12) != (MAGIC ^ type ^ out->tag) || type == 0 ||
        type >= LZ_WIRE_TYPES)
        return LZ_FAIL(LZ_EPARSE, "what was received is no frame of a Lazuli process");
    if (type != LZ_WIRE_DATA && out->nbytes > LZ_WIRE_CONTROL)
        return LZ_FAIL(LZ_EPARSE, "a message of %llu bytes was announced",
                       (unsigned long long)out->nbytes);
    return LZ_OK;
}

/* ---- parts of messages ---- */

void lz_wire_get_text(lz_rd *r, char *out, size_t n)
{
    uint32_t len = lz_rd_u32(r);
    const char *p = len < n ? lz_rd_bytes(r, len) : NULL;
    out[0] = 0;
    if (!p) {
        r->failed = true;
        return;
    }
    for (uint32_t i = 0; i < len; i++)
        out[i] = p[i] >= ' ' && p[i] < 127 ? p[i] : '?';
    out[len] = 0;
}

void lz_wire_put_text(lz_buf *b, const char *s, size_t n)
{
    size_t len = strnlen(s, n - 1);
    lz_buf_u32(b, (uint32_t)len);
    lz_buf_put(b, s, len);
}

static lz_status get_status(lz_rd *r)
{
    switch (lz_rd_u32(r)) {
#define LZ_STATUS(name, value, doc)                                                                \
    case value:                                                                                    \
        return LZ_##name;
#include <lazuli/status.def>
#undef LZ_STATUS
    default:
        r->failed = true;
        return LZ_EINTERNAL;
    }
}

lz_status lz_wire_ended(const lz_rd *r, const char *what)
{
    return !r->failed && r->p == r->end
               ? LZ_OK
               : LZ_FAIL(LZ_EPARSE, "a message (%s) that is malformed was received", what);
}

static void put_group(lz_buf *b, const lz_wire_group *g)
{
    lz_buf_u32(b, g->n);
    for (uint32_t i = 0; i < g->n; i++)
        lz_buf_u32(b, g->member[i]);
}

static void get_group(lz_rd *r, lz_wire_group *g)
{
    g->n = lz_rd_count(r, 4);
    if (g->n < 2 || g->n > LZ_WIRE_MEMBERS)
        r->failed = true;
    for (uint32_t i = 0; i < g->n && !r->failed; i++) {
        g->member[i] = lz_rd_u32(r);
        if (g->member[i] >= LZ_WIRE_MEMBERS || (i && g->member[i] <= g->member[i - 1]))
            r->failed = true;
    }
}

/* ---- processes ---- */

static void put_process(lz_buf *b, const lz_wire_hello *h)
{
    lz_buf_u64(b, h->job);
    lz_buf_u64(b, h->machine);
    const uint32_t v[] = {h->version, h->rank, h->size,      h->ndevice,
                          h->pid,     h->port, h->transport, h->offer};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        lz_buf_u32(b, v[i]);
    lz_wire_put_text(b, h->host, sizeof h->host);
    lz_wire_put_text(b, h->address, sizeof h->address);
}

static void get_process(lz_rd *r, lz_wire_hello *h)
{
    h->job = lz_rd_u64(r);
    h->machine = lz_rd_u64(r);
    uint32_t *const v[] = {&h->version, &h->rank, &h->size,      &h->ndevice,
                           &h->pid,     &h->port, &h->transport, &h->offer};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        *v[i] = lz_rd_u32(r);
    lz_wire_get_text(r, h->host, sizeof h->host);
    lz_wire_get_text(r, h->address, sizeof h->address);
    if (h->size > LZ_WIRE_PROCESSES || h->rank >= h->size || h->ndevice > LZ_WIRE_MEMBERS ||
        h->port > UINT16_MAX)
        r->failed = true;
}

void lz_wire_put_hello(lz_buf *b, const lz_wire_hello *h)
{
    put_process(b, h);
}

lz_status lz_wire_get_hello(const void *p, size_t n, lz_wire_hello *out)
{
    lz_rd r = {p, (const uint8_t *)p + n, false, false};
    get_process(&r, out);
    return lz_wire_ended(&r, "hello");
}

void lz_wire_put_table(lz_buf *b, const lz_wire_hello *all, uint32_t size)
{
    lz_buf_u32(b, size);
    for (uint32_t i = 0; i < size; i++)
        put_process(b, &all[i]);
}

lz_status lz_wire_get_table(const void *p, size_t n, lz_wire_hello *out, uint32_t size)
{
    lz_rd r = {p, (const uint8_t *)p + n, false, false};
    if (lz_rd_u32(&r) != size)
        r.failed = true;
    for (uint32_t i = 0; i < size && !r.failed; i++) {
        get_process(&r, &out[i]);
        if (out[i].rank != i || out[i].size != size)
            r.failed = true;
    }
    return lz_wire_ended(&r, "table");
}

void lz_wire_put_refuse(lz_buf *b, const lz_wire_refuse *m)
{
    lz_buf_u32(b, (uint32_t)m->status);
    lz_wire_put_text(b, m->text, sizeof m->text);
}

lz_status lz_wire_get_refuse(const void *p, size_t n, lz_wire_refuse *out)
{
    lz_rd r = {p, (const uint8_t *)p + n, false, false};
    out->status = get_status(&r);
    lz_wire_get_text(&r, out->text, sizeof out->text);
    return lz_wire_ended(&r, "refuse");
}

/* ---- collectives ---- */

void lz_wire_put_arrive(lz_buf *b, const lz_wire_arrive *a)
{
    put_group(b, &a->group);
    lz_buf_u64(b, a->epoch);
    lz_buf_u64(b, a->seq);
    lz_buf_u64(b, a->digest.lo);
    lz_buf_u64(b, a->digest.hi);
    lz_buf_u32(b, a->tag);
    lz_wire_put_text(b, a->what, sizeof a->what);
    lz_wire_put_text(b, a->where, sizeof a->where);
}

lz_status lz_wire_get_arrive(const void *p, size_t n, lz_wire_arrive *out)
{
    lz_rd r = {p, (const uint8_t *)p + n, false, false};
    get_group(&r, &out->group);
    out->epoch = lz_rd_u64(&r);
    out->seq = lz_rd_u64(&r);
    out->digest.lo = lz_rd_u64(&r);
    out->digest.hi = lz_rd_u64(&r);
    out->tag = lz_rd_u32(&r);
    lz_wire_get_text(&r, out->what, sizeof out->what);
    lz_wire_get_text(&r, out->where, sizeof out->where);
    return lz_wire_ended(&r, "arrive");
}

void lz_wire_put_miss(lz_buf *b, const lz_wire_miss *m)
{
    put_group(b, &m->group);
    lz_buf_u32(b, m->member);
    lz_buf_u8(b, m->lost);
    lz_buf_u32(b, (uint32_t)m->status);
    lz_buf_u64(b, m->total);
    lz_buf_u64(b, m->epoch);
    lz_buf_u64(b, m->seq);
    lz_wire_put_text(b, m->text, sizeof m->text);
}

lz_status lz_wire_get_miss(const void *p, size_t n, lz_wire_miss *out)
{
    lz_rd r = {p, (const uint8_t *)p + n, false, false};
    get_group(&r, &out->group);
    out->member = lz_rd_u32(&r);
    uint8_t lost = lz_rd_u8(&r);
    out->lost = lost == 1;
    out->status = get_status(&r);
    out->total = lz_rd_u64(&r);
    out->epoch = lz_rd_u64(&r);
    out->seq = lz_rd_u64(&r);
    lz_wire_get_text(&r, out->text, sizeof out->text);
    bool in = false;
    for (uint32_t i = 0; i < out->group.n && !r.failed; i++)
        in |= out->group.member[i] == out->member;
    if (!in || lost > 1 || out->status == LZ_OK)
        r.failed = true;
    return lz_wire_ended(&r, "miss");
}

/* ---- notes ---- */

void lz_wire_put_note(lz_buf *b, const lz_wire_note *note)
{
    lz_buf_u64(b, note->talk);
    lz_buf_u8(b, note->last);
    lz_buf_put(b, note->body, note->nbody);
}

lz_status lz_wire_get_note(const void *p, size_t n, lz_wire_note *out)
{
    lz_rd r = {p, (const uint8_t *)p + n, false, false};
    out->talk = lz_rd_u64(&r);
    uint8_t last = lz_rd_u8(&r);
    out->last = last == 1;
    if (r.failed || last > 1)
        return LZ_FAIL(LZ_EPARSE, "a note of %zu bytes is none", n);
    out->nbody = (size_t)(r.end - r.p);
    out->body = lz_rd_bytes(&r, out->nbody);
    return LZ_OK;
}

void lz_wire_put_outcome(lz_buf *b, const lz_error *err)
{
    lz_buf_u32(b, (uint32_t)err->status);
    lz_wire_put_text(b, err->status == LZ_OK ? "" : err->message, sizeof err->message);
}

void lz_wire_get_outcome(lz_rd *r, lz_error *out)
{
    out->status = get_status(r);
    lz_wire_get_text(r, out->message, sizeof out->message);
    if (out->status == LZ_OK && out->message[0])
        r->failed = true; /* no reason is given for success */
}
