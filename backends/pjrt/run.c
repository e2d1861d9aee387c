/* run.c - executions on a plugin. The call hands the arguments over and does not wait: a plugin
 * orders work by the buffers that it reads and gives. Threads: thread-safe. */
#include "backends/pjrt/client.h"
#include "base/alloc.h"
#include <stdio.h>
#include <string.h>

/* Lists of one execution, in one block. */
typedef struct run {
    lz_plugin_exec *x;
    int device;
    uint32_t n, m; /* arguments, results */
    lz_plugin_array **array;
    PJRT_Buffer **arg, **result;
    int64_t *kept; /* arguments that the program may not take over */
    uint32_t nkept;
} run;

static lz_status make_room(run *r)
{
    size_t n = r->n, m = r->m;
    char *all = lz_calloc(1, n * (2 * sizeof(void *) + sizeof(int64_t)) + m * sizeof(void *) + 8);
    if (!all)
        return LZ_FAIL(LZ_EMEM, "no memory to execute '%s'", r->x->f->name);
    r->array = (lz_plugin_array **)(void *)all;
    r->arg = (PJRT_Buffer **)(void *)(r->array + n);
    r->result = r->arg + n;
    r->kept = (int64_t *)(void *)(r->result + m);
    return LZ_OK;
}

static void free_room(run *r)
{
    for (uint32_t i = 0; i < r->n && r->array; i++)
        lz_plugin_array_release(r->array[i]);
    lz_free(r->array);
}

static lz_status take_arguments(run *r, lz_device_buffer *const *in, const bool *donated)
{
    const lz_func *f = r->x->f;
    for (uint32_t i = 0; i < r->n; i++) {
        const lz_type *t = lz_val_type(f, i);
        if (!in[i] || in[i]->nbytes < t->nbytes)
            return LZ_FAIL(LZ_EINVAL, "plugin %s: argument %u of '%s' has %zu bytes, not %zu",
                           r->x->p->name, i, f->name, in[i] ? in[i]->nbytes : 0, t->nbytes);
        LZ_TRY(lz_plugin_buffer_as(in[i], t, &r->array[i]));
        r->arg[i] = r->array[i]->handle;
        if (r->x->donate[i] && !(donated && donated[i]))
            r->kept[r->nkept++] = i;
    }
    return LZ_OK;
}

static void drop_results(run *r)
{
    for (uint32_t k = 0; k < r->m; k++)
        if (r->result[k]) {
            lz_plugin_buffer_destroy(r->x->p, r->result[k]);
            r->result[k] = NULL;
        }
}

/* Looks at what the plugin gave, all of it, before any of it is the engine's. */
static lz_status check_results(const run *r)
{
    const lz_func *f = r->x->f;
    for (uint32_t k = 0; k < r->m; k++) {
        char what[48];
        (void)snprintf(what, sizeof what, "result %u of '%.24s'", k, f->name);
        if (!r->result[k])
            return LZ_FAIL(LZ_EDEVICE, "plugin %s: %s is NULL, without an error", r->x->p->name,
                           what);
        LZ_TRY(lz_plugin_array_check(r->x->p, r->result[k], lz_val_type(f, f->results[k]), what));
    }
    return LZ_OK;
}

static lz_status give_results(run *r, lz_device_buffer **out, lz_event *done)
{
    const lz_func *f = r->x->f;
    for (uint32_t k = 0; k < r->m; k++) {
        lz_plugin_array *a =
            lz_plugin_array_new(r->x->p, r->result[k], lz_val_type(f, f->results[k]));
        r->result[k] = NULL; /* the array's, or destroyed */
        out[k] = a ? lz_plugin_result(r->x->p, r->device, a) : NULL;
        if (!out[k])
            return LZ_EMEM;
        lz_event_retain(done);
        out[k]->ready = done;
    }
    return LZ_OK;
}

static void landed(void *user, const lz_error *err)
{
    (void)err;
    _Atomic uint32_t *flying = user;
    atomic_fetch_sub(flying, 1);
    lz_futex_wake(flying, INT32_MAX);
}

static lz_status call(run *r, lz_event *done)
{
    lz_plugin *p = r->x->p;
    PJRT_LoadedExecutable *l;
    LZ_TRY(lz_plugin_exec_on(r->x, r->device, &l));
    PJRT_ExecuteOptions o = {.struct_size = sizeof o,
                             .non_donatable_input_indices = r->kept,
                             .num_non_donatable_input_indices = r->nkept};
    PJRT_Buffer *const *args = r->arg;
    PJRT_Buffer **results = r->result;
    PJRT_Event *complete = NULL;
    LZ_PLUGIN_ARGS(x, LoadedExecutable_Execute, .executable = l, .options = &o,
                   .argument_lists = &args, .num_devices = 1, .num_args = r->n,
                   .output_lists = &results, .device_complete_events = &complete);
    LZ_TRY(LZ_PLUGIN_CALL(p, LoadedExecutable_Execute, x));
    _Atomic uint32_t *flying = &p->device[r->device].flying;
    atomic_fetch_add(flying, 1);
    if (lz_event_then(done, landed, flying) != LZ_OK)
        landed(flying, NULL);
    lz_plugin_watch(p, complete, "LoadedExecutable_Execute", done);
    return check_results(r);
}

lz_status lz_plugin_execute(lz_plugin *p, lz_exec *exec, int device, lz_device_buffer *const *in,
                            const bool *donated, lz_device_buffer **out, lz_event **done)
{
    run r = {.x = (lz_plugin_exec *)exec, .device = device};
    *done = NULL;
    r.n = r.x->f->nparam;
    r.m = r.x->f->nresult;
    if (r.m)
        memset(out, 0, r.m * sizeof *out);
    LZ_TRY(lz_plugin_device_check(p, device));
    LZ_TRY(make_room(&r));
    lz_event *e = lz_event_new();
    lz_status s = e ? take_arguments(&r, in, donated) : LZ_EMEM;
    if (s == LZ_OK)
        s = call(&r, e);
    if (s == LZ_OK)
        s = give_results(&r, out, e);
    for (uint32_t i = 0; s == LZ_OK && i < r.n; i++)
        if (r.x->donate[i] && donated && donated[i])
            lz_plugin_buffer_gone(in[i]);
    drop_results(&r);
    free_room(&r);
    if (s == LZ_OK) {
        *done = e;
        return LZ_OK;
    }
    for (uint32_t k = 0; k < r.m; k++) {
        lz_device_buffer_release(out[k]);
        out[k] = NULL;
    }
    lz_event_release(e);
    return s;
}

lz_status lz_plugin_wait_all(lz_plugin *p, int device)
{
    LZ_TRY(lz_plugin_device_check(p, device));
    LZ_TRY(lz_fork_check());
    _Atomic uint32_t *flying = &p->device[device].flying;
    for (uint32_t n; (n = atomic_load(flying)) != 0;)
        (void)lz_futex_wait(flying, n, -1);
    return LZ_OK;
}
