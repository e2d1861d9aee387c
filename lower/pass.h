/* pass.h - the pass manager over the tensor IR. A pass takes a function and returns a new one, or
 * reports that nothing changed. Rows of passes.def: PASS(name, required, needs, breaks, "doc").
 * lower/pipeline.c lists the passes in order, with the reason for the order. Debug builds and
 * LAZULI_VERIFY verify every result, and hold "changed" to the hash. LAZULI_DUMP dumps after
 * passes, LAZULI_PASSES_OFF skips them.
 * Threads: thread-compatible. */
#ifndef LZ_LOWER_PASS_H
#define LZ_LOWER_PASS_H
#include "ir/module.h"
#include "lower/options.h"

/* Gives a new function, or *out = NULL when nothing changed. o is never NULL. */
typedef lz_status lz_pass_fn(const lz_func *in, const lz_lower_options *o, lz_func **out);
typedef struct lz_pass {
    const char *name, *doc;
    lz_pass_fn *run;
} lz_pass;
const lz_pass *lz_pass_get(const char *name); /* NULL when unknown */
const lz_pass *lz_pass_at(int i);             /* row i; NULL past the end */
/* Runs before the first pass of every pipeline from now on; NULL: nothing does. For tests of what
 * looks for wrong passes. */
void lz_pass_inject(lz_pass_fn *run);
/* Runs a comma-separated list of passes (`lazuli opt --passes=`); "pipeline" in it is the whole
 * pipeline. o: NULL is all defaults. Takes no ownership of f. */
lz_status lz_passes_run(const lz_func *f, const char *list, const lz_lower_options *o,
                        lz_func **out);
#endif
