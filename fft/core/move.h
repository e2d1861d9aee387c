/* move.h - lines and columns of memory to tiles and back. `swap` exchanges the real and the
 * imaginary parts: a backward transform is a forward one of exchanged parts, exchanged back. */
#ifndef LZ_FFT_CORE_MOVE_H
#define LZ_FFT_CORE_MOVE_H
#include "fft/core/simd.h"

/* Rows of L become columns: each round turns the index of row and lane by a bit. */
INLINE void transpose(V *v)
{
    for (int bits = L; bits > 1; bits /= 2) {
        V w[L];
        for (int i = 0; i < L / 2; i++) {
            w[2 * i] = zip_low(v[i], v[i + L / 2]);
            w[2 * i + 1] = zip_high(v[i], v[i + L / 2]);
        }
        for (int i = 0; i < L; i++)
            v[i] = w[i];
    }
}

INLINE V load(const T *p)
{
    return *(const VU *)(const void *)p;
}

INLINE void store(T *p, V v)
{
    *(VU *)(void *)p = v;
}

/* The first c elements, at most L; zeros behind. */
INLINE V load_some(const T *p, int64_t c)
{
    V v = {0};
    if (c >= L)
        return load(p);
    memcpy(&v, p, (size_t)(c > 0 ? c : 0) * sizeof(T));
    return v;
}

INLINE void store_some(T *p, V v, int64_t c)
{
    if (c >= L)
        store(p, v);
    else if (c > 0)
        memcpy(p, &v, (size_t)c * sizeof(T));
}

/* c columns from x on, n rows of complex numbers, `stride` of these apart. */
MAYBE void load_columns(const T *x, int64_t stride, int64_t n, int64_t c, bool swap, CV *tile)
{
    for (int64_t i = 0; i < n; i++, x += 2 * stride) {
        V a = load_some(x, 2 * c), b = c > L / 2 ? load_some(x + L, 2 * c - L) : (V){0};
        V re = even(a, b), im = odd(a, b);
        tile[i] = swap ? (CV){im, re} : (CV){re, im};
    }
}

MAYBE void store_columns(T *y, int64_t stride, int64_t n, int64_t c, bool swap, T scale,
                         const CV *tile)
{
    for (int64_t i = 0; i < n; i++, y += 2 * stride) {
        V re = (swap ? tile[i].im : tile[i].re) * scale,
          im = (swap ? tile[i].re : tile[i].im) * scale;
        store_some(y, zip_low(re, im), 2 * c);
        store_some(y + L, zip_high(re, im), 2 * c - L);
    }
}

/* c lines of n elements T, `stride` apart, become the lanes of n vectors: those at i are rows
 * i ^ swap. */
MAYBE void load_lines(const T *x, int64_t stride, int64_t c, int64_t n, int swap, V *rows)
{
    V v[L];
    for (int64_t f = 0; f < n; f += L) {
        for (int l = 0; l < L; l++)
            v[l] = l < c ? load_some(x + l * stride + f, n - f) : (V){0};
        transpose(v);
        for (int64_t i = 0; i < L && f + i < n; i++)
            rows[(f + i) ^ swap] = v[i];
    }
}

MAYBE void store_lines(T *y, int64_t stride, int64_t c, int64_t n, int swap, T scale, const V *rows)
{
    V v[L];
    for (int64_t f = 0; f < n; f += L) {
        for (int64_t i = 0; i < L; i++)
            v[i] = f + i < n ? rows[(f + i) ^ swap] * scale : (V){0};
        transpose(v);
        for (int l = 0; l < L && l < c; l++)
            store_some(y + l * stride + f, v[l], n - f);
    }
}
#endif
