/* reduction.h - how a reduction, a scan or a dot is accumulated: combiner, accumulator dtype,
 * initial value. A function of the instruction alone, so that passes, fusion and the loop emitter
 * agree. Threads: pure functions. */
#ifndef LZ_LOWER_REDUCTION_H
#define LZ_LOWER_REDUCTION_H
#include "ir/module.h"

typedef struct lz_red_plan {
    /* LZ_OP_NONE: the region, with a first accumulator saying whether there is a value yet */
    lz_op comb;
    lz_dtype acc;  /* of a combiner; the operands' own dtypes for a region */
    uint64_t init; /* bits of a combiner's initial value */
    bool fold;     /* the instruction's initial value is combined in afterwards */
} lz_red_plan;
/* The region of a reduction, or of a reduce_window. */
const lz_func *lz_red_body(const lz_inst *in);
void lz_red_plan_of(const lz_func *f, lz_val reduce, lz_red_plan *p);
uint32_t lz_red_nacc(const lz_func *f, lz_val v); /* accumulators it takes */
#endif
