/* matrix.h - helpers for composites of decompositions: nodes of batches of matrices (the last two
 * dimensions). A NULL operand gives NULL. Threads: as trace_builder.h. */
#ifndef LZ_OPS_MATRIX_H
#define LZ_OPS_MATRIX_H
#include "ops/compose.h"
#include "ops/science/eig_row.h"

/* The operand, a matrix of floats or complex numbers; NULL with LZ_ESHAPE or LZ_EDTYPE recorded. */
lz_node *lz_mx_in(lz_tracer *c, lz_tensor *t);
int64_t lz_mx_rows(const lz_node *a);
int64_t lz_mx_cols(const lz_node *a);
lz_node *lz_mx_square(lz_node *a); /* a, or NULL with LZ_ESHAPE recorded */
/* x[.., m, n] in that shape of a matrix, with x's batch; and the reverse dimensions */
lz_node *lz_mx_transpose(lz_tracer *c, lz_node *a);
lz_node *lz_mx_conj(lz_tracer *c, lz_node *a);
lz_node *lz_mx_adjoint(lz_tracer *c, lz_node *a);
/* Rows (dim 2) or columns (dim 1) from..to of the last dimensions; dim counts from the end. */
lz_node *lz_mx_cut(lz_tracer *c, lz_node *a, int dim, int64_t from, int64_t to);
/* where row + k `dir` column: a, else 0 */
lz_node *lz_mx_triangle(lz_tracer *c, lz_node *a, lz_comparison_direction dir, int64_t k);
/* ones on the diagonal, of a's dtype and batch */
lz_node *lz_mx_eye(lz_tracer *c, lz_node *a, int64_t rows, int64_t cols);
lz_node *lz_mx_diagonal(lz_tracer *c, lz_node *a);
lz_node *lz_mx_over_last(lz_tracer *c, lz_op op, lz_node *x, int n); /* combined over n last dims */
lz_node *lz_mx_solve(lz_tracer *c, lz_node *a, lz_node *b, bool left, bool lower, bool unit,
                     lz_transpose how);
/* Both with one batch, and one dtype. */
bool lz_mx_match(lz_tracer *c, lz_node **a, lz_node **b);
/* The results of a decomposition; how many of them is the row's matter. */
lz_node *lz_mx_decompose(lz_tracer *c, lz_op op, bool flag, lz_node *a);
/* x with a x = b by elimination; square a, equal batches */
lz_node *lz_mx_divide(lz_tracer *c, lz_node *a, lz_node *b);
#endif
