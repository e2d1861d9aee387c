/* init.c - initialisers, as torch.nn.init. Random numbers come from the device's generator (lz_manual_seed). */
#include <lazuli/hlo.h>
#include <lazuli/nn.h>
#include <lazuli/ops.h>
#include <lazuli/tensor_ops.h>
#include <math.h>

/* lo + u * (hi - lo) */
lz_tensor *lz_init_uniform(lz_dtype dtype, lz_shape shape, double lo, double hi)
{
    if (lz_scope_begin() != LZ_OK)
        return NULL;
    lz_tensor *u = lz_rand(dtype, shape);
    return lz_scope_end_keep(lz_add_scalar(lz_mul_scalar(u, hi - lo), lo));
}

lz_tensor *lz_init_normal(lz_dtype dtype, lz_shape shape, double mean, double std)
{
    if (lz_scope_begin() != LZ_OK)
        return NULL;
    lz_tensor *z = lz_randn(dtype, shape);
    return lz_scope_end_keep(lz_add_scalar(lz_mul_scalar(z, std), mean));
}

/* shape [out, in, ...]: every input feeds in * receptive field values */
static void fans(lz_shape s, double *fan_in, double *fan_out)
{
    double field = 1;
    for (int i = 2; i < s.rank; i++)
        field *= (double)s.dims[i];
    *fan_out = s.rank > 0 ? (double)s.dims[0] * field : 1;
    *fan_in = s.rank > 1 ? (double)s.dims[1] * field : *fan_out;
}

/* He et al. 2015: bound = gain sqrt(3 / fan_in), gain = sqrt(2 / (1 + a^2)) */
lz_tensor *lz_init_kaiming_uniform(lz_dtype dtype, lz_shape shape, double a)
{
    double in, out;
    fans(shape, &in, &out);
    double bound = sqrt(2 / (1 + a * a)) * sqrt(3 / fmax(in, 1));
    return lz_init_uniform(dtype, shape, -bound, bound);
}

/* Glorot and Bengio 2010: bound = gain sqrt(6 / (fan_in + fan_out)) */
lz_tensor *lz_init_xavier_uniform(lz_dtype dtype, lz_shape shape, double gain)
{
    double in, out;
    fans(shape, &in, &out);
    double bound = gain * sqrt(6 / fmax(in + out, 1));
    return lz_init_uniform(dtype, shape, -bound, bound);
}
