/* rules_index.c - sharding rules of what reads or writes at places that are known when it runs.
 * A dimension that is read or written whole is like one of an elementwise operation. One of which
 * single elements are read is a reduction: the device that has the element gives it, the others 0.
 * See rule_make.h. */
#include "shard/rule_make.h"

void lz_shard_dynamic_slice(lz_rule_make *m)
{
    m->r->slices = true;
    uint32_t out = lz_rule_result(m, 0);
    for (int d = 0; d < lz_rule_shape(m, 0)->rank; d++)
        lz_rule_pair(m, 0, d, out, d, LZ_FACTOR_GATHER);
}

void lz_shard_dynamic_update_slice(lz_rule_make *m)
{
    m->r->slices = true;
    uint32_t out = lz_rule_result(m, 0);
    for (int d = 0; d < lz_rule_shape(m, 0)->rank; d++) {
        int f = lz_rule_pair(m, 0, d, out, d, LZ_FACTOR_PASS);
        if (lz_rule_shape(m, 1)->dims[d] == lz_rule_shape(m, 0)->dims[d])
            lz_rule_put(m, 1, d, f);
        else
            lz_rule_alone(m, 1, d, LZ_FACTOR_GATHER);
    }
}

/* ---- gather ---- */

enum { NOT = -1 };

/* Number of dimension d among those of 0..rank-1 that are in none of the lists. */
static int index_besides(int64_t d, const lz_ints *a, const lz_ints *b)
{
    int n = 0;
    for (int64_t k = 0; k < d; k++)
        n += !(a && lz_ints_has(a, k)) && !(b && lz_ints_has(b, k));
    return n;
}

static int find(const lz_ints *s, int64_t v)
{
    for (int k = 0; k < s->n; k++)
        if (s->v[k] == v)
            return k;
    return NOT;
}

/* Dimension number n of the indices that is not the index vector's. */
static int64_t batch_dim(int64_t n, int64_t index_vector_dim)
{
    return n + (n >= index_vector_dim);
}

static void gather_operand(lz_rule_make *m, const lz_attr_gather *a, int d)
{
    int64_t extent = lz_rule_shape(m, 0)->dims[d];
    bool collapsed = lz_ints_has(&a->collapsed_slice_dims, d);
    if (a->slice_sizes.v[d] == 1 && (collapsed || extent > 1)) {
        int f = lz_rule_alone(m, 0, d, LZ_FACTOR_REDUCE);
        m->r->factors[f].reduction = LZ_OP_ADD;
        return;
    }
    int k = index_besides(d, &a->collapsed_slice_dims, &a->operand_batching_dims);
    lz_rule_pair(m, 0, d, 2, a->offset_dims.v[k], LZ_FACTOR_GATHER);
}

/* Dimensions of the result that no slice gives are those of the indices, in order. */
void lz_shard_gather(lz_rule_make *m)
{
    const lz_attr_gather *a = LZ_ATTR(gather, m->sig->attr);
    const lz_shape *in = lz_rule_shape(m, 0), *index = lz_rule_shape(m, 1);
    const lz_shape *out = lz_rule_shape(m, 2);
    for (int d = 0, n = 0; d < out->rank; d++) {
        if (lz_ints_has(&a->offset_dims, d))
            continue;
        int64_t from = batch_dim(n++, a->index_vector_dim);
        int f = lz_rule_pair(m, 1, from, 2, d, LZ_FACTOR_GATHER);
        int k = find(&a->start_indices_batching_dims, from);
        if (k != NOT)
            lz_rule_put(m, 0, a->operand_batching_dims.v[k], f);
    }
    for (int d = 0; d < in->rank; d++)
        if (!lz_ints_has(&a->operand_batching_dims, d))
            gather_operand(m, a, d);
    if (a->index_vector_dim < index->rank)
        lz_rule_alone(m, 1, a->index_vector_dim, LZ_FACTOR_GATHER);
}

/* ---- scatter: n inputs, indices, n updates; n results ---- */

typedef struct scatter {
    const lz_attr_scatter *a;
    uint32_t n;
} scatter;

/* The factor is of dimension d of all inputs and results. */
static void put_inputs(lz_rule_make *m, const scatter *s, int64_t d, int f)
{
    for (uint32_t k = 0; k < s->n; k++) {
        lz_rule_put(m, k, d, f);
        lz_rule_put(m, lz_rule_result(m, k), d, f);
    }
}

static void put_updates(lz_rule_make *m, const scatter *s, int64_t d, int f)
{
    for (uint32_t k = 0; k < s->n; k++)
        lz_rule_put(m, s->n + 1 + k, d, f);
}

/* A window that is not whole is dropped when a part of it is outside, so it must not be cut; but
 * one of a single element is on one device. */
static void scatter_window(lz_rule_make *m, const scatter *s, int d)
{
    int k = index_besides(d, &s->a->inserted_window_dims, &s->a->input_batching_dims);
    int64_t to = s->a->update_window_dims.v[k], extent = lz_rule_shape(m, 0)->dims[d],
            window = lz_rule_shape(m, s->n + 1)->dims[to];
    bool whole = window == extent, cut = !whole && window != 1;
    int f = lz_rule_add(m, cut ? LZ_FACTOR_GATHER : LZ_FACTOR_PASS, extent);
    m->r->factors[f].blocked = cut;
    put_inputs(m, s, d, f);
    if (whole || cut)
        put_updates(m, s, to, f);
}

/* Updates that are on several devices are sums, or whatever the region makes of them, in parts. */
static void scatter_batch(lz_rule_make *m, const scatter *s, int64_t update, int64_t index)
{
    int k = find(&s->a->scatter_indices_batching_dims, index);
    lz_op sum = s->n == 1 ? lz_rule_reduction(s->a->update_computation) : LZ_OP_NONE;
    lz_factor_kind kind = k != NOT ? LZ_FACTOR_PASS : sum ? LZ_FACTOR_REDUCE : LZ_FACTOR_GATHER;
    int f = lz_rule_alone(m, s->n, index, kind);
    put_updates(m, s, update, f);
    if (k != NOT)
        put_inputs(m, s, s->a->input_batching_dims.v[k], f);
    else
        m->r->factors[f].reduction = sum;
}

void lz_shard_scatter(lz_rule_make *m)
{
    scatter s = {LZ_ATTR(scatter, m->sig->attr), (m->sig->nopnd - 1) / 2};
    const lz_shape *in = lz_rule_shape(m, 0), *index = lz_rule_shape(m, s.n);
    for (int d = 0, n = 0; d < lz_rule_shape(m, s.n + 1)->rank; d++)
        if (!lz_ints_has(&s.a->update_window_dims, d))
            scatter_batch(m, &s, d, batch_dim(n++, s.a->index_vector_dim));
    for (int d = 0; d < in->rank; d++) {
        if (lz_ints_has(&s.a->inserted_window_dims, d))
            put_inputs(m, &s, d, lz_rule_add(m, LZ_FACTOR_PASS, in->dims[d]));
        else if (!lz_ints_has(&s.a->input_batching_dims, d))
            scatter_window(m, &s, d);
    }
    if (s.a->index_vector_dim < index->rank)
        lz_rule_alone(m, s.n, s.a->index_vector_dim, LZ_FACTOR_GATHER);
}
