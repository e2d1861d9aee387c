/* random_builder.h - random tensors, for the public functions made of them (creation.c). They draw
 * from the stream of the device of `like` (NULL: the thread's), which advances.
 * Threads: as trace_builder.h. */
#ifndef LZ_OPS_RANDOM_BUILDER_H
#define LZ_OPS_RANDOM_BUILDER_H
#include "runtime/graph/trace_builder.h"

/* uniform bits of a dtype of 4 or 8 bytes */
lz_node *lz_tracer_random_bits(lz_tracer *c, lz_dtype d, const lz_shape *s, const lz_node *like);
/* uniform in [0, 1) */
lz_node *lz_tracer_uniform(lz_tracer *c, lz_dtype d, const lz_shape *s, const lz_node *like);
/* standard normal */
lz_node *lz_tracer_normal(lz_tracer *c, lz_dtype d, const lz_shape *s, const lz_node *like);
#endif
