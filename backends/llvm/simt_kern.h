/* simt_kern.h - between the files of the GPU schedules: the function under construction, what its
 * threads do together.
 * Threads: belongs to one thread. */
#ifndef LZ_BACKENDS_LLVM_SIMT_KERN_H
#define LZ_BACKENDS_LLVM_SIMT_KERN_H
#include "backends/llvm/kern.h"
#include "backends/llvm/simt.h"

/* How a kernel is spread over threads. */
typedef enum simt_kind {
    SIMT_POINTS, /* a thread per point of the outer loops */
    SIMT_SERIAL, /* points in order: one thread, or one per index of the last outer loop */
    /* a block per point; its threads share the last inner loop of every stage */
    SIMT_ROWS,
    SIMT_TILES /* a product of matrices: a block per tile of the result */
} simt_kind;

typedef struct simt_plan {
    simt_kind kind;
    bool apart;         /* SIMT_SERIAL: the indices of the last outer loop never meet */
    uint32_t max_block; /* threads of a block, at most */
} simt_plan;
/* simt_plan.c: a function of the canonical kernel. */
void simt_plan_of(const lz_kernel *k, simt_plan *p);

typedef struct simt {
    em *e;
    const lz_kernel *k;
    simt_plan plan;
    Val thread;                   /* emulated: the lz_simt_thread */
    Val tid, ntid, ctaid, nctaid; /* i64 */
    Val shared;                   /* start of shared memory */
    Val scratch, scratch_each;    /* of kernels that sort */
} simt;

/* simt_em.c */
/* Starts lz_kernel and reads its parameters into c; threads of a block at most max_block. */
void simt_begin(simt *s, kern *c);
void simt_barrier(simt *s);
Val simt_shuffle_xor(simt *s, Val v, unsigned x); /* any scalar type of at most 64 bits */
Val simt_shared_at(simt *s, Val index, int64_t scale, int64_t offset);
/* Quotient of non-negative numbers; by 32-bit division where both fit. */
Val simt_udiv(em *e, Val a, Val b);
/* Indices 0..n-1 of `size` from a flat index; the last one fastest. */
void simt_split(em *e, Val flat, const Val *size, uint32_t n, Val *out);

/* The schedules: they emit the body between simt_begin and the final return. */
void simt_emit_points(simt *s, kern *c);
void simt_emit_serial(simt *s, kern *c);
void simt_emit_rows(simt *s, kern *c);
/* simt_tiles.c: makes its own kerns, so it begins the function itself. */
lz_status simt_emit_tiles(simt *s);
bool simt_tiles_suit(const lz_kernel *k);
void simt_tiles_dims(const lz_kernel *k, const int64_t *args, uint32_t most, lz_simt_dims *out);
#endif
