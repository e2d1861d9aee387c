/* eig.c - eigenvalues of general matrices: include/lazuli/decompositions.h. They are one operation;
 * its derivative is made of others.
 * Source of it: Boeddeker et al. 2017, On the Computation of Complex-valued Gradients; as ATen's
 * linalg_eig_backward. */
#include "ops/science/science.h"
#include "base/status.h"
#include "ops/science/eig_row.h"
#include <lazuli/complex_ops.h>
#include <lazuli/decompositions.h>
#include <lazuli/grad.h>

typedef struct request {
    const lz_composite *c;
    bool real;        /* the matrix is */
    lz_tensor *of[2]; /* what the call gave, for the values alone */
} request;

static void forward(lz_tensor *const *in, lz_tensor **out, lz_tensor **residuals, void *user)
{
    const lz_composite *c = ((const request *)user)->c;
    out[0] = lz_mx_eig_at(in[0], &out[1], c->site);
    residuals[0] = out[0];
    residuals[1] = out[1];
}

/* ---- the derivative ---- */

static lz_tensor *adjoint(const lz_composite *c, lz_tensor *v)
{
    return lz_conj_at(lz_transpose_at(v, -2, -1, c->site), c->site);
}

/* With e[i, j] = conj(w[j] - w[i]): v^-H (diag(gw) + (v^H gv - v^H v diag(re(v^H gv))) / e) v^H. */
static void backward(lz_tensor *const *residuals, lz_tensor *const *grad_out, lz_tensor **grad_in,
                     void *user)
{
    const lz_composite *c = ((const request *)user)->c;
    lz_tensor *w = residuals[0], *v = residuals[1], *vh = adjoint(c, v);
    lz_shape s = lz_shape_of(v);
    lz_tensor *m = lz_matmul_at(vh, grad_out[1], c->site);
    lz_tensor *re = lz_real_at(lz_diagonal_at(m, 0, -2, -1, c->site), c->site);
    re = lz_unsqueeze_at(TO(re, lz_dtype_of(v)), -2, c->site);
    m = SUB(m, lz_matmul_at(vh, MUL(v, re), c->site));
    lz_tensor *wc = lz_conj_at(w, c->site);
    lz_tensor *e = SUB(lz_unsqueeze_at(wc, -2, c->site), lz_unsqueeze_at(wc, -1, c->site));
    lz_tensor *i = lz_composite_iota(c, v, LZ_I64, s, s.rank - 2),
              *j = lz_composite_iota(c, v, LZ_I64, s, s.rank - 1);
    lz_tensor *on = lz_eq_at(i, j, c->site);
    m = DIV(m, WHERE(on, NUMBER(e, 1), e));
    m = WHERE(on, lz_unsqueeze_at(grad_out[0], -2, c->site), m);
    lz_tensor *g = lz_linalg_solve_at(vh, lz_matmul_at(m, vh, c->site), true, c->site);
    grad_in[0] = ((const request *)user)->real ? lz_real_at(g, c->site) : g;
}

/* The values alone: no quotient, so that some may be equal. */
static void values_forward(lz_tensor *const *in, lz_tensor **out, lz_tensor **residuals, void *user)
{
    (void)in;
    out[0] = ((const request *)user)->of[0];
    residuals[0] = ((const request *)user)->of[1];
}

/* v^-H diag(gw) v^H */
static void values_backward(lz_tensor *const *residuals, lz_tensor *const *grad_out,
                            lz_tensor **grad_in, void *user)
{
    const lz_composite *c = ((const request *)user)->c;
    lz_tensor *vh = adjoint(c, residuals[0]);
    lz_tensor *m = MUL(lz_unsqueeze_at(grad_out[0], -1, c->site), vh);
    lz_tensor *g = lz_linalg_solve_at(vh, m, true, c->site);
    grad_in[0] = ((const request *)user)->real ? lz_real_at(g, c->site) : g;
}

static lz_tensor *eig(lz_composite *c, lz_tensor *a, lz_tensor **vectors)
{
    if (!lz_composite_in(c, a, "a"))
        return NULL;
    lz_dtype d = lz_dtype_of(a);
    bool real = d == LZ_F32 || d == LZ_F64;
    if (!real && !lz_dtype_is_complex(d)) {
        LZ_FAIL(LZ_EDTYPE, "a is %s: it must be f32, f64 or complex", lz_dtype_name(d));
        return NULL;
    }
    lz_shape s = lz_shape_of(a);
    if (!lz_composite_square(a, "a"))
        return NULL;
    if (lz_numel(a) == 0) {
        *vectors = TO(a, !real ? d : d == LZ_F64 ? LZ_C128 : LZ_C64);
        s.rank--;
        return RESHAPE(*vectors, s);
    }
    request r = {c, real, {NULL, NULL}};
    lz_tensor *w = NULL;
    static const lz_custom_vjp_options name = {.struct_size = sizeof name, .name = "lz_linalg_eig"};
    (void)lz_custom_vjp_at(forward, backward, &a, 1, 2, 2, &r, r.of, &name, c->site);
    *vectors = r.of[1];
    (void)lz_custom_vjp_at(values_forward, values_backward, &a, 1, 1, 1, &r, &w, &name, c->site);
    return w;
}

lz_tensor *lz_linalg_eig_at(lz_tensor *a, lz_tensor **vectors, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_linalg_eig");
    lz_tensor *v = NULL, *w = eig(c, a, &v);
    lz_composite_also(c, w ? v : NULL, vectors);
    return lz_composite_end(c, w);
}

lz_tensor *lz_linalg_eigvals_at(lz_tensor *a, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_linalg_eigvals");
    lz_tensor *v = NULL;
    return lz_composite_end(c, eig(c, a, &v));
}
