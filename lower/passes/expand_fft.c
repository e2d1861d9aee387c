/* expand_fft.c - Fourier transforms as dots with small matrices. A batch of lines is a float array
 * [batch, part, n] with the parts real and imaginary (or real alone). A short line is one dot with
 * the DFT matrix. A line of n = n1 n2, n1 <= DIRECT, is a dot over n1, a multiplication by twiddle
 * factors, and n1 transforms of n2 (Gentleman, Sande 1966; Bailey 1990). A length whose smallest
 * factor exceeds DIRECT is a convolution (Bluestein 1970) by transforms of a rounder length. The
 * constants are computed in long double; more than STORED of them are computed by the program, from
 * two short tables, so that the entry of a long transform is small.
 * Threads: as rewrite.h. */
#include "lower/passes/expand_fft.h"
#include "ir/attr.h"
#include "ir/eval/eval_complex.h"
#include <math.h>
#include <string.h>

#define RECORD(a) ((const lz_attr *)(const void *)&(a))

enum { DIRECT = 64, STORED = 1 << 14 };

typedef struct fft {
    lz_func *f;
    lz_dtype d; /* of the parts */
    bool inverse;
} fft;

static lz_shape shape(int n, const int64_t *dims)
{
    return lz_shape_make(n, dims);
}
#define SHAPE(...)                                                                                 \
    shape((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

/* ---- builders ---- */

static lz_val reshape(const fft *t, lz_val x, lz_shape s)
{
    return x == LZ_NOVAL ? x : lz_build_reshape(t->f, x, &s);
}

static lz_val transpose(const fft *t, lz_val x, int n, const int64_t *perm)
{
    lz_ints p = lz_ints_make(n, perm);
    return x == LZ_NOVAL ? x : lz_build_transpose(t->f, x, &p);
}

static lz_val broadcast(const fft *t, lz_val x, int n, const int64_t *dims, const lz_shape *s)
{
    lz_ints d = lz_ints_make(n, dims);
    return x == LZ_NOVAL ? x : lz_build_broadcast(t->f, x, &d, s);
}

static lz_val mul(const fft *t, lz_val a, lz_val b)
{
    return lz_build_ew2(t->f, LZ_OP_MULTIPLY, a, b);
}

/* Elements from..to of dimension dim. */
static lz_val cut(const fft *t, lz_val x, int dim, int64_t from, int64_t to)
{
    lz_attr_slice a;
    if (x == LZ_NOVAL)
        return x;
    const lz_shape *s = &lz_val_type(t->f, x)->shape;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_slice;
    a.start_indices.n = a.limit_indices.n = a.strides.n = s->rank;
    for (int i = 0; i < s->rank; i++) {
        a.start_indices.v[i] = i == dim ? from : 0;
        a.limit_indices.v[i] = i == dim ? to : s->dims[i];
        a.strides.v[i] = 1;
    }
    return lz_build(t->f, LZ_OP_SLICE, RECORD(a), &x, 1);
}

static lz_val join(const fft *t, lz_val x, lz_val y, int64_t dim)
{
    lz_attr_dim a;
    lz_val v[2] = {x, y};
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_dim;
    a.dimension = dim;
    return lz_build(t->f, LZ_OP_CONCATENATE, RECORD(a), v, 2);
}

static lz_val reverse(const fft *t, lz_val x, int64_t dim)
{
    lz_attr_dims a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_dims;
    a.dimensions = lz_ints_make(1, &dim);
    return lz_build(t->f, LZ_OP_REVERSE, RECORD(a), &x, 1);
}

/* Sums over dimensions 1 and 2 of x and 0 and 1 of w. */
static lz_val product(const fft *t, lz_val x, lz_val w)
{
    lz_attr_dot a;
    lz_val v[2] = {x, w};
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_dot;
    a.lhs_contracting_dimensions = lz_ints_make(2, (int64_t[]){1, 2});
    a.rhs_contracting_dimensions = lz_ints_make(2, (int64_t[]){0, 1});
    a.precision = LZ_PRECISION_HIGHEST;
    return lz_build(t->f, LZ_OP_DOT_GENERAL, RECORD(a), v, 2);
}

/* ---- constants ---- */

static lz_literal *table(const fft *t, lz_shape s)
{
    const lz_type *type = lz_type_get(t->d, &s);
    lz_literal *l = type ? lz_literal_new(type) : NULL;
    if (!l)
        t->f->status = lz_error_get()->status;
    return l;
}

static lz_val constant(const fft *t, lz_literal *l)
{
    lz_val v = lz_build_const(t->f, l);
    lz_literal_release(l);
    return v;
}

/* e^(-2 pi i k / n), of the inverse transform its conjugate. */
static lz_cx root(const fft *t, int64_t k, int64_t n)
{
    const long double turn = 6.283185307179586476925286766559005768L;
    long double a = turn * (long double)(k % n) / (long double)n;
    return (lz_cx){cosl(a), t->inverse ? sinl(a) : -sinl(a)};
}

/* Complex numbers as what multiplies [.., part, ..] elementwise: the real parts for both parts, and
 * what multiplies the parts exchanged. */
typedef struct factors {
    lz_val same, cross; /* [rows, n], [rows, 2, n] */
} factors;

static const factors no_factors = {LZ_NOVAL, LZ_NOVAL};

static factors factors_of(const fft *t, const lz_cx *v, int64_t rows, int64_t n)
{
    lz_literal *same = table(t, SHAPE(rows, n)), *cross = table(t, SHAPE(rows, 2, n));
    for (int64_t i = 0; same && cross && i < rows; i++)
        for (int64_t k = 0; k < n; k++) {
            lz_cx w = v[i * n + k];
            lz_elem_set_f64(t->d, same->data, i * n + k, (double)w.re);
            lz_elem_set_f64(t->d, cross->data, (2 * i) * n + k, (double)-w.im);
            lz_elem_set_f64(t->d, cross->data, (2 * i + 1) * n + k, (double)w.im);
        }
    if (!same || !cross) {
        lz_literal_release(same);
        lz_literal_release(cross);
        return no_factors;
    }
    return (factors){constant(t, same), constant(t, cross)};
}

/* x[batch, rows, 2, n] times v[rows, n]. */
static lz_val times(const fft *t, lz_val x, factors w)
{
    if (x == LZ_NOVAL || w.same == LZ_NOVAL || w.cross == LZ_NOVAL)
        return LZ_NOVAL;
    lz_shape s = lz_val_type(t->f, x)->shape;
    lz_val same = broadcast(t, w.same, 2, (int64_t[]){1, 3}, &s),
           cross = broadcast(t, w.cross, 3, (int64_t[]){1, 2, 3}, &s);
    return lz_build_ew2(t->f, LZ_OP_ADD, mul(t, x, same), mul(t, reverse(t, x, 2), cross));
}

static lz_cx *numbers(const fft *t, int64_t n)
{
    size_t count = 0;
    lz_cx *v = lz_mul_size((size_t)n, sizeof *v, &count) ? lz_alloc(count) : NULL;
    if (!v)
        t->f->status = LZ_FAIL(LZ_EMEM, "fft: no memory for %lld constants", (long long)n);
    return v;
}

/* ---- constants that the program computes ---- */

typedef struct complex_vals {
    lz_val re, im; /* f64 */
} complex_vals;

/* Roots 0, step, 2 step, .. of n, `count` of them, at the places `index` says. */
static complex_vals looked_up(const fft *t, lz_val index, int64_t step, int64_t count, int64_t n)
{
    fft f64 = {t->f, LZ_F64, t->inverse};
    lz_literal *l[2] = {table(&f64, SHAPE(count)), table(&f64, SHAPE(count))};
    for (int64_t i = 0; l[0] && l[1] && i < count; i++) {
        lz_cx w = root(t, (int64_t)((__int128)i * step % n), n);
        lz_elem_set_f64(LZ_F64, l[0]->data, i, (double)w.re);
        lz_elem_set_f64(LZ_F64, l[1]->data, i, (double)w.im);
    }
    lz_attr_any a;
    lz_attr_init(&a, LZ_ATTR_gather);
    a.as_gather.collapsed_slice_dims = a.as_gather.start_index_map =
        lz_ints_make(1, (int64_t[]){0});
    a.as_gather.slice_sizes = lz_ints_make(1, (int64_t[]){1});
    a.as_gather.index_vector_dim = index == LZ_NOVAL ? 0 : lz_val_type(t->f, index)->shape.rank;
    lz_val v[2] = {LZ_NOVAL, LZ_NOVAL};
    for (int k = 0; k < 2; k++) {
        lz_val of = constant(t, l[k]);
        if (of != LZ_NOVAL && index != LZ_NOVAL)
            v[k] = lz_build(t->f, LZ_OP_GATHER, &a.head, (lz_val[]){of, index}, 2);
    }
    return (complex_vals){v[0], v[1]};
}

static lz_val integer(const fft *t, lz_val like, int64_t v)
{
    const lz_ints none = {.n = 0};
    lz_val s = lz_build_scalar_i64(t->f, LZ_I64, v);
    return like == LZ_NOVAL || s == LZ_NOVAL
               ? LZ_NOVAL
               : lz_build_broadcast(t->f, s, &none, &lz_val_type(t->f, like)->shape);
}

/* The roots of n with the numbers k, i64 in 0..n-1. */
static complex_vals roots(const fft *t, lz_val k, int64_t n)
{
    int bits = 1;
    while ((int64_t)1 << 2 * bits < n)
        bits++;
    int64_t low = (int64_t)1 << bits;
    lz_val l = lz_build_ew2(t->f, LZ_OP_AND, k, integer(t, k, low - 1)),
           h = lz_build_ew2(t->f, LZ_OP_SHIFT_RIGHT_LOGICAL, k, integer(t, k, bits));
    complex_vals a = looked_up(t, l, 1, low, n), b = looked_up(t, h, low, (n - 1) / low + 1, n);
    return (complex_vals){
        lz_build_ew2(t->f, LZ_OP_SUBTRACT, mul(t, a.re, b.re), mul(t, a.im, b.im)),
        lz_build_ew2(t->f, LZ_OP_ADD, mul(t, a.re, b.im), mul(t, a.im, b.re))};
}

static lz_val counted(const fft *t, int64_t rows, int64_t n, int64_t dim)
{
    lz_shape s = SHAPE(rows, n);
    return lz_build_iota(t->f, lz_type_get(LZ_I64, &s), dim);
}

/* Behind a barrier, so that they are computed on their own: from constants alone, once where the
 * device keeps what does not change. */
static lz_val settled(const fft *t, lz_val x)
{
    return x == LZ_NOVAL ? x : lz_build(t->f, LZ_OP_OPTIMIZATION_BARRIER, NULL, &x, 1);
}

/* re[rows, n] and im as factors. */
static factors factors_from(const fft *t, lz_val re, lz_val im)
{
    if (re == LZ_NOVAL || im == LZ_NOVAL)
        return no_factors;
    lz_shape s = lz_val_type(t->f, re)->shape, mid = SHAPE(s.dims[0], 1, s.dims[1]);
    re = lz_build_convert(t->f, re, t->d);
    im = reshape(t, lz_build_convert(t->f, im, t->d), mid);
    lz_val minus = im == LZ_NOVAL ? im : lz_build_ew1(t->f, LZ_OP_NEGATE, im);
    return (factors){settled(t, re), settled(t, join(t, minus, im, 1))};
}

/* [parts, n, 2, n]: the matrix of the transform on `parts` parts. */
static lz_val matrix(const fft *t, int64_t parts, int64_t n)
{
    lz_literal *l = table(t, SHAPE(parts, n, 2, n));
    long double scale = t->inverse ? 1 / (long double)n : 1;
    for (int64_t j = 0; l && j < n; j++)
        for (int64_t k = 0; k < n; k++) {
            lz_cx w = root(t, j * k, n);
            double re = (double)(w.re * scale), im = (double)(w.im * scale);
            lz_elem_set_f64(t->d, l->data, (j * 2 + 0) * n + k, re);
            lz_elem_set_f64(t->d, l->data, (j * 2 + 1) * n + k, im);
            if (parts == 1)
                continue;
            lz_elem_set_f64(t->d, l->data, ((n + j) * 2 + 0) * n + k, -im);
            lz_elem_set_f64(t->d, l->data, ((n + j) * 2 + 1) * n + k, re);
        }
    return constant(t, l);
}

/* ---- lines ---- */

static lz_val lines(const fft *t, lz_val x);

static int64_t dim_of(const fft *t, lz_val x, int d)
{
    return lz_val_type(t->f, x)->shape.dims[d];
}

/* About what an iteration of length p costs for each element: passing it through memory, and the
 * product, whose matrices are padded. */
static double round_cost(int64_t p)
{
    return 3 + 0.06 * (double)((p + 7) / 8 * 8);
}

/* The cheapest rounds of lengths 2..most whose product is n: their cost, and the longest. No such
 * rounds: a convolution. Lengths descend, so that each set of them is tried once. */
static double cheapest(int64_t n, int64_t most, int64_t *first)
{
    double best = n == 1 ? 0 : 1000;
    *first = 0;
    for (int64_t p = most < n ? most : n; p > 1; p--) {
        int64_t next;
        double cost = n % p ? best : round_cost(p) + cheapest(n / p, p, &next);
        if (cost < best) {
            best = cost;
            *first = p;
        }
    }
    return best;
}

/* A factor of n in 2..DIRECT: of the cheapest rounds, or any where the rest has to be convolved; 0:
 * there is none. */
static int64_t factor_of(int64_t n)
{
    int64_t first;
    cheapest(n, DIRECT, &first);
    for (int64_t p = DIRECT; p > 1 && !first; p--)
        if (n % p == 0)
            first = p;
    return first;
}

/* [n2, n1]: root j k of n1 n2. */
static factors twiddles(const fft *t, int64_t n2, int64_t n1)
{
    int64_t n = n1 * n2;
    if (n > STORED) {
        complex_vals w = roots(t, mul(t, counted(t, n2, n1, 0), counted(t, n2, n1, 1)), n);
        return factors_from(t, w.re, w.im);
    }
    lz_cx *w = numbers(t, n);
    for (int64_t j = 0; w && j < n2; j++)
        for (int64_t k = 0; k < n1; k++)
            w[j * n1 + k] = root(t, j * k, n);
    factors r = w ? factors_of(t, w, n2, n1) : no_factors;
    lz_free(w);
    return r;
}

/* n = n1 n2: x[j1 n2 + j2] gives X[k2 n1 + k1]. */
static lz_val in_two(const fft *t, lz_val x, int64_t n1)
{
    int64_t b = dim_of(t, x, 0), parts = dim_of(t, x, 1), n = dim_of(t, x, 2), n2 = n / n1;
    lz_val y = product(t, reshape(t, x, SHAPE(b, parts, n1, n2)), matrix(t, parts, n1));
    y = times(t, y, twiddles(t, n2, n1)); /* y[b, j2, part, k1] */
    y = reshape(t, transpose(t, y, 4, (int64_t[]){0, 3, 2, 1}), SHAPE(b * n1, 2, n2));
    y = reshape(t, lines(t, y), SHAPE(b, n1, 2, n2));
    return reshape(t, transpose(t, y, 4, (int64_t[]){0, 2, 3, 1}), SHAPE(b, 2, n));
}

/* The transform of length m of h, where h[j] = h[m - j] is the conjugate of chirp j. */
static lz_cx *spectrum_of(const fft *t, const lz_cx *chirp, int64_t n, int64_t m)
{
    lz_shape s = SHAPE(m);
    lz_attr_fft a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_fft;
    a.fft_length = lz_ints_make(1, &m);
    const lz_type *type = lz_type_get(LZ_C128, &s);
    const lz_attr *attr = type ? lz_attr_get(RECORD(a)) : NULL;
    const lz_sig *sig = attr ? lz_sig_get(LZ_OP_FFT, attr, &type, 1) : NULL;
    lz_literal *h = sig ? lz_literal_new(type) : NULL, *r = NULL;
    lz_cx *out = h ? numbers(t, m) : NULL;
    for (int64_t j = 0; out && j < n; j++) {
        lz_cx v = {chirp[j].re, -chirp[j].im};
        lz_ref_store_c(LZ_C128, h->data, j, v);
        lz_ref_store_c(LZ_C128, h->data, j ? m - j : 0, v);
    }
    if (!out || lz_ref_eval_inst(sig, &h, &r) != LZ_OK)
        t->f->status = lz_error_get()->status;
    for (int64_t k = 0; r && k < m; k++)
        out[k] = lz_ref_load_c(LZ_C128, r->data, k);
    if (!r) {
        lz_free(out);
        out = NULL;
    }
    lz_literal_release(h);
    lz_literal_release(r);
    return out;
}

/* Both parts, where there may be the real one only. */
static lz_val both_parts(const fft *t, lz_val x)
{
    if (x == LZ_NOVAL || dim_of(t, x, 1) == 2)
        return x;
    lz_val zero = lz_build_splat(t->f, lz_val_type(t->f, x), 0);
    return join(t, x, zero, 1);
}

static lz_val multiply_line(const fft *t, lz_val x, factors w)
{
    if (x == LZ_NOVAL)
        return LZ_NOVAL;
    int64_t b = dim_of(t, x, 0), n = dim_of(t, x, 2);
    return reshape(t, times(t, reshape(t, x, SHAPE(b, 1, 2, n)), w), SHAPE(b, 2, n));
}

/* Zeros around x along its last dimension: n elements become m. */
static lz_val padded(const fft *t, lz_val x, int64_t before, int64_t m)
{
    if (x == LZ_NOVAL)
        return x;
    int64_t n = dim_of(t, x, 2);
    lz_attr_pad a;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_pad;
    a.interior_padding = lz_ints_make(3, (int64_t[]){0, 0, 0});
    a.edge_padding_low = lz_ints_make(3, (int64_t[]){0, 0, before});
    a.edge_padding_high = lz_ints_make(3, (int64_t[]){0, 0, m - n - before});
    lz_val v[2] = {x, lz_build_scalar(t->f, t->d, 0)};
    return lz_build(t->f, LZ_OP_PAD, RECORD(a), v, 2);
}

/* What a convolution multiplies by: the chirp, also divided by n for the end of an inverse
 * transform, and the spectrum of its conjugate. */
typedef struct chirp {
    factors at, end, spectrum;
} chirp;

static chirp stored_chirp(const fft *t, int64_t n, int64_t m)
{
    chirp r = {no_factors, no_factors, no_factors};
    lz_cx *c = numbers(t, n);
    for (int64_t j = 0; c && j < n; j++)
        c[j] = root(t, (int64_t)((__int128)j * j % (2 * n)), 2 * n);
    lz_cx *h = c ? spectrum_of(t, c, n, m) : NULL;
    if (h) {
        r.at = r.end = factors_of(t, c, 1, n);
        r.spectrum = factors_of(t, h, 1, m);
        for (int64_t j = 0; t->inverse && j < n; j++)
            c[j] = (lz_cx){c[j].re / (long double)n, c[j].im / (long double)n};
        if (t->inverse)
            r.end = factors_of(t, c, 1, n);
    }
    lz_free(h);
    lz_free(c);
    return r;
}

/* The same, computed by the program; the spectrum as any transform of that length. */
static chirp computed_chirp(const fft *t, int64_t n, int64_t m)
{
    fft forward = {t->f, t->d, false};
    lz_val j = counted(t, 1, n, 1);
    lz_val square = lz_build_ew2(t->f, LZ_OP_REMAINDER, mul(t, j, j), integer(t, j, 2 * n));
    complex_vals w = roots(t, square, 2 * n);
    chirp r = {.at = factors_from(t, w.re, w.im)};
    r.end = r.at;
    if (t->inverse && w.re != LZ_NOVAL && w.im != LZ_NOVAL) {
        lz_val by = lz_build_splat(t->f, lz_val_type(t->f, w.re), (double)n);
        r.end = factors_from(t, lz_build_ew2(t->f, LZ_OP_DIVIDE, w.re, by),
                             lz_build_ew2(t->f, LZ_OP_DIVIDE, w.im, by));
    }
    r.spectrum = no_factors;
    if (r.at.same == LZ_NOVAL || r.at.cross == LZ_NOVAL)
        return r;
    /* conjugates: at 0 .. n-1, and from the end on downwards those from 1 on */
    lz_val re = reshape(t, r.at.same, SHAPE(1, 1, n)), im = cut(t, r.at.cross, 1, 0, 1);
    lz_val h = join(t, re, im, 1), rest = h == LZ_NOVAL ? h : reverse(t, cut(t, h, 2, 1, n), 2);
    h = lz_build_ew2(t->f, LZ_OP_ADD, padded(t, h, 0, m), padded(t, rest, m - n + 1, m));
    h = h == LZ_NOVAL ? h : lines(&forward, h);
    if (h != LZ_NOVAL)
        r.spectrum = factors_from(t, reshape(t, cut(t, h, 1, 0, 1), SHAPE(1, m)),
                                  reshape(t, cut(t, h, 1, 1, 2), SHAPE(1, m)));
    return r;
}

/* The length of the cheapest transform of at least n elements, of those with few factors but 2. */
static int64_t round_length(int64_t n)
{
    static const int64_t odd[] = {1, 3, 5, 7, 9, 15};
    int64_t best = 0, first;
    double least = 0;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        int64_t m = odd[i];
        while (m < n)
            m *= 2;
        double cost = (double)m * cheapest(m, DIRECT, &first);
        if (!best || cost < least) {
            best = m;
            least = cost;
        }
    }
    return best;
}

/* Bluestein: with chirp a_j = e^(-+ pi i j^2 / n), X_k = a_k sum of (x_j a_j) conj(a_(k-j)). */
static lz_val by_convolution(const fft *t, lz_val x)
{
    fft forward = {t->f, t->d, false}, back = {t->f, t->d, true};
    int64_t n = dim_of(t, x, 2), m = round_length(2 * n - 1);
    /* squares are 64-bit integers; nothing that long fits into memory */
    chirp c = n > STORED && n < INT32_MAX ? computed_chirp(t, n, m) : stored_chirp(t, n, m);
    lz_val y = padded(t, multiply_line(t, both_parts(t, x), c.at), 0, m);
    y = multiply_line(t, y == LZ_NOVAL ? y : lines(&forward, y), c.spectrum);
    return multiply_line(t, cut(t, y == LZ_NOVAL ? y : lines(&back, y), 2, 0, n), c.end);
}

/* Transforms x[batch, parts, n] along n; the result has both parts. */
static lz_val lines(const fft *t, lz_val x)
{
    if (x == LZ_NOVAL || t->f->status != LZ_OK)
        return LZ_NOVAL;
    int64_t n = dim_of(t, x, 2), parts = dim_of(t, x, 1), n1;
    if (n == 1)
        return both_parts(t, x);
    n1 = factor_of(n);
    if (n1 == n)
        return product(t, x, matrix(t, parts, n));
    return n1 ? in_two(t, x, n1) : by_convolution(t, x);
}

/* ---- dimensions ---- */

/* x[batch, parts, d1, .., dk] along dimension dim. */
static lz_val along(const fft *t, lz_val x, int dim)
{
    if (x == LZ_NOVAL)
        return x;
    lz_shape s = lz_val_type(t->f, x)->shape, moved = {.rank = s.rank}, flat;
    int64_t perm[LZ_MAX_RANK], back[LZ_MAX_RANK], batch = 1;
    int at = 0;
    for (int i = 0; i < s.rank; i++)
        if (i != 1 && i != dim)
            perm[at++] = i;
    perm[at++] = 1;
    perm[at] = dim;
    for (int i = 0; i < s.rank; i++) {
        back[perm[i]] = i;
        moved.dims[i] = s.dims[perm[i]];
        batch *= i < s.rank - 2 ? moved.dims[i] : 1;
    }
    flat = SHAPE(batch, s.dims[1], s.dims[dim]);
    lz_val y = lines(t, reshape(t, transpose(t, x, s.rank, perm), flat));
    if (y == LZ_NOVAL)
        return y;
    moved.dims[s.rank - 2] = 2;
    return transpose(t, reshape(t, y, moved), s.rank, back);
}

/* The last dimension of the half spectrum of a real signal of n elements, without the imaginary
 * parts that it cannot have. */
static lz_val without_imaginary(const fft *t, lz_val x, int64_t n)
{
    if (x == LZ_NOVAL)
        return x;
    lz_shape s = lz_val_type(t->f, x)->shape;
    int64_t half = s.dims[s.rank - 1];
    lz_shape small = SHAPE(2, half);
    const lz_type *type = lz_type_get(LZ_BOOL, &small);
    lz_literal *l = type ? lz_literal_new(type) : NULL;
    if (!l) {
        t->f->status = lz_error_get()->status;
        return LZ_NOVAL;
    }
    uint8_t *none = l->data;
    none[half] = 1;
    if (n % 2 == 0)
        none[2 * half - 1] = 1;
    lz_val mask = broadcast(t, constant(t, l), 2, (int64_t[]){1, s.rank - 1}, &s);
    return lz_build_select(t->f, mask, lz_build_splat(t->f, lz_val_type(t->f, x), 0), x);
}

/* The whole spectrum of a real signal of n elements out of its first half, along the last
 * dimension. */
static lz_val whole(const fft *t, lz_val x, int64_t n)
{
    if (x == LZ_NOVAL)
        return x;
    int last = lz_val_type(t->f, x)->shape.rank - 1;
    int64_t half = dim_of(t, x, last);
    x = without_imaginary(t, x, n);
    if (half == n)
        return x;
    lz_val rest = reverse(t, cut(t, x, last, 1, n - half + 1), last);
    if (rest == LZ_NOVAL)
        return rest;
    lz_literal *l = table(t, SHAPE(2));
    if (l) {
        lz_elem_set_f64(t->d, l->data, 0, 1);
        lz_elem_set_f64(t->d, l->data, 1, -1);
    }
    lz_shape s = lz_val_type(t->f, rest)->shape;
    lz_val sign = broadcast(t, constant(t, l), 1, (int64_t[]){1}, &s);
    return join(t, x, mul(t, rest, sign), last);
}

/* [batch, parts, d1, ..] of the operand. */
static lz_val parts_of(const fft *t, lz_val x, int ndims)
{
    lz_shape s = lz_val_type(t->f, x)->shape, to = {.rank = ndims + 2};
    to.dims[0] = to.dims[1] = 1;
    for (int i = 0; i < s.rank - ndims; i++)
        to.dims[0] *= s.dims[i];
    for (int i = 0; i < ndims; i++)
        to.dims[2 + i] = s.dims[s.rank - ndims + i];
    if (!lz_dtype_is_complex(lz_val_type(t->f, x)->dtype))
        return reshape(t, x, to);
    return join(t, reshape(t, lz_build_ew1(t->f, LZ_OP_REAL, x), to),
                reshape(t, lz_build_ew1(t->f, LZ_OP_IMAG, x), to), 1);
}

static lz_val transformed(fft *t, lz_val x, const lz_attr_fft *a)
{
    int n = a->fft_length.n, last = n + 1;
    x = parts_of(t, x, n);
    if (a->fft_type != LZ_IRFFT)
        x = along(t, x, last);
    if (a->fft_type == LZ_RFFT)
        x = cut(t, x, last, 0, a->fft_length.v[n - 1] / 2 + 1);
    for (int d = last - 1; d > 1; d--)
        x = along(t, x, d);
    return a->fft_type == LZ_IRFFT ? along(t, whole(t, x, a->fft_length.v[n - 1]), last) : x;
}

lz_val lz_expand_fft(lz_rw *rw, uint32_t i)
{
    const lz_inst *in = &rw->in->insts[i];
    const lz_attr_fft *a = LZ_ATTR(fft, in->sig->attr);
    const lz_type *r = in->sig->result[0];
    fft t = {rw->out, lz_dtype_part(r->dtype), a->fft_type == LZ_IFFT || a->fft_type == LZ_IRFFT};
    if (r->nelem == 0)
        return lz_build_splat(rw->out, r, 0);
    lz_val x = transformed(&t, lz_rw_opnd(rw, i, 0), a);
    lz_val re = reshape(&t, cut(&t, x, 1, 0, 1), r->shape);
    if (a->fft_type == LZ_IRFFT)
        return re;
    return lz_build_ew2(rw->out, LZ_OP_COMPLEX, re, reshape(&t, cut(&t, x, 1, 1, 2), r->shape));
}
