/* iterate.h - eigenvalues of a symmetric tridiagonal matrix by implicit QL and QR steps with
 * Wilkinson's shift, and singular values of an upper bidiagonal one by implicit QR steps, without a
 * shift where that keeps small values exact. What LAPACK's dsteqr and dbdsqr do, in a wider
 * type than that of the elements, so that the values and rotations are as exact as they can be
 * stored; rotations are recorded in sweeps instead of applied. A run returns when the
 * room for rotations is used up, and goes on with the next call.
 * Sources: Golub and Van Loan, Matrix Computations, 8.3 and 8.6; Demmel and Kahan, Accurate
 * singular values of bidiagonal matrices (1990). */
#ifndef LZ_LINALG_CORE_ITERATE_H
#define LZ_LINALG_CORE_ITERATE_H
#include "linalg/core/qr.h"
/* f32 is done in f64, f64 in x86's wider numbers where there are any. */
#if LA_DOUBLE && LDBL_MANT_DIG == 64
typedef long double R;
#define REAL_MIN LDBL_MIN
#define REAL_MAX LDBL_MAX
#define REAL_EPSILON LDBL_EPSILON
#else
typedef double R;
#define REAL_MIN DBL_MIN
#define REAL_MAX DBL_MAX
#define REAL_EPSILON DBL_EPSILON
#endif

/* Rotations of columns j and j + 1, in order:
 *     x[j], x[j + 1] = c x[j] + s x[j + 1], c x[j + 1] - s x[j]
 * from j = first on, `count` of them, upward or downward. They begin at `at` in c and s. */
typedef struct sweep {
    I first, count, at;
    bool down;
} sweep;
typedef struct rotations {
    T *c, *s;
    sweep *sweep;
    I room, nsweep_room; /* rotations, sweeps */
    I n, nsweep;
} rotations;

/* Of a tridiagonal matrix: `at` is where blocks not looked at begin, from..to what is left of one,
 * towards the side of the smaller values (direction 1: QL). Of a bidiagonal one: `end` is the last
 * value not found, from and to are the block of the last step, direction is whether that went
 * down. */
typedef struct iteration {
    I n;
    R *d, *e; /* n, n - 1 */
    R eps;
    I steps; /* so far */
    I at, end, from, to, direction;
    bool active, failed;
} iteration;

/* ---- rotations ---- */

/* c f + s g = r, c g - s f = 0 */
INLINE void rotation_of(R f, R g, R *c, R *s, R *r)
{
    R size = f * f + g * g;
    if (g == 0) {
        *c = 1;
        *s = 0;
        *r = f;
        return;
    }
    if (f == 0) {
        *c = 0;
        *s = copysign(1, g);
        *r = fabs(g);
        return;
    }
    if (size > REAL_MIN * 0x1p128 && size < REAL_MAX) {
        R d = copysign(sqrt(size), f);
        *c = f / d;
        *s = g / d;
        *r = d;
        return;
    }
    R most = fmax(fabs(f), fabs(g)), x = f / most, y = g / most,
      d = copysign(sqrt(x * x + y * y), f);
    *c = x / d;
    *s = y / d;
    *r = d * most;
}

INLINE sweep *sweep_begin(rotations *z, I first, bool down)
{
    sweep *w = &z->sweep[z->nsweep++];
    *w = (sweep){first, 0, z->n, down};
    return w;
}

INLINE void sweep_add(rotations *z, sweep *w, R c, R s)
{
    z->c[z->n] = (T)c;
    z->s[z->n++] = (T)s;
    w->count++;
}

static bool full(const rotations *z, I n)
{
    return z->nsweep == z->nsweep_room || z->n + n > z->room;
}

/* ---- tridiagonal ---- */

static void ql_begin(iteration *x, I n, R *d, R *e, R eps)
{
    /* eigenvalues of f32 are found as exactly as they can be stored, and a little better */
    *x = (iteration){.n = n, .d = d, .e = e, .eps = fmax(eps * 0x1p-9, REAL_EPSILON)};
}

/* Eigenvalues *big and *small (by magnitude) of [a b; b c], and the vector (cs, sn) of *big. */
static void eigen_2x2(R a, R b, R c, R *big, R *small, R *cs, R *sn)
{
    R sum = a + c, dif = a - c, adf = fabs(dif), tb = b + b, ab = fabs(tb), root = hypot(adf, ab);
    R most = fabs(a) > fabs(c) ? a : c, least = fabs(a) > fabs(c) ? c : a;
    int sign1 = sum < 0 ? -1 : 1, sign2 = dif >= 0 ? 1 : -1;
    if (sum == 0) {
        *big = 0.5 * root;
        *small = -0.5 * root;
    } else {
        *big = 0.5 * (sum + sign1 * root);
        *small = (most / *big) * least - (b / *big) * b;
    }
    R z = dif + sign2 * root, t;
    if (fabs(z) > ab) {
        t = -tb / z;
        *sn = 1 / sqrt(1 + t * t);
        *cs = t * *sn;
    } else if (ab == 0) {
        *cs = 1;
        *sn = 0;
    } else {
        t = -z / tb;
        *cs = 1 / sqrt(1 + t * t);
        *sn = t * *cs;
    }
    if (sign1 == sign2) {
        t = *cs;
        *cs = -*sn;
        *sn = t;
    }
}

/* The next block at..end that is not diagonal; false: there is none. */
static bool next_block(iteration *x)
{
    while (x->at < x->n) {
        I l = x->at, m = l;
        if (l > 0)
            x->e[l - 1] = 0;
        for (; m < x->n - 1; m++) {
            R t = fabs(x->e[m]);
            if (t == 0)
                break;
            if (t <= sqrt(fabs(x->d[m])) * sqrt(fabs(x->d[m + 1])) * x->eps) {
                x->e[m] = 0;
                break;
            }
        }
        x->at = m + 1;
        if (m == l)
            continue;
        bool swap = fabs(x->d[m]) < fabs(x->d[l]);
        x->from = swap ? m : l;
        x->to = swap ? l : m;
        x->direction = swap ? -1 : 1;
        x->active = true;
        return true;
    }
    return false;
}

/* The first small element outside of the diagonal from `from` on, towards `to`. */
static I find_small(const iteration *x)
{
    I s = x->direction, m = x->from;
    for (; m != x->to; m += s) {
        R t = x->e[s > 0 ? m : m - 1];
        if (t * t <= x->eps * x->eps * fabs(x->d[m]) * fabs(x->d[m + s]) + REAL_MIN)
            break;
    }
    return m;
}

/* One step of QL (direction 1, rotations downward) or QR on from..m. */
static void ql_step(iteration *x, I m, rotations *z)
{
    R *d = x->d, *e = x->e, r, c = 1, s = 1, p = 0;
    I l = x->from, dir = x->direction, o = dir > 0 ? 0 : -1; /* e[i + o] joins i and i + dir */
    R g = (d[l + dir] - d[l]) / (2 * e[l + o]);
    r = hypot(g, 1);
    g = d[m] - d[l] + e[l + o] / (g + copysign(r, g));
    sweep *w = sweep_begin(z, dir > 0 ? m - 1 : m, dir > 0);
    for (I i = m - dir;; i -= dir) {
        R f = s * e[i + o], b = c * e[i + o];
        rotation_of(g, f, &c, &s, &r);
        if (i != m - dir)
            e[i + dir + o] = r;
        g = d[i + dir] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + dir] = g + p;
        g = c * r - b;
        sweep_add(z, w, c, dir > 0 ? -s : s);
        if (i == l)
            break;
    }
    d[l] -= p;
    e[l + o] = g;
}

/* The last two of a block. */
static void ql_pair(iteration *x, rotations *z)
{
    I dir = x->direction, i = dir > 0 ? x->from : x->from - 1;
    R big, small, c, s;
    eigen_2x2(x->d[i], x->e[i], x->d[i + 1], &big, &small, &c, &s);
    sweep *w = sweep_begin(z, i, dir > 0);
    sweep_add(z, w, c, s);
    x->d[i] = big;
    x->d[i + 1] = small;
    x->e[i] = 0;
    x->from += 2 * dir;
}

static bool ql_run(iteration *x, rotations *z)
{
    while (!x->failed && (x->active || next_block(x))) {
        if (full(z, x->n))
            return false;
        I m = find_small(x), dir = x->direction;
        if (m != x->to)
            x->e[dir > 0 ? m : m - 1] = 0;
        if (m == x->from)
            x->from += dir;
        else if (m == x->from + dir)
            ql_pair(x, z);
        else if (x->steps++ >= 30 * x->n)
            x->failed = true;
        else
            ql_step(x, m, z);
        x->active = dir > 0 ? x->from <= x->to : x->from >= x->to;
    }
    return true;
}

/* ---- bidiagonal ---- */

static R tolerance(R eps)
{
    return 8 * eps;
}

static void bdqr_begin(iteration *x, I n, R *d, R *e, R eps)
{
    *x = (iteration){.n = n,
                     .d = d,
                     .e = e,
                     .eps = fmax(eps * 0x1p-9, REAL_EPSILON),
                     .end = n - 1,
                     .from = -1,
                     .to = -1};
}

/* What an element outside of the diagonal may be neglected for. */
static R threshold(const iteration *x)
{
    R least = fabs(x->d[0]), mu = least;
    for (I i = 1; i < x->n && least != 0; i++) {
        mu = fabs(x->d[i]) * (mu / (mu + fabs(x->e[i - 1])));
        least = fmin(least, mu);
    }
    least /= sqrt((R)x->n);
    return fmax(tolerance(x->eps) * least, 6 * ((R)x->n * ((R)x->n * REAL_MIN)));
}

/* The smaller singular value of [f g; 0 h], and the larger. */
static R least_2x2(R f, R g, R h, R *most)
{
    R fa = fabs(f), ga = fabs(g), ha = fabs(h), lo = fmin(fa, ha), hi = fmax(fa, ha);
    if (lo == 0) {
        *most = hi == 0 ? ga : hypot(hi, ga);
        return 0;
    }
    R as = 1 + lo / hi, at = (hi - lo) / hi;
    if (ga < hi) {
        R au = (ga / hi) * (ga / hi), c = 2 / (sqrt(as * as + au) + sqrt(at * at + au));
        *most = hi / c;
        return lo * c;
    }
    R au = hi / ga;
    if (au == 0) {
        *most = ga;
        return (lo * hi) / ga;
    }
    R c = 1 / (sqrt(1 + as * au * (as * au)) + sqrt(1 + at * au * (at * au)));
    *most = ga / (c + c);
    return 2 * (lo * c * au);
}

typedef struct svd2 {
    R least, most, cr, sr, cl, sl;
} svd2;

/* [cl sl; -sl cl] [f g; 0 h] [cr -sr; sr cr] is diagonal (dlasv2) */
static svd2 svd_2x2(R f, R g, R h)
{
    R ft = f, fa = fabs(f), ht = h, ha = fabs(h), clt = 1, crt = 1, slt = 0, srt = 0;
    int pmax = 1;
    bool swap = ha > fa;
    svd2 o;
    if (swap) {
        pmax = 3;
        ft = h, ht = f;
        fa = fabs(ft), ha = fabs(ht);
    }
    R gt = g, ga = fabs(g);
    if (ga == 0) {
        o.least = ha;
        o.most = fa;
    } else if (ga > fa && fa / ga < REAL_EPSILON / 2) {
        pmax = 2;
        o.most = ga;
        o.least = ha > 1 ? fa / (ga / ha) : fa / ga * ha;
        slt = ht / gt;
        crt = ft / gt;
        srt = 1;
    } else {
        pmax = ga > fa ? 2 : pmax;
        R dd = fa - ha, l = dd == fa ? 1 : dd / fa, m = gt / ft, t = 2 - l, mm = m * m, tt = t * t,
          s = sqrt(tt + mm), r = l == 0 ? fabs(m) : sqrt(l * l + mm), a = 0.5 * (s + r);
        o.least = ha / a;
        o.most = fa * a;
        if (mm == 0)
            t = l == 0 ? copysign(2, ft) * copysign(1, gt) : gt / copysign(dd, ft) + m / t;
        else
            t = (m / (s + t) + m / (r + l)) * (1 + a);
        l = sqrt(t * t + 4);
        crt = 2 / l;
        srt = t / l;
        clt = (crt + srt * m) / a;
        slt = (ht / ft) * srt / a;
    }
    o.cl = swap ? srt : clt;
    o.sl = swap ? crt : slt;
    o.cr = swap ? slt : crt;
    o.sr = swap ? clt : srt;
    R sign = pmax == 1   ? copysign(1, o.cr) * copysign(1, o.cl) * copysign(1, f)
             : pmax == 2 ? copysign(1, o.sr) * copysign(1, o.cl) * copysign(1, g)
                         : copysign(1, o.sr) * copysign(1, o.sl) * copysign(1, h);
    o.most = copysign(o.most, sign);
    o.least = copysign(o.least, sign * copysign(1, f) * copysign(1, h));
    return o;
}

/* A step without a shift on ll..m, from the top or from the bottom. */
static void zero_shift(iteration *x, I ll, I m, bool down, rotations *u, rotations *v)
{
    R *d = x->d, *e = x->e, cs = 1, sn = 0, oldcs = 1, oldsn = 0, r;
    I dir = down ? 1 : -1, o = down ? 0 : -1, first = down ? ll : m, last = down ? m : ll;
    sweep *wu = sweep_begin(u, down ? ll : m - 1, !down),
          *wv = sweep_begin(v, down ? ll : m - 1, !down);
    for (I i = first; i != last; i += dir) {
        rotation_of(d[i] * cs, e[i + o], &cs, &sn, &r);
        if (i != first)
            e[i - dir + o] = oldsn * r;
        rotation_of(oldcs * r, d[i + dir] * sn, &oldcs, &oldsn, &d[i]);
        if (down) {
            sweep_add(v, wv, cs, sn);
            sweep_add(u, wu, oldcs, oldsn);
        } else {
            sweep_add(v, wv, oldcs, -oldsn);
            sweep_add(u, wu, cs, -sn);
        }
    }
    R h = d[last] * cs;
    d[last] = h * oldcs;
    e[last - dir + o] = h * oldsn;
}

static void shifted(iteration *x, I ll, I m, bool down, R shift, rotations *u, rotations *v)
{
    R *d = x->d, *e = x->e, c1, s1, c2, s2, r;
    I dir = down ? 1 : -1, o = down ? 0 : -1, first = down ? ll : m, last = down ? m : ll;
    sweep *wu = sweep_begin(u, down ? ll : m - 1, !down),
          *wv = sweep_begin(v, down ? ll : m - 1, !down);
    R f = (fabs(d[first]) - shift) * (copysign(1, d[first]) + shift / d[first]), g = e[first + o];
    for (I i = first; i != last; i += dir) {
        rotation_of(f, g, &c1, &s1, &r);
        if (i != first)
            e[i - dir + o] = r;
        f = c1 * d[i] + s1 * e[i + o];
        e[i + o] = c1 * e[i + o] - s1 * d[i];
        g = s1 * d[i + dir];
        d[i + dir] = c1 * d[i + dir];
        rotation_of(f, g, &c2, &s2, &r);
        d[i] = r;
        f = c2 * e[i + o] + s2 * d[i + dir];
        d[i + dir] = c2 * d[i + dir] - s2 * e[i + o];
        if (i + dir != last) {
            g = s2 * e[i + dir + o];
            e[i + dir + o] = c2 * e[i + dir + o];
        }
        if (down) {
            sweep_add(v, wv, c1, s1);
            sweep_add(u, wu, c2, s2);
        } else {
            sweep_add(v, wv, c2, -s2);
            sweep_add(u, wu, c1, -s1);
        }
    }
    e[last - dir + o] = f;
}

/* Whether an element of ll..m is negligible beside the values before it (then it is 0 now); else
 * *least bounds the smallest singular value from below. */
static bool splits(iteration *x, I ll, I m, bool down, R *least)
{
    R *d = x->d, *e = x->e, tol = tolerance(x->eps), mu = fabs(d[down ? ll : m]);
    I end = down ? m - 1 : ll;
    if (fabs(e[end]) <= tol * fabs(d[down ? m : ll])) {
        e[end] = 0;
        return true;
    }
    *least = mu;
    for (I k = 0; k < m - ll; k++) {
        I i = down ? ll + k : m - 1 - k;
        if (fabs(e[i]) <= tol * mu) {
            e[i] = 0;
            return true;
        }
        mu = fabs(d[down ? i + 1 : i]) * (mu / (mu + fabs(e[i])));
        *least = fmin(*least, mu);
    }
    return false;
}

/* The two values that are left of a block. */
static void bdqr_pair(iteration *x, I m, rotations *u, rotations *v)
{
    svd2 p = svd_2x2(x->d[m - 1], x->e[m - 1], x->d[m]);
    x->d[m - 1] = p.most;
    x->e[m - 1] = 0;
    x->d[m] = p.least;
    sweep_add(v, sweep_begin(v, m - 1, false), p.cr, p.sr);
    sweep_add(u, sweep_begin(u, m - 1, false), p.cl, p.sl);
}

static void bdqr_step(iteration *x, I ll, I m, R most, R thresh, rotations *u, rotations *v)
{
    R *d = x->d, *e = x->e, tol = tolerance(x->eps), least, shift = 0, r;
    if (ll > x->to || m < x->from)
        x->direction = fabs(d[ll]) >= fabs(d[m]);
    bool down = x->direction != 0;
    if (splits(x, ll, m, down, &least))
        return;
    x->from = ll;
    x->to = m;
    if ((R)x->n * tol * (least / most) > fmax(x->eps, 0.01 * tol)) {
        R s = fabs(d[down ? ll : m]);
        shift =
            down ? least_2x2(d[m - 1], e[m - 1], d[m], &r) : least_2x2(d[ll], e[ll], d[ll + 1], &r);
        if (s > 0 && (shift / s) * (shift / s) < x->eps)
            shift = 0;
    }
    x->steps += m - ll;
    if (shift == 0)
        zero_shift(x, ll, m, down, u, v);
    else
        shifted(x, ll, m, down, shift, u, v);
    R *end = &e[down ? m - 1 : ll];
    if (fabs(*end) <= thresh)
        *end = 0;
}

static bool bdqr_run(iteration *x, rotations *u, rotations *v)
{
    R thresh = threshold(x);
    while (x->end > 0) {
        I m = x->end, ll = m;
        if (full(u, x->n))
            return false;
        if (x->steps > 6 * x->n * x->n) {
            x->failed = true;
            return true;
        }
        R most = fabs(x->d[m]);
        for (; ll > 0 && fabs(x->e[ll - 1]) > thresh; ll--)
            most = fmax(most, fmax(fabs(x->d[ll - 1]), fabs(x->e[ll - 1])));
        if (ll > 0)
            x->e[ll - 1] = 0;
        if (ll == m) {
            x->end--;
        } else if (ll == m - 1) {
            bdqr_pair(x, m, u, v);
            x->end -= 2;
        } else {
            bdqr_step(x, ll, m, most, thresh, u, v);
        }
    }
    return true;
}
#endif
