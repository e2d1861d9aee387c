/* dropout.c - dropout and its variants, as torch.nn.functional. */
#include "nn/nn_compose.h"
#include <lazuli/functional.h>
#include <lazuli/random_ops.h>
#include <math.h>

static bool check_p(nnc *c, double p)
{
    return (p >= 0 && p <= 1) || nn_refuse(c, LZ_EINVAL, "p is %g: it must be in [0, 1]", p);
}

/* True with probability 1 - p, p < 1. */
static lz_tensor *kept(const nnc *c, lz_shape s, double p)
{
    lz_tensor *u = lz_rand_at(LZ_F32, s, c->site);
    return lz_ge_at(u, lz_full_at(LZ_F32, LZ_SCALAR, p, c->site), c->site);
}

/* Draws of shape s, which broadcasts to x. */
static lz_tensor *drop(const nnc *c, lz_tensor *x, lz_shape s, double p)
{
    lz_tensor *zero = nn_number(c, x, 0);
    if (p == 1)
        return nn_mul(c, x, zero);
    return nn_where(c, kept(c, s, p), nn_muls(c, x, 1 / (1 - p)), zero);
}

lz_tensor *lz_dropout_at(lz_tensor *x, double p, bool training, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_dropout", site);
    lz_tensor *y = x;
    if (nn_check_float(&c, x, "the input") && check_p(&c, p) && training && p > 0)
        y = drop(&c, x, lz_shape_of(x), p);
    return nn_end(&c, y);
}

lz_tensor *lz_feature_dropout_at(lz_tensor *x, double p, bool training, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_feature_dropout", site);
    lz_tensor *y = x;
    if (nn_check_float(&c, x, "the input") && check_p(&c, p) &&
        (lz_rank_of(x) >= 2 ||
         nn_refuse(&c, LZ_ESHAPE, "the input has rank %d, not [N, C, ..]", (int)lz_rank_of(x))) &&
        training && p > 0) {
        lz_shape s = lz_shape_of(x);
        for (int d = 2; d < s.rank; d++)
            s.dims[d] = 1;
        y = drop(&c, x, s, p);
    }
    return nn_end(&c, y);
}

/* alpha_dropout: dropped elements become selu's lower limit, then scale and shift restore mean and
 * variance. */
static lz_tensor *alpha_drop(const nnc *c, lz_tensor *x, double p)
{
    const double limit = -1.7580993408473766;
    double a = 1 / sqrt((1 - p) * (1 + p * limit * limit));
    if (p == 1)
        return nn_mul(c, x, nn_number(c, x, 0));
    lz_tensor *y = nn_where(c, kept(c, lz_shape_of(x), p), x, nn_number(c, x, limit));
    return nn_adds(c, nn_muls(c, y, a), -a * limit * p);
}

lz_tensor *lz_alpha_dropout_at(lz_tensor *x, double p, bool training, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_alpha_dropout", site);
    lz_tensor *y = x;
    if (nn_check_float(&c, x, "the input") && check_p(&c, p) && training && p > 0)
        y = nn_narrow(&c, alpha_drop(&c, nn_widen(&c, x), p), lz_dtype_of(x));
    return nn_end(&c, y);
}

lz_tensor *lz_rrelu_at(lz_tensor *x, double lower, double upper, bool training, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_rrelu", site);
    lz_tensor *y = NULL;
    if (nn_check_float(&c, x, "the input") &&
        ((lower <= upper && isfinite(upper - lower)) ||
         nn_refuse(&c, LZ_EINVAL, "slopes from %g to %g", lower, upper))) {
        lz_tensor *slope;
        if (training)
            slope = lz_uniform_at(lz_dtype_of(x), lz_shape_of(x), lower, upper, site);
        else
            slope = nn_given(&c, x, (lower + upper) / 2);
        lz_tensor *below = lz_le_at(x, nn_number(&c, x, 0), site); /* as ATen: at 0, too */
        y = nn_where(&c, below, nn_mul(&c, x, slope), x);
    }
    return nn_end(&c, y);
}
