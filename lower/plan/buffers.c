/* buffers.c - buffer assignment by liveness.
 * Does:     computes live ranges; puts buffers that alias into one class (a value written over one
 *   that dies there, an in-place update whose copy is dropped, a result in a donated argument);
 *   places the classes that are neither results nor arguments in one arena, largest first, each at
 *   the lowest free offset.
 * Needs:    fusion, schedule, and kernels, which say what may be written in place.
 * Cost:     O(classes^2) at worst.   Invariant: see buffers.h.   Threads: pure. */
#include "lower/plan/buffers.h"
#include "lower/plan/schedule.h"
#include <stdlib.h>
#include <string.h>

typedef struct live {
    uint32_t def, last; /* steps; def LZ_NONE: never written */
    uint32_t updated;   /* first step that changes it in place, LZ_NONE none */
    int64_t wrote;      /* last step that writes it, -1 none */
} live;

typedef struct plan {
    const lz_fusion *fu;
    const uint32_t *step;
    const lz_lowered *low;
    uint32_t nstep, nbuf;
    const bool *donate;
    bool pairwise;
    lz_bufmap *out;
    live *live;
    uint32_t *parent;   /* union-find over buffers */
    uint32_t *result;   /* by class: result of the function, or LZ_NONE */
    uint32_t *argument; /* by class: donated argument, or LZ_NONE */
    int64_t *lo, *hi;   /* by class: steps from its first value to the end of its last */
    int64_t *wrote;     /* by class: last step that writes it, -1 none */
} plan;

static uint32_t find(plan *p, uint32_t b)
{
    while (p->parent[b] != b)
        b = p->parent[b] = p->parent[p->parent[b]];
    return b;
}

static size_t nbytes(const plan *p, uint32_t buf)
{
    return lz_fusion_buf_type(p->fu, buf)->nbytes;
}

static bool is_param(const plan *p, uint32_t buf)
{
    return buf < p->fu->f->nparam;
}

static bool is_const(const plan *p, uint32_t buf)
{
    return buf < p->fu->f->ninst && p->fu->f->insts[buf].lit;
}

/* ---- live ranges ---- */

static void find_live(plan *p)
{
    for (uint32_t b = 0; b < p->nbuf; b++)
        p->live[b] = (live){LZ_NONE, LZ_NONE, LZ_NONE, -1};
    for (uint32_t s = 0; s < p->nstep; s++) {
        const lz_lowered *l = &p->low[s];
        for (uint32_t i = 0; i < l->nbuf; i++) {
            live *v = &p->live[l->buf[i]];
            bool written = lz_lowered_writes(l, i);
            if (written && v->def == LZ_NONE)
                v->def = s;
            else if (written && v->updated == LZ_NONE)
                v->updated = s;
            v->wrote = written ? (int64_t)s : v->wrote;
            v->last = s;
        }
    }
}

/* ---- classes ---- */

static void start_classes(plan *p)
{
    const lz_func *f = p->fu->f;
    for (uint32_t b = 0; b < p->nbuf; b++) {
        p->parent[b] = b;
        p->result[b] = LZ_NONE;
        p->argument[b] = is_param(p, b) ? b : LZ_NONE;
        p->lo[b] =
            is_param(p, b) ? -1 : (int64_t)(p->live[b].def == LZ_NONE ? p->nstep : p->live[b].def);
        p->hi[b] = p->live[b].last == LZ_NONE ? -1 : (int64_t)p->live[b].last;
        p->wrote[b] = p->live[b].wrote;
    }
    for (uint32_t k = 0; k < f->nresult; k++) {
        p->result[p->fu->result_buf[k]] = k;
        p->hi[p->fu->result_buf[k]] = (int64_t)p->nstep + 1;
    }
}

static void join(plan *p, uint32_t to, uint32_t from)
{
    uint32_t a = find(p, to), b = find(p, from);
    p->parent[b] = a;
    p->argument[a] = p->argument[b] != LZ_NONE ? p->argument[b] : p->argument[a];
    p->lo[a] = p->lo[b] < p->lo[a] ? p->lo[b] : p->lo[a];
    p->hi[a] = p->hi[b] > p->hi[a] ? p->hi[b] : p->hi[a];
    p->wrote[a] = p->wrote[b] > p->wrote[a] ? p->wrote[b] : p->wrote[a];
}

/* Whether `from` can hand its memory to `to`, which lives after it. The caller has looked at the
 * steps. */
static bool can_join(plan *p, uint32_t from, uint32_t to)
{
    uint32_t a = find(p, from), b = find(p, to);
    if (a == b || nbytes(p, from) != nbytes(p, to) || nbytes(p, from) == 0 || is_const(p, from) ||
        is_param(p, to))
        return false;
    if (p->result[a] != LZ_NONE) /* a result lives on */
        return false;
    if (p->argument[a] == LZ_NONE)
        return true;
    /* only one result may take an argument's memory, and only a given one's */
    return p->donate && p->donate[p->argument[a]] && p->result[b] != LZ_NONE &&
           p->argument[b] == LZ_NONE && (!p->pairwise || p->result[b] == p->argument[a]);
}

/* The one node of a step that only copies memory, whole; NULL otherwise. *src is what it copies. */
static const lz_fusion_node *plain_copy(const plan *p, uint32_t s, lz_val *src)
{
    const lz_group *g = p->fu->groups[p->step[s]];
    const lz_fusion_node *n = p->fu->nodes[g->nodes.data[0]];
    if (g->nodes.len != 1 || n->store != LZ_STORE_COPY)
        return NULL;
    *src = lz_fusion_memory(p->fu, n->v);
    return *src == LZ_NOVAL || is_const(p, *src) ? NULL : n;
}

/* Whether step s, which changes buffer `to` in place, may read the memory of class `from` there. */
static bool reads_in_place(plan *p, uint32_t s, uint32_t to, uint32_t from)
{
    const lz_lowered *l = &p->low[s];
    int32_t with = -1;
    for (uint32_t w = 0; w < l->nbuf; w++)
        if (l->buf[w] == to && lz_lowered_writes(l, w))
            with = lz_lowered_inplace(l, w);
    for (uint32_t i = 0; i < l->nbuf; i++)
        if (find(p, l->buf[i]) == from && (int32_t)i != with)
            return false;
    return with >= 0;
}

/* Whether the source of the copy n in step s, of class `from`, is not needed any more once the copy
 * changes. */
static bool dies_before_change(plan *p, const lz_fusion_node *n, uint32_t s, uint32_t from)
{
    uint32_t changes = p->live[n->dst].updated;
    if (p->hi[from] <= s)
        return true;
    if (changes == LZ_NONE || p->wrote[from] > s)
        return false;
    return p->hi[from] < changes ||
           (p->hi[from] == changes && reads_in_place(p, changes, n->dst, from));
}

/* A copy is left out when its source is not needed any more once the copy changes, and does not
 * change before: what is in the source's memory by now may be another copy of it, which changes
 * sooner. */
static void drop_copies(plan *p)
{
    for (uint32_t s = p->nstep; s-- > 0;) {
        lz_val src;
        const lz_fusion_node *n = plain_copy(p, s, &src);
        if (!n)
            continue;
        uint32_t from = find(p, src), to = find(p, n->dst);
        if (!dies_before_change(p, n, s, from) || p->lo[to] < s || !can_join(p, src, n->dst))
            continue;
        join(p, n->dst, src);
        p->out->skip[s] = true;
    }
}

/* Whether memory `from`, which step s reads, is nobody's any more when it is over. What goes on
 * beside other steps is over later: of these none needs it. */
static bool is_last_reader(plan *p, uint32_t s, uint32_t from)
{
    uint32_t until = p->low[s].until;
    if (p->hi[from] <= s || !until)
        return p->hi[from] <= s;
    for (uint32_t t = s + 1; t < until; t++)
        for (uint32_t i = 0; i < p->low[t].nbuf; i++)
            if (find(p, p->low[t].buf[i]) == from)
                return false;
    return p->hi[from] <= until;
}

static void take_places(plan *p)
{
    for (uint32_t s = p->nstep; s-- > 0;) {
        const lz_lowered *l = &p->low[s];
        for (uint32_t w = 0; w < l->nbuf; w++) {
            int32_t with = lz_lowered_inplace(l, w);
            uint32_t to = l->buf[w];
            if (with < 0 || p->live[to].def != s || p->out->skip[s])
                continue;
            uint32_t from = l->buf[with];
            if (is_last_reader(p, s, find(p, from)) && p->lo[find(p, to)] >= s &&
                can_join(p, from, to))
                join(p, to, from);
        }
    }
}

/* Results that are born after the last read of a donated argument of their type may as well live in
 * it. */
static void reuse_arguments(plan *p)
{
    const lz_func *f = p->fu->f;
    for (uint32_t k = 0; k < f->nresult && p->donate; k++) {
        uint32_t buf = p->fu->result_buf[k];
        for (uint32_t i = 0; i < f->nparam && p->argument[find(p, buf)] == LZ_NONE; i++)
            if (p->donate[i] && find(p, i) == i && p->hi[i] < p->lo[find(p, buf)] &&
                lz_val_type(f, i) == lz_fusion_buf_type(p->fu, buf) && can_join(p, i, buf))
                join(p, buf, i);
    }
}

/* ---- the arena ---- */

typedef struct range {
    uint64_t size;
    uint32_t def, id;
} range;

static int larger_first(const void *x, const void *y)
{
    const range *a = x, *b = y;
    if (a->size != b->size)
        return a->size < b->size ? 1 : -1;
    return a->def != b->def ? (a->def < b->def ? -1 : 1) : (a->id < b->id ? -1 : a->id > b->id);
}

/* placed: ids of the ranges laid out so far, by rising offset. */
static uint64_t lowest_fit(const uint32_t *placed, uint32_t nplaced, uint64_t size, uint32_t def,
                           uint32_t last, const uint64_t *sizes, const uint32_t *defs,
                           const uint32_t *lasts, const uint64_t *offset)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < nplaced; i++) {
        uint32_t j = placed[i];
        if (defs[j] > last || lasts[j] < def)
            continue;
        if (offset[j] >= at + size)
            break;
        uint64_t end = offset[j] + LZ_ALIGN_UP(sizes[j], 64);
        at = end > at ? end : at;
    }
    return at;
}

lz_status lz_arena_layout(uint32_t n, const uint64_t *sizes, const uint32_t *def,
                          const uint32_t *last, uint64_t *offset, uint64_t *total)
{
    range *r = lz_calloc((size_t)n + 1, sizeof *r);
    uint32_t *placed = lz_calloc((size_t)n + 1, sizeof *placed);
    *total = 0;
    if (!r || !placed) {
        lz_free(r);
        lz_free(placed);
        return LZ_FAIL(LZ_EMEM, "out of memory");
    }
    for (uint32_t i = 0; i < n; i++)
        r[i] = (range){LZ_ALIGN_UP(sizes[i], 64), def[i], i};
    qsort(r, n, sizeof *r, larger_first);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = r[i].id, j = i;
        offset[id] = lowest_fit(placed, i, r[i].size, def[id], last[id], sizes, def, last, offset);
        for (; j > 0 && offset[placed[j - 1]] > offset[id]; j--)
            placed[j] = placed[j - 1];
        placed[j] = id;
        if (offset[id] + r[i].size > *total)
            *total = offset[id] + r[i].size;
    }
    lz_free(r);
    lz_free(placed);
    return LZ_OK;
}

static lz_status place_temps(plan *p)
{
    uint32_t n = 0;
    uint64_t *size = lz_calloc((size_t)p->nbuf + 1, 2 * sizeof *size),
             *offset = size ? size + p->nbuf : NULL;
    uint32_t *def = lz_calloc((size_t)p->nbuf + 1, 3 * sizeof *def),
             *last = def ? def + p->nbuf : NULL, *id = def ? last + p->nbuf : NULL;
    lz_status s = size && def ? LZ_OK : LZ_FAIL(LZ_EMEM, "out of memory");
    for (uint32_t b = 0; b < p->nbuf && s == LZ_OK; b++)
        id[b] = LZ_NONE;
    for (uint32_t b = 0; b < p->nbuf && s == LZ_OK; b++) {
        uint32_t c = find(p, b);
        if (p->live[b].def == LZ_NONE || p->result[c] != LZ_NONE || is_param(p, b) ||
            is_const(p, b))
            continue;
        if (id[c] == LZ_NONE) {
            id[c] = n;
            size[n] = nbytes(p, c);
            def[n] = p->live[b].def;
            last[n++] = p->live[b].last;
        }
        uint32_t i = id[c];
        def[i] = p->live[b].def < def[i] ? p->live[b].def : def[i];
        last[i] = p->live[b].last > last[i] ? p->live[b].last : last[i];
    }
    if (s == LZ_OK)
        s = lz_arena_layout(n, size, def, last, offset, &p->out->temp_bytes);
    for (uint32_t b = 0; b < p->nbuf && s == LZ_OK; b++) {
        uint32_t c = find(p, b);
        if (p->result[c] != LZ_NONE)
            p->out->ref[b] = (lz_bufref){LZ_BUFREF_OUTPUT, p->result[c], 0, nbytes(p, b)};
        else if (id[c] != LZ_NONE)
            p->out->ref[b] = (lz_bufref){LZ_BUFREF_TEMP, 0, offset[id[c]], nbytes(p, b)};
    }
    lz_free(size);
    lz_free(def);
    return s;
}

/* ---- arguments and constants ---- */

/* Equal constants that some kernel reads share their place. */
static lz_status lay_out_consts(plan *p, lz_map *seen, uint64_t *total)
{
    const lz_func *f = p->fu->f;
    for (uint32_t i = f->nparam; i < f->ninst; i++) {
        const lz_literal *l = f->insts[i].lit;
        if (!l || p->live[i].last == LZ_NONE)
            continue;
        lz_hash h = lz_hash_seeded(l->data, l->nbytes, l->type->hash.lo);
        uintptr_t j = (uintptr_t)lz_map_get(seen, h); /* index + 1 */
        if (j && lz_literal_eq(f->insts[j - 1].lit, l)) {
            p->out->ref[i] = p->out->ref[j - 1];
            continue;
        }
        if (!j)
            LZ_TRY(lz_map_put(seen, h, (void *)((uintptr_t)i + 1)));
        *total = LZ_ALIGN_UP(*total, l->nbytes >= 64 ? 64 : 8);
        p->out->ref[i] = (lz_bufref){LZ_BUFREF_CONST, 0, *total, l->nbytes};
        *total += l->nbytes;
    }
    return LZ_OK;
}

static lz_status place_consts(plan *p, lz_arena *arena)
{
    const lz_func *f = p->fu->f;
    uint64_t total = 0;
    lz_map seen = {0};
    lz_status s = lay_out_consts(p, &seen, &total);
    lz_map_free(&seen);
    LZ_TRY(s);
    char *block = lz_arena_alloc(arena, total + 64);
    if (!block)
        return LZ_FAIL(LZ_EMEM, "out of memory");
    block = (char *)LZ_ALIGN_UP((uintptr_t)block, 64);
    for (uint32_t i = f->nparam; i < f->ninst; i++)
        if (f->insts[i].lit && p->live[i].last != LZ_NONE)
            memcpy(block + p->out->ref[i].offset, f->insts[i].lit->data, f->insts[i].lit->nbytes);
    p->out->consts = block;
    p->out->const_bytes = total;
    return LZ_OK;
}

static lz_status place(plan *p, lz_arena *arena)
{
    const lz_func *f = p->fu->f;
    find_live(p);
    start_classes(p);
    drop_copies(p);
    take_places(p);
    reuse_arguments(p);
    for (uint32_t k = 0; k < f->nresult; k++) {
        uint32_t a = p->argument[find(p, p->fu->result_buf[k])];
        p->out->out_alias[k] = a == LZ_NONE ? -1 : (int32_t)a;
    }
    LZ_TRY(place_temps(p));
    for (uint32_t i = 0; i < f->nparam; i++)
        p->out->ref[i] = (lz_bufref){LZ_BUFREF_INPUT, i, 0, nbytes(p, i)};
    return place_consts(p, arena);
}

lz_status lz_plan_buffers(const lz_fusion *fu, const uint32_t *step, const lz_lowered *low,
                          uint32_t nstep, const bool *donate, bool pairwise, lz_arena *arena,
                          lz_bufmap *out)
{
    memset(out, 0, sizeof *out);
    plan p = {.fu = fu,
              .step = step,
              .low = low,
              .nstep = nstep,
              .nbuf = lz_fusion_nbuf(fu),
              .donate = donate,
              .pairwise = pairwise,
              .out = out};
    size_t n = (size_t)p.nbuf + 1;
    out->ref = lz_arena_alloc(arena, n * sizeof *out->ref);
    out->skip = lz_arena_alloc(arena, (nstep + 1) * sizeof *out->skip);
    out->out_alias = lz_arena_alloc(arena, (fu->f->nresult + 1) * sizeof *out->out_alias);
    p.live = lz_calloc(n, sizeof *p.live);
    p.parent = lz_calloc(n, 3 * sizeof *p.parent);
    p.lo = lz_calloc(n, 3 * sizeof *p.lo);
    lz_status s;
    if (out->ref && out->skip && out->out_alias && p.live && p.parent && p.lo) {
        p.result = p.parent + n;
        p.argument = p.result + n;
        p.hi = p.lo + n;
        p.wrote = p.hi + n;
        s = place(&p, arena);
    } else {
        s = LZ_FAIL(LZ_EMEM, "out of memory");
    }
    lz_free(p.live);
    lz_free(p.parent);
    lz_free(p.lo);
    return s;
}
