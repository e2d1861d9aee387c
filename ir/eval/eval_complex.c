/* eval_complex.c - complex functions of the reference evaluator. See eval_complex.h. Where both
 * parts of an argument are ordinary numbers these are the textbook formulas, arranged so that
 * nothing cancels and nothing overflows that need not. Special values are those of annex G of C
 * where it has the function; its unspecified signs are positive. */
#include "ir/eval/eval_complex.h"
#include <math.h>

typedef long double wide;

lz_cx lz_ref_load_c(lz_dtype d, const void *p, int64_t i)
{
    if (d == LZ_C128) {
        const lz_c128 *w = (const lz_c128 *)p + i;
        return (lz_cx){w->re, w->im};
    }
    const lz_c64 *v = (const lz_c64 *)p + i;
    return (lz_cx){v->re, v->im};
}

void lz_ref_store_c(lz_dtype d, void *p, int64_t i, lz_cx v)
{
    if (d == LZ_C128)
        ((lz_c128 *)p)[i] = (lz_c128){(double)v.re, (double)v.im};
    else
        ((lz_c64 *)p)[i] = (lz_c64){(float)v.re, (float)v.im};
}

static bool odd(wide x) /* infinite or NaN */
{
    return !isfinite(x);
}

static bool inf(wide x)
{
    return isinf(x) != 0;
}

wide lz_cx_abs(lz_cx z)
{
    return hypotl(z.re, z.im);
}

lz_cx lz_cx_sign(lz_cx z)
{
    wide h = lz_cx_abs(z);
    return h == 0 ? z : (lz_cx){z.re / h, z.im / h};
}

/* ---- exponentials ---- */

lz_cx lz_cx_exponential(lz_cx z)
{
    wide t = expl(z.re / 2);
    wide c = odd(z.im) && inf(z.re) ? 1 : cosl(z.im);
    wide s = odd(z.im) && z.re == -INFINITY ? 1 : sinl(z.im);
    return (lz_cx){t * c * t, z.im == 0 ? z.im : t * s * t};
}

lz_cx lz_cx_expm1(lz_cx z)
{
    lz_cx e = lz_cx_exponential(z);
    if (fabsl(z.re) > 40)
        return (lz_cx){e.re - 1, e.im};
    wide h = sinl(z.im / 2);
    return (lz_cx){expm1l(z.re) * cosl(z.im) - 2 * h * h, e.im};
}

/* sinh(a) * g and cosh(a) * g, finite where the product is. */
static wide sinh_times(wide a, wide g)
{
    wide x = fabsl(a), t = expl(x / 2);
    if (x > 40)
        return copysignl(0.5L, a) * t * g * t;
    return sinhl(a) * g;
}
static wide cosh_times(wide a, wide g)
{
    wide x = fabsl(a), t = expl(x / 2);
    return x > 40 ? 0.5L * t * g * t : coshl(a) * g;
}

lz_cx lz_cx_sine(lz_cx z)
{
    wide a = z.im, b = z.re;
    wide c = odd(b) && (inf(a) || a == 0) ? 1 : cosl(b);
    return (lz_cx){b == 0 ? b : cosh_times(a, sinl(b)), sinh_times(a, c)};
}

lz_cx lz_cx_cosine(lz_cx z)
{
    wide a = z.im, b = z.re;
    wide c = odd(b) && inf(a) ? 1 : cosl(b), s = odd(b) && a == 0 ? 1 : sinl(b);
    /* 0 is 0, however large sinh a is */
    wide im = b == 0 ? copysignl(1, isnan(a) ? 1 : a) * s : sinh_times(a, s);
    return (lz_cx){cosh_times(a, c), -im};
}

/* Kahan's formula. */
lz_cx lz_cx_tanh(lz_cx z)
{
    wide x = z.re, y = z.im;
    if (fabsl(x) > 22) {
        wide s = odd(y) && inf(x) ? 1 : sinl(y), c = odd(y) && inf(x) ? 1 : cosl(y);
        wide one = odd(y) && !inf(x) ? NAN : 1;
        return (lz_cx){copysignl(one, x), y == 0 ? y : 4 * s * c * expl(-2 * fabsl(x))};
    }
    wide t = tanl(y), beta = 1 + t * t, s = sinhl(x), rho = sqrtl(1 + s * s), d = 1 + beta * s * s;
    return (lz_cx){x == 0 ? x : beta * rho * s / d, y == 0 ? y : t / d};
}

lz_cx lz_cx_tan(lz_cx z)
{
    lz_cx w = lz_cx_tanh((lz_cx){z.im, z.re});
    return (lz_cx){w.im, w.re};
}

/* 1 / (1 + e^-z) with e^-|x| for e^-z, over the square of the denominator's magnitude. */
lz_cx lz_cx_logistic(lz_cx z)
{
    wide x = z.re, y = z.im, e = expl(-fabsl(x)), m = -expm1l(-fabsl(x));
    bool far = odd(y) && inf(x);
    wide h = far ? 1 : cosl(y / 2), s = far ? 1 : sinl(y), up = 2 * h * h; /* 1 + cos y */
    wide d = m * m + 2 * e * up;
    wide re = x < 0 ? e * (up - m) : m + e * up;
    return (lz_cx){re / d, y == 0 ? y : e * s / d};
}

/* ---- logarithms, roots ---- */

lz_cx lz_cx_log(lz_cx z)
{
    wide x = fabsl(z.re), y = fabsl(z.im), re, big = x > y ? x : y, small = x > y ? y : x;
    if (big > 0.5L && big < 1.5L)
        re = log1pl((big - 1) * (big + 1) + small * small) / 2;
    else
        re = logl(hypotl(x, y));
    return (lz_cx){re, atan2l(z.im, z.re)};
}

lz_cx lz_cx_log1p(lz_cx z)
{
    wide x = z.re, y = z.im, re;
    if (fabsl(x) < 0.5L && fabsl(y) < 0.5L)
        re = log1pl(x * (x + 2) + y * y) / 2;
    else
        re = logl(hypotl(1 + x, y));
    return (lz_cx){re, atan2l(y, 1 + x)};
}

lz_cx lz_cx_sqrt(lz_cx z)
{
    if (z.re == 0 && z.im == 0)
        return (lz_cx){0, z.im};
    if (inf(z.im))
        return (lz_cx){INFINITY, z.im};
    wide t = sqrtl((fabsl(z.re) + hypotl(z.re, z.im)) / 2);
    return z.re >= 0 ? (lz_cx){t, z.im / (2 * t)}
                     : (lz_cx){fabsl(z.im) / (2 * t), copysignl(t, z.im)};
}

lz_cx lz_cx_rsqrt(lz_cx z)
{
    if (z.re == 0 && z.im == 0)
        return (lz_cx){INFINITY, NAN}; /* as 1 / 0 */
    if (inf(z.re) || inf(z.im))
        return (lz_cx){0, z.im < 0 ? 0.0L : -0.0L};
    lz_cx s = lz_cx_sqrt(z);
    wide h = hypotl(z.re, z.im);
    return (lz_cx){s.re / h, -s.im / h};
}

lz_cx lz_cx_cbrt(lz_cx z)
{
    wide r = cbrtl(hypotl(z.re, z.im)), a = atan2l(z.im, z.re) / 3;
    return (lz_cx){r * cosl(a), a == 0 ? a : r * sinl(a)};
}

/* ---- two operands ---- */

/* 1 with x's sign where x is infinite, else 0 with it. */
static wide boxed(wide x)
{
    return copysignl(inf(x) ? 1 : 0, x);
}

/* Where the formula gives NaN twice: annex G says that infinite / finite and nonzero / 0 are
 * infinite, finite / infinite is 0. */
lz_cx lz_cx_divide(lz_cx x, lz_cx y)
{
    wide a = x.re, b = x.im, c = y.re, d = y.im, den = c * c + d * d;
    lz_cx q = {(a * c + b * d) / den, (b * c - a * d) / den};
    if (!isnan(q.re) || !isnan(q.im))
        return q;
    if (den == 0)
        return (lz_cx){copysignl(INFINITY, c) * a, copysignl(INFINITY, c) * b};
    if ((inf(a) || inf(b)) && !odd(c) && !odd(d)) {
        a = boxed(a), b = boxed(b);
        return (lz_cx){INFINITY * (a * c + b * d), INFINITY * (b * c - a * d)};
    }
    if ((inf(c) || inf(d)) && !odd(a) && !odd(b)) {
        c = boxed(c), d = boxed(d);
        return (lz_cx){0 * (a * c + b * d), 0 * (b * c - a * d)};
    }
    return q;
}

lz_cx lz_cx_power(lz_cx a, lz_cx b)
{
    if (b.re == 0 && b.im == 0)
        return (lz_cx){1, 0};
    if (a.re == 0 && a.im == 0)
        return b.re > 0 ? (lz_cx){0, 0} : (lz_cx){NAN, NAN};
    lz_cx l = lz_cx_log(a);
    return lz_cx_exponential((lz_cx){b.re * l.re - b.im * l.im, b.re * l.im + b.im * l.re});
}

/* With p = x + iy, m = x - iy, r the root of p m: the result is -i log(p / r). Its real part is
 * half the angle of p / m, half a turn further where p / r is on the other side; its imaginary part
 * a quarter of log(|m|^2 / |p|^2), whose difference is 4 (re x im y - im x re y). */
lz_cx lz_cx_atan2(lz_cx y, lz_cx x)
{
    const wide pi = 3.141592653589793238462643383279502884L;
    bool nothing = x.re == 0 && x.im == 0 && y.re == 0 && y.im == 0; /* 0 / 0 */
    if (nothing || odd(x.re) || odd(x.im) || odd(y.re) || odd(y.im))
        return (lz_cx){NAN, NAN};
    lz_cx p = {x.re - y.im, x.im + y.re}, m = {x.re + y.im, x.im - y.re};
    wide x2 = x.re * x.re + y.re * y.re, y2 = x.im * x.im + y.im * y.im;
    wide at = atan2l(p.im, p.re) - atan2l(2 * (x.re * x.im + y.re * y.im), x2 - y2) / 2;
    wide pp = p.re * p.re + p.im * p.im, mm = m.re * m.re + m.im * m.im;
    wide half = atan2l(2 * (x.re * y.re + x.im * y.im),
                       (x.re * x.re + x.im * x.im) - (y.re * y.re + y.im * y.im)) /
                2;
    wide cross = 4 * (x.re * y.im - x.im * y.re);
    wide im = log1pl(fabsl(cross) / (cross < 0 ? mm : pp)) / 4;
    im = cross < 0 ? -im : cross > 0 ? im : cross;
    if (100 * (pp < mm ? pp : mm) < (pp < mm ? mm : pp)) { /* |x| and |y| are about equal */
        half = atan2l(p.im * m.re - p.re * m.im, p.re * m.re + p.im * m.im) / 2;
        im = (logl(lz_cx_abs(m)) - logl(lz_cx_abs(p))) / 2;
    }
    wide turns = fabsl(at - half) / pi; /* near 0, 1 or 2; at a pole it may be between */
    if (turns > 0.75L && turns < 1.75L)
        half += half > 0 || (half == 0 && at < 0) ? -pi : pi;
    return (lz_cx){half, im};
}

/* ---- vectors ---- */

lz_status lz_ref_complex1(const lz_ref_ew *e, lz_cx (*fn)(lz_cx))
{
    for (int64_t i = 0; i < e->n; i++)
        lz_ref_store_c(e->out, e->dst, i, fn(lz_ref_load_c(e->in[0], e->src[0], i * e->step[0])));
    return LZ_OK;
}

lz_status lz_ref_complex2(const lz_ref_ew *e, lz_cx (*fn)(lz_cx, lz_cx))
{
    for (int64_t i = 0; i < e->n; i++)
        lz_ref_store_c(e->out, e->dst, i,
                       fn(lz_ref_load_c(e->in[0], e->src[0], i * e->step[0]),
                          lz_ref_load_c(e->in[1], e->src[1], i * e->step[1])));
    return LZ_OK;
}
