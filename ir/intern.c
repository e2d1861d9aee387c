/* intern.c - see intern.h. */
#include "ir/intern.h"

static _Atomic(lz_intern_node *) *bucket_of(lz_intern *t, lz_hash hash)
{
    return &t->bucket[(hash.lo ^ hash.hi >> 32) & (LZ_INTERN_BUCKETS - 1)];
}

static lz_intern_node *chain_find(lz_intern_node *n, lz_hash hash, lz_intern_same *same,
                                  const void *key)
{
    for (; n; n = n->next)
        if (lz_hash_eq(n->hash, hash) && same(n, key))
            return n;
    return NULL;
}

lz_intern_node *lz_intern_find(lz_intern *t, lz_hash hash, lz_intern_same *same, const void *key)
{
    return chain_find(atomic_load_explicit(bucket_of(t, hash), memory_order_acquire), hash, same,
                      key);
}

lz_intern_node *lz_intern_add(lz_intern *t, lz_intern_node *fresh, lz_intern_same *same,
                              const void *key, uint32_t *number)
{
    _Atomic(lz_intern_node *) *head = bucket_of(t, fresh->hash);
    lz_mutex_lock(&t->lock);
    lz_intern_node *first = atomic_load_explicit(head, memory_order_relaxed);
    lz_intern_node *stays = chain_find(first, fresh->hash, same, key);
    if (!stays) {
        stays = fresh;
        fresh->next = first;
        if (number)
            *number = t->count;
        t->count++;
        atomic_store_explicit(head, fresh, memory_order_release);
    }
    lz_mutex_unlock(&t->lock);
    return stays;
}
