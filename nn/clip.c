/* clip.c - gradient clipping: torch.nn.utils.clip_grad_norm_ and clip_grad_value_. */
#include "nn/nn_internal.h"
#include "runtime/exec/assign.h"
#include <lazuli/grad.h>
#include <lazuli/hlo.h>
#include <lazuli/ops.h>
#include <lazuli/optim.h>
#include <lazuli/tensor_ops.h>
#include <math.h>

/* Powers of at most this order of any f32 have a sum in f64, which neither overflows nor vanishes.
 */
enum { F64_ORDER = 6 };

/* The contribution of one gradient to the norm: the sum of |g / scale|^p, or the largest |g|. Rank
 * 0, f64: sums of f32 would overflow from norms of 1.8e19 on, though the norm does not. scale NULL:
 * 1. */
static lz_tensor *part(lz_tensor *g, double p, lz_tensor *scale, const lz_site *site)
{
    if (isinf(p))
        return lz_to_at(lz_amax_at(lz_abs_at(g, site), NULL, site), LZ_F64, site);
    if (lz_dtype_of(g) == LZ_C64 || lz_dtype_of(g) == LZ_C128)
        g = lz_abs_at(g, site);
    g = lz_to_at(g, LZ_F64, site);
    if (scale)
        g = lz_div_at(g, scale, site);
    if (p == 2)
        return lz_sum_at(lz_mul_at(g, g, site), NULL, site);
    g = lz_abs_at(g, site);
    return lz_sum_at(p == 1 ? g : lz_pow_scalar_at(g, p, site), NULL, site);
}

/* NULL: no gradient has an element. */
static lz_tensor *parts(const lz_params *ps, double p, lz_tensor *scale, const lz_site *site)
{
    lz_tensor *total = NULL;
    for (size_t i = 0; i < ps->len; i++) {
        lz_tensor *g = lz_grad_of(ps->tensors[i]);
        if (!g || lz_numel(g) == 0)
            continue;
        lz_tensor *x = part(g, p, scale, site);
        if (!total)
            total = x;
        else
            total = isinf(p) ? lz_maximum_at(total, x, site) : lz_add_at(total, x, site);
    }
    return total;
}

static bool has_f64(const lz_params *ps)
{
    for (size_t i = 0; i < ps->len; i++) {
        lz_tensor *g = lz_grad_of(ps->tensors[i]);
        if (g && (lz_dtype_of(g) == LZ_F64 || lz_dtype_of(g) == LZ_C128))
            return true;
    }
    return false;
}

/* The largest |g|, where dividing by it helps: 1 where it is 0 or not finite. */
static lz_tensor *largest(const lz_params *ps, const lz_site *site)
{
    lz_tensor *m = parts(ps, INFINITY, NULL, site), *one = lz_ones_at(LZ_F64, LZ_SCALAR, site);
    if (!m)
        return NULL;
    lz_tensor *usable =
        lz_logical_and_at(lz_gt_scalar_at(m, 0, site), lz_isfinite_at(m, site), site);
    return lz_where_at(usable, m, one, site);
}

/* In f64. */
static lz_tensor *total_norm(const lz_params *ps, double p, const lz_site *site)
{
    bool scaled = !isinf(p) && p != 1 && (p > F64_ORDER || has_f64(ps));
    lz_tensor *scale = scaled ? largest(ps, site) : NULL, *total = parts(ps, p, scale, site);
    if (!total)
        return lz_zeros_at(LZ_F64, LZ_SCALAR, site);
    if (!isinf(p) && p != 1)
        total = p == 2 ? lz_sqrt_at(total, site) : lz_pow_scalar_at(total, 1 / p, site);
    return scale ? lz_mul_at(total, scale, site) : total;
}

static lz_tensor *scaled_by(lz_tensor *g, lz_tensor *by, const lz_site *site)
{
    lz_dtype d = lz_dtype_of(g);
    by = lz_to_at(by, d == LZ_F64 || d == LZ_C128 ? LZ_F64 : LZ_F32, site);
    if (lz_dtype_size(d) < 4) /* rounded once */
        g = lz_to_at(g, LZ_F32, site);
    return lz_to_at(lz_mul_at(g, by, site), d, site);
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
    lz_tensor *room = lz_full_at(LZ_F64, LZ_SCALAR, max_norm, site);
    lz_tensor *by = lz_div_at(room, lz_add_scalar_at(total, 1e-6, site), site);
    by = lz_minimum_at(by, lz_ones_at(LZ_F64, LZ_SCALAR, site), site);
    total = lz_to_at(total, has_f64(ps) ? LZ_F64 : LZ_F32, site);
    lz_assignments all = {0};
    for (size_t i = 0; i < ps->len && s == LZ_OK; i++) {
        lz_tensor *g = lz_grad_of(ps->tensors[i]);
        if (g)
            s = lz_assignments_add(&all, g, scaled_by(g, by, site));
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
