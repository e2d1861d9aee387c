/* shard.h - a function for one device becomes one for all devices of a mesh. Marks in the function
 * (sdy.sharding_constraint) say where some values are; `propagate` says it of all others;
 * `partition` writes the function that every device runs on its part, with collectives where parts
 * meet.
 * Layer: between ir and lower. Threads: functions are pure; results are thread-compatible. */
#ifndef LZ_SHARD_SHARD_H
#define LZ_SHARD_SHARD_H
#include "ir/module.h"
#include "ir/sharding/sharding.h"

/* Where a sharding came from, for reports. */
typedef struct lz_shard_cause {
    const struct lz_shardings *where; /* the function or region that has the mark */
    lz_val mark; /* the sharding_constraint (or manual computation) it began at; LZ_NOVAL: none */
    lz_val from; /* the neighbour it came over; LZ_NOVAL: the mark itself, or a decision */
    lz_val by;   /* the operation whose rule brought it */
} lz_shard_cause;

/* Shardings of the values of a function, or of a region at the instruction that has it. */
typedef struct lz_shardings {
    const lz_func *f;
    const lz_sharding **at; /* [ninst]: closed placements (may be unreduced only where marked so);
                               NULL: constants and the like (each use makes its own), and
                               instructions with several results, which `result` reads */
    lz_shard_cause *cause;  /* [ninst] */
    struct lz_shardings **sub; /* [2 * ninst] or NULL: of region 0 and 1 of an instruction */
} lz_shardings;

/* The mesh of a function's marks. *out is NULL when it has none. Of several meshes of the same
 * factors it is the first, whose order of devices counts. Errors: LZ_EUNSUPPORTED (marks of meshes
 * that differ in factors). */
lz_status lz_shard_mesh(const lz_func *f, const lz_mesh **out);

/* Shardings of all values from the marks. Parameters and results that are marked keep exactly what
 * the mark says where it is closed. Everything is in the arena. Errors: LZ_EMEM, LZ_EINVAL naming
 * the mark, or the sharding group whose values' marks contradict each other or are of other ranks.
 */
lz_status lz_shard_propagate(const lz_func *f, const lz_mesh *mesh, lz_arena *a,
                             lz_shardings **out);

/* For each value its sharding, the mark that it began at, and the neighbour, operation and rule
 * that brought it: a line each, regions indented. Values are numbered as lz_func_print_irtext does.
 * Errors: LZ_EMEM. */
lz_status lz_shard_report(const lz_shardings *s, lz_buf *out);

/* ---- why a collective is there (notes.c) ---- */

typedef enum lz_shard_need {
    LZ_NEED_OPERAND, /* an operation reads the value at another placement */
    LZ_NEED_RESULT,  /* a result of the function, or of the region, is at another placement */
    LZ_NEED_ITSELF   /* the operation's own: it is a collective, or reads elements of other tiles */
} lz_shard_need;

/* A region of an instruction; outer NULL: of the function itself. */
typedef struct lz_shard_place {
    const struct lz_shard_place *outer;
    const lz_func *f;      /* that has the instruction */
    const lz_shardings *s; /* of it; may be NULL */
    lz_val at;
    int region;
} lz_shard_place;

/* Valid as long as the function that was partitioned, and the shardings given for it. */
typedef struct lz_shard_reason {
    lz_shard_need need;
    const lz_func *f;         /* the function or region of the values below */
    const lz_shardings *s;    /* of it; may be NULL */
    const lz_shard_place *in; /* where it is; NULL: the function itself */
    lz_val value;             /* that is moved; LZ_NOVAL of ITSELF */
    lz_val by;                /* the operation that wants it; LZ_NOVAL of RESULT */
    lz_val mark; /* that is all that uses what `by` makes, so that it is made there; or LZ_NOVAL */
    uint32_t result; /* of RESULT */
    lz_val sum; /* the operation whose parts of a sum are joined; LZ_NOVAL: nothing is summed */
    const lz_sharding *from, *to;       /* NULL of ITSELF */
    const struct lz_shard_reason *next; /* several collectives became one */
} lz_shard_reason;

/* A collective of a local function, in the order of its instructions, those of regions where the
 * region is. */
typedef struct lz_shard_collective {
    const lz_sig *sig;
    const lz_shard_place *in;   /* the region that has it */
    const lz_shard_reason *why; /* NULL: nobody knows */
    const struct lz_shard_collective *next;
} lz_shard_collective;

typedef struct lz_partitioned {
    lz_func *local; /* one parameter more than f, the last: the number of the partition, ui32[] */
    uint32_t nin, nout;                     /* of f */
    const lz_sharding **in, **out;          /* of f's parameters and results */
    const lz_shard_collective *collectives; /* in `notes` */
    lz_arena notes;
    bool later; /* marks of state came last (lz_partition_step) */
} lz_partitioned;

/* The local function of f on the mesh. Collectives of it have groups of partition numbers,
 * use_global_device_ids. Errors: LZ_EUNSUPPORTED naming the operation, or the tiles whose elements'
 * places are beyond i32; LZ_EMEM. */
lz_status lz_partition(const lz_func *f, const lz_mesh *mesh, lz_partitioned *out);
/* The same of a step of training: is_state[nparam] says which parameters the function takes over to
 * make its results in. Where marks of state compete with others for axes they come first or last,
 * whichever sends less. NULL: nothing is known. */
lz_status lz_partition_step(const lz_func *f, const lz_mesh *mesh, const bool *is_state,
                            lz_partitioned *out);
/* The same where it is known which of them sends less, at half the cost. later: out->later of
 * lz_partition_step on an equal function; another value gives a function that is right, too. */
lz_status lz_partition_step_again(const lz_func *f, const lz_mesh *mesh, const bool *is_state,
                                  bool later, lz_partitioned *out);
/* The same where shardings are given: any of them, of every value, are right; only what it costs
 * depends on them. */
lz_status lz_partition_as(const lz_func *f, const lz_mesh *mesh, const lz_shardings *shardings,
                          lz_partitioned *out);
void lz_partitioned_free(lz_partitioned *p);
/* There are no collectives to report any more: the function that was partitioned may go. */
void lz_partitioned_drop_notes(lz_partitioned *p);

/* Bytes of a collective of one partition, as costs count them: by ring and pairwise algorithms. */
typedef struct lz_shard_traffic {
    uint32_t group_size; /* of the largest group; 1 or 2 of a permute: whether anything moves */
    uint32_t axes;       /* of the mesh, along which members of a group differ */
    bool exact;          /* groups are all that differ along those */
    uint64_t operand_bytes, result_bytes, sent_bytes;
} lz_shard_traffic;
/* Errors: LZ_EINVAL, LZ_EMEM. */
lz_status lz_shard_traffic_of(const lz_sig *sig, const lz_mesh *mesh, lz_shard_traffic *out);

/* The collectives of a partitioned function, two lines and one for each cause: what is sent, which
 * value was moved and where to, who wanted it, and the marks behind both; totals by kind at the
 * end. Errors: LZ_EMEM, LZ_EINVAL. */
lz_status lz_shard_report_collectives(const lz_partitioned *p, const lz_mesh *mesh, lz_buf *out);
/* The totals only. Nothing where there are no collectives. */
lz_status lz_shard_report_totals(const lz_partitioned *p, const lz_mesh *mesh, lz_buf *out);
/* Of what is on every device though no mark says so, and is more than 1 MiB, or more than 64 KiB
 * and a tenth of `memory`, the largest: a value, its bytes, the marks and the lines behind it, and
 * how much else there is. Nothing where all is well. state: as lz_partition_step's. */
lz_status lz_shard_report_unasked(const lz_func *f, const lz_mesh *mesh, const lz_partitioned *p,
                                  const bool *state, uint64_t memory, lz_buf *out);
/* Both reports as one object of JSON. p NULL: of values only. */
lz_status lz_shard_report_json(const lz_shardings *s, const lz_mesh *mesh, const lz_partitioned *p,
                               lz_buf *out);
#endif
