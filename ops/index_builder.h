/* index_builder.h - gather, scatter and argument reductions, for the public functions made of them.
 * Threads: as trace_builder.h. */
#ifndef LZ_OPS_INDEX_BUILDER_H
#define LZ_OPS_INDEX_BUILDER_H
#include "runtime/graph/trace_builder.h"

/* Slices of x at the positions in `index` along dim, clamped; index's dimensions replace dim
 * (indexing.c). */
lz_node *lz_tracer_take(lz_tracer *c, lz_node *x, int64_t dim, lz_node *index);
/* `updates` combined into x at the indices; op NONE: they replace. The record has the dimension
 * numbers; its region is filled in here (scatter_builder.c). */
lz_node *lz_tracer_scatter(lz_tracer *c, lz_op op, lz_node *x, lz_node *index, lz_node *updates,
                           lz_attr_any *dims);
/* The position of the largest or smallest element along dim, which is removed (hlo.c). */
lz_node *lz_tracer_argminmax(lz_tracer *c, bool max, lz_node *x, int64_t dim);
#endif
