/* schur.h - the Schur form of a general matrix: QR steps of many small bulges at once, whose
 * reflections are gathered in a window along the diagonal and applied as products, and aggressive
 * early deflation (Braman, Byers and Mathias, The multishift QR algorithm, 2002; LAPACK's hseqr).
 * Small matrices are done by schur_small.h. */
#ifndef LZ_LINALG_CORE_SCHUR_H
#define LZ_LINALG_CORE_SCHUR_H
#include "linalg/core/balance.h"
#include "linalg/core/schur_swap.h"
enum {
    SCHUR_SMALL = 75,  /* rows that are done without windows */
    SCHUR_SHIFTS = 64, /* of a sweep, at most */
    SCHUR_AHEAD = 96,  /* rows of a window for early deflation, at most */
    SCHUR_WINDOW = 3 * SCHUR_SHIFTS + 8,
};

typedef struct schur_room {
    hessenberg_room hess; /* of the matrix, and of a window */
    M u, t, wide, tall;   /* a window's product, its matrix; what is right of it, above it */
    hessenberg_room small;
    C *w;
    D2 *shift;
} schur_room;

static schur_room take_schur(arena *s, I n, bool complex_)
{
    schur_room r = {.hess = take_hessenberg(s, n, complex_)};
    I window = n < SCHUR_WINDOW ? n : SCHUR_WINDOW, ahead = n < SCHUR_AHEAD ? n : SCHUR_AHEAD;
    r.w = take(s, n, sizeof(C));
    if (n <= SCHUR_SMALL)
        return r;
    r.u = take_matrix(s, window, window, complex_);
    r.t = take_matrix(s, window, window, complex_);
    r.wide = take_matrix(s, window, n, complex_);
    r.tall = take_matrix(s, n, window, complex_);
    r.small = take_hessenberg(s, ahead, complex_);
    r.shift = take(s, SCHUR_SHIFTS + SCHUR_AHEAD, sizeof(D2));
    return r;
}

MAYBE void copy_part(I m, I n, M from, M to)
{
    for (I j = 0; j < n; j++) {
        memcpy(to.re + j * to.cs, from.re + j * from.cs, (size_t)m * sizeof(T));
        if (to.im)
            memcpy(to.im + j * to.cs, from.im + j * from.cs, (size_t)m * sizeof(T));
    }
}

/* Rows and columns w0.. of h outside of the window, size x size, and of z, by its product u. */
MAYBE void apply_window(const schur_room *r, const schur *x, I top, I bottom, I w0, I size)
{
    const gemm_room *g = &r->hess.b.g;
    I i1 = x->whole ? 0 : top, end = x->whole ? x->n : bottom + 1, right = end - w0 - size;
    if (right > 0) {
        M c = at(x->h, w0, w0 + size);
        fill(r->wide, size, right, 0);
        gemm(g, size, right, size, 1, flip(r->u), true, c, false, r->wide, ALL);
        copy_part(size, right, r->wide, c);
    }
    if (w0 > i1) {
        M c = at(x->h, i1, w0);
        fill(r->tall, w0 - i1, size, 0);
        gemm(g, w0 - i1, size, size, 1, c, false, r->u, false, r->tall, ALL);
        copy_part(w0 - i1, size, r->tall, c);
    }
    if (x->vectors) {
        M c = at(x->z, 0, w0);
        fill(r->tall, x->n, size, 0);
        gemm(g, x->n, size, size, 1, c, false, r->u, false, r->tall, ALL);
        copy_part(x->n, size, r->tall, c);
    }
}

/* ---- a sweep ---- */

/* The bulge of two shifts is at column k: its next reflection, in rows from w0 on and up to w1. */
MAYBE void move_bulge(const schur *x, I top, I bottom, I w0, I w1, I k, const D2 *shift, M u)
{
    M h = x->h;
    D2 v[3] = {{0, 0}, {0, 0}, {0, 0}}, tau;
    int nr = bottom - k < 3 ? 2 : 3;
    if (k < top) {
        if (nr == 3)
            first_column(h, top, shift[0], shift[1], v);
        (void)reflect_few(3, v, &tau);
    } else {
        for (int i = 0; i < nr; i++)
            v[i] = wide(get(h, k + 1 + i, k));
        put(h, k + 1, k, (C){(T)reflect_few(nr, v, &tau), 0});
        for (int i = 1; i < nr; i++)
            put(h, k + 1 + i, k, (C){0, 0});
    }
    if (tau.re == 0 && tau.im == 0)
        return;
    I last = k + 4 < bottom ? k + 4 : bottom;
    reflect_rows(h, k + 1, nr, v[1], v[2], tau, k + 1, w1 + 1);
    reflect_columns(h, k + 1, nr, v[1], v[2], tau, w0, last + 1);
    reflect_columns(u, k + 1 - w0, nr, v[1], v[2], tau, 0, w1 + 1 - w0);
}

/* Pairs of shifts through rows top..bottom; all bulges move `step` places before what is outside of
 * their window follows. */
MAYBE void sweep_bulges(const schur_room *r, const schur *x, I top, I bottom, const D2 *shift,
                        I pairs)
{
    I behind = 3 * (pairs - 1), length = bottom - 1 - top, end = length + behind + 1;
    I step = 3 * pairs;
    for (I t0 = 0; t0 < end; t0 += step) {
        I last = t0 + step < end ? t0 + step : end;
        I w0 = top - 1 + (t0 > behind ? t0 - behind : 0), w1 = top - 1 + last - 1 + 4;
        w0 = w0 < top ? top : w0;
        w1 = w1 > bottom ? bottom : w1;
        fill(r->u, w1 + 1 - w0, w1 + 1 - w0, 1);
        for (I t = t0; t < last; t++)
            for (I b = 0; b < pairs; b++) {
                I moved = t - 3 * b;
                if (moved >= 0 && moved <= length)
                    move_bulge(x, top, bottom, w0, w1, top - 1 + moved, shift + 2 * b, r->u);
            }
        apply_window(r, x, top, bottom, w0, w1 + 1 - w0);
    }
}

/* ---- aggressive early deflation ---- */

/* What is left of a window of `size` rows whose spike s v^H cannot be neglected for the first of
 * ns: that is moved to its first element, and the rest is Hessenberg again. */
MAYBE void spike_back(schur_room *r, I size, I ns)
{
    M t = r->t, v = r->u, x = at(r->small.v, 0, 0);
    C tau;
    for (I i = 0; i < ns; i++)
        put(x, i, 0, conj_(get(v, 0, i)));
    (void)reflection(ns, x, &tau);
    /* t by the adjoint from the left, t and v from the right */
    apply_one(ns, size, x, tau, t);
    for (int which = 0; which < 2; which++) {
        M c = which ? v : t, w = at(r->tall, 0, 0);
        I rows = which ? size : ns;
        fill(w, rows, 1, 0);
        gemv_n(rows, ns, 1, c, x, false, w);
        for (I j = 0; j < ns; j++) {
            C f = times(tau, conj_(get(x, j, 0)));
            axpy(rows, (C){-f.re, -f.im}, w, at(c, 0, j));
        }
    }
    hessenberg(&r->small, size, 0, ns, t);
    for (I k = 0; k < ns - 1; k++) {
        M y = at(r->small.v, k + 1, k), w = at(r->tall, 0, 0);
        I m = ns - 1 - k;
        C own = r->small.tau[k];
        fill(w, size, 1, 0);
        gemv_n(size, m, 1, at(v, 0, k + 1), y, false, w);
        for (I j = 0; j < m; j++) {
            C f = times(own, conj_(get(y, j, 0)));
            axpy(size, (C){-f.re, -f.im}, w, at(v, 0, k + 1 + j));
        }
    }
}

/* How many rows at the end of the window are found; others are moved to its beginning. first: rows
 * that did not converge. */
MAYBE I deflate_window(schur_room *r, I size, I first, double s, double small)
{
    M t = r->t, v = r->u;
    I ns = size;
    for (I to = first; to < ns;) {
        bool pair = ns >= 2 && !t.im && is_pair(t, size, ns - 2);
        I at_ = ns - (pair ? 2 : 1);
        double around = size_at(t, ns - 1, ns - 1), spike = s * size_at(v, 0, ns - 1);
        if (pair) {
            around += sqrt(size_at(t, ns - 1, ns - 2)) * sqrt(size_at(t, ns - 2, ns - 1));
            spike = fmax(spike, s * size_at(v, 0, ns - 2));
        }
        around = around == 0 ? s : around;
        if (spike <= fmax(small, ULP * around)) {
            ns = at_;
            continue;
        }
        if (at_ < to) /* all others have been looked at */
            break;
        I now = move_block(t, size, v, at_, to);
        to = now + (pair ? 2 : 1);
    }
    return size - ns;
}

/* Eigenvalues of the first ns rows of the window's Schur form. */
MAYBE void window_values(M t, I ns, D2 *out)
{
    for (I i = 0; i < ns; i++) {
        out[i] = wide(get(t, i, i));
        if (t.im || !is_pair(t, ns, i))
            continue;
        double im = sqrt(size_at(t, i, i + 1)) * sqrt(size_at(t, i + 1, i));
        out[i] = (D2){(double)get(t, i, i).re, im};
        out[i + 1] = (D2){(double)get(t, i + 1, i + 1).re, -im};
        i++;
    }
}

/* On the last `size` rows of top..bottom: how many were found; the eigenvalues of the others are
 * shifts, *count of them. */
MAYBE I deflate_early(schur_room *r, const schur *x, I top, I bottom, I size, I *count)
{
    I w0 = bottom + 1 - size;
    M h = x->h, t = r->t, v = r->u;
    double small = SAFE_MIN * ((double)x->n / ULP);
    D2 e = w0 > top ? wide(get(h, w0, w0 - 1)) : (D2){0, 0};
    double s = d_size(e);
    fill(t, size, size, 0);
    fill(v, size, size, 1);
    for (I j = 0; j < size; j++)
        for (I i = 0; i < size && i <= j + 1; i++)
            put(t, i, j, get(h, w0 + i, w0 + j));
    schur own = {size, 0, size - 1, t, v, true, true, r->w + w0};
    I first = schur_small(&own) + 1;
    for (I j = 0; j + 2 < size; j++)
        for (I i = j + 2; i < size; i++)
            put(t, i, j, (C){0, 0});
    I found = deflate_window(r, size, first, s, small), ns = size - found;
    s = ns == 0 ? 0 : s;
    window_values(at(t, first, first), ns - first, r->shift);
    *count = ns - first;
    if (found == 0 && s != 0)
        return 0;
    C spike = times(narrow(e), conj_(get(v, 0, 0)));
    if (ns > 1 && s != 0) {
        spike_back(r, size, ns);
        spike = times(narrow(e), conj_(get(v, 0, 0)));
    }
    if (w0 > top)
        put(h, w0, w0 - 1, s == 0 ? (C){0, 0} : spike);
    for (I j = 0; j < size; j++)
        for (I i = 0; i < size && i <= j + 1; i++)
            put(h, w0 + i, w0 + j, get(t, i, j));
    apply_window(r, x, top, bottom, w0, size);
    for (I i = ns; i < size; i++) {
        x->w[w0 + i] = get(h, w0 + i, w0 + i);
        if (h.im || i + 1 == size || !is_pair(at(h, w0, w0), size, i))
            continue;
        T im = (T)(sqrt(size_at(h, w0 + i, w0 + i + 1)) * sqrt(size_at(h, w0 + i + 1, w0 + i)));
        x->w[w0 + i] = (C){get(h, w0 + i, w0 + i).re, im};
        x->w[w0 + i + 1] = (C){get(h, w0 + i + 1, w0 + i + 1).re, -im};
        i++;
    }
    return found;
}

/* ---- the iteration ---- */

/* Largest first, then in pairs: of a real matrix conjugates, or two real ones. Returns how many of
 * the last ones are used. */
MAYBE I pair_shifts(D2 *s, I n, I want, bool complex_)
{
    for (I i = 1; i < n; i++)
        for (I j = i; j > 0 && d_size(s[j - 1]) < d_size(s[j]); j--) {
            D2 e = s[j];
            s[j] = s[j - 1];
            s[j - 1] = e;
        }
    for (I i = n - 1; !complex_ && i > 1; i -= 2)
        if (s[i].im != -s[i - 1].im) { /* a real one moves before the pair that it is behind */
            D2 e = s[i];
            s[i] = s[i - 1];
            s[i - 1] = s[i - 2];
            s[i - 2] = e;
        }
    I use = n < want ? n : want;
    return use - use % 2;
}

/* Eigenvalues of the last `want` rows, where early deflation left too few; or numbers from
 * elsewhere after many rounds without any. */
MAYBE I other_shifts(schur_room *r, const schur *x, I top, I bottom, I want, bool odd)
{
    M h = x->h, t = r->t;
    I n = 0, w0 = bottom + 1 - want;
    if (odd) {
        for (I i = bottom; i > w0 && i >= top + 2; i -= 2) {
            double s = size_at(h, i, i - 1) + size_at(h, i - 1, i - 2);
            D2 d = wide(get(h, i, i));
            if (x->h.im) {
                r->shift[n++] = (D2){d.re + 0.75 * s, d.im};
                r->shift[n] = r->shift[n - 1];
                n++;
                continue;
            }
            double_shift(d.re + 0.75 * s, s, -0.4375 * s, d.re + 0.75 * s, &r->shift[n],
                         &r->shift[n + 1]);
            n += 2;
        }
        return n;
    }
    for (I j = 0; j < want; j++)
        for (I i = 0; i < want; i++)
            put(t, i, j, i <= j + 1 ? get(h, w0 + i, w0 + j) : (C){0, 0});
    C kept[SCHUR_SHIFTS];
    schur own = {want, 0, want - 1, t, t, false, false, kept};
    I first = schur_small(&own) + 1;
    for (I i = first; i < want; i++)
        r->shift[n++] = wide(kept[i]);
    return n;
}

/* Where the block that ends at `bottom` begins; elements left of the diagonal that are negligible
 * become 0. */
MAYBE I block_top(const schur *x, I bottom)
{
    double small = SAFE_MIN * ((double)(x->hi - x->lo + 1) / ULP);
    for (I k = bottom; k > x->lo; k--)
        if (negligible(x->h, x->lo, x->hi, k, small)) {
            put(x->h, k, k - 1, (C){0, 0});
            return k;
        }
    return x->lo;
}

MAYBE I shifts_for(I rows)
{
    I log = 0;
    while (rows >> (log + 1))
        log++;
    I n = rows < 150 ? 10 : rows / log;
    n = n > SCHUR_SHIFTS ? SCHUR_SHIFTS : n;
    return n - n % 2;
}

/* The Schur form of x; false: it was not found. */
MAYBE bool schur_form(schur_room *r, const schur *x)
{
    for (I i = 0; i < x->n; i++)
        if (i < x->lo || i > x->hi)
            x->w[i] = get(x->h, i, i);
    if (x->hi - x->lo + 1 <= SCHUR_SMALL)
        return schur_small(x) < x->lo;
    for (I j = x->lo; j < x->hi; j++)
        for (I i = j + 2; i <= x->hi && i <= j + 4; i++)
            put(x->h, i, j, (C){0, 0});
    I bottom = x->hi, rounds = 0, since = 0, most = 30 * (x->hi - x->lo + 1);
    while (bottom >= x->lo) {
        I top = block_top(x, bottom), rows = bottom - top + 1, got = 0;
        if (rows <= SCHUR_SMALL) {
            schur block = *x;
            block.lo = top;
            block.hi = bottom;
            if (schur_small(&block) >= top)
                return false;
            bottom = top - 1;
            since = 0;
            continue;
        }
        if (rounds++ > most)
            return false;
        I want = shifts_for(rows), size = rows <= 500 ? want : 3 * want / 2;
        size = since >= 5 ? 2 * size : size;
        size = size > SCHUR_AHEAD ? SCHUR_AHEAD : size;
        I found = deflate_early(r, x, top, bottom, size, &got);
        bottom -= found;
        since = found ? 0 : since + 1;
        if (100 * found > 14 * size || bottom - top + 1 <= SCHUR_SMALL)
            continue;
        if (since > 0 && since % 6 == 0)
            got = other_shifts(r, x, top, bottom, want, true);
        else if (got <= want / 2)
            got = other_shifts(r, x, top, bottom, want, false);
        I use = pair_shifts(r->shift, got, want, x->h.im != NULL);
        if (use >= 2)
            sweep_bulges(r, x, top, bottom, r->shift + (got - use), use / 2);
    }
    return true;
}
#endif
