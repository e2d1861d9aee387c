/* batch_window.c - batching rules of what works on windows. Examples are windows of one element in
 * front; of a convolution they are part of its batch, of its output features, or groups. See
 * batch.h. */
#include "ir/batch/batch.h"
#include <string.h>

#define ATTRS(kind) LZ_ATTR(kind, b->sig->attr)
#define RECORD(a) ((const lz_attr *)(const void *)&(a))

lz_status lz_batch_reduce_window(const lz_batch *b)
{
    lz_attr_reduce_window a = *ATTRS(reduce_window);
    uint32_t nopnd = b->sig->nopnd;
    for (uint32_t k = nopnd / 2; k < nopnd; k++)
        if (b->mapped[k]) /* initial values are scalars */
            return lz_batch_each(b);
    a.window_dimensions = lz_batch_list(1, &a.window_dimensions);
    a.window_strides = lz_batch_list(1, &a.window_strides);
    a.base_dilations = lz_batch_list(1, &a.base_dilations);
    a.window_dilations = lz_batch_list(1, &a.window_dilations);
    a.padding_low = lz_batch_list(0, &a.padding_low);
    a.padding_high = lz_batch_list(0, &a.padding_high);
    lz_val *opnd = lz_alloc(nopnd * sizeof *opnd);
    if (!opnd)
        return LZ_FAIL(LZ_EMEM, "no memory for %u operands", nopnd);
    for (uint32_t k = 0; k < nopnd; k++)
        opnd[k] = k < nopnd / 2 ? lz_batch_opnd(b, k) : b->opnd[k];
    lz_status s = lz_batch_build(b, RECORD(a), opnd);
    lz_free(opnd);
    return s;
}

lz_status lz_batch_select_and_scatter(const lz_batch *b)
{
    lz_attr_select_and_scatter a = *ATTRS(select_and_scatter);
    if (b->mapped[2])
        return lz_batch_each(b);
    a.window_dimensions = lz_batch_list(1, &a.window_dimensions);
    a.window_strides = lz_batch_list(1, &a.window_strides);
    a.padding_low = lz_batch_list(0, &a.padding_low);
    a.padding_high = lz_batch_list(0, &a.padding_high);
    const lz_val opnd[3] = {lz_batch_opnd(b, 0), lz_batch_opnd(b, 1), b->opnd[2]};
    return lz_batch_build(b, RECORD(a), opnd);
}

/* ---- convolution ---- */

/* The examples, in front of x, become the outer part of dimension `dim` (numbered without them). */
static lz_val merge(const lz_batch *b, lz_val x, int64_t dim)
{
    if (x == LZ_NOVAL)
        return x;
    lz_shape s = lz_val_type(b->to, x)->shape, out = lz_shape_make(s.rank - 1, s.dims + 1);
    lz_ints perm = {.n = s.rank};
    for (int i = 0; i < s.rank; i++)
        perm.v[i] = i < dim ? i + 1 : i == dim ? 0 : i;
    out.dims[dim] *= b->n;
    return lz_build_reshape(b->to, lz_build_transpose(b->to, x, &perm), &out);
}

/* The way back. */
static lz_val split(const lz_batch *b, lz_val x, int64_t dim)
{
    if (x == LZ_NOVAL)
        return x;
    lz_shape one = b->sig->result[0]->shape, s = {.rank = one.rank + 1};
    lz_ints perm = {.n = s.rank, .v = {dim}};
    for (int i = 0; i < s.rank; i++)
        s.dims[i] = i < dim ? one.dims[i] : i == dim ? b->n : one.dims[i - 1];
    for (int i = 1; i < s.rank; i++)
        perm.v[i] = i <= dim ? i - 1 : i;
    return lz_build_transpose(b->to, lz_build_reshape(b->to, x, &s), &perm);
}

/* Examples of the input alone are more of its batch, of the kernel alone more output features;
 * else, and where groups are cut along these, each is a group. */
lz_status lz_batch_convolution(const lz_batch *b)
{
    lz_attr_convolution a = *ATTRS(convolution);
    lz_val v[2] = {b->opnd[0], b->opnd[1]};
    int64_t out = a.output_feature_dimension;
    bool input = b->mapped[0] && !b->mapped[1] && a.batch_group_count == 1,
         kernel = b->mapped[1] && !b->mapped[0] && a.batch_group_count == 1 &&
                  a.feature_group_count == 1;
    if (b->n == 0)
        return lz_batch_each(b); /* no groups at all are not allowed */
    if (input) {
        v[0] = merge(b, v[0], a.input_batch_dimension);
        out = a.output_batch_dimension;
    } else if (kernel) {
        v[1] = merge(b, v[1], a.kernel_output_feature_dimension);
    } else {
        bool batch = a.batch_group_count > 1;
        v[0] = merge(b, lz_batch_opnd(b, 0),
                     batch ? a.input_batch_dimension : a.input_feature_dimension);
        v[1] = merge(b, lz_batch_opnd(b, 1), a.kernel_output_feature_dimension);
        if (batch)
            a.batch_group_count *= b->n;
        else
            a.feature_group_count *= b->n;
    }
    lz_val y = lz_build(b->to, LZ_OP_CONVOLUTION, RECORD(a), v, 2);
    return lz_batch_gave(b, split(b, y, out));
}
