/* checkpoint_queue.c - asynchronous saves: the caller copies the values, one thread writes one save
 * after the other, in their order. The queue is bounded by places, which are taken before the copy
 * is made: so there are never more copies than places, and one that is kept for the next.
 * Of several processes that save together one may know of a failure before another: so they look
 * only for saves that are done in all, or some would save the next step, and the others not. */
#include "base/process_end.h"
#include "base/thread.h"
#include "nn/checkpoint_manager.h"

void lz_ckpt_queue_init(lz_checkpoint_manager *m)
{
    lz_mutex_init(&m->lock, "checkpoint manager");
    lz_cond_init(&m->changed);
    m->end = &m->first;
}

/* Under lock: the first failure stays. */
static void note_failure(lz_checkpoint_manager *m, uint64_t number)
{
    if (number <= m->told || (m->error.status != LZ_OK && m->failed <= number))
        return;
    m->error = *lz_error_get();
    m->failed = number;
}

static void done(lz_checkpoint_manager *m, lz_ckpt_job *j, lz_status s)
{
    lz_mutex_lock(&m->lock);
    if (s != LZ_OK)
        note_failure(m, j->number);
    if (j->room > m->spare_room) { /* the next copy is as large */
        char *spare = m->spare;
        m->spare = j->copy;
        m->spare_room = j->room;
        j->copy = spare;
    }
    lz_mutex_unlock(&m->lock);
    lz_ckpt_job_free(j);
    lz_exit_let_for_another();
    lz_ckpt_queue_give_up(m);
}

static void *writer(void *manager)
{
    lz_checkpoint_manager *m = manager;
    for (;;) {
        lz_mutex_lock(&m->lock);
        while (!m->first && !m->stop)
            lz_cond_wait(&m->changed, &m->lock);
        lz_ckpt_job *j = m->first;
        if (j && !(m->first = j->next))
            m->end = &m->first;
        lz_mutex_unlock(&m->lock);
        if (!j)
            return NULL;
        done(m, j, lz_ckpt_save_now(m, j));
    }
}

void lz_ckpt_queue_reserve(lz_checkpoint_manager *m)
{
    lz_mutex_lock(&m->lock);
    while (m->pending >= m->o.max_pending_async)
        lz_cond_wait(&m->changed, &m->lock);
    m->pending++;
    m->reserved++;
    lz_mutex_unlock(&m->lock);
}

void lz_ckpt_queue_give_up(lz_checkpoint_manager *m)
{
    lz_mutex_lock(&m->lock);
    m->pending--;
    lz_cond_broadcast(&m->changed);
    lz_mutex_unlock(&m->lock);
}

/* The values of now, in memory of an earlier copy where that has room. NULL: the error is
 * recorded. */
static lz_ckpt_job *copy_of_now(lz_checkpoint_manager *m, int64_t step, uint64_t talk,
                                const lz_checkpoint *c, const lz_checkpoint_save_options *o)
{
    lz_ckpt_job *j = lz_ckpt_job_new(step, talk, c, o);
    if (!j)
        return NULL;
    lz_mutex_lock(&m->lock);
    char *spare = m->spare;
    size_t room = m->spare_room;
    m->spare = NULL;
    m->spare_room = 0;
    lz_mutex_unlock(&m->lock);
    lz_status s = lz_ckpt_job_copy(j, &spare, &room);
    lz_free(spare); /* too small */
    if (s == LZ_OK)
        return j;
    lz_ckpt_job_free(j);
    return NULL;
}

static lz_status start_writer(lz_checkpoint_manager *m)
{
    if (m->runs)
        return LZ_OK;
    LZ_TRY(lz_thread_start(&m->thread, "lz-checkpoint", writer, m));
    m->runs = true;
    return LZ_OK;
}

lz_status lz_ckpt_queue_put(lz_checkpoint_manager *m, int64_t step, uint64_t talk,
                            const lz_checkpoint *c, const lz_checkpoint_save_options *o)
{
    lz_ckpt_job *j = copy_of_now(m, step, talk, c, o);
    lz_status s = j ? start_writer(m) : lz_error_get()->status;
    if (s != LZ_OK) {
        if (j)
            lz_ckpt_job_free(j);
        lz_ckpt_queue_give_up(m);
        return s;
    }
    lz_exit_hold_for_another(); /* the process does not end before it is written */
    lz_mutex_lock(&m->lock);
    j->next = NULL;
    j->number = m->reserved;
    *m->end = j;
    m->end = &j->next;
    lz_cond_broadcast(&m->changed);
    lz_mutex_unlock(&m->lock);
    return LZ_OK;
}

void lz_ckpt_queue_wait(lz_checkpoint_manager *m)
{
    lz_mutex_lock(&m->lock);
    while (m->pending)
        lz_cond_wait(&m->changed, &m->lock);
    lz_mutex_unlock(&m->lock);
}

/* Gives m->error where the save that failed is one of the first `most`. */
static lz_status take_error(lz_checkpoint_manager *m, uint64_t most, uint64_t told)
{
    lz_error e = {.status = LZ_OK};
    lz_mutex_lock(&m->lock);
    if (m->error.status != LZ_OK && m->failed <= most) {
        e = m->error;
        m->error = (lz_error){.status = LZ_OK};
        m->told = told;
    }
    lz_mutex_unlock(&m->lock);
    if (e.status != LZ_OK)
        lz_error_set(&e);
    return e.status;
}

lz_status lz_ckpt_queue_error(lz_checkpoint_manager *m)
{
    return take_error(m, UINT64_MAX, 0);
}

lz_status lz_ckpt_queue_shared_error(lz_checkpoint_manager *m)
{
    uint64_t n = m->reserved, places = (uint64_t)m->o.max_pending_async;
    return take_error(m, n > places ? n - places : 0, n);
}

void lz_ckpt_queue_failed(lz_checkpoint_manager *m)
{
    lz_mutex_lock(&m->lock);
    note_failure(m, m->reserved);
    lz_mutex_unlock(&m->lock);
}

void lz_ckpt_queue_end(lz_checkpoint_manager *m)
{
    lz_ckpt_queue_wait(m);
    lz_mutex_lock(&m->lock);
    m->stop = true;
    lz_cond_broadcast(&m->changed);
    lz_mutex_unlock(&m->lock);
    if (m->runs)
        (void)pthread_join(m->thread, NULL);
    lz_free(m->spare);
    lz_cond_destroy(&m->changed);
    lz_mutex_destroy(&m->lock);
}
