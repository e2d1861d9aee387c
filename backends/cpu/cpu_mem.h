/* cpu_mem.h - memory of the CPU devices: 64-byte aligned blocks from a pool.
 * Sizes are rounded up to classes, eight per power of two; a block that is given back waits in its
 * class for the next use. Blocks of 16 MiB and more are mappings of their own, of transparent huge
 * pages; those of 64 KiB and more share such mappings (slabs.h). The blocks that wait never exceed
 * what is or was in use at most.
 * LAZULI_DEVICE_MEMORY_MB caps what each device holds. Units: bytes. Threads: thread-safe. */
#ifndef LZ_BACKENDS_CPU_CPU_MEM_H
#define LZ_BACKENDS_CPU_CPU_MEM_H
#include "base/status.h"

enum { LZ_MEM_DEVICES = 64 };

/* *capacity >= nbytes; content undefined; nbytes 0 gives a block too. Errors: LZ_EDEVMEM naming the
 * bytes asked for, used and allowed. */
lz_status lz_mem_alloc(int device, size_t nbytes, void **out, size_t *capacity);
/* Asked for when there is no memory, without locks held: whether some was given back. */
void lz_mem_on_shortage(bool (*give)(int device));
/* Makes the block at *p, of *capacity bytes (NULL and 0: there is none), one of `need` bytes at
 * least; contents are lost where it was smaller. Without memory there is none. */
lz_status lz_mem_grow(int device, size_t need, void **p, size_t *capacity);
/* As lz_mem_alloc, but every byte that was asked for is 0: memory fresh from the system is so
 * untouched. */
lz_status lz_mem_zeros(int device, size_t nbytes, void **out, size_t *capacity);
/* NULL is fine; the block's own capacity */
void lz_mem_free(int device, void *p, size_t capacity);

typedef struct lz_mem_stats {
    uint64_t used, peak, limit; /* blocks handed out; limit 0: none */
    uint64_t waiting;           /* blocks kept for the next use, of all devices */
    uint64_t allocs, reuses;    /* calls; those served from the pool */
    uint32_t slabs, gaps;       /* mappings that blocks share; free address ranges in them */
} lz_mem_stats;
void lz_mem_get_stats(int device, lz_mem_stats *out);
void lz_mem_trim(void); /* gives every waiting block back to the system */
#endif
