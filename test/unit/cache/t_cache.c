/* t_cache.c - the cache as its callers see it. */
#include "cache/cache.h"
#include "cachetest.h"
#include <pthread.h>
#include <time.h>

START_TEST(put_then_get)
{
    lz_cache *c = ct_open();
    ck_assert(lz_cache_enabled(c));
    ck_assert_str_eq(lz_cache_path(c), ct_dir);
    for (uint64_t i = 0; i < 20; i++) {
        ck_assert_int_eq(ct_get(c, i), 0);
        ct_put(c, i);
        ck_assert_int_eq(ct_get(c, i), 1);
    }
    lz_cache_stats s = ct_stats(c);
    ck_assert_uint_eq(s.stored, 20);
    ck_assert_uint_eq(s.hits[LZ_CACHE_KERNEL], 20);
    ck_assert_uint_eq(s.misses[LZ_CACHE_KERNEL], 20);
    ck_assert_uint_eq(s.hits[LZ_CACHE_PROGRAM] + s.misses[LZ_CACHE_PROGRAM], 0);
    ck_assert_uint_eq(
        s.corrupt + s.foreign + s.write_fail + s.collisions + s.too_large + s.refused_dir, 0);
    lz_cache_close(c);
    c = ct_open(); /* another process, in effect */
    for (uint64_t i = 0; i < 20; i++)
        ck_assert_int_eq(ct_get(c, i), 1);
    lz_cache_close(c);
    ck_assert_int_eq(ct_warnings, 0);
    ck_assert_int_eq(ct_temps(), 0);
}
END_TEST

START_TEST(kinds_do_not_mix)
{
    lz_cache *c = ct_open();
    void *v;
    size_t n;
    lz_cache_put(c, LZ_CACHE_PROGRAM, "k", 1, "", "program", 7);
    ck_assert(!lz_cache_get(c, LZ_CACHE_KERNEL, "k", 1, &v, &n));
    lz_cache_put(c, LZ_CACHE_KERNEL, "k", 1, "", "kernel", 6);
    ck_assert(lz_cache_get(c, LZ_CACHE_PROGRAM, "k", 1, &v, &n) && n == 7 &&
              memcmp(v, "program", 7) == 0);
    lz_free(v);
    ck_assert(lz_cache_get(c, LZ_CACHE_KERNEL, "k", 1, &v, &n) && n == 6 &&
              memcmp(v, "kernel", 6) == 0);
    lz_free(v);
    ck_assert(!lz_cache_get(c, LZ_CACHE_CHOICE, "k", 1, &v, &n));
    lz_cache_put(c, LZ_CACHE_CHOICE, "k", 1, "", "choice", 6);
    ck_assert(lz_cache_get(c, LZ_CACHE_CHOICE, "k", 1, &v, &n) && n == 6 &&
              memcmp(v, "choice", 6) == 0);
    lz_free(v);
    ck_assert(!lz_cache_get(c, (lz_cache_kind)0, "k", 1, &v, &n));
    ck_assert(!lz_cache_get(c, LZ_CACHE_KINDS, "k", 1, &v, &n));
    lz_cache_put(c, (lz_cache_kind)7, "k", 1, "", "x", 1);
    lz_cache_close(c);
}
END_TEST

START_TEST(strange_arguments)
{
    void *v = &v;
    size_t n = 5;
    lz_cache_close(NULL);
    ck_assert(!lz_cache_enabled(NULL));
    ck_assert_str_eq(lz_cache_path(NULL), "");
    ck_assert(!lz_cache_get(NULL, LZ_CACHE_KERNEL, "k", 1, &v, &n) && v == NULL && n == 0);
    lz_cache_put(NULL, LZ_CACHE_KERNEL, "k", 1, "", "v", 1);
    lz_cache_stats s;
    lz_cache_get_stats(NULL, &s);
    lz_cache_get_stats(NULL, NULL);
    ck_assert_uint_eq(s.stored, 0);
    ck_assert_int_eq(lz_cache_open(NULL, NULL), LZ_ENULL);
    ck_assert_int_eq(lz_cache_walk(NULL, true, ct_tally_visit, NULL), LZ_ENULL);
    ck_assert_int_eq(lz_cache_gc(NULL, 0, NULL, NULL), LZ_ENULL);
    ck_assert_int_eq(lz_cache_clear(NULL, NULL), LZ_ENULL);
    lz_cache *c = ct_open();
    ck_assert(!lz_cache_get(c, LZ_CACHE_KERNEL, NULL, 1, &v, &n));
    ck_assert(!lz_cache_get(c, LZ_CACHE_KERNEL, "k", 1, NULL, NULL));
    lz_cache_put(c, LZ_CACHE_KERNEL, NULL, 1, "", "v", 1);
    lz_cache_put(c, LZ_CACHE_KERNEL, "k", 1, "", NULL, 1);
    ck_assert_uint_eq(ct_stats(c).stored, 0);
    lz_cache_put(c, LZ_CACHE_KERNEL, NULL, 0, NULL, NULL,
                 0); /* the empty key has the empty value */
    ck_assert(lz_cache_get(c, LZ_CACHE_KERNEL, NULL, 0, &v, &n) && v != NULL && n == 0);
    lz_free(v);
    lz_cache_close(c);
}
END_TEST

START_TEST(second_store_keeps_the_first)
{
    lz_cache *c = ct_open();
    void *v;
    size_t n;
    lz_cache_put(c, LZ_CACHE_KERNEL, "k", 1, "", "first", 5);
    lz_cache_put(c, LZ_CACHE_KERNEL, "k", 1, "", "second", 6);
    ck_assert(lz_cache_get(c, LZ_CACHE_KERNEL, "k", 1, &v, &n) && n == 5);
    lz_free(v);
    ck_assert_uint_eq(ct_stats(c).stored, 1);
    ck_assert_uint_eq(ct_count_entries(NULL), 1);
    lz_cache_close(c);
}
END_TEST

START_TEST(dropping_what_does_not_load)
{
    lz_cache *c = ct_open();
    char key[64];
    size_t nkey = ct_key(5, key);
    lz_cache_drop(c, LZ_CACHE_KERNEL, key, nkey); /* nothing there */
    ck_assert_uint_eq(ct_stats(c).corrupt, 0);
    ct_put(c, 5);
    ct_put(c, 6);
    lz_cache_drop(c, LZ_CACHE_PROGRAM, key, nkey);
    ck_assert_int_eq(ct_get(c, 5), 1);
    lz_cache_drop(c, LZ_CACHE_KERNEL, key, nkey);
    ck_assert_uint_eq(ct_stats(c).corrupt, 1);
    ck_assert_int_eq(ct_get(c, 5), 0);
    ck_assert_int_eq(ct_get(c, 6), 1);
    ct_put(c, 5);
    ck_assert_int_eq(ct_get(c, 5), 1);
    lz_cache_drop(NULL, LZ_CACHE_KERNEL, key, nkey);
    lz_cache_drop(c, (lz_cache_kind)9, key, nkey);
    lz_cache_drop(c, LZ_CACHE_KERNEL, NULL, 1);
    lz_cache_close(c);
}
END_TEST

START_TEST(builds_live_side_by_side)
{
    lz_cache *a = ct_open_with((lz_cache_options){.build_id = "build-1"});
    lz_cache *b = ct_open_with((lz_cache_options){.build_id = "build-2"});
    ct_put(a, 4);
    ck_assert_int_eq(ct_get(b, 4), 0);
    ct_put(b, 4);
    ck_assert_int_eq(ct_get(a, 4), 1);
    ck_assert_int_eq(ct_get(b, 4), 1);
    ck_assert_uint_eq(ct_count_entries(NULL), 2);
    ct_tally t = ct_verify(a);
    ck_assert_int_eq(t.entries, 2);
    ck_assert_int_eq(t.ok, 2);
    ck_assert_int_eq(t.foreign, 1);
    lz_cache_close(a);
    lz_cache_close(b);
}
END_TEST

/* Names are a function of the documented things and of nothing else: this one may change only with
 * the schema. */
START_TEST(names_are_stable)
{
    char name[LZ_STORE_NAME_LEN];
    ct_name("build-1", LZ_CACHE_KERNEL, "key 1", 5, 0, name);
    ck_assert_str_eq(name, "fa/4550b40de7be7abbbf5a694b1f111e.k");
    ct_name("build-1", LZ_CACHE_PROGRAM, "key 1", 5, 2, name);
    ck_assert_uint_eq(strlen(name), 36);
    ck_assert_str_eq(name + 33, ".p2");
    ck_assert(lz_store_is_entry(name + 3));
    ck_assert(!lz_store_is_entry(name));
    ck_assert(!lz_store_is_entry("0123456789abcdef0123456789abcd.x"));
    ck_assert(!lz_store_is_entry("0123456789abcdef0123456789abcd.k4"));
    ck_assert(!lz_store_is_entry("0123456789abcdef0123456789abcd.k1x"));
    ck_assert(!lz_store_is_entry("0123456789ABCDEF0123456789abcd.k"));
    ck_assert(!lz_store_is_entry(""));
    ck_assert(!lz_store_is_entry("0123456789abcdef0123456789abcd0.k"));
}
END_TEST

static bool only_old(const char *isa, void *user)
{
    (*(int *)user)++;
    return strstr(isa, "avx512") == NULL;
}

START_TEST(isa_by_callback)
{
    int asked = 0;
    lz_cache *big = ct_open_with((lz_cache_options){.isa = "avx2,avx512f"});
    lz_cache *small = ct_open_with((lz_cache_options){.isa_ok = only_old, .user = &asked});
    void *v;
    size_t n;
    lz_cache_put(big, LZ_CACHE_KERNEL, "k", 1, "avx2,avx512f", "wide", 4);
    ck_assert(!lz_cache_get(small, LZ_CACHE_KERNEL, "k", 1, &v, &n));
    ck_assert_int_eq(asked, 1);
    ck_assert_uint_eq(ct_stats(small).isa_refused, 1);
    /* the small machine's own code gets its own file, and both find theirs */
    lz_cache_put(small, LZ_CACHE_KERNEL, "k", 1, "avx2|prefer-no-gather", "narrow", 6);
    ck_assert(lz_cache_get(small, LZ_CACHE_KERNEL, "k", 1, &v, &n) && n == 6);
    lz_free(v);
    ck_assert(lz_cache_get(big, LZ_CACHE_KERNEL, "k", 1, &v, &n) && n == 4);
    lz_free(v);
    ck_assert_uint_eq(ct_count_entries(NULL), 2);
    asked = 0;
    lz_cache_put(small, LZ_CACHE_KERNEL, "any", 3, "", "x", 1);
    ck_assert(lz_cache_get(small, LZ_CACHE_KERNEL, "any", 3, &v, &n));
    lz_free(v);
    ck_assert_int_eq(asked, 0); /* nothing needed, nothing asked */
    lz_cache_close(big);
    lz_cache_close(small);
}
END_TEST

START_TEST(isa_by_default)
{
    static const struct {
        const char *mine, *entry;
        bool hit;
    } rows[] = {{"avx2,fma", "avx2,fma", true},
                {"avx2,fma|prefer-no-gather", "avx2,fma", true},
                {"avx2,fma", "avx2,fma|prefer-no-gather", true},
                {"avx2,fma|a", "avx2,fma|b", true},
                {"avx2", "avx2,fma", false},
                {"avx2,fma", "avx2", false},
                {NULL, "avx2", false},
                {NULL, "", true},
                {"avx2", "", true},
                {"avx2", "|x", false},
                {NULL, "|x", true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lz_cache *c = ct_open_with((lz_cache_options){.isa = rows[i].mine});
        void *v;
        size_t n;
        lz_cache_put(c, LZ_CACHE_KERNEL, &i, sizeof i, rows[i].entry, "code", 4);
        ck_assert_int_eq(lz_cache_get(c, LZ_CACHE_KERNEL, &i, sizeof i, &v, &n), rows[i].hit);
        lz_free(v);
        lz_cache_close(c);
    }
}
END_TEST

START_TEST(read_only_cache)
{
    lz_cache *r = ct_open_with((lz_cache_options){.read_only = true});
    ck_assert(!lz_cache_enabled(r)); /* does not even make the directory */
    ck_assert(!ct_exists(ct_dir));
    lz_cache_close(r);
    lz_cache *w = ct_open();
    ct_put(w, 5);
    r = ct_open_with((lz_cache_options){.read_only = true});
    ck_assert_int_eq(ct_get(r, 5), 1);
    ct_put(r, 6);
    ck_assert_int_eq(ct_get(w, 6), 0);
    ck_assert_int_eq(lz_cache_gc(r, 1, NULL, NULL), LZ_EPERM);
    ck_assert_int_eq(lz_cache_clear(r, NULL), LZ_EPERM);
    lz_cache_stats s = ct_stats(r);
    ck_assert_uint_eq(s.stored + s.write_fail, 0);
    ct_spill(ct_path(5), LZ_ENTRY_MAGIC, 7); /* a reader counts damage and leaves it */
    ck_assert_int_eq(ct_get(r, 5), 0);
    ck_assert_uint_eq(ct_stats(r).corrupt, 1);
    ck_assert(ct_exists(ct_path(5)));
    lz_cache_close(r);
    lz_cache_close(w);
    ck_assert_int_eq(ct_warnings, 0);
}
END_TEST

static int64_t mtime_of(const char *path)
{
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    return (int64_t)st.st_mtime;
}

static void set_mtime(const char *path, int64_t t)
{
    struct timespec ts[2] = {{.tv_sec = t}, {.tv_sec = t}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, ts, 0), 0);
}

START_TEST(use_is_noted_hourly)
{
    lz_cache *c = ct_open();
    ct_put(c, 1);
    int64_t now = (int64_t)time(NULL);
    set_mtime(ct_path(1), now - 600);
    ck_assert_int_eq(ct_get(c, 1), 1);
    ck_assert_int_eq(mtime_of(ct_path(1)), now - 600);
    set_mtime(ct_path(1), now - 7200);
    ck_assert_int_eq(ct_get(c, 1), 1);
    ck_assert_int_ge(mtime_of(ct_path(1)), now);
    set_mtime(ct_path(1), now + 100000);
    ck_assert_int_eq(ct_get(c, 1), 1);
    ck_assert_int_le(mtime_of(ct_path(1)), now + 60);
    set_mtime(ct_path(1), now - 7200);
    lz_cache *r = ct_open_with((lz_cache_options){.read_only = true});
    ck_assert_int_eq(ct_get(r, 1), 1);
    ck_assert_int_eq(mtime_of(ct_path(1)), now - 7200);
    lz_cache_close(r);
    lz_cache_close(c);
}
END_TEST

static lz_cache_entry_info seen[8];
static int nseen;
static bool keep_visit(const lz_cache_entry_info *e, void *user)
{
    (void)user;
    if (nseen < 8)
        seen[nseen] = *e;
    return ++nseen < 3;
}

START_TEST(walking)
{
    lz_cache *c = ct_open();
    int64_t now = (int64_t)time(NULL);
    char key[64];
    ct_put(c, 7);
    nseen = 0;
    for (int deep = 0; deep < 2; deep++) {
        nseen = 0;
        ck_assert_int_eq(lz_cache_walk(c, deep, keep_visit, NULL), LZ_OK);
        ck_assert_int_eq(nseen, 1);
        ck_assert(seen[0].ok && !seen[0].foreign && seen[0].why[0] == '\0');
        ck_assert_int_eq(seen[0].kind, LZ_CACHE_KERNEL);
        ck_assert_uint_eq(seen[0].value_bytes, ct_value_size(7));
        ck_assert_uint_eq(seen[0].key_bytes, ct_key(7, key));
        ck_assert_int_ge(seen[0].created_unix_s, now - 1);
        ck_assert_int_ge(seen[0].used_unix_s, now - 1);
        ck_assert_ptr_nonnull(strstr(ct_path(7), seen[0].name));
    }
    /* under another name; a bit flipped in the value; too short; what is no entry */
    size_t n;
    uint8_t *p = ct_slurp(ct_path(7), &n);
    mkdir(ct_path(8), 0700); /* makes nothing: its parent is missing */
    ct_put(c, 8);
    ct_spill(ct_path(8), p, n);
    ct_put(c, 9);
    size_t m;
    uint8_t *q = ct_slurp(ct_path(9), &m);
    q[m - 40] ^= 4;
    ct_spill(ct_path(9), q, m);
    ct_put(c, 3);
    ct_spill(ct_path(3), "short", 5);
    char junk[400];
    snprintf(junk, sizeof junk, "%s", ct_path(7));
    strcpy(strrchr(junk, '/') + 1,
           "what is this file with a name that is longer than any name of ours could be");
    ct_spill(junk, "x", 1);
    ct_tally t = ct_verify(c);
    ck_assert_int_eq(t.entries, 5);
    ck_assert_int_eq(t.ok, 1);
    nseen = 0; /* a visitor may stop */
    ck_assert_int_eq(lz_cache_walk(c, true, keep_visit, NULL), LZ_OK);
    ck_assert_int_eq(nseen, 3);
    ck_assert_uint_eq(ct_count_entries(NULL), 4); /* looking removes nothing */
    free(p), free(q);
    lz_cache_close(c);
}
END_TEST

START_TEST(collecting_and_clearing)
{
    lz_cache *c = ct_open();
    uint64_t files, bytes, total, left;
    int64_t now = (int64_t)time(NULL);
    for (uint64_t i = 0; i < 40; i++) {
        ct_put(c, i);
        set_mtime(ct_path(i), now - 4000 + (int64_t)i);
    }
    ck_assert_uint_eq(ct_count_entries(&total), 40);
    ck_assert_int_eq(lz_cache_gc(c, 0, &files, &bytes), LZ_OK);
    ck_assert_uint_eq(files + bytes, 0); /* far below the default cap */
    ck_assert_int_eq(lz_cache_gc(c, total / 2, &files, &bytes), LZ_OK);
    ck_assert_uint_eq(ct_count_entries(&left), 40 - files);
    ck_assert_uint_eq(left, total - bytes);
    ck_assert_uint_le(left, total / 2);
    ck_assert_uint_gt(left, total / 2 - 80000); /* not more than needed */
    for (uint64_t i = 0; i < 40; i++)           /* the oldest went */
        ck_assert_int_eq(ct_get(c, i), i >= files);
    ck_assert_uint_eq(ct_stats(c).evicted, files);
    char other[400];
    snprintf(other, sizeof other, "%s/notes.txt", ct_dir);
    ct_spill(other, "mine", 4);
    char temp[400];
    snprintf(temp, sizeof temp, "%s/tmp/1-0123456789abcdef-3", ct_dir);
    ct_spill(temp, "left over", 9);
    ck_assert_int_eq(lz_cache_gc(c, 0, NULL, NULL), LZ_OK);
    ck_assert(ct_exists(temp)); /* may still be in the writing */
    set_mtime(temp, now - 4000);
    ck_assert_int_eq(lz_cache_gc(c, 0, NULL, NULL), LZ_OK);
    ck_assert(!ct_exists(temp));
    ct_spill(temp, "left over", 9);
    ck_assert_int_eq(lz_cache_clear(c, &files), LZ_OK);
    ck_assert_uint_eq(ct_count_entries(NULL), 0);
    ck_assert(ct_exists(other) && !ct_exists(temp));
    ct_put(c, 2); /* and it goes on */
    ck_assert_int_eq(ct_get(c, 2), 1);
    lz_cache_close(c);
}
END_TEST

static void refuse_unlink(lz_vfs_op op, uint64_t nth, lz_vfs_fault *fault, void *user)
{
    (void)nth;
    int *left = user; /* so many may still go */
    if (op == LZ_VFS_UNLINK && (*left)-- <= 0)
        fault->err = EROFS;
}

/* What cannot be removed is told with a number, and does not keep the rest. */
START_TEST(entries_that_stay)
{
    lz_cache *c = ct_open();
    uint64_t files, bytes;
    for (uint64_t i = 0; i < 8; i++)
        ct_put(c, i);
    int left = 3;
    lz_vfs_set_hook(refuse_unlink, &left);
    ck_assert_int_eq(lz_cache_gc(c, 1, &files, &bytes), LZ_EPERM);
    ck_assert_uint_eq(files, 3);
    ck_assert(strstr(lz_error_get()->message, "5 entries of ") != NULL);
    left = 0;
    ck_assert_int_eq(lz_cache_clear(c, &files), LZ_EPERM);
    ck_assert_uint_eq(files, 0);
    lz_vfs_set_hook(NULL, NULL);
    ck_assert_int_eq(lz_cache_clear(c, &files), LZ_OK);
    ck_assert_uint_eq(files, 5);
    char path[400]; /* a directory under an entry's name is not the cache's */
    ct_put(c, 1);
    snprintf(path, sizeof path, "%s", ct_path(1));
    ck_assert(unlink(path) == 0 && mkdir(path, 0700) == 0);
    ck_assert_int_eq(lz_cache_clear(c, &files), LZ_OK);
    ck_assert(ct_exists(path));
    lz_cache_close(c);
}
END_TEST

START_TEST(directory_form)
{
    lz_cache *c = ct_open();
    ct_put(c, 5);
    struct stat st;
    char path[400];
    ck_assert(stat(ct_dir, &st) == 0 && (st.st_mode & 07777) == 0700);
    ck_assert(stat(ct_path(5), &st) == 0 && (st.st_mode & 07777) == 0600 && st.st_nlink == 1);
    snprintf(path, sizeof path, "%s/CACHEDIR.TAG", ct_dir);
    size_t n;
    char *tag = (char *)ct_slurp(path, &n);
    tag[n] = '\0';
    ck_assert_int_eq(strncmp(tag, "Signature: 8a477f597d28d172789f06886806bc55", 43), 0);
    free(tag);
    lz_cache_close(c);
    umask(0777); /* whatever the umask: directories and files we can use again */
    ct_rm(ct_dir);
    c = ct_open();
    ct_put(c, 15);
    ck_assert_int_eq(ct_get(c, 15), 1);
    ck_assert(stat(ct_dir, &st) == 0 && (st.st_mode & 07777) == 0700);
    ck_assert(stat(ct_path(15), &st) == 0 && (st.st_mode & 07777) == 0600);
    lz_cache_close(c);
    umask(022);
}
END_TEST

enum { THREADS = 8, PER_THREAD = 400 };
static lz_cache *shared;
static void *thread_main(void *arg)
{
    uint64_t s = (uint64_t)(uintptr_t)arg;
    intptr_t bad = 0;
    for (int i = 0; i < PER_THREAD; i++) {
        uint64_t k = ct_rand(&s) % 60;
        int r = ct_get(shared, k);
        if (r == 0)
            ct_put(shared, k);
        bad += r < 0;
    }
    return (void *)bad;
}

START_TEST(threads)
{
    pthread_t t[THREADS];
    shared = ct_open();
    for (intptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, thread_main, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++) {
        void *bad;
        pthread_join(t[i], &bad);
        ck_assert_ptr_null(bad);
    }
    lz_cache_stats s = ct_stats(shared);
    ck_assert_uint_eq(s.stored, ct_count_entries(NULL)); /* each key once */
    ck_assert_uint_eq(s.hits[LZ_CACHE_KERNEL] + s.misses[LZ_CACHE_KERNEL], THREADS * PER_THREAD);
    ck_assert_uint_eq(s.corrupt + s.write_fail, 0);
    lz_cache_close(shared);
}
END_TEST

/* Each allocation fails once, in open, put, get and the rest: a miss at worst, and nothing lost. */
START_TEST(out_of_memory)
{
    for (int n = 1; n < 60; n++) {
        int64_t live = lz_alloc_live_bytes_hint();
        lz_alloc_fail_at(n, false);
        lz_cache *c = NULL;
        lz_cache_options o = {.path = ct_dir, .build_id = "build-1", .isa = "x"};
        lz_status rc = lz_cache_open(&o, &c);
        ck_assert((rc == LZ_OK) == (c != NULL));
        ck_assert(rc == LZ_OK || rc == LZ_EMEM);
        if (c) {
            for (uint64_t i = 5; i < 10; i++) {
                ck_assert_int_ge(ct_get(c, i), 0);
                ct_put(c, i);
                ck_assert_int_ge(ct_get(c, i), 0);
            }
            ct_tally t = {0};
            (void)lz_cache_walk(c, true, ct_tally_visit, &t);
            (void)lz_cache_gc(c, 1000, NULL, NULL);
            (void)lz_cache_clear(c, NULL);
            ck_assert_uint_eq(ct_stats(c).corrupt, 0); /* lack of memory is not damage */
        }
        lz_alloc_fail_at(0, false);
        lz_cache_close(c);
        ck_assert_int_eq(lz_alloc_live_bytes_hint(), live);
    }
}
END_TEST

/* Running without a cache, or a store that failed, is no error of the program. */
START_TEST(error_record_is_left_alone)
{
    (void)LZ_FAIL(LZ_ESHAPE, "something earlier");
    lz_cache *c = ct_open_with((lz_cache_options){.path = "/proc/no/such"});
    ck_assert(!lz_cache_enabled(c));
    lz_cache_close(c);
    c = ct_open_with((lz_cache_options){.max_bytes = 1000});
    ct_put(c, 8); /* too large */
    ck_assert_uint_eq(ct_stats(c).too_large, 1);
    ck_assert_int_eq(lz_error_get()->status, LZ_ESHAPE);
    ck_assert_str_eq(lz_error_get()->message, "something earlier");
    lz_cache_close(c);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cache");
    TCase *t = tcase_create("cache");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, ct_setup, ct_teardown);
    tcase_add_test(t, put_then_get);
    tcase_add_test(t, kinds_do_not_mix);
    tcase_add_test(t, strange_arguments);
    tcase_add_test(t, second_store_keeps_the_first);
    tcase_add_test(t, dropping_what_does_not_load);
    tcase_add_test(t, builds_live_side_by_side);
    tcase_add_test(t, names_are_stable);
    tcase_add_test(t, isa_by_callback);
    tcase_add_test(t, isa_by_default);
    tcase_add_test(t, read_only_cache);
    tcase_add_test(t, use_is_noted_hourly);
    tcase_add_test(t, walking);
    tcase_add_test(t, collecting_and_clearing);
    tcase_add_test(t, entries_that_stay);
    tcase_add_test(t, directory_form);
    tcase_add_test(t, threads);
    tcase_add_test(t, out_of_memory);
    tcase_add_test(t, error_record_is_left_alone);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
