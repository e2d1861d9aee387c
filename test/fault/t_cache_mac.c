/* t_cache_mac.c - C17: caches that others can write into, read with a key; caches from which no
 * code is taken; caches of the system. A marker in forged code says whether a byte of it has run: a
 * process that runs it makes a file and ends. Without a key that happens, which is what the test
 * is worth; with one it never does. */
#include "cachetest.h"
#include "codegen/code_image.h"
#include "support/child.h"
#include <lazuli/lazuli.h>
#include <math.h>

static char key_path[320], other_key_path[320], marker_path[80];

static void write_key(const char *path, char fill, size_t n, mode_t mode)
{
    char bytes[5000];
    memset(bytes, fill, sizeof bytes);
    ct_spill(path, bytes, n);
    ck_assert_int_eq(chmod(path, mode), 0);
}

static void setup(void)
{
    ct_setup();
    snprintf(key_path, sizeof key_path, "%s/key", ct_base);
    snprintf(other_key_path, sizeof other_key_path, "%s/other", ct_base);
    snprintf(marker_path, sizeof marker_path, "/tmp/lz-marker-%d", (int)getpid());
    write_key(key_path, 'k', 32, 0600);
    write_key(other_key_path, 'o', 4096, 0400);
    unlink(marker_path);
}

static void teardown(void)
{
    unlink(marker_path);
    ct_teardown();
}

static lz_cache *open_with_key(const char *path)
{
    return ct_open_with((lz_cache_options){.key_file = path});
}

/* ---- the key's file ---- */

enum { MISSING, FOLDER, SHORT, LONG, GROUP_READS, OTHERS_READ, GROUP_WRITES, FIFO, NBAD };
START_TEST(key_is_refused)
{
    unlink(key_path);
    if (_i == FOLDER)
        ck_assert_int_eq(mkdir(key_path, 0700), 0);
    else if (_i == FIFO)
        ck_assert_int_eq(mkfifo(key_path, 0600), 0);
    else if (_i != MISSING)
        write_key(key_path, 'k',
                  _i == SHORT  ? 31
                  : _i == LONG ? 4097
                               : 32,
                  _i == GROUP_READS    ? 0640
                  : _i == OTHERS_READ  ? 0604
                  : _i == GROUP_WRITES ? 0620
                                       : 0600);
    lz_cache *c = open_with_key(key_path);
    ck_assert(!lz_cache_enabled(c)); /* not a cache without a key */
    ck_assert_int_eq(ct_warnings, 1);
    ck_assert_ptr_nonnull(strstr(ct_last, "key file"));
    ct_put(c, 1);
    ck_assert_int_eq(ct_get(c, 1), 0);
    lz_cache_close(c);
}
END_TEST

START_TEST(key_behind_a_link)
{
    char link[330];
    snprintf(link, sizeof link, "%s.link", key_path);
    ck_assert_int_eq(symlink(key_path, link), 0);
    lz_cache *c = open_with_key(link), *d = open_with_key(key_path);
    ct_put(c, 1);
    ck_assert_int_eq(ct_get(d, 1), 1);
    lz_cache_close(c);
    lz_cache_close(d);
}
END_TEST

/* ---- who reads what ---- */

START_TEST(readers_and_writers)
{
    lz_cache *plain = ct_open(), *mine = open_with_key(key_path),
             *theirs = open_with_key(other_key_path);
    ct_put(plain, 1);
    ck_assert_int_eq(ct_get(mine, 1), 0);
    ck_assert_uint_eq(ct_stats(mine).mac_refused, 1);
    ck_assert_int_eq(ct_warnings, 1);
    ct_put(mine, 1); /* beside it */
    ck_assert(ct_exists(ct_path_slot(1, 0)) && ct_exists(ct_path_slot(1, 1)));
    ck_assert_int_eq(ct_get(mine, 1), 1);
    ck_assert_int_eq(ct_get(plain, 1), 1);
    ck_assert_int_eq(ct_get(theirs, 1), 0);
    ct_put(theirs, 1);
    ck_assert_int_eq(ct_get(theirs, 1), 1);
    ck_assert_uint_eq(ct_stats(theirs).mac_refused, 2 + 2);
    ck_assert_int_eq(ct_warnings, 2); /* once each */
    ct_put(mine, 2);
    ck_assert_int_eq(ct_get(plain, 2), 1); /* who has no key reads what is signed, too */
    ck_assert_int_eq(ct_verify(plain).bad, 0);
    ck_assert_int_eq(ct_verify(mine).bad, 2);
    ck_assert_uint_eq(ct_stats(mine).corrupt + ct_stats(theirs).corrupt, 0);
    lz_cache_close(plain);
    lz_cache_close(mine);
    lz_cache_close(theirs);
}
END_TEST

/* Files made of a signed entry by somebody without its key: bits and bytes changed anywhere, parts
 * of another signed entry, another key's MAC or none, sealed again with digests that fit. */
static size_t mutate(uint8_t *p, size_t n, const uint8_t *other, size_t nother, uint64_t *rng)
{
    uint64_t how = ct_rand(rng) % 8, times = 1 + ct_rand(rng) % 4;
    for (uint64_t t = 0; t < times; t++) {
        size_t at = ct_rand(rng) % n, len = 1 + ct_rand(rng) % 64;
        len = len < n - at ? len : n - at;
        if (how < 3)
            p[at] ^= (uint8_t)(1u << ct_rand(rng) % 8);
        else if (how < 5)
            ct_fill(p + at, len, ct_rand(rng));
        else if (how == 5 && nother > n)
            memcpy(p + at, other + at, len);
        else if (how == 6)
            p[n - LZ_ENTRY_TRAILER_LEN - 1 - at % LZ_MAC_LEN] ^= (uint8_t)(1 + ct_rand(rng) % 255);
    }
    if (how == 7) { /* the MAC taken off: schema and length as of an entry without one */
        n -= LZ_MAC_LEN;
        p[8] = LZ_ENTRY_SCHEMA;
        for (int i = 0; i < 8; i++)
            p[16 + i] = (uint8_t)((uint64_t)n >> 8 * i);
    }
    lz_entry_seal(p, n);
    return n;
}

START_TEST(mutated)
{
    lz_cache *mine = open_with_key(key_path);
    uint64_t rng = lz_test_seed() + 17, refused = 0;
    size_t n, nother;
    ct_put(mine, 15); /* 777 bytes that compress */
    ct_put(mine, 7);  /* of 5001 bytes */
    uint8_t *good = ct_slurp(ct_path(15), &n), *other = ct_slurp(ct_path(7), &nother),
            *bad = malloc(n);
    long loads = lz_test_whole() ? 1000000 : ct_quick() ? 2000 : 20000;
    for (long i = 0; i < loads; i++) {
        memcpy(bad, good, n);
        size_t m = mutate(bad, n, other, nother, &rng);
        if (m == n && memcmp(bad, good, n) == 0)
            continue;
        ct_spill(ct_path(15), bad, m);
        ck_assert_msg(ct_get(mine, 15) == 0, "mutation %ld is a hit", i);
        refused++;
    }
    lz_cache_stats s = ct_stats(mine);
    ck_assert_uint_eq(s.hits[LZ_CACHE_KERNEL], 0);
    ck_assert_uint_gt(s.mac_refused, refused / 4); /* not only those that are no entries any more */
    ck_assert_uint_ge(s.mac_refused + s.corrupt + s.foreign + s.collisions, refused);
    ct_spill(ct_path(15), good, n);
    ck_assert_int_eq(ct_get(mine, 15), 1);
    lz_cache_close(mine);
    free(good), free(other), free(bad);
}
END_TEST

/* ---- forged code ---- */

typedef struct report {
    double value;
    lz_cache_counts counts;
    int warnings;
} report;

static double compute(void)
{
    float x[20 * 30], w[30 * 10];
    for (int i = 0; i < 600; i++)
        x[i] = (float)(i % 37) / 16 - 1;
    for (int i = 0; i < 300; i++)
        w[i] = (float)(i % 23) / 16 - 0.5f;
    lz_scope_begin();
    lz_tensor *a = lz_from_host(LZ_F32, LZ_SHAPE(20, 30), x);
    lz_tensor *b = lz_from_host(LZ_F32, LZ_SHAPE(30, 10), w);
    double v = lz_item(lz_sum(lz_exp(lz_relu(lz_matmul(a, b)))));
    lz_scope_end();
    return v;
}

static void in_child(void *arg, void *out)
{
    report *r = out;
    (void)arg;
    r->value = lz_initialize_cache(ct_dir, false) == LZ_OK ? compute() : NAN;
    lz_get_cache_counts(&r->counts);
    r->warnings = ct_warnings;
}

static report use(void)
{
    report r = {.counts = {.struct_size = sizeof r.counts}};
    lz_in_child(in_child, NULL, &r, sizeof r);
    ck_assert(!isnan(r.value));
    return r;
}

/* creat(path behind them, 0600), exit_group(0); and a jump of `by` bytes. */
enum { PATH_AT = 48 };
#if defined(__aarch64__)
static const uint32_t payload[] = {0x10000181, 0x92800c60, 0xd2804822, 0xd2803003, 0xd2800708,
                                   0xd4000001, 0xd2800000, 0xd2800bc8, 0xd4000001};
enum { JUMP = 4 };
static void put_jump(uint8_t *code, uint32_t by)
{
    uint32_t b = 0x14000000 | (by >> 2 & 0x3ffffff);
    memcpy(code, &b, JUMP);
}
#else
static const uint8_t payload[] = {0x48, 0x8d, 0x3d, 0x29, 0, 0, 0,    0xbe, 0x80, 0x01,
                                  0,    0,    0xb8, 85,   0, 0, 0,    0x0f, 0x05, 0x31,
                                  0xff, 0xb8, 231,  0,    0, 0, 0x0f, 0x05};
enum { JUMP = 5 };
static void put_jump(uint8_t *code, uint32_t by)
{
    uint32_t to = by - JUMP; /* from its end */
    code[0] = 0xe9;
    memcpy(code + 1, &to, 4);
}
#endif

/* The longest function of the image makes the marker and ends the process; the others jump there.
 */
static void put_payload(uint8_t *image, size_t n)
{
    lz_code_image im;
    ck_assert_ptr_null(lz_code_open(image, n, &im));
    uint8_t *code = image + LZ_CODE_HEADER;
    uint32_t run = lz_code_find(&im, "lz_run");
    memset(code, 0xcc, im.ncode);
    ck_assert_uint_le(run + PATH_AT + sizeof marker_path, im.ncode);
    memcpy(code + run, payload, sizeof payload);
    memcpy(code + run + PATH_AT, marker_path, sizeof marker_path);
    for (uint32_t i = 0; i < im.nfunc; i++) {
        uint32_t at = im.funcs[i].at;
        if (at == run)
            continue;
        ck_assert(at + JUMP <= run || at >= run + PATH_AT + sizeof marker_path);
        put_jump(code + at, run - at);
    }
}

/* An entry with everything that ties it to its key, as somebody who reads this page can make it. */
static const uint8_t *sign_with;
static int forged;
static int forge(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    ct_entry e;
    (void)st;
    if (type != FTW_F || !lz_store_is_entry(path + ftw->base))
        return 0;
    ct_read_entry(path, &e);
    lz_entry_content *c = &e.content;
    if (c->kind == LZ_CACHE_KERNEL) {
        put_payload(e.value + 16, c->nvalue - 16);
        lz_hash name = lz_hash_seeded(c->key, c->nkey, lz_cache_name_seed(c->kind, c->build));
        lz_hash h = lz_hash_seeded(e.value + 16, c->nvalue - 16, name.lo ^ (name.hi << 1));
        for (int i = 0; i < 16; i++)
            e.value[i] = (uint8_t)((i < 8 ? h.lo : h.hi) >> (8 * (i % 8)));
        c->mac_key = sign_with;
        uint8_t *p;
        size_t n;
        ck_assert_int_eq(lz_entry_encode(c, &p, &n), LZ_OK);
        ct_spill(path, p, n);
        lz_free(p);
        forged++;
    }
    ct_entry_free(&e);
    return 0;
}

static void forge_all(const uint8_t *key)
{
    sign_with = key;
    forged = 0;
    ck_assert_int_eq(nftw(ct_dir, forge, 32, FTW_PHYS), 0);
    ck_assert_int_gt(forged, 0);
}

/* The attack works where nothing is signed: what the other tests refuse is real. */
START_TEST(without_a_key_it_runs)
{
    use();
    forge_all(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        report r = {.counts = {.struct_size = sizeof r.counts}};
        in_child(NULL, &r);
        _exit(9);
    }
    ck_assert_int_eq(ct_wait(pid), 0); /* the payload's */
    ck_assert(ct_exists(marker_path));
}
END_TEST

enum { UNSIGNED, OTHER_KEY, ZERO_KEY };
START_TEST(with_a_key_it_never_does)
{
    uint8_t other[LZ_MAC_KEY_LEN] = {0};
    setenv("LAZULI_CACHE_KEY_FILE", key_path, 1);
    report cold = use(), warm = use();
    ck_assert_uint_gt(cold.counts.llvm_compiles, 0);
    ck_assert_uint_eq(warm.counts.llvm_compiles + warm.counts.mac_refused, 0);
    ck_assert_double_eq(warm.value, cold.value);
    if (_i == OTHER_KEY)
        ck_assert_int_eq(lz_mac_key_read(other_key_path, other), LZ_OK);
    forge_all(_i == UNSIGNED ? NULL : other);
    report r = use(), after = use();
    ck_assert(!ct_exists(marker_path));
    ck_assert_double_eq(r.value, cold.value);
    ck_assert_double_eq(after.value, cold.value);
    ck_assert_uint_eq(r.counts.mac_refused, (uint64_t)forged);
    ck_assert_uint_eq(r.counts.llvm_compiles, (uint64_t)forged);
    ck_assert_uint_eq(after.counts.llvm_compiles, 0); /* stored beside */
}
END_TEST

/* ---- no code from files ---- */

START_TEST(programs_only)
{
    setenv("LAZULI_CACHE_CODE", "off", 1);
    report cold = use();
    ck_assert_uint_gt(cold.counts.llvm_compiles, 0);
    ck_assert_int_eq((int)ct_count_entries(NULL), (int)cold.counts.program_misses); /* no kernel */
    report warm = use();
    ck_assert_double_eq(warm.value, cold.value);
    ck_assert_uint_gt(warm.counts.program_hits, 0);
    ck_assert_uint_eq(warm.counts.kernel_hits, 0);
    ck_assert_uint_eq(warm.counts.llvm_compiles, cold.counts.llvm_compiles);
    ck_assert_uint_ge(warm.counts.code_ignored, warm.counts.llvm_compiles);
    unsetenv("LAZULI_CACHE_CODE");
    use(); /* now with code, which is forged */
    forge_all(NULL);
    setenv("LAZULI_CACHE_CODE", "off", 1);
    report r = use();
    ck_assert(!ct_exists(marker_path));
    ck_assert_double_eq(r.value, cold.value);
    ck_assert_uint_gt(r.counts.program_hits, 0);
    ck_assert_uint_eq(r.counts.llvm_compiles, cold.counts.llvm_compiles);
}
END_TEST

/* ---- caches of the system ---- */

START_TEST(system_cache)
{
    char own[320], system[800];
    report cold = use(); /* ct_dir is the system's from now on */
    snprintf(own, sizeof own, "%s", ct_dir);
    snprintf(ct_dir, sizeof ct_dir, "%s/own", ct_base);
    snprintf(system, sizeof system, ":%s/none:%s:", ct_base, own);
    setenv("LAZULI_SYSTEM_CACHE", system, 1);
    report r = use();
    ck_assert_double_eq(r.value, cold.value);
    ck_assert_uint_eq(r.counts.llvm_compiles + r.counts.program_misses, 0);
    ck_assert_uint_eq(r.counts.system_hits, r.counts.program_hits + r.counts.kernel_hits);
    ck_assert_int_eq(r.warnings, 1);                  /* the directory that is not there */
    ck_assert_int_eq((int)ct_count_entries(NULL), 0); /* the user's own stays empty */

    ck_assert_int_eq(chmod(own, 0777), 0); /* somebody else could have put it there */
    r = use();
    ck_assert_double_eq(r.value, cold.value);
    ck_assert_uint_eq(r.counts.system_hits, 0);
    ck_assert_uint_eq(r.counts.llvm_compiles, cold.counts.llvm_compiles);
    ck_assert_int_eq(r.warnings, 2);
    ck_assert_int_eq(chmod(own, 0755), 0);
    ct_rm(ct_dir);

    setenv("LAZULI_CACHE_KEY_FILE", key_path, 1); /* what is not signed is not used there either */
    r = use();
    ck_assert_double_eq(r.value, cold.value);
    ck_assert_uint_eq(r.counts.system_hits, 0);
    ck_assert_uint_gt(r.counts.mac_refused, 0);
}
END_TEST

/* Damage in a system cache is a miss, and stays. */
START_TEST(system_cache_is_never_written)
{
    char own[300];
    lz_cache *c = ct_open();
    ct_put(c, 1);
    ct_put(c, 2);
    lz_cache_close(c);
    size_t n;
    uint8_t *p = ct_slurp(ct_path(1), &n);
    p[n / 2] ^= 1;
    ct_spill(ct_path(1), p, n);
    free(p);
    struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    ck_assert_int_eq(utimensat(AT_FDCWD, ct_path(2), old, 0), 0);
    snprintf(own, sizeof own, "%.200s/own", ct_base);
    c = ct_open_with((lz_cache_options){.path = own, .system = ct_dir});
    ck_assert_int_eq(ct_get(c, 1), 0);
    ck_assert_int_eq(ct_get(c, 2), 1);
    ck_assert_uint_eq(ct_stats(c).corrupt, 1);
    ck_assert_uint_eq(ct_stats(c).system_hits, 1);
    ck_assert(ct_exists(ct_path(1)));
    struct stat st;
    ck_assert_int_eq(lstat(ct_path(2), &st), 0);
    ck_assert_int_eq(st.st_mtim.tv_sec, 1000);
    ct_put(c, 1);
    ck_assert_int_eq(ct_get(c, 1), 1);
    ck_assert_uint_eq(ct_stats(c).system_hits, 1);
    lz_cache_close(c);
}
END_TEST

int main(void)
{
    setenv("PJRT_DEVICE", "CPU", 1);
    Suite *s = suite_create("caches of others");
    TCase *t = tcase_create("key");
    tcase_set_timeout(t, 300);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, key_is_refused, 0, NBAD);
    tcase_add_test(t, key_behind_a_link);
    tcase_add_test(t, readers_and_writers);
    tcase_add_test(t, mutated);
#if defined(__x86_64__) || defined(__aarch64__)
    tcase_add_test(t, without_a_key_it_runs);
    tcase_add_loop_test(t, with_a_key_it_never_does, 0, 3);
    tcase_add_test(t, programs_only);
#endif
    tcase_add_test(t, system_cache);
    tcase_add_test(t, system_cache_is_never_written);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
