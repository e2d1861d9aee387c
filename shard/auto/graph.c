/* graph.c - variables and costs of a function, from the nodes and edges of propagation. See
 * model.h. Edges are taken in their order: an operation whose result has no variable yet gives it
 * one, its own or its leader's; a result that has one already (of a loop, a mark, a group) is moved
 * there.
 * Threads: thread-compatible. */
#include "shard/auto/model.h"
#include "shard/work.h"
#include <string.h>

static lz_status no_memory(void)
{
    return LZ_FAIL(LZ_EMEM, "no memory to search for shardings");
}

/* ---- variables ---- */

static lz_status add_var(lz_auto_model *m, uint32_t node, uint32_t n, uint32_t *out)
{
    lz_auto_var v = {.node = node, .n = n};
    v.own = lz_arena_alloc(m->arena, ((size_t)n + 1) * sizeof *v.own);
    v.memory = lz_arena_alloc(m->arena, ((size_t)n + 1) * sizeof *v.memory);
    v.light = lz_arena_alloc(m->arena, ((size_t)n + 1) * sizeof *v.light);
    if (!v.own || !v.memory || !v.light)
        return no_memory();
    *out = m->vars.len;
    return lz_vec_push(&m->vars, v) == LZ_OK ? LZ_OK : no_memory();
}

static uint32_t manual_of(const lz_auto_model *m, uint32_t frame)
{
    return m->prop.frames.data[frame].manual;
}

static void give_node(lz_auto_model *m, uint32_t node, uint32_t var, const lz_auto_list *at,
                      double cover)
{
    m->nodes[node] = (lz_auto_node){var, at, cover};
}

/* A value that is given: its own variable. */
static lz_status add_leaf(lz_auto_model *m, uint32_t node)
{
    const lz_prop_node *n = &m->prop.nodes.data[node];
    const lz_auto_list *at;
    uint32_t var;
    LZ_TRY(lz_auto_placements(m, n->type, n->s, manual_of(m, n->frame), &at));
    LZ_TRY(add_var(m, node, at->n, &var));
    give_node(m, node, var, at, (double)n->type->nelem);
    return LZ_OK;
}

static lz_status need_node(lz_auto_model *m, uint32_t node)
{
    return m->nodes[node].var == LZ_AUTO_NONE ? add_leaf(m, node) : LZ_OK;
}

/* ---- costs ---- */

/* Moving a value from each placement of one list to each of another. */
static lz_status move_table(lz_auto_model *m, const lz_type *t, const lz_auto_list *from,
                            const lz_auto_list *to, double **out)
{
    const void *key[3] = {t, from, to};
    lz_hash h = lz_hash_bytes(key, sizeof key);
    *out = lz_map_get(&m->tables, h);
    if (*out)
        return LZ_OK;
    *out = lz_arena_alloc(m->arena, (size_t)from->n * to->n * sizeof **out);
    if (!*out || lz_map_put(&m->tables, h, *out) != LZ_OK)
        return no_memory();
    for (uint32_t i = 0; i < from->n; i++)
        for (uint32_t k = 0; k < to->n; k++)
            (*out)[(size_t)i * to->n + k] = lz_auto_move(m, t, from->at[i], to->at[k]);
    return LZ_OK;
}

/* One edge for each pair of variables: costs between them add up. forwards: the table's rows are
 * choices of a. */
static lz_status add_cost(lz_auto_model *m, uint32_t a, uint32_t b, const double *table,
                          double times)
{
    bool swap = a > b;
    uint32_t lo = swap ? b : a, hi = swap ? a : b, na = m->vars.data[a].n, nb = m->vars.data[b].n;
    const uint32_t key[2] = {lo, hi};
    lz_hash h = lz_hash_bytes(key, sizeof key);
    uintptr_t known = (uintptr_t)lz_map_get(&m->pairs, h);
    if (!known && !swap && times == 1) { /* the table may be shared */
        if (lz_map_put(&m->pairs, h, (void *)(uintptr_t)(m->edges.len + 1)) != LZ_OK)
            return no_memory();
        lz_choice_edge e = {lo, hi, table};
        return lz_vec_push(&m->edges, e) == LZ_OK ? LZ_OK : no_memory();
    }
    double *sum = lz_arena_alloc(m->arena, (size_t)na * nb * sizeof *sum);
    if (!sum)
        return no_memory();
    if (known)
        memcpy(sum, m->edges.data[known - 1].cost, (size_t)na * nb * sizeof *sum);
    for (uint32_t i = 0; i < na; i++)
        for (uint32_t k = 0; k < nb; k++)
            sum[swap ? (size_t)k * na + i : (size_t)i * nb + k] +=
                times * table[(size_t)i * nb + k];
    if (known) {
        m->edges.data[known - 1].cost = sum;
        return LZ_OK;
    }
    if (lz_map_put(&m->pairs, h, (void *)(uintptr_t)(m->edges.len + 1)) != LZ_OK)
        return no_memory();
    lz_choice_edge e = {lo, hi, sum};
    return lz_vec_push(&m->edges, e) == LZ_OK ? LZ_OK : no_memory();
}

/* A value of type t is at `from` for the choices of variable a, and wanted at `to` for those of
 * b. */
static lz_status add_move(lz_auto_model *m, const lz_type *t, uint32_t a, const lz_auto_list *from,
                          uint32_t b, const lz_auto_list *to, double times)
{
    double *table;
    if (!t->shape.rank || (a == b && from == to))
        return LZ_OK;
    if (a == b) {
        for (uint32_t i = 0; i < from->n; i++) {
            double seconds = times * lz_auto_move(m, t, from->at[i], to->at[i]);
            m->vars.data[a].own[i] += seconds;
            m->vars.data[a].light[i] += seconds;
        }
        return LZ_OK;
    }
    LZ_TRY(move_table(m, t, from, to, &table));
    return add_cost(m, a, b, table, times);
}

/* ---- operations ---- */

typedef struct step {
    const lz_prop_edge *e;
    const lz_rule *r;
    const lz_sig *sig; /* of an edge that is no instruction, one of its kind; never looked at */
    const uint32_t *ends;
    double times;
    uint32_t var;
    const lz_auto_space *s;
    double cover;
} step;

/* Edges of what regions take and give, and of marks, are of two nodes of one type. */
static bool is_pair(const lz_auto_model *m, const lz_prop_edge *e)
{
    const lz_sig *sig = m->prop.frames.data[e->frame].f->insts[e->by].sig;
    const lz_rule *own = lz_map_get(&m->prop.rules, sig->hash);
    return own != e->rule;
}

/* Where a pair's first node is, its second one begins; or it is moved. */
static lz_status add_pair(lz_auto_model *m, const lz_prop_edge *e, const uint32_t *ends,
                          double times)
{
    lz_auto_node *from = &m->nodes[ends[0]], *to = &m->nodes[ends[1]];
    if (e->manual) /* its two sides are of other types; both are marked */
        return LZ_OK;
    LZ_TRY(need_node(m, ends[0]));
    if (to->var == LZ_AUTO_NONE && !m->prop.nodes.data[ends[1]].s) {
        give_node(m, ends[1], from->var, from->at, from->cover);
        return LZ_OK;
    }
    LZ_TRY(need_node(m, ends[1]));
    return add_move(m, m->prop.nodes.data[ends[0]].type, from->var, from->at, to->var, to->at,
                    times);
}

/* Its own choice, or that of the operand which covers it. */
static lz_status find_space(lz_auto_model *m, step *st)
{
    double *cover = lz_alloc(((size_t)st->r->nopnd + 1) * sizeof *cover);
    uint32_t manual = manual_of(m, st->e->frame);
    if (!cover)
        return no_memory();
    for (uint32_t k = 0; k < st->r->nopnd; k++)
        cover[k] = st->ends[k] == LZ_PROP_NONE ? 0 : m->nodes[st->ends[k]].cover;
    int k = lz_auto_leader(st->r, cover);
    st->cover = k < 0 ? 0 : cover[k];
    lz_free(cover);
    if (k < 0) {
        LZ_TRY(lz_auto_ways(m, st->sig, st->r, manual, &st->s));
        return add_var(m, st->ends[st->r->nopnd], st->s->n, &st->var);
    }
    const lz_auto_node *n = &m->nodes[st->ends[k]];
    st->var = n->var;
    return lz_auto_following(m, st->sig, st->r, (uint32_t)k, n->at, manual, &st->s);
}

static lz_status connect(lz_auto_model *m, const step *st)
{
    const lz_rule *r = st->r;
    for (uint32_t i = 0; i < st->s->n; i++) {
        m->vars.data[st->var].own[i] += st->times * st->s->seconds[i];
        m->vars.data[st->var].light[i] += st->times * st->s->light[i];
    }
    for (uint32_t k = 0; k < r->nopnd; k++) {
        const lz_auto_node *n = st->ends[k] == LZ_PROP_NONE ? NULL : &m->nodes[st->ends[k]];
        if (n)
            LZ_TRY(
                add_move(m, st->sig->opnd[k], n->var, n->at, st->var, st->s->want[k], st->times));
    }
    for (uint32_t k = 0; k < r->nresult; k++) {
        uint32_t at = st->ends[r->nopnd + k];
        const lz_type *t = st->sig->result[k];
        if (at == LZ_PROP_NONE)
            continue;
        if (m->nodes[at].var == LZ_AUTO_NONE && !m->prop.nodes.data[at].s) {
            double n = (double)t->nelem;
            give_node(m, at, st->var, st->s->give[k],
                      st->cover > 0 && st->cover < n ? st->cover : n);
            continue;
        }
        LZ_TRY(need_node(m, at));
        LZ_TRY(
            add_move(m, t, st->var, st->s->give[k], m->nodes[at].var, m->nodes[at].at, st->times));
    }
    return LZ_OK;
}

static lz_status add_edge(lz_auto_model *m, const lz_prop_edge *e)
{
    step st = {.e = e, .r = e->rule, .ends = m->prop.ends.data + e->first};
    st.times = m->rounds[e->frame];
    if (is_pair(m, e))
        return add_pair(m, e, st.ends, st.times);
    st.sig = m->prop.frames.data[e->frame].f->insts[e->by].sig;
    for (uint32_t k = 0; k < st.r->nopnd; k++)
        if (st.ends[k] != LZ_PROP_NONE)
            LZ_TRY(need_node(m, st.ends[k]));
    LZ_TRY(find_space(m, &st));
    return connect(m, &st);
}

/* ---- how often regions are run ---- */

static lz_status find_rounds(lz_auto_model *m)
{
    lz_map of = {0}; /* shardings of a region: its frame, and 1 */
    lz_status s = LZ_OK;
    m->rounds = lz_arena_alloc(m->arena, m->prop.frames.len * sizeof *m->rounds);
    if (!m->rounds)
        return no_memory();
    m->rounds[0] = 1;
    for (uint32_t k = 0; k < m->prop.frames.len && s == LZ_OK; k++) {
        const void *out = m->prop.frames.data[k].out;
        if (lz_map_put(&of, lz_hash_bytes(&out, sizeof out), (void *)(uintptr_t)(k + 1)) != LZ_OK)
            s = no_memory();
    }
    for (uint32_t k = 0; k < m->prop.frames.len && s == LZ_OK; k++) { /* outer ones come first */
        const lz_shardings *out = m->prop.frames.data[k].out;
        for (lz_val v = 0; out->sub && v < 2 * out->f->ninst; v++) {
            const void *sub = out->sub[v];
            uintptr_t frame = sub ? (uintptr_t)lz_map_get(&of, lz_hash_bytes(&sub, sizeof sub)) : 0;
            const lz_inst *in = &out->f->insts[v / 2];
            if (frame)
                m->rounds[frame - 1] =
                    lz_inst_op(in) == LZ_OP_WHILE
                        ? lz_work_times(m->rounds[k], lz_work_rounds(out->f, in, NULL))
                        : m->rounds[k];
        }
    }
    lz_map_free(&of);
    return s;
}

/* ---- parameters and results ---- */

static lz_status add_params(lz_auto_model *m)
{
    for (lz_val v = 0; v < m->f->nparam; v++) {
        uint32_t node = lz_prop_find(&m->prop, m->prop.frames.data[0].node[v]);
        if (node == LZ_PROP_NONE)
            continue;
        LZ_TRY(need_node(m, node));
        const lz_auto_node *n = &m->nodes[node];
        lz_auto_var *var = &m->vars.data[n->var];
        var->param = true;
        var->number = v;
        for (uint32_t i = 0; i < n->at->n; i++) {
            const lz_type *t = lz_sharding_local(n->at->at[i], lz_val_type(m->f, v));
            if (!t)
                return lz_error_get()->status;
            var->memory[i] += (double)t->nbytes;
        }
    }
    return LZ_OK;
}

/* What comes in the place of a parameter is to be where that is. */
static lz_status add_state(lz_auto_model *m)
{
    for (uint32_t k = 0; k < m->f->nresult; k++) {
        const lz_prop_frame *fr = &m->prop.frames.data[0];
        if (m->state_of[k] == LZ_NOVAL)
            continue;
        uint32_t to = lz_prop_find(&m->prop, fr->node[m->state_of[k]]);
        uint32_t from = lz_prop_find(&m->prop, fr->node[m->f->results[k]]);
        if (to == LZ_PROP_NONE || from == LZ_PROP_NONE)
            continue;
        LZ_TRY(need_node(m, from));
        const lz_auto_node *a = &m->nodes[from], *b = &m->nodes[to];
        m->vars.data[b->var].is_state = true;
        LZ_TRY(add_move(m, lz_val_type(m->f, m->f->results[k]), a->var, a->at, b->var, b->at, 1));
    }
    return LZ_OK;
}

lz_status lz_auto_model_build(lz_auto_model *m, const bool *is_state)
{
    m->prop = (lz_prop){.mesh = m->mesh, .arena = m->arena};
    lz_auto_find_units(m->mesh, &m->units);
    LZ_TRY(lz_prop_build(&m->prop, m->f, &m->shardings));
    m->nodes = lz_arena_alloc(m->arena, ((size_t)m->prop.nodes.len + 1) * sizeof *m->nodes);
    m->state_of = lz_arena_alloc(m->arena, ((size_t)m->f->nresult + 1) * sizeof *m->state_of);
    if (!m->nodes || !m->state_of)
        return no_memory();
    for (uint32_t n = 0; n < m->prop.nodes.len; n++)
        m->nodes[n].var = LZ_AUTO_NONE;
    LZ_TRY(lz_auto_find_state(m->f, is_state, m->arena, m->state_of));
    LZ_TRY(find_rounds(m));
    LZ_TRY(add_params(m));
    for (uint32_t e = 0; e < m->prop.edges.len; e++)
        LZ_TRY(add_edge(m, &m->prop.edges.data[e]));
    return add_state(m);
}

void lz_auto_model_free(lz_auto_model *m)
{
    lz_prop_free(&m->prop);
    lz_vec_free(&m->vars);
    lz_vec_free(&m->edges);
    lz_map_free(&m->lists);
    lz_map_free(&m->spaces);
    lz_map_free(&m->tables);
    lz_map_free(&m->moves);
    lz_map_free(&m->pairs);
    lz_arena_free(&m->scratch);
}
