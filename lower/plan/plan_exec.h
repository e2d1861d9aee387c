/* plan_exec.h - the executable form of a plan: launch records, with the source of every pointer of
 * a run decided once. Plans of regions become parts of the same plan_exec, flattened: parts,
 * kernels and launches are arrays. The runner supplies a table (lz_plan_exec_ops): launch a
 * kernel, copy bytes, read a boolean; the loop-IR interpreter (lz_plan_run) and the devices of
 * backends/ each have one. Control flow is executed here, by setting the arguments of another part
 * and running it. A run has a state of nptr pointers: per part its arguments, its results and the
 * address of every buffer of every launch. Constants are set once, temporaries when their memory
 * moves, arguments and results by each run. So a run allocates nothing, takes no lock, and only
 * updates what changed. Addresses are `void *`; those of devices are handles that only their ops
 * interpret.
 * Units: bytes. Threads: a plan_exec is immutable once made; a state belongs to one run at a time.
 */
#ifndef LZ_LOWER_PLAN_PLAN_EXEC_H
#define LZ_LOWER_PLAN_PLAN_EXEC_H
#include "lower/plan/plan_invariant.h"

/* What partition q does by itself. */
typedef lz_status lz_plan_each_fn(void *ctx, uint32_t q, void *run);

typedef struct lz_plan_exec_ops {
    size_t record_bytes; /* of what `prepare` fills in for a launch; 8-byte aligned */
    /* The record of a step that launches kernel `i` of the program. *idle: it has nothing to do, so
     * there need not be a launch. A step that runs a routine has no kernel: k is NULL. */
    lz_status (*prepare)(void *maker, const lz_kernel *k, uint32_t i, const lz_step *s,
                         void *record, bool *idle);
    /* *whole: the record of a while is made, and `launch` runs all of it. NULL: the device has none
     * such. */
    lz_status (*prepare_loop)(void *maker, const lz_step *s, void *record, bool *whole);
    /* bufs[j] for buffer j of the step */
    lz_status (*launch)(void *run, const void *record, void *const *bufs);
    /* after what was launched before, and before what is launched next; nbytes may be 0 */
    lz_status (*copy)(void *run, void *dst, const void *src, size_t nbytes);
    /* waits for what was launched before */
    lz_status (*read_bool)(void *run, const void *at, bool *out);
    /* After what was launched before, and waiting: for functions of the program's own. NULL:
     * addresses are of the host, and what was launched has ended. */
    lz_status (*to_host)(void *run, void *dst, const void *src, size_t nbytes);
    lz_status (*from_host)(void *run, void *dst, const void *src, size_t nbytes);
    /* One collective of all partitions: bufs[p][j] is buffer j of the step in partition p. NULL:
     * the device has none. */
    lz_status (*collective)(void *run, const lz_step_collective *c, void *const *const *bufs);
    /* Calls fn for each of n partitions, in any order and also at once; fn gets what the ops get
     * there. flops, bytes: what one of them does about. NULL: in order, with `run`. */
    lz_status (*each)(void *run, uint32_t n, uint64_t flops, uint64_t bytes, lz_plan_each_fn *fn,
                      void *ctx);
    /* What the ops get for partition q, where partitions run together: `run` is of all. NULL: the
     * same. */
    void *(*of)(void *run, uint32_t q);
} lz_plan_exec_ops;

typedef struct lz_launch lz_launch;
typedef struct lz_plan_exec_ref lz_plan_exec_ref;
typedef struct lz_part {
    const lz_plan *plan;
    void *consts;       /* the plan's; a device sets its own before lz_plan_exec_state */
    void **consts_of;   /* of each partition, where they are not in one memory; else NULL */
    uint32_t kernel_at; /* its kernels among the program's */
    uint32_t nlaunch;
    uint64_t nrun; /* those of its launches run */
    bool meets;    /* partitions meet in some launch */
    char *launches;
    lz_plan_exec_ref *refs; /* in constants, then in temporaries, then in arguments and results */
    uint32_t nconst, ntemp, nio; /* of refs */
    size_t *in_align;            /* largest element size an argument is read as; 0: it is not */
    uint32_t *subs;              /* parts of plan->subs */
    /* In a state: the temporaries its addresses are for, arguments, results, addresses. */
    size_t at;
} lz_part;

typedef struct lz_plan_exec {
    const lz_plan_exec_ops *ops;
    lz_arena arena;
    uint32_t npart, nkernel, nlaunch;
    bool control;   /* some step waits for what was launched before */
    uint64_t nrun;  /* launches and copies of a run, where none does; UINT64_MAX at most */
    lz_part *parts; /* the plan itself, then those of its regions: a part is before those it runs */
    lz_kernel **kernels;  /* of all parts; the plans' */
    size_t stride;        /* of launches */
    size_t nptr, kept_at; /* pointers of a state; which one says whose kept memory is in it */
} lz_plan_exec;

/* What is kept between the runs of a program (plan_invariant.h). */
typedef struct lz_plan_exec_kept {
    lz_invariants *what;
    void *memory;
    uint64_t id; /* another for every memory that was made; not 0 */
    bool filled; /* by a run with the same arguments: this one leaves out what made it */
} lz_plan_exec_kept;

/* Parts and kernels of a verified plan, which must outlive the program. On failure, as in the end,
 * lz_plan_exec_end frees what is there. Errors: LZ_EMEM. */
lz_status lz_plan_exec_begin(lz_plan_exec *g, const lz_plan *p);
/* late[i]: kernel i of the program is run by branches of an `if` only. Errors: LZ_EMEM. */
lz_status lz_plan_exec_branches(lz_plan_exec *g, bool *late);
/* Launch records. `maker` is what ops->prepare gets. Errors: its own, LZ_EMEM. */
lz_status lz_plan_exec_make(lz_plan_exec *g, const lz_plan_exec_ops *ops, void *maker);
void lz_plan_exec_end(lz_plan_exec *g);
/* Launch i of a part and its record; NULL when it runs other parts. */
void *lz_plan_exec_record(const lz_plan_exec *g, const lz_part *p, uint32_t i);
/* The step of launch i; steps that have nothing to do have none. */
const lz_step *lz_plan_exec_step(const lz_plan_exec *g, const lz_part *p, uint32_t i);

/* Of n partitions that run together there is a state of each, one behind the other, and behind
 * them room for a pointer of each. How many pointers that is (n 0: one device alone, or a partition
 * that runs by itself), making them, and that of partition q. */
size_t lz_plan_exec_nptr(const lz_plan_exec *g, uint32_t n);
void lz_plan_exec_state(const lz_plan_exec *g, void **states, uint32_t n);
/* What the ops get for partition q of a run of several. */
static inline void *lz_plan_exec_run_of(const lz_plan_exec *g, void *run, uint32_t q)
{
    return g->ops->of ? g->ops->of(run, q) : run;
}
static inline void **lz_plan_exec_state_of(const lz_plan_exec *g, void **states, uint32_t q)
{
    return states + q * g->nptr;
}
/* The program's arguments, then its results, to be set before a run. */
static inline void **lz_plan_exec_io(const lz_plan_exec *g, void **state)
{
    return state + g->parts->at + 1;
}
/* temp: plan->temp_bytes of memory; kept: NULL, or what this run fills or uses; `run` is what the
 * ops get. */
lz_status lz_plan_exec_run(const lz_plan_exec *g, void **state, void *temp,
                           const lz_plan_exec_kept *kept, void *run);

/* Runs the program for the g->parts->plan->partitions partitions in lock step: the launches up to
 * the next collective for each of them, and the collective once the operands of all are there.
 * Nothing waits for anything, so no number of partitions can hang on any number of threads. temp:
 * plan->temp_bytes for each, aligned to 64. uses: counts the collectives that ran; NULL: not
 * wanted. Loops and branches with collectives in them go on together: LZ_EINVAL when the partitions
 * do not agree. */
lz_status lz_plan_exec_run_team(const lz_plan_exec *g, void **states, void *const *temps,
                                void *user, lz_collective_uses *uses);

/* How a partition that runs by itself meets the others: fn is its part of a collective, bufs those
 * of the step; site: the line of the program that recorded it (NULL: not known); reached: launches
 * of the program itself that have run. With `start` the partition goes on beside it, until `done`;
 * who gives it waits for all that was started, also after an error. NULL: fn, and nothing to wait
 * for. */
typedef lz_status lz_plan_meet_fn(void *user, const lz_step_collective *c, const lz_site *site,
                                  void *const *bufs, uint32_t reached);
typedef struct lz_plan_meet {
    lz_plan_meet_fn *fn, *start;
    lz_status (*done)(void *user, const lz_step_collective *c);
    void *user;
} lz_plan_meet;
/* Runs the program for one of its partitions. *reached: launches of the program itself, from the
 * first on, that have run, when it ends; those of what follows have perhaps not been met. */
lz_status lz_plan_exec_run_one(const lz_plan_exec *g, void **state, void *temp, void *run,
                               const lz_plan_meet *m, uint32_t *reached);
/* Calls fn with the collectives of launches from `from` on, those of regions too. */
void lz_plan_exec_each_collective(const lz_plan_exec *g, uint32_t from,
                                  void (*fn)(void *user, const lz_step_collective *c), void *user);

/* The loop-IR interpreter's; its makers and runs are NULL. */
extern const lz_plan_exec_ops lz_loop_ops;
/* The same for one launch. */
lz_status lz_loop_launch(const lz_kernel *k, const lz_step *s, void *const *bufs);
#endif
