/* canonicalize_dots.c - pass `canonicalize_dots`: dots in the form that the GEMM schedules expect.
 * Does:      merges several contracting dimensions into one, by a reshape where they are adjacent
 *   in the same order in both operands, else after a transpose (window views keep theirs: implicit
 *   GEMM has several k loops). A dot that contracts one element (an outer product) becomes a
 *   multiply of broadcasts, which fuses. Batch and free dimensions are loops and stay; a
 *   matrix-vector dot is a reduction (loop_normalize.c).
 * Needs:     simplify (transposes composed).   Recreates: nothing.   Breaks: nothing.
 * Cost:      O(instructions).   Off: LAZULI_PASSES_OFF=canonicalize_dots */
#include "lower/passes.h"
#include "lower/passes/rewrite.h"
#include <string.h>

#define RECORD(a) ((const lz_attr *)(const void *)&(a))

typedef struct side {
    lz_val v;
    lz_shape s;
    lz_ints batch, contract;
    int nfree;
    int64_t free[LZ_MAX_RANK]; /* dimensions that are neither, in order */
} side;

static side side_of(const lz_rw *rw, uint32_t i, int k)
{
    const lz_attr_dot *a = LZ_ATTR(dot, rw->in->insts[i].sig->attr);
    side d = {.v = lz_rw_opnd(rw, i, (uint32_t)k), .s = rw->in->insts[i].sig->opnd[k]->shape};
    d.batch = k ? a->rhs_batching_dimensions : a->lhs_batching_dimensions;
    d.contract = k ? a->rhs_contracting_dimensions : a->lhs_contracting_dimensions;
    for (int x = 0; x < d.s.rank; x++)
        if (!lz_ints_has(&d.batch, x) && !lz_ints_has(&d.contract, x))
            d.free[d.nfree++] = x;
    return d;
}

/* ---- products over one element ---- */

/* The operand without its contracting dimensions, spread over the result. */
static lz_val spread(lz_rw *rw, const side *d, int first_free, const lz_shape *r)
{
    lz_ints dims = {0};
    lz_shape s = {0};
    for (int x = 0; x < d->s.rank; x++) {
        if (lz_ints_has(&d->contract, x))
            continue;
        s.dims[s.rank++] = d->s.dims[x];
        for (int b = 0; b < d->batch.n; b++)
            if (d->batch.v[b] == x)
                dims.v[dims.n] = b;
        for (int f = 0; f < d->nfree; f++)
            if (d->free[f] == x)
                dims.v[dims.n] = first_free + f;
        dims.n++;
    }
    return lz_build_broadcast(rw->out, lz_build_reshape(rw->out, d->v, &s), &dims, r);
}

static lz_val outer_product(lz_rw *rw, uint32_t i, const side *l, const side *r)
{
    const lz_type *t = rw->in->insts[i].sig->result[0];
    lz_val a = spread(rw, l, l->batch.n, &t->shape),
           b = spread(rw, r, l->batch.n + l->nfree, &t->shape);
    lz_val p = lz_build_ew2(rw->out, LZ_OP_MULTIPLY, a, b);
    /* a sum of one product starts from +0: -0 becomes +0 */
    return lz_dtype_is_float(t->dtype)
               ? lz_build_ew2(rw->out, LZ_OP_ADD, p, lz_build_splat(rw->out, t, 0))
               : p;
}

/* ---- one contracting dimension ---- */

/* Contracting dimensions longer than 1, as positions in the lists of both sides. */
static int long_ones(const side *l, int *which)
{
    int n = 0;
    for (int c = 0; c < l->contract.n; c++)
        if (l->s.dims[l->contract.v[c]] != 1)
            which[n++] = c;
    return n;
}

/* In the order given they follow each other without a gap. */
static bool together(const side *d, const int *which, int n)
{
    for (int c = 1; c < n; c++)
        for (int64_t x = d->contract.v[which[c - 1]] + 1; x != d->contract.v[which[c]]; x++)
            if (x >= d->s.rank || d->s.dims[x] != 1)
                return false;
    return true;
}

/* The operand as batch, free..., K; or, when its contracting dimensions lie together, reshaped
 * where they are. */
static lz_val merged(lz_rw *rw, const side *d, const int *which, int n, lz_ints *batch,
                     lz_ints *contract)
{
    lz_ints perm = {0};
    lz_shape s = {0};
    int64_t k = 1;
    memset(batch, 0, sizeof *batch);
    memset(contract, 0, sizeof *contract);
    for (int c = 0; c < n; c++)
        k *= d->s.dims[d->contract.v[which[c]]];
    if (together(d, which, n)) {
        batch->n = d->batch.n;
        for (int x = 0; x < d->s.rank; x++) {
            if (lz_ints_has(&d->contract, x) && x != d->contract.v[which[0]])
                continue;
            for (int b = 0; b < d->batch.n; b++)
                if (d->batch.v[b] == x)
                    batch->v[b] = s.rank;
            if (x == d->contract.v[which[0]]) {
                contract->v[contract->n++] = s.rank;
                s.dims[s.rank++] = k;
            } else {
                s.dims[s.rank++] = d->s.dims[x];
            }
        }
        return lz_build_reshape(rw->out, d->v, &s);
    }
    for (int b = 0; b < d->batch.n; b++) {
        batch->v[batch->n++] = s.rank;
        perm.v[perm.n++] = d->batch.v[b];
        s.dims[s.rank++] = d->s.dims[d->batch.v[b]];
    }
    for (int f = 0; f < d->nfree; f++) {
        perm.v[perm.n++] = d->free[f];
        s.dims[s.rank++] = d->s.dims[d->free[f]];
    }
    for (int c = 0; c < d->contract.n; c++)
        perm.v[perm.n++] = d->contract.v[c];
    contract->v[contract->n++] = s.rank;
    s.dims[s.rank++] = k;
    return lz_build_reshape(rw->out, lz_build_transpose(rw->out, d->v, &perm), &s);
}

static lz_val one_contraction(lz_rw *rw, uint32_t i, const side *l, const side *r, int *which,
                              int n)
{
    lz_attr_dot a = *LZ_ATTR(dot, rw->in->insts[i].sig->attr);
    /* the order of the left operand's memory, so that merging is a reshape there at least */
    for (int c = 1; c < n; c++)
        for (int j = c; j > 0 && l->contract.v[which[j]] < l->contract.v[which[j - 1]]; j--) {
            int t = which[j];
            which[j] = which[j - 1];
            which[j - 1] = t;
        }
    side ls = *l, rs = *r;
    for (int c = 0; c < n; c++) { /* both lists in that order, without the short ones */
        ls.contract.v[c] = l->contract.v[which[c]];
        rs.contract.v[c] = r->contract.v[which[c]];
    }
    int rest = n, order[LZ_MAX_RANK];
    for (int c = 0; c < l->contract.n; c++)
        if (l->s.dims[l->contract.v[c]] == 1) {
            ls.contract.v[rest] = l->contract.v[c];
            rs.contract.v[rest++] = r->contract.v[c];
        }
    for (int c = 0; c < n; c++)
        order[c] = c;
    lz_val o[2];
    o[0] = merged(rw, &ls, order, n, &a.lhs_batching_dimensions, &a.lhs_contracting_dimensions);
    o[1] = merged(rw, &rs, order, n, &a.rhs_batching_dimensions, &a.rhs_contracting_dimensions);
    return lz_build(rw->out, LZ_OP_DOT_GENERAL, RECORD(a), o, 2);
}

static lz_val canonical(lz_rw *rw, uint32_t i, void *user)
{
    (void)user;
    const lz_sig *sig = rw->in->insts[i].sig;
    int which[LZ_MAX_RANK];
    if (lz_op_get(sig->op)->cls != LZ_CLASS_DOT || sig->result[0]->nelem == 0 ||
        sig->opnd[0]->nelem == 0)
        return LZ_NOVAL;
    side l = side_of(rw, i, 0), r = side_of(rw, i, 1);
    int n = long_ones(&l, which);
    if (n == 0)
        return outer_product(rw, i, &l, &r);
    return n > 1 && !lz_rw_is_window(rw, l.v) && !lz_rw_is_window(rw, r.v)
               ? one_contraction(rw, i, &l, &r, which, n)
               : LZ_NOVAL;
}

lz_status lz_pass_canonicalize_dots(const lz_func *in, const lz_lower_options *o, lz_func **out)
{
    (void)o;
    return lz_rw_run(in, canonical, NULL, out);
}
