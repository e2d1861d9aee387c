/* plan_exec.c - see plan_exec.h. Recursion: plans in plans, as deep as regions nest
 * (LZ_MAX_REGION_DEPTH). */
#include "lower/plan/plan_exec_impl.h"
#include "lower/plan/plan_collective.h"
#include "lower/linalg_call.h"
#include "lower/routine.h"
#include "lower/loops/loop_impl.h"
#include <inttypes.h>
#include <string.h>

/* Where an address of a launch comes from. */
struct lz_plan_exec_ref {
    uint64_t offset;
    uint32_t slot; /* among the addresses of the part */
    uint32_t base; /* among arguments and results; 0 for the other kinds */
};

/* ---- parts and kernels ---- */

static void count_parts(const lz_plan *p, lz_plan_exec *g)
{
    g->npart++;
    g->nkernel += p->nkernel;
    for (uint32_t i = 0; i < p->nsub; i++)
        count_parts(p->subs[i], g);
}

/* Part number g->npart and, behind it, those it runs. */
static lz_status add_part(lz_plan_exec *g, const lz_plan *plan)
{
    lz_part *p = &g->parts[g->npart++];
    p->plan = plan;
    p->consts = plan->consts;
    p->kernel_at = g->nkernel;
    if (plan->nkernel)
        memcpy(g->kernels + g->nkernel, plan->kernels, plan->nkernel * sizeof *g->kernels);
    g->nkernel += plan->nkernel;
    p->subs = lz_arena_alloc(&g->arena, plan->nsub * sizeof *p->subs);
    if (!p->subs)
        return LZ_FAIL(LZ_EMEM, "no memory for a program of %u plans", g->npart);
    for (uint32_t i = 0; i < plan->nsub; i++) {
        p->subs[i] = g->npart;
        LZ_TRY(add_part(g, plan->subs[i]));
    }
    return LZ_OK;
}

lz_status lz_plan_exec_begin(lz_plan_exec *g, const lz_plan *p)
{
    *g = (lz_plan_exec){0};
    count_parts(p, g);
    g->parts = lz_arena_alloc(&g->arena, g->npart * sizeof *g->parts);
    g->kernels = lz_arena_alloc(&g->arena, g->nkernel * sizeof *g->kernels);
    if (!g->parts || !g->kernels)
        return LZ_FAIL(LZ_EMEM, "no memory for a program of %u kernels", g->nkernel);
    g->npart = g->nkernel = 0;
    return add_part(g, p);
}

lz_status lz_plan_exec_branches(lz_plan_exec *g, bool *late)
{
    bool *branch = lz_arena_alloc(&g->arena, g->npart * sizeof *branch);
    if (!branch)
        return LZ_FAIL(LZ_EMEM, "no memory for a program of %u plans", g->npart);
    memset(branch, 1, g->npart * sizeof *branch);
    branch[0] = false;
    for (uint32_t i = 0; i < g->npart; i++) { /* a part is before those it runs */
        const lz_part *p = &g->parts[i];
        memset(late + p->kernel_at, branch[i], p->plan->nkernel);
        for (uint32_t k = 0; k < p->plan->nstep && !branch[i]; k++) {
            const lz_step *s = &p->plan->steps[k];
            for (int j = 0; j < 2 && s->kind == LZ_STEP_WHILE; j++)
                if (s->sub[j] != LZ_NO_PLAN)
                    branch[p->subs[s->sub[j]]] = false;
        }
    }
    return LZ_OK;
}

void lz_plan_exec_end(lz_plan_exec *g)
{
    lz_arena_free(&g->arena);
}

/* ---- launches ---- */

/* The element size buffer j of a step is read as. */
static size_t align_of(const lz_plan_exec *g, const lz_part *p, const lz_step *s, uint32_t j)
{
    if (s->kind == LZ_STEP_KERNEL)
        return lz_dtype_size(p->plan->kernels[s->kernel]->buf[j].dtype);
    if (s->kind == LZ_STEP_CALL)
        return j < s->call->nrets ? 0 : lz_dtype_size(s->call->arg[j - s->call->nrets]->dtype);
    if (lz_step_is_collective(s)) {
        const lz_sig *sig = s->collective->sig;
        return j < sig->nresult ? 0 : lz_dtype_size(sig->opnd[j - sig->nresult]->dtype);
    }
    if (s->kind == LZ_STEP_ROUTINE)
        return j < s->routine->nresult
                   ? 0
                   : lz_dtype_size(s->routine->opnd[j - s->routine->nresult]->dtype);
    size_t most = 1;
    uint32_t first = s->nbuf - 1 - p->plan->subs[s->sub[1]]->nin;
    for (int k = s->sub[0] == LZ_NO_PLAN; k < 2 && j >= first && j < s->nbuf - 1; k++) {
        size_t a = g->parts[p->subs[s->sub[k]]].in_align[j - first];
        most = a > most ? a : most;
    }
    return most;
}

static void note_alignment(const lz_plan_exec *g, lz_part *p, const lz_step *s)
{
    for (uint32_t j = 0; j < s->nbuf; j++) {
        const lz_bufref *r = &s->bufs[j];
        size_t align = r->kind == LZ_BUFREF_INPUT ? align_of(g, p, s, j) : 0;
        if (align > 0 && align > p->in_align[r->index])
            p->in_align[r->index] = align;
    }
}

static lz_status make_call(lz_plan_exec *g, lz_launch *l)
{
    const lz_ffi_target *call = l->step->call;
    lz_control *c = lz_arena_alloc(&g->arena, sizeof *c);
    if (!c)
        return LZ_FAIL(LZ_EMEM, "no memory for a program of %u plans", g->npart);
    LZ_TRY(lz_linalg_call_register(call->target));
    LZ_TRY(lz_ffi_table_find(call->target, &c->entry));
    g->control = true; /* nobody knows how long it takes */
    l->control = c;
    return LZ_OK;
}

static lz_status make_collective(lz_plan_exec *g, lz_launch *l)
{
    lz_control *c = lz_arena_alloc(&g->arena, sizeof *c);
    if (!c)
        return LZ_FAIL(LZ_EMEM, "no memory for a program of %u plans", g->npart);
    if (!g->ops->collective)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: this device has no collectives",
                       lz_op_get(l->step->collective->sig->op)->text);
    g->control = true;
    c->meets = true;
    c->trips = -1;
    l->control = c;
    return LZ_OK;
}

static lz_status make_control(lz_plan_exec *g, const lz_part *p, lz_launch *l, void *maker)
{
    const lz_step *s = l->step;
    const lz_plan *second = p->plan->subs[s->sub[1]];
    lz_control *c = lz_arena_alloc(&g->arena, sizeof *c);
    if (!c || !(c->off = lz_arena_alloc(&g->arena, second->nout * sizeof *c->off)))
        return LZ_FAIL(LZ_EMEM, "no memory for a program of %u plans", g->npart);
    bool known = s->sub[0] == LZ_NO_PLAN;
    c->part[1] = p->subs[s->sub[1]];
    c->part[0] = known ? c->part[1] : p->subs[s->sub[0]];
    c->trips = -1;
    if (s->kind == LZ_STEP_WHILE) {
        (void)lz_while_layout(second, c->off, &c->temps); /* the plan is verified */
        c->carried = g->nptr;
        g->nptr += second->nout;
    }
    if (known)
        (void)lz_trip_count_known(&s->trip_count, &c->trips); /* it is */
    g->control |= !known;
    c->meets = g->parts[c->part[0]].meets || g->parts[c->part[1]].meets;
    l->control = c;
    return s->kind == LZ_STEP_WHILE && g->ops->prepare_loop
               ? g->ops->prepare_loop(maker, s, l + 1, &c->whole)
               : LZ_OK;
}

/* Launches and copies of a launch that waits for nothing. */
static uint64_t runs_of(const lz_plan_exec *g, const lz_launch *l)
{
    uint64_t n = 1;
    if (!l->control || l->control->trips < 0)
        return n;
    const lz_part *body = &g->parts[l->control->part[1]];
    if (__builtin_mul_overflow(body->nrun, (uint64_t)l->control->trips, &n) ||
        __builtin_add_overflow(n, 2 * (uint64_t)body->plan->nout, &n))
        n = UINT64_MAX;
    return n;
}

/* Launch number p->nlaunch, unless it has nothing to do. */
static lz_status make_launch(lz_plan_exec *g, lz_part *p, const lz_step *s, uint32_t slot,
                             void *maker)
{
    lz_launch *l = (lz_launch *)(void *)(p->launches + p->nlaunch * g->stride);
    bool idle = false;
    *l = (lz_launch){.step = s, .slot = slot};
    note_alignment(g, p, s);
    if (s->kind == LZ_STEP_CALL)
        LZ_TRY(make_call(g, l));
    else if (lz_step_is_collective(s))
        LZ_TRY(make_collective(g, l));
    else if (s->kind == LZ_STEP_ROUTINE)
        LZ_TRY(g->ops->prepare(maker, NULL, 0, s, l + 1, &idle));
    else if (s->kind != LZ_STEP_KERNEL)
        LZ_TRY(make_control(g, p, l, maker));
    else
        LZ_TRY(g->ops->prepare(maker, p->plan->kernels[s->kernel], p->kernel_at + s->kernel, s,
                               l + 1, &idle));
    p->nlaunch += !idle;
    p->meets |= l->control && l->control->meets;
    if (!idle && __builtin_add_overflow(p->nrun, runs_of(g, l), &p->nrun))
        p->nrun = UINT64_MAX;
    return LZ_OK;
}

/* The addresses of all steps, those of one kind next to each other. */
static lz_status make_refs(lz_plan_exec *g, lz_part *p)
{
    const lz_plan *plan = p->plan;
    uint32_t n[4] = {0}, at[4], all = 0;
    for (uint32_t i = 0; i < plan->nstep; i++)
        for (uint32_t j = 0; j < plan->steps[i].nbuf; j++, all++)
            n[plan->steps[i].bufs[j].kind]++;
    p->refs = lz_arena_alloc(&g->arena, all * sizeof *p->refs);
    if (!p->refs)
        return LZ_FAIL(LZ_EMEM, "no memory for a program of %u steps", plan->nstep);
    p->nconst = n[LZ_BUFREF_CONST];
    p->ntemp = n[LZ_BUFREF_TEMP];
    p->nio = n[LZ_BUFREF_INPUT] + n[LZ_BUFREF_OUTPUT];
    at[LZ_BUFREF_CONST] = 0;
    at[LZ_BUFREF_TEMP] = p->nconst;
    at[LZ_BUFREF_INPUT] = p->nconst + p->ntemp;
    at[LZ_BUFREF_OUTPUT] = at[LZ_BUFREF_INPUT] + n[LZ_BUFREF_INPUT];
    all = 0;
    for (uint32_t i = 0; i < plan->nstep; i++)
        for (uint32_t j = 0; j < plan->steps[i].nbuf; j++, all++) {
            const lz_bufref *r = &plan->steps[i].bufs[j];
            uint32_t base = r->kind == LZ_BUFREF_INPUT    ? r->index
                            : r->kind == LZ_BUFREF_OUTPUT ? plan->nin + r->index
                                                          : 0;
            p->refs[at[r->kind]++] = (lz_plan_exec_ref){r->offset, all, base};
        }
    p->at = g->nptr;
    g->nptr += 1 + (size_t)plan->nin + plan->nout + all;
    return LZ_OK;
}

static lz_status make_part(lz_plan_exec *g, lz_part *p, void *maker)
{
    const lz_plan *plan = p->plan;
    LZ_TRY(make_refs(g, p));
    p->launches = lz_arena_alloc(&g->arena, plan->nstep * g->stride);
    p->in_align = lz_arena_alloc(&g->arena, plan->nin * sizeof *p->in_align);
    if (!p->launches || !p->in_align)
        return LZ_FAIL(LZ_EMEM, "no memory for a program of %u steps", plan->nstep);
    uint32_t slot = 0;
    for (uint32_t i = 0; i < plan->nstep; slot += plan->steps[i++].nbuf)
        LZ_TRY(make_launch(g, p, &plan->steps[i], slot, maker));
    g->nlaunch += p->nlaunch;
    return LZ_OK;
}

lz_status lz_plan_exec_make(lz_plan_exec *g, const lz_plan_exec_ops *ops, void *maker)
{
    g->ops = ops;
    g->stride = sizeof(lz_launch) + LZ_ALIGN_UP(ops->record_bytes, 8);
    for (uint32_t i = g->npart; i-- > 0;) /* what a part runs is there before it */
        LZ_TRY(make_part(g, &g->parts[i], maker));
    g->kept_at = g->nptr++;
    g->nrun = g->parts->nrun;
    return LZ_OK;
}

void *lz_plan_exec_record(const lz_plan_exec *g, const lz_part *p, uint32_t i)
{
    lz_launch *l = (lz_launch *)(void *)(p->launches + i * g->stride);
    return l->control ? NULL : l + 1;
}

const lz_step *lz_plan_exec_step(const lz_plan_exec *g, const lz_part *p, uint32_t i)
{
    return ((const lz_launch *)(const void *)(p->launches + i * g->stride))->step;
}

/* ---- addresses ---- */

size_t lz_plan_exec_nptr(const lz_plan_exec *g, uint32_t n)
{
    return n ? n * (g->nptr + 1) : g->nptr;
}

static void make_state(const lz_plan_exec *g, void **state, uint32_t q)
{
    memset(state, 0, g->nptr * sizeof *state);
    for (uint32_t i = 0; i < g->npart; i++) {
        const lz_part *p = &g->parts[i];
        void **addr = lz_plan_addresses_of(p, state);
        const void *consts = p->consts_of ? p->consts_of[q] : p->consts;
        for (uint32_t k = 0; k < p->nconst; k++)
            addr[p->refs[k].slot] = lz_plan_at_offset(consts, p->refs[k].offset);
        state[p->at] = state; /* no temporaries are there */
    }
}

void lz_plan_exec_state(const lz_plan_exec *g, void **states, uint32_t n)
{
    for (uint32_t q = 0; q < (n ? n : 1); q++)
        make_state(g, lz_plan_exec_state_of(g, states, q), q);
}

/* The addresses that may have changed since the last run with this state. */
void lz_plan_resolve(const lz_part *p, void **state, void *temp)
{
    void **io = lz_plan_io_of(p, state), **addr = lz_plan_addresses_of(p, state);
    const lz_plan_exec_ref *r = p->refs + p->nconst, *end = r + p->ntemp;
    if (state[p->at] != temp)
        for (; r < end; r++)
            addr[r->slot] = lz_plan_at_offset(temp, r->offset);
    state[p->at] = temp;
    for (r = end, end += p->nio; r < end; r++)
        addr[r->slot] = lz_plan_at_offset(io[r->base], r->offset);
}

/* What is kept is not among the temporaries. */
static void resolve_kept(const lz_plan_exec *g, void **state, void *temp,
                         const lz_plan_exec_kept *kept)
{
    const lz_part *p = g->parts;
    void **addr = lz_plan_addresses_of(p, state), *id = (void *)(uintptr_t)(kept ? kept->id : 0);
    if (state[g->kept_at] == id && (!kept || state[p->at] == temp))
        return;
    state[p->at] = state; /* some addresses are not of temporaries */
    lz_plan_resolve(p, state, temp);
    for (uint32_t i = 0; kept && i < kept->what->nplace; i++)
        addr[kept->what->places[i].slot] =
            lz_plan_at_offset(kept->memory, kept->what->places[i].at);
    state[g->kept_at] = id;
}

/* ---- running ---- */

/* All launches of a part whose addresses are resolved. */
static lz_status run_part(const lz_plan_run_one *r, const lz_part *p)
{
    return lz_plan_run_launches(r, p, 0, p->nlaunch, NULL);
}

const lz_part *lz_plan_enter_branch(const lz_plan_run_one *r, const lz_launch *l, void *const *bufs,
                                    bool on)
{
    const lz_part *p = &r->g->parts[l->control->part[!on]];
    uint32_t nin = p->plan->nin, nout = p->plan->nout;
    void **io = lz_plan_io_of(p, r->state);
    memcpy(io, bufs + nout + 1, nin * sizeof *io);
    memcpy(io + nin, bufs, nout * sizeof *io);
    lz_plan_resolve(p, r->state, bufs[nout + 1 + nin]);
    return p;
}

static lz_status run_if(const lz_plan_run_one *r, const lz_launch *l, void *const *bufs)
{
    bool on;
    LZ_TRY(r->g->ops->read_bool(r->user, bufs[lz_plan_body(r->g, l)->plan->nout], &on));
    return run_part(r, lz_plan_enter_branch(r, l, bufs, on));
}

/* The number of one element that is at `at`, once it is there. */
static lz_status read_number(const lz_plan_run_one *r, lz_dtype d, const void *at, int64_t *out,
                             bool *fits)
{
    uint64_t bits = 0;
    size_t n = lz_dtype_size(d);
    if (r->g->ops->to_host)
        LZ_TRY(r->g->ops->to_host(r->user, &bits, at, n));
    else
        memcpy(&bits, at, n);
    *fits = lz_trip_count_number(d, &bits, out);
    return LZ_OK;
}

/* The trips of a loop whose operands say them; -1: its condition has to be asked. bufs: the
 * operands. */
static lz_status read_trip_count(const lz_plan_run_one *r, const lz_trip_count *of,
                                 void *const *bufs, int64_t *out)
{
    int64_t start = of->start, end = of->end;
    bool fits = of->dtype != LZ_DTYPE_NONE;
    if (fits && of->start_opnd != LZ_NOVAL)
        LZ_TRY(read_number(r, of->dtype, bufs[of->start_opnd], &start, &fits));
    if (fits && of->end_opnd != LZ_NOVAL)
        LZ_TRY(read_number(r, of->dtype, bufs[of->end_opnd], &end, &fits));
    if (!fits || !lz_trip_count_count(of, start, end, out))
        *out = -1;
    return LZ_OK;
}

/* A carried value is in the step's result or, after an odd number of trips, in work memory when it
 * cannot be made in place. */
lz_status lz_plan_begin_loop(const lz_plan_run_one *r, const lz_launch *l, void *const *bufs,
                             int64_t *trips)
{
    const lz_control *c = l->control;
    const lz_part *cond = &r->g->parts[c->part[0]], *body = lz_plan_body(r->g, l);
    uint32_t n = body->plan->nout, nin = body->plan->nin;
    void **cur = r->state + c->carried;
    *trips = c->trips;
    if (*trips < 0)
        LZ_TRY(read_trip_count(r, &l->step->trip_count, bufs + n, trips));
    for (uint32_t k = 0; k < n; k++) {
        cur[k] = bufs[k];
        if (bufs[k] != bufs[n + k])
            LZ_TRY(r->g->ops->copy(r->user, bufs[k], bufs[n + k], body->plan->out_type[k]->nbytes));
    }
    if (*trips < 0)
        memcpy(lz_plan_io_of(cond, r->state) + n, bufs + 2 * (size_t)n, (nin - n) * sizeof *bufs);
    memcpy(lz_plan_io_of(body, r->state) + n, bufs + 2 * (size_t)n, (nin - n) * sizeof *bufs);
    return LZ_OK;
}

const lz_part *lz_plan_enter_cond(const lz_plan_run_one *r, const lz_launch *l, void *const *bufs)
{
    const lz_control *c = l->control;
    const lz_part *cond = &r->g->parts[c->part[0]];
    const lz_plan *body = lz_plan_body(r->g, l)->plan;
    void **io = lz_plan_io_of(cond, r->state), *work = bufs[body->nout + body->nin];
    memcpy(io, r->state + c->carried, body->nout * sizeof *io);
    io[cond->plan->nin] = work;
    lz_plan_resolve(cond, r->state, lz_plan_at_offset(work, c->temps));
    return cond;
}

lz_status lz_plan_read_cond(const lz_plan_run_one *r, const lz_launch *l, void *const *bufs,
                            bool *more)
{
    const lz_plan *body = lz_plan_body(r->g, l)->plan;
    return r->g->ops->read_bool(r->user, bufs[body->nout + body->nin], more);
}

const lz_part *lz_plan_enter_body(const lz_plan_run_one *r, const lz_launch *l, void *const *bufs)
{
    const lz_control *c = l->control;
    const lz_part *body = lz_plan_body(r->g, l);
    uint32_t n = body->plan->nout, nin = body->plan->nin;
    void **io = lz_plan_io_of(body, r->state), **cur = r->state + c->carried, *work = bufs[n + nin];
    memcpy(io, cur, n * sizeof *cur);
    for (uint32_t k = 0; k < n; k++)
        io[nin + k] = c->off[k] == UINT64_MAX ? cur[k]
                      : cur[k] == bufs[k]     ? lz_plan_at_offset(work, c->off[k])
                                              : bufs[k];
    memcpy(cur, io + nin, n * sizeof *cur);
    lz_plan_resolve(body, r->state, lz_plan_at_offset(work, c->temps));
    return body;
}

lz_status lz_plan_end_loop(const lz_plan_run_one *r, const lz_launch *l, void *const *bufs)
{
    const lz_plan *body = lz_plan_body(r->g, l)->plan;
    void **cur = r->state + l->control->carried;
    for (uint32_t k = 0; k < body->nout; k++)
        if (cur[k] != bufs[k])
            LZ_TRY(r->g->ops->copy(r->user, bufs[k], cur[k], body->out_type[k]->nbytes));
    return LZ_OK;
}

static lz_status run_while(const lz_plan_run_one *r, const lz_launch *l, void *const *bufs)
{
    int64_t trips;
    LZ_TRY(lz_plan_begin_loop(r, l, bufs, &trips));
    for (int64_t i = 0;; i++) {
        bool more = i < trips;
        if (trips < 0) {
            LZ_TRY(run_part(r, lz_plan_enter_cond(r, l, bufs)));
            LZ_TRY(lz_plan_read_cond(r, l, bufs, &more));
        }
        if (!more)
            return lz_plan_end_loop(r, l, bufs);
        LZ_TRY(run_part(r, lz_plan_enter_body(r, l, bufs)));
    }
}

/* The values of a call in host memory: operands come, results go. */
static lz_status call_with_copies(const lz_plan_run_one *r, const lz_launch *l, void *const *bufs,
                                  void **host)
{
    const lz_ffi_target *c = l->step->call;
    for (uint32_t k = 0; k < c->nargs; k++)
        LZ_TRY(
            r->g->ops->to_host(r->user, host[c->nrets + k], bufs[c->nrets + k], c->arg[k]->nbytes));
    LZ_TRY(lz_ffi_invoke(c, &l->control->entry, host));
    for (uint32_t k = 0; k < c->nrets; k++)
        LZ_TRY(r->g->ops->from_host(r->user, bufs[k], host[k], c->ret[k]->nbytes));
    return LZ_OK;
}

static lz_status run_call(const lz_plan_run_one *r, const lz_launch *l, void *const *bufs)
{
    const lz_ffi_target *c = l->step->call;
    if (!r->g->ops->to_host)
        return lz_ffi_invoke(c, &l->control->entry, bufs);
    uint32_t n = c->nrets + c->nargs;
    size_t at = LZ_ALIGN_UP(n * sizeof(void *), 64), size = at + 63;
    for (uint32_t k = 0; k < n; k++)
        size += LZ_ALIGN_UP((k < c->nrets ? c->ret[k] : c->arg[k - c->nrets])->nbytes, 64);
    char *block = lz_alloc(size);
    if (!block)
        return LZ_FAIL(LZ_EMEM, "custom_call @%.200s: no memory for %zu bytes", c->target, size);
    void **host = (void **)LZ_ALIGN_UP((uintptr_t)block, 64);
    for (uint32_t k = 0; k < n; k++) {
        host[k] = (char *)host + at;
        at += LZ_ALIGN_UP((k < c->nrets ? c->ret[k] : c->arg[k - c->nrets])->nbytes, 64);
    }
    lz_status s = call_with_copies(r, l, bufs, host);
    lz_free(block);
    return s;
}

static lz_status run_collective(const lz_plan_run_one *r, const lz_step *s, void *const *bufs)
{
    const lz_plan_meet *m = r->meet;
    const lz_site *site = s->nnode ? s->nodes[0].site : NULL;
    if (s->kind == LZ_STEP_DONE)
        return m->start ? m->done(m->user, s->collective) : LZ_OK;
    return s->kind == LZ_STEP_START && m->start
               ? m->start(m->user, s->collective, site, bufs, r->reached)
               : m->fn(m->user, s->collective, site, bufs, r->reached);
}

/* Steps that do more than launch a kernel: a new kind of step is executed here. */
static lz_status run_control(const lz_plan_run_one *r, const lz_launch *l, void *const *bufs)
{
    if (l->step->kind == LZ_STEP_CALL)
        return run_call(r, l, bufs);
    if (lz_step_is_collective(l->step) && r->meet)
        return run_collective(r, l->step, bufs);
    if (lz_step_is_collective(l->step))
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: has other participants; one device runs alone",
                       lz_op_get(l->step->collective->sig->op)->text);
    if (l->control->whole)
        return r->g->ops->launch(r->user, l + 1, bufs);
    return l->step->kind == LZ_STEP_WHILE ? run_while(r, l, bufs) : run_if(r, l, bufs);
}

lz_status lz_plan_run_launches(const lz_plan_run_one *r, const lz_part *p, uint32_t from,
                               uint32_t to, const bool *skip)
{
    const lz_plan_exec_ops *ops = r->g->ops;
    void **addr = lz_plan_addresses_of(p, r->state);
    const char *at = p->launches + from * r->g->stride;
    for (uint32_t i = from; i < to; i++, at += r->g->stride) {
        const lz_launch *l = (const lz_launch *)(const void *)at;
        if (skip && skip[i])
            continue;
        LZ_TRY(__builtin_expect(!l->control, 1) ? ops->launch(r->user, l + 1, addr + l->slot)
                                                : run_control(r, l, addr + l->slot));
    }
    return LZ_OK;
}

lz_status lz_plan_exec_run(const lz_plan_exec *g, void **state, void *temp,
                           const lz_plan_exec_kept *kept, void *user)
{
    resolve_kept(g, state, temp, kept);
    lz_plan_resolve(g->parts, state, temp);
    return lz_plan_run_launches(&(lz_plan_run_one){.g = g, .state = state, .user = user}, g->parts,
                                0, g->parts->nlaunch,
                                kept && kept->filled ? kept->what->skip : NULL);
}

/* Launches of a part up to the first one in which partitions meet, and it. */
static uint32_t next_meeting(const lz_plan_exec *g, const lz_part *p, uint32_t from)
{
    for (uint32_t i = from; i < p->nlaunch; i++) {
        const lz_launch *l = lz_plan_launch(g, p, i);
        if (l->control && l->control->meets)
            return i + 1;
    }
    return p->nlaunch;
}

lz_status lz_plan_exec_run_one(const lz_plan_exec *g, void **state, void *temp, void *user,
                               const lz_plan_meet *m, uint32_t *reached)
{
    lz_plan_run_one r = {.g = g, .state = state, .user = user, .meet = m};
    const lz_part *p = g->parts;
    *reached = 0;
    lz_plan_resolve(p, state, temp);
    while (*reached < p->nlaunch) {
        uint32_t end = next_meeting(g, p, *reached);
        r.reached = *reached;
        LZ_TRY(lz_plan_run_launches(&r, p, *reached, end, NULL));
        *reached = end;
    }
    return LZ_OK;
}

/* Recursion: parts, as deep as regions nest. */
static void each_collective(const lz_plan_exec *g, const lz_part *p, uint32_t from,
                            void (*fn)(void *user, const lz_step_collective *c), void *user)
{
    for (uint32_t i = from; i < p->nlaunch; i++) {
        const lz_launch *l = lz_plan_launch(g, p, i);
        if (!l->control || !l->control->meets)
            continue;
        if (lz_step_begins_collective(l->step))
            fn(user, l->step->collective);
        if (lz_step_is_collective(l->step))
            continue;
        for (int k = 0; k < 2; k++)
            each_collective(g, &g->parts[l->control->part[k]], 0, fn, user);
    }
}

void lz_plan_exec_each_collective(const lz_plan_exec *g, uint32_t from,
                                  void (*fn)(void *user, const lz_step_collective *c), void *user)
{
    each_collective(g, g->parts, from, fn, user);
}

/* ---- the loop-IR interpreter ---- */

typedef struct loop_record {
    const lz_kernel *kernel;
    const lz_step *step;
} loop_record;

static lz_status loop_prepare(void *maker, const lz_kernel *k, uint32_t i, const lz_step *s,
                              void *record, bool *idle)
{
    (void)maker, (void)i, (void)idle;
    *(loop_record *)record = (loop_record){k, s};
    return LZ_OK;
}

lz_status lz_loop_launch(const lz_kernel *k, const lz_step *s, void *const *bufs)
{
    if (s->kind == LZ_STEP_ROUTINE)
        return lz_routine_run_alone(s->routine, bufs);
    size_t nbytes[LZ_KBUF_MAX];
    for (uint32_t i = 0; i < s->nbuf; i++)
        nbytes[i] = s->bufs[i].nbytes;
    return lz_loop_run_args(k, s->args, bufs, nbytes);
}

static lz_status loop_launch(void *user, const void *record, void *const *bufs)
{
    (void)user;
    const loop_record *l = record;
    return lz_loop_launch(l->kernel, l->step, bufs);
}

static lz_status loop_copy(void *user, void *dst, const void *src, size_t nbytes)
{
    (void)user;
    if (nbytes)
        memcpy(dst, src, nbytes);
    return LZ_OK;
}

static lz_status loop_read_bool(void *user, const void *at, bool *out)
{
    (void)user;
    *out = *(const uint8_t *)at != 0;
    return LZ_OK;
}

static lz_status loop_collective(void *user, const lz_step_collective *c, void *const *const *bufs)
{
    (void)user;
    return lz_collective_run(c, bufs, 0, lz_collective_units(c));
}

const lz_plan_exec_ops lz_loop_ops = {
    .record_bytes = sizeof(loop_record),
    .prepare = loop_prepare,
    .launch = loop_launch,
    .copy = loop_copy,
    .read_bool = loop_read_bool,
    .collective = loop_collective,
};

static lz_status run_slowly(lz_plan_exec *g, const void *const *in, void *const *out, void *temp,
                            void **state)
{
    const lz_plan *p = g->parts->plan;
    lz_plan_exec_state(g, state, 0);
    void **io = lz_plan_exec_io(g, state);
    for (uint32_t i = 0; i < p->nin; i++)
        io[i] = (void *)(uintptr_t)in[i];
    for (uint32_t k = 0; k < p->nout; k++) {
        io[p->nin + k] = out[k];
        if (p->out_alias[k] >= 0)
            LZ_TRY(loop_copy(NULL, out[k], in[p->out_alias[k]], p->out_type[k]->nbytes));
    }
    return lz_plan_exec_run(g, state, temp, NULL, NULL);
}

lz_status lz_plan_run(const lz_plan *p, const void *const *in, void *const *out)
{
    lz_plan_exec g;
    lz_status s = lz_plan_exec_begin(&g, p);
    if (s == LZ_OK)
        s = lz_plan_exec_make(&g, &lz_loop_ops, NULL);
    char *room = s == LZ_OK ? lz_calloc(1, p->temp_bytes + 63) : NULL;
    void **state = room ? lz_alloc(lz_plan_exec_nptr(&g, 0) * sizeof *state) : NULL;
    if (state)
        s = run_slowly(&g, in, out, (void *)LZ_ALIGN_UP((uintptr_t)room, 64), state);
    else if (s == LZ_OK)
        s = LZ_FAIL(LZ_EMEM, "no memory for %" PRIu64 " bytes of temporaries", p->temp_bytes);
    lz_free(state);
    lz_free(room);
    lz_plan_exec_end(&g);
    return s;
}
