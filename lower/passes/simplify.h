/* simplify.h - shared by the files of pass `simplify`. Each function returns the replacement of
 * instruction i, or LZ_NOVAL.
 * Threads: as lz_rw. */
#ifndef LZ_LOWER_PASSES_SIMPLIFY_H
#define LZ_LOWER_PASSES_SIMPLIFY_H
#include "lower/passes/rewrite.h"

lz_val lz_simplify_ew(lz_rw *rw, uint32_t i);
lz_val lz_simplify_move(lz_rw *rw, uint32_t i);
lz_val lz_simplify_sum_of_parts(lz_rw *rw, uint32_t i); /* of an addition */
lz_val lz_simplify_reduce(lz_rw *rw, uint32_t i);
#endif
