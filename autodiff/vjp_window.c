/* vjp_window.c - gradients of reduce_window, select_and_scatter and convolution. Each is linear in
 * what it sums, and its transpose is one of the three again: the windows that contain an element
 * are windows too. */
#include "autodiff/vjp_region.h"
#include "base/status.h"
#include "ir/module.h"
#include "ir/window.h"
#include "runtime/region/region_trace.h"
#include <lazuli/tensor.h>
#include <math.h>
#include <string.h>

#define X (v->opnd[0])
#define G (v->grad_out[0])
#define TYPE(i) (v->sig->opnd[i])

static int64_t reach(int64_t n, int64_t dilation)
{
    return n > 0 ? (n - 1) * dilation + 1 : 0;
}

static void set_window(lz_window_dims *d, int k, const lz_window_axis *w)
{
    d->size[k] = w->size;
    d->stride[k] = w->stride;
    d->low[k] = w->low;
    d->high[k] = w->high;
    d->base_dilation[k] = w->base;
    d->dilation[k] = w->dilation;
}

/* ---- reduce_window ---- */

/* For each element, the sum over the windows that contain it. */
static lz_tensor *window_sums(const lz_vjp *v, const lz_window_axis *w)
{
    const lz_shape *in = &TYPE(0)->shape, *out = &v->sig->result[0]->shape;
    lz_window_dims d = {0};
    for (int k = 0; k < in->rank; k++) {
        int64_t wide = reach(w[k].size, w[k].dilation), low = wide - 1 - w[k].low;
        lz_window_axis t = {w[k].size,    w[k].base, low, 0,
                            w[k].stride, /* strides and dilations are exchanged */
                            w[k].dilation};
        t.high = reach(in->dims[k], w[k].base) - 1 + wide - low - reach(out->dims[k], w[k].stride);
        set_window(&d, k, &t);
    }
    return lz_hlo_reduce_window_at("add", G, &d, v->site);
}

/* Scatter-adds g at the positions, into zeros of type t. Positions out of bounds are dropped. */
static lz_tensor *add_at(const lz_vjp *v, const lz_type *t, lz_tensor *position, lz_tensor *g)
{
    lz_shape flat = lz_shape_make(1, &t->nelem);
    lz_tensor *zero = lz_hlo_constant_at(t->dtype, 0, v->site);
    lz_tensor *zeros = lz_hlo_broadcast_in_dim_at(zero, flat, NULL, 0, v->site);
    lz_scatter_dims d = {.ninserted = 1, .nmap = 1, .index_vector_dim = lz_rank_of(g)};
    return lz_hlo_reshape_at(lz_hlo_scatter_at("add", zeros, position, g, &d, v->site), t->shape,
                             v->site);
}

/* The initial value is one that no element is beyond: a constant of the lowest, or highest,
 * value. */
static bool is_neutral(const lz_vjp *v, bool max)
{
    lz_node *n = lz_trace_node_of(v->opnd[v->sig->nopnd / 2]);
    bool is = n && n->kind == LZ_NODE_CONST && lz_dtype_is_float(TYPE(0)->dtype);
    double x = is ? lz_elem_get_f64(TYPE(0)->dtype, n->imm, 0) : 0;
    lz_node_release(n);
    return is && isinf(x) && (x < 0) == max;
}

/* Where the initial value is beyond all elements of a window, no element has a gradient. */
static lz_tensor *extremum(const lz_vjp *v, bool max, const lz_window_axis *w)
{
    lz_window_dims d = {0};
    lz_tensor *position = NULL, *g = G;
    bool dilated = false, neutral = is_neutral(v, max);
    for (int k = 0; k < TYPE(0)->shape.rank; k++) {
        set_window(&d, k, &w[k]);
        dilated |= w[k].base != 1 || w[k].dilation != 1;
    }
    lz_tensor *best =
        dilated || !neutral ? lz_hlo_reduce_window_arg_at(max, X, &d, &position, v->site) : NULL;
    if (!neutral) {
        lz_tensor *init = lz_hlo_broadcast_in_dim_at(v->opnd[v->sig->nopnd / 2],
                                                     v->sig->result[0]->shape, NULL, 0, v->site);
        lz_tensor *beyond = lz_v_cmp(v, max ? LZ_HLO_GT : LZ_HLO_LT, init, best);
        g = lz_v_mask(v, lz_v1(v, "not", beyond), g);
    }
    return dilated ? add_at(v, TYPE(0), position, g)
                   : lz_hlo_select_and_scatter_at(max ? LZ_HLO_GE : LZ_HLO_LE, "add", X, g, &d,
                                                  v->site);
}

/* ---- any region ---- */

/* Row-major number k of each of n, as the index along an extent that `below` elements make one step
 * of. */
static lz_tensor *index_along(const lz_vjp *v, lz_tensor *k, const lz_type *t, int64_t below,
                              int64_t extent)
{
    lz_tensor *q = lz_v2(v, "divide", k, lz_v_const_like(v, t, (double)below));
    return lz_v2(v, "remainder", q, lz_v_const_like(v, t, (double)extent));
}

lz_tensor *lz_v_window_places(const lz_vjp *v, const lz_window_axis *w, const lz_shape *out,
                              const lz_shape *padded, const lz_type *t)
{
    lz_tensor *k = lz_iota_at(LZ_I64, t->shape, 0, v->site), *at = lz_v_zeros(v, t);
    int64_t below = 1, step = 1, steps[LZ_MAX_RANK];
    for (int d = out->rank - 1; d >= 0; d--) {
        steps[d] = step;
        step *= padded->dims[d];
    }
    for (int pass = 0; pass < 2; pass++) /* elements, then windows */
        for (int d = out->rank - 1; d >= 0; d--) {
            int64_t extent = pass ? out->dims[d] : w[d].size;
            int64_t by = steps[d] * (pass ? w[d].stride : w[d].dilation);
            at =
                lz_v2(v, "add", at, lz_v_scale(v, index_along(v, k, t, below, extent), (double)by));
            below *= extent;
        }
    return at;
}

/* Operand k with its gaps and padding, filled with its initial value; and its gradient from that of
 * this. */
static lz_tensor *fill_up(const lz_vjp *v, const lz_window_axis *w, uint32_t k, lz_tensor *back)
{
    const lz_type *t = TYPE(0);
    int64_t low[LZ_MAX_RANK], high[LZ_MAX_RANK], gaps[LZ_MAX_RANK],
        start[LZ_MAX_RANK] = {0}, limit[LZ_MAX_RANK], step[LZ_MAX_RANK];
    for (int d = 0; d < t->shape.rank; d++) {
        low[d] = back ? -w[d].low : w[d].low;
        high[d] = back ? -w[d].high : w[d].high;
        gaps[d] = w[d].base - 1;
        limit[d] = reach(t->shape.dims[d], w[d].base);
        step[d] = w[d].base;
    }
    lz_tensor *with =
        back ? lz_hlo_constant_at(t->dtype, 0, v->site) : v->opnd[k + v->sig->nopnd / 2];
    if (!back)
        return lz_hlo_pad_at(v->opnd[k], with, low, high, gaps, t->shape.rank, v->site);
    lz_tensor *g = lz_hlo_pad_at(back, with, low, high, NULL, t->shape.rank, v->site);
    return lz_hlo_slice_at(g, start, limit, step, t->shape.rank, v->site);
}

int64_t lz_v_window_elements(const lz_window_axis *w, int rank)
{
    int64_t n = 1;
    for (int d = 0; d < rank; d++)
        n *= w[d].size;
    return n;
}

/* Any region: the elements of all windows side by side, those of one below each other, and their
 *   rows combined. */
static lz_status any_window(const lz_vjp *v, lz_tensor **out)
{
    const lz_attr_reduce_window *a = LZ_ATTR(reduce_window, v->sig->attr);
    const lz_type *r = v->sig->result[0];
    uint32_t n = v->sig->nresult;
    lz_window_axis w[LZ_MAX_RANK];
    if (r->nelem == 0)
        return LZ_OK;
    for (int d = 0; d < r->shape.rank; d++)
        w[d] = lz_window_of_reduce(a, d);
    int64_t size = lz_v_window_elements(w, r->shape.rank);
    lz_shape all = LZ_SHAPE(r->nelem * size);
    const lz_type *at = lz_type_get(LZ_I64, &all);
    if (!at)
        return lz_error_get()->status;
    for (uint32_t k = 0; k < n; k++) {
        lz_tensor *full = fill_up(v, w, k, NULL);
        lz_shape padded = lz_shape_of(full);
        LZ_TRY(lz_status_of(full));
        lz_gather_dims d = {
            .ncollapsed = 1, .nstart_map = 1, .slice_sizes = {1}, .index_vector_dim = 1};
        lz_tensor *flat = lz_hlo_reshape_at(full, LZ_SHAPE(lz_numel(full)), v->site);
        lz_tensor *x =
            lz_hlo_gather_at(flat, lz_v_window_places(v, w, &r->shape, &padded, at), &d, v->site);
        x = lz_hlo_reshape_at(x, LZ_SHAPE(r->nelem, size), v->site);
        out[k] = lz_hlo_transpose_at(x, (const int64_t[]){1, 0}, 2, v->site);
    }
    LZ_TRY(lz_v_fold(v, a->body, v->opnd + n, out, size, r->nelem));
    for (uint32_t k = 0; k < n; k++)
        out[k] = lz_hlo_reshape_at(out[k], r->shape, v->site);
    return LZ_OK;
}

/* 1: the largest and its position, -1: the smallest, 0: another region. */
static int arg_region(const lz_vjp *v, const lz_func *body)
{
    if (v->sig->nopnd != 4)
        return 0;
    lz_dtype d = TYPE(0)->dtype, p = TYPE(1)->dtype;
    return !lz_dtype_is_int(p)                  ? 0
           : body == lz_region_arg(true, d, p)  ? 1
           : body == lz_region_arg(false, d, p) ? -1
                                                : 0;
}

lz_status lz_vjp_reduce_window(const lz_vjp *v)
{
    const lz_attr_reduce_window *a = LZ_ATTR(reduce_window, v->sig->attr);
    lz_op comb = v->sig->nresult == 1 ? lz_region_as_binary(a->body) : LZ_OP_NONE;
    int arg = comb == LZ_OP_NONE ? arg_region(v, a->body) : 0;
    lz_window_axis w[LZ_MAX_RANK];
    if ((comb == LZ_OP_MAXIMUM || comb == LZ_OP_MINIMUM) && !lz_dtype_is_complex(TYPE(0)->dtype))
        arg = comb == LZ_OP_MAXIMUM ? 1 : -1;
    bool any = comb != LZ_OP_ADD && arg == 0; /* products too: right where factors are 0 */
    for (uint32_t k = 1; k < v->sig->nopnd; k++)
        any |= v->need[k];
    if (any)
        return lz_v_composed(v, any_window);
    for (int d = 0; d < TYPE(0)->shape.rank; d++)
        w[d] = lz_window_of_reduce(a, d);
    if (v->need[0] && G)
        v->grad_in[0] = arg ? extremum(v, arg > 0, w) : window_sums(v, w);
    return LZ_OK;
}

/* ---- select_and_scatter ---- */

/* The comparison that `select` is; LZ_HLO_EQ when it is not a plain comparison of its
 * parameters. */
static lz_hlo_direction direction_of(const lz_func *r)
{
    const lz_inst *in = &r->insts[r->results[0]];
    if (r->ninst != 3 || in->sig->attr->kind != LZ_ATTR_compare || in->opnd[0] != 0 ||
        in->opnd[1] != 1)
        return LZ_HLO_EQ;
    switch (LZ_ATTR(compare, in->sig->attr)->comparison_direction) {
    case LZ_CMP_GE:
        return LZ_HLO_GE;
    case LZ_CMP_LE:
        return LZ_HLO_LE;
    default:
        return LZ_HLO_EQ;
    }
}

/* An element of the source goes to one position: its gradient is read there. */
lz_status lz_vjp_select_and_scatter(const lz_vjp *v)
{
    const lz_attr_select_and_scatter *a = LZ_ATTR(select_and_scatter, v->sig->attr);
    lz_hlo_direction select = direction_of(a->select);
    const lz_type *t = TYPE(0);
    if (lz_region_as_binary(a->scatter) != LZ_OP_ADD || (select == LZ_HLO_EQ && v->need[1]))
        return G ? lz_v_composed(v, lz_v_select_any) : LZ_OK;
    if (v->need[2])
        v->grad_in[2] = lz_v_sum_all(v, G);
    if (!v->need[1])
        return LZ_OK;
    lz_window_dims d = {0};
    for (int k = 0; k < t->shape.rank; k++) {
        lz_window_axis w = lz_window_of_select(a, k);
        set_window(&d, k, &w);
    }
    lz_tensor *position;
    (void)lz_hlo_reduce_window_arg_at(select == LZ_HLO_GE, X, &d, &position, v->site);
    if (TYPE(1)->nelem == 0 || t->nelem == 0) {
        v->grad_in[1] = lz_v_zeros(v, TYPE(1));
        return LZ_OK;
    }
    lz_gather_dims at = {.ncollapsed = 1,
                         .nstart_map = 1,
                         .slice_sizes = {1},
                         .index_vector_dim = TYPE(1)->shape.rank};
    lz_tensor *flat = lz_hlo_reshape_at(G, lz_shape_make(1, &t->nelem), v->site);
    lz_tensor *g = lz_hlo_gather_at(flat, position, &at, v->site);
    lz_tensor *last = lz_v_const_like(v, lz_type_get(LZ_I64, &TYPE(1)->shape), (double)t->nelem);
    v->grad_in[1] = lz_v_mask(v, lz_v_cmp(v, LZ_HLO_LT, position, last), g);
    return LZ_OK;
}

/* ---- convolution ---- */

typedef struct conv {
    const lz_vjp *v;
    const lz_attr_convolution *a;
    int n;
    lz_window_axis w[LZ_MAX_RANK];
    int64_t in[LZ_MAX_RANK], out[LZ_MAX_RANK];
} conv;

static void copy(int64_t *to, const lz_ints *from)
{
    memcpy(to, from->v, sizeof from->v);
}

/* Dimension d of x, cut into `groups` parts (the outer index), goes in front of dimension `to`,
 * merged: extent / groups there, groups * extent here. */
static lz_tensor *move_groups(const lz_vjp *v, lz_tensor *x, int d, int to, int64_t groups)
{
    lz_shape s = lz_shape_of(x), split = {.rank = s.rank + 1};
    int64_t perm[LZ_MAX_RANK];
    int n = 0;
    if (s.rank >= LZ_MAX_RANK || s.rank < 0)
        return NULL;
    for (int k = 0, j = 0; k < s.rank; k++) {
        if (k == d) {
            split.dims[j++] = groups;
            split.dims[j++] = s.dims[k] / groups;
        } else {
            split.dims[j++] = s.dims[k];
        }
    }
    for (int k = 0; k < s.rank;
         k++) { /* d's groups are dimension d of the split one, d itself d + 1 */
        if (k == to)
            perm[n++] = d;
        perm[n++] = k < d ? k : k + 1;
    }
    lz_tensor *y = lz_hlo_transpose_at(lz_hlo_reshape_at(x, split, v->site), perm, n, v->site);
    s.dims[d] /= groups;
    s.dims[to] *= groups;
    return lz_hlo_reshape_at(y, s, v->site);
}

static void flip(const conv *c, lz_tensor **k, bool always)
{
    int64_t dims[LZ_MAX_RANK];
    int n = 0;
    for (int d = 0; d < c->n; d++)
        if (c->w[d].size > 1 && (always != (c->a->window_reversal.v[d] != 0)))
            dims[n++] = c->a->kernel_spatial_dimensions.v[d];
    if (n)
        *k = lz_hlo_reverse_at(*k, dims, n, c->v->site);
}

/* The gradient of the input: the gradient of the result, dilated by the strides, convolved with the
 * reversed kernel, input and output features exchanged. */
static lz_tensor *input_gradient(const conv *c)
{
    const lz_attr_convolution *a = c->a;
    int ki = (int)a->kernel_input_feature_dimension, ko = (int)a->kernel_output_feature_dimension;
    int64_t groups = a->feature_group_count * a->batch_group_count;
    lz_tensor *k = lz_v_conj(c->v, c->v->opnd[1]);
    lz_conv_dims d = {.nspatial = c->n,
                      .input_batch = a->output_batch_dimension,
                      .input_feature = a->output_feature_dimension,
                      .kernel_input_feature = ko,
                      .kernel_output_feature = ki,
                      .output_batch = a->input_batch_dimension,
                      .output_feature = a->input_feature_dimension,
                      .feature_groups = groups};
    copy(d.input_spatial, &a->output_spatial_dimensions);
    copy(d.kernel_spatial, &a->kernel_spatial_dimensions);
    copy(d.output_spatial, &a->input_spatial_dimensions);
    flip(c, &k, true);
    if (groups > 1)
        k = move_groups(c->v, k, ko, ki, groups);
    for (int i = 0; i < c->n; i++) {
        const lz_window_axis *w = &c->w[i];
        int64_t x = reach(c->in[i], w->base), wide = reach(w->size, w->dilation),
                r = reach(c->out[i], w->stride);
        d.stride[i] = w->base;
        d.lhs_dilation[i] = w->stride;
        d.rhs_dilation[i] = w->dilation;
        d.low[i] = wide - w->low - 1;
        d.high[i] = x + wide - 1 - r - d.low[i];
    }
    lz_tensor *g = lz_hlo_convolution_at(c->v->grad_out[0], k, &d, c->v->site);
    if (a->batch_group_count > 1)
        g = move_groups(c->v, g, (int)a->input_feature_dimension, (int)a->input_batch_dimension,
                        a->batch_group_count);
    return g;
}

/* The gradient of the kernel: input convolved with the gradient of the result, batch and features
 * exchanged, dilated by the strides. */
static lz_tensor *kernel_gradient(const conv *c)
{
    const lz_attr_convolution *a = c->a;
    lz_conv_dims d = {.nspatial = c->n,
                      .input_batch = a->input_feature_dimension,
                      .input_feature = a->input_batch_dimension,
                      .kernel_input_feature = a->output_batch_dimension,
                      .kernel_output_feature = a->output_feature_dimension,
                      .output_batch = a->kernel_input_feature_dimension,
                      .output_feature = a->kernel_output_feature_dimension,
                      .feature_groups = a->batch_group_count,
                      .batch_groups = a->feature_group_count};
    copy(d.input_spatial, &a->input_spatial_dimensions);
    copy(d.kernel_spatial, &a->output_spatial_dimensions);
    copy(d.output_spatial, &a->kernel_spatial_dimensions);
    for (int i = 0; i < c->n; i++) {
        const lz_window_axis *w = &c->w[i];
        int64_t x = reach(c->in[i], w->base), wide = reach(w->size, w->dilation),
                r = reach(c->out[i], w->stride);
        d.stride[i] = w->dilation;
        d.lhs_dilation[i] = w->base;
        d.rhs_dilation[i] = w->stride;
        d.low[i] = w->low;
        d.high[i] = r - x + wide - w->low - 1;
    }
    lz_tensor *g =
        lz_hlo_convolution_at(lz_v_conj(c->v, c->v->opnd[0]), c->v->grad_out[0], &d, c->v->site);
    flip(c, &g, false);
    return g;
}

lz_status lz_vjp_convolution(const lz_vjp *v)
{
    const lz_attr_convolution *a = LZ_ATTR(convolution, v->sig->attr);
    const lz_shape *x = &TYPE(0)->shape, *k = &TYPE(1)->shape, *r = &v->sig->result[0]->shape;
    conv c = {.v = v, .a = a, .n = x->rank - 2};
    if (v->sig->result[0]->nelem == 0)
        return LZ_OK;
    for (int d = 0; d < c.n; d++) {
        c.w[d] = lz_window_of_conv(a, d, k);
        c.in[d] = x->dims[a->input_spatial_dimensions.v[d]];
        c.out[d] = r->dims[a->output_spatial_dimensions.v[d]];
    }
    if (v->need[0] && TYPE(0)->nelem)
        v->grad_in[0] = input_gradient(&c);
    if (v->need[1] && TYPE(1)->nelem)
        v->grad_in[1] = kernel_gradient(&c);
    return LZ_OK;
}
