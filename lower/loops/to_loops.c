/* to_loops.c - turns one group of nodes into one kernel: the group's axes become loops, its levels
 * of reductions become stages. Stage l holds the full nodes and reductions that depend on l
 * earlier levels. The last stage has no inner loops and stores the values computed once per outer
 * point. A node is recomputed in every stage that uses it, unless it is costly: then it is stored
 * and loaded.
 * Cost: O(scalar ops).   Threads: pure. */
#include "lower/loops/to_loops_impl.h"
#include "lower/loops/loop_impl.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef lz_group_build build;

lz_fusion_node *lz_build_node(const build *b, uint32_t i)
{
    return b->fu->nodes[b->g->nodes.data[i]];
}

static uint32_t position(const build *b, uint32_t node)
{
    for (uint32_t i = 0; i < b->g->nodes.len; i++)
        if (b->g->nodes.data[i] == node)
            return i;
    return LZ_NONE;
}

/* ---- kernel buffers ---- */

static lz_status kernel_buffer(build *b, uint32_t buf, lz_dtype d, bool write, uint32_t *out)
{
    uint32_t i = 0;
    while (i < b->nbuf && !(b->buf[i] == buf && b->dtype[i] == d))
        i++;
    if (i == b->nbuf) {
        if (i == LZ_KBUF_MAX)
            return LZ_FAIL(LZ_EUNSUPPORTED, "a kernel would need more than %d buffers",
                           LZ_KBUF_MAX);
        b->buf[i] = buf;
        b->dtype[i] = d;
        b->k->buf[i].dtype = d;
        b->k->buf[i].inplace_with = -1;
        b->k->nbuf = ++b->nbuf;
    }
    if (write)
        b->k->buf[i].written = true;
    *out = i;
    return LZ_OK;
}

static lz_dtype buf_dtype(const build *b, uint32_t buf)
{
    return lz_fusion_buf_type(b->fu, buf)->dtype;
}

/* ---- reading ---- */

/* The map of a node's dimensions in the kernel's loops. */
void lz_build_map(const build *b, const lz_fusion_node *n, int from, int count, lz_ixmap *m)
{
    uint8_t loop[LZ_LOOP_MAX];
    for (uint32_t a = 0; a < n->ax.n; a++)
        loop[a] = b->loop_of[n->axis[a]];
    lz_fusion_node_map(n, from, count, loop, m);
}

static lz_status load_from(build *b, lz_emit *e, lz_frame *f, uint32_t buf)
{
    const lz_type *t = lz_val_type(e->f, f->v);
    lz_ix flat;
    uint32_t kb;
    if (!lz_ixmap_flat(&f->map, &t->shape, &flat))
        return LZ_FAIL(LZ_EINTERNAL, "to_loops: too many computed indices");
    LZ_TRY(kernel_buffer(b, buf, t->dtype, false, &kb));
    f->leaf = true;
    LZ_TRY(lz_emit_load(e, kb, t->dtype, &flat, f->guard, &f->result));
    if (f->guard < 0)
        lz_build_borders(b, f->v, &f->map, &e->accs.data[e->sops.v.data[f->result].a]);
    return LZ_OK;
}

static int32_t row_read(lz_emit *e, uint32_t stage, uint32_t row, const lz_kernel *k)
{
    lz_sop s;
    memset(&s, 0, sizeof s);
    s.kind = LZ_S_ROW;
    s.dtype = lz_row_dtype(k, (int32_t)stage, (int32_t)row);
    s.a = (int32_t)stage;
    s.b = (int32_t)row;
    s.c = -1;
    s.size.slot = -1;
    return lz_sops_add(&e->sops, &s);
}

/* A value made by node n (position i) of this very group. */
static lz_status read_own(build *b, lz_emit *e, lz_frame *f, lz_val src, lz_fusion_node *n,
                          uint32_t i)
{
    if (f->v != src)
        return LZ_OK; /* a view: its rule leads to src */
    lz_ixmap own;
    lz_build_map(b, n, 0, n->rank, &own);
    bool here = lz_ixmap_eq(&own, &f->map, e->ax.n);
    uint32_t rs = i == LZ_NONE ? LZ_NONE : b->row_stage[i];
    if (here && rs != LZ_NONE && rs < b->k->nstage) {
        f->leaf = true;
        f->result = row_read(e, rs, b->row_at[i], b->k);
        f->result = lz_sops_convert(&e->sops, f->result, lz_val_type(e->f, src)->dtype);
        return LZ_OK;
    }
    if (n->kind == LZ_FUSION_POINT) {
        if (i != LZ_NONE && b->stored_at[i] != LZ_NONE && b->stored_at[i] < b->k->nstage &&
            n->costly && here)
            return load_from(b, e, f, src);
        return LZ_OK;
    }
    if (!here || b->red_stage[i] == LZ_NONE)
        return LZ_FAIL(LZ_EINTERNAL, "to_loops: %%%u is read where it is not", src);
    uint32_t k = 0;
    while (k < n->nres && n->res[k] != src)
        k++;
    return lz_emit_red_read(e, f, n->v, k, b->red_stage[i], b->red_acc[i]);
}

static lz_status real_leaf(lz_emit *e, lz_frame *f)
{
    build *b = e->env;
    lz_val src = lz_fusion_memory(b->fu, f->v);
    if (src == LZ_NOVAL)
        return LZ_OK;
    uint32_t idx = b->fu->node_of[src];
    lz_fusion_node *n = idx == LZ_NONE ? NULL : b->fu->nodes[idx];
    if (n && b->fu->groups[n->group] == b->g)
        return read_own(b, e, f, src, n, position(b, idx));
    return load_from(b, e, f, src);
}

static lz_status scatter_target(lz_emit *e, uint32_t k, uint32_t *buf)
{
    build *b = e->env;
    const lz_fusion_node *n = b->fu->nodes[b->current];
    return kernel_buffer(b, n->res[k], buf_dtype(b, n->res[k]), true, buf);
}

/* ---- stages ---- */

static void mark(bool *live, int32_t i)
{
    if (i >= 0)
        live[i] = true;
}

static void mark_access(bool *live, const lz_access *a)
{
    for (uint32_t i = 0; i < a->ndyn; i++)
        mark(live, a->dyn[i].sop);
    mark(live, a->guard);
    mark(live, a->other);
}

static void renumber_access(lz_access *a, const int32_t *id)
{
    for (uint32_t i = 0; i < a->ndyn; i++)
        a->dyn[i].sop = id[a->dyn[i].sop];
    a->guard = a->guard < 0 ? -1 : id[a->guard];
    a->other = a->other < 0 ? -1 : id[a->other];
}

static void find_live(const lz_stage *st, bool *live)
{
    for (uint32_t k = 0; st->sort && k < st->sort->nrow; k++)
        mark(live, st->sort->value[k]);
    for (uint32_t k = 0; k < st->nrow; k++)
        mark(live, st->row[k]);
    for (uint32_t i = 0; i < st->nred; i++)
        for (uint32_t j = 0; j < st->reds[i].nacc; j++) {
            mark(live, st->reds[i].value[j]);
            mark(live, st->reds[i].init[j]);
        }
    for (uint32_t i = 0; i < st->nstore; i++) {
        mark(live, st->stores[i].value);
        mark_access(live, &st->stores[i].at);
    }
    for (uint32_t i = st->nsop; i-- > 0;) {
        const lz_sop *s = &st->sops[i];
        if (!live[i])
            continue;
        if (s->kind == LZ_S_LOAD)
            mark_access(live, &st->accs[s->a]);
        else if (s->kind == LZ_S_EW) {
            mark(live, s->a);
            mark(live, s->b);
            mark(live, s->c);
        }
    }
}

/* Drops what nothing uses; *b's product factors follow when this is stage 0. */
static lz_status compact(build *b, lz_stage *st)
{
    bool *live = lz_calloc(st->nsop + 1, sizeof *live);
    int32_t *id = lz_calloc(st->nsop + st->nacc + 1, sizeof *id);
    if (!live || !id) {
        lz_free(live);
        lz_free(id);
        return LZ_FAIL(LZ_EMEM, "out of memory");
    }
    int32_t *acc_id = id + st->nsop;
    find_live(st, live);
    uint32_t n = 0, na = 0;
    for (uint32_t i = 0; i < st->nacc; i++)
        acc_id[i] = -1;
    for (uint32_t i = 0; i < st->nsop; i++) {
        lz_sop s = st->sops[i];
        if (!live[i])
            continue;
        if (s.kind == LZ_S_LOAD) {
            if (acc_id[s.a] < 0)
                acc_id[s.a] = (int32_t)na++;
            s.a = acc_id[s.a];
        } else if (s.kind == LZ_S_EW) {
            s.a = s.a < 0 ? -1 : id[s.a];
            s.b = s.b < 0 ? -1 : id[s.b];
            s.c = s.c < 0 ? -1 : id[s.c];
        }
        id[i] = (int32_t)n;
        st->sops[n++] = s;
    }
    lz_access *old = lz_arena_copy(b->e.arena, st->accs, st->nacc * sizeof *old);
    for (uint32_t i = 0; old && i < st->nacc; i++)
        if (acc_id[i] >= 0) {
            st->accs[acc_id[i]] = old[i];
            renumber_access(&st->accs[acc_id[i]], id);
        }
    for (uint32_t i = 0; i < st->nred; i++)
        for (uint32_t j = 0; j < st->reds[i].nacc; j++) {
            st->reds[i].value[j] = id[st->reds[i].value[j]];
            st->reds[i].init[j] = id[st->reds[i].init[j]];
        }
    for (uint32_t k = 0; st->sort && k < st->sort->nrow; k++)
        st->sort->value[k] = id[st->sort->value[k]];
    for (uint32_t k = 0; k < st->nrow; k++)
        st->row[k] = id[st->row[k]];
    for (uint32_t i = 0; i < st->nstore; i++) {
        st->stores[i].value = id[st->stores[i].value];
        renumber_access(&st->stores[i].at, id);
    }
    if (b->k->nstage == 0 && b->dot_a >= 0) {
        b->dot_a = id[b->dot_a];
        b->dot_b = id[b->dot_b];
    }
    st->nsop = n;
    st->nacc = na;
    lz_free(live);
    lz_free(id);
    return old ? LZ_OK : LZ_FAIL(LZ_EMEM, "out of memory");
}

/* Moves what the emitter has gathered into a stage of the kernel. */
lz_status lz_build_close(build *b)
{
    lz_emit *e = &b->e;
    lz_kernel *k = b->k;
    lz_stage *st = &k->stages[k->nstage];
    if (e->sops.failed)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    if (e->reds.len == 0 && e->stores.len == 0 && !e->sort && b->nrow == 0)
        return LZ_OK;
    uint32_t na = e->accs.len;
    st->sops = lz_arena_copy(&k->arena, e->sops.v.data, e->sops.v.len * sizeof *st->sops);
    st->accs = lz_arena_copy(&k->arena, e->accs.data, na * sizeof *st->accs);
    st->reds = lz_arena_copy(&k->arena, e->reds.data, e->reds.len * sizeof *st->reds);
    st->stores = lz_arena_copy(&k->arena, e->stores.data, e->stores.len * sizeof *st->stores);
    if (!st->sops || !st->accs || !st->reds || !st->stores)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t i = 0; i < e->reds.len; i++) {
        st->reds[i].body = lz_arena_copy(&k->arena, st->reds[i].body,
                                         st->reds[i].nbody * sizeof *st->reds[i].body);
        if (!st->reds[i].body)
            return LZ_FAIL(LZ_EMEM, "out of memory");
    }
    if (e->sort) {
        st->sort = lz_arena_copy(&k->arena, e->sort, sizeof *e->sort);
        lz_sop *body = lz_arena_copy(&k->arena, e->sort->body, e->sort->nbody * sizeof *body);
        if (!st->sort || !body)
            return LZ_FAIL(LZ_EMEM, "out of memory");
        st->sort->body = body;
    }
    st->nsop = e->sops.v.len;
    st->nacc = na;
    st->nred = e->reds.len;
    st->nstore = e->stores.len;
    for (uint32_t l = k->nouter; l < e->ax.n; l++) {
        st->extent[st->ninner].v = e->ax.ext[l];
        st->extent[st->ninner++].slot = -1;
    }
    st->dot.role = b->row_dot ? LZ_DOT_ROW : LZ_DOT_NONE; /* filled in when the kernel is whole */
    st->nrow = b->nrow;
    memcpy(st->row, b->row, sizeof st->row);
    b->nrow = 0;
    b->row_dot = false;
    LZ_TRY(compact(b, st));
    k->nstage++;
    return lz_build_count_costs(b, st);
}

void lz_build_open(build *b, uint32_t level, bool full)
{
    lz_emit_begin_stage(&b->e);
    b->level = level;
    b->full = full;
    b->e.ax.n = full ? b->g->ax.n : b->g->nouter;
    for (uint32_t a = 0; a < b->e.ax.n; a++)
        b->e.ax.ext[b->loop_of[a]] = b->g->ax.ext[a];
}

lz_status lz_build_stopped(const build *b)
{
    return b->e.stop
               ? LZ_FAIL(LZ_EINTERNAL, "to_loops: %%%u cannot be computed in place", b->e.realise)
               : LZ_OK;
}

/* Where node n, computing its value at m, stores it. */
static lz_status store_address(build *b, const lz_fusion_node *n, lz_ixmap *m, uint32_t buf,
                               lz_ix *flat)
{
    const lz_type *t = lz_fusion_buf_type(b->fu, buf);
    if (n->store == LZ_STORE_PIECE)
        m->d[LZ_ATTR(dim, b->fu->f->insts[n->dst].sig->attr)->dimension].c += n->piece_at;
    if (n->store == LZ_STORE_UPDATE) {
        const lz_inst *in = &b->fu->f->insts[n->dst];
        lz_ixmap none;
        memset(&none, 0, sizeof none);
        for (int d = 0; d < m->rank; d++) {
            int64_t room = t->shape.dims[d] - lz_val_type(b->fu->f, n->v)->shape.dims[d];
            int32_t at;
            if (room == 0)
                continue;
            LZ_TRY(lz_emit_value(&b->e, in->opnd[2 + d], &none, -1, &at));
            LZ_TRY(lz_build_stopped(b));
            lz_ix start;
            memset(&start, 0, sizeof start);
            start.ndyn = 1;
            start.dyn[0].sop = lz_emit_clamp_index(&b->e, lz_emit_index_of(&b->e, at), room);
            start.dyn[0].scale = 1;
            lz_ix_add(&m->d[d], &start, 1);
        }
    }
    /* a view of the value (a result that is a reshape of it) has the same addresses */
    const lz_shape *s = n->store == LZ_STORE_PIECE || n->store == LZ_STORE_UPDATE || n->keep
                            ? &t->shape
                            : &lz_val_type(b->fu->f, n->v)->shape;
    return lz_ixmap_flat(m, s, flat) ? LZ_OK
                                     : LZ_FAIL(LZ_EINTERNAL, "to_loops: too many computed indices");
}

lz_status lz_build_store(build *b, const lz_fusion_node *n, lz_ixmap *m, uint32_t buf,
                         int32_t value)
{
    lz_ix flat;
    uint32_t kb;
    lz_loop_store st;
    LZ_TRY(store_address(b, n, m, buf, &flat));
    LZ_TRY(kernel_buffer(b, buf, buf_dtype(b, buf), true, &kb));
    LZ_TRY(lz_emit_access(&b->e, kb, &flat, -1, &st.at));
    st.value = value;
    bool whole = n->store == LZ_STORE_VALUE || n->dst >= b->fu->f->ninst;
    st.node = lz_func_node(b->fu->f, whole ? n->v : n->dst);
    return lz_vec_push(&b->e.stores, st);
}

lz_status lz_build_point(build *b, lz_fusion_node *n)
{
    lz_ixmap m;
    int32_t sop = -1;
    lz_build_map(b, n, 0, n->rank, &m);
    LZ_TRY(lz_emit_value(&b->e, n->v, &m, -1, &sop));
    LZ_TRY(lz_build_stopped(b));
    return lz_build_store(b, n, &m, n->dst, sop);
}

/* One value per outer point of a reduction or product of this group. */
lz_status lz_build_results(build *b, lz_fusion_node *n)
{
    for (uint32_t k = 0; k < n->nres; k++) {
        lz_ixmap m;
        int32_t sop = -1;
        if (n->res[k] == LZ_NONE || !(n->stores >> k & 1))
            continue;
        lz_build_map(b, n, 0, n->rank, &m);
        LZ_TRY(lz_emit_value(&b->e, n->res[k], &m, -1, &sop));
        LZ_TRY(lz_build_stopped(b));
        LZ_TRY(lz_build_store(b, n, &m, n->res[k], sop));
    }
    return LZ_OK;
}

lz_status lz_build_reduction(build *b, lz_fusion_node *n, uint32_t i)
{
    lz_ixmap m;
    int32_t sop;
    lz_build_map(b, n, 0, n->rank, &m);
    lz_build_map(b, n, n->rank, n->ninner, &b->e.inner);
    uint32_t acc = 0;
    for (uint32_t j = 0; j < b->e.reds.len; j++)
        acc += b->e.reds.data[j].nacc;
    LZ_TRY(lz_emit_root(&b->e, n->v, &m, &sop));
    LZ_TRY(lz_build_stopped(b));
    b->red_stage[i] = b->k->nstage;
    b->red_acc[i] = acc;
    if (n->kind == LZ_FUSION_DOT) {
        b->dot_a = b->e.dot_a;
        b->dot_b = b->e.dot_b;
    }
    return LZ_OK;
}

static bool is_reduction(const lz_fusion_node *n)
{
    return n->kind == LZ_FUSION_REDUCE || n->kind == LZ_FUSION_DOT;
}

static lz_status full_stage(build *b, uint32_t level)
{
    lz_build_open(b, level, true);
    for (uint32_t i = 0; i < b->g->nodes.len; i++) {
        lz_fusion_node *n = lz_build_node(b, i);
        b->current = b->g->nodes.data[i];
        if (n->level != level || !n->full)
            continue;
        if (is_reduction(n)) {
            LZ_TRY(lz_build_reduction(b, n, i));
        } else if (n->stored || n->spill) {
            LZ_TRY(lz_build_point(b, n));
        }
    }
    for (uint32_t i = 0; i < b->g->nodes.len; i++)
        if (lz_build_node(b, i)->full && lz_build_node(b, i)->level == level &&
            (lz_build_node(b, i)->stored || lz_build_node(b, i)->spill) &&
            lz_build_node(b, i)->kind == LZ_FUSION_POINT)
            b->stored_at[i] = b->k->nstage;
    return lz_build_close(b);
}

lz_status lz_build_last(build *b)
{
    lz_build_open(b, LZ_NONE, false);
    for (uint32_t i = 0; i < b->g->nodes.len; i++) {
        lz_fusion_node *n = lz_build_node(b, i);
        b->current = b->g->nodes.data[i];
        if (!n->stored || (n->kind == LZ_FUSION_DOT && b->g->rows))
            continue;
        if (is_reduction(n)) {
            LZ_TRY(lz_build_results(b, n));
        } else if (!n->full) {
            LZ_TRY(lz_build_point(b, n));
        }
    }
    return lz_build_close(b);
}

/* A stage over all points of the first node, which is no product and no reduction: a scatter, a
 * sort. */
lz_status lz_build_root(build *b)
{
    lz_fusion_node *n = lz_build_node(b, 0);
    lz_ixmap m;
    int32_t sop;
    lz_build_open(b, 0, true);
    b->current = b->g->nodes.data[0];
    lz_build_map(b, n, 0, n->rank, &m);
    LZ_TRY(lz_emit_root(&b->e, n->v, &m, &sop));
    LZ_TRY(lz_build_stopped(b));
    return lz_build_close(b);
}

/* ---- the kernel ---- */

static void name_kernel(build *b)
{
    char *p = b->k->name;
    size_t room = sizeof b->k->name, at = 0;
    uint32_t n = b->g->nodes.len;
    for (uint32_t i = 0; i < n && i < 4; i++) {
        const lz_fusion_node *x = lz_build_node(b, i);
        const char *t = lz_op_get(lz_inst_op(&b->fu->f->insts[x->v]))->text;
        if (x->store == LZ_STORE_COPY)
            t = "copy";
        else if (x->store == LZ_STORE_PIECE)
            t = "concatenate";
        else if (x->store == LZ_STORE_UPDATE)
            t = "update_slice";
        int w = snprintf(p + at, room - at, "%s%s", i ? "_" : "", t);
        if (w < 0 || (size_t)w >= room - at)
            break;
        at += (size_t)w;
    }
}

static lz_status make_kernel(build *b)
{
    const lz_group *g = b->g;
    lz_kernel *k = b->k;
    uint32_t top = 0;
    k->nouter = g->nouter;
    for (uint32_t a = 0; a < g->ax.n; a++) {
        b->loop_of[a] = (uint8_t)a;
        if (a < g->nouter) {
            k->outer[a].v = g->ax.ext[a];
            k->outer[a].slot = -1;
        }
    }
    k->stages = lz_arena_alloc(b->e.arena, LZ_STAGE_MAX * sizeof *k->stages);
    if (!k->stages)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        b->red_stage[i] = b->stored_at[i] = b->row_stage[i] = LZ_NONE;
        top = lz_build_node(b, i)->level > top ? lz_build_node(b, i)->level : top;
    }
    if (lz_build_node(b, 0)->kind == LZ_FUSION_SCATTER) {
        k->serial = g->nouter == 0;
        LZ_TRY(lz_build_root(b));
    } else if (lz_build_node(b, 0)->kind == LZ_FUSION_SORT) {
        LZ_TRY(lz_build_sort(b));
    } else if (lz_build_node(b, 0)->kind == LZ_FUSION_SCAN) {
        LZ_TRY(lz_build_scan(b));
    } else if (g->rows) {
        LZ_TRY(lz_build_rows(b, top));
    } else {
        for (uint32_t l = 0; l <= top; l++)
            LZ_TRY(full_stage(b, l));
        LZ_TRY(lz_build_last(b));
    }
    for (uint32_t s = 0; s < k->nstage; s++)
        for (uint32_t i = 0; i < k->stages[s].nacc; i++)
            k->buf[k->stages[s].accs[i].buf].read = true;
    name_kernel(b);
    return g->rows ? lz_loops_normalize_b2b(k)
                   : lz_loops_normalize(k, g->product, b->dot_a, b->dot_b);
}

/* Buffers that lost their last access (a load nothing used) leave. */
static void drop_buffers(build *b)
{
    uint32_t id[LZ_KBUF_MAX], n = 0;
    for (uint32_t i = 0; i < b->nbuf; i++) {
        id[i] = n;
        if (!b->k->buf[i].read && !b->k->buf[i].written)
            continue;
        b->k->buf[n] = b->k->buf[i];
        b->buf[n++] = b->buf[i];
    }
    b->nbuf = b->k->nbuf = n;
    for (uint32_t s = 0; s < b->k->nstage; s++) {
        lz_stage *st = &b->k->stages[s];
        for (uint32_t i = 0; i < st->nacc; i++)
            st->accs[i].buf = id[st->accs[i].buf];
        for (uint32_t i = 0; i < st->nstore; i++)
            st->stores[i].at.buf = id[st->stores[i].at.buf];
    }
}

void lz_lowered_done(lz_lowered *l)
{
    lz_kernel_free(l->kernel);
    lz_free(l->buf);
    lz_free(l->alone);
    lz_free(l->nodes);
}

bool lz_lowered_writes(const lz_lowered *l, uint32_t i)
{
    if (l->kernel)
        return l->kernel->buf[i].written;
    if (l->done)
        return false;
    return i < l->nres || (l->works && i == l->nbuf - 1);
}

/* A value that a while carries, when nothing else that it is given has that memory. */
int32_t lz_lowered_inplace(const lz_lowered *l, uint32_t i)
{
    if (l->kernel)
        return l->kernel->buf[i].inplace_ok ? l->kernel->buf[i].inplace_with : -1;
    uint32_t n = l->nres;
    return l->alone && i < n && l->alone[i] ? (int32_t)(n + i) : -1;
}

/* The stages there are, in the kernel's own memory. */
static lz_status finish(build *b, const uint32_t *prefer)
{
    lz_kernel *k = b->k;
    drop_buffers(b);
    lz_loops_inplace(k, b->buf, prefer);
    k->stages = lz_arena_copy(&k->arena, k->stages, k->nstage * sizeof *k->stages);
    if (!k->stages)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    return lz_kernel_finish(k);
}

lz_status lz_to_loops(const lz_fusion *fu, const lz_group *g, const uint32_t *prefer,
                      lz_arena *scratch, lz_lowered *out)
{
    memset(out, 0, sizeof *out);
    build *b = lz_calloc(1, sizeof *b);
    uint32_t *ids = lz_calloc(5 * (size_t)g->nodes.len + 1, sizeof *ids);
    lz_kernel *k = b && ids ? lz_kernel_new("") : NULL;
    if (!k) {
        lz_free(b);
        lz_free(ids);
        return LZ_FAIL(LZ_EMEM, "out of memory");
    }
    b->fu = fu;
    b->g = g;
    b->k = k;
    b->red_stage = ids;
    b->red_acc = ids + g->nodes.len;
    b->stored_at = ids + 2 * g->nodes.len;
    b->row_stage = ids + 3 * g->nodes.len;
    b->row_at = ids + 4 * g->nodes.len;
    b->dot_a = b->dot_b = -1;
    lz_emit_init(&b->e, fu->f, scratch);
    b->e.leaf = real_leaf;
    b->e.target = scatter_target;
    b->e.env = b;
    lz_status s = make_kernel(b);
    if (s == LZ_OK)
        s = finish(b, prefer);
    if (s == LZ_OK) {
        out->buf = lz_alloc((b->nbuf + 1) * sizeof *out->buf);
        if (!out->buf)
            s = LZ_FAIL(LZ_EMEM, "out of memory");
    }
    if (s == LZ_OK) {
        out->kernel = k;
        out->nbuf = b->nbuf;
        memcpy(out->buf, b->buf, b->nbuf * sizeof *out->buf);
        out->flops = b->flops;
        lz_build_order_costs(b);
        out->nnode = b->nodes.len;
        out->nodes = b->nodes.data;
    } else {
        lz_vec_free(&b->nodes);
        lz_kernel_free(k);
    }
    lz_emit_done(&b->e);
    lz_arena_reset(scratch);
    lz_free(ids);
    lz_free(b);
    return s;
}
