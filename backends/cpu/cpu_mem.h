/* cpu_mem.h - memory of the CPU devices: 64-byte aligned blocks from a pool. Sizes are rounded up
 * to classes, eight per power of two; a freed block stays in its class for the next use. Blocks of
 * 16 MiB and more are mappings of their own, of transparent huge pages; those of 64 KiB and more
 * share such mappings (slabs.h). Free blocks never exceed the peak in use. LAZULI_DEVICE_MEMORY_MB
 * caps each device. Units: bytes.
 * Threads: thread-safe. */
#ifndef LZ_BACKENDS_CPU_CPU_MEM_H
#define LZ_BACKENDS_CPU_CPU_MEM_H
#include "base/status.h"

enum { LZ_MEM_DEVICES = 64 };

/* *capacity >= nbytes; content undefined; nbytes 0 gives a block too. Errors: LZ_EDEVMEM with the
 * bytes requested, used and allowed. */
lz_status lz_mem_alloc(int device, size_t nbytes, void **out, size_t *capacity);
/* Registers a function that is called, without locks held, when memory runs out; it gives whether
 * it freed some. */
void lz_mem_on_shortage(bool (*give)(int device));
/* Makes sure that the block at *p, of *capacity bytes (NULL and 0: none), has at least `need`
 * bytes; reallocating loses the contents. After LZ_EDEVMEM there is no block. */
lz_status lz_mem_grow(int device, size_t need, void **p, size_t *capacity);
/* As lz_mem_alloc, but zero-filled: memory fresh from the system is not touched for it. */
lz_status lz_mem_zeros(int device, size_t nbytes, void **out, size_t *capacity);
/* NULL is fine; the block's own capacity */
void lz_mem_free(int device, void *p, size_t capacity);

typedef struct lz_mem_stats {
    uint64_t used, peak, limit; /* bytes of blocks handed out; limit 0: none */
    uint64_t waiting;           /* bytes of free blocks, of all devices */
    uint64_t allocs, reuses;    /* calls; those served from the pool */
    uint32_t slabs, gaps;       /* slabs, and free address ranges in them */
} lz_mem_stats;
void lz_mem_get_stats(int device, lz_mem_stats *out);
void lz_mem_trim(void); /* returns every free block to the system */
#endif
