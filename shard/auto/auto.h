/* auto.h - shardings without marks: a search for the plan of least time, Alpa's intra-operator pass
 * (Zheng et al., OSDI 2022). A model of the function has a variable for each parameter and for each
 * operation that has a choice of its own, and costs between them (model.h); its best choices
 * (solve.h) and what is known from the literature are candidates, which are partitioned, and the
 * one whose local function takes least is the plan. So what a plan predicts is what its program
 * does.
 * Time is that of one device: what it computes, by the machine's rate, so that what is not divided
 * is paid for, and what it sends, with a little for each collective. Of plans that take about as
 * long the one that sends least is taken, and none that sends much more than the best known layout
 * (data parallel, fully sharded, tensor parallel) which divides the work about as well.
 * Threads: pure functions; the result depends on nothing but the arguments. */
#ifndef LZ_SHARD_AUTO_AUTO_H
#define LZ_SHARD_AUTO_AUTO_H
#include "shard/shard.h"

/* One device and its link. */
typedef struct lz_auto_machine {
    double flops;   /* in a second */
    double bytes;   /* that it sends in a second */
    double latency; /* of a collective, in seconds */
} lz_auto_machine;
/* Eight operations in the time of a byte, as of a few cores of a processor. Not a row of
 * shard/cost/machines.def: it orders plans by work and bytes, the same on all machines, and its
 * latency only tells plans apart that send as much. That of a row, some 30 us, would have programs
 * of small tensors whole on every device. */
#define LZ_AUTO_MACHINE ((lz_auto_machine){.flops = 4e10, .bytes = 5e9, .latency = 4e-8})

typedef struct lz_auto_options {
    const lz_auto_machine *machine; /* NULL: LZ_AUTO_MACHINE */
    uint64_t memory;                /* of a device for parameters; 0: any */
    const bool *is_state;           /* as lz_partition_step's; NULL: it is guessed */
    uint32_t partitions;            /* at most so many candidates are partitioned; 0: by size */
} lz_auto_options;

/* What one device does in a run: loops count by their rounds where these are known. */
typedef struct lz_auto_cost {
    double seconds;
    double work;     /* operations */
    double bytes;    /* sent */
    double launches; /* of collectives */
    uint64_t memory; /* of parameters */
    uint64_t sent;   /* bytes, loops counted once, as lz_shard_report_totals does */
    uint64_t sent_by[LZ_OP_COUNT], launches_of[LZ_OP_COUNT];
} lz_auto_cost;

/* Why a plan has a mark. */
typedef enum lz_auto_mark_of { LZ_AUTO_PARAM, LZ_AUTO_VALUE, LZ_AUTO_RESULT } lz_auto_mark_of;
typedef struct lz_auto_mark {
    lz_auto_mark_of of;
    uint32_t number; /* of the parameter, value or result */
    const lz_sharding *at;
} lz_auto_mark;

/* A layout that is known, for comparison. */
typedef struct lz_auto_known {
    const char *name;
    lz_auto_cost cost;
    bool fits; /* the memory */
} lz_auto_known;
enum { LZ_AUTO_KNOWN = 8 };

typedef struct lz_auto_plan {
    lz_auto_mark *marks; /* by kind, then by number */
    uint32_t nmark;
    const lz_sharding **in, **out; /* where parameters and results are: all of them */
    const char *origin;            /* of the candidate that won */
    lz_auto_cost cost;
    double whole_work; /* of the function on one device */
    lz_auto_known known[LZ_AUTO_KNOWN];
    uint32_t nknown;
    /* The model: its variables and the edges between them, what the best choices found cost, what
     * no choices are below, and whether the two are one. */
    uint32_t variables, edges;
    double model_seconds, bound_seconds;
    bool exact;
    uint32_t partitions; /* candidates that were partitioned */
    lz_arena arena;
} lz_auto_plan;

/* The plan of a function on a mesh; marks that f has stay as they are. Errors: LZ_EMEM, LZ_ERANGE
 * (no plan has parameters in that memory; the message says how much is needed), those of
 * lz_shard_propagate and lz_partition. */
lz_status lz_auto_shard(const lz_func *f, const lz_mesh *mesh, const lz_auto_options *o,
                        lz_auto_plan *out);
void lz_auto_plan_free(lz_auto_plan *p);
/* f with these marks, which are of the mesh. Marks of values that f has not, or of other ranks, are
 * refused: LZ_ECORRUPT. */
lz_status lz_auto_apply(const lz_func *f, const lz_auto_mark *marks, uint32_t n, lz_func **out);

/* Marks as bytes, and back (untrusted): LZ_ECORRUPT, LZ_EMEM. The marks are in the arena. */
void lz_auto_marks_write(lz_buf *b, const lz_auto_mark *marks, uint32_t n);
lz_status lz_auto_marks_read(lz_rd *r, const lz_mesh *mesh, lz_arena *a, lz_auto_mark **out,
                             uint32_t *n);

/* What the plan says, for people or as JSON: where parameters, results and marked values are, what
 * is predicted, and what known layouts cost. */
lz_status lz_auto_report(const lz_func *f, const lz_mesh *mesh, const lz_auto_plan *p, lz_buf *out);
lz_status lz_auto_report_json(const lz_func *f, const lz_mesh *mesh, const lz_auto_plan *p,
                              lz_buf *out);
#endif
