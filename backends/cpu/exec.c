/* exec.c - executables: a program made once (prog.h), executions enqueued and run.
 * An execution is a job: references to everything it touches, so callers may release what they like at once. Its errors
 * go to the event. See exec.h for threads. */
#include "backends/cpu/exec.h"
#include "backends/cpu/mem.h"
#include "backends/cpu/workers.h"
#include "base/alloc.h"
#include "base/thread.h"
#include "lower/loop_impl.h"
#include <inttypes.h>
#include <string.h>

enum {
    INLINE_NS = 30000, /* a program that takes less may run in the caller */
    SHRINK_AFTER = 64
};

typedef struct job job;

struct lz_exec {
    _Atomic uint32_t refs;
    lz_plan *plan;
    lz_prog prog;
    lz_prog_need need;
    bool small;
    lz_exec_info info;
    _Atomic(job *) spare; /* a job to use again */
};

struct job {
    lz_exec *x;
    lz_cpu_device *dev;
    lz_event *done;
    uint32_t nwait;
    void **bases; /* of the program: the first of the pointers of a run */
    lz_dbuf **in, **out;
    lz_event **wait; /* what the arguments' contents wait for */
    bool *copy;      /* per result: starts as a copy of the argument it would have taken over */
};

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
    f->kernels = lz_prog_kernels(&x->prog);
    f->steps = p->nstep;
    for (uint32_t i = 0; i < f->kernels && !x->need.loops; i++) {
        const lz_kernel_load *l;
        (void)lz_prog_kernel(&x->prog, i, &l);
        f->code_bytes += lz_kcode_nbytes(l->code);
        f->llvm_compiles += l->source == LZ_FROM_LLVM;
        f->kernel_hits += l->source != LZ_FROM_LLVM;
    }
}

static lz_status make(lz_exec *x, const lz_target *t, lz_cache *cache)
{
    LZ_TRY(lz_prog_make(&x->prog, x->plan, t, cache, &x->need));
    x->need.scratch_each = LZ_ALIGN_UP(x->need.scratch_each, 64);
    x->small = !x->need.loops && x->need.ns < INLINE_NS;
    make_info(x);
    return LZ_OK;
}

static void release(lz_exec *x)
{
    if (atomic_fetch_sub_explicit(&x->refs, 1, memory_order_acq_rel) != 1)
        return;
    lz_prog_end(&x->prog);
    lz_plan_free(x->plan);
    lz_free(atomic_load(&x->spare));
    lz_free(x);
}

lz_status lz_cpu_exec_new(lz_plan *p, const lz_target *t, lz_cache *cache, bool loops,
                          lz_exec **out)
{
    *out = NULL;
    lz_exec *x = lz_calloc(1, sizeof *x);
    if (!x) {
        lz_plan_free(p);
        return LZ_FAIL(LZ_EMEM, "no memory for an executable");
    }
    atomic_init(&x->refs, 1);
    x->plan = p;
    x->need.loops = loops;
    lz_status s = make(x, t, cache);
    if (s != LZ_OK)
        release(x);
    else
        *out = x;
    return s;
}

void lz_cpu_exec_free(lz_exec *x)
{
    if (x)
        release(x);
}

void lz_cpu_exec_info(const lz_exec *x, lz_exec_info *out)
{
    *out = x->info;
}

void lz_cpu_exec_note(lz_exec *x, double compile_ms)
{
    x->info.compile_ms = compile_ms;
}

const lz_plan *lz_cpu_exec_plan(const lz_exec *x)
{
    return x->plan;
}

uint32_t lz_cpu_exec_kernels(const lz_exec *x)
{
    return x->info.kernels;
}

const lz_kernel *lz_cpu_exec_kernel(const lz_exec *x, uint32_t i, const lz_kernel_load **load)
{
    return lz_prog_kernel(&x->prog, i, load);
}

/* ---- memory of a device ---- */

static lz_status grow(const lz_cpu_device *d, void **p, size_t *have, size_t need)
{
    if (*have >= need)
        return LZ_OK;
    lz_mem_free(d->index, *p, *have);
    *p = NULL;
    *have = 0;
    size_t cap = 0;
    LZ_TRY(lz_mem_alloc(d->index, need, p, &cap));
    *have = cap;
    return LZ_OK;
}

/* Temporaries stay for the next execution; a large block that many executions in a row did not need is given back. */
static lz_status room(lz_cpu_device *d, const lz_exec *x)
{
    size_t temp = x->plan->temp_bytes;
    bool oversized = d->temp_bytes > (size_t)8 << 20 && temp < d->temp_bytes / 4;
    d->oversized = oversized ? d->oversized + 1 : 0;
    if (d->oversized > SHRINK_AFTER) {
        lz_mem_free(d->index, d->temp, d->temp_bytes);
        d->temp = NULL;
        d->temp_bytes = 0;
    }
    LZ_TRY(grow(d, &d->temp, &d->temp_bytes, temp));
    size_t each = x->need.scratch_each * (x->need.shared ? (size_t)lz_workers_count() : 1);
    return grow(d, &d->scratch, &d->scratch_bytes, each);
}

void lz_cpu_device_end(lz_cpu_device *d)
{
    lz_mem_free(d->index, d->temp, d->temp_bytes);
    lz_mem_free(d->index, d->scratch, d->scratch_bytes);
    d->temp = d->scratch = NULL;
    d->temp_bytes = d->scratch_bytes = 0;
}

/* ---- running ---- */

static lz_status run(job *j)
{
    const lz_plan *p = j->x->plan;
    for (uint32_t i = 0; i < j->nwait; i++)
        LZ_TRY(lz_event_wait(j->wait[i]));
    LZ_TRY(room(j->dev, j->x));
    j->bases[LZ_BASE_TEMP] = j->dev->temp;
    j->bases[LZ_BASE_CONST] = p->consts;
    for (uint32_t k = 0; k < p->nout; k++)
        if (j->copy[k])
            lz_prog_copy(j->out[k]->data, j->in[p->out_alias[k]]->data, p->out_type[k]->nbytes);
    lz_prog_run r = {j->bases - j->x->prog.ptr_at, j->dev->scratch, &j->x->need};
    return lz_prog_run_all(&j->x->prog, &r);
}

/* Gives up everything the job holds, but not the job. */
static void let_go(job *j)
{
    const lz_plan *p = j->x->plan;
    for (uint32_t i = 0; i < p->nin; i++)
        lz_dbuf_release(j->in[i]);
    for (uint32_t k = 0; k < p->nout; k++)
        lz_dbuf_release(j->out[k]);
    for (uint32_t i = 0; i < j->nwait; i++)
        lz_event_release(j->wait[i]);
}

static void job_end(job *j)
{
    lz_exec *x = j->x;
    job *none = NULL;
    if (!atomic_compare_exchange_strong(&x->spare, &none, j))
        lz_free(j);
    release(x);
}

/* What a waiter can see of memory is right when the event is set: the job's references go first. */
static void job_run(void *arg)
{
    job *j = arg;
    lz_status s = run(j);
    lz_error err;
    if (s != LZ_OK)
        err = *lz_error_get();
    lz_event *done = j->done;
    let_go(j);
    job_end(j);
    lz_event_complete(done, s != LZ_OK ? &err : NULL);
    lz_event_release(done);
}

/* ---- enqueuing ---- */

static job *job_new(lz_exec *x, lz_cpu_device *d)
{
    job *j = atomic_exchange(&x->spare, NULL);
    uint32_t nin = x->plan->nin, nout = x->plan->nout;
    if (!j) {
        size_t nptr = x->need.nptr + 2 * (size_t)nin + nout;
        j = lz_alloc(sizeof *j + nptr * sizeof(void *) + nout * sizeof(bool));
        if (!j) {
            (void)LZ_FAIL(LZ_EMEM, "no memory to run a program of %u arguments", nin);
            return NULL;
        }
        void **ptr = (void **)(j + 1);
        j->bases = ptr + x->prog.ptr_at;
        j->in = (lz_dbuf **)(ptr + x->need.nptr);
        j->out = j->in + nin;
        j->wait = (lz_event **)(j->out + nout);
        j->copy = (bool *)(j->wait + nin);
    }
    j->x = x;
    j->dev = d;
    j->nwait = 0;
    return j;
}

static lz_status check_argument(const lz_exec *x, const lz_cpu_device *d, uint32_t i,
                                const lz_dbuf *b)
{
    const lz_type *t = x->plan->in_type[i];
    char text[96];
    if (!b)
        return LZ_FAIL(LZ_ENULL, "argument %u is NULL", i);
    if (b->nbytes < t->nbytes)
        return LZ_FAIL(LZ_ESHAPE, "argument %u has %zu bytes, %s needs %zu", i, b->nbytes,
                       lz_type_short(t, text, sizeof text), t->nbytes);
    if (b->backend != d->backend || b->device != (uint32_t)d->index)
        return LZ_FAIL(LZ_EINVAL, "argument %u is on %s:%u, the program runs on CPU:%d", i,
                       lz_backend_at(b->backend)->name, b->device, d->index);
    if (x->prog.in_align[i] && (uintptr_t)b->data % x->prog.in_align[i])
        return LZ_FAIL(LZ_EINVAL, "argument %u at %p is not aligned to its elements of %zu bytes",
                       i, b->data, x->prog.in_align[i]);
    return LZ_OK;
}

/* Results: the argument's own buffer where it is given away (borrowed memory never is), new memory otherwise. */
static lz_status make_results(job *j, const bool *donated)
{
    const lz_plan *p = j->x->plan;
    for (uint32_t k = 0; k < p->nout; k++) {
        int32_t a = p->out_alias[k];
        j->copy[k] = false;
        if (a >= 0 && donated && donated[a] && j->in[a]->capacity) {
            j->out[k] = j->in[a];
            lz_dbuf_retain(j->out[k]);
        } else {
            LZ_TRY(lz_cpu_alloc(j->dev->index, p->out_type[k]->nbytes, &j->out[k]));
            j->copy[k] = a >= 0;
        }
        j->bases[LZ_BASE_ARGS + p->nin + k] = j->out[k]->data;
    }
    return LZ_OK;
}

/* Notes what the arguments wait for. Those of one earlier step share an event, so neighbours are compared. */
static bool collect_waits(job *j)
{
    bool ready = true;
    for (uint32_t i = 0; i < j->x->plan->nin; i++) {
        lz_event *e = j->in[i]->ready;
        if (!e || (j->nwait && j->wait[j->nwait - 1] == e))
            continue;
        ready &= lz_event_done(e);
        lz_event_retain(e);
        j->wait[j->nwait++] = e;
    }
    return ready;
}

static void hand_over(job *j, lz_dbuf **out, lz_event **done)
{
    for (uint32_t k = 0; k < j->x->plan->nout; k++) {
        lz_dbuf *b = j->out[k];
        lz_event_release(b->ready);
        lz_event_retain(j->done);
        b->ready = j->done;
        lz_dbuf_retain(b);
        out[k] = b;
    }
    lz_event_retain(j->done);
    *done = j->done;
}

static lz_status prepare(job *j, lz_dbuf *const *in, const bool *donated)
{
    const lz_plan *p = j->x->plan;
    for (uint32_t i = 0; i < p->nin; i++)
        LZ_TRY(check_argument(j->x, j->dev, i, in[i]));
    for (uint32_t i = 0; i < p->nin; i++) {
        j->in[i] = in[i];
        lz_dbuf_retain(in[i]);
        j->bases[LZ_BASE_ARGS + i] = in[i]->data;
    }
    LZ_TRY(make_results(j, donated));
    j->done = lz_event_new();
    return j->done ? LZ_OK : LZ_EMEM;
}

/* Undoes hand_over when the queue did not take the job. */
static void take_back(job *j, lz_dbuf **out, lz_event **done)
{
    lz_error err = *lz_error_get();
    lz_event_complete(j->done, &err);
    for (uint32_t k = 0; k < j->x->plan->nout; k++) {
        lz_dbuf_release(out[k]);
        out[k] = NULL;
    }
    lz_event_release(*done);
    *done = NULL;
    lz_error_set(&err);
}

lz_status lz_cpu_exec_run(lz_exec *x, lz_cpu_device *d, lz_dbuf *const *in, const bool *donated,
                          lz_dbuf **out, lz_event **done)
{
    LZ_TRY(lz_fork_check());
    job *j = job_new(x, d);
    if (!j)
        return LZ_EMEM;
    atomic_fetch_add_explicit(&x->refs, 1, memory_order_relaxed);
    j->done = NULL;
    memset(j->in, 0, x->plan->nin * sizeof *j->in);
    memset(j->out, 0, x->plan->nout * sizeof *j->out);
    lz_status s = prepare(j, in, donated);
    if (s == LZ_OK) {
        bool ready = collect_waits(j);
        hand_over(j, out, done);
        s = lz_queue_push(d->queue, job_run, j, x->small && ready);
        if (s == LZ_OK)
            return LZ_OK;
        take_back(j, out, done);
    }
    let_go(j);
    lz_event_release(j->done);
    job_end(j);
    return s;
}
