/* t_pack.c - packs: written and read, into caches and out of them, with keys and without; whatever
 * is done to one, it is imported whole or not at all. */
#include "../../cachetest.h"
#include "cache/pack.h"

static const uint8_t key[LZ_MAC_KEY_LEN] = "a key of this test", other[LZ_MAC_KEY_LEN] = "another";
static char key_path[320];

static void setup(void)
{
    ct_setup();
    snprintf(key_path, sizeof key_path, "%s/key", ct_base);
    ct_spill(key_path, "0123456789abcdef0123456789abcdef", 32);
    ck_assert_int_eq(chmod(key_path, 0600), 0);
}

/* ---- the bytes ---- */

static lz_buf make(uint32_t n, const uint8_t *mac_key)
{
    lz_buf b = {0};
    lz_pack_begin(&b, "build-1");
    for (uint32_t i = 0; i < n; i++)
        lz_pack_add(&b, "abcdefghij", i % 11);
    lz_pack_end(&b, mac_key);
    ck_assert(!b.failed);
    return b;
}

START_TEST(written_and_read)
{
    for (uint32_t n = 0; n < 40; n++) {
        lz_buf b = make(n, _i ? key : NULL);
        lz_pack p;
        ck_assert_ptr_null(lz_pack_open(b.data, b.len, &p));
        ck_assert_str_eq(p.build, "build-1");
        ck_assert_uint_eq(p.count, n);
        ck_assert_int_eq(p.mac != NULL, _i);
        ck_assert_int_eq(lz_pack_is_signed(&p, key), _i);
        ck_assert(!lz_pack_is_signed(&p, other));
        size_t at = p.first, len;
        const uint8_t *e;
        for (uint32_t i = 0; i < n; i++) {
            ck_assert(lz_pack_next(&p, &at, &e, &len));
            ck_assert(len == i % 11 && memcmp(e, "abcdefghij", len) == 0);
        }
        ck_assert(!lz_pack_next(&p, &at, &e, &len));
        lz_buf_free(&b);
    }
}
END_TEST

/* Every truncation, every changed bit. */
START_TEST(damaged)
{
    lz_buf b = make(7, key);
    lz_pack p;
    for (size_t n = 0; n < b.len; n++) {
        uint8_t *part = malloc(n + 1);
        memcpy(part, b.data, n);
        ck_assert_ptr_nonnull(lz_pack_open(part, n, &p));
        free(part);
    }
    for (size_t i = 0; i < 8 * b.len; i++) {
        b.data[i / 8] = (char)(b.data[i / 8] ^ 1 << i % 8);
        ck_assert_ptr_nonnull(lz_pack_open(b.data, b.len, &p));
        b.data[i / 8] = (char)(b.data[i / 8] ^ 1 << i % 8);
    }
    ck_assert_ptr_null(lz_pack_open(b.data, b.len, &p));
    lz_buf_free(&b);
}
END_TEST

static void reseal(uint8_t *p, size_t n)
{
    lz_hash h = lz_hash_bytes(p, n - 16);
    for (int i = 0; i < 16; i++)
        p[n - 16 + i] = (uint8_t)((i < 8 ? h.lo : h.hi) >> (8 * (i % 8)));
}

static void put_number(uint8_t *p, uint64_t v, int width)
{
    for (int i = 0; i < width; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

/* Numbers that lie, and truncations, under a digest that is right. */
START_TEST(lying_numbers)
{
    static const uint64_t lies[] = {
        0,   1,   2,   7,          8,        31,      32,         39,         40,
        255, 256, 257, 0x7fffffff, 1u << 20, 1048577, 0x80000000, UINT32_MAX, UINT64_MAX};
    lz_buf good = make(7, _i ? key : NULL), b = make(7, _i ? key : NULL);
    uint8_t *bytes = (uint8_t *)b.data;
    lz_pack p;
    for (size_t at = 8; at < 40 + 8 + 8;) { /* the header, the build id, a length */
        int width = at == 16 || at == 48 ? 8 : at < 32 ? 4 : 1;
        for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
            put_number(bytes + at, lies[i], width);
            bool same = memcmp(bytes, good.data, b.len) == 0;
            reseal(bytes, b.len);
            const char *why = lz_pack_open(bytes, b.len, &p);
            if (!why &&
                !same) { /* another count or MAC would leave bytes over: only the build id */
                ck_assert_msg(at >= 32 && at < 40, "byte %zu is %llu", at,
                              (unsigned long long)lies[i]);
                ck_assert_uint_lt(strlen(p.build), 8);
            }
            ck_assert(!same || !why);
            memcpy(bytes, good.data, b.len);
        }
        at += (size_t)width;
    }
    for (size_t n = 48; n < b.len; n++) {
        put_number(bytes + 16, n, 8);
        reseal(bytes, n);
        ck_assert_ptr_nonnull(lz_pack_open(bytes, n, &p));
        memcpy(bytes, good.data, b.len);
    }
    lz_buf_free(&b);
    lz_buf_free(&good);
}
END_TEST

/* ---- of caches ---- */

enum { KEYS = 20 };

static void put_bound(lz_cache *c, uint64_t i)
{
    char k[64];
    size_t nkey = ct_key(i, k), n = ct_value_size(i);
    uint8_t *v = malloc(n + 1);
    ct_fill(v, n, i);
    lz_cache_put_bound(c, i % 2 ? LZ_CACHE_PROGRAM : LZ_CACHE_KERNEL, k, nkey, "", v, n);
    free(v);
}

static bool get_bound(lz_cache *c, uint64_t i)
{
    char k[64];
    size_t nkey = ct_key(i, k), n = 0;
    void *v = NULL;
    if (!lz_cache_get_bound(c, i % 2 ? LZ_CACHE_PROGRAM : LZ_CACHE_KERNEL, k, nkey, &v, &n))
        return false;
    uint8_t *want = malloc(ct_value_size(i) + 1);
    ct_fill(want, ct_value_size(i), i);
    ck_assert(n == ct_value_size(i) && memcmp(v, want, n) == 0);
    free(want);
    lz_free(v);
    return true;
}

static lz_cache *open_at(const char *name, const char *key_file)
{
    char path[340];
    snprintf(path, sizeof path, "%s/%s", ct_base, name);
    return ct_open_with((lz_cache_options){.path = path, .key_file = key_file});
}

typedef struct list {
    char names[64][LZ_STORE_NAME_LEN];
    const char *p[64];
    uint32_t n;
} list;
static bool take(const lz_cache_entry_info *e, void *user)
{
    list *l = user;
    memcpy(l->names[l->n], e->name, LZ_STORE_NAME_LEN);
    l->p[l->n] = l->names[l->n];
    l->n++;
    return true;
}

/* A pack of a cache with KEYS entries. */
static lz_buf pack_of(const char *key_file)
{
    lz_buf b = {0};
    lz_cache *c = open_at("from", key_file);
    list l = {.n = 0};
    for (uint64_t i = 0; i < KEYS; i++)
        put_bound(c, i);
    ck_assert_int_eq(lz_cache_walk(c, false, take, &l), LZ_OK);
    ck_assert_uint_eq(l.n, KEYS);
    ck_assert_int_eq(lz_cache_export(c, l.p, l.n, &b), LZ_OK);
    lz_cache_close(c);
    return b;
}

static lz_status refuse(const lz_entry *e, void *user)
{
    return e->kind == *(lz_cache_kind *)user ? LZ_FAIL(LZ_EUNSUPPORTED, "not here") : LZ_OK;
}

START_TEST(there_and_back)
{
    const char *key_file = _i ? key_path : "";
    lz_buf b = pack_of(key_file);
    lz_cache *c = open_at("to", key_file);
    lz_import_counts n;
    lz_cache_kind unwanted = LZ_CACHE_PROGRAM;
    ck_assert_int_eq(lz_cache_import(c, b.data, b.len, refuse, &unwanted, &n), LZ_EUNSUPPORTED);
    for (uint64_t i = 0; i < KEYS; i++)
        ck_assert(!get_bound(c, i)); /* none, though kernels were fine */
    put_bound(c, 3);
    ck_assert_int_eq(lz_cache_import(c, b.data, b.len, NULL, NULL, &n), LZ_OK);
    ck_assert_uint_eq(n.stored[LZ_CACHE_PROGRAM], KEYS / 2 - 1);
    ck_assert_uint_eq(n.there[LZ_CACHE_PROGRAM], 1);
    ck_assert_uint_eq(n.stored[LZ_CACHE_KERNEL], KEYS / 2);
    for (uint64_t i = 0; i < KEYS; i++)
        ck_assert(get_bound(c, i));
    ck_assert_uint_eq(ct_stats(c).corrupt + ct_stats(c).mac_refused, 0);
    ck_assert_int_eq(ct_verify(c).bad, 0);
    lz_cache_close(c);
    lz_buf_free(&b);
}
END_TEST

START_TEST(who_may_import)
{
    lz_buf plain = pack_of(""), mine;
    char from[340], strange[320];
    snprintf(from, sizeof from, "%s/from", ct_base);
    ct_rm(from);
    mine = pack_of(key_path);
    snprintf(strange, sizeof strange, "%s/strange", ct_base);
    ct_spill(strange, "another key of thirty-two bytes!", 32);
    lz_import_counts n;
    lz_cache *c = open_at("to", key_path);
    ck_assert_int_eq(lz_cache_import(c, plain.data, plain.len, NULL, NULL, &n), LZ_EPERM);
    ck_assert_int_eq(lz_cache_import(c, mine.data, mine.len, NULL, NULL, &n), LZ_OK);
    lz_cache_close(c);
    c = open_at("theirs", strange);
    ck_assert_int_eq(lz_cache_import(c, mine.data, mine.len, NULL, NULL, &n), LZ_EPERM);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "another key"));
    lz_cache_close(c);
    c = open_at("nobodys", ""); /* who has no key believes the directory, as always */
    ck_assert_int_eq(lz_cache_import(c, mine.data, mine.len, NULL, NULL, &n), LZ_OK);
    lz_cache_close(c);
    c = ct_open_with((lz_cache_options){.build_id = "build-2"});
    ck_assert_int_eq(lz_cache_import(c, plain.data, plain.len, NULL, NULL, &n), LZ_EUNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(lz_error_get()->message, "build-1; this is build-2"));
    lz_cache_close(c);
    c = ct_open_with((lz_cache_options){.read_only = true});
    ck_assert_int_eq(lz_cache_import(c, plain.data, plain.len, NULL, NULL, &n), LZ_EPERM);
    lz_cache_close(c);
    lz_buf_free(&plain);
    lz_buf_free(&mine);
}
END_TEST

/* Packs changed and sealed again, without and with their entries' digests: what is imported is what
 * was exported, and with a key nothing is imported at all. */
START_TEST(mutated)
{
    const char *key_file = _i ? key_path : "";
    lz_buf b = pack_of(key_file);
    uint8_t *bad = malloc(b.len);
    uint64_t rng = lz_test_seed() + (unsigned)_i;
    long imported = 0, loads = lz_test_whole() ? 500000 : lz_test_small() ? 500 : 5000;
    lz_cache *c = open_at("to", key_file);
    for (long i = 0; i < loads; i++) {
        memcpy(bad, b.data, b.len);
        for (uint64_t t = 0, times = 1 + ct_rand(&rng) % 3; t < times; t++)
            bad[ct_rand(&rng) % b.len] ^= (uint8_t)(1u << ct_rand(&rng) % 8);
        lz_pack p;
        size_t n = b.len, at, len;
        const uint8_t *e;
        reseal(bad, n);
        if (!lz_pack_open(bad, n, &p))
            for (at = p.first; ct_rand(&rng) % 4 && lz_pack_next(&p, &at, &e, &len);)
                if (len >= LZ_ENTRY_TRAILER_LEN)
                    lz_entry_seal((uint8_t *)e, len);
        reseal(bad, n);
        if (memcmp(bad, b.data, n) == 0)
            continue;
        lz_import_counts counts;
        if (lz_cache_import(c, bad, n, NULL, NULL, &counts) == LZ_OK)
            imported++;
    }
    if (_i)
        ck_assert_int_eq(imported, 0);
    for (uint64_t i = 0; i < KEYS; i++) /* checks the value of a hit */
        ck_assert(!get_bound(c, i) || imported);
    lz_cache_close(c);
    free(bad);
    lz_buf_free(&b);
}
END_TEST

START_TEST(no_room)
{
    lz_buf b = pack_of("");
    lz_cache *c = open_at("to", "");
    char tmp[340];
    lz_import_counts n;
    snprintf(tmp, sizeof tmp, "%s/to/tmp", ct_base);
    ct_spill(tmp, "", 0); /* a file where the folder goes */
    ck_assert_int_eq(lz_cache_import(c, b.data, b.len, NULL, NULL, &n), LZ_EIO);
    lz_cache_close(c);
    lz_buf_free(&b);
}
END_TEST

START_TEST(what_is_not_exported)
{
    lz_buf b = pack_of("");
    lz_entry e;
    lz_cache *c = open_at("from", key_path);
    list l = {.n = 0};
    lz_buf_free(&b);
    ck_assert_int_eq(lz_cache_walk(c, false, take, &l), LZ_OK);
    ck_assert_int_eq(lz_cache_read_entry(c, l.p[0], &b, &e), LZ_EPERM);
    lz_buf_free(&b);
    ck_assert_int_eq(lz_cache_export(c, l.p, l.n, &b), LZ_EPERM);
    lz_buf_free(&b);
    const char *none = "00/000000000000000000000000000000.p";
    ck_assert_int_eq(lz_cache_export(c, &none, 1, &b), LZ_ENOENT);
    lz_buf_free(&b);
    lz_cache_close(c);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("packs");
    TCase *t = tcase_create("packs");
    tcase_set_timeout(t, 1000);
    tcase_add_checked_fixture(t, setup, ct_teardown);
    tcase_add_loop_test(t, written_and_read, 0, 2);
    tcase_add_test(t, damaged);
    tcase_add_loop_test(t, lying_numbers, 0, 2);
    tcase_add_loop_test(t, there_and_back, 0, 2);
    tcase_add_test(t, who_may_import);
    tcase_add_loop_test(t, mutated, 0, 2);
    tcase_add_test(t, no_room);
    tcase_add_test(t, what_is_not_exported);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
