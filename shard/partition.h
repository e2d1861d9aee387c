/* partition.h - between the files of partition*.c: one function (the program, or a region of it)
 * while its local one is built.
 * Every value has forms: local values at some placement. The first is how its operation made it,
 * which may be unreduced or placed otherwise than propagation says; who uses it asks for the
 * placement he needs, and what that took is remembered as another form. So a value is resharded
 * when, and as often as, it is needed, and sums stay in parts until then.
 * Threads: thread-compatible. */
#ifndef LZ_SHARD_PARTITION_H
#define LZ_SHARD_PARTITION_H
#include "ir/attr.h"
#include "shard/local.h"
#include "shard/rules.h"
#include "shard/shard.h"

typedef struct lz_form {
    const lz_sharding *at;
    lz_val v;
    struct lz_form *next;
} lz_form;

typedef struct lz_partial {
    const lz_func *f;      /* global */
    const lz_shardings *s; /* of f; NULL: nothing is known, all is whole */
    lz_local l;
    uint32_t manual;                    /* axes along which f's types are local already */
    lz_arena *arena;                    /* for as long as l.f is built */
    lz_arena *scratch;                  /* for one instruction */
    lz_form **forms;                    /* [ninst] */
    lz_form **multi;                    /* [ninst]: of each result of an operation with several */
    lz_val *same;                       /* [ninst]: the value it is an alias of, or itself */
    bool *free;                         /* [ninst]: each use makes its own */
    lz_val *mark;                       /* [ninst]: the mark that is its only use, or LZ_NOVAL */
    uint32_t *uses;                     /* [ninst] */
    lz_val *first_result, *next_result; /* [ninst]: lz_func_result_lists */
    lz_arena *notes;          /* of why collectives are there: for as long as the result */
    const lz_shard_place *in; /* where f is; NULL: it is the program */
    lz_val now;               /* the instruction that is made; LZ_NOVAL: result `now_result` */
    uint32_t now_result;
} lz_partial;

/* ---- values (partition.c) ---- */
static inline const lz_type *lz_part_type(const lz_partial *p, lz_val v)
{
    return lz_val_type(p->f, v);
}
/* Where propagation wants it, as a placement of this mesh; NULL: it says nothing. */
const lz_sharding *lz_part_at(const lz_partial *p, lz_val v);
/* The same, but replicated for NULL. */
const lz_sharding *lz_part_at_least(const lz_partial *p, lz_val v);
/* Where the operation made it; NULL: free. */
const lz_sharding *lz_part_now(const lz_partial *p, lz_val v);
/* Bytes, and a little per launch, that it takes to have it there. */
double lz_part_cost(const lz_partial *p, lz_val v, const lz_sharding *at);
lz_val lz_part_want(lz_partial *p, lz_val v, const lz_sharding *at);
void lz_part_give(lz_partial *p, lz_val v, const lz_sharding *at, lz_val local);
/* Result k of an operation with several, or the one result. */
void lz_part_give_result(lz_partial *p, lz_val v, uint32_t k, const lz_sharding *at, lz_val local);
/* Where propagation wants result k of an operation. */
const lz_sharding *lz_part_result_at(const lz_partial *p, lz_val v, uint32_t k);
/* The placement of nothing, with the function's manual axes. */
const lz_sharding *lz_part_replicated(const lz_partial *p, int rank);
/* All instructions of the function, whose parameters have been given. */
lz_status lz_part_walk(lz_partial *p);
/* What a walk needs of f. */
lz_status lz_part_begin(lz_partial *p, const lz_func *f, const lz_shardings *s);

/* ---- the order of a local function, before it is complete ---- */

/* Bytes that nobody misses: so much may be joined, or stay gathered, in any program. Tests change
 * it. */
extern uint64_t lz_shard_small;
/* Collectives of one kind and group that do not need each other become one of several operands.
 * *f is replaced (combine.c). */
lz_status lz_shard_combine(lz_func **f);
/* Sums that are cut come as early as they can. *f is replaced (order.c). */
lz_status lz_shard_order(lz_func **f);
/* Gathered values that are needed again much later are gathered again then, where they take much
 * memory. *f is replaced (regather.c). */
lz_status lz_shard_regather(lz_func **f, lz_arena *notes);
/* All three, of a local function without what is not used (partition.c). */
lz_status lz_part_arrange(lz_func **local, lz_arena *notes);

/* ---- notes on collectives (notes.c): they hang on the instructions of local functions, in place
 * of sites, till the function is complete ---- */

/* Collectives of the local function from instruction `first` on that have no note are for value v,
 * which was at `from`, at `to`; from NULL: they are the operation's own. */
void lz_note_new(lz_partial *p, lz_val first, lz_val v, const lz_sharding *from,
                 const lz_sharding *to);
/* What is in the regions of an operation of control. */
void lz_note_regions(lz_partial *p, lz_val local, const lz_shard_collective *inner);
/* The note of a is of b, too. */
void lz_note_join(const lz_site *a, const lz_site *b);
/* A note of its own for the same; NULL for NULL, or when there is no memory. */
const lz_site *lz_note_copy(lz_arena *a, const lz_site *s);
/* Takes all notes off a complete function and appends them to the list, which ends at *end (NULL:
 * there is none yet). Instructions have the sites of their causes then. False: no memory. */
bool lz_note_take(lz_arena *a, lz_func *local, const lz_shard_place *in,
                  const lz_shard_collective **list, lz_shard_collective **end);
/* Then gives all other instructions the sites of the operations of f that they are for. */
void lz_note_lines(lz_func *local, const lz_func *f);

/* ---- one operation (partition_choose.c) ---- */
typedef struct lz_part_op {
    lz_partial *p;
    lz_val v;
    const lz_sig *sig;
    const lz_val *opnd;
    const lz_rule *r;
    const lz_sharding **want; /* [nresult]: where propagation wants the results, or NULL */
    bool *may;                /* [nfactor]: whether it can be spread */
    /* what was chosen: */
    lz_axis_list *axes;     /* of each factor */
    const lz_sharding **at; /* [nopnd + nresult] */
    uint32_t unreduced;     /* of the results */
    uint32_t summed;        /* those of them along which the operation itself reduces */
    lz_op reduction;
    lz_val *local; /* [nopnd]: the operands there */
} lz_part_op;
/* Axes for every factor: of the few candidates the one that sends the fewest bytes. */
lz_status lz_part_choose(lz_part_op *o);
/* Which factors can be spread, o->may: others are made whole. */
lz_status lz_part_find_factors(lz_part_op *o);
/* Factors get the axes that a tensor has, where they have none and can be spread. */
void lz_part_project(const lz_part_op *o, lz_axis_list *axes, uint32_t tensor,
                     const lz_sharding *s);
/* Takes axes away that would leave a device more than one run of the elements of a dimension of
 * several factors; whether there were any. */
bool lz_part_clear_broken(const lz_part_op *o, lz_axis_list *axes);
/* Where a tensor is with these axes; NULL with LZ_EMEM. */
const lz_sharding *lz_part_place(const lz_part_op *o, const lz_axis_list *axes, uint32_t tensor,
                                 uint32_t unreduced);
/* The axes along which the results are in parts then; sets o->reduction. */
uint32_t lz_part_sums(lz_part_op *o, const lz_axis_list *axes);

/* ---- what is linear (partition_linear.c) ---- */
/* Axes along which operands stay unreduced through the operation, if used axes are not among them;
 * *mask: which operands must be so, too. */
uint32_t lz_part_carries(const lz_part_op *o, uint32_t used, int64_t result_bytes, uint32_t *mask,
                         lz_op *reduction);

/* ---- building it (partition_op.c, partition_index.c, partition_control.c) ---- */
/* The operation on o->local, of the chosen axes; gives the results. */
lz_status lz_part_build(lz_part_op *o);
lz_status lz_part_while(lz_partial *p, lz_val v);
lz_status lz_part_if(lz_partial *p, lz_val v);
lz_status lz_part_manual(lz_partial *p, lz_val v); /* partition_manual.c */
lz_status lz_part_effect(lz_partial *p, lz_val v); /* partition_effect.c */
lz_status lz_part_build_same(lz_part_op *o);       /* with nothing but local extents */
lz_status lz_part_build_gather(lz_part_op *o);
lz_status lz_part_build_scatter(lz_part_op *o);
lz_status lz_part_build_update(lz_part_op *o);
/* Whether indices of a gather or scatter name (of a gather, single) elements of dimension d of
 * operand 0. */
bool lz_part_is_indexed(const lz_part_op *o, int64_t d);

/* ---- tiles that need their neighbours' elements (partition_window.c) ---- */
bool lz_part_halo_may(const lz_part_op *o, uint32_t factor);
/* Bytes of all permutes of an operation placed at o->at, and a little for each. */
double lz_part_halo_cost(const lz_part_op *o, const lz_axis_list *axes);
/* Operands become what their tiles need, and the attribute says so; *done: the results are given.
 */
lz_status lz_part_build_halo(lz_part_op *o, lz_attr_any *a, bool *done);

/* A value that each use makes, at a placement that is reduced. */
lz_val lz_part_make_free(lz_partial *p, lz_val v, const lz_sharding *at);
#endif
