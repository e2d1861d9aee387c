/* linalg_ops.h - products beyond lz_matmul: the forms with addends, einsum, tensordot, kron, cross.
 * Names and results are ATen's. dtypes promote, also integers; 16-bit floats accumulate in f32. In
 * the forms with addends a beta of 0 means that x is not read (a NaN in it has no effect), and x is
 * broadcast; of integers alpha and beta are whole (LZ_EDTYPE). Errors of all, as an error tensor:
 * LZ_ENULL, LZ_ESHAPE, LZ_EDTYPE, LZ_EINVAL, LZ_ERANGE, LZ_EMEM.
 * Implemented in: ops/linalg.c, ops/einsum.c. */
#ifndef LAZULI_LINALG_OPS_H
#define LAZULI_LINALG_OPS_H
#include <lazuli/tensor_ops.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* Product of two matrices: [m, k] x [k, n] -> [m, n]. */
LZ_API lz_tensor *lz_mm_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
/* Products of two batches of matrices: [b, m, k] x [b, k, n] -> [b, m, n]. */
LZ_API lz_tensor *lz_bmm_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
/* Product of a matrix and a vector: [m, k] x [k] -> [m]. */
LZ_API lz_tensor *lz_mv_at(lz_tensor *a, lz_tensor *v, const lz_site *site);
/* Inner product of two vectors: [k] x [k] -> []. */
LZ_API lz_tensor *lz_dot_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
/* Outer product of two vectors: [m] x [n] -> [m, n]. */
LZ_API lz_tensor *lz_outer_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
/* Inner products over the last dimensions of both; an operand of rank 0 scales the other. */
LZ_API lz_tensor *lz_inner_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
typedef struct lz_addmm_options {
    size_t struct_size LZ_DEFAULT(sizeof(lz_addmm_options));
    double beta LZ_DEFAULT(1);  /* factor of x */
    double alpha LZ_DEFAULT(1); /* factor of the product */
} lz_addmm_options;
#define LZ_ADDMM_DEFAULTS .beta = 1, .alpha = 1
/* beta x + alpha (a b), the product of two matrices; x broadcasts. */
LZ_API lz_tensor *lz_addmm_at(lz_tensor *x, lz_tensor *a, lz_tensor *b, const lz_addmm_options *o,
                              const lz_site *site);
/* beta x + alpha (a v), the product of a matrix and a vector; x broadcasts. */
LZ_API lz_tensor *lz_addmv_at(lz_tensor *x, lz_tensor *a, lz_tensor *v, const lz_addmm_options *o,
                              const lz_site *site);
/* beta x + alpha (a b^T), the outer product of two vectors; x broadcasts. */
LZ_API lz_tensor *lz_addr_at(lz_tensor *x, lz_tensor *a, lz_tensor *b, const lz_addmm_options *o,
                             const lz_site *site);
/* beta x + alpha (sum over the batch of a b), two batches of matrices; x broadcasts. */
LZ_API lz_tensor *lz_addbmm_at(lz_tensor *x, lz_tensor *a, lz_tensor *b, const lz_addmm_options *o,
                               const lz_site *site);
/* beta x + alpha (a b), two batches of matrices; x broadcasts. */
LZ_API lz_tensor *lz_baddbmm_at(lz_tensor *x, lz_tensor *a, lz_tensor *b, const lz_addmm_options *o,
                                const lz_site *site);
/* Sums of products by labels: "ij,jk->ik", "bij->bji", "ii", "...ij,...jk". Letters are dimensions
 * of equal extent (1 is repeated), one that comes twice in an operand is its diagonal, those not in
 * the result are summed; without "->" the result has those that come once, in alphabetical order.
 * Operands are contracted from left to right. */
LZ_API lz_tensor *lz_einsum_at(const char *equation, lz_tensor *const *xs, int n,
                               const lz_site *site);
/* x1[.., I], x2[.., J], weight[K, I, J], bias[K] or NULL: sum over i and j of x1[i] weight[k, i, j]
 * x2[j], plus bias. */
LZ_API lz_tensor *lz_bilinear_at(lz_tensor *x1, lz_tensor *x2, lz_tensor *weight, lz_tensor *bias,
                                 const lz_site *site);
/* Dimension dims_a[i] of a is contracted with dims_b[i] of b; the rest of a, then of b. */
LZ_API lz_tensor *lz_tensordot_at(lz_tensor *a, lz_tensor *b, lz_dims dims_a, lz_dims dims_b,
                                  const lz_site *site);
/* Kronecker product; of ranks up to 4. */
LZ_API lz_tensor *lz_kron_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
/* Cross product along dim, whose extent is 3; LZ_ALL_DIMS: along the first such one. Both
 * broadcast. */
LZ_API lz_tensor *lz_cross_at(lz_tensor *a, lz_tensor *b, int64_t dim, const lz_site *site);

#define lz_mm(a, b) lz_mm_at(a, b, LZ_SITE)
#define lz_bmm(a, b) lz_bmm_at(a, b, LZ_SITE)
#define lz_mv(a, v) lz_mv_at(a, v, LZ_SITE)
#define lz_dot(a, b) lz_dot_at(a, b, LZ_SITE)
#define lz_outer(a, b) lz_outer_at(a, b, LZ_SITE)
#define lz_inner(a, b) lz_inner_at(a, b, LZ_SITE)
#define LZ_ADDMM_OPTIONS(...) LZ_DEFAULTED(lz_addmm_options, LZ_ADDMM_DEFAULTS, __VA_ARGS__)
#define lz_addmm(...) LZ_ARGS_addmm(__VA_ARGS__, )
#define LZ_ARGS_addmm(x, a, b, ...)                                                                \
    LZ_OVERRIDING(lz_addmm_at(x, a, b, LZ_ADDMM_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_addmv(...) LZ_ARGS_addmv(__VA_ARGS__, )
#define LZ_ARGS_addmv(x, a, v, ...)                                                                \
    LZ_OVERRIDING(lz_addmv_at(x, a, v, LZ_ADDMM_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_addr(...) LZ_ARGS_addr(__VA_ARGS__, )
#define LZ_ARGS_addr(x, a, b, ...)                                                                 \
    LZ_OVERRIDING(lz_addr_at(x, a, b, LZ_ADDMM_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_addbmm(...) LZ_ARGS_addbmm(__VA_ARGS__, )
#define LZ_ARGS_addbmm(x, a, b, ...)                                                               \
    LZ_OVERRIDING(lz_addbmm_at(x, a, b, LZ_ADDMM_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_baddbmm(...) LZ_ARGS_baddbmm(__VA_ARGS__, )
#define LZ_ARGS_baddbmm(x, a, b, ...)                                                              \
    LZ_OVERRIDING(lz_baddbmm_at(x, a, b, LZ_ADDMM_OPTIONS(__VA_ARGS__), LZ_SITE))
#define lz_einsum(...) lz_einsum_at(__VA_ARGS__, LZ_SITE)
#define lz_bilinear(x1, x2, weight, bias) lz_bilinear_at(x1, x2, weight, bias, LZ_SITE)
#define lz_tensordot(...) lz_tensordot_at(__VA_ARGS__, LZ_SITE)
#define lz_kron(a, b) lz_kron_at(a, b, LZ_SITE)
#define lz_cross(a, b, dim) lz_cross_at(a, b, dim, LZ_SITE)
LZ_EXTERN_C_END
#endif
