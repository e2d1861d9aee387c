/* log.c - messages to the user. A line is formatted on the stack and written by one write(2), so
 * lines of several threads do not mix. The callback and its argument are read together under a
 * sequence number: no lock that a fork could leave taken. A message that comes under a lock is
 * kept until the thread holds none, since the callback may call the library; one that comes from
 * within the callback goes to stderr, so that there is no recursion. Threads: thread-safe. A
 * message already under way may still reach the callback that was just replaced. */
#include "base/log.h"
#include "base/alloc.h"
#include "base/callout.h"
#include "base/config.h"
#include "base/fork.h"
#include "base/mutex.h"
#include "base/text.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 1024 };

static lz_mutex set_lock = LZ_MUTEX_INIT("log");
static _Atomic unsigned seq;
static _Atomic(lz_log_fn) callback;
static _Atomic(void *) callback_user;

static const char *const level_names[] = {"error", "warn", "info", "debug"};

/* LAZULI_LOG as a level; an unknown word counts as warn (config.c says so when it reads it). */
static lz_log_level level_now(void)
{
    const char *s = lz_cfg_str(LZ_OPT_LOG);
    switch (s[0] | 32) {
    case 'e':
        return LZ_LOG_ERROR;
    case 'i':
        return LZ_LOG_INFO;
    case 'd':
        return LZ_LOG_DEBUG;
    default:
        return LZ_LOG_WARN;
    }
}

void lz_log_set_callback(lz_log_fn fn, void *user)
{
    lz_mutex_lock(&set_lock);
    unsigned s = atomic_load_explicit(&seq, memory_order_relaxed);
    atomic_store_explicit(&seq, s + 1, memory_order_seq_cst);
    atomic_store_explicit(&callback, fn, memory_order_seq_cst);
    atomic_store_explicit(&callback_user, user, memory_order_seq_cst);
    atomic_store_explicit(&seq, s + 2, memory_order_seq_cst);
    lz_mutex_unlock(&set_lock);
}

static lz_log_fn get_callback(void **user)
{
    for (;;) {
        unsigned s = atomic_load_explicit(&seq, memory_order_seq_cst);
        lz_log_fn fn = atomic_load_explicit(&callback, memory_order_seq_cst);
        *user = atomic_load_explicit(&callback_user, memory_order_seq_cst);
        if (!(s & 1) && atomic_load_explicit(&seq, memory_order_seq_cst) == s)
            return fn;
        if (lz_fork_happened())
            return NULL; /* it was being set in the parent, and for ever will be here */
    }
}

bool lz_log_enabled(lz_log_level level)
{
    return level <= level_now();
}

static void write_all(const char *p, size_t n)
{
    while (n > 0) {
        ssize_t w = write(STDERR_FILENO, p, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            return;
        p += w;
        n -= (size_t)w;
    }
}

static void to_stderr(lz_log_level level, const char *module, const char *message)
{
    char line[LINE_BYTES + 1];
    const char *name = (unsigned)level < 4 ? level_names[level] : "?";
    int n = snprintf(line, LINE_BYTES, "lazuli: %s: %s: %s", name, module ? module : "?", message);
    if (n < 0)
        return;
    size_t len = n < LINE_BYTES ? (size_t)n : LINE_BYTES - 1;
    if (len == LINE_BYTES - 1)
        len--; /* the newline counts as one of the 1,023 bytes */
    line[len++] = '\n';
    write_all(line, len);
}

/* ---- delivery ---- */

typedef struct message {
    lz_unlocked_call call;
    lz_log_level level;
    const char *module;
    char text[];
} message;

static __thread bool inside; /* the callback */

static void deliver(lz_log_level level, const char *module, const char *text)
{
    void *user;
    lz_log_fn fn = get_callback(&user);
    if (!fn || inside) {
        to_stderr(level, module, text);
        return;
    }
    inside = true;
    LZ_CALL_OUT("the log callback")
    fn(level, module ? module : "?", text, user);
    inside = false;
}

static void deliver_kept(lz_unlocked_call *c)
{
    message *m = (message *)c;
    int saved = errno;
    deliver(m->level, m->module, m->text);
    errno = saved;
    lz_free(m);
}

/* False when there is no memory. */
static bool keep(lz_log_level level, const char *module, const char *text)
{
    size_t n = strlen(text) + 1;
    message *m = lz_alloc(sizeof *m + n);
    if (!m)
        return false;
    m->call.fn = deliver_kept;
    m->level = level;
    m->module = module;
    memcpy(m->text, text, n);
    lz_call_unlocked(&m->call);
    return true;
}

static void pass_on(lz_log_level level, const char *module, const char *text)
{
    void *user;
    if (!get_callback(&user) || inside)
        to_stderr(level, module, text);
    else if (lz_unlocked_now())
        deliver(level, module, text);
    else if (!keep(level, module, text))
        to_stderr(level, module, text);
}

static void log_to(void (*sink)(lz_log_level, const char *, const char *), lz_log_level level,
                   const char *module, const char *fmt, va_list ap)
{
    if (!lz_log_enabled(level))
        return;
    int saved = errno;
    char text[LINE_BYTES];
    if (lz_vsnprintf(text, sizeof text, fmt, ap) >= 0)
        sink(level, module, text);
    errno = saved;
}

void lz_logf(lz_log_level level, const char *module, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    log_to(pass_on, level, module, fmt, ap);
    va_end(ap);
}

void lz_log_to_stderr(lz_log_level level, const char *module, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    log_to(to_stderr, level, module, fmt, ap);
    va_end(ap);
}
