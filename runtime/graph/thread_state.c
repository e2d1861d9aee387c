/* thread_state.c - see thread_state.h. */
#include "runtime/graph/thread_state.h"
#include "runtime/graph/effects.h"
#include "base/callout.h"
#include "base/log.h"
#include "base/process_end.h"
#include "runtime/graph/handle.h"
#include "runtime/graph/node.h"
#include <string.h>

__thread lz_thread_state *lz_thread_state_self;

static lz_mutex lock =
    LZ_MUTEX_INIT("thread_state"); /* registry, shared pools, orphans, interned strings */
static lz_thread_state *threads;
static struct { /* counts of ended threads */
    int64_t nodes;
    uint64_t made, destroyed, ops[LZ_OP_COUNT];
} ended;
static LZ_VEC(uint64_t) orphans, orphans_unstepped;
static _Atomic uint32_t norphans; /* number of orphans, readable without the lock */
static uint64_t thread_serial;
static pthread_key_t key;
static bool key_ok;
static lz_once key_once = LZ_ONCE_INIT;
static lz_map strings;

/* ---- pools ---- */

enum { BATCH = 1024, CHUNK = 1024 };
static lz_pool shared[LZ_POOL_KINDS];

/* Offset of the free-list link: a word that no reader of a stale pointer looks at. */
static void **link_of(lz_pool_kind k, void *object)
{
    return k == LZ_POOL_NODE ? (void **)&((lz_node *)object)->opnd : &((lz_slot *)object)->link;
}

static void push(lz_pool *p, lz_pool_kind k, void *object)
{
    *link_of(k, object) = p->head;
    p->head = object;
    p->len++;
}

static void *pop(lz_pool *p, lz_pool_kind k)
{
    void *o = p->head;
    p->head = *link_of(k, o);
    p->len--;
    return o;
}

static void move_objects(lz_pool *from, lz_pool *to, lz_pool_kind k, uint32_t n)
{
    while (n-- && from->head)
        push(to, k, pop(from, k));
}

static void *node_chunks; /* linked, so that leak checkers see them */

static lz_status carve_nodes(lz_pool *p)
{
    size_t nbytes = (size_t)(CHUNK + 1) * sizeof(lz_node) + 64;
    char *raw = lz_calloc(1, nbytes);
    if (!raw)
        return LZ_FAIL(LZ_EMEM, "no memory for %zu bytes of trace nodes", nbytes);
    *(void **)raw = node_chunks;
    node_chunks = raw;
    lz_node *n = (lz_node *)LZ_ALIGN_UP((uintptr_t)raw + sizeof(void *), 64);
    for (int i = CHUNK - 1; i >= 0; i--)
        push(p, LZ_POOL_NODE, n + i);
    return LZ_OK;
}

static lz_status carve_slots(lz_pool *p)
{
    uint32_t n;
    lz_slot *s = lz_slot_new_chunk(&n);
    if (!s)
        return LZ_EMEM;
    for (uint32_t i = n; i-- > 0;)
        push(p, LZ_POOL_SLOT, s + i);
    return LZ_OK;
}

static void *take_slow(lz_thread_state *t, lz_pool_kind k)
{
    lz_mutex_lock(&lock);
    lz_status s = LZ_OK;
    if (shared[k].head)
        move_objects(&shared[k], &t->pool[k], k, BATCH);
    else
        s = k == LZ_POOL_NODE ? carve_nodes(&t->pool[k]) : carve_slots(&t->pool[k]);
    lz_mutex_unlock(&lock);
    return s == LZ_OK ? pop(&t->pool[k], k) : NULL;
}

void *lz_pool_take(lz_thread_state *t, lz_pool_kind k)
{
    return __builtin_expect(t->pool[k].head != NULL, 1) ? pop(&t->pool[k], k) : take_slow(t, k);
}

void lz_pool_give(lz_thread_state *t, lz_pool_kind k, void *object)
{
    if (!t) { /* the thread is ending, or had no memory for a record */
        lz_mutex_lock(&lock);
        push(&shared[k], k, object);
        lz_mutex_unlock(&lock);
        return;
    }
    push(&t->pool[k], k, object);
    /* A thread that only releases what others make spills objects to the shared pool, so they do
     * not pile up here. */
    if (__builtin_expect(t->pool[k].len > 16 * BATCH, 0)) {
        lz_mutex_lock(&lock);
        move_objects(&t->pool[k], &shared[k], k, 8 * BATCH);
        lz_mutex_unlock(&lock);
    }
}

/* ---- the record ---- */

static _Atomic(lz_thread_state_end_fn *) at_end;

void lz_thread_state_at_end(lz_thread_state_end_fn *fn)
{
    atomic_store(&at_end, fn);
}

static void thread_end(void *arg)
{
    lz_thread_state *t = arg;
    if (lz_fork_happened())
        return;
    lz_thread_state_self = t; /* destructors of other keys may have run operations */
    lz_scope_end_all(t);
    lz_effects_drop(t, 0);
    t->dying = true;
    lz_thread_state_end_fn *end = atomic_load(&at_end);
    if (end)
        end(t);
    lz_mutex_lock(&lock);
    for (uint32_t i = 0; i < t->pending.len; i++)
        if (lz_slot_pending(t, t->pending.data[i]) &&
            lz_vec_push(&orphans, t->pending.data[i]) != LZ_OK)
            break;
    for (uint32_t i = 0; i < t->unstepped.len; i++)
        if (lz_slot_unstepped(t, t->unstepped.data[i]) &&
            lz_vec_push(&orphans_unstepped, t->unstepped.data[i]) != LZ_OK)
            break;
    atomic_store(&norphans, orphans.len + orphans_unstepped.len);
    for (int k = 0; k < LZ_POOL_KINDS; k++)
        move_objects(&t->pool[k], &shared[k], k, UINT32_MAX);
    ended.nodes += t->nodes;
    ended.made += t->made;
    ended.destroyed += t->destroyed;
    for (int i = 0; i < LZ_OP_COUNT; i++)
        ended.ops[i] += t->ops[i];
    if (t->prev)
        t->prev->next = t->next;
    else
        threads = t->next;
    if (t->next)
        t->next->prev = t->prev;
    lz_mutex_unlock(&lock);
    lz_thread_state_self = NULL;
    lz_error_save_in(NULL);
    lz_vec_free(&t->handles);
    lz_vec_free(&t->scopes);
    lz_vec_free(&t->pending);
    lz_vec_free(&t->flushed);
    lz_vec_free(&t->effects);
    lz_vec_free(&t->stepped);
    lz_vec_free(&t->unstepped);
    lz_vec_free(&t->names);
    lz_vec_free(&t->autocasts);
    lz_free(t);
}

/* The public call and the loop's body that the thread is in are not those of a function of the
 * program's that it calls on the way. */
static void take_aside(void *aside[LZ_CALLOUT_WORDS])
{
    lz_thread_state *t = lz_thread_state_self;
    if (!t) {
        memset(aside, 0, LZ_CALLOUT_WORDS * sizeof *aside);
        return;
    }
    aside[0] = (void *)(uintptr_t)t->api_op;
    aside[1] = (void *)(uintptr_t)t->api_site;
    aside[2] = t->api_caller;
    aside[3] = t->loop;
    aside[4] = t->recording;
    t->api_op = NULL;
    t->api_site = NULL;
    t->loop = NULL;
    t->recording = NULL;
}

static void give_back(void *const aside[LZ_CALLOUT_WORDS])
{
    lz_thread_state *t = lz_thread_state_self;
    if (!t)
        return;
    t->api_op = aside[0];
    t->api_site = aside[1];
    t->api_caller = aside[2];
    t->loop = aside[3];
    t->recording = aside[4];
}

static void make_key(void)
{
    key_ok = pthread_key_create(&key, thread_end) == 0;
    lz_callout_set_aside(take_aside, give_back);
}

lz_thread_state *lz_thread_state_make(void)
{
    if (lz_fork_check() != LZ_OK)
        return NULL;
    lz_once_run(&key_once, make_key);
    lz_exit_guard();
    lz_thread_state *t = lz_calloc(1, sizeof *t);
    if (!t || !key_ok || pthread_setspecific(key, t) != 0) {
        lz_free(t);
        LZ_FAIL(LZ_EMEM, "no memory for this thread's record");
        return NULL;
    }
    t->scope_marks = 100000;
    lz_mutex_lock(&lock);
    t->serial = (uint32_t)++thread_serial;
    t->id_next = thread_serial << LZ_NODE_ID_BITS;
    t->next = threads;
    if (threads)
        threads->prev = t;
    threads = t;
    lz_mutex_unlock(&lock);
    lz_thread_state_self = t;
    lz_error_save_in(&t->error_before);
    return t;
}

/* id_next of the threads that stepped last, for reports. */
enum { STEPS_KEPT = 256 };
static _Atomic uint64_t step_ids[STEPS_KEPT], nsteps;

uint64_t lz_thread_state_steps_since(uint64_t id)
{
    uint64_t n = 0;
    for (int i = 0; i < STEPS_KEPT; i++) {
        uint64_t at = atomic_load_explicit(&step_ids[i], memory_order_relaxed);
        n += at > id && at >> LZ_NODE_ID_BITS == id >> LZ_NODE_ID_BITS;
    }
    return n;
}

void lz_thread_state_stepped(lz_thread_state *t, const struct lz_dev *d)
{
    uint64_t k = atomic_fetch_add_explicit(&nsteps, 1, memory_order_relaxed);
    atomic_store_explicit(&step_ids[k % STEPS_KEPT], t->id_next, memory_order_relaxed);
    for (uint32_t i = 0; i < t->stepped.len; i++)
        if (t->stepped.data[i].dev == d) {
            t->stepped.data[i].id = t->id_next;
            return;
        }
    LZ_QUIETLY { /* without memory some derivatives are refused that need not be */
        (void)lz_vec_push(&t->stepped, ((struct lz_stepped){d, t->id_next}));
    }
}

bool lz_thread_state_has_orphans(void)
{
    return atomic_load_explicit(&norphans, memory_order_relaxed) != 0;
}

/* n handles of ended threads, appended to a list of t's that has room. */
static void adopt(const lz_thread_state *t, uint64_t *to, const uint64_t *from, uint32_t n)
{
    if (n)
        memcpy(to, from, n * sizeof *to);
    for (uint32_t i = 0; i < n; i++) {
        lz_slot *slot = lz_slot_peek(to[i]);
        if (slot)
            lz_slot_own(slot, to[i], t);
    }
}

lz_status lz_thread_state_adopt_orphans(lz_thread_state *t)
{
    if (!lz_thread_state_has_orphans())
        return LZ_OK;
    lz_mutex_lock(&lock);
    lz_status s = lz_vec_reserve(&t->pending, (uint64_t)t->pending.len + orphans.len);
    if (s == LZ_OK)
        s = lz_vec_reserve(&t->unstepped, (uint64_t)t->unstepped.len + orphans_unstepped.len);
    if (s == LZ_OK) {
        adopt(t, t->pending.data + t->pending.len, orphans.data, orphans.len);
        t->pending.len += orphans.len;
        adopt(t, t->unstepped.data + t->unstepped.len, orphans_unstepped.data,
              orphans_unstepped.len);
        t->unstepped.len += orphans_unstepped.len;
        lz_vec_free(&orphans);
        lz_vec_free(&orphans_unstepped);
        atomic_store(&norphans, 0);
    }
    lz_mutex_unlock(&lock);
    return s;
}

bool lz_thread_state_lives(uint32_t serial)
{
    lz_mutex_lock(&lock);
    lz_thread_state *t = threads;
    while (t && t->serial != serial)
        t = t->next;
    lz_mutex_unlock(&lock);
    return t != NULL;
}

/* ---- sums ---- */

int64_t lz_thread_state_sum_nodes(void)
{
    lz_mutex_lock(&lock);
    int64_t n = ended.nodes;
    for (lz_thread_state *t = threads; t; t = t->next)
        n += atomic_load_explicit(&t->nodes, memory_order_relaxed);
    lz_mutex_unlock(&lock);
    return n;
}

void lz_thread_state_sum_handles(uint64_t *made, uint64_t *destroyed)
{
    lz_mutex_lock(&lock);
    *made = ended.made;
    *destroyed = ended.destroyed;
    for (lz_thread_state *t = threads; t; t = t->next) {
        *made += atomic_load_explicit(&t->made, memory_order_relaxed);
        *destroyed += atomic_load_explicit(&t->destroyed, memory_order_relaxed);
    }
    lz_mutex_unlock(&lock);
}

static uint64_t ops_base[LZ_OP_COUNT]; /* subtracted: the counts at the last clearing */

static void sum_ops_locked(uint64_t out[LZ_OP_COUNT])
{
    memcpy(out, ended.ops, sizeof ended.ops);
    for (lz_thread_state *t = threads; t; t = t->next)
        for (int i = 0; i < LZ_OP_COUNT; i++)
            out[i] += atomic_load_explicit(&t->ops[i], memory_order_relaxed);
}

void lz_thread_state_sum_ops(uint64_t out[LZ_OP_COUNT])
{
    lz_mutex_lock(&lock);
    sum_ops_locked(out);
    for (int i = 0; i < LZ_OP_COUNT; i++)
        out[i] -= ops_base[i];
    lz_mutex_unlock(&lock);
}

void lz_thread_state_clear_ops(void)
{
    lz_mutex_lock(&lock);
    sum_ops_locked(ops_base);
    lz_mutex_unlock(&lock);
}

const char *lz_thread_state_intern(const char *s)
{
    lz_hash h = lz_hash_bytes(s, strlen(s));
    lz_mutex_lock(&lock);
    char *have = lz_map_get(&strings, h);
    if (!have && (have = lz_strdup(s)) != NULL && lz_map_put(&strings, h, have) != LZ_OK) {
        lz_free(have);
        have = NULL;
    }
    lz_mutex_unlock(&lock);
    if (!have)
        LZ_FAIL(LZ_EMEM, "no memory for a name of %zu bytes", strlen(s));
    return have;
}
