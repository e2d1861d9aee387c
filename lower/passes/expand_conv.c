/* expand_conv.c - pass `expand_windows`: convolution as a dot of the kernel with a view of all
 * windows (implicit im2col). See expand_window.c.
 *
 * Layouts. The input is transposed to [batch, spatial, feature] and padded; a window is then
 * contiguous along its last dimension and the features, and implicit GEMM reads it in place,
 * window row by window row. The kernel is transposed to [window, input feature, output feature].
 *   Windows longer than the result (gradient by the kernel: batch and pixels are contracted, input
 *   features are the rows): input [feature, spatial, batch], kernel [feature, window, output
 *   feature], the layouts that the other two convolutions of a layer use for the same values. Few
 *   features, many images: images are the vector lanes; input [feature, spatial, batch], kernel
 *   [output feature, feature, window], result [output feature, spatial, batch]. Where images are
 *   contracted, both factors have this layout, and the sums run along the lanes.
 *
 * Special cases. A dilated input skips the zeros between its elements (expand_conv_polyphase.c).
 * Groups are a batch dimension of the dot; without room for one, each group is a convolution of
 * its own. Window dimensions beyond the maximum rank are copied out first (explicit im2col).
 * Depthwise convolutions with short windows are reduced along the output features, since no GEMM
 * has their shape. A window of one element, or as large as the input, is a plain dot.
 *
 * Measured, f32, one thread: 32x64x8x8 with 64x64x3x3 takes 1.4 ms with the view, 17 ms with
 * explicit im2col; 8x64x56x56 takes 26 ms and 157 ms. A GEMM that stores features with a stride
 * takes 8.4 ms, so a result in another layout is transposed afterwards. */
#include "lower/passes/expand_conv.h"
#include <string.h>

enum {
    FEW_TERMS = 64,
    VECTOR = 64,       /* bytes; of the widest vectors there are */
    NEAR_TERMS = 2048, /* of a sum whose operands stay in the caches for some vectors of images */
};

static lz_val transpose(lz_func *f, lz_val x, const lz_ints *perm)
{
    bool same = true;
    for (int d = 0; d < perm->n; d++)
        same = same && perm->v[d] == d;
    return same ? x : lz_build_transpose(f, x, perm);
}

lz_val lz_windows_zero(lz_func *f, lz_dtype d)
{
    lz_shape scalar = LZ_SCALAR;
    const lz_type *t = lz_type_get(d, &scalar);
    if (!t)
        f->status = lz_error_get()->status;
    return t ? lz_build_splat_bits(f, t, 0) : LZ_NOVAL;
}

/* Materializes a value that is read many times in another layout than it has. */
static lz_val laid_out(lz_func *f, lz_val x)
{
    return x == LZ_NOVAL ? x : lz_build(f, LZ_OP_OPTIMIZATION_BARRIER, NULL, &x, 1);
}

/* The input as [batch, spatial.., groups, in]; groups only when there are several. With long
 * windows as [in, spatial.., batch]. */
static lz_val input(const conv *c, lz_val x)
{
    lz_func *f = c->f;
    lz_ints perm = {0};
    lz_shape s = {0};
    int64_t first = c->a->input_batch_dimension, last = c->a->input_feature_dimension;
    perm.v[perm.n++] = c->long_windows ? last : first;
    for (int d = 0; d < c->ns; d++)
        perm.v[perm.n++] = c->a->input_spatial_dimensions.v[d];
    perm.v[perm.n++] = c->long_windows ? first : last;
    x = transpose(f, x, &perm);
    if (c->batch_groups) { /* [groups, batch, spatial.., in] -> [batch, spatial.., groups, in] */
        s.dims[s.rank++] = c->groups;
        s.dims[s.rank++] = c->batch;
        perm.n = 0;
        for (int d = 0; d < c->ns; d++)
            s.dims[s.rank++] = c->ext[d];
        s.dims[s.rank++] = c->in;
        for (int d = 1; d < s.rank - 1; d++)
            perm.v[perm.n++] = d;
        perm.v[perm.n++] = 0;
        perm.v[perm.n++] = s.rank - 1;
        x = lz_build_transpose(f, lz_build_reshape(f, x, &s), &perm);
    }
    s.rank = 0;
    s.dims[s.rank++] = c->long_windows ? c->in : c->batch;
    for (int d = 0; d < c->ns; d++)
        s.dims[s.rank++] = c->ext[d];
    if (c->groups > 1)
        s.dims[s.rank++] = c->groups;
    s.dims[s.rank++] = c->long_windows ? c->batch : c->in;
    return lz_build_reshape(f, x, &s);
}

/* The input with all that windows reach. */
static lz_val padded(const conv *c, lz_val x)
{
    lz_window_axis w[LZ_MAX_RANK];
    int64_t count[LZ_MAX_RANK];
    const lz_window_axis still = {1, 1, 0, 0, 1, 1};
    if (x == LZ_NOVAL)
        return x;
    const lz_shape *s = &lz_val_type(c->f, x)->shape;
    for (int d = 0; d < s->rank; d++) {
        w[d] = d >= 1 && d <= c->ns ? c->w[d - 1] : still;
        count[d] = d >= 1 && d <= c->ns ? c->count[d - 1] : s->dims[d];
    }
    return lz_windows_pad(c->f, x, lz_windows_zero(c->f, c->d), w, count);
}

/* The kernel in the order that windows are walked in; whether it was in another one. */
static bool turn_back(const conv *c, lz_val *k)
{
    lz_attr_dims rev;
    memset(&rev, 0, sizeof rev);
    rev.kind = LZ_ATTR_dims;
    for (int d = 0; d < c->ns; d++)
        if (c->a->window_reversal.v[d] && c->w[d].size > 1)
            rev.dimensions.v[rev.dimensions.n++] = c->a->kernel_spatial_dimensions.v[d];
    if (rev.dimensions.n)
        *k = lz_build(c->f, LZ_OP_REVERSE, LZ_RECORD(rev), k, 1);
    return rev.dimensions.n > 0;
}

/* The kernel as [window.., groups, in, out]; with long windows as [in, window.., out]. */
static lz_val kernel(const conv *c, lz_val k)
{
    lz_func *f = c->f;
    lz_ints perm = {0};
    lz_shape s = {0};
    bool moved = turn_back(c, &k) || c->groups > 1;
    if (c->long_windows)
        perm.v[perm.n++] = c->a->kernel_input_feature_dimension;
    for (int d = 0; d < c->ns; d++)
        perm.v[perm.n++] = c->a->kernel_spatial_dimensions.v[d];
    if (!c->long_windows)
        perm.v[perm.n++] = c->a->kernel_input_feature_dimension;
    perm.v[perm.n++] = c->a->kernel_output_feature_dimension;
    for (int d = 0; d < perm.n; d++)
        moved |= perm.v[d] != d;
    k = transpose(f, k, &perm);
    if (c->groups > 1) { /* [window.., in, groups, out] -> [window.., groups, in, out] */
        for (int d = 0; d < c->ns; d++)
            s.dims[s.rank++] = c->w[d].size;
        s.dims[s.rank++] = c->in;
        s.dims[s.rank++] = c->groups;
        s.dims[s.rank++] = c->out;
        perm.n = s.rank;
        for (int d = 0; d < s.rank; d++)
            perm.v[d] = d;
        perm.v[c->ns] = c->ns + 1;
        perm.v[c->ns + 1] = c->ns;
        k = lz_build_transpose(f, lz_build_reshape(f, k, &s), &perm);
    }
    return moved ? laid_out(f, k) : k;
}

/* Window dimension `at` of x and k becomes part of the features: one dimension less to walk. */
static void take_apart(conv *c, int at, lz_val *x, lz_val *k)
{
    lz_func *f = c->f;
    lz_ints perm = {0};
    lz_shape s = lz_val_type(f, *x)->shape;
    int g = c->groups > 1;
    int64_t size = c->w[at].size;
    lz_attr_dim along = {.kind = LZ_ATTR_dim, .dimension = s.rank - 1};
    lz_val *part = lz_calloc((size_t)size, sizeof *part);
    if (!part) {
        f->status = LZ_FAIL(LZ_EMEM, "out of memory");
        return;
    }
    for (int64_t j = 0; j < size; j++) { /* [b, s.., g, in] for each element of the window */
        lz_attr_slice a;
        memset(&a, 0, sizeof a);
        a.kind = LZ_ATTR_slice;
        a.start_indices.n = s.rank;
        a.limit_indices = lz_ints_make(s.rank, s.dims);
        a.strides.n = s.rank;
        for (int d = 0; d < s.rank; d++)
            a.strides.v[d] = 1;
        a.start_indices.v[1 + at] = j * c->w[at].dilation;
        a.strides.v[1 + at] = c->w[at].stride;
        a.limit_indices.v[1 + at] =
            j * c->w[at].dilation + (c->count[at] - 1) * c->w[at].stride + 1;
        part[j] = lz_build(f, LZ_OP_SLICE, LZ_RECORD(a), x, 1);
    }
    *x = lz_build(f, LZ_OP_CONCATENATE, LZ_RECORD(along), part, (uint32_t)size);
    lz_free(part);
    perm.n = s.rank = 0; /* [k.., g, in, out] -> [the others, g, k in, out] */
    for (int d = 0; d < c->ns + g; d++) {
        if (d != at)
            perm.v[perm.n++] = d;
        s.dims[s.rank++] = d == at ? 1 : d < c->ns ? c->w[d].size : c->groups;
    }
    perm.v[perm.n++] = at;
    perm.v[perm.n++] = c->ns + g;
    perm.v[perm.n++] = c->ns + g + 1;
    s.dims[s.rank++] = c->w[at].size * c->in;
    s.dims[s.rank++] = c->out;
    *k = laid_out(f, lz_build_reshape(f, lz_build_transpose(f, *k, &perm), &s));
    c->in *= c->w[at].size;
    c->w[at] = (lz_window_axis){1, 1, 0, 0, 1, 1};
}

/* [batch, spatial.., features], in any cut of the features, as the result. With long windows the
 * batch comes after the spatial dimensions; with images in the lanes features come first, and the
 * batch comes last, or, where images were summed, second. */
static lz_val in_order(const conv *c, lz_val y, const lz_shape *r)
{
    lz_func *f = c->f;
    lz_shape s = {0};
    int64_t from[LZ_MAX_RANK];
    int batch = c->long_windows ? c->ns : 0, spatial = !c->long_windows, feature = c->ns + 1;
    if (c->lanes) {
        feature = 0;
        batch = c->long_windows ? 1 : c->ns + 1;
        spatial = c->long_windows ? 2 : 1;
    }
    s.rank = c->ns + 2;
    s.dims[batch] = c->batch;
    for (int d = 0; d < c->ns; d++)
        s.dims[spatial + d] = c->count[d];
    s.dims[feature] = c->groups * c->out;
    from[c->a->output_batch_dimension] = batch;
    for (int d = 0; d < c->ns; d++)
        from[c->a->output_spatial_dimensions.v[d]] = spatial + d;
    from[c->a->output_feature_dimension] = feature;
    bool moved = false;
    for (int d = 0; d < s.rank; d++)
        moved |= from[d] != d;
    /* in another order only once it is there: vectors run along the features */
    y = lz_build_reshape(f, moved ? laid_out(f, y) : y, &s);
    lz_ints back = lz_ints_make(r->rank, from);
    return transpose(f, y, &back);
}

/* [groups, batch, spatial.., out] as the result. */
static lz_val result(const conv *c, lz_val y, const lz_shape *r)
{
    lz_ints perm = {0};
    if (c->groups > 1) { /* to [batch, spatial.., groups, out] */
        for (int d = 1; d <= c->ns + 1; d++)
            perm.v[perm.n++] = d;
        perm.v[perm.n++] = 0;
        perm.v[perm.n++] = c->ns + 2;
        y = lz_build_transpose(c->f, y, &perm);
    }
    return in_order(c, y, r);
}

/* The windows that product walks, one per dimension of x. whole: the only window is all there is,
 * and is left out. */
static void walks(const conv *c, const lz_shape *s, lz_window_axis *w, int64_t *count, bool *whole)
{
    for (int d = 0; d < s->rank; d++) {
        w[d] = (lz_window_axis){1, 1, 0, 0, 1, 1};
        count[d] = s->dims[d];
        if (d < 1 || d > c->ns)
            continue;
        whole[d - 1] = c->count[d - 1] == 1 && c->w[d - 1].size > 1 && c->w[d - 1].dilation == 1;
        if (whole[d - 1])
            continue;
        w[d] = c->w[d - 1];
        count[d] = c->count[d - 1];
    }
}

/* The kernel as [groups, window.., in, out], without windows of one element; with long windows as
 * [in, window.., out]. */
static lz_val kernel_factor(const conv *c, lz_val k)
{
    lz_ints perm = {0};
    lz_shape s = {0};
    if (c->groups > 1) {
        s.dims[s.rank++] = c->groups;
        perm.v[perm.n++] = c->ns;
        for (int d = 0; d < c->ns; d++)
            perm.v[perm.n++] = d;
        perm.v[perm.n++] = c->ns + 1;
        perm.v[perm.n++] = c->ns + 2;
        k = lz_build_transpose(c->f, k, &perm);
    }
    if (c->long_windows)
        s.dims[s.rank++] = c->in;
    for (int d = 0; d < c->ns; d++)
        if (c->w[d].size > 1)
            s.dims[s.rank++] = c->w[d].size;
    if (!c->long_windows)
        s.dims[s.rank++] = c->in;
    s.dims[s.rank++] = c->out;
    return lz_build_reshape(c->f, k, &s);
}

/* [groups, batch, spatial.., out]; with long windows [spatial.., batch, out] */
static lz_val product(const conv *c, lz_val x, lz_val k)
{
    lz_func *f = c->f;
    lz_window_axis w[LZ_MAX_RANK];
    int64_t count[LZ_MAX_RANK];
    lz_attr_dot a;
    bool whole[LZ_MAX_RANK] = {false};
    int g = c->groups > 1, rank = c->ns + 2 + g, extra = rank;
    if (x == LZ_NOVAL || k == LZ_NOVAL)
        return LZ_NOVAL;
    walks(c, &lz_val_type(f, x)->shape, w, count, whole);
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_dot;
    a.precision = c->a->precision;
    lz_ints *l = &a.lhs_contracting_dimensions, *r = &a.rhs_contracting_dimensions;
    if (g) {
        a.lhs_batching_dimensions = (lz_ints){1, {c->ns + 1}};
        a.rhs_batching_dimensions = (lz_ints){1, {0}};
    }
    if (c->long_windows)
        l->v[l->n++] = 0;
    for (int d = 0; d < c->ns; d++)
        if (c->w[d].size > 1)
            l->v[l->n++] = whole[d] ? 1 + d : extra++;
    if (!c->long_windows)
        l->v[l->n++] = rank - 1;
    for (int d = 0; d < l->n; d++)
        r->v[r->n++] = g + d;
    lz_val o[2] = {lz_windows_view(f, x, w, count), kernel_factor(c, k)};
    lz_val y = lz_build(f, LZ_OP_DOT_GENERAL, LZ_RECORD(a), o, 2);
    lz_shape full = {0};
    if (g)
        full.dims[full.rank++] = c->groups;
    if (!c->long_windows)
        full.dims[full.rank++] = c->batch;
    for (int d = 0; d < c->ns; d++)
        full.dims[full.rank++] = c->count[d];
    if (c->long_windows)
        full.dims[full.rank++] = c->batch;
    full.dims[full.rank++] = c->out;
    return lz_build_reshape(f, y, &full);
}

/* ---- images in the lanes ---- */

/* Of full vectors of images, where features would leave a quarter of their lanes empty, and where
 * each element is used several times. The images are what is summed, in a gradient by the kernel,
 * or the batch. */
static bool has_images_in_lanes(const conv *c, int walked)
{
    if ((c->d != LZ_F32 && c->d != LZ_F64) || c->groups > 1 || walked == 0 ||
        c->ns + 2 + walked > LZ_MAX_RANK)
        return false;
    int64_t images = c->long_windows ? c->in : c->batch, terms = c->long_windows ? 1 : c->in,
            places = 1, lanes = VECTOR / (int64_t)lz_dtype_size(c->d);
    for (int d = 0; d < c->ns; d++) {
        terms *= c->long_windows ? c->count[d] : c->w[d].size;
        places *= c->long_windows ? c->w[d].size : c->count[d];
        if (c->w[d].base > 1 || terms > NEAR_TERMS)
            return false;
    }
    int64_t used = (c->out + lanes - 1) / lanes * lanes;
    return images > 0 && images % lanes == 0 && c->out * 4 <= used * 3 && places > 1;
}

/* [first, spatial.., last], in memory of its own */
static lz_val between(const conv *c, lz_val x, int64_t first, const lz_ints *spatial, int64_t last)
{
    lz_ints perm = {0};
    perm.v[perm.n++] = first;
    for (int d = 0; d < c->ns; d++)
        perm.v[perm.n++] = spatial->v[d];
    perm.v[perm.n++] = last;
    lz_val y = transpose(c->f, x, &perm);
    return y == x ? x : laid_out(c->f, y);
}

/* The kernel as [out, in, window..]; where images are summed, as [out, window.., in]. */
static lz_val kernel_of_images(const conv *c, lz_val k)
{
    const lz_attr_convolution *a = c->a;
    lz_ints perm = {0};
    bool moved = turn_back(c, &k);
    perm.v[perm.n++] = a->kernel_output_feature_dimension;
    if (!c->long_windows)
        perm.v[perm.n++] = a->kernel_input_feature_dimension;
    for (int d = 0; d < c->ns; d++)
        perm.v[perm.n++] = a->kernel_spatial_dimensions.v[d];
    if (c->long_windows)
        perm.v[perm.n++] = a->kernel_input_feature_dimension;
    lz_val y = transpose(c->f, k, &perm);
    return moved || y != k ? laid_out(c->f, y) : y;
}

/* [out, spatial.., batch]; where images are summed [out, batch, spatial..] */
static lz_val product_of_images(const conv *c, lz_val x, lz_val k)
{
    lz_func *f = c->f;
    const lz_attr_convolution *a = c->a;
    lz_window_axis w[LZ_MAX_RANK];
    int64_t count[LZ_MAX_RANK];
    lz_attr_dot dot;
    bool whole[LZ_MAX_RANK] = {false};
    int rank = c->ns + 2, extra = rank, feature = c->long_windows ? c->ns + 1 : 0;
    x = c->long_windows ? between(c, x, a->input_batch_dimension, &a->input_spatial_dimensions,
                                  a->input_feature_dimension)
                        : between(c, x, a->input_feature_dimension, &a->input_spatial_dimensions,
                                  a->input_batch_dimension);
    x = padded(c, x);
    k = kernel_of_images(c, k);
    if (x == LZ_NOVAL || k == LZ_NOVAL)
        return LZ_NOVAL;
    walks(c, &lz_val_type(f, x)->shape, w, count, whole);
    memset(&dot, 0, sizeof dot);
    dot.kind = LZ_ATTR_dot;
    dot.precision = a->precision;
    lz_ints *l = &dot.lhs_contracting_dimensions, *r = &dot.rhs_contracting_dimensions;
    if (!c->long_windows) {
        l->v[l->n++] = 1;
        r->v[r->n++] = feature;
    }
    for (int d = 0; d < c->ns; d++) {
        if (c->w[d].size == 1)
            continue;
        l->v[l->n++] = (c->long_windows ? 1 : 2) + d;
        r->v[r->n++] = whole[d] ? 1 + d : extra++;
    }
    if (c->long_windows) {
        l->v[l->n++] = c->ns + 1;
        r->v[r->n++] = feature;
    }
    lz_val o[2] = {k, lz_windows_view(f, x, w, count)};
    return lz_build(f, LZ_OP_DOT_GENERAL, LZ_RECORD(dot), o, 2);
}

/* ---- one input feature a group: products of short windows, summed, along the output features
 * ---- */

static bool is_thin(const conv *c, int walked)
{
    int64_t terms = 1;
    for (int d = 0; d < c->ns; d++)
        terms = terms > FEW_TERMS ? terms : terms * c->w[d].size;
    return c->groups > 1 && c->in == 1 && terms <= FEW_TERMS && c->ns + 3 + walked <= LZ_MAX_RANK;
}

/* x [batch, spatial.., groups, 1], k [window.., groups, 1, out]: [batch, spatial.., groups *
 * out] */
static lz_val thin_product(const conv *c, lz_val x, lz_val k)
{
    lz_func *f = c->f;
    lz_window_axis w[LZ_MAX_RANK];
    int64_t count[LZ_MAX_RANK];
    lz_dtype acc = lz_acc_dtype(c->d);
    lz_shape s = {0}, ks = {0}, full;
    lz_ints from_x = {0}, from_k = {0}, summed = {0};
    if (x == LZ_NOVAL || k == LZ_NOVAL)
        return LZ_NOVAL;
    s.dims[s.rank++] = c->batch; /* x without the feature */
    for (int d = 0; d < c->ns; d++)
        s.dims[s.rank++] = lz_val_type(f, x)->shape.dims[1 + d];
    s.dims[s.rank++] = c->groups;
    for (int d = 0; d < s.rank; d++) {
        w[d] = d >= 1 && d <= c->ns ? c->w[d - 1] : (lz_window_axis){1, 1, 0, 0, 1, 1};
        count[d] = d >= 1 && d <= c->ns ? c->count[d - 1] : s.dims[d];
    }
    lz_val v = lz_windows_view(f, lz_build_reshape(f, x, &s), w, count);
    if (v == LZ_NOVAL)
        return v;
    /* [batch, spatial.., groups, out, window..] */
    const lz_shape *vs = &lz_val_type(f, v)->shape;
    full = (lz_shape){.rank = vs->rank + 1};
    for (int d = 0; d < full.rank; d++) {
        full.dims[d] = d == s.rank ? c->out : vs->dims[d - (d > s.rank)];
        if (d != s.rank)
            from_x.v[from_x.n++] = d;
        if (d > s.rank) {
            summed.v[summed.n++] = d;
            from_k.v[from_k.n++] = d;
            ks.dims[ks.rank++] = full.dims[d];
        }
    }
    from_k.v[from_k.n++] = s.rank - 1;
    from_k.v[from_k.n++] = s.rank;
    ks.dims[ks.rank++] = c->groups;
    ks.dims[ks.rank++] = c->out;
    v = lz_build_broadcast(f, lz_build_convert(f, v, acc), &from_x, &full);
    k = lz_build_broadcast(f, lz_build_convert(f, lz_build_reshape(f, k, &ks), acc), &from_k,
                           &full);
    lz_val y = lz_build_ew2(f, LZ_OP_MULTIPLY, v, k), none = lz_windows_zero(f, acc);
    y = summed.n ? lz_build_reduce(f, LZ_OP_ADD, y, none, &summed) : y;
    return lz_build_convert(f, y, c->d);
}

static lz_val convolve(lz_func *f, const lz_attr_convolution *a, lz_val x, lz_val k,
                       const lz_type *r);

/* Each group by itself, the results side by side. */
static lz_val group_by_group(lz_func *f, const lz_attr_convolution *a, lz_val x, lz_val k,
                             const lz_type *r)
{
    int64_t n = a->feature_group_count * a->batch_group_count;
    bool features = a->feature_group_count > 1;
    int xd = (int)(features ? a->input_feature_dimension : a->input_batch_dimension),
        kd = (int)a->kernel_output_feature_dimension;
    int64_t nx = lz_val_type(f, x)->shape.dims[xd] / n, nk = lz_val_type(f, k)->shape.dims[kd] / n;
    lz_attr_convolution one = *a;
    lz_attr_dim along = {.kind = LZ_ATTR_dim, .dimension = a->output_feature_dimension};
    lz_shape s = r->shape;
    lz_val *part = lz_calloc((size_t)n, sizeof *part), v = LZ_NOVAL;
    one.feature_group_count = one.batch_group_count = 1;
    s.dims[a->output_feature_dimension] /= n;
    const lz_type *t = lz_type_get(r->dtype, &s);
    if (!part || !t)
        f->status = part ? lz_error_get()->status : LZ_FAIL(LZ_EMEM, "out of memory");
    for (int64_t g = 0; g < n && f->status == LZ_OK; g++)
        part[g] = convolve(f, &one, lz_windows_slice(f, x, xd, g * nx, (g + 1) * nx, 1),
                           lz_windows_slice(f, k, kd, g * nk, (g + 1) * nk, 1), t);
    if (f->status == LZ_OK)
        v = lz_build(f, LZ_OP_CONCATENATE, LZ_RECORD(along), part, (uint32_t)n);
    lz_free(part);
    return v;
}

/* Windows along dimensions for which the rank has no room are copied out. Gives how many are
 * left. */
static int make_room(conv *c, int walked, lz_val *x, lz_val *k)
{
    for (int d = 0; d < c->ns && c->ns + 2 + (c->groups > 1) + walked > LZ_MAX_RANK; d++) {
        if (c->w[d].size == 1 || *x == LZ_NOVAL || *k == LZ_NOVAL)
            continue;
        take_apart(c, d, x, k);
        walked--;
    }
    return walked;
}

/* Few or no dilated dimensions: of the windows where they lie. */
lz_val lz_windows_product(const conv *c, lz_val x, lz_val k)
{
    conv whole = *c;
    int walked = 0;
    for (int q = 0; q < c->ns; q++)
        walked += c->w[q].size > 1;
    x = padded(c, x);
    (void)make_room(&whole, walked, &x, &k);
    return product(&whole, x, k);
}

/* Sums over more elements of windows than there are windows, of an input whose features lie outside
 * of its batch: a gradient by a kernel. */
static bool has_long_windows(const conv *c, int walked)
{
    double length = 1, count = 1;
    if (c->a->input_feature_dimension > c->a->input_batch_dimension)
        return false;
    for (int d = 0; d < c->ns; d++) {
        length *= (double)c->w[d].size;
        count *= (double)c->count[d];
    }
    return c->groups == 1 && length > count && c->ns + 2 + walked <= LZ_MAX_RANK;
}

static lz_val convolve(lz_func *f, const lz_attr_convolution *a, lz_val x, lz_val k,
                       const lz_type *r)
{
    if (x == LZ_NOVAL || k == LZ_NOVAL)
        return LZ_NOVAL;
    const lz_shape *xs = &lz_val_type(f, x)->shape, *ks = &lz_val_type(f, k)->shape;
    conv c = {.f = f, .a = a, .d = r->dtype, .ns = xs->rank - 2};
    int walked = 0;
    c.batch_groups = a->batch_group_count > 1;
    c.groups = a->feature_group_count * a->batch_group_count;
    if (c.ns + 2 + (c.groups > 1) > LZ_MAX_RANK)
        return group_by_group(f, a, x, k, r);
    c.batch = xs->dims[a->input_batch_dimension] / a->batch_group_count;
    c.in = ks->dims[a->kernel_input_feature_dimension];
    c.out = ks->dims[a->kernel_output_feature_dimension] / c.groups;
    for (int d = 0; d < c.ns; d++) {
        c.w[d] = lz_window_of_conv(a, d, ks);
        c.ext[d] = xs->dims[a->input_spatial_dimensions.v[d]];
        c.count[d] = r->shape.dims[a->output_spatial_dimensions.v[d]];
        walked += c.w[d].size > 1;
    }
    c.long_windows = has_long_windows(&c, walked);
    c.lanes = has_images_in_lanes(&c, walked);
    if (c.lanes)
        return in_order(&c, product_of_images(&c, x, k), &r->shape);
    x = input(&c, x);
    k = kernel(&c, k);
    if (lz_windows_has_phases(&c))
        return in_order(&c, lz_windows_phases(&c, x, k), &r->shape);
    x = padded(&c, x);
    walked = make_room(&c, walked, &x, &k);
    if (is_thin(&c, walked))
        return in_order(&c, thin_product(&c, x, k), &r->shape);
    return result(&c, product(&c, x, k), &r->shape);
}

lz_val lz_windows_conv(lz_rw *rw, uint32_t i)
{
    const lz_sig *sig = rw->in->insts[i].sig;
    /* an input of nothing may be padded: then the kernel meets zeros, and its infinities give
     * NaN */
    if (sig->result[0]->nelem == 0 || sig->opnd[1]->nelem == 0)
        return lz_build_splat_bits(rw->out, sig->result[0], 0);
    return convolve(rw->out, LZ_ATTR(convolution, sig->attr), lz_rw_opnd(rw, i, 0),
                    lz_rw_opnd(rw, i, 1), sig->result[0]);
}
