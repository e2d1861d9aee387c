/* schedules.h - the code of a kernel by its schedule (schedules.def).
 * Threads: an em belongs to one thread. */
#ifndef LZ_CODEGEN_SCHEDULES_H
#define LZ_CODEGEN_SCHEDULES_H
#include "codegen/llvm/em.h"

lz_status lz_schedule_emit(em *e, const lz_kernel *k);
/* gpu/simt.c: the same for GPU targets. */
lz_status lz_simt_emit(em *e, const lz_kernel *k);
#endif
