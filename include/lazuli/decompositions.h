/* decompositions.h - linear algebra of the matrices in the last two dimensions, the others being a
 * batch: torch.linalg.
 * Names, argument order and results are ATen's; in brackets the default there of what is an
 * argument here. f32, f64 and complex; other dtypes are LZ_EDTYPE (cholesky and the triangular
 * solutions also take 16-bit floats). Where a function gives more than one tensor, the others are
 * written to pointers, each of which may be NULL, as handles of the innermost scope; on failure
 * they are error tensors. Batches of two operands broadcast. Everything is computed by the device:
 * nothing is looked at, so a matrix that is not positive definite gives NaN and a singular one
 * infinities or NaN instead of an error.
 * Gradients, also second ones, exist where mathematics gives them: not of singular matrices, of
 * equal singular values or eigenvalues (through vectors), of the further columns of a full u or v.
 * Those of a complete q are LAPACK's, and so is their gradient. Errors of all, as an error tensor:
 * LZ_ENULL, LZ_ESHAPE, LZ_EDTYPE, LZ_EINVAL, LZ_EMEM. Source: Golub and Van Loan, Matrix
 * Computations; docs/reference/semantics.md says what is open.
 * Implemented in: ops/linear_solve.c, ops/eig_svd.c,
 *   ops/science/eig.c, ops/science/matrix_exp.c. */
#ifndef LAZULI_DECOMPOSITIONS_H
#define LAZULI_DECOMPOSITIONS_H
#include <lazuli/hlo.h>
#include <lazuli/tensor_ops.h>
#pragma GCC system_header
LZ_EXTERN_C_BEGIN

/* ---- triangles ---- */
/* Cholesky decomposition: l with a = l l^H, or u (upper [false]) with a = u^H u; only that triangle
 * of a is read, and the gradient is that of it. */
LZ_API lz_tensor *lz_linalg_cholesky_at(lz_tensor *a, bool upper, const lz_site *site);
/* x with (l l^H) x = b, or (u^H u) x = b (upper [false]). */
LZ_API lz_tensor *lz_cholesky_solve_at(lz_tensor *b, lz_tensor *l, bool upper, const lz_site *site);
/* The inverse of l l^H, or of u^H u (upper [false]). */
LZ_API lz_tensor *lz_cholesky_inverse_at(lz_tensor *l, bool upper, const lz_site *site);
/* x with a x = b, or x a = b (left [true] false), where a is triangular: only that triangle is
 * read. */
LZ_API lz_tensor *lz_linalg_solve_triangular_at(lz_tensor *a, lz_tensor *b, bool upper, bool left,
                                                bool unitriangular, const lz_site *site);
/* x with a x = b, or a^T x = b (transpose [false]); upper [true], unitriangular [false] */
LZ_API lz_tensor *lz_triangular_solve_at(lz_tensor *b, lz_tensor *a, bool upper, bool transpose,
                                         bool unitriangular, const lz_site *site);

/* ---- by elimination ---- */
/* LU decomposition: l (without its diagonal of 1) and u in one; *pivots: i32, row i was exchanged
 * with row pivots[i], counted from 1. */
LZ_API lz_tensor *lz_linalg_lu_factor_at(lz_tensor *a, lz_tensor **pivots, const lz_site *site);
/* LU decomposition a = p l u: p; *l[m, k] and *u[k, n], k = min(m, n). */
LZ_API lz_tensor *lz_linalg_lu_at(lz_tensor *a, lz_tensor **l, lz_tensor **u, const lz_site *site);
/* x with a x = b, or x a = b (left [true] false). b may be a vector, or a batch of them: of a's
 * shape without the last dimension. */
LZ_API lz_tensor *lz_linalg_solve_at(lz_tensor *a, lz_tensor *b, bool left, const lz_site *site);
/* The inverse of each matrix. */
LZ_API lz_tensor *lz_linalg_inv_at(lz_tensor *a, const lz_site *site);
/* The determinant of each matrix. */
LZ_API lz_tensor *lz_linalg_det_at(lz_tensor *a, const lz_site *site);
/* The sign (of complex numbers the phase) of the determinant; *logabsdet: the logarithm of its
 * magnitude. */
LZ_API lz_tensor *lz_linalg_slogdet_at(lz_tensor *a, lz_tensor **logabsdet, const lz_site *site);
/* a to the power n, |n| <= 2^30; negative: of its inverse */
LZ_API lz_tensor *lz_linalg_matrix_power_at(lz_tensor *a, int64_t n, const lz_site *site);

/* ---- by rotations and reflections ---- */
/* QR decomposition a = q r: q; *r. mode ["reduced"], "complete" or "r" (then the result is r
 * alone). Signs are LAPACK's. */
LZ_API lz_tensor *lz_linalg_qr_at(lz_tensor *a, const char *mode, lz_tensor **r,
                                  const lz_site *site);
/* Singular value decomposition a = u diag(s) vh: u; *s, descending, and *vh. full_matrices [true]:
 * u and vh are square. */
LZ_API lz_tensor *lz_linalg_svd_at(lz_tensor *a, bool full_matrices, lz_tensor **s, lz_tensor **vh,
                                   const lz_site *site);
/* The singular values alone, descending. */
LZ_API lz_tensor *lz_linalg_svdvals_at(lz_tensor *a, const lz_site *site);
/* Eigenvalues of a Hermitian matrix, ascending; vectors: in columns. Only the lower triangle (or
 * the upper: ATen's UPLO ["L"]) is read. */
LZ_API lz_tensor *lz_linalg_eigh_at(lz_tensor *a, bool upper, lz_tensor **vectors,
                                    const lz_site *site);
/* The eigenvalues of a Hermitian matrix alone, ascending. */
LZ_API lz_tensor *lz_linalg_eigvalsh_at(lz_tensor *a, bool upper, const lz_site *site);
/* The pseudo-inverse; singular values up to rtol times the largest count as 0. rtol < 0:
 * max(m, n) eps [the default]. */
LZ_API lz_tensor *lz_linalg_pinv_at(lz_tensor *a, double rtol, const lz_site *site);
/* How many singular values are above rtol (as of lz_linalg_pinv) times the largest: i64. */
LZ_API lz_tensor *lz_linalg_matrix_rank_at(lz_tensor *a, double rtol, const lz_site *site);
/* x that makes the norm of a x - b least, and among those its own; a[m, n] of rank min(m, n),
 * b[m, k] */
LZ_API lz_tensor *lz_linalg_lstsq_at(lz_tensor *a, lz_tensor *b, const lz_site *site);
/* Norm of the matrices in the last two dimensions. ord: "fro" [the default], "nuc", "inf", "-inf",
 * "1", "-1", "2" or "-2". */
LZ_API lz_tensor *lz_linalg_matrix_norm_at(lz_tensor *a, const char *ord, bool keepdim,
                                           const lz_site *site);
/* The condition number: the largest singular value by the smallest. */
LZ_API lz_tensor *lz_linalg_cond_at(lz_tensor *a, const lz_site *site);

/* ---- of general matrices ---- */
/* Eigenvalues w of a square matrix, of c64, or c128 for f64, in no order; *vectors: v with a v =
 * v diag(w), in columns of norm 1 whose largest element is real. Of a real matrix both are in
 * conjugate pairs, the one with the positive imaginary part first, and the rest has none. Computed
 * on the host in f64, by a custom call, wherever a is. NaN for a matrix that is not finite. f32,
 * f64, complex. The gradient is defined where it does not depend on the phases of vectors, and,
 * through the vectors, where no two eigenvalues are equal. As torch.linalg.eig,
 * jax.numpy.linalg.eig. */
LZ_API lz_tensor *lz_linalg_eig_at(lz_tensor *a, lz_tensor **vectors, const lz_site *site);
/* The eigenvalues alone; their gradient is defined, too, where some are equal and there are as many
 * independent vectors as rows. */
LZ_API lz_tensor *lz_linalg_eigvals_at(lz_tensor *a, const lz_site *site);
/* The exponential of square matrices, 1 + a + a^2 / 2 + ..: floats, complex; 16-bit floats are
 * computed in f32. Its error grows with the norm of a. The gradient of norms above 2^64 is NaN. */
LZ_API lz_tensor *lz_linalg_matrix_exp_at(lz_tensor *a, const lz_site *site);

#define lz_linalg_eig(a, vectors) lz_linalg_eig_at(a, vectors, LZ_SITE)
#define lz_linalg_eigvals(a) lz_linalg_eigvals_at(a, LZ_SITE)
#define lz_linalg_matrix_exp(a) lz_linalg_matrix_exp_at(a, LZ_SITE)
#define lz_matrix_exp(a) lz_linalg_matrix_exp(a) /* torch.matrix_exp */
#define lz_linalg_cholesky(a, upper) lz_linalg_cholesky_at(a, upper, LZ_SITE)
#define lz_cholesky_solve(b, l, upper) lz_cholesky_solve_at(b, l, upper, LZ_SITE)
#define lz_cholesky_inverse(l, upper) lz_cholesky_inverse_at(l, upper, LZ_SITE)
#define lz_linalg_solve_triangular(...) lz_linalg_solve_triangular_at(__VA_ARGS__, LZ_SITE)
#define lz_triangular_solve(...) lz_triangular_solve_at(__VA_ARGS__, LZ_SITE)
#define lz_linalg_lu_factor(a, pivots) lz_linalg_lu_factor_at(a, pivots, LZ_SITE)
#define lz_linalg_lu(a, l, u) lz_linalg_lu_at(a, l, u, LZ_SITE)
#define lz_linalg_solve(a, b, left) lz_linalg_solve_at(a, b, left, LZ_SITE)
#define lz_linalg_inv(a) lz_linalg_inv_at(a, LZ_SITE)
#define lz_linalg_det(a) lz_linalg_det_at(a, LZ_SITE)
#define lz_linalg_slogdet(a, logabsdet) lz_linalg_slogdet_at(a, logabsdet, LZ_SITE)
#define lz_linalg_matrix_power(a, n) lz_linalg_matrix_power_at(a, n, LZ_SITE)
#define lz_linalg_qr(a, mode, r) lz_linalg_qr_at(a, mode, r, LZ_SITE)
#define lz_linalg_svd(a, full, s, vh) lz_linalg_svd_at(a, full, s, vh, LZ_SITE)
#define lz_linalg_svdvals(a) lz_linalg_svdvals_at(a, LZ_SITE)
#define lz_linalg_eigh(a, upper, vectors) lz_linalg_eigh_at(a, upper, vectors, LZ_SITE)
#define lz_linalg_eigvalsh(a, upper) lz_linalg_eigvalsh_at(a, upper, LZ_SITE)
#define lz_linalg_pinv(a, rtol) lz_linalg_pinv_at(a, rtol, LZ_SITE)
#define lz_linalg_matrix_rank(a, rtol) lz_linalg_matrix_rank_at(a, rtol, LZ_SITE)
#define lz_linalg_lstsq(a, b) lz_linalg_lstsq_at(a, b, LZ_SITE)
#define lz_linalg_matrix_norm(a, ord, keepdim) lz_linalg_matrix_norm_at(a, ord, keepdim, LZ_SITE)
#define lz_linalg_cond(a) lz_linalg_cond_at(a, LZ_SITE)
LZ_EXTERN_C_END
#endif
