/* api_special.c - special functions that are not one row of the table: include/lazuli/math_ops.h. */
#include "runtime/compose.h"
#include <lazuli/math_ops.h>

static lz_node *polygamma(lz_tr *c, int n, lz_node *x)
{
    if (!(x = lz_tr_float(c, x)))
        return NULL;
    if (n < 0) {
        LZ_FAIL(LZ_EINVAL, "n is %d: it must not be negative", n);
        return NULL;
    }
    return n == 0 ? lz_tr_ew1(c, LZ_OP_DIGAMMA, x)
                  : lz_tr_ew2(c, LZ_OP_POLYGAMMA, K(x, (double)n), x);
}

lz_tensor *lz_polygamma_at(int n, lz_tensor *x, const lz_site *site)
{
    BEGIN("lz_polygamma");
    return lz_tr_end(c, polygamma(c, n, IN(x)));
}
