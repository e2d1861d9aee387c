/* axis_collective.c - what devices say to each other in the body of lz_manual, by axes of its mesh.
 * Operations name groups of partitions; gradients are those of vjp_collective.c. Threads: as the
 * body, of the thread that records it. */
#include "autodiff/manual_axes.h"
#include "base/fork.h"
#include "ir/module.h"
#include "runtime/region/region_trace.h"
#include <inttypes.h>
#include <lazuli/hlo.h>
#include <lazuli/manual.h>
#include <lazuli/ops.h>
#include <lazuli/shape_ops.h>
#include <lazuli/tensor.h>
#include <lazuli/tensor_ops.h>
#include <string.h>

_Thread_local const lz_mesh *lz_manual_mesh;

typedef struct call {
    lz_op op;
    const lz_mesh *mesh;
    lz_axis_list axes;
    lz_op combiner;
    int64_t dim, concat;
    const int64_t *pairs;
    int64_t npairs;
    const lz_site *site;
} call;

/* ---- axes ---- */

static lz_status add_axis(call *c, const char *s, size_t n)
{
    int k = lz_mesh_axis_find(c->mesh, s, n);
    lz_buf b = {0};
    if (k < 0) {
        lz_mesh_print(&b, c->mesh);
        lz_status st = LZ_FAIL(LZ_EINVAL, "axis \"%.*s\" is not defined in the mesh %.150s",
                               (int)(n < 64 ? n : 64), s, lz_buf_str(&b));
        lz_buf_free(&b);
        return st;
    }
    for (int i = 0; i < c->axes.n; i++)
        if (c->mesh->factors[c->axes.at[i]].axis == k)
            return LZ_FAIL(LZ_EINVAL, "axis \"%s\" is there twice", c->mesh->axes[k].name);
    for (int f = 0; f < c->mesh->nfactor; f++)
        if (c->mesh->factors[f].axis == k)
            lz_axis_list_push(&c->axes, f);
    return LZ_OK;
}

static lz_status find_axes(call *c, const char *axes)
{
    c->mesh = lz_manual_mesh;
    c->axes.n = 0;
    if (!c->mesh)
        return LZ_FAIL(LZ_ESTATE, "outside of the body of lz_manual no axis has a name");
    if (!axes)
        return LZ_FAIL(LZ_ENULL, "axes is NULL");
    while (axes && *axes) {
        const char *end = strchr(axes, ',');
        size_t from = 0, to = end ? (size_t)(end - axes) : strlen(axes);
        while (from < to && axes[from] == ' ')
            from++;
        while (to > from && axes[to - 1] == ' ')
            to--;
        LZ_TRY(add_axis(c, axes + from, to - from));
        axes = end ? end + 1 : NULL;
    }
    return LZ_OK;
}

static int64_t size_of(const call *c)
{
    return lz_axis_list_size(c->mesh, &c->axes);
}

/* How far the member at place k is from the first of its group. */
static int64_t member(const call *c, int64_t k)
{
    int64_t at = 0;
    for (int i = c->axes.n; i-- > 0;) {
        const lz_mesh_factor *f = &c->mesh->factors[c->axes.at[i]];
        at += k % f->size * f->stride;
        k /= f->size;
    }
    return at;
}

/* Groups of partitions, or pairs of them, as attributes have them. NULL: no memory. */
static const char *groups_text(const call *c)
{
    lz_buf b = {0};
    int64_t n = size_of(c), rows = c->pairs ? c->npairs : 1, written = 0;
    lz_buf_putc(&b, '[');
    for (int64_t p = 0; p < c->mesh->ndevice; p++)
        for (int64_t r = 0; r < rows && lz_axis_list_tile(c->mesh, &c->axes, p) == 0; r++) {
            lz_buf_puts(&b, written++ ? ", [" : "[");
            for (int64_t k = 0; k < (c->pairs ? 2 : n); k++) {
                int64_t at = c->pairs ? c->pairs[2 * r + k] : k;
                lz_buf_printf(&b, "%s%" PRId64, k ? ", " : "", p + member(c, at));
            }
            lz_buf_putc(&b, ']');
        }
    lz_buf_putc(&b, ']');
    const char *text = b.failed ? NULL : lz_string_get(lz_buf_str(&b), b.len);
    if (b.failed)
        (void)LZ_FAIL(LZ_EMEM, "no memory for the groups of a collective");
    lz_buf_free(&b);
    return text;
}

/* ---- operations ---- */

/* Fills in the record; false with the error recorded. */
static bool describe(const call *c, lz_dtype dtype, lz_attr_any *a)
{
    enum { CHANNEL = 1 };
    const char *groups = groups_text(c);
    const lz_func *f = c->combiner != LZ_OP_NONE ? lz_region_binary(c->combiner, dtype) : NULL;
    if (!groups || (c->combiner != LZ_OP_NONE && !f))
        return false;
    if (c->op == LZ_OP_ALL_REDUCE) {
        lz_attr_init(a, LZ_ATTR_all_reduce);
        a->as_all_reduce =
            (lz_attr_all_reduce){LZ_ATTR_all_reduce, CHANNEL, CHANNEL, groups, true, f};
    } else if (c->op == LZ_OP_ALL_GATHER) {
        lz_attr_init(a, LZ_ATTR_all_gather);
        a->as_all_gather = (lz_attr_all_gather){LZ_ATTR_all_gather, c->dim, CHANNEL, CHANNEL,
                                                size_of(c),         groups, true};
    } else if (c->op == LZ_OP_REDUCE_SCATTER) {
        lz_attr_init(a, LZ_ATTR_reduce_scatter);
        a->as_reduce_scatter = (lz_attr_reduce_scatter){.kind = LZ_ATTR_reduce_scatter,
                                                        .channel_id = CHANNEL,
                                                        .channel_type = CHANNEL,
                                                        .participants = size_of(c),
                                                        .replica_groups = groups,
                                                        .scatter_dimension = c->dim,
                                                        .use_global_device_ids = true,
                                                        .computation = f};
    } else if (c->op == LZ_OP_ALL_TO_ALL) {
        lz_attr_init(a, LZ_ATTR_all_to_all);
        a->as_all_to_all = (lz_attr_all_to_all){
            LZ_ATTR_all_to_all, CHANNEL, CHANNEL, c->concat, groups, size_of(c), c->dim};
    } else {
        lz_attr_init(a, LZ_ATTR_collective_permute);
        a->as_collective_permute =
            (lz_attr_collective_permute){LZ_ATTR_collective_permute, CHANNEL, CHANNEL, groups};
    }
    return true;
}

static lz_tensor *emit(const call *c, lz_tensor *x)
{
    lz_tracer t;
    lz_attr_any a;
    lz_tracer_begin(&t, lz_op_get(c->op)->text, c->site);
    lz_node *n = lz_tracer_in(&t, x);
    if (n && describe(c, lz_node_type(n)->dtype, &a))
        n = lz_tracer_op(&t, c->op, &a.head, &n, 1);
    else
        n = NULL;
    return lz_tracer_end(&t, n);
}

lz_tensor *lz_manual_sum(const lz_mesh *mesh, uint32_t factors, lz_tensor *x, const lz_site *site)
{
    const call c = {.op = LZ_OP_ALL_REDUCE,
                    .mesh = mesh,
                    .axes = lz_axis_list_of(factors),
                    .combiner = LZ_OP_ADD,
                    .site = site};
    return factors ? emit(&c, x) : x;
}

static lz_tensor *finish(const lz_api_frame *f, const call *c, lz_status s, lz_tensor *x)
{
    if (lz_api_status(s) != LZ_OK)
        return lz_api_leave_with(f, lz_trace_error_tensor(f->op, c->site));
    return lz_api_leave_with(f, emit(c, x));
}

static lz_status begin(call *c, lz_tensor *x, const char *axes)
{
    if (!x)
        return LZ_FAIL(LZ_ENULL, "x is NULL");
    LZ_TRY(lz_status_of(x));
    return find_axes(c, axes);
}

/* ---- what is public ---- */

static lz_status set_reduction(call *c, const char *name, lz_dtype d)
{
    static const struct {
        const char *name;
        lz_op op;
    } all[] = {{"sum", LZ_OP_ADD},     {"mul", LZ_OP_MULTIPLY}, {"max", LZ_OP_MAXIMUM},
               {"min", LZ_OP_MINIMUM}, {"and", LZ_OP_AND},      {"or", LZ_OP_OR}};
    if (!name)
        return LZ_FAIL(LZ_ENULL, "reduce_type is NULL");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(name, all[i].name))
            c->combiner = all[i].op;
    bool logical = c->combiner == LZ_OP_AND || c->combiner == LZ_OP_OR;
    if (c->combiner == LZ_OP_NONE)
        return LZ_FAIL(LZ_EINVAL, "reduce_type is \"%.40s\": it is sum, mul, min, max, and or or",
                       name);
    if (logical && (lz_dtype_is_float(d) || lz_dtype_is_complex(d)))
        return LZ_FAIL(LZ_EDTYPE, "reduce_type \"%s\" of %s", name, lz_dtype_name(d));
    return LZ_OK;
}

static lz_status set_dim(lz_tensor *x, int64_t dim, int64_t *out)
{
    int32_t rank = lz_rank_of(x);
    if (dim < -rank || dim >= rank)
        return LZ_FAIL(LZ_ERANGE, "dimension %" PRId64 " of a tensor of rank %d", dim, rank);
    *out = dim < 0 ? dim + rank : dim;
    return LZ_OK;
}

static lz_status check_splits(const call *c, lz_tensor *x, int64_t dim)
{
    int64_t extent = lz_shape_of(x).dims[dim];
    if (extent % size_of(c))
        return LZ_FAIL(LZ_ESHAPE,
                       "dimension %" PRId64 " of %" PRId64 " elements does not split over %" PRId64
                       " devices",
                       dim, extent, size_of(c));
    return LZ_OK;
}

lz_tensor *lz_axis_all_reduce_at(const char *reduce_type, lz_tensor *x, const char *axes,
                                 const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    call c = {.op = LZ_OP_ALL_REDUCE, .site = site};
    lz_api_frame f = lz_api_enter("lz_axis_all_reduce", site);
    lz_status s = begin(&c, x, axes);
    if (s == LZ_OK)
        s = set_reduction(&c, reduce_type, lz_dtype_of(x));
    return finish(&f, &c, s, x);
}

lz_tensor *lz_axis_all_gather_at(lz_tensor *x, int64_t dim, const char *axes, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    call c = {.op = LZ_OP_ALL_GATHER, .site = site};
    lz_api_frame f = lz_api_enter("lz_axis_all_gather", site);
    lz_status s = begin(&c, x, axes);
    if (s == LZ_OK)
        s = set_dim(x, dim, &c.dim);
    return finish(&f, &c, s, x);
}

lz_tensor *lz_axis_reduce_scatter_at(const char *reduce_type, lz_tensor *x, int64_t dim,
                                     const char *axes, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    call c = {.op = LZ_OP_REDUCE_SCATTER, .site = site};
    lz_api_frame f = lz_api_enter("lz_axis_reduce_scatter", site);
    lz_status s = begin(&c, x, axes);
    if (s == LZ_OK)
        s = set_reduction(&c, reduce_type, lz_dtype_of(x));
    if (s == LZ_OK)
        s = set_dim(x, dim, &c.dim);
    if (s == LZ_OK)
        s = check_splits(&c, x, c.dim);
    return finish(&f, &c, s, x);
}

lz_tensor *lz_axis_all_to_all_at(lz_tensor *x, int64_t split_dim, int64_t concat_dim,
                                 const char *axes, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    call c = {.op = LZ_OP_ALL_TO_ALL, .site = site};
    lz_api_frame f = lz_api_enter("lz_axis_all_to_all", site);
    lz_status s = begin(&c, x, axes);
    if (s == LZ_OK)
        s = set_dim(x, split_dim, &c.dim);
    if (s == LZ_OK)
        s = set_dim(x, concat_dim, &c.concat);
    if (s == LZ_OK)
        s = check_splits(&c, x, c.dim);
    return finish(&f, &c, s, x);
}

static lz_status set_pairs(call *c, const int64_t *pairs, int64_t n)
{
    int64_t size = size_of(c);
    if (n < 0 || n > size)
        return LZ_FAIL(LZ_EINVAL, "%" PRId64 " pairs of %" PRId64 " places", n, size);
    if (n && !pairs)
        return LZ_FAIL(LZ_ENULL, "pairs is NULL");
    for (int64_t i = 0; i < 2 * n; i++) {
        if (pairs[i] < 0 || pairs[i] >= size)
            return LZ_FAIL(LZ_EINVAL, "pair %" PRId64 ": there is no place %" PRId64 " of %" PRId64,
                           i / 2, pairs[i], size);
        for (int64_t k = i % 2; k < i; k += 2)
            if (pairs[k] == pairs[i])
                return LZ_FAIL(LZ_EINVAL, "pair %" PRId64 ": place %" PRId64 " is a %s twice",
                               i / 2, pairs[i], i % 2 ? "target" : "source");
    }
    c->pairs = pairs;
    c->npairs = n;
    return LZ_OK;
}

lz_tensor *lz_axis_permute_at(lz_tensor *x, const char *axes, const int64_t *pairs, int64_t npairs,
                              const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    call c = {.op = LZ_OP_COLLECTIVE_PERMUTE, .site = site};
    lz_api_frame f = lz_api_enter("lz_axis_permute", site);
    lz_status s = begin(&c, x, axes);
    if (s == LZ_OK)
        s = set_pairs(&c, pairs, npairs);
    if (s == LZ_OK && !npairs) /* nobody sends anything */
        return lz_api_leave_with(&f, lz_zeros_like_at(x, LZ_DTYPE_NONE, site));
    return finish(&f, &c, s, x);
}

/* The place along c's axes. */
static lz_node *place(lz_tracer *t, const call *c)
{
    lz_node *p = lz_tracer_op(t, LZ_OP_PARTITION_ID, NULL, NULL, 0);
    lz_node *id = p ? lz_tracer_convert(t, p, LZ_I32) : NULL;
    lz_node *sum = id ? lz_tracer_const(t, LZ_I32, 0, id) : NULL;
    for (int i = 0; i < c->axes.n; i++) {
        const lz_mesh_factor *f = &c->mesh->factors[c->axes.at[i]];
        lz_node *stride = lz_tracer_const(t, LZ_I32, (double)f->stride, id),
                *size = lz_tracer_const(t, LZ_I32, (double)f->size, id);
        lz_node *at = lz_tracer_ew2(t, LZ_OP_DIVIDE, id, stride);
        at = lz_tracer_ew2(t, LZ_OP_REMAINDER, at, size);
        sum = lz_tracer_ew2(t, LZ_OP_MULTIPLY, sum, size);
        sum = lz_tracer_ew2(t, LZ_OP_ADD, sum, at);
    }
    return sum;
}

lz_tensor *lz_axis_index_at(const char *axes, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_tracer t;
    call c = {.site = site};
    lz_tracer_begin(&t, "lz_axis_index", site);
    return lz_tracer_end(&t, find_axes(&c, axes) == LZ_OK ? place(&t, &c) : NULL);
}

int64_t lz_axis_size(const char *axes)
{
    LZ_PUBLIC(0);
    call c = {.site = NULL};
    if (find_axes(&c, axes) == LZ_OK)
        return size_of(&c);
    lz_error_annotate("lz_axis_size", NULL);
    return 0;
}

lz_tensor *lz_axis_broadcast_at(lz_tensor *x, const char *axes, int64_t root, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    call c = {.op = LZ_OP_ALL_REDUCE, .combiner = LZ_OP_ADD, .site = site};
    lz_api_frame f = lz_api_enter("lz_axis_broadcast", site);
    lz_status s = begin(&c, x, axes);
    if (s == LZ_OK && (root < 0 || root >= size_of(&c)))
        s = LZ_FAIL(LZ_EINVAL, "root is %" PRId64 ": there are %" PRId64 " places", root,
                    size_of(&c));
    if (s != LZ_OK)
        return finish(&f, &c, s, x);
    lz_tensor *first = lz_eq_scalar_at(lz_axis_index_at(axes, site), (double)root, site);
    lz_tensor *r =
        finish(&f, &c, s, lz_where_at(first, x, lz_zeros_like_at(x, LZ_DTYPE_NONE, site), site));
    return r;
}
