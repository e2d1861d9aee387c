/* plan_join.h - loops of a plan that a backend may run as one function: the condition, the kernels
 * of the body, and the loops and branches in it. Such a loop is a kernel to whoever stores,
 * compiles and launches kernels: an lz_kernel without stages, whose encoding says which kernels run
 * in which order and on which memory. Its buffers are those of the step.
 * Its sizes (places in memory, the sizes of its kernels, the trip count) are baked into the code
 * when they are small, and run-time arguments otherwise, as a kernel's are. The arguments also hold
 * the addresses of the constants of its plans, so they belong to a process.
 * Units: bytes.   Threads: pure functions. */
#ifndef LZ_LOWER_PLAN_PLAN_JOIN_H
#define LZ_LOWER_PLAN_PLAN_JOIN_H
#include "lower/plan/plan.h"

/* What a kernel that is a loop is made from; the plan must outlive it. */
typedef struct lz_joined_loop {
    const lz_plan *plan;
    const lz_step *step; /* of the plan: a while */
} lz_joined_loop;

enum {
    LZ_JOIN_BAKED = 1024,      /* sizes up to this one are part of the code */
    LZ_JOIN_KEPT = 512,        /* values up to this size are kept by the function while it runs, */
    LZ_JOIN_TEMPS = 4096,      /* and the temporaries of a plan up to this one */
    LZ_JOIN_STACK = 64 * 1024, /* at most so much in all */
    LZ_JOIN_STEPS = 48,        /* steps, with those of loops and branches inside */
    LZ_JOIN_SOPS = 1200        /* scalar operations in their kernels */
};
static inline bool lz_join_is_baked(int64_t size)
{
    return size >= -LZ_JOIN_BAKED && size <= LZ_JOIN_BAKED;
}

/* Whether the loop consists of kernels alone that are too short to be worth a launch each. large:
 * whatever they take. */
bool lz_join_suits(const lz_plan *p, const lz_step *s, bool large);
/* How long it takes, about; UINT64_MAX: conditions decide. */
uint64_t lz_join_ns(const lz_plan *p, const lz_step *s);
/* The loop as a kernel, finished; its arguments are those of this process. Errors: LZ_EMEM. */
lz_status lz_join_kernel(const lz_plan *p, const lz_step *s, lz_kernel **out);
#endif
