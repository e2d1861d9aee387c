/* small_float.h - conversions between f32 and the 16-bit floats without branches, which loops over
 * them can be vectorised with; what module.h declares is the same. To nearest even, whatever
 * denormals are to the processor: no intermediate value is one (after Giesen, "float->half
 * variants", 2012).
 * Threads: pure. */
#ifndef LZ_IR_SMALL_FLOAT_H
#define LZ_IR_SMALL_FLOAT_H
#include <lazuli/types.h>
#include <stdint.h>

/* What the formats of all floats are made of: of ir/small_floats.def, and of IEEE 754. */
typedef enum lz_float_kind {
    LZ_FLOAT_IEEE,
    LZ_FLOAT_FN,
    LZ_FLOAT_FNUZ,
    LZ_FLOAT_FNU,
    LZ_FLOAT_FNS
} lz_float_kind;
typedef struct lz_float_format {
    int exponent, mantissa, bias;
    lz_float_kind kind;
} lz_float_format;
const lz_float_format *lz_float_format_of(lz_dtype d);

typedef union lz_f32_bits {
    float f;
    int32_t i; /* signed: vectors of it are compared in one instruction */
} lz_f32_bits;

static inline float lz_bf16_widen(uint16_t h)
{
    return ((lz_f32_bits){.i = (int32_t)((uint32_t)h << 16)}).f;
}

/* A NaN stays one, quiet. */
static inline uint16_t lz_bf16_round(float f)
{
    uint32_t u = (uint32_t)((lz_f32_bits){f}).i;
    uint32_t nan = u | 0x400000, rounded = u + 0x7fff + (u >> 16 & 1);
    return (uint16_t)((f != f ? nan : rounded) >> 16);
}

static inline float lz_f16_widen(uint16_t h)
{
    int32_t mag = (h & 0x7fff) << 13, exp = mag & 0x0f800000;
    lz_f32_bits x = {.i = mag + (112 << 23)};    /* the other bias */
    lz_f32_bits tiny = {.i = mag + (113 << 23)}; /* 2^-14 and the denormal */
    tiny.f -= 0x1p-14f;
    x.i += exp == 0x0f800000 ? 112 << 23 : 0; /* infinity, NaN */
    x.i = exp == 0 ? tiny.i : x.i;
    x.i |= (int32_t)((uint32_t)(h & 0x8000) << 16);
    return x.f;
}

/* A NaN stays one, quiet, with its upper bits. */
static inline uint16_t lz_f16_round(float f)
{
    int32_t u = ((lz_f32_bits){f}).i, mag = u & 0x7fffffff;
    lz_f32_bits tiny = {.i = mag}; /* below 2^-14: its last digit becomes that of 0.5 */
    tiny.f += 0.5f;
    int32_t r = (mag - (112 << 23) + 0xfff + (mag >> 13 & 1)) >> 13;
    r = mag < 113 << 23 ? tiny.i - (126 << 23) : r;
    r = mag >= 143 << 23 ? 0x7c00 : r;
    r = mag > 255 << 23 ? 0x7e00 | (mag >> 13 & 0x3ff) : r;
    return (uint16_t)(r | (u >> 16 & 0x8000));
}
#endif
