/* reduce_builder.h - reduction helpers for composites: resolving the dimensions, reducing, and
 * broadcasting the result back over the reduced dimensions. Threads: as trace_builder.h. */
#ifndef LZ_OPS_REDUCE_BUILDER_H
#define LZ_OPS_REDUCE_BUILDER_H
#include "runtime/graph/trace_builder.h"
#include <lazuli/tensor_ops.h>

/* The reduction that the options ask for: dimensions (ascending), their number of elements, and the
 * result's shape with keepdim. */
typedef struct lz_reduced_dims {
    lz_ints dims;
    lz_ints rest;  /* the other dimensions */
    int64_t n;     /* elements reduced to one */
    lz_shape kept; /* extents of 1 at dims */
    bool keepdim;
    double correction;
    lz_dtype dtype;
} lz_reduced_dims;

/* false with the error recorded. o NULL: all dimensions. */
bool lz_tracer_reduction(const lz_node *x, const lz_reduce_options *o, lz_reduced_dims *r);
bool lz_tracer_reduction_of(const lz_node *x, const lz_dims *dims, bool keepdim,
                            lz_reduced_dims *r);
/* without the dimensions */
lz_node *lz_tracer_combine(lz_tracer *c, const lz_reduced_dims *r, lz_op op, lz_node *x);
/* as the caller wants it: keepdim */
lz_node *lz_tracer_reduced(lz_tracer *c, const lz_reduced_dims *r, lz_node *reduced);
lz_node *lz_tracer_spread(lz_tracer *c, const lz_reduced_dims *r, lz_node *reduced,
                          const lz_node *like);
/* f16 and bf16 become f32 for the computation */
lz_node *lz_tracer_wide(lz_tracer *c, lz_node *x);
/* A sum of squares divided by the number of elements less the correction, which is an argument: 0
 * or less of them give the quotient by 0. */
lz_node *lz_tracer_corrected(lz_tracer *c, lz_node *sum, const lz_reduced_dims *r);
/* A stop-gradient around a new node of a composite (never an operand: that would lose its own
 * gradient). */
lz_node *lz_tracer_no_gradient(lz_node *x);
static inline bool lz_dtype_is_integral(lz_dtype d)
{
    return d == LZ_BOOL || lz_dtype_is_int(d);
}
#endif
