/* hlo.c - the primitive operations as public functions: include/lazuli/hlo.h. Each takes handles,
 * records one operation, and returns a handle; shape rules are the signature's. */
#include "ops/index_builder.h"
#include "ir/attr.h"
#include "ops/order_builder.h"
#include <lazuli/hlo.h>
#include <string.h>

#define BEGIN(name)                                                                                \
    lz_tracer c;                                                                                   \
    lz_tracer_begin(&c, name, site)

/* Copies n values of the caller's; false with the error recorded. */
static bool ints_in(const char *what, const int64_t *v, int n, lz_ints *out)
{
    *out = (lz_ints){0};
    if (n < 0 || n > LZ_MAX_RANK) {
        LZ_FAIL(LZ_ERANGE, "%s: %d values, but a tensor has at most %d dimensions", what, n,
                LZ_MAX_RANK);
        return false;
    }
    if (n && !v) {
        LZ_FAIL(LZ_ENULL, "%s is NULL", what);
        return false;
    }
    *out = lz_ints_make(n, v);
    return true;
}

/* Operands in; false when one is bad. */
static bool in_all(lz_tracer *c, lz_tensor *const *t, int n, lz_node **out)
{
    if (n && !t) {
        LZ_FAIL(LZ_ENULL, "the operands are NULL");
        return false;
    }
    for (int i = 0; i < n; i++)
        if (!(out[i] = lz_tracer_in(c, t[i])))
            return false;
    return true;
}

lz_tensor *lz_hlo_constant_at(lz_dtype dtype, double value, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_hlo_constant");
    return lz_tracer_end(&c, lz_tracer_const(&c, dtype, value, NULL));
}

lz_tensor *lz_hlo_ew_at(const char *name, lz_tensor *const *operands, int n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_node *o[3] = {0};
    BEGIN("lz_hlo_ew");
    lz_op op = name ? lz_op_from_text(name, strlen(name)) : LZ_OP_NONE;
    const lz_op_info *info = lz_op_get(op);
    if (!name)
        LZ_FAIL(LZ_ENULL, "name is NULL");
    else if (op == LZ_OP_NONE || info->cls != LZ_CLASS_EW || info->attr != LZ_ATTR_none)
        LZ_FAIL(LZ_EINVAL, "\"%.40s\" is no elementwise operation without attributes", name);
    else if (n != info->arity)
        LZ_FAIL(LZ_EINVAL, "%s: takes %d operands, not %d", info->text, info->arity, n);
    else if (in_all(&c, operands, n, o))
        return lz_tracer_end(&c, lz_tracer_op(&c, op, NULL, o, (uint32_t)n));
    return lz_tracer_end(&c, NULL);
}

lz_tensor *lz_hlo_compare_at(lz_hlo_direction d, lz_tensor *a, lz_tensor *b, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    static const lz_comparison_direction to[] = {
        [LZ_HLO_EQ] = LZ_CMP_EQ, [LZ_HLO_NE] = LZ_CMP_NE, [LZ_HLO_GE] = LZ_CMP_GE,
        [LZ_HLO_GT] = LZ_CMP_GT, [LZ_HLO_LE] = LZ_CMP_LE, [LZ_HLO_LT] = LZ_CMP_LT};
    BEGIN("lz_hlo_compare");
    lz_node *x = lz_tracer_in(&c, a), *y = x ? lz_tracer_in(&c, b) : NULL;
    if (y && ((int)d < 0 || d > LZ_HLO_LT)) {
        LZ_FAIL(LZ_EINVAL, "%d is no comparison direction", (int)d);
        y = NULL;
    }
    return lz_tracer_end(&c, y ? lz_tracer_compare(&c, to[d], x, y) : NULL);
}

static lz_tensor *by_dtype(const char *name, lz_op op, lz_tensor *x, lz_dtype dtype,
                           const lz_site *site)
{
    BEGIN(name);
    return lz_tracer_end(&c, lz_tracer_as_dtype(&c, op, lz_tracer_in(&c, x), dtype));
}

lz_tensor *lz_hlo_convert_at(lz_tensor *x, lz_dtype dtype, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return by_dtype("lz_hlo_convert", LZ_OP_CONVERT, x, dtype, site);
}

lz_tensor *lz_hlo_bitcast_convert_at(lz_tensor *x, lz_dtype dtype, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return by_dtype("lz_hlo_bitcast_convert", LZ_OP_BITCAST_CONVERT, x, dtype, site);
}

lz_tensor *lz_hlo_reduce_precision_at(lz_tensor *x, int exponent_bits, int mantissa_bits,
                                      const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_attr_any a;
    BEGIN("lz_hlo_reduce_precision");
    lz_node *n = lz_tracer_in(&c, x);
    lz_attr_init(&a, LZ_ATTR_precision);
    a.as_precision.exponent_bits = exponent_bits;
    a.as_precision.mantissa_bits = mantissa_bits;
    return lz_tracer_end(&c, lz_tracer_op(&c, LZ_OP_REDUCE_PRECISION, &a.head, &n, 1));
}

lz_tensor *lz_hlo_broadcast_in_dim_at(lz_tensor *x, lz_shape shape, const int64_t *dims, int ndims,
                                      const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_ints d;
    BEGIN("lz_hlo_broadcast_in_dim");
    lz_node *n = lz_tracer_in(&c, x);
    return lz_tracer_end(&c, n && ints_in("dims", dims, ndims, &d)
                                 ? lz_tracer_broadcast_in_dim(&c, n, &d, &shape)
                                 : NULL);
}

lz_tensor *lz_hlo_reshape_at(lz_tensor *x, lz_shape shape, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_hlo_reshape");
    return lz_tracer_end(&c, lz_tracer_reshape(&c, lz_tracer_in(&c, x), &shape));
}

lz_tensor *lz_hlo_transpose_at(lz_tensor *x, const int64_t *perm, int n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_attr_any a;
    BEGIN("lz_hlo_transpose");
    lz_node *o = lz_tracer_in(&c, x);
    lz_attr_init(&a, LZ_ATTR_perm);
    return lz_tracer_end(&c, o && ints_in("perm", perm, n, &a.as_perm.permutation)
                                 ? lz_tracer_op(&c, LZ_OP_TRANSPOSE, &a.head, &o, 1)
                                 : NULL);
}

lz_tensor *lz_hlo_slice_at(lz_tensor *x, const int64_t *start, const int64_t *limit,
                           const int64_t *strides, int n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    static const int64_t ones[LZ_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    lz_ints s, l, st;
    BEGIN("lz_hlo_slice");
    lz_node *o = lz_tracer_in(&c, x);
    bool ok = o && ints_in("start", start, n, &s) && ints_in("limit", limit, n, &l) &&
              ints_in("strides", strides ? strides : ones, n, &st);
    return lz_tracer_end(&c, ok ? lz_tracer_slice(&c, o, &s, &l, &st) : NULL);
}

lz_tensor *lz_hlo_pad_at(lz_tensor *x, lz_tensor *value, const int64_t *low, const int64_t *high,
                         const int64_t *interior, int n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    static const int64_t zeros[LZ_MAX_RANK];
    lz_attr_any a;
    BEGIN("lz_hlo_pad");
    lz_node *o[2] = {lz_tracer_in(&c, x), NULL};
    o[1] = o[0] ? lz_tracer_in(&c, value) : NULL;
    lz_attr_init(&a, LZ_ATTR_pad);
    bool ok = o[1] && ints_in("low", low, n, &a.as_pad.edge_padding_low) &&
              ints_in("high", high, n, &a.as_pad.edge_padding_high) &&
              ints_in("interior", interior ? interior : zeros, n, &a.as_pad.interior_padding);
    return lz_tracer_end(&c, ok ? lz_tracer_op(&c, LZ_OP_PAD, &a.head, o, 2) : NULL);
}

/* Room for n operands: the stack's for few. NULL with the error recorded. */
static lz_node **room(int n, lz_node **few, int nfew)
{
    if (n < 0) {
        LZ_FAIL(LZ_EINVAL, "%d operands", n);
        return NULL;
    }
    if (n <= nfew)
        return few;
    lz_node **p = lz_calloc((size_t)n, sizeof *p);
    if (!p)
        LZ_FAIL(LZ_EMEM, "no memory for %d operands", n);
    return p;
}

lz_tensor *lz_hlo_concatenate_at(lz_tensor *const *xs, int n, int64_t dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_node *few[16], *r = NULL, **o;
    lz_attr_any a;
    BEGIN("lz_hlo_concatenate");
    lz_attr_init(&a, LZ_ATTR_dim);
    a.as_dim.dimension = dim;
    o = room(n, few, 16);
    if (o && n < 1)
        LZ_FAIL(LZ_EINVAL, "concatenate: needs at least one operand");
    else if (o && in_all(&c, xs, n, o))
        r = lz_tracer_op(&c, LZ_OP_CONCATENATE, &a.head, o, (uint32_t)n);
    if (o && o != few)
        lz_free(o);
    return lz_tracer_end(&c, r);
}

lz_tensor *lz_hlo_reverse_at(lz_tensor *x, const int64_t *dims, int n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_attr_any a;
    BEGIN("lz_hlo_reverse");
    lz_node *o = lz_tracer_in(&c, x);
    lz_attr_init(&a, LZ_ATTR_dims);
    return lz_tracer_end(&c, o && ints_in("dims", dims, n, &a.as_dims.dimensions)
                                 ? lz_tracer_op(&c, LZ_OP_REVERSE, &a.head, &o, 1)
                                 : NULL);
}

lz_tensor *lz_hlo_reduce_at(const char *combiner, lz_tensor *x, const int64_t *dims, int n,
                            const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_ints d;
    BEGIN("lz_hlo_reduce");
    lz_node *o = lz_tracer_in(&c, x);
    lz_op op = o ? lz_tracer_combiner(combiner) : LZ_OP_NONE;
    return lz_tracer_end(&c, op != LZ_OP_NONE && ints_in("dims", dims, n, &d)
                                 ? lz_tracer_reduce(&c, op, o, &d)
                                 : NULL);
}

lz_tensor *lz_hlo_dot_general_at(lz_tensor *a, lz_tensor *b, const lz_dot_dims *dims,
                                 const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_attr_any r;
    BEGIN("lz_hlo_dot_general");
    lz_node *o[2] = {lz_tracer_in(&c, a), NULL};
    o[1] = o[0] ? lz_tracer_in(&c, b) : NULL;
    lz_attr_init(&r, LZ_ATTR_dot);
    bool ok = o[1] != NULL;
    if (ok && !dims) {
        LZ_FAIL(LZ_ENULL, "dims is NULL");
        ok = false;
    }
    ok = ok &&
         ints_in("lhs_batch", dims->lhs_batch, dims->nbatch, &r.as_dot.lhs_batching_dimensions) &&
         ints_in("rhs_batch", dims->rhs_batch, dims->nbatch, &r.as_dot.rhs_batching_dimensions) &&
         ints_in("lhs_contract", dims->lhs_contract, dims->ncontract,
                 &r.as_dot.lhs_contracting_dimensions) &&
         ints_in("rhs_contract", dims->rhs_contract, dims->ncontract,
                 &r.as_dot.rhs_contracting_dimensions);
    return lz_tracer_end(&c, ok ? lz_tracer_op(&c, LZ_OP_DOT_GENERAL, &r.head, o, 2) : NULL);
}

lz_tensor *lz_hlo_fft_at(lz_hlo_fft_type type, lz_tensor *x, const int64_t *lengths, int n,
                         const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_attr_any a;
    BEGIN("lz_hlo_fft");
    lz_node *o = lz_tracer_in(&c, x);
    lz_attr_init(&a, LZ_ATTR_fft);
    a.as_fft.fft_type = (int32_t)type;
    if (o && !ints_in("lengths", lengths, n, &a.as_fft.fft_length))
        o = NULL;
    return lz_tracer_end(&c, lz_tracer_op(&c, LZ_OP_FFT, &a.head, &o, 1));
}

lz_tensor *lz_hlo_cholesky_at(lz_tensor *a, bool lower, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_attr_any r;
    BEGIN("lz_hlo_cholesky");
    lz_node *o = lz_tracer_in(&c, a);
    lz_attr_init(&r, LZ_ATTR_cholesky);
    r.as_cholesky.lower = lower;
    return lz_tracer_end(&c, lz_tracer_op(&c, LZ_OP_CHOLESKY, &r.head, &o, 1));
}

lz_tensor *lz_hlo_triangular_solve_at(lz_tensor *a, lz_tensor *b, bool left_side, bool lower,
                                      bool unit_diagonal, lz_hlo_transpose transpose_a,
                                      const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_attr_any r;
    BEGIN("lz_hlo_triangular_solve");
    lz_node *o[2] = {lz_tracer_in(&c, a), NULL};
    o[1] = o[0] ? lz_tracer_in(&c, b) : NULL;
    lz_attr_init(&r, LZ_ATTR_triangular_solve);
    r.as_triangular_solve.left_side = left_side;
    r.as_triangular_solve.lower = lower;
    r.as_triangular_solve.unit_diagonal = unit_diagonal;
    r.as_triangular_solve.transpose_a = (int32_t)transpose_a;
    return lz_tracer_end(&c, lz_tracer_op(&c, LZ_OP_TRIANGULAR_SOLVE, &r.head, o, 2));
}

lz_tensor *lz_hlo_gather_at(lz_tensor *x, lz_tensor *start_indices, const lz_gather_dims *d,
                            const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_attr_any r;
    BEGIN("lz_hlo_gather");
    lz_node *o[2] = {lz_tracer_in(&c, x), NULL};
    o[1] = o[0] ? lz_tracer_in(&c, start_indices) : NULL;
    lz_attr_init(&r, LZ_ATTR_gather);
    bool ok = o[1] != NULL;
    if (ok && !d) {
        LZ_FAIL(LZ_ENULL, "dims is NULL");
        ok = false;
    }
    ok = ok && ints_in("offset_dims", d->offset_dims, d->noffset, &r.as_gather.offset_dims) &&
         ints_in("collapsed_slice_dims", d->collapsed_slice_dims, d->ncollapsed,
                 &r.as_gather.collapsed_slice_dims) &&
         ints_in("operand_batching_dims", d->operand_batching_dims, d->noperand_batch,
                 &r.as_gather.operand_batching_dims) &&
         ints_in("start_indices_batching_dims", d->start_indices_batching_dims, d->noperand_batch,
                 &r.as_gather.start_indices_batching_dims) &&
         ints_in("start_index_map", d->start_index_map, d->nstart_map,
                 &r.as_gather.start_index_map) &&
         ints_in("slice_sizes", d->slice_sizes, lz_node_type(o[0])->shape.rank,
                 &r.as_gather.slice_sizes);
    if (ok) {
        r.as_gather.index_vector_dim = d->index_vector_dim;
        r.as_gather.indices_are_sorted = d->indices_are_sorted;
    }
    return lz_tracer_end(&c, ok ? lz_tracer_op(&c, LZ_OP_GATHER, &r.head, o, 2) : NULL);
}

/* Body of a scatter: combine(old, update), or the update. */
static const lz_func *scatter_body(const char *combiner, lz_dtype d)
{
    if (!combiner || strcmp(combiner, "assign") != 0) {
        lz_op op = lz_tracer_combiner(combiner);
        return op == LZ_OP_NONE ? NULL : lz_region_binary(op, d);
    }
    return lz_region_assign(d);
}

lz_tensor *lz_hlo_scatter_at(const char *combiner, lz_tensor *x, lz_tensor *indices,
                             lz_tensor *updates, const lz_scatter_dims *d, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_attr_any r;
    BEGIN("lz_hlo_scatter");
    lz_node *o[3] = {lz_tracer_in(&c, x), NULL, NULL};
    o[1] = o[0] ? lz_tracer_in(&c, indices) : NULL;
    o[2] = o[1] ? lz_tracer_in(&c, updates) : NULL;
    lz_attr_init(&r, LZ_ATTR_scatter);
    bool ok = o[2] != NULL;
    if (ok && !d) {
        LZ_FAIL(LZ_ENULL, "dims is NULL");
        ok = false;
    }
    ok = ok &&
         ints_in("update_window_dims", d->update_window_dims, d->nwindow,
                 &r.as_scatter.update_window_dims) &&
         ints_in("inserted_window_dims", d->inserted_window_dims, d->ninserted,
                 &r.as_scatter.inserted_window_dims) &&
         ints_in("input_batching_dims", d->input_batching_dims, d->ninput_batch,
                 &r.as_scatter.input_batching_dims) &&
         ints_in("scatter_indices_batching_dims", d->scatter_indices_batching_dims, d->ninput_batch,
                 &r.as_scatter.scatter_indices_batching_dims) &&
         ints_in("scatter_dims_to_operand_dims", d->scatter_dims_to_operand_dims, d->nmap,
                 &r.as_scatter.scatter_dims_to_operand_dims);
    if (ok) {
        r.as_scatter.index_vector_dim = d->index_vector_dim;
        r.as_scatter.indices_are_sorted = d->indices_are_sorted;
        r.as_scatter.unique_indices = d->unique_indices;
        r.as_scatter.update_computation = scatter_body(combiner, lz_node_type(o[0])->dtype);
        ok = r.as_scatter.update_computation != NULL;
    }
    return lz_tracer_end(
        &c, ok ? lz_tracer_result(&c, lz_tracer_op(&c, LZ_OP_SCATTER, &r.head, o, 3), 0) : NULL);
}

lz_tensor *lz_hlo_dynamic_slice_at(lz_tensor *x, lz_tensor *const *starts, const int64_t *sizes,
                                   int n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_node *o[1 + LZ_MAX_RANK];
    lz_attr_any a;
    BEGIN("lz_hlo_dynamic_slice");
    lz_attr_init(&a, LZ_ATTR_sizes);
    o[0] = lz_tracer_in(&c, x);
    bool ok =
        o[0] && ints_in("sizes", sizes, n, &a.as_sizes.slice_sizes) && in_all(&c, starts, n, o + 1);
    return lz_tracer_end(&c, ok ? lz_tracer_op(&c, LZ_OP_DYNAMIC_SLICE, &a.head, o, (uint32_t)n + 1)
                                : NULL);
}

lz_tensor *lz_hlo_dynamic_update_slice_at(lz_tensor *x, lz_tensor *update, lz_tensor *const *starts,
                                          int n, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_node *o[2 + LZ_MAX_RANK];
    BEGIN("lz_hlo_dynamic_update_slice");
    o[0] = lz_tracer_in(&c, x);
    o[1] = o[0] ? lz_tracer_in(&c, update) : NULL;
    bool ok = o[1] != NULL;
    if (ok && (n < 0 || n > LZ_MAX_RANK)) {
        LZ_FAIL(LZ_ERANGE, "starts: %d values, but a tensor has at most %d dimensions", n,
                LZ_MAX_RANK);
        ok = false;
    }
    ok = ok && in_all(&c, starts, n, o + 2);
    return lz_tracer_end(
        &c, ok ? lz_tracer_op(&c, LZ_OP_DYNAMIC_UPDATE_SLICE, NULL, o, (uint32_t)n + 2) : NULL);
}

static lz_node *sort(lz_tracer *c, lz_tensor *const *xs, int n, int64_t dim, int num_keys,
                     bool descending)
{
    enum { MOST = 15 };
    lz_node *o[MOST];
    if (n < 1 || n > MOST || num_keys < 1 || num_keys > n) {
        LZ_FAIL(LZ_EINVAL, "%d tensors by %d keys: 1..%d tensors are possible, and as many keys", n,
                num_keys, MOST);
        return NULL;
    }
    if (!in_all(c, xs, n, o))
        return NULL;
    if (lz_node_type(o[0])->shape.rank == 0) {
        LZ_FAIL(LZ_ESHAPE, "a scalar has no dimension to sort along");
        return NULL;
    }
    if (!lz_tracer_dim(dim, lz_node_type(o[0])->shape.rank, &dim))
        return NULL;
    return lz_tracer_sort(c, o, (uint32_t)n, dim, (uint32_t)num_keys, descending);
}

lz_tensor *lz_hlo_sort_at(lz_tensor *const *xs, int n, int64_t dim, int num_keys, bool descending,
                          lz_tensor **out, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_hlo_sort");
    if (!out && n > 1) {
        LZ_FAIL(LZ_ENULL, "out is NULL");
        return lz_tracer_end(&c, NULL);
    }
    lz_node *m = sort(&c, xs, n, dim, num_keys, descending);
    for (int k = 1; out && k < n; k++) {
        lz_node *r = lz_tracer_result(&c, m, k);
        out[k] = r && c.thr ? lz_trace_tensor_of(r, site) : lz_trace_error_tensor(c.op, site);
    }
    lz_tensor *first = lz_tracer_end(&c, lz_tracer_result(&c, m, 0));
    if (out && n > 0)
        out[0] = first;
    return first;
}

lz_tensor *lz_hlo_rng_bit_generator_at(lz_tensor *state, lz_dtype dtype, lz_shape shape,
                                       lz_tensor **new_state, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    lz_attr_any a;
    BEGIN("lz_hlo_rng_bit_generator");
    lz_node *o = lz_tracer_in(&c, state);
    lz_attr_init(&a, LZ_ATTR_rng);
    a.as_rng.rng_algorithm = LZ_RNG_PHILOX;
    a.as_rng.dtype = dtype;
    a.as_rng.shape = shape;
    lz_node *m = lz_tracer_op(&c, LZ_OP_RNG_BIT_GENERATOR, &a.head, &o, 1);
    lz_node *st = new_state ? lz_tracer_result(&c, m, 0) : NULL, *bits = lz_tracer_result(&c, m, 1);
    if (new_state)
        *new_state = st ? lz_trace_tensor_of(st, site)
                        : lz_trace_error_tensor("lz_hlo_rng_bit_generator", site);
    return lz_tracer_end(&c, bits);
}

lz_tensor *lz_hlo_optimization_barrier_at(lz_tensor *x, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_hlo_optimization_barrier");
    lz_node *o = lz_tracer_in(&c, x);
    return lz_tracer_end(
        &c, lz_tracer_result(&c, lz_tracer_op(&c, LZ_OP_OPTIMIZATION_BARRIER, NULL, &o, 1), 0));
}

/* The first index at which the element equals the extreme; NaN counts as the extreme. Two plain
 * reductions, which every backend fuses. */
lz_node *lz_tracer_argminmax(lz_tracer *c, bool max, lz_node *x, int64_t dim)
{
    if (!x)
        return NULL;
    const lz_type *t = lz_node_type(x);
    if (!lz_tracer_dim(dim, t->shape.rank, &dim))
        return NULL;
    lz_shape one = t->shape;
    if (one.rank == 0)
        one = lz_shape_make(1, (const int64_t[]){1});
    x = lz_tracer_reshape(c, x, &one);
    int64_t n = one.dims[dim];
    if (n == 0) {
        LZ_FAIL(LZ_ESHAPE, "dimension %lld is empty: no element is the %s", (long long)dim,
                max ? "largest" : "smallest");
        return NULL;
    }
    lz_ints dims = {.n = 1, .v = {dim}}, keep = {0};
    for (int i = 0; i < one.rank; i++)
        if (i != dim)
            keep.v[keep.n++] = i;
    lz_node *m = lz_tracer_reduce(c, max ? LZ_OP_MAXIMUM : LZ_OP_MINIMUM, x, &dims);
    lz_node *hit = lz_tracer_compare(c, LZ_CMP_EQ, x,
                                     m ? lz_tracer_broadcast_in_dim(c, m, &keep, &one) : NULL);
    if (lz_dtype_is_float(t->dtype))
        hit = lz_tracer_ew2(c, LZ_OP_OR, hit, lz_tracer_compare(c, LZ_CMP_NE, x, x));
    lz_node *at = lz_tracer_iota(c, LZ_I64, &one, dim, x);
    return lz_tracer_reduce(
        c, LZ_OP_MINIMUM,
        lz_tracer_ew3(c, LZ_OP_SELECT, hit, at, lz_tracer_const_like(c, at, (double)(n - 1))),
        &dims);
}

lz_tensor *lz_hlo_argminmax_at(bool max, lz_tensor *x, int64_t dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_hlo_argminmax");
    return lz_tracer_end(&c, lz_tracer_argminmax(&c, max, lz_tracer_in(&c, x), dim));
}
