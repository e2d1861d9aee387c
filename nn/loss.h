/* loss.h - what the losses share. */
#ifndef LZ_NN_LOSS_H
#define LZ_NN_LOSS_H
#include "nn/compose.h"
#include <lazuli/functional.h>

/* All of x as one value, or x itself. */
lz_tensor *lz_nn_reduce(const nnc *c, lz_tensor *x, lz_reduction r);
/* The caller's options over the defaults. */
bool lz_nn_loss_options(nnc *c, lz_loss_options *dst, const lz_loss_options *src);
#endif
