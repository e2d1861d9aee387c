/* regather.c - what is gathered does not live from the forward to the backward pass: it is gathered
 * again where it is needed next, as FSDP's reshard_after_forward does with parameters.
 * Gathered values have a budget of memory, like values in registers: what does not fit gives way,
 * those first that are needed last (Belady), and is gathered again before its next use. The budget
 * is the largest of them, so of a model of equal layers one layer is there at a time, or a small
 * part of what the function's parameters take, so that programs in which gathered values are few do
 * not send more. The new gather is of its operand behind a barrier with what its user reads, as
 * otherwise it would be the same value as the first, and could be moved there.
 * Cost: O(n), and the gathered values that are there at a time for each of their uses. */
#include "ir/attr.h"
#include "ir/func.h"
#include "shard/partition.h"
#include <string.h>

enum { SHARE = 16 }; /* of the parameters' bytes, that may stay */

/* A gather, and values that are only moved from it, which are made again with it. */
typedef struct unit {
    lz_val root;
    uint32_t use, last; /* the list of its uses that are still to come */
    uint32_t times;     /* that it has been gathered */
    uint64_t nbytes;
} unit;

typedef struct use {
    lz_val by; /* ninst: a result */
    uint32_t next;
} use;

typedef struct regather {
    const lz_func *f;
    lz_func *to;
    lz_arena *a, *notes;
    uint32_t *of; /* [ninst]: the unit, or UINT32_MAX */
    unit *units;
    use *uses;
    uint32_t nunit, nuse, nhere, again;
    uint32_t *here; /* units that are there */
    uint64_t used, budget, all;
    lz_val *map;     /* [ninst] */
    uint32_t *times; /* [ninst]: that its unit had been gathered when it was made */
    lz_val *chain, *opnd;
} regather;

static bool is_gather(const lz_inst *in)
{
    return in->sig->op == LZ_OP_ALL_GATHER && in->sig->nopnd == 1;
}

static bool is_move(const lz_inst *in)
{
    return in->sig->op == LZ_OP_RESHAPE || in->sig->op == LZ_OP_TRANSPOSE ||
           in->sig->op == LZ_OP_SLICE;
}

/* ---- what is gathered, and where it is used ---- */

static void add_use(regather *r, uint32_t u, lz_val by)
{
    unit *x = &r->units[u];
    if (x->last != UINT32_MAX && r->uses[x->last].by == by)
        return;
    r->uses[r->nuse] = (use){by, UINT32_MAX};
    if (x->last == UINT32_MAX)
        x->use = r->nuse;
    else
        r->uses[x->last].next = r->nuse;
    x->last = r->nuse++;
}

static void find_units(regather *r)
{
    const lz_func *f = r->f;
    for (lz_val v = 0; v < f->ninst; v++) {
        const lz_inst *in = &f->insts[v];
        r->of[v] = UINT32_MAX;
        if (is_gather(in)) {
            r->of[v] = r->nunit;
            r->units[r->nunit++] =
                (unit){v, UINT32_MAX, UINT32_MAX, 0, (uint64_t)in->sig->result[0]->nbytes};
        } else if (is_move(in)) {
            r->of[v] = r->of[in->opnd[0]];
        }
        for (uint32_t k = 0; k < in->sig->nopnd && (r->of[v] == UINT32_MAX || is_gather(in)); k++)
            if (r->of[in->opnd[k]] != UINT32_MAX)
                add_use(r, r->of[in->opnd[k]], v);
    }
    for (uint32_t k = 0; k < f->nresult; k++)
        if (r->of[f->results[k]] != UINT32_MAX)
            add_use(r, r->of[f->results[k]], f->ninst);
}

static void find_budget(regather *r)
{
    uint64_t params = 0, largest = 0;
    for (lz_val v = 0; v < r->f->nparam; v++)
        params += (uint64_t)lz_val_type(r->f, v)->nbytes;
    r->budget = params / SHARE > lz_shard_small ? params / SHARE : lz_shard_small;
    for (uint32_t u = 0; u < r->nunit; u++) {
        r->all += r->units[u].nbytes;
        if (r->units[u].nbytes > largest)
            largest = r->units[u].nbytes;
    }
    largest += largest / 4; /* and what is small beside it: a bias */
    r->budget = largest > r->budget ? largest : r->budget;
}

/* ---- the walk ---- */

/* The last that was made of what `by` reads beside the unit; what is there from the start on says
 * nothing about when. */
static lz_val tie_of(const regather *r, lz_val by, uint32_t u)
{
    lz_val last = LZ_NOVAL;
    for (uint32_t k = 0; by < r->f->ninst && k < r->f->insts[by].sig->nopnd; k++) {
        lz_val v = r->f->insts[by].opnd[k];
        const lz_inst *in = &r->f->insts[v];
        bool plain = v >= r->f->nparam && in->sig->nresult == 1 && in->sig->nopnd &&
                     r->of[v] != u && r->of[v] == UINT32_MAX;
        if (plain && (last == LZ_NOVAL || r->map[v] > last))
            last = r->map[v];
    }
    return last;
}

/* The operand of a gather that is made again. */
static lz_val delayed(regather *r, lz_val shard, lz_val tie)
{
    lz_val v[2] = {shard, tie};
    return lz_build_result(r->to, lz_build(r->to, LZ_OP_OPTIMIZATION_BARRIER, NULL, v, 2), 0);
}

/* Value v of a unit, as it has been gathered last. */
static lz_val value_of(regather *r, lz_val v)
{
    uint32_t n = 0, u = r->of[v];
    if (u == UINT32_MAX)
        return r->map[v];
    for (; r->times[v] != r->units[u].times; v = r->f->insts[v].opnd[0])
        r->chain[n++] = v;
    while (n-- > 0) {
        const lz_inst *in = &r->f->insts[r->chain[n]];
        lz_val one = r->map[v];
        v = r->chain[n];
        r->map[v] = lz_build(r->to, in->sig->op, in->sig->attr, &one, 1);
        r->times[v] = r->units[u].times;
    }
    return r->map[v];
}

static void gather(regather *r, uint32_t u, lz_val by)
{
    unit *x = &r->units[u];
    const lz_inst *in = &r->f->insts[x->root];
    lz_val tie = x->times ? tie_of(r, by, u) : LZ_NOVAL;
    bool again = x->times && tie != LZ_NOVAL;
    if (x->times == 0 || again) {
        lz_val shard = value_of(r, in->opnd[0]);
        x->times++;
        if (again)
            shard = delayed(r, shard, tie);
        r->again += again;
        r->map[x->root] = lz_build(r->to, in->sig->op, in->sig->attr, &shard, 1);
        r->times[x->root] = x->times;
        if (r->map[x->root] != LZ_NOVAL)
            r->to->insts[r->map[x->root]].site =
                again ? lz_note_copy(r->notes, in->site) : in->site;
    }
    r->here[r->nhere++] = u;
    r->used += x->nbytes;
}

static void drop(regather *r, uint32_t i)
{
    r->used -= r->units[r->here[i]].nbytes;
    r->here[i] = r->here[--r->nhere];
}

static lz_val next_use(const regather *r, uint32_t u)
{
    return r->units[u].use == UINT32_MAX ? LZ_NOVAL : r->uses[r->units[u].use].by;
}

/* Those that are needed last give way, till the rest fits; u and what `by` reads stay. */
static void make_room(regather *r, lz_val by, uint32_t u)
{
    while (r->used > r->budget) {
        uint32_t last = UINT32_MAX;
        for (uint32_t i = 0; i < r->nhere; i++)
            if (next_use(r, r->here[i]) > by && r->here[i] != u &&
                (last == UINT32_MAX || next_use(r, r->here[i]) > next_use(r, r->here[last])))
                last = i;
        if (last == UINT32_MAX)
            return;
        drop(r, last);
    }
}

static bool is_here(const regather *r, uint32_t u)
{
    for (uint32_t i = 0; i < r->nhere; i++)
        if (r->here[i] == u)
            return true;
    return false;
}

/* All that v reads is there. */
static void bring(regather *r, lz_val v, const lz_val *opnd, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        uint32_t u = r->of[opnd[k]];
        if (u != UINT32_MAX && !is_here(r, u)) {
            gather(r, u, v);
            make_room(r, v, u);
        }
    }
    for (uint32_t k = 0; k < n; k++)
        r->opnd[k] = value_of(r, opnd[k]);
    for (uint32_t i = r->nhere; i-- > 0;) {
        unit *x = &r->units[r->here[i]];
        if (next_use(r, r->here[i]) == v)
            x->use = r->uses[x->use].next;
        if (x->use == UINT32_MAX)
            drop(r, i);
    }
}

static lz_status walk(regather *r)
{
    const lz_func *f = r->f;
    for (lz_val v = 0; v < f->nparam; v++)
        r->map[v] = lz_build_param(r->to, lz_val_type(f, v));
    for (lz_val v = f->nparam; v < f->ninst; v++) {
        const lz_inst *in = &f->insts[v];
        uint32_t u = r->of[v];
        if (u != UINT32_MAX && !is_gather(in)) /* when it is needed */
            continue;
        r->to->now = (lz_origin){NULL, in->scope, in->node};
        bring(r, v, in->opnd, in->sig->nopnd);
        if (u != UINT32_MAX) {
            gather(r, u, v);
            make_room(r, v, u);
            continue;
        }
        r->map[v] =
            in->lit ? lz_build_const(r->to, in->lit) : lz_build_sig(r->to, in->sig, r->opnd);
        LZ_TRY(r->to->status);
        if (in->site)
            r->to->insts[r->map[v]].site = in->site;
    }
    bring(r, f->ninst, f->results, f->nresult);
    LZ_TRY(r->to->status);
    return lz_func_set_results(r->to, r->opnd, f->nresult);
}

static bool begin(regather *r, uint32_t gathers)
{
    const lz_func *f = r->f;
    size_t n = (size_t)f->ninst + 1, edges = f->nresult;
    for (lz_val v = 0; v < f->ninst; v++)
        edges += f->insts[v].sig->nopnd;
    r->of = lz_arena_alloc(r->a, n * sizeof *r->of);
    r->units = lz_arena_alloc(r->a, (size_t)gathers * sizeof *r->units);
    r->uses = lz_arena_alloc(r->a, (edges + 1) * sizeof *r->uses);
    r->here = lz_arena_alloc(r->a, (size_t)gathers * sizeof *r->here);
    r->map = lz_arena_alloc(r->a, n * sizeof *r->map);
    r->times = lz_arena_alloc(r->a, n * sizeof *r->times);
    r->chain = lz_arena_alloc(r->a, n * sizeof *r->chain);
    r->opnd = lz_arena_alloc(r->a, (lz_func_widest(f) + f->nresult + 1) * sizeof *r->opnd);
    return r->of && r->units && r->uses && r->here && r->map && r->times && r->chain && r->opnd;
}

lz_status lz_shard_regather(lz_func **f, lz_arena *notes)
{
    lz_arena a = {0};
    regather r = {.f = *f, .a = &a, .notes = notes};
    lz_status s = LZ_OK;
    uint32_t gathers = 0;
    for (lz_val v = 0; v < (*f)->ninst; v++)
        gathers += is_gather(&(*f)->insts[v]);
    if (gathers < 2)
        return LZ_OK;
    if (!begin(&r, gathers)) {
        lz_arena_free(&a);
        return LZ_FAIL(LZ_EMEM, "no memory to order the gathers of %s", (*f)->name);
    }
    find_units(&r);
    find_budget(&r);
    if (r.all > r.budget) {
        r.to = lz_func_new((*f)->name);
        s = r.to ? walk(&r) : lz_error_get()->status;
    }
    if (s == LZ_OK && r.again) {
        lz_func_free(*f);
        *f = r.to;
        r.to = NULL;
    }
    lz_func_free(r.to);
    lz_arena_free(&a);
    return s;
}
