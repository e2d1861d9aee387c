/* plan_combine.c - loops of combiners over memory, which the C compiler vectorises. See
 * plan_collective.h. None has a branch: what decides is a mask, so the speed does not depend on the
 * data. Sums and products of 16-bit floats are made in f32 and rounded once, which is what one
 * rounding of the exact value gives: f32 has more than twice their digits. The larger of two is one
 * of them and is found by their bits. */
/* clang vectorises at any level. Nobody asks for the traps of comparisons, which would be branches.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math")
#endif
#include "lower/plan/plan_collective.h"
#include "base/host_isa.h"
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

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

/* A loop over vectors of so many bytes, which the body makes r of a and b of; what is left goes
 * through a vector, too. */
#define VECTOR_LOOP(name, S, V, M, bytes, ...)                                                     \
    INLINE void name##_step##bytes(S *x, const S *y)                                               \
    {                                                                                              \
        typedef V vec __attribute__((vector_size(bytes)));                                         \
        typedef M bits __attribute__((vector_size(bytes)));                                        \
        typedef float floats __attribute__((vector_size(bytes), unused));                          \
        vec a, b;                                                                                  \
        bits r;                                                                                    \
        memcpy(&a, x, bytes);                                                                      \
        memcpy(&b, y, bytes);                                                                      \
        __VA_ARGS__ memcpy(x, &r, bytes);                                                          \
    }                                                                                              \
    INLINE void name##_loop##bytes(S *x, const S *y, size_t n)                                     \
    {                                                                                              \
        enum { LANES = bytes / sizeof(S) };                                                        \
        S p[LANES] = {0}, q[LANES] = {0};                                                          \
        size_t rest = n % LANES, end = n - rest;                                                   \
        for (size_t i = 0; i < end; i += LANES)                                                    \
            name##_step##bytes(x + i, y + i);                                                      \
        memcpy(p, x + end, rest * sizeof(S));                                                      \
        memcpy(q, y + end, rest * sizeof(S));                                                      \
        name##_step##bytes(p, q);                                                                  \
        memcpy(x + end, p, rest * sizeof(S));                                                      \
    }
#define VECTORS_ANY(name, S, V, M, ...)                                                            \
    VECTOR_LOOP(name, S, V, M, 16, __VA_ARGS__)                                                    \
    static void name(void *to, const void *from, size_t n)                                         \
    {                                                                                              \
        name##_loop16(to, from, n);                                                                \
    }
#define VECTORS(name, S, V, M, ...)                                                                \
    VECTORS_ANY(name, S, V, M, __VA_ARGS__)                                                        \
    VECTOR_LOOP(name, S, V, M, 32, __VA_ARGS__)                                                    \
    AVX2 static void name##_avx2(void *to, const void *from, size_t n)                             \
    {                                                                                              \
        name##_loop32(to, from, n);                                                                \
    }
#define CHOOSE(mask, x, y) (((mask) & (x)) | (~(mask) & (y)))

/* The larger (less: <, the smaller): NaN wins, the first one's; equal ones differ in the sign of
 * zero only, of which -0 is the smaller, so both of their bits (or either) are the result's. */
#define EXTREMUM(beats, both)                                                                      \
    bits first = (a beats b) | (a != a), equal = a == b;                                           \
    r = CHOOSE(equal, (bits)a both(bits) b, CHOOSE(first, (bits)a, (bits)b));

#define FLOATS(d, T, I)                                                                            \
    LOOP(d##_add, T, a + b)                                                                        \
    LOOP(d##_mul, T, a *b)                                                                         \
    VECTORS(d##_max, T, T, I, EXTREMUM(>, &))                                                      \
    VECTORS(d##_min, T, T, I, EXTREMUM(<, |))
FLOATS(f32, float, int32_t)
FLOATS(f64, double, int64_t)

/* ---- 16-bit floats ---- */

/* Their order is that of sign and magnitude made a two's complement, in which -0 < +0. A NaN
 * becomes quiet, as a rounded one is. */
#define EXTREMUM_16(beats, infinity, quiet)                                                        \
    bits a_nan = (a & 0x7fff) > infinity, b_nan = (b & 0x7fff) > infinity,                         \
         p = a ^ ((a >> 15) & 0x7fff), q = b ^ ((b >> 15) & 0x7fff),                               \
         first = a_nan | ((p beats q) & ~b_nan);                                                   \
    r = CHOOSE(first, a, b) | ((a_nan | b_nan) & quiet);

/* Two at a time in the halves of 32 bits, so that nothing moves between lanes. As small_float.h
 * converts. */
#define BF16_ROUND(f, u) CHOOSE((bits)(f != f), u | 0x400000, u + 0x7fff + ((u >> 16) & 1))
#define BF16(sign)                                                                                 \
    floats hi = (floats)(a & 0xffff0000) sign(floats)(b & 0xffff0000),                             \
           lo = (floats)(a << 16) sign(floats)(b << 16);                                           \
    r = (BF16_ROUND(hi, (bits)hi) & 0xffff0000) | (BF16_ROUND(lo, (bits)lo) >> 16);

#define F16_WIDEN(f, h)                                                                            \
    {                                                                                              \
        bits mag = ((h)&0x7fff) << 13, exp = mag & 0x0f800000,                                     \
             tiny = (bits)((floats)(mag + (113 << 23)) - 0x1p-14f),                                \
             wide = mag + (112 << 23) + ((bits)(exp == 0x0f800000) & (112 << 23));                 \
        f = (floats)(CHOOSE((bits)(exp == 0), tiny, wide) | (((h)&0x8000) << 16));                 \
    }
#define F16_ROUND(h, f)                                                                            \
    {                                                                                              \
        signs u = (signs)(f), mag = u & 0x7fffffff,                                                \
              tiny = (signs)((floats)mag + 0.5f) - (126 << 23),                                    \
              s = (mag - (112 << 23) + 0xfff + ((mag >> 13) & 1)) >> 13;                           \
        s = CHOOSE(mag < 113 << 23, tiny, s);                                                      \
        s = CHOOSE(mag >= 143 << 23, 0x7c00, s);                                                   \
        s = CHOOSE(mag > 255 << 23, 0x7e00 | ((mag >> 13) & 0x3ff), s);                            \
        h = (bits)(s | ((u >> 16) & 0x8000));                                                      \
    }
#define F16(sign)                                                                                  \
    typedef int32_t signs __attribute__((vector_size(sizeof(bits))));                              \
    floats f, g;                                                                                   \
    F16_WIDEN(f, a >> 16)                                                                          \
    F16_WIDEN(g, b >> 16)                                                                          \
    f = f sign g;                                                                                  \
    F16_ROUND(r, f)                                                                                \
    F16_WIDEN(f, a & 0xffff)                                                                       \
    F16_WIDEN(g, b & 0xffff)                                                                       \
    f = f sign g;                                                                                  \
    F16_ROUND(a, f)                                                                                \
    r = (r << 16) | a;

#define SMALL_FLOATS(d, infinity, quiet)                                                           \
    VECTORS(d##_max, uint16_t, int16_t, int16_t, EXTREMUM_16(>, infinity, quiet))                  \
    VECTORS(d##_min, uint16_t, int16_t, int16_t, EXTREMUM_16(<, infinity, quiet))
SMALL_FLOATS(bf16, 0x7f80, 0x40)
SMALL_FLOATS(f16, 0x7c00, 0x200)
VECTORS(bf16_add, uint16_t, uint32_t, uint32_t, BF16(+))
VECTORS(bf16_mul, uint16_t, uint32_t, uint32_t, BF16(*))

#ifdef __x86_64__
VECTORS_ANY(f16_add, uint16_t, uint32_t, uint32_t, F16(+))
VECTORS_ANY(f16_mul, uint16_t, uint32_t, uint32_t, F16(*))

#define F16C(op, vector_op)                                                                        \
    AVX2 INLINE void f16_##op##_step(uint16_t *x, const uint16_t *y)                               \
    {                                                                                              \
        __m256 a = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i_u *)x)),                         \
               b = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i_u *)y));                         \
        _mm_storeu_si128((__m128i_u *)x,                                                           \
                         _mm256_cvtps_ph(vector_op(a, b), _MM_FROUND_TO_NEAREST_INT));             \
    }                                                                                              \
    AVX2 static void f16_##op##_avx2(void *to, const void *from, size_t n)                         \
    {                                                                                              \
        uint16_t *x = to, p[8] = {0}, q[8] = {0};                                                  \
        const uint16_t *y = from;                                                                  \
        size_t rest = n % 8, end = n - rest;                                                       \
        for (size_t i = 0; i < end; i += 8)                                                        \
            f16_##op##_step(x + i, y + i);                                                         \
        memcpy(p, x + end, rest * sizeof *p);                                                      \
        memcpy(q, y + end, rest * sizeof *q);                                                      \
        f16_##op##_step(p, q);                                                                     \
        memcpy(x + end, p, rest * sizeof *p);                                                      \
    }
F16C(add, _mm256_add_ps)
F16C(mul, _mm256_mul_ps)
#else
VECTORS(f16_add, uint16_t, uint32_t, uint32_t, F16(+))
VECTORS(f16_mul, uint16_t, uint32_t, uint32_t, F16(*))
#endif

/* ---- complex numbers ---- */

/* Of f32 in f64, where products are exact; of f64 in the reference's long double. */
#define COMPLEX(d, T, W)                                                                           \
    INLINE void d##_add_loop(T *x, const T *y, size_t n)                                           \
    {                                                                                              \
        for (size_t i = 0; i < 2 * n; i++)                                                         \
            x[i] = (T)((W)x[i] + (W)y[i]);                                                         \
    }                                                                                              \
    INLINE void d##_mul_loop(T *x, const T *y, size_t n)                                           \
    {                                                                                              \
        for (size_t i = 0; i < 2 * n; i += 2) {                                                    \
            double rr = (double)((W)x[i] * (W)y[i]), ii = (double)((W)x[i + 1] * (W)y[i + 1]),     \
                   ri = (double)((W)x[i] * (W)y[i + 1]), ir = (double)((W)x[i + 1] * (W)y[i]);     \
            x[i] = (T)(rr - ii);                                                                   \
            x[i + 1] = (T)(ri + ir);                                                               \
        }                                                                                          \
    }                                                                                              \
    TWICE(d##_add, d##_add_loop)                                                                   \
    TWICE(d##_mul, d##_mul_loop)
COMPLEX(c64, float, double)
COMPLEX(c128, double, long double)

/* ---- integers ---- */

/* Sums and products wrap, so they are those of unsigned numbers. */
#define BITS(w, wide)                                                                              \
    LOOP(u##w##_add, uint##w##_t, (wide)a + b)                                                     \
    LOOP(u##w##_mul, uint##w##_t, (wide)a *b)                                                      \
    LOOP(u##w##_and, uint##w##_t, a &b)                                                            \
    LOOP(u##w##_or, uint##w##_t, a | b)                                                            \
    LOOP(u##w##_xor, uint##w##_t, a ^ b)                                                           \
    LOOP(u##w##_max, uint##w##_t, a > b ? a : b)                                                   \
    LOOP(u##w##_min, uint##w##_t, a < b ? a : b)                                                   \
    LOOP(i##w##_max, int##w##_t, a > b ? a : b)                                                    \
    LOOP(i##w##_min, int##w##_t, a < b ? a : b)
BITS(8, uint32_t)
BITS(16, uint32_t)
BITS(32, uint32_t)
BITS(64, uint64_t)

/* Of a byte's lower bits, which the others repeat (i) or are 0 (u). */
#define NARROW(w)                                                                                  \
    LOOP(i##w##_add, int8_t, (int8_t)((uint32_t)(a + b) << (8 - w)) >> (8 - w))                    \
    LOOP(i##w##_mul, int8_t, (int8_t)((uint32_t)(a * b) << (8 - w)) >> (8 - w))                    \
    LOOP(u##w##_add, uint8_t, (a + b) & ((1 << w) - 1))                                            \
    LOOP(u##w##_mul, uint8_t, (a * b) & ((1 << w) - 1))
NARROW(2)
NARROW(4)

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
/* Either is 0 or 1. */
#define BOOL_ROW(f)                                                                                \
    {                                                                                              \
        LZ_BOOL, u8_or##f, u8_and##f, u8_or##f, u8_and##f, u8_and##f, u8_or##f, u8_xor##f          \
    }
#define COMPLEX_ROW(D, d, f)                                                                       \
    {                                                                                              \
        LZ_##D, d##_add##f, d##_mul##f, NULL, NULL, NULL, NULL, NULL                               \
    }
#define NARROW_ROW(D, d, s, f)                                                                     \
    {                                                                                              \
        LZ_##D, d##_add##f, d##_mul##f, s##8_max##f, s##8_min##f, u8_and##f, u8_or##f, u8_xor##f   \
    }
#define ROWS(f)                                                                                    \
    {                                                                                              \
        FLOAT_ROW(F32, f32, f), FLOAT_ROW(F64, f64, f), FLOAT_ROW(BF16, bf16, f),                  \
            FLOAT_ROW(F16, f16, f), INT_ROW(I8, i, 8, f), INT_ROW(I16, i, 16, f),                  \
            INT_ROW(I32, i, 32, f), INT_ROW(I64, i, 64, f), INT_ROW(U8, u, 8, f),                  \
            INT_ROW(U16, u, 16, f), INT_ROW(U32, u, 32, f), INT_ROW(U64, u, 64, f), BOOL_ROW(f),   \
            COMPLEX_ROW(C64, c64, f), COMPLEX_ROW(C128, c128, f), NARROW_ROW(I2, i2, i, f),        \
            NARROW_ROW(I4, i4, i, f), NARROW_ROW(U2, u2, u, f), NARROW_ROW(U4, u4, u, f),          \
    }
enum { NROW = 19 };
static const combine_row rows[2][NROW] = {ROWS(), ROWS(_avx2)};

bool lz_combine_avx2(void)
{
    return lz_host_isa() > 0;
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
