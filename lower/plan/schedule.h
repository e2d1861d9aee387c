/* schedule.h - the order in which the groups of a fusion run.
 * Stages: lower, after fusion.   Units: bytes.   Threads: pure functions. */
#ifndef LZ_LOWER_PLAN_SCHEDULE_H
#define LZ_LOWER_PLAN_SCHEDULE_H
#include "lower/fusion/fusion.h"

typedef struct lz_schedule {
    LZ_VEC(uint32_t) order; /* live groups */
    /* By place in it: the place of the start of which it is the done, or LZ_NONE. NULL: no group is
     * there twice. */
    uint32_t *start;
} lz_schedule;

/* last_reader: by buffer, for the results that would like to take over an argument: that argument's
 * number, or LZ_NONE (may be NULL): such a group waits for the argument's other readers when it
 * can. overlap: lz_schedule_overlap follows: what is summed over partitions does not come later
 * than it could. Errors: LZ_EMEM; LZ_EINTERNAL when the groups depend on each other in a ring. */
lz_status lz_schedule_groups(const lz_fusion *fu, const uint32_t *donor, bool overlap,
                             lz_schedule *out);
/* Collectives start earlier and are done later, so that other groups run meanwhile: a collective
 * that has some to run beside it is there twice, as its start and as its done. Groups keep their
 * order, and starts that of their collectives. Errors: LZ_EMEM. (overlap.c) */
lz_status lz_schedule_overlap(const lz_fusion *fu, const uint32_t *donor, lz_schedule *s);
void lz_schedule_free(lz_schedule *s);

/* Calls fn(user, buf, write) for every buffer node n touches. Updates in place read and write. */
void lz_fusion_node_each_buffer(const lz_fusion *fu, const lz_fusion_node *n,
                                void (*fn)(void *user, uint32_t buf, bool write), void *user);
#endif
