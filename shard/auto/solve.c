/* solve.c - the cheapest choices by elimination, and a bound where that is too large. See solve.h.
 * Variables go in the order of the tables that taking them out makes, smallest first, of equal ones
 * the first; the order is kept in a heap, and what a neighbour's would be is found anew when its
 * tables are few or have become half as many, so that the work is linear in the edges but for a
 * logarithm.
 * Threads: pure functions. */
#include "shard/auto/solve.h"
#include <math.h>
#include <string.h>

enum { MOST_SCOPE = 12, FEW = 32, SWEEPS = 24, PAIR_SWEEPS = 3 };

/* Costs of a few variables' choices. */
typedef struct table {
    uint32_t nvar, var[MOST_SCOPE];
    size_t stride[MOST_SCOPE];
    const double *cost;
    bool dead;
} table;

typedef struct heap_entry {
    double weight;
    uint32_t var, stamp;
} heap_entry;

typedef struct solver {
    const lz_choices *c;
    lz_arena *a;
    uint32_t *m, **choice; /* of each variable: how many choices are allowed, and which */
    table *tables;
    uint32_t ntable, captable;
    uint32_t **of, *nof, *capof; /* of each variable: tables that have it */
    uint32_t *alive, *counted;   /* how many live ones, and at the last count */
    uint32_t *stamp, *seen, now;
    heap_entry *heap;
    uint32_t nheap, capheap;
    uint32_t *order, **bucket, *nbucket; /* in the order of elimination */
    double bound;
    bool exact;
} solver;

static lz_status no_memory(void)
{
    return LZ_FAIL(LZ_EMEM, "no memory to choose shardings");
}

/* An array that is grown in the arena. */
static bool grow(lz_arena *a, void *data, uint32_t *cap, uint32_t need, size_t elem)
{
    void **at = data, *more;
    if (need <= *cap)
        return true;
    uint32_t n = *cap < 4 ? 8 : *cap * 2;
    while (n < need)
        n *= 2;
    if (!(more = lz_arena_alloc(a, n * elem)))
        return false;
    if (*cap)
        memcpy(more, *at, *cap * elem);
    *at = more;
    *cap = n;
    return true;
}

/* ---- the heap ---- */

static bool before(const heap_entry *x, const heap_entry *y)
{
    return x->weight < y->weight || (x->weight == y->weight && x->var < y->var);
}

static bool heap_push(solver *s, heap_entry e)
{
    if (!grow(s->a, &s->heap, &s->capheap, s->nheap + 1, sizeof e))
        return false;
    uint32_t i = s->nheap++;
    for (; i && before(&e, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = e;
    return true;
}

static heap_entry heap_pop(solver *s)
{
    heap_entry top = s->heap[0], last = s->heap[--s->nheap];
    uint32_t i = 0;
    for (uint32_t k; (k = 2 * i + 1) < s->nheap; i = k) {
        if (k + 1 < s->nheap && before(&s->heap[k + 1], &s->heap[k]))
            k++;
        if (!before(&s->heap[k], &last))
            break;
        s->heap[i] = s->heap[k];
    }
    s->heap[i] = last;
    return top;
}

/* ---- tables ---- */

/* The logarithm of the choices of a variable and all its neighbours together. */
static double weight_of(solver *s, uint32_t v)
{
    double w = log2((double)s->m[v]);
    uint32_t kept = 0;
    s->seen[v] = ++s->now;
    for (uint32_t i = 0; i < s->nof[v]; i++) {
        const table *t = &s->tables[s->of[v][i]];
        if (t->dead)
            continue;
        s->of[v][kept++] = s->of[v][i];
        for (uint32_t k = 0; k < t->nvar; k++)
            if (s->seen[t->var[k]] != s->now) {
                s->seen[t->var[k]] = s->now;
                w += log2((double)s->m[t->var[k]]);
            }
    }
    s->nof[v] = s->counted[v] = kept;
    return w;
}

static bool queue(solver *s, uint32_t v)
{
    return heap_push(s, (heap_entry){weight_of(s, v), v, ++s->stamp[v]});
}

/* The table is among those of its variables. */
static bool add_table(solver *s, const table *t)
{
    if (!grow(s->a, &s->tables, &s->captable, s->ntable + 1, sizeof *t))
        return false;
    for (uint32_t k = 0; k < t->nvar; k++) {
        uint32_t v = t->var[k];
        if (!grow(s->a, &s->of[v], &s->capof[v], s->nof[v] + 1, sizeof **s->of))
            return false;
        s->of[v][s->nof[v]++] = s->ntable;
        s->alive[v]++;
    }
    s->tables[s->ntable++] = *t;
    return true;
}

static void set_strides(const solver *s, table *t)
{
    size_t n = 1;
    for (uint32_t k = t->nvar; k-- > 0;) {
        t->stride[k] = n;
        n *= s->m[t->var[k]];
    }
}

static bool add_edge(solver *s, const lz_choice_edge *e)
{
    table t = {.nvar = 2, .var = {e->a, e->b}, .cost = e->cost};
    uint32_t na = s->m[e->a], nb = s->m[e->b];
    set_strides(s, &t);
    if (na != s->c->size[e->a] || nb != s->c->size[e->b]) {
        double *d = lz_arena_alloc(s->a, (size_t)na * nb * sizeof *d);
        if (!d)
            return false;
        for (uint32_t i = 0; i < na; i++)
            for (uint32_t j = 0; j < nb; j++)
                d[(size_t)i * nb + j] =
                    e->cost[(size_t)s->choice[e->a][i] * s->c->size[e->b] + s->choice[e->b][j]];
        t.cost = d;
    }
    return add_table(s, &t);
}

static bool add_own(solver *s, uint32_t v)
{
    const bool *may = s->c->may ? s->c->may[v] : NULL;
    double *d = lz_arena_alloc(s->a, s->c->size[v] * sizeof *d);
    s->choice[v] = lz_arena_alloc(s->a, s->c->size[v] * sizeof **s->choice);
    if (!d || !s->choice[v])
        return false;
    for (uint32_t i = 0; i < s->c->size[v]; i++)
        if (!may || may[i]) {
            d[s->m[v]] = s->c->own[v][i];
            s->choice[v][s->m[v]++] = i;
        }
    table t = {.nvar = 1, .var = {v}, .stride = {1}, .cost = d};
    return add_table(s, &t);
}

static lz_status begin(solver *s)
{
    size_t n = (size_t)s->c->n + 1;
    s->m = lz_arena_alloc(s->a, n * sizeof *s->m);
    s->choice = lz_arena_alloc(s->a, n * sizeof *s->choice);
    s->of = lz_arena_alloc(s->a, n * sizeof *s->of);
    s->nof = lz_arena_alloc(s->a, n * sizeof *s->nof);
    s->capof = lz_arena_alloc(s->a, n * sizeof *s->capof);
    s->alive = lz_arena_alloc(s->a, n * sizeof *s->alive);
    s->counted = lz_arena_alloc(s->a, n * sizeof *s->counted);
    s->stamp = lz_arena_alloc(s->a, n * sizeof *s->stamp);
    s->seen = lz_arena_alloc(s->a, n * sizeof *s->seen);
    s->order = lz_arena_alloc(s->a, n * sizeof *s->order);
    s->bucket = lz_arena_alloc(s->a, n * sizeof *s->bucket);
    s->nbucket = lz_arena_alloc(s->a, n * sizeof *s->nbucket);
    if (!s->m || !s->choice || !s->of || !s->nof || !s->capof || !s->alive || !s->counted ||
        !s->stamp || !s->seen || !s->order || !s->bucket || !s->nbucket)
        return no_memory();
    for (uint32_t v = 0; v < s->c->n; v++)
        if (!add_own(s, v))
            return no_memory();
    for (uint32_t e = 0; e < s->c->nedge; e++)
        if (!add_edge(s, &s->c->edges[e]))
            return no_memory();
    for (uint32_t v = 0; v < s->c->n; v++)
        if (!queue(s, v))
            return no_memory();
    return LZ_OK;
}

/* ---- taking a variable out ---- */

/* A few tables that are minimised together over one variable. */
typedef struct part {
    uint32_t n, *table;
    table made; /* of the other variables */
    size_t size;
} part;

/* Whether table t may come to the part: then it is there. */
static bool join(const solver *s, part *p, uint32_t v, uint32_t t, bool always)
{
    const table *x = &s->tables[t];
    table u = p->made;
    size_t size = p->size;
    for (uint32_t k = 0; k < x->nvar; k++) {
        bool has = x->var[k] == v;
        for (uint32_t i = 0; i < u.nvar && !has; i++)
            has = u.var[i] == x->var[k];
        if (has)
            continue;
        if (u.nvar == MOST_SCOPE - 1 || (!always && size > LZ_CHOICES_TABLE / s->m[x->var[k]]))
            return false;
        size *= s->m[x->var[k]];
        u.var[u.nvar++] = x->var[k];
    }
    p->made = u;
    p->size = size;
    p->table[p->n++] = t;
    return true;
}

/* Steps of each table of the part: for a step of each variable that stays, and of v. */
static bool find_steps(const solver *s, const part *p, uint32_t v, size_t **steps, size_t **of_v)
{
    uint32_t nu = p->made.nvar;
    *steps = lz_arena_alloc(s->a, ((size_t)p->n * nu + 1) * sizeof **steps);
    *of_v = lz_arena_alloc(s->a, ((size_t)p->n + 1) * sizeof **of_v);
    if (!*steps || !*of_v)
        return false;
    for (uint32_t i = 0; i < p->n; i++) {
        const table *t = &s->tables[p->table[i]];
        for (uint32_t k = 0; k < t->nvar; k++) {
            if (t->var[k] == v)
                (*of_v)[i] = t->stride[k];
            for (uint32_t u = 0; u < nu; u++)
                if (p->made.var[u] == t->var[k])
                    (*steps)[(size_t)i * nu + u] = t->stride[k];
        }
    }
    return true;
}

/* The part's costs at best, for all choices of the variables that stay. */
static bool minimise(solver *s, part *p, uint32_t v)
{
    size_t *steps, *of_v, *at = lz_arena_alloc(s->a, ((size_t)p->n + 1) * sizeof *at);
    double *out = lz_arena_alloc(s->a, p->size * sizeof *out);
    uint32_t nu = p->made.nvar, x[MOST_SCOPE] = {0};
    if (!at || !out || !find_steps(s, p, v, &steps, &of_v))
        return false;
    set_strides(s, &p->made);
    for (size_t cell = 0; cell < p->size; cell++) {
        double best = INFINITY;
        for (uint32_t i = 0; i < s->m[v]; i++) {
            double sum = 0;
            for (uint32_t t = 0; t < p->n; t++)
                sum += s->tables[p->table[t]].cost[at[t] + i * of_v[t]];
            best = sum < best ? sum : best;
        }
        out[cell] = best;
        for (uint32_t u = nu; u-- > 0;) { /* the next choices */
            bool last = ++x[u] == s->m[p->made.var[u]];
            for (uint32_t t = 0; t < p->n; t++)
                at[t] = last ? at[t] - (s->m[p->made.var[u]] - 1) * steps[(size_t)t * nu + u]
                             : at[t] + steps[(size_t)t * nu + u];
            if (!last)
                break;
            x[u] = 0;
        }
    }
    p->made.cost = out;
    return true;
}

/* What the part makes of its tables is a table, or a part of the bound. */
static bool finish(solver *s, part *p, uint32_t v)
{
    if (!minimise(s, p, v))
        return false;
    if (!p->made.nvar) {
        s->bound += p->made.cost[0];
        return true;
    }
    return add_table(s, &p->made);
}

static bool requeue(solver *s, const part *parts, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < parts[i].made.nvar; k++) {
            uint32_t u = parts[i].made.var[k];
            if ((s->alive[u] <= FEW || s->alive[u] <= s->counted[u] / 2) && !queue(s, u))
                return false;
        }
    return true;
}

/* The bucket of v: all live tables that have it, which die. */
static bool take_bucket(solver *s, uint32_t v, uint32_t step)
{
    uint32_t n = 0;
    s->order[step] = v;
    s->bucket[step] = lz_arena_alloc(s->a, ((size_t)s->nof[v] + 1) * sizeof **s->bucket);
    if (!s->bucket[step])
        return false;
    for (uint32_t i = 0; i < s->nof[v]; i++) {
        table *t = &s->tables[s->of[v][i]];
        if (t->dead)
            continue;
        s->bucket[step][n++] = s->of[v][i];
        t->dead = true;
        for (uint32_t k = 0; k < t->nvar; k++)
            s->alive[t->var[k]]--;
    }
    s->nbucket[step] = n;
    return true;
}

/* One part where its table is small enough, else several: the first that has room gets a table. */
static bool eliminate(solver *s, uint32_t v, uint32_t step)
{
    if (!take_bucket(s, v, step))
        return false;
    uint32_t n = s->nbucket[step], nparts = 0;
    part *parts = lz_arena_alloc(s->a, ((size_t)n + 1) * sizeof *parts);
    if (!parts)
        return false;
    for (uint32_t want = 3; want-- > 0;) /* pairs and larger ones first */
        for (uint32_t i = 0; i < n; i++) {
            uint32_t t = s->bucket[step][i], size = s->tables[t].nvar, k = 0;
            if ((size > 3 ? 3 : size) != want + 1)
                continue;
            while (k < nparts && !join(s, &parts[k], v, t, false))
                k++;
            if (k < nparts)
                continue;
            parts[k] = (part){.size = 1};
            parts[k].table = lz_arena_alloc(s->a, n * sizeof *parts[k].table);
            if (!parts[k].table || !join(s, &parts[k], v, t, true))
                return false;
            nparts++;
        }
    s->exact &= nparts <= 1;
    for (uint32_t i = 0; i < nparts; i++)
        if (!finish(s, &parts[i], v))
            return false;
    return requeue(s, parts, nparts);
}

/* ---- from tables to choices ---- */

static void decode(const solver *s, uint32_t nstep, uint32_t *at)
{
    for (uint32_t step = nstep; step-- > 0;) {
        uint32_t v = s->order[step];
        double best = INFINITY;
        at[v] = 0;
        for (uint32_t i = 0, pick = 0; i < s->m[v]; i++) {
            double sum = 0;
            for (uint32_t b = 0; b < s->nbucket[step]; b++) {
                const table *t = &s->tables[s->bucket[step][b]];
                size_t k = 0;
                for (uint32_t d = 0; d < t->nvar; d++)
                    k += t->stride[d] * (t->var[d] == v ? i : at[t->var[d]]);
                sum += t->cost[k];
            }
            pick = sum < best ? i : pick;
            best = sum < best ? sum : best;
            at[v] = pick;
        }
    }
}

double lz_choices_cost(const lz_choices *c, const uint32_t *pick)
{
    double sum = 0;
    for (uint32_t v = 0; v < c->n; v++)
        sum += c->own[v][pick[v]];
    for (uint32_t e = 0; e < c->nedge; e++)
        sum +=
            c->edges[e]
                .cost[(size_t)pick[c->edges[e].a] * c->size[c->edges[e].b] + pick[c->edges[e].b]];
    return sum;
}

/* ---- better ones, one by one ---- */

typedef struct improver {
    const lz_choices *c;
    uint32_t *first, *edge; /* edges of each variable */
    uint32_t *pick;
    double *sum, *other; /* of one variable's choices */
} improver;

static bool index_edges(improver *x, lz_arena *a)
{
    const lz_choices *c = x->c;
    uint32_t most = 1;
    x->first = lz_arena_alloc(a, ((size_t)c->n + 2) * sizeof *x->first);
    x->edge = lz_arena_alloc(a, (2 * (size_t)c->nedge + 1) * sizeof *x->edge);
    if (!x->first || !x->edge)
        return false;
    for (uint32_t v = 0; v < c->n; v++)
        most = c->size[v] > most ? c->size[v] : most;
    for (uint32_t e = 0; e < c->nedge; e++) {
        x->first[c->edges[e].a + 1]++;
        x->first[c->edges[e].b + 1]++;
    }
    for (uint32_t v = 0; v < c->n; v++)
        x->first[v + 1] += x->first[v];
    for (uint32_t e = c->nedge; e-- > 0;) {
        x->edge[--x->first[c->edges[e].a + 1]] = e;
        x->edge[--x->first[c->edges[e].b + 1]] = e;
    }
    for (uint32_t v = 0; v <= c->n; v++) /* first[v + 1] is where v begins */
        x->first[v] = v < c->n ? x->first[v + 1] : 2 * c->nedge;
    x->sum = lz_arena_alloc(a, most * sizeof *x->sum);
    x->other = lz_arena_alloc(a, most * sizeof *x->other);
    return x->sum && x->other;
}

static bool allowed(const lz_choices *c, uint32_t v, uint32_t i)
{
    return !c->may || !c->may[v] || c->may[v][i];
}

/* What each choice of v costs with what the others have, without edge `but`. */
static void sums(const improver *x, uint32_t v, uint32_t but, double *out)
{
    const lz_choices *c = x->c;
    for (uint32_t i = 0; i < c->size[v]; i++)
        out[i] = allowed(c, v, i) ? c->own[v][i] : INFINITY;
    for (uint32_t k = x->first[v]; k < x->first[v + 1]; k++) {
        const lz_choice_edge *e = &c->edges[x->edge[k]];
        if (x->edge[k] == but)
            continue;
        size_t row = e->a == v ? c->size[e->b] : 1;
        const double *cost =
            e->a == v ? e->cost + x->pick[e->b] : e->cost + (size_t)x->pick[e->a] * c->size[e->b];
        for (uint32_t i = 0; i < c->size[v]; i++)
            out[i] += cost[i * row];
    }
}

static bool less(double a, double b)
{
    return a < b - 1e-9 * (fabs(a) + fabs(b));
}

static bool improve_one(improver *x, uint32_t v)
{
    uint32_t best = x->pick[v];
    sums(x, v, UINT32_MAX, x->sum);
    for (uint32_t i = 0; i < x->c->size[v]; i++)
        if (less(x->sum[i], x->sum[best]))
            best = i;
    bool changed = best != x->pick[v];
    x->pick[v] = best;
    return changed;
}

/* Both ends of an edge at once. */
static bool improve_pair(improver *x, uint32_t edge)
{
    const lz_choice_edge *e = &x->c->edges[edge];
    uint32_t nb = x->c->size[e->b], a = x->pick[e->a], b = x->pick[e->b];
    sums(x, e->a, edge, x->sum);
    sums(x, e->b, edge, x->other);
    /* other edges between the two see the present choice: what is found is checked by its cost */
    double best = x->sum[a] + x->other[b] + e->cost[(size_t)a * nb + b], was = best;
    for (uint32_t i = 0; i < x->c->size[e->a]; i++)
        for (uint32_t k = 0; k < nb; k++) {
            double sum = x->sum[i] + x->other[k] + e->cost[(size_t)i * nb + k];
            if (less(sum, best)) {
                best = sum;
                a = i;
                b = k;
            }
        }
    x->pick[e->a] = a;
    x->pick[e->b] = b;
    return best < was;
}

static void improve_each(improver *x)
{
    bool changed = true;
    for (int sweep = 0; sweep < SWEEPS && changed; sweep++) {
        changed = false;
        for (uint32_t v = 0; v < x->c->n; v++)
            changed |= improve_one(x, v);
    }
}

static void improve(improver *x)
{
    bool changed = true;
    for (int round = 0; round < PAIR_SWEEPS && changed; round++) {
        improve_each(x);
        changed = false;
        for (uint32_t e = 0; e < x->c->nedge; e++)
            changed |= improve_pair(x, e);
    }
    improve_each(x);
}

lz_status lz_choices_improve(const lz_choices *c, uint32_t *pick, lz_arena *a)
{
    improver x = {.c = c, .pick = pick};
    if (!index_edges(&x, a))
        return no_memory();
    improve_each(&x);
    return LZ_OK;
}

/* The best of what elimination gave and of the starts, each improved. */
static lz_status choose(const lz_choices *c, const uint32_t *const *starts, uint32_t nstart,
                        lz_arena *a, lz_choices_found *out)
{
    size_t nbytes = ((size_t)c->n + 1) * sizeof *out->pick;
    improver x = {.c = c, .pick = lz_arena_copy(a, out->pick, nbytes)};
    if (!x.pick || !index_edges(&x, a))
        return no_memory();
    for (uint32_t i = 0; i <= nstart && !out->exact; i++) {
        if (i)
            memcpy(x.pick, starts[i - 1], c->n * sizeof *x.pick);
        improve(&x);
        double cost = lz_choices_cost(c, x.pick);
        if (!less(cost, out->cost))
            continue;
        out->cost = cost;
        memcpy(out->pick, x.pick, c->n * sizeof *x.pick);
    }
    return LZ_OK;
}

static lz_status eliminate_all(solver *s, uint32_t *pick)
{
    uint32_t step = 0;
    bool *gone = lz_arena_alloc(s->a, (size_t)s->c->n + 1);
    if (!gone)
        return no_memory();
    LZ_TRY(begin(s));
    while (s->nheap) {
        heap_entry e = heap_pop(s);
        if (gone[e.var] || e.stamp != s->stamp[e.var])
            continue;
        gone[e.var] = true;
        if (!eliminate(s, e.var, step++))
            return no_memory();
    }
    decode(s, step, pick);
    for (uint32_t v = 0; v < s->c->n; v++)
        pick[v] = s->choice[v][pick[v]];
    return LZ_OK;
}

lz_status lz_choices_solve(const lz_choices *c, const uint32_t *const *starts, uint32_t nstart,
                           lz_arena *a, lz_choices_found *out)
{
    lz_arena own = {0};
    solver s = {.c = c, .a = &own, .exact = true};
    *out = (lz_choices_found){.pick = lz_arena_alloc(a, ((size_t)c->n + 1) * sizeof *out->pick)};
    lz_status st = out->pick ? eliminate_all(&s, out->pick) : no_memory();
    if (st == LZ_OK) {
        out->cost = lz_choices_cost(c, out->pick);
        out->bound = s.bound;
        out->exact = s.exact;
        st = choose(c, starts, nstart, &own, out);
    }
    lz_arena_free(&own);
    return st;
}
