/* fft.c - torch.fft: include/lazuli/complex_ops.h. A transform over any dimensions transposes them
 * to the end, transforms at most three at a time, and transposes back. */
#include "ops/compose.h"
#include <inttypes.h>
#include <lazuli/complex_ops.h>
#include <math.h>
#include <string.h>

enum { AT_ONCE = 3 };

typedef enum norm { BACKWARD, ORTHO, FORWARD } norm;

/* The request: dimensions in the caller's order, and the transform length of each. */
typedef struct request {
    lz_fft_type type;
    int n;
    int64_t dim[LZ_MAX_RANK], len[LZ_MAX_RANK];
    norm norm;
} request;

static bool norm_of(const char *s, norm *out)
{
    static const char *const names[] = {
        [BACKWARD] = "backward", [ORTHO] = "ortho", [FORWARD] = "forward"};
    *out = BACKWARD;
    for (int i = 0; s && i < 3; i++)
        if (strcmp(s, names[i]) == 0) {
            *out = (norm)i;
            return true;
        }
    if (s)
        LZ_FAIL(LZ_EINVAL, "norm is \"%.40s\": \"backward\", \"ortho\" and \"forward\" are", s);
    return !s;
}

/* ---- one operation ---- */

/* Dimension dim cut or zero-padded to n elements. */
static lz_node *resize(lz_tracer *c, lz_node *x, int64_t dim, int64_t n)
{
    if (!x)
        return NULL;
    const lz_shape *s = lz_tracer_shape(x);
    if (s->dims[dim] >= n)
        return s->dims[dim] == n ? x : lz_tracer_slice_dim(c, x, dim, 0, n, 1);
    lz_ints low = {.n = s->rank}, high = {.n = s->rank}, interior = {.n = s->rank};
    high.v[dim] = n - s->dims[dim];
    return lz_tracer_pad(c, x, &low, &high, &interior);
}

/* The transform of n <= AT_ONCE dimensions, which are moved to the end for it. */
static lz_node *apply(lz_tracer *c, lz_node *x, lz_fft_type type, int n, const int64_t *dim,
                      const int64_t *len)
{
    lz_ints there = {0}, back = {0};
    lz_attr_any a;
    if (!x)
        return NULL;
    int rank = lz_tracer_shape(x)->rank;
    for (int64_t d = 0; d < rank; d++) {
        bool moves = false;
        for (int i = 0; i < n; i++)
            moves |= dim[i] == d;
        if (!moves)
            there.v[there.n++] = d;
    }
    for (int i = 0; i < n; i++)
        there.v[there.n++] = dim[i];
    back.n = there.n;
    for (int i = 0; i < there.n; i++)
        back.v[there.v[i]] = i;
    lz_attr_init(&a, LZ_ATTR_fft);
    a.as_fft.fft_type = type;
    a.as_fft.fft_length = lz_ints_make(n, len);
    lz_node *y = lz_tracer_transpose(c, x, &there);
    return lz_tracer_transpose(c, lz_tracer_op(c, LZ_OP_FFT, &a.head, &y, 1), &back);
}

/* Dimensions from..to of the request, complex to complex, some at a time. */
static lz_node *complex_dims(lz_tracer *c, lz_node *x, const request *q, lz_fft_type type, int to)
{
    for (int from; x && to > 0; to = from) {
        from = to > AT_ONCE ? to - AT_ONCE : 0;
        x = apply(c, x, type, to - from, q->dim + from, q->len + from);
    }
    return x;
}

static lz_node *scaled(lz_tracer *c, lz_node *x, const request *q)
{
    bool inverse = q->type == LZ_IFFT || q->type == LZ_IRFFT;
    double n = 1, by = 1;
    for (int i = 0; i < q->n; i++)
        n *= (double)q->len[i];
    if (q->norm == ORTHO)
        by = inverse ? sqrt(n) : 1 / sqrt(n);
    else if (q->norm == FORWARD)
        by = inverse ? n : 1 / n;
    return x && by != 1 ? MUL(x, K(x, by)) : x;
}

/* The operand as the transform takes it: floats for a real one, else complex. */
static lz_node *operand(lz_tracer *c, lz_node *x, lz_fft_type type)
{
    x = lz_tracer_float(c, x);
    if (!x || type == LZ_RFFT || lz_dtype_is_complex(lz_tracer_dtype(x)))
        return x;
    lz_dtype d = lz_dtype_of_parts(lz_tracer_dtype(x));
    if (d == LZ_DTYPE_NONE) {
        LZ_FAIL(LZ_EDTYPE, "the operand is %s: f32, f64 and complex numbers are transformed",
                lz_dtype_name(lz_tracer_dtype(x)));
        return NULL;
    }
    return TO(x, d);
}

static lz_node *transform(lz_tracer *c, lz_node *x, const request *q)
{
    int first = q->n > AT_ONCE ? q->n - AT_ONCE : 0, last = q->n - 1;
    x = operand(c, x, q->type);
    for (int i = 0; x && i < q->n; i++)
        x = resize(c, x, q->dim[i],
                   q->type == LZ_IRFFT && i == last ? q->len[i] / 2 + 1 : q->len[i]);
    if (q->type == LZ_FFT || q->type == LZ_IFFT)
        return scaled(c, complex_dims(c, x, q, q->type, q->n), q);
    if (q->type == LZ_IRFFT)
        x = complex_dims(c, x, q, LZ_IFFT, first);
    x = apply(c, x, q->type, q->n - first, q->dim + first, q->len + first);
    if (q->type == LZ_RFFT)
        x = complex_dims(c, x, q, LZ_FFT, first);
    return scaled(c, x, q);
}

/* ---- arguments ---- */

/* Length of dimension `dim` when the caller says n (0, or -1 in a list: none). */
static bool add_dim(request *q, const lz_node *x, int64_t dim, int64_t n, bool given)
{
    const lz_shape *s = lz_tracer_shape(x);
    if (s->rank == 0) {
        LZ_FAIL(LZ_ESHAPE, "a scalar has no dimension to transform");
        return false;
    }
    if (!lz_tracer_dim(dim, s->rank, &dim))
        return false;
    for (int i = 0; i < q->n; i++)
        if (q->dim[i] == dim) {
            LZ_FAIL(LZ_EINVAL, "dimension %" PRId64 " is transformed twice", dim);
            return false;
        }
    q->dim[q->n] = dim;
    q->len[q->n++] = given ? n : s->dims[dim];
    return true;
}

/* The length of the last dimension of an IRFFT without one; refuses lengths below 1. */
static bool check_lengths(request *q, bool last_given)
{
    if (q->type == LZ_IRFFT && !last_given)
        q->len[q->n - 1] = 2 * (q->len[q->n - 1] - 1);
    for (int i = 0; i < q->n; i++)
        if (q->len[i] < 1 || q->len[i] > INT32_MAX) {
            LZ_FAIL(LZ_ESHAPE, "a transform of %" PRId64 " elements along dimension %" PRId64,
                    q->len[i], q->dim[i]);
            return false;
        }
    return true;
}

static bool one_dimension(request *q, const lz_node *x, const lz_fft_options *o)
{
    OPTIONS(lz_fft_options, p, .dim = -1);
    return x && p && norm_of(p->norm, &q->norm) && add_dim(q, x, p->dim, p->n, p->n != 0) &&
           check_lengths(q, p->n != 0);
}

static bool some_dimensions(request *q, const lz_node *x, const lz_fftn_options *o, bool two)
{
    OPTIONS(lz_fftn_options, p, .norm = NULL);
    if (!x || !p || !norm_of(p->norm, &q->norm))
        return false;
    int n = p->dims.n ? p->dims.n : p->s.rank ? p->s.rank : two ? 2 : lz_tracer_shape(x)->rank;
    if (n < 0 || n > LZ_MAX_RANK || (p->s.rank && p->s.rank != n)) {
        LZ_FAIL(LZ_EINVAL, "%d lengths for %d dimensions", p->s.rank, n);
        return false;
    }
    for (int i = 0; i < n; i++) {
        bool given = p->s.rank && p->s.dims[i] != -1;
        if (!add_dim(q, x, p->dims.n ? p->dims.v[i] : i - n, given ? p->s.dims[i] : 0, given))
            return false;
    }
    if (n == 0) {
        LZ_FAIL(LZ_ESHAPE, "a scalar has no dimension to transform");
        return false;
    }
    return check_lengths(q, p->s.rank && p->s.dims[n - 1] != -1);
}

#define ONE(name, TYPE)                                                                            \
    lz_tensor *lz_##name##_at(lz_tensor *x, const lz_fft_options *o, const lz_site *site)          \
    {                                                                                              \
        LZ_PUBLIC_AT(LZ_FORK_TENSOR);                                                              \
        BEGIN("lz_" #name);                                                                        \
        request q = {.type = TYPE};                                                                \
        lz_node *n = IN(x);                                                                        \
        return lz_tracer_end(c, one_dimension(&q, n, o) ? transform(c, n, &q) : NULL);             \
    }
ONE(fft, LZ_FFT)
ONE(ifft, LZ_IFFT)
ONE(rfft, LZ_RFFT)
ONE(irfft, LZ_IRFFT)

#define SOME(name, TYPE, two)                                                                      \
    lz_tensor *lz_##name##_at(lz_tensor *x, const lz_fftn_options *o, const lz_site *site)         \
    {                                                                                              \
        LZ_PUBLIC_AT(LZ_FORK_TENSOR);                                                              \
        BEGIN("lz_" #name);                                                                        \
        request q = {.type = TYPE};                                                                \
        lz_node *n = IN(x);                                                                        \
        return lz_tracer_end(c, some_dimensions(&q, n, o, two) ? transform(c, n, &q) : NULL);      \
    }
SOME(fft2, LZ_FFT, true)
SOME(ifft2, LZ_IFFT, true)
SOME(rfft2, LZ_RFFT, true)
SOME(irfft2, LZ_IRFFT, true)
SOME(fftn, LZ_FFT, false)
SOME(ifftn, LZ_IFFT, false)
SOME(rfftn, LZ_RFFT, false)
SOME(irfftn, LZ_IRFFT, false)

/* ---- of signals with conjugate halves ---- */

static lz_node *conjugate(lz_tracer *c, lz_node *x)
{
    if (!x || !lz_dtype_is_complex(lz_tracer_dtype(x)))
        return x;
    return lz_tracer_ew2(c, LZ_OP_COMPLEX, lz_tracer_ew1(c, LZ_OP_REAL, x),
                         NEG(lz_tracer_ew1(c, LZ_OP_IMAG, x)));
}

static norm exchanged(norm n)
{
    return n == BACKWARD ? FORWARD : n == FORWARD ? BACKWARD : ORTHO;
}

lz_tensor *lz_hfft_at(lz_tensor *x, const lz_fft_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_hfft");
    request q = {.type = LZ_IRFFT};
    lz_node *n = IN(x);
    if (!one_dimension(&q, n, o))
        return lz_tracer_end(c, NULL);
    q.norm = exchanged(q.norm);
    return lz_tracer_end(c, transform(c, conjugate(c, n), &q));
}

lz_tensor *lz_ihfft_at(lz_tensor *x, const lz_fft_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_ihfft");
    request q = {.type = LZ_RFFT};
    lz_node *n = IN(x);
    if (!one_dimension(&q, n, o))
        return lz_tracer_end(c, NULL);
    q.norm = exchanged(q.norm);
    return lz_tracer_end(c, conjugate(c, transform(c, n, &q)));
}

/* ---- frequencies ---- */

static lz_node *frequencies(lz_tracer *c, lz_dtype dtype, int64_t n, double d, bool real)
{
    lz_shape s = {.rank = 1, .dims = {real ? n / 2 + 1 : n}};
    if (n < 1 || n > INT32_MAX || d == 0 || !isfinite(d)) {
        LZ_FAIL(LZ_EINVAL, "frequencies of %" PRId64 " samples %g apart", n, d);
        return NULL;
    }
    if (lz_dtype_of_parts(dtype) == LZ_DTYPE_NONE) {
        LZ_FAIL(LZ_EDTYPE, "%s: frequencies are f32 or f64", lz_dtype_name(dtype));
        return NULL;
    }
    lz_node *k = lz_tracer_iota(c, LZ_I64, &s, 0, NULL);
    if (k && !real)
        k = SEL(LT(k, K(k, (double)((n + 1) / 2))), k, SUB(k, K(k, (double)n)));
    k = TO(k, dtype);
    return MUL(k, ARG(k, 1 / ((double)n * d)));
}

lz_tensor *lz_fftfreq_at(lz_dtype dtype, int64_t n, double d, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_fftfreq");
    return lz_tracer_end(c, frequencies(c, dtype, n, d, false));
}

lz_tensor *lz_rfftfreq_at(lz_dtype dtype, int64_t n, double d, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_rfftfreq");
    return lz_tracer_end(c, frequencies(c, dtype, n, d, true));
}

/* Element i of each dimension goes to (i + n / 2) mod n; back: to (i + (n + 1) / 2) mod n. */
static lz_node *shifted(lz_tracer *c, lz_node *x, const lz_dims *dims, bool back)
{
    if (!x)
        return NULL;
    int rank = lz_tracer_shape(x)->rank, n = dims->n ? dims->n : rank;
    if (n < 0 || n > LZ_MAX_RANK) {
        LZ_FAIL(LZ_EINVAL, "%d dimensions", n);
        return NULL;
    }
    for (int i = 0; x && i < n; i++) {
        int64_t dim = i;
        if (dims->n && !lz_tracer_dim(dims->v[i], rank, &dim))
            return NULL;
        if (rank == 0)
            continue;
        int64_t len = lz_tracer_shape(x)->dims[dim], at = back ? len / 2 : (len + 1) / 2;
        if (len < 2)
            continue;
        lz_node *part[2] = {lz_tracer_slice_dim(c, x, dim, at, len, 1),
                            lz_tracer_slice_dim(c, x, dim, 0, at, 1)};
        x = part[0] && part[1] ? lz_tracer_concat(c, part, 2, dim) : NULL;
    }
    return x;
}

lz_tensor *lz_fftshift_at(lz_tensor *x, lz_dims dims, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_fftshift");
    return lz_tracer_end(c, shifted(c, IN(x), &dims, false));
}

lz_tensor *lz_ifftshift_at(lz_tensor *x, lz_dims dims, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    BEGIN("lz_ifftshift");
    return lz_tracer_end(c, shifted(c, IN(x), &dims, true));
}
