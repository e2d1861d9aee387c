/* dump.h - what LAZULI_DUMP writes about one compiled program: NNNN.<name>.plan.txt, .loops.txt, .ll, .s, .key.txt, .timing.tsv in
 * LAZULI_DUMP_DIR, NNNN counting the programs of the process. Stages: plan, loops, llvm, asm, key, timing, or all.
 * A dump that cannot be written is warned about once. Threads: thread-safe. */
#ifndef LZ_BACKENDS_CPU_DUMP_H
#define LZ_BACKENDS_CPU_DUMP_H
#include "backends/cpu/exec.h"

typedef struct lz_cpu_times {
    double lower_ms, kernels_ms;
} lz_cpu_times;
bool lz_cpu_dump_on(void);
void lz_cpu_dump(const lz_exec *x, const lz_target *t, const char *name, const lz_buf *key, const lz_cpu_times *times);
#endif
