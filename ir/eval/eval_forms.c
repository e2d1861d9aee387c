/* eval_forms.c - reference of lazuli.hessenberg, lazuli.tridiagonal, lazuli.geqp3 and lazuli.gtsv:
 * LAPACK's algorithms without blocks, on one matrix at a time in long double. See eval.h. */
#include "ir/eval/eval_matrix.h"
#include <math.h>

static lz_status fresh(lz_matrix *m, bool real, int64_t rows, int64_t cols)
{
    *m = (lz_matrix){rows, cols, real, lz_calloc((size_t)(rows * cols) + 1, sizeof *m->at)};
    return m->at ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for a matrix");
}

static lz_num times(lz_num a, lz_num b)
{
    return (lz_num){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static bool finite_(const lz_matrix *a)
{
    for (int64_t i = 0; i < a->rows * a->cols; i++)
        if (!isfinite(a->at[i].re) || !isfinite(a->at[i].im))
            return false;
    return true;
}

static void fill_nan(lz_literal *l, int64_t each, int64_t batch)
{
    lz_dtype d = l->type->dtype;
    for (int64_t i = batch * each; i < (batch + 1) * each; i++)
        if (lz_dtype_is_complex(d))
            lz_ref_store_c(d, l->data, i, (lz_cx){NAN, NAN});
        else
            lz_elem_set_f64(d, l->data, i, NAN);
}

static void put_numbers(lz_literal *l, int64_t n, int64_t batch, const lz_num *x)
{
    lz_dtype d = l->type->dtype;
    for (int64_t i = 0; i < n; i++)
        if (lz_dtype_is_complex(d))
            lz_ref_store_c(d, l->data, batch * n + i, x[i]);
        else
            lz_elem_set_f64(d, l->data, batch * n + i, (double)x[i].re);
}

/* The reflection of n numbers: v in place of them, v[0] = 1; what the first becomes is returned. */
static lz_num reflection(int64_t n, lz_num *x, lz_num *tau)
{
    long double tail = 0;
    lz_num alpha = x[0];
    for (int64_t i = 1; i < n; i++)
        tail = hypotl(tail, lz_cx_abs(x[i]));
    *tau = (lz_num){0, 0};
    x[0] = (lz_num){1, 0};
    if (tail == 0 && alpha.im == 0)
        return alpha;
    long double beta = copysignl(hypotl(tail, lz_cx_abs(alpha)), alpha.re < 0 ? 1 : -1);
    lz_num by = {alpha.re - beta, alpha.im};
    *tau = (lz_num){-by.re / beta, -by.im / beta};
    for (int64_t i = 1; i < n; i++)
        x[i] = lz_m_quotient(by.im == 0 && x[i].im == 0, x[i], by);
    return (lz_num){beta, 0};
}

/* Rows from.. of columns j.. less conj(tau) v (v^H x): H^H from the left. */
static void from_left(lz_matrix *a, int64_t from, int64_t n, const lz_num *v, lz_num tau, int64_t j,
                      int64_t to)
{
    for (; j < to; j++) {
        lz_num s = {0, 0};
        for (int64_t i = 0; i < n; i++) {
            lz_num p = times(lz_m_conjugate(v[i]), *lz_m_el(a, from + i, j));
            s = (lz_num){s.re + p.re, s.im + p.im};
        }
        s = times(s, lz_m_conjugate(tau));
        for (int64_t i = 0; i < n; i++)
            *lz_m_el(a, from + i, j) =
                lz_m_minus_product(a->real, *lz_m_el(a, from + i, j), s, v[i]);
    }
}

/* Columns from.. of rows 0..rows less (x v) tau v^H: H from the right. */
static void from_right(lz_matrix *a, int64_t from, int64_t n, const lz_num *v, lz_num tau,
                       int64_t rows)
{
    for (int64_t i = 0; i < rows; i++) {
        lz_num s = {0, 0};
        for (int64_t k = 0; k < n; k++) {
            lz_num p = times(*lz_m_el(a, i, from + k), v[k]);
            s = (lz_num){s.re + p.re, s.im + p.im};
        }
        s = times(s, tau);
        for (int64_t k = 0; k < n; k++)
            *lz_m_el(a, i, from + k) =
                lz_m_minus_product(a->real, *lz_m_el(a, i, from + k), s, lz_m_conjugate(v[k]));
    }
}

/* a[n, n] to h and the vectors, tau; v: room for n */
static void reduce(lz_matrix *a, int64_t lo, int64_t hi, lz_num *v, lz_num *tau)
{
    int64_t n = a->rows;
    for (int64_t j = 0; j + 1 < n; j++)
        tau[j] = (lz_num){0, 0};
    for (int64_t j = lo; j + 1 < hi; j++) {
        int64_t m = hi - j - 1;
        for (int64_t i = 0; i < m; i++)
            v[i] = *lz_m_el(a, j + 1 + i, j);
        lz_num beta = reflection(m, v, &tau[j]);
        from_right(a, j + 1, m, v, tau[j], hi);
        from_left(a, j + 1, m, v, tau[j], j + 1, n);
        for (int64_t i = 0; i < m; i++)
            *lz_m_el(a, j + 1 + i, j) = i ? v[i] : beta;
    }
}

lz_status lz_ref_hessenberg(const lz_ref_call *c)
{
    const lz_attr_hessenberg *at = LZ_ATTR(hessenberg, c->sig->attr);
    LZ_TRY(lz_ref_alloc(c));
    lz_matrix a, v = {0};
    int64_t n, batch = lz_m_count(c->sig->opnd[0], &n, &n);
    bool real = !lz_dtype_is_complex(c->sig->opnd[0]->dtype);
    LZ_TRY(fresh(&a, real, n, n));
    lz_status s = fresh(&v, real, 2, n);
    for (int64_t b = 0; b < batch && s == LZ_OK && n > 0; b++) {
        lz_m_load(&a, c->opnd[0], b);
        if (!finite_(&a)) {
            fill_nan(c->result[0], n * n, b);
            fill_nan(c->result[1], n - 1, b);
            continue;
        }
        reduce(&a, at->leading, n - at->trailing, v.at, v.at + n);
        lz_m_store(&a, c->result[0], b);
        put_numbers(c->result[1], n - 1, b, v.at + n);
    }
    lz_free(a.at);
    lz_free(v.at);
    return s;
}

/* ---- tridiagonal ---- */

/* The whole matrix of one triangle; of the upper one with rows and columns in the other order.
 * Whether what was read is finite. */
static bool hermitian(const lz_matrix *in, bool lower, lz_matrix *out)
{
    int64_t n = in->rows;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            lz_num x = lower ? *lz_m_el(in, i, j) : *lz_m_el(in, n - 1 - i, n - 1 - j);
            x.im = i == j ? 0 : x.im;
            *lz_m_el(out, i, j) = x;
            *lz_m_el(out, j, i) = lz_m_conjugate(x);
        }
    return finite_(out);
}

/* The triangle of `in` from what reduce() left in t. */
static void put_triangle(const lz_matrix *t, bool lower, lz_matrix *in)
{
    int64_t n = in->rows;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            lz_num x = *lz_m_el(t, i, j);
            x.im = i <= j + 1 ? 0 : x.im;
            *(lower ? lz_m_el(in, i, j) : lz_m_el(in, n - 1 - i, n - 1 - j)) = x;
        }
}

lz_status lz_ref_tridiagonal(const lz_ref_call *c)
{
    bool lower = LZ_ATTR(eigh, c->sig->attr)->lower;
    LZ_TRY(lz_ref_alloc(c));
    lz_matrix a, t = {0}, v = {0};
    int64_t n, batch = lz_m_count(c->sig->opnd[0], &n, &n);
    bool real = !lz_dtype_is_complex(c->sig->opnd[0]->dtype);
    LZ_TRY(fresh(&a, real, n, n));
    lz_status s = fresh(&t, real, n, n);
    if (s == LZ_OK)
        s = fresh(&v, real, 5, n);
    lz_num *tau = v.at + n, *d = tau + n, *e = d + n, *turned = e + n;
    for (int64_t b = 0; b < batch && s == LZ_OK && n > 0; b++) {
        lz_m_load(&a, c->opnd[0], b);
        if (!hermitian(&a, lower, &t)) {
            for (int k = 0; k < 4; k++)
                fill_nan(c->result[k], k == 0 ? n * n : k == 1 ? n : n - 1, b);
            continue;
        }
        reduce(&t, 0, n, v.at, tau);
        put_triangle(&t, lower, &a);
        for (int64_t i = 0; i < n; i++) {
            int64_t k = lower ? i : n - 1 - i;
            d[k] = *lz_m_el(&t, i, i);
            if (i + 1 < n) {
                e[lower ? i : n - 2 - i] = *lz_m_el(&t, i + 1, i);
                turned[lower ? i : n - 2 - i] = tau[i];
            }
        }
        lz_m_store(&a, c->result[0], b);
        put_numbers(c->result[1], n, b, d);
        put_numbers(c->result[2], n - 1, b, e);
        put_numbers(c->result[3], n - 1, b, turned);
    }
    lz_free(a.at);
    lz_free(t.at);
    lz_free(v.at);
    return s;
}

/* ---- qr with pivoting ---- */

static void swap_columns(lz_matrix *a, int64_t i, int64_t j, int32_t *order)
{
    for (int64_t k = 0; k < a->rows; k++) {
        lz_num x = *lz_m_el(a, k, i);
        *lz_m_el(a, k, i) = *lz_m_el(a, k, j);
        *lz_m_el(a, k, j) = x;
    }
    int32_t o = order[i];
    order[i] = order[j];
    order[j] = o;
}

/* The column of the largest norm from row and column j on; norms are compared after rounding, the
 * first of equal ones counts. */
static int64_t largest_column(const lz_matrix *a, int64_t j, bool single)
{
    int64_t best = j;
    double most = -1;
    for (int64_t k = j; k < a->cols; k++) {
        long double sum = 0;
        for (int64_t i = j; i < a->rows; i++)
            sum = hypotl(sum, lz_cx_abs(*lz_m_el(a, i, k)));
        double norm = single ? (double)(float)sum : (double)sum;
        if (norm > most) {
            most = norm;
            best = k;
        }
    }
    return best;
}

static void factor(lz_matrix *a, int64_t fixed, bool single, lz_num *v, lz_num *tau, int32_t *order)
{
    int64_t m = a->rows, steps = m < a->cols ? m : a->cols;
    for (int64_t j = 0; j < steps; j++) {
        int64_t best = j < fixed ? j : largest_column(a, j, single);
        if (best != j)
            swap_columns(a, j, best, order);
        for (int64_t i = j; i < m; i++)
            v[i - j] = *lz_m_el(a, i, j);
        lz_num beta = reflection(m - j, v, &tau[j]);
        from_left(a, j, m - j, v, tau[j], j + 1, a->cols);
        for (int64_t i = j; i < m; i++)
            *lz_m_el(a, i, j) = i > j ? v[i - j] : beta;
    }
}

lz_status lz_ref_geqp3(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    lz_matrix a, v = {0};
    int64_t m, n, batch = lz_m_count(c->sig->opnd[0], &m, &n), k = m < n ? m : n;
    lz_dtype d = c->sig->opnd[0]->dtype;
    LZ_TRY(fresh(&a, !lz_dtype_is_complex(d), m, n));
    lz_status s = fresh(&v, a.real, 2, m);
    for (int64_t b = 0; b < batch && s == LZ_OK; b++) {
        const int32_t *given = (const int32_t *)c->opnd[1]->data + b * n;
        int32_t *order = (int32_t *)c->result[1]->data + b * n;
        int64_t fixed = 0;
        lz_m_load(&a, c->opnd[0], b);
        for (int64_t j = 0; j < n; j++)
            order[j] = (int32_t)(j + 1);
        for (int64_t j = 0; j < n; j++)
            if (given[j] != 0)
                swap_columns(&a, fixed++, j, order);
        if (!finite_(&a)) {
            fill_nan(c->result[0], m * n, b);
            fill_nan(c->result[2], k, b);
            continue;
        }
        factor(&a, fixed, lz_dtype_part(d) != LZ_F64, v.at, v.at + m, order);
        lz_m_store(&a, c->result[0], b);
        put_numbers(c->result[2], k, b, v.at + m);
    }
    lz_free(a.at);
    lz_free(v.at);
    return s;
}

/* ---- tridiagonal systems ---- */

/* LAPACK's measure, as of pivots of lazuli.lu: rounded to the dtype. */
static double size_of(lz_num x, bool single)
{
    if (single)
        return (float)(fabsf((float)x.re) + fabsf((float)x.im));
    return fabs((double)x.re) + fabs((double)x.im);
}

/* Row i + 1 less f times row i, after an exchange where `swap`. d: dl, d and du, n of each */
static void step(lz_matrix *b, lz_num *d, int64_t n, int64_t i, bool swap)
{
    bool real = b->real;
    lz_num *dl = d, *du = d + 2 * n, p, q;
    d += n;
    lz_num f = swap ? lz_m_quotient(real, d[i], dl[i + 1]) : lz_m_quotient(real, dl[i + 1], d[i]);
    lz_num up = i + 2 < n ? du[i + 1] : (lz_num){0, 0}, next = d[i + 1];
    for (int64_t j = 0; j < b->cols; j++) {
        p = *lz_m_el(b, i, j);
        q = *lz_m_el(b, i + 1, j);
        *lz_m_el(b, i, j) = swap ? q : p;
        *lz_m_el(b, i + 1, j) = lz_m_minus_product(real, swap ? p : q, f, swap ? q : p);
    }
    if (swap) {
        d[i] = dl[i + 1];
        d[i + 1] = lz_m_minus_product(real, du[i], f, next);
        du[i] = next;
        if (i + 2 < n)
            du[i + 1] = lz_m_minus_product(real, (lz_num){0, 0}, f, up);
    } else {
        d[i + 1] = lz_m_minus_product(real, next, f, du[i]);
    }
    if (i + 2 < n)
        dl[i + 1] = swap ? up : (lz_num){0, 0};
}

/* Whether no pivot is 0. */
static bool solve(lz_matrix *b, lz_num *all, int64_t n, bool single)
{
    lz_num *dl = all, *d = all + n, *du = d + n;
    for (int64_t i = 0; i < n; i++) {
        bool swap = i + 1 < n && !(size_of(d[i], single) >= size_of(dl[i + 1], single));
        if (!swap && d[i].re == 0 && d[i].im == 0)
            return false;
        if (i + 1 < n)
            step(b, all, n, i, swap);
    }
    for (int64_t i = n - 1; i >= 0; i--)
        for (int64_t j = 0; j < b->cols; j++) {
            lz_num x = *lz_m_el(b, i, j);
            if (i + 1 < n)
                x = lz_m_minus_product(b->real, x, du[i], *lz_m_el(b, i + 1, j));
            if (i + 2 < n)
                x = lz_m_minus_product(b->real, x, dl[i + 1], *lz_m_el(b, i + 2, j));
            *lz_m_el(b, i, j) = lz_m_quotient(b->real, x, d[i]);
        }
    return true;
}

lz_status lz_ref_gtsv(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    lz_matrix b, d = {0};
    int64_t n, cols, batch = lz_m_count(c->sig->opnd[0], &n, &cols);
    lz_dtype dtype = c->sig->opnd[0]->dtype;
    bool real = !lz_dtype_is_complex(dtype);
    LZ_TRY(fresh(&b, real, n, cols));
    lz_status s = fresh(&d, real, 3, n);
    for (int64_t k = 0; k < batch && s == LZ_OK; k++) {
        lz_m_load(&b, c->opnd[0], k);
        for (int i = 0; i < 3; i++) {
            lz_matrix line = {1, n, real, d.at + i * n};
            lz_m_load(&line, c->opnd[1 + i], k);
        }
        if (solve(&b, d.at, n, lz_dtype_part(dtype) != LZ_F64))
            lz_m_store(&b, c->result[0], k);
        else
            fill_nan(c->result[0], n * cols, k);
        for (int i = 0; i < 3; i++)
            put_numbers(c->result[1 + i], n, k, d.at + i * n);
    }
    lz_free(b.at);
    lz_free(d.at);
    return s;
}
