/* search.c - from a function to a plan: the model, its best choices, known layouts, and the best
 * of all that were partitioned. See auto.h.
 * Threads: pure functions. */
#include "shard/auto/search.h"
#include <math.h>
#include <string.h>

enum {
    INSTRUCTIONS = 200000, /* that are partitioned in all, about */
    MOST_TRIALS = 96,
    LEAST_TRIALS = 8,
    PRICES = 14,
    HALVES = 6
};

/* Parts of a plan's time, bytes and work that make no difference (docs/spmd.md). */
static const double NEAR = 1.02, ABOVE = 1.05, ALIKE = 1.5;

static lz_status no_memory(void)
{
    return LZ_FAIL(LZ_EMEM, "no memory to search for shardings");
}

/* ---- candidates ---- */

lz_status lz_auto_consider(lz_auto_search *s, lz_auto_trial *t)
{
    if (!s->best || lz_auto_better(t, s->best))
        s->best = t;
    return lz_vec_push(&s->tried, t) == LZ_OK ? LZ_OK : no_memory();
}

static uint32_t node_of(const lz_auto_search *s, lz_val v)
{
    return lz_prop_find(&s->m.prop, s->m.prop.frames.data[0].node[v]);
}

bool lz_auto_is_marked(const lz_auto_search *s, lz_val param)
{
    uint32_t n = node_of(s, param);
    return n == LZ_PROP_NONE || s->m.prop.nodes.data[n].s;
}

/* A value of one result that begins a variable, and has no mark. */
static bool is_choice(const lz_auto_search *s, lz_val v)
{
    const lz_inst *in = &s->m.f->insts[v];
    uint32_t n = node_of(s, v);
    if (n == LZ_PROP_NONE || in->sig->nresult != 1 || s->m.prop.nodes.data[n].s ||
        s->m.nodes[n].var == LZ_AUTO_NONE || !lz_val_type(s->m.f, v)->shape.rank)
        return false;
    const lz_auto_var *var = &s->m.vars.data[s->m.nodes[n].var];
    return var->node == n && !var->param && s->m.prop.nodes.data[n].val == v;
}

lz_status lz_auto_trial_of(lz_auto_search *s, const char *origin, const uint32_t *pick, bool values,
                           lz_auto_trial **out)
{
    const lz_func *f = s->m.f;
    LZ_TRY(lz_auto_trial_new(&s->real, origin, out));
    for (lz_val v = 0; v < f->nparam; v++)
        if (!lz_auto_is_marked(s, v) && lz_val_type(f, v)->shape.rank)
            (*out)->param[v] =
                s->m.nodes[node_of(s, v)].at->at[pick[s->m.nodes[node_of(s, v)].var]];
    for (lz_val v = f->nparam; v < f->ninst && values; v++)
        if (is_choice(s, v))
            (*out)->value[v] =
                s->m.nodes[node_of(s, v)].at->at[pick[s->m.nodes[node_of(s, v)].var]];
    for (uint32_t k = 0; k < f->nresult; k++)
        if (s->m.state_of[k] != LZ_NOVAL)
            (*out)->result[k] = (*out)->param[s->m.state_of[k]];
    return LZ_OK;
}

/* ---- the model's choices ---- */

lz_status lz_auto_problem(lz_auto_search *s, double price, bool light, const bool *const *may,
                          lz_arena *a, lz_choices *out)
{
    uint32_t n = s->m.vars.len;
    uint32_t *size = lz_arena_alloc(a, ((size_t)n + 1) * sizeof *size);
    const double **own = lz_arena_alloc(a, ((size_t)n + 1) * sizeof *own);
    if (!size || !own)
        return no_memory();
    for (uint32_t v = 0; v < n; v++) {
        const lz_auto_var *x = &s->m.vars.data[v];
        double *d = lz_arena_alloc(a, ((size_t)x->n + 1) * sizeof *d);
        if (!d)
            return no_memory();
        for (uint32_t i = 0; i < x->n; i++)
            d[i] = (light ? x->light : x->own)[i] + price * x->memory[i];
        size[v] = x->n;
        own[v] = d;
    }
    *out = (lz_choices){.n = n,
                        .nedge = s->m.edges.len,
                        .size = size,
                        .own = own,
                        .edges = s->m.edges.data,
                        .may = may};
    return LZ_OK;
}

static double memory_of(const lz_auto_search *s, const uint32_t *pick)
{
    double n = 0;
    for (uint32_t v = 0; v < s->m.vars.len; v++)
        n += s->m.vars.data[v].memory[pick[v]];
    return n;
}

/* The best choices at a price of memory; *cost: of the model, without that. */
static lz_status solve_at(lz_auto_search *s, double price, bool light, lz_choices_found *out)
{
    lz_arena a = {0};
    lz_choices c;
    lz_status st = lz_auto_problem(s, price, light, NULL, &a, &c);
    if (st == LZ_OK)
        st = lz_choices_solve(&c, NULL, 0, s->m.arena, out);
    lz_arena_free(&a);
    return st;
}

/* Lagrange: the lowest price of memory at which the parameters fit, by halves of its logarithm. */
static lz_status solve_within(lz_auto_search *s, double memory, lz_choices_found *out)
{
    double low = 1e-16, high = low;
    lz_choices_found f;
    bool any = false;
    for (int i = 0; i < PRICES && !any; i++) {
        low = high;
        high *= 16;
        LZ_TRY(solve_at(s, high, false, &f));
        any = memory_of(s, f.pick) <= memory;
        out->pick = f.pick;
    }
    for (int i = 0; i < HALVES && any; i++) {
        double mid = sqrt(low * high);
        LZ_TRY(solve_at(s, mid, false, &f));
        if (memory_of(s, f.pick) <= memory) {
            out->pick = f.pick;
            high = mid;
        } else {
            low = mid;
        }
    }
    return LZ_OK;
}

/* Each class of parameters at one placement: the one that the model chose most often, of as many
 * the first. */
static lz_status alike(lz_auto_search *s, const uint32_t *pick, lz_arena *a, uint32_t *out)
{
    const lz_func *f = s->m.f;
    lz_map of = {0}; /* a class and a choice: how often */
    lz_map best = {0};
    lz_status st = LZ_OK;
    memcpy(out, pick, s->m.vars.len * sizeof *out);
    for (lz_val v = 0; v < f->nparam && st == LZ_OK; v++) {
        uint32_t n = node_of(s, v);
        if (n == LZ_PROP_NONE)
            continue;
        uint32_t i = pick[s->m.nodes[n].var];
        lz_hash c = s->class_of[v];
        const uint64_t key[3] = {c.lo, c.hi, i};
        lz_hash h = lz_hash_bytes(key, sizeof key);
        uint32_t *count = lz_map_get(&of, h), *most = lz_map_get(&best, c);
        if (!count) {
            count = lz_arena_alloc(a, 2 * sizeof *count);
            if (!count || lz_map_put(&of, h, count) != LZ_OK)
                st = no_memory();
        }
        if (st != LZ_OK)
            break;
        count[0]++;
        count[1] = i;
        if ((!most || count[0] > most[0]) && lz_map_put(&best, c, count) != LZ_OK)
            st = no_memory();
    }
    for (lz_val v = 0; v < f->nparam && st == LZ_OK; v++) {
        uint32_t n = node_of(s, v);
        const uint32_t *most = lz_map_get(&best, s->class_of[v]);
        if (n != LZ_PROP_NONE && most && most[1] < s->m.vars.data[s->m.nodes[n].var].n)
            out[s->m.nodes[n].var] = most[1];
    }
    lz_map_free(&of);
    lz_map_free(&best);
    return st;
}

/* States of a weight where it is. */
static void tie(const lz_auto_search *s, uint32_t *pick)
{
    for (lz_val v = 0; v < s->m.f->nparam; v++) {
        uint32_t n = node_of(s, v), first = node_of(s, s->group[v]);
        if (n != LZ_PROP_NONE && first != LZ_PROP_NONE && s->m.nodes[n].at == s->m.nodes[first].at)
            pick[s->m.nodes[n].var] = pick[s->m.nodes[first].var];
    }
}

/* Parameters and results, then values, too. margin: so much better it has to be, as a part. */
static lz_status try_both(lz_auto_search *s, const char *origin, const uint32_t *pick,
                          double margin, lz_auto_trial **best)
{
    for (int values = 0; values < 2; values++) {
        lz_auto_trial *t;
        bool had;
        LZ_TRY(lz_auto_trial_of(s, origin, pick, values, &t));
        t->apart = margin > 0;
        LZ_TRY(lz_auto_try(&s->real, t, &had));
        bool worth = !s->best || !s->best->fits || margin == 0 ||
                     t->cost.seconds < (1 - margin) * s->best->cost.seconds;
        if (!had || !worth)
            continue;
        LZ_TRY(lz_auto_consider(s, t));
        if (best && (!*best || lz_auto_better(t, *best)))
            *best = t;
    }
    return LZ_OK;
}

lz_status lz_auto_try_picks(lz_auto_search *s, const char *origin, const uint32_t *pick,
                            lz_auto_trial **best)
{
    uint32_t *same = lz_arena_alloc(s->m.arena, ((size_t)s->m.vars.len + 1) * sizeof *same);
    if (!same)
        return no_memory();
    if (best)
        *best = NULL;
    LZ_TRY(alike(s, pick, s->m.arena, same));
    LZ_TRY(try_both(s, origin, same, 0, best));
    tie(s, same);
    return try_both(s, origin, same, 0, best);
}

static lz_status try_model(lz_auto_search *s, uint64_t memory)
{
    lz_choices_found f, light;
    lz_auto_plan *p = s->plan;
    LZ_TRY(solve_at(s, 0, false, &f));
    p->variables = s->m.vars.len;
    p->edges = s->m.edges.len;
    p->model_seconds = f.cost;
    p->bound_seconds = f.exact ? f.cost : f.bound;
    p->exact = f.exact;
    s->pick = f.pick;
    if (memory && memory_of(s, f.pick) > (double)memory) {
        LZ_TRY(solve_within(s, (double)memory, &f));
        s->pick = f.pick;
    }
    LZ_TRY(lz_auto_try_picks(s, "model", s->pick, NULL));
    LZ_TRY(try_both(s, "model, layers apart", s->pick, .01, NULL));
    LZ_TRY(solve_at(s, 0, true, &light));
    return lz_auto_try_picks(s, "model of products", light.pick, NULL);
}

/* ---- the plan ---- */

/* Whether the plan a comes before b, of those that are near enough: it sends less. */
static bool sends_less(const lz_auto_trial *a, const lz_auto_trial *b)
{
    return a->cost.bytes < b->cost.bytes ||
           (a->cost.bytes == b->cost.bytes && lz_auto_better(a, b));
}

/* The most bytes that a plan may send: a little more than the best known layout that divides the
 * work about as well. */
static double most_bytes(const lz_auto_search *s)
{
    double most = INFINITY;
    for (uint32_t i = 0; i < s->plan->nknown; i++) {
        const lz_auto_known *k = &s->plan->known[i];
        if (k->fits && k->cost.work <= ALIKE * s->best->cost.work)
            most = fmin(most, ABOVE * k->cost.bytes);
    }
    return most;
}

static bool may_be(const lz_auto_search *s, const lz_auto_trial *t, double most)
{
    return t->fits && t->cost.bytes <= most && (!t->apart || s->best->apart);
}

/* Times are a model's: of plans that take about as long, the one that sends least. */
static void choose(lz_auto_search *s)
{
    double most = most_bytes(s);
    lz_auto_trial *best = NULL, *least = NULL;
    for (uint32_t i = 0; i < s->tried.len; i++) {
        lz_auto_trial *t = s->tried.data[i];
        if (may_be(s, t, most) && (!best || lz_auto_better(t, best)))
            best = t;
    }
    for (uint32_t i = 0; i < s->tried.len && best; i++) {
        lz_auto_trial *t = s->tried.data[i];
        if (may_be(s, t, most) && t->cost.seconds <= NEAR * best->cost.seconds &&
            (!least || sends_less(t, least)))
            least = t;
    }
    s->best = least ? least : s->best;
}

/* Every parameter where it takes the least memory. */
static lz_status try_smallest(lz_auto_search *s)
{
    uint32_t *pick = lz_arena_copy(s->m.arena, s->pick, (s->m.vars.len + 1) * sizeof *pick);
    if (!pick)
        return no_memory();
    for (uint32_t v = 0; v < s->m.vars.len; v++)
        for (uint32_t i = 0; i < s->m.vars.data[v].n; i++)
            if (s->m.vars.data[v].memory[i] < s->m.vars.data[v].memory[pick[v]])
                pick[v] = i;
    s->real.left += 2;
    return try_both(s, "least memory", pick, 0, NULL);
}

/* No marks but the function's: where that fails, too, its error is what there is to say. */
static lz_status try_nothing(lz_auto_search *s)
{
    lz_auto_trial *t;
    bool had;
    s->real.left++;
    LZ_TRY(lz_auto_trial_new(&s->real, "no marks", &t));
    LZ_TRY(lz_auto_try(&s->real, t, &had));
    if (had)
        return lz_auto_consider(s, t);
    lz_partitioned p;
    lz_status st = lz_partition_step(s->m.f, s->m.mesh, s->real.is_state, &p);
    if (st == LZ_OK)
        lz_partitioned_free(&p);
    return st == LZ_OK ? LZ_FAIL(LZ_EINTERNAL, "no candidate was partitioned") : st;
}

static lz_status search(lz_auto_search *s, const lz_auto_options *o)
{
    LZ_TRY(lz_auto_model_build(&s->m, o->is_state));
    LZ_TRY(lz_auto_find_classes(s));
    LZ_TRY(try_model(s, o->memory));
    LZ_TRY(lz_auto_try_known(s));
    LZ_TRY(lz_auto_improve(s));
    if (!s->best || !s->best->fits)
        LZ_TRY(try_smallest(s));
    if (!s->best)
        LZ_TRY(try_nothing(s));
    if (!s->best->fits)
        return LZ_FAIL(LZ_ERANGE,
                       "no plan has the parameters of a device in %llu bytes: the least is %llu",
                       (unsigned long long)o->memory, (unsigned long long)s->best->cost.memory);
    choose(s);
    return LZ_OK;
}

static uint32_t trials_of(const lz_func *f, const lz_mesh *mesh)
{
    double size = (double)f->ninst * (1 + (double)mesh->ndevice / 256) + 1;
    double n = INSTRUCTIONS / size;
    return n > MOST_TRIALS ? MOST_TRIALS : n < LEAST_TRIALS ? LEAST_TRIALS : (uint32_t)n;
}

static lz_status finish(lz_auto_search *s, lz_auto_plan *out)
{
    out->origin = s->best->origin;
    out->cost = s->best->cost;
    out->whole_work = lz_auto_work_of(s->m.f);
    out->partitions = s->real.done;
    LZ_TRY(lz_auto_trial_marks(&s->real, s->best, &out->arena, &out->marks, &out->nmark));
    return lz_auto_places(&s->real, out->marks, out->nmark, &out->arena, &out->in, &out->out);
}

lz_status lz_auto_shard(const lz_func *f, const lz_mesh *mesh, const lz_auto_options *o,
                        lz_auto_plan *out)
{
    const lz_auto_options none = {0};
    lz_arena arena = {0};
    o = o ? o : &none;
    *out = (lz_auto_plan){0};
    lz_auto_machine machine = o->machine ? *o->machine : LZ_AUTO_MACHINE;
    lz_auto_search s = {.plan = out};
    s.m = (lz_auto_model){.f = f, .mesh = mesh, .machine = machine, .arena = &arena};
    s.real = (lz_auto_real){.f = f,
                            .mesh = mesh,
                            .machine = machine,
                            .memory = o->memory,
                            .is_state = o->is_state,
                            .left = o->partitions ? o->partitions : trials_of(f, mesh),
                            .arena = &arena};
    lz_status st = search(&s, o);
    if (st == LZ_OK)
        st = finish(&s, out);
    lz_auto_model_free(&s.m);
    lz_vec_free(&s.tried);
    lz_map_free(&s.real.known);
    lz_arena_free(&arena);
    if (st != LZ_OK)
        lz_auto_plan_free(out);
    return st;
}

void lz_auto_plan_free(lz_auto_plan *p)
{
    lz_arena_free(&p->arena);
    *p = (lz_auto_plan){0};
}
