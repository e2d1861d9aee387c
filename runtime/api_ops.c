/* api_ops.c - the elementwise functions of include/lazuli/ops.h: one per row of ir/userops.def, by the row's kind. */
#include "runtime/tr.h"
#include <lazuli/ops.h>

typedef enum kind { KEEP, FLOAT, BOOL, BITS, SHIFT } kind;

static bool is_bits(lz_dtype d)
{
    return d == LZ_BOOL || lz_dtype_is_int(d);
}

/* What the kind asks of an operand, after promotion. */
static lz_node *prepare(lz_tr *c, kind k, lz_node *x)
{
    if (!x)
        return NULL;
    lz_dtype d = lz_node_type(x)->dtype;
    switch (k) {
    case KEEP:
        break;
    case FLOAT:
        return lz_tr_float(c, x);
    case BOOL:
        return lz_tr_convert(c, x, LZ_BOOL);
    case BITS:
        if (is_bits(d))
            break;
        LZ_FAIL(LZ_EDTYPE, "%s operands: booleans and integers have bits to work on",
                lz_dtype_name(d));
        return NULL;
    case SHIFT:
        if (lz_dtype_is_int(d))
            break;
        LZ_FAIL(LZ_EDTYPE, "%s operands: only integers are shifted", lz_dtype_name(d));
        return NULL;
    }
    return x;
}

static lz_tensor *unary(const char *name, lz_op op, kind k, lz_tensor *x, const lz_site *site)
{
    lz_tr c;
    lz_tr_begin(&c, name, site);
    return lz_tr_end(&c, lz_tr_ew1(&c, op, prepare(&c, k, lz_tr_in(&c, x))));
}

static lz_tensor *binary(const char *name, lz_op op, kind k, lz_tensor *x, lz_tensor *y,
                         const lz_site *site)
{
    lz_tr c;
    lz_tr_begin(&c, name, site);
    lz_node *a = lz_tr_in(&c, x), *b = a ? lz_tr_in(&c, y) : NULL;
    if (k == BOOL) {
        a = prepare(&c, k, a);
        b = prepare(&c, k, b);
    }
    if (!b || !lz_tr_match(&c, &a, &b))
        return lz_tr_end(&c, NULL);
    if (k != KEEP && k != BOOL) {
        a = prepare(&c, k, a);
        b = prepare(&c, k, b);
    }
    if (op == LZ_OP_SHIFT_RIGHT_ARITHMETIC && a && lz_dtype_is_unsigned(lz_node_type(a)->dtype))
        op = LZ_OP_SHIFT_RIGHT_LOGICAL;
    return lz_tr_end(&c, lz_tr_ew2(&c, op, a, b));
}

static lz_tensor *compare(const char *name, lz_comparison_direction dir, lz_tensor *x, lz_tensor *y,
                          const lz_site *site)
{
    lz_tr c;
    lz_tr_begin(&c, name, site);
    lz_node *a = lz_tr_in(&c, x), *b = a ? lz_tr_in(&c, y) : NULL;
    return lz_tr_end(&c, b && lz_tr_match(&c, &a, &b) ? lz_tr_compare(&c, dir, a, b) : NULL);
}

#define LZ_UNARY(name, OP, kind, doc)                                                              \
    lz_tensor *lz_##name##_at(lz_tensor *x, const lz_site *site)                                   \
    {                                                                                              \
        return unary("lz_" #name, LZ_OP_##OP, kind, x, site);                                      \
    }
#define LZ_BINARY(name, OP, kind, doc)                                                             \
    lz_tensor *lz_##name##_at(lz_tensor *a, lz_tensor *b, const lz_site *site)                     \
    {                                                                                              \
        return binary("lz_" #name, LZ_OP_##OP, kind, a, b, site);                                  \
    }
#define LZ_COMPARE(name, DIR, doc)                                                                 \
    lz_tensor *lz_##name##_at(lz_tensor *a, lz_tensor *b, const lz_site *site)                     \
    {                                                                                              \
        return compare("lz_" #name, LZ_CMP_##DIR, a, b, site);                                     \
    }
#include "ir/userops.def"
