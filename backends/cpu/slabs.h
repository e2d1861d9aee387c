/* slabs.h - blocks cut from shared mappings of huge pages: a page fault brings 2 MiB, not 4 KiB,
 * and no block ends in small pages. A freed range returns its memory to the system at once; its
 * addresses are reused, lowest fit first. An empty slab is unmapped. Units: bytes, multiples of
 * LZ_SLAB_PAGE.
 * Threads: the caller's lock (cpu_mem.c). */
#ifndef LZ_BACKENDS_CPU_SLABS_H
#define LZ_BACKENDS_CPU_SLABS_H
#include <stddef.h>
#include <stdint.h>

enum { LZ_SLAB_PAGE = 4096, LZ_HUGE_PAGE = 2 << 20, LZ_SLAB_BYTES = 64 << 20 };

/* n <= LZ_SLAB_BYTES. Zero-filled. NULL: out of memory. */
void *lz_slab_cut(size_t n);
/* frees a whole block of lz_slab_cut */
void lz_slab_give(void *p, size_t n);
/* Maps n bytes at a multiple of a huge page, of huge pages where the system has them, zero-filled;
 * freed with munmap. NULL: out of memory. */
void *lz_map_huge(size_t n);

/* slabs, and free address ranges in them */
void lz_slab_count(uint32_t *slabs, uint32_t *gaps);
#endif
