/* routine.h - operations that a routine of the host does as one step of a plan, on whole arrays: no
 * code is generated for them. Those of class FFT are of fft/, those of class LINALG of linalg/. A
 * backend that runs routines says so (lz_lower_options.routines); for any other the pass `expand`
 * takes the operations apart. Threads: thread-safe. */
#ifndef LZ_LOWER_ROUTINE_H
#define LZ_LOWER_ROUTINE_H
#include "base/alloc.h"
#include "ir/op.h"

/* Called as the code of a kernel is: bufs are the results and the operands, units begin..end are
 * done, in `scratch` bytes of memory of the call's own, aligned to 64. Results do not depend on how
 * the units are divided. */
typedef struct lz_routine {
    void (*run)(void *const *bufs, const int64_t *args, int64_t begin, int64_t end, void *scratch);
    const int64_t *args; /* its own, in the arena it was made in */
    int64_t units;
    size_t scratch;
} lz_routine;

/* Whether operations of this kind have one, for some types. */
bool lz_routine_may_do(lz_op op);
/* Whether there is one: the dtype is f32 or f64 or complex numbers of these, no value is empty,
 * and sizes are within the routine's bounds. */
bool lz_routine_has(const lz_sig *s);
/* Estimate, in floating-point operations; 0: there is none. */
uint64_t lz_routine_work(const lz_sig *s);
lz_status lz_routine_new(lz_arena *mem, const lz_sig *s, lz_routine *out);
/* Runs it in this thread. bufs: results, operands. */
lz_status lz_routine_run_alone(const lz_sig *s, void *const *bufs);
#endif
