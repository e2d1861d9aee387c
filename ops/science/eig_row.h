/* eig_row.h - between ../matrix.c and eig.c. Threads: as tensor.h. */
#ifndef LZ_OPS_SCIENCE_EIG_ROW_H
#define LZ_OPS_SCIENCE_EIG_ROW_H
#include <lazuli/tensor.h>

/* The row lazuli.eig, which has no derivative: eigenvalues, and in *vectors the right vectors. */
lz_tensor *lz_mx_eig_at(lz_tensor *a, lz_tensor **vectors, const lz_site *site);
#endif
