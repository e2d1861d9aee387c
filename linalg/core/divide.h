/* divide.h - eigenvalues and vectors of a symmetric tridiagonal matrix, singular values and vectors
 * of an upper bidiagonal one, by divide and conquer (Cuppen 1981; Gu and Eisenstat 1995; the order
 * of columns in the products as in Rutter 1994): what is common to both. Halves of the matrix make
 * a secular equation (secular.h), whose roots are the values of the whole; its vectors times the
 * halves' vectors are the vectors of the whole. What the halves' coupling z hardly touches, and one
 * of two values that are hardly apart, is deflated: it is a value of the whole as it is. */
#ifndef LZ_LINALG_CORE_DIVIDE_H
#define LZ_LINALG_CORE_DIVIDE_H
#include "linalg/core/secular.h"

/* Rows in which a column has elements that are not 0. */
enum { TOP, BOTH, BOTTOM, KINDS };

/* Of a matrix whose largest number is about 1: what is less is 0, so that squares are numbers. */
#define DIVIDE_LEAST 0x1p-200

/* The vectors of one side: eigenvectors, or right and left singular vectors. */
typedef struct divide_side {
    M z, packed, vectors; /* the result; columns of the halves; those of the equation */
} divide_side;

typedef struct divide_room {
    divide_side side[2]; /* of a tridiagonal matrix one */
    bool squares;        /* bidiagonal: the poles are squares */
    double *a, *b;       /* the matrix: its diagonal and the one beside it */
    double *d;           /* values, of columns of z */
    /* of a merge, by the number of a column: the first and the last row of its block, z */
    double *first, *last, *row;
    /* the same of the columns of the equation; its poles, weights, roots; one of its vectors */
    double *top, *bottom, *poles, *weights, *roots, *hat, *one;
    double *delta; /* of root i at i * ld */
    I ld;
    int32_t *order;          /* columns of a block by value, counted from its begin */
    int32_t *sorted;         /* those of both blocks by value */
    int32_t *kept, *dropped; /* those of the equation, and the others */
    int32_t *place;          /* of a column of the equation among the packed ones */
    uint8_t *kind;
    I count[KINDS]; /* columns of the equation */
} divide_room;

/* Columns of the halves: from..mid and right..to. */
typedef struct halves {
    I from, mid, right, to;
} halves;

static divide_room take_divide(arena *s, I n, bool squares)
{
    divide_room r;
    double **numbers[] = {&r.a,   &r.b,      &r.d,     &r.first,   &r.last,  &r.row, &r.top,
                          &r.one, &r.bottom, &r.poles, &r.weights, &r.roots, &r.hat};
    int32_t **places[] = {&r.order, &r.sorted, &r.kept, &r.dropped, &r.place};
    memset(&r, 0, sizeof r);
    r.squares = squares;
    for (int i = 0; i < (squares ? 2 : 1); i++) {
        r.side[i].z = take_matrix(s, n, n, false);
        r.side[i].packed = take_matrix(s, n, n, false);
        r.side[i].vectors = take_matrix(s, n, n, false);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = take(s, n, sizeof(double));
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        *places[i] = take(s, n, sizeof(int32_t));
    r.ld = lz_linalg_ld(n);
    r.delta = take(s, r.ld * n, sizeof(double));
    r.kind = take(s, n, 1);
    return r;
}

/* x, y = c x + s y, c y - s x */
INLINE void divide_turn(double *x, double *y, double c, double s)
{
    double a = *x, b = *y;
    *x = c * a + s * b;
    *y = c * b - s * a;
}

/* The same of rows from..to of columns x and y. */
MAYBE void divide_turn_columns(M z, I from, I to, I x, I y, T c, T s)
{
    T *p = z.re + x * z.cs, *q = z.re + y * z.cs;
    I i = from;
    for (; i + VL <= to; i += VL) {
        V a = load(p + i), b = load(q + i);
        store(p + i, c * a + s * b);
        store(q + i, c * b - s * a);
    }
    for (; i < to; i++) {
        T a = p[i], b = q[i];
        p[i] = c * a + s * b;
        q[i] = c * b - s * a;
    }
}

/* The columns of both halves, ascending: r->sorted has them from `from` on. Their number. */
MAYBE I divide_sort(divide_room *r, halves h)
{
    const double *d = r->d;
    I a = h.from, b = h.right, n = h.mid - h.from + h.to - h.right;
    for (I i = 0; i < n; i++) {
        I x = a < h.mid ? h.from + r->order[a] : 0, y = b < h.to ? h.right + r->order[b] : 0;
        bool left = b == h.to || (a < h.mid && d[x] <= d[y]);
        r->sorted[h.from + i] = (int32_t)(left ? x : y);
        if (left)
            a++;
        else
            b++;
    }
    return n;
}

/* Columns x and y, whose values are hardly apart: y takes the weight of both. rows: of each side */
MAYBE void divide_deflate(divide_room *r, I from, const I *rows, I x, I y, double c, double s)
{
    if (!r->squares) {
        double t = r->d[x] * c * c + r->d[y] * s * s;
        r->d[y] = r->d[x] * s * s + r->d[y] * c * c;
        r->d[x] = t;
    }
    for (int i = 0; i < (r->squares ? 2 : 1); i++)
        divide_turn_columns(r->side[i].z, from, from + rows[i], x, y, (T)c, (T)s);
    divide_turn(&r->first[x], &r->first[y], c, s);
    divide_turn(&r->last[x], &r->last[y], c, s);
    if (r->kind[x] != r->kind[y])
        r->kind[x] = r->kind[y] = BOTH;
}

/* Parts the n sorted columns into those of the equation, behind the k that are there, and those
 * that are values of the whole as they are. The number of those of the equation. */
MAYBE I divide_part(divide_room *r, I from, I n, const I *rows, I k, double rho, double tol)
{
    I out = 0, before = -1;
    for (I i = 0; i < n; i++) {
        I j = r->sorted[from + i];
        if (rho * fabs(r->row[j]) <= tol) {
            r->dropped[out++] = (int32_t)j;
            continue;
        }
        if (before >= 0) {
            double s = r->row[before], c = r->row[j], size = hypot(c, s),
                   gap = r->d[j] - r->d[before];
            c /= size;
            s = -s / size;
            if (fabs(r->squares ? gap : gap * c * s) <= tol) {
                r->row[j] = size;
                divide_deflate(r, from, rows, before, j, c, s);
                r->dropped[out++] = (int32_t)before;
                k--;
            }
        }
        r->kept[k++] = (int32_t)j;
        before = j;
    }
    return k;
}

/* Where the columns of the equation go: by kinds. */
MAYBE void divide_place(divide_room *r, I k)
{
    I at[KINDS] = {0, 0, 0};
    r->count[TOP] = r->count[BOTH] = r->count[BOTTOM] = 0;
    for (I i = 0; i < k; i++)
        r->count[r->kind[r->kept[i]]]++;
    at[BOTH] = r->count[TOP];
    at[BOTTOM] = r->count[TOP] + r->count[BOTH];
    for (I i = 0; i < k; i++)
        r->place[i] = (int32_t)at[r->kind[r->kept[i]]]++;
}

/* Rows from..from + rows of the columns of the equation, by kinds, and of the n - k others. */
MAYBE void divide_pack(const divide_room *r, const divide_side *x, I from, I rows, I n, I k)
{
    for (I i = 0; i < n; i++) {
        I j = i < k ? r->kept[i] : r->dropped[i - k], to = i < k ? r->place[i] : i;
        memcpy(x->packed.re + to * x->packed.cs, x->z.re + from + j * x->z.cs,
               (size_t)rows * sizeof(T));
    }
}

/* Rows and columns from `from` on of the whole: products of the packed columns, of which the first
 * `above` rows are the upper half's and those from `below` on the lower half's, with the vectors,
 * then the columns that stay. */
MAYBE void divide_multiply(const gemm_room *g, const divide_room *r, const divide_side *x, I from,
                           I above, I below, I rows, I n, I k)
{
    const I *count = r->count;
    for (I i = 0; i < n; i++) {
        T *z = &x->z.re[from + (from + i) * x->z.cs];
        if (i < k)
            memset(z, 0, (size_t)rows * sizeof(T));
        else
            memcpy(z, x->packed.re + i * x->packed.cs, (size_t)rows * sizeof(T));
    }
    M z = at(x->z, from, from);
    gemm(g, above, k, count[TOP] + count[BOTH], 1, x->packed, false, x->vectors, false, z, ALL);
    gemm(g, rows - below, k, count[BOTH] + count[BOTTOM], 1, at(x->packed, below, count[TOP]),
         false, at(x->vectors, count[TOP], 0), false, at(z, below, 0), ALL);
}

/* r->one to length 1, in T where its elements belong. */
MAYBE void divide_vector(divide_room *r, const divide_side *x, I k, I i)
{
    T *to = x->vectors.re + i * x->vectors.cs;
    double by = 1 / sqrt(dot_wide(k, r->one, r->one));
    for (I j = 0; j < k; j++) {
        r->one[j] *= by;
        to[r->place[j]] = (T)r->one[j];
    }
}

/* The n columns that were kept, then those that were dropped: poles, weights and rows. */
MAYBE secular divide_equation(divide_room *r, I n, I k, double rho)
{
    secular q = {k, r->squares, r->poles, r->weights, 0};
    for (I i = 0; i < n; i++) {
        I j = i < k ? r->kept[i] : r->dropped[i - k];
        r->top[i] = r->first[j];
        r->bottom[i] = r->last[j];
        r->poles[i] = r->d[j];
        r->weights[i] = i < k ? rho * r->row[j] * r->row[j] : 0;
        q.sum += r->weights[i];
    }
    return q;
}

/* Values, and the rows that the next equation is made of, of the n columns of the whole, which lie
 * from `from` on; vectors of the equation. */
MAYBE void divide_solve(divide_room *r, I from, I n, I k, double rho)
{
    secular q = divide_equation(r, n, k, rho);
    for (I i = 0; i < k; i++) {
        if (r->squares && k == 1) { /* of one row, which may be 0 */
            r->roots[0] = fabs(r->row[r->kept[0]]);
            r->delta[0] = -1;
            break;
        }
        I origin;
        double x = secular_root(&q, i, r->delta + i * r->ld, &origin), o = r->poles[origin];
        r->roots[i] = r->squares ? o + x / (o + sqrt(o * o + x)) : o + x;
    }
    secular_weights(&q, r->delta, r->ld, r->hat);
    for (I i = 0; i < k; i++)
        if (r->row[r->kept[i]] < 0)
            r->hat[i] = -r->hat[i];
    for (I i = 0; i < k; i++) {
        const double *delta = r->delta + i * r->ld;
        for (I j = 0; j < k; j++)
            r->one[j] = r->hat[j] / delta[j];
        divide_vector(r, &r->side[0], k, i);
        r->d[from + i] = r->roots[i];
        r->first[from + i] = dot_wide(k, r->top, r->one);
        r->last[from + i] = dot_wide(k, r->bottom, r->one);
        if (r->squares) { /* the equation's matrix times the vector */
            for (I j = 0; j < k; j++)
                r->one[j] = r->poles[j] * (r->hat[j] / delta[j]);
            r->one[0] = -1;
            divide_vector(r, &r->side[1], k, i);
        }
    }
    for (I i = k; i < n; i++) {
        r->d[from + i] = r->poles[i];
        r->first[from + i] = r->top[i];
        r->last[from + i] = r->bottom[i];
    }
}

/* The order of the new columns: k that ascend, and others that nearly do. */
MAYBE void divide_order(divide_room *r, I from, I n)
{
    int32_t *order = r->order + from;
    const double *d = r->d + from;
    for (I i = 0; i < n; i++) {
        I j = i;
        for (; j > 0 && d[order[j - 1]] > d[i]; j--)
            order[j] = order[j - 1];
        order[j] = (int32_t)i;
    }
}

/* The power of two that brings the largest of the matrix to 1; the matrix is multiplied by it. */
MAYBE double divide_scale(divide_room *r, I n)
{
    double most = 0, by = 1;
    int e;
    for (I i = 0; i < n; i++)
        most = fmax(most, fmax(fabs(r->a[i]), i + 1 < n ? fabs(r->b[i]) : 0));
    if (most > 0) {
        (void)frexp(most, &e);
        by = ldexp(1, e < -1000 ? 1000 : -e);
    }
    for (I i = 0; i < n; i++) {
        r->a[i] *= by;
        r->b[i] *= by;
    }
    return by;
}

/* ---- symmetric, tridiagonal ---- */

/* Blocks from..mid and mid..to, coupled by b[mid - 1], become one: they have been made of the
 * diagonal less |b| on either side, so the whole is Q (D + |b| z z^T) Q^T, z being the last row of
 * the upper vectors and the first one of the lower. */
MAYBE void eigen_merge(const gemm_room *g, divide_room *r, I from, I mid, I to)
{
    const double eps = sizeof(T) == 4 ? 0x1p-30 : 0x1p-53;
    double rho = fabs(r->b[mid - 1]), sign = r->b[mid - 1] < 0 ? -1 : 1, most = rho;
    I n = to - from;
    for (I i = from; i < to; i++) {
        bool left = i < mid;
        r->row[i] = left ? r->last[i] : sign * r->first[i];
        *(left ? &r->last[i] : &r->first[i]) = 0;
        r->kind[i] = left ? TOP : BOTTOM;
        most = fmax(most, fabs(r->d[i]));
    }
    divide_sort(r, (halves){from, mid, mid, to});
    I k = divide_part(r, from, n, &n, 0, rho, fmax(8 * eps * most, DIVIDE_LEAST));
    divide_place(r, k);
    divide_pack(r, &r->side[0], from, n, n, k);
    divide_solve(r, from, n, k, rho);
    divide_multiply(g, r, &r->side[0], from, mid - from, mid - from, n, n, k);
    divide_order(r, from, n);
}

/* Values d (r->order says how they ascend) and vectors r->side[0].z of the tridiagonal matrix with
 * the diagonals r->a, r->b. */
MAYBE void eigen_divide(const gemm_room *g, divide_room *r, I n)
{
    double by = divide_scale(r, n);
    fill(r->side[0].z, n, n, 1);
    for (I i = 0; i < n; i++) {
        r->d[i] = r->a[i] - (i ? fabs(r->b[i - 1]) : 0) - (i + 1 < n ? fabs(r->b[i]) : 0);
        r->first[i] = r->last[i] = 1;
        r->order[i] = 0;
    }
    I parts = 1;
    while (parts < n)
        parts *= 2;
    for (; parts > 1; parts /= 2)
        for (I i = 0; i < parts; i += 2) {
            I from = i * n / parts, mid = (i + 1) * n / parts, to = (i + 2) * n / parts;
            if (from < mid && mid < to)
                eigen_merge(g, r, from, mid, to);
        }
    for (I i = 0; i < n; i++)
        r->d[i] /= by;
}

/* ---- bidiagonal ---- */

/* The columns of the halves that couple with row `mid`, a[mid] and b[mid]: z. The last right
 * columns of the halves, which no value has, are turned into one that has all of the coupling, the
 * middle column, and one that has none. */
MAYBE void singular_couple(divide_room *r, halves h, bool more)
{
    double alpha = r->a[h.mid], beta = r->b[h.mid], c = 1, s = 0;
    for (I i = h.from; i < h.to + more; i++) {
        bool left = i <= h.mid;
        r->row[i] = left ? alpha * r->last[i] : beta * r->first[i];
        *(left ? &r->last[i] : &r->first[i]) = 0;
        r->kind[i] = left ? TOP : BOTTOM;
    }
    r->kind[h.mid] = BOTH;
    if (!more)
        return;
    double size = hypot(r->row[h.mid], r->row[h.to]);
    if (size > 0) {
        c = r->row[h.mid] / size;
        s = r->row[h.to] / size;
    }
    divide_turn(&r->row[h.mid], &r->row[h.to], c, s);
    divide_turn(&r->first[h.mid], &r->first[h.to], c, s);
    divide_turn(&r->last[h.mid], &r->last[h.to], c, s);
    divide_turn_columns(r->side[0].z, h.from, h.to + 1, h.mid, h.to, (T)c, (T)s);
}

/* Rows from..mid and mid + 1..to, and row mid between them, become one block: it has a column more
 * than rows unless it ends with the matrix, at n. */
MAYBE void singular_merge(const gemm_room *g, divide_room *r, I n, I from, I mid, I to)
{
    const double eps = sizeof(T) == 4 ? 0x1p-30 : 0x1p-53;
    bool more = to < n;
    halves h = {from, mid, mid + 1, to};
    I rows[2] = {to - from + more, to - from}, count = to - from;
    double most = fmax(fabs(r->a[mid]), mid + 1 < n ? fabs(r->b[mid]) : 0);
    for (I i = from; i < to; i++)
        most = i == mid ? most : fmax(most, fabs(r->d[i]));
    double tol = fmax(8 * eps * most, DIVIDE_LEAST);
    singular_couple(r, h, more);
    r->d[mid] = 0;
    r->kept[0] = (int32_t)mid;
    I k = divide_part(r, from, divide_sort(r, h), rows, 1, 1, tol);
    if (k > 1 && fabs(r->row[mid]) <= tol) /* poles and roots stay apart */
        r->row[mid] = tol;
    if (k > 1 && r->d[r->kept[1]] < tol / 2)
        r->d[r->kept[1]] = tol / 2;
    divide_place(r, k);
    for (int i = 0; i < 2; i++)
        divide_pack(r, &r->side[i], from, rows[i], count, k);
    divide_solve(r, from, count, k, 1);
    divide_multiply(g, r, &r->side[0], from, mid - from + 1, mid - from + 1, rows[0], count, k);
    divide_multiply(g, r, &r->side[1], from, mid - from, mid - from + 1, rows[1], count, k);
    M u = r->side[1].z, w = r->side[1].vectors; /* the middle column is a unit vector */
    for (I i = 0; i < k; i++)
        u.re[mid + (from + i) * u.cs] = w.re[r->place[0] + i * w.cs];
    divide_order(r, from, count);
}

/* Blocks of `rows` rows and less, from `from` on: a tree whose nodes have a row each. */
MAYBE void singular_part(const gemm_room *g, divide_room *r, I n, I from, I to)
{
    I mid = from + (to - from) / 2;
    if (from == to)
        return;
    singular_part(g, r, n, from, mid);
    singular_part(g, r, n, mid + 1, to);
    singular_merge(g, r, n, from, mid, to);
}

/* Values d (r->order says how they ascend), right and left vectors r->side[0].z and r->side[1].z
 * of the bidiagonal matrix with the diagonals r->a, r->b. */
MAYBE void singular_divide(const gemm_room *g, divide_room *r, I n)
{
    double by = divide_scale(r, n);
    for (int i = 0; i < 2; i++)
        fill(r->side[i].z, n, n, i == 0);
    for (I i = 0; i < n; i++) {
        r->first[i] = r->last[i] = 1;
        r->order[i] = 0;
    }
    singular_part(g, r, n, 0, n);
    for (I i = 0; i < n; i++)
        r->d[i] /= by;
}
#endif
