/* pack.c - the bytes of a pack: see pack.h. */
#include "cache/pack.h"
#include "base/hash.h"
#include <string.h>

enum { OFF_VERSION = 8, OFF_MAC = 12, OFF_FILE = 16, OFF_COUNT = 24, OFF_BUILD = 28 };

static void put_le(uint8_t *p, uint64_t v, int nbytes)
{
    for (int i = 0; i < nbytes; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

/* ---- reading ---- */

static bool sealed(const uint8_t *p, size_t n)
{
    lz_hash h = lz_hash_bytes(p, n - LZ_PACK_TRAILER_LEN);
    return lz_le64(p + n - 16) == h.lo && lz_le64(p + n - 8) == h.hi;
}

/* The places of all entries: one after the other, up to the end. */
static const char *check_places(const lz_pack *p)
{
    size_t at = p->first;
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->end - at < 8)
            return "it ends before its entries do";
        uint64_t n = lz_le64(p->bytes + at);
        at += 8;
        if (n > p->end - at)
            return "it ends before its entries do";
        at += (size_t)n;
    }
    return at == p->end ? NULL : "it has more than its entries";
}

static const char *check_header(const uint8_t *b, size_t n, lz_pack *out)
{
    size_t tail = LZ_PACK_TRAILER_LEN + (lz_le32(b + OFF_MAC) ? LZ_MAC_LEN : 0);
    uint32_t nbuild = lz_le32(b + OFF_BUILD);
    if (lz_le32(b + OFF_MAC) > 1 || n < LZ_PACK_HEADER_LEN + tail)
        return "its header is impossible";
    *out = (lz_pack){.bytes = b, .n = n, .end = n - tail, .count = lz_le32(b + OFF_COUNT)};
    if (nbuild < 1 || nbuild > LZ_ENTRY_MAX_BUILD || nbuild > out->end - LZ_PACK_HEADER_LEN ||
        out->count > LZ_PACK_MAX_ENTRIES)
        return "its header is impossible";
    out->build = (const char *)b + LZ_PACK_HEADER_LEN;
    if (memchr(out->build, '\0', nbuild) != out->build + nbuild - 1)
        return "its header is impossible";
    out->first = LZ_PACK_HEADER_LEN + nbuild;
    out->mac = lz_le32(b + OFF_MAC) ? b + out->end : NULL;
    return check_places(out);
}

const char *lz_pack_open(const void *bytes, size_t n, lz_pack *out)
{
    const uint8_t *b = bytes;
    memset(out, 0, sizeof *out);
    if (n < LZ_PACK_HEADER_LEN + LZ_PACK_TRAILER_LEN || memcmp(b, LZ_PACK_MAGIC, 8) != 0)
        return "it is not a pack";
    if (n > LZ_PACK_MAX_FILE)
        return "it is too large";
    if (lz_le64(b + OFF_FILE) != n)
        return "it is shorter or longer than it says";
    if (!sealed(b, n))
        return "its checksum does not match";
    if (lz_le32(b + OFF_VERSION) != LZ_PACK_VERSION)
        return "it is of another version of the format";
    return check_header(b, n, out);
}

bool lz_pack_next(const lz_pack *p, size_t *at, const uint8_t **entry, size_t *n)
{
    if (*at >= p->end)
        return false;
    *n = (size_t)lz_le64(p->bytes + *at);
    *entry = p->bytes + *at + 8;
    *at += 8 + *n;
    return true;
}

bool lz_pack_is_signed(const lz_pack *p, const uint8_t key[LZ_MAC_KEY_LEN])
{
    uint8_t want[LZ_MAC_LEN];
    if (!p->mac)
        return false;
    lz_mac(key, p->bytes, p->end, want);
    return lz_mac_equal(want, p->mac);
}

/* ---- writing ---- */

void lz_pack_begin(lz_buf *out, const char *build)
{
    uint8_t head[LZ_PACK_HEADER_LEN] = {0};
    uint32_t nbuild = (uint32_t)strlen(build) + 1;
    memcpy(head, LZ_PACK_MAGIC, 8);
    put_le(head + OFF_VERSION, LZ_PACK_VERSION, 4);
    put_le(head + OFF_BUILD, nbuild, 4);
    lz_buf_put(out, head, sizeof head);
    lz_buf_put(out, build, nbuild);
}

void lz_pack_add(lz_buf *out, const void *entry, size_t n)
{
    lz_buf_u64(out, n);
    lz_buf_put(out, entry, n);
    if (out->failed)
        return;
    uint8_t *count = (uint8_t *)out->data + OFF_COUNT;
    put_le(count, lz_le32(count) + 1, 4);
}

void lz_pack_end(lz_buf *out, const uint8_t key[LZ_MAC_KEY_LEN])
{
    static const uint8_t zeros[LZ_MAC_LEN + LZ_PACK_TRAILER_LEN];
    size_t end = out->len, mac = key ? LZ_MAC_LEN : 0;
    lz_buf_put(out, zeros, mac + LZ_PACK_TRAILER_LEN);
    if (out->failed)
        return;
    uint8_t *b = (uint8_t *)out->data;
    put_le(b + OFF_MAC, key != NULL, 4);
    put_le(b + OFF_FILE, out->len, 8);
    if (key)
        lz_mac(key, b, end, b + end);
    lz_hash h = lz_hash_bytes(b, out->len - LZ_PACK_TRAILER_LEN);
    put_le(b + out->len - 16, h.lo, 8);
    put_le(b + out->len - 8, h.hi, 8);
}
