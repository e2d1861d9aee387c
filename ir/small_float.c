/* small_float.c - formats of floats below 32 bits, and f32 and f64 rounded to them once, to nearest
 * even. See module.h. Threads: pure. */
#include "ir/small_float.h"
#include "ir/module.h"
#include <math.h>
#include <string.h>

/* `inf`: the highest exponent is infinity and NaN, as in IEEE 754. Else only all ones is NaN, and
 * what overflows becomes that. */
typedef struct format {
    int exponent, mantissa;
    bool inf;
} format;

static const format f16_format = {5, 10, true}, bf16_format = {8, 7, true};

static format f8_format(lz_dtype d)
{
    return d == LZ_F8E5M2 ? (format){5, 2, true} : (format){4, 3, false};
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
static uint64_t rounded(uint64_t u, format f)
{
    int bias = (1 << (f.exponent - 1)) - 1, exp = (int)(u >> 52 & 2047), e = exp - 1023 + bias,
        drop = 52 - f.mantissa;
    uint64_t man = (u & 0xfffffffffffff) | (uint64_t)1 << 52;
    if (exp == 0 || e < -f.mantissa - 1)
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
    /* `kept` has its leading 1 at f.mantissa (normal) or none (denormal); a carry moves into the
     * exponent by itself */
    return ((uint64_t)(e - 1) << f.mantissa) + kept;
}

/* Only in a format with infinities a NaN has bits to keep. */
static uint16_t narrow(double v, format f)
{
    uint64_t u, top = (((uint64_t)1 << f.exponent) - 1) << f.mantissa; /* infinity's place */
    memcpy(&u, &v, sizeof u);
    uint16_t sign = (uint16_t)(u >> 63 << (f.exponent + f.mantissa));
    uint64_t nan = top | (((uint64_t)1 << f.mantissa) - 1), beyond = f.inf ? top : nan;
    if (v != v)
        return (uint16_t)(sign | (f.inf ? top | (uint64_t)1 << (f.mantissa - 1) |
                                              (u & 0xfffffffffffff) >> (52 - f.mantissa)
                                        : nan));
    uint64_t out = v - v == 0 ? rounded(u, f) : beyond;
    return (uint16_t)(sign | (out < beyond ? out : beyond));
}

/* ---- 16 bits ---- */

float lz_f16_to_f32(uint16_t h)
{
    return lz_f16_widen(h);
}

uint16_t lz_f64_to_f16(double v)
{
    return narrow(v, f16_format);
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
    return narrow(v, bf16_format);
}

uint16_t lz_f32_to_bf16(float f)
{
    return lz_bf16_round(f);
}

/* ---- 8 bits ---- */

float lz_f8_to_f32(lz_dtype d, uint8_t bits)
{
    format f = f8_format(d);
    int bias = (1 << (f.exponent - 1)) - 1, mag = bits & 0x7f, exp = mag >> f.mantissa,
        man = mag & ((1 << f.mantissa) - 1), top = (1 << f.exponent) - 1;
    uint32_t sign = (uint32_t)(bits & 0x80) << 24;
    if (f.inf ? mag > top << f.mantissa : mag == 0x7f)
        return f32_from_bits(sign | 0x7fc00000);
    if (f.inf && exp == top)
        return f32_from_bits(sign | 0x7f800000);
    float v = exp ? ldexpf((float)(man | 1 << f.mantissa), exp - bias - f.mantissa)
                  : ldexpf((float)man, 1 - bias - f.mantissa);
    return f32_from_bits(sign | f32_bits(v));
}

uint8_t lz_f64_to_f8(lz_dtype d, double v)
{
    if (v != v) /* one NaN for all, of either sign */
        v = copysign(NAN, v);
    return (uint8_t)narrow(v, f8_format(d));
}
