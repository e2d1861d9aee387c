/* lease.h - of the processes that miss the same entry at the same time, one compiles it and the
 * others wait for what it stores.
 * A lease is a file, tmp/<32 hex>.<p|k|c>.lease, made with O_EXCL, which every file system decides
 * in one place (NFS from version 3 on, where flock is a matter of mount options). It says who holds
 * it: boot id, PID namespace, PID, start time, a random number. It is only ever advice: whoever
 * ignores one, or takes one that is still in use, compiles what another compiles as well, and the
 * entry is published by a name that is taken once (store.h). So no lease is needed for a result to
 * be right, and none is waited for without a bound:
 *   - the holder removes it when the entry is stored, or when it could not be made: nobody then
 *     takes the lease over, everyone looks and, if there is nothing, compiles at once;
 *   - a holder on this machine that is dead (no such process, or one that started later) or stopped
 *     is noticed when it is next looked at, within milliseconds;
 *   - a holder on another machine, or in another container, is judged by what it does: with each
 *     entry it stores it renews the times of the leases that it holds. One whose file stays as it
 *     is for the bound (LAZULI_CACHE_WAIT), by the clock of the one who waits, is given up. Times
 *     of two machines are never compared, so their clocks may differ by anything. The file is
 *     opened anew each time, because NFS looks at the server when a file is opened;
 *   - a lease that is given up is taken over by one of those who wait: renamed away, which only one
 *     can do, and made anew. The others wait for the new one. In all nobody waits for longer than
 *     LZ_LEASE_PATIENCE bounds.
 * The wait is as long as what is left of the holder's compilation, which began earlier than one's
 * own could; where the holder is slower than that there is the bound. A thread waits while it holds
 * the lease of the program that it compiles, never while it compiles a kernel, and kernels wait for
 * no program: there is no circle, and the bound is not needed for that.
 * A forked child neither waits nor holds any: its parent may be waiting for it.
 * Leftovers of killed processes go with temporary files (lz_evict_sweep).
 * Threads: thread-safe. */
#ifndef LZ_CACHE_LEASE_H
#define LZ_CACHE_LEASE_H
#include "base/mutex.h"
#include "cache/store.h"

enum {
    LZ_LEASES = 64,           /* that a process holds at a time */
    LZ_LEASE_PATIENCE = 8,    /* bounds, in all */
    LZ_LEASE_TOKEN_LEN = 160, /* with the NUL */
    LZ_LEASE_NAME_LEN = 48
};

typedef struct lz_lease_held {
    bool used;
    char name[LZ_LEASE_NAME_LEN], token[LZ_LEASE_TOKEN_LEN];
    int64_t renewed_ns;
} lz_lease_held;

typedef struct lz_lease_table { /* of an open cache */
    lz_mutex lock;
    int pid;          /* of the process that opened the cache: only it has leases */
    int64_t bound_ns; /* 0: no leases */
    lz_lease_held held[LZ_LEASES];
    char self[LZ_LEASE_TOKEN_LEN]; /* the token but for the random number; "": not known yet */
    uint64_t rng;
} lz_lease_table;

void lz_lease_init(lz_lease_table *t, int64_t bound_ns, uint64_t salt);
void lz_lease_end(lz_lease_table *t, lz_store *s); /* releases all */
/* Renews the leases of this process that were not renewed for a second. */
void lz_lease_renew(lz_lease_table *t, lz_store *s);

/* A lease; zero-initialised: none. */
typedef struct lz_lease {
    int number;
} lz_lease;
typedef enum lz_lease_state {
    LZ_LEASE_NONE,    /* there are no leases here, or the wait is over: compile */
    LZ_LEASE_TAKEN,   /* by the caller, who looks the entry up once more, then compiles it */
    LZ_LEASE_BUSY,    /* another has it */
    LZ_LEASE_RELEASED /* another had it: look the entry up, and compile if it is not there */
} lz_lease_state;

/* For the entry of a key that was missing. lz_cache_lease_try never gives RELEASED; the other waits
 * where that gives BUSY. */
lz_lease_state lz_cache_lease_try(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey,
                                  lz_lease *out);
lz_lease_state lz_cache_lease_wait(lz_cache *c, lz_cache_kind kind, const void *key, size_t nkey,
                                   lz_lease *out);
void lz_cache_lease_release(lz_cache *c, lz_lease *l); /* none is fine */

bool lz_lease_is_name(const char *file_name); /* of a file in tmp */
#endif
