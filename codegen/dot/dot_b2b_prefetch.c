/* dot_b2b_prefetch.c - back-to-back GEMMs: prefetches the operands of the next point into the L2
 * cache. It does so while points are worked on, whose rows are in L1: the micro-kernel and the
 * packing would wait for so many cache lines at once. Each point prefetches its part of the next
 * right operands, and a row of the next block's left ones.
 * Threads: belongs to one thread. */
#include "codegen/dot/dot_b2b.h"
#include <string.h>

/* Lines of rows lo..hi-1, n elements each, into the cache of the second level. */
static void fetch_rows(em *e, Val at, Val stride, Val lo, Val hi, Val n, unsigned es)
{
    em_loop li, lj;
    em_loop_begin(e, &li, lo, hi, em_c64(e, 1), 0, NULL);
    em_loop_begin(e, &lj, em_c64(e, 0), n, em_c64(e, LINE / es), 0, NULL);
    em_prefetch(e, em_at(e, em_at(e, at, MUL(li.i, stride), es), lj.i, es), false, 2);
    em_loop_end(e, &lj, NULL);
    em_loop_end(e, &li, NULL);
}

/* Whether an access reads elsewhere at the next point of the other loops: i1, or NULL where it
 * never does. */
static Val moves_on(dot_b2b *r, kern *f, const lz_access *a)
{
    em *e = r->e;
    Val by = NULL;
    for (uint32_t d = 0; d + 1 < r->k->nouter; d++) {
        if (lz_sz_is(a->stride[d], 0))
            continue;
        Val step = MUL(SUB(r->next[d], r->c.oidx[d]), kern_size(f, a->stride[d]));
        by = by ? ADD(by, step) : step;
    }
    return by ? ICMP(NE, by, em_c64(e, 0)) : NULL;
}

/* What of a factor is fetched: rows lo..hi-1 along loop `across`, n contiguous elements along
 * loop `line`. */
typedef struct part {
    uint32_t line, across;
    Val lo, hi, n;
} part;

/* Of the accesses that factor f is made of; `fresh`: only of those that read elsewhere than at this
 * point of the other loops. */
static void prefetch_factor(dot_b2b *r, product *p, kern *f, const part *x, bool fresh)
{
    em *e = r->e;
    for (uint32_t j = 0; j < p->stage.nsop; j++) {
        const lz_sop *op = &p->stage.sops[j];
        if (op->kind != LZ_S_LOAD || f->st[0].skip[j])
            continue;
        const lz_access *a = &p->stage.accs[op->a];
        Val moves = fresh ? moves_on(r, f, a) : em_true(e, 1);
        if (!moves || a->ndyn || a->guard >= 0 || !lz_sz_is(a->stride[x->line], 1) ||
            lz_sz_is(a->stride[x->across], 0))
            continue;
        em_if s;
        em_if_begin(e, &s, moves);
        fetch_rows(e, f->st[0].ptr[POS_ROW][op->a], kern_size(f, a->stride[x->across]), x->lo,
                   x->hi, x->n, em_esize(op->dtype));
        em_if_end(e, &s, 0, NULL, NULL, NULL);
    }
}

/* Part i of M of the right factor of the next point of the other loops. */
static void prefetch_right(dot_b2b *r, product *p, Val i)
{
    em *e = r->e;
    dot *g = &p->g;
    bool b_rows = g->bmode == DOT_B_ROWS;
    Val many = b_rows ? g->K : g->N;
    memcpy(g->b.oidx, r->next, sizeof r->next);
    kern_advance(&g->b, 0, POS_TOP, POS_ROW, dot_fixed_loops(g));
    part x = {b_rows ? g->n : g->kd, b_rows ? g->kd : g->n, dot_cut(e, many, r->M, i),
              dot_cut(e, many, r->M, ADD(i, em_c64(e, 1))), b_rows ? g->N : g->K};
    prefetch_factor(r, p, &g->b, &x, true);
}

/* The left factor of the point a block behind point i, which may be one of the next point of the
 * other loops. */
static void prefetch_left(dot_b2b *r, product *p, Val i)
{
    em *e = r->e;
    dot *g = &p->g;
    Val at = ADD(i, em_c64(e, BLOCK)), over = ICMP(SGE, at, r->M);
    at = SEL(over, SUB(at, r->M), at);
    for (uint32_t d = 0; d < g->m; d++)
        g->a.oidx[d] = SEL(over, r->next[d], r->c.oidx[d]);
    kern_advance(&g->a, 0, POS_TOP, POS_ROW, dot_fixed_loops(g));
    em_if s;
    em_if_begin(e, &s, AND(ICMP(SLT, at, r->M), OR(r->more, NOT(over))));
    part x = {g->kd, g->m, at, ADD(at, em_c64(e, 1)), g->K};
    prefetch_factor(r, p, &g->a, &x, false);
    em_if_end(e, &s, 0, NULL, NULL, NULL);
}

void dot_b2b_prefetch(dot_b2b *r, Val i)
{
    em *e = r->e;
    em_if s;
    for (uint32_t p = 0; p < r->k->nstage; p++)
        if (r->p[p] && !r->p[p]->left)
            prefetch_left(r, r->p[p], i);
    em_if_begin(e, &s, r->more);
    for (uint32_t p = 0; p < r->k->nstage; p++)
        if (r->p[p])
            prefetch_right(r, r->p[p], i);
    em_if_end(e, &s, 0, NULL, NULL, NULL);
}
