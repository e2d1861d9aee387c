/* t_cache_faults.c - everything that can be wrong with the files of a cache. What holds in every
 * case: the caller gets the right value or none, the named counter moves, and a later store makes
 * the entry good again. Case numbers (C01 ...) are stable names. Directories and system calls that
 * fail are in t_cache_syscalls.c, what needs several processes in t_cache_processes.c. */
#include "cachetest.h"
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <time.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

START_TEST(c01_truncated)
{
    lz_cache *c = ct_open();
    ct_put(c, 5); /* 777 bytes, compressed */
    size_t n;
    uint8_t *p = ct_slurp(ct_path(5), &n);
    for (size_t k = 0; k < n; k++) {
        ct_spill(ct_path(5), p, k);
        uint64_t before = ct_stats(c).corrupt;
        ck_assert_int_eq(ct_get(c, 5), 0);
        ck_assert_uint_eq(ct_stats(c).corrupt, before + 1);
        ck_assert(!ct_exists(ct_path(5)));
    }
    ct_spill(ct_path(5), p, n);
    ck_assert_int_eq(ct_get(c, 5), 1);
    free(p);
    ct_put(c, 8); /* noise of 20,011 bytes: larger than the first read */
    p = ct_slurp(ct_path(8), &n);
    ck_assert_uint_gt(n, 3 * LZ_STORE_SMALL);
    uint64_t s = 1;
    for (int k = 0; k < (ct_quick() ? 50 : 1000); k++) {
        ct_spill(ct_path(8), p, ct_rand(&s) % n);
        if (k % 10 == 0)
            ct_expect_damaged_and_healed(c, 8);
        else
            ck_assert_int_eq(ct_get(c, 8), 0);
    }
    free(p);
    lz_cache_close(c);
}
END_TEST

/* A reader that does not remove what it finds, so the file can be damaged in place. */
static void flip(int fd, const uint8_t *p, size_t bit)
{
    uint8_t b = p[bit / 8] ^ (uint8_t)(1u << (bit % 8));
    ck_assert_int_eq(pwrite(fd, &b, 1, (off_t)(bit / 8)), 1);
}

START_TEST(c02_bit_flips)
{
    lz_cache *c = ct_open(), *r = ct_open_with((lz_cache_options){.read_only = true});
    static const uint64_t keys[] = {5, 2, 8, 9};
    uint64_t s = 7, corrupt = 0;
    for (int k = 0; k < 4; k++) {
        uint64_t key = keys[k];
        ct_put(c, key);
        size_t n;
        uint8_t *p = ct_slurp(ct_path(key), &n);
        int fd = open(ct_path(key), O_RDWR);
        size_t bits = n * 8, times = k < 2 ? bits : ct_quick() ? 500 : 10000;
        for (size_t i = 0; i < times; i++) {
            size_t bit = k < 2 ? i : ct_rand(&s) % bits;
            flip(fd, p, bit);
            ck_assert_int_eq(ct_get(r, key), 0);
            ck_assert_uint_eq(ct_stats(r).corrupt, ++corrupt);
            ck_assert_int_eq(pwrite(fd, p + bit / 8, 1, (off_t)(bit / 8)), 1);
        }
        ck_assert_int_eq(ct_get(r, key), 1);
        flip(fd, p, ct_rand(&s) % bits);
        close(fd);
        ct_expect_damaged_and_healed(c, key);
        free(p);
    }
    lz_cache_close(r);
    lz_cache_close(c);
}
END_TEST

static void make_socket(const char *path)
{
    /* a socket's address is short: bind it by a relative name and move it to its place */
    struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "socket"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(chdir(ct_base), 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    close(fd);
    ck_assert_int_eq(rename("socket", path), 0);
    ck_assert_int_eq(chdir("/"), 0);
}

/* What is no entry stands in an entry's place. `outside` is a good entry elsewhere, for links. */
static bool plant(int what, const char *path, const char *outside)
{
    char sub[500];
    switch (what) {
    case 0:
        ct_spill(path, "", 0);
        return true;
    case 1:
        return mkdir(path, 0700) == 0;
    case 2:
        ck_assert_int_eq(mkdir(path, 0700), 0);
        snprintf(sub, sizeof sub, "%s/inside", path);
        ct_spill(sub, "x", 1);
        return true;
    case 3:
        return mkfifo(path, 0600) == 0;
    case 4:
        make_socket(path);
        return true;
    case 5:
        return mknod(path, S_IFCHR | 0600, makedev(1, 5)) == 0; /* endless zeros; needs root */
    case 6:
        return symlink(outside, path) == 0;
    case 7:
        return symlink("/nowhere/at/all", path) == 0;
    default:
        return link(outside, path) == 0;
    }
}

/* An intact file that is not for us, or what is none, stays, does not count as damage, and does not
 * keep us from storing ours. */
static void expect_kept_beside_ours(lz_cache *c)
{
    struct stat a, b;
    ck_assert_int_eq(lstat(ct_path(5), &a), 0);
    ck_assert_int_eq(ct_get(c, 5), 0);
    ct_put(c, 5);
    ck_assert_int_eq(ct_get(c, 5), 1);
    ck_assert_int_eq(lstat(ct_path(5), &b), 0);
    ck_assert_uint_eq(a.st_ino, b.st_ino);
    ck_assert(ct_exists(ct_path_slot(5, 1)));
    ck_assert_uint_eq(ct_stats(c).corrupt, 0);
}

START_TEST(c03_not_a_file)
{
    char outside[400];
    lz_cache *c = ct_open();
    ct_put(c, 5);
    size_t n;
    uint8_t *p = ct_slurp(ct_path(5), &n);
    snprintf(outside, sizeof outside, "%s/outside", ct_base);
    ct_spill(outside, p, n);
    ck_assert_int_eq(unlink(ct_path(5)), 0);
    alarm(200); /* a FIFO would wait for ever */
    if (!plant(_i, ct_path(5), outside))
        return;
    if (_i == 8) /* a link just made could be a writer's; this one is not */
        lz_vfs_set_clock((int64_t)time(NULL) + 100);
    bool entry = _i == 0 || _i == 8; /* the others are somebody else's, and stay */
    struct stat st, now;
    ck_assert_int_eq(lstat(ct_path(5), &st), 0);
    if (entry)
        ct_expect_damaged_and_healed(c, 5);
    else
        expect_kept_beside_ours(c);
    ck_assert_int_eq(lstat(ct_path(5), &now), 0);
    ck_assert(entry ? S_ISREG(now.st_mode) && now.st_nlink == 1 : now.st_ino == st.st_ino);
    /* the same at the time of the store, without a lookup before it */
    if (entry) {
        ck_assert_int_eq(unlink(ct_path(5)), 0);
        ck_assert(plant(_i, ct_path(5), outside));
    }
    ct_put(c, 5);
    ck_assert_int_eq(ct_get(c, 5), 1);
    size_t m;
    uint8_t *q = ct_slurp(outside, &m); /* nobody touched what the links point to */
    ck_assert(m == n && memcmp(p, q, n) == 0);
    free(p), free(q);
    lz_cache_close(c);
}
END_TEST

/* A subdirectory, or tmp, replaced by a link to a directory of somebody else, or by a file: it
 * stays, and what would be below it is not stored. */
START_TEST(c03_not_a_subdirectory)
{
    char outside[400], victim[800], sub[400];
    snprintf(outside, sizeof outside, "%s/outside", ct_base);
    ck_assert_int_eq(mkdir(outside, 0700), 0);
    snprintf(victim, sizeof victim, "%s/%s", outside, strrchr(ct_path(5), '/') + 1);
    ct_spill(victim, "precious", 8);
    snprintf(sub, sizeof sub, "%s", ct_path(5));
    *strrchr(sub, '/') = '\0';
    lz_cache *c = ct_open();
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(k ? (ct_spill(sub, "file", 4), 0) : symlink(outside, sub), 0);
        ck_assert_int_eq(ct_get(c, 5), 0);
        ct_put(c, 5);
        ck_assert_int_eq(ct_get(c, 5), 0);
        struct stat st;
        ck_assert(lstat(sub, &st) == 0 && (k ? S_ISREG(st.st_mode) : S_ISLNK(st.st_mode)));
        ck_assert_int_eq(unlink(sub), 0);
        ct_put(c, 5);
        ck_assert_int_eq(ct_get(c, 5), 1);
        ct_rm(sub);
    }
    snprintf(sub, sizeof sub, "%s/tmp", ct_dir);
    ct_rm(sub);
    ck_assert_int_eq(symlink(outside, sub), 0);
    ct_put(c, 6);
    ck_assert_int_eq(ct_get(c, 6), 0);
    ck_assert_int_eq(ct_warnings, 1); /* once for all of them */
    ck_assert_uint_eq(lz_cache_clear(c, NULL), LZ_OK);
    size_t n;
    uint8_t *p = ct_slurp(victim, &n);
    ck_assert(n == 8 && memcmp(p, "precious", 8) == 0);
    free(p);
    lz_cache_close(c);
}
END_TEST

static long peak_kb(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

static void put_number(uint8_t *p, uint64_t v, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

/* Replaces the value of an entry by other bytes said to be a frame of usize bytes, everything else
 * being right. */
static void spill_with_frame(uint64_t key, const uint8_t *entry, size_t nentry,
                             const uint8_t *frame, size_t nframe, uint64_t usize)
{
    lz_entry e;
    const char *why;
    ck_assert_int_eq(lz_entry_parse(entry, nentry, &e, &why), LZ_ENTRY_OK);
    size_t at = (size_t)e.sec[LZ_SEC_VALUE].offset, n = at + nframe + 16, row = 40 + 3 * 32;
    uint8_t *p = malloc(n);
    memcpy(p, entry, at);
    memcpy(p + at, frame, nframe);
    put_number(p + 16, n, 8);
    put_number(p + row + 4, LZ_CODEC_ZSTD, 4);
    put_number(p + row + 16, nframe, 8);
    put_number(p + row + 24, usize, 8);
    lz_entry_seal(p, n);
    ct_spill(ct_path(key), p, n);
    free(p);
}

static size_t zeros_frame(uint8_t *dst, size_t cap, size_t nzeros)
{
    static uint8_t zeros[1 << 16];
    ZSTD_CCtx *z = ZSTD_createCCtx();
    ZSTD_outBuffer out = {dst, cap, 0};
    ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setPledgedSrcSize(z, nzeros);
    for (size_t left = nzeros; left > 0;) {
        size_t part = left < sizeof zeros ? left : sizeof zeros;
        ZSTD_inBuffer in = {zeros, part, 0};
        left -= part;
        size_t more;
        do
            more = ZSTD_compressStream2(z, &out, &in, left ? ZSTD_e_continue : ZSTD_e_end);
        while (in.pos < in.size || (!left && more));
    }
    ZSTD_freeCCtx(z);
    return out.pos;
}

START_TEST(c04_bombs)
{
    lz_cache *c = ct_open();
    ct_put(c, 5);
    size_t n, cap = 1 << 20, real = ct_quick() ? 64u << 20 : 1u << 30;
    uint8_t *entry = ct_slurp(ct_path(5), &n), *frame = malloc(cap);
    size_t nframe = zeros_frame(frame, cap, real);
    ck_assert_uint_lt(nframe, real / 10000);
    long before = peak_kb();
    spill_with_frame(5, entry, n, frame, nframe, real); /* an honest header and a bomb */
    ct_expect_damaged_and_healed(c, 5);
    spill_with_frame(5, entry, n, frame, nframe, 777); /* a header that plays it down */
    ct_expect_damaged_and_healed(c, 5);
    static const uint64_t lies[] = {1u << 30, (uint64_t)1 << 40, (uint64_t)1 << 63, UINT64_MAX,
                                    UINT64_MAX - 200};
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        spill_with_frame(5, entry, n, frame, 100, lies[i]);
        ct_expect_damaged_and_healed(c, 5);
        for (size_t at = 40; at < 168; at += 32)
            for (size_t field = 8; field < 32; field += 8) {
                uint8_t *bad = malloc(n);
                memcpy(bad, entry, n);
                put_number(bad + at + field, lies[i], 8);
                lz_entry_seal(bad, n);
                ct_spill(ct_path(5), bad, n);
                free(bad);
                ct_expect_damaged_and_healed(c, 5);
            }
    }
    /* a huge file, sparse, that begins like an entry of its size */
    for (int shift = 29; shift < 43; shift += 13) {
        uint8_t head[168];
        memcpy(head, entry, sizeof head);
        put_number(head + 16, (uint64_t)1 << shift, 8);
        ct_spill(ct_path(5), head, sizeof head);
        ck_assert_int_eq(truncate(ct_path(5), (off_t)1 << shift), 0);
        ct_expect_damaged_and_healed(c, 5);
    }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    ck_assert_int_lt(peak_kb() - before, 16 << 10);
#else
    (void)before;
#endif
    free(entry), free(frame);
    lz_cache_close(c);
}
END_TEST

START_TEST(c05_frames)
{
    lz_cache *c = ct_open();
    ct_put(c, 5);
    size_t n;
    uint8_t *entry = ct_slurp(ct_path(5), &n), frame[4096], value[777];
    ct_fill(value, sizeof value, 5);
    ZSTD_CCtx *z = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
    size_t m = ZSTD_compress2(z, frame, sizeof frame, value, sizeof value);
    spill_with_frame(5, entry, n, frame, m, 777);
    ck_assert_int_eq(ct_get(c, 5), 1); /* the harness is right */
    for (size_t cut = 1; cut < m; cut += 5) {
        spill_with_frame(5, entry, n, frame, m - cut, 777);
        ct_expect_damaged_and_healed(c, 5);
    }
    memset(frame + m, 'g', 10);
    spill_with_frame(5, entry, n, frame, m + 10, 777);
    ct_expect_damaged_and_healed(c, 5);
    frame[m - 2] ^= 8; /* the frame's own checksum; only decoding finds it */
    spill_with_frame(5, entry, n, frame, m, 777);
    ct_expect_damaged_and_healed(c, 5);
    ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 0);
    m = ZSTD_compress2(z, frame, sizeof frame, value, sizeof value);
    spill_with_frame(5, entry, n, frame, m, 777);
    ct_expect_damaged_and_healed(c, 5);
    ZSTD_freeCCtx(z);
    free(entry);
    lz_cache_close(c);
}
END_TEST

/* A whole entry of the given making under the name of key 5. */
static void spill_entry(const char *build, uint32_t schema, const char *isa, const char *key,
                        const char *value)
{
    lz_entry_content e = {.kind = LZ_CACHE_KERNEL,
                          .created_unix_s = 1,
                          .build = build,
                          .isa = isa,
                          .key = key,
                          .value = value,
                          .nkey = strlen(key),
                          .nvalue = strlen(value)};
    ct_write_entry(ct_path(5), &e, schema);
}

static bool no_fp16(const char *isa, void *user)
{
    (void)user;
    return strstr(isa, "avx512fp16") == NULL;
}

START_TEST(c06_foreign)
{
    lz_cache *c = ct_open();
    ct_put(c, 1);
    ct_put(c, 5);
    spill_entry(_i ? "build-1" : "another build", LZ_ENTRY_SCHEMA + (_i ? 2 : 0), "", "key 5",
                "evil");
    expect_kept_beside_ours(c);
    ck_assert_uint_ge(ct_stats(c).foreign, 1);
    lz_cache_close(c);
}
END_TEST

START_TEST(c07_c08_isa)
{
    lz_cache *c = ct_open_with((lz_cache_options){.isa_ok = no_fp16});
    ct_put(c, 5);
    spill_entry("build-1", LZ_ENTRY_SCHEMA, "avx2,avx512fp16", "key 5", "illegal instruction");
    expect_kept_beside_ours(c);
    ck_assert_uint_ge(ct_stats(c).isa_refused, 1);
    void *v;
    size_t n;
    lz_cache_put(c, LZ_CACHE_KERNEL, "t", 1, "avx2|prefer-no-gather,prefer-no-scatter", "code", 4);
    ck_assert(lz_cache_get(c, LZ_CACHE_KERNEL, "t", 1, &v, &n));
    lz_free(v);
    lz_cache_close(c);
}
END_TEST

START_TEST(c09_collisions)
{
    lz_cache *c = ct_open();
    ct_put(c, 5);
    spill_entry("build-1", LZ_ENTRY_SCHEMA, "", "key 6", "the value of key 6");
    expect_kept_beside_ours(c);
    ck_assert_uint_ge(ct_stats(c).collisions, 1);
    for (int slot = 1; slot < LZ_STORE_SLOTS;
         slot++) { /* all slots taken: a miss, no store, no harm */
        spill_entry("build-1", LZ_ENTRY_SCHEMA, "", "key 6", "the value of key 6");
        char first[400];
        snprintf(first, sizeof first, "%s", ct_path(5));
        unlink(ct_path_slot(5, slot));
        ck_assert_int_eq(link(first, ct_path_slot(5, slot)), 0);
        unlink(first);
    }
    spill_entry("build-1", LZ_ENTRY_SCHEMA, "", "key 6", "the value of key 6");
    ck_assert_int_eq(ct_get(c, 5), 0);
    ct_put(c, 5);
    ck_assert_int_eq(ct_get(c, 5), 0);
    ck_assert_uint_eq(ct_stats(c).corrupt + ct_stats(c).write_fail, 0);
    lz_cache_close(c);
}
END_TEST

START_TEST(c20_larger_than_the_cap)
{
    lz_cache *c = ct_open_with((lz_cache_options){.max_bytes = 10000});
    for (int k = 0; k < 3; k++)
        ct_put(c, 8);
    ck_assert_uint_eq(ct_stats(c).too_large, 3);
    ck_assert_uint_eq(ct_stats(c).stored, 0);
    ck_assert_int_eq(ct_warnings, 1);
    ct_put(c, 5);
    ck_assert_int_eq(ct_get(c, 5), 1);
    lz_cache_close(c);
}
END_TEST

static void just_count(lz_vfs_op op, uint64_t nth, lz_vfs_fault *f, void *user)
{
    (void)nth, (void)f;
    ((uint64_t *)user)[op]++;
}

/* What a start costs does not depend on what is in the directory: counted, not timed. */
START_TEST(c22_cost_of_a_start)
{
    uint64_t calls[LZ_VFS_OP_COUNT] = {0};
    /* looking for what to evict begins after a random part of the cap: far away here */
    lz_cache_options wide = {.max_bytes = UINT64_C(1) << 50};
    lz_cache *c = ct_open_with(wide);
    for (uint64_t i = 0; i < 300; i++)
        ct_put(c, 10 * i + 5);
    char path[400];
    for (int i = 0; i < 2000; i++) {
        snprintf(path, sizeof path, "%s/tmp/%d-0123456789abcdef-0", ct_dir, i);
        ct_spill(path, "", 0);
    }
    lz_cache_close(c);
    lz_vfs_set_hook(just_count, calls);
    c = ct_open_with(wide);
    ck_assert_uint_eq(lz_vfs_calls(), 3);
    ck_assert_uint_eq(calls[LZ_VFS_LIST], 0);
    ck_assert_int_eq(ct_get(c, 5), 1); /* open, examine, read, close */
    ck_assert_uint_eq(lz_vfs_calls(), 3 + 4);
    ck_assert_int_eq(ct_get(c, 6), 0); /* a miss is one call */
    ck_assert_uint_eq(lz_vfs_calls(), 3 + 4 + 1);
    ct_put(c, 6); /* the first store looks at a bounded number of leftovers */
    ck_assert_uint_lt(lz_vfs_calls(), 1200);
    uint64_t before = lz_vfs_calls();
    ct_put(c, 7);
    ck_assert_uint_lt(lz_vfs_calls() - before, 16);
    lz_vfs_set_hook(NULL, NULL);
    lz_cache_close(c);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cache faults");
    TCase *t = tcase_create("faults");
    tcase_set_timeout(t, 240);
    tcase_add_checked_fixture(t, ct_setup, ct_teardown);
    tcase_add_test(t, c01_truncated);
    tcase_add_test(t, c02_bit_flips);
    tcase_add_loop_test(t, c03_not_a_file, 0, 9);
    tcase_add_test(t, c03_not_a_subdirectory);
    tcase_add_test(t, c04_bombs);
    tcase_add_test(t, c05_frames);
    tcase_add_loop_test(t, c06_foreign, 0, 2);
    tcase_add_test(t, c07_c08_isa);
    tcase_add_test(t, c09_collisions);
    tcase_add_test(t, c20_larger_than_the_cap);
    tcase_add_test(t, c22_cost_of_a_start);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
