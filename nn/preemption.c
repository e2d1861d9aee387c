/* preemption.c - see preemption.h. */
#include "nn/preemption.h"
#include "base/mutex.h"
#include <errno.h>
#include <signal.h>

static lz_mutex lock = LZ_MUTEX_INIT("preemption");
static int users;
static struct sigaction before; /* written only while the handler is not in place */
static _Atomic unsigned count;

/* May run in any thread at any moment: it counts, and nothing else. */
static void handle(int signal, siginfo_t *info, void *context)
{
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(signal, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(signal);
}

static bool is_ours(const struct sigaction *a)
{
    return (a->sa_flags & SA_SIGINFO) && a->sa_sigaction == handle;
}

/* The lock is held. */
static int install(void)
{
    struct sigaction now;
    if (sigaction(SIGTERM, NULL, &now) != 0)
        return errno;
    if (is_ours(&now)) /* put back by a handler that was installed over it */
        return 0;
    before = now;
    /* what the handler of before relies on stays; calls go on after the signal */
    struct sigaction ours = {.sa_flags = (now.sa_flags & (SA_ONSTACK | SA_NODEFER)) | SA_SIGINFO |
                                         SA_RESTART,
                             .sa_mask = now.sa_mask};
    ours.sa_sigaction = handle;
    return sigaction(SIGTERM, &ours, NULL) != 0 ? errno : 0;
}

lz_status lz_preemption_begin(void)
{
    lz_mutex_lock(&lock);
    int e = users ? 0 : install();
    users += !e;
    lz_mutex_unlock(&lock);
    errno = e;
    return e ? LZ_FAIL(LZ_EPERM, "SIGTERM cannot be handled: %m") : LZ_OK;
}

void lz_preemption_end(void)
{
    struct sigaction now;
    lz_mutex_lock(&lock);
    if (--users == 0 && sigaction(SIGTERM, NULL, &now) == 0 && is_ours(&now))
        (void)sigaction(SIGTERM, &before, NULL);
    lz_mutex_unlock(&lock);
}

unsigned lz_preemption_count(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed);
}
