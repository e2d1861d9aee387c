/* parse_chlo.h - operations that are read as several of the table and need more than their operands
 * for it. Threads: thread-compatible. */
#ifndef LZ_IR_TEXT_PARSE_CHLO_H
#define LZ_IR_TEXT_PARSE_CHLO_H
#include "ir/text/parse.h"

lz_status lz_chlo_top_k(lz_parser *p, lz_scope *s, lz_stmt *t);
/* custom_call @ApproxTopK, its backend_config among the attributes */
lz_status lz_chlo_approx_top_k(lz_parser *p, lz_scope *s, lz_stmt *t);
/* Whether the statement is a comparison in WEAKORDER (both zeros equal, all NaN equal and
 * largest): then its operands become such that TOTALORDER is the same, and the word is gone. */
bool lz_parse_weak_order(lz_parser *p, lz_scope *s, lz_stmt *t);
/* chlo.broadcast_<elementwise operation of two or three operands> */
bool lz_chlo_is_broadcast(lz_slice name);
lz_status lz_chlo_broadcast(lz_parser *p, lz_scope *s, lz_stmt *t);
/* The elementwise row without attributes that a custom_call names: mhlo.erf, chlo.tan. */
lz_op lz_custom_call_op(lz_slice target);
/* parse_collective.c: a row of that class; what it does for one participant is read as that */
lz_status lz_parse_collective(lz_parser *p, lz_scope *s, lz_stmt *t);
/* parse_scan.c: the whole statement */
lz_status lz_parse_chlo_scan(lz_parser *p, lz_scope *s, lz_stmt *t);
/* parse_lapack.c: custom calls of decompositions; the statement is read but for its results */
bool lz_parse_is_lapack(lz_slice target);
lz_status lz_parse_lapack(lz_parser *p, lz_scope *s, lz_stmt *t, lz_slice target);
/* parse_ragged.c */
lz_status lz_chlo_ragged_dot(lz_parser *p, lz_scope *s, lz_stmt *t);
/* parse_rng.c */
lz_status lz_expand_rng(lz_parser *p, lz_scope *s, lz_stmt *t);
/* parse_norm.c */
lz_status lz_expand_map(lz_parser *p, lz_scope *s, lz_stmt *t);
/* A region of scalars, one result, on whole tensors of one shape. */
lz_status lz_parse_elementwise(lz_parser *p, lz_scope *s, lz_stmt *t, const lz_func *region,
                               const lz_val *args, lz_val *out);
lz_status lz_expand_norm_inference(lz_parser *p, lz_scope *s, lz_stmt *t);
lz_status lz_expand_norm_training(lz_parser *p, lz_scope *s, lz_stmt *t);
lz_status lz_expand_norm_grad(lz_parser *p, lz_scope *s, lz_stmt *t);
/* parse_einsum.c */
lz_status lz_expand_einsum(lz_parser *p, lz_scope *s, lz_stmt *t);
lz_status lz_expand_unary_einsum(lz_parser *p, lz_scope *s, lz_stmt *t);
/* parse_dynamic.c */
/* dynamic_X: X, without the last operand, which is the shape of the result. */
lz_status lz_dynamic_shaped(lz_parser *p, lz_scope *s, lz_stmt *t);
lz_status lz_dynamic_pad(lz_parser *p, lz_scope *s, lz_stmt *t);
lz_status lz_dynamic_gather(lz_parser *p, lz_scope *s, lz_stmt *t);
lz_status lz_dynamic_conv(lz_parser *p, lz_scope *s, lz_stmt *t);
lz_status lz_real_dynamic_slice(lz_parser *p, lz_scope *s, lz_stmt *t);
lz_status lz_dimension_size(lz_parser *p, lz_scope *s, lz_stmt *t);
lz_status lz_torch_index_select(lz_parser *p, lz_scope *s, lz_stmt *t);

/* parse_small_float.c */
/* Whether the operation (e: that is written with others) computes with floats that are only stored;
 * then it is built so: */
bool lz_parse_computes_small(const lz_scope *s, const lz_stmt *t, const lz_expansion *e);
lz_status lz_parse_build_wide(lz_parser *p, lz_scope *s, lz_stmt *t, const lz_expansion *e);
#endif
