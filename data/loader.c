/* loader.c - data loader: worker threads prepare batches in host memory, and the device gets them
 * ahead of time. Batches are numbered. A worker takes the next number, fills a batch and puts it
 * into slot number % capacity of a ring; a number is only taken when its slot is free. So batches
 * come in order whichever worker is fast, and memory is bounded. Workers touch host memory only;
 * tensors are made by the consuming thread, of the batches that are ready, so the device has up to
 * device_prefetch_size batches before they are needed. Batch memory is pooled: it may come back
 * late, when a step that reads it has run, so the pool outlives the loader.
 * Threads: one mutex for the ring, one for the pool. */
#include "base/thread.h"
#include "data/data_internal.h"
#include <inttypes.h>
#include <lazuli/loader.h>
#include <string.h>

enum { ALIGN = 64 };

/* ---- memory of batches ---- */

typedef struct pool pool;
typedef struct block {
    pool *home;
    struct block *next;
    char *data;
} block;
struct pool {
    lz_mutex lock;
    block *spare;
    size_t nbytes;
    int refs; /* references: the loader, and blocks that are in use */
};

static void pool_unref(pool *p) /* called with the lock held, and releases it */
{
    bool last = --p->refs == 0;
    block *b = last ? p->spare : NULL;
    lz_mutex_unlock(&p->lock);
    while (b) {
        block *next = b->next;
        lz_free(b);
        b = next;
    }
    if (last) {
        lz_mutex_destroy(&p->lock);
        lz_free(p);
    }
}

static block *block_get(pool *p)
{
    lz_mutex_lock(&p->lock);
    block *b = p->spare;
    if (b)
        p->spare = b->next;
    p->refs++;
    lz_mutex_unlock(&p->lock);
    if (!b && (b = lz_alloc(sizeof *b + ALIGN + p->nbytes))) {
        b->home = p;
        b->data = (char *)LZ_ALIGN_UP((uintptr_t)(b + 1), ALIGN);
    }
    if (!b) {
        lz_mutex_lock(&p->lock);
        pool_unref(p);
    }
    return b;
}

static void block_put(void *block_)
{
    block *b = block_;
    pool *p = b->home;
    lz_mutex_lock(&p->lock);
    b->next = p->spare;
    p->spare = b;
    pool_unref(p);
}

/* ---- the loader ---- */

typedef struct batch {
    block *field[LZ_MAX_FIELDS];
    int64_t rows;
    lz_error error; /* status LZ_OK: none */
} batch;

typedef struct device_batch {
    lz_tensor *field[LZ_MAX_FIELDS];
} device_batch;

struct lz_loader {
    const lz_dataset *set;
    lz_loader_options o;
    pool *pools[LZ_MAX_FIELDS];
    size_t row[LZ_MAX_FIELDS]; /* bytes of a sample */
    int64_t batches;
    /* shared by workers and the consumer */
    lz_mutex lock;
    lz_cond free_slot, ready, idle;
    bool stop;
    int busy;
    int64_t next, taken,
        end;      /* batch numbers: next for a worker; next for the consumer; end of the epoch */
    batch **ring; /* loader_prefetch_size */
    int64_t *order;
    /* the caller's */
    device_batch *ahead; /* device_prefetch_size, a ring too */
    int64_t first_ahead, n_ahead;
    device_batch now;
    int64_t since_step;
    bool running;
    lz_error error;
    pthread_t *workers;
    int nworkers;
};

static void batch_free(batch *b)
{
    for (int f = 0; b && f < LZ_MAX_FIELDS; f++)
        if (b->field[f])
            block_put(b->field[f]);
    lz_free(b);
}

/* The samples of batch `number` of this loader (shard). */
static int64_t first_row(const lz_loader *l, int64_t number)
{
    return (number * l->o.num_shards + l->o.shard) * l->o.batch_size;
}

static lz_status fill(lz_loader *l, int64_t number, batch *b)
{
    const lz_dataset *d = l->set;
    int64_t from = first_row(l, number), n = d->len - from;
    b->rows = n < l->o.batch_size ? n : l->o.batch_size;
    for (int f = 0; f < d->nfields; f++)
        if (!(b->field[f] = block_get(l->pools[f])))
            return LZ_FAIL(LZ_EMEM, "no memory for %zu bytes of batch %" PRId64,
                           l->pools[f]->nbytes, number);
    for (int64_t i = 0; i < b->rows; i++) {
        void *out[LZ_MAX_FIELDS] = {0};
        for (int f = 0; f < d->nfields; f++)
            out[f] = b->field[f]->data + (size_t)i * l->row[f];
        int64_t index = l->order ? l->order[from + i] : from + i;
        lz_error_clear();
        lz_assert_unlocked("a data set");
        lz_status s = d->get(d->user, index, out);
        if (s != LZ_OK && lz_error_get()->status == LZ_OK)
            return LZ_FAIL(s, "sample %" PRId64 " of the data set cannot be had", index);
        if (s != LZ_OK)
            return s;
    }
    return LZ_OK;
}

static _Thread_local const lz_loader *serving; /* the loader whose thread this is */

static void *worker(void *loader)
{
    lz_loader *l = loader;
    serving = l;
    lz_mutex_lock(&l->lock);
    while (true) {
        while (!l->stop && (l->next == l->end || l->next - l->taken >= l->o.loader_prefetch_size))
            lz_cond_wait(&l->free_slot, &l->lock);
        if (l->stop)
            break;
        int64_t number = l->next++;
        l->busy++;
        lz_mutex_unlock(&l->lock);
        batch *b = lz_calloc(1, sizeof *b);
        if (b && fill(l, number, b) != LZ_OK)
            b->error = *lz_error_get();
        if (lz_fork_happened()) /* by the data set's get: nobody takes this batch */
            return NULL;
        lz_mutex_lock(&l->lock);
        l->busy--;
        if (b)
            l->ring[number % l->o.loader_prefetch_size] = b;
        else
            l->stop = true; /* not even memory for the error */
        lz_cond_signal(&l->ready);
        if (!l->busy)
            lz_cond_signal(&l->idle);
    }
    lz_cond_signal(&l->ready);
    lz_mutex_unlock(&l->lock);
    return NULL;
}

/* The calls that a sample's function must not make of the loader that it works for. */
static lz_status not_of_itself(const lz_loader *l)
{
    return serving != l ? LZ_OK
                        : LZ_FAIL(LZ_ESTATE, "the loader's own thread would wait for itself: "
                                             "`get` of a data set does not call its loader");
}

/* ---- making ---- */

static bool within(const char *option, int64_t v, int64_t lo, int64_t hi)
{
    if (v >= lo && v <= hi)
        return true;
    LZ_FAIL(LZ_EINVAL, "%s is %" PRId64 ": it must be in %" PRId64 "..%" PRId64, option, v, lo, hi);
    return false;
}

static bool take_options(lz_loader_options *o, const lz_loader_options *opt)
{
    *o = (lz_loader_options){.struct_size = sizeof *o, LZ_LOADER_DEFAULTS};
    if (opt && (opt->struct_size < sizeof(size_t) || opt->struct_size > sizeof *o)) {
        LZ_FAIL(LZ_EINVAL, "struct_size is %zu: set it to the size of the struct",
                opt->struct_size);
        return false;
    }
    if (opt)
        memcpy(o, opt, opt->struct_size);
    return within("batch_size", o->batch_size, 1, (int64_t)1 << 40) &&
           within("num_workers", o->num_workers, 1, 64) &&
           within("loader_prefetch_size", o->loader_prefetch_size, 1, 1024) &&
           within("device_prefetch_size", o->device_prefetch_size, 1, 1024) &&
           within("batches_per_execution", o->batches_per_execution, 0, INT32_MAX) &&
           within("num_shards", o->num_shards, 1, INT32_MAX) &&
           within("shard", o->shard, 0, o->num_shards - 1);
}

static lz_status check_set(const lz_dataset *d)
{
    if (!d)
        return LZ_FAIL(LZ_ENULL, "the data set is NULL");
    if (d->struct_size < sizeof *d || d->nfields < 1 || d->nfields > LZ_MAX_FIELDS || d->len < 0 ||
        !d->get)
        return LZ_FAIL(LZ_EINVAL, "the data set has %d fields and %" PRId64 " samples%s",
                       d->nfields, d->len, d->get ? "" : ", and no way to get them");
    return LZ_OK;
}

/* The shape of a batch of field f. */
static lz_shape batch_shape(const lz_loader *l, int f, int64_t rows)
{
    lz_shape s = l->set->field[f].shape;
    int rank = s.rank < LZ_MAX_RANK ? s.rank : LZ_MAX_RANK - 1;
    memmove(s.dims + 1, s.dims, (size_t)rank * sizeof *s.dims);
    s.dims[0] = rows;
    s.rank++;
    return s;
}

static lz_status make_pools(lz_loader *l)
{
    for (int f = 0; f < l->set->nfields; f++) {
        size_t nbytes;
        lz_shape s = batch_shape(l, f, l->o.batch_size);
        LZ_TRY(lz_data_size(l->set->field[f].dtype, &s, "a batch", &nbytes));
        pool *p = lz_calloc(1, sizeof *p);
        if (!p)
            return LZ_FAIL(LZ_EMEM, "no memory for the loader");
        lz_mutex_init(&p->lock, "loader pool");
        p->nbytes = nbytes;
        p->refs = 1;
        l->pools[f] = p;
        l->row[f] = nbytes / (size_t)l->o.batch_size;
    }
    return LZ_OK;
}

static lz_status prepare(lz_loader *l)
{
    LZ_TRY(make_pools(l));
    int64_t all = l->set->len / l->o.batch_size;
    if (!l->o.drop_last && l->set->len % l->o.batch_size)
        all++;
    l->batches = all / l->o.num_shards;
    l->ring = lz_calloc((size_t)l->o.loader_prefetch_size, sizeof(batch *));
    l->ahead = lz_calloc((size_t)l->o.device_prefetch_size, sizeof *l->ahead);
    l->workers = lz_calloc((size_t)l->o.num_workers, sizeof *l->workers);
    if (l->o.shuffle)
        l->order = lz_calloc((size_t)l->set->len + 1, sizeof *l->order);
    if (!l->ring || !l->ahead || !l->workers || (l->o.shuffle && !l->order))
        return LZ_FAIL(LZ_EMEM, "no memory for the loader");
    for (; l->nworkers < l->o.num_workers; l->nworkers++)
        LZ_TRY(lz_thread_start(&l->workers[l->nworkers], "lz-loader", worker, l));
    return LZ_OK;
}

lz_loader *lz_loader_new_at(const lz_dataset *d, const lz_loader_options *opt, const lz_site *site)
{
    LZ_PUBLIC_AT(NULL);
    lz_loader_options o;
    lz_loader *l = NULL;
    if (check_set(d) == LZ_OK && take_options(&o, opt) && !(l = lz_calloc(1, sizeof *l)))
        LZ_FAIL(LZ_EMEM, "no memory for the loader");
    if (l) {
        l->set = d;
        l->o = o;
        lz_mutex_init(&l->lock, "loader");
        lz_cond_init(&l->free_slot);
        lz_cond_init(&l->ready);
        lz_cond_init(&l->idle);
        if (prepare(l) == LZ_OK)
            return l;
    }
    LZ_QUIETLY {
        lz_loader_free(l);
    }
    lz_error_annotate("lz_loader_new", site);
    return NULL;
}

int64_t lz_loader_len(const lz_loader *l)
{
    LZ_PUBLIC(0);
    return l ? l->batches : 0;
}

/* ---- an epoch ---- */

static void drop_tensors(lz_loader *l, device_batch *b)
{
    for (int f = 0; f < l->set->nfields; f++)
        lz_release(b->field[f]);
    *b = (device_batch){{0}};
}

/* Ends the epoch: no worker is busy afterwards, and nothing is left. */
static void drain(lz_loader *l)
{
    lz_mutex_lock(&l->lock);
    l->end = l->next;
    while (l->busy)
        lz_cond_wait(&l->idle, &l->lock);
    for (int i = 0; l->ring && i < l->o.loader_prefetch_size; i++) {
        batch_free(l->ring[i]);
        l->ring[i] = NULL;
    }
    lz_mutex_unlock(&l->lock);
    for (; l->n_ahead; l->n_ahead--)
        drop_tensors(l, &l->ahead[l->first_ahead++ % l->o.device_prefetch_size]);
    drop_tensors(l, &l->now);
    l->running = false;
}

lz_status lz_loader_begin_at(lz_loader *l, int64_t epoch, int64_t first_batch, const lz_site *site)
{
    LZ_PUBLIC_AT(LZ_EFORK);
    static const char op[] = "lz_loader_begin";
    if (!l)
        return lz_data_done(LZ_FAIL(LZ_ENULL, "the loader is NULL"), op, site);
    if (not_of_itself(l) != LZ_OK)
        return lz_data_done(LZ_ESTATE, op, site);
    if (first_batch < 0 || first_batch > l->batches)
        return lz_data_done(
            LZ_FAIL(LZ_ERANGE, "batch %" PRId64 " of %" PRId64, first_batch, l->batches), op, site);
    drain(l);
    if (l->order)
        lz_shuffled(l->order, l->set->len, l->o.seed, epoch);
    l->error = (lz_error){.status = LZ_OK};
    l->since_step = l->first_ahead = 0;
    l->running = true;
    lz_mutex_lock(&l->lock);
    l->next = l->taken = first_batch;
    l->end = l->batches;
    lz_cond_broadcast(&l->free_slot);
    lz_mutex_unlock(&l->lock);
    return LZ_OK;
}

/* The next batch of the ring; wait: until it is there. NULL: none is ready, or the epoch has
 * ended. */
static batch *take(lz_loader *l, bool wait)
{
    lz_mutex_lock(&l->lock);
    batch **slot = &l->ring[l->taken % l->o.loader_prefetch_size], *b = NULL;
    while (wait && !*slot && l->taken < l->end && !l->stop)
        lz_cond_wait(&l->ready, &l->lock);
    if (*slot && l->taken < l->end) {
        b = *slot;
        *slot = NULL;
        l->taken++;
        lz_cond_signal(&l->free_slot);
    } else if (l->stop && !l->error.status) {
        LZ_FAIL(LZ_EMEM, "no memory for a batch");
        l->error = *lz_error_get();
    }
    lz_mutex_unlock(&l->lock);
    return b;
}

/* Moves a batch to the device: without a copy where the device can use host memory, which then
 * returns to the pool. */
static lz_status to_device(lz_loader *l, batch *b, device_batch *out, const lz_site *site)
{
    lz_status s = b->error.status;
    if (s != LZ_OK)
        lz_error_set(&b->error);
    else
        s = lz_scope_begin();
    if (s != LZ_OK)
        return s;
    for (int f = 0; f < l->set->nfields && s == LZ_OK; f++) {
        block *k = b->field[f];
        b->field[f] = NULL;
        lz_tensor *t = lz_from_borrowed_at(l->set->field[f].dtype, batch_shape(l, f, b->rows),
                                           k->data, (size_t)-1, block_put, k, site);
        if ((s = lz_status_of(t)) == LZ_OK)
            out->field[f] = lz_retain(t);
    }
    if (s != LZ_OK)
        drop_tensors(l, out);
    lz_scope_end();
    return s;
}

/* Moves ready batches to the device, at least one unless the epoch has ended. A failure is kept:
 * the batches before it are handed out first. */
static void run_ahead(lz_loader *l, const lz_site *site)
{
    while (l->error.status == LZ_OK && l->n_ahead < l->o.device_prefetch_size) {
        batch *b = take(l, l->n_ahead == 0);
        if (!b)
            return;
        device_batch *to = &l->ahead[(l->first_ahead + l->n_ahead) % l->o.device_prefetch_size];
        if (to_device(l, b, to, site) == LZ_OK)
            l->n_ahead++;
        else
            l->error = *lz_error_get();
        batch_free(b);
    }
}

/* False ends the epoch. */
static bool step(lz_loader *l, const lz_site *site)
{
    l->since_step = 0;
    if (lz_mark_step_at(NULL, site) == LZ_OK)
        return true;
    l->error = *lz_error_get();
    drain(l);
    return false;
}

bool lz_loader_next_at(lz_loader *l, lz_tensor **out, const lz_site *site)
{
    LZ_PUBLIC_AT(false);
    static const char op[] = "lz_loader_next";
    if (!l || !out) {
        LZ_FAIL(LZ_ENULL, "%s is NULL", l ? "out" : "the loader");
        lz_error_annotate(op, site);
        return false;
    }
    if (not_of_itself(l) != LZ_OK) {
        lz_error_annotate(op, site);
        return false;
    }
    if (!l->running)
        return false;
    drop_tensors(l, &l->now);
    if (l->o.batches_per_execution && l->since_step >= l->o.batches_per_execution && !step(l, site))
        return false;
    run_ahead(l, site); /* after the step: the device has work while batches are moved */
    if (!l->n_ahead) {  /* the end, or a failure */
        drain(l);
        if (l->o.batches_per_execution && l->since_step)
            step(l, site);
        if (l->error.status != LZ_OK)
            lz_error_set(&l->error);
        return false;
    }
    l->now = l->ahead[l->first_ahead % l->o.device_prefetch_size];
    l->ahead[l->first_ahead++ % l->o.device_prefetch_size] = (device_batch){{0}};
    l->n_ahead--;
    l->since_step++;
    for (int f = 0; f < l->set->nfields; f++)
        out[f] = l->now.field[f];
    return true;
}

lz_status lz_loader_status(const lz_loader *l)
{
    LZ_PUBLIC(LZ_EFORK);
    if (!l)
        return LZ_FAIL(LZ_ENULL, "the loader is NULL");
    if (l->error.status != LZ_OK)
        lz_error_set(&l->error);
    return l->error.status;
}

void lz_loader_free(lz_loader *l)
{
    LZ_PUBLIC();
    if (!l)
        return;
    if (not_of_itself(l) != LZ_OK) {
        lz_error_annotate("lz_loader_free", NULL);
        return;
    }
    if (l->ring && l->ahead)
        drain(l);
    lz_mutex_lock(&l->lock);
    l->stop = true;
    lz_cond_broadcast(&l->free_slot);
    lz_mutex_unlock(&l->lock);
    for (int i = 0; i < l->nworkers; i++)
        pthread_join(l->workers[i], NULL);
    for (int f = 0; f < LZ_MAX_FIELDS; f++)
        if (l->pools[f]) {
            lz_mutex_lock(&l->pools[f]->lock);
            pool_unref(l->pools[f]);
        }
    lz_cond_destroy(&l->free_slot);
    lz_cond_destroy(&l->ready);
    lz_cond_destroy(&l->idle);
    lz_mutex_destroy(&l->lock);
    lz_free(l->ring);
    lz_free(l->ahead);
    lz_free(l->workers);
    lz_free(l->order);
    lz_free(l);
}
