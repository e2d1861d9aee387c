/* vjp.h - vector-Jacobian products: one rule per name in the vjp column of ir/ops.def. A rule gets
 * one operation, its operands and result as tensors and the incoming gradients of its results. It
 * records the gradients of the needed operands with public primitives, so that they can be
 * differentiated again.
 * Threads: rules are pure; they trace on the calling thread. Handles they make belong to the scope
 *   that lz_grad opened. */
#ifndef LZ_AUTODIFF_VJP_H
#define LZ_AUTODIFF_VJP_H
#include "ir/op.h"
#include <lazuli/hlo.h>

enum { LZ_VJP_MAX_RESULTS = 16 };

typedef struct lz_vjp {
    const lz_sig *sig;
    lz_tensor *const *opnd;     /* sig->nopnd operand values */
    lz_tensor *result;          /* value of the first result; NULL for an op with several */
    lz_tensor *const *grad_out; /* sig->nresult gradients; NULL where none arrived */
    const bool *need;           /* per operand: its gradient is needed */
    lz_tensor **grad_in;        /* per operand, NULL at the start; left NULL means zero */
    const lz_site *site;        /* of the forward operation: its gradient is reported there */
} lz_vjp;

/* LZ_EGRAD when the operation has no gradient in this form; tensors that fail carry their own
 * error. */
typedef lz_status (*lz_vjp_fn)(const lz_vjp *v);

/* Every rule of the table, lz_vjp_<name>. */
#define LZ_EW(E, text, arity, attr, dtypes, flags, infer, vjp, ...)                                \
    lz_status lz_vjp_##vjp(const lz_vjp *v);
#define LZ_OP(E, text, cls, arity, attr, dtypes, flags, infer, vjp, ...)                           \
    lz_status lz_vjp_##vjp(const lz_vjp *v);
#include "ir/ops.def"

/* ---- shorthands the rules are written in (vjp_util.c) ---- */
/* constant broadcast to t's shape */
lz_tensor *lz_v_const_like(const lz_vjp *v, const lz_type *t, double value);
lz_tensor *lz_v1(const lz_vjp *v, const char *op, lz_tensor *a);
lz_tensor *lz_v2(const lz_vjp *v, const char *op, lz_tensor *a, lz_tensor *b);
lz_tensor *lz_v3(const lz_vjp *v, const char *op, lz_tensor *a, lz_tensor *b, lz_tensor *c);
/* a times a constant */
lz_tensor *lz_v_scale(const lz_vjp *v, lz_tensor *a, double s);
/* The complex conjugate; a real tensor itself. For a real loss the gradient of z = x + iy is dL/dx
 * + i dL/dy, so a holomorphic operation multiplies the incoming gradient by the conjugate of its
 * derivative. */
lz_tensor *lz_v_conj(const lz_vjp *v, lz_tensor *a);
/* complex numbers are ordered as maximum orders them */
lz_tensor *lz_v_cmp(const lz_vjp *v, lz_hlo_direction d, lz_tensor *a, lz_tensor *b);
/* g where pred, else 0 */
lz_tensor *lz_v_mask(const lz_vjp *v, lz_tensor *pred, lz_tensor *g);
lz_tensor *lz_v_zeros(const lz_vjp *v, const lz_type *t);
/* Row-major index of each element, from 0: i64. */
lz_tensor *lz_v_numbers(const lz_vjp *v, lz_shape s);
lz_tensor *lz_v_sum_all(const lz_vjp *v, lz_tensor *a); /* rank 0 */
/* Results as a scalar loss: sum, which may be NULL, plus the dot product of y with its incoming
 * gradient g. */
lz_tensor *lz_v_pair(const lz_vjp *v, lz_tensor *y, lz_tensor *g, lz_tensor *sum);
/* Broadcast of `a`, which lacks the dimensions `dims`, to shape (the transpose of reducing
 * them). */
lz_tensor *lz_v_unreduce(const lz_vjp *v, lz_tensor *a, const lz_ints *dims, const lz_shape *shape);
/* Whether x is the extremum: equal to it, or one of the NaN that make it NaN. */
lz_tensor *lz_v_attains(const lz_vjp *v, lz_tensor *x, lz_tensor *extremum);
/* vjp_decompose.c. Positive numbers [n, 1] (dim -2) or [1, n] (dim -1), each a little smaller than
 * the one before. */
lz_tensor *lz_v_falling(const lz_vjp *v, lz_dtype d, int64_t n, int64_t dim);
bool lz_has_gradient(const lz_type *t); /* floats, those of 8 bits too, and complex numbers */
#endif
