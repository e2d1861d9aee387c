/* special_functions.c - special functions beyond the rows of ops/user_ops.def:
 * include/lazuli/math_ops.h. */
#include "ops/compose.h"
#include <lazuli/math_ops.h>
#include <math.h>

enum { MOST_TERMS = 1024 };

static lz_node *polygamma(lz_tracer *c, int n, lz_node *x)
{
    if (!(x = lz_tracer_float(c, x)))
        return NULL;
    if (n < 0) {
        LZ_FAIL(LZ_EINVAL, "n is %d: it must not be negative", n);
        return NULL;
    }
    return n == 0 ? lz_tracer_ew1(c, LZ_OP_DIGAMMA, x)
                  : lz_tracer_ew2(c, LZ_OP_POLYGAMMA, K(x, (double)n), x);
}

lz_tensor *lz_polygamma_at(int n, lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_polygamma");
    return lz_tracer_end(c, polygamma(c, n, IN(x)));
}

/* log of the multivariate gamma function: p (p - 1) / 4 log(pi) + sum of lgamma(x - j / 2), j <
 * p */
static lz_node *mvlgamma(lz_tracer *c, lz_node *x, int p)
{
    if (!(x = lz_tracer_float(c, x)))
        return NULL;
    if (p < 1 || p > MOST_TERMS) {
        LZ_FAIL(LZ_EINVAL, "p is %d: 1 to %d are allowed", p, MOST_TERMS);
        return NULL;
    }
    lz_dtype d = lz_tracer_dtype(x);
    x = lz_tracer_wide(c, x);
    lz_node *y = NULL;
    for (int j = 0; j < p && x; j++) {
        lz_node *term = lz_tracer_ew1(c, LZ_OP_LGAMMA, j ? SUB(x, K(x, 0.5 * j)) : x);
        y = j ? ADD(y, term) : term;
    }
    return TO(p > 1 && y ? ADD(y, K(y, 0.25 * p * (p - 1) * log(M_PI))) : y, d);
}

lz_tensor *lz_mvlgamma_at(lz_tensor *x, int p, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_mvlgamma");
    return lz_tracer_end(c, mvlgamma(c, IN(x), p));
}
