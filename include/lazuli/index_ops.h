/* index_ops.h - reading and writing at positions given by tensors, beyond lz_gather and its like of
 * tensor_ops.h. Names, defaults and results are ATen's.
 * An index is i32 or i64. Where ATen counts negative positions from the end ("wraps" below), so do
 * these; other positions out of bounds are clamped when reading and dropped when writing (ATen: an
 * error). Where several updates meet at one element, the last one in row-major order stays unless
 * they are combined. Any dtype; a source has x's dtype unless said. Errors of all, as an error
 * tensor: LZ_ENULL, LZ_ESHAPE, LZ_EDTYPE, LZ_EINVAL, LZ_ERANGE, LZ_EMEM.
 * Implemented in: ops/index_put.c. */
#ifndef LAZULI_INDEX_OPS_H
#define LAZULI_INDEX_OPS_H
#include <lazuli/tensor_ops.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* x[indices[0], indices[1], ..] of NumPy and ATen: n <= rank entries, NULL for a whole dimension;
 * the others are broadcast to one shape, whose dimensions come in the place of the indexed ones
 * when those are next to each other, else in front. Wraps. Masks: lz_where, lz_masked_fill. */
LZ_API lz_tensor *lz_index_at(lz_tensor *x, lz_tensor *const *indices, int n, const lz_site *site);
/* x with values (broadcast to the shape that lz_index gives, converted) at these positions, or
 * added to them. */
LZ_API lz_tensor *lz_index_put_at(lz_tensor *x, lz_tensor *const *indices, int n, lz_tensor *values,
                                  bool accumulate, const lz_site *site);
/* x with slice i of source (x's shape but for dim) added, times alpha, to slice index[i] of dim. */
LZ_API lz_tensor *lz_index_add_at(lz_tensor *x, int64_t dim, lz_tensor *index, lz_tensor *source,
                                  double alpha, const lz_site *site);
/* x with slice i of source (x's shape but for dim) in the place of slice index[i] of dim. */
LZ_API lz_tensor *lz_index_copy_at(lz_tensor *x, int64_t dim, lz_tensor *index, lz_tensor *source,
                                   const lz_site *site);
/* x with the number in the place of the slices of dim at index. Wraps. */
LZ_API lz_tensor *lz_index_fill_at(lz_tensor *x, int64_t dim, lz_tensor *index, double value,
                                   const lz_site *site);
/* As lz_scatter_add, but src takes the place of the element. */
LZ_API lz_tensor *lz_scatter_at(lz_tensor *x, int64_t dim, lz_tensor *index, lz_tensor *src,
                                const lz_site *site);
/* As lz_scatter, with one number for all. */
LZ_API lz_tensor *lz_scatter_value_at(lz_tensor *x, int64_t dim, lz_tensor *index, double value,
                                      const lz_site *site);
/* reduce: "sum", "prod", "mean", "amax", "amin" of the values written to an element, including x's
 * own unless include_self is false. Elements that nothing is written to stay. mean of integers is
 * floored. The gradient of "prod" is LZ_EGRAD. */
LZ_API lz_tensor *lz_scatter_reduce_at(lz_tensor *x, int64_t dim, lz_tensor *index, lz_tensor *src,
                                       const char *reduce, bool include_self, const lz_site *site);
/* x as one row, at each position of index, whose shape the result has. Wraps. */
LZ_API lz_tensor *lz_take_at(lz_tensor *x, lz_tensor *index, const lz_site *site);
/* As lz_gather, with x and index broadcast to each other outside of dim; LZ_ALL_DIMS: x as one row,
 * index of any shape flattened. */
LZ_API lz_tensor *lz_take_along_dim_at(lz_tensor *x, lz_tensor *index, int64_t dim,
                                       const lz_site *site);
/* x as one row, with source (as many elements as index) at its positions, or added to them.
 * Wraps. */
LZ_API lz_tensor *lz_put_at(lz_tensor *x, lz_tensor *index, lz_tensor *source, bool accumulate,
                            const lz_site *site);
/* value, converted to x's dtype, where mask (broadcast) is not 0, else x. */
LZ_API lz_tensor *lz_masked_fill_at(lz_tensor *x, lz_tensor *mask, double value,
                                    const lz_site *site);
/* As lz_masked_fill, with the value in a tensor of rank 0. */
LZ_API lz_tensor *lz_masked_fill_tensor_at(lz_tensor *x, lz_tensor *mask, lz_tensor *value,
                                           const lz_site *site);
/* The elements of source, in order, where mask (broadcast) is not 0; when it has too few, the last
 * one again. */
LZ_API lz_tensor *lz_masked_scatter_at(lz_tensor *x, lz_tensor *mask, lz_tensor *source,
                                       const lz_site *site);

/* ---- embeddings ---- */
/* lz_embedding whose row padding_idx (wraps) gets no gradient. */
LZ_API lz_tensor *lz_embedding_padding_at(lz_tensor *weight, lz_tensor *indices,
                                          int64_t padding_idx, const lz_site *site);
/* The gradient of weight[num_weights, D] from that of the result, grad[.., D]: 0 in row padding_idx
 * (-1: none); each row divided by how often it was read when scale_grad_by_freq. */
LZ_API lz_tensor *lz_embedding_dense_backward_at(lz_tensor *grad, lz_tensor *indices,
                                                 int64_t num_weights, int64_t padding_idx,
                                                 bool scale_grad_by_freq, const lz_site *site);
typedef struct lz_embedding_bag_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_embedding_bag_options));
    int mode LZ_DEFAULT(0);                            /* 0 sum, 1 mean, 2 max */
    lz_tensor *per_sample_weights LZ_DEFAULT(nullptr); /* sum only: a factor for each index */
    /* offsets has one more entry, the end of the last bag */
    bool include_last_offset LZ_DEFAULT(false);
    int64_t padding_idx LZ_DEFAULT(-1); /* indices that do not count; -1: none */
    /* further results, where wanted: the bag of each index, */
    lz_tensor **offset2bag LZ_DEFAULT(nullptr);
    lz_tensor **bag_size LZ_DEFAULT(nullptr);    /* how many indices each bag counts, */
    lz_tensor **max_indices LZ_DEFAULT(nullptr); /* max: [bags, D] the row that is largest */
} lz_embedding_bag_options;
#define LZ_EMBEDDING_BAG_DEFAULTS .padding_idx = -1
/* Rows of weight[V, D] at indices[N], combined in bags: bag b is indices offsets[b] .. offsets[b +
 * 1] - 1 (offsets ascending from 0). An empty bag is 0.
 * Floats. [bags, D]. */
LZ_API lz_tensor *lz_embedding_bag_at(lz_tensor *weight, lz_tensor *indices, lz_tensor *offsets,
                                      const lz_embedding_bag_options *o, const lz_site *site);

#define lz_index(...) lz_index_at(__VA_ARGS__, LZ_SITE)
#define lz_index_put(...) lz_index_put_at(__VA_ARGS__, LZ_SITE)
#define lz_index_add(x, dim, index, source, alpha)                                                 \
    lz_index_add_at(x, dim, index, source, alpha, LZ_SITE)
#define lz_index_copy(x, dim, index, source) lz_index_copy_at(x, dim, index, source, LZ_SITE)
#define lz_index_fill(x, dim, index, value) lz_index_fill_at(x, dim, index, value, LZ_SITE)
#define lz_scatter(x, dim, index, src) lz_scatter_at(x, dim, index, src, LZ_SITE)
#define lz_scatter_value(x, dim, index, value) lz_scatter_value_at(x, dim, index, value, LZ_SITE)
#define lz_scatter_reduce(x, dim, index, src, reduce, include_self)                                \
    lz_scatter_reduce_at(x, dim, index, src, reduce, include_self, LZ_SITE)
#define lz_take(x, index) lz_take_at(x, index, LZ_SITE)
#define lz_take_along_dim(x, index, dim) lz_take_along_dim_at(x, index, dim, LZ_SITE)
#define lz_put(x, index, source, accumulate) lz_put_at(x, index, source, accumulate, LZ_SITE)
#define lz_masked_fill(x, mask, value) lz_masked_fill_at(x, mask, value, LZ_SITE)
#define lz_masked_fill_tensor(x, mask, value) lz_masked_fill_tensor_at(x, mask, value, LZ_SITE)
#define lz_masked_scatter(x, mask, source) lz_masked_scatter_at(x, mask, source, LZ_SITE)
#define lz_embedding_padding(weight, indices, padding_idx)                                         \
    lz_embedding_padding_at(weight, indices, padding_idx, LZ_SITE)
#define lz_embedding_dense_backward(grad, indices, num_weights, padding_idx, scale)                \
    lz_embedding_dense_backward_at(grad, indices, num_weights, padding_idx, scale, LZ_SITE)
#define lz_embedding_bag(...) LZ_ARGS_embedding_bag(__VA_ARGS__, )
#define LZ_ARGS_embedding_bag(weight, indices, offsets, ...)                                       \
    LZ_OVERRIDING(lz_embedding_bag_at(                                                             \
        weight, indices, offsets,                                                                  \
        LZ_DEFAULTED(lz_embedding_bag_options, LZ_EMBEDDING_BAG_DEFAULTS, __VA_ARGS__), LZ_SITE))
LZ_EXTERN_C_END
#endif
