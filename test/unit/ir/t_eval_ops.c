/* t_eval_ops.c - movement, indexing, reductions and products of the reference: the specification's
 * examples, and random cases against its formulas written out index by index. */
#include "ir/eval/eval.h"
#include "suite.h"
#include "support/gen.h"
#include <math.h>
#include <string.h>

static char msg[512];

/* ---- helpers: coordinates ---- */

typedef struct coord {
    int64_t v[2 * LZ_MAX_RANK];
} coord;

static coord coord_of(const lz_shape *s, int64_t i)
{
    coord c = {{0}};
    for (int d = s->rank; d-- > 0; i /= s->dims[d])
        c.v[d] = i % s->dims[d];
    return c;
}

static int64_t linear(const lz_shape *s, const int64_t *c)
{
    int64_t i = 0;
    for (int d = 0; d < s->rank; d++)
        i = i * s->dims[d] + c[d];
    return i;
}

static bool inside(const lz_shape *s, const int64_t *c)
{
    for (int d = 0; d < s->rank; d++)
        if (c[d] < 0 || c[d] >= s->dims[d])
            return false;
    return true;
}

static int find(const lz_ints *s, int64_t v)
{
    for (int i = 0; i < s->n; i++)
        if (s->v[i] == v)
            return i;
    return -1;
}

/* The operation of a one-operation function, and its results. */
static const lz_inst *the_op(const lz_func *f)
{
    for (uint32_t i = f->nparam; i < f->ninst; i++)
        if (f->insts[i].sig->op != LZ_OP_RESULT)
            return &f->insts[i];
    return NULL;
}

typedef void check_fn(const lz_sig *s, lz_literal *const *in, lz_literal *const *out);

static void over_row(lz_op op, check_fn *check)
{
    lz_func *f;
    lz_literal **args, *got[8], *in[64];
    int n = 0, rc;
    for (; (rc = lz_gen_row_cases(op, n, &f, &args)) == 1; n++) {
        ck_assert_msg(lz_ref_run(f, args, got) == LZ_OK, "%s case %d: %s", lz_op_get(op)->text, n,
                      lz_error_get()->message);
        const lz_inst *i = the_op(f);
        for (uint32_t k = 0; k < i->sig->nopnd; k++)
            in[k] = args[i->opnd[k]];
        for (uint32_t k = 0; k < f->nresult; k++)
            ck_assert_ptr_eq(got[k]->type, lz_val_type(f, f->results[k]));
        check(i->sig, in, got);
        for (uint32_t k = 0; k < f->nresult; k++)
            lz_literal_release(got[k]);
        lz_gen_args_free(f, args);
        lz_func_free(f);
    }
    ck_assert_msg(rc == 0, "%s case %d: %s", lz_op_get(op)->text, n, lz_error_get()->message);
    ck_assert_int_gt(n, 20);
}

#define EACH_ELEM(l, i, c)                                                                         \
    for (int64_t i = 0; i < (l)->type->nelem; i++)                                                 \
        for (coord c = coord_of(&(l)->type->shape, i), *once_ = &c; once_; once_ = NULL)
#define BITS(l, i) lz_test_get_bits((l), (i))

/* ---- movement ---- */

static void check_broadcast(const lz_sig *s, lz_literal *const *in, lz_literal *const *out)
{
    const lz_ints *dims = &LZ_ATTR(broadcast, s->attr)->broadcast_dimensions;
    const lz_shape *is = &in[0]->type->shape;
    EACH_ELEM (out[0], i, c) {
        coord o = {{0}};
        for (int d = 0; d < is->rank; d++)
            o.v[d] = is->dims[d] == 1 ? 0 : c.v[dims->v[d]];
        ck_assert_uint_eq(BITS(out[0], i), BITS(in[0], linear(is, o.v)));
    }
}

static void check_transpose(const lz_sig *s, lz_literal *const *in, lz_literal *const *out)
{
    const lz_ints *perm = &LZ_ATTR(perm, s->attr)->permutation;
    EACH_ELEM (out[0], i, c) {
        coord o = {{0}};
        for (int d = 0; d < perm->n; d++)
            o.v[perm->v[d]] = c.v[d];
        ck_assert_uint_eq(BITS(out[0], i), BITS(in[0], linear(&in[0]->type->shape, o.v)));
    }
}

static void check_reverse(const lz_sig *s, lz_literal *const *in, lz_literal *const *out)
{
    const lz_ints *dims = &LZ_ATTR(dims, s->attr)->dimensions;
    const lz_shape *is = &in[0]->type->shape;
    EACH_ELEM (out[0], i, c) {
        coord o = c;
        for (int k = 0; k < dims->n; k++)
            o.v[dims->v[k]] = is->dims[dims->v[k]] - 1 - c.v[dims->v[k]];
        ck_assert_uint_eq(BITS(out[0], i), BITS(in[0], linear(is, o.v)));
    }
}

static void check_slice(const lz_sig *s, lz_literal *const *in, lz_literal *const *out)
{
    const lz_attr_slice *a = LZ_ATTR(slice, s->attr);
    EACH_ELEM (out[0], i, c) {
        coord o = {{0}};
        for (int d = 0; d < a->strides.n; d++)
            o.v[d] = a->start_indices.v[d] + c.v[d] * a->strides.v[d];
        ck_assert_uint_eq(BITS(out[0], i), BITS(in[0], linear(&in[0]->type->shape, o.v)));
    }
}

static void check_concatenate(const lz_sig *s, lz_literal *const *in, lz_literal *const *out)
{
    int64_t dim = LZ_ATTR(dim, s->attr)->dimension;
    EACH_ELEM (out[0], i, c) {
        uint32_t k = 0;
        while (c.v[dim] >= in[k]->type->shape.dims[dim])
            c.v[dim] -= in[k++]->type->shape.dims[dim];
        ck_assert_uint_eq(BITS(out[0], i), BITS(in[k], linear(&in[k]->type->shape, c.v)));
    }
}

static void check_pad(const lz_sig *s, lz_literal *const *in, lz_literal *const *out)
{
    const lz_attr_pad *a = LZ_ATTR(pad, s->attr);
    const lz_shape *is = &in[0]->type->shape;
    EACH_ELEM (out[0], i, c) {
        bool hit = true;
        for (int d = 0; d < is->rank; d++) {
            int64_t step = a->interior_padding.v[d] + 1;
            c.v[d] -= a->edge_padding_low.v[d];
            hit = hit && c.v[d] >= 0 && c.v[d] % step == 0;
            c.v[d] /= step;
        }
        ck_assert_uint_eq(BITS(out[0], i),
                          hit && inside(is, c.v) ? BITS(in[0], linear(is, c.v)) : BITS(in[1], 0));
    }
}

/* Bit k of all elements, the lowest of each first. */
static uint64_t bit_of(const lz_literal *l, int64_t k)
{
    int64_t bits = lz_dtype_bits(l->type->dtype);
    return BITS(l, k / bits) >> k % bits & 1;
}

static void check_same_bits(const lz_sig *s, lz_literal *const *in, lz_literal *const *out)
{
    (void)s;
    lz_dtype from = in[0]->type->dtype, d = out[0]->type->dtype;
    if (!lz_dtype_is_narrow(from) && !lz_dtype_is_narrow(d)) {
        ck_assert_uint_eq(in[0]->nbytes, out[0]->nbytes);
        ck_assert(out[0]->nbytes == 0 || memcmp(in[0]->data, out[0]->data, out[0]->nbytes) == 0);
        return;
    }
    int64_t n = out[0]->type->nelem * lz_dtype_bits(d);
    ck_assert_int_eq(n, in[0]->type->nelem * lz_dtype_bits(from));
    for (int64_t k = 0; k < n; k++)
        ck_assert_uint_eq(bit_of(out[0], k), bit_of(in[0], k));
    EACH_ELEM (out[0], i, c) /* stored extended by its own sign */
        ck_assert(!lz_dtype_is_narrow(d) ||
                  BITS(out[0], i) == (lz_dtype_wrap(d, BITS(out[0], i)) & 0xff));
}

static void check_iota(const lz_sig *s, lz_literal *const *in, lz_literal *const *out)
{
    (void)in;
    int64_t dim = LZ_ATTR(iota, s->attr)->iota_dimension;
    lz_dtype d = out[0]->type->dtype;
    EACH_ELEM (out[0], i, c)
        if (lz_dtype_is_narrow(d))
            ck_assert_uint_eq(BITS(out[0], i), lz_dtype_wrap(d, (uint64_t)c.v[dim]) & 0xff);
        else /* extents are small enough for it */
            ck_assert(lz_literal_get_f64(out[0], i) == (double)c.v[dim]);
}

static void check_barrier(const lz_sig *s, lz_literal *const *in, lz_literal *const *out)
{
    for (uint32_t k = 0; k < s->nresult; k++)
        ck_assert(lz_literal_eq(in[k], out[k]));
}

/* ---- run-time addresses ---- */

static int64_t index_at(const lz_literal *l, int64_t i)
{
    uint64_t v = BITS(l, i);
    unsigned w = (unsigned)lz_dtype_size(l->type->dtype) * 8;
    if (lz_dtype_is_signed(l->type->dtype))
        return (int64_t)(v << (64 - w)) >> (64 - w);
    return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

static int64_t clamp(int64_t lo, int64_t v, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static void check_dynamic_slice(const lz_sig *s, lz_literal *const *in, lz_literal *const *out)
{
    const lz_ints *size = &LZ_ATTR(sizes, s->attr)->slice_sizes;
    const lz_shape *is = &in[0]->type->shape;
    EACH_ELEM (out[0], i, c) {
        for (int d = 0; d < is->rank; d++)
            c.v[d] += clamp(0, index_at(in[1 + d], 0), is->dims[d] - size->v[d]);
        ck_assert_uint_eq(BITS(out[0], i), BITS(in[0], linear(is, c.v)));
    }
}

static void check_dynamic_update_slice(const lz_sig *s, lz_literal *const *in,
                                       lz_literal *const *out)
{
    (void)s;
    const lz_shape *is = &in[0]->type->shape, *us = &in[1]->type->shape;
    EACH_ELEM (out[0], i, c) {
        for (int d = 0; d < is->rank; d++)
            c.v[d] -= clamp(0, index_at(in[2 + d], 0), is->dims[d] - us->dims[d]);
        ck_assert_uint_eq(BITS(out[0], i),
                          inside(us, c.v) ? BITS(in[1], linear(us, c.v)) : BITS(in[0], i));
    }
}

/* start_indices[.., :, ..] number k for a batch index, as the specification slices it. */
static int64_t start_component(const lz_literal *idx, int64_t vector_dim, const int64_t *batch,
                               int k)
{
    const lz_shape *s = &idx->type->shape;
    coord c = {{0}};
    for (int d = 0, b = 0; d < s->rank; d++)
        c.v[d] = d == vector_dim ? k : batch[b++];
    return index_at(idx, linear(s, c.v));
}

/* Splits a walked coordinate into batch and window parts. */
static void split_coord(const coord *c, int rank, const lz_ints *window_dims, int64_t *batch,
                        int64_t *window)
{
    int b = 0, w = 0;
    for (int d = 0; d < rank; d++) {
        if (find(window_dims, d) >= 0)
            window[w++] = c->v[d];
        else
            batch[b++] = c->v[d];
    }
}

static void check_gather(const lz_sig *s, lz_literal *const *in, lz_literal *const *out)
{
    const lz_attr_gather *a = LZ_ATTR(gather, s->attr);
    const lz_shape *is = &in[0]->type->shape;
    EACH_ELEM (out[0], i, c) {
        int64_t batch[LZ_MAX_RANK], window[LZ_MAX_RANK], at[LZ_MAX_RANK];
        split_coord(&c, out[0]->type->shape.rank, &a->offset_dims, batch, window);
        for (int d = 0, w = 0; d < is->rank; d++) {
            int k = find(&a->start_index_map, d), b = find(&a->operand_batching_dims, d);
            at[d] = k < 0 ? 0
                          : clamp(0, start_component(in[1], a->index_vector_dim, batch, k),
                                  is->dims[d] - a->slice_sizes.v[d]);
            if (b >= 0) {
                int64_t sd = a->start_indices_batching_dims.v[b];
                at[d] += batch[sd - (sd < a->index_vector_dim ? 0 : 1)];
            } else if (find(&a->collapsed_slice_dims, d) < 0) {
                at[d] += window[w++];
            }
        }
        ck_assert_uint_eq(BITS(out[0], i), BITS(in[0], linear(is, at)));
    }
}

/* What the region gives of two numbers. */
static uint64_t combined(const lz_func *region, lz_dtype d, uint64_t old, uint64_t update)
{
    const lz_type *t = lz_type_get(d, &(lz_shape){0});
    lz_literal *in[] = {lz_literal_new(t), lz_literal_new(t)}, *out = NULL;
    lz_test_set_bits(in[0], 0, old);
    lz_test_set_bits(in[1], 0, update);
    ck_assert_msg(lz_ref_run(region, in, &out) == LZ_OK, "%s", lz_error_get()->message);
    uint64_t r = BITS(out, 0);
    lz_literal_release(out);
    lz_literal_release(in[0]);
    lz_literal_release(in[1]);
    return r;
}

/* One input, integers or booleans: exact whatever the order. */
static void check_scatter(const lz_sig *s, lz_literal *const *in, lz_literal *const *out)
{
    const lz_attr_scatter *a = LZ_ATTR(scatter, s->attr);
    lz_dtype dt = in[0]->type->dtype;
    lz_op op = lz_region_as_binary(a->update_computation);
    if (s->nresult != 1 || (lz_dtype_is_float(dt) && (op == LZ_OP_ADD || op == LZ_OP_MULTIPLY)) ||
        lz_dtype_is_complex(dt))
        return;
    const lz_shape *is = &in[0]->type->shape;
    lz_literal *want = lz_literal_copy_from(in[0]->type, in[0]->data);
    EACH_ELEM (in[2], i, c) {
        int64_t batch[LZ_MAX_RANK], window[LZ_MAX_RANK], at[LZ_MAX_RANK];
        split_coord(&c, in[2]->type->shape.rank, &a->update_window_dims, batch, window);
        for (int d = 0, w = 0; d < is->rank; d++) {
            int k = find(&a->scatter_dims_to_operand_dims, d), b = find(&a->input_batching_dims, d);
            at[d] = k < 0 ? 0 : start_component(in[1], a->index_vector_dim, batch, k);
            at[d] = clamp(-1000, at[d], 1000000); /* outside either way, and no overflow */
            if (b >= 0) {
                int64_t sd = a->scatter_indices_batching_dims.v[b];
                at[d] += batch[sd - (sd < a->index_vector_dim ? 0 : 1)];
            } else if (find(&a->inserted_window_dims, d) < 0) {
                at[d] += window[w++];
            }
        }
        if (!inside(is, at))
            continue;
        int64_t to = linear(is, at);
        lz_test_set_bits(want, to,
                         combined(a->update_computation, dt, BITS(want, to), BITS(in[2], i)));
    }
    ck_assert_msg(lz_test_same(out[0], want, 0, msg, sizeof msg), "%s", msg);
    lz_literal_release(want);
}

/* ---- reductions ---- */

static void check_reduce(const lz_sig *s, lz_literal *const *in, lz_literal *const *out)
{
    const lz_attr_reduce *a = LZ_ATTR(reduce, s->attr);
    lz_dtype dt = in[0]->type->dtype;
    lz_op op = lz_region_as_binary(a->body);
    if (op == LZ_OP_NONE || lz_dtype_is_complex(dt))
        return;
    int64_t n = out[0]->type->nelem;
    bool wide = lz_dtype_is_float(dt) && (op == LZ_OP_ADD || op == LZ_OP_MULTIPLY);
    long double *sum = calloc((size_t)n + 1, sizeof *sum),
                *mag = calloc((size_t)n + 1, sizeof *mag);
    lz_literal *acc = lz_literal_new(out[0]->type);
    for (int64_t i = 0; i < n; i++) {
        lz_test_set_bits(acc, i, BITS(in[1], 0));
        sum[i] = lz_literal_get_f64(in[1], 0);
        mag[i] = fabsl(sum[i]);
    }
    EACH_ELEM (in[0], i, c) {
        coord o = {{0}};
        for (int d = 0, k = 0; d < in[0]->type->shape.rank; d++)
            if (find(&a->dimensions, d) < 0)
                o.v[k++] = c.v[d];
        int64_t to = linear(&out[0]->type->shape, o.v);
        if (wide) {
            long double x = lz_literal_get_f64(in[0], i);
            sum[to] = op == LZ_OP_ADD ? sum[to] + x : sum[to] * x;
            mag[to] = op == LZ_OP_ADD ? mag[to] + fabsl(x) : fabsl(sum[to]);
            continue;
        }
        uint64_t r;
        ck_assert_int_eq(lz_ref_eval_bits(op, NULL, dt, (lz_dtype[]){dt, dt},
                                          (uint64_t[]){BITS(acc, to), BITS(in[0], i)}, &r),
                         LZ_OK);
        lz_test_set_bits(acc, to, r);
    }
    for (int64_t i = 0; wide && i < n; i++) {
        double got = lz_literal_get_f64(out[0], i);
        double eps = dt == LZ_F64   ? 0x1p-52
                     : dt == LZ_F32 ? 0x1p-24
                     : dt == LZ_F16 ? 0x1p-11
                                    : 0x1p-8;
        if (isfinite(got) && isfinite(sum[i]))
            ck_assert_msg(fabsl(got - sum[i]) <= eps * fabsl(sum[i]) + 0x1p-50L * mag[i] + 0x1p-25,
                          "%g, want %Lg", got, sum[i]);
        else if (isnan(sum[i]))
            ck_assert(isnan(got));
    }
    if (!wide)
        ck_assert_msg(lz_test_same(out[0], acc, 0, msg, sizeof msg), "%s", msg);
    lz_literal_release(acc);
    free(sum);
    free(mag);
}

/* result[batch, lhs free, rhs free] = sum over k, every index spelled out; integers and
 * booleans. */
static void check_dot(const lz_sig *s, lz_literal *const *in, lz_literal *const *out)
{
    const lz_attr_dot *a = LZ_ATTR(dot, s->attr);
    lz_dtype dt = in[0]->type->dtype;
    const lz_shape *ls = &in[0]->type->shape, *rs = &in[1]->type->shape;
    if (lz_dtype_is_float(dt) || lz_dtype_is_complex(dt))
        return;
    uint64_t mask = dt == LZ_BOOL ? 1 : ~UINT64_C(0) >> (64 - 8 * lz_dtype_size(dt));
    lz_shape ks = {.rank = a->lhs_contracting_dimensions.n};
    int64_t nk = 1;
    for (int d = 0; d < ks.rank; d++)
        nk *= ks.dims[d] = ls->dims[a->lhs_contracting_dimensions.v[d]];
    EACH_ELEM (out[0], i, c) {
        uint64_t sum = 0;
        for (int64_t k = 0; k < nk; k++) {
            coord kc = coord_of(&ks, k), l = {{0}}, r = {{0}};
            int at = 0;
            for (int b = 0; b < a->lhs_batching_dimensions.n; b++, at++)
                l.v[a->lhs_batching_dimensions.v[b]] = r.v[a->rhs_batching_dimensions.v[b]] =
                    c.v[at];
            for (int d = 0; d < ls->rank; d++)
                if (find(&a->lhs_batching_dimensions, d) < 0 &&
                    find(&a->lhs_contracting_dimensions, d) < 0)
                    l.v[d] = c.v[at++];
            for (int d = 0; d < rs->rank; d++)
                if (find(&a->rhs_batching_dimensions, d) < 0 &&
                    find(&a->rhs_contracting_dimensions, d) < 0)
                    r.v[d] = c.v[at++];
            for (int d = 0; d < ks.rank; d++)
                l.v[a->lhs_contracting_dimensions.v[d]] = r.v[a->rhs_contracting_dimensions.v[d]] =
                    kc.v[d];
            uint64_t p = BITS(in[0], linear(ls, l.v)) * BITS(in[1], linear(rs, r.v));
            sum = dt == LZ_BOOL ? sum | p : sum + p;
        }
        ck_assert_uint_eq(BITS(out[0], i),
                          (lz_dtype_is_narrow(dt) ? lz_dtype_wrap(dt, sum) : sum) & mask);
    }
}

static const struct {
    lz_op op;
    check_fn *check;
} rows[] = {
    {LZ_OP_BROADCAST_IN_DIM, check_broadcast},
    {LZ_OP_TRANSPOSE, check_transpose},
    {LZ_OP_REVERSE, check_reverse},
    {LZ_OP_SLICE, check_slice},
    {LZ_OP_CONCATENATE, check_concatenate},
    {LZ_OP_PAD, check_pad},
    {LZ_OP_RESHAPE, check_same_bits},
    {LZ_OP_BITCAST_CONVERT, check_same_bits},
    {LZ_OP_IOTA, check_iota},
    {LZ_OP_OPTIMIZATION_BARRIER, check_barrier},
    {LZ_OP_CUSTOM_VJP, check_barrier},
    {LZ_OP_DYNAMIC_SLICE, check_dynamic_slice},
    {LZ_OP_DYNAMIC_UPDATE_SLICE, check_dynamic_update_slice},
    {LZ_OP_GATHER, check_gather},
    {LZ_OP_SCATTER, check_scatter},
    {LZ_OP_REDUCE, check_reduce},
    {LZ_OP_DOT_GENERAL, check_dot},
};

START_TEST(rows_against_formulas)
{
    over_row(rows[_i].op, rows[_i].check);
}
END_TEST

/* ---- examples ---- */

/* Evaluates one op and compares with the list; everything is released. */
static void example(lz_op op, const void *attr, lz_literal **in, uint32_t n, lz_literal *want)
{
    const lz_type *types[8];
    for (uint32_t k = 0; k < n; k++) {
        ck_assert_ptr_nonnull(in[k]);
        types[k] = in[k]->type;
    }
    const lz_sig *s = lz_sig_get(op, lz_attr_get(attr), types, n);
    ck_assert_msg(s != NULL, "%s", lz_error_get()->message);
    lz_literal *got[4] = {NULL};
    ck_assert_msg(lz_ref_eval_inst(s, in, got) == LZ_OK, "%s", lz_error_get()->message);
    ck_assert_msg(lz_test_same(got[0], want, 0, msg, sizeof msg), "%s: %s", lz_op_get(op)->text,
                  msg);
    for (uint32_t k = 0; k < s->nresult; k++)
        lz_literal_release(got[k]);
    for (uint32_t k = 0; k < n; k++)
        lz_literal_release(in[k]);
    lz_literal_release(want);
}

static lz_ints il(int n, int64_t a, int64_t b)
{
    return lz_ints_make(n, (const int64_t[]){a, b});
}

/* 1, 2, 3, ... of shape 2x3x4x2, as in the specification's gather and scatter. */
static lz_literal *counting(void)
{
    lz_shape s = LZ_SHAPE(2, 3, 4, 2);
    lz_literal *l = lz_literal_new(lz_type_get(LZ_I64, &s));
    for (int64_t i = 0; i < 48; i++)
        ((int64_t *)l->data)[i] = i + 1;
    return l;
}

static lz_literal *spec_indices(void)
{
    return lz_test_lit_i64(LZ_I64, LZ_SHAPE(2, 2, 3, 2), 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9, 0, 0,
                           2, 1, 2, 2, 1, 2, 0, 1, 1, 0);
}

START_TEST(example_gather)
{
    lz_attr_gather a = {.kind = LZ_ATTR_gather,
                        .offset_dims = il(2, 3, 4),
                        .collapsed_slice_dims = il(1, 1, 0),
                        .operand_batching_dims = il(1, 0, 0),
                        .start_indices_batching_dims = il(1, 1, 0),
                        .start_index_map = il(2, 2, 1),
                        .index_vector_dim = 3,
                        .slice_sizes = lz_ints_make(4, (const int64_t[]){1, 1, 2, 2})};
    lz_literal *in[] = {counting(), spec_indices()};
    example(LZ_OP_GATHER, &a, in, 2,
            lz_test_lit_i64(LZ_I64, LZ_SHAPE(2, 2, 3, 2, 2), 1, 2, 3, 4, 3, 4, 5, 6, 13, 14, 15, 16,
                            33, 34, 35, 36, 35, 36, 37, 38, 41, 42, 43, 44, 1, 2, 3, 4, 13, 14, 15,
                            16, 21, 22, 23, 24, 43, 44, 45, 46, 33, 34, 35, 36, 27, 28, 29, 30));
}
END_TEST

START_TEST(example_scatter)
{
    lz_attr_scatter a = {.kind = LZ_ATTR_scatter,
                         .update_window_dims = il(2, 3, 4),
                         .inserted_window_dims = il(1, 1, 0),
                         .input_batching_dims = il(1, 0, 0),
                         .scatter_indices_batching_dims = il(1, 1, 0),
                         .scatter_dims_to_operand_dims = il(2, 2, 1),
                         .index_vector_dim = 3,
                         .update_computation = lz_region_binary(LZ_OP_ADD, LZ_I64)};
    lz_shape us = LZ_SHAPE(2, 2, 3, 2, 2);
    lz_literal *ones = lz_literal_new(lz_type_get(LZ_I64, &us));
    for (int64_t i = 0; i < ones->type->nelem; i++)
        ((int64_t *)ones->data)[i] = 1;
    lz_literal *in[] = {counting(), spec_indices(), ones};
    example(LZ_OP_SCATTER, &a, in, 3,
            lz_test_lit_i64(LZ_I64, LZ_SHAPE(2, 3, 4, 2), 3, 4, 6, 7, 6, 7, 7, 8, 9, 10, 11, 12, 15,
                            16, 17, 18, 17, 18, 19, 20, 22, 23, 24, 25, 25, 26, 28, 29, 30, 31, 31,
                            32, 35, 36, 38, 39, 38, 39, 39, 40, 41, 42, 44, 45, 46, 47, 47, 48));
}
END_TEST

/* Gather and dynamic_slice clamp, scatter drops: at both ends, at the extremes of the index
 * type. */
START_TEST(out_of_bounds)
{
    lz_attr_gather g = {.kind = LZ_ATTR_gather,
                        .collapsed_slice_dims = il(1, 0, 0),
                        .start_index_map = il(1, 0, 0),
                        .index_vector_dim = 1,
                        .slice_sizes = il(1, 1, 0)};
    lz_literal *in[3] = {lz_test_lit(LZ_F32, LZ_SHAPE(3), 10, 20, 30),
                         lz_test_lit_i64(LZ_I64, LZ_SHAPE(5), -1, 0, 3, INT64_MAX, INT64_MIN)};
    example(LZ_OP_GATHER, &g, in, 2, lz_test_lit(LZ_F32, LZ_SHAPE(5), 10, 10, 30, 30, 10));
    in[0] = lz_test_lit(LZ_F32, LZ_SHAPE(3), 10, 20, 30);
    in[1] = lz_test_lit_i64(LZ_U64, LZ_SHAPE(2), -1, 1); /* the largest unsigned value */
    example(LZ_OP_GATHER, &g, in, 2, lz_test_lit(LZ_F32, LZ_SHAPE(2), 30, 20));

    lz_attr_sizes d = {.kind = LZ_ATTR_sizes, .slice_sizes = il(1, 2, 0)};
    in[0] = lz_test_lit(LZ_F32, LZ_SHAPE(3), 10, 20, 30);
    in[1] = lz_test_lit_i64(LZ_I64, LZ_SCALAR, INT64_MAX);
    example(LZ_OP_DYNAMIC_SLICE, &d, in, 2, lz_test_lit(LZ_F32, LZ_SHAPE(2), 20, 30));
    in[0] = lz_test_lit(LZ_F32, LZ_SHAPE(3), 10, 20, 30);
    in[1] = lz_test_lit_i64(LZ_I8, LZ_SCALAR, -128);
    example(LZ_OP_DYNAMIC_SLICE, &d, in, 2, lz_test_lit(LZ_F32, LZ_SHAPE(2), 10, 20));

    lz_attr none = {LZ_ATTR_none};
    in[0] = lz_test_lit(LZ_F32, LZ_SHAPE(3), 10, 20, 30);
    in[1] = lz_test_lit(LZ_F32, LZ_SHAPE(2), 1, 2);
    in[2] = lz_test_lit_i64(LZ_U64, LZ_SCALAR, -1);
    example(LZ_OP_DYNAMIC_UPDATE_SLICE, &none, in, 3, lz_test_lit(LZ_F32, LZ_SHAPE(3), 10, 1, 2));

    lz_attr_scatter s = {.kind = LZ_ATTR_scatter,
                         .inserted_window_dims = il(1, 0, 0),
                         .scatter_dims_to_operand_dims = il(1, 0, 0),
                         .index_vector_dim = 1,
                         .update_computation = lz_region_binary(LZ_OP_ADD, LZ_F32)};
    in[0] = lz_test_lit(LZ_F32, LZ_SHAPE(3), 10, 20, 30);
    in[1] = lz_test_lit_i64(LZ_I64, LZ_SHAPE(6), -1, 0, 3, INT64_MAX, INT64_MIN, 0);
    in[2] = lz_test_lit(LZ_F32, LZ_SHAPE(6), 1, 2, 4, 8, 16, 32);
    example(LZ_OP_SCATTER, &s, in, 3, lz_test_lit(LZ_F32, LZ_SHAPE(3), 44, 20, 30));
    /* a window that sticks out: the elements inside are kept */
    s.inserted_window_dims = (lz_ints){0};
    s.update_window_dims = il(1, 1, 0);
    in[0] = lz_test_lit(LZ_F32, LZ_SHAPE(3), 10, 20, 30);
    in[1] = lz_test_lit_i64(LZ_I32, LZ_SHAPE(2), 2, -1);
    in[2] = lz_test_lit(LZ_F32, LZ_SHAPE(2, 2), 1, 2, 4, 8);
    example(LZ_OP_SCATTER, &s, in, 3, lz_test_lit(LZ_F32, LZ_SHAPE(3), 18, 20, 31));
}
END_TEST

START_TEST(example_dot_general)
{
    lz_attr_dot a = {.kind = LZ_ATTR_dot,
                     .lhs_batching_dimensions = il(1, 0, 0),
                     .rhs_batching_dimensions = il(1, 0, 0),
                     .lhs_contracting_dimensions = il(1, 2, 0),
                     .rhs_contracting_dimensions = il(1, 1, 0)};
    lz_literal *in[] = {lz_test_lit(LZ_I64, LZ_SHAPE(2, 2, 2), 1, 2, 3, 4, 5, 6, 7, 8),
                        lz_test_lit(LZ_I64, LZ_SHAPE(2, 2, 2), 1, 0, 0, 1, 1, 0, 0, 1)};
    example(LZ_OP_DOT_GENERAL, &a, in, 2,
            lz_test_lit(LZ_I64, LZ_SHAPE(2, 2, 2), 1, 2, 3, 4, 5, 6, 7, 8));
    /* cancellation that f32 accumulation would lose; no terms give 0 */
    lz_attr_dot v = {.kind = LZ_ATTR_dot,
                     .lhs_contracting_dimensions = il(1, 0, 0),
                     .rhs_contracting_dimensions = il(1, 0, 0)};
    lz_literal *c[] = {lz_test_lit(LZ_F32, LZ_SHAPE(3), 0x1p30, 1, -0x1p30),
                       lz_test_lit(LZ_F32, LZ_SHAPE(3), 1, 1, 1)};
    example(LZ_OP_DOT_GENERAL, &v, c, 2, lz_test_lit(LZ_F32, LZ_SCALAR, 1));
    lz_shape none = LZ_SHAPE(0);
    lz_literal *e[] = {lz_literal_new(lz_type_get(LZ_F16, &none)),
                       lz_literal_new(lz_type_get(LZ_F16, &none))};
    example(LZ_OP_DOT_GENERAL, &v, e, 2, lz_test_lit(LZ_F16, LZ_SCALAR, 0));
    lz_literal *w[] = {lz_test_lit_i64(LZ_I64, LZ_SHAPE(2), INT64_MAX, 3),
                       lz_test_lit_i64(LZ_I64, LZ_SHAPE(2), 2, INT64_MIN + 1)};
    example(LZ_OP_DOT_GENERAL, &v, w, 2,
            lz_test_lit_i64(LZ_I64, LZ_SCALAR, INT64_MIN + 1)); /* -2 + 3 + 3 * 2^63, wrapped */
}
END_TEST

/* Terms that are not finite decide alone: products of huge numbers, beyond a double, are finite in
 * the wider sum. */
START_TEST(dot_general_of_infinities)
{
    double inf = (double)INFINITY, nan = (double)NAN, huge = 1e308;
    lz_attr_dot v = {.kind = LZ_ATTR_dot,
                     .lhs_contracting_dimensions = il(1, 1, 0),
                     .rhs_contracting_dimensions = il(1, 0, 0)};
    lz_literal *special[] = {lz_test_lit(LZ_F64, LZ_SHAPE(3, 2), inf, 2.0, huge, huge, 3.0, nan),
                             lz_test_lit(LZ_F64, LZ_SHAPE(2, 3), -1.0, 0.0, 1.0, huge, 5.0, -huge)};
    example(LZ_OP_DOT_GENERAL, &v, special, 2,
            lz_test_lit(LZ_F64, LZ_SHAPE(3, 3), -inf, nan, inf, inf, inf, -inf, nan, nan, nan));
    lz_literal *finite[] = {lz_test_lit(LZ_F64, LZ_SHAPE(1, 4), huge, -huge, 1.0, 3.0),
                            lz_test_lit(LZ_F64, LZ_SHAPE(4, 1), huge, huge, 2.0, -4.0)};
    example(LZ_OP_DOT_GENERAL, &v, finite, 2, lz_test_lit(LZ_F64, LZ_SHAPE(1, 1), -10.0));
}
END_TEST

START_TEST(example_reduce)
{
    lz_attr_reduce a = {.kind = LZ_ATTR_reduce,
                        .dimensions = il(1, 1, 0),
                        .body = lz_region_binary(LZ_OP_ADD, LZ_I64)};
    lz_literal *in[] = {lz_test_lit(LZ_I64, LZ_SHAPE(1, 6), 0, 1, 2, 3, 4, 5),
                        lz_test_lit(LZ_I64, LZ_SCALAR, 0)};
    example(LZ_OP_REDUCE, &a, in, 2, lz_test_lit(LZ_I64, LZ_SHAPE(1), 15));
    /* the initial value of an empty reduction; nothing reduced at all */
    a.body = lz_region_binary(LZ_OP_MAXIMUM, LZ_F32);
    lz_shape empty = LZ_SHAPE(2, 0);
    lz_literal *e[] = {lz_literal_new(lz_type_get(LZ_F32, &empty)),
                       lz_test_lit(LZ_F32, LZ_SCALAR, -7)};
    example(LZ_OP_REDUCE, &a, e, 2, lz_test_lit(LZ_F32, LZ_SHAPE(2), -7, -7));
    a.dimensions = (lz_ints){0};
    lz_literal *n[] = {lz_test_lit(LZ_F32, LZ_SHAPE(2), -9, NAN),
                       lz_test_lit(LZ_F32, LZ_SCALAR, -7)};
    example(LZ_OP_REDUCE, &a, n, 2, lz_test_lit(LZ_F32, LZ_SHAPE(2), -7, NAN));
    /* bf16 sums are not rounded on the way: 256 + 1 + 1 */
    a.dimensions = il(1, 0, 0);
    a.body = lz_region_binary(LZ_OP_ADD, LZ_BF16);
    lz_literal *b[] = {lz_test_lit(LZ_BF16, LZ_SHAPE(3), 256, 1, 1),
                       lz_test_lit(LZ_BF16, LZ_SCALAR, 0)};
    example(LZ_OP_REDUCE, &a, b, 2, lz_test_lit(LZ_BF16, LZ_SCALAR, 258));
}
END_TEST

/* A region that is no single op, and one with shapes in it: both ways of calling regions. */
START_TEST(regions_of_any_form)
{
    for (int general = 0; general < 2; general++) {
        lz_func *f = lz_func_new("body");
        const lz_type *t = lz_type_get(LZ_I32, &(lz_shape){0});
        lz_val x = lz_build_param(f, t), y = lz_build_param(f, t),
               ten = lz_build_scalar(f, LZ_I32, 10);
        lz_val r = lz_build_ew2(f, LZ_OP_ADD, lz_build_ew2(f, LZ_OP_MULTIPLY, x, ten), y);
        if (general) {
            lz_shape one = LZ_SHAPE(1);
            r = lz_build_reshape(f, lz_build_reshape(f, r, &one), &(lz_shape){0});
        }
        ck_assert_int_eq(lz_func_set_results(f, &r, 1), LZ_OK);
        lz_attr_reduce a = {
            .kind = LZ_ATTR_reduce, .dimensions = il(1, 0, 0), .body = lz_region_intern(f)};
        ck_assert_ptr_nonnull(a.body);
        lz_func_free(f);
        lz_literal *in[] = {lz_test_lit(LZ_I32, LZ_SHAPE(4), 1, 2, 3, 4),
                            lz_test_lit(LZ_I32, LZ_SCALAR, 9)};
        example(LZ_OP_REDUCE, &a, in, 2, lz_test_lit(LZ_I32, LZ_SCALAR, 91234));
    }
}
END_TEST

/* Two operands: largest value and where it is, with NaN and ties. */
START_TEST(argmax)
{
    lz_func *f = lz_func_new("argmax");
    lz_shape sc = {0};
    const lz_type *tv = lz_type_get(LZ_F32, &sc), *ti = lz_type_get(LZ_I32, &sc);
    lz_val a = lz_build_param(f, tv), ai = lz_build_param(f, ti), b = lz_build_param(f, tv),
           bi = lz_build_param(f, ti);
    lz_val gt = lz_build_ew2(f, LZ_OP_OR, lz_build_compare(f, LZ_CMP_GT, a, b),
                             lz_build_compare(f, LZ_CMP_NE, a, a));
    lz_val tie = lz_build_ew2(f, LZ_OP_AND, lz_build_compare(f, LZ_CMP_EQ, a, b),
                              lz_build_compare(f, LZ_CMP_LT, ai, bi));
    lz_val take = lz_build_ew2(f, LZ_OP_OR, gt, tie);
    lz_val out[2] = {lz_build_select(f, gt, a, b), lz_build_select(f, take, ai, bi)};
    ck_assert_int_eq(lz_func_set_results(f, out, 2), LZ_OK);
    lz_attr_reduce at = {
        .kind = LZ_ATTR_reduce, .dimensions = il(1, 1, 0), .body = lz_region_intern(f)};
    lz_func_free(f);
    lz_shape s = LZ_SHAPE(3, 4);
    lz_literal *in[4] = {lz_test_lit(LZ_F32, s, 1, 5, 5, 2, -3, NAN, 8, NAN, -1, -1, -2, -1), NULL,
                         lz_test_lit(LZ_F32, LZ_SCALAR, -INFINITY),
                         lz_test_lit(LZ_I32, LZ_SCALAR, 0)};
    in[1] = lz_test_lit(LZ_I32, s, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
    const lz_type *types[4] = {in[0]->type, in[1]->type, in[2]->type, in[3]->type};
    const lz_sig *sig = lz_sig_get(LZ_OP_REDUCE, lz_attr_get((lz_attr *)&at), types, 4);
    ck_assert_ptr_nonnull(sig);
    lz_literal *got[2];
    ck_assert_int_eq(lz_ref_eval_inst(sig, in, got), LZ_OK);
    lz_literal *want = lz_test_lit(LZ_I32, LZ_SHAPE(3), 1, 1, 0);
    ck_assert_msg(lz_test_same(got[1], want, 0, msg, sizeof msg), "%s", msg);
    ck_assert(lz_literal_get_f64(got[0], 0) == 5 && isnan(lz_literal_get_f64(got[0], 1)) &&
              lz_literal_get_f64(got[0], 2) == -1);
    for (int k = 0; k < 4; k++)
        lz_literal_release(in[k]);
    lz_literal_release(got[0]);
    lz_literal_release(got[1]);
    lz_literal_release(want);
}
END_TEST

START_TEST(example_pad)
{
    lz_attr_pad a = {.kind = LZ_ATTR_pad,
                     .edge_padding_low = il(2, 0, 1),
                     .edge_padding_high = il(2, 2, 1),
                     .interior_padding = il(2, 1, 2)};
    lz_literal *in[] = {lz_test_lit(LZ_I32, LZ_SHAPE(2, 3), 1, 2, 3, 4, 5, 6),
                        lz_test_lit(LZ_I32, LZ_SCALAR, 0)};
    example(LZ_OP_PAD, &a, in, 2,
            lz_test_lit(LZ_I32, LZ_SHAPE(5, 9), 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                        0, 0, 4, 0, 0, 5, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                        0, 0, 0));
    lz_attr_pad b = {.kind = LZ_ATTR_pad,
                     .edge_padding_low = il(1, -1, 0),
                     .edge_padding_high = il(1, -2, 0),
                     .interior_padding = il(1, 1, 0)};
    lz_literal *c[] = {lz_test_lit(LZ_F32, LZ_SHAPE(3), 1, 2, 3),
                       lz_test_lit(LZ_F32, LZ_SCALAR, -0.)};
    example(LZ_OP_PAD, &b, c, 2, lz_test_lit(LZ_F32, LZ_SHAPE(2), -0., 2));
}
END_TEST

START_TEST(example_bitcast)
{
    lz_attr_dtype a = {LZ_ATTR_dtype, LZ_F16};
    lz_literal *in[] = {lz_test_lit_i64(LZ_I64, LZ_SCALAR, 0x0123456789ABCDEF)}, *want;
    lz_shape s = LZ_SHAPE(4);
    want = lz_literal_new(lz_type_get(LZ_F16, &s));
    const uint16_t w[] = {0xCDEF, 0x89AB, 0x4567, 0x0123};
    memcpy(want->data, w, sizeof w);
    example(LZ_OP_BITCAST_CONVERT, &a, in, 1, want);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("eval_ops");
    TCase *t = tcase_create("eval_ops");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, rows_against_formulas, 0, (int)(sizeof rows / sizeof *rows));
    tcase_add_test(t, example_gather);
    tcase_add_test(t, example_scatter);
    tcase_add_test(t, out_of_bounds);
    tcase_add_test(t, example_dot_general);
    tcase_add_test(t, dot_general_of_infinities);
    tcase_add_test(t, example_reduce);
    tcase_add_test(t, regions_of_any_form);
    tcase_add_test(t, argmax);
    tcase_add_test(t, example_pad);
    tcase_add_test(t, example_bitcast);
    suite_add_tcase(s, t);
    return lz_run_suite(s);
}
