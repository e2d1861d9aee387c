/* schedule.h - the order in which the groups of a fusion run.
 * Stages: lower, after fusion.   Units: bytes.   Threads: pure functions. */
#ifndef LZ_LOWER_PLAN_SCHEDULE_H
#define LZ_LOWER_PLAN_SCHEDULE_H
#include "lower/fusion/fusion.h"

typedef struct lz_schedule {
    LZ_VEC(uint32_t) order; /* live groups */
} lz_schedule;

/* last_reader: by buffer, for the results that would like to take over an argument: that argument's
 * number, or LZ_NONE (may be NULL): such a group waits for the argument's other readers when it
 * can. Errors: LZ_EMEM; LZ_EINTERNAL when the groups depend on each other in a ring. */
lz_status lz_schedule_groups(const lz_fusion *fu, const uint32_t *donor, lz_schedule *out);
void lz_schedule_free(lz_schedule *s);

/* Calls fn(user, buf, write) for every buffer node n touches. Updates in place read and write. */
void lz_fusion_node_each_buffer(const lz_fusion *fu, const lz_fusion_node *n,
                                void (*fn)(void *user, uint32_t buf, bool write), void *user);
#endif
