/* factor.h - Cholesky's factorisation, and Gaussian elimination with partial pivoting: recursive,
 * so that products do the work at every size (Gustavson 1997; Toledo 1997). */
#ifndef LZ_LINALG_CORE_FACTOR_H
#define LZ_LINALG_CORE_FACTOR_H
#include "linalg/core/solve.h"
enum { CHOLESKY_BLOCK = 32, PANEL = 8 };

/* ---- cholesky ---- */

/* Column j of a block that has its columns one behind the other, less those before it. Rows above
 * the diagonal are garbage. */
INLINE void update_column(I n, I j, T *re, T *im)
{
    I from = j / VL * VL;
    for (I k = 0; k < j; k++) {
        T c = re[k * CHOLESKY_BLOCK + j], ci = im ? im[k * CHOLESKY_BLOCK + j] : 0;
        for (I i = from; i < n; i += VL) {
            T *x = re + j * CHOLESKY_BLOCK + i, *lr = re + k * CHOLESKY_BLOCK + i;
            store(x, load(x) - c * load(lr));
            if (!im)
                continue;
            T *y = im + j * CHOLESKY_BLOCK + i, *li = im + k * CHOLESKY_BLOCK + i;
            store(x, load(x) - ci * load(li));
            store(y, load(y) - c * load(li) + ci * load(lr));
        }
    }
}

/* Lower triangle of at most CHOLESKY_BLOCK columns; false: it is not positive definite. */
MAYBE bool cholesky_block(I n, M a)
{
    T re[CHOLESKY_BLOCK * CHOLESKY_BLOCK], own[CHOLESKY_BLOCK * CHOLESKY_BLOCK];
    T *im = a.im ? own : NULL;
    memset(re, 0, sizeof re);
    memset(own, 0, sizeof own);
    for (I i = 0; i < n; i++)
        for (I j = 0; j <= i; j++) {
            C x = get(a, i, j);
            re[j * CHOLESKY_BLOCK + i] = x.re;
            own[j * CHOLESKY_BLOCK + i] = i == j ? 0 : x.im;
        }
    for (I j = 0; j < n; j++) {
        update_column(n, j, re, im);
        T d = re[j * CHOLESKY_BLOCK + j];
        if (!(d > 0))
            return false;
        d = (T)sqrt(d);
        for (I i = j / VL * VL; i < n; i += VL) {
            T *x = re + j * CHOLESKY_BLOCK + i, *y = own + j * CHOLESKY_BLOCK + i;
            store(x, load(x) / d);
            if (im)
                store(y, load(y) / d);
        }
        re[j * CHOLESKY_BLOCK + j] = d;
        own[j * CHOLESKY_BLOCK + j] = 0;
    }
    for (I i = 0; i < n; i++)
        for (I j = 0; j <= i; j++)
            put(a, i, j, (C){re[j * CHOLESKY_BLOCK + i], own[j * CHOLESKY_BLOCK + i]});
    return true;
}

/* Recursion: halves. */
MAYBE bool cholesky(const gemm_room *g, I n, M a)
{
    if (n <= CHOLESKY_BLOCK)
        return cholesky_block(n, a);
    I h = (n / 2 + CHOLESKY_BLOCK - 1) / CHOLESKY_BLOCK * CHOLESKY_BLOCK;
    M below = at(a, h, 0), rest = at(a, h, h);
    if (!cholesky(g, h, a))
        return false;
    solve(g, h, n - h, (triangle){.conj = true}, a, flip(below)); /* conj(l) x^T = a^T */
    gemm(g, n - h, n - h, h, -1, below, false, flip(below), true, rest, LOWER);
    return cholesky(g, n - h, rest);
}

/* Room for products of matrices of this size, and for planar ones of complex numbers. */
typedef struct factor_room {
    gemm_room g;
    M a, b;
} factor_room;

MAYBE factor_room take_cholesky(arena *s, const lz_linalg_task *t)
{
    factor_room r = {.g = take_gemm(s, t->n)};
    if (t->complex_)
        r.a = take_matrix(s, t->n, t->n, true);
    return r;
}

static void fn_cholesky(const lz_linalg_task *t, void *const *bufs, char *scratch)
{
    arena s = arena_of(scratch);
    I n = t->n;
    factor_room r = take_cholesky(&s, t);
    T *out = bufs[0];
    M a = t->complex_ ? r.a : (M){out, NULL, n, 1};
    /* of an upper triangle the lower one is the adjoint: here its conjugate, turned on its side */
    M view = t->lower || t->complex_ ? a : flip(a);
    const T *in = bufs[1];
    for (I i = 0; i < n; i++)
        for (I j = 0; j <= i; j++) {
            I o = t->lower ? i * n + j : j * n + i;
            C x = t->complex_ ? (C){in[2 * o], t->lower ? in[2 * o + 1] : -in[2 * o + 1]}
                              : (C){in[o], 0};
            put(view, i, j, x);
        }
    bool ok = cholesky(&r.g, n, view);
    for (I i = 0; i < n; i++)
        for (I j = 0; j < n; j++) {
            bool own = t->lower ? j <= i : j >= i;
            I o = i * n + j;
            if (!t->complex_) {
                out[o] = !own ? 0 : ok ? out[o] : (T)NAN;
                continue;
            }
            C x = own ? get(a, t->lower ? i : j, t->lower ? j : i) : (C){0, 0};
            out[2 * o] = own && !ok ? (T)NAN : x.re;
            out[2 * o + 1] = own && !ok ? (T)NAN : t->lower ? x.im : own && i != j ? -x.im : 0;
        }
}

/* ---- triangular systems ---- */

MAYBE factor_room take_solve(arena *s, const lz_linalg_task *t)
{
    I n = t->n, rows = t->left ? n : t->k, cols = t->left ? t->k : n;
    factor_room r = {.g = take_gemm(s, n > t->k ? n : t->k)};
    if (t->complex_) {
        r.a = flip(take_matrix(s, n, n, true));
        r.b = flip(take_matrix(s, cols, rows, true));
    }
    return r;
}

static void fn_solve(const lz_linalg_task *t, void *const *bufs, char *scratch)
{
    arena s = arena_of(scratch);
    I n = t->n, rows = t->left ? n : t->k, cols = t->left ? t->k : n;
    factor_room r = take_solve(&s, t);
    T *out = bufs[0], *in = bufs[1];
    const T *right = bufs[2];
    M a = {in, NULL, n, 1}, b = {out, NULL, cols, 1};
    if (t->complex_) {
        a = r.a;
        b = r.b;
        load_matrix(n, n, in, n, 1, false, a);
        load_matrix(rows, cols, right, cols, 1, false, b);
    } else {
        memcpy(out, right, (size_t)(rows * cols) * sizeof(T));
    }
    bool turn = (t->transpose != LZ_LINALG_NO_TRANSPOSE) == (t->left != 0);
    triangle how = {.upper = (t->lower != 0) == turn,
                    .unit = t->unit != 0,
                    .conj = t->transpose == LZ_LINALG_ADJOINT};
    solve(&r.g, n, t->k, how, turn ? flip(a) : a, t->left ? b : flip(b));
    if (t->complex_)
        store_matrix(rows, cols, b, out, cols, 1, false);
}

/* ---- lu ---- */

/* Rows r and pivots[r], for r = from..to, of n columns. */
MAYBE void exchange(I n, const int32_t *pivots, I from, I to, M a)
{
    for (I j = 0; j < n; j++) {
        T *x = a.re + j * a.cs, *y = a.im ? a.im + j * a.cs : NULL;
        for (I r = from; r < to; r++) {
            I p = pivots[r];
            T v = x[r];
            x[r] = x[p];
            x[p] = v;
            if (!y)
                continue;
            v = y[r];
            y[r] = y[p];
            y[p] = v;
        }
    }
}

/* The largest magnitude of n numbers; negative where one is NaN or infinite. */
MAYBE T largest_size(I n, const T *x)
{
    V most = {0}, odd = {0};
    T size = 0, rest = 0;
    I i = 0;
    for (; i + VL <= n; i += VL) {
        V v = load(x + i), minus = -v;
        odd += v - v;
        v = choose(v < minus, minus, v);
        most = choose(v > most, v, most);
    }
    for (; i < n; i++) {
        rest += x[i] - x[i];
        size = (T)fabs(x[i]) > size ? (T)fabs(x[i]) : size;
    }
    T s[VL];
    store(s, most);
    for (int k = 0; k < VL; k++)
        size = s[k] > size ? s[k] : size;
    rest += sum_of(odd);
    return rest != rest ? -1 : size;
}

/* The largest magnitude of a part of a matrix of contiguous columns; NaN where one is NaN or
 * infinite. */
MAYBE T largest(I m, I n, M a)
{
    T most = 0;
    for (I j = 0; j < n; j++) {
        T re = largest_size(m, a.re + j * a.cs), im = a.im ? largest_size(m, a.im + j * a.cs) : 0;
        if (re < 0 || im < 0)
            return (T)NAN;
        most = re > most ? re : most;
        most = im > most ? im : most;
    }
    return most;
}

/* LAPACK's: the first of the largest sums of magnitudes; the last NaN, if there is one. */
MAYBE I pivot_row(I m, I from, M x)
{
    I best = from;
    T most = x.im ? -1 : largest_size(m - from, x.re + from);
    if (most >= 0) {
        while (best < m && (T)fabs(x.re[best]) != most)
            best++;
        return best;
    }
    most = -1;
    for (I i = from; i < m; i++) {
        T size = (T)fabs(x.re[i]);
        if (x.im)
            size += (T)fabs(x.im[i]);
        if (size > most || isnan(size)) {
            most = size;
            best = i;
        }
    }
    return best;
}

/* x[from..] / d */
MAYBE void divide_column(I m, I from, M x, C d)
{
    if (!x.im) {
        I i = from;
        for (; i + VL <= m; i += VL)
            store(x.re + i, load(x.re + i) / d.re);
        for (; i < m; i++)
            x.re[i] /= d.re;
        return;
    }
    for (I i = from; i < m; i += 2 * VL) {
        I n = m - i < 2 * VL ? m - i : 2 * VL;
        row r;
        M line = flip(at(x, i, 0));
        load_row(line, n, &r);
        divide(&r, d, true);
        store_row(line, n, &r);
    }
}

/* Columns j..j + w of a[m, ..], left-looking: each gets the exchanges and the columns of the panel
 * before it, then its own pivot. */
MAYBE void lu_panel(I m, I j, I w, M a, int32_t *pivots)
{
    for (I c = j; c < j + w; c++) {
        M x = at(a, 0, c);
        exchange(1, pivots, j, c, x);
        for (I k = j; k < c && k < m; k++) {
            C u = get(x, k, 0);
            I to = c < m ? c : m;
            for (I i = k + 1; i < to; i++) {
                C y = get(x, i, 0), p = times(get(a, i, k), u);
                put(x, i, 0, (C){y.re - p.re, y.im - p.im});
            }
        }
        gemv_n(m - c, c - j, -1, at(a, c, j), at(x, j, 0), false, at(x, c, 0));
        I p = pivot_row(m, c, x);
        pivots[c] = (int32_t)p;
        if (p != c) {
            C y = get(x, c, 0);
            put(x, c, 0, get(x, p, 0));
            put(x, p, 0, y);
            exchange(c - j, pivots, c, c + 1, at(a, 0, j));
        }
        C d = get(x, c, 0);
        if (d.re != 0 || d.im != 0)
            divide_column(m, c + 1, x, d);
    }
}

/* Columns j..j + w, of which there are no more than rows. Recursion: halves. */
MAYBE void lu_columns(const gemm_room *g, I m, I j, I w, M a, int32_t *pivots)
{
    if (w <= PANEL) {
        lu_panel(m, j, w, a, pivots);
        return;
    }
    I h = (w / 2 + PANEL - 1) / PANEL * PANEL, k = j + h, rest = w - h;
    lu_columns(g, m, j, h, a, pivots);
    exchange(rest, pivots, j, k, at(a, 0, k));
    solve(g, h, rest, (triangle){.unit = true}, at(a, j, j), at(a, j, k));
    gemm(g, m - k, rest, h, -1, at(a, k, j), false, at(a, j, k), false, at(a, k, k), ALL);
    lu_columns(g, m, k, rest, a, pivots);
    exchange(h, pivots, k, k + rest, at(a, 0, j));
}

MAYBE factor_room take_lu(arena *s, const lz_linalg_task *t)
{
    factor_room r = {.g = take_gemm(s, t->m > t->n ? t->m : t->n)};
    r.a = take_matrix(s, t->m, t->n, t->complex_ != 0);
    return r;
}

static void fn_lu(const lz_linalg_task *t, void *const *bufs, char *scratch)
{
    arena s = arena_of(scratch);
    I m = t->m, n = t->n, k = m < n ? m : n;
    factor_room r = take_lu(&s, t);
    M a = r.a;
    int32_t *pivots = bufs[1], *order = bufs[2];
    load_matrix(m, n, bufs[3], n, 1, false, a);
    lu_columns(&r.g, m, 0, k, a, pivots);
    if (n > k) {
        exchange(n - k, pivots, 0, k, at(a, 0, k));
        solve(&r.g, k, n - k, (triangle){.unit = true}, a, at(a, 0, k));
    }
    for (I i = 0; i < m; i++)
        order[i] = (int32_t)i;
    for (I i = 0; i < k; i++) {
        int32_t o = order[i];
        order[i] = order[pivots[i]];
        order[pivots[i]] = o;
    }
    store_matrix(m, n, a, bufs[0], n, 1, false);
}
#endif
