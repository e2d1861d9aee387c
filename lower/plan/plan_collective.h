/* plan_collective.h - collectives of partitions whose memory one process can address: loops over
 * it, in units that threads may share. Sums are formed in the order of the group, the first
 * member's operand first, each addition rounded to the dtype: the bits are those of the reference
 * evaluator, however many threads there are.
 * Threads: pure functions of the memory given; units write to different places. */
#ifndef LZ_LOWER_PLAN_PLAN_COLLECTIVE_H
#define LZ_LOWER_PLAN_PLAN_COLLECTIVE_H
#include "lower/plan/plan.h"

/* How many units of work it is: blocks of a sum, else results. 0: operands are empty. */
int64_t lz_collective_units(const lz_step_collective *c);
/* Bytes that it reads and writes, all partitions together. */
uint64_t lz_collective_traffic(const lz_step_collective *c);
/* Units begin..end-1. bufs[q]: of partition q the results, then the operands. The result of an
 * all_reduce may be where the operand of its number is.
 * Errors: LZ_EMEM and those of the region (regions that are no plain combiner). */
lz_status lz_collective_run(const lz_step_collective *c, void *const *const *bufs, int64_t begin,
                            int64_t end);

/* n arrays of nbytes bytes of operand k's dtype, combined in their order; `to` may be one of them.
 * sig: of a reduction. Errors: the same. */
lz_status lz_collective_fold(const lz_sig *sig, uint32_t k, const void *const *in, uint32_t n,
                             void *to, size_t nbytes);

/* to[i] = combiner(to[i], from[i]), for arrays that do not overlap; NULL: there is no loop for it.
 * avx2: the code for processors that have it, whose results are the same. (plan_combine.c) */
typedef void lz_combine_fn(void *to, const void *from, size_t n);
lz_combine_fn *lz_combine_get(lz_op op, lz_dtype d, bool avx2);
bool lz_combine_avx2(void); /* whether this processor has it and LAZULI_CPU leaves it */
#endif
