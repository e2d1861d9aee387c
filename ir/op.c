/* op.c - the table of operations, from ops.def, and lookups in it. Threads: pure functions of
 * constant tables. */
#include "ir/op.h"
#include <string.h>

/* The words of ops.def's columns. */
enum {
    VAR = LZ_ARITY_VAR,
    PURE = LZ_F_PURE,
    COMM = LZ_F_COMM,
    ASSOC = LZ_F_ASSOC,
    IDEM = LZ_F_IDEM,
    ID0 = LZ_F_ID0,
    ID1 = LZ_F_ID1,
    IDMIN = LZ_F_IDMIN,
    IDMAX = LZ_F_IDMAX,
    IDONES = LZ_F_IDONES,
    INVOL = LZ_F_INVOL,
    RELABEL = LZ_F_RELABEL,
    MULTI = LZ_F_MULTI,
    CHEAP = LZ_F_CHEAP,
    COSTLY = LZ_F_COSTLY,
    ALIAS = LZ_F_ALIAS
};
#define EXACT .tol = LZ_TOL_EXACT
#define ULP(n) .tol = LZ_TOL_ULP, .ulp = (n)
#define SUM .tol = LZ_TOL_SUM

/* HAS_VJP(zero) and HAS_VJP(none) are false, any other name true. */
#define NO_VJP_zero ~, false
#define NO_VJP_none ~, false
#define SECOND_(a, b, ...) b
#define SECOND(...) SECOND_(__VA_ARGS__)
#define HAS_VJP(v) SECOND(NO_VJP_##v, true, ~)

static const lz_op_info rows[LZ_OP_COUNT] = {
    [LZ_OP_NONE] = {"NONE", "none", LZ_CLASS_META, 0, LZ_ATTR_none, 0, 0, LZ_TOL_EXACT, 0, false,
                    "No operation."},
#define ROW(E, text_, cls_, arity_, attr_, dtypes_, flags_, vjp, doc_, ...)                        \
    [LZ_OP_##E] = {.enum_name = #E,                                                                \
                   .text = #text_,                                                                 \
                   .cls = LZ_CLASS_##cls_,                                                         \
                   .arity = arity_,                                                                \
                   .attr = LZ_ATTR_##attr_,                                                        \
                   .dtypes = LZ_D_##dtypes_,                                                       \
                   .flags = flags_,                                                                \
                   __VA_ARGS__,                                                                    \
                   .has_vjp = HAS_VJP(vjp),                                                        \
                   .doc = doc_},
#define LZ_EW(E, text, arity, attr, dtypes, flags, infer, vjp, eval, emit, tol, doc)               \
    ROW(E, text, EW, arity, attr, dtypes, flags, vjp, doc, tol)
#define LZ_OP(E, text, cls, arity, attr, dtypes, flags, infer, vjp, jvp, batch, eval, loops, tol,  \
              doc)                                                                                 \
    ROW(E, text, cls, arity, attr, dtypes, flags, vjp, doc, tol)
#include "ir/ops.def"
};

bool lz_op_is_step(lz_op op)
{
    lz_op_class c = lz_op_get(op)->cls;
    return c == LZ_CLASS_CONTROL || c == LZ_CLASS_CALL;
}

const lz_op_info *lz_op_get(lz_op op)
{
    return &rows[(unsigned)op < LZ_OP_COUNT ? op : LZ_OP_NONE];
}

/* A small open-addressing index of the texts would save nothing measurable: the parser looks an op
 * up once a line. */
lz_op lz_op_from_text(const char *text, size_t n)
{
    static const char dialect[] = "stablehlo.";
    if (n > sizeof dialect - 1 && memcmp(text, dialect, sizeof dialect - 1) == 0) {
        text += sizeof dialect - 1;
        n -= sizeof dialect - 1;
    }
    for (int i = 1; i < LZ_OP_COUNT; i++)
        if (strlen(rows[i].text) == n && memcmp(rows[i].text, text, n) == 0)
            return (lz_op)i;
    return LZ_OP_NONE;
}

bool lz_op_accepts(lz_op op, lz_dtype d)
{
    if ((unsigned)d >= LZ_DTYPE_COUNT || d == LZ_DTYPE_NONE)
        return false;
    switch (lz_op_get(op)->dtypes) {
    case LZ_D_NUM:
        return d != LZ_BOOL && !lz_dtype_is_storage(d);
    case LZ_D_REAL:
        return lz_dtype_is_int(d) || lz_dtype_is_float(d);
    case LZ_D_FLT:
        return lz_dtype_is_float(d);
    case LZ_D_FLC:
        return lz_dtype_is_float(d) || lz_dtype_is_complex(d);
    case LZ_D_PART:
        return lz_dtype_of_parts(d) != LZ_DTYPE_NONE;
    case LZ_D_PCX:
        return lz_dtype_of_parts(d) != LZ_DTYPE_NONE || lz_dtype_is_complex(d);
    case LZ_D_INT:
        return lz_dtype_is_int(d);
    case LZ_D_SGN:
        return lz_dtype_is_signed(d) || lz_dtype_is_float(d);
    case LZ_D_SGC:
        return lz_dtype_is_signed(d) || lz_dtype_is_float(d) || lz_dtype_is_complex(d);
    case LZ_D_BIT:
        return d == LZ_BOOL || lz_dtype_is_int(d);
    case LZ_D_PRED:
        return d == LZ_BOOL;
    case LZ_D_VAL:
        return !lz_dtype_is_storage(d);
    case LZ_D_ANY:
        return true;
    default:
        return false;
    }
}
