/* error_tensor.c - error tensors for composites written with the public operations. */
#include "base/fork.h"
#include "runtime/graph/node.h"
#include "runtime/graph/thread_state.h"
#include <lazuli/hlo.h>

lz_tensor *lz_error_tensor_last(const char *op, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    if (lz_error_get()->status == LZ_OK) /* the program's mistake, not the library's */
        LZ_FAIL(LZ_ESTATE, "no error has been recorded");
    (void)lz_thread_state_get(); /* the thread's first call makes it */
    return lz_trace_error_tensor(op ? op : "", site);
}
