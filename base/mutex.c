/* mutex.c - see mutex.h. With LZ_DEBUG the order of locks is kept as a relation of classes: b comes
 * after a when some thread took b while it held a. A new pair is refused when a comes after b
 * already, directly or through others. */
#include "base/mutex.h"
#include "base/alloc.h"
#include "base/fork.h"
#include <stddef.h>
#ifdef LZ_DEBUG
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#endif

/* What a thread holds, and what it has put off until it holds nothing. */
static __thread struct {
    uint32_t held; /* locks, each as often as it is taken, and open lz_put_off_begin */
    bool calling;  /* the list is being emptied, further down in the stack */
    lz_unlocked_call *first, *last;
} mine;

#ifdef LZ_DEBUG
/* ---- checks ---- */

enum { MAX_CLASSES = 192, MAX_HELD = 24 };

typedef struct held_lock {
    const void *lock;
    const char *name;
    uint32_t class_number, depth;
    bool leaf;
} held_lock;

static __thread struct {
    held_lock lock[MAX_HELD];
    uint32_t n;
} holds;

static pthread_mutex_t order_lock = PTHREAD_MUTEX_INITIALIZER;
static const char *class_name[MAX_CLASSES]; /* from 1 */
static const void *class_key[MAX_CLASSES];
static uint32_t nclass;
static _Atomic bool after[MAX_CLASSES][MAX_CLASSES]; /* [a][b]: b was taken while a was held */

static void broken(const char *what, const char *name) __attribute__((noreturn));
static void broken(const char *what, const char *name)
{
    fprintf(stderr, "lazuli: internal error: %s: %s; the thread holds:", what, name);
    for (uint32_t i = 0; i < holds.n; i++)
        fprintf(stderr, "%s %s", i ? "," : "", holds.lock[i].name);
    fprintf(stderr, "\n");
    abort();
}

/* key: NULL for mutexes, which are told apart by name; the function for lz_once. */
static uint32_t class_of(const char *name, const void *key)
{
    uint32_t c = 1;
    pthread_mutex_lock(&order_lock);
    while (c <= nclass && (class_key[c] != key || strcmp(class_name[c], name) != 0))
        c++;
    if (c > nclass && c < MAX_CLASSES) {
        class_name[c] = name;
        class_key[c] = key;
        nclass = c;
    }
    pthread_mutex_unlock(&order_lock);
    return c < MAX_CLASSES ? c : 0;
}

static uint32_t class_of_mutex(lz_mutex *m)
{
    uint32_t c = atomic_load_explicit(&m->class_number, memory_order_relaxed);
    if (!c && m->name) {
        c = class_of(m->name, NULL);
        atomic_store_explicit(&m->class_number, c, memory_order_relaxed);
    }
    return c;
}

/* Whether b comes after a; under order_lock. */
static bool comes_after(uint32_t a, uint32_t b)
{
    bool seen[MAX_CLASSES] = {false};
    uint32_t stack[MAX_CLASSES], n = 0;
    stack[n++] = a;
    seen[a] = true;
    while (n) {
        uint32_t at = stack[--n];
        for (uint32_t c = 1; c <= nclass; c++) {
            if (!after[at][c] || seen[c])
                continue;
            if (c == b)
                return true;
            seen[c] = true;
            stack[n++] = c;
        }
    }
    return false;
}

static void check_order(uint32_t c, const char *name)
{
    for (uint32_t i = 0; i < holds.n; i++) {
        uint32_t h = holds.lock[i].class_number;
        if (!h || !c || h == c || atomic_load_explicit(&after[h][c], memory_order_relaxed))
            continue;
        pthread_mutex_lock(&order_lock);
        bool wrong = comes_after(c, h);
        if (!wrong)
            after[h][c] = true;
        pthread_mutex_unlock(&order_lock);
        if (wrong)
            broken("locks are taken in either order", name);
    }
}

static held_lock *find_held(const void *lock)
{
    for (uint32_t i = holds.n; i-- > 0;)
        if (holds.lock[i].lock == lock)
            return &holds.lock[i];
    return NULL;
}

static void note_taken(const void *lock, uint32_t c, const char *name)
{
    held_lock *h = find_held(lock);
    if (h) {
        h->depth++;
        return;
    }
    if (holds.n == MAX_HELD)
        broken("a thread holds too many locks", name);
    holds.lock[holds.n++] = (held_lock){lock, name ? name : "?", c, 1, false};
}

static void note_left(const void *lock, const char *name)
{
    held_lock *h = find_held(lock);
    if (!h)
        broken("a lock is released that the thread does not hold", name ? name : "?");
    if (--h->depth)
        return;
    memmove(h, h + 1, (size_t)(&holds.lock[holds.n] - (h + 1)) * sizeof *h);
    holds.n--;
}

static bool in_leaf(void)
{
    return holds.n && holds.lock[holds.n - 1].leaf;
}

static void before_lock(lz_mutex *m)
{
    if (in_leaf())
        broken("a lock is taken under a leaf", m->name);
    if (find_held(m)) {
        if (!m->recursive)
            broken("a lock is taken twice", m->name);
        return;
    }
    check_order(class_of_mutex(m), m->name);
}

static void after_lock(lz_mutex *m)
{
    note_taken(m, class_of_mutex(m), m->name);
}

static void before_unlock(lz_mutex *m)
{
    note_left(m, m->name);
}

static void once_begins(const lz_once *o, void (*fn)(void))
{
    union {
        void (*fn)(void);
        const void *key;
    } k = {fn};
    if (find_held(o))
        broken("an initialisation waits for itself", "once");
    uint32_t c = class_of("once", k.key);
    check_order(c, "once");
    note_taken(o, c, "once");
}

static void once_ends(const lz_once *o)
{
    note_left(o, "once");
}

void lz_assert_unlocked(const char *what)
{
    if (holds.n)
        broken("a function of the program is called under a lock", what);
}

void lz_assert_no_hook(const char *function)
{
    if (lz_alloc_in_hook())
        broken("an allocator of the program calls the library", function);
}

static void set_name(lz_mutex *m, const char *name, bool recursive)
{
    m->name = name;
    m->recursive = recursive;
    atomic_init(&m->class_number, 0);
}
#else
#define before_lock(m) ((void)0)
#define after_lock(m) ((void)0)
#define before_unlock(m) ((void)0)
#define once_begins(o, fn) ((void)0)
#define once_ends(o) ((void)0)
#define set_name(m, name, recursive) ((void)(name))
#endif

/* ---- what is put off ---- */

static __attribute__((noinline)) void call_all(void)
{
    mine.calling = true;
    while (mine.first) {
        lz_unlocked_call *c = mine.first;
        mine.first = c->next;
        c->fn(c);
    }
    mine.calling = false;
}

static void entered(void)
{
    mine.held++;
}

static void left(void)
{
    if (--mine.held == 0 && __builtin_expect(mine.first != NULL, 0) && !mine.calling)
        call_all();
}

void lz_put_off_begin(void)
{
    entered();
}

void lz_put_off_end(void)
{
    left();
}

bool lz_unlocked_now(void)
{
    return mine.held == 0;
}

/* One that is made by another, further down in the stack, does not wait for the rest of the list:
 * what called for it may wait for it. */
void lz_call_unlocked(lz_unlocked_call *c)
{
#ifdef LZ_DEBUG
    if (in_leaf())
        broken("a call is put off under a leaf", "lz_call_unlocked");
#endif
    if (mine.held == 0) {
        c->fn(c);
        return;
    }
    c->next = NULL;
    if (mine.first)
        mine.last->next = c;
    else
        mine.first = c;
    mine.last = c;
}

lz_unlocked_call *lz_put_off_take(void)
{
    lz_unlocked_call *list = mine.first;
    mine.first = mine.last = NULL;
    return list;
}

void lz_put_off_give(lz_unlocked_call *list)
{
    while (list) {
        lz_unlocked_call *c = list;
        list = c->next;
        lz_call_unlocked(c);
    }
}

/* ---- locks ---- */

void lz_mutex_init(lz_mutex *m, const char *name)
{
    pthread_mutex_init(&m->m, NULL);
    set_name(m, name, false);
}

void lz_mutex_init_recursive(lz_mutex *m, const char *name)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m->m, &a);
    pthread_mutexattr_destroy(&a);
    set_name(m, name, true);
}

void lz_mutex_destroy(lz_mutex *m)
{
    pthread_mutex_destroy(&m->m);
}

/* While the library is not armed, fork waits for those that hold locks. In the child of a fork that
 * happened when it was (base/fork.h) there is one thread, and who held a lock is not there: locks
 * are neither taken nor waited for. Little of the library runs in such a child: what a callback
 * that forked returns to, and functions called at exit. */
__attribute__((noinline)) void lz_mutex_lock_unarmed(lz_mutex *m)
{
    if (lz_fork_happened())
        return;
    lz_fork_enter();
    pthread_mutex_lock(&m->m);
}

__attribute__((noinline)) void lz_mutex_unlock_unarmed(lz_mutex *m)
{
    if (lz_fork_happened())
        return;
    pthread_mutex_unlock(&m->m);
    lz_fork_leave();
}

void lz_mutex_lock(lz_mutex *m)
{
    before_lock(m);
    if (lz_fork_armed())
        pthread_mutex_lock(&m->m);
    else
        lz_mutex_lock_unarmed(m);
    after_lock(m);
    entered();
}

bool lz_mutex_trylock(lz_mutex *m)
{
    bool unarmed = !lz_fork_armed() && !lz_fork_happened();
    if (unarmed)
        lz_fork_enter();
    if (!lz_fork_happened() && pthread_mutex_trylock(&m->m) != 0) {
        if (unarmed)
            lz_fork_leave();
        return false;
    }
    after_lock(m);
    entered();
    return true;
}

void lz_mutex_unlock(lz_mutex *m)
{
    before_unlock(m);
    if (lz_fork_armed())
        pthread_mutex_unlock(&m->m);
    else
        lz_mutex_unlock_unarmed(m);
    left();
}

#ifdef LZ_DEBUG
void lz_mutex_lock_leaf(lz_mutex *m)
{
    lz_mutex_lock(m);
    holds.lock[holds.n - 1].leaf = true;
}

void lz_mutex_unlock_leaf(lz_mutex *m)
{
    lz_mutex_unlock(m);
}
#endif

void lz_cond_init(lz_cond *c)
{
    pthread_cond_init(&c->c, NULL);
}

void lz_cond_destroy(lz_cond *c)
{
    pthread_cond_destroy(&c->c);
}

void lz_cond_wait(lz_cond *c, lz_mutex *m)
{
    before_unlock(m);
    if (!lz_fork_happened())
        pthread_cond_wait(&c->c, &m->m);
    after_lock(m);
}

void lz_cond_signal(lz_cond *c)
{
    pthread_cond_signal(&c->c);
}

void lz_cond_broadcast(lz_cond *c)
{
    pthread_cond_broadcast(&c->c);
}

void lz_once_first(lz_once *o, void (*fn)(void))
{
    once_begins(o, fn);
    bool unarmed = !lz_fork_armed() && !lz_fork_happened();
    if (unarmed)
        lz_fork_enter();
    entered();
    (void)pthread_once(&o->once, fn);
    atomic_store_explicit(&o->done, true, memory_order_release);
    once_ends(o);
    if (unarmed)
        lz_fork_leave();
    left();
}
