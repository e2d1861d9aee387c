/* cachetest.h - what the tests of the cache share: scratch directories, caches in them, values that
 * are a function of a number, and the place of an entry's file. */
#ifndef LZ_TEST_CACHETEST_H
#define LZ_TEST_CACHETEST_H
#include "base/alloc.h"
#include "base/log.h"
#include "cache/cache_impl.h"
#include "cache/vfs.h"
#include "suite.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char ct_base[256]; /* scratch directory of this test; 0700 */
static char ct_dir[300];  /* <base>/cache: where the cache goes */
static int ct_warnings, ct_lines;
static char ct_last[1024];

static inline void ct_log(lz_log_level level, const char *module, const char *message, void *user)
{
    (void)user, (void)module;
    ct_lines++;
    if (level <= LZ_LOG_WARN) {
        ct_warnings++;
        snprintf(ct_last, sizeof ct_last, "%s", message);
    }
}

static inline int ct_rm_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static inline void ct_rm(const char *path)
{
    (void)nftw(path, ct_rm_one, 32, FTW_DEPTH | FTW_PHYS);
}

static inline void ct_setup(void)
{
    const char *t = getenv("TMPDIR");
    snprintf(ct_base, sizeof ct_base, "%s/lz-cache-XXXXXX", t && *t ? t : "/tmp");
    if (!mkdtemp(ct_base))
        ck_abort_msg("cannot make %s", ct_base);
    snprintf(ct_dir, sizeof ct_dir, "%s/cache", ct_base);
    lz_log_set_callback(ct_log, NULL);
    ct_warnings = ct_lines = 0;
}

static inline void ct_teardown(void)
{
    lz_vfs_set_hook(NULL, NULL);
    lz_vfs_set_clock(0);
    ct_rm(ct_base);
}

static inline lz_cache *ct_open_with(lz_cache_options o)
{
    lz_cache *c = NULL;
    if (!o.path)
        o.path = ct_dir;
    if (!o.build_id)
        o.build_id = "build-1";
    ck_assert_int_eq(lz_cache_open(&o, &c), LZ_OK);
    ck_assert_ptr_nonnull(c);
    return c;
}

static inline lz_cache *ct_open(void)
{
    return ct_open_with((lz_cache_options){0});
}

static inline lz_cache_stats ct_stats(const lz_cache *c)
{
    lz_cache_stats s;
    lz_cache_get_stats(c, &s);
    return s;
}

static inline uint64_t ct_rand(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* n bytes that depend on `seed`; odd seeds give bytes that compress, even ones noise. */
static inline void ct_fill(void *dst, size_t n, uint64_t seed)
{
    uint8_t *p = dst;
    uint64_t s = seed * 77 + 5;
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(seed & 1 ? (ct_rand(&s) & 3) + 'a' : ct_rand(&s));
}

/* Key number i and its value: sizes 0, 1, odd, about a page, larger. */
static inline size_t ct_key(uint64_t i, char key[64])
{
    return (size_t)snprintf(key, 64, "key %llu", (unsigned long long)i);
}

static inline size_t ct_value_size(uint64_t i)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 777, 4096, 5001, 20011, 70000};
    return sizes[i % (sizeof sizes / sizeof sizes[0])];
}

static inline void ct_put(lz_cache *c, uint64_t i)
{
    char key[64];
    size_t nkey = ct_key(i, key), n = ct_value_size(i);
    uint8_t *v = malloc(n + 1);
    ct_fill(v, n, i);
    lz_cache_put(c, LZ_CACHE_KERNEL, key, nkey, "", v, n);
    free(v);
}

/* 1: a hit with the right value. 0: a miss. -1: a hit with wrong bytes. */
static inline int ct_get(lz_cache *c, uint64_t i)
{
    char key[64];
    size_t nkey = ct_key(i, key), n = ct_value_size(i), got = 12345;
    void *value = &got;
    if (!lz_cache_get(c, LZ_CACHE_KERNEL, key, nkey, &value, &got))
        return value == NULL && got == 0 ? 0 : -1;
    uint8_t *want = malloc(n + 1);
    ct_fill(want, n, i);
    bool same = got == n && memcmp(value, want, n) == 0;
    free(want);
    lz_free(value);
    return same ? 1 : -1;
}

/* The file of a key of ours, below ct_dir. */
static inline void ct_name(const char *build, lz_cache_kind kind, const char *key, size_t nkey,
                           int slot, char name[LZ_STORE_NAME_LEN])
{
    lz_store_name(lz_hash_seeded(key, nkey, lz_cache_name_seed(kind, build)), kind, slot, name);
}

static inline const char *ct_path_slot(uint64_t i, int slot)
{
    static char path[400];
    char key[64], name[LZ_STORE_NAME_LEN];
    size_t nkey = ct_key(i, key);
    ct_name("build-1", LZ_CACHE_KERNEL, key, nkey, slot, name);
    snprintf(path, sizeof path, "%s/%s", ct_dir, name);
    return path;
}

static inline const char *ct_path(uint64_t i)
{
    return ct_path_slot(i, 0);
}

static inline uint8_t *ct_slurp(const char *path, size_t *n)
{
    int fd = open(path, O_RDONLY);
    ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
    struct stat st;
    ck_assert_int_eq(fstat(fd, &st), 0);
    uint8_t *p = malloc((size_t)st.st_size + 1);
    *n = (size_t)st.st_size;
    ck_assert_int_eq(read(fd, p, *n), (ssize_t)*n);
    close(fd);
    return p;
}

/* Puts bytes in place of a file, as a new file. */
static inline void ct_spill(const char *path, const void *p, size_t n)
{
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
    ck_assert_int_eq(write(fd, p, n), (ssize_t)n);
    ck_assert_int_eq(close(fd), 0);
}

/* An entry's file, and what it is made of. */
typedef struct ct_entry {
    uint8_t *file, *key, *value;
    size_t nfile;
    lz_entry_content content; /* into these: what is changed in key and value is changed in it */
} ct_entry;

static inline void ct_read_entry(const char *path, ct_entry *e)
{
    const char *why;
    lz_entry in;
    lz_codec_pool pool = {NULL};
    e->file = ct_slurp(path, &e->nfile);
    ck_assert_msg(lz_entry_parse(e->file, e->nfile, &in, &why) == LZ_ENTRY_OK, "%s: %s", path, why);
    size_t nkey = (size_t)in.sec[LZ_SEC_KEY].usize, nvalue = (size_t)in.sec[LZ_SEC_VALUE].usize;
    e->key = malloc(nkey + 1);
    memcpy(e->key, in.key, nkey);
    e->value = malloc(nvalue + 1);
    ck_assert_int_eq(lz_entry_value(&in, &pool, e->value), LZ_OK);
    lz_codec_pool_free(&pool);
    e->content = (lz_entry_content){.kind = in.kind,
                                    .created_unix_s = in.created_unix_s,
                                    .build = in.build,
                                    .isa = in.isa,
                                    .key = e->key,
                                    .value = e->value,
                                    .nkey = nkey,
                                    .nvalue = nvalue};
}

static inline void ct_entry_free(ct_entry *e)
{
    free(e->file), free(e->key), free(e->value);
}

/* An intact entry in place of a file; schema: LZ_ENTRY_SCHEMA, or another version's. */
static inline void ct_write_entry(const char *path, const lz_entry_content *c, uint32_t schema)
{
    uint8_t *p;
    size_t n;
    ck_assert_int_eq(lz_entry_encode(c, &p, &n), LZ_OK);
    for (int i = 0; i < 4; i++)
        p[8 + i] = (uint8_t)(schema >> 8 * i);
    lz_entry_seal(p, n);
    ct_spill(path, p, n);
    lz_free(p);
}

static inline bool ct_exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static uint64_t ct_count_files_n, ct_count_bytes_n;
static inline int ct_count_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    const char *name = path + ftw->base;
    if (type == FTW_F && lz_store_is_entry(name)) {
        ct_count_files_n++;
        ct_count_bytes_n += (uint64_t)st->st_size;
    }
    return 0;
}

/* Entries in ct_dir, seen with other eyes than the cache's. */
static inline uint64_t ct_count_entries(uint64_t *bytes)
{
    ct_count_files_n = ct_count_bytes_n = 0;
    (void)nftw(ct_dir, ct_count_one, 32, FTW_PHYS);
    if (bytes)
        *bytes = ct_count_bytes_n;
    return ct_count_files_n;
}

static inline int ct_temps(void)
{
    char path[400];
    snprintf(path, sizeof path, "%s/tmp", ct_dir);
    int fd = open(path, O_RDONLY | O_DIRECTORY), n = 0;
    if (fd < 0)
        return 0;
    lz_vfs_list l;
    lz_vfs_list_init(&l, fd);
    while (lz_vfs_list_next(&l))
        n++;
    close(fd);
    return n;
}

typedef struct ct_tally {
    int entries, ok, bad, foreign;
} ct_tally;
static inline bool ct_tally_visit(const lz_cache_entry_info *e, void *user)
{
    ct_tally *t = user;
    t->entries++;
    t->ok += e->ok;
    t->bad += !e->ok;
    t->foreign += e->foreign;
    return true;
}

static inline ct_tally ct_verify(lz_cache *c)
{
    ct_tally t = {0};
    ck_assert_int_eq(lz_cache_walk(c, true, ct_tally_visit, &t), LZ_OK);
    return t;
}

/* Waits for a child; its exit status, or 1000 + signal. */
static inline int ct_wait(pid_t pid)
{
    int st;
    while (waitpid(pid, &st, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFSIGNALED(st) ? 1000 + WTERMSIG(st) : WEXITSTATUS(st);
}

static inline bool ct_quick(void)
{
    return getenv("LZ_TEST_QUICK") != NULL;
}

/* The entry of key i is a miss that counts as damage, is gone, and can be stored again. */
static inline void ct_expect_damaged_and_healed(lz_cache *c, uint64_t i)
{
    uint64_t before = ct_stats(c).corrupt;
    ck_assert_int_eq(ct_get(c, i), 0);
    ck_assert_uint_eq(ct_stats(c).corrupt, before + 1);
    ck_assert(!ct_exists(ct_path(i)));
    ct_put(c, i);
    ck_assert_int_eq(ct_get(c, i), 1);
    ck_assert_uint_eq(ct_stats(c).corrupt, before + 1);
}
#endif
