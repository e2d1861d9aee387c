/* exec.c - executables: launch records made once, executions enqueued and run.
 *
 * A launch record holds what does not change between executions: the function, the run-time sizes, the number of units,
 * how many threads are worth waking, and for each buffer a base (temporaries, constants, argument or result) and an
 * offset. Running a step is a few additions and a call.
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

/* Rough rates of one core, to tell the kernels worth sharing from those that are over before a worker is awake, and the
 * programs worth a queue from those that are done sooner than handed over. */
enum {
    FLOP_PER_NS = 16,
    BYTE_PER_NS = 8,
    KERNEL_NS = 20,
    SHARE_NS = 6000,      /* a kernel that takes longer is shared, */
    PER_THREAD_NS = 3000, /* among as many threads as have that much to do */
    INLINE_NS = 30000,    /* a program that takes less may run in the caller */
    PARALLEL_COPY = 1 << 20,
    SHRINK_AFTER = 64
};
enum { BASE_TEMP, BASE_CONST, BASE_ARGS };

typedef struct ref {
    uint64_t offset;
    uint32_t base;
} ref;

typedef struct launch {
    lz_run_fn run;
    const int64_t *args;
    int64_t grid;
    uint32_t first_ref, nref;
    int threads; /* 1: in the thread that runs the program */
    uint32_t step;
} launch;

typedef struct job job;

struct lz_exec {
    _Atomic uint32_t refs;
    lz_plan *plan;
    lz_kernel_load *loads;
    launch *launches;
    ref *refs_of; /* of all launches */
    uint32_t nlaunch, max_ref;
    size_t scratch_each; /* bytes of scratch of one thread */
    bool shared;         /* some launch is shared by threads */
    bool loops, small;
    size_t *in_align; /* largest element size an argument is read as */
    lz_exec_info info;
    _Atomic(job *) spare; /* a job to use again */
};

struct job {
    lz_exec *x;
    lz_cpu_device *dev;
    lz_event *done;
    uint32_t nwait;
    void **bases; /* BASE_ARGS + nin + nout */
    void **bufs;  /* of one launch */
    lz_dbuf **in, **out;
    lz_event **wait; /* what the arguments' contents wait for */
    bool *copy;      /* per result: starts as a copy of the argument it would have taken over */
};

/* ---- making executables ---- */

static uint64_t estimate_ns(const lz_step *s)
{
    uint64_t f = s->flops / FLOP_PER_NS, b = s->bytes / BYTE_PER_NS;
    return KERNEL_NS + (f > b ? f : b);
}

static uint32_t base_of(const lz_plan *p, const lz_bufref *r)
{
    return r->kind == LZ_SLOT_TEMP    ? BASE_TEMP
           : r->kind == LZ_SLOT_CONST ? BASE_CONST
           : r->kind == LZ_SLOT_INPUT ? BASE_ARGS + r->index
                                      : BASE_ARGS + p->nin + r->index;
}

static int threads_for(const lz_step *s, int64_t grid)
{
    uint64_t ns = estimate_ns(s);
    int n = lz_workers_count();
    if (grid < 2 || ns < SHARE_NS)
        return 1;
    uint64_t want = ns / PER_THREAD_NS;
    return want < (uint64_t)n ? (int)want : n;
}

static void make_launch(lz_exec *x, launch *l, uint32_t step, uint32_t first_ref)
{
    const lz_plan *p = x->plan;
    const lz_step *s = &p->steps[step];
    l->step = step;
    l->args = s->args;
    l->first_ref = first_ref;
    l->nref = s->nbuf;
    l->threads = 1;
    for (uint32_t j = 0; j < s->nbuf; j++) {
        const lz_bufref *r = &s->bufs[j];
        x->refs_of[first_ref + j] = (ref){r->offset, base_of(p, r)};
        size_t esize = lz_dtype_size(p->kernels[s->kernel]->buf[j].dtype);
        if (r->kind == LZ_SLOT_INPUT && esize > x->in_align[r->index])
            x->in_align[r->index] = esize;
    }
    if (x->loops)
        return;
    const lz_kcode *c = x->loads[s->kernel].code;
    l->run = lz_kcode_run(c);
    l->grid = lz_kcode_grid(c)(s->args);
    int64_t scratch = lz_kcode_scratch(c)(s->args);
    if (scratch > 0 && (size_t)scratch > x->scratch_each)
        x->scratch_each = (size_t)scratch;
    l->threads = threads_for(s, l->grid);
    x->shared |= l->threads > 1;
}

static lz_status make_launches(lz_exec *x)
{
    const lz_plan *p = x->plan;
    size_t nref = 0;
    uint64_t ns = 0;
    for (uint32_t i = 0; i < p->nstep; i++) {
        nref += p->steps[i].nbuf;
        x->max_ref = p->steps[i].nbuf > x->max_ref ? p->steps[i].nbuf : x->max_ref;
        ns += estimate_ns(&p->steps[i]);
    }
    x->launches = lz_calloc(p->nstep, sizeof *x->launches);
    x->refs_of = lz_calloc(nref, sizeof *x->refs_of);
    x->in_align = lz_calloc(p->nin, sizeof *x->in_align);
    if (!x->launches || !x->refs_of || !x->in_align)
        return LZ_FAIL(LZ_EMEM, "no memory for an executable of %u steps", p->nstep);
    nref = 0;
    for (uint32_t i = 0; i < p->nstep; nref += p->steps[i++].nbuf) {
        launch *l = &x->launches[x->nlaunch];
        make_launch(x, l, i, (uint32_t)nref);
        if (x->loops || l->grid > 0)
            x->nlaunch++;
    }
    x->scratch_each = LZ_ALIGN_UP(x->scratch_each, 64);
    x->small = !x->loops && ns < INLINE_NS;
    return LZ_OK;
}

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
    f->kernels = p->nkernel;
    f->steps = p->nstep;
    for (uint32_t i = 0; i < p->nkernel && !x->loops; i++) {
        f->code_bytes += lz_kcode_nbytes(x->loads[i].code);
        f->llvm_compiles += x->loads[i].source == LZ_FROM_LLVM;
        f->kernel_hits += x->loads[i].source != LZ_FROM_LLVM;
    }
}

static lz_status make(lz_exec *x, const lz_target *t, lz_cache *cache)
{
    const lz_plan *p = x->plan;
    if (!x->loops) {
        x->loads = lz_calloc(p->nkernel, sizeof *x->loads);
        if (!x->loads)
            return LZ_FAIL(LZ_EMEM, "no memory for an executable of %u kernels", p->nkernel);
        LZ_TRY(lz_kernels_load(p->kernels, p->nkernel, t, cache, x->loads));
    }
    LZ_TRY(make_launches(x));
    make_info(x);
    return LZ_OK;
}

static void release(lz_exec *x)
{
    if (atomic_fetch_sub_explicit(&x->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; x->loads && i < x->plan->nkernel; i++)
        lz_kernels_release(x->loads[i].code);
    lz_plan_free(x->plan);
    lz_free(atomic_load(&x->spare));
    lz_free(x->loads);
    lz_free(x->launches);
    lz_free(x->refs_of);
    lz_free(x->in_align);
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
    x->loops = loops;
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

const lz_kernel_load *lz_cpu_exec_loads(const lz_exec *x)
{
    return x->loads;
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
    size_t each = x->scratch_each * (x->shared ? (size_t)lz_workers_count() : 1);
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

typedef struct shared_launch {
    const launch *l;
    void *const *bufs;
    char *scratch;
    size_t scratch_each;
} shared_launch;

static void run_units(void *ctx, int64_t begin, int64_t end, int worker)
{
    const shared_launch *s = ctx;
    s->l->run(s->bufs, s->l->args, begin, end, s->scratch + (size_t)worker * s->scratch_each);
}

static lz_status run_slow(const job *j, const launch *l)
{
    const lz_step *s = &j->x->plan->steps[l->step];
    size_t nbytes[LZ_KBUF_MAX];
    for (uint32_t i = 0; i < s->nbuf; i++)
        nbytes[i] = s->bufs[i].nbytes;
    return lz_loop_run_args(j->x->plan->kernels[s->kernel], s->args, j->bufs, nbytes);
}

static lz_status run_launches(const job *j)
{
    const lz_exec *x = j->x;
    void **bufs = j->bufs;
    char *scratch = j->dev->scratch;
    for (uint32_t i = 0; i < x->nlaunch; i++) {
        const launch *l = &x->launches[i];
        const ref *r = &x->refs_of[l->first_ref];
        for (uint32_t b = 0; b < l->nref; b++)
            bufs[b] = (char *)j->bases[r[b].base] + r[b].offset;
        if (x->loops) {
            LZ_TRY(run_slow(j, l));
        } else if (l->threads == 1) {
            l->run(bufs, l->args, 0, l->grid, scratch);
        } else {
            shared_launch s = {l, bufs, scratch, x->scratch_each};
            lz_workers_run(l->grid, l->threads, run_units, &s);
        }
    }
    return LZ_OK;
}

typedef struct copy {
    char *dst;
    const char *src;
    size_t nbytes;
} copy;

static void copy_pages(void *ctx, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    const copy *c = ctx;
    size_t from = (size_t)begin << 12, to = (size_t)end << 12;
    to = to < c->nbytes ? to : c->nbytes;
    memcpy(c->dst + from, c->src + from, to - from);
}

static void copy_bytes(void *dst, const void *src, size_t nbytes)
{
    copy c = {dst, src, nbytes};
    if (nbytes >= PARALLEL_COPY)
        lz_workers_run((int64_t)((nbytes + 4095) >> 12), 0, copy_pages, &c);
    else if (nbytes)
        memcpy(dst, src, nbytes);
}

static lz_status run(job *j)
{
    const lz_plan *p = j->x->plan;
    for (uint32_t i = 0; i < j->nwait; i++)
        LZ_TRY(lz_event_wait(j->wait[i]));
    LZ_TRY(room(j->dev, j->x));
    j->bases[BASE_TEMP] = j->dev->temp;
    j->bases[BASE_CONST] = p->consts;
    for (uint32_t k = 0; k < p->nout; k++)
        if (j->copy[k])
            copy_bytes(j->out[k]->data, j->in[p->out_alias[k]]->data, p->out_type[k]->nbytes);
    return run_launches(j);
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
        size_t nbases = BASE_ARGS + (size_t)nin + nout,
               nptr = nbases + x->max_ref + 2 * (size_t)nin + nout;
        j = lz_alloc(sizeof *j + nptr * sizeof(void *) + nout * sizeof(bool));
        if (!j) {
            (void)LZ_FAIL(LZ_EMEM, "no memory to run a program of %u arguments", nin);
            return NULL;
        }
        j->bases = (void **)(j + 1);
        j->bufs = j->bases + nbases;
        j->in = (lz_dbuf **)(j->bufs + x->max_ref);
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
    if (x->in_align[i] && (uintptr_t)b->data % x->in_align[i])
        return LZ_FAIL(LZ_EINVAL, "argument %u at %p is not aligned to its elements of %zu bytes",
                       i, b->data, x->in_align[i]);
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
        j->bases[BASE_ARGS + p->nin + k] = j->out[k]->data;
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
        j->bases[BASE_ARGS + i] = in[i]->data;
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
