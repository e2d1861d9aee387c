/* plan.h - what a module is compiled to: kernels, the order in which they run, and where every
 * value is placed. A plan holds no address, path or time. It is serialised into program entries
 * together with the encodings of its kernels, so a damaged or missing kernel entry is recompiled
 * from the plan alone. Program > executable > plan_exec > plan: a program (runtime/exec) is the
 * cached entry of a graph, an executable (backends/common) a program on a device, a plan_exec
 * (plan_exec.h) its launch list.
 * Units: bytes. Threads: immutable once made. */
#ifndef LZ_LOWER_PLAN_PLAN_H
#define LZ_LOWER_PLAN_PLAN_H
#include "ir/custom_call.h"
#include "ir/participants.h"
#include "ir/trip_count.h"
#include "lower/loops/to_loops.h"
#include "lower/options.h"

typedef enum lz_bufref_kind {
    LZ_BUFREF_INPUT,  /* argument `index` */
    LZ_BUFREF_OUTPUT, /* result `index` */
    LZ_BUFREF_TEMP,   /* offset in the arena */
    LZ_BUFREF_CONST   /* offset in the constant block */
} lz_bufref_kind;
typedef struct lz_bufref {
    lz_bufref_kind kind;
    uint32_t index; /* input or output number; 0 otherwise */
    /* bytes from the start of the argument, result, arena or constant block */
    uint64_t offset;
    uint64_t nbytes; /* extent the kernel may touch from offset */
} lz_bufref;

/* Control flow runs other plans. Buffers of such a step: the results (as many as the second plan
 * has), the operands (those of the plans), then memory to work in (lz_step_work). A while copies
 * the values it carries into the results first, unless both are one memory, and goes on from
 * there. One whose trip_count are known has no plan of its condition. */
#define LZ_NO_PLAN UINT32_MAX
/* A call has the results and the operands of a custom_call, and a collective those of its
 * operation, and so has a routine (lower/routine.h). Collectives are in program order, and so are
 * steps that run plans with collectives. One that others may go on beside is two steps of the same
 * buffers: between its start and its done no step touches its results or writes its operands, and
 * at most LZ_STARTED_MAX are between the two at a time. */
typedef enum lz_step_kind {
    LZ_STEP_KERNEL,
    LZ_STEP_WHILE,
    LZ_STEP_IF,
    LZ_STEP_CALL,
    LZ_STEP_COLLECTIVE,
    LZ_STEP_ROUTINE,
    LZ_STEP_START,
    LZ_STEP_DONE
} lz_step_kind;
enum { LZ_STARTED_MAX = 32 };
/* Where partitions meet. */
typedef struct lz_step_collective {
    const lz_sig *sig;
    lz_participants who;
} lz_step_collective;
typedef struct lz_step {
    lz_step_kind kind;
    uint32_t kernel; /* index into plan->kernels (distinct canonical kernels) */
    /* index into plan->subs. While: condition, body; if: what runs on true, on false */
    uint32_t sub[2];
    const lz_ffi_target *call; /* of a call, else NULL */
    const lz_step_collective
        *collective;          /* of such a step, its start or done (the same), else NULL */
    uint32_t start;           /* of a done: the step that it is the done of */
    const lz_sig *routine;    /* the operation of such a step, else NULL */
    lz_trip_count trip_count; /* of a while */
    uint32_t nbuf, narg;
    lz_bufref *bufs;
    int64_t *args;
    /* estimate, for the decision to run on several threads and for reports */
    uint64_t flops, bytes;
    const char *name; /* debug: fused ops */
    /* What it computes, the costliest first: numbers and costs are stored, and the rest is that of
     * the graph the plan was last made or found for (lz_plan_find_nodes). A plan of a region has
     * the nodes of the region; steps of what a pass made loops of have that node. */
    uint32_t nnode;
    lz_step_node *nodes;
} lz_step;

typedef struct lz_plan lz_plan;
struct lz_plan {
    lz_arena arena;
    uint32_t nin, nout, nkernel, nstep;
    const lz_type **in_type, **out_type;
    lz_step_node *in_node; /* of arguments (lz_plan_find_nodes); NULL: not known */
    /* out_alias[k] = input whose donated buffer result k takes over, or -1 (then steps address it
     * as OUTPUT k anyway: the executor points OUTPUT k at the donated buffer, copying first when
     * the caller did not donate) */
    int32_t *out_alias;
    uint64_t temp_bytes, const_bytes;
    void *consts; /* 64-byte aligned */
    lz_kernel **kernels;
    lz_step *steps;
    /* how many run it together; 0: one device alone. Its collectives are among so many */
    uint32_t partitions;
    bool numbered;  /* the last argument is the number of the partition, which the executor gives */
    lz_plan **subs; /* plans of regions; nested at most LZ_MAX_REGION_DEPTH deep */
    uint32_t nsub;
};

/* The whole compiler front: passes (pipeline.c), fusion, loops, schedule, buffers. Of a function
 * that o->partitions partitions run together, PARTITION_ID becomes an argument more
 * (lz_plan.numbered), and collectives in which nobody meets go. Errors: LZ_EMEM, LZ_EUNSUPPORTED
 * naming the op; those of lz_func_bind_partitions. */
lz_status lz_lower(const lz_func *f, const lz_lower_options *o, lz_plan **out);
void lz_plan_free(lz_plan *p);
void lz_plan_print(const lz_plan *p, lz_buf *out);
/* What its steps are estimated to do in a run: operations, and bytes that they move. A loop counts
 * by its rounds, where these are known. */
typedef struct lz_plan_cost {
    double flops, bytes;
} lz_plan_cost;
lz_plan_cost lz_plan_cost_of(const lz_plan *p);
uint64_t lz_plan_work(const lz_plan *p); /* the sum of both */
lz_status lz_plan_verify(const lz_plan *p);
void lz_plan_serialize(const lz_plan *p, lz_buf *out);
/* untrusted bytes; verified */
lz_status lz_plan_deserialize(const void *p, size_t n, lz_plan **out);
/* Gives the nodes of all steps the operations, lines and name scopes that they have in f, which the
 * plan is of. Before other threads have the plan. (plan_nodes.c) */
void lz_plan_find_nodes(lz_plan *p, const lz_func *f);
/* The same of a plan that is nobody's: all that it does is done for `node`. */
void lz_plan_set_nodes(lz_plan *p, const lz_step_node *node);
/* "lgamma 92% slowop.c:8 (blocks.0)": node k of a step, its share, its line and its scope; nothing
 * where its operation is not known. */
void lz_step_print_node(const lz_step *s, uint32_t k, lz_buf *out);
double lz_step_share(const lz_step *s, uint32_t k); /* 0..1 */
/* Whether a plan read from disk can be that of `f` compiled with these donations (by parameter;
 * NULL: none): parameters, results, what takes over what, calls of the program's functions.
 * LZ_ECORRUPT says what differs. */
lz_status lz_plan_check_of(const lz_plan *p, const lz_func *f, const bool *donate);
/* lz_plan_deserialize of a plan that must be one of f (lz_plan_check_of; f NULL: of any) that so
 * many partitions run. */
lz_status lz_plan_deserialize_of(const void *p, size_t n, const lz_func *f, const bool *donate,
                                 uint32_t partitions, lz_plan **out);
/* The record of a collective among n, in the plan's arena. Errors: as lz_participants_of. */
lz_status lz_step_collective_new(lz_plan *p, const lz_sig *sig, const lz_step_collective **out);
/* Whether a plan, or one of a region in it, has a collective. */
bool lz_plan_meets(const lz_plan *p);
/* Whether partitions come to a collective in the step: all of it, or its start. */
static inline bool lz_step_begins_collective(const lz_step *s)
{
    return s->kind == LZ_STEP_COLLECTIVE || s->kind == LZ_STEP_START;
}
/* The same, or its done. */
static inline bool lz_step_is_collective(const lz_step *s)
{
    return lz_step_begins_collective(s) || s->kind == LZ_STEP_DONE;
}
/* Whether buffer i of a step is written. The results of a step without a kernel and its work memory
 * are, its operands are read. */
bool lz_step_writes(const lz_plan *p, const lz_step *s, uint32_t i);
/* Bytes written by the kernels of the plan itself that only copy a buffer: of a body, in each
 * round. */
uint64_t lz_plan_copied_bytes(const lz_plan *p);
/* ---- steps of control flow ---- */
/* The memory a body's result k is made in when it does not take over argument k, so that both are
 * there for a while: at off[k] of the step's work memory; off[k] is UINT64_MAX for the others. The
 * predicate is at 0, the plans' temporaries start at the offset returned. off: room for body->nout,
 * or NULL. False: the sizes overflow. */
bool lz_while_layout(const lz_plan *body, uint64_t *off, uint64_t *temps);
/* Bytes of work memory; 64-byte aligned. False: they overflow. */
bool lz_step_work(const lz_plan *p, const lz_step *s, uint64_t *nbytes);

/* Runs a plan with the loop-IR interpreter (tests, `--device loop`). in[] / out[] are dense host
 * arrays. */
lz_status lz_plan_run(const lz_plan *p, const void *const *in, void *const *out);
/* The same of p->partitions partitions: in[q], out[q]. */
lz_status lz_plan_run_partitions(const lz_plan *p, const void *const *const *in,
                                 void *const *const *out, lz_collective_uses *uses);
#endif
