/* to_loops.h - from a group of nodes to one kernel of the loop IR.
 * Stages: lower, after fusion.   Threads: pure functions of an immutable fusion. */
#ifndef LZ_LOWER_LOOPS_TO_LOOPS_H
#define LZ_LOWER_LOOPS_TO_LOOPS_H
#include "lower/fusion/fusion.h"

/* A node that a step computes, or has a part in. */
typedef struct lz_step_node {
    lz_val node;   /* lz_func_node */
    lz_op op;      /* of the present graph, as what follows is (plan_nodes.c); NONE: not known */
    uint64_t cost; /* its share of the step is among all costs of the step */
    const lz_type *type; /* of its value, the first one; NULL: not known */
    const lz_site *site;
    const char *scope;
} lz_step_node;

typedef struct lz_lowered {
    lz_kernel *kernel;      /* finished; NULL for control flow */
    const lz_inst *control; /* of such a step; its buffers are as plan.h says */
    uint32_t nres;          /* of them, results */
    bool works;             /* and the last one is work memory */
    bool done;              /* it waits for what another step has started, and reads all of them */
    uint32_t until;         /* of that other one: the step that does; 0: it is over by itself */
    uint32_t nbuf;
    uint32_t *buf; /* the fusion's buffer that each buffer is */
    bool *alone;   /* of a while, by value it carries: no other operand is the same buffer */
    uint64_t flops;
    uint32_t nnode;
    lz_step_node *nodes; /* the costliest first */
} lz_lowered;
void lz_lowered_done(lz_lowered *l);
bool lz_lowered_writes(const lz_lowered *l, uint32_t i);
/* The buffer that buffer i may be written in place of, or -1. */
int32_t lz_lowered_inplace(const lz_lowered *l, uint32_t i);

/* prefer: by buffer, the buffer it should be written in place of, or LZ_NONE (may be NULL).
 * scratch: memory to work in, left empty. */
lz_status lz_to_loops(const lz_fusion *fu, const lz_group *g, const uint32_t *prefer,
                      lz_arena *scratch, lz_lowered *out);

/* loop_normalize.c: before a kernel is finished. Collapses loops that run through memory together,
 * orders inner loops by the memory they walk, chooses the vector loop, describes products. */
lz_status lz_loops_normalize(lz_kernel *k, bool product, int32_t dot_a, int32_t dot_b);
/* loop_inplace.c: finds what may be done in place. */
void lz_loops_inplace(lz_kernel *k, const uint32_t *buf, const uint32_t *prefer);
#endif
