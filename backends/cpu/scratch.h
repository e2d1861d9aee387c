/* scratch.h - workspace memory of kernels, one part per thread. Threads: one owner at a time. */
#ifndef LZ_BACKENDS_CPU_SCRATCH_H
#define LZ_BACKENDS_CPU_SCRATCH_H
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

/* Zero-initialise. */
typedef struct lz_scratch {
    void *memory;
    size_t nbytes; /* of it */
    char *first;   /* part of thread 0; thread i's is i * stride bytes further */
    size_t apart;
    bool mapped; /* it is of no device */
} lz_scratch;

/* For programs of several devices: what their kernels work in is of the threads that run them, and
 * counts for none of the devices. */
enum { LZ_NO_DEVICE = -1 };

/* Makes `parts` parts of `each` bytes, a multiple of 64, with undefined contents. After LZ_EDEVMEM
 * there are none. */
lz_status lz_scratch_room(lz_scratch *s, int device, size_t each, size_t parts);
void lz_scratch_free(lz_scratch *s, int device);
#endif
