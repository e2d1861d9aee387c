/* modules.c - layers that hold parameters: embedding and normalisation, as torch.nn. */
#include "nn/nn_compose.h"
#include <inttypes.h>
#include <lazuli/functional.h>
#include <lazuli/index_ops.h>
#include <math.h>

/* weight with row `idx` of zeros */
static lz_tensor *without_row(lz_tensor *weight, int64_t idx, const lz_site *site)
{
    lz_shape s = lz_shape_of(weight);
    lz_tensor *rows = lz_iota_at(LZ_I64, LZ_SHAPE(s.rank ? s.dims[0] : 1, 1), 0, site);
    return lz_masked_fill_at(weight, lz_eq_scalar_at(rows, (double)idx, site), 0, site);
}

lz_status lz_embedding_layer_init_at(lz_embedding_layer *l, lz_params *ps, const char *name,
                                     int64_t num, int64_t dim,
                                     const lz_embedding_layer_options *opt, lz_dtype dtype,
                                     const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char op[] = "lz_embedding_layer_init";
    lz_embedding_layer_options o = {.struct_size = sizeof o, .padding_idx = -1};
    nnc c = {.op = op, .site = site};
    if (!l)
        return LZ_NN_FAIL(LZ_ENULL, op, site, "the layer is NULL");
    *l = (lz_embedding_layer){0};
    if (!nn_options(&c, &o, sizeof o, opt))
        return lz_nn_annotated(c.status, op, site);
    if (num < 1 || dim < 1)
        return LZ_NN_FAIL(LZ_EINVAL, op, site,
                          "num is %" PRId64 " and dim %" PRId64 ": both must be at least 1", num,
                          dim);
    if (o.padding_idx < -1 || o.padding_idx >= num)
        return LZ_NN_FAIL(LZ_EINVAL, op, site, "padding_idx is %" PRId64 " of %" PRId64 " rows",
                          o.padding_idx, num);
    lz_module m;
    lz_module_begin(&m, ps, name, op, site);
    if (m.status == LZ_OK) {
        lz_tensor *w = lz_init_normal_at(dtype, LZ_SHAPE(num, dim), 0, 1, site);
        w = o.padding_idx < 0 ? w : without_row(w, o.padding_idx, site);
        *l = (lz_embedding_layer){lz_module_param(&m, "weight", w), o.padding_idx >= 0,
                                  o.padding_idx < 0 ? 0 : o.padding_idx};
    }
    return lz_module_end(&m);
}

lz_tensor *lz_embedding_layer_forward_at(const lz_embedding_layer *l, lz_tensor *indices,
                                         const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_tensor *w = l ? l->weight : NULL;
    lz_nn_layer scope;
    lz_nn_layer_begin(&scope, w);
    lz_tensor *y = l && l->has_padding ? lz_embedding_padding_at(w, indices, l->padding_idx, site)
                                       : lz_embedding_at(w, indices, site);
    lz_nn_layer_end(&scope);
    return y;
}

/* ---- normalisation ---- */

static lz_status check_norm(lz_norm_kind kind, int64_t n, const lz_norm_layer_options *o,
                            lz_dtype dtype, const char *op, const lz_site *site)
{
    if ((unsigned)kind > LZ_BATCH_NORM)
        return LZ_NN_FAIL(LZ_EINVAL, op, site, "%d is no kind of normalisation", (int)kind);
    if (n < 1)
        return LZ_NN_FAIL(LZ_EINVAL, op, site, "n is %" PRId64 ": it must be at least 1", n);
    if (!isfinite(o->eps) || (o->eps < 0 && kind != LZ_RMS_NORM))
        return LZ_NN_FAIL(LZ_EINVAL, op, site, "eps is %g: a finite number >= 0 is needed", o->eps);
    if (kind == LZ_GROUP_NORM && (o->num_groups < 1 || n % o->num_groups))
        return LZ_NN_FAIL(LZ_EINVAL, op, site,
                          "%" PRId64 " channels are not %" PRId64 " equal groups", n,
                          o->num_groups);
    if (!nn_is_float(dtype))
        return LZ_NN_FAIL(LZ_EDTYPE, op, site, "%s: floating point is needed",
                          lz_dtype_name(dtype));
    return LZ_OK;
}

lz_status lz_norm_layer_init_at(lz_norm_layer *l, lz_norm_kind kind, lz_params *ps,
                                const char *name, int64_t n, const lz_norm_layer_options *opt,
                                lz_dtype dtype, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char op[] = "lz_norm_layer_init";
    lz_norm_layer_options o = {.struct_size = sizeof o, LZ_NORM_LAYER_DEFAULTS};
    nnc c = {.op = op, .site = site};
    if (!l)
        return LZ_NN_FAIL(LZ_ENULL, op, site, "the layer is NULL");
    *l = (lz_norm_layer){.kind = kind};
    if (!nn_options(&c, &o, sizeof o, opt))
        return lz_nn_annotated(c.status, op, site);
    lz_status s = check_norm(kind, n, &o, dtype, op, site);
    if (s != LZ_OK)
        return s;
    lz_module m;
    lz_module_begin(&m, ps, name, op, site);
    lz_norm_layer made = {.kind = kind, .options = o};
    lz_shape shape = LZ_SHAPE(n);
    if (m.status == LZ_OK && !o.no_affine) {
        made.weight = lz_module_param(&m, "weight", lz_nn_filled(dtype, shape, true, site));
        if (!o.no_bias && kind != LZ_RMS_NORM)
            made.bias = lz_module_param(&m, "bias", lz_nn_filled(dtype, shape, false, site));
    }
    if (m.status == LZ_OK && kind == LZ_BATCH_NORM && !o.no_running_stats) {
        made.running_mean =
            lz_module_buffer(&m, "running_mean", lz_nn_filled(dtype, shape, false, site));
        made.running_var =
            lz_module_buffer(&m, "running_var", lz_nn_filled(dtype, shape, true, site));
        made.num_batches_tracked = lz_module_buffer(&m, "num_batches_tracked",
                                                    lz_nn_filled(LZ_I64, LZ_SCALAR, false, site));
    }
    if (m.status == LZ_OK)
        *l = made;
    return lz_module_end(&m);
}

static lz_tensor *batch_norm(const lz_norm_layer *l, lz_tensor *x, bool training,
                             const lz_site *site)
{
    lz_batch_norm_options o = {.struct_size = sizeof o,
                               .weight = l->weight,
                               .bias = l->bias,
                               .training = training || !l->running_mean,
                               .momentum = l->options.momentum,
                               .eps = l->options.eps};
    lz_tensor *y = lz_batch_norm_at(x, l->running_mean, l->running_var, &o, site);
    if (training && l->num_batches_tracked && lz_status_of(y) == LZ_OK &&
        lz_assign_at(l->num_batches_tracked, lz_add_scalar_at(l->num_batches_tracked, 1, site),
                     site) != LZ_OK)
        return lz_error_tensor_last("lz_norm_layer_forward", site);
    return y;
}

static lz_tensor *normalise(const lz_norm_layer *l, lz_tensor *x, bool training,
                            const lz_site *site)
{
    double eps = l->options.eps;
    lz_shape s = lz_shape_of(x), last = LZ_SHAPE(s.rank ? s.dims[s.rank - 1] : 1);
    switch (l->kind) {
    case LZ_LAYER_NORM:
        return lz_layer_norm_at(x, last, l->weight, l->bias, eps, site);
    case LZ_RMS_NORM:
        return lz_rms_norm_at(x, last, l->weight, eps, site);
    case LZ_GROUP_NORM:
        return lz_group_norm_at(x, l->options.num_groups, l->weight, l->bias, eps, site);
    case LZ_INSTANCE_NORM:
        return lz_instance_norm_at(x, l->weight, l->bias, eps, site);
    case LZ_BATCH_NORM:
        return batch_norm(l, x, training, site);
    }
    return NULL;
}

lz_tensor *lz_norm_layer_forward_at(const lz_norm_layer *l, lz_tensor *x, bool training,
                                    const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    nnc c = nn_begin("lz_norm_layer_forward", site);
    lz_nn_layer scope;
    if (c.status == LZ_OK && !l)
        nn_refuse(&c, LZ_ENULL, "the layer is NULL");
    if (!nn_check(&c, x, "the input"))
        return nn_end(&c, NULL);
    lz_nn_layer_begin(&scope, l->weight ? l->weight : l->running_mean);
    lz_tensor *y = normalise(l, x, training, site);
    lz_nn_layer_end(&scope);
    return nn_end(&c, y);
}
