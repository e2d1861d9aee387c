/* plan_combine.c - loops of combiners over memory, which the C compiler vectorises. See
 * plan_collective.h. 16-bit floats are combined in f32 and rounded once, which is what one
 * rounding of the exact value gives: f32 has more than twice their digits. */
/* clang vectorises at any level. Nobody asks for the traps of comparisons, which would be branches.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math")
#endif
#include "ir/small_float.h"
#include "lower/plan/plan_collective.h"
#include <math.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

/* NaN wins, the first one's; of equal ones -0 is the smaller. */
#define FLOAT_MAX(a, b) (a != a ? a : b != b ? b : a == b ? (signbit(a) ? b : a) : a > b ? a : b)
#define FLOAT_MIN(a, b) (a != a ? a : b != b ? b : a == b ? (signbit(a) ? a : b) : a < b ? a : b)

/* Each loop twice: for any processor, and for those with AVX2 (and F16C, which they all have). */
#ifdef __x86_64__
#define AVX2 __attribute__((target("avx2,f16c")))
#else
#define AVX2
#endif
#define INLINE static inline __attribute__((always_inline))

#define TWICE(name, loop)                                                                          \
    static void name(void *to, const void *from, size_t n)                                         \
    {                                                                                              \
        loop(to, from, n);                                                                         \
    }                                                                                              \
    AVX2 static void name##_avx2(void *to, const void *from, size_t n)                             \
    {                                                                                              \
        loop(to, from, n);                                                                         \
    }

#define LOOP(name, T, formula)                                                                     \
    INLINE void name##_loop(T *x, const T *y, size_t n)                                            \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            T a = x[i], b = y[i];                                                                  \
            x[i] = (T)(formula);                                                                   \
        }                                                                                          \
    }                                                                                              \
    TWICE(name, name##_loop)

#define FLOATS(d, T)                                                                               \
    LOOP(d##_add, T, a + b)                                                                        \
    LOOP(d##_mul, T, a *b)                                                                         \
    LOOP(d##_max, T, FLOAT_MAX(a, b))                                                              \
    LOOP(d##_min, T, FLOAT_MIN(a, b))
FLOATS(f32, float)
FLOATS(f64, double)

/* ---- 16-bit floats ---- */

#define CONVERT(name, S, T, convert)                                                               \
    INLINE void name##_loop(T *x, const S *y, size_t n)                                            \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            x[i] = convert(y[i]);                                                                  \
    }
CONVERT(bf16_widen, uint16_t, float, lz_bf16_widen)
CONVERT(bf16_round, float, uint16_t, lz_bf16_round)
CONVERT(f16_widen, uint16_t, float, lz_f16_widen)
CONVERT(f16_round, float, uint16_t, lz_f16_round)
TWICE(bf16_widen, bf16_widen_loop)
TWICE(bf16_round, bf16_round_loop)

#ifdef __x86_64__
static void f16_widen(void *to, const void *from, size_t n)
{
    f16_widen_loop(to, from, n);
}

static void f16_round(void *to, const void *from, size_t n)
{
    f16_round_loop(to, from, n);
}

AVX2 static void f16_widen_avx2(void *to, const void *from, size_t n)
{
    float *x = to;
    const uint16_t *y = from;
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(x + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i_u *)(y + i))));
    f16_widen_loop(x + i, y + i, n - i);
}

AVX2 static void f16_round_avx2(void *to, const void *from, size_t n)
{
    uint16_t *x = to;
    const float *y = from;
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i_u *)(x + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(y + i), _MM_FROUND_TO_NEAREST_INT));
    f16_round_loop(x + i, y + i, n - i);
}
#else
TWICE(f16_widen, f16_widen_loop)
TWICE(f16_round, f16_round_loop)
#endif

/* Blocks that stay in the first cache. */
INLINE void combine_small(uint16_t *x, const uint16_t *y, size_t n, lz_combine_fn *widen,
                          lz_combine_fn *combine, lz_combine_fn *round)
{
    enum { EACH = 512 };
    float a[EACH], b[EACH];
    for (size_t i = 0; i < n; i += EACH) {
        size_t m = n - i < EACH ? n - i : EACH;
        widen(a, x + i, m);
        widen(b, y + i, m);
        combine(a, b, m);
        round(x + i, a, m);
    }
}
#define SMALL(d, op, f)                                                                            \
    static void d##_##op##f(void *to, const void *from, size_t n)                                  \
    {                                                                                              \
        combine_small(to, from, n, d##_widen##f, f32_##op##f, d##_round##f);                       \
    }
#define SMALL_FLOATS(d, f) SMALL(d, add, f) SMALL(d, mul, f) SMALL(d, max, f) SMALL(d, min, f)
SMALL_FLOATS(bf16, )
SMALL_FLOATS(bf16, _avx2)
SMALL_FLOATS(f16, )
SMALL_FLOATS(f16, _avx2)

/* ---- integers ---- */

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
#define FLOAT_ROW(D, d, f)                                                                         \
    {                                                                                              \
        LZ_##D, d##_add##f, d##_mul##f, d##_max##f, d##_min##f, NULL, NULL, NULL                   \
    }
#define INT_ROW(D, s, w, f)                                                                        \
    {                                                                                              \
        LZ_##D, u##w##_add##f, u##w##_mul##f, s##w##_max##f, s##w##_min##f, u##w##_and##f,         \
            u##w##_or##f, u##w##_xor##f                                                            \
    }
#define ROWS(f)                                                                                    \
    {                                                                                              \
        FLOAT_ROW(F32, f32, f), FLOAT_ROW(F64, f64, f), FLOAT_ROW(BF16, bf16, f),                  \
            FLOAT_ROW(F16, f16, f), INT_ROW(I8, i, 8, f), INT_ROW(I16, i, 16, f),                  \
            INT_ROW(I32, i, 32, f), INT_ROW(I64, i, 64, f), INT_ROW(U8, u, 8, f),                  \
            INT_ROW(U16, u, 16, f), INT_ROW(U32, u, 32, f), INT_ROW(U64, u, 64, f),                \
    }
enum { NROW = 12 };
static const combine_row rows[2][NROW] = {ROWS(), ROWS(_avx2)};

bool lz_combine_avx2(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

lz_combine_fn *lz_combine_get(lz_op op, lz_dtype d, bool avx2)
{
    const combine_row *r = rows[avx2], *end = r + NROW;
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
