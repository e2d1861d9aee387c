/* vjp_decompose.c - gradients of lazuli.lu, lazuli.qr, lazuli.svd and lazuli.eigh. The
 * decomposition is recorded again; the compiler merges equal operations. LU: de Hoog et al., The
 * derivatives of the LU decomposition (2021). QR: Roberts and Roberts, QR and LQ decomposition
 * matrix backpropagation algorithms for square, wide, and deep matrices (2020). SVD: Townsend,
 * Differentiating the singular value decomposition (2016). Of complex numbers, a loss must not
 * depend on what the operation leaves open: the phases of singular vectors. */
#include "autodiff/vjp_region.h"
#include "base/status.h"
#include <lazuli/complex_ops.h>
#include <lazuli/decompositions.h>
#include <lazuli/index_ops.h>
#include <lazuli/ops.h>
#include <lazuli/shape_ops.h>
#include <lazuli/tensor.h>

static lz_tensor *mm(const lz_vjp *v, lz_tensor *a, lz_tensor *b)
{
    return lz_matmul_at(a, b, v->site);
}

static lz_tensor *adj(const lz_vjp *v, lz_tensor *a)
{
    return lz_v_conj(v, lz_transpose_at(a, -2, -1, v->site));
}

static lz_tensor *add(const lz_vjp *v, lz_tensor *a, lz_tensor *b)
{
    return !a ? b : !b ? a : lz_add_at(a, b, v->site);
}

static lz_tensor *sub(const lz_vjp *v, lz_tensor *a, lz_tensor *b)
{
    return lz_sub_at(a, b, v->site);
}

static lz_tensor *tril(const lz_vjp *v, lz_tensor *a, int64_t k)
{
    return lz_tril_at(a, k, v->site);
}

static lz_tensor *triu(const lz_vjp *v, lz_tensor *a, int64_t k)
{
    return lz_triu_at(a, k, v->site);
}

/* Solves a^H x = b, or x a^H = b, for a unit lower or an upper triangle. */
static lz_tensor *solve(const lz_vjp *v, lz_tensor *a, lz_tensor *b, bool left, bool lower)
{
    return lz_hlo_triangular_solve_at(a, b, left, lower, lower, LZ_HLO_ADJOINT, v->site);
}

/* Rows (dim -2) or columns (dim -1) from..to. */
static lz_tensor *cut(const lz_vjp *v, lz_tensor *a, int64_t dim, int64_t from, int64_t to)
{
    return lz_slice_at(a, dim, from, to, 1, v->site);
}

static lz_tensor *beside(const lz_vjp *v, lz_tensor *a, lz_tensor *b, int64_t dim)
{
    lz_tensor *both[2] = {a, b};
    return lz_cat_at(both, 2, dim, v->site);
}

static void sizes(const lz_vjp *v, int64_t *m, int64_t *n, int64_t *k)
{
    const lz_shape *s = &v->sig->opnd[0]->shape;
    *m = s->dims[s->rank - 2];
    *n = s->dims[s->rank - 1];
    *k = *m < *n ? *m : *n;
}

/* ---- lu ---- */

/* Inverse permutation of the rows: each back to where it comes from. */
static lz_tensor *rows_back(const lz_vjp *v, lz_tensor *g, lz_tensor *order)
{
    lz_shape s = lz_shape_of(g);
    lz_tensor *index = lz_expand_at(lz_unsqueeze_at(order, -1, v->site), s, v->site);
    return lz_scatter_add_at(lz_zeros_like_at(g, LZ_DTYPE_NONE, v->site), -2, index, g, v->site);
}

lz_status lz_vjp_lu(const lz_vjp *v)
{
    lz_tensor *order, *g = v->grad_out[0];
    int64_t m, n, k;
    if (!g || v->sig->opnd[0]->nelem == 0)
        return LZ_OK;
    lz_tensor *lu = lz_hlo_lu_at(v->opnd[0], NULL, &order, v->site);
    sizes(v, &m, &n, &k);
    lz_tensor *l = cut(v, cut(v, lu, -2, 0, k), -1, 0, k), *gl = tril(v, cut(v, g, -1, 0, k), -1);
    lz_tensor *gu = triu(v, cut(v, g, -2, 0, k), 0), *rest = NULL, *u1 = l;
    lz_tensor *low = add(v, tril(v, l, -1), lz_eye_at(v->sig->opnd[0]->dtype, k, k, v->site));
    if (m > k) { /* the rows below: l2 = a2 u^-1 */
        lz_tensor *l2 = cut(v, lu, -2, k, m);
        rest = solve(v, u1, cut(v, gl, -2, k, m), false, false);
        gu = sub(v, gu, triu(v, mm(v, adj(v, l2), rest), 0));
        gl = cut(v, gl, -2, 0, k);
    } else if (n > k) { /* the columns to the right: u2 = l^-1 a2 */
        lz_tensor *u2 = cut(v, lu, -1, k, n);
        rest = solve(v, l, cut(v, gu, -1, k, n), true, true);
        gl = sub(v, gl, tril(v, mm(v, rest, adj(v, u2)), -1));
        gu = cut(v, gu, -1, 0, k);
    }
    lz_tensor *x =
        add(v, tril(v, mm(v, adj(v, low), gl), -1), triu(v, mm(v, gu, adj(v, triu(v, u1, 0))), 0));
    x = solve(v, u1, solve(v, l, x, true, true), false, false);
    if (rest)
        x = beside(v, x, rest, m > k ? -2 : -1);
    v->grad_in[0] = rows_back(v, x, order);
    return LZ_OK;
}

/* ---- qr ---- */

/* The lower triangle and its adjoint above, the diagonal real. */
static lz_tensor *reflected(const lz_vjp *v, lz_tensor *a)
{
    lz_tensor *h = lz_v_scale(v, add(v, tril(v, a, 0), tril(v, a, -1)), 0.5);
    return add(v, h, adj(v, h));
}

/* a = q r with r square. */
static lz_tensor *of_qr(const lz_vjp *v, lz_tensor *q, lz_tensor *r, lz_tensor *gq, lz_tensor *gr)
{
    lz_tensor *x = gr ? mm(v, r, adj(v, triu(v, gr, 0))) : NULL;
    if (gq)
        x = add(v, x, lz_neg_at(mm(v, adj(v, gq), q), v->site));
    x = add(v, gq, mm(v, q, reflected(v, x)));
    return solve(v, r, x, false, false);
}

/* Of n rows (dim -2) or columns (dim -1), each a little smaller than the one before it, by much
 * more than rounding, the last of any number still far from 0: exp(-i / 64), or slower. */
lz_tensor *lz_v_falling(const lz_vjp *v, lz_dtype d, int64_t n, int64_t dim)
{
    const double slope = 1.0 / 64, most = 32;
    lz_shape s = dim == -1 ? LZ_SHAPE(1, n) : LZ_SHAPE(n, 1);
    lz_tensor *i = lz_iota_at(lz_dtype_part(d), s, dim == -1 ? 1 : 0, v->site);
    double by = (double)n * slope > most ? most / (double)n : slope;
    return lz_to_at(lz_exp_at(lz_mul_scalar_at(i, -by, v->site), v->site), d, v->site);
}

/* The further columns of a complete q, of the first ones: q = I - V T V^H, so I - q1 = V (T V1^H)
 * is a product of a unit lower and an upper triangle, and the others are I - (I - q1) V1^-H V2^H,
 * where V1 is the square on top of V2 (Ballard et al., Reconstructing Householder vectors from
 * tall- skinny QR, 2014). Nothing in V is larger than 1, so elimination need not exchange rows;
 * that each row counts a little less than the one above it sees to it where there is an equal. */
static lz_status complete_qr(const lz_vjp *v, lz_tensor **out)
{
    lz_dtype d = v->sig->opnd[0]->dtype;
    int64_t m, n, k;
    sizes(v, &m, &n, &k);
    lz_tensor *r, *q = lz_hlo_qr_at(v->opnd[0], false, &r, v->site),
                  *down = lz_v_falling(v, d, n, -2), *right = lz_v_falling(v, d, n, -1),
                  *all = lz_eye_at(d, m, m, v->site);
    lz_tensor *w = sub(v, cut(v, all, -1, 0, n), q);
    lz_tensor *lu =
        lz_hlo_lu_at(lz_mul_at(cut(v, w, -2, 0, n), down, v->site), NULL, NULL, v->site);
    lz_tensor *low = lz_mul_at(tril(v, lu, -1), lz_div_at(right, down, v->site), v->site),
              *up = lz_div_at(triu(v, lu, 0), down, v->site);
    lz_tensor *x = solve(v, up, adj(v, cut(v, w, -2, n, m)), true, false);
    x = solve(v, add(v, low, lz_eye_at(d, n, n, v->site)), x, true, true);
    out[0] = beside(v, q, sub(v, cut(v, all, -1, n, m), mm(v, w, x)), -1);
    lz_shape rest = lz_shape_of(r);
    rest.dims[rest.rank - 2] = m - n;
    out[1] = beside(v, r, lz_zeros_at(d, rest, v->site), -2);
    return LZ_OK;
}

lz_status lz_vjp_qr(const lz_vjp *v)
{
    lz_tensor *r, *gq = v->grad_out[0], *gr = v->grad_out[1];
    int64_t m, n, k;
    sizes(v, &m, &n, &k);
    bool complete = LZ_ATTR(qr, v->sig->attr)->complete;
    if (v->sig->opnd[0]->nelem == 0)
        return LZ_OK;
    if (complete && m > n && gq)
        return lz_v_composed(v, complete_qr);
    if (complete && m > n) { /* the other rows of r are 0 */
        complete = false;
        gr = cut(v, gr, -2, 0, n);
    }
    lz_tensor *q = lz_hlo_qr_at(v->opnd[0], complete, &r, v->site);
    if (n <= m) {
        v->grad_in[0] = of_qr(v, q, r, gq, gr);
        return LZ_OK;
    }
    /* the columns to the right are y = q r2 */
    lz_tensor *right = NULL, *left = NULL;
    if (gr) {
        lz_tensor *g2 = cut(v, gr, -1, m, n);
        right = mm(v, q, g2);
        gq = add(v, gq, mm(v, cut(v, v->opnd[0], -1, m, n), adj(v, g2)));
        gr = cut(v, gr, -1, 0, m);
    }
    left = of_qr(v, q, cut(v, r, -1, 0, m), gq, gr);
    if (!right)
        right = lz_zeros_like_at(cut(v, v->opnd[0], -1, m, n), LZ_DTYPE_NONE, v->site);
    v->grad_in[0] = beside(v, left, right, -1);
    return LZ_OK;
}

/* ---- svd ---- */

static lz_tensor *as_row(const lz_vjp *v, lz_tensor *s)
{
    return lz_unsqueeze_at(s, -2, v->site);
}

static lz_tensor *mul(const lz_vjp *v, lz_tensor *a, lz_tensor *b)
{
    return lz_mul_at(a, b, v->site);
}

/* u^H g less its adjoint, over differences of squares. */
static lz_tensor *skew(const lz_vjp *v, lz_tensor *u, lz_tensor *g, lz_tensor *differences)
{
    lz_tensor *x = mm(v, adj(v, u), g);
    x = sub(v, x, adj(v, x));
    x = add(v, tril(v, x, -1), triu(v, x, 1));
    return lz_div_at(x, differences, v->site);
}

/* The part of g orthogonal to u, over s. */
static lz_tensor *outside(const lz_vjp *v, lz_tensor *u, lz_tensor *g, lz_tensor *s)
{
    g = lz_div_at(g, as_row(v, s), v->site);
    return sub(v, g, mm(v, u, mm(v, adj(v, u), g)));
}

/* i Im(diag(u^H g)) / s on the diagonal */
static lz_tensor *phases(const lz_vjp *v, lz_tensor *u, lz_tensor *g, lz_tensor *s)
{
    lz_tensor *d = lz_diagonal_at(mm(v, adj(v, u), g), 0, -2, -1, v->site);
    d = lz_v_scale(v, sub(v, d, lz_v_conj(v, d)), 0.5);
    return lz_diag_embed_at(lz_div_at(d, s, v->site), 0, -2, -1, v->site);
}

static lz_status vectors(const char *name, int64_t have, int64_t k)
{
    return have == k
               ? LZ_OK
               : LZ_FAIL(LZ_EGRAD, "lazuli.svd: the full %s has no gradient where a is not square",
                         name);
}

lz_status lz_vjp_svd(const lz_vjp *v)
{
    lz_tensor *s, *w, *gu = v->grad_out[0], *gs = v->grad_out[1], *gv = v->grad_out[2], *x = NULL;
    int64_t m, n, k;
    sizes(v, &m, &n, &k);
    bool full = LZ_ATTR(svd, v->sig->attr)->full;
    if (gu)
        LZ_TRY(vectors("u", full ? m : k, k));
    if (gv)
        LZ_TRY(vectors("v", full ? n : k, k));
    lz_tensor *u = lz_hlo_svd_at(v->opnd[0], false, &s, &w, v->site);
    if (gs)
        x = lz_diag_embed_at(lz_to_at(gs, v->sig->opnd[0]->dtype, v->site), 0, -2, -1, v->site);
    if (gu || gv) {
        lz_tensor *sq = mul(v, s, s), *e = sub(v, as_row(v, sq), lz_unsqueeze_at(sq, -1, v->site));
        e = add(v, e, lz_eye_at(lz_dtype_of(s), k, k, v->site));
        if (gu)
            x = add(v, x, mul(v, skew(v, u, gu, e), as_row(v, s)));
        if (gv)
            x = add(v, x, mul(v, lz_unsqueeze_at(s, -1, v->site), skew(v, w, gv, e)));
    }
    if (gu && lz_dtype_is_complex(v->sig->opnd[0]->dtype))
        x = add(v, x, phases(v, u, gu, s));
    if (!x)
        return LZ_OK;
    x = mm(v, mm(v, u, x), adj(v, w));
    if (gu && m > k)
        x = add(v, x, mm(v, outside(v, u, gu, s), adj(v, w)));
    if (gv && n > k)
        x = add(v, x, mm(v, u, adj(v, outside(v, w, gv, s))));
    v->grad_in[0] = x;
    return LZ_OK;
}

/* ---- eigh ---- */

/* With F = 1 / (w_j - w_i) outside of the diagonal, G = V (diag(gw) + F . V^H gV) V^H; an element
 * of the triangle that is read stands for its conjugate in the other one too. */
lz_status lz_vjp_eigh(const lz_vjp *v)
{
    lz_tensor *vec, *gv = v->grad_out[0], *gw = v->grad_out[1], *x = NULL;
    bool lower = LZ_ATTR(eigh, v->sig->attr)->lower;
    lz_dtype d = v->sig->opnd[0]->dtype;
    int64_t m, n, k;
    sizes(v, &m, &n, &k);
    if (n == 0 || v->sig->opnd[0]->nelem == 0)
        return LZ_OK;
    lz_tensor *w = lz_linalg_eigh_at(v->opnd[0], !lower, &vec, v->site);
    if (gw)
        x = lz_diag_embed_at(lz_to_at(gw, d, v->site), 0, -2, -1, v->site);
    if (gv) {
        lz_tensor *e = sub(v, as_row(v, w), lz_unsqueeze_at(w, -1, v->site));
        e = add(v, e, lz_eye_at(lz_dtype_of(w), n, n, v->site));
        lz_tensor *f = mm(v, adj(v, vec), gv);
        f = add(v, tril(v, f, -1), triu(v, f, 1));
        x = add(v, x, lz_div_at(f, e, v->site));
    }
    if (!x)
        return LZ_OK;
    x = mm(v, mm(v, vec, x), adj(v, vec));
    x = add(v, x, adj(v, x));
    lz_tensor *half = lower ? tril(v, x, 0) : triu(v, x, 0),
              *rest = lower ? tril(v, x, -1) : triu(v, x, 1);
    v->grad_in[0] = lz_v_scale(v, add(v, half, rest), 0.5);
    return LZ_OK;
}
