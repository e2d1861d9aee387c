/* scatter_builder.c - lz_tracer_scatter. See index_builder.h. */
#include "ops/index_builder.h"
#include "runtime/graph/trace_builder.h"

lz_node *lz_tracer_scatter(lz_tracer *c, lz_op op, lz_node *x, lz_node *index, lz_node *updates,
                           lz_attr_any *dims)
{
    if (!x || !index || !updates)
        return NULL;
    lz_dtype d = lz_node_type(x)->dtype;
    dims->as_scatter.update_computation =
        op == LZ_OP_NONE ? lz_region_assign(d) : lz_region_binary(op, d);
    if (!dims->as_scatter.update_computation)
        return NULL;
    lz_node *o[3] = {x, index, updates};
    return lz_tracer_result(c, lz_tracer_op(c, LZ_OP_SCATTER, &dims->head, o, 3), 0);
}
