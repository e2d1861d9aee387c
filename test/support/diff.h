/* diff.h - differential tests: one way of running functions against the reference, over random
 * functions and every row's cases.
 * A test program is a way and a call of lz_diff_main; see lz_diff_usage in diff.c for what it does
 * by hand. Threads: thread-compatible. */
#ifndef LZ_TEST_DIFF_H
#define LZ_TEST_DIFF_H
#include "support/gen.h"

typedef struct lz_diff_result {
    lz_literal *got[256]; /* what the way made; the driver releases them */
    char msg[512];        /* why, when it is false */
    /* for a way that makes several results of each and compares the others itself */
    const lz_expect *want;
} lz_diff_result;

/* Runs f on args. donate: per parameter, whether the caller gives it away; NULL: none. False: it
 * failed, or broke a promise of its own (another result the second time, say); r->msg says what.
 * LZ_EUNSUPPORTED is a failure too: what the generator makes is supported. */
typedef bool lz_diff_way(const lz_func *f, lz_literal *const *args, const bool *donate,
                         lz_diff_result *r);

typedef struct lz_diff_options {
    lz_diff_way *way;
    const char *name;  /* of the suite */
    const char *cases; /* files of its own besides those of all; NULL: none */
    /* one in so many of those of all, by turns, and one in half so many of its own; 0: each. Twice
     * as many with LZ_TEST_QUICK */
    unsigned case_stride;
    /* A run takes so many of the whole: which ones changes with LZ_TEST_SEED. */
    int seeds, quick_seeds, whole_seeds; /* random functions: alone, with LZ_TEST_QUICK, _WHOLE */
    int nets, quick_nets, whole_nets;    /* random networks */
    int stride, quick_stride, whole_stride; /* every so many-th case of a row; 1: all */
    bool late_quotients;                    /* lz_expect_late_quotients */
    bool one_thread; /* what the way runs, it runs on one: quick under MODE=tsan */
} lz_diff_options;
int lz_diff_main(const lz_diff_options *o, int argc, char **argv);

/* Bits of a result equal to another run's; false with r->msg, which starts with `what`. */
bool lz_diff_same_bits(const lz_func *f, lz_literal *const *a, lz_literal *const *b,
                       const char *what, lz_diff_result *r);
/* r->msg = "STATUS: message" of the calling thread's error; always false. */
bool lz_diff_failed(const char *what, lz_diff_result *r);
#endif
