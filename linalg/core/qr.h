/* qr.h - Householder's reflections in blocks I - V T V^H (Schreiber and Van Loan 1989), and the
 * products of such blocks. Reflections are LAPACK's: H = I - tau v v^H, v[0] = 1, and H^H x is real
 * and has the other sign than Re x[0]. */
#ifndef LZ_LINALG_CORE_QR_H
#define LZ_LINALG_CORE_QR_H
#include "linalg/core/factor.h"
enum { BLOCK = LZ_LINALG_BLOCK, SLIVER = 8 };

/* In double, in eight independent sums. */
MAYBE double squares(I n, const T *x)
{
    double s[8] = {0}, rest = 0;
    I i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            s[k] += (double)x[i + k] * (double)x[i + k];
    for (; i < n; i++)
        rest += (double)x[i] * (double)x[i];
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])) + rest;
}

/* sqrt of the sum of squares; f32 sums in f64, f64 is scaled where squares would leave its range */
MAYBE double norm2(I n, M x)
{
    double sum = 0;
    if (sizeof(T) == 4 || n < 4) {
        sum = squares(n, x.re) + (x.im ? squares(n, x.im) : 0);
    } else {
        sum = dot1(n, x.re, x.re) + (x.im ? dot1(n, x.im, x.im) : 0);
    }
    if (sizeof(T) == 4 || (sum > 1e-290 && sum < 1e300) || sum != sum)
        return sqrt(sum);
    double most = 0;
    for (I i = 0; i < n; i++) {
        most = fmax(most, fabs((double)x.re[i]));
        most = fmax(most, x.im ? fabs((double)x.im[i]) : 0.0);
    }
    if (most == 0 || isinf(most))
        return most;
    sum = 0;
    for (I i = 0; i < n; i++) {
        double re = x.re[i] / most, im = x.im ? x.im[i] / most : 0;
        sum += re * re + im * im;
    }
    return most * sqrt(sum);
}

/* x[n], contiguous, becomes v with v[0] = 1; returns beta. A column of denormal numbers is scaled
 * by a power of two first: its elements are exact, but what they would be divided by is not. */
MAYBE T reflection(I n, M x, C *tau)
{
    const T small = sizeof(T) == 4 ? (T)0x1p-80 : (T)0x1p-900, up = 1 / small;
    C a = get(x, 0, 0);
    double tail = n > 1 ? norm2(n - 1, at(x, 1, 0)) : 0, back = 1;
    *tau = (C){0, 0};
    if (tail == 0 && a.im == 0) {
        put(x, 0, 0, (C){1, 0});
        return a.re;
    }
    double beta = hypot(hypot((double)a.re, (double)a.im), tail);
    if (beta < small) {
        for (I i = 0; i < n; i++) {
            C e = get(x, i, 0);
            put(x, i, 0, (C){e.re * up, e.im * up});
        }
        a = get(x, 0, 0);
        tail = n > 1 ? norm2(n - 1, at(x, 1, 0)) : 0;
        beta = hypot(hypot((double)a.re, (double)a.im), tail);
        back = small;
    }
    put(x, 0, 0, (C){1, 0});
    beta = a.re < 0 ? beta : -beta;
    *tau = (C){(T)((beta - a.re) / beta), (T)(-a.im / beta)};
    if (n > 1)
        divide_column(n - 1, 0, at(x, 1, 0), (C){(T)(a.re - beta), a.im});
    return (T)(beta * back);
}

/* T of the k reflections in v[m, k], whose elements above the first are 0. g: k x k to work in */
MAYBE void make_t(const gemm_room *room, I m, I k, M v, const C *tau, M t, M g)
{
    fill(g, k, k, 0);
    fill(t, k, k, 0);
    gemm(room, k, k, m, 1, flip(v), true, v, false, g, UPPER);
    for (I j = 0; j < k; j++) {
        put(t, j, j, tau[j]);
        for (I i = 0; i < j; i++) {
            C s = {0, 0};
            for (I l = i; l < j; l++) {
                C p = times(get(t, i, l), get(g, l, j));
                s = (C){s.re + p.re, s.im + p.im};
            }
            s = times(s, tau[j]);
            put(t, i, j, (C){-s.re, -s.im});
        }
    }
}

/* Room for applying blocks of up to BLOCK reflections. */
typedef struct block_room {
    gemm_room g;
    M t, products, w, w2; /* BLOCK x BLOCK; BLOCK x columns */
} block_room;

INLINE block_room take_blocks(arena *s, I largest, I cols, bool complex_)
{
    block_room b;
    b.g = take_gemm(s, largest);
    b.t = take_matrix(s, BLOCK, BLOCK, complex_);
    b.products = take_matrix(s, BLOCK, BLOCK, complex_);
    b.w = take_matrix(s, BLOCK, cols, complex_);
    b.w2 = take_matrix(s, BLOCK, cols, complex_);
    return b;
}

/* c[m, n] less V T V^H c, or V T^H V^H c */
MAYBE void apply_block(const block_room *b, I m, I n, I k, M v, bool adjoint, M c)
{
    if (n <= 0 || k <= 0)
        return;
    fill(b->w, k, n, 0);
    fill(b->w2, k, n, 0);
    gemm(&b->g, k, n, m, 1, flip(v), true, c, false, b->w, ALL);
    gemm(&b->g, k, n, k, 1, adjoint ? flip(b->t) : b->t, adjoint, b->w, false, b->w2, ALL);
    gemm(&b->g, m, n, k, -1, v, false, b->w2, false, c, ALL);
}

/* One reflection on n columns: c less conj(tau) v (v^H c). */
MAYBE void apply_one(I m, I n, M v, C tau, M c)
{
    if (n <= 0 || (tau.re == 0 && tau.im == 0))
        return;
    for (I j = 0; j < n; j++) {
        M x = at(c, 0, j);
        C s = times(conj_(tau), dotc(m, v, x));
        axpy(m, (C){-s.re, -s.im}, v, x);
    }
}

MAYBE bool are_finite(I m, I k, M v, const C *tau)
{
    T odd = largest(m, k, v);
    for (I i = 0; i < k; i++)
        odd += (tau[i].re - tau[i].re) + (tau[i].im - tau[i].im);
    return odd == odd;
}

/* k reflections on c[m, n]: the product of them, or of their adjoints from the first on. Where
 * `upper`, c has zeros above row i in the columns from i on. As a block; where NaN or infinities
 * are among them one by one, so that what does not need them stays finite. */
MAYBE void apply(const block_room *b, I m, I n, I k, M v, const C *tau, bool adjoint, bool upper,
                 M c)
{
    if (n <= 0 || k <= 0)
        return;
    if (are_finite(m, k, v, tau)) {
        make_t(&b->g, m, k, v, tau, b->t, b->products);
        apply_block(b, m, n, k, v, adjoint, c);
        return;
    }
    for (I s = 0; s < k; s++) {
        I i = adjoint ? s : k - 1 - s, from = upper ? i : 0;
        apply_one(m - i, n - from, at(v, i, i), adjoint ? tau[i] : conj_(tau[i]), at(c, i, from));
    }
}

/* The reflections of column j.. of a, w of them, on the columns up to `end`; v gets the vectors. */
MAYBE void qr_panel(const block_room *b, I m, I j, I w, I end, M a, M v, C *tau)
{
    for (I s = j; s < j + w; s += SLIVER) {
        I to = s + SLIVER < j + w ? s + SLIVER : j + w;
        for (I c = s; c < to; c++) {
            M x = at(v, c, c), y = at(a, c, c);
            for (I i = 0; i < m - c; i++)
                put(x, i, 0, get(y, i, 0));
            T beta = reflection(m - c, x, &tau[c]);
            put(y, 0, 0, (C){beta, 0});
            apply_one(m - c, to - c - 1, x, tau[c], at(a, c, c + 1));
        }
        apply(b, m - s, end - to, to - s, at(v, s, s), tau + s, true, false, at(a, s, to));
    }
}

/* a[m, n] = Q R by k reflections: R in its upper triangle, garbage below; v[m, k] */
MAYBE void factor(const block_room *b, I m, I n, I k, M a, M v, C *tau)
{
    fill(v, m, k, 0);
    for (I j = 0; j < k; j += BLOCK) {
        I w = k - j < BLOCK ? k - j : BLOCK;
        qr_panel(b, m, j, w, j + w, a, v, tau);
        if (j + w == n)
            return;
        apply(b, m - j, n - j - w, w, at(v, j, j), tau + j, true, false, at(a, j, j + w));
    }
}

/* q[m, n] = the product of the reflections in v[m, k] times q, in whose columns from j on the rows
 * above j are 0 (as in the identity) where `upper` */
MAYBE void apply_all(const block_room *b, I m, I n, I k, M v, const C *tau, M q, bool upper)
{
    for (I j = (k - 1) / BLOCK * BLOCK; k > 0 && j >= 0; j -= BLOCK) {
        I w = k - j < BLOCK ? k - j : BLOCK, from = upper ? j : 0;
        apply(b, m - j, n - from, w, at(v, j, j), tau + j, false, upper, at(q, j, from));
    }
}

typedef struct qr_room {
    block_room b;
    M a, v, q;
    C *tau;
} qr_room;

/* With q, or the reflections alone. */
static qr_room take_qr(arena *s, const lz_linalg_task *t)
{
    I m = t->m, n = t->n, k = m < n ? m : n, cols = t->op == LZ_LINALG_QR ? t->k : 0;
    I most = m > n ? m : n;
    qr_room r;
    r.b = take_blocks(s, most > cols ? most : cols, n > cols ? n : cols, t->complex_ != 0);
    r.a = take_matrix(s, m, n, t->complex_ != 0);
    r.v = take_matrix(s, m, k, t->complex_ != 0);
    r.q = take_matrix(s, m, cols, t->complex_ != 0);
    r.tau = take(s, k, sizeof(C));
    return r;
}

/* The largest magnitude of a part that is finite; 0: there is none. */
MAYBE T largest_finite(I m, I n, M a)
{
    T most = largest(m, n, a);
    if (most == most)
        return most;
    most = 0;
    for (I j = 0; j < n; j++)
        for (I i = 0; i < m; i++) {
            C x = get(a, i, j);
            T re = (T)fabs(x.re), im = (T)fabs(x.im);
            most = isfinite(re) && re > most ? re : most;
            most = isfinite(im) && im > most ? im : most;
        }
    return most;
}

/* a[m, n], loaded, as factor does it. Numbers next to the end of the range are scaled by a power of
 * two, so that sums of their products do not leave it; infinities and NaN stay what they are. */
MAYBE void factor_in_range(const qr_room *r, I m, I n, I k)
{
    const T down = (T)0x1p-32, end = (LA_DOUBLE ? (T)DBL_MAX : (T)FLT_MAX) * down;
    bool scaled = largest_finite(m, n, r->a) > end;
    if (scaled)
        multiply(m, n, r->a, down);
    factor(&r->b, m, n, k, r->a, r->v, r->tau);
    if (scaled)
        multiply(m, n, r->a, 1 / down);
}

static void fn_qr(const lz_linalg_task *t, void *const *bufs, char *scratch)
{
    arena s = arena_of(scratch);
    I m = t->m, n = t->n, k = m < n ? m : n;
    qr_room r = take_qr(&s, t);
    M q = r.q;
    load_matrix(m, n, bufs[2], n, 1, false, r.a);
    factor_in_range(&r, m, n, k);
    fill(q, m, t->k, 1);
    apply_all(&r.b, m, t->k, k, r.v, r.tau, q, true);
    for (I j = 0; j < n; j++)
        for (I i = j + 1; i < m; i++)
            put(r.a, i, j, (C){0, 0});
    store_matrix(m, t->k, q, bufs[0], t->k, 1, false);
    store_matrix(t->k, n, r.a, bufs[1], n, 1, false);
}

static void fn_geqrf(const lz_linalg_task *t, void *const *bufs, char *scratch)
{
    arena s = arena_of(scratch);
    I m = t->m, n = t->n, k = m < n ? m : n;
    qr_room r = take_qr(&s, t);
    load_matrix(m, n, bufs[2], n, 1, false, r.a);
    factor_in_range(&r, m, n, k);
    for (I j = 0; j < k; j++)
        for (I i = j + 1; i < m; i++)
            put(r.a, i, j, get(r.v, i, j));
    store_matrix(m, n, r.a, bufs[0], n, 1, false);
    T *tau = bufs[1];
    for (I j = 0; j < k; j++) {
        tau[t->complex_ ? 2 * j : j] = r.tau[j].re;
        if (t->complex_)
            tau[2 * j + 1] = r.tau[j].im;
    }
}
#endif
