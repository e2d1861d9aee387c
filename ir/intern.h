/* intern.h - a table of immutable things that live as long as the process: types, attributes,
 * signatures, regions.
 * Buckets are chains that only grow at their head, so readers take no lock; makers of one table
 * take turns.
 * Threads: thread-safe. */
#ifndef LZ_IR_INTERN_H
#define LZ_IR_INTERN_H
#include "base/hash.h"
#include "base/mutex.h"
#include <stdatomic.h>

/* First member of what is interned. */
typedef struct lz_intern_node {
    struct lz_intern_node *next; /* written before the node is published, never after */
    lz_hash hash;
} lz_intern_node;

enum { LZ_INTERN_BUCKETS = 1 << 14 };
typedef struct lz_intern {
    lz_mutex lock;
    uint32_t count; /* under lock */
    _Atomic(lz_intern_node *) bucket[LZ_INTERN_BUCKETS];
} lz_intern;
#define LZ_INTERN_INIT                                                                             \
    {                                                                                              \
        .lock = LZ_MUTEX_INIT("intern")                                                            \
    }

/* Whether the node holds what `key` describes; hashes are equal already. */
typedef bool lz_intern_same(const lz_intern_node *node, const void *key);

lz_intern_node *lz_intern_find(lz_intern *t, lz_hash hash, lz_intern_same *same, const void *key);
/* Publishes `fresh` unless an equal one came first; returns the one that stays. fresh->hash is set
 * by the caller. `number`: its place in the order of making, written before it is published; may be
 * NULL. */
lz_intern_node *lz_intern_add(lz_intern *t, lz_intern_node *fresh, lz_intern_same *same,
                              const void *key, uint32_t *number);
#endif
