/* bitcast.h - the bits of elements as elements of another dtype, as bitcast_convert gives them: one
 * element is several of fewer bits, the lowest bits first. Threads: pure. */
#ifndef LZ_IR_EVAL_BITCAST_H
#define LZ_IR_EVAL_BITCAST_H
#include "ir/op.h"

/* Whether it is more than another view of the same bytes: a number of less than 8 bits lies in a
 * byte of its own, extended by its sign. */
bool lz_bitcast_moves_bits(lz_dtype from, lz_dtype to);
/* x of type `from` to y of type `to`, which has as many bits; neither is complex where bits move.
 */
void lz_bitcast_copy(const lz_type *from, const void *x, const lz_type *to, void *y);
#endif
