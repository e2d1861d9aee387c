/* shape_ops.h - further shape operations: rearranging, splitting, writing into slices, creating.
 * Names, defaults and results are ATen's, but that there are no views: every result is a value, and
 * writing into a part gives a new tensor (..._scatter), which lz_assign may put back. Any dtype
 * unless said; dimensions may be negative. Errors of all, as an error tensor: LZ_ENULL, LZ_ESHAPE,
 * LZ_EDTYPE, LZ_EINVAL, LZ_ERANGE, LZ_EMEM.
 * Implemented in: ops/view.c, ops/slice_update.c. */
#ifndef LAZULI_SHAPE_OPS_H
#define LAZULI_SHAPE_OPS_H
#include <lazuli/tensor_ops.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* ---- the same elements, rearranged ---- */
/* Another handle of the value: lz_assign to one leaves the other. */
LZ_API lz_tensor *lz_clone_at(lz_tensor *x, const lz_site *site);
/* A matrix transposed; rank 0 and 1 as they are. */
LZ_API lz_tensor *lz_t_at(lz_tensor *x, const lz_site *site);
/* Dimensions source at the places destination; the others keep their order. */
LZ_API lz_tensor *lz_movedim_at(lz_tensor *x, lz_dims source, lz_dims destination,
                                const lz_site *site);
/* x without those of dims that have extent 1; none given: without all that have. */
LZ_API lz_tensor *lz_squeeze_dims_at(lz_tensor *x, lz_dims dims, const lz_site *site);
/* dim as several dimensions; one extent may be -1. */
LZ_API lz_tensor *lz_unflatten_at(lz_tensor *x, int64_t dim, lz_shape sizes, const lz_site *site);
/* x broadcast to other's shape. */
LZ_API lz_tensor *lz_expand_as_at(lz_tensor *x, lz_tensor *other, const lz_site *site);
/* Elements moved cyclically along dims; no dims: one shift of all elements in row-major order. */
LZ_API lz_tensor *lz_roll_at(lz_tensor *x, lz_dims shifts, lz_dims dims, const lz_site *site);
/* k quarter turns from dim0 to dim1. */
LZ_API lz_tensor *lz_rot90_at(lz_tensor *x, int64_t k, int64_t dim0, int64_t dim1,
                              const lz_site *site);
/* x's elements in row-major order under a shape of any number of elements: the first ones, or all
 * of them and zeros (ATen resize_ leaves those open, and changes x itself). */
LZ_API lz_tensor *lz_resize_at(lz_tensor *x, lz_shape shape, const lz_site *site);

/* ---- repeated ---- */
/* x repeated as often along each dimension; repeats has x's rank or more. */
LZ_API lz_tensor *lz_repeat_at(lz_tensor *x, lz_shape repeats, const lz_site *site);
/* As lz_repeat; a list shorter than the rank is for the last dimensions. */
LZ_API lz_tensor *lz_tile_at(lz_tensor *x, lz_shape repeats, const lz_site *site);
/* Each element repeated along dim; LZ_ALL_DIMS: of x as one row. */
LZ_API lz_tensor *lz_repeat_interleave_at(lz_tensor *x, int64_t repeats, int64_t dim,
                                          const lz_site *site);

/* ---- taken apart ---- */
/* Elements start .. start + length - 1 of dim, inside of its extent (LZ_ERANGE). */
LZ_API lz_tensor *lz_narrow_at(lz_tensor *x, int64_t dim, int64_t start, int64_t length,
                               const lz_site *site);
/* Pieces of `size` along dim, the last one smaller. *n is the room of out, and becomes how many
 * there are: LZ_ERANGE when they do not fit (nothing is written). Pieces are handles of the
 * innermost scope. */
LZ_API lz_status lz_split_at(lz_tensor *x, int64_t size, int64_t dim, lz_tensor **out, int *n,
                             const lz_site *site);
/* `chunks` pieces of equal size along dim, fewer when there are not enough. out and *n as of
 * lz_split. */
LZ_API lz_status lz_chunk_at(lz_tensor *x, int64_t chunks, int64_t dim, lz_tensor **out, int *n,
                             const lz_site *site);
/* A piece for each index of dim, without dim. out and *n as of lz_split. */
LZ_API lz_status lz_unbind_at(lz_tensor *x, int64_t dim, lz_tensor **out, int *n,
                              const lz_site *site);
/* n pieces along dim of the given sizes, whose sum is the extent. */
LZ_API lz_status lz_split_with_sizes_at(lz_tensor *x, const int64_t *sizes, int n, int64_t dim,
                                        lz_tensor **out, const lz_site *site);
/* Elements [.., i, i + offset] of dim1 and dim2, as the last dimension. */
LZ_API lz_tensor *lz_diagonal_at(lz_tensor *x, int64_t offset, int64_t dim1, int64_t dim2,
                                 const lz_site *site);
/* The diagonal of a matrix; of a vector the matrix that has it as its diagonal. */
LZ_API lz_tensor *lz_diag_at(lz_tensor *x, int64_t offset, const lz_site *site);
/* Windows of `size` every `step` along dim, as a new last dimension (Tensor.unfold). */
LZ_API lz_tensor *lz_unfold_dim_at(lz_tensor *x, int64_t dim, int64_t size, int64_t step,
                                   const lz_site *site);
/* result[i, j, ..] = element offset + i strides[0] + j strides[1] .. of x in row-major order; all
 * of them inside of x. */
LZ_API lz_tensor *lz_as_strided_at(lz_tensor *x, lz_shape shape, const int64_t *strides,
                                   int64_t offset, const lz_site *site);

/* ---- x with a part replaced by src (converted to x's dtype), or all but a part ---- */
/* x with src (converted to its dtype) in the place of lz_slice(x, dim, start, end, step). */
LZ_API lz_tensor *lz_slice_scatter_at(lz_tensor *x, lz_tensor *src, int64_t dim, int64_t start,
                                      int64_t end, int64_t step, const lz_site *site);
/* x with src (converted to its dtype) in the place of lz_select(x, dim, index). */
LZ_API lz_tensor *lz_select_scatter_at(lz_tensor *x, lz_tensor *src, int64_t dim, int64_t index,
                                       const lz_site *site);
/* x with src (converted to its dtype) in the place of lz_diagonal(x, offset, dim1, dim2). */
LZ_API lz_tensor *lz_diagonal_scatter_at(lz_tensor *x, lz_tensor *src, int64_t offset, int64_t dim1,
                                         int64_t dim2, const lz_site *site);
/* x with src (converted to its dtype) in the place of lz_as_strided(x, src's shape, strides,
 * offset). */
LZ_API lz_tensor *lz_as_strided_scatter_at(lz_tensor *x, lz_tensor *src, const int64_t *strides,
                                           int64_t offset, const lz_site *site);
/* x with 0 above the given diagonal of the last two dimensions. */
LZ_API lz_tensor *lz_tril_at(lz_tensor *x, int64_t diagonal, const lz_site *site);
/* x with 0 below the given diagonal of the last two dimensions. */
LZ_API lz_tensor *lz_triu_at(lz_tensor *x, int64_t diagonal, const lz_site *site);

/* As lz_chunk, but always that many pieces: the first ones are one longer when the extent is no
 * multiple. */
LZ_API lz_status lz_tensor_split_at(lz_tensor *x, int64_t sections, int64_t dim, lz_tensor **out,
                                    int *n, const lz_site *site);

/* ---- put together ---- */
/* n tensors joined side by side: along dimension 1, vectors along 0. dtypes promote. */
LZ_API lz_tensor *lz_hstack_at(lz_tensor *const *xs, int n, const lz_site *site);
/* n tensors joined one below the other, along dimension 0; vectors are rows. dtypes promote. */
LZ_API lz_tensor *lz_vstack_at(lz_tensor *const *xs, int n, const lz_site *site);
/* n tensors joined along dimension 2. dtypes promote. */
LZ_API lz_tensor *lz_dstack_at(lz_tensor *const *xs, int n, const lz_site *site);
/* The last dimension as a diagonal of dim1 and dim2, zeros around. */
LZ_API lz_tensor *lz_diag_embed_at(lz_tensor *x, int64_t offset, int64_t dim1, int64_t dim2,
                                   const lz_site *site);
/* n matrices along the diagonal, zeros around; vectors are rows. */
LZ_API lz_tensor *lz_block_diag_at(lz_tensor *const *xs, int n, const lz_site *site);
/* n vectors (or scalars): out[i] is xs[i] repeated over the grid of all. indexing: "ij", or "xy",
 * which exchanges the first two dimensions. */
LZ_API lz_status lz_meshgrid_at(lz_tensor *const *xs, int n, const char *indexing, lz_tensor **out,
                                const lz_site *site);
/* Powers of a vector as columns: [len, n]. Numbers. */
LZ_API lz_tensor *lz_vander_at(lz_tensor *x, int64_t n, bool increasing, const lz_site *site);

/* ---- made: of a dtype, or of x's when LZ_DTYPE_NONE ---- */
/* Zeros: nothing is ever uninitialised. */
LZ_API lz_tensor *lz_empty_at(lz_dtype dtype, lz_shape shape, const lz_site *site);
/* Zeros of x's shape. */
LZ_API lz_tensor *lz_zeros_like_at(lz_tensor *x, lz_dtype dtype, const lz_site *site);
/* Ones of x's shape. */
LZ_API lz_tensor *lz_ones_like_at(lz_tensor *x, lz_dtype dtype, const lz_site *site);
/* The number in every element of x's shape: a run-time argument. Also ATen's fill. */
LZ_API lz_tensor *lz_full_like_at(lz_tensor *x, double value, lz_dtype dtype, const lz_site *site);
/* [n, m] with ones on the diagonal. */
LZ_API lz_tensor *lz_eye_at(lz_dtype dtype, int64_t n, int64_t m, const lz_site *site);
/* `steps` numbers from start to end, both included. */
LZ_API lz_tensor *lz_linspace_at(lz_dtype dtype, double start, double end, int64_t steps,
                                 const lz_site *site);
/* base to the power of the numbers of lz_linspace. */
LZ_API lz_tensor *lz_logspace_at(lz_dtype dtype, double start, double end, int64_t steps,
                                 double base, const lz_site *site);
/* i64[2, count]: rows and columns of the lower triangle of a matrix, row by row. */
LZ_API lz_tensor *lz_tril_indices_at(int64_t rows, int64_t cols, int64_t offset,
                                     const lz_site *site);
/* i64[2, count]: rows and columns of the upper triangle of a matrix, row by row. */
LZ_API lz_tensor *lz_triu_indices_at(int64_t rows, int64_t cols, int64_t offset,
                                     const lz_site *site);

#ifdef __cplusplus
#define LZ_DIMS(...) (lz_dims_of(__VA_ARGS__))
#else
#define LZ_DIMS(...) ((lz_dims)LZ_DIM(__VA_ARGS__)) /* a list of dimensions as an argument */
#endif
#define lz_clone(x) lz_clone_at(x, LZ_SITE)
#define lz_t(x) lz_t_at(x, LZ_SITE)
#define lz_movedim(...) lz_movedim_at(__VA_ARGS__, LZ_SITE)
#define lz_squeeze_dims(x, ...) lz_squeeze_dims_at(x, LZ_DIMS(__VA_ARGS__), LZ_SITE)
#define lz_unflatten(x, dim, sizes) lz_unflatten_at(x, dim, sizes, LZ_SITE)
#define lz_expand_as(x, other) lz_expand_as_at(x, other, LZ_SITE)
#define lz_roll(...) lz_roll_at(__VA_ARGS__, LZ_SITE)
#define lz_rot90(x, k, dim0, dim1) lz_rot90_at(x, k, dim0, dim1, LZ_SITE)
#define lz_resize(x, shape) lz_resize_at(x, shape, LZ_SITE)
#define lz_repeat(x, repeats) lz_repeat_at(x, repeats, LZ_SITE)
#define lz_tile(x, repeats) lz_tile_at(x, repeats, LZ_SITE)
#define lz_repeat_interleave(x, repeats, dim) lz_repeat_interleave_at(x, repeats, dim, LZ_SITE)
#define lz_narrow(x, dim, start, length) lz_narrow_at(x, dim, start, length, LZ_SITE)
#define lz_split(...) lz_split_at(__VA_ARGS__, LZ_SITE)
#define lz_chunk(...) lz_chunk_at(__VA_ARGS__, LZ_SITE)
#define lz_unbind(...) lz_unbind_at(__VA_ARGS__, LZ_SITE)
#define lz_split_with_sizes(...) lz_split_with_sizes_at(__VA_ARGS__, LZ_SITE)
#define lz_diagonal(x, offset, dim1, dim2) lz_diagonal_at(x, offset, dim1, dim2, LZ_SITE)
#define lz_diag(x, offset) lz_diag_at(x, offset, LZ_SITE)
#define lz_unfold_dim(x, dim, size, step) lz_unfold_dim_at(x, dim, size, step, LZ_SITE)
#define lz_as_strided(...) lz_as_strided_at(__VA_ARGS__, LZ_SITE)
#define lz_slice_scatter(...) lz_slice_scatter_at(__VA_ARGS__, LZ_SITE)
#define lz_select_scatter(x, src, dim, index) lz_select_scatter_at(x, src, dim, index, LZ_SITE)
#define lz_diagonal_scatter(...) lz_diagonal_scatter_at(__VA_ARGS__, LZ_SITE)
#define lz_as_strided_scatter(...) lz_as_strided_scatter_at(__VA_ARGS__, LZ_SITE)
#define lz_tril(x, diagonal) lz_tril_at(x, diagonal, LZ_SITE)
#define lz_triu(x, diagonal) lz_triu_at(x, diagonal, LZ_SITE)
#define lz_diag_embed(x, offset, dim1, dim2) lz_diag_embed_at(x, offset, dim1, dim2, LZ_SITE)
#define lz_tensor_split(...) lz_tensor_split_at(__VA_ARGS__, LZ_SITE)
#define lz_hstack(...) lz_hstack_at(__VA_ARGS__, LZ_SITE)
#define lz_vstack(...) lz_vstack_at(__VA_ARGS__, LZ_SITE)
#define lz_dstack(...) lz_dstack_at(__VA_ARGS__, LZ_SITE)
#define lz_block_diag(...) lz_block_diag_at(__VA_ARGS__, LZ_SITE)
#define lz_meshgrid(...) lz_meshgrid_at(__VA_ARGS__, LZ_SITE)
#define lz_vander(x, n, increasing) lz_vander_at(x, n, increasing, LZ_SITE)
#define lz_empty(dtype, shape) lz_empty_at(dtype, shape, LZ_SITE)
#define lz_zeros_like(x) lz_zeros_like_at(x, LZ_DTYPE_NONE, LZ_SITE)
#define lz_ones_like(x) lz_ones_like_at(x, LZ_DTYPE_NONE, LZ_SITE)
#define lz_full_like(x, value) lz_full_like_at(x, value, LZ_DTYPE_NONE, LZ_SITE)
#define lz_eye(dtype, n, m) lz_eye_at(dtype, n, m, LZ_SITE)
#define lz_linspace(dtype, start, end, steps) lz_linspace_at(dtype, start, end, steps, LZ_SITE)
#define lz_logspace(dtype, start, end, steps, base)                                                \
    lz_logspace_at(dtype, start, end, steps, base, LZ_SITE)
#define lz_tril_indices(rows, cols, offset) lz_tril_indices_at(rows, cols, offset, LZ_SITE)
#define lz_triu_indices(rows, cols, offset) lz_triu_indices_at(rows, cols, offset, LZ_SITE)
LZ_EXTERN_C_END
#endif
