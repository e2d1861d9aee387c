/* main_end.c - a program whose main ends by pthread_exit goes on as long as it has threads, and the
 * library's, which only wait for work, would keep it for ever; they block all signals, so nothing
 * but SIGKILL would end it. Then one more thread is started, which stands in for main:
 *  - it has main's signal mask: what main would have taken (SIGTERM, SIGINT) is still taken, and
 *    what the program kept for a thread of its own that calls sigwait still is;
 *  - it ends the process with exit(0), as the C library does where the last thread ends, when no
 *    thread but the library's is left.
 * OpenMP's threads inherit the mask of whoever starts them, so handlers of the program may run in
 * any of them; here they run in a thread of the library only when there is no main any more.
 * Linux: /proc/self/stat; where there is none, signals are taken, and the process stays. */
#include "base/main_end.h"
#include "base/file_io.h"
#include "base/text.h"
#include "base/thread.h"
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_key_t key;
static bool key_ok;
static _Atomic int running; /* threads of the library */
static atomic_bool ended;   /* main has; `mask` is its */
static sigset_t mask;

/* Threads of the process, main's remains among them; 0: unknown. */
static long count_threads(void)
{
    char text[1024];
    if (!lz_file_text("/proc/self/stat", text, sizeof text))
        return 0;
    /* proc(5): the name, in parentheses, is the 2nd field; the number of threads is the 20th */
    const char *p = strrchr(text, ')');
    for (int field = 2; p && field < 20; field++)
        p = strchr(p + 1, ' ');
    uint64_t n = 0;
    return p && lz_text_digits(p + 1, 20, &n) && n < LONG_MAX ? (long)n : 0;
}

static void *stand_in(void *unused)
{
    enum { FIRST_MS = 10, LAST_MS = 250 };
    (void)unused;
    (void)pthread_setname_np(pthread_self(), "lz-main-ended");
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    for (long ms = FIRST_MS;; ms = 2 * ms < LAST_MS ? 2 * ms : LAST_MS) {
        (void)nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
        /* Read in this order: a thread of ours counts itself after it has begun and until it is
         * about to end, so equality means that there are no others. */
        int ours = atomic_load(&running);
        if (count_threads() == ours + 2) /* this thread, and what is left of main */
            exit(0);
    }
    return NULL;
}

static void start_stand_in(void)
{
    static atomic_bool started;
    if (lz_fork_happened() || atomic_exchange(&started, true))
        return;
    pthread_t t;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (pthread_create(&t, NULL, stand_in, NULL) == 0)
        (void)pthread_detach(t);
    else
        atomic_store(&started, false);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Called when main ends by pthread_exit, not when it returns or calls exit. */
static void main_ends(void *unused)
{
    (void)unused;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    atomic_store(&ended, true);
    if (atomic_load(&running))
        start_stand_in();
}

void lz_main_end_thread(bool begins)
{
    (void)atomic_fetch_add(&running, begins ? 1 : -1);
    if (begins && atomic_load(&ended))
        start_stand_in();
}

/* In a forked child the thread that forked is main. */
static void in_child(void)
{
    atomic_store(&running, 0);
    atomic_store(&ended, false);
    if (key_ok)
        (void)pthread_setspecific(key, &key);
}

static __attribute__((constructor)) void watch_main(void)
{
    key_ok = pthread_key_create(&key, main_ends) == 0;
    if (key_ok && gettid() == getpid()) /* else the library was opened by another thread */
        (void)pthread_setspecific(key, &key);
    (void)pthread_atfork(NULL, NULL, in_child);
}
