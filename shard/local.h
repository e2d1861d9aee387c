/* local.h - pieces of a local function: the coordinate of the partition that runs it, masks,
 * collectives. Every call gives LZ_NOVAL after a failure, which the function keeps (f->status).
 * Threads: thread-compatible. */
#ifndef LZ_SHARD_LOCAL_H
#define LZ_SHARD_LOCAL_H
#include "ir/module.h"
#include "ir/sharding/sharding.h"

typedef struct lz_local {
    lz_func *f;
    const lz_mesh *mesh;
    lz_val part; /* the number of the partition, ui32[] */
} lz_local;

/* i32[]: tile number times step. Fails with LZ_EUNSUPPORTED where that may be beyond i32. */
lz_val lz_local_offset(const lz_local *l, const lz_axis_list *a, int64_t step);
/* i32[n]: lz_local_offset + first, and on. */
lz_val lz_local_places(const lz_local *l, const lz_axis_list *a, int64_t step, int64_t first,
                       int64_t n);
/* i1[n]: such places compared with a number, of i32. */
lz_val lz_local_compare(const lz_local *l, lz_comparison_direction direction, lz_val places,
                        int64_t v);
/* A value of the type of which every element is the identity of the combiner. */
lz_val lz_local_identity(const lz_local *l, lz_op combiner, const lz_type *t);
/* v where a boolean of the shape of dimension dim says so, else other (of v's type). */
lz_val lz_local_mask(const lz_local *l, lz_val v, lz_val other, int dim, lz_val keep);
/* v with the identity of the combiner where dimension dim of `extent` elements, in tiles along the
 * axes, is behind its end; v itself where tiles are even. */
lz_val lz_local_mask_padding(const lz_local *l, lz_val v, int dim, int64_t extent,
                             const lz_axis_list *a, lz_op combiner);
/* i1[]: whether the partition is the first along the axes. */
lz_val lz_local_is_first(const lz_local *l, uint32_t axes);
/* v where the partition is the first along the axes, elsewhere the identity. */
lz_val lz_local_first_only(const lz_local *l, lz_val v, uint32_t axes, lz_op combiner);
/* Dimension dim made n long: more elements are zeros, fewer are cut off the end. */
lz_val lz_local_resize(const lz_local *l, lz_val v, int dim, int64_t n);
/* n elements of dimension dim from a start, i32[], that is in bounds. */
lz_val lz_local_dynamic_slice(const lz_local *l, lz_val v, int dim, lz_val start, int64_t n);

/* ---- collectives among the partitions that differ in some axes, in the order of the axes ---- */
lz_val lz_local_all_gather(const lz_local *l, lz_val v, int dim, const lz_axis_list *a);
lz_val lz_local_all_reduce(const lz_local *l, lz_val v, const lz_axis_list *a, lz_op combiner);
lz_val lz_local_reduce_scatter(const lz_local *l, lz_val v, int dim, const lz_axis_list *a,
                               lz_op combiner);
lz_val lz_local_all_to_all(const lz_local *l, lz_val v, int split, int concat,
                           const lz_axis_list *a);
/* source[p]: whose value partition p gets; -1: zeros. */
lz_val lz_local_permute(const lz_local *l, lz_val v, const int64_t *source);
/* What the first partition along the axes has. */
lz_val lz_local_broadcast(const lz_local *l, lz_val v, uint32_t axes);
#endif
