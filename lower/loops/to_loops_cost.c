/* to_loops_cost.c - what a kernel does, counted by the nodes it computes: operations by the cost
 * column of ops.def, and elements loaded and stored, so that what only moves data has a share too.
 * Each operation counts once for every point of the loops it depends on: what factors of a product
 * are converted from is converted before it.
 * Cost: O(scalar ops) and a sort of the nodes.   Threads: as to_loops.c. */
#include "lower/loops/loop_impl.h"
#include "lower/loops/to_loops_impl.h"
#include <stdlib.h>
#include <string.h>

static uint64_t points_of(const lz_group_build *b, uint32_t loops)
{
    uint64_t points = 1;
    for (uint32_t l = 0; l < b->e.ax.n; l++)
        points *= loops >> l & 1 ? (uint64_t)b->e.ax.ext[l] : 1;
    return points;
}

lz_status lz_build_add_cost(lz_group_build *b, lz_val node, uint64_t cost)
{
    lz_step_node *last = b->nodes.len ? &b->nodes.data[b->nodes.len - 1] : NULL;
    if (cost == 0)
        return LZ_OK;
    if (last && last->node == node) {
        last->cost += cost;
        return LZ_OK;
    }
    return lz_vec_push(&b->nodes, ((lz_step_node){.node = node, .cost = cost}));
}

static lz_status count_sop(lz_group_build *b, const lz_sop *s, uint32_t loops)
{
    uint64_t points = points_of(b, loops), cost = 0;
    if (s->kind == LZ_S_EW) {
        cost = points * (uint64_t)lz_op_get(s->op)->cost;
        b->flops += cost;
    } else if (s->kind == LZ_S_LOAD) {
        cost = points;
    }
    return lz_build_add_cost(b, s->node, cost);
}

lz_status lz_build_count_costs(lz_group_build *b, const lz_stage *st)
{
    uint32_t *dep = lz_alloc(((size_t)st->nsop + 1) * sizeof *dep);
    if (!dep)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    lz_stage_deps(b->k, st, dep);
    uint64_t all = points_of(b, UINT32_MAX);
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i < st->nsop && s == LZ_OK; i++)
        s = count_sop(b, &st->sops[i], dep[i]);
    for (uint32_t i = 0; i < st->nred && s == LZ_OK; i++) {
        b->flops += all;
        s = lz_build_add_cost(b, st->reds[i].node, all);
    }
    for (uint32_t i = 0; i < st->nstore && s == LZ_OK; i++)
        s = lz_build_add_cost(b, st->stores[i].node, all);
    lz_free(dep);
    return s;
}

static int by_node(const void *x, const void *y)
{
    const lz_step_node *a = x, *b = y;
    return a->node < b->node ? -1 : a->node > b->node;
}

static int by_cost(const void *x, const void *y)
{
    const lz_step_node *a = x, *b = y;
    return a->cost > b->cost ? -1 : a->cost < b->cost ? 1 : by_node(x, y);
}

void lz_build_order_costs(lz_group_build *b)
{
    lz_step_node *v = b->nodes.data;
    uint32_t n = 0;
    if (b->nodes.len)
        qsort(v, b->nodes.len, sizeof *v, by_node);
    for (uint32_t i = 0; i < b->nodes.len; i++) {
        if (n && v[n - 1].node == v[i].node)
            v[n - 1].cost += v[i].cost;
        else
            v[n++] = v[i];
    }
    b->nodes.len = n;
    if (n)
        qsort(v, n, sizeof *v, by_cost);
}
