/* real.h - lines of real numbers. One of even n is a complex one z of h = n / 2, whose real parts
 * are the elements of even index: with Z its transform, E = (Z_k + conj Z_(h-k)) / 2 and
 * O = (Z_k - conj Z_(h-k)) / 2i those of the elements of even and of odd index, the spectrum is
 * X_k = E + w_n^k O. One of odd n is complex with imaginary parts of 0. */
#ifndef LZ_FFT_CORE_REAL_H
#define LZ_FFT_CORE_REAL_H
#include "fft/core/line.h"

/* ---- in tiles, each lane a line ---- */

/* x of h rows becomes y of h + 1; w: w_n^k. */
MAYBE void tile_to_half(const CV *x, CV *y, int64_t h, const T *w)
{
    y[0] = (CV){x[0].re + x[0].im, (V){0}};
    y[h] = (CV){x[0].re - x[0].im, (V){0}};
    for (int64_t k = 1; k <= h / 2; k++) {
        CV a = x[k], b = {x[h - k].re, -x[h - k].im};
        CV e = scaled(add(a, b), (T)0.5),
           o = times(turn(scaled(sub(a, b), (T)0.5)), w[2 * k], w[2 * k + 1]);
        CV d = sub(e, o);
        y[k] = add(e, o);
        y[h - k] = (CV){d.re, -d.im};
    }
}

/* The other way, parts exchanged, and twice as large. */
MAYBE void tile_from_half(const CV *x, CV *y, int64_t h, const T *w)
{
    V s = x[0].re + x[h].re, d = x[0].re - x[h].re;
    y[0] = (CV){d, s};
    for (int64_t k = 1; k <= h / 2; k++) {
        CV a = x[k], b = {x[h - k].re, -x[h - k].im};
        CV e = add(a, b), o = times(sub(a, b), w[2 * k], -w[2 * k + 1]);
        /* e + i o and conj e + i conj o */
        y[k] = (CV){e.im + o.re, e.re - o.im};
        y[h - k] = (CV){o.re - e.im, e.re + o.im};
    }
}

/* c lines of n reals at x, to half spectra at y. */
MAYBE void short_to_half(const lz_fft_plan *p, const T *x, T *y, int64_t c, CV *spare, CV *a)
{
    const lz_fft_line *l = &p->line[p->task.ndim - 1];
    int64_t n = p->task.n[p->task.ndim - 1], half = n / 2 + 1;
    CV *b = a + l->n;
    if (p->even) {
        load_lines(x, n, c, n, 0, &a->re);
        tile_to_half(transform_tile(&l->tile, a, b), spare, n / 2, p->halves);
        store_lines(y, 2 * half, c, 2 * half, 0, 1, &spare->re);
        return;
    }
    load_lines(x, n, c, n, 0, &spare->re);
    for (int64_t i = 0; i < n; i++)
        a[i] = (CV){(&spare->re)[i], (V){0}};
    a = transform_tile(&l->tile, a, b);
    store_lines(y, 2 * half, c, 2 * half, 0, 1, &a->re);
}

MAYBE void short_from_half(const lz_fft_plan *p, const T *x, T *y, int64_t c, T scale, CV *spare,
                           CV *a)
{
    const lz_fft_line *l = &p->line[p->task.ndim - 1];
    int64_t n = p->task.n[p->task.ndim - 1], half = n / 2 + 1;
    CV *b = a + l->n;
    load_lines(x, 2 * half, c, 2 * half, 0, &spare->re);
    if (p->even) {
        tile_from_half(spare, a, n / 2, p->halves);
        a = transform_tile(&l->tile, a, b);
        store_lines(y, n, c, n, 1, scale, &a->re);
        return;
    }
    a[0] = (CV){(V){0}, spare[0].re};
    for (int64_t k = 1; k < half; k++) {
        a[k] = (CV){spare[k].im, spare[k].re};
        a[n - k] = (CV){-spare[k].im, spare[k].re};
    }
    a = transform_tile(&l->tile, a, b);
    for (int64_t i = 0; i < n; i++)
        (&spare->re)[i] = a[i].im;
    store_lines(y, n, c, n, 0, scale, &spare->re);
}

/* ---- single lines; s and t: lines to work in ---- */

MAYBE void line_to_half(const lz_fft_plan *p, const T *x, T *y, T *s, T *t, T *scratch)
{
    const lz_fft_line *l = &p->line[p->task.ndim - 1];
    int64_t n = p->task.n[p->task.ndim - 1], h = n / 2;
    const T *w = p->halves;
    if (!p->even) {
        for (int64_t i = 0; i < n; i++)
            s[2 * i] = x[i], s[2 * i + 1] = 0;
        transform_line(l, s, t, false, 1, scratch);
        memcpy(y, t, (size_t)(2 * (h + 1)) * sizeof(T));
        return;
    }
    transform_line(l, x, s, false, 1, scratch);
    y[0] = s[0] + s[1];
    y[2 * h] = s[0] - s[1];
    y[1] = y[2 * h + 1] = 0;
    for (int64_t k = 1; k <= h / 2; k++) {
        T ar = s[2 * k], ai = s[2 * k + 1], br = s[2 * (h - k)], bi = -s[2 * (h - k) + 1];
        T er = (ar + br) * (T)0.5, ei = (ai + bi) * (T)0.5, dr = (ai - bi) * (T)0.5,
          di = (br - ar) * (T)0.5;
        T qr = dr * w[2 * k] - di * w[2 * k + 1], qi = dr * w[2 * k + 1] + di * w[2 * k];
        y[2 * k] = er + qr;
        y[2 * k + 1] = ei + qi;
        y[2 * (h - k)] = er - qr;
        y[2 * (h - k) + 1] = qi - ei;
    }
}

MAYBE void line_from_half(const lz_fft_plan *p, const T *x, T *y, T scale, T *s, T *t, T *scratch)
{
    const lz_fft_line *l = &p->line[p->task.ndim - 1];
    int64_t n = p->task.n[p->task.ndim - 1], h = n / 2;
    const T *w = p->halves;
    if (!p->even) {
        s[0] = x[0], s[1] = 0;
        for (int64_t k = 1; k <= h; k++) {
            s[2 * k] = s[2 * (n - k)] = x[2 * k];
            s[2 * k + 1] = x[2 * k + 1];
            s[2 * (n - k) + 1] = -x[2 * k + 1];
        }
        transform_line(l, s, t, true, scale, scratch);
        for (int64_t i = 0; i < n; i++)
            y[i] = t[2 * i];
        return;
    }
    s[0] = x[0] + x[2 * h];
    s[1] = x[0] - x[2 * h];
    for (int64_t k = 1; k <= h / 2; k++) {
        T ar = x[2 * k], ai = x[2 * k + 1], br = x[2 * (h - k)], bi = -x[2 * (h - k) + 1];
        T er = ar + br, ei = ai + bi, dr = ar - br, di = ai - bi;
        T qr = dr * w[2 * k] + di * w[2 * k + 1], qi = di * w[2 * k] - dr * w[2 * k + 1];
        s[2 * k] = er - qi;
        s[2 * k + 1] = ei + qr;
        s[2 * (h - k)] = er + qi;
        s[2 * (h - k) + 1] = qr - ei;
    }
    transform_line(l, s, y, true, scale, scratch);
}
#endif
