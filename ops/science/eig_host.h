/* eig_host.h - eigenvalues and eigenvectors of general matrices, on the host: what the custom call
 * of ops/science/eig.c computes. Threads: thread-safe. */
#ifndef LZ_OPS_EIG_HOST_H
#define LZ_OPS_EIG_HOST_H
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

/* a[n, n], row-major, is overwritten; w[n], v[n, n] with the vectors in columns, of norm 1, their
 * largest element real. real: a has no imaginary parts, and what comes is in conjugate pairs.
 * work: n * n + 3 n elements. NaN where a is not finite, or the iteration does not end.
 * Source: Golub and Van Loan, Matrix Computations, 7.4 and 7.5; Wilkinson's shifts; the scaling of
 * Parlett and Reinsch 1969. */
void lz_eig_host(int64_t n, bool real, double complex *a, double complex *w, double complex *v,
                 double complex *work);
#endif
