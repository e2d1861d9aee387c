/* eval_eig.h - between eval_eig.c and eval_schur.c. Threads: pure. */
#ifndef LZ_IR_EVAL_EVAL_EIG_H
#define LZ_IR_EVAL_EVAL_EIG_H
#include "ir/eval/eval_matrix.h"
#include <complex.h>

/* a[n, n], Hessenberg and real, to its quasi-triangular form; q times what that is; eigenvalues to
 * w. False: no convergence. */
bool lz_ref_schur_real(int64_t n, long double complex *a, long double complex *q,
                       long double complex *w);
#endif
