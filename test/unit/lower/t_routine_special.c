/* t_routine_special.c - the routines of linalg/ beside the reference on matrices with a special
 * value in any one place: zeros of either sign, infinities, NaN, and numbers at the ends of the
 * range, of complex numbers in either part or both; all dtypes, all instruction sets of this
 * processor. */
#include "ir/attr.h"
#include "ir/eval/eval_complex.h"
#include "lower/routine.h"
#include "base/host_isa.h"
#include "suite.h"
#include "support/lit.h"
#include <float.h>
#include <math.h>
#include <stdio.h>

typedef struct call {
    const lz_sig *sig;
    lz_literal *opnd[4], *got[4], *want[4];
    const char *what;
} call;

static const lz_dtype dtypes[] = {LZ_F32, LZ_F64, LZ_C64, LZ_C128};
enum { NDTYPE = 4 };

static double most_of(lz_dtype d)
{
    return lz_dtype_part(d) == LZ_F64 ? DBL_MAX : (double)FLT_MAX;
}

static double eps_of(lz_dtype d)
{
    return lz_dtype_part(d) == LZ_F64 ? DBL_EPSILON : (double)FLT_EPSILON;
}

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

/* ---- operands ---- */

static call begin(const char *what, lz_op op, const lz_attr *a, lz_dtype d, int64_t m, int64_t n)
{
    call c = {.what = what};
    bool solve = op == LZ_OP_TRIANGULAR_SOLVE;
    lz_rnd r = {7};
    bool left = solve && LZ_ATTR(triangular_solve, a)->left_side;
    lz_shape of_a = LZ_SHAPE(m, n), of_b = LZ_SHAPE(left ? n : 3, left ? 3 : n), rows = LZ_SHAPE(m),
             cols = LZ_SHAPE(n);
    const lz_type *line = op == LZ_OP_GEQP3 ? lz_type_get(LZ_I32, &cols) : lz_type_get(d, &rows),
                  *t[4] = {lz_type_get(d, &of_a), solve ? lz_type_get(d, &of_b) : line, line, line};
    c.sig = lz_sig_get(op, lz_attr_get(a), t, (uint32_t)lz_op_get(op)->arity);
    ck_assert_msg(c.sig != NULL, "%s", lz_error_get()->message);
    for (uint32_t k = 0; k < c.sig->nopnd; k++)
        ck_assert_ptr_nonnull(c.opnd[k] = lz_test_random(&r, t[k], LZ_FILL_MODEST));
    for (uint32_t k = 0; k < c.sig->nresult; k++)
        ck_assert_ptr_nonnull(c.got[k] = lz_literal_new(c.sig->result[k]));
    for (int64_t i = 0; i < m; i++) /* positive definite, by either triangle */
        for (int64_t j = 0; j < n; j++) {
            lz_cx v = get(c.opnd[0], i * n + j);
            set(c.opnd[0], i * n + j,
                i == j ? (lz_cx){8 + (long double)(i % 5), 0}
                       : (lz_cx){v.re / (16 + n), v.im / (16 + n)});
        }
    return c;
}

static void end(call *c)
{
    for (int k = 0; k < 4; k++) {
        lz_literal_release(c->got[k]);
        lz_literal_release(c->opnd[k]);
    }
}

static void run(call *c)
{
    void *bufs[8];
    uint32_t n = 0;
    ck_assert_msg(lz_ref_eval_inst(c->sig, c->opnd, c->want) == LZ_OK, "%s",
                  lz_error_get()->message);
    for (uint32_t k = 0; k < c->sig->nresult; k++)
        bufs[n++] = c->got[k]->data;
    for (uint32_t k = 0; k < c->sig->nopnd; k++)
        bufs[n++] = c->opnd[k]->data;
    ck_assert_int_eq(lz_routine_run_alone(c->sig, bufs), LZ_OK);
}

/* ---- what is compared ---- */

static bool finite_(lz_cx v)
{
    return isfinite(v.re) && isfinite(v.im);
}

static bool all_finite(const lz_literal *l)
{
    for (int64_t i = 0; i < l->type->nelem; i++)
        if (!finite_(get(l, i)))
            return false;
    return true;
}

/* The largest of what is finite. */
static long double largest(const lz_literal *l)
{
    long double most = 0;
    for (int64_t i = 0; i < l->type->nelem; i++)
        if (finite_(get(l, i)))
            most = fmaxl(most, lz_cx_abs(get(l, i)));
    return most;
}

/* NaN or infinite alike, or near; next to the end of the range rounding may lead out of it. */
static bool alike(long double got, long double want, long double slack, double most)
{
    if (isnan(got) || isnan(want))
        return isnan(got) && isnan(want);
    if (isinf(got) && !isinf(want))
        return signbit(got) == signbit(want) && fabsl(want) + slack >= most;
    return got == want || fabsl(got - want) <= slack;
}

/* The case at hand, for messages. */
static char where[160];

#define EXPECT(true_, k, i)                                                                        \
    do {                                                                                           \
        if (!(true_)) {                                                                            \
            lz_cx g_ = get(c->got[k], i), w_ = get(c->want[k], i);                                 \
            ck_abort_msg("%s: result %u[%d] is %Lg, %Lg; reference: %Lg, %Lg", where, (unsigned)k, \
                         (int)(i), g_.re, g_.im, w_.re, w_.im);                                    \
        }                                                                                          \
    } while (0)

static long double roundoff(const call *c, uint32_t k)
{
    const lz_type *t = c->sig->opnd[0];
    return 16 * (t->shape.dims[0] + 8) * eps_of(t->dtype) *
           (largest(c->want[k]) + largest(c->opnd[0]));
}

/* Each part is NaN, or infinite with that sign, where the reference's is, and else near it. */
static void near_(const call *c, uint32_t k, long double slack)
{
    const lz_literal *want = c->want[k];
    double most = most_of(c->sig->opnd[0]->dtype);
    for (int64_t i = 0; i < want->type->nelem; i++) {
        lz_cx g = get(c->got[k], i), w = get(want, i);
        EXPECT(alike(g.re, w.re, slack, most) && alike(g.im, w.im, slack, most), k, i);
    }
}

/* Elimination and substitution. The reference has a wider range: numbers at the ends of that of the
 * dtype are compared where nothing comes near them on the way. */
static void same_kinds(const call *c, bool extreme)
{
    double most = most_of(c->sig->opnd[0]->dtype);
    bool over = false;
    for (uint32_t k = 0; k < c->sig->nresult; k++)
        over |= !all_finite(c->want[k]) || largest(c->want[k]) > sqrt(most);
    for (uint32_t k = 0; k < c->sig->nresult && !(extreme && over); k++)
        near_(c, k, roundoff(c, k));
}

/* The operand is q r, relative to its largest element. */
static void is_product(const call *c)
{
    const lz_literal *q = c->got[0], *r = c->got[1], *a = c->opnd[0];
    int64_t n = a->type->shape.dims[1], inner = q->type->shape.dims[1];
    long double slack = roundoff(c, 1);
    for (int64_t e = 0; e < a->type->nelem; e++) {
        lz_cx s = get(a, e);
        for (int64_t k = 0; k < inner; k++) {
            lz_cx x = get(q, e / n * inner + k), y = get(r, k * n + e % n);
            s.re -= x.re * y.re - x.im * y.im;
            s.im -= x.re * y.im + x.im * y.re;
        }
        if (!(lz_cx_abs(s) <= slack))
            ck_abort_msg("%s: element %d of q r is off by %Lg", where, (int)e, lz_cx_abs(s));
    }
}

/* Reflections: what the reference does not find finite is not, and of q and r no more; vectors are
 * scaled by an inverse, which may be NaN where quotients are 0. Beside a huge number the sign of a
 * small one is that of a roundoff, as is whether a last number is real: so is the sign of a row of
 * r then, and finite is all that elements have to be. */
static void as_many_nans(const call *c, bool extreme)
{
    bool finite = true, loose = extreme || lz_dtype_is_complex(c->sig->opnd[0]->dtype);
    for (uint32_t k = 0; k < c->sig->nresult; k++)
        finite = finite && all_finite(c->want[k]);
    for (uint32_t k = 0; k < c->sig->nresult && finite; k++)
        near_(c, k, loose ? INFINITY : roundoff(c, k));
    for (uint32_t k = 0; k < c->sig->nresult && !finite; k++)
        for (int64_t i = 0; i < c->want[k]->type->nelem; i++)
            EXPECT(finite_(get(c->got[k], i)) == finite_(get(c->want[k], i)) ||
                       (c->sig->op != LZ_OP_QR && !finite_(get(c->got[k], i))),
                   k, i);
    if (finite && c->sig->op == LZ_OP_QR)
        is_product(c);
}

/* NaN everywhere, or the values. */
static void values_or_nan(const call *c, bool extreme)
{
    (void)extreme;
    if (c->sig->op == LZ_OP_EIGH ? all_finite(c->want[0]) : all_finite(c->opnd[0])) {
        near_(c, 1, roundoff(c, 1));
        return;
    }
    for (uint32_t k = 0; k < c->sig->nresult; k++)
        for (int64_t i = 0; i < c->got[k]->type->nelem; i++)
            EXPECT(isnan(get(c->got[k], i).re), k, i);
}

/* ---- forms on the way to eigenvalues ---- */

/* NaN in all floats of the results where an operand is not finite; else `true`. */
static bool all_or_nothing(const call *c, bool finite)
{
    for (uint32_t k = 0; k < c->sig->nresult && !finite; k++)
        for (int64_t i = 0; i < c->got[k]->type->nelem; i++)
            if (!lz_dtype_is_int(c->got[k]->type->dtype))
                EXPECT(isnan(get(c->got[k], i).re) && isnan(get(c->want[k], i).re), k, i);
    return finite;
}

/* Reflections: those of the reference, where no roundoff decides a sign, and of few rows: later
 * ones depend on the roundoffs of the first more and more (t_spectral.c has residuals). */
static void same_reflections(const call *c, bool extreme)
{
    bool finite =
        c->sig->op == LZ_OP_TRIDIAGONAL ? !isnan(get(c->want[1], 0).re) : all_finite(c->opnd[0]);
    if (!all_or_nothing(c, finite))
        return;
    for (uint32_t k = 0; k < c->sig->nresult; k++)
        near_(c, k,
              extreme || c->sig->opnd[0]->shape.dims[0] > 8 ? INFINITY
                                                            : roundoff(c, k) * (k ? 16 : 1));
}

/* The norm of a b - c d, relative to that of a. The matrices are n x n; the adjoint of b where it
 * says so; d NULL: c alone. */
static long double off(const lz_literal *a, const lz_literal *b, bool adjoint, const lz_literal *c,
                       const lz_literal *d, bool diagonal)
{
    int64_t n = a->type->shape.dims[0];
    long double sum = 0, size = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            lz_cx s = {0, 0};
            for (int64_t k = 0; k < n; k++) {
                lz_cx x = adjoint ? get(b, k * n + i) : get(a, i * n + k),
                      y = adjoint ? get(a, k * n + j) : get(b, k * n + j);
                x.im = adjoint ? -x.im : x.im;
                s.re += x.re * y.re - x.im * y.im;
                s.im += x.re * y.im + x.im * y.re;
                lz_cx u = adjoint ? get(c, j * n + i) : get(c, i * n + k), v;
                u.im = adjoint ? -u.im : u.im;
                if (diagonal) {
                    u = adjoint ? u : get(c, i * n + j);
                    v = get(d, adjoint ? i : j);
                    if (k > 0)
                        continue;
                } else {
                    v = get(d, k * n + j);
                }
                s.re -= u.re * v.re - u.im * v.im;
                s.im -= u.re * v.im + u.im * v.re;
            }
            sum = hypotl(sum, lz_cx_abs(s));
            size = hypotl(size, lz_cx_abs(get(a, i * n + j)));
        }
    return size > 0 ? sum / size : sum;
}

/* a z = z t; a v = v w, u^H a = w u^H: of what the routine gives, and of what the reference does.
 */
static void is_spectral(const call *c, bool extreme)
{
    (void)extreme;
    if (!all_or_nothing(c, all_finite(c->opnd[0])))
        return;
    const lz_literal *a = c->opnd[0];
    int64_t n = a->type->shape.dims[0];
    double eps = eps_of(a->type->dtype);
    for (int way = 0; way < 2; way++) {
        lz_literal *const *r = way ? c->want : c->got;
        if (extreme && !(all_finite(r[0]) && all_finite(r[c->sig->nresult - 1])))
            continue;
        long double left = 0, right = 0;
        if (c->sig->op == LZ_OP_EIG) {
            left = off(a, r[1], true, r[1], r[0], true);
            right = off(a, r[2], false, r[2], r[0], true);
        } else {
            right = off(a, r[1], false, r[1], r[0], false);
        }
        if (!(left <= 30 * (n + 10) * eps && right <= 30 * (n + 10) * eps))
            ck_abort_msg("%s: %s: residuals %Lg and %Lg", where, way ? "reference" : "routine",
                         left, right);
    }
}

/* Systems: where the reference has a value it is that, or large numbers are in the way. */
static void solves(const call *c, bool extreme)
{
    double most = most_of(c->sig->opnd[0]->dtype);
    bool over = false;
    for (uint32_t k = 0; k < c->sig->nresult; k++)
        over |= !all_finite(c->want[k]) || largest(c->want[k]) > sqrt(most);
    for (uint32_t k = 0; k < c->sig->nresult && !(extreme && over); k++)
        near_(c, k, 64 * roundoff(c, k));
}

/* ---- special values in all places ---- */

typedef void check(const call *c, bool extreme);

static void at_place(call *c, check *agrees, uint32_t k, int64_t i, lz_cx v, bool extreme)
{
    lz_cx was = get(c->opnd[k], i);
    set(c->opnd[k], i, v);
    snprintf(where, sizeof where, "%s of dtype %d, isa %d, operand %u[%d] is %Lg, %Lg", c->what,
             (int)c->sig->opnd[0]->dtype, lz_host_isa(), (unsigned)k, (int)i, v.re, v.im);
    run(c);
    agrees(c, extreme);
    set(c->opnd[k], i, was);
    for (uint32_t r = 0; r < c->sig->nresult; r++)
        lz_literal_release(c->want[r]);
}

/* step: one place of so many is tried. Each pair of parts, where all places are, with the
 * instruction set that is used here. */
static void everywhere(call *c, check *agrees, int64_t step)
{
    lz_dtype d = c->sig->opnd[0]->dtype;
    long double most = most_of(d), least = lz_dtype_part(d) == LZ_F64 ? 0x1p-1074L : 0x1p-149L;
    const long double v[] = {0.5L, 0, -0.0L, INFINITY, -INFINITY, NAN, most, -most, least};
    enum { NVALUE = sizeof v / sizeof *v, EXTREME = 6 };
    bool pairs = step == 1 && lz_host_isa() == lz_host_isas() - 1;
    for (uint32_t k = 0; k < c->sig->nopnd; k++)
        for (int64_t i = 0; i < c->opnd[k]->type->nelem; i += step)
            for (int a = 0; a < NVALUE; a++)
                for (int b = 0; b < (lz_dtype_is_complex(d) ? NVALUE : 1); b++)
                    if (pairs || a == 0 || b == 0)
                        at_place(c, agrees, k, i, (lz_cx){v[a], v[b]},
                                 a >= EXTREME || b >= EXTREME);
}

static void try_op(const char *what, lz_op op, const lz_attr *a, check *agrees, lz_dtype d,
                   int64_t m, int64_t n, int64_t step)
{
    call c = begin(what, op, a, d, m, n);
    everywhere(&c, agrees, step);
    end(&c);
}

/* Sizes of one block, and of several. */
static const struct {
    int64_t m, n, step;
} sizes[] = {{3, 3, 1}, {4, 2, 1}, {2, 4, 1}, {37, 37, 389}};
enum { NSIZE = sizeof sizes / sizeof *sizes };

static lz_dtype begin_case(int i)
{
    lz_host_use_isa(i / NDTYPE);
    return dtypes[i % NDTYPE];
}

START_TEST(solve)
{
    lz_dtype d = begin_case(_i);
    for (int form = 0; form < 24; form++)
        for (int s = 0; s < NSIZE; s += NSIZE - 1) {
            lz_attr_any a;
            lz_attr_init(&a, LZ_ATTR_triangular_solve);
            a.as_triangular_solve.left_side = form & 1;
            a.as_triangular_solve.lower = form >> 1 & 1;
            a.as_triangular_solve.unit_diagonal = form >> 2 & 1;
            a.as_triangular_solve.transpose_a = form / 8;
            char what[32];
            snprintf(what, sizeof what, "solve, form %d", form);
            try_op(what, LZ_OP_TRIANGULAR_SOLVE, &a.head, same_kinds, d, sizes[s].m, sizes[s].n,
                   sizes[s].step);
        }
}
END_TEST

START_TEST(cholesky)
{
    lz_dtype d = begin_case(_i);
    for (int lower = 0; lower < 2; lower++)
        for (int s = 0; s < NSIZE; s += NSIZE - 1) {
            lz_attr_any a;
            lz_attr_init(&a, LZ_ATTR_cholesky);
            a.as_cholesky.lower = lower;
            try_op(lower ? "lower cholesky" : "upper cholesky", LZ_OP_CHOLESKY, &a.head, same_kinds,
                   d, sizes[s].m, sizes[s].n, sizes[s].step);
        }
}
END_TEST

START_TEST(lu)
{
    const lz_attr none = {LZ_ATTR_none};
    lz_dtype d = begin_case(_i);
    for (int s = 0; s < NSIZE; s++)
        try_op("lu", LZ_OP_LU, &none, same_kinds, d, sizes[s].m, sizes[s].n, sizes[s].step);
}
END_TEST

START_TEST(qr)
{
    const lz_attr none = {LZ_ATTR_none};
    lz_dtype d = begin_case(_i);
    for (int s = 0; s < NSIZE; s++) {
        lz_attr_any a;
        lz_attr_init(&a, LZ_ATTR_qr);
        for (int complete = 0; complete < 1 + (sizes[s].m > sizes[s].n); complete++) {
            a.as_qr.complete = complete;
            try_op("qr", LZ_OP_QR, &a.head, as_many_nans, d, sizes[s].m, sizes[s].n, sizes[s].step);
        }
        try_op("geqrf", LZ_OP_GEQRF, &none, as_many_nans, d, sizes[s].m, sizes[s].n, sizes[s].step);
    }
}
END_TEST

START_TEST(eigh)
{
    lz_dtype d = begin_case(_i);
    for (int lower = 0; lower < 2; lower++)
        for (int s = 0; s < NSIZE; s += NSIZE - 1) {
            lz_attr_any a;
            lz_attr_init(&a, LZ_ATTR_eigh);
            a.as_eigh.lower = lower;
            try_op("eigh", LZ_OP_EIGH, &a.head, values_or_nan, d, sizes[s].m, sizes[s].n,
                   sizes[s].step == 1 ? 1 : 2 * sizes[s].step);
        }
}
END_TEST

START_TEST(svd)
{
    lz_dtype d = begin_case(_i);
    for (int s = 0; s < NSIZE; s++)
        for (int full = 0; full < 1 + (sizes[s].m != sizes[s].n); full++) {
            lz_attr_any a;
            lz_attr_init(&a, LZ_ATTR_svd);
            a.as_svd.full = full;
            try_op("svd", LZ_OP_SVD, &a.head, values_or_nan, d, sizes[s].m, sizes[s].n,
                   sizes[s].step == 1 ? 1 : 2 * sizes[s].step);
        }
}
END_TEST

/* Square matrices. */
static void try_form(const char *what, lz_op op, lz_attr_any *a, check *agrees, int i)
{
    lz_dtype d = begin_case(i);
    for (int s = 0; s < NSIZE; s++)
        if (sizes[s].m == sizes[s].n)
            try_op(what, op, &a->head, agrees, d, sizes[s].m, sizes[s].n,
                   sizes[s].step == 1 ? 1 : 3 * sizes[s].step);
}

START_TEST(hessenberg)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_hessenberg);
    try_form("hessenberg", LZ_OP_HESSENBERG, &a, same_reflections, _i);
}
END_TEST

START_TEST(tridiagonal)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_eigh);
    for (int lower = 0; lower < 2; lower++) {
        a.as_eigh.lower = lower;
        try_form(lower ? "lower tridiagonal" : "upper tridiagonal", LZ_OP_TRIDIAGONAL, &a,
                 same_reflections, _i);
    }
}
END_TEST

START_TEST(gtsv)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_none);
    try_form("gtsv", LZ_OP_GTSV, &a, solves, _i);
}
END_TEST

START_TEST(schur)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_schur);
    a.as_schur.vectors = true;
    try_form("schur", LZ_OP_SCHUR, &a, is_spectral, _i);
}
END_TEST

START_TEST(eig)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_eig);
    a.as_eig.left = a.as_eig.right = true;
    try_form("eig", LZ_OP_EIG, &a, is_spectral, _i);
}
END_TEST

/* All of a routine's dtypes and instruction sets, or every second one where each takes long. */
static void add(TCase *t, const TTest *test, int n)
{
    static unsigned many;
    for (int i = 0; i < n; i++)
        if (!lz_test_small() || lz_test_in_turn(many++, 2))
            tcase_add_loop_test(t, test, i, i + 1);
}

int main(void)
{
    Suite *s = suite_create("routine_special");
    TCase *t = tcase_create("routines");
    int n = NDTYPE * lz_host_isas();
    tcase_set_timeout(t, 240);
    add(t, solve, n);
    add(t, cholesky, n);
    add(t, lu, n);
    add(t, qr, n);
    add(t, eigh, n);
    add(t, svd, n);
    add(t, hessenberg, n);
    add(t, tridiagonal, n);
    add(t, gtsv, n);
    add(t, schur, n);
    add(t, eig, n);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
