/* cpu_exec.c - see cpu_exec.h: launch records of the CPU, workspace memory of kernels, and running
 * a job. A launch record holds what does not change between executions: the function, the run-time
 * sizes, the number of units, how many threads to wake. Running a kernel is a function call. */
#include "backends/cpu/cpu_exec.h"
#include "backends/cpu/invariant_cache.h"
#include "backends/cpu/cpu_mem.h"
#include "backends/cpu/cpu_tuning.h"
#include "backends/common/profile.h"
#include "lower/plan/plan_memory.h"
#include "backends/cpu/workers.h"
#include "base/alloc.h"
#include "base/thread.h"
#include "lower/routine.h"
#include <stddef.h>
#include <string.h>

enum {
    PARALLEL_COPY = 1 << 20,
    INLINE_NS = 30000,     /* a program estimated to take less may run in the calling thread */
    AWAITED_NS = 20000000, /* the same when that thread waits for it: saves two thread wake-ups */
    QUICK_NS = 100000,
    QUICK_RUNS = 3, /* after so many the next one is taken to be as quick */
    SHRINK_AFTER = 64
};

typedef struct cpu_exec {
    lz_exec x;
    _Atomic size_t scratch_each;    /* bytes of scratch memory per thread */
    bool shared;                    /* some launch runs on several threads */
    bool late;                      /* the code of some launch is not there yet */
    uint64_t ns;                    /* estimated time of all launches */
    bool learns;                    /* conditions decide how long it takes: runs are timed */
    _Atomic int quick;              /* the last runs in a row that were QUICK_NS or less */
    lz_invariant_cache *invariants; /* constant cache; NULL: every execution runs all launches */
    lz_profile *profile;            /* NULL: not profiled */
    lz_tuner tuner;                 /* while the executable is made; no ops: not tuned */
    lz_cpu_loops loops;             /* that are one function each */
    LZ_VEC(lz_kcode *) tuned;       /* tuned code of launches, other than their kernels' own */
    const lz_target *target;
    lz_cache *cache;               /* for kernels of branches */
    struct made_routine *routines; /* in the arena */
} cpu_exec;

/* Equal operations of a program share the tables of their routine. */
typedef struct made_routine {
    const lz_sig *sig;
    lz_routine r;
    struct made_routine *next;
} made_routine;

typedef struct late_launch late_launch;

typedef struct record {
    lz_run_fn run;
    const int64_t *args;
    int64_t grid;
    int threads; /* 1: in the thread that runs the program */
    int chunks;  /* chunks per thread (lz_workers_run_in) */
    lz_profile_launch what;
    late_launch *late; /* not NULL: the rest is not used */
} record;

/* A launch of a kernel that only a branch runs: its code is loaded when the branch is first
 * taken. */
struct late_launch {
    cpu_exec *x;
    uint32_t kernel;
    size_t scratch;
    _Atomic bool ready; /* what follows is there and stays as it is */
    record r;
};
static lz_mutex late_lock = LZ_MUTEX_INIT("cpu_exec late");
static lz_branch_kernels late_loads; /* its lock is never held for long */
static lz_mutex late_loads_lock = LZ_MUTEX_INIT("cpu_exec late_loads");

/* ---- making ---- */

/* The code the launch runs with: a tuned variant, or the kernel's own when that is best or the
 * variant cannot be had. */
static lz_kcode *code_for(cpu_exec *x, const lz_kernel *k, uint32_t i, const lz_step *s)
{
    lz_kcode *c = x->x.loads[i].code, *other;
    lz_choice how = x->tuner.ops ? lz_tune(&x->tuner, k, s) : (lz_choice){0};
    if (lz_choice_is_model(how) || lz_cpu_tuned_code(x->tuner.user, k, how, &other) != LZ_OK)
        return c;
    if (lz_vec_push(&x->tuned, other) != LZ_OK) {
        lz_kernels_release(other);
        return c;
    }
    x->x.info.tuned++;
    return other;
}

static record record_of(const lz_cpu_code *c, const lz_kernel *k, const lz_step *s)
{
    return (record){
        c->run, s->args, c->grid, c->threads, c->chunks, {k, s, c->grid, c->threads, NULL}, NULL};
}

static lz_status prepare_late(cpu_exec *x, const lz_kernel *k, uint32_t i, const lz_step *s,
                              record *r)
{
    late_launch *l = lz_arena_alloc(&x->x.plan_exec.arena, sizeof *l);
    if (!l)
        return LZ_FAIL(LZ_EMEM, "no memory for a launch");
    *l = (late_launch){
        .x = x, .kernel = i, .r = {.args = s->args, .what = {.kernel = k, .step = s}}};
    lz_profile_add(x->profile, &l->r.what);
    x->ns += lz_cpu_step_ns(s);
    x->shared = x->late = true;
    *r = (record){.late = l};
    return LZ_OK;
}

static lz_status routine_for(cpu_exec *x, const lz_sig *sig, lz_routine *out)
{
    made_routine *m = x->routines;
    while (m && m->sig != sig)
        m = m->next;
    if (!m) {
        m = lz_arena_alloc(&x->x.plan_exec.arena, sizeof *m);
        if (!m)
            return LZ_FAIL(LZ_EMEM, "no memory for a routine");
        *m = (made_routine){.sig = sig, .next = x->routines};
        LZ_TRY(lz_routine_new(&x->x.plan_exec.arena, sig, &m->r));
        x->routines = m;
    }
    *out = m->r;
    return LZ_OK;
}

/* A routine is launched as a kernel is. */
static lz_status prepare_routine(cpu_exec *x, const lz_step *s, record *r)
{
    lz_routine c = {0};
    LZ_TRY(routine_for(x, s->routine, &c));
    int threads = lz_cpu_threads_for(s, c.units);
    if (c.scratch > x->scratch_each)
        x->scratch_each = c.scratch;
    *r = (record){
        c.run, c.args, c.units, threads, LZ_WORKERS_CHUNKS, {NULL, s, c.units, threads, NULL},
        NULL};
    lz_profile_add(x->profile, &r->what);
    x->ns += lz_cpu_step_ns(s);
    x->shared |= threads > 1;
    return LZ_OK;
}

static lz_status prepare(void *maker, const lz_kernel *k, uint32_t i, const lz_step *s, void *out,
                         bool *idle)
{
    cpu_exec *x = maker;
    lz_cpu_code c;
    if (!k)
        return prepare_routine(x, s, out);
    if (!x->x.loads[i].code)
        return prepare_late(x, k, i, s, out);
    lz_cpu_code_of(code_for(x, k, i, s), k, s, &c);
    if (c.scratch > x->scratch_each)
        x->scratch_each = c.scratch;
    record *r = out;
    *r = record_of(&c, k, s);
    lz_profile_add(x->profile, &r->what);
    x->ns += lz_cpu_step_ns(s);
    x->shared |= r->threads > 1;
    *idle = c.grid <= 0;
    return LZ_OK;
}

const lz_cpu_loops *lz_cpu_exec_loops(const lz_exec *x)
{
    return &((const cpu_exec *)x)->loops;
}

/* A loop that is one function runs in the thread that runs the program. */
static lz_status prepare_loop(void *maker, const lz_step *s, void *out, bool *whole)
{
    cpu_exec *x = maker;
    const lz_cpu_loop *l = lz_cpu_loops_find(&x->loops, s);
    *whole = l != NULL;
    if (!l)
        return LZ_OK;
    const lz_kernel *k = l->kernel;
    int64_t scratch = lz_kcode_scratch(l->load.code)(k->args);
    size_t each = scratch > 0 ? LZ_ALIGN_UP((size_t)scratch, 64) : 0;
    if (each > x->scratch_each)
        x->scratch_each = each;
    record *r = out;
    *r = (record){lz_kcode_run(l->load.code), k->args, 1, 1, 1, {k, s, 1, 1, NULL}, NULL};
    lz_profile_add(x->profile, &r->what);
    return LZ_OK;
}

static const lz_plan_exec_ops plan_exec_ops;

typedef struct maker {
    const lz_target *target;
    bool loops;
    lz_cpu_device *device;
    const char *processor; /* the processor's name on a device that tunes; else NULL */
    bool all;              /* tunes kernels of any size */
    bool look_up_branches;
} maker;

/* Makes the launch records; the tuner exists only meanwhile. */
static lz_status make_records(cpu_exec *x, const maker *m, lz_cache *cache)
{
    lz_cpu_tuning where = {m->target, cache, m->processor, m->device->at.index};
    if (m->processor)
        x->tuner =
            (lz_tuner){&lz_cpu_tune_ops, &where, m->device->at.queue, cache, m->all, &x->x.info};
    lz_status s = lz_plan_exec_make(&x->x.plan_exec, &plan_exec_ops, x);
    x->tuner = (lz_tuner){0};
    if (x->x.info.tune_runs) /* frees the memory of measurements, which is larger than what is
                                needed from now on */
        lz_mem_trim();
    return s;
}

/* Code of all kernels but those of branches. */
static lz_status load(lz_exec *exec, const maker *m, lz_cache *cache)
{
    bool *late = lz_calloc(exec->plan_exec.nkernel, sizeof *late);
    lz_status s = late ? lz_plan_exec_branches(&exec->plan_exec, late)
                       : LZ_FAIL(LZ_EMEM, "no memory for an executable");
    if (s == LZ_OK)
        s = lz_cpu_loops_load(&((cpu_exec *)exec)->loops, &exec->plan_exec, m->target, cache, late);
    if (s == LZ_OK)
        s = lz_exec_load(exec, lz_kernels_store(), (void *)m->target, cache, late);
    for (uint32_t i = 0; s == LZ_OK && m->look_up_branches && i < exec->plan_exec.nkernel; i++)
        if (late[i])
            lz_kstore_look_up(lz_kernels_store(), exec->plan_exec.kernels[i], (void *)m->target,
                              cache);
    lz_free(late);
    return s;
}

/* What functions registered by atexit and destructors compute, when there is no compiler any more,
 * is interpreted: slowly, so up to about a second of it. Not known: how often loops run. */
static bool interpretable(const lz_plan_exec *g)
{
    enum { MOST_WORK = 30000000 };
    uint64_t work = 0;
    for (uint32_t i = 0; i < g->npart; i++)
        for (uint32_t s = 0; s < g->parts[i].plan->nstep; s++) {
            const lz_step *step = &g->parts[i].plan->steps[s];
            if (step->flops > MOST_WORK || step->bytes > MOST_WORK)
                return false;
            work += step->flops + step->bytes / 4;
        }
    return work <= MOST_WORK;
}

/* *loops: no code can be made, and the interpreter is to run the program. */
static lz_status load_or_interpret(lz_exec *exec, const maker *m, lz_cache *cache, bool *loops)
{
    lz_error before = *lz_error_get();
    lz_status s = load(exec, m, cache);
    *loops = s != LZ_OK && lz_llvm_over() && interpretable(&exec->plan_exec);
    if (*loops)
        lz_error_set(&before);
    return *loops ? LZ_OK : s;
}

static void count_loops(cpu_exec *x)
{
    for (uint32_t i = 0; i < x->loops.loops.len; i++) {
        const lz_kernel_load *l = &x->loops.loops.data[i].load;
        x->x.info.code_bytes += lz_kcode_nbytes(l->code);
        x->x.info.llvm_compiles += l->source == LZ_FROM_LLVM;
        x->x.info.kernel_hits += l->source != LZ_FROM_LLVM;
    }
}

/* Adds the time of loops that are one function each. False: conditions decide how long the program
 * takes, or other parts of it are launched. */
static bool knows_time(cpu_exec *x)
{
    const lz_plan_exec *g = &x->x.plan_exec;
    const lz_plan *p = g->parts->plan;
    if (g->npart == 1)
        return !g->control;
    x->ns = 0;
    for (uint32_t i = 0; i < p->nstep; i++) {
        const lz_step *s = &p->steps[i];
        const lz_cpu_loop *l = lz_cpu_loops_find(&x->loops, s);
        uint64_t ns = l ? lz_join_ns(p, s) : lz_cpu_step_ns(s);
        if ((!l && s->kind != LZ_STEP_KERNEL) || __builtin_add_overflow(x->ns, ns, &x->ns) ||
            x->ns > AWAITED_NS)
            return false;
    }
    return true;
}

/* Functions of the program's own may take any time. */
static bool calls(const lz_plan_exec *g)
{
    for (uint32_t i = 0; i < g->npart; i++)
        for (uint32_t k = 0; k < g->parts[i].plan->nstep; k++)
            if (g->parts[i].plan->steps[k].kind == LZ_STEP_CALL)
                return true;
    return false;
}

static lz_status make_plan_exec(lz_exec *exec, void *user, lz_cache *cache)
{
    cpu_exec *x = (cpu_exec *)exec;
    const maker *m = user;
    bool loops = m->loops;
    x->target = m->target;
    x->cache = cache;
    if (!loops)
        LZ_TRY(load_or_interpret(exec, m, cache, &loops));
    if (loops)
        return lz_plan_exec_make(&exec->plan_exec, &lz_loop_ops, NULL);
    LZ_TRY(lz_profile_of(&exec->plan_exec, &x->profile));
    LZ_TRY(make_records(x, m, cache));
    count_loops(x);
    bool known = knows_time(x); /* not where conditions decide */
    exec->small = known && x->ns < INLINE_NS;
    exec->brief = known && x->ns < AWAITED_NS;
    x->learns = !known && !exec->plan->partitions && !calls(&exec->plan_exec);
    return LZ_OK;
}

static lz_status make(lz_exec *exec, void *user, lz_cache *cache)
{
    LZ_TRY(make_plan_exec(exec, user, cache));
    if (exec->plan->partitions) /* each would need its own */
        return LZ_OK;
    return lz_invariant_cache_new(&exec->plan_exec, &((cpu_exec *)exec)->invariants);
}

/* ---- memory of a device ---- */

/* Temporaries stay for the next execution; a large block is freed after many executions in a row
 * that needed far less. */
static lz_status temp_room(lz_cpu_temp *t, size_t need)
{
    bool oversized = t->nbytes > (size_t)8 << 20 && need < t->nbytes / 4;
    t->oversized = oversized ? t->oversized + 1 : 0;
    if (t->oversized > SHRINK_AFTER) {
        lz_mem_free(t->device, t->p, t->nbytes);
        t->p = NULL;
        t->nbytes = 0;
    }
    return lz_mem_grow(t->device, need, &t->p, &t->nbytes);
}

static lz_status room(lz_cpu_device *d, const cpu_exec *x, lz_job *j)
{
    LZ_TRY(lz_vec_reserve(&d->temp, j->n));
    for (; d->temp.len < j->n; d->temp.len++)
        d->temp.data[d->temp.len] = (lz_cpu_temp){.device = lz_cpu_device_of(&d->at, d->temp.len)};
    for (uint32_t q = 0; q < j->n; q++) {
        lz_status s = temp_room(&d->temp.data[q], j->x->plan->temp_bytes);
        if (s != LZ_OK)
            return lz_plan_explain_memory(j->x->plan, LZ_NO_RESULT, s);
        j->temp[q] = d->temp.data[q].p;
    }
    size_t parts = x->shared || d->at_once ? (size_t)lz_workers_count() : 1;
    d->scratch_of = j->n > 1 ? LZ_NO_DEVICE : d->at.index;
    return lz_scratch_room(&d->scratch, d->scratch_of, x->scratch_each, parts);
}

void lz_cpu_device_end(lz_cpu_device *d)
{
    for (uint32_t q = 0; q < d->temp.len; q++)
        lz_mem_free(d->temp.data[q].device, d->temp.data[q].p, d->temp.data[q].nbytes);
    lz_vec_free(&d->temp);
    lz_scratch_free(&d->scratch, d->at.index);
}

/* ---- running ---- */

typedef struct copying {
    char *dst;
    const char *src;
    size_t nbytes;
} copying;

static void copy_pages(void *ctx, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    const copying *c = ctx;
    size_t from = (size_t)begin << 12, to = (size_t)end << 12;
    to = to < c->nbytes ? to : c->nbytes;
    memcpy(c->dst + from, c->src + from, to - from);
}

static lz_status copy(void *run, void *dst, const void *src, size_t nbytes)
{
    (void)run;
    copying c = {dst, src, nbytes};
    if (nbytes >= PARALLEL_COPY)
        lz_workers_run((int64_t)((nbytes + 4095) >> 12), 0, copy_pages, &c);
    else if (nbytes)
        memcpy(dst, src, nbytes);
    return LZ_OK;
}

static lz_status read_bool(void *run, const void *at, bool *out)
{
    (void)run;
    *out = *(volatile const uint8_t *)at != 0;
    return LZ_OK;
}

typedef struct shared_launch {
    const record *r;
    void *const *bufs;
    const lz_scratch *scratch;
} shared_launch;

static void run_units(void *ctx, int64_t begin, int64_t end, int worker)
{
    const shared_launch *s = ctx;
    s->r->run(s->bufs, s->r->args, begin, end,
              s->scratch->first + (size_t)worker * s->scratch->apart);
}

static inline void launch_now(const lz_scratch *c, const record *r, void *const *bufs)
{
    if (r->threads == 1)
        r->run(bufs, r->args, 0, r->grid, c->first);
    else
        lz_workers_run_in(r->grid, r->threads, r->chunks, run_units, &(shared_launch){r, bufs, c});
}

/* Reading the processor time is a system call, which a trace alone does not need. */
__attribute__((noinline)) static void launch_timed(const lz_scratch *c, const record *r,
                                                   void *const *bufs)
{
    int64_t cpu = r->what.row ? lz_cpu_ns() : 0, t0 = lz_now_ns();
    launch_now(c, r, bufs);
    int64_t ns = lz_now_ns() - t0;
    lz_profile_note(&r->what, 0, t0, ns, r->what.row ? lz_cpu_ns() - cpu : 0);
}

static void count_late(const lz_kernel_load *l)
{
    bool fresh = l->source == LZ_FROM_LLVM;
    lz_mutex_lock(&late_loads_lock);
    late_loads.compiled += fresh;
    late_loads.found += !fresh;
    late_loads.compile_ns += fresh ? (int64_t)(l->ms * 1e6) : 0;
    lz_mutex_unlock(&late_loads_lock);
}

void lz_cpu_branch_kernels(lz_branch_kernels *out)
{
    lz_mutex_lock(&late_loads_lock);
    *out = late_loads;
    lz_mutex_unlock(&late_loads_lock);
}

/* The code of a late launch, from memory, the cache or the compiler. */
static lz_status load_late(late_launch *l)
{
    lz_kernel_load *where = &l->x->x.loads[l->kernel];
    lz_kernel *k = l->x->x.plan_exec.kernels[l->kernel];
    const lz_step *step = l->r.what.step;
    lz_cpu_code c;
    if (!where->code) {
        LZ_TRY(lz_kernels_load(&k, 1, l->x->target, l->x->cache, where));
        count_late(where);
    }
    lz_cpu_code_of(where->code, k, step, &c);
    l->scratch = c.scratch;
    if (c.scratch > l->x->scratch_each)
        l->x->scratch_each = c.scratch;
    l->r.run = c.run;
    l->r.grid = l->r.what.units = c.grid;
    l->r.threads = l->r.what.threads = c.threads;
    l->r.chunks = c.chunks;
    if (l->r.what.row) {
        l->r.what.row->what.units = c.grid;
        l->r.what.row->what.threads = c.threads;
    }
    atomic_store_explicit(&l->ready, true, memory_order_release);
    return LZ_OK;
}

/* The record of a late launch, and room to work in for its code. */
static lz_status late_record(lz_scratch *c, late_launch *l, const record **out)
{
    lz_cpu_device *d = (lz_cpu_device *)(void *)((char *)c - offsetof(lz_cpu_device, scratch));
    if (!atomic_load_explicit(&l->ready, memory_order_acquire)) {
        lz_mutex_lock(&late_lock);
        lz_status s = l->ready ? LZ_OK : load_late(l);
        lz_mutex_unlock(&late_lock);
        LZ_TRY(s);
    }
    *out = &l->r;
    if (!l->scratch)
        return LZ_OK;
    return lz_scratch_room(c, d->scratch_of, l->x->scratch_each, (size_t)lz_workers_count());
}

static lz_status launch(void *run, const void *rec, void *const *bufs)
{
    const record *r = rec;
    if (__builtin_expect(r->late != NULL, 0)) {
        late_launch *l = r->late;
        lz_status s = late_record(run, l, &r);
        if (s != LZ_OK && lz_llvm_over())
            return lz_loop_launch(l->r.what.kernel, l->r.what.step, bufs);
        LZ_TRY(s);
        if (r->grid <= 0)
            return LZ_OK;
    }
    if (__builtin_expect(lz_profile_wanted(&r->what), 0))
        launch_timed(run, r, bufs);
    else
        launch_now(run, r, bufs);
    return LZ_OK;
}

static const lz_plan_exec_ops plan_exec_ops = {
    .record_bytes = sizeof(record),
    .prepare = prepare,
    .prepare_loop = prepare_loop,
    .launch = launch,
    .copy = copy,
    .read_bool = read_bool,
    .collective = lz_cpu_collective,
    .each = lz_cpu_each,
};

/* A program whose time nobody knows is brief as long as it is. */
static lz_status run_timed(lz_job *j, void *run)
{
    cpu_exec *x = (cpu_exec *)j->x;
    int64_t t0 = lz_now_ns();
    lz_status s = lz_job_run(j, j->temp, run);
    bool quick = lz_now_ns() - t0 <= QUICK_NS;
    int n = quick ? atomic_load(&x->quick) + 1 : 0;
    atomic_store(&x->quick, n < QUICK_RUNS ? n : QUICK_RUNS);
    atomic_store(&x->x.brief, n >= QUICK_RUNS);
    return s;
}

static lz_status run_all(lz_job *j)
{
    const cpu_exec *x = (const cpu_exec *)j->x;
    lz_cpu_device *d = (lz_cpu_device *)j->d;
    LZ_TRY(lz_job_wait(j));
    d->at_once = j->n > 1 && !x->late && !x->profile && !lz_timeline_on();
    LZ_TRY(room(d, x, j));
    lz_profile_ran(x->profile);
    int64_t t0 = lz_timeline_begin();
    lz_invariant_cache_begin(x->invariants, j);
    lz_status s = x->learns ? run_timed(j, &d->scratch) : lz_job_run(j, j->temp, &d->scratch);
    lz_invariant_cache_end(x->invariants, j, s == LZ_OK);
    lz_job_span(j, t0, true);
    return s;
}

static void run(lz_job *j)
{
    lz_job_end(j, run_all(j));
}

/* ---- executables ---- */

static lz_status alloc(lz_exec_device *d, uint32_t q, size_t nbytes, lz_device_buffer **out)
{
    return lz_cpu_alloc_result(d, q, nbytes, out);
}

static void unmake(lz_exec *x)
{
    cpu_exec *c = (cpu_exec *)x;
    lz_invariant_cache_free(c->invariants);
    lz_profile_free(c->profile);
    while (c->tuned.len)
        lz_kernels_release(c->tuned.data[--c->tuned.len]);
    lz_vec_free(&c->tuned);
    lz_cpu_loops_free(&c->loops);
}

static uint32_t ordinal(const lz_exec_device *d)
{
    return lz_cpu_ordinal(d->index);
}

static lz_status meet(void *job, const lz_step_collective *c, const lz_site *site,
                      void *const *bufs)
{
    const lz_job *j = job;
    const lz_hash *program = &j->x->program;
    return lz_rendezvous_meet(&lz_cpu_rendezvous, ordinal(j->d),
                              program->lo || program->hi ? program : NULL, c, site, bufs);
}

static void miss(lz_exec *x, lz_exec_device *d, uint32_t reached, const lz_error *err)
{
    lz_rendezvous_miss(&lz_cpu_rendezvous, ordinal(d), &x->plan_exec, reached, err);
}

static const lz_exec_ops exec_ops = {
    .exec_bytes = sizeof(cpu_exec),
    .job_bytes = sizeof(lz_job),
    .make = make,
    .unmake = unmake,
    .code_bytes = lz_kcode_nbytes,
    .alloc = alloc,
    .ordinal = ordinal,
    .meet = meet,
    .miss = miss,
    .run = run,
};

lz_status lz_cpu_exec_new(lz_plan *p, const lz_target *t, lz_cpu_device *d,
                          const lz_cpu_exec_options *o, lz_exec **out)
{
    maker m = {t, o->loops, d, o->tuned_for, o->tune_all, o->look_up_branches};
    return lz_exec_new(&exec_ops, p, &m, o->cache, out);
}
