/* propagate.c - from marks to the shardings of all values: the order of visits, and what comes
 * out. See propagate.h and shard.h.
 * The order is Shardy's: priorities of users; in each, stages of operations, those first that never
 * cost communication; in each of these basic steps until nothing changes, then aggressive ones for
 * what they left. A visit is queued by a change of one of its nodes, and a node changes at most
 * once for each axis, so the work is linear in the uses of values, times the axes.
 * Threads: thread-compatible. */
#include "shard/propagate.h"

static lz_status no_memory(void)
{
    return LZ_FAIL(LZ_EMEM, "no memory to propagate shardings");
}

/* ---- the worklist ---- */

lz_status lz_prop_queue(lz_prop *p, uint32_t edge)
{
    if (p->edges.data[edge].queued)
        return LZ_OK;
    p->edges.data[edge].queued = true;
    return lz_vec_push(&p->list, edge) == LZ_OK ? LZ_OK : no_memory();
}

lz_status lz_prop_changed(lz_prop *p, uint32_t node, const lz_sharding *s, const lz_prop_edge *by,
                          uint32_t from)
{
    lz_prop_node *n = &p->nodes.data[node];
    const lz_prop_node *g = &p->nodes.data[from];
    n->s = s;
    if (n->cause.mark == LZ_NOVAL) {
        n->cause.mark = g->cause.mark;
        n->cause.where = g->cause.where;
        n->cause.by = by->frame == n->frame ? by->by : LZ_NOVAL;
        n->cause.from = g->frame == n->frame ? g->val : LZ_NOVAL;
    }
    for (uint32_t i = p->first_edge[node]; i < p->first_edge[node + 1]; i++)
        if (&p->edges.data[p->node_edges[i]] != by)
            LZ_TRY(lz_prop_queue(p, p->node_edges[i]));
    return LZ_OK;
}

/* A queue would visit in order; a stack has the neighbours of a change at hand, and the result is
 * the same but for what aggressive steps decide, which begin with the first of the function. */
static lz_status drain(lz_prop *p, const lz_prop_step *step)
{
    while (p->list.len) {
        uint32_t e = p->list.data[--p->list.len];
        p->edges.data[e].queued = false;
        LZ_TRY(lz_prop_visit(p, e, step));
    }
    return LZ_OK;
}

/* Whether a stage lets an edge do more than the one before. */
static bool begins(const lz_prop_edge *e, int stage)
{
    if (stage == 0)
        return true;
    for (uint32_t f = 0; f < e->rule->nfactor; f++)
        if (lz_prop_directions(e, &e->rule->factors[f], stage) !=
            lz_prop_directions(e, &e->rule->factors[f], stage - 1))
            return true;
    return false;
}

static lz_status run_stage(lz_prop *p, int stage, int priority)
{
    lz_prop_step step = {stage, priority, false};
    for (uint32_t e = p->edges.len; e-- > 0;)
        if (begins(&p->edges.data[e], stage))
            LZ_TRY(lz_prop_queue(p, e));
    LZ_TRY(drain(p, &step));
    step.aggressive = true;
    for (uint32_t e = p->edges.len; e-- > 0;)
        if (p->edges.data[e].clash)
            LZ_TRY(lz_prop_queue(p, e));
    return drain(p, &step);
}

static lz_status run(lz_prop *p)
{
    p->scratch = lz_alloc(lz_prop_scratch(p) + 1);
    if (!p->scratch)
        return no_memory();
    LZ_TRY(lz_prop_find_made(p));
    for (int priority = 0; priority < p->priorities; priority++)
        for (int stage = 0;
             stage < LZ_PROP_STAGES && (p->present[priority / 32] >> priority % 32 & 1); stage++)
            LZ_TRY(run_stage(p, stage, priority));
    return lz_prop_give_made(p);
}

/* ---- what comes out ---- */

static const lz_sharding *placement(const lz_prop *p, const lz_prop_frame *fr,
                                    const lz_prop_node *node)
{
    lz_sharding s;
    if (node->s)
        s = *node->s;
    else
        lz_sharding_init(&s, p->mesh, node->type->shape.rank, false);
    s.manual = fr->manual;
    return lz_sharding_placement(&s);
}

static lz_status give_value(const lz_prop *p, uint32_t frame, lz_val i)
{
    const lz_prop_frame *fr = &p->frames.data[frame];
    uint32_t n = lz_prop_find(p, fr->node[i]);
    fr->out->cause[i] = (lz_shard_cause){.mark = LZ_NOVAL, .from = LZ_NOVAL, .by = LZ_NOVAL};
    if (n == LZ_PROP_NONE || fr->f->insts[i].sig->nresult != 1)
        return LZ_OK;
    const lz_prop_node *node = &p->nodes.data[n];
    fr->out->cause[i] = node->cause;
    bool elsewhere = node->frame != frame;  /* its causes are numbers there */
    if (elsewhere || node->cause.from == i) /* it is one of several that are one */
        fr->out->cause[i].from = LZ_NOVAL;
    if (elsewhere)
        fr->out->cause[i].by = LZ_NOVAL;
    fr->out->at[i] = placement(p, fr, node);
    return fr->out->at[i] ? LZ_OK : lz_error_get()->status;
}

static lz_status give(const lz_prop *p)
{
    for (uint32_t k = 0; k < p->frames.len; k++) {
        const lz_prop_frame *fr = &p->frames.data[k];
        size_t n = (size_t)fr->f->ninst + 1;
        fr->out->at = lz_arena_alloc(p->arena, n * sizeof *fr->out->at);
        fr->out->cause = lz_arena_alloc(p->arena, n * sizeof *fr->out->cause);
        if (!fr->out->at || !fr->out->cause)
            return no_memory();
        for (lz_val i = 0; i < fr->f->ninst; i++)
            LZ_TRY(give_value(p, k, i));
    }
    return LZ_OK;
}

void lz_prop_free(lz_prop *p)
{
    lz_vec_free(&p->nodes);
    lz_vec_free(&p->edges);
    lz_vec_free(&p->ends);
    lz_vec_free(&p->frames);
    lz_vec_free(&p->members);
    lz_vec_free(&p->list);
    lz_map_free(&p->rules);
    lz_map_free(&p->later);
    lz_free(p->scratch);
    lz_arena_free(&p->own);
}

lz_status lz_prop_run(lz_prop *p, const lz_func *f, lz_shardings **out)
{
    lz_status s = lz_prop_build(p, f, out);
    if (s == LZ_OK)
        s = run(p);
    return s == LZ_OK ? give(p) : s;
}

lz_status lz_shard_propagate(const lz_func *f, const lz_mesh *mesh, lz_arena *a, lz_shardings **out)
{
    lz_prop p = {.mesh = mesh, .arena = a};
    lz_status s = lz_prop_run(&p, f, out);
    lz_prop_free(&p);
    return s;
}
