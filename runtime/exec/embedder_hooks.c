/* embedder_hooks.c - hooks of the embedding program: its allocator and its log callback.
 * include/lazuli/device.h. */
#include "base/alloc.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/status.h"
#include <lazuli/device.h>

static lz_status set_allocator(const lz_allocator *a)
{
    if (a && a->struct_size < sizeof *a)
        return LZ_FAIL(LZ_EINVAL, "struct_size is %zu: set it to sizeof(lz_allocator)",
                       a->struct_size);
    if (a && (!a->alloc || !a->realloc || !a->free))
        return LZ_FAIL(LZ_ENULL, "%s is NULL",
                       !a->alloc     ? "alloc"
                       : !a->realloc ? "realloc"
                                     : "free");
    lz_alloc_hooks h = {0};
    if (a)
        h = (lz_alloc_hooks){a->alloc, a->realloc, a->free, a->user};
    if (!lz_alloc_set_hooks(a ? &h : NULL))
        return LZ_FAIL(
            LZ_ESTATE,
            "memory has been allocated already: set the allocator before the first operation");
    return LZ_OK;
}

lz_status lz_set_allocator(const lz_allocator *a)
{
    LZ_PUBLIC(LZ_EFORK);
    lz_status s = set_allocator(a);
    if (s != LZ_OK)
        lz_error_annotate("lz_set_allocator", NULL);
    return s;
}

/* ---- log ---- */

static lz_mutex lock = LZ_MUTEX_INIT("embedder_hooks");
static void (*user_log)(int level, const char *module, const char *message, void *user);
static void *user_log_arg;

static void pass_on(lz_log_level level, const char *module, const char *message, void *unused)
{
    (void)unused;
    lz_mutex_lock(&lock);
    void (*fn)(int, const char *, const char *, void *) = user_log;
    void *arg = user_log_arg;
    lz_mutex_unlock(&lock);
    if (fn)
        fn((int)level, module, message, arg);
}

void lz_set_log_callback(void (*fn)(int level, const char *module, const char *message, void *user),
                         void *user)
{
    LZ_PUBLIC();
    lz_mutex_lock(&lock);
    user_log = fn;
    user_log_arg = user;
    lz_mutex_unlock(&lock);
    lz_log_set_callback(fn ? pass_on : NULL, NULL);
}
