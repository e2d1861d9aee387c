/* init.c - initialisers, as torch.nn.init. Random numbers come from the device's generator
 * (lz_manual_seed). */
#include <lazuli/hlo.h>
#include <lazuli/nn.h>
#include <lazuli/ops.h>
#include <lazuli/tensor_ops.h>
#include <math.h>

/* lo + u * (hi - lo) */
lz_tensor *lz_init_uniform_at(lz_dtype dtype, lz_shape shape, double lo, double hi,
                              const lz_site *site)
{
    if (lz_scope_begin() != LZ_OK)
        return lz_error_tensor_last("lz_init_uniform", site);
    lz_tensor *u = lz_mul_scalar_at(lz_rand_at(dtype, shape, site), hi - lo, site);
    return lz_scope_end_keep(lz_add_scalar_at(u, lo, site));
}

lz_tensor *lz_init_normal_at(lz_dtype dtype, lz_shape shape, double mean, double std,
                             const lz_site *site)
{
    if (lz_scope_begin() != LZ_OK)
        return lz_error_tensor_last("lz_init_normal", site);
    lz_tensor *z = lz_mul_scalar_at(lz_randn_at(dtype, shape, site), std, site);
    return lz_scope_end_keep(lz_add_scalar_at(z, mean, site));
}

/* shape [out, in, ...]: every input feeds in * receptive field values */
static void fans(lz_shape s, double *fan_in, double *fan_out)
{
    int rank = s.rank < LZ_MAX_RANK ? s.rank : LZ_MAX_RANK; /* a bad shape is refused by lz_rand */
    double field = 1;
    for (int i = 2; i < rank; i++)
        field *= (double)s.dims[i];
    *fan_out = rank > 0 ? (double)s.dims[0] * field : 1;
    *fan_in = rank > 1 ? (double)s.dims[1] * field : *fan_out;
}

/* He et al. 2015: bound = gain sqrt(3 / fan_in), gain = sqrt(2 / (1 + a^2)) */
lz_tensor *lz_init_kaiming_uniform_at(lz_dtype dtype, lz_shape shape, double a, const lz_site *site)
{
    double in, out;
    fans(shape, &in, &out);
    double bound = sqrt(2 / (1 + a * a)) * sqrt(3 / fmax(in, 1));
    return lz_init_uniform_at(dtype, shape, -bound, bound, site);
}

/* Glorot and Bengio 2010: bound = gain sqrt(6 / (fan_in + fan_out)) */
lz_tensor *lz_init_xavier_uniform_at(lz_dtype dtype, lz_shape shape, double gain,
                                     const lz_site *site)
{
    double in, out;
    fans(shape, &in, &out);
    double bound = gain * sqrt(6 / fmax(in + out, 1));
    return lz_init_uniform_at(dtype, shape, -bound, bound, site);
}
