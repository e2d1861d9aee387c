/* entry.c - encode and decode. Sections stand in one fixed order without gaps, so the whole table
 * follows from four sizes: a reader that recomputes it has no overlap, no hole and no offset to
 * believe. */
#include "cache/entry.h"
#include "base/alloc.h"
#include "base/vec.h"
#include <string.h>

enum {
    OFF_SCHEMA = 8,
    OFF_HEADER_LEN = 12,
    OFF_FILE_LEN = 16,
    OFF_KIND = 24,
    OFF_NSEC = 28,
    OFF_CREATED = 32,
    OFF_TABLE = 40
};
enum { ROW_BYTES = 32, ROW_CODEC = 4, ROW_OFFSET = 8, ROW_CSIZE = 16, ROW_USIZE = 24 };

static const uint64_t max_usize[LZ_SEC_COUNT] = {LZ_ENTRY_MAX_BUILD, LZ_ENTRY_MAX_ISA,
                                                 LZ_ENTRY_MAX_KEY, LZ_ENTRY_MAX_VALUE};

static void put_u32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

static void put_u64(uint8_t *p, uint64_t v)
{
    put_u32(p, (uint32_t)v);
    put_u32(p + 4, (uint32_t)(v >> 32));
}

static lz_entry_verdict damaged(const char **why, const char *what)
{
    *why = what;
    return LZ_ENTRY_DAMAGED;
}

/* The section table against the sizes it must obey. The sum cannot overflow: every csize is bounded
 * first. */
static lz_entry_verdict parse_table(const uint8_t *p, lz_entry *e, const char **why)
{
    uint64_t at = LZ_ENTRY_HEADER_LEN;
    for (uint32_t i = 0; i < LZ_SEC_COUNT; i++) {
        const uint8_t *row = p + OFF_TABLE + i * ROW_BYTES;
        lz_entry_section *s = &e->sec[i];
        s->codec = lz_le32(row + ROW_CODEC);
        s->offset = lz_le64(row + ROW_OFFSET);
        s->csize = lz_le64(row + ROW_CSIZE);
        s->usize = lz_le64(row + ROW_USIZE);
        if (lz_le32(row) != i + 1)
            return damaged(why, "sections are missing or out of order");
        if (s->codec != LZ_CODEC_RAW && (s->codec != LZ_CODEC_ZSTD || i != LZ_SEC_VALUE))
            return damaged(why, "a section has an unknown codec");
        if (s->usize > max_usize[i] || s->csize > s->usize ||
            (s->codec == LZ_CODEC_RAW && s->csize != s->usize))
            return damaged(why, "a section states an impossible size");
        if (s->offset != at)
            return damaged(why, "sections overlap or leave a gap");
        at += s->csize;
    }
    uint64_t mac = e->schema == LZ_ENTRY_SCHEMA_MAC ? LZ_MAC_LEN : 0;
    if (at + mac + LZ_ENTRY_TRAILER_LEN != e->file_len)
        return damaged(why, "sections do not fill the file");
    return LZ_ENTRY_OK;
}

lz_entry_verdict lz_entry_parse_header(const void *bytes, size_t n, uint64_t file_bytes,
                                       lz_entry *e, const char **why)
{
    const uint8_t *p = bytes;
    memset(e, 0, sizeof *e);
    *why = "";
    if (n < LZ_ENTRY_PREFIX_LEN || file_bytes < LZ_ENTRY_PREFIX_LEN + LZ_ENTRY_TRAILER_LEN)
        return damaged(why, "shorter than any entry");
    if (memcmp(p, LZ_ENTRY_MAGIC, 8) != 0)
        return damaged(why, "does not begin like an entry");
    e->schema = lz_le32(p + OFF_SCHEMA);
    e->header_len = lz_le32(p + OFF_HEADER_LEN);
    e->file_len = lz_le64(p + OFF_FILE_LEN);
    if (e->file_len != file_bytes)
        return damaged(why, "the file is shorter or longer than the entry says");
    if (e->header_len < LZ_ENTRY_PREFIX_LEN || e->header_len > file_bytes - LZ_ENTRY_TRAILER_LEN)
        return damaged(why, "the header's length is impossible");
    if (e->schema != LZ_ENTRY_SCHEMA && e->schema != LZ_ENTRY_SCHEMA_MAC) {
        *why = "written in another schema version";
        return LZ_ENTRY_FOREIGN;
    }
    if (e->header_len != LZ_ENTRY_HEADER_LEN || n < LZ_ENTRY_HEADER_LEN)
        return damaged(why, "the header's length is not this schema's");
    uint32_t kind = lz_le32(p + OFF_KIND);
    if (!lz_cache_is_kind(kind))
        return damaged(why, "of an unknown kind");
    e->kind = (lz_cache_kind)kind;
    if (lz_le32(p + OFF_NSEC) != LZ_SEC_COUNT)
        return damaged(why, "sections are missing or out of order");
    e->created_unix_s = (int64_t)lz_le64(p + OFF_CREATED);
    return parse_table(p, e, why);
}

/* Damage that leaves neither most of the magic, nor the two lengths, nor the section numbers is no
 * longer known for an entry. No file of somebody else has any of them by chance. */
bool lz_entry_is_ours(const void *head, size_t n, uint64_t file_bytes)
{
    const uint8_t *p = head;
    size_t nmagic = n < 8 ? n : 8, same = 0, zeros = 0, rows = 0;
    for (size_t i = 0; i < nmagic; i++)
        same += p[i] == (uint8_t)LZ_ENTRY_MAGIC[i];
    while (zeros < n && p[zeros] == 0)
        zeros++;
    if (zeros == n || 2 * same > nmagic)
        return true;
    if (n < LZ_ENTRY_HEADER_LEN)
        return false;
    for (uint32_t i = 0; i < LZ_SEC_COUNT; i++)
        rows += lz_le32(p + OFF_TABLE + i * ROW_BYTES) == i + 1;
    return rows == LZ_SEC_COUNT || (lz_le32(p + OFF_HEADER_LEN) == LZ_ENTRY_HEADER_LEN &&
                                    lz_le64(p + OFF_FILE_LEN) == file_bytes);
}

/* A section that is a C string: its only NUL is its last byte. */
static const char *text_of(const uint8_t *p, const lz_entry_section *s)
{
    const char *t = (const char *)p + s->offset;
    return s->csize > 0 && memchr(t, '\0', s->csize) == t + s->csize - 1 ? t : NULL;
}

static bool sealed(const uint8_t *p, size_t n)
{
    lz_hash h = lz_hash_bytes(p, n - LZ_ENTRY_TRAILER_LEN);
    return lz_le64(p + n - 16) == h.lo && lz_le64(p + n - 8) == h.hi;
}

void lz_entry_seal(uint8_t *bytes, size_t n)
{
    lz_hash h = lz_hash_bytes(bytes, n - LZ_ENTRY_TRAILER_LEN);
    put_u64(bytes + n - 16, h.lo);
    put_u64(bytes + n - 8, h.hi);
}

lz_entry_verdict lz_entry_parse(const void *bytes, size_t n, lz_entry *e, const char **why)
{
    const uint8_t *p = bytes;
    lz_entry_verdict v = lz_entry_parse_header(p, n, n, e, why);
    if (v == LZ_ENTRY_DAMAGED)
        return v;
    if (!sealed(p, n))
        return damaged(why, "the checksum does not match");
    if (v == LZ_ENTRY_FOREIGN)
        return v;
    e->build = text_of(p, &e->sec[LZ_SEC_BUILD]);
    e->isa = text_of(p, &e->sec[LZ_SEC_ISA]);
    e->key = p + e->sec[LZ_SEC_KEY].offset;
    e->payload = p + e->sec[LZ_SEC_VALUE].offset;
    if (e->schema == LZ_ENTRY_SCHEMA_MAC)
        e->mac = p + n - LZ_ENTRY_TRAILER_LEN - LZ_MAC_LEN;
    if (!e->build || !e->isa)
        return damaged(why, "a text section is not terminated");
    const lz_entry_section *s = &e->sec[LZ_SEC_VALUE];
    const char *refused =
        s->codec == LZ_CODEC_ZSTD ? lz_codec_refuse(e->payload, s->csize, s->usize) : NULL;
    return refused ? damaged(why, refused) : LZ_ENTRY_OK;
}

bool lz_entry_is_signed(const lz_entry *e, const void *bytes, size_t n,
                        const uint8_t key[LZ_MAC_KEY_LEN])
{
    uint8_t want[LZ_MAC_LEN];
    if (!e->mac)
        return false;
    lz_mac(key, bytes, n - LZ_ENTRY_TRAILER_LEN - LZ_MAC_LEN, want);
    return lz_mac_equal(want, e->mac);
}

lz_status lz_entry_value(const lz_entry *e, lz_codec_pool *pool, void *dst)
{
    const lz_entry_section *s = &e->sec[LZ_SEC_VALUE];
    if (s->codec == LZ_CODEC_ZSTD)
        return lz_codec_unpack(pool, e->payload, s->csize, dst, s->usize);
    if (s->usize)
        memcpy(dst, e->payload, s->usize);
    return LZ_OK;
}

static uint8_t *put_section(uint8_t *file, uint8_t *at, lz_entry_sec i, uint32_t codec,
                            size_t csize, size_t usize)
{
    uint8_t *row = file + OFF_TABLE + (size_t)i * ROW_BYTES;
    put_u32(row, (uint32_t)i + 1);
    put_u32(row + ROW_CODEC, codec);
    put_u64(row + ROW_OFFSET, (uint64_t)(at - file));
    put_u64(row + ROW_CSIZE, csize);
    put_u64(row + ROW_USIZE, usize);
    return at + csize;
}

static uint8_t *put_raw(uint8_t *file, uint8_t *at, lz_entry_sec i, const void *src, size_t n)
{
    if (n)
        memcpy(at, src, n);
    return put_section(file, at, i, LZ_CODEC_RAW, n, n);
}

lz_status lz_entry_encode(const lz_entry_content *c, uint8_t **bytes, size_t *n)
{
    size_t nbuild = strlen(c->build) + 1, nisa = strlen(c->isa) + 1;
    *bytes = NULL;
    *n = 0;
    if (nbuild > LZ_ENTRY_MAX_BUILD || nisa > LZ_ENTRY_MAX_ISA || c->nkey > LZ_ENTRY_MAX_KEY ||
        c->nvalue > LZ_ENTRY_MAX_VALUE)
        return LZ_FAIL(
            LZ_ERANGE,
            "cache: an entry of %zu + %zu + %zu + %zu bytes (build, ISA, key, value) is too large",
            nbuild, nisa, c->nkey, c->nvalue);
    size_t room = lz_codec_bound(c->nvalue); /* bounded above, so no sum below can overflow */
    if (room < c->nvalue)
        room = c->nvalue;
    uint8_t *file = lz_alloc(LZ_ENTRY_HEADER_LEN + nbuild + nisa + c->nkey + room + LZ_MAC_LEN +
                             LZ_ENTRY_TRAILER_LEN);
    if (!file)
        return LZ_FAIL(LZ_EMEM, "cache: no memory for an entry of %zu bytes", c->nvalue);
    memcpy(file, LZ_ENTRY_MAGIC, 8);
    put_u32(file + OFF_SCHEMA, c->mac_key ? LZ_ENTRY_SCHEMA_MAC : LZ_ENTRY_SCHEMA);
    put_u32(file + OFF_HEADER_LEN, LZ_ENTRY_HEADER_LEN);
    put_u32(file + OFF_KIND, (uint32_t)c->kind);
    put_u32(file + OFF_NSEC, LZ_SEC_COUNT);
    put_u64(file + OFF_CREATED, (uint64_t)c->created_unix_s);
    uint8_t *at = file + LZ_ENTRY_HEADER_LEN;
    at = put_raw(file, at, LZ_SEC_BUILD, c->build, nbuild);
    at = put_raw(file, at, LZ_SEC_ISA, c->isa, nisa);
    at = put_raw(file, at, LZ_SEC_KEY, c->key, c->nkey);
    size_t csize = lz_codec_pack(c->value, c->nvalue, at, room);
    if (csize)
        at = put_section(file, at, LZ_SEC_VALUE, LZ_CODEC_ZSTD, csize, c->nvalue);
    else
        at = put_raw(file, at, LZ_SEC_VALUE, c->value, c->nvalue);
    uint8_t *mac = at;
    at += c->mac_key ? LZ_MAC_LEN : 0;
    *n = (size_t)(at - file) + LZ_ENTRY_TRAILER_LEN;
    put_u64(file + OFF_FILE_LEN, *n);
    if (c->mac_key)
        lz_mac(c->mac_key, file, (size_t)(mac - file), mac);
    lz_entry_seal(file, *n);
    *bytes = file;
    return LZ_OK;
}
