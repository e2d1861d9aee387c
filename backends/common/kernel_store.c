/* kernel_store.c - see kernel_store.h. The table is keyed by the hash of a kernel's canonical bytes
 * and its variant; the bytes are compared too, so a hash collision costs a compilation and never
 * gives a wrong kernel. An entry is in the table while it is being compiled, so two executables
 * that need the same kernel at the same time compile it once. */
#include "backends/common/kernel_store.h"
#include "base/alloc.h"
#include "base/timeline/timeline.h"
#include "cache/lease.h"
#include "codegen/codegen.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_WAITING = 512 };

struct lz_kcode {
    lz_kstore *store;
    lz_hash hash;
    uint64_t variant;
    void *encoding;
    size_t nencoding;
    /* under the store's lock: */
    uint32_t refs;
    bool in_table;
    lz_kcode *newer, *older; /* in the list of unused kernels */
    /* set once, by the thread that put the entry into the table: */
    lz_latch made;
    bool loaded;    /* ops->load has filled `code` */
    bool skipped;   /* skipped, because another kernel had failed */
    lz_error error; /* status LZ_OK: the code is there */
    _Alignas(16) unsigned char code[];
};

void *lz_kstore_code(const lz_kcode *c)
{
    return (void *)c->code;
}

/* ---- the table; all under lock ---- */

static lz_hash place_of(const lz_kernel *k, uint64_t variant)
{
    return variant ? lz_hash_seeded(&k->hash, sizeof k->hash, variant) : k->hash;
}

static void destroy(lz_kcode *c)
{
    if (c->loaded)
        c->store->ops->unload(c->code);
    c->store->nlive--;
    lz_free(c->encoding);
    lz_free(c);
}

static void unlink_waiting(lz_kcode *c)
{
    lz_kstore *st = c->store;
    *(c->newer ? &c->newer->older : &st->newest) = c->older;
    *(c->older ? &c->older->newer : &st->oldest) = c->newer;
    c->newer = c->older = NULL;
    st->nwaiting--;
}

static void forget_oldest(lz_kstore *st)
{
    lz_kcode *c = st->oldest;
    unlink_waiting(c);
    (void)lz_map_del(&st->table, c->hash);
    destroy(c);
}

static void wait_for_use(lz_kcode *c)
{
    lz_kstore *st = c->store;
    c->older = st->newest;
    *(st->newest ? &st->newest->newer : &st->oldest) = c;
    st->newest = c;
    st->nwaiting++;
    while (st->nwaiting > MAX_WAITING)
        forget_oldest(st);
}

static void drop(lz_kcode *c)
{
    if (--c->refs)
        return;
    if (c->in_table)
        wait_for_use(c);
    else
        destroy(c);
}

static lz_kcode *find(lz_kstore *st, const lz_kernel *k, uint64_t variant)
{
    lz_kcode *c = lz_map_get(&st->table, place_of(k, variant));
    if (!c || c->variant != variant || c->nencoding != k->nencoding ||
        memcmp(c->encoding, k->encoding, k->nencoding) != 0)
        return NULL;
    if (c->refs++ == 0)
        unlink_waiting(c);
    return c;
}

static lz_kcode *insert(lz_kstore *st, const lz_kernel *k, uint64_t variant)
{
    lz_kcode *c = lz_calloc(1, sizeof *c + st->ops->code_bytes);
    void *encoding = lz_alloc(k->nencoding);
    if (!c || !encoding) {
        lz_free(c);
        lz_free(encoding);
        return NULL;
    }
    c->store = st;
    c->encoding = memcpy(encoding, k->encoding, k->nencoding);
    c->nencoding = k->nencoding;
    c->hash = place_of(k, variant);
    c->variant = variant;
    c->refs = 1;
    c->in_table = !lz_map_get(&st->table, c->hash) && lz_map_put(&st->table, c->hash, c) == LZ_OK;
    st->nlive++;
    return c;
}

/* ---- making one kernel ---- */

typedef struct pending {
    uint32_t weight, index;
    bool busy; /* another process compiles it */
} pending;

typedef struct load {
    lz_kstore *st;
    lz_kernel *const *k;
    lz_kernel_load *out;
    bool *mine;       /* this call compiles out[i] */
    pending *pending; /* to compile, in order: the longest first */
    uint32_t n, missing;
    bool waits; /* for the other process */
    void *user;
    lz_cache *cache;
    _Atomic uint32_t next; /* number of those to compile */
    _Atomic bool failed;   /* one has failed: the others need not be compiled */
} load;

static void made(lz_kcode *c, lz_status s)
{
    if (s != LZ_OK)
        c->error = *lz_error_get();
    lz_mutex_lock(&c->store->lock);
    if (s != LZ_OK && c->in_table) { /* the next call that needs it tries again */
        (void)lz_map_del(&c->store->table, c->hash);
        c->in_table = false;
    }
    lz_mutex_unlock(&c->store->lock);
    lz_latch_set(&c->made);
}

static lz_status take_code(load *l, uint32_t i, const void *bytes, size_t nbytes)
{
    lz_kcode *c = l->out[i].code;
    int64_t t0 = lz_now_ns();
    LZ_TRY(l->st->ops->load(l->user, l->k[i], bytes, nbytes, c->code));
    c->loaded = true;
    l->out[i].link_ms += (double)(lz_now_ns() - t0) * 1e-6;
    return LZ_OK;
}

/* again: it was missing before, and may have come since. */
static bool from_disk(load *l, uint32_t i, bool again)
{
    if (!l->cache)
        return false;
    lz_buf key = {0};
    void *obj = NULL;
    size_t nobj = 0;
    int64_t t0 = lz_now_ns();
    l->st->ops->key(l->user, l->k[i], &key);
    bool found = !key.failed && (again ? lz_cache_get_bound_again : lz_cache_get_bound)(
                                    l->cache, LZ_CACHE_KERNEL, key.data, key.len, &obj, &nobj);
    lz_status s = found ? take_code(l, i, obj, nobj) : LZ_OK;
    bool ok = found && s == LZ_OK;
    if (s == LZ_ECORRUPT) /* the entry is intact, but its code unusable: the next put replaces it */
        lz_cache_drop(l->cache, LZ_CACHE_KERNEL, key.data, key.len);
    lz_free(obj);
    lz_buf_free(&key);
    if (!ok)
        return false;
    int64_t ns = lz_now_ns() - t0;
    l->out[i].source = LZ_FROM_DISK;
    l->out[i].ms = (double)ns * 1e-6;
    lz_timeline_note(t0, ns, .name = "kernel from disk", .category = "cache", .text_key = "kernel",
                     .text = l->k[i]->name);
    atomic_fetch_add(&l->st->disk_hits, 1);
    return true;
}

/* A curve of how many threads compile. */
static void count_compiling(int change)
{
    static _Atomic int compiling;
    int n = atomic_fetch_add(&compiling, change) + change;
    lz_timeline_count("compile threads", n);
}

static lz_status compile(load *l, uint32_t i)
{
    lz_buf obj = {0}, key = {0};
    int64_t t0 = lz_now_ns(), linked = lz_jit_thread_ns();
    count_compiling(1);
    lz_status s = l->st->ops->make(l->user, l->k[i], &obj);
    l->out[i].link_ms = (double)(lz_jit_thread_ns() - linked) * 1e-6;
    if (s == LZ_OK)
        s = take_code(l, i, obj.data, obj.len);
    if (s == LZ_ECORRUPT) /* the object of our own code generator */
        s = LZ_FAIL(LZ_EINTERNAL, "kernel '%s': %s", l->k[i]->name, lz_error_get()->message);
    if (s == LZ_OK && l->cache) {
        l->st->ops->key(l->user, l->k[i], &key);
        if (!key.failed)
            lz_cache_put_bound(l->cache, LZ_CACHE_KERNEL, key.data, key.len,
                               l->st->ops->isa(l->user), obj.data, obj.len);
    }
    lz_buf_free(&obj);
    lz_buf_free(&key);
    int64_t ns = lz_now_ns() - t0;
    l->out[i].source = LZ_FROM_LLVM;
    l->out[i].ms = (double)ns * 1e-6;
    count_compiling(-1);
    lz_timeline_note(t0, ns, .name = "compile kernel", .category = "compile", .text_key = "kernel",
                     .text = l->k[i]->name);
    if (s == LZ_OK)
        atomic_fetch_add(&l->st->compiles, 1);
    return s;
}

static lz_lease_state lease_of(load *l, uint32_t i, lz_lease *out)
{
    lz_buf key = {0};
    *out = (lz_lease){0};
    if (!l->cache || atomic_load(&l->failed))
        return LZ_LEASE_NONE;
    l->st->ops->key(l->user, l->k[i], &key);
    lz_lease_state r = LZ_LEASE_NONE;
    if (!key.failed)
        r = (l->waits ? lz_cache_lease_wait : lz_cache_lease_try)(l->cache, LZ_CACHE_KERNEL,
                                                                  key.data, key.len, out);
    lz_buf_free(&key);
    return r;
}

/* Compiles a kernel, unless another process does: then it is put off until the others are done, and
 * at last waited for. */
static void compile_one(load *l, pending *t)
{
    lz_kcode *c = l->out[t->index].code;
    lz_lease lease;
    lz_status s = LZ_OK;
    lz_lease_state state = lease_of(l, t->index, &lease);
    t->busy = state == LZ_LEASE_BUSY;
    if (t->busy)
        return;
    bool found = state != LZ_LEASE_NONE && from_disk(l, t->index, true);
    if (!found) {
        c->skipped = atomic_load(&l->failed);
        s = c->skipped ? LZ_FAIL(LZ_ECOMPILE, "another kernel of the program failed")
                       : compile(l, t->index);
    }
    lz_cache_lease_release(l->cache, &lease);
    if (s != LZ_OK)
        atomic_store(&l->failed, true);
    made(c, s);
}

static void *compile_some(void *arg)
{
    load *l = arg;
    uint32_t at;
    while ((at = atomic_fetch_add(&l->next, 1)) < l->missing)
        compile_one(l, &l->pending[at]);
    return NULL;
}

/* What the thread puts off, such as messages, is left to the thread that waits for it: a function
 * of the program's may need what that one is making. */
static void *compile_beside(void *arg)
{
    lz_put_off_begin();
    (void)compile_some(arg);
    lz_unlocked_call *rest = lz_put_off_take();
    lz_put_off_end();
    return rest;
}

/* Compilation has threads of its own: it takes milliseconds, and the workers may be busy with the
 * step before. */
static void compile_all(load *l)
{
    enum { MAX_THREADS = 64 };
    pthread_t thread[MAX_THREADS];
    uint32_t want = (uint32_t)l->st->ops->threads(), started = 0;
    want = want < l->missing ? want : l->missing;
    want = want < MAX_THREADS ? want : MAX_THREADS;
    if (want > 1 && l->st->ops->prepare)
        l->st->ops->prepare();
    while (started + 1 < want &&
           lz_thread_start(&thread[started], "lz-compile", compile_beside, l) == LZ_OK)
        started++;
    (void)compile_some(l);
    for (uint32_t i = 0; i < started; i++) {
        void *rest = NULL;
        pthread_join(thread[i], &rest);
        lz_put_off_give(rest);
    }
}

static void compile_missing(load *l)
{
    uint32_t nbusy = 0;
    l->waits = false;
    compile_all(l);
    for (uint32_t i = 0; i < l->missing; i++)
        if (l->pending[i].busy)
            l->pending[nbusy++] = l->pending[i];
    l->missing = nbusy;
    l->waits = true;
    atomic_store(&l->next, 0);
    if (nbusy)
        compile_all(l);
}

/* ---- many kernels ---- */

/* Takes references to all kernels: to known entries, or to new ones. */
static lz_status look_up(load *l)
{
    bool ok = true;
    uint64_t variant = l->st->ops->variant ? l->st->ops->variant(l->user) : 0;
    lz_mutex_lock(&l->st->lock);
    for (uint32_t i = 0; i < l->n && ok; i++) {
        l->out[i].code = find(l->st, l->k[i], variant);
        if (l->out[i].code)
            continue;
        l->out[i].code = insert(l->st, l->k[i], variant);
        ok = l->mine[i] = l->out[i].code != NULL;
    }
    lz_mutex_unlock(&l->st->lock);
    return ok ? LZ_OK : LZ_FAIL(LZ_EMEM, "no memory for %u kernels", l->n);
}

/* Estimated compile time of a kernel: a matrix product has as much code as a hundred scalar
 * operations. */
static uint32_t weight(const lz_kernel *k)
{
    enum { PRODUCT = 100 };
    bool product = lz_kernel_is_dot(k) || lz_kernel_keeps_sums(k);
    uint32_t n = product ? PRODUCT : 0;
    for (uint32_t s = 0; s < k->nstage; s++)
        n += k->stages[s].nsop;
    return n;
}

static int heavier_first(const void *a, const void *b)
{
    const pending *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* Compiles every entry of this call; afterwards each has its code or its error. */
static void make_mine(load *l, lz_status found)
{
    l->missing = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        lz_kcode *c = l->out[i].code;
        if (!c || !l->mine[i]) {
            if (c)
                atomic_fetch_add(&l->st->memory_hits, 1);
            continue;
        }
        atomic_fetch_add(&l->st->misses, 1);
        if (found != LZ_OK)
            made(c, found);
        else if (from_disk(l, i, false))
            made(c, LZ_OK);
        else
            l->pending[l->missing++] = (pending){weight(l->k[i]), i, false};
    }
    /* The longest compilations start first, so that none is left running alone at the end. */
    qsort(l->pending, l->missing, sizeof *l->pending, heavier_first);
    if (l->missing)
        compile_missing(l);
}

/* The first error of the kernels; a specific one is preferred to "another kernel failed". */
static lz_status wait_all(load *l)
{
    const lz_kcode *first = NULL;
    for (uint32_t i = 0; i < l->n; i++) {
        lz_kcode *c = l->out[i].code;
        if (!c)
            continue;
        (void)lz_latch_wait(&c->made, -1);
        if (c->error.status != LZ_OK && (!first || (first->skipped && !c->skipped)))
            first = c;
    }
    if (!first)
        return LZ_OK;
    lz_error_set(&first->error);
    return first->error.status;
}

/* Whether the kernel that failed was compiled by another call: its reason may not be ours. */
static bool failed_elsewhere(const load *l)
{
    bool elsewhere = false;
    for (uint32_t i = 0; i < l->n; i++) {
        const lz_kcode *c = l->out[i].code;
        if (c && c->error.status != LZ_OK && l->mine[i])
            return false;
        elsewhere |= c && c->error.status != LZ_OK;
    }
    return elsewhere;
}

static lz_status load_once(load *l, bool *again)
{
    atomic_store(&l->next, 0);
    atomic_store(&l->failed, false);
    memset(l->out, 0, l->n * sizeof *l->out);
    memset(l->mine, 0, l->n * sizeof *l->mine);
    lz_put_off_begin(); /* others may wait for what this thread makes */
    lz_status found = look_up(l);
    make_mine(l, found);
    lz_put_off_end();
    lz_status s = wait_all(l);
    s = found != LZ_OK ? found : s;
    *again = s != LZ_OK && found == LZ_OK && failed_elsewhere(l);
    for (uint32_t i = 0; i < l->n && s != LZ_OK; i++) {
        lz_kstore_release(l->out[i].code);
        l->out[i].code = NULL;
    }
    return s;
}

lz_status lz_kstore_load(lz_kstore *st, lz_kernel *const *k, uint32_t n, void *user,
                         lz_cache *cache, lz_kernel_load *out)
{
    load l = {.st = st, .k = k, .out = out, .n = n, .user = user, .cache = cache};
    l.mine = lz_calloc(n, sizeof *l.mine);
    l.pending = lz_calloc(n, sizeof *l.pending);
    if (!l.mine || !l.pending) {
        lz_free(l.mine);
        lz_free(l.pending);
        return LZ_FAIL(LZ_EMEM, "no memory for %u kernels", n);
    }
    bool again = true;
    lz_status s = LZ_OK;
    for (int i = 0; i < 3 && again; i++)
        s = load_once(&l, &again);
    lz_free(l.mine);
    lz_free(l.pending);
    return s;
}

bool lz_kstore_look_up(lz_kstore *st, const lz_kernel *k, void *user, lz_cache *cache)
{
    lz_buf key = {0};
    void *obj = NULL;
    size_t nobj;
    st->ops->key(user, k, &key);
    bool found =
        !key.failed && lz_cache_get_bound(cache, LZ_CACHE_KERNEL, key.data, key.len, &obj, &nobj);
    lz_free(obj);
    lz_buf_free(&key);
    return found;
}

void lz_kstore_release(lz_kcode *c)
{
    if (!c)
        return;
    lz_mutex *lock = &c->store->lock;
    lz_mutex_lock(lock);
    drop(c);
    lz_mutex_unlock(lock);
}

void lz_kstore_get_stats(lz_kstore *st, lz_kernels_stats *out)
{
    out->compiles = atomic_load(&st->compiles);
    out->disk_hits = atomic_load(&st->disk_hits);
    out->memory_hits = atomic_load(&st->memory_hits);
    out->misses = atomic_load(&st->misses);
    lz_mutex_lock(&st->lock);
    out->live = st->nlive;
    out->waiting = st->nwaiting;
    lz_mutex_unlock(&st->lock);
}

void lz_kstore_trim(lz_kstore *st)
{
    lz_mutex_lock(&st->lock);
    while (st->oldest)
        forget_oldest(st);
    if (st->table.len == 0)
        lz_map_free(&st->table);
    lz_mutex_unlock(&st->lock);
}
