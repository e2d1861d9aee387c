/* hash.c - XXH3-128 and the map keyed by it. XXH3 is compiled in from its header: node hashes are
 * short, so the call matters. Threads: functions are pure; a map is thread-compatible. */
#include "base/hash.h"
#include "base/alloc.h"
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

lz_hash lz_hash_bytes(const void *p, size_t n)
{
    XXH128_hash_t h = XXH3_128bits(p, n);
    return (lz_hash){h.low64, h.high64};
}

lz_hash lz_hash_seeded(const void *p, size_t n, uint64_t seed)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(p, n, seed);
    return (lz_hash){h.low64, h.high64};
}

static char *put_hex(char *out, uint64_t v, int digits)
{
    for (int i = digits - 1; i >= 0; i--)
        *out++ = "0123456789abcdef"[(v >> (4 * i)) & 15];
    return out;
}

const char *lz_hash_text(lz_hash h, char buf[33])
{
    int digits = 1;
    while (digits < 16 && h.hi >> (4 * digits))
        digits++;
    *put_hex(put_hex(buf, h.hi, digits), h.lo, 16) = '\0';
    return buf;
}

void lz_hash_hex(lz_hash h, char buf[33])
{
    *put_hex(put_hex(buf, h.hi, 16), h.lo, 16) = '\0';
}

bool lz_hash_parse_hex(const char *s, lz_hash *out)
{
    uint64_t v[2] = {0, 0};
    for (int i = 0; i < 32; i++) {
        char c = s[i];
        int d = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (d < 0)
            return false;
        v[i / 16] = v[i / 16] << 4 | (uint64_t)d;
    }
    if (s[32] != '\0')
        return false;
    *out = (lz_hash){.lo = v[1], .hi = v[0]};
    return true;
}

/* ---- map: open addressing, linear probing, tombstones; the table is at most 3/4 full ---- */

typedef struct lz_map_slot {
    lz_hash key;
    void *val; /* NULL: never used */
} map_slot;

static char tombstone_here;
#define TOMBSTONE ((void *)&tombstone_here)

static inline uint32_t map_home(const lz_map *m, lz_hash k)
{
    uint64_t x = (k.lo ^ k.hi) * 0x9E3779B97F4A7C15u; /* keys made by hand are not spread */
    return (uint32_t)(x >> 32) & (m->cap - 1);
}

static map_slot *map_find(const lz_map *m, lz_hash k)
{
    if (m->cap == 0)
        return NULL;
    for (uint32_t i = map_home(m, k);; i = (i + 1) & (m->cap - 1)) {
        map_slot *s = &m->slots[i];
        if (!s->val)
            return NULL;
        if (s->val != TOMBSTONE && lz_hash_eq(s->key, k))
            return s;
    }
}

static void map_insert_new(lz_map *m, lz_hash k, void *v)
{
    uint32_t i = map_home(m, k);
    while (m->slots[i].val && m->slots[i].val != TOMBSTONE)
        i = (i + 1) & (m->cap - 1);
    m->dead -= m->slots[i].val == TOMBSTONE;
    m->slots[i] = (map_slot){k, v};
    m->len++;
}

/* A new table with room for one more: twice the size when it is truly full, the same size when
 * tombstones fill it. */
static lz_status map_rehash(lz_map *m)
{
    uint64_t cap = m->cap ? m->cap : 16;
    if (((uint64_t)m->len + 1) * 2 > cap)
        cap *= 2;
    if (cap > (uint64_t)1 << 31)
        return LZ_FAIL(LZ_EMEM, "a map cannot hold more than %u entries", m->len);
    map_slot *slots = lz_calloc((size_t)cap, sizeof *slots);
    if (!slots)
        return LZ_FAIL(LZ_EMEM, "no memory for a map of %u entries", m->len + 1);
    lz_map bigger = {slots, 0, (uint32_t)cap, 0};
    for (uint32_t i = 0; i < m->cap; i++)
        if (m->slots[i].val && m->slots[i].val != TOMBSTONE)
            map_insert_new(&bigger, m->slots[i].key, m->slots[i].val);
    lz_free(m->slots);
    *m = bigger;
    return LZ_OK;
}

void *lz_map_get(const lz_map *m, lz_hash k)
{
    map_slot *s = map_find(m, k);
    return s ? s->val : NULL;
}

lz_status lz_map_put(lz_map *m, lz_hash k, void *v)
{
    LZ_ASSERT(v != NULL);
    map_slot *s = map_find(m, k);
    if (s) {
        s->val = v;
        return LZ_OK;
    }
    if (((uint64_t)m->len + m->dead + 1) * 4 > (uint64_t)m->cap * 3)
        LZ_TRY(map_rehash(m));
    map_insert_new(m, k, v);
    return LZ_OK;
}

void *lz_map_del(lz_map *m, lz_hash k)
{
    map_slot *s = map_find(m, k);
    if (!s)
        return NULL;
    void *v = s->val;
    s->val = TOMBSTONE;
    m->len--;
    m->dead++;
    return v;
}

bool lz_map_next(const lz_map *m, uint32_t *iter, lz_hash *k, void **v)
{
    for (; *iter < m->cap; ++*iter) {
        const map_slot *s = &m->slots[*iter];
        if (!s->val || s->val == TOMBSTONE)
            continue;
        if (k)
            *k = s->key;
        if (v)
            *v = s->val;
        ++*iter;
        return true;
    }
    return false;
}

void lz_map_free(lz_map *m)
{
    lz_free(m->slots);
    *m = (lz_map){0};
}
