/* cuda_device.h - a CUDA device: context, streams, memory pool, properties, and whether it still
 * works. Every use of the driver lies between cuda_enter and cuda_leave, which restore the thread's
 * own context. When the driver reports that the context is lost, so is the device: from then on
 * every call gives the first such error and the driver is not called any more. Streams: kernels run
 * on `compute` in order; copies have streams of their own, so they overlap it. Freed memory is
 * idle, because enqueued work holds references until it has run. Units: bytes. Threads:
 * thread-safe, fields after start-up excepted as noted. */
#ifndef LZ_BACKENDS_CUDA_CUDA_DEVICE_H
#define LZ_BACKENDS_CUDA_CUDA_DEVICE_H
#include "backends/cuda/cublaslt.h"
#include "backends/common/job.h"
#include "codegen/gpu/simt.h"
#include "backends/common/profile.h"
#include "backends/common/autotune.h"

enum { CUDA_DEVICES = 64, CUDA_CLASSES = 1 + (48 - 9) * 8, CUDA_SLOTS = 4 };
enum { CUDA_CODE_BYTES = 64 << 20 }; /* most instruction bytes of a kernel */

/* Free blocks of device memory, by size class (cuda_mem.c). */
typedef struct cuda_pool {
    lz_mutex lock;
    LZ_VEC(cu_ptr) waiting[CUDA_CLASSES];
    uint64_t waiting_bytes, used, peak, allocs, reuses;
} cuda_pool;

/* Pinned staging memory between pageable host memory and the device, in pieces that are refilled as
 * soon as they are free (cuda_transfer.c). */
typedef struct cuda_staging {
    lz_mutex lock;
    cu_stream stream;
    struct {
        void *p;
        cu_event free;
    } slot[CUDA_SLOTS];
    bool ready;
    uint32_t next;
} cuda_staging;

/* Copies to other devices (cuda_peers.c): they run on a stream of the source device. */
typedef struct cuda_copy cuda_copy;
typedef struct cuda_out {
    lz_queue *finish; /* waits for the ends of copies, in the same order */
    /* under the lock of cuda_peers.c: */
    cu_stream stream; /* NULL: no copy has left yet */
    cuda_copy *spare;
    uint32_t nspare;
    unsigned char reach[CUDA_DEVICES]; /* how each other device is reached */
    cu_event computed;                 /* used by the launching queue */
} cuda_out;

/* A tensor map as the driver encodes it. */
typedef struct cuda_map {
    _Alignas(64) unsigned char bytes[SIMT_MAP_BYTES];
} cuda_map;

/* A stretch of a stream between two events (cuda_timing.c). */
enum { CUDA_ROW_PROGRAMS, CUDA_ROW_COMPUTE, CUDA_ROW_IN, CUDA_ROW_OUT, CUDA_ROW_ACROSS, CUDA_ROWS };
typedef struct cuda_stretch {
    cu_event from, to; /* NULL: not measured */
    int row;
    const lz_profile_launch *launch; /* NULL: it is a copy */
    const char *name;                /* name of a copy, a literal */
    bool collective;                 /* it is one, of that name, and no copy */
    size_t nbytes;
} cuda_stretch;
typedef struct cuda_times {
    lz_mutex lock;           /* protects all of it */
    uint32_t row[CUDA_ROWS]; /* row of the timeline; 0: none yet */
    LZ_VEC(cu_event) spare;
    LZ_VEC(cuda_stretch) waiting; /* in order; their end events are pending */
    cu_stream clock;
    cu_event base;
    int64_t base_ns;         /* host clock time of the base event */
    int64_t last[CUDA_ROWS]; /* end of the latest stretch per row */
} cuda_times;

/* What a thread works with that puts launches on a device's compute stream. */
typedef struct cuda_launcher {
    uint64_t uploads_seen;
    lz_device_buffer *temp;
    uint32_t oversized;
    uint64_t value[SIMT_PARAMS + 3];
    void *param[SIMT_PARAMS + 5];
    cuda_map map[2];
    unsigned char *flag; /* pinned: predicates that were read back */
} cuda_launcher;

typedef struct cuda_device {
    lz_exec_device at; /* first member; its queue launches, in order */
    char name[96];
    int major, minor, processors;
    int clock_khz, l2_bytes, shared_bytes; /* shared memory limit of a block */
    uint64_t total_bytes;
    cu_context context;
    lz_target target;
    int tune; /* LAZULI_TUNE */
    lz_kstore kernels;
    cuda_pool pool;
    cuda_staging up, down;
    cuda_out out;
    cu_stream compute;
    cu_event uploaded; /* the last upload, under up.lock */
    _Atomic uint64_t uploads;
    lz_queue *finish;   /* waits for the launched jobs, in the same order */
    cuda_launcher own;  /* of its launching queue */
    cuda_launcher team; /* of the queue of device 0, for programs of several devices */
    /* Of those: */
    lz_device_buffer *number; /* of this partition, ui32[] */
    cu_event met;             /* what a collective waits for */
    cuda_times times;
    cuda_libs libs;
    /* When the device is lost: */
    atomic_bool lost;
    lz_mutex lost_lock;
    lz_error lost_error;
} cuda_device;

/* What its programs are lowered with. */
static inline lz_lower_options cuda_lower_options(const cuda_device *d)
{
    return (lz_lower_options){
        .machine.threads = d->processors, .b2b = LZ_B2B_DOTS, .b2b_row_limit = SIMT_LONG_ROW};
}

/* cuda_device.c */
lz_status cuda_device_start(cuda_device *d, int index, uint32_t backend);
lz_status cuda_enter(cuda_device *d); /* gives the error it was lost by */
lz_status cuda_works(cuda_device *d); /* the same without entering */
void cuda_leave(cuda_device *d);
/* Waits for the event. Memory is freed after that, so a wait that fails is tried once more, unless
 * the device is lost; the first error is returned all the same. Outside of cuda_enter and
 * cuda_leave. */
lz_status cuda_await(cuda_device *d, cu_event e, const char *what);
/* A driver call's result, between cuda_enter and cuda_leave. */
lz_status cuda_check(cuda_device *d, int result, const char *what);
#define CUDA_TRY(d, call, what) LZ_TRY(cuda_check(d, lz_cuda.call, what))

/* cuda_mem.c: between cuda_enter and cuda_leave, or not. */
lz_status cuda_alloc(cuda_device *d, size_t nbytes, lz_device_buffer **out);
void cuda_free(cuda_device *d, lz_device_buffer *b); /* frees memory and struct */
void cuda_trim(cuda_device *d);
uint64_t cuda_limit(const cuda_device *d);

/* cuda_transfer.c */
/* src may be reused on return */
lz_status cuda_copy_in(cuda_device *d, cu_ptr dst, const void *src, size_t nbytes);
lz_status cuda_copy_out(cuda_device *d, void *dst, cu_ptr src,
                        size_t nbytes); /* waits until it is done */
/* Orders the next launches after all uploads so far. On the launching queue. */
lz_status cuda_after_uploads(cuda_device *d, cuda_launcher *l);

/* cuda_peers.c */
/* lz_backend.copy_across */
lz_status cuda_copy_across(cuda_device *to, lz_device_buffer *dst, cuda_device *from,
                           lz_device_buffer *src, size_t nbytes);
/* Orders the next launches after the copies that produce the job's arguments, and after those that
 * read what partition q of it overwrites. On the launching queue, between cuda_enter and
 * cuda_leave. */
lz_status cuda_after_copies(cuda_device *d, const lz_job *j, uint32_t q);
/* Whether devices copy to each other at all. Otherwise LZ_EUNSUPPORTED: why. */
lz_status cuda_peers_usable(const cuda_device *from, const cuda_device *to);
/* Gives d access to the other's memory where the machine allows it; copies are possible anyway. */
lz_status cuda_peer_reach(cuda_device *d, cuda_device *other);
/* The result of a call in d's context that involves the other device, too. */
lz_status cuda_check_both(cuda_device *d, cuda_device *other, int result, const char *what);
bool cuda_copy_waits(const lz_event *e); /* lz_exec_ops.elsewhere */
void cuda_wait_copies(cuda_device *d);   /* waits until the copies from and to it are over */

/* cuda_timing.c: between cuda_enter and cuda_leave, cuda_times_end excepted */
void cuda_stretch_begin(cuda_device *d, cu_stream stream, cuda_stretch *s);
void cuda_stretch_end(cuda_device *d, cu_stream stream, cuda_stretch *s);
bool cuda_stretch_wait(const cuda_stretch *s); /* puts the end event; false: not measured */
bool cuda_stretch_ns(const cuda_stretch *s, int64_t *ns); /* elapsed time */
void cuda_stretch_drop(cuda_device *d, cuda_stretch *s);
/* Adds stretches of one stream, in order, to the timeline; all are complete. *begin, *end: of all
 * of them; 0: none. */
void cuda_stretches_note(cuda_device *d, cuda_stretch *s, uint32_t n, int64_t *begin, int64_t *end);
void cuda_stretch_note(cuda_device *d, cuda_stretch *s);
void cuda_program_note(cuda_device *d, const lz_job *j, int64_t begin, int64_t end);
/* Adds a stretch that nobody waits for to the timeline, once it is complete and somebody polls. */
void cuda_stretch_later(cuda_device *d, cuda_stretch *s);
void cuda_times_look(cuda_device *d);
void cuda_times_end(cuda_device *d); /* waits for the pending stretches when a trace ends */

/* cuda_graphs.c: of the launching queue, between enter and leave; making and freeing anywhere */
enum { CUDA_GRAPHS = 4 };
typedef struct cuda_graph {
    uint64_t *at;       /* the addresses it was captured with */
    uint64_t used;      /* time of its last use; 0: never */
    cu_graph_exec exec; /* NULL: not captured */
    uint64_t products;  /* launches by a library in it */
} cuda_graph;
typedef struct cuda_graphs {
    uint32_t n; /* number of a job's addresses; 0: graphs do not pay off for the program */
    bool off;   /* the driver refused */
    uint64_t tick;
    uint64_t *now; /* addresses of the job that starts, then those of the slots */
    cuda_graph slot[CUDA_GRAPHS];
} cuda_graphs;
lz_status cuda_graphs_make(cuda_graphs *g, const lz_exec *x);
void cuda_graphs_free(cuda_device *d, cuda_graphs *g);
/* lz_job_run, as a CUDA graph when the addresses have been seen before. *products: the counter in
 * which `run` counts products by a library; for a graph, the captured ones are added. */
lz_status cuda_graphs_run(cuda_device *d, cuda_graphs *g, lz_job *j, void *temp, void *run,
                          uint64_t *products);

/* ptxas.c: what the driver loads, made from PTX (or from what the emulator takes instead) */
const char *
cuda_assembler(const cuda_device *d); /* path of the assembler; NULL: the driver assembles */
lz_status cuda_assemble(cuda_device *d, const lz_kernel *k, const lz_buf *ptx, lz_buf *out);

/* cuda_kernels.c */
extern const lz_kstore_ops cuda_kernel_ops;
typedef struct cuda_code cuda_code;
struct cuda_code {
    cuda_device *d;
    cu_module module;
    cu_function function[SIMT_ENTRIES]; /* NULL: the kernel has none */
    size_t nbytes;
    void *bytes;       /* what the driver loads, where there are several devices; else NULL */
    cuda_code **other; /* by device: the same on others; NULL: nobody has asked */
};
/* The same kernel on another device, which is of the same kind: loaded once, compiled never. */
lz_status cuda_code_on(const cuda_code *c, const lz_kernel *k, cuda_device *d,
                       const cuda_code **out);

/* cuda_tuning.c: the tunable choices of a launch */
void cuda_dims_of(const cuda_device *d, const lz_kernel *k, const lz_step *s, lz_choice c,
                  lz_simt_dims *out);
/* The tuner's `user`: one launch, by its record in cuda_exec.c. */
typedef struct cuda_tuning {
    cuda_device *d;
    const void *record;
    lz_status (*launch)(cuda_device *d, const void *record, const lz_simt_dims *dims, void *scratch,
                        void *const *bufs);
} cuda_tuning;
extern const lz_tune_ops cuda_tune_ops;

/* cuda_dump.c: for LAZULI_DUMP=ptx */
void cuda_dump(const cuda_device *d, const lz_plan *p);

/* cuda.c */
cuda_device *cuda_device_at(uint32_t index); /* of the devices that are used */
uint32_t cuda_ndevice(void);

/* cuda_exec.c: executables (backends/common/job.h), of one device or, where the plan is one of
 * several partitions, of as many. */
/* takes over the plan, also on failure */
lz_status cuda_exec_new(cuda_device *d, lz_plan *p, lz_cache *cache, lz_exec **out);
lz_status cuda_exec_run(lz_exec *x, cuda_device *d, lz_device_buffer *const *in,
                        const bool *donated, bool awaited, lz_device_buffer **out, lz_event **done);
lz_status cuda_exec_run_team(lz_exec *x, int64_t n, const uint32_t *home,
                             lz_device_buffer *const *const *in, const bool *donated, bool awaited,
                             lz_device_buffer ***out, lz_collective_uses *uses, lz_event **done);
#endif
