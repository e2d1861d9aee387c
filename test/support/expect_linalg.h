/* expect_linalg.h - between expect.c and expect_linalg.c: what decompositions may answer. */
#ifndef LZ_TEST_EXPECT_LINALG_H
#define LZ_TEST_EXPECT_LINALG_H
#include "ir/eval/eval.h"

/* A number in -1 .. 1: how far the next element is moved. */
typedef double lz_expect_move(void *ctx);
/* Replaces the result of a LINALG operation by one of operands that a backward stable algorithm may
 * have seen instead. */
lz_status lz_expect_linalg(const lz_sig *s, lz_literal *const *opnd, lz_literal **out,
                           lz_expect_move *move, void *ctx);
#endif
