/* eval_frame.h - one run of a function by the reference evaluator, an instruction at a time, for
 * those who run several side by side (eval_partitions.c).
 * Threads: thread-compatible. */
#ifndef LZ_IR_EVAL_EVAL_FRAME_H
#define LZ_IR_EVAL_EVAL_FRAME_H
#include "ir/eval/eval.h"

/* Values: those of instruction i are val[first[i]] and on. */
typedef struct lz_ref_frame {
    const lz_func *f;
    uint32_t *uses, *first; /* uses: still to come; 0: dead, or a parameter that nobody reads */
    lz_literal **val;
    uint64_t nval;
    lz_literal **opnd; /* operands of the instruction at hand */
} lz_ref_frame;

/* depth: of nested regions. Ends in lz_ref_frame_end on error too. Errors: as lz_ref_run. */
lz_status lz_ref_frame_begin(lz_ref_frame *r, const lz_func *f, lz_literal *const *args, int depth);
void lz_ref_frame_end(lz_ref_frame *r);
/* The values of instruction i, whose uses[i] is not 0. */
lz_status lz_ref_frame_step(lz_ref_frame *r, uint32_t i, lz_literal *const *args, int depth);
/* Instruction i has its values: what nobody else reads goes. */
void lz_ref_frame_used(lz_ref_frame *r, uint32_t i);
/* New references. */
void lz_ref_frame_results(const lz_ref_frame *r, lz_literal **results);
/* One operation; on failure every result is NULL. */
lz_status lz_ref_eval_at(const lz_sig *sig, lz_literal *const *opnds, lz_literal **results,
                         int depth);
#endif
