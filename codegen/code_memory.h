/* code_memory.h - kernels in executable memory. An image (code_image.h), fresh from the JIT or from
 * the cache, is checked, copied and its slots filled in; that needs no LLVM. No page is writable
 * and executable at one address.
 * Units: bytes.   Threads: thread-safe. */
#ifndef LZ_CODEGEN_CODE_MEMORY_H
#define LZ_CODEGEN_CODE_MEMORY_H
#include "codegen/codegen.h"

/* A kernel in executable memory. */
typedef struct lz_code {
    lz_run_fn run;
    lz_size_fn grid, scratch;
    const void *at; /* where its executable memory begins */
    size_t nbytes;
    void *region; /* where it lies: code_memory.c */
    size_t offset;
    void *symbols; /* the loader's own: what debuggers know of it */
} lz_code;

/* The bytes are untrusted. Errors: LZ_ECORRUPT saying what is wrong with them, LZ_EMEM. On error
 * *out is zeroed. */
lz_status lz_code_load(const void *image, size_t nbytes, lz_code *out);
void lz_code_free(lz_code *c); /* a zeroed one is fine */

typedef struct lz_code_stats {
    uint64_t live_bytes, mapped_bytes;
    uint32_t kernels, regions; /* a region is one or two mappings of the process */
} lz_code_stats;
void lz_code_get_stats(lz_code_stats *out);
#endif
