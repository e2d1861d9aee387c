/* hessenberg.h - reduction of a general matrix to Hessenberg form, A = Q H Q^H, by reflections in
 * blocks: half of the work is products of matrices (Dongarra, Sorensen and Hammarling 1989;
 * Quintana-Orti and van de Geijn 2006). The reflections are those of LAPACK's gehrd. */
#ifndef LZ_LINALG_CORE_HESSENBERG_H
#define LZ_LINALG_CORE_HESSENBERG_H
#include "linalg/core/eigh.h"
typedef struct hessenberg_room {
    block_room b;
    M v, y, small; /* reflections; A V T of a block; a column of 2 BLOCK numbers */
    C *tau;
} hessenberg_room;

static hessenberg_room take_hessenberg(arena *s, I n, bool complex_)
{
    hessenberg_room r;
    r.b = take_blocks(s, n, n, complex_);
    r.v = take_matrix(s, n, n, complex_);
    r.y = take_matrix(s, n, BLOCK, complex_);
    r.small = take_matrix(s, 2 * BLOCK, 1, complex_);
    r.tau = take(s, n, sizeof(C));
    return r;
}

/* to = T s, or T^H s; T upper triangular */
MAYBE void triangle_times(I k, M t, bool adjoint, M s, M to)
{
    for (I i = 0; i < k; i++) {
        C sum = {0, 0};
        for (I l = adjoint ? 0 : i; l < (adjoint ? i + 1 : k); l++) {
            C e = adjoint ? conj_(get(t, l, i)) : get(t, i, l), p = times(e, get(s, l, 0));
            sum = (C){sum.re + p.re, sum.im + p.im};
        }
        put(to, i, 0, sum);
    }
}

/* Column j of a block that began at j0 is brought up to date and reflected; column j - j0 of y and
 * of the block's T follow. Rows up to `hi`. */
MAYBE void hessenberg_column(hessenberg_room *r, I hi, I j0, I j, M a)
{
    I c = j - j0, m = hi - j0 - 1, rest = hi - j - 1;
    M x = at(a, j0 + 1, j), v0 = at(r->v, j0 + 1, j0), y0 = at(r->y, j0 + 1, 0);
    M s = r->small, ts = at(r->small, BLOCK, 0), v = at(r->v, j + 1, j), y = at(y0, 0, c);
    if (c) {
        gemv_n(m, c, -1, y0, flip(at(r->v, j, j0)), true, x);
        fill(s, c, 1, 0);
        gemv_h(m, c, 1, v0, x, s);
        triangle_times(c, r->b.t, true, s, ts);
        gemv_n(m, c, -1, v0, ts, false, x);
    }
    for (I i = 0; i < rest; i++)
        put(v, i, 0, get(a, j + 1 + i, j));
    put(a, j + 1, j, (C){reflection(rest, v, &r->tau[j]), 0});
    for (I i = j + 2; i < hi; i++)
        put(a, i, j, (C){0, 0});
    for (I i = 0; i < m; i++)
        put(y, i, 0, (C){0, 0});
    gemv_n(m, rest, 1, at(a, j0 + 1, j + 1), v, false, y);
    if (c) {
        fill(s, c, 1, 0);
        gemv_h(rest, c, 1, at(r->v, j + 1, j0), v, s);
        gemv_n(m, c, -1, y0, s, false, y);
        triangle_times(c, r->b.t, false, s, ts);
        scale(c, (C){-r->tau[j].re, -r->tau[j].im}, ts);
        for (I i = 0; i < c; i++)
            put(r->b.t, i, c, get(ts, i, 0));
    }
    scale(m, r->tau[j], y);
    put(r->b.t, c, c, r->tau[j]);
}

/* What a block of w columns from j0 on does to the rows above it, and to the columns after it. */
MAYBE void hessenberg_update(hessenberg_room *r, I n, I hi, I j0, I w, M a)
{
    I top = j0 + 1, m = hi - top, after = hi - j0 - w;
    M v0 = at(r->v, top, j0), products = r->b.w; /* V^H A^H of the rows above, turned */
    fill(products, w, top, 0);
    gemm(&r->b.g, w, top, m, 1, flip(v0), false, flip(at(a, 0, top)), false, products, ALL);
    for (I c = 0; c < w; c++)
        for (I i = 0; i < top; i++)
            put(r->y, i, c, (C){0, 0});
    gemm(&r->b.g, top, w, w, 1, flip(products), false, r->b.t, false, r->y, ALL);
    gemm(&r->b.g, top, w - 1, w, -1, r->y, false, flip(v0), true, at(a, 0, top), ALL);
    gemm(&r->b.g, hi, after, w, -1, r->y, false, flip(at(r->v, j0 + w, j0)), true, at(a, 0, j0 + w),
         ALL);
    apply_block(&r->b, m, n - j0 - w, w, v0, true, at(a, top, j0 + w));
}

/* Rows and columns lo..hi of a[n, n], which is triangular outside of them, to Hessenberg form; the
 * reflections are in v (from row j + 1 on) and tau, elsewhere these are 0. */
MAYBE void hessenberg(hessenberg_room *r, I n, I lo, I hi, M a)
{
    fill(r->v, n, n, 0);
    for (I j = 0; j < n; j++)
        r->tau[j] = (C){0, 0};
    for (I j0 = lo; j0 < hi - 1; j0 += BLOCK) {
        I w = hi - 1 - j0 < BLOCK ? hi - 1 - j0 : BLOCK;
        fill(r->b.t, BLOCK, BLOCK, 0);
        for (I j = j0; j < j0 + w; j++)
            hessenberg_column(r, hi, j0, j, a);
        hessenberg_update(r, n, hi, j0, w, a);
    }
}

/* The product of the reflections. */
MAYBE void hessenberg_q(hessenberg_room *r, I n, I lo, I hi, M q)
{
    I k = hi - 1 - lo;
    fill(q, n, n, 1);
    apply_all(&r->b, k, k, k, at(r->v, lo + 1, lo), r->tau + lo, at(q, lo + 1, lo + 1), true);
}

/* Numbers near the end of the range are scaled by a power of two, which is returned, so that sums
 * of their products do not leave it. NaN: one of them is not finite. */
MAYBE T into_range(I m, I n, M a)
{
    const T down = (T)0x1p-32, end = (LA_DOUBLE ? (T)DBL_MAX : (T)FLT_MAX) * down;
    T most = largest(m, n, a);
    if (isnan(most))
        return (T)NAN;
    if (most <= end)
        return 1;
    multiply(m, n, a, down);
    return down;
}

MAYBE void store_taus(I n, bool complex_, const C *tau, T *out)
{
    for (I j = 0; j < n; j++) {
        out[complex_ ? 2 * j : j] = tau[j].re;
        if (complex_)
            out[2 * j + 1] = tau[j].im;
    }
}

/* lower, k: how many rows and columns at the beginning and at the end are left alone */
static void fn_hessenberg(const lz_linalg_task *t, void *const *bufs, char *scratch)
{
    arena s = arena_of(scratch);
    I n = t->n, lo = t->lower, hi = n - t->k, parts = t->complex_ ? 2 : 1;
    hessenberg_room r = take_hessenberg(&s, n, t->complex_ != 0);
    M a = take_matrix(&s, n, n, t->complex_ != 0);
    load_matrix(n, n, bufs[2], n, 1, false, a);
    T by = into_range(n, n, a);
    if (isnan(by)) {
        fill_nan(bufs[0], n * n * parts);
        fill_nan(bufs[1], (n - 1) * parts);
        return;
    }
    hessenberg(&r, n, lo, hi, a);
    if (by != 1)
        multiply(n, n, a, 1 / by);
    for (I j = lo; j < hi; j++)
        for (I i = j + 2; i < hi; i++)
            put(a, i, j, get(r.v, i, j));
    store_matrix(n, n, a, bufs[0], n, 1, false);
    store_taus(n - 1, t->complex_ != 0, r.tau, bufs[1]);
}

/* ---- tridiagonal: the first part of eigh ---- */

/* The lower triangle of a Hermitian matrix, or of the upper one with rows and columns in the other
 * order, of which LAPACK's reflections are the same. */
MAYBE void load_turned(I n, const T *in, M a)
{
    for (I j = 0; j < n; j++)
        for (I i = 0; i < n; i++) {
            I o = (n - 1 - i) * n + n - 1 - j;
            if (i < j)
                put(a, i, j, (C){0, 0});
            else if (a.im)
                put(a, i, j, (C){in[2 * o], i == j ? 0 : in[2 * o + 1]});
            else
                a.re[i + j * a.cs] = in[o];
        }
}

/* The other triangle stays as it is. */
MAYBE void store_tridiagonal(const eigh_room *r, I n, bool lower, T by, T *out)
{
    for (I j = 0; j < n; j++)
        for (I i = j; i < n; i++) {
            C x = i == j       ? (C){(T)(r->d[j] / by), 0}
                  : i == j + 1 ? (C){(T)(r->e[j] / by), 0}
                               : get(r->v, i, j);
            I o = lower ? i * n + j : (n - 1 - i) * n + n - 1 - j;
            out[r->a.im ? 2 * o : o] = x.re;
            if (r->a.im)
                out[2 * o + 1] = x.im;
        }
}

static void fn_tridiagonal(const lz_linalg_task *t, void *const *bufs, char *scratch)
{
    arena s = arena_of(scratch);
    I n = t->n, parts = t->complex_ ? 2 : 1;
    eigh_room r = take_eigh(&s, n, t->complex_ != 0);
    T *out = bufs[0], *d = bufs[1], *e = bufs[2], *taus = bufs[3];
    if (t->lower)
        load_hermitian(n, bufs[4], true, r.a);
    else
        load_turned(n, bufs[4], r.a);
    T by = into_range(n, n, r.a);
    if (isnan(by)) {
        fill_nan(out, n * n * parts);
        fill_nan(d, n);
        fill_nan(e, n - 1);
        fill_nan(taus, (n - 1) * parts);
        return;
    }
    tridiagonal(&r, n);
    memcpy(out, bufs[4], (size_t)(n * n * parts) * sizeof(T));
    store_tridiagonal(&r, n, t->lower != 0, by, out);
    for (I j = 0; j < n; j++)
        d[t->lower ? j : n - 1 - j] = (T)(r.d[j] / by);
    for (I j = 0; j + 1 < n; j++) {
        I o = t->lower ? j : n - 2 - j;
        e[o] = (T)(r.e[j] / by);
        taus[parts * o] = r.tau[j].re;
        if (r.a.im)
            taus[2 * o + 1] = r.tau[j].im;
    }
}
#endif
