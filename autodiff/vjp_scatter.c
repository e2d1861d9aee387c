/* vjp_scatter.c - gradients of scatters with arbitrary regions and possibly repeated indices, and
 * of select_and_scatter with arbitrary regions. The updates of one element are applied one after
 * the other: sorted by element, in their order, they are a segmented scan, which starts anew at
 * each element with its previous value. Memory: some numbers per update. */
#include "autodiff/vjp_region.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/window.h"
#include <lazuli/control.h>
#include <lazuli/ops.h>
#include <lazuli/order.h>
#include <lazuli/shape_ops.h>
#include <lazuli/tensor.h>
#include <lazuli/tensor_ops.h>

#define TYPE(i) (v->sig->opnd[i])

static lz_tensor *flat(const lz_vjp *v, lz_tensor *x)
{
    return lz_hlo_reshape_at(x, LZ_SHAPE(lz_numel(x)), v->site);
}

static lz_tensor *pick(const lz_vjp *v, lz_tensor *x, lz_tensor *at)
{
    return lz_index_select_at(x, 0, at, v->site);
}

static lz_tensor *plus(const lz_vjp *v, lz_tensor *x, int64_t n)
{
    lz_shape s = lz_shape_of(x);
    const lz_type *t = lz_type_get(LZ_I64, &s);
    return t ? lz_v2(v, "add", x, lz_v_const_like(v, t, (double)n)) : NULL;
}

/* x[m], and one more before (or after) it. */
static lz_tensor *shifted(const lz_vjp *v, lz_tensor *x, int64_t m, bool before)
{
    lz_tensor *none = lz_full_at(LZ_I64, LZ_SHAPE(1), -1, v->site);
    lz_tensor *rest = lz_slice_at(x, 0, before ? 0 : 1, before ? m - 1 : m, 1, v->site);
    lz_tensor *both[2] = {before ? none : rest, before ? rest : none};
    return lz_cat_at(both, 2, 0, v->site);
}

/* ---- updates one after the other ---- */

typedef struct step {
    const lz_vjp *v;
    const lz_func *f;
    lz_status status;
} step;

/* carry: the element so far; x: whether a segment begins, the previous element, the updates. */
static void combine(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next, lz_tensor **y,
                    void *user)
{
    step *s = user;
    uint32_t n = s->f->nresult;
    lz_tensor **in = lz_calloc(2 * (size_t)n, sizeof *in);
    if (!in) {
        s->status = LZ_FAIL(LZ_EMEM, "no memory for a scatter");
        return;
    }
    for (uint32_t k = 0; k < n; k++) {
        in[k] = lz_v3(s->v, "select", x[0], x[1 + k], carry[k]);
        in[n + k] = x[1 + n + k];
    }
    s->status = lz_v_apply(s->v, s->f, in, y);
    for (uint32_t k = 0; k < n; k++)
        next[k] = y[k];
    lz_free(in);
}

/* Products need no iterations: the segments, ys before, multiplied by doubling steps. begins is
 * true where a segment begins. Nothing is divided, so derivatives are right where factors are 0. */
static lz_tensor *segment_products(const lz_vjp *v, lz_tensor *begins, lz_tensor *y)
{
    int64_t m = lz_numel(y);
    for (int64_t reach = 1; reach < m; reach *= 2) {
        lz_shape gap = LZ_SHAPE(reach);
        lz_tensor *one = lz_v_const_like(v, lz_type_get(lz_dtype_of(y), &gap), 1),
                  *yes = lz_v_const_like(v, lz_type_get(LZ_BOOL, &gap), 1);
        lz_tensor *factor[2] = {one, lz_slice_at(y, 0, 0, m - reach, 1, v->site)},
                  *began[2] = {yes, lz_slice_at(begins, 0, 0, m - reach, 1, v->site)};
        lz_tensor *more = lz_v2(v, "multiply", y, lz_cat_at(factor, 2, 0, v->site));
        y = lz_v3(v, "select", begins, y, more);
        begins = lz_v2(v, "or", begins, lz_cat_at(began, 2, 0, v->site));
    }
    return y;
}

/* The updates one after the other; xs: as `combine` takes them. */
static lz_status segment_scan(const lz_vjp *v, const lz_func *f, lz_tensor **init, lz_tensor **xs,
                              lz_tensor **last, lz_tensor **ys)
{
    uint32_t n = f->nresult;
    step s = {v, f, LZ_OK};
    if (n == 1 && lz_region_as_binary(f) == LZ_OP_MULTIPLY) {
        lz_tensor *first = lz_v2(v, "multiply", xs[1], xs[2]);
        ys[0] = segment_products(v, xs[0], lz_v3(v, "select", xs[0], first, xs[2]));
        return lz_status_of(ys[0]);
    }
    LZ_TRY(lz_scan_at(init, (int)n, xs, (int)(2 * n + 1), (int)n, combine, &s, last, ys, NULL,
                      v->site));
    return s.status;
}

/* x[k], flat, after the updates u[k], flat; target: of each, the number of its element from 1 on,
 * or 0. room: 5 f->nresult + 1. */
static lz_status in_order(const lz_vjp *v, const lz_func *f, lz_tensor *const *x, lz_tensor *target,
                          lz_tensor *const *u, lz_tensor **room, lz_tensor **out)
{
    uint32_t n = f->nresult;
    int64_t m = lz_numel(target), extent = lz_numel(x[0]);
    lz_tensor **init = room, **xs = init + n, **last = xs + 2 * n + 1, **ys = last + n;
    lz_tensor *order = lz_argsort_at(target, 0, false, v->site), *t = pick(v, target, order);
    lz_tensor *begins = lz_hlo_compare_at(LZ_HLO_NE, t, shifted(v, t, m, true), v->site);
    lz_tensor *ends = lz_hlo_compare_at(LZ_HLO_NE, t, shifted(v, t, m, false), v->site);
    lz_shape all = LZ_SHAPE(m);
    lz_tensor *zero = lz_v_zeros(v, lz_type_get(LZ_I64, &all));
    ends = lz_v2(v, "and", ends, lz_hlo_compare_at(LZ_HLO_GT, t, zero, v->site));
    lz_tensor *at = plus(v, t, -1);
    xs[0] = begins;
    for (uint32_t k = 0; k < n; k++) {
        init[k] = lz_zeros_at(lz_dtype_of(x[k]), LZ_SHAPE(), v->site);
        xs[1 + k] = pick(v, x[k], lz_v2(v, "maximum", at, zero));
        xs[1 + n + k] = pick(v, u[k], order);
    }
    LZ_TRY(segment_scan(v, f, init, xs, last, ys));
    /* the result of a segment is at its last update; updates out of bounds have none */
    lz_tensor *to = lz_v3(v, "select", ends, at, plus(v, lz_v_numbers(v, LZ_SHAPE(m)), extent));
    const lz_scatter_dims d = {
        .ninserted = 1, .nmap = 1, .index_vector_dim = 1, .unique_indices = true};
    for (uint32_t k = 0; k < n; k++)
        out[k] = lz_hlo_scatter_at("assign", x[k], to, ys[k], &d, v->site);
    return LZ_OK;
}

lz_status lz_v_scatter_in_order(const lz_vjp *v, const lz_func *f, lz_tensor *const *x,
                                lz_tensor *target, lz_tensor *const *u, lz_tensor **out)
{
    uint32_t n = f->nresult;
    lz_shape shape = lz_shape_of(x[0]);
    lz_tensor **room = lz_calloc(7 * (size_t)n + 1, sizeof *room), **fx = room + 5 * n + 1,
              **fu = fx + n;
    if (!room)
        return LZ_FAIL(LZ_EMEM, "no memory for a scatter");
    for (uint32_t k = 0; k < n; k++) {
        fx[k] = flat(v, x[k]);
        fu[k] = flat(v, u[k]);
        out[k] = x[k];
    }
    lz_status s = LZ_OK;
    if (lz_numel(target) > 0 && lz_numel(x[0]) > 0)
        s = in_order(v, f, fx, flat(v, target), fu, room, out);
    for (uint32_t k = 0; k < n && s == LZ_OK; k++)
        out[k] = lz_hlo_reshape_at(out[k], shape, v->site);
    lz_free(room);
    return s;
}

/* ---- select_and_scatter ---- */

typedef struct windows {
    const lz_vjp *v;
    const lz_attr_select_and_scatter *a;
    lz_window_axis w[LZ_MAX_RANK];
    int64_t size, count; /* elements of a window; windows */
    lz_status status;
} windows;

/* carry: whether an element has been selected, its value and number; x: the next element, whether
 * it exists, its number. */
static void choose(lz_tensor *const *carry, lz_tensor *const *x, lz_tensor **next, lz_tensor **y,
                   void *user)
{
    windows *s = user;
    const lz_vjp *v = s->v;
    lz_tensor *in[2] = {carry[1], x[0]}, *keeps = NULL;
    (void)y;
    s->status = lz_v_apply(v, s->a->select, in, &keeps);
    lz_tensor *stays = lz_v2(v, "and", carry[0], keeps),
              *take = lz_v2(v, "and", x[1], lz_v1(v, "not", stays));
    next[0] = lz_v2(v, "or", carry[0], x[1]);
    next[1] = lz_v3(v, "select", take, x[0], carry[1]);
    next[2] = lz_v3(v, "select", take, x[2], carry[2]);
}

/* The elements of all windows of x, padded with `with`: [size, count]. */
static lz_tensor *elements(windows *s, lz_tensor *x, lz_tensor *with, lz_tensor *positions)
{
    const lz_vjp *v = s->v;
    int64_t low[LZ_MAX_RANK], high[LZ_MAX_RANK];
    int rank = TYPE(0)->shape.rank;
    for (int d = 0; d < rank; d++) {
        low[d] = s->w[d].low;
        high[d] = s->w[d].high;
    }
    x = rank ? lz_hlo_pad_at(x, with, low, high, NULL, rank, v->site) : x;
    x = lz_hlo_reshape_at(pick(v, flat(v, x), positions), LZ_SHAPE(s->count, s->size), v->site);
    return lz_hlo_transpose_at(x, (const int64_t[]){1, 0}, 2, v->site);
}

/* For each window, the number of the element that `select` chooses, from 1 on, or 0. */
static lz_tensor *chosen(windows *s)
{
    const lz_vjp *v = s->v;
    const lz_type *t = TYPE(0);
    lz_shape padded = t->shape, all = LZ_SHAPE(s->count * s->size);
    for (int d = 0; d < t->shape.rank; d++)
        padded.dims[d] += s->w[d].low + s->w[d].high;
    const lz_type *at = lz_type_get(LZ_I64, &all), *pred = lz_type_get(LZ_BOOL, &t->shape);
    if (!at || !pred)
        return NULL;
    lz_tensor *places = lz_v_window_places(v, s->w, &TYPE(1)->shape, &padded, at);
    lz_tensor *number = lz_v_numbers(v, t->shape);
    lz_tensor *no = lz_hlo_constant_at(LZ_BOOL, 0, v->site);
    lz_tensor *xs[3] = {elements(s, v->opnd[0], lz_hlo_constant_at(t->dtype, 0, v->site), places),
                        elements(s, lz_v_const_like(v, pred, 1), no, places),
                        elements(s, number, lz_hlo_constant_at(LZ_I64, 0, v->site), places)};
    lz_tensor *init[3] = {lz_full_at(LZ_BOOL, LZ_SHAPE(s->count), 0, v->site),
                          lz_zeros_at(t->dtype, LZ_SHAPE(s->count), v->site),
                          lz_full_at(LZ_I64, LZ_SHAPE(s->count), -1, v->site)},
              *out[3];
    if (lz_scan_at(init, 3, xs, 3, 0, choose, s, out, NULL, NULL, v->site) != LZ_OK ||
        s->status != LZ_OK)
        return NULL;
    return plus(v, out[2], 1);
}

lz_status lz_v_select_any(const lz_vjp *v, lz_tensor **out)
{
    windows s = {.v = v, .a = LZ_ATTR(select_and_scatter, v->sig->attr)};
    const lz_shape *x = &TYPE(0)->shape;
    s.count = TYPE(1)->nelem;
    for (int d = 0; d < x->rank; d++)
        s.w[d] = lz_window_of_select(s.a, d);
    s.size = lz_v_window_elements(s.w, x->rank);
    lz_tensor *init =
        x->rank ? lz_hlo_broadcast_in_dim_at(v->opnd[2], *x, NULL, 0, v->site) : v->opnd[2];
    out[0] = init;
    if (s.count == 0 || TYPE(0)->nelem == 0)
        return LZ_OK;
    lz_tensor *target = chosen(&s);
    if (!target)
        return s.status != LZ_OK ? s.status : lz_error_get()->status;
    return lz_v_scatter_in_order(v, s.a->scatter, &init, target, &v->opnd[1], out);
}
