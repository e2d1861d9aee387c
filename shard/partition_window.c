/* partition_window.c - operations whose result's tile needs elements of neighbouring tiles: slices,
 * pads, joins, windows, convolutions. Result tile p of a dimension needs `length` elements from
 * p step + first on, which may begin before and end behind the operand. What other tiles have of
 * them comes by one permute for each of them, what is outside of the operand is a padding value.
 * See partition.h. */
#include "ir/func.h"
#include "ir/window.h"
#include "shard/partition.h"
#include "shard/reshard.h"

/* ---- what tiles need ---- */

enum { HALO_HOPS = 8 };
/* Result tile p of a dimension needs `length` elements of the operand from p step + first on. */
typedef struct halo {
    lz_axis_list axes;
    int64_t tiles, extent, extent_out; /* global extents of operand and result */
    int64_t tile, tile_out, step, first, length;
} halo;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* From where to where a tile's elements are needed by some tile, counted from the beginning of the
 * tile that needs them. False: by none. */
static bool reach_of(const halo *h, int64_t *lo, int64_t *hi)
{
    bool any = false;
    for (int64_t p = 0; p < h->tiles; p++) {
        int64_t start = most(p * h->step + h->first, 0),
                end = least(p * h->step + h->first + h->length, h->extent);
        if (start >= end || p * h->tile_out >= h->extent_out)
            continue;
        *lo = any ? least(*lo, start - p * h->tile) : start - p * h->tile;
        *hi = any ? most(*hi, end - p * h->tile) : end - p * h->tile;
        any = true;
    }
    return any;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* Elements along the dimension that a device sends, in how many permutes. */
static double elements_of(const halo *h, int *launches)
{
    int64_t lo, hi;
    *launches = 0;
    if (!h->tile || !reach_of(h, &lo, &hi))
        return 0;
    double n = 0;
    for (int64_t k = floor_div(lo, h->tile); k <= floor_div(hi - 1, h->tile); k++) {
        if (k == 0 || k >= h->tiles || -k >= h->tiles)
            continue;
        n += (double)(least(hi, (k + 1) * h->tile) - most(lo, k * h->tile));
        ++*launches;
    }
    return n;
}

/* ---- getting it ---- */

/* Elements from a to b of a dimension. */
static lz_val part_of(const lz_local *l, lz_val v, int dim, int64_t a, int64_t b)
{
    int64_t start[LZ_MAX_RANK] = {0}, limit[LZ_MAX_RANK];
    if (v == LZ_NOVAL)
        return v;
    const lz_shape *s = &lz_val_type(l->f, v)->shape;
    if (a == 0 && b == s->dims[dim])
        return v;
    for (int d = 0; d < s->rank; d++)
        limit[d] = s->dims[d];
    start[dim] = a;
    limit[dim] = b;
    return lz_build_slice(l->f, v, start, limit, NULL);
}

/* v of the tile that is k tiles further on; zeros where there is none. */
static lz_val shift(const lz_local *l, lz_val v, const lz_axis_list *axes, int64_t k)
{
    int64_t n = l->mesh->ndevice, tiles = lz_axis_list_size(l->mesh, axes);
    int64_t *source = lz_alloc((size_t)n * sizeof *source);
    if (!source) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for a permutation");
        return lz_func_failed(l->f);
    }
    for (int64_t p = 0; p < n; p++) {
        int64_t to = lz_axis_list_tile(l->mesh, axes, p) + k, at = p;
        source[p] = -1;
        if (to < 0 || to >= tiles)
            continue;
        for (int i = axes->n; i-- > 0;) {
            const lz_mesh_factor *f = &l->mesh->factors[axes->at[i]];
            at += (to % f->size - lz_mesh_coordinate(l->mesh, p, axes->at[i])) * f->stride;
            to /= f->size;
        }
        source[p] = at;
    }
    v = lz_local_permute(l, v, source);
    lz_free(source);
    return v;
}

static lz_val join(const lz_local *l, const lz_val *v, uint32_t n, int dim)
{
    const lz_attr_dim a = {.kind = LZ_ATTR_dim, .dimension = dim};
    return n == 1 ? v[0] : lz_build(l->f, LZ_OP_CONCATENATE, (const lz_attr *)&a, v, n);
}

/* All that some tile needs, from lo to hi as counted from the own tile. */
static lz_val neighbourhood(const lz_local *l, lz_val v, int dim, const halo *h, int64_t lo,
                            int64_t hi)
{
    lz_val piece[2 * HALO_HOPS + 1];
    uint32_t n = 0;
    for (int64_t k = floor_div(lo, h->tile); k <= floor_div(hi - 1, h->tile); k++) {
        int64_t a = most(lo, k * h->tile) - k * h->tile,
                b = least(hi, (k + 1) * h->tile) - k * h->tile;
        lz_val part = part_of(l, v, dim, a, b);
        piece[n++] = k ? shift(l, part, &h->axes, k) : part;
    }
    return join(l, piece, n, dim);
}

/* Elements outside of the operand are `padding`, a scalar; LZ_NOVAL: of any value. */
static lz_val mask_outside(const lz_local *l, lz_val v, int dim, const halo *h, lz_val padding)
{
    const lz_ints none = {0};
    lz_func *f = l->f;
    bool outside = h->first < 0;
    for (int64_t p = 0; p < h->tiles; p++)
        outside |=
            p * h->tile_out < h->extent_out && p * h->step + h->first + h->length > h->extent;
    if (padding == LZ_NOVAL || v == LZ_NOVAL || !outside)
        return v;
    lz_val at = lz_local_places(l, &h->axes, h->step, h->first, h->length);
    lz_val keep = lz_build_ew2(f, LZ_OP_AND, lz_local_compare(l, LZ_CMP_GE, at, 0),
                               lz_local_compare(l, LZ_CMP_LT, at, h->extent));
    padding = lz_build_broadcast(f, padding, &none, &lz_val_type(f, v)->shape);
    return lz_local_mask(l, v, padding, dim, keep);
}

/* The elements that the device's result tile needs. padding: a scalar for those outside of the
 * operand, LZ_NOVAL: they may be any. */
static lz_val read_halo(const lz_local *l, lz_val v, int dim, const halo *h, lz_val padding)
{
    int64_t lo = 0, hi = 0, before, behind, drift = h->step - h->tile, last = h->tiles - 1;
    if (v == LZ_NOVAL)
        return v;
    if (!reach_of(h, &lo, &hi)) /* nothing is needed of it */
        hi = least(h->tile, 1);
    v = hi > lo ? neighbourhood(l, v, dim, h, lo, hi) : part_of(l, v, dim, 0, 0);
    before = least(h->first, last * drift + h->first);
    behind = most(h->first, last * drift + h->first) + h->length;
    if (v == LZ_NOVAL)
        return v;
    lz_attr_pad pad = {.kind = LZ_ATTR_pad};
    const lz_type *t = lz_val_type(l->f, v);
    pad.edge_padding_low.n = pad.edge_padding_high.n = pad.interior_padding.n = t->shape.rank;
    pad.edge_padding_low.v[dim] = lo - before; /* negative: cut off, which nobody needs */
    pad.edge_padding_high.v[dim] = behind - hi;
    if (lo != before || behind != hi)
        v = lz_build(l->f, LZ_OP_PAD, (const lz_attr *)&pad,
                     (lz_val[]){v, lz_build_scalar_i64(l->f, t->dtype, 0)}, 2);
    if (drift) {
        lz_val start = lz_local_offset(l, &h->axes, drift);
        start = lz_build_ew2(l->f, LZ_OP_ADD, start,
                             lz_build_scalar_i64(l->f, LZ_I32, h->first - before));
        v = lz_local_dynamic_slice(l, v, dim, start, h->length);
    }
    return mask_outside(l, v, dim, h, padding);
}

/* ---- what operations need ---- */

static bool window_of(const lz_part_op *o, int d, lz_window_axis *w)
{
    if (o->sig->op == LZ_OP_REDUCE_WINDOW) {
        *w = lz_window_of_reduce(LZ_ATTR(reduce_window, o->sig->attr), d);
        return true;
    }
    const lz_attr_convolution *a = LZ_ATTR(convolution, o->sig->attr);
    for (int i = 0; i < a->input_spatial_dimensions.n; i++)
        if (a->input_spatial_dimensions.v[i] == d) {
            *w = lz_window_of_conv(a, i, &o->sig->opnd[1]->shape);
            return true;
        }
    return false;
}

/* Where dimension d of operand k is in the result. */
static int64_t result_dim(const lz_part_op *o, int d)
{
    if (o->sig->op != LZ_OP_CONVOLUTION)
        return d;
    const lz_attr_convolution *a = LZ_ATTR(convolution, o->sig->attr);
    for (int i = 0; i < a->input_spatial_dimensions.n; i++)
        if (a->input_spatial_dimensions.v[i] == d)
            return a->output_spatial_dimensions.v[i];
    return d;
}

/* Sets how result indices are operand indices: step (of one), first, and how far one reaches. */
static bool geometry(const lz_part_op *o, uint32_t k, int d, int64_t *stride, int64_t *first,
                     int64_t *size)
{
    lz_window_axis w;
    *stride = *size = 1;
    *first = 0;
    switch (o->sig->op) {
    case LZ_OP_SLICE: {
        const lz_attr_slice *a = LZ_ATTR(slice, o->sig->attr);
        *stride = a->strides.v[d];
        *first = a->start_indices.v[d];
        return true;
    }
    case LZ_OP_PAD: {
        const lz_attr_pad *a = LZ_ATTR(pad, o->sig->attr);
        *first = -a->edge_padding_low.v[d];
        return a->interior_padding.v[d] == 0;
    }
    case LZ_OP_CONCATENATE:
        for (uint32_t i = 0; i < k; i++)
            *first -= o->sig->opnd[i]->shape.dims[d];
        return true;
    case LZ_OP_REDUCE_WINDOW:
    case LZ_OP_CONVOLUTION:
        if (!window_of(o, d, &w) || w.base != 1 || w.size < 1)
            return false;
        *stride = w.stride;
        *first = -w.low;
        *size = (w.size - 1) * w.dilation + 1;
        return true;
    default:
        return false;
    }
}

/* Places are counted in i32. */
static bool in_i32(int64_t v)
{
    return v >= -INT32_MAX && v <= INT32_MAX;
}

/* Of dimension d of operand k, with these axes; false: it must be whole. */
static bool halo_of(const lz_part_op *o, const lz_axis_list *axes, uint32_t k, int d, halo *h)
{
    int64_t stride, size, e = result_dim(o, d);
    const lz_mesh *m = o->p->l.mesh;
    if (!geometry(o, k, d, &stride, &h->first, &size))
        return false;
    h->axes = *axes;
    h->tiles = lz_axis_list_size(m, axes);
    h->extent = o->sig->opnd[k]->shape.dims[d];
    h->extent_out = o->sig->result[0]->shape.dims[e];
    if (!in_i32(stride) || !in_i32(h->first) || !in_i32(size) || !in_i32(h->extent))
        return false;
    h->tile = lz_tile_extent(h->extent, h->tiles);
    h->tile_out = lz_tile_extent(h->extent_out, h->tiles);
    h->step = h->tile_out <= INT32_MAX ? h->tile_out * stride : INT64_MAX;
    if (h->step > INT32_MAX / h->tiles)
        return false;
    h->length = h->tile_out ? (h->tile_out - 1) * stride + size : 0;
    int64_t lo = 0, hi = 0, limit = HALO_HOPS;
    return h->tile > 0 && h->tile_out > 0 && h->length < INT32_MAX &&
           (!reach_of(h, &lo, &hi) ||
            (floor_div(lo, h->tile) >= -limit && floor_div(hi - 1, h->tile) <= limit));
}

static const lz_rule_factor *permuted(const lz_part_op *o, uint32_t k, int d, uint32_t *factor)
{
    const lz_rule_dim *dim = &o->r->tensors[k].dims[d];
    if (dim->n != 1)
        return NULL;
    *factor = dim->at[0];
    const lz_rule_factor *f = &o->r->factors[dim->at[0]];
    return f->kind == LZ_FACTOR_PERMUTE ? f : NULL;
}

static uint32_t windowed_operands(const lz_part_op *o)
{
    switch (o->sig->op) {
    case LZ_OP_CONCATENATE:
        return o->sig->nopnd;
    case LZ_OP_REDUCE_WINDOW:
        return o->sig->nresult;
    default:
        return 1;
    }
}

double lz_part_halo_cost(const lz_part_op *o, const lz_axis_list *axes)
{
    double cost = 0;
    halo h;
    uint32_t f;
    for (uint32_t k = 0; k < windowed_operands(o) && k < o->r->nopnd; k++)
        for (int d = 0; d < o->r->tensors[k].rank; d++) {
            int launches;
            if (!permuted(o, k, d, &f) || !axes[f].n)
                continue;
            if (!halo_of(o, &axes[f], k, d, &h))
                return 1e300;
            double n = elements_of(&h, &launches);
            lz_shape s;
            lz_sharding_local_shape(o->at[k], &o->sig->opnd[k]->shape, &s);
            for (int e = 0; e < s.rank; e++)
                n *= (double)(e == d ? 1 : s.dims[e]);
            cost +=
                LZ_RESHARD_LAUNCH * launches + n * (double)lz_dtype_size(o->sig->opnd[k]->dtype);
        }
    return cost;
}

bool lz_part_halo_may(const lz_part_op *o, uint32_t factor)
{
    switch (o->sig->op) {
    case LZ_OP_SLICE:
    case LZ_OP_PAD:
    case LZ_OP_CONCATENATE:
    case LZ_OP_REDUCE_WINDOW:
        return true;
    case LZ_OP_CONVOLUTION:
        for (int d = 0; d < o->r->tensors[0].rank; d++)
            if (o->r->tensors[0].dims[d].n == 1 && o->r->tensors[0].dims[d].at[0] == factor)
                return true;
        return false;
    default:
        return false;
    }
}

/* The value that is outside of operand k; LZ_NOVAL: it does not matter. */
static lz_val outside_of(const lz_part_op *o, uint32_t k)
{
    switch (o->sig->op) {
    case LZ_OP_PAD:
        return o->local[1];
    case LZ_OP_REDUCE_WINDOW:
        return o->local[o->sig->nresult + k];
    case LZ_OP_CONVOLUTION:
        return lz_build_scalar_i64(o->p->l.f, o->sig->opnd[0]->dtype, 0);
    default:
        return LZ_NOVAL;
    }
}

/* The part of each operand of a join that is in the tile. */
static lz_status build_join(lz_part_op *o, int d, const lz_axis_list *axes)
{
    const lz_local *l = &o->p->l;
    lz_val all = LZ_NOVAL;
    int64_t first = 0;
    for (uint32_t k = 0; k < o->sig->nopnd; k++) {
        halo h;
        int64_t extent = o->sig->opnd[k]->shape.dims[d];
        if (extent == 0 || !halo_of(o, axes, k, d, &h))
            continue;
        lz_val v = read_halo(l, o->local[k], d, &h, LZ_NOVAL);
        if (all != LZ_NOVAL) { /* those before, up to where this one begins */
            lz_val at = lz_local_places(l, axes, h.tile_out, 0, h.tile_out);
            v = lz_local_mask(l, all, v, d, lz_local_compare(l, LZ_CMP_LT, at, first));
        }
        all = v;
        first += extent;
    }
    LZ_TRY(l->f->status);
    if (all == LZ_NOVAL)
        return LZ_FAIL(LZ_EINTERNAL, "concatenate: of nothing on several devices");
    lz_part_give(o->p, o->v, o->at[o->sig->nopnd], all);
    return l->f->status;
}

/* Windows begin where the operands do now. */
static void begin_at_zero(const lz_part_op *o, lz_attr_any *a, int d, const halo *h)
{
    lz_ints *low, *high;
    switch (o->sig->op) {
    case LZ_OP_SLICE:
        a->as_slice.start_indices.v[d] = 0;
        a->as_slice.limit_indices.v[d] = h->length;
        return;
    case LZ_OP_PAD:
        low = &a->as_pad.edge_padding_low;
        high = &a->as_pad.edge_padding_high;
        break;
    case LZ_OP_REDUCE_WINDOW:
        low = &a->as_reduce_window.padding_low;
        high = &a->as_reduce_window.padding_high;
        break;
    default:
        low = &a->as_convolution.padding_low;
        high = &a->as_convolution.padding_high;
        for (int i = 0; i < a->as_convolution.input_spatial_dimensions.n; i++)
            if (a->as_convolution.input_spatial_dimensions.v[i] == d) {
                d = i;
                break;
            }
        break;
    }
    low->v[d] = high->v[d] = 0;
}

/* *attr: with its extents local already. *done: the results have been given. */
lz_status lz_part_build_halo(lz_part_op *o, lz_attr_any *a, bool *done)
{
    uint32_t f, n = windowed_operands(o);
    *done = false;
    for (uint32_t k = 0; k < n && k < o->r->nopnd; k++)
        for (int d = 0; d < o->r->tensors[k].rank; d++) {
            halo h;
            if (!permuted(o, k, d, &f) || !o->axes[f].n)
                continue;
            if (o->sig->op == LZ_OP_CONCATENATE) {
                *done = true;
                return build_join(o, d, &o->axes[f]);
            }
            if (!halo_of(o, &o->axes[f], k, d, &h))
                return LZ_FAIL(LZ_EINTERNAL, "%s: windows that reach too far",
                               lz_op_get(o->sig->op)->text);
            o->local[k] = read_halo(&o->p->l, o->local[k], d, &h, outside_of(o, k));
            begin_at_zero(o, a, d, &h);
        }
    return o->p->l.f->status;
}
