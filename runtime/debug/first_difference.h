/* first_difference.h - which operation of a program is computed otherwise than by the reference
 * interpreter. A compiled program shows its results only, so it is compiled again with other
 * results: with every value, and where that hides the difference, with single ones. An operation is
 * held against its operands as they were computed, so nothing adds up.
 * Threads: thread-safe. */
#ifndef LZ_RUNTIME_DEBUG_FIRST_DIFFERENCE_H
#define LZ_RUNTIME_DEBUG_FIRST_DIFFERENCE_H
#include "runtime/exec/runtime_device.h"

/* Whether the results, computed on the device, agree with those of the reference (agreement.h), or
 * each operation with its operands. order[v] says which instruction of f comes first; NULL: they
 * are in order. Errors: LZ_ECHECK naming the first operation that does not; those of the reference,
 * when it cannot run f, and of compiling. */
lz_status lz_first_difference(lz_dev *d, const struct lz_func *f, const uint32_t *order,
                              struct lz_literal *const *in, struct lz_literal *const *results);
#endif
