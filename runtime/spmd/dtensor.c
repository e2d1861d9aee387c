/* dtensor.c - DTensor's words: placements, one of each axis of a mesh, as shardings, and tensors
 * that are placed so. Threads: thread-safe. */
#include "runtime/graph/trace_builder.h"
#include "runtime/spmd/mark.h"
#include <inttypes.h>
#include <string.h>

/* ---- placements ---- */

static const struct {
    const char *name;
    lz_op op;
} reductions[] = {{"sum", LZ_OP_ADD},     {"product", LZ_OP_MULTIPLY}, {"max", LZ_OP_MAXIMUM},
                  {"min", LZ_OP_MINIMUM}, {"and", LZ_OP_AND},          {"or", LZ_OP_OR}};

static lz_status find_reduction(const char *axis, const char *name, lz_op *out)
{
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        if (!strcmp(name ? name : "sum", reductions[i].name)) {
            *out = reductions[i].op;
            return LZ_OK;
        }
    return LZ_FAIL(LZ_EINVAL,
                   "axis \"%s\": Partial of \"%.40s\": reductions are sum, product, max, min, and, "
                   "or",
                   axis, name);
}

static lz_status no_dimension(const char *axis, int dim, const lz_shape *shape)
{
    lz_buf b = {0};
    for (int d = 0; d < shape->rank; d++)
        lz_buf_printf(&b, d ? ", %" PRId64 : "%" PRId64, shape->dims[d]);
    lz_status s =
        LZ_FAIL(LZ_EINVAL, "axis \"%s\": Shard(%d), but the tensor has %d dimensions: [%.200s]",
                axis, dim, shape->rank, lz_buf_str(&b));
    lz_buf_free(&b);
    return s;
}

/* Adds the factors of axis k to a dimension. */
static lz_status add_shard(lz_sharding *s, int k, int dim, const lz_shape *shape)
{
    int d = dim < 0 ? dim + shape->rank : dim;
    if (d < 0 || d >= shape->rank)
        return no_dimension(s->mesh->axes[k].name, dim, shape);
    for (int f = 0; f < s->mesh->nfactor; f++)
        if (s->mesh->factors[f].axis == k)
            lz_axis_list_push(&s->dims[d], f);
    return LZ_OK;
}

static lz_status add_partial(lz_sharding *s, int k, const char *name)
{
    lz_op op = LZ_OP_NONE;
    LZ_TRY(find_reduction(s->mesh->axes[k].name, name, &op));
    if (s->mesh->axes[k].size == 1)
        return LZ_OK;
    if (s->reduction != LZ_OP_NONE && s->reduction != op)
        return LZ_FAIL(LZ_EINVAL,
                       "axis \"%s\": Partial of \"%.40s\", but of another axis it is "
                       "another reduction",
                       s->mesh->axes[k].name, name ? name : "sum");
    s->reduction = op;
    for (int f = 0; f < s->mesh->nfactor; f++)
        if (s->mesh->factors[f].axis == k)
            s->unreduced |= UINT32_C(1) << f;
    return LZ_OK;
}

static lz_status add(lz_sharding *s, int k, const lz_placement *p, const lz_shape *shape)
{
    switch (p->kind) {
    case LZ_PLACEMENT_REPLICATE:
        return LZ_OK;
    case LZ_PLACEMENT_SHARD:
        return add_shard(s, k, p->dim, shape);
    case LZ_PLACEMENT_PARTIAL:
        return add_partial(s, k, p->op);
    }
    return LZ_FAIL(LZ_EINVAL, "axis \"%s\": %d is no kind of placement", s->mesh->axes[k].name,
                   (int)p->kind);
}

const lz_sharding *lz_placements_sharding(const lz_mesh *mesh, const lz_placements *p,
                                          const lz_shape *shape)
{
    lz_sharding s;
    if (!mesh) {
        (void)LZ_FAIL(LZ_ENULL, "the mesh is NULL");
        return NULL;
    }
    if (p->n != mesh->naxis || p->n > LZ_MAX_MESH_AXES) {
        lz_buf b = {0};
        lz_mesh_print(&b, mesh);
        (void)LZ_FAIL(LZ_EINVAL,
                      "%d placements for a mesh of %d axes, %.150s: one of each axis, at most %d",
                      p->n, mesh->naxis, lz_buf_str(&b), LZ_MAX_MESH_AXES);
        lz_buf_free(&b);
        return NULL;
    }
    lz_sharding_init(&s, mesh, shape->rank, false);
    for (int k = 0; k < p->n; k++)
        if (add(&s, k, &p->of[k], shape) != LZ_OK)
            return NULL;
    return lz_sharding_get(&s);
}

lz_status lz_placements_check_dtype(const lz_sharding *s, lz_dtype dtype)
{
    uint64_t bits;
    bool logical = s->reduction == LZ_OP_AND || s->reduction == LZ_OP_OR,
         ordered = s->reduction == LZ_OP_MAXIMUM || s->reduction == LZ_OP_MINIMUM;
    bool fits = !(logical && (lz_dtype_is_float(dtype) || lz_dtype_is_complex(dtype))) &&
                !(ordered && lz_dtype_is_complex(dtype)) && !lz_dtype_is_storage(dtype);
    if (!s->unreduced || (fits && lz_identity_bits(s->reduction, dtype, &bits)))
        return LZ_OK;
    return LZ_FAIL(LZ_EDTYPE, "Partial: %s is no reduction of %s", lz_op_get(s->reduction)->text,
                   lz_dtype_name(dtype));
}

/* ---- placing ---- */

/* The text of placements of x. */
static const char *text_for(lz_tracer *c, const lz_node *x, const lz_mesh *mesh,
                            const lz_placements *p)
{
    if (lz_mark_check_device(lz_tracer_dev(c, x), mesh) != LZ_OK)
        return NULL;
    const lz_sharding *s = lz_placements_sharding(mesh, p, &lz_node_type(x)->shape);
    if (!s || lz_placements_check_dtype(s, lz_node_type(x)->dtype) != LZ_OK)
        return NULL;
    return lz_sharding_text(s);
}

static lz_node *marked(lz_tracer *c, lz_node *x, const char *text)
{
    return x && text ? lz_tracer_own(c, lz_node_new_marked(x, text, c->site)) : NULL;
}

lz_tensor *lz_redistribute_at(lz_tensor *x, lz_mesh *mesh, lz_placements placements,
                              const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_tracer c;
    lz_tracer_begin(&c, "lz_redistribute", site);
    lz_node *n = lz_tracer_in(&c, x);
    return lz_tracer_end(&c, marked(&c, n, n ? text_for(&c, n, mesh, &placements) : NULL));
}

/* A mesh of one device is whatever mesh the program has. */
static const char *whole_text(int rank)
{
    const lz_mesh *one = lz_mesh_get(NULL, 0, NULL);
    const lz_sharding *s = one ? lz_sharding_replicated(one, rank) : NULL;
    return s ? lz_sharding_text(s) : NULL;
}

static lz_node *full_tensor(lz_tracer *c, lz_node *x)
{
    if (!x || !lz_tracer_dev(c, x)->be->partitions) /* of one device: whole */
        return x;
    return marked(c, x, whole_text(lz_node_type(x)->shape.rank));
}

lz_tensor *lz_full_tensor_at(lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_tracer c;
    lz_tracer_begin(&c, "lz_full_tensor", site);
    return lz_tracer_end(&c, full_tensor(&c, lz_tracer_in(&c, x)));
}

/* *text: the mark that the result's handle is to have. */
static lz_node *distribute(lz_tracer *c, lz_tensor *x, bool leaf, const lz_mesh *mesh,
                           const lz_placements *p, const char **text)
{
    lz_node *n = lz_tracer_in(c, x);
    *text = n ? text_for(c, n, mesh, p) : NULL;
    if (*text && leaf)
        n = lz_tracer_own(c, lz_node_new_detached(n, c->site));
    return marked(c, n, *text);
}

lz_tensor *lz_distribute_tensor_at(lz_tensor *x, lz_mesh *mesh, lz_placements placements,
                                   const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_tracer c;
    const char *text;
    lz_tracer_begin(&c, "lz_distribute_tensor", site);
    bool leaf = lz_trace_requires_grad(x);
    lz_tensor *r = lz_tracer_end(&c, distribute(&c, x, leaf, mesh, &placements, &text));
    if (text && lz_mark_handle(r, text) == LZ_OK && leaf)
        (void)lz_trace_set_requires_grad(r, true);
    return r;
}
