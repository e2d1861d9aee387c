/* eval_decompose.c - reference of lazuli.lu, lazuli.qr, lazuli.geqrf, lazuli.svd and lazuli.eigh:
 * Gaussian elimination, Householder's reflections, one-sided Jacobi rotations, each on one matrix
 * at a time in long double. See eval.h. */
#include "ir/eval/eval_matrix.h"
#include <float.h>
#include <math.h>

static lz_num plus_product(bool real, lz_num s, lz_num a, lz_num b)
{
    return lz_m_minus_product(real, s, (lz_num){-a.re, -a.im}, b);
}

/* rows x cols numbers, 0; on failure at is NULL. */
static lz_status fresh(lz_matrix *m, bool real, int64_t rows, int64_t cols)
{
    *m = (lz_matrix){rows, cols, real, lz_calloc((size_t)(rows * cols) + 1, sizeof *m->at)};
    return m->at ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for a matrix");
}

/* ---- lu ---- */

/* LAPACK's measure of a pivot, in the dtype: which of two is larger is decided after rounding. */
static double size_of(const lz_num *x, bool single)
{
    if (single)
        return (float)(fabsf((float)x->re) + fabsf((float)x->im));
    return fabs((double)x->re) + fabs((double)x->im);
}

static int64_t pivot_of(const lz_matrix *a, int64_t j, bool single)
{
    int64_t best = j;
    for (int64_t i = j + 1; i < a->rows; i++) {
        double x = size_of(lz_m_el(a, i, j), single);
        if (x > size_of(lz_m_el(a, best, j), single) || isnan(x))
            best = i;
    }
    return best;
}

static void eliminate(lz_matrix *a, int64_t j)
{
    lz_num d = *lz_m_el(a, j, j);
    for (int64_t i = j + 1; i < a->rows; i++) {
        lz_num *l = lz_m_el(a, i, j);
        *l = d.re == 0 && d.im == 0 ? (lz_num){0, 0} : lz_m_quotient(a->real, *l, d);
        for (int64_t k = j + 1; k < a->cols; k++)
            *lz_m_el(a, i, k) =
                lz_m_minus_product(a->real, *lz_m_el(a, i, k), *l, *lz_m_el(a, j, k));
    }
}

static void factor_lu(lz_matrix *a, bool single, int32_t *pivots, int32_t *order)
{
    int64_t steps = a->rows < a->cols ? a->rows : a->cols;
    for (int64_t i = 0; i < a->rows; i++)
        order[i] = (int32_t)i;
    for (int64_t j = 0; j < steps; j++) {
        int64_t p = pivot_of(a, j, single);
        pivots[j] = (int32_t)p;
        int32_t o = order[j];
        order[j] = order[p];
        order[p] = o;
        for (int64_t k = 0; k < a->cols && p != j; k++) {
            lz_num x = *lz_m_el(a, j, k);
            *lz_m_el(a, j, k) = *lz_m_el(a, p, k);
            *lz_m_el(a, p, k) = x;
        }
        eliminate(a, j);
    }
}

lz_status lz_ref_lu(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    lz_matrix a;
    int64_t m, n, batch = lz_m_count(c->sig->opnd[0], &m, &n), k = m < n ? m : n;
    LZ_TRY(fresh(&a, !lz_dtype_is_complex(c->sig->opnd[0]->dtype), m, n));
    for (int64_t b = 0; b < batch; b++) {
        lz_m_load(&a, c->opnd[0], b);
        factor_lu(&a, lz_dtype_part(c->sig->opnd[0]->dtype) != LZ_F64,
                  (int32_t *)c->result[1]->data + b * k, (int32_t *)c->result[2]->data + b * m);
        lz_m_store(&a, c->result[0], b);
    }
    lz_free(a.at);
    return LZ_OK;
}

/* ---- qr ---- */

/* The reflection that maps column j of a from row j on to a multiple of the first unit vector: v in
 * place of the column, tau; the multiple is returned. */
static lz_num reflection(lz_matrix *a, int64_t j, lz_num *v, lz_num *tau)
{
    long double tail = 0;
    lz_num alpha = *lz_m_el(a, j, j);
    for (int64_t i = 0; i < a->rows; i++) {
        v[i] = i > j ? *lz_m_el(a, i, j) : (lz_num){i == j, 0};
        tail = i > j ? hypotl(tail, lz_cx_abs(v[i])) : tail;
    }
    *tau = (lz_num){0, 0};
    if (tail == 0 && alpha.im == 0)
        return alpha;
    long double beta = copysignl(hypotl(tail, lz_cx_abs(alpha)), alpha.re < 0 ? 1 : -1);
    lz_num by = {alpha.re - beta, alpha.im};
    *tau = (lz_num){-by.re / beta, -by.im / beta};
    for (int64_t i = j + 1; i < a->rows; i++)
        v[i] = lz_m_quotient(a->real, v[i], by);
    return (lz_num){beta, 0};
}

/* x less tau v v^H x; v is 0 before `from`, and the rows from there on of the columns before it. */
static void reflect(lz_matrix *x, const lz_num *v, lz_num tau, int64_t from)
{
    for (int64_t k = from; k < x->cols; k++) {
        lz_num s = {0, 0};
        for (int64_t i = from; i < x->rows; i++)
            s = plus_product(x->real, s, lz_m_conjugate(v[i]), *lz_m_el(x, i, k));
        s = plus_product(x->real, (lz_num){0, 0}, s, tau);
        for (int64_t i = from; i < x->rows; i++)
            *lz_m_el(x, i, k) = lz_m_minus_product(x->real, *lz_m_el(x, i, k), s, v[i]);
    }
}

/* a becomes r, with v after each other, of all rows, and tau the reflections. */
static void factor_reflections(lz_matrix *a, lz_num *v, lz_num *tau)
{
    int64_t m = a->rows, steps = m < a->cols ? m : a->cols;
    for (int64_t j = 0; j < steps; j++) {
        lz_num beta = reflection(a, j, v + j * m, &tau[j]);
        reflect(a, v + j * m, lz_m_conjugate(tau[j]), j);
        for (int64_t i = j; i < m; i++)
            *lz_m_el(a, i, j) = i == j ? beta : (lz_num){0, 0};
    }
}

/* a becomes r; q, of as many rows, the first columns of the product of the reflections. v: room for
 * rows x steps. */
static void factor_qr(lz_matrix *a, lz_matrix *q, lz_num *v, lz_num *tau)
{
    int64_t m = a->rows, steps = m < a->cols ? m : a->cols;
    factor_reflections(a, v, tau);
    for (int64_t i = 0; i < m * q->cols; i++)
        q->at[i] = (lz_num){i / q->cols == i % q->cols, 0};
    for (int64_t j = steps - 1; j >= 0; j--)
        reflect(q, v + j * m, tau[j], j);
}

lz_status lz_ref_qr(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    lz_matrix a, q = {0}, v = {0};
    int64_t m, n, k, batch = lz_m_count(c->sig->opnd[0], &m, &n);
    bool real = !lz_dtype_is_complex(c->sig->opnd[0]->dtype);
    (void)lz_m_count(c->sig->result[0], &m, &k);
    LZ_TRY(fresh(&a, real, m, n));
    lz_status s = fresh(&q, real, m, k);
    if (s == LZ_OK)
        s = fresh(&v, real, m + 1, m < n ? m : n);
    for (int64_t b = 0; b < batch && s == LZ_OK; b++) {
        lz_m_load(&a, c->opnd[0], b);
        factor_qr(&a, &q, v.at, v.at + m * v.cols);
        lz_m_store(&q, c->result[0], b);
        lz_matrix r = {k, n, real, a.at};
        lz_m_store(&r, c->result[1], b);
    }
    lz_free(a.at);
    lz_free(q.at);
    lz_free(v.at);
    return s;
}

lz_status lz_ref_geqrf(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    lz_matrix a, v = {0};
    int64_t m, n, batch = lz_m_count(c->sig->opnd[0], &m, &n), k = m < n ? m : n;
    bool real = !lz_dtype_is_complex(c->sig->opnd[0]->dtype);
    LZ_TRY(fresh(&a, real, m, n));
    lz_status s = fresh(&v, real, m + 1, k);
    for (int64_t b = 0; b < batch && s == LZ_OK; b++) {
        lz_m_load(&a, c->opnd[0], b);
        factor_reflections(&a, v.at, v.at + m * k);
        for (int64_t j = 0; j < k; j++)
            for (int64_t i = j + 1; i < m; i++)
                *lz_m_el(&a, i, j) = v.at[j * m + i];
        lz_m_store(&a, c->result[0], b);
        lz_matrix tau = {k, 1, real, v.at + m * k};
        lz_m_store(&tau, c->result[1], b);
    }
    lz_free(a.at);
    lz_free(v.at);
    return s;
}

/* ---- svd ---- */

/* conj(column i) times column j */
static lz_num column_product(const lz_matrix *x, int64_t i, int64_t j)
{
    lz_num s = {0, 0};
    for (int64_t k = 0; k < x->rows; k++)
        s = plus_product(x->real, s, lz_m_conjugate(*lz_m_el(x, k, i)), *lz_m_el(x, k, j));
    return s;
}

static void turn(lz_matrix *x, int64_t i, int64_t j, long double c, lz_num s)
{
    for (int64_t k = 0; k < x->rows; k++) {
        lz_num a = *lz_m_el(x, k, i), b = *lz_m_el(x, k, j);
        *lz_m_el(x, k, i) =
            lz_m_minus_product(x->real, (lz_num){c * a.re, c * a.im}, lz_m_conjugate(s), b);
        *lz_m_el(x, k, j) = plus_product(x->real, (lz_num){c * b.re, c * b.im}, s, a);
    }
}

/* Makes columns i and j of w orthogonal; whether they were not. */
static bool rotate(lz_matrix *w, lz_matrix *v, int64_t i, int64_t j)
{
    long double a = column_product(w, i, i).re, b = column_product(w, j, j).re;
    lz_num g = column_product(w, i, j);
    long double size = lz_cx_abs(g);
    if (!(size > 8 * LDBL_EPSILON * sqrtl(a) * sqrtl(b)))
        return false;
    long double zeta = (b - a) / (2 * size), t = 1 / (fabsl(zeta) + hypotl(1, zeta));
    t = zeta < 0 ? -t : t;
    long double c = 1 / hypotl(1, t);
    lz_num s = {c * t * g.re / size, c * t * g.im / size};
    turn(w, i, j, c, s);
    turn(v, i, j, c, s);
    return true;
}

static void swap_columns(lz_matrix *x, int64_t i, int64_t j)
{
    for (int64_t k = 0; k < x->rows; k++) {
        lz_num t = *lz_m_el(x, k, i);
        *lz_m_el(x, k, i) = *lz_m_el(x, k, j);
        *lz_m_el(x, k, j) = t;
    }
}

/* Column j of u: a unit vector, less its components along the columns before it, twice. */
static void complete(lz_matrix *u, int64_t j)
{
    for (int64_t e = 0; e < u->rows; e++) {
        for (int64_t k = 0; k < u->rows; k++)
            *lz_m_el(u, k, j) = (lz_num){k == e, 0};
        for (int64_t i = 0; i < 2 * j; i++) {
            lz_num s = column_product(u, i % j, j);
            for (int64_t k = 0; k < u->rows; k++)
                *lz_m_el(u, k, j) =
                    lz_m_minus_product(u->real, *lz_m_el(u, k, j), s, *lz_m_el(u, k, i % j));
        }
        long double n = sqrtl(column_product(u, j, j).re);
        for (int64_t k = 0; k < u->rows; k++) {
            lz_num *x = lz_m_el(u, k, j);
            *x = (lz_num){x->re / n, x->im / n};
        }
        if (n > 0.5L / sqrtl((long double)u->rows) || isnan(n)) /* NaN: with every other one too */
            return;
    }
}

/* One-sided Jacobi: w becomes w v, whose columns are orthogonal. */
static void orthogonalize(lz_matrix *w, lz_matrix *v)
{
    int64_t n = w->cols;
    for (int64_t i = 0; i < n * n; i++)
        v->at[i] = (lz_num){i / n == i % n, 0};
    bool more = true;
    for (int round = 0; round < 60 && more; round++) {
        more = false;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++)
                more |= rotate(w, v, i, j);
    }
}

/* w = u s v^H, w with at least as many rows as columns: u may have more columns than w. */
static void decompose(lz_matrix *w, lz_matrix *u, lz_matrix *v, long double *s)
{
    int64_t n = w->cols;
    orthogonalize(w, v);
    for (int64_t i = 0; i < n; i++)
        s[i] = sqrtl(column_product(w, i, i).re);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++)
            if (s[j] > s[i]) {
                long double t = s[i];
                s[i] = s[j];
                s[j] = t;
                swap_columns(w, i, j);
                swap_columns(v, i, j);
            }
    for (int64_t j = 0; j < u->cols; j++) {
        if (j >= n || s[j] <= (long double)w->rows * LDBL_EPSILON * s[0]) {
            complete(u, j);
            continue;
        }
        for (int64_t k = 0; k < w->rows; k++) {
            lz_num x = *lz_m_el(w, k, j);
            *lz_m_el(u, k, j) = (lz_num){x.re / s[j], x.im / s[j]};
        }
    }
}

static void adjoint(const lz_matrix *a, lz_matrix *out)
{
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < a->cols; j++)
            *lz_m_el(out, j, i) = lz_m_conjugate(*lz_m_el(a, i, j));
}

lz_status lz_ref_svd(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    lz_matrix a, w = {0}, u = {0}, v = {0}, s = {0};
    int64_t m, n, cols, same, batch = lz_m_count(c->sig->opnd[0], &m, &n);
    bool real = !lz_dtype_is_complex(c->sig->opnd[0]->dtype), wide = m < n;
    int64_t rows = wide ? n : m, k = wide ? m : n;
    (void)lz_m_count(c->sig->result[wide ? 2 : 0], &same, &cols);
    LZ_TRY(fresh(&a, real, m, n));
    lz_status st = fresh(&w, real, rows, k);
    if (st == LZ_OK)
        st = fresh(&u, real, rows, cols);
    if (st == LZ_OK)
        st = fresh(&v, real, k, k);
    if (st == LZ_OK)
        st = fresh(&s, true, k, 1);
    long double *norm = (long double *)(void *)s.at;
    for (int64_t b = 0; b < batch && st == LZ_OK; b++) {
        lz_m_load(&a, c->opnd[0], b);
        if (wide)
            adjoint(&a, &w);
        else
            lz_m_load(&w, c->opnd[0], b);
        decompose(&w, &u, &v, norm);
        lz_m_store(&u, c->result[wide ? 2 : 0], b);
        lz_m_store(&v, c->result[wide ? 0 : 2], b);
        for (int64_t i = 0; i < k; i++)
            lz_elem_set_f64(c->result[1]->type->dtype, c->result[1]->data, b * k + i,
                            (double)norm[i]);
    }
    lz_free(a.at);
    lz_free(w.at);
    lz_free(u.at);
    lz_free(v.at);
    lz_free(s.at);
    return st;
}

/* ---- eigh ---- */

/* The Hermitian matrix of a triangle in place of a; the largest sum of magnitudes of a row. */
static long double hermitian(lz_matrix *a, bool lower)
{
    long double most = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        lz_m_el(a, i, i)->im = 0;
        for (int64_t j = 0; j < i; j++)
            if (lower)
                *lz_m_el(a, j, i) = lz_m_conjugate(*lz_m_el(a, i, j));
            else
                *lz_m_el(a, i, j) = lz_m_conjugate(*lz_m_el(a, j, i));
    }
    for (int64_t i = 0; i < a->rows; i++) {
        long double sum = 0;
        for (int64_t j = 0; j < a->cols; j++)
            sum += lz_cx_abs(*lz_m_el(a, i, j));
        most = sum > most || isnan(sum) ? sum : most;
    }
    return most;
}

/* v^H a v of column j */
static long double quotient_of(const lz_matrix *a, const lz_matrix *v, int64_t j)
{
    long double sum = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        lz_num s = {0, 0};
        for (int64_t k = 0; k < a->cols; k++)
            s = plus_product(a->real, s, *lz_m_el(a, i, k), *lz_m_el(v, k, j));
        lz_num x = *lz_m_el(v, i, j);
        sum += x.re * s.re + x.im * s.im;
    }
    return sum;
}

/* a + c I = w v^H with orthogonal columns of w is positive definite, c being larger than any
 * eigenvalue: v are a's eigenvectors. */
static void eigen(const lz_matrix *a, long double c, lz_matrix *w, lz_matrix *v, long double *x)
{
    int64_t n = a->rows;
    for (int64_t i = 0; i < n * n; i++) {
        w->at[i] = a->at[i];
        w->at[i].re += i / n == i % n ? c : 0;
    }
    orthogonalize(w, v);
    for (int64_t j = 0; j < n; j++)
        x[j] = quotient_of(a, v, j);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = n - 1; j > i; j--)
            if (x[j] < x[j - 1]) {
                long double t = x[j];
                x[j] = x[j - 1];
                x[j - 1] = t;
                swap_columns(v, j, j - 1);
            }
}

lz_status lz_ref_eigh(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    lz_matrix a, w = {0}, v = {0}, x = {0};
    int64_t n, batch = lz_m_count(c->sig->opnd[0], &n, &n);
    bool real = !lz_dtype_is_complex(c->sig->opnd[0]->dtype),
         lower = LZ_ATTR(eigh, c->sig->attr)->lower;
    LZ_TRY(fresh(&a, real, n, n));
    lz_status st = fresh(&w, real, n, n);
    if (st == LZ_OK)
        st = fresh(&v, real, n, n);
    if (st == LZ_OK)
        st = fresh(&x, true, n, 1);
    long double *values = (long double *)(void *)x.at;
    for (int64_t b = 0; b < batch && st == LZ_OK; b++) {
        lz_m_load(&a, c->opnd[0], b);
        long double most = hermitian(&a, lower);
        if (isfinite(most))
            eigen(&a, 2 * most, &w, &v, values);
        for (int64_t i = 0; i < n * n && !isfinite(most); i++)
            v.at[i] = (lz_num){NAN, real ? 0 : NAN};
        lz_m_store(&v, c->result[0], b);
        for (int64_t i = 0; i < n; i++)
            lz_elem_set_f64(c->result[1]->type->dtype, c->result[1]->data, b * n + i,
                            isfinite(most) ? (double)values[i] : NAN);
    }
    lz_free(a.at);
    lz_free(w.at);
    lz_free(v.at);
    lz_free(x.at);
    return st;
}
