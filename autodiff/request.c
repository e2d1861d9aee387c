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
    return lz_api_leave_update(frame, s);
}

lz_status lz_request_lost(const lz_node *n)
{
    char type[128];
    const lz_site *at = n->site;
    lz_type_short(lz_node_type(n), type, sizeof type);
    return LZ_FAIL(LZ_EGRAD,
                   "derivatives go through a value (%s, %s:%d) whose history is gone: without "
                   "lz_mark_step graphs are run automatically, and history is kept for so many "
                   "operations or bytes only (LAZULI_GRAPH_LIMIT, LAZULI_GRAPH_LIMIT_MB). Step, or "
                   "lz_detach what needs no derivative",
                   type, at && at->file ? at->file : "?", at ? at->line : 0);
}
