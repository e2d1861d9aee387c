/* conv.c - convolution layers, as torch.nn. */
#include "nn/nn_compose.h"
#include <inttypes.h>
#include <math.h>

static lz_status check(int dims, int64_t in, int64_t out, lz_conv_layer_options *o, const char *op,
                       const lz_site *site)
{
    int64_t groups = o->conv.groups ? o->conv.groups : 1;
    if (dims < 1 || dims > 3)
        return LZ_NN_FAIL(LZ_EINVAL, op, site, "dims is %d, not 1, 2 or 3", dims);
    if (in < 1 || out < 1 || groups < 1 || in % groups || out % groups)
        return LZ_NN_FAIL(LZ_EINVAL, op, site,
                          "%" PRId64 " channels in and %" PRId64 " out do not make %" PRId64
                          " groups",
                          in, out, groups);
    for (int i = 1; i < dims; i++)
        if (o->kernel[i] == 0)
            o->kernel[i] = o->kernel[i - 1];
    for (int i = 0; i < dims; i++)
        if (o->kernel[i] < 1)
            return LZ_NN_FAIL(LZ_EINVAL, op, site,
                              "kernel[%d] is %" PRId64 ": it must be at least 1", i, o->kernel[i]);
    return LZ_OK;
}

lz_status lz_conv_layer_init_at(lz_conv_layer *l, int dims, lz_params *ps, const char *name,
                                int64_t in, int64_t out, const lz_conv_layer_options *opt,
                                lz_dtype dtype, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char op[] = "lz_conv_layer_init";
    lz_conv_layer_options o = {.struct_size = sizeof o};
    nnc c = {.op = op, .site = site};
    if (!l)
        return LZ_NN_FAIL(LZ_ENULL, op, site, "the layer is NULL");
    *l = (lz_conv_layer){0};
    if (!nn_options(&c, &o, sizeof o, opt))
        return lz_nn_annotated(c.status, op, site);
    lz_status s = check(dims, in, out, &o, op, site);
    if (s != LZ_OK)
        return s;
    o.conv.struct_size = sizeof o.conv;
    int64_t groups = o.conv.groups ? o.conv.groups : 1;
    lz_shape shape = LZ_SHAPE(o.transposed ? in : out, (o.transposed ? out : in) / groups);
    double fan_in = (double)shape.dims[1]; /* torch's, also of a transposed one */
    for (int i = 0; i < dims; i++) {
        shape.dims[shape.rank++] = o.kernel[i];
        fan_in *= (double)o.kernel[i];
    }
    double bound = 1 / sqrt(fan_in);
    lz_conv_layer made = {.dims = dims, .transposed = o.transposed, .options = o.conv};
    lz_module m;
    lz_module_begin(&m, ps, name, op, site);
    if (m.status == LZ_OK)
        made.weight =
            lz_module_param(&m, "weight", lz_init_uniform_at(dtype, shape, -bound, bound, site));
    if (m.status == LZ_OK && !o.no_bias)
        made.bias = lz_module_param(&m, "bias",
                                    lz_init_uniform_at(dtype, LZ_SHAPE(out), -bound, bound, site));
    if (m.status == LZ_OK)
        *l = made;
    return lz_module_end(&m);
}

lz_tensor *lz_conv_layer_forward_at(const lz_conv_layer *l, lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    static lz_tensor *(*const forward[2][3])(lz_tensor *, lz_tensor *, lz_tensor *,
                                             const lz_conv_options *, const lz_site *) = {
        {lz_conv1d_at, lz_conv2d_at, lz_conv3d_at},
        {lz_conv_transpose1d_at, lz_conv_transpose2d_at, lz_conv_transpose3d_at}};
    if (!l || l->dims < 1 || l->dims > 3) {
        LZ_FAIL(LZ_ENULL, "the layer is NULL, or was not made");
        return lz_error_tensor_last("lz_conv_layer_forward", site);
    }
    lz_nn_layer scope;
    lz_nn_layer_begin(&scope, l->weight);
    lz_tensor *y = forward[l->transposed][l->dims - 1](x, l->weight, l->bias, &l->options, site);
    lz_nn_layer_end(&scope);
    return y;
}
