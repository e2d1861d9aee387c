/* partition_index.c - gather and scatter where the dimension that indices name is spread: every
 * device reads, or writes, what falls into its tile. See partition.h. */
#include "ir/func.h"
#include "shard/partition.h"

typedef struct indexed {
    lz_part_op *o;
    const lz_local *l;
    lz_func *f;
    const lz_ints *map; /* operand dimension of each component of an index */
    int64_t vector_dim;
    lz_val indices; /* signed, of a dtype that holds every offset */
    lz_shape shape; /* local, of the indices */
    bool has_dim;   /* the components are a dimension of their own */
} indexed;

bool lz_part_is_indexed(const lz_part_op *o, int64_t d)
{
    if (o->sig->op == LZ_OP_GATHER) {
        const lz_attr_gather *a = LZ_ATTR(gather, o->sig->attr);
        return a->slice_sizes.v[d] == 1 && lz_ints_has(&a->start_index_map, d) &&
               (lz_ints_has(&a->collapsed_slice_dims, d) || o->sig->opnd[0]->shape.dims[d] > 1);
    }
    const lz_attr_scatter *a = LZ_ATTR(scatter, o->sig->attr);
    return lz_ints_has(&a->scatter_dims_to_operand_dims, d);
}

/* Whether the device has a part of dimension d, of which indices name single elements. */
static bool is_spread(const lz_part_op *o, int64_t d)
{
    return o->at[0]->dims[d].n > 0 && lz_part_is_indexed(o, d);
}

static lz_val number(const indexed *x, int64_t v)
{
    const lz_ints none = {0};
    lz_val s = lz_build_scalar_i64(x->f, lz_val_type(x->f, x->indices)->dtype, v);
    return x->shape.rank ? lz_build_broadcast(x->f, s, &none, &x->shape) : s;
}

/* i32, or i64 where it may be too narrow; numbers beyond either are the largest. */
static lz_val signed_indices(lz_func *f, lz_val v, lz_dtype d)
{
    if (v == LZ_NOVAL)
        return v;
    if (d == LZ_U64) {
        const lz_ints none = {0};
        lz_val most = lz_build_scalar_i64(f, LZ_U64, INT64_MAX);
        most = lz_build_broadcast(f, most, &none, &lz_val_type(f, v)->shape);
        v = lz_build_ew2(f, LZ_OP_MINIMUM, v, most);
    }
    return lz_build_convert(f, v, d == LZ_U32 || d == LZ_U64 || d == LZ_I64 ? LZ_I64 : LZ_I32);
}

static indexed indexed_of(lz_part_op *o, uint32_t k, const lz_ints *map, int64_t vector_dim)
{
    indexed x = {o, &o->p->l, o->p->l.f, map, vector_dim, o->local[k], {0}, false};
    x.indices = signed_indices(x.f, x.indices, o->sig->opnd[k]->dtype);
    if (x.indices != LZ_NOVAL)
        x.shape = lz_val_type(x.f, x.indices)->shape;
    x.has_dim = vector_dim < x.shape.rank;
    return x;
}

/* Where the indices are component j of several: i1 of their shape. */
static lz_val is_component(const indexed *x, int j)
{
    const lz_ints dims = {1, {x->vector_dim}};
    const lz_shape row = {1, {x->shape.dims[x->vector_dim]}};
    lz_val at = lz_build_iota(x->f, lz_type_get(LZ_I32, &row), 0);
    return lz_build_broadcast(x->f, lz_local_compare(x->l, LZ_CMP_EQ, at, j), &dims, &x->shape);
}

static int64_t highest_start(const indexed *x, int j)
{
    const lz_attr_gather *a = LZ_ATTR(gather, x->o->sig->attr);
    int64_t d = x->map->v[j], most = x->o->sig->opnd[0]->shape.dims[d] - a->slice_sizes.v[d];
    bool wide = lz_val_type(x->f, x->indices)->dtype == LZ_I64; /* else none is beyond i32 */
    return wide || most < INT32_MAX ? most : INT32_MAX;
}

/* The same for each component, along the components' dimension. */
static lz_val highest_starts(const indexed *x)
{
    if (!x->has_dim)
        return number(x, highest_start(x, 0));
    lz_val all = number(x, 0);
    for (int j = 0; j < x->map->n; j++)
        all = lz_build_select(x->f, is_component(x, j), number(x, highest_start(x, j)), all);
    return all;
}

/* Indices less where the device's tile begins. */
static lz_val shifted(const indexed *x, lz_val indices)
{
    const lz_ints none = {0};
    lz_dtype dtype = lz_val_type(x->f, x->indices)->dtype;
    for (int j = 0; j < x->map->n; j++) {
        int64_t d = x->map->v[j];
        if (!is_spread(x->o, d))
            continue;
        int64_t t = lz_val_type(x->f, x->o->local[0])->shape.dims[d];
        lz_val start = lz_local_offset(x->l, &x->o->at[0]->dims[d], t);
        start = lz_build_convert(x->f, start, dtype);
        if (x->shape.rank)
            start = lz_build_broadcast(x->f, start, &none, &x->shape);
        if (x->has_dim)
            start = lz_build_select(x->f, is_component(x, j), start, number(x, 0));
        indices = lz_build_ew2(x->f, LZ_OP_SUBTRACT, indices, start);
    }
    return indices;
}

/* Component j of the indices, without the components' dimension. */
static lz_val component(const indexed *x, lz_val indices, int64_t j)
{
    lz_shape s = x->shape;
    int64_t start[LZ_MAX_RANK] = {0}, limit[LZ_MAX_RANK];
    if (!x->has_dim || indices == LZ_NOVAL)
        return indices;
    for (int d = 0; d < s.rank; d++)
        limit[d] = s.dims[d];
    start[x->vector_dim] = j;
    limit[x->vector_dim] = j + 1;
    indices = lz_build_slice(x->f, indices, start, limit, NULL);
    for (int d = (int)x->vector_dim; d + 1 < s.rank; d++)
        s.dims[d] = s.dims[d + 1];
    s.rank--;
    return lz_build_reshape(x->f, indices, &s);
}

/* Whether the index is one of the device's tile. */
static lz_val inside(const indexed *x, lz_val indices)
{
    lz_val all = LZ_NOVAL;
    for (int j = 0; j < x->map->n; j++) {
        int64_t d = x->map->v[j];
        if (!is_spread(x->o, d) || x->f->status != LZ_OK)
            continue;
        int64_t t = lz_val_type(x->f, x->o->local[0])->shape.dims[d];
        lz_val c = component(x, indices, j);
        if (c == LZ_NOVAL)
            return c;
        const lz_type *type = lz_val_type(x->f, c);
        const lz_ints none = {0};
        lz_val lo = lz_build_scalar_i64(x->f, type->dtype, 0),
               hi = lz_build_scalar_i64(x->f, type->dtype, t);
        if (type->shape.rank) {
            lo = lz_build_broadcast(x->f, lo, &none, &type->shape);
            hi = lz_build_broadcast(x->f, hi, &none, &type->shape);
        }
        lz_val in = lz_build_ew2(x->f, LZ_OP_AND, lz_build_compare(x->f, LZ_CMP_GE, c, lo),
                                 lz_build_compare(x->f, LZ_CMP_LT, c, hi));
        all = all == LZ_NOVAL ? in : lz_build_ew2(x->f, LZ_OP_AND, all, in);
    }
    return all;
}

/* ---- gather ---- */

/* Single elements of a spread dimension: the device that has one gives it, the others give 0. */
lz_status lz_part_build_gather(lz_part_op *o)
{
    const lz_attr_gather *a = LZ_ATTR(gather, o->sig->attr);
    if (!o->summed)
        return lz_part_build_same(o);
    indexed x = indexed_of(o, 1, &a->start_index_map, a->index_vector_dim);
    if (x.indices == LZ_NOVAL)
        return x.f->status;
    lz_val at = lz_build(x.f, LZ_OP_CLAMP, NULL,
                         (lz_val[]){number(&x, 0), x.indices, highest_starts(&x)}, 3);
    at = shifted(&x, at);
    lz_val in = inside(&x, at);
    o->local[1] = at;
    LZ_TRY(x.f->status);
    LZ_TRY(lz_part_build_same(o));
    lz_form *made = o->p->forms[o->v];
    const lz_type *t = lz_val_type(x.f, made->v);
    lz_ints dims = {0};
    for (int d = 0; d < t->shape.rank; d++)
        if (!lz_ints_has(&a->offset_dims, d))
            dims.v[dims.n++] = d;
    if (t->shape.rank)
        in = lz_build_broadcast(x.f, in, &dims, &t->shape);
    made->v = lz_build_select(x.f, in, made->v, lz_local_identity(x.l, LZ_OP_ADD, t));
    return x.f->status;
}

/* ---- scatter ---- */

/* Indices of a spread dimension count from the tile's beginning, and what is outside of it is
 * dropped, as scatter does. Where updates are spread, their sums are added to one operand. */
lz_status lz_part_build_scatter(lz_part_op *o)
{
    const lz_attr_scatter *a = LZ_ATTR(scatter, o->sig->attr);
    uint32_t n = o->sig->nresult;
    bool spread = false;
    for (int j = 0; j < a->scatter_dims_to_operand_dims.n; j++)
        spread |= is_spread(o, a->scatter_dims_to_operand_dims.v[j]);
    if (spread) {
        indexed x = indexed_of(o, n, &a->scatter_dims_to_operand_dims, a->index_vector_dim);
        o->local[n] = x.indices == LZ_NOVAL ? LZ_NOVAL : shifted(&x, x.indices);
    }
    for (uint32_t k = 0; k < n && o->summed; k++) {
        const lz_rule_tensor *t = &o->r->tensors[n + 1 + k];
        o->local[k] = lz_local_first_only(&o->p->l, o->local[k], o->summed, o->reduction);
        for (int d = 0; d < t->rank; d++)
            if (t->dims[d].n == 1 && o->r->factors[t->dims[d].at[0]].kind == LZ_FACTOR_REDUCE)
                o->local[n + 1 + k] = lz_local_mask_padding(
                    &o->p->l, o->local[n + 1 + k], d, o->sig->opnd[n + 1 + k]->shape.dims[d],
                    &o->at[n + 1 + k]->dims[d], o->reduction);
    }
    return lz_part_build_same(o);
}

/* ---- dynamic_update_slice ---- */

/* Of a dimension that is spread and of which a part is written, every device writes what falls into
 * its tile: the tile between two margins that take the rest. */
static lz_val write_between_margins(lz_part_op *o, lz_val *starts)
{
    lz_func *f = o->p->l.f;
    const lz_type *in = lz_val_type(f, o->local[0]), *update = lz_val_type(f, o->local[1]);
    lz_attr_pad pad = {.kind = LZ_ATTR_pad};
    int64_t first[LZ_MAX_RANK], last[LZ_MAX_RANK];
    int rank = in->shape.rank;
    pad.edge_padding_low.n = pad.edge_padding_high.n = pad.interior_padding.n = rank;
    lz_val opnd[LZ_MAX_RANK + 2] = {0};
    for (int d = 0; d < rank; d++) {
        bool cut =
            o->at[0]->dims[d].n && o->sig->opnd[0]->shape.dims[d] != o->sig->opnd[1]->shape.dims[d];
        int64_t margin = cut ? update->shape.dims[d] : 0, t = in->shape.dims[d];
        pad.edge_padding_low.v[d] = pad.edge_padding_high.v[d] = margin;
        first[d] = margin;
        last[d] = margin + t;
        opnd[d + 2] = starts[d];
        if (!cut)
            continue;
        lz_dtype type = lz_val_type(f, starts[d])->dtype;
        int64_t most = o->sig->opnd[0]->shape.dims[d] - margin;
        lz_val at = lz_build(f, LZ_OP_CLAMP, NULL,
                             (lz_val[]){lz_build_scalar_i64(f, type, 0), starts[d],
                                        lz_build_scalar_i64(f, type, most)},
                             3);
        lz_val off = lz_local_offset(&o->p->l, &o->at[0]->dims[d], t);
        at = lz_build_ew2(f, LZ_OP_SUBTRACT, at, lz_build_convert(f, off, type));
        opnd[d + 2] = lz_build_ew2(f, LZ_OP_ADD, at, lz_build_scalar_i64(f, type, margin));
    }
    opnd[0] = lz_build(f, LZ_OP_PAD, (const lz_attr *)&pad,
                       (lz_val[]){o->local[0], lz_build_scalar_i64(f, in->dtype, 0)}, 2);
    opnd[1] = o->local[1];
    lz_val v = lz_build(f, LZ_OP_DYNAMIC_UPDATE_SLICE, NULL, opnd, (uint32_t)rank + 2);
    return lz_build_slice(f, v, first, last, NULL);
}

lz_status lz_part_build_update(lz_part_op *o)
{
    lz_func *f = o->p->l.f;
    bool cut = false;
    lz_val starts[LZ_MAX_RANK];
    for (int d = 0; d < o->at[0]->rank; d++)
        cut |=
            o->at[0]->dims[d].n && o->sig->opnd[0]->shape.dims[d] != o->sig->opnd[1]->shape.dims[d];
    if (!cut)
        return lz_part_build_same(o);
    for (int d = 0; d < o->at[0]->rank; d++)
        starts[d] = signed_indices(f, o->local[d + 2], o->sig->opnd[d + 2]->dtype);
    LZ_TRY(f->status);
    lz_part_give(o->p, o->v, o->at[o->sig->nopnd], write_between_margins(o, starts));
    return f->status;
}
