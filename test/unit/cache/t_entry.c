/* t_entry.c - the bytes of an entry: round trips, the layout that docs/reference/cache-format.md
 * promises, and every lie a header can tell. */
#include "cache/entry.h"
#include "cachetest.h"
#define XXH_INLINE_ALL
#include <xxhash.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

static uint8_t *bytes;
static size_t nbytes;

static void encode(const char *build, const char *isa, const void *key, size_t nkey,
                   const void *value, size_t nvalue)
{
    lz_entry_content c = {LZ_CACHE_PROGRAM, -5, build, isa, key, value, nkey, nvalue, NULL};
    ck_assert_int_eq(lz_entry_encode(&c, &bytes, &nbytes), LZ_OK);
}

static void put(size_t at, uint64_t v, int n)
{
    for (int i = 0; i < n; i++)
        bytes[at + (size_t)i] = (uint8_t)(v >> (8 * i));
}

static lz_entry_verdict parse(void)
{
    lz_entry e;
    const char *why = NULL;
    lz_entry_verdict v = lz_entry_parse(bytes, nbytes, &e, &why);
    ck_assert_ptr_nonnull(why);
    ck_assert(v == LZ_ENTRY_OK ? why[0] == '\0' : why[0] != '\0');
    return v;
}

START_TEST(round_trip)
{
    static const size_t sizes[] = {0, 1, 2, 63, 64, 65, 100, 4095, 4096, 4097, 100000, 1 << 20};
    lz_codec_pool pool = {NULL};
    for (int noise = 0; noise < 2; noise++) {
        size_t nvalue = sizes[_i], nkey = sizes[(size_t)_i * 5 % 12];
        uint8_t *value = malloc(nvalue + 1), *key = malloc(nkey + 1), *back = malloc(nvalue + 1);
        ct_fill(value, nvalue, (uint64_t)(2 * _i + noise));
        ct_fill(key, nkey, (uint64_t)_i + 100);
        encode("b\xff id", "avx2,fma|slow-pmulld", key, nkey, value, nvalue);
        lz_entry e;
        const char *why;
        ck_assert_int_eq(lz_entry_parse(bytes, nbytes, &e, &why), LZ_ENTRY_OK);
        ck_assert_int_eq(e.kind, LZ_CACHE_PROGRAM);
        ck_assert_int_eq(e.created_unix_s, -5);
        ck_assert_str_eq(e.build, "b\xff id");
        ck_assert_str_eq(e.isa, "avx2,fma|slow-pmulld");
        ck_assert_uint_eq(e.sec[LZ_SEC_KEY].usize, nkey);
        ck_assert(memcmp(e.key, key, nkey) == 0);
        ck_assert_uint_eq(e.sec[LZ_SEC_VALUE].usize, nvalue);
        if (noise && nvalue > 1000)
            ck_assert(e.sec[LZ_SEC_VALUE].codec == LZ_CODEC_ZSTD &&
                      e.sec[LZ_SEC_VALUE].csize < nvalue);
        ck_assert_int_eq(lz_entry_value(&e, &pool, back), LZ_OK);
        ck_assert(memcmp(back, value, nvalue) == 0);
        lz_free(bytes);
        free(value), free(key), free(back);
    }
    lz_codec_pool_free(&pool);
}
END_TEST

/* The layout, field by field, with other code than the encoder's. */
START_TEST(layout_is_the_documented_one)
{
    encode("b1", "", "KEY", 3, "value", 5);
    ck_assert_uint_eq(nbytes, 168 + 3 + 1 + 3 + 5 + 16);
    ck_assert(memcmp(bytes, "\x89LZC\r\n\x1a\n", 8) == 0);
    uint8_t want[168 - 8] = {0};
    const uint64_t head[] = {2 | (uint64_t)168 << 32, nbytes, 1 | (uint64_t)4 << 32, (uint64_t)-5};
    memcpy(want, head, sizeof head);
    uint64_t rows[4][4] = {{1, 168, 3, 3}, {2, 171, 1, 1}, {3, 172, 3, 3}, {4, 175, 5, 5}};
    memcpy(want + 32, rows, sizeof rows);
    ck_assert(memcmp(bytes + 8, want, sizeof want) == 0);
    ck_assert(memcmp(bytes + 168, "b1\0\0KEYvalue", 12) == 0);
    XXH128_hash_t h = XXH3_128bits(bytes, nbytes - 16);
    ck_assert(memcmp(bytes + nbytes - 16, &h.low64, 8) == 0);
    ck_assert(memcmp(bytes + nbytes - 8, &h.high64, 8) == 0);
    lz_free(bytes);
}
END_TEST

START_TEST(every_truncation_and_extension)
{
    uint8_t value[300];
    ct_fill(value, sizeof value, 3);
    encode("build", "avx2", "some key", 8, value, sizeof value);
    size_t full = nbytes;
    uint8_t *whole = bytes;
    for (size_t n = 0; n < full; n++) {
        bytes = malloc(n + 1); /* exact size, so that the sanitizer sees a read past the end */
        memcpy(bytes, whole, n);
        bytes = realloc(bytes, n ? n : 1);
        nbytes = n;
        ck_assert_int_eq(parse(), LZ_ENTRY_DAMAGED);
        if (n >= 16) {
            lz_entry_seal(bytes, n);
            ck_assert_int_eq(parse(), LZ_ENTRY_DAMAGED);
        }
        free(bytes);
    }
    bytes = calloc(1, full + 40);
    memcpy(bytes, whole, full);
    for (nbytes = full + 1; nbytes < full + 40; nbytes++)
        ck_assert_int_eq(parse(), LZ_ENTRY_DAMAGED);
    free(bytes);
    lz_free(whole);
}
END_TEST

/* Any flipped bit is noticed. Sealed again (a liar who knows the format), the parser must stay
 * within the bytes; the sanitizers watch that. */
START_TEST(every_bit_flip)
{
    uint8_t value[200], back[4096];
    ct_fill(value, sizeof value, 1);
    encode("build", "sse2", "k", 1, value, sizeof value);
    lz_codec_pool pool = {NULL};
    for (size_t bit = 0; bit < nbytes * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        ck_assert_int_eq(parse(), LZ_ENTRY_DAMAGED);
        uint8_t trailer[16];
        memcpy(trailer, bytes + nbytes - 16, 16);
        lz_entry_seal(bytes, nbytes);
        lz_entry e;
        const char *why;
        lz_entry_verdict v = lz_entry_parse(bytes, nbytes, &e, &why);
        if (bit / 8 < 8)
            ck_assert_int_eq(v, LZ_ENTRY_DAMAGED);
        else if (bit / 8 <
                 12) /* 2 with its lowest bit is the schema with a MAC, of another length */
            ck_assert_int_eq(v, bit == 64 ? LZ_ENTRY_DAMAGED : LZ_ENTRY_FOREIGN);
        else if (v == LZ_ENTRY_OK && e.sec[LZ_SEC_VALUE].usize <= sizeof back)
            (void)lz_entry_value(&e, &pool, back);
        memcpy(bytes + nbytes - 16, trailer, 16);
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    ck_assert_int_eq(parse(), LZ_ENTRY_OK);
    lz_codec_pool_free(&pool);
    lz_free(bytes);
}
END_TEST

/* No bit of an entry with a MAC can be changed, sealed again or not, and the key's MAC remain. */
START_TEST(every_bit_is_signed)
{
    static const uint8_t key[LZ_MAC_KEY_LEN] = "of this test", other[LZ_MAC_KEY_LEN] = "another";
    uint8_t value[200];
    ct_fill(value, sizeof value, 1);
    lz_entry_content c = {.kind = LZ_CACHE_KERNEL,
                          .build = "build",
                          .isa = "sse2",
                          .key = "k",
                          .nkey = 1,
                          .value = value,
                          .nvalue = sizeof value,
                          .mac_key = key};
    uint8_t *p;
    size_t n;
    lz_entry e;
    const char *why;
    ck_assert_int_eq(lz_entry_encode(&c, &p, &n), LZ_OK);
    ck_assert_int_eq(lz_entry_parse(p, n, &e, &why), LZ_ENTRY_OK);
    ck_assert(lz_entry_is_signed(&e, p, n, key) && !lz_entry_is_signed(&e, p, n, other));
    for (size_t bit = 0; bit < (n - LZ_ENTRY_TRAILER_LEN) * 8; bit++) {
        p[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        ck_assert_int_eq(lz_entry_parse(p, n, &e, &why), LZ_ENTRY_DAMAGED);
        lz_entry_seal(p, n);
        ck_assert(lz_entry_parse(p, n, &e, &why) != LZ_ENTRY_OK ||
                  !lz_entry_is_signed(&e, p, n, key));
        p[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        lz_entry_seal(p, n);
    }
    ck_assert_int_eq(lz_entry_parse(p, n, &e, &why), LZ_ENTRY_OK);
    ck_assert(lz_entry_is_signed(&e, p, n, key));
    lz_free(p);
}
END_TEST

/* Each number of the header, set to values that overflow, overlap or point outside; sealed. */
START_TEST(lying_numbers)
{
    static const uint64_t lies[] = {0,
                                    1,
                                    15,
                                    16,
                                    23,
                                    24,
                                    39,
                                    40,
                                    167,
                                    168,
                                    169,
                                    0x7fffffff,
                                    0x80000000u,
                                    0xffffffffu,
                                    (uint64_t)1 << 32,
                                    (uint64_t)1 << 62,
                                    (uint64_t)1 << 63,
                                    UINT64_MAX - 15,
                                    UINT64_MAX};
    uint8_t value[500];
    ct_fill(value, sizeof value, 1);
    encode("build", "avx2", "key", 3, value, sizeof value);
    uint8_t *good = malloc(nbytes);
    memcpy(good, bytes, nbytes);
    for (size_t at = 8; at < 168;) {
        int width = at == 16 || at == 32 || (at >= 40 && (at - 40) % 32 >= 8) ? 8 : 4;
        for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
            put(at, lies[i], width);
            bool changed = memcmp(bytes, good, nbytes) != 0;
            lz_entry_seal(bytes, nbytes);
            lz_entry_verdict v = parse();
            if (at == 32 || !changed)
                ck_assert_int_eq(v, LZ_ENTRY_OK); /* any creation time is a time */
            else if (at == 24 && lies[i] == 1)
                ck_assert_int_eq(v, LZ_ENTRY_OK); /* the kind is what it was */
            else
                ck_assert_int_eq(v, at == 8 ? LZ_ENTRY_FOREIGN : LZ_ENTRY_DAMAGED);
            memcpy(bytes, good, nbytes);
        }
        at += (size_t)width;
    }
    /* every pair of neighbouring sizes moved against each other: sums stay, borders shift */
    for (int row = 0; row < 3; row++) {
        size_t a = 40 + (size_t)row * 32, b = a + 32;
        put(a + 16, bytes[a + 16] + 1u, 8), put(a + 24, bytes[a + 24] + 1u, 8);
        put(b + 8, bytes[b + 8] + 1u, 8);
        lz_entry_seal(bytes, nbytes);
        ck_assert_int_eq(parse(), LZ_ENTRY_DAMAGED);
        memcpy(bytes, good, nbytes);
    }
    free(good);
    lz_free(bytes);
}
END_TEST

/* What is left of an entry that is damaged is the cache's, which may remove it; nothing else is. */
START_TEST(what_is_ours)
{
    encode("build", "avx2", "key", 3, "value", 5);
    const size_t header = 168;
    ck_assert(lz_entry_is_ours(bytes, nbytes, nbytes));
    for (size_t n = 0; n < 24; n++) /* a beginning: the magic, or nothing */
        ck_assert(lz_entry_is_ours(bytes, n, n));
    memset(bytes, 0xff, 8); /* without its magic: by the two lengths or the four numbers */
    ck_assert(lz_entry_is_ours(bytes, header, nbytes));
    ck_assert(!lz_entry_is_ours(bytes, header - 1, nbytes));
    ck_assert(lz_entry_is_ours(bytes, header, nbytes + 1));
    put(40 + 32, 7, 4); /* not the second number either */
    ck_assert(lz_entry_is_ours(bytes, header, nbytes));
    ck_assert(!lz_entry_is_ours(bytes, header, nbytes + 1));
    put(12, 167, 4);
    ck_assert(!lz_entry_is_ours(bytes, header, nbytes));
    memset(bytes, 0, header); /* zeros, as a power failure leaves them */
    ck_assert(lz_entry_is_ours(bytes, header, nbytes));
    bytes[header - 1] = 1;
    ck_assert(!lz_entry_is_ours(bytes, header, nbytes));
    lz_free(bytes);
}
END_TEST

/* The first bytes of a file that is whole: no more of the header than was read is looked at. */
START_TEST(beginnings)
{
    encode("build", "avx2", "key", 3, "value", 5);
    for (size_t n = 0; n < 168; n++) {
        const char *why = NULL;
        lz_entry e;
        uint8_t *part = malloc(n + 1);
        memcpy(part, bytes, n);
        ck_assert_int_eq(lz_entry_parse_header(part, n, nbytes, &e, &why), LZ_ENTRY_DAMAGED);
        ck_assert_ptr_nonnull(why);
        free(part);
    }
    lz_free(bytes);
}
END_TEST

START_TEST(texts_must_be_terminated)
{
    encode("build", "avx2", "key", 3, "v", 1);
    bytes[168 + 5] = 'x'; /* the build's NUL */
    lz_entry_seal(bytes, nbytes);
    ck_assert_int_eq(parse(), LZ_ENTRY_DAMAGED);
    bytes[168 + 5] = 0;
    bytes[168 + 2] = 0; /* a NUL inside */
    lz_entry_seal(bytes, nbytes);
    ck_assert_int_eq(parse(), LZ_ENTRY_DAMAGED);
    lz_free(bytes);
}
END_TEST

START_TEST(foreign_schema_needs_a_valid_digest)
{
    encode("build", "", "key", 3, "v", 1);
    put(8, 7, 4);
    ck_assert_int_eq(parse(), LZ_ENTRY_DAMAGED);
    lz_entry_seal(bytes, nbytes);
    ck_assert_int_eq(parse(), LZ_ENTRY_FOREIGN);
    lz_free(bytes);
}
END_TEST

/* An entry whose value is the given frame, said to be usize bytes. */
static void encode_frame(const void *frame, size_t n, uint64_t usize)
{
    uint8_t *raw = malloc(n + 1);
    ct_fill(raw, n, 2); /* noise: kept raw */
    encode("b", "", "k", 1, raw, n);
    free(raw);
    size_t row = 40 + 3 * 32;
    ck_assert_uint_eq(bytes[row + 4], LZ_CODEC_RAW);
    put(row + 4, LZ_CODEC_ZSTD, 4);
    put(row + 24, usize, 8);
    memcpy(bytes + nbytes - 16 - n, frame, n);
    lz_entry_seal(bytes, nbytes);
}

static lz_status unpack(uint64_t usize)
{
    lz_entry e;
    const char *why;
    if (lz_entry_parse(bytes, nbytes, &e, &why) != LZ_ENTRY_OK)
        return LZ_EINVAL; /* refused before any memory was taken */
    lz_codec_pool pool = {NULL};
    uint8_t *dst = malloc(usize + 1);
    lz_status rc = lz_entry_value(&e, &pool, dst);
    free(dst);
    lz_codec_pool_free(&pool);
    return rc;
}

static size_t frame_of(uint8_t *dst, size_t cap, const void *src, size_t n, int checksum,
                       int size_flag, int window_log)
{
    ZSTD_CCtx *c = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, checksum);
    ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, size_flag);
    if (window_log)
        ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, window_log);
    ZSTD_inBuffer in = {src, n, 0};
    ZSTD_outBuffer out = {dst, cap, 0};
    if (size_flag)
        ZSTD_CCtx_setPledgedSrcSize(c, n);
    while (ZSTD_compressStream2(c, &out, &in, ZSTD_e_end) > 0)
        ;
    ZSTD_freeCCtx(c);
    return out.pos;
}

START_TEST(frames_of_another_make)
{
    uint8_t src[3000], f[8192], g[8192];
    ct_fill(src, sizeof src, 1);
    size_t n = frame_of(f, sizeof f, src, sizeof src, 1, 1, 0);
    encode_frame(f, n, sizeof src);
    ck_assert_int_eq(unpack(sizeof src), LZ_OK); /* the harness itself is right */
    lz_free(bytes);

    for (size_t cut = 1; cut < n; cut += 7) { /* truncated frames */
        encode_frame(f, n - cut, sizeof src);
        ck_assert_int_ne(unpack(sizeof src), LZ_OK);
        lz_free(bytes);
    }
    memcpy(g, f, n);
    memset(g + n, 0, 9); /* trailing garbage */
    encode_frame(g, n + 9, sizeof src);
    ck_assert_int_eq(unpack(sizeof src), LZ_EINVAL);
    lz_free(bytes);
    const uint8_t skippable[] = {0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4};
    memcpy(g, skippable, 12);
    memcpy(g + 12, f, n); /* a skippable frame first ... */
    encode_frame(g, n + 12, sizeof src);
    ck_assert_int_eq(unpack(sizeof src), LZ_EINVAL);
    lz_free(bytes);
    memcpy(g, f, n);
    memcpy(g + n, skippable, 12); /* ... or last */
    encode_frame(g, n + 12, sizeof src);
    ck_assert_int_eq(unpack(sizeof src), LZ_EINVAL);
    lz_free(bytes);
    for (int other = -1; other <= 1; other += 2) { /* another size than stated */
        encode_frame(f, n, sizeof src + (uint64_t)other);
        ck_assert_int_eq(unpack(sizeof src + 1), LZ_EINVAL);
        lz_free(bytes);
    }
    size_t m = frame_of(g, sizeof g, src, sizeof src, 0, 1, 0); /* no checksum */
    encode_frame(g, m, sizeof src);
    ck_assert_int_eq(unpack(sizeof src), LZ_EINVAL);
    lz_free(bytes);
    m = frame_of(g, sizeof g, src, sizeof src, 1, 0, 0); /* no content size */
    encode_frame(g, m, sizeof src);
    ck_assert_int_eq(unpack(sizeof src), LZ_EINVAL);
    lz_free(bytes);
    f[n - 1] ^= 1; /* the frame's own checksum */
    encode_frame(f, n, sizeof src);
    ck_assert_int_eq(unpack(sizeof src), LZ_ECORRUPT);
    lz_free(bytes);
}
END_TEST

START_TEST(frames_with_a_large_window)
{
    size_t n = 20 << 20, cap = ZSTD_compressBound(n);
    uint8_t *src = malloc(n), *f = malloc(cap);
    ct_fill(src, n, 1);
    size_t m = frame_of(f, cap, src, n, 1, 1, 24); /* needs 16 MiB */
    encode_frame(f, m, n);
    ck_assert_int_eq(unpack(n), LZ_EINVAL);
    lz_free(bytes);
    free(src), free(f);
}
END_TEST

/* What compresses more than a reader believes is kept as it is. */
START_TEST(too_good_to_compress)
{
    size_t n = 8 << 20;
    void *zeros = calloc(1, n);
    encode("b", "", "k", 1, zeros, n);
    lz_entry e;
    const char *why;
    ck_assert_int_eq(lz_entry_parse(bytes, nbytes, &e, &why), LZ_ENTRY_OK);
    ck_assert_uint_eq(e.sec[LZ_SEC_VALUE].codec, LZ_CODEC_RAW);
    lz_free(bytes);
    free(zeros);
}
END_TEST

START_TEST(limits_of_the_encoder)
{
    char *long_text = malloc(5000);
    memset(long_text, 'x', 4999);
    long_text[4999] = '\0';
    lz_entry_content c = {LZ_CACHE_KERNEL, 0, "b", long_text, "k", "v", 1, 1, NULL};
    ck_assert_int_eq(lz_entry_encode(&c, &bytes, &nbytes), LZ_ERANGE);
    ck_assert_ptr_null(bytes);
    c.isa = "";
    c.build = long_text;
    ck_assert_int_eq(lz_entry_encode(&c, &bytes, &nbytes), LZ_ERANGE);
    c.build = "b";
    c.nvalue = (size_t)LZ_ENTRY_MAX_VALUE + 1; /* refused before a byte is read */
    ck_assert_int_eq(lz_entry_encode(&c, &bytes, &nbytes), LZ_ERANGE);
    c.nvalue = SIZE_MAX;
    ck_assert_int_eq(lz_entry_encode(&c, &bytes, &nbytes), LZ_ERANGE);
    c.nvalue = 1;
    c.nkey = SIZE_MAX;
    ck_assert_int_eq(lz_entry_encode(&c, &bytes, &nbytes), LZ_ERANGE);
    free(long_text);
}
END_TEST

/* Each allocation of encode and decode fails once: an error or the same value, never a leak. */
START_TEST(out_of_memory)
{
    uint8_t value[9000], back[9000];
    ct_fill(value, sizeof value, 1);
    for (int n = 1; n < 40; n++) {
        int64_t live = lz_alloc_live_bytes_hint();
        lz_entry_content c = {LZ_CACHE_KERNEL, 0, "b", "", "k", value, 1, sizeof value, NULL};
        lz_codec_pool pool = {NULL};
        lz_alloc_fail_at(n, false);
        lz_status rc = lz_entry_encode(&c, &bytes, &nbytes);
        if (rc == LZ_OK) {
            lz_entry e;
            const char *why;
            ck_assert_int_eq(lz_entry_parse(bytes, nbytes, &e, &why), LZ_ENTRY_OK);
            rc = lz_entry_value(&e, &pool, back);
            if (rc == LZ_OK)
                ck_assert(memcmp(value, back, sizeof value) == 0);
        }
        lz_alloc_fail_at(0, false);
        ck_assert(rc == LZ_OK || rc == LZ_EMEM);
        lz_free(bytes);
        lz_codec_pool_free(&pool);
        ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("entry");
    TCase *t = tcase_create("entry");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, round_trip, 0, 12);
    tcase_add_test(t, layout_is_the_documented_one);
    tcase_add_test(t, every_truncation_and_extension);
    tcase_add_test(t, every_bit_flip);
    tcase_add_test(t, every_bit_is_signed);
    tcase_add_test(t, lying_numbers);
    tcase_add_test(t, what_is_ours);
    tcase_add_test(t, beginnings);
    tcase_add_test(t, texts_must_be_terminated);
    tcase_add_test(t, foreign_schema_needs_a_valid_digest);
    tcase_add_test(t, frames_of_another_make);
    tcase_add_test(t, frames_with_a_large_window);
    tcase_add_test(t, too_good_to_compress);
    tcase_add_test(t, limits_of_the_encoder);
    tcase_add_test(t, out_of_memory);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
