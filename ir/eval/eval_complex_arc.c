/* eval_complex_arc.c - inverse trigonometric and hyperbolic functions of complex numbers, of the
 * reference evaluator. See eval_complex.h. The formulas are W. Kahan's (Branch Cuts for Complex
 * Elementary Functions, 1987): products of roots of 1 - z and 1 + z in which nothing cancels, also
 * beside the branch cuts. Special values are those of annex G of C; signs that it leaves open are
 * +. */
#include "ir/eval/eval_complex.h"
#include <math.h>

typedef long double wide;
static const wide PI = 3.141592653589793238462643383279502884L,
                  LN2 = 0.693147180559945309417232121458176568L;

static bool inf(wide x)
{
    return isinf(x) != 0;
}

static bool special(lz_cx z)
{
    return !isfinite(z.re) || !isfinite(z.im);
}

static lz_cx swapped(lz_cx z)
{
    return (lz_cx){z.im, z.re};
}

/* Beyond this 1 does not count beside z, and products of roots might overflow. */
static bool far(lz_cx z)
{
    return fabsl(z.re) > 0x1p100L || fabsl(z.im) > 0x1p100L;
}

/* log |2 z|, which is finite where z is. */
static wide log_twice(lz_cx z)
{
    return lz_cx_log(z).re + LN2;
}

static lz_cx special_asinh(lz_cx z)
{
    wide x = z.re, y = z.im;
    if (inf(x))
        return (lz_cx){x, isnan(y) ? NAN : copysignl(inf(y) ? PI / 4 : 0, y)};
    if (isnan(x))
        return inf(y) ? (lz_cx){INFINITY, NAN} : (lz_cx){NAN, y == 0 ? y : NAN};
    return inf(y) ? (lz_cx){copysignl(INFINITY, x), copysignl(PI / 2, y)} : (lz_cx){NAN, NAN};
}

lz_cx lz_cx_asin(lz_cx z)
{
    if (special(z))
        return swapped(special_asinh(swapped(z)));
    if (far(z))
        return (lz_cx){atan2l(z.re, fabsl(z.im)), copysignl(log_twice(z), z.im)};
    lz_cx s = lz_cx_sqrt((lz_cx){1 - z.re, -z.im}), t = lz_cx_sqrt((lz_cx){1 + z.re, z.im});
    return (lz_cx){atan2l(z.re, s.re * t.re - s.im * t.im), asinhl(s.re * t.im - s.im * t.re)};
}

/* i asin(-i z) */
lz_cx lz_cx_asinh(lz_cx z)
{
    return swapped(lz_cx_asin(swapped(z)));
}

static lz_cx special_acos(lz_cx z)
{
    wide x = z.re, y = z.im, away = -copysignl(INFINITY, y);
    if (inf(x) && isnan(y))
        return (lz_cx){NAN, INFINITY};
    if (inf(x) && inf(y))
        return (lz_cx){x < 0 ? 3 * PI / 4 : PI / 4, away};
    if (inf(x))
        return (lz_cx){x < 0 ? PI : 0, away};
    if (isnan(x))
        return (lz_cx){NAN, inf(y) ? away : NAN};
    return inf(y) ? (lz_cx){PI / 2, away} : (lz_cx){x == 0 ? PI / 2 : NAN, NAN};
}

lz_cx lz_cx_acos(lz_cx z)
{
    if (special(z))
        return special_acos(z);
    if (far(z))
        return (lz_cx){atan2l(fabsl(z.im), z.re), -copysignl(log_twice(z), z.im)};
    lz_cx s = lz_cx_sqrt((lz_cx){1 - z.re, -z.im}), t = lz_cx_sqrt((lz_cx){1 + z.re, z.im});
    return (lz_cx){2 * atan2l(s.re, t.re), asinhl(t.re * s.im - t.im * s.re)};
}

/* i or -i times acos, whichever has a positive real part. */
lz_cx lz_cx_acosh(lz_cx z)
{
    lz_cx w = lz_cx_acos(z);
    return (lz_cx){fabsl(w.im), isnan(z.im) ? w.re : copysignl(w.re, z.im)};
}

static lz_cx special_atanh(lz_cx z)
{
    wide x = z.re, y = z.im, quarter = copysignl(PI / 2, y);
    if (isnan(x))
        return inf(y) ? (lz_cx){0, quarter} : (lz_cx){NAN, NAN};
    if (isnan(y))
        return (lz_cx){inf(x) || x == 0 ? copysignl(0, x) : NAN, NAN};
    return (lz_cx){copysignl(0, x), quarter};
}

lz_cx lz_cx_atanh(lz_cx z)
{
    wide x = fabsl(z.re), y = z.im, off = 1 - x, re;
    if (special(z))
        return special_atanh(z);
    if (far(z)) /* 1 / z counts nothing beside a quarter turn, but where it is all there is */
        return (lz_cx){z.re / (z.re * z.re + y * y), copysignl(PI / 2, y)};
    re = log1pl(4 * x / (off * off + y * y)) / 4;
    return (lz_cx){copysignl(re, z.re), atan2l(2 * y, off * (1 + x) - y * y) / 2};
}

lz_cx lz_cx_atan(lz_cx z)
{
    return swapped(lz_cx_atanh(swapped(z)));
}

/* ---- of the same kind, by those that are there: sinh z = i sin(-i z), cosh z = cos(i z) ---- */

lz_cx lz_cx_sinh(lz_cx z)
{
    return swapped(lz_cx_sine(swapped(z)));
}

lz_cx lz_cx_cosh(lz_cx z)
{
    return lz_cx_cosine((lz_cx){-z.im, z.re});
}
