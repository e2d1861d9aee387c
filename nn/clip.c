/* clip.c - gradient clipping: torch.nn.utils.clip_grad_norm_ and clip_grad_value_. */
#include "nn/nn_internal.h"
#include "runtime/exec/assign.h"
#include <lazuli/grad.h>
#include <lazuli/hlo.h>
#include <lazuli/ops.h>
#include <lazuli/optim.h>
#include <lazuli/tensor_ops.h>
#include <math.h>

/* The contribution of one gradient to the norm: sum of |g|^p, or the largest |g|. Rank 0, at least
 * f32. */
static lz_tensor *part(lz_tensor *g, double p, const lz_site *site)
{
    if (lz_dtype_size(lz_dtype_of(g)) < 4)
        g = lz_to_at(g, LZ_F32, site);
    if (p == 2)
        return lz_sum_at(lz_mul_at(g, g, site), NULL, site);
    g = lz_abs_at(g, site);
    if (isinf(p))
        return lz_amax_at(g, NULL, site);
    return lz_sum_at(p == 1 ? g : lz_pow_scalar_at(g, p, site), NULL, site);
}

static lz_tensor *total_norm(const lz_params *ps, double p, const lz_site *site)
{
    lz_tensor *total = NULL;
    for (size_t i = 0; i < ps->len; i++) {
        lz_tensor *g = lz_grad_of(ps->tensors[i]);
        if (!g || lz_numel(g) == 0)
            continue;
        lz_tensor *x = part(g, p, site);
        if (!total)
            total = x;
        else
            total = isinf(p) ? lz_maximum_at(total, x, site) : lz_add_at(total, x, site);
    }
    if (!total)
        return lz_zeros_at(LZ_F32, LZ_SCALAR, site);
    if (p == 2)
        return lz_sqrt_at(total, site);
    return isinf(p) || p == 1 ? total : lz_pow_scalar_at(total, 1 / p, site);
}

lz_tensor *lz_clip_grad_norm_at(const lz_params *ps, double max_norm, double norm_type,
                                const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    static const char op[] = "lz_clip_grad_norm";
    lz_status s = LZ_OK;
    if (!ps)
        s = LZ_FAIL(LZ_ENULL, "the parameter list is NULL");
    else if (!(max_norm >= 0))
        s = LZ_FAIL(LZ_EINVAL, "max_norm is %g: a number >= 0 is needed", max_norm);
    else if (!(norm_type > 0))
        s = LZ_FAIL(LZ_EINVAL, "norm_type is %g: a number > 0 is needed", norm_type);
    if (s == LZ_OK)
        s = lz_scope_begin();
    if (s != LZ_OK)
        return lz_error_tensor_last(op, site);
    lz_tensor *total = total_norm(ps, norm_type, site);
    lz_tensor *room = lz_full_at(lz_dtype_of(total), LZ_SCALAR, max_norm, site);
    lz_tensor *by = lz_div_at(room, lz_add_scalar_at(total, 1e-6, site), site);
    by = lz_minimum_at(by, lz_ones_at(lz_dtype_of(total), LZ_SCALAR, site), site);
    lz_assignments all = {0};
    for (size_t i = 0; i < ps->len && s == LZ_OK; i++) {
        lz_tensor *g = lz_grad_of(ps->tensors[i]);
        if (g)
            s = lz_assignments_add(&all, g, lz_mul_at(g, lz_to_at(by, lz_dtype_of(g), site), site));
    }
    s = lz_assignments_end(&all, s, site);
    if (s == LZ_OK)
        return lz_scope_end_keep(total);
    lz_scope_end();
    return lz_error_tensor_last(op, site);
}

lz_status lz_clip_grad_value_at(const lz_params *ps, double value, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char op[] = "lz_clip_grad_value";
    if (!ps)
        return LZ_NN_FAIL(LZ_ENULL, op, site, "the parameter list is NULL");
    if (!(value >= 0))
        return LZ_NN_FAIL(LZ_EINVAL, op, site, "value is %g: a number >= 0 is needed", value);
    lz_status s = lz_scope_begin();
    if (s != LZ_OK)
        return s;
    lz_assignments all = {0};
    for (size_t i = 0; i < ps->len && s == LZ_OK; i++) {
        lz_tensor *g = lz_grad_of(ps->tensors[i]);
        if (g)
            s = lz_assignments_add(&all, g, lz_clamp_at(g, -value, value, site));
    }
    s = lz_assignments_end(&all, s, site);
    lz_scope_end();
    return lz_nn_given(s);
}
