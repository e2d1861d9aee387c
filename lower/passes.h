/* passes.h - the functions behind the rows of passes.def; their contract is lz_pass_fn (pass.h).
 * Threads: pure functions. */
#ifndef LZ_LOWER_PASSES_H
#define LZ_LOWER_PASSES_H
#include "lower/pass.h"
#define PASS(name, required, needs, breaks, doc) lz_pass_fn lz_pass_##name;
#include "lower/passes.def"
#endif
