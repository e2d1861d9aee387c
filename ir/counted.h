/* counted.h - loops with a static trip count: how they are built, and how they are told
 * from others.
 * The round is carried in front, begins with 0, is compared with a constant and is one more after
 * each iteration. Threads: thread-compatible. */
#ifndef LZ_IR_COUNTED_H
#define LZ_IR_COUNTED_H
#include "ir/attr.h"
#include "ir/module.h"

const lz_type *lz_loop_slice_type(const lz_type *t); /* without the first dimension */
/* n of them along a new first dimension */
const lz_type *lz_loop_stack_type(const lz_type *t, int64_t n);
/* slice number `at` (i64) along the first dimension */
lz_val lz_loop_slice(lz_func *f, lz_val x, lz_val at);
lz_val lz_loop_put(lz_func *f, lz_val stack, lz_val y, lz_val at);

/* The regions of a loop of `trip_count` trip_count. body: of an i64 (the round), ncarried values,
 * then others; gives the carried values. */
lz_status lz_count_regions(const lz_func *body, int64_t trip_count, uint32_t ncarried,
                           lz_attr_loop *a);
/* The loop itself, on the operands of body without the round. results: ncarried. */
lz_status lz_build_count(lz_func *f, const lz_func *body, int64_t trip_count, const lz_val *opnd,
                         uint32_t n, uint32_t ncarried, lz_val *results);
/* The trip_count of a loop of that form: -1 when it is another one. Then body is the round's
 * function. */
int64_t lz_control_counted(const lz_sig *sig);
#endif
