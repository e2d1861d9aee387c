/* cpu_dump.h - what LAZULI_DUMP writes about the code of one program, besides what
 * lower/lower_dump.h writes: llvm.ll, asm.s, key.txt, timing.tsv, for the stages llvm, asm, key and
 * timing (or all), numbered like the rest.
 * Threads: thread-safe. */
#ifndef LZ_BACKENDS_CPU_CPU_DUMP_H
#define LZ_BACKENDS_CPU_CPU_DUMP_H
#include "backends/cpu/cpu_exec.h"

typedef struct lz_cpu_times {
    double lower_ms, kernels_ms;
} lz_cpu_times;
bool lz_cpu_dump_on(void);
/* name: the program's; may be NULL. key: the device's bytes. */
void lz_cpu_dump(const lz_exec *x, const lz_target *t, const char *name, const lz_buf *key,
                 const lz_cpu_times *times);
#endif
