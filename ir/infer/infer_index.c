/* infer_index.c - shape rules of operations with run-time addresses: dynamic_slice,
 * dynamic_update_slice, gather, scatter. The constraints are those of the StableHLO specification,
 * in its order. See infer.h. */
#include "ir/infer/infer.h"

static lz_status need_operands(const lz_infer *c, uint32_t atleast)
{
    if (c->nopnd < atleast)
        return LZ_FAIL(LZ_EINVAL, "%s: has %u operands, but at least %u are needed", c->name,
                       c->nopnd, atleast);
    return LZ_OK;
}

static lz_status starts(const lz_infer *c, uint32_t first)
{
    uint32_t n = c->nopnd - first;
    if (n != (uint32_t)c->opnd[0]->shape.rank)
        return LZ_FAIL(LZ_EINVAL, "%s: %u start indices for %s", c->name, n, LZ_TT(c->opnd[0]));
    return n ? lz_infer_scalar_int(c, first, n) : LZ_OK;
}

lz_status lz_infer_dynamic_slice(lz_infer *c)
{
    LZ_TRY(need_operands(c, 1));
    const lz_ints *sizes = &LZ_ATTR(sizes, c->attr)->slice_sizes;
    const lz_type *x = c->opnd[0];
    LZ_TRY(starts(c, 1));
    LZ_TRY(lz_infer_count(c, "slice_sizes", sizes, x->shape.rank, "the operand's rank"));
    for (int i = 0; i < sizes->n; i++)
        if (sizes->v[i] < 0 || sizes->v[i] > x->shape.dims[i])
            return LZ_FAIL(LZ_ESHAPE, "%s: slice_sizes = %s do not fit into %s", c->name,
                           LZ_IT(sizes), LZ_TT(x));
    return lz_infer_give_dims(c, x->dtype, sizes->n, sizes->v);
}

lz_status lz_infer_dynamic_update_slice(lz_infer *c)
{
    LZ_TRY(need_operands(c, 2));
    const lz_type *x = c->opnd[0], *u = c->opnd[1];
    LZ_TRY(lz_infer_same_dtype(c, 0, 1));
    bool fits = x->shape.rank == u->shape.rank;
    for (int i = 0; fits && i < x->shape.rank; i++)
        fits = u->shape.dims[i] <= x->shape.dims[i];
    if (!fits)
        return LZ_FAIL(LZ_ESHAPE, "%s: the update %s does not fit into %s", c->name, LZ_TT(u),
                       LZ_TT(x));
    LZ_TRY(starts(c, 2));
    c->result[0] = x;
    return LZ_OK;
}

/* ---- gather and scatter: dimension numbers that both have ---- */

typedef struct index_dims {
    const lz_type *x, *indices;
    const lz_ints *window;  /* offset_dims, update_window_dims */
    const lz_ints *dropped; /* collapsed_slice_dims, inserted_window_dims */
    const lz_ints *batch;   /* operand_batching_dims, input_batching_dims */
    const lz_ints *ibatch;  /* of the indices */
    const lz_ints *map;     /* start_index_map, scatter_dims_to_operand_dims */
    int64_t ivd;
    const char *window_name, *dropped_name, *batch_name, *ibatch_name, *map_name;
} index_dims;

static lz_status check_batching(const lz_infer *c, const index_dims *d)
{
    LZ_TRY(lz_infer_dim_list(c, d->ibatch_name, d->ibatch, d->indices->shape.rank, false));
    if (lz_ints_has(d->ibatch, d->ivd))
        return LZ_FAIL(LZ_EINVAL, "%s: index_vector_dim = %" PRId64 " is in %s = %s", c->name,
                       d->ivd, d->ibatch_name, LZ_IT(d->ibatch));
    if (d->batch->n != d->ibatch->n)
        return LZ_FAIL(LZ_EINVAL, "%s: %s = %s and %s = %s have different lengths", c->name,
                       d->batch_name, LZ_IT(d->batch), d->ibatch_name, LZ_IT(d->ibatch));
    for (int i = 0; i < d->batch->n; i++)
        if (d->x->shape.dims[d->batch->v[i]] != d->indices->shape.dims[d->ibatch->v[i]])
            return LZ_FAIL(LZ_ESHAPE,
                           "%s: batching dimension %" PRId64
                           " of %s differs from dimension %" PRId64 " of the indices %s",
                           c->name, d->batch->v[i], LZ_TT(d->x), d->ibatch->v[i],
                           LZ_TT(d->indices));
    return LZ_OK;
}

static lz_status check_dims(const lz_infer *c, const index_dims *d)
{
    int rank = d->x->shape.rank, irank = d->indices->shape.rank;
    if (!lz_dtype_is_int(d->indices->dtype))
        return LZ_FAIL(LZ_EDTYPE, "%s: the indices are %s, not integers", c->name,
                       LZ_TT(d->indices));
    if (rank != d->window->n + d->dropped->n + d->batch->n)
        return LZ_FAIL(LZ_EINVAL,
                       "%s: %s = %s, %s = %s and %s = %s do not cover the %d dimensions of %s",
                       c->name, d->window_name, LZ_IT(d->window), d->dropped_name,
                       LZ_IT(d->dropped), d->batch_name, LZ_IT(d->batch), rank, LZ_TT(d->x));
    if (d->ivd < 0 || d->ivd > irank)
        return LZ_FAIL(LZ_EINVAL,
                       "%s: index_vector_dim = %" PRId64 " is outside 0..%d for the indices %s",
                       c->name, d->ivd, irank, LZ_TT(d->indices));
    int64_t depth = d->ivd < irank ? d->indices->shape.dims[d->ivd] : 1;
    LZ_TRY(lz_infer_count(c, d->map_name, d->map, depth, "the extent of index_vector_dim"));
    LZ_TRY(lz_infer_dim_list(c, d->dropped_name, d->dropped, rank, true));
    LZ_TRY(lz_infer_dim_list(c, d->batch_name, d->batch, rank, true));
    LZ_TRY(lz_infer_disjoint(c, d->dropped_name, d->dropped, d->batch_name, d->batch));
    LZ_TRY(check_batching(c, d));
    LZ_TRY(lz_infer_dim_list(c, d->map_name, d->map, rank, false));
    return lz_infer_disjoint(c, d->map_name, d->map, d->batch_name, d->batch);
}

/* Extents of the indices without index_vector_dim. */
static int batch_extents(const index_dims *d, int64_t out[LZ_MAX_RANK])
{
    int n = 0;
    for (int i = 0; i < d->indices->shape.rank; i++)
        if (i != d->ivd)
            out[n++] = d->indices->shape.dims[i];
    return n;
}

/* Extents that stay of a window: those neither dropped nor batching. */
static int window_extents(const index_dims *d, const int64_t *all, int64_t out[LZ_MAX_RANK])
{
    int n = 0;
    for (int i = 0; i < d->x->shape.rank; i++)
        if (!lz_ints_has(d->dropped, i) && !lz_ints_has(d->batch, i))
            out[n++] = all[i];
    return n;
}

lz_status lz_infer_gather(lz_infer *c)
{
    const lz_attr_gather *a = LZ_ATTR(gather, c->attr);
    const lz_type *x = c->opnd[0];
    index_dims d = {x,
                    c->opnd[1],
                    &a->offset_dims,
                    &a->collapsed_slice_dims,
                    &a->operand_batching_dims,
                    &a->start_indices_batching_dims,
                    &a->start_index_map,
                    a->index_vector_dim,
                    "offset_dims",
                    "collapsed_slice_dims",
                    "operand_batching_dims",
                    "start_indices_batching_dims",
                    "start_index_map"};
    LZ_TRY(check_dims(c, &d));
    LZ_TRY(lz_infer_count(c, "slice_sizes", &a->slice_sizes, x->shape.rank, "the operand's rank"));
    for (int i = 0; i < x->shape.rank; i++) {
        int64_t n = a->slice_sizes.v[i];
        if (n < 0 || n > x->shape.dims[i])
            return LZ_FAIL(LZ_ESHAPE, "%s: slice_sizes = %s do not fit into %s", c->name,
                           LZ_IT(&a->slice_sizes), LZ_TT(x));
        if (n > 1 && (lz_ints_has(d.dropped, i) || lz_ints_has(d.batch, i)))
            return LZ_FAIL(LZ_ESHAPE,
                           "%s: slice_sizes = %s: %" PRId64
                           " is above 1 in dimension %d, which is collapsed or batching",
                           c->name, LZ_IT(&a->slice_sizes), n, i);
    }
    int64_t batch[LZ_MAX_RANK], window[LZ_MAX_RANK], out[2 * LZ_MAX_RANK];
    int rank = batch_extents(&d, batch) + window_extents(&d, a->slice_sizes.v, window);
    LZ_TRY(lz_infer_dim_list(c, "offset_dims", &a->offset_dims, rank, true));
    for (int i = 0, nb = 0, nw = 0; i < rank; i++)
        out[i] = lz_ints_has(&a->offset_dims, i) ? window[nw++] : batch[nb++];
    return lz_infer_give_dims(c, x->dtype, rank, out);
}

static lz_status check_updates(const lz_infer *c, const index_dims *d, const lz_type *u)
{
    int64_t batch[LZ_MAX_RANK], window[LZ_MAX_RANK];
    int nbatch = batch_extents(d, batch), nwindow = window_extents(d, d->x->shape.dims, window);
    if (u->shape.rank != nbatch + nwindow)
        return LZ_FAIL(LZ_ESHAPE,
                       "%s: the updates are %s, but rank %d is needed for %s and indices %s",
                       c->name, LZ_TT(u), nbatch + nwindow, LZ_TT(d->x), LZ_TT(d->indices));
    LZ_TRY(lz_infer_dim_list(c, d->window_name, d->window, u->shape.rank, true));
    for (int i = 0, nb = 0, nw = 0; i < u->shape.rank; i++) {
        bool in_window = lz_ints_has(d->window, i);
        int64_t have = u->shape.dims[i], want = in_window ? window[nw++] : batch[nb++];
        if (in_window ? have > want : have != want)
            return LZ_FAIL(LZ_ESHAPE,
                           "%s: dimension %d of the updates %s is %" PRId64 ", but %s%" PRId64
                           " is needed for %s and indices %s",
                           c->name, i, LZ_TT(u), have, in_window ? "at most " : "", want,
                           LZ_TT(d->x), LZ_TT(d->indices));
    }
    return LZ_OK;
}

lz_status lz_infer_scatter(lz_infer *c)
{
    const lz_attr_scatter *a = LZ_ATTR(scatter, c->attr);
    if (c->nopnd < 3 || c->nopnd % 2 == 0)
        return LZ_FAIL(LZ_EINVAL, "%s: %u operands are not n inputs, indices and n updates",
                       c->name, c->nopnd);
    uint32_t n = (c->nopnd - 1) / 2;
    index_dims d = {c->opnd[0],
                    c->opnd[n],
                    &a->update_window_dims,
                    &a->inserted_window_dims,
                    &a->input_batching_dims,
                    &a->scatter_indices_batching_dims,
                    &a->scatter_dims_to_operand_dims,
                    a->index_vector_dim,
                    "update_window_dims",
                    "inserted_window_dims",
                    "input_batching_dims",
                    "scatter_indices_batching_dims",
                    "scatter_dims_to_operand_dims"};
    LZ_TRY(check_dims(c, &d));
    for (uint32_t i = 0; i < n; i++) {
        if (!lz_shape_eq(&c->opnd[i]->shape, &d.x->shape))
            return LZ_FAIL(LZ_ESHAPE, "%s: shapes of inputs %s and %s differ", c->name, LZ_TT(d.x),
                           LZ_TT(c->opnd[i]));
        LZ_TRY(lz_infer_same_dtype(c, i, n + 1 + i));
        LZ_TRY(check_updates(c, &d, c->opnd[n + 1 + i]));
        if (!lz_shape_eq(&c->opnd[n + 1 + i]->shape, &c->opnd[n + 1]->shape))
            return LZ_FAIL(LZ_ESHAPE, "%s: shapes of updates %s and %s differ", c->name,
                           LZ_TT(c->opnd[n + 1]), LZ_TT(c->opnd[n + 1 + i]));
        c->result[i] = c->opnd[i];
    }
    c->nresult = n;
    return lz_infer_body(c, "update_computation", a->update_computation, n);
}
