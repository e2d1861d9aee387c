/* eval_linalg.c - reference of cholesky and triangular_solve: the textbook sums in long double. See eval.h. */
#include "ir/eval_complex.h"
#include <math.h>

typedef lz_cx number;

/* One matrix of a batch: rows x cols numbers, row-major. A real one has imaginary parts of 0, which take no part: infinity times 0 is NaN. */
typedef struct matrix {
    int64_t rows, cols;
    bool real;
    number *at;
} matrix;

static number *el(const matrix *m, int64_t i, int64_t j)
{
    return &m->at[i * m->cols + j];
}

static number conjugate(number a)
{
    return (number){a.re, -a.im};
}

static number minus_product(bool real, number s, number a, number b)
{
    if (real)
        return (number){s.re - a.re * b.re, 0};
    return (number){s.re - (a.re * b.re - a.im * b.im), s.im - (a.re * b.im + a.im * b.re)};
}

static number quotient(bool real, number a, number b)
{
    return real ? (number){a.re / b.re, 0} : lz_cx_divide(a, b);
}

/* ---- matrices in literals ---- */

/* Matrices in the last two dimensions of a literal; their size. */
static int64_t count(const lz_type *t, int64_t *rows, int64_t *cols)
{
    const lz_shape *s = &t->shape;
    *rows = s->dims[s->rank - 2];
    *cols = s->dims[s->rank - 1];
    int64_t n = 1;
    for (int i = 0; i < s->rank - 2; i++)
        n *= s->dims[i];
    return n;
}

static lz_status make(matrix *m, const lz_type *t, int64_t *batch)
{
    *batch = count(t, &m->rows, &m->cols);
    m->real = !lz_dtype_is_complex(t->dtype);
    m->at = t->nelem ? lz_calloc((size_t)(m->rows * m->cols), sizeof *m->at) : NULL;
    return m->at || !t->nelem ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for a matrix");
}

static void load(matrix *m, const lz_literal *l, int64_t which)
{
    int64_t n = m->rows * m->cols;
    lz_dtype d = l->type->dtype;
    for (int64_t i = 0; i < n; i++)
        m->at[i] = m->real ? (number){lz_ref_load_f(d, l->data, which * n + i), 0}
                           : lz_ref_load_c(d, l->data, which * n + i);
}

static void store(const matrix *m, lz_literal *l, int64_t which)
{
    int64_t n = m->rows * m->cols;
    lz_dtype d = l->type->dtype;
    for (int64_t i = 0; i < n; i++)
        if (m->real)
            lz_ref_store_f(d, l->data, which * n + i, (double)m->at[i].re);
        else
            lz_ref_store_c(d, l->data, which * n + i, m->at[i]);
}

/* ---- cholesky ---- */

/* The matrix by its lower triangle, in place; false: it is not positive definite. */
static bool factor(matrix *m)
{
    for (int64_t j = 0; j < m->rows; j++) {
        number d = {el(m, j, j)->re, 0};
        for (int64_t k = 0; k < j; k++)
            d = minus_product(m->real, d, *el(m, j, k), conjugate(*el(m, j, k)));
        if (!(d.re > 0))
            return false;
        d = (number){sqrtl(d.re), 0};
        *el(m, j, j) = d;
        for (int64_t i = j + 1; i < m->rows; i++) {
            number s = *el(m, i, j);
            for (int64_t k = 0; k < j; k++)
                s = minus_product(m->real, s, *el(m, i, k), conjugate(*el(m, j, k)));
            *el(m, i, j) = (number){s.re / d.re, m->real ? 0 : s.im / d.re};
        }
    }
    return true;
}

/* The other triangle by the conjugates of this one, or 0. */
static void reflect(matrix *m, bool to_lower)
{
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t j = 0; j < i; j++) {
            if (to_lower)
                *el(m, i, j) = conjugate(*el(m, j, i));
            else
                *el(m, j, i) = conjugate(*el(m, i, j));
        }
}

static void clear(matrix *m, bool lower)
{
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t j = 0; j < i; j++)
            *(lower ? el(m, i, j) : el(m, j, i)) = (number){0, 0};
}

static void fail(matrix *m)
{
    number nan = {NAN, m->real ? 0 : NAN};
    for (int64_t i = 0; i < m->rows * m->cols; i++)
        m->at[i] = nan;
}

lz_status lz_ref_cholesky(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    bool lower = LZ_ATTR(cholesky, c->sig->attr)->lower;
    matrix m;
    int64_t n;
    LZ_TRY(make(&m, c->sig->opnd[0], &n));
    for (int64_t b = 0; b < n && m.at; b++) {
        load(&m, c->opnd[0], b);
        if (!lower)
            reflect(&m, true);
        if (!factor(&m))
            fail(&m);
        if (!lower)
            reflect(&m, false);
        clear(&m, !lower);
        store(&m, c->result[0], b);
    }
    lz_free(m.at);
    return LZ_OK;
}

/* ---- triangular_solve ---- */

/* op(a) by its own triangle, in place: everything as x on the right of a matrix that is not transposed. Returns whether it is lower. */
static bool apply(matrix *a, const lz_attr_triangular_solve *at)
{
    bool turn =
        (at->transpose_a != LZ_NO_TRANSPOSE) == at->left_side; /* x a = b is a^T x^T = b^T */
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; turn && j < i; j++) {
            number t = *el(a, i, j);
            *el(a, i, j) = *el(a, j, i);
            *el(a, j, i) = t;
        }
    for (int64_t i = 0; at->transpose_a == LZ_ADJOINT && i < a->rows * a->cols; i++)
        a->at[i] = conjugate(a->at[i]);
    return at->lower != turn;
}

/* One line of x: n numbers, `step` apart. */
static void substitute(const matrix *a, bool lower, bool unit, number *x, int64_t step)
{
    int64_t n = a->rows;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = lower ? k : n - 1 - k;
        number s = x[i * step];
        for (int64_t j = lower ? 0 : i + 1; j < (lower ? i : n); j++)
            s = minus_product(a->real, s, *el(a, i, j), x[j * step]);
        x[i * step] = unit ? s : quotient(a->real, s, *el(a, i, i));
    }
}

lz_status lz_ref_triangular_solve(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    const lz_attr_triangular_solve *at = LZ_ATTR(triangular_solve, c->sig->attr);
    matrix a, x = {0};
    int64_t n;
    if (c->sig->result[0]->nelem == 0)
        return LZ_OK;
    LZ_TRY(make(&a, c->sig->opnd[0], &n));
    lz_status s = make(&x, c->sig->opnd[1], &n);
    for (int64_t b = 0; b < n && s == LZ_OK; b++) {
        load(&a, c->opnd[0], b);
        load(&x, c->opnd[1], b);
        bool lower = apply(&a, at);
        int64_t lines = at->left_side ? x.cols : x.rows, step = at->left_side ? x.cols : 1;
        for (int64_t k = 0; k < lines; k++)
            substitute(&a, lower, at->unit_diagonal, x.at + k * (at->left_side ? 1 : x.cols), step);
        store(&x, c->result[0], b);
    }
    lz_free(a.at);
    lz_free(x.at);
    return s;
}
