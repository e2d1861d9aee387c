/* job.c - see job.h. */
#include "backends/common/job.h"
#include "base/alloc.h"
#include "base/timeline.h"
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
}

static lz_status make(lz_exec *x, void *maker, lz_cache *cache)
{
    LZ_TRY(lz_plan_exec_begin(&x->plan_exec, x->plan));
    LZ_TRY(x->ops->make(x, maker, cache));
    make_info(x);
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
    lz_free(x->loads);
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

static lz_job *job_new(lz_exec *x, lz_exec_device *d)
{
    lz_job *j = atomic_exchange(&x->spare, NULL);
    uint32_t nin = x->plan->nin, nout = x->plan->nout;
    if (!j) {
        size_t own = LZ_ALIGN_UP(x->ops->job_bytes, sizeof(void *));
        size_t nptr = x->plan_exec.nptr + 2 * (size_t)nin + nout;
        j = lz_alloc(own + nptr * sizeof(void *) + nout * sizeof(bool));
        if (!j) {
            (void)LZ_FAIL(LZ_EMEM, "no memory to run a program of %u arguments", nin);
            return NULL;
        }
        memset(j, 0, own);
        j->x = x;
        j->state = (void **)(void *)((char *)j + own);
        j->in = (lz_device_buffer **)(j->state + x->plan_exec.nptr);
        j->out = j->in + nin;
        j->wait = (lz_event **)(j->out + nout);
        j->copy = (bool *)(j->wait + nin);
        lz_plan_exec_state(&x->plan_exec, j->state);
    }
    j->d = d;
    j->done = NULL;
    j->cached = NULL;
    j->enqueued = lz_timeline_begin();
    j->flow = j->enqueued ? lz_timeline_flow() : 0;
    j->nwait = 0;
    memset(j->in, 0, ((size_t)nin + nout) * sizeof *j->in);
    atomic_fetch_add_explicit(&x->refs, 1, memory_order_relaxed);
    return j;
}

/* Releases everything the job references, but not the job itself. */
static void let_go(lz_job *j)
{
    const lz_plan *p = j->x->plan;
    for (uint32_t i = 0; i < p->nin; i++)
        lz_device_buffer_release(j->in[i]);
    for (uint32_t k = 0; k < p->nout; k++) {
        if (j->out[k] &&
            p->out_alias[k] >= 0) /* the job wrote to it: the content gets a new number */
            lz_device_buffer_changed(j->out[k]);
        lz_device_buffer_release(j->out[k]);
    }
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
    for (uint32_t i = 0; i < j->nwait; i++)
        if (!j->x->ops->in_order || lz_event_done(j->wait[i]))
            LZ_TRY(lz_event_wait(j->wait[i]));
    return LZ_OK;
}

lz_status lz_job_run(lz_job *j, void *temp, void *run)
{
    const lz_plan *p = j->x->plan;
    for (uint32_t k = 0; k < p->nout; k++)
        if (j->copy[k])
            LZ_TRY(j->x->plan_exec.ops->copy(run, j->out[k]->data, j->in[p->out_alias[k]]->data,
                                             p->out_type[k]->nbytes));
    return lz_plan_exec_run(&j->x->plan_exec, j->state, temp, j->cached, run);
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
    lz_event *done = j->done;
    let_go(j);
    put_back(j);
    lz_event_complete(done, s != LZ_OK ? &err : NULL);
    lz_event_release(done);
}

static void run_job(void *job)
{
    lz_job *j = job;
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

static lz_status check_argument(const lz_job *j, uint32_t i, const lz_device_buffer *b)
{
    const lz_type *t = j->x->plan->in_type[i];
    const lz_exec_device *d = j->d;
    size_t align = j->x->plan_exec.parts->in_align[i];
    char text[96];
    if (!b)
        return LZ_FAIL(LZ_ENULL, "argument %u is NULL", i);
    if (b->nbytes < t->nbytes)
        return LZ_FAIL(LZ_ESHAPE, "argument %u has %zu bytes, %s needs %zu", i, b->nbytes,
                       lz_type_short(t, text, sizeof text), t->nbytes);
    if (b->backend != d->backend || b->device != (uint32_t)d->index)
        return LZ_FAIL(LZ_EINVAL, "argument %u is on %s:%u, the program runs on %s:%d", i,
                       lz_backend_at(b->backend)->name, b->device, lz_backend_at(d->backend)->name,
                       d->index);
    if (align && (uintptr_t)b->data % align)
        return LZ_FAIL(LZ_EINVAL, "argument %u at %p is not aligned to its elements of %zu bytes",
                       i, b->data, align);
    return LZ_OK;
}

/* Results: the argument's own buffer where it is donated (borrowed memory never is), new memory
 *   otherwise. */
static lz_status make_results(lz_job *j, const bool *donated, void **at)
{
    const lz_plan *p = j->x->plan;
    for (uint32_t k = 0; k < p->nout; k++) {
        int32_t a = p->out_alias[k];
        j->copy[k] = false;
        if (a >= 0 && donated && donated[a] && j->in[a]->capacity) {
            j->out[k] = j->in[a];
            lz_device_buffer_retain(j->out[k]);
        } else {
            LZ_TRY(j->x->ops->alloc(j->d, p->out_type[k]->nbytes, &j->out[k]));
            j->copy[k] = a >= 0;
        }
        at[k] = j->out[k]->data;
    }
    return LZ_OK;
}

/* Collects the events the arguments wait for; gives whether the job can start at once. Arguments of
 * one earlier step share an event, so neighbours are compared. */
static bool collect_waits(lz_job *j)
{
    const lz_exec_ops *ops = j->x->ops;
    bool ready = true;
    for (uint32_t i = 0; i < j->x->plan->nin; i++) {
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

static lz_status prepare(lz_job *j, lz_device_buffer *const *in, const bool *donated)
{
    const lz_plan *p = j->x->plan;
    void **io = lz_plan_exec_io(&j->x->plan_exec, j->state);
    for (uint32_t i = 0; i < p->nin; i++)
        LZ_TRY(check_argument(j, i, in[i]));
    for (uint32_t i = 0; i < p->nin; i++) {
        j->in[i] = in[i];
        lz_device_buffer_retain(in[i]);
        io[i] = in[i]->data;
    }
    LZ_TRY(make_results(j, donated, io + p->nin));
    if (j->x->ops->job_start)
        LZ_TRY(j->x->ops->job_start(j));
    j->done = lz_event_new();
    return j->done ? LZ_OK : LZ_EMEM;
}

static void hand_over(lz_job *j, lz_device_buffer **out, lz_event **done)
{
    for (uint32_t k = 0; k < j->x->plan->nout; k++) {
        lz_device_buffer *b = j->out[k];
        lz_event_release(b->ready);
        lz_event_retain(j->done);
        b->ready = j->done;
        lz_device_buffer_retain(b);
        out[k] = b;
    }
    lz_event_retain(j->done);
    *done = j->done;
}

/* Undoes hand_over when the queue refused the job. */
static void take_back(lz_job *j, lz_device_buffer **out, lz_event **done)
{
    LZ_QUIETLY {
        lz_event_complete(j->done, lz_error_get());
        for (uint32_t k = 0; k < j->x->plan->nout; k++) {
            lz_device_buffer_release(out[k]);
            out[k] = NULL;
        }
        lz_event_release(*done);
        *done = NULL;
    }
}

lz_status lz_exec_run(lz_exec *x, lz_exec_device *d, lz_device_buffer *const *in,
                      const bool *donated, bool awaited, lz_device_buffer **out, lz_event **done)
{
    LZ_TRY(lz_fork_check());
    lz_job *j = job_new(x, d);
    if (!j)
        return LZ_EMEM;
    lz_status s = prepare(j, in, donated);
    if (s == LZ_OK) {
        bool ready = collect_waits(j);
        hand_over(j, out, done);
        bool soon = awaited || lz_event_awaited_lately();
        bool here = x->small || (soon && x->brief);
        int64_t t0 = lz_timeline_begin();
        uint64_t flow = j->flow;
        s = lz_queue_push(d->queue, run_job, j, here && ready);
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
