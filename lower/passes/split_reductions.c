/* split_reductions.c - pass `split_reductions`: splits long reductions to few values into two
 * levels, so that all threads and lanes have work.
 * Does:      a reduction of at least LONG elements each to fewer than FEW values first reduces
 *   runs of at most CHUNK elements (or the inner of its dimensions), then the partial results.
 *   16-bit floats stay in f32 between the levels. With lz_lower_options.column_reductions also
 *   reductions of at least LONG_COLUMN elements each to at most COLUMNS values, of at least MATRIX
 *   elements in all, and dots with few results (split_k.c). Only regions that are one op with an
 *   identity are split: the initial value of any other may be used once only.
 * Needs:     expand.   Recreates: nothing.   Breaks: simplify (it leaves pads and reshapes).
 * Invariant: the split depends on shapes alone, never on the number of threads, so results are the
 *   same everywhere.
 * Cost:      O(instructions).   Off: LAZULI_PASSES_OFF=split_reductions */
#include "lower/reduction.h"
#include "lower/passes.h"
#include "lower/passes/split_reductions.h"
#include <string.h>

enum { LONG = 16384, FEW = 64, CHUNK = 2048, PARTS = 32, SHORT = 128 };
enum { COLUMNS = 1024, LONG_COLUMN = 512, MATRIX = 1 << 18 };

#define RECORD(a) ((const lz_attr *)(const void *)&(a))

typedef struct cut {
    lz_op op;
    lz_val init; /* identity, a scalar of x's dtype */
    lz_dtype d;
} cut;

/* x with dimension d in rows of CHUNK, filled up with the identity: dimensions d (rows) and d +
 * 1. */
static lz_val in_rows(lz_rw *rw, const cut *c, lz_val x, int d)
{
    lz_shape s = lz_rw_type(rw, x)->shape;
    int64_t n = s.dims[d], rows = (n + CHUNK - 1) / CHUNK;
    if (rows * CHUNK != n) {
        lz_attr_pad p;
        memset(&p, 0, sizeof p);
        p.kind = LZ_ATTR_pad;
        p.edge_padding_low.n = p.edge_padding_high.n = p.interior_padding.n = s.rank;
        p.edge_padding_high.v[d] = rows * CHUNK - n;
        x = lz_build(rw->out, LZ_OP_PAD, RECORD(p), (lz_val[]){x, c->init}, 2);
    }
    for (int k = s.rank; k > d + 1; k--)
        s.dims[k] = s.dims[k - 1];
    s.dims[d] = rows;
    s.dims[d + 1] = CHUNK;
    s.rank++;
    return lz_build_reshape(rw->out, x, &s);
}

/* Which dimensions the first level reduces; d: one that has to be cut into rows first, or -1.
 * False: leave it. */
static bool plan(const lz_shape *s, const lz_ints *dims, lz_ints *first, int *d)
{
    int64_t parts = 1, rest = 1;
    for (int k = 0; k < s->rank; k++)
        rest *= lz_ints_has(dims, k) ? s->dims[k] : 1;
    *d = -1;
    memset(first, 0, sizeof *first);
    int k = 0;
    for (; k < s->rank && parts < PARTS; k++) { /* the outer ones are left to the second level */
        if (!lz_ints_has(dims, k) || s->dims[k] == 1)
            continue;
        if (rest / s->dims[k] < SHORT && s->dims[k] > 2 * CHUNK) {
            *d = k;
            return s->rank < LZ_MAX_RANK;
        }
        if (rest / s->dims[k] < SHORT)
            break;
        parts *= s->dims[k];
        rest /= s->dims[k];
    }
    for (; k < s->rank; k++)
        if (lz_ints_has(dims, k))
            first->v[first->n++] = k;
    return parts > 1 && first->n > 0;
}

/* Of dims, those not in `gone`, as dimensions of what is left. */
static lz_ints left_over(const lz_ints *dims, const lz_ints *gone, int rank)
{
    lz_ints r = {0};
    int at = 0;
    for (int k = 0; k < rank; k++) {
        if (lz_ints_has(gone, k))
            continue;
        if (lz_ints_has(dims, k))
            r.v[r.n++] = at;
        at++;
    }
    return r;
}

static lz_val two_levels(lz_rw *rw, const cut *c, lz_val x, const lz_ints *dims)
{
    lz_ints first, second, all = *dims;
    int d;
    if (!plan(&lz_rw_type(rw, x)->shape, dims, &first, &d))
        return LZ_NOVAL;
    if (d >= 0) {
        x = in_rows(rw, c, x, d);
        if (x == LZ_NOVAL)
            return x;
        all.n = 0;
        for (int k = 0; k < dims->n; k++)
            all.v[all.n++] = dims->v[k] > d ? dims->v[k] + 1 : dims->v[k];
        all.v[all.n++] = d + 1; /* rows stay for the second level */
        for (int k = 0; k < all.n; k++)
            if (all.v[k] != d)
                first.v[first.n++] = all.v[k];
    }
    for (int k = 1; k < first.n; k++)
        for (int j = k; j > 0 && first.v[j] < first.v[j - 1]; j--) {
            int64_t t = first.v[j];
            first.v[j] = first.v[j - 1];
            first.v[j - 1] = t;
        }
    second = left_over(&all, &first, lz_rw_type(rw, x)->shape.rank);
    return lz_build_reduce(rw->out, c->op, lz_build_reduce(rw->out, c->op, x, c->init, &first),
                           c->init, &second);
}

static bool is_long(const lz_type *t, const lz_type *r, bool columns)
{
    if (r->nelem == 0)
        return false;
    int64_t each = t->nelem / r->nelem;
    if (columns)
        columns =
            r->nelem >= FEW && r->nelem <= COLUMNS && each >= LONG_COLUMN && t->nelem >= MATRIX;
    return columns || (r->nelem < FEW && each >= LONG);
}

static lz_val split(lz_rw *rw, uint32_t i, void *user)
{
    const bool *columns = user;
    const lz_inst *in = &rw->in->insts[i];
    const lz_type *t = in->sig->opnd ? in->sig->opnd[0] : NULL, *r = in->sig->result[0];
    lz_red_plan p;
    if (*columns && lz_op_get(in->sig->op)->cls == LZ_CLASS_DOT)
        return lz_split_product(rw, i);
    if (lz_op_get(in->sig->op)->cls != LZ_CLASS_REDUCE || in->sig->nresult != 1 ||
        !is_long(t, r, *columns))
        return LZ_NOVAL;
    lz_red_plan_of(rw->in, i, &p);
    if (p.comb == LZ_OP_NONE)
        return LZ_NOVAL;
    cut c = {.op = p.comb, .d = p.acc};
    lz_shape scalar = LZ_SCALAR;
    c.init = lz_build_splat_bits(rw->out, lz_type_get(p.acc, &scalar), p.init);
    lz_val x = lz_build_convert(rw->out, lz_rw_opnd(rw, i, 0), p.acc),
           v = two_levels(rw, &c, x, &LZ_ATTR(reduce, in->sig->attr)->dimensions);
    if (v == LZ_NOVAL)
        return v;
    if (p.fold) {
        const lz_ints none = {0};
        lz_val init = lz_build_convert(rw->out, lz_rw_opnd(rw, i, 1), p.acc);
        v = lz_build_ew2(rw->out, c.op,
                         r->shape.rank ? lz_build_broadcast(rw->out, init, &none, &r->shape) : init,
                         v);
    }
    return lz_build_convert(rw->out, v, r->dtype);
}

lz_status lz_pass_split_reductions(const lz_func *in, const lz_lower_options *o, lz_func **out)
{
    bool columns = o->column_reductions;
    return lz_rw_run(in, split, &columns, out);
}
