/* propagate_made.c - values that are made of nothing that is spread: of constants, counters,
 * scalars and what is whole on each device. Equal ones are one instruction, so a sharding must not
 * go through them from one use to another; and as every device can make any part, what one of them
 * is short of costs a slice and no communication. So they take no part in propagation, and get in
 * the end what all their uses agree on.
 * See propagate.h. */
#include "shard/propagate.h"

/* ---- which they are ---- */

/* Whole on each device already. */
static bool is_whole(const lz_prop_node *n)
{
    return !n->type->shape.rank || (n->s && !n->s->open && lz_sharding_is_replicated(n->s));
}

/* Cheap enough to be made by every device, in case uses want other parts. */
static bool may_make(const lz_prop *p, const lz_prop_edge *e)
{
    const lz_sig *s = p->frames.data[e->frame].f->insts[e->by].sig;
    if (e->manual || e->directions != LZ_PROP_BOTH)
        return false;
    switch (lz_op_get(s->op)->cls) {
    case LZ_CLASS_EW:
    case LZ_CLASS_MOVE:
    case LZ_CLASS_RNG:
    case LZ_CLASS_CONTROL:
        return true;
    default:
        return false;
    }
}

static bool is_given(const lz_prop *p, uint32_t node)
{
    return node == LZ_PROP_NONE || p->nodes.data[node].made || p->nodes.data[node].whole;
}

/* Whatever an edge gives is not made of nothing unless all operands are: gives whether some node
 * is not any more. */
static lz_status check_edge(lz_prop *p, uint32_t i)
{
    const lz_prop_edge *e = &p->edges.data[i];
    const uint32_t *end = &p->ends.data[e->first];
    bool all = may_make(p, e);
    for (uint32_t t = 0; t < e->rule->nopnd; t++)
        all &= is_given(p, end[t]);
    for (uint32_t t = e->rule->nopnd; t < e->rule->nopnd + e->rule->nresult && !all; t++) {
        if (end[t] == LZ_PROP_NONE || !p->nodes.data[end[t]].made)
            continue;
        p->nodes.data[end[t]].made = false;
        for (uint32_t k = p->first_edge[end[t]]; k < p->first_edge[end[t] + 1]; k++)
            LZ_TRY(lz_prop_queue(p, p->node_edges[k]));
    }
    return LZ_OK;
}

static bool has_made_operand(const lz_prop *p, const lz_prop_edge *e)
{
    for (uint32_t t = 0; t < e->rule->nopnd; t++) {
        uint32_t n = p->ends.data[e->first + t];
        if (n != LZ_PROP_NONE && p->nodes.data[n].made)
            return true;
    }
    return false;
}

/* At first all that some edge gives and no mark is on; then what is not is taken away. */
lz_status lz_prop_find_made(lz_prop *p)
{
    for (uint32_t n = 0; n < p->nodes.len; n++)
        p->nodes.data[n].whole = is_whole(&p->nodes.data[n]);
    for (uint32_t e = 0; e < p->edges.len; e++) {
        const lz_prop_edge *edge = &p->edges.data[e];
        for (uint32_t t = edge->rule->nopnd; t < edge->rule->nopnd + edge->rule->nresult; t++) {
            uint32_t n = p->ends.data[edge->first + t];
            if (n != LZ_PROP_NONE)
                p->nodes.data[n].made = !p->nodes.data[n].s && !p->nodes.data[n].whole;
        }
    }
    for (uint32_t e = p->edges.len; e-- > 0;)
        LZ_TRY(lz_prop_queue(p, e));
    while (p->list.len) {
        uint32_t e = p->list.data[--p->list.len];
        p->edges.data[e].queued = false;
        LZ_TRY(check_edge(p, e));
    }
    for (uint32_t e = 0; e < p->edges.len; e++)
        p->edges.data[e].feeds = has_made_operand(p, &p->edges.data[e]);
    return LZ_OK;
}

/* ---- what they get ---- */

/* Whatever a node has, no dimension has more than `want` says. */
static lz_status meet(lz_prop *p, uint32_t node, const lz_sharding *want, uint32_t edge,
                      uint32_t giver)
{
    lz_prop_node *n = &p->nodes.data[node];
    lz_sharding s = *want;
    const lz_prop_edge *e = &p->edges.data[edge];
    for (int d = 0; d < s.rank && n->s; d++)
        s.dims[d].n = (uint8_t)lz_axis_list_common(&s.dims[d], &n->s->dims[d]);
    const lz_sharding *made = lz_sharding_get(&s);
    if (!made)
        return lz_error_get()->status;
    if (made == n->s)
        return LZ_OK;
    if (!n->s && giver != LZ_PROP_NONE) {
        const lz_prop_node *g = &p->nodes.data[giver];
        n->cause = g->cause;
        n->cause.by = e->frame == n->frame ? e->by : LZ_NOVAL;
        n->cause.from = g->frame == n->frame ? g->val : LZ_NOVAL;
    }
    n->s = made;
    for (uint32_t i = p->first_edge[node]; i < p->first_edge[node + 1]; i++)
        LZ_TRY(lz_prop_queue(p, p->node_edges[i]));
    return LZ_OK;
}

lz_status lz_prop_give_made(lz_prop *p)
{
    for (uint32_t e = 0; e < p->edges.len; e++) /* the last is visited first: uses before values */
        if (p->edges.data[e].feeds)
            LZ_TRY(lz_prop_queue(p, e));
    while (p->list.len) {
        uint32_t e = p->list.data[--p->list.len];
        p->edges.data[e].queued = false;
        if (p->edges.data[e].feeds)
            LZ_TRY(lz_prop_want(p, e, meet));
    }
    return LZ_OK;
}
