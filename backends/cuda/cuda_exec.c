/* cuda_exec.c - executables of a CUDA device: backends/common/job.h with kernels that are put on
 * the compute stream. The launching queue puts a job on the stream; then the finishing queue waits
 * for the event behind it and ends it. So the next job is on the stream while this one runs.
 * Control flow reads its predicate back, so it synchronizes with the stream. Temporaries are one
 * block per device, which jobs hold references to. Constants are uploaded once, together with the
 * run-time sizes of kernels that have too many for kernel parameters. Threads: as
 * backends/common/job.h. */
#include "backends/cuda/cuda_device.h"
#include "backends/common/profile.h"
#include "base/alloc.h"
#include <inttypes.h>
#include <string.h>

enum {
    INLINE_LAUNCHES =
        32, /* a program of at most so many launches may be launched by the calling thread */
    SHRINK_AFTER = 64
};

typedef struct cuda_exec {
    lz_exec x;
    cuda_device *d;
    lz_device_buffer *consts; /* NULL: none */
    uint64_t scratch; /* bytes of device memory that the kernels share, one after the other */
    cuda_graphs graphs;
    cuda_product *products; /* launches by a library */
    lz_profile *profile;    /* NULL: not profiled */
    lz_cache *cache;        /* while the executable is made */
} cuda_exec;

typedef struct cuda_job {
    lz_job j;
    cu_event over;          /* event behind the last kernel */
    lz_device_buffer *temp; /* temporaries, then scratch */
    LZ_VEC(cuda_stretch)
    times;              /* stretches put on the stream for a timeline, and not noted yet */
    int64_t begin, end; /* of the noted ones; 0: none */
} cuda_job;

typedef struct record {
    const cuda_code *code;
    const lz_step *step;
    lz_simt_dims dims;
    bool far;              /* run-time sizes are passed in memory, */
    cu_ptr at;             /* at this address */
    bool scratch;          /* the kernel takes a scratch pointer */
    cuda_product *product; /* NULL: not by a library */
    lz_profile_launch what;
} record;

typedef struct cuda_run {
    cuda_device *d;
    cu_ptr scratch;
    bool timed;        /* measured per launch: for the table or a timeline, */
    cuda_job *job;     /* and this is the current one */
    uint64_t products; /* products by a library so far */
} cuda_run;

static cu_ptr address(const void *p)
{
    return (cu_ptr)(uintptr_t)p;
}

/* ---- making ---- */

static lz_status launch_so(cuda_device *d, const void *rec, const lz_simt_dims *dims, void *scratch,
                           void *const *bufs);

/* The tuned configuration of the launch (LAZULI_TUNE); its sizes are parameters. */
static lz_choice tuned(cuda_exec *x, const lz_kernel *k, const lz_step *s, const record *r)
{
    cuda_device *d = x->d;
    cuda_tuning where = {d, r, launch_so};
    if (!d->tune || r->far)
        return (lz_choice){0};
    lz_tuner t = {&cuda_tune_ops, &where, d->at.queue, x->cache, d->tune > 1, &x->x.info};
    lz_choice c = lz_tune(&t, k, s);
    x->x.info.tuned += !lz_choice_is_model(c);
    return c;
}

static lz_status prepare(void *maker, const lz_kernel *k, uint32_t i, const lz_step *s, void *out,
                         bool *idle)
{
    cuda_exec *x = maker;
    record *r = out;
    r->code = lz_kstore_code(x->x.loads[i].code);
    r->step = s;
    r->far = lz_simt_args_in_memory(k);
    r->scratch = lz_simt_takes_scratch(k);
    cuda_dims_of(x->d, k, s, (lz_choice){0}, &r->dims);
    *idle = !r->dims.nlaunch;
    size_t workspace = 0;
    if (!*idle)
        LZ_TRY(cuda_product_new(x->d, k, s, &x->products, &r->product, &workspace));
    lz_choice how = *idle || r->product ? (lz_choice){0} : tuned(x, k, s, r);
    if (!lz_choice_is_model(how))
        cuda_dims_of(x->d, k, s, how, &r->dims);
    if (r->dims.scratch > x->scratch)
        x->scratch = r->dims.scratch;
    if (workspace > x->scratch)
        x->scratch = workspace;
    uint32_t blocks = r->dims.launch[0].grid, threads = r->dims.launch[0].block;
    if (r->product) /* the library chooses them */
        blocks = threads = 0;
    r->what = (lz_profile_launch){k, s, blocks, (int)threads, NULL};
    lz_profile_add(x->profile, &r->what);
    return LZ_OK;
}

/* Walks the constants of all parts. With `at` NULL it only counts; otherwise `at` is the block on
 * the device, and everything is copied there and learns its address. */
static lz_status place_constants(cuda_exec *x, char *at, uint64_t *nbytes)
{
    const lz_plan_exec *g = &x->x.plan_exec;
    uint64_t n = 0;
    for (uint32_t i = 0; i < g->npart; i++) {
        lz_part *p = &g->parts[i];
        if (at && p->plan->const_bytes) {
            p->consts = at + n;
            LZ_TRY(cuda_copy_in(x->d, address(at + n), p->plan->consts, p->plan->const_bytes));
        }
        n += LZ_ALIGN_UP(p->plan->const_bytes, 64);
        for (uint32_t k = 0; k < p->nlaunch; k++) {
            record *r = lz_plan_exec_record(g, p, k);
            if (!r || !r->far)
                continue;
            uint64_t size = r->step->narg * sizeof(int64_t);
            if (at) {
                r->at = address(at + n);
                LZ_TRY(cuda_copy_in(x->d, r->at, r->step->args, size));
            }
            n += LZ_ALIGN_UP(size, 64);
        }
    }
    *nbytes = n;
    return LZ_OK;
}

static const lz_plan_exec_ops plan_exec_ops;

static lz_status make(lz_exec *exec, void *maker, lz_cache *cache)
{
    cuda_exec *x = (cuda_exec *)exec;
    uint64_t nbytes;
    x->d = maker;
    LZ_TRY(lz_exec_load(exec, &x->d->kernels, x->d, cache, NULL));
    LZ_TRY(lz_profile_of(&exec->plan_exec, &x->profile));
    x->cache = cache;
    LZ_TRY(lz_plan_exec_make(&exec->plan_exec, &plan_exec_ops, x));
    x->cache = NULL;
    exec->small = !exec->plan_exec.control && exec->plan_exec.nrun <= INLINE_LAUNCHES;
    if (!x->profile) /* a profile times each launch by itself */
        LZ_TRY(cuda_graphs_make(&x->graphs, exec));
    LZ_TRY(place_constants(x, NULL, &nbytes));
    if (!nbytes)
        return LZ_OK;
    LZ_TRY(cuda_alloc(x->d, nbytes, &x->consts));
    return place_constants(x, x->consts->data, &nbytes);
}

static void unmake(lz_exec *exec)
{
    cuda_exec *x = (cuda_exec *)exec;
    cuda_graphs_free(x->d, &x->graphs);
    cuda_products_free(x->products);
    lz_profile_free(x->profile);
    lz_device_buffer_release(x->consts);
}

static size_t code_bytes(const lz_kcode *c)
{
    return ((const cuda_code *)lz_kstore_code(c))->nbytes;
}

/* ---- times ---- */

/* Most stretches of a job that are kept until it ends, or synchronizes. */
enum { TIMES = 4096 };

/* Everything that the job has put on the stream so far is complete. */
static void note_times(cuda_device *d, cuda_job *j)
{
    int64_t begin, end;
    cuda_stretches_note(d, j->times.data, j->times.len, &begin, &end);
    j->times.len = 0;
    if (!j->begin)
        j->begin = begin;
    j->end = end ? end : j->end;
    cuda_times_look(d);
}

/* Notes the job's stretch in the timeline, or drops it. */
static void keep_time(const cuda_run *c, cuda_stretch *t)
{
    cuda_job *j = c->job;
    if (!t->to)
        return;
    if (!j || lz_vec_push(&j->times, *t) != LZ_OK)
        cuda_stretch_drop(c->d, t);
    else if (j->times.len == TIMES && cuda_stretch_wait(t))
        note_times(c->d, j);
}

/* ---- launching ---- */

static lz_status copy(void *run, void *dst, const void *src, size_t nbytes)
{
    const cuda_run *c = run;
    cuda_device *d = c->d;
    cuda_stretch t = {.row = CUDA_ROW_COMPUTE, .name = "copy", .nbytes = nbytes};
    if (!nbytes)
        return LZ_OK;
    if (c->job)
        cuda_stretch_begin(d, d->compute, &t);
    lz_status s =
        cuda_check(d, lz_cuda.MemcpyDtoDAsync(address(dst), address(src), nbytes, d->compute),
                   "copying a value");
    cuda_stretch_end(d, d->compute, &t);
    keep_time(c, &t);
    return s;
}

/* Reads back a predicate that the stream computes. */
static lz_status read_bool(void *run, const void *at, bool *out)
{
    const cuda_run *c = run;
    cuda_device *d = c->d;
    if (!d->flag)
        CUDA_TRY(d, MemHostAlloc((void **)&d->flag, 64, 0), "allocating pinned memory");
    CUDA_TRY(d, MemcpyDtoHAsync(d->flag, address(at), 1, d->compute), "reading a condition");
    CUDA_TRY(d, StreamSynchronize(d->compute), "waiting for a condition");
    if (c->job)
        note_times(d, c->job);
    *out = *d->flag != 0;
    return LZ_OK;
}

static lz_status to_host(void *run, void *dst, const void *src, size_t nbytes)
{
    cuda_device *d = ((const cuda_run *)run)->d;
    if (!nbytes)
        return LZ_OK;
    CUDA_TRY(d, MemcpyDtoHAsync(dst, address(src), nbytes, d->compute), "reading a value");
    return cuda_check(d, lz_cuda.StreamSynchronize(d->compute), "waiting for a value");
}

static lz_status from_host(void *run, void *dst, const void *src, size_t nbytes)
{
    cuda_device *d = ((const cuda_run *)run)->d;
    if (!nbytes)
        return LZ_OK;
    CUDA_TRY(d, MemcpyHtoDAsync(address(dst), src, nbytes, d->compute), "writing a value");
    return cuda_check(d, lz_cuda.StreamSynchronize(d->compute), "waiting for a value");
}

/* Encodes tensor maps (TMA descriptors) of a product's operands at their current addresses. False:
 * the addresses do not allow it, or the driver has no tensor maps. */
static bool make_maps(cuda_device *d, const record *r, void *const *bufs)
{
    if (!lz_cuda.TensorMapEncodeTiled || !lz_cuda.LaunchKernelEx)
        return false;
    for (int i = 0; i < 2; i++) {
        const lz_simt_map *m = &r->dims.map[i];
        char *at = (char *)bufs[m->buf] + m->offset;
        static const uint32_t steps[SIMT_MAP_RANK] = {1, 1, 1, 1, 1};
        int type = m->dtype == LZ_F16 ? CU_MAP_F16 : CU_MAP_BF16;
        if (address(at) % SIMT_MAP_ALIGN ||
            lz_cuda.TensorMapEncodeTiled(d->map[i].bytes, type, m->rank, at, m->size, m->stride + 1,
                                         m->box, steps, 0, CU_MAP_SWIZZLE_128, CU_MAP_PROMOTE_256,
                                         0) != CU_OK)
            return false;
    }
    return true;
}

static int launch_one(const cuda_device *d, cu_function f, const lz_simt_launch *l)
{
    if (l->cluster <= 1)
        return lz_cuda.LaunchKernel(f, l->grid, 1, 1, l->block, 1, 1, l->shared, d->compute,
                                    (void **)d->param, NULL);
    cu_launch_attribute a = {.id = CU_LAUNCH_CLUSTER, .value = {.cluster = {l->cluster, 1, 1}}};
    cu_launch_config c = {.grid = {l->grid, 1, 1},
                          .block = {l->block, 1, 1},
                          .shared = l->shared,
                          .stream = d->compute,
                          .attributes = &a,
                          .nattribute = 1};
    return lz_cuda.LaunchKernelEx(&c, f, (void **)d->param, NULL);
}

static lz_status launch_kernel(const cuda_run *c, const record *r, void *const *bufs)
{
    cuda_device *d = c->d;
    uint32_t n = r->step->nbuf;
    for (uint32_t i = 0; i < n; i++)
        d->value[i] = address(bufs[i]);
    if (r->far)
        d->value[n++] = r->at;
    for (uint32_t i = 0; i < r->step->narg && !r->far; i++)
        d->value[n++] = (uint64_t)r->step->args[i];
    if (r->scratch) {
        d->value[n++] = c->scratch;
        d->value[n++] = r->dims.share;
    }
    for (uint32_t i = 0; i < n; i++)
        d->param[i] = &d->value[i];
    for (uint32_t i = 0; i < 2; i++)
        d->param[n + i] = d->map[i].bytes;
    for (uint32_t i = 0; i < r->dims.nlaunch; i++) {
        const lz_simt_launch *l = &r->dims.launch[i];
        if (l->entry == SIMT_TMA && !make_maps(d, r, bufs))
            l = &r->dims.plain;
        LZ_TRY(cuda_check(d, launch_one(d, r->code->function[l->entry], l), "launching a kernel"));
    }
    return LZ_OK;
}

static lz_status launch(cuda_run *c, const record *r, void *const *bufs)
{
    bool ran = false;
    if (r->product)
        LZ_TRY(cuda_product_launch(c->d, r->product, bufs, c->scratch, &ran));
    c->products += ran;
    return ran ? LZ_OK : launch_kernel(c, r, bufs);
}

/* The launch with other dimensions than its own, to be measured. On the launching queue. */
static lz_status launch_so(cuda_device *d, const void *rec, const lz_simt_dims *dims, void *scratch,
                           void *const *bufs)
{
    record r = *(const record *)rec;
    r.dims = *dims;
    return launch_kernel(&(cuda_run){d, address(scratch), false, NULL, 0}, &r, bufs);
}

/* Time between events before and after a launch, by the device's clock, for the table and for the
 * timeline. For the table it synchronizes: that of a profile is the time of kernels by
 * themselves. */
static lz_status timed_launch(void *run, const void *rec, void *const *bufs)
{
    cuda_run *c = run;
    const record *r = rec;
    cuda_stretch t = {.row = CUDA_ROW_COMPUTE, .launch = &r->what};
    int64_t ns;
    if (!c->timed)
        return launch(c, r, bufs);
    cuda_stretch_begin(c->d, c->d->compute, &t);
    lz_status s = launch(c, r, bufs);
    cuda_stretch_end(c->d, c->d->compute, &t);
    if (s == LZ_OK && r->what.row && cuda_stretch_wait(&t) && cuda_stretch_ns(&t, &ns))
        lz_profile_count(&r->what, ns, 0);
    keep_time(c, &t);
    return s;
}

static const lz_plan_exec_ops plan_exec_ops = {
    .record_bytes = sizeof(record),
    .prepare = prepare,
    .launch = timed_launch,
    .copy = copy,
    .read_bool = read_bool,
    .to_host = to_host,
    .from_host = from_host,
};

/* ---- jobs; on the launching queue ---- */

/* Makes the device's temporaries large enough; a large block is freed after many jobs in a row that
 * needed far less. */
static lz_status room(cuda_device *d, size_t need)
{
    size_t have = d->temp ? d->temp->capacity : 0;
    bool oversized = have > (size_t)64 << 20 && need < have / 4;
    d->oversized = oversized ? d->oversized + 1 : 0;
    if (have >= need && d->oversized <= SHRINK_AFTER)
        return LZ_OK;
    lz_device_buffer_release(d->temp); /* running jobs hold references to it */
    d->temp = NULL;
    return cuda_alloc(d, need, &d->temp);
}

static lz_status launch_all(cuda_job *j, uint64_t scratch_at)
{
    cuda_device *d = (cuda_device *)j->j.d;
    cuda_exec *x = (cuda_exec *)j->j.x;
    char *temp = j->temp ? j->temp->data : NULL;
    LZ_TRY(cuda_after_uploads(d));
    LZ_TRY(cuda_after_copies(d, &j->j));
    lz_profile_ran(x->profile);
    /* The whole job is one stretch: a graph has one time for all of it. */
    bool traced = lz_timeline_on();
    cuda_run r = {d, address(temp) + scratch_at, x->profile || traced, traced ? j : NULL, 0};
    int64_t t0 = lz_timeline_begin();
    LZ_TRY(r.timed ? lz_job_run(&j->j, (void *[]){temp}, &r)
                   : cuda_graphs_run(d, &x->graphs, &j->j, temp, &r, &r.products));
    atomic_fetch_add_explicit(&d->libs.made, r.products, memory_order_relaxed);
    lz_job_span(&j->j, t0, false); /* its arrow leads to the device's row */
    return cuda_check(d, lz_cuda.EventRecord(j->over, d->compute), "recording an event");
}

static void finish(void *job)
{
    cuda_job *j = job;
    cuda_device *d = (cuda_device *)j->j.d;
    lz_status s = cuda_await(d, j->over, "running a program");
    if (s == LZ_OK && (j->times.len || j->begin) && cuda_enter(d) == LZ_OK) {
        note_times(d, j);
        if (j->begin)
            cuda_program_note(d, &j->j, j->begin, j->end);
        cuda_leave(d);
    }
    lz_job_end(&j->j, s);
}

/* Puts the job on the stream; from then on the finishing queue ends it. */
static lz_status launch_job(cuda_job *j)
{
    cuda_device *d = (cuda_device *)j->j.d;
    const cuda_exec *x = (const cuda_exec *)j->j.x;
    uint64_t temp_bytes = LZ_ALIGN_UP(x->x.plan->temp_bytes, 64), need;
    LZ_TRY(lz_job_wait(&j->j));
    if (__builtin_add_overflow(temp_bytes, x->scratch, &need))
        return LZ_FAIL(LZ_EDEVMEM, "CUDA:%d: rows that are to be sorted are too long", d->at.index);
    LZ_TRY(room(d, need));
    j->temp = d->temp;
    if (j->temp)
        lz_device_buffer_retain(j->temp);
    LZ_TRY(cuda_enter(d));
    lz_status s = launch_all(j, temp_bytes);
    if (s == LZ_OK)
        s = lz_queue_push(d->finish, finish, j, false);
    if (s != LZ_OK) { /* launched work must not outlive its memory */
        LZ_QUIETLY {
            (void)lz_cuda.StreamSynchronize(d->compute);
        }
    }
    cuda_leave(d);
    return s;
}

static void run(lz_job *j)
{
    lz_status s = launch_job((cuda_job *)j);
    if (s != LZ_OK)
        lz_job_end(j, s);
}

static lz_status job_start(lz_job *job)
{
    cuda_job *j = (cuda_job *)job;
    cuda_device *d = (cuda_device *)job->d;
    if (j->over)
        return LZ_OK;
    LZ_TRY(cuda_enter(d));
    lz_status s =
        cuda_check(d, lz_cuda.EventCreate(&j->over, CU_EVENT_NO_TIMING), "making an event");
    cuda_leave(d);
    if (s != LZ_OK)
        j->over = NULL;
    return s;
}

/* A failed job has no times. */
static void forget_times(cuda_device *d, cuda_job *j)
{
    bool inside = cuda_enter(d) == LZ_OK;
    while (j->times.len)
        cuda_stretch_drop(d, &j->times.data[--j->times.len]);
    if (inside)
        cuda_leave(d);
}

static void job_over(lz_job *job)
{
    cuda_job *j = (cuda_job *)job;
    lz_device_buffer_release(j->temp);
    j->temp = NULL;
    if (j->times.len)
        forget_times((cuda_device *)job->d, j);
    j->begin = j->end = 0;
}

static void job_free(lz_job *job)
{
    cuda_job *j = (cuda_job *)job;
    cuda_device *d = (cuda_device *)job->d;
    if (j->over && cuda_enter(d) == LZ_OK) {
        (void)lz_cuda.EventDestroy(j->over);
        cuda_leave(d);
    }
    lz_vec_free(&j->times);
}

/* ---- executables ---- */

static lz_status alloc(lz_exec_device *d, uint32_t q, size_t nbytes, lz_device_buffer **out)
{
    (void)q;
    return cuda_alloc((cuda_device *)d, nbytes, out);
}

static const lz_exec_ops exec_ops = {
    .exec_bytes = sizeof(cuda_exec),
    .job_bytes = sizeof(cuda_job),
    .make = make,
    .unmake = unmake,
    .code_bytes = code_bytes,
    .alloc = alloc,
    .run = run,
    .in_order = true,
    .elsewhere = cuda_copy_waits,
    .job_start = job_start,
    .job_over = job_over,
    .job_free = job_free,
};

lz_status cuda_exec_new(cuda_device *d, lz_plan *p, lz_cache *cache, lz_exec **out)
{
    return lz_exec_new(&exec_ops, p, d, cache, out);
}

lz_status cuda_exec_run(lz_exec *x, cuda_device *d, lz_device_buffer *const *in,
                        const bool *donated, bool awaited, lz_device_buffer **out, lz_event **done)
{
    const cuda_device *home = ((const cuda_exec *)x)->d;
    if (home != d)
        return LZ_FAIL(LZ_EINVAL, "the program was compiled for CUDA:%d, not for CUDA:%d",
                       home->at.index, d->at.index);
    return lz_exec_run(x, &d->at, in, donated, awaited, out, done);
}
