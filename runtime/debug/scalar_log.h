/* scalar_log.h - the newest scalars of a training, which a line of progress has behind it. The
 * files are those of include/lazuli/debug.h. Threads: thread-safe. */
#ifndef LZ_RUNTIME_DEBUG_SCALAR_LOG_H
#define LZ_RUNTIME_DEBUG_SCALAR_LOG_H
#include "base/vec.h"

/* Appends "  loss 1.253  lr 0.001": the newest values of the first four names. */
void lz_scalar_log_print_newest(lz_buf *out);
/* A number in at most four digits. */
void lz_scalar_print(lz_buf *out, double v);
#endif
