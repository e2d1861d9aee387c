/* hlo_window.c - reduce_window, select_and_scatter and convolution as public functions:
 * include/lazuli/hlo.h. */
#include "ir/attr.h"
#include "ops/window_builder.h"
#include <lazuli/hlo.h>
#include <string.h>

#define BEGIN(name)                                                                                \
    lz_tracer c;                                                                                   \
    lz_tracer_begin(&c, name, site)

/* ---- on nodes ---- */

static void put_windows(lz_attr_any *r, const lz_window_axis *w, int rank)
{
    lz_attr_reduce_window *a = &r->as_reduce_window;
    lz_attr_init(r, LZ_ATTR_reduce_window);
    for (int d = 0; d < rank; d++) {
        a->window_dimensions.v[d] = w[d].size;
        a->window_strides.v[d] = w[d].stride;
        a->base_dilations.v[d] = w[d].base;
        a->window_dilations.v[d] = w[d].dilation;
        a->padding_low.v[d] = w[d].low;
        a->padding_high.v[d] = w[d].high;
    }
    a->window_dimensions.n = a->window_strides.n = a->base_dilations.n = rank;
    a->window_dilations.n = a->padding_low.n = a->padding_high.n = rank;
}

lz_node *lz_tracer_reduce_window(lz_tracer *c, lz_op op, lz_node *x, const lz_window_axis *w)
{
    lz_attr_any r;
    if (!x)
        return NULL;
    lz_dtype d = lz_node_type(x)->dtype;
    if (!lz_op_accepts(op, d)) {
        LZ_FAIL(LZ_EDTYPE, "%s does not take %s", lz_op_get(op)->text, lz_dtype_name(d));
        return NULL;
    }
    put_windows(&r, w, lz_node_type(x)->shape.rank);
    lz_node *o[2] = {x, lz_tracer_identity(c, op, d, x)};
    if (!o[1] || !(r.as_reduce_window.body = lz_region_binary(op, d)))
        return NULL;
    return lz_tracer_result(c, lz_tracer_op(c, LZ_OP_REDUCE_WINDOW, &r.head, o, 2), 0);
}

bool lz_tracer_reduce_window_arg(lz_tracer *c, bool max, lz_node *x, const lz_window_axis *w,
                                 lz_node **value, lz_node **position)
{
    lz_attr_any r;
    if (!x)
        return false;
    const lz_type *t = lz_node_type(x);
    if (lz_dtype_is_complex(t->dtype)) {
        LZ_FAIL(LZ_EDTYPE, "complex numbers have no order");
        return false;
    }
    lz_dtype pd = t->nelem <= INT32_MAX ? LZ_I32 : LZ_I64;
    lz_shape flat = lz_shape_make(1, &t->nelem);
    put_windows(&r, w, t->shape.rank);
    lz_node *o[4] = {x, lz_tracer_reshape(c, lz_tracer_iota(c, pd, &flat, 0, x), &t->shape),
                     lz_tracer_identity(c, max ? LZ_OP_MAXIMUM : LZ_OP_MINIMUM, t->dtype, x),
                     lz_tracer_identity(c, LZ_OP_MINIMUM, pd, x)};
    if (!o[1] || !o[2] || !o[3] || !(r.as_reduce_window.body = lz_region_arg(max, t->dtype, pd)))
        return false;
    lz_node *m = lz_tracer_op(c, LZ_OP_REDUCE_WINDOW, &r.head, o, 4);
    *value = lz_tracer_result(c, m, 0);
    *position = lz_tracer_convert(c, lz_tracer_result(c, m, 1), LZ_I64);
    return *value && *position;
}

lz_node *lz_tracer_convolution(lz_tracer *c, lz_node *x, lz_node *kernel,
                               const lz_attr_convolution *a)
{
    lz_node *o[2] = {x, kernel};
    return x && kernel ? lz_tracer_op(c, LZ_OP_CONVOLUTION, (const lz_attr *)(const void *)a, o, 2)
                       : NULL;
}

/* ---- public ---- */

static int64_t or_one(int64_t v)
{
    return v == 0 ? 1 : v;
}

static bool windows_in(const lz_node *x, const lz_window_dims *d, lz_window_axis w[LZ_MAX_RANK])
{
    if (!x)
        return false;
    if (!d) {
        LZ_FAIL(LZ_ENULL, "window is NULL");
        return false;
    }
    for (int k = 0; k < lz_node_type(x)->shape.rank; k++)
        w[k] = (lz_window_axis){
            or_one(d->size[k]), or_one(d->stride[k]),        d->low[k],
            d->high[k],         or_one(d->base_dilation[k]), or_one(d->dilation[k])};
    return true;
}

lz_tensor *lz_hlo_reduce_window_at(const char *combiner, lz_tensor *x, const lz_window_dims *window,
                                   const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_window_axis w[LZ_MAX_RANK];
    BEGIN("lz_hlo_reduce_window");
    lz_node *o = lz_tracer_in(&c, x);
    bool ok = windows_in(o, window, w);
    lz_op op = ok ? lz_tracer_combiner(combiner) : LZ_OP_NONE;
    return lz_tracer_end(&c, op != LZ_OP_NONE ? lz_tracer_reduce_window(&c, op, o, w) : NULL);
}

lz_tensor *lz_hlo_reduce_window_arg_at(bool max, lz_tensor *x, const lz_window_dims *window,
                                       lz_tensor **position, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_window_axis w[LZ_MAX_RANK];
    lz_node *v = NULL, *p = NULL;
    BEGIN("lz_hlo_reduce_window_arg");
    lz_node *o = lz_tracer_in(&c, x);
    bool ok = windows_in(o, window, w) && lz_tracer_reduce_window_arg(&c, max, o, w, &v, &p);
    if (position)
        *position = ok ? lz_trace_tensor_of(p, site)
                       : lz_trace_error_tensor("lz_hlo_reduce_window_arg", site);
    return lz_tracer_end(&c, ok ? v : NULL);
}

/* (a, b) -> a DIRECTION b */
static const lz_func *compare_region(lz_hlo_direction direction, lz_dtype d)
{
    static const lz_comparison_direction to[] = {[LZ_HLO_GE] = LZ_CMP_GE,
                                                 [LZ_HLO_GT] = LZ_CMP_GT,
                                                 [LZ_HLO_LE] = LZ_CMP_LE,
                                                 [LZ_HLO_LT] = LZ_CMP_LT};
    lz_shape scalar = LZ_SCALAR;
    if (direction < LZ_HLO_GE || direction > LZ_HLO_LT) {
        LZ_FAIL(LZ_EINVAL, "select: %d is none of GE, GT, LE, LT", (int)direction);
        return NULL;
    }
    const lz_type *t = lz_type_get(d, &scalar);
    lz_func *f = t ? lz_func_new("select") : NULL;
    if (!f)
        return NULL;
    lz_val a = lz_build_param(f, t), b = lz_build_param(f, t);
    lz_val v = lz_build_compare(f, to[direction], a, b);
    const lz_func *r =
        v != LZ_NOVAL && lz_func_set_results(f, &v, 1) == LZ_OK ? lz_region_intern(f) : NULL;
    lz_func_free(f);
    return r;
}

static lz_node *select_and_scatter(lz_tracer *c, lz_hlo_direction select, const char *combiner,
                                   lz_node *x, lz_node *source, const lz_window_axis *w)
{
    lz_attr_any r;
    lz_op op = lz_tracer_combiner(combiner);
    if (op == LZ_OP_NONE)
        return NULL;
    lz_attr_select_and_scatter *a = &r.as_select_and_scatter;
    lz_attr_init(&r, LZ_ATTR_select_and_scatter);
    int rank = lz_node_type(x)->shape.rank;
    lz_dtype d = lz_node_type(x)->dtype;
    for (int k = 0; k < rank; k++) {
        if (w[k].base != 1 || w[k].dilation != 1) {
            LZ_FAIL(LZ_EINVAL, "select_and_scatter: windows with dilations are not possible");
            return NULL;
        }
        a->window_dimensions.v[k] = w[k].size;
        a->window_strides.v[k] = w[k].stride;
        a->padding_low.v[k] = w[k].low;
        a->padding_high.v[k] = w[k].high;
    }
    a->window_dimensions.n = a->window_strides.n = a->padding_low.n = a->padding_high.n = rank;
    lz_node *o[3] = {x, source, lz_tracer_identity(c, op, d, x)};
    if (!o[2] || !(a->select = compare_region(select, d)) ||
        !(a->scatter = lz_region_binary(op, d)))
        return NULL;
    return lz_tracer_op(c, LZ_OP_SELECT_AND_SCATTER, &r.head, o, 3);
}

lz_tensor *lz_hlo_select_and_scatter_at(lz_hlo_direction select, const char *combiner, lz_tensor *x,
                                        lz_tensor *source, const lz_window_dims *window,
                                        const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_window_axis w[LZ_MAX_RANK];
    BEGIN("lz_hlo_select_and_scatter");
    lz_node *o = lz_tracer_in(&c, x), *s = o ? lz_tracer_in(&c, source) : NULL;
    bool ok = s && windows_in(o, window, w);
    return lz_tracer_end(&c, ok ? select_and_scatter(&c, select, combiner, o, s, w) : NULL);
}

static bool conv_in(const lz_conv_dims *d, lz_attr_any *r)
{
    lz_attr_convolution *a = &r->as_convolution;
    lz_attr_init(r, LZ_ATTR_convolution);
    if (!d) {
        LZ_FAIL(LZ_ENULL, "dims is NULL");
        return false;
    }
    int n = d->nspatial;
    if (n < 0 || n > LZ_MAX_RANK - 2) {
        LZ_FAIL(LZ_ERANGE, "nspatial is %d, outside 0..%d", n, LZ_MAX_RANK - 2);
        return false;
    }
    a->input_batch_dimension = d->input_batch;
    a->input_feature_dimension = d->input_feature;
    a->input_spatial_dimensions = lz_ints_make(n, d->input_spatial);
    a->kernel_input_feature_dimension = d->kernel_input_feature;
    a->kernel_output_feature_dimension = d->kernel_output_feature;
    a->kernel_spatial_dimensions = lz_ints_make(n, d->kernel_spatial);
    a->output_batch_dimension = d->output_batch;
    a->output_feature_dimension = d->output_feature;
    a->output_spatial_dimensions = lz_ints_make(n, d->output_spatial);
    a->window_strides.n = a->lhs_dilation.n = a->rhs_dilation.n = n;
    for (int k = 0; k < n; k++) {
        a->window_strides.v[k] = or_one(d->stride[k]);
        a->lhs_dilation.v[k] = or_one(d->lhs_dilation[k]);
        a->rhs_dilation.v[k] = or_one(d->rhs_dilation[k]);
        a->window_reversal.v[k] = d->reversal[k];
    }
    a->padding_low = lz_ints_make(n, d->low);
    a->padding_high = lz_ints_make(n, d->high);
    a->window_reversal.n = n;
    a->feature_group_count = or_one(d->feature_groups);
    a->batch_group_count = or_one(d->batch_groups);
    return true;
}

lz_tensor *lz_hlo_convolution_at(lz_tensor *x, lz_tensor *kernel, const lz_conv_dims *dims,
                                 const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_attr_any r;
    BEGIN("lz_hlo_convolution");
    lz_node *o = lz_tracer_in(&c, x), *k = o ? lz_tracer_in(&c, kernel) : NULL;
    return lz_tracer_end(
        &c, k && conv_in(dims, &r) ? lz_tracer_convolution(&c, o, k, &r.as_convolution) : NULL);
}
