/* eval_linalg.c - reference of cholesky and triangular_solve: the textbook sums in long double. See
 * eval.h. */
#include "ir/eval/eval_matrix.h"
#include <math.h>

/* ---- cholesky ---- */

/* The matrix by its lower triangle, in place; false: it is not positive definite. */
static bool factor(lz_matrix *m)
{
    for (int64_t j = 0; j < m->rows; j++) {
        lz_num d = {lz_m_el(m, j, j)->re, 0};
        for (int64_t k = 0; k < j; k++)
            d = lz_m_minus_product(m->real, d, *lz_m_el(m, j, k),
                                   lz_m_conjugate(*lz_m_el(m, j, k)));
        if (!(d.re > 0))
            return false;
        d = (lz_num){sqrtl(d.re), 0};
        *lz_m_el(m, j, j) = d;
        for (int64_t i = j + 1; i < m->rows; i++) {
            lz_num s = *lz_m_el(m, i, j);
            for (int64_t k = 0; k < j; k++)
                s = lz_m_minus_product(m->real, s, *lz_m_el(m, i, k),
                                       lz_m_conjugate(*lz_m_el(m, j, k)));
            *lz_m_el(m, i, j) = (lz_num){s.re / d.re, m->real ? 0 : s.im / d.re};
        }
    }
    return true;
}

/* The other triangle by the conjugates of this one, or 0. */
static void reflect(lz_matrix *m, bool to_lower)
{
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t j = 0; j < i; j++) {
            if (to_lower)
                *lz_m_el(m, i, j) = lz_m_conjugate(*lz_m_el(m, j, i));
            else
                *lz_m_el(m, j, i) = lz_m_conjugate(*lz_m_el(m, i, j));
        }
}

static void clear(lz_matrix *m, bool lower)
{
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t j = 0; j < i; j++)
            *(lower ? lz_m_el(m, i, j) : lz_m_el(m, j, i)) = (lz_num){0, 0};
}

static void fail(lz_matrix *m)
{
    lz_num nan = {NAN, m->real ? 0 : NAN};
    for (int64_t i = 0; i < m->rows * m->cols; i++)
        m->at[i] = nan;
}

lz_status lz_ref_cholesky(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    bool lower = LZ_ATTR(cholesky, c->sig->attr)->lower;
    lz_matrix m;
    int64_t n;
    LZ_TRY(lz_m_make(&m, c->sig->opnd[0], &n));
    for (int64_t b = 0; b < n && m.at; b++) {
        lz_m_load(&m, c->opnd[0], b);
        if (!lower)
            reflect(&m, true);
        if (!factor(&m))
            fail(&m);
        if (!lower)
            reflect(&m, false);
        clear(&m, !lower);
        lz_m_store(&m, c->result[0], b);
    }
    lz_free(m.at);
    return LZ_OK;
}

/* ---- triangular_solve ---- */

/* op(a) by its own triangle, in place: everything as x on the right of a matrix that is not
 * transposed. Returns whether it is lower. */
static bool apply(lz_matrix *a, const lz_attr_triangular_solve *at)
{
    bool turn =
        (at->transpose_a != LZ_NO_TRANSPOSE) == at->left_side; /* x a = b is a^T x^T = b^T */
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; turn && j < i; j++) {
            lz_num t = *lz_m_el(a, i, j);
            *lz_m_el(a, i, j) = *lz_m_el(a, j, i);
            *lz_m_el(a, j, i) = t;
        }
    for (int64_t i = 0; at->transpose_a == LZ_ADJOINT && i < a->rows * a->cols; i++)
        a->at[i] = lz_m_conjugate(a->at[i]);
    return at->lower != turn;
}

/* One line of x: n numbers, `step` apart. */
static void substitute(const lz_matrix *a, bool lower, bool unit, lz_num *x, int64_t step)
{
    int64_t n = a->rows;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = lower ? k : n - 1 - k;
        lz_num s = x[i * step];
        for (int64_t j = lower ? 0 : i + 1; j < (lower ? i : n); j++)
            s = lz_m_minus_product(a->real, s, *lz_m_el(a, i, j), x[j * step]);
        x[i * step] = unit ? s : lz_m_quotient(a->real, s, *lz_m_el(a, i, i));
    }
}

lz_status lz_ref_triangular_solve(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    const lz_attr_triangular_solve *at = LZ_ATTR(triangular_solve, c->sig->attr);
    lz_matrix a, x = {0};
    int64_t n;
    if (c->sig->result[0]->nelem == 0)
        return LZ_OK;
    LZ_TRY(lz_m_make(&a, c->sig->opnd[0], &n));
    lz_status s = lz_m_make(&x, c->sig->opnd[1], &n);
    for (int64_t b = 0; b < n && s == LZ_OK; b++) {
        lz_m_load(&a, c->opnd[0], b);
        lz_m_load(&x, c->opnd[1], b);
        bool lower = apply(&a, at);
        int64_t lines = at->left_side ? x.cols : x.rows, step = at->left_side ? x.cols : 1;
        for (int64_t k = 0; k < lines; k++)
            substitute(&a, lower, at->unit_diagonal, x.at + k * (at->left_side ? 1 : x.cols), step);
        lz_m_store(&x, c->result[0], b);
    }
    lz_free(a.at);
    lz_free(x.at);
    return s;
}
