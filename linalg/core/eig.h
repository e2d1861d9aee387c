/* eig.h - eigenvalues and eigenvectors of general matrices: balance, Hessenberg form, Schur form,
 * substitution for the vectors of the triangle, and a product with Schur's vectors. What LAPACK's
 * gees and geev give: values in the order of the Schur form's diagonal, vectors of norm 1 whose
 * largest element is real. */
#ifndef LZ_LINALG_CORE_EIG_H
#define LZ_LINALG_CORE_EIG_H
#include "linalg/core/schur.h"
typedef struct eig_room {
    schur_room s;
    M a, z, line;
    balance b;
    M t, x, v;              /* of vectors: the triangle that is solved, its vectors, all */
    double *re, *im, *save; /* one vector */
} eig_room;

static eig_room take_eig(arena *s, const lz_linalg_task *t)
{
    I n = t->n;
    bool complex_ = t->complex_ != 0, vectors = t->op == LZ_LINALG_EIG && (t->left || t->k);
    eig_room r;
    r.s = take_schur(s, n, complex_);
    r.a = take_matrix(s, n, n, complex_);
    r.z = take_matrix(s, n, n, complex_);
    r.line = take_matrix(s, n, 1, complex_);
    r.b.by = take(s, n, sizeof *r.b.by);
    r.t = take_matrix(s, vectors ? n : 0, vectors ? n : 0, complex_);
    r.x = take_matrix(s, vectors ? n : 0, vectors ? n : 0, complex_);
    r.v = take_matrix(s, vectors ? n : 0, vectors ? n : 0, complex_);
    r.re = take(s, n, sizeof(double));
    r.im = take(s, n, sizeof(double));
    r.save = take(s, n, sizeof(double));
    return r;
}

/* r->a to Schur form, its values to r->s.w, Schur's vectors to r->z where they are wanted. */
MAYBE bool schur_of(eig_room *r, I n, bool whole, bool vectors, bool scaled)
{
    balance_matrix(n, r->a, scaled, &r->b, r->line);
    hessenberg(&r->s.hess, n, r->b.lo, r->b.hi + 1, r->a);
    if (vectors)
        hessenberg_q(&r->s.hess, n, r->b.lo, r->b.hi + 1, r->z);
    schur x = {n, r->b.lo, r->b.hi, r->a, r->z, whole, vectors, r->s.w};
    if (!schur_form(&r->s, &x))
        return false;
    for (I j = 0; j < n; j++)
        for (I i = j + (r->a.im ? 1 : 2); i < n; i++)
            put(r->a, i, j, (C){0, 0});
    return true;
}

MAYBE void store_values(I n, const C *w, T by, T *out)
{
    for (I i = 0; i < n; i++) {
        out[2 * i] = w[i].re / by;
        out[2 * i + 1] = w[i].im / by;
    }
}

/* The power of two that makes the largest magnitude something between 1/2 and 1. */
MAYBE T unit_scale(T most)
{
    const int end = sizeof(T) == 4 ? 120 : 1000;
    int e;
    if (most == 0)
        return 1;
    (void)frexp((double)most, &e);
    e = e > end ? end : e < -end ? -end : e;
    return (T)ldexp(1, -e);
}

/* Results: t; z, where k; values */
static void fn_schur(const lz_linalg_task *t, void *const *bufs, char *scratch)
{
    arena s = arena_of(scratch);
    I n = t->n, parts = t->complex_ ? 2 : 1;
    eig_room r = take_eig(&s, t);
    bool vectors = t->k != 0;
    T *w = bufs[vectors ? 2 : 1];
    load_matrix(n, n, bufs[vectors ? 3 : 2], n, 1, false, r.a);
    T most = largest(n, n, r.a), by = isnan(most) ? 1 : safe_scale(most);
    if (by != 1)
        multiply(n, n, r.a, by);
    if (isnan(most) || !schur_of(&r, n, true, vectors, false)) {
        fill_nan(bufs[0], n * n * parts);
        if (vectors)
            fill_nan(bufs[1], n * n * parts);
        fill_nan(w, 2 * n);
        return;
    }
    if (vectors) {
        balance_back(n, &r.b, false, r.z);
        store_matrix(n, n, r.z, bufs[1], n, 1, false);
    }
    if (by != 1)
        multiply(n, n, r.a, 1 / by);
    store_matrix(n, n, r.a, bufs[0], n, 1, false);
    store_values(n, r.s.w, by, w);
}

/* ---- vectors of a (quasi-)triangular matrix ---- */

/* y less a x of the first n elements */
MAYBE void less_column(I n, D2 a, bool two, M t, I j, double *re, double *im)
{
    const T *x = t.re + j * t.cs;
    for (I i = 0; i < n; i++)
        re[i] -= a.re * (double)x[i];
    if (two)
        for (I i = 0; i < n; i++)
            im[i] -= a.im * (double)x[i];
    if (!t.im)
        return;
    const T *y = t.im + j * t.cs;
    for (I i = 0; i < n; i++) {
        re[i] += a.im * (double)y[i];
        im[i] -= a.re * (double)y[i];
    }
}

/* Elements from..to of the vector times `by`. */
MAYBE void shrink(eig_room *r, I to, double by)
{
    for (I i = 0; i <= to; i++) {
        r->re[i] *= by;
        r->im[i] *= by;
    }
}

/* What the right side b of a pivot is multiplied by so that the quotient stays within 2^300. */
MAYBE double safe_for(double b, double pivot)
{
    return b > 0x1p300 * pivot ? 0x1p300 * pivot / b : 1;
}

/* (t[i, i] - w) x[i] = x[i]; the vector has `end` elements */
MAYBE D2 solve_one(eig_room *r, M t, I i, I end, D2 w, double least)
{
    D2 p = d_less(wide(get(t, i, i)), w);
    if (d_size(p) < least)
        p = (D2){least, 0};
    double by = safe_for(fabs(r->re[i]) + fabs(r->im[i]), d_size(p));
    if (by != 1)
        shrink(r, end, by);
    return d_over((D2){r->re[i], r->im[i]}, p);
}

/* The same of rows i and i + 1 of a pair of the real t. */
MAYBE void solve_two(eig_room *r, M t, I i, I end, D2 w, double least, D2 *x)
{
    D2 a = d_less(wide(get(t, i, i)), w), b = wide(get(t, i, i + 1)), c = wide(get(t, i + 1, i)),
       d = d_less(wide(get(t, i + 1, i + 1)), w);
    bool swap = d_size(c) > d_size(a);
    if (swap) {
        D2 e = a;
        a = c, c = e;
        e = b;
        b = d, d = e;
    }
    if (d_size(a) < least)
        a = (D2){least, 0};
    D2 f = d_over(c, a), q = d_less(d, d_times(f, b));
    if (d_size(q) < least)
        q = (D2){least, 0};
    double most = fmax(fabs(r->re[i]) + fabs(r->im[i]), fabs(r->re[i + 1]) + fabs(r->im[i + 1]));
    double by = safe_for(most, fmin(d_size(q), 1));
    if (by != 1)
        shrink(r, end, by);
    D2 u = {r->re[i + (swap ? 1 : 0)], r->im[i + (swap ? 1 : 0)]},
       v = {r->re[i + (swap ? 0 : 1)], r->im[i + (swap ? 0 : 1)]};
    x[1] = d_over(d_less(v, d_times(f, u)), q);
    u = d_less(u, d_times(b, x[1]));
    by = safe_for(d_size(u), d_size(a));
    if (by != 1) {
        shrink(r, end, by);
        x[1] = (D2){x[1].re * by, x[1].im * by};
        u = (D2){u.re * by, u.im * by};
    }
    x[0] = d_over(u, a);
}

/* Element `at_` and what is above it: (t - w) x = 0, right sides being in place of the elements. */
MAYBE void substitute_up(eig_room *r, M t, I at_, I end, D2 w, bool two, double least)
{
    for (I i = at_; i >= 0; i--) {
        D2 x[2];
        I first = i > 0 && !t.im && is_pair(t, at_ + 1, i - 1) ? i - 1 : i;
        if (first == i)
            x[0] = solve_one(r, t, i, end, w, least);
        else
            solve_two(r, t, first, end, w, least, x);
        for (I k = first; k <= i; k++) {
            r->re[k] = x[k - first].re;
            r->im[k] = x[k - first].im;
        }
        for (I k = first; k <= i; k++)
            less_column(first, x[k - first], two, t, k, r->re, r->im);
        double most = 0;
        for (I k = first; k <= i; k++)
            most = fmax(most, d_size(x[k - first]));
        if (most > 0x1p200)
            shrink(r, end, 1 / most);
        i = first;
    }
}

/* The vector to column j of x, its largest element 1 by size; `turn`: a factor of it, a power of
 * i. */
MAYBE void keep_vector(eig_room *r, I n, I end, I j, bool two, int turn)
{
    double most = 0;
    for (I i = 0; i <= end; i++)
        most = fmax(most, fabs(r->re[i]) + (two ? fabs(r->im[i]) : 0));
    most = most > 0 ? 1 / most : 1;
    M x = r->x;
    for (I i = 0; i < n; i++) {
        double re = i <= end ? r->re[i] * most : 0, im = i <= end ? r->im[i] * most : 0;
        D2 e = turn == 1 ? (D2){-im, re} : turn == 3 ? (D2){im, -re} : (D2){re, im};
        if (x.im || !two) {
            put(x, i, j, narrow(e));
            continue;
        }
        put(x, i, j, (C){(T)e.re, 0});
        put(x, i, j + 1, (C){(T)e.im, 0});
    }
}

/* All right vectors of the triangle t to r->x; of a pair both parts of the one with the positive
 * imaginary part, or with the negative one where `left` (LAPACK's trevc). */
MAYBE void triangle_vectors(eig_room *r, I n, M t, const C *w, bool left)
{
    double small = SAFE_MIN * ((double)n / ULP);
    for (I j = n - 1; j >= 0; j--) {
        D2 v = wide(w[j]);
        bool pair = !t.im && j > 0 && is_pair(t, n, j - 1), two = pair || t.im;
        int turn = 0;
        for (I i = 0; i < n; i++) {
            r->re[i] = pair ? 0 : -(double)get(t, i, j).re;
            r->im[i] = pair ? 0 : -(double)get(t, i, j).im;
        }
        r->re[j] = 1;
        r->im[j] = 0;
        if (pair) {
            double up = (double)get(t, j - 1, j).re, down = (double)get(t, j, j - 1).re;
            double im = sqrt(fabs(up)) * sqrt(fabs(down));
            v = (D2){(double)get(t, j, j).re, left ? -im : im};
            bool first = fabs(up) >= fabs(down);
            r->re[j] = 0;
            r->re[j - 1] = first ? 1 : -v.im / down;
            r->im[j] = first ? v.im / up : 1;
            turn = left ? (first ? 1 : 3) : 0;
            for (I i = 0; i < j - 1; i++) {
                r->re[i] = -r->re[j - 1] * (double)get(t, i, j - 1).re;
                r->im[i] = -r->im[j] * (double)get(t, i, j).re;
            }
        }
        double least = fmax(ULP * d_size(v), small);
        substitute_up(r, t, pair ? j - 2 : j - 1, j, v, two, least);
        keep_vector(r, n, j, pair ? j - 1 : j, two, turn);
        j -= pair;
    }
}

/* t's adjoint with rows and columns in the other order is triangular, too. */
MAYBE void turned_adjoint(I n, M t, M out)
{
    for (I j = 0; j < n; j++)
        for (I i = 0; i < n; i++)
            put(out, i, j, conj_(get(t, n - 1 - j, n - 1 - i)));
}

/* Rows and columns in the other order, so that x is of t again; parts of pairs stay in order. */
MAYBE void turn_back(I n, M t, M x)
{
    for (I j = 0; j < n; j++)
        for (I i = 0; i < n / 2; i++) {
            C e = get(x, i, j);
            put(x, i, j, get(x, n - 1 - i, j));
            put(x, n - 1 - i, j, e);
        }
    for (I j = 0; j < n / 2; j++)
        swap_strided(n, at(x, 0, j), at(x, 0, n - 1 - j));
    for (I j = 0; j + 1 < n; j++)
        if (!t.im && is_pair(t, n, j)) {
            swap_strided(n, at(x, 0, j), at(x, 0, j + 1));
            j++;
        }
}

/* Column j of v (and j + 1, its imaginary part, where `pair`) to norm 1, the largest element real.
 */
MAYBE void normalize_vector(I n, M v, I j, bool pair)
{
    M re = at(v, 0, j), im = at(v, 0, pair ? j + 1 : j);
    double size = hypot(norm2(n, re), pair ? norm2(n, im) : 0), most = -1, c = 1, s = 0;
    I best = 0;
    if (!pair && !v.im) {
        multiply(n, 1, re, (T)(1 / size));
        return;
    }
    for (I i = 0; i < n; i++) {
        double a = (double)get(re, i, 0).re,
               b = pair ? (double)get(im, i, 0).re : (double)get(re, i, 0).im, e = a * a + b * b;
        if (e > most) {
            most = e;
            best = i;
            c = a;
            s = b;
        }
    }
    most = hypot(c, s);
    if (pair)
        most = copysign(most, c); /* as dlartg */
    c = c / most / size;
    s = s / most / size;
    for (I i = 0; i < n; i++) {
        double a = (double)get(re, i, 0).re,
               b = pair ? (double)get(im, i, 0).re : (double)get(re, i, 0).im;
        D2 e = {c * a + s * b, i == best ? 0 : c * b - s * a};
        put(re, i, 0, narrow(e));
        if (pair)
            put(im, i, 0, (C){(T)e.im, 0});
    }
}

/* Vectors as complex numbers; of a pair in two columns the conjugates. */
MAYBE void store_vectors(I n, M t, M v, T *out)
{
    for (I j = 0; j < n; j++) {
        bool pair = !t.im && is_pair(t, n, j);
        for (I i = 0; i < n; i++) {
            C e = get(v, i, j);
            T im = pair ? get(v, i, j + 1).re : e.im;
            T *to = out + 2 * (i * n + j);
            to[0] = e.re;
            to[1] = im;
            if (pair) {
                to[2] = e.re;
                to[3] = -im;
            }
        }
        j += pair;
    }
}

/* The values of the adjoint whose rows and columns are in the other order, and back. */
MAYBE void turn_values(I n, C *w)
{
    for (I i = 0; i < n / 2; i++) {
        C e = w[i];
        w[i] = w[n - 1 - i];
        w[n - 1 - i] = e;
    }
    for (I i = 0; i < n; i++)
        w[i] = conj_(w[i]);
}

MAYBE void vectors_of(eig_room *r, I n, bool left, T *out)
{
    M t = r->a;
    if (left) {
        C *w = r->s.w;
        turned_adjoint(n, r->a, r->t);
        turn_values(n, w);
        triangle_vectors(r, n, r->t, w, true);
        turn_values(n, w);
        turn_back(n, t, r->x);
    } else {
        triangle_vectors(r, n, t, r->s.w, false);
    }
    fill(r->v, n, n, 0);
    gemm(&r->s.hess.b.g, n, n, n, 1, r->z, false, r->x, false, r->v, ALL);
    balance_back(n, &r->b, left, r->v);
    for (I j = 0; j < n; j++) {
        bool pair = !t.im && is_pair(t, n, j);
        normalize_vector(n, r->v, j, pair);
        j += pair;
    }
    store_vectors(n, t, r->v, out);
}

/* Results: values; left vectors, where `left`; right ones, where k */
static void fn_eig(const lz_linalg_task *t, void *const *bufs, char *scratch)
{
    arena s = arena_of(scratch);
    I n = t->n, count = 1 + (t->left != 0) + (t->k != 0);
    eig_room r = take_eig(&s, t);
    bool vectors = count > 1;
    load_matrix(n, n, bufs[count], n, 1, false, r.a);
    T most = largest(n, n, r.a), by = isnan(most) ? 1 : unit_scale(most);
    if (by != 1)
        multiply(n, n, r.a, by);
    if (isnan(most) || !schur_of(&r, n, vectors, vectors, true)) {
        fill_nan(bufs[0], 2 * n);
        for (I k = 1; k < count; k++)
            fill_nan(bufs[k], 2 * n * n);
        return;
    }
    store_values(n, r.s.w, by, bufs[0]);
    if (t->left)
        vectors_of(&r, n, true, bufs[1]);
    if (t->k)
        vectors_of(&r, n, false, bufs[count - 1]);
}
#endif
