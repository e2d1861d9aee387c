/* simt_reduce_row.c - row reductions: a block, or a warp where rows are short, per row; its threads
 * share the last inner loop of every stage. Accumulators are combined within a warp by shuffles,
 * then between the warps of a block through shared memory, in an order that depends on the number
 * of threads only. Every thread gets the result, so later stages go on from it; what a stage
 * without inner loops stores is stored by one thread. Where all accesses are contiguous, aligned
 * and of whole vectors, which is found out at the start of the code, threads take vectors. Few long
 * rows are split (simt_reduce_split.c). Threads: belongs to one thread. */
#include "codegen/gpu/simt_kern.h"
#include <string.h>

enum { TOGETHER = 4 /* vectors of a row whose loads a thread has under way */ };

/* ---- combining ---- */

static Ev shuffled(simt *s, Ev v, unsigned x)
{
    return (Ev){simt_shuffle_xor(s, v.v, x), v.im ? simt_shuffle_xor(s, v.im, x) : NULL};
}

/* Accumulators of reduction q: those of n lanes, a power of two, to all of them; n NULL: of the
 * whole warp. */
static void among_lanes(simt *s, kern *c, const lz_red *q, Ev *acc, Val n)
{
    em *e = s->e;
    for (unsigned x = SIMT_WARP / 2; x; x /= 2) {
        Ev other[8], out[8];
        for (uint32_t k = 0; k < q->nacc; k++)
            other[k] = shuffled(s, acc[k], x);
        kern_merge(c, q, acc, other, q->acc_dtype, out);
        for (uint32_t k = 0; k < q->nacc; k++)
            acc[k] = n ? lz_ev_select(e, ICMP(SGT, n, em_c64(e, x)), out[k], acc[k]) : out[k];
    }
}

/* The accumulators of all warps joined, two and two, for every thread. That of warp w and number k
 * is at SIMT_ACC (w n + k). */
static void between_warps(simt *s, kern *c, const lz_stage *st, Ev *acc, uint32_t n)
{
    em *e = s->e;
    em_if first;
    simt_barrier(s); /* the last use of this memory is over */
    Val warp = LSHR(s->tid, em_c64(e, 5)), lane = AND(s->tid, em_c64(e, SIMT_WARP - 1));
    em_if_begin(e, &first, ICMP(EQ, lane, em_c64(e, 0)));
    uint32_t k0 = 0;
    for (uint32_t r = 0; r < st->nred; k0 += st->reds[r++].nacc)
        for (uint32_t k = 0; k < st->reds[r].nacc; k++)
            simt_acc_put(
                s, acc[k0 + k],
                simt_shared_at(s, warp, SIMT_ACC * (int64_t)n, SIMT_ACC * (int64_t)(k0 + k)));
    em_if_end(e, &first, 0, NULL, NULL, NULL);
    simt_barrier(s);
    /* as many warps as a power of two: lanes that are so many apart have the same ones */
    Val warps = LSHR(s->ntid, em_c64(e, 5)), mine = AND(lane, SUB(warps, em_c64(e, 1)));
    for (uint32_t r = k0 = 0; r < st->nred; k0 += st->reds[r++].nacc)
        for (uint32_t k = 0; k < st->reds[r].nacc; k++)
            acc[k0 + k] = simt_acc_get(
                s, st->reds[r].acc_dtype[k], 1,
                simt_shared_at(s, mine, SIMT_ACC * (int64_t)n, SIMT_ACC * (int64_t)(k0 + k)));
    for (uint32_t r = k0 = 0; r < st->nred; k0 += st->reds[r++].nacc)
        among_lanes(s, c, &st->reds[r], acc + k0, warps);
}

void simt_join_warp(simt *s, kern *c, uint32_t stage, Ev *acc)
{
    const lz_stage *st = &c->k->stages[stage];
    uint32_t k0 = 0;
    for (uint32_t r = 0; r < st->nred; k0 += st->reds[r++].nacc)
        among_lanes(s, c, &st->reds[r], acc + k0, NULL);
}

/* kern_threads.join: the accumulators of every thread's share become the stage's. */
static void join(kern *c, uint32_t stage, Ev *acc, uint32_t n)
{
    simt *s = c->threads->user;
    em *e = s->e;
    em_if whole;
    Val flat[EM_PHI], all[EM_PHI];
    simt_join_warp(s, c, stage, acc);
    int nflat = simt_accs_flatten(acc, n, flat);
    em_if_begin(e, &whole, NOT(s->by_warps));
    between_warps(s, c, &c->k->stages[stage], acc, n);
    simt_accs_flatten(acc, n, all);
    em_if_end(e, &whole, nflat, all, flat, all);
    simt_accs_unflatten(acc, n, all);
}

/* ---- the schedule ---- */

/* What the threads of a point wrote is there for the others. */
static void meet(simt *s)
{
    em *e = s->e;
    em_ifelse which;
    em_ifelse_begin(e, &which, s->by_warps);
    simt_warp_barrier(s);
    em_ifelse_else(e, &which);
    simt_barrier(s);
    em_ifelse_end(e, &which, 0, NULL, NULL, NULL);
}

/* Whether rows are so short that warps take them: simt_schedule.c decides the same for the host. */
static Val short_rows(kern *c)
{
    em *e = c->e;
    Val all = em_true(e, 1);
    for (uint32_t i = 0; i < c->k->nstage; i++) {
        const lz_stage *st = &c->k->stages[i];
        if (st->ninner)
            all = AND(
                all, ICMP(SLE, kern_size(c, st->extent[st->ninner - 1]), em_c64(e, SIMT_WARP_ROW)));
    }
    return all;
}

/* Where rows are divided (simt.rows) */
typedef struct row_split {
    Val slices, slice, chunk; /* of the loop of stage 0 that is split (simt_reduce_split.c) */
    simt_range range;
} row_split;

/* kern_threads.range */
static void range(kern *c, uint32_t s, uint32_t j, Val *lo, Val *hi, Val *step)
{
    simt *simt_of = c->threads->user;
    row_split *r = simt_of->row_split;
    em *e = c->e;
    (void)step;
    if (s != 0)
        return;
    Val mine = ICMP(EQ, r->range.loop, em_c64(e, j)), first = MUL(r->slice, r->chunk);
    *lo = SEL(mine, ADD(*lo, first), *lo);
    *hi = SEL(mine, em_smin(e, *hi, ADD(first, r->chunk)), *hi);
}

/* Into how many slices, and of what size: whole vectors. */
static void divide(simt *s, kern *c, row_split *r)
{
    em *e = c->e;
    int64_t vector = 8;
    simt_range_of(c, 0, true, &r->range);
    r->slices = AND(s->share, em_c64(e, UINT32_MAX));
    Val n = simt_udiv(e, ADD(r->range.extent, SUB(r->slices, em_c64(e, 1))), r->slices);
    Val last = ICMP(EQ, r->range.loop, em_c64(e, c->k->stages[0].ninner - 1));
    r->chunk = SEL(last, AND(ADD(n, em_c64(e, vector - 1)), em_c64(e, -vector)), n);
    s->row_split = r;
    c->threads->range = range;
}

static void stages_from(simt *s, kern *c, uint32_t i)
{
    static const kctx one = {.u = 1};
    for (; i < c->k->nstage; i++) {
        kern_stage(c, i, &one);
        if (c->k->stages[i].nstore && i + 1 < c->k->nstage)
            meet(s); /* a later stage may read it, in another thread */
    }
}

/* The stages of a point, or of a slice of it. */
static void stages(simt *s, kern *c, const row_split *r, Val n, Val point)
{
    static const kctx one = {.u = 1};
    em *e = c->e;
    em_ifelse which;
    if (!r->chunk) {
        stages_from(s, c, 0);
        return;
    }
    kern_stage(c, 0, &one);
    em_ifelse_begin(e, &which, ICMP(SGT, r->slices, em_c64(e, 1)));
    simt_workspace_store(s, c, 0, r->slices, n, r->slice, point,
                         ICMP(EQ, c->threads->first, em_c64(e, 0)));
    em_ifelse_else(e, &which);
    stages_from(s, c, 1);
    em_ifelse_end(e, &which, 0, NULL, NULL, NULL);
}

static void points(simt *s, kern *c, Val first, Val step)
{
    row_split r = {0};
    static const kctx one = {.u = 1};
    em *e = s->e;
    const lz_kernel *k = c->k;
    Val lane = AND(s->tid, em_c64(e, SIMT_WARP - 1)), size[LZ_OUTER_MAX], n = em_c64(e, 1);
    kern_threads threads = {.join = join, .unroll = TOGETHER, .user = s};
    threads.first = SEL(s->by_warps, lane, s->tid);
    threads.step = SEL(s->by_warps, em_c64(e, SIMT_WARP), s->ntid);
    c->threads = &threads;
    for (uint32_t d = 0; d < k->nouter; d++)
        n = MUL(n, size[d] = kern_size(c, k->outer[d]));
    if (simt_split_second(k) == 0)
        divide(s, c, &r);
    em_loop l;
    em_loop_begin(e, &l, first, r.chunk ? MUL(n, r.slices) : n, step, 0, NULL);
    r.slice = r.chunk ? simt_udiv(e, l.i, n) : NULL;
    Val point = r.chunk ? SUB(l.i, MUL(r.slice, n)) : l.i;
    simt_split(e, point, size, k->nouter, c->oidx);
    for (uint32_t i = 0; i < k->nstage; i++) {
        kern_addresses(c, i, POS_ROW);
        kern_eval(c, i, POS_ROW, &one);
    }
    stages(s, c, &r, n, point);
    em_loop_end(e, &l, NULL);
    c->threads = NULL;
}

/* Rows of whole vectors, all at multiples of their size. */
static Val whole_vectors(kern *many)
{
    em *e = many->e;
    Val ok = em_true(e, 1);
    for (uint32_t i = 0; i < many->k->nstage; i++) {
        const lz_stage *st = &many->k->stages[i];
        if (!st->ninner)
            continue;
        Val n = kern_size(many, st->extent[st->ninner - 1]);
        Val left = AND(n, em_c64(e, many->lanes - 1));
        ok = AND(ok, AND(ICMP(EQ, left, em_c64(e, 0)), simt_vectors_aligned(many, i)));
    }
    return ok;
}

void simt_reduce_row_body(simt *s, kern *c, kern *many)
{
    em *e = s->e;
    Val warps = LSHR(s->ntid, em_c64(e, 5)), warp = LSHR(s->tid, em_c64(e, 5));
    s->by_warps = short_rows(c);
    Val first = SEL(s->by_warps, ADD(MUL(s->ctaid, warps), warp), s->ctaid);
    Val step = SEL(s->by_warps, MUL(s->nctaid, warps), s->nctaid);
    kern_top(c, 0);
    if (!many) {
        points(s, c, first, step);
        return;
    }
    em_ifelse which;
    kern_share(many, c);
    kern_top(many, 0);
    em_ifelse_begin(e, &which, whole_vectors(many));
    points(s, many, first, step);
    em_ifelse_else(e, &which);
    points(s, c, first, step);
    em_ifelse_end(e, &which, 0, NULL, NULL, NULL);
}
