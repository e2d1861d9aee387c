/* alloc.c - the door to the heap: hooks, fault injection, counters, arenas. The counters are the
 * only cost beside malloc: each thread owns a slot that it alone writes (plain loads and stores, no
 * locked instruction); readers add the slots up. Threads beyond the slots share the last one with
 * atomic adds.
 * Threads: thread-safe, except lz_alloc_set_hooks, which belongs to start-up. */
#include "base/alloc.h"
#include "base/text.h"
#include "base/thread.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUM_SLOTS = 256, SHARED_SLOT = NUM_SLOTS - 1 };

/* Counters only grow; live = count of new blocks - count of frees. Padded: no two threads write one
 * cache line. */
typedef struct slot {
    _Alignas(64) _Atomic uint64_t calls; /* allocations asked for, also those that failed */
    _Atomic uint64_t born, freed;        /* blocks that came to be and that were given back */
    _Atomic uint64_t failed;
    atomic_bool taken;
} slot;

static slot slots[NUM_SLOTS];
static _Thread_local slot *my_slot;
static pthread_key_t slot_key;
static lz_once slot_once = LZ_ONCE_INIT;
static bool slot_key_ok;

static lz_alloc_hooks hooks; /* alloc == NULL: libc */
static _Atomic int64_t fail_left;
static atomic_bool fail_armed, fail_repeat;

#ifdef LZ_DEBUG
static _Thread_local bool in_hook;
#define hook_begins() ((void)(in_hook = true))
#define hook_ends() ((void)(in_hook = false))
bool lz_alloc_in_hook(void)
{
    return in_hook;
}
#else
#define hook_begins() ((void)0)
#define hook_ends() ((void)0)
#endif

static void *hook_alloc(size_t nbytes)
{
    hook_begins();
    void *p = hooks.alloc(nbytes, hooks.user);
    hook_ends();
    return p;
}

static void *hook_realloc(void *p, size_t nbytes)
{
    hook_begins();
    void *q = hooks.realloc(p, nbytes, hooks.user);
    hook_ends();
    return q;
}

static void hook_free(void *p)
{
    hook_begins();
    hooks.free(p, hooks.user);
    hook_ends();
}

static void slot_release(void *p)
{
    slot *s = p;
    my_slot = &slots[SHARED_SLOT]; /* other destructors of this thread may still allocate */
    atomic_store_explicit(&s->taken, false, memory_order_release);
}

static void slot_key_make(void)
{
    slot_key_ok = pthread_key_create(&slot_key, slot_release) == 0;
}

static __attribute__((noinline)) slot *slot_claim(void)
{
    lz_once_run(&slot_once, slot_key_make);
    my_slot = &slots[SHARED_SLOT];
    for (int i = 0; slot_key_ok && i < SHARED_SLOT; i++) {
        bool free_one = false;
        if (!atomic_compare_exchange_strong_explicit(&slots[i].taken, &free_one, true,
                                                     memory_order_acquire, memory_order_relaxed))
            continue;
        if (pthread_setspecific(slot_key, &slots[i]) == 0)
            my_slot = &slots[i];
        else
            atomic_store_explicit(&slots[i].taken, false, memory_order_release);
        break;
    }
    return my_slot;
}

static inline slot *slot_get(void)
{
    slot *s = my_slot;
    return __builtin_expect(s != NULL, 1) ? s : slot_claim();
}

static inline void bump(slot *s, _Atomic uint64_t *counter)
{
    if (__builtin_expect(s == &slots[SHARED_SLOT], 0))
        atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    else
        atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                              memory_order_relaxed);
}

static uint64_t sum(size_t member)
{
    uint64_t n = 0;
    for (int i = 0; i < NUM_SLOTS; i++)
        n += atomic_load_explicit((_Atomic uint64_t *)((char *)&slots[i] + member),
                                  memory_order_relaxed);
    return n;
}

static __attribute__((noinline)) bool injected_failure(void)
{
    int64_t left = atomic_load_explicit(&fail_left, memory_order_relaxed);
    bool repeat = atomic_load_explicit(&fail_repeat, memory_order_relaxed);
    while (left > 0) {
        int64_t next = repeat && left == 1 ? 1 : left - 1;
        if (atomic_compare_exchange_weak_explicit(&fail_left, &left, next, memory_order_relaxed,
                                                  memory_order_relaxed))
            return left == 1;
    }
    return false;
}

/* Counts one call; true when it must fail. */
static inline bool begin(slot *s)
{
    bump(s, &s->calls);
    if (__builtin_expect(atomic_load_explicit(&fail_armed, memory_order_relaxed), 0) &&
        injected_failure()) {
        bump(s, &s->failed);
        return true;
    }
    return false;
}

static inline void *finish(slot *s, void *p)
{
    bump(s, __builtin_expect(p != NULL, 1) ? &s->born : &s->failed);
    return p;
}

void *lz_alloc(size_t nbytes)
{
    slot *s = slot_get();
    if (begin(s))
        return NULL;
    nbytes += nbytes == 0;
    return finish(s, hooks.alloc ? hook_alloc(nbytes) : malloc(nbytes));
}

void *lz_calloc(size_t n, size_t size)
{
    slot *s = slot_get();
    if (begin(s))
        return NULL;
    size_t nbytes;
    if (!lz_mul_size(n, size, &nbytes))
        return finish(s, NULL);
    nbytes += nbytes == 0;
    if (!hooks.alloc)
        return finish(s, calloc(1, nbytes));
    void *p = hook_alloc(nbytes);
    return finish(s, p ? memset(p, 0, nbytes) : NULL);
}

void *lz_realloc(void *p, size_t nbytes)
{
    if (!p)
        return lz_alloc(nbytes);
    slot *s = slot_get();
    if (begin(s))
        return NULL;
    nbytes += nbytes == 0;
    void *q = hooks.alloc ? hook_realloc(p, nbytes) : realloc(p, nbytes);
    if (!q)
        bump(s, &s->failed);
    return q;
}

void lz_free(void *p)
{
    if (!p)
        return;
    slot *s = slot_get();
    bump(s, &s->freed);
    if (hooks.alloc)
        hook_free(p);
    else
        free(p);
}

char *lz_strdup(const char *s)
{
    if (!s)
        return NULL;
    size_t n = strlen(s) + 1;
    char *p = lz_alloc(n);
    return p ? memcpy(p, s, n) : NULL;
}

bool lz_alloc_set_hooks(const lz_alloc_hooks *h)
{
    if (lz_alloc_count() != 0)
        return false;
    if (h && (!h->alloc || !h->realloc || !h->free))
        return false;
    hooks = h ? *h : (lz_alloc_hooks){0};
    return true;
}

void lz_alloc_fail_at(int64_t n, bool repeat)
{
    atomic_store_explicit(&fail_armed, false, memory_order_relaxed);
    atomic_store_explicit(&fail_left, n > 0 ? n : 0, memory_order_relaxed);
    atomic_store_explicit(&fail_repeat, repeat, memory_order_relaxed);
    atomic_store_explicit(&fail_armed, n > 0, memory_order_relaxed);
}

uint64_t lz_alloc_count(void)
{
    return sum(offsetof(slot, calls));
}

uint64_t lz_alloc_failed_count(void)
{
    return sum(offsetof(slot, failed));
}

int64_t lz_alloc_live_bytes_hint(void)
{
    return (int64_t)(sum(offsetof(slot, born)) - sum(offsetof(slot, freed)));
}

/* ---- arenas ---- */

enum { ARENA_FIRST = 4096, ARENA_MAX_BLOCK = 1 << 20 };

typedef struct lz_arena_block {
    struct lz_arena_block *next;
    size_t used, cap; /* of data */
    _Alignas(16) unsigned char data[];
} arena_block;

static arena_block *arena_block_new(lz_arena *a, size_t need)
{
    size_t cap = a->total < ARENA_FIRST ? ARENA_FIRST : a->total;
    cap = cap > ARENA_MAX_BLOCK ? ARENA_MAX_BLOCK : cap;
    bool own =
        need > cap / 4; /* a large one gets a block of its own and the open block stays open */
    size_t size = own ? need : cap - sizeof(arena_block);
    size_t nbytes;
    if (!lz_add_size(size, sizeof(arena_block), &nbytes))
        return NULL;
    arena_block *b = lz_calloc(1, nbytes);
    if (!b)
        return NULL;
    b->cap = size;
    a->total += nbytes;
    if (own && a->head) {
        b->next = a->head->next;
        a->head->next = b;
    } else {
        b->next = a->head;
        a->head = b;
    }
    return b;
}

void *lz_arena_alloc(lz_arena *a, size_t nbytes)
{
    size_t need;
    if (!lz_add_size(nbytes + (nbytes == 0), 15, &need))
        return NULL;
    need &= ~(size_t)15;
    arena_block *b = a->head;
    if (!b || b->cap - b->used < need)
        b = arena_block_new(a, need);
    if (!b)
        return NULL;
    void *p = b->data + b->used;
    b->used += need;
    a->used += need;
    return p;
}

void *lz_arena_copy(lz_arena *a, const void *p, size_t nbytes)
{
    void *q = lz_arena_alloc(a, nbytes);
    if (q && nbytes)
        memcpy(q, p, nbytes);
    return q;
}

char *lz_arena_strdup(lz_arena *a, const char *s)
{
    return s ? lz_arena_copy(a, s, strlen(s) + 1) : NULL;
}

char *lz_arena_printf(lz_arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = lz_vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = n < 0 ? NULL : lz_arena_alloc(a, (size_t)n + 1);
    if (p)
        lz_vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}

static void free_blocks(arena_block *b)
{
    for (arena_block *next; b; b = next) {
        next = b->next;
        lz_free(b);
    }
}

void lz_arena_free(lz_arena *a)
{
    free_blocks(a->head);
    *a = (lz_arena){0};
}

/* The open block stays: those before it were smaller. */
void lz_arena_reset(lz_arena *a)
{
    arena_block *b = a->head;
    if (!b)
        return;
    free_blocks(b->next);
    memset(b->data, 0, b->used);
    b->used = 0;
    b->next = NULL;
    *a = (lz_arena){.head = b, .total = b->cap + sizeof *b};
}
