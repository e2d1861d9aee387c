/* order.c - sums that are cut (reduce_scatter) come as early as what they need lets them. Devices
 * meet in the order of the program, so with all gradients of weights behind the rest of a backward
 * pass, as they are recorded, everything they are made of is kept till then: the gradients of all
 * layers' results. What is only for such a sum moves with it; all else keeps its order.
 * Cost: O(n log n). */
#include "ir/func.h"
#include "shard/partition.h"
#include <stdlib.h>

typedef struct place {
    lz_val at, v; /* behind value `at`, as value v */
} place;

static int by_place(const void *x, const void *y)
{
    const place *a = x, *b = y;
    return a->at != b->at ? (a->at < b->at ? -1 : 1) : a->v < b->v ? -1 : a->v > b->v;
}

enum { NOBODY = UINT32_MAX, SEVERAL = UINT32_MAX - 1 };

/* Of each value the one sum that it is for, or SEVERAL: others need it, too. false: there are no
 * sums that are cut. */
static bool find_sums(const lz_func *f, lz_val *sum)
{
    bool any = false;
    for (lz_val v = 0; v < f->ninst; v++)
        sum[v] = NOBODY;
    for (uint32_t k = 0; k < f->nresult; k++)
        sum[f->results[k]] = SEVERAL;
    for (lz_val v = f->ninst; v-- > 0;) { /* users first */
        const lz_inst *in = &f->insts[v];
        bool stays = v < f->nparam || !in->sig->nopnd || in->sig->nresult > 1 ||
                     in->sig->op == LZ_OP_RESULT ||
                     lz_op_get(in->sig->op)->cls == LZ_CLASS_COLLECTIVE;
        bool is_sum = in->sig->op == LZ_OP_REDUCE_SCATTER || in->sig->op == LZ_OP_ALL_REDUCE;
        sum[v] = is_sum ? v : stays ? SEVERAL : sum[v];
        any |= is_sum;
        for (uint32_t k = 0; k < in->sig->nopnd; k++) {
            lz_val *of = &sum[in->opnd[k]];
            *of = *of == NOBODY || *of == sum[v] ? sum[v] : SEVERAL;
        }
    }
    return any;
}

/* What is for one sum is behind the last of what it needs; the rest is where it was. */
static bool find_places(const lz_func *f, const lz_val *sum, place *p)
{
    bool moved = false;
    for (lz_val v = 0; v < f->ninst; v++) {
        const lz_inst *in = &f->insts[v];
        p[v] = (place){v, v};
        if (sum[v] >= SEVERAL || !in->sig->nopnd)
            continue;
        p[v].at = f->nparam ? f->nparam - 1 : 0;
        for (uint32_t k = 0; k < in->sig->nopnd; k++)
            if (p[in->opnd[k]].at > p[v].at)
                p[v].at = p[in->opnd[k]].at;
        moved |= p[v].at + 1 < v;
    }
    return moved;
}

static lz_status rebuild(const lz_func *f, const place *p, lz_func *to, lz_val *map, lz_val *opnd)
{
    for (lz_val i = 0; i < f->ninst; i++) {
        lz_val v = p[i].v;
        const lz_inst *in = &f->insts[v];
        to->now = (lz_origin){NULL, in->scope, in->node};
        map[v] = v < f->nparam ? lz_build_param(to, lz_val_type(f, v))
                               : lz_build_copy_inst(to, in, map, opnd);
        LZ_TRY(to->status);
        if (in->site)
            to->insts[map[v]].site = in->site;
    }
    for (uint32_t k = 0; k < f->nresult; k++)
        opnd[k] = map[f->results[k]];
    return lz_func_set_results(to, opnd, f->nresult);
}

lz_status lz_shard_order(lz_func **f)
{
    lz_arena a = {0};
    const lz_func *g = *f;
    size_t n = (size_t)g->ninst + 1;
    lz_func *to = NULL;
    lz_val *sum = lz_arena_alloc(&a, n * sizeof *sum);
    place *p = lz_arena_alloc(&a, n * sizeof *p);
    lz_val *map = lz_arena_alloc(&a, n * sizeof *map);
    lz_val *opnd = lz_arena_alloc(&a, (n + lz_func_widest(g) + g->nresult) * sizeof *opnd);
    lz_status s = LZ_OK;
    if (!sum || !p || !map || !opnd) {
        s = LZ_FAIL(LZ_EMEM, "no memory to order the values of %s", g->name);
    } else if (find_sums(g, sum) && find_places(g, sum, p)) {
        qsort(p, g->ninst, sizeof *p, by_place);
        to = lz_func_new(g->name);
        s = to ? rebuild(g, p, to, map, opnd) : lz_error_get()->status;
    }
    lz_arena_free(&a);
    if (s == LZ_OK && to) {
        lz_func_free(*f);
        *f = to;
    } else {
        lz_func_free(to);
    }
    return s;
}
