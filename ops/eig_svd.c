/* eig_svd.c - QR, eigenvalues and singular values, and what is made of them:
 * include/lazuli/decompositions.h. */
#include "ops/matrix.h"
#include <float.h>
#include <lazuli/decompositions.h>
#include <string.h>

/* ---- qr ---- */

typedef enum form { REDUCED, COMPLETE, R_ONLY, NO_FORM } form;

static form form_of(const char *mode)
{
    static const char *const names[] = {"reduced", "complete", "r"};
    for (int i = 0; mode && i < NO_FORM; i++)
        if (strcmp(names[i], mode) == 0)
            return (form)i;
    LZ_FAIL(mode ? LZ_EINVAL : LZ_ENULL, "mode \"%.40s\": reduced, complete or r",
            mode ? mode : "");
    return NO_FORM;
}

lz_tensor *lz_linalg_qr_at(lz_tensor *a, const char *mode, lz_tensor **r, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linalg_qr");
    form f = form_of(mode);
    lz_node *w = f == NO_FORM ? NULL : lz_mx_decompose(c, LZ_OP_QR, f == COMPLETE, lz_mx_in(c, a));
    lz_node *up = w ? lz_tracer_result(c, w, 1) : NULL;
    lz_tracer_also(c, up, r);
    return lz_tracer_end(c, up && f != R_ONLY ? lz_tracer_result(c, w, 0) : up);
}

/* m >= n: r x = q^H b. Else with a^H = q r: x = q (r^H)^-1 b. */
static lz_node *least_squares(lz_tracer *c, lz_node *a, lz_node *b)
{
    char ta[128], tb[128];
    if (!a || !b)
        return NULL;
    if (lz_mx_rows(a) != lz_mx_rows(b)) {
        LZ_FAIL(LZ_ESHAPE, "%s does not fit %s", lz_type_short(lz_node_type(b), tb, sizeof tb),
                lz_type_short(lz_node_type(a), ta, sizeof ta));
        return NULL;
    }
    if (!lz_mx_match(c, &a, &b))
        return NULL;
    bool tall = lz_mx_rows(a) >= lz_mx_cols(a);
    lz_node *w = lz_mx_decompose(c, LZ_OP_QR, false, tall ? a : lz_mx_adjoint(c, a));
    if (!w)
        return NULL;
    lz_node *q = lz_tracer_result(c, w, 0), *r = lz_tracer_result(c, w, 1);
    if (tall)
        return lz_mx_solve(c, r, lz_tracer_matmul(c, lz_mx_adjoint(c, q), b), true, false, false,
                           LZ_NO_TRANSPOSE);
    b = lz_mx_solve(c, r, b, true, false, false, LZ_ADJOINT);
    return q && b ? lz_tracer_matmul(c, q, b) : NULL;
}

lz_tensor *lz_linalg_lstsq_at(lz_tensor *a, lz_tensor *b, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linalg_lstsq");
    lz_node *x = lz_mx_in(c, a), *y = x ? lz_mx_in(c, b) : NULL;
    return lz_tracer_end(c, least_squares(c, x, y));
}

/* ---- singular values ---- */

typedef struct svd {
    lz_node *u, *s, *v;
} svd;

static svd singular(lz_tracer *c, lz_node *a, bool full)
{
    lz_node *w = lz_mx_decompose(c, LZ_OP_SVD, full, a);
    if (!w)
        return (svd){0};
    return (svd){lz_tracer_result(c, w, 0), lz_tracer_result(c, w, 1), lz_tracer_result(c, w, 2)};
}

lz_tensor *lz_linalg_svd_at(lz_tensor *a, bool full_matrices, lz_tensor **s, lz_tensor **vh,
                            const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linalg_svd");
    svd d = singular(c, lz_mx_in(c, a), full_matrices);
    lz_tracer_also(c, d.s, s);
    lz_tracer_also(c, lz_mx_adjoint(c, d.v), vh);
    return lz_tracer_end(c, d.u);
}

lz_tensor *lz_linalg_svdvals_at(lz_tensor *a, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linalg_svdvals");
    return lz_tracer_end(c, singular(c, lz_mx_in(c, a), false).s);
}

/* Whether singular values count for the rank: those above rtol times the largest. */
static lz_node *counted(lz_tracer *c, lz_node *a, lz_node *s, double rtol)
{
    if (!s)
        return NULL;
    bool wide = lz_tracer_dtype(s) == LZ_F64;
    int64_t m = lz_mx_rows(a), n = lz_mx_cols(a);
    if (rtol < 0)
        rtol = (double)(m > n ? m : n) * (wide ? DBL_EPSILON : (double)FLT_EPSILON);
    const lz_shape *shape = lz_tracer_shape(s);
    if (shape->dims[shape->rank - 1] == 0)
        return GT(s, K(s, 0));
    lz_node *most = lz_tracer_slice_dim(c, s, shape->rank - 1, 0, 1, 1);
    return GT(s, MUL(lz_tracer_expand(c, most, shape), ARG(s, rtol)));
}

lz_tensor *lz_linalg_matrix_rank_at(lz_tensor *a, double rtol, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linalg_matrix_rank");
    lz_node *x = lz_mx_in(c, a), *s = singular(c, x, false).s;
    return lz_tracer_end(c, s ? lz_mx_over_last(c, LZ_OP_ADD, TO(counted(c, x, s, rtol), LZ_I64), 1)
                              : NULL);
}

/* x[.., rows, cols] with each column multiplied by an element of s. */
static lz_node *scaled(lz_tracer *c, lz_node *x, lz_node *s)
{
    if (!x || !s)
        return NULL;
    s = TO(lz_tracer_unsqueeze(c, s, lz_tracer_shape(s)->rank - 1), lz_tracer_dtype(x));
    return s ? MUL(x, lz_tracer_expand(c, s, lz_tracer_shape(x))) : NULL;
}

static lz_node *pseudo_inverse(lz_tracer *c, lz_node *a, double rtol)
{
    svd d = singular(c, a, false);
    if (!d.s)
        return NULL;
    lz_node *on = counted(c, a, d.s, rtol), *safe = SEL(on, d.s, K(d.s, 1));
    lz_node *inverse = SEL(on, DIV(K(d.s, 1), safe), K(d.s, 0));
    lz_node *v = scaled(c, d.v, inverse), *uh = lz_mx_adjoint(c, d.u);
    return v && uh ? lz_tracer_matmul(c, v, uh) : NULL;
}

lz_tensor *lz_linalg_pinv_at(lz_tensor *a, double rtol, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linalg_pinv");
    return lz_tracer_end(c, pseudo_inverse(c, lz_mx_in(c, a), rtol));
}

/* ---- norms ---- */

static lz_node *absolute_sums(lz_tracer *c, lz_node *a, bool of_rows)
{
    lz_node *x = a ? ABS(a) : NULL;
    return lz_mx_over_last(c, LZ_OP_ADD, of_rows ? x : lz_mx_transpose(c, x), 1);
}

/* Of the last dimension; which is empty: 0. */
static lz_node *extreme(lz_tracer *c, lz_node *x, bool most)
{
    char text[128];
    if (!x || most)
        return x ? lz_mx_over_last(c, LZ_OP_MAXIMUM, x, 1) : NULL;
    const lz_shape *s = lz_tracer_shape(x);
    if (s->dims[s->rank - 1] == 0) {
        LZ_FAIL(LZ_ESHAPE, "%s: the least of no values",
                lz_type_short(lz_node_type(x), text, sizeof text));
        return NULL;
    }
    return lz_mx_over_last(c, LZ_OP_MINIMUM, x, 1);
}

static lz_node *norm(lz_tracer *c, lz_node *a, const char *ord)
{
    if (!a)
        return NULL;
    bool least = ord && *ord == '-';
    const char *name = ord ? ord + least : "";
    if (ord && strcmp(ord, "fro") == 0)
        return lz_tracer_root(c, lz_mx_over_last(c, LZ_OP_ADD, lz_tracer_magnitude2(c, a), 2));
    if (ord && strcmp(ord, "nuc") == 0)
        return lz_mx_over_last(c, LZ_OP_ADD, singular(c, a, false).s, 1);
    if (strcmp(name, "2") == 0)
        return extreme(c, singular(c, a, false).s, !least);
    if (strcmp(name, "1") == 0 || strcmp(name, "inf") == 0)
        return extreme(c, absolute_sums(c, a, *name == 'i'), !least);
    LZ_FAIL(ord ? LZ_EINVAL : LZ_ENULL, "ord \"%.40s\": fro, nuc, inf, -inf, 1, -1, 2 or -2",
            ord ? ord : "");
    return NULL;
}

lz_tensor *lz_linalg_matrix_norm_at(lz_tensor *a, const char *ord, bool keepdim,
                                    const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linalg_matrix_norm");
    lz_node *x = norm(c, lz_mx_in(c, a), ord);
    if (x && keepdim) {
        x = lz_tracer_unsqueeze(c, x, lz_tracer_shape(x)->rank);
        x = x ? lz_tracer_unsqueeze(c, x, lz_tracer_shape(x)->rank) : NULL;
    }
    return lz_tracer_end(c, x);
}

lz_tensor *lz_linalg_cond_at(lz_tensor *a, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linalg_cond");
    lz_node *s = singular(c, lz_mx_in(c, a), false).s;
    return lz_tracer_end(c, DIV(extreme(c, s, true), extreme(c, s, false)));
}

/* ---- eigenvalues ---- */

static lz_node *eigenvalues(lz_tracer *c, lz_node *a, bool upper, lz_node **vectors)
{
    lz_node *w = lz_mx_decompose(c, LZ_OP_EIGH, !upper, a);
    if (!w)
        return NULL;
    *vectors = lz_tracer_result(c, w, 0);
    return lz_tracer_result(c, w, 1);
}

lz_tensor *lz_linalg_eigh_at(lz_tensor *a, bool upper, lz_tensor **vectors, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linalg_eigh");
    lz_node *v = NULL, *x = eigenvalues(c, lz_mx_square(lz_mx_in(c, a)), upper, &v);
    lz_tracer_also(c, x ? v : NULL, vectors);
    return lz_tracer_end(c, x);
}

lz_tensor *lz_linalg_eigvalsh_at(lz_tensor *a, bool upper, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linalg_eigvalsh");
    lz_node *v = NULL;
    return lz_tracer_end(c, eigenvalues(c, lz_mx_square(lz_mx_in(c, a)), upper, &v));
}
