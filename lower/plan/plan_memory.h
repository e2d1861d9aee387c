/* plan_memory.h - what is in memory when a plan runs, and since when: the step at which most is,
 * and the largest buffers there, with the operations and lines behind them. Units: bytes. Threads:
 * pure functions. */
#ifndef LZ_LOWER_PLAN_PLAN_MEMORY_H
#define LZ_LOWER_PLAN_PLAN_MEMORY_H
#include "lower/plan/plan.h"

typedef struct lz_plan_buffer {
    lz_bufref_kind kind;
    uint32_t index; /* of the argument or result */
    uint64_t offset, nbytes;
    uint32_t written, read; /* steps: the one that makes it, the last that reads it; LZ_NO_STEP */
    uint32_t end;           /* the last step at which it is there */
} lz_plan_buffer;
#define LZ_NO_STEP UINT32_MAX
typedef struct lz_plan_peak {
    uint32_t step; /* LZ_NO_STEP: there are none */
    uint64_t inputs, results, temps, consts;
    LZ_VEC(lz_plan_buffer) alive; /* then, largest first; not constants */
} lz_plan_peak;
/* All buffers: those of temporaries in the order in which they are made, behind arguments and
 * results that do not take over an argument, which are there all the time (written and read as
 * above, end LZ_NO_STEP). LZ_EMEM */
typedef LZ_VEC(lz_plan_buffer) lz_plan_buffer_list;
lz_status lz_plan_find_buffers(const lz_plan *p, lz_plan_buffer_list *out);
/* Arguments and results are there all the time, a result that takes over an argument as that one.
 * LZ_EMEM */
lz_status lz_plan_find_peak(const lz_plan *p, lz_plan_peak *out);
void lz_plan_peak_free(lz_plan_peak *k);
/* "f32[2,3] sort net.c:7 (scope)": what a buffer holds, as far as it is known. */
void lz_plan_print_buffer(const lz_plan *p, const lz_plan_buffer *b, lz_buf *out);
/* The thread's error is that there is no memory for result k (LZ_NO_RESULT: for temporaries): adds
 * what needs it. Gives s. */
#define LZ_NO_RESULT UINT32_MAX
lz_status lz_plan_explain_memory(const lz_plan *p, uint32_t k, lz_status s);
/* Lines about the peak and its ten largest buffers. donate: by argument, whether the caller would
 * give it up; NULL: none. */
void lz_plan_print_peak(const lz_plan *p, const bool *donate, lz_buf *out);
#endif
