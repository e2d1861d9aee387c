/* pivot.h - QR with column pivoting, in blocks: half of the work is products of matrices
 * (Quintana-Orti, Sun and Bischof 1998, LAPACK's geqp3), norms of columns are downdated and taken
 * anew where that has lost their digits (Drmac and Bujanovic 2008); and tridiagonal systems. */
#ifndef LZ_LINALG_CORE_PIVOT_H
#define LZ_LINALG_CORE_PIVOT_H
#include "linalg/core/hessenberg.h"
typedef struct pivot_room {
    qr_room q;
    M f, small, row;     /* A^H V T^H of a block; columns of BLOCK and of n */
    double *norm, *from; /* of what is left of the columns; when it was last taken */
    bool *lost;
} pivot_room;

static pivot_room take_pivot(arena *s, const lz_linalg_task *t)
{
    pivot_room r;
    r.q = take_qr(s, t);
    r.f = take_matrix(s, t->n, BLOCK, t->complex_ != 0);
    r.small = take_matrix(s, BLOCK, 1, t->complex_ != 0);
    r.row = take_matrix(s, t->n, 1, t->complex_ != 0);
    r.norm = take(s, t->n, sizeof *r.norm);
    r.from = take(s, t->n, sizeof *r.from);
    r.lost = take(s, t->n, sizeof *r.lost);
    return r;
}

MAYBE void swap_strided(I n, M x, M y)
{
    for (I i = 0; i < n; i++) {
        C a = get(x, i, 0);
        put(x, i, 0, get(y, i, 0));
        put(y, i, 0, a);
    }
}

/* The column of the largest norm to place j. */
MAYBE void choose_pivot(pivot_room *r, I m, I n, I j, I c, M a, int32_t *order)
{
    I best = j;
    for (I k = j + 1; k < n; k++)
        best = r->norm[k] > r->norm[best] ? k : best;
    if (best == j)
        return;
    swap_strided(m, at(a, 0, j), at(a, 0, best));
    swap_strided(c, flip(at(r->f, j, 0)), flip(at(r->f, best, 0)));
    int32_t o = order[j];
    order[j] = order[best];
    order[best] = o;
    r->norm[best] = r->norm[j];
    r->from[best] = r->from[j];
}

/* Row j of the columns after it is brought up to date, and taken off their norms; whether one lost
 * its digits. */
MAYBE bool pivot_row_done(pivot_room *r, I n, I j0, I j, M a)
{
    I rest = n - j - 1;
    bool lost = false;
    fill(r->row, rest, 1, 0);
    gemv_n(rest, j - j0 + 1, 1, at(r->f, j + 1, 0), flip(at(r->q.v, j, j0)), true, r->row);
    for (I i = 0; i < rest; i++) {
        I k = j + 1 + i;
        C e = get(a, j, k), p = get(r->row, i, 0);
        e = (C){e.re - p.re, e.im + p.im};
        put(a, j, k, e);
        if (r->norm[k] == 0)
            continue;
        double by = hypot((double)e.re, (double)e.im) / r->norm[k];
        by = fmax((1 + by) * (1 - by), 0);
        double since = r->norm[k] / r->from[k];
        if (by * since * since <= sqrt((double)(LA_DOUBLE ? DBL_EPSILON : FLT_EPSILON) / 2))
            lost = r->lost[k] = true;
        else
            r->norm[k] *= sqrt(by);
    }
    return lost;
}

/* Column j of the block from j0 on: its pivot, its reflection and its column of f. Whether a norm
 * was lost. */
MAYBE bool pivot_column(pivot_room *r, I m, I n, I j0, I j, M a, int32_t *order)
{
    I c = j - j0, rest = n - j - 1;
    choose_pivot(r, m, n, j, c, a, order);
    M x = at(a, j, j), v = at(r->q.v, j, j), f = at(r->f, j + 1, c), s = r->small;
    gemv_n(m - j, c, -1, at(r->q.v, j, j0), flip(at(r->f, j, 0)), true, x);
    for (I i = 0; i < m - j; i++)
        put(v, i, 0, get(x, i, 0));
    put(x, 0, 0, (C){reflection(m - j, v, &r->q.tau[j]), 0});
    C tau = r->q.tau[j];
    fill(f, rest, 1, 0);
    gemv_h(m - j, rest, 1, at(a, j, j + 1), v, f);
    scale(rest, tau, f);
    if (c) {
        fill(s, c, 1, 0);
        gemv_h(m - j, c, 1, at(r->q.v, j, j0), v, s);
        scale(c, (C){-tau.re, -tau.im}, s);
        gemv_n(rest, c, 1, at(r->f, j + 1, 0), s, false, f);
    }
    return pivot_row_done(r, n, j0, j, a);
}

MAYBE void take_norms(pivot_room *r, I m, I n, I from, M a, bool all)
{
    for (I k = from; k < n; k++)
        if (all || r->lost[k]) {
            r->norm[k] = r->from[k] = m > from ? norm2(m - from, at(a, from, k)) : 0;
            r->lost[k] = false;
        }
}

/* The columns from `fixed` on by their norms; v and tau as factor() gives them. */
MAYBE void factor_pivoted(pivot_room *r, I m, I n, I k, I fixed, M a, int32_t *order)
{
    take_norms(r, m, n, fixed, a, true);
    for (I j0 = fixed; j0 < k;) {
        I end = j0 + BLOCK < k ? j0 + BLOCK : k, j = j0;
        bool lost = false;
        for (; j < end && !lost; j++)
            lost = pivot_column(r, m, n, j0, j, a, order);
        gemm(&r->q.b.g, m - j, n - j, j - j0, -1, at(r->q.v, j, j0), false, flip(at(r->f, j, 0)),
             true, at(a, j, j), ALL);
        take_norms(r, m, n, j, a, false);
        j0 = j;
    }
}

/* Columns whose number is not 0 come first, in order; how many. order: from 1 */
MAYBE I fixed_first(I m, I n, const int32_t *given, M a, int32_t *order)
{
    I fixed = 0;
    for (I j = 0; j < n; j++)
        order[j] = (int32_t)(j + 1);
    for (I j = 0; j < n; j++)
        if (given[j] != 0) {
            if (j != fixed) {
                swap_strided(m, at(a, 0, j), at(a, 0, fixed));
                order[j] = order[fixed];
                order[fixed] = (int32_t)(j + 1);
            }
            fixed++;
        }
    return fixed;
}

static void fn_pivoted(const lz_linalg_task *t, void *const *bufs, char *scratch)
{
    arena s = arena_of(scratch);
    I m = t->m, n = t->n, k = m < n ? m : n, parts = t->complex_ ? 2 : 1;
    pivot_room r = take_pivot(&s, t);
    int32_t *order = bufs[1];
    M a = r.q.a;
    load_matrix(m, n, bufs[3], n, 1, false, a);
    I fixed = fixed_first(m, n, bufs[4], a, order);
    T by = into_range(m, n, a);
    if (isnan(by)) {
        fill_nan(bufs[0], m * n * parts);
        fill_nan(bufs[2], k * parts);
        return;
    }
    fill(r.q.v, m, k, 0);
    memset(r.lost, 0, (size_t)n * sizeof *r.lost);
    I first = fixed < k ? fixed : k;
    factor(&r.q.b, m, n, first, a, r.q.v, r.q.tau);
    factor_pivoted(&r, m, n, k, first, a, order);
    if (by != 1)
        multiply(m, n, a, 1 / by);
    for (I j = 0; j < k; j++)
        for (I i = j + 1; i < m; i++)
            put(a, i, j, get(r.q.v, i, j));
    store_matrix(m, n, a, bufs[0], n, 1, false);
    store_taus(k, t->complex_ != 0, r.q.tau, bufs[2]);
}

/* ---- tridiagonal systems ---- */

/* Diagonals of numbers that lie as in the arrays. */
INLINE C number_at(const T *x, I i, bool complex_)
{
    return complex_ ? (C){x[2 * i], x[2 * i + 1]} : (C){x[i], 0};
}

INLINE void number_to(T *x, I i, bool complex_, C v)
{
    x[complex_ ? 2 * i : i] = v.re;
    if (complex_)
        x[2 * i + 1] = v.im;
}

INLINE T size1(C x)
{
    return (T)(fabs(x.re) + fabs(x.im));
}

INLINE C less_product(C x, C a, C b, bool complex_)
{
    if (!complex_)
        return (C){x.re - a.re * b.re, 0};
    C p = times(a, b);
    return (C){x.re - p.re, x.im - p.im};
}

INLINE C quotient(C a, C b, bool complex_)
{
    if (!complex_)
        return (C){a.re / b.re, 0};
    row x = {{{0}, {0}}, {{0}, {0}}};
    x.re[0] += a.re;
    x.im[0] += a.im;
    divide(&x, b, true);
    return (C){x.re[0][0], x.im[0][0]};
}

/* Row i + 1 of b of `cols` numbers less f times row i, after an exchange of both where `swap`. */
MAYBE void row_step(I cols, T *b, I i, C f, bool swap, bool complex_)
{
    I parts = complex_ ? 2 : 1;
    T *x = b + i * cols * parts, *y = x + cols * parts;
    for (I j = 0; j < cols; j++) {
        C p = number_at(x, j, complex_), q = number_at(y, j, complex_);
        if (swap) {
            number_to(x, j, complex_, q);
            number_to(y, j, complex_, less_product(p, f, q, complex_));
        } else {
            number_to(y, j, complex_, less_product(q, f, p, complex_));
        }
    }
}

/* u x = b, in place of b; u has the diagonals d, du and (at i + 1 of its row i) dl */
MAYBE void back_substitute(I n, I cols, bool z, const T *dl, const T *d, const T *du, T *b)
{
    I parts = z ? 2 : 1;
    for (I i = n - 1; i >= 0; i--) {
        T *x = b + i * cols * parts;
        for (I j = 0; j < cols; j++) {
            C s = number_at(x, j, z);
            if (i + 1 < n)
                s = less_product(s, number_at(du, i, z), number_at(x, cols + j, z), z);
            if (i + 2 < n)
                s = less_product(s, number_at(dl, i + 1, z), number_at(x, 2 * cols + j, z), z);
            number_to(x, j, z, quotient(s, number_at(d, i, z), z));
        }
    }
}

/* Elimination with exchanges of neighbouring rows (LAPACK's gtsv): x, and the diagonals of u in
 * place of those of the matrix; the one two places above the diagonal is in dl. No x where u has 0
 * on its diagonal: NaN. */
static void fn_gtsv(const lz_linalg_task *t, void *const *bufs, char *scratch)
{
    I n = t->m, cols = t->n, parts = t->complex_ ? 2 : 1;
    bool z = t->complex_ != 0, singular = false;
    T *b = bufs[0], *dl = bufs[1], *d = bufs[2], *du = bufs[3];
    (void)scratch;
    memcpy(b, bufs[4], (size_t)(n * cols * parts) * sizeof(T));
    for (int k = 1; k < 4; k++)
        memcpy(bufs[k], bufs[4 + k], (size_t)(n * parts) * sizeof(T));
    for (I i = 0; i < n - 1 && !singular; i++) {
        C p = number_at(d, i, z), l = number_at(dl, i + 1, z), u = number_at(du, i, z),
          q = number_at(d, i + 1, z), f;
        bool swap = !(size1(p) >= size1(l));
        if (!swap && p.re == 0 && p.im == 0) {
            singular = true;
            break;
        }
        f = swap ? quotient(p, l, z) : quotient(l, p, z);
        row_step(cols, b, i, f, swap, z);
        C up = i + 2 < n ? number_at(du, i + 1, z) : (C){0, 0};
        if (swap) {
            number_to(d, i, z, l);
            number_to(du, i, z, q);
            number_to(d, i + 1, z, less_product(u, f, q, z));
            if (i + 2 < n)
                number_to(du, i + 1, z, less_product((C){0, 0}, f, up, z));
        } else {
            number_to(d, i + 1, z, less_product(q, f, u, z));
        }
        if (i + 2 < n)
            number_to(dl, i + 1, z, swap ? up : (C){0, 0});
    }
    C end = number_at(d, n - 1, z);
    singular = singular || (end.re == 0 && end.im == 0);
    if (singular)
        fill_nan(b, n * cols * parts);
    else
        back_substitute(n, cols, z, dl, d, du, b);
}
#endif
