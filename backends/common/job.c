/* job.c - see job.h. */
#include "backends/common/job.h"
#include "backends/common/collective_totals.h"
#include "base/alloc.h"
#include "base/host_time.h"
#include "base/config.h"
#include "base/timeline/timeline.h"
#include "lower/plan/plan_memory.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- making executables ---- */

static void make_info(lz_exec *x)
{
    const lz_plan *p = x->plan;
    lz_exec_info *f = &x->info;
    for (uint32_t i = 0; i < p->nin; i++)
        f->argument_bytes += p->in_type[i]->nbytes;
    for (uint32_t i = 0; i < p->nout; i++) {
        f->output_bytes += p->out_type[i]->nbytes;
        if (p->out_alias[i] >= 0)
            f->alias_bytes += p->out_type[i]->nbytes;
    }
    f->temp_bytes = p->temp_bytes;
    lz_plan_cost cost = lz_plan_cost_of(p);
    f->flops = cost.flops;
    f->bytes = cost.bytes;
    f->kernels = x->plan_exec.nkernel;
    f->steps = p->nstep;
    for (uint32_t i = 0; x->loads && i < f->kernels; i++) {
        const lz_kernel_load *l = &x->loads[i];
        if (!l->code)
            continue; /* of a branch that was not taken yet */
        f->code_bytes += x->ops->code_bytes(l->code);
        f->llvm_compiles += l->source == LZ_FROM_LLVM;
        f->kernel_hits += l->source != LZ_FROM_LLVM;
    }
}

void lz_exec_set_label(lz_exec *x, const lz_compile_options *o)
{
    snprintf(x->label, sizeof x->label, "%s", o && o->dump_name ? o->dump_name : "");
    if (!lz_cfg_bool(LZ_OPT_PT_XLA_DEBUG) && lz_cfg_int(LZ_OPT_PT_XLA_DEBUG_LEVEL) < 1)
        return;
    LZ_QUIETLY
        lz_plan_print_peak(x->plan, o ? o->donate : NULL, &x->memory);
    x->info.memory = x->memory.failed ? NULL : lz_buf_str(&x->memory);
}

/* Where the kernels came from, for whoever asked. Without memory nothing is said. */
static void note_outcomes(lz_exec *x)
{
    static const char *const from[] = {"memory", "disk", "llvm"};
    uint32_t n = x->plan_exec.nkernel;
    if (!x->loads || !atomic_load_explicit(&lz_event_times, memory_order_relaxed))
        return;
    LZ_QUIETLY
        x->outcome = lz_calloc((size_t)n + 1, sizeof *x->outcome);
    for (uint32_t i = 0; x->outcome && i < n; i++) {
        const lz_kernel *k = x->plan_exec.kernels[i];
        const lz_kernel_load *l = &x->loads[i];
        x->outcome[i] = (lz_kernel_outcome){k->name, k->hash, l->code ? from[l->source] : "later",
                                            l->ms, l->link_ms};
    }
    x->info.outcome = x->outcome;
}

static lz_status make(lz_exec *x, void *maker, lz_cache *cache)
{
    LZ_TRY(lz_plan_exec_begin(&x->plan_exec, x->plan));
    LZ_TRY(x->ops->make(x, maker, cache));
    make_info(x);
    note_outcomes(x);
    return LZ_OK;
}

static void job_free(lz_job *j)
{
    if (j && j->x->ops->job_free)
        j->x->ops->job_free(j);
    lz_free(j);
}

static void release(lz_exec *x)
{
    if (atomic_fetch_sub_explicit(&x->refs, 1, memory_order_acq_rel) != 1)
        return;
    job_free(atomic_load(&x->spare));
    if (x->ops->unmake)
        x->ops->unmake(x);
    for (uint32_t i = 0; x->loads && i < x->plan_exec.nkernel; i++)
        lz_kstore_release(x->loads[i].code);
    lz_buf_free(&x->memory);
    lz_free(x->loads);
    lz_free(x->outcome);
    lz_plan_exec_end(&x->plan_exec);
    lz_plan_free(x->plan);
    lz_free(x);
}

lz_status lz_exec_new(const lz_exec_ops *ops, lz_plan *p, void *maker, lz_cache *cache,
                      lz_exec **out)
{
    *out = NULL;
    lz_exec *x = lz_calloc(1, ops->exec_bytes);
    if (!x) {
        lz_plan_free(p);
        return LZ_FAIL(LZ_EMEM, "no memory for an executable");
    }
    atomic_init(&x->refs, 1);
    x->ops = ops;
    x->plan = p;
    lz_status s = make(x, maker, cache);
    if (s != LZ_OK)
        release(x);
    else
        *out = x;
    return s;
}

/* Loads those of the n kernels that are not late, packed into `k` and `out` for the store. */
static lz_status load_some(lz_exec *x, lz_kstore *store, void *user, lz_cache *cache,
                           const bool *late, lz_kernel **k, lz_kernel_load *out)
{
    uint32_t n = 0, at = 0;
    for (uint32_t i = 0; i < x->plan_exec.nkernel; i++)
        if (!late[i])
            k[n++] = x->plan_exec.kernels[i];
    LZ_TRY(lz_kstore_load(store, k, n, user, cache, out));
    for (uint32_t i = 0; i < x->plan_exec.nkernel; i++)
        if (!late[i])
            x->loads[i] = out[at++];
    return LZ_OK;
}

lz_status lz_exec_load(lz_exec *x, lz_kstore *store, void *user, lz_cache *cache, const bool *late)
{
    uint32_t n = x->plan_exec.nkernel;
    x->loads = lz_calloc(n, sizeof *x->loads);
    if (!x->loads)
        return LZ_FAIL(LZ_EMEM, "no memory for an executable of %u kernels", n);
    if (!late)
        return lz_kstore_load(store, x->plan_exec.kernels, n, user, cache, x->loads);
    lz_kernel **k = lz_calloc(n, sizeof *k);
    lz_kernel_load *out = lz_calloc(n, sizeof *out);
    lz_status s = k && out ? load_some(x, store, user, cache, late, k, out)
                           : LZ_FAIL(LZ_EMEM, "no memory for an executable of %u kernels", n);
    lz_free(k);
    lz_free(out);
    return s;
}

void lz_exec_free(lz_exec *x)
{
    if (x)
        release(x);
}

void lz_exec_get_info(const lz_exec *x, lz_exec_info *out)
{
    *out = x->info;
}

/* ---- jobs ---- */

static uint32_t ordinal_of(const lz_exec *x, const lz_exec_device *d)
{
    return x->ops->ordinal ? x->ops->ordinal(d) : (uint32_t)d->index;
}

/* single: of one partition of several. */
static lz_job *job_new(lz_exec *x, lz_exec_device *d, bool single)
{
    lz_job *j = atomic_exchange(&x->spare, NULL);
    uint32_t team = single ? 0 : x->plan->partitions, n = team ? team : 1,
             nin = x->plan->nin - x->plan->numbered;
    size_t nins = (size_t)n * nin, nouts = (size_t)n * x->plan->nout;
    if (j && j->single != single) {
        job_free(j);
        j = NULL;
    }
    if (!j) {
        size_t own = LZ_ALIGN_UP(x->ops->job_bytes, sizeof(void *)),
               nstate = lz_plan_exec_nptr(&x->plan_exec, team),
               nptr = nstate + 2 * nins + 2 * nouts + n;
        j = lz_alloc(own + nptr * sizeof(void *) + n * sizeof(uint32_t) + nouts * sizeof(bool));
        if (!j) {
            (void)LZ_FAIL(LZ_EMEM, "no memory to run a program of %u arguments", nin);
            return NULL;
        }
        memset(j, 0, own);
        j->x = x;
        j->n = n;
        j->nin = nin;
        j->state = (void **)(void *)((char *)j + own);
        j->in = (lz_device_buffer **)(j->state + nstate);
        j->out = j->in + nins;
        j->former = (lz_event **)(j->out + nouts);
        j->wait = j->former + nouts;
        j->temp = (void **)(j->wait + nins);
        j->number = (uint32_t *)(j->temp + n);
        j->copy = (bool *)(j->number + n);
        for (uint32_t q = 0; q < n; q++)
            j->number[q] = q;
        lz_plan_exec_state(&x->plan_exec, j->state, team);
        j->single = single;
    }
    if (single)
        j->number[0] = ordinal_of(x, d);
    j->d = d;
    j->reached = 0;
    j->done = NULL;
    j->cached = NULL;
    j->uses = NULL;
    j->enqueued = lz_timeline_begin();
    j->flow = j->enqueued ? lz_timeline_flow() : 0;
    j->enqueued = j->enqueued ? j->enqueued : lz_host_begin();
    j->nwait = 0;
    memset(j->in, 0, (nins + 2 * nouts) * sizeof *j->in);
    atomic_fetch_add_explicit(&x->refs, 1, memory_order_relaxed);
    return j;
}

static size_t nins_of(const lz_job *j)
{
    return (size_t)j->n * j->nin;
}

/* Releases everything the job references, but not the job itself. */
static void let_go(lz_job *j)
{
    const lz_plan *p = j->x->plan;
    for (size_t i = 0; i < nins_of(j); i++)
        lz_device_buffer_release(j->in[i]);
    lz_device_buffer **out = j->out;
    for (uint32_t q = 0; q < j->n; q++)
        for (uint32_t k = 0; k < p->nout; k++, out++) {
            if (*out &&
                p->out_alias[k] >= 0) /* the job wrote to it: the content gets a new number */
                lz_device_buffer_changed(*out);
            lz_device_buffer_release(*out);
        }
    for (size_t i = 0; i < (size_t)j->n * p->nout; i++)
        lz_event_release(j->former[i]);
    for (uint32_t i = 0; i < j->nwait; i++)
        lz_event_release(j->wait[i]);
    if (j->x->ops->job_over)
        j->x->ops->job_over(j);
}

/* Keeps the job for the executable's next execution. */
static void put_back(lz_job *j)
{
    lz_exec *x = j->x;
    lz_job *none = NULL;
    if (!atomic_compare_exchange_strong(&x->spare, &none, j))
        job_free(j);
    release(x);
}

lz_status lz_job_wait(lz_job *j)
{
    lz_host_end(LZ_HOST_QUEUE, j->enqueued);
    for (uint32_t i = 0; i < j->nwait; i++)
        if (!j->x->ops->in_order || lz_event_done(j->wait[i]))
            LZ_TRY(lz_event_wait(j->wait[i]));
    return LZ_OK;
}

/* On the queue, or on the thread of the device's stream. */
static lz_status come_to(void *job, const lz_step_collective *c, const lz_site *site,
                         void *const *bufs, uint32_t reached)
{
    const lz_job *j = job;
    (void)reached;
    return j->x->ops->meet(job, c, site, bufs);
}

static lz_status make_stream(lz_exec_device *d)
{
    char name[16];
    snprintf(name, sizeof name, "lz-comm-%d", d->index);
    d->stream = lz_collective_stream_new(name);
    return d->stream ? LZ_OK : LZ_EMEM;
}

static lz_status start(void *job, const lz_step_collective *c, const lz_site *site,
                       void *const *bufs, uint32_t reached)
{
    lz_job *j = job;
    if (j->uses)
        LZ_TRY(lz_collective_count(j->uses, c->sig, c, c->who.largest));
    if (!j->d->stream)
        LZ_TRY(make_stream(j->d));
    return lz_collective_stream_start(j->d->stream, come_to, j, c, site, bufs, reached);
}

static lz_status done(void *job, const lz_step_collective *c)
{
    const lz_job *j = job;
    return lz_collective_stream_done(j->d->stream, c);
}

/* Behind those that were started, where there are some. */
static lz_status meet(void *job, const lz_step_collective *c, const lz_site *site,
                      void *const *bufs, uint32_t reached)
{
    lz_job *j = job;
    if (lz_collective_stream_busy(j->d->stream)) {
        LZ_TRY(start(job, c, site, bufs, reached));
        return done(job, c);
    }
    if (j->uses)
        LZ_TRY(lz_collective_count(j->uses, c->sig, c, c->who.largest));
    int64_t t0 = lz_now_ns();
    lz_status s = j->x->ops->meet(j, c, site, bufs);
    int64_t ns = lz_now_ns() - t0;
    lz_collective_took(ns, ns);
    return s;
}

/* The job's first error counts; what it has not come to begins with the first collective that was
 * started and has failed. */
static lz_status run_single(lz_job *j, void *temp, void *run)
{
    const lz_plan_meet m = {meet, start, done, j};
    lz_status s = lz_plan_exec_run_one(&j->x->plan_exec, j->state, temp, run, &m, &j->reached);
    if (!j->d->stream)
        return s;
    lz_error err;
    if (s != LZ_OK)
        err = *lz_error_get();
    uint32_t first = lz_collective_stream_drain(j->d->stream);
    if (first < j->reached)
        j->reached = first;
    if (s != LZ_OK)
        lz_error_set(&err);
    else if (first != UINT32_MAX)
        s = lz_error_get()->status;
    return s;
}

lz_status lz_job_run(lz_job *j, void *const *temps, void *run)
{
    const lz_plan *p = j->x->plan;
    const lz_plan_exec *g = &j->x->plan_exec;
    for (uint32_t q = 0; q < j->n; q++) {
        lz_device_buffer **in = j->in + (size_t)q * j->nin, **out = j->out + (size_t)q * p->nout;
        void *own = p->partitions && !j->single ? lz_plan_exec_run_of(g, run, q) : run;
        for (uint32_t k = 0; k < p->nout; k++)
            if (j->copy[(size_t)q * p->nout + k])
                LZ_TRY(g->ops->copy(own, out[k]->data, in[p->out_alias[k]]->data,
                                    p->out_type[k]->nbytes));
    }
    if (j->single)
        return run_single(j, temps[0], run);
    return p->partitions ? lz_plan_exec_run_team(g, j->state, temps, run, j->uses)
                         : lz_plan_exec_run(g, j->state, temps[0], j->cached, run);
}

/* Arguments that were not waited for have arrived by now, or failed, and so have the results. */
static lz_status arguments(const lz_job *j)
{
    for (uint32_t i = 0; i < j->nwait && j->x->ops->in_order; i++)
        LZ_TRY(lz_event_wait(j->wait[i]));
    return LZ_OK;
}

/* The job's references go before the event is set, so that a waiter sees the memory they held as
 * free. */
void lz_job_end(lz_job *j, lz_status s)
{
    lz_error err;
    if (s == LZ_OK)
        s = arguments(j);
    if (s != LZ_OK)
        err = *lz_error_get();
    if (s != LZ_OK && j->single)
        j->x->ops->miss(j->x, j->d, j->reached, &err);
    lz_event *done = j->done;
    let_go(j);
    put_back(j);
    lz_event_complete(done, s != LZ_OK ? &err : NULL);
    lz_event_release(done);
}

static void run_job(void *job)
{
    lz_job *j = job;
    lz_event_begins(j->done);
    j->x->ops->run(j);
}

/* ---- for timelines ---- */

static const char *label_of(const lz_exec *x)
{
    return x->label[0] ? x->label : NULL;
}

void lz_job_span(const lz_job *j, int64_t t0, bool arrow)
{
    lz_timeline_end(t0, .name = "run program", .category = "execute",
                    .key = {"device", "launches", j->enqueued ? "queued_ns" : NULL},
                    .value = {j->d->index, j->x->plan_exec.nlaunch, t0 - j->enqueued},
                    .text_key = "program", .text = label_of(j->x), .flow = arrow ? j->flow : 0);
}

/* The job may have run and been freed. */
static void note_enqueued(const lz_exec *x, int64_t t0, uint64_t flow)
{
    lz_timeline_end(t0, .name = "enqueue", .category = "queue", .text_key = "program",
                    .text = label_of(x), .flow = flow, .sends = true);
}

/* ---- enqueuing ---- */

static const char *argument_name(const lz_job *j, uint32_t q, uint32_t i, char *text, size_t n)
{
    int at = snprintf(text, n, "argument %u", i);
    if (j->x->plan->partitions && !j->single)
        snprintf(text + at, n - (size_t)at, " of partition %u", q);
    return text;
}

/* A program of several partitions takes arguments from all devices. */
static lz_status check_argument(const lz_job *j, uint32_t q, uint32_t i, const lz_device_buffer *b)
{
    const lz_type *t = j->x->plan->in_type[i];
    const lz_exec_device *d = j->d;
    size_t align = j->x->plan_exec.parts->in_align[i];
    char text[96], name[48];
    if (!b)
        return LZ_FAIL(LZ_ENULL, "%s is NULL", argument_name(j, q, i, name, sizeof name));
    if (b->nbytes < t->nbytes)
        return LZ_FAIL(LZ_ESHAPE, "%s has %zu bytes, %s needs %zu",
                       argument_name(j, q, i, name, sizeof name), b->nbytes,
                       lz_type_short(t, text, sizeof text), t->nbytes);
    bool alone = j->single || !j->x->plan->partitions;
    uint32_t home = alone ? (uint32_t)d->index : q;
    if (b->backend != d->backend || ((alone || j->x->ops->own_memory) && b->device != home))
        return LZ_FAIL(LZ_EINVAL, "%s is on %s:%u, the program runs on %s:%u",
                       argument_name(j, q, i, name, sizeof name), lz_backend_at(b->backend)->name,
                       b->device, lz_backend_at(d->backend)->name, home);
    if (align && (uintptr_t)b->data % align)
        return LZ_FAIL(LZ_EINVAL, "%s at %p is not aligned to its elements of %zu bytes",
                       argument_name(j, q, i, name, sizeof name), b->data, align);
    return LZ_OK;
}

/* Results: the argument's own buffer where it is donated (borrowed memory never is), new memory
 *   otherwise. */
static lz_status make_results(lz_job *j, uint32_t q, uint32_t home, const bool *donated, void **at)
{
    const lz_plan *p = j->x->plan;
    lz_device_buffer **in = j->in + (size_t)q * j->nin, **out = j->out + (size_t)q * p->nout;
    bool *copy = j->copy + (size_t)q * p->nout;
    for (uint32_t k = 0; k < p->nout; k++) {
        int32_t a = p->out_alias[k];
        copy[k] = false;
        if (a >= 0 && donated && donated[a] && in[a]->capacity) {
            out[k] = in[a];
            lz_device_buffer_retain(out[k]);
        } else {
            lz_status s = j->x->ops->alloc(j->d, home, p->out_type[k]->nbytes, &out[k]);
            if (s != LZ_OK)
                return lz_plan_explain_memory(p, k, s);
            copy[k] = a >= 0;
        }
        at[k] = out[k]->data;
    }
    return LZ_OK;
}

/* Collects the events the arguments wait for; gives whether the job can start at once. Arguments of
 * one earlier step share an event, so neighbours are compared. */
static bool collect_waits(lz_job *j)
{
    const lz_exec_ops *ops = j->x->ops;
    bool ready = true;
    for (size_t i = 0; i < nins_of(j); i++) {
        lz_event *e = j->in[i]->ready;
        if (!e || (j->nwait && j->wait[j->nwait - 1] == e))
            continue;
        if (!lz_event_done(e))
            ready &= ops->in_order && !(ops->elsewhere && ops->elsewhere(e));
        lz_event_retain(e);
        j->wait[j->nwait++] = e;
    }
    return ready;
}

static lz_status prepare(lz_job *j, const uint32_t *home, lz_device_buffer *const *const *in,
                         const bool *donated)
{
    for (uint32_t q = 0; q < j->n; q++)
        for (uint32_t i = 0; i < j->nin; i++)
            LZ_TRY(check_argument(j, q, i, in[q][i]));
    for (uint32_t q = 0; q < j->n; q++) {
        void **io =
            lz_plan_exec_io(&j->x->plan_exec, lz_plan_exec_state_of(&j->x->plan_exec, j->state, q));
        for (uint32_t i = 0; i < j->nin; i++) {
            j->in[(size_t)q * j->nin + i] = in[q][i];
            lz_device_buffer_retain(in[q][i]);
            io[i] = in[q][i]->data;
        }
        if (j->x->plan->numbered)
            io[j->nin] = j->x->ops->number ? j->x->ops->number(j->d, q) : &j->number[q];
        LZ_TRY(make_results(j, q, home ? home[q] : q, donated, io + j->x->plan->nin));
    }
    j->done = lz_event_new();
    if (!j->done)
        return LZ_EMEM;
    return j->x->ops->job_start ? j->x->ops->job_start(j) : LZ_OK;
}

static void hand_over(lz_job *j, lz_device_buffer ***out, lz_event **done)
{
    lz_device_buffer **b = j->out;
    lz_event **former = j->former;
    for (uint32_t q = 0; q < j->n; q++)
        for (uint32_t k = 0; k < j->x->plan->nout; k++, b++, former++) {
            *former = (*b)->ready;
            lz_event_retain(j->done);
            (*b)->ready = j->done;
            lz_device_buffer_retain(*b);
            out[q][k] = *b;
        }
    lz_event_retain(j->done);
    *done = j->done;
}

/* Undoes hand_over when the queue refused the job: donated arguments have the content that they
 * had.
 */
static void take_back(lz_job *j, lz_device_buffer ***out, lz_event **done)
{
    lz_event **former = j->former;
    LZ_QUIETLY {
        lz_event_complete(j->done, lz_error_get());
        for (uint32_t q = 0; q < j->n; q++)
            for (uint32_t k = 0; k < j->x->plan->nout; k++, former++) {
                lz_event_release(out[q][k]->ready);
                out[q][k]->ready = *former;
                *former = NULL;
                lz_device_buffer_release(out[q][k]);
                out[q][k] = NULL;
            }
        lz_event_release(*done);
        *done = NULL;
    }
}

/* Who runs it: the calling thread at once, though it holds its device's lock, when it is small;
 * that thread when it has left the lock, when it would wait next and the program is brief, or was
 * until now. Of several partitions the time of one is known. */
static lz_status enqueue(lz_job *j, bool awaited, bool ready)
{
    const lz_exec *x = j->x;
    bool single = x->plan->partitions > 0; /* nobody waits here for other partitions */
    if (ready && x->small && !single)
        return lz_queue_push(j->d->queue, run_job, j, true);
    if (ready && x->brief && (awaited || (!single && lz_event_awaited_lately())))
        return lz_queue_push_unlocked(j->d->queue, run_job, j);
    return lz_queue_push(j->d->queue, run_job, j, false);
}

typedef struct absence {
    lz_exec *x;
    lz_exec_device *d;
    lz_error err;
} absence;

static void run_absence(void *arg)
{
    absence *a = arg;
    a->x->ops->miss(a->x, a->d, 0, &a->err);
    release(a->x);
    lz_free(a);
}

/* What was enqueued before meets the others first. */
void lz_exec_miss(lz_exec *x, lz_exec_device *d)
{
    lz_error err = *lz_error_get();
    LZ_QUIETLY {
        absence *a = lz_alloc(sizeof *a);
        if (a) {
            *a = (absence){x, d, err};
            atomic_fetch_add_explicit(&x->refs, 1, memory_order_relaxed);
        }
        if (a && lz_queue_push(d->queue, run_absence, a, false) != LZ_OK)
            run_absence(a);
        if (!a)
            x->ops->miss(x, d, 0, &err);
    }
}

static lz_status execute(lz_exec *x, lz_exec_device *d, bool single, const uint32_t *home,
                         lz_device_buffer *const *const *in, const bool *donated, bool awaited,
                         lz_device_buffer ***out, lz_collective_uses *uses, lz_event **done)
{
    LZ_TRY(lz_fork_check());
    lz_job *j = job_new(x, d, single);
    if (!j)
        return LZ_EMEM;
    j->uses = uses;
    lz_status s = prepare(j, home, in, donated);
    if (s == LZ_OK) {
        bool ready = collect_waits(j);
        hand_over(j, out, done);
        int64_t t0 = lz_timeline_begin();
        uint64_t flow = j->flow;
        s = enqueue(j, awaited, ready);
        note_enqueued(x, t0, flow);
        if (s == LZ_OK) {
            if (x->brief && !x->small) /* for other executables it does not matter who runs them */
                lz_event_started(*done);
            return LZ_OK;
        }
        take_back(j, out, done);
    }
    let_go(j);
    lz_event_release(j->done);
    put_back(j);
    return s;
}

lz_status lz_exec_run(lz_exec *x, lz_exec_device *d, lz_device_buffer *const *in,
                      const bool *donated, bool awaited, lz_device_buffer **out,
                      lz_collective_uses *uses, lz_event **done)
{
    bool single = x->plan->partitions > 0;
    if (single && (!x->ops->meet || ordinal_of(x, d) >= x->plan->partitions))
        return LZ_FAIL(LZ_EINVAL, "a program of %u partitions is run by all of them",
                       x->plan->partitions);
    lz_status s = execute(x, d, single, NULL, &in, donated, awaited, &out, uses, done);
    if (s != LZ_OK && single)
        lz_exec_miss(x, d);
    return s;
}

lz_status lz_exec_run_partitions(lz_exec *x, lz_exec_device *d, int64_t n, const uint32_t *home,
                                 lz_device_buffer *const *const *in, const bool *donated,
                                 bool awaited, lz_device_buffer ***out, lz_collective_uses *uses,
                                 lz_event **done)
{
    if (n < 1 || x->plan->partitions != n)
        return LZ_FAIL(LZ_EINVAL, "a program of %u partitions is run by %" PRId64,
                       x->plan->partitions, n);
    for (uint32_t q = 0; home && x->ops->own_memory && q < n; q++)
        if (home[q] != q)
            return LZ_FAIL(LZ_EUNSUPPORTED,
                           "partition %u runs on device %u: on these devices it is the one with "
                           "its number",
                           q, home[q]);
    return execute(x, d, false, home, in, donated, awaited, out, uses, done);
}
