/* bound.c - values that are tied to their keys. The key stands in an entry's header, outside of the
 * value; whoever copies a value under another header makes an entry that is intact and wrong. The
 * digest at the value's begin is seeded by that of the entry's name, so it holds for one key only.
 * It finds accidents and splices; who can compute it can forge the value too. */
#include "base/alloc.h"
#include "base/vec.h"
#include "cache/cache_impl.h"
#include <string.h>

enum { BOUND_LEN = 16 };

static void digest_of(const lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey,
                      const void *value, size_t nvalue, uint8_t out[BOUND_LEN])
{
    lz_hash name = lz_hash_seeded(nkey ? key : "", nkey, c->seed[kind]);
    lz_hash h = lz_hash_seeded(nvalue ? value : "", nvalue, name.lo ^ (name.hi << 1));
    for (int i = 0; i < BOUND_LEN; i++)
        out[i] = (uint8_t)((i < 8 ? h.lo : h.hi) >> (8 * (i % 8)));
}

bool lz_cache_is_bound(const lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey,
                       const void *value, size_t nvalue)
{
    uint8_t want[BOUND_LEN];
    const uint8_t *p = value;
    if (nvalue < BOUND_LEN)
        return false;
    digest_of(c, kind, key, nkey, p + BOUND_LEN, nvalue - BOUND_LEN, want);
    return memcmp(p, want, BOUND_LEN) == 0;
}

/* What a hit gave, less its digest, if that is right. */
static bool unbind(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey, void **value,
                   size_t *nvalue)
{
    uint8_t *p = *value;
    if (lz_cache_is_bound(c, kind, key, nkey, p, *nvalue)) {
        *nvalue -= BOUND_LEN;
        memmove(p, p + BOUND_LEN, *nvalue);
        return true;
    }
    lz_free(p);
    *value = NULL;
    *nvalue = 0;
    lz_cache_drop(c, kind, key, nkey);
    return false;
}

bool lz_cache_get_bound(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey, void **value,
                        size_t *nvalue)
{
    return lz_cache_get(c, kind, key, nkey, value, nvalue) &&
           unbind(c, kind, key, nkey, value, nvalue);
}

bool lz_cache_get_bound_again(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey,
                              void **value, size_t *nvalue)
{
    return lz_cache_get_again(c, kind, key, nkey, value, nvalue) &&
           unbind(c, kind, key, nkey, value, nvalue);
}

void lz_cache_put_bound(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey,
                        const char *isa, const void *value, size_t nvalue)
{
    if (!lz_cache_enabled(c) || !lz_cache_is_kind(kind) || (!key && nkey) || (!value && nvalue))
        return;
    lz_buf b = {0};
    uint8_t digest[BOUND_LEN];
    digest_of(c, kind, key, nkey, value, nvalue, digest);
    lz_buf_put(&b, digest, sizeof digest);
    lz_buf_put(&b, value, nvalue);
    if (!b.failed) /* without memory it is compiled again next time */
        lz_cache_put(c, kind, key, nkey, isa, b.data, b.len);
    lz_buf_free(&b);
}
