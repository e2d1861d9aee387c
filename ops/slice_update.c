/* slice_update.c - writing into slices, joining and creating: include/lazuli/shape_ops.h. */
#include "ops/index_builder.h"
#include "ops/compose.h"
#include <inttypes.h>
#include <lazuli/shape_ops.h>
#include <math.h>
#include <string.h>

static const char *text_of(const lz_node *x, char *text)
{
    return lz_type_short(lz_node_type(x), text, 128);
}

lz_node *lz_tracer_pad(lz_tracer *c, lz_node *x, const lz_ints *low, const lz_ints *high,
                       const lz_ints *interior)
{
    lz_attr_any a;
    if (!x)
        return NULL;
    lz_attr_init(&a, LZ_ATTR_pad);
    a.as_pad.edge_padding_low = *low;
    a.as_pad.edge_padding_high = *high;
    a.as_pad.interior_padding = *interior;
    lz_node *o[2] = {x, lz_tracer_const(c, lz_tracer_dtype(x), 0, x)};
    return lz_tracer_op(c, LZ_OP_PAD, &a.head, o, 2);
}

/* src as x's dtype, of the shape that the part has. */
static lz_node *part(lz_tracer *c, lz_node *x, lz_node *src, const lz_shape *s)
{
    char text[128], want[128];
    const lz_type *t = lz_type_get(lz_tracer_dtype(x), s);
    if (!t)
        return NULL;
    if (lz_shape_eq(lz_tracer_shape(src), s))
        return TO(src, lz_tracer_dtype(x));
    LZ_FAIL(LZ_ESHAPE, "src is %s, the part that it replaces %s", text_of(src, text),
            lz_type_short(t, want, sizeof want));
    return NULL;
}

/* ---- a part replaced ---- */

/* Elements start, start + step, .. before end of dim, by Python's rules. */
static lz_node *slice_scatter(lz_tracer *c, lz_node *x, lz_node *src, int64_t dim, int64_t start,
                              int64_t end, int64_t step)
{
    const lz_shape *s = lz_tracer_shape(x);
    if (s->rank == 0) {
        LZ_FAIL(LZ_ESHAPE, "a scalar has no dimension to slice");
        return NULL;
    }
    if (!lz_tracer_dim(dim, s->rank, &dim))
        return NULL;
    if (step < 1) {
        LZ_FAIL(LZ_EINVAL, "step %" PRId64 ": it must be positive", step);
        return NULL;
    }
    int64_t n = s->dims[dim];
    start = start < -n ? 0 : start < 0 ? start + n : start > n ? n : start;
    end = end < -n ? 0 : end < 0 ? end + n : end > n ? n : end;
    int64_t count = end > start ? (end - start - 1) / step + 1 : 0;
    lz_shape ps = *s;
    ps.dims[dim] = count;
    if (!(src = part(c, x, src, &ps)))
        return NULL;
    if (count == 0)
        return x;
    if (step == 1 || count == 1) {
        lz_node *p[3] = {lz_tracer_slice_dim(c, x, dim, 0, start, 1), src,
                         lz_tracer_slice_dim(c, x, dim, start + count, n, 1)};
        return p[0] && p[2] ? lz_tracer_concat(c, p, 3, dim) : NULL;
    }
    lz_ints low = {.n = s->rank}, high = {.n = s->rank}, inside = {.n = s->rank};
    low.v[dim] = start;
    inside.v[dim] = step - 1;
    high.v[dim] = n - start - ((count - 1) * step + 1);
    lz_node *spread = lz_tracer_pad(c, src, &low, &high, &inside);
    lz_node *at = lz_tracer_iota(c, LZ_I64, s, dim, x), *first = K(at, (double)start);
    lz_node *in = AND(GE(at, first), LT(at, K(at, (double)end)));
    in = AND(in, EQ(REM(SUB(at, first), K(at, (double)step)), K(at, 0)));
    return SEL(in, spread, x);
}

lz_tensor *lz_slice_scatter_at(lz_tensor *x, lz_tensor *src, int64_t dim, int64_t start,
                               int64_t end, int64_t step, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_slice_scatter");
    lz_node *n = IN(x), *s = n ? IN(src) : NULL;
    return lz_tracer_end(c, s ? slice_scatter(c, n, s, dim, start, end, step) : NULL);
}

lz_tensor *lz_select_scatter_at(lz_tensor *x, lz_tensor *src, int64_t dim, int64_t index,
                                const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_select_scatter");
    lz_node *n = IN(x), *s = n ? IN(src) : NULL;
    if (!s)
        return lz_tracer_end(c, NULL);
    if (lz_tracer_shape(n)->rank == 0) {
        LZ_FAIL(LZ_ESHAPE, "a scalar has no dimension to select from");
        return lz_tracer_end(c, NULL);
    }
    if (!lz_tracer_dim(dim, lz_tracer_shape(n)->rank, &dim))
        return lz_tracer_end(c, NULL);
    int64_t extent = lz_tracer_shape(n)->dims[dim];
    if (index < -extent || index >= extent) {
        LZ_FAIL(LZ_ERANGE,
                "index %" PRId64 " of dimension %" PRId64 ", which has %" PRId64 " elements", index,
                dim, extent);
        return lz_tracer_end(c, NULL);
    }
    index += index < 0 ? extent : 0;
    s = lz_tracer_unsqueeze(c, s,
                            dim < lz_tracer_shape(s)->rank + 1 ? dim : lz_tracer_shape(s)->rank);
    return lz_tracer_end(c, s ? slice_scatter(c, n, s, dim, index, index + 1, 1) : NULL);
}

/* The last dimension of x on the diagonal of two new last ones, [rows, cols], zeros elsewhere. */
static lz_node *embed(lz_tracer *c, lz_node *x, int64_t offset, int64_t rows, int64_t cols)
{
    if (!x)
        return NULL;
    lz_shape s = *lz_tracer_shape(x);
    int last = s.rank - 1;
    int64_t n = s.dims[last], i0 = offset < 0 ? -offset : 0, j0 = offset > 0 ? offset : 0;
    lz_ints zero = {.n = s.rank}, inside = {.n = s.rank};
    inside.v[last] = n > 0 ? n : 0;
    if (n > 1) /* a square in one row: n zeros between two of the diagonal */
        x = lz_tracer_pad(c, x, &zero, &zero, &inside);
    s.rank++;
    s.dims[last + 1] = n;
    x = lz_tracer_reshape(c, x, &s);
    lz_ints low = {.n = s.rank}, high = {.n = s.rank}, none = {.n = s.rank};
    low.v[last] = i0;
    low.v[last + 1] = j0;
    high.v[last] = rows - n - i0;
    high.v[last + 1] = cols - n - j0;
    return lz_tracer_pad(c, x, &low, &high, &none);
}

/* The two last dimensions of x to d1 and d2. */
static lz_node *place_last_two(lz_tracer *c, lz_node *x, int64_t d1, int64_t d2)
{
    if (!x)
        return NULL;
    int rank = lz_tracer_shape(x)->rank;
    lz_ints perm = {.n = rank};
    for (int i = 0, next = 0; i < rank; i++)
        perm.v[i] = i == d1 ? rank - 2 : i == d2 ? rank - 1 : next++;
    return lz_tracer_transpose(c, x, &perm);
}

static bool diagonal_dims(int rank, int64_t *d1, int64_t *d2)
{
    if (!lz_tracer_dim(*d1, rank, d1) || !lz_tracer_dim(*d2, rank, d2))
        return false;
    if (rank >= 2 && *d1 != *d2)
        return true;
    LZ_FAIL(LZ_EINVAL, "dimensions %" PRId64 " and %" PRId64 " of rank %d have no diagonal", *d1,
            *d2, rank);
    return false;
}

static lz_node *diagonal_scatter(lz_tracer *c, lz_node *x, lz_node *src, int64_t offset, int64_t d1,
                                 int64_t d2)
{
    if (!diagonal_dims(lz_tracer_shape(x)->rank, &d1, &d2))
        return NULL;
    const lz_shape *s = lz_tracer_shape(x);
    int64_t rows = s->dims[d1], cols = s->dims[d2];
    lz_node *old = lz_tracer_diagonal(c, x, offset, d1, d2);
    if (!old || !(src = part(c, x, src, lz_tracer_shape(old))))
        return NULL;
    if (lz_node_type(old)->nelem == 0)
        return x;
    lz_node *e = place_last_two(c, embed(c, src, offset, rows, cols), d1, d2);
    lz_node *i = lz_tracer_iota(c, LZ_I64, s, d1, x), *j = lz_tracer_iota(c, LZ_I64, s, d2, x);
    return SEL(EQ(ADD(i, K(i, (double)offset)), j), e, x);
}

lz_tensor *lz_diagonal_scatter_at(lz_tensor *x, lz_tensor *src, int64_t offset, int64_t dim1,
                                  int64_t dim2, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_diagonal_scatter");
    lz_node *n = IN(x), *s = n ? IN(src) : NULL;
    return lz_tracer_end(c, s ? diagonal_scatter(c, n, s, offset, dim1, dim2) : NULL);
}

lz_tensor *lz_as_strided_scatter_at(lz_tensor *x, lz_tensor *src, const int64_t *strides,
                                    int64_t offset, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_attr_any a;
    BEGIN("lz_as_strided_scatter");
    lz_node *n = IN(x), *s = n ? IN(src) : NULL;
    lz_node *at = s ? lz_tracer_strided_positions(c, n, lz_tracer_shape(s), strides, offset) : NULL;
    if (!at)
        return lz_tracer_end(c, NULL);
    const lz_shape shape = *lz_tracer_shape(n);
    lz_shape flat = {.rank = 1, .dims = {lz_node_type(n)->nelem}},
             row = {.rank = 1, .dims = {lz_node_type(s)->nelem}};
    lz_attr_init(&a, LZ_ATTR_scatter);
    a.as_scatter.inserted_window_dims = a.as_scatter.scatter_dims_to_operand_dims =
        (lz_ints){.n = 1, .v = {0}};
    a.as_scatter.index_vector_dim = 1;
    lz_node *r = lz_tracer_scatter(c, LZ_OP_NONE, lz_tracer_reshape(c, n, &flat),
                                   lz_tracer_reshape(c, at, &row),
                                   lz_tracer_reshape(c, TO(s, lz_tracer_dtype(n)), &row), &a);
    return lz_tracer_end(c, lz_tracer_reshape(c, r, &shape));
}

static lz_node *triangle(lz_tracer *c, lz_node *x, int64_t k, bool lower)
{
    char text[128];
    if (!x)
        return NULL;
    const lz_shape *s = lz_tracer_shape(x);
    if (s->rank < 2) {
        LZ_FAIL(LZ_ESHAPE, "%s is no matrix", text_of(x, text));
        return NULL;
    }
    int64_t most = s->dims[s->rank - 2] + s->dims[s->rank - 1];
    k = k < -most ? -most : k > most ? most : k;
    lz_node *i = lz_tracer_iota(c, LZ_I64, s, s->rank - 2, x),
            *j = lz_tracer_iota(c, LZ_I64, s, s->rank - 1, x);
    i = ADD(i, K(i, (double)k));
    return SEL(lower ? GE(i, j) : LE(i, j), x, K(x, 0));
}

lz_tensor *lz_tril_at(lz_tensor *x, int64_t diagonal, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_tril");
    return lz_tracer_end(c, triangle(c, IN(x), diagonal, true));
}

lz_tensor *lz_triu_at(lz_tensor *x, int64_t diagonal, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_triu");
    return lz_tracer_end(c, triangle(c, IN(x), diagonal, false));
}

/* ---- put together ---- */

static lz_node *diag_embed(lz_tracer *c, lz_node *x, int64_t offset, int64_t d1, int64_t d2)
{
    char text[128];
    if (!x)
        return NULL;
    const lz_shape *s = lz_tracer_shape(x);
    if (s->rank == 0 || s->rank == LZ_MAX_RANK || offset > INT32_MAX || offset < -INT32_MAX) {
        LZ_FAIL(LZ_ESHAPE, "%s on a diagonal with offset %" PRId64, text_of(x, text), offset);
        return NULL;
    }
    if (!diagonal_dims(s->rank + 1, &d1, &d2))
        return NULL;
    int64_t side = s->dims[s->rank - 1] + (offset < 0 ? -offset : offset);
    return place_last_two(c, embed(c, x, offset, side, side), d1, d2);
}

lz_tensor *lz_diag_embed_at(lz_tensor *x, int64_t offset, int64_t dim1, int64_t dim2,
                            const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_diag_embed");
    return lz_tracer_end(c, diag_embed(c, IN(x), offset, dim1, dim2));
}

lz_tensor *lz_diag_at(lz_tensor *x, int64_t offset, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    char text[128];
    BEGIN("lz_diag");
    lz_node *n = IN(x);
    int rank = n ? lz_tracer_shape(n)->rank : 1;
    if (rank == 1)
        return lz_tracer_end(c, diag_embed(c, n, offset, 0, 1));
    if (rank == 2)
        return lz_tracer_end(c, lz_tracer_diagonal(c, n, offset, 0, 1));
    LZ_FAIL(LZ_ESHAPE, "%s is neither a vector nor a matrix", text_of(n, text));
    return lz_tracer_end(c, NULL);
}

/* Operands of at least `rank` dimensions: new ones of extent 1 in front, the third one behind.
 * Joined along dim, vectors of hstack along 0. */
static lz_tensor *stacked(const char *name, lz_tensor *const *xs, int n, int rank, int64_t dim,
                          const lz_site *site)
{
    lz_node *few[16], *r = NULL;
    BEGIN(name);
    lz_node **o = lz_tracer_operands(c, xs, n, few);
    bool ok = o != NULL;
    for (int i = 0; ok && i < n; i++) {
        if (lz_tracer_shape(o[i])->rank == 0)
            o[i] = lz_tracer_unsqueeze(c, o[i], 0);
        if (o[i] && rank > 1 && lz_tracer_shape(o[i])->rank == 1)
            o[i] = lz_tracer_unsqueeze(c, o[i], 0);
        if (o[i] && rank > 2 && lz_tracer_shape(o[i])->rank == 2)
            o[i] = lz_tracer_unsqueeze(c, o[i], 2);
        ok = o[i] != NULL;
    }
    if (ok)
        r = lz_tracer_concat(c, o, (uint32_t)n,
                             rank == 1 && lz_tracer_shape(o[0])->rank == 1 ? 0 : dim);
    if (o && o != few)
        lz_free(o);
    return lz_tracer_end(c, r);
}

lz_tensor *lz_hstack_at(lz_tensor *const *xs, int n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return stacked("lz_hstack", xs, n, 1, 1, site);
}

lz_tensor *lz_vstack_at(lz_tensor *const *xs, int n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return stacked("lz_vstack", xs, n, 2, 0, site);
}

lz_tensor *lz_dstack_at(lz_tensor *const *xs, int n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return stacked("lz_dstack", xs, n, 3, 2, site);
}

/* Each matrix padded to the width of all, then one below the other. */
static lz_node *block_diag(lz_tracer *c, lz_node **o, int n)
{
    int64_t width = 0, at = 0;
    char text[128];
    for (int i = 0; i < n; i++) {
        lz_shape s = *lz_tracer_shape(o[i]);
        if (s.rank > 2) {
            LZ_FAIL(LZ_ESHAPE, "tensor %d is %s: matrices, vectors and numbers go", i,
                    text_of(o[i], text));
            return NULL;
        }
        lz_shape m = {.rank = 2,
                      .dims = {s.rank == 2 ? s.dims[0] : 1, s.rank == 2   ? s.dims[1]
                                                            : s.rank == 1 ? s.dims[0]
                                                                          : 1}};
        if (!(o[i] = lz_tracer_reshape(c, o[i], &m)))
            return NULL;
        width += m.dims[1];
    }
    for (int i = 0; i < n; i++) {
        int64_t w = lz_tracer_shape(o[i])->dims[1];
        lz_ints low = {.n = 2, .v = {0, at}}, high = {.n = 2, .v = {0, width - at - w}},
                in = {.n = 2};
        if (!(o[i] = lz_tracer_pad(c, o[i], &low, &high, &in)))
            return NULL;
        at += w;
    }
    return lz_tracer_concat(c, o, (uint32_t)n, 0);
}

lz_tensor *lz_block_diag_at(lz_tensor *const *xs, int n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_node *few[16], *r = NULL;
    BEGIN("lz_block_diag");
    lz_node **o = lz_tracer_operands(c, xs, n, few);
    if (o)
        r = block_diag(c, o, n);
    if (o && o != few)
        lz_free(o);
    return lz_tracer_end(c, r);
}

lz_status lz_meshgrid_at(lz_tensor *const *xs, int n, const char *indexing, lz_tensor **out,
                         const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    lz_node *few[16];
    lz_shape grid = {.rank = n};
    BEGIN("lz_meshgrid");
    bool xy = indexing && strcmp(indexing, "xy") == 0, ok = false;
    lz_node **o = NULL;
    if (!indexing || !out)
        LZ_FAIL(LZ_ENULL, "%s is NULL", out ? "indexing" : "out");
    else if (!xy && strcmp(indexing, "ij") != 0)
        LZ_FAIL(LZ_EINVAL, "indexing \"%.40s\": \"ij\" or \"xy\"", indexing);
    else if (n > LZ_MAX_RANK)
        LZ_FAIL(LZ_ERANGE, "%d vectors: a grid has at most %d dimensions", n, LZ_MAX_RANK);
    else
        ok = (o = lz_tracer_operands(c, xs, n, few)) != NULL;
    for (int i = 0; ok && i < n; i++) {
        if (lz_tracer_shape(o[i])->rank > 1) {
            LZ_FAIL(LZ_ESHAPE, "tensor %d has rank %d: vectors make a grid", i,
                    lz_tracer_shape(o[i])->rank);
            ok = false;
        }
        grid.dims[i] = lz_node_type(o[i])->nelem;
    }
    if (ok && xy && n > 1) {
        int64_t first = grid.dims[0];
        grid.dims[0] = grid.dims[1];
        grid.dims[1] = first;
    }
    for (int i = 0; ok && i < n; i++) {
        lz_shape row = {.rank = 1, .dims = {lz_node_type(o[i])->nelem}};
        int at = xy && i < 2 && n > 1 ? 1 - i : i;
        lz_node *g = lz_tracer_broadcast_in_dim(c, lz_tracer_reshape(c, o[i], &row),
                                                &(lz_ints){.n = 1, .v = {at}}, &grid);
        lz_tracer_also(c, g, &out[i]);
        ok = g != NULL;
    }
    if (o && o != few)
        lz_free(o);
    if (!ok)
        lz_error_annotate(c->op, c->site);
    lz_tracer_drop(c);
    return ok ? LZ_OK : lz_error_get()->status;
}

lz_tensor *lz_vander_at(lz_tensor *x, int64_t n, bool increasing, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    char text[128];
    BEGIN("lz_vander");
    lz_node *v = IN(x);
    if (v && (lz_tracer_shape(v)->rank != 1 || n < 0)) {
        LZ_FAIL(LZ_ESHAPE, "%s, %" PRId64 " columns: a vector is needed", text_of(v, text), n);
        v = NULL;
    }
    if (!v)
        return lz_tracer_end(c, NULL);
    lz_shape s = {.rank = 2, .dims = {lz_tracer_shape(v)->dims[0], n}};
    lz_dtype d = lz_tracer_dtype(v);
    v = lz_tracer_broadcast_in_dim(c, d == LZ_BOOL ? TO(v, d = LZ_I64) : v,
                                   &(lz_ints){.n = 1, .v = {0}}, &s);
    lz_node *e = lz_tracer_iota(c, LZ_I64, &s, 1, v);
    e = TO(increasing ? e : SUB(K(e, (double)(n - 1)), e), d);
    return lz_tracer_end(c, POW(v, e));
}

/* ---- made ---- */

lz_tensor *lz_empty_at(lz_dtype dtype, lz_shape shape, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_empty");
    return lz_tracer_end(c, lz_type_get(dtype, &shape)
                                ? lz_tracer_fill(c, lz_tracer_const(c, dtype, 0, NULL), &shape)
                                : NULL);
}

/* A tensor of x's shape; argument: the value is one of run time. */
static lz_tensor *like(const char *name, lz_tensor *x, double v, bool argument, lz_dtype dtype,
                       const lz_site *site)
{
    BEGIN(name);
    lz_node *n = IN(x);
    lz_dtype d = dtype == LZ_DTYPE_NONE ? lz_tracer_dtype(n) : dtype;
    if (n && !lz_type_get(d, lz_tracer_shape(n)))
        n = NULL;
    lz_node *s = n ? (argument ? lz_tracer_argument : lz_tracer_const)(c, d, v, n) : NULL;
    return lz_tracer_end(c, s ? lz_tracer_fill(c, s, lz_tracer_shape(n)) : NULL);
}

lz_tensor *lz_zeros_like_at(lz_tensor *x, lz_dtype dtype, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return like("lz_zeros_like", x, 0, false, dtype, site);
}

lz_tensor *lz_ones_like_at(lz_tensor *x, lz_dtype dtype, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return like("lz_ones_like", x, 1, false, dtype, site);
}

lz_tensor *lz_full_like_at(lz_tensor *x, double value, lz_dtype dtype, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return like("lz_full_like", x, value, true, dtype, site);
}

lz_tensor *lz_eye_at(lz_dtype dtype, int64_t n, int64_t m, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_shape s = {.rank = 2, .dims = {n, m}};
    BEGIN("lz_eye");
    if (!lz_type_get(dtype, &s))
        return lz_tracer_end(c, NULL);
    return lz_tracer_end(
        c, TO(EQ(lz_tracer_iota(c, LZ_I64, &s, 0, NULL), lz_tracer_iota(c, LZ_I64, &s, 1, NULL)),
              dtype));
}

/* start + i step from the start in the first half, end - (steps - 1 - i) step in the second, in
 * f64. */
static lz_node *linspace(lz_tracer *c, lz_dtype d, double start, double end, int64_t steps)
{
    lz_shape s = {.rank = 1, .dims = {steps}};
    if (steps < 0 || !isfinite(start) || !isfinite(end)) {
        LZ_FAIL(LZ_EINVAL, "%" PRId64 " steps from %g to %g", steps, start, end);
        return NULL;
    }
    if (d == LZ_BOOL || lz_dtype_is_complex(d)) {
        LZ_FAIL(LZ_EDTYPE, "%s: integers and floats have ranges", lz_dtype_name(d));
        return NULL;
    }
    if (!lz_type_get(d, &s))
        return NULL;
    double step = steps > 1 ? (end - start) / (double)(steps - 1) : 0;
    if (!isfinite(step)) /* the difference overflows, the quotient does not */
        step = end / (double)(steps - 1) - start / (double)(steps - 1);
    lz_node *i = lz_tracer_iota(c, LZ_F64, &s, 0, NULL), *h = ARG(i, step);
    lz_node *low = ADD(ARG(i, start), MUL(i, h));
    lz_node *high = SUB(ARG(i, end), MUL(SUB(K(i, (double)(steps - 1)), i), h));
    return steps == 1 ? low : SEL(LT(i, K(i, (double)(steps / 2))), low, high);
}

lz_tensor *lz_linspace_at(lz_dtype dtype, double start, double end, int64_t steps,
                          const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_linspace");
    return lz_tracer_end(c, TO(linspace(c, dtype, start, end, steps), dtype));
}

lz_tensor *lz_logspace_at(lz_dtype dtype, double start, double end, int64_t steps, double base,
                          const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_logspace");
    lz_node *e = linspace(c, dtype, start, end, steps);
    return lz_tracer_end(c, e ? TO(POW(ARG(e, base), e), dtype) : NULL);
}

/* How many elements of a matrix are on or below diagonal k: row i has i + k + 1, at least none and
 * at most all. */
static int64_t below(int64_t rows, int64_t cols, int64_t k)
{
    int64_t first = k < 0 ? -k : 0, whole = cols - 1 - k;
    first = first < rows ? first : rows;
    whole = whole < first ? first : whole < rows ? whole : rows;
    int64_t n = whole - first;
    return n * (first + k + 1) + n * (n - 1) / 2 + (rows - whole) * cols;
}

/* Rows and columns where column - row <= offset (lower), or >= offset. */
static lz_tensor *triangle_indices(const char *name, int64_t rows, int64_t cols, int64_t offset,
                                   bool lower, const lz_site *site)
{
    BEGIN(name);
    if (rows < 0 || cols < 0 || rows > INT32_MAX || cols > INT32_MAX) {
        LZ_FAIL(LZ_ERANGE, "a matrix of %" PRId64 " by %" PRId64, rows, cols);
        return lz_tracer_end(c, NULL);
    }
    int64_t k = offset < -rows ? -rows - 1 : offset > cols ? cols + 1 : offset;
    int64_t n = lower ? below(rows, cols, k) : rows * cols - below(rows, cols, k - 1), at = 0;
    int64_t *v = lz_calloc((size_t)n * 2 + 1, sizeof *v);
    if (!v) {
        LZ_FAIL(LZ_EMEM, "no memory for %" PRId64 " indices", n);
        return lz_tracer_end(c, NULL);
    }
    for (int64_t i = lower && k < 0 ? -k : 0; at < n; i++) {
        int64_t edge = i + k, from = lower || edge < 0 ? 0 : edge,
                to = lower && edge + 1 < cols ? edge + 1 : cols;
        for (int64_t j = from; j < to; j++) {
            v[at] = i;
            v[n + at++] = j;
        }
    }
    lz_tensor *t = lz_from_host_at(LZ_I64, LZ_SHAPE(2, n), v, (size_t)-1, site);
    lz_free(v);
    lz_tensor *r = lz_tracer_end(c, IN(t));
    (void)lz_release(t);
    return r;
}

lz_tensor *lz_tril_indices_at(int64_t rows, int64_t cols, int64_t offset, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return triangle_indices("lz_tril_indices", rows, cols, offset, true, site);
}

lz_tensor *lz_triu_indices_at(int64_t rows, int64_t cols, int64_t offset, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return triangle_indices("lz_triu_indices", rows, cols, offset, false, site);
}
