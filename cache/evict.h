/* evict.h - keeps the directory near its cap and free of leftovers, without ever scanning it when a
 * program starts. A process looks at the directory's size only when it has itself written 1/64 of
 * the cap since it last looked (the first time after a random part of that, so that many short
 * processes look as often as one long one). Then it reads subdirectories from a random one on until
 * it has seen enough of them for an estimate; over the cap, it removes the entries least recently
 * used of what it has read, chunk by chunk, until 90 % of the cap is left.
 * Bound: with N writing processes the directory stays below cap + N * cap/64 + what is being
 * written.
 * Only what is an entry, or a temporary file by its name, is removed (lz_store_holds_entry,
 * lz_store_is_temp): the directory may have other users.
 * Threads: thread-safe; one thread of one process at a time evicts, others go on. A process that
 * holds the lock for long, because it was stopped, is not waited for: evicting twice is only
 * wasteful. Until then the bound is LZ_EVICT_PATIENCE * cap/64 per process more. */
#ifndef LZ_CACHE_EVICT_H
#define LZ_CACHE_EVICT_H
#include "cache/store.h"

typedef struct lz_evict {
    uint64_t max_bytes;
    _Atomic uint64_t unseen; /* bytes written since the last look */
    _Atomic uint64_t rng;
    _Atomic int busy;    /* pid of the process whose thread evicts, 0: none */
    atomic_bool swept;   /* this process has looked into tmp once */
    _Atomic int refused; /* looks one after the other for which another process had the lock */
} lz_evict;
enum {
    LZ_EVICT_PART = 64,
    LZ_EVICT_TEMP_AGE_S = 3600,
    LZ_EVICT_TOUCH_S = 3600,
    LZ_EVICT_PATIENCE = 4,   /* looks that are left to the holder of the lock */
    LZ_EVICT_LOCK_AGE_S = 60 /* one that has held it for longer is not evicting */
};

void lz_evict_init(lz_evict *e, uint64_t max_bytes, uint64_t salt);
/* To be called after n bytes were stored. Gives the number of entries removed, usually 0. */
uint64_t lz_evict_note(lz_evict *e, lz_store *s, uint64_t n);

typedef struct lz_evict_result {
    uint64_t files, bytes; /* removed */
    uint64_t kept_bytes;   /* an estimate unless everything was read */
    uint64_t refused;      /* files that should go and cannot be removed; err: errno of the last */
    int err;
} lz_evict_result;
/* Removes the least recently used entries until at most `target` bytes are left if there are more
 * than `cap`. exact: reads every subdirectory and compares all entries; else as lz_evict_note does.
 * LZ_EMEM: what was read was trimmed. */
lz_status lz_evict_run(lz_store *s, uint64_t cap, uint64_t target, int first_subdir, bool exact,
                       lz_evict_result *r);
/* Removes the file `name` of the open directory if it is an entry. 0: it was one, and is gone.
 * ENOENT: it is none, or there is none. Else why it cannot be read or removed. */
int lz_evict_entry(int dir, const char *name);
/* Removes temporary files older than an hour (all: of any age), at most max_files, looking at most
 * at max_looked. */
uint64_t lz_evict_sweep(lz_store *s, bool all, uint64_t max_files, uint64_t max_looked);
#endif
