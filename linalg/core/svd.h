/* svd.h - singular values and vectors: blocked reduction to a real bidiagonal matrix (Choi,
 * Dongarra and Walker 1995), of R where a is tall, then implicit zero-shift QR steps (iterate.h),
 * whose rotations are applied in batches. A wide matrix is done as its adjoint. */
#ifndef LZ_LINALG_CORE_SVD_H
#define LZ_LINALG_CORE_SVD_H
#include "linalg/core/eigh.h"
/* As DIVIDE, where there are two sides to rotate. */
enum { DIVIDE_SVD = LA_DOUBLE ? 64 : 128 };

typedef struct svd_room {
    block_room b;
    M a, u, v, uq, vq; /* the matrix; vectors of the reflections; their products */
    M x, y, small;     /* of a panel */
    M tall, rows;      /* reflections of a tall matrix; its R */
    C *tau_u, *tau_v, *tau;
    R *d, *e;
    rotate_room ru, rv;
    divide_room divide;
    int32_t *order;
} svd_room;

/* Step i of a panel that began at i0: row and column i are reduced. */
MAYBE void bidiagonal_step(svd_room *r, I m, I n, I i0, I i)
{
    I c = i - i0, below = m - i, right = n - i - 1;
    M col = at(r->a, i, i), vc = at(r->u, i, i);
    M u0 = at(r->u, i, i0), y0 = at(r->y, i, 0), x0 = at(r->x, i, 0), v0 = at(r->v, i, i0);
    M s = r->small, t = at(r->small, BLOCK, 0);
    gemv_n(below, c, -1, u0, flip(y0), true, col);
    gemv_n(below, c, -1, x0, flip(v0), true, col);
    for (I k = 0; k < below; k++)
        put(vc, k, 0, get(col, k, 0));
    r->d[i] = reflection(below, vc, &r->tau_u[i]);
    if (right == 0)
        return;
    /* y = tau A^H v, A being what it would be by now */
    M y = at(r->y, i + 1, c), y1 = at(r->y, i + 1, 0), v1 = at(r->v, i + 1, i0);
    fill(y, right, 1, 0);
    put(y, 0, 0, (C){0, 0});
    gemv_h(below, right, 1, at(r->a, i, i + 1), vc, y);
    memset(s.re, 0, 2 * BLOCK * sizeof(T));
    if (s.im)
        memset(s.im, 0, 2 * BLOCK * sizeof(T));
    gemv_h(below, c, 1, u0, vc, s);
    gemv_h(below, c, 1, x0, vc, t);
    gemv_n(right, c, -1, y1, s, false, y);
    gemv_n(right, c, -1, v1, t, false, y);
    scale(right, r->tau_u[i], y);
    /* the row, conjugated: conj(A) - Y conj(U) - V conj(X) */
    M vr = at(r->v, i + 1, i), x = at(r->x, i + 1, c);
    for (I k = 0; k < right; k++)
        put(vr, k, 0, conj_(get(r->a, i, i + 1 + k)));
    gemv_n(right, c + 1, -1, y1, flip(u0), true, vr);
    gemv_n(right, c, -1, v1, flip(x0), true, vr);
    r->e[i] = reflection(right, vr, &r->tau_v[i]);
    /* x = tau A v */
    fill(x, below - 1, 1, 0);
    if (below > 1)
        put(x, 0, 0, (C){0, 0});
    gemv_n(below - 1, right, 1, at(r->a, i + 1, i + 1), vr, false, x);
    memset(s.re, 0, 2 * BLOCK * sizeof(T));
    if (s.im)
        memset(s.im, 0, 2 * BLOCK * sizeof(T));
    gemv_h(right, c + 1, 1, y1, vr, s);
    gemv_h(right, c, 1, v1, vr, t);
    gemv_n(below - 1, c + 1, -1, at(r->u, i + 1, i0), s, false, x);
    gemv_n(below - 1, c, -1, at(r->x, i + 1, 0), t, false, x);
    scale(below - 1, r->tau_v[i], x);
}

/* a[m, n] = Q B P^H, m >= n, B upper bidiagonal: d, e; the reflections in u and v */
MAYBE void bidiagonal(svd_room *r, I m, I n)
{
    fill(r->u, m, n, 0);
    fill(r->v, n, n, 0);
    for (I i = 0; i < n; i++) {
        put(r->u, i, i, (C){0, 0});
        put(r->v, i, i, (C){0, 0});
    }
    for (I i0 = 0; i0 < n; i0 += BLOCK) {
        I end = i0 + BLOCK < n ? i0 + BLOCK : n, below = m - end, right = n - end;
        for (I i = i0; i < end; i++)
            bidiagonal_step(r, m, n, i0, i);
        M c = at(r->a, end, end);
        if (right == 0)
            return;
        gemm(&r->b.g, below, right, BLOCK, -1, at(r->u, end, i0), false, flip(at(r->y, end, 0)),
             true, c, ALL);
        gemm(&r->b.g, below, right, BLOCK, -1, at(r->x, end, 0), false, flip(at(r->v, end, i0)),
             true, c, ALL);
    }
}

/* Whether R is worth its making. */
INLINE bool is_tall(I m, I n, I cols)
{
    return cols == n && 2 * m >= 3 * n && n >= 16;
}

/* Rows m and columns n of a or its adjoint, m >= n; columns of u */
INLINE void sides(const lz_linalg_task *t, I *m, I *n, I *cols)
{
    *m = t->m < t->n ? t->n : t->m;
    *n = t->m < t->n ? t->m : t->n;
    *cols = t->k > *n ? *m : *n;
}

static svd_room take_svd(arena *s, const lz_linalg_task *t)
{
    svd_room r;
    I m, n, cols;
    bool complex_ = t->complex_ != 0;
    sides(t, &m, &n, &cols);
    bool tall = is_tall(m, n, cols);
    I rows = tall ? n : m;
    r.b = take_blocks(s, m, cols > n ? cols : n, complex_);
    r.a = take_matrix(s, rows, n, complex_);
    r.u = take_matrix(s, rows, n, complex_);
    r.v = take_matrix(s, n, n, complex_);
    r.uq = take_matrix(s, m, cols, complex_);
    r.vq = take_matrix(s, n, n, complex_);
    r.x = take_matrix(s, rows, BLOCK, complex_);
    r.y = take_matrix(s, n, BLOCK, complex_);
    r.small = take_matrix(s, 2 * BLOCK, 1, complex_);
    r.tall = take_matrix(s, tall ? m : 1, tall ? n : 1, complex_);
    r.rows = take_matrix(s, tall ? m : 1, tall ? n : 1, complex_);
    r.tau_u = take(s, n, sizeof(C));
    r.tau_v = take(s, n, sizeof(C));
    r.tau = take(s, n, sizeof(C));
    r.d = take(s, n, sizeof *r.d);
    r.e = take(s, n, sizeof *r.e);
    r.ru = take_rotations(s, n);
    r.rv = take_rotations(s, n);
    r.divide = take_divide(s, n >= DIVIDE_SVD ? n : 1, true);
    r.order = take(s, cols, sizeof *r.order);
    return r;
}

/* Vectors of what bidiagonal() left, by rotations of its vectors. False: no convergence. */
MAYBE bool svd_iterate(svd_room *r, I rows, I n, I cols)
{
    fill(r->uq, rows, cols, 1);
    apply_all(&r->b, rows, cols, n, r->u, r->tau_u, r->uq, true);
    fill(r->vq, n, n, 1);
    apply_all(&r->b, n - 1, n - 1, n - 1, at(r->v, 1, 0), r->tau_v, at(r->vq, 1, 1), true);
    iteration x;
    bdqr_begin(&x, n, r->d, r->e, sizeof(T) == 4 ? 0x1p-24 : 0x1p-53);
    for (bool done = false; !done;) {
        done = bdqr_run(&x, &r->ru.r, &r->rv.r);
        rotate_all(&r->ru, rows, n, r->uq);
        rotate_all(&r->rv, n, n, r->vq);
    }
    return !x.failed;
}

/* The same by divide and conquer. */
MAYBE void svd_divide(svd_room *r, I rows, I n, I cols)
{
    divide_room *x = &r->divide;
    M v = x->side[0].z, u = x->side[1].z;
    for (I i = 0; i < n; i++) {
        x->a[i] = (double)r->d[i];
        x->b[i] = i + 1 < n ? (double)r->e[i] : 0;
    }
    singular_divide(&r->b.g, x, n);
    fill(r->uq, rows, cols, 1);
    fill(r->vq, n, n, 0);
    for (I j = 0; j < n; j++) {
        I from = x->order[n - 1 - j];
        memcpy(r->uq.re + j * r->uq.cs, u.re + from * u.cs, (size_t)n * sizeof(T));
        memcpy(r->vq.re + j * r->vq.cs, v.re + from * v.cs, (size_t)n * sizeof(T));
        r->d[j] = x->d[from];
    }
    apply_all(&r->b, rows, cols, n, r->u, r->tau_u, r->uq, false);
    apply_all(&r->b, n - 1, n, n - 1, at(r->v, 1, 0), r->tau_v, at(r->vq, 1, 0), false);
}

/* Of the matrix in a (rows x n): values and vectors, in any order. False: no convergence. */
MAYBE bool bidiagonal_vectors(svd_room *r, I rows, I n, I cols)
{
    bool found = true;
    bidiagonal(r, rows, n);
    if (n >= DIVIDE_SVD)
        svd_divide(r, rows, n, cols);
    else
        found = svd_iterate(r, rows, n, cols);
    for (I j = 0; j < n; j++)
        if (signbit(r->d[j])) {
            r->d[j] = -r->d[j];
            multiply(n, 1, at(r->vq, 0, j), -1);
        }
    normalize(rows, n, r->uq);
    normalize(n, n, r->vq);
    return found;
}

/* u, s, v of r->a, or of the tall matrix in r->rows. */
MAYBE bool decompose(svd_room *r, I m, I n, I cols)
{
    bool tall = is_tall(m, n, cols);
    if (tall) {
        factor(&r->b, m, n, n, r->rows, r->tall, r->tau);
        for (I j = 0; j < n; j++)
            for (I i = 0; i < n; i++)
                put(r->a, i, j, i > j ? (C){0, 0} : get(r->rows, i, j));
    }
    if (!bidiagonal_vectors(r, tall ? n : m, n, cols))
        return false;
    if (tall) {
        for (I j = 0; j < cols; j++)
            for (I i = n; i < m; i++)
                put(r->uq, i, j, (C){0, 0});
        apply_all(&r->b, m, cols, n, r->tall, r->tau, r->uq, false);
    }
    sort_values(n, r->d, r->order, true);
    for (I j = n; j < cols; j++)
        r->order[j] = (int32_t)j;
    return true;
}

static void fn_svd(const lz_linalg_task *t, void *const *bufs, char *scratch)
{
    arena s = arena_of(scratch);
    bool wide = t->m < t->n;
    I m, n, cols, parts = t->complex_ ? 2 : 1;
    sides(t, &m, &n, &cols);
    svd_room r = take_svd(&s, t);
    M a = is_tall(m, n, cols) ? r.rows : r.a;
    T *values = bufs[1], *u = bufs[wide ? 2 : 0], *v = bufs[wide ? 0 : 2];
    load_matrix(m, n, bufs[3], wide ? 1 : n, wide ? m : 1, wide, a);
    T most = largest(m, n, a), by = safe_scale(most);
    if (!isnan(most) && by != 1)
        multiply(m, n, a, by);
    if (isnan(most) || !decompose(&r, m, n, cols)) {
        fill_nan(u, m * cols * parts);
        fill_nan(values, n);
        fill_nan(v, n * n * parts);
        return;
    }
    store_columns(m, cols, r.uq, r.order, u);
    store_columns(n, n, r.vq, r.order, v);
    for (I i = 0; i < n; i++)
        values[i] = (T)(r.d[i] / by);
}
#endif
