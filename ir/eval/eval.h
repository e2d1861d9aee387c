/* eval.h - the reference evaluator: what every operation means, computed slowly and plainly.
 * It is the truth that compiled code is compared with, folds constants, and is the whole of the REF
 * device.
 * One function per distinct name of the eval column of ops.def: lz_ref_<name>. A missing one does
 * not link.
 *
 * Precision: exactly rounded operations (add, divide, sqrt, convert, ...) round once to the dtype.
 * Transcendental functions and sums are computed one format wider - f16, bf16 and f32 in double,
 * f64 in long double - and rounded once. Integers are exact and wrap; 64-bit integers never pass
 * through a float. Every operation is total: no input traps.
 * Threads: pure functions of immutable literals. Allocation failures give LZ_EMEM and leak
 * nothing. */
#ifndef LZ_IR_EVAL_EVAL_H
#define LZ_IR_EVAL_EVAL_H
#include "ir/module.h"
#include <string.h>

/* Runs a function. args: nparam literals of the parameters' types (borrowed). results: room for
 * nresult; each becomes a new reference (it may be an argument or a constant itself: literals are
 * immutable). Intermediate values are freed after their last use.
 * Errors: LZ_ENULL, LZ_ESHAPE, LZ_EDTYPE naming the argument; LZ_EMEM; LZ_EUNSUPPORTED. On error
 * every results[k] is NULL. */
lz_status lz_ref_run(const lz_func *f, lz_literal *const *args, lz_literal **results);

/* The same by the calling thread, which shows every operation as it is evaluated, with its operands
 * and results: those of loops and branches each time they run, and of regions that are not
 * elementwise operations on scalars. What `seen` fails with ends the run. */
enum { LZ_REF_DEPTH = 32 }; /* of nested regions, at most */
typedef struct lz_ref_watch lz_ref_watch;
struct lz_ref_watch {
    lz_status (*seen)(lz_ref_watch *w, lz_literal *const *opnds, lz_literal *const *results);
    /* at[depth] is the operation at hand, in the region of that of at[depth - 1], ... */
    struct {
        const lz_func *f;
        lz_val v;
    } at[LZ_REF_DEPTH + 1];
    int depth;
};
lz_status lz_ref_run_watched(const lz_func *f, lz_literal *const *args, lz_literal **results,
                             lz_ref_watch *w);

/* Evaluates one operation on literals of the signature's operand types; sig->nresult new
 * references. For RESULT, opnds are all results of the operation it reads. PARAMETER and CONSTANT
 * have no value of their own: LZ_EINVAL. */
lz_status lz_ref_eval_inst(const lz_sig *sig, lz_literal *const *opnds, lz_literal **results);

/* One elementwise operation on scalars: in[k] is the dtype of operand k, opnd[k] points at its
 * storage; out is the result's dtype.
 * Errors: LZ_EUNSUPPORTED when the op is not elementwise or has no meaning for the dtype. */
lz_status lz_ref_eval_scalar(lz_op op, const lz_attr *attr, lz_dtype out, const lz_dtype *in,
                             const void *const *opnd, void *result);
/* The same on values held in 64 bits, each in the low bytes as stored in memory of a little-endian
 * machine; unused bytes of the result are 0.
 * LZ_EUNSUPPORTED for dtypes that do not fit. */
lz_status lz_ref_eval_bits(lz_op op, const lz_attr *attr, lz_dtype out, const lz_dtype *in,
                           const uint64_t *opnd, uint64_t *result);

/* The counter-based generators (Salmon et al., SC 2011): one block of random words. */
void lz_philox4x32_10(const uint32_t ctr[4], const uint32_t key[2], uint32_t out[4]);
void lz_threefry2x32_20(const uint32_t ctr[2], const uint32_t key[2], uint32_t out[2]);
/* The dimension that threefry's two halves are cut along. */
int lz_threefry_cut_dim(const lz_shape *s);

/* ---- between the eval_*.c files ---- */

/* A vector of one elementwise operation: element i of operand k is at index i * step[k] (step 0: a
 * scalar for all). */
typedef struct lz_ref_ew {
    lz_op op;
    const lz_attr *attr;
    lz_dtype out, in[3];
    const void *src[3];
    int64_t step[3];
    void *dst;
    int64_t n;
} lz_ref_ew;
typedef lz_status lz_ref_ew_fn(const lz_ref_ew *e);
lz_ref_ew_fn *lz_ref_ew_get(lz_op op); /* NULL: not elementwise */

/* A call of any other operation. result[k] starts NULL; on failure the caller releases what is
 * there. */
typedef struct lz_ref_call {
    const lz_sig *sig;
    lz_literal *const *opnd;
    lz_literal **result;
    int depth; /* of nested regions */
} lz_ref_call;
typedef lz_status lz_ref_op_fn(const lz_ref_call *c);
lz_status lz_ref_alloc(const lz_ref_call *c); /* all results, zeroed */
lz_status lz_ref_run_at(const lz_func *f, lz_literal *const *args, lz_literal **results, int depth);

/* A region on scalars, prepared once and called for every element. */
typedef struct lz_ref_region lz_ref_region;
typedef struct lz_ref_slot { /* room for an element of any dtype */
    uint64_t u[2];
} lz_ref_slot;
lz_status lz_ref_region_new(const lz_func *f, int depth, lz_ref_region **out);
void lz_ref_region_free(lz_ref_region *r); /* NULL is fine */
/* args[k] points at the storage of parameter k, out[k] at room for result k (one element); they may
 * overlap. */
lz_status lz_ref_region_call(lz_ref_region *r, const void *const *args, void *const *out);

#define LZ_EW(E, text, arity, attr, dtypes, flags, infer, vjp, eval, ...)                          \
    extern lz_ref_ew_fn lz_ref_##eval;
#define LZ_OP(E, text, cls, arity, attr, dtypes, flags, infer, vjp, jvp, batch, eval, ...)         \
    extern lz_ref_op_fn lz_ref_##eval;
#include "ir/ops.def"

/* ---- walking arrays ---- */
void lz_ref_strides(const lz_shape *s, int64_t strides[LZ_MAX_RANK]); /* row-major, in elements */
/* A counter over an index space, last dimension fastest. Usage: for (lz_ref_walk w =
 * lz_ref_walk_of(..); w.more; lz_ref_walk_next(&w)) */
typedef struct lz_ref_walk {
    int rank;
    bool more; /* idx is a point of the space */
    int64_t dims[LZ_MAX_RANK], idx[LZ_MAX_RANK];
} lz_ref_walk;
lz_ref_walk lz_ref_walk_of(int rank, const int64_t *dims);
void lz_ref_walk_next(lz_ref_walk *w);
/* sum of idx[d] * strides[d] */
int64_t lz_ref_dot_index(int rank, const int64_t *idx, const int64_t *strides);
/* dst[dbase + i . dstride] = src[sbase + i . sstride] for every i of the space; elements of `esize`
 * bytes. */
void lz_ref_copy_affine(int rank, const int64_t *dims, size_t esize, void *dst, int64_t dbase,
                        const int64_t *dstride, const void *src, int64_t sbase,
                        const int64_t *sstride);

/* ---- rounding ---- */
/* to double, inexact values rounded to odd: rounding again to a narrower format is exact */
double lz_ref_round_odd_i64(int64_t v);
double lz_ref_round_odd_u64(uint64_t v);
uint16_t lz_ref_f64_to_f16(double v); /* one rounding, to nearest even */
uint16_t lz_ref_f64_to_bf16(double v);
/* One element: of a size that is known where it is copied. */
static inline void lz_ref_copy_element(void *to, const void *from, size_t nbytes)
{
    switch (nbytes) {
    case 1:
        memcpy(to, from, 1);
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 8:
        memcpy(to, from, 8);
        break;
    default:
        memcpy(to, from, nbytes);
    }
}
/* floats, stored ones too; a store rounds once. Those of fewer than 32 bits have functions. */
double lz_ref_load_narrow(lz_dtype d, const void *p, int64_t i);
void lz_ref_store_narrow(lz_dtype d, void *p, int64_t i, double v);
static inline double lz_ref_load_f(lz_dtype d, const void *p, int64_t i)
{
    if (d == LZ_F32)
        return ((const float *)p)[i];
    return d == LZ_F64 ? ((const double *)p)[i] : lz_ref_load_narrow(d, p, i);
}
static inline void lz_ref_store_f(lz_dtype d, void *p, int64_t i, double v)
{
    if (d == LZ_F32)
        ((float *)p)[i] = (float)v;
    else if (d == LZ_F64)
        ((double *)p)[i] = v;
    else
        lz_ref_store_narrow(d, p, i, v);
}
/* integer or boolean: sign- or zero-extended to 64 bits */
uint64_t lz_ref_load_u(lz_dtype d, const void *p, int64_t i);
void lz_ref_store_u(lz_dtype d, void *p, int64_t i, uint64_t v); /* wraps; boolean: v & 1 */
/* as an index: ui64 beyond INT64_MAX gives INT64_MAX */
int64_t lz_ref_load_index(lz_dtype d, const void *p, int64_t i);
#endif
