/* batch.h - a function of one example made a function of many: the batch column of ir/ops.def. A
 * value is mapped (each example has its own: they lie along a new first dimension) or the same for
 * all. An operation without a mapped operand stays as it is; any other one is built by its rule,
 * which gives mapped results. Elementwise operations need no rule of their own, and one that has
 * none (`each`) runs in a loop over the examples. Results are those of a loop over the examples;
 * sums of floats may be taken in another order.
 * Threads: thread-compatible. */
#ifndef LZ_IR_BATCH_BATCH_H
#define LZ_IR_BATCH_BATCH_H
#include "ir/attr.h"
#include "ir/module.h"

/* f's instructions for n examples, built in `to` on args (as many as f has parameters). results,
 * out_mapped: as many as f has results. Errors: LZ_ESHAPE when a value would have more than
 * LZ_MAX_RANK dimensions, naming the operation; LZ_EMEM. */
lz_status lz_batch_inline(lz_func *to, const lz_func *f, int64_t n, const lz_val *args,
                          const bool *mapped, lz_val *results, bool *out_mapped);
/* Which results will be mapped. */
lz_status lz_batch_flow(const lz_func *f, const bool *mapped, bool *out_mapped);
/* x with the examples in front; a value that is the same for all is repeated. */
lz_val lz_batch_front(lz_func *to, lz_val x, int64_t n, bool mapped);

/* ---- for the rules ---- */
typedef struct lz_batch {
    lz_func *to; /* NULL: only out_mapped is asked for (rules of control flow and barriers) */
    int64_t n;
    const lz_sig *sig;  /* of the operation on one example */
    const lz_val *opnd; /* its operands in `to` */
    const bool *mapped; /* per operand; at least one is */
    lz_val *out;        /* per result */
    bool *out_mapped;   /* per result: true at the start */
} lz_batch;
typedef lz_status lz_batch_fn(const lz_batch *b);
#define LZ_EW(...)
#define LZ_OP(E, text, cls, arity, attr, dtypes, flags, infer, vjp, jvp, batch, ...)               \
    extern lz_batch_fn lz_batch_##batch;
#include "ir/ops.def"

/* operand k with the examples in front */
lz_val lz_batch_opnd(const lz_batch *b, uint32_t k);
/* The operation with this record on operands that all have the examples in front. */
lz_status lz_batch_all(const lz_batch *b, const lz_attr *record);
/* The same on these operands. */
lz_status lz_batch_build(const lz_batch *b, const lz_attr *record, const lz_val *opnd);
lz_status lz_batch_gave(const lz_batch *b, lz_val v); /* one result */
/* Dimension numbers on mapped values: one more each. With `first`: that in front of them. */
lz_ints lz_batch_shift(const lz_ints *v);
lz_ints lz_batch_list(int64_t first, const lz_ints *rest);
lz_shape lz_batch_shape(int64_t n, const lz_shape *s); /* n in front; rank may become too large */
/* A region for n examples, of all its parameters mapped as said; results are mapped where want
 * says, which must hold those that cannot be otherwise. NULL with the error recorded. */
const lz_func *lz_batch_region(const lz_func *f, int64_t n, const bool *mapped, const bool *want);
#endif
