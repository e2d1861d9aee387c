/* request.h - how the public calls of autodiff/ end: what they recorded on the way is released with
 * a scope, their results outlive it.
 * Threads: a request is on one thread's stack. */
#ifndef LZ_AUTODIFF_REQUEST_H
#define LZ_AUTODIFF_REQUEST_H
#include "runtime/region/region_trace.h"

/* Ends the innermost scope. The results, when s is LZ_OK, move out of it. */
void lz_request_close_scope(lz_status s, lz_tensor *const *results, size_t n);
/* Ends the call: annotates the error of a failure and fills the results with error tensors. results
 * may be NULL. Gives s back. */
lz_status lz_request_finish(const lz_api_frame *frame, const char *op, lz_status s,
                            lz_tensor **results, size_t n, const lz_site *site);
/* Records LZ_EGRAD: derivatives go through n, whose operands are forgotten (lz_node_is_lost). */
lz_status lz_request_lost(const lz_node *n);
#endif
