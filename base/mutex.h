/* mutex.h - the library's locks, and what must wait until a thread holds none: every function of
 * the program's (log callback, release function, deleter) is called with no lock held, so it may
 * call the library.
 * In release a lock is pthread's and a count per thread. With LZ_DEBUG a thread also knows the
 * names of those it holds, and the process ends with their names when the program is called under
 * one, when a thread takes one twice, and when two classes of locks are taken in either order (a
 * deadlock of two threads, even if it has not happened). Locks of one name are one class.
 * Threads: thread-safe. Nothing here allocates. */
#ifndef LZ_BASE_MUTEX_H
#define LZ_BASE_MUTEX_H
#include "base/fork.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct lz_mutex {
    pthread_mutex_t m;
#ifdef LZ_DEBUG
    const char *name;
    _Atomic uint32_t class_number; /* 0: not known yet */
    bool recursive;
#endif
} lz_mutex;
typedef struct lz_cond {
    pthread_cond_t c;
} lz_cond;

/* name: of the class, a literal */
#ifdef LZ_DEBUG
#define LZ_MUTEX_INIT(name_)                                                                       \
    {                                                                                              \
        .m = PTHREAD_MUTEX_INITIALIZER, .name = (name_)                                            \
    }
#else
#define LZ_MUTEX_INIT(name_)                                                                       \
    {                                                                                              \
        .m = PTHREAD_MUTEX_INITIALIZER                                                             \
    }
#endif
#define LZ_COND_INIT                                                                               \
    {                                                                                              \
        .c = PTHREAD_COND_INITIALIZER                                                              \
    }

void lz_mutex_init(lz_mutex *m, const char *name);
void lz_mutex_init_recursive(lz_mutex *m, const char *name);
void lz_mutex_destroy(lz_mutex *m);
void lz_mutex_lock(lz_mutex *m);
bool lz_mutex_trylock(lz_mutex *m); /* whether it is taken now */
/* Runs what the thread has put off (lz_call_unlocked) when this was its last lock. */
void lz_mutex_unlock(lz_mutex *m);
/* A leaf: a section of a few instructions that calls nothing and takes no other lock, in which
 * nothing can be put off. It costs what pthread's costs, without the count. */
#ifdef LZ_DEBUG
void lz_mutex_lock_leaf(lz_mutex *m);
void lz_mutex_unlock_leaf(lz_mutex *m);
#else
void lz_mutex_lock_unarmed(lz_mutex *m);
void lz_mutex_unlock_unarmed(lz_mutex *m);
static inline void lz_mutex_lock_leaf(lz_mutex *m)
{
    if (__builtin_expect(lz_fork_armed(), 1))
        pthread_mutex_lock(&m->m);
    else
        lz_mutex_lock_unarmed(m);
}
static inline void lz_mutex_unlock_leaf(lz_mutex *m)
{
    if (__builtin_expect(lz_fork_armed(), 1))
        pthread_mutex_unlock(&m->m);
    else
        lz_mutex_unlock_unarmed(m);
}
#endif
void lz_cond_init(lz_cond *c);
void lz_cond_destroy(lz_cond *c);
void lz_cond_wait(lz_cond *c, lz_mutex *m);
void lz_cond_signal(lz_cond *c);
void lz_cond_broadcast(lz_cond *c);

/* Runs a function once in the process; who comes meanwhile waits, so it counts as a lock. */
typedef struct lz_once {
    pthread_once_t once;
    atomic_bool done;
} lz_once;
#define LZ_ONCE_INIT                                                                               \
    {                                                                                              \
        PTHREAD_ONCE_INIT, false                                                                   \
    }
void lz_once_first(lz_once *o, void (*fn)(void));
static inline void lz_once_run(lz_once *o, void (*fn)(void))
{
    if (__builtin_expect(!atomic_load_explicit(&o->done, memory_order_acquire), 0))
        lz_once_first(o, fn);
}

/* ---- calling the program ---- */

/* Between these the thread does what others wait for, such as compiling a program, without a lock:
 * what lz_call_unlocked is given is put off as it is under a lock. They nest. */
void lz_put_off_begin(void);
void lz_put_off_end(void);

/* A call that is made when the calling thread holds no lock: at once, or when it releases its last
 * one, in the order given. The struct is the caller's and must live until fn is called, which may
 * free it. fn finds the thread's error record as it is then, and must leave it so. */
typedef struct lz_unlocked_call {
    struct lz_unlocked_call *next;
    void (*fn)(struct lz_unlocked_call *c);
} lz_unlocked_call;
void lz_call_unlocked(lz_unlocked_call *c);
/* Whether lz_call_unlocked would call at once. */
bool lz_unlocked_now(void);
/* Moves what this thread has put off to another one, which has waited for it. */
lz_unlocked_call *lz_put_off_take(void);
void lz_put_off_give(lz_unlocked_call *list);

/* Before every call of a function of the program's: `what` is called. With LZ_DEBUG the process
 * ends when the thread holds a lock. */
#ifdef LZ_DEBUG
void lz_assert_unlocked(const char *what);
#else
#define lz_assert_unlocked(what) ((void)0)
#endif
#endif
