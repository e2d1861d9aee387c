/* small_float.c - formats of floats below 32 bits, and f32 and f64 rounded to them once, to nearest
 * even. See module.h. Threads: pure. */
#include "ir/small_float.h"
#include "ir/module.h"
#include <math.h>
#include <string.h>

#define SMALL_FLOAT(NAME, exponent, mantissa, bias, kind)                                          \
    [LZ_##NAME] = {exponent, mantissa, bias, LZ_FLOAT_##kind},
static const lz_float_format formats[LZ_DTYPE_COUNT] = {
    [LZ_F64] = {11, 52, 1023, LZ_FLOAT_IEEE},
    [LZ_F32] = {8, 23, 127, LZ_FLOAT_IEEE},
    [LZ_F16] = {5, 10, 15, LZ_FLOAT_IEEE},
    [LZ_BF16] = {8, 7, 127, LZ_FLOAT_IEEE},
#include "ir/small_floats.def"
};

const lz_float_format *lz_float_format_of(lz_dtype d)
{
    return &formats[d];
}

static float f32_from_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static uint32_t f32_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

/* The magnitude as if there were neither infinity nor NaN: its bits, maybe beyond the highest of
 * the format. u: a finite double. */
static uint64_t rounded(uint64_t u, const lz_float_format *f)
{
    int exp = (int)(u >> 52 & 2047), e = exp - 1023 + f->bias, drop = 52 - f->mantissa;
    uint64_t man = (u & 0xfffffffffffff) | (uint64_t)1 << 52;
    if (exp == 0 || e < -f->mantissa - 1)
        return 0; /* below half the smallest denormal */
    if (e <= 0) { /* denormal: the exponent field is 0 and the leading 1 moves into the mantissa */
        drop += 1 - e;
        e = 1;
    }
    if (drop > 63)
        return 0;
    uint64_t kept = man >> drop, rest = man & (((uint64_t)1 << drop) - 1),
             half = (uint64_t)1 << (drop - 1);
    kept += rest > half || (rest == half && (kept & 1));
    /* `kept` has its leading 1 at f->mantissa (normal) or none (denormal); a carry moves into the
     * exponent by itself */
    return ((uint64_t)(e - 1) << f->mantissa) + kept;
}

/* A power of two: code 0 is no zero but 2^-bias, so codes are one less than with the next bias. */
static uint16_t narrow_power(double v, uint64_t u)
{
    static const lz_float_format next = {8, 0, 128, LZ_FLOAT_FNU};
    uint64_t code = v > 0 && v - v == 0 ? rounded(u, &next) : 256;
    return (uint16_t)(code > 255 ? 255 : code ? code - 1 : 0);
}

/* The first magnitude that is no number, or one too many. */
static uint64_t first_beyond(const lz_float_format *f)
{
    uint64_t codes = (uint64_t)1 << (f->exponent + f->mantissa);
    switch (f->kind) {
    case LZ_FLOAT_IEEE:
        return codes - ((uint64_t)1 << f->mantissa);
    case LZ_FLOAT_FN:
        return codes - 1;
    default:
        return codes;
    }
}

/* Only in a format with infinities a NaN has bits to keep. */
static uint16_t narrow(double v, const lz_float_format *f)
{
    uint64_t u, beyond = first_beyond(f), all = (uint64_t)1 << (f->exponent + f->mantissa);
    memcpy(&u, &v, sizeof u);
    if (f->kind == LZ_FLOAT_FNU)
        return narrow_power(v, u);
    uint16_t sign = (uint16_t)((u >> 63) * all);
    uint64_t out = v - v == 0 ? rounded(u, f) : beyond;
    bool over = out >= beyond;
    switch (f->kind) {
    case LZ_FLOAT_IEEE:
        if (v != v)
            return (uint16_t)(sign | beyond | (uint64_t)1 << (f->mantissa - 1) |
                              (u & 0xfffffffffffff) >> (52 - f->mantissa));
        return (uint16_t)(sign | (over ? beyond : out));
    case LZ_FLOAT_FN:
        return (uint16_t)(sign | (over ? all - 1 : out));
    case LZ_FLOAT_FNUZ:
        return (uint16_t)(over ? all : out ? sign | out : 0);
    default:
        return (uint16_t)(v != v ? sign ^ all : sign | (over ? all - 1 : out));
    }
}

/* ---- 16 bits ---- */

float lz_f16_to_f32(uint16_t h)
{
    return lz_f16_widen(h);
}

uint16_t lz_f64_to_f16(double v)
{
    return narrow(v, &formats[LZ_F16]);
}

uint16_t lz_f32_to_f16(float f)
{
    return lz_f16_round(f);
}

float lz_bf16_to_f32(uint16_t h)
{
    return lz_bf16_widen(h);
}

uint16_t lz_f64_to_bf16(double v)
{
    return narrow(v, &formats[LZ_BF16]);
}

uint16_t lz_f32_to_bf16(float f)
{
    return lz_bf16_round(f);
}

/* ---- 8 bits and fewer ---- */

float lz_f8_to_f32(lz_dtype d, uint8_t bits)
{
    const lz_float_format *f = &formats[d];
    uint32_t all = 1u << (f->exponent + f->mantissa), mag = bits & (all - 1),
             sign = bits & all ? 0x80000000u : 0;
    int exp = (int)(mag >> f->mantissa), man = (int)(mag & ((1u << f->mantissa) - 1));
    bool nan = f->kind == LZ_FLOAT_IEEE   ? mag > first_beyond(f)
               : f->kind == LZ_FLOAT_FNUZ ? bits == all
                                          : f->kind != LZ_FLOAT_FNS && mag == all - 1;
    if (f->kind == LZ_FLOAT_FNU)
        return nan ? f32_from_bits(0x7fc00000) : ldexpf(1, (int)mag - f->bias);
    if (nan)
        return f32_from_bits((f->kind == LZ_FLOAT_FNUZ ? 0 : sign) | 0x7fc00000);
    if (f->kind == LZ_FLOAT_IEEE && mag == first_beyond(f))
        return f32_from_bits(sign | 0x7f800000);
    float v = exp ? ldexpf((float)(man | 1 << f->mantissa), exp - f->bias - f->mantissa)
                  : ldexpf((float)man, 1 - f->bias - f->mantissa);
    return f32_from_bits(sign | f32_bits(v));
}

uint8_t lz_f64_to_f8(lz_dtype d, double v)
{
    if (v != v) /* one NaN for all, of either sign */
        v = copysign(NAN, v);
    return (uint8_t)narrow(v, &formats[d]);
}
