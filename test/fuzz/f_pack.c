/* f_pack.c - the bytes of a pack from a hostile place. Each input is read as it is, and once more
 * with lengths and a digest that fit, which lets the fuzzer past them: the entries of a pack that
 * is accepted are inside of it and follow each other, and one that is written again is the same. */
#include "base/hash.h"
#include "cache/pack.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool x)
{
    if (!x)
        abort();
}

static void read_pack(const uint8_t *b, size_t n)
{
    static const uint8_t key[LZ_MAC_KEY_LEN] = "nobody has signed with this key";
    lz_pack p;
    if (lz_pack_open(b, n, &p))
        return;
    must(!lz_pack_is_signed(&p, key));
    const uint8_t *entry, *end = b + p.first;
    size_t at = p.first, len;
    uint32_t count = 0;
    lz_buf again = {0};
    lz_pack_begin(&again, p.build);
    for (; lz_pack_next(&p, &at, &entry, &len); count++) {
        must(entry == end + 8 && len <= (size_t)(b + p.end - entry));
        end = entry + len;
        lz_pack_add(&again, entry, len);
        lz_entry e;
        const char *why;
        (void)lz_entry_parse(entry, len, &e, &why);
    }
    must(count == p.count && end == b + p.end);
    lz_pack_end(&again, NULL);
    must(!again.failed && (p.mac || (again.len == n && memcmp(again.data, b, n) == 0)));
    lz_buf_free(&again);
}

/* What a writer derives from the rest. */
static void make_consistent(uint8_t *p, size_t n)
{
    memcpy(p, LZ_PACK_MAGIC, 8);
    memcpy(p + 8, "\1\0\0\0", 4);
    p[12] &= 1;
    memset(p + 13, 0, 3);
    for (int i = 0; i < 8; i++)
        p[16 + i] = (uint8_t)((uint64_t)n >> (8 * i));
    size_t end = n - LZ_PACK_TRAILER_LEN - (p[12] ? LZ_MAC_LEN : 0);
    size_t nbuild = p[28] % 16u + 1, at = LZ_PACK_HEADER_LEN + nbuild;
    memset(p + 28, 0, 4);
    p[28] = (uint8_t)nbuild;
    for (size_t i = 0; i < nbuild && LZ_PACK_HEADER_LEN + i < end; i++)
        p[LZ_PACK_HEADER_LEN + i] = i + 1 < nbuild ? 'b' : 0;
    uint32_t count = 0;
    for (; at + 8 <= end; count++) {
        size_t left = end - at - 8, len = (size_t)p[at] + ((size_t)p[at + 1] << 8);
        len = len > left || left - len < 8 ? left : len;
        for (int i = 0; i < 8; i++)
            p[at + (size_t)i] = (uint8_t)((uint64_t)len >> (8 * i));
        at += 8 + len;
    }
    for (int i = 0; i < 4; i++)
        p[24 + i] = (uint8_t)(count >> (8 * i));
    lz_hash h = lz_hash_bytes(p, n - 16);
    for (int i = 0; i < 16; i++)
        p[n - 16 + (size_t)i] = (uint8_t)((i < 8 ? h.lo : h.hi) >> (8 * (i % 8)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_pack(data, size);
    if (size < LZ_PACK_HEADER_LEN + LZ_MAC_LEN + LZ_PACK_TRAILER_LEN)
        return 0;
    uint8_t *copy = malloc(size); /* exact, so that the sanitizer sees every step outside */
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    lz_hash h = lz_hash_bytes(copy, size - 16);
    for (int i = 0; i < 16; i++)
        copy[size - 16 + (size_t)i] = (uint8_t)((i < 8 ? h.lo : h.hi) >> (8 * (i % 8)));
    read_pack(copy, size);
    make_consistent(copy, size);
    read_pack(copy, size);
    free(copy);
    return 0;
}
