/* elemental.h - elemental IR emission, by demand: the scalar ops of one stage that compute an
 * instruction's value at an index map. A frame requests one value at one map. The rule of its op
 * (lz_loops_<name>, the loops column of ops.def) requests operands at other maps, is resumed when
 * they are there, and names the scalar op that holds the result. Frames live on an explicit stack;
 * the same value at the same map is emitted once. fusion_nodes.c runs the same rules dry, to find
 * what a kernel reads, to_loops.c for real; the callback `leaf` is the difference.
 * Threads: an emitter belongs to one thread. */
#ifndef LZ_LOWER_LOOPS_ELEMENTAL_H
#define LZ_LOWER_LOOPS_ELEMENTAL_H
#include "lower/loops/index_map.h"

enum { LZ_WANT_MAX = 2 * LZ_MAX_RANK + 2, LZ_EMIT_SOP_MAX = 4096 };

/* Scalar ops of one stage or combiner body, hash-consed. */
typedef struct lz_soplist {
    LZ_VEC(lz_sop) v;
    lz_map seen;
    bool failed; /* out of memory, sticky */
    lz_val node; /* of what is added next (lz_func_node) */
} lz_soplist;

typedef struct lz_frame {
    lz_val v;
    /* boolean scalar op under which memory may be touched, -1: always */
    int32_t guard;
    int32_t step;   /* calls of the rule so far */
    int32_t result; /* -1 until the rule has set it */
    bool leaf;      /* the emitter's leaf function has taken the frame */
    uint32_t nwant, nhave;
    struct lz_frame *want[LZ_WANT_MAX];
    /* over the result's dimensions; only those have memory: copy with lz_ixmap_copy */
    lz_ixmap map;
} lz_frame;

typedef struct lz_emit lz_emit;
struct lz_emit {
    const lz_func *f;
    lz_arena *arena; /* frames, bodies of reductions and sorts: for as long as the emitter */
    lz_axes ax;      /* outer loops, then inner */
    lz_soplist sops;
    LZ_VEC(lz_access) accs;
    LZ_VEC(lz_red) reds;
    LZ_VEC(lz_loop_store) stores;
    lz_sort *sort; /* set by the rule of a sort */
    lz_map memo;
    /* Takes the frame when the value is not computed here (sets f->leaf, and f->result now or after
     * wants); otherwise leaves it alone. */
    lz_status (*leaf)(lz_emit *e, lz_frame *f);
    void *env;
    /* Where result k of a scattering root is stored. */
    lz_status (*target)(lz_emit *e, uint32_t k, uint32_t *buf);
    lz_val root;          /* whose rule runs as lz_emit_root */
    lz_ixmap inner;       /* of the root of a reduction or product: its reduced dimensions */
    int32_t dot_a, dot_b; /* set by the product's rule: factors of stage 0 */
    /* A rule that cannot go on sets `stop` and says why: split a loop, or give `realise` memory of
     * its own. */
    bool stop;
    uint32_t split_loop; /* UINT32_MAX: none */
    int64_t split_inner;
    lz_val realise;
};

typedef lz_status lz_loops_fn(lz_emit *e, lz_frame *f);
#define LZ_EW(...)
#define LZ_OP(E, text, cls, arity, attr, dtypes, flags, infer, vjp, jvp, batch, eval, loops, ...)  \
    extern lz_loops_fn lz_loops_##loops;
#include "ir/ops.def"

void lz_emit_init(lz_emit *e, const lz_func *f, lz_arena *arena);
/* forgets scalar ops, accesses, reductions, stores */
void lz_emit_begin_stage(lz_emit *e);
void lz_emit_done(lz_emit *e);

/* The value of v at map; *sop is undefined when e->stop was set. */
lz_status lz_emit_value(lz_emit *e, lz_val v, const lz_ixmap *map, int32_t guard, int32_t *sop);
/* The root of a reduction, product or any op whose rule must run here whatever `leaf` thinks. */
lz_status lz_emit_root(lz_emit *e, lz_val v, const lz_ixmap *map, int32_t *sop);

/* ---- for rules ---- */
/* Asks for one more value; f->want[i]->result is there at the rule's next call. */
lz_status lz_emit_want(lz_emit *e, lz_frame *f, lz_val v, const lz_ixmap *map, int32_t guard);
lz_status lz_emit_want_scalar(lz_emit *e, lz_frame *f, lz_val v);
lz_status lz_emit_stop_realise(lz_emit *e, lz_val v);

/* Scalar ops; -1 with the list's `failed` set when memory is exhausted. */
int32_t lz_sops_add(lz_soplist *l, const lz_sop *s);
int32_t lz_sops_ew(lz_soplist *l, lz_op op, lz_dtype d, int32_t a, int32_t b, int32_t c,
                   const lz_attr *attr);
int32_t lz_sops_const(lz_soplist *l, lz_dtype d, uint64_t bits);
int32_t lz_sops_zero(lz_soplist *l, lz_dtype d);
/* a itself when it has the dtype */
int32_t lz_sops_convert(lz_soplist *l, int32_t a, lz_dtype d);
/* type by the dtype of a */
int32_t lz_sops_compare(lz_soplist *l, lz_comparison_direction dir, int32_t a, int32_t b);
int32_t lz_sops_select(lz_soplist *l, int32_t p, int32_t a, int32_t b);
int32_t lz_sops_and(lz_soplist *l, int32_t a, int32_t b); /* -1 is true */
lz_dtype lz_sops_dtype(const lz_soplist *l, int32_t a);
void lz_sops_free(lz_soplist *l);
int32_t lz_emit_size(lz_emit *e, int64_t v);    /* run-time size, i64; 0 and 1 are constants */
int32_t lz_emit_ix(lz_emit *e, const lz_ix *x); /* the value of an index expression, i64 */
/* an integer scalar as i64; ui64 beyond the range saturates */
int32_t lz_emit_index_of(lz_emit *e, int32_t sop);
/* i64 clamped into 0..hi */
int32_t lz_emit_clamp_index(lz_emit *e, int32_t sop, int64_t hi);
/* Least and greatest value of x when it has no computed index. */
bool lz_emit_range(const lz_emit *e, const lz_ix *x, int64_t *lo, int64_t *hi);

/* A load from kernel buffer `buf` at the flat address; `other` is zero. */
lz_status lz_emit_load(lz_emit *e, uint32_t buf, lz_dtype d, const lz_ix *flat, int32_t guard,
                       int32_t *sop);
lz_status lz_emit_access(lz_emit *e, uint32_t buf, const lz_ix *flat, int32_t guard,
                         lz_access *out);

/* A scalar region on scalar ops: args per parameter, out per result. LZ_EUNSUPPORTED naming the op
 * when it is not scalar work. */
lz_status lz_emit_region(lz_soplist *l, const lz_func *region, const int32_t *args, int32_t *out);

/* Result k of the reduction or product v out of accumulators acc.. of `stage`; called from a leaf
 * function, sets f->leaf and f->result. */
lz_status lz_emit_red_read(lz_emit *e, lz_frame *f, lz_val v, uint32_t k, uint32_t stage,
                           uint32_t acc);
/* Result k of the scan v, whose stage is this one, at the point it has come to. init: the initial
 * values, where lz_red_plan says they are combined in. */
lz_status lz_emit_prefix_read(lz_emit *e, lz_val v, uint32_t k, const int32_t *init,
                              int32_t *result);
#endif
