/* vjp_softmax.h - softmax as several recorded operations, and its gradient as one.
 * Threads: as vjp.h. */
#ifndef LZ_AUTODIFF_VJP_SOFTMAX_H
#define LZ_AUTODIFF_VJP_SOFTMAX_H
#include "autodiff/vjp.h"
#include "runtime/region/region_trace.h"

enum { LZ_SOFTMAX_INNER = 8 };

typedef struct lz_softmax {
    lz_node *z; /* what the exponential is of */
    /* all between z and the quotient: the exponential, what moves the sums, last the sum itself */
    const lz_node *inner[LZ_SOFTMAX_INNER];
    uint32_t ninner;
} lz_softmax;

/* Whether n is exponential(z) divided by sums of that, which broadcasts and reshapes may have moved
 * to their rows. By shapes alone: whether gradients pass the inner nodes is the caller's to
 * know. */
bool lz_softmax_match(const lz_node *n, lz_softmax *m);
const lz_node *lz_softmax_sum(const lz_softmax *m); /* its second operand is what it begins with */
/* Gradient by z of the quotient p, where g arrives. */
lz_tensor *lz_softmax_vjp(const lz_softmax *m, lz_tensor *p, lz_tensor *g, const lz_site *site);
#endif
