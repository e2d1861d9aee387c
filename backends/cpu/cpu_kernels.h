/* cpu_kernels.h - loaded kernels of the CPU: backends/common/kernel_store.h with the JIT's images
 * for the host.
 * Threads: thread-safe. */
#ifndef LZ_BACKENDS_CPU_CPU_KERNELS_H
#define LZ_BACKENDS_CPU_CPU_KERNELS_H
#include "codegen/codegen.h"
#include "backends/common/kernel_store.h"

/* of the whole process; what its ops get is the target */
lz_kstore *lz_kernels_store(void);
/* out[i] for k[i]. Errors: those of lz_llvm_compile, LZ_EMEM; then no references are left. cache
 * may be NULL. */
lz_status lz_kernels_load(lz_kernel *const *k, uint32_t n, const lz_target *t, lz_cache *cache,
                          lz_kernel_load *out);
void lz_kernels_release(lz_kcode *c); /* NULL is fine */

lz_run_fn lz_kcode_run(const lz_kcode *c);
lz_size_fn lz_kcode_grid(const lz_kcode *c);
lz_size_fn lz_kcode_scratch(const lz_kcode *c);
size_t lz_kcode_nbytes(const lz_kcode *c);

/* Key of the kernel's entry in the cache. */
void lz_kernels_key(const lz_kernel *k, const lz_target *t, lz_buf *out);

void lz_kernels_get_stats(lz_kernels_stats *out);
void lz_kernels_trim(void); /* frees the code nobody uses */
#endif
