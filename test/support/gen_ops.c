/* gen_ops.c - one random operation of each kind: attributes and operands that fit each other. */
#include "support/gen_internal.h"
#include "ir/attr.h"
#include <string.h>

static lz_ints ints_of(int n, const int *v)
{
    lz_ints s = {.n = n};
    for (int i = 0; i < n; i++)
        s.v[i] = v[i];
    return s;
}

static void sort_ints(lz_ints *s)
{
    for (int i = 1; i < s->n; i++)
        for (int j = i; j > 0 && s->v[j - 1] > s->v[j]; j--) {
            int64_t t = s->v[j];
            s->v[j] = s->v[j - 1];
            s->v[j - 1] = t;
        }
}

/* k of 0..n-1, in random or ascending order. */
static lz_ints choose(gen *g, int n, int k, bool sorted)
{
    int order[2 * LZ_MAX_RANK];
    lz_rnd_shuffle(&g->r, n, order);
    lz_ints s = ints_of(k, order);
    if (sorted)
        sort_ints(&s);
    return s;
}

/* ---- elementwise ---- */

static lz_val op_compare(gen *g, lz_val a)
{
    const lz_type *t = gen_type(g, a);
    lz_attr_compare at = {.kind = LZ_ATTR_compare,
                          .comparison_direction =
                              (int32_t)RND(0, lz_dtype_is_complex(t->dtype) ? 1 : 5)};
    at.compare_type =
        lz_dtype_is_float(t->dtype) ? (CHANCE(25) ? LZ_CT_TOTALORDER : LZ_CT_FLOAT) : LZ_CT_NOTYPE;
    lz_val opnd[2] = {a, gen_make(g, t->dtype, &t->shape)};
    return gen_build(g, LZ_OP_COMPARE, &at, opnd, 2);
}

static lz_val op_ternary(gen *g, lz_op op)
{
    const lz_op any = LZ_OP_CONVERT;
    lz_val x = gen_pick(g, op == LZ_OP_CLAMP ? op : any);
    if (x == LZ_NOVAL)
        return x;
    const lz_type *t = gen_type(g, x);
    lz_shape scalar = LZ_SCALAR;
    const lz_shape *s0 = CHANCE(40) ? &scalar : &t->shape,
                   *s2 = op == LZ_OP_CLAMP && CHANCE(40) ? &scalar : &t->shape;
    lz_val side = gen_make(g, op == LZ_OP_CLAMP ? t->dtype : LZ_BOOL, s0);
    lz_val opnd[3] = {side, x, gen_make(g, t->dtype, s2)};
    return gen_build(g, op, NULL, opnd, 3);
}

static lz_val op_ew(gen *g, lz_op op)
{
    const lz_op_info *info = lz_op_get(op);
    if (info->arity == 3)
        return op_ternary(g, op);
    lz_val a = gen_pick(g, op);
    if (a == LZ_NOVAL)
        return a;
    const lz_type *t = gen_type(g, a);
    switch (info->attr) {
    case LZ_ATTR_dtype: {
        lz_attr_dtype at = {.kind = LZ_ATTR_dtype, .dtype = gen_dtype(g, op)};
        if (g->pure)
            at.dtype = (lz_dtype)RND(1, LZ_DTYPE_COUNT - 1);
        return gen_build(g, op, &at, &a, 1);
    }
    case LZ_ATTR_precision: {
        lz_attr_precision at = {
            .kind = LZ_ATTR_precision, .exponent_bits = RND(1, 11), .mantissa_bits = RND(0, 52)};
        return gen_build(g, op, &at, &a, 1);
    }
    case LZ_ATTR_compare:
        return op_compare(g, a);
    default: {
        lz_val opnd[2] = {a, info->arity == 2 ? gen_make(g, t->dtype, &t->shape) : LZ_NOVAL};
        return gen_build(g, op, NULL, opnd, (uint32_t)info->arity);
    }
    }
}

/* ---- leaves and movement ---- */

static lz_val op_iota(gen *g)
{
    lz_attr_iota at = {
        .kind = LZ_ATTR_iota, .dtype = gen_dtype(g, LZ_OP_NEGATE), .shape = gen_shape(g, 1)};
    if (g->pure && g->shape)
        at.shape = *g->shape;
    at.iota_dimension = at.shape.rank ? RND(0, at.shape.rank - 1) : 0;
    return gen_build(g, LZ_OP_IOTA, &at, NULL, 0);
}

static lz_val op_constant(gen *g)
{
    lz_shape s = g->pure && g->shape ? *g->shape : gen_shape(g, 0);
    lz_dtype d = gen_dtype(g, LZ_OP_CONSTANT);
    lz_fill fill = g->pure ? (lz_fill)RND(LZ_FILL_MODEST, LZ_FILL_SPECIAL) : LZ_FILL_MODEST;
    lz_literal *l = d == LZ_DTYPE_NONE ? NULL : lz_test_random(&g->r, lz_type_get(d, &s), fill);
    lz_val v = l ? lz_build_const(g->f, l) : LZ_NOVAL;
    lz_literal_release(l);
    return v;
}

static lz_val op_broadcast(gen *g, lz_val a)
{
    lz_shape in = gen_type(g, a)->shape;
    lz_attr_broadcast at = {.kind = LZ_ATTR_broadcast};
    int rank = in.rank + (int)RND(0, in.rank < 5 ? 2 : 0);
    at.broadcast_dimensions = choose(g, rank, in.rank, CHANCE(70));
    at.shape.rank = rank;
    for (int d = 0; d < rank; d++)
        at.shape.dims[d] = gen_extent(g);
    for (int d = 0; d < in.rank; d++)
        if (in.dims[d] != 1 || CHANCE(30))
            at.shape.dims[at.broadcast_dimensions.v[d]] = in.dims[d];
    return gen_build(g, LZ_OP_BROADCAST_IN_DIM, &at, &a, 1);
}

static lz_val op_bitcast(gen *g, lz_val a)
{
    lz_attr_dtype at = {.kind = LZ_ATTR_dtype, .dtype = gen_dtype(g, LZ_OP_BITCAST_CONVERT)};
    if (g->pure)
        at.dtype = (lz_dtype)RND(1, LZ_DTYPE_COUNT - 1);
    const lz_type *t = gen_type(g, a);
    if (lz_dtype_is_complex(t->dtype) || t->dtype == LZ_BOOL)
        at.dtype = t->dtype;
    return gen_build(g, LZ_OP_BITCAST_CONVERT, &at, &a, 1);
}

static lz_val op_concatenate(gen *g, lz_val a)
{
    const lz_type *t = gen_type(g, a);
    if (t->shape.rank == 0)
        return LZ_NOVAL;
    lz_attr_dim at = {.kind = LZ_ATTR_dim, .dimension = RND(0, t->shape.rank - 1)};
    lz_val opnd[4] = {a};
    uint32_t n = (uint32_t)RND(1, 4);
    for (uint32_t k = 1; k < n; k++) {
        lz_shape s = t->shape;
        s.dims[at.dimension] = gen_extent(g);
        opnd[k] = gen_make(g, t->dtype, &s);
    }
    return gen_build(g, LZ_OP_CONCATENATE, &at, opnd, n);
}

static lz_val op_pad(gen *g, lz_val a)
{
    const lz_type *t = gen_type(g, a);
    lz_attr_pad at = {.kind = LZ_ATTR_pad};
    at.edge_padding_low.n = at.edge_padding_high.n = at.interior_padding.n = t->shape.rank;
    for (int d = 0; d < t->shape.rank; d++) {
        at.edge_padding_low.v[d] = RND(-2, 3);
        at.edge_padding_high.v[d] = RND(-2, 3);
        at.interior_padding.v[d] = CHANCE(50) ? 0 : RND(0, 2);
    }
    lz_val opnd[2] = {a, gen_make(g, t->dtype, &gen_scalar)};
    return gen_build(g, LZ_OP_PAD, &at, opnd, 2);
}

/* Merges or splits neighbours, adds and drops extents of 1. */
static lz_val op_reshape(gen *g, lz_val a)
{
    lz_shape s = gen_type(g, a)->shape;
    for (int k = (int)RND(1, 3); k > 0; k--) {
        int d = s.rank ? (int)RND(0, s.rank - 1) : 0;
        if (s.rank >= 2 && d + 1 < s.rank && CHANCE(50)) {
            s.dims[d] *= s.dims[d + 1];
            memmove(&s.dims[d + 1], &s.dims[d + 2], (size_t)(s.rank - d - 2) * sizeof *s.dims);
            s.dims[--s.rank] = 0;
        } else if (s.rank < 6) {
            int64_t e = s.rank ? s.dims[d] : 1, q = e % 3 == 0 ? 3 : e % 2 == 0 ? 2 : 1;
            if (s.rank)
                s.dims[d] = q == 0 ? e : e / q;
            memmove(&s.dims[d + 1], &s.dims[d], (size_t)(s.rank - d) * sizeof *s.dims);
            s.dims[d] = q;
            s.rank++;
        }
    }
    lz_attr_shape at = {.kind = LZ_ATTR_shape, .shape = s};
    return gen_build(g, LZ_OP_RESHAPE, &at, &a, 1);
}

static lz_val op_reverse(gen *g, lz_val a)
{
    int rank = gen_type(g, a)->shape.rank;
    lz_attr_dims at = {.kind = LZ_ATTR_dims,
                       .dimensions = choose(g, rank, (int)RND(0, rank), false)};
    return gen_build(g, LZ_OP_REVERSE, &at, &a, 1);
}

static lz_val op_slice(gen *g, lz_val a)
{
    const lz_shape *s = &gen_type(g, a)->shape;
    lz_attr_slice at = {.kind = LZ_ATTR_slice};
    at.start_indices.n = at.limit_indices.n = at.strides.n = s->rank;
    for (int d = 0; d < s->rank; d++) {
        int64_t lo = RND(0, s->dims[d]), hi = RND(0, s->dims[d]);
        if (lo == hi && lo > 0 && CHANCE(90))
            lo--;
        at.start_indices.v[d] = lo < hi ? lo : hi;
        at.limit_indices.v[d] = lo < hi ? hi : lo;
        at.strides.v[d] = CHANCE(60) ? 1 : RND(1, 3);
    }
    return gen_build(g, LZ_OP_SLICE, &at, &a, 1);
}

static lz_val op_transpose(gen *g, lz_val a)
{
    int rank = gen_type(g, a)->shape.rank;
    lz_attr_perm at = {.kind = LZ_ATTR_perm, .permutation = choose(g, rank, rank, false)};
    return gen_build(g, LZ_OP_TRANSPOSE, &at, &a, 1);
}

static lz_val op_move(gen *g, lz_op op)
{
    lz_val a = gen_pick(g, op);
    if (a == LZ_NOVAL)
        return a;
    switch (op) {
    case LZ_OP_BITCAST_CONVERT:
        return op_bitcast(g, a);
    case LZ_OP_BROADCAST_IN_DIM:
        return op_broadcast(g, a);
    case LZ_OP_CONCATENATE:
        return op_concatenate(g, a);
    case LZ_OP_PAD:
        return op_pad(g, a);
    case LZ_OP_RESHAPE:
        return op_reshape(g, a);
    case LZ_OP_REVERSE:
        return op_reverse(g, a);
    case LZ_OP_SLICE:
        return op_slice(g, a);
    case LZ_OP_TRANSPOSE:
        return op_transpose(g, a);
    case LZ_OP_WINDOW_VIEW:
        return gen_window_view(g, a);
    default:
        return LZ_NOVAL;
    }
}

/* ---- data-dependent addresses ---- */

static lz_dtype index_dtype(gen *g)
{
    static const lz_dtype d[] = {LZ_I32, LZ_I64, LZ_I32, LZ_U8, LZ_I8, LZ_U32, LZ_U64, LZ_I16};
    return d[RND(0, (int64_t)(sizeof d / sizeof *d) - 1)];
}

static lz_val op_dynamic(gen *g, lz_op op)
{
    lz_val a = gen_pick(g, op);
    if (a == LZ_NOVAL)
        return a;
    const lz_type *t = gen_type(g, a);
    lz_dtype id = index_dtype(g);
    lz_attr_sizes at = {.kind = LZ_ATTR_sizes};
    lz_shape size = t->shape;
    at.slice_sizes.n = size.rank;
    for (int d = 0; d < size.rank; d++)
        at.slice_sizes.v[d] = size.dims[d] = RND(size.dims[d] > 0 && CHANCE(95), size.dims[d]);
    lz_val opnd[2 + LZ_MAX_RANK] = {a};
    uint32_t n = 1;
    if (op == LZ_OP_DYNAMIC_UPDATE_SLICE)
        opnd[n++] = gen_make(g, t->dtype, &size);
    for (int d = 0; d < size.rank; d++)
        opnd[n++] = gen_make(g, id, &gen_scalar);
    return gen_build(g, op, op == LZ_OP_DYNAMIC_SLICE ? &at : NULL, opnd, n);
}

/* Random dimension numbers as gather and scatter share them. */
typedef struct numbers {
    lz_ints dropped, batch, index_batch,
        map; /* operand dimensions; index dimensions; operand dimensions */
    int64_t vector_dim;
    lz_shape index;
    int nbatch, nwindow;            /* dimensions of the walked array */
    int64_t batch_ext[LZ_MAX_RANK]; /* in the order of the index array */
    int window[LZ_MAX_RANK];        /* operand dimensions that stay */
} numbers;

static bool random_numbers(gen *g, const lz_shape *s, numbers *p)
{
    memset(p, 0, sizeof *p);
    for (int d = 0; d < s->rank; d++) {
        if (s->dims[d] > 0 && p->batch.n < 2 && CHANCE(15))
            p->batch.v[p->batch.n++] = d;
        else if (s->dims[d] > 0 && CHANCE(50))
            p->dropped.v[p->dropped.n++] = d;
        else
            p->window[p->nwindow++] = d;
    }
    int free_dims[LZ_MAX_RANK], nfree = 0, order[LZ_MAX_RANK];
    for (int d = 0; d < s->rank; d++)
        if (!lz_ints_has(&p->batch, d))
            free_dims[nfree++] = d;
    if (nfree == 0)
        return false;
    p->map.n = (int)RND(1, nfree);
    lz_rnd_shuffle(&g->r, nfree, order);
    for (int k = 0; k < p->map.n; k++)
        p->map.v[k] = free_dims[order[k]];
    /* the index array: plain and batching extents in random order, the vector somewhere between */
    p->nbatch = p->batch.n + (int)RND(0, 2);
    if (p->nbatch + p->nwindow > LZ_MAX_RANK || p->nbatch + 1 > LZ_MAX_RANK)
        return false;
    lz_rnd_shuffle(&g->r, p->nbatch, order);
    bool implicit = p->map.n == 1 && CHANCE(40);
    p->vector_dim = implicit ? p->nbatch : RND(0, p->nbatch);
    p->index.rank = p->nbatch + !implicit;
    p->index_batch.n = p->batch.n;
    for (int k = 0; k < p->nbatch; k++) {
        int at = order[k];
        int64_t e = k < p->batch.n ? s->dims[p->batch.v[k]] : gen_extent(g);
        p->batch_ext[at] = e;
        int where = at + (!implicit && at >= p->vector_dim);
        p->index.dims[where] = e;
        if (k < p->batch.n)
            p->index_batch.v[k] = where;
    }
    if (!implicit)
        p->index.dims[p->vector_dim] = p->map.n;
    return true;
}

static lz_val op_gather(gen *g)
{
    lz_val a = gen_pick(g, LZ_OP_GATHER);
    numbers p;
    if (a == LZ_NOVAL || !random_numbers(g, &gen_type(g, a)->shape, &p))
        return LZ_NOVAL;
    const lz_shape *s = &gen_type(g, a)->shape;
    lz_attr_gather at = {.kind = LZ_ATTR_gather,
                         .collapsed_slice_dims = p.dropped,
                         .operand_batching_dims = p.batch,
                         .start_indices_batching_dims = p.index_batch,
                         .start_index_map = p.map,
                         .index_vector_dim = p.vector_dim};
    at.offset_dims = choose(g, p.nbatch + p.nwindow, p.nwindow, true);
    at.slice_sizes.n = s->rank;
    for (int d = 0; d < s->rank; d++)
        at.slice_sizes.v[d] = 1;
    for (int k = 0; k < p.nwindow; k++) {
        int64_t e = s->dims[p.window[k]];
        at.slice_sizes.v[p.window[k]] = CHANCE(30) ? e : RND(e > 0 && CHANCE(95), e);
    }
    lz_val opnd[2] = {a, gen_make(g, index_dtype(g), &p.index)};
    return gen_build(g, LZ_OP_GATHER, &at, opnd, 2);
}

/* ---- regions ---- */

static bool combines(lz_op op, lz_dtype d)
{
    const uint32_t need = LZ_F_COMM | LZ_F_ASSOC;
    return lz_op_get(op)->cls == LZ_CLASS_EW && (lz_op_get(op)->flags & need) == need &&
           lz_op_accepts(op, d);
}

static lz_op combiner(gen *g, lz_dtype d)
{
    if (CHANCE(40) && combines(LZ_OP_ADD, d))
        return LZ_OP_ADD;
    for (;;) {
        lz_op op = (lz_op)RND(1, LZ_OP_COUNT - 1);
        if (combines(op, d))
            return op;
    }
}

static lz_val region_param(lz_func *f, lz_dtype d)
{
    const lz_type *t = lz_type_get(d, &gen_scalar);
    return t ? lz_build_param(f, t) : LZ_NOVAL;
}

/* Of two operands (value, index): the larger value, the lower index where equal; NaN is larger, and
 * as large as another NaN: the order in which elements are combined is free. */
static const lz_func *region_argmax(lz_dtype d, lz_dtype id)
{
    lz_func *f = lz_func_new("argmax");
    if (!f)
        return NULL;
    lz_val a = region_param(f, d), ai = region_param(f, id), b = region_param(f, d),
           bi = region_param(f, id);
    lz_val gt = lz_build_compare(f, LZ_CMP_GT, a, b), eq = lz_build_compare(f, LZ_CMP_EQ, a, b);
    if (lz_dtype_is_float(d)) {
        lz_val an = lz_build_compare(f, LZ_CMP_NE, a, a), bn = lz_build_compare(f, LZ_CMP_NE, b, b);
        gt = lz_build_ew2(f, LZ_OP_OR, gt,
                          lz_build_ew2(f, LZ_OP_AND, an, lz_build_ew1(f, LZ_OP_NOT, bn)));
        eq = lz_build_ew2(f, LZ_OP_OR, eq, lz_build_ew2(f, LZ_OP_AND, an, bn));
    }
    lz_val lower = lz_build_compare(f, LZ_CMP_LT, ai, bi);
    lz_val take = lz_build_ew2(f, LZ_OP_OR, gt, lz_build_ew2(f, LZ_OP_AND, eq, lower));
    lz_val out[2] = {lz_build_select(f, gt, a, b), lz_build_select(f, take, ai, bi)};
    (void)lz_func_set_results(f, out, 2);
    const lz_func *r = f->status == LZ_OK ? lz_region_intern(f) : NULL;
    lz_func_free(f);
    return r;
}

/* Of two operands: both combined, each by its own op. */
static const lz_func *region_pair(lz_op p, lz_dtype dp, lz_op q, lz_dtype dq)
{
    lz_func *f = lz_func_new("pair");
    if (!f)
        return NULL;
    lz_val a = region_param(f, dp), b = region_param(f, dq), c = region_param(f, dp),
           d = region_param(f, dq);
    lz_val out[2] = {lz_build_ew2(f, p, a, c), lz_build_ew2(f, q, b, d)};
    (void)lz_func_set_results(f, out, 2);
    const lz_func *r = f->status == LZ_OK ? lz_region_intern(f) : NULL;
    lz_func_free(f);
    return r;
}

/* Of one operand: the new value (scatter's way to set). */
static const lz_func *region_replace(lz_dtype d)
{
    lz_func *f = lz_func_new("replace");
    if (!f)
        return NULL;
    (void)region_param(f, d);
    lz_val b = region_param(f, d);
    (void)lz_func_set_results(f, &b, 1);
    const lz_func *r = f->status == LZ_OK ? lz_region_intern(f) : NULL;
    lz_func_free(f);
    return r;
}

/* Of one operand that is only stored: the larger, as f32. */
static const lz_func *region_stored(lz_dtype d)
{
    lz_func *f = lz_func_new("stored");
    if (!f)
        return NULL;
    lz_val a = region_param(f, d), b = region_param(f, d);
    lz_val m = lz_build_ew2(f, LZ_OP_MAXIMUM, lz_build_convert(f, a, LZ_F32),
                            lz_build_convert(f, b, LZ_F32));
    m = lz_build_convert(f, m, d);
    (void)lz_func_set_results(f, &m, 1);
    const lz_func *r = f->status == LZ_OK ? lz_region_intern(f) : NULL;
    lz_func_free(f);
    return r;
}

static const lz_func *region_one(gen *g, lz_dtype d)
{
    return lz_dtype_is_storage(d) ? region_stored(d) : lz_region_binary(combiner(g, d), d);
}

static lz_val op_scatter(gen *g)
{
    lz_val a = gen_pick(g, LZ_OP_SCATTER);
    numbers p;
    if (a == LZ_NOVAL || !random_numbers(g, &gen_type(g, a)->shape, &p))
        return LZ_NOVAL;
    const lz_type *t = gen_type(g, a);
    lz_attr_scatter at = {.kind = LZ_ATTR_scatter,
                          .inserted_window_dims = p.dropped,
                          .input_batching_dims = p.batch,
                          .scatter_indices_batching_dims = p.index_batch,
                          .scatter_dims_to_operand_dims = p.map,
                          .index_vector_dim = p.vector_dim};
    at.update_window_dims = choose(g, p.nbatch + p.nwindow, p.nwindow, true);
    lz_shape u = {.rank = p.nbatch + p.nwindow};
    int64_t points = 1;
    for (int d = 0, w = 0, b = 0; d < u.rank; d++) {
        if (lz_ints_has(&at.update_window_dims, d)) {
            int64_t e = t->shape.dims[p.window[w++]];
            u.dims[d] = CHANCE(30) ? e : RND(e > 0, e);
        } else {
            u.dims[d] = p.batch_ext[b++];
            points *= u.dims[d];
        }
    }
    bool two = CHANCE(20);
    lz_dtype d2 = two ? gen_dtype(g, LZ_OP_SCATTER) : LZ_DTYPE_NONE;
    two = two && !lz_dtype_is_storage(t->dtype) && !lz_dtype_is_storage(d2);
    /* setting is defined only when no two updates meet */
    at.update_computation = two ? region_pair(combiner(g, t->dtype), t->dtype, combiner(g, d2), d2)
                            : points <= 1 && CHANCE(70) ? region_replace(t->dtype)
                                                        : region_one(g, t->dtype);
    if (!at.update_computation)
        return LZ_NOVAL;
    lz_val index = gen_make(g, index_dtype(g), &p.index);
    if (!two) {
        lz_val opnd[3] = {a, index, gen_make(g, t->dtype, &u)};
        return gen_build(g, LZ_OP_SCATTER, &at, opnd, 3);
    }
    lz_val opnd[5] = {a, gen_make(g, d2, &t->shape), index, gen_make(g, t->dtype, &u),
                      gen_make(g, d2, &u)};
    return gen_build(g, LZ_OP_SCATTER, &at, opnd, 5);
}

static lz_val op_reduce(gen *g)
{
    lz_val a = gen_pick(g, LZ_OP_REDUCE);
    if (a == LZ_NOVAL)
        return a;
    const lz_type *t = gen_type(g, a);
    lz_attr_reduce at = {.kind = LZ_ATTR_reduce};
    at.dimensions = choose(g, t->shape.rank,
                           (int)RND(t->shape.rank > 0 && CHANCE(95), t->shape.rank), CHANCE(80));
    int kind = (int)RND(0, 9);
    if (kind < 7 || (kind == 7 && lz_dtype_is_complex(t->dtype))) {
        at.body = lz_region_binary(combiner(g, t->dtype), t->dtype);
        lz_val opnd[2] = {a, gen_make(g, t->dtype, &gen_scalar)};
        return at.body ? gen_build(g, LZ_OP_REDUCE, &at, opnd, 2) : LZ_NOVAL;
    }
    bool argmax = kind == 7;
    lz_dtype d2 = argmax ? LZ_I32 : gen_dtype(g, LZ_OP_REDUCE);
    at.body = argmax ? region_argmax(t->dtype, d2)
                     : region_pair(combiner(g, t->dtype), t->dtype, combiner(g, d2), d2);
    lz_val b = gen_make(g, d2, &t->shape);
    lz_val opnd[4] = {a, b, gen_make(g, t->dtype, &gen_scalar), gen_make(g, d2, &gen_scalar)};
    return at.body ? gen_build(g, LZ_OP_REDUCE, &at, opnd, 4) : LZ_NOVAL;
}

static bool has_order(lz_dtype d)
{
    return !lz_dtype_is_complex(d) && !lz_dtype_is_storage(d);
}

/* By the library's own comparators. */
static lz_val op_sort(gen *g)
{
    lz_val a = gen_pick(g, LZ_OP_SORT);
    if (a == LZ_NOVAL || gen_type(g, a)->shape.rank == 0)
        return LZ_NOVAL;
    const lz_shape s = gen_type(g, a)->shape;
    lz_attr_sort at = {
        .kind = LZ_ATTR_sort, .dimension = RND(0, s.rank - 1), .is_stable = CHANCE(80)};
    lz_val opnd[5] = {a};
    lz_dtype d[5] = {gen_type(g, a)->dtype};
    uint32_t n = (uint32_t)RND(1, 4), key = 0;
    for (uint32_t k = 1; k < n; k++) {
        d[k] = gen_dtype(g, LZ_OP_SORT);
        opnd[k] = gen_make(g, d[k], &s);
    }
    if (!has_order(d[0])) { /* it follows a key */
        d[n] = d[0], opnd[n] = opnd[0];
        d[0] = (lz_dtype)RND(LZ_BOOL, LZ_F64);
        opnd[0] = gen_make(g, d[0], &s);
        n++;
    }
    while (key < n && has_order(d[key]))
        key++;
    at.comparator = lz_region_order(d, n, (uint32_t)RND(1, key), CHANCE(40));
    return at.comparator ? gen_build(g, LZ_OP_SORT, &at, opnd, n) : LZ_NOVAL;
}

static lz_val op_dot(gen *g)
{
    lz_val a = gen_pick(g, LZ_OP_DOT_GENERAL);
    if (a == LZ_NOVAL)
        return a;
    const lz_type *t = gen_type(g, a);
    int nb = 0, nk = 0, order[LZ_MAX_RANK];
    lz_ints lb = {0}, lk = {0};
    lz_rnd_shuffle(&g->r, t->shape.rank, order);
    for (int i = 0; i < t->shape.rank; i++) {
        if (nb < 2 && CHANCE(25))
            lb.v[nb++] = order[i];
        else if (nk < 3 && CHANCE(50))
            lk.v[nk++] = order[i];
    }
    lb.n = nb;
    lk.n = nk;
    int nfree = (int)RND(0, 2), rank = nb + nk + nfree;
    lz_attr_dot at = {.kind = LZ_ATTR_dot,
                      .lhs_batching_dimensions = lb,
                      .lhs_contracting_dimensions = lk,
                      .precision = (int32_t)RND(0, 2)};
    lz_ints where = choose(g, rank, rank, CHANCE(30));
    lz_shape s = {.rank = rank};
    for (int i = 0; i < rank; i++) {
        int64_t d = where.v[i];
        if (i < nb) {
            at.rhs_batching_dimensions.v[at.rhs_batching_dimensions.n++] = d;
            s.dims[d] = t->shape.dims[lb.v[i]];
        } else if (i < nb + nk) {
            at.rhs_contracting_dimensions.v[at.rhs_contracting_dimensions.n++] = d;
            s.dims[d] = t->shape.dims[lk.v[i - nb]];
        } else {
            s.dims[d] = gen_extent(g);
        }
    }
    lz_val opnd[2] = {a, gen_make(g, t->dtype, &s)};
    return gen_build(g, LZ_OP_DOT_GENERAL, &at, opnd, 2);
}

/* Over as many of the last dimensions as there are, at most 3; complex operands in all three
 * ways. */
static lz_val op_fft(gen *g)
{
    lz_val a = gen_pick(g, LZ_OP_FFT);
    if (a == LZ_NOVAL || gen_type(g, a)->shape.rank == 0)
        return LZ_NOVAL;
    const lz_type *t = gen_type(g, a);
    lz_attr_fft at = {.kind = LZ_ATTR_fft, .fft_type = LZ_RFFT};
    int n = (int)RND(1, t->shape.rank < 3 ? t->shape.rank : 3);
    at.fft_length = lz_ints_make(n, t->shape.dims + t->shape.rank - n);
    if (lz_dtype_is_complex(t->dtype)) {
        int64_t half = at.fft_length.v[n - 1];
        at.fft_type = CHANCE(40) ? LZ_FFT : CHANCE(50) ? LZ_IFFT : LZ_IRFFT;
        if (at.fft_type == LZ_IRFFT)
            at.fft_length.v[n - 1] = half == 0                 ? 0
                                     : half == 1 || CHANCE(50) ? 2 * half - 1
                                                               : 2 * half - 2;
    }
    return gen_build(g, LZ_OP_FFT, &at, &a, 1);
}

static bool *flag_of(lz_attr_any *at)
{
    lz_attr_field f[LZ_ATTR_MAX_FIELDS];
    int n = lz_attr_fields(&at->head, f);
    return n > 0 && f[0].type == LZ_FIELD_BOOL ? f[0].flag : NULL;
}

/* 1 off the diagonal and 0 on it, or 0 and about 4 n, 8 n, .., no whole numbers: repeated to s. */
static lz_val pattern(gen *g, lz_dtype d, const lz_shape *s, bool diagonal)
{
    int64_t n = s->dims[s->rank - 1];
    lz_shape m = {.rank = 2, .dims = {n, n}};
    const lz_type *t = lz_type_get(d, &m);
    lz_literal *l = t ? lz_literal_new(t) : NULL;
    for (int64_t i = 0; l && i < n * n; i++)
        lz_elem_set_f64(d, l->data, i,
                        i / n != i % n ? !diagonal
                        : diagonal     ? (double)(4 * n * (i % n + 1)) + 0.3
                                       : 0);
    lz_val v = l ? lz_build_const(g->f, l) : LZ_NOVAL;
    lz_literal_release(l);
    const lz_ints last = {.n = 2, .v = {s->rank - 2, s->rank - 1}};
    return v == LZ_NOVAL ? v : lz_build_broadcast(g->f, v, &last, s);
}

/* Square matrices whose decomposition is no matter of rounding: the diagonal is larger than the
 * rest of its row and column, so rows stay where they are, and singular values lie apart. Off the
 * diagonal are numbers between 0.5 and 1.5, so that there is something to reflect, which decides
 * signs. */
static lz_val well_conditioned(gen *g, lz_dtype d, const lz_shape *s)
{
    lz_dtype part = lz_dtype_part(d);
    lz_val x = gen_make(g, d, s), p[2];
    if (x == LZ_NOVAL)
        return x;
    for (int k = 0; k < 2; k++) {
        p[k] = part == d ? x : lz_build_ew1(g->f, k ? LZ_OP_IMAG : LZ_OP_REAL, x);
        p[k] = lz_build_ew1(g->f, LZ_OP_LOGISTIC, p[k]);
        p[k] = lz_build_ew2(g->f, LZ_OP_ADD, p[k], lz_build_splat(g->f, gen_type(g, p[k]), 0.5));
        p[k] = lz_build_ew2(g->f, LZ_OP_MULTIPLY, p[k], pattern(g, part, s, false));
        if (k == 0)
            p[k] = lz_build_ew2(g->f, LZ_OP_ADD, p[k], pattern(g, part, s, true));
    }
    return part == d ? p[0] : lz_build_ew2(g->f, LZ_OP_COMPLEX, p[0], p[1]);
}

/* u diag(s) v^H. */
static lz_val put_together(gen *g, lz_val u)
{
    lz_val svd = g->f->insts[u].opnd[0], s = lz_build_result(g->f, svd, 1),
           v = lz_inst_op(&g->f->insts[svd]) == LZ_OP_EIGH ? u : lz_build_result(g->f, svd, 2);
    const lz_type *t = gen_type(g, u);
    lz_attr_dot at = {.kind = LZ_ATTR_dot};
    lz_ints dims = {.n = 0};
    for (int d = 0; d < t->shape.rank; d++)
        if (d != t->shape.rank - 2)
            dims.v[dims.n++] = d;
    for (int d = 0; d + 2 < t->shape.rank; d++)
        at.lhs_batching_dimensions.v[at.lhs_batching_dimensions.n++] = d;
    at.rhs_batching_dimensions = at.lhs_batching_dimensions;
    at.lhs_contracting_dimensions = at.rhs_contracting_dimensions =
        (lz_ints){.n = 1, .v = {t->shape.rank - 1}};
    if (lz_dtype_is_complex(t->dtype)) {
        lz_val zero = lz_build_splat(g->f, gen_type(g, s), 0);
        s = lz_build_ew2(g->f, LZ_OP_COMPLEX, s, zero);
        v = lz_build_ew2(g->f, LZ_OP_COMPLEX, lz_build_ew1(g->f, LZ_OP_REAL, v),
                         lz_build_ew1(g->f, LZ_OP_NEGATE, lz_build_ew1(g->f, LZ_OP_IMAG, v)));
    }
    lz_val scaled = lz_build_broadcast(g->f, s, &dims, &t->shape);
    lz_val opnd[2] = {lz_build_ew2(g->f, LZ_OP_MULTIPLY, u, scaled), v};
    return gen_build(g, LZ_OP_DOT_GENERAL, &at, opnd, 2);
}

bool gen_is_form(lz_op op)
{
    return op == LZ_OP_HESSENBERG || op == LZ_OP_TRIDIAGONAL || op == LZ_OP_GEQP3 ||
           op == LZ_OP_GTSV || op == LZ_OP_SCHUR || op == LZ_OP_EIG;
}

/* Operands after the first one of what gen_is_form() says, of which a has shape s. */
static lz_val form(gen *g, lz_op op, lz_attr_any *at, lz_val a, const lz_shape *s)
{
    lz_val opnd[4] = {a};
    lz_shape line = *s;
    int rank = s->rank, n = lz_op_get(op)->arity;
    line.rank--;
    line.dims[rank - 2] = s->dims[rank - (op == LZ_OP_GTSV ? 2 : 1)];
    line.dims[rank - 1] = 0;
    for (int k = 1; k < n; k++) {
        opnd[k] = gen_make(g, op == LZ_OP_GTSV ? gen_type(g, a)->dtype : LZ_I32, &line);
        if (opnd[k] == LZ_NOVAL)
            return LZ_NOVAL;
    }
    if (op == LZ_OP_EIG)
        at->as_eig.right = CHANCE(70);
    if (op == LZ_OP_HESSENBERG && s->dims[rank - 1] > 3)
        at->as_hessenberg.leading = RND(0, 2);
    return gen_build(g, op, at, opnd, (uint32_t)n);
}

/* Matrices as operand 0, square ones where they must be: the dtype and the batch of a value there
 * is, or of the case. */
static lz_val op_linalg(gen *g, lz_op op)
{
    static const int8_t sizes[] = {1, 2, 3, 5, 8, 0, 13};
    lz_dtype d = gen_dtype(g, op);
    if (d == LZ_DTYPE_NONE)
        return LZ_NOVAL;
    lz_shape s = g->pure && g->shape ? *g->shape : gen_shape(g, 2), b;
    bool decomposed = lz_op_get(op)->flags & LZ_F_MULTI && !g->pure;
    bool square = (gen_is_form(op) && op != LZ_OP_GEQP3 && op != LZ_OP_GTSV) ||
                  op == LZ_OP_CHOLESKY || op == LZ_OP_TRIANGULAR_SOLVE || op == LZ_OP_EIGH ||
                  decomposed;
    if (s.rank < 2)
        return LZ_NOVAL;
    int rank = s.rank;
    if (square)
        s.dims[rank - 1] = s.dims[rank - 2] =
            g->pure && g->shape ? s.dims[rank - 1] : sizes[RND(0, g->o.no_empty ? 4 : 6)];
    if ((op == LZ_OP_EIGH || gen_is_form(op)) && g->pure && s.dims[rank - 1] > 20 &&
        rank < LZ_MAX_RANK) { /* several */
        s = lz_shape_make(3, (int64_t[]){3, 20, 20});
        rank = 3;
    }
    int64_t most = op == LZ_OP_SVD || op == LZ_OP_EIGH || gen_is_form(op) ? 20 : INT64_MAX;
    for (int i = rank - 2; i < rank; i++) /* the reference takes its time */
        s.dims[i] = s.dims[i] > most ? most : s.dims[i];
    lz_attr_any at;
    lz_attr_init(&at, lz_op_get(op)->attr);
    lz_val opnd[2] = {decomposed ? well_conditioned(g, d, &s) : gen_make(g, d, &s)};
    if (op != LZ_OP_TRIANGULAR_SOLVE) {
        bool *flag = flag_of(&at);
        if (flag)
            *flag = CHANCE(50);
        if (gen_is_form(op))
            return opnd[0] == LZ_NOVAL ? LZ_NOVAL : form(g, op, &at, opnd[0], &s);
        lz_val r = gen_build(g, op, &at, opnd, 1);
        return r != LZ_NOVAL && (op == LZ_OP_SVD || op == LZ_OP_EIGH) && decomposed
                   ? put_together(g, r)
                   : r;
    }
    at.as_triangular_solve = (lz_attr_triangular_solve){.kind = LZ_ATTR_triangular_solve,
                                                        .left_side = CHANCE(50),
                                                        .lower = CHANCE(50),
                                                        .unit_diagonal = CHANCE(30),
                                                        .transpose_a = (int32_t)RND(0, 2)};
    b = s;
    b.dims[rank - (at.as_triangular_solve.left_side ? 1 : 2)] = gen_extent(g);
    opnd[1] = opnd[0] == LZ_NOVAL ? LZ_NOVAL : gen_make(g, d, &b);
    return opnd[1] == LZ_NOVAL ? LZ_NOVAL : gen_build(g, op, &at, opnd, 2);
}

static lz_val op_rng(gen *g)
{
    lz_attr_rng at = {.kind = LZ_ATTR_rng,
                      .rng_algorithm = (int32_t)RND(0, 2),
                      .dtype = gen_dtype(g, LZ_OP_POPCNT)};
    at.shape = g->pure && g->shape ? *g->shape : gen_shape(g, 0);
    lz_shape two = LZ_SHAPE(2);
    lz_val state = gen_make(g, LZ_U64, &two);
    return at.dtype == LZ_DTYPE_NONE ? LZ_NOVAL
                                     : gen_build(g, LZ_OP_RNG_BIT_GENERATOR, &at, &state, 1);
}

static lz_val op_barrier(gen *g)
{
    lz_val opnd[3];
    uint32_t n = (uint32_t)RND(1, 3);
    for (uint32_t k = 0; k < n; k++)
        opnd[k] = gen_pick(g, LZ_OP_OPTIMIZATION_BARRIER);
    return gen_build(g, LZ_OP_OPTIMIZATION_BARRIER, NULL, opnd, n);
}

lz_val gen_op(gen *g, lz_op op)
{
    switch (lz_op_get(op)->cls) {
    case LZ_CLASS_EW:
        return op_ew(g, op);
    case LZ_CLASS_LEAF:
        return op == LZ_OP_IOTA        ? op_iota(g)
               : op == LZ_OP_CONSTANT  ? op_constant(g)
               : op == LZ_OP_PARAMETER ? LZ_NOVAL
                                       : gen_build(g, op, NULL, NULL, 0); /* a number */
    case LZ_CLASS_MOVE:
        return op_move(g, op);
    case LZ_CLASS_INDEX:
        return op == LZ_OP_GATHER    ? op_gather(g)
               : op == LZ_OP_SCATTER ? op_scatter(g)
                                     : op_dynamic(g, op);
    case LZ_CLASS_REDUCE:
        return op_reduce(g);
    case LZ_CLASS_DOT:
        return op_dot(g);
    case LZ_CLASS_WINDOW:
        return gen_window(g, op);
    case LZ_CLASS_RNG:
        return op_rng(g);
    case LZ_CLASS_FFT:
        return op_fft(g);
    case LZ_CLASS_LINALG:
        return op_linalg(g, op);
    case LZ_CLASS_SORT:
        return op_sort(g);
    case LZ_CLASS_CONTROL:
        return gen_control(g, op);
    case LZ_CLASS_CALL:
        return gen_call(g);
    case LZ_CLASS_COLLECTIVE: /* is not run */
        return LZ_NOVAL;
    default:
        return op == LZ_OP_OPTIMIZATION_BARRIER ? op_barrier(g)
               : op == LZ_OP_CUSTOM_VJP         ? gen_custom_vjp(g)
               : op == LZ_OP_RESULT             ? LZ_NOVAL
                                                : gen_mark(g, op);
    }
}
