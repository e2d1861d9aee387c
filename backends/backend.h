/* backend.h - the device interface, shaped like PJRT: backend (client), device, buffer, executable,
 * event.
 * A backend is one folder and one row of backends.def, or a plugin. Everything that differs between
 * devices is asked through this table; no other code compares names. Every call may come from any
 * thread. Work on one device runs in the order it was enqueued. Errors of asynchronous work travel
 * by value in events. */
#ifndef LZ_BACKENDS_BACKEND_H
#define LZ_BACKENDS_BACKEND_H
#include "base/mutex.h"
#include "cache/cache.h"
#include "ir/participants.h"

/* ---- events: complete once, with a status and the error by value. Refcounted.
 * backends/common/event.c ---- */
typedef struct lz_event lz_event;
lz_event *lz_event_new(void); /* NULL with LZ_EMEM */
void lz_event_retain(lz_event *e);
void lz_event_release(lz_event *e);                       /* NULL is fine */
void lz_event_complete(lz_event *e, const lz_error *err); /* NULL: success */
bool lz_event_done(const lz_event *e);
int64_t lz_event_completed_ns(const lz_event *e); /* when it was (lz_now_ns); it is complete */
/* While somebody asks for times (lz_event_times): when its work began to run; 0: not known. Valid
 * when it is complete. */
extern _Atomic bool lz_event_times;
void lz_event_begins(lz_event *e);
int64_t lz_event_began_ns(const lz_event *e);
/* Has fn(user, error) called once when it is complete (error: LZ_OK for success), by the thread
 * that completes it as soon as that holds no lock, by this one if it is complete: a function of the
 * program's, or of ours that does little. LZ_EMEM: it will not be. */
lz_status lz_event_then(lz_event *e, void (*fn)(void *user, const lz_error *err), void *user);
/* spins briefly, then sleeps; puts the error into this thread's record. NULL: LZ_OK */
lz_status lz_event_wait(lz_event *e);
/* The same, but the error is given, not recorded: the event's own, or NULL. No habit. */
const lz_error *lz_event_failure(lz_event *e);
/* A habit of the calling thread. lz_event_started: it has started the work of `e` and returns to
 * the program; lz_event_ran_here: only now, since it has run it itself. lz_event_awaited_lately: it
 * has lately waited at once for the work it started, so it may as well run the next work itself. */
void lz_event_started(const lz_event *e);
void lz_event_ran_here(void);
bool lz_event_awaited_lately(void);

/* ---- ordered execution queue of one device: one thread, started at first use, spins briefly
 * before it sleeps. backends/common/queue.c ---- */
typedef struct lz_queue lz_queue;
lz_queue *lz_queue_new(const char *name);
void lz_queue_free(lz_queue *q); /* drains */
/* Runs fn(arg) on the queue after everything before it. When the queue is idle and `inline_ok`,
 * runs it right here. */
lz_status lz_queue_push(lz_queue *q, void (*fn)(void *arg), void *arg, bool inline_ok);
/* The same, but when the queue is idle this thread runs it as soon as it holds no lock, or waits
 * for an event or a queue, unless the queue's thread has come before it: an item that may take
 * long, for which others must not wait that only need the lock. */
lz_status lz_queue_push_unlocked(lz_queue *q, void (*fn)(void *arg), void *arg);
/* Runs now what the thread would run later; a wait begins with it. */
void lz_queue_run_own(void);
void lz_queue_drain(lz_queue *q);
/* Whether the calling thread is inside an item of some queue, on which others may be waiting. */
bool lz_queue_is_running(void);

/* ---- buffers: refcounted device memory of one device ---- */
typedef struct lz_device_buffer {
    uint32_t refs; /* atomic */
    uint32_t backend, device;
    size_t nbytes;   /* as requested; capacity is what was allocated */
    size_t capacity; /* 0: borrowed memory (wrap) */
    /* host-addressable: the bytes (64-byte aligned). Otherwise the device's own handle */
    void *data;
    lz_event *ready; /* completes when the content is there; NULL: it is. Owned */
    /* borrowed host memory: called when the last reference goes, once the thread holds no lock */
    void (*release)(void *user);
    void *user;
    lz_unlocked_call call; /* of release */
    uint64_t content;      /* atomic: lz_device_buffer_content */
} lz_device_buffer;
/* for backends: one reference, the rest zero. NULL with LZ_EMEM */
lz_device_buffer *lz_device_buffer_new(void);
/* for backends: frees what lz_device_buffer_new gave, but not the memory it describes */
void lz_device_buffer_recycle(lz_device_buffer *b);
void lz_device_buffer_retain(lz_device_buffer *b);
/* NULL is fine; gives the memory back to its backend */
void lz_device_buffer_release(lz_device_buffer *b);
/* The content number of the buffer: it stays the same as long as the bytes do, and no other content
 * has it. 0: somebody else may write to the buffer. The caller may read the buffer now. */
uint64_t lz_device_buffer_content(lz_device_buffer *b);
/* lz_device_buffer_changed: the bytes have changed. lz_device_buffer_lent: the memory is shared
 * with others from now on, so its content has no number. */
void lz_device_buffer_changed(lz_device_buffer *b);
void lz_device_buffer_lent(lz_device_buffer *b);
/* copy_in and copy_out of backends with host memory. Both wait until the buffer's pending content
 * is there. */
lz_status lz_device_buffer_host_in(lz_device_buffer *dst, const void *src, size_t nbytes);
lz_status lz_device_buffer_host_out(lz_device_buffer *src, void *dst, size_t nbytes);

/* an executable, backend's own; refcounted by the backend layer */
typedef struct lz_exec lz_exec;

enum { LZ_REPLICAS_MAX = 1024 }; /* devices of all processes that meet */

typedef struct lz_compile_options {
    const bool *donate;    /* per parameter: the caller will donate the buffer */
    lz_cache *cache;       /* kernel entries; may be NULL */
    const char *dump_name; /* stem of dump files; may be NULL */
    /* What a stored program must be the program of: LZ_ECORRUPT for another; NULL: not asked */
    const lz_func *func;
    /* How many partitions run the function together, or each on its device (lz_backend.execute),
     * and meet in its collectives; 0: one device alone. */
    uint32_t partitions;
    bool replicas; /* they are replicas of one partition: what its numbers of replicas name */
    /* All who meet run the function of this hash, and are told where one does not; NULL: each may
     * run its own, whose collectives fit. */
    const lz_hash *program;
    /* Look kernels of branches up in the cache as well, which else the first to take a branch does
     * (lazuli cache export). */
    bool look_up_branches;
    /* Of a device that is made of others: look for the shardings of what has no mark, on this mesh
     * where no mark says another; NULL: what marks reach is enough. */
    const struct lz_mesh *search;
} lz_compile_options;

/* Where the code of a kernel came from when an executable was made. */
typedef struct lz_kernel_outcome {
    const char *name; /* lives as long as the executable */
    lz_hash hash;
    const char *from;   /* "memory", "disk", "llvm"; "later": when a branch is first taken */
    double ms, link_ms; /* reading or compiling; of it linking and loading */
} lz_kernel_outcome;

typedef struct lz_exec_info { /* for analyses and tests of counters */
    uint64_t argument_bytes, output_bytes, alias_bytes, temp_bytes, code_bytes;
    /* of the compilation or load that made the executable */
    uint32_t kernels, steps, llvm_compiles, kernel_hits;
    /* of LAZULI_TUNE: launches that do not use the cost model's choice; measurements; choices read
     * from disk */
    uint32_t tuned, tune_runs, tune_hits;
    double flops, bytes; /* of a run, as it was estimated (lz_plan_cost_of); 0: nothing is known */
    double compile_ms;
    /* Of compile_ms: making (passes, fusion, loops) or reading the plan, and the kernels. */
    double lower_ms, kernels_ms;
    /* Of each kernel, where times were asked for (lz_event_times); NULL: not. As long as the
     * executable. */
    const lz_kernel_outcome *outcome;
    /* Of a partitioned program, where PT_XLA_DEBUG was set when it was compiled: lines about its
     * collectives. NULL: there are none. Lives as long as the executable */
    const char *collectives;
    const char *memory; /* the same about the peak of its memory (lower/plan/plan_memory.h) */
    /* Of a partitioned program: lines of what each device sends in a run, by kind. NULL: nothing */
    const char *collective_totals;
    /* for how long it was partitioned */
    double partition_ms;
} lz_exec_info;

/* Kernels that executions have loaded, because they first took a branch. */
typedef struct lz_branch_kernels {
    uint64_t compiled, found; /* found: in memory or on disk */
    int64_t compile_ns;
} lz_branch_kernels;

typedef struct lz_device_info {
    char kind[64];     /* "cpu: AMD EPYC ..., avx512" */
    char details[256]; /* for people: "132 multiprocessors at 1.98 GHz, ..."; may be empty */
    uint64_t memory_limit, memory_used, memory_peak; /* bytes; limit 0: none */
    int threads;
} lz_device_info;

typedef struct lz_backend {
    const char *name; /* "CPU" */
    bool host_memory; /* buffers' data is host-addressable */
    int dlpack_type;  /* DLPack's code of the memory its buffers are in; 0: DLPack has none */
    /* Starts the backend: idempotent, thread-safe. LZ_EUNAVAILABLE with a reason when it cannot. */
    lz_status (*init)(void);
    int (*device_count)(void);
    lz_status (*device_info)(int device, lz_device_info *out);
    /* Bytes that distinguish code for this device: part of every program key (platform, compiler
     * version, ISA class). */
    void (*key)(int device, lz_buf *out);
    /* pooled, 64-byte aligned, content undefined */
    lz_status (*alloc)(int device, size_t nbytes, lz_device_buffer **out);
    /* the same, zero-filled. NULL: the caller copies zeros in instead */
    lz_status (*zeros)(int device, size_t nbytes, lz_device_buffer **out);
    /* From lz_device_buffer_release, which has released `ready` and, for borrowed memory, called
     * `release` and cleared it and `data`: gives pooled memory back and frees the struct. */
    void (*free)(lz_device_buffer *b);
    /* wraps borrowed memory of the kind its buffers are in; NULL: unsupported */
    lz_status (*wrap)(int device, void *data, size_t nbytes, void (*release)(void *), void *user,
                      lz_device_buffer **out);
    /* src may be reused on return */
    lz_status (*copy_in)(lz_device_buffer *dst, const void *src, size_t nbytes);
    /* waits for src's content */
    lz_status (*copy_out)(lz_device_buffer *src, void *dst, size_t nbytes);
    /* Copies the first bytes of src, a buffer of any device of the backend, to dst, of another,
     * without the host (peer-to-peer). It is enqueued after the work that produces src's content
     * and before whatever is executed on dst's device from now on; nobody waits. dst is new and its
     * `ready` is NULL so far; it completes when the bytes are there. src may be released or donated
     * on return. Errors of the copy, and src's own, reach dst->ready. LZ_EUNSUPPORTED, with no
     * effect: these devices cannot; copy_out and copy_in can. NULL: no device can. */
    lz_status (*copy_across)(lz_device_buffer *dst, lz_device_buffer *src, size_t nbytes);
    lz_status (*compile)(int device, const lz_func *f, const lz_compile_options *o, lz_exec **out);
    lz_status (*serialize)(lz_exec *x, lz_buf *out);
    /* untrusted */
    lz_status (*deserialize)(int device, const void *p, size_t n, const lz_compile_options *o,
                             lz_exec **out);
    void (*exec_free)(lz_exec *x);
    void (*exec_info)(const lz_exec *x, lz_exec_info *out);
    /* Enqueues one execution. in: retained by the callee until done. donated[i]: the caller holds
     * the only reference and gives it up (still releases its own). out[k]: new references whose
     * ready event is *done; a result that takes over input i is the same lz_device_buffer. *done:
     * new reference. Small programs may run before the call returns, larger ones too when the
     * caller will wait for them at once (`awaited`). Errors while executing reach *done and the
     * outputs' events. Of a program of several partitions (lz_backend.meets) it is the one with the
     * device's number, which meets those of the others' executions: asleep, on the queue. */
    lz_status (*execute)(lz_exec *x, int device, lz_device_buffer *const *in, const bool *donated,
                         bool awaited, lz_device_buffer **out, lz_event **done);
    /* The same of a program of several partitions, and counts in `uses`, before *done, the
     * collectives that this one comes to; NULL: not wanted. NULL: none meet. */
    lz_status (*execute_counting)(lz_exec *x, int device, lz_device_buffer *const *in, bool awaited,
                                  lz_device_buffer **out, lz_collective_uses *uses,
                                  lz_event **done);
    /* A device will not execute its partition, for the thread's error: whom it would have met fails
     * with that. NULL: none meet. */
    void (*miss)(lz_exec *x, int device);
    /* The same of the n partitions of a program compiled for so many (o->partitions), in lock step,
     * on the queue of device 0: in[p] and out[p] are partition p's, `donated` is for all, and one
     * event is for the results of all. Arguments may be of any device of the backend if it has host
     * memory, else those of partition p are of device p; results of partition p are made on device
     * home[p] (NULL: p), on device 0 if there are fewer (compile: LZ_ERANGE where that cannot be).
     * uses: counts the collectives that ran, before *done (which is NULL where all is done on
     * return); NULL: not wanted. Errors: LZ_EINVAL naming the operation where partitions do not
     * agree; LZ_EUNSUPPORTED (another home than p on devices with memory of their own). NULL: the
     * backend runs no collectives. */
    lz_status (*execute_partitions)(lz_exec *x, int64_t n, const uint32_t *home,
                                    lz_device_buffer *const *const *in, const bool *donated,
                                    bool awaited, lz_device_buffer ***out, lz_collective_uses *uses,
                                    lz_event **done);
    /* Whether executions of several devices meet in collectives. leave: the last thread that had
     * chosen the device has ended (or, left false, one has chosen it): who waits for what the
     * device would run next will not wait for ever. */
    bool meets;
    /* How many devices there are in all processes of the job, and the number of this process's
     * first among them: replicas are numbered so. Joins the other processes at the first call, and
     * may wait for them. NULL: those of device_count. Errors: LZ_ETIMEOUT names who is missing,
     * LZ_EINVAL, LZ_EUNAVAILABLE. */
    lz_status (*world)(int *n, int *first);
    void (*leave)(int device, bool left);
    /* Whether this machine runs code that needs the ISA features `isa` of a cache entry. NULL: the
     * backend stores no code. */
    bool (*can_run)(const char *isa);
    /* waits until everything enqueued has finished */
    lz_status (*wait_all)(int device);
    /* How many devices one of its devices is made of. NULL: it is one. local_devices: those of
     * this process, *n from number *first on. */
    int64_t (*partitions)(void);
    void (*local_devices)(int64_t *first, int64_t *n);
    /* Where the parts of a buffer are, the canonical text of a sharding (ir/sharding/sharding.h);
     * NULL: nowhere yet, so that a program may choose. input_placement: where a program wants its
     * argument i. Both are interned. NULL: the backend's buffers are of one device. */
    const char *(*placement)(const lz_device_buffer *b);
    const char *(*input_placement)(const lz_exec *x, uint32_t i);
    /* Whether the buffer is where a program put it, and not where a mark said: another program may
     * choose anew. */
    bool (*placement_is_chosen)(const lz_device_buffer *b);
    /* A buffer of `type` placed as the text says, whose partitions have these elements, densely and
     * without padding: those of this process's devices, but NULL where a lower one of these has the
     * same (lz_tile_first). read_part: copies the elements of one partition so; a buffer that is
     * nowhere yet is whole on each. LZ_EUNSUPPORTED: it is another process's; LZ_EMEM, those of
     * copy_in and copy_out. NULL: buffers are of one device. */
    lz_status (*from_parts)(const lz_type *type, const char *text, const void *const *part,
                            lz_device_buffer **out);
    lz_status (*read_part)(lz_device_buffer *src, const lz_type *type, int64_t partition,
                           void *dst);
    /* Number of matrix products that run as calls of a vendor library, since the process began.
     * Does not start the backend. NULL: the backend uses none. */
    uint64_t (*library_products)(void);
    /* How many kernels its JIT has compiled and linked since the process began. NULL: it has
     * none. */
    uint64_t (*jit_kernels)(void);
    /* Since the process began. NULL: it loads all kernels with their programs. */
    void (*branch_kernels)(lz_branch_kernels *out);
} lz_backend;

/* NULL when unknown. Case-insensitive */
const lz_backend *lz_backend_get(const char *name);
/* That of a device, "CPU:1" or its platform alone; NULL when unknown. */
const lz_backend *lz_backend_of(const char *device);
/* NULL past the end; index is lz_device_buffer.backend: rows of backends.def, then plugins
 * (backends/pjrt/plugins.h) in the order in which they were registered. */
const lz_backend *lz_backend_at(uint32_t index);
const lz_backend *lz_backend_row(uint32_t index); /* of backends.def alone */
int lz_backend_index(const lz_backend *b);
/* some backend can: lz_cache_options.isa_ok */
bool lz_backend_can_run(const char *isa, void *unused);
#endif
