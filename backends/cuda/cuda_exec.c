/* cuda_exec.c - executables of a CUDA device: backends/common/job.h with kernels that are put on
 * the compute stream. The launching queue puts a job on the stream; then the finishing queue waits
 * for the event behind it and ends it. So the next job is on the stream while this one runs.
 * Temporaries are one block per device, which jobs hold references to. Threads: as
 * backends/common/job.h. */
#include "backends/cuda/cuda_exec.h"
#include "base/alloc.h"
#include <inttypes.h>
#include <string.h>

enum {
    INLINE_LAUNCHES =
        32, /* a program of at most so many launches may be launched by the calling thread */
    SHRINK_AFTER = 64
};

/* ---- making ---- */

static lz_status make_code(cuda_exec *x, lz_cache *cache)
{
    lz_exec *exec = &x->x;
    LZ_TRY(lz_exec_load(exec, &x->d->kernels, x->d, cache, NULL));
    LZ_TRY(lz_profile_of(&exec->plan_exec, &x->profile));
    x->program = (cuda_program){&exec->plan_exec, exec->loads, NULL};
    x->cache = cache;
    lz_status s = cuda_program_make(x, &x->program);
    if (s == LZ_OK && x->team)
        s = cuda_collectives_make(x, cache);
    x->cache = NULL;
    return s;
}

static lz_status make(lz_exec *exec, void *maker, lz_cache *cache)
{
    cuda_exec *x = (cuda_exec *)exec;
    x->d = maker;
    x->team = exec->plan->partitions > 0;
    x->n = x->team ? exec->plan->partitions : 1;
    if (x->team)
        LZ_TRY(cuda_team_check(x));
    LZ_TRY(make_code(x, cache));
    exec->small = !exec->plan_exec.control && exec->plan_exec.nrun <= INLINE_LAUNCHES;
    if (!x->profile && !x->team) /* a profile times each launch by itself */
        return cuda_graphs_make(&x->graphs, exec);
    return LZ_OK;
}

static void unmake(lz_exec *exec)
{
    cuda_exec *x = (cuda_exec *)exec;
    cuda_graphs_free(x->d, &x->graphs);
    cuda_collectives_free(x);
    cuda_products_free(x->products);
    lz_profile_free(x->profile);
    cuda_program_end(x, &x->program);
}

static size_t code_bytes(const lz_kcode *c)
{
    return ((const cuda_code *)lz_kstore_code(c))->nbytes;
}

/* ---- jobs; on the launching queue ---- */

lz_status cuda_room(cuda_device *d, cuda_launcher *l, size_t need)
{
    size_t have = l->temp ? l->temp->capacity : 0;
    bool oversized = have > (size_t)64 << 20 && need < have / 4;
    l->oversized = oversized ? l->oversized + 1 : 0;
    if (have >= need && l->oversized <= SHRINK_AFTER)
        return LZ_OK;
    lz_device_buffer_release(l->temp); /* running jobs hold references to it */
    l->temp = NULL;
    return cuda_alloc(d, need, &l->temp);
}

lz_status cuda_room_needed(const cuda_exec *x, uint64_t *scratch_at, uint64_t *staging_at,
                           uint64_t *need)
{
    *scratch_at = LZ_ALIGN_UP(x->x.plan->temp_bytes, 64);
    if (__builtin_add_overflow(*scratch_at, LZ_ALIGN_UP(x->scratch, 256), staging_at) ||
        __builtin_add_overflow(*staging_at, x->staging, need))
        return LZ_FAIL(LZ_EDEVMEM, "CUDA:%d: rows that are to be sorted are too long",
                       x->d->at.index);
    return LZ_OK;
}

static lz_status launch_all(cuda_job *j, uint64_t scratch_at)
{
    cuda_device *d = (cuda_device *)j->j.d;
    cuda_exec *x = (cuda_exec *)j->j.x;
    cuda_part *p = j->part;
    char *temp = p->temp ? p->temp->data : NULL;
    LZ_TRY(cuda_after_uploads(d, &d->own));
    LZ_TRY(cuda_after_copies(d, &j->j, 0));
    lz_profile_ran(x->profile);
    /* The whole job is one stretch: a graph has one time for all of it. */
    bool traced = lz_timeline_on();
    cuda_run r = {.d = d,
                  .l = &d->own,
                  .scratch = cuda_address(temp) + scratch_at,
                  .timed = x->profile || traced,
                  .part = traced ? p : NULL};
    int64_t t0 = lz_timeline_begin();
    LZ_TRY(r.timed ? lz_job_run(&j->j, (void *[]){temp}, &r)
                   : cuda_graphs_run(d, &x->graphs, &j->j, temp, &r, &r.products));
    atomic_fetch_add_explicit(&d->libs.made, r.products, memory_order_relaxed);
    lz_job_span(&j->j, t0, false); /* its arrow leads to the device's row */
    return cuda_check(d, lz_cuda.EventRecord(p->over, d->compute), "recording an event");
}

static void finish(void *job)
{
    cuda_job *j = job;
    cuda_device *d = (cuda_device *)j->j.d;
    cuda_part *p = j->part;
    lz_status s = cuda_await(d, p->over, "running a program");
    if (s == LZ_OK && (p->times.len || p->begin) && cuda_enter(d) == LZ_OK) {
        cuda_note_times(d, p);
        if (p->begin)
            cuda_program_note(d, &j->j, p->begin, p->end);
        cuda_leave(d);
    }
    lz_job_end(&j->j, s);
}

/* In the order of jobs of several devices, which another queue launches. */
static lz_status wait_for_others(cuda_job *j)
{
    cuda_team_wait_turn(j);
    for (uint32_t i = 0; i < j->j.nwait; i++)
        if (j->j.d->index != 0 && cuda_team_flies(j->j.wait[i]))
            LZ_TRY(lz_event_wait(j->j.wait[i]));
    return lz_job_wait(&j->j);
}

/* Puts the job on the stream; from then on the finishing queue ends it. */
static lz_status launch_job(cuda_job *j)
{
    cuda_device *d = (cuda_device *)j->j.d;
    const cuda_exec *x = (const cuda_exec *)j->j.x;
    uint64_t scratch_at = 0, staging_at = 0, need = 0;
    LZ_TRY(wait_for_others(j));
    LZ_TRY(cuda_room_needed(x, &scratch_at, &staging_at, &need));
    LZ_TRY(cuda_room(d, &d->own, need));
    j->part->temp = d->own.temp;
    if (j->part->temp)
        lz_device_buffer_retain(j->part->temp);
    LZ_TRY(cuda_enter(d));
    lz_status s = launch_all(j, scratch_at);
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
    if (((const cuda_exec *)j->x)->team) {
        cuda_team_run(j);
        return;
    }
    lz_status s = launch_job((cuda_job *)j);
    if (s != LZ_OK)
        lz_job_end(j, s);
}

static lz_status make_event(cuda_device *d, cuda_part *p)
{
    if (p->over)
        return LZ_OK;
    LZ_TRY(cuda_enter(d));
    lz_status s =
        cuda_check(d, lz_cuda.EventCreate(&p->over, CU_EVENT_NO_TIMING), "making an event");
    cuda_leave(d);
    if (s != LZ_OK)
        p->over = NULL;
    return s;
}

static lz_status job_start(lz_job *job)
{
    cuda_job *j = (cuda_job *)job;
    const cuda_exec *x = (const cuda_exec *)job->x;
    if (!j->part && !(j->part = lz_calloc(x->n, sizeof *j->part)))
        return LZ_FAIL(LZ_EMEM, "no memory to run a program");
    for (uint32_t q = 0; q < x->n; q++)
        LZ_TRY(make_event(cuda_exec_device(x, q), &j->part[q]));
    cuda_team_take_turn(j);
    return LZ_OK;
}

/* A failed job has no times. */
static void forget_times(cuda_device *d, cuda_part *p)
{
    bool inside = cuda_enter(d) == LZ_OK;
    while (p->times.len)
        cuda_stretch_drop(d, &p->times.data[--p->times.len]);
    if (inside)
        cuda_leave(d);
}

static void job_over(lz_job *job)
{
    cuda_job *j = (cuda_job *)job;
    const cuda_exec *x = (const cuda_exec *)job->x;
    cuda_team_over(j);
    for (uint32_t q = 0; j->part && q < x->n; q++) {
        cuda_part *p = &j->part[q];
        lz_device_buffer_release(p->temp);
        p->temp = NULL;
        if (p->times.len)
            forget_times(cuda_exec_device(x, q), p);
        p->begin = p->end = 0;
    }
}

static void job_free(lz_job *job)
{
    cuda_job *j = (cuda_job *)job;
    const cuda_exec *x = (const cuda_exec *)job->x;
    for (uint32_t q = 0; j->part && q < x->n; q++) {
        cuda_part *p = &j->part[q];
        cuda_device *d = cuda_exec_device(x, q);
        if (p->over && cuda_enter(d) == LZ_OK) {
            (void)lz_cuda.EventDestroy(p->over);
            cuda_leave(d);
        }
        lz_vec_free(&p->times);
    }
    lz_free(j->part);
}

/* ---- executables ---- */

static lz_status alloc(lz_exec_device *d, uint32_t q, size_t nbytes, lz_device_buffer **out)
{
    return cuda_alloc(q ? cuda_device_at(q) : (cuda_device *)d, nbytes, out);
}

static void *number(lz_exec_device *d, uint32_t q)
{
    (void)d;
    return cuda_device_at(q)->number->data;
}

static bool elsewhere(const lz_event *e)
{
    return cuda_copy_waits(e) || cuda_team_flies(e);
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
    .elsewhere = elsewhere,
    .number = number,
    .own_memory = true,
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
    return lz_exec_run(x, &d->at, in, donated, awaited, out, NULL, done);
}

lz_status cuda_exec_run_team(lz_exec *x, int64_t n, const uint32_t *home,
                             lz_device_buffer *const *const *in, const bool *donated, bool awaited,
                             lz_device_buffer ***out, lz_collective_uses *uses, lz_event **done)
{
    return lz_exec_run_partitions(x, &cuda_device_at(0)->at, n, home, in, donated, awaited, out,
                                  uses, done);
}
