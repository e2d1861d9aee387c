/* convolution.c - convolutions with ATen's layouts: include/lazuli/window_ops.h. A transposed
 * convolution is one of the dilated input with the reversed kernel, input and output features
 * exchanged. */
#include "ops/compose.h"
#include "ops/window_builder.h"
#include <inttypes.h>
#include <lazuli/window_ops.h>

static const char *text_of(const lz_node *x, char text[160])
{
    return lz_type_short(lz_node_type(x), text, 160);
}

/* The options for n dimensions: entries of 0 repeated, checked. */
typedef struct conv {
    int n;
    int64_t stride[3], padding[3], dilation[3], extra[3], groups;
} conv;

static bool fill(const char *what, int64_t *v, const int64_t *given, int n)
{
    for (int d = 0; d < n; d++) {
        v[d] = given[d] ? given[d] : d ? v[d - 1] : 1;
        if (v[d] < 1) {
            LZ_FAIL(LZ_EINVAL, "%s[%d] is %" PRId64 ": it must be positive", what, d, v[d]);
            return false;
        }
    }
    return true;
}

static bool read_options(const lz_conv_options *o, int n, conv *v)
{
    v->n = n;
    v->groups = o->groups ? o->groups : 1;
    if (v->groups < 1) {
        LZ_FAIL(LZ_EINVAL, "groups is %" PRId64 ": it must be positive", v->groups);
        return false;
    }
    if (!fill("stride", v->stride, o->stride, n) || !fill("dilation", v->dilation, o->dilation, n))
        return false;
    for (int d = 0; d < n; d++) {
        v->padding[d] = o->padding[d];
        v->extra[d] = o->output_padding[d];
        if (v->padding[d] < 0 || v->extra[d] < 0) {
            LZ_FAIL(LZ_EINVAL,
                    "padding[%d] and output_padding[%d] are %" PRId64 " and %" PRId64
                    ": they must not be negative",
                    d, d, v->padding[d], v->extra[d]);
            return false;
        }
    }
    return true;
}

static bool ranks_fit(const lz_node *x, const lz_node *w, const lz_node *b, const conv *v,
                      bool transposed)
{
    char tx[160], tw[160], tb[160];
    const lz_shape *s = lz_tracer_shape(x), *k = lz_tracer_shape(w);
    if ((s->rank != v->n + 1 && s->rank != v->n + 2) || k->rank != v->n + 2) {
        LZ_FAIL(LZ_ESHAPE, "x is %s, weight %s: the weight must have rank %d, x that or one less",
                text_of(x, tx), text_of(w, tw), v->n + 2);
        return false;
    }
    int64_t in = s->dims[s->rank - v->n - 1], all;
    bool possible = lz_mul_i64(k->dims[1], v->groups, &all);
    int64_t want = transposed ? k->dims[0] : all, out = transposed ? all : k->dims[0];
    if (!possible || in != want || (transposed ? in : out) % v->groups) {
        LZ_FAIL(LZ_ESHAPE,
                "x is %s, weight %s, groups %" PRId64 ": x has %" PRId64
                " channels, the weight takes %" PRId64,
                text_of(x, tx), text_of(w, tw), v->groups, in, want);
        return false;
    }
    if (b && (lz_tracer_shape(b)->rank != 1 || lz_tracer_shape(b)->dims[0] != out)) {
        LZ_FAIL(LZ_ESHAPE, "bias is %s, weight %s: bias must be [%" PRId64 "]", text_of(b, tb),
                text_of(w, tw), out);
        return false;
    }
    return true;
}

/* The attributes of a convolution with ATen's layouts; kernel [out, in / groups, spatial..]. */
static void layouts(lz_attr_any *r, const conv *v)
{
    lz_attr_convolution *a = &r->as_convolution;
    lz_attr_init(r, LZ_ATTR_convolution);
    a->output_feature_dimension = a->input_feature_dimension = 1;
    a->kernel_input_feature_dimension = 1;
    for (int d = 0; d < v->n; d++) {
        a->input_spatial_dimensions.v[d] = a->kernel_spatial_dimensions.v[d] = 2 + d;
        a->output_spatial_dimensions.v[d] = 2 + d;
        a->window_strides.v[d] = a->lhs_dilation.v[d] = a->rhs_dilation.v[d] = 1;
    }
    a->input_spatial_dimensions.n = a->kernel_spatial_dimensions.n = v->n;
    a->output_spatial_dimensions.n = a->window_strides.n = a->lhs_dilation.n = v->n;
    a->rhs_dilation.n = a->padding_low.n = a->padding_high.n = a->window_reversal.n = v->n;
    a->feature_group_count = v->groups;
    a->batch_group_count = 1;
}

/* As in ATen every window lies within the padded input: StableHLO's convolution has an empty result
 * where none does. */
static bool kernel_fits(const lz_node *x, const lz_node *w, const conv *v)
{
    char tx[160], tw[160];
    for (int d = 0; d < v->n; d++) {
        int64_t extent = lz_tracer_shape(x)->dims[2 + d], padded, reach;
        if (!lz_window_reach(lz_tracer_shape(w)->dims[2 + d], v->dilation[d], &reach) ||
            !lz_mul_i64(v->padding[d], 2, &padded) || !lz_add_i64(padded, extent, &padded)) {
            LZ_FAIL(LZ_ERANGE, "padding[%d] is %" PRId64 ", dilation[%d] %" PRId64 ": too large", d,
                    v->padding[d], d, v->dilation[d]);
            return false;
        }
        if (reach <= padded)
            continue;
        LZ_FAIL(LZ_ESHAPE,
                "x is %s, weight %s: the kernel reaches over %" PRId64
                " elements in spatial dimension %d, the padded input has %" PRId64,
                text_of(x, tx), text_of(w, tw), reach, d, padded);
        return false;
    }
    return true;
}

static lz_node *forward(lz_tracer *c, lz_node *x, lz_node *w, const conv *v)
{
    lz_attr_any r;
    if (!kernel_fits(x, w, v))
        return NULL;
    layouts(&r, v);
    for (int d = 0; d < v->n; d++) {
        r.as_convolution.window_strides.v[d] = v->stride[d];
        r.as_convolution.rhs_dilation.v[d] = v->dilation[d];
        r.as_convolution.padding_low.v[d] = r.as_convolution.padding_high.v[d] = v->padding[d];
    }
    return lz_tracer_convolution(c, x, w, &r.as_convolution);
}

/* [in, out / groups, spatial..] as [in / groups, out, spatial..] */
static lz_node *exchange_groups(lz_tracer *c, lz_node *w, int64_t groups)
{
    lz_shape k = *lz_tracer_shape(w), cut = {.rank = k.rank + 1};
    lz_ints perm = {.n = k.rank + 1};
    cut.dims[0] = groups;
    cut.dims[1] = k.dims[0] / groups;
    for (int d = 1; d < k.rank; d++)
        cut.dims[d + 1] = k.dims[d];
    for (int d = 0; d < perm.n; d++)
        perm.v[d] = d < 2 ? 1 - d : d;
    k.dims[0] /= groups;
    k.dims[1] *= groups;
    return lz_tracer_reshape(c, lz_tracer_transpose(c, lz_tracer_reshape(c, w, &cut), &perm), &k);
}

/* What padding takes away leaves something, as in ATen. */
static lz_node *not_empty(lz_node *y, const lz_node *x, const lz_node *w, const conv *v)
{
    char tx[160], tw[160];
    for (int d = 0; y && d < v->n; d++) {
        if (lz_tracer_shape(y)->dims[2 + d] > 0)
            continue;
        LZ_FAIL(LZ_ESHAPE,
                "x is %s, weight %s, padding[%d] %" PRId64
                ": nothing is left of spatial dimension %d",
                text_of(x, tx), text_of(w, tw), d, v->padding[d], d);
        return NULL;
    }
    return y;
}

static lz_node *transposed(lz_tracer *c, lz_node *x, lz_node *w, const conv *v)
{
    lz_attr_any r;
    layouts(&r, v);
    lz_attr_convolution *a = &r.as_convolution;
    a->kernel_input_feature_dimension = 0;
    a->kernel_output_feature_dimension = 1;
    for (int d = 0; d < v->n; d++) {
        int64_t reach;
        if (v->extra[d] >= v->stride[d] && v->extra[d] >= v->dilation[d]) {
            LZ_FAIL(LZ_EINVAL,
                    "output_padding[%d] is %" PRId64
                    ": it must be smaller than the stride, %" PRId64 ", or the dilation, %" PRId64,
                    d, v->extra[d], v->stride[d], v->dilation[d]);
            return NULL;
        }
        if (!lz_window_reach(lz_tracer_shape(w)->dims[2 + d], v->dilation[d], &reach)) {
            LZ_FAIL(LZ_ERANGE, "dilation[%d] is %" PRId64 ": too large", d, v->dilation[d]);
            return NULL;
        }
        a->lhs_dilation.v[d] = v->stride[d];
        a->rhs_dilation.v[d] = v->dilation[d];
        a->window_reversal.v[d] = 1;
        a->padding_low.v[d] = reach - 1 - v->padding[d];
        if (!lz_add_i64(a->padding_low.v[d], v->extra[d], &a->padding_high.v[d])) {
            LZ_FAIL(LZ_ERANGE, "output_padding[%d] is %" PRId64 ": too large", d, v->extra[d]);
            return NULL;
        }
    }
    lz_node *kernel = v->groups > 1 ? exchange_groups(c, w, v->groups) : w;
    return not_empty(lz_tracer_convolution(c, x, kernel, a), x, w, v);
}

static lz_node *common(lz_tracer *c, lz_node *x, lz_dtype d)
{
    return x ? lz_tracer_convert(c, x, d) : NULL;
}

static lz_node *run(lz_tracer *c, lz_node *x, lz_node *w, lz_node *b, const conv *v, bool transpose)
{
    if (!ranks_fit(x, w, b, v, transpose))
        return NULL;
    lz_dtype d = lz_promote(lz_tracer_dtype(x), lz_tracer_dtype(w));
    if (d != LZ_DTYPE_NONE && b)
        d = lz_promote(d, lz_tracer_dtype(b));
    if (d == LZ_DTYPE_NONE) {
        LZ_FAIL(LZ_EDTYPE, "%s and %s have no common dtype", lz_dtype_name(lz_tracer_dtype(x)),
                lz_dtype_name(lz_tracer_dtype(w)));
        return NULL;
    }
    bool one = lz_tracer_shape(x)->rank == v->n + 1;
    x = common(c, one ? lz_tracer_unsqueeze(c, x, 0) : x, d);
    w = common(c, w, d);
    b = common(c, b, d);
    lz_node *y = !x || !w ? NULL : transpose ? transposed(c, x, w, v) : forward(c, x, w, v);
    if (y && b) {
        const lz_ints channel = {1, {1}};
        y = ADD(y, lz_tracer_broadcast_in_dim(c, b, &channel, lz_tracer_shape(y)));
    }
    return y && one ? lz_tracer_squeeze(c, y, 0) : y;
}

static lz_tensor *convolution(const char *name, int n, bool transpose, lz_tensor *x, lz_tensor *w,
                              lz_tensor *bias, const lz_conv_options *o, const lz_site *site)
{
    conv v;
    BEGIN(name);
    OPTIONS(lz_conv_options, opt, .groups = 1);
    lz_node *a = IN(x), *k = a ? IN(w) : NULL, *b = k && bias ? IN(bias) : NULL;
    bool ok = k && (b || !bias) && opt && read_options(opt, n, &v);
    return lz_tracer_end(c, ok ? run(c, a, k, b, &v, transpose) : NULL);
}

#define CONV(name, n, transpose)                                                                   \
    lz_tensor *name##_at(lz_tensor *x, lz_tensor *weight, lz_tensor *bias,                         \
                         const lz_conv_options *o, const lz_site *site)                            \
    {                                                                                              \
        LZ_PUBLIC_AT(LZ_FORK_TENSOR);                                                              \
        return convolution(#name, n, transpose, x, weight, bias, o, site);                         \
    }
CONV(lz_conv1d, 1, false)
CONV(lz_conv2d, 2, false)
CONV(lz_conv3d, 3, false)
CONV(lz_conv_transpose1d, 1, true)
CONV(lz_conv_transpose2d, 2, true)
CONV(lz_conv_transpose3d, 3, true)
