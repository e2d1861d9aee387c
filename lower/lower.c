/* lower.c - the compiler front: lz_lower turns a module into a plan. See plan.h.
 * Order:   passes (pipeline.c), plans of regions, fusion, schedule, kernels, buffers. Equal
 *   kernels are stored once.
 * Threads: thread-safe; a call shares only the interned vocabulary. */
#include "base/timeline/timeline.h"
#include "ir/attr.h"
#include "ir/collective.h"
#include "lower/plan/buffers.h"
#include "lower/lower_dump.h"
#include "lower/pass.h"
#include "lower/passes/rewrite.h"
#include "lower/routine.h"
#include "lower/plan/schedule.h"
#include "lower/effort.h"
#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

/* The body of a while may overwrite the values it carries; other uses of a region may not. */
typedef struct region_use {
    const lz_func *region;
    uint32_t ncarried;
} region_use;

/* Facts about a while loop, found before its plans are made. */
typedef struct while_info {
    lz_trip_count trip_count;
    bool static_trip; /* the condition is never evaluated */
    uint32_t
        dead_counter;    /* carried value removed since the trip count is static; LZ_NOVAL: none */
    const lz_func *body; /* without dead_counter */
} while_info;

typedef struct front {
    const lz_func *f; /* after the passes */
    const lz_lower_options *o;
    lz_fusion *fu;
    lz_schedule order;
    lz_lowered *low; /* by step */
    /* by buffer: donated argument that a result should alias, or what is copied for an update;
     * LZ_NONE: none */
    uint32_t *donor;
    lz_bufmap map;
    lz_plan *plan;
    LZ_VEC(region_use) regions; /* what plan->subs are the plans of */
    while_info *whiles;         /* by instruction; NULL: there is no control flow */
} front;

static lz_status lower(const lz_func *f, const lz_lower_options *o, lz_plan **out);

/* ---- donation: which result should alias which donated argument ---- */

typedef struct donations {
    bool *taken;     /* by argument */
    uint32_t *nread; /* by argument: nodes that read it */
} donations;

/* The donated argument that node n reads at the point it writes, and that the fewest other nodes
 * read; LZ_NONE: none. */
static uint32_t best_donor(const front *x, const lz_fusion_node *n, const lz_type *t,
                           const donations *w, uint32_t result)
{
    uint32_t best = LZ_NONE;
    if (n->kind == LZ_FUSION_CONTROL)
        return best; /* reads whole buffers */
    for (uint32_t k = 0; k < n->reads.len; k++, lz_effort++) {
        uint32_t i = n->reads.data[k].src;
        if (i >= x->f->nparam || !n->reads.data[k].map || lz_val_type(x->f, i) != t ||
            !x->o->donate[i] || w->taken[i] || (x->o->pairwise && i != result))
            continue;
        if (best == LZ_NONE || w->nread[i] < w->nread[best] ||
            (w->nread[i] == w->nread[best] && i < best))
            best = i;
    }
    return best;
}

static void choose_donations(front *x, donations *w)
{
    const lz_func *f = x->f;
    for (uint32_t i = 0; i < f->nparam; i++)
        for (const uint32_t *r = x->fu->readers[i]; r && *r != LZ_NONE; r++)
            w->nread[i]++;
    for (uint32_t k = 0; k < f->nresult; k++) {
        uint32_t buf = x->fu->result_buf[k];
        const lz_type *t = lz_fusion_buf_type(x->fu, buf);
        for (const uint32_t *n = x->fu->writers[buf];
             n && *n != LZ_NONE && x->donor[buf] == LZ_NONE; n++)
            x->donor[buf] = best_donor(x, x->fu->nodes[*n], t, w, k);
        if (x->donor[buf] != LZ_NONE)
            w->taken[x->donor[buf]] = true;
    }
}

/* The memory that node n copies for an update in place: with all its other readers before the copy,
 * the update may be done there. */
static uint32_t updated_memory(const front *x, const lz_fusion_node *n)
{
    bool updated = false;
    if (n->kind != LZ_FUSION_POINT || n->store != LZ_STORE_COPY)
        return LZ_NONE;
    for (const uint32_t *w = x->fu->writers[n->dst]; w && *w != LZ_NONE; w++)
        updated |= x->fu->nodes[*w]->kind == LZ_FUSION_SCATTER ||
                   x->fu->nodes[*w]->store == LZ_STORE_UPDATE;
    lz_val from = updated ? lz_fusion_memory(x->fu, n->v) : LZ_NOVAL;
    if (from == LZ_NOVAL || x->f->insts[from].lit ||
        (from < x->f->nparam && !(x->o->donate && x->o->donate[from])))
        return LZ_NONE;
    return from;
}

static lz_status find_donations(front *x)
{
    uint32_t nbuf = lz_fusion_nbuf(x->fu);
    size_t n = (size_t)x->f->nparam + 1;
    donations w = {lz_calloc(n, sizeof *w.taken), lz_calloc(n, sizeof *w.nread)};
    x->donor = lz_alloc(((size_t)nbuf + 1) * sizeof *x->donor);
    bool ok = x->donor && w.taken && w.nread;
    for (uint32_t b = 0; ok && b < nbuf; b++)
        x->donor[b] = LZ_NONE;
    if (ok && x->o->donate)
        choose_donations(x, &w);
    for (uint32_t i = 0; ok && i < x->fu->nnode; i++) {
        uint32_t dst = x->fu->nodes[i]->dst;
        if (x->donor[dst] == LZ_NONE)
            x->donor[dst] = updated_memory(x, x->fu->nodes[i]);
    }
    lz_free(w.taken);
    lz_free(w.nread);
    return ok ? LZ_OK : LZ_FAIL(LZ_EMEM, "out of memory");
}

/* ---- the plan ---- */

/* Deduplicates: the index of an equal kernel, else of the new one. p->kernels has room. */
static lz_status keep_kernel(lz_plan *p, lz_map *seen, lz_kernel **k, uint32_t *index)
{
    uintptr_t i = (uintptr_t)lz_map_get(seen, (*k)->hash); /* index + 1 */
    const lz_kernel *old = i ? p->kernels[i - 1] : NULL;
    if (old && old->nencoding == (*k)->nencoding &&
        memcmp(old->encoding, (*k)->encoding, old->nencoding) == 0) {
        *index = (uint32_t)(i - 1);
        return LZ_OK;
    }
    if (!old)
        LZ_TRY(lz_map_put(seen, (*k)->hash, (void *)((uintptr_t)p->nkernel + 1)));
    *index = p->nkernel;
    p->kernels[p->nkernel++] = *k;
    *k = NULL;
    return LZ_OK;
}

/* How region k of instruction v is used. */
static region_use use_of(const front *x, lz_val v, int k)
{
    const lz_sig *s = x->f->insts[v].sig;
    if (s->op != LZ_OP_WHILE || k != 1)
        return (region_use){lz_attr_region(s->attr, k), 0};
    const while_info *l = &x->whiles[v];
    return (region_use){l->body, s->nresult - (l->dead_counter != LZ_NOVAL)};
}

/* The index of its plan, or of the next plan when it has none. */
static uint32_t sub_of(const front *x, region_use u)
{
    uint32_t i = 0;
    while (i < x->regions.len &&
           (x->regions.data[i].region != u.region || x->regions.data[i].ncarried != u.ncarried))
        i++;
    return i;
}

/* Whether region k of an operation runs. */
static bool runs(const front *x, lz_val v, int k)
{
    return lz_inst_op(&x->f->insts[v]) != LZ_OP_WHILE || k == 1 || !x->whiles[v].static_trip;
}

/* Sets the plans and the trip count of a control-flow step; the plans exist. */
static void name_plans(const front *x, lz_val v, lz_step *s)
{
    s->kind = lz_inst_op(&x->f->insts[v]) == LZ_OP_WHILE ? LZ_STEP_WHILE : LZ_STEP_IF;
    for (int k = 0; k < 2; k++)
        s->sub[k] = runs(x, v, k) ? sub_of(x, use_of(x, v, k)) : LZ_NO_PLAN;
    if (s->kind == LZ_STEP_WHILE)
        s->trip_count = x->whiles[v].trip_count;
}

/* Copies the call target to memory of the plan; types are interned. */
static lz_status keep_call(lz_plan *p, const lz_sig *sig, lz_step *s)
{
    lz_ffi_target *c = lz_arena_alloc(&p->arena, sizeof *c);
    if (!c)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    lz_ffi_of(sig, c);
    c->target = lz_arena_strdup(&p->arena, c->target);
    c->config = lz_arena_strdup(&p->arena, c->config);
    c->ret = lz_arena_copy(&p->arena, c->ret, c->nrets * sizeof *c->ret);
    c->arg = lz_arena_copy(&p->arena, c->arg, c->nargs * sizeof *c->arg);
    s->call = c;
    return c->target && c->config && c->ret && c->arg ? LZ_OK : LZ_FAIL(LZ_EMEM, "out of memory");
}

/* Steps that are left out are none of a collective, and are before its start or behind it. */
static lz_status add_collective(front *x, uint32_t i, lz_step *s)
{
    lz_plan *p = x->plan;
    const lz_lowered *l = &x->low[i];
    if (l->done) {
        s->kind = LZ_STEP_DONE;
        s->start = x->low[x->order.start[i]].until;
        s->bytes = 0; /* those of its start */
        s->collective = p->steps[s->start].collective;
        p->nstep++;
        return LZ_OK;
    }
    s->kind = l->until ? LZ_STEP_START : LZ_STEP_COLLECTIVE;
    x->low[i].until = p->nstep++; /* the number of the step that it has become */
    return lz_step_collective_new(p, l->control->sig, &s->collective);
}

static lz_status add_step(front *x, uint32_t i, lz_map *seen)
{
    lz_plan *p = x->plan;
    lz_lowered *l = &x->low[i];
    lz_step *s = &p->steps[p->nstep];
    s->nbuf = l->nbuf;
    s->narg = l->kernel ? l->kernel->narg : 0;
    s->flops = l->flops;
    s->bufs = lz_arena_alloc(&p->arena, (s->nbuf + 1) * sizeof *s->bufs);
    s->args =
        lz_arena_copy(&p->arena, l->kernel ? l->kernel->args : NULL, s->narg * sizeof *s->args);
    s->name = lz_arena_strdup(&p->arena,
                              l->kernel ? l->kernel->name : lz_op_get(l->control->sig->op)->text);
    s->nnode = l->nnode;
    s->nodes = lz_arena_copy(&p->arena, l->nodes, l->nnode * sizeof *l->nodes);
    if (!s->bufs || !s->args || !s->name || !s->nodes)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t j = 0; j < l->nbuf; j++) {
        s->bufs[j] = x->map.ref[l->buf[j]];
        s->bytes += s->bufs[j].nbytes;
        if (lz_fusion_buf_type(x->fu, l->buf[j])->nbytes == 0) /* has no place */
            s->bufs[j] = (lz_bufref){.kind = LZ_BUFREF_TEMP};
    }
    if (l->control && lz_op_get(l->control->sig->op)->cls == LZ_CLASS_CALL) {
        s->kind = LZ_STEP_CALL;
        p->nstep++;
        return keep_call(p, l->control->sig, s);
    }
    if (l->control && lz_op_get(l->control->sig->op)->cls == LZ_CLASS_COLLECTIVE)
        return add_collective(x, i, s);
    if (l->control && lz_routine_may_do(l->control->sig->op)) {
        s->kind = LZ_STEP_ROUTINE;
        s->routine = l->control->sig;
        p->nstep++;
        return LZ_OK;
    }
    if (l->control) {
        name_plans(x, (lz_val)(l->control - x->f->insts), s);
        p->nstep++;
        return LZ_OK;
    }
    LZ_TRY(keep_kernel(p, seen, &l->kernel, &s->kernel));
    p->nstep++;
    return LZ_OK;
}

static lz_status copy_types(lz_arena *a, const lz_func *f, lz_plan *p)
{
    p->nin = f->nparam;
    p->nout = f->nresult;
    p->in_type = lz_arena_alloc(a, (p->nin + 1) * sizeof *p->in_type);
    p->out_type = lz_arena_alloc(a, (p->nout + 1) * sizeof *p->out_type);
    if (!p->in_type || !p->out_type)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t i = 0; i < p->nin; i++)
        p->in_type[i] = lz_val_type(f, i);
    for (uint32_t i = 0; i < p->nout; i++)
        p->out_type[i] = lz_val_type(f, f->results[i]);
    return LZ_OK;
}

static lz_status fill_plan(front *x)
{
    lz_plan *p = x->plan;
    uint32_t n = x->order.order.len;
    LZ_TRY(copy_types(&p->arena, x->f, p));
    LZ_TRY(lz_plan_buffers(x->fu, x->order.order.data, x->low, n, x->o->donate, x->o->pairwise,
                           &p->arena, &x->map));
    p->out_alias = x->map.out_alias;
    p->temp_bytes = x->map.temp_bytes;
    p->const_bytes = x->map.const_bytes;
    p->consts = x->map.consts;
    p->kernels = lz_arena_alloc(&p->arena, (n + 1) * sizeof *p->kernels);
    p->steps = lz_arena_alloc(&p->arena, (n + 1) * sizeof *p->steps);
    if (!p->kernels || !p->steps)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    lz_map seen = {0};
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i < n && s == LZ_OK; i++)
        if (!x->map.skip[i])
            s = add_step(x, i, &seen);
    lz_map_free(&seen);
    return s;
}

/* ---- control flow ---- */

static int by_number(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    lz_effort++;
    return a < b ? -1 : a > b;
}

/* Which of the n carried values (or of the values summed over partitions) are in a buffer that no
 * other operand shares. */
static lz_status find_alone(lz_lowered *l, uint32_t n)
{
    uint32_t m = l->nbuf - n;
    uint64_t *x = lz_alloc((m + 1) * sizeof *x); /* buffer, place; by buffer */
    l->alone = lz_calloc((size_t)n + 1, sizeof *l->alone);
    bool ok = x && l->alone;
    for (uint32_t k = 0; ok && k < m; k++)
        x[k] = (uint64_t)l->buf[n + k] << 32 | k;
    if (ok)
        qsort(x, m, sizeof *x, by_number);
    for (uint32_t k = 0; ok && k < m; k++)
        if ((uint32_t)x[k] < n)
            l->alone[(uint32_t)x[k]] = (k == 0 || x[k - 1] >> 32 != x[k] >> 32) &&
                                       (k + 1 == m || x[k + 1] >> 32 != x[k] >> 32);
    lz_free(x);
    return ok ? LZ_OK : LZ_FAIL(LZ_EMEM, "out of memory");
}

/* Of one iteration where the trip count is not static. */
static uint64_t flops_of(const lz_plan *p, const lz_step *s)
{
    uint64_t n = 0;
    int64_t trip_count = 1;
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; s->sub[k] != LZ_NO_PLAN && i < p->subs[s->sub[k]]->nstep; i++)
            n += p->subs[s->sub[k]]->steps[i].flops;
    if (s->sub[0] == LZ_NO_PLAN)
        (void)lz_trip_count_known(&s->trip_count, &trip_count);
    return __builtin_mul_overflow(n, (uint64_t)trip_count, &n) ? UINT64_MAX / 2 : n;
}

/* Results and operands of a step without a kernel, and room for its work memory; a value that a
 * loop need not carry is neither. */
static lz_status name_buffers(const front *x, const lz_fusion_node *n, lz_lowered *l)
{
    const lz_sig *sig = l->control->sig;
    uint32_t dead_counter = sig->op == LZ_OP_WHILE ? x->whiles[n->v].dead_counter : LZ_NOVAL;
    l->buf = lz_alloc(((size_t)sig->nresult + sig->nopnd + 1) * sizeof *l->buf);
    if (!l->buf)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t k = 0; k < sig->nresult; k++)
        if (k != dead_counter)
            l->buf[l->nbuf++] = n->res[k];
    l->nres = l->nbuf;
    for (uint32_t k = 0; k < sig->nopnd; k++)
        if (k != dead_counter)
            l->buf[l->nbuf++] = lz_fusion_whole(x->fu, l->control->opnd[k]);
    l->nbuf += l->works;
    return LZ_OK;
}

/* The buffers of a step without a kernel; the work memory of one that runs other plans is a buffer
 * of its own. */
static lz_status lower_control(front *x, const lz_fusion_node *n, lz_lowered *l)
{
    const lz_inst *in = &x->f->insts[n->v];
    lz_step s = {0};
    uint64_t work;
    l->control = in;
    l->works = lz_op_get(in->sig->op)->cls == LZ_CLASS_CONTROL;
    if (!(l->nodes = lz_calloc(1, sizeof *l->nodes)))
        return LZ_FAIL(LZ_EMEM, "out of memory");
    l->nodes[l->nnode++] = (lz_step_node){.node = lz_func_node(x->f, n->v), .cost = 1};
    LZ_TRY(name_buffers(x, n, l));
    if (in->sig->op == LZ_OP_ALL_REDUCE)
        return find_alone(l, l->nres);
    if (lz_routine_has(in->sig))
        l->flops = lz_routine_work(in->sig);
    if (!l->works)
        return LZ_OK;
    name_plans(x, n->v, &s);
    l->flops = flops_of(x->plan, &s);
    if (!lz_step_work(x->plan, &s, &work) || work > INT64_MAX)
        return LZ_FAIL(LZ_ERANGE, "%s: its values are too large", lz_op_get(in->sig->op)->text);
    lz_shape shape = lz_shape_make(1, (int64_t[]){(int64_t)work});
    const lz_type *t = lz_type_get(LZ_U8, &shape);
    l->buf[l->nbuf - 1] = lz_fusion_nbuf(x->fu);
    if (s.kind == LZ_STEP_WHILE)
        LZ_TRY(find_alone(l, l->nres));
    return t ? lz_vec_push(&x->fu->extra, t) : lz_error_get()->status;
}

static lz_status add_region(front *x, region_use u)
{
    lz_lower_options o = *x->o;
    if (sub_of(x, u) < x->regions.len)
        return LZ_OK;
    bool *donate = lz_calloc((size_t)u.region->nparam + 1, 1);
    if (!donate)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t i = 0; i < u.ncarried; i++)
        donate[i] = true;
    o.donate = u.ncarried ? donate : NULL;
    o.pairwise = true;
    lz_plan *sub = NULL;
    lz_status s = lz_vec_push(&x->regions, u);
    if (s == LZ_OK)
        s = lower(u.region, &o, &sub);
    lz_free(donate);
    if (s == LZ_OK)
        x->plan->subs[x->plan->nsub++] = sub;
    return s;
}

/* Dead counters: the trip count is static, and the counter's final value is unused. */
static void know_rounds(front *x)
{
    const lz_func *f = x->f;
    int64_t n;
    for (uint32_t i = f->nparam; i < f->ninst; i++) {
        const lz_inst *in = &f->insts[i];
        while_info *l = &x->whiles[i];
        if (lz_inst_op(in) == LZ_OP_WHILE) {
            l->trip_count = lz_trip_count_of(f, in, &l->dead_counter);
            l->static_trip = lz_trip_count_known(&l->trip_count, &n);
            l->body = lz_attr_region(in->sig->attr, 1);
        }
        if (!l->static_trip || in->sig->nresult == 1)
            l->dead_counter = LZ_NOVAL;
        while_info *of = lz_inst_op(in) == LZ_OP_RESULT ? &x->whiles[in->opnd[0]] : l;
        if (of != l && of->dead_counter == LZ_ATTR(index, in->sig->attr)->index)
            of->dead_counter = LZ_NOVAL;
    }
}

/* Fills in x->whiles. A counter that another value depends on is not dead. */
static lz_status know_loops(front *x)
{
    const lz_func *f = x->f;
    const lz_func *less;
    if (!x->whiles)
        return LZ_OK;
    know_rounds(x);
    for (uint32_t i = f->nparam; i < f->ninst; i++) {
        while_info *l = &x->whiles[i];
        if (l->dead_counter == LZ_NOVAL)
            continue;
        LZ_TRY(lz_rw_without_carried(l->body, l->dead_counter, f->insts[i].sig->nresult, &less));
        l->body = less ? less : l->body;
        l->dead_counter = less ? l->dead_counter : LZ_NOVAL;
    }
    return LZ_OK;
}

/* The plans of all regions. lz_lower calls itself as deep as regions nest. */
static lz_status lower_regions(front *x)
{
    uint32_t n = 0;
    for (uint32_t i = x->f->nparam; i < x->f->ninst; i++)
        n += lz_op_get(lz_inst_op(&x->f->insts[i]))->cls == LZ_CLASS_CONTROL ? 2 : 0;
    x->plan->subs = n ? lz_arena_alloc(&x->plan->arena, n * sizeof(lz_plan *)) : NULL;
    x->whiles = n ? lz_calloc(x->f->ninst, sizeof *x->whiles) : NULL;
    if (n && (!x->plan->subs || !x->whiles))
        return LZ_FAIL(LZ_EMEM, "out of memory");
    LZ_TRY(know_loops(x));
    for (uint32_t i = x->f->nparam; i < x->f->ninst && n; i++) {
        const lz_sig *s = x->f->insts[i].sig;
        if (lz_op_get(s->op)->cls != LZ_CLASS_CONTROL)
            continue;
        for (int k = 0; k < 2; k++)
            if (runs(x, i, k))
                LZ_TRY(add_region(x, use_of(x, i, k)));
    }
    return LZ_OK;
}

static lz_status make_kernels(front *x)
{
    uint32_t n = x->order.order.len;
    x->low = lz_calloc((size_t)n + 1, sizeof *x->low);
    if (!x->low)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    lz_arena scratch = {0};
    lz_status s = LZ_OK;
    for (uint32_t i = 0; i < n && s == LZ_OK; i++) {
        const lz_group *g = x->fu->groups[x->order.order.data[i]];
        const lz_fusion_node *first = x->fu->nodes[g->nodes.data[0]];
        s = first->kind == LZ_FUSION_CONTROL
                ? lower_control(x, first, &x->low[i])
                : lz_to_loops(x->fu, g, x->donor, &scratch, &x->low[i]);
        if (x->order.start && x->order.start[i] != LZ_NONE) {
            x->low[i].done = true;
            x->low[x->order.start[i]].until = i;
        }
    }
    lz_arena_free(&scratch);
    return s;
}

/* f: what x->f was before the passes. */
static lz_status build(front *x, const lz_func *f)
{
    x->plan = lz_calloc(1, sizeof *x->plan);
    if (!x->plan)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    x->plan->partitions = (uint32_t)x->o->partitions;
    LZ_TRY(lower_regions(x));
    int64_t t0 = lz_timeline_begin();
    LZ_TRY(lz_fusion_new(x->f, x->o, &x->fu));
    LZ_TRY(lz_dump_fusion(x->fu));
    LZ_TRY(find_donations(x));
    bool overlap = x->o->overlap && x->o->partitions > 1;
    LZ_TRY(lz_schedule_groups(x->fu, x->donor, overlap, &x->order));
    if (overlap)
        LZ_TRY(lz_schedule_overlap(x->fu, x->donor, &x->order));
    lz_timeline_end(t0, .name = "fusion", .category = "pass", .key = {"groups"},
                    .value = {x->order.order.len});
    t0 = lz_timeline_begin();
    LZ_TRY(make_kernels(x));
    lz_timeline_end(t0, .name = "loops", .category = "pass");
    t0 = lz_timeline_begin();
    LZ_TRY(fill_plan(x));
    LZ_TRY(lz_plan_verify(x->plan));
    lz_timeline_end(t0, .name = "plan", .category = "pass",
                    .key = {"steps", "kernels", "temp_bytes"},
                    .value = {x->plan->nstep, x->plan->nkernel, (int64_t)x->plan->temp_bytes});
    if (!f->derived) /* else its nodes are those of another function, which is not known here */
        lz_plan_find_nodes(x->plan, f);
    return lz_dump_plan(x->plan);
}

/* A function in which nothing is left that only the number of the partition says. */
static lz_status lower(const lz_func *f, const lz_lower_options *o, lz_plan **out)
{
    lz_func *g = NULL;
    if (o->partitions == 0)
        LZ_TRY(lz_func_check_alone(f));
    LZ_TRY(lz_passes_run(f, "pipeline", o, &g));
    front x = {.f = g, .o = o};
    lz_status s = build(&x, f);
    for (uint32_t i = 0; x.low && i < x.order.order.len; i++)
        lz_lowered_done(&x.low[i]);
    lz_vec_free(&x.regions);
    lz_free(x.low);
    lz_free(x.donor);
    lz_free(x.whiles);
    lz_schedule_free(&x.order);
    lz_fusion_free(x.fu);
    lz_func_free(g);
    if (s == LZ_OK)
        *out = x.plan;
    else
        lz_plan_free(x.plan);
    return s;
}

/* bound: of nparam parameters, and the number of the partition, which is nobody's to donate. */
static lz_status lower_bound(const lz_func *bound, const lz_lower_options *o, uint32_t nparam,
                             lz_plan **out)
{
    lz_lower_options own = *o;
    bool *donate = o->donate ? lz_calloc((size_t)bound->nparam + 1, sizeof *donate) : NULL;
    if (o->donate && !donate)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    if (donate)
        memcpy(donate, o->donate, nparam * sizeof *donate);
    own.donate = donate;
    lz_status s = lower(bound, &own, out);
    lz_free(donate);
    return s;
}

static lz_status lower_partitions(const lz_func *f, const lz_lower_options *o, lz_plan **out)
{
    lz_func *bound;
    bool numbered;
    if (o->partitions < 1 || o->partitions > LZ_MAX_PARTITIONS)
        return LZ_FAIL(LZ_ERANGE, "'%s': %" PRId64 " partitions", f->name, o->partitions);
    LZ_TRY(lz_func_bind_partitions(f, o->partitions, o->replicas, &bound, &numbered));
    lz_status s = lower_bound(bound, o, f->nparam, out);
    lz_func_free(bound);
    if (s == LZ_OK)
        (*out)->numbered = numbered;
    if (s == LZ_OK && !f->derived)
        lz_plan_find_nodes(*out, f);
    return s;
}

lz_status lz_lower(const lz_func *f, const lz_lower_options *o, lz_plan **out)
{
    static const lz_lower_options none;
    *out = NULL;
    o = o ? o : &none;
    return o->partitions ? lower_partitions(f, o, out) : lower(f, o, out);
}
