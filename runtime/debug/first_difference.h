/* first_difference.h - which operation of a program is computed otherwise than by the reference
 * interpreter. A compiled program shows its results only, so it is compiled again with other
 * results: with every value, and where that hides the difference, with single ones.
 * Threads: thread-safe. */
#ifndef LZ_RUNTIME_DEBUG_FIRST_DIFFERENCE_H
#define LZ_RUNTIME_DEBUG_FIRST_DIFFERENCE_H
#include "runtime/exec/runtime_device.h"

/* Whether the results, computed on the device, agree with those of the reference (agreement.h).
 * Errors: LZ_ECHECK naming the first operation in the order of f that does not, or the result;
 * those of the reference, when it cannot run f. */
lz_status lz_first_difference(lz_dev *d, const struct lz_func *f, struct lz_literal *const *in,
                              struct lz_literal *const *results);
#endif
