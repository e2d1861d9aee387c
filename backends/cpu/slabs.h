/* slabs.h - blocks cut from mappings of huge pages that many of them share: a page fault brings 2
 * MiB of them, not 4 KiB of one, and none ends in small pages. Address ranges that are given back
 * lose their memory at once and are cut again, the lowest that is long enough first; a slab that
 * nothing is cut from goes back to the system.
 * Units: bytes, multiples of LZ_SLAB_PAGE.   Threads: the caller's lock (mem.c). */
#ifndef LZ_BACKENDS_CPU_SLABS_H
#define LZ_BACKENDS_CPU_SLABS_H
#include <stddef.h>
#include <stdint.h>

enum { LZ_SLAB_PAGE = 4096, LZ_HUGE_PAGE = 2 << 20, LZ_SLAB_BYTES = 64 << 20 };

/* n <= LZ_SLAB_BYTES. All bytes are 0. NULL: the system gives nothing. */
void *lz_slab_cut(size_t n);
/* what lz_slab_cut gave, whole */
void lz_slab_give(void *p, size_t n);
/* n bytes at a multiple of a huge page, of huge pages where the system has them, all 0; munmap
 * gives them back. NULL: the system has none. */
void *lz_map_huge(size_t n);

/* mappings; free address ranges in them */
void lz_slab_count(uint32_t *slabs, uint32_t *gaps);
#endif
