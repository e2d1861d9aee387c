/* linalg_sig.h - operations that a routine of linalg/ does: what the routine is told, and what it
 * needs. Threads: thread-safe. */
#ifndef LZ_LOWER_LINALG_SIG_H
#define LZ_LOWER_LINALG_SIG_H
#include "ir/op.h"
#include "linalg/linalg.h"

/* Whether there is a routine for an operation of class LINALG: its dtype is f32, f64 or complex,
 * no value is empty, and scratch memory can be addressed. Others are for the pass `expand`. */
bool lz_linalg_has(const lz_sig *s);
/* Of such an operation. */
lz_linalg_task lz_linalg_task_of(const lz_sig *s);
/* How many matrices it is of. */
int64_t lz_linalg_count(const lz_sig *s);
/* An estimate for all of them, in floating-point operations. */
double lz_linalg_work(const lz_sig *s);
#endif
