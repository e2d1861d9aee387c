/* schur_swap.h - exchanges neighbouring blocks on the diagonal of a Schur form (Bai and Demmel, On
 * swapping diagonal blocks in real Schur form, 1993; LAPACK's trexc). */
#ifndef LZ_LINALG_CORE_SCHUR_SWAP_H
#define LZ_LINALG_CORE_SCHUR_SWAP_H
#include "linalg/core/schur_small.h"
/* Blocks of 1 and 1 at i: a rotation. */
MAYBE void swap_single(M t, I n, M z, I i)
{
    D2 a = wide(get(t, i, i)), d = wide(get(t, i + 1, i + 1)), f = wide(get(t, i, i + 1)),
       g = d_less(d, a), s = {0, 0};
    double fs = hypot(f.re, f.im), gs = hypot(g.re, g.im), size = hypot(fs, gs), c = 1;
    if (fs == 0 && gs != 0) {
        c = 0;
        s = (D2){g.re / gs, -g.im / gs};
    } else if (gs != 0) {
        c = fs / size;
        s = d_times((D2){f.re / fs, f.im / fs}, (D2){g.re / size, -g.im / size});
    }
    C by = narrow(s);
    turn_rows(t, i, i + 1, i + 2, n, (T)c, by);
    turn_columns(t, i, i + 1, 0, i, (T)c, conj_(by));
    turn_columns(z, i, i + 1, 0, n, (T)c, conj_(by));
    C e = get(t, i, i);
    put(t, i, i, get(t, i + 1, i + 1));
    put(t, i + 1, i + 1, e);
}

/* k x = b by elimination with complete pivoting; pivots are at least `least`. k is at most 4 x 4.
 */
MAYBE void solve_few(int n, double a[4][4], double *b, double least)
{
    int order[4] = {0, 1, 2, 3};
    for (int k = 0; k < n; k++) {
        int r = k, c = k;
        for (int i = k; i < n; i++)
            for (int j = k; j < n; j++)
                if (fabs(a[i][j]) > fabs(a[r][c]))
                    r = i, c = j;
        for (int j = 0; j < n; j++) {
            double e = a[k][j];
            a[k][j] = a[r][j];
            a[r][j] = e;
        }
        double e = b[k];
        b[k] = b[r];
        b[r] = e;
        for (int i = 0; i < n; i++) {
            e = a[i][k];
            a[i][k] = a[i][c];
            a[i][c] = e;
        }
        int o = order[k];
        order[k] = order[c];
        order[c] = o;
        if (fabs(a[k][k]) < least)
            a[k][k] = least;
        for (int i = k + 1; i < n; i++) {
            double f = a[i][k] / a[k][k];
            for (int j = k + 1; j < n; j++)
                a[i][j] -= f * a[k][j];
            b[i] -= f * b[k];
        }
    }
    double x[4] = {0, 0, 0, 0};
    for (int k = n - 1; k >= 0; k--) {
        double s = b[k];
        for (int j = k + 1; j < n; j++)
            s -= a[k][j] * x[order[j]];
        x[order[k]] = s / a[k][k];
    }
    for (int k = 0; k < n; k++)
        b[k] = x[k];
}

/* x[n1][n2] with t11 x - x t22 = t12, of the blocks at i; the largest element of them. */
MAYBE double solve_sylvester(M t, I i, int n1, int n2, double x[2][2])
{
    double k[4][4] = {{0}}, b[4] = {0, 0, 0, 0}, most = 0;
    int n = n1 * n2;
    for (int r = 0; r < n1 + n2; r++)
        for (int c = 0; c < n1 + n2; c++)
            most = fmax(most, size_at(t, i + r, i + c));
    for (int r = 0; r < n1; r++)
        for (int c = 0; c < n2; c++) {
            int e = r * n2 + c;
            b[e] = (double)get(t, i + r, i + n1 + c).re;
            for (int l = 0; l < n1; l++)
                k[e][l * n2 + c] += (double)get(t, i + r, i + l).re;
            for (int l = 0; l < n2; l++)
                k[e][r * n2 + l] -= (double)get(t, i + n1 + l, i + n1 + c).re;
        }
    solve_few(n, k, b, fmax(ULP * most, SAFE_MIN));
    for (int r = 0; r < n1; r++)
        for (int c = 0; c < n2; c++)
            x[r][c] = b[r * n2 + c];
    return most;
}

typedef struct triple { /* a reflection of 3 rows from row `at` on */
    int at;
    D2 v1, v2, tau;
    bool last; /* its 1 is the last element: v1 and v2 come before it, in order */
} triple;

/* Reflections of 3 numbers, the last of which becomes all of them. */
MAYBE triple reflect_to_last(D2 a, D2 b, D2 c)
{
    D2 v[3] = {c, a, b}, tau;
    (void)reflect_few(3, v, &tau);
    return (triple){0, v[1], v[2], tau, true};
}

MAYBE triple reflect_to_first(D2 a, D2 b, D2 c, int at_)
{
    D2 v[3] = {a, b, c}, tau;
    (void)reflect_few(3, v, &tau);
    return (triple){at_, v[1], v[2], tau, false};
}

/* Rows i.. of a real matrix by one. */
MAYBE void triple_rows(M t, I i, const triple *f, I from, I to)
{
    T v[3] = {f->last ? (T)f->v1.re : 1, f->last ? (T)f->v2.re : (T)f->v1.re,
              f->last ? 1 : (T)f->v2.re},
      tau = (T)f->tau.re;
    for (I j = from; j < to; j++) {
        T *x = t.re + i + f->at + j * t.cs;
        T s = (v[0] * x[0] + v[1] * x[1] + v[2] * x[2]) * tau;
        for (int k = 0; k < 3; k++)
            x[k] -= s * v[k];
    }
}

MAYBE void triple_columns(M t, I i, const triple *f, I from, I to)
{
    T v[3] = {f->last ? (T)f->v1.re : 1, f->last ? (T)f->v2.re : (T)f->v1.re,
              f->last ? 1 : (T)f->v2.re},
      tau = (T)f->tau.re;
    T *x = t.re + (i + f->at) * t.cs, *y = x + t.cs, *w = y + t.cs;
    for (I r = from; r < to; r++) {
        T s = (v[0] * x[r] + v[1] * y[r] + v[2] * w[r]) * tau;
        x[r] -= s * v[0];
        y[r] -= s * v[1];
        w[r] -= s * v[2];
    }
}

/* The reflections that exchange blocks of n1 and n2 rows, of which x solves Sylvester's equation;
 * how many. */
MAYBE int swap_reflections(int n1, int n2, double x[2][2], triple *f)
{
    if (n1 == 1) {
        f[0] = reflect_to_last((D2){1, 0}, (D2){x[0][0], 0}, (D2){x[0][1], 0});
        return 1;
    }
    f[0] = reflect_to_first((D2){-x[0][0], 0}, (D2){-x[1][0], 0}, (D2){1, 0}, 0);
    if (n2 == 1)
        return 1;
    double u1 = f[0].v1.re, u2 = f[0].v2.re, by = -f[0].tau.re * (x[0][1] + u1 * x[1][1]);
    f[1] = reflect_to_first((D2){-by * u1 - x[1][1], 0}, (D2){-by * u2, 0}, (D2){1, 0}, 1);
    return 2;
}

/* Exchanges real blocks of n1 and n2 rows at i, n1 + n2 > 2, in t[n, n] and z; false: that would
 * not be stable, and nothing is done. */
MAYBE bool swap_pairs(M t, I n, M z, I i, int n1, int n2)
{
    T own[4 * 4];
    M d = {own, NULL, 1, 4};
    int size = n1 + n2;
    double x[2][2];
    triple f[2];
    for (int c = 0; c < size; c++)
        for (int r = 0; r < size; r++)
            put(d, r, c, get(t, i + r, i + c));
    double most = solve_sylvester(t, i, n1, n2, x), off = 0;
    int count = swap_reflections(n1, n2, x, f);
    for (int k = 0; k < count; k++) {
        triple_rows(d, 0, &f[k], 0, size);
        triple_columns(d, 0, &f[k], 0, size);
    }
    for (int c = 0; c < n2; c++)
        for (int r = n2; r < size; r++)
            off = fmax(off, size_at(d, r, c));
    if (!(off <= fmax(10 * ULP * most, SAFE_MIN)))
        return false;
    I to = i + size;
    C alone = n1 == 1 ? get(t, i, i) : get(t, i + 2, i + 2);
    for (int k = 0; k < count; k++) {
        triple_rows(t, i, &f[k], i, n);
        triple_columns(t, i, &f[k], 0, to);
        triple_columns(z, i, &f[k], 0, n);
    }
    for (int c = 0; c < n2; c++)
        for (int r = n2; r < size; r++)
            put(t, i + r, i + c, (C){0, 0});
    if (n1 == 1)
        put(t, i + 2, i + 2, alone);
    if (n2 == 1)
        put(t, i, i, alone);
    C w[2];
    if (n2 == 2)
        standardize(t, n, 0, n, z, n, i, w);
    if (n1 == 2)
        standardize(t, n, 0, n, z, n, i + n2, w);
    return true;
}

INLINE bool is_pair(M t, I n, I i)
{
    return i + 1 < n && (get(t, i + 1, i).re != 0 || get(t, i + 1, i).im != 0);
}

/* Moves the block that begins at row `from` of t[n, n] up to row `to`, or as far as it gets; the
 * row it is at. */
MAYBE I move_block(M t, I n, M z, I from, I to)
{
    int own = is_pair(t, n, from) ? 2 : 1;
    while (from > to) {
        int other = from >= 2 && is_pair(t, n, from - 2) ? 2 : 1;
        if (own == 2 && !is_pair(t, n, from)) /* it has come apart */
            return from;
        if (own + other == 2)
            swap_single(t, n, z, from - 1);
        else if (!swap_pairs(t, n, z, from - other, other, own))
            return from;
        from -= other;
    }
    return from;
}
#endif
