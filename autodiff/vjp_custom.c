/* vjp_custom.c - gradients given by the program: lazuli.custom_vjp (recorded by
 * runtime/region/custom_vjp.c). Its region is recorded in place of the function's gradient, so it
 * can be differentiated again. The rule gets the results as those of the operation, not of the
 * function: a second derivative applies the rule again, not the function's own derivative. */
#include "autodiff/jvp.h"
#include "autodiff/vjp.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/attr.h"
#include "runtime/region/region_trace.h"
#include <string.h>

#define RULE(v) LZ_ATTR(custom_vjp, (v)->sig->attr)

static bool moves(const lz_type *t)
{
    return lz_dtype_is_float(t->dtype) || lz_dtype_is_complex(t->dtype);
}

/* Gradients of the results, results, residuals. t: room for the results. */
static lz_status arguments(const lz_vjp *v, lz_tensor **t, lz_node **in)
{
    uint32_t n = v->sig->nresult, m = RULE(v)->backward->nresult, nin = RULE(v)->backward->nparam;
    if (v->result)
        t[0] = v->result;
    else /* recorded again: the compiler merges equal operations */
        LZ_TRY(lz_j_op(v->sig->op, v->sig->attr, v->opnd, v->sig->nopnd, t, n, v->site));
    for (uint32_t i = 0; i < nin; i++) {
        lz_tensor *x = i >= 2 * n       ? v->opnd[i - n + m]
                       : i >= n         ? t[i - n]
                       : v->grad_out[i] ? v->grad_out[i]
                                        : lz_v_zeros(v, v->sig->result[i]);
        if (!(in[i] = lz_trace_node_of(x)))
            return lz_error_get()->status;
    }
    return LZ_OK;
}

lz_status lz_vjp_custom_vjp(const lz_vjp *v)
{
    const lz_func *f = RULE(v)->backward;
    uint32_t n = v->sig->nresult;
    lz_node **in = lz_calloc((size_t)f->nparam + f->nresult + 1, sizeof *in);
    lz_tensor **t = lz_calloc((size_t)n + 1, sizeof *t);
    lz_status s = in && t ? arguments(v, t, in) : LZ_FAIL(LZ_EMEM, "no memory for a gradient");
    if (s == LZ_OK)
        s = lz_region_perform(f, in, in + f->nparam, v->site);
    for (uint32_t i = 0; i < f->nresult && s == LZ_OK; i++)
        if (v->need[n + i])
            v->grad_in[n + i] = lz_trace_tensor_of(in[f->nparam + i], v->site);
    for (uint32_t i = 0; in && i < f->nparam + f->nresult; i++)
        lz_node_release(in[i]);
    lz_free(in);
    lz_free(t);
    return s;
}

bool lz_jvp_wants(const lz_sig *sig, uint32_t k)
{
    if (!(sig->flags & LZ_F_ALIAS))
        return true;
    return k >= sig->nresult &&
           k - sig->nresult < LZ_ATTR(custom_vjp, sig->attr)->backward->nresult;
}

/* The transpose of the rule, of the inputs' tangents. */
lz_status lz_jvp_custom_vjp(const lz_jvp *j)
{
    lz_tensor **tan = lz_calloc((size_t)j->sig->nopnd + 1, sizeof *tan);
    lz_jvp of = *j;
    bool any = false;
    if (!tan)
        return LZ_FAIL(LZ_EMEM, "no memory for tangents");
    for (uint32_t k = 0; k < j->sig->nopnd; k++)
        if (j->tan[k] && lz_jvp_wants(j->sig, k) && moves(j->sig->opnd[k])) {
            tan[k] = j->tan[k];
            any = true;
        }
    of.tan = tan;
    lz_status s = any ? lz_jvp_transposed(&of) : LZ_OK;
    lz_free(tan);
    return s;
}
