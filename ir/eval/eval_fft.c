/* eval_fft.c - reference evaluation of fft: one dimension after the other in long double, by the
 * smallest prime factor of its length (Cooley, Tukey 1965); a prime length by the definition.
 * Threads: pure. */
#include "ir/eval/eval_complex.h"
#include <math.h>
#include <string.h>

typedef struct transform {
    int64_t n;
    lz_cx *root;     /* e^(-+ 2 pi i k / n) */
    lz_cx *in, *out; /* a line */
    lz_cx *spare;    /* for the parts of every level */
} transform;

static void transform_end(transform *t)
{
    lz_free(t->root);
    lz_free(t->in);
    lz_free(t->out);
    lz_free(t->spare);
}

static lz_status transform_begin(transform *t, int64_t n, bool inverse)
{
    const long double turn = 6.283185307179586476925286766559005768L;
    *t = (transform){.n = n};
    t->root = lz_calloc((size_t)n, sizeof *t->root);
    t->in = lz_calloc((size_t)n, sizeof *t->in);
    t->out = lz_calloc((size_t)n, sizeof *t->out);
    t->spare = lz_calloc((size_t)n, sizeof *t->spare);
    if (!t->root || !t->in || !t->out || !t->spare) {
        transform_end(t);
        return LZ_FAIL(LZ_EMEM, "fft: no memory for %lld elements", (long long)n);
    }
    for (int64_t k = 0; k < n; k++) {
        long double a = turn * (long double)k / (long double)n;
        t->root[k] = (lz_cx){cosl(a), inverse ? sinl(a) : -sinl(a)};
    }
    return LZ_OK;
}

static lz_cx add_product(lz_cx s, lz_cx a, lz_cx b)
{
    return (lz_cx){s.re + a.re * b.re - a.im * b.im, s.im + a.re * b.im + a.im * b.re};
}

static int64_t smallest_factor(int64_t n)
{
    for (int64_t p = 2; p * p <= n; p++)
        if (n % p == 0)
            return p;
    return n;
}

/* out[0..n) = transform of x[0], x[stride], ..; as deep as n has factors, so at most 62 levels. */
static void run_line(const transform *t, const lz_cx *x, int64_t stride, int64_t n, lz_cx *out,
                     lz_cx *spare)
{
    if (n == 1) {
        out[0] = x[0];
        return;
    }
    int64_t p = smallest_factor(n), m = n / p, step = t->n / n;
    for (int64_t j = 0; j < p && m > 1; j++)
        run_line(t, x + j * stride, stride * p, m, out + j * m, spare);
    for (int64_t j = 0; j < p && m == 1; j++)
        out[j] = x[j * stride];
    for (int64_t k = 0; k < n; k++) {
        lz_cx sum = {0, 0};
        for (int64_t j = 0; j < p; j++)
            sum = add_product(sum, out[j * m + k % m], t->root[j * k % n * step]);
        spare[k] = sum;
    }
    memcpy(out, spare, (size_t)n * sizeof *out);
}

/* Every line of `data` (of shape s) along dimension d, scaled. */
static lz_status along(lz_cx *data, const lz_shape *s, int d, bool inverse)
{
    transform t;
    int64_t strides[LZ_MAX_RANK], n = s->dims[d];
    LZ_TRY(transform_begin(&t, n, inverse));
    lz_ref_strides(s, strides);
    lz_shape lines = *s;
    lines.dims[d] = 1;
    for (lz_ref_walk w = lz_ref_walk_of(lines.rank, lines.dims); w.more; lz_ref_walk_next(&w)) {
        lz_cx *line = data + lz_ref_dot_index(lines.rank, w.idx, strides);
        for (int64_t i = 0; i < n; i++)
            t.in[i] = line[i * strides[d]];
        run_line(&t, t.in, 1, n, t.out, t.spare);
        for (int64_t i = 0; i < n; i++) {
            lz_cx v = t.out[i];
            line[i * strides[d]] =
                inverse ? (lz_cx){v.re / (long double)n, v.im / (long double)n} : v;
        }
    }
    transform_end(&t);
    return LZ_OK;
}

/* Element i of a literal as a complex number. */
static lz_cx number(const lz_literal *l, int64_t i)
{
    lz_dtype d = l->type->dtype;
    return lz_dtype_is_complex(d) ? lz_ref_load_c(d, l->data, i)
                                  : (lz_cx){lz_ref_load_f(d, l->data, i), 0};
}

static int64_t flat(const lz_ref_walk *w, const int64_t *strides)
{
    return lz_ref_dot_index(w->rank, w->idx, strides);
}

/* IRFFT: the other half of the last dimension is the conjugate of the first one, read backwards.
 *   The other dimensions are transformed already. */
static void fill_half(lz_cx *full, const lz_shape *s, int64_t half)
{
    int64_t strides[LZ_MAX_RANK], n = s->dims[s->rank - 1];
    lz_ref_strides(s, strides);
    lz_shape lines = *s;
    lines.dims[s->rank - 1] = 1;
    for (lz_ref_walk w = lz_ref_walk_of(lines.rank, lines.dims); w.more; lz_ref_walk_next(&w)) {
        lz_cx *line = full + flat(&w, strides);
        line[0].im = 0;
        if (n % 2 == 0)
            line[n / 2].im = 0;
        for (int64_t k = half; k < n; k++)
            line[k] = (lz_cx){line[n - k].re, -line[n - k].im};
    }
}

/* The operand in an array of the full lengths; what the array has more of stays 0. */
static void copy_in(lz_cx *full, const lz_shape *s, const lz_literal *x)
{
    int64_t strides[LZ_MAX_RANK], i = 0;
    lz_ref_strides(s, strides);
    const lz_shape *from = &x->type->shape;
    for (lz_ref_walk w = lz_ref_walk_of(from->rank, from->dims); w.more; lz_ref_walk_next(&w), i++)
        full[flat(&w, strides)] = number(x, i);
}

static void copy_out(const lz_cx *full, const lz_shape *s, lz_literal *r)
{
    int64_t strides[LZ_MAX_RANK], i = 0;
    lz_ref_strides(s, strides);
    const lz_shape *to = &r->type->shape;
    lz_dtype d = r->type->dtype;
    for (lz_ref_walk w = lz_ref_walk_of(to->rank, to->dims); w.more; lz_ref_walk_next(&w), i++) {
        lz_cx v = full[flat(&w, strides)];
        if (lz_dtype_is_complex(d))
            lz_ref_store_c(d, r->data, i, v);
        else
            lz_ref_store_f(d, r->data, i, (double)v.re);
    }
}

lz_status lz_ref_fft(const lz_ref_call *c)
{
    LZ_TRY(lz_ref_alloc(c));
    const lz_attr_fft *a = LZ_ATTR(fft, c->sig->attr);
    bool half = a->fft_type == LZ_IRFFT, inverse = half || a->fft_type == LZ_IFFT;
    lz_shape s = c->sig->opnd[0]->shape; /* of the full lengths */
    int64_t in_last = s.rank ? s.dims[s.rank - 1] : 0;
    if (c->sig->opnd[0]->nelem == 0 || c->sig->result[0]->nelem == 0)
        return LZ_OK;
    s.dims[s.rank - 1] = a->fft_length.v[a->fft_length.n - 1];
    const lz_type *t = lz_type_get(LZ_C128, &s);
    if (!t)
        return lz_error_get()->status;
    lz_cx *full = lz_calloc((size_t)t->nelem, sizeof *full);
    if (!full)
        return LZ_FAIL(LZ_EMEM, "fft: no memory for %lld elements", (long long)t->nelem);
    copy_in(full, &s, c->opnd[0]);
    lz_status st = LZ_OK;
    for (int i = 0; i < a->fft_length.n && st == LZ_OK; i++) {
        int d = s.rank - a->fft_length.n + i;
        if (half && d == s.rank - 1)
            fill_half(full, &s, in_last);
        st = along(full, &s, d, inverse);
    }
    if (st == LZ_OK)
        copy_out(full, &s, c->result[0]);
    lz_free(full);
    return st;
}
