/* tile.h - Stockham's autosort transform of a tile, forward: decimation in frequency, a pass per
 * stage from one tile to another, radices 2, 3, 4, 5, 8 written out and other odd ones by their
 * sums. Each lane is a line of its own; twiddle factors are the same for all. */
#ifndef LZ_FFT_CORE_TILE_H
#define LZ_FFT_CORE_TILE_H
#include "fft/core/simd.h"

INLINE CV add(CV a, CV b)
{
    return (CV){a.re + b.re, a.im + b.im};
}

INLINE CV sub(CV a, CV b)
{
    return (CV){a.re - b.re, a.im - b.im};
}

/* -i a */
INLINE CV turn(CV a)
{
    return (CV){a.im, -a.re};
}

INLINE CV scaled(CV a, T s)
{
    return (CV){a.re * s, a.im * s};
}

INLINE CV times(CV a, T re, T im)
{
    return (CV){a.re * re - a.im * im, a.re * im + a.im * re};
}

/* ---- butterflies: r values, in place ---- */

INLINE void butterfly2(CV *v)
{
    CV a = v[0];
    v[0] = add(a, v[1]);
    v[1] = sub(a, v[1]);
}

INLINE void butterfly3(CV *v)
{
    const T sine = (T)0.866025403784438646763723170752936183L;
    CV t = add(v[1], v[2]), m = sub(v[0], scaled(t, (T)0.5)),
       d = turn(scaled(sub(v[1], v[2]), sine));
    v[0] = add(v[0], t);
    v[1] = add(m, d);
    v[2] = sub(m, d);
}

INLINE void butterfly4(CV *v)
{
    CV a = add(v[0], v[2]), b = sub(v[0], v[2]), c = add(v[1], v[3]), d = turn(sub(v[1], v[3]));
    v[0] = add(a, c);
    v[1] = add(b, d);
    v[2] = sub(a, c);
    v[3] = sub(b, d);
}

INLINE void butterfly5(CV *v)
{
    const T c1 = (T)0.309016994374947424102293417182819059L,
            c2 = (T)-0.809016994374947424102293417182819059L,
            s1 = (T)0.951056516295153572116439333379382143L,
            s2 = (T)0.587785252292473129168705954639072769L;
    CV p1 = add(v[1], v[4]), p2 = add(v[2], v[3]), d1 = sub(v[1], v[4]), d2 = sub(v[2], v[3]);
    CV a = add(v[0], add(scaled(p1, c1), scaled(p2, c2))),
       b = add(v[0], add(scaled(p1, c2), scaled(p2, c1)));
    CV c = turn(add(scaled(d1, s1), scaled(d2, s2))), d = turn(sub(scaled(d1, s2), scaled(d2, s1)));
    v[0] = add(v[0], add(p1, p2));
    v[1] = add(a, c);
    v[4] = sub(a, c);
    v[2] = add(b, d);
    v[3] = sub(b, d);
}

INLINE void butterfly8(CV *v)
{
    const T half = (T)0.707106781186547524400844362104849039L;
    CV e[4] = {v[0], v[2], v[4], v[6]}, o[4] = {v[1], v[3], v[5], v[7]};
    butterfly4(e);
    butterfly4(o);
    o[1] = scaled((CV){o[1].re + o[1].im, o[1].im - o[1].re}, half);
    o[2] = turn(o[2]);
    o[3] = scaled((CV){o[3].im - o[3].re, -o[3].re - o[3].im}, half);
    for (int k = 0; k < 4; k++) {
        v[k] = add(e[k], o[k]);
        v[k + 4] = sub(e[k], o[k]);
    }
}

/* Of odd r: pairs j, r - j have the same cosine and opposite sines. */
INLINE void butterfly_odd(CV *v, int r, const T *root)
{
    CV p[LZ_FFT_PRIME / 2 + 1], d[LZ_FFT_PRIME / 2 + 1], x = v[0], sum = x;
    int h = r / 2;
    for (int j = 1; j <= h; j++) {
        p[j] = add(v[j], v[r - j]);
        d[j] = sub(v[j], v[r - j]);
        sum = add(sum, p[j]);
    }
    v[0] = sum;
    for (int k = 1; k <= h; k++) {
        CV a = x, b = {{0}, {0}};
        for (int j = 1, at = k; j <= h; j++, at += at + k < r ? k : k - r) {
            a = add(a, scaled(p[j], root[2 * at]));
            b = add(b, scaled(d[j], -root[2 * at + 1]));
        }
        v[k] = add(a, turn(b));
        v[r - k] = sub(a, turn(b));
    }
}

INLINE void butterfly(CV *v, int r, const T *root)
{
    switch (r) {
    case 2:
        butterfly2(v);
        return;
    case 3:
        butterfly3(v);
        return;
    case 4:
        butterfly4(v);
        return;
    case 5:
        butterfly5(v);
        return;
    case 8:
        butterfly8(v);
        return;
    default:
        butterfly_odd(v, r, root);
    }
}

/* ---- passes ---- */

/* Radix r: m transforms of r, `s` of each; inlined with r constant. */
INLINE void pass(const CV *x, CV *y, int64_t m, int64_t s, int r, const T *twiddle, const T *root)
{
    CV v[LZ_FFT_PRIME];
    for (int64_t p = 0; p < m; p++) {
        const T *w = twiddle + 2 * p * (r - 1);
        for (int64_t q = 0; q < s; q++) {
            for (int j = 0; j < r; j++)
                v[j] = x[q + s * (p + m * j)];
            butterfly(v, r, root);
            y[q + s * r * p] = v[0];
            for (int k = 1; k < r; k++)
                y[q + s * (r * p + k)] = times(v[k], w[2 * k - 2], w[2 * k - 1]);
        }
    }
}

/* The last pass has no twiddle factors. */
INLINE void last_pass(const CV *x, CV *y, int64_t s, int r, const T *root)
{
    CV v[LZ_FFT_PRIME];
    for (int64_t q = 0; q < s; q++) {
        for (int j = 0; j < r; j++)
            v[j] = x[q + s * j];
        butterfly(v, r, root);
        for (int k = 0; k < r; k++)
            y[q + s * k] = v[k];
    }
}

#define PASSES(r)                                                                                  \
    MAYBE __attribute__((noinline)) void pass##r(const CV *x, CV *y, int64_t m, int64_t s,         \
                                                 const T *twiddle)                                 \
    {                                                                                              \
        if (twiddle)                                                                               \
            pass(x, y, m, s, r, twiddle, NULL);                                                    \
        else                                                                                       \
            last_pass(x, y, s, r, NULL);                                                           \
    }
PASSES(2)
PASSES(3)
PASSES(4)
PASSES(5)
PASSES(8)
#undef PASSES

MAYBE __attribute__((noinline)) void pass_odd(const CV *x, CV *y, int64_t m, int64_t s, int r,
                                              const T *twiddle, const T *root)
{
    if (twiddle)
        pass(x, y, m, s, r, twiddle, root);
    else
        last_pass(x, y, s, r, root);
}

/* Transforms tile x; y is another one to work in. Gives which of them has the result. */
MAYBE CV *transform_tile(const lz_fft_stages *t, CV *x, CV *y)
{
    int64_t s = 1, n = t->n;
    for (int i = 0; i < t->count; i++) {
        int r = t->r[i];
        const T *w = t->twiddle[i];
        n /= r;
        switch (r) {
        case 2:
            pass2(x, y, n, s, w);
            break;
        case 3:
            pass3(x, y, n, s, w);
            break;
        case 4:
            pass4(x, y, n, s, w);
            break;
        case 5:
            pass5(x, y, n, s, w);
            break;
        case 8:
            pass8(x, y, n, s, w);
            break;
        default:
            pass_odd(x, y, n, s, r, w, t->root[i]);
        }
        s *= r;
        CV *z = x;
        x = y;
        y = z;
    }
    return x;
}
#endif
