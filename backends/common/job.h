/* job.h - executables made of plans, and their executions, for backends that compile plans. An
 * executable (lz_exec) owns a plan and its lz_plan_exec, the launch list with loaded kernels
 * (lower/plan/plan_exec.h). An execution is a job on the device's queue. A job holds references to
 * every buffer it touches, so callers may release theirs at once; after the run it drops them, then
 * completes its event, with the error if there was one. An executable keeps one job for its next
 * execution. An execution of a program of several partitions is one job, too, which goes through it
 * for all of them in lock step; or each partition is a job of its own device, and they meet (meet,
 * miss). A backend states in lz_exec_ops what its devices do differently,
 * and appends its own fields to those of an executable and of a job. Threads: an executable is
 * immutable once made and thread-safe; a device runs one job at a time, in the order they were
 * enqueued. */
#ifndef LZ_BACKENDS_COMMON_JOB_H
#define LZ_BACKENDS_COMMON_JOB_H
#include "backends/backend.h"
#include "backends/common/collective_stream.h"
#include "backends/common/kernel_store.h"
#include "base/thread.h"
#include "lower/plan/plan_exec.h"

/* What executions need to know of a device. */
typedef struct lz_exec_device {
    uint32_t backend; /* index */
    int index;
    lz_queue *queue;
    lz_collective_stream *stream; /* of its queue; NULL: no job has started a collective on it */
} lz_exec_device;

typedef struct lz_exec_ops lz_exec_ops;
typedef struct lz_job lz_job;

struct lz_exec {
    const lz_exec_ops *ops;
    _Atomic uint32_t refs;
    lz_plan *plan; /* owned */
    lz_plan_exec plan_exec;
    lz_kernel_load *loads; /* per plan_exec.kernels; NULL: their code is not loaded */
    /* A job may run in the calling thread; only when that thread waits for it. The latter may be
     * found out by running it. */
    bool small;
    _Atomic bool brief;
    lz_hash program; /* lz_compile_options.program; 0: NULL */
    char label[48];  /* name of its dumps, for timelines; "" without */
    lz_exec_info info;
    lz_kernel_outcome *outcome; /* info.outcome */
    lz_buf memory;              /* info.memory */
    _Atomic(lz_job *) spare;
};

struct lz_job {
    lz_exec *x;
    lz_exec_device *d;
    lz_event *done;
    uint32_t n,
        nin;     /* partitions, 1 of one device alone; arguments that the caller gives to each */
    bool single; /* one partition of several, which meets the others (lz_exec_ops.meet) */
    uint32_t reached;             /* of such a one: lz_plan_exec_run_one */
    void **state;                 /* of x->plan_exec */
    lz_device_buffer **in, **out; /* of partition 0, then of partition 1, .. */
    lz_event **former;            /* per result: of what its buffer had before, if it was donated */
    uint32_t nwait;
    lz_event **wait;  /* events of the arguments' contents */
    void **temp;      /* room for the addresses of the temporaries of each partition */
    bool *copy;       /* per result: starts as a copy of the argument it could not take over */
    uint32_t *number; /* 0, 1, ..: what the plan's last argument is, if it is numbered */
    lz_collective_uses *uses; /* counts collectives; may be NULL */
    const lz_plan_exec_kept
        *cached; /* cached invariant results; set by lz_exec_ops.run before lz_job_run */
    /* For timelines: when the job was enqueued, and the id of the arrow from there; 0: no trace was
     *   running. */
    int64_t enqueued;
    uint64_t flow;
};

struct lz_exec_ops {
    size_t exec_bytes,
        job_bytes; /* sizes of the backend's own structs, which begin with lz_exec and lz_job */
    /* Loads what it needs (lz_exec_load), makes x->plan_exec (lz_plan_exec_make) and sets `small`.
     */
    lz_status (*make)(lz_exec *x, void *maker, lz_cache *cache);
    void (*unmake)(lz_exec *x); /* after any make; NULL: nothing to do */
    size_t (*code_bytes)(const lz_kcode *c);
    /* A result of partition q, or of one at home on device q: there, if there is such a device,
     * otherwise on d. */
    lz_status (*alloc)(lz_exec_device *d, uint32_t q, size_t nbytes, lz_device_buffer **out);
    /* Where a kernel of partition q reads its number, of a program that asks. NULL: in the job. */
    void *(*number)(lz_exec_device *d, uint32_t q);
    /* Partition q takes arguments from device q only; false: from any. */
    bool own_memory;
    /* The number of a device among those of all processes; NULL: its index. */
    uint32_t (*ordinal)(const lz_exec_device *d);
    /* On the queue, of a job (lz_job) that runs one partition of several: its part of a collective;
     * and a job has failed on the device, and did not come to the collectives of launches from
     * `reached` on. NULL: partitions run together only. */
    lz_status (*meet)(void *job, const lz_step_collective *c, const lz_site *site,
                      void *const *bufs);
    void (*miss)(lz_exec *x, lz_exec_device *d, uint32_t reached, const lz_error *err);
    /* On the queue: runs the job, and makes sure that lz_job_end is called, here or when the device
     *   is done. */
    void (*run)(lz_job *j);
    /* The device computes in the order of its queue: a job need not wait for the jobs that produce
     * its arguments. */
    bool in_order;
    /* Of such a device: whether the work of `e` belongs to another device and has not even started,
     * so that the launch would have to wait. NULL: never. */
    bool (*elsewhere)(const lz_event *e);
    /* Each may be NULL. job_start: before a job is enqueued. job_over: after it has run or was
     * refused. job_free: when it is freed. */
    lz_status (*job_start)(lz_job *j);
    void (*job_over)(lz_job *j);
    void (*job_free)(lz_job *j);
};

/* Takes over the plan, also on failure. */
lz_status lz_exec_new(const lz_exec_ops *ops, lz_plan *p, void *maker, lz_cache *cache,
                      lz_exec **out);
void lz_exec_set_label(lz_exec *x, const lz_compile_options *o); /* o may be NULL */
/* Fills in x->loads. `user` is what the store's ops get. late: kernels to leave out, whose code
 * stays NULL; NULL: none. */
lz_status lz_exec_load(lz_exec *x, lz_kstore *store, void *user, lz_cache *cache, const bool *late);
/* lz_backend.exec_free and .exec_info */
void lz_exec_free(lz_exec *x);
void lz_exec_get_info(const lz_exec *x, lz_exec_info *out);
/* lz_backend.execute. Of a program of several partitions it runs the one of the device's number,
 * and counts its collectives where `uses` is not NULL (lz_backend.execute_counting). */
lz_status lz_exec_run(lz_exec *x, lz_exec_device *d, lz_device_buffer *const *in,
                      const bool *donated, bool awaited, lz_device_buffer **out,
                      lz_collective_uses *uses, lz_event **done);
/* lz_backend.miss, of a program of several partitions. */
void lz_exec_miss(lz_exec *x, lz_exec_device *d);
/* lz_backend.execute_partitions. d: device 0. */
lz_status lz_exec_run_partitions(lz_exec *x, lz_exec_device *d, int64_t n, const uint32_t *home,
                                 lz_device_buffer *const *const *in, const bool *donated,
                                 bool awaited, lz_device_buffer ***out, lz_collective_uses *uses,
                                 lz_event **done);

/* ---- for lz_exec_ops.run, on the queue ---- */
/* Waits until the arguments are there, or, on a device in order, will be when it gets to the
 * job. */
lz_status lz_job_wait(lz_job *j);
/* Copies the arguments that were not donated and runs the launch list. temps: of each partition the
 * plan's temp_bytes bytes, aligned to 64; `run` is passed to the ops of x->plan_exec. */
lz_status lz_job_run(lz_job *j, void *const *temps, void *run);
/* A span of the timeline from t0 (lz_timeline_begin): the job's label, and how long it waited in
 * the queue. arrow: draws the arrow from where it was enqueued. */
void lz_job_span(const lz_job *j, int64_t t0, bool arrow);
/* Completes and frees the job. s: its status; the thread's error record is its error. */
void lz_job_end(lz_job *j, lz_status s);
#endif
