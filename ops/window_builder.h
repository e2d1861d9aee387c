/* window_builder.h - window operations (reduce_window, convolution), for the public functions made
 * of them. Threads: as trace_builder.h. */
#ifndef LZ_OPS_WINDOW_BUILDER_H
#define LZ_OPS_WINDOW_BUILDER_H
#include "ir/window.h"
#include "runtime/graph/trace_builder.h"

/* w: one window per dimension of x. The initial value, and padding, is the combiner's identity. */
lz_node *lz_tracer_reduce_window(lz_tracer *c, lz_op combiner, lz_node *x, const lz_window_axis *w);
/* The largest (smallest) element of each window and its row-major position in x, i64: the first of
 * equal ones, the last NaN. A window of padding alone has the lowest (highest) value and the
 * position INT32_MAX or INT64_MAX. False after a failure. */
bool lz_tracer_reduce_window_arg(lz_tracer *c, bool max, lz_node *x, const lz_window_axis *w,
                                 lz_node **value, lz_node **position);
lz_node *lz_tracer_convolution(lz_tracer *c, lz_node *x, lz_node *kernel,
                               const lz_attr_convolution *a);
#endif
