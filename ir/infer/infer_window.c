/* infer_window.c - shape rules of what works on windows: reduce_window, select_and_scatter,
 * convolution, window_view. See infer.h. */
#include "ir/infer/infer.h"
#include "ir/window.h"

/* ---- what the rules share ---- */

typedef struct named {
    const char *field;
    const lz_ints *v;
    bool positive;
} named;

static lz_status check_lists(const lz_infer *c, const named *lists, int n, int64_t want,
                             const char *of)
{
    for (int i = 0; i < n; i++) {
        LZ_TRY(lz_infer_count(c, lists[i].field, lists[i].v, want, of));
        for (int k = 0; k < lists[i].v->n && lists[i].positive; k++)
            if (lists[i].v->v[k] < 1)
                return LZ_FAIL(LZ_EINVAL, "%s: %s = %s: %" PRId64 " is not positive", c->name,
                               lists[i].field, LZ_IT(lists[i].v), lists[i].v->v[k]);
    }
    return LZ_OK;
}

static lz_status count(const lz_infer *c, const lz_window_axis *w, int64_t extent, int d,
                       int64_t *out)
{
    if (lz_window_count(w, extent, out))
        return LZ_OK;
    return LZ_FAIL(LZ_ERANGE,
                   "%s: windows of %" PRId64 " over dimension %d of extent %" PRId64
                   " (padding %" PRId64 ", %" PRId64 ", dilations %" PRId64 ", %" PRId64
                   ") overflow",
                   c->name, w->size, d, extent, w->low, w->high, w->base, w->dilation);
}

static lz_status scalar_of(const lz_infer *c, uint32_t input, uint32_t init)
{
    if (c->opnd[init]->shape.rank != 0)
        return LZ_FAIL(LZ_ESHAPE, "%s: initial value %s is not a scalar", c->name,
                       LZ_TT(c->opnd[init]));
    return lz_infer_same_dtype(c, input, init);
}

/* ---- reduce_window ---- */

lz_status lz_infer_reduce_window(lz_infer *c)
{
    const lz_attr_reduce_window *a = LZ_ATTR(reduce_window, c->attr);
    if (c->nopnd == 0 || c->nopnd % 2)
        return LZ_FAIL(LZ_EINVAL, "%s: %u operands are not n inputs and n initial values", c->name,
                       c->nopnd);
    uint32_t n = c->nopnd / 2;
    const lz_type *x = c->opnd[0];
    const named lists[] = {{"window_dimensions", &a->window_dimensions, true},
                           {"window_strides", &a->window_strides, true},
                           {"base_dilations", &a->base_dilations, true},
                           {"window_dilations", &a->window_dilations, true},
                           {"padding_low", &a->padding_low, false},
                           {"padding_high", &a->padding_high, false}};
    LZ_TRY(check_lists(c, lists, 6, x->shape.rank, "the operand's rank"));
    for (uint32_t i = 0; i < n; i++) {
        if (!lz_shape_eq(&c->opnd[i]->shape, &x->shape))
            return LZ_FAIL(LZ_ESHAPE, "%s: shapes of inputs %s and %s differ", c->name, LZ_TT(x),
                           LZ_TT(c->opnd[i]));
        LZ_TRY(scalar_of(c, i, n + i));
    }
    LZ_TRY(lz_infer_body(c, "body", a->body, n));
    lz_shape s = x->shape;
    for (int d = 0; d < s.rank; d++) {
        lz_window_axis w = lz_window_of_reduce(a, d);
        LZ_TRY(count(c, &w, x->shape.dims[d], d, &s.dims[d]));
    }
    for (uint32_t i = n; i-- > 0;) {
        LZ_TRY(lz_infer_give(c, c->opnd[i]->dtype, &s));
        c->result[i] = c->result[0];
    }
    c->nresult = n;
    return LZ_OK;
}

/* ---- select_and_scatter ---- */

/* (a, b) -> boolean, of scalars of the operand's dtype. */
static lz_status check_select(const lz_infer *c, const lz_func *f)
{
    const lz_type *x = c->opnd[0];
    if (!f || f->nparam != 2 || f->nresult != 1)
        return LZ_FAIL(LZ_EINVAL, "%s: select has %u parameters and %u results, not 2 and 1",
                       c->name, f ? f->nparam : 0, f ? f->nresult : 0);
    for (uint32_t i = 0; i < 2; i++)
        if (lz_val_type(f, i)->shape.rank != 0 || lz_val_type(f, i)->dtype != x->dtype)
            return LZ_FAIL(LZ_EDTYPE, "%s: parameter %u of select is %s, but the operand is %s",
                           c->name, i, LZ_TT(lz_val_type(f, i)), LZ_TT(x));
    const lz_type *r = lz_val_type(f, f->results[0]);
    if (r->shape.rank != 0 || r->dtype != LZ_BOOL)
        return LZ_FAIL(LZ_EDTYPE, "%s: the result of select is %s, not a boolean", c->name,
                       LZ_TT(r));
    return LZ_OK;
}

lz_status lz_infer_select_and_scatter(lz_infer *c)
{
    const lz_attr_select_and_scatter *a = LZ_ATTR(select_and_scatter, c->attr);
    const lz_type *x = c->opnd[0], *source = c->opnd[1];
    const named lists[] = {{"window_dimensions", &a->window_dimensions, true},
                           {"window_strides", &a->window_strides, true},
                           {"padding_low", &a->padding_low, false},
                           {"padding_high", &a->padding_high, false}};
    LZ_TRY(check_lists(c, lists, 4, x->shape.rank, "the operand's rank"));
    LZ_TRY(lz_infer_same_dtype(c, 0, 1));
    LZ_TRY(scalar_of(c, 0, 2));
    LZ_TRY(check_select(c, a->select));
    LZ_TRY(lz_infer_body(c, "scatter", a->scatter, 1));
    lz_shape s = x->shape;
    for (int d = 0; d < s.rank; d++) {
        lz_window_axis w = lz_window_of_select(a, d);
        LZ_TRY(count(c, &w, x->shape.dims[d], d, &s.dims[d]));
    }
    if (!lz_shape_eq(&s, &source->shape)) {
        lz_ints want = lz_ints_make(s.rank, s.dims);
        return LZ_FAIL(LZ_ESHAPE, "%s: the source is %s, but there are %s windows", c->name,
                       LZ_TT(source), LZ_IT(&want));
    }
    c->result[0] = x;
    return LZ_OK;
}

/* ---- convolution ---- */

/* One operand's or the result's dimension numbers: every dimension exactly once. */
static lz_status check_numbers(const lz_infer *c, const char *of, int64_t p, int64_t q,
                               const lz_ints *spatial, int rank)
{
    lz_ints all = *spatial;
    if (spatial->n + 2 != rank)
        return LZ_FAIL(LZ_EINVAL, "%s: %s_spatial_dimensions = %s, but the rank is %d", c->name, of,
                       LZ_IT(spatial), rank);
    all.v[all.n++] = p;
    all.v[all.n++] = q;
    return lz_infer_dim_list(c, of, &all, rank, false);
}

static lz_status divides(const lz_infer *c, const char *group, int64_t count_, const char *what,
                         int64_t extent)
{
    if (extent % count_ == 0)
        return LZ_OK;
    return LZ_FAIL(LZ_ESHAPE, "%s: %s = %" PRId64 " does not divide %s, %" PRId64, c->name, group,
                   count_, what, extent);
}

static lz_status check_groups(const lz_infer *c, const lz_attr_convolution *a)
{
    const lz_shape *x = &c->opnd[0]->shape, *k = &c->opnd[1]->shape;
    int64_t fg = a->feature_group_count, bg = a->batch_group_count;
    if (fg < 1 || bg < 1)
        return LZ_FAIL(LZ_EINVAL,
                       "%s: feature_group_count = %" PRId64 " and batch_group_count = %" PRId64
                       " must be positive",
                       c->name, fg, bg);
    if (fg > 1 && bg > 1)
        return LZ_FAIL(LZ_EINVAL,
                       "%s: feature_group_count = %" PRId64 " and batch_group_count = %" PRId64
                       " are both larger than 1",
                       c->name, fg, bg);
    int64_t in = x->dims[a->input_feature_dimension],
            per = k->dims[a->kernel_input_feature_dimension],
            out = k->dims[a->kernel_output_feature_dimension];
    LZ_TRY(divides(c, "feature_group_count", fg, "the input features", in));
    LZ_TRY(divides(c, "feature_group_count", fg, "the output features", out));
    LZ_TRY(divides(c, "batch_group_count", bg, "the output features", out));
    LZ_TRY(divides(c, "batch_group_count", bg, "the batch", x->dims[a->input_batch_dimension]));
    if (in / fg != per)
        return LZ_FAIL(LZ_ESHAPE,
                       "%s: %s has %" PRId64 " input features in %" PRId64
                       " groups, but the kernel %s takes %" PRId64,
                       c->name, LZ_TT(c->opnd[0]), in, fg, LZ_TT(c->opnd[1]), per);
    return LZ_OK;
}

lz_status lz_infer_convolution(lz_infer *c)
{
    const lz_attr_convolution *a = LZ_ATTR(convolution, c->attr);
    const lz_type *x = c->opnd[0], *k = c->opnd[1];
    int rank = x->shape.rank;
    LZ_TRY(lz_infer_same_dtype(c, 0, 1));
    if (rank < 2 || k->shape.rank != rank)
        return LZ_FAIL(LZ_ESHAPE, "%s: %s and %s must have one rank, at least 2", c->name, LZ_TT(x),
                       LZ_TT(k));
    LZ_TRY(check_numbers(c, "input", a->input_batch_dimension, a->input_feature_dimension,
                         &a->input_spatial_dimensions, rank));
    LZ_TRY(check_numbers(c, "kernel", a->kernel_input_feature_dimension,
                         a->kernel_output_feature_dimension, &a->kernel_spatial_dimensions, rank));
    LZ_TRY(check_numbers(c, "output", a->output_batch_dimension, a->output_feature_dimension,
                         &a->output_spatial_dimensions, rank));
    const named lists[] = {{"window_strides", &a->window_strides, true},
                           {"lhs_dilation", &a->lhs_dilation, true},
                           {"rhs_dilation", &a->rhs_dilation, true},
                           {"padding_low", &a->padding_low, false},
                           {"padding_high", &a->padding_high, false},
                           {"window_reversal", &a->window_reversal, false}};
    LZ_TRY(check_lists(c, lists, 6, rank - 2, "the number of spatial dimensions"));
    for (int d = 0; d < rank - 2; d++)
        if (a->window_reversal.v[d] < 0 || a->window_reversal.v[d] > 1)
            return LZ_FAIL(LZ_EINVAL, "%s: window_reversal = %s holds more than booleans", c->name,
                           LZ_IT(&a->window_reversal));
    LZ_TRY(check_groups(c, a));
    lz_shape s = {.rank = rank};
    s.dims[a->output_batch_dimension] =
        x->shape.dims[a->input_batch_dimension] / a->batch_group_count;
    s.dims[a->output_feature_dimension] = k->shape.dims[a->kernel_output_feature_dimension];
    for (int d = 0; d < rank - 2; d++) {
        lz_window_axis w = lz_window_of_conv(a, d, &k->shape);
        if (w.size < 1)
            return LZ_FAIL(LZ_ESHAPE, "%s: the kernel %s has no window: spatial dimension %d is 0",
                           c->name, LZ_TT(k), d);
        LZ_TRY(count(c, &w, x->shape.dims[a->input_spatial_dimensions.v[d]], d,
                     &s.dims[a->output_spatial_dimensions.v[d]]));
    }
    return lz_infer_give(c, x->dtype, &s);
}

/* ---- window_view ---- */

lz_status lz_infer_window_view(lz_infer *c)
{
    const lz_attr_window_view *a = LZ_ATTR(window_view, c->attr);
    const lz_type *x = c->opnd[0];
    int64_t out[2 * LZ_MAX_RANK];
    int rank = x->shape.rank;
    const named lists[] = {{"sizes", &a->sizes, true},
                           {"strides", &a->strides, true},
                           {"dilations", &a->dilations, true}};
    LZ_TRY(lz_infer_dim_list(c, "dimensions", &a->dimensions, rank, true));
    LZ_TRY(check_lists(c, lists, 3, a->dimensions.n, "the number of dimensions"));
    for (int d = 0; d < rank; d++)
        out[d] = x->shape.dims[d];
    for (int i = 0; i < a->dimensions.n; i++) {
        lz_window_axis w = {a->sizes.v[i], a->strides.v[i], 0, 0, 1, a->dilations.v[i]};
        int64_t d = a->dimensions.v[i];
        LZ_TRY(count(c, &w, x->shape.dims[d], (int)d, &out[d]));
        out[rank + i] = a->sizes.v[i];
    }
    return lz_infer_give_dims(c, x->dtype, rank + a->dimensions.n, out);
}
