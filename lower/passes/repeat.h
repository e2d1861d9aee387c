/* repeat.h - values that repeat each element several times in a row along some dimensions: a
 * broadcast to new dimensions right after those, merged by a reshape.
 * Threads: thread-compatible. */
#ifndef LZ_LOWER_PASSES_REPEAT_H
#define LZ_LOWER_PASSES_REPEAT_H
#include "ir/module.h"

/* x with each element times[d] times in a row along dimension d; x itself where all are 1. */
lz_val lz_build_repeat(lz_func *f, lz_val x, const lz_ints *times);
/* Whether value v of f is one, and what is repeated how often along which dimension; else
 * LZ_NOVAL. */
lz_val lz_repeated(const lz_func *f, lz_val v, lz_ints *times);
#endif
