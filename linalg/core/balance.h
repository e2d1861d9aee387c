/* balance.h - permutes a general matrix to isolate eigenvalues, and scales its rows and columns by
 * powers of two to like norms (Parlett and Reinsch 1969; James, Langou and Lowery, On matrix
 * balancing and eigenvector computation, 2014; LAPACK's gebal and gebak). */
#ifndef LZ_LINALG_CORE_BALANCE_H
#define LZ_LINALG_CORE_BALANCE_H
#include "linalg/core/pivot.h"
/* Rows and columns lo..hi (inclusive) are left; by[i]: the scale of those, else the row that i was
 * exchanged with. */
typedef struct balance {
    I lo, hi;
    double *by;
} balance;

INLINE bool is_zero(C x)
{
    return x.re == 0 && x.im == 0;
}

/* Rows and columns i and j change places. */
MAYBE void exchange_both(I n, M a, const balance *b, I i, I j)
{
    if (i == j)
        return;
    swap_strided(b->hi + 1, at(a, 0, i), at(a, 0, j));
    swap_strided(n - b->lo, flip(at(a, i, b->lo)), flip(at(a, j, b->lo)));
}

/* Whether row i has nothing outside of the diagonal in columns from..to. */
MAYBE bool is_isolated(M a, I i, I from, I to)
{
    bool alone = true;
    for (I j = from; j <= to && alone; j++)
        alone = i == j || is_zero(get(a, i, j));
    return alone;
}

/* A row of lo..hi with nothing outside of the diagonal goes to the end. Whether there was one. */
MAYBE bool isolate_rows(I n, M a, balance *b)
{
    bool more = false;
    for (I i = b->hi; i >= 0; i--) {
        if (!is_isolated(a, i, 0, b->hi))
            continue;
        b->by[b->hi] = (double)i;
        exchange_both(n, a, b, i, b->hi);
        more = true;
        if (b->hi == 0)
            return false;
        b->hi--;
    }
    return more;
}

/* A column goes to the beginning. */
MAYBE bool isolate_columns(I n, M a, balance *b)
{
    bool more = false;
    for (I j = b->lo; j <= b->hi; j++) {
        if (!is_isolated(flip(a), j, b->lo, b->hi))
            continue;
        b->by[b->lo] = (double)j;
        exchange_both(n, a, b, j, b->lo);
        more = true;
        b->lo++;
    }
    return more;
}

MAYBE void multiply_row(I n, M x, T by)
{
    for (I i = 0; i < n; i++) {
        C e = get(x, i, 0);
        put(x, i, 0, (C){e.re * by, e.im * by});
    }
}

MAYBE double largest_of(I n, M x)
{
    double most = 0;
    for (I i = 0; i < n; i++) {
        C e = get(x, i, 0);
        double size = hypot((double)e.re, (double)e.im);
        most = size > most ? size : most; /* fmax, which GCC 12 cannot vectorise for AArch64 */
    }
    return most;
}

/* Whether row and column i were scaled. line: a column to gather a row in */
MAYBE bool scale_one(I n, M a, balance *b, I i, M line)
{
    const double eps = LA_DOUBLE ? DBL_EPSILON : FLT_EPSILON,
                 small = (LA_DOUBLE ? DBL_MIN : (double)FLT_MIN) / eps * 2, big = 1 / small;
    I size = b->hi - b->lo + 1;
    for (I j = 0; j < size; j++)
        put(line, j, 0, get(a, i, b->lo + j));
    double c = norm2(size, at(a, b->lo, i)), r = norm2(size, line), f = 1;
    double ca = largest_of(b->hi + 1, at(a, 0, i)),
           ra = largest_of(n - b->lo, flip(at(a, i, b->lo)));
    if (c == 0 || r == 0)
        return false;
    double g = r / 2, s = c + r;
    while (c < g && fmax(f, fmax(c, ca)) < big && fmin(r, fmin(g, ra)) > small) {
        f *= 2, c *= 2, ca *= 2;
        r /= 2, g /= 2, ra /= 2;
    }
    g = c / 2;
    while (g >= r && fmax(r, ra) < big && fmin(fmin(f, c), fmin(g, ca)) > small) {
        f /= 2, c /= 2, g /= 2, ca /= 2;
        r *= 2, ra *= 2;
    }
    if (c + r >= 0.95 * s || (f < 1 && b->by[i] < 1 && f * b->by[i] <= small / 2) ||
        (f > 1 && b->by[i] > 1 && b->by[i] >= 2 * big / f))
        return false;
    b->by[i] *= f;
    multiply_row(n - b->lo, flip(at(a, i, b->lo)), (T)(1 / f));
    multiply_row(b->hi + 1, at(a, 0, i), (T)f);
    return true;
}

MAYBE void balance_matrix(I n, M a, bool scaled, balance *b, M line)
{
    b->lo = 0;
    b->hi = n - 1;
    for (bool more = true; more && b->hi > 0;)
        more = isolate_rows(n, a, b);
    if (b->hi == 0 && n > 0) { /* triangular after exchanges */
        b->by[0] = 0;
        return;
    }
    for (bool more = true; more;)
        more = isolate_columns(n, a, b);
    for (I i = b->lo; i <= b->hi; i++)
        b->by[i] = 1;
    for (bool more = scaled; more;) {
        more = false;
        for (I i = b->lo; i <= b->hi; i++)
            more |= scale_one(n, a, b, i, line);
    }
}

/* Rows of v[n, n] as they were before; of left vectors the inverse of the scale. */
MAYBE void balance_back(I n, const balance *b, bool left, M v)
{
    for (I i = b->lo; i <= b->hi && b->lo != b->hi; i++)
        if (b->by[i] != 1)
            multiply_row(n, flip(at(v, i, 0)), (T)(left ? 1 / b->by[i] : b->by[i]));
    for (I i = b->lo - 1; i >= 0; i--)
        if ((I)b->by[i] != i)
            swap_strided(n, flip(at(v, i, 0)), flip(at(v, (I)b->by[i], 0)));
    for (I i = b->hi + 1; i < n; i++)
        if ((I)b->by[i] != i)
            swap_strided(n, flip(at(v, i, 0)), flip(at(v, (I)b->by[i], 0)));
}
#endif
