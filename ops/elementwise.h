/* elementwise.h - the composites of ops/user_ops.def: lz_ew_<name>, from prepared operands to the
 * result. */
#ifndef LZ_OPS_ELEMENTWISE_H
#define LZ_OPS_ELEMENTWISE_H
#include "runtime/graph/trace_builder.h"

#define LZ_UNARY(...)
#define LZ_BINARY(...)
#define LZ_COMPARE(...)
#define LZ_UNARY_OF(name, kind, part, takes, doc) lz_node *lz_ew_##name(lz_tracer *c, lz_node *x);
#define LZ_BINARY_OF(name, kind, part, takes, doc)                                                 \
    lz_node *lz_ew_##name(lz_tracer *c, lz_node *a, lz_node *b);
#include "ops/user_ops.def"
#endif
