/* error_tensor.c - error tensors for composites written with the public operations. */
#include "base/fork.h"
#include "runtime/graph/node.h"
#include <lazuli/hlo.h>

lz_tensor *lz_error_tensor_last(const char *op, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return lz_trace_error_tensor(op ? op : "", site);
}
