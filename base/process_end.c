/* process_end.c - see process_end.h. glibc: __cxa_thread_atexit_impl, which exit serves first, for
 * the thread that calls it. */
#include "base/process_end.h"
#include "base/thread.h"
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

/* ---- work ---- */

/* How many are left of process `own`: what `state` counts else was begun in a parent, whose threads
 * are not here. */
static uint32_t left_of(uint64_t state, uint32_t own)
{
    return state >> 32 == own ? (uint32_t)state : 0;
}

void lz_work_begin(lz_work_count *c)
{
    uint32_t own = (uint32_t)getpid();
    uint64_t was = atomic_load(&c->state);
    while (!atomic_compare_exchange_weak(&c->state, &was,
                                         (uint64_t)own << 32 | (left_of(was, own) + 1)))
        ;
}

void lz_work_end(lz_work_count *c)
{
    uint32_t own = (uint32_t)getpid();
    uint64_t was = atomic_load(&c->state);
    do
        if (!left_of(was, own))
            return; /* a parent began it */
    while (!atomic_compare_exchange_weak(&c->state, &was, was - 1));
    atomic_fetch_add(&c->ended, 1);
    lz_futex_wake(&c->ended, INT_MAX);
}

bool lz_work_wait(lz_work_count *c, uint32_t mine)
{
    static const int64_t LOOK_NS = 100000000, STILL_NS = INT64_C(3000000000),
                         MOST_NS = INT64_C(30000000000), USED_NS = 1000000;
    int64_t start = lz_now_ns(), cpu = lz_cpu_ns(), moved = start;
    for (;;) {
        uint32_t ended = atomic_load(&c->ended); /* before the count: an end after it wakes */
        if (left_of(atomic_load(&c->state), (uint32_t)getpid()) <= mine)
            return true;
        (void)lz_futex_wait(&c->ended, ended, LOOK_NS);
        int64_t now = lz_now_ns(), used = lz_cpu_ns();
        if (used - cpu > USED_NS) {
            cpu = used;
            moved = now;
        }
        if (now - moved > STILL_NS || now - start > MOST_NS)
            return false;
    }
}

/* ---- exit waits ---- */

static lz_work_count held;
static _Thread_local uint32_t
    held_here; /* the thread that holds it back may be the one that exits */

void lz_exit_hold(void)
{
    held_here++;
    lz_work_begin(&held);
}

void lz_exit_let(void)
{
    held_here--;
    lz_work_end(&held);
}

void lz_exit_hold_for_another(void)
{
    lz_work_begin(&held);
}

void lz_exit_let_for_another(void)
{
    lz_work_end(&held);
}

static void thread_ends(void *unused)
{
    (void)unused;
    (void)lz_work_wait(&held, held_here);
}

extern int __cxa_thread_atexit_impl(void (*fn)(void *), void *object, void *library); /* glibc's */
extern void *__dso_handle;

void lz_exit_guard(void)
{
    static _Thread_local bool guarded;
    if (__builtin_expect(guarded, 1))
        return;
    guarded = true;
    (void)__cxa_thread_atexit_impl(thread_ends, NULL, &__dso_handle);
}

/* ---- the loader ---- */

static _Atomic bool destroyed;

__attribute__((destructor)) static void loader_ends(void)
{
    atomic_store(&destroyed, true);
    (void)lz_work_wait(&held, held_here);
}

static int has_interpreter(struct dl_phdr_info *program, size_t size, void *found)
{
    (void)size;
    for (int i = 0; i < program->dlpi_phnum; i++)
        *(bool *)found |= program->dlpi_phdr[i].p_type == PT_INTERP;
    return 1; /* the first is the program */
}

/* A program that is linked statically has a dlopen, but the C library that a library brings along
 * meets the one in the program, and crashes. */
static bool is_static(void)
{
    bool found = false;
    (void)dl_iterate_phdr(has_interpreter, &found);
    return !found;
}

void *lz_open_library(const char *name, int flags, const char **why)
{
    void *h = NULL;
    *why = "the program is linked statically (-static), and so cannot load libraries";
    if (is_static())
        return NULL;
    *why = "the process ends";
    lz_exit_hold();
    if (!atomic_load(&destroyed)) {
        h = dlopen(name, flags);
        const char *error = h ? NULL : dlerror();
        *why = error ? error : "unknown error";
    }
    lz_exit_let();
    return h;
}

const char *lz_library_symbols(void *library, const lz_symbol *all, size_t n, void *table)
{
    for (size_t i = 0; i < n; i++) {
        void *p = dlsym(library, all[i].name);
        if (!p && !all[i].optional)
            return all[i].name;
        memcpy((char *)table + all[i].at, &p, sizeof p);
    }
    return NULL;
}

/* While it is loaded, and not when it is first used: at the end of the process, which another
 * thread may begin at any time, the loader calls the destructors of what is loaded, and to open it
 * afterwards would call its constructors again, and those of what it needs. */
static void stay(void)
{
    Dl_info at;
    struct link_map *map = NULL;
    if (dladdr1(&held, &at, (void **)&map, RTLD_DL_LINKMAP) && map && map->l_name[0])
        (void)dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* The thread that loads the library is the main thread of most processes, which may return from
 * main without having called a function of ours. */
__attribute__((constructor)) static void guard_loader(void)
{
    stay();
    lz_exit_guard();
}
