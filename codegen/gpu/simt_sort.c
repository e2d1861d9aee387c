/* simt_sort.c - bitonic sort of rows: a block per long row; short ones are sorted by one thread
 * each (simt_elementwise.c). A block's rows, and the original index of each element, are in its
 * part of the workspace. The network is Batcher's bitonic one with ascending comparators only, so
 * padding past the end of a row never moves; threads compare and exchange the pairs of a step in
 * parallel. Ties are broken by the original index, so the sort is stable. An inconsistent
 * comparator still gives a permutation. Source: Knuth 5.3.4. Threads: belongs to one thread. */
#include "codegen/loops/kernels_sort.h"
#include "codegen/gpu/simt_kern.h"

/* ---- single pairs ---- */

static Val place_of(kern *c, const ksort *t, Val i)
{
    return em_at(c->e, t->set2, i, 8); /* the second set is not used otherwise */
}

/* Elements i < j change places where j comes first. */
static void settle(kern *c, const ksort *t, Val i, Val j)
{
    em *e = c->e;
    Val x[SORT_COLS], y[SORT_COLS];
    em_if swap;
    for (uint32_t k = 0; k < t->ncol; k++) {
        x[k] = kern_sort_load(c, t, t->set, k, i);
        y[k] = kern_sort_load(c, t, t->set, k, j);
    }
    Val pi = em_load(e, e->i64, place_of(c, t, i), 8),
        pj = em_load(e, e->i64, place_of(c, t, j), 8);
    Val second = kern_sort_before(c, t, y, x), first = kern_sort_before(c, t, x, y);
    Val tie = AND(NOT(first), ICMP(SLT, pj, pi));
    em_if_begin(e, &swap, OR(second, tie));
    for (uint32_t k = 0; k < t->ncol; k++) {
        kern_sort_store(c, t, t->set, k, i, y[k]);
        kern_sort_store(c, t, t->set, k, j, x[k]);
    }
    em_store(e, pj, place_of(c, t, i), 8);
    em_store(e, pi, place_of(c, t, j), 8);
    em_if_end(e, &swap, 0, NULL, NULL, NULL);
}

/* All pairs of a step: those `h` apart in blocks of 2 h, or, the first of a merge, those that are
 * as far from the two ends of a block. */
static void step(simt *s, kern *c, const ksort *t, Val h, Val half, bool first)
{
    em *e = c->e;
    em_loop l;
    em_if in;
    Val one = em_c64(e, 1);
    em_loop_begin(e, &l, s->tid, half, s->ntid, 0, NULL);
    Val o = AND(l.i, SUB(h, one)), block = SHL(SUB(l.i, o), one), i = ADD(block, o);
    Val j = first ? SUB(ADD(block, SUB(SHL(h, one), one)), o) : ADD(i, h);
    em_if_begin(e, &in, ICMP(SLT, j, t->n));
    settle(c, t, i, j);
    em_if_end(e, &in, 0, NULL, NULL, NULL);
    em_loop_end(e, &l, NULL);
    simt_barrier(s);
}

/* ---- the network ---- */

/* Loops over powers of two, which em_loop has none of. */
typedef struct powers {
    Blk head, body, done;
    Val h;
} powers;

static void powers_begin(em *e, powers *p, Val from)
{
    Blk pre = LLVMGetInsertBlock(e->b);
    p->head = LLVMAppendBasicBlockInContext(e->cx, e->f, "");
    p->body = LLVMAppendBasicBlockInContext(e->cx, e->f, "");
    p->done = LLVMAppendBasicBlockInContext(e->cx, e->f, "");
    LLVMBuildBr(e->b, p->head);
    LLVMPositionBuilderAtEnd(e->b, p->head);
    p->h = LLVMBuildPhi(e->b, e->i64, "");
    LLVMAddIncoming(p->h, &from, &pre, 1);
}

static void powers_while(em *e, powers *p, Val more)
{
    LLVMBuildCondBr(e->b, more, p->body, p->done);
    LLVMPositionBuilderAtEnd(e->b, p->body);
}

static void powers_end(em *e, powers *p, Val next)
{
    Blk latch = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, p->head);
    LLVMAddIncoming(p->h, &next, &latch, 1);
    LLVMPositionBuilderAtEnd(e->b, p->done);
}

/* kern_threads.sort: the rows of the block's point. */
static void sort(kern *c, uint32_t stage)
{
    simt *s = c->threads->user;
    em *e = c->e;
    ksort *t = c->st[stage].sort;
    Val one = em_c64(e, 1), zero = em_c64(e, 0);
    em_loop l;
    em_loop_begin(e, &l, s->tid, t->n, s->ntid, 0, NULL);
    em_store(e, l.i, place_of(c, t, l.i), 8);
    em_loop_end(e, &l, NULL);
    simt_barrier(s);
    powers up, down;
    powers_begin(e, &up, one); /* blocks of 2 h are sorted afterwards */
    powers_while(e, &up, ICMP(SLT, up.h, t->n));
    /* half of n, up to whole blocks */
    Val twice = SHL(up.h, one), blocks = simt_udiv(e, ADD(t->n, SUB(twice, one)), twice);
    Val half = MUL(blocks, up.h);
    step(s, c, t, up.h, half, true);
    powers_begin(e, &down, LSHR(up.h, one));
    powers_while(e, &down, ICMP(SGT, down.h, zero));
    step(s, c, t, down.h, half, false);
    powers_end(e, &down, LSHR(down.h, one));
    powers_end(e, &up, twice);
    t->sorted = t->set;
}

/* ---- the schedule ---- */

static void point(simt *s, kern *c)
{
    static const kctx one = {.u = 1};
    for (uint32_t i = 0; i < c->k->nstage; i++) {
        kern_addresses(c, i, POS_ROW);
        kern_eval(c, i, POS_ROW, &one);
    }
    for (uint32_t i = 0; i < c->k->nstage; i++) {
        kern_stage(c, i, &one);
        simt_barrier(s); /* what a stage stored, or read of the rows */
    }
}

static void no_shares(kern *c, uint32_t stage, Ev *acc, uint32_t n)
{
    (void)c, (void)stage, (void)acc, (void)n;
}

void simt_sort_body(simt *s, kern *c)
{
    em *e = s->e;
    em_loop l;
    Val size[LZ_OUTER_MAX], n = em_c64(e, 1);
    kern_threads threads = {
        .first = s->tid, .step = s->ntid, .join = no_shares, .sort = sort, .user = s};
    c->threads = &threads;
    kern_sort_enter(c, em_at(e, s->scratch, MUL(s->ctaid, s->share), 1));
    kern_top(c, 0);
    for (uint32_t d = 0; d < c->k->nouter; d++)
        n = MUL(n, size[d] = kern_size(c, c->k->outer[d]));
    em_loop_begin(e, &l, s->ctaid, n, s->nctaid, 0, NULL);
    simt_split(e, l.i, size, c->k->nouter, c->oidx);
    point(s, c);
    em_loop_end(e, &l, NULL);
    c->threads = NULL;
}

Val simt_sorts_long(simt *s, kern *c)
{
    em *e = s->e;
    Val yes = em_ci(e->i1, 0);
    for (uint32_t i = 0; i < c->k->nstage; i++) {
        const lz_stage *st = &c->k->stages[i];
        Val n = em_c64(e, 1);
        for (uint32_t d = 0; d < st->ninner; d++)
            n = MUL(n, kern_size(c, st->extent[d]));
        if (st->sort)
            yes = OR(yes, ICMP(SGE, n, em_c64(e, SIMT_LONG_SORT)));
    }
    return yes;
}
