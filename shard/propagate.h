/* propagate.h - between the files of shard/ that propagate shardings.
 * A node is a value, or several that must be placed alike; it has one sharding, which grows. An
 * edge joins the nodes of an operation by the operation's rule: of one with regions, operands and
 * what regions give with what regions take and results. Edges are visited from a worklist until
 * nothing changes, first those that never cost communication.
 * Threads: thread-compatible. */
#ifndef LZ_SHARD_PROPAGATE_H
#define LZ_SHARD_PROPAGATE_H
#include "base/hash.h"
#include "base/vec.h"
#include "shard/rules.h"
#include "shard/shard.h"

#define LZ_PROP_NONE UINT32_MAX

typedef struct lz_prop_node {
    const lz_sharding *s; /* NULL: nothing is known, everything is open */
    const lz_type *type;
    uint32_t up;    /* of several that became one: towards the one that stays */
    uint32_t frame; /* of its first value */
    lz_val val;
    bool made, whole; /* of nothing that is spread (propagate_made.c); on each device by a mark */
    lz_shard_cause cause;
} lz_prop_node;

enum { LZ_PROP_FORWARD = 1, LZ_PROP_BACKWARD = 2, LZ_PROP_BOTH = 3 };
typedef struct lz_prop_edge {
    const lz_rule *rule;
    uint32_t first;  /* of its nodes, in lz_prop.ends: one for each tensor of the rule */
    uint32_t manual; /* of operand 0, or if below the result: axes that the other does not see */
    bool manual_result;
    uint8_t directions; /* at most */
    bool one_user;      /* of operands */
    bool feeds;         /* some operand is `made` */
    bool queued, clash; /* in the worklist; something was left to the aggressive step */
    uint32_t frame;
    lz_val by;
} lz_prop_edge;

/* A function, or a region at one instruction. */
typedef struct lz_prop_frame {
    const lz_func *f;
    lz_shardings *out;
    uint32_t manual; /* axes along which types are local: of the manual computations around it */
    uint32_t *node;  /* [ninst]: of a value; the first of several results; NONE: each use has its
                        own */
} lz_prop_frame;

/* A value of a sharding group. */
typedef struct lz_prop_member {
    int64_t group;
    uint32_t node;
} lz_prop_member;

typedef struct lz_prop {
    const lz_mesh *mesh;
    lz_arena *arena; /* of what is given back */
    lz_arena own;    /* of the rest */
    LZ_VEC(lz_prop_node) nodes;
    LZ_VEC(lz_prop_edge) edges;
    LZ_VEC(uint32_t) ends;
    LZ_VEC(lz_prop_frame) frames;
    LZ_VEC(lz_prop_member) members;
    LZ_VEC(uint32_t) list;             /* worklist: a stack */
    lz_map rules;                      /* by signature, and of pairs by type */
    uint32_t *first_edge, *node_edges; /* of node n: node_edges[first_edge[n] .. first_edge[n+1]) */
    void *scratch;
    lz_map later;        /* values whose marks wait for those of others: lz_prop_delay */
    int priorities;      /* of users: the highest, and 1 */
    uint32_t present[8]; /* bit p: some mark has priority p */
    uint64_t visits;     /* of edges, for tests */
} lz_prop;

/* Before lz_prop_run: the marks of state, and of values that are like one of it and at the same
 * place (gradients), wait until all others have been propagated. State is what is a parameter, of
 * which `is_state` is true, and a result, with equal marks. *any: there is some, and there are
 * marks along the same axes on something else, so that it may matter. */
lz_status lz_prop_delay(lz_prop *p, const lz_func *f, const bool *is_state, bool *any);
/* Of a mark: the type and the place of its value. */
lz_hash lz_prop_place_key(const lz_inst *mark);
/* The same place, of one priority less. */
const lz_sharding *lz_prop_later(const lz_sharding *s);
/* All of it: what lz_shard_propagate does, and leaves for a look. */
lz_status lz_prop_run(lz_prop *p, const lz_func *f, lz_shardings **out);
void lz_prop_free(lz_prop *p);

/* Nodes, edges and frames of a function (propagate_graph.c). Errors: LZ_EMEM, LZ_EINVAL. */
lz_status lz_prop_build(lz_prop *p, const lz_func *f, lz_shardings **out);
static inline uint32_t lz_prop_find(const lz_prop *p, uint32_t n)
{
    while (n != LZ_PROP_NONE && p->nodes.data[n].up != n)
        n = p->nodes.data[n].up;
    return n;
}

/* What a stage of propagation lets an edge do. */
enum { LZ_PROP_STAGES = 5, LZ_PROP_LAST = LZ_PROP_STAGES - 1 };
typedef struct lz_prop_step {
    int stage, priority;
    bool aggressive;
} lz_prop_step;
/* Which directions a factor goes in a stage; 0: none yet. */
int lz_prop_directions(const lz_prop_edge *e, const lz_rule_factor *f, int stage);
/* One visit (propagate_step.c): nodes that change are queued by lz_prop_changed. */
lz_status lz_prop_visit(lz_prop *p, uint32_t edge, const lz_prop_step *step);
/* The bytes that a visit of any of the edges needs. */
size_t lz_prop_scratch(const lz_prop *p);
lz_status lz_prop_queue(lz_prop *p, uint32_t edge);
/* The node has a new sharding, because of another one: queues its other edges. */
lz_status lz_prop_changed(lz_prop *p, uint32_t node, const lz_sharding *s, const lz_prop_edge *by,
                          uint32_t from);

/* Values that are made of nothing that is spread (propagate_made.c): found before propagation,
 * given their shardings behind it. */
lz_status lz_prop_find_made(lz_prop *p);
lz_status lz_prop_give_made(lz_prop *p);
/* Calls fn for each such operand with what the others of the edge let it have; giver: one of them
 * (propagate_step.c). */
lz_status lz_prop_want(lz_prop *p, uint32_t edge,
                       lz_status (*fn)(lz_prop *p, uint32_t node, const lz_sharding *want,
                                       uint32_t edge, uint32_t giver));

/* The sharding of a mark, of this mesh. NULL: LZ_EINVAL naming it. */
const lz_sharding *lz_shard_mark(const lz_mesh *mesh, const lz_sharding *s, const lz_type *type);
#endif
