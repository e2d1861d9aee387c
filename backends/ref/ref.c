/* ref.c - the REF device: the reference evaluator behind the device interface.
 * An executable is the function itself; executing it is lz_ref_run on copies of the inputs, on the
 * device's queue. One device, memory is the host's, nothing is donated in place. Slow, simple, and
 * what every other device is compared with.
 * Threads: every call may come from any thread (see backend.h). */
#include "backends/backend.h"
#include "base/alloc.h"
#include "base/timeline.h"
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
    uint32_t partitions;
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
static lz_status exec_new(lz_func *f, int64_t began, lz_exec **out)
{
    ref_exec *x = lz_calloc(1, sizeof *x);
    if (!x) {
        lz_func_free(f);
        return LZ_FAIL(LZ_EMEM, "REF: no memory for an executable");
    }
    atomic_init(&x->refs, 1);
    x->f = f;
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
    LZ_TRY(exec_new(copy, began, out));
    ((ref_exec *)*out)->partitions = o ? o->partitions : 0;
    return LZ_OK;
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
    LZ_TRY(exec_new(f, began, out));
    ((ref_exec *)*out)->partitions = o ? o->partitions : 0;
    return LZ_OK;
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

typedef struct job {
    ref_exec *x;
    lz_event *done;
    lz_device_buffer **in, **out;
    lz_literal **args, **results;
} job;

static void job_free(job *j)
{
    const lz_func *f = j->x->f;
    for (uint32_t i = 0; i < f->nparam; i++) {
        if (j->in)
            lz_device_buffer_release(j->in[i]);
        if (j->args)
            lz_literal_release(j->args[i]);
    }
    for (uint32_t k = 0; k < f->nresult; k++) {
        if (j->out)
            lz_device_buffer_release(j->out[k]);
        if (j->results)
            lz_literal_release(j->results[k]);
    }
    lz_free(j->in);
    lz_free(j->out);
    lz_free(j->args);
    lz_free(j->results);
    lz_event_release(j->done);
    exec_release(j->x);
    lz_free(j);
}

static lz_status job_run(job *j)
{
    const lz_func *f = j->x->f;
    for (uint32_t i = 0; i < f->nparam; i++) {
        LZ_TRY(lz_event_wait(j->in[i]->ready));
        j->args[i] = lz_literal_copy_from(lz_val_type(f, i), j->in[i]->data);
        if (!j->args[i])
            return LZ_EMEM;
    }
    LZ_TRY(lz_ref_run(f, j->args, j->results));
    for (uint32_t k = 0; k < f->nresult; k++)
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

/* Allocates everything: from the queue on only the evaluation itself can fail. */
static lz_status job_fill(job *j, lz_device_buffer *const *in)
{
    const lz_func *f = j->x->f;
    j->done = lz_event_new();
    j->in = lz_calloc(f->nparam, sizeof *j->in);
    j->args = lz_calloc(f->nparam, sizeof *j->args);
    j->out = lz_calloc(f->nresult, sizeof *j->out);
    j->results = lz_calloc(f->nresult, sizeof *j->results);
    if (!j->done || !j->in || !j->args || !j->out || !j->results)
        return LZ_FAIL(LZ_EMEM, "REF: no memory to execute '%s'", f->name);
    for (uint32_t i = 0; i < f->nparam; i++) {
        size_t want = lz_val_type(f, i)->nbytes;
        if (!in[i] || in[i]->nbytes < want)
            return LZ_FAIL(LZ_EINVAL, "REF: argument %u of '%s' has %zu bytes, %zu are needed", i,
                           f->name, in[i] ? in[i]->nbytes : 0, want);
        lz_device_buffer_retain(in[i]);
        j->in[i] = in[i];
    }
    for (uint32_t k = 0; k < f->nresult; k++) {
        LZ_TRY(ref_alloc(0, lz_val_type(f, f->results[k])->nbytes, &j->out[k]));
        lz_event_retain(j->done);
        j->out[k]->ready = j->done;
    }
    return LZ_OK;
}

static lz_status ref_execute(lz_exec *exec, int device, lz_device_buffer *const *in,
                             const bool *donated, bool awaited, lz_device_buffer **out,
                             lz_event **done)
{
    (void)donated, (void)awaited;
    ref_exec *x = (ref_exec *)exec;
    uint32_t nresult = x->f->nresult;
    *done = NULL;
    for (uint32_t k = 0; k < nresult; k++)
        out[k] = NULL;
    LZ_TRY(check_device(device));
    job *j = lz_calloc(1, sizeof *j);
    if (!j)
        return LZ_FAIL(LZ_EMEM, "REF: no memory to execute '%s'", x->f->name);
    j->x = x;
    atomic_fetch_add(&x->refs, 1);
    lz_status s = job_fill(j, in);
    if (s != LZ_OK) {
        job_free(j);
        return s;
    }
    /* the caller's references, taken before the job can end */
    for (uint32_t k = 0; k < nresult; k++) {
        lz_device_buffer_retain(j->out[k]);
        out[k] = j->out[k];
    }
    lz_event_retain(j->done);
    *done = j->done;
    s = lz_queue_push(queue, job_main, j, x->small);
    if (s == LZ_OK)
        return LZ_OK;
    for (uint32_t k = 0; k < nresult; k++) {
        lz_device_buffer_release(out[k]);
        out[k] = NULL;
    }
    lz_event_release(*done);
    *done = NULL;
    job_free(j);
    return s;
}

/* ---- several partitions: here and now, in the calling thread ---- */

typedef struct team {
    uint32_t n, nin, nout;
    lz_literal **args, **results, ***rows; /* rows: of args, then of results */
} team;

static void team_free(team *t)
{
    for (size_t i = 0; t->args && i < (size_t)t->n * t->nin; i++)
        lz_literal_release(t->args[i]);
    for (size_t i = 0; t->results && i < (size_t)t->n * t->nout; i++)
        lz_literal_release(t->results[i]);
    lz_free(t->args);
    lz_free(t->results);
    lz_free(t->rows);
}

static lz_status team_new(team *t, const lz_func *f, lz_device_buffer *const *const *in)
{
    size_t nin = (size_t)t->n * t->nin, nout = (size_t)t->n * t->nout;
    t->args = lz_calloc(nin + 1, sizeof *t->args);
    t->results = lz_calloc(nout + 1, sizeof *t->results);
    t->rows = lz_calloc(2 * (size_t)t->n, sizeof *t->rows);
    if (!t->args || !t->results || !t->rows)
        return LZ_FAIL(LZ_EMEM, "REF: no memory to execute '%s'", f->name);
    for (uint32_t q = 0; q < t->n; q++) {
        t->rows[q] = t->args + (size_t)q * t->nin;
        t->rows[t->n + q] = t->results + (size_t)q * t->nout;
    }
    for (size_t i = 0; i < nin; i++) {
        const lz_type *type = lz_val_type(f, (lz_val)(i % t->nin));
        lz_device_buffer *b = in[i / t->nin][i % t->nin];
        if (!b || b->nbytes < type->nbytes)
            return LZ_FAIL(LZ_EINVAL, "REF: argument %u of partition %u of '%s' is too small",
                           (unsigned)(i % t->nin), (unsigned)(i / t->nin), f->name);
        LZ_TRY(lz_event_wait(b->ready));
        t->args[i] = lz_literal_copy_from(type, b->data);
        if (!t->args[i])
            return LZ_EMEM;
    }
    return LZ_OK;
}

static lz_status team_results(const team *t, lz_device_buffer ***out)
{
    for (size_t i = 0; i < (size_t)t->n * t->nout; i++) {
        lz_device_buffer **at = &out[i / t->nout][i % t->nout];
        LZ_TRY(ref_alloc(0, t->results[i]->nbytes, at));
        memcpy((*at)->data, t->results[i]->data, t->results[i]->nbytes);
    }
    return LZ_OK;
}

static lz_status ref_execute_partitions(lz_exec *exec, int64_t n,
                                        lz_device_buffer *const *const *in, const bool *donated,
                                        bool awaited, lz_device_buffer ***out,
                                        lz_collective_uses *uses, lz_event **done)
{
    (void)donated, (void)awaited;
    const ref_exec *x = (const ref_exec *)exec;
    *done = NULL;
    if (n < 1 || n != x->partitions)
        return LZ_FAIL(LZ_EINVAL, "REF: a program of %u partitions is run by %" PRId64,
                       x->partitions, n);
    team t = {.n = (uint32_t)n, .nin = x->f->nparam, .nout = x->f->nresult};
    for (uint32_t q = 0; q < t.n; q++)
        memset(out[q], 0, t.nout * sizeof **out);
    lz_status s = team_new(&t, x->f, in);
    if (s == LZ_OK)
        s = lz_ref_count_partitions(x->f, n, (lz_literal *const *const *)t.rows, t.rows + n, uses);
    if (s == LZ_OK)
        s = team_results(&t, out);
    for (uint32_t q = 0; s != LZ_OK && q < t.n; q++)
        for (uint32_t k = 0; k < t.nout; k++) {
            lz_device_buffer_release(out[q][k]);
            out[q][k] = NULL;
        }
    team_free(&t);
    return s;
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
