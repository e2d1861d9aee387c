/* expand_bits.h - bit casts that are more than another view of memory, for pass `expand`. */
#ifndef LZ_LOWER_PASSES_EXPAND_BITS_H
#define LZ_LOWER_PASSES_EXPAND_BITS_H
#include "lower/passes/rewrite.h"

lz_val lz_expand_bitcast(lz_rw *rw, uint32_t i); /* LZ_NOVAL: it is such a view */
#endif
