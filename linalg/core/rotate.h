/* rotate.h - many sweeps of rotations of the columns of a matrix: the rows are independent, so
 * LINES of them at a time go through all sweeps in one piece of cache (Van Zee, van de Geijn and
 * Quintana-Orti, Restructuring the tridiagonal and bidiagonal QR algorithms, 2014). */
#ifndef LZ_LINALG_CORE_ROTATE_H
#define LZ_LINALG_CORE_ROTATE_H
#include "linalg/core/iterate.h"
enum { LINES = LZ_LINALG_LINES / sizeof(T), LINE_VECTORS = LINES / VL };

/* A sweep as it goes through the columns: rotation u is of columns u and u + 1, counted in its
 * direction, from `from` on. */
typedef struct wave {
    const T *c, *s;
    T sign; /* of s: -1 downward */
    I from, to;
} wave;

INLINE wave wave_of(const rotations *r, const sweep *w, I n)
{
    I from = w->down ? n - 2 - w->first : w->first;
    return (wave){r->c + w->at, r->s + w->at, w->down ? -1 : 1, from, from + w->count};
}

/* Rotations from..to of one wave; column u is at z + u * step. */
INLINE void rotate_one(const wave *w, I from, I to, T *z, I step)
{
    V x[LINE_VECTORS];
    if (from >= to)
        return;
    T *p = z + from * step;
    UNROLL(8)
    for (int v = 0; v < LINE_VECTORS; v++)
        x[v] = load(p + v * VL);
    for (I u = from; u < to; u++, p += step) {
        V c = splat(w->c[u - w->from]), s = splat(w->sign * w->s[u - w->from]);
        UNROLL(8)
        for (int v = 0; v < LINE_VECTORS; v++) {
            V b = load(p + step + v * VL);
            store(p + v * VL, c * x[v] + s * b);
            x[v] = c * b - s * x[v];
        }
    }
    UNROLL(8)
    for (int v = 0; v < LINE_VECTORS; v++)
        store(p + v * VL, x[v]);
}

/* Rotation u + 1 of wave a and u of wave b, u = from..to: a column is loaded and stored once. */
INLINE void rotate_both(const wave *a, const wave *b, I from, I to, T *z, I step)
{
    V x[LINE_VECTORS], y[LINE_VECTORS];
    if (from >= to)
        return;
    T *p = z + from * step;
    UNROLL(8)
    for (int v = 0; v < LINE_VECTORS; v++) {
        y[v] = load(p + v * VL);
        x[v] = load(p + step + v * VL);
    }
    for (I u = from; u < to; u++, p += step) {
        V ca = splat(a->c[u + 1 - a->from]), sa = splat(a->sign * a->s[u + 1 - a->from]),
          cb = splat(b->c[u - b->from]), sb = splat(b->sign * b->s[u - b->from]);
        UNROLL(8)
        for (int v = 0; v < LINE_VECTORS; v++) {
            V fresh = load(p + 2 * step + v * VL), done = ca * x[v] + sa * fresh;
            x[v] = ca * fresh - sa * x[v];
            store(p + v * VL, cb * y[v] + sb * done);
            y[v] = cb * done - sb * y[v];
        }
    }
    UNROLL(8)
    for (int v = 0; v < LINE_VECTORS; v++) {
        store(p + v * VL, y[v]);
        store(p + step + v * VL, x[v]);
    }
}

/* Wave a, then wave b in its wake: rotation u of b follows u + 1 of a. */
INLINE void rotate_pair(const wave *a, const wave *b, T *z, I step)
{
    I ahead = a->from - 1 < b->to ? a->from - 1 : b->to, next = b->from;
    rotate_one(b, next, ahead, z, step); /* of columns that a does not touch */
    next = ahead > next ? ahead : next;
    I at_a = next + 1 < a->to ? next + 1 : a->to;
    at_a = at_a > a->from ? at_a : a->from;
    rotate_one(a, a->from, at_a, z, step);
    I end = a->to - 1 < b->to ? a->to - 1 : b->to;
    if (end > next && at_a == next + 1) {
        rotate_both(a, b, next, end, z, step);
        at_a = end + 1;
        next = end;
    }
    rotate_one(a, at_a, a->to, z, step);
    rotate_one(b, next, b->to, z, step);
}

/* All sweeps on LINES numbers of each of n columns. */
MAYBE void rotate_lines(const rotations *r, I n, T *z)
{
    for (I k = 0; k < r->nsweep; k++) {
        const sweep *w = &r->sweep[k];
        T *first = w->down ? z + (n - 1) * LINES : z;
        I step = w->down ? -LINES : LINES;
        wave a = wave_of(r, w, n);
        if (k + 1 < r->nsweep && w[1].down == w->down) {
            wave b = wave_of(r, w + 1, n);
            rotate_pair(&a, &b, first, step);
            k++;
        } else {
            rotate_one(&a, a.from, a.to, first, step);
        }
    }
}

/* Columns of fewer than LINES rows are done as LINES. */
MAYBE void rotate_part(I rows, I cols, const rotations *r, T *z, I ld, T *lines)
{
    for (I i = 0; i < rows; i += LINES) {
        I now = rows - i < LINES ? rows - i : LINES;
        for (I j = 0; j < cols; j++) {
            if (now < LINES)
                memset(lines + j * LINES, 0, LINES * sizeof(T));
            memcpy(lines + j * LINES, z + i + j * ld, (size_t)now * sizeof(T));
        }
        rotate_lines(r, cols, lines);
        for (I j = 0; j < cols; j++)
            memcpy(z + i + j * ld, lines + j * LINES, (size_t)now * sizeof(T));
    }
}

/* Rotations of up to n columns, and memory to apply them. */
typedef struct rotate_room {
    rotations r;
    T *lines;
} rotate_room;

static rotate_room take_rotations(arena *a, I n)
{
    rotate_room x = {.r = {.room = LZ_LINALG_SWEEPS * n + 2, .nsweep_room = 4 * LZ_LINALG_SWEEPS}};
    x.r.c = take(a, x.r.room, sizeof(T));
    x.r.s = take(a, x.r.room, sizeof(T));
    x.r.sweep = take(a, x.r.nsweep_room, sizeof *x.r.sweep);
    x.lines = take(a, n * LINES, sizeof(T));
    return x;
}

/* Applies what is recorded to the first n columns of z, and forgets it. */
MAYBE void rotate_all(rotate_room *x, I rows, I n, M z)
{
    rotate_part(rows, n, &x->r, z.re, z.cs, x->lines);
    if (z.im)
        rotate_part(rows, n, &x->r, z.im, z.cs, x->lines);
    x->r.n = x->r.nsweep = 0;
}

/* Columns to unit length: each rotation is one only up to rounding. */
MAYBE void normalize(I m, I n, M z)
{
    for (I j = 0; j < n; j++) {
        M x = at(z, 0, j);
        double s = squares(m, x.re) + (x.im ? squares(m, x.im) : 0);
        if (s > 0.25 && s < 4)
            multiply(m, 1, x, (T)(1 / sqrt(s)));
    }
}
#endif
