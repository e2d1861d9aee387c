/* agreement.h - whether two runs of a function give the same results, but for the order of their
 * sums. The tolerance of an element is that of its dtype, and 16 times what the element moves by
 * when each input does by a random two units of roundoff: a sum whose terms cancel has an error of
 * its terms, not of itself, and moves as they do.
 * Threads: thread-compatible. */
#ifndef LZ_IR_EVAL_AGREEMENT_H
#define LZ_IR_EVAL_AGREEMENT_H
#include "ir/module.h"

/* Runs f; results: nresult new references. */
typedef lz_status lz_runner(void *user, const lz_func *f, lz_literal *const *in,
                            lz_literal **results);
/* By how much each element moves; {0}: by nothing. */
typedef struct lz_moves {
    double **of; /* per result, per element */
    uint32_t n;
} lz_moves;
/* want: what the runner gives for `in`. Ends in lz_moves_free on error too. */
lz_status lz_moves_measure(lz_moves *m, const lz_func *f, lz_literal *const *in,
                           lz_literal *const *want, lz_runner *run, void *user);
void lz_moves_free(lz_moves *m);

/* Whether result k agrees. rtol, atol: negative: by dtype. *element: the first number that does
 * not, the parts of complex numbers counted apart. */
bool lz_agrees(const lz_moves *m, uint32_t k, const lz_literal *got, const lz_literal *want,
               double rtol, double atol, int64_t *element);
/* Numbers per element and their dtype: complex numbers are two floats, all others themselves. */
uint32_t lz_components(const lz_type *t, lz_dtype *part);
#endif
