/* kernel_store.h - loaded kernels of one kind of device: one piece of code per canonical kernel,
 * shared by every executable that uses it. A kernel is looked up in memory, then in the persistent
 * cache, then compiled; missing kernels are compiled on several threads. The last few hundred
 * unused kernels stay loaded, older ones are freed. Threads: thread-safe. */
#ifndef LZ_BACKENDS_COMMON_KERNEL_STORE_H
#define LZ_BACKENDS_COMMON_KERNEL_STORE_H
#include "base/thread.h"
#include "cache/cache.h"
#include "lower/loops/loop.h"

typedef struct lz_kcode lz_kcode;
typedef enum lz_kernel_source { LZ_FROM_MEMORY, LZ_FROM_DISK, LZ_FROM_LLVM } lz_kernel_source;

typedef struct lz_kernel_load {
    lz_kcode *code; /* a reference */
    lz_kernel_source source;
    double ms, link_ms; /* reading or compiling; of it linking and loading */
} lz_kernel_load;

/* How a device compiles and loads code. `user` is passed through from lz_kstore_load; stored bytes
 * are untrusted. */
typedef struct lz_kstore_ops {
    size_t code_bytes; /* size of what load fills in */
    /* kind of the cache entry */
    void (*key)(void *user, const lz_kernel *k, lz_buf *out);
    /* Distinguishes the code of this user from that of others for the same kernel; NULL: nothing
     * does. */
    uint64_t (*variant)(void *user);
    /* ISA features the code needs */
    const char *(*isa)(void *user);
    lz_status (*make)(void *user, const lz_kernel *k, lz_buf *bytes);
    /* LZ_ECORRUPT: the bytes are not code for this device. */
    lz_status (*load)(void *user, const lz_kernel *k, const void *bytes, size_t nbytes, void *code);
    void (*unload)(void *code);
    int (*threads)(void);  /* most compilations at a time */
    void (*prepare)(void); /* before several threads run `make`; NULL: nothing */
} lz_kstore_ops;

typedef struct lz_kernels_stats {
    uint64_t compiles, disk_hits, memory_hits, misses; /* misses: not in memory */
    uint32_t live, waiting;
} lz_kernels_stats;

/* Initialise with LZ_KSTORE_INIT(&ops); the rest is kernel_store.c's. */
typedef struct lz_kstore {
    const lz_kstore_ops *ops;
    lz_mutex lock;
    lz_map table;
    lz_kcode *newest, *oldest; /* among those nobody uses */
    uint32_t nwaiting, nlive;
    _Atomic uint64_t compiles, disk_hits, memory_hits, misses;
} lz_kstore;
#define LZ_KSTORE_INIT(o)                                                                          \
    {                                                                                              \
        .ops = (o), .lock = LZ_MUTEX_INIT("kernel_store")                                          \
    }

/* out[i] for k[i]. Errors: those of ops, LZ_EMEM; then no references are left. cache may be
 * NULL. */
lz_status lz_kstore_load(lz_kstore *s, lz_kernel *const *k, uint32_t n, void *user, lz_cache *cache,
                         lz_kernel_load *out);
/* Whether the cache has the kernel's code; nothing is loaded. */
bool lz_kstore_look_up(lz_kstore *s, const lz_kernel *k, void *user, lz_cache *cache);
void lz_kstore_release(lz_kcode *c);     /* NULL is fine */
void *lz_kstore_code(const lz_kcode *c); /* what ops->load filled in */
void lz_kstore_get_stats(lz_kstore *s, lz_kernels_stats *out);
void lz_kstore_trim(lz_kstore *s); /* frees the code of unused kernels */
#endif
