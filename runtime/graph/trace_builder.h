/* trace_builder.h - what public operations are written with: a trace context whose temporaries are
 * nodes, not handles, and are released together when it ends. A function returns a node borrowed
 * from the context, or NULL after a failure (the error is recorded); a NULL operand gives NULL, so
 * expressions nest and are checked once, by lz_tracer_end.
 * Threads: a context is on one thread's stack. */
#ifndef LZ_RUNTIME_GRAPH_TRACE_BUILDER_H
#define LZ_RUNTIME_GRAPH_TRACE_BUILDER_H
#include "runtime/graph/autocast.h"
#include "runtime/exec/runtime_device.h"
#include "runtime/graph/handle.h"
#include "ir/attr.h"

enum { LZ_TRACER_INLINE = 24 };
typedef struct lz_tracer {
    lz_thread_state *thr; /* NULL: the context could not begin */
    const lz_site *site;
    const char *op;
    bool outer; /* the outermost public operation */
    lz_autocast_policy
        policy; /* conversion of floats by lz_tracer_in; NONE also outside of autocast */
    uint32_t n;
    /* the operand that is an error tensor; its handle is alive during the call */
    lz_slot *error_from;
    uint64_t error_handle;
    lz_node *tmp[LZ_TRACER_INLINE];
    LZ_VEC(lz_node *) more;
} lz_tracer;

void lz_tracer_begin_from(lz_tracer *c, const char *op, const lz_site *site, void *caller);
#define lz_tracer_begin(c, op, site)                                                               \
    lz_tracer_begin_from((c), (op), (site), __builtin_return_address(0))
/* A handle of x in the innermost scope, or an error tensor; ends the context. */
lz_tensor *lz_tracer_end(lz_tracer *c, lz_node *x);
void lz_tracer_drop(lz_tracer *c); /* ends it without a result */

/* The state of dev's random stream, u64[2], from which one operation draws `blocks` blocks in each
 * round of the loops around it: the stream advances. */
lz_node *lz_tracer_rng_state(lz_tracer *c, lz_dev *dev, uint64_t blocks);
lz_node *lz_tracer_in(lz_tracer *c, const lz_tensor *t); /* the value of an operand */
/* autocast.c, for the three above: sets the policy of c->op; converts an operand. */
void lz_tracer_autocast(lz_tracer *c);
lz_node *lz_tracer_autocast_in(lz_tracer *c, lz_node *x);
/* Promotes two operands to the wider dtype, where the policy is WIDEST. */
void lz_tracer_widest(lz_tracer *c, lz_node **a, lz_node **b);
/* hands a new node to the context; NULL passes through */
lz_node *lz_tracer_own(lz_tracer *c, lz_node *n);
lz_dev *lz_tracer_dev(lz_tracer *c,
                      const lz_node *like); /* the device of `like`; NULL: the thread's */

/* op with an attribute record (need not be interned; NULL: none) */
lz_node *lz_tracer_op(lz_tracer *c, lz_op op, const lz_attr *record, lz_node *const *opnd,
                      uint32_t n);
lz_node *lz_tracer_result(lz_tracer *c, lz_node *multi, int64_t index);
lz_node *lz_tracer_ew1(lz_tracer *c, lz_op op, lz_node *a);
lz_node *lz_tracer_ew2(lz_tracer *c, lz_op op, lz_node *a, lz_node *b); /* equal types */
lz_node *lz_tracer_ew3(lz_tracer *c, lz_op op, lz_node *a, lz_node *b, lz_node *d);

/* numbers. const: part of the program, saturates. argument: passed at run time. scalar: an argument
 * unless it is 0, 1 or -1. LZ_ERANGE for one of the last two that an integer dtype cannot hold. */
lz_node *lz_tracer_const(lz_tracer *c, lz_dtype d, double v, const lz_node *like);
lz_node *lz_tracer_argument(lz_tracer *c, lz_dtype d, double v, const lz_node *like);
lz_node *lz_tracer_scalar(lz_tracer *c, lz_dtype d, double v, const lz_node *like);
/* The same, modulo the range of an integer dtype; LZ_ERANGE beyond 64 bits. */
lz_node *lz_tracer_scalar_wrapped(lz_tracer *c, lz_dtype d, double v, const lz_node *like);
lz_node *lz_tracer_const_like(lz_tracer *c, lz_node *x, double v); /* of x's dtype and shape */
lz_node *lz_tracer_fill(lz_tracer *c, lz_node *scalar,
                        const lz_shape *shape); /* a scalar broadcast */
lz_node *lz_tracer_iota(lz_tracer *c, lz_dtype d, const lz_shape *s, int64_t dim,
                        const lz_node *like);

/* x itself when it has the dtype */
lz_node *lz_tracer_convert(lz_tracer *c, lz_node *x, lz_dtype d);
/* The same on the caller's request: also for storage-only dtypes. */
lz_node *lz_tracer_cast(lz_tracer *c, lz_node *x, lz_dtype d);
/* CONVERT or BITCAST_CONVERT as StableHLO has it, though x has the dtype; the bits of x as d */
lz_node *lz_tracer_as_dtype(lz_tracer *c, lz_op op, lz_node *x, lz_dtype d);
lz_node *lz_tracer_bitcast(lz_tracer *c, lz_node *x, lz_dtype d);
lz_node *lz_tracer_compare(lz_tracer *c, lz_comparison_direction dir, lz_node *a, lz_node *b);
/* x itself when it has the shape */
lz_node *lz_tracer_reshape(lz_tracer *c, lz_node *x, const lz_shape *s);
lz_node *lz_tracer_broadcast_in_dim(lz_tracer *c, lz_node *x, const lz_ints *dims,
                                    const lz_shape *s);
lz_node *lz_tracer_transpose(lz_tracer *c, lz_node *x, const lz_ints *perm);
lz_node *lz_tracer_slice(lz_tracer *c, lz_node *x, const lz_ints *start, const lz_ints *limit,
                         const lz_ints *strides);
lz_node *lz_tracer_concat(lz_tracer *c, lz_node *const *xs, uint32_t n, int64_t dim);
/* a constant; LZ_EDTYPE when there is none */
lz_node *lz_tracer_identity(lz_tracer *c, lz_op combiner, lz_dtype d, const lz_node *like);
/* One operand with the combiner's identity as initial value; dims in any order. */
lz_node *lz_tracer_reduce(lz_tracer *c, lz_op combiner, lz_node *x, const lz_ints *dims);
/* The operation of this StableHLO name that a reduction may combine with. NONE with the error
 * recorded. */
lz_op lz_tracer_combiner(const char *name);

/* ATen's rules */
/* aligned at the last dimension; LZ_ESHAPE when it does not fit */
lz_node *lz_tracer_expand(lz_tracer *c, lz_node *x, const lz_shape *s);
/* false with LZ_ESHAPE recorded */
bool lz_tracer_broadcast_shapes(const lz_shape *a, const lz_shape *b, lz_shape *out);
/* LZ_DTYPE_NONE: no such promotion */
lz_dtype lz_promote(lz_dtype a, lz_dtype b);
/* The dtype of a binary operation: a rank-0 operand counts only with its category. NONE with
 * LZ_EDTYPE recorded. */
lz_dtype lz_tracer_result_dtype(const lz_node *a, const lz_node *b);
/* Promotes and broadcasts both. false after a failure. */
bool lz_tracer_match(lz_tracer *c, lz_node **a, lz_node **b);
lz_node *lz_tracer_binary(lz_tracer *c, lz_op op, lz_node *a, lz_node *b); /* match, then op */
/* integers and booleans to f32 */
lz_node *lz_tracer_float(lz_tracer *c, lz_node *x);
/* A dimension of a tensor of this rank, from the end when negative. false with LZ_ERANGE recorded.
 * A scalar has dimension 0 and -1 as in ATen. */
bool lz_tracer_dim(int64_t dim, int32_t rank, int64_t *out);
/* What an operation makes of a number that the integer dtype of its operand cannot hold. */
typedef enum lz_number_range {
    LZ_NUMBER_WRAPS,    /* the result is modulo the range, so the number is, too */
    LZ_NUMBER_FITS,     /* LZ_ERANGE */
    LZ_NUMBER_SHIFTS,   /* bits to shift by: any number outside of the width does */
    LZ_NUMBER_GIVEN = 4 /* with one of these: an argument of floats also when it is 0, 1 or -1 */
} lz_number_range;
/* The value of an elementwise scalar operand (range: lz_number_range): of x's dtype, or of the
 * float that the number needs. */
lz_node *lz_tracer_scalar_for(lz_tracer *c, lz_node **x, double v, bool want_float, int range);
/* The same for a formula: of a 16-bit float both become f32, so that the number is not rounded to
 * 16 bits. *d: the dtype that the formula's result is to have. */
lz_node *lz_tracer_wide_scalar_for(lz_tracer *c, lz_node **x, double v, bool want_float, int range,
                                   lz_dtype *d);
/* Whether the dtype holds the whole part of v: every dtype but the integers does. */
bool lz_dtype_holds(lz_dtype d, double v);
bool lz_dtype_holds_integer(lz_dtype d, int64_t v); /* the same of all 64 bits of v */
bool lz_tracer_number_fits(lz_dtype d,
                           double v); /* lz_dtype_holds; false with LZ_ERANGE recorded */
/* x compared with the exact number: no dtype of x rounds it, none saturates it. */
lz_node *lz_tracer_compare_number(lz_tracer *c, lz_comparison_direction dir, lz_node *x, double v);
#endif
