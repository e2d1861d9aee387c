/* split_reductions.h - shared by the files of the pass `split_reductions`.
 * Threads: thread-compatible. */
#ifndef LZ_LOWER_PASSES_SPLIT_REDUCTIONS_H
#define LZ_LOWER_PASSES_SPLIT_REDUCTIONS_H
#include "lower/passes/rewrite.h"

/* What the product that is instruction i becomes where it is cut, else LZ_NOVAL. */
lz_val lz_split_product(lz_rw *rw, uint32_t i);
#endif
