/* vjp_collective.c - gradients of collectives. Each replica's loss is a term of one sum, so the
 * gradient of a collective that only moves and adds is its transpose, another collective: what was
 * given to many comes back as a sum. */
#include "autodiff/jvp.h"
#include "autodiff/vjp_region.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/attr.h"
#include "ir/collective.h"
#include "ir/module.h"
#include <inttypes.h>

/* The operation on the gradients of all results, whose results are those of all operands. */
static lz_status transpose_by(const lz_vjp *v, lz_op op, const lz_attr *a, uint32_t k)
{
    lz_tensor *g = v->grad_out[k];
    if (!v->need[k] || !g)
        return LZ_OK;
    return lz_j_op(op, a, &g, 1, &v->grad_in[k], 1, v->site);
}

static const lz_func *sum_of(const lz_vjp *v, uint32_t k)
{
    return lz_region_binary(LZ_OP_ADD, v->sig->opnd[k]->dtype);
}

static lz_status each(const lz_vjp *v, lz_op op, lz_attr_any *a, const lz_func **computation)
{
    for (uint32_t k = 0; k < v->sig->nopnd; k++) {
        if (!v->need[k] || !v->grad_out[k])
            continue;
        if (computation && !(*computation = sum_of(v, k)))
            return lz_error_get()->status;
        LZ_TRY(transpose_by(v, op, &a->head, k));
    }
    return LZ_OK;
}

/* ---- reductions that are no sums ---- */

/* max, min: shared evenly by those that attain it, as vjp_reduce.c does within a tensor. */
static lz_status extremum(const lz_vjp *v, lz_attr_any *a)
{
    if (v->sig->nopnd != 1 || !v->result)
        return LZ_FAIL(LZ_EGRAD, "all_reduce of several operands by another combiner than add");
    LZ_TRY(each(v, LZ_OP_ALL_REDUCE, a, &a->as_all_reduce.computation));
    if (!v->grad_in[0])
        return LZ_OK;
    lz_tensor *hit = lz_v_attains(v, v->opnd[0], v->result), *count = NULL;
    lz_tensor *ones = lz_hlo_convert_at(hit, v->sig->opnd[0]->dtype, v->site);
    LZ_TRY(lz_j_op(LZ_OP_ALL_REDUCE, &a->head, &ones, 1, &count, 1, v->site));
    v->grad_in[0] = lz_v_mask(v, hit, lz_v2(v, "divide", v->grad_in[0], count));
    return LZ_OK;
}

static lz_status count_participants(const char *name, const char *groups, lz_groups *out)
{
    return lz_groups_read(name, "replica_groups", groups, out, NULL, NULL);
}

static lz_status reduced(const lz_vjp *v, const lz_func *f, lz_tensor *x, int64_t dim, uint32_t k,
                         lz_tensor **out)
{
    lz_tensor *r = lz_hlo_reduce_at(lz_op_get(lz_region_as_binary(f))->text, x, &dim, 1, v->site);
    *out = lz_hlo_reshape_at(r, v->sig->result[k]->shape, v->site);
    return lz_status_of(*out);
}

/* Of what all have, along a dimension of its own: which has a gradient, whatever the combiner. */
static lz_status gather_and_reduce(const lz_vjp *v, lz_tensor **out)
{
    const lz_attr_all_reduce *x = LZ_ATTR(all_reduce, v->sig->attr);
    lz_attr_any a;
    lz_groups g;
    LZ_TRY(count_participants("all_reduce", x->replica_groups, &g));
    lz_attr_init(&a, LZ_ATTR_all_gather);
    a.as_all_gather.channel_id = x->channel_id;
    a.as_all_gather.channel_type = x->channel_type;
    a.as_all_gather.participants = g.columns;
    a.as_all_gather.replica_groups = x->replica_groups;
    a.as_all_gather.use_global_device_ids = x->use_global_device_ids;
    for (uint32_t k = 0; k < v->sig->nopnd; k++) {
        lz_shape flat = {.rank = 2, .dims = {1, v->sig->opnd[k]->nelem}};
        lz_tensor *all = lz_hlo_reshape_at(v->opnd[k], flat, v->site);
        LZ_TRY(lz_j_op(LZ_OP_ALL_GATHER, &a.head, &all, 1, &all, 1, v->site));
        LZ_TRY(reduced(v, x->computation, all, 0, k, &out[k]));
    }
    return LZ_OK;
}

static lz_status exchange_and_reduce(const lz_vjp *v, lz_tensor **out)
{
    const lz_attr_reduce_scatter *x = LZ_ATTR(reduce_scatter, v->sig->attr);
    int d = (int)x->scatter_dimension;
    lz_attr_any a;
    lz_groups g;
    LZ_TRY(count_participants("reduce_scatter", x->replica_groups, &g));
    lz_attr_init(&a, LZ_ATTR_all_to_all);
    a.as_all_to_all = (lz_attr_all_to_all){
        LZ_ATTR_all_to_all, x->channel_id, x->channel_type, 1, x->replica_groups, g.columns, 1};
    for (uint32_t k = 0; k < v->sig->nopnd; k++) {
        const lz_shape *to = &v->sig->result[k]->shape;
        lz_shape parts = {.rank = 3, .dims = {1, g.columns, 1}};
        for (int i = 0; i < to->rank; i++)
            parts.dims[i < d ? 0 : 2] *= to->dims[i];
        lz_tensor *all = lz_hlo_reshape_at(v->opnd[k], parts, v->site);
        LZ_TRY(lz_j_op(LZ_OP_ALL_TO_ALL, &a.head, &all, 1, &all, 1, v->site));
        LZ_TRY(reduced(v, x->computation, all, 1, k, &out[k]));
    }
    return LZ_OK;
}

lz_status lz_vjp_all_reduce(const lz_vjp *v)
{
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_all_reduce);
    lz_attr_copy(&a.head, v->sig->attr);
    lz_op op = lz_region_as_binary(a.as_all_reduce.computation);
    if (op == LZ_OP_MAXIMUM || op == LZ_OP_MINIMUM)
        return extremum(v, &a);
    if (op == LZ_OP_MULTIPLY)
        return lz_v_composed(v, gather_and_reduce);
    if (op != LZ_OP_ADD)
        return LZ_FAIL(LZ_EGRAD, "all_reduce by another combiner than add, multiply, maximum or "
                                 "minimum");
    return each(v, LZ_OP_ALL_REDUCE, &a, &a.as_all_reduce.computation);
}

lz_status lz_vjp_all_gather(const lz_vjp *v)
{
    const lz_attr_all_gather *x = LZ_ATTR(all_gather, v->sig->attr);
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_reduce_scatter);
    a.as_reduce_scatter.channel_id = x->channel_id;
    a.as_reduce_scatter.channel_type = x->channel_type;
    a.as_reduce_scatter.participants = x->participants;
    a.as_reduce_scatter.replica_groups = x->replica_groups;
    a.as_reduce_scatter.scatter_dimension = x->all_gather_dim;
    a.as_reduce_scatter.use_global_device_ids = x->use_global_device_ids;
    return each(v, LZ_OP_REDUCE_SCATTER, &a, &a.as_reduce_scatter.computation);
}

lz_status lz_vjp_reduce_scatter(const lz_vjp *v)
{
    const lz_attr_reduce_scatter *x = LZ_ATTR(reduce_scatter, v->sig->attr);
    lz_attr_any a;
    lz_op op = lz_region_as_binary(x->computation);
    if (op == LZ_OP_MAXIMUM || op == LZ_OP_MINIMUM || op == LZ_OP_MULTIPLY)
        return lz_v_composed(v, exchange_and_reduce);
    if (op != LZ_OP_ADD)
        return LZ_FAIL(LZ_EGRAD, "reduce_scatter by another combiner than add, multiply, maximum "
                                 "or minimum");
    lz_attr_init(&a, LZ_ATTR_all_gather);
    a.as_all_gather.channel_id = x->channel_id;
    a.as_all_gather.channel_type = x->channel_type;
    a.as_all_gather.participants = x->participants;
    a.as_all_gather.replica_groups = x->replica_groups;
    a.as_all_gather.all_gather_dim = x->scatter_dimension;
    a.as_all_gather.use_global_device_ids = x->use_global_device_ids;
    return each(v, LZ_OP_ALL_GATHER, &a, NULL);
}

lz_status lz_vjp_all_to_all(const lz_vjp *v)
{
    const lz_attr_all_to_all *x = LZ_ATTR(all_to_all, v->sig->attr);
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_all_to_all);
    lz_attr_copy(&a.head, v->sig->attr);
    a.as_all_to_all.split_dimension = x->concat_dimension;
    a.as_all_to_all.concat_dimension = x->split_dimension;
    return each(v, LZ_OP_ALL_TO_ALL, &a, NULL);
}

/* "[[0, 1], [1, 2]]" with each pair turned around. */
typedef struct turning {
    lz_buf text;
    int64_t source;
} turning;

static lz_status turn(void *user, int64_t row, int64_t column, int64_t n)
{
    turning *t = user;
    if (column == 1)
        lz_buf_printf(&t->text, "%s[%" PRId64 ", %" PRId64 "]", row ? ", " : "[", n, t->source);
    t->source = n;
    return LZ_OK;
}

lz_status lz_vjp_collective_permute(const lz_vjp *v)
{
    lz_attr_any a;
    lz_groups size;
    turning t = {.source = 0};
    lz_attr_init(&a, LZ_ATTR_collective_permute);
    lz_attr_copy(&a.head, v->sig->attr);
    lz_status s = lz_groups_read("collective_permute", "source_target_pairs",
                                 a.as_collective_permute.source_target_pairs, &size, turn, &t);
    lz_buf_puts(&t.text, "]");
    if (s == LZ_OK && (t.text.failed || !(a.as_collective_permute.source_target_pairs =
                                              lz_string_get(t.text.data, t.text.len))))
        s = LZ_FAIL(LZ_EMEM, "no memory to differentiate");
    lz_buf_free(&t.text);
    return s == LZ_OK ? each(v, LZ_OP_COLLECTIVE_PERMUTE, &a, NULL) : s;
}

/* The first of each group and itself. */
static lz_status add_root(void *user, int64_t row, int64_t column, int64_t n)
{
    lz_buf *b = user;
    if (column == 0)
        lz_buf_printf(b, "%s[%" PRId64 ", %" PRId64 "]", row ? ", " : "[", n, n);
    return LZ_OK;
}

/* The sum of what all members got, to the first of them; a permute gives zeros to the others. */
lz_status lz_vjp_collective_broadcast(const lz_vjp *v)
{
    const lz_attr_collective_broadcast *x = LZ_ATTR(collective_broadcast, v->sig->attr);
    lz_attr_any a, p;
    lz_groups size;
    lz_buf b = {0};
    if (x->channel_id > 0)
        return LZ_FAIL(LZ_EGRAD, "collective_broadcast among partitions");
    lz_attr_init(&a, LZ_ATTR_all_reduce);
    lz_attr_init(&p, LZ_ATTR_collective_permute);
    a.as_all_reduce.replica_groups = x->replica_groups;
    lz_status s = lz_groups_read("collective_broadcast", "replica_groups", x->replica_groups, &size,
                                 add_root, &b);
    lz_buf_puts(&b, "]");
    if (s == LZ_OK &&
        (b.failed || !(p.as_collective_permute.source_target_pairs = lz_string_get(b.data, b.len))))
        s = LZ_FAIL(LZ_EMEM, "no memory to differentiate");
    lz_buf_free(&b);
    if (s == LZ_OK)
        s = each(v, LZ_OP_ALL_REDUCE, &a, &a.as_all_reduce.computation);
    for (uint32_t k = 0; k < v->sig->nopnd && s == LZ_OK; k++)
        if (v->grad_in[k])
            s = lz_j_op(LZ_OP_COLLECTIVE_PERMUTE, &p.head, &v->grad_in[k], 1, &v->grad_in[k], 1,
                        v->site);
    return s;
}
