/* to_loops_impl.h - shared by the files that build a kernel from a group: the kernel so far, and
 * the stage under construction.
 * Threads: a build belongs to one thread. */
#ifndef LZ_LOWER_LOOPS_TO_LOOPS_IMPL_H
#define LZ_LOWER_LOOPS_TO_LOOPS_IMPL_H
#include "lower/loops/to_loops.h"

typedef struct lz_group_build {
    const lz_fusion *fu;
    const lz_group *g;
    lz_kernel *k;
    lz_emit e;
    uint32_t nbuf;
    uint32_t buf[LZ_KBUF_MAX];
    lz_dtype dtype[LZ_KBUF_MAX];
    uint32_t level;                /* of the stage being made; LZ_NONE: the last one */
    bool full;                     /* it has the inner loops */
    uint32_t current;              /* node being done */
    uint32_t *red_stage, *red_acc; /* by position in the group */
    uint32_t *stored_at;           /* by position: stage that stored it, LZ_NONE not yet */
    uint32_t *row_stage,
        *row_at;   /* by position: stage that keeps its values as a row, and which one */
    uint32_t nrow; /* rows of the stage being made */
    int32_t row[LZ_ROW_MAX];
    bool row_dot;                 /* it is a dot whose sums are a row */
    uint8_t loop_of[LZ_LOOP_MAX]; /* of a group axis */
    int32_t dot_a, dot_b;
    uint64_t flops;
    LZ_VEC(lz_step_node) nodes; /* what it computes; may have one several times */
} lz_group_build;

/* By position in the group. */
lz_fusion_node *lz_build_node(const lz_group_build *b, uint32_t i);
lz_status lz_build_point(lz_group_build *b, lz_fusion_node *n); /* computes and stores it */
lz_status lz_build_reduction(lz_group_build *b, lz_fusion_node *n, uint32_t i); /* accumulates */
lz_status lz_build_results(lz_group_build *b,
                           lz_fusion_node *n); /* stores what a reduction or product gave */
/* The map of a node's dimensions from..from+count-1 in the kernel's loops. */
void lz_build_map(const lz_group_build *b, const lz_fusion_node *n, int from, int count,
                  lz_ixmap *m);
/* Begins a stage; full: with the inner loops. */
void lz_build_open(lz_group_build *b, uint32_t level, bool full);
/* LZ_EINTERNAL where a rule could not go on. */
lz_status lz_build_stopped(const lz_group_build *b);
/* Stores scalar op `value`, the node's at m, into buf. */
lz_status lz_build_store(lz_group_build *b, const lz_fusion_node *n, lz_ixmap *m, uint32_t buf,
                         int32_t value);
/* A stage over all points of the first node, which is no product and no reduction. */
lz_status lz_build_root(lz_group_build *b);
/* to_loops_rows.c: all stages of a group that is a sort, or a scan */
lz_status lz_build_sort(lz_group_build *b);
lz_status lz_build_scan(lz_group_build *b);
/* Moves what the emitter has gathered into a stage of the kernel. */
lz_status lz_build_close(lz_group_build *b);
/* What there is one of per outer point. */
lz_status lz_build_last(lz_group_build *b);

/* to_loops_cost.c: counts what the finished stage does; what a node costs beyond that. At the end:
 * each node once, the costliest first. */
lz_status lz_build_count_costs(lz_group_build *b, const lz_stage *st);
lz_status lz_build_add_cost(lz_group_build *b, lz_val node, uint64_t cost);
void lz_build_order_costs(lz_group_build *b);

/* to_loops_padding.c: the borders of a load of v at m */
void lz_build_borders(const lz_group_build *b, lz_val v, const lz_ixmap *m, lz_access *a);
/* Loops l and l + 1, of extent `inner`, become one; loop first + i becomes first + where[i]. */
void lz_loops_merge_padding(lz_access *a, uint32_t l, int64_t inner);
void lz_loops_permute_padding(lz_access *a, uint32_t first, uint32_t n, const uint8_t *where);

/* to_loops_b2b.c: the stages of a group with rows; top: the highest level of its nodes. */
lz_status lz_build_rows(lz_group_build *b, uint32_t top);
/* Before such a kernel is finished, instead of lz_loops_normalize. */
lz_status lz_loops_normalize_b2b(lz_kernel *k);
/* loop_normalize.c: whether the access runs through loops l and l + 1, of extent `inner`, as one.
 */
bool lz_access_as_one(const lz_access *a, uint32_t l, int64_t inner);
void lz_loops_merge_outer(lz_kernel *k);
/* stage_rewrite.c: a stage's scalar ops made anew. After begin, `to` gets the new number of each op
 * in turn, of what the caller adds to `sops` or of a copy; end puts them in the place of the old
 * ones. Both free everything when they fail. */
typedef struct lz_stage_rewrite {
    lz_stage *st;
    lz_soplist sops;
    int32_t *to; /* [nsop]: of the old ops */
} lz_stage_rewrite;
lz_status lz_stage_rewrite_begin(lz_stage_rewrite *x, lz_stage *st);
/* The op, on what its operands have become. */
int32_t lz_stage_rewrite_copy(lz_stage_rewrite *x, const lz_sop *old);
lz_status lz_stage_rewrite_end(lz_stage_rewrite *x, lz_kernel *k);
/* loop_constants.c: numbers of the program become arguments. */
lz_status lz_loops_free_constants(lz_kernel *k);
/* loop_short.c: the last outer loop, where it is very short, and the one around it become one. */
lz_status lz_loops_merge_short(lz_kernel *k);
/* Outer loop i becomes what loop order[i] was. */
void lz_loops_permute_outer(lz_kernel *k, const uint8_t *order);
#endif
