/* expand_linalg.h - matrix decompositions as loops of products and elementwise operations (part of
 * pass `expand`). Threads: thread-compatible. */
#ifndef LZ_LOWER_EXPAND_LINALG_H
#define LZ_LOWER_EXPAND_LINALG_H
#include "lower/rewrite.h"

/* The value of instruction i, of class LINALG, in rw->out. LZ_NOVAL with rw->out->status set on
 * failure. */
lz_val lz_expand_linalg(lz_rw *rw, uint32_t i);
#endif
