/* simt_reduce_col.c - column reductions: neighbouring elements belong to neighbouring results. The
 * threads of a block are a grid: neighbours in a row of it have neighbouring points (or vectors of
 * them), so that loads are coalesced; its rows ("groups") share the longest inner loop of every
 * stage. Their accumulators are combined in shared memory by halving, so in an order that depends
 * on their number. That number and the slices (simt_reduce_split.c) follow from the sizes alone, so
 * the bits are the same with vectors and without. Threads: belongs to one thread. */
#include "codegen/gpu/simt_kern.h"
#include "lower/loops/loop_impl.h"
#include <string.h>

enum {
    THREADS = SIMT_THREADS,
    TOGETHER = 4 /* elements whose loads a thread has in flight */
};

/* ---- combining ---- */

/* Place i of accumulator k of a reduction: places of each one after the other. */
static Val place(simt_reduce_col *w, const lz_red *q, uint32_t k, unsigned lanes, Val i)
{
    int64_t at = 0;
    for (uint32_t j = 0; j < k; j++)
        at += (int64_t)simt_acc_bytes(q->acc_dtype[j]) * lanes * (THREADS / 2);
    return simt_shared_at(w->s, i, (int64_t)simt_acc_bytes(q->acc_dtype[k]) * lanes, at);
}

static void put(simt_reduce_col *w, const lz_red *q, const Ev *acc, Val i)
{
    for (uint32_t k = 0; k < q->nacc; k++)
        simt_acc_put(w->s, acc[k], place(w, q, k, em_lanes(acc[k].v), i));
}

static void get(simt_reduce_col *w, const lz_red *q, unsigned lanes, Ev *acc, Val i)
{
    for (uint32_t k = 0; k < q->nacc; k++)
        acc[k] = simt_acc_get(w->s, q->acc_dtype[k], lanes, place(w, q, k, lanes, i));
}

/* The upper half of the groups gives what it has to the lower, until one is left. */
static void halve(simt_reduce_col *w, kern *c, const lz_red *q, Ev *acc)
{
    em *e = c->e;
    em_loop l;
    em_if upper, lower;
    unsigned lanes = em_lanes(acc[0].v);
    Val flat[EM_PHI], next[EM_PHI], one = em_c64(e, 1);
    int n = simt_accs_flatten(acc, q->nacc, flat);
    em_loop_begin(e, &l, em_c64(e, 0), w->log2, one, n, flat);
    simt_accs_unflatten(acc, q->nacc, l.phi);
    Val half = LSHR(LSHR(w->groups, one), l.i);
    simt_barrier(w->s); /* what lay there has been read */
    em_if_begin(e, &upper, AND(ICMP(SGE, w->group, half), ICMP(SLT, w->group, ADD(half, half))));
    put(w, q, acc, ADD(MUL(SUB(w->group, half), w->wide), w->column));
    em_if_end(e, &upper, 0, NULL, NULL, NULL);
    simt_barrier(w->s);
    Ev elt[8], out[8];
    (void)simt_accs_flatten(acc, q->nacc, flat);
    em_if_begin(e, &lower, ICMP(SLT, w->group, half));
    get(w, q, lanes, elt, ADD(MUL(w->group, w->wide), w->column));
    kern_merge(c, q, acc, elt, q->acc_dtype, out);
    (void)simt_accs_flatten(out, q->nacc, next);
    em_if_end(e, &lower, n, next, flat, next);
    em_loop_end(e, &l, next);
    simt_accs_unflatten(acc, q->nacc, l.phi);
}

/* kern_threads.join */
static void join(kern *c, uint32_t stage, Ev *acc, uint32_t n)
{
    simt_reduce_col *w = c->threads->user;
    em *e = c->e;
    const lz_stage *st = &c->k->stages[stage];
    Val was[EM_PHI], now[EM_PHI];
    em_if several, first;
    int flat = simt_accs_flatten(acc, n, was);
    em_if_begin(e, &several, ICMP(SGT, w->groups, em_c64(e, 1)));
    for (uint32_t r = 0, k0 = 0; r < st->nred; k0 += st->reds[r++].nacc) {
        const lz_red *q = &st->reds[r];
        unsigned lanes = em_lanes(acc[k0].v);
        halve(w, c, q, acc + k0);
        simt_barrier(w->s);
        em_if_begin(e, &first, ICMP(EQ, w->group, em_c64(e, 0)));
        put(w, q, acc + k0, w->column);
        em_if_end(e, &first, 0, NULL, NULL, NULL);
        simt_barrier(w->s);
        get(w, q, lanes, acc + k0, w->column);
    }
    (void)simt_accs_flatten(acc, n, now);
    em_if_end(e, &several, flat, now, was, now);
    simt_accs_unflatten(acc, n, now);
}

/* ---- the schedule ---- */

/* kern_threads.range: the groups, and before them the slices, share the longest loop. A thread
 * without a point runs none. */
static void range(kern *c, uint32_t s, uint32_t j, Val *lo, Val *hi, Val *step)
{
    simt_reduce_col *w = c->threads->user;
    em *e = c->e;
    Val n = kern_size(c, c->k->stages[s].extent[j]), zero = em_c64(e, 0), one = em_c64(e, 1);
    Val mine = ICMP(EQ, w->range[s].loop, em_c64(e, j)), from = w->group, end = n;
    if (s == w->divided && w->chunk) {
        Val first = MUL(w->slice, w->chunk);
        from = ADD(first, from);
        end = em_smin(e, ADD(first, w->chunk), n);
    }
    *lo = SEL(mine, from, zero);
    *hi = SEL(w->in, SEL(mine, end, n), zero);
    *step = SEL(mine, w->groups, one);
}

void simt_reduce_col_enter(simt_reduce_col *w, kern *c)
{
    em *e = c->e;
    simt *s = w->s;
    w->groups = SHL(em_c64(e, 1), w->log2);
    w->log2_wide = SUB(em_c64(e, SIMT_LOG2_THREADS), w->log2);
    w->wide = SHL(em_c64(e, 1), w->log2_wide);
    w->column = AND(s->tid, SUB(w->wide, em_c64(e, 1)));
    w->group = LSHR(s->tid, w->log2_wide);
    w->threads = (kern_threads){.first = w->group, .step = w->groups, .join = join, .user = w};
    c->threads = &w->threads;
}

void simt_reduce_col_point(simt_reduce_col *w, kern *c, Val block, Val n)
{
    em *e = c->e;
    Val at = ADD(SHL(block, w->log2_wide), w->column);
    w->in = ICMP(SLT, at, n);
    w->point = em_smin(e, at, SUB(n, em_c64(e, 1)));
    c->threads->stores = AND(w->in, ICMP(EQ, w->group, em_c64(e, 0)));
}

static void stages_from(simt_reduce_col *w, kern *c, uint32_t i)
{
    static const kctx one = {.u = 1};
    for (; i < c->k->nstage; i++) {
        kern_stage(c, i, &one);
        if (c->k->stages[i].nstore && i + 1 < c->k->nstage)
            simt_barrier(w->s); /* a later stage may read it, in another thread */
    }
}

/* What the stage that is split left; the linear index of the point, of n, counts vectors. */
static void leave(simt_reduce_col *w, kern *c, Val n)
{
    em *e = c->e;
    Val lanes = em_c64(e, c->lanes);
    simt_workspace_store(w->s, c, w->divided, w->slices, MUL(n, lanes), w->slice,
                         MUL(w->point, lanes), c->threads->stores);
}

/* SIMT_SECOND */
static void second(simt_reduce_col *w, kern *c, Val n)
{
    static const kctx one = {.u = 1};
    em *e = c->e;
    Val lanes = em_c64(e, c->lanes), stores = c->threads->stores;
    simt_workspace_join(w, c, 0, MUL(n, lanes), MUL(w->point, lanes));
    c->threads->stores = em_ci(e->i1, 0);
    for (uint32_t i = 1; i <= w->divided; i++)
        kern_stage(c, i, &one);
    c->threads->stores = stores;
    leave(w, c, n);
}

static void stages(simt_reduce_col *w, kern *c, Val n)
{
    static const kctx one = {.u = 1};
    em *e = c->e;
    em_ifelse which;
    if (!w->chunk) {
        stages_from(w, c, 0);
        return;
    }
    if (w->s->entry == SIMT_SECOND) {
        second(w, c, n);
        return;
    }
    kern_stage(c, 0, &one);
    em_ifelse_begin(e, &which, ICMP(SGT, w->slices, em_c64(e, 1)));
    leave(w, c, n);
    em_ifelse_else(e, &which);
    stages_from(w, c, 1);
    em_ifelse_end(e, &which, 0, NULL, NULL, NULL);
}

static void points(simt *s, kern *c)
{
    static const kctx one = {.u = 1};
    em *e = c->e;
    const lz_kernel *k = c->k;
    uint32_t last = k->nouter - 1;
    Val size[LZ_OUTER_MAX], n = em_c64(e, 1);
    simt_reduce_col w = {.s = s, .log2 = LSHR(s->share, em_c64(e, 32))};
    w.slices = AND(s->share, em_c64(e, UINT32_MAX));
    for (uint32_t i = 0; i < k->nstage; i++)
        simt_range_of(c, i, false, &w.range[i]);
    int other = simt_split_second(k);
    w.divided = s->entry == SIMT_SECOND ? (uint32_t)other : 0;
    if (other >= 0)
        w.chunk =
            simt_udiv(e, ADD(w.range[w.divided].extent, SUB(w.slices, em_c64(e, 1))), w.slices);
    simt_reduce_col_enter(&w, c);
    w.threads.range = range;
    w.threads.unroll = TOGETHER;
    for (uint32_t d = 0; d <= last; d++)
        size[d] = kern_size(c, k->outer[d]);
    size[last] = LLVMBuildUDiv(e->b, size[last], em_c64(e, c->lanes), "");
    for (uint32_t d = 0; d <= last; d++)
        n = MUL(n, size[d]);
    Val blocks = LSHR(ADD(n, SUB(w.wide, em_c64(e, 1))), w.log2_wide);
    em_loop l;
    em_loop_begin(e, &l, s->ctaid, MUL(blocks, w.slices), s->nctaid, 0, NULL);
    w.slice = simt_udiv(e, l.i, blocks);
    simt_reduce_col_point(&w, c, SUB(l.i, MUL(w.slice, blocks)), n);
    simt_split(e, w.point, size, k->nouter, c->oidx);
    c->oidx[last] = MUL(c->oidx[last], em_c64(e, c->lanes));
    for (uint32_t i = 0; i < k->nstage; i++) {
        kern_addresses(c, i, POS_ROW);
        kern_eval(c, i, POS_ROW, &one);
    }
    stages(&w, c, n);
    em_loop_end(e, &l, NULL);
    c->threads = NULL;
}

static Val whole_vectors(kern *many)
{
    em *e = many->e;
    Val n = kern_size(many, many->k->outer[many->k->nouter - 1]),
        ok = ICMP(EQ, AND(n, em_c64(e, many->lanes - 1)), em_c64(e, 0));
    for (uint32_t i = 0; i < many->k->nstage; i++)
        ok = AND(ok, simt_vectors_aligned(many, i));
    return ok;
}

void simt_reduce_col_body(simt *s, kern *c, kern *many)
{
    em *e = s->e;
    em_ifelse which;
    kern_top(c, 0);
    if (!many) {
        points(s, c);
        return;
    }
    kern_share(many, c);
    kern_top(many, 0);
    em_ifelse_begin(e, &which, whole_vectors(many));
    points(s, many);
    em_ifelse_else(e, &which);
    points(s, c);
    em_ifelse_end(e, &which, 0, NULL, NULL, NULL);
}
