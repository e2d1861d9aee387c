/* exec.c - executables of a CUDA device: a program made once (prog.h), executions enqueued, waited for, and let go.
 *
 * An execution is a job. The launching queue puts its kernels on the compute stream; then the finishing queue waits for the event behind them,
 * releases what the job holds and completes its event. So the next job is on the stream while this one runs. Jobs need not wait for the
 * arguments other jobs make: the stream is in order. Temporaries are one block per device, which jobs hold as well.
 * Threads: an executable is immutable and thread-safe. */
#include "backends/cuda/prog.h"
#include "base/alloc.h"
#include <inttypes.h>
#include <string.h>

enum {
    INLINE_LAUNCHES = 32, /* a program of so few may be launched by the caller */
    SHRINK_AFTER = 64
};

typedef struct job job;

struct lz_exec {
    _Atomic uint32_t refs;
    cuda_device *d;
    lz_plan *plan;
    cuda_prog prog;
    cuda_need need;
    lz_exec_info info;
    _Atomic(job *) spare;
};

struct job {
    lz_exec *x;
    cuda_device *d;
    lz_event *done;
    cu_event over;   /* behind the last kernel */
    lz_dbuf *temp;   /* temporaries, then scratch */
    cu_ptr *address; /* of a run */
    cu_ptr *bases;   /* the program's among them */
    lz_dbuf **in, **out;
    bool *copy; /* per result: starts as a copy of the argument it would have taken over */
};

static cu_ptr address(const lz_dbuf *b)
{
    return b ? (cu_ptr)(uintptr_t)b->data : 0;
}

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
    f->steps = p->nstep;
    cuda_prog_info(&x->prog, f);
}

static lz_status make(lz_exec *x, lz_cache *cache)
{
    LZ_TRY(cuda_prog_make(&x->prog, x->d, x->plan, cache, &x->need));
    make_info(x);
    return LZ_OK;
}

static void job_free(job *j)
{
    if (j && j->over && cuda_enter(j->d) == LZ_OK) {
        (void)lz_cuda.EventDestroy(j->over);
        cuda_leave(j->d);
    }
    lz_free(j);
}

static void release(lz_exec *x)
{
    if (atomic_fetch_sub_explicit(&x->refs, 1, memory_order_acq_rel) != 1)
        return;
    cuda_prog_end(&x->prog);
    job_free(atomic_load(&x->spare));
    lz_plan_free(x->plan);
    lz_free(x);
}

lz_status cuda_exec_new(cuda_device *d, lz_plan *p, lz_cache *cache, lz_exec **out)
{
    *out = NULL;
    lz_exec *x = lz_calloc(1, sizeof *x);
    if (!x) {
        lz_plan_free(p);
        return LZ_FAIL(LZ_EMEM, "no memory for an executable");
    }
    atomic_init(&x->refs, 1);
    x->d = d;
    x->plan = p;
    lz_status s = make(x, cache);
    if (s != LZ_OK)
        release(x);
    else
        *out = x;
    return s;
}

void cuda_exec_free(lz_exec *x)
{
    if (x)
        release(x);
}

void cuda_exec_info(const lz_exec *x, lz_exec_info *out)
{
    *out = x->info;
}

void cuda_exec_note(lz_exec *x, double compile_ms)
{
    x->info.compile_ms = compile_ms;
}

const lz_plan *cuda_exec_plan(const lz_exec *x)
{
    return x->plan;
}

/* ---- launching; on the launching queue ---- */

/* The device's temporaries are large enough; a large block that many jobs in a row did not need is given back. */
static lz_status room(cuda_device *d, size_t need)
{
    size_t have = d->temp ? d->temp->capacity : 0;
    bool oversized = have > (size_t)64 << 20 && need < have / 4;
    d->oversized = oversized ? d->oversized + 1 : 0;
    if (have >= need && d->oversized <= SHRINK_AFTER)
        return LZ_OK;
    lz_dbuf_release(d->temp); /* jobs that run hold it */
    d->temp = NULL;
    return cuda_alloc(d, need, &d->temp);
}

/* An argument of a job that has failed: its error. The rest is on the stream before this one. */
static lz_status check_arguments(const job *j)
{
    for (uint32_t i = 0; i < j->x->plan->nin; i++)
        if (j->in[i]->ready && lz_event_done(j->in[i]->ready))
            LZ_TRY(lz_event_wait(j->in[i]->ready));
    return LZ_OK;
}

static uint64_t temp_bytes(const lz_exec *x)
{
    return LZ_ALIGN_UP(x->plan->temp_bytes, 64);
}

static lz_status launch_all(job *j)
{
    cuda_device *d = j->d;
    const lz_plan *p = j->x->plan;
    LZ_TRY(cuda_after_uploads(d));
    for (uint32_t k = 0; k < p->nout; k++)
        if (j->copy[k] && p->out_type[k]->nbytes)
            CUDA_TRY(d,
                     MemcpyDtoDAsync(address(j->out[k]), address(j->in[p->out_alias[k]]),
                                     p->out_type[k]->nbytes, d->compute),
                     "copying an argument");
    cuda_run r = {d, j->address, address(j->temp) + temp_bytes(j->x)};
    LZ_TRY(cuda_prog_run(&j->x->prog, &r));
    return cuda_check(d, lz_cuda.EventRecord(j->over, d->compute), "recording an event");
}

static lz_status launch_job(job *j)
{
    cuda_device *d = j->d;
    LZ_TRY(check_arguments(j));
    uint64_t need;
    if (__builtin_add_overflow(temp_bytes(j->x), j->x->need.scratch, &need))
        return LZ_FAIL(LZ_EDEVMEM, "CUDA:%d: rows that are to be sorted are too long", d->index);
    LZ_TRY(room(d, need));
    j->temp = d->temp;
    if (j->temp)
        lz_dbuf_retain(j->temp);
    j->bases[CUDA_BASE_TEMP] = address(j->temp);
    j->bases[CUDA_BASE_CONST] = address(j->x->prog.consts);
    LZ_TRY(cuda_enter(d));
    lz_status s = launch_all(j);
    lz_error err;
    if (s != LZ_OK) { /* what was launched must not outlive its memory */
        err = *lz_error_get();
        (void)lz_cuda.StreamSynchronize(d->compute);
        lz_error_set(&err);
    }
    cuda_leave(d);
    return s;
}

/* ---- finishing ---- */

static void let_go(job *j)
{
    const lz_plan *p = j->x->plan;
    for (uint32_t i = 0; i < p->nin; i++)
        lz_dbuf_release(j->in[i]);
    for (uint32_t k = 0; k < p->nout; k++)
        lz_dbuf_release(j->out[k]);
    lz_dbuf_release(j->temp);
    j->temp = NULL;
}

static void job_end(job *j)
{
    lz_exec *x = j->x;
    job *none = NULL;
    if (!atomic_compare_exchange_strong(&x->spare, &none, j))
        job_free(j);
    release(x);
}

/* What a waiter can see of memory is right when the event is set: the job's references go first. */
static void end(job *j, lz_status s)
{
    lz_error err;
    if (s != LZ_OK)
        err = *lz_error_get();
    lz_event *done = j->done;
    let_go(j);
    job_end(j);
    lz_event_complete(done, s != LZ_OK ? &err : NULL);
    lz_event_release(done);
}

static void finish(void *arg)
{
    job *j = arg;
    lz_status s = cuda_enter(j->d);
    if (s == LZ_OK) {
        s = cuda_check(j->d, lz_cuda.EventSynchronize(j->over), "running a program");
        cuda_leave(j->d);
    }
    end(j, s);
}

static void run(void *arg)
{
    job *j = arg;
    lz_status s = launch_job(j);
    if (s == LZ_OK)
        s = lz_queue_push(j->d->finish, finish, j, false);
    if (s != LZ_OK)
        end(j, s);
}

/* ---- enqueuing ---- */

static job *job_new(lz_exec *x)
{
    job *j = atomic_exchange(&x->spare, NULL);
    uint32_t nin = x->plan->nin, nout = x->plan->nout;
    if (!j) {
        j = lz_alloc(sizeof *j + x->need.naddress * sizeof(cu_ptr) +
                     ((size_t)nin + nout) * sizeof(lz_dbuf *) + nout * sizeof(bool));
        if (!j) {
            (void)LZ_FAIL(LZ_EMEM, "no memory to run a program of %u arguments", nin);
            return NULL;
        }
        j->address = (cu_ptr *)(j + 1);
        j->bases = j->address + x->prog.at;
        j->in = (lz_dbuf **)(j->address + x->need.naddress);
        j->out = j->in + nin;
        j->copy = (bool *)(j->out + nout);
        j->over = NULL;
    }
    j->x = x;
    j->d = x->d;
    j->temp = NULL;
    j->done = NULL;
    memset(j->in, 0, nin * sizeof *j->in);
    memset(j->out, 0, nout * sizeof *j->out);
    return j;
}

static lz_status check_argument(const lz_exec *x, uint32_t i, const lz_dbuf *b)
{
    const lz_type *t = x->plan->in_type[i];
    char text[96];
    if (!b)
        return LZ_FAIL(LZ_ENULL, "argument %u is NULL", i);
    if (b->nbytes < t->nbytes)
        return LZ_FAIL(LZ_ESHAPE, "argument %u has %zu bytes, %s needs %zu", i, b->nbytes,
                       lz_type_short(t, text, sizeof text), t->nbytes);
    if (b->backend != x->d->backend || b->device != (uint32_t)x->d->index)
        return LZ_FAIL(LZ_EINVAL, "argument %u is on %s:%u, the program runs on CUDA:%d", i,
                       lz_backend_at(b->backend)->name, b->device, x->d->index);
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
            LZ_TRY(cuda_alloc(j->d, p->out_type[k]->nbytes, &j->out[k]));
            j->copy[k] = a >= 0;
        }
        j->bases[CUDA_BASE_ARGS + p->nin + k] = address(j->out[k]);
    }
    return LZ_OK;
}

static lz_status prepare(job *j, lz_dbuf *const *in, const bool *donated)
{
    const lz_plan *p = j->x->plan;
    for (uint32_t i = 0; i < p->nin; i++)
        LZ_TRY(check_argument(j->x, i, in[i]));
    for (uint32_t i = 0; i < p->nin; i++) {
        j->in[i] = in[i];
        lz_dbuf_retain(in[i]);
        j->bases[CUDA_BASE_ARGS + i] = address(in[i]);
    }
    LZ_TRY(make_results(j, donated));
    if (!j->over) {
        LZ_TRY(cuda_enter(j->d));
        lz_status s =
            cuda_check(j->d, lz_cuda.EventCreate(&j->over, CU_EVENT_NO_TIMING), "making an event");
        cuda_leave(j->d);
        if (s != LZ_OK)
            j->over = NULL;
        LZ_TRY(s);
    }
    j->done = lz_event_new();
    return j->done ? LZ_OK : LZ_EMEM;
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

lz_status cuda_exec_run(lz_exec *x, cuda_device *d, lz_dbuf *const *in, const bool *donated,
                        lz_dbuf **out, lz_event **done)
{
    LZ_TRY(lz_fork_check());
    if (x->d != d)
        return LZ_FAIL(LZ_EINVAL, "the program was compiled for CUDA:%d, not for CUDA:%d",
                       x->d->index, d->index);
    job *j = job_new(x);
    if (!j)
        return LZ_EMEM;
    atomic_fetch_add_explicit(&x->refs, 1, memory_order_relaxed);
    lz_status s = prepare(j, in, donated);
    if (s == LZ_OK) {
        hand_over(j, out, done);
        s = lz_queue_push(d->queue, run, j,
                          !x->need.control && x->need.launches <= INLINE_LAUNCHES);
        if (s == LZ_OK)
            return LZ_OK;
        take_back(j, out, done);
    }
    let_go(j);
    lz_event_release(j->done);
    job_end(j);
    return s;
}
