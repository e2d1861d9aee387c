/* norm.c - normalisation layers, as torch.nn.functional. */
#include "nn/nn_compose.h"
#include "runtime/exec/assign.h"
#include <inttypes.h>
#include <lazuli/reduce_ops.h>
#include <lazuli/functional.h>
#include <math.h>

static bool check_eps(nnc *c, double eps)
{
    return c->status == LZ_OK && (isfinite(eps) || nn_refuse(c, LZ_EINVAL, "eps is %g", eps));
}

/* (x - mean) / sqrt(var + eps) over `dims`. */
static lz_tensor *standardised(const nnc *c, lz_tensor *x, lz_dims dims, double eps)
{
    lz_tensor *d = nn_sub(c, x, nn_mean(c, x, dims, true));
    lz_tensor *var = nn_mean(c, nn_square(c, d), dims, true);
    return nn_mul(c, d, lz_rsqrt_at(nn_add_given(c, var, eps), c->site));
}

/* x * weight + bias, either of which may be NULL. */
static lz_tensor *affine(const nnc *c, lz_tensor *x, lz_tensor *weight, lz_tensor *bias)
{
    if (weight)
        x = nn_mul(c, x, nn_widen(c, weight));
    return bias ? nn_add(c, x, nn_widen(c, bias)) : x;
}

/* Whether x ends with the extents of s. */
static bool check_ending(nnc *c, lz_tensor *x, const lz_shape *s)
{
    if (!nn_check_float(c, x, "the input"))
        return false;
    lz_shape have = lz_shape_of(x);
    bool ok = s->rank >= 1 && s->rank <= have.rank;
    for (int i = 0; ok && i < s->rank; i++)
        ok = have.dims[have.rank - s->rank + i] == s->dims[i];
    char a[192], b[192];
    return ok ||
           nn_refuse(c, LZ_ESHAPE, "the input is %s and does not end with normalized_shape %s",
                     lz_nn_shape_text(&have, a), lz_nn_shape_text(s, b));
}

lz_tensor *lz_layer_norm_at(lz_tensor *x, lz_shape shape, lz_tensor *weight, lz_tensor *bias,
                            double eps, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_layer_norm", site);
    lz_tensor *y = NULL;
    if (check_ending(&c, x, &shape) && nn_check_shape(&c, weight, shape, "the weight") &&
        nn_check_shape(&c, bias, shape, "the bias") && check_eps(&c, eps)) {
        int rank = lz_rank_of(x);
        y = standardised(&c, nn_widen(&c, x), nn_range(rank - shape.rank, rank), eps);
        y = nn_narrow(&c, affine(&c, y, weight, bias), lz_dtype_of(x));
    }
    return nn_end(&c, y);
}

static double epsilon_of(lz_dtype d)
{
    return d == LZ_F64 ? 0x1p-52 : d == LZ_F32 ? 0x1p-23 : d == LZ_F16 ? 0x1p-10 : 0x1p-7;
}

lz_tensor *lz_rms_norm_at(lz_tensor *x, lz_shape shape, lz_tensor *weight, double eps,
                          const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_rms_norm", site);
    lz_tensor *y = NULL;
    if (check_ending(&c, x, &shape) && nn_check_shape(&c, weight, shape, "the weight") &&
        check_eps(&c, eps)) {
        int rank = lz_rank_of(x);
        lz_tensor *wide = nn_widen(&c, x);
        lz_tensor *ms = nn_mean(&c, nn_square(&c, wide), nn_range(rank - shape.rank, rank), true);
        ms = nn_add_given(&c, ms, eps < 0 ? epsilon_of(lz_dtype_of(x)) : eps);
        y = nn_mul(&c, wide, lz_rsqrt_at(ms, site));
        y = nn_narrow(&c, affine(&c, y, weight, NULL), lz_dtype_of(x));
    }
    return nn_end(&c, y);
}

/* ---- channels: dimension 1 ---- */

static bool check_channels(nnc *c, lz_tensor *x, int min_rank)
{
    if (!nn_check_float(c, x, "the input"))
        return false;
    lz_shape s = lz_shape_of(x);
    char a[192];
    return s.rank >= min_rank ||
           nn_refuse(c, LZ_ESHAPE, "the input is %s: rank %d or more is needed",
                     lz_nn_shape_text(&s, a), min_rank);
}

/* [C] as [C, 1, ..], which broadcasts over x; NULL stays. */
static lz_tensor *by_channel(const nnc *c, lz_tensor *t, int rank)
{
    if (!t)
        return NULL;
    lz_shape s = lz_shape_make(rank - 1, (const int64_t[]){-1, 1, 1, 1, 1, 1, 1, 1});
    return nn_reshape(c, nn_widen(c, t), s);
}

static lz_tensor *group_norm(nnc *c, lz_tensor *x, int64_t groups, lz_tensor *weight,
                             lz_tensor *bias, double eps)
{
    lz_shape s = lz_shape_of(x);
    lz_shape one = LZ_SHAPE(s.dims[1]);
    if (groups < 1 || s.dims[1] % groups) {
        nn_refuse(c, LZ_EINVAL, "%" PRId64 " channels are not %" PRId64 " equal groups", s.dims[1],
                  groups);
        return NULL;
    }
    if (!nn_check_shape(c, weight, one, "the weight") ||
        !nn_check_shape(c, bias, one, "the bias") || !check_eps(c, eps))
        return NULL;
    int64_t n = s.dims[0] * groups;
    lz_shape rows = LZ_SHAPE(n, n ? lz_numel(x) / n : 0);
    lz_tensor *y = standardised(c, nn_reshape(c, nn_widen(c, x), rows), nn_range(1, 2), eps);
    y = affine(c, nn_reshape(c, y, s), by_channel(c, weight, s.rank), by_channel(c, bias, s.rank));
    return nn_narrow(c, y, lz_dtype_of(x));
}

lz_tensor *lz_group_norm_at(lz_tensor *x, int64_t groups, lz_tensor *weight, lz_tensor *bias,
                            double eps, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_group_norm", site);
    return nn_end(&c,
                  check_channels(&c, x, 2) ? group_norm(&c, x, groups, weight, bias, eps) : NULL);
}

lz_tensor *lz_instance_norm_at(lz_tensor *x, lz_tensor *weight, lz_tensor *bias, double eps,
                               const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_instance_norm", site);
    lz_tensor *y = NULL;
    if (check_channels(&c, x, 3)) {
        int64_t channels = lz_shape_of(x).dims[1];
        y = channels ? group_norm(&c, x, channels, weight, bias, eps) : x;
    }
    return nn_end(&c, y);
}

/* running = (1 - momentum) running + momentum now, without gradient. */
static void follow(nnc *c, lz_tensor *running, lz_tensor *now, double momentum, lz_assignments *all)
{
    if (!running || c->status != LZ_OK)
        return;
    now = nn_narrow(c, lz_detach_at(now, c->site), lz_dtype_of(running));
    lz_tensor *next = nn_add(c, nn_muls(c, running, 1 - momentum), nn_muls(c, now, momentum));
    c->status = lz_assignments_add(all, running, next);
}

static lz_tensor *batch_norm(nnc *c, lz_tensor *x, lz_tensor *mean, lz_tensor *var,
                             const lz_batch_norm_options *o)
{
    lz_shape s = lz_shape_of(x);
    int64_t n = s.dims[1] ? lz_numel(x) / s.dims[1] : 0;
    lz_tensor *wide = nn_widen(c, x), *m = mean, *v = var;
    if (o->training && n < 2) {
        char a[192];
        nn_refuse(c, LZ_ESHAPE, "the input is %s: training needs more than one value per channel",
                  lz_nn_shape_text(&s, a));
        return NULL;
    }
    if (o->training) {
        lz_dims over = nn_range(1, s.rank);
        over.v[0] = 0; /* all but dimension 1 */
        m = nn_mean(c, wide, over, false);
        lz_tensor *d = nn_sub(c, wide, by_channel(c, m, s.rank));
        v = nn_mean(c, nn_square(c, d), over, false);
        lz_assignments both = {0};
        follow(c, mean, m, o->momentum, &both);
        follow(c, var, nn_muls(c, v, (double)n / (double)(n - 1)), o->momentum, &both);
        c->status = lz_assignments_end(&both, c->status, c->site);
    }
    lz_tensor *scale = lz_rsqrt_at(nn_add_given(c, nn_widen(c, v), o->eps), c->site);
    lz_tensor *y =
        nn_mul(c, nn_sub(c, wide, by_channel(c, m, s.rank)), by_channel(c, scale, s.rank));
    y = affine(c, y, by_channel(c, o->weight, s.rank), by_channel(c, o->bias, s.rank));
    return nn_narrow(c, y, lz_dtype_of(x));
}

lz_tensor *lz_batch_norm_at(lz_tensor *x, lz_tensor *mean, lz_tensor *var,
                            const lz_batch_norm_options *opt, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_batch_norm", site);
    nn_autocast(&c, &x);
    lz_batch_norm_options o = {.struct_size = sizeof o, LZ_BATCH_NORM_DEFAULTS};
    lz_tensor *y = NULL;
    if (nn_options(&c, &o, sizeof o, opt) && check_channels(&c, x, 2)) {
        lz_shape stat = LZ_SHAPE(lz_shape_of(x).dims[1]);
        if ((o.training || (nn_check_float(&c, mean, "the running mean") &&
                            nn_check_float(&c, var, "the running variance"))) &&
            nn_check_shape(&c, mean, stat, "the running mean") &&
            nn_check_shape(&c, var, stat, "the running variance") &&
            nn_check_shape(&c, o.weight, stat, "the weight") &&
            nn_check_shape(&c, o.bias, stat, "the bias") && check_eps(&c, o.eps))
            y = batch_norm(&c, x, mean, var, &o);
    }
    return nn_end(&c, y);
}

static bool in_rank(int64_t dim, int64_t rank)
{
    return rank ? dim >= -rank && dim < rank : dim == 0 || dim == -1;
}

lz_tensor *lz_normalize_at(lz_tensor *x, double p, int64_t dim, double eps, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_normalize", site);
    lz_tensor *y = NULL;
    if (nn_check_float(&c, x, "the input") && check_eps(&c, eps) &&
        (p > 0 || nn_refuse(&c, LZ_EINVAL, "p is %g: a number > 0 is needed", p)) &&
        (in_rank(dim, lz_rank_of(x)) ||
         nn_refuse(&c, LZ_ERANGE, "dimension %" PRId64 " of a tensor of rank %d", dim,
                   (int)lz_rank_of(x)))) {
        lz_tensor *wide = nn_widen(&c, x),
                  *norm = lz_nn_norm(&c, wide, p, (lz_dims){1, {dim}}, true);
        y = nn_div(&c, wide, lz_maximum_at(norm, nn_given(&c, norm, eps), site));
        y = nn_narrow(&c, y, lz_dtype_of(x));
    }
    return nn_end(&c, y);
}

lz_tensor *lz_nn_norm(const nnc *c, lz_tensor *x, double p, lz_dims dims, bool keepdim)
{
    const lz_norm_options o = {.struct_size = sizeof o, .ord = p, .dims = dims, .keepdim = keepdim};
    return lz_linalg_vector_norm_at(x, &o, c->site);
}

/* ---- distances and neighbours ---- */

lz_tensor *lz_pairwise_distance_at(lz_tensor *a, lz_tensor *b, double p, double eps, bool keepdim,
                                   const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_pairwise_distance", site);
    lz_tensor *y = NULL;
    if (nn_check_float(&c, a, "the first input") && nn_check_float(&c, b, "the second input") &&
        (p > 0 || nn_refuse(&c, LZ_EINVAL, "p is %g: a number > 0 is needed", p))) {
        lz_tensor *d = nn_sub(&c, nn_widen(&c, a), nn_widen(&c, b));
        if (lz_rank_of(d) == 0)
            (void)nn_refuse(&c, LZ_ESHAPE, "inputs of rank 0 have no rows");
        else
            y = nn_narrow(&c,
                          lz_nn_norm(&c, nn_add_given(&c, d, eps), p, (lz_dims){1, {-1}}, keepdim),
                          lz_dtype_of(a));
    }
    return nn_end(&c, y);
}

/* local response norm: sums over `size` neighbouring channels of x [N, C, ..], zero-padded. */
static lz_tensor *channel_sums(const nnc *c, lz_tensor *x, int64_t size)
{
    lz_window_dims w = {0};
    int64_t n = lz_shape_of(x).dims[1]; /* farther than that there is nothing */
    w.low[1] = size / 2 < n ? size / 2 : n;
    w.high[1] = size - 1 - size / 2 < n ? size - 1 - size / 2 : n;
    w.size[1] = w.low[1] + 1 + w.high[1];
    return lz_hlo_reduce_window_at("add", x, &w, c->site);
}

lz_tensor *lz_local_response_norm_at(lz_tensor *x, int64_t size, double alpha, double beta,
                                     double k, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_local_response_norm", site);
    lz_tensor *y = NULL;
    if (nn_check_float(&c, x, "the input") &&
        (lz_rank_of(x) >= 3 ||
         nn_refuse(&c, LZ_ESHAPE, "the input has rank %d, not [N, C, ..]", (int)lz_rank_of(x))) &&
        ((size >= 1 && size <= INT32_MAX) ||
         nn_refuse(&c, LZ_EINVAL, "%" PRId64 " neighbouring channels", size))) {
        lz_tensor *wide = nn_widen(&c, x);
        lz_tensor *sums = channel_sums(&c, nn_square(&c, wide), size);
        sums = nn_add_given(&c, nn_mul_given(&c, sums, alpha / (double)size), k);
        y = nn_mul(&c, wide, lz_pow_scalar_at(sums, -beta, site));
        y = nn_narrow(&c, y, lz_dtype_of(x));
    }
    return nn_end(&c, y);
}
