/* spmd.h - between the files of the virtual device: all devices of another backend as one. A buffer
 * is a part on each of them and a sharding; an executable is the partitioned function, compiled
 * once by that backend, and the places of its parameters and results. Threads: thread-safe. */
#ifndef LZ_BACKENDS_SPMD_SPMD_H
#define LZ_BACKENDS_SPMD_SPMD_H
#include "backends/backend.h"
#include "shard/shard.h"
#include <stdatomic.h>

/* The devices behind the virtual one; set by init, then constant. */
typedef struct lz_spmd_devices {
    const lz_backend *be;
    int64_t n;
    uint32_t index;               /* of the virtual backend */
    lz_device_buffer **partition; /* [n]: the number of each, ui32[] */
} lz_spmd_devices;
extern lz_spmd_devices lz_spmd;

typedef struct lz_spmd_buffer {
    lz_device_buffer b;
    lz_mutex lock; /* of what follows */
    const lz_sharding
        *at; /* NULL: the elements are in `host`, or zeros, until a program says where */
    _Atomic(const char *) text; /* of `at`; every step asks for it */
    const lz_type *type;        /* with `at` */
    void *host;                 /* NULL: zeros */
    lz_device_buffer **part;    /* [n], with `at` */
} lz_spmd_buffer;

lz_status lz_spmd_alloc(int device, size_t nbytes, lz_device_buffer **out);
lz_status lz_spmd_zeros(int device, size_t nbytes, lz_device_buffer **out);
void lz_spmd_free(lz_device_buffer *b);
lz_status lz_spmd_copy_in(lz_device_buffer *dst, const void *src, size_t nbytes);
lz_status lz_spmd_copy_out(lz_device_buffer *src, void *dst, size_t nbytes);
const char *lz_spmd_placement(const lz_device_buffer *b);
lz_status lz_spmd_from_parts(const lz_type *type, const char *text, const void *const *part,
                             lz_device_buffer **out);
lz_status lz_spmd_read_part(lz_device_buffer *src, const lz_type *type, int64_t partition,
                            void *dst);
/* Puts the parts where a program wants its argument i: part p into in[p][i], a reference, since the
 * buffer may be put elsewhere as soon as this returns. */
lz_status lz_spmd_place(lz_spmd_buffer *b, const lz_type *type, const lz_sharding *at,
                        lz_device_buffer ***in, uint32_t i);
/* A buffer of n parts, which it takes over on success. */
lz_status lz_spmd_of_parts(const lz_type *type, const lz_sharding *at, lz_device_buffer **part,
                           lz_device_buffer **out);

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
