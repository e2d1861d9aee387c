/* preemption.c - see preemption.h. */
#include "nn/preemption.h"
#include "base/mutex.h"
#include <errno.h>
#include <signal.h>

static lz_mutex lock = LZ_MUTEX_INIT("preemption");
static int users;
static _Atomic unsigned count;

/* A handler that the program installs over ours may go on calling it when the last manager has
 * ended. The next manager's is another function, over that one: a function that is in the chain
 * twice would never come to its end. */
enum { LEVELS = 8 };
static struct sigaction before[LEVELS]; /* written only while the level's handler is in no chain */
static int level;                       /* of the next handler */

/* May run in any thread at any moment: it counts, and calls the handler of before. */
static void handle(const struct sigaction *next, int signal, siginfo_t *info, void *context)
{
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    if (next->sa_flags & SA_SIGINFO)
        next->sa_sigaction(signal, info, context);
    else if (next->sa_handler != SIG_DFL && next->sa_handler != SIG_IGN)
        next->sa_handler(signal);
}

#define HANDLER(n)                                                                                 \
    static void handle_##n(int signal, siginfo_t *info, void *context)                             \
    {                                                                                              \
        handle(&before[n], signal, info, context);                                                 \
    }
HANDLER(0)
HANDLER(1)
HANDLER(2)
HANDLER(3)
HANDLER(4)
HANDLER(5)
HANDLER(6)
HANDLER(7)
static void (*const handler[LEVELS])(int, siginfo_t *, void *) = {
    handle_0, handle_1, handle_2, handle_3, handle_4, handle_5, handle_6, handle_7};

/* The level of a handler of ours; -1: it is none. */
static int level_of(const struct sigaction *a)
{
    for (int i = 0; i < level && (a->sa_flags & SA_SIGINFO); i++)
        if (a->sa_sigaction == handler[i])
            return i;
    return -1;
}

/* The lock is held. */
static int install(void)
{
    struct sigaction now;
    if (sigaction(SIGTERM, NULL, &now) != 0)
        return errno;
    if (level_of(&now) >= 0) /* put back by a handler that was installed over it */
        return 0;
    if (level == LEVELS)
        return ENOSPC;
    before[level] = now;
    /* what the handler of before relies on stays; calls go on after the signal */
    struct sigaction ours = {.sa_flags = (now.sa_flags & (SA_ONSTACK | SA_NODEFER)) | SA_SIGINFO |
                                         SA_RESTART,
                             .sa_mask = now.sa_mask};
    ours.sa_sigaction = handler[level];
    if (sigaction(SIGTERM, &ours, NULL) != 0)
        return errno;
    level++;
    return 0;
}

lz_status lz_preemption_begin(void)
{
    lz_mutex_lock(&lock);
    int e = users ? 0 : install();
    users += !e;
    lz_mutex_unlock(&lock);
    if (e == ENOSPC)
        return LZ_FAIL(
            LZ_EPERM,
            "SIGTERM cannot be handled: %d handlers of the program call those of managers "
            "that have ended",
            LEVELS);
    errno = e;
    return e ? LZ_FAIL(LZ_EPERM, "SIGTERM cannot be handled: %m") : LZ_OK;
}

void lz_preemption_end(void)
{
    struct sigaction now;
    lz_mutex_lock(&lock);
    if (--users == 0 && sigaction(SIGTERM, NULL, &now) == 0) {
        int top = level_of(&now);
        if (top >= 0 && sigaction(SIGTERM, &before[top], NULL) == 0)
            level = top;
    }
    lz_mutex_unlock(&lock);
}

unsigned lz_preemption_count(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed);
}
