/* cuda_collective.h - between cuda_collective.c, which plans a collective and runs it by copies
 * from device to device, and nccl_collective.c, where NCCL moves the values. Units: bytes. Threads:
 * as a job of several devices. */
#ifndef LZ_BACKENDS_CUDA_CUDA_COLLECTIVE_H
#define LZ_BACKENDS_CUDA_CUDA_COLLECTIVE_H
#include "backends/cuda/nccl_comms.h"

/* A reduction that NCCL makes in one call, as it likes: so many of its elements for one of ours. */
typedef struct cuda_reduction {
    int type, op, times; /* times 0: there is none */
} cuda_reduction;

/* What becomes of one operand. */
typedef struct cuda_route {
    bool split, halves;         /* each member gets another part; a large sum is made in parts */
    size_t piece;               /* bytes that go from one to another; 0: the operand is empty */
    struct cuda_local *pack;    /* NULL: the operand is as it is sent */
    struct cuda_local **unpack; /* by group; NULL: what comes is the result */
    uint64_t packed_at, staged_at, summed_at; /* in the staging memory */
    cuda_reduction direct;
} cuda_route;

struct cuda_collective {
    const lz_step_collective *c;
    cuda_route *route;    /* by operand; NULL: operands are copied from one member */
    cuda_clique **clique; /* by group, NULL of one member; of a permute the first is that of all;
                           * NULL: without NCCL */
    uint64_t temp_at;
};

/* A collective that runs. bufs[q]: of device q the results, then the operands. */
typedef struct cuda_meeting {
    cuda_team *t;
    const cuda_collective *m;
    const lz_sig *sig;
    const lz_participants *who;
    void *const *const *bufs;
} cuda_meeting;

/* Calls fn for every operand that has elements, and every member of a group. */
typedef lz_status cuda_step_fn(const cuda_meeting *w, const cuda_route *r, uint32_t k, uint32_t q);
lz_status cuda_meeting_each(const cuda_meeting *w, cuda_step_fn *fn);
/* On the stream of the device that receives. */
lz_status cuda_meeting_copy(const cuda_meeting *w, uint32_t to, char *dst, uint32_t from,
                            const char *src, size_t nbytes);
lz_status cuda_meeting_clear(const cuda_meeting *w, uint32_t q, char *dst, size_t nbytes);
cuda_step_fn cuda_meeting_pack, cuda_meeting_unpack;

static inline char *cuda_staged(const cuda_meeting *w, uint32_t q, uint64_t at)
{
    return (char *)(uintptr_t)(w->t->stage[q] + at);
}
static inline uint32_t cuda_group_size(const lz_participants *p, uint32_t g)
{
    return p->start[g + 1] - p->start[g];
}
/* What q sends, and where what it receives comes. */
static inline char *cuda_sent(const cuda_meeting *w, const cuda_route *r, uint32_t k, uint32_t q)
{
    return r->pack ? cuda_staged(w, q, r->packed_at) : w->bufs[q][w->sig->nresult + k];
}
static inline char *cuda_received(const cuda_meeting *w, const cuda_route *r, uint32_t k,
                                  uint32_t q)
{
    return r->unpack ? cuda_staged(w, q, r->staged_at) : w->bufs[q][k];
}
/* Bytes of the part with this number: the last ones of a sum that is made in parts are shorter. */
static inline size_t cuda_part_bytes(const cuda_meeting *w, const cuda_route *r, uint32_t k,
                                     uint32_t i)
{
    size_t all = w->sig->opnd[k]->nbytes, at = i * r->piece;
    if (!r->halves || at + r->piece <= all)
        return r->piece;
    return at < all ? all - at : 0;
}

/* nccl_collective.c */
/* Fills in m->clique where there is NCCL. */
lz_status cuda_nccl_make(cuda_exec *x, cuda_collective *m);
/* Whether NCCL makes the reduction by itself: where the order of its sums does not matter, or with
 * LAZULI_COLLECTIVES=fast. */
cuda_reduction cuda_nccl_reduction(const cuda_exec *x, const lz_func *region, lz_dtype d);
lz_status cuda_nccl_run(const cuda_meeting *w);
#endif
