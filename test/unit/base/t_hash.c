/* t_hash.c - XXH3-128 against published values, hex forms, and the map against a plain array. */
#include "base/alloc.h"
#include "base/hash.h"
#include "suite.h"
#include <stdio.h>
#include <string.h>

static uint64_t rng_state = 0x9E3779B97F4A7C15u;
static uint64_t rnd(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return rng_state;
}

/* Of the empty input the XXH3 specification gives 99aa06d3014798d86001c324468d497f. */
START_TEST(known_values)
{
    char hex[33];
    lz_hash_hex(lz_hash_bytes("", 0), hex);
    ck_assert_str_eq(hex, "99aa06d3014798d86001c324468d497f");
    lz_hash_hex(lz_hash_bytes(NULL, 0), hex);
    ck_assert_str_eq(hex, "99aa06d3014798d86001c324468d497f");
    lz_hash a = lz_hash_bytes("lazuli", 6), b = lz_hash_seeded("lazuli", 6, 0);
    ck_assert(lz_hash_eq(a, b));
    ck_assert(!lz_hash_eq(a, lz_hash_seeded("lazuli", 6, 1)));
    ck_assert(!lz_hash_eq(a, lz_hash_bytes("lazulj", 6)));
}
END_TEST

START_TEST(every_bit_counts)
{
    static unsigned char data[777];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)rnd();
    lz_hash whole = lz_hash_bytes(data, sizeof data);
    for (size_t bit = 0; bit < sizeof data * 8; bit++) {
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        lz_hash h = lz_hash_bytes(data, sizeof data);
        if (h.lo == whole.lo || h.hi == whole.hi)
            ck_abort_msg("bit %zu does not reach both halves", bit);
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    static unsigned char shifted[sizeof data + 8];
    for (size_t off = 0; off < 8; off++) { /* alignment does not matter */
        memcpy(shifted + off, data, sizeof data);
        ck_assert(lz_hash_eq(lz_hash_bytes(shifted + off, sizeof data), whole));
    }
}
END_TEST

START_TEST(text_forms)
{
    const struct {
        lz_hash h;
        const char *text, *hex;
    } rows[] = {
        {{0, 0}, "00000000000000000", "00000000000000000000000000000000"},
        {{0x1, 0xf}, "f0000000000000001", "000000000000000f0000000000000001"},
        {{0xdeadbeefcafef00d, 0x123}, "123deadbeefcafef00d", "0000000000000123deadbeefcafef00d"},
        {{UINT64_MAX, UINT64_MAX},
         "ffffffffffffffffffffffffffffffff",
         "ffffffffffffffffffffffffffffffff"},
        {{0, 0x1000000000000000},
         "10000000000000000000000000000000",
         "10000000000000000000000000000000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[33], hex[33];
        lz_hash back;
        ck_assert_str_eq(lz_hash_text(rows[i].h, text), rows[i].text);
        lz_hash_hex(rows[i].h, hex);
        ck_assert_str_eq(hex, rows[i].hex);
        ck_assert(lz_hash_parse_hex(hex, &back));
        ck_assert(lz_hash_eq(back, rows[i].h));
    }
    const char *bad[] = {"",
                         "0",
                         "0000000000000123deadbeefcafef00",
                         "0000000000000123deadbeefcafef00d0",
                         "0000000000000123deadbeefcafef00g",
                         " 000000000000123deadbeefcafef00d",
                         "-000000000000123deadbeefcafef00d"};
    lz_hash h = {1, 2};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(!lz_hash_parse_hex(bad[i], &h), "accepted \"%s\"", bad[i]);
    ck_assert(h.lo == 1 && h.hi == 2);
    ck_assert(lz_hash_parse_hex("0000000000000123DEADBEEFCAFEF00D", &h));
    ck_assert_uint_eq(h.lo, 0xdeadbeefcafef00d);
}
END_TEST

/* Random puts, replaces and deletes on few keys, mirrored in an array. _i chooses how the keys are
 * spread. */
START_TEST(map_against_array)
{
    enum { KEYS = 512, STEPS = 60000 };
    static int payload[KEYS * 2];
    void *mirror[KEYS] = {0};
    lz_map m = {0};
    uint32_t len = 0;
    for (int i = 0; i < STEPS; i++) {
        uint32_t k = (uint32_t)(rnd() >> 30) % KEYS;
        lz_hash key = _i == 0   ? lz_hash_bytes(&k, sizeof k)
                      : _i == 1 ? (lz_hash){k, 0}
                      : _i == 2 ? (lz_hash){0, k}
                                : (lz_hash){k, k}; /* all the same after folding */
        uint32_t what = (uint32_t)(rnd() >> 40) % 8;
        void *v = &payload[rnd() >> 8 & (KEYS * 2 - 1)];
        bool ok = lz_map_get(&m, key) == mirror[k];
        if (what < (i / 7000 % 2 ? 3 : 6)) {
            ok = ok && lz_map_put(&m, key, v) == LZ_OK;
            len += mirror[k] == NULL;
            mirror[k] = v;
        } else {
            ok = ok && lz_map_del(&m, key) == mirror[k];
            len -= mirror[k] != NULL;
            mirror[k] = NULL;
        }
        if (!ok || m.len != len)
            ck_abort_msg("step %d, key %u: %u entries, %u expected", i, k, m.len, len);
    }
    ck_assert_uint_le(m.cap, 4 * KEYS); /* tombstones are cleaned, not grown over */
    uint32_t it = 0, seen = 0;
    lz_hash key;
    void *v;
    while (lz_map_next(&m, &it, &key, &v)) {
        ck_assert_ptr_eq(lz_map_get(&m, key), v);
        seen++;
    }
    ck_assert_uint_eq(seen, len);
    it = 0;
    while (lz_map_next(&m, &it, NULL, NULL))
        seen--;
    ck_assert_uint_eq(seen, 0);
    lz_map_free(&m);
    ck_assert_ptr_null(m.slots);
}
END_TEST

START_TEST(map_empty_and_failing)
{
    lz_map m = {0};
    const lz_hash k = {7, 9};
    uint32_t it = 0;
    int x;
    ck_assert_ptr_null(lz_map_get(&m, k));
    ck_assert_ptr_null(lz_map_del(&m, k));
    ck_assert(!lz_map_next(&m, &it, NULL, NULL));
    lz_alloc_fail_at(1, false);
    ck_assert_int_eq(lz_map_put(&m, k, &x), LZ_EMEM);
    ck_assert_uint_eq(m.len, 0);
    uint64_t n = 0;
    lz_alloc_fail_at(4, false);
    while (lz_map_put(&m, (lz_hash){n, 0}, &x) == LZ_OK)
        n++;
    ck_assert_uint_gt(n, 10);
    for (uint64_t i = 0; i < n; i++) /* the failed growth lost nothing */
        ck_assert_ptr_eq(lz_map_get(&m, (lz_hash){i, 0}), &x);
    ck_assert_ptr_null(lz_map_get(&m, (lz_hash){n, 0}));
    ck_assert_int_eq(lz_map_put(&m, (lz_hash){n, 0}, &x), LZ_OK);
    lz_map_free(&m);
    lz_map_free(&m);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("hash");
    TCase *t = tcase_create("hash");
    tcase_add_test(t, known_values);
    tcase_add_test(t, every_bit_counts);
    tcase_add_test(t, text_forms);
    tcase_add_loop_test(t, map_against_array, 0, 4);
    tcase_add_test(t, map_empty_and_failing);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
