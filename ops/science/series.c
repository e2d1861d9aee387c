/* series.c - differences, integrals and linear interpolation of sampled functions:
 * include/lazuli/science_ops.h. */
#include "ops/science/science.h"
#include "base/status.h"
#include <inttypes.h>
#include <lazuli/order.h>
#include <lazuli/science_ops.h>
#include <lazuli/window_ops.h>
#include <math.h>

/* ---- differences ---- */

static bool joins(const lz_composite *c, const lz_tensor *part, const lz_tensor *x,
                  const char *what)
{
    char tp[160], tx[160];
    if (!part)
        return true;
    if (!lz_composite_in(c, part, what))
        return false;
    if (lz_rank_of(part) == lz_rank_of(x))
        return true;
    LZ_FAIL(LZ_ESHAPE, "%s is %s, x %s: they have one rank", what, lz_composite_shape(part, tp),
            lz_composite_shape(x, tx));
    return false;
}

/* x with o->prepend and o->append. */
static lz_tensor *joined(const lz_composite *c, lz_tensor *x, const lz_diff_options *o, int64_t dim)
{
    lz_tensor *part[3];
    int n = 0;
    if (!joins(c, o->prepend, x, "prepend") || !joins(c, o->append, x, "append"))
        return NULL;
    if (o->prepend)
        part[n++] = o->prepend;
    part[n++] = x;
    if (o->append)
        part[n++] = o->append;
    return n == 1 ? x : lz_cat_at(part, n, dim, c->site);
}

static lz_tensor *differences(const lz_composite *c, lz_tensor *x, const lz_diff_options *o)
{
    int64_t dim;
    if (!lz_composite_in(c, x, "x"))
        return NULL;
    if (lz_rank_of(x) < 1) {
        LZ_FAIL(LZ_ESHAPE, "x has rank 0: it has no neighbours");
        return NULL;
    }
    if (o->n < 0) {
        LZ_FAIL(LZ_EINVAL, "n is %" PRId64 ": it must not be negative", o->n);
        return NULL;
    }
    if (!lz_composite_dim(o->dim, lz_rank_of(x), &dim))
        return NULL;
    if (o->n == 0)
        return lz_clone_at(x, c->site);
    x = joined(c, x, o, dim);
    if (!x || lz_status_of(x) != LZ_OK)
        return x;
    if (o->n >= lz_shape_of(x).dims[dim])
        return SLICE(x, dim, 0, 0);
    for (int64_t i = 0; i < o->n; i++) {
        int64_t extent = lz_shape_of(x).dims[dim];
        lz_tensor *next = SLICE(x, dim, 1, extent), *this = SLICE(x, dim, 0, extent - 1);
        x = lz_dtype_of(x) == LZ_BOOL ? lz_logical_xor_at(next, this, c->site) : SUB(next, this);
        if (lz_status_of(x) != LZ_OK)
            break;
    }
    return x;
}

lz_tensor *lz_diff_at(lz_tensor *x, const lz_diff_options *o, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_diff");
    lz_diff_options opt = {.struct_size = sizeof opt, LZ_DIFF_DEFAULTS};
    lz_tensor *r = lz_composite_options(c, &opt, sizeof opt, o) ? differences(c, x, &opt) : NULL;
    return lz_composite_end(c, r);
}

/* ---- integrals ---- */

/* The distances of the points along dim, [.., n - 1, ..], broadcast to y's rank; x is wide. */
static lz_tensor *distances(const lz_composite *c, lz_tensor *x, lz_tensor *y, int64_t dim,
                            int64_t n)
{
    char tx[160], ty[160];
    int32_t rank = lz_rank_of(x), back = lz_rank_of(y) - (int32_t)dim;
    if (rank == 1 && lz_numel(x) == n && back > 1) { /* a vector, whichever dimension it is of */
        lz_shape s = {.rank = back, .dims = {n}};
        for (int i = 1; i < back; i++)
            s.dims[i] = 1;
        x = RESHAPE(x, s);
        rank = back;
    }
    int64_t at = rank - back;
    if (at < 0 || at >= rank || lz_shape_of(x).dims[at] != n) {
        LZ_FAIL(LZ_ESHAPE, "x is %s, y %s: it needs %" PRId64 " points along dimension %" PRId64,
                lz_composite_shape(x, tx), lz_composite_shape(y, ty), n, dim);
        return NULL;
    }
    return SUB(SLICE(x, at, 1, n), SLICE(x, at, 0, n - 1));
}

/* The areas between neighbouring points along dim, wide; *rank_dim: dim from the front. */
static lz_tensor *areas(const lz_composite *c, lz_tensor *y, lz_tensor *x, double dx, int64_t dim,
                        int64_t *front)
{
    if (!lz_composite_in(c, y, "y") || (x && !lz_composite_in(c, x, "x")))
        return NULL;
    if (lz_rank_of(y) < 1) {
        LZ_FAIL(LZ_ESHAPE, "y has rank 0: it has no points");
        return NULL;
    }
    if (!lz_composite_dim(dim, lz_rank_of(y), front))
        return NULL;
    int64_t n = lz_shape_of(y).dims[*front];
    y = lz_composite_wide(c, y);
    lz_tensor *d = NULL;
    if (n == 0)
        return y;
    if (x && !(d = distances(c, lz_composite_wide(c, x), y, *front, n)))
        return NULL;
    lz_tensor *sides = ADD(SLICE(y, *front, 1, n), SLICE(y, *front, 0, n - 1));
    return MUL(MUL(sides, d ? d : GIVEN(sides, dx)), NUMBER(sides, 0.5));
}

static lz_dtype dtype_of_both(const lz_tensor *y, const lz_tensor *x)
{
    lz_dtype d = lz_composite_dtype(y);
    return x ? lz_promote(d, lz_composite_dtype(x)) : d;
}

lz_tensor *lz_trapezoid_at(lz_tensor *y, lz_tensor *x, double dx, int64_t dim, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_trapezoid");
    int64_t d;
    lz_tensor *a = areas(c, y, x, dx, dim, &d);
    return lz_composite_end(c,
                            a ? TO(lz_composite_sum(c, a, d, false), dtype_of_both(y, x)) : NULL);
}

lz_tensor *lz_cumulative_trapezoid_at(lz_tensor *y, lz_tensor *x, double dx, int64_t dim,
                                      const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_cumulative_trapezoid");
    int64_t d;
    lz_tensor *a = areas(c, y, x, dx, dim, &d);
    return lz_composite_end(c, a ? TO(lz_cumsum_at(a, d, site), dtype_of_both(y, x)) : NULL);
}

/* ---- interpolation ---- */

typedef struct points { /* wide, ascending */
    lz_tensor *x, *f;
    int64_t n;
} points;

static lz_tensor *end_of(const lz_composite *c, lz_tensor *v, int64_t i)
{
    return lz_select_at(v, 0, i, c->site);
}

static lz_tensor *at(const lz_composite *c, lz_tensor *v, lz_tensor *index)
{
    return lz_take_at(v, index, c->site);
}

/* The points sorted within a period, one more on either side. */
static points wrapped(const lz_composite *c, points p, double period)
{
    lz_tensor *whole = GIVEN(p.x, period), *order;
    p.x = lz_sort_at(lz_remainder_at(p.x, whole, c->site), 0, false, &order, c->site);
    p.f = lz_index_select_at(p.f, 0, order, c->site);
    lz_tensor *x[3] = {SUB(SLICE(p.x, 0, p.n - 1, p.n), whole), p.x,
                       ADD(SLICE(p.x, 0, 0, 1), whole)};
    lz_tensor *f[3] = {SLICE(p.f, 0, p.n - 1, p.n), p.f, SLICE(p.f, 0, 0, 1)};
    return (points){lz_cat_at(x, 3, 0, c->site), lz_cat_at(f, 3, 0, c->site), p.n + 2};
}

static lz_tensor *is_nan(const lz_composite *c, lz_tensor *v)
{
    return lz_ne_at(v, v, c->site);
}

/* NumPy's formula: from the left point, or, where that is NaN (an infinite slope), from the right
 * one, or the value that both have. x is inside. */
static lz_tensor *between(const lz_composite *c, lz_tensor *x, points p)
{
    lz_tensor *i = lz_searchsorted_at(p.x, x, true, c->site);
    i = lz_clamp_at(ADDS(i, -1), 0, (double)(p.n - 2), c->site);
    lz_tensor *next = ADDS(i, 1);
    lz_tensor *x0 = at(c, p.x, i), *x1 = at(c, p.x, next), *f0 = at(c, p.f, i),
              *f1 = at(c, p.f, next);
    lz_tensor *width = SUB(x1, x0), *flat = lz_eq_at(width, NUMBER(width, 0), c->site);
    lz_tensor *slope = DIV(SUB(f1, f0), WHERE(flat, NUMBER(width, 1), width));
    lz_tensor *from0 = ADD(MUL(slope, SUB(x, x0)), f0), *from1 = ADD(MUL(slope, SUB(x, x1)), f1);
    lz_tensor *bad0 = is_nan(c, from0), *same = lz_eq_at(f0, f1, c->site);
    lz_tensor *at0 = lz_logical_and_at(lz_eq_at(x, x0, c->site), bad0, c->site);
    lz_tensor *at1 = lz_eq_at(x, x1, c->site);
    lz_tensor *other = WHERE(lz_logical_and_at(is_nan(c, from1), same, c->site), f0, from1);
    lz_tensor *v = WHERE(at0, f0, WHERE(bad0, other, from0));
    return WHERE(at1, WHERE(is_nan(c, from1), f1, from1), v);
}

static lz_tensor *interpolated(const lz_composite *c, lz_tensor *x, points p,
                               const lz_interp_options *o)
{
    lz_tensor *left = end_of(c, p.f, 0), *right = end_of(c, p.f, p.n - 1);
    lz_tensor *first = end_of(c, p.x, 0), *last = end_of(c, p.x, p.n - 1);
    if (o->left && o->period == 0)
        left = TO(o->left, lz_dtype_of(p.f));
    if (o->right && o->period == 0)
        right = TO(o->right, lz_dtype_of(p.f));
    lz_tensor *below = lz_lt_at(x, first, c->site), *above = lz_gt_at(x, last, c->site);
    lz_tensor *nan = is_nan(c, x), *outside = lz_logical_or_at(below, above, c->site);
    /* what is outside has no part in the formula, so that it has none in its gradient */
    lz_tensor *inside = WHERE(lz_logical_or_at(outside, nan, c->site), first, x);
    lz_tensor *v =
        p.n > 1 ? between(c, inside, p) : lz_expand_at(end_of(c, p.f, 0), lz_shape_of(x), c->site);
    v = WHERE(below, left, WHERE(above, right, v));
    return WHERE(nan, lz_full_at(lz_dtype_of(v), LZ_SCALAR, NAN, c->site), v);
}

static bool points_fit(const lz_composite *c, const lz_tensor *xp, const lz_tensor *fp)
{
    char tx[160], tf[160];
    if (!lz_composite_real(c, xp, "xp") || !lz_composite_in(c, fp, "fp"))
        return false;
    if (lz_rank_of(xp) == 1 && lz_rank_of(fp) == 1 && lz_numel(xp) == lz_numel(fp) &&
        lz_numel(xp) > 0)
        return true;
    LZ_FAIL(LZ_ESHAPE, "xp is %s, fp %s: they are vectors of one length, at least 1",
            lz_composite_shape(xp, tx), lz_composite_shape(fp, tf));
    return false;
}

static bool value_fits(const lz_composite *c, const lz_tensor *v, const lz_tensor *fp,
                       const char *what)
{
    if (!v)
        return true;
    if (!(lz_dtype_is_complex(lz_dtype_of(fp)) ? lz_composite_in(c, v, what)
                                               : lz_composite_real(c, v, what)))
        return false;
    if (lz_rank_of(v) == 0)
        return true;
    LZ_FAIL(LZ_ESHAPE, "%s has rank %d: it is one value", what, (int)lz_rank_of(v));
    return false;
}

static lz_tensor *interp(const lz_composite *c, lz_tensor *x, lz_tensor *xp, lz_tensor *fp,
                         const lz_interp_options *o)
{
    if (!lz_composite_real(c, x, "x") || !points_fit(c, xp, fp) ||
        !value_fits(c, o->left, fp, "left") || !value_fits(c, o->right, fp, "right"))
        return NULL;
    if (!(o->period >= 0) || isinf(o->period)) {
        LZ_FAIL(LZ_EINVAL, "the period is not positive and finite");
        return NULL;
    }
    lz_dtype place = lz_promote(lz_composite_dtype(x), lz_composite_dtype(xp));
    lz_dtype d = lz_promote(place, lz_composite_dtype(fp));
    lz_dtype wide = d == LZ_F16 || d == LZ_BF16 ? LZ_F32 : d;
    lz_dtype real = lz_dtype_is_complex(wide) ? lz_dtype_part(wide) : wide;
    points p = {TO(xp, real), TO(fp, wide), lz_numel(xp)};
    x = TO(x, real);
    if (o->period > 0) {
        p = wrapped(c, p, o->period);
        x = lz_remainder_at(x, GIVEN(x, o->period), c->site);
    }
    return TO(interpolated(c, x, p, o), d);
}

lz_tensor *lz_interp_at(lz_tensor *x, lz_tensor *xp, lz_tensor *fp, const lz_interp_options *o,
                        const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_FORK_TENSOR);
    COMPOSITE("lz_interp");
    lz_interp_options opt = {.struct_size = sizeof opt};
    lz_tensor *r = lz_composite_options(c, &opt, sizeof opt, o) ? interp(c, x, xp, fp, &opt) : NULL;
    return lz_composite_end(c, r);
}
