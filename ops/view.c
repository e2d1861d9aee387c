/* view.c - rearranging, repeating and splitting: include/lazuli/shape_ops.h. */
#include "ops/index_builder.h"
#include "ops/compose.h"
#include <inttypes.h>
#include <lazuli/shape_ops.h>
#include <string.h>

static const char *text_of(const lz_node *x, char *text)
{
    return lz_type_short(lz_node_type(x), text, 128);
}

lz_tensor *lz_clone_at(lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_clone");
    return lz_tracer_end(c, IN(x));
}

lz_tensor *lz_t_at(lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    char text[128];
    BEGIN("lz_t");
    lz_node *n = IN(x);
    if (n && lz_tracer_shape(n)->rank > 2) {
        LZ_FAIL(LZ_ESHAPE, "%s: at most rank 2 is transposed by itself", text_of(n, text));
        n = NULL;
    }
    if (n && lz_tracer_shape(n)->rank == 2)
        n = lz_tracer_transpose(c, n, &(lz_ints){.n = 2, .v = {1, 0}});
    return lz_tracer_end(c, n);
}

/* Dimensions of x from the front, none twice; false with the error recorded. */
static bool dims_of(const lz_node *x, const lz_dims *d, int64_t *out)
{
    if (d->n < 0 || d->n > LZ_MAX_RANK) {
        LZ_FAIL(LZ_ERANGE, "%d dimensions", d->n);
        return false;
    }
    for (int i = 0; i < d->n; i++) {
        if (!lz_tracer_dim(d->v[i], lz_tracer_shape(x)->rank, &out[i]))
            return false;
        for (int j = 0; j < i; j++)
            if (out[i] == out[j]) {
                LZ_FAIL(LZ_EINVAL, "dimension %" PRId64 " comes twice", out[i]);
                return false;
            }
    }
    return true;
}

/* Dimensions from[i] go to to[i]; the others fill the places left in their order. */
static lz_node *move_dims(lz_tracer *c, lz_node *x, const int64_t *from, const int64_t *to, int n)
{
    if (!x)
        return NULL;
    int rank = lz_tracer_shape(x)->rank;
    lz_ints perm = {.n = rank};
    bool moved[LZ_MAX_RANK] = {false};
    for (int i = 0; i < rank; i++)
        perm.v[i] = -1;
    for (int i = 0; i < n && rank > 0; i++) {
        perm.v[to[i]] = from[i];
        moved[from[i]] = true;
    }
    for (int i = 0, next = 0; i < rank; i++)
        if (perm.v[i] < 0) {
            while (moved[next])
                next++;
            perm.v[i] = next++;
        }
    return lz_tracer_transpose(c, x, &perm);
}

lz_tensor *lz_movedim_at(lz_tensor *x, lz_dims source, lz_dims destination, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    int64_t from[LZ_MAX_RANK], to[LZ_MAX_RANK];
    BEGIN("lz_movedim");
    lz_node *n = IN(x);
    if (n && source.n != destination.n) {
        LZ_FAIL(LZ_EINVAL, "%d dimensions go to %d places", source.n, destination.n);
        n = NULL;
    }
    bool ok = n && dims_of(n, &source, from) && dims_of(n, &destination, to);
    return lz_tracer_end(c, ok ? move_dims(c, n, from, to, source.n) : NULL);
}

lz_tensor *lz_squeeze_dims_at(lz_tensor *x, lz_dims dims, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    int64_t d[LZ_MAX_RANK];
    lz_shape r = {.rank = 0};
    BEGIN("lz_squeeze_dims");
    lz_node *n = IN(x);
    if (!n || !dims_of(n, &dims, d))
        return lz_tracer_end(c, NULL);
    const lz_shape *s = lz_tracer_shape(n);
    for (int i = 0; i < s->rank; i++) {
        bool chosen = dims.n == 0;
        for (int k = 0; k < dims.n; k++)
            chosen |= d[k] == i;
        if (!chosen || s->dims[i] != 1)
            r.dims[r.rank++] = s->dims[i];
    }
    return lz_tracer_end(c, lz_tracer_reshape(c, n, &r));
}

static lz_node *unflatten(lz_tracer *c, lz_node *x, int64_t dim, const lz_shape *sizes)
{
    char text[128];
    if (!x || !lz_tracer_dim(dim, lz_tracer_shape(x)->rank, &dim))
        return NULL;
    const lz_shape *s = lz_tracer_shape(x);
    lz_shape r = {.rank = 0};
    int64_t known = 1;
    int hole = -1;
    bool ok = s->rank > 0 && sizes->rank > 0 && sizes->rank <= LZ_MAX_RANK &&
              s->rank - 1 + sizes->rank <= LZ_MAX_RANK;
    for (int i = 0; ok && i < sizes->rank; i++) {
        if (sizes->dims[i] == -1 && hole < 0)
            hole = i;
        else
            ok = sizes->dims[i] >= 0 && lz_mul_i64(known, sizes->dims[i], &known);
    }
    ok = ok && (hole < 0 ? known == s->dims[dim] : known > 0 && s->dims[dim] % known == 0);
    if (!ok) {
        LZ_FAIL(LZ_ESHAPE, "%s: dimension %" PRId64 " is no product of the %d sizes",
                text_of(x, text), dim, sizes->rank);
        return NULL;
    }
    for (int i = 0; i < s->rank; i++) {
        if (i != dim)
            r.dims[r.rank++] = s->dims[i];
        for (int k = 0; i == dim && k < sizes->rank; k++)
            r.dims[r.rank++] = k == hole ? s->dims[dim] / known : sizes->dims[k];
    }
    return lz_tracer_reshape(c, x, &r);
}

lz_tensor *lz_unflatten_at(lz_tensor *x, int64_t dim, lz_shape sizes, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_unflatten");
    return lz_tracer_end(c, unflatten(c, IN(x), dim, &sizes));
}

lz_tensor *lz_expand_as_at(lz_tensor *x, lz_tensor *other, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_expand_as");
    lz_node *n = IN(x), *o = n ? IN(other) : NULL;
    return lz_tracer_end(c, o ? lz_tracer_expand(c, n, lz_tracer_shape(o)) : NULL);
}

/* The elements in row-major order, as many as the type has: cut, or with zeros behind them. */
static lz_node *resize(lz_tracer *c, lz_node *x, const lz_shape *s)
{
    const lz_type *t = x ? lz_type_get(lz_tracer_dtype(x), s) : NULL;
    if (!t)
        return NULL;
    int64_t have = lz_node_type(x)->nelem, want = t->nelem;
    static const lz_ints none = {.n = 1};
    const lz_shape row = LZ_SHAPE(have);
    lz_node *flat = lz_tracer_reshape(c, x, &row);
    if (want < have)
        flat = lz_tracer_slice_dim(c, flat, 0, 0, want, 1);
    else if (want > have)
        flat = lz_tracer_pad(c, flat, &none, &(lz_ints){1, {want - have}}, &none);
    return lz_tracer_reshape(c, flat, s);
}

lz_tensor *lz_resize_at(lz_tensor *x, lz_shape shape, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_resize");
    return lz_tracer_end(c, resize(c, IN(x), &shape));
}

static lz_node *roll_dim(lz_tracer *c, lz_node *x, int64_t dim, int64_t shift)
{
    int64_t n = x ? lz_tracer_shape(x)->dims[dim] : 0;
    if (n == 0)
        return x;
    shift %= n;
    shift += shift < 0 ? n : 0;
    if (shift == 0)
        return x;
    lz_node *part[2] = {lz_tracer_slice_dim(c, x, dim, n - shift, n, 1),
                        lz_tracer_slice_dim(c, x, dim, 0, n - shift, 1)};
    return part[0] && part[1] ? lz_tracer_concat(c, part, 2, dim) : NULL;
}

static lz_node *roll(lz_tracer *c, lz_node *x, const lz_dims *shifts, const lz_dims *dims)
{
    if (!x)
        return NULL;
    const lz_shape s = *lz_tracer_shape(x);
    if (dims->n == 0 && shifts->n == 1) {
        lz_shape flat = {.rank = 1, .dims = {lz_node_type(x)->nelem}};
        return lz_tracer_reshape(c, roll_dim(c, lz_tracer_reshape(c, x, &flat), 0, shifts->v[0]),
                                 &s);
    }
    if (shifts->n != dims->n || dims->n < 1 || dims->n > LZ_MAX_RANK) {
        LZ_FAIL(LZ_EINVAL, "%d shifts for %d dimensions", shifts->n, dims->n);
        return NULL;
    }
    for (int i = 0; x && i < dims->n; i++) {
        int64_t d;
        if (!lz_tracer_dim(dims->v[i], s.rank, &d))
            return NULL;
        if (s.rank > 0)
            x = roll_dim(c, x, d, shifts->v[i]);
    }
    return x;
}

lz_tensor *lz_roll_at(lz_tensor *x, lz_dims shifts, lz_dims dims, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_roll");
    return lz_tracer_end(c, roll(c, IN(x), &shifts, &dims));
}

lz_tensor *lz_rot90_at(lz_tensor *x, int64_t k, int64_t dim0, int64_t dim1, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    char text[128];
    BEGIN("lz_rot90");
    lz_node *n = IN(x);
    if (n &&
        (lz_tracer_shape(n)->rank < 2 || !lz_tracer_dim(dim0, lz_tracer_shape(n)->rank, &dim0) ||
         !lz_tracer_dim(dim1, lz_tracer_shape(n)->rank, &dim1) || dim0 == dim1)) {
        if (lz_tracer_shape(n)->rank < 2 || dim0 == dim1)
            LZ_FAIL(LZ_EINVAL, "%s is not turned in dimensions %" PRId64 " and %" PRId64,
                    text_of(n, text), dim0, dim1);
        n = NULL;
    }
    k = (k % 4 + 4) % 4;
    if (n && k == 2)
        n = lz_tracer_flip(c, n, &(lz_dims){2, {dim0, dim1}});
    else if (n && k)
        n = lz_tracer_flip(c, n, &(lz_dims){1, {k == 1 ? dim1 : dim0}});
    if (n && k % 2)
        n = move_dims(c, n, (int64_t[]){dim0, dim1}, (int64_t[]){dim1, dim0}, 2);
    return lz_tracer_end(c, n);
}

/* ---- repeated ---- */

/* x as [before, n, after], and r times along the middle: as a whole, or each of its elements. */
static lz_node *repeat_dim(lz_tracer *c, lz_node *x, int64_t dim, int64_t r, bool each)
{
    if (!x || r == 1)
        return x;
    lz_shape s = *lz_tracer_shape(x), four = {.rank = 4, .dims = {1, 1, 1, 1}}, three = {.rank = 3};
    for (int i = 0; i < s.rank; i++)
        four.dims[i < dim ? 0 : i == dim ? (each ? 1 : 2) : 3] *= s.dims[i];
    three.dims[0] = four.dims[0];
    three.dims[1] = s.dims[dim];
    three.dims[2] = four.dims[3];
    if (!lz_mul_i64(s.dims[dim], r, &s.dims[dim])) {
        LZ_FAIL(LZ_ERANGE, "repeated %" PRId64 " times: too many elements", r);
        return NULL;
    }
    x = lz_tracer_reshape(c, x, &three);
    four.dims[each ? 2 : 1] = r;
    return lz_tracer_reshape(
        c, lz_tracer_broadcast_in_dim(c, x, &(lz_ints){.n = 3, .v = {0, each ? 1 : 2, 3}}, &four),
        &s);
}

static lz_node *repeat(lz_tracer *c, lz_node *x, lz_shape r, bool tile)
{
    char text[128];
    if (!x)
        return NULL;
    const lz_shape *s = lz_tracer_shape(x);
    if (r.rank < 0 || r.rank > LZ_MAX_RANK || (!tile && r.rank < s->rank)) {
        LZ_FAIL(LZ_ESHAPE, "%s, repeated by a list of %d: it needs at least the rank",
                text_of(x, text), r.rank);
        return NULL;
    }
    while (r.rank < s->rank) { /* tile: ones in front */
        memmove(r.dims + 1, r.dims, sizeof r.dims - sizeof *r.dims);
        r.dims[0] = 1;
        r.rank++;
    }
    lz_shape full = {.rank = r.rank};
    for (int i = 0; i < r.rank; i++) {
        int k = i - (r.rank - s->rank);
        full.dims[i] = k >= 0 ? s->dims[k] : 1;
        if (r.dims[i] < 0) {
            LZ_FAIL(LZ_EINVAL, "repeated %" PRId64 " times", r.dims[i]);
            return NULL;
        }
    }
    x = lz_tracer_reshape(c, x, &full);
    for (int i = 0; i < r.rank; i++)
        x = repeat_dim(c, x, i, r.dims[i], false);
    return x;
}

lz_tensor *lz_repeat_at(lz_tensor *x, lz_shape repeats, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_repeat");
    return lz_tracer_end(c, repeat(c, IN(x), repeats, false));
}

lz_tensor *lz_tile_at(lz_tensor *x, lz_shape repeats, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_tile");
    return lz_tracer_end(c, repeat(c, IN(x), repeats, true));
}

lz_tensor *lz_repeat_interleave_at(lz_tensor *x, int64_t repeats, int64_t dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_repeat_interleave");
    lz_node *n = IN(x);
    lz_shape flat = {.rank = 1, .dims = {n ? lz_node_type(n)->nelem : 0}};
    if (n && (dim == LZ_ALL_DIMS || lz_tracer_shape(n)->rank == 0)) {
        n = lz_tracer_reshape(c, n, &flat);
        dim = 0;
    }
    if (n && repeats < 0) {
        LZ_FAIL(LZ_EINVAL, "repeated %" PRId64 " times", repeats);
        n = NULL;
    }
    bool ok = n && lz_tracer_dim(dim, lz_tracer_shape(n)->rank, &dim);
    return lz_tracer_end(c, ok ? repeat_dim(c, n, dim, repeats, true) : NULL);
}

/* ---- taken apart ---- */

/* A dimension of a tensor that has one. */
static bool real_dim(const lz_node *x, int64_t dim, int64_t *out)
{
    if (lz_tracer_shape(x)->rank > 0)
        return lz_tracer_dim(dim, lz_tracer_shape(x)->rank, out);
    LZ_FAIL(LZ_ESHAPE, "a scalar has no dimension to take from");
    return false;
}

lz_tensor *lz_narrow_at(lz_tensor *x, int64_t dim, int64_t start, int64_t length,
                        const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_narrow");
    lz_node *n = IN(x);
    if (!n || !real_dim(n, dim, &dim))
        return lz_tracer_end(c, NULL);
    int64_t extent = lz_tracer_shape(n)->dims[dim], from = start < 0 ? start + extent : start;
    if (start < -extent || from > extent || length < 0 || length > extent - from) {
        LZ_FAIL(LZ_ERANGE, "%" PRId64 " from %" PRId64 " of %" PRId64 " elements", length, start,
                extent);
        return lz_tracer_end(c, NULL);
    }
    return lz_tracer_end(c, lz_tracer_slice_dim(c, n, dim, from, from + length, 1));
}

/* How dim is split: `count` pieces of `size` elements, or of the listed sizes. squeeze: removes
 * dim. */
typedef struct cuts {
    int64_t dim, count, size;
    const int64_t *sizes;
    bool squeeze;
} cuts;

static lz_status write_pieces(lz_tracer *c, lz_node *x, const cuts *k, lz_tensor **out)
{
    int64_t at = 0, extent = lz_tracer_shape(x)->dims[k->dim];
    lz_status st = LZ_OK;
    for (int64_t i = 0; i < k->count; i++) {
        int64_t n = k->sizes ? k->sizes[i] : extent - at < k->size ? extent - at : k->size;
        lz_node *p = n == extent ? x : lz_tracer_slice_dim(c, x, k->dim, at, at + n, 1);
        if (k->squeeze)
            p = lz_tracer_squeeze(c, p, k->dim);
        if (!p && st == LZ_OK)
            st = lz_error_get()->status;
        lz_tracer_also(c, p, &out[i]);
        at += n;
    }
    return st;
}

static lz_status status_now(lz_tracer *c, lz_status st)
{
    if (st == LZ_OK) {
        lz_tracer_drop(c);
        return LZ_OK;
    }
    lz_error_annotate(c->op, c->site);
    lz_tracer_drop(c);
    return lz_error_get()->status;
}

static lz_status cut(lz_tracer *c, lz_node *x, const cuts *k, lz_tensor **out, int *n)
{
    if (!x)
        return lz_error_get()->status;
    if (!out || !n)
        return LZ_FAIL(LZ_ENULL, "%s is NULL", out ? "n" : "out");
    if (k->count > *n)
        return LZ_FAIL(LZ_ERANGE, "there are %" PRId64 " pieces, and room for %d", k->count, *n);
    *n = (int)k->count;
    return write_pieces(c, x, k, out);
}

lz_status lz_split_at(lz_tensor *x, int64_t size, int64_t dim, lz_tensor **out, int *n,
                      const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    BEGIN("lz_split");
    lz_node *t = IN(x);
    cuts k = {.size = size};
    if (!t || !real_dim(t, dim, &k.dim))
        return status_now(c, lz_error_get()->status);
    int64_t extent = lz_tracer_shape(t)->dims[k.dim];
    if (size < 0 || (size == 0 && extent > 0))
        return status_now(c, LZ_FAIL(LZ_EINVAL, "pieces of %" PRId64 " elements", size));
    k.count = extent == 0 ? 1 : extent / size + (extent % size != 0);
    return status_now(c, cut(c, t, &k, out, n));
}

lz_status lz_chunk_at(lz_tensor *x, int64_t chunks, int64_t dim, lz_tensor **out, int *n,
                      const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    BEGIN("lz_chunk");
    lz_node *t = IN(x);
    cuts k = {0};
    if (!t || !real_dim(t, dim, &k.dim))
        return status_now(c, lz_error_get()->status);
    int64_t extent = lz_tracer_shape(t)->dims[k.dim];
    if (chunks < 1)
        return status_now(c, LZ_FAIL(LZ_EINVAL, "%" PRId64 " chunks", chunks));
    k.size = extent / chunks + (extent % chunks != 0);
    k.count = extent == 0 ? chunks : extent / k.size + (extent % k.size != 0);
    return status_now(c, cut(c, t, &k, out, n));
}

/* The first pieces are larger by one. */
lz_status lz_tensor_split_at(lz_tensor *x, int64_t sections, int64_t dim, lz_tensor **out, int *n,
                             const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    BEGIN("lz_tensor_split");
    lz_node *t = IN(x);
    cuts k = {.count = sections};
    if (!t || !real_dim(t, dim, &k.dim))
        return status_now(c, lz_error_get()->status);
    if (sections < 1)
        return status_now(c, LZ_FAIL(LZ_EINVAL, "%" PRId64 " sections", sections));
    if (!out || !n)
        return status_now(c, LZ_FAIL(LZ_ENULL, "%s is NULL", out ? "n" : "out"));
    if (sections > *n)
        return status_now(
            c, LZ_FAIL(LZ_ERANGE, "there are %" PRId64 " pieces, and room for %d", sections, *n));
    int64_t extent = lz_tracer_shape(t)->dims[k.dim],
            *sizes = lz_calloc((size_t)sections, sizeof *sizes);
    if (!sizes)
        return status_now(c, LZ_FAIL(LZ_EMEM, "no memory for %" PRId64 " sizes", sections));
    for (int64_t i = 0; i < sections; i++)
        sizes[i] = extent / sections + (i < extent % sections);
    k.sizes = sizes;
    lz_status st = cut(c, t, &k, out, n);
    lz_free(sizes);
    return status_now(c, st);
}

lz_status lz_unbind_at(lz_tensor *x, int64_t dim, lz_tensor **out, int *n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    BEGIN("lz_unbind");
    lz_node *t = IN(x);
    cuts k = {.size = 1, .squeeze = true};
    if (!t || !real_dim(t, dim, &k.dim))
        return status_now(c, lz_error_get()->status);
    k.count = lz_tracer_shape(t)->dims[k.dim];
    return status_now(c, cut(c, t, &k, out, n));
}

lz_status lz_split_with_sizes_at(lz_tensor *x, const int64_t *sizes, int n, int64_t dim,
                                 lz_tensor **out, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    BEGIN("lz_split_with_sizes");
    lz_node *t = IN(x);
    cuts k = {.sizes = sizes, .count = n};
    int64_t total = 0;
    bool ok = n >= 0;
    if (!t || !real_dim(t, dim, &k.dim))
        return status_now(c, lz_error_get()->status);
    if (!sizes || !out)
        return status_now(c, LZ_FAIL(LZ_ENULL, "%s is NULL", sizes ? "out" : "sizes"));
    for (int i = 0; ok && i < n; i++) {
        ok = sizes[i] >= 0 && sizes[i] <= lz_tracer_shape(t)->dims[k.dim] - total;
        total += ok ? sizes[i] : 0;
    }
    if (!ok || total != lz_tracer_shape(t)->dims[k.dim])
        return status_now(c, LZ_FAIL(LZ_ESHAPE,
                                     "%d sizes, the sum is not the extent %" PRId64
                                     " of dimension %" PRId64,
                                     n, lz_tracer_shape(t)->dims[k.dim], k.dim));
    return status_now(c, cut(c, t, &k, out, &n));
}

/* The diagonal of a square, seen as one row, is every (L + 1)-th of its elements. */
lz_node *lz_tracer_diagonal(lz_tracer *c, lz_node *x, int64_t offset, int64_t d1, int64_t d2)
{
    if (!x)
        return NULL;
    int rank = lz_tracer_shape(x)->rank;
    x = move_dims(c, x, (int64_t[]){d1, d2}, (int64_t[]){rank - 2, rank - 1}, 2);
    if (!x)
        return NULL;
    lz_shape s = *lz_tracer_shape(x), r = s;
    int64_t rows = s.dims[rank - 2], cols = s.dims[rank - 1];
    int64_t i0 = offset < 0 ? (offset < -rows ? rows : -offset) : 0,
            j0 = offset > 0 ? (offset > cols ? cols : offset) : 0;
    int64_t n = rows - i0 < cols - j0 ? rows - i0 : cols - j0;
    x = lz_tracer_slice_dim(c, lz_tracer_slice_dim(c, x, rank - 2, i0, i0 + n, 1), rank - 1, j0,
                            j0 + n, 1);
    r.rank = rank - 1;
    r.dims[rank - 2] = n * n;
    r.dims[rank - 1] = 0;
    return n < 2 ? lz_tracer_reshape(c, x, &r)
                 : lz_tracer_slice_dim(c, lz_tracer_reshape(c, x, &r), rank - 2, 0, n * n, n + 1);
}

/* Two different dimensions of x, from the front. */
static bool two_dims(const lz_node *x, int rank, int64_t *d1, int64_t *d2)
{
    char text[128];
    if (!lz_tracer_dim(*d1, rank, d1) || !lz_tracer_dim(*d2, rank, d2))
        return false;
    if (rank >= 2 && *d1 != *d2)
        return true;
    LZ_FAIL(LZ_EINVAL, "%s: dimensions %" PRId64 " and %" PRId64 " have no diagonal",
            text_of(x, text), *d1, *d2);
    return false;
}

lz_tensor *lz_diagonal_at(lz_tensor *x, int64_t offset, int64_t dim1, int64_t dim2,
                          const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_diagonal");
    lz_node *n = IN(x);
    bool ok = n && two_dims(n, lz_tracer_shape(n)->rank, &dim1, &dim2);
    return lz_tracer_end(c, ok ? lz_tracer_diagonal(c, n, offset, dim1, dim2) : NULL);
}

/* ---- windows: positions computed in the program ---- */

static lz_node *unfold_dim(lz_tracer *c, lz_node *x, int64_t dim, int64_t size, int64_t step)
{
    char text[128];
    if (!x || !real_dim(x, dim, &dim))
        return NULL;
    int rank = lz_tracer_shape(x)->rank;
    int64_t n = lz_tracer_shape(x)->dims[dim];
    if (size < 0 || size > n || step < 1 || rank == LZ_MAX_RANK) {
        LZ_FAIL(LZ_EINVAL, "%s: windows of %" PRId64 " every %" PRId64 " of dimension %" PRId64,
                text_of(x, text), size, step, dim);
        return NULL;
    }
    lz_shape at = {.rank = 2, .dims = {(n - size) / step + 1, size}};
    lz_node *first = lz_tracer_iota(c, LZ_I64, &at, 0, x);
    first = MUL(first, K(first, (double)step));
    lz_node *w = lz_tracer_take(c, x, dim, ADD(first, lz_tracer_iota(c, LZ_I64, &at, 1, x)));
    return move_dims(c, w, (int64_t[]){dim + 1}, (int64_t[]){rank}, 1);
}

lz_tensor *lz_unfold_dim_at(lz_tensor *x, int64_t dim, int64_t size, int64_t step,
                            const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_unfold_dim");
    return lz_tracer_end(c, unfold_dim(c, IN(x), dim, size, step));
}

lz_node *lz_tracer_strided_positions(lz_tracer *c, const lz_node *x, const lz_shape *s,
                                     const int64_t *strides, int64_t offset)
{
    char text[128];
    int64_t last = offset;
    if (!strides && s->rank > 0) {
        LZ_FAIL(LZ_ENULL, "strides is NULL");
        return NULL;
    }
    const lz_type *t = lz_type_get(LZ_I64, s);
    if (!t)
        return NULL;
    bool ok = offset >= 0;
    for (int i = 0; ok && i < s->rank; i++) {
        int64_t far = 0;
        ok = strides[i] >= 0 && (s->dims[i] == 0 || lz_mul_i64(strides[i], s->dims[i] - 1, &far)) &&
             far <= INT64_MAX - last;
        last += ok ? far : 0;
    }
    if (!ok || (t->nelem > 0 && last >= lz_node_type(x)->nelem)) {
        LZ_FAIL(LZ_ERANGE, "offset %" PRId64 " and the strides lead outside of %s", offset,
                lz_type_short(lz_node_type(x), text, sizeof text));
        return NULL;
    }
    lz_node *at = lz_tracer_fill(c, lz_tracer_const(c, LZ_I64, (double)offset, x), s);
    for (int i = 0; i < s->rank; i++) {
        lz_node *k = lz_tracer_iota(c, LZ_I64, s, i, x);
        at = ADD(at, MUL(k, K(k, (double)strides[i])));
    }
    return at;
}

lz_tensor *lz_as_strided_at(lz_tensor *x, lz_shape shape, const int64_t *strides, int64_t offset,
                            const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_as_strided");
    lz_node *n = IN(x), *at = n ? lz_tracer_strided_positions(c, n, &shape, strides, offset) : NULL;
    if (!at)
        return lz_tracer_end(c, NULL);
    lz_shape flat = {.rank = 1, .dims = {lz_node_type(n)->nelem}};
    return lz_tracer_end(c, lz_tracer_take(c, lz_tracer_reshape(c, n, &flat), 0, at));
}
