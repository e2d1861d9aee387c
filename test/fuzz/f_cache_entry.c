/* f_cache_entry.c - the bytes of a cache entry from a hostile disk. Each input is read as it is,
 * and once more with a digest that fits, which lets the fuzzer past the checksum; what is accepted
 * must be decodable without leaving its bounds, and must say the same after being written again. */
#include "base/alloc.h"
#include "cache/entry.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_DECODED = 4 << 20 };
static lz_codec_pool pool;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool x)
{
    if (!x)
        abort();
}

/* What reads back must be what was read. */
static void write_again(const lz_entry *e, const void *value)
{
    lz_entry_content c = {
        .kind = e->kind,
        .created_unix_s = e->created_unix_s,
        .build = e->build,
        .isa = e->isa,
        .key = e->key,
        .nkey = (size_t)e->sec[LZ_SEC_KEY].usize,
        .value = value,
        .nvalue = (size_t)e->sec[LZ_SEC_VALUE].usize,
    };
    uint8_t *bytes;
    size_t n;
    lz_entry back;
    const char *why;
    must(lz_entry_encode(&c, &bytes, &n) == LZ_OK);
    must(lz_entry_parse(bytes, n, &back, &why) == LZ_ENTRY_OK);
    must(back.kind == e->kind && back.created_unix_s == e->created_unix_s);
    must(strcmp(back.build, e->build) == 0 && strcmp(back.isa, e->isa) == 0);
    must(back.sec[LZ_SEC_KEY].usize == c.nkey && memcmp(back.key, e->key, c.nkey) == 0);
    void *again = lz_alloc(c.nvalue);
    must(again && back.sec[LZ_SEC_VALUE].usize == c.nvalue &&
         lz_entry_value(&back, &pool, again) == LZ_OK);
    must(memcmp(again, value, c.nvalue) == 0);
    lz_free(again);
    lz_free(bytes);
}

static void read_entry(const uint8_t *p, size_t n)
{
    lz_entry e, head;
    const char *why = NULL, *why_head = NULL;
    lz_entry_verdict v = lz_entry_parse(p, n, &e, &why);
    lz_entry_verdict h = lz_entry_parse_header(p, n < 4096 ? n : 4096, n, &head, &why_head);
    must(why && why_head && (why[0] == '\0') == (v == LZ_ENTRY_OK));
    must(h == v || v == LZ_ENTRY_DAMAGED); /* the header alone never says worse than the whole */
    if (v != LZ_ENTRY_OK)
        return;
    static const uint8_t key[LZ_MAC_KEY_LEN] = "nobody has signed with this key";
    must(!lz_entry_is_signed(&e, p, n, key));
    uint64_t usize = e.sec[LZ_SEC_VALUE].usize;
    must(usize <= (n + LZ_CODEC_RATIO_SLACK + 1) * (uint64_t)LZ_CODEC_MAX_RATIO);
    if (usize > MAX_DECODED)
        return;
    void *value = lz_alloc((size_t)usize);
    lz_status rc = value ? lz_entry_value(&e, &pool, value) : LZ_EMEM;
    must(rc == LZ_OK || rc == LZ_ECORRUPT);
    if (rc == LZ_OK)
        write_again(&e, value);
    lz_free(value);
}

/* What a writer derives from the rest: the lengths, the offsets and the digest. Spares the fuzzer
 * guessing sums. */
static void make_consistent(uint8_t *p, size_t n)
{
    memcpy(p, LZ_ENTRY_MAGIC, 8);
    uint64_t at = LZ_ENTRY_HEADER_LEN, rest = n - LZ_ENTRY_HEADER_LEN - LZ_ENTRY_TRAILER_LEN;
    if (p[8] == LZ_ENTRY_SCHEMA_MAC && rest >= LZ_MAC_LEN)
        rest -= LZ_MAC_LEN;
    for (int i = 0; i < 8; i++)
        p[16 + i] = (uint8_t)((uint64_t)n >> (8 * i));
    for (uint32_t s = 0; s < LZ_SEC_COUNT; s++) {
        uint8_t *row = p + 40 + s * 32;
        uint64_t size = s == LZ_SEC_VALUE ? rest : row[16] + ((uint64_t)row[17] << 8);
        if (size > rest)
            size = rest;
        rest -= size;
        for (int i = 0; i < 8; i++) {
            row[8 + i] = (uint8_t)(at >> (8 * i));
            row[16 + i] = (uint8_t)(size >> (8 * i));
            if (s != LZ_SEC_VALUE || row[4] == LZ_CODEC_RAW)
                row[24 + i] = row[16 + i];
        }
        if (s < LZ_SEC_KEY && size > 0)
            p[at + size - 1] = 0;
        at += size;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_entry(data, size);
    if (size < LZ_ENTRY_TRAILER_LEN)
        return 0;
    uint8_t *copy = malloc(size); /* exact, so that the sanitizer sees every step outside */
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    lz_entry_seal(copy, size);
    read_entry(copy, size);
    if (size >= LZ_ENTRY_HEADER_LEN + LZ_ENTRY_TRAILER_LEN) {
        make_consistent(copy, size);
        lz_entry_seal(copy, size);
        read_entry(copy, size);
    }
    free(copy);
    return 0;
}
