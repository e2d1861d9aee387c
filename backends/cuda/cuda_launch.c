/* cuda_launch.c - launch records of CUDA devices, and what a run does with them: kernels, copies
 * and predicates on the compute stream of a device. Control flow reads its predicate back, so it
 * synchronizes with the stream. Constants are uploaded once to every device of an executable,
 * together with the run-time sizes of kernels that have too many for kernel parameters. Threads: as
 * backends/common/job.h. */
#include "backends/cuda/cuda_exec.h"
#include "base/alloc.h"
#include <string.h>

/* What differs between the devices of an executable. */
typedef struct place {
    const cuda_code *code;
    cu_ptr at;             /* of run-time sizes that are passed in memory */
    cuda_product *product; /* NULL: not by a library */
} place;

typedef struct record {
    const lz_step *step;
    lz_simt_dims dims;
    bool far;     /* run-time sizes are passed in memory */
    bool scratch; /* the kernel takes a scratch pointer */
    place *on;    /* by device */
    lz_profile_launch what;
} record;

typedef struct maker {
    cuda_exec *x;
    const cuda_program *p;
} maker;

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

/* Code and library products on every device. */
static lz_status place_all(const maker *m, const lz_kernel *k, uint32_t i, record *r,
                           size_t *workspace)
{
    cuda_exec *x = m->x;
    bool idle = !r->dims.nlaunch;
    r->on = lz_arena_alloc(&m->p->g->arena, x->n * sizeof *r->on);
    if (!r->on)
        return LZ_FAIL(LZ_EMEM, "no memory for a launch");
    memset(r->on, 0, x->n * sizeof *r->on);
    for (uint32_t q = 0; q < x->n; q++) {
        size_t own = 0;
        cuda_device *d = cuda_exec_device(x, q);
        LZ_TRY(cuda_code_on(lz_kstore_code(m->p->loads[i].code), k, d, &r->on[q].code));
        if (!idle)
            LZ_TRY(cuda_product_new(d, k, r->step, &x->products, &r->on[q].product, &own));
        *workspace = own > *workspace ? own : *workspace;
    }
    return LZ_OK;
}

static lz_status prepare(void *user, const lz_kernel *k, uint32_t i, const lz_step *s, void *out,
                         bool *idle)
{
    const maker *m = user;
    cuda_exec *x = m->x;
    record *r = out;
    size_t workspace = 0;
    if (!k)
        return LZ_FAIL(LZ_EUNSUPPORTED, "%s: this device has no routine", s->name);
    r->step = s;
    r->far = lz_simt_args_in_memory(k);
    r->scratch = lz_simt_takes_scratch(k);
    cuda_dims_of(x->d, k, s, (lz_choice){0}, &r->dims);
    *idle = !r->dims.nlaunch;
    LZ_TRY(place_all(m, k, i, r, &workspace));
    bool product = r->on[0].product != NULL;
    lz_choice how = *idle || product ? (lz_choice){0} : tuned(x, k, s, r);
    if (!lz_choice_is_model(how))
        cuda_dims_of(x->d, k, s, how, &r->dims);
    if (r->dims.scratch > x->scratch)
        x->scratch = r->dims.scratch;
    if (workspace > x->scratch)
        x->scratch = workspace;
    uint32_t blocks = r->dims.launch[0].grid, threads = r->dims.launch[0].block;
    if (product) /* the library chooses them */
        blocks = threads = 0;
    r->what = (lz_profile_launch){k, s, blocks, (int)threads, NULL};
    if (m->p == &x->program) /* a collective is not one of its launches */
        lz_profile_add(x->profile, &r->what);
    return LZ_OK;
}

/* Walks the constants of all parts. With `at` NULL it only counts; otherwise `at` is the block on
 * device q, and everything is copied there and learns its address. */
static lz_status place_constants(const cuda_exec *x, const cuda_program *prog, uint32_t q, char *at,
                                 uint64_t *nbytes)
{
    const lz_plan_exec *g = prog->g;
    cuda_device *d = cuda_exec_device(x, q);
    uint64_t n = 0;
    for (uint32_t i = 0; i < g->npart; i++) {
        lz_part *p = &g->parts[i];
        if (at && p->plan->const_bytes) {
            p->consts_of[q] = at + n;
            LZ_TRY(cuda_copy_in(d, cuda_address(at + n), p->plan->consts, p->plan->const_bytes));
        }
        n += LZ_ALIGN_UP(p->plan->const_bytes, 64);
        for (uint32_t k = 0; k < p->nlaunch; k++) {
            record *r = lz_plan_exec_record(g, p, k);
            if (!r || !r->far)
                continue;
            uint64_t size = r->step->narg * sizeof(int64_t);
            if (at) {
                r->on[q].at = cuda_address(at + n);
                LZ_TRY(cuda_copy_in(d, r->on[q].at, r->step->args, size));
            }
            n += LZ_ALIGN_UP(size, 64);
        }
    }
    *nbytes = n;
    return LZ_OK;
}

static lz_status make_constants(const cuda_exec *x, cuda_program *p)
{
    uint64_t nbytes;
    LZ_TRY(place_constants(x, p, 0, NULL, &nbytes));
    p->consts = lz_calloc(x->n, sizeof(lz_device_buffer *));
    bool ok = p->consts != NULL;
    for (uint32_t i = 0; i < p->g->npart && ok; i++) {
        lz_part *part = &p->g->parts[i];
        part->consts_of = lz_arena_alloc(&p->g->arena, x->n * sizeof(void *));
        ok = part->consts_of != NULL;
        if (ok)
            memset(part->consts_of, 0, x->n * sizeof(void *));
    }
    if (!ok)
        return LZ_FAIL(LZ_EMEM, "no memory for the constants of a program");
    for (uint32_t q = 0; q < x->n && nbytes; q++) {
        LZ_TRY(cuda_alloc(cuda_exec_device(x, q), nbytes, &p->consts[q]));
        LZ_TRY(place_constants(x, p, q, p->consts[q]->data, &nbytes));
    }
    return LZ_OK;
}

lz_status cuda_program_make(cuda_exec *x, cuda_program *p)
{
    maker m = {x, p};
    LZ_TRY(lz_plan_exec_make(p->g, &cuda_plan_ops, &m));
    return make_constants(x, p);
}

void cuda_program_end(const cuda_exec *x, cuda_program *p)
{
    for (uint32_t q = 0; p->consts && q < x->n; q++)
        lz_device_buffer_release(p->consts[q]);
    lz_free(p->consts);
    p->consts = NULL;
}

/* ---- times ---- */

/* Most stretches of a job that are kept until it ends, or synchronizes. */
enum { TIMES = 4096 };

void cuda_note_times(cuda_device *d, cuda_part *j)
{
    int64_t begin, end;
    cuda_stretches_note(d, j->times.data, j->times.len, &begin, &end);
    j->times.len = 0;
    if (!j->begin)
        j->begin = begin;
    j->end = end ? end : j->end;
    cuda_times_look(d);
}

void cuda_keep_time(const cuda_run *c, cuda_stretch *t)
{
    cuda_part *j = c->part;
    if (!t->to)
        return;
    if (!j || lz_vec_push(&j->times, *t) != LZ_OK)
        cuda_stretch_drop(c->d, t);
    else if (j->times.len == TIMES && cuda_stretch_wait(t))
        cuda_note_times(c->d, j);
}

/* ---- launching ---- */

static lz_status copy(void *run, void *dst, const void *src, size_t nbytes)
{
    const cuda_run *c = run;
    cuda_device *d = c->d;
    cuda_stretch t = {.row = CUDA_ROW_COMPUTE, .name = "copy", .nbytes = nbytes};
    if (!nbytes)
        return LZ_OK;
    LZ_TRY(cuda_team_here(c));
    if (c->part)
        cuda_stretch_begin(d, d->compute, &t);
    lz_status s = cuda_check(
        d, lz_cuda.MemcpyDtoDAsync(cuda_address(dst), cuda_address(src), nbytes, d->compute),
        "copying a value");
    cuda_stretch_end(d, d->compute, &t);
    cuda_keep_time(c, &t);
    return s;
}

/* Reads back a predicate that the stream computes. */
static lz_status read_bool(void *run, const void *at, bool *out)
{
    const cuda_run *c = run;
    cuda_device *d = c->d;
    unsigned char **flag = &c->l->flag;
    LZ_TRY(cuda_team_here(c));
    if (!*flag)
        CUDA_TRY(d, MemHostAlloc((void **)flag, 64, 0), "allocating pinned memory");
    CUDA_TRY(d, MemcpyDtoHAsync(*flag, cuda_address(at), 1, d->compute), "reading a condition");
    CUDA_TRY(d, StreamSynchronize(d->compute), "waiting for a condition");
    if (c->part)
        cuda_note_times(d, c->part);
    *out = **flag != 0;
    return LZ_OK;
}

static lz_status to_host(void *run, void *dst, const void *src, size_t nbytes)
{
    cuda_device *d = ((const cuda_run *)run)->d;
    if (!nbytes)
        return LZ_OK;
    LZ_TRY(cuda_team_here(run));
    CUDA_TRY(d, MemcpyDtoHAsync(dst, cuda_address(src), nbytes, d->compute), "reading a value");
    return cuda_check(d, lz_cuda.StreamSynchronize(d->compute), "waiting for a value");
}

static lz_status from_host(void *run, void *dst, const void *src, size_t nbytes)
{
    cuda_device *d = ((const cuda_run *)run)->d;
    if (!nbytes)
        return LZ_OK;
    LZ_TRY(cuda_team_here(run));
    CUDA_TRY(d, MemcpyHtoDAsync(cuda_address(dst), src, nbytes, d->compute), "writing a value");
    return cuda_check(d, lz_cuda.StreamSynchronize(d->compute), "waiting for a value");
}

/* Encodes tensor maps (TMA descriptors) of a product's operands at their current addresses. False:
 * the addresses do not allow it, or the driver has no tensor maps. */
static bool make_maps(cuda_launcher *d, const record *r, void *const *bufs)
{
    if (!lz_cuda.TensorMapEncodeTiled || !lz_cuda.LaunchKernelEx)
        return false;
    for (int i = 0; i < 2; i++) {
        const lz_simt_map *m = &r->dims.map[i];
        char *at = (char *)bufs[m->buf] + m->offset;
        static const uint32_t steps[SIMT_MAP_RANK] = {1, 1, 1, 1, 1};
        int type = m->dtype == LZ_F32 ? CU_MAP_TF32 : m->dtype == LZ_F16 ? CU_MAP_F16 : CU_MAP_BF16;
        if (cuda_address(at) % SIMT_MAP_ALIGN ||
            lz_cuda.TensorMapEncodeTiled(d->map[i].bytes, type, m->rank, at, m->size, m->stride + 1,
                                         m->box, steps, 0, CU_MAP_SWIZZLE_128, CU_MAP_PROMOTE_256,
                                         0) != CU_OK)
            return false;
    }
    return true;
}

static int launch_one(const cuda_device *d, const cuda_launcher *w, cu_function f,
                      const lz_simt_launch *l)
{
    if (l->cluster <= 1)
        return lz_cuda.LaunchKernel(f, l->grid, 1, 1, l->block, 1, 1, l->shared, d->compute,
                                    (void **)w->param, NULL);
    cu_launch_attribute a = {.id = CU_LAUNCH_CLUSTER, .value = {.cluster = {l->cluster, 1, 1}}};
    cu_launch_config c = {.grid = {l->grid, 1, 1},
                          .block = {l->block, 1, 1},
                          .shared = l->shared,
                          .stream = d->compute,
                          .attributes = &a,
                          .nattribute = 1};
    return lz_cuda.LaunchKernelEx(&c, f, (void **)w->param, NULL);
}

static lz_status launch_kernel(const cuda_run *c, const record *r, void *const *bufs)
{
    cuda_device *d = c->d;
    cuda_launcher *w = c->l;
    const place *on = &r->on[c->q];
    uint32_t n = r->step->nbuf;
    for (uint32_t i = 0; i < n; i++)
        w->value[i] = cuda_address(bufs[i]);
    if (r->far)
        w->value[n++] = on->at;
    for (uint32_t i = 0; i < r->step->narg && !r->far; i++)
        w->value[n++] = (uint64_t)r->step->args[i];
    if (r->scratch) {
        w->value[n++] = c->scratch;
        w->value[n++] = r->dims.share;
    }
    for (uint32_t i = 0; i < n; i++)
        w->param[i] = &w->value[i];
    for (uint32_t i = 0; i < 2; i++)
        w->param[n + i] = w->map[i].bytes;
    for (uint32_t i = 0; i < r->dims.nlaunch; i++) {
        const lz_simt_launch *l = &r->dims.launch[i];
        if (l->entry == SIMT_TMA && !make_maps(w, r, bufs))
            l = &r->dims.plain;
        LZ_TRY(
            cuda_check(d, launch_one(d, w, on->code->function[l->entry], l), "launching a kernel"));
    }
    return LZ_OK;
}

static lz_status launch(cuda_run *c, const record *r, void *const *bufs)
{
    bool ran = false;
    cuda_product *product = r->on[c->q].product;
    if (product)
        LZ_TRY(cuda_product_launch(c->d, product, bufs, c->scratch, &ran));
    c->products += ran;
    return ran ? LZ_OK : launch_kernel(c, r, bufs);
}

/* The launch with other dimensions than its own, to be measured. On the launching queue. */
static lz_status launch_so(cuda_device *d, const void *rec, const lz_simt_dims *dims, void *scratch,
                           void *const *bufs)
{
    record r = *(const record *)rec;
    r.dims = *dims;
    return launch_kernel(&(cuda_run){.d = d, .l = &d->own, .scratch = cuda_address(scratch)}, &r,
                         bufs);
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
    LZ_TRY(cuda_team_here(c));
    if (!c->timed)
        return launch(c, r, bufs);
    cuda_stretch_begin(c->d, c->d->compute, &t);
    lz_status s = launch(c, r, bufs);
    cuda_stretch_end(c->d, c->d->compute, &t);
    if (s == LZ_OK && r->what.row && cuda_stretch_wait(&t) && cuda_stretch_ns(&t, &ns))
        lz_profile_count(&r->what, ns, 0);
    cuda_keep_time(c, &t);
    return s;
}

static void *run_of(void *run, uint32_t q)
{
    return &((const cuda_team *)run)->run[q];
}

const lz_plan_exec_ops cuda_plan_ops = {
    .record_bytes = sizeof(record),
    .prepare = prepare,
    .launch = timed_launch,
    .copy = copy,
    .read_bool = read_bool,
    .to_host = to_host,
    .from_host = from_host,
    .collective = cuda_collective_run,
    .of = run_of,
};
