/* plain.h - the networks of models.h for one example in plain C, in double precision: what
 * inference is compared with. Weights are read from the layers. Results are to be freed. */
#ifndef LZ_BENCH_PLAIN_H
#define LZ_BENCH_PLAIN_H
#include "models.h"

/* x [784] -> [10] */
double *plain_mlp(const struct mlp *m, const float *x);
/* x [3, 224, 224] or [3, 32, 32], running statistics -> [classes] */
double *plain_resnet(const struct resnet *m, const float *x);
/* The logits of one token after `before` positions whose keys and values are all 0. */
double *plain_gpt_next(const struct gpt *m, int64_t token, int64_t position, int64_t before);
#endif
