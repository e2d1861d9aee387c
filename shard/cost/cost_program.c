/* cost_program.c - the step of a partitioned program, on paper. See cost_step.h.
 * Two engines: one computes, in the order of the function; one moves, a collective after the other
 * as soon as its operands are there: starts are hoisted, as schedulers that hide latencies do. Who
 * needs what is not there yet waits. A machine that hides only a part of collectives behind compute
 * stands still for the rest of each.
 * Regions nest at most LZ_MAX_REGION_DEPTH deep. */
#include "base/alloc.h"
#include "ir/attr.h"
#include "ir/participants.h"
#include "shard/cost/cost_step.h"
#include "shard/work.h"
#include <math.h>

/* The axes of groups that were read before: programs have few, and thousands of members each. */
enum { KNOWN_GROUPS = 16 };
typedef struct known_groups {
    const char *text; /* interned */
    bool pairs;
    uint32_t axes;
} known_groups;

typedef struct walk {
    const lz_cost_place *place;
    const lz_cost_machine *c;
    lz_cost_step *out;
    double times; /* how often what is walked runs */
    known_groups known[KNOWN_GROUPS];
    uint32_t nknown;
} walk;

/* A function or region while it is walked. */
typedef struct line {
    const lz_func *f;
    uint32_t *uses;         /* [ninst] */
    lz_val *user;           /* [ninst]: the last one; LZ_NOVAL: a result */
    lz_val *source;         /* [ninst]: the value that a name is of, or itself */
    lz_val *last;           /* [ninst]: who needs the value last; LZ_NOVAL: it stays */
    double *ready;          /* [ninst]: when a value is there */
    bool *moved;            /* [ninst]: whether a collective brought it */
    double computes, moves; /* until when the engines are busy */
    double live, most;      /* bytes of values */
} line;

/* ---- which values are in memory ---- */

/* Of no bytes, made where it is used, or another name of a value. */
static bool is_free(const lz_inst *in)
{
    const lz_op_info *op = lz_op_get(in->sig->op);
    return op->cls == LZ_CLASS_LEAF || op->cls == LZ_CLASS_META || (op->flags & LZ_F_RELABEL) ||
           in->sig->op == LZ_OP_BROADCAST_IN_DIM;
}

static bool takes_fused(const lz_inst *in)
{
    lz_op_class cls = lz_op_get(in->sig->op)->cls;
    return cls == LZ_CLASS_EW || cls == LZ_CLASS_REDUCE;
}

/* Whether it is computed in the kernel of its only user. */
static bool is_fused(const line *l, lz_val v)
{
    const lz_inst *in = &l->f->insts[v];
    return lz_op_get(in->sig->op)->cls == LZ_CLASS_EW && l->uses[v] == 1 &&
           l->user[v] != LZ_NOVAL && takes_fused(&l->f->insts[l->user[v]]);
}

/* Another name of its operand. */
static bool is_name(const lz_inst *in)
{
    return in->sig->nopnd &&
           (lz_op_has(in->sig->op, LZ_F_RELABEL) || lz_op_get(in->sig->op)->cls == LZ_CLASS_META);
}

static double result_bytes(const lz_sig *sig)
{
    double n = 0;
    for (uint32_t k = 0; k < sig->nresult; k++)
        n += (double)sig->result[k]->nbytes;
    return n;
}

/* Bytes that the kernel of v reads and writes: operands that are in memory, the result if it is. */
static double kernel_bytes(const line *l, lz_val v)
{
    const lz_inst *in = &l->f->insts[v];
    double made = result_bytes(in->sig), read = 0;
    for (uint32_t k = 0; k < in->sig->nopnd; k++) {
        lz_val from = l->source[in->opnd[k]];
        bool made_here = l->f->insts[from].sig->op != LZ_OP_PARAMETER &&
                         (is_free(&l->f->insts[from]) || is_fused(l, from));
        read += made_here ? 0 : (double)in->sig->opnd[k]->nbytes;
    }
    switch (lz_op_get(in->sig->op)->cls) {
    case LZ_CLASS_MOVE:                                /* a part of the operand, or all of it */
        if (in->sig->op == LZ_OP_DYNAMIC_UPDATE_SLICE) /* in place */
            return 2 * (double)in->sig->opnd[1]->nbytes;
        return fmin(read, made) + made;
    case LZ_CLASS_INDEX:
        if (in->sig->op == LZ_OP_SCATTER)
            return 3 * (read > made ? read - made : read);
        return 2 * made;
    case LZ_CLASS_SORT:
    case LZ_CLASS_FFT: /* some passes */
        return 3 * (read + made);
    default:
        return read + (is_fused(l, v) ? 0 : made);
    }
}

/* ---- products ---- */

static lz_status take_product(walk *w, line *l, lz_val v)
{
    const lz_sig *sig = l->f->insts[v].sig;
    const lz_work_matrices p = lz_work_matrices_of(sig);
    double bytes = result_bytes(sig);
    lz_cost_rate rate = lz_cost_rate_of(sig->opnd[0]->dtype);
    if (!(w->c->flop_s[rate] > 0))
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s has no products of %s", w->c->name,
                       lz_dtype_mlir(sig->opnd[0]->dtype));
    for (uint32_t i = 0; i < sig->nopnd; i++)
        bytes += (double)sig->opnd[i]->nbytes;
    double t = lz_cost_product(w->c, rate, p.batch, p.m, p.n, p.k, bytes);
    l->computes += t;
    w->out->products += w->times * t;
    w->out->flops += w->times * lz_work_flops(sig);
    return LZ_OK;
}

static double linalg_seconds(const walk *w, const lz_sig *sig)
{
    const lz_work_matrices p = lz_work_matrices_of(sig);
    lz_cost_rate rate = w->c->flop_s[LZ_RATE_F32] > 0 ? LZ_RATE_F32 : LZ_RATE_F16;
    return lz_cost_product(w->c, rate, p.batch, p.m, p.n, p.k, result_bytes(sig));
}

/* ---- collectives ---- */

static lz_status find_axes(walk *w, const lz_sig *sig, uint32_t *out)
{
    lz_group_field g = lz_group_field_of(sig);
    lz_shard_traffic t;
    for (int i = 0; i < KNOWN_GROUPS; i++)
        if (g.text && w->known[i].text == g.text && w->known[i].pairs == g.pairs) {
            *out = w->known[i].axes;
            return LZ_OK;
        }
    LZ_TRY(lz_shard_traffic_of(sig, w->place->mesh, &t));
    *out = t.axes;
    w->known[w->nknown++ % KNOWN_GROUPS] = (known_groups){g.text, g.pairs, t.axes};
    return LZ_OK;
}

/* As lz_cost_collective wants them. */
static double collective_bytes(const lz_sig *sig)
{
    uint64_t operands, results;
    lz_collective_bytes(sig, &operands, &results);
    return (double)(sig->op == LZ_OP_ALL_GATHER ? results : operands);
}

static lz_status take_collective(walk *w, line *l, lz_val v)
{
    const lz_inst *in = &l->f->insts[v];
    uint32_t axes;
    double t, start = l->moves, bytes = collective_bytes(in->sig);
    LZ_TRY(find_axes(w, in->sig, &axes));
    LZ_TRY(lz_cost_step_add(w->out, w->place, in->sig->op, axes, bytes, w->times, &t));
    for (uint32_t k = 0; k < in->sig->nopnd; k++)
        start = fmax(start, l->ready[in->opnd[k]]);
    if (w->c->hide > 0) {
        l->computes += t * (1 - w->c->hide);
    } else { /* it begins when its turn comes, and compute stands still */
        start = fmax(start, l->computes);
        l->computes = start + t;
    }
    l->moves = l->ready[v] = start + t;
    l->moved[v] = true;
    return LZ_OK;
}

/* ---- instructions ---- */

static lz_status walk_func(walk *w, const lz_func *f, double *seconds, double *most);

static lz_status take_region(walk *w, const lz_func *f, double times, double *seconds, double *most)
{
    double before = w->times, inner, bytes;
    w->times = lz_work_times(w->times, times);
    lz_status s = walk_func(w, f, &inner, &bytes);
    w->times = before;
    *seconds = lz_work_times(inner, times);
    *most = fmax(*most, bytes);
    return s;
}

/* The longer branch; the other one only as far as memory goes. */
static lz_status take_branches(walk *w, const lz_sig *sig, double *seconds, double *most)
{
    lz_cost_step *all = w->out, longer = {0};
    lz_status s = LZ_OK;
    for (int k = 0; k < 2 && s == LZ_OK; k++) {
        const lz_func *region = lz_attr_region(sig->attr, k);
        lz_cost_step one = {0};
        double t = 0;
        w->out = &one;
        if (region)
            s = take_region(w, region, 1, &t, most);
        all->guessed |= one.guessed;
        if (t > *seconds) {
            lz_cost_step shorter = longer;
            *seconds = t;
            longer = one;
            one = shorter;
        }
        lz_cost_step_free(&one);
    }
    w->out = all;
    if (s == LZ_OK)
        s = lz_cost_step_merge(all, &longer);
    lz_cost_step_free(&longer);
    return s;
}

/* Loops and branches: nothing runs beside them. */
static lz_status take_control(walk *w, line *l, lz_val v)
{
    const lz_sig *sig = l->f->insts[v].sig;
    double t = 0, most = 0;
    l->computes = fmax(l->computes, l->moves);
    if (sig->op == LZ_OP_WHILE) {
        double trips = lz_work_rounds(l->f, &l->f->insts[v], &w->out->guessed);
        LZ_TRY(take_region(w, LZ_ATTR(loop, sig->attr)->body, trips, &t, &most));
    } else {
        LZ_TRY(take_branches(w, sig, &t, &most));
    }
    l->most = fmax(l->most, l->live + most);
    l->computes += t;
    l->moves = l->computes;
    return LZ_OK;
}

/* Waits for operands that collectives bring. A product that belongs to one begins with its first
 * piece. */
static void wait_for(const walk *w, line *l, const lz_inst *in)
{
    for (uint32_t k = 0; k < in->sig->nopnd; k++) {
        lz_val from = l->source[in->opnd[k]];
        double late = l->ready[from] - l->computes;
        if (late > 0)
            l->computes +=
                late * (l->moved[from] && lz_work_is_product(in->sig->op) ? 1 - w->c->hide_own : 1);
    }
}

static lz_status take(walk *w, line *l, lz_val v)
{
    const lz_inst *in = &l->f->insts[v];
    lz_op_class cls = lz_op_get(in->sig->op)->cls;
    double t;
    if (cls == LZ_CLASS_COLLECTIVE)
        return take_collective(w, l, v);
    if (is_free(in)) {
        l->ready[v] = in->sig->nopnd ? l->ready[in->opnd[0]] : 0;
        return LZ_OK;
    }
    wait_for(w, l, in);
    if (lz_work_is_product(in->sig->op)) {
        LZ_TRY(take_product(w, l, v));
    } else if (cls == LZ_CLASS_CONTROL) {
        LZ_TRY(take_control(w, l, v));
    } else {
        bool only_moves = cls != LZ_CLASS_LINALG;
        t = only_moves ? lz_cost_memory(w->c, kernel_bytes(l, v)) : linalg_seconds(w, in->sig);
        if (is_fused(l, v)) /* no kernel of its own */
            t = fmax(0, t - w->c->launch);
        l->computes += t;
        w->out->memory += w->times * t;
    }
    l->ready[v] = l->computes;
    return LZ_OK;
}

/* ---- functions ---- */

static void find_uses(line *l)
{
    const lz_func *f = l->f;
    for (lz_val v = 0; v < f->ninst; v++) {
        const lz_inst *in = &f->insts[v];
        bool name = is_name(in);
        l->user[v] = l->last[v] = LZ_NOVAL;
        l->source[v] = name ? l->source[in->opnd[0]] : v;
        for (uint32_t k = 0; k < in->sig->nopnd; k++) {
            l->uses[in->opnd[k]]++;
            l->user[in->opnd[k]] = v;
            if (!name)
                l->last[l->source[in->opnd[k]]] = v;
        }
    }
    for (uint32_t k = 0; k < f->nresult; k++) {
        l->uses[f->results[k]]++;
        l->user[f->results[k]] = LZ_NOVAL;
        l->last[l->source[f->results[k]]] = LZ_NOVAL;
    }
}

/* A value is in memory from its kernel to its last use; parameters are counted by who calls. */
static bool in_memory(const line *l, lz_val v)
{
    const lz_inst *in = &l->f->insts[v];
    return in->sig->op != LZ_OP_PARAMETER && !is_free(in) && !is_fused(l, v);
}

static void count_memory(line *l, lz_val v)
{
    const lz_inst *in = &l->f->insts[v];
    if (in_memory(l, v))
        l->live += result_bytes(in->sig);
    l->most = fmax(l->most, l->live);
    for (uint32_t k = 0; k < in->sig->nopnd; k++) {
        lz_val from = l->source[in->opnd[k]];
        if (l->last[from] == v && in_memory(l, from)) {
            l->live -= result_bytes(l->f->insts[from].sig);
            l->last[from] = LZ_NOVAL; /* an operand twice */
        }
    }
}

static lz_status walk_line(walk *w, line *l)
{
    for (lz_val v = 0; v < l->f->ninst; v++) {
        LZ_TRY(take(w, l, v)); /* of a region with what lives around it */
        count_memory(l, v);
    }
    return LZ_OK;
}

static lz_status walk_func(walk *w, const lz_func *f, double *seconds, double *most)
{
    size_t n = (size_t)f->ninst + 1;
    line l = {.f = f,
              .uses = lz_calloc(n, sizeof *l.uses),
              .user = lz_calloc(n, sizeof *l.user),
              .source = lz_calloc(n, sizeof *l.source),
              .last = lz_calloc(n, sizeof *l.last),
              .ready = lz_calloc(n, sizeof *l.ready),
              .moved = lz_calloc(n, sizeof *l.moved)};
    lz_status s = LZ_OK;
    if (!l.uses || !l.user || !l.source || !l.last || !l.ready || !l.moved)
        s = LZ_FAIL(LZ_EMEM, "no memory to predict %s", f->name);
    if (s == LZ_OK) {
        find_uses(&l);
        s = walk_line(w, &l);
    }
    *seconds = fmax(l.computes, l.moves);
    *most = l.most;
    lz_free(l.uses);
    lz_free(l.user);
    lz_free(l.source);
    lz_free(l.last);
    lz_free(l.ready);
    lz_free(l.moved);
    return s;
}

/* Operations of products, by what they multiply. */
typedef struct flops {
    double rate[LZ_RATE_COUNT];
} flops;

static double sum_of(const flops *x)
{
    double sum = 0;
    for (int r = 0; r < LZ_RATE_COUNT; r++)
        sum += x->rate[r];
    return sum;
}

static void add_flops(const lz_func *f, double times, flops *sum);

/* The branch that does more. */
static void add_branches(const lz_sig *sig, double times, flops *sum)
{
    flops most = {{0}};
    for (int k = 0; k < 2; k++) {
        flops one = {{0}};
        if (lz_attr_region(sig->attr, k))
            add_flops(lz_attr_region(sig->attr, k), times, &one);
        most = sum_of(&one) > sum_of(&most) ? one : most;
    }
    for (int r = 0; r < LZ_RATE_COUNT; r++)
        sum->rate[r] += most.rate[r];
}

/* All of a function. Regions nest at most LZ_MAX_REGION_DEPTH deep. */
static void add_flops(const lz_func *f, double times, flops *sum)
{
    for (lz_val v = 0; v < f->ninst; v++) {
        const lz_sig *sig = f->insts[v].sig;
        if (lz_work_is_product(sig->op))
            sum->rate[lz_cost_rate_of(sig->opnd[0]->dtype)] += times * lz_work_flops(sig);
        else if (sig->op == LZ_OP_WHILE)
            add_flops(LZ_ATTR(loop, sig->attr)->body,
                      lz_work_times(times, lz_work_rounds(f, &f->insts[v], NULL)), sum);
        else if (lz_op_get(sig->op)->cls == LZ_CLASS_CONTROL)
            add_branches(sig, times, sum);
    }
}

static lz_cost_rate rate_of_most(const flops *x)
{
    lz_cost_rate best = LZ_RATE_F32;
    for (int r = 0; r < LZ_RATE_COUNT; r++)
        best = x->rate[r] > x->rate[best] ? (lz_cost_rate)r : best;
    return best;
}

lz_status lz_cost_program(const lz_cost_place *place, const lz_func *f, const lz_partitioned *p,
                          lz_cost_step *out)
{
    walk w = {.place = place, .c = place->machine, .out = out, .times = 1};
    flops local = {{0}}, written = {{0}};
    double seconds, most;
    *out = (lz_cost_step){0};
    LZ_TRY(walk_func(&w, p->local, &seconds, &most));
    add_flops(p->local, 1, &local);
    if (f)
        add_flops(f, 1, &written);
    out->rate = rate_of_most(&local);
    for (uint32_t i = 0; i < p->local->nparam; i++)
        out->state_bytes += (double)lz_val_type(p->local, i)->nbytes;
    out->seconds = seconds;
    out->exposed = fmax(0, seconds - out->products - out->memory);
    out->peak_bytes = out->state_bytes + most;
    out->model_flops = f ? sum_of(&written) : out->flops * (double)place->mesh->ndevice;
    return LZ_OK;
}
