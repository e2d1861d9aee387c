/* order_builder.h - sorting helpers for composites. Threads: as trace_builder.h. */
#ifndef LZ_OPS_ORDER_BUILDER_H
#define LZ_OPS_ORDER_BUILDER_H
#include "runtime/graph/trace_builder.h"

/* n nodes (1..15) of one shape reordered along dim by the first nkey of them: the operation, read
 * by lz_tracer_result. */
lz_node *lz_tracer_sort(lz_tracer *c, lz_node *const *xs, uint32_t n, int64_t dim, uint32_t nkey,
                        bool descending);
/* Where the elements of the sorted rows come from, i64; values (may be NULL) gets the rows. */
lz_node *lz_tracer_argsort(lz_tracer *c, lz_node *x, int64_t dim, bool descending,
                           lz_node **values);
/* The numbers 0, 1, .. along dim, of x's shape: i32 where they fit, else i64. */
lz_node *lz_tracer_places(lz_tracer *c, lz_node *x, int64_t dim);
/* The inclusive prefix scan along dim with op, in log n steps. */
lz_node *lz_tracer_scan(lz_tracer *c, lz_op op, lz_node *x, int64_t dim);
/* x shifted by `by` along dim, away from the front; `fill`, a scalar, is shifted in. */
lz_node *lz_tracer_shift(lz_tracer *c, lz_node *x, int64_t dim, int64_t by, lz_node *fill);
/* `sorted` has rows along its last dimension, and the leading extents of `values`, or rank 1. See
 * lz_searchsorted. */
lz_node *lz_tracer_searchsorted(lz_tracer *c, lz_node *sorted, lz_node *values, bool right);
#endif
