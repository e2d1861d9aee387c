/* t_evict.c - the soft cap: what goes, what stays, how often anybody looks, and what clocks can do
 * to it. */
#include "cache/evict.h"
#include "base/vec.h"
#include "cachetest.h"
#include <time.h>

static void set_mtime(const char *path, int64_t t)
{
    struct timespec ts[2] = {{.tv_sec = t}, {.tv_sec = t}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, ts, 0), 0);
}

static int64_t mtime_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (int64_t)st.st_mtime : -1;
}

/* Values of n bytes of noise under the keys from..to. */
static void put_noise(lz_cache *c, uint64_t from, uint64_t to, size_t n)
{
    uint8_t *v = malloc(n);
    for (uint64_t i = from; i < to; i++) {
        char key[64];
        size_t nkey = ct_key(i, key);
        ct_fill(v, n, 2 * i);
        lz_cache_put(c, LZ_CACHE_KERNEL, key, nkey, "", v, n);
    }
    free(v);
}

START_TEST(stays_below_the_cap)
{
    uint64_t cap = 1 << 20, bytes = 0, most = 0;
    lz_cache *c = ct_open_with((lz_cache_options){.max_bytes = cap});
    for (uint64_t i = 0; i < 300; i++) {
        put_noise(c, i, i + 1, 3000 + i * 37 % 30000);
        (void)ct_count_entries(&bytes);
        most = bytes > most ? bytes : most;
    }
    ck_assert_uint_le(most, cap + cap / LZ_EVICT_PART + 40000);
    ck_assert_uint_ge(bytes, cap * 8 / 10); /* and does not throw away more than it must */
    lz_cache_stats s = ct_stats(c);
    ck_assert_uint_gt(s.evicted, 100);
    ck_assert_uint_eq(s.stored - s.evicted, ct_count_entries(NULL));
    lz_cache_close(c);
}
END_TEST

START_TEST(the_oldest_go_first)
{
    uint64_t n = 100;
    int64_t now = (int64_t)time(NULL);
    lz_cache *c = ct_open();
    put_noise(c, 0, n, 5000);
    for (uint64_t i = 0; i < n; i++) /* ages in an order that has nothing to do with names */
        set_mtime(ct_path(i), now - 100 - (int64_t)(i * 37 % n));
    lz_store s;
    ck_assert_int_eq(lz_store_open(&s, ct_dir, false, false), LZ_OK);
    lz_evict_result r;
    uint64_t total;
    (void)ct_count_entries(&total);
    ck_assert_int_eq(lz_evict_run(&s, total, 0, 7, false, &r), LZ_OK);
    ck_assert_uint_eq(r.files, 0); /* not over the cap */
    ck_assert_int_eq(lz_evict_run(&s, total - 1, total * 6 / 10, 7, false, &r), LZ_OK);
    ck_assert_uint_eq(r.files, 40);
    for (uint64_t i = 0; i < n; i++)
        ck_assert_int_eq(ct_exists(ct_path(i)), (int64_t)(i * 37 % n) < 60);
    lz_store_close(&s);
    lz_cache_close(c);
}
END_TEST

START_TEST(future_times)
{
    int64_t now = (int64_t)time(NULL);
    lz_cache *c = ct_open();
    put_noise(c, 0, 30, 5000);
    uint64_t total;
    (void)ct_count_entries(&total);
    for (uint64_t i = 0; i < 10; i++)
        set_mtime(ct_path(i), now + 315360000); /* 10 years ahead */
    for (uint64_t i = 10; i < 20; i++)
        set_mtime(ct_path(i), now - 315360000);
    lz_store s;
    ck_assert_int_eq(lz_store_open(&s, ct_dir, false, false), LZ_OK);
    lz_evict_result r;
    ck_assert_int_eq(lz_evict_run(&s, total - 1, total * 2 / 3, 0, false, &r), LZ_OK);
    ck_assert_uint_eq(r.files, 10);
    for (uint64_t i = 0; i < 30; i++)
        ck_assert_int_eq(ct_exists(ct_path(i)), i < 10 || i >= 20);
    for (uint64_t i = 0; i < 10;
         i++) /* brought back to now, so that they grow old like the others */
        ck_assert_int_le(mtime_of(ct_path(i)), (int64_t)time(NULL));
    lz_store_close(&s);
    lz_cache_close(c);
}
END_TEST

/* The clock 10 years back or forward: nothing is emptied, only down to 90 % when over the cap. */
START_TEST(clock_jumps)
{
    uint64_t cap = 400000, bytes;
    int64_t now = (int64_t)time(NULL);
    static const int64_t jumps[] = {-315360000, 315360000, -315360000, 0};
    lz_cache *c = ct_open_with((lz_cache_options){.max_bytes = cap});
    uint64_t k = 0;
    for (int j = 0; j < 4; j++) {
        lz_vfs_set_clock(now + jumps[j]);
        for (int i = 0; i < 60; i++, k++) {
            put_noise(c, k, k + 1, 9000);
            (void)ct_count_entries(&bytes);
            ck_assert_uint_le(bytes, cap + cap / LZ_EVICT_PART + 20000);
            if (k > 60)
                ck_assert_uint_ge(bytes, cap * 8 / 10);
        }
    }
    lz_cache_close(c);
}
END_TEST

/* A large directory is looked at by samples: far fewer calls than files, and in the end the size is
 * right. */
START_TEST(sampling)
{
    enum { FILES = 12000, BYTES = 100 };
    lz_cache *c = ct_open();
    ct_put(c, 0); /* makes the directory's parts */
    lz_store s;
    ck_assert_int_eq(lz_store_open(&s, ct_dir, false, false), LZ_OK);
    uint64_t rng = 1;
    uint8_t junk[BYTES] = {0};
    for (int i = 0; i < FILES; i++) {
        char name[LZ_STORE_NAME_LEN], path[400];
        lz_store_name((lz_hash){ct_rand(&rng), ct_rand(&rng)}, LZ_CACHE_KERNEL, 0, name);
        snprintf(path, sizeof path, "%s/%.2s", ct_dir, name);
        (void)mkdir(path, 0700);
        snprintf(path, sizeof path, "%s/%s", ct_dir, name);
        ct_spill(path, junk, sizeof junk);
    }
    uint64_t files, bytes;
    lz_evict_result r;
    ck_assert_int_eq(lz_evict_run(&s, FILES * BYTES * 2, FILES * BYTES, 200, false, &r), LZ_OK);
    ck_assert_uint_eq(r.files, 0);
    ck_assert_uint_ge(r.kept_bytes, FILES * BYTES * 9 / 10); /* the estimate */
    ck_assert_uint_le(r.kept_bytes, FILES * BYTES * 11 / 10);
    ck_assert_int_eq(
        lz_evict_run(&s, FILES * BYTES * 8 / 10, FILES * BYTES * 7 / 10, 200, false, &r), LZ_OK);
    files = ct_count_entries(&bytes);
    ck_assert_uint_ge(bytes, FILES * BYTES * 65 / 100);
    ck_assert_uint_le(bytes, FILES * BYTES * 75 / 100);
    ck_assert_uint_ge(files + r.files, FILES);
    ck_assert_int_eq(lz_evict_run(&s, 1000, 1000, 0, true, &r), LZ_OK);
    (void)ct_count_entries(&bytes);
    ck_assert_uint_le(bytes, 1000);
    lz_store_close(&s);
    lz_cache_close(c);
}
END_TEST

START_TEST(leftovers)
{
    lz_cache *c = ct_open();
    ct_put(c, 1);
    int64_t now = (int64_t)time(NULL);
    char path[400];
    for (int i = 0; i < 100; i++) {
        snprintf(path, sizeof path, "%s/tmp/%d-0123456789abcdef-%d", ct_dir, i, i);
        ct_spill(path, "part", 4);
        set_mtime(path, i < 80 ? now - 3700 : i < 90 ? now - 3000 : now + 100000);
    }
    lz_cache_close(c);
    c = ct_open(); /* the first store of a process sweeps a part, the next process another */
    ct_put(c, 2);
    ck_assert_int_eq(ct_temps(), 100 - 64);
    ct_put(c, 3);
    ck_assert_int_eq(ct_temps(), 100 - 64);
    lz_cache_close(c);
    c = ct_open();
    ct_put(c, 4);
    ck_assert_int_eq(ct_temps(), 20);
    lz_vfs_set_clock(now + 3700); /* an hour later; those from the future are an hour old now */
    ck_assert_int_eq(lz_cache_gc(c, 0, NULL, NULL), LZ_OK);
    ck_assert_int_eq(ct_temps(), 0);
    lz_cache_close(c);
}
END_TEST

static int hold_lock(int64_t since)
{
    char lock[400];
    snprintf(lock, sizeof lock, "%s/lock", ct_dir);
    int fd = open(lock, O_RDWR | O_CREAT, 0600);
    ck_assert_int_eq(lz_vfs_trylock(fd), 0);
    set_mtime(lock, since);
    return fd;
}

/* Somebody else evicts: we do not wait and do not evict, but for a few looks only. */
START_TEST(lock_is_never_waited_for)
{
    enum { VALUE = 5000, CAP = 400000 }; /* a look every other entry */
    lz_cache *c = ct_open_with((lz_cache_options){.max_bytes = CAP});
    put_noise(c, 0, 1, VALUE);
    int fd = hold_lock((int64_t)time(NULL));
    uint64_t bytes, k = 1;
    for (; k < 75; k++) /* not full yet: no matter who looks */
        put_noise(c, k, k + 1, VALUE);
    ck_assert_uint_eq(ct_count_entries(NULL), 75);
    for (; k < 300; k++) {
        put_noise(c, k, k + 1, VALUE);
        (void)ct_count_entries(&bytes);
        ck_assert_uint_le(bytes, CAP + (LZ_EVICT_PATIENCE + 1) * (CAP / LZ_EVICT_PART + 2 * VALUE));
    }
    close(fd);
    for (; k < 310; k++)
        put_noise(c, k, k + 1, VALUE);
    (void)ct_count_entries(&bytes);
    ck_assert_uint_le(bytes, CAP + CAP / LZ_EVICT_PART + 2 * VALUE);
    lz_cache_close(c);
}
END_TEST

/* Many short processes, none of which lives as long as the patience of one, and a lock that is held
 * since an hour, or by a clock that was ahead. */
START_TEST(stale_lock)
{
    enum { VALUE = 5000, CAP = 100000 };
    int64_t now = (int64_t)time(NULL);
    lz_cache *c = ct_open_with((lz_cache_options){.max_bytes = CAP});
    put_noise(c, 0, 1, VALUE);
    int fd = hold_lock(_i ? now + 10000 : now - 3600);
    for (uint64_t k = 1; k < 100; k++) {
        lz_cache *shortly = ct_open_with((lz_cache_options){.max_bytes = CAP});
        put_noise(shortly, k, k + 1, VALUE);
        lz_cache_close(shortly);
    }
    uint64_t bytes;
    (void)ct_count_entries(&bytes);
    ck_assert_uint_le(bytes, CAP + CAP / LZ_EVICT_PART + 2 * VALUE);
    close(fd);
    lz_cache_close(c);
}
END_TEST

/* ---- a directory that others use ---- */

typedef struct foreign {
    const char *name; /* below the directory */
    const char *text; /* NULL: a folder */
    bool ours;        /* goes when it is old */
} foreign;

#define HEX30 "0123456789abcdef0123456789abcd"
#define SALT "0123456789abcdef"
static const foreign others[] = {
    {"letter.txt", "precious", false},
    {"5f", NULL, false},
    {"5f/letter.txt", "precious", false},
    {"5f/" HEX30 ".p", "precious, under the name of an entry", false},
    {"5f/" HEX30 ".k1", "p", false},
    {"5f/" HEX30 ".c", NULL, false},
    {"5f/" HEX30 ".k3", NULL, false},
    {"5f/" HEX30 ".k3/deep", NULL, false},
    {"5f/" HEX30 ".k3/deep/letter.txt", "precious", false},
    {"5f/" HEX30 ".k4", "\x89LZC\r\n\x1a\n", false},
    {"5f/" HEX30 "0.k", "\x89LZC\r\n\x1a\n", false},
    {"5f/" HEX30 ".kx", "\x89LZC\r\n\x1a\n", false},
    {"5f/0123456789ABCDEF0123456789abcd.k", "\x89LZC\r\n\x1a\n", false},
    {"5f/" HEX30 ".k", "\x89LZC\r\n\x1a\n, cut short", true},
    {"5f/" HEX30 ".k2", "", true},
    {"5F", NULL, false},
    {"5F/" HEX30 ".k", "\x89LZC\r\n\x1a\n", false},
    {"60", "a file in the place of a folder", false},
    {"61", NULL, false},
    {"tmp", NULL, false},
    {"tmp/thesis.tex", "precious", false},
    {"tmp/empty", NULL, false},
    {"tmp/1-2-3.csv", "precious", false},
    {"tmp/4711-" SALT, "precious", false},
    {"tmp/4711-" SALT "-", "precious", false},
    {"tmp/-" SALT "-1", "precious", false},
    {"tmp/4711-" SALT "0-1", "precious", false},
    {"tmp/4711-" SALT "-1.bak", "precious", false},
    {"tmp/4711-" SALT "-7", NULL, false},
    {"tmp/4711-" SALT "-7/letter.txt", "precious", false},
    {"tmp/4711-" SALT "-8", NULL, false},
    {"tmp/4711-" SALT "-0", "part of an entry", true},
};
enum { NOTHERS = sizeof others / sizeof others[0] };

static const char *below(const char *name)
{
    static char path[500];
    snprintf(path, sizeof path, "%s/%s", ct_dir, name);
    return path;
}

static void plant_others(void)
{
    int64_t old = (int64_t)time(NULL) - 7200;
    char outside[400];
    ck_assert_int_eq(mkdir(ct_dir, 0700), 0);
    for (int i = 0; i < NOTHERS; i++)
        if (others[i].text)
            ct_spill(below(others[i].name), others[i].text, strlen(others[i].text));
        else
            ck_assert_int_eq(mkdir(below(others[i].name), 0700), 0);
    snprintf(outside, sizeof outside, "%s/outside", ct_base);
    ct_spill(outside, "precious", 8);
    ck_assert_int_eq(symlink(outside, below("5f/" HEX30 ".p1")), 0);
    ck_assert_int_eq(symlink(outside, below("tmp/4711-" SALT "-9")), 0);
    ck_assert_int_eq(symlink(ct_base, below("62")), 0);
    ck_assert_int_eq(link(outside, below("5f/" HEX30 ".p2")), 0);
    ck_assert_int_eq(mkfifo(below("5f/" HEX30 ".p3"), 0600), 0);
    for (int i = NOTHERS; i-- > 0;)
        set_mtime(below(others[i].name), old);
}

static void others_are_there(bool ours_too)
{
    struct stat st;
    for (int i = 0; i < NOTHERS; i++) {
        bool there = lstat(below(others[i].name), &st) == 0;
        if (!others[i].ours || ours_too)
            ck_assert_msg(there, "%s is gone", others[i].name);
        if (!there || !others[i].text)
            continue;
        size_t n;
        uint8_t *p = ct_slurp(below(others[i].name), &n);
        ck_assert_msg(n == strlen(others[i].text) && memcmp(p, others[i].text, n) == 0,
                      "%s was changed", others[i].name);
        free(p);
    }
    ck_assert(lstat(below("5f/" HEX30 ".p1"), &st) == 0 && S_ISLNK(st.st_mode));
    ck_assert(lstat(below("tmp/4711-" SALT "-9"), &st) == 0 && S_ISLNK(st.st_mode));
    ck_assert(lstat(below("62"), &st) == 0 && S_ISLNK(st.st_mode));
    ck_assert(lstat(below("5f/" HEX30 ".p2"), &st) == 0 && st.st_nlink == 2);
    ck_assert(lstat(below("5f/" HEX30 ".p3"), &st) == 0 && S_ISFIFO(st.st_mode));
    ck_assert(!ct_exists(below("CACHEDIR.TAG"))); /* or backups would leave out all of it */
}

/* The cache's folder is one that its user keeps other things in: they stay as they are, whoever
 * evicts, and what is an entry's or a temporary file goes. */
START_TEST(others_stay)
{
    enum { CAP = 300000 };
    plant_others();
    lz_cache *c = ct_open_with((lz_cache_options){.max_bytes = CAP});
    put_noise(c, 0, 200, 5000);
    others_are_there(false);
    ck_assert(!ct_exists(below("tmp/4711-" SALT "-0"))); /* swept by the first store */
    uint64_t bytes;
    (void)ct_count_entries(&bytes);
    ck_assert_uint_le(bytes, CAP + CAP / LZ_EVICT_PART + 10000);
    ck_assert_int_eq(lz_cache_gc(c, 1, NULL, NULL), LZ_OK);
    others_are_there(false);
    ck_assert(!ct_exists(below("5f/" HEX30 ".k")) && !ct_exists(below("5f/" HEX30 ".k2")));
    put_noise(c, 0, 20, 5000);
    ck_assert_int_eq(lz_cache_clear(c, NULL), LZ_OK);
    others_are_there(false);
    lz_cache_close(c);
}
END_TEST

/* A time in the future is corrected of entries only. */
START_TEST(times_of_others_stay)
{
    int64_t ahead = (int64_t)time(NULL) + 100000;
    plant_others();
    for (int i = NOTHERS; i-- > 0;)
        set_mtime(below(others[i].name), ahead);
    lz_cache *c = ct_open();
    ck_assert_int_eq(lz_cache_gc(c, 0, NULL, NULL), LZ_OK);
    for (int i = 0; i < NOTHERS; i++)
        ck_assert_msg((mtime_of(below(others[i].name)) == ahead) == !others[i].ours, "%s",
                      others[i].name);
    others_are_there(true);
    lz_cache_close(c);
}
END_TEST

/* CACHEDIR.TAG: in a directory that the cache made, and in one that has nothing else in it. */
START_TEST(tag)
{
    static const char *const foreign_names[] = {"letter.txt", "5f/letter.txt", "tmp/letter.txt",
                                                ".hidden", "60"};
    lz_cache *c = ct_open();
    ck_assert(ct_exists(below("CACHEDIR.TAG")));
    ct_put(c, 5);
    lz_cache_close(c);
    ck_assert_int_eq(unlink(below("CACHEDIR.TAG")), 0);
    c = ct_open();
    ct_put(c, 6);
    ck_assert(ct_exists(below("CACHEDIR.TAG")));
    lz_cache_close(c);
    for (int i = 0; i < 5; i++) {
        ct_rm(ct_dir);
        ck_assert_int_eq(mkdir(ct_dir, 0700), 0);
        ck_assert_int_eq(mkdir(below("5f"), 0700), 0);
        ck_assert_int_eq(mkdir(below("tmp"), 0700), 0);
        if (i)
            ct_spill(below(foreign_names[i]), "precious", 8);
        else
            ck_assert_int_eq(symlink(ct_base, below(foreign_names[i])), 0);
        c = ct_open();
        ct_put(c, 5);
        ck_assert(!ct_exists(below("CACHEDIR.TAG")));
        ck_assert_int_eq(unlink(below(foreign_names[i])), 0);
        lz_cache_close(c);
        c = ct_open();
        ct_put(c, 6);
        ck_assert(ct_exists(below("CACHEDIR.TAG")));
        lz_cache_close(c);
    }
}
END_TEST

/* Every program that caches writes a CACHEDIR.TAG: only in a directory with this cache's own are
 * the empty folders its own, too. */
START_TEST(tags_of_others)
{
    size_t n;
    lz_cache_close(ct_open());
    uint8_t *own = ct_slurp(below("CACHEDIR.TAG"), &n);
    char longer[1024];
    memcpy(longer, own, n);
    longer[n] = '\n';
    static const char signature[] = "Signature: 8a477f597d28d172789f06886806bc55\n";
    const struct {
        const void *text;
        size_t n;
        bool ours;
    } tags[] = {{own, n, true},
                {signature, sizeof signature - 1, false},
                {own, n - 1, false},
                {longer, n + 1, false},
                {"", 0, false}};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        ct_rm(ct_dir);
        ck_assert_int_eq(mkdir(ct_dir, 0700), 0);
        ck_assert_int_eq(mkdir(below("5f"), 0700), 0);
        ct_spill(below("CACHEDIR.TAG"), tags[i].text, tags[i].n);
        lz_cache *c = ct_open();
        ck_assert_int_eq(lz_cache_clear(c, NULL), LZ_OK);
        lz_cache_close(c);
        ck_assert_msg(ct_exists(below("5f")) == !tags[i].ours, "tag %zu", i);
    }
    free(own);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("evict");
    TCase *t = tcase_create("evict");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, ct_setup, ct_teardown);
    tcase_add_test(t, stays_below_the_cap);
    tcase_add_test(t, the_oldest_go_first);
    tcase_add_test(t, future_times);
    tcase_add_test(t, clock_jumps);
    tcase_add_test(t, sampling);
    tcase_add_test(t, leftovers);
    tcase_add_test(t, lock_is_never_waited_for);
    tcase_add_loop_test(t, stale_lock, 0, 2);
    tcase_add_test(t, others_stay);
    tcase_add_test(t, times_of_others_stay);
    tcase_add_test(t, tag);
    tcase_add_test(t, tags_of_others);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
