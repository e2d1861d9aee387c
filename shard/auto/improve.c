/* improve.c - other placements of the parameters, as long as they really help. One class of
 * parameters at a time, those of all equal layers and their optimizer's states together, so that
 * equal layers come out alike; of the many placements the model says which few are worth a
 * partition. See search.h.
 * Threads: thread-compatible. */
#include "shard/auto/search.h"
#include <stdlib.h>
#include <string.h>

enum { SWEEPS = 3, WORTH = 3 };

static lz_status no_memory(void)
{
    return LZ_FAIL(LZ_EMEM, "no memory to search for shardings");
}

typedef struct class {
    lz_val first;
    double nbytes;
} class;

typedef struct improver {
    lz_auto_search *s;
    lz_arena *a;
    class *classes;
    uint32_t n;
    lz_choices c;
    uint32_t *pick, *trial;
    const bool **may;
} improver;

static bool of_class(const lz_auto_search *s, lz_val v, lz_val first)
{
    return lz_hash_eq(s->class_of[s->group[v]], s->class_of[first]) &&
           lz_val_type(s->m.f, v) == lz_val_type(s->m.f, first);
}

/* Equal ones in the order of their first parameters. */
static int larger_first(const void *a, const void *b)
{
    const class *x = a, *y = b;
    return x->nbytes != y->nbytes ? (x->nbytes < y->nbytes ? 1 : -1) : x->first < y->first ? -1 : 1;
}

/* Classes by the bytes of all their parameters, the largest first. */
static lz_status find_classes(improver *x)
{
    const lz_func *f = x->s->m.f;
    lz_map of = {0};
    x->classes = lz_arena_alloc(x->a, ((size_t)f->nparam + 1) * sizeof *x->classes);
    if (!x->classes)
        return no_memory();
    for (lz_val v = 0; v < f->nparam; v++) {
        lz_val first = x->s->group[v];
        lz_hash h = x->s->class_of[first];
        uintptr_t k = (uintptr_t)lz_map_get(&of, h);
        if (lz_auto_is_marked(x->s, first) || !lz_val_type(f, first)->shape.rank)
            continue;
        if (!k) {
            if (lz_map_put(&of, h, (void *)(uintptr_t)(x->n + 1)) != LZ_OK) {
                lz_map_free(&of);
                return no_memory();
            }
            x->classes[x->n] = (class){first, 0};
            k = ++x->n;
        }
        x->classes[k - 1].nbytes += (double)lz_val_type(f, v)->nbytes;
    }
    lz_map_free(&of);
    if (x->n)
        qsort(x->classes, x->n, sizeof *x->classes, larger_first);
    return LZ_OK;
}

static uint32_t var_of(const lz_auto_search *s, lz_val v)
{
    uint32_t node = lz_prop_find(&s->m.prop, s->m.prop.frames.data[0].node[v]);
    return node == LZ_PROP_NONE ? LZ_AUTO_NONE : s->m.nodes[node].var;
}

static const lz_auto_list *places_of(const lz_auto_search *s, lz_val v)
{
    uint32_t node = lz_prop_find(&s->m.prop, s->m.prop.frames.data[0].node[v]);
    return node == LZ_PROP_NONE ? NULL : s->m.nodes[node].at;
}

static uint32_t place_number(const lz_auto_list *at, const lz_sharding *s)
{
    for (uint32_t i = 0; i < at->n; i++)
        if (at->at[i] == s)
            return i;
    return LZ_AUTO_NONE;
}

/* The model's picks nearest to the best candidate. */
static lz_status picks_of_best(improver *x)
{
    const lz_auto_search *s = x->s;
    memcpy(x->pick, s->pick, s->m.vars.len * sizeof *x->pick);
    for (lz_val v = 0; v < s->m.f->nparam; v++) {
        const lz_auto_list *at = places_of(s, v);
        uint32_t i = at && s->best->param[v] ? place_number(at, s->best->param[v]) : LZ_AUTO_NONE;
        if (i != LZ_AUTO_NONE)
            x->pick[var_of(s, v)] = i;
    }
    return LZ_OK;
}

/* What the model says of the class at placement i; x->trial: its picks then. */
static lz_status estimate(improver *x, lz_val first, uint32_t i, double *cost)
{
    const lz_auto_search *s = x->s;
    lz_arena a = {0};
    lz_status st = LZ_OK;
    memcpy(x->trial, x->pick, s->m.vars.len * sizeof *x->trial);
    memset(x->may, 0, s->m.vars.len * sizeof *x->may);
    for (lz_val v = 0; v < s->m.f->nparam && st == LZ_OK; v++) {
        uint32_t var = var_of(s, v);
        if (!of_class(s, v, first) || var == LZ_AUTO_NONE || i >= s->m.vars.data[var].n)
            continue;
        bool *only = lz_arena_alloc(&a, s->m.vars.data[var].n);
        if (!only)
            st = no_memory();
        else
            only[i] = true;
        x->may[var] = only;
        x->trial[var] = i;
    }
    if (st == LZ_OK)
        st = lz_choices_improve(&x->c, x->trial, &a);
    if (st == LZ_OK)
        *cost = lz_choices_cost(&x->c, x->trial);
    memset(x->may, 0, s->m.vars.len * sizeof *x->may);
    lz_arena_free(&a);
    return st;
}

/* The best candidate with the class there; values as the model has them then, if it has any. */
static lz_status moved(improver *x, lz_val first, const lz_sharding *to, lz_auto_trial **out)
{
    lz_auto_search *s = x->s;
    const lz_func *f = s->m.f;
    lz_auto_trial *model;
    bool values = false;
    LZ_TRY(lz_auto_trial_copy(&s->real, "improved", s->best, out));
    for (lz_val v = 0; v < f->ninst; v++)
        values |= s->best->value[v] != NULL;
    if (values) {
        LZ_TRY(lz_auto_trial_of(s, "improved", x->trial, true, &model));
        memcpy((*out)->value, model->value, f->ninst * sizeof *model->value);
    }
    for (lz_val v = 0; v < f->nparam; v++)
        if (of_class(s, v, first) && !lz_auto_is_marked(s, v))
            (*out)->param[v] = to;
    for (uint32_t k = 0; k < f->nresult; k++)
        if (s->m.state_of[k] != LZ_NOVAL && of_class(s, s->m.state_of[k], first))
            (*out)->result[k] = to;
    return LZ_OK;
}

static lz_status try_moved(improver *x, lz_val first, uint32_t i, bool *better)
{
    lz_auto_trial *t, *was = x->s->best;
    double cost;
    bool had;
    LZ_TRY(estimate(x, first, i, &cost));
    LZ_TRY(moved(x, first, places_of(x->s, first)->at[i], &t));
    LZ_TRY(lz_auto_try(&x->s->real, t, &had));
    if (had)
        LZ_TRY(lz_auto_consider(x->s, t));
    *better |= x->s->best != was;
    return LZ_OK;
}

/* The cheapest few, in order. */
typedef struct few {
    uint32_t n, number[WORTH];
    double cost[WORTH];
} few;

static void insert(few *w, uint32_t number, double cost)
{
    uint32_t k = w->n;
    if (k == WORTH && cost >= w->cost[--k])
        return;
    w->n = k + 1;
    for (; k && cost < w->cost[k - 1]; k--) {
        w->number[k] = w->number[k - 1];
        w->cost[k] = w->cost[k - 1];
    }
    w->number[k] = number;
    w->cost[k] = cost;
}

/* The few placements that the model likes best. */
static lz_status improve_class(improver *x, lz_val first, bool *better)
{
    const lz_auto_list *at = places_of(x->s, first);
    few worth = {0};
    double cost;
    for (uint32_t i = 0; at && i < at->n; i++) {
        if (x->s->best->param[first] == at->at[i])
            continue;
        LZ_TRY(estimate(x, first, i, &cost));
        insert(&worth, i, cost);
    }
    for (uint32_t k = 0; k < worth.n; k++)
        LZ_TRY(try_moved(x, first, worth.number[k], better));
    return LZ_OK;
}

static lz_status sweep(improver *x, bool *better)
{
    *better = false;
    for (uint32_t k = 0; k < x->n && x->s->real.left; k++) {
        LZ_TRY(picks_of_best(x));
        LZ_TRY(improve_class(x, x->classes[k].first, better));
    }
    return LZ_OK;
}

lz_status lz_auto_improve(lz_auto_search *s)
{
    lz_arena a = {0};
    if (!s->best) /* nothing could be partitioned */
        return LZ_OK;
    improver x = {.s = s, .a = &a};
    size_t n = (size_t)s->m.vars.len + 1;
    bool better = true;
    x.pick = lz_arena_alloc(&a, n * sizeof *x.pick);
    x.trial = lz_arena_alloc(&a, n * sizeof *x.trial);
    x.may = lz_arena_alloc(&a, n * sizeof *x.may);
    lz_status st = x.pick && x.trial && x.may ? find_classes(&x) : no_memory();
    if (st == LZ_OK)
        st = lz_auto_problem(s, 0, false, x.may, &a, &x.c);
    for (int k = 0; k < SWEEPS && better && s->real.left && st == LZ_OK; k++)
        st = sweep(&x, &better);
    lz_arena_free(&a);
    return st;
}
