/* cuda_team.c - programs that run on several CUDA devices at once, partition q on device q. The
 * queue of device 0 puts the launches of all on their compute streams; what the host does not do is
 * wait: a collective orders streams by events (cuda_collective.c), and one job follows the other on
 * every stream. Then the finishing queue of device 0 waits for the events behind the last kernels
 * and ends the job, for all devices, whatever became of one. Such a job has memory and launching
 * arrays of its own on each device, since queues of devices launch their own programs meanwhile.
 * Those that are enqueued later come later: they take a turn. Threads: as backends/common/job.h;
 * one lock around the list of jobs. */
#include "backends/cuda/nccl_comms.h"
#include <inttypes.h>
#include <string.h>

static struct {
    lz_mutex lock;
    lz_cond went;
    uint64_t enqueued, launched;
    cuda_job *flying;
    _Atomic uint64_t ever; /* enqueued, without the lock */
} teams = {.lock = LZ_MUTEX_INIT("cuda_team"), .went = LZ_COND_INIT};
static lz_mutex furnish_lock = LZ_MUTEX_INIT("cuda_team furnish");

/* ---- turns ---- */

void cuda_team_take_turn(cuda_job *j)
{
    bool team = ((const cuda_exec *)j->j.x)->team;
    j->turn = 0;
    if (!team && !atomic_load_explicit(&teams.ever, memory_order_acquire))
        return;
    lz_mutex_lock(&teams.lock);
    if (team) {
        atomic_store(&teams.ever, ++teams.enqueued);
        j->waits = j->flies = true;
        j->next = teams.flying;
        teams.flying = j;
    } else {
        j->turn = teams.enqueued;
    }
    lz_mutex_unlock(&teams.lock);
}

/* The jobs of device 0 are on the queue that launches those of several. */
void cuda_team_wait_turn(const cuda_job *j)
{
    if (!j->turn || j->j.d->index == 0)
        return;
    lz_mutex_lock(&teams.lock);
    while (teams.launched < j->turn)
        lz_cond_wait(&teams.went, &teams.lock);
    lz_mutex_unlock(&teams.lock);
}

static void launched_locked(cuda_job *j)
{
    if (!j->waits)
        return;
    j->waits = false;
    teams.launched++;
    lz_cond_broadcast(&teams.went);
}

static void launched(cuda_job *j)
{
    lz_mutex_lock(&teams.lock);
    launched_locked(j);
    lz_mutex_unlock(&teams.lock);
}

void cuda_team_over(cuda_job *j)
{
    if (!((const cuda_exec *)j->j.x)->team)
        return;
    lz_mutex_lock(&teams.lock);
    launched_locked(j);
    for (cuda_job **at = &teams.flying; j->flies && *at; at = &(*at)->next)
        if (*at == j) {
            *at = j->next;
            break;
        }
    j->flies = false;
    lz_mutex_unlock(&teams.lock);
}

bool cuda_team_flies(const lz_event *done)
{
    if (!atomic_load_explicit(&teams.ever, memory_order_acquire))
        return false;
    lz_mutex_lock(&teams.lock);
    const cuda_job *j = teams.flying;
    while (j && j->j.done != done)
        j = j->next;
    lz_mutex_unlock(&teams.lock);
    return j != NULL;
}

/* ---- making ---- */

/* What a device needs once, to run with others. */
static lz_status furnish(cuda_device *d, uint32_t q)
{
    if (!d->met) {
        LZ_TRY(cuda_enter(d));
        lz_status s =
            cuda_check(d, lz_cuda.EventCreate(&d->met, CU_EVENT_NO_TIMING), "making an event");
        cuda_leave(d);
        if (s != LZ_OK) {
            d->met = NULL;
            return s;
        }
    }
    if (d->number)
        return LZ_OK;
    lz_device_buffer *b;
    LZ_TRY(cuda_alloc(d, sizeof q, &b));
    lz_status s = cuda_copy_in(d, cuda_address(b->data), &q, sizeof q);
    if (s == LZ_OK)
        d->number = b;
    else
        lz_device_buffer_release(b);
    return s;
}

static lz_status furnish_all(const cuda_exec *x)
{
    bool meets = lz_plan_meets(x->x.plan);
    for (uint32_t q = 0; q < x->n; q++) {
        cuda_device *d = cuda_device_at(q), *first = cuda_device_at(0);
        if (d->major != first->major || d->minor != first->minor)
            return LZ_FAIL(LZ_EUNSUPPORTED,
                           "CUDA:0 is %.40s and CUDA:%u %.40s: a program of several devices needs "
                           "devices of one kind",
                           first->name, q, d->name);
        LZ_TRY(furnish(d, q));
        for (uint32_t p = 0; p < x->n && meets; p++)
            if (p != q) {
                LZ_TRY(cuda_peers_usable(cuda_device_at(p), d));
                LZ_TRY(cuda_peer_reach(d, cuda_device_at(p)));
            }
    }
    return LZ_OK;
}

lz_status cuda_team_check(const cuda_exec *x)
{
    if (x->n > cuda_ndevice())
        return LZ_FAIL(LZ_ERANGE,
                       "a program of %u partitions needs as many CUDA devices, there %s %u", x->n,
                       cuda_ndevice() == 1 ? "is" : "are", cuda_ndevice());
    lz_mutex_lock(&furnish_lock);
    lz_status s = furnish_all(x);
    lz_mutex_unlock(&furnish_lock);
    return s;
}

/* ---- contexts ---- */

static void leave(cuda_team *t)
{
    if (t->inside >= 0)
        cuda_leave(t->run[t->inside].d);
    t->inside = -1;
}

lz_status cuda_team_here(const cuda_run *c)
{
    cuda_team *t = c->team;
    if (!t || t->inside == (int64_t)c->q)
        return LZ_OK;
    leave(t);
    LZ_TRY(cuda_enter(c->d));
    t->inside = c->q;
    return LZ_OK;
}

/* ---- running ---- */

/* Arguments that other jobs of several devices make are there when the streams come to this one. */
static lz_status wait_for_arguments(const lz_job *j)
{
    for (uint32_t i = 0; i < j->nwait; i++)
        if (!cuda_team_flies(j->wait[i]))
            LZ_TRY(lz_event_wait(j->wait[i]));
    return LZ_OK;
}

static lz_status make_room(cuda_team *t)
{
    const cuda_exec *x = t->x;
    cuda_job *j = t->job;
    uint64_t scratch_at = 0, staging_at = 0, need = 0;
    LZ_TRY(cuda_room_needed(x, &scratch_at, &staging_at, &need));
    for (uint32_t q = 0; q < x->n; q++) {
        cuda_device *d = cuda_device_at(q);
        LZ_TRY(cuda_room(d, &d->team, need));
        lz_device_buffer *b = j->part[q].temp = d->team.temp;
        if (b)
            lz_device_buffer_retain(b);
        char *temp = b ? b->data : NULL;
        bool traced = lz_timeline_on();
        j->j.temp[q] = temp;
        t->stage[q] = cuda_address(temp) + staging_at;
        t->run[q] = (cuda_run){.d = d,
                               .l = &d->team,
                               .q = q,
                               .scratch = cuda_address(temp) + scratch_at,
                               .timed = x->profile || traced,
                               .part = traced ? &j->part[q] : NULL,
                               .team = t};
    }
    return LZ_OK;
}

static lz_status begin_all(cuda_team *t)
{
    for (uint32_t q = 0; q < t->x->n; q++) {
        LZ_TRY(cuda_team_here(&t->run[q]));
        LZ_TRY(cuda_after_uploads(t->run[q].d, t->run[q].l));
        LZ_TRY(cuda_after_copies(t->run[q].d, &t->job->j, q));
    }
    return LZ_OK;
}

static lz_status end_all(cuda_team *t)
{
    for (uint32_t q = 0; q < t->x->n; q++) {
        cuda_run *r = &t->run[q];
        LZ_TRY(cuda_team_here(r));
        LZ_TRY(cuda_check(r->d, lz_cuda.EventRecord(t->job->part[q].over, r->d->compute),
                          "recording an event"));
        atomic_fetch_add_explicit(&r->d->libs.made, r->products, memory_order_relaxed);
    }
    return LZ_OK;
}

static lz_status finish_part(cuda_job *j, uint32_t q)
{
    cuda_device *d = cuda_device_at(q);
    cuda_part *p = &j->part[q];
    LZ_TRY(cuda_await(d, p->over, "running a program"));
    if ((p->times.len || p->begin) && cuda_enter(d) == LZ_OK) {
        cuda_note_times(d, p);
        if (p->begin)
            cuda_program_note(d, &j->j, p->begin, p->end);
        cuda_leave(d);
    }
    return LZ_OK;
}

/* All devices are waited for; the error is that of the first one that has one. */
static void finish(void *job)
{
    cuda_job *j = job;
    lz_error err = {0};
    lz_status all = LZ_OK;
    for (uint32_t q = 0; q < ((const cuda_exec *)j->j.x)->n; q++) {
        lz_status s = finish_part(j, q);
        if (s != LZ_OK && all == LZ_OK) {
            all = s;
            err = *lz_error_get();
        }
    }
    if (all != LZ_OK)
        lz_error_set(&err);
    else
        all = cuda_nccl_check(j); /* what was aborted has ended, with results missing */
    lz_job_end(&j->j, all);
}

/* What is on the streams must not outlive its memory. */
static void stop_all(const cuda_exec *x)
{
    LZ_QUIETLY {
        for (uint32_t q = 0; q < x->n; q++) {
            cuda_device *d = cuda_device_at(q);
            if (cuda_enter(d) != LZ_OK)
                continue;
            (void)lz_cuda.StreamSynchronize(d->compute);
            cuda_leave(d);
        }
    }
}

static lz_status launch_team(cuda_team *t)
{
    cuda_job *j = t->job;
    j->nccl = 0;
    LZ_TRY(wait_for_arguments(&j->j));
    LZ_TRY(make_room(t));
    lz_profile_ran(t->x->profile);
    int64_t t0 = lz_timeline_begin();
    lz_status s = begin_all(t);
    if (s == LZ_OK)
        s = lz_job_run(&j->j, j->j.temp, t);
    if (s == LZ_OK)
        s = end_all(t);
    leave(t);
    lz_job_span(&j->j, t0, false);
    if (s == LZ_OK)
        launched(j); /* before it can end */
    if (s == LZ_OK)
        s = lz_queue_push(cuda_device_at(0)->finish, finish, j, false);
    if (s != LZ_OK)
        stop_all(t->x);
    return s;
}

void cuda_team_run(lz_job *job)
{
    cuda_job *j = (cuda_job *)job;
    cuda_run run[CUDA_DEVICES];
    cu_ptr stage[CUDA_DEVICES];
    cuda_team t = {
        .x = (const cuda_exec *)job->x, .job = j, .run = run, .stage = stage, .inside = -1};
    lz_status s = launch_team(&t);
    if (s != LZ_OK)
        lz_job_end(job, s);
}
