/* program.c - see program.h; and the public calls about the caches. */
#include "runtime/exec/program.h"
#include "backends/common/program_store.h"
#include "base/config.h"
#include "base/log.h"
#include "base/host_time.h"
#include "base/timeline/timeline.h"
#include "cache/lru.h"
#include "ir/sharding/mesh.h"
#include "runtime/debug/metrics.h"
#include <lazuli/cache.h>
#include <lazuli/device.h>
#include <stdio.h>
#include <string.h>

static lz_mutex lock = LZ_MUTEX_INIT("program"); /* lru, disk, chosen_*, kernel counts, making */
static lz_lru *lru;
static lz_cache *disk;
static bool disk_open;
static char *chosen_path;
static bool chosen_readonly;
static uint64_t llvm_compiles, kernel_hits, kernel_misses, memory_misses, disk_hits;

/* Programs being compiled: threads that need one of them wait for it. The entries are on the stacks
 *   of those that compile. */
typedef struct making {
    const lz_capture *c; /* its key and hash */
    struct making *next;
} making;
static making *all_making;
static lz_cond made = LZ_COND_INIT; /* one of them is done */

/* ---- the disk ---- */

static lz_cache *disk_get_locked(void)
{
    if (disk_open || (!chosen_path && !lz_cfg_bool(LZ_OPT_CACHE)))
        return disk;
    disk_open = true;
    LZ_QUIETLY {
        bool read_only =
            chosen_path ? chosen_readonly : lz_cfg_bool(LZ_OPT_PERSISTENT_CACHE_READ_ONLY);
        if (lz_program_store_open(chosen_path, read_only, &disk) != LZ_OK)
            LZ_WARN_ONCE("cache", "the persistent cache is off: %s", lz_error_get()->message);
    }
    return disk;
}

static lz_cache *disk_get(void)
{
    lz_mutex_lock(&lock);
    lz_cache *c = disk_get_locked();
    lz_mutex_unlock(&lock);
    return c;
}

lz_cache *lz_program_cache(void)
{
    return disk_get();
}

/* ---- programs ---- */

static void program_free(lz_program *p)
{
    if (!p)
        return;
    if (p->exec)
        p->be->exec_free(p->exec);
    lz_free(p->key);
    lz_free(p->made_for);
    lz_free(p->placement);
    lz_free(p->root_result);
    lz_free(p->shared);
    lz_free(p->notes);
    lz_free(p);
}

void lz_program_release(lz_program *p)
{
    while (p && atomic_fetch_sub(&p->refs, 1) == 1) {
        lz_program *next = p->next;
        program_free(p);
        p = next;
    }
}

static void destroy(void *value, void *user)
{
    (void)user;
    lz_program_release(value);
}

enum { NOTES_MAX = 1 << 16 };

static lz_program *program_new(const lz_capture *c, const char *name)
{
    lz_program *p = lz_calloc(1, sizeof *p);
    if (!p)
        goto fail;
    atomic_init(&p->refs, 1);
    p->be = c->dev->be;
    p->nroot = c->roots.len;
    p->nkey = c->key.len;
    p->capture_hash = c->hash;
    p->nparam = c->leaves.len;
    p->nnode = c->nodes.len;
    p->nnote = c->nodes.len < NOTES_MAX ? c->nodes.len : NOTES_MAX;
    p->name = name;
    p->key = lz_alloc(c->key.len * sizeof *p->key);
    p->root_result = lz_calloc(p->nroot + 1, sizeof *p->root_result);
    p->shared = lz_calloc(p->nroot + 1, sizeof *p->shared);
    p->notes = lz_alloc(p->nnote * sizeof *p->notes);
    if (!p->key || !p->root_result || !p->shared || !p->notes)
        goto fail;
    memcpy(p->key, c->key.data, c->key.len * sizeof *p->key);
    for (uint32_t i = 0; i < p->nnote; i++)
        p->notes[i] = (lz_graph_note){c->nodes.data[i]->sig, c->nodes.data[i]->site,
                                      c->notes.data[i].leaf != UINT32_MAX};
    return p;
fail:
    program_free(p);
    LZ_FAIL(LZ_EMEM, "no memory for a program of %u nodes", c->nodes.len);
    return NULL;
}

/* How many replicas run the function, and meet in its collectives; 0: one device alone. */
static uint32_t replicas_of(const lz_capture *c, const lz_func *f)
{
    int n = 1, first;
    if (!c->dev->be->meets || (!lz_func_has_collective(f) && !lz_func_has_replica_id(f)))
        return 0;
    LZ_QUIETLY { /* who has recorded a collective has asked before */
        if (lz_dev_world(c->dev, &n, &first) != LZ_OK)
            n = 1;
    }
    return n > 1 ? (uint32_t)n : 0;
}

/* The key in every process. */
static lz_status canonical(const lz_capture *c, const lz_func *f, lz_buf *out)
{
    lz_buf device = {0};
    uint32_t replicas = replicas_of(c, f), team = replicas ? replicas | lz_key_overlap() : 0;
    if (!c->search)
        return lz_program_key(&c->dev->key, c->donate.data, f, team, out);
    lz_buf_put(&device, c->dev->key.data, c->dev->key.len);
    lz_buf_puts(&device, " searched on ");
    lz_mesh_print(&device, c->search);
    lz_status s = device.failed ? LZ_FAIL(LZ_EMEM, "no memory for the key of a program")
                                : lz_program_key(&device, c->donate.data, f, team, out);
    lz_buf_free(&device);
    return s;
}

lz_status lz_program_hash(const lz_capture *c, lz_hash *out)
{
    lz_func *f;
    lz_buf key = {0};
    uint32_t *map = lz_calloc(c->roots.len + 1, sizeof *map);
    lz_status s = map ? lz_capture_func(c, "main", &f, map)
                      : LZ_FAIL(LZ_EMEM, "no memory for %u roots", c->roots.len);
    if (s == LZ_OK) {
        s = canonical(c, f, &key);
        *out = lz_hash_bytes(key.data, key.len);
        lz_func_free(f);
    }
    lz_buf_free(&key);
    lz_free(map);
    return s;
}

static void mark_shared(lz_program *p, const lz_func *f)
{
    for (uint32_t r = 0; r < p->nroot; r++) {
        p->shared[r] = f->results[p->root_result[r]] < f->nparam;
        for (uint32_t q = 0; q < r && r < 4096; q++)
            if (p->root_result[q] == p->root_result[r])
                p->shared[q] = p->shared[r] = true;
    }
}

static void note(const char *what, const char *category, const lz_program *p, int64_t t0,
                 int64_t ns)
{
    char hash[33];
    lz_timeline_note(t0, ns, .name = what, .category = category, .key = {"nodes", "parameters"},
                     .value = {p->nnode, p->nparam}, .text_key = "graph",
                     .text = lz_hash_text(p->hash, hash));
}

static bool load(lz_program *p, const lz_capture *c, const lz_buf *key, const lz_compile_options *o,
                 lz_lease *lease, lz_program_watch *w)
{
    int64_t t0 = lz_now_ns();
    lz_program_found found = lz_program_load(p->be, c->dev->ordinal, key, o, lease, &p->exec);
    if (o->cache && lz_cache_enabled(o->cache))
        w->disk = found == LZ_PROGRAM_LOADED     ? "hit"
                  : found == LZ_PROGRAM_UNUSABLE ? "unusable"
                                                 : "miss";
    w->disk_ns = lz_now_ns() - t0;
    if (found == LZ_PROGRAM_UNUSABLE) {
        lz_counter_add(LZ_COUNTER_PersistentCacheDeserializeFailure, 1);
        lz_logf(LZ_LOG_INFO, "cache",
                "a stored program could not be loaded (%s): it is compiled again",
                lz_error_get()->message);
    }
    if (found == LZ_PROGRAM_MISSING && o->cache) {
        if (lz_cache_enabled(o->cache))
            lz_counter_add(LZ_COUNTER_PersistentCacheMiss, 1);
        lz_timeline_note(t0, lz_now_ns() - t0, .name = "program is not on disk",
                         .category = "cache");
    }
    if (found != LZ_PROGRAM_LOADED)
        return false;
    int64_t ns = lz_now_ns() - t0;
    lz_counter_add(LZ_COUNTER_PersistentCacheHit, 1);
    lz_metric_add(LZ_METRIC_PersistentCacheLoad, (double)ns);
    note("program from disk", "cache", p, t0, ns);
    return true;
}

static lz_status compile(lz_program *p, const lz_capture *c, const lz_func *f, const lz_buf *key,
                         const lz_compile_options *o, lz_program_watch *w)
{
    if (w->compiles)
        w->compiles(w->user);
    int64_t t0 = lz_now_ns();
    LZ_TRY(p->be->compile(c->dev->ordinal, f, o, &p->exec));
    int64_t ns = w->compile_ns = lz_now_ns() - t0;
    lz_metric_add(LZ_METRIC_CompileTime, (double)ns);
    note("compile program", "compile", p, t0, ns);
    lz_metric_add(LZ_METRIC_InputOutputAliasCount, c->ngiven);
    lz_program_save(p->be, p->exec, key, o->cache);
    return LZ_OK;
}

static lz_status fill(lz_program *p, const lz_capture *c, const lz_func *f, const lz_buf *key,
                      lz_program_watch *w, lz_found *found)
{
    lz_cache *cache = disk_get();
    char dump[160];
    char hash[33];
    lz_hash_hex(p->hash, hash);
    snprintf(dump, sizeof dump, "%.100s-%.12s", p->name ? p->name : "graph", hash);
    lz_compile_options o = {.donate = c->donate.data,
                            .cache = cache,
                            .dump_name = dump,
                            .func = f,
                            .partitions = replicas_of(c, f),
                            .search = c->search};
    o.replicas = o.partitions > 0;
    lz_lease lease;
    bool loaded = load(p, c, key, &o, &lease, w);
    *found = loaded ? LZ_FOUND_DISK : LZ_FOUND_COMPILED;
    lz_status s = loaded ? LZ_OK : compile(p, c, f, key, &o, w);
    lz_cache_lease_release(cache, &lease);
    LZ_TRY(s);
    lz_exec_info info;
    p->be->exec_info(p->exec, &info);
    if (info.partition_ms > 0)
        lz_metric_add(LZ_METRIC_PartitionTime, info.partition_ms * 1e6);
    lz_counter_add(LZ_COUNTER_TunedLaunches, info.tuned);
    lz_counter_add(LZ_COUNTER_TuneCacheHit, info.tune_hits);
    lz_counter_add(LZ_COUNTER_TuneMeasurements, info.tune_runs);
    lz_mutex_lock(&lock);
    llvm_compiles += info.llvm_compiles;
    kernel_hits += info.kernel_hits;
    kernel_misses += info.llvm_compiles;
    memory_misses++;
    disk_hits += *found == LZ_FOUND_DISK;
    lz_mutex_unlock(&lock);
    return LZ_OK;
}

/* Notes where the parameters are. The device's lock is held. */
static lz_status note_made_for(lz_program *p, const lz_capture *c)
{
    if (!p->be->input_placement)
        return LZ_OK;
    p->placement = lz_calloc((size_t)p->nparam + 1, sizeof *p->placement);
    p->made_for = lz_calloc((size_t)p->nparam + 1, sizeof *p->made_for);
    if (!p->placement || !p->made_for)
        return LZ_FAIL(LZ_EMEM, "no memory for the places of %u parameters", p->nparam);
    for (uint32_t i = 0; i < p->nparam; i++)
        p->made_for[i] = lz_capture_placement(c, i);
    return LZ_OK;
}

/* Notes where they must be. */
static void note_placement(lz_program *p)
{
    for (uint32_t i = 0; p->placement && i < p->nparam; i++)
        p->placement[i] = p->be->input_placement(p->exec, i);
}

enum { WAYS_MAX = 8 }; /* programs of one graph, by where their parameters come from */

/* Puts those of the same graph behind p. */
static void add_others(lz_program *p, lz_program *others)
{
    if (!p->placement || !others || others->nkey != p->nkey ||
        memcmp(others->key, p->key, p->nkey * sizeof *p->key) != 0)
        return;
    lz_program *last = others;
    for (int n = 2; last->next && n < WAYS_MAX; n++)
        last = last->next;
    lz_program_release(last->next);
    last->next = NULL;
    atomic_fetch_add(&others->refs, 1);
    p->next = others;
}

/* Failing to cache a program is no failure of the step: it is compiled again next time. */
static void remember(const lz_capture *c, lz_program *p)
{
    lz_mutex_lock(&lock);
    if (!lru && lz_lru_create((uint32_t)lz_cfg_int(LZ_OPT_COMPILATION_CACHE_SIZE), destroy, NULL,
                              &lru) != LZ_OK)
        lru = NULL;
    atomic_fetch_add(&p->refs, 1);
    add_others(p, lru ? lz_lru_peek(lru, c->hash) : NULL);
    if (!lru || lz_lru_put(lru, c->hash, p) != LZ_OK)
        atomic_fetch_sub(&p->refs, 1);
    lz_mutex_unlock(&lock);
}

/* *held: whether the device's lock is still held; the caller takes it again. */
static lz_status make(const lz_capture *c, const char *name, lz_program_watch *w, lz_program **out,
                      lz_found *found, bool *held)
{
    lz_func *f = NULL;
    lz_buf key = {0};
    lz_program *p = program_new(c, name);
    lz_status s = p ? lz_capture_func(c, name ? name : "main", &f, p->root_result) : LZ_EMEM;
    if (s == LZ_OK)
        s = note_made_for(p, c);
    if (s == LZ_OK)
        s = canonical(c, f, &key);
    if (s == LZ_OK) {
        p->hash = lz_hash_bytes(key.data, key.len);
        p->nresult = f->nresult;
        mark_shared(p, f);
        if (w->missed)
            w->missed(c, p->hash, p->nparam, p->nresult, w->user);
        lz_dev_unlock(
            c->dev); /* from here on only those fields of c are used that belong to the caller */
        s = fill(p, c, f, &key, w, found);
        if (s == LZ_OK) {
            note_placement(p);
            remember(c, p);
        }
        *held = false;
    }
    lz_buf_free(&key);
    lz_func_free(f);
    if (s != LZ_OK) {
        program_free(p);
        return s;
    }
    *out = p;
    return LZ_OK;
}

/* ---- finding ---- */

static bool is_for(const lz_capture *c, lz_hash hash, const uint32_t *key, uint32_t nkey)
{
    return lz_hash_eq(hash, c->hash) && nkey == c->key.len &&
           memcmp(key, c->key.data, nkey * sizeof *key) == 0;
}

/* Whether the parameters are where p wants them, or where it was made for (which it wants too, but
 * by the name of another mesh), or may still be put there. */
static bool is_placed(const lz_capture *c, const lz_program *p)
{
    for (uint32_t i = 0; p->placement && i < p->nparam; i++) {
        const char *at = lz_capture_placement(c, i);
        if (at && at != p->placement[i] && at != p->made_for[i])
            return false;
    }
    return true;
}

/* The next four functions are called with the lock held. */
static lz_program *lookup(const lz_capture *c)
{
    lz_program *p = lru ? lz_lru_get(lru, c->hash) : NULL;
    if (p && !is_for(c, c->hash, p->key, p->nkey)) {
        lz_counter_add(LZ_COUNTER_GraphHashCollision, 1);
        p = NULL;
    }
    while (p && !is_placed(c, p))
        p = p->next;
    if (p)
        atomic_fetch_add(&p->refs, 1);
    return p;
}

static bool is_being_made(const lz_capture *c)
{
    for (const making *m = all_making; m; m = m->next)
        if (is_for(c, m->c->hash, m->c->key.data, m->c->key.len))
            return true;
    return false;
}

static void begin(making *m)
{
    m->next = all_making;
    all_making = m;
}

static void end(const making *m)
{
    making **at = &all_making;
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    lz_cond_broadcast(&made);
}

typedef enum answer { FOUND, MAKE, WAITED } answer;

/* FOUND: in memory. MAKE: the caller has to compile it, and m is its entry. WAITED: another thread
 *   has compiled it meanwhile. */
static answer find(const lz_capture *c, making *m, lz_program **out)
{
    lz_mutex_lock(&lock);
    *out = lookup(c);
    answer a = *out ? FOUND : is_being_made(c) ? WAITED : MAKE;
    if (a == MAKE)
        begin(m);
    if (a == WAITED)
        lz_dev_unlock(c->dev);
    while (a == WAITED && is_being_made(c))
        lz_cond_wait(&made, &lock);
    lz_mutex_unlock(&lock);
    if (a == WAITED)
        lz_dev_lock(c->dev);
    return a;
}

static lz_status make_alone(const lz_capture *c, making *m, const char *name, lz_program_watch *w,
                            lz_program **out, lz_found *found)
{
    bool held = true;
    lz_put_off_begin(); /* a log callback that needs this program would wait for this thread */
    lz_error earlier = *lz_error_get(); /* what was tried and given up on the way is no news */
    lz_status s = make(c, name, w, out, found, &held);
    lz_mutex_lock(&lock);
    end(m);
    lz_mutex_unlock(&lock);
    if (!held)
        lz_dev_lock(c->dev);
    lz_put_off_end();
    if (s == LZ_OK)
        lz_error_set(&earlier);
    return s;
}

lz_status lz_program_get(const lz_capture *c, const char *name, lz_program_watch *watch,
                         lz_program **out, lz_found *found, bool *again)
{
    making m = {.c = c};
    lz_program_watch nobody = {0}, *w = watch ? watch : &nobody;
    *again = false;
    /* Whatever was moved meanwhile: execution moves it back, and no step compiles for ever. */
    if (*out && is_for(c, (*out)->capture_hash, (*out)->key, (*out)->nkey))
        return LZ_OK;
    lz_program_release(*out);
    *found = LZ_FOUND_MEMORY;
    int64_t t0 = lz_timeline_begin(), h0 = lz_host_begin(), w0 = watch ? lz_now_ns() : 0;
    answer a = find(c, &m, out);
    w->lookup_ns += w0 ? lz_now_ns() - w0 : 0;
    lz_host_end(a == WAITED ? LZ_HOST_COMPILE : LZ_HOST_LOOKUP, h0);
    *again = a != FOUND;
    if (a == FOUND && t0)
        note("program from memory", "cache", *out, t0, lz_now_ns() - t0);
    if (a == WAITED)
        lz_timeline_end(t0, .name = "wait for a compilation", .category = "wait");
    if (a == FOUND)
        lz_counter_add(LZ_COUNTER_CachedCompile, 1);
    if (a != MAKE)
        return LZ_OK;
    lz_counter_add(LZ_COUNTER_UncachedCompile, 1);
    h0 = lz_host_begin();
    lz_status s = make_alone(c, &m, name, w, out, found);
    lz_host_end(LZ_HOST_COMPILE, h0);
    return s;
}

typedef struct each_arg {
    bool (*fn)(const lz_program *p, void *user);
    void *user;
} each_arg;

static bool each(lz_hash k, void *v, void *user)
{
    (void)k;
    each_arg *a = user;
    return a->fn(v, a->user);
}

void lz_program_each(bool (*fn)(const lz_program *p, void *user), void *user)
{
    each_arg a = {fn, user};
    lz_mutex_lock(&lock);
    if (lru)
        lz_lru_each(lru, each, &a);
    lz_mutex_unlock(&lock);
}

/* ---- public ---- */

lz_status lz_initialize_cache(const char *path, bool readonly)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_status s = LZ_OK;
    lz_mutex_lock(&lock);
    if (!path)
        s = LZ_FAIL(LZ_ENULL, "path is NULL");
    else if (!path[0])
        s = LZ_FAIL(LZ_EINVAL, "path is empty");
    else if (disk_open || lru)
        s = LZ_FAIL(LZ_ESTATE, "Computation cache has already been initialized");
    else {
        char *copy = lz_strdup(path);
        if (!copy) {
            s = LZ_FAIL(LZ_EMEM, "no memory for a path");
        } else {
            lz_free(chosen_path);
            chosen_path = copy;
            chosen_readonly = readonly;
            (void)disk_get_locked();
        }
    }
    lz_mutex_unlock(&lock);
    if (s != LZ_OK)
        lz_error_annotate("lz_initialize_cache", NULL);
    return s;
}

int64_t lz_get_num_cached_compilation_graph(void)
{
    LZ_PUBLIC(0);
    lz_mutex_lock(&lock);
    int64_t n = lru ? lz_lru_len(lru) : 0;
    lz_mutex_unlock(&lock);
    return n;
}

/* Kernels that executions have loaded. */
static lz_branch_kernels branch_kernels(void)
{
    lz_branch_kernels sum = {0}, one = {0};
    const lz_backend *b;
    for (uint32_t i = 0; (b = lz_backend_at(i)); i++) {
        if (!b->branch_kernels)
            continue;
        b->branch_kernels(&one);
        sum.compiled += one.compiled;
        sum.found += one.found;
        sum.compile_ns += one.compile_ns;
    }
    return sum;
}

lz_status lz_get_cache_counts(lz_cache_counts *out)
{
    LZ_PUBLIC(LZ_EFORK);
    if (!out || out->struct_size < sizeof(size_t)) {
        lz_status s =
            out ? LZ_FAIL(LZ_EINVAL, "struct_size is %zu: set it to sizeof(lz_cache_counts)",
                          out->struct_size)
                : LZ_FAIL(LZ_ENULL, "out is NULL");
        lz_error_annotate("lz_get_cache_counts", NULL);
        return s;
    }
    lz_cache_counts r = {.struct_size = out->struct_size};
    lz_cache_stats st = {0};
    double compile_ns = 0;
    lz_branch_kernels late = branch_kernels();
    (void)lz_metric_samples(LZ_METRIC_CompileTime, &compile_ns, NULL);
    lz_mutex_lock(&lock);
    if (disk)
        lz_cache_get_stats(disk, &st);
    r.program_hits = disk_hits;
    r.program_misses = memory_misses - disk_hits;
    r.kernel_hits = kernel_hits + late.found;
    r.kernel_misses = kernel_misses + late.compiled;
    r.llvm_compiles = llvm_compiles + late.compiled;
    lz_mutex_unlock(&lock);
    r.corrupt = st.corrupt;
    r.foreign = st.foreign;
    r.write_fail = st.write_fail;
    r.evicted = st.evicted;
    r.waits = st.lease_waits;
    r.mac_refused = st.mac_refused;
    r.code_ignored = st.code_ignored;
    r.system_hits = st.system_hits;
    r.compile_ms = (compile_ns + (double)late.compile_ns) / 1e6;
    memcpy(out, &r, out->struct_size < sizeof r ? out->struct_size : sizeof r);
    return LZ_OK;
}

size_t lz_get_cache_path(char *buf, size_t n)
{
    LZ_PUBLIC(0);
    lz_cache *c = disk_get();
    const char *path = c && lz_cache_enabled(c) ? lz_cache_path(c) : "";
    if (buf && n)
        snprintf(buf, n, "%s", path);
    return strlen(path);
}
