/* expect.h - what a correct implementation of a function may answer: the reference's results and
 * how far off each element may be.
 * The slack is measured, not guessed: the function is evaluated again with the result of every
 * inexact operation moved to the edges of its row's tolerance (up, down, at random), and what moves
 * with it is allowed to. One inexact operation: exactly its row's tolerance. Several: three times
 * what was seen. Results that jump (a comparison near a tie, an overflow) are recognised and not
 * compared.
 * Threads: thread-compatible. */
#ifndef LZ_TEST_EXPECT_H
#define LZ_TEST_EXPECT_H
#include "ir/eval/eval.h"

typedef struct lz_expect {
    uint32_t nresult;
    lz_literal **value;
    double **slack; /* per result, per element: absolute; INFINITY: anything goes */
} lz_expect;
/* extra_ulp: additional freedom of each add, subtract, multiply and divide (0; more for code that
 * fuses multiply and add). */
lz_status lz_expect_new(const lz_func *f, lz_literal *const *args, int extra_ulp, lz_expect **out);
/* Softmax of scores that is rounded to 16 bits for products alone may be divided behind the
 * products instead: what is rounded is then the exponential (docs/gpu.md, flash attention). */
lz_status lz_expect_late_quotients(const lz_func *f, lz_literal *const *args, lz_expect **out);
bool lz_expect_met(const lz_expect *e, lz_literal *const *got, char *msg, size_t nmsg);
/* elements with infinite slack: a test that compares nothing should notice */
int64_t lz_expect_unstable(const lz_expect *e);
void lz_expect_free(lz_expect *e); /* NULL is fine */
#endif
