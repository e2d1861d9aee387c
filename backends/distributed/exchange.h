/* exchange.h - the part of one process in a collective among several: what it sends to each of the
 * others, and how its members' results are made of what came. A pure description of bytes; who
 * waits for whom is meeting.c.
 *
 * A block is what one process sends to another of one operand: of a join all of it, of a scatter
 * the part of one receiver, of a sum a slice. Messages are blocks in a fixed order: by operand,
 * then by sending member, then by receiving one. Sums are formed in the order of the group: slices
 * of all members come to the process that owns the slice, which adds them up and sends the sum to
 * all (a second round); small ones are sent whole, and everybody adds. So bits do not depend on how
 * the members are spread over processes. Threads: an exchange belongs to one thread. */
#ifndef LZ_BACKENDS_DISTRIBUTED_EXCHANGE_H
#define LZ_BACKENDS_DISTRIBUTED_EXCHANGE_H
#include "base/alloc.h"
#include "lower/plan/plan_collective.h"

typedef struct lz_exchange {
    const lz_sig *sig;
    uint32_t n, nproc, self;  /* members; processes that have some, and which one this is */
    const uint32_t *proc;     /* [n], in the order of the group: whose each member is */
    const uint32_t *from;     /* [n]: permute and broadcast: whose operand each gets, or
                                 LZ_NO_PARTITION */
    void *const *const *bufs; /* [n]: of members of this process the results, then the operands */
    /* made: */
    bool sliced;
    uint32_t *rank_in; /* [n]: place among the members of its process */
    uint32_t *count;   /* [nproc]: how many members each has */
    size_t *prefix;    /* [(nproc or 1) * (nopnd + 1)]: bytes of a block of operand 0..k-1 */
    void *sum;         /* sliced: this process's slices of all operands */
    lz_arena arena;
} lz_exchange;

/* sig, n, nproc, self, proc, from and bufs are set. Errors: LZ_EMEM. */
lz_status lz_exchange_begin(lz_exchange *x);
void lz_exchange_end(lz_exchange *x);
/* Bytes of the message from process p to this one, or from this one to p, in a round: 0, or 1 where
 * it is sliced. */
size_t lz_exchange_receives(const lz_exchange *x, int round, uint32_t p);
size_t lz_exchange_sends(const lz_exchange *x, int round, uint32_t p);
/* Where the message to p is, if it is in one piece already; NULL: lz_exchange_pack makes it. */
const void *lz_exchange_whole(const lz_exchange *x, int round, uint32_t p);
void lz_exchange_pack(const lz_exchange *x, int round, uint32_t p, void *to);
/* All messages of the round are here (came[p]; NULL where there is none): makes the sums of this
 * process's slices (round 0 of a sliced one), else the results. What is sent out of operands has
 * gone. Errors: those of the region; LZ_EMEM. */
lz_status lz_exchange_finish(lz_exchange *x, int round, const void *const *came);
#endif
