/* portable.h - a function in operations of StableHLO (and CHLO) alone, for compilers of others.
 * What only Lazuli has is expanded: matrix decompositions, random bits and long complex products as
 * the pass `expand` does, views of windows to gathers, marks to the values that they mark; in the
 * bodies of loops and branches, too. Operations that a compiler of StableHLO has by itself
 * (convolutions, windows, sorts, FFTs of the lengths that it takes) stay.
 * Threads: thread-safe. */
#ifndef LZ_LOWER_PORTABLE_H
#define LZ_LOWER_PORTABLE_H
#include "ir/module.h"

typedef struct lz_portable_options {
    bool native_rng; /* random bits are the other compiler's own (rng_bit_generator stays) */
    /* Gathers of whole rows of at most so many are selects among all of them, for devices that
     * gather slowly; 0: none */
    int64_t gather_threshold;
} lz_portable_options;
/* o: NULL is all defaults. The caller frees *out. Errors: LZ_EUNSUPPORTED naming an operation
 * without an expansion; LZ_EMEM. */
lz_status lz_lower_portable(const lz_func *f, const lz_portable_options *o, lz_func **out);
#endif
