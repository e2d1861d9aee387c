/* spmd.h - between the files of the virtual device: all devices of another backend as one. A buffer
 * is a part on each of them and a sharding; an executable is the partitioned function, compiled
 * once by that backend, and the places of its parameters and results.
 * The devices may be those of several processes, which all run the same program: each has the parts
 * of its own ones, `nlocal` from number `first` on, and indexes them from 0. Threads: thread-safe.
 */
#ifndef LZ_BACKENDS_SPMD_SPMD_H
#define LZ_BACKENDS_SPMD_SPMD_H
#include "backends/backend.h"
#include "shard/shard.h"
#include <stdatomic.h>

/* The devices behind the virtual one; set by init, then constant. */
typedef struct lz_spmd_devices {
    const lz_backend *be;
    int64_t n;                    /* of all processes */
    int64_t first, nlocal;        /* of this one */
    uint32_t index;               /* of the virtual backend */
    lz_device_buffer **partition; /* [nlocal]: the number of each, ui32[] */
} lz_spmd_devices;
extern lz_spmd_devices lz_spmd;

/* Whether some devices are of other processes: a program is then run by each device for itself, and
 * they meet in its collectives. */
static inline bool lz_spmd_is_multiprocess(void)
{
    return lz_spmd.nlocal < lz_spmd.n;
}
/* The position in the mesh, which is the number of its partition, of local device l. Of one process
 * any device may have any partition, and device l has partition l. */
int64_t lz_spmd_partition_of(const lz_mesh *m, int64_t l);
/* A local function whose groups are of partitions becomes one whose groups are of devices; itself,
 * where these are the same. Takes f over, also on failure. */
lz_status lz_spmd_by_device(const lz_mesh *m, lz_func **f);

typedef struct lz_spmd_buffer {
    lz_device_buffer b;
    lz_mutex lock; /* of what follows */
    const lz_sharding
        *at; /* NULL: the elements are in `host`, or zeros, until a program says where */
    _Atomic(const char *) text; /* of `at`; every step asks for it */
    atomic_bool chosen;         /* no mark said `at` */
    const lz_type *type;        /* with `at` */
    void *host;                 /* NULL: zeros */
    lz_device_buffer **part;    /* [nlocal], with `at` */
} lz_spmd_buffer;

lz_status lz_spmd_alloc(int device, size_t nbytes, lz_device_buffer **out);
lz_status lz_spmd_zeros(int device, size_t nbytes, lz_device_buffer **out);
void lz_spmd_free(lz_device_buffer *b);
lz_status lz_spmd_copy_in(lz_device_buffer *dst, const void *src, size_t nbytes);
lz_status lz_spmd_copy_out(lz_device_buffer *src, void *dst, size_t nbytes);
const char *lz_spmd_placement(const lz_device_buffer *b);
bool lz_spmd_is_chosen(const lz_device_buffer *b);
lz_status lz_spmd_from_parts(const lz_type *type, const char *text, const void *const *part,
                             lz_device_buffer **out);
lz_status lz_spmd_read_part(lz_device_buffer *src, const lz_type *type, int64_t partition,
                            void *dst);
/* Puts the parts where a program wants its argument i: local part l into in[l][i], a reference,
 * since the buffer may be put elsewhere as soon as this returns. chosen: no mark says so. */
lz_status lz_spmd_place(lz_spmd_buffer *b, const lz_type *type, const lz_sharding *at, bool chosen,
                        lz_device_buffer ***in, uint32_t i);
/* A buffer of nlocal parts, which it takes over on success. */
lz_status lz_spmd_of_parts(const lz_type *type, const lz_sharding *at, lz_device_buffer **part,
                           lz_device_buffer **out);

/* ---- several processes (spmd_processes.c, spmd_gather.c, spmd_agree.c) ---- */
/* Whether each process has all elements of what is placed so. */
bool lz_spmd_has_all(const lz_sharding *at);
/* The whole array, of parts of which other processes have some: all of them call it, in the same
 * order of their steps. */
lz_status lz_spmd_gather(const lz_sharding *at, const lz_type *type, lz_device_buffer *const *part,
                         void *dst);
/* lz_backend.execute_partitions of the local ones, each as a job of its own device; *done completes
 * when all have. */
lz_status lz_spmd_execute_local(lz_exec *x, uint32_t nout, lz_device_buffer *const *const *in,
                                const bool *donated, bool awaited, lz_device_buffer ***out,
                                lz_event **done);
/* The bytes of all devices, in their order; each process gives those of its own, as many. Called by
 * all, as lz_spmd_gather. all: room for n times as many. */
lz_status lz_spmd_exchange(const void *mine, size_t nbytes, void *all);
/* What was traced, to be compared: kept with the executable at PT_XLA_DEBUG_LEVEL 1. */
typedef struct lz_spmd_trace lz_spmd_trace;
lz_status lz_spmd_trace_new(const lz_func *f, lz_spmd_trace **out);
void lz_spmd_trace_free(lz_spmd_trace *t); /* NULL is fine */
/* Whether all processes are about to execute the same; else LZ_EINVAL for all of them, which names
 * the first operation that differs, who has it, and both lines. Called by all, as lz_spmd_gather.
 */
lz_status lz_spmd_agree(const lz_spmd_trace *t);
/* The same with an event of each device, done[nlocal]. */
lz_status lz_spmd_execute_each(lz_exec *x, uint32_t nout, lz_device_buffer *const *const *in,
                               const bool *donated, bool awaited, lz_device_buffer ***out,
                               lz_event **done);
/* This process cannot execute x: who would meet its devices is told why, the thread's error. */
void lz_spmd_miss(lz_exec *x);

/* ---- programs ---- */
lz_status lz_spmd_compile(int device, const lz_func *f, const lz_compile_options *o, lz_exec **out);
lz_status lz_spmd_serialize(lz_exec *x, lz_buf *out);
lz_status lz_spmd_deserialize(int device, const void *p, size_t n, const lz_compile_options *o,
                              lz_exec **out);
void lz_spmd_exec_free(lz_exec *x);
void lz_spmd_exec_info(const lz_exec *x, lz_exec_info *out);
const char *lz_spmd_input_placement(const lz_exec *x, uint32_t i);
lz_status lz_spmd_execute(lz_exec *x, int device, lz_device_buffer *const *in, const bool *donated,
                          bool awaited, lz_device_buffer **out, lz_event **done);
#endif
