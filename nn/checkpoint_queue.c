/* checkpoint_queue.c - asynchronous saves: the caller copies the values, one thread writes one save
 * after the other, in their order. The queue is bounded by places, which are taken before the copy
 * is made: so there are never more copies than places, and one that is kept for the next. */
#include "base/process_end.h"
#include "base/thread.h"
#include "nn/checkpoint_manager.h"

void lz_ckpt_queue_init(lz_checkpoint_manager *m)
{
    lz_mutex_init(&m->lock, "checkpoint manager");
    lz_cond_init(&m->changed);
    m->end = &m->first;
}

static void done(lz_checkpoint_manager *m, lz_ckpt_job *j, lz_status s)
{
    lz_mutex_lock(&m->lock);
    if (s != LZ_OK && m->error.status == LZ_OK)
        m->error = *lz_error_get();
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
    lz_mutex_unlock(&m->lock);
}

void lz_ckpt_queue_give_up(lz_checkpoint_manager *m)
{
    lz_mutex_lock(&m->lock);
    m->pending--;
    lz_cond_broadcast(&m->changed);
    lz_mutex_unlock(&m->lock);
}

lz_status lz_ckpt_queue_put(lz_checkpoint_manager *m, lz_ckpt_job *j)
{
    lz_status s = m->runs ? LZ_OK : lz_thread_start(&m->thread, "lz-checkpoint", writer, m);
    if (s != LZ_OK) {
        lz_ckpt_job_free(j);
        lz_ckpt_queue_give_up(m);
        return s;
    }
    m->runs = true;
    lz_exit_hold_for_another(); /* the process does not end before it is written */
    lz_mutex_lock(&m->lock);
    j->next = NULL;
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

lz_status lz_ckpt_queue_error(lz_checkpoint_manager *m)
{
    lz_mutex_lock(&m->lock);
    const lz_error e = m->error;
    m->error = (lz_error){.status = LZ_OK};
    lz_mutex_unlock(&m->lock);
    if (e.status != LZ_OK)
        lz_error_set(&e);
    return e.status;
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
