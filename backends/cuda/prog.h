/* prog.h - a plan ready to run on a CUDA device: loaded kernels, launch records and constants on
 * the device made once, and the same of the plans of its regions. A run puts the kernels on the
 * compute stream; control flow reads its predicate back, so it waits for the stream.
 * Threads: immutable once made; runs belong to the launching queue, which does one at a time. */
#ifndef LZ_BACKENDS_CUDA_PROG_H
#define LZ_BACKENDS_CUDA_PROG_H
#include "backends/cuda/device.h"

enum { CUDA_BASE_TEMP, CUDA_BASE_CONST, CUDA_BASE_ARGS };

typedef struct cuda_launch cuda_launch;
typedef struct cuda_prog cuda_prog;
struct cuda_prog {
    const lz_plan *plan;
    lz_kernel_load *loads;
    cuda_launch *launches;
    struct cuda_ref *refs; /* of all launches */
    uint32_t nlaunch, max_ref;
    lz_dbuf *consts;  /* on the device; NULL: there are none */
    size_t *in_align; /* largest element size an argument is read as */
    cuda_prog *subs;  /* of plan->subs */
    /* of its addresses among those of a run: bases (CUDA_BASE_ARGS, arguments, results), then those
     * of a launch */
    size_t at;
};

/* What all programs of one executable share. */
typedef struct cuda_need {
    size_t naddress;  /* of a run */
    uint64_t scratch; /* bytes of device memory the kernels share, one after the other */
    bool control;     /* some step waits for the device */
    uint32_t launches;
} cuda_need;

typedef struct cuda_run {
    cuda_device *d;
    cu_ptr *address; /* need->naddress of them; the program's bases are set */
    cu_ptr scratch;
} cuda_run;

/* On failure cuda_prog_end frees what is there. */
lz_status cuda_prog_make(cuda_prog *g, cuda_device *d, const lz_plan *p, lz_cache *cache,
                         cuda_need *need);
void cuda_prog_end(cuda_prog *g);
/* Between cuda_enter and cuda_leave. */
lz_status cuda_prog_run(const cuda_prog *g, const cuda_run *r);
/* Adds the kernels of the program and of those it calls. */
void cuda_prog_info(const cuda_prog *g, lz_exec_info *f);
#endif
