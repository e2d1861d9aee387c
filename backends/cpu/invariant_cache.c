/* invariant_cache.c - see invariant_cache.h. */
#include "backends/cpu/invariant_cache.h"
#include "backends/cpu/cpu_exec.h"
#include "backends/cpu/cpu_mem.h"
#include "base/config.h"
#include "base/log.h"
#include <inttypes.h>
#include <string.h>

enum {
    STABLE_AFTER = 2, /* executions in a row with the same content */
    SEARCHES = 4,     /* searches per program, at most */
    WORTH_NS = 20000, /* least time saved, */
    WORTH_SHARE = 64, /* and least part of an execution saved */
};

/* Values of LAZULI_CONSTANT_CACHE. */
enum { NEVER, WORTH, ALWAYS };

struct lz_invariant_cache {
    atomic_bool busy; /* from begin to end, with custom calls in between: no lock */
    const lz_plan_exec *g;
    uint64_t ns;
    bool always;
    int device;       /* content of the first execution */
    int searches;     /* left */
    uint64_t *seen;   /* by argument: its content in the last execution */
    uint64_t *inside; /* by argument: its content when the cache was filled */
    uint8_t *since;   /* by argument: executions in a row with this content, at most STABLE_AFTER */
    bool *stable;     /* by argument: the cached results depend on it, or may */
    bool *fickle;     /* by argument: was stable once, then changed */
    uint32_t good, bad;               /* executions that hit, and that had to recompute */
    lz_plan_exec_kept now;            /* without `what`: nothing is cached */
    size_t capacity;                  /* of its memory */
    lz_invariant_cache *next, **link; /* in the list of caches with memory; under `list` */
};

static lz_mutex list = LZ_MUTEX_INIT("invariant_cache list");
static lz_invariant_cache *holders;
static _Atomic uint64_t skipped, cached_bytes, ids;

/* ---- making ---- */

lz_status lz_invariant_cache_new(const lz_plan_exec *g, lz_invariant_cache **out)
{
    int64_t how = lz_cfg_int(LZ_OPT_CONSTANT_CACHE);
    const lz_plan *p = g->parts->plan;
    uint32_t nin = p->nin;
    uint64_t ns = 0;
    for (uint32_t i = 0; i < p->nstep; i++)
        ns += lz_cpu_about_ns(p->steps[i].flops, p->steps[i].bytes);
    if (how == NEVER || nin == 0 || (how == WORTH && ns < WORTH_NS))
        return LZ_OK;
    size_t each = 2 * sizeof(uint64_t) + sizeof(uint8_t) + 2 * sizeof(bool);
    lz_invariant_cache *k = lz_calloc(1, sizeof *k + nin * each);
    if (!k)
        return LZ_FAIL(LZ_EMEM, "no memory for a program of %u arguments", nin);
    k->g = g;
    k->ns = ns;
    k->always = how == ALWAYS;
    k->device = -1;
    k->searches = SEARCHES;
    k->seen = (uint64_t *)(void *)(k + 1);
    k->inside = k->seen + nin;
    k->since = (uint8_t *)(k->inside + nin);
    k->stable = (bool *)(k->since + nin);
    k->fickle = k->stable + nin;
    *out = k;
    return LZ_OK;
}

/* False: somebody else uses it. */
static bool take(lz_invariant_cache *k)
{
    return !atomic_exchange_explicit(&k->busy, true, memory_order_acquire);
}

static void give(lz_invariant_cache *k)
{
    atomic_store_explicit(&k->busy, false, memory_order_release);
}

/* ---- cached memory; all by whoever has taken it ---- */

static void hold(lz_invariant_cache *k)
{
    lz_mutex_lock(&list);
    k->next = holders;
    k->link = &holders;
    if (holders)
        holders->link = &k->next;
    holders = k;
    lz_mutex_unlock(&list);
    atomic_fetch_add(&cached_bytes, k->capacity);
}

/* under `list` */
static void unlink_holder(lz_invariant_cache *k)
{
    *k->link = k->next;
    if (k->next)
        k->next->link = k->link;
    k->link = NULL;
}

static void free_memory(lz_invariant_cache *k)
{
    atomic_fetch_sub(&cached_bytes, k->capacity);
    lz_mem_free(k->device, k->now.memory, k->capacity);
    lz_invariants_free(k->now.what);
    k->now = (lz_plan_exec_kept){0};
}

static void give_up(lz_invariant_cache *k)
{
    if (!k->now.what)
        return;
    lz_mutex_lock(&list);
    unlink_holder(k);
    lz_mutex_unlock(&list);
    free_memory(k);
}

void lz_invariant_cache_free(lz_invariant_cache *k)
{
    if (!k)
        return;
    lz_mutex_lock(&list); /* the one that may have taken it frees its memory under `list` */
    bool had = k->now.what != NULL;
    if (had)
        unlink_holder(k);
    lz_mutex_unlock(&list);
    if (had)
        free_memory(k);
    lz_free(k);
}

/* A running program keeps its cache. */
bool lz_invariant_cache_shortage(int device)
{
    bool any = false;
    lz_mutex_lock(&list);
    for (lz_invariant_cache *k = holders, *next; k; k = next) {
        next = k->next;
        if (k->device != device || !take(k))
            continue;
        unlink_holder(k);
        free_memory(k);
        k->searches = 0;
        any = true;
        give(k);
    }
    lz_mutex_unlock(&list);
    return any;
}

/* ---- deciding ---- */

/* Whether skipping these launches saves enough time, for at most as much memory as the stable
 * arguments take. */
static bool is_worth(const lz_invariant_cache *k, const lz_invariants *w)
{
    const lz_plan *p = k->g->parts->plan;
    uint64_t ns = lz_cpu_about_ns(w->flops, w->bytes), room = 0;
    for (uint32_t i = 0; i < p->nin; i++)
        room += k->stable[i] ? p->in_type[i]->nbytes : 0;
    return k->always || (ns >= WORTH_NS && ns >= k->ns / WORTH_SHARE && w->nbytes <= room);
}

static void start(lz_invariant_cache *k)
{
    lz_invariants *w = NULL;
    k->searches--;
    if (lz_invariants_find(k->g, k->stable, &w) == LZ_OK && w && is_worth(k, w) &&
        lz_mem_alloc(k->device, w->nbytes, &k->now.memory, &k->capacity) == LZ_OK) {
        k->now.what = w;
        k->now.id = atomic_fetch_add(&ids, 1) + 1;
        k->good = k->bad = 0;
        hold(k);
        lz_logf(LZ_LOG_INFO, "keep",
                "%u of %u launches are left out while arguments stay the same; %" PRIu64
                " bytes are kept",
                w->nskip, k->g->parts->nlaunch, w->nbytes);
        return;
    }
    lz_invariants_free(w);
}

/* A failure is no error: the program runs without the cache. */
static void start_caching(lz_invariant_cache *k)
{
    LZ_QUIETLY {
        start(k);
    }
}

/* Whether there are stable arguments that the last search did not have. When all arguments are
 * stable, the caller repeats one computation, perhaps to measure it, and the weights cannot be told
 * from the rest. */
static bool find_stable(lz_invariant_cache *k)
{
    bool any = false, others = false, all = true;
    for (uint32_t i = 0; i < k->g->parts->plan->nin; i++)
        all &= k->since[i] == STABLE_AFTER;
    if (all && !k->always)
        return false;
    for (uint32_t i = 0; i < k->g->parts->plan->nin; i++) {
        bool is = k->since[i] == STABLE_AFTER && !k->fickle[i];
        others |= is != k->stable[i];
        any |= is;
        k->stable[i] = is;
    }
    return any && others;
}

static void note_contents(lz_invariant_cache *k, const lz_job *j)
{
    for (uint32_t i = 0; i < k->g->parts->plan->nin; i++) {
        uint64_t c = lz_device_buffer_content(j->in[i]);
        bool same = c && c == k->seen[i];
        k->since[i] = same ? k->since[i] + (k->since[i] < STABLE_AFTER) : 0;
        k->seen[i] = c;
    }
}

/* Notes the arguments that the cached results were computed from. */
static bool still_right(const lz_invariant_cache *k)
{
    for (uint32_t i = 0; i < k->g->parts->plan->nin; i++)
        if (k->stable[i] && (k->seen[i] == 0 || k->seen[i] != k->inside[i]))
            return false;
    return true;
}

/* Arguments that change too often are not relied on again. */
static void note_change(lz_invariant_cache *k)
{
    if (++k->bad <= k->good / 4 + 1)
        return;
    for (uint32_t i = 0; i < k->g->parts->plan->nin; i++)
        k->fickle[i] |= k->stable[i] && k->seen[i] != k->inside[i];
    give_up(k);
}

static void look_at(lz_invariant_cache *k, const lz_job *j)
{
    note_contents(k, j);
    if (k->now.filled && !still_right(k)) {
        k->now.filled = false;
        note_change(k);
    }
    if (!k->now.what && k->searches > 0 && find_stable(k))
        start_caching(k);
}

/* ---- an execution ---- */

void lz_invariant_cache_begin(lz_invariant_cache *k, lz_job *j)
{
    if (!k || !take(k))
        return;
    if (k->device < 0)
        k->device = j->d->index;
    if (k->device == j->d->index && (k->now.what || k->searches > 0))
        look_at(k, j);
    if (k->device == j->d->index && k->now.what)
        j->cached = &k->now;
    else
        give(k);
}

void lz_invariant_cache_end(lz_invariant_cache *k, lz_job *j, bool ok)
{
    if (!j->cached)
        return;
    j->cached = NULL;
    if (k->now.filled) {
        k->good++;
        atomic_fetch_add_explicit(&skipped, k->now.what->nskip, memory_order_relaxed);
    } else if (ok) {
        memcpy(k->inside, k->seen, k->g->parts->plan->nin * sizeof *k->seen);
        k->now.filled = true;
    }
    give(k);
}

void lz_invariant_cache_get_stats(lz_invariant_cache_stats *out)
{
    *out = (lz_invariant_cache_stats){atomic_load(&skipped), atomic_load(&cached_bytes)};
}
