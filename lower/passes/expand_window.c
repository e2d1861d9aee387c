/* expand_window.c - pass `expand_windows`: window ops become views, reductions and dots.
 * Does:      reduce_window (this file): the padded operand is viewed as all its windows
 *   (`window_view`, which copies nothing) and reduced over each. Cumulative sums are prefix scans
 *   (expand_window_scan.c), long windows are made of prefixes (expand_window_long.c);
 *   select_and_scatter: expand_window_select.c; convolution: expand_conv.c; reductions that keep
 *   the order of elements: expand_reduce_order.c.
 * Needs:     nothing.
 * Recreates: nothing.
 * Breaks:    expand (it leaves scatter-adds), simplify, fold.
 * Cost:      O(instructions).   Off: never: no later stage implements windows. */
#include "lower/passes/expand_window.h"
#include "lower/passes.h"
#include <string.h>

/* A shorter dimension is reduced window by window; where there are scans, and else. */
enum { SCAN_FROM = 16, BLOCKS_FROM = 48 };

/* ---- building ---- */

lz_val lz_windows_spread(lz_func *f, lz_val scalar, const lz_shape *s)
{
    const lz_ints none = {0};
    return s->rank == 0 ? scalar : lz_build_broadcast(f, scalar, &none, s);
}

static lz_val slice(lz_func *f, lz_val x, const int64_t *start, const int64_t *limit,
                    const int64_t *stride)
{
    lz_attr_slice a;
    if (x == LZ_NOVAL)
        return x;
    const lz_shape *s = &lz_val_type(f, x)->shape;
    bool whole = true;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_slice;
    a.start_indices = lz_ints_make(s->rank, start);
    a.limit_indices = lz_ints_make(s->rank, limit);
    a.strides = lz_ints_make(s->rank, stride);
    for (int d = 0; d < s->rank; d++)
        whole = whole && start[d] == 0 && limit[d] == s->dims[d] && stride[d] == 1;
    return whole ? x : lz_build(f, LZ_OP_SLICE, LZ_RECORD(a), &x, 1);
}

lz_val lz_windows_slice(lz_func *f, lz_val x, int d, int64_t from, int64_t to, int64_t stride)
{
    int64_t start[LZ_MAX_RANK] = {0}, limit[LZ_MAX_RANK], by[LZ_MAX_RANK];
    if (x == LZ_NOVAL)
        return x;
    const lz_shape *s = &lz_val_type(f, x)->shape;
    for (int k = 0; k < s->rank; k++) {
        limit[k] = s->dims[k];
        by[k] = 1;
    }
    start[d] = from;
    limit[d] = to;
    by[d] = stride;
    return slice(f, x, start, limit, by);
}

lz_val lz_windows_pad(lz_func *f, lz_val x, lz_val value, const lz_window_axis *w,
                      const int64_t *count)
{
    lz_attr_pad a;
    bool any = false;
    if (x == LZ_NOVAL || value == LZ_NOVAL)
        return LZ_NOVAL;
    const lz_shape *s = &lz_val_type(f, x)->shape;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_pad;
    a.edge_padding_low.n = a.edge_padding_high.n = a.interior_padding.n = s->rank;
    for (int d = 0; d < s->rank; d++) {
        int64_t have, reach; /* neither overflows: the shape rule has computed both */
        lz_window_reach(s->dims[d], w[d].base, &have);
        lz_window_reach(w[d].size, w[d].dilation, &reach);
        int64_t need = (count[d] - 1) * w[d].stride + reach;
        a.edge_padding_low.v[d] = w[d].low;
        a.edge_padding_high.v[d] = need - have - w[d].low;
        a.interior_padding.v[d] = s->dims[d] > 1 ? w[d].base - 1 : 0;
        any |= w[d].low != 0 || need != have + w[d].low || a.interior_padding.v[d] != 0;
    }
    lz_val o[2] = {x, value};
    return any ? lz_build(f, LZ_OP_PAD, LZ_RECORD(a), o, 2) : x;
}

lz_val lz_windows_view(lz_func *f, lz_val x, const lz_window_axis *w, const int64_t *count)
{
    int64_t start[LZ_MAX_RANK] = {0}, limit[LZ_MAX_RANK], stride[LZ_MAX_RANK];
    lz_attr_window_view a;
    if (x == LZ_NOVAL)
        return x;
    const lz_shape *s = &lz_val_type(f, x)->shape;
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_window_view;
    for (int d = 0; d < s->rank; d++) {
        limit[d] = s->dims[d];
        stride[d] = 1;
        if (w[d].size == 1) { /* windows of one element are a choice of elements */
            limit[d] = count[d] ? (count[d] - 1) * w[d].stride + 1 : 0;
            stride[d] = w[d].stride;
            continue;
        }
        int n = a.dimensions.n++;
        a.dimensions.v[n] = d;
        a.sizes.v[n] = w[d].size;
        a.strides.v[n] = w[d].stride;
        a.dilations.v[n] = w[d].dilation;
    }
    a.sizes.n = a.strides.n = a.dilations.n = a.dimensions.n;
    x = slice(f, x, start, limit, stride);
    return a.dimensions.n ? lz_build(f, LZ_OP_WINDOW_VIEW, LZ_RECORD(a), &x, 1) : x;
}

/* ---- regions on arrays ---- */

static lz_val inline_inst(lz_func *f, const lz_func *r, uint32_t i, const lz_val *val,
                          const lz_shape *s)
{
    const lz_inst *in = &r->insts[i];
    const lz_op_info *info = lz_op_get(in->sig->op);
    lz_val o[3] = {LZ_NOVAL, LZ_NOVAL, LZ_NOVAL};
    if (in->lit)
        return lz_windows_spread(f, lz_build_const(f, in->lit), s);
    for (uint32_t k = 0; k < in->sig->nopnd && k < 3; k++)
        o[k] = val[in->opnd[k]];
    if (lz_sig_is_scalar(in->sig))
        return lz_build(f, in->sig->op, in->sig->attr, o, in->sig->nopnd);
    if (info->cls == LZ_CLASS_MOVE && in->sig->nopnd == 1 && in->sig->result[0]->nelem == 1 &&
        in->sig->opnd[0]->nelem == 1 && in->sig->result[0]->dtype == in->sig->opnd[0]->dtype)
        return o[0];
    f->status = LZ_FAIL(LZ_EUNSUPPORTED, "%s: not supported inside a region of a window operation",
                        info->text);
    return LZ_NOVAL;
}

bool lz_windows_inline(lz_func *f, const lz_func *r, const lz_val *args, const lz_shape *s,
                       lz_val *out)
{
    lz_val *val = lz_calloc((size_t)r->ninst + 1, sizeof *val);
    if (!val) {
        f->status = LZ_FAIL(LZ_EMEM, "out of memory");
        return false;
    }
    for (uint32_t i = 0; i < r->ninst && f->status == LZ_OK; i++)
        val[i] = i < r->nparam ? args[i] : inline_inst(f, r, i, val, s);
    for (uint32_t k = 0; k < r->nresult; k++)
        out[k] = val[r->results[k]];
    lz_free(val);
    return f->status == LZ_OK;
}

/* ---- reduce_window ---- */

static int walked(const lz_window_axis *w, int rank)
{
    int n = 0;
    for (int d = 0; d < rank; d++)
        n += w[d].size > 1;
    return n;
}

void lz_windows_merge(const lz_shape *s, const lz_window_axis *w, lz_shape *to, lz_window_axis *tw)
{
    *to = (lz_shape){0};
    for (int d = 0; d < s->rank; d++) {
        if (to->rank && lz_window_is_plain(&w[d]) && lz_window_is_plain(&tw[to->rank - 1])) {
            to->dims[to->rank - 1] *= s->dims[d];
            continue;
        }
        tw[to->rank] = w[d];
        to->dims[to->rank++] = s->dims[d];
    }
}

/* Element `at` of the windows of x along the dimensions from `from` to `to`, which are then walked:
 * strided slices. */
static lz_val element(lz_func *f, lz_val x, int from, int to, const lz_window_axis *w,
                      const int64_t *count, const int64_t *at)
{
    int64_t start[LZ_MAX_RANK] = {0}, limit[LZ_MAX_RANK], stride[LZ_MAX_RANK];
    if (f->status != LZ_OK)
        return LZ_NOVAL;
    const lz_shape *s = &lz_val_type(f, x)->shape;
    for (int e = 0; e < s->rank; e++) {
        limit[e] = s->dims[e];
        stride[e] = 1;
    }
    for (int d = from; d < to; d++) {
        start[d] = at[d] * w[d].dilation;
        limit[d] = start[d] + (count[d] - 1) * w[d].stride + 1;
        stride[d] = w[d].stride;
    }
    return slice(f, x, start, limit, stride);
}

/* Windows along dimensions `from` to `to` of n padded values, element by element, combined in
 * row-major order, behind init where it is given. */
static void unroll(lz_func *f, uint32_t n, lz_val *x, int from, int to, lz_window_axis *w,
                   const int64_t *count, const lz_val *init, const lz_func *body)
{
    lz_val args[2 * LZ_MAX_RANK];
    int64_t at[LZ_MAX_RANK] = {0};
    int d = to - 1;
    for (bool first = true; d >= from && f->status == LZ_OK; first = false) {
        for (uint32_t k = 0; k < n; k++)
            args[n + k] = element(f, x[k], from, to, w, count, at);
        for (uint32_t k = 0; k < n && first && f->status == LZ_OK; k++)
            args[k] = init ? lz_windows_spread(f, init[k], &lz_val_type(f, args[n + k])->shape)
                           : args[n + k];
        if ((!first || init) && f->status == LZ_OK)
            lz_windows_inline(f, body, args, &lz_val_type(f, args[0])->shape, args);
        for (d = to - 1; d >= from && ++at[d] == w[d].size; d--)
            at[d] = 0;
    }
    memcpy(x, args, n * sizeof *x);
    for (d = from; d < to; d++)
        w[d] = (lz_window_axis){1, 1, 0, 0, 1, 1};
}

/* Dimensions for the elements of windows, as far as the rank allows; the shortest windows give
 * way. */
static void make_room(lz_func *f, uint32_t n, lz_val *x, int rank, lz_window_axis *w,
                      const int64_t *count, const lz_func *body)
{
    while (rank + walked(w, rank) > LZ_MAX_RANK && f->status == LZ_OK) {
        int best = -1;
        for (int d = 0; d < rank; d++)
            if (w[d].size > 1 && (best < 0 || w[d].size < w[best].size))
                best = d;
        unroll(f, n, x, best, best + 1, w, count, NULL, body);
    }
}

enum { UNROLLED = 64 }; /* elements of a window in order */

/* Windows of padded values whose region does not commute. o: values, then initial values; the
 * former become the results. */
static void fold_in_order(lz_func *f, uint32_t n, lz_val *o, int rank, lz_window_axis *w,
                          const int64_t *count, const lz_func *body, bool associates)
{
    int64_t all = 1;
    int first = rank, last = 0;
    for (int d = rank - 1; d >= 0; d--) {
        all = w[d].size > UNROLLED || all > UNROLLED ? UNROLLED + 1 : all * w[d].size;
        first = w[d].size > 1 ? d : first;
        last = w[d].size > 1 && d > last ? d : last;
    }
    if (all <= UNROLLED && first < rank) {
        if (associates) /* rows of windows by themselves: fewer steps */
            for (; last > first && f->status == LZ_OK; last--)
                if (w[last].size > 1)
                    unroll(f, n, o, last, last + 1, w, count, NULL, body);
        if (f->status == LZ_OK)
            unroll(f, n, o, first, last + 1, w, count, o + n, body);
        return;
    }
    lz_ints dims = {.n = walked(w, rank)};
    lz_val y[LZ_MAX_RANK];
    for (int k = 0; k < dims.n; k++)
        dims.v[k] = rank + k;
    for (uint32_t k = 0; k < n; k++)
        o[k] = lz_windows_view(f, o[k], w, count);
    if (f->status == LZ_OK)
        lz_windows_in_order(f, n, o, o + n, &dims, body, associates, y);
    if (f->status == LZ_OK)
        memcpy(o, y, n * sizeof *o);
}

void lz_windows_fold(lz_func *f, uint32_t n, const lz_val *x, const lz_val *init,
                     const lz_window_axis *windows, const lz_func *body, lz_val *out)
{
    lz_reduce_order order;
    lz_status s = lz_reduce_order_of(body, &order);
    if (s != LZ_OK && f->status == LZ_OK)
        f->status = s;
    lz_windows_fold_as(f, n, x, init, windows, body, &order, out);
}

void lz_windows_fold_as(lz_func *f, uint32_t n, const lz_val *x, const lz_val *init,
                        const lz_window_axis *windows, const lz_func *body,
                        const lz_reduce_order *order, lz_val *out)
{
    if (f->status != LZ_OK) { /* then x may be no value */
        for (uint32_t k = 0; k < n; k++)
            out[k] = LZ_NOVAL;
        return;
    }
    lz_shape s = lz_val_type(f, x[0])->shape, r = s, m;
    lz_val o[2 * LZ_MAX_RANK];
    lz_window_axis w[LZ_MAX_RANK];
    int64_t count[LZ_MAX_RANK];
    lz_attr_reduce a;
    bool merge = s.rank + walked(windows, s.rank) > LZ_MAX_RANK;
    for (int d = 0; d < s.rank; d++)
        lz_window_count(&windows[d], s.dims[d], &r.dims[d]);
    memcpy(w, windows, (size_t)s.rank * sizeof *w);
    if (merge)
        lz_windows_merge(&s, windows, &m, w);
    const lz_shape *base = merge ? &m : &s;
    for (int d = 0; d < base->rank; d++)
        lz_window_count(&w[d], base->dims[d], &count[d]);
    for (uint32_t k = 0; k < n; k++) {
        o[k] = lz_windows_pad(f, lz_build_reshape(f, x[k], base), init[k], w, count);
        o[n + k] = init[k];
    }
    make_room(f, n, o, base->rank, w, count, body);
    if (f->status == LZ_OK && !order->commutes) {
        fold_in_order(f, n, o, base->rank, w, count, body, order->associates);
        for (uint32_t k = 0; k < n; k++)
            out[k] = f->status == LZ_OK ? lz_build_reshape(f, o[k], &r) : LZ_NOVAL;
        return;
    }
    for (uint32_t k = 0; k < n; k++)
        o[k] = lz_windows_view(f, o[k], w, count);
    memset(&a, 0, sizeof a);
    a.kind = LZ_ATTR_reduce;
    a.body = body;
    a.dimensions.n = walked(w, base->rank);
    for (int k = 0; k < a.dimensions.n; k++)
        a.dimensions.v[k] = base->rank + k;
    lz_val v = lz_build(f, LZ_OP_REDUCE, LZ_RECORD(a), o, 2 * n);
    for (uint32_t k = 0; k < n; k++)
        out[k] = lz_build_reshape(f, lz_build_result(f, v, k), &r);
}

bool lz_windows_all_scalar(const lz_func *r)
{
    for (uint32_t i = r->nparam; i < r->ninst; i++)
        if (!r->insts[i].lit && lz_op_get(lz_inst_op(&r->insts[i]))->cls != LZ_CLASS_EW)
            return false;
    return true;
}

/* x and init, of n values, are changed. */
static void reduce(lz_func *f, const lz_attr_reduce_window *a, const lz_func *own, uint32_t n,
                   lz_val *x, lz_val *init, bool scans, lz_val *out)
{
    lz_shape s = lz_val_type(f, x[0])->shape;
    lz_window_axis w[LZ_MAX_RANK];
    bool suffix;
    for (int d = 0; d < s.rank; d++)
        w[d] = lz_window_of_reduce(a, d);
    lz_op op = n == 1 ? lz_region_as_binary(own) : LZ_OP_NONE;
    bool free_init = lz_val_is_neutral(f, op, init[0]), scalar = lz_windows_all_scalar(own);
    int d = lz_window_prefixes(a, &s, &suffix);
    /* what pads is an element, and a prefix has many of them: they must change nothing */
    if (d >= 0 && s.dims[d] >= (scans ? SCAN_FROM : BLOCKS_FROM) && scalar &&
        (free_init || op == LZ_OP_NONE)) {
        lz_windows_scan(f, n, x, init, d, suffix, own, scans, out);
        return;
    }
    if (scalar && lz_windows_are_long(w, s.rank) &&
        lz_windows_slide(f, n, x, init, w, own, scans, out))
        return;
    /* 16-bit floats stay wide when part of a window is combined outside of the reduction */
    lz_dtype t = lz_val_type(f, x[0])->dtype, acc = lz_acc_dtype(t);
    bool wide = op != LZ_OP_NONE && acc != t && s.rank + walked(w, s.rank) > LZ_MAX_RANK;
    const lz_func *body = wide ? lz_region_binary(op, acc) : own;
    if (!body) {
        f->status = lz_error_get()->status;
        return;
    }
    if (wide) {
        x[0] = lz_build_convert(f, x[0], acc);
        init[0] = lz_build_convert(f, init[0], acc);
    }
    lz_windows_fold(f, n, x, init, w, body, out);
    if (wide)
        out[0] = lz_build_convert(f, out[0], t);
}

enum { MOST = 7 }; /* values that one loop reduces (lz_red) */

/* The values that value k of a fold is made of, ascending: at most MOST, else 0. dep: of the body's
 * parameters, `words` of bits for each value of it. */
static uint32_t made_of(const lz_func *body, const uint64_t *dep, size_t words, uint32_t n,
                        uint32_t k, uint32_t which[MOST])
{
    uint32_t count = 1;
    which[0] = k;
    for (uint32_t at = 0; at < count; at++) { /* those that it needs need others */
        const uint64_t *bits = dep + body->results[which[at]] * words;
        for (uint32_t p = 0; p < 2 * n; p++) {
            uint32_t c = p % n, i = 0;
            while (i < count && which[i] != c)
                i++;
            if (!(bits[p / 64] >> p % 64 & 1) || i < count)
                continue;
            if (count == MOST)
                return 0;
            which[count++] = c;
        }
    }
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t j = i; j > 0 && which[j] < which[j - 1]; j--) {
            uint32_t c = which[j];
            which[j] = which[j - 1];
            which[j - 1] = c;
        }
    return count;
}

/* More values than one loop takes: several, each of what some of the results are made of. */
static lz_status reduce_in_groups(lz_func *f, const lz_attr_reduce_window *a, uint32_t n,
                                  const lz_val *x, const lz_val *init, bool scans, lz_val *out)
{
    size_t words = (2 * (size_t)n + 63) / 64;
    uint64_t *dep = lz_rw_dependence(a->body, 0, 2 * n);
    lz_status s = dep ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for a region of %u results", n);
    for (uint32_t k = 0; k < n && s == LZ_OK; k++) {
        uint32_t c[MOST], both[2 * MOST];
        lz_val px[MOST], pinit[MOST], made[MOST];
        if (out[k] != LZ_NOVAL)
            continue;
        uint32_t m = made_of(a->body, dep, words, n, k, c);
        for (uint32_t i = 0; i < m; i++) {
            both[i] = c[i];
            both[m + i] = n + c[i];
            px[i] = x[c[i]];
            pinit[i] = init[c[i]];
        }
        const lz_func *body = m ? lz_rw_region(a->body, both, 2 * m, c, m) : NULL;
        if (!body) {
            s = m ? lz_error_get()->status
                  : LZ_FAIL(LZ_EUNSUPPORTED,
                            "reduce_window: result %u is made of more than %d of %u values", k,
                            MOST, n);
            break;
        }
        reduce(f, a, body, m, px, pinit, scans, made);
        for (uint32_t i = 0; i < m; i++)
            out[c[i]] = made[i];
        s = f->status;
    }
    lz_free(dep);
    return s;
}

void lz_windows_reduce(lz_rw *rw, uint32_t i, bool scans, lz_val *out)
{
    lz_func *f = rw->out;
    const lz_sig *sig = rw->in->insts[i].sig;
    const lz_attr_reduce_window *a = LZ_ATTR(reduce_window, sig->attr);
    uint32_t n = sig->nresult;
    lz_val *x = lz_calloc(2 * (size_t)n, sizeof *x), *init = x + n;
    if (!x) {
        f->status = LZ_FAIL(LZ_EMEM, "no memory for a window of %u values", n);
        return;
    }
    for (uint32_t k = 0; k < n; k++) {
        x[k] = lz_rw_opnd(rw, i, k);
        init[k] = lz_rw_opnd(rw, i, n + k);
        out[k] = sig->result[k]->nelem ? LZ_NOVAL : lz_build_splat_bits(f, sig->result[k], 0);
    }
    if (sig->result[0]->nelem && n <= MOST) {
        reduce(f, a, a->body, n, x, init, scans, out);
    } else if (sig->result[0]->nelem) {
        lz_status s = reduce_in_groups(f, a, n, x, init, scans, out);
        f->status = f->status == LZ_OK ? s : f->status;
    }
    lz_free(x);
}

/* ---- the pass ---- */

typedef struct made {
    lz_val *v; /* results of a reduce_window, or of a reduction that wants an order, in the arena of
                  the function; NULL: of neither */
    bool ordered;
    lz_reduce_order order;
} made;

typedef struct expansion {
    made *all; /* by instruction */
    bool scans;
} expansion;

static bool make_room_for(lz_rw *rw, const lz_inst *in, made *m)
{
    m->v = lz_arena_alloc(&rw->out->arena, in->sig->nresult * sizeof *m->v);
    if (!m->v)
        rw->out->status = LZ_FAIL(LZ_EMEM, "no memory for %u results", in->sig->nresult);
    for (uint32_t k = 0; k < in->sig->nresult && m->v; k++)
        m->v[k] = LZ_NOVAL;
    return m->v != NULL;
}

static lz_val windows(lz_rw *rw, uint32_t i, void *user)
{
    const expansion *p = user;
    made *all = p->all;
    const lz_inst *in = &rw->in->insts[i];
    switch (in->sig->attr->kind) {
    case LZ_ATTR_reduce:
        if (!all[i].ordered || !make_room_for(rw, in, &all[i]))
            return LZ_NOVAL;
        lz_windows_order_reduce(rw, i, &all[i].order, all[i].v);
        return all[i].v[0];
    case LZ_ATTR_reduce_window:
        if (!make_room_for(rw, in, &all[i]))
            return LZ_NOVAL;
        lz_windows_reduce(rw, i, p->scans, all[i].v);
        return all[i].v[0];
    case LZ_ATTR_select_and_scatter:
        return lz_windows_select(rw, i, p->scans);
    case LZ_ATTR_convolution:
        return lz_windows_conv(rw, i);
    case LZ_ATTR_index:
        return all[in->opnd[0]].v ? all[in->opnd[0]].v[LZ_ATTR(index, in->sig->attr)->index]
                                  : LZ_NOVAL;
    default:
        return LZ_NOVAL;
    }
}

lz_status lz_pass_expand_windows(const lz_func *in, const lz_lower_options *o, lz_func **out)
{
    bool any = false;
    lz_status s = LZ_OK;
    made *all = lz_calloc((size_t)in->ninst + 1, sizeof *all);
    *out = NULL;
    if (!all)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t i = 0; i < in->ninst && s == LZ_OK; i++) {
        all[i].ordered = lz_windows_wants_order(&in->insts[i], &all[i].order, &s);
        any |= all[i].ordered || lz_op_get(lz_inst_op(&in->insts[i]))->cls == LZ_CLASS_WINDOW;
    }
    expansion e = {all, o && o->prefix_scans};
    if (s == LZ_OK && any)
        s = lz_rw_run(in, windows, &e, out);
    lz_free(all);
    return s;
}
