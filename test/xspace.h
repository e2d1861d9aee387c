/* xspace.h - reads an XSpace (tsl/profiler/protobuf/xplane.proto) and checks what holds of any:
 * every identifier has its metadata, names of planes differ, events of a line nest. Shares no code
 * with what writes it. Threads: a test's own. */
#ifndef LZ_TEST_XSPACE_H
#define LZ_TEST_XSPACE_H
#include "suite.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct xs_field {
    uint32_t number;
    bool is_bytes;
    uint64_t value;   /* of a varint */
    const uint8_t *p; /* of bytes, strings and messages */
    size_t n;
} xs_field;
typedef struct xs_reader {
    const uint8_t *p, *end;
} xs_reader;

static inline uint64_t xs_varint(xs_reader *r)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (r->p >= r->end)
            ck_abort_msg("a varint is cut");
        uint8_t b = *r->p++;
        v |= (uint64_t)(b & 127) << (shift < 64 ? shift : 63);
        if (!(b & 128))
            return v;
    }
    ck_abort_msg("a varint has more than ten bytes");
    return 0;
}
static inline bool xs_next(xs_reader *r, xs_field *f)
{
    if (r->p == r->end)
        return false;
    uint64_t key = xs_varint(r);
    f->number = (uint32_t)(key >> 3);
    f->is_bytes = (key & 7) == 2;
    if ((key & 7) != 0 && (key & 7) != 2)
        ck_abort_msg("wire type %d", (int)(key & 7));
    f->value = xs_varint(r);
    f->p = NULL;
    f->n = 0;
    if (!f->is_bytes)
        return true;
    if (f->value > (uint64_t)(r->end - r->p))
        ck_abort_msg("a message is cut");
    f->p = r->p;
    f->n = (size_t)f->value;
    r->p += f->n;
    return true;
}
static inline xs_reader xs_in(xs_field f)
{
    return (xs_reader){f.p, f.p + f.n};
}
/* Field `number` of a message, the n-th from 0; number 0: there is none. */
static inline xs_field xs_get(xs_field m, uint32_t number, int n)
{
    xs_reader r = xs_in(m);
    xs_field f;
    while (xs_next(&r, &f))
        if (f.number == number && n-- == 0)
            return f;
    return (xs_field){0};
}
static inline uint64_t xs_int(xs_field m, uint32_t number)
{
    return xs_get(m, number, 0).value;
}
static inline int xs_count(xs_field m, uint32_t number)
{
    xs_reader r = xs_in(m);
    xs_field f;
    int n = 0;
    while (xs_next(&r, &f))
        n += f.number == number;
    return n;
}
static inline const char *xs_text(xs_field f)
{
    enum { SLOTS = 8, ROOM = 1024 };
    static char text[SLOTS][ROOM];
    static int at;
    char *out = text[at++ % SLOTS];
    snprintf(out, ROOM, "%.*s", (int)f.n, f.p ? (const char *)f.p : "");
    return out;
}

enum { XS_NAME = 2, XS_LINES = 3, XS_EVENT_METADATA = 4, XS_STAT_METADATA = 5, XS_STATS = 6 };

static inline xs_field xs_plane(xs_field space, const char *name)
{
    xs_field p;
    for (int i = 0; (p = xs_get(space, 1, i)).number; i++)
        if (strcmp(xs_text(xs_get(p, XS_NAME, 0)), name) == 0)
            return p;
    return (xs_field){0};
}
/* The value of a map of metadata. */
static inline xs_field xs_metadata(xs_field plane, uint32_t map, uint64_t id)
{
    xs_field e;
    for (int i = 0; (e = xs_get(plane, map, i)).number; i++)
        if (xs_int(e, 1) == id) {
            xs_field m = xs_get(e, 2, 0);
            ck_assert_uint_eq(xs_int(m, 1), id);
            return m;
        }
    ck_abort_msg("%llu has no metadata", (unsigned long long)id);
    return (xs_field){0};
}
static inline xs_field xs_line(xs_field plane, const char *name)
{
    xs_field l;
    for (int i = 0; (l = xs_get(plane, XS_LINES, i)).number; i++)
        if (strcmp(xs_text(xs_get(l, 2, 0)), name) == 0)
            return l;
    return (xs_field){0};
}
static inline const char *xs_event_name(xs_field plane, xs_field event)
{
    return xs_text(xs_get(xs_metadata(plane, XS_EVENT_METADATA, xs_int(event, 1)), 2, 0));
}
/* The statistic called so, among field `number` of a message. */
static inline xs_field xs_stat(xs_field plane, xs_field m, uint32_t number, const char *name)
{
    xs_field s;
    for (int i = 0; (s = xs_get(m, number, i)).number; i++)
        if (strcmp(xs_text(xs_get(xs_metadata(plane, XS_STAT_METADATA, xs_int(s, 1)), 2, 0)),
                   name) == 0)
            return s;
    return (xs_field){0};
}
static inline const char *xs_stat_text(xs_field plane, xs_field m, uint32_t number,
                                       const char *name)
{
    xs_field s = xs_stat(plane, m, number, name), ref = xs_get(s, 7, 0);
    return ref.number ? xs_text(xs_get(xs_metadata(plane, XS_STAT_METADATA, ref.value), 2, 0))
                      : xs_text(xs_get(s, 5, 0));
}
static inline int64_t xs_stat_int(xs_field plane, xs_field m, uint32_t number, const char *name)
{
    return (int64_t)xs_get(xs_stat(plane, m, number, name), 4, 0).value;
}

/* The identifiers of a map: known[id] is 1, each once. */
enum { XS_IDS = 1 << 16 };
static inline void xs_ids(xs_field plane, uint32_t map, uint8_t known[XS_IDS])
{
    xs_reader r = xs_in(plane);
    xs_field e;
    memset(known, 0, XS_IDS);
    while (xs_next(&r, &e)) {
        if (e.number != map)
            continue;
        uint64_t id = xs_int(e, 1);
        xs_field m = xs_get(e, 2, 0);
        ck_assert(id > 0 && id < XS_IDS && !known[id] && xs_int(m, 1) == id);
        ck_assert_int_eq(xs_count(m, 2), 1);
        known[id] = 1;
    }
}

static inline void xs_check_line(xs_field line, const uint8_t *events, const uint8_t *stats)
{
    enum { DEEP = 64 };
    xs_field e, s;
    xs_reader r = xs_in(line);
    uint64_t end[DEEP];
    int deep = 0;
    while (xs_next(&r, &e)) {
        if (e.number != 4)
            continue;
        uint64_t from = xs_int(e, 2), to = from + xs_int(e, 3), id = xs_int(e, 1);
        while (deep && end[deep - 1] <= from)
            deep--;
        if ((deep && to > end[deep - 1]) || deep == DEEP)
            ck_abort_msg("events of %s overlap", xs_text(xs_get(line, 2, 0)));
        end[deep++] = to;
        if (id >= XS_IDS || !events[id])
            ck_abort_msg("event %llu has no metadata", (unsigned long long)id);
        xs_reader in = xs_in(e);
        while (xs_next(&in, &s))
            if (s.number == 4 && (xs_int(s, 1) >= XS_IDS || !stats[xs_int(s, 1)]))
                ck_abort_msg("a statistic has no metadata");
    }
}
static inline void xs_check(xs_field space)
{
    static uint8_t events[XS_IDS], stats[XS_IDS];
    xs_field p, l;
    for (int i = 0; (p = xs_get(space, 1, i)).number; i++) {
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(xs_text(xs_get(xs_get(space, 1, k), 2, 0)), xs_text(xs_get(p, 2, 0)));
        xs_ids(p, XS_EVENT_METADATA, events);
        xs_ids(p, XS_STAT_METADATA, stats);
        for (int k = 0; (l = xs_get(p, XS_LINES, k)).number; k++)
            xs_check_line(l, events, stats);
    }
}
#endif
