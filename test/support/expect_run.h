/* expect_run.h - between expect.c and expect_run.c: a function on the reference evaluator with the
 * result of every inexact operation moved to the edges of what its row allows.
 * Threads: belongs to one thread. */
#ifndef LZ_TEST_EXPECT_RUN_H
#define LZ_TEST_EXPECT_RUN_H
#include "ir/eval/eval.h"
#include "support/rnd.h"

/* All up, all down, opposite ways for every two operations (one would undo the other's in 1 or 2),
 * to zero (of either sign) what may as well be zero, since there many functions have a pole, at
 * random. */
enum {
    MODE_PLAIN,
    MODE_UP,
    MODE_DOWN,
    MODE_BIT,
    MODE_ZERO = MODE_BIT + 4,
    MODE_MINUS_ZERO,
    MODE_RANDOM,
    RUNS = MODE_RANDOM + 9,
    RUNS_JUMPS = MODE_RANDOM + 24, /* where two numbers that are nearly equal decide something, */
    JUMPS_ELEMS = 20000            /* unless that takes long */
};

typedef struct lz_expect_run {
    const lz_func *f;
    lz_literal *const *args;
    int extra_ulp, mode;
    uint32_t ordinal; /* of the operation that runs, among those that are moved */
    lz_rnd rnd;
    uint32_t *first; /* by instruction: its first result in val */
    lz_literal **val;
    uint32_t nval;
    bool *late; /* by instruction: lz_expect_late_quotients; NULL: none */
} lz_expect_run;
lz_status lz_expect_run_begin(lz_expect_run *r, const lz_func *f, lz_literal *const *args,
                              int extra_ulp, bool late_quotients);
void lz_expect_run_end(lz_expect_run *r); /* of a begun one, even if that failed */
lz_status lz_expect_run_in(lz_expect_run *r, int mode);

bool lz_expect_inexact(const lz_sig *s, int extra_ulp);
/* Whether an operation computes floats, rather than moving them. */
bool lz_expect_makes_nans(const lz_sig *s);
/* What an operation combines elements by; NULL: nothing. */
const lz_func *lz_expect_region(const lz_sig *s);
#endif
