/* work.h - what instructions compute, whatever the machine: who predicts times (shard/cost/) and
 * who searches for shardings (shard/auto/) ask here. Numbers are doubles: what no machine could do
 * is a large number, never an overflow. Threads: pure functions. */
#ifndef LZ_SHARD_WORK_H
#define LZ_SHARD_WORK_H
#include "ir/module.h"

/* Whether it is a product of matrices, or the products that a convolution is. */
bool lz_work_is_product(lz_op op);
/* The matrices of a product: `batch` of m x k and k x n. A factorization of n x n matrices (class
 * LINALG) is about as many operations as a product of them. */
typedef struct lz_work_matrices {
    double batch, m, n, k;
} lz_work_matrices;
lz_work_matrices lz_work_matrices_of(const lz_sig *sig);
/* Floating-point operations of them: a product and a sum are two, of complex numbers eight. */
double lz_work_flops(const lz_sig *sig);
/* The trip count of a while of f; 1 where it is not static (*guessed, which may be NULL, is set).
 */
double lz_work_rounds(const lz_func *f, const lz_inst *loop, bool *guessed);
/* Loops in loops of 2^63 rounds stay numbers: `times` as often as what is run `outer` times. */
double lz_work_times(double outer, double times);
#endif
