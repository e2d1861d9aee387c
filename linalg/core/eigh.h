/* eigh.h - eigenvalues and eigenvectors of Hermitian matrices: blocked reduction to a real
 * tridiagonal matrix (Dongarra, Sorensen and Hammarling 1989), then implicit QL and QR steps
 * (iterate.h), whose rotations are applied in batches. */
#ifndef LZ_LINALG_CORE_EIGH_H
#define LZ_LINALG_CORE_EIGH_H
#include "linalg/core/divide.h"
/* y += sign * A x, A symmetric, or antisymmetric where `anti`, by its lower triangle. */
MAYBE void symv1(I n, T sign, bool anti, const T *a, I ld, const T *x, T *y)
{
    T back = anti ? -sign : sign;
    I j = 0;
    for (; j + 4 <= n; j += 4) {
        const T *p = a + j * ld;
        for (I c = 0; c < 4; c++) { /* the corner */
            y[j + c] += anti ? 0 : sign * p[c * ld + j + c] * x[j + c];
            for (I i = c + 1; i < 4; i++) {
                y[j + i] += sign * p[c * ld + j + i] * x[j + c];
                y[j + c] += back * p[c * ld + j + i] * x[j + i];
            }
        }
        V s[4] = {{0}, {0}, {0}, {0}};
        T b[4] = {sign * x[j], sign * x[j + 1], sign * x[j + 2], sign * x[j + 3]};
        T r[4] = {0, 0, 0, 0};
        I i = j + 4;
        for (; i + VL <= n; i += VL) {
            V v = load(x + i), w = load(y + i);
            UNROLL(4)
            for (int u = 0; u < 4; u++) {
                V e = load(p + u * ld + i);
                w += b[u] * e;
                s[u] += v * e;
            }
            store(y + i, w);
        }
        for (; i < n; i++)
            for (int u = 0; u < 4; u++) {
                T e = p[u * ld + i];
                y[i] += b[u] * e;
                r[u] += x[i] * e;
            }
        for (int u = 0; u < 4; u++)
            y[j + u] += back * (sum_of(s[u]) + r[u]);
    }
    for (; j < n; j++) {
        const T *p = a + j * ld;
        y[j] += anti ? 0 : sign * p[j] * x[j];
        for (I i = j + 1; i < n; i++) {
            y[i] += sign * p[i] * x[j];
            y[j] += back * p[i] * x[i];
        }
    }
}

MAYBE void hemv(I n, M a, M x, M y)
{
    symv1(n, 1, false, a.re, a.cs, x.re, y.re);
    if (a.im) {
        symv1(n, -1, true, a.im, a.cs, x.im, y.re);
        symv1(n, 1, true, a.im, a.cs, x.re, y.im);
        symv1(n, 1, false, a.re, a.cs, x.im, y.im);
    }
}

/* Rows from which on divide and conquer takes less time than rotations. */
enum { DIVIDE = LA_DOUBLE ? 96 : 128 };

typedef struct eigh_room {
    block_room b;
    M a, v, w, small;
    C *tau;
    R *d, *e;
    rotate_room rotate;
    divide_room divide;
    int32_t *order;
} eigh_room;

/* Column j of a panel that began at j0: updated, reduced to d[j] and e[j]; column j + 1 of v gets
 * its vector (from row j + 1 on), column c of w its product. */
MAYBE void tridiagonal_column(eigh_room *r, I n, I j0, I j)
{
    I c = j - j0, rest = n - j - 1;
    M x = at(r->a, j, j), v0 = at(r->v, j, j0), w0 = at(r->w, j, 0);
    gemv_n(n - j, c, -1, v0, flip(w0), true, x);
    gemv_n(n - j, c, -1, w0, flip(v0), true, x);
    r->d[j] = get(x, 0, 0).re;
    if (rest == 0)
        return;
    M v = at(r->v, j + 1, j), w = at(r->w, j + 1, c);
    for (I i = 0; i < rest; i++) {
        put(v, i, 0, get(x, i + 1, 0));
        put(w, i, 0, (C){0, 0});
    }
    r->e[j] = reflection(rest, v, &r->tau[j]);
    hemv(rest, at(r->a, j + 1, j + 1), v, w);
    if (c) {
        M s = r->small, t = at(r->small, BLOCK, 0), vr = at(r->v, j + 1, j0),
          wr = at(r->w, j + 1, 0);
        fill(s, 2 * BLOCK, 1, 0);
        put(s, 0, 0, (C){0, 0});
        gemv_h(rest, c, 1, wr, v, s);
        gemv_h(rest, c, 1, vr, v, t);
        gemv_n(rest, c, -1, vr, s, false, w);
        gemv_n(rest, c, -1, wr, t, false, w);
    }
    scale(rest, r->tau[j], w);
    C alpha = times((C){-(T)0.5, 0}, times(r->tau[j], dotc(rest, w, v)));
    axpy(rest, alpha, v, w);
}

/* a[n, n] (its lower triangle) = Q T Q^H: diagonals d, e; the reflections of Q in v, tau */
MAYBE void tridiagonal(eigh_room *r, I n)
{
    fill(r->v, n, n, 0);
    for (I i = 0; i < n; i++)
        put(r->v, i, i, (C){0, 0});
    for (I j0 = 0; j0 < n; j0 += BLOCK) {
        I end = j0 + BLOCK < n ? j0 + BLOCK : n, rest = n - end;
        for (I j = j0; j < end; j++)
            tridiagonal_column(r, n, j0, j);
        M v = at(r->v, end, j0), w = at(r->w, end, 0), c = at(r->a, end, end);
        gemm(&r->b.g, rest, rest, BLOCK, -1, v, false, flip(w), true, c, LOWER);
        gemm(&r->b.g, rest, rest, BLOCK, -1, w, false, flip(v), true, c, LOWER);
    }
}

static eigh_room take_eigh(arena *s, I n, bool complex_)
{
    eigh_room r;
    r.b = take_blocks(s, n, n, complex_);
    r.a = take_matrix(s, n, n, complex_);
    r.v = take_matrix(s, n, n, complex_);
    r.w = take_matrix(s, n, BLOCK, complex_);
    r.small = take_matrix(s, 2 * BLOCK, 1, complex_);
    r.tau = take(s, n, sizeof(C));
    r.d = take(s, n, sizeof *r.d);
    r.e = take(s, n, sizeof *r.e);
    r.rotate = take_rotations(s, n);
    r.divide = take_divide(s, n >= DIVIDE ? n : 1, false);
    r.order = take(s, n, sizeof *r.order);
    return r;
}

/* Order of n values, ascending or descending; equal ones stay in order. */
MAYBE void sort_values(I n, R *d, int32_t *order, bool descending)
{
    for (I i = 0; i < n; i++) { /* insertion: what the iteration leaves is nearly in order */
        R x = d[i];
        I j = i;
        for (; j > 0 && (descending ? d[j - 1] < x : d[j - 1] > x); j--) {
            d[j] = d[j - 1];
            order[j] = order[j - 1];
        }
        d[j] = x;
        order[j] = (int32_t)i;
    }
}

/* Column order[j] of z as column j of an array of n columns. */
MAYBE void store_columns(I m, I n, M z, const int32_t *order, T *out)
{
    for (I i0 = 0; i0 < m; i0 += MOVE_BLOCK)
        for (I j = 0; j < n; j++) {
            M x = at(z, 0, order[j]);
            for (I i = i0; i < i0 + MOVE_BLOCK && i < m; i++) {
                if (!z.im) {
                    out[i * n + j] = x.re[i];
                    continue;
                }
                out[2 * (i * n + j)] = x.re[i];
                out[2 * (i * n + j) + 1] = x.im[i];
            }
        }
}

/* The lower triangle, from either one; what is above is 0. */
MAYBE void load_hermitian(I n, const T *in, bool lower, M a)
{
    for (I j = 0; j < n; j++)
        for (I i = 0; i < n; i++) {
            I o = lower ? i * n + j : j * n + i;
            if (i < j)
                put(a, i, j, (C){0, 0});
            else if (a.im)
                put(a, i, j, (C){in[2 * o], i == j ? 0 : lower ? in[2 * o + 1] : -in[2 * o + 1]});
            else
                a.re[i + j * a.cs] = in[o];
        }
}

/* Values and vectors, in any order, of what tridiagonal() left, by rotations of its vectors. False:
 * no convergence. */
MAYBE bool eigh_iterate(eigh_room *r, I n)
{
    iteration x;
    M q = r->a;
    fill(q, n, n, 1);
    apply_all(&r->b, n - 1, n - 1, n - 1, at(r->v, 1, 0), r->tau, at(q, 1, 1), true);
    ql_begin(&x, n, r->d, r->e, sizeof(T) == 4 ? 0x1p-24 : 0x1p-53);
    for (bool done = false; !done;) {
        done = ql_run(&x, &r->rotate.r);
        rotate_all(&r->rotate, n, n, q);
    }
    normalize(n, n, q);
    return !x.failed;
}

/* The same by divide and conquer. */
MAYBE void eigh_divide(eigh_room *r, I n)
{
    divide_room *x = &r->divide;
    M z = x->side[0].z;
    for (I i = 0; i < n; i++) {
        x->a[i] = (double)r->d[i];
        x->b[i] = i + 1 < n ? (double)r->e[i] : 0;
    }
    eigen_divide(&r->b.g, x, n);
    fill(r->a, n, n, 0);
    for (I j = 0; j < n; j++) {
        I from = x->order[j];
        memcpy(r->a.re + j * r->a.cs, z.re + from * z.cs, (size_t)n * sizeof(T));
        r->d[j] = x->d[from];
    }
    apply_all(&r->b, n - 1, n, n - 1, at(r->v, 1, 0), r->tau, at(r->a, 1, 0), false);
    normalize(n, n, r->a);
}

static void fn_eigh(const lz_linalg_task *t, void *const *bufs, char *scratch)
{
    arena s = arena_of(scratch);
    I n = t->n, parts = t->complex_ ? 2 : 1;
    eigh_room r = take_eigh(&s, n, t->complex_ != 0);
    T *values = bufs[1];
    load_hermitian(n, bufs[2], t->lower != 0, r.a);
    T most = largest(n, n, r.a), by = safe_scale(most);
    bool found = !isnan(most);
    if (found) {
        if (by != 1)
            multiply(n, n, r.a, by);
        tridiagonal(&r, n);
        if (n >= DIVIDE)
            eigh_divide(&r, n);
        else
            found = eigh_iterate(&r, n);
    }
    if (!found) {
        fill_nan(bufs[0], n * n * parts);
        fill_nan(values, n);
        return;
    }
    sort_values(n, r.d, r.order, false);
    store_columns(n, n, r.a, r.order, bufs[0]);
    for (I i = 0; i < n; i++)
        values[i] = (T)(r.d[i] / by);
}
#endif
