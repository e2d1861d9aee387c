/* xla_meaning.h - where XLA, which programs of JAX and PyTorch mean, does something else than
 * StableHLO's specification, which the rows of ops.def follow:
 *
 *   scatter        a window that is not wholly inside is dropped whole; the specification, and the
 *                  row, drop the elements outside
 *   reduce_window  padding and the holes between dilated elements are no elements; the row takes
 *                  the initial value for each, once more than XLA does at the start of a window
 *
 * What is read means XLA's, made of rows that say it, but for conformance programs (check.h) and
 * operations that say they mean the row (as this library prints them).
 * Threads: thread-compatible. */
#ifndef LZ_IR_XLA_MEANING_H
#define LZ_IR_XLA_MEANING_H
#include "ir/attr.h"
#include "ir/module.h"

/* The discardable attribute of operations that mean the row; printed where that differs. */
#define LZ_ROW_MEANT "lazuli.meaning = \"stablehlo\""
/* Whether the operation on these operands may give something else in XLA. */
bool lz_xla_differs(const lz_func *f, lz_op op, const lz_attr *attr, const lz_val *opnd,
                    uint32_t nopnd);

/* What is done behind an operation so that it means what XLA does. */
typedef struct lz_xla_after {
    lz_op combine; /* the result with the initial value; LZ_OP_NONE: nothing */
    lz_val init;
    uint32_t results; /* so many are the program's; 0: all */
    /* of these, what it makes of the initial values and each result, where the result behind them
     * says that there is one; NULL: nothing */
    const lz_func *fold;
} lz_xla_after;
/* Before the operation is built: other operands and attributes, with room for LZ_XLA_MORE operands
 * more. LZ_NOVAL among the operands after an error of f. */
enum { LZ_XLA_MORE = 2 };
lz_status lz_xla_before(lz_func *f, lz_op op, lz_attr_any *a, lz_val *opnd, uint32_t *nopnd,
                        lz_xla_after *after);
/* Behind it: opnd as it was built of, results as it gave them. */
lz_status lz_xla_finish(lz_func *f, const lz_xla_after *after, const lz_val *opnd, lz_val *results);
#endif
