/* fusion_nodes.c - builds the nodes of a function and finds what each reads. A materialized value
 * (fusion_values.c) is one node, or several when it is written in parts (concatenate). Each node
 * is emitted once without code ("dry"), which finds its reads, splits its dimensions where
 * reshapes need it, and may find more values that must be materialized (a reshape that cuts across
 * dimensions, a bitcast, a factor whose contracted dimension is split). Then the nodes are built
 * again; every iteration adds at least one such value.
 * Cost: O(instructions) per iteration.   Threads: as lz_fusion. */
#include "ir/window.h"
#include "lower/reduction.h"
#include "lower/fusion/fusion.h"
#include "lower/effort.h"
#include <inttypes.h>
#include <string.h>

static lz_op op_of(const lz_fusion *fu, lz_val v)
{
    return lz_inst_op(&fu->f->insts[v]);
}

static lz_op_class class_of(const lz_fusion *fu, lz_val v)
{
    return lz_op_get(op_of(fu, v))->cls;
}

/* ---- making nodes ---- */

static lz_status add_node(lz_fusion *fu, lz_fusion_kind kind, lz_fusion_store store, lz_val v,
                          uint32_t dst, lz_fusion_node **out)
{
    if (fu->nnode == fu->cap_node) {
        uint32_t cap = fu->cap_node ? 2 * fu->cap_node : 64;
        lz_fusion_node **p = lz_realloc(fu->nodes, cap * sizeof *p);
        if (!p)
            return LZ_FAIL(LZ_EMEM, "out of memory");
        fu->nodes = p;
        fu->cap_node = cap;
    }
    lz_fusion_node *n = lz_arena_alloc(&fu->arena, sizeof *n);
    if (!n)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    n->kind = kind;
    n->store = store;
    n->v = v;
    n->dst = dst;
    n->nres = 1;
    n->res = &n->only;
    n->only = dst;
    fu->nodes[fu->nnode++] = n;
    const lz_shape *s = &lz_val_type(fu->f, v)->shape;
    n->rank = s->rank;
    memcpy(n->ext, s->dims, sizeof s->dims);
    *out = n;
    return LZ_OK;
}

static void add_inner(lz_fusion_node *n, int64_t ext)
{
    n->ext[n->rank + n->ninner++] = ext;
}

static void node_axes(lz_fusion_node *n)
{
    int nd = n->rank + n->ninner;
    n->ax.n = 0;
    for (int d = 0; d < nd; d++) {
        n->first[d] = (uint8_t)n->ax.n;
        if (n->ext[d] != 1)
            n->ax.ext[n->ax.n++] = n->ext[d];
    }
    n->first[nd] = (uint8_t)n->ax.n;
}

static bool is_result_of_multi(const lz_fusion *fu, lz_val v)
{
    return class_of(fu, v) == LZ_CLASS_META && !(fu->f->insts[v].sig->flags & LZ_F_MULTI);
}

/* The `result` instructions of v, by index, in *out. */
static lz_status find_results(lz_fusion *fu, lz_val v, uint32_t **out)
{
    const lz_inst *in = &fu->f->insts[v];
    if (in->sig->nresult > LZ_LOOP_MAX && !lz_op_is_step(in->sig->op))
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: %u results, at most %d are supported",
                       lz_op_get(in->sig->op)->text, in->sig->nresult, LZ_LOOP_MAX);
    uint32_t *res = *out = lz_arena_alloc(&fu->arena, in->sig->nresult * sizeof *res);
    if (!res)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t k = 0; k < in->sig->nresult; k++)
        res[k] = in->sig->nresult == 1 ? v : LZ_NONE;
    for (lz_val i = fu->result[v]; in->sig->nresult > 1 && i != LZ_NOVAL;
         i = fu->next_result[i], lz_effort++)
        res[LZ_ATTR(index, fu->f->insts[i].sig->attr)->index] = i;
    return LZ_OK;
}

static lz_status extra_buffer(lz_fusion *fu, const lz_type *t, uint32_t *buf)
{
    *buf = lz_fusion_nbuf(fu);
    return lz_vec_push(&fu->extra, t);
}

static lz_status reduce_nodes(lz_fusion *fu, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    const lz_shape *s = &in->sig->opnd[0]->shape;
    lz_fusion_node *n;
    LZ_TRY(add_node(fu, LZ_FUSION_REDUCE, LZ_STORE_VALUE, v, v, &n));
    for (int d = 0; d < s->rank; d++)
        if (lz_ints_has(&LZ_ATTR(reduce, in->sig->attr)->dimensions, d))
            add_inner(n, s->dims[d]);
    n->nres = in->sig->nresult;
    LZ_TRY(find_results(fu, v, &n->res));
    for (uint32_t k = 0; k < n->nres; k++)
        if (n->res[k] != LZ_NONE)
            fu->node_of[n->res[k]] = fu->nnode - 1;
    return LZ_OK;
}

static lz_status dot_nodes(lz_fusion *fu, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    const lz_ints *k = &LZ_ATTR(dot, in->sig->attr)->lhs_contracting_dimensions;
    lz_fusion_node *n;
    LZ_TRY(add_node(fu, LZ_FUSION_DOT, LZ_STORE_VALUE, v, v, &n));
    for (int i = 0; i < k->n; i++)
        add_inner(n, in->sig->opnd[0]->shape.dims[k->v[i]]);
    fu->node_of[v] = fu->nnode - 1;
    return LZ_OK;
}

/* The inputs are copied, then updated in place; the copies go when the inputs die (buffers.c). */
static lz_status scatter_nodes(lz_fusion *fu, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    uint32_t *res, nres = in->sig->nresult;
    lz_fusion_node *n;
    LZ_TRY(find_results(fu, v, &res));
    for (uint32_t k = 0; k < nres; k++) {
        if (res[k] == LZ_NONE)
            LZ_TRY(extra_buffer(fu, in->sig->result[k], &res[k]));
        LZ_TRY(add_node(fu, LZ_FUSION_POINT, LZ_STORE_COPY, in->opnd[k], res[k], &n));
    }
    if (in->sig->opnd[nres + 1]->nelem == 0)
        return LZ_OK;
    LZ_TRY(add_node(fu, LZ_FUSION_SCATTER, LZ_STORE_VALUE, v, v, &n));
    n->nres = nres;
    n->res = res;
    const lz_shape *s = &in->sig->opnd[nres + 1]->shape;
    n->rank = s->rank;
    memcpy(n->ext, s->dims, sizeof s->dims);
    return LZ_OK;
}

/* A sort, a scan. */
static lz_status row_nodes(lz_fusion *fu, lz_fusion_kind kind, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    lz_fusion_node *n;
    if (in->sig->opnd[0]->nelem == 0)
        return LZ_OK;
    LZ_TRY(add_node(fu, kind, LZ_STORE_VALUE, v, v, &n));
    n->nres = in->sig->nresult;
    LZ_TRY(find_results(fu, v, &n->res));
    memcpy(n->ext, in->sig->opnd[0]->shape.dims, sizeof in->sig->opnd[0]->shape.dims);
    for (uint32_t k = 0; k < n->nres; k++) {
        lz_val r = n->res[k] == LZ_NONE ? LZ_NOVAL : fu->first[n->res[k]];
        if (r == LZ_NOVAL)
            continue;
        n->res[k] = r;
        n->keep = lz_val_type(fu->f, r)->shape.dims[LZ_ATTR(sort, in->sig->attr)->dimension];
    }
    return LZ_OK;
}

/* Every result has a buffer: what nobody wants may be carried all the same. */
static lz_status control_nodes(lz_fusion *fu, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    lz_fusion_node *n;
    LZ_TRY(add_node(fu, LZ_FUSION_CONTROL, LZ_STORE_VALUE, v, v, &n));
    n->rank = 0;
    n->nres = in->sig->nresult;
    LZ_TRY(find_results(fu, v, &n->res));
    for (uint32_t k = 0; k < n->nres; k++)
        if (n->res[k] == LZ_NONE)
            LZ_TRY(extra_buffer(fu, in->sig->result[k], &n->res[k]));
    return LZ_OK;
}

static lz_status concatenate_nodes(lz_fusion *fu, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    int64_t at = 0, dim = LZ_ATTR(dim, in->sig->attr)->dimension;
    lz_fusion_node *n;
    for (uint32_t k = 0; k < in->sig->nopnd; k++) {
        if (in->sig->opnd[k]->nelem) {
            LZ_TRY(add_node(fu, LZ_FUSION_POINT, LZ_STORE_PIECE, in->opnd[k], v, &n));
            n->piece_at = at;
        }
        at += in->sig->opnd[k]->shape.dims[dim];
    }
    return LZ_OK;
}

static lz_status update_nodes(lz_fusion *fu, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    lz_fusion_node *n;
    LZ_TRY(add_node(fu, LZ_FUSION_POINT, LZ_STORE_COPY, in->opnd[0], v, &n));
    return in->sig->opnd[1]->nelem
               ? add_node(fu, LZ_FUSION_POINT, LZ_STORE_UPDATE, in->opnd[1], v, &n)
               : LZ_OK;
}

static lz_status nodes_of_value(lz_fusion *fu, lz_val v)
{
    const lz_inst *in = &fu->f->insts[v];
    lz_op_class c = class_of(fu, v);
    lz_fusion_node *n;
    if (c == LZ_CLASS_REDUCE)
        return reduce_nodes(fu, v);
    if (c == LZ_CLASS_DOT)
        return dot_nodes(fu, v);
    if (c == LZ_CLASS_INDEX && (in->sig->flags & LZ_F_MULTI))
        return scatter_nodes(fu, v);
    if (c == LZ_CLASS_SORT)
        return row_nodes(fu, LZ_FUSION_SORT, v);
    if (c == LZ_CLASS_WINDOW)
        return row_nodes(fu, LZ_FUSION_SCAN, v);
    if (lz_op_is_step(in->sig->op))
        return control_nodes(fu, v);
    if (in->sig->op == LZ_OP_CONCATENATE)
        return concatenate_nodes(fu, v);
    if (in->sig->op == LZ_OP_DYNAMIC_UPDATE_SLICE)
        return update_nodes(fu, v);
    LZ_TRY(add_node(fu, LZ_FUSION_POINT, LZ_STORE_VALUE, v, v, &n));
    fu->node_of[v] = fu->nnode - 1;
    return LZ_OK;
}

/* Buffers of the function's results; what is not made into one directly is copied. */
static lz_status nodes_of_results(lz_fusion *fu)
{
    const lz_func *f = fu->f;
    for (uint32_t k = 0; k < f->nresult; k++) {
        lz_val v = f->results[k], mem = lz_fusion_memory(fu, v);
        bool own = mem != LZ_NOVAL && mem >= f->nparam && !f->insts[mem].lit;
        for (uint32_t j = 0; own && j < k; j++)
            own = fu->result_buf[j] != mem;
        fu->result_buf[k] = mem;
        lz_fusion_node *n;
        if (own)
            continue;
        LZ_TRY(extra_buffer(fu, lz_val_type(f, v), &fu->result_buf[k]));
        if (lz_val_type(f, v)->nelem)
            LZ_TRY(add_node(fu, LZ_FUSION_POINT, LZ_STORE_COPY, v, fu->result_buf[k], &n));
    }
    return LZ_OK;
}

static lz_status make_nodes(lz_fusion *fu)
{
    const lz_func *f = fu->f;
    fu->nnode = 0;
    fu->extra.len = 0;
    for (uint32_t i = 0; i < f->ninst; i++)
        fu->node_of[i] = LZ_NONE;
    for (uint32_t i = f->nparam; i < f->ninst; i++) {
        const lz_inst *in = &f->insts[i];
        bool several = (in->sig->nresult > 1 && class_of(fu, i) != LZ_CLASS_META) ||
                       lz_op_is_step(in->sig->op);
        bool empty = !several && in->sig->result[0]->nelem == 0;
        bool apart = is_result_of_multi(fu, i) || lz_fusion_is_first(fu, i);
        if ((fu->realised[i] || several) && !in->lit && !empty && !apart)
            LZ_TRY(nodes_of_value(fu, i));
    }
    LZ_TRY(nodes_of_results(fu));
    for (uint32_t i = 0; i < fu->nnode; i++)
        node_axes(fu->nodes[i]);
    return LZ_OK;
}

/* ---- axes ---- */

void lz_fusion_node_map(const lz_fusion_node *n, int from, int count, const uint8_t *loop_of,
                        lz_ixmap *out)
{
    memset(out, 0, sizeof *out);
    out->rank = count;
    for (int d = 0; d < count; d++) {
        int64_t stride = 1;
        for (int a = n->first[from + d + 1]; a-- > n->first[from + d];) {
            out->d[d].k[loop_of ? loop_of[a] : a] = stride;
            stride *= n->ax.ext[a];
        }
    }
}

void lz_fusion_scan_map(const lz_fusion *fu, lz_val v, lz_ixmap *m)
{
    const lz_sig *sig = fu->f->insts[v].sig;
    bool suffix = false;
    int d = lz_window_prefixes(LZ_ATTR(reduce_window, sig->attr), &sig->opnd[0]->shape, &suffix);
    if (!suffix)
        return;
    lz_ix *x = &m->d[d];
    x->c = sig->opnd[0]->shape.dims[d] - 1 - x->c;
    for (int l = 0; l < LZ_LOOP_MAX; l++)
        x->k[l] = -x->k[l];
}

static void split_ix(lz_ix *x, uint32_t a, uint32_t n, int64_t inner)
{
    for (uint32_t l = n; l > a + 1; l--)
        x->k[l] = x->k[l - 1];
    x->k[a + 1] = x->k[a];
    x->k[a] *= inner;
}

void lz_fusion_node_split(lz_fusion_node *n, uint32_t a, int64_t inner)
{
    for (uint32_t i = 0; i < n->reads.len; i++)
        for (int d = 0; n->reads.data[i].map && d < n->reads.data[i].map->rank; d++)
            split_ix(&n->reads.data[i].map->d[d], a, n->ax.n, inner);
    for (uint32_t l = n->ax.n; l > a + 1; l--) {
        n->ax.ext[l] = n->ax.ext[l - 1];
        n->axis[l] = n->axis[l - 1];
    }
    n->ax.ext[a + 1] = inner;
    n->ax.ext[a] /= inner;
    n->ax.n++;
    for (int d = 0; d <= n->rank + n->ninner; d++)
        if (n->first[d] > a)
            n->first[d]++;
}

/* ---- the dry emission ---- */

typedef struct dry {
    lz_fusion *fu;
    lz_fusion_node *n;
} dry;

/* Whether v is src under another shape: only then are its elements where the map says. */
static bool only_reshaped(const lz_fusion *fu, lz_val v, lz_val src)
{
    while (v != src && op_of(fu, v) == LZ_OP_RESHAPE)
        v = fu->f->insts[v].opnd[0];
    return v == src;
}

static bool is_noted(const lz_emit *e, const lz_fusion_node *n, lz_val src, const lz_ixmap *m)
{
    for (uint32_t i = 0; i < n->reads.len; i++) {
        const lz_read *r = &n->reads.data[i];
        if (r->src == src && (r->map && m ? lz_ixmap_eq(r->map, m, e->ax.n) : r->map == m))
            return true;
    }
    return false;
}

/* m: as lz_read has it */
static lz_status add_read(lz_emit *e, dry *d, lz_val src, const lz_ixmap *m)
{
    lz_read r = {.src = src};
    if (is_noted(e, d->n, src, m))
        return LZ_OK;
    if (m && !(r.map = lz_arena_copy(&d->fu->maps, m, lz_ixmap_bytes(m))))
        return LZ_FAIL(LZ_EMEM, "out of memory");
    return lz_vec_push(&d->n->reads, r);
}

/* A read of memory `src` as value v at f->map. */
static lz_status note_read(lz_emit *e, lz_frame *f, lz_val src, lz_ix *flat)
{
    dry *d = e->env;
    lz_ixmap m;
    uint32_t loop;
    int64_t inner;
    if (f->guard >= 0 || flat->ndyn > 0 || !only_reshaped(d->fu, f->v, src))
        return add_read(e, d, src, NULL);
    if (f->v == src)
        return add_read(e, d, src, &f->map);
    if (lz_ixmap_unflat(flat, &e->ax, &lz_val_type(e->f, src)->shape, &m, &loop, &inner))
        return add_read(e, d, src, &m);
    bool ours = d->fu->node_of[src] != LZ_NONE;
    if (!ours || loop == UINT32_MAX || e->ax.n >= LZ_MAX_RANK)
        return add_read(e, d, src, NULL);
    e->stop = true;
    e->split_loop = loop;
    e->split_inner = inner;
    return LZ_OK;
}

static lz_status dry_leaf(lz_emit *e, lz_frame *f)
{
    dry *d = e->env;
    if (d->n->store == LZ_STORE_VALUE && f->v == d->n->v)
        return LZ_OK;
    lz_val src = lz_fusion_memory(d->fu, f->v);
    if (src == LZ_NOVAL)
        return LZ_OK;
    lz_ix flat;
    if (!lz_ixmap_flat(&f->map, &lz_val_type(e->f, f->v)->shape, &flat)) {
        memset(&flat, 0, sizeof flat);
        flat.ndyn = 1;
    }
    LZ_TRY(note_read(e, f, src, &flat));
    if (e->stop)
        return LZ_OK;
    f->leaf = true;
    return lz_emit_load(e, src, lz_val_type(e->f, f->v)->dtype, &flat, f->guard, &f->result);
}

static lz_status no_target(lz_emit *e, uint32_t k, uint32_t *buf)
{
    (void)e;
    *buf = LZ_NONE - k;
    return LZ_OK;
}

static lz_status dry_scalars(lz_emit *e, const lz_inst *in, uint32_t from)
{
    lz_ixmap none;
    int32_t sop;
    memset(&none, 0, sizeof none);
    for (uint32_t k = from; k < in->sig->nopnd && !e->stop; k++)
        LZ_TRY(lz_emit_value(e, in->opnd[k], &none, -1, &sop));
    return LZ_OK;
}

static lz_status dry_emit(lz_emit *e, const lz_fusion *fu, lz_fusion_node *n)
{
    lz_ixmap m;
    int32_t sop;
    const lz_inst *in = &fu->f->insts[n->v];
    lz_fusion_node_map(n, 0, n->rank, NULL, &m);
    lz_fusion_node_map(n, n->rank, n->ninner, NULL, &e->inner);
    if (n->kind == LZ_FUSION_SCAN)
        lz_fusion_scan_map(fu, n->v, &m);
    if (n->kind != LZ_FUSION_POINT)
        LZ_TRY(lz_emit_root(e, n->v, &m, &sop));
    else
        LZ_TRY(lz_emit_value(e, n->v, &m, -1, &sop));
    lz_red_plan p;
    if ((n->kind == LZ_FUSION_REDUCE || n->kind == LZ_FUSION_SCAN) && !e->stop) {
        lz_red_plan_of(fu->f, n->v, &p);
        if (p.fold)
            LZ_TRY(dry_scalars(e, in, in->sig->nopnd / 2));
    }
    if (n->store == LZ_STORE_UPDATE && !e->stop)
        LZ_TRY(dry_scalars(e, &fu->f->insts[n->dst], 2));
    return LZ_OK;
}

static lz_status whole_reads(lz_fusion *fu, lz_fusion_node *n)
{
    const lz_inst *in = &fu->f->insts[n->v];
    n->reads.len = 0;
    for (uint32_t k = 0; k < in->sig->nopnd; k++) {
        lz_read r = {.src = lz_fusion_whole(fu, in->opnd[k])};
        if (in->sig->opnd[k]->nelem)
            LZ_TRY(lz_vec_push(&n->reads, r));
    }
    return LZ_OK;
}

/* Finds the reads of a node. *again: a value was given memory, the nodes must be made anew. */
static lz_status analyse(lz_fusion *fu, lz_fusion_node *n, bool *again)
{
    lz_emit e;
    dry d = {fu, n};
    lz_status s;
    if (n->kind == LZ_FUSION_CONTROL)
        return whole_reads(fu, n);
    for (;;) {
        lz_emit_init(&e, fu->f, &fu->frames);
        e.leaf = dry_leaf;
        e.target = no_target;
        e.env = &d;
        e.ax = n->ax;
        n->reads.len = 0;
        s = dry_emit(&e, fu, n);
        n->nsop = e.sops.v.len;
        n->costly = false;
        for (uint32_t i = 0; i < e.sops.v.len; i++)
            n->costly |=
                e.sops.v.data[i].kind == LZ_S_EW && lz_op_has(e.sops.v.data[i].op, LZ_F_COSTLY);
        bool stop = e.stop,
             too_many = n->first[n->rank] >= LZ_OUTER_MAX && e.split_loop < n->first[n->rank];
        uint32_t loop = e.split_loop;
        int64_t inner = e.split_inner;
        lz_val want = e.realise;
        lz_emit_done(&e);
        lz_arena_reset(&fu->frames);
        if (s != LZ_OK || !stop)
            return s;
        if (loop != UINT32_MAX && n->ax.n < LZ_LOOP_MAX && !too_many) {
            lz_fusion_node_split(n, loop, inner);
            continue;
        }
        if (want == LZ_NOVAL || !lz_fusion_realise(fu, want))
            return LZ_FAIL(LZ_EINTERNAL,
                           "fusion: %%%u (%s) can be neither computed in place nor stored", want,
                           lz_op_get(op_of(fu, n->v))->text);
        *again = true;
        return LZ_OK;
    }
}

/* The loops a product sums over run through what it reads as one: its kernel wants one loop. */
static bool sums_over_one_loop(const lz_fusion *fu, const lz_fusion_node *n)
{
    for (uint32_t i = 0; i < n->reads.len; i++) {
        const lz_read *r = &n->reads.data[i];
        lz_ix flat;
        if (!r->map || !lz_ixmap_flat(r->map, &lz_val_type(fu->f, r->src)->shape, &flat))
            continue;
        for (uint32_t a = n->first[n->rank]; a + 1 < n->ax.n; a++)
            if (flat.k[a] != flat.k[a + 1] * n->ax.ext[a + 1])
                return false;
    }
    return true;
}

/* Factors whose contracted dimension is in pieces are laid out anew. */
static void lay_out_factors(lz_fusion *fu, const lz_fusion_node *n, bool *again)
{
    const lz_inst *in = &fu->f->insts[n->v];
    if (n->kind != LZ_FUSION_DOT || n->first[n->rank + n->ninner] - n->first[n->rank] < 2 ||
        sums_over_one_loop(fu, n))
        return;
    for (int k = 0; k < 2; k++) /* but for views of windows, which would be many times as large */
        if (fu->f->insts[in->opnd[k]].sig->attr->kind == LZ_ATTR_window_view)
            return;
    for (int k = 0; k < 2; k++)
        if (lz_fusion_memory(fu, in->opnd[k]) == LZ_NOVAL && !fu->f->insts[in->opnd[k]].lit)
            *again |= lz_fusion_realise(fu, in->opnd[k]);
}

static void drop_reads(lz_fusion *fu)
{
    for (uint32_t i = 0; i < fu->nnode; i++)
        lz_vec_free(&fu->nodes[i]->reads);
    lz_arena_free(&fu->maps);
}

/* Results that no kernel reads but from memory: node_of does not speak of them. */
static bool writes_apart(const lz_fusion_node *n)
{
    return n->kind == LZ_FUSION_SCATTER || n->kind == LZ_FUSION_SORT || n->kind == LZ_FUSION_SCAN ||
           n->kind == LZ_FUSION_CONTROL;
}

/* What only empty values or dropped results wanted goes, but what has effects. */
static lz_status drop_dead(lz_fusion *fu)
{
    bool *needed = lz_calloc((size_t)lz_fusion_nbuf(fu) + 1, 1),
         *live = lz_calloc((size_t)fu->nnode + 1, 1);
    uint32_t n = 0;
    for (uint32_t k = 0; needed && live && k < fu->f->nresult; k++)
        needed[fu->result_buf[k]] = true;
    for (uint32_t i = fu->nnode; needed && live && i-- > 0;) {
        const lz_fusion_node *x = fu->nodes[i];
        live[i] = (fu->f->insts[x->v].sig->flags & LZ_F_EFFECT) != 0;
        for (uint32_t k = 0; k < x->nres; k++)
            live[i] |= x->res[k] != LZ_NONE && needed[x->res[k]];
        for (uint32_t k = 0; k < x->reads.len && live[i]; k++)
            needed[x->reads.data[k].src] = true;
        /* a scatter reads what it writes over, wanted or not */
        for (uint32_t k = 0; k < x->nres && live[i] && x->kind == LZ_FUSION_SCATTER; k++)
            needed[x->res[k]] = true;
    }
    for (uint32_t i = 0; needed && live && i < fu->nnode; i++) {
        lz_fusion_node *x = fu->nodes[i];
        for (uint32_t k = 0; k < x->nres && x->store == LZ_STORE_VALUE && !writes_apart(x); k++)
            if (x->res[k] != LZ_NONE)
                fu->node_of[x->res[k]] = live[i] ? n : LZ_NONE;
        if (live[i])
            fu->nodes[n++] = x;
        else
            lz_vec_free(&x->reads);
    }
    lz_status s = needed && live ? LZ_OK : LZ_FAIL(LZ_EMEM, "out of memory");
    if (s == LZ_OK)
        fu->nnode = n;
    lz_free(needed);
    lz_free(live);
    return s;
}

lz_status lz_fusion_nodes(lz_fusion *fu, const bool *donate)
{
    LZ_TRY(lz_fusion_values(fu, donate));
    for (;;) {
        bool again = false;
        LZ_TRY(make_nodes(fu));
        for (uint32_t i = 0; i < fu->nnode; i++) {
            LZ_TRY(analyse(fu, fu->nodes[i], &again));
            lay_out_factors(fu, fu->nodes[i], &again);
        }
        if (!again)
            return drop_dead(fu);
        drop_reads(fu);
    }
}
