/* op.h - operations, types, attributes and signatures: the interned vocabulary of the tensor IR.
 * Types, attribute records, regions and signatures are interned for the life of the process, so
 * pointer equality is value equality, and trace nodes and compiler modules share them. Threads:
 * everything here is thread-safe.
 * Hashes here depend on content only: equal in every process. */
#ifndef LZ_IR_OP_H
#define LZ_IR_OP_H
#include "base/hash.h"
#include "base/vec.h"
#include <lazuli/types.h>

typedef enum lz_op {
    LZ_OP_NONE = 0,
#define LZ_EW(E, ...) LZ_OP_##E,
#define LZ_OP(E, ...) LZ_OP_##E,
#include "ir/ops.def"
    LZ_OP_COUNT
} lz_op;

typedef enum lz_op_class {
    LZ_CLASS_EW,
    LZ_CLASS_LEAF,
    LZ_CLASS_MOVE,
    LZ_CLASS_INDEX,
    LZ_CLASS_REDUCE,
    LZ_CLASS_DOT,
    LZ_CLASS_RNG,
    LZ_CLASS_META,
    LZ_CLASS_SORT,
    LZ_CLASS_CONTROL,
    LZ_CLASS_WINDOW,
    LZ_CLASS_FFT,
    LZ_CLASS_LINALG,
    LZ_CLASS_CALL,
    LZ_CLASS_COLLECTIVE
} lz_op_class;
enum {
    LZ_F_PURE = 1 << 0,
    LZ_F_COMM = 1 << 1,
    LZ_F_ASSOC = 1 << 2,
    LZ_F_IDEM = 1 << 3,
    LZ_F_ID0 = 1 << 4,
    LZ_F_ID1 = 1 << 5,
    LZ_F_IDMIN = 1 << 6,
    LZ_F_IDMAX = 1 << 7,
    LZ_F_IDONES = 1 << 8,
    LZ_F_INVOL = 1 << 9,
    LZ_F_RELABEL = 1 << 10,
    LZ_F_MULTI = 1 << 11,
    LZ_F_CHEAP = 1 << 12,
    LZ_F_COSTLY = 1 << 13,
    /* of signatures, in no row: something happens when it runs, so it runs, once and in its
     * order */
    LZ_F_EFFECT = 1 << 14,
    LZ_F_ALIAS = 1 << 15
};
enum {
    LZ_D_NUM = 1,
    LZ_D_REAL,
    LZ_D_FLT,
    LZ_D_FLC,
    LZ_D_PART,
    LZ_D_PCX,
    LZ_D_INT,
    LZ_D_SGN,
    LZ_D_SGC,
    LZ_D_BIT,
    LZ_D_PRED,
    LZ_D_VAL,
    LZ_D_ANY
};
enum { LZ_ARITY_VAR = -1 };
typedef enum lz_tol_kind { LZ_TOL_EXACT, LZ_TOL_ULP, LZ_TOL_SUM } lz_tol_kind;

typedef enum lz_attr_kind {
#define ATTR(kind, fields) LZ_ATTR_##kind,
#include "ir/attrs.def"
    LZ_ATTR_COUNT
} lz_attr_kind;

typedef struct lz_op_info {
    const char *enum_name; /* "ADD" */
    const char *text;      /* "add", "chlo.erf" */
    lz_op_class cls;
    int arity; /* LZ_ARITY_VAR: any */
    lz_attr_kind attr;
    int dtypes; /* LZ_D_* */
    uint32_t flags;
    lz_tol_kind tol;
    int ulp;
    int cost;     /* operations of an element, about: elementwise rows; 1 of others */
    bool has_vjp; /* false: vjp column is zero or none */
    const char *doc;
} lz_op_info;
/* never NULL; the NONE row for a value out of range */
const lz_op_info *lz_op_get(lz_op op);
/* "add" or "stablehlo.add"; LZ_OP_NONE when unknown */
lz_op lz_op_from_text(const char *text, size_t n);
/* A step of its own on whole arrays in memory, in no kernel. */
bool lz_op_is_step(lz_op op);
bool lz_op_accepts(lz_op op, lz_dtype d); /* the dtypes column */
/* What may be done to single elements: the elementwise rows and the bit cast; lz_sig_is_scalar
 * knows whether this one keeps the width. */
bool lz_op_is_scalar(lz_op op);
static inline bool lz_op_has(lz_op op, uint32_t flag)
{
    return (lz_op_get(op)->flags & flag) != 0;
}

/* ---- dtypes ---- */
bool lz_dtype_is_float(lz_dtype d); /* that computes */
/* a float that is only stored: in registers it is its bits, and only convert reads them */
bool lz_dtype_is_storage(lz_dtype d);
bool lz_dtype_is_complex(lz_dtype d);
/* of the parts of a complex number; d itself when it is not complex */
lz_dtype lz_dtype_part(lz_dtype d);
/* the complex dtype with parts of d; LZ_DTYPE_NONE when there is none */
lz_dtype lz_dtype_of_parts(lz_dtype d);
/* what sums and products of d are accumulated in: f32 for f16 and bf16, d itself otherwise */
lz_dtype lz_acc_dtype(lz_dtype d);
bool lz_dtype_is_int(lz_dtype d);    /* signed or unsigned, not boolean */
bool lz_dtype_is_signed(lz_dtype d); /* signed integers */
bool lz_dtype_is_unsigned(lz_dtype d);
/* of a number: fewer than its bytes have where it is an integer of 2 or 4 bits, 1 of a boolean */
int lz_dtype_bits(lz_dtype d);
/* an integer of fewer bits than a byte */
bool lz_dtype_is_narrow(lz_dtype d);
/* What the lowest bits of v are as a number of the integer dtype d. */
uint64_t lz_dtype_wrap(lz_dtype d, uint64_t v);
const char *lz_dtype_mlir(lz_dtype d); /* "ui8", "i1" */
lz_dtype lz_dtype_from_mlir(const char *s, size_t n);

/* Bits of the exact identity of a combiner: -0 for float sums, both parts of complex128 alike.
 * False: it has none, or the parts of complex128 differ. */
bool lz_identity_bits(lz_op comb, lz_dtype d, uint64_t *bits);

/* ---- types: interned dtype + shape ---- */
typedef struct lz_type {
    lz_dtype dtype;
    lz_shape shape;
    int64_t nelem; /* product of the extents */
    size_t nbytes;
    lz_hash hash;
} lz_type;
/* The interned type. NULL with LZ_ESHAPE / LZ_ERANGE (bad rank, negative extent, overflow) or
 * LZ_EMEM recorded. */
const lz_type *lz_type_get(lz_dtype d, const lz_shape *s);
void lz_type_print(lz_buf *b, const lz_type *t); /* tensor<2x3xf32> */
/* f32[2,3], XLA's way; for messages */
const char *lz_type_short(const lz_type *t, char *buf, size_t n);
bool lz_shape_eq(const lz_shape *a, const lz_shape *b);

/* ---- attributes ---- */
typedef struct lz_ints {
    int32_t n;
    int64_t v[LZ_MAX_RANK];
} lz_ints;
lz_ints lz_ints_make(int n, const int64_t *v); /* n <= LZ_MAX_RANK */
bool lz_ints_has(const lz_ints *s, int64_t v);

struct lz_func;
typedef enum lz_comparison_direction {
    LZ_CMP_EQ,
    LZ_CMP_NE,
    LZ_CMP_GE,
    LZ_CMP_GT,
    LZ_CMP_LE,
    LZ_CMP_LT
} lz_comparison_direction;
typedef enum lz_compare_type {
    LZ_CT_NOTYPE,
    LZ_CT_FLOAT,
    LZ_CT_TOTALORDER,
    LZ_CT_SIGNED,
    LZ_CT_UNSIGNED
} lz_compare_type;
typedef enum lz_precision {
    LZ_PRECISION_DEFAULT,
    LZ_PRECISION_HIGH,
    LZ_PRECISION_HIGHEST
} lz_precision;
typedef enum lz_fft_type { LZ_FFT, LZ_IFFT, LZ_RFFT, LZ_IRFFT } lz_fft_type;
typedef enum lz_transpose { LZ_NO_TRANSPOSE, LZ_TRANSPOSE, LZ_ADJOINT } lz_transpose;
typedef enum lz_rng_algorithm { LZ_RNG_DEFAULT, LZ_RNG_THREE_FRY, LZ_RNG_PHILOX } lz_rng_algorithm;

/* Every record starts with its kind: struct lz_attr_dot { lz_attr_kind kind; lz_ints
 * lhs_batching_dimensions; ... }.
 * Records to be interned must be zero-initialised first (padding and unused ints are 0). */
typedef struct lz_attr {
    lz_attr_kind kind;
} lz_attr;
#define I64(f) int64_t f;
#define BOOL(f) bool f;
#define INTS(f) lz_ints f;
#define SHAPE(f) lz_shape f;
#define DTYPE(f) lz_dtype f;
#define ENUM(f, E) int32_t f;
#define REGION(f) const struct lz_func *f;
#define STR(f) const char *f;
#define ATTR(kind_, fields)                                                                        \
    typedef struct lz_attr_##kind_ {                                                               \
        lz_attr_kind kind;                                                                         \
        fields                                                                                     \
    } lz_attr_##kind_;
#include "ir/attrs.def"
/* The interned copy of a record (NULL only with LZ_EMEM recorded). REGION fields must be interned
 * functions. */
const lz_attr *lz_attr_get(const lz_attr *record);
lz_hash lz_attr_hash(const lz_attr *a);
/* The one copy of n characters without a 0 among them; NULL with LZ_EMEM. For STR fields. */
const char *lz_string_get(const char *s, size_t n);
#define LZ_ATTR(kind_, a) ((const lz_attr_##kind_ *)(const void *)(a))

/* ---- signatures: op + attribute + operand types -> result types, shape-checked once and
 * remembered ---- */
typedef struct lz_sig {
    lz_op op;
    uint32_t nopnd, nresult;
    uint32_t flags; /* the op's; EFFECT instead of PURE where the attribute says so */
    uint32_t id;    /* dense, of this process */
    const lz_attr *attr;
    const lz_type *const *opnd;   /* operand types */
    const lz_type *const *result; /* result types; result[0] is the type of the value */
    lz_hash hash;                 /* of the content: op text, attribute, operand types */
} lz_sig;
/* Looks up or makes the signature: the op's shape rule runs the first time only. ~10 ns when known.
 * Errors (NULL, recorded with op, shapes, values): LZ_ESHAPE, LZ_EDTYPE, LZ_EINVAL, LZ_ERANGE,
 * LZ_EMEM. */
const lz_sig *lz_sig_get(lz_op op, const lz_attr *attr, const lz_type *const *opnd, uint32_t nopnd);
/* The signature of `result` number `index` of an op with signature `multi` (the type of that result
 * is part of the attribute; lz_build fills it in by itself). NULL: LZ_ERANGE, LZ_EMEM. */
const lz_sig *lz_sig_result(const lz_sig *multi, int64_t index);
/* Whether it is done to single elements, so that it may be done to arrays instead: an elementwise
 * op, or a bit cast of one element to one, which then has its width. */
bool lz_sig_is_scalar(const lz_sig *sig);
#endif
