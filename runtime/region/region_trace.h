/* region_trace.h - the tracing API below the public one: regions traced from callbacks, recorded
 * again and run by control-flow operations. It is all of the runtime that autodiff/ includes
 * (together with the graph's nodes, runtime/graph/node.h, which it brings along).
 * A callback's arguments are placeholders, values that exist only inside its body. What is recorded
 * on them becomes a region (a function of the tensor IR); a value used from outside is captured: it
 * becomes a further operand of the operation that runs the region.
 * Threads: a body belongs to the thread that records it. */
#ifndef LZ_RUNTIME_REGION_REGION_TRACE_H
#define LZ_RUNTIME_REGION_REGION_TRACE_H
#include "ir/counted.h"
#include "runtime/graph/trace_builder.h"

/* A loop whose body is being recorded: the seeds of random operations depend on its index. */
typedef struct lz_loop_frame {
    struct lz_loop_frame *outer;
    lz_node *index;      /* i64, the iteration */
    uint64_t trip_count; /* how many there may be */
} lz_loop_frame;

/* A region being recorded, between lz_body_begin and lz_body_end. */
typedef struct lz_body {
    lz_thr *thr;
    lz_dev *dev;
    uint64_t first_id;              /* nodes recorded since have this id or a larger one */
    LZ_VEC(lz_node *) placeholders; /* owned */
    LZ_VEC(lz_node *) captured;     /* owned: values from outside, in the order of their use */
    lz_loop_frame loop;
    bool looping;
} lz_body;

/* Opens a scope; a step that would run by itself waits. */
lz_status lz_body_begin(lz_body *b, lz_dev *dev);
/* borrowed; a parameter of the region. NULL with the error recorded */
lz_node *lz_body_placeholder(lz_body *b, const lz_type *t);
/* the same as a handle of the body's scope */
lz_tensor *lz_body_tensor(lz_body *b, const lz_type *t);
/* From now on random operations differ by `index`, which is below `trip_count`. */
void lz_body_loop(lz_body *b, lz_node *index, uint64_t trip_count);
/* The region that gives the roots: its parameters are the placeholders, then what has been captured
 * so far and what these roots add to it. The roots are of the device. Several calls make several
 * regions; lz_body_widen gives the earlier ones the parameters that later ones added. */
lz_status lz_body_region(lz_body *b, lz_node *const *roots, uint32_t n, const lz_func **out);
lz_status lz_body_widen(lz_body *b, const lz_func **region);
/* Closes the scope: handles recorded inside are gone. */
void lz_body_end(lz_body *b);
void lz_body_free(lz_body *b);

/* Around a callback: what it records is named by its own calls, not by the one it is part of. */
typedef struct lz_callback {
    const char *op;
    const lz_site *site;
    void *caller;
} lz_callback;
lz_callback lz_callback_begin(lz_thr *t);
void lz_callback_end(lz_thr *t, const lz_callback *c);

/* The instructions of a region recorded again, on args: new references in results. */
lz_status lz_region_replay(const lz_func *f, lz_node *const *args, lz_node **results,
                           const lz_site *site);

/* An operation of the table with regions, on the operands and then what was captured: new
 * references to its results. */
lz_status lz_control_op(lz_op op, const lz_attr *record, lz_node *const *opnd, uint32_t n,
                        lz_node *const *captured, uint32_t ncaptured, lz_node **results,
                        const lz_site *site);
/* ---- pieces of loops ---- */
lz_node *lz_node_new_zeros(const lz_type *t, lz_dev *dev, const lz_site *site);

/* A loop of `trip_count` iterations. body: of an i64 (the iteration), ncarried values, then the
 * rest of the operands; gives the carried values. results: ncarried. */
lz_status lz_control_count(const lz_func *body, int64_t trip_count, lz_node *const *opnd,
                           uint32_t n, uint32_t ncarried, lz_dev *dev, lz_node **results,
                           const lz_site *site);
#endif
