/* op.c - the table of operations, from ops.def, and lookups in it. Threads: pure functions of
 * constant tables. */
#include "ir/op.h"
#include "ir/module.h"
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
    [LZ_OP_NONE] = {"NONE", "none", LZ_CLASS_META, 0, LZ_ATTR_none, 0, 0, LZ_TOL_EXACT, 0, 0, false,
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
#define LZ_EW(E, text, arity, attr, dtypes, flags, infer, vjp, eval, emit, tol, cost_, doc)        \
    ROW(E, text, EW, arity, attr, dtypes, flags, vjp, doc, tol, .cost = cost_)
#define LZ_OP(E, text, cls, arity, attr, dtypes, flags, infer, vjp, jvp, batch, eval, loops,       \
              shard, tol, doc)                                                                     \
    ROW(E, text, cls, arity, attr, dtypes, flags, vjp, doc, tol, .cost = 1)
#include "ir/ops.def"
};

bool lz_op_is_step(lz_op op)
{
    lz_op_class c = lz_op_get(op)->cls;
    return c == LZ_CLASS_CONTROL || c == LZ_CLASS_CALL || c == LZ_CLASS_COLLECTIVE ||
           c == LZ_CLASS_FFT || c == LZ_CLASS_LINALG;
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

bool lz_op_is_scalar(lz_op op)
{
    return lz_op_get(op)->cls == LZ_CLASS_EW || op == LZ_OP_BITCAST_CONVERT;
}

bool lz_sig_is_scalar(const lz_sig *sig)
{
    return lz_op_get(sig->op)->cls == LZ_CLASS_EW ||
           (lz_op_is_scalar(sig->op) && sig->result[0]->nelem == 1 && sig->opnd[0]->nelem == 1);
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

/* ---- identities ---- */

static uint64_t extreme_bits(lz_dtype d, bool lowest)
{
    int w = lz_dtype_bits(d), stored_bits = 8 * (int)lz_dtype_size(d);
    switch (d) {
    case LZ_F16:
        return lowest ? 0xfc00 : 0x7c00;
    case LZ_BF16:
        return lowest ? 0xff80 : 0x7f80;
    case LZ_F32:
        return lowest ? 0xff800000u : 0x7f800000u;
    case LZ_F64:
        return lowest ? 0xfff0000000000000u : 0x7ff0000000000000u;
    case LZ_BOOL:
        return !lowest;
    default:
        break;
    }
    uint64_t all = w == 64 ? UINT64_MAX : (UINT64_C(1) << w) - 1;
    if (lz_dtype_is_signed(d))
        return lowest ? lz_dtype_wrap(d, UINT64_C(1) << (w - 1)) & UINT64_MAX >> (64 - stored_bits)
                      : all >> 1;
    return lowest ? 0 : all;
}

static uint64_t bits_of(lz_dtype d, double v)
{
    uint64_t bits = 0;
    lz_elem_set_f64(d, &bits, 0, v);
    return bits;
}

bool lz_identity_bits(lz_op comb, lz_dtype d, uint64_t *bits)
{
    if (lz_op_has(comb, LZ_F_ID0)) {
        *bits = lz_dtype_is_float(d) ? bits_of(d, -0.0)
                : d == LZ_C64        ? UINT64_C(0x8000000080000000)
                : d == LZ_C128       ? bits_of(LZ_F64, -0.0)
                                     : 0;
    } else if (lz_op_has(comb, LZ_F_ID1)) {
        if (d == LZ_C128) /* 1 + 0i: its parts differ */
            return false;
        *bits = bits_of(d, 1);
    } else if (!lz_dtype_is_complex(d) &&
               (lz_op_has(comb, LZ_F_IDMIN) || lz_op_has(comb, LZ_F_IDMAX))) {
        *bits = extreme_bits(d, lz_op_has(comb, LZ_F_IDMIN));
    } else if (lz_op_has(comb, LZ_F_IDONES)) {
        *bits = d == LZ_BOOL
                    ? 1
                    : extreme_bits(d, false) | (lz_dtype_is_signed(d) ? extreme_bits(d, true) : 0);
    } else {
        return false;
    }
    return true;
}
