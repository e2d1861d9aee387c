/* gen_window.c - random operations on windows. See gen_internal.h. */
#include "ir/window.h"
#include "support/gen_internal.h"
#include <math.h>
#include <string.h>

static void put(lz_ints *v, int64_t x)
{
    v->v[v->n++] = x;
}

/* One dimension's window, such that some windows fit most of the time and none holds too much. */
static lz_window_axis window(gen *g, int64_t extent, bool dilate, int64_t *left)
{
    lz_window_axis w = {1, 1, 0, 0, 1, 1};
    if (CHANCE(40))
        return w;
    int64_t most = *left < 5 ? *left : 5;
    w.size = RND(1, most < 1 ? 1 : most);
    if (CHANCE(25) && extent > 0 && extent <= *left) /* all of it */
        w.size = extent;
    *left /= w.size;
    w.stride = CHANCE(50) ? 1 : CHANCE(50) ? w.size : RND(1, 3);
    if (dilate && CHANCE(25))
        w.base = RND(1, 3);
    if (dilate && CHANCE(25))
        w.dilation = RND(1, 3);
    if (CHANCE(50)) {
        w.low = RND(CHANCE(20) ? -2 : 0, 3);
        w.high = RND(CHANCE(20) ? -2 : 0, 3);
    }
    if (w.size == extent && CHANCE(40)) { /* prefixes, suffixes */
        w = (lz_window_axis){extent, 1, 0, 0, 1, 1};
        *(CHANCE(50) ? &w.low : &w.high) = extent - 1;
    }
    return w;
}

static bool combines(lz_op op, lz_dtype d)
{
    const uint32_t need = LZ_F_COMM | LZ_F_ASSOC;
    return lz_op_get(op)->cls == LZ_CLASS_EW && (lz_op_get(op)->flags & need) == need &&
           lz_op_accepts(op, d);
}

static lz_op combiner(gen *g, lz_dtype d)
{
    for (;;) {
        lz_op op = CHANCE(40) ? LZ_OP_ADD : (lz_op)RND(1, LZ_OP_COUNT - 1);
        if (combines(op, d))
            return op;
    }
}

static lz_val constant(gen *g, lz_dtype d, double v)
{
    lz_literal *l = lz_dtype_is_complex(d) ? NULL : lz_literal_scalar(d, v);
    lz_val r = l ? lz_build_const(g->f, l) : gen_make(g, d, &gen_scalar);
    lz_literal_release(l);
    return r;
}

static lz_val op_reduce_window(gen *g)
{
    lz_val a = gen_pick(g, LZ_OP_REDUCE_WINDOW);
    if (a == LZ_NOVAL)
        return a;
    const lz_type *t = gen_type(g, a);
    lz_attr_reduce_window at = {.kind = LZ_ATTR_reduce_window};
    int64_t left = 400;
    bool long_one = false; /* long prefixes: what is combined must be a monoid */
    for (int d = 0; d < t->shape.rank; d++) {
        lz_window_axis w = window(g, t->shape.dims[d], true, &left);
        put(&at.window_dimensions, w.size);
        put(&at.window_strides, w.stride);
        put(&at.base_dilations, w.base);
        put(&at.window_dilations, w.dilation);
        put(&at.padding_low, w.low);
        put(&at.padding_high, w.high);
        long_one |= w.size > 30;
    }
    if ((CHANCE(25) || long_one) &&
        !lz_dtype_is_complex(t->dtype)) { /* the largest and its position */
        lz_dtype p = LZ_I32;
        bool max = CHANCE(50);
        at.body = lz_region_arg(max, t->dtype, p);
        lz_val b = gen_make(g, p, &t->shape);
        double end = lz_dtype_is_float(t->dtype) ? INFINITY : t->dtype == LZ_BOOL ? 1 : 1e30;
        lz_val o[4] = {a, b,
                       constant(g, t->dtype,
                                !max                                                    ? end
                                : lz_dtype_is_unsigned(t->dtype) || t->dtype == LZ_BOOL ? 0
                                                                                        : -end),
                       constant(g, p, INT32_MAX)};
        return at.body ? gen_build(g, LZ_OP_REDUCE_WINDOW, &at, o, 4) : LZ_NOVAL;
    }
    lz_op op = combiner(g, t->dtype);
    at.body = lz_region_binary(op, t->dtype);
    bool zero = lz_op_has(op, LZ_F_ID0) && CHANCE(60);
    lz_val o[2] = {a, zero ? constant(g, t->dtype, 0) : gen_make(g, t->dtype, &gen_scalar)};
    return at.body ? gen_build(g, LZ_OP_REDUCE_WINDOW, &at, o, 2) : LZ_NOVAL;
}

/* (a, b) -> a >= b, in a total order: which element is chosen must not depend on the order of
 * comparisons. */
static const lz_func *select_region(gen *g, lz_dtype d)
{
    const lz_type *t = lz_type_get(d, &gen_scalar);
    lz_func *f = t ? lz_func_new("select") : NULL;
    if (!f)
        return NULL;
    lz_val o[2] = {lz_build_param(f, t), lz_build_param(f, t)};
    lz_attr_compare at = {.kind = LZ_ATTR_compare,
                          .comparison_direction = CHANCE(50) ? LZ_CMP_GE : LZ_CMP_LE};
    at.compare_type = lz_dtype_is_float(d) ? LZ_CT_TOTALORDER : LZ_CT_NOTYPE;
    lz_literal *yes =
        lz_dtype_is_complex(d) ? lz_literal_scalar(LZ_BOOL, 1) : NULL; /* no order: the first */
    lz_val v = lz_dtype_is_complex(d)
                   ? lz_build_const(f, yes)
                   : lz_build(f, LZ_OP_COMPARE, (const lz_attr *)(const void *)&at, o, 2);
    lz_literal_release(yes);
    const lz_func *r =
        v != LZ_NOVAL && lz_func_set_results(f, &v, 1) == LZ_OK ? lz_region_intern(f) : NULL;
    lz_func_free(f);
    return r;
}

static lz_val op_select_and_scatter(gen *g)
{
    lz_val a = gen_pick(g, LZ_OP_SELECT_AND_SCATTER);
    if (a == LZ_NOVAL)
        return a;
    const lz_type *t = gen_type(g, a);
    lz_attr_select_and_scatter at = {.kind = LZ_ATTR_select_and_scatter};
    lz_shape s = {.rank = t->shape.rank};
    int64_t left = 60;
    for (int d = 0; d < s.rank; d++) {
        lz_window_axis w = window(g, t->shape.dims[d], false, &left);
        put(&at.window_dimensions, w.size);
        put(&at.window_strides, w.stride);
        put(&at.padding_low, w.low);
        put(&at.padding_high, w.high);
        if (!lz_window_count(&w, t->shape.dims[d], &s.dims[d]))
            return LZ_NOVAL;
    }
    at.select = select_region(g, t->dtype);
    at.scatter = lz_region_binary(combiner(g, t->dtype), t->dtype);
    if (!at.select || !at.scatter)
        return LZ_NOVAL;
    lz_val o[3] = {a, gen_make(g, t->dtype, &s), gen_make(g, t->dtype, &gen_scalar)};
    return gen_build(g, LZ_OP_SELECT_AND_SCATTER, &at, o, 3);
}

/* Dimension numbers in random order: first, second, spatial.. */
static void numbers(gen *g, int rank, int64_t *first, int64_t *second, lz_ints *spatial)
{
    int order[LZ_MAX_RANK] = {0};
    lz_rnd_shuffle(&g->r, rank, order);
    *first = order[0];
    *second = order[1];
    spatial->n = rank - 2;
    for (int d = 2; d < rank; d++)
        spatial->v[d - 2] = order[d];
}

static lz_val op_convolution(gen *g)
{
    lz_val a = gen_pick(g, LZ_OP_CONVOLUTION);
    if (a == LZ_NOVAL || gen_type(g, a)->shape.rank < 2)
        return LZ_NOVAL;
    const lz_type *t = gen_type(g, a);
    int rank = t->shape.rank;
    lz_attr_convolution at = {.kind = LZ_ATTR_convolution,
                              .feature_group_count = 1,
                              .batch_group_count = 1,
                              .precision = (int32_t)RND(0, 2)};
    numbers(g, rank, &at.input_batch_dimension, &at.input_feature_dimension,
            &at.input_spatial_dimensions);
    numbers(g, rank, &at.kernel_input_feature_dimension, &at.kernel_output_feature_dimension,
            &at.kernel_spatial_dimensions);
    numbers(g, rank, &at.output_batch_dimension, &at.output_feature_dimension,
            &at.output_spatial_dimensions);
    int64_t in = t->shape.dims[at.input_feature_dimension],
            batch = t->shape.dims[at.input_batch_dimension], left = 60;
    lz_shape k = {.rank = rank};
    int64_t groups = RND(1, 3), out = RND(1, 4);
    if (CHANCE(30) && in % groups == 0)
        at.feature_group_count = groups;
    else if (CHANCE(30) && batch % groups == 0)
        at.batch_group_count = groups;
    else
        groups = 1;
    k.dims[at.kernel_input_feature_dimension] = in / at.feature_group_count;
    k.dims[at.kernel_output_feature_dimension] = out * groups;
    for (int d = 0; d < rank - 2; d++) {
        lz_window_axis w = window(g, t->shape.dims[at.input_spatial_dimensions.v[d]], true, &left);
        k.dims[at.kernel_spatial_dimensions.v[d]] = w.size;
        put(&at.window_strides, w.stride);
        put(&at.padding_low, w.low);
        put(&at.padding_high, w.high);
        put(&at.lhs_dilation, w.base);
        put(&at.rhs_dilation, w.dilation);
        put(&at.window_reversal, CHANCE(20));
    }
    lz_val o[2] = {a, gen_make(g, t->dtype, &k)};
    return gen_build(g, LZ_OP_CONVOLUTION, &at, o, 2);
}

lz_val gen_window_view(gen *g, lz_val a)
{
    const lz_shape *s = &gen_type(g, a)->shape;
    lz_attr_window_view at = {.kind = LZ_ATTR_window_view};
    int64_t left = 60;
    for (int d = 0; d < s->rank && s->rank + at.dimensions.n < LZ_MAX_RANK; d++) {
        if (CHANCE(50))
            continue;
        lz_window_axis w = window(g, s->dims[d], true, &left);
        put(&at.dimensions, d);
        put(&at.sizes, w.size);
        put(&at.strides, w.stride);
        put(&at.dilations, w.dilation);
    }
    return gen_build(g, LZ_OP_WINDOW_VIEW, &at, &a, 1);
}

lz_val gen_window(gen *g, lz_op op)
{
    return op == LZ_OP_REDUCE_WINDOW ? op_reduce_window(g)
           : op == LZ_OP_CONVOLUTION ? op_convolution(g)
                                     : op_select_and_scatter(g);
}
