/* loop_join.h - code of a loop of kernels as one function (lower/plan/plan_join.h).
 * Threads: an em belongs to one thread. */
#ifndef LZ_CODEGEN_LOOP_JOIN_H
#define LZ_CODEGEN_LOOP_JOIN_H
#include "codegen/llvm/em.h"

/* Emits lz_grid, lz_run and, where a kernel needs it, lz_scratch for a kernel that is a loop: the
 * loop, with its kernels as functions that lz_loop_join_optimize puts where they are called. */
lz_status lz_loop_join_emit(em *e, const lz_kernel *k);
/* Makes one function of them, with what the loop carries in registers where it can be. No bit of a
 * result changes. Errors: LZ_ECOMPILE with what LLVM says. */
lz_status lz_loop_join_optimize(LLVMModuleRef m, LLVMTargetMachineRef tm, const char *name);
#endif
