/* prog.h - a plan ready to run on the CPU: loaded kernels and launch records made once, and the
 * same of the plans of its regions.
 * A launch record holds what does not change between executions: the function, the run-time sizes,
 * the number of units, how many threads are worth waking, and for each buffer a base (temporaries,
 * constants, argument or result) and an offset. Running a kernel is a few additions and a call;
 * control flow sets the bases of another program and runs it.
 * Threads: immutable once made; each run has pointers and scratch of its own. */
#ifndef LZ_BACKENDS_CPU_PROG_H
#define LZ_BACKENDS_CPU_PROG_H
#include "backends/backend.h"
#include "backends/cpu/kernels.h"
#include "lower/plan.h"

enum { LZ_BASE_TEMP, LZ_BASE_CONST, LZ_BASE_ARGS };

typedef struct lz_launch lz_launch;
typedef struct lz_prog lz_prog;
struct lz_prog {
    const lz_plan *plan;
    lz_kernel_load *loads; /* NULL when kernels are run by the slow executor */
    lz_launch *launches;
    struct lz_base_ref *refs; /* of all launches */
    uint32_t nlaunch, max_ref;
    size_t *in_align; /* largest element size an argument is read as */
    lz_prog *subs;    /* of plan->subs */
    /* Where its pointers are among those of a run: bases (LZ_BASE_ARGS, arguments, results), then
     * those of one launch. */
    size_t ptr_at;
};

/* What all programs of one executable share. */
typedef struct lz_prog_need {
    size_t nptr;         /* pointers of a run */
    size_t scratch_each; /* bytes of scratch of one thread */
    bool shared;         /* some launch is shared by threads */
    bool loops;          /* run by the slow executor */
    uint64_t ns;         /* about how long it takes */
} lz_prog_need;

typedef struct lz_prog_run {
    void **ptr; /* need->nptr of them; the program's bases are set */
    char *scratch;
    const lz_prog_need *need;
} lz_prog_run;

/* Loads kernels and makes the records of p and of what it calls. On failure lz_prog_end frees what
 * is there. */
lz_status lz_prog_make(lz_prog *g, const lz_plan *p, const lz_target *t, lz_cache *cache,
                       lz_prog_need *need);
void lz_prog_end(lz_prog *g);
lz_status lz_prog_run_all(const lz_prog *g, const lz_prog_run *r);

/* Kernels of the program and of those it calls, in one count. */
uint32_t lz_prog_kernels(const lz_prog *g);
/* load: NULL with the slow executor */
const lz_kernel *lz_prog_kernel(const lz_prog *g, uint32_t i, const lz_kernel_load **load);
/* by several threads when it is much */
void lz_prog_copy(void *dst, const void *src, size_t nbytes);
#endif
