/* eval_matrix.h - matrices of the reference evaluator, in long double: between eval_linalg.c and
 * eval_decompose.c. Threads: pure. */
#ifndef LZ_IR_EVAL_EVAL_MATRIX_H
#define LZ_IR_EVAL_EVAL_MATRIX_H
#include "ir/eval/eval_complex.h"

#include <math.h>

typedef lz_cx lz_num;

/* One matrix of a batch: rows x cols numbers, row-major. A real one has imaginary parts of 0, which
 * take no part: infinity times 0 is NaN. */
typedef struct lz_matrix {
    int64_t rows, cols;
    bool real;
    lz_num *at;
} lz_matrix;

static inline lz_num *lz_m_el(const lz_matrix *m, int64_t i, int64_t j)
{
    return &m->at[i * m->cols + j];
}

static inline lz_num lz_m_conjugate(lz_num a)
{
    return (lz_num){a.re, -a.im};
}

/* s - a b. What is NaN stays so without arithmetic: on NaNs and infinities the x87 unit takes more
 * than a hundred times as long as on numbers. */
static inline lz_num lz_m_minus_product(bool real, lz_num s, lz_num a, lz_num b)
{
    if (isnan(s.re) && (real || isnan(s.im)))
        return s;
    if (real)
        return (lz_num){s.re - a.re * b.re, 0};
    return (lz_num){s.re - (a.re * b.re - a.im * b.im), s.im - (a.re * b.im + a.im * b.re)};
}

static inline lz_num lz_m_quotient(bool real, lz_num a, lz_num b)
{
    return real ? (lz_num){a.re / b.re, 0} : lz_cx_divide(a, b);
}

/* ---- matrices in literals ---- */

/* Matrices in the last two dimensions of a literal; their size. */
static inline int64_t lz_m_count(const lz_type *t, int64_t *rows, int64_t *cols)
{
    const lz_shape *s = &t->shape;
    *rows = s->dims[s->rank - 2];
    *cols = s->dims[s->rank - 1];
    int64_t n = 1;
    for (int i = 0; i < s->rank - 2; i++)
        n *= s->dims[i];
    return n;
}

static inline lz_status lz_m_make(lz_matrix *m, const lz_type *t, int64_t *batch)
{
    *batch = lz_m_count(t, &m->rows, &m->cols);
    m->real = !lz_dtype_is_complex(t->dtype);
    m->at = t->nelem ? lz_calloc((size_t)(m->rows * m->cols), sizeof *m->at) : NULL;
    return m->at || !t->nelem ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for a matrix");
}

static inline void lz_m_load(lz_matrix *m, const lz_literal *l, int64_t which)
{
    int64_t n = m->rows * m->cols;
    lz_dtype d = l->type->dtype;
    for (int64_t i = 0; i < n; i++)
        m->at[i] = m->real ? (lz_num){lz_ref_load_f(d, l->data, which * n + i), 0}
                           : lz_ref_load_c(d, l->data, which * n + i);
}

static inline void lz_m_store(const lz_matrix *m, lz_literal *l, int64_t which)
{
    int64_t n = m->rows * m->cols;
    lz_dtype d = l->type->dtype;
    for (int64_t i = 0; i < n; i++)
        if (m->real)
            lz_ref_store_f(d, l->data, which * n + i, (double)m->at[i].re);
        else
            lz_ref_store_c(d, l->data, which * n + i, m->at[i]);
}
#endif
