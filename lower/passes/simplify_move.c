/* simplify_move.c - pass `simplify`: data movement. Fusion composes index maps by itself; this
 * file handles what changes which values exist: movement of splats, movement that moves nothing,
 * slices that read one operand of a concatenation, updates that overwrite everything. See
 * simplify.c. */
#include "lower/passes/simplify.h"
#include <string.h>

#define RECORD(a) ((const lz_attr *)(const void *)&(a))

/* v is a scalar spread over a shape: the scalar, else LZ_NOVAL. */
static lz_val scalar_below(const lz_rw *rw, lz_val v)
{
    const lz_inst *in = lz_rw_inst(rw, v);
    if (in->sig->result[0]->shape.rank == 0)
        return v;
    return in->sig->op == LZ_OP_BROADCAST_IN_DIM && in->sig->opnd[0]->shape.rank == 0 ? in->opnd[0]
                                                                                      : LZ_NOVAL;
}

static lz_val spread(lz_rw *rw, lz_val scalar, const lz_shape *s)
{
    const lz_ints none = {0};
    return s->rank == 0 ? scalar : lz_build_broadcast(rw->out, scalar, &none, s);
}

static bool same_shape(const lz_rw *rw, uint32_t i, lz_val v)
{
    return lz_shape_eq(&rw->in->insts[i].sig->result[0]->shape, &lz_rw_type(rw, v)->shape);
}

/* The order of the dimensions longer than 1 is kept: nothing moves. */
static bool moves_nothing(const lz_ints *perm, const lz_shape *operand)
{
    int64_t last = -1;
    for (int d = 0; d < perm->n; d++) {
        if (operand->dims[perm->v[d]] == 1)
            continue;
        if (perm->v[d] < last)
            return false;
        last = perm->v[d];
    }
    return true;
}

static lz_val simplify_transpose(lz_rw *rw, uint32_t i, lz_val x)
{
    const lz_sig *sig = rw->in->insts[i].sig;
    const lz_attr_perm *a = LZ_ATTR(perm, sig->attr);
    if (moves_nothing(&a->permutation, &sig->opnd[0]->shape))
        return lz_build_reshape(rw->out, x, &sig->result[0]->shape);
    if (lz_rw_op(rw, x) != LZ_OP_TRANSPOSE)
        return LZ_NOVAL;
    const lz_inst *y = lz_rw_inst(rw, x);
    lz_ints p = a->permutation;
    for (int d = 0; d < p.n; d++)
        p.v[d] = LZ_ATTR(perm, y->sig->attr)->permutation.v[p.v[d]];
    return lz_build_transpose(rw->out, y->opnd[0], &p);
}

static lz_val simplify_broadcast(lz_rw *rw, uint32_t i, lz_val x)
{
    const lz_sig *sig = rw->in->insts[i].sig;
    const lz_attr_broadcast *a = LZ_ATTR(broadcast, sig->attr);
    bool ordered = true;
    for (int d = 1; d < a->broadcast_dimensions.n; d++)
        ordered = ordered && a->broadcast_dimensions.v[d] > a->broadcast_dimensions.v[d - 1];
    if (ordered && sig->result[0]->nelem == sig->opnd[0]->nelem && sig->result[0]->nelem)
        return lz_build_reshape(rw->out, x, &sig->result[0]->shape);
    const lz_inst *y = lz_rw_inst(rw, x);
    if (y->sig->op != LZ_OP_BROADCAST_IN_DIM)
        return LZ_NOVAL;
    lz_ints dims = LZ_ATTR(broadcast, y->sig->attr)->broadcast_dimensions;
    for (int d = 0; d < dims.n; d++)
        dims.v[d] = a->broadcast_dimensions.v[dims.v[d]];
    return lz_build_broadcast(rw->out, y->opnd[0], &dims, &sig->result[0]->shape);
}

static bool is_full_slice(const lz_attr_slice *a, const lz_shape *s)
{
    for (int d = 0; d < s->rank; d++)
        if (a->start_indices.v[d] != 0 || a->limit_indices.v[d] != s->dims[d] ||
            a->strides.v[d] != 1)
            return false;
    return true;
}

/* A slice that is inside one operand of a concatenation. */
static lz_val slice_of_concat(lz_rw *rw, const lz_attr_slice *a, lz_val x)
{
    const lz_inst *y = lz_rw_inst(rw, x);
    int64_t dim = LZ_ATTR(dim, y->sig->attr)->dimension, from = 0;
    for (uint32_t k = 0; k < y->sig->nopnd; k++) {
        int64_t n = y->sig->opnd[k]->shape.dims[dim], lo = a->start_indices.v[dim],
                hi = a->limit_indices.v[dim];
        if (lo >= from && hi <= from + n && lo < hi) {
            lz_attr_slice s = *a;
            s.start_indices.v[dim] -= from;
            s.limit_indices.v[dim] -= from;
            lz_val o = y->opnd[k];
            return lz_build(rw->out, LZ_OP_SLICE, RECORD(s), &o, 1);
        }
        from += n;
    }
    return LZ_NOVAL;
}

static lz_val simplify_slice(lz_rw *rw, uint32_t i, lz_val x)
{
    const lz_sig *sig = rw->in->insts[i].sig;
    const lz_attr_slice *a = LZ_ATTR(slice, sig->attr);
    const lz_inst *y = lz_rw_inst(rw, x);
    if (is_full_slice(a, &sig->opnd[0]->shape))
        return x;
    if (y->sig->op == LZ_OP_CONCATENATE)
        return slice_of_concat(rw, a, x);
    if (y->sig->op != LZ_OP_SLICE)
        return LZ_NOVAL;
    const lz_attr_slice *b = LZ_ATTR(slice, y->sig->attr);
    lz_attr_slice s = *a;
    for (int d = 0; d < s.strides.n; d++) {
        int64_t n = sig->result[0]->shape.dims[d];
        if (n == 0) { /* where b's strides would lead to may lie outside */
            s.start_indices.v[d] = s.limit_indices.v[d] = 0;
            continue;
        }
        s.start_indices.v[d] = b->start_indices.v[d] + a->start_indices.v[d] * b->strides.v[d];
        s.strides.v[d] = a->strides.v[d] * b->strides.v[d];
        s.limit_indices.v[d] = s.start_indices.v[d] + (n - 1) * s.strides.v[d] + 1;
    }
    lz_val o = y->opnd[0];
    return lz_build(rw->out, LZ_OP_SLICE, RECORD(s), &o, 1);
}

static lz_val simplify_reverse(lz_rw *rw, uint32_t i, lz_val x)
{
    const lz_sig *sig = rw->in->insts[i].sig;
    const lz_attr_dims *a = LZ_ATTR(dims, sig->attr);
    for (int k = 0; k < a->dimensions.n; k++)
        if (sig->opnd[0]->shape.dims[a->dimensions.v[k]] > 1) {
            const lz_inst *y = lz_rw_inst(rw, x);
            return y->sig == sig ? y->opnd[0] : LZ_NOVAL;
        }
    return x;
}

static lz_val simplify_pad(lz_rw *rw, uint32_t i, lz_val x)
{
    const lz_sig *sig = rw->in->insts[i].sig;
    const lz_attr_pad *a = LZ_ATTR(pad, sig->attr);
    lz_val p = lz_rw_opnd(rw, i, 1);
    bool none = true;
    for (int d = 0; d < a->edge_padding_low.n; d++)
        none = none && a->edge_padding_low.v[d] == 0 && a->edge_padding_high.v[d] == 0 &&
               (a->interior_padding.v[d] == 0 || sig->opnd[0]->shape.dims[d] < 2);
    if (none && same_shape(rw, i, x))
        return x;
    return scalar_below(rw, x) == p || sig->opnd[0]->nelem == 0
               ? spread(rw, p, &sig->result[0]->shape)
               : LZ_NOVAL;
}

static lz_val simplify_concatenate(lz_rw *rw, uint32_t i)
{
    const lz_sig *sig = rw->in->insts[i].sig;
    int64_t dim = LZ_ATTR(dim, sig->attr)->dimension;
    lz_val few[32];
    uint32_t n = 0;
    bool changed = false;
    for (uint32_t k = 0; k < sig->nopnd; k++) {
        lz_val x = lz_rw_opnd(rw, i, k);
        const lz_inst *y = lz_rw_inst(rw, x);
        bool empty = sig->opnd[k]->shape.dims[dim] == 0;
        bool nested =
            y->sig->op == LZ_OP_CONCATENATE && LZ_ATTR(dim, y->sig->attr)->dimension == dim;
        changed |= empty || nested;
        uint32_t add = empty ? 0 : nested ? y->sig->nopnd : 1;
        if (n + add > 32)
            return LZ_NOVAL;
        for (uint32_t j = 0; j < add; j++)
            few[n++] = nested ? y->opnd[j] : x;
    }
    if (n == 1)
        return few[0];
    if (!changed || n == 0)
        return LZ_NOVAL;
    return lz_build(rw->out, LZ_OP_CONCATENATE, sig->attr, few, n);
}

/* Starts that are constants make a slice. */
static lz_val simplify_dynamic_slice(lz_rw *rw, uint32_t i, lz_val x)
{
    const lz_sig *sig = rw->in->insts[i].sig;
    const lz_shape *s = &sig->opnd[0]->shape, *r = &sig->result[0]->shape;
    lz_attr_slice a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_slice;
    a.start_indices.n = a.limit_indices.n = a.strides.n = s->rank;
    for (int d = 0; d < s->rank; d++) {
        uint64_t bits = 0;
        lz_val at = lz_rw_opnd(rw, i, 1 + (uint32_t)d);
        int64_t start = 0, room = s->dims[d] - r->dims[d];
        if (room) {
            if (!lz_rw_splat(rw->out, at, &bits))
                return LZ_NOVAL;
            lz_dtype dt = lz_rw_type(rw, at)->dtype;
            start = lz_elem_get_i64(dt, &bits, 0);
            if (dt == LZ_U64 && start < 0)
                start = INT64_MAX;
            start = start < 0 ? 0 : start > room ? room : start;
        }
        a.start_indices.v[d] = start;
        a.limit_indices.v[d] = start + r->dims[d];
        a.strides.v[d] = 1;
    }
    return lz_build(rw->out, LZ_OP_SLICE, RECORD(a), &x, 1);
}

/* ---- sums of padded parts (the gradient of slices) ---- */

enum { MAX_PARTS = 16 };

typedef struct parts {
    int n;
    int dim; /* -1: not known yet */
    struct {
        lz_val v;
        int64_t from, to;
    } part[MAX_PARTS];
} parts;

/* v is x with +0 (or integer 0) before and after it along one dimension. */
static bool add_part(const lz_rw *rw, lz_val v, parts *p)
{
    const lz_inst *in = lz_rw_inst(rw, v);
    uint64_t bits;
    lz_dtype d = in->sig->result[0]->dtype;
    if (in->sig->op != LZ_OP_PAD || p->n == MAX_PARTS ||
        !lz_rw_splat(rw->out, in->opnd[1], &bits) || lz_dtype_is_complex(d) ||
        lz_elem_get_f64(d, &bits, 0) != 0)
        return false;
    const lz_attr_pad *a = LZ_ATTR(pad, in->sig->attr);
    for (int k = 0; k < a->edge_padding_low.n; k++) {
        int64_t lo = a->edge_padding_low.v[k], hi = a->edge_padding_high.v[k];
        if (lo < 0 || hi < 0 || a->interior_padding.v[k])
            return false;
        if (lo == 0 && hi == 0)
            continue;
        if (p->dim >= 0 && p->dim != k)
            return false;
        p->dim = k;
    }
    if (p->dim < 0)
        return false;
    int64_t from = a->edge_padding_low.v[p->dim];
    int at = p->n++;
    for (; at > 0 && p->part[at - 1].from > from; at--)
        p->part[at] = p->part[at - 1];
    p->part[at].v = in->opnd[0];
    p->part[at].from = from;
    p->part[at].to = from + in->sig->opnd[0]->shape.dims[p->dim];
    return true;
}

/* The padded parts below additions, when the sum has no others. */
static bool gather_parts(const lz_rw *rw, lz_val a, lz_val b, parts *p)
{
    lz_val stack[MAX_PARTS] = {a, b};
    int n = 2;
    while (n > 0) {
        lz_val v = stack[--n];
        const lz_inst *in = lz_rw_inst(rw, v);
        if (in->sig->op == LZ_OP_ADD && n + 2 <= MAX_PARTS) {
            stack[n++] = in->opnd[0];
            stack[n++] = in->opnd[1];
        } else if (!add_part(rw, v, p)) {
            return false;
        }
    }
    return true;
}

/* Parts that are adjacent without a gap are a concatenation. Each part plus +0 keeps every bit:
 * the sum had one at its place. */
lz_val lz_simplify_sum_of_parts(lz_rw *rw, uint32_t i)
{
    const lz_type *t = rw->in->insts[i].sig->result[0];
    parts p = {.dim = -1};
    int64_t at = 0;
    if (t->nelem == 0 || !gather_parts(rw, lz_rw_opnd(rw, i, 0), lz_rw_opnd(rw, i, 1), &p))
        return LZ_NOVAL;
    for (int k = 0; k < p.n; k++) {
        if (p.part[k].from != at)
            return LZ_NOVAL;
        at = p.part[k].to;
    }
    if (at != t->shape.dims[p.dim])
        return LZ_NOVAL;
    lz_val v[MAX_PARTS];
    for (int k = 0; k < p.n; k++) {
        v[k] = p.part[k].v;
        if (lz_dtype_is_float(t->dtype))
            v[k] = lz_build_ew2(rw->out, LZ_OP_ADD, v[k],
                                lz_build_splat(rw->out, lz_rw_type(rw, v[k]), 0));
    }
    lz_attr_dim a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_dim;
    a.dimension = p.dim;
    return lz_build(rw->out, LZ_OP_CONCATENATE, RECORD(a), v, (uint32_t)p.n);
}

lz_val lz_simplify_move(lz_rw *rw, uint32_t i)
{
    const lz_sig *sig = rw->in->insts[i].sig;
    if (sig->nopnd == 0)
        return LZ_NOVAL;
    lz_val x = lz_rw_opnd(rw, i, 0), s = scalar_below(rw, x);
    bool rearranges = sig->op == LZ_OP_RESHAPE || sig->op == LZ_OP_TRANSPOSE ||
                      sig->op == LZ_OP_REVERSE || sig->op == LZ_OP_SLICE ||
                      sig->op == LZ_OP_DYNAMIC_SLICE;
    if (rearranges && s != LZ_NOVAL && s != x)
        return spread(rw, s, &sig->result[0]->shape);
    switch (sig->op) {
    case LZ_OP_RESHAPE:
        if (same_shape(rw, i, x))
            return x;
        return lz_rw_op(rw, x) == LZ_OP_RESHAPE
                   ? lz_build_reshape(rw->out, lz_rw_inst(rw, x)->opnd[0], &sig->result[0]->shape)
                   : LZ_NOVAL;
    case LZ_OP_TRANSPOSE:
        return simplify_transpose(rw, i, x);
    case LZ_OP_BROADCAST_IN_DIM:
        return simplify_broadcast(rw, i, x);
    case LZ_OP_SLICE:
        return simplify_slice(rw, i, x);
    case LZ_OP_REVERSE:
        return simplify_reverse(rw, i, x);
    case LZ_OP_PAD:
        return simplify_pad(rw, i, x);
    case LZ_OP_CONCATENATE:
        return simplify_concatenate(rw, i);
    case LZ_OP_DYNAMIC_SLICE:
        return simplify_dynamic_slice(rw, i, x);
    case LZ_OP_DYNAMIC_UPDATE_SLICE:
        return sig->opnd[0] == sig->opnd[1] ? lz_rw_opnd(rw, i, 1) : LZ_NOVAL;
    default:
        return LZ_NOVAL;
    }
}
