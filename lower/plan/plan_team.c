/* plan_team.c - runs a plan for several partitions in lock step. See plan_exec.h. Between two
 * launches in which they meet each partition runs by itself, so that what it has just written is
 * still in the caches.
 * Recursion: plans in plans, as deep as regions nest. */
#include "lower/plan/plan_exec_impl.h"
#include <inttypes.h>
#include <string.h>

typedef struct team {
    const lz_plan_exec *g;
    uint32_t n;
    void **states;
    void *user;
    lz_collective_uses *uses;
    void *const **bufs; /* [n], for one collective */
} team;

static lz_status run_together(const team *t, const lz_part *p);

static void *user_of(const team *t, uint32_t q)
{
    return lz_plan_exec_run_of(t->g, t->user, q);
}

static lz_plan_run_one one(const team *t, uint32_t q)
{
    return (lz_plan_run_one){
        .g = t->g, .state = lz_plan_exec_state_of(t->g, t->states, q), .user = user_of(t, q)};
}

/* Buffers of a launch of part p. */
static void *const *bufs_of(const team *t, const lz_part *p, const lz_launch *l, uint32_t q)
{
    return lz_plan_addresses_of(p, lz_plan_exec_state_of(t->g, t->states, q)) + l->slot;
}

static lz_status differ(const char *op, uint32_t q)
{
    return LZ_FAIL(LZ_EINVAL,
                   "%s: the predicates of partitions 0 and %u differ, and there are collectives in "
                   "it",
                   op, q);
}

/* ---- control flow, of all ---- */

static lz_status run_if(const team *t, const lz_part *p, const lz_launch *l)
{
    uint32_t nout = lz_plan_body(t->g, l)->plan->nout;
    const lz_part *branch = NULL;
    bool on = false;
    for (uint32_t q = 0; q < t->n; q++) {
        bool v;
        LZ_TRY(t->g->ops->read_bool(user_of(t, q), bufs_of(t, p, l, q)[nout], &v));
        if (q && v != on)
            return differ("if", q);
        on = v;
    }
    for (uint32_t q = 0; q < t->n; q++) {
        lz_plan_run_one r = one(t, q);
        branch = lz_plan_enter_branch(&r, l, bufs_of(t, p, l, q), on);
    }
    return run_together(t, branch);
}

static lz_status begin_loop(const team *t, const lz_part *p, const lz_launch *l, int64_t *trips)
{
    for (uint32_t q = 0; q < t->n; q++) {
        lz_plan_run_one r = one(t, q);
        int64_t k;
        LZ_TRY(lz_plan_begin_loop(&r, l, bufs_of(t, p, l, q), &k));
        if (q && k != *trips)
            return differ("while", q);
        *trips = k;
    }
    return LZ_OK;
}

static lz_status ask(const team *t, const lz_part *p, const lz_launch *l, bool *more)
{
    const lz_part *cond = NULL;
    for (uint32_t q = 0; q < t->n; q++) {
        lz_plan_run_one r = one(t, q);
        cond = lz_plan_enter_cond(&r, l, bufs_of(t, p, l, q));
    }
    LZ_TRY(run_together(t, cond));
    for (uint32_t q = 0; q < t->n; q++) {
        lz_plan_run_one r = one(t, q);
        bool v;
        LZ_TRY(lz_plan_read_cond(&r, l, bufs_of(t, p, l, q), &v));
        if (q && v != *more)
            return differ("while", q);
        *more = v;
    }
    return LZ_OK;
}

static lz_status iterate(const team *t, const lz_part *p, const lz_launch *l)
{
    const lz_part *body = NULL;
    for (uint32_t q = 0; q < t->n; q++) {
        lz_plan_run_one r = one(t, q);
        body = lz_plan_enter_body(&r, l, bufs_of(t, p, l, q));
    }
    return run_together(t, body);
}

static lz_status end_loop(const team *t, const lz_part *p, const lz_launch *l)
{
    for (uint32_t q = 0; q < t->n; q++) {
        lz_plan_run_one r = one(t, q);
        LZ_TRY(lz_plan_end_loop(&r, l, bufs_of(t, p, l, q)));
    }
    return LZ_OK;
}

static lz_status run_while(const team *t, const lz_part *p, const lz_launch *l)
{
    int64_t trips = -1;
    LZ_TRY(begin_loop(t, p, l, &trips));
    for (int64_t i = 0;; i++) {
        bool more = i < trips;
        if (trips < 0)
            LZ_TRY(ask(t, p, l, &more));
        if (!more)
            return end_loop(t, p, l);
        LZ_TRY(iterate(t, p, l));
    }
}

/* ---- all ---- */

static lz_status meet(const team *t, const lz_part *p, const lz_launch *l)
{
    if (l->step->kind == LZ_STEP_WHILE)
        return run_while(t, p, l);
    if (l->step->kind == LZ_STEP_IF)
        return run_if(t, p, l);
    if (l->step->kind == LZ_STEP_DONE) /* in lock step the start is all of it */
        return LZ_OK;
    const lz_step_collective *c = l->step->collective;
    for (uint32_t q = 0; q < t->n; q++)
        t->bufs[q] = bufs_of(t, p, l, q);
    if (t->uses)
        LZ_TRY(lz_collective_count(t->uses, c->sig, l->step, c->who.largest));
    return t->g->ops->collective(t->user, c, t->bufs);
}

/* Launches from..to-1 of a part. */
typedef struct stretch {
    const team *t;
    const lz_part *p;
    uint32_t from, to;
} stretch;

static lz_status run_stretch(void *ctx, uint32_t q, void *user)
{
    const stretch *s = ctx;
    lz_plan_run_one r = {
        .g = s->t->g, .state = lz_plan_exec_state_of(s->t->g, s->t->states, q), .user = user};
    return lz_plan_run_launches(&r, s->p, s->from, s->to, NULL);
}

static lz_status run_in_order(stretch *s)
{
    for (uint32_t q = 0; q < s->t->n && s->to > s->from; q++)
        LZ_TRY(run_stretch(s, q, user_of(s->t, q)));
    return LZ_OK;
}

/* Kernels only: the device may run those of several partitions at once. */
static lz_status run_kernels(stretch *s)
{
    const team *t = s->t;
    uint64_t flops = 0, bytes = 0;
    if (!t->g->ops->each || s->to == s->from)
        return run_in_order(s);
    for (uint32_t i = s->from; i < s->to; i++) {
        const lz_step *step = lz_plan_launch(t->g, s->p, i)->step;
        flops += step->flops;
        bytes += step->bytes;
    }
    return t->g->ops->each(t->user, t->n, flops, bytes, run_stretch, s);
}

/* A part whose addresses are resolved in all states. Steps of control flow, in which nobody meets
 * anybody, run by themselves: they may call functions of the program's, one at a time. */
static lz_status run_together(const team *t, const lz_part *p)
{
    for (uint32_t i = 0, end; i < p->nlaunch; i = end + 1) {
        const lz_launch *l = NULL;
        for (end = i; end < p->nlaunch; end++) {
            l = lz_plan_launch(t->g, p, end);
            if (l->control)
                break;
        }
        LZ_TRY(run_kernels(&(stretch){t, p, i, end}));
        if (end < p->nlaunch)
            LZ_TRY(l->control->meets ? meet(t, p, l)
                                     : run_in_order(&(stretch){t, p, end, end + 1}));
    }
    return LZ_OK;
}

lz_status lz_plan_exec_run_team(const lz_plan_exec *g, void **states, void *const *temps,
                                void *user, lz_collective_uses *uses)
{
    uint32_t n = g->parts->plan->partitions;
    team t = {g, n, states, user, uses, (void *const **)(void *)(states + n * g->nptr)};
    for (uint32_t q = 0; q < n; q++)
        lz_plan_resolve(g->parts, lz_plan_exec_state_of(g, states, q), temps[q]);
    return run_together(&t, g->parts);
}

/* ---- the loop-IR interpreter ---- */

static lz_status run_slowly(const lz_plan_exec *g, const void *const *const *in,
                            void *const *const *out, void **states, void *const *temps,
                            lz_collective_uses *uses)
{
    const lz_plan *p = g->parts->plan;
    lz_plan_exec_state(g, states, p->partitions);
    for (uint32_t q = 0; q < p->partitions; q++) {
        void **io = lz_plan_exec_io(g, lz_plan_exec_state_of(g, states, q));
        for (uint32_t i = 0; i < p->nin; i++)
            io[i] = (void *)(uintptr_t)in[q][i];
        for (uint32_t k = 0; k < p->nout; k++) {
            io[p->nin + k] = out[q][k];
            if (p->out_alias[k] >= 0)
                LZ_TRY(
                    g->ops->copy(NULL, out[q][k], in[q][p->out_alias[k]], p->out_type[k]->nbytes));
        }
    }
    return lz_plan_exec_run_team(g, states, temps, NULL, uses);
}

/* One block: an address of each partition, then its temporaries. */
static void **make_temps(const lz_plan *p)
{
    size_t each = LZ_ALIGN_UP(p->temp_bytes, 64) + 64;
    void **temps = lz_calloc((size_t)p->partitions + 1, each + sizeof *temps);
    char *first = (char *)LZ_ALIGN_UP((uintptr_t)(temps + p->partitions), 64);
    for (uint32_t q = 0; temps && q < p->partitions; q++)
        temps[q] = first + q * each;
    return temps;
}

lz_status lz_plan_run_partitions(const lz_plan *p, const void *const *const *in,
                                 void *const *const *out, lz_collective_uses *uses)
{
    lz_plan_exec g;
    void **states = NULL;
    void **temps = NULL;
    if (p->partitions == 0)
        return LZ_FAIL(LZ_EINVAL, "the program is one of one device alone");
    lz_status s = lz_plan_exec_begin(&g, p);
    if (s == LZ_OK)
        s = lz_plan_exec_make(&g, &lz_loop_ops, NULL);
    if (s == LZ_OK) {
        states = lz_alloc(lz_plan_exec_nptr(&g, p->partitions) * sizeof *states);
        temps = make_temps(p);
        s = states && temps
                ? run_slowly(&g, in, out, states, temps, uses)
                : LZ_FAIL(LZ_EMEM, "no memory for a run of %u partitions", p->partitions);
    }
    lz_free(states);
    lz_free(temps);
    lz_plan_exec_end(&g);
    return s;
}
