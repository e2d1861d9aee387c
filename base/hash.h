/* hash.h - 128-bit hashes (XXH3) and an open-addressing map keyed by them.
 * Threads: functions are pure; a map is thread-compatible. */
#ifndef LZ_BASE_HASH_H
#define LZ_BASE_HASH_H
#include "base/status.h"

typedef struct lz_hash {
    uint64_t lo, hi;
} lz_hash;
lz_hash lz_hash_bytes(const void *p, size_t n);
lz_hash lz_hash_seeded(const void *p, size_t n, uint64_t seed);
static inline bool lz_hash_eq(lz_hash a, lz_hash b)
{
    return a.lo == b.lo && a.hi == b.hi;
}
/* As PyTorch/XLA prints hashes: hi in hex without padding, lo zero-padded to 16. buf of 33
 * bytes. */
const char *lz_hash_text(lz_hash h, char buf[33]);
void lz_hash_hex(lz_hash h, char buf[33]);           /* 32 digits, always */
bool lz_hash_parse_hex(const char *s, lz_hash *out); /* exactly 32 hex digits */

/* hash -> non-NULL pointer. Zero-initialise. Several entries may share a hash only if the caller
 * chains them. */
typedef struct lz_map {
    struct lz_map_slot *slots;
    uint32_t len, cap, dead;
} lz_map;
void *lz_map_get(const lz_map *m, lz_hash k);        /* NULL when absent */
lz_status lz_map_put(lz_map *m, lz_hash k, void *v); /* replaces */
void *lz_map_del(lz_map *m, lz_hash k);              /* the value removed, or NULL */
/* iter starts at 0; order is arbitrary: never let it reach output */
bool lz_map_next(const lz_map *m, uint32_t *iter, lz_hash *k, void **v);
void lz_map_free(lz_map *m);
#endif
