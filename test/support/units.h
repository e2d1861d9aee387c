/* units.h - what generated code promises the runtime, checked kernel by kernel: it touches nothing
 * outside of the bytes a step names (each buffer ends, or starts, at a page that cannot be
 * touched), no two units write the same place, and neither the order of units nor how they are cut
 * changes a bit.
 * Threads: thread-compatible. */
#ifndef LZ_TEST_UNITS_H
#define LZ_TEST_UNITS_H
#include "codegen/codegen.h"
#include "support/diff.h"

/* Runs f on args, every kernel of its plan compiled for t; what a diff way does. */
bool lz_units_run(const lz_func *f, const lz_target *t, lz_literal *const *args, const bool *donate,
                  lz_diff_result *r);
#endif
