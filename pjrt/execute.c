/* execute.c - running an executable: its arguments are buffers of the device, which a donation
 * takes over, and its results new ones. The call does not wait. Threads: thread-safe. */
#include "base/alloc.h"
#include "pjrt/plugin.h"
#include <string.h>

typedef struct run {
    const lz_pjrt_program *p;
    PJRT_Device *device;
    PJRT_Buffer *const *arg;
    lz_device_buffer **in, **out; /* references */
    bool *gives;                  /* arguments that are donated now */
    lz_event *done;
} run;

bool lz_pjrt_donations(const lz_pjrt_program *p, const PJRT_ExecuteOptions *o, bool *gives)
{
    uint32_t n = p->f->nparam;
    memcpy(gives, p->donate, n * sizeof *gives);
    bool kept = o && PJRT_HAS(o, num_non_donatable_input_indices);
    for (size_t k = 0; kept && k < o->num_non_donatable_input_indices; k++)
        if (o->non_donatable_input_indices[k] >= 0 && o->non_donatable_input_indices[k] < n)
            gives[o->non_donatable_input_indices[k]] = false;
    return memchr(gives, true, n * sizeof *gives) != NULL;
}

static void let_go(const run *r)
{
    for (uint32_t i = 0; i < r->p->f->nparam; i++)
        if (r->gives[i] && r->arg[i])
            lz_pjrt_buffer_leave(r->arg[i], r);
}

/* The same but for extents of 1: XLA's clients ask for the size alone, and hosts rely on it for
 * scalars. Another order of other extents would be other numbers. */
static bool fits(const lz_type *x, const lz_type *t)
{
    int k = 0;
    if (x->dtype != t->dtype || x->nelem != t->nelem)
        return false;
    for (int i = 0; i < x->shape.rank; i++) {
        if (x->shape.dims[i] == 1)
            continue;
        while (k < t->shape.rank && t->shape.dims[k] == 1)
            k++;
        if (k == t->shape.rank || t->shape.dims[k++] != x->shape.dims[i])
            return false;
    }
    return true;
}

PJRT_Error *lz_pjrt_check_argument(const lz_pjrt_program *p, const PJRT_Device *d, uint32_t i,
                                   const PJRT_Buffer *x)
{
    char want[96], have[96];
    const lz_type *t = lz_val_type(p->run, i);
    if (!x)
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT, "argument %u is NULL", i);
    if (x->type != t && !fits(x->type, t))
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT, "argument %u is %s, the program takes %s", i,
                             lz_type_short(x->type, have, sizeof have),
                             lz_type_short(t, want, sizeof want));
    if (x->device != d)
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT, "argument %u is on %s, the program runs on %s",
                             i, x->device->description.text, d->description.text);
    return NULL;
}

static PJRT_Error *take_argument(run *r, uint32_t i)
{
    PJRT_Buffer *x = r->arg[i];
    PJRT_Error *e = lz_pjrt_check_argument(r->p, r->device, i, x);
    if (e)
        return e;
    if (r->gives[i] && !lz_pjrt_buffer_take(x, r, true))
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT,
                             "argument %u is donated twice, or to another execution, too", i);
    return lz_pjrt_buffer_use(x, &r->in[i]);
}

/* A buffer that is given up is deleted before the program may write to it: who uses it from now on
 * gets an error. Where somebody else still has its memory, the program makes a copy. */
static PJRT_Error *take_arguments(run *r, const PJRT_ExecuteOptions *o, bool *donated)
{
    uint32_t n = r->p->f->nparam;
    bool any = lz_pjrt_donations(r->p, o, r->gives);
    for (uint32_t i = 0; i < n; i++) {
        PJRT_Error *e = take_argument(r, i);
        if (e)
            return e;
    }
    for (uint32_t i = 0; i < n && any; i++)
        if (!r->gives[i] && lz_pjrt_buffer_take(r->arg[i], r, false))
            return lz_pjrt_error(PJRT_INVALID_ARGUMENT,
                                 "argument %u is another argument, too, which is donated", i);
    for (uint32_t i = 0; i < n && any; i++)
        if (r->gives[i]) {
            lz_pjrt_buffer_delete(r->arg[i]);
            donated[i] = __atomic_load_n(&r->in[i]->refs, __ATOMIC_ACQUIRE) == 1;
        }
    return NULL;
}

/* Nothing was started: arguments that were given up are the caller's again. */
static void give_back(run *r)
{
    for (uint32_t i = 0; i < r->p->f->nparam; i++)
        if (r->gives[i] && r->arg[i])
            lz_pjrt_buffer_restore(r->arg[i], r->in[i]);
}

static PJRT_Error *give_results(run *r, PJRT_Buffer **list)
{
    const lz_func *f = r->p->f;
    for (uint32_t k = 0; k < f->nresult; k++) {
        list[k] = lz_pjrt_buffer(r->device, lz_val_type(f, f->results[k]), r->out[k]);
        r->out[k] = NULL;
        if (list[k])
            continue;
        while (k-- > 0) {
            PJRT_Buffer_Destroy_Args d = {.buffer = list[k]};
            (void)lz_pjrt_Buffer_Destroy(&d);
            list[k] = NULL;
        }
        return lz_pjrt_failed();
    }
    return NULL;
}

static lz_status start(run *r, const bool *gives)
{
    const lz_pjrt_program *p = r->p;
    if (p->calls_host)
        lz_pjrt_host_calls_begin();
    lz_status s =
        p->be->execute(p->exec, r->device->description.id, r->in, gives, false, r->out, &r->done);
    if (p->calls_host)
        lz_pjrt_host_calls_end(r->done);
    return s;
}

static PJRT_Error *run_it(run *r, const PJRT_ExecuteOptions *o, PJRT_Buffer **results,
                          PJRT_Event **complete)
{
    const lz_pjrt_program *p = r->p;
    bool donated[64], *gives = donated;
    if (p->f->nparam > 64 && !(gives = lz_alloc(p->f->nparam)))
        return lz_pjrt_error(PJRT_RESOURCE_EXHAUSTED, "no memory for %u arguments", p->f->nparam);
    memset(gives, 0, p->f->nparam);
    PJRT_Error *e = take_arguments(r, o, gives);
    if (!e && start(r, gives) != LZ_OK) {
        e = lz_pjrt_failed();
        give_back(r);
    }
    let_go(r);
    if (!e && complete) {
        *complete = lz_pjrt_event(r->done);
        e = *complete ? NULL : lz_pjrt_failed();
    }
    if (!e && (e = give_results(r, results)) && complete) {
        PJRT_Event_Destroy_Args d = {.event = *complete};
        (void)lz_pjrt_Event_Destroy(&d);
        *complete = NULL;
    }
    if (gives != donated)
        lz_free(gives);
    return e;
}

/* ---- the API ---- */

PJRT_Error *lz_pjrt_LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args *a)
{
    PJRT_LoadedExecutable *x = a->executable;
    const lz_func *f = x->p->f;
    void *space[192], **all = space;
    PJRT_REACHES(a, device_complete_events);
    if (atomic_load(&x->deleted))
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT, "the executable has been deleted");
    if (lz_pjrt_in_host_call())
        return lz_pjrt_refuse_wait("a program cannot be executed");
    if (x->p->partitioned)
        return lz_pjrt_execute_partitioned(a);
    if (a->num_devices != 1)
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT,
                             "arguments for %zu devices, the program runs "
                             "on one",
                             a->num_devices);
    if (a->num_args != f->nparam)
        return lz_pjrt_error(
            PJRT_INVALID_ARGUMENT,
            "Execution supplied %zu buffers but compiled program expected %u buffers", a->num_args,
            f->nparam);
    size_t n = (size_t)f->nparam + f->nresult, size = n * sizeof *all + f->nparam;
    if (size > sizeof space && !(all = lz_alloc(size)))
        return lz_pjrt_error(PJRT_RESOURCE_EXHAUSTED, "no memory for %zu buffers", n);
    memset(all, 0, size);
    PJRT_Device *d =
        PJRT_HAS(a, execute_device) && a->execute_device ? a->execute_device : x->device[0];
    run r = {.p = x->p,
             .device = d,
             .arg = f->nparam && a->argument_lists ? a->argument_lists[0] : NULL,
             .in = (lz_device_buffer **)all,
             .out = (lz_device_buffer **)all + f->nparam,
             .gives = (bool *)(all + n)};
    PJRT_Error *e = NULL;
    if ((f->nparam && (!a->argument_lists || !a->argument_lists[0])) ||
        (f->nresult && (!a->output_lists || !a->output_lists[0])))
        e = lz_pjrt_error(PJRT_INVALID_ARGUMENT, "the list of arguments or of results is NULL");
    else
        e = run_it(&r, a->options, f->nresult ? a->output_lists[0] : NULL,
                   a->device_complete_events ? &a->device_complete_events[0] : NULL);
    for (size_t i = 0; i < n; i++)
        lz_device_buffer_release((lz_device_buffer *)all[i]);
    lz_event_release(r.done);
    if (all != space)
        lz_free(all);
    return e;
}

PJRT_Error *lz_pjrt_ExecuteContext_Create(PJRT_ExecuteContext_Create_Args *a)
{
    a->context = lz_calloc(1, 1); /* there is nothing that one execution tells another */
    return a->context ? NULL : lz_pjrt_error(PJRT_RESOURCE_EXHAUSTED, "no memory for a context");
}

PJRT_Error *lz_pjrt_ExecuteContext_Destroy(PJRT_ExecuteContext_Destroy_Args *a)
{
    lz_free(a->context);
    return NULL;
}
