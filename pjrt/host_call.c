/* host_call.c - functions of the host's that programs call (host_call.h). The handler that is put
 * into the table of custom calls goes on to the host's function, unless the host has closed.
 * A host may hold a lock of its own (Python's) while it waits for a program here, which a function
 * needs in turn: so executions with such calls are counted, and the end of a client does not wait
 * for them. Threads: thread-safe. */
#include "base/alloc.h"
#include "base/thread.h"
#include "ir/attr.h"
#include "ir/custom_call.h"
#include "pjrt/plugin.h"
#include <stdio.h>
#include <string.h>

/* ---- one call ---- */

typedef struct function {
    struct function *next;
    PJRT_Lazuli_HostFunction fn;
    void *user;
    char target[];
} function;

static lz_mutex lock = LZ_MUTEX_INIT("host functions");
static function *functions; /* under lock; rows stay: programs keep what they were made with */
static _Atomic uint32_t running, closed, in_flight;
static _Thread_local uint32_t inside; /* calls that this thread is in */

bool lz_pjrt_in_host_call(void)
{
    return inside > 0;
}

PJRT_Error *lz_pjrt_refuse_wait(const char *what)
{
    return lz_pjrt_error(PJRT_FAILED_PRECONDITION,
                         "%s, in a function that a program calls: it would wait for that program",
                         what);
}

PJRT_Error *lz_pjrt_check_wait(lz_event *ready)
{
    return lz_pjrt_in_host_call() && ready && !lz_event_done(ready)
               ? lz_pjrt_refuse_wait("what is not computed yet cannot be waited for")
               : NULL;
}

/* False once the host has closed. */
static bool enter(void)
{
    atomic_fetch_add(&running, 1);
    if (atomic_load(&closed))
        return false;
    inside++;
    return true;
}

static void leave(bool entered)
{
    inside -= entered;
    atomic_fetch_sub(&running, 1);
    if (atomic_load(&closed))
        lz_futex_wake(&running, INT32_MAX);
}

static int32_t call_host(const function *f, const lz_ffi_call *c, void **data, size_t *size)
{
    PJRT_Lazuli_HostCall call = {.struct_size = sizeof call,
                                 .target = c->target,
                                 .backend_config = c->backend_config,
                                 .num_args = c->nargs,
                                 .num_rets = c->nrets,
                                 .args = data,
                                 .arg_sizes = size,
                                 .rets = data + c->nargs,
                                 .ret_sizes = size + c->nargs,
                                 .message = c->message,
                                 .message_size = LZ_FFI_MESSAGE};
    for (uint32_t i = 0; i < c->nargs + c->nrets; i++) {
        const lz_ffi_buffer *b = i < c->nargs ? &c->args[i] : &c->rets[i - c->nargs];
        data[i] = b->data;
        size[i] = b->nbytes;
    }
    return f->fn(&call, f->user);
}

static lz_status handle(const lz_ffi_call *c, void *user)
{
    size_t n = (size_t)c->nargs + c->nrets;
    void **data = lz_calloc(n + 1, sizeof *data);
    size_t *size = lz_calloc(n + 1, sizeof *size);
    int32_t code = PJRT_RESOURCE_EXHAUSTED;
    if (data && size) {
        bool entered = enter();
        code = entered ? call_host(user, c, data, size) : PJRT_FAILED_PRECONDITION;
        leave(entered);
        if (!entered)
            (void)snprintf(c->message, LZ_FFI_MESSAGE, "the host has ended");
    }
    lz_free(data);
    lz_free(size);
    return code == PJRT_OK ? LZ_OK : lz_pjrt_status(code);
}

/* ---- the extension ---- */

static int32_t register_function(const char *target, PJRT_Lazuli_HostFunction fn, void *user)
{
    if (!target || !*target || !fn)
        return PJRT_INVALID_ARGUMENT;
    function *f = lz_alloc(sizeof *f + strlen(target) + 1);
    if (!f)
        return PJRT_RESOURCE_EXHAUSTED;
    f->fn = fn;
    f->user = user;
    strcpy(f->target, target);
    lz_mutex_lock(&lock);
    lz_status s = lz_ffi_table_register(target, handle, f);
    if (s == LZ_OK) {
        f->next = functions;
        functions = f;
    }
    lz_mutex_unlock(&lock);
    if (s != LZ_OK)
        lz_free(f);
    return (int32_t)lz_pjrt_code(s);
}

/* In a forked child the threads of the calls are not there. */
static uint32_t close_host(int64_t timeout_ms)
{
    int64_t end = lz_now_ns() + timeout_ms * 1000000;
    atomic_store(&closed, 1);
    for (;;) {
        uint32_t n = lz_fork_happened() ? 0 : atomic_load(&running);
        int64_t left = end - lz_now_ns();
        if (n <= inside || left <= 0)
            return n > inside ? n - inside : 0;
        (void)lz_futex_wait(&running, n, left);
    }
}

const PJRT_Lazuli_HostCall_Extension lz_pjrt_host_calls = {
    .base = {.struct_size = sizeof lz_pjrt_host_calls,
             .type = PJRT_EXTENSION_LAZULI_HOST_CALL,
             .next = &lz_pjrt_shardings.base},
    .register_function = register_function,
    .close = close_host,
};

/* ---- programs ---- */

static bool is_registered(const char *target)
{
    lz_mutex_lock(&lock);
    const function *f = functions;
    while (f && strcmp(f->target, target) != 0)
        f = f->next;
    lz_mutex_unlock(&lock);
    return f != NULL;
}

/* Recursion: regions, as deep as they nest. */
bool lz_pjrt_calls_host(const lz_func *f)
{
    for (uint32_t i = f->nparam; i < f->ninst; i++) {
        const lz_sig *s = f->insts[i].sig;
        const lz_func *r;
        if (s->op == LZ_OP_CUSTOM_CALL && is_registered(LZ_ATTR(call, s->attr)->call_target_name))
            return true;
        for (int k = 0; (r = lz_attr_region(s->attr, k)); k++)
            if (lz_pjrt_calls_host(r))
                return true;
    }
    return false;
}

static void landed(void *user, const lz_error *err)
{
    (void)user, (void)err;
    atomic_fetch_sub(&in_flight, 1);
}

void lz_pjrt_host_calls_begin(void)
{
    atomic_fetch_add(&in_flight, 1);
}

void lz_pjrt_host_calls_end(lz_event *done)
{
    /* where there is no memory to be told of the end, it counts as running for ever */
    if (!done)
        landed(NULL, NULL);
    else
        (void)lz_event_then(done, landed, NULL);
}

bool lz_pjrt_host_calls_run(void)
{
    return atomic_load(&in_flight) > 0;
}
