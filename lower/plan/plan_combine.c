/* plan_combine.c - loops of combiners over memory, which the C compiler vectorises. See
 * plan_collective.h. 16-bit floats are combined in f32 and rounded once, which is what one
 * rounding of the exact value gives: f32 has more than twice their digits. */
#include "ir/module.h"
#include "lower/plan/plan_collective.h"
#include <math.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* clang vectorises at any level */
#endif

/* NaN wins, the first one's; of equal ones -0 is the smaller. */
#define FLOAT_MAX(a, b) (a != a ? a : b != b ? b : a == b ? (signbit(a) ? b : a) : a > b ? a : b)
#define FLOAT_MIN(a, b) (a != a ? a : b != b ? b : a == b ? (signbit(a) ? a : b) : a < b ? a : b)

#define LOOP(name, T, formula)                                                                     \
    static void name(void *to, const void *from, size_t n)                                         \
    {                                                                                              \
        T *x = to;                                                                                 \
        const T *y = from;                                                                         \
        for (size_t i = 0; i < n; i++) {                                                           \
            T a = x[i], b = y[i];                                                                  \
            x[i] = (T)(formula);                                                                   \
        }                                                                                          \
    }
/* Stored as T, computed in f32. */
#define SMALL_LOOP(name, load, store, formula)                                                     \
    static void name(void *to, const void *from, size_t n)                                         \
    {                                                                                              \
        uint16_t *x = to;                                                                          \
        const uint16_t *y = from;                                                                  \
        for (size_t i = 0; i < n; i++) {                                                           \
            float a = load(x[i]), b = load(y[i]);                                                  \
            x[i] = store(formula);                                                                 \
        }                                                                                          \
    }

static inline float bf16_load(uint16_t h)
{
    union {
        uint32_t u;
        float f;
    } x = {(uint32_t)h << 16};
    return x.f;
}

static inline uint16_t bf16_store(float f)
{
    union {
        float f;
        uint32_t u;
    } x = {f};
    uint32_t nan = x.u >> 16 | 0x40, rounded = (x.u + 0x7fff + (x.u >> 16 & 1)) >> 16;
    return (uint16_t)(f != f ? nan : rounded);
}

#define FLOATS(d, T)                                                                               \
    LOOP(d##_add, T, a + b)                                                                        \
    LOOP(d##_mul, T, a *b)                                                                         \
    LOOP(d##_max, T, FLOAT_MAX(a, b))                                                              \
    LOOP(d##_min, T, FLOAT_MIN(a, b))
FLOATS(f32, float)
FLOATS(f64, double)

#define SMALL_FLOATS(d, load, store)                                                               \
    SMALL_LOOP(d##_add, load, store, a + b)                                                        \
    SMALL_LOOP(d##_mul, load, store, a *b)                                                         \
    SMALL_LOOP(d##_max, load, store, FLOAT_MAX(a, b))                                              \
    SMALL_LOOP(d##_min, load, store, FLOAT_MIN(a, b))
SMALL_FLOATS(bf16, bf16_load, bf16_store)
SMALL_FLOATS(f16, lz_f16_to_f32, lz_f32_to_f16)

/* Sums and products wrap, so they are those of unsigned numbers. */
#define BITS(w)                                                                                    \
    LOOP(u##w##_add, uint##w##_t, (uint64_t)a + b)                                                 \
    LOOP(u##w##_mul, uint##w##_t, (uint64_t)a *b)                                                  \
    LOOP(u##w##_and, uint##w##_t, a &b)                                                            \
    LOOP(u##w##_or, uint##w##_t, a | b)                                                            \
    LOOP(u##w##_xor, uint##w##_t, a ^ b)                                                           \
    LOOP(u##w##_max, uint##w##_t, a > b ? a : b)                                                   \
    LOOP(u##w##_min, uint##w##_t, a < b ? a : b)                                                   \
    LOOP(i##w##_max, int##w##_t, a > b ? a : b)                                                    \
    LOOP(i##w##_min, int##w##_t, a < b ? a : b)
BITS(8)
BITS(16)
BITS(32)
BITS(64)

typedef struct combine_row {
    lz_dtype dtype;
    lz_combine_fn *add, *mul, *max, *min, *and, * or, *xor;
} combine_row;
#define FLOAT_ROW(D, d)                                                                            \
    {                                                                                              \
        LZ_##D, d##_add, d##_mul, d##_max, d##_min, NULL, NULL, NULL                               \
    }
#define INT_ROW(D, s, w)                                                                           \
    {                                                                                              \
        LZ_##D, u##w##_add, u##w##_mul, s##w##_max, s##w##_min, u##w##_and, u##w##_or, u##w##_xor  \
    }
static const combine_row rows[] = {
    FLOAT_ROW(F32, f32), FLOAT_ROW(F64, f64), FLOAT_ROW(BF16, bf16), FLOAT_ROW(F16, f16),
    INT_ROW(I8, i, 8),   INT_ROW(I16, i, 16), INT_ROW(I32, i, 32),   INT_ROW(I64, i, 64),
    INT_ROW(U8, u, 8),   INT_ROW(U16, u, 16), INT_ROW(U32, u, 32),   INT_ROW(U64, u, 64),
};

lz_combine_fn *lz_combine_get(lz_op op, lz_dtype d)
{
    const combine_row *r = rows, *end = rows + sizeof rows / sizeof *rows;
    while (r < end && r->dtype != d)
        r++;
    if (r == end)
        return NULL;
    return op == LZ_OP_ADD        ? r->add
           : op == LZ_OP_MULTIPLY ? r->mul
           : op == LZ_OP_MAXIMUM  ? r->max
           : op == LZ_OP_MINIMUM  ? r->min
           : op == LZ_OP_AND      ? r->and
           : op == LZ_OP_OR       ? r->or
           : op == LZ_OP_XOR      ? r->xor
                                  : NULL;
}
