/* eval_reduce.c - reference evaluation of reductions and matrix products.
 * Sums and products of floats are accumulated one format wider than the dtype (double; long double
 * for f64) and rounded once.
 * Threads: pure. */
#include "ir/eval/eval_complex.h"
#include <math.h>
#include <string.h>

/* The index space of a reduction split in what stays and what is reduced, with strides in the
 * operand. */
typedef struct split {
    int nkept, nred;
    int64_t kept[LZ_MAX_RANK], kept_stride[LZ_MAX_RANK], red[LZ_MAX_RANK], red_stride[LZ_MAX_RANK];
} split;

static split split_of(const lz_shape *in, const lz_ints *dims)
{
    split s = {0};
    int64_t strides[LZ_MAX_RANK];
    lz_ref_strides(in, strides);
    for (int d = 0; d < in->rank; d++) {
        if (lz_ints_has(dims, d)) {
            s.red[s.nred] = in->dims[d];
            s.red_stride[s.nred++] = strides[d];
        } else {
            s.kept[s.nkept] = in->dims[d];
            s.kept_stride[s.nkept++] = strides[d];
        }
    }
    return s;
}

static int64_t reduced_at(const split *s, const lz_ref_walk *w, int64_t base)
{
    return base + lz_ref_dot_index(s->nred, w->idx, s->red_stride);
}

static double wide_fold(lz_op op, lz_dtype d, double init, const void *data, const split *s,
                        int64_t base)
{
    if (d == LZ_F64) {
        long double acc = init; /* one that is NaN stays so, and takes x87 long */
        for (lz_ref_walk r = lz_ref_walk_of(s->nred, s->red); r.more && !isnan(acc);
             lz_ref_walk_next(&r)) {
            long double x = lz_ref_load_f(d, data, reduced_at(s, &r, base));
            acc = op == LZ_OP_ADD ? acc + x : acc * x;
        }
        return (double)acc;
    }
    double acc = init;
    for (lz_ref_walk r = lz_ref_walk_of(s->nred, s->red); r.more; lz_ref_walk_next(&r)) {
        double x = lz_ref_load_f(d, data, reduced_at(s, &r, base));
        acc = op == LZ_OP_ADD ? acc + x : acc * x;
    }
    return acc;
}

static void reduce_wide(const lz_ref_call *c, lz_op op, const split *s)
{
    lz_dtype d = c->sig->result[0]->dtype;
    double init = lz_ref_load_f(d, c->opnd[1]->data, 0);
    int64_t i = 0;
    for (lz_ref_walk w = lz_ref_walk_of(s->nkept, s->kept); w.more; lz_ref_walk_next(&w), i++) {
        int64_t base = lz_ref_dot_index(s->nkept, w.idx, s->kept_stride);
        lz_ref_store_f(d, c->result[0]->data, i, wide_fold(op, d, init, c->opnd[0]->data, s, base));
    }
}

/* One elementwise op as the combiner: exact ones, so the order does not matter. */
static lz_status reduce_binary(const lz_ref_call *c, lz_op op, const split *s)
{
    const lz_type *t = c->sig->result[0];
    size_t esize = lz_dtype_size(t->dtype);
    lz_ref_slot acc;
    lz_ref_ew_fn *fn = lz_ref_ew_get(op);
    char *dst = c->result[0]->data;
    for (lz_ref_walk w = lz_ref_walk_of(s->nkept, s->kept); w.more;
         lz_ref_walk_next(&w), dst += esize) {
        int64_t base = lz_ref_dot_index(s->nkept, w.idx, s->kept_stride);
        memcpy(&acc, c->opnd[1]->data, esize);
        for (lz_ref_walk r = lz_ref_walk_of(s->nred, s->red); r.more; lz_ref_walk_next(&r)) {
            const char *x =
                (const char *)c->opnd[0]->data + (size_t)reduced_at(s, &r, base) * esize;
            lz_ref_ew e = {.op = op,
                           .out = t->dtype,
                           .in = {t->dtype, t->dtype},
                           .src = {&acc, x},
                           .dst = &acc,
                           .n = 1};
            LZ_TRY(fn(&e));
        }
        memcpy(dst, &acc, esize);
    }
    return LZ_OK;
}

/* Any region: args = accumulators, elements. args, out: 2n and n pointers; acc: n slots. */
static lz_status reduce_region(const lz_ref_call *c, const split *s, lz_ref_region *r,
                               lz_ref_slot *acc, const void **args, void **out)
{
    uint32_t n = c->sig->nresult;
    int64_t i = 0;
    for (lz_ref_walk w = lz_ref_walk_of(s->nkept, s->kept); w.more; lz_ref_walk_next(&w), i++) {
        int64_t base = lz_ref_dot_index(s->nkept, w.idx, s->kept_stride);
        for (uint32_t k = 0; k < n; k++) {
            memcpy(&acc[k], c->opnd[n + k]->data, c->opnd[n + k]->nbytes);
            args[k] = out[k] = &acc[k];
        }
        for (lz_ref_walk rw = lz_ref_walk_of(s->nred, s->red); rw.more; lz_ref_walk_next(&rw)) {
            int64_t at = reduced_at(s, &rw, base);
            for (uint32_t k = 0; k < n; k++)
                args[n + k] = (const char *)c->opnd[k]->data +
                              (size_t)at * lz_dtype_size(c->sig->opnd[k]->dtype);
            LZ_TRY(lz_ref_region_call(r, args, out));
        }
        for (uint32_t k = 0; k < n; k++) {
            size_t esize = lz_dtype_size(c->sig->result[k]->dtype);
            memcpy((char *)c->result[k]->data + (size_t)i * esize, &acc[k], esize);
        }
    }
    return LZ_OK;
}

lz_status lz_ref_reduce(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    const lz_attr_reduce *a = LZ_ATTR(reduce, c->sig->attr);
    uint32_t n = c->sig->nresult;
    split s = split_of(&c->sig->opnd[0]->shape, &a->dimensions);
    lz_op op = n == 1 && c->sig->opnd[1]->dtype == c->sig->opnd[0]->dtype
                   ? lz_region_as_binary(a->body)
                   : LZ_OP_NONE;
    if ((op == LZ_OP_ADD || op == LZ_OP_MULTIPLY) && lz_dtype_is_float(c->sig->result[0]->dtype)) {
        reduce_wide(c, op, &s);
        return LZ_OK;
    }
    if (op != LZ_OP_NONE)
        return reduce_binary(c, op, &s);
    lz_ref_region *r;
    LZ_TRY(lz_ref_region_new(a->body, c->depth, &r));
    const void **ptrs = lz_calloc(3 * (size_t)n, sizeof *ptrs);
    lz_ref_slot *acc = lz_calloc(n, sizeof *acc);
    lz_status st = ptrs && acc ? reduce_region(c, &s, r, acc, ptrs, (void **)(ptrs + 2 * (size_t)n))
                               : LZ_FAIL(LZ_EMEM, "reduce: no memory for %u operands", n);
    lz_free(acc);
    lz_free(ptrs);
    lz_ref_region_free(r);
    return st;
}

/* ---- dot_general ---- */

/* Element offsets of one operand: at batch point b, free point f, contraction point k the sum of
 * the three. */
typedef struct side {
    int64_t nbatch, nfree, nk;
    int64_t *batch, *free, *k;
} side;

/* Offsets of every point of the space of dimensions `dims`, in that order; NULL without memory. */
static int64_t *offsets(const lz_shape *s, const int *dims, int n, int64_t *count)
{
    int64_t strides[LZ_MAX_RANK], ext[LZ_MAX_RANK], st[LZ_MAX_RANK], total = 1, i = 0;
    lz_ref_strides(s, strides);
    for (int d = 0; d < n; d++) {
        ext[d] = s->dims[dims[d]];
        st[d] = strides[dims[d]];
        total *= ext[d]; /* a part of a non-empty shape, see below */
    }
    *count = total;
    int64_t *out = lz_calloc((size_t)total, sizeof *out);
    if (!out)
        return NULL;
    for (lz_ref_walk w = lz_ref_walk_of(n, ext); w.more; lz_ref_walk_next(&w))
        out[i++] = lz_ref_dot_index(n, w.idx, st);
    return out;
}

static void side_free(side *s)
{
    lz_free(s->batch);
    lz_free(s->free);
    lz_free(s->k);
}

static lz_status side_init(side *s, const lz_shape *shape, const lz_ints *batch,
                           const lz_ints *contract)
{
    int b[LZ_MAX_RANK], f[LZ_MAX_RANK], k[LZ_MAX_RANK], nf = 0;
    for (int d = 0; d < batch->n; d++)
        b[d] = (int)batch->v[d];
    for (int d = 0; d < contract->n; d++)
        k[d] = (int)contract->v[d];
    for (int d = 0; d < shape->rank; d++)
        if (!lz_ints_has(batch, d) && !lz_ints_has(contract, d))
            f[nf++] = d;
    s->batch = offsets(shape, b, batch->n, &s->nbatch);
    s->free = offsets(shape, f, nf, &s->nfree);
    s->k = offsets(shape, k, contract->n, &s->nk);
    return s->batch && s->free && s->k
               ? LZ_OK
               : LZ_FAIL(LZ_EMEM, "dot_general: no memory for its addresses");
}

/* The value of one result element from kinds of element; `at` its index. */
typedef struct dot {
    lz_dtype in[2], out;
    const void *a, *b;
    void *dst;
    side l, r;
} dot;

/* The elements of one operand, in the order of batches, free points and terms. */
static double *gathered(lz_dtype d, const void *data, const side *s)
{
    int64_t at = 0;
    double *to = lz_calloc((size_t)(s->nbatch * s->nfree * s->nk), sizeof *to);
    for (int64_t b = 0; to && b < s->nbatch; b++)
        for (int64_t f = 0; f < s->nfree; f++)
            for (int64_t k = 0; k < s->nk; k++)
                to[at++] = lz_ref_load_f(d, data, s->batch[b] + s->free[f] + s->k[k]);
    return to;
}

/* One row of the result by its columns. Sums run in the order of terms; those of some columns side
 * by side, so that none waits for its own last addition. */
#define FLOAT_ROW(name, wide)                                                                      \
    static void name(const dot *d, const double *a, const double *b, int64_t at)                   \
    {                                                                                              \
        int64_t nk = d->l.nk, n = d->r.nfree;                                                      \
        for (int64_t j = 0; j < n; j += SIDE_BY_SIDE) {                                            \
            wide acc[SIDE_BY_SIDE] = {0};                                                          \
            const double *to[SIDE_BY_SIDE];                                                        \
            for (int64_t c = 0; c < SIDE_BY_SIDE; c++)                                             \
                to[c] = b + (j + c < n ? j + c : j) * nk;                                          \
            for (int64_t k = 0; k < nk; k++) {                                                     \
                acc[0] += (wide)a[k] * to[0][k];                                                   \
                acc[1] += (wide)a[k] * to[1][k];                                                   \
                acc[2] += (wide)a[k] * to[2][k];                                                   \
                acc[3] += (wide)a[k] * to[3][k];                                                   \
            }                                                                                      \
            for (int64_t c = 0; c < SIDE_BY_SIDE && j + c < n; c++)                                \
                lz_ref_store_f(d->out, d->dst, at + j + c, (double)acc[c]);                        \
        }                                                                                          \
    }
enum { SIDE_BY_SIDE = 4 };
FLOAT_ROW(float_row, double)
FLOAT_ROW(float_row_f64, long double)

static bool all_finite(const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

/* A sum with terms that are not finite: these alone decide. */
static double sum_of_special(const double *a, const double *b, int64_t n)
{
    double acc = 0;
    for (int64_t k = 0; k < n; k++)
        if (!isfinite(a[k]) || !isfinite(b[k]))
            acc += a[k] * b[k];
    return acc;
}

/* On NaNs and infinities the x87 unit, which has long double, takes more than a hundred times as
 * long as on numbers: sums of these are made in double, which gives the same. */
static void float_row_special(const dot *d, const double *a, const double *b, int64_t at)
{
    int64_t nk = d->l.nk;
    bool finite = all_finite(a, nk);
    for (int64_t j = 0; j < d->r.nfree; j++, b += nk) {
        long double acc = 0;
        bool special = !finite || !all_finite(b, nk);
        for (int64_t k = 0; !special && k < nk; k++)
            acc += (long double)a[k] * b[k];
        lz_ref_store_f(d->out, d->dst, at + j, special ? sum_of_special(a, b, nk) : (double)acc);
    }
}

static lz_status dot_floats(const dot *d)
{
    double *a = gathered(d->in[0], d->a, &d->l), *b = gathered(d->in[1], d->b, &d->r);
    void (*row)(const dot *, const double *, const double *, int64_t) = float_row;
    if (a && b && (d->in[0] == LZ_F64 || d->in[1] == LZ_F64))
        row = all_finite(a, d->l.nbatch * d->l.nfree * d->l.nk) &&
                      all_finite(b, d->r.nbatch * d->r.nfree * d->r.nk)
                  ? float_row_f64
                  : float_row_special;
    for (int64_t i = 0; a && b && i < d->l.nbatch * d->l.nfree; i++)
        row(d, a + i * d->l.nk, b + i / d->l.nfree * d->r.nfree * d->r.nk, i * d->r.nfree);
    lz_status s = a && b ? LZ_OK : LZ_FAIL(LZ_EMEM, "dot_general: no memory for its terms");
    lz_free(a);
    lz_free(b);
    return s;
}

/* Integers wrap; a product of booleans is `and`, their sum `or`. */
static void dot_int(const dot *d, int64_t a0, int64_t b0, int64_t at)
{
    uint64_t acc = 0;
    for (int64_t k = 0; k < d->l.nk; k++) {
        uint64_t x = lz_ref_load_u(d->in[0], d->a, a0 + d->l.k[k]) *
                     lz_ref_load_u(d->in[1], d->b, b0 + d->r.k[k]);
        acc = d->out == LZ_BOOL ? acc | x : acc + x;
    }
    lz_ref_store_u(d->out, d->dst, at, acc);
}

static void dot_complex(const dot *d, int64_t a0, int64_t b0, int64_t at)
{
    lz_cx sum = {0, 0};
    for (int64_t k = 0; k < d->l.nk && !(isnan(sum.re) && isnan(sum.im)); k++) {
        lz_cx x = lz_ref_load_c(d->in[0], d->a, a0 + d->l.k[k]),
              y = lz_ref_load_c(d->in[1], d->b, b0 + d->r.k[k]);
        sum.re += x.re * y.re - x.im * y.im;
        sum.im += x.re * y.im + x.im * y.re;
    }
    lz_ref_store_c(d->out, d->dst, at, sum);
}

static lz_status dot_run(const dot *d)
{
    int64_t at = 0;
    if (lz_dtype_is_float(d->in[0]))
        return dot_floats(d);
    for (int64_t b = 0; b < d->l.nbatch; b++)
        for (int64_t m = 0; m < d->l.nfree; m++)
            for (int64_t n = 0; n < d->r.nfree; n++, at++) {
                int64_t a0 = d->l.batch[b] + d->l.free[m], b0 = d->r.batch[b] + d->r.free[n];
                if (lz_dtype_is_complex(d->in[0]))
                    dot_complex(d, a0, b0, at);
                else
                    dot_int(d, a0, b0, at);
            }
    return LZ_OK;
}

lz_status lz_ref_dot_general(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    /* Without results or terms the answer is the zeros that are there; below here both operands
     * have elements. */
    if (c->sig->result[0]->nelem == 0 || c->sig->opnd[0]->nelem == 0 || c->sig->opnd[1]->nelem == 0)
        return LZ_OK;
    const lz_attr_dot *a = LZ_ATTR(dot, c->sig->attr);
    dot d = {.in = {c->sig->opnd[0]->dtype, c->sig->opnd[1]->dtype},
             .out = c->sig->result[0]->dtype};
    d.a = c->opnd[0]->data;
    d.b = c->opnd[1]->data;
    d.dst = c->result[0]->data;
    lz_status s = side_init(&d.l, &c->sig->opnd[0]->shape, &a->lhs_batching_dimensions,
                            &a->lhs_contracting_dimensions);
    if (s == LZ_OK)
        s = side_init(&d.r, &c->sig->opnd[1]->shape, &a->rhs_batching_dimensions,
                      &a->rhs_contracting_dimensions);
    if (s == LZ_OK)
        s = dot_run(&d);
    side_free(&d.l);
    side_free(&d.r);
    return s;
}
