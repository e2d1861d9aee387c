/* index_put.c - gather and scatter at positions given by tensors: include/lazuli/index_ops.h. */
#include "ops/index_builder.h"
#include "ops/compose.h"
#include <inttypes.h>
#include <lazuli/index_ops.h>
#include <lazuli/window_ops.h>
#include <string.h>

static const char *text_of(const lz_node *x, char *text)
{
    return lz_type_short(lz_node_type(x), text, 128);
}

/* Wraps negative positions (counted from the end); gives i64. */
static lz_node *wrapped(lz_tracer *c, lz_node *index, int64_t n)
{
    index = TO(index, LZ_I64);
    return SEL(LT(index, K(index, 0)), ADD(index, K(index, (double)n)), index);
}

/* ---- several dimensions at once ---- */

/* The indexed dimensions of x, one tensor [.., k] of positions for them, and the layout of the
 * result. */
typedef struct many {
    lz_ints dims;   /* indexed, ascending */
    lz_ints offset; /* places of the other dimensions in the result */
    lz_node *index; /* [batch.., dims.n] */
    lz_shape batch, result;
} many;

static bool layout(const lz_shape *s, many *m)
{
    bool adjacent = m->dims.v[m->dims.n - 1] - m->dims.v[0] == m->dims.n - 1;
    int before = adjacent ? (int)m->dims.v[0] : 0, rest = 0;
    m->result = (lz_shape){.rank = m->batch.rank + s->rank - m->dims.n};
    if (m->result.rank > LZ_MAX_RANK || m->batch.rank == LZ_MAX_RANK) {
        LZ_FAIL(LZ_ESHAPE, "the result would have rank %d", m->result.rank);
        return false;
    }
    m->offset = (lz_ints){0};
    for (int i = 0; i < m->batch.rank; i++)
        m->result.dims[before + i] = m->batch.dims[i];
    for (int d = 0; d < s->rank; d++)
        if (!lz_ints_has(&m->dims, d)) {
            int at = rest < before ? rest : rest + m->batch.rank;
            rest++;
            m->offset.v[m->offset.n++] = at;
            m->result.dims[at] = s->dims[d];
        }
    return true;
}

static bool positions(lz_tracer *c, lz_node *x, lz_tensor *const *indices, int n, many *m)
{
    char text[128];
    lz_node *part[LZ_MAX_RANK];
    const lz_shape *s = lz_tracer_shape(x);
    *m = (many){.batch = {.rank = 0}};
    if (!indices && n) {
        LZ_FAIL(LZ_ENULL, "indices is NULL");
        return false;
    }
    if (n < 1 || n > s->rank) {
        LZ_FAIL(LZ_EINVAL, "%d indices for %s", n, text_of(x, text));
        return false;
    }
    for (int d = 0; d < n; d++) {
        if (!indices[d])
            continue;
        lz_node *i = IN(indices[d]);
        if (!i || !lz_tracer_is_index(i) ||
            !lz_tracer_broadcast_shapes(&m->batch, lz_tracer_shape(i), &m->batch))
            return false;
        part[m->dims.n] = wrapped(c, i, s->dims[d]);
        m->dims.v[m->dims.n++] = d;
    }
    if (m->dims.n == 0) {
        LZ_FAIL(LZ_EINVAL, "no index is given");
        return false;
    }
    if (!layout(s, m))
        return false;
    lz_shape one = m->batch;
    one.dims[one.rank++] = 1;
    for (int k = 0; k < m->dims.n; k++)
        if (!(part[k] = lz_tracer_reshape(c, lz_tracer_expand(c, part[k], &m->batch), &one)))
            return false;
    return (m->index = lz_tracer_concat(c, part, (uint32_t)m->dims.n, m->batch.rank)) != NULL;
}

/* Whether the result is empty: an indexed extent of 0, or no positions. False with LZ_ERANGE when
 * positions index an empty dimension. */
static bool nothing_there(const many *m, const lz_shape *s, bool *nothing)
{
    *nothing = lz_node_type(m->index)->nelem == 0;
    for (int k = 0; k < m->dims.n; k++)
        if (s->dims[m->dims.v[k]] == 0 && !*nothing) {
            LZ_FAIL(LZ_ERANGE, "an index into dimension %" PRId64 ", which has no elements",
                    m->dims.v[k]);
            return false;
        }
    return true;
}

static lz_node *index_many(lz_tracer *c, lz_node *x, const many *m)
{
    lz_attr_any a;
    bool nothing;
    const lz_shape *s = lz_tracer_shape(x);
    if (!nothing_there(m, s, &nothing))
        return NULL;
    if (nothing)
        return lz_type_get(lz_tracer_dtype(x), &m->result)
                   ? lz_tracer_fill(c, lz_tracer_const(c, lz_tracer_dtype(x), 0, x), &m->result)
                   : NULL;
    lz_attr_init(&a, LZ_ATTR_gather);
    a.as_gather.offset_dims = m->offset;
    a.as_gather.collapsed_slice_dims = a.as_gather.start_index_map = m->dims;
    a.as_gather.index_vector_dim = m->batch.rank;
    a.as_gather.slice_sizes = lz_ints_make(s->rank, s->dims);
    for (int k = 0; k < m->dims.n; k++)
        a.as_gather.slice_sizes.v[m->dims.v[k]] = 1;
    lz_node *o[2] = {x, m->index};
    return lz_tracer_op(c, LZ_OP_GATHER, &a.head, o, 2);
}

lz_tensor *lz_index_at(lz_tensor *x, lz_tensor *const *indices, int n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    many m;
    BEGIN("lz_index");
    lz_node *t = IN(x);
    return lz_tracer_end(c, t && positions(c, t, indices, n, &m) ? index_many(c, t, &m) : NULL);
}

lz_tensor *lz_index_put_at(lz_tensor *x, lz_tensor *const *indices, int n, lz_tensor *values,
                           bool accumulate, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    many m;
    bool nothing;
    lz_attr_any a;
    BEGIN("lz_index_put");
    lz_node *t = IN(x), *v = t ? IN(values) : NULL;
    if (!v || !positions(c, t, indices, n, &m) ||
        !nothing_there(&m, lz_tracer_shape(t), &nothing) ||
        !(v = lz_tracer_expand(c, TO(v, lz_tracer_dtype(t)), &m.result)))
        return lz_tracer_end(c, NULL);
    if (nothing)
        return lz_tracer_end(c, t);
    lz_attr_init(&a, LZ_ATTR_scatter);
    a.as_scatter.update_window_dims = m.offset;
    a.as_scatter.inserted_window_dims = a.as_scatter.scatter_dims_to_operand_dims = m.dims;
    a.as_scatter.index_vector_dim = m.batch.rank;
    return lz_tracer_end(
        c, lz_tracer_scatter(c, accumulate ? LZ_OP_ADD : LZ_OP_NONE, t, m.index, v, &a));
}

/* ---- slices of one dimension ---- */

/* index of rank 0 or 1 as one of rank 1; dim from the front. */
static lz_node *slice_index(lz_tracer *c, lz_node *x, int64_t *dim, lz_node *index)
{
    char text[128];
    if (!lz_tracer_is_index(index))
        return NULL;
    if (lz_tracer_shape(x)->rank == 0 || lz_tracer_shape(index)->rank > 1) {
        LZ_FAIL(LZ_ESHAPE,
                "x has rank %d and the index is %s: x must not be a scalar, the index has one "
                "dimension",
                lz_tracer_shape(x)->rank, text_of(index, text));
        return NULL;
    }
    lz_shape row = {.rank = 1, .dims = {lz_node_type(index)->nelem}};
    return lz_tracer_dim(*dim, lz_tracer_shape(x)->rank, dim) ? lz_tracer_reshape(c, index, &row)
                                                              : NULL;
}

/* source, [x's extents, but as many as positions along dim], combined into x. */
lz_node *lz_tracer_into_slices(lz_tracer *c, lz_op op, lz_node *x, int64_t dim, lz_node *index,
                               lz_node *source)
{
    char ts[128], tx[128];
    lz_attr_any a;
    if (!x || !source || !index)
        return NULL;
    lz_shape want = *lz_tracer_shape(x);
    want.dims[dim] = lz_tracer_shape(index)->dims[0];
    if (!lz_shape_eq(lz_tracer_shape(source), &want) ||
        lz_tracer_dtype(source) != lz_tracer_dtype(x)) {
        LZ_FAIL(lz_tracer_dtype(source) != lz_tracer_dtype(x) ? LZ_EDTYPE : LZ_ESHAPE,
                "x is %s, source %s, with %" PRId64 " positions of dimension %" PRId64,
                text_of(x, tx), text_of(source, ts), want.dims[dim], dim);
        return NULL;
    }
    lz_attr_init(&a, LZ_ATTR_scatter);
    for (int i = 0; i < want.rank; i++)
        if (i != dim)
            a.as_scatter.update_window_dims.v[a.as_scatter.update_window_dims.n++] = i;
    a.as_scatter.inserted_window_dims = a.as_scatter.scatter_dims_to_operand_dims =
        (lz_ints){.n = 1, .v = {dim}};
    a.as_scatter.index_vector_dim = 1;
    return lz_tracer_scatter(c, op, x, index, source, &a);
}

lz_tensor *lz_index_add_at(lz_tensor *x, int64_t dim, lz_tensor *index, lz_tensor *source,
                           double alpha, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_index_add");
    lz_node *t = IN(x), *i = t ? IN(index) : NULL, *s = i ? IN(source) : NULL;
    i = s ? slice_index(c, t, &dim, i) : NULL;
    lz_dtype d = lz_tracer_dtype(s);
    if (i && alpha != 1 && lz_tracer_dtype(t) == d) { /* 16-bit floats: summed in f32 */
        t = lz_tracer_wide(c, t);
        s = lz_tracer_scaled(c, s, alpha, "alpha");
    }
    t = i && s ? lz_tracer_into_slices(c, LZ_OP_ADD, t, dim, i, s) : NULL;
    return lz_tracer_end(c, TO(t, d));
}

lz_tensor *lz_index_copy_at(lz_tensor *x, int64_t dim, lz_tensor *index, lz_tensor *source,
                            const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_index_copy");
    lz_node *t = IN(x), *i = t ? IN(index) : NULL, *s = i ? IN(source) : NULL;
    lz_tracer_widest(c, &t, &s);
    i = s ? slice_index(c, t, &dim, i) : NULL;
    return lz_tracer_end(c, i ? lz_tracer_into_slices(c, LZ_OP_NONE, t, dim, i, s) : NULL);
}

lz_tensor *lz_index_fill_at(lz_tensor *x, int64_t dim, lz_tensor *index, double value,
                            const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_index_fill");
    lz_node *t = IN(x), *i = t ? IN(index) : NULL;
    i = i ? slice_index(c, t, &dim, i) : NULL;
    i = i ? wrapped(c, i, lz_tracer_shape(t)->dims[dim]) : NULL;
    if (!i)
        return lz_tracer_end(c, NULL);
    lz_shape s = *lz_tracer_shape(t);
    s.dims[dim] = lz_node_type(i)->nelem;
    lz_node *v = lz_tracer_fill(c, lz_tracer_scalar(c, lz_tracer_dtype(t), value, t), &s);
    return lz_tracer_end(c, lz_tracer_into_slices(c, LZ_OP_NONE, t, dim, i, v));
}

/* ---- elements along one dimension ---- */

lz_tensor *lz_scatter_at(lz_tensor *x, int64_t dim, lz_tensor *index, lz_tensor *src,
                         const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_scatter");
    lz_node *t = IN(x), *i = t ? IN(index) : NULL, *s = i ? IN(src) : NULL;
    return lz_tracer_end(c, s ? lz_tracer_scatter_along(c, LZ_OP_NONE, t, dim, i, s) : NULL);
}

/* A scalar broadcast to index's shape. */
static lz_node *number_at(lz_tracer *c, lz_dtype d, double v, lz_node *index)
{
    return index ? lz_tracer_fill(c, lz_tracer_scalar(c, d, v, index), lz_tracer_shape(index))
                 : NULL;
}

lz_tensor *lz_scatter_value_at(lz_tensor *x, int64_t dim, lz_tensor *index, double value,
                               const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_scatter_value");
    lz_node *t = IN(x), *i = t ? IN(index) : NULL, *v = number_at(c, lz_tracer_dtype(t), value, i);
    return lz_tracer_end(c, v ? lz_tracer_scatter_along(c, LZ_OP_NONE, t, dim, i, v) : NULL);
}

static const struct reducer {
    const char *name;
    lz_op op;
    double start; /* the identity of the reduction; infinities saturate for integers */
} reducers[] = {
    {"sum", LZ_OP_ADD, 0},
    {"mean", LZ_OP_ADD, 0},
    {"prod", LZ_OP_MULTIPLY, 1},
    {"amax", LZ_OP_MAXIMUM, -1.0 / 0.0},
    {"amin", LZ_OP_MINIMUM, 1.0 / 0.0},
};

static lz_node *scatter_reduce(lz_tracer *c, lz_node *x, int64_t dim, lz_node *index, lz_node *src,
                               const char *name, bool include_self)
{
    const struct reducer *r = NULL;
    for (size_t k = 0; name && k < sizeof reducers / sizeof *reducers; k++)
        if (strcmp(reducers[k].name, name) == 0)
            r = &reducers[k];
    if (!r) {
        LZ_FAIL(name ? LZ_EINVAL : LZ_ENULL, "reduce is \"%.40s\": sum, prod, mean, amax or amin",
                name ? name : "NULL");
        return NULL;
    }
    lz_dtype d = lz_tracer_dtype(x);
    lz_node *base = x;
    if (!include_self)
        base = lz_tracer_scatter_along(
            c, LZ_OP_NONE, x, dim, index,
            lz_tracer_fill(c, lz_tracer_const(c, d, r->start, index), lz_tracer_shape(index)));
    lz_node *total = lz_tracer_scatter_along(c, r->op, base, dim, index, src);
    if (!total || strcmp(name, "mean") != 0)
        return total;
    lz_dtype cd = lz_dtype_is_float(d) || d == LZ_C64 ? LZ_F32 : LZ_I64;
    lz_node *own = TO(K(x, include_self ? 1 : 0), cd);
    lz_node *count =
        lz_tracer_scatter_along(c, LZ_OP_ADD, own, dim, index, number_at(c, cd, 1, index));
    count = MAX(count, K(count, 1));
    if (cd != LZ_I64)
        return DIV(total, TO(count, d));
    /* floored: the quotient truncates */
    count = TO(count, d);
    lz_node *rem = REM(total, count), *zero = K(total, 0);
    lz_node *q = DIV(total, count);
    return lz_dtype_is_unsigned(d) || d == LZ_BOOL ? q
                                                   : SUB(q, SEL(LT(rem, zero), K(total, 1), zero));
}

lz_tensor *lz_scatter_reduce_at(lz_tensor *x, int64_t dim, lz_tensor *index, lz_tensor *src,
                                const char *reduce, bool include_self, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_scatter_reduce");
    lz_node *t = IN(x), *i = t ? IN(index) : NULL, *s = i ? IN(src) : NULL;
    return lz_tracer_end(c, s ? scatter_reduce(c, t, dim, i, s, reduce, include_self) : NULL);
}

/* ---- x as one row ---- */

static lz_node *as_row(lz_tracer *c, lz_node *x)
{
    lz_shape row = {.rank = 1, .dims = {x ? lz_node_type(x)->nelem : 0}};
    return lz_tracer_reshape(c, x, &row);
}

static lz_node *take(lz_tracer *c, lz_node *x, lz_node *index)
{
    if (!lz_tracer_is_index(index))
        return NULL;
    int64_t n = lz_node_type(x)->nelem;
    if (n == 0 && lz_node_type(index)->nelem > 0) {
        LZ_FAIL(LZ_ERANGE, "positions of a tensor that has no elements");
        return NULL;
    }
    return lz_tracer_take(c, as_row(c, x), 0, wrapped(c, index, n));
}

lz_tensor *lz_take_at(lz_tensor *x, lz_tensor *index, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_take");
    lz_node *t = IN(x), *i = t ? IN(index) : NULL;
    return lz_tracer_end(c, i ? take(c, t, i) : NULL);
}

static lz_node *take_along(lz_tracer *c, lz_node *x, lz_node *index, int64_t dim)
{
    if (dim == LZ_ALL_DIMS)
        return lz_tracer_is_index(index) ? lz_tracer_gather(c, as_row(c, x), 0, as_row(c, index))
                                         : NULL;
    lz_shape sx = *lz_tracer_shape(x), si = *lz_tracer_shape(index), both;
    if (!lz_tracer_dim(dim, sx.rank, &dim))
        return NULL;
    if (sx.rank != si.rank || sx.rank == 0) {
        LZ_FAIL(LZ_ESHAPE, "x has rank %d, the index %d: they must be equal and not 0", sx.rank,
                si.rank);
        return NULL;
    }
    int64_t nx = sx.dims[dim], ni = si.dims[dim];
    sx.dims[dim] = si.dims[dim] = 1;
    if (!lz_tracer_broadcast_shapes(&sx, &si, &both))
        return NULL;
    both.dims[dim] = nx;
    x = lz_tracer_expand(c, x, &both);
    both.dims[dim] = ni;
    return lz_tracer_gather(c, x, dim, lz_tracer_expand(c, index, &both));
}

lz_tensor *lz_take_along_dim_at(lz_tensor *x, lz_tensor *index, int64_t dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_take_along_dim");
    lz_node *t = IN(x), *i = t ? IN(index) : NULL;
    return lz_tracer_end(c, i ? take_along(c, t, i, dim) : NULL);
}

lz_tensor *lz_put_at(lz_tensor *x, lz_tensor *index, lz_tensor *source, bool accumulate,
                     const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_put");
    lz_node *t = IN(x), *i = t ? IN(index) : NULL, *s = i ? IN(source) : NULL;
    if (!s || !lz_tracer_is_index(i))
        return lz_tracer_end(c, NULL);
    if (lz_node_type(i)->nelem != lz_node_type(s)->nelem) {
        LZ_FAIL(LZ_ESHAPE, "%" PRId64 " positions for %" PRId64 " elements", lz_node_type(i)->nelem,
                lz_node_type(s)->nelem);
        return lz_tracer_end(c, NULL);
    }
    const lz_shape shape = *lz_tracer_shape(t);
    lz_node *r =
        lz_tracer_into_slices(c, accumulate ? LZ_OP_ADD : LZ_OP_NONE, as_row(c, t), 0,
                              wrapped(c, as_row(c, i), lz_node_type(t)->nelem), as_row(c, s));
    return lz_tracer_end(c, lz_tracer_reshape(c, r, &shape));
}

/* ---- masks ---- */

lz_tensor *lz_masked_fill_at(lz_tensor *x, lz_tensor *mask, double value, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_masked_fill");
    lz_node *t = IN(x), *m = t ? IN(mask) : NULL;
    lz_node *v = m ? lz_tracer_scalar(c, lz_tracer_dtype(t), value, t) : NULL;
    return lz_tracer_end(c, v ? lz_tracer_where(c, m, v, t) : NULL);
}

lz_tensor *lz_masked_fill_tensor_at(lz_tensor *x, lz_tensor *mask, lz_tensor *value,
                                    const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_masked_fill_tensor");
    lz_node *t = IN(x), *m = t ? IN(mask) : NULL, *v = m ? IN(value) : NULL;
    if (v && lz_tracer_shape(v)->rank != 0) {
        LZ_FAIL(LZ_ESHAPE, "value has rank %d: it must be 0", lz_tracer_shape(v)->rank);
        v = NULL;
    }
    return lz_tracer_end(c, v ? lz_tracer_where(c, m, TO(v, lz_tracer_dtype(t)), t) : NULL);
}

/* The k-th true element of the mask, in row-major order, takes the k-th element of source: k counts
 * the true elements so far. */
static lz_node *masked_scatter(lz_tracer *c, lz_node *x, lz_node *mask, lz_node *source)
{
    lz_shape s;
    if (lz_tracer_dtype(x) != lz_tracer_dtype(source)) {
        LZ_FAIL(LZ_EDTYPE, "x is %s, source %s: they must be equal",
                lz_dtype_name(lz_tracer_dtype(x)), lz_dtype_name(lz_tracer_dtype(source)));
        return NULL;
    }
    mask = TO(mask, LZ_BOOL);
    if (!mask || !lz_tracer_broadcast_shapes(lz_tracer_shape(x), lz_tracer_shape(mask), &s))
        return NULL;
    x = lz_tracer_expand(c, x, &s);
    mask = lz_tracer_expand(c, mask, &s);
    if (!x || !mask || lz_node_type(x)->nelem == 0)
        return x;
    if (lz_node_type(source)->nelem == 0) {
        LZ_FAIL(LZ_ERANGE, "source has no elements");
        return NULL;
    }
    lz_node *row = as_row(c, mask);
    if (!row || !(row = TO(row, LZ_I64)))
        return NULL;
    lz_tensor *t = lz_trace_tensor_of(row, c->site);
    lz_tensor *sum = lz_cumsum_at(t, 0, c->site);
    lz_node *k = IN(sum);
    (void)lz_release(t);
    (void)lz_release(sum);
    k = k ? lz_tracer_take(c, as_row(c, source), 0, SUB(k, K(k, 1))) : NULL;
    return SEL(mask, lz_tracer_reshape(c, k, &s), x);
}

lz_tensor *lz_masked_scatter_at(lz_tensor *x, lz_tensor *mask, lz_tensor *source,
                                const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_masked_scatter");
    lz_node *t = IN(x), *m = t ? IN(mask) : NULL, *s = m ? IN(source) : NULL;
    return lz_tracer_end(c, s ? masked_scatter(c, t, m, s) : NULL);
}

/* ---- embeddings ---- */

static bool is_matrix(const lz_node *w)
{
    if (lz_tracer_shape(w)->rank == 2)
        return true;
    LZ_FAIL(LZ_ESHAPE, "weight has rank %d: it must be [rows, width]", lz_tracer_shape(w)->rank);
    return false;
}

lz_tensor *lz_embedding_padding_at(lz_tensor *weight, lz_tensor *indices, int64_t padding_idx,
                                   const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_embedding_padding");
    lz_node *w = IN(weight), *i = w ? IN(indices) : NULL;
    if (!i || !is_matrix(w) || !lz_tracer_is_index(i))
        return lz_tracer_end(c, NULL);
    int64_t rows = lz_tracer_shape(w)->dims[0];
    if (padding_idx < -rows || padding_idx >= rows) {
        LZ_FAIL(LZ_ERANGE, "padding_idx %" PRId64 " of %" PRId64 " rows", padding_idx, rows);
        return lz_tracer_end(c, NULL);
    }
    padding_idx += padding_idx < 0 ? rows : 0;
    lz_node *y = lz_tracer_take(c, w, 0, i);
    lz_node *pad = y ? EQ(i, K(i, (double)padding_idx)) : NULL;
    lz_ints dims = {.n = lz_tracer_shape(i)->rank};
    for (int k = 0; k < dims.n; k++)
        dims.v[k] = k;
    pad = pad ? lz_tracer_broadcast_in_dim(c, pad, &dims, lz_tracer_shape(y)) : NULL;
    return lz_tracer_end(c, SEL(pad, lz_tracer_detached(c, y), y));
}

static lz_node *dense_backward(lz_tracer *c, lz_node *g, lz_node *index, int64_t rows,
                               int64_t padding, bool by_freq)
{
    char tg[128], ti[128];
    const lz_shape *sg = lz_tracer_shape(g), *si = lz_tracer_shape(index);
    bool ok = sg->rank == si->rank + 1 && rows >= 0;
    for (int i = 0; ok && i < si->rank; i++)
        ok = sg->dims[i] == si->dims[i];
    if (!ok) {
        LZ_FAIL(LZ_ESHAPE, "grad is %s, the indices %s, for %" PRId64 " rows", text_of(g, tg),
                text_of(index, ti), rows);
        return NULL;
    }
    int64_t n = lz_node_type(index)->nelem, width = sg->dims[sg->rank - 1];
    lz_shape flat = {.rank = 2, .dims = {n, width}}, out = {.rank = 2, .dims = {rows, width}},
             count = {.rank = 1, .dims = {rows}};
    lz_dtype d = lz_tracer_dtype(g);
    index = as_row(c, TO(index, LZ_I64));
    g = lz_tracer_wide(c, lz_tracer_reshape(c, g, &flat));
    lz_dtype wide = lz_tracer_dtype(g);
    if (!index || !g || !lz_type_get(wide, &out))
        return NULL;
    if (by_freq && rows > 0) {
        lz_node *zero = lz_tracer_fill(c, lz_tracer_const(c, wide, 0, g), &count);
        lz_node *often =
            lz_tracer_into_slices(c, LZ_OP_ADD, zero, 0, index, number_at(c, wide, 1, index));
        often = often ? lz_tracer_take(c, MAX(often, K(often, 1)), 0, index) : NULL;
        g = often
                ? DIV(g, lz_tracer_broadcast_in_dim(c, often, &(lz_ints){.n = 1, .v = {0}}, &flat))
                : NULL;
    }
    if (padding >= 0)
        index = SEL(EQ(index, K(index, (double)padding)), K(index, -1), index);
    lz_node *zeros = lz_tracer_fill(c, lz_tracer_const(c, wide, 0, g), &out);
    return zeros ? TO(lz_tracer_into_slices(c, LZ_OP_ADD, zeros, 0, index, g), d) : NULL;
}

lz_tensor *lz_embedding_dense_backward_at(lz_tensor *grad, lz_tensor *indices, int64_t num_weights,
                                          int64_t padding_idx, bool scale_grad_by_freq,
                                          const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_embedding_dense_backward");
    lz_node *g = IN(grad), *i = g ? IN(indices) : NULL;
    bool ok = i && lz_tracer_is_index(i) && lz_tracer_is_float(g);
    return lz_tracer_end(
        c, ok ? dense_backward(c, g, i, num_weights, padding_idx, scale_grad_by_freq) : NULL);
}

/* ---- bags ---- */

typedef struct bags {
    int64_t n, nbags, width;
    lz_node *of;   /* i64[n]: bag of each index */
    lz_node *live; /* the same, -1 where the index is padding */
    lz_node *size; /* i64[nbags]: number of indices that count */
} bags;

/* The bag of position i: the number of offsets, without the first, that are at most i. */
static bool find_bags(lz_tracer *c, lz_node *index, lz_node *offsets,
                      const lz_embedding_bag_options *o, bags *b)
{
    lz_reduced_dims r;
    lz_shape row = {.rank = 1, .dims = {b->n}}, grid = {.rank = 2, .dims = {b->n, b->nbags}};
    lz_node *i = lz_tracer_iota(c, LZ_I64, &grid, 0, index);
    lz_node *first = lz_tracer_slice_dim(c, TO(offsets, LZ_I64), 0, 0, b->nbags, 1);
    if (!i || !first ||
        !(first = lz_tracer_broadcast_in_dim(c, first, &(lz_ints){.n = 1, .v = {1}}, &grid)) ||
        !lz_tracer_reduction_of(i, &(lz_dims){1, {1}}, false, &r))
        return false;
    b->of = lz_tracer_combine(c, &r, LZ_OP_ADD, TO(LE(first, i), LZ_I64));
    b->of = SUB(b->of, K(b->of, 1));
    b->live = b->of;
    if (o->padding_idx >= 0 && b->of)
        b->live = SEL(EQ(index, K(index, (double)o->padding_idx)), K(b->of, -1), b->of);
    row.dims[0] = b->nbags;
    lz_node *zero = lz_tracer_fill(c, lz_tracer_const(c, LZ_I64, 0, index), &row);
    b->size = zero && b->live ? lz_tracer_into_slices(c, LZ_OP_ADD, zero, 0, b->live, K(b->live, 1))
                              : NULL;
    return b->size != NULL;
}

/* One value a bag over all its columns. */
static lz_node *over_columns(lz_tracer *c, lz_node *x, const lz_shape *s)
{
    return x ? lz_tracer_broadcast_in_dim(c, x, &(lz_ints){.n = 1, .v = {0}}, s) : NULL;
}

static lz_node *bag_max(lz_tracer *c, const bags *b, lz_node *rows, lz_node *index,
                        lz_node **max_indices)
{
    lz_shape s = {.rank = 2, .dims = {b->nbags, b->width}};
    lz_dtype d = lz_tracer_dtype(rows);
    lz_node *low = lz_tracer_fill(c, lz_tracer_const(c, d, -1.0 / 0.0, rows), &s);
    lz_node *m = lz_tracer_into_slices(c, LZ_OP_MAXIMUM, low, 0, b->live, rows);
    lz_node *empty = over_columns(c, EQ(b->size, K(b->size, 0)), &s);
    if (!m || !empty)
        return NULL;
    if (b->n > 0 &&
        b->nbags > 0) { /* the first position whose row has the largest value (or NaN) */
        lz_node *best = lz_tracer_take(c, m, 0, b->of);
        lz_node *hit = OR(EQ(rows, best), AND(IS_NAN(rows), IS_NAN(best)));
        lz_node *at = hit ? lz_tracer_iota(c, LZ_I64, lz_tracer_shape(rows), 0, rows) : NULL;
        at = SEL(hit, at, K(at, (double)b->n));
        lz_node *none = lz_tracer_fill(c, lz_tracer_const(c, LZ_I64, (double)b->n, rows), &s);
        at = lz_tracer_into_slices(c, LZ_OP_MINIMUM, none, 0, b->live, at);
        lz_node *which = at ? lz_tracer_take(c, TO(index, LZ_I64), 0, at) : NULL;
        *max_indices = which ? SEL(empty, K(which, 0), which) : NULL;
    } else {
        *max_indices = lz_tracer_fill(c, lz_tracer_const(c, LZ_I64, 0, rows), &s);
    }
    return SEL(empty, K(m, 0), m);
}

static lz_node *embedding_bag(lz_tracer *c, lz_node *w, lz_node *index, lz_node *offsets,
                              lz_node *weights, const lz_embedding_bag_options *o, bags *b,
                              lz_node **max_indices)
{
    char tw[128], ti[128], to[128];
    *b = (bags){0};
    if (!is_matrix(w) || !lz_tracer_is_float(w) || !lz_tracer_is_index(index) ||
        !lz_tracer_is_index(offsets))
        return NULL;
    int last = o->include_last_offset ? 1 : 0;
    if (lz_tracer_shape(index)->rank != 1 || lz_tracer_shape(offsets)->rank != 1 ||
        lz_tracer_shape(offsets)->dims[0] < last ||
        (weights && !lz_shape_eq(lz_tracer_shape(weights), lz_tracer_shape(index)))) {
        LZ_FAIL(LZ_ESHAPE,
                "indices are %s, offsets %s, weights %s: vectors are needed, and as many weights "
                "as indices",
                text_of(index, ti), text_of(offsets, to), weights ? text_of(weights, tw) : "none");
        return NULL;
    }
    if (o->mode < 0 || o->mode > 2 || (weights && o->mode != 0)) {
        LZ_FAIL(LZ_EINVAL, "mode %d%s: 0 sum, 1 mean, 2 max; weights go with sums", o->mode,
                weights ? " with weights" : "");
        return NULL;
    }
    b->n = lz_tracer_shape(index)->dims[0];
    b->nbags = lz_tracer_shape(offsets)->dims[0] - last;
    b->width = lz_tracer_shape(w)->dims[1];
    lz_shape s = {.rank = 2, .dims = {b->nbags, b->width}};
    lz_dtype d = lz_tracer_dtype(w);
    if (!find_bags(c, index, offsets, o, b))
        return NULL;
    lz_node *rows = lz_tracer_wide(c, lz_tracer_take(c, w, 0, index));
    if (!rows)
        return NULL;
    if (o->mode == 2)
        return TO(bag_max(c, b, rows, index, max_indices), d);
    if (weights)
        rows =
            MUL(rows, over_columns(c, TO(weights, lz_tracer_dtype(rows)), lz_tracer_shape(rows)));
    lz_node *zero =
        rows ? lz_tracer_fill(c, lz_tracer_const(c, lz_tracer_dtype(rows), 0, rows), &s) : NULL;
    lz_node *sum = zero ? lz_tracer_into_slices(c, LZ_OP_ADD, zero, 0, b->live, rows) : NULL;
    if (sum && o->mode == 1)
        sum = DIV(sum, over_columns(c, TO(MAX(b->size, K(b->size, 1)), lz_tracer_dtype(sum)), &s));
    return TO(sum, d);
}

lz_tensor *lz_embedding_bag_at(lz_tensor *weight, lz_tensor *indices, lz_tensor *offsets,
                               const lz_embedding_bag_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    bags b = {0};
    lz_node *most = NULL, *r = NULL;
    BEGIN("lz_embedding_bag");
    OPTIONS(lz_embedding_bag_options, p, LZ_EMBEDDING_BAG_DEFAULTS);
    lz_node *w = p ? IN(weight) : NULL, *i = w ? IN(indices) : NULL, *f = i ? IN(offsets) : NULL;
    lz_node *k = f && p->per_sample_weights ? IN(p->per_sample_weights) : NULL;
    if (f && (k || !p->per_sample_weights))
        r = embedding_bag(c, w, i, f, k, p, &b, &most);
    if (p) {
        if (r && !most && p->max_indices) /* of sums there is none */
            most = lz_tracer_const(c, LZ_I64, 0, r);
        lz_tracer_also(c, r ? b.of : NULL, p->offset2bag);
        lz_tracer_also(c, r ? b.size : NULL, p->bag_size);
        lz_tracer_also(c, r ? most : NULL, p->max_indices);
    }
    return lz_tracer_end(c, r);
}
