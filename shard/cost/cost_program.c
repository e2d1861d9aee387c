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

/* The value that a name is of. */
static lz_val source_of(const line *l, lz_val v)
{
    const lz_inst *in = &l->f->insts[v];
    while (in->sig->nopnd &&
           (lz_op_has(in->sig->op, LZ_F_RELABEL) || lz_op_get(in->sig->op)->cls == LZ_CLASS_META)) {
        v = in->opnd[0];
        in = &l->f->insts[v];
    }
    return v;
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
        lz_val from = source_of(l, in->opnd[k]);
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
    double bytes = result_bytes(sig), before = w->out->flops;
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
    if (w->out->flops > 2 * before) /* what is most of them */
        w->out->rate = rate;
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
    double t, all, start = l->moves, bytes = collective_bytes(in->sig);
    LZ_TRY(find_axes(w, in->sig, &axes));
    LZ_TRY(lz_cost_step_add(w->out, w->place, in->sig->op, axes, bytes, w->times, &all));
    t = lz_cost_collective(w->place, in->sig->op, axes, bytes);
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

/* Loops and branches: nothing runs beside them. */
static lz_status take_control(walk *w, line *l, lz_val v)
{
    const lz_sig *sig = l->f->insts[v].sig;
    double t = 0, other = 0, most = 0;
    l->computes = fmax(l->computes, l->moves);
    if (sig->op == LZ_OP_WHILE) {
        double trips = lz_work_rounds(l->f, &l->f->insts[v], &w->out->guessed);
        LZ_TRY(take_region(w, LZ_ATTR(loop, sig->attr)->body, trips, &t, &most));
    } else {
        for (int k = 0; k < 2; k++) {
            const lz_func *region = lz_attr_region(sig->attr, k);
            if (region)
                LZ_TRY(take_region(w, region, 1, &other, &most));
            t = fmax(t, other);
        }
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
        lz_val from = source_of(l, in->opnd[k]);
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
    for (lz_val v = 0; v < f->ninst; v++)
        l->user[v] = LZ_NOVAL;
    for (lz_val v = 0; v < f->ninst; v++)
        for (uint32_t k = 0; k < f->insts[v].sig->nopnd; k++) {
            l->uses[f->insts[v].opnd[k]]++;
            l->user[f->insts[v].opnd[k]] = v;
        }
    for (uint32_t k = 0; k < f->nresult; k++) {
        l->uses[f->results[k]]++;
        l->user[f->results[k]] = LZ_NOVAL;
    }
}

/* A value is in memory from its kernel to its last use; parameters, and results, are counted by who
 * calls. */
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
        lz_val from = in->opnd[k];
        if (l->user[from] == v && in_memory(l, from) && l->uses[from] != 0) {
            l->live -= result_bytes(l->f->insts[from].sig);
            l->uses[from] = 0; /* an operand twice */
        }
    }
}

static lz_status walk_line(walk *w, line *l)
{
    for (lz_val v = 0; v < l->f->ninst; v++)
        LZ_TRY(take(w, l, v));
    for (lz_val v = 0; v < l->f->ninst; v++)
        count_memory(l, v);
    return LZ_OK;
}

static lz_status walk_func(walk *w, const lz_func *f, double *seconds, double *most)
{
    size_t n = (size_t)f->ninst + 1;
    line l = {.f = f,
              .uses = lz_calloc(n, sizeof *l.uses),
              .user = lz_calloc(n, sizeof *l.user),
              .ready = lz_calloc(n, sizeof *l.ready),
              .moved = lz_calloc(n, sizeof *l.moved)};
    lz_status s = LZ_OK;
    if (!l.uses || !l.user || !l.ready || !l.moved)
        s = LZ_FAIL(LZ_EMEM, "no memory to predict %s", f->name);
    if (s == LZ_OK) {
        find_uses(&l);
        s = walk_line(w, &l);
    }
    *seconds = fmax(l.computes, l.moves);
    *most = l.most;
    lz_free(l.uses);
    lz_free(l.user);
    lz_free(l.ready);
    lz_free(l.moved);
    return s;
}

/* Products of the program as it was written. Regions nest at most LZ_MAX_REGION_DEPTH deep. */
static double program_flops(const lz_func *f, double times)
{
    double sum = 0;
    for (lz_val v = 0; v < f->ninst; v++) {
        const lz_sig *sig = f->insts[v].sig;
        double most = 0;
        if (lz_work_is_product(sig->op))
            sum += times * lz_work_flops(sig);
        else if (sig->op == LZ_OP_WHILE)
            sum += program_flops(LZ_ATTR(loop, sig->attr)->body,
                                 lz_work_times(times, lz_work_rounds(f, &f->insts[v], NULL)));
        else if (lz_op_get(sig->op)->cls == LZ_CLASS_CONTROL)
            for (int k = 0; k < 2; k++)
                if (lz_attr_region(sig->attr, k))
                    most = fmax(most, program_flops(lz_attr_region(sig->attr, k), times));
        sum += most;
    }
    return sum;
}

lz_status lz_cost_program(const lz_cost_place *place, const lz_func *f, const lz_partitioned *p,
                          lz_cost_step *out)
{
    walk w = {.place = place, .c = place->machine, .out = out, .times = 1};
    double seconds, most;
    *out = (lz_cost_step){.rate = LZ_RATE_F32};
    LZ_TRY(walk_func(&w, p->local, &seconds, &most));
    for (uint32_t i = 0; i < p->local->nparam; i++)
        out->state_bytes += (double)lz_val_type(p->local, i)->nbytes;
    out->seconds = seconds;
    out->exposed = fmax(0, seconds - out->products - out->memory);
    out->peak_bytes = out->state_bytes + most;
    out->model_flops = f ? program_flops(f, 1) : out->flops * (double)place->mesh->ndevice;
    return LZ_OK;
}
