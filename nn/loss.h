/* loss.h - helpers of the losses. */
#ifndef LZ_NN_LOSS_H
#define LZ_NN_LOSS_H
#include "nn/nn_compose.h"
#include <lazuli/functional.h>

/* The reduction: mean, sum, or x itself. */
lz_tensor *lz_nn_reduce(const nnc *c, lz_tensor *x, lz_reduction r);
/* The caller's options over the defaults. */
bool lz_nn_loss_options(nnc *c, lz_loss_options *dst, const lz_loss_options *src);
/* A loss of x and target, element by element; 16-bit floats come as f32. */
typedef lz_tensor *lz_nn_pointwise(const nnc *c, lz_tensor *x, lz_tensor *target,
                                   const lz_loss_options *o);
/* The public function `op`: f, then reduced. positive: the option at `field` that must not be
 * negative, or NULL. */
lz_tensor *lz_nn_loss(const char *op, lz_tensor *x, lz_tensor *target, const lz_loss_options *o,
                      const char *positive, size_t field, lz_nn_pointwise *f, const lz_site *site);
#define LZ_NN_NO_FIELD NULL, 0
#define LZ_NN_LOSS(name, field, f)                                                                 \
    lz_tensor *name##_at(lz_tensor *x, lz_tensor *target, const lz_loss_options *o,                \
                         const lz_site *site)                                                      \
    {                                                                                              \
        LZ_PUBLIC_AT(LZ_FORK_TENSOR);                                                              \
        return lz_nn_loss(#name, x, target, o, field, f, site);                                    \
    }
#endif
