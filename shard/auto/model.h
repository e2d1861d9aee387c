/* model.h - between the files of shard/auto/: a function as variables with choices and costs.
 * Nodes are those of propagation (shard/propagate.h). A variable is a parameter, another value that
 * nothing here makes (of a region, or marked), or an operation whose result no single operand
 * covers; its choices are where the mesh's axes go: to dimensions of the value, or to factors of
 * the operation's rule. Operations that are covered by an operand follow it: for each choice of its
 * variable their own placements are known, so that elementwise chains and moves add no variables.
 * A choice costs time: the work that it does not divide, sums, and values that are moved between
 * operations of the same variable. An edge costs moving a value from where one variable makes it
 * to where another wants it, by the plan that the partitioner itself would take.
 * Threads: thread-compatible. */
#ifndef LZ_SHARD_AUTO_MODEL_H
#define LZ_SHARD_AUTO_MODEL_H
#include "shard/auto/auto.h"
#include "shard/auto/solve.h"
#include "shard/partition.h"
#include "shard/propagate.h"

enum {
    LZ_AUTO_UNITS = 3,  /* axes that are placed by themselves; further ones go with the last */
    LZ_AUTO_MOST = 256, /* choices of a variable */
    LZ_AUTO_NONE = UINT32_MAX
};

/* What is placed: the axes of the mesh. */
typedef struct lz_auto_units {
    int n;
    lz_axis_list axes[LZ_AUTO_UNITS];
    uint32_t mask[LZ_AUTO_UNITS];
    int64_t size[LZ_AUTO_UNITS];
} lz_auto_units;

/* Placements for each choice of a variable; interned: equal lists are one. */
typedef struct lz_auto_list {
    uint32_t n;
    const lz_sharding *at[];
} lz_auto_list;

/* How an operation can be done. */
typedef struct lz_auto_space {
    uint32_t n;                /* ways */
    const lz_auto_list **want; /* [nopnd]: where operands are; NULL: they have no node */
    const lz_auto_list **give; /* [nresult] */
    double *seconds, *light;   /* [n]: of the operation itself; without work that is no product */
} lz_auto_space;

typedef struct lz_auto_node {
    uint32_t var; /* LZ_AUTO_NONE: not yet */
    const lz_auto_list *at;
    double cover; /* elements that the choices of the variable place */
} lz_auto_node;

typedef struct lz_auto_var {
    uint32_t node; /* that it began with */
    uint32_t n;
    double *own, *memory; /* [n] */
    double *light;        /* [n]: own without work that is no product */
    bool param;           /* of the function */
    uint32_t number;      /* which */
    bool is_state;        /* it is a result, too */
} lz_auto_var;

typedef struct lz_auto_model {
    const lz_func *f;
    const lz_mesh *mesh;
    lz_auto_machine machine;
    lz_auto_units units;
    lz_arena *arena; /* for as long as the model */
    lz_arena scratch;
    lz_prop prop;
    lz_shardings *shardings; /* of prop: no placements yet */
    double *rounds;          /* of each frame: how often it is run */
    lz_auto_node *nodes;     /* [prop.nodes] */
    lz_val *state_of;        /* [nresult]: the parameter that it takes the place of, or LZ_NOVAL */
    LZ_VEC(lz_auto_var) vars;
    LZ_VEC(lz_choice_edge) edges;
    lz_map lists, spaces, tables, moves, pairs;
} lz_auto_model;

/* ---- placements (space.c) ---- */
void lz_auto_find_units(const lz_mesh *mesh, lz_auto_units *out);
/* Placements of a value: of nothing, or those that begin with `base` (which may be NULL) where that
 * is open. manual: axes that may not be used. Errors: LZ_EMEM. */
lz_status lz_auto_placements(lz_auto_model *m, const lz_type *t, const lz_sharding *base,
                             uint32_t manual, const lz_auto_list **out);
/* The interned list. NULL: no memory. */
const lz_auto_list *lz_auto_list_get(lz_auto_model *m, const lz_sharding *const *at, uint32_t n);
/* The ways of an operation of its own choice; of one that follows operand k, which is at `at`:
 * one for each of its placements. Errors: LZ_EMEM. */
lz_status lz_auto_ways(lz_auto_model *m, const lz_sig *sig, const lz_rule *r, uint32_t manual,
                       const lz_auto_space **out);
lz_status lz_auto_following(lz_auto_model *m, const lz_sig *sig, const lz_rule *r, uint32_t k,
                            const lz_auto_list *at, uint32_t manual, const lz_auto_space **out);
/* The operand that the operation follows; -1: none. cover: of each operand, 0 of those without a
 * node. */
int lz_auto_leader(const lz_rule *r, const double *cover);
/* Seconds to have a value elsewhere. */
double lz_auto_move(lz_auto_model *m, const lz_type *t, const lz_sharding *from,
                    const lz_sharding *to);

/* ---- what is computed (work.c) ---- */
/* Operations of an instruction: of products two for each product of elements, else one for each
 * element. */
double lz_auto_work(const lz_sig *sig);
/* Whether that is more than one for an element of any of its values. */
bool lz_auto_is_product(const lz_sig *sig);
/* Of all of a function, loops by their rounds. */
double lz_auto_work_of(const lz_func *f);

/* ---- the model (graph.c) ---- */
lz_status lz_auto_model_build(lz_auto_model *m, const bool *is_state);
void lz_auto_model_free(lz_auto_model *m);
/* For each result the parameter of its type that it is made of by elementwise operations: what the
 * next step gets in its place; LZ_NOVAL: none. is_state: only of these; NULL: of all. (state.c) */
lz_status lz_auto_find_state(const lz_func *f, const bool *is_state, lz_arena *a, lz_val *of);

/* ---- candidates, partitioned (real.c) ---- */
/* The marks of a candidate: by number, NULL: none. */
typedef struct lz_auto_trial {
    const char *origin;
    const lz_sharding **param, **value, **result; /* [nparam], [ninst], [nresult] */
    lz_auto_cost cost;
    bool fits;
    bool apart; /* equal layers may be placed otherwise */
} lz_auto_trial;
typedef struct lz_auto_real {
    const lz_func *f;
    const lz_mesh *mesh;
    lz_auto_machine machine;
    uint64_t memory;
    const bool *is_state;
    uint32_t left, done; /* partitions that may still be made, and those that were */
    lz_map known;        /* trials by their marks: each is made once */
    lz_arena *arena;
} lz_auto_real;
lz_status lz_auto_trial_new(lz_auto_real *x, const char *origin, lz_auto_trial **out);
lz_status lz_auto_trial_copy(lz_auto_real *x, const char *origin, const lz_auto_trial *from,
                             lz_auto_trial **out);
/* Partitions the function with its marks; *had: the cost is there. False: none are left. */
lz_status lz_auto_try(lz_auto_real *x, lz_auto_trial *t, bool *had);
/* Where parameters and results are with these marks; the lists are in the arena. */
lz_status lz_auto_places(const lz_auto_real *x, const lz_auto_mark *marks, uint32_t n, lz_arena *a,
                         const lz_sharding ***in, const lz_sharding ***out);
/* Whether a is better: it fits, it takes less time, it needs less memory. */
bool lz_auto_better(const lz_auto_trial *a, const lz_auto_trial *b);
lz_status lz_auto_trial_marks(const lz_auto_real *x, const lz_auto_trial *t, lz_arena *a,
                              lz_auto_mark **out, uint32_t *n);
#endif
