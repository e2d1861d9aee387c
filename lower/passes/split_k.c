/* split_k.c - pass `split_reductions`: split-K for dots with a long contraction and few results.
 * The dot becomes a batched dot over slices of K, and a sum over the batch. Unsplit, the work
 * would be partitioned by blocks of the result, each of which reads and packs the long factors
 * again.
 * Threads: thread-compatible. */
#include "lower/passes/split_reductions.h"
#include <string.h>

/* At least so many elements in a sum; in a part of it; at most so many results, and parts. */
enum { LONG = 4096, PART = 768, RESULTS = 1 << 16, NARROW = 16, PARTS = 32 };

/* Into how many parts of equal length a sum of k elements is cut; 1: it is not. */
static int64_t parts_of(int64_t k)
{
    int64_t n = PARTS;
    while (n > 1 && (k % n || k / n < PART))
        n /= 2;
    return n;
}

/* Dimension d of v as n rows: dimensions d and d + 1. */
static lz_val in_parts(lz_rw *rw, lz_val v, int d, int64_t n)
{
    lz_shape s = lz_rw_type(rw, v)->shape;
    for (int k = s.rank; k > d + 1; k--)
        s.dims[k] = s.dims[k - 1];
    s.dims[d + 1] = s.dims[d] / n;
    s.dims[d] = n;
    s.rank++;
    return lz_build_reshape(rw->out, v, &s);
}

lz_val lz_split_product(lz_rw *rw, uint32_t i)
{
    const lz_sig *sig = rw->in->insts[i].sig;
    const lz_type *t = sig->result[0], *l = sig->opnd[0], *r = sig->opnd[1];
    lz_attr_dot a = *LZ_ATTR(dot, sig->attr);
    if (a.lhs_batching_dimensions.n || a.lhs_contracting_dimensions.n != 1 || t->nelem > RESULTS ||
        (t->dtype != LZ_F32 && t->dtype != LZ_F64) || l->dtype != t->dtype ||
        r->dtype != t->dtype || l->shape.rank == LZ_MAX_RANK || r->shape.rank == LZ_MAX_RANK)
        return LZ_NOVAL;
    int kl = (int)a.lhs_contracting_dimensions.v[0], kr = (int)a.rhs_contracting_dimensions.v[0];
    int64_t k = l->shape.dims[kl], n = parts_of(k);
    lz_val o[2] = {lz_rw_opnd(rw, i, 0), lz_rw_opnd(rw, i, 1)};
    if (k < LONG || n == 1 || l->nelem < NARROW * k || r->nelem < NARROW * k ||
        lz_rw_is_window(rw, o[0]) || lz_rw_is_window(rw, o[1]))
        return LZ_NOVAL;
    o[0] = in_parts(rw, o[0], kl, n);
    o[1] = in_parts(rw, o[1], kr, n);
    a.lhs_batching_dimensions = (lz_ints){.n = 1, .v = {kl}};
    a.rhs_batching_dimensions = (lz_ints){.n = 1, .v = {kr}};
    a.lhs_contracting_dimensions.v[0]++;
    a.rhs_contracting_dimensions.v[0]++;
    const lz_attr *attr = (const lz_attr *)(const void *)&a;
    lz_val parts = lz_build(rw->out, LZ_OP_DOT_GENERAL, attr, o, 2);
    lz_shape scalar = LZ_SCALAR;
    lz_val zero = lz_build_splat_bits(rw->out, lz_type_get(t->dtype, &scalar), 0);
    const lz_ints first = {.n = 1, .v = {0}};
    return lz_build_reduce(rw->out, LZ_OP_ADD, parts, zero, &first);
}
