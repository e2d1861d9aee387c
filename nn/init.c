/* init.c - initialisers, as torch.nn.init. Random numbers come from the device's generator
 * (lz_manual_seed). */
#include "nn/nn_compose.h"
#include <lazuli/nn.h>
#include <lazuli/ops.h>
#include <lazuli/tensor_ops.h>
#include <math.h>

/* lo + u * (hi - lo) */
lz_tensor *lz_init_uniform_at(lz_dtype dtype, lz_shape shape, double lo, double hi,
                              const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    if (lz_scope_begin() != LZ_OK)
        return lz_error_tensor_last("lz_init_uniform", site);
    lz_tensor *u = lz_mul_scalar_at(lz_rand_at(dtype, shape, site), hi - lo, site);
    return lz_scope_end_keep(lz_add_scalar_at(u, lo, site));
}

lz_tensor *lz_init_normal_at(lz_dtype dtype, lz_shape shape, double mean, double std,
                             const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    if (lz_scope_begin() != LZ_OK)
        return lz_error_tensor_last("lz_init_normal", site);
    lz_tensor *z = lz_mul_scalar_at(lz_randn_at(dtype, shape, site), std, site);
    return lz_scope_end_keep(lz_add_scalar_at(z, mean, site));
}

/* shape [out, in, ...]: every input feeds in * receptive field values */
static void fans(lz_shape s, double *fan_in, double *fan_out)
{
    int rank = s.rank < LZ_MAX_RANK ? s.rank : LZ_MAX_RANK; /* lz_rand reports a bad shape */
    double field = 1;
    for (int i = 2; i < rank; i++)
        field *= (double)s.dims[i];
    *fan_out = rank > 0 ? (double)s.dims[0] * field : 1;
    *fan_in = rank > 1 ? (double)s.dims[1] * field : *fan_out;
}

/* He et al. 2015: bound = gain sqrt(3 / fan_in), gain = sqrt(2 / (1 + a^2)) */
lz_tensor *lz_init_kaiming_uniform_at(lz_dtype dtype, lz_shape shape, double a, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    double in, out;
    fans(shape, &in, &out);
    double bound = sqrt(2 / (1 + a * a)) * sqrt(3 / fmax(in, 1));
    return lz_init_uniform_at(dtype, shape, -bound, bound, site);
}

/* Glorot and Bengio 2010: bound = gain sqrt(6 / (fan_in + fan_out)) */
lz_tensor *lz_init_xavier_uniform_at(lz_dtype dtype, lz_shape shape, double gain,
                                     const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    double in, out;
    fans(shape, &in, &out);
    double bound = gain * sqrt(6 / fmax(in + out, 1));
    return lz_init_uniform_at(dtype, shape, -bound, bound, site);
}

lz_tensor *lz_init_kaiming_normal_at(lz_dtype dtype, lz_shape shape, double a, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    double in, out;
    fans(shape, &in, &out);
    return lz_init_normal_at(dtype, shape, 0, sqrt(2 / (1 + a * a)) / sqrt(fmax(in, 1)), site);
}

lz_tensor *lz_init_xavier_normal_at(lz_dtype dtype, lz_shape shape, double gain,
                                    const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    double in, out;
    fans(shape, &in, &out);
    return lz_init_normal_at(dtype, shape, 0, gain * sqrt(2 / fmax(in + out, 1)), site);
}

/* ---- truncated ---- */

static lz_tensor *polynomial(const nnc *c, lz_tensor *x, const double *k, int n)
{
    lz_tensor *y = nn_number(c, x, k[0]);
    for (int i = 1; i < n; i++)
        y = nn_add(c, nn_mul(c, y, x), nn_number(c, x, k[i]));
    return y;
}

/* The inverse error function in f32. M. Giles, Approximating the erfinv function, GPU Computing
 * Gems 2011. */
static lz_tensor *erfinv(const nnc *c, lz_tensor *x)
{
    static const double middle[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                    -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                    -0.00417768164,  0.246640727,    1.50140941};
    static const double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                  -0.00367342844,  0.00573950773,  -0.0076224613,
                                  0.00943887047,   1.00167406,     2.83297682};
    lz_tensor *one = nn_number(c, x, 1);
    lz_tensor *w = nn_neg(c, lz_log_at(nn_mul(c, nn_sub(c, one, x), nn_add(c, one, x)), c->site));
    lz_tensor *near = polynomial(c, nn_sub(c, w, nn_number(c, w, 2.5)), middle, 9);
    lz_tensor *far = nn_sub(c, lz_sqrt_at(w, c->site), nn_number(c, w, 3));
    far = polynomial(c, far, tail, 9);
    lz_tensor *p = nn_where(c, lz_lt_at(w, nn_number(c, w, 5), c->site), near, far);
    return nn_mul(c, p, x);
}

/* 2 * distribution - 1 of a standard normal number */
static double centred(double z)
{
    return erf(z / sqrt(2));
}

lz_tensor *lz_init_trunc_normal_at(lz_dtype dtype, lz_shape shape, double mean, double std,
                                   double lo, double hi, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_init_trunc_normal", site);
    lz_tensor *y = NULL;
    if (c.status == LZ_OK && !(std > 0 && lo < hi))
        nn_refuse(&c, LZ_EINVAL, "std is %g and the range [%g, %g]: std > 0 and lo < hi are needed",
                  std, lo, hi);
    if (c.status == LZ_OK && !nn_is_float(dtype))
        nn_refuse(&c, LZ_EDTYPE, "%s: floating point is needed", lz_dtype_name(dtype));
    if (c.status == LZ_OK) {
        double a = centred((lo - mean) / std), b = centred((hi - mean) / std);
        lz_tensor *u = nn_adds(&c, nn_muls(&c, lz_rand_at(LZ_F32, shape, site), b - a), a);
        u = lz_clamp_at(u, -1 + 0x1p-23, 1 - 0x1p-23, site);
        y = nn_adds(&c, nn_muls(&c, erfinv(&c, u), std * sqrt(2)), mean);
        y = nn_narrow(&c, lz_clamp_at(y, lo, hi, site), dtype);
    }
    return nn_end(&c, y);
}

/* ---- orthogonal ---- */

/* Orthonormal rows by Gram-Schmidt, twice per row for numerical stability. */
static void orthonormalise(double *q, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        double *r = q + i * cols, norm = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int64_t j = 0; j < i; j++) {
                const double *o = q + j * cols;
                double dot = 0;
                for (int64_t k = 0; k < cols; k++)
                    dot += r[k] * o[k];
                for (int64_t k = 0; k < cols; k++)
                    r[k] -= dot * o[k];
            }
        for (int64_t k = 0; k < cols; k++)
            norm += r[k] * r[k];
        norm = norm > 0 ? 1 / sqrt(norm) : 0;
        for (int64_t k = 0; k < cols; k++)
            r[k] *= norm;
    }
}

static lz_tensor *orthogonal(nnc *c, lz_dtype dtype, lz_shape shape, double gain)
{
    lz_tensor *z = lz_randn_at(LZ_F64, shape, c->site), *y = NULL;
    if (!nn_check(c, z, "the random matrix"))
        return NULL;
    int64_t rows = shape.dims[0], cols = rows ? lz_numel(z) / rows : 0;
    bool tall = rows > cols;
    double *q = lz_alloc(lz_nbytes(z) + 1);
    if (!q) {
        nn_refuse(c, LZ_EMEM, "no memory for %zu bytes", lz_nbytes(z));
        return NULL;
    }
    c->status = lz_to_host_at(z, q, lz_nbytes(z), c->site);
    if (c->status == LZ_OK) {
        orthonormalise(q, tall ? cols : rows, tall ? rows : cols);
        y = lz_from_host_at(LZ_F64, tall ? LZ_SHAPE(cols, rows) : LZ_SHAPE(rows, cols), q,
                            lz_nbytes(z), c->site);
        if (tall)
            y = lz_transpose_at(y, 0, 1, c->site);
        y = nn_narrow(c, nn_muls(c, nn_reshape(c, y, shape), gain), dtype);
    }
    lz_free(q);
    return y;
}

lz_tensor *lz_init_orthogonal_at(lz_dtype dtype, lz_shape shape, double gain, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_init_orthogonal", site);
    lz_tensor *y = NULL;
    if (c.status == LZ_OK && shape.rank < 2)
        nn_refuse(&c, LZ_ESHAPE, "rank is %d: a matrix is needed", shape.rank);
    if (c.status == LZ_OK && !nn_is_float(dtype))
        nn_refuse(&c, LZ_EDTYPE, "%s: floating point is needed", lz_dtype_name(dtype));
    if (c.status == LZ_OK)
        y = orthogonal(&c, dtype, shape, gain);
    return nn_end(&c, y);
}
