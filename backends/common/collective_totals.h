/* collective_totals.h - how many collectives have run in this process and what they sent, by kind,
 * for metrics. Collectives of all partitions together count once, those of replicas too, where they
 * meet; each round of a loop counts. Threads: thread-safe. */
#ifndef LZ_BACKENDS_COMMON_COLLECTIVE_TOTALS_H
#define LZ_BACKENDS_COMMON_COLLECTIVE_TOTALS_H
#include "lower/plan/plan.h"

typedef struct lz_collective_total {
    uint64_t runs, bytes; /* bytes: that each device sent, as lz_collective_sent counts them */
} lz_collective_total;

uint64_t lz_collective_sends(const lz_step_collective *c);
/* c has run, or has been started. */
void lz_collective_ran(const lz_step_collective *c);
/* Nanoseconds in which some collective of a partition that runs by itself was on its way, and in
 * which the partition waited for it. */
void lz_collective_took(int64_t ns, int64_t waited_ns);
void lz_collective_times(int64_t *ns, int64_t *waited_ns);
/* Zero of what is no collective. */
lz_collective_total lz_collective_total_of(lz_op op);
#endif
