/* space.c - where the axes of a mesh may go: to dimensions of a value, or to factors of an
 * operation, and what each way costs the operation itself. See model.h. All follows from sharding
 * rules (shard/rules.h); no operation is named.
 * A way puts each axis on one factor or on none; several axes on one factor are major to minor in
 * the order of the mesh. Where factors are sums, the parts are joined at once: on all devices, or
 * scattered along a dimension of the result, each a way of its own.
 * Threads: thread-compatible. */
#include "shard/auto/model.h"
#include "shard/reshard.h"
#include <string.h>

static lz_status no_memory(void)
{
    return LZ_FAIL(LZ_EMEM, "no memory to search for shardings");
}

/* ---- what is placed ---- */

void lz_auto_find_units(const lz_mesh *mesh, lz_auto_units *out)
{
    int32_t axis = -1;
    *out = (lz_auto_units){0};
    for (int k = 0; k < mesh->nfactor; k++) {
        if ((out->n == 0 || mesh->factors[k].axis != axis) && out->n < LZ_AUTO_UNITS)
            out->size[out->n++] = 1;
        axis = mesh->factors[k].axis;
        lz_axis_list_push(&out->axes[out->n - 1], k);
        out->mask[out->n - 1] |= UINT32_C(1) << k;
        out->size[out->n - 1] *= mesh->factors[k].size;
    }
}

/* For each unit a slot from 1, or 0. */
typedef struct assignment {
    int n;
    uint32_t slot[LZ_AUTO_UNITS];
} assignment;

static bool next(assignment *a, uint32_t nslot)
{
    for (int u = a->n; u-- > 0;) {
        if (++a->slot[u] <= nslot)
            return true;
        a->slot[u] = 0;
    }
    return false;
}

/* How many slots there may be for all assignments to be choices. */
static uint32_t most_slots(int nunit)
{
    uint32_t n = 1;
    for (bool room = true; room && n < LZ_AUTO_MOST; n += room) {
        uint32_t all = 1;
        for (int u = 0; u < nunit; u++)
            all *= n + 2;
        room = all <= LZ_AUTO_MOST / 2;
    }
    return n;
}

/* Tiles waste no more than an eighth of the last ones. */
static bool fits(int64_t extent, int64_t tiles)
{
    return extent >= tiles && lz_tile_extent(extent, tiles) * tiles - extent <= extent / 8;
}

/* ---- lists ---- */

const lz_auto_list *lz_auto_list_get(lz_auto_model *m, const lz_sharding *const *at, uint32_t n)
{
    lz_hash h = lz_hash_seeded(at, n * sizeof *at, n);
    lz_auto_list *l = lz_map_get(&m->lists, h);
    if (l)
        return l;
    l = lz_arena_alloc(m->arena, sizeof *l + n * sizeof *at);
    if (!l || lz_map_put(&m->lists, h, l) != LZ_OK)
        return NULL;
    l->n = n;
    memcpy(l->at, at, n * sizeof *at);
    return l;
}

/* ---- values ---- */

static bool is_new(const lz_sharding *const *at, uint32_t n, const lz_sharding *s)
{
    for (uint32_t i = 0; i < n; i++)
        if (at[i] == s)
            return false;
    return true;
}

/* The assignment to dimensions, behind what they have; NULL and *ok: it does not fit. */
static const lz_sharding *place_units(lz_auto_model *m, const lz_type *t, const lz_sharding *base,
                                      const assignment *a, const int *dims, bool *ok)
{
    lz_sharding s = *base;
    *ok = true;
    for (int u = 0; u < a->n; u++) {
        if (!a->slot[u])
            continue;
        lz_axis_list *d = &s.dims[dims[a->slot[u] - 1]];
        if ((lz_sharding_used(&s) | s.manual | base->replicated) & m->units.mask[u])
            return NULL;
        for (int i = 0; i < m->units.axes[u].n; i++)
            lz_axis_list_push(d, m->units.axes[u].at[i]);
        if (!fits(t->shape.dims[dims[a->slot[u] - 1]], lz_axis_list_size(m->mesh, d)))
            return NULL;
    }
    const lz_sharding *p = lz_sharding_placement(&s);
    *ok = p != NULL;
    return p;
}

lz_status lz_auto_placements(lz_auto_model *m, const lz_type *t, const lz_sharding *base,
                             uint32_t manual, const lz_auto_list **out)
{
    const lz_sharding *at[LZ_AUTO_MOST];
    lz_sharding start;
    assignment a = {.n = m->units.n};
    int dims[LZ_MAX_RANK];
    uint32_t n = 0, nslot = 0;
    bool ok;
    if (base)
        start = *base;
    else
        lz_sharding_init(&start, m->mesh, t->shape.rank, true);
    start.manual = manual;
    for (int d = 0; d < t->shape.rank && nslot < most_slots(a.n); d++)
        if (start.open >> d & 1 && t->shape.dims[d] > 1)
            dims[nslot++] = d;
    do {
        const lz_sharding *s = place_units(m, t, &start, &a, dims, &ok);
        if (!s && !ok)
            return no_memory();
        if (s && is_new(at, n, s))
            at[n++] = s;
    } while (n < LZ_AUTO_MOST && next(&a, nslot));
    *out = lz_auto_list_get(m, at, n);
    return *out ? LZ_OK : no_memory();
}

double lz_auto_move(lz_auto_model *m, const lz_type *t, const lz_sharding *from,
                    const lz_sharding *to)
{
    const void *key[3] = {t, from, to};
    lz_reshard r;
    double seconds = 0;
    if (from == to)
        return 0;
    lz_hash h = lz_hash_bytes(key, sizeof key);
    double *known = lz_map_get(&m->moves, h);
    if (known)
        return *known;
    lz_reshard_plan(t, from, to, &r);
    for (int i = 0; i < r.n; i++)
        if (r.step[i].kind != LZ_RESHARD_SLICE && r.step[i].kind != LZ_RESHARD_UNREDUCE)
            seconds += m->machine.latency + lz_reshard_step_bytes(t, &r.step[i]) / m->machine.bytes;
    known = lz_arena_copy(m->arena, &seconds, sizeof seconds);
    if (known)
        (void)lz_map_put(&m->moves, h, known); /* else it is found anew */
    return seconds;
}

/* ---- operations ---- */

/* Ways while they are found. */
typedef struct ways {
    lz_auto_model *m;
    lz_part_op o;
    lz_partial partial;
    double work;
    bool product; /* more than one operation for an element */
    uint32_t n, cap;
    const lz_sharding **at; /* [tensor][cap] */
    double *seconds, *light;
} ways;

static lz_status begin(ways *w, lz_auto_model *m, const lz_sig *sig, const lz_rule *r,
                       uint32_t manual, uint32_t cap)
{
    uint32_t nt = r->nopnd + r->nresult;
    *w = (ways){.m = m, .work = lz_auto_work(sig), .cap = cap};
    w->partial = (lz_partial){.f = m->f,
                              .l = {.mesh = m->mesh},
                              .manual = manual,
                              .arena = &m->scratch,
                              .scratch = &m->scratch};
    w->o = (lz_part_op){.p = &w->partial, .v = LZ_NOVAL, .sig = sig, .r = r};
    w->o.axes = lz_arena_alloc(&m->scratch, ((size_t)r->nfactor + 1) * sizeof *w->o.axes);
    w->o.at = lz_arena_alloc(&m->scratch, ((size_t)nt + 1) * sizeof *w->o.at);
    w->at = lz_arena_alloc(&m->scratch, (size_t)nt * cap * sizeof *w->at);
    w->seconds = lz_arena_alloc(&m->scratch, cap * sizeof *w->seconds);
    w->light = lz_arena_alloc(&m->scratch, cap * sizeof *w->light);
    if (!w->o.axes || !w->o.at || !w->at || !w->seconds || !w->light)
        return no_memory();
    w->product = lz_auto_is_product(sig);
    return LZ_OK;
}

/* The part of the work that one device does. */
static double share(const ways *w)
{
    double n = 1;
    for (uint32_t f = 0; f < w->o.r->nfactor; f++) {
        int64_t tiles = lz_axis_list_size(w->m->mesh, &w->o.axes[f]), size;
        size = w->o.r->factors[f].size;
        if (tiles > 1 && size > 0)
            n *= (double)lz_tile_extent(size, tiles) / (double)size;
    }
    return n;
}

/* One more way, with the results at w->o.at: what it computes, and what else it takes. */
static void keep(ways *w, double work, double seconds)
{
    uint32_t nt = w->o.r->nopnd + w->o.r->nresult;
    if (w->n == w->cap)
        return;
    for (uint32_t t = 0; t < nt; t++)
        w->at[(size_t)t * w->cap + w->n] = w->o.at[t];
    w->light[w->n] = seconds + (w->product ? work : 0);
    w->seconds[w->n++] = seconds + work;
}

/* The sums of the result joined, along dimension d of the result or on all devices (-1). */
static lz_status join_sums(ways *w, const lz_sharding *parts, int d, double work, double seconds)
{
    const lz_type *t = w->o.sig->result[0];
    lz_sharding s = *parts;
    s.unreduced = 0;
    s.reduction = LZ_OP_NONE;
    if (d >= 0) {
        for (int k = 0; k < w->m->mesh->nfactor; k++)
            if (parts->unreduced >> k & 1)
                lz_axis_list_push(&s.dims[d], k);
        if (!fits(t->shape.dims[d], lz_axis_list_size(w->m->mesh, &s.dims[d])))
            return LZ_OK;
    }
    const lz_sharding *to = lz_sharding_get(&s);
    if (!to)
        return lz_error_get()->status;
    w->o.at[w->o.r->nopnd] = to;
    keep(w, work, seconds + lz_auto_move(w->m, t, parts, to));
    return LZ_OK;
}

/* The placements of all tensors for the axes that factors have, as ways. all: sums in every way,
 * else on all devices. */
static lz_status add_ways(ways *w, bool all)
{
    lz_part_op *o = &w->o;
    uint32_t sums = lz_part_sums(o, o->axes), nopnd = o->r->nopnd;
    if (sums && o->r->nresult != 1)
        return LZ_OK;
    for (uint32_t t = 0; t < nopnd + o->r->nresult; t++)
        if (!(o->at[t] = lz_part_place(o, o->axes, t, t < nopnd ? 0 : sums)))
            return lz_error_get()->status;
    double halo = lz_part_halo_cost(o, o->axes);
    if (halo >= 1e300)
        halo = 1e30;
    double work = w->work * share(w) / w->m->machine.flops, seconds = halo / w->m->machine.bytes;
    if (!sums) {
        keep(w, work, seconds);
        return LZ_OK;
    }
    const lz_sharding *parts = o->at[nopnd];
    LZ_TRY(join_sums(w, parts, -1, work, seconds));
    for (int d = 0; d < parts->rank && all; d++)
        LZ_TRY(join_sums(w, parts, d, work, seconds));
    return LZ_OK;
}

static lz_status take(ways *w, const lz_auto_space **out)
{
    uint32_t nopnd = w->o.r->nopnd, nresult = w->o.r->nresult;
    lz_auto_space *s = lz_arena_alloc(w->m->arena, sizeof *s);
    if (!s)
        return no_memory();
    s->n = w->n;
    s->want = lz_arena_alloc(w->m->arena, ((size_t)nopnd + 1) * sizeof *s->want);
    s->give = lz_arena_alloc(w->m->arena, ((size_t)nresult + 1) * sizeof *s->give);
    s->seconds = lz_arena_copy(w->m->arena, w->seconds, w->n * sizeof *s->seconds);
    s->light = lz_arena_copy(w->m->arena, w->light, w->n * sizeof *s->light);
    if (!s->want || !s->give || !s->seconds || !s->light)
        return no_memory();
    for (uint32_t t = 0; t < nopnd + nresult; t++) {
        const lz_auto_list *l = lz_auto_list_get(w->m, w->at + (size_t)t * w->cap, w->n);
        if (!l)
            return no_memory();
        *(t < nopnd ? &s->want[t] : &s->give[t - nopnd]) = l;
    }
    *out = s;
    return LZ_OK;
}

/* Factors that axes may go to: the largest ones, where there are too many. */
static uint32_t find_slots(const ways *w, uint32_t *slots, uint32_t most)
{
    uint32_t n = 0;
    for (uint32_t f = 0; f < w->o.r->nfactor; f++) {
        uint32_t at = n;
        if (!w->o.may[f] || w->o.r->factors[f].size < 2)
            continue;
        if (n == most) {
            for (at = 0; at < n; at++)
                if (w->o.r->factors[slots[at]].size < w->o.r->factors[f].size)
                    break;
            if (at == n)
                continue;
        } else {
            n++;
        }
        slots[at] = f;
    }
    return n;
}

/* The axes of an assignment, where they fit their factors. */
static bool assign(ways *w, const assignment *a, const uint32_t *slots, uint32_t manual)
{
    memset(w->o.axes, 0, ((size_t)w->o.r->nfactor + 1) * sizeof *w->o.axes);
    for (int u = 0; u < a->n; u++) {
        if (!a->slot[u])
            continue;
        uint32_t f = slots[a->slot[u] - 1];
        if (manual & w->m->units.mask[u])
            return false;
        for (int i = 0; i < w->m->units.axes[u].n; i++)
            lz_axis_list_push(&w->o.axes[f], w->m->units.axes[u].at[i]);
        if (!fits(w->o.r->factors[f].size, lz_axis_list_size(w->m->mesh, &w->o.axes[f])))
            return false;
    }
    return !lz_part_clear_broken(&w->o, w->o.axes);
}

static lz_status find_ways(ways *w, uint32_t manual)
{
    enum { MOST = 64 };
    uint32_t slots[MOST], most = most_slots(w->m->units.n);
    assignment a = {.n = w->m->units.n};
    LZ_TRY(lz_part_find_factors(&w->o));
    uint32_t nslot = find_slots(w, slots, most < MOST ? most : MOST);
    do {
        if (assign(w, &a, slots, manual))
            LZ_TRY(add_ways(w, true));
    } while (next(&a, nslot));
    return LZ_OK;
}

static lz_status follow(ways *w, uint32_t k, const lz_auto_list *at)
{
    LZ_TRY(lz_part_find_factors(&w->o));
    for (uint32_t i = 0; i < at->n; i++) {
        memset(w->o.axes, 0, ((size_t)w->o.r->nfactor + 1) * sizeof *w->o.axes);
        lz_part_project(&w->o, w->o.axes, k, at->at[i]);
        (void)lz_part_clear_broken(&w->o, w->o.axes);
        if (lz_part_sums(&w->o, w->o.axes) && w->o.r->nresult != 1)
            memset(w->o.axes, 0, ((size_t)w->o.r->nfactor + 1) * sizeof *w->o.axes);
        LZ_TRY(add_ways(w, false));
    }
    return LZ_OK;
}

/* The same operation is found once. at NULL: of its own choice. */
static lz_status space(lz_auto_model *m, const lz_sig *sig, const lz_rule *r, uint32_t k,
                       const lz_auto_list *at, uint32_t manual, const lz_auto_space **out)
{
    const uintptr_t key[5] = {(uintptr_t)sig, (uintptr_t)r, k, (uintptr_t)at, manual};
    lz_hash h = lz_hash_bytes(key, sizeof key);
    ways w;
    *out = lz_map_get(&m->spaces, h);
    if (*out)
        return LZ_OK;
    lz_status s = begin(&w, m, sig, r, manual, at ? at->n : LZ_AUTO_MOST);
    if (s == LZ_OK)
        s = at ? follow(&w, k, at) : find_ways(&w, manual);
    if (s == LZ_OK)
        s = take(&w, out);
    lz_arena_reset(&m->scratch);
    if (s == LZ_OK && lz_map_put(&m->spaces, h, (void *)(uintptr_t)*out) != LZ_OK)
        s = no_memory();
    return s;
}

lz_status lz_auto_ways(lz_auto_model *m, const lz_sig *sig, const lz_rule *r, uint32_t manual,
                       const lz_auto_space **out)
{
    return space(m, sig, r, 0, NULL, manual, out);
}

lz_status lz_auto_following(lz_auto_model *m, const lz_sig *sig, const lz_rule *r, uint32_t k,
                            const lz_auto_list *at, uint32_t manual, const lz_auto_space **out)
{
    return space(m, sig, r, k, at, manual, out);
}

/* ---- which operand is followed ---- */

static bool has(const lz_rule_tensor *t, uint32_t factor)
{
    for (int d = 0; d < t->rank; d++)
        for (int k = 0; k < t->dims[d].n; k++)
            if (t->dims[d].at[k] == factor)
                return true;
    return false;
}

/* Whether operand k has all dimensions of the results that operands have, and others have none of
 * their own but what is made whole. */
static bool covers(const lz_rule *r, uint32_t k)
{
    for (uint32_t f = 0; f < r->nfactor; f++) {
        bool mine = has(&r->tensors[k], f), given = false, taken = false;
        for (uint32_t t = 0; t < r->nopnd; t++)
            taken |= has(&r->tensors[t], f);
        for (uint32_t t = r->nopnd; t < r->nopnd + r->nresult; t++)
            given |= has(&r->tensors[t], f);
        bool alone = given && !taken; /* new in the result */
        bool whole = !given && r->factors[f].kind == LZ_FACTOR_GATHER;
        if (!mine && !whole && (!alone || (!r->expands && !r->elementwise)))
            return false;
    }
    return true;
}

int lz_auto_leader(const lz_rule *r, const double *cover)
{
    int best = -1;
    for (uint32_t k = 0; k < r->nopnd; k++)
        if (cover[k] > 0 && r->tensors[k].rank && (best < 0 || cover[k] > cover[best]) &&
            covers(r, k))
            best = (int)k;
    return best;
}
