/* batch_index.c - batching rules of operations with run-time addresses. Addresses that are the same
 * for all examples see them as one more dimension that is taken whole; addresses of each example's
 * own make them a batching dimension. See batch.h. */
#include "ir/batch/batch.h"
#include <string.h>

#define ATTRS(kind) LZ_ATTR(kind, b->sig->attr)
#define RECORD(a) ((const lz_attr *)(const void *)&(a))

static bool any_mapped(const lz_batch *b, uint32_t first, uint32_t n)
{
    bool any = false;
    for (uint32_t k = first; k < first + n; k++)
        any |= b->mapped[k];
    return any;
}

static int64_t largest(lz_dtype d)
{
    int bits = lz_dtype_bits(d) - (lz_dtype_is_signed(d) ? 1 : 0);
    return bits >= 63 ? INT64_MAX : (INT64_C(1) << bits) - 1;
}

/* Start number k, first + k among the operands, clamped to 0..last. */
static lz_val clamped(const lz_batch *b, uint32_t operand, int64_t last)
{
    lz_val x = lz_batch_opnd(b, operand);
    lz_dtype d = b->sig->opnd[operand]->dtype;
    int64_t top = largest(d);
    lz_val lo = lz_build_scalar_i64(b->to, d, 0),
           hi = lz_build_scalar_i64(b->to, d, last < top ? last : top);
    return lz_build(b->to, LZ_OP_CLAMP, NULL, (lz_val[]){lo, x, hi}, 3);
}

/* The starts of a slice of extents `size` as one array: [examples, rank]. */
static lz_val starts(const lz_batch *b, uint32_t first, const int64_t *size)
{
    const lz_shape *x = &b->sig->opnd[0]->shape, column = LZ_SHAPE(b->n, 1);
    lz_val v[LZ_MAX_RANK];
    for (int d = 0; d < x->rank; d++)
        v[d] =
            lz_build_reshape(b->to, clamped(b, first + (uint32_t)d, x->dims[d] - size[d]), &column);
    lz_attr_dim a = {.kind = LZ_ATTR_dim, .dimension = 1};
    return lz_build(b->to, LZ_OP_CONCATENATE, RECORD(a), v, (uint32_t)x->rank);
}

static lz_ints from_one(int n)
{
    lz_ints r = {.n = n};
    for (int i = 0; i < n; i++)
        r.v[i] = i + 1;
    return r;
}

/* Starts that are the same for all: one more in front. v: room for all operands. */
static lz_status in_front(const lz_batch *b, const lz_attr *record, uint32_t nfirst, lz_val *v)
{
    uint32_t nopnd = b->sig->nopnd;
    lz_dtype d = nopnd > nfirst ? b->sig->opnd[nfirst]->dtype : LZ_I64;
    for (uint32_t k = 0; k < nfirst; k++)
        v[k] = lz_batch_opnd(b, k);
    v[nfirst] = lz_build_scalar_i64(b->to, d, 0);
    for (uint32_t k = nfirst; k < nopnd; k++)
        v[k + 1] = b->opnd[k];
    return lz_batch_gave(b, lz_build(b->to, b->sig->op, record, v, nopnd + 1));
}

lz_status lz_batch_dynamic_slice(const lz_batch *b)
{
    const lz_ints *sizes = &ATTRS(sizes)->slice_sizes;
    int rank = sizes->n;
    if (!any_mapped(b, 1, (uint32_t)rank)) {
        lz_val v[2 + LZ_MAX_RANK];
        lz_attr_sizes a = {.kind = LZ_ATTR_sizes, .slice_sizes = lz_batch_list(b->n, sizes)};
        return in_front(b, RECORD(a), 1, v);
    }
    lz_attr_gather a = {.kind = LZ_ATTR_gather,
                        .offset_dims = from_one(rank),
                        .start_index_map = from_one(rank),
                        .operand_batching_dims = {.n = 1},
                        .start_indices_batching_dims = {.n = 1},
                        .index_vector_dim = 1,
                        .slice_sizes = lz_batch_list(1, sizes)};
    lz_val v[2] = {lz_batch_opnd(b, 0), starts(b, 1, sizes->v)};
    return lz_batch_gave(b, lz_build(b->to, LZ_OP_GATHER, RECORD(a), v, 2));
}

lz_status lz_batch_dynamic_update_slice(const lz_batch *b)
{
    const lz_type *x = b->sig->opnd[0];
    int rank = x->shape.rank;
    if (!any_mapped(b, 2, (uint32_t)rank)) {
        lz_val v[3 + LZ_MAX_RANK];
        return in_front(b, NULL, 2, v);
    }
    const lz_func *assign = lz_region_assign(x->dtype);
    if (!assign)
        return lz_error_get()->status;
    lz_attr_scatter a = {.kind = LZ_ATTR_scatter,
                         .update_window_dims = from_one(rank),
                         .scatter_dims_to_operand_dims = from_one(rank),
                         .input_batching_dims = {.n = 1},
                         .scatter_indices_batching_dims = {.n = 1},
                         .index_vector_dim = 1,
                         .unique_indices = true,
                         .update_computation = assign};
    lz_val v[3] = {lz_batch_opnd(b, 0), starts(b, 2, b->sig->opnd[1]->shape.dims),
                   lz_batch_opnd(b, 1)};
    return lz_batch_gave(b, lz_build(b->to, LZ_OP_SCATTER, RECORD(a), v, 3));
}

lz_status lz_batch_gather(const lz_batch *b)
{
    lz_attr_gather a = *ATTRS(gather);
    bool x = b->mapped[0], at = b->mapped[1];
    a.offset_dims = lz_batch_shift(&a.offset_dims);
    if (x) {
        a.collapsed_slice_dims = lz_batch_shift(&a.collapsed_slice_dims);
        a.operand_batching_dims = lz_batch_shift(&a.operand_batching_dims);
        a.start_index_map = lz_batch_shift(&a.start_index_map);
        a.slice_sizes = lz_batch_list(at ? 1 : b->n, &a.slice_sizes);
    }
    if (at) {
        a.start_indices_batching_dims = lz_batch_shift(&a.start_indices_batching_dims);
        a.index_vector_dim++;
        a.indices_are_sorted = false;
    }
    if (x && at) {
        a.operand_batching_dims = lz_batch_list(0, &a.operand_batching_dims);
        a.start_indices_batching_dims = lz_batch_list(0, &a.start_indices_batching_dims);
    } else if (x) {
        a.offset_dims = lz_batch_list(0, &a.offset_dims);
    }
    return lz_batch_build(b, RECORD(a), b->opnd);
}

lz_status lz_batch_scatter(const lz_batch *b)
{
    lz_attr_scatter a = *ATTRS(scatter);
    uint32_t n = b->sig->nopnd / 2;
    bool at = b->mapped[n];
    a.update_window_dims = lz_batch_shift(&a.update_window_dims);
    a.inserted_window_dims = lz_batch_shift(&a.inserted_window_dims);
    a.input_batching_dims = lz_batch_shift(&a.input_batching_dims);
    a.scatter_dims_to_operand_dims = lz_batch_shift(&a.scatter_dims_to_operand_dims);
    if (at) {
        lz_ints dims = lz_batch_shift(&a.scatter_indices_batching_dims);
        a.scatter_indices_batching_dims = lz_batch_list(0, &dims);
        a.input_batching_dims = lz_batch_list(0, &a.input_batching_dims);
        a.index_vector_dim++;
        a.indices_are_sorted = false;
    } else {
        a.update_window_dims = lz_batch_list(0, &a.update_window_dims);
    }
    lz_val *v = lz_alloc(b->sig->nopnd * sizeof *v);
    if (!v)
        return LZ_FAIL(LZ_EMEM, "no memory for %u operands", b->sig->nopnd);
    for (uint32_t k = 0; k < b->sig->nopnd; k++)
        v[k] = k == n ? b->opnd[k] : lz_batch_opnd(b, k);
    lz_status s = lz_batch_build(b, RECORD(a), v);
    lz_free(v);
    return s;
}
