/* simt_reduce_row.c - row reductions: a block, or a warp where rows are short, per row; its threads
 * share the last inner loop of every stage. Accumulators are combined within a warp by shuffles,
 * then between the warps of a block through shared memory, in an order that depends on the number
 * of threads only. Every thread gets the result, so later stages go on from it; what a stage
 * without inner loops stores is stored by one thread. Where all accesses are contiguous, aligned
 * and of whole vectors, which is found out at the start of the code, threads take vectors. What
 * several stages read of such a row is held in registers, where it is few vectors a thread: all of
 * it is under way at once, and is read once. Few long rows are split (simt_reduce_split.c).
 * Threads: belongs to one thread. */
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

/* ---- rows in registers ---- */

typedef struct held_row {
    simt_held h;
    Ev value[SIMT_HELD][SIMT_HELD_SLOTS];
    bool known[SIMT_HELD]; /* some stage has loaded it */
} held_row;

/* The stage's op that is load `access`; -1: none is evaluated. */
static int32_t load_op(const kstage *t, uint32_t access)
{
    for (uint32_t i = 0; i < t->s->nsop; i++)
        if (t->s->sops[i].kind == LZ_S_LOAD && (uint32_t)t->s->sops[i].a == access && t->vec[i])
            return (int32_t)i;
    return -1;
}

/* A vector of load op `op` where the loop stands. */
static Ev load_one(kern *c, uint32_t s, uint32_t j, const kctx *x, int32_t op)
{
    kern_addresses(c, s, (int)(POS_INNER + j));
    kern_eval_part(c, s, (int)(POS_INNER + j), x, (uint32_t)op, (uint32_t)op + 1);
    return c->st[s].val[op][0];
}

/* What a thread has of the loop: vectors of a piece of it that is its warp's. Slot u is from at[u],
 * if `is`. They are so many elements apart that it is known here, which takes fewer registers. */
typedef struct slots {
    unsigned n;
    Val at[SIMT_HELD_SLOTS], is[SIMT_HELD_SLOTS];
} slots;

static void slots_of(kern *c, uint32_t s, uint32_t j, slots *o)
{
    simt *simt_of = c->threads->user;
    em *e = c->e;
    unsigned apart = SIMT_WARP * c->lanes;
    o->n = simt_held_slots(c->lanes);
    Val warp = SEL(simt_of->by_warps, em_c64(e, 0), LSHR(simt_of->tid, em_c64(e, 5))),
        lane = AND(simt_of->tid, em_c64(e, SIMT_WARP - 1));
    Val first = ADD(MUL(warp, em_c64(e, (int64_t)o->n * apart)), MUL(lane, em_c64(e, c->lanes)));
    Val left = LLVMBuildTrunc(e->b, SUB(kern_inner(c, s, j), first), e->i32, "");
    for (unsigned u = 0; u < o->n; u++) {
        o->at[u] = ADD(first, em_c64(e, (int64_t)u * apart));
        o->is[u] = ICMP(SGT, left, em_c32(e, u * apart));
    }
}

/* What this stage is the first to load, all slots of it. */
static void load_held(kern *c, uint32_t s, uint32_t j, const kctx *x, const slots *o, held_row *r)
{
    em *e = c->e;
    em_if in;
    for (uint32_t i = 0; i < r->h.nload; i++) {
        uint32_t v = r->h.load[i].value;
        int32_t op = load_op(&c->st[s], r->h.load[i].access);
        if (r->h.load[i].stage != s || r->known[v] || op < 0)
            continue;
        r->known[v] = true;
        for (unsigned u = 0; u < o->n; u++) {
            em_if_begin(e, &in, o->is[u]);
            c->iidx[j] = o->at[u];
            Val one = load_one(c, s, j, x, op).v, none = LLVMConstNull(LLVMTypeOf(one));
            em_if_end(e, &in, 1, &one, &none, &r->value[v][u].v);
        }
    }
}

/* The values of slot u in place of the stage's loads; which ops are not evaluated. */
static void use_held(kern *c, uint32_t s, const held_row *r, unsigned u, bool *skip)
{
    kstage *t = &c->st[s];
    for (uint32_t i = 0; i < r->h.nload; i++) {
        int32_t op = load_op(t, r->h.load[i].access);
        if (r->h.load[i].stage != s || op < 0 || !r->known[r->h.load[i].value])
            continue;
        t->val[op][0] = r->value[r->h.load[i].value][u];
        skip[op] = true;
    }
}

/* kern_threads.last_loop */
static void held_loop(kern *c, uint32_t s, uint32_t j, int64_t side, const kctx *x, kern_accs *a)
{
    simt *simt_of = c->threads->user;
    held_row *r = simt_of->held_row;
    em *e = c->e;
    kstage *t = &c->st[s];
    bool *skip = t->skip, *now = lz_arena_alloc(&c->arena, t->s->nsop);
    slots o;
    em_if in;
    Val was[EM_PHI], out[EM_PHI];
    if (!now) {
        em_fail(e, e->i1, "no memory for a list of scalar ops");
        return;
    }
    memcpy(now, skip, t->s->nsop);
    (void)side;
    slots_of(c, s, j, &o);
    load_held(c, s, j, x, &o, r);
    for (unsigned u = 0; u < o.n; u++) {
        use_held(c, s, r, u, now);
        int n = kern_accs_flatten(a, was);
        em_if_begin(e, &in, o.is[u]);
        c->iidx[j] = o.at[u];
        kern_addresses(c, s, (int)(POS_INNER + j));
        t->skip = now;
        kern_eval(c, s, (int)(POS_INNER + j), x);
        t->skip = skip;
        kern_accs_add(c, s, x, a);
        kern_stores(c, s, x);
        kern_accs_flatten(a, out);
        em_if_end(e, &in, n, out, was, out);
        kern_accs_unflatten(a, out);
    }
}

static Val equal(kern *c, lz_sz a, lz_sz b)
{
    em *e = c->e;
    return ICMP(EQ, kern_size(c, a), kern_size(c, b));
}

/* Whether it can be done with these sizes, and is worth it: the loop has one load of a thread under
 * way where these are few. */
static Val held_here(simt *s, kern *c, const simt_held *h)
{
    enum { FEW = 2 };
    em *e = c->e;
    const lz_kernel *k = c->k;
    Val ok = em_true(e, 1), step = SEL(s->by_warps, em_c64(e, SIMT_WARP), s->ntid), n = NULL;
    const lz_stage *one = NULL;
    for (uint32_t i = 0; i < k->nstage; i++) {
        if (k->stages[i].ninner && one)
            ok = AND(ok, equal(c, one->extent[0], k->stages[i].extent[0]));
        if (k->stages[i].ninner && !one)
            n = kern_size(c, (one = &k->stages[i])->extent[0]);
    }
    for (uint32_t i = 0; i < h->nload; i++)
        for (uint32_t q = 0; q < i; q++) {
            const lz_access *a = &k->stages[h->load[i].stage].accs[h->load[i].access],
                            *b = &k->stages[h->load[q].stage].accs[h->load[q].access];
            if (h->load[i].value != h->load[q].value)
                continue;
            ok = AND(ok, equal(c, a->offset, b->offset));
            for (uint32_t d = 0; d < k->nouter; d++)
                ok = AND(ok, equal(c, a->stride[d], b->stride[d]));
            break;
        }
    int64_t most = simt_held_slots(c->lanes);
    ok = AND(ok, ICMP(SLE, n, MUL(step, em_c64(e, most * c->lanes))));
    return AND(ok, ICMP(SGT, n, MUL(step, em_c64(e, FEW * c->lanes))));
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
    threads.last_loop = s->held_row ? held_loop : NULL;
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

/* Rows in vectors: those that are held, and others. */
static void points_in_vectors(simt *s, kern *many, Val first, Val step)
{
    em *e = s->e;
    em_ifelse which;
    held_row r = {0};
    simt_held_of(s->k, &r.h);
    if (!r.h.n) {
        points(s, many, first, step);
        return;
    }
    em_ifelse_begin(e, &which, held_here(s, many, &r.h));
    s->held_row = &r;
    points(s, many, first, step);
    s->held_row = NULL;
    em_ifelse_else(e, &which);
    points(s, many, first, step);
    em_ifelse_end(e, &which, 0, NULL, NULL, NULL);
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
    points_in_vectors(s, many, first, step);
    em_ifelse_else(e, &which);
    points(s, c, first, step);
    em_ifelse_end(e, &which, 0, NULL, NULL, NULL);
}
