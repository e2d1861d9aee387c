/* expand_conv_polyphase.c - polyphase decomposition of a convolution with a dilated input (the
 * input gradient of a strided convolution): each residue class of the output positions needs only
 * one residue class of the taps, so each phase is a convolution of the undilated input with some
 * of the taps, and the zeros between elements are never multiplied. 0 times an infinite tap is
 * NaN, so the sum of 0 times the remaining taps is computed once and added to the results of every
 * phase. */
#include "lower/passes/expand_conv.h"
#include <string.h>

enum { MAX_PHASES = 8 };

static bool is_phased(const conv *c, int d)
{
    return c->w[d].base > 1 && c->w[d].base <= MAX_PHASES && c->w[d].stride == 1 &&
           c->w[d].dilation == 1;
}

/* The first such dimension from d on; -1: there is none. */
static int phased(const conv *c, int d)
{
    for (; d < c->ns; d++)
        if (is_phased(c, d))
            return d;
    return -1;
}

bool lz_windows_has_phases(const conv *c)
{
    return c->groups == 1 && !c->long_windows && c->ns + 2 < LZ_MAX_RANK && phased(c, 0) >= 0;
}

/* The first tap of dimension d that belongs to phase p of it. */
static int64_t first_tap(const conv *c, int d, int64_t p)
{
    int64_t b = c->w[d].base;
    return ((c->w[d].low - p) % b + b) % b;
}

static lz_val every(const conv *c, lz_val k, int d, int64_t start, int64_t step)
{
    lz_attr_slice a;
    const lz_shape *s = &lz_val_type(c->f, k)->shape;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_slice;
    a.start_indices.n = s->rank;
    a.limit_indices = lz_ints_make(s->rank, s->dims);
    a.strides.n = s->rank;
    for (int q = 0; q < s->rank; q++)
        a.strides.v[q] = 1;
    a.start_indices.v[d] = start;
    a.strides.v[d] = step;
    return lz_build(c->f, LZ_OP_SLICE, LZ_RECORD(a), &k, 1);
}

static lz_shape canonical_shape(const conv *c)
{
    lz_shape s = {.rank = c->ns + 2};
    s.dims[0] = c->batch;
    for (int d = 0; d < c->ns; d++)
        s.dims[1 + d] = c->count[d];
    s.dims[c->ns + 1] = c->out;
    return s;
}

/* ---- taps of other phases ---- */

/* Phases are numbered with the last dimension running fastest. */
static bool belongs(const conv *c, int64_t phase, const int64_t *tap)
{
    for (int d = c->ns; d-- > 0;) {
        if (!is_phased(c, d))
            continue;
        int64_t b = c->w[d].base;
        if (tap[d] % b != first_tap(c, d, phase % b))
            return false;
        phase /= b;
    }
    return true;
}

/* [phases, window..]: which taps do not belong to a phase. */
static lz_val others_of_phases(const conv *c, int64_t nphase)
{
    lz_shape s = {.rank = 1 + c->ns, .dims = {nphase}};
    int64_t each = 1, tap[LZ_MAX_RANK];
    for (int d = 0; d < c->ns; d++)
        each *= s.dims[1 + d] = c->w[d].size;
    const lz_type *t = lz_type_get(LZ_BOOL, &s);
    lz_literal *l = t ? lz_literal_new(t) : NULL;
    if (!l) {
        c->f->status = lz_error_get()->status;
        return LZ_NOVAL;
    }
    for (int64_t i = 0; i < nphase * each; i++) {
        int64_t at = i % each;
        for (int d = c->ns; d-- > 0; at /= c->w[d].size)
            tap[d] = at % c->w[d].size;
        ((bool *)l->data)[i] = !belongs(c, i / each, tap);
    }
    lz_val v = lz_build_const(c->f, l);
    lz_literal_release(l);
    return v;
}

/* [phases, out]: what taps add to the results of phases that they do not belong to. */
static lz_val zeros_of_phases(const conv *c, lz_val k)
{
    lz_func *f = c->f;
    const lz_type *t = lz_val_type(f, k);
    lz_val none = lz_windows_zero(f, t->dtype);
    lz_ints in = {.n = 1, .v = {c->ns}}, taps = {0}, window = {.n = 1}, behind = {0};
    lz_shape s = {.rank = c->ns + 2, .dims = {1}};
    for (int d = 0; d < c->ns; d++) {
        s.dims[0] *= is_phased(c, d) ? c->w[d].base : 1;
        s.dims[1 + d] = c->w[d].size;
        taps.v[taps.n++] = window.v[window.n++] = behind.v[behind.n++] = 1 + d;
    }
    s.dims[c->ns + 1] = c->out;
    behind.v[behind.n++] = c->ns + 1;
    k = lz_build_ew2(f, LZ_OP_MULTIPLY, lz_build_splat_bits(f, t, 0), k);
    k = lz_build_reduce(f, LZ_OP_ADD, k, none, &in);
    const lz_type *all = lz_type_get(t->dtype, &s);
    lz_val other = others_of_phases(c, s.dims[0]);
    if (!all || k == LZ_NOVAL || other == LZ_NOVAL) {
        f->status = f->status != LZ_OK ? f->status : lz_error_get()->status;
        return LZ_NOVAL;
    }
    k = lz_build_select(f, lz_build_broadcast(f, other, &window, &s),
                        lz_build_broadcast(f, k, &behind, &s), lz_build_splat_bits(f, all, 0));
    return lz_build_convert(f, lz_build_reduce(f, LZ_OP_ADD, k, none, &taps), c->d);
}

/* y, the results of a phase, and what the other taps add to them. */
static lz_val with_zeros(const conv *c, lz_val y)
{
    const lz_ints last = {.n = 1, .v = {c->ns + 1}};
    lz_shape s = canonical_shape(c), row = {.rank = 1, .dims = {c->out}};
    int64_t number = c->phase;
    if (c->zeros == LZ_NOVAL || !c->others || y == LZ_NOVAL)
        return y;
    for (int d = phased(c, 0); d >= 0; d = phased(c, d + 1)) /* of those that are left: any */
        number *= c->w[d].base;
    lz_val z = lz_windows_slice(c->f, c->zeros, 0, number, number + 1, 1);
    z = lz_build_broadcast(c->f, lz_build_reshape(c->f, z, &row), &last, &s);
    return lz_build_ew2(c->f, LZ_OP_ADD, y, z);
}

/* ---- phases ---- */

static lz_val results(const conv *c, lz_val x, lz_val k);

/* Results p, p + base, .. of dimension d: windows of the taps that meet the input, on the input as
 * it is. */
static lz_val phase(const conv *c, int d, int64_t p, lz_val x, lz_val k)
{
    conv one = *c;
    lz_window_axis *w = &one.w[d];
    int64_t b = w->base, first = first_tap(c, d, p);
    int64_t taps = first < w->size ? (w->size - first + b - 1) / b : 0;
    one.count[d] = (c->count[d] + b - 1) / b;
    one.phase = c->phase * b + p;
    one.others = c->others || taps < w->size;
    *w = (lz_window_axis){taps, 1, (w->low - p - first) / b, 0, 1, 1};
    if (taps)
        return results(&one, x, every(c, k, d, first, b));
    lz_shape s = canonical_shape(&one);
    const lz_type *t = lz_type_get(c->d, &s);
    if (!t)
        c->f->status = lz_error_get()->status;
    return t ? with_zeros(&one, lz_build_splat_bits(c->f, t, 0)) : LZ_NOVAL;
}

/* [batch, spatial.., out] */
static lz_val results(const conv *c, lz_val x, lz_val k)
{
    lz_val part[MAX_PHASES];
    int d = phased(c, 0);
    conv whole = *c;
    if (x == LZ_NOVAL || k == LZ_NOVAL)
        return LZ_NOVAL;
    if (d < 0)
        return with_zeros(c, lz_windows_product(c, x, k));
    int64_t b = c->w[d].base;
    whole.count[d] = (c->count[d] + b - 1) / b;
    lz_shape s = canonical_shape(&whole), apart = {.rank = s.rank + 1};
    for (int q = 0; q < apart.rank; q++)
        apart.dims[q] = q == d + 2 ? 1 : s.dims[q - (q > d + 2)];
    for (int64_t p = 0; p < b; p++)
        part[p] = lz_build_reshape(c->f, phase(c, d, p, x, k), &apart);
    lz_attr_dim along = {.kind = LZ_ATTR_dim, .dimension = d + 2};
    lz_val y = lz_build(c->f, LZ_OP_CONCATENATE, LZ_RECORD(along), part, (uint32_t)b);
    s.dims[1 + d] *= b;
    return lz_windows_slice(c->f, lz_build_reshape(c->f, y, &s), 1 + d, 0, c->count[d], 1);
}

lz_val lz_windows_phases(const conv *c, lz_val x, lz_val k)
{
    conv whole = *c;
    bool nan = lz_dtype_is_float(c->d) || lz_dtype_is_complex(c->d);
    whole.phase = 0;
    whole.others = false;
    whole.zeros = nan && k != LZ_NOVAL ? zeros_of_phases(c, k) : LZ_NOVAL;
    return results(&whole, x, k);
}
