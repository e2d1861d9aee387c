/* tensor_text.h - elements as text, for whoever has them in host memory.
 * Threads: thread-safe. */
#ifndef LZ_RUNTIME_EXEC_TENSOR_TEXT_H
#define LZ_RUNTIME_EXEC_TENSOR_TEXT_H
#include "base/text.h"
#include "ir/op.h"

/* Row-major elements in NumPy's layout. Lines after the first begin with `indent` blanks. */
void lz_array_text(const lz_type *type, const void *data, int indent, lz_buf *out);

#endif
