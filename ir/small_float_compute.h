/* small_float_compute.h - floats that are only stored, in programs that compute with them: as XLA
 * does, in f32, rounded once for each operation; a reduction is rounded at its end.
 * Threads: thread-compatible. */
#ifndef LZ_IR_SMALL_FLOAT_COMPUTE_H
#define LZ_IR_SMALL_FLOAT_COMPUTE_H
#include "ir/module.h"

/* t in f32 where its elements are only stored, else t. NULL with LZ_EMEM. */
const lz_type *lz_small_widened(const lz_type *t);
/* Converts those of the n operands that are only stored. */
lz_status lz_small_widen(lz_func *f, lz_val *opnd, uint32_t n);
/* The region with f32 in their place, where it rounds nothing any more; r itself where it has none.
 * NULL with the error. */
const lz_func *lz_small_widen_region(const lz_func *r);
#endif
