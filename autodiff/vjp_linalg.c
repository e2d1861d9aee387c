/* vjp_linalg.c - gradients of cholesky and triangular_solve. Giles, An extended collection of
 * matrix derivative results (2008); Murray, Differentiation of the Cholesky decomposition (2016).
 * The gradient of elements that an operation does not read is 0. */
#include "autodiff/vjp.h"
#include "base/status.h"
#include <lazuli/shape_ops.h>

#define G (v->grad_out[0])

static lz_tensor *product(const lz_vjp *v, lz_tensor *a, lz_tensor *b)
{
    return lz_matmul_at(a, b, v->site);
}

static lz_tensor *adjoint(const lz_vjp *v, lz_tensor *a)
{
    return lz_v_conj(v, lz_transpose_at(a, -2, -1, v->site));
}

static lz_tensor *triangle(const lz_vjp *v, lz_tensor *a, bool lower, bool strict)
{
    return lower ? lz_tril_at(a, strict ? -1 : 0, v->site) : lz_triu_at(a, strict ? 1 : 0, v->site);
}

/* The lower triangle, its diagonal halved. */
static lz_tensor *half(const lz_vjp *v, lz_tensor *a)
{
    return lz_v_scale(v, lz_v2(v, "add", triangle(v, a, true, false), triangle(v, a, true, true)),
                      0.5);
}

/* With L: S = L^-H half(L^H G) L^-1, and what stands in the lower triangle stands for the upper one
 * too. */
lz_status lz_vjp_cholesky(const lz_vjp *v)
{
    bool lower = LZ_ATTR(cholesky, v->sig->attr)->lower;
    lz_tensor *l = lower ? v->result : adjoint(v, v->result), *g = lower ? G : adjoint(v, G);
    lz_tensor *s = half(v, product(v, adjoint(v, l), g));
    s = lz_hlo_triangular_solve_at(l, s, true, true, false, LZ_HLO_ADJOINT, v->site);
    s = lz_hlo_triangular_solve_at(l, s, false, true, false, LZ_HLO_NO_TRANSPOSE, v->site);
    s = half(v, lz_v2(v, "add", s, adjoint(v, s)));
    v->grad_in[0] = lower ? s : adjoint(v, s);
    return LZ_OK;
}

/* b's gradient: that of x through the adjoint of op(a). */
static lz_tensor *of_right_side(const lz_vjp *v, const lz_attr_triangular_solve *a, lz_tensor *g)
{
    static const lz_hlo_transpose adjoint_of[] = {LZ_HLO_ADJOINT, LZ_HLO_NO_TRANSPOSE,
                                                  LZ_HLO_NO_TRANSPOSE};
    bool turned = a->transpose_a == LZ_TRANSPOSE; /* its adjoint is the conjugate of a */
    lz_tensor *x =
        lz_hlo_triangular_solve_at(v->opnd[0], turned ? lz_v_conj(v, g) : g, a->left_side, a->lower,
                                   a->unit_diagonal, adjoint_of[a->transpose_a], v->site);
    return turned ? lz_v_conj(v, x) : x;
}

lz_status lz_vjp_triangular_solve(const lz_vjp *v)
{
    const lz_attr_triangular_solve *a = LZ_ATTR(triangular_solve, v->sig->attr);
    lz_tensor *b = of_right_side(v, a, G), *xh = adjoint(v, v->result);
    v->grad_in[1] = b;
    if (!v->need[0])
        return LZ_OK;
    lz_tensor *g = lz_v1(v, "negate", a->left_side ? product(v, b, xh) : product(v, xh, b));
    if (a->transpose_a == LZ_TRANSPOSE)
        g = lz_transpose_at(g, -2, -1, v->site);
    else if (a->transpose_a == LZ_ADJOINT)
        g = adjoint(v, g);
    v->grad_in[0] = triangle(v, g, a->lower, a->unit_diagonal);
    return LZ_OK;
}
