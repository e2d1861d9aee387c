/* lru.h - a bounded map from hash to pointer that forgets what was used least recently: the memory
 * side of the cache (XLA_COMPILATION_CACHE_SIZE). The map owns its values and destroys each exactly
 * once: when it is evicted, replaced, deleted, or with the map. All operations are O(1).
 * Threads: thread-compatible. The destructor must not call back into the same map. */
#ifndef LZ_CACHE_LRU_H
#define LZ_CACHE_LRU_H
#include "base/hash.h"

typedef struct lz_lru lz_lru;
typedef void (*lz_lru_destroy)(void *value, void *user);

/* capacity 0 counts as 1. destroy may be NULL. LZ_EMEM. */
lz_status lz_lru_create(uint32_t capacity, lz_lru_destroy destroy, void *user, lz_lru **out);
void lz_lru_free(lz_lru *l);                   /* NULL is fine */
void *lz_lru_get(lz_lru *l, lz_hash k);        /* makes it the most recent; NULL when absent */
void *lz_lru_peek(const lz_lru *l, lz_hash k); /* changes nothing */
/* v not NULL. Replaces, then evicts the oldest beyond the capacity (never v). On error (LZ_EMEM,
 * LZ_ENULL) the map is unchanged and v stays the caller's. */
lz_status lz_lru_put(lz_lru *l, lz_hash k, void *v);
bool lz_lru_del(lz_lru *l, lz_hash k);   /* destroys the value; false when absent */
void *lz_lru_take(lz_lru *l, lz_hash k); /* gives the value back undestroyed; NULL when absent */
void lz_lru_clear(lz_lru *l);
void lz_lru_set_capacity(lz_lru *l, uint32_t capacity); /* evicts at once what is too much */
uint32_t lz_lru_len(const lz_lru *l);
uint32_t lz_lru_capacity(const lz_lru *l);
uint64_t lz_lru_evicted(const lz_lru *l); /* for room, since the map was made */
/* Most recent first; fn gives false to stop and must not change the map. */
void lz_lru_each(const lz_lru *l, bool (*fn)(lz_hash k, void *v, void *user), void *user);
#endif
