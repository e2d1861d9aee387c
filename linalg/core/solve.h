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

/* Whether all bits of some element are set. */
INLINE bool any(VM v)
{
    int64_t word[LA_VECTOR_BYTES / 8], all = 0;
    memcpy(word, &v, sizeof word);
    for (size_t i = 0; i < LA_VECTOR_BYTES / 8; i++)
        all |= word[i];
    return all != 0;
}

/* 1 with x's sign where x is infinite, else 0 with it. */
INLINE T boxed(T x)
{
    return (T)copysign(isinf(x) ? 1 : 0, x);
}

/* What x / d is where the formula gives NaN twice (C11, annex G): infinite / finite and nonzero / 0
 * are infinite, finite / infinite is 0. */
MAYBE C divide_odd(C x, C d)
{
    const T inf = (T)INFINITY;
    bool finite = isfinite(x.re) && isfinite(x.im);
    if (d.re == 0 && d.im == 0)
        return (C){(T)copysign(inf, d.re) * x.re, (T)copysign(inf, d.re) * x.im};
    if ((isinf(x.re) || isinf(x.im)) && isfinite(d.re) && isfinite(d.im)) {
        C p = times((C){boxed(x.re), boxed(x.im)}, conj_(d));
        return (C){inf * p.re, inf * p.im};
    }
    if ((isinf(d.re) || isinf(d.im)) && finite) {
        C p = times(x, (C){boxed(d.re), -boxed(d.im)});
        return (C){0 * p.re, 0 * p.im};
    }
    return (C){(T)NAN, (T)NAN};
}

/* The elements of q = x / d that are NaN twice. */
static __attribute__((noinline, unused)) void divide_odd_ones(const row *x, row *q, C d)
{
    T re[VL], im[VL], from_re[VL], from_im[VL];
    for (int u = 0; u < 2; u++) {
        store(from_re, x->re[u]), store(from_im, x->im[u]);
        store(re, q->re[u]), store(im, q->im[u]);
        for (int i = 0; i < VL; i++)
            if (isnan(re[i]) && isnan(im[i])) {
                C c = divide_odd((C){from_re[i], from_im[i]}, d);
                re[i] = c.re, im[i] = c.im;
            }
        q->re[u] = load(re), q->im[u] = load(im);
    }
}

/* x / d: by d / s, and by the power of two s, half of it before, so that nothing overflows or
 * underflows on the way that the quotient does not */
INLINE void divide(row *x, C d, bool complex_)
{
    if (!complex_) {
        x->re[0] /= d.re;
        x->re[1] /= d.re;
        return;
    }
    int e = 0;
    (void)frexp((double)fmax(fabs(d.re), fabs(d.im)), &e);
    C by = {(T)ldexp((double)d.re, -e), (T)ldexp((double)d.im, -e)};
    T size = by.re * by.re + by.im * by.im;
    by = (C){by.re / size, -by.im / size};
    T before = (T)ldexp(1, e / 2), after = (T)ldexp(1, e - e / 2);
    row from = *x, q;
    VM odd = (V){0} != (V){0};
    for (int u = 0; u < 2; u++) {
        V re = from.re[u] / before, im = from.im[u] / before;
        q.re[u] = (re * by.re - im * by.im) / after;
        q.im[u] = (re * by.im + im * by.re) / after;
        odd |= (q.re[u] != q.re[u]) & (q.im[u] != q.im[u]);
    }
    if (any(odd)) { /* of copies: x stays in registers */
        row out = q;
        divide_odd_ones(&from, &out, d);
        q = out;
    }
    *x = q;
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
