/* execute_partitioned.c - running an executable of several devices, which meet in collectives: each
 * device has a list of arguments, its parts, and gets a list of results. All run in one call, and
 * are complete together. Threads: thread-safe. */
#include "base/alloc.h"
#include "pjrt/plugin.h"
#include <string.h>

/* Of one execution: by position in the mesh, where hosts count by device. */
typedef struct team {
    const lz_pjrt_program *p;
    const lz_pjrt_partitioned *x;
    PJRT_Device *const *device; /* by place in the assignment */
    uint32_t nin, nout;
    PJRT_Buffer *const *const *arg;
    lz_device_buffer ***in, ***out; /* references, but to the partitions' numbers */
    bool *gives, *donated;          /* by parameter */
    lz_event *done;
} team;

static PJRT_Buffer *argument(const team *t, uint32_t position, uint32_t i)
{
    return t->arg[lz_pjrt_partitioned_device(t->x, i, position)][i];
}

/* ---- arguments ---- */

static PJRT_Error *take_argument(team *t, uint32_t q, uint32_t i)
{
    PJRT_Buffer *b = argument(t, q, i);
    PJRT_Device *d = t->device[lz_pjrt_partitioned_device(t->x, i, q)];
    PJRT_Error *e = lz_pjrt_check_argument(t->p, d, i, b);
    if (e)
        return e;
    if (t->gives[i] && !lz_pjrt_buffer_take(b, t, true))
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT,
                             "argument %u is donated twice, or to another execution, too", i);
    return lz_pjrt_buffer_use(b, &t->in[q][i]);
}

/* All devices give up an argument, or none does. Where somebody else still has the memory of one,
 * all make copies. */
static void give_up(team *t, uint32_t i)
{
    t->donated[i] = true;
    for (uint32_t q = 0; q < t->x->n; q++) {
        lz_pjrt_buffer_delete(argument(t, q, i));
        if (__atomic_load_n(&t->in[q][i]->refs, __ATOMIC_ACQUIRE) != 1)
            t->donated[i] = false;
    }
}

static PJRT_Error *take_arguments(team *t, const PJRT_ExecuteOptions *o)
{
    bool any = lz_pjrt_donations(t->p, o, t->gives);
    for (uint32_t q = 0; q < t->x->n; q++)
        for (uint32_t i = 0; i < t->nin; i++) {
            PJRT_Error *e = take_argument(t, q, i);
            if (e)
                return e;
        }
    for (uint32_t q = 0; q < t->x->n && any; q++)
        for (uint32_t i = 0; i < t->nin; i++)
            if (!t->gives[i] && lz_pjrt_buffer_take(argument(t, q, i), t, false))
                return lz_pjrt_error(PJRT_INVALID_ARGUMENT,
                                     "argument %u is another argument, too, which is donated", i);
    for (uint32_t i = 0; i < t->nin && any; i++)
        if (t->gives[i])
            give_up(t, i);
    return NULL;
}

static void let_go(const team *t)
{
    for (uint32_t q = 0; q < t->x->n; q++)
        for (uint32_t i = 0; i < t->nin; i++)
            if (t->gives[i] && argument(t, q, i))
                lz_pjrt_buffer_leave(argument(t, q, i), t);
}

/* Nothing was started: arguments that were given up are the caller's again. */
static void give_back(const team *t)
{
    for (uint32_t q = 0; q < t->x->n; q++)
        for (uint32_t i = 0; i < t->nin; i++)
            if (t->gives[i])
                lz_pjrt_buffer_restore(argument(t, q, i), t->in[q][i]);
}

/* ---- results ---- */

static void drop_results(const team *t, PJRT_Buffer **const *list)
{
    for (uint32_t d = 0; d < t->x->n; d++)
        for (uint32_t k = 0; k < t->nout; k++) {
            PJRT_Buffer_Destroy_Args a = {.buffer = list[d][k]};
            (void)lz_pjrt_Buffer_Destroy(&a);
            list[d][k] = NULL;
        }
}

static PJRT_Error *give_results(team *t, PJRT_Buffer **const *list)
{
    for (uint32_t d = 0; d < t->x->n; d++)
        for (uint32_t k = 0; k < t->nout; k++)
            list[d][k] = NULL;
    for (uint32_t q = 0; q < t->x->n; q++)
        for (uint32_t k = 0; k < t->nout; k++) {
            uint32_t d = lz_pjrt_partitioned_device(t->x, t->nin + k, q);
            const lz_type *type = lz_val_type(t->p->run, t->p->run->results[k]);
            list[d][k] = lz_pjrt_buffer(t->device[d], type, t->out[q][k]);
            t->out[q][k] = NULL;
            if (list[d][k])
                continue;
            drop_results(t, list);
            return lz_pjrt_failed();
        }
    return NULL;
}

/* An event for each device. */
static PJRT_Error *give_events(const team *t, PJRT_Event **complete)
{
    for (uint32_t d = 0; d < t->x->n; d++) {
        complete[d] = lz_pjrt_event(t->done);
        if (complete[d])
            continue;
        while (d-- > 0) {
            PJRT_Event_Destroy_Args a = {.event = complete[d]};
            (void)lz_pjrt_Event_Destroy(&a);
            complete[d] = NULL;
        }
        return lz_pjrt_failed();
    }
    return NULL;
}

/* ---- running ---- */

static lz_status start(team *t)
{
    const lz_pjrt_program *p = t->p;
    if (p->calls_host)
        lz_pjrt_host_calls_begin();
    lz_status s = p->be->execute_partitions(p->exec, t->x->n, t->x->home,
                                            (lz_device_buffer *const *const *)t->in, t->donated,
                                            false, t->out, NULL, &t->done);
    if (p->calls_host)
        lz_pjrt_host_calls_end(t->done);
    return s;
}

static PJRT_Error *run_it(team *t, const PJRT_ExecuteOptions *o, PJRT_Buffer **const *results,
                          PJRT_Event **complete)
{
    PJRT_Error *e = take_arguments(t, o);
    if (!e && start(t) != LZ_OK) {
        e = lz_pjrt_failed();
        give_back(t);
    }
    let_go(t);
    if (!e && t->nout)
        e = give_results(t, results);
    if (!e && complete && (e = give_events(t, complete)) && t->nout)
        drop_results(t, results);
    return e;
}

static PJRT_Error *check_lists(const team *t, const PJRT_LoadedExecutable_Execute_Args *a)
{
    if (a->num_devices != t->x->n)
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT,
                             "arguments for %zu devices, the program runs on %u", a->num_devices,
                             t->x->n);
    if (a->num_args != t->nin)
        return lz_pjrt_error(
            PJRT_INVALID_ARGUMENT,
            "Execution supplied %zu buffers but compiled program expected %u buffers", a->num_args,
            t->nin);
    if (PJRT_HAS(a, execute_device) && a->execute_device)
        return lz_pjrt_error(PJRT_INVALID_ARGUMENT,
                             "a program of %u devices does not run on one that is chosen", t->x->n);
    bool there = (!t->nin || a->argument_lists) && (!t->nout || a->output_lists);
    for (uint32_t d = 0; d < t->x->n && there; d++)
        there = (!t->nin || a->argument_lists[d]) && (!t->nout || a->output_lists[d]);
    return there ? NULL
                 : lz_pjrt_error(PJRT_INVALID_ARGUMENT,
                                 "the list of arguments or of results is NULL");
}

/* Rows for all positions in one piece: pointers to rows, rows, flags. */
static bool make_room(team *t)
{
    size_t n = t->x->n, row = (size_t)t->nin + 1 + t->nout;
    t->in = lz_calloc(1, n * (row + 2) * sizeof(void *) + 2 * ((size_t)t->nin + 1));
    if (!t->in)
        return false;
    t->out = t->in + n;
    lz_device_buffer **cell = (lz_device_buffer **)(void *)(t->out + n);
    for (uint32_t q = 0; q < t->x->n; q++, cell += row) {
        t->in[q] = cell;
        t->out[q] = cell + t->nin + 1;
        t->in[q][t->nin] = t->x->number[q];
    }
    t->gives = (bool *)(void *)cell;
    t->donated = t->gives + t->nin + 1;
    return true;
}

static void end(team *t)
{
    for (uint32_t q = 0; q < t->x->n; q++) {
        for (uint32_t i = 0; i < t->nin; i++)
            lz_device_buffer_release(t->in[q][i]);
        for (uint32_t k = 0; k < t->nout; k++)
            lz_device_buffer_release(t->out[q][k]);
    }
    lz_event_release(t->done);
    lz_free(t->in);
}

PJRT_Error *lz_pjrt_execute_partitioned(PJRT_LoadedExecutable_Execute_Args *a)
{
    const PJRT_LoadedExecutable *x = a->executable;
    team t = {.p = x->p,
              .x = x->p->partitioned,
              .device = x->device,
              .nin = x->p->f->nparam,
              .nout = x->p->f->nresult,
              .arg = a->argument_lists};
    PJRT_Error *e = check_lists(&t, a);
    if (e)
        return e;
    if (!make_room(&t))
        return lz_pjrt_error(PJRT_RESOURCE_EXHAUSTED, "no memory to run a program on %u devices",
                             t.x->n);
    e = run_it(&t, a->options, a->output_lists, a->device_complete_events);
    end(&t);
    return e;
}
