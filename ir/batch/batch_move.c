/* batch_move.c - batching rules of operations that move data, reduce it, multiply it or sort it.
 * The examples are in front, so dimension numbers grow by one. See batch.h. */
#include "ir/batch/batch.h"
#include <string.h>

#define ATTRS(kind) LZ_ATTR(kind, b->sig->attr)
#define RECORD(a) ((const lz_attr *)(const void *)&(a))

/* ---- one operand ---- */

lz_status lz_batch_broadcast(const lz_batch *b)
{
    lz_attr_broadcast a = *ATTRS(broadcast);
    lz_ints dims = lz_batch_shift(&a.broadcast_dimensions);
    a.broadcast_dimensions = lz_batch_list(0, &dims);
    a.shape = lz_batch_shape(b->n, &a.shape);
    return lz_batch_all(b, RECORD(a));
}

lz_status lz_batch_reshape(const lz_batch *b)
{
    lz_attr_shape a = *ATTRS(shape);
    a.shape = lz_batch_shape(b->n, &a.shape);
    return lz_batch_all(b, RECORD(a));
}

lz_status lz_batch_reverse(const lz_batch *b)
{
    lz_attr_dims a = *ATTRS(dims);
    a.dimensions = lz_batch_shift(&a.dimensions);
    return lz_batch_all(b, RECORD(a));
}

lz_status lz_batch_transpose(const lz_batch *b)
{
    lz_attr_perm a = *ATTRS(perm);
    lz_ints p = lz_batch_shift(&a.permutation);
    a.permutation = lz_batch_list(0, &p);
    return lz_batch_all(b, RECORD(a));
}

lz_status lz_batch_slice(const lz_batch *b)
{
    lz_attr_slice a = *ATTRS(slice);
    a.start_indices = lz_batch_list(0, &a.start_indices);
    a.limit_indices = lz_batch_list(b->n, &a.limit_indices);
    a.strides = lz_batch_list(1, &a.strides);
    return lz_batch_all(b, RECORD(a));
}

lz_status lz_batch_window_view(const lz_batch *b)
{
    lz_attr_window_view a = *ATTRS(window_view);
    a.dimensions = lz_batch_shift(&a.dimensions);
    return lz_batch_all(b, RECORD(a));
}

/* ---- several operands ---- */

lz_status lz_batch_concatenate(const lz_batch *b)
{
    lz_attr_dim a = *ATTRS(dim);
    a.dimension++;
    return lz_batch_all(b, RECORD(a));
}

lz_status lz_batch_sort(const lz_batch *b)
{
    lz_attr_sort a = *ATTRS(sort);
    a.dimension++;
    return lz_batch_all(b, RECORD(a));
}

static lz_val pad(const lz_batch *b, lz_val x, lz_val value)
{
    lz_attr_pad a = *ATTRS(pad);
    a.edge_padding_low = lz_batch_list(0, &a.edge_padding_low);
    a.edge_padding_high = lz_batch_list(0, &a.edge_padding_high);
    a.interior_padding = lz_batch_list(0, &a.interior_padding);
    return lz_build(b->to, LZ_OP_PAD, RECORD(a), (lz_val[]){x, value}, 2);
}

/* A padding value for each example is chosen where a padded mask shows padding. */
lz_status lz_batch_pad(const lz_batch *b)
{
    lz_func *to = b->to;
    lz_val x = lz_batch_opnd(b, 0);
    if (!b->mapped[1] || x == LZ_NOVAL)
        return lz_batch_gave(b, pad(b, x, b->opnd[1]));
    const lz_type *t = b->sig->result[0];
    const lz_ints examples = {.n = 1};
    lz_shape in = lz_val_type(to, x)->shape, out = lz_batch_shape(b->n, &t->shape);
    lz_val inside =
        pad(b, lz_build_splat(to, lz_type_get(LZ_BOOL, &in), 1), lz_build_scalar(to, LZ_BOOL, 0));
    lz_val value = lz_build_broadcast(to, b->opnd[1], &examples, &out);
    lz_val data = pad(b, x, lz_build_scalar(to, t->dtype, 0));
    return lz_batch_gave(b, lz_build_select(to, inside, data, value));
}

/* ---- reduce ---- */

/* A region may use its initial value once only, so those of each example's own leave the loop over
 * the examples. */
lz_status lz_batch_reduce(const lz_batch *b)
{
    lz_attr_reduce a = *ATTRS(reduce);
    uint32_t n = b->sig->nopnd / 2;
    bool init = false;
    for (uint32_t k = n; k < b->sig->nopnd; k++)
        init |= b->mapped[k];
    if (init)
        return lz_batch_each(b);
    a.dimensions = lz_batch_shift(&a.dimensions);
    lz_val *opnd = lz_alloc(b->sig->nopnd * sizeof *opnd);
    if (!opnd)
        return LZ_FAIL(LZ_EMEM, "no memory for %u operands", b->sig->nopnd);
    for (uint32_t k = 0; k < b->sig->nopnd; k++)
        opnd[k] = k < n ? lz_batch_opnd(b, k) : b->opnd[k];
    lz_status s = lz_batch_build(b, RECORD(a), opnd);
    lz_free(opnd);
    return s;
}

/* ---- dot_general ---- */

/* Result dimension `at` goes to the front. */
static lz_status to_front(const lz_batch *b, lz_val v, int at)
{
    if (v == LZ_NOVAL || at == 0)
        return lz_batch_gave(b, v);
    lz_ints perm = {.n = lz_val_type(b->to, v)->shape.rank, .v = {at}};
    for (int i = 1; i < perm.n; i++)
        perm.v[i] = i <= at ? i - 1 : i;
    return lz_batch_gave(b, lz_build_transpose(b->to, v, &perm));
}

/* Examples of both operands pair up; those of one are a free dimension, its first. */
lz_status lz_batch_dot_general(const lz_batch *b)
{
    lz_attr_dot a = *ATTRS(dot);
    int nbatch = a.lhs_batching_dimensions.n;
    int lhs_free = b->sig->opnd[0]->shape.rank - nbatch - a.lhs_contracting_dimensions.n;
    bool both = b->mapped[0] && b->mapped[1];
    if (b->mapped[0]) {
        a.lhs_batching_dimensions = lz_batch_shift(&a.lhs_batching_dimensions);
        a.lhs_contracting_dimensions = lz_batch_shift(&a.lhs_contracting_dimensions);
    }
    if (b->mapped[1]) {
        a.rhs_batching_dimensions = lz_batch_shift(&a.rhs_batching_dimensions);
        a.rhs_contracting_dimensions = lz_batch_shift(&a.rhs_contracting_dimensions);
    }
    if (both) {
        a.lhs_batching_dimensions = lz_batch_list(0, &a.lhs_batching_dimensions);
        a.rhs_batching_dimensions = lz_batch_list(0, &a.rhs_batching_dimensions);
    }
    lz_val v = lz_build(b->to, LZ_OP_DOT_GENERAL, RECORD(a), b->opnd, 2);
    return to_front(b, v, both ? 0 : b->mapped[0] ? nbatch : nbatch + lhs_free);
}
