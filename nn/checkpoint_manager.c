/* checkpoint_manager.c - lz_checkpoint_manager: when a step is saved, which steps stay, and which
 * is the newest that is whole. How one is written is in data/checkpoint_write.c, and by whom in
 * checkpoint_queue.c. */
#include "nn/checkpoint_manager.h"
#include "base/log.h"
#include "base/process_end.h"
#include "nn/preemption.h"
#include "runtime/spmd/local_shards.h"
#include "runtime/spmd/shared.h"
#include <lazuli/replicas.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The end of a public function: failures that it recovered from are not the caller's. */
static lz_status done(lz_status s, const lz_error *before, const char *op, const lz_site *site)
{
    if (s == LZ_OK)
        lz_error_set(before);
    else
        lz_error_annotate(op, site);
    return s;
}

static lz_status check_manager(const lz_checkpoint_manager *m)
{
    return m ? LZ_OK : LZ_FAIL(LZ_ENULL, "the manager is NULL");
}

/* "DIR/step_N", for messages. */
enum { WHERE = 512 };
static const char *where_of(const lz_checkpoint_manager *m, int64_t step, char text[WHERE])
{
    char name[LZ_CKPT_NAME];
    snprintf(text, WHERE, "%.400s/%s", m->path, lz_ckpt_step_name(step, name));
    return text;
}

/* ---- the folder ---- */

/* Its steps, ascending. A name that is none of a step's is noted once. */
static lz_status list_steps(lz_checkpoint_manager *m, const lz_ckpt_dir *d, lz_ckpt_steps *out)
{
    char strange[LZ_CKPT_STRANGE];
    bool note = false;
    LZ_TRY(lz_ckpt_dir_steps(d, out, strange));
    lz_mutex_lock(&m->lock);
    if (*strange && strcmp(strange, m->noted) != 0) {
        note = true;
        memcpy(m->noted, strange, sizeof strange);
    }
    lz_mutex_unlock(&m->lock);
    if (note)
        LZ_WARN("checkpoint", "%s/%s is no checkpoint's name: ignored", m->path, strange);
    return LZ_OK;
}

/* The folder, once it has all that is being saved, and its steps. d is to be closed, whatever the
 * result. */
static lz_status open_steps(lz_checkpoint_manager *m, lz_ckpt_dir *d, lz_ckpt_steps *out)
{
    lz_ckpt_queue_wait(m);
    LZ_TRY(lz_ckpt_dir_open(m->path, false, d));
    return list_steps(m, d, out);
}

/* NULL: the error says why it cannot be read. */
static lz_ckpt_reader *open_step(const lz_checkpoint_manager *m, const lz_ckpt_dir *d, int64_t step)
{
    char where[WHERE];
    int fd = lz_ckpt_dir_open_step(d, step);
    lz_ckpt_reader *r = fd >= 0 ? lz_ckpt_open(fd, step, where_of(m, step, where)) : NULL;
    lz_ckpt_dir step_dir = {fd, m->path};
    lz_ckpt_dir_close(&step_dir);
    return r;
}

/* Whether a checkpoint that gave this error is damaged: what memory, permissions or the version of
 * this library are in the way of may be whole. */
static bool is_damage(lz_status s)
{
    return s != LZ_OK && s != LZ_EMEM && s != LZ_EPERM && s != LZ_EUNSUPPORTED;
}

/* Whether all its bytes are those that were written. */
static lz_status verify_step(const lz_checkpoint_manager *m, const lz_ckpt_dir *d, int64_t step)
{
    lz_ckpt_reader *r = open_step(m, d, step);
    lz_status s = r ? lz_ckpt_verify(r) : lz_error_get()->status;
    lz_ckpt_close(r);
    return s;
}

/* ---- what stays ---- */

typedef struct rated {
    int64_t step;
    double value; /* the smaller the better */
} rated;

static int by_value(const void *x, const void *y)
{
    const rated *a = x, *b = y;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return (b->step > a->step) - (b->step < a->step); /* the newer one */
}

/* The value of the metric that says which is best; what has none is the worst. */
static double rate(const lz_checkpoint_manager *m, const lz_ckpt_dir *d, int64_t step)
{
    double v = NAN;
    lz_ckpt_reader *r = open_step(m, d, step);
    const lz_manifest *f = r ? lz_ckpt_manifest(r) : NULL;
    for (uint32_t i = 0; f && i < f->metrics.len; i++)
        if (strcmp(lz_manifest_text(f, f->metrics.data[i].name), m->best_metric) == 0)
            v = f->metrics.data[i].value;
    lz_ckpt_close(r);
    v = m->o.best_is_highest ? -v : v;
    return isnan(v) ? INFINITY : v;
}

/* Marks the best in keep[]. */
static lz_status keep_best(const lz_checkpoint_manager *m, const lz_ckpt_dir *d,
                           const lz_ckpt_steps *all, bool *keep)
{
    rated *r = lz_calloc((size_t)all->len + 1, sizeof *r);
    if (!r)
        return LZ_FAIL(LZ_EMEM, "%s: no memory for the steps", m->path);
    for (uint32_t i = 0; i < all->len; i++)
        r[i] = (rated){all->data[i], rate(m, d, all->data[i])};
    if (all->len)
        qsort(r, all->len, sizeof *r, by_value);
    for (uint32_t i = 0; i < all->len && i < m->o.keep_best; i++)
        for (uint32_t k = 0; k < all->len; k++)
            keep[k] |= all->data[k] == r[i].step;
    lz_free(r);
    return LZ_OK;
}

/* Removes what nothing asks for, but not `saved`, which is safe on the disk. What cannot be removed
 * stays, with a warning. */
static lz_status remove_others(lz_checkpoint_manager *m, const lz_ckpt_dir *d, int64_t saved)
{
    lz_ckpt_steps all = {0};
    const lz_checkpoint_manager_options *o = &m->o;
    if (!o->max_to_keep && !o->keep_best && !o->keep_period)
        return LZ_OK;
    lz_status s = list_steps(m, d, &all);
    bool *keep = s == LZ_OK ? lz_calloc((size_t)all.len + 1, sizeof *keep) : NULL;
    if (s == LZ_OK && !keep)
        s = LZ_FAIL(LZ_EMEM, "%s: no memory for the steps", m->path);
    for (uint32_t i = 0; s == LZ_OK && i < all.len; i++)
        keep[i] = all.data[i] == saved || all.len - i <= o->max_to_keep ||
                  (o->keep_period && all.data[i] % o->keep_period == 0);
    if (s == LZ_OK && o->keep_best)
        s = keep_best(m, d, &all, keep);
    for (uint32_t i = 0; s == LZ_OK && i < all.len; i++)
        if (!keep[i] && lz_ckpt_dir_remove(d, all.data[i]) != LZ_OK)
            LZ_WARN("checkpoint", "%s", lz_error_get()->message);
    lz_free(keep);
    lz_vec_free(&all);
    return s;
}

/* ---- saving ---- */

/* A training that goes on from an older checkpoint comes to the step of a damaged one again, which
 * makes room: `there` is what stands in the way. */
static lz_status make_room(const lz_checkpoint_manager *m, const lz_ckpt_dir *d, int64_t step)
{
    const lz_error there = *lz_error_get();
    if (is_damage(verify_step(m, d, step)))
        return lz_ckpt_dir_remove(d, step);
    lz_error_set(&there);
    return there.status;
}

static lz_status write_job(lz_checkpoint_manager *m, const lz_ckpt_dir *d, lz_ckpt_job *j)
{
    lz_status s = lz_ckpt_job_write(j, d);
    if (s != LZ_EEXIST)
        return s;
    LZ_TRY(make_room(m, d, j->step));
    return lz_ckpt_job_write(j, d);
}

/* A process that cannot take part tells the others. */
static lz_status tell(const lz_checkpoint_manager *m, uint64_t talk, lz_status s)
{
    return lz_shared_talk(talk, m->path, s, NULL, NULL, NULL);
}

/* All processes write, and come to the end of it together, so the first one looks before. */
static lz_status write_shared(lz_checkpoint_manager *m, const lz_ckpt_dir *d, lz_ckpt_job *j)
{
    char name[LZ_CKPT_NAME];
    bool there = false;
    lz_status s = j->rank == 0 ? lz_ckpt_dir_has(d, j->step, &there) : LZ_OK;
    if (s == LZ_OK && there) {
        s = LZ_FAIL(LZ_EEXIST, "%s/%s is there already", d->path, lz_ckpt_step_name(j->step, name));
        s = make_room(m, d, j->step);
    }
    return s == LZ_OK ? lz_ckpt_job_write(j, d) : tell(m, j->talk, s);
}

lz_status lz_ckpt_save_now(lz_checkpoint_manager *m, lz_ckpt_job *j)
{
    lz_ckpt_dir d;
    bool shared = j->ranks > 1;
    lz_status s = lz_ckpt_dir_open(m->path, true, &d);
    if (s == LZ_OK)
        s = shared ? write_shared(m, &d, j) : write_job(m, &d, j);
    else if (shared)
        s = tell(m, j->talk, s);
    if (s == LZ_OK && j->rank == 0 &&
        remove_others(m, &d, j->step) != LZ_OK) /* it is saved all the same */
        LZ_WARN("checkpoint", "older checkpoints stay: %s", lz_error_get()->message);
    lz_ckpt_dir_close(&d);
    return s;
}

static lz_status take_save(const lz_checkpoint_manager *m, int64_t step, const lz_checkpoint *c,
                           const lz_checkpoint_save_options *given, lz_checkpoint_save_options *o)
{
    *o = (lz_checkpoint_save_options){.struct_size = sizeof *o};
    LZ_TRY(check_manager(m));
    LZ_TRY(lz_state_check_struct(m->path, c));
    if (step < 0)
        return LZ_FAIL(LZ_EINVAL, "step is %" PRId64 ": it must not be negative", step);
    if (given && (given->struct_size < sizeof(size_t) || given->struct_size > sizeof *o))
        return LZ_FAIL(LZ_EINVAL, "struct_size is %zu: set it to the size of the struct",
                       given->struct_size);
    if (given)
        memcpy(o, given, given->struct_size);
    return LZ_OK;
}

/* Of several processes all take the same numbers, since all save the same steps. 0: it is alone. */
static uint64_t talk_of_save(void)
{
    return lz_device_is_shared() ? lz_shared_number() : 0;
}

static lz_status save(lz_checkpoint_manager *m, int64_t step, const lz_checkpoint *c,
                      const lz_checkpoint_save_options *o)
{
    lz_ckpt_queue_wait(m); /* in the order of the calls */
    LZ_TRY(lz_ckpt_queue_error(m));
    uint64_t talk = talk_of_save();
    lz_ckpt_job *j = lz_ckpt_job_new(step, talk, c, o);
    if (!j)
        return talk ? tell(m, talk, lz_error_get()->status) : lz_error_get()->status;
    lz_status s = lz_ckpt_save_now(m, j);
    lz_ckpt_job_free(j);
    return s;
}

/* What fails in this process before it is written, fails in the others when it is: all give it
 * later, by the same call. */
static lz_status save_async_together(lz_checkpoint_manager *m, int64_t step, const lz_checkpoint *c,
                                     const lz_checkpoint_save_options *o)
{
    lz_ckpt_queue_reserve(m);
    lz_status s = lz_ckpt_queue_shared_error(m);
    if (s != LZ_OK) {
        lz_ckpt_queue_give_up(m);
        return s;
    }
    uint64_t talk = lz_shared_number();
    s = lz_ckpt_queue_put(m, step, talk, c, o);
    if (s != LZ_OK) {
        (void)tell(m, talk, s);
        lz_ckpt_queue_failed(m);
    }
    return LZ_OK;
}

static lz_status save_async(lz_checkpoint_manager *m, int64_t step, const lz_checkpoint *c,
                            const lz_checkpoint_save_options *o)
{
    if (lz_device_is_shared())
        return save_async_together(m, step, c, o);
    LZ_TRY(lz_ckpt_queue_error(m));
    lz_ckpt_queue_reserve(m);
    return lz_ckpt_queue_put(m, step, 0, c, o);
}

/* A call of save_async for a step that is not saved. */
static lz_status pass_async(lz_checkpoint_manager *m)
{
    return lz_device_is_shared() ? lz_ckpt_queue_shared_error(m) : lz_ckpt_queue_error(m);
}

static lz_status save_if(lz_checkpoint_manager *m, int64_t step, const lz_checkpoint *c,
                         const lz_checkpoint_save_options *given, bool async)
{
    lz_checkpoint_save_options o;
    LZ_TRY(take_save(m, step, c, given, &o));
    if (!o.force && !lz_checkpoint_manager_should_save(m, step))
        return async ? pass_async(m) : LZ_OK;
    LZ_TRY(async ? save_async(m, step, c, &o) : save(m, step, c, &o));
    m->last = step;
    return LZ_OK;
}

lz_status lz_checkpoint_manager_save_at(lz_checkpoint_manager *m, int64_t step,
                                        const lz_checkpoint *c, const lz_checkpoint_save_options *o,
                                        const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    const lz_error before = *lz_error_get();
    return done(save_if(m, step, c, o, false), &before, "lz_checkpoint_manager_save", site);
}

lz_status lz_checkpoint_manager_save_async_at(lz_checkpoint_manager *m, int64_t step,
                                              const lz_checkpoint *c,
                                              const lz_checkpoint_save_options *o,
                                              const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    const lz_error before = *lz_error_get();
    return done(save_if(m, step, c, o, true), &before, "lz_checkpoint_manager_save_async", site);
}

lz_status lz_checkpoint_manager_join_at(lz_checkpoint_manager *m, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    const lz_error before = *lz_error_get();
    lz_status s = check_manager(m);
    if (s == LZ_OK) {
        lz_ckpt_queue_wait(m);
        s = lz_ckpt_queue_error(m);
    }
    return done(s, &before, "lz_checkpoint_manager_join", site);
}

bool lz_checkpoint_manager_should_save(lz_checkpoint_manager *m, int64_t step)
{
    LZ_PUBLIC(false);
    return m && step >= 0 && step != m->last &&
           (step % m->o.save_interval == 0 || lz_checkpoint_manager_reached_preemption(m, step));
}

/* Of several processes: one of them has been told to end. Where they cannot settle that, none is,
 * or some would save alone: they are asked again at the next step. */
static bool any_preempted(const lz_checkpoint_manager *m, bool here)
{
    int64_t any = 0;
    if (!lz_device_is_shared())
        return here;
    LZ_QUIETLY (void)
        lz_shared_max(m->path, here, &any);
    return any;
}

/* A signal between a save and the question whether to go on must not end the training unsaved: so
 * each step has one answer, which is that of all processes that train together. */
bool lz_checkpoint_manager_reached_preemption(lz_checkpoint_manager *m, int64_t step)
{
    LZ_PUBLIC(false);
    if (!m || !m->handles)
        return false;
    if (step != m->asked)
        m->answer = any_preempted(m, lz_preemption_count() != m->preempted);
    m->asked = step;
    return m->answer;
}

/* ---- reading ---- */

/* Warns that a step is passed over, with the reason that is recorded. */
static void pass_over(const lz_checkpoint_manager *m, int64_t step)
{
    char where[WHERE];
    LZ_WARN("checkpoint", "%s is damaged, an older checkpoint is looked for: %s",
            where_of(m, step, where), lz_error_get()->message);
}

/* One step. *damaged: an older one may do. */
static lz_status read_step(lz_checkpoint_manager *m, const lz_ckpt_dir *d, int64_t step,
                           lz_checkpoint *c, const lz_site *site, bool *damaged)
{
    char where[WHERE];
    lz_ckpt_reader *r = open_step(m, d, step);
    lz_status s = r ? LZ_OK : lz_error_get()->status;
    *damaged = is_damage(s);
    if (r) {
        const lz_tensor_source from = {.reader = r};
        s = lz_state_load(&from, where_of(m, step, where), c, site);
        *damaged = s != LZ_OK && lz_ckpt_damaged(r);
    }
    lz_ckpt_close(r);
    return s;
}

/* Of several processes each reads what it needs: what one of them finds damaged, is damaged for
 * all, and what fails otherwise, fails in all. */
static lz_status restore_step(lz_checkpoint_manager *m, const lz_ckpt_dir *d, int64_t step,
                              lz_checkpoint *c, const lz_site *site, bool *damaged)
{
    char where[WHERE];
    lz_status s = read_step(m, d, step, c, site, damaged);
    if (lz_device_is_shared())
        s = lz_shared_agree(where_of(m, step, where), s, damaged);
    if (s == LZ_OK)
        m->last = step;
    return s;
}

/* The newest step below *step, or of all of them where that is -1: the first process's choice,
 * since another may see the folder as it was a moment ago. -1: there is none. */
static lz_status next_older(const lz_checkpoint_manager *m, const lz_ckpt_steps *all, int64_t *step)
{
    int64_t older = -1;
    for (uint32_t i = 0; i < all->len; i++)
        if (*step < 0 || all->data[i] < *step)
            older = all->data[i];
    *step = older;
    return lz_device_is_shared() ? lz_shared_first(m->path, older, step) : LZ_OK;
}

static lz_status restore_latest(lz_checkpoint_manager *m, const lz_ckpt_dir *d,
                                const lz_ckpt_steps *all, lz_checkpoint *c, const lz_site *site)
{
    bool damaged = true;
    int64_t step = -1;
    LZ_TRY(next_older(m, all, &step));
    if (step < 0)
        return LZ_FAIL(LZ_ENOENT, "%s has no checkpoint", m->path);
    for (;;) {
        int64_t now = step;
        lz_status s = restore_step(m, d, now, c, site, &damaged);
        if (!damaged)
            return s;
        const lz_error e = *lz_error_get();
        LZ_TRY(next_older(m, all, &step));
        lz_error_set(&e);
        if (step < 0)
            return s;
        pass_over(m, now);
    }
}

static lz_status restore(lz_checkpoint_manager *m, int64_t step, lz_checkpoint *c,
                         const lz_site *site)
{
    lz_ckpt_dir d;
    lz_ckpt_steps all = {0};
    bool damaged;
    LZ_TRY(check_manager(m));
    LZ_TRY(lz_state_check_struct(m->path, c));
    if (step < LZ_LATEST_STEP)
        return LZ_FAIL(LZ_EINVAL, "step is %" PRId64 ": it must not be negative", step);
    lz_status s = open_steps(m, &d, &all);
    if (lz_device_is_shared())
        s = lz_shared_talk(lz_shared_number(), m->path, s, NULL, NULL, NULL);
    if (s == LZ_OK)
        s = step >= 0 ? restore_step(m, &d, step, c, site, &damaged)
                      : restore_latest(m, &d, &all, c, site);
    lz_vec_free(&all);
    lz_ckpt_dir_close(&d);
    return s;
}

lz_status lz_checkpoint_manager_restore_at(lz_checkpoint_manager *m, int64_t step, lz_checkpoint *c,
                                           const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    const lz_error before = *lz_error_get();
    lz_status s = done(restore(m, step, c, site), &before, "lz_checkpoint_manager_restore", site);
    return s == LZ_ENOENT ? s : lz_nn_given(s); /* that is an answer */
}

/* The steps, with what is being saved among them. */
static lz_status all_steps(lz_checkpoint_manager *m, lz_ckpt_steps *out)
{
    lz_ckpt_dir d;
    LZ_TRY(check_manager(m));
    lz_status s = open_steps(m, &d, out);
    lz_ckpt_dir_close(&d);
    return s == LZ_ENOENT ? LZ_OK : s; /* removed meanwhile */
}

int64_t lz_checkpoint_manager_all_steps(lz_checkpoint_manager *m, int64_t *out, int64_t n)
{
    LZ_PUBLIC(-1);
    const lz_error before = *lz_error_get();
    lz_ckpt_steps all = {0};
    lz_status s = all_steps(m, &all);
    if (s == LZ_OK && n > 0 && !out)
        s = LZ_FAIL(LZ_ENULL, "out is NULL");
    for (uint32_t i = 0; s == LZ_OK && i < all.len && i < n; i++)
        out[i] = all.data[i];
    int64_t count = s == LZ_OK ? (int64_t)all.len : -1;
    lz_vec_free(&all);
    (void)done(s, &before, "lz_checkpoint_manager_all_steps", NULL);
    return count;
}

/* -1: there is none. */
static lz_status latest_step(lz_checkpoint_manager *m, int64_t *latest)
{
    lz_ckpt_dir d;
    lz_ckpt_steps all = {0};
    *latest = -1;
    LZ_TRY(check_manager(m));
    lz_status s = open_steps(m, &d, &all);
    for (uint32_t i = all.len; s == LZ_OK && *latest < 0 && i-- > 0;) {
        s = verify_step(m, &d, all.data[i]);
        if (s == LZ_OK) {
            *latest = all.data[i];
        } else if (is_damage(s)) {
            pass_over(m, all.data[i]);
            s = LZ_OK;
        }
    }
    lz_vec_free(&all);
    lz_ckpt_dir_close(&d);
    return s == LZ_ENOENT ? LZ_OK : s; /* the folder was removed meanwhile */
}

int64_t lz_checkpoint_manager_latest_step(lz_checkpoint_manager *m)
{
    LZ_PUBLIC(-1);
    const lz_error before = *lz_error_get();
    int64_t latest = -1;
    (void)done(latest_step(m, &latest), &before, "lz_checkpoint_manager_latest_step", NULL);
    return latest;
}

static lz_status metric(lz_checkpoint_manager *m, int64_t step, const char *name, double *out)
{
    lz_ckpt_dir d;
    LZ_TRY(check_manager(m));
    if (!name || !out)
        return LZ_FAIL(LZ_ENULL, "%s is NULL", name ? "out" : "the name");
    if (step < 0)
        return LZ_FAIL(LZ_ENOENT, "no step %" PRId64, step);
    lz_ckpt_queue_wait(m);
    lz_status s = lz_ckpt_dir_open(m->path, false, &d);
    lz_ckpt_reader *r = s == LZ_OK ? open_step(m, &d, step) : NULL;
    s = s == LZ_OK && !r ? lz_error_get()->status : s;
    const lz_manifest *f = r ? lz_ckpt_manifest(r) : NULL;
    if (f)
        s = LZ_FAIL(LZ_ENOENT, "step %" PRId64 " was saved without the metric \"%.100s\"", step,
                    name);
    for (uint32_t i = 0; f && i < f->metrics.len; i++)
        if (strcmp(lz_manifest_text(f, f->metrics.data[i].name), name) == 0) {
            *out = f->metrics.data[i].value;
            s = LZ_OK;
        }
    lz_ckpt_close(r);
    lz_ckpt_dir_close(&d);
    return s;
}

lz_status lz_checkpoint_manager_metric(lz_checkpoint_manager *m, int64_t step, const char *name,
                                       double *out)
{
    LZ_PUBLIC(LZ_EFORK);
    const lz_error before = *lz_error_get();
    return done(metric(m, step, name, out), &before, "lz_checkpoint_manager_metric", NULL);
}

/* ---- making and ending ---- */

static lz_status check_options(const lz_checkpoint_manager_options *o)
{
    enum { MOST_PENDING = 64 };
    const char *what = o->save_interval < 1       ? "save_interval"
                       : o->max_to_keep < 0       ? "max_to_keep"
                       : o->keep_best < 0         ? "keep_best"
                       : o->keep_period < 0       ? "keep_period"
                       : o->max_pending_async < 1 ? "max_pending_async"
                                                  : NULL;
    if (what || o->max_pending_async > MOST_PENDING)
        return LZ_FAIL(LZ_EINVAL, "%s is out of its range", what ? what : "max_pending_async");
    if (o->keep_best && !o->best_metric)
        return LZ_FAIL(LZ_EINVAL, "keep_best is %" PRId64 " and best_metric is NULL", o->keep_best);
    return LZ_OK;
}

static lz_status take_options(lz_checkpoint_manager *m, const lz_checkpoint_manager_options *o)
{
    m->o =
        (lz_checkpoint_manager_options){.struct_size = sizeof m->o, LZ_CHECKPOINT_MANAGER_DEFAULTS};
    if (o && (o->struct_size < sizeof(size_t) || o->struct_size > sizeof m->o))
        return LZ_FAIL(LZ_EINVAL, "struct_size is %zu: set it to the size of the struct",
                       o->struct_size);
    if (o)
        memcpy(&m->o, o, o->struct_size);
    LZ_TRY(check_options(&m->o));
    if (m->o.best_metric && !(m->best_metric = lz_strdup(m->o.best_metric)))
        return LZ_FAIL(LZ_EMEM, "no memory for the manager");
    m->o.best_metric = m->best_metric;
    return LZ_OK;
}

static lz_status absolute(lz_checkpoint_manager *m, const char *path)
{
    char here[PATH_MAX] = "";
    lz_buf b = {0};
    if (!*path)
        return LZ_FAIL(LZ_EINVAL, "the path is empty");
    if (*path != '/' && !getcwd(here, sizeof here))
        return LZ_FAIL(LZ_EIO, "%s: the present folder is not known: %m", path);
    lz_buf_printf(&b, "%s%s%s", here, *here ? "/" : "", path);
    m->path = b.data;
    return b.failed ? LZ_FAIL(LZ_EMEM, "no memory for the manager") : LZ_OK;
}

static lz_status prepare(lz_checkpoint_manager *m, const char *path,
                         const lz_checkpoint_manager_options *o)
{
    lz_ckpt_dir d;
    if (!path)
        return LZ_FAIL(LZ_ENULL, "the path is NULL");
    LZ_TRY(take_options(m, o));
    LZ_TRY(absolute(m, path));
    LZ_TRY(lz_ckpt_dir_open(m->path, true, &d));
    (void)lz_ckpt_dir_sweep(&d);
    lz_ckpt_dir_close(&d);
    lz_exit_guard();
    m->preempted = lz_preemption_count();
    if (m->o.chkpt_on_preemption)
        LZ_TRY(lz_preemption_begin());
    m->handles = m->o.chkpt_on_preemption;
    return LZ_OK;
}

static void end(lz_checkpoint_manager *m)
{
    if (m->handles)
        lz_preemption_end();
    lz_ckpt_queue_end(m);
    lz_free(m->best_metric);
    lz_free(m->path);
    lz_free(m);
}

lz_checkpoint_manager *lz_checkpoint_manager_new_at(const char *path,
                                                    const lz_checkpoint_manager_options *o,
                                                    const lz_site *site)
{
    LZ_PUBLIC_AT(NULL);
    lz_checkpoint_manager *m = lz_calloc(1, sizeof *m);
    if (!m) {
        (void)LZ_FAIL(LZ_EMEM, "no memory for the manager");
    } else {
        const lz_error before = *lz_error_get();
        lz_ckpt_queue_init(m);
        m->last = m->asked = -1;
        if (prepare(m, path, o) == LZ_OK) {
            lz_error_set(&before);
            return m;
        }
        end(m);
    }
    lz_error_annotate("lz_checkpoint_manager_new", site);
    return NULL;
}

void lz_checkpoint_manager_free(lz_checkpoint_manager *m)
{
    LZ_PUBLIC();
    if (!m)
        return;
    lz_ckpt_queue_wait(m);
    if (m->error.status != LZ_OK)
        lz_logf(LZ_LOG_ERROR, "checkpoint", "%s: a checkpoint was not saved: %s", m->path,
                m->error.message);
    end(m);
}
