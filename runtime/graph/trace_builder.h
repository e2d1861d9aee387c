/* trace_builder.h - what public operations are written with: a trace context whose temporaries are
 * nodes, not handles, and are released together when it ends. A function returns a node borrowed
 * from the context, or NULL after a failure (the error is recorded); a NULL operand gives NULL, so
 * expressions nest and are checked once, by lz_tr_end.
 * Threads: a context is on one thread's stack. */
#ifndef LZ_RUNTIME_GRAPH_TRACE_BUILDER_H
#define LZ_RUNTIME_GRAPH_TRACE_BUILDER_H
#include "runtime/graph/autocast.h"
#include "runtime/exec/runtime_device.h"
#include "runtime/graph/handle.h"
#include "ir/attr.h"

enum { LZ_TR_INLINE = 24 };
typedef struct lz_tr {
    lz_thr *thr; /* NULL: the context could not begin */
    const lz_site *site;
    const char *op;
    bool outer;                /* the outermost public operation */
    lz_autocast_policy policy; /* conversion of floats by lz_tr_in; NONE also outside of autocast */
    uint32_t n;
    /* the operand that is an error tensor; its handle is alive during the call */
    lz_slot *error_from;
    uint64_t error_handle;
    lz_node *tmp[LZ_TR_INLINE];
    LZ_VEC(lz_node *) more;
} lz_tr;

void lz_tr_begin_from(lz_tr *c, const char *op, const lz_site *site, void *caller);
#define lz_tr_begin(c, op, site) lz_tr_begin_from((c), (op), (site), __builtin_return_address(0))
/* A handle of x in the innermost scope, or an error tensor; ends the context. */
lz_tensor *lz_tr_end(lz_tr *c, lz_node *x);
void lz_tr_drop(lz_tr *c); /* ends it without a result */

lz_node *lz_tr_in(lz_tr *c, const lz_tensor *t); /* the value of an operand */
/* autocast.c, for the three above: sets the policy of c->op; converts an operand. */
void lz_tr_autocast(lz_tr *c);
lz_node *lz_tr_autocast_in(lz_tr *c, lz_node *x);
/* Promotes two operands to the wider dtype, where the policy is WIDEST. */
void lz_tr_widest(lz_tr *c, lz_node **a, lz_node **b);
/* hands a new node to the context; NULL passes through */
lz_node *lz_tr_own(lz_tr *c, lz_node *n);
lz_dev *lz_tr_dev(lz_tr *c, const lz_node *like); /* the device of `like`; NULL: the thread's */

/* op with an attribute record (need not be interned; NULL: none) */
lz_node *lz_tr_op(lz_tr *c, lz_op op, const lz_attr *record, lz_node *const *opnd, uint32_t n);
lz_node *lz_tr_result(lz_tr *c, lz_node *multi, int64_t index);
lz_node *lz_tr_ew1(lz_tr *c, lz_op op, lz_node *a);
lz_node *lz_tr_ew2(lz_tr *c, lz_op op, lz_node *a, lz_node *b); /* equal types */
lz_node *lz_tr_ew3(lz_tr *c, lz_op op, lz_node *a, lz_node *b, lz_node *d);

/* numbers. const: part of the program. argument: passed at run time. scalar: an argument unless it
 * is 0, 1 or -1 */
lz_node *lz_tr_const(lz_tr *c, lz_dtype d, double v, const lz_node *like);
lz_node *lz_tr_argument(lz_tr *c, lz_dtype d, double v, const lz_node *like);
lz_node *lz_tr_scalar(lz_tr *c, lz_dtype d, double v, const lz_node *like);
lz_node *lz_tr_const_like(lz_tr *c, lz_node *x, double v);             /* of x's dtype and shape */
lz_node *lz_tr_fill(lz_tr *c, lz_node *scalar, const lz_shape *shape); /* a scalar broadcast */
lz_node *lz_tr_iota(lz_tr *c, lz_dtype d, const lz_shape *s, int64_t dim, const lz_node *like);

/* x itself when it has the dtype */
lz_node *lz_tr_convert(lz_tr *c, lz_node *x, lz_dtype d);
/* The same on the caller's request: also for storage-only dtypes. */
lz_node *lz_tr_cast(lz_tr *c, lz_node *x, lz_dtype d);
lz_node *lz_tr_compare(lz_tr *c, lz_comparison_direction dir, lz_node *a, lz_node *b);
/* x itself when it has the shape */
lz_node *lz_tr_reshape(lz_tr *c, lz_node *x, const lz_shape *s);
lz_node *lz_tr_broadcast_in_dim(lz_tr *c, lz_node *x, const lz_ints *dims, const lz_shape *s);
lz_node *lz_tr_transpose(lz_tr *c, lz_node *x, const lz_ints *perm);
lz_node *lz_tr_slice(lz_tr *c, lz_node *x, const lz_ints *start, const lz_ints *limit,
                     const lz_ints *strides);
lz_node *lz_tr_concat(lz_tr *c, lz_node *const *xs, uint32_t n, int64_t dim);
/* a constant; LZ_EDTYPE when there is none */
lz_node *lz_tr_identity(lz_tr *c, lz_op combiner, lz_dtype d, const lz_node *like);
/* One operand with the combiner's identity as initial value; dims in any order. */
lz_node *lz_tr_reduce(lz_tr *c, lz_op combiner, lz_node *x, const lz_ints *dims);
/* The operation of this StableHLO name that a reduction may combine with. NONE with the error
 * recorded. */
lz_op lz_tr_combiner(const char *name);

/* ATen's rules */
/* aligned at the last dimension; LZ_ESHAPE when it does not fit */
lz_node *lz_tr_expand(lz_tr *c, lz_node *x, const lz_shape *s);
/* false with LZ_ESHAPE recorded */
bool lz_tr_broadcast_shapes(const lz_shape *a, const lz_shape *b, lz_shape *out);
/* LZ_DTYPE_NONE: no such promotion */
lz_dtype lz_promote(lz_dtype a, lz_dtype b);
/* The dtype of a binary operation: a rank-0 operand counts only with its category. NONE with
 * LZ_EDTYPE recorded. */
lz_dtype lz_tr_result_dtype(const lz_node *a, const lz_node *b);
/* Promotes and broadcasts both. false after a failure. */
bool lz_tr_match(lz_tr *c, lz_node **a, lz_node **b);
lz_node *lz_tr_binary(lz_tr *c, lz_op op, lz_node *a, lz_node *b); /* match, then op */
/* integers and booleans to f32 */
lz_node *lz_tr_float(lz_tr *c, lz_node *x);
/* A dimension of a tensor of this rank, from the end when negative. false with LZ_ERANGE recorded.
 * A scalar has dimension 0 and -1 as in ATen. */
bool lz_tr_dim(int64_t dim, int32_t rank, int64_t *out);
/* The value of an elementwise scalar operand: of x's dtype, or of the float that the number
 * needs. */
lz_node *lz_tr_scalar_for(lz_tr *c, lz_node **x, double v, bool want_float);
#endif
