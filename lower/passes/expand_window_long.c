/* expand_window_long.c - pass `expand_windows`: windows that share many elements. See
 * expand_window.c. They are reduced dimension by dimension, the last one first, so that the
 * elements of a window keep their order: the sum of the windows' sizes, not their product. Along a
 * dimension, long windows are those of van Herk, Gil and Werman: in blocks of one element less than
 * a window has, a window is a suffix of one block and then a prefix of the next as long as that is
 * not. So an element is combined three times, whatever the size. Nothing is ever subtracted: what
 * is not finite reaches no window but its own.
 * Padding, holes and initial values are used many times here, so they are made identities: that of
 * the region's op, or a flag beside the values that says whether there is one. */
#include "lower/passes/expand_window.h"
#include <string.h>

/* Windows of up to SHORT elements to each step are reduced one by one. */
enum { SHORT = 16, MOST = 7 };

typedef struct slide {
    lz_func *f;
    uint32_t n;
    const lz_func *body;
    lz_val none[LZ_MAX_RANK]; /* the identity */
    bool scans;
} slide;

/* Windows that an element is in. */
static int64_t shared(const lz_window_axis *w)
{
    return (w->size - 1) / w->stride + 1;
}

bool lz_windows_are_long(const lz_window_axis *w, int rank)
{
    int64_t n = 1;
    for (int d = 0; d < rank; d++)
        n = n > SHORT ? n : n * shared(&w[d]);
    return n > SHORT;
}

/* ---- one dimension ---- */

/* x of shape [outer, n, inner] with identities behind, `n` in all. */
static lz_val extended(const slide *c, lz_val x, uint32_t k, int64_t n)
{
    if (c->f->status != LZ_OK)
        return LZ_NOVAL;
    return lz_windows_extend(c->f, x, c->none[k], 0, n - lz_val_type(c->f, x)->shape.dims[1]);
}

/* Windows of `size` neighbours along the middle dimension of x, [outer, n, inner], at each place
 * that has one. */
static void suffix_and_prefix(const slide *c, lz_val *x, int64_t size)
{
    lz_func *f = c->f;
    lz_shape s = lz_val_type(f, x[0])->shape;
    int64_t block = size - 1, places = s.dims[1] - block, nb = (places + block - 1) / block;
    lz_shape four = lz_shape_make(4, (int64_t[]){s.dims[0], nb + 1, block, s.dims[2]}),
             three = lz_shape_make(3, (int64_t[]){s.dims[0], nb * block, s.dims[2]});
    lz_val left[MOST], right[MOST], both[2 * MOST];
    for (uint32_t k = 0; k < c->n; k++) {
        lz_val y = lz_build_reshape(f, extended(c, x[k], k, (nb + 1) * block), &four);
        left[k] = lz_windows_slice(f, y, 1, 0, nb, 1);
        right[k] = lz_windows_slice(f, y, 1, 1, nb + 1, 1);
    }
    if (f->status == LZ_OK)
        lz_windows_scan(f, c->n, left, c->none, 2, true, c->body, c->scans, left);
    if (f->status == LZ_OK)
        lz_windows_scan(f, c->n, right, c->none, 2, false, c->body, c->scans, right);
    for (uint32_t k = 0; k < c->n && f->status == LZ_OK; k++) {
        both[k] = lz_windows_slice(f, lz_build_reshape(f, left[k], &three), 1, 0, places, 1);
        both[c->n + k] =
            lz_windows_slice(f, lz_build_reshape(f, right[k], &three), 1, 0, places, 1);
    }
    three.dims[1] = places;
    if (f->status == LZ_OK)
        lz_windows_inline(f, c->body, both, &three, x);
}

/* Dimension d of x, which has room for `count` windows w and no padding. */
static void along(const slide *c, lz_val *x, int d, const lz_window_axis *w, int64_t count)
{
    lz_func *f = c->f;
    lz_shape s = lz_val_type(f, x[0])->shape, flat = lz_shape_make(3, (int64_t[]){1, 1, 1});
    int64_t by = w->dilation, n = s.dims[d];
    for (int k = 0; k < s.rank; k++)
        flat.dims[k < d ? 0 : k > d ? 2 : 1] *= s.dims[k];
    lz_shape apart = flat; /* elements of a window are neighbours */
    apart.dims[1] = (n + by - 1) / by;
    apart.dims[2] *= by;
    for (uint32_t k = 0; k < c->n; k++) {
        x[k] = lz_build_reshape(f, x[k], &flat);
        x[k] = lz_build_reshape(f, extended(c, x[k], k, apart.dims[1] * by), &apart);
    }
    if (f->status == LZ_OK)
        suffix_and_prefix(c, x, w->size);
    flat.dims[1] = (apart.dims[1] - w->size + 1) * by;
    s.dims[d] = count;
    for (uint32_t k = 0; k < c->n && f->status == LZ_OK; k++)
        x[k] = lz_build_reshape(f,
                                lz_windows_slice(f, lz_build_reshape(f, x[k], &flat), 1, 0,
                                                 (count - 1) * w->stride + 1, w->stride),
                                &s);
}

static void one_by_one(const slide *c, lz_val *x, int d, const lz_window_axis *w)
{
    lz_window_axis all[LZ_MAX_RANK];
    for (int k = 0; k < LZ_MAX_RANK; k++)
        all[k] = (lz_window_axis){1, 1, 0, 0, 1, 1};
    all[d] = *w;
    lz_windows_fold(c->f, c->n, x, c->none, all, c->body, x);
}

/* ---- identities ---- */

/* Every window, once padding and holes are identities. */
static void by_dimensions(const slide *c, lz_val *x, const lz_window_axis *w, int rank)
{
    for (int d = rank; d-- > 0 && c->f->status == LZ_OK;) {
        int64_t count;
        lz_window_axis one = w[d];
        lz_window_count(&one, lz_val_type(c->f, x[0])->shape.dims[d], &count);
        if (lz_window_is_plain(&one))
            continue;
        if (shared(&one) <= SHORT) {
            one_by_one(c, x, d, &one);
            continue;
        }
        lz_window_axis pad[LZ_MAX_RANK];
        int64_t counts[LZ_MAX_RANK];
        for (int k = 0; k < rank; k++) {
            pad[k] = k == d ? one : (lz_window_axis){1, 1, 0, 0, 1, 1};
            counts[k] = k == d ? count : lz_val_type(c->f, x[0])->shape.dims[k];
        }
        for (uint32_t k = 0; k < c->n; k++)
            x[k] = lz_windows_pad(c->f, x[k], c->none[k], pad, counts);
        if (c->f->status == LZ_OK)
            along(c, x, d, &one, count);
    }
}

/* One op that has an identity. What pads is an element, unless it is neutral. */
static void slide_op(lz_func *f, lz_op op, lz_val x, lz_val init, lz_window_axis *w, bool scans,
                     uint64_t id, lz_val *out)
{
    lz_dtype d = lz_val_type(f, x)->dtype, acc = lz_acc_dtype(d);
    lz_shape scalar = LZ_SCALAR, s = lz_val_type(f, x)->shape;
    const lz_type *t = lz_type_get(acc, &scalar);
    slide c = {.f = f, .n = 1, .body = lz_region_binary(op, acc), .scans = scans};
    if (!t || !c.body) {
        f->status = lz_error_get()->status;
        return;
    }
    bool neutral = lz_val_is_neutral(f, op, init);
    c.none[0] = neutral ? lz_build_convert(f, init, acc) : lz_build_splat_bits(f, t, id);
    lz_val y = lz_build_convert(f, x, acc), own = lz_build_convert(f, init, acc);
    if (!neutral) {
        int64_t count[LZ_MAX_RANK];
        for (int k = 0; k < s.rank; k++)
            lz_window_count(&w[k], s.dims[k], &count[k]);
        y = lz_windows_pad(f, y, own, w, count);
        for (int k = 0; k < s.rank; k++)
            w[k].low = w[k].high = 0, w[k].base = 1;
    }
    if (f->status == LZ_OK)
        by_dimensions(&c, &y, w, s.rank);
    if (f->status == LZ_OK && !neutral)
        y = lz_build_ew2(f, op, lz_windows_spread(f, own, &lz_val_type(f, y)->shape), y);
    *out = lz_build_convert(f, y, d);
}

/* Any region: initial values are combined in at the end. */
static void slide_region(lz_func *f, uint32_t n, const lz_val *x, const lz_val *init,
                         const lz_window_axis *w, const lz_func *body, bool scans, lz_val *out)
{
    slide c = {.f = f, .n = n + 1, .body = lz_region_of_present(body), .scans = scans};
    lz_shape s = lz_val_type(f, x[0])->shape;
    lz_val y[MOST], both[2 * MOST], made[MOST];
    if (!c.body) {
        f->status = lz_error_get()->status;
        return;
    }
    memcpy(y, x, n * sizeof *x);
    memcpy(c.none, init, n * sizeof *init);
    y[n] = lz_windows_spread(f, lz_build_scalar_i64(f, LZ_BOOL, 1), &s);
    c.none[n] = lz_build_scalar_i64(f, LZ_BOOL, 0);
    if (f->status == LZ_OK)
        by_dimensions(&c, y, w, s.rank);
    if (f->status != LZ_OK)
        return;
    s = lz_val_type(f, y[0])->shape;
    for (uint32_t k = 0; k < n; k++) {
        both[k] = lz_windows_spread(f, init[k], &s);
        both[n + k] = y[k];
    }
    if (!lz_windows_inline(f, body, both, &s, made))
        return;
    for (uint32_t k = 0; k < n; k++)
        out[k] = lz_build_select(f, y[n], made[k], both[k]);
}

bool lz_windows_slide(lz_func *f, uint32_t n, const lz_val *x, const lz_val *init,
                      const lz_window_axis *w, const lz_func *body, bool scans, lz_val *out)
{
    int rank = lz_val_type(f, x[0])->shape.rank;
    lz_op op = n == 1 ? lz_region_as_binary(body) : LZ_OP_NONE;
    lz_dtype acc = lz_acc_dtype(lz_val_type(f, x[0])->dtype);
    lz_window_axis own[LZ_MAX_RANK];
    uint64_t id;
    memcpy(own, w, (size_t)rank * sizeof *own);
    if (op != LZ_OP_NONE && lz_identity_bits(op, acc, &id))
        slide_op(f, op, x[0], init[0], own, scans, id, out);
    else if (n + 1 > MOST)
        return false;
    else
        slide_region(f, n, x, init, own, body, scans, out);
    return true;
}
