/* shape.c - reshaping, slicing and joining with ATen's rules: include/lazuli/tensor_ops.h. */
#include "ops/compose.h"
#include <inttypes.h>
#include <lazuli/tensor_ops.h>
#include <string.h>

static const lz_type *type_of(const lz_node *x)
{
    return lz_node_type(x);
}

static bool shape_rank_ok(const lz_shape *s)
{
    if (s->rank >= 0 && s->rank <= LZ_MAX_RANK)
        return true;
    LZ_FAIL(LZ_ESHAPE, "a shape of rank %d: 0 to %d are allowed", s->rank, LZ_MAX_RANK);
    return false;
}

static lz_node *reshape(lz_tracer *c, lz_node *x, lz_shape s)
{
    char text[128];
    int64_t known = 1;
    int hole = -1;
    if (!x || !shape_rank_ok(&s))
        return NULL;
    for (int i = 0; i < s.rank; i++) {
        if (s.dims[i] == -1 && hole < 0) {
            hole = i;
        } else if (s.dims[i] < 0 || !lz_mul_i64(known, s.dims[i], &known)) {
            LZ_FAIL(LZ_ESHAPE,
                    "extent %d is %" PRId64 ": at most one may be -1, and the rest must fit", i,
                    s.dims[i]);
            return NULL;
        }
    }
    if (hole >= 0) {
        if (known == 0 || type_of(x)->nelem % known) {
            LZ_FAIL(LZ_ESHAPE,
                    "%s with %" PRId64
                    " elements: extent %d cannot be found from a product of %" PRId64,
                    lz_type_short(type_of(x), text, sizeof text), type_of(x)->nelem, hole, known);
            return NULL;
        }
        s.dims[hole] = type_of(x)->nelem / known;
    }
    return lz_tracer_reshape(c, x, &s);
}

lz_tensor *lz_reshape_at(lz_tensor *x, lz_shape shape, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_reshape");
    return lz_tracer_end(c, reshape(c, lz_tracer_in(c, x), shape));
}

lz_node *lz_tracer_permute(lz_tracer *c, lz_node *x, const lz_dims *d)
{
    lz_ints perm = {.n = d->n};
    if (!x)
        return NULL;
    int32_t rank = type_of(x)->shape.rank;
    if (d->n != rank) {
        LZ_FAIL(LZ_EINVAL, "%d dimensions for a tensor of rank %d", d->n, rank);
        return NULL;
    }
    for (int i = 0; i < rank; i++)
        if (!lz_tracer_dim(d->v[i], rank, &perm.v[i]))
            return NULL;
    for (int i = 0; i < rank; i++)
        for (int j = 0; j < i; j++)
            if (perm.v[i] == perm.v[j]) {
                LZ_FAIL(LZ_EINVAL, "dimension %" PRId64 " comes twice", perm.v[i]);
                return NULL;
            }
    return lz_tracer_transpose(c, x, &perm);
}

lz_tensor *lz_permute_at(lz_tensor *x, lz_dims dims, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_permute");
    return lz_tracer_end(c, lz_tracer_permute(c, lz_tracer_in(c, x), &dims));
}

lz_tensor *lz_transpose_at(lz_tensor *x, int64_t dim0, int64_t dim1, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_transpose");
    lz_node *n = lz_tracer_in(c, x);
    if (n && lz_tracer_dim(dim0, type_of(n)->shape.rank, &dim0) &&
        lz_tracer_dim(dim1, type_of(n)->shape.rank, &dim1)) {
        lz_ints perm = {.n = type_of(n)->shape.rank};
        for (int i = 0; i < perm.n; i++)
            perm.v[i] = i == dim0 ? dim1 : i == dim1 ? dim0 : i;
        return lz_tracer_end(c, lz_tracer_transpose(c, n, &perm));
    }
    return lz_tracer_end(c, NULL);
}

static lz_node *expand(lz_tracer *c, lz_node *x, lz_shape s)
{
    if (!x || !shape_rank_ok(&s))
        return NULL;
    const lz_shape *from = &type_of(x)->shape;
    for (int i = 0; i < s.rank; i++) {
        int k = i - (s.rank - from->rank);
        if (s.dims[i] == -1 && k >= 0)
            s.dims[i] = from->dims[k];
        if (s.dims[i] < 0) {
            LZ_FAIL(LZ_ESHAPE, "extent %d is %" PRId64 ": -1 keeps an extent that exists", i,
                    s.dims[i]);
            return NULL;
        }
    }
    return lz_tracer_expand(c, x, &s);
}

lz_tensor *lz_expand_at(lz_tensor *x, lz_shape shape, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_expand");
    return lz_tracer_end(c, expand(c, lz_tracer_in(c, x), shape));
}

/* As in ATen, squeezing a dimension that is not 1 changes nothing. */
lz_node *lz_tracer_squeeze(lz_tracer *c, lz_node *x, int64_t dim)
{
    if (!x || !lz_tracer_dim(dim, type_of(x)->shape.rank, &dim))
        return NULL;
    lz_shape s = type_of(x)->shape;
    if (s.rank == 0 || s.dims[dim] != 1)
        return x;
    for (int i = (int)dim; i + 1 < s.rank; i++)
        s.dims[i] = s.dims[i + 1];
    s.dims[--s.rank] = 0;
    return lz_tracer_reshape(c, x, &s);
}

lz_tensor *lz_squeeze_at(lz_tensor *x, int64_t dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_squeeze");
    return lz_tracer_end(c, lz_tracer_squeeze(c, lz_tracer_in(c, x), dim));
}

lz_node *lz_tracer_unsqueeze(lz_tracer *c, lz_node *x, int64_t dim)
{
    if (!x)
        return NULL;
    lz_shape s = type_of(x)->shape;
    if (s.rank == LZ_MAX_RANK) {
        LZ_FAIL(LZ_ESHAPE, "the tensor has rank %d already", LZ_MAX_RANK);
        return NULL;
    }
    if (!lz_tracer_dim(dim, s.rank + 1, &dim))
        return NULL;
    for (int i = s.rank++; i > dim; i--)
        s.dims[i] = s.dims[i - 1];
    s.dims[dim] = 1;
    return lz_tracer_reshape(c, x, &s);
}

lz_tensor *lz_unsqueeze_at(lz_tensor *x, int64_t dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_unsqueeze");
    return lz_tracer_end(c, lz_tracer_unsqueeze(c, lz_tracer_in(c, x), dim));
}

static lz_node *flatten(lz_tracer *c, lz_node *x, int64_t first, int64_t last)
{
    if (!x || !lz_tracer_dim(first, type_of(x)->shape.rank, &first) ||
        !lz_tracer_dim(last, type_of(x)->shape.rank, &last))
        return NULL;
    if (first > last) {
        LZ_FAIL(LZ_EINVAL, "start_dim %" PRId64 " comes after end_dim %" PRId64, first, last);
        return NULL;
    }
    const lz_shape *s = &type_of(x)->shape;
    lz_shape r = {.rank = 0};
    int64_t n = 1;
    for (int i = 0; i < s->rank; i++) {
        if (i < first || i > last) {
            r.dims[r.rank++] = s->dims[i];
            continue;
        }
        n *= s->dims[i];
        if (i == last)
            r.dims[r.rank++] = n;
    }
    if (s->rank == 0)
        r.dims[r.rank++] = 1;
    return lz_tracer_reshape(c, x, &r);
}

lz_tensor *lz_flatten_at(lz_tensor *x, int64_t start_dim, int64_t end_dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_flatten");
    return lz_tracer_end(c, flatten(c, lz_tracer_in(c, x), start_dim, end_dim));
}

/* Operands of cat and stack, promoted to one dtype. *few has room for 16. NULL with the error
 * recorded. */
lz_node **lz_tracer_operands(lz_tracer *c, lz_tensor *const *xs, int n, lz_node **few)
{
    lz_node **o = few;
    lz_dtype d = LZ_DTYPE_NONE;
    if (n < 1 || !xs) {
        LZ_FAIL(n < 1 ? LZ_EINVAL : LZ_ENULL, n < 1 ? "there are %d tensors" : "xs is NULL (%d)",
                n);
        return NULL;
    }
    if (n > 16 && !(o = lz_calloc((size_t)n, sizeof *o))) {
        LZ_FAIL(LZ_EMEM, "no memory for %d operands", n);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        o[i] = lz_tracer_in(c, xs[i]);
        lz_dtype di = o[i] ? type_of(o[i])->dtype : LZ_DTYPE_NONE;
        d = i == 0 ? di : lz_promote(d, di);
        if (o[i] && d == LZ_DTYPE_NONE)
            LZ_FAIL(LZ_EDTYPE, "operand %d is %s, which has no common dtype with those before", i,
                    lz_dtype_name(di));
        if (!o[i] || d == LZ_DTYPE_NONE)
            goto fail;
    }
    for (int i = 0; i < n; i++)
        if (!(o[i] = lz_tracer_convert(c, o[i], d)))
            goto fail;
    return o;
fail:
    if (o != few)
        lz_free(o);
    return NULL;
}

static bool same_shape(const lz_node *x, const lz_node *y, int i)
{
    char tx[128], ty[128];
    if (lz_shape_eq(&type_of(x)->shape, &type_of(y)->shape))
        return true;
    LZ_FAIL(LZ_ESHAPE, "tensor 0 is %s, tensor %d is %s: their shapes must be equal",
            lz_type_short(type_of(x), tx, sizeof tx), i, lz_type_short(type_of(y), ty, sizeof ty));
    return false;
}

static lz_node *join(lz_tracer *c, lz_tensor *const *xs, int n, int64_t dim, bool stack)
{
    lz_node *few[16], *r = NULL, **o = lz_tracer_operands(c, xs, n, few);
    if (!o)
        return NULL;
    bool ok = lz_tracer_dim(dim, type_of(o[0])->shape.rank + (stack ? 1 : 0), &dim);
    if (ok && !stack && type_of(o[0])->shape.rank == 0) {
        LZ_FAIL(LZ_ESHAPE, "scalars cannot be joined: use lz_stack");
        ok = false;
    }
    for (int i = 1; ok && stack && i < n; i++)
        ok = same_shape(o[0], o[i], i);
    for (int i = 0; ok && stack && i < n; i++)
        ok = (o[i] = lz_tracer_unsqueeze(c, o[i], dim)) != NULL;
    if (ok)
        r = lz_tracer_concat(c, o, (uint32_t)n, dim);
    if (o != few)
        lz_free(o);
    return r;
}

lz_tensor *lz_cat_at(lz_tensor *const *xs, int n, int64_t dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_cat");
    return lz_tracer_end(c, join(c, xs, n, dim, false));
}

lz_tensor *lz_stack_at(lz_tensor *const *xs, int n, int64_t dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_stack");
    return lz_tracer_end(c, join(c, xs, n, dim, true));
}

/* Elements [start, limit) of one dimension, all of the others. */
lz_node *lz_tracer_slice_dim(lz_tracer *c, lz_node *x, int64_t dim, int64_t start, int64_t limit,
                             int64_t step)
{
    if (!x)
        return NULL;
    const lz_shape *s = &type_of(x)->shape;
    lz_ints lo = {.n = s->rank}, hi = {.n = s->rank}, st = {.n = s->rank};
    for (int i = 0; i < s->rank; i++) {
        lo.v[i] = i == dim ? start : 0;
        hi.v[i] = i == dim ? limit : s->dims[i];
        st.v[i] = i == dim ? step : 1;
    }
    return lz_tracer_slice(c, x, &lo, &hi, &st);
}

static int64_t clamp_index(int64_t i, int64_t n)
{
    if (i < 0)
        i = i < -n ? 0 : i + n;
    return i > n ? n : i;
}

static lz_node *slice(lz_tracer *c, lz_node *x, int64_t dim, int64_t start, int64_t end,
                      int64_t step)
{
    if (!x)
        return NULL;
    if (type_of(x)->shape.rank == 0) {
        LZ_FAIL(LZ_ESHAPE, "a scalar cannot be sliced");
        return NULL;
    }
    if (!lz_tracer_dim(dim, type_of(x)->shape.rank, &dim))
        return NULL;
    if (step < 1) {
        LZ_FAIL(LZ_EINVAL, "step %" PRId64 ": it must be positive", step);
        return NULL;
    }
    int64_t n = type_of(x)->shape.dims[dim];
    start = clamp_index(start, n);
    end = clamp_index(end, n);
    if (end < start)
        end = start;
    if (step > n)
        step = n > 0 ? n : 1; /* one element or none, whatever the step */
    if (start == 0 && end == n && step == 1)
        return x;
    return lz_tracer_slice_dim(c, x, dim, start, end, step);
}

lz_tensor *lz_slice_at(lz_tensor *x, int64_t dim, int64_t start, int64_t end, int64_t step,
                       const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_slice");
    return lz_tracer_end(c, slice(c, lz_tracer_in(c, x), dim, start, end, step));
}

static lz_node *select_index(lz_tracer *c, lz_node *x, int64_t dim, int64_t index)
{
    if (!x)
        return NULL;
    if (type_of(x)->shape.rank == 0) {
        LZ_FAIL(LZ_ESHAPE, "a scalar has no dimension to select from");
        return NULL;
    }
    if (!lz_tracer_dim(dim, type_of(x)->shape.rank, &dim))
        return NULL;
    lz_shape s = type_of(x)->shape;
    int64_t n = s.dims[dim];
    if (index < -n || index >= n) {
        LZ_FAIL(LZ_ERANGE,
                "index %" PRId64 " of dimension %" PRId64 ", which has %" PRId64 " elements", index,
                dim, n);
        return NULL;
    }
    index += index < 0 ? n : 0;
    s.dims[dim] = 1;
    return lz_tracer_squeeze(c, lz_tracer_slice_dim(c, x, dim, index, index + 1, 1), dim);
}

lz_tensor *lz_select_at(lz_tensor *x, int64_t dim, int64_t index, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_select");
    return lz_tracer_end(c, select_index(c, lz_tracer_in(c, x), dim, index));
}

lz_node *lz_tracer_flip(lz_tracer *c, lz_node *x, const lz_dims *d)
{
    lz_attr_any a;
    if (!x)
        return NULL;
    int32_t rank = type_of(x)->shape.rank;
    lz_attr_init(&a, LZ_ATTR_dims);
    if (d->n < 0 || d->n > LZ_MAX_RANK) {
        LZ_FAIL(LZ_ERANGE, "%d dimensions", d->n);
        return NULL;
    }
    if (rank == 0)
        return x;
    bool chosen[LZ_MAX_RANK] = {false};
    for (int i = 0; i < d->n; i++) {
        int64_t k;
        if (!lz_tracer_dim(d->v[i], rank, &k))
            return NULL;
        if (chosen[k]) {
            LZ_FAIL(LZ_EINVAL, "dimension %" PRId64 " comes twice", k);
            return NULL;
        }
        chosen[k] = true;
    }
    for (int k = 0; k < rank; k++)
        if (chosen[k] || d->n == 0)
            a.as_dims.dimensions.v[a.as_dims.dimensions.n++] = k;
    return lz_tracer_op(c, LZ_OP_REVERSE, &a.head, &x, 1);
}

lz_tensor *lz_flip_at(lz_tensor *x, lz_dims dims, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_flip");
    return lz_tracer_end(c, lz_tracer_flip(c, lz_tracer_in(c, x), &dims));
}

static lz_node *pad_nd(lz_tracer *c, lz_node *x, const int64_t *pad, int n, double value)
{
    lz_attr_any a;
    if (!x)
        return NULL;
    int32_t rank = type_of(x)->shape.rank;
    if (n < 0 || n % 2 || n / 2 > rank) {
        LZ_FAIL(LZ_EINVAL,
                "%d padding values for a tensor of rank %d: they come in pairs, at most one pair "
                "for each dimension",
                n, rank);
        return NULL;
    }
    if (n && !pad) {
        LZ_FAIL(LZ_ENULL, "pad is NULL");
        return NULL;
    }
    lz_attr_init(&a, LZ_ATTR_pad);
    a.as_pad.edge_padding_low.n = a.as_pad.edge_padding_high.n = a.as_pad.interior_padding.n = rank;
    for (int i = 0; i < n / 2; i++) {
        a.as_pad.edge_padding_low.v[rank - 1 - i] = pad[2 * i];
        a.as_pad.edge_padding_high.v[rank - 1 - i] = pad[2 * i + 1];
    }
    lz_node *o[2] = {x, lz_tracer_scalar(c, type_of(x)->dtype, value, x)};
    return lz_tracer_op(c, LZ_OP_PAD, &a.head, o, 2);
}

lz_tensor *lz_constant_pad_nd_at(lz_tensor *x, const int64_t *pad, int n, double value,
                                 const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_constant_pad_nd");
    return lz_tracer_end(c, pad_nd(c, lz_tracer_in(c, x), pad, n, value));
}

lz_tensor *lz_to_at(lz_tensor *x, lz_dtype dtype, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_to");
    lz_node *n = lz_tracer_in(c, x);
    if (n && !lz_dtype_size(dtype)) {
        LZ_FAIL(LZ_EDTYPE, "%d is no dtype", (int)dtype);
        n = NULL;
    }
    return lz_tracer_end(c, lz_tracer_cast(c, n, dtype));
}
