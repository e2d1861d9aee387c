/* local.c - coordinates, masks and collectives of a local function. See local.h. */
#include "shard/local.h"
#include "ir/attr.h"
#include "ir/func.h"
#include <inttypes.h>
#include <string.h>

/* ---- where the partition is ---- */

static lz_val number(const lz_local *l, int64_t v)
{
    return lz_build_scalar_i64(l->f, LZ_I32, v);
}

/* part / stride % size for `size` partitions that are `stride` apart. */
static lz_val coordinate(const lz_local *l, int64_t stride, int64_t size)
{
    lz_val p = lz_build_convert(l->f, l->part, LZ_I32);
    if (stride > 1)
        p = lz_build_ew2(l->f, LZ_OP_DIVIDE, p, number(l, stride));
    if (stride * size < l->mesh->ndevice)
        p = lz_build_ew2(l->f, LZ_OP_REMAINDER, p, number(l, size));
    return p;
}

/* The number of the tile along the axes, i32[]: coordinates major to minor. */
static lz_val tile_of(const lz_local *l, const lz_axis_list *a)
{
    const lz_mesh_factor *f = l->mesh->factors;
    lz_val sum = LZ_NOVAL;
    for (int i = 0; i < a->n;) {
        int64_t size = f[a->at[i]].size, stride = f[a->at[i]].stride;
        int k = i + 1; /* neighbours in the mesh are one coordinate */
        while (k < a->n && f[a->at[k]].stride * f[a->at[k]].size == stride) {
            size *= f[a->at[k]].size;
            stride = f[a->at[k++]].stride;
        }
        lz_val c = coordinate(l, stride, size);
        sum = i == 0 ? c
                     : lz_build_ew2(l->f, LZ_OP_ADD,
                                    lz_build_ew2(l->f, LZ_OP_MULTIPLY, sum, number(l, size)), c);
        i = k;
    }
    return a->n ? sum : number(l, 0);
}

lz_val lz_local_offset(const lz_local *l, const lz_axis_list *a, int64_t step)
{
    int64_t n = lz_axis_list_size(l->mesh, a);
    if (a->n && (step > INT32_MAX / n || step < -INT32_MAX / n)) {
        (void)LZ_FAIL(LZ_EUNSUPPORTED,
                      "partition: places in %" PRId64 " tiles of %" PRId64 " are beyond i32", n,
                      step);
        return lz_func_failed(l->f);
    }
    lz_val tile = tile_of(l, a);
    return a->n == 0 || step == 1 ? tile
                                  : lz_build_ew2(l->f, LZ_OP_MULTIPLY, tile, number(l, step));
}

lz_val lz_local_places(const lz_local *l, const lz_axis_list *a, int64_t step, int64_t first,
                       int64_t n)
{
    const lz_ints none = {0};
    const lz_shape row = {1, {n}};
    lz_val start = lz_local_offset(l, a, step);
    if (first)
        start = lz_build_ew2(l->f, LZ_OP_ADD, start, number(l, first));
    return lz_build_ew2(l->f, LZ_OP_ADD, lz_build_iota(l->f, lz_type_get(LZ_I32, &row), 0),
                        lz_build_broadcast(l->f, start, &none, &row));
}

lz_val lz_local_compare(const lz_local *l, lz_comparison_direction direction, lz_val places,
                        int64_t v)
{
    const lz_ints none = {0};
    if (places == LZ_NOVAL)
        return places;
    return lz_build_compare(
        l->f, direction, places,
        lz_build_broadcast(l->f, number(l, v), &none, &lz_val_type(l->f, places)->shape));
}

lz_val lz_local_is_first(const lz_local *l, uint32_t axes)
{
    lz_axis_list a = lz_axis_list_of(axes);
    return lz_build_compare(l->f, LZ_CMP_EQ, tile_of(l, &a), number(l, 0));
}

/* ---- masks ---- */

lz_val lz_local_identity(const lz_local *l, lz_op combiner, const lz_type *t)
{
    uint64_t bits;
    if (lz_identity_bits(combiner, t->dtype, &bits))
        return lz_build_splat_bits(l->f, t, bits);
    (void)LZ_FAIL(LZ_EUNSUPPORTED, "%s: has no identity in its dtype", lz_op_get(combiner)->text);
    return lz_func_failed(l->f);
}

lz_val lz_local_mask(const lz_local *l, lz_val v, lz_val other, int dim, lz_val keep)
{
    if (v == LZ_NOVAL)
        return v;
    const lz_ints dims = {1, {dim}};
    keep = lz_build_broadcast(l->f, keep, &dims, &lz_val_type(l->f, v)->shape);
    return lz_build_select(l->f, keep, v, other);
}

lz_val lz_local_mask_padding(const lz_local *l, lz_val v, int dim, int64_t extent,
                             const lz_axis_list *a, lz_op combiner)
{
    int64_t n = lz_axis_list_size(l->mesh, a), t = lz_tile_extent(extent, n);
    if (v == LZ_NOVAL || t * n == extent)
        return v;
    lz_val keep = lz_local_compare(l, LZ_CMP_LT, lz_local_places(l, a, t, 0, t), extent);
    return lz_local_mask(l, v, lz_local_identity(l, combiner, lz_val_type(l->f, v)), dim, keep);
}

lz_val lz_local_first_only(const lz_local *l, lz_val v, uint32_t axes, lz_op combiner)
{
    if (v == LZ_NOVAL)
        return v;
    lz_val other = lz_local_identity(l, combiner, lz_val_type(l->f, v));
    return lz_build_select(l->f, lz_local_is_first(l, axes), v, other);
}

/* ---- pieces of an array ---- */

lz_val lz_local_resize(const lz_local *l, lz_val v, int dim, int64_t n)
{
    if (v == LZ_NOVAL)
        return v;
    lz_shape s = lz_val_type(l->f, v)->shape;
    if (s.dims[dim] == n)
        return v;
    if (s.dims[dim] > n) {
        s.dims[dim] = n;
        return lz_build_slice(l->f, v, NULL, s.dims, NULL);
    }
    lz_attr_pad pad = {.kind = LZ_ATTR_pad};
    pad.edge_padding_low.n = pad.edge_padding_high.n = pad.interior_padding.n = s.rank;
    pad.edge_padding_high.v[dim] = n - s.dims[dim];
    return lz_build(l->f, LZ_OP_PAD, (const lz_attr *)&pad,
                    (lz_val[]){v, lz_build_scalar_i64(l->f, lz_val_type(l->f, v)->dtype, 0)}, 2);
}

lz_val lz_local_dynamic_slice(const lz_local *l, lz_val v, int dim, lz_val start, int64_t n)
{
    lz_val opnd[LZ_MAX_RANK + 1] = {v};
    lz_attr_sizes a = {.kind = LZ_ATTR_sizes};
    if (v == LZ_NOVAL || start == LZ_NOVAL)
        return LZ_NOVAL;
    const lz_shape *s = &lz_val_type(l->f, v)->shape;
    a.slice_sizes.n = s->rank;
    for (int d = 0; d < s->rank; d++) {
        a.slice_sizes.v[d] = d == dim ? n : s->dims[d];
        opnd[d + 1] = d == dim ? start : number(l, 0);
    }
    return lz_build(l->f, LZ_OP_DYNAMIC_SLICE, (const lz_attr *)&a, opnd, (uint32_t)s->rank + 1);
}

/* ---- collectives ---- */

/* How far from its group's first partition member k is. */
static int64_t member(const lz_mesh *m, const lz_axis_list *a, int64_t k)
{
    int64_t at = 0;
    for (int i = a->n; i-- > 0;) {
        const lz_mesh_factor *f = &m->factors[a->at[i]];
        at += k % f->size * f->stride;
        k /= f->size;
    }
    return at;
}

static const char *interned(const lz_local *l, lz_buf *b)
{
    const char *text = b->failed ? NULL : lz_string_get(lz_buf_str(b), b->len);
    if (b->failed)
        (void)LZ_FAIL(LZ_EMEM, "no memory for the groups of a collective");
    if (!text)
        (void)lz_func_failed(l->f);
    lz_buf_free(b);
    return text;
}

/* The canonical text of the groups, interned; NULL: the function has failed. */
static const char *groups_of(const lz_local *l, const lz_axis_list *a)
{
    lz_buf b = {0};
    int64_t n = lz_axis_list_size(l->mesh, a);
    lz_buf_putc(&b, '[');
    for (int64_t p = 0, rows = 0; p < l->mesh->ndevice; p++) {
        if (lz_axis_list_tile(l->mesh, a, p) != 0)
            continue;
        lz_buf_puts(&b, rows++ ? ", [" : "[");
        for (int64_t k = 0; k < n; k++)
            lz_buf_printf(&b, "%s%" PRId64, k ? ", " : "", p + member(l->mesh, a, k));
        lz_buf_putc(&b, ']');
    }
    lz_buf_putc(&b, ']');
    return interned(l, &b);
}

/* Channels are numbered when the function is complete; till then equal collectives are equal. */
enum { CHANNEL = 1, CHANNEL_TYPE = 1 };

lz_val lz_local_all_gather(const lz_local *l, lz_val v, int dim, const lz_axis_list *a)
{
    lz_attr_all_gather r = {.kind = LZ_ATTR_all_gather,
                            .all_gather_dim = dim,
                            .channel_id = CHANNEL,
                            .channel_type = CHANNEL_TYPE,
                            .participants = lz_axis_list_size(l->mesh, a),
                            .replica_groups = groups_of(l, a),
                            .use_global_device_ids = true};
    return r.replica_groups ? lz_build(l->f, LZ_OP_ALL_GATHER, (const lz_attr *)&r, &v, 1)
                            : LZ_NOVAL;
}

/* The combiner as a region; NULL: the function has failed. */
static const lz_func *region(const lz_local *l, lz_op combiner, lz_val v)
{
    const lz_func *r =
        v == LZ_NOVAL ? NULL : lz_region_binary(combiner, lz_val_type(l->f, v)->dtype);
    if (!r && v != LZ_NOVAL)
        (void)lz_func_failed(l->f);
    return r;
}

lz_val lz_local_all_reduce(const lz_local *l, lz_val v, const lz_axis_list *a, lz_op combiner)
{
    lz_attr_all_reduce r = {.kind = LZ_ATTR_all_reduce,
                            .channel_id = CHANNEL,
                            .channel_type = CHANNEL_TYPE,
                            .replica_groups = groups_of(l, a),
                            .use_global_device_ids = true,
                            .computation = region(l, combiner, v)};
    return r.replica_groups && r.computation
               ? lz_build(l->f, LZ_OP_ALL_REDUCE, (const lz_attr *)&r, &v, 1)
               : LZ_NOVAL;
}

lz_val lz_local_reduce_scatter(const lz_local *l, lz_val v, int dim, const lz_axis_list *a,
                               lz_op combiner)
{
    lz_attr_reduce_scatter r = {.kind = LZ_ATTR_reduce_scatter,
                                .channel_id = CHANNEL,
                                .channel_type = CHANNEL_TYPE,
                                .participants = lz_axis_list_size(l->mesh, a),
                                .replica_groups = groups_of(l, a),
                                .scatter_dimension = dim,
                                .use_global_device_ids = true,
                                .computation = region(l, combiner, v)};
    return r.replica_groups && r.computation
               ? lz_build(l->f, LZ_OP_REDUCE_SCATTER, (const lz_attr *)&r, &v, 1)
               : LZ_NOVAL;
}

lz_val lz_local_all_to_all(const lz_local *l, lz_val v, int split, int concat,
                           const lz_axis_list *a)
{
    lz_attr_all_to_all r = {.kind = LZ_ATTR_all_to_all,
                            .channel_id = CHANNEL,
                            .channel_type = CHANNEL_TYPE,
                            .concat_dimension = concat,
                            .replica_groups = groups_of(l, a),
                            .split_count = lz_axis_list_size(l->mesh, a),
                            .split_dimension = split};
    return r.replica_groups ? lz_build(l->f, LZ_OP_ALL_TO_ALL, (const lz_attr *)&r, &v, 1)
                            : LZ_NOVAL;
}

lz_val lz_local_permute(const lz_local *l, lz_val v, const int64_t *source)
{
    lz_buf b = {0};
    lz_buf_putc(&b, '[');
    for (int64_t p = 0, n = 0; p < l->mesh->ndevice; p++)
        if (source[p] >= 0)
            lz_buf_printf(&b, "%s[%" PRId64 ", %" PRId64 "]", n++ ? ", " : "", source[p], p);
    lz_buf_putc(&b, ']');
    lz_attr_collective_permute r = {.kind = LZ_ATTR_collective_permute,
                                    .channel_id = CHANNEL,
                                    .channel_type = CHANNEL_TYPE,
                                    .source_target_pairs = interned(l, &b)};
    return r.source_target_pairs
               ? lz_build(l->f, LZ_OP_COLLECTIVE_PERMUTE, (const lz_attr *)&r, &v, 1)
               : LZ_NOVAL;
}

lz_val lz_local_broadcast(const lz_local *l, lz_val v, uint32_t axes)
{
    lz_axis_list a = lz_axis_list_of(axes);
    lz_attr_collective_broadcast r = {.kind = LZ_ATTR_collective_broadcast,
                                      .channel_id = CHANNEL,
                                      .channel_type = CHANNEL_TYPE,
                                      .replica_groups = groups_of(l, &a)};
    return r.replica_groups ? lz_build(l->f, LZ_OP_COLLECTIVE_BROADCAST, (const lz_attr *)&r, &v, 1)
                            : LZ_NOVAL;
}
