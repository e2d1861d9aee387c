/* cpu_team.c - executions of programs of several partitions on the CPU: one job on one queue, which
 * goes through the program for all of them in lock step (lz_plan_exec_run_team). It needs no
 * threads but those it is given, so 64 partitions run on one core.
 * Threads: as backends/common/job.h. */
#include "backends/cpu/cpu_exec.h"
#include "backends/cpu/workers.h"
#include "base/alloc.h"
#include "base/timeline.h"
#include "lower/plan/plan_collective.h"
#include <inttypes.h>
#include <string.h>

/* ---- a collective ---- */

enum { SPREAD_BYTES = 1 << 19 }; /* traffic of a collective that is worth waking workers */

typedef struct spread {
    const lz_step_collective *c;
    void *const *const *bufs;
    _Atomic bool failed; /* err is that of the first */
    lz_error err;
} spread;

static void run_units(void *ctx, int64_t begin, int64_t end, int worker)
{
    spread *s = ctx;
    (void)worker;
    if (lz_collective_run(s->c, s->bufs, begin, end) != LZ_OK && !atomic_exchange(&s->failed, true))
        s->err = *lz_error_get();
}

lz_status lz_cpu_collective(void *run, const lz_step_collective *c, void *const *const *bufs)
{
    int64_t units = lz_collective_units(c);
    (void)run;
    if (lz_collective_traffic(c) < SPREAD_BYTES)
        return lz_collective_run(c, bufs, 0, units);
    spread s = {.c = c, .bufs = bufs};
    lz_workers_run(units, 0, run_units, &s);
    if (!s.failed)
        return LZ_OK;
    lz_error_set(&s.err);
    return s.err.status;
}

/* ---- executions ---- */

/* Everything in one block. Buffers and states are those of partition 0, then of partition 1, .. */
typedef struct team_job {
    lz_exec *x;
    lz_cpu_device *d;
    lz_event *done;
    lz_collective_uses *uses;
    uint32_t n, nin, nout; /* nin: those that the caller gives */
    uint32_t *number;      /* [n]: 0, 1, .. */
    bool *copy;            /* [n * nout]: starts as a copy of the argument it could not take over */
    lz_device_buffer **in, **out;
    uint32_t nwait;
    lz_event **wait; /* of the arguments' contents */
    void ***states, **temps;
} team_job;

static team_job *job_new(lz_exec *x, lz_cpu_device *d)
{
    const lz_plan *p = x->plan;
    uint32_t n = p->partitions, nin = p->nin - p->numbered, nout = p->nout;
    size_t nptr = n * (x->plan_exec.nptr + 2 * (size_t)nin + nout + 2);
    team_job *j = lz_calloc(1, sizeof *j + nptr * sizeof(void *) + n * (sizeof *j->number + nout));
    if (!j) {
        (void)LZ_FAIL(LZ_EMEM, "no memory to run a program of %u partitions", n);
        return NULL;
    }
    *j = (team_job){.x = x, .d = d, .n = n, .nin = nin, .nout = nout};
    j->states = (void ***)(void *)(j + 1);
    j->temps = (void **)(j->states + n);
    void **state = j->temps + n;
    j->in = (lz_device_buffer **)(void *)(state + n * x->plan_exec.nptr);
    j->out = j->in + (size_t)n * nin;
    j->wait = (lz_event **)(void *)(j->out + (size_t)n * nout);
    j->number = (uint32_t *)(void *)(j->wait + (size_t)n * nin);
    j->copy = (bool *)(j->number + n);
    for (uint32_t q = 0; q < n; q++) {
        j->number[q] = q;
        j->states[q] = state + q * x->plan_exec.nptr;
        lz_plan_exec_state(&x->plan_exec, j->states[q]);
    }
    atomic_fetch_add_explicit(&x->refs, 1, memory_order_relaxed);
    return j;
}

/* The job's references go before the event is set. */
static void job_free(team_job *j)
{
    for (size_t i = 0; i < (size_t)j->n * j->nin; i++)
        lz_device_buffer_release(j->in[i]);
    for (size_t i = 0; i < (size_t)j->n * j->nout; i++) {
        if (j->out[i] && j->x->plan->out_alias[i % j->nout] >= 0)
            lz_device_buffer_changed(j->out[i]);
        lz_device_buffer_release(j->out[i]);
    }
    for (uint32_t i = 0; i < j->nwait; i++)
        lz_event_release(j->wait[i]);
    lz_exec_free(j->x);
    lz_free(j);
}

/* ---- on the queue ---- */

static lz_status wait_for_arguments(const team_job *j)
{
    for (uint32_t i = 0; i < j->nwait; i++)
        LZ_TRY(lz_event_wait(j->wait[i]));
    return LZ_OK;
}

static lz_status run_all(team_job *j)
{
    const lz_plan *p = j->x->plan;
    const lz_plan_exec *g = &j->x->plan_exec;
    size_t each = LZ_ALIGN_UP(p->temp_bytes, 64), all;
    LZ_TRY(wait_for_arguments(j));
    if (!lz_mul_size(each, j->n, &all))
        return LZ_FAIL(LZ_EDEVMEM, "%u partitions need too much memory", j->n);
    LZ_TRY(lz_cpu_room(j->d, j->x, all));
    for (uint32_t q = 0; q < j->n; q++) {
        j->temps[q] = (char *)j->d->temp + q * each;
        for (uint32_t k = 0; k < j->nout; k++)
            if (j->copy[q * j->nout + k])
                LZ_TRY(g->ops->copy(&j->d->scratch, j->out[q * j->nout + k]->data,
                                    j->in[q * j->nin + (uint32_t)p->out_alias[k]]->data,
                                    p->out_type[k]->nbytes));
    }
    int64_t t0 = lz_timeline_begin();
    lz_status s = lz_plan_exec_run_team(g, j->states, j->temps, &j->d->scratch, j->uses);
    lz_timeline_end(t0, .name = "run program", .category = "execute",
                    .key = {"device", "launches", "partitions"},
                    .value = {j->d->at.index, g->nlaunch, j->n}, .text_key = "program",
                    .text = j->x->label[0] ? j->x->label : NULL);
    return s;
}

static void run_job(void *arg)
{
    team_job *j = arg;
    lz_error err;
    lz_status s = run_all(j);
    if (s != LZ_OK)
        err = *lz_error_get();
    lz_event *done = j->done;
    job_free(j);
    lz_event_complete(done, s != LZ_OK ? &err : NULL);
    lz_event_release(done);
}

/* ---- enqueuing ---- */

static lz_status check_argument(const team_job *j, uint32_t q, uint32_t i,
                                const lz_device_buffer *b)
{
    const lz_type *t = j->x->plan->in_type[i];
    size_t align = j->x->plan_exec.parts->in_align[i];
    char text[96];
    if (!b)
        return LZ_FAIL(LZ_ENULL, "argument %u of partition %u is NULL", i, q);
    if (b->nbytes < t->nbytes)
        return LZ_FAIL(LZ_ESHAPE, "argument %u of partition %u has %zu bytes, %s needs %zu", i, q,
                       b->nbytes, lz_type_short(t, text, sizeof text), t->nbytes);
    if (b->backend != j->d->at.backend)
        return LZ_FAIL(LZ_EINVAL, "argument %u of partition %u is on %s:%u", i, q,
                       lz_backend_at(b->backend)->name, b->device);
    if (align && (uintptr_t)b->data % align)
        return LZ_FAIL(LZ_EINVAL,
                       "argument %u of partition %u at %p is not aligned to its elements of %zu "
                       "bytes",
                       i, q, b->data, align);
    return LZ_OK;
}

/* Results: the argument's own buffer where it is donated (borrowed memory never is), else new. */
static lz_status make_results(team_job *j, uint32_t q, int device, const bool *donated)
{
    const lz_plan *p = j->x->plan;
    lz_device_buffer **in = j->in + (size_t)q * j->nin, **out = j->out + (size_t)q * j->nout;
    void **io = lz_plan_exec_io(&j->x->plan_exec, j->states[q]);
    for (uint32_t k = 0; k < j->nout; k++) {
        int32_t a = p->out_alias[k];
        bool takes = a >= 0 && donated && donated[a] && in[a]->capacity;
        if (takes) {
            out[k] = in[a];
            lz_device_buffer_retain(out[k]);
        } else {
            LZ_TRY(lz_cpu_alloc(device, p->out_type[k]->nbytes, &out[k]));
        }
        j->copy[q * j->nout + k] = a >= 0 && !takes;
        io[p->nin + k] = out[k]->data;
    }
    return LZ_OK;
}

/* Whether it need not be waited for. Neighbours that are of one earlier step share an event. */
static bool note_wait(team_job *j, lz_event *e)
{
    if (!e || (j->nwait && j->wait[j->nwait - 1] == e))
        return !e || lz_event_done(e);
    lz_event_retain(e);
    j->wait[j->nwait++] = e;
    return lz_event_done(e);
}

/* *ready: nothing has to be waited for. */
static lz_status prepare(team_job *j, int ndevice, lz_device_buffer *const *const *in,
                         const bool *donated, bool *ready)
{
    *ready = true;
    for (uint32_t q = 0; q < j->n; q++) {
        void **io = lz_plan_exec_io(&j->x->plan_exec, j->states[q]);
        for (uint32_t i = 0; i < j->nin; i++) {
            lz_device_buffer *b = in[q][i];
            LZ_TRY(check_argument(j, q, i, b));
            lz_device_buffer_retain(b);
            j->in[(size_t)q * j->nin + i] = b;
            io[i] = b->data;
            *ready &= note_wait(j, b->ready);
        }
        if (j->x->plan->numbered)
            io[j->nin] = &j->number[q];
        LZ_TRY(make_results(j, q, (int)q < ndevice ? (int)q : j->d->at.index, donated));
    }
    j->done = lz_event_new();
    return j->done ? LZ_OK : LZ_EMEM;
}

static void hand_over(team_job *j, lz_device_buffer ***out, lz_event **done)
{
    for (size_t i = 0; i < (size_t)j->n * j->nout; i++) {
        lz_device_buffer *b = j->out[i];
        lz_event_release(b->ready);
        lz_event_retain(j->done);
        b->ready = j->done;
        lz_device_buffer_retain(b);
        out[i / j->nout][i % j->nout] = b;
    }
    lz_event_retain(j->done);
    *done = j->done;
}

static void take_back(team_job *j, lz_device_buffer ***out, lz_event **done)
{
    LZ_QUIETLY {
        lz_event_complete(j->done, lz_error_get());
        for (size_t i = 0; i < (size_t)j->n * j->nout; i++) {
            lz_device_buffer_release(out[i / j->nout][i % j->nout]);
            out[i / j->nout][i % j->nout] = NULL;
        }
        lz_event_release(*done);
        *done = NULL;
    }
}

lz_status lz_cpu_run_team(lz_exec *x, lz_cpu_device *d, int ndevice, int64_t n,
                          lz_device_buffer *const *const *in, const bool *donated, bool awaited,
                          lz_device_buffer ***out, lz_collective_uses *uses, lz_event **done)
{
    LZ_TRY(lz_fork_check());
    if (n < 1 || x->plan->partitions != n)
        return LZ_FAIL(LZ_EINVAL, "a program of %u partitions is run by %" PRId64,
                       x->plan->partitions, n);
    team_job *j = job_new(x, d);
    if (!j)
        return LZ_EMEM;
    bool ready;
    lz_status s = prepare(j, ndevice, in, donated, &ready);
    if (s == LZ_OK) {
        j->uses = uses;
        hand_over(j, out, done);
        s = lz_queue_push(d->at.queue, run_job, j, awaited && ready);
        if (s == LZ_OK)
            return LZ_OK;
        take_back(j, out, done);
    }
    lz_event_release(j->done);
    job_free(j);
    return s;
}
