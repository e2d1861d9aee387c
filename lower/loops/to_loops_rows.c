/* to_loops_rows.c - stages of the kernels that take whole rows and reduce nothing: sorts and prefix
 * scans.
 * Threads: as the build. */
#include "lower/loops/to_loops_impl.h"
#include "lower/reduction.h"
#include <string.h>

typedef lz_group_build build;

/* Comparisons of n elements, about. */
static uint64_t comparisons(int64_t points, int64_t n)
{
    uint64_t c = (uint64_t)points, levels = 0;
    while (n > 1) {
        levels++;
        n /= 2;
    }
    return c * levels;
}

/* The loops of the stage being made go over the first positions of dimension d alone. */
static void keep_first(build *b, const lz_fusion_node *n, int64_t d)
{
    for (int a = n->first[d]; a < n->first[d + 1]; a++)
        b->e.ax.ext[b->loop_of[n->axis[a]]] = a + 1 == n->first[d + 1] ? n->keep : 1;
}

/* A stage that fills and sorts the rows, and one that stores those somebody reads. */
lz_status lz_build_sort(build *b)
{
    lz_fusion_node *n = lz_build_node(b, 0);
    const lz_inst *in = &b->fu->f->insts[n->v];
    LZ_TRY(lz_build_root(b));
    int64_t dim = LZ_ATTR(sort, in->sig->attr)->dimension;
    int64_t all = in->sig->opnd[0]->nelem, row = in->sig->opnd[0]->shape.dims[dim];
    uint64_t tests =
        n->keep ? (uint64_t)all + comparisons(all / row * n->keep, n->keep) : comparisons(all, row);
    uint64_t sorting = tests * b->k->stages[0].sort->nbody;
    b->flops += sorting;
    LZ_TRY(lz_build_add_cost(b, lz_func_node(b->fu->f, n->v), sorting));
    b->k->stages[0].sort->partial = n->keep != 0;
    lz_build_open(b, 0, true);
    if (n->keep)
        keep_first(b, n, dim);
    for (uint32_t k = 0; k < n->nres; k++) {
        if (n->res[k] == LZ_NONE || !(n->stores >> k & 1))
            continue;
        lz_sop s;
        memset(&s, 0, sizeof s);
        s.kind = LZ_S_SORTED;
        s.dtype = in->sig->result[k]->dtype;
        s.b = (int32_t)k;
        s.c = -1;
        s.size.slot = -1;
        lz_ixmap m;
        lz_build_map(b, n, 0, n->rank, &m);
        LZ_TRY(lz_build_store(b, n, &m, n->res[k], lz_sops_add(&b->e.sops, &s)));
    }
    return lz_build_close(b);
}

/* One stage that stores the accumulators at every point. */
lz_status lz_build_scan(build *b)
{
    lz_fusion_node *n = lz_build_node(b, 0);
    const lz_inst *in = &b->fu->f->insts[n->v];
    uint32_t half = in->sig->nopnd / 2;
    lz_red_plan p;
    lz_ixmap m, none;
    int32_t sop, init[8] = {0};
    memset(&none, 0, sizeof none);
    lz_red_plan_of(b->fu->f, n->v, &p);
    lz_build_open(b, 0, true);
    b->current = b->g->nodes.data[0];
    lz_build_map(b, n, 0, n->rank, &m);
    lz_fusion_scan_map(b->fu, n->v, &m);
    LZ_TRY(lz_emit_root(&b->e, n->v, &m, &sop));
    for (uint32_t k = 0; k < half && p.fold && !b->e.stop; k++)
        LZ_TRY(lz_emit_value(&b->e, in->opnd[half + k], &none, -1, &init[k]));
    LZ_TRY(lz_build_stopped(b));
    for (uint32_t k = 0; k < n->nres; k++) {
        if (n->res[k] == LZ_NONE || !(n->stores >> k & 1))
            continue;
        LZ_TRY(lz_emit_prefix_read(&b->e, n->v, k, init, &sop));
        lz_ixmap at = m;
        LZ_TRY(lz_build_store(b, n, &at, n->res[k], sop));
    }
    return lz_build_close(b);
}
