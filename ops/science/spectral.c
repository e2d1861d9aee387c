/* spectral.c - windows, and Fourier transforms of short times: include/lazuli/signal_ops.h. */
#include "ops/science/science.h"
#include "base/status.h"
#include <inttypes.h>
#include <lazuli/complex_ops.h>
#include <lazuli/image_ops.h>
#include <lazuli/signal_ops.h>
#include <math.h>
#include <string.h>

/* ---- windows ---- */

typedef enum shape { HANN, HAMMING, BLACKMAN, BARTLETT } shape;

static lz_node *cosines(lz_tracer *c, lz_node *turn, const double *k, int n)
{
    lz_node *sum = lz_tracer_const_like(c, turn, k[0]);
    for (int i = 1; i < n && sum; i++) {
        lz_node *v = lz_tracer_ew2(c, LZ_OP_MULTIPLY, turn, lz_tracer_const_like(c, turn, i));
        v = lz_tracer_ew2(c, LZ_OP_MULTIPLY, lz_tracer_ew1(c, LZ_OP_COSINE, v),
                          lz_tracer_const_like(c, turn, k[i]));
        sum = lz_tracer_ew2(c, LZ_OP_ADD, sum, v);
    }
    return sum;
}

/* 1 - |2 t - 1| for t in 0..1 */
static lz_node *triangle(lz_tracer *c, lz_node *t)
{
    lz_node *one = lz_tracer_const_like(c, t, 1);
    lz_node *v = lz_tracer_ew2(c, LZ_OP_SUBTRACT, lz_tracer_ew2(c, LZ_OP_ADD, t, t), one);
    return lz_tracer_ew2(c, LZ_OP_SUBTRACT, one, lz_tracer_ew1(c, LZ_OP_ABS, v));
}

static lz_tensor *window(const char *name, shape kind, lz_dtype dtype, int64_t n, bool periodic,
                         const lz_site *site)
{
    static const double k[][3] = {
        [HANN] = {0.5, -0.5}, [HAMMING] = {0.54, -0.46}, [BLACKMAN] = {0.42, -0.5, 0.08}};
    lz_tracer tracer, *c = &tracer;
    lz_tracer_begin(c, name, site);
    lz_shape s = {.rank = 1, .dims = {n}};
    if (!lz_dtype_is_float(dtype)) {
        LZ_FAIL(LZ_EDTYPE, "%s: windows are floats", lz_dtype_name(dtype));
        return lz_tracer_end(c, NULL);
    }
    if (n < 0) {
        LZ_FAIL(LZ_EINVAL, "%" PRId64 " elements", n);
        return lz_tracer_end(c, NULL);
    }
    lz_node *i = lz_tracer_iota(c, LZ_F64, &s, 0, NULL);
    int64_t length = periodic ? n : n - 1;
    if (n <= 1) /* one element is the middle */
        return lz_tracer_end(c,
                             i ? lz_tracer_convert(c, lz_tracer_const_like(c, i, 1), dtype) : NULL);
    lz_node *t =
        i ? lz_tracer_ew2(c, LZ_OP_DIVIDE, i, lz_tracer_const_like(c, i, (double)length)) : NULL;
    lz_node *turn = kind == BARTLETT || !t
                        ? t
                        : lz_tracer_ew2(c, LZ_OP_MULTIPLY, t, lz_tracer_const_like(c, t, 2 * M_PI));
    lz_node *w =
        kind == BARTLETT ? triangle(c, turn) : cosines(c, turn, k[kind], kind == BLACKMAN ? 3 : 2);
    if (kind == BLACKMAN && w) /* 0 at its ends, whatever the rounding says */
        w = lz_tracer_ew2(c, LZ_OP_MAXIMUM, w, lz_tracer_const_like(c, w, 0));
    return lz_tracer_end(c, w ? lz_tracer_convert(c, w, dtype) : NULL);
}

lz_tensor *lz_hann_window_at(lz_dtype dtype, int64_t n, bool periodic, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return window("lz_hann_window", HANN, dtype, n, periodic, site);
}

lz_tensor *lz_hamming_window_at(lz_dtype dtype, int64_t n, bool periodic, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return window("lz_hamming_window", HAMMING, dtype, n, periodic, site);
}

lz_tensor *lz_blackman_window_at(lz_dtype dtype, int64_t n, bool periodic, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return window("lz_blackman_window", BLACKMAN, dtype, n, periodic, site);
}

lz_tensor *lz_bartlett_window_at(lz_dtype dtype, int64_t n, bool periodic, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    return window("lz_bartlett_window", BARTLETT, dtype, n, periodic, site);
}

/* ---- transforms ---- */

/* hop and window lengths with their defaults, and the window of n_fft elements in dtype d; NULL in
 * *w: ones. false with the error recorded. */
static bool frame_of(const lz_composite *c, const lz_stft_options *o, int64_t n_fft, lz_dtype d,
                     int64_t *hop, lz_tensor **w)
{
    char text[160];
    int64_t length = o->win_length ? o->win_length : n_fft;
    *hop = o->hop_length ? o->hop_length : n_fft / 4 > 0 ? n_fft / 4 : 1;
    *w = NULL;
    if (n_fft < 1 || length < 1 || length > n_fft || *hop < 1) {
        LZ_FAIL(LZ_EINVAL,
                "n_fft %" PRId64 ", win_length %" PRId64 ", hop_length %" PRId64
                ": all are positive, win_length is at most n_fft",
                n_fft, length, *hop);
        return false;
    }
    if (!o->window) {
        if (length == n_fft)
            return true;
        *w = lz_ones_at(d, LZ_SHAPE(length), c->site);
    } else {
        if (!lz_composite_real(c, o->window, "window"))
            return false;
        if (lz_rank_of(o->window) != 1 || lz_numel(o->window) != length) {
            LZ_FAIL(LZ_ESHAPE, "window is %s: it has win_length %" PRId64 " elements",
                    lz_composite_shape(o->window, text), length);
            return false;
        }
        *w = TO(o->window, d);
    }
    int64_t low = (n_fft - length) / 2, pad[2] = {low, n_fft - length - low};
    if (length < n_fft)
        *w = lz_constant_pad_nd_at(*w, pad, 2, 0, c->site);
    return true;
}

/* Half of n_fft on both sides of the last dimension. */
static lz_tensor *centred(const lz_composite *c, lz_tensor *x, int64_t n_fft, const char *mode)
{
    char text[160];
    int64_t pad[2] = {n_fft / 2, n_fft / 2}, have = lz_shape_of(x).dims[lz_rank_of(x) - 1];
    if (strcmp(mode, "constant") == 0)
        return lz_constant_pad_nd_at(x, pad, 2, 0, c->site);
    bool reflect = strcmp(mode, "reflect") == 0, circular = strcmp(mode, "circular") == 0;
    if (!reflect && !circular && strcmp(mode, "replicate") != 0) {
        LZ_FAIL(LZ_EINVAL,
                "pad_mode is \"%.40s\": \"reflect\", \"replicate\", \"circular\" and \"constant\" "
                "are",
                mode);
        return NULL;
    }
    if (have < 1 || (reflect && have <= n_fft / 2) || (circular && have < n_fft / 2)) {
        LZ_FAIL(LZ_ESHAPE, "x is %s: too short to be padded by %" PRId64 " on both sides (%s)",
                lz_composite_shape(x, text), n_fft / 2, mode);
        return NULL;
    }
    return reflect    ? lz_reflection_pad_at(x, pad, 2, c->site)
           : circular ? lz_circular_pad_at(x, pad, 2, c->site)
                      : lz_replication_pad_at(x, pad, 2, c->site);
}

static lz_tensor *stft(const lz_composite *c, lz_tensor *x, int64_t n_fft, const lz_stft_options *o)
{
    char text[160];
    lz_tensor *w;
    int64_t hop;
    if (!lz_composite_in(c, x, "x"))
        return NULL;
    x = lz_composite_wide(c, x);
    lz_dtype d = lz_dtype_of(x);
    bool complex = lz_dtype_is_complex(d) != 0;
    int rank = lz_rank_of(x);
    if (rank < 1 || rank >= LZ_MAX_RANK) {
        LZ_FAIL(LZ_ESHAPE, "x is %s: it is one signal, or several in the last dimension",
                lz_composite_shape(x, text));
        return NULL;
    }
    if (!frame_of(c, o, n_fft, complex ? lz_dtype_part(d) : d, &hop, &w))
        return NULL;
    if (o->center && !(x = centred(c, x, n_fft, o->pad_mode ? o->pad_mode : "reflect")))
        return NULL;
    if (lz_status_of(x) == LZ_OK && lz_shape_of(x).dims[rank - 1] < n_fft) {
        LZ_FAIL(LZ_ESHAPE, "x is %s with its padding: it is shorter than n_fft %" PRId64,
                lz_composite_shape(x, text), n_fft);
        return NULL;
    }
    x = lz_unfold_dim_at(x, -1, n_fft, hop, c->site);
    if (w)
        x = MUL(x, w);
    const lz_fft_options f = {
        .struct_size = sizeof f, .dim = -1, .norm = o->normalized ? "ortho" : "backward"};
    x = !complex && o->onesided ? lz_rfft_at(x, &f, c->site) : lz_fft_at(x, &f, c->site);
    return lz_transpose_at(x, -2, -1, c->site);
}

lz_tensor *lz_stft_at(lz_tensor *x, int64_t n_fft, const lz_stft_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_stft");
    lz_stft_options opt = {.struct_size = sizeof opt, LZ_STFT_DEFAULTS, .pad_mode = "reflect"};
    lz_tensor *r = lz_composite_options(c, &opt, sizeof opt, o) ? stft(c, x, n_fft, &opt) : NULL;
    return lz_composite_end(c, r);
}

/* Frames [b, t, n] put hop apart and added: [b, n + hop (t - 1)]. */
static lz_tensor *overlapped(const lz_composite *c, lz_tensor *frames, int64_t hop)
{
    lz_shape s = lz_shape_of(frames), flat = {2, {s.dims[0], s.dims[1] * s.dims[2]}};
    lz_tensor *at = ADD(MULS(lz_composite_iota(c, frames, LZ_I64, s, 1), (double)hop),
                        lz_composite_iota(c, frames, LZ_I64, s, 2));
    lz_shape sum = {2, {s.dims[0], s.dims[2] + hop * (s.dims[1] - 1)}};
    lz_tensor *zero = lz_expand_at(NUMBER(frames, 0), sum, c->site);
    return lz_scatter_add_at(zero, 1, RESHAPE(at, flat), RESHAPE(frames, flat), c->site);
}

/* What is asked for of y[b, all] by its options: from..to, with zeros behind. */
static lz_tensor *cut(const lz_composite *c, lz_tensor *y, int64_t from, int64_t to)
{
    int64_t all = lz_shape_of(y).dims[1], pad[2] = {0, to > all ? to - all : 0};
    y = SLICE(y, 1, from, to < all ? to : all);
    return pad[1] ? lz_constant_pad_nd_at(y, pad, 2, 0, c->site) : y;
}

static lz_tensor *signals(const lz_composite *c, lz_tensor *x, int64_t n_fft, int64_t hop,
                          lz_tensor *w, const lz_stft_options *o)
{
    lz_shape s = lz_shape_of(x);
    lz_dtype part = lz_dtype_part(lz_dtype_of(x));
    int64_t t = s.dims[s.rank - 1], batch = 1;
    for (int i = 0; i < s.rank - 2; i++)
        batch *= s.dims[i];
    x = lz_transpose_at(RESHAPE(x, LZ_SHAPE(batch, s.dims[s.rank - 2], t)), 1, 2, c->site);
    const lz_fft_options f = {.struct_size = sizeof f,
                              .n = n_fft,
                              .dim = -1,
                              .norm = o->normalized ? "ortho" : "backward"};
    x = o->onesided ? lz_irfft_at(x, &f, c->site) : lz_ifft_at(x, &f, c->site);
    if (!o->onesided && !o->return_complex)
        x = lz_real_at(x, c->site);
    if (!w)
        w = lz_expand_at(lz_hlo_constant_at(part, 1, c->site), LZ_SHAPE(n_fft), c->site);
    x = overlapped(c, MUL(x, w), hop);
    lz_tensor *weight = lz_expand_at(MUL(w, w), LZ_SHAPE(1, t, n_fft), c->site);
    weight = overlapped(c, weight, hop);
    lz_tensor *small = lz_lt_at(weight, NUMBER(weight, 1e-11), c->site);
    weight = WHERE(small, lz_full_at(part, LZ_SCALAR, NAN, c->site), weight);
    int64_t from = o->center ? n_fft / 2 : 0, all = n_fft + hop * (t - 1);
    int64_t to = o->length > 0 ? from + o->length : o->center ? all - n_fft / 2 : all;
    int64_t end = to < all ? to : all;
    x = DIV(SLICE(x, 1, from, end), SLICE(weight, 1, from, end));
    x = cut(c, x, 0, to - from);
    lz_shape r = s;
    r.rank--;
    r.dims[r.rank - 1] = to - from;
    return RESHAPE(x, r);
}

static lz_tensor *istft(const lz_composite *c, lz_tensor *x, int64_t n_fft,
                        const lz_stft_options *o)
{
    char text[160];
    lz_tensor *w;
    int64_t hop;
    if (!lz_composite_in(c, x, "x"))
        return NULL;
    lz_dtype d = lz_dtype_of(x);
    if (!lz_dtype_is_complex(d) || (o->return_complex && o->onesided)) {
        LZ_FAIL(LZ_EDTYPE, "x is %s%s", lz_dtype_name(d),
                lz_dtype_is_complex(d) ? ": complex signals need onesided = false"
                                       : ": it must be complex");
        return NULL;
    }
    if (!frame_of(c, o, n_fft, lz_dtype_part(d), &hop, &w))
        return NULL;
    lz_shape s = lz_shape_of(x);
    int64_t rows = o->onesided ? n_fft / 2 + 1 : n_fft,
            length = o->win_length ? o->win_length : n_fft;
    if (s.rank < 2 || s.dims[s.rank - 2] != rows || s.dims[s.rank - 1] < 1 || lz_numel(x) == 0) {
        LZ_FAIL(LZ_ESHAPE, "x is %s: [.., %" PRId64 " frequencies, frames] are needed",
                lz_composite_shape(x, text), rows);
        return NULL;
    }
    if (hop > length || o->length < 0 || s.dims[s.rank - 1] > INT64_MAX / 4 / hop ||
        o->length > INT64_MAX / 4) {
        LZ_FAIL(LZ_EINVAL,
                "hop_length %" PRId64 ", length %" PRId64 ": hop_length is at most win_length", hop,
                o->length);
        return NULL;
    }
    return signals(c, x, n_fft, hop, w, o);
}

lz_tensor *lz_istft_at(lz_tensor *x, int64_t n_fft, const lz_stft_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_istft");
    lz_stft_options opt = {.struct_size = sizeof opt, LZ_STFT_DEFAULTS};
    lz_tensor *r = lz_composite_options(c, &opt, sizeof opt, o) ? istft(c, x, n_fft, &opt) : NULL;
    return lz_composite_end(c, r);
}
