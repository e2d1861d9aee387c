/* lru.c - a hash map of nodes that also stand in a ring in the order of use. The ring's head is a
 * node without a value, so no operation has a special case at either end. */
#include "cache/lru.h"
#include "base/alloc.h"

typedef struct node {
    struct node *newer, *older;
    lz_hash key;
    void *value;
} node;

struct lz_lru {
    node ring; /* ring.older: the most recent; ring.newer: the oldest */
    lz_map index;
    uint32_t capacity;
    uint64_t evicted;
    lz_lru_destroy destroy;
    void *user;
};

static void ring_out(node *n)
{
    n->newer->older = n->older;
    n->older->newer = n->newer;
}

static void ring_in(lz_lru *l, node *n)
{
    n->newer = &l->ring;
    n->older = l->ring.older;
    n->older->newer = n;
    l->ring.older = n;
}

lz_status lz_lru_create(uint32_t capacity, lz_lru_destroy destroy, void *user, lz_lru **out)
{
    *out = lz_calloc(1, sizeof **out);
    if (!*out)
        return LZ_FAIL(LZ_EMEM, "lru: no memory for the map");
    (*out)->ring.newer = (*out)->ring.older = &(*out)->ring;
    (*out)->capacity = capacity ? capacity : 1;
    (*out)->destroy = destroy;
    (*out)->user = user;
    return LZ_OK;
}

static void *detach(lz_lru *l, node *n)
{
    void *v = n->value;
    (void)lz_map_del(&l->index, n->key);
    ring_out(n);
    lz_free(n);
    return v;
}

static void drop(lz_lru *l, node *n)
{
    void *v = detach(l, n);
    if (l->destroy)
        l->destroy(v, l->user);
}

static void evict(lz_lru *l)
{
    while (l->index.len > l->capacity) {
        l->evicted++;
        drop(l, l->ring.newer);
    }
}

void lz_lru_clear(lz_lru *l)
{
    while (l->ring.newer != &l->ring)
        drop(l, l->ring.newer);
}

void lz_lru_free(lz_lru *l)
{
    if (!l)
        return;
    lz_lru_clear(l);
    lz_map_free(&l->index);
    lz_free(l);
}

void *lz_lru_get(lz_lru *l, lz_hash k)
{
    node *n = lz_map_get(&l->index, k);
    if (!n)
        return NULL;
    if (l->ring.older != n) {
        ring_out(n);
        ring_in(l, n);
    }
    return n->value;
}

void *lz_lru_peek(const lz_lru *l, lz_hash k)
{
    const node *n = lz_map_get(&l->index, k);
    return n ? n->value : NULL;
}

lz_status lz_lru_put(lz_lru *l, lz_hash k, void *v)
{
    if (!v)
        return LZ_FAIL(LZ_ENULL, "lru: NULL cannot be a value");
    node *n = lz_map_get(&l->index, k);
    if (n) {
        void *old = n->value;
        n->value = v;
        (void)lz_lru_get(l, k);
        if (old != v && l->destroy)
            l->destroy(old, l->user);
        return LZ_OK;
    }
    n = lz_alloc(sizeof *n);
    if (!n)
        return LZ_FAIL(LZ_EMEM, "lru: no memory for an entry");
    n->key = k;
    n->value = v;
    lz_status rc = lz_map_put(&l->index, k, n);
    if (rc != LZ_OK) {
        lz_free(n);
        return rc;
    }
    ring_in(l, n);
    evict(l);
    return LZ_OK;
}

void *lz_lru_take(lz_lru *l, lz_hash k)
{
    node *n = lz_map_get(&l->index, k);
    return n ? detach(l, n) : NULL;
}

bool lz_lru_del(lz_lru *l, lz_hash k)
{
    node *n = lz_map_get(&l->index, k);
    if (!n)
        return false;
    drop(l, n);
    return true;
}

void lz_lru_set_capacity(lz_lru *l, uint32_t capacity)
{
    l->capacity = capacity ? capacity : 1;
    evict(l);
}

uint32_t lz_lru_len(const lz_lru *l)
{
    return l->index.len;
}

uint32_t lz_lru_capacity(const lz_lru *l)
{
    return l->capacity;
}

uint64_t lz_lru_evicted(const lz_lru *l)
{
    return l->evicted;
}

void lz_lru_each(const lz_lru *l, bool (*fn)(lz_hash k, void *v, void *user), void *user)
{
    for (const node *n = l->ring.older; n != &l->ring; n = n->older)
        if (!fn(n->key, n->value, user))
            return;
}
