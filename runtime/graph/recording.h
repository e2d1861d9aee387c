/* recording.h - the bodies that a thread is recording (callbacks of loops, branches, functions):
 * what an assignment to a tensor from outside of a body means, and what such a tensor stands for
 * inside. A body sees its own assignments; nobody else does, so other threads, which may be using
 * the tensor, never meet a value that exists only inside.
 * Threads: a recording belongs to the thread that runs the callback. */
#ifndef LZ_RUNTIME_GRAPH_RECORDING_H
#define LZ_RUNTIME_GRAPH_RECORDING_H
#include "runtime/graph/handle.h"

typedef enum lz_assign_rule {
    LZ_ASSIGN_REFUSED, /* a body that runs any number of times: LZ_EINVAL */
    LZ_ASSIGN_RESULT,  /* one that runs once: a further result, assigned when it is recorded */
    LZ_ASSIGN_STATE    /* a function: state of its, assigned by each call (function_trace.h) */
} lz_assign_rule;

/* What a tensor from outside stands for inside. */
typedef struct lz_bound_handle {
    uint64_t handle; /* retained */
    lz_node *now;    /* owned */
    bool assigned;   /* else it was only read */
    const lz_site *site;
} lz_bound_handle;

typedef struct lz_recording {
    struct lz_recording *outer; /* of the same thread */
    const char *op;             /* the public call that records the body, and its place */
    const lz_site *site;
    uint64_t first_id; /* nodes and handles made since then have this id or a larger one */
    lz_assign_rule rule;
    /* something that the body, or one in it, wanted to leave with a tensor from outside */
    bool refused;
    LZ_VEC(lz_bound_handle) bound;      /* by first assignment, in functions by first use */
    struct lz_function_trace *function; /* NULL: the body is no function's */
} lz_recording;

void lz_recording_begin(lz_recording *r, lz_thread_state *t);
void lz_recording_end(lz_recording *r, lz_thread_state *t);
void lz_recording_free(lz_recording *r);
/* Whether the thread made the handle since the body began: it is not from outside. */
bool lz_recording_made(const lz_recording *r, const lz_thread_state *t, const lz_slot *s);
/* *out: the node that the handle stands for inside of the thread's bodies, retained; NULL with the
 * error recorded. False: it stands for the slot's. */
bool lz_recording_read(const lz_thread_state *t, lz_slot *s, uint64_t h, lz_node **out);
/* LZ_EINVAL in a body of the thread that the handle is from outside of: what lz_backward leaves
 * with the handle would be a value that exists only inside. */
lz_status lz_recording_may_keep_grad(const lz_thread_state *t, lz_slot *s, uint64_t h);
/* *inside: an assignment to the handle is the innermost body's, and the slot stays as it is.
 * LZ_EINVAL in a body that may run any number of times. */
lz_status lz_recording_may_assign(const lz_thread_state *t, lz_slot *s, uint64_t h, bool *inside);
/* Room for n assignments, so that lz_recording_assign has it. LZ_EMEM. */
lz_status lz_recording_reserve(const lz_thread_state *t, uint32_t n);
/* An assignment inside of the innermost body. Takes over n and, when it gives true, the caller's
 * reference to the handle. */
bool lz_recording_assign(const lz_thread_state *t, uint64_t h, lz_node *n, const lz_site *site);
#endif
