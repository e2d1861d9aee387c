/* machine.h - facts about the machine that code is generated for, as the compiler front and the
 * code generator both take them: embedded in lz_lower_options (plan/plan.h) and lz_target
 * (codegen/codegen.h). Zero means unknown.
 * Invariant: results do not depend on them. The front decides by shapes alone, so that a plan made
 * on one machine is the plan of every other.
 * Units: bytes. Threads: plain values. */
#ifndef LZ_LOWER_MACHINE_H
#define LZ_LOWER_MACHINE_H
#include <stdint.h>

typedef struct lz_machine {
    int vector_bytes; /* widest vector register: 64 AVX-512, 32 AVX2, 16 SSE and NEON */
    int threads;      /* workers of a CPU, multiprocessors of a GPU */
    /* data caches: first level and second level of a core, last level of all */
    int64_t l1_bytes, l2_bytes, l3_bytes;
} lz_machine;
#endif
