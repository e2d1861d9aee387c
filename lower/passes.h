/* passes.h - the functions behind the rows of passes.def. Threads: pure functions. */
#ifndef LZ_LOWER_PASSES_H
#define LZ_LOWER_PASSES_H
#include "ir/module.h"
#define PASS(name, required, needs, breaks, doc)                                                   \
    lz_status lz_pass_##name(const lz_func *in, lz_func **out);
#include "lower/passes.def"
lz_status lz_pass_split_reductions_columns(const lz_func *in, lz_func **out); /* see there */
#endif
