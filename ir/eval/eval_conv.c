/* eval_conv.c - reference evaluation of convolution: the sum as the specification writes it, so
 * padding is a factor 0 like any other (0 times infinity is NaN). Floats accumulate one format
 * wider and round once; integers wrap; of booleans a product is `and`, a sum `or`.
 * Threads: pure. */
#include "ir/eval/eval_complex.h"
#include "ir/window.h"
#include <math.h>
#include <string.h>

typedef struct conv {
    const lz_ref_call *c;
    const lz_attr_convolution *a;
    const lz_shape *x, *k, *r;
    int64_t xs[LZ_MAX_RANK], ks[LZ_MAX_RANK]; /* strides */
    int nspatial;
    lz_window_axis w[LZ_MAX_RANK];
    int64_t size[LZ_MAX_RANK];
    int64_t per_group; /* input features of one group */
} conv;

/* Offsets of input and kernel element at window position j of result idx, without the input
 * feature; false: the input is padding. */
static bool at_window(const conv *v, const int64_t *idx, const int64_t *j, int64_t *x, int64_t *k)
{
    bool inside = true;
    for (int d = 0; d < v->nspatial; d++) {
        int64_t xd = v->a->input_spatial_dimensions.v[d], at,
                kd = v->a->kernel_spatial_dimensions.v[d];
        inside &= lz_window_at(&v->w[d], v->x->dims[xd], idx[v->a->output_spatial_dimensions.v[d]],
                               j[d], &at);
        *x += inside ? at * v->xs[xd] : 0;
        *k += (v->a->window_reversal.v[d] ? v->size[d] - 1 - j[d] : j[d]) * v->ks[kd];
    }
    return inside;
}

typedef struct sum {
    long double f64;
    double f;
    lz_cx z;
    uint64_t u;
} sum;

/* x < 0: the input is 0. */
static void multiply_add(const conv *v, sum *s, int64_t x, int64_t k)
{
    static const lz_ref_slot zero;
    lz_dtype d = v->c->sig->result[0]->dtype;
    const void *px = x < 0 ? &zero : v->c->opnd[0]->data, *pk = v->c->opnd[1]->data;
    x = x < 0 ? 0 : x;
    if (d == LZ_F64) {
        if (!isnan(s->f64)) /* x87 arithmetic takes long on NaNs */
            s->f64 += (long double)lz_ref_load_f(d, px, x) * lz_ref_load_f(d, pk, k);
    } else if (lz_dtype_is_float(d)) {
        s->f += lz_ref_load_f(d, px, x) * lz_ref_load_f(d, pk, k);
    } else if (lz_dtype_is_complex(d)) {
        lz_cx a = lz_ref_load_c(d, px, x), b = lz_ref_load_c(d, pk, k);
        s->z.re += a.re * b.re - a.im * b.im;
        s->z.im += a.re * b.im + a.im * b.re;
    } else {
        uint64_t p = lz_ref_load_u(d, px, x) * lz_ref_load_u(d, pk, k);
        s->u = d == LZ_BOOL ? s->u | p : s->u + p;
    }
}

static void store(const conv *v, const sum *s, int64_t to)
{
    lz_dtype d = v->c->sig->result[0]->dtype;
    void *out = v->c->result[0]->data;
    if (lz_dtype_is_float(d))
        lz_ref_store_f(d, out, to, d == LZ_F64 ? (double)s->f64 : s->f);
    else if (lz_dtype_is_complex(d))
        lz_ref_store_c(d, out, to, s->z);
    else
        lz_ref_store_u(d, out, to, s->u);
}

static void one_result(const conv *v, const int64_t *idx, int64_t to)
{
    const lz_attr_convolution *a = v->a;
    int64_t o = idx[a->output_feature_dimension], b = idx[a->output_batch_dimension];
    int64_t out = v->k->dims[a->kernel_output_feature_dimension];
    int64_t group = a->feature_group_count > 1 ? o / (out / a->feature_group_count) : 0;
    if (a->batch_group_count > 1)
        b += o / (out / a->batch_group_count) * v->r->dims[a->output_batch_dimension];
    int64_t x0 = b * v->xs[a->input_batch_dimension] +
                 group * v->per_group * v->xs[a->input_feature_dimension],
            k0 = o * v->ks[a->kernel_output_feature_dimension];
    sum s = {0};
    for (lz_ref_walk w = lz_ref_walk_of(v->nspatial, v->size); w.more; lz_ref_walk_next(&w)) {
        int64_t x = x0, k = k0;
        bool inside = at_window(v, idx, w.idx, &x, &k);
        for (int64_t i = 0; i < v->per_group; i++)
            multiply_add(v, &s, inside ? x + i * v->xs[a->input_feature_dimension] : -1,
                         k + i * v->ks[a->kernel_input_feature_dimension]);
    }
    store(v, &s, to);
}

lz_status lz_ref_convolution(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    conv v = {.c = c,
              .a = LZ_ATTR(convolution, c->sig->attr),
              .x = &c->sig->opnd[0]->shape,
              .k = &c->sig->opnd[1]->shape,
              .r = &c->sig->result[0]->shape};
    lz_ref_strides(v.x, v.xs);
    lz_ref_strides(v.k, v.ks);
    v.nspatial = v.x->rank - 2;
    v.per_group = v.k->dims[v.a->kernel_input_feature_dimension];
    for (int d = 0; d < v.nspatial; d++) {
        v.w[d] = lz_window_of_conv(v.a, d, v.k);
        v.size[d] = v.w[d].size;
    }
    int64_t to = 0;
    for (lz_ref_walk o = lz_ref_walk_of(v.r->rank, v.r->dims); o.more; lz_ref_walk_next(&o), to++)
        one_result(&v, o.idx, to);
    return LZ_OK;
}
