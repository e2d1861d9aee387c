/* cpu_loops.h - loops of small kernels that an executable of the CPU runs as one function each
 * (lower/plan/plan_join.h): launching a kernel costs more than such a kernel takes.
 * Threads: belongs to the thread that makes the executable; immutable afterwards. */
#ifndef LZ_BACKENDS_CPU_CPU_LOOPS_H
#define LZ_BACKENDS_CPU_CPU_LOOPS_H
#include "backends/cpu/cpu_kernels.h"
#include "lower/plan/plan_exec.h"
#include "lower/plan/plan_join.h"

typedef struct lz_cpu_loop {
    lz_kernel *kernel;
    lz_kernel_load load;
} lz_cpu_loop;
typedef struct lz_cpu_loops {
    LZ_VEC(lz_cpu_loop) loops;
} lz_cpu_loops;

/* Finds the loops of a program and loads their code. late: by kernel, as lz_plan_exec_branches says
 * it; kernels that only these loops run become late, too. When code cannot be had there are no such
 * loops. Errors: LZ_EMEM. */
lz_status lz_cpu_loops_load(lz_cpu_loops *l, const lz_plan_exec *g, const lz_target *t,
                            lz_cache *cache, bool *late);
/* The loop of a step, or NULL. */
const lz_cpu_loop *lz_cpu_loops_find(const lz_cpu_loops *l, const lz_step *s);
void lz_cpu_loops_free(lz_cpu_loops *l);
#endif
