/* expect_linalg.c - what decompositions may answer: the reference's results for operands that are
 * moved a little. A backward stable algorithm gives the exact result of operands that are off by
 * some roundoffs times the size of the matrix (Higham, Accuracy and Stability of Numerical
 * Algorithms, 8.1 and 10.1), so how far a result may be off follows from the matrix itself. */
#include "support/expect_linalg.h"
#include "ir/eval/eval_complex.h"
#include "support/lit.h"
#include <float.h>
#include <math.h>

/* How operands are moved. */
typedef struct mover {
    const lz_sig *s;
    lz_dtype wide; /* what the reference is evaluated in */
    double eps, tiny, huge;
    lz_expect_move *move;
    void *ctx;
} mover;

static lz_cx get(const lz_literal *l, int64_t i)
{
    lz_dtype d = l->type->dtype;
    return lz_dtype_is_complex(d) ? lz_ref_load_c(d, l->data, i)
                                  : (lz_cx){lz_elem_get_f64(d, l->data, i), 0};
}

static void set(lz_literal *l, int64_t i, lz_cx v)
{
    lz_dtype d = l->type->dtype;
    if (lz_dtype_is_complex(d))
        lz_ref_store_c(d, l->data, i, v);
    else
        lz_elem_set_f64(d, l->data, i, (double)v.re);
}

static bool finite_(lz_cx v)
{
    return isfinite((double)v.re) && isfinite((double)v.im);
}

static int64_t extent(const lz_type *t, int from_end)
{
    return t->shape.dims[t->shape.rank - from_end];
}

/* The largest element of the matrix that has element i. */
static double largest(const lz_literal *x, int64_t i)
{
    int64_t n = extent(x->type, 1) * extent(x->type, 2), first = i / n * n;
    double most = 0;
    for (int64_t e = first; e < first + n; e++)
        most = fmax(most, (double)lz_cx_abs(get(x, e)));
    return most;
}

/* What the error of element i of an operand is relative to: in substitution itself; of a positive
 * definite matrix, the diagonal; else the largest. */
static double scale_of(const mover *m, const lz_literal *x, int64_t i, double most)
{
    int64_t n = extent(x->type, 1), first = i / (n * n) * n * n, row = i / n % n, col = i % n;
    if (m->s->op == LZ_OP_TRIANGULAR_SOLVE)
        return (double)lz_cx_abs(get(x, i));
    if (m->s->op != LZ_OP_CHOLESKY)
        return most;
    return sqrt(fabs((double)get(x, first + row * n + row).re)) *
           sqrt(fabs((double)get(x, first + col * n + col).re));
}

/* Of Cholesky's operand the diagonal grows where the rest shrinks: so one of two opposite moves
 * makes a matrix of less than full rank positive definite, and the other one does not. */
static lz_cx opposed(const mover *m, const lz_literal *x, int64_t i, lz_cx by, lz_cx v)
{
    int64_t n = extent(x->type, 1);
    if (m->s->op == LZ_OP_CHOLESKY && i / n % n != i % n) {
        by.re = v.re < 0 ? by.re : -by.re;
        by.im = v.im < 0 ? by.im : -by.im;
    }
    return (lz_cx){v.re + by.re, v.im + by.im};
}

static lz_literal *moved(const mover *m, uint32_t k, const lz_literal *x)
{
    const lz_type *t = lz_type_get(m->wide, &x->type->shape);
    lz_literal *out = t ? lz_literal_new(t) : NULL;
    int64_t each = extent(x->type, 1) * extent(x->type, 2);
    double most = 0;
    for (int64_t i = 0; out && i < t->nelem; i++) {
        lz_cx v = get(x, i);
        most = i % each ? most : largest(x, i);
        double by =
            m->eps * scale_of(m, x, i, most) + (m->s->op == LZ_OP_CHOLESKY || k ? m->tiny : 0);
        if (isfinite(by) && finite_(v)) {
            lz_cx to = {m->move(m->ctx) * by, 0};
            to.im = lz_dtype_is_complex(m->wide) ? m->move(m->ctx) * by : 0;
            v = opposed(m, x, i, to, v);
        }
        set(out, i, v);
    }
    return out;
}

/* In substitution, what comes after the first element that is not finite, or where sums may
 * overflow on the way, is anything. */
static void let_go(const mover *m, const lz_literal *a, const lz_literal *b, lz_literal *out)
{
    const lz_attr_triangular_solve *at = LZ_ATTR(triangular_solve, m->s->attr);
    int64_t n = extent(a->type, 1), rows = extent(out->type, 2), cols = extent(out->type, 1);
    bool turned = (at->transpose_a != LZ_NO_TRANSPOSE) == at->left_side;
    bool lower = at->lower != turned;
    int64_t lines = at->left_side ? cols : rows, step = at->left_side ? cols : 1;
    for (int64_t l = 0; n && l < out->type->nelem / n; l++) {
        int64_t batch = l / lines, line = l % lines;
        int64_t first = batch * rows * cols + line * (at->left_side ? 1 : cols);
        bool gone = false;
        for (int64_t k = 0; k < n; k++) {
            int64_t i = lower ? k : n - 1 - k;
            double sum = (double)lz_cx_abs(get(b, first + i * step));
            for (int64_t j = lower ? 0 : i + 1; j < (lower ? i : n); j++) {
                int64_t e = batch * n * n + (turned ? j * n + i : i * n + j);
                sum += (double)(lz_cx_abs(get(a, e)) * lz_cx_abs(get(out, first + j * step)));
            }
            gone |= !(sum < m->huge) || !finite_(get(out, first + i * step));
            if (gone) {
                double v = m->move(m->ctx) < 0 ? 0 : NAN;
                set(out, first + i * step, (lz_cx){v, v});
            }
        }
    }
}

/* Forms whose results are no continuous function of the matrix, as their signs, order or pivots are
 * not: residuals are for t_spectral.c and t_routine_special.c. */
static bool is_form(lz_op op)
{
    return op == LZ_OP_HESSENBERG || op == LZ_OP_TRIDIAGONAL || op == LZ_OP_GEQP3 ||
           op == LZ_OP_GTSV || op == LZ_OP_SCHUR || op == LZ_OP_EIG;
}

/* Results of a decomposition: of a matrix that is not finite, or whose squares are not,
 * anything. */
static void let_go_all(const mover *m, const lz_literal *a, lz_literal **out)
{
    int64_t each = extent(a->type, 1) * extent(a->type, 2);
    double most = sqrt(m->huge) / (double)(each + 1), least = sqrt(m->tiny);
    for (int64_t b = 0; each && b < a->type->nelem / each; b++) {
        double x = largest(a, b * each);
        bool finite = x < most && (x > least || x == 0);
        for (int64_t e = 0; e < each && finite; e++)
            finite = finite_(get(a, b * each + e));
        for (uint32_t k = 0; k < m->s->nresult && !finite; k++) {
            int64_t n = out[k]->type->nelem * each / a->type->nelem;
            bool whole = lz_dtype_is_int(out[k]->type->dtype);
            double v = m->move(m->ctx) < 0 ? 0 : whole ? 7 : NAN;
            for (int64_t e = 0; e < n; e++)
                set(out[k], b * n + e, (lz_cx){v, v});
        }
    }
}

/* Column c of a matrix of x times `by`, or anything. */
static void turn_column(const mover *m, lz_literal *x, int64_t batch, int64_t c, double by,
                        bool free)
{
    int64_t cols = extent(x->type, 1), rows = extent(x->type, 2);
    for (int64_t i = 0; i < rows; i++) {
        int64_t e = (batch * rows + i) * cols + c;
        lz_cx v = get(x, e);
        set(x, e, free ? (lz_cx){m->move(m->ctx) < 0 ? 0 : NAN, 0} : (lz_cx){v.re * by, v.im * by});
    }
}

/* Singular vectors have a sign that nothing says, the same for both of a pair unless its value may
 * be 0 (complex ones a phase: anything), and those beyond the singular values are any basis. */
static void let_go_vectors(const mover *m, lz_literal **out)
{
    int64_t values = extent(out[1]->type, 1);
    for (int64_t b = 0; values && b < out[1]->type->nelem / values; b++)
        for (int64_t c = 0; c < extent(out[0]->type, 1) || c < extent(out[2]->type, 1); c++) {
            double s = c < values ? (double)get(out[1], b * values + c).re : 0, sign = 1;
            bool pair = s > 8 * m->eps * (double)get(out[1], b * values).re;
            for (uint32_t k = 0; k < 3; k += 2) {
                if (c >= extent(out[k]->type, 1))
                    continue;
                if (k == 0 || !pair)
                    sign = m->move(m->ctx) < 0 ? -1 : 1;
                bool phase = lz_dtype_is_complex(m->wide) && sign < 0;
                turn_column(m, out[k], b, c, phase ? -INFINITY : sign, c >= values);
            }
        }
}

/* The same of eigenvectors. */
static void let_go_eigenvectors(const mover *m, lz_literal **out)
{
    int64_t n = extent(out[1]->type, 1);
    for (int64_t b = 0; n && b < out[1]->type->nelem / n; b++)
        for (int64_t c = 0; c < n; c++) {
            bool turned = m->move(m->ctx) < 0;
            bool phase = lz_dtype_is_complex(m->wide) && turned;
            turn_column(m, out[0], b, c, phase ? -INFINITY : turned ? -1 : 1, false);
        }
}

/* Reflections and rotations are multiplied, each with its own rounding: what they make is off by
 * some roundoffs also where the matrix hardly matters, as it does when it is nearly triangular or
 * diagonal (Higham, 19.3: the computed q is not the exact one of a matrix nearby, but near
 * that). */
static lz_cx rounded(const mover *m, lz_cx v)
{
    bool multiplied = m->s->op == LZ_OP_QR || m->s->op == LZ_OP_GEQRF || m->s->op == LZ_OP_SVD ||
                      m->s->op == LZ_OP_EIGH;
    double by = multiplied ? m->eps * (double)lz_cx_abs(v) : 0;
    if (by == 0 || !isfinite(by))
        return v;
    v.re += m->move(m->ctx) * by;
    v.im += lz_dtype_is_complex(m->wide) ? m->move(m->ctx) * by : 0;
    return v;
}

/* All of the results, 0 or NaN, or 7. */
static lz_status anything(const lz_sig *s, lz_literal **out, lz_expect_move *move, void *ctx)
{
    for (uint32_t k = 0; k < s->nresult; k++)
        for (int64_t i = 0; i < s->result[k]->nelem; i++) {
            double v = move(ctx) < 0 ? 0 : lz_dtype_is_int(s->result[k]->dtype) ? 7 : NAN;
            set(out[k], i, (lz_cx){v, v});
        }
    return LZ_OK;
}

lz_status lz_expect_linalg(const lz_sig *s, lz_literal *const *opnd, lz_literal **out,
                           lz_expect_move *move, void *ctx)
{
    if (is_form(s->op))
        return anything(s, out, move, ctx);
    lz_dtype d = s->opnd[0]->dtype, part = lz_dtype_part(d);
    bool dbl = part == LZ_F64;
    double n = (double)extent(s->opnd[0], 1);
    mover m = {s,
               lz_dtype_is_complex(d) ? LZ_C128 : LZ_F64,
               4 * (n + 2) * (dbl ? 0x1p-53 : 0x1p-24),
               4 * (n + 2) * (dbl ? 0x1p-1074 : 0x1p-149),
               (dbl ? DBL_MAX : FLT_MAX) / 16,
               move,
               ctx};
    lz_literal *x[2] = {NULL}, *r[3] = {NULL};
    const lz_type *types[2] = {NULL};
    bool ok = true;
    for (uint32_t k = 0; k < s->nopnd; k++) {
        x[k] = moved(&m, k, opnd[k]);
        ok = ok && x[k];
        types[k] = x[k] ? x[k]->type : NULL;
    }
    const lz_sig *wide = ok ? lz_sig_get(s->op, s->attr, types, s->nopnd) : NULL;
    lz_status st = wide ? lz_ref_eval_inst(wide, x, r) : LZ_EMEM;
    int steps = lz_dtype_size(d) == 2;
    for (uint32_t k = 0; st == LZ_OK && k < s->nresult; k++)
        for (int64_t i = 0; i < r[k]->type->nelem; i++) {
            set(out[k], i, rounded(&m, get(r[k], i)));
            if (steps)
                lz_test_set_bits(out[k], i,
                                 lz_test_step(d, lz_test_get_bits(out[k], i), lround(move(ctx))));
        }
    if (st == LZ_OK && s->op == LZ_OP_TRIANGULAR_SOLVE)
        let_go(&m, opnd[0], opnd[1], out[0]);
    else if (st == LZ_OK && s->op != LZ_OP_CHOLESKY)
        let_go_all(&m, opnd[0], out);
    if (st == LZ_OK && s->op == LZ_OP_SVD)
        let_go_vectors(&m, out);
    if (st == LZ_OK && s->op == LZ_OP_EIGH)
        let_go_eigenvectors(&m, out);
    lz_literal_release(x[0]);
    lz_literal_release(x[1]);
    for (int k = 0; k < 3; k++)
        lz_literal_release(r[k]);
    return st;
}
