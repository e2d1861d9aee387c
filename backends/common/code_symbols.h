/* code_symbols.h - names of generated code for debuggers and profilers: gdb's and lldb's JIT
 * interface, always; for perf a map (LAZULI_PERF) or a dump with the instructions (LAZULI_JITDUMP).
 * Needs no LLVM. A failure costs names, never a program.
 * Threads: thread-safe. */
#ifndef LZ_BACKENDS_COMMON_CODE_SYMBOLS_H
#define LZ_BACKENDS_COMMON_CODE_SYMBOLS_H
#include "codegen/code_image.h"
#include "lower/loops/loop.h"

/* Names of one kernel that debuggers know. */
typedef struct lz_code_symbols lz_code_symbols;
/* The functions of the image, which runs at `at`: lazuli_HASH_NAME is the kernel itself (lz_run),
 * lazuli_HASH_NAME.lz_grid one of its others. NULL: there is no memory. */
lz_code_symbols *lz_code_symbols_add(const void *at, const void *image, size_t nbytes,
                                     const lz_kernel *k);
/* Before the code goes. NULL is fine. */
void lz_code_symbols_remove(lz_code_symbols *s);
uint32_t lz_code_symbols_count(void); /* kernels that debuggers know */
#endif
