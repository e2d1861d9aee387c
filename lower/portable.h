/* portable.h - a function in operations of StableHLO (and CHLO) alone, for compilers of others.
 * What only Lazuli has is expanded: matrix decompositions, random bits and long complex products as
 * the pass `expand` does, views of windows to gathers, marks to the values that they mark; in the
 * bodies of loops and branches, too. Operations that a compiler of StableHLO has by itself
 * (convolutions, windows, sorts, FFTs of the lengths that it takes) stay.
 * Threads: thread-safe. */
#ifndef LZ_LOWER_PORTABLE_H
#define LZ_LOWER_PORTABLE_H
#include "ir/module.h"

/* The caller frees *out. Errors: LZ_EUNSUPPORTED naming an operation without an expansion;
 * LZ_EMEM. */
lz_status lz_lower_portable(const lz_func *f, lz_func **out);
#endif
