/* rules_dense.c - sharding rules of sums, products, matrices, transforms, order and windows. See
 * rule_make.h. */
#include "ir/module.h"
#include "ir/window.h"
#include "shard/rule_make.h"

/* ---- sums ---- */

/* n inputs, n initial values; n results */
void lz_shard_reduce(lz_rule_make *m)
{
    const lz_attr_reduce *a = LZ_ATTR(reduce, m->sig->attr);
    uint32_t n = m->sig->nresult;
    lz_op sum = n == 1 ? lz_rule_reduction(a->body) : LZ_OP_NONE;
    for (int d = 0, kept = 0; d < lz_rule_shape(m, 0)->rank; d++) {
        bool gone = lz_ints_has(&a->dimensions, d);
        int f =
            lz_rule_add(m, gone ? LZ_FACTOR_REDUCE : LZ_FACTOR_PASS, lz_rule_shape(m, 0)->dims[d]);
        m->r->factors[f].reduction = gone ? sum : LZ_OP_NONE;
        for (uint32_t k = 0; k < n; k++) {
            lz_rule_put(m, k, d, f);
            if (!gone)
                lz_rule_put(m, lz_rule_result(m, k), kept, f);
        }
        kept += !gone;
    }
}

/* Those of one operand that neither list has are dimensions `at` and on of the result. */
static int dot_free(lz_rule_make *m, uint32_t k, const lz_ints *batch, const lz_ints *contracting,
                    int at)
{
    for (int d = 0; d < lz_rule_shape(m, k)->rank; d++)
        if (!lz_ints_has(batch, d) && !lz_ints_has(contracting, d))
            lz_rule_pair(m, k, d, 2, at++, LZ_FACTOR_PASS);
    return at;
}

void lz_shard_dot_general(lz_rule_make *m)
{
    const lz_attr_dot *a = LZ_ATTR(dot, m->sig->attr);
    int at = 0;
    for (int i = 0; i < a->lhs_batching_dimensions.n; i++) {
        int f = lz_rule_pair(m, 0, a->lhs_batching_dimensions.v[i], 2, at++, LZ_FACTOR_PASS);
        lz_rule_put(m, 1, a->rhs_batching_dimensions.v[i], f);
    }
    at = dot_free(m, 0, &a->lhs_batching_dimensions, &a->lhs_contracting_dimensions, at);
    dot_free(m, 1, &a->rhs_batching_dimensions, &a->rhs_contracting_dimensions, at);
    for (int i = 0; i < a->lhs_contracting_dimensions.n; i++) {
        int f = lz_rule_alone(m, 0, a->lhs_contracting_dimensions.v[i], LZ_FACTOR_REDUCE);
        m->r->factors[f].reduction = LZ_OP_ADD;
        lz_rule_put(m, 1, a->rhs_contracting_dimensions.v[i], f);
    }
}

/* ---- matrices, transforms, order ---- */

/* Dimensions of examples, before the last two of operand 0, are in every tensor. */
static void examples(lz_rule_make *m, int n)
{
    for (int d = 0; d < n; d++) {
        int f = lz_rule_add(m, LZ_FACTOR_PASS, lz_rule_shape(m, 0)->dims[d]);
        for (uint32_t t = 0; t < m->sig->nopnd + m->sig->nresult; t++)
            lz_rule_put(m, t, d, f);
    }
}

void lz_shard_matrices(lz_rule_make *m)
{
    int n = lz_rule_shape(m, 0)->rank - 2;
    examples(m, n);
    for (uint32_t t = 0; t < m->sig->nopnd + m->sig->nresult; t++)
        for (int d = n; d < m->r->tensors[t].rank; d++)
            lz_rule_alone(m, t, d, LZ_FACTOR_GATHER);
}

/* The columns of b, or rows if a is on its right, are solved for one by one. */
void lz_shard_triangular_solve(lz_rule_make *m)
{
    const lz_attr_triangular_solve *a = LZ_ATTR(triangular_solve, m->sig->attr);
    int n = lz_rule_shape(m, 0)->rank - 2;
    examples(m, n);
    lz_rule_alone(m, 0, n, LZ_FACTOR_GATHER);
    lz_rule_alone(m, 0, n + 1, LZ_FACTOR_GATHER);
    for (int d = n; d < n + 2; d++) {
        int f = lz_rule_pair(m, 1, d, 2, d, LZ_FACTOR_GATHER);
        if ((d == n) == a->left_side)
            m->r->factors[f].kind = LZ_FACTOR_GATHER;
    }
}

void lz_shard_fft(lz_rule_make *m)
{
    int rank = lz_rule_shape(m, 0)->rank, first = rank - LZ_ATTR(fft, m->sig->attr)->fft_length.n;
    for (int d = 0; d < rank; d++) {
        int f = lz_rule_pair(m, 0, d, 1, d, LZ_FACTOR_GATHER);
        if (d >= first)
            m->r->factors[f].kind = LZ_FACTOR_GATHER;
    }
}

void lz_shard_sort(lz_rule_make *m)
{
    int64_t sorted = LZ_ATTR(sort, m->sig->attr)->dimension;
    const lz_shape *s = lz_rule_shape(m, 0);
    bool alone = true;
    for (int d = 0; d < s->rank; d++)
        alone &= d == sorted || s->dims[d] == 1;
    for (int d = 0; d < s->rank; d++) {
        int f = lz_rule_add(m, d == sorted ? LZ_FACTOR_GATHER : LZ_FACTOR_PASS, s->dims[d]);
        m->r->factors[f].blocked = d == sorted && alone;
        for (uint32_t t = 0; t < m->sig->nopnd + m->sig->nresult; t++)
            lz_rule_put(m, t, d, f);
    }
}

/* ---- windows ---- */

/* A window of one element on each. */
static bool is_plain(const lz_window_axis *w)
{
    return w->size == 1 && w->stride == 1 && !w->low && !w->high && w->base == 1;
}

static lz_factor_kind window_kind(const lz_window_axis *w)
{
    return is_plain(w) ? LZ_FACTOR_PASS : LZ_FACTOR_PERMUTE;
}

void lz_shard_reduce_window(lz_rule_make *m)
{
    const lz_attr_reduce_window *a = LZ_ATTR(reduce_window, m->sig->attr);
    for (int d = 0; d < lz_rule_shape(m, 0)->rank; d++) {
        lz_window_axis w = lz_window_of_reduce(a, d);
        int f = lz_rule_add(m, window_kind(&w), lz_rule_shape(m, 0)->dims[d]);
        for (uint32_t k = 0; k < m->sig->nresult; k++) {
            lz_rule_put(m, k, d, f);
            lz_rule_put(m, lz_rule_result(m, k), d, f);
        }
    }
}

/* Operand, source, initial value: of a window that reaches over tiles each device needs the whole
 * source. */
void lz_shard_select_and_scatter(lz_rule_make *m)
{
    const lz_attr_select_and_scatter *a = LZ_ATTR(select_and_scatter, m->sig->attr);
    for (int d = 0; d < lz_rule_shape(m, 0)->rank; d++) {
        lz_window_axis w = lz_window_of_select(a, d);
        int f = lz_rule_pair(m, 0, d, 3, d, LZ_FACTOR_PERMUTE);
        m->r->factors[f].kind = window_kind(&w);
        if (is_plain(&w))
            lz_rule_put(m, 1, d, f);
        else
            lz_rule_alone(m, 1, d, LZ_FACTOR_GATHER);
    }
}

void lz_shard_window_view(lz_rule_make *m)
{
    const lz_attr_window_view *a = LZ_ATTR(window_view, m->sig->attr);
    int rank = lz_rule_shape(m, 0)->rank;
    for (int d = 0; d < rank; d++) {
        int f = lz_rule_pair(m, 0, d, 1, d, LZ_FACTOR_PERMUTE);
        if (lz_ints_has(&a->dimensions, d))
            m->r->factors[f].kind = LZ_FACTOR_PERMUTE;
    }
    for (int d = rank; d < lz_rule_shape(m, 1)->rank; d++)
        lz_rule_alone(m, 1, d, LZ_FACTOR_GATHER);
}

/* ---- convolution: input, kernel, output ---- */

/* Dimensions of the three that are one loop; NOT: it does not have it. The part of size `size` is
 * behind what they have already. */
enum { NOT = -1 };
static int conv_loop(lz_rule_make *m, lz_factor_kind kind, int64_t size, int64_t input,
                     int64_t kernel, int64_t output)
{
    const int64_t at[3] = {input, kernel, output};
    int f = lz_rule_add(m, kind, size);
    m->r->factors[f].reduction = kind == LZ_FACTOR_REDUCE ? LZ_OP_ADD : LZ_OP_NONE;
    for (uint32_t t = 0; t < 3; t++)
        if (at[t] != NOT)
            lz_rule_put(m, t, at[t], f);
    return f;
}

/* Input and output features are in groups, or examples are; groups are major. */
static void conv_features(lz_rule_make *m, const lz_attr_convolution *a)
{
    int64_t groups = a->feature_group_count, batches = a->batch_group_count;
    const lz_shape *in = lz_rule_shape(m, 0), *kernel = lz_rule_shape(m, 1);
    int64_t out = kernel->dims[a->kernel_output_feature_dimension];
    if (groups > 1)
        conv_loop(m, LZ_FACTOR_PASS, groups, a->input_feature_dimension,
                  a->kernel_output_feature_dimension, a->output_feature_dimension);
    if (batches > 1)
        conv_loop(m, LZ_FACTOR_PASS, batches, a->input_batch_dimension,
                  a->kernel_output_feature_dimension, a->output_feature_dimension);
    conv_loop(m, LZ_FACTOR_PASS, in->dims[a->input_batch_dimension] / batches,
              a->input_batch_dimension, NOT, a->output_batch_dimension);
    conv_loop(m, LZ_FACTOR_REDUCE, in->dims[a->input_feature_dimension] / groups,
              a->input_feature_dimension, a->kernel_input_feature_dimension, NOT);
    conv_loop(m, LZ_FACTOR_PASS, out / (groups * batches), NOT, a->kernel_output_feature_dimension,
              a->output_feature_dimension);
}

/* Where the kernel is the larger (of a gradient by the kernel), its elements are what is summed
 * over; else neighbours exchange what windows reach over. */
static void conv_spatial(lz_rule_make *m, const lz_attr_convolution *a, int i)
{
    int64_t input = a->input_spatial_dimensions.v[i], kernel = a->kernel_spatial_dimensions.v[i],
            output = a->output_spatial_dimensions.v[i];
    int64_t extent = lz_rule_shape(m, 0)->dims[input], size = lz_rule_shape(m, 1)->dims[kernel];
    lz_window_axis w = lz_window_of_conv(a, i, lz_rule_shape(m, 1));
    if (size > lz_rule_shape(m, 2)->dims[output]) {
        conv_loop(m, LZ_FACTOR_REDUCE, extent, input, kernel, NOT);
        conv_loop(m, LZ_FACTOR_GATHER, lz_rule_shape(m, 2)->dims[output], NOT, NOT, output);
        return;
    }
    conv_loop(m, window_kind(&w), extent, input, NOT, output);
    conv_loop(m, LZ_FACTOR_GATHER, size, NOT, kernel, NOT);
}

void lz_shard_convolution(lz_rule_make *m)
{
    const lz_attr_convolution *a = LZ_ATTR(convolution, m->sig->attr);
    conv_features(m, a);
    for (int i = 0; i < a->input_spatial_dimensions.n; i++)
        conv_spatial(m, a, i);
}
