/* fork.c - see fork.h. Linux: madvise(MADV_WIPEONFORK), since 4.14; where there is none, or pages
 * are larger, the handler of pthread_atfork alone tells the child, which _Fork() and clone() do not
 * call. */
#include "base/fork.h"
#include "base/thread.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

lz_fork_page lz_fork_state;
static atomic_bool armed; /* stays in the child */

/* While the library is not armed: threads that hold its locks, and threads that are about to
 * fork. */
static _Atomic uint32_t holders, forking;
static __thread uint32_t depth; /* locks of this thread */

/* ---- telling ---- */

/* `here` is 0 before this library's constructor has run, too: other constructors may call it. */
bool lz_fork_happened_slow(void)
{
    if (atomic_load_explicit(&armed, memory_order_relaxed))
        return true;
    atomic_store_explicit(&lz_fork_state.here, LZ_FORK_OPEN, memory_order_relaxed);
    return false;
}

/* In this order, so that `here` is 0 and `armed` set only in a child. */
void lz_fork_arm(void)
{
    if (atomic_load(&armed))
        return;
    if (sysconf(_SC_PAGESIZE) == LZ_FORK_PAGE)
        (void)madvise(&lz_fork_state, LZ_FORK_PAGE, MADV_WIPEONFORK);
    atomic_store(&lz_fork_state.here, LZ_FORK_ARMED);
    atomic_store(&armed, true);
    lz_futex_wake(&holders, INT_MAX); /* who waits in before_fork need not wait any longer */
}

lz_status lz_fork_refuse(const char *function, const lz_site *site)
{
    lz_status s = LZ_FAIL(LZ_EFORK,
                          "process %ld was forked after Lazuli had been initialised in its parent; "
                          "initialise after the fork, or exec a new program",
                          (long)getpid());
    size_t n = function ? strlen(function) : 0;
    if (n > 9 && memcmp(function + n - 9, "_typed_at", 9) == 0) /* what lz_from_host calls */
        n -= 9;
    else if (n > 3 && memcmp(function + n - 3, "_at", 3) == 0) /* lz_add_at is the user's lz_add */
        n -= 3;
    char op[64];
    snprintf(op, sizeof op, "%.*s", (int)n, function ? function : "");
    lz_error_annotate(n ? op : NULL, site);
    return s;
}

/* ---- a fork while the library is not armed ---- */

void lz_fork_enter(void)
{
    if (depth++)
        return;
    for (;;) {
        atomic_fetch_add(&holders, 1);
        uint32_t n = atomic_load(&forking);
        if (!n || atomic_load(&armed))
            return;
        if (atomic_fetch_sub(&holders, 1) == 1)
            lz_futex_wake(&holders, INT_MAX);
        (void)lz_futex_wait(&forking, n, -1);
    }
}

void lz_fork_leave(void)
{
    if (!depth || --depth)
        return;
    (void)atomic_fetch_sub(&holders, 1);
    if (atomic_load(&forking))
        lz_futex_wake(&holders, INT_MAX);
}

/* A thread that forks inside of a lock of its own, in a callback, waits for the others only. */
static void before_fork(void)
{
    atomic_fetch_add(&forking, 1);
    for (;;) {
        uint32_t n = atomic_load(&holders);
        if (n <= (depth ? 1 : 0) || atomic_load(&armed))
            return;
        (void)lz_futex_wait(&holders, n, -1);
    }
}

static void after_fork_in_parent(void)
{
    if (atomic_fetch_sub(&forking, 1) == 1)
        lz_futex_wake(&forking, INT_MAX);
}

static void after_fork_in_child(void)
{
    atomic_store(&forking, 0);
    atomic_store(&holders, depth ? 1 : 0);
    if (atomic_load(&armed))
        atomic_store(&lz_fork_state.here, 0);
}

static __attribute__((constructor)) void register_handlers(void)
{
    uint32_t none = 0;
    (void)atomic_compare_exchange_strong(&lz_fork_state.here, &none, LZ_FORK_OPEN);
    (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
