/* cache.h - the persistent compilation cache: key bytes -> value bytes, shared by any number of
 * processes. Three kinds of entries: programs (graph hash -> plan), kernels (canonical kernel ->
 * object code) and choices (launch -> what was measured to be fastest, backends/common/autotune.h).
 * Any doubt about an entry is a miss with a counter, never an error and never a wrong value. The
 * file name is the XXH3-128 of kind, build and key; the full key bytes stand in the entry and are
 * compared on a hit.
 * Threads: an open cache is thread-safe, also across fork(). Readers never lock.
 * docs/reference/cache-format.md specifies the bytes. */
#ifndef LZ_CACHE_CACHE_H
#define LZ_CACHE_CACHE_H
#include "base/hash.h"
#include "base/status.h"

typedef struct lz_cache lz_cache;
typedef enum lz_cache_kind {
    LZ_CACHE_PROGRAM = 1,
    LZ_CACHE_KERNEL = 2,
    LZ_CACHE_CHOICE = 3,
    LZ_CACHE_KINDS
} lz_cache_kind;
static inline bool lz_cache_is_kind(uint32_t kind)
{
    return kind >= LZ_CACHE_PROGRAM && kind < LZ_CACHE_KINDS;
}

typedef struct lz_cache_options {
    /* NULL: the default, from XLA_PERSISTENT_CACHE_PATH, LAZULI_CACHE_DIR, XDG_CACHE_HOME, HOME */
    const char *path;
    bool read_only;
    bool fsync;
    uint64_t max_bytes;   /* soft cap; 0: the option's default */
    const char *build_id; /* entries of another build are foreign: a miss, left in place */
    /* Says whether this machine can run code that needs `isa`, an entry's own string as given to
     * lz_cache_put; not asked about "". Convention: "feature,feature" or "feature,feature|tuning
     * flags": what follows '|' only tunes. May be called from several threads. NULL: a string is
     * accepted when its part before '|' equals that of `isa` below. */
    bool (*isa_ok)(const char *isa, void *user);
    /* Told the file name of each entry of the directory that is found or stored: lazuli cache
     * export. From several threads at a time. NULL: nobody. */
    void (*used)(const char *name, void *user);
    void *user;
    const char *key_file; /* of the key of all entries; NULL: the option's, "": none */
    const char *system;   /* directories that are looked into as well, with colons between them, and
                             never written; NULL: the option's */
    bool no_code;         /* kernels are neither read nor stored */
    int64_t lease_ms;     /* bound of the wait for a lease; 0: the option's, negative: no leases */
    const char *isa; /* what this process generates for, used when isa_ok is NULL; NULL is "" */
} lz_cache_options;

typedef struct lz_cache_stats {
    uint64_t hits[LZ_CACHE_KINDS], misses[LZ_CACHE_KINDS]; /* by lz_cache_kind */
    /* corrupt: damaged and removed. foreign: another build's or schema's, left. isa_refused: needs
     * what this machine lacks. collisions: another key of the same name. */
    uint64_t corrupt, foreign, write_fail, evicted, stored, collisions, too_large, refused_dir,
        isa_refused;
    /* mac_refused: without a MAC of the key, left. code_ignored: kernels not looked up (no_code).
     * system_hits: of the hits, those in a system cache. */
    uint64_t mac_refused, code_ignored, system_hits;
    uint64_t lease_waits, leases_taken_over; /* lease.h */
} lz_cache_stats;

/* Opens (and creates, 0700) the directory. A directory that must not be trusted (another owner,
 * group- or world-writable, symlink) or that cannot be made gives a cache that never hits and never
 * stores, after one clear warning: *out is always usable unless LZ_EMEM. NULL options: the
 * defaults. */
lz_status lz_cache_open(const lz_cache_options *o, lz_cache **out);
void lz_cache_close(lz_cache *c);             /* NULL is fine */
bool lz_cache_enabled(const lz_cache *c);     /* false: memory only */
const char *lz_cache_path(const lz_cache *c); /* "" when not enabled */

/* Looks an entry up. On a hit *value is a buffer of *nvalue bytes (lz_free it) and true is
 * returned. c may be NULL (miss). */
bool lz_cache_get(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey, void **value,
                  size_t *nvalue);
/* The same once more, after another process may have stored it: a miss is counted once. */
bool lz_cache_get_again(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey, void **value,
                        size_t *nvalue);
/* Stores an entry if it can; failures are counted and warned about once, never returned. isa: ""
 * when any machine can use it. */
void lz_cache_put(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey, const char *isa,
                  const void *value, size_t nvalue);
/* The caller found the value of a hit unusable (it does not load): counts it as corrupt and removes
 * the entry, so that the next put replaces it. */
void lz_cache_drop(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey);
/* The same for values that would do harm in another's place: what is stored is 16 bytes of digest
 * of build, kind, key and value, then the value. One that is not as it was put under this very key
 * is dropped, and a miss: bytes that were changed, also where the entry was sealed again, and
 * another entry's, also under a header rewritten to fit. bound.c. */
bool lz_cache_get_bound(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey, void **value,
                        size_t *nvalue);
bool lz_cache_get_bound_again(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey,
                              void **value, size_t *nvalue);
void lz_cache_put_bound(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey,
                        const char *isa, const void *value, size_t nvalue);
void lz_cache_get_stats(const lz_cache *c, lz_cache_stats *out);

/* Maintenance, for `lazuli cache`. Each walks the directory without trusting it. */
typedef struct lz_cache_entry_info {
    char name[64]; /* file name below the directory */
    lz_cache_kind kind;
    uint64_t file_bytes, value_bytes, key_bytes;
    int64_t created_unix_s, used_unix_s;
    bool ok; /* false: damaged; `why` says how */
    bool foreign;
    char why[96];
} lz_cache_entry_info;
typedef bool (*lz_cache_visit)(const lz_cache_entry_info *e, void *user); /* false stops */
/* verify: reads every file whole, checks digest, name and value; else its header only. Changes
 * nothing. */
lz_status lz_cache_walk(lz_cache *c, bool verify, lz_cache_visit fn, void *user);
/* Removes the least recently used entries until at most max_bytes are left (0: the cache's own
 * cap), and temporary files older than an hour. The counts may be NULL.
 * Errors: LZ_EPERM, LZ_EIO some entries cannot be removed; all others were. */
lz_status lz_cache_gc(lz_cache *c, uint64_t max_bytes, uint64_t *removed_files,
                      uint64_t *removed_bytes);
/* Removes every entry and temporary file; the directory and files that are not the cache's stay.
 * Errors: as lz_cache_gc. */
lz_status lz_cache_clear(lz_cache *c, uint64_t *removed_files);
#endif
