/* layout.c - pass `layout`: layout assignment. Convolutions want NHWC and programs say NCHW, so
 * each ends in a transpose and the next begins with its inverse. This pass assigns one layout per
 * connected group of layout-agnostic ops and removes the pairs.
 * Does:      unites values that elementwise ops, movement along dimensions, repeats, transposes
 *   and pools connect into groups (union-find). Dots and windows prefer a layout for operands and
 *   results; arguments, results and reshapes that cut across dimensions require the default one. A
 *   group takes the layout that most bytes of its members prefer. Transposes remain where groups
 *   with different layouts unite, and around groups that do not pay.
 * Needs:     simplify (transposes composed).   Recreates: nothing.   Breaks: simplify.
 * Invariant: the layout follows from shapes and operations alone; no element changes, and only
 *   sums may change their order.
 * Cost:      O(instructions x rank).   Off: LAZULI_PASSES_OFF=layout */
#include "lower/passes.h"
#include "lower/passes/repeat.h"
#include "lower/passes/rewrite.h"
#include <string.h>

#define RECORD(a) ((const lz_attr *)(const void *)&(a))

enum { MAX_CANDIDATES = 6, MAX_REDUCED = 32 };

/* A layout: v[j] is the dimension at position j, outermost first. */
typedef struct order {
    int n;
    int8_t v[LZ_MAX_RANK];
} order;

typedef struct group {
    uint32_t ncandidate;
    bool moved;   /* some member is a transpose of another */
    bool product; /* some preference is a dot's */
    bool active;  /* the group gets the layout `best` */
    order best, candidate[MAX_CANDIDATES];
    double weight[MAX_CANDIDATES]; /* bytes that prefer the candidate */
} group;

typedef struct layout {
    const lz_func *f;
    lz_rw *rw;
    /* per value: */
    lz_val *up;      /* union-find parent; itself: the root of a group */
    order *dims;     /* dimension d is dimension dims[d] of `up` */
    uint32_t *index; /* of a root: its group */
    lz_val *now;     /* the new value */
    order *laid_out; /* its layout: position j is dimension laid_out[j] of the old value */
    group *groups;
    uint32_t ngroup;
    bool *walked; /* operands of dots */
    bool *looked; /* window views that no dot reads, and elementwise functions of them */
} layout;

/* ---- orders ---- */

static order identity(int n)
{
    order o = {.n = n};
    for (int d = 0; d < n; d++)
        o.v[d] = (int8_t)d;
    return o;
}

static bool is_identity(const order *o)
{
    for (int d = 0; d < o->n; d++)
        if (o->v[d] != d)
            return false;
    return true;
}

static bool same_order(const order *a, const order *b)
{
    return a->n == b->n && memcmp(a->v, b->v, (size_t)a->n) == 0;
}

static order inverse(const order *o)
{
    order r = {.n = o->n};
    for (int d = 0; d < o->n; d++)
        r.v[o->v[d]] = (int8_t)d;
    return r;
}

static lz_ints permuted(const lz_ints *x, const order *o)
{
    lz_ints r = {.n = x->n};
    for (int d = 0; d < o->n && d < x->n; d++)
        r.v[d] = x->v[o->v[d]];
    return r;
}

static lz_shape permuted_shape(const lz_shape *s, const order *o)
{
    lz_shape r = *s;
    for (int d = 0; d < o->n; d++)
        r.dims[d] = s->dims[o->v[d]];
    return r;
}

/* ---- groups ---- */

static int rank_of(const layout *l, lz_val v)
{
    return lz_val_type(l->f, v)->shape.rank;
}

/* The root of v's group; o: the root's dimension of each dimension of v. */
static lz_val find(layout *l, lz_val v, order *o)
{
    *o = identity(rank_of(l, v));
    while (l->up[v] != v) {
        lz_val next = l->up[v];
        if (l->up[next] != next) { /* past the next one, for the next time */
            for (int d = 0; d < o->n; d++)
                l->dims[v].v[d] = l->dims[next].v[l->dims[v].v[d]];
            l->up[v] = l->up[next];
        }
        for (int d = 0; d < o->n; d++)
            o->v[d] = l->dims[v].v[o->v[d]];
        v = l->up[v];
    }
    return v;
}

/* Unites the groups of a and b; dimension d of a corresponds to dimension p[d] of b. */
static void unite(layout *l, lz_val a, lz_val b, const order *p)
{
    order oa, ob;
    if (rank_of(l, a) < 2 || rank_of(l, a) != rank_of(l, b))
        return;
    lz_val ra = find(l, a, &oa), rb = find(l, b, &ob);
    if (ra == rb) /* a value and a transpose of itself: one of them is transposed */
        return;
    l->up[ra] = rb;
    l->dims[ra].n = oa.n;
    for (int d = 0; d < oa.n; d++)
        l->dims[ra].v[oa.v[d]] = ob.v[p->v[d]];
}

/* The number of leading operands whose dimensions correspond to the result's one by one. */
static uint32_t united_operands(const lz_inst *in)
{
    switch (in->sig->attr->kind) {
    case LZ_ATTR_perm:
    case LZ_ATTR_pad:
    case LZ_ATTR_slice:
    case LZ_ATTR_dims: /* reversed */
        return 1;
    case LZ_ATTR_dim: /* joined */
        return in->sig->nopnd;
    default:
        return lz_op_get(in->sig->op)->cls == LZ_CLASS_EW ? in->sig->nopnd : 0;
    }
}

/* The operand of a pool, whose dimensions correspond to the result's; LZ_NOVAL: no pool. */
static lz_val pooled(const layout *l, uint32_t i)
{
    const lz_inst *r = &l->f->insts[i];
    if (r->sig->attr->kind == LZ_ATTR_index)
        r = &l->f->insts[r->opnd[0]];
    if (r->sig->attr->kind != LZ_ATTR_reduce)
        return LZ_NOVAL;
    const lz_inst *view = &l->f->insts[r->opnd[0]];
    const lz_ints *dims = &LZ_ATTR(reduce, r->sig->attr)->dimensions;
    if (view->sig->attr->kind != LZ_ATTR_window_view || dims->n == 0)
        return LZ_NOVAL;
    int rank = rank_of(l, view->opnd[0]); /* the windows' elements are the dimensions after these */
    bool all = rank + dims->n == rank_of(l, r->opnd[0]);
    for (int d = 0; d < dims->n; d++)
        all = all && dims->v[d] >= rank;
    return all ? view->opnd[0] : LZ_NOVAL;
}

static void make_groups(layout *l)
{
    const lz_func *f = l->f;
    for (uint32_t i = f->nparam; i < f->ninst; i++) {
        const lz_inst *in = &f->insts[i];
        order o = identity(rank_of(l, i));
        lz_ints times;
        lz_val x = pooled(l, i), once = lz_repeated(f, i, &times);
        if (x != LZ_NOVAL)
            unite(l, i, x, &o);
        if (once != LZ_NOVAL)
            unite(l, i, once, &o);
        if (in->sig->attr->kind == LZ_ATTR_perm)
            for (int d = 0; d < o.n; d++)
                o.v[d] = (int8_t)LZ_ATTR(perm, in->sig->attr)->permutation.v[d];
        for (uint32_t k = 0, n = united_operands(in); k < n; k++)
            unite(l, i, in->opnd[k], &o);
    }
}

/* ---- preferences ---- */

/* Adds what v prefers: its present layout. */
static void prefer(layout *l, lz_val v, double factor, bool product)
{
    order o;
    if (rank_of(l, v) < 2)
        return;
    group *g = &l->groups[l->index[find(l, v, &o)]];
    double bytes = factor * (double)lz_val_type(l->f, v)->nbytes;
    g->product |= product;
    uint32_t k = 0;
    while (k < g->ncandidate && !same_order(&g->candidate[k], &o))
        k++;
    if (k == MAX_CANDIDATES)
        return;
    if (k == g->ncandidate) {
        g->candidate[g->ncandidate] = o;
        g->weight[g->ncandidate++] = 0;
    }
    g->weight[k] += bytes;
}

/* A strided access costs more than a GEMM loses by a worse layout. */
static const double FIXED = 4, PRODUCT = 2;

/* The dimensions of a reshape fall into blocks of equal size on both sides. x0[b], y0[b]: where
 * block b begins; gives how many blocks. */
static int blocks(const lz_shape *x, const lz_shape *y, int *x0, int *y0)
{
    int i = 0, j = 0, n = 0;
    while (i < x->rank || j < y->rank) {
        x0[n] = i;
        y0[n++] = j;
        int64_t p = i < x->rank ? x->dims[i++] : 1, q = j < y->rank ? y->dims[j++] : 1;
        while (p != q) {
            if (p < q && i < x->rank)
                p *= x->dims[i++];
            else if (q < p && j < y->rank)
                q *= y->dims[j++];
            else
                return 0; /* empty */
        }
    }
    x0[n] = x->rank;
    y0[n] = y->rank;
    return n;
}

static bool has_block_of_many(const lz_shape *s, const int *at, int n)
{
    for (int b = 0; b < n; b++) {
        int many = 0;
        for (int d = at[b]; d < at[b + 1]; d++)
            many += s->dims[d] != 1;
        if (many > 1)
            return true;
    }
    return n == 0;
}

static void prefer_reshape(layout *l, uint32_t i)
{
    lz_ints times;
    if (lz_repeated(l->f, i, &times) != LZ_NOVAL)
        return;
    const lz_sig *sig = l->f->insts[i].sig;
    int x0[LZ_MAX_RANK * 2 + 1], y0[LZ_MAX_RANK * 2 + 1];
    const lz_shape *x = &sig->opnd[0]->shape, *y = &sig->result[0]->shape;
    int n = blocks(x, y, x0, y0);
    if (has_block_of_many(x, x0, n))
        prefer(l, l->f->insts[i].opnd[0], FIXED, false);
    if (has_block_of_many(y, y0, n))
        prefer(l, i, FIXED, false);
}

/* Reductions, broadcasts and windows work in any layout. */
static bool follows(const lz_inst *in)
{
    lz_attr_kind k = in->sig->attr->kind;
    return k == LZ_ATTR_broadcast || k == LZ_ATTR_iota || k == LZ_ATTR_index || in->lit ||
           k == LZ_ATTR_reduce || united_operands(in) > 0;
}

/* A window view that a dot reads. */
static void prefer_windows(layout *l, uint32_t i)
{
    if (l->walked[i])
        prefer(l, l->f->insts[i].opnd[0], PRODUCT, true);
}

static void prefer_inst(layout *l, uint32_t i)
{
    const lz_inst *in = &l->f->insts[i];
    lz_op_class cls = lz_op_get(in->sig->op)->cls;
    if (in->sig->attr->kind == LZ_ATTR_window_view) {
        prefer_windows(l, i);
    } else if (in->sig->attr->kind == LZ_ATTR_shape) {
        prefer_reshape(l, i);
    } else if (!follows(in)) {
        bool plain = cls == LZ_CLASS_DOT || in->sig->op == LZ_OP_OPTIMIZATION_BARRIER;
        if (cls == LZ_CLASS_DOT)
            plain = LZ_ATTR(dot, in->sig->attr)->lhs_batching_dimensions.n == 0;
        double w = plain ? PRODUCT : FIXED;
        for (uint32_t k = 0; k < in->sig->nopnd; k++)
            prefer(l, in->opnd[k], w, plain);
        prefer(l, i, w, plain);
    }
}

static void find_preferences(layout *l)
{
    const lz_func *f = l->f;
    for (uint32_t i = 0; i < f->ninst; i++) {
        const lz_inst *in = &f->insts[i];
        if (lz_op_get(in->sig->op)->cls == LZ_CLASS_DOT)
            l->walked[in->opnd[0]] = l->walked[in->opnd[1]] = true;
    }
    for (uint32_t i = 0; i < f->ninst; i++)
        if (i < f->nparam)
            prefer(l, i, FIXED, false);
        else
            prefer_inst(l, i);
    for (uint32_t k = 0; k < f->nresult; k++)
        prefer(l, f->results[k], FIXED, false);
}

/* A group's layout: the candidate with the most weight; the first of equal ones. */
static bool decide(layout *l)
{
    bool any = false;
    order o;
    for (uint32_t i = l->f->nparam; i < l->f->ninst; i++)
        if (l->f->insts[i].sig->attr->kind == LZ_ATTR_perm && rank_of(l, i) >= 2)
            l->groups[l->index[find(l, i, &o)]].moved = true;
    for (uint32_t n = 0; n < l->ngroup; n++) {
        group *g = &l->groups[n];
        uint32_t best = 0;
        for (uint32_t k = 1; k < g->ncandidate; k++)
            if (g->weight[k] > g->weight[best])
                best = k;
        g->active = g->moved && g->product && g->ncandidate;
        if (g->active)
            g->best = g->candidate[best];
        any |= g->active;
    }
    return any;
}

/* ---- rewriting ---- */

/* The layout v gets: its group's, else the default. */
static order wanted(layout *l, lz_val v)
{
    order o, r = identity(rank_of(l, v));
    if (r.n < 2)
        return r;
    const group *g = &l->groups[l->index[find(l, v, &o)]];
    if (!g->active)
        return r;
    order back = inverse(&o); /* v's dimension by the root's */
    for (int d = 0; d < r.n; d++)
        r.v[d] = back.v[g->best.v[d]];
    return r;
}

/* x, laid out as `from`, transposed to `to`. */
static lz_val transposed(layout *l, lz_val x, const order *from, const order *to)
{
    order at = inverse(from);
    lz_ints perm = {.n = to->n};
    for (int d = 0; d < to->n; d++)
        perm.v[d] = at.v[to->v[d]];
    return same_order(from, to) ? x : lz_build_transpose(l->rw->out, x, &perm);
}

static lz_val fetch(layout *l, lz_val v, const order *o)
{
    return transposed(l, l->now[v], &l->laid_out[v], o);
}

static lz_val fetch_plain(layout *l, lz_val v)
{
    order o = identity(rank_of(l, v));
    return fetch(l, v, &o);
}

static lz_val done(layout *l, uint32_t i, lz_val v, const order *o)
{
    order plain = identity(o->n);
    l->now[i] = v;
    l->laid_out[i] = *o;
    if (v == LZ_NOVAL)
        return v;
    return is_identity(o) ? v : transposed(l, v, o, &plain);
}

static lz_val elementwise(layout *l, uint32_t i, const order *o)
{
    const lz_inst *in = &l->f->insts[i];
    lz_val x[8];
    for (uint32_t k = 0; k < in->sig->nopnd; k++)
        x[k] = rank_of(l, in->opnd[k]) == o->n ? fetch(l, in->opnd[k], o)
                                               : fetch_plain(l, in->opnd[k]);
    return lz_build(l->rw->out, in->sig->op, in->sig->attr, x, in->sig->nopnd);
}

/* The layout of an elementwise function of windows: theirs, if its group has none. */
static order as_windows(layout *l, uint32_t i)
{
    const lz_inst *in = &l->f->insts[i];
    order o = wanted(l, i), g;
    if (o.n < 2)
        return o;
    for (uint32_t k = 0; k < in->sig->nopnd; k++) {
        lz_val x = in->opnd[k];
        if (!l->looked[x] || rank_of(l, x) != o.n)
            continue;
        l->looked[i] = true;
        return l->groups[l->index[find(l, i, &g)]].active ? o : l->laid_out[x];
    }
    return o;
}

static int64_t place(const order *o, int64_t dim)
{
    int64_t at = 0;
    while (o->v[at] != dim)
        at++;
    return at;
}

static lz_val concatenate(layout *l, uint32_t i, const order *o)
{
    const lz_inst *in = &l->f->insts[i];
    uint32_t n = in->sig->nopnd;
    lz_attr_dim a = *LZ_ATTR(dim, in->sig->attr);
    lz_val *x = lz_calloc(n, sizeof *x), v = LZ_NOVAL;
    a.dimension = place(o, a.dimension);
    if (!x) {
        l->rw->out->status = LZ_FAIL(LZ_EMEM, "out of memory");
        return v;
    }
    for (uint32_t k = 0; k < n; k++)
        x[k] = fetch(l, in->opnd[k], o);
    v = lz_build(l->rw->out, LZ_OP_CONCATENATE, RECORD(a), x, n);
    lz_free(x);
    return v;
}

static lz_val pad(layout *l, uint32_t i, const order *o)
{
    const lz_inst *in = &l->f->insts[i];
    lz_attr_pad a = *LZ_ATTR(pad, in->sig->attr);
    a.edge_padding_low = permuted(&a.edge_padding_low, o);
    a.edge_padding_high = permuted(&a.edge_padding_high, o);
    a.interior_padding = permuted(&a.interior_padding, o);
    lz_val x[2] = {fetch(l, in->opnd[0], o), fetch_plain(l, in->opnd[1])};
    return lz_build(l->rw->out, LZ_OP_PAD, RECORD(a), x, 2);
}

static lz_val slice(layout *l, uint32_t i, const order *o)
{
    const lz_inst *in = &l->f->insts[i];
    lz_attr_slice a = *LZ_ATTR(slice, in->sig->attr);
    a.start_indices = permuted(&a.start_indices, o);
    a.limit_indices = permuted(&a.limit_indices, o);
    a.strides = permuted(&a.strides, o);
    lz_val x = fetch(l, in->opnd[0], o);
    return lz_build(l->rw->out, LZ_OP_SLICE, RECORD(a), &x, 1);
}

static lz_val reverse(layout *l, uint32_t i, const order *o)
{
    const lz_inst *in = &l->f->insts[i];
    lz_attr_dims a = *LZ_ATTR(dims, in->sig->attr);
    for (int d = 0; d < a.dimensions.n; d++)
        a.dimensions.v[d] = place(o, a.dimensions.v[d]);
    for (int d = 1; d < a.dimensions.n; d++)
        for (int e = d; e > 0 && a.dimensions.v[e] < a.dimensions.v[e - 1]; e--) {
            int64_t t = a.dimensions.v[e];
            a.dimensions.v[e] = a.dimensions.v[e - 1];
            a.dimensions.v[e - 1] = t;
        }
    lz_val x = fetch(l, in->opnd[0], o);
    return lz_build(l->rw->out, LZ_OP_REVERSE, RECORD(a), &x, 1);
}

static lz_val broadcast(layout *l, uint32_t i, const order *o)
{
    const lz_inst *in = &l->f->insts[i];
    const lz_ints *dims = &LZ_ATTR(broadcast, in->sig->attr)->broadcast_dimensions;
    lz_shape s = permuted_shape(&in->sig->result[0]->shape, o);
    /* the operand's dimensions in the order of the result's, so that nothing is transposed below */
    order x = identity(dims->n);
    lz_ints to = {.n = dims->n};
    for (int d = 0; d < dims->n; d++)
        for (int e = d; e > 0 && place(o, dims->v[x.v[e]]) < place(o, dims->v[x.v[e - 1]]); e--) {
            int8_t t = x.v[e];
            x.v[e] = x.v[e - 1];
            x.v[e - 1] = t;
        }
    for (int d = 0; d < dims->n; d++)
        to.v[d] = place(o, dims->v[x.v[d]]);
    return lz_build_broadcast(l->rw->out, fetch(l, in->opnd[0], &x), &to, &s);
}

static lz_val iota(layout *l, uint32_t i, const order *o)
{
    const lz_attr_iota *a = LZ_ATTR(iota, l->f->insts[i].sig->attr);
    lz_shape s = permuted_shape(&a->shape, o);
    const lz_type *t = lz_type_get(a->dtype, &s);
    if (!t)
        l->rw->out->status = lz_error_get()->status;
    return t ? lz_build_iota(l->rw->out, t, place(o, a->iota_dimension)) : LZ_NOVAL;
}

/* All operands take the layout of the first; the result's follows from it. */
static lz_val reduce(layout *l, uint32_t i, order *o)
{
    const lz_inst *in = &l->f->insts[i];
    uint32_t n = in->sig->nopnd / 2;
    const order *x = &l->laid_out[in->opnd[0]];
    lz_attr_reduce a = *LZ_ATTR(reduce, in->sig->attr);
    lz_val v[MAX_REDUCED];
    int8_t kept[LZ_MAX_RANK];
    int m = 0;
    for (int d = 0; d < x->n; d++)
        kept[d] = lz_ints_has(&a.dimensions, d) ? -1 : (int8_t)m++;
    *o = (order){.n = 0};
    int k = 0;
    lz_ints dims = {0};
    for (int d = 0; d < x->n; d++)
        if (kept[x->v[d]] >= 0)
            o->v[o->n++] = kept[x->v[d]];
        else
            dims.v[k++] = d;
    dims.n = k;
    a.dimensions = dims;
    for (uint32_t q = 0; q < n; q++) {
        v[q] = fetch(l, in->opnd[q], x);
        v[n + q] = fetch_plain(l, in->opnd[n + q]);
    }
    return lz_build(l->rw->out, LZ_OP_REDUCE, RECORD(a), v, 2 * n);
}

/* The window dimensions stay last, whatever the layout of the operand. */
static lz_val window_view(layout *l, uint32_t i, order *o)
{
    const lz_inst *in = &l->f->insts[i];
    order x = l->laid_out[in->opnd[0]];
    lz_attr_window_view a = *LZ_ATTR(window_view, in->sig->attr);
    for (int d = 0; d < a.dimensions.n; d++)
        a.dimensions.v[d] = place(&x, a.dimensions.v[d]);
    for (int d = 1; d < a.dimensions.n; d++)
        if (a.dimensions.v[d] < a.dimensions.v[d - 1]) { /* dimensions of a view are in order */
            x = identity(x.n);
            a = *LZ_ATTR(window_view, in->sig->attr);
        }
    *o = identity(rank_of(l, i));
    memcpy(o->v, x.v, (size_t)x.n);
    lz_val v = fetch(l, in->opnd[0], &x);
    return lz_build(l->rw->out, LZ_OP_WINDOW_VIEW, RECORD(a), &v, 1);
}

/* Implicit GEMM reads windows of an operand in the default layout. */
static lz_val walked_view(layout *l, uint32_t i)
{
    const lz_inst *in = &l->f->insts[i];
    lz_val x = fetch_plain(l, in->opnd[0]);
    if (!is_identity(&l->laid_out[in->opnd[0]]))
        x = lz_build(l->rw->out, LZ_OP_OPTIMIZATION_BARRIER, NULL, &x, 1);
    return lz_build(l->rw->out, LZ_OP_WINDOW_VIEW, in->sig->attr, &x, 1);
}

/* Permutes a reshape's blocks of dimensions; false: a block would not stay contiguous. */
static bool reshape(layout *l, uint32_t i, lz_val *v, order *o)
{
    const lz_inst *in = &l->f->insts[i];
    const lz_shape *xs = &in->sig->opnd[0]->shape, *ys = &in->sig->result[0]->shape;
    const order *x = &l->laid_out[in->opnd[0]];
    int x0[LZ_MAX_RANK * 2 + 1], y0[LZ_MAX_RANK * 2 + 1], n = blocks(xs, ys, x0, y0);
    if (n == 0)
        return false;
    *o = (order){.n = 0};
    for (int d = 0; d < x->n;) {
        int b = 0;
        while (x->v[d] >= x0[b + 1])
            b++;
        for (int e = x0[b]; e < x0[b + 1]; e++)
            if (d >= x->n || x->v[d++] != e)
                return false;
        for (int e = y0[b]; e < y0[b + 1]; e++)
            o->v[o->n++] = (int8_t)e;
    }
    for (int b = 0; b < n; b++) /* blocks of ones on the result's side alone */
        for (int e = y0[b]; x0[b] == x0[b + 1] && e < y0[b + 1]; e++)
            o->v[o->n++] = (int8_t)e;
    if (o->n != ys->rank)
        return false;
    lz_shape s = permuted_shape(ys, o);
    *v = lz_build_reshape(l->rw->out, l->now[in->opnd[0]], &s);
    return true;
}

static bool repeat(layout *l, uint32_t i, lz_val *v, const order *o)
{
    lz_ints times;
    lz_val once = lz_repeated(l->f, i, &times);
    if (once == LZ_NOVAL)
        return false;
    times = permuted(&times, o);
    *v = lz_build_repeat(l->rw->out, fetch(l, once, o), &times);
    return true;
}

/* Drops a barrier around a transpose that is gone, or after a dot whose result keeps its layout. */
static bool idle_barrier(layout *l, uint32_t i)
{
    const lz_func *f = l->f;
    const lz_inst *in = &f->insts[i];
    order w = wanted(l, i), g;
    if (in->sig->nopnd != 1 || rank_of(l, i) < 2)
        return false;
    lz_val x = in->opnd[0];
    bool transposed_back = f->insts[x].sig->attr->kind == LZ_ATTR_perm &&
                           is_identity(&l->laid_out[x]) &&
                           l->groups[l->index[find(l, x, &g)]].active;
    while (f->insts[x].sig->attr->kind == LZ_ATTR_perm ||
           f->insts[x].sig->attr->kind == LZ_ATTR_shape)
        x = f->insts[x].opnd[0];
    if (transposed_back)
        return f->insts[x].sig->op != LZ_OP_REVERSE;
    return lz_op_get(f->insts[x].sig->op)->cls == LZ_CLASS_DOT && is_identity(&w) &&
           l->groups[l->index[find(l, i, &g)]].active &&
           f->insts[in->opnd[0]].sig->attr->kind != LZ_ATTR_perm;
}

/* Any other operation: operands in the default layout. */
static lz_val plain(layout *l, uint32_t i)
{
    const lz_inst *in = &l->f->insts[i];
    uint32_t n = in->sig->nopnd;
    if (in->lit)
        return lz_build_const(l->rw->out, in->lit);
    lz_val *x = lz_calloc(n + 1, sizeof *x);
    if (!x) {
        l->rw->out->status = LZ_FAIL(LZ_EMEM, "out of memory");
        return LZ_NOVAL;
    }
    for (uint32_t k = 0; k < n; k++)
        x[k] = fetch_plain(l, in->opnd[k]);
    lz_val v = lz_build_sig(l->rw->out, in->sig, x);
    lz_free(x);
    return v;
}

/* A split dimension that enters a group in another layout: transposed once, not by each reader. */
static lz_val brought(layout *l, uint32_t i, lz_val v, const order *from)
{
    order to = wanted(l, i);
    int x0[LZ_MAX_RANK * 2 + 1], y0[LZ_MAX_RANK * 2 + 1];
    const lz_sig *sig = l->f->insts[i].sig;
    const lz_shape *y = &sig->result[0]->shape;
    int n = blocks(&sig->opnd[0]->shape, y, x0, y0);
    if (v == LZ_NOVAL || same_order(from, &to) || !has_block_of_many(y, y0, n))
        return done(l, i, v, from);
    v = transposed(l, v, from, &to);
    return done(l, i, lz_build(l->rw->out, LZ_OP_OPTIMIZATION_BARRIER, NULL, &v, 1), &to);
}

static lz_val transpose(layout *l, uint32_t i, const order *o)
{
    const lz_inst *in = &l->f->insts[i];
    const lz_ints *p = &LZ_ATTR(perm, in->sig->attr)->permutation;
    order x = {.n = o->n};
    for (int d = 0; d < o->n; d++)
        x.v[d] = (int8_t)p->v[o->v[d]];
    return fetch(l, in->opnd[0], &x);
}

static lz_val rewrite(lz_rw *rw, uint32_t i, void *user)
{
    layout *l = user;
    l->rw = rw;
    const lz_inst *in = &rw->in->insts[i];
    order o = wanted(l, i);
    lz_val v = LZ_NOVAL;
    if (in->lit) {
        o = identity(o.n);
        return done(l, i, plain(l, i), &o);
    }
    switch (in->sig->attr->kind) {
    case LZ_ATTR_perm:
        return done(l, i, transpose(l, i, &o), &o);
    case LZ_ATTR_pad:
        return done(l, i, pad(l, i, &o), &o);
    case LZ_ATTR_slice:
        return done(l, i, slice(l, i, &o), &o);
    case LZ_ATTR_dim:
        return done(l, i, concatenate(l, i, &o), &o);
    case LZ_ATTR_dims:
        return done(l, i, reverse(l, i, &o), &o);
    case LZ_ATTR_broadcast:
        return done(l, i, broadcast(l, i, &o), &o);
    case LZ_ATTR_iota:
        return done(l, i, iota(l, i, &o), &o);
    case LZ_ATTR_reduce:
        if (in->sig->nopnd > MAX_REDUCED)
            break;
        v = reduce(l, i, &o);
        if (in->sig->nresult > 1 || v == LZ_NOVAL) { /* its results are transposed, one by one */
            l->now[i] = v;
            l->laid_out[i] = o;
            return v;
        }
        return done(l, i, v, &o);
    case LZ_ATTR_index:
        if (rw->in->insts[in->opnd[0]].sig->attr->kind == LZ_ATTR_reduce)
            o = l->laid_out[in->opnd[0]];
        else
            o = identity(o.n);
        return done(
            l, i,
            lz_build_result(rw->out, l->now[in->opnd[0]], LZ_ATTR(index, in->sig->attr)->index),
            &o);
    case LZ_ATTR_window_view:
        l->looked[i] = !l->walked[i];
        if (!l->walked[i])
            return done(l, i, window_view(l, i, &o), &o);
        o = identity(o.n);
        return done(l, i, walked_view(l, i), &o);
    case LZ_ATTR_shape:
        if (repeat(l, i, &v, &o))
            return done(l, i, v, &o);
        if (!reshape(l, i, &v, &o)) {
            v = plain(l, i);
            o = identity(rank_of(l, i));
        }
        return brought(l, i, v, &o);
    default:
        if (united_operands(in)) {
            o = as_windows(l, i);
            return done(l, i, elementwise(l, i, &o), &o);
        }
        if (in->sig->op == LZ_OP_OPTIMIZATION_BARRIER && idle_barrier(l, i)) {
            o = l->laid_out[in->opnd[0]];
            return done(l, i, l->now[in->opnd[0]], &o);
        }
    }
    o = identity(rank_of(l, i));
    return done(l, i, plain(l, i), &o);
}

static lz_status run(layout *l, lz_func **out)
{
    const lz_func *f = l->f;
    for (uint32_t i = 0; i < f->ninst; i++) {
        l->up[i] = i;
        l->now[i] = i;
        l->laid_out[i] = identity(rank_of(l, i));
    }
    make_groups(l);
    for (uint32_t i = 0; i < f->ninst; i++)
        if (l->up[i] == i)
            l->index[i] = l->ngroup++;
    l->groups = lz_calloc(l->ngroup + 1, sizeof *l->groups);
    if (!l->groups)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    find_preferences(l);
    return decide(l) ? lz_rw_run(f, rewrite, l, out) : LZ_OK;
}

static bool has_transpose(const lz_func *f)
{
    for (uint32_t i = f->nparam; i < f->ninst; i++)
        if (f->insts[i].sig->attr->kind == LZ_ATTR_perm)
            return true;
    return false;
}

lz_status lz_pass_layout(const lz_func *in, const lz_lower_options *o, lz_func **out)
{
    (void)o;
    *out = NULL;
    if (!has_transpose(in))
        return LZ_OK;
    size_t n = (size_t)in->ninst + 1;
    layout l = {.f = in};
    l.walked = lz_calloc(n, sizeof *l.walked);
    l.looked = lz_calloc(n, sizeof *l.looked);
    l.up = lz_calloc(n, sizeof *l.up);
    l.dims = lz_calloc(n, sizeof *l.dims);
    l.index = lz_calloc(n, sizeof *l.index);
    l.now = lz_calloc(n, sizeof *l.now);
    l.laid_out = lz_calloc(n, sizeof *l.laid_out);
    bool ok = l.walked && l.looked && l.up && l.dims && l.index && l.now && l.laid_out;
    lz_status s = ok ? run(&l, out) : LZ_FAIL(LZ_EMEM, "out of memory");
    lz_free(l.walked);
    lz_free(l.looked);
    lz_free(l.up);
    lz_free(l.dims);
    lz_free(l.index);
    lz_free(l.now);
    lz_free(l.laid_out);
    lz_free(l.groups);
    return s;
}
