/* hlo.h - the primitive operations, with StableHLO's names and semantics: no broadcasting, no
 * promotion. Elementwise primitives take equal shapes and dtypes. Everything in ops.h,
 * tensor_ops.h, nn.h and the gradients is made from these. Errors of all, as an error tensor:
 * LZ_ENULL, LZ_ESHAPE, LZ_EDTYPE, LZ_EINVAL, LZ_ERANGE, LZ_EMEM; an operand that is an error tensor
 * is returned. Source of each: the section of its name in the StableHLO specification; what that
 * leaves open is in docs/reference/ops.md. Lists of dimensions have at most LZ_MAX_RANK entries,
 * each in 0..rank-1 and (but for slices and pads) none twice.
 * Implemented in: ops/hlo.c, runtime/graph/error_tensor.c, ops/matrix.c, ops/hlo_window.c. */
#ifndef LAZULI_HLO_H
#define LAZULI_HLO_H
#include <lazuli/tensor.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* A rank-0 constant that is part of the program (lz_scalar makes a run-time argument instead). */
LZ_API lz_tensor *lz_hlo_constant_at(lz_dtype dtype, double value, const lz_site *site);
#define lz_hlo_constant(dtype, value) lz_hlo_constant_at(dtype, value, LZ_SITE)
/* An error tensor that carries the calling thread's last error, annotated with op and site: for
 * composites written outside the library. LZ_ESTATE when there is none. */
LZ_API lz_tensor *lz_error_tensor_last(const char *op, const lz_site *site);
/* Any elementwise primitive by its StableHLO name ("add", "tanh", "chlo.erf"): 1 to 3 operands.
 * compare and convert have their own functions. */
LZ_API lz_tensor *lz_hlo_ew_at(const char *name, lz_tensor *const *operands, int n,
                               const lz_site *site);
/* Boolean, of the operands' shape. Operands: any one dtype (complex: EQ and NE). With NaN all but
 * NE are false. */
typedef enum lz_hlo_direction {
    LZ_HLO_EQ,
    LZ_HLO_NE,
    LZ_HLO_GE,
    LZ_HLO_GT,
    LZ_HLO_LE,
    LZ_HLO_LT
} lz_hlo_direction;
LZ_API lz_tensor *lz_hlo_compare_at(lz_hlo_direction d, lz_tensor *a, lz_tensor *b,
                                    const lz_site *site);
/* Any dtype to any other: float to integer truncates and saturates, NaN gives 0; to boolean is x !=
 * 0; to a narrower float rounds to even. */
LZ_API lz_tensor *lz_hlo_convert_at(lz_tensor *x, lz_dtype dtype, const lz_site *site);
/* The same bits as another dtype. Equal widths: the same shape. To a wider one the last dimension,
 * which must be the ratio, goes; to a narrower one a last dimension of the ratio is added. */
LZ_API lz_tensor *lz_hlo_bitcast_convert_at(lz_tensor *x, lz_dtype dtype, const lz_site *site);
/* Floats, rounded to a format with these exponent (>= 1) and mantissa (>= 0) bits and back
 * (reduce_precision). */
LZ_API lz_tensor *lz_hlo_reduce_precision_at(lz_tensor *x, int exponent_bits, int mantissa_bits,
                                             const lz_site *site);
/* x repeated to `shape`: dims[i] (ndims is x's rank) is the dimension of the result that dimension
 * i of x becomes; extents of 1 are repeated. */
LZ_API lz_tensor *lz_hlo_broadcast_in_dim_at(lz_tensor *x, lz_shape shape, const int64_t *dims,
                                             int ndims, const lz_site *site);
/* The same elements, row-major, under a shape of as many elements. */
LZ_API lz_tensor *lz_hlo_reshape_at(lz_tensor *x, lz_shape shape, const lz_site *site);
/* Dimension i of the result is dimension perm[i] of x; n is the rank. */
LZ_API lz_tensor *lz_hlo_transpose_at(lz_tensor *x, const int64_t *perm, int n,
                                      const lz_site *site);
/* Elements start, start + stride, ... below limit of each dimension: 0 <= start <= limit <= extent,
 * stride >= 1; n is the rank. strides NULL: 1. */
LZ_API lz_tensor *lz_hlo_slice_at(lz_tensor *x, const int64_t *start, const int64_t *limit,
                                  const int64_t *strides, int n, const lz_site *site);
/* `value` (rank 0, x's dtype) low times before, high times after, and interior times between the
 * elements of each dimension; negative low and high remove elements. n is the rank. interior NULL:
 * 0. */
LZ_API lz_tensor *lz_hlo_pad_at(lz_tensor *x, lz_tensor *value, const int64_t *low,
                                const int64_t *high, const int64_t *interior, int n,
                                const lz_site *site);
/* n >= 1 tensors of one dtype, joined along dim; the other extents are equal. */
LZ_API lz_tensor *lz_hlo_concatenate_at(lz_tensor *const *xs, int n, int64_t dim,
                                        const lz_site *site);
/* The order along n dimensions reversed. */
LZ_API lz_tensor *lz_hlo_reverse_at(lz_tensor *x, const int64_t *dims, int n, const lz_site *site);
/* n dimensions of x combined, and gone from the shape; x's dtype (16-bit floats accumulate in f32).
 * combiner: "add", "multiply", "maximum", "minimum", "and", "or", "xor"; the initial value is the
 * combiner's identity, which is also the result for empty dimensions. The order of combination
 * follows from the shapes alone. */
LZ_API lz_tensor *lz_hlo_reduce_at(const char *combiner, lz_tensor *x, const int64_t *dims, int n,
                                   const lz_site *site);
/* Sums of products over the contracting dimensions. Operands of one dtype, which is the result's
 * (16-bit floats accumulate in f32); lhs_batch[i] pairs with rhs_batch[i], lhs_contract[i] with
 * rhs_contract[i], of equal extents. Result: batch, free of a, free of b dimensions. */
typedef struct lz_dot_dims {
    int nbatch, ncontract;
    int64_t lhs_batch[LZ_MAX_RANK], rhs_batch[LZ_MAX_RANK], lhs_contract[LZ_MAX_RANK],
        rhs_contract[LZ_MAX_RANK];
} lz_dot_dims;
LZ_API lz_tensor *lz_hlo_dot_general_at(lz_tensor *a, lz_tensor *b, const lz_dot_dims *dims,
                                        const lz_site *site);
/* Discrete Fourier transform of the last n (1 to 3) dimensions. FFT, IFFT (scaled by 1 / elements):
 * complex, x's type; lengths are the extents. RFFT: f32 or f64 to complex, of the last dimension
 * lengths[n-1] / 2 + 1 elements. IRFFT: from these back; imaginary parts that no real signal has
 * are ignored. */
typedef enum lz_hlo_fft_type { LZ_HLO_FFT, LZ_HLO_IFFT, LZ_HLO_RFFT, LZ_HLO_IRFFT } lz_hlo_fft_type;
LZ_API lz_tensor *lz_hlo_fft_at(lz_hlo_fft_type type, lz_tensor *x, const int64_t *lengths, int n,
                                const lz_site *site);
/* L with a = L L^H of the matrices in the last two dimensions, or (lower false) U with a = U^H U;
 * only that triangle of a is read, the other one of the result is 0. Not positive definite: NaN. */
LZ_API lz_tensor *lz_hlo_cholesky_at(lz_tensor *a, bool lower, const lz_site *site);
typedef enum lz_hlo_transpose {
    LZ_HLO_NO_TRANSPOSE,
    LZ_HLO_TRANSPOSE,
    LZ_HLO_ADJOINT
} lz_hlo_transpose;
/* x with op(a) x = b, or x op(a) = b (left_side false); a triangular, of which only the triangle
 * that `lower` names is read, with unit_diagonal not the diagonal either. Of equal rank and batch
 * dimensions. */
LZ_API lz_tensor *lz_hlo_triangular_solve_at(lz_tensor *a, lz_tensor *b, bool left_side, bool lower,
                                             bool unit_diagonal, lz_hlo_transpose transpose_a,
                                             const lz_site *site);
/* lazuli.lu of the matrices in the last two dimensions of a; f32, f64, complex. *pivots and *order
 * (may be NULL) are handles of the innermost scope. The row of docs/reference/ops.md says what they
 * hold; see <lazuli/decompositions.h>. */
LZ_API lz_tensor *lz_hlo_lu_at(lz_tensor *a, lz_tensor **pivots, lz_tensor **order,
                               const lz_site *site);
/* lazuli.qr of the matrices in the last two dimensions of a; f32, f64, complex: q, and in *r (may
 * be NULL) r. complete: q is square. */
LZ_API lz_tensor *lz_hlo_qr_at(lz_tensor *a, bool complete, lz_tensor **r, const lz_site *site);
/* lazuli.geqrf of the matrices in the last two dimensions of a: the reflections of lazuli.qr before
 * they are multiplied, and in *taus (may be NULL) their factors. It has no gradient: LZ_EGRAD. */
LZ_API lz_tensor *lz_hlo_geqrf_at(lz_tensor *a, lz_tensor **taus, const lz_site *site);
/* lazuli.svd of the matrices in the last two dimensions of a; f32, f64, complex: u, and in *s and
 * *v (may be NULL) the singular values and v. full: u and v are square. */
LZ_API lz_tensor *lz_hlo_svd_at(lz_tensor *a, bool full, lz_tensor **s, lz_tensor **v,
                                const lz_site *site);
/* Windows over x, one entry per dimension of x (0 in size, stride and dilations means 1): x with
 * base_dilation - 1 gaps between its elements, `low` before and `high` after (negative: cut),
 * walked by windows of `size` elements `dilation` apart, `stride` from one to the next. */
typedef struct lz_window_dims {
    int64_t size[LZ_MAX_RANK], stride[LZ_MAX_RANK], low[LZ_MAX_RANK], high[LZ_MAX_RANK],
        base_dilation[LZ_MAX_RANK], dilation[LZ_MAX_RANK];
} lz_window_dims;
/* Each window combined to one element. combiner: as in reduce; padding and gaps are its
 * identity. */
LZ_API lz_tensor *lz_hlo_reduce_window_at(const char *combiner, lz_tensor *x,
                                          const lz_window_dims *window, const lz_site *site);
/* The largest (smallest) of each window, and in *position (may be NULL) its row-major position in
 * x, i64: the first of equal ones; with NaN the last NaN. Of padding alone: the lowest (highest)
 * value, and no position (a number outside x). Not for complex numbers. */
LZ_API lz_tensor *lz_hlo_reduce_window_arg_at(bool max, lz_tensor *x, const lz_window_dims *window,
                                              lz_tensor **position, const lz_site *site);
/* Of x's shape and dtype: each element of `source` (one per window) combined in where its window's
 * chosen element is. a `select` b (GE, GT, LE, LT) keeps a, which comes first; with NaN which one
 * is open. No dilations. The initial value is the combiner's identity. */
LZ_API lz_tensor *lz_hlo_select_and_scatter_at(lz_hlo_direction select, const char *combiner,
                                               lz_tensor *x, lz_tensor *source,
                                               const lz_window_dims *window, const lz_site *site);
/* Sums of products over windows and input features. Operands of one dtype and one rank (nspatial +
 * 2), which are the result's; 16-bit floats accumulate in f32. The numbers say which dimension is
 * what; lists have nspatial entries; 0 in stride and dilations and groups means 1. lhs_dilation:
 * gaps in x; rhs_dilation: in the kernel; low, high: padding of x with 0; reversal: the kernel
 * reversed. feature_groups: input and output features in groups that do not meet; batch_groups: the
 * batch and the output features. */
typedef struct lz_conv_dims {
    int nspatial;
    int64_t input_batch, input_feature, kernel_input_feature, kernel_output_feature, output_batch,
        output_feature;
    int64_t input_spatial[LZ_MAX_RANK], kernel_spatial[LZ_MAX_RANK], output_spatial[LZ_MAX_RANK];
    int64_t stride[LZ_MAX_RANK], low[LZ_MAX_RANK], high[LZ_MAX_RANK], lhs_dilation[LZ_MAX_RANK],
        rhs_dilation[LZ_MAX_RANK];
    bool reversal[LZ_MAX_RANK];
    int64_t feature_groups, batch_groups;
} lz_conv_dims;
LZ_API lz_tensor *lz_hlo_convolution_at(lz_tensor *x, lz_tensor *kernel, const lz_conv_dims *dims,
                                        const lz_site *site);
/* Slices of x at the starts in start_indices (any integer dtype), clamped into bounds. The names
 * are the specification's; slice_sizes has x's rank, operand_batching_dims and
 * start_indices_batching_dims have noperand_batch. */
typedef struct lz_gather_dims {
    int noffset, ncollapsed, noperand_batch, nstart_map;
    int64_t offset_dims[LZ_MAX_RANK], collapsed_slice_dims[LZ_MAX_RANK],
        operand_batching_dims[LZ_MAX_RANK], start_indices_batching_dims[LZ_MAX_RANK],
        start_index_map[LZ_MAX_RANK], slice_sizes[LZ_MAX_RANK];
    int64_t index_vector_dim;
    bool indices_are_sorted;
} lz_gather_dims;
LZ_API lz_tensor *lz_hlo_gather_at(lz_tensor *x, lz_tensor *start_indices,
                                   const lz_gather_dims *dims, const lz_site *site);
typedef struct lz_scatter_dims {
    int nwindow, ninserted, ninput_batch, nmap;
    int64_t update_window_dims[LZ_MAX_RANK], inserted_window_dims[LZ_MAX_RANK],
        input_batching_dims[LZ_MAX_RANK], scatter_indices_batching_dims[LZ_MAX_RANK],
        scatter_dims_to_operand_dims[LZ_MAX_RANK];
    int64_t index_vector_dim;
    bool indices_are_sorted, unique_indices;
} lz_scatter_dims;
/* x with updates combined in at the indices (any integer dtype); updates out of bounds are dropped,
 * colliding ones applied in order. The names are the specification's. combiner: as in reduce, or
 * "assign" (the update replaces the element). */
LZ_API lz_tensor *lz_hlo_scatter_at(const char *combiner, lz_tensor *x, lz_tensor *indices,
                                    lz_tensor *updates, const lz_scatter_dims *dims,
                                    const lz_site *site);
/* The slice of `sizes` at `starts`: one integer tensor of rank 0 for each dimension (n is the
 * rank), clamped so that the slice fits. */
LZ_API lz_tensor *lz_hlo_dynamic_slice_at(lz_tensor *x, lz_tensor *const *starts,
                                          const int64_t *sizes, int n, const lz_site *site);
/* x with `update` (its dtype and rank) written at `starts`, clamped so that it fits. */
LZ_API lz_tensor *lz_hlo_dynamic_update_slice_at(lz_tensor *x, lz_tensor *update,
                                                 lz_tensor *const *starts, int n,
                                                 const lz_site *site);
/* n tensors (1..15) of one shape: their rows along dim reordered together, stably, by the first
 * num_keys of them, the first one first. Keys: any dtype but complex; -0 equals 0, NaN is the
 * largest. out[0..n-1] are handles of the innermost scope, error tensors on failure; out[0] is
 * returned, and out may be NULL when n is 1. dim may be negative. */
LZ_API lz_tensor *lz_hlo_sort_at(lz_tensor *const *xs, int n, int64_t dim, int num_keys,
                                 bool descending, lz_tensor **out, const lz_site *site);
/* Philox4x32-10: bits of an integer dtype from state (u64[2]: key, counter); layout in
 * docs/reference/ops.md. *new_state (may be NULL) is a second handle of the innermost scope, an
 * error tensor on failure. */
LZ_API lz_tensor *lz_hlo_rng_bit_generator_at(lz_tensor *state, lz_dtype dtype, lz_shape shape,
                                              lz_tensor **new_state, const lz_site *site);
/* x itself; no pass moves work across. */
LZ_API lz_tensor *lz_hlo_optimization_barrier_at(lz_tensor *x, const lz_site *site);
/* The index of the largest / smallest element along dim (the first one on ties, NaN wins), as i64,
 * without that dimension; made of two reductions. dim may be negative. An empty dimension is
 * LZ_ESHAPE. */
LZ_API lz_tensor *lz_hlo_argminmax_at(bool max, lz_tensor *x, int64_t dim, const lz_site *site);

#define lz_hlo_compare(d, a, b) lz_hlo_compare_at(d, a, b, LZ_SITE)
#define lz_hlo_convert(x, dtype) lz_hlo_convert_at(x, dtype, LZ_SITE)
#define lz_hlo_bitcast_convert(x, dtype) lz_hlo_bitcast_convert_at(x, dtype, LZ_SITE)
#define lz_hlo_reduce_precision(x, e, m) lz_hlo_reduce_precision_at(x, e, m, LZ_SITE)
#define lz_hlo_broadcast_in_dim(...) lz_hlo_broadcast_in_dim_at(__VA_ARGS__, LZ_SITE)
#define lz_hlo_reshape(x, shape) lz_hlo_reshape_at(x, shape, LZ_SITE)
#define lz_hlo_transpose(...) lz_hlo_transpose_at(__VA_ARGS__, LZ_SITE)
#define lz_hlo_slice(...) lz_hlo_slice_at(__VA_ARGS__, LZ_SITE)
#define lz_hlo_pad(...) lz_hlo_pad_at(__VA_ARGS__, LZ_SITE)
#define lz_hlo_concatenate(...) lz_hlo_concatenate_at(__VA_ARGS__, LZ_SITE)
#define lz_hlo_reverse(...) lz_hlo_reverse_at(__VA_ARGS__, LZ_SITE)
#define lz_hlo_reduce(...) lz_hlo_reduce_at(__VA_ARGS__, LZ_SITE)
#define lz_hlo_dot_general(...) lz_hlo_dot_general_at(__VA_ARGS__, LZ_SITE)
#define lz_hlo_fft(...) lz_hlo_fft_at(__VA_ARGS__, LZ_SITE)
#define lz_hlo_cholesky(a, lower) lz_hlo_cholesky_at(a, lower, LZ_SITE)
#define lz_hlo_triangular_solve(...) lz_hlo_triangular_solve_at(__VA_ARGS__, LZ_SITE)
#define lz_hlo_reduce_window(...) lz_hlo_reduce_window_at(__VA_ARGS__, LZ_SITE)
#define lz_hlo_reduce_window_arg(...) lz_hlo_reduce_window_arg_at(__VA_ARGS__, LZ_SITE)
#define lz_hlo_select_and_scatter(...) lz_hlo_select_and_scatter_at(__VA_ARGS__, LZ_SITE)
#define lz_hlo_convolution(...) lz_hlo_convolution_at(__VA_ARGS__, LZ_SITE)
#define lz_hlo_gather(...) lz_hlo_gather_at(__VA_ARGS__, LZ_SITE)
#define lz_hlo_scatter(...) lz_hlo_scatter_at(__VA_ARGS__, LZ_SITE)
#define lz_hlo_dynamic_slice(...) lz_hlo_dynamic_slice_at(__VA_ARGS__, LZ_SITE)
#define lz_hlo_dynamic_update_slice(...) lz_hlo_dynamic_update_slice_at(__VA_ARGS__, LZ_SITE)
#define lz_hlo_sort(xs, n, dim, num_keys, descending, out)                                         \
    lz_hlo_sort_at(xs, n, dim, num_keys, descending, out, LZ_SITE)
#define lz_hlo_rng_bit_generator(state, dtype, shape, ns)                                          \
    lz_hlo_rng_bit_generator_at(state, dtype, shape, ns, LZ_SITE)
#define lz_hlo_optimization_barrier(x) lz_hlo_optimization_barrier_at(x, LZ_SITE)
LZ_EXTERN_C_END
#endif
