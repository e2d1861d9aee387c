/* backend.h - the device interface, shaped like PJRT: backend (client), device, buffer, executable,
 * event.
 * A backend is one folder and one row of backends.def. Everything that differs between devices is
 * asked through this table; no other code compares names. Every call may come from any thread. Work
 * on one device runs in the order it was enqueued.
 * Errors of asynchronous work travel by value in events. */
#ifndef LZ_BACKENDS_BACKEND_H
#define LZ_BACKENDS_BACKEND_H
#include "cache/cache.h"
#include "ir/module.h"

/* ---- events: complete once, with a status and the error by value. Refcounted.
 * backends/common/event.c ---- */
typedef struct lz_event lz_event;
lz_event *lz_event_new(void); /* NULL with LZ_EMEM */
void lz_event_retain(lz_event *e);
void lz_event_release(lz_event *e);                       /* NULL is fine */
void lz_event_complete(lz_event *e, const lz_error *err); /* NULL: success */
bool lz_event_done(const lz_event *e);
/* spins briefly, then sleeps; puts the error into this thread's record. NULL: LZ_OK */
lz_status lz_event_wait(lz_event *e);
/* A habit of the calling thread: it has started the work of `e` and goes back to the program; and
 * whether what it starts has lately been waited for at once, so that it may as well do it
 * itself. */
void lz_event_started(const lz_event *e);
bool lz_event_awaited_lately(void);

/* ---- ordered execution queue of one device: one thread, started at first use, spins briefly
 * before it sleeps. backends/common/queue.c ---- */
typedef struct lz_queue lz_queue;
lz_queue *lz_queue_new(const char *name);
void lz_queue_free(lz_queue *q); /* drains */
/* Runs fn(arg) on the queue after everything before it. When the queue is idle and `inline_ok`,
 * runs it right here. */
lz_status lz_queue_push(lz_queue *q, void (*fn)(void *arg), void *arg, bool inline_ok);
void lz_queue_drain(lz_queue *q);
/* Whether the calling thread is inside an item of some queue, which others may wait for. */
bool lz_queue_is_running(void);

/* ---- buffers: refcounted device memory of one device ---- */
typedef struct lz_dbuf {
    uint32_t refs; /* atomic */
    uint32_t backend, device;
    size_t nbytes;   /* asked for */
    size_t capacity; /* 0: borrowed memory (wrap) */
    /* host-addressable: the bytes (64-byte aligned). Otherwise the device's own handle */
    void *data;
    lz_event *ready;             /* completes when the content is there; NULL: it is. Owned */
    void (*release)(void *user); /* borrowed host memory: called when the last reference goes */
    void *user;
    uint64_t content; /* atomic: lz_dbuf_content */
} lz_dbuf;
/* for backends: one reference, the rest zero. NULL with LZ_EMEM */
lz_dbuf *lz_dbuf_new(void);
/* for backends: ends what lz_dbuf_new gave, the memory it describes aside */
void lz_dbuf_recycle(lz_dbuf *b);
void lz_dbuf_retain(lz_dbuf *b);
/* NULL is fine; gives the memory back to its backend */
void lz_dbuf_release(lz_dbuf *b);
/* A number for what is in the buffer, of this content alone: as long as it is the same, so are the
 * bytes. 0: others may write there too. For who may read the buffer now. */
uint64_t lz_dbuf_content(lz_dbuf *b);
/* Other bytes are in the buffer; or its memory is lent, so that its content has no number from
 * now on. */
void lz_dbuf_changed(lz_dbuf *b);
void lz_dbuf_lent(lz_dbuf *b);
/* For backends with host memory: their copy_in and copy_out. Both wait for what is being computed
 * into the buffer. */
lz_status lz_dbuf_host_in(lz_dbuf *dst, const void *src, size_t nbytes);
lz_status lz_dbuf_host_out(lz_dbuf *src, void *dst, size_t nbytes);

/* an executable, backend's own; refcounted by the backend layer */
typedef struct lz_exec lz_exec;

typedef struct lz_compile_options {
    const bool *donate;    /* per parameter: the caller will give the buffer away */
    lz_cache *cache;       /* kernel entries; may be NULL */
    const char *dump_name; /* stem of dump files; may be NULL */
} lz_compile_options;

typedef struct lz_exec_info { /* for analyses and laws */
    uint64_t argument_bytes, output_bytes, alias_bytes, temp_bytes, code_bytes;
    /* of the compile or load that made it */
    uint32_t kernels, steps, llvm_compiles, kernel_hits;
    /* of LAZULI_TUNE: launches that are not run as the models say; measurements; choices that were
     * on disk */
    uint32_t tuned, tune_runs, tune_hits;
    double compile_ms;
} lz_exec_info;

typedef struct lz_device_info {
    char kind[64];     /* "cpu: AMD EPYC ..., avx512" */
    char details[256]; /* for people: "132 multiprocessors at 1.98 GHz, ..."; may be empty */
    uint64_t memory_limit, memory_used, memory_peak; /* bytes; limit 0: none */
    int threads;
} lz_device_info;

typedef struct lz_backend {
    const char *name; /* "CPU" */
    bool host_memory; /* buffers' data is host-addressable */
    int dlpack_type;  /* what DLPack calls the memory of its buffers; 0: it has no name for it */
    /* Starts the backend: idempotent, thread-safe. LZ_EUNAVAILABLE with a reason when it cannot. */
    lz_status (*init)(void);
    int (*device_count)(void);
    lz_status (*device_info)(int device, lz_device_info *out);
    /* Bytes that distinguish code for this device: part of every program key (platform, compiler
     * version, ISA class). */
    void (*key)(int device, lz_buf *out);
    /* pooled, 64-byte aligned, content undefined */
    lz_status (*alloc)(int device, size_t nbytes, lz_dbuf **out);
    /* the same, but every byte is 0. NULL: bytes that are copied in do as well */
    lz_status (*zeros)(int device, size_t nbytes, lz_dbuf **out);
    /* From lz_dbuf_release, which has released `ready` and, for borrowed memory, called `release`
     * and cleared it and `data`: gives pooled memory back and frees the struct. */
    void (*free)(lz_dbuf *b);
    /* borrow memory of the kind that buffers are of; NULL: it cannot */
    lz_status (*wrap)(int device, void *data, size_t nbytes, void (*release)(void *), void *user,
                      lz_dbuf **out);
    /* src may be reused on return */
    lz_status (*copy_in)(lz_dbuf *dst, const void *src, size_t nbytes);
    /* waits for src's content */
    lz_status (*copy_out)(lz_dbuf *src, void *dst, size_t nbytes);
    /* The first bytes of a buffer of any device of the backend, of any other, without the host:
     * enqueued behind what makes src's content, and what is executed on dst from now on comes
     * behind it; nobody waits. dst is new and its `ready`, which completes when the bytes are
     * there, is NULL so far. src may be released or donated on return. Errors while copying, and
     * src's own, reach dst->ready. LZ_EUNSUPPORTED, and nothing has happened: these devices cannot,
     * copy_out and copy_in can.
     * NULL: none can. */
    lz_status (*copy_across)(lz_dbuf *dst, lz_dbuf *src, size_t nbytes);
    lz_status (*compile)(int device, const lz_func *f, const lz_compile_options *o, lz_exec **out);
    lz_status (*serialize)(lz_exec *x, lz_buf *out);
    /* untrusted */
    lz_status (*deserialize)(int device, const void *p, size_t n, const lz_compile_options *o,
                             lz_exec **out);
    void (*exec_free)(lz_exec *x);
    void (*exec_info)(const lz_exec *x, lz_exec_info *out);
    /* Enqueues one execution. in: retained by the callee until done. donated[i]: the caller holds
     * the only reference and gives it up (still releases its own). out[k]: new references whose
     * ready event is *done; a result that takes over input i is the same lz_dbuf. *done: new
     * reference. Small programs may run before the call returns, larger ones too when the caller
     * will wait for them at once (`awaited`). Errors while executing reach *done and the outputs'
     * events. */
    lz_status (*execute)(lz_exec *x, int device, lz_dbuf *const *in, const bool *donated,
                         bool awaited, lz_dbuf **out, lz_event **done);
    /* Whether this machine can run code that needs the ISA features `isa` of a cache entry. NULL:
     * no code of its own is stored. */
    bool (*can_run)(const char *isa);
    /* everything enqueued has finished */
    lz_status (*wait_all)(int device);
    /* How many matrix products were put on its devices as a call of a library (docs/gpu.md), since
     * the process began. Starts nothing. NULL: it uses none. */
    uint64_t (*library_products)(void);
} lz_backend;

/* by row of backends.def; NULL when unknown. Case-insensitive */
const lz_backend *lz_backend_get(const char *name);
/* NULL past the end; index is lz_dbuf.backend */
const lz_backend *lz_backend_at(uint32_t index);
int lz_backend_index(const lz_backend *b);
/* some backend can: lz_cache_options.isa_ok */
bool lz_backend_can_run(const char *isa, void *unused);
#endif
