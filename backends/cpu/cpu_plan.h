/* cpu_plan.h - the plan that the CPU compiles a function to, without its code: for tools that show
 * it. Threads: thread-safe; after lz_backend.init. */
#ifndef LZ_BACKENDS_CPU_CPU_PLAN_H
#define LZ_BACKENDS_CPU_CPU_PLAN_H
#include "backends/backend.h"
#include "lower/plan/plan.h"

/* o as for lz_backend.compile; NULL: nothing is donated. Errors: those of lz_lower. */
lz_status lz_cpu_plan(const lz_func *f, const lz_compile_options *o, lz_plan **out);
#endif
