/* watch.c - the public calls by which a program lets itself be watched, and traces itself on a
 * thread of its own. The thread is not armed (base/fork.h), as that of base/timeline/timeline.c is
 * not. */
#include "base/log.h"
#include "base/thread.h"
#include "runtime/graph/node.h"
#include "runtime/watch/capture.h"
#include "runtime/watch/server.h"
#include "runtime/watch/trace_folder.h"
#include <lazuli/profiler.h>
#include <stdlib.h>
#include <string.h>

enum { TICK_MS = 100, LOGDIR = 3500 };

static struct {
    lz_mutex lock;
    lz_cond changed;
    bool running; /* the thread is */
    bool joined;  /* nothing is left of it */
    bool any;     /* there was one */
    pthread_t thread;
    _Atomic uint32_t stop;
    int64_t end_ns;
    lz_watch_capture capture;
    lz_trace_folder *folder;
    lz_error result; /* of the last one */
} detached = {.lock = LZ_MUTEX_INIT("detached trace"), .changed = LZ_COND_INIT, .joined = true};
/* Of the process this one was forked from: not this one's to free, and not leaked. */
__attribute__((used)) static lz_trace_folder *of_parents;
static lz_once armed = LZ_ONCE_INIT;

/* ---- the server ---- */

lz_status lz_start_server(int port)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_status s = port < 0 || port > UINT16_MAX
                      ? LZ_FAIL(LZ_EINVAL, "port %d is not between 0 and 65535", port)
                      : lz_server_start("127.0.0.1", port);
    return lz_error_annotated("lz_start_server", s);
}

int lz_server_port(void)
{
    LZ_PUBLIC(0);
    return lz_server_bound();
}

lz_status lz_stop_server(void)
{
    LZ_PUBLIC(LZ_EFORK);
    return lz_error_annotated("lz_stop_server", lz_server_end());
}

/* ---- a trace ---- */

static lz_status keep(const void *p, size_t n, void *user)
{
    return lz_trace_folder_add(user, p, n);
}

static void *trace_main(void *unused)
{
    (void)unused;
    lz_status s = LZ_OK;
    lz_error first;
    lz_error_clear();
    while (s == LZ_OK && !atomic_load(&detached.stop)) {
        int64_t left = detached.end_ns - lz_now_ns(), tick = (int64_t)TICK_MS * 1000000;
        if (left <= 0)
            break;
        (void)lz_futex_wait(&detached.stop, 0, left < tick ? left : tick);
        s = lz_watch_capture_take(&detached.capture, keep, detached.folder);
        lz_trace_folder_flush(detached.folder);
    }
    lz_watch_capture_stop(&detached.capture);
    if (s == LZ_OK)
        s = lz_watch_capture_take(&detached.capture, keep, detached.folder);
    first = *lz_error_get();
    lz_status closed =
        lz_trace_folder_close(detached.folder, lz_watch_capture_dropped(&detached.capture));
    lz_watch_capture_end(&detached.capture);
    lz_mutex_lock(&detached.lock);
    detached.result = s != LZ_OK ? first : *lz_error_get();
    if (s == LZ_OK && closed == LZ_OK)
        detached.result.status = LZ_OK;
    detached.folder = NULL;
    detached.running = false;
    lz_cond_broadcast(&detached.changed);
    lz_mutex_unlock(&detached.lock);
    return NULL;
}

/* Under the lock: the thread has ended, or is about to without it. */
static void join(void)
{
    if (!detached.joined)
        (void)pthread_join(detached.thread, NULL);
    detached.joined = true;
}

static void at_exit(void)
{
    if (lz_fork_happened())
        return;
    lz_mutex_lock(&detached.lock);
    atomic_store(&detached.stop, 1);
    lz_futex_wake(&detached.stop, 1);
    while (detached.running)
        lz_cond_wait(&detached.changed, &detached.lock);
    join();
    bool failed = detached.any && detached.result.status != LZ_OK;
    lz_mutex_unlock(&detached.lock);
    if (failed)
        LZ_WARN("trace", "%s", detached.result.message);
}

/* As in base/timeline/timeline.c. */
static void in_child(void)
{
    if (detached.running && detached.folder) {
        lz_trace_folder_forget(detached.folder);
        of_parents = detached.folder;
    }
    detached.folder = NULL;
    detached.running = detached.any = false;
    detached.joined = true;
}

static void arm(void)
{
    (void)atexit(at_exit);
    (void)pthread_atfork(NULL, NULL, in_child);
}

/* Under the lock. */
static lz_status start(const char *logdir, int64_t ms)
{
    lz_watch_origin o;
    if (detached.running)
        return LZ_FAIL(LZ_ESTATE, "a detached trace runs already, to %s",
                       lz_trace_folder_path(detached.folder));
    join();
    detached.any = false;
    LZ_TRY(lz_watch_capture_begin(&detached.capture));
    lz_watch_capture_origin(&detached.capture, &o);
    lz_status s = lz_trace_folder_open(logdir, &o, &detached.folder);
    atomic_store(&detached.stop, 0);
    detached.end_ns = o.began_ns + ms * 1000000;
    detached.running = s == LZ_OK;
    if (s == LZ_OK)
        s = lz_thread_start_unarmed(&detached.thread, "lz-capture", trace_main, NULL);
    detached.any = s == LZ_OK;
    detached.joined = s != LZ_OK;
    if (s == LZ_OK)
        return s;
    LZ_QUIETLY {
        detached.running = false;
        lz_watch_capture_stop(&detached.capture);
        if (detached.folder)
            (void)lz_trace_folder_close(detached.folder, 0);
        lz_watch_capture_end(&detached.capture);
        detached.folder = NULL;
    }
    return s;
}

lz_status lz_trace_detached(const char *logdir, int64_t duration_ms)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_status s = LZ_OK;
    if (!logdir)
        s = LZ_FAIL(LZ_ENULL, "logdir is NULL");
    else if (!logdir[0] || strlen(logdir) > LOGDIR)
        s = LZ_FAIL(LZ_EINVAL, "logdir is %s", logdir[0] ? "too long" : "empty");
    else if (duration_ms < 1 || duration_ms > LZ_WATCH_LONGEST_MS)
        s = LZ_FAIL(LZ_EINVAL, "duration_ms is %lld, not between 1 and %d", (long long)duration_ms,
                    LZ_WATCH_LONGEST_MS);
    if (s == LZ_OK) {
        lz_once_run(&armed, arm);
        lz_mutex_lock(&detached.lock);
        s = start(logdir, duration_ms);
        lz_mutex_unlock(&detached.lock);
    }
    return lz_error_annotated("lz_trace_detached", s);
}

lz_status lz_trace_detached_wait(void)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_mutex_lock(&detached.lock);
    while (detached.running)
        lz_cond_wait(&detached.changed, &detached.lock);
    lz_status s = LZ_OK;
    if (!detached.any) {
        s = LZ_FAIL(LZ_ESTATE, "no detached trace was started");
    } else {
        join();
        s = detached.result.status;
        if (s != LZ_OK)
            lz_error_set(&detached.result);
    }
    lz_mutex_unlock(&detached.lock);
    return lz_error_annotated("lz_trace_detached_wait", s);
}
