/* secular.h - the secular equation of divide and conquer
 *     f(x) = 1 + sum over j of w[j] / (p[j] - x) = 0
 * with w[j] > 0 and ascending poles p[j]: each root lies between two poles, the last one above
 * them all. The poles are numbers (eigenvalues) or the squares of numbers (singular values), whose
 * differences are products. A root is kept as its distance from the closest pole, and with it its
 * distances from all others, which is what vectors are made of; the weights for which the computed
 * roots are exact make these orthogonal (Gu and Eisenstat 1994, 1995). Roots are found as Li does
 * it (Solving secular equations stably and efficiently, 1993): by quotients that fit the sums on
 * either side with their slopes, within a bracket.
 * In f64 for all element types. */
#ifndef LZ_LINALG_CORE_SECULAR_H
#define LZ_LINALG_CORE_SECULAR_H
#include "linalg/core/rotate.h"
typedef double S __attribute__((vector_size(LA_VECTOR_BYTES), aligned(8), may_alias));
enum { SL = LA_VECTOR_BYTES / 8, SECULAR_STEPS = 200 };

/* k poles: the numbers in d, or their squares. w: the weights; sum: of them. */
typedef struct secular {
    I k;
    bool squares;
    const double *d, *w;
    double sum;
} secular;

INLINE S load_wide(const double *p)
{
    return *(const S *)(const void *)p;
}

INLINE void store_wide(double *p, S v)
{
    *(S *)(void *)p = v;
}

INLINE double sum_wide(S v)
{
    double x = 0;
    for (int i = 0; i < SL; i++)
        x += v[i];
    return x;
}

MAYBE double dot_wide(I n, const double *x, const double *y)
{
    S s[2] = {{0}, {0}};
    double rest = 0;
    I i = 0;
    for (; i + 2 * SL <= n; i += 2 * SL) {
        s[0] += load_wide(x + i) * load_wide(y + i);
        s[1] += load_wide(x + i + SL) * load_wide(y + i + SL);
    }
    for (; i < n; i++)
        rest += x[i] * y[i];
    return sum_wide(s[0] + s[1]) + rest;
}

/* Pole j less pole i. */
INLINE double apart(const secular *q, I j, I i)
{
    double less = q->d[j] - q->d[i];
    return q->squares ? less * (q->d[j] + q->d[i]) : less;
}

/* delta[j]: pole j less pole i */
MAYBE void secular_shift(const secular *q, I i, double *delta)
{
    double to = q->d[i];
    I j = 0;
    for (; j + SL <= q->k; j += SL) {
        S x = load_wide(q->d + j), less = x - to;
        if (q->squares)
            less *= x + to;
        store_wide(delta + j, less);
    }
    for (; j < q->k; j++)
        delta[j] = apart(q, j, i);
}

/* Terms from..to at x: their sum and its slope. */
MAYBE double secular_terms(I from, I to, const double *w, const double *delta, double x,
                           double *slope)
{
    S s[2] = {{0}, {0}}, t[2] = {{0}, {0}};
    I j = from;
    for (; j + 2 * SL <= to; j += 2 * SL) {
        UNROLL(2)
        for (int u = 0; u < 2; u++) {
            S one = 1 / (load_wide(delta + j + u * SL) - x), term = load_wide(w + j + u * SL) * one;
            s[u] += term;
            t[u] += term * one;
        }
    }
    double rest = 0, grade = 0;
    for (; j < to; j++) {
        double one = 1 / (delta[j] - x), term = w[j] * one;
        rest += term;
        grade += term * one;
    }
    *slope = sum_wide(t[0] + t[1]) + grade;
    return sum_wide(s[0] + s[1]) + rest;
}

/* Where  f + the sum of  a / (p - x)  over both poles is 0, from the value f of the whole at 0 and
 * the slopes of the sums on their sides: the root between the poles, or above both. */
INLINE double secular_step(double f, double low, double dlow, double high, double dhigh, bool above)
{
    double c = f - low * dlow - high * dhigh, a = (low + high) * f - low * high * (dlow + dhigh),
           b = low * high * f;
    if (above) {
        c = fabs(c);
        double root = sqrt(fabs(a * a - 4 * b * c));
        return a >= 0 ? (a + root) / (2 * c) : 2 * b / (a - root);
    }
    double root = sqrt(fabs(a * a - 4 * b * c));
    return c == 0 ? b / a : a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
}

/* The root next to the origin of  c + wi / (-x) + wj / (gap - x),  where that is the lower pole, or
 * of  c + wi / (-gap - x) + wj / (-x). */
INLINE double secular_guess(double c, double gap, double wi, double wj, bool upper)
{
    double a = upper ? c * gap - wi - wj : c * gap + wi + wj, b = upper ? -wj * gap : wi * gap;
    double root = sqrt(fabs(a * a - 4 * b * c));
    if (upper)
        return a < 0 ? -2 * b / (a - root) : (a + root) / (-2 * c);
    return a > 0 ? 2 * b / (a + root) : (a - root) / (2 * c);
}

/* What is known of a root: it is in low..high from the pole `origin`; x is the first guess. */
typedef struct bracket {
    I origin;
    double low, high, x;
} bracket;

/* Of root i, which is not the last. */
MAYBE bracket secular_between(const secular *q, I i, double *delta)
{
    secular_shift(q, i, delta);
    double gap = delta[i + 1], mid = gap / 2, dlow, dhigh, wi = q->w[i], wj = q->w[i + 1];
    double f = 1 + secular_terms(0, i + 1, q->w, delta, mid, &dlow) +
               secular_terms(i + 1, q->k, q->w, delta, mid, &dhigh);
    double c = f + (wi - wj) / mid; /* without the two */
    bracket b = {i, 0, mid, 0};
    if (f > 0) {
        b.x = secular_guess(c, gap, wi, wj, false);
    } else {
        b = (bracket){i + 1, -mid, 0, 0};
        b.x = secular_guess(c, gap, wi, wj, true);
        secular_shift(q, i + 1, delta);
    }
    return b;
}

/* Of the last root. */
MAYBE bracket secular_last(const secular *q, double *delta)
{
    I k = q->k;
    secular_shift(q, k - 1, delta);
    bracket b = {k - 1, 0, q->sum * (1 + 0x1p-45), q->w[k - 1]};
    if (k == 1)
        return b;
    double gap = -delta[k - 2], slope, wi = q->w[k - 2], wj = q->w[k - 1];
    double c = 1 + secular_terms(0, k - 2, q->w, delta, q->sum / 2, &slope), a = c * gap - wi - wj;
    double root = sqrt(fabs(a * a + 4 * c * wj * gap));
    if (c > 0)
        b.x = a > 0 ? 2 * wj * gap / (a + root) : (root - a) / (2 * c);
    return b;
}

/* Root i: how far it is above the pole `*origin`. delta: all poles less it. */
MAYBE double secular_root(const secular *q, I i, double *delta, I *origin)
{
    const double eps = sizeof(T) == 4 ? 0x1p-44 : 0x1p-53;
    bool last = i == q->k - 1;
    bracket b = last ? secular_last(q, delta) : secular_between(q, i, delta);
    I split = last && i > 0 ? i : i + 1; /* the first term above */
    double x = b.x;
    for (int step = 0; step < SECULAR_STEPS; step++) {
        if (!(x > b.low && x < b.high))
            x = b.low / 2 + b.high / 2;
        double dlow, dhigh, low = secular_terms(0, split, q->w, delta, x, &dlow),
                            high = secular_terms(split, q->k, q->w, delta, x, &dhigh);
        double f = 1 + low + high;
        double error =
            1 + (8 + (double)(q->k / 16)) * (fabs(high) + fabs(low)) + fabs(x) * (dlow + dhigh);
        if (!(fabs(f) > eps * error) || q->k == 1)
            break;
        if (f < 0)
            b.low = x;
        else
            b.high = x;
        double next = x + secular_step(f, delta[split - 1] - x, dlow,
                                       (split < q->k ? delta[split] : 0) - x, dhigh, last);
        if (!(next > b.low && next < b.high))
            next = b.low / 2 + b.high / 2;
        if (next == x || next == b.low || next == b.high)
            break;
        x = next;
    }
    for (I j = 0; j < q->k; j++)
        delta[j] -= x;
    *origin = b.origin;
    return x;
}

/* hat[j] *= (pole j less root i) / (pole j less pole i), where these are not the same; delta: of
 * root i */
MAYBE void secular_quotients(const secular *q, I i, I from, I to, const double *delta, double *hat)
{
    double at = q->d[i];
    I j = from;
    for (; j + SL <= to; j += SL) {
        S x = load_wide(q->d + j), less = x - at;
        if (q->squares)
            less *= x + at;
        store_wide(hat + j, load_wide(hat + j) * (load_wide(delta + j) / less));
    }
    for (; j < to; j++)
        hat[j] *= delta[j] / apart(q, j, i);
}

/* The magnitudes of the numbers whose squares are the weights of which the roots are exact. delta:
 * of root i at i * ld. */
MAYBE void secular_weights(const secular *q, const double *delta, I ld, double *hat)
{
    for (I j = 0; j < q->k; j++)
        hat[j] = 1;
    for (I i = 0; i < q->k; i++) {
        const double *from = delta + i * ld;
        secular_quotients(q, i, 0, i, from, hat);
        hat[i] *= from[i];
        secular_quotients(q, i, i + 1, q->k, from, hat);
    }
    for (I j = 0; j < q->k; j++)
        hat[j] = sqrt(fabs(hat[j]));
}
#endif
