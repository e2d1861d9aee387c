/* buffers.h - buffer assignment: where every buffer of a scheduled fusion is placed.
 * Stages: lower, after schedule and to_loops.   Reads: order of steps, kernels.   Writes:
 *   lz_bufmap.
 * Units:  bytes; offsets in the arena are multiples of 64.   Threads: pure functions. */
#ifndef LZ_LOWER_PLAN_BUFFERS_H
#define LZ_LOWER_PLAN_BUFFERS_H
#include "lower/plan/plan.h"
#include "lower/loops/to_loops.h"

typedef struct lz_bufmap {
    lz_bufref *ref; /* by buffer; constants and arguments too */
    /* by step: a copy of a buffer onto itself, which is skipped */
    bool *skip;
    int32_t *out_alias; /* by result of the function */
    uint64_t temp_bytes, const_bytes;
    void *consts; /* 64-byte aligned, in the arena given */
} lz_bufmap;

/* step[i]: the group of step i, lowered as low[i]. donate: per argument, may be NULL; pairwise:
 * argument k only to result k. Everything in *out is in `arena`.
 * Invariant: two values whose live ranges meet never overlap, except a value written in place of
 *   one that dies there. */
lz_status lz_plan_buffers(const lz_fusion *fu, const uint32_t *step, const lz_lowered *low,
                          uint32_t nstep, const bool *donate, bool pairwise, lz_arena *arena,
                          lz_bufmap *out);
/* Places n ranges alive from def[i] to last[i] inclusive; gives the arena's size. */
lz_status lz_arena_layout(uint32_t n, const uint64_t *nbytes, const uint32_t *def,
                          const uint32_t *last, uint64_t *offset, uint64_t *total);
#endif
