/* jvp.h - Jacobian-vector products: how a change of the operands changes the results, one rule per
 * name in the jvp column of ir/ops.def. Most rules serve many operations. Of an elementwise
 * operation the Jacobian is diagonal, so its gradient rule serves (`diagonal`); an operation that
 * is linear in its operands is applied to their tangents (`linear`, `bilinear`); one with a region
 * works on pairs of a value and its tangent (`pairs`). What a rule records can be differentiated
 * again.
 * Threads: rules are pure; they trace on the calling thread. */
#ifndef LZ_AUTODIFF_JVP_H
#define LZ_AUTODIFF_JVP_H
#include "ir/op.h"
#include <lazuli/hlo.h>

typedef struct lz_jvp {
    const lz_sig *sig;
    lz_tensor *const *opnd; /* sig->nopnd operand values */
    lz_tensor *result;      /* value of the first result; NULL for an op with several */
    /* per operand: its tangent, of its type; NULL is zero. At least one is not NULL */
    lz_tensor *const *tan;
    lz_tensor **out; /* per result, NULL at the start; left NULL means zero */
    const lz_site *site;
} lz_jvp;
typedef lz_status lz_jvp_fn(const lz_jvp *j);

lz_jvp_fn lz_jvp_diagonal, lz_jvp_pairs, lz_jvp_transposed;
#define LZ_EW(...)
#define LZ_OP(E, text, cls, arity, attr, dtypes, flags, infer, vjp, jvp, ...)                      \
    extern lz_jvp_fn lz_jvp_##jvp;
#include "ir/ops.def"

/* Whether the tangents of the results depend on that of operand k: not for the operands of a custom
 * rule that are not inputs. */
bool lz_jvp_wants(const lz_sig *sig, uint32_t k);

/* ---- for the rules ---- */
/* An operation of the table on these operands: handles of its results. */
lz_status lz_j_op(lz_op op, const lz_attr *record, lz_tensor *const *opnd, uint32_t n,
                  lz_tensor **out, uint32_t nresult, const lz_site *site);
/* operand k's tangent, zeros when there is none */
lz_tensor *lz_j_tangent(const lz_jvp *j, uint32_t k);
lz_tensor *lz_j_zeros(const lz_type *t, const lz_site *site);
/* A sort comparator with n further operands, of these types, that it ignores. */
const struct lz_func *lz_j_wider_order(const struct lz_func *f, const lz_type *const *more,
                                       uint32_t n);
lz_tensor *lz_j_sum(lz_tensor *a, lz_tensor *b, const lz_site *site); /* a may be NULL */
#endif
