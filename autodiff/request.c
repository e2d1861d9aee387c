/* request.c - see request.h. */
#include "autodiff/request.h"
#include "base/status.h"

void lz_request_close_scope(lz_status s, lz_tensor *const *results, size_t n)
{
    for (size_t k = 0; k < n && s == LZ_OK; k++)
        lz_escape(results[k]);
    LZ_QUIETLY {
        (void)lz_scope_end();
    }
}

lz_status lz_request_finish(const lz_api_frame *frame, const char *op, lz_status s,
                            lz_tensor **results, size_t n, const lz_site *site)
{
    if (s != LZ_OK)
        (void)lz_api_status(s);
    for (size_t k = 0; k < n && s != LZ_OK && results; k++)
        results[k] = lz_trace_error_tensor(op, site);
    return lz_api_leave(frame, s);
}
