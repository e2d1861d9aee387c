/* fusion.h - the fusion graph: which values are materialized, and which computations share a
 * kernel. A node is one computation whose result is materialized or accumulated: a pointwise
 * expression, a reduction, a dot, a scatter. Every other value is recomputed inside the nodes that
 * use it. A group is the set of nodes of one kernel. An axis is a loop. A dimension of a node is a
 * sequence of axes (mixed radix, outermost first; none for extent 1), so reshapes that split or
 * merge dimensions evenly need no index arithmetic. The nodes of a group share its axes: the outer
 * ones, and the inner ones that its reductions run over. A full node runs over all axes; any other
 * has one value per outer point.
 * Stages: lower, after the passes.   Threads: a fusion belongs to one thread. */
#ifndef LZ_LOWER_FUSION_FUSION_H
#define LZ_LOWER_FUSION_FUSION_H
#include "lower/loops/elemental.h"
#include "lower/options.h"

enum { LZ_VDIM_MAX = 2 * LZ_MAX_RANK };
#define LZ_NONE UINT32_MAX

typedef enum lz_fusion_kind {
    LZ_FUSION_POINT,
    LZ_FUSION_REDUCE,
    LZ_FUSION_DOT,
    LZ_FUSION_SCATTER,
    LZ_FUSION_SORT,
    LZ_FUSION_SCAN,
    LZ_FUSION_CONTROL /* no kernel: runs other plans, or a function, on whole buffers */
} lz_fusion_kind;
typedef enum lz_fusion_store {
    LZ_STORE_VALUE, /* the memory of v itself (of its results) */
    /* all of buffer dst, which has the shape of v: a second result, or what is then updated in
     * place */
    LZ_STORE_COPY,
    LZ_STORE_PIECE, /* part of the concatenation dst, from piece_at on */
    LZ_STORE_UPDATE /* part of the dynamic_update_slice dst */
} lz_fusion_store;

typedef struct lz_read {
    lz_val src; /* a value with memory */
    /* over the dimensions of src, by the node's axes, in lz_fusion.maps; NULL: not affine, or under
     * a guard */
    lz_ixmap *map;
} lz_read;

typedef struct lz_fusion_node {
    lz_fusion_kind kind;
    lz_fusion_store store;
    lz_val v;     /* what is computed */
    uint32_t dst; /* buffer written by the other kinds of store */
    /* LZ_STORE_VALUE: buffers of the results of v; LZ_NONE: nobody wants it */
    uint32_t nres, *res;
    uint32_t only; /* the place of res when there is one */
    int64_t piece_at;
    int64_t keep; /* of a partial sort: positions that are stored; 0: all */
    /* dimensions: of the result (scatter: of the updates), then those reduced over */
    int32_t rank, ninner;
    int64_t ext[LZ_VDIM_MAX];
    lz_axes ax;
    uint8_t first[LZ_VDIM_MAX + 1]; /* axes of dimension d: first[d] .. first[d+1]-1 */
    LZ_VEC(lz_read) reads;
    uint32_t nsop;
    bool costly; /* has an operation that is not to be done twice */
    uint32_t group;
    uint8_t axis[LZ_LOOP_MAX]; /* group axis of each axis */
    /* runs over the inner axes of the group (reductions: their operands do) */
    bool full;
    bool solo;       /* never shares a kernel */
    bool ordered;    /* has effects, or is a collective: runs where it stands among those */
    uint32_t then;   /* of them: the next one, LZ_NONE: it is the last */
    uint32_t level;  /* reductions that must be finished before it can run */
    uint32_t stores; /* bit k: result k is read outside of the group */
    bool stored;     /* any of them */
    bool spill;      /* stored only so that a later stage need not do it again */
    bool row;        /* the same, but as a row of the kernel, not in memory */
} lz_fusion_node;

typedef struct lz_group {
    LZ_VEC(uint32_t) nodes; /* ascending: operands before users */
    lz_axes ax;
    uint32_t nouter; /* axes 0..nouter-1 are outer */
    bool dead;       /* merged into another */
    bool product;    /* has a DOT node, and nothing but what is done with its sums */
    /* has DOT nodes whose sums, or whose left factors, are rows: after the outer axes come that of
     * the rows and those that only the products have */
    bool rows;
    /* has a REDUCE or DOT node; inner axes are those of its reductions */
    bool reduces;
    uint32_t fast; /* outer axis that is contiguous in what is stored; LZ_NONE: none */
    uint32_t nsop; /* about */
    uint32_t mark; /* of a walk */
    uint32_t rank; /* operands before users; index into lz_fusion.order */
} lz_group;

typedef struct lz_fusion {
    const lz_func *f;
    lz_arena arena;
    lz_arena maps;   /* of reads: made anew with the nodes */
    lz_arena frames; /* of the dry emission of one node */
    /* Buffers are numbered: the values of f, then extra ones. */
    LZ_VEC(const lz_type *) extra;
    /* lz_func_result_lists */
    lz_val *result, *next_result;
    /* by result of a partial sort: the slice of its first positions, which is stored in its place;
     * LZ_NOVAL for any other value */
    lz_val *first;
    lz_val *root;   /* by value: whose memory it is a view of, if that has memory */
    bool *realised; /* by value: has memory of its own (or an accumulator) */
    bool *early;    /* by value: has a kernel of its own, before an update of what it reads */
    /* by value: the node that computes it; LZ_NONE for others and for values written in parts */
    uint32_t *node_of;
    lz_fusion_node **nodes;
    uint32_t nnode, cap_node;
    lz_group **groups;
    uint32_t ngroup;
    uint32_t *order;      /* groups by rank */
    uint32_t *result_buf; /* by result of the function: the buffer it is */
    bool *is_result;      /* by buffer */
    /* by buffer: nodes that write it, in order; LZ_NONE ends. NULL: none */
    uint32_t **writers;
    /* by buffer: nodes that read it, in order; LZ_NONE ends. NULL: none */
    uint32_t **readers;
    uint32_t mark;
    lz_b2b_mode b2b;
    int64_t b2b_row_limit; /* longest row buffer, in elements; 0: the default */
} lz_fusion;

/* nodes and groups */
lz_status lz_fusion_new(const lz_func *f, const lz_lower_options *o, lz_fusion **out);
void lz_fusion_free(lz_fusion *fu);
void lz_fusion_print(const lz_fusion *fu, lz_buf *out);

/* ---- between the files ---- */
/* fusion_values.c: choose values. donate: by parameter, may be NULL */
lz_status lz_fusion_values(lz_fusion *fu, const bool *donate);
/* fusion_updates.c: of those, the ones that updates in place need */
lz_status lz_fusion_updates(lz_fusion *fu, const bool *donate);
/* gives v, or what it views, memory; false when it has it or cannot */
bool lz_fusion_realise(lz_fusion *fu, lz_val v);
/* fusion_sort.c: fills in `first`; whether v is one of its slices */
lz_status lz_fusion_partial_sorts(lz_fusion *fu);
bool lz_fusion_is_first(const lz_fusion *fu, lz_val v);
/* fusion_nodes.c: make nodes, find reads */
lz_status lz_fusion_nodes(lz_fusion *fu, const bool *donate);
lz_status lz_fusion_group(lz_fusion *fu); /* fusion.c */
/* fusion_merge.c: makes one kernel of two groups when that is possible and looks worth it. `via`: a
 * value both read, whose dimensions tell which axes belong together; LZ_NOVAL: one of the groups
 * reads the other. */
lz_status lz_fusion_merge(lz_fusion *fu, uint32_t a, uint32_t b, lz_val via, bool *merged);
/* The same of a group of products and one of rows: the sums of the products become rows of the
 * other group, or its rows the left factors of the products. */
lz_status lz_fusion_merge_rows(lz_fusion *fu, uint32_t product, uint32_t rows, bool *merged);
/* fusion_b2b.c: product, rows, product as one kernel */
lz_status lz_fusion_rows(lz_fusion *fu);
/* Whether one outer point's values of a group without products fit into the caches. */
bool lz_rows_in_cache(const lz_fusion *fu, const lz_group *g);
/* The product of a group that has one. */
const lz_fusion_node *lz_group_dot(const lz_fusion *fu, const lz_group *g);
/* Whether the axes that the product p and the rows r have in common let them be one kernel. of_p:
 * by axis of p, the axis of r + 1, or 0. */
bool lz_rows_fit(const lz_fusion *fu, const lz_group *p, const lz_group *r, const uint8_t *of_p);
/* The value with memory that v can be read from as it is, or LZ_NOVAL. */
lz_val lz_fusion_memory(const lz_fusion *fu, lz_val v);
/* The identity map of a node's dimensions from..from+n-1 by its axes, axis a being loop loop_of[a]
 * (NULL: a). */
void lz_fusion_node_map(const lz_fusion_node *n, int from, int count, const uint8_t *loop_of,
                        lz_ixmap *out);
/* The identity map of a scan's dimensions is where its points are in order; from it, where they are
 * in memory: suffixes go backwards. */
void lz_fusion_scan_map(const lz_fusion *fu, lz_val v, lz_ixmap *m);
/* Splits axis a so that the inner part has extent `inner`: dimensions and reads follow. */
void lz_fusion_node_split(lz_fusion_node *n, uint32_t a, int64_t inner);
const lz_type *lz_fusion_buf_type(const lz_fusion *fu, uint32_t buf);
/* Whether a buffer is temporary memory: no argument, constant or result. */
static inline bool lz_fusion_is_temporary(const lz_fusion *fu, uint32_t buf)
{
    const lz_func *f = fu->f;
    return (buf >= f->ninst || (buf >= f->nparam && !f->insts[buf].lit)) && !fu->is_result[buf];
}
/* Whether a group keeps the order that it has in the program; a dead one does not. */
bool lz_group_is_ordered(const lz_fusion *fu, const lz_group *g);
static inline uint32_t lz_fusion_nbuf(const lz_fusion *fu)
{
    return fu->f->ninst + fu->extra.len;
}
/* The buffer a step of control flow gets value v in: constants have one too. */
uint32_t lz_fusion_whole(const lz_fusion *fu, lz_val v);
/* Constants small enough, and free of sizes, to be part of the code. */
bool lz_const_baked(const lz_literal *l);
#endif
