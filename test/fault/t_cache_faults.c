/* t_cache_faults.c - everything that can be wrong with a cache directory and with the system calls
 * under it. The law of every case: the caller gets the right value or none, the named counter
 * moves, and a later store makes the entry good again. Case numbers (C01 ...) are stable names.
 * What needs several processes is in t_cache_processes.c. */
#include "cachetest.h"
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <time.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

static bool quick(void)
{
    return getenv("LZ_TEST_QUICK") != NULL;
}

/* The entry of key i is a miss that counts as damage, is gone, and can be stored again. */
static void expect_damaged_and_healed(lz_cache *c, uint64_t i)
{
    uint64_t before = ct_stats(c).corrupt;
    ck_assert_int_eq(ct_get(c, i), 0);
    ck_assert_uint_eq(ct_stats(c).corrupt, before + 1);
    ck_assert(!ct_exists(ct_path(i)));
    ct_put(c, i);
    ck_assert_int_eq(ct_get(c, i), 1);
    ck_assert_uint_eq(ct_stats(c).corrupt, before + 1);
}

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
    for (int k = 0; k < (quick() ? 50 : 1000); k++) {
        ct_spill(ct_path(8), p, ct_rand(&s) % n);
        if (k % 10 == 0)
            expect_damaged_and_healed(c, 8);
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
        size_t bits = n * 8, times = k < 2 ? bits : quick() ? 500 : 10000;
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
        expect_damaged_and_healed(c, key);
        free(p);
    }
    lz_cache_close(r);
    lz_cache_close(c);
}
END_TEST

static void make_socket(const char *path)
{
    /* a socket's address is short: bind it next to us and move it there */
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "/tmp/lz-sock-%d", (int)getpid());
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    close(fd);
    ck_assert_int_eq(rename(a.sun_path, path), 0);
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
    alarm(20); /* a FIFO would wait for ever */
    if (plant(_i, ct_path(5), outside)) {
        if (_i == 8)
            lz_vfs_set_clock((int64_t)time(NULL) +
                             100); /* a link just made could be a writer's; not this one */
        expect_damaged_and_healed(c, 5);
        struct stat st;
        ck_assert(lstat(ct_path(5), &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1);
    }
    /* the same at the time of the store, without a lookup before it */
    ck_assert_int_eq(unlink(ct_path(5)), 0);
    if (plant(_i, ct_path(5), outside)) {
        ct_put(c, 5);
        ck_assert_int_eq(ct_get(c, 5), 1);
    }
    size_t m;
    uint8_t *q = ct_slurp(outside, &m); /* nobody touched what the links point to */
    ck_assert(m == n && memcmp(p, q, n) == 0);
    free(p), free(q);
    lz_cache_close(c);
}
END_TEST

/* A subdirectory, or tmp, replaced by a link to a directory of somebody else. */
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
        ck_assert_int_eq(ct_get(c, 5), 1);
        ct_rm(sub);
    }
    snprintf(sub, sizeof sub, "%s/tmp", ct_dir);
    ct_rm(sub);
    ck_assert_int_eq(symlink(outside, sub), 0);
    ct_put(c, 6);
    ck_assert_int_eq(ct_get(c, 6), 1);
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
    size_t n, cap = 1 << 20, real = quick() ? 64u << 20 : 1u << 30;
    uint8_t *entry = ct_slurp(ct_path(5), &n), *frame = malloc(cap);
    size_t nframe = zeros_frame(frame, cap, real);
    ck_assert_uint_lt(nframe, real / 10000);
    long before = peak_kb();
    spill_with_frame(5, entry, n, frame, nframe, real); /* an honest header and a bomb */
    expect_damaged_and_healed(c, 5);
    spill_with_frame(5, entry, n, frame, nframe, 777); /* a header that plays it down */
    expect_damaged_and_healed(c, 5);
    static const uint64_t lies[] = {1u << 30, (uint64_t)1 << 40, (uint64_t)1 << 63, UINT64_MAX,
                                    UINT64_MAX - 200};
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        spill_with_frame(5, entry, n, frame, 100, lies[i]);
        expect_damaged_and_healed(c, 5);
        for (size_t at = 40; at < 168; at += 32)
            for (size_t field = 8; field < 32; field += 8) {
                uint8_t *bad = malloc(n);
                memcpy(bad, entry, n);
                put_number(bad + at + field, lies[i], 8);
                lz_entry_seal(bad, n);
                ct_spill(ct_path(5), bad, n);
                free(bad);
                expect_damaged_and_healed(c, 5);
            }
    }
    /* a huge file, sparse, that begins like an entry of its size */
    for (int shift = 29; shift < 43; shift += 13) {
        uint8_t head[168];
        memcpy(head, entry, sizeof head);
        put_number(head + 16, (uint64_t)1 << shift, 8);
        ct_spill(ct_path(5), head, sizeof head);
        ck_assert_int_eq(truncate(ct_path(5), (off_t)1 << shift), 0);
        expect_damaged_and_healed(c, 5);
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
        expect_damaged_and_healed(c, 5);
    }
    memset(frame + m, 'g', 10);
    spill_with_frame(5, entry, n, frame, m + 10, 777);
    expect_damaged_and_healed(c, 5);
    frame[m - 2] ^= 8; /* the frame's own checksum; only decoding finds it */
    spill_with_frame(5, entry, n, frame, m, 777);
    expect_damaged_and_healed(c, 5);
    ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 0);
    m = ZSTD_compress2(z, frame, sizeof frame, value, sizeof value);
    spill_with_frame(5, entry, n, frame, m, 777);
    expect_damaged_and_healed(c, 5);
    ZSTD_freeCCtx(z);
    free(entry);
    lz_cache_close(c);
}
END_TEST

/* A whole entry of the given making under the name of key 5. */
static void spill_entry(const char *build, uint32_t schema, const char *isa, const char *key,
                        const char *value)
{
    lz_entry_content e = {LZ_CACHE_KERNEL, 1, build, isa, key, value, strlen(key), strlen(value)};
    uint8_t *p;
    size_t n;
    ck_assert_int_eq(lz_entry_encode(&e, &p, &n), LZ_OK);
    put_number(p + 8, schema, 4);
    lz_entry_seal(p, n);
    ct_spill(ct_path(5), p, n);
    lz_free(p);
}

/* An intact file that is not for us stays, does not count as damage, and does not keep us from
 * storing ours. */
static void expect_kept_beside_ours(lz_cache *c)
{
    struct stat a, b;
    ck_assert_int_eq(stat(ct_path(5), &a), 0);
    ck_assert_int_eq(ct_get(c, 5), 0);
    ct_put(c, 5);
    ck_assert_int_eq(ct_get(c, 5), 1);
    ck_assert_int_eq(stat(ct_path(5), &b), 0);
    ck_assert_uint_eq(a.st_ino, b.st_ino);
    ck_assert(ct_exists(ct_path_slot(5, 1)));
    ck_assert_uint_eq(ct_stats(c).corrupt, 0);
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
    spill_entry(_i ? "build-1" : "another build", _i ? 2 : 1, "", "key 5", "evil");
    expect_kept_beside_ours(c);
    ck_assert_uint_ge(ct_stats(c).foreign, 1);
    lz_cache_close(c);
}
END_TEST

START_TEST(c07_c08_isa)
{
    lz_cache *c = ct_open_with((lz_cache_options){.isa_ok = no_fp16});
    ct_put(c, 5);
    spill_entry("build-1", 1, "avx2,avx512fp16", "key 5", "illegal instruction");
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
    spill_entry("build-1", 1, "", "key 6", "the value of key 6");
    expect_kept_beside_ours(c);
    ck_assert_uint_ge(ct_stats(c).collisions, 1);
    for (int slot = 1; slot < LZ_STORE_SLOTS;
         slot++) { /* all slots taken: a miss, no store, no harm */
        spill_entry("build-1", 1, "", "key 6", "the value of key 6");
        char first[400];
        snprintf(first, sizeof first, "%s", ct_path(5));
        unlink(ct_path_slot(5, slot));
        ck_assert_int_eq(link(first, ct_path_slot(5, slot)), 0);
        unlink(first);
    }
    spill_entry("build-1", 1, "", "key 6", "the value of key 6");
    ck_assert_int_eq(ct_get(c, 5), 0);
    ct_put(c, 5);
    ck_assert_int_eq(ct_get(c, 5), 0);
    ck_assert_uint_eq(ct_stats(c).corrupt + ct_stats(c).write_fail, 0);
    lz_cache_close(c);
}
END_TEST

/* ---- system calls that fail ---- */

typedef struct injection {
    uint64_t nth; /* the call that fails; 0: all of `op` */
    int op;       /* only this kind of call; -1: any */
    lz_vfs_fault fault;
} injection;

/* The kinds of the calls of the last scenario. */
static uint8_t trace[4096];

static void inject(lz_vfs_op op, uint64_t nth, lz_vfs_fault *f, void *user)
{
    const injection *in = user;
    trace[nth % sizeof trace] = (uint8_t)op;
    if ((in->op < 0 || in->op == (int)op) && (in->nth == 0 || in->nth == nth))
        *f = in->fault;
}

/* Opens, stores three entries, reads them back, evicts and sweeps; whatever happens, nothing wrong
 * is read. Gives the number of calls. */
static uint64_t scenario(injection *in)
{
    lz_cache *c = NULL;
    lz_cache_options o = {.path = ct_dir, .build_id = "build-1", .fsync = true, .max_bytes = 30000};
    lz_vfs_set_hook(inject, in);
    ck_assert_int_eq(lz_cache_open(&o, &c), LZ_OK);
    for (uint64_t i = 7; i < 10; i++) {
        ck_assert_int_ge(ct_get(c, i), 0);
        ct_put(c, i);
        ck_assert_int_ge(ct_get(c, i), 0);
    }
    ck_assert_uint_eq(ct_stats(c).corrupt, 0);
    (void)lz_cache_gc(c, 10000, NULL, NULL);
    uint64_t calls = lz_vfs_calls();
    lz_vfs_set_hook(NULL, NULL);
    lz_cache_close(c);
    return calls;
}

/* After the fault has gone: everything stored is whole, nothing half is left under a name, and all
 * works again. */
static void expect_sound(void)
{
    lz_cache *c = ct_open();
    ck_assert(lz_cache_enabled(c));
    ct_tally t = ct_verify(c);
    ck_assert_int_eq(t.bad, 0);
    for (uint64_t i = 7; i < 10; i++) {
        ck_assert_int_ge(ct_get(c, i), 0);
        ct_put(c, i);
        ck_assert_int_eq(ct_get(c, i), 1);
    }
    ck_assert_uint_eq(ct_stats(c).corrupt + ct_stats(c).write_fail, 0);
    lz_cache_close(c);
}

static int open_fds(void)
{
    int n = 0;
    for (int fd = 3; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static const int errnos[] = {ENOSPC, EIO,   EDQUOT, EACCES, EROFS,  EMFILE, ENOMEM,
                             ESTALE, EINTR, ENOENT, EINVAL, EEXIST, ENOSYS};

START_TEST(c12_every_call_fails)
{
    int err = errnos[_i], fds = open_fds();
    injection none = {.nth = UINT64_MAX, .op = -1};
    uint64_t calls = scenario(&none), step = quick() ? 7 : 1;
    ct_rm(ct_dir);
    ck_assert_uint_lt(calls, sizeof trace);
    uint8_t ops[sizeof trace];
    memcpy(ops, trace, sizeof ops);
    for (uint64_t n = 1 + (uint64_t)_i % step; n <= calls; n += step) {
        if (n > 3 && ops[n] == ops[n - 1] && ops[n] == ops[n - 2] && ops[n] == ops[n - 3])
            continue; /* inside a scan: one of many alike */
        int64_t live = lz_alloc_live_bytes_hint();
        injection in = {.nth = n, .op = -1, .fault = {.err = err}};
        (void)scenario(&in);
        ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
        ck_assert_int_eq(open_fds(), fds);
        expect_sound();
        ct_rm(ct_dir);
    }
}
END_TEST

START_TEST(c12_every_kind_of_call_fails_always)
{
    int fds = open_fds();
    for (size_t e = 0; e < sizeof errnos / sizeof errnos[0]; e++) {
        if (errnos[e] == EINTR)
            continue; /* a call that is always interrupted never ends, and never happens */
        injection in = {.nth = 0, .op = _i, .fault = {.err = errnos[e]}};
        (void)scenario(&in);
        ck_assert_int_eq(open_fds(), fds);
        expect_sound();
        (void)scenario(&in); /* again, with everything already stored */
        ck_assert_int_eq(open_fds(), fds);
        ct_rm(ct_dir);
    }
}
END_TEST

START_TEST(c12_short_transfers)
{
    for (size_t n = 1; n < 5000; n = n * 5 + 1) {
        injection in = {.nth = 0, .op = -1, .fault = {.max_bytes = n}};
        lz_vfs_set_hook(inject, &in);
        lz_cache *c = ct_open();
        for (uint64_t i = 5; i < 9; i++) {
            ct_put(c, i);
            ck_assert_int_eq(ct_get(c, i), 1);
        }
        lz_vfs_set_hook(NULL, NULL);
        ck_assert_uint_eq(ct_stats(c).stored, 4);
        lz_cache_close(c);
        ct_rm(ct_dir);
    }
}
END_TEST

/* A close that reports a lost write, and a write that fails after it wrote: no entry, no temporary
 * file, one warning. */
START_TEST(c12_late_errors)
{
    static const lz_vfs_op ops[] = {LZ_VFS_CLOSE, LZ_VFS_WRITE, LZ_VFS_SYNC};
    lz_cache *first = ct_open(); /* the directory is there */
    ct_put(first, 1);
    lz_cache_close(first);
    for (int k = 0; k < 3; k++) {
        lz_cache *c = ct_open_with((lz_cache_options){.fsync = true});
        injection in = {.nth = 0, .op = (int)ops[k], .fault = {.err = EIO, .after = true}};
        lz_vfs_set_hook(inject, &in);
        ct_warnings = 0;
        ct_put(c, 5);
        ct_put(c, 6);
        lz_vfs_set_hook(NULL, NULL);
        ck_assert_uint_eq(ct_stats(c).stored, 0);
        ck_assert_uint_eq(ct_stats(c).write_fail, 2);
        ck_assert_int_eq(ct_warnings, 1);
        ck_assert_uint_eq(ct_count_entries(NULL), 1);
        ck_assert_int_eq(ct_temps(), 0);
        ct_put(c, 5); /* the disk is well again */
        ck_assert_int_eq(ct_get(c, 5), 1);
        unlink(ct_path(5));
        lz_cache_close(c);
    }
}
END_TEST

/* Runs in a child with its own mounts, so that a mount never outlives the test. Gives false where
 * that is not allowed. */
static bool own_mounts(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

START_TEST(c12_disk_full)
{
    if (!own_mounts() || mount("tmpfs", ct_base, "tmpfs", 0, "size=2m,mode=0700") != 0)
        return; /* needs root */
    lz_cache *c = ct_open();
    for (uint64_t i = 0; i < 400; i++) {
        ct_put(c, 10 * i + 8); /* 20,011 bytes each: four times what there is room for */
        ck_assert_int_ge(ct_get(c, 10 * i + 8), 0);
    }
    lz_cache_stats s = ct_stats(c);
    ck_assert_uint_gt(s.stored, 50);
    ck_assert_uint_eq(s.stored + s.write_fail, 400);
    ck_assert_int_eq(ct_warnings, 1);
    ck_assert_int_eq(ct_verify(c).bad, 0);
    ck_assert_int_eq(ct_temps(), 0);
    ck_assert_int_eq(lz_cache_gc(c, 1 << 20, NULL, NULL), LZ_OK);
    ct_put(c, 9);
    ck_assert_int_eq(ct_get(c, 9), 1);
    lz_cache_close(c);
    umount2(ct_base, MNT_DETACH);
}
END_TEST

START_TEST(c13_read_only_mount)
{
    lz_cache *c = ct_open();
    ct_put(c, 5);
    lz_cache_close(c);
    if (!own_mounts() || mount("tmpfs", ct_base, "tmpfs", 0, "mode=0700") != 0)
        return;
    c = ct_open();
    ct_put(c, 5);
    ct_put(c, 8);
    ct_spill(ct_path(8), "", 0);
    ck_assert_int_eq(mount("tmpfs", ct_base, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL), 0);
    ck_assert_int_eq(ct_get(c, 8), 0); /* cannot be removed */
    ck_assert_uint_eq(ct_stats(c).corrupt, 1);
    lz_vfs_set_clock((int64_t)time(NULL) + 90000); /* a touch would be due */
    ck_assert_int_eq(ct_get(c, 5), 1);
    for (uint64_t i = 10; i < 20; i++)
        ct_put(c, i);
    ck_assert_uint_eq(ct_stats(c).stored, 2);
    ck_assert_uint_eq(ct_stats(c).write_fail, 1); /* it does not go on trying */
    ck_assert_int_eq(ct_warnings, 1);
    lz_cache_close(c);
    umount2(ct_base, MNT_DETACH);
}
END_TEST

START_TEST(c13_directory_without_write_permission)
{
    lz_cache *c = ct_open();
    ct_put(c, 5);
    lz_cache_close(c);
    if (geteuid() ==
        0) { /* permissions do not bind root: be somebody else who owns the directory */
        char cmd[400];
        snprintf(cmd, sizeof cmd, "chown -R 12345 %s", ct_base);
        ck_assert_int_eq(system(cmd), 0);
        ck_assert_int_eq(setuid(12345), 0);
    }
    char path[400];
    snprintf(path, sizeof path, "%s/tmp", ct_dir);
    ck_assert_int_eq(chmod(path, 0500), 0);
    ck_assert_int_eq(chmod(ct_dir, 0500), 0);
    c = ct_open();
    ck_assert_int_eq(ct_get(c, 5), 1);
    for (uint64_t i = 10; i < 20; i++)
        ct_put(c, i);
    ck_assert_uint_eq(ct_stats(c).stored, 0);
    ck_assert_uint_eq(ct_stats(c).write_fail, 1);
    ck_assert_int_eq(ct_warnings, 1);
    lz_cache_close(c);
    chmod(ct_dir, 0700);
    chmod(path, 0700);
}
END_TEST

/* A directory of root that others read, as an administrator would provide. */
START_TEST(c13_system_directory)
{
    if (geteuid() != 0)
        return;
    lz_cache *c = ct_open();
    ct_put(c, 5);
    lz_cache_close(c);
    char cmd[900];
    snprintf(cmd, sizeof cmd, "chmod 0755 %s %s && chmod -R go+rX %s", ct_base, ct_dir, ct_dir);
    ck_assert_int_eq(system(cmd), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (setuid(12345) != 0)
            _exit(9);
        c = ct_open();
        bool ok = lz_cache_enabled(c) && ct_get(c, 5) == 1;
        ct_put(c, 6);
        ok = ok && ct_get(c, 6) == 0 && ct_warnings == 0 && ct_stats(c).write_fail == 0;
        _exit(ok ? 0 : 1);
    }
    ck_assert_int_eq(ct_wait(pid), 0);
}
END_TEST

START_TEST(c14_directory_removed)
{
    lz_cache *c = ct_open();
    ct_put(c, 5);
    ct_rm(ct_dir);
    ck_assert_int_eq(ct_get(c, 5), 0);
    ct_put(c, 5); /* made anew */
    ck_assert_int_eq(ct_get(c, 5), 1);
    ck_assert(ct_exists(ct_path(5)));
    char moved[400];
    snprintf(moved, sizeof moved, "%s/moved", ct_base);
    ck_assert_int_eq(rename(ct_dir, moved),
                     0); /* replaced by another: it stays with the one it opened */
    ck_assert_int_eq(mkdir(ct_dir, 0777), 0);
    ck_assert_int_eq(ct_get(c, 5), 1);
    ct_put(c, 6);
    ck_assert_int_eq(ct_get(c, 6), 1);
    ck_assert_uint_eq(ct_count_entries(NULL), 0);
    ct_rm(moved); /* now gone, and a directory that must not be trusted in its place */
    ck_assert_int_eq(chmod(ct_dir, 0777), 0);
    ck_assert_int_eq(ct_get(c, 5), 0);
    ct_put(c, 5);
    ck_assert_int_eq(ct_get(c, 5), 0);
    ck_assert_uint_eq(ct_count_entries(NULL), 0);
    ck_assert_uint_eq(ct_stats(c).write_fail, 1);
    lz_cache_close(c);
}
END_TEST

static void expect_refused(const char *word)
{
    ct_warnings = 0;
    lz_cache *c = ct_open();
    ck_assert(!lz_cache_enabled(c));
    ck_assert_uint_eq(ct_stats(c).refused_dir, 1);
    ck_assert_int_eq(ct_warnings, 1);
    ck_assert_msg(strstr(ct_last, word) && strstr(ct_last, "/cache"), "unclear: %s", ct_last);
    ct_put(c, 5);
    ck_assert_int_eq(ct_get(c, 5), 0);
    ck_assert_int_eq(lz_cache_clear(c, NULL), LZ_EUNAVAILABLE);
    lz_cache_close(c);
    ck_assert_int_eq(ct_warnings, 1);
}

START_TEST(c15_untrusted_directories)
{
    lz_cache *c = ct_open();
    ct_put(c, 5);
    lz_cache_close(c);
    ck_assert_int_eq(chmod(ct_dir, 0770), 0);
    expect_refused("0770");
    ck_assert_int_eq(chmod(ct_dir, 0707), 0);
    expect_refused("0707");
    ck_assert_int_eq(chmod(ct_dir, 0700), 0);
    ck_assert_int_eq(chmod(ct_base, 0777), 0);
    expect_refused("parent");
    ck_assert_int_eq(chmod(ct_base, 01777), 0);
    c = ct_open(); /* sticky, as /tmp is */
    ck_assert(lz_cache_enabled(c));
    lz_cache_close(c);
    ck_assert_int_eq(chmod(ct_base, 0700), 0);
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(ct_dir, 12345, (gid_t)-1), 0);
        expect_refused("12345");
        ck_assert_int_eq(chown(ct_dir, 0, (gid_t)-1), 0);
        c = ct_open();
        ck_assert_int_eq(chown(ct_path(5), 12345, (gid_t)-1), 0); /* one entry of somebody else */
        expect_damaged_and_healed(c, 5);
        ck_assert_int_eq(chmod(ct_path(5), 0620), 0); /* or open to others */
        expect_damaged_and_healed(c, 5);
        lz_cache_close(c);
    }
}
END_TEST

START_TEST(c16_links)
{
    char real[400];
    snprintf(real, sizeof real, "%s/real", ct_base);
    ck_assert_int_eq(mkdir(real, 0700), 0);
    ck_assert_int_eq(symlink(real, ct_dir), 0);
    expect_refused("symbolic link");
    ck_assert_int_eq(rmdir(real), 0); /* nothing was made in it */
    ck_assert_int_eq(unlink(ct_dir), 0);
    /* the next temporary names, planted as links to a file that must not change */
    char victim[400], temp[500];
    snprintf(victim, sizeof victim, "%s/victim", ct_base);
    ct_spill(victim, "precious", 8);
    lz_cache *c = ct_open();
    ct_put(c, 1);
    for (uint64_t k = 0; k < 3; k++) {
        snprintf(temp, sizeof temp, "%s/tmp/%d-%016llx-%llu", ct_dir, (int)getpid(),
                 (unsigned long long)c->store.salt, (unsigned long long)(c->store.next_temp + k));
        ck_assert_int_eq(symlink(victim, temp), 0);
    }
    ct_put(c, 5);
    ck_assert_int_eq(ct_get(c, 5), 1);
    ck_assert_int_eq(ct_temps(), 3);
    size_t n;
    uint8_t *p = ct_slurp(victim, &n);
    ck_assert(n == 8 && memcmp(p, "precious", 8) == 0);
    free(p);
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
    lz_cache *c = ct_open();
    for (uint64_t i = 0; i < 300; i++)
        ct_put(c, 10 * i + 5);
    char path[400];
    for (int i = 0; i < 2000; i++) {
        snprintf(path, sizeof path, "%s/tmp/orphan-%d", ct_dir, i);
        ct_spill(path, "", 0);
    }
    lz_cache_close(c);
    lz_vfs_set_hook(just_count, calls);
    c = ct_open();
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

/* NFS: the name is taken by another machine and yet cannot be seen. The loser does not wait, loop
 * or complain. */
START_TEST(c23_taken_but_invisible)
{
    lz_cache *c = ct_open();
    ct_put(c, 1);
    injection in = {.nth = 0, .op = LZ_VFS_RENAME, .fault = {.err = EEXIST}};
    lz_vfs_set_hook(inject, &in);
    ct_put(c, 5);
    ck_assert_uint_lt(lz_vfs_calls(), 40);
    lz_vfs_set_hook(NULL, NULL);
    ck_assert_int_eq(ct_get(c, 5), 0);
    ck_assert_uint_eq(ct_stats(c).write_fail, 0);
    ck_assert_int_eq(ct_warnings, 0);
    ck_assert_int_eq(ct_temps(), 0);
    lz_cache_close(c);
}
END_TEST

/* File systems without renames that do not replace, then also without hard links; and kernels
 * without openat2. */
static void old_system(lz_vfs_op op, uint64_t nth, lz_vfs_fault *f, void *user)
{
    int *left = user;
    (void)nth;
    if (op == LZ_VFS_RENAME && left[0] && left[0]-- > 0)
        f->err = EINVAL;
    if (op == LZ_VFS_LINK && left[1])
        f->err = EPERM;
    if (op == LZ_VFS_OPEN && left[2] && left[2]-- > 0)
        f->err = ENOSYS;
}

START_TEST(old_systems)
{
    lz_cache *c = ct_open();
    int left[3] = {1, 0, 0};
    lz_vfs_set_hook(old_system, left);
    ct_put(c, 5);
    left[0] = 1, left[1] = 1;
    ct_put(c, 6);
    left[0] = 1; /* the name exists already */
    ct_put(c, 6);
    left[0] = left[1] = 0;
    left[2] = 1; /* the first open of a lookup: from now on step by step */
    ck_assert_int_eq(ct_get(c, 5), 1);
    ck_assert_int_eq(left[2], 0);
    ck_assert_int_eq(ct_get(c, 6), 1);
    ct_put(c, 7);
    ck_assert_int_eq(ct_get(c, 7), 1);
    ck_assert_int_eq(ct_get(c, 8), 0);
    lz_vfs_set_hook(NULL, NULL);
    ck_assert_uint_eq(ct_stats(c).stored, 3);
    ck_assert_int_eq(ct_temps(), 0);
    char sub[400], away[400];
    snprintf(sub, sizeof sub, "%s", ct_path(7));
    *strrchr(sub, '/') = '\0';
    snprintf(away, sizeof away, "%s/away", ct_base);
    ck_assert_int_eq(rename(sub, away), 0);
    ck_assert_int_eq(symlink(away, sub), 0);
    ck_assert_int_eq(ct_get(c, 7), 0); /* not through a link, also step by step */
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
    tcase_add_loop_test(t, c12_every_call_fails, 0, (int)(sizeof errnos / sizeof errnos[0]));
    tcase_add_loop_test(t, c12_every_kind_of_call_fails_always, 0, LZ_VFS_OP_COUNT);
    tcase_add_test(t, c12_short_transfers);
    tcase_add_test(t, c12_late_errors);
    tcase_add_test(t, c12_disk_full);
    tcase_add_test(t, c13_read_only_mount);
    tcase_add_test(t, c13_directory_without_write_permission);
    tcase_add_test(t, c13_system_directory);
    tcase_add_test(t, c14_directory_removed);
    tcase_add_test(t, c15_untrusted_directories);
    tcase_add_test(t, c16_links);
    tcase_add_test(t, c20_larger_than_the_cap);
    tcase_add_test(t, c22_cost_of_a_start);
    tcase_add_test(t, c23_taken_but_invisible);
    tcase_add_test(t, old_systems);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
