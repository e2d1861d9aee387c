/* reduce_order.h - whether it matters in which order the region of a reduction takes elements:
 * found by trying it. Threads: pure. */
#ifndef LZ_LOWER_PASSES_REDUCE_ORDER_H
#define LZ_LOWER_PASSES_REDUCE_ORDER_H
#include "ir/module.h"

typedef struct lz_reduce_order {
    /* region(b, a) is region(a, b): on all that comparisons can tell apart where it only compares
     * and selects; else on samples, floats up to rounding */
    bool commutes;
    bool associates; /* likewise; true of those that commute or are as lz_region_arg_first */
    /* of (a, ai, b, bi), where it does not commute: 1 and -1: where ai <= bi it chooses as
     * lz_region_arg_first(true, ..) and (false, ..) */
    int arg;
    bool arg_exact; /* with the sign of a zero that is chosen */
} lz_reduce_order;

/* Of a region of 2 n scalars that is scalar work; of another one it says that it commutes. */
lz_status lz_reduce_order_of(const lz_func *region, lz_reduce_order *out);
#endif
