/* nccl_mock_math.c - see nccl_mock_math.h. Integers wrap around; a maximum or minimum of a NaN and
 * a number is the number, as of the instructions of GPUs without a suffix. */
#include "test/mock/nccl_mock_math.h"
#include "backends/cuda/nccl.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

int nccl_mock_size(int type)
{
    static const int sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    return type >= 0 && type <= NCCL_BF16 ? sizes[type] : 0;
}

static float of_half(uint16_t h, int type)
{
    if (type == NCCL_BF16) {
        uint32_t bits = (uint32_t)h << 16;
        float f;
        memcpy(&f, &bits, sizeof f);
        return f;
    }
    _Float16 x;
    memcpy(&x, &h, sizeof x);
    return (float)x;
}

static uint16_t to_half(float f, int type)
{
    uint16_t h;
    if (type == NCCL_BF16) {
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        if (f != f)
            return (uint16_t)(bits >> 16 | 0x40);
        return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
    _Float16 x = (_Float16)f;
    memcpy(&h, &x, sizeof h);
    return h;
}

#define COMBINE_AS(T, add, mul, most, least)                                                       \
    for (size_t i = 0; i < count; i++) {                                                           \
        T a = ((const T *)from[n - 1])[i];                                                         \
        for (int p = n - 1; p-- > 0;) {                                                            \
            T b = ((const T *)from[p])[i];                                                         \
            a = op == NCCL_SUM    ? (T)(add)                                                       \
                : op == NCCL_PROD ? (T)(mul)                                                       \
                : op == NCCL_MAX  ? (T)(most)                                                      \
                                  : (T)(least);                                                     \
        }                                                                                          \
        ((T *)to)[i] = a;                                                                          \
    }                                                                                              \
    break
/* Sums and products of integers are those of unsigned ones. */
#define INTEGERS(T)                                                                                \
    COMBINE_AS(T, (uint64_t)a + (uint64_t)b, (uint64_t)a * (uint64_t)b, a > b ? a : b,             \
               a < b ? a : b)

static void combine_halves(uint16_t *to, const void *const *from, int n, size_t count, int type,
                           int op)
{
    for (size_t i = 0; i < count; i++) {
        float a = of_half(((const uint16_t *)from[n - 1])[i], type);
        for (int p = n - 1; p-- > 0;) {
            float b = of_half(((const uint16_t *)from[p])[i], type);
            a = op == NCCL_SUM    ? a + b
                : op == NCCL_PROD ? a * b
                : op == NCCL_MAX  ? fmaxf(a, b)
                                  : fminf(a, b);
            a = of_half(to_half(a, type), type);
        }
        to[i] = to_half(a, type);
    }
}

void nccl_mock_combine(void *to, const void *const *from, int n, size_t count, int type, int op)
{
    if (n == 1) { /* any bits */
        memcpy(to, from[0], count * (size_t)nccl_mock_size(type));
        return;
    }
    switch (type) {
    case NCCL_I8:
        INTEGERS(int8_t);
    case NCCL_U8:
        INTEGERS(uint8_t);
    case NCCL_I32:
        INTEGERS(int32_t);
    case NCCL_U32:
        INTEGERS(uint32_t);
    case NCCL_I64:
        INTEGERS(int64_t);
    case NCCL_U64:
        INTEGERS(uint64_t);
    case NCCL_F32:
        COMBINE_AS(float, a + b, a * b, fmaxf(a, b), fminf(a, b));
    case NCCL_F64:
        COMBINE_AS(double, a + b, a * b, fmax(a, b), fmin(a, b));
    default:
        combine_halves(to, from, n, count, type, op);
    }
}
