/* ref.c - the REF device: the reference evaluator behind the device interface.
 * An executable is the function itself; executing it is lz_ref_run on copies of the inputs, on the
 * device's queue. One device, memory is the host's, nothing is donated in place. Slow, simple, and
 * what every other device is compared with.
 * Threads: every call may come from any thread (see backend.h). */
#include "backends/backend.h"
#include "base/alloc.h"
#include "base/timeline/timeline.h"
#include "ir/eval/eval_partitions.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { SMALL_ELEMS = 4096 /* programs of fewer elements run before the call returns */ };
static const char magic[8] = {'L', 'Z', 'R', 'E', 'F', '0', '0', '1'};

/* ---- the device ---- */

static _Atomic(lz_queue *) queue; /* of the one device; made by init, lives for the process */
static lz_mutex starting = LZ_MUTEX_INIT("ref");
static _Atomic uint64_t used, peak;

/* Tried again after a failure: memory may have come back. */
static lz_status ref_init(void)
{
    if (__builtin_expect(atomic_load_explicit(&queue, memory_order_acquire) != NULL, 1))
        return LZ_OK;
    lz_mutex_lock(&starting);
    if (!atomic_load(&queue))
        atomic_store_explicit(&queue, lz_queue_new("lz-ref"), memory_order_release);
    lz_mutex_unlock(&starting);
    return atomic_load(&queue) ? LZ_OK : LZ_EMEM;
}

static int ref_device_count(void)
{
    return 1;
}

static lz_status check_device(int device)
{
    LZ_TRY(ref_init());
    return device == 0 ? LZ_OK
                       : LZ_FAIL(LZ_ERANGE, "REF: there is no device %d, only device 0", device);
}

static lz_status ref_device_info(int device, lz_device_info *out)
{
    LZ_TRY(check_device(device));
    *out = (lz_device_info){.threads = 1};
    snprintf(out->kind, sizeof out->kind, "ref: interpreter");
    out->memory_used = atomic_load(&used);
    out->memory_peak = atomic_load(&peak);
    return LZ_OK;
}

static void ref_key(int device, lz_buf *out)
{
    (void)device;
    lz_buf_put(out, magic, sizeof magic);
}

/* ---- buffers ---- */

typedef struct ref_buf {
    lz_device_buffer b;
    void *block; /* what was allocated; NULL for borrowed memory */
} ref_buf;

static uint32_t my_index(void)
{
    extern const lz_backend lz_backend_ref;
    return (uint32_t)lz_backend_index(&lz_backend_ref);
}

static ref_buf *buf_new(size_t nbytes)
{
    ref_buf *r = lz_calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->b.refs = 1;
    r->b.backend = my_index();
    r->b.nbytes = r->b.capacity = nbytes;
    return r;
}

static void count_in(size_t nbytes)
{
    uint64_t now = atomic_fetch_add(&used, nbytes) + nbytes, top = atomic_load(&peak);
    while (now > top && !atomic_compare_exchange_weak(&peak, &top, now))
        ;
}

static lz_status ref_alloc(int device, size_t nbytes, lz_device_buffer **out)
{
    *out = NULL;
    LZ_TRY(check_device(device));
    size_t total;
    ref_buf *r = buf_new(nbytes);
    if (r && lz_add_size(nbytes, 64, &total))
        r->block = lz_alloc(total);
    if (!r || !r->block) {
        lz_free(r);
        return LZ_FAIL(LZ_EMEM, "REF: no memory for a buffer of %zu bytes", nbytes);
    }
    r->b.data = (void *)LZ_ALIGN_UP((uintptr_t)r->block, 64);
    count_in(nbytes);
    *out = &r->b;
    return LZ_OK;
}

static void ref_free(lz_device_buffer *b)
{
    ref_buf *r = (ref_buf *)b;
    if (r->block)
        atomic_fetch_sub(&used, b->capacity);
    lz_free(r->block);
    lz_free(r);
}

static lz_status ref_wrap(int device, void *data, size_t nbytes, void (*release)(void *),
                          void *user, lz_device_buffer **out)
{
    *out = NULL;
    LZ_TRY(check_device(device));
    ref_buf *r = buf_new(nbytes);
    if (!r)
        return LZ_FAIL(LZ_EMEM, "REF: no memory to wrap %zu bytes", nbytes);
    r->b.data = data;
    r->b.release = release;
    r->b.user = user;
    *out = &r->b;
    return LZ_OK;
}

/* ---- executables ---- */

typedef struct ref_exec {
    _Atomic uint32_t refs; /* the owner's and one of each pending execution */
    lz_func *f;
    uint32_t partitions; /* that run it together; 0: one device alone */
    lz_exec_info info;
    bool small;
} ref_exec;

static void exec_release(ref_exec *x)
{
    if (!x || atomic_fetch_sub(&x->refs, 1) != 1)
        return;
    lz_func_free(x->f);
    lz_free(x);
}

/* Takes the function over, also on failure. */
static lz_status exec_new(lz_func *f, int64_t began, const lz_compile_options *o, lz_exec **out)
{
    ref_exec *x = lz_calloc(1, sizeof *x);
    if (!x) {
        lz_func_free(f);
        return LZ_FAIL(LZ_EMEM, "REF: no memory for an executable");
    }
    atomic_init(&x->refs, 1);
    x->f = f;
    x->partitions = o ? o->partitions : 0;
    x->info.steps = f->ninst;
    x->info.compile_ms = (double)(lz_now_ns() - began) * 1e-6;
    int64_t elems = 0;
    for (uint32_t i = 0; i < f->ninst; i++) {
        int64_t n = lz_val_type(f, i)->nelem;
        elems = n > SMALL_ELEMS || elems > SMALL_ELEMS ? SMALL_ELEMS + 1 : elems + n;
    }
    x->small = elems <= SMALL_ELEMS && !lz_func_may_take_long(f);
    for (uint32_t i = 0; i < f->nparam; i++)
        x->info.argument_bytes += lz_val_type(f, i)->nbytes;
    for (uint32_t k = 0; k < f->nresult; k++)
        x->info.output_bytes += lz_val_type(f, f->results[k])->nbytes;
    *out = (lz_exec *)x;
    return LZ_OK;
}

static lz_status ref_compile(int device, const lz_func *f, const lz_compile_options *o,
                             lz_exec **out)
{
    *out = NULL;
    int64_t began = lz_now_ns();
    LZ_TRY(check_device(device));
    LZ_TRY(lz_func_verify(f));
    lz_func *copy = lz_func_prune(f);
    if (!copy)
        return lz_error_get()->status;
    return exec_new(copy, began, o, out);
}

static lz_status ref_serialize(lz_exec *x, lz_buf *out)
{
    lz_buf_put(out, magic, sizeof magic);
    lz_func_serialize(((ref_exec *)x)->f, out);
    return out->failed ? LZ_FAIL(LZ_EMEM, "REF: no memory to serialise a program") : LZ_OK;
}

static lz_status ref_deserialize(int device, const void *p, size_t n, const lz_compile_options *o,
                                 lz_exec **out)
{
    *out = NULL;
    int64_t began = lz_now_ns();
    LZ_TRY(check_device(device));
    if (n < sizeof magic || memcmp(p, magic, sizeof magic) != 0)
        return LZ_FAIL(LZ_ECORRUPT, "REF: %zu bytes that are not a program of this device", n);
    lz_func *f;
    LZ_TRY(lz_func_deserialize((const char *)p + sizeof magic, n - sizeof magic, &f));
    return exec_new(f, began, o, out);
}

static void ref_exec_free(lz_exec *x)
{
    exec_release((ref_exec *)x);
}

static void ref_exec_info(const lz_exec *x, lz_exec_info *out)
{
    *out = ((const ref_exec *)x)->info;
}

/* ---- execution ---- */

/* Arrays are those of partition 0, then of partition 1, .. */
typedef struct job {
    ref_exec *x;
    lz_event *done;
    uint32_t n;       /* partitions, 1 of one device alone */
    size_t nin, nout; /* of all */
    lz_device_buffer **in, **out;
    lz_literal **args, **results, ***rows; /* rows: the arguments of each, then the results */
    lz_collective_uses *uses;
} job;

static void job_free(job *j)
{
    for (size_t i = 0; i < j->nin; i++) {
        if (j->in)
            lz_device_buffer_release(j->in[i]);
        if (j->args)
            lz_literal_release(j->args[i]);
    }
    for (size_t k = 0; k < j->nout; k++) {
        if (j->out)
            lz_device_buffer_release(j->out[k]);
        if (j->results)
            lz_literal_release(j->results[k]);
    }
    lz_free(j->in);
    lz_free(j->out);
    lz_free(j->args);
    lz_free(j->results);
    lz_free(j->rows);
    lz_event_release(j->done);
    exec_release(j->x);
    lz_free(j);
}

static const lz_type *type_of_argument(const job *j, size_t i)
{
    return lz_val_type(j->x->f, (lz_val)(i % j->x->f->nparam));
}

static lz_status job_run(job *j)
{
    const lz_func *f = j->x->f;
    for (size_t i = 0; i < j->nin; i++) {
        LZ_TRY(lz_event_wait(j->in[i]->ready));
        j->args[i] = lz_literal_copy_from(type_of_argument(j, i), j->in[i]->data);
        if (!j->args[i])
            return LZ_EMEM;
    }
    if (j->x->partitions)
        LZ_TRY(lz_ref_count_partitions(f, j->n, (lz_literal *const *const *)j->rows, j->rows + j->n,
                                       j->uses));
    else
        LZ_TRY(lz_ref_run(f, j->args, j->results));
    for (size_t k = 0; k < j->nout; k++)
        memcpy(j->out[k]->data, j->results[k]->data, j->results[k]->nbytes);
    return LZ_OK;
}

static void job_main(void *arg)
{
    job *j = arg;
    int64_t t0 = lz_timeline_begin();
    bool failed = job_run(j) != LZ_OK;
    lz_timeline_end(t0, .name = "run program", .category = "execute", .key = {"instructions"},
                    .value = {j->x->f->ninst});
    lz_event_complete(j->done, failed ? lz_error_get() : NULL);
    job_free(j);
}

static lz_status too_small(const job *j, uint32_t q, uint32_t i, const lz_device_buffer *b)
{
    char of[32] = "";
    if (j->x->partitions)
        snprintf(of, sizeof of, " of partition %u", q);
    return LZ_FAIL(LZ_EINVAL, "REF: argument %u%s of '%s' has %zu bytes, %zu are needed", i, of,
                   j->x->f->name, b ? b->nbytes : 0, lz_val_type(j->x->f, i)->nbytes);
}

/* Allocates everything: from the queue on only the evaluation itself can fail. */
static lz_status job_fill(job *j, lz_device_buffer *const *const *in)
{
    const lz_func *f = j->x->f;
    j->done = lz_event_new();
    j->in = lz_calloc(j->nin, sizeof *j->in);
    j->args = lz_calloc(j->nin, sizeof *j->args);
    j->out = lz_calloc(j->nout, sizeof *j->out);
    j->results = lz_calloc(j->nout, sizeof *j->results);
    j->rows = lz_calloc(2 * (size_t)j->n, sizeof *j->rows);
    if (!j->done || !j->in || !j->args || !j->out || !j->results || !j->rows)
        return LZ_FAIL(LZ_EMEM, "REF: no memory to execute '%s'", f->name);
    for (uint32_t q = 0; q < j->n; q++) {
        j->rows[q] = j->args + (size_t)q * f->nparam;
        j->rows[j->n + q] = j->results + (size_t)q * f->nresult;
        for (uint32_t i = 0; i < f->nparam; i++) {
            lz_device_buffer *b = in[q][i];
            if (!b || b->nbytes < lz_val_type(f, i)->nbytes)
                return too_small(j, q, i, b);
            lz_device_buffer_retain(b);
            j->in[(size_t)q * f->nparam + i] = b;
        }
    }
    for (size_t k = 0; k < j->nout; k++) {
        LZ_TRY(ref_alloc(0, lz_val_type(f, f->results[k % f->nresult])->nbytes, &j->out[k]));
        lz_event_retain(j->done);
        j->out[k]->ready = j->done;
    }
    return LZ_OK;
}

static lz_status job_new(ref_exec *x, lz_device_buffer *const *const *in, lz_collective_uses *uses,
                         job **out)
{
    job *j = lz_calloc(1, sizeof *j);
    if (!j)
        return LZ_FAIL(LZ_EMEM, "REF: no memory to execute '%s'", x->f->name);
    j->x = x;
    j->n = x->partitions ? x->partitions : 1;
    j->nin = (size_t)j->n * x->f->nparam;
    j->nout = (size_t)j->n * x->f->nresult;
    j->uses = uses;
    atomic_fetch_add(&x->refs, 1);
    lz_status s = job_fill(j, in);
    if (s != LZ_OK)
        job_free(j);
    else
        *out = j;
    return s;
}

static lz_status execute(ref_exec *x, lz_device_buffer *const *const *in, lz_device_buffer ***out,
                         lz_collective_uses *uses, lz_event **done)
{
    uint32_t n = x->partitions ? x->partitions : 1, nresult = x->f->nresult;
    job *j = NULL;
    *done = NULL;
    for (uint32_t q = 0; q < n && nresult; q++) /* one that only prints has none, and no list */
        memset(out[q], 0, nresult * sizeof **out);
    LZ_TRY(job_new(x, in, uses, &j));
    /* the caller's references, taken before the job can end */
    for (uint32_t q = 0; q < n; q++)
        for (uint32_t k = 0; k < nresult; k++) {
            out[q][k] = j->out[(size_t)q * nresult + k];
            lz_device_buffer_retain(out[q][k]);
        }
    lz_event_retain(j->done);
    *done = j->done;
    lz_status s = lz_queue_push(queue, job_main, j, x->small);
    if (s == LZ_OK)
        return LZ_OK;
    for (uint32_t q = 0; q < n; q++)
        for (uint32_t k = 0; k < nresult; k++) {
            lz_device_buffer_release(out[q][k]);
            out[q][k] = NULL;
        }
    lz_event_release(*done);
    *done = NULL;
    job_free(j);
    return s;
}

static lz_status ref_execute(lz_exec *exec, int device, lz_device_buffer *const *in,
                             const bool *donated, bool awaited, lz_device_buffer **out,
                             lz_event **done)
{
    (void)donated, (void)awaited;
    ref_exec *x = (ref_exec *)exec;
    *done = NULL;
    LZ_TRY(check_device(device));
    if (x->partitions)
        return LZ_FAIL(LZ_EINVAL, "REF: a program of %u partitions is run by all of them",
                       x->partitions);
    return execute(x, &in, &out, NULL, done);
}

static lz_status ref_execute_partitions(lz_exec *exec, int64_t n, const uint32_t *home,
                                        lz_device_buffer *const *const *in, const bool *donated,
                                        bool awaited, lz_device_buffer ***out,
                                        lz_collective_uses *uses, lz_event **done)
{
    (void)home, (void)donated, (void)awaited;
    ref_exec *x = (ref_exec *)exec;
    *done = NULL;
    if (n < 1 || n != x->partitions)
        return LZ_FAIL(LZ_EINVAL, "REF: a program of %u partitions is run by %" PRId64,
                       x->partitions, n);
    return execute(x, in, out, uses, done);
}

static lz_status ref_wait_all(int device)
{
    LZ_TRY(check_device(device));
    LZ_TRY(lz_fork_check());
    lz_queue_drain(queue);
    return LZ_OK;
}

extern const lz_backend lz_backend_ref;
const lz_backend lz_backend_ref = {
    .name = "REF",
    .host_memory = true,
    .dlpack_type = 1, /* kDLCPU */
    .init = ref_init,
    .device_count = ref_device_count,
    .device_info = ref_device_info,
    .key = ref_key,
    .alloc = ref_alloc,
    .free = ref_free,
    .wrap = ref_wrap,
    .copy_in = lz_device_buffer_host_in,
    .copy_out = lz_device_buffer_host_out,
    .compile = ref_compile,
    .serialize = ref_serialize,
    .deserialize = ref_deserialize,
    .exec_free = ref_exec_free,
    .exec_info = ref_exec_info,
    .execute = ref_execute,
    .execute_partitions = ref_execute_partitions,
    .wait_all = ref_wait_all,
};
