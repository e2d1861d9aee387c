/* plan_exec_impl.h - between plan_exec.c, which runs a plan, and plan_team.c, which runs it for
 * several partitions in lock step. */
#ifndef LZ_LOWER_PLAN_PLAN_EXEC_IMPL_H
#define LZ_LOWER_PLAN_PLAN_EXEC_IMPL_H
#include "lower/plan/plan_exec.h"

/* What a step of control flow has besides its buffers. */
typedef struct lz_control {
    uint32_t part[2];     /* what it runs */
    uint64_t *off, temps; /* while: lz_while_layout of the body */
    size_t carried;       /* while: in a state, where what is carried is */
    int64_t trips;        /* while: where they are known; else -1 */
    lz_ffi_entry entry;   /* call: whom */
    bool meets;           /* partitions meet in it */
    bool whole;           /* while: a launch runs all of it, by the record behind the launch */
} lz_control;

struct lz_launch {
    const lz_step *step;
    const lz_control *control; /* NULL: a kernel, by the record behind this */
    uint32_t slot;             /* its first address */
};

static inline const lz_launch *lz_plan_launch(const lz_plan_exec *g, const lz_part *p, uint32_t i)
{
    return (const lz_launch *)(const void *)(p->launches + i * g->stride);
}

/* ---- addresses ---- */

static inline void *lz_plan_at_offset(const void *base, uint64_t offset)
{
    return (void *)((uintptr_t)base + offset); /* of a device, or NULL with nothing behind it */
}

static inline void **lz_plan_io_of(const lz_part *p, void **state)
{
    return state + p->at + 1;
}

static inline void **lz_plan_addresses_of(const lz_part *p, void **state)
{
    return lz_plan_io_of(p, state) + p->plan->nin + p->plan->nout;
}

/* The addresses of a part that may have changed since the last run with this state. */
void lz_plan_resolve(const lz_part *p, void **state, void *temp);

/* ---- running ---- */

typedef struct lz_plan_run_one {
    const lz_plan_exec *g;
    void **state;
    void *user;
    const lz_plan_meet *meet; /* NULL: others run with it, or nobody */
    uint32_t reached;         /* with it: launches of the program itself that have run */
} lz_plan_run_one;
/* Launches from..to-1 of a part whose addresses are resolved. skip: by launch; NULL: none. */
lz_status lz_plan_run_launches(const lz_plan_run_one *r, const lz_part *p, uint32_t from,
                               uint32_t to, const bool *skip);

/* Control flow, but for the running of parts: bufs are those of the launch; who enters a part gets
 * it with its addresses resolved. The body is also what an `if` runs on false. */
static inline const lz_part *lz_plan_body(const lz_plan_exec *g, const lz_launch *l)
{
    return &g->parts[l->control->part[1]];
}
const lz_part *lz_plan_enter_branch(const lz_plan_run_one *r, const lz_launch *l, void *const *bufs,
                                    bool on);
/* Carried values go into the results. *trips: -1 where the condition has to be asked. */
lz_status lz_plan_begin_loop(const lz_plan_run_one *r, const lz_launch *l, void *const *bufs,
                             int64_t *trips);
const lz_part *lz_plan_enter_cond(const lz_plan_run_one *r, const lz_launch *l, void *const *bufs);
lz_status lz_plan_read_cond(const lz_plan_run_one *r, const lz_launch *l, void *const *bufs,
                            bool *more);
/* What is carried is where the body puts it, once it has run. */
const lz_part *lz_plan_enter_body(const lz_plan_run_one *r, const lz_launch *l, void *const *bufs);
lz_status lz_plan_end_loop(const lz_plan_run_one *r, const lz_launch *l, void *const *bufs);
#endif
