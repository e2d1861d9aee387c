/* fork.h - what the library does about fork(). A child has one thread: the devices' threads, and
 * whoever held a lock in the parent, are not there. So a child of a process whose library is armed
 * (it has started a device or a thread, but for one of lz_thread_start_unarmed) is refused
 * everything at the public boundary, before a lock is taken or anything is waited for: LZ_PUBLIC is
 * the first line of every public function, except those of abi/pure.txt; tools/lint.sh and
 * test/api/fork.sh see to it. A child forked before that finds a library that works: while it is
 * not armed, fork() waits until no thread holds a lock of it (lz_fork_enter, called by
 * base/mutex.h).
 * Threads: everything here is thread-safe. */
#ifndef LZ_BASE_FORK_H
#define LZ_BASE_FORK_H
#include "base/status.h"
#include <stdatomic.h>

/* A page of its own, which the kernel empties in a child (MADV_WIPEONFORK), however it was made:
 * by fork(), _Fork() or clone(). `here`: LZ_FORK_OPEN or LZ_FORK_ARMED where the library may be
 * used; 0 in a child that may not, and before anything was called. */
enum { LZ_FORK_PAGE = 4096, LZ_FORK_OPEN = 1, LZ_FORK_ARMED = 2 };
typedef struct lz_fork_page {
    _Alignas(LZ_FORK_PAGE) _Atomic uint32_t here;
} lz_fork_page;
extern lz_fork_page lz_fork_state;

/* The library starts its first device or thread: no child forked from now on can use it. */
void lz_fork_arm(void);
bool lz_fork_happened_slow(void);
/* Whether this process was forked from one that had armed. For ever. One relaxed load. */
static inline bool lz_fork_happened(void)
{
    return __builtin_expect(atomic_load_explicit(&lz_fork_state.here, memory_order_relaxed) == 0 &&
                                lz_fork_happened_slow(),
                            0);
}
/* With LZ_DEBUG the process ends when an allocator of the program's calls the library, under whose
 * locks it may be. */
#ifdef LZ_DEBUG
void lz_assert_no_hook(const char *function);
#else
#define lz_assert_no_hook(function) ((void)0)
#endif
lz_status lz_fork_refuse(const char *function, const lz_site *site);
/* LZ_OK; LZ_EFORK recorded in such a child. */
static inline lz_status lz_fork_check(void)
{
    return lz_fork_happened() ? lz_fork_refuse(NULL, NULL) : LZ_OK;
}

/* First in every public function: in such a child it records LZ_EFORK, as an error of this
 * function, and returns the value: what its failures return. (What else they do, such as calling
 * the caller's release function, stands before a comma in it.) */
#define LZ_PUBLIC_FROM(site, ...)                                                                  \
    do {                                                                                           \
        lz_assert_no_hook(__func__);                                                               \
        if (lz_fork_happened()) {                                                                  \
            (void)lz_fork_refuse(__func__, (site));                                                \
            return __VA_ARGS__;                                                                    \
        }                                                                                          \
    } while (0)
#define LZ_PUBLIC(...) LZ_PUBLIC_FROM(NULL, __VA_ARGS__)
#define LZ_PUBLIC_AT(...) LZ_PUBLIC_FROM(site, __VA_ARGS__) /* of one that takes its call site */
/* The tensor that such a function returns. It is there without being made: the error tensor that
 * stands for "no memory for another handle" (runtime/graph/handle.c); all that the child may call
 * with it gives LZ_EFORK. */
#define LZ_FORK_TENSOR ((lz_tensor *)(uintptr_t)(UINT64_C(1) << 32))

/* Whether the library is armed, and this is no such child: the usual case. One relaxed load. */
static inline bool lz_fork_armed(void)
{
    return __builtin_expect(
        atomic_load_explicit(&lz_fork_state.here, memory_order_relaxed) == LZ_FORK_ARMED, 1);
}
/* Around everything that holds a lock while the library is not armed. Nests. */
void lz_fork_enter(void);
void lz_fork_leave(void);
#endif
