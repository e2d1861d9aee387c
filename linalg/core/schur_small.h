/* schur_small.h - the Schur form of a small Hessenberg matrix: Francis' double shift QR steps of
 * real matrices, single shifts of complex ones, with the deflation criterion of Ahues and Tisseur
 * (1997). What LAPACK's dlahqr, zlahqr and dlanv2 do, so that eigenvalues come in their order. */
#ifndef LZ_LINALG_CORE_SCHUR_SMALL_H
#define LZ_LINALG_CORE_SCHUR_SMALL_H
#include "linalg/core/pivot.h"
#define ULP ((double)(LA_DOUBLE ? DBL_EPSILON : FLT_EPSILON))
#define SAFE_MIN ((double)(LA_DOUBLE ? DBL_MIN : FLT_MIN))

/* Called from many places with loops of its own. */
#define OUTLINE static __attribute__((noinline, unused))

/* A Hessenberg matrix on its way: rows and columns lo..hi (both inclusive) are worked on. z is
 * multiplied by what h is, where `vectors`; without `whole` only eigenvalues are right. w[i] are
 * eigenvalues that are found. */
typedef struct schur {
    I n, lo, hi;
    M h, z;
    bool whole, vectors;
    C *w;
} schur;

typedef struct D2 { /* a number in double */
    double re, im;
} D2;

INLINE D2 wide(C x)
{
    return (D2){(double)x.re, (double)x.im};
}

INLINE C narrow(D2 x)
{
    return (C){(T)x.re, (T)x.im};
}

INLINE D2 d_times(D2 a, D2 b)
{
    return (D2){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

INLINE D2 d_less(D2 a, D2 b)
{
    return (D2){a.re - b.re, a.im - b.im};
}

INLINE double d_size(D2 a)
{
    return fabs(a.re) + fabs(a.im);
}

/* Smith's */
MAYBE D2 d_over(D2 a, D2 b)
{
    if (b.im == 0)
        return (D2){a.re / b.re, a.im / b.re};
    if (fabs(b.re) >= fabs(b.im)) {
        double q = b.im / b.re, d = b.re + b.im * q;
        return (D2){(a.re + a.im * q) / d, (a.im - a.re * q) / d};
    }
    double q = b.re / b.im, d = b.re * q + b.im;
    return (D2){(a.re * q + a.im) / d, (a.im * q - a.re) / d};
}

MAYBE D2 d_sqrt(D2 a)
{
    double r = hypot(a.re, a.im);
    if (r == 0)
        return (D2){0, 0};
    double s = sqrt(0.5 * (r + fabs(a.re))), t = 0.5 * a.im / s;
    if (a.re >= 0)
        return (D2){s, t};
    return (D2){fabs(t), copysign(s, a.im)};
}

/* The reflection of 2 or 3 numbers, as reflection(): v[0] = 1 is not stored. Returns beta. In the
 * wider type, so that it is as orthogonal as its numbers can be. */
OUTLINE double reflect_few(int n, D2 *x, D2 *tau)
{
    R re[3], im[3], most = 0, sum = 0;
    *tau = (D2){0, 0};
    for (int i = 1; i < n; i++)
        most = fmax(most, (R)d_size(x[i]));
    if (most == 0 && x[0].im == 0)
        return x[0].re;
    most = fmax(most, (R)d_size(x[0]));
    bool scaled = !(most > (R)1e-140 && most < (R)1e140);
    R by = scaled ? 1 / most : 1;
    for (int i = 0; i < n; i++) {
        re[i] = (R)x[i].re * by;
        im[i] = (R)x[i].im * by;
        sum += re[i] * re[i] + im[i] * im[i];
    }
    R beta = sqrt(sum);
    beta = re[0] < 0 ? beta : -beta;
    *tau = (D2){(double)((beta - re[0]) / beta), (double)(-im[0] / beta)};
    R a = re[0] - beta, b = im[0], d = 1 / (a * a + b * b);
    for (int i = 1; i < n; i++)
        x[i] = b == 0 ? (D2){(double)(re[i] / a), (double)(im[i] / a)}
                      : (D2){(double)((re[i] * a + im[i] * b) * d),
                             (double)((im[i] * a - re[i] * b) * d)};
    return (double)(scaled ? beta * most : beta);
}

/* Rows k.. of columns from..to (exclusive) by the adjoint of I - tau v v^H, v = (1, v1, v2). */
OUTLINE void reflect_rows(M h, I k, int n, D2 v1, D2 v2, D2 tau, I from, I to)
{
    if (!h.im) {
        T t1 = (T)tau.re, a = (T)v1.re, b = (T)v2.re;
        for (I j = from; j < to; j++) {
            T *x = h.re + k + j * h.cs;
            if (n == 3) {
                T s = (x[0] + a * x[1] + b * x[2]) * t1;
                x[0] -= s;
                x[1] -= s * a;
                x[2] -= s * b;
            } else {
                T s = (x[0] + a * x[1]) * t1;
                x[0] -= s;
                x[1] -= s * a;
            }
        }
        return;
    }
    const C t1 = {(T)tau.re, (T)-tau.im}, v[3] = {{1, 0}, narrow(v1), narrow(v2)};
    for (I j = from; j < to; j++) {
        T *x = h.re + k + j * h.cs, *y = h.im + k + j * h.cs;
        C s = {x[0], y[0]};
        for (int i = 1; i < n; i++) {
            s.re += v[i].re * x[i] + v[i].im * y[i];
            s.im += v[i].re * y[i] - v[i].im * x[i];
        }
        s = times(s, t1);
        for (int i = 0; i < n; i++) {
            C p = times(s, v[i]);
            x[i] -= p.re;
            y[i] -= p.im;
        }
    }
}

/* Columns k.. of rows from..to (exclusive) by I - tau v v^H. */
OUTLINE void reflect_columns(M h, I k, int n, D2 v1, D2 v2, D2 tau, I from, I to)
{
    T *x = h.re + k * h.cs, *y = x + h.cs, *w = n == 3 ? y + h.cs : y;
    T a = (T)v1.re, b = n == 3 ? (T)v2.re : 0, t = (T)tau.re;
    if (!h.im) {
        T ta = t * a, tb = t * b;
        if (n == 3) {
            for (I i = from; i < to; i++) {
                T s = x[i] + a * y[i] + b * w[i];
                x[i] -= s * t;
                y[i] -= s * ta;
                w[i] -= s * tb;
            }
        } else {
            for (I i = from; i < to; i++) {
                T s = x[i] + a * y[i];
                x[i] -= s * t;
                y[i] -= s * ta;
            }
        }
        return;
    }
    T *xi = h.im + k * h.cs, *yi = xi + h.cs, *wi = n == 3 ? yi + h.cs : yi;
    T ai = (T)v1.im, bi = n == 3 ? (T)v2.im : 0, ti = (T)tau.im;
    for (I i = from; i < to; i++) {
        T sr = x[i] + a * y[i] - ai * yi[i], si = xi[i] + a * yi[i] + ai * y[i];
        if (n == 3) {
            sr += b * w[i] - bi * wi[i];
            si += b * wi[i] + bi * w[i];
        }
        T pr = sr * t - si * ti, pi = sr * ti + si * t;
        x[i] -= pr;
        xi[i] -= pi;
        y[i] -= pr * a + pi * ai;
        yi[i] -= pi * a - pr * ai;
        if (n == 3) {
            w[i] -= pr * b + pi * bi;
            wi[i] -= pi * b - pr * bi;
        }
    }
}

/* x, y = c x + s y, c y - conj(s) x: rows i and j of columns from..to, or columns of rows */
MAYBE void turn_both(M x, M y, I n, T c, C s)
{
    for (I i = 0; i < n; i++) {
        C a = get(x, i, 0), b = get(y, i, 0), p = times(s, b), q = times(conj_(s), a);
        put(x, i, 0, (C){c * a.re + p.re, c * a.im + p.im});
        put(y, i, 0, (C){c * b.re - q.re, c * b.im - q.im});
    }
}

MAYBE void turn_rows(M h, I i, I j, I from, I to, T c, C s)
{
    turn_both(flip(at(h, i, from)), flip(at(h, j, from)), to - from, c, s);
}

MAYBE void turn_columns(M h, I i, I j, I from, I to, T c, C s)
{
    turn_both(at(h, from, i), at(h, from, j), to - from, c, s);
}

/* ---- the standard form of a real 2 x 2 block ---- */

typedef struct block2 {
    double a, b, c, d, cs, sn;
} block2;

/* Two complex eigenvalues, or two that are nearly equal, of [a b; c d]: a and d become equal. */
MAYBE void standard_pair(block2 *x)
{
    double a = x->a, b = x->b, c = x->c, d = x->d, sigma = b + c, dif = a - d;
    double tau = hypot(sigma, dif), cs = sqrt(0.5 * (1 + fabs(sigma) / tau));
    double sn = -(0.5 * dif / (tau * cs)) * copysign(1, sigma);
    double aa = a * cs + b * sn, bb = -a * sn + b * cs, cc = c * cs + d * sn, dd = -c * sn + d * cs;
    a = aa * cs + cc * sn;
    b = bb * cs + dd * sn;
    c = -aa * sn + cc * cs;
    d = -bb * sn + dd * cs;
    double mean = 0.5 * (a + d);
    a = d = mean;
    if (c != 0 && b == 0) {
        b = -c;
        c = 0;
        double t = cs;
        cs = -sn;
        sn = t;
    } else if (c != 0 && signbit(b) == signbit(c)) { /* real after all */
        double sab = sqrt(fabs(b)), sac = sqrt(fabs(c)), p = copysign(sab * sac, c),
               by = 1 / sqrt(fabs(b + c));
        a = mean + p;
        d = mean - p;
        b = b - c;
        c = 0;
        double cs1 = sab * by, sn1 = sac * by, t = cs * cs1 - sn * sn1;
        sn = cs * sn1 + sn * cs1;
        cs = t;
    }
    *x = (block2){a, b, c, d, cs, sn};
}

/* [a b; c d] = [cs -sn; sn cs] [a' b'; c' d'] [cs sn; -sn cs] with c' = 0, or a' = d' and b' c'
 * negative (dlanv2) */
MAYBE void standard_block(block2 *x)
{
    double a = x->a, b = x->b, c = x->c, d = x->d;
    x->cs = 1;
    x->sn = 0;
    if (c == 0)
        return;
    if (b == 0) {
        *x = (block2){d, -c, 0, a, 0, 1};
        return;
    }
    if (a - d == 0 && signbit(b) != signbit(c))
        return;
    double p = 0.5 * (a - d), most = fmax(fabs(b), fabs(c)),
           least = fmin(fabs(b), fabs(c)) * copysign(1, b) * copysign(1, c),
           scale = fmax(fabs(p), most), z = (p / scale) * p + (most / scale) * least;
    if (z < 4 * ULP) {
        standard_pair(x);
        return;
    }
    z = p + copysign(sqrt(scale) * sqrt(z), p);
    double tau = hypot(c, z);
    *x = (block2){d + z, b - c, 0, d - (most / z) * least, z / tau, c / tau};
}

/* Rows and columns i, i + 1 of a quasi-triangular h[n, n], and z; the eigenvalues to w. */
MAYBE void standardize(M h, I n, I first, I end, M z, I rows, I i, C *w)
{
    block2 x = {(double)get(h, i, i).re,
                (double)get(h, i, i + 1).re,
                (double)get(h, i + 1, i).re,
                (double)get(h, i + 1, i + 1).re,
                1,
                0};
    (void)n;
    standard_block(&x);
    put(h, i, i, (C){(T)x.a, 0});
    put(h, i, i + 1, (C){(T)x.b, 0});
    put(h, i + 1, i, (C){(T)x.c, 0});
    put(h, i + 1, i + 1, (C){(T)x.d, 0});
    C s = {(T)x.sn, 0};
    turn_rows(h, i, i + 1, i + 2 < end ? i + 2 : end, end, (T)x.cs, s);
    turn_columns(h, i, i + 1, first < i ? first : i, i, (T)x.cs, s);
    turn_columns(z, i, i + 1, 0, rows, (T)x.cs, s);
    T im = (T)(sqrt(fabs((double)(T)x.b)) * sqrt(fabs((double)(T)x.c)));
    w[0] = (C){(T)x.a, x.c == 0 ? 0 : im};
    w[1] = (C){(T)x.d, x.c == 0 ? 0 : -im};
}

/* ---- deflation ---- */

MAYBE double size_at(M h, I i, I j)
{
    return d_size(wide(get(h, i, j)));
}

/* Whether the element left of the diagonal of row k is negligible in lo..hi. */
MAYBE bool negligible(const M h, I lo, I hi, I k, double small)
{
    double e = size_at(h, k, k - 1);
    if (e <= small)
        return true;
    double around = size_at(h, k - 1, k - 1) + size_at(h, k, k);
    if (around == 0) {
        around += k - 2 >= lo ? size_at(h, k - 1, k - 2) : 0;
        around += k + 1 <= hi ? size_at(h, k + 1, k) : 0;
    }
    if (e > ULP * around)
        return false;
    double up = size_at(h, k - 1, k), d = size_at(h, k, k),
           dif = d_size(d_less(wide(get(h, k - 1, k - 1)), wide(get(h, k, k))));
    double ab = fmax(e, up), ba = fmin(e, up), aa = fmax(d, dif), bb = fmin(d, dif), s = aa + ab;
    return ba * (ab / s) <= fmax(small, ULP * (bb * (aa / s)));
}

/* ---- real ---- */

/* The two shifts of [a b; c d]: a pair, or the real one nearer to d twice. */
MAYBE void double_shift(double a, double b, double c, double d, D2 *s1, D2 *s2)
{
    double s = fabs(a) + fabs(b) + fabs(c) + fabs(d);
    *s1 = *s2 = (D2){0, 0};
    if (s == 0)
        return;
    a /= s, b /= s, c /= s, d /= s;
    double mean = (a + d) / 2, det = (a - mean) * (d - mean) - b * c, root = sqrt(fabs(det));
    if (det >= 0) {
        *s1 = (D2){mean * s, root * s};
        *s2 = (D2){mean * s, -root * s};
        return;
    }
    double p = mean + root, q = mean - root;
    p = fabs(p - d) <= fabs(q - d) ? p : q;
    *s1 = *s2 = (D2){p * s, 0};
}

/* The first column of (h - s1)(h - s2) from row m on, scaled. */
MAYBE void first_column(M h, I m, D2 s1, D2 s2, D2 *v)
{
    D2 a = wide(get(h, m, m)), b = wide(get(h, m, m + 1)), c = wide(get(h, m + 1, m)),
       d = wide(get(h, m + 1, m + 1)), e = wide(get(h, m + 2, m + 1));
    double s = d_size(d_less(a, s2)) + d_size(c);
    if (s == 0) {
        v[0] = v[1] = v[2] = (D2){0, 0};
        return;
    }
    D2 cs = {c.re / s, c.im / s}, as = d_less(a, s2), sum = {a.re + d.re, a.im + d.im};
    as = d_times(d_less(a, s1), (D2){as.re / s, as.im / s});
    v[0] = d_times(cs, b);
    v[0] = (D2){v[0].re + as.re, v[0].im + as.im};
    v[1] = d_times(cs, d_less(d_less(sum, s1), s2));
    v[2] = d_times(cs, e);
    s = d_size(v[0]) + d_size(v[1]) + d_size(v[2]);
    for (int i = 0; s != 0 && i < 3; i++)
        v[i] = (D2){v[i].re / s, v[i].im / s};
}

/* One double step on rows l..i; rows and columns from i1 and to i2 (inclusive) follow. */
MAYBE void double_step(const schur *x, I l, I i, I i1, I i2, D2 s1, D2 s2)
{
    M h = x->h;
    I m = i - 2;
    D2 v[3], tau;
    for (;; m--) {
        first_column(h, m, s1, s2, v);
        if (m == l)
            break;
        double around = size_at(h, m - 1, m - 1) + size_at(h, m, m) + size_at(h, m + 1, m + 1);
        if (size_at(h, m, m - 1) * (fabs(v[1].re) + fabs(v[2].re)) <= ULP * fabs(v[0].re) * around)
            break;
    }
    for (I k = m; k < i; k++) {
        int nr = i - k + 1 < 3 ? 2 : 3;
        for (int u = 0; k > m && u < nr; u++)
            v[u] = wide(get(h, k + u, k - 1));
        double beta = reflect_few(nr, v, &tau);
        if (k > m) {
            put(h, k, k - 1, (C){(T)beta, 0});
            put(h, k + 1, k - 1, (C){0, 0});
            if (nr == 3)
                put(h, k + 2, k - 1, (C){0, 0});
        } else if (m > l) {
            put(h, k, k - 1, (C){(T)((double)get(h, k, k - 1).re * (1 - tau.re)), 0});
        }
        reflect_rows(h, k, nr, v[1], v[2], tau, k, i2 + 1);
        reflect_columns(h, k, nr, v[1], v[2], tau, i1, (k + 3 < i ? k + 3 : i) + 1);
        if (x->vectors)
            reflect_columns(x->z, k, nr, v[1], v[2], tau, 0, x->n);
    }
}

/* The shifts of a step on rows l..i after so many without a deflation. */
MAYBE void choose_double(M h, I l, I i, I steps, D2 *s1, D2 *s2)
{
    if (steps % 10 != 0) {
        double_shift((double)get(h, i - 1, i - 1).re, (double)get(h, i - 1, i).re,
                     (double)get(h, i, i - 1).re, (double)get(h, i, i).re, s1, s2);
        return;
    }
    bool end = steps % 20 == 0;
    double s = end ? size_at(h, i, i - 1) + size_at(h, i - 1, i - 2)
                   : size_at(h, l + 1, l) + size_at(h, l + 2, l + 1);
    double d = 0.75 * s + (double)get(h, end ? i : l, end ? i : l).re;
    double_shift(d, -0.4375 * s, s, d, s1, s2);
}

/* What reflections have left below the subdiagonal. */
MAYBE void clear_below(const schur *x)
{
    for (I j = x->lo; j + 2 <= x->hi; j++)
        for (I i = j + 2; i <= j + 3 && i <= x->hi; i++)
            put(x->h, i, j, (C){0, 0});
}

/* The first row, from l on, of the block that ends in row i: what is beside it becomes 0. */
MAYBE I block_of(const schur *x, I l, I i, double small)
{
    I k = i;
    while (k > l && !negligible(x->h, x->lo, x->hi, k, small))
        k--;
    if (k > x->lo)
        put(x->h, k, k - 1, (C){0, 0});
    return k;
}

/* Rows lo..hi to quasi-triangular form; what is returned is the last row without an eigenvalue, lo
 * - 1 where all are found. */
MAYBE I schur_real(const schur *x)
{
    M h = x->h;
    I lo = x->lo, hi = x->hi, size = hi - lo + 1, rows = x->vectors ? x->n : 0;
    double small = SAFE_MIN * ((double)size / ULP);
    I most = 30 * (size > 10 ? size : 10), since = 0;
    clear_below(x);
    for (I i = hi; i >= lo;) {
        I l = lo, step = 0;
        for (; step <= most; step++) {
            l = block_of(x, l, i, small);
            if (l >= i - 1)
                break;
            D2 s1, s2;
            choose_double(h, l, i, ++since, &s1, &s2);
            double_step(x, l, i, x->whole ? 0 : l, x->whole ? x->n - 1 : i, s1, s2);
        }
        if (l < i - 1)
            return i;
        if (l == i)
            x->w[i] = (C){get(h, i, i).re, 0};
        else
            standardize(h, x->n, x->whole ? 0 : l, x->whole ? x->n : i + 1, x->z, rows, l,
                        x->w + l);
        since = 0;
        i = l - 1;
    }
    return lo - 1;
}

/* ---- complex ---- */

MAYBE void multiply_vector(M x, I n, C by)
{
    for (I i = 0; i < n; i++)
        put(x, i, 0, times(get(x, i, 0), by));
}

/* Row i of columns from.. by `by`, column i of rows up to `to` by its conjugate; z's column too. */
MAYBE void turn_phase(const schur *x, I i, I from, I to, I i1, I i2, C by)
{
    multiply_vector(flip(at(x->h, i, from)), i2 + 1 - from, by);
    multiply_vector(at(x->h, i1, i), to - i1, conj_(by));
    if (x->vectors)
        multiply_vector(at(x->z, 0, i), x->n, conj_(by));
}

/* Elements below the diagonal of lo..hi become real. */
MAYBE void real_below(const schur *x)
{
    for (I i = x->lo + 1; i <= x->hi; i++) {
        D2 e = wide(get(x->h, i, i - 1));
        if (e.im == 0)
            continue;
        double s = hypot(e.re, e.im);
        put(x->h, i, i - 1, (C){(T)s, 0});
        turn_phase(x, i, i, (i + 1 < x->hi ? i + 1 : x->hi) + 1, x->whole ? 0 : x->lo,
                   x->whole ? x->n - 1 : x->hi, (C){(T)(e.re / s), (T)(-e.im / s)});
    }
}

/* Wilkinson's, or one from elsewhere after many steps without a deflation. */
MAYBE D2 choose_single(M h, I l, I i, I steps)
{
    D2 t = wide(get(h, i, i));
    if (steps % 20 == 0)
        return (D2){t.re + 0.75 * fabs((double)get(h, i, i - 1).re), t.im};
    if (steps % 10 == 0) {
        t = wide(get(h, l, l));
        return (D2){t.re + 0.75 * fabs((double)get(h, l + 1, l).re), t.im};
    }
    D2 u = d_times(d_sqrt(wide(get(h, i - 1, i))), d_sqrt(wide(get(h, i, i - 1))));
    double s = d_size(u);
    if (s == 0)
        return t;
    D2 x = d_less(wide(get(h, i - 1, i - 1)), t);
    x = (D2){0.5 * x.re, 0.5 * x.im};
    double sx = d_size(x);
    s = fmax(s, sx);
    D2 p = {x.re / s, x.im / s}, q = {u.re / s, u.im / s}, pp = d_times(p, p), qq = d_times(q, q),
       y = d_sqrt((D2){pp.re + qq.re, pp.im + qq.im});
    y = (D2){s * y.re, s * y.im};
    if (sx > 0 && x.re / sx * y.re + x.im / sx * y.im < 0)
        y = (D2){-y.re, -y.im};
    return d_less(t, d_times(u, d_over(u, (D2){x.re + y.re, x.im + y.im})));
}

/* Where a step on l..i may begin, and its first column. */
MAYBE I single_start(M h, I l, I i, D2 t, D2 *v)
{
    for (I m = i - 1;; m--) {
        D2 a = wide(get(h, m, m)), d = d_less(a, t);
        double e = (double)get(h, m + 1, m).re, s = d_size(d) + fabs(e);
        d = (D2){d.re / s, d.im / s};
        e /= s;
        v[0] = d;
        v[1] = (D2){e, 0};
        if (m == l)
            return m;
        if (fabs((double)get(h, m, m - 1).re) * fabs(e) <=
            ULP * (d_size(d) * (d_size(a) + size_at(h, m + 1, m + 1))))
            return m;
    }
}

MAYBE void single_step(const schur *x, I l, I i, I i1, I i2, D2 shift)
{
    M h = x->h;
    D2 v[3], tau, none = {0, 0};
    I m = single_start(h, l, i, shift, v);
    for (I k = m; k < i; k++) {
        for (int u = 0; k > m && u < 2; u++)
            v[u] = wide(get(h, k + u, k - 1));
        double beta = reflect_few(2, v, &tau);
        if (k > m) {
            put(h, k, k - 1, (C){(T)beta, 0});
            put(h, k + 1, k - 1, (C){0, 0});
        }
        reflect_rows(h, k, 2, v[1], none, tau, k, i2 + 1);
        reflect_columns(h, k, 2, v[1], none, tau, i1, (k + 2 < i ? k + 2 : i) + 1);
        if (x->vectors)
            reflect_columns(x->z, k, 2, v[1], none, tau, 0, x->n);
        if (k > m || m == l)
            continue;
        /* the step began in the middle: what is left of the block is not real any more */
        D2 by = {1 - tau.re, -tau.im};
        double s = hypot(by.re, by.im);
        C turn = {(T)(by.re / s), (T)(by.im / s)};
        put(h, m + 1, m, times(get(h, m + 1, m), conj_(turn)));
        if (m + 2 <= i)
            put(h, m + 2, m + 1, times(get(h, m + 2, m + 1), turn));
        for (I j = m; j <= i; j++) {
            if (j == m + 1)
                continue;
            multiply_vector(flip(at(h, j, j + 1)), i2 - j, turn);
            multiply_vector(at(h, i1, j), j - i1, conj_(turn));
            if (x->vectors)
                multiply_vector(at(x->z, 0, j), x->n, conj_(turn));
        }
    }
    D2 e = wide(get(h, i, i - 1));
    if (e.im == 0)
        return;
    double s = hypot(e.re, e.im);
    put(h, i, i - 1, (C){(T)s, 0});
    C by = {(T)(e.re / s), (T)(e.im / s)};
    multiply_vector(flip(at(h, i, i + 1)), i2 - i, conj_(by));
    multiply_vector(at(h, i1, i), i - i1, by);
    if (x->vectors)
        multiply_vector(at(x->z, 0, i), x->n, by);
}

/* As schur_real, to triangular form. */
MAYBE I schur_complex(const schur *x)
{
    M h = x->h;
    I lo = x->lo, hi = x->hi, size = hi - lo + 1;
    double small = SAFE_MIN * ((double)size / ULP);
    I most = 30 * (size > 10 ? size : 10), since = 0;
    clear_below(x);
    real_below(x);
    for (I i = hi; i >= lo;) {
        I l = lo, step = 0;
        for (; step <= most; step++) {
            l = block_of(x, l, i, small);
            if (l >= i)
                break;
            D2 s = choose_single(h, l, i, ++since);
            single_step(x, l, i, x->whole ? 0 : l, x->whole ? x->n - 1 : i, s);
        }
        if (l < i)
            return i;
        x->w[i] = get(h, i, i);
        since = 0;
        i = l - 1;
    }
    return lo - 1;
}

MAYBE I schur_small(const schur *x)
{
    return x->h.im ? schur_complex(x) : schur_real(x);
}
#endif
