/* spmd_processes.c - the virtual device of several processes. Each executes the partitions of its
 * own devices, each as a job of its device's queue; they meet those of other processes in the
 * collectives of the program, as replicas do (backends/common/rendezvous.h). So a process that
 * fails, dies or runs another program ends as an error of all, within a time limit.
 * All processes start the same programs in the same order; a read of a tensor of which others have
 * a part is such a program, too. Threads: thread-safe. */
#include "backends/spmd/spmd.h"
#include "base/alloc.h"
#include "ir/participants.h"

/* Programs come to the queues of all devices in the same order. */
static lz_mutex order = LZ_MUTEX_INIT("spmd order");

/* ---- who has which partition ---- */

int64_t lz_spmd_partition_of(const lz_mesh *m, int64_t l)
{
    int64_t device = lz_spmd.first + l, p = 0;
    if (!lz_spmd_is_multiprocess() || !m->device_ids)
        return device;
    while (m->device_ids[p] != device)
        p++;
    return p;
}

lz_status lz_spmd_by_device(const lz_mesh *m, lz_func **f)
{
    lz_func *g = NULL;
    if (!lz_spmd_is_multiprocess() || !m->device_ids)
        return LZ_OK;
    lz_status s = lz_func_renumber_partitions(*f, m->device_ids, m->ndevice, &g);
    lz_func_free(*f);
    *f = g;
    return s;
}

/* ---- one event for the jobs of several devices ---- */

typedef struct all_done {
    _Atomic int64_t left;
    _Atomic bool failed;
    lz_error err; /* the first one's; by whom sets failed */
    lz_event *e;  /* a reference */
} all_done;

static void one_done(void *user, const lz_error *err)
{
    all_done *a = user;
    bool first = false;
    if (err->status != LZ_OK && atomic_compare_exchange_strong(&a->failed, &first, true))
        a->err = *err;
    if (atomic_fetch_sub(&a->left, 1) != 1)
        return;
    lz_event_complete(a->e, atomic_load(&a->failed) ? &a->err : NULL);
    lz_event_release(a->e);
    lz_free(a);
}

/* Called under locks of the runtime, while which nothing that is to follow an event runs here. */
static void follow(lz_event *e, all_done *a)
{
    LZ_QUIETLY {
        if (lz_event_done(e) || lz_event_then(e, one_done, a) != LZ_OK) {
            const lz_error *err = lz_event_failure(e);
            one_done(a, err ? err : &(lz_error){.status = LZ_OK});
        }
    }
}

/* ---- executing ---- */

void lz_spmd_miss(lz_exec *x)
{
    for (int64_t l = 0; l < lz_spmd.nlocal; l++)
        lz_spmd.be->miss(x, (int)l);
}

/* *n: how many were started. A device that fails to has missed already. */
static lz_status start_all(lz_exec *x, lz_device_buffer *const *const *in, const bool *donated,
                           bool awaited, lz_device_buffer ***out, lz_event **done, int64_t *n)
{
    lz_status s = LZ_OK;
    bool alone = lz_spmd.nlocal == 1; /* else the thread would wait in one job for the next */
    lz_mutex_lock(&order);
    for (*n = 0; *n < lz_spmd.nlocal && s == LZ_OK; *n += s == LZ_OK)
        s = lz_spmd.be->execute(x, (int)*n, in[*n], donated, awaited && alone, out[*n], &done[*n]);
    for (int64_t l = *n + 1; l < lz_spmd.nlocal && s != LZ_OK; l++)
        lz_spmd.be->miss(x, (int)l);
    lz_mutex_unlock(&order);
    return s;
}

static void drop(lz_device_buffer ***out, uint32_t nout, int64_t n)
{
    for (int64_t l = 0; l < n; l++)
        for (uint32_t k = 0; k < nout; k++) {
            lz_device_buffer_release(out[l][k]);
            out[l][k] = NULL;
        }
}

lz_status lz_spmd_execute_each(lz_exec *x, uint32_t nout, lz_device_buffer *const *const *in,
                               const bool *donated, bool awaited, lz_device_buffer ***out,
                               lz_event **done)
{
    int64_t started = 0;
    lz_status s = start_all(x, in, donated, awaited, out, done, &started);
    if (s == LZ_OK)
        return LZ_OK;
    drop(out, nout, started);
    for (int64_t l = 0; l < started; l++) {
        lz_event_release(done[l]);
        done[l] = NULL;
    }
    return s;
}

lz_status lz_spmd_execute_local(lz_exec *x, uint32_t nout, lz_device_buffer *const *const *in,
                                const bool *donated, bool awaited, lz_device_buffer ***out,
                                lz_event **done)
{
    int64_t n = lz_spmd.nlocal;
    lz_event **each = lz_calloc((size_t)n, sizeof *each);
    all_done *a = lz_calloc(1, sizeof *a);
    lz_event *all = each && a ? lz_event_new() : NULL;
    lz_status s = all ? LZ_OK : LZ_FAIL(LZ_EMEM, "SPMD: no memory to execute a program");
    if (s == LZ_OK)
        s = lz_spmd_execute_each(x, nout, in, donated, awaited, out, each);
    else
        lz_spmd_miss(x);
    if (s == LZ_OK) {
        lz_event_retain(all);
        *a = (all_done){.left = n, .e = all};
        for (int64_t l = 0; l < n; l++) {
            follow(each[l], a);
            lz_event_release(each[l]);
        }
        *done = all;
    } else {
        if (all)
            lz_event_complete(all, lz_error_get());
        lz_event_release(all);
        lz_free(a);
    }
    lz_free(each);
    return s;
}
