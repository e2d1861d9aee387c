/* special.c - see special.h. Sources: Abramowitz and Stegun 6.3, 6.4, 9.6, 9.7, 23.2 (recurrences,
 * reflection, asymptotic and Euler-Maclaurin series). */
#include "ir/eval/special.h"
#include <math.h>
#include <stdbool.h>

#define PI 3.14159265358979323846264338327950288L
enum { TERMS = 14 };

/* Bernoulli numbers B2, B4, .. */
static const long double bernoulli[TERMS] = {
    1.0L / 6,       -1.0L / 30,           1.0L / 42,       -1.0L / 30,
    5.0L / 66,      -691.0L / 2730,       7.0L / 6,        -3617.0L / 510,
    43867.0L / 798, -174611.0L / 330,     854513.0L / 138, -236364091.0L / 2730,
    8553103.0L / 6, -23749461029.0L / 870};

static bool integral(long double x)
{
    return x == floorl(x);
}

long double lz_sf_lgamma(long double x)
{
    int sign;
    return lgammal_r(x, &sign);
}

long double lz_sf_digamma(long double x)
{
    long double sum = 0;
    if (x <= 0) {
        if (x == 0) /* the pole's sides */
            return signbit(x) ? INFINITY : -INFINITY;
        if (integral(x))
            return NAN;
        long double r = x - roundl(x);
        return lz_sf_digamma(1 - x) - PI / tanl(PI * r);
    }
    for (; x < 24; x++)
        sum -= 1 / x;
    long double z = 1 / (x * x), p = 0;
    for (int k = TERMS; k > 0; k--)
        p = (p + bernoulli[k - 1] / (2 * k)) * z;
    return sum + logl(x) - 1 / (2 * x) - p;
}

/* exp(shift) q^-s of q > 0, without an overflow in between */
static long double term(long double s, long double q, long double shift)
{
    return shift == 0 ? powl(q, -s) : expl(shift - s * logl(q));
}

/* exp(shift) (a^-s - b^-s), for a and b that may be nearly equal */
static long double difference(long double s, long double a, long double b, long double shift)
{
    long double u = s * atanhl((a - b) / (a + b));
    if (!(fabsl(u) < 1))
        return term(s, a, shift) - term(s, b, shift);
    return -2 * sinhl(u) * expl(shift - s / 2 * logl(a * b));
}

/* exp(shift) zeta(s, q) */
static long double zeta(long double s, long double q, long double shift)
{
    enum { FROM = 20 };
    if (isnan(s) || isnan(q) || s < 1)
        return NAN;
    if (s == 1 || (q <= 0 && integral(q)))
        return INFINITY;
    if (q <= 0 && (!integral(s) || s > 100 || q < -10000))
        return NAN;
    if (q < 0 && integral(2 * q) && fmodl(s, 2) == 1) /* the terms between q and -q cancel */
        q = 1 - q;
    /* at least FROM positive terms: where s is large they are all that counts, and the series below
     * need not converge. The i-th positive term goes with the i-th negative one from 0 on:
     * where s is odd, they nearly cancel near half-integers. */
    long double negative = q < 0 ? -floorl(q) : 0, below = 1 - negative - q, sum = 0;
    bool odd = fmodl(s, 2) != 0;
    q += negative;
    int n = q > 1e12L ? 0 : (int)fmaxl(negative, FROM);
    for (int i = 0; i < n; i++, q++)
        sum += i >= negative ? term(s, q, shift)
               : odd         ? difference(s, q, below + i, shift)
                             : term(s, q, shift) + term(s, below + i, shift);
    /* integral, half of the first term, derivatives */
    long double first = term(s, q, shift), fact = s / q, tail = 0;
    if (first == 0 || isinf(q))
        return sum;
    for (int k = 1; k <= TERMS && s < 1000; k++) { /* beyond, this does not count, and overflows */
        long double t = bernoulli[k - 1] * fact;   /* B2k s (s+1) .. (s+2k-2) / ((2k)! q^(2k-1)) */
        tail += t / 2;
        if (fabsl(t) < fabsl(tail) * 1e-20L)
            break;
        fact *= (s + 2 * k - 1) * (s + 2 * k) / (q * q) / ((2 * k + 1) * (2 * k + 2));
    }
    return sum + first * (q / (s - 1) + 0.5L + tail);
}

long double lz_sf_zeta(long double s, long double q)
{
    return zeta(s, q, 0);
}

long double lz_sf_polygamma(long double n, long double x)
{
    if (!(n >= 0) || !integral(n) || isinf(n))
        return NAN;
    if (n == 0)
        return lz_sf_digamma(x);
    /* a factorial that is no ordinary number is part of the terms */
    long double f = lz_sf_lgamma(n + 1);
    long double v = n <= 100 ? expl(f) * zeta(n + 1, x, 0) : zeta(n + 1, x, f);
    return fmodl(n, 2) == 1 ? v : -v;
}

/* Halley's method from Winitzki's formula. erf(y) - x is taken of the complements, which do not
 * cancel. */
long double lz_sf_erf_inv(long double x)
{
    long double a = fabsl(x), c = 0.147L;
    if (!(a < 1))
        return a == 1 ? copysignl(INFINITY, x) : NAN;
    if (a < 1e-10L)
        return x * (sqrtl(PI) / 2);
    long double l = log1pl(-a * a), t = 2 / (PI * c) + l / 2, y = sqrtl(sqrtl(t * t - l / c) - t);
    for (int i = 0; i < 4; i++) {
        long double f = a < 0.5L ? erfl(y) - a : (1 - a) - erfcl(y);
        long double u = f * (sqrtl(PI) / 2) * expl(y * y);
        y -= u / (1 + y * u);
    }
    return copysignl(y, x);
}

long double lz_sf_bessel_i1e(long double x)
{
    long double a = fabsl(x), sum = 1, t = 1;
    if (isnan(x))
        return x;
    if (a <= 40) { /* x/2 sum (x^2/4)^k / (k! (k+1)!) */
        for (int k = 1; k < 400 && t > sum * 1e-22L; k++) {
            t *= a * a / 4 / ((long double)k * (k + 1));
            sum += t;
        }
        return x / 2 * sum * expl(-a);
    }
    for (int k = 1; k < 40 && fabsl(t) > 1e-22L; k++) { /* (1 - (4 - 1) / 8x + ..) / sqrt(2 pi x) */
        t *= -(4.0L - (2 * k - 1) * (2 * k - 1)) / (k * 8 * a);
        sum += t;
    }
    return copysignl(isinf(a) ? 0 : sum / sqrtl(2 * PI * a), x);
}
