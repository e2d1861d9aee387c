/* solve.h - triangular systems: recursive halves whose products do the work, substitution in blocks
 * of SOLVE_BLOCK with the right sides along the vectors. */
#ifndef LZ_LINALG_CORE_SOLVE_H
#define LZ_LINALG_CORE_SOLVE_H
#include "linalg/core/gemm.h"
enum { SOLVE_BLOCK = 16 };

typedef struct triangle {
    bool upper, unit, conj;
} triangle;

/* Numbers of one row of a block, for 2 VL right sides. */
typedef struct row {
    V re[2], im[2];
} row;

/* 1 / d of an infinite d: zeros, whose product with what is finite is 0 (C11, annex G) */
INLINE C infinite_inverse(C d)
{
    C u = {(T)copysign(isinf(d.re) ? 1 : 0, d.re), (T)copysign(isinf(d.im) ? 1 : 0, d.im)};
    return (C){0 * u.re, 0 * -u.im};
}

/* x / d: by d / s, and by the power of two s, so that no square overflows */
INLINE void divide(row *x, C d, bool complex_)
{
    if (!complex_) {
        x->re[0] /= d.re;
        x->re[1] /= d.re;
        return;
    }
    int e = 0;
    if (isinf(d.re) || isinf(d.im)) {
        d = infinite_inverse(d);
    } else {
        (void)frexp((double)fmax(fabs(d.re), fabs(d.im)), &e);
        d.re = (T)ldexp((double)d.re, -e);
        d.im = (T)ldexp((double)d.im, -e);
        T size = d.re * d.re + d.im * d.im;
        d = (C){d.re / size, -d.im / size};
    }
    T up = (T)ldexp(1, e / 2), down = (T)ldexp(1, e - e / 2);
    for (int u = 0; u < 2; u++) {
        V re = x->re[u] * d.re - x->im[u] * d.im, im = x->re[u] * d.im + x->im[u] * d.re;
        x->re[u] = re / up / down;
        x->im[u] = im / up / down;
    }
}

INLINE void load_row(M b, I cols, row *x)
{
    T t[2 * VL];
    if (cols == 2 * VL && b.cs == 1) {
        x->re[0] = load(b.re);
        x->re[1] = load(b.re + VL);
        if (b.im) {
            x->im[0] = load(b.im);
            x->im[1] = load(b.im + VL);
        }
        return;
    }
    memset(t, 0, sizeof t);
    for (I j = 0; j < cols; j++)
        t[j] = b.re[j * b.cs];
    x->re[0] = load(t);
    x->re[1] = load(t + VL);
    for (I j = 0; b.im && j < cols; j++)
        t[j] = b.im[j * b.cs];
    x->im[0] = load(t);
    x->im[1] = load(t + VL);
}

INLINE void store_row(M b, I cols, const row *x)
{
    T t[2 * VL];
    if (cols == 2 * VL && b.cs == 1) {
        store(b.re, x->re[0]);
        store(b.re + VL, x->re[1]);
        if (b.im) {
            store(b.im, x->im[0]);
            store(b.im + VL, x->im[1]);
        }
        return;
    }
    store(t, x->re[0]);
    store(t + VL, x->re[1]);
    for (I j = 0; j < cols; j++)
        b.re[j * b.cs] = t[j];
    if (!b.im)
        return;
    store(t, x->im[0]);
    store(t + VL, x->im[1]);
    for (I j = 0; j < cols; j++)
        b.im[j * b.cs] = t[j];
}

/* 2 VL right sides of a block; l has its rows one behind the other. */
INLINE void substitute(I n, triangle how, bool complex_, const T *re, const T *im, M b, I cols)
{
    row x[SOLVE_BLOCK];
    for (I i = 0; i < n; i++)
        load_row(at(b, i, 0), cols, &x[i]);
    for (I step = 0; step < n; step++) {
        I i = how.upper ? n - 1 - step : step, from = how.upper ? i + 1 : 0, to = how.upper ? n : i;
        row s = x[i];
        for (I k = from; k < to; k++) {
            T l = re[i * SOLVE_BLOCK + k];
            s.re[0] -= l * x[k].re[0];
            s.re[1] -= l * x[k].re[1];
            if (!complex_)
                continue;
            T lm = im[i * SOLVE_BLOCK + k];
            for (int u = 0; u < 2; u++) {
                s.re[u] += lm * x[k].im[u];
                s.im[u] -= l * x[k].im[u];
                s.im[u] -= lm * x[k].re[u];
            }
        }
        if (!how.unit)
            divide(&s, (C){re[i * SOLVE_BLOCK + i], complex_ ? im[i * SOLVE_BLOCK + i] : 0},
                   complex_);
        x[i] = s;
    }
    for (I i = 0; i < n; i++)
        store_row(at(b, i, 0), cols, &x[i]);
}

MAYBE void solve_block(I n, I cols, triangle how, M l, M b)
{
    T re[SOLVE_BLOCK * SOLVE_BLOCK], im[SOLVE_BLOCK * SOLVE_BLOCK];
    for (I i = 0; i < n; i++)
        for (I k = how.upper ? i : 0; k < (how.upper ? n : i + 1); k++) {
            C x = get(l, i, k);
            re[i * SOLVE_BLOCK + k] = x.re;
            im[i * SOLVE_BLOCK + k] = how.conj ? -x.im : x.im;
        }
    for (I j = 0; j < cols; j += 2 * VL) {
        I now = cols - j < 2 * VL ? cols - j : 2 * VL;
        if (b.im)
            substitute(n, how, true, re, im, at(b, 0, j), now);
        else
            substitute(n, how, false, re, im, at(b, 0, j), now);
    }
}

/* l[n, n] x = b[n, cols], x in place of b. Recursion: halves. */
MAYBE void solve(const gemm_room *g, I n, I cols, triangle how, M l, M b)
{
    if (n <= SOLVE_BLOCK) {
        solve_block(n, cols, how, l, b);
        return;
    }
    I h = (n / 2 + SOLVE_BLOCK - 1) / SOLVE_BLOCK * SOLVE_BLOCK;
    if (how.upper) {
        solve(g, n - h, cols, how, at(l, h, h), at(b, h, 0));
        gemm(g, h, cols, n - h, -1, at(l, 0, h), how.conj, at(b, h, 0), false, b, ALL);
        solve(g, h, cols, how, l, b);
        return;
    }
    solve(g, h, cols, how, l, b);
    gemm(g, n - h, cols, h, -1, at(l, h, 0), how.conj, b, false, at(b, h, 0), ALL);
    solve(g, n - h, cols, how, at(l, h, h), at(b, h, 0));
}
#endif
