/* line.h - one complex line from memory to memory, forward; swap: its parts are exchanged before
 * and after. x and y may not overlap. */
#ifndef LZ_FFT_CORE_LINE_H
#define LZ_FFT_CORE_LINE_H
#include "fft/core/move.h"
#include "fft/core/tile.h"

MAYBE void transform_line(const lz_fft_line *l, const T *x, T *y, bool swap, T scale, T *scratch);

MAYBE void by_tile(const lz_fft_line *l, const T *x, T *y, bool swap, T scale, T *scratch)
{
    CV *a = (CV *)(void *)scratch, *b = a + l->n;
    load_lines(x, 0, 1, 2 * l->n, swap, &a->re);
    a = transform_tile(&l->tile, a, b);
    store_lines(y, 0, 1, 2 * l->n, swap, scale, &a->re);
}

/* Columns j2 of n1, the factors, and transposed to W[k1 / L][j2], lanes k1. */
MAYBE void columns_of_split(const lz_fft_line *l, const T *x, bool swap, CV *a, CV *b, CV *w)
{
    int64_t n1 = l->a.n, n2 = l->b.n;
    const CV *f = l->factors;
    V re[L], im[L];
    for (int64_t j = 0; j < n2; j += L, f += n1) {
        int64_t c = n2 - j < L ? n2 - j : L;
        load_columns(x + 2 * j, n2, n1, c, swap, a);
        CV *t = transform_tile(&l->a, a, b);
        for (int64_t k = 0; k < n1; k++)
            t[k] =
                (CV){t[k].re * f[k].re - t[k].im * f[k].im, t[k].re * f[k].im + t[k].im * f[k].re};
        for (int64_t k = 0; k < n1; k += L) {
            for (int i = 0; i < L; i++) {
                re[i] = k + i < n1 ? t[k + i].re : (V){0};
                im[i] = k + i < n1 ? t[k + i].im : (V){0};
            }
            transpose(re);
            transpose(im);
            for (int64_t i = 0; i < c; i++)
                w[k / L * n2 + j + i] = (CV){re[i], im[i]};
        }
    }
}

MAYBE void by_split(const lz_fft_line *l, const T *x, T *y, bool swap, T scale, T *scratch)
{
    int64_t n1 = l->a.n, n2 = l->b.n, most = (n1 > n2 ? n1 : n2) + L;
    CV *a = (CV *)(void *)scratch, *b = a + most, *w = b + most;
    columns_of_split(l, x, swap, a, b, w);
    for (int64_t k = 0; k < n1; k += L) {
        CV *t = transform_tile(&l->b, w + k / L * n2, a);
        store_columns(y + 2 * k, n1, n2, n1 - k < L ? n1 - k : L, swap, scale, t);
    }
}

/* Bluestein: with a_j = e^(-pi i j^2 / n), X_k = a_k sum of (x_j a_j) conj(a_(k - j)). */
MAYBE void by_chirp(const lz_fft_line *l, const T *x, T *y, bool swap, T scale, T *scratch)
{
    int64_t n = l->n, m = l->length->n;
    T *u = scratch, *v = u + 2 * m;
    const T *a = l->chirp, *h = l->spectrum;
    for (int64_t j = 0; j < n; j++) {
        T re = x[2 * j + swap], im = x[2 * j + !swap];
        u[2 * j] = re * a[2 * j] - im * a[2 * j + 1];
        u[2 * j + 1] = re * a[2 * j + 1] + im * a[2 * j];
    }
    memset(u + 2 * n, 0, (size_t)(2 * (m - n)) * sizeof(T));
    transform_line(l->length, u, v, false, 1, v + 2 * m);
    for (int64_t k = 0; k < m; k++) {
        T re = v[2 * k], im = v[2 * k + 1];
        v[2 * k] = re * h[2 * k] - im * h[2 * k + 1];
        v[2 * k + 1] = re * h[2 * k + 1] + im * h[2 * k];
    }
    transform_line(l->length, v, u, true, 1, v + 2 * m);
    for (int64_t k = 0; k < n; k++) {
        T re = u[2 * k], im = u[2 * k + 1];
        y[2 * k + swap] = (re * a[2 * k] - im * a[2 * k + 1]) * scale;
        y[2 * k + !swap] = (re * a[2 * k + 1] + im * a[2 * k]) * scale;
    }
}

MAYBE void transform_line(const lz_fft_line *l, const T *x, T *y, bool swap, T scale, T *scratch)
{
    if (l->way == LZ_FFT_BY_TILE)
        by_tile(l, x, y, swap, scale, scratch);
    else if (l->way == LZ_FFT_BY_SPLIT)
        by_split(l, x, y, swap, scale, scratch);
    else
        by_chirp(l, x, y, swap, scale, scratch);
}
#endif
