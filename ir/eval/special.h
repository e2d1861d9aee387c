/* special.h - special functions that the C library has not, in long double: what the reference
 * computes and, rounded, what f64 code calls.
 * Relative error below 1e-17 but near roots, where the absolute error is. Every argument gives an
 * answer in bounded time. Threads: pure. */
#ifndef LZ_IR_EVAL_SPECIAL_H
#define LZ_IR_EVAL_SPECIAL_H

/* log |gamma(x)|, without the C library's global sign; infinite at 0, -1, -2, .. */
long double lz_sf_lgamma(long double x);
/* Derivative of log gamma; -infinity at 0, infinity at -0, NaN at -1, -2, .. */
long double lz_sf_digamma(long double x);
/* The n-th derivative of digamma for integral n >= 0; NaN for other n. */
long double lz_sf_polygamma(long double n, long double x);
/* Hurwitz: sum over k >= 0 of (k + q)^-s. s = 1: infinite; s < 1: NaN. q <= 0: infinite for
 * integral q, NaN when s is not integral or above 100, or q < -10000. */
long double lz_sf_zeta(long double s, long double q);
/* The y with erf(y) = x; infinite at -1 and 1, NaN beyond. */
long double lz_sf_erf_inv(long double x);
/* exp(-|x|) I1(x), the scaled modified Bessel function. */
long double lz_sf_bessel_i1e(long double x);
#endif
