/* kernels.h - loaded kernels of this process: one piece of code per canonical kernel, shared by every executable that has it.
 * A kernel is looked for in memory, then in the persistent cache, then compiled; what is missing is compiled on several threads. A kernel
 * nobody uses any more waits among the last few hundred such, then its memory is freed. Threads: thread-safe. */
#ifndef LZ_BACKENDS_CPU_KERNELS_H
#define LZ_BACKENDS_CPU_KERNELS_H
#include "backends/llvm/codegen.h"
#include "cache/cache.h"

typedef struct lz_kcode lz_kcode;
typedef enum lz_kernel_source { LZ_FROM_MEMORY, LZ_FROM_DISK, LZ_FROM_LLVM } lz_kernel_source;

typedef struct lz_kernel_load {
    lz_kcode *code;                     /* a reference */
    lz_kernel_source source;
    double ms;                          /* reading or compiling */
} lz_kernel_load;

/* out[i] for k[i]. Errors: those of lz_llvm_compile, LZ_EMEM; then no references are left. cache may be NULL. */
lz_status lz_kernels_load(lz_kernel *const *k, uint32_t n, const lz_target *t, lz_cache *cache, lz_kernel_load *out);
void lz_kernels_release(lz_kcode *c);   /* NULL is fine */

lz_run_fn lz_kcode_run(const lz_kcode *c);
lz_size_fn lz_kcode_grid(const lz_kcode *c);
lz_size_fn lz_kcode_scratch(const lz_kcode *c);
size_t lz_kcode_nbytes(const lz_kcode *c);

/* Key of the kernel's entry in the cache. */
void lz_kernels_key(const lz_kernel *k, const lz_target *t, lz_buf *out);

typedef struct lz_kernels_stats {
    uint64_t compiles, disk_hits, memory_hits, misses;  /* misses: not in memory */
    uint32_t live, waiting;
} lz_kernels_stats;
void lz_kernels_get_stats(lz_kernels_stats *out);
void lz_kernels_trim(void);             /* frees the code nobody uses */
#endif
