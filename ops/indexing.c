/* indexing.c - indexing, choosing, activations and scalar operands with ATen's rules:
 * include/lazuli/tensor_ops.h. */
#include "ops/index_builder.h"
#include "ops/compose.h"
#include <inttypes.h>
#include <lazuli/hlo.h>
#include <lazuli/tensor_ops.h>
#include <math.h>

static const lz_type *type_of(const lz_node *x)
{
    return lz_node_type(x);
}

bool lz_tracer_is_index(const lz_node *x)
{
    lz_dtype d = type_of(x)->dtype;
    if (d == LZ_I32 || d == LZ_I64)
        return true;
    LZ_FAIL(LZ_EDTYPE, "the index is %s: it must be i32 or i64", lz_dtype_name(d));
    return false;
}

/* What no indices pick out of a dimension of extent 0: a slice of extent 1 would not fit into
 * it. */
static lz_node *take_nothing(lz_tracer *c, lz_node *x, int64_t dim, const lz_shape *index)
{
    const lz_shape *s = &type_of(x)->shape;
    lz_shape r = lz_shape_make(0, NULL);
    for (int i = 0; i < s->rank; i++) {
        for (int k = 0; i == dim && k < index->rank; k++)
            r.dims[r.rank++] = index->dims[k];
        if (i != dim)
            r.dims[r.rank++] = s->dims[i];
    }
    return lz_tracer_reshape(c, x, &r);
}

/* Slices of x with extent 1 at dim, at the positions in `index`, whose dimensions come in the place
 * of dim. */
lz_node *lz_tracer_take(lz_tracer *c, lz_node *x, int64_t dim, lz_node *index)
{
    if (!x || !index)
        return NULL;
    const lz_shape *s = &type_of(x)->shape, *is = &type_of(index)->shape;
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_gather);
    if (s->rank - 1 + is->rank > LZ_MAX_RANK) {
        LZ_FAIL(LZ_ESHAPE, "the result would have rank %d", s->rank - 1 + is->rank);
        return NULL;
    }
    for (int i = 0; i < s->rank; i++)
        if (i != dim)
            a.as_gather.offset_dims.v[a.as_gather.offset_dims.n++] = i < dim ? i : i - 1 + is->rank;
    a.as_gather.collapsed_slice_dims = a.as_gather.start_index_map = (lz_ints){.n = 1, .v = {dim}};
    a.as_gather.index_vector_dim = is->rank;
    a.as_gather.slice_sizes = lz_ints_make(s->rank, s->dims);
    a.as_gather.slice_sizes.v[dim] = 1;
    lz_node *o[2] = {x, index};
    if (s->dims[dim] == 0 && type_of(index)->nelem == 0) /* nothing out of nothing */
        return take_nothing(c, x, dim, is);
    return lz_tracer_op(c, LZ_OP_GATHER, &a.head, o, 2);
}

static lz_node *index_select(lz_tracer *c, lz_node *x, int64_t dim, lz_node *index)
{
    char text[128];
    if (!x || !index || !lz_tracer_is_index(index))
        return NULL;
    if (type_of(x)->shape.rank == 0 || type_of(index)->shape.rank != 1) {
        LZ_FAIL(LZ_ESHAPE,
                "x has rank %d and the index is %s: x must not be a scalar, the index has one "
                "dimension",
                type_of(x)->shape.rank, lz_type_short(type_of(index), text, sizeof text));
        return NULL;
    }
    return lz_tracer_dim(dim, type_of(x)->shape.rank, &dim) ? lz_tracer_take(c, x, dim, index)
                                                            : NULL;
}

lz_tensor *lz_index_select_at(lz_tensor *x, int64_t dim, lz_tensor *index, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_index_select");
    lz_node *n = lz_tracer_in(c, x), *i = n ? lz_tracer_in(c, index) : NULL;
    return lz_tracer_end(c, index_select(c, n, dim, i));
}

lz_tensor *lz_embedding_at(lz_tensor *weight, lz_tensor *indices, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_embedding");
    lz_node *w = lz_tracer_in(c, weight), *i = w ? lz_tracer_in(c, indices) : NULL;
    if (i && type_of(w)->shape.rank != 2) {
        LZ_FAIL(LZ_ESHAPE, "weight has rank %d: it must be [rows, width]", type_of(w)->shape.rank);
        i = NULL;
    }
    return lz_tracer_end(c, i && lz_tracer_is_index(i) ? lz_tracer_take(c, w, 0, i) : NULL);
}

/* Whether x and the index (and src) have equal rank and the index fits; dim from the front. */
static bool index_fits(const lz_node *x, int64_t *dim, const lz_node *index, const lz_node *src)
{
    char tx[128], ti[128], ts[128] = "";
    if (!lz_tracer_is_index(index) || !lz_tracer_dim(*dim, type_of(x)->shape.rank, dim))
        return false;
    const lz_shape *s = &type_of(x)->shape, *is = &type_of(index)->shape,
                   *ss = src ? &type_of(src)->shape : is;
    bool ok = s->rank == is->rank && s->rank == ss->rank;
    for (int i = 0; ok && i < s->rank; i++)
        ok = (i == *dim || is->dims[i] <= s->dims[i]) && is->dims[i] <= ss->dims[i];
    if (!ok)
        LZ_FAIL(LZ_ESHAPE,
                "x is %s, the index %s%s%s: equal ranks are needed, and an index that is not "
                "larger outside dimension %" PRId64,
                lz_type_short(type_of(x), tx, sizeof tx),
                lz_type_short(type_of(index), ti, sizeof ti), src ? ", src " : "",
                src ? lz_type_short(type_of(src), ts, sizeof ts) : "", *dim);
    return ok;
}

/* The first elements of every dimension (but `not`, -1: none) as in `shape`. */
static lz_node *crop(lz_tracer *c, lz_node *x, const lz_shape *shape, int64_t except)
{
    const lz_shape *s = &type_of(x)->shape;
    lz_ints lo = {.n = s->rank}, hi = {.n = s->rank}, st = {.n = s->rank};
    bool same = true;
    for (int i = 0; i < s->rank; i++) {
        hi.v[i] = i == except ? s->dims[i] : shape->dims[i];
        st.v[i] = 1;
        same &= hi.v[i] == s->dims[i];
    }
    return same ? x : lz_tracer_slice(c, x, &lo, &hi, &st);
}

static lz_ints all_but(int rank, int64_t dim)
{
    lz_ints v = {0};
    for (int i = 0; i < rank; i++)
        if (i != dim)
            v.v[v.n++] = i;
    return v;
}

lz_node *lz_tracer_gather(lz_tracer *c, lz_node *x, int64_t dim, lz_node *index)
{
    lz_attr_any a;
    if (!x || !index || !index_fits(x, &dim, index, NULL))
        return NULL;
    const lz_shape is = type_of(index)->shape;
    if (is.rank == 0)
        return x;
    if (type_of(x)->nelem == 0 &&
        type_of(index)->nelem == 0) /* a slice of extent 1 would not fit */
        return lz_tracer_reshape(c, x, &is);
    x = crop(c, x, &is, dim);
    lz_attr_init(&a, LZ_ATTR_gather);
    a.as_gather.collapsed_slice_dims = a.as_gather.start_index_map = (lz_ints){.n = 1, .v = {dim}};
    a.as_gather.operand_batching_dims = a.as_gather.start_indices_batching_dims =
        all_but(is.rank, dim);
    a.as_gather.index_vector_dim = is.rank;
    a.as_gather.slice_sizes.n = is.rank;
    for (int i = 0; i < is.rank; i++)
        a.as_gather.slice_sizes.v[i] = 1;
    lz_node *o[2] = {x, index};
    return lz_tracer_op(c, LZ_OP_GATHER, &a.head, o, 2);
}

lz_tensor *lz_gather_at(lz_tensor *x, int64_t dim, lz_tensor *index, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_gather");
    lz_node *n = lz_tracer_in(c, x), *i = n ? lz_tracer_in(c, index) : NULL;
    return lz_tracer_end(c, lz_tracer_gather(c, n, dim, i));
}

/* index with every coordinate written out: [..., rank]. */
static lz_node *full_index(lz_tracer *c, lz_node *index, int64_t dim)
{
    lz_shape s = type_of(index)->shape, one = s;
    lz_dtype d = type_of(index)->dtype;
    lz_node *part[LZ_MAX_RANK];
    one.dims[one.rank++] = 1;
    for (int i = 0; i < s.rank; i++)
        if (!(part[i] = lz_tracer_reshape(c, i == dim ? index : lz_tracer_iota(c, d, &s, i, index),
                                          &one)))
            return NULL;
    return lz_tracer_concat(c, part, (uint32_t)s.rank, s.rank);
}

lz_node *lz_tracer_scatter_along(lz_tracer *c, lz_op op, lz_node *x, int64_t dim, lz_node *index,
                                 lz_node *src)
{
    lz_attr_any a;
    if (!x || !index || !src || !index_fits(x, &dim, index, src))
        return NULL;
    lz_dtype d = type_of(x)->dtype;
    if (type_of(src)->dtype != d) {
        LZ_FAIL(LZ_EDTYPE, "x is %s, src %s: they must be equal", lz_dtype_name(d),
                lz_dtype_name(type_of(src)->dtype));
        return NULL;
    }
    const lz_shape is = type_of(index)->shape, *s = &type_of(x)->shape;
    if (is.rank == 0)
        return op == LZ_OP_NONE ? src : lz_tracer_ew2(c, op, x, src);
    bool batched = true;
    for (int i = 0; i < is.rank; i++)
        batched &= i == dim || is.dims[i] == s->dims[i];
    if (!batched && is.rank == LZ_MAX_RANK) {
        LZ_FAIL(LZ_ESHAPE, "of rank %d, the index must have x's extents outside dimension %" PRId64,
                LZ_MAX_RANK, dim);
        return NULL;
    }
    src = crop(c, src, &is, -1);
    lz_attr_init(&a, LZ_ATTR_scatter);
    a.as_scatter.index_vector_dim = is.rank;
    if (batched) {
        a.as_scatter.inserted_window_dims = a.as_scatter.scatter_dims_to_operand_dims =
            (lz_ints){.n = 1, .v = {dim}};
        a.as_scatter.input_batching_dims = a.as_scatter.scatter_indices_batching_dims =
            all_but(is.rank, dim);
    } else {
        index = full_index(c, index, dim);
        a.as_scatter.inserted_window_dims = a.as_scatter.scatter_dims_to_operand_dims =
            all_but(is.rank, -1);
    }
    return lz_tracer_scatter(c, op, x, index, src, &a);
}

lz_tensor *lz_scatter_add_at(lz_tensor *x, int64_t dim, lz_tensor *index, lz_tensor *src,
                             const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_scatter_add");
    lz_node *n = lz_tracer_in(c, x), *i = n ? lz_tracer_in(c, index) : NULL,
            *s = i ? lz_tracer_in(c, src) : NULL;
    return lz_tracer_end(c, lz_tracer_scatter_along(c, LZ_OP_ADD, n, dim, i, s));
}

static lz_node *one_hot(lz_tracer *c, lz_node *index, int64_t n, lz_dtype d)
{
    if (!index || !lz_tracer_is_index(index))
        return NULL;
    lz_shape s = type_of(index)->shape;
    lz_ints dims = all_but(s.rank, -1);
    if (n < 0 || s.rank == LZ_MAX_RANK) {
        LZ_FAIL(LZ_EINVAL, "%" PRId64 " classes for an index of rank %d", n, s.rank);
        return NULL;
    }
    s.dims[s.rank++] = n;
    lz_node *i = lz_tracer_broadcast_in_dim(c, index, &dims, &s);
    lz_node *at = lz_tracer_iota(c, type_of(index)->dtype, &s, s.rank - 1, index);
    return lz_tracer_convert(c, lz_tracer_compare(c, LZ_CMP_EQ, i, at), d);
}

lz_tensor *lz_one_hot_at(lz_tensor *index, int64_t num_classes, lz_dtype dtype, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_one_hot");
    return lz_tracer_end(c, one_hot(c, lz_tracer_in(c, index), num_classes, dtype));
}

static lz_tensor *arg_extreme(const char *name, bool max, lz_tensor *x, int64_t dim, bool keepdim,
                              const lz_site *site)
{
    BEGIN(name);
    lz_shape s = lz_shape_of(x);
    bool all = dim == LZ_ALL_DIMS;
    lz_tensor *flat = all && s.rank > 0 ? lz_reshape_at(x, LZ_SHAPE(-1), site) : lz_retain(x);
    lz_tensor *t = lz_hlo_argminmax_at(max, flat, all ? 0 : dim, site);
    lz_node *r = lz_tracer_in(c, t);
    if (r && keepdim && s.rank > 0 && (all || lz_tracer_dim(dim, s.rank, &dim))) {
        for (int i = 0; i < s.rank; i++)
            s.dims[i] = all || i == dim ? 1 : s.dims[i];
        r = lz_tracer_reshape(c, r, &s);
    }
    lz_tensor *out = lz_tracer_end(c, r);
    (void)lz_release(t);
    (void)lz_release(flat);
    return out;
}

lz_tensor *lz_argmax_at(lz_tensor *x, int64_t dim, bool keepdim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return arg_extreme("lz_argmax", true, x, dim, keepdim, site);
}

lz_tensor *lz_argmin_at(lz_tensor *x, int64_t dim, bool keepdim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return arg_extreme("lz_argmin", false, x, dim, keepdim, site);
}

/* ---- choosing ---- */

lz_node *lz_tracer_where(lz_tracer *c, lz_node *p, lz_node *a, lz_node *b)
{
    lz_shape s;
    if (!(p = lz_tracer_convert(c, p, LZ_BOOL)) || !lz_tracer_match(c, &a, &b) ||
        !lz_tracer_broadcast_shapes(&type_of(p)->shape, &type_of(a)->shape, &s))
        return NULL;
    return lz_tracer_ew3(c, LZ_OP_SELECT, lz_tracer_expand(c, p, &s), lz_tracer_expand(c, a, &s),
                         lz_tracer_expand(c, b, &s));
}

lz_tensor *lz_where_at(lz_tensor *cond, lz_tensor *a, lz_tensor *b, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_where");
    lz_node *p = lz_tracer_in(c, cond), *x = p ? lz_tracer_in(c, a) : NULL,
            *y = x ? lz_tracer_in(c, b) : NULL;
    return lz_tracer_end(c, y ? lz_tracer_where(c, p, x, y) : NULL);
}

lz_tensor *lz_clamp_at(lz_tensor *x, double lo, double hi, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_clamp");
    return lz_tracer_end(
        c, lz_tracer_clamp(c, lz_tracer_in(c, x), isnan(lo) ? NULL : &lo, isnan(hi) ? NULL : &hi));
}

/* ---- activations ---- */

/* 0 where x <= 0, else x: NaN stays, and the gradient at 0 is 0 as in ATen (maximum would give half
 * of it). */
static lz_node *relu(lz_tracer *c, lz_node *x)
{
    if (!lz_tracer_is_real(x))
        return NULL;
    lz_node *zero = lz_tracer_const_like(c, x, 0);
    return lz_tracer_ew3(c, LZ_OP_SELECT, lz_tracer_compare(c, LZ_CMP_LE, x, zero), zero, x);
}

lz_tensor *lz_relu_at(lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_relu");
    return lz_tracer_end(c, relu(c, lz_tracer_in(c, x)));
}

/* 0.5 x (1 + erf(x / sqrt 2)), or 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). 16-bit floats
 * are computed in f32. */
static lz_node *gelu(lz_tracer *c, lz_node *x, bool approximate)
{
    if (!(x = lz_tracer_float(c, x)))
        return NULL;
    lz_dtype d = type_of(x)->dtype;
    if (d == LZ_F16 || d == LZ_BF16)
        x = lz_tracer_convert(c, x, LZ_F32);
    lz_node *t;
    if (approximate) {
        lz_node *cube = lz_tracer_ew2(c, LZ_OP_MULTIPLY, lz_tracer_ew2(c, LZ_OP_MULTIPLY, x, x), x);
        t = lz_tracer_ew2(
            c, LZ_OP_ADD, x,
            lz_tracer_ew2(c, LZ_OP_MULTIPLY, cube, lz_tracer_const_like(c, x, 0.044715)));
        t = lz_tracer_ew1(c, LZ_OP_TANH,
                          lz_tracer_ew2(c, LZ_OP_MULTIPLY, t,
                                        lz_tracer_const_like(c, x, 0.79788456080286535588)));
    } else {
        t = lz_tracer_ew1(c, LZ_OP_ERF,
                          lz_tracer_ew2(c, LZ_OP_MULTIPLY, x,
                                        lz_tracer_const_like(c, x, 0.70710678118654752440)));
    }
    lz_node *half = lz_tracer_ew2(c, LZ_OP_MULTIPLY, x, lz_tracer_const_like(c, x, 0.5));
    return lz_tracer_convert(
        c,
        lz_tracer_ew2(c, LZ_OP_MULTIPLY, half,
                      lz_tracer_ew2(c, LZ_OP_ADD, t, lz_tracer_const_like(c, x, 1))),
        d);
}

lz_tensor *lz_gelu_at(lz_tensor *x, bool tanh_approximation, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_gelu");
    return lz_tracer_end(c, gelu(c, lz_tracer_in(c, x), tanh_approximation));
}

lz_tensor *lz_silu_at(lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_silu");
    lz_node *n = lz_tracer_float(c, lz_tracer_in(c, x));
    lz_dtype d = lz_tracer_dtype(n);
    n = lz_tracer_wide(c, n);
    return lz_tracer_end(c, TO(MUL(n, SIGMOID(n)), d));
}

/* ---- scalar operands ---- */

/* Whether v changes nothing, or everything to 0: nobody writes such a number, a schedule (of a
 * loss's weight) passes it, and should not compile for it. */
static bool passed_by_schedules(lz_op op, double v)
{
    bool factor = op == LZ_OP_MULTIPLY || op == LZ_OP_DIVIDE;
    return v == 0 || (factor && v == 1);
}

static lz_tensor *with_scalar(const char *name, lz_op op, bool want_float, lz_tensor *x, double v,
                              const lz_site *site)
{
    BEGIN(name);
    lz_dtype d;
    int range = LZ_NUMBER_WRAPS | (passed_by_schedules(op, v) ? LZ_NUMBER_GIVEN : 0);
    lz_node *n = lz_tracer_in(c, x),
            *s = lz_tracer_wide_scalar_for(c, &n, v, want_float, range, &d);
    return lz_tracer_end(c, TO(lz_tracer_ew2(c, op, n, s), d));
}

lz_tensor *lz_add_scalar_at(lz_tensor *x, double s, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return with_scalar("lz_add_scalar", LZ_OP_ADD, false, x, s, site);
}

lz_tensor *lz_sub_scalar_at(lz_tensor *x, double s, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return with_scalar("lz_sub_scalar", LZ_OP_SUBTRACT, false, x, s, site);
}

lz_tensor *lz_mul_scalar_at(lz_tensor *x, double s, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return with_scalar("lz_mul_scalar", LZ_OP_MULTIPLY, false, x, s, site);
}

lz_tensor *lz_div_scalar_at(lz_tensor *x, double s, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return with_scalar("lz_div_scalar", LZ_OP_DIVIDE, true, x, s, site);
}

/* The exponents 2 and 0.5 are part of the program: x * x and sqrt are exact where power is not. */
lz_tensor *lz_pow_scalar_at(lz_tensor *x, double s, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_pow_scalar");
    lz_node *n = lz_tracer_in(c, x), *e;
    if (n && s == 2 && type_of(n)->dtype != LZ_BOOL)
        return lz_tracer_end(c, lz_tracer_ew2(c, LZ_OP_MULTIPLY, n, n));
    if (n && s == 0.5)
        return lz_tracer_end(c, lz_tracer_ew1(c, LZ_OP_SQRT, lz_tracer_float(c, n)));
    lz_dtype d;
    e = lz_tracer_wide_scalar_for(c, &n, s, s < 0, LZ_NUMBER_FITS, &d);
    return lz_tracer_end(c, TO(lz_tracer_ew2(c, LZ_OP_POWER, n, e), d));
}
