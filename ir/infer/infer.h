/* infer.h - shape rules: one function per distinct name of the infer column of ops.def. Each checks
 * every constraint of the operation's StableHLO section and gives the result types; lz_sig_get runs
 * it the first time a signature is seen.
 * The caller has checked: number of operands (unless VAR), kind of attribute, dtype of operand 0
 * against the table.
 * Threads: pure functions. */
#ifndef LZ_IR_INFER_INFER_H
#define LZ_IR_INFER_INFER_H
#include "ir/module.h"
#include <inttypes.h>

typedef struct lz_infer {
    const char *name; /* of the op, for messages */
    const lz_attr *attr;
    const lz_type *const *opnd;
    uint32_t nopnd;
    /* room for as many as operands, as results of a region, and at least 2 */
    const lz_type **result;
    uint32_t nresult; /* 1 unless the rule says otherwise */
} lz_infer;
typedef lz_status lz_infer_fn(lz_infer *c);
#define LZ_EW(E, text, arity, attr, dtypes, flags, infer, ...) extern lz_infer_fn lz_infer_##infer;
#define LZ_OP(E, text, cls, arity, attr, dtypes, flags, infer, ...)                                \
    extern lz_infer_fn lz_infer_##infer;
#include "ir/ops.def"

/* ---- what the rules share; every one of them names the op and the values in its message ---- */

/* Texts for messages: operand i as f32[2,3]; a list as [0, 1]. */
typedef struct lz_text {
    char s[200];
} lz_text;
lz_text lz_infer_type_text(const lz_type *t);
lz_text lz_infer_ints_text(const lz_ints *v);
#define LZ_TT(t) (lz_infer_type_text(t).s)
#define LZ_IT(v) (lz_infer_ints_text(v).s)

lz_status lz_infer_same_type(const lz_infer *c, uint32_t a, uint32_t b); /* operands of one type */
/* operands of one dtype */
lz_status lz_infer_same_dtype(const lz_infer *c, uint32_t a, uint32_t b);
/* integer scalars of one dtype */
lz_status lz_infer_scalar_int(const lz_infer *c, uint32_t first, uint32_t count);
/* A list of distinct dimensions inside 0..rank-1; `of` says of what. sorted: also ascending. */
lz_status lz_infer_dim_list(const lz_infer *c, const char *field, const lz_ints *v, int rank,
                            bool sorted);
/* No dimension is in both lists. */
lz_status lz_infer_disjoint(const lz_infer *c, const char *fa, const lz_ints *a, const char *fb,
                            const lz_ints *b);
lz_status lz_infer_count(const lz_infer *c, const char *field, const lz_ints *v, int64_t want,
                         const char *of);
/* Result 0 of the given type. */
lz_status lz_infer_give(lz_infer *c, lz_dtype d, const lz_shape *s);
/* rank may be too large */
lz_status lz_infer_give_dims(lz_infer *c, lz_dtype d, int rank, const int64_t *dims);
/* A region whose parameters and results are scalars of the given operands' dtypes: n of them twice
 * over, n results. */
lz_status lz_infer_body(const lz_infer *c, const char *field, const lz_func *body, uint32_t n);
#endif
