/* callback.h - what public functions that take callbacks share: the frame of one call (operands as
 * nodes, results or error tensors), and the handles a callback gets and gives.
 * Threads: a frame is on one thread's stack. */
#ifndef LZ_RUNTIME_REGION_CALLBACK_H
#define LZ_RUNTIME_REGION_CALLBACK_H
#include "runtime/region/region_trace.h"

enum { LZ_CALL_MOST = 1 << 16 }; /* values of one operation */

/* One public call: the operands as nodes, and where the results go. */
typedef struct lz_call {
    lz_api_frame frame;
    const lz_site *site;
    lz_dev *dev;
    LZ_VEC(lz_node *) in; /* owned */
    lz_tensor **out;
    int nout;
} lz_call;

lz_status lz_call_open_from(lz_call *c, const char *op, const lz_site *site, lz_tensor **out,
                            int nout, void *caller);
#define lz_call_open(c, op, site, out, nout)                                                       \
    lz_call_open_from((c), (op), (site), (out), (nout), __builtin_return_address(0))
/* n operands; `what` names their list */
lz_status lz_call_take(lz_call *c, lz_tensor *const *t, int n, const char *what);
lz_status lz_call_device(lz_call *c); /* that of the operands, else the thread's */
/* Returns the results, or error tensors. nodes: n of them, owned; released. */
lz_status lz_call_close(lz_call *c, lz_status s, lz_node **nodes, int n);

/* Placeholders of the same types, as handles. */
lz_status lz_body_handles(lz_body *b, lz_node *const *like, uint32_t n, lz_tensor **out);
/* The nodes of a callback's results: owned. want: required types, or NULL. */
lz_status lz_body_results(lz_tensor *const *t, uint32_t n, const lz_type *const *want,
                          const char *what, lz_node **out);
#endif
