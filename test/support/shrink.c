/* shrink.c - makes a failing function smaller while it keeps failing. A candidate is the function
 * with a plan for each instruction: keep it, make it a parameter, or put another value in its
 * place. What is not reached from the results then falls away, parameters too. Candidates are tried
 * until none of them helps. */
#include "support/gen.h"
#include <string.h>

enum { KEEP = -1, TO_PARAM = -2 }; /* or the value that stands in */

typedef struct edit {
    const lz_func *f;
    int64_t *plan;
    bool *live;
    lz_val *map;
    lz_val *results;
    uint32_t nresult;
} edit;

static void edit_end(edit *e)
{
    lz_free(e->plan);
    lz_free(e->live);
    lz_free(e->map);
    lz_free(e->results);
}

static bool edit_begin(edit *e, const lz_func *f)
{
    *e = (edit){.f = f, .nresult = f->nresult};
    e->plan = lz_calloc(f->ninst, sizeof *e->plan);
    e->live = lz_calloc(f->ninst, sizeof *e->live);
    e->map = lz_calloc(f->ninst, sizeof *e->map);
    e->results = lz_calloc(f->nresult, sizeof *e->results);
    if (!e->plan || !e->live || !e->map || !e->results)
        return false;
    for (uint32_t i = 0; i < f->ninst; i++)
        e->plan[i] = KEEP;
    memcpy(e->results, f->results, f->nresult * sizeof *e->results);
    return true;
}

static lz_val resolve(const edit *e, lz_val v)
{
    while (e->plan[v] >= 0)
        v = (lz_val)e->plan[v];
    return v;
}

static void mark_live(edit *e)
{
    memset(e->live, 0, e->f->ninst * sizeof *e->live);
    for (uint32_t k = 0; k < e->nresult; k++)
        e->live[resolve(e, e->results[k])] = true;
    for (uint32_t i = e->f->ninst; i-- > 0;) {
        const lz_inst *in = &e->f->insts[i];
        if (!e->live[i] || e->plan[i] == TO_PARAM)
            continue;
        for (uint32_t k = 0; k < in->sig->nopnd; k++)
            e->live[resolve(e, in->opnd[k])] =
                true; /* smaller than i, or stands in for something smaller */
    }
}

static lz_val rebuild_inst(edit *e, lz_func *to, uint32_t i)
{
    const lz_inst *in = &e->f->insts[i];
    lz_val opnd[64];
    if (in->lit)
        return lz_build_const(to, in->lit);
    if (in->sig->nopnd > 64)
        return LZ_NOVAL;
    for (uint32_t k = 0; k < in->sig->nopnd; k++)
        opnd[k] = e->map[resolve(e, in->opnd[k])];
    if (in->sig->op == LZ_OP_RESULT)
        return lz_build_result(to, opnd[0], LZ_ATTR(index, in->sig->attr)->index);
    return lz_build_sig(to, in->sig, opnd);
}

/* The edited function, or NULL. */
static lz_func *apply(edit *e)
{
    const lz_func *f = e->f;
    lz_func *to = lz_func_new(f->name);
    if (!to)
        return NULL;
    to->cse = f->cse;
    mark_live(e);
    for (uint32_t i = 0; i < f->ninst; i++)
        if (e->live[i] && (i < f->nparam || e->plan[i] == TO_PARAM))
            e->map[i] = lz_build_param(to, lz_val_type(f, i));
    for (uint32_t i = f->nparam; i < f->ninst; i++)
        if (e->live[i] && e->plan[i] == KEEP)
            e->map[i] = rebuild_inst(e, to, i);
    for (uint32_t k = 0; k < e->nresult; k++)
        e->results[k] = e->map[resolve(e, e->results[k])];
    if (to->status == LZ_OK && lz_func_set_results(to, e->results, e->nresult) == LZ_OK)
        return to;
    lz_func_free(to);
    return NULL;
}

static uint64_t weight(const lz_func *f)
{
    uint64_t w = f->nresult;
    for (uint32_t i = 0; i < f->ninst; i++) {
        w += i < f->nparam ? 2 : f->insts[i].lit ? 3 : 4;
        for (uint32_t k = 0; k < f->insts[i].sig->nopnd; k++)
            w += i >= f->nparam;
    }
    return w;
}

/* The edited function when it is smaller and still fails, or NULL. */
static lz_func *judge(edit *e, lz_gen_fails *fails, void *ctx)
{
    lz_func *to = apply(e);
    if (to && weight(to) < weight(e->f) && fails(to, ctx))
        return to;
    lz_func_free(to);
    return NULL;
}

/* Without result k. */
static lz_func *try_drop(const lz_func *f, uint32_t k, lz_gen_fails *fails, void *ctx)
{
    edit e;
    lz_func *to = NULL;
    if (edit_begin(&e, f)) {
        memmove(&e.results[k], &e.results[k + 1], (e.nresult - k - 1) * sizeof *e.results);
        e.nresult--;
        to = judge(&e, fails, ctx);
    }
    edit_end(&e);
    return to;
}

/* With value v as result k. */
static lz_func *try_result(const lz_func *f, uint32_t k, lz_val v, lz_gen_fails *fails, void *ctx)
{
    edit e;
    lz_func *to = NULL;
    if (edit_begin(&e, f)) {
        e.results[k] = v;
        to = judge(&e, fails, ctx);
    }
    edit_end(&e);
    return to;
}

static lz_func *try_plan(const lz_func *f, lz_val at, int64_t what, lz_gen_fails *fails, void *ctx)
{
    edit e;
    lz_func *to = NULL;
    if (edit_begin(&e, f)) {
        e.plan[at] = what;
        to = judge(&e, fails, ctx);
    }
    edit_end(&e);
    return to;
}

/* The instruction whose operands made value i, also when i is one of several results. */
static const lz_inst *maker(const lz_func *f, lz_val i)
{
    const lz_inst *in = &f->insts[i];
    return in->sig->op == LZ_OP_RESULT ? &f->insts[in->opnd[0]] : in;
}

static lz_func *fewer_results(const lz_func *f, lz_gen_fails *fails, void *ctx)
{
    lz_func *to;
    for (uint32_t k = 0; k < f->nresult && f->nresult > 1; k++)
        if ((to = try_drop(f, k, fails, ctx)))
            return to;
    for (uint32_t k = 0; k < f->nresult; k++) {
        const lz_inst *in = maker(f, f->results[k]);
        for (uint32_t j = 0; j < in->sig->nopnd; j++)
            if ((to = try_result(f, k, in->opnd[j], fails, ctx)))
                return to;
    }
    return NULL;
}

static lz_func *fewer_insts(const lz_func *f, lz_gen_fails *fails, void *ctx)
{
    lz_func *to;
    for (uint32_t i = f->ninst; i-- > f->nparam;) {
        if (f->insts[i].sig->nresult != 1)
            continue;
        const lz_inst *in = maker(f, i);
        for (uint32_t k = 0; k < in->sig->nopnd; k++)
            if (lz_val_type(f, in->opnd[k]) == lz_val_type(f, i) &&
                (to = try_plan(f, i, in->opnd[k], fails, ctx)))
                return to;
        if ((to = try_plan(f, i, TO_PARAM, fails, ctx)))
            return to;
    }
    return NULL;
}

static lz_func *smaller(const lz_func *f, lz_gen_fails *fails, void *ctx)
{
    lz_func *to = fewer_results(f, fails, ctx);
    return to ? to : fewer_insts(f, fails, ctx);
}

lz_func *lz_gen_shrink(const lz_func *f, lz_gen_fails *fails, void *ctx)
{
    lz_func *best;
    if (lz_func_copy(f, &best) != LZ_OK)
        return NULL;
    for (lz_func *to; (to = smaller(best, fails, ctx)) != NULL;) {
        lz_func_free(best);
        best = to;
    }
    return best;
}
