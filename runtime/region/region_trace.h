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
#include "runtime/graph/recording.h"
#include "runtime/graph/trace_builder.h"

/* A loop whose body is being recorded: the seeds of random operations depend on its index. */
typedef struct lz_loop_frame {
    struct lz_loop_frame *outer;
    lz_node *index;      /* i64, the iteration */
    uint64_t trip_count; /* upper bound of the iterations */
} lz_loop_frame;

/* A region being recorded, between lz_body_begin and lz_body_end. */
typedef struct lz_body {
    lz_thread_state *thr;
    lz_dev *dev;
    lz_recording rec;
    LZ_VEC(lz_node *) placeholders; /* owned */
    LZ_VEC(lz_node *) captured;     /* owned: captured values, in the order of their first use */
    lz_loop_frame loop;
    bool looping;
} lz_body;

/* Opens a scope; the thread does not flush by itself until the body ends. */
lz_status lz_body_begin(lz_body *b, lz_dev *dev);
/* borrowed; a parameter of the region. NULL with the error recorded */
lz_node *lz_body_placeholder(lz_body *b, const lz_type *t);
/* the same as a handle of the body's scope */
lz_tensor *lz_body_tensor(lz_body *b, const lz_type *t);
/* From now on the seeds of random operations depend on `index`, which is below `trip_count`. */
void lz_body_loop(lz_body *b, lz_node *index, uint64_t trip_count);
/* The region that computes the roots, and does what the body was recorded to do and no region of it
 * has (graph/effects.h): its parameters are the placeholders, then the values captured
 * so far and by these roots. The roots are on the body's device. Several calls make several
 * regions; lz_body_widen gives the earlier ones the parameters that later ones added. */
lz_status lz_body_region(lz_body *b, lz_node *const *roots, uint32_t n, const lz_func **out);
lz_status lz_body_widen(lz_body *b, const lz_func **region);
/* Closes the scope: handles made inside are released. */
void lz_body_end(lz_body *b);
void lz_body_free(lz_body *b);

/* lz_trace_order for derivatives, which counter DerivativeNodes counts. */
lz_status lz_trace_history(lz_node *const *roots, uint32_t nroots, uint64_t since, lz_node ***order,
                           uint32_t *n);

/* Around a backward pass (graph/scope.c): what is recorded from now on is of the gradients of nodes
 * in this name scope (NULL: none). */
lz_status lz_name_gradients_begin(lz_thread_state *t);
void lz_name_gradients_of(lz_thread_state *t, const char *scope);
void lz_name_gradients_end(lz_thread_state *t);

/* Around a callback. program: it is the program's, so that nodes it records are attributed to its
 * own calls, not to the enclosing public call. Else a function of the library gave it to another
 * one, and what it calls is part of that function: attributed to it, and automatic mixed precision
 * leaves it alone. */
typedef struct lz_callback {
    bool program;
    const char *op;
    const lz_site *site;
    void *caller;
} lz_callback;
lz_callback lz_callback_begin(lz_thread_state *t, bool program);
void lz_callback_end(lz_thread_state *t, const lz_callback *c);

/* Records the instructions of a region again, with args as its parameters: new references in
 * results. */
lz_status lz_region_replay(const lz_func *f, lz_node *const *args, lz_node **results,
                           const lz_site *site);

/* The same, and what the region does beside its results happens, too: for what the program calls,
 * not for derivatives, whose values have been computed before. */
lz_status lz_region_perform(const lz_func *f, lz_node *const *args, lz_node **results,
                            const lz_site *site);

/* Records an operation with regions, of the operands and then the captured values: new references
 * to its results. Outside of derivatives it happens even when nobody reads one. */
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
