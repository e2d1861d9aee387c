/* vjp_table.h - which rule an operation has. */
#ifndef LZ_AUTODIFF_VJP_TABLE_H
#define LZ_AUTODIFF_VJP_TABLE_H
#include "autodiff/vjp.h"

typedef struct lz_vjp_rule {
    lz_vjp_fn fn;
    bool blocks;   /* no gradient passes: `zero` of the table; `none` is an error where there are
                      operands */
    bool projects; /* reads one result of an operation with several */
} lz_vjp_rule;
lz_vjp_rule lz_vjp_rule_of(lz_op op);
#endif
