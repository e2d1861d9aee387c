/* cache_impl.h - what cache.c and maint.c share. Threads: the counters are atomic, the rest is
 * fixed after opening. */
#ifndef LZ_CACHE_CACHE_IMPL_H
#define LZ_CACHE_CACHE_IMPL_H
#include "cache/codec.h"
#include "cache/entry.h"
#include "cache/evict.h"
#include "cache/lease.h"
#include "cache/mac_key.h"
#include "cache/store.h"

typedef enum lz_cache_counter {
    LZ_CTR_CORRUPT,
    LZ_CTR_FOREIGN,
    LZ_CTR_WRITE_FAIL,
    LZ_CTR_EVICTED,
    LZ_CTR_STORED,
    LZ_CTR_COLLISION,
    LZ_CTR_TOO_LARGE,
    LZ_CTR_REFUSED_DIR,
    LZ_CTR_ISA_REFUSED,
    LZ_CTR_MAC_REFUSED,
    LZ_CTR_CODE_IGNORED,
    LZ_CTR_SYSTEM_HIT,
    LZ_CTR_LEASE_WAIT,
    LZ_CTR_LEASE_TAKEN_OVER,
    LZ_CTR_COUNT
} lz_cache_counter;

enum { LZ_CACHE_SYSTEM_MAX = 8 };

struct lz_cache {
    lz_store store;
    lz_store system[LZ_CACHE_SYSTEM_MAX]; /* looked into after `store`, never written */
    int nsystem;
    bool has_key; /* only entries with the MAC of mac_key are read, and all that are stored have it
                   */
    uint8_t mac_key[LZ_MAC_KEY_LEN];
    bool no_code; /* kernels are neither read nor stored */
    lz_evict evict;
    lz_codec_pool codec;
    lz_lease_table leases;
    uint64_t seed[LZ_CACHE_KINDS]; /* of file names, by kind */
    char *build;
    char *isa;
    bool (*isa_ok)(const char *isa, void *user);
    void (*used)(const char *name, void *user);
    void *user;
    uint64_t max_bytes;
    atomic_bool writes_off; /* the directory is not writable after all */
    atomic_bool told_write, told_large, told_mac;
    _Atomic uint64_t hits[LZ_CACHE_KINDS], misses[LZ_CACHE_KINDS], counters[LZ_CTR_COUNT];
};

/* The seed of the file names of a kind and build, and the file name's digest of a key:
 * docs/reference/cache-format.md, "Names". */
uint64_t lz_cache_name_seed(lz_cache_kind kind, const char *build);
/* Publishes the bytes of an entry for this cache. 0 or an errno. *there: it has one already, or no
 * slot is free. (cache.c) */
int lz_cache_put_file(lz_cache *c, const lz_entry *e, const uint8_t *bytes, size_t n, bool *there);
/* Whether a stored value begins with the digest that ties it to its key. (bound.c) */
bool lz_cache_is_bound(const lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey,
                       const void *value, size_t nvalue);
/* The largest file this cache reads or writes. */
uint64_t lz_cache_max_file(const lz_cache *c);
#endif
