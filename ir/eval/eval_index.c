/* eval_index.c - reference evaluation of the operations whose addresses are data. dynamic_slice,
 * dynamic_update_slice and gather clamp their starts so that the slice is in range; scatter drops
 * every element that falls outside.
 * Threads: pure. */
#include "ir/eval/eval.h"
#include <string.h>

/* A size of 0 (allowed for a collapsed dimension of gather) reads one element all the same. */
static int64_t clamp_start(int64_t start, int64_t dim, int64_t size)
{
    int64_t last = dim - (size > 0 ? size : 1);
    return start < 0 ? 0 : start > last ? last : start;
}

/* Reads one scalar start per dimension from operand `first` on, clamped; gives the element offset
 * in the array of `dims`. */
static int64_t start_offset(const lz_ref_call *c, uint32_t first, const lz_shape *array,
                            const int64_t *sizes)
{
    int64_t strides[LZ_MAX_RANK], at = 0;
    lz_ref_strides(array, strides);
    for (int d = 0; d < array->rank; d++) {
        uint32_t k = first + (uint32_t)d;
        int64_t start = lz_ref_load_index(c->sig->opnd[k]->dtype, c->opnd[k]->data, 0);
        at += clamp_start(start, array->dims[d], sizes[d]) * strides[d];
    }
    return at;
}

lz_status lz_ref_dynamic_slice(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    const lz_shape *in = &c->sig->opnd[0]->shape, *out = &c->sig->result[0]->shape;
    int64_t is[LZ_MAX_RANK], os[LZ_MAX_RANK];
    if (c->result[0]->type->nelem == 0)
        return LZ_OK;
    lz_ref_strides(in, is);
    lz_ref_strides(out, os);
    lz_ref_copy_affine(out->rank, out->dims, lz_dtype_size(c->sig->result[0]->dtype),
                       c->result[0]->data, 0, os, c->opnd[0]->data,
                       start_offset(c, 1, in, out->dims), is);
    return LZ_OK;
}

lz_status lz_ref_dynamic_update_slice(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    const lz_shape *out = &c->sig->result[0]->shape, *upd = &c->sig->opnd[1]->shape;
    int64_t us[LZ_MAX_RANK], os[LZ_MAX_RANK];
    memcpy(c->result[0]->data, c->opnd[0]->data, c->result[0]->nbytes);
    if (c->sig->opnd[1]->nelem == 0)
        return LZ_OK;
    lz_ref_strides(upd, us);
    lz_ref_strides(out, os);
    lz_ref_copy_affine(upd->rank, upd->dims, lz_dtype_size(c->sig->result[0]->dtype),
                       c->result[0]->data, start_offset(c, 2, out, upd->dims), os, c->opnd[1]->data,
                       0, us);
    return LZ_OK;
}

/* ---- gather and scatter: both walk an array (result or updates) whose dimensions are either
 * window dimensions, which move inside the operand, or batch dimensions, which select a vector of
 * starts. ---- */

typedef struct plan {
    int rank;              /* of the walked array */
    const lz_shape *array; /* the operand that is addressed */
    const lz_literal *index;
    int64_t index_strides
        [LZ_MAX_RANK];     /* of the index array, by walked dimension; 0 for window dimensions */
    int64_t vector_stride; /* between the components of one vector of starts */
    int ncomponent;
    int component_dim[LZ_MAX_RANK]; /* operand dimension of each component */
    int window_dim[LZ_MAX_RANK];    /* operand dimension moved by a walked dimension, -1 for none */
    int batching
        [LZ_MAX_RANK]; /* operand dimension equal to a walked (batch) dimension, -1 for none */
} plan;

/* window: walked dimensions that are window dimensions, in order; gone, batch: operand dimensions
 * they skip; index_batch: dimensions of the index array that pair with `batch`; map: operand
 * dimension of each component. */
static plan plan_of(int rank, const lz_shape *array, const lz_literal *index, const lz_ints *window,
                    const lz_ints *gone, const lz_ints *batch, const lz_ints *index_batch,
                    const lz_ints *map, int64_t vector_dim)
{
    plan p = {.rank = rank, .array = array, .index = index, .ncomponent = map->n};
    const lz_shape *is = &index->type->shape;
    int64_t strides[LZ_MAX_RANK];
    lz_ref_strides(is, strides);
    p.vector_stride = vector_dim < is->rank ? strides[vector_dim] : 0;
    for (int k = 0; k < map->n; k++)
        p.component_dim[k] = (int)map->v[k];
    int operand_dim = 0, index_dim = 0;
    for (int d = 0; d < rank; d++) {
        p.window_dim[d] = p.batching[d] = -1;
        if (lz_ints_has(window, d)) {
            while (lz_ints_has(gone, operand_dim) || lz_ints_has(batch, operand_dim))
                operand_dim++;
            p.window_dim[d] = operand_dim++;
            continue;
        }
        index_dim += index_dim == vector_dim;
        p.index_strides[d] = strides[index_dim];
        for (int k = 0; k < batch->n; k++)
            if (index_batch->v[k] == index_dim)
                p.batching[d] = (int)batch->v[k];
        index_dim++;
    }
    return p;
}

/* The operand index of walked element idx, before anything is clamped or dropped: starts in
 * `start`, the rest in `inside`. */
static void address(const plan *p, const int64_t *idx, int64_t *start, int64_t *inside)
{
    int64_t at = lz_ref_dot_index(p->rank, idx, p->index_strides);
    memset(start, 0, LZ_MAX_RANK * sizeof *start);
    memset(inside, 0, LZ_MAX_RANK * sizeof *inside);
    for (int k = 0; k < p->ncomponent; k++)
        start[p->component_dim[k]] =
            lz_ref_load_index(p->index->type->dtype, p->index->data, at + k * p->vector_stride);
    for (int d = 0; d < p->rank; d++) {
        if (p->window_dim[d] >= 0)
            inside[p->window_dim[d]] = idx[d];
        else if (p->batching[d] >= 0)
            inside[p->batching[d]] = idx[d];
    }
}

lz_status lz_ref_gather(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    const lz_attr_gather *a = LZ_ATTR(gather, c->sig->attr);
    const lz_shape *in = &c->sig->opnd[0]->shape, *out = &c->sig->result[0]->shape;
    if (c->result[0]->type->nelem == 0 || c->sig->opnd[0]->nelem == 0)
        return LZ_OK;
    plan p = plan_of(out->rank, in, c->opnd[1], &a->offset_dims, &a->collapsed_slice_dims,
                     &a->operand_batching_dims, &a->start_indices_batching_dims,
                     &a->start_index_map, a->index_vector_dim);
    size_t esize = lz_dtype_size(c->sig->result[0]->dtype);
    char *dst = c->result[0]->data;
    int64_t strides[LZ_MAX_RANK], start[LZ_MAX_RANK], inside[LZ_MAX_RANK];
    lz_ref_strides(in, strides);
    for (lz_ref_walk w = lz_ref_walk_of(out->rank, out->dims); w.more;
         lz_ref_walk_next(&w), dst += esize) {
        address(&p, w.idx, start, inside);
        int64_t at = 0;
        for (int d = 0; d < in->rank; d++)
            at +=
                (clamp_start(start[d], in->dims[d], a->slice_sizes.v[d]) + inside[d]) * strides[d];
        memcpy(dst, (const char *)c->opnd[0]->data + (size_t)at * esize, esize);
    }
    return LZ_OK;
}

/* Where an update goes; false when that is outside. */
static bool scatter_target(const plan *p, const int64_t *idx, const int64_t *strides, int64_t *at)
{
    int64_t start[LZ_MAX_RANK], inside[LZ_MAX_RANK];
    address(p, idx, start, inside);
    *at = 0;
    for (int d = 0; d < p->array->rank; d++) {
        int64_t v;
        if (!lz_add_i64(start[d], inside[d], &v) || v < 0 || v >= p->array->dims[d])
            return false;
        *at += v * strides[d];
    }
    return true;
}

/* A sum of floats: added up in double and rounded once, so that the reference has no error of its
 * own worth speaking of. */
static lz_status scatter_sum(const lz_ref_call *c, const plan *p, const int64_t *strides)
{
    const lz_type *t = c->sig->result[0];
    double *acc = lz_calloc((size_t)t->nelem, sizeof *acc);
    if (!acc)
        return LZ_FAIL(LZ_EMEM, "scatter: no memory for %lld sums", (long long)t->nelem);
    for (int64_t i = 0; i < t->nelem; i++)
        acc[i] = lz_ref_load_f(t->dtype, c->result[0]->data, i);
    const lz_shape *us = &c->sig->opnd[2]->shape;
    int64_t i = 0, at;
    for (lz_ref_walk w = lz_ref_walk_of(us->rank, us->dims); w.more; lz_ref_walk_next(&w), i++)
        if (scatter_target(p, w.idx, strides, &at))
            acc[at] += lz_ref_load_f(t->dtype, c->opnd[2]->data, i);
    for (i = 0; i < t->nelem; i++)
        lz_ref_store_f(t->dtype, c->result[0]->data, i, acc[i]);
    lz_free(acc);
    return LZ_OK;
}

/* Applies the region to every update in row-major order. args, out: 2n and n pointers of the
 * caller's. */
static lz_status scatter_each(const lz_ref_call *c, const plan *p, const int64_t *strides,
                              lz_ref_region *r, const void **args, void **out)
{
    uint32_t n = c->sig->nresult;
    const lz_shape *us = &c->sig->opnd[n + 1]->shape;
    int64_t i = 0, at;
    for (lz_ref_walk w = lz_ref_walk_of(us->rank, us->dims); w.more; lz_ref_walk_next(&w), i++) {
        if (!scatter_target(p, w.idx, strides, &at))
            continue;
        for (uint32_t k = 0; k < n; k++) {
            size_t esize = lz_dtype_size(c->sig->result[k]->dtype);
            out[k] = (char *)c->result[k]->data + (size_t)at * esize;
            args[k] = out[k];
            args[n + k] = (const char *)c->opnd[n + 1 + k]->data + (size_t)i * esize;
        }
        LZ_TRY(lz_ref_region_call(r, args, out));
    }
    return LZ_OK;
}

lz_status lz_ref_scatter(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    uint32_t n = c->sig->nresult;
    const lz_attr_scatter *a = LZ_ATTR(scatter, c->sig->attr);
    for (uint32_t k = 0; k < n; k++)
        memcpy(c->result[k]->data, c->opnd[k]->data, c->result[k]->nbytes);
    if (c->sig->opnd[n + 1]->nelem == 0)
        return LZ_OK;
    const lz_shape *in = &c->sig->result[0]->shape;
    plan p = plan_of(c->sig->opnd[n + 1]->shape.rank, in, c->opnd[n], &a->update_window_dims,
                     &a->inserted_window_dims, &a->input_batching_dims,
                     &a->scatter_indices_batching_dims, &a->scatter_dims_to_operand_dims,
                     a->index_vector_dim);
    int64_t strides[LZ_MAX_RANK];
    lz_ref_strides(in, strides);
    if (n == 1 && lz_dtype_is_float(c->sig->result[0]->dtype) &&
        lz_region_as_binary(a->update_computation) == LZ_OP_ADD)
        return scatter_sum(c, &p, strides);
    lz_ref_region *r;
    LZ_TRY(lz_ref_region_new(a->update_computation, c->depth, &r));
    const void **ptrs = lz_calloc(3 * (size_t)n, sizeof *ptrs);
    lz_status s = ptrs ? scatter_each(c, &p, strides, r, ptrs, (void **)(ptrs + 2 * (size_t)n))
                       : LZ_FAIL(LZ_EMEM, "scatter: no memory for %u operands", n);
    lz_free(ptrs);
    lz_ref_region_free(r);
    return s;
}
