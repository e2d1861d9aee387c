/* spares.h - a short list of records that are made and freed with every execution, kept for reuse.
 * All records of a list are of one size. Threads: thread-safe. */
#ifndef LZ_BASE_SPARES_H
#define LZ_BASE_SPARES_H
#include "base/alloc.h"
#include "base/mutex.h"

enum { LZ_SPARES_MOST = 256 };

typedef struct lz_spares {
    lz_mutex lock;
    uint32_t n, most; /* most: at most LZ_SPARES_MOST */
    void *record[LZ_SPARES_MOST];
} lz_spares;
#define LZ_SPARES_INIT(name, most_)                                                                \
    {                                                                                              \
        .lock = LZ_MUTEX_INIT(name), .most = (most_)                                               \
    }

/* A record of `size` bytes with any content; NULL without memory, and no error recorded. */
static inline void *lz_spares_take(lz_spares *s, size_t size)
{
    lz_mutex_lock_leaf(&s->lock);
    void *p = s->n ? s->record[--s->n] : NULL;
    lz_mutex_unlock_leaf(&s->lock);
    return p ? p : lz_alloc(size);
}

static inline void lz_spares_give(lz_spares *s, void *p)
{
    lz_mutex_lock_leaf(&s->lock);
    bool keep = s->n < s->most;
    if (keep)
        s->record[s->n++] = p;
    lz_mutex_unlock_leaf(&s->lock);
    if (!keep)
        lz_free(p);
}
#endif
