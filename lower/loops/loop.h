/* loop.h - loop IR: one fused kernel as loops, affine loads and stores, scalar expressions and
 * reductions.
 *
 * A kernel is   for every point of the outer loops (parallel unless `serial`):  stage 0; stage 1;
 * A stage is    for every point of its inner loops: evaluate its scalar ops (SSA, in order),
 *               accumulate its reductions, do its stores
 *
 * Results of a stage's reductions are per outer point; later stages read them with LZ_S_RED.
 *   elementwise    one stage without inner loops
 *   softmax        three stages over the same rows
 *   column sum     columns are the outer loop, rows the inner one
 *   dot            outer [batch.., m, n]; stage 0: inner [k..], the sum of multiply(a, b); stage 1:
 *                  the epilogue. stages[0].dot says so (LZ_DOT_KERNEL), so a backend can tile it.
 *   B2B fusion     a stage with LZ_DOT_ROW has inner loops [n, k] and sums over k for every n; the
 *                  sums are a row buffer of the outer point, as are the values that a stage lists
 *                  in `row`. Later stages read them with LZ_S_ROW. Attention is outer
 *                  [batch.., query] with the stages scores (row), maximum, exponentials (row) and
 *                  their sum, quotients (row), product with the values (row), store. Row buffers
 *                  are never materialized; a backend processes a block of points of the last outer
 *                  loop.
 *   sort           stage 0 has its values as rows and sorts them; stage 1 reads LZ_S_SORTED
 *   prefix scan    outer loops are the rows; the one stage has its inner loops in order, and stores
 *                  its reduction so far (LZ_S_PREFIX) at every point
 *   gather         adds computed indices to an address; padding guards a load
 *   scatter        a serial kernel whose stores have computed addresses and guards
 * Every kernel can be interpreted (lz_loop_run), printed, parsed and verified; backends take
 * nothing else.
 *
 * Sizes: an lz_sz holds the value of this instance. slot < 0: baked into the code. slot >= 0:
 * run-time argument args[slot]. lz_kernel_finish decides which (strides 0 and 1, small extents and,
 * except in products, offset 0 are baked) and numbers the slots. The encoding holds the baked
 * values and the pattern of slots only, so equal layers and other batch sizes share a kernel with
 * other arguments. Units: offsets and strides in elements. Threads: thread-compatible; a finished
 * kernel is immutable. */
#ifndef LZ_LOWER_LOOPS_LOOP_H
#define LZ_LOWER_LOOPS_LOOP_H
#include "ir/module.h"

enum {
    LZ_LOOP_MAX = LZ_MAX_RANK + 8, /* room to split loops */
    LZ_OUTER_MAX = LZ_MAX_RANK,
    LZ_DYN_MAX = LZ_MAX_RANK,
    LZ_KBUF_MAX = 64,
    LZ_STAGE_MAX = 16,
    LZ_SORT_MAX = 16,
    LZ_ROW_MAX = 8,
    LZ_BORDER_MAX = 2
};

typedef struct lz_sz {
    int64_t v;
    int32_t slot; /* -1 baked */
} lz_sz;
static inline bool lz_sz_is(lz_sz s, int64_t v) /* baked and equal */
{
    return s.slot < 0 && s.v == v;
}

static inline bool lz_sz_eq(lz_sz a, lz_sz b)
{
    return a.v == b.v && a.slot == b.slot;
}

/* What a load reads where by * (index of loop `outer`) + step * (index of loop `inner`) is not in
 * low..high - 1 is +0: padding. A product may leave it out where the other factor is finite. by and
 * step are positive; loops are numbered as strides are. */
typedef struct lz_border {
    uint32_t outer, inner;
    lz_sz by, step, low, high;
    /* while the kernel is made: loop `outer` and the next one count on, from one to the other, `by`
     * with each index of the latter; forgotten unless they become one */
    bool split;
} lz_border;

/* element address = offset + sum(stride[d] * loop index d) + sum(dyn[i].stride * value of scalar op
 * dyn[i].sop) */
typedef struct lz_access {
    uint32_t buf; /* kernel buffer */
    lz_sz offset;
    lz_sz stride[LZ_LOOP_MAX]; /* outer loops first, then the stage's inner loops */
    uint32_t ndyn;
    struct {
        /* an i64 scalar op of the same stage; already clamped where semantics say so */
        int32_t sop;
        lz_sz stride;
    } dyn[LZ_DYN_MAX];
    /* boolean scalar op, or -1. False: a load gives `other` without touching memory; a store is
     * skipped */
    int32_t guard;
    int32_t other;    /* scalar op; a load has it exactly when it has a guard. -1: none */
    uint32_t nborder; /* of a load */
    lz_border border[LZ_BORDER_MAX];
} lz_access;
bool lz_access_eq(const lz_access *a, const lz_access *b); /* of one stage */

typedef enum lz_sop_kind {
    LZ_S_CONST, /* bits, in dtype's storage; of complex128, of both parts */
    LZ_S_INDEX, /* loop index a (outer loops first, then inner), as i64 */
    LZ_S_SIZE,  /* the run-time size `size`, as i64 */
    LZ_S_LOAD,  /* access a of the stage */
    /* reduction result: earlier stage a, accumulator b (counted over the stage's reductions in
     * order); its dtype is the accumulator's acc_dtype, convert it after */
    LZ_S_RED,
    LZ_S_EW, /* elementwise tensor op `op` on scalar ops a, b, c, with attr */
    /* inside a combiner: accumulator a, new element a; inside a comparator: ELT is its parameter
     * a */
    LZ_S_ACC,
    LZ_S_ELT,
    /* element of sorted row b of earlier stage a, at the position of this point among those of the
     * inner loops, which are as many as the row has, or fewer after a partial sort */
    LZ_S_SORTED,
    /* element of row b of earlier stage a (of an LZ_DOT_ROW: b is 0, its sums) at the index of the
     * last inner loop; 16-bit floats are rounded already */
    LZ_S_ROW,
    /* accumulator b of this very stage (a) once the point has been accumulated: of the points of
     * the inner loops up to this one, in row-major order. What is accumulated comes before the
     * first of these ops. The kernel is this stage, which has one reduction. */
    LZ_S_PREFIX
} lz_sop_kind;

typedef struct lz_sop {
    lz_sop_kind kind;
    /* of the result. 16-bit floats: computed in f32, rounded after each op */
    lz_dtype dtype;
    lz_op op;
    int32_t a, b, c;
    uint64_t bits;
    const lz_attr *attr;
    lz_sz size;
    lz_val node; /* debug, outside the encoding: see lz_func_node */
} lz_sop;

/* `nacc` accumulators updated together. comb != NONE: one accumulator, acc = comb(acc, value).
 * Otherwise `body` computes the new accumulators from LZ_S_ACC k and LZ_S_ELT k; body_out[k] are
 * its results. The order of combination is free (regions are associative), and the initial value
 * may be used any number of times: init must be the region's identity, or the lowering folds it in
 * exactly once afterwards. */
typedef struct lz_red {
    lz_op comb;
    uint32_t nacc;
    /* dtype accumulated in: f32 for 16-bit floats; values, initial values and LZ_S_ELT are of it
     * (16-bit floats widen on their way in); LZ_S_ACC, LZ_S_ELT and body_out have exactly it */
    lz_dtype acc_dtype[8];
    /* scalar ops of the stage; init must not depend on the inner loops */
    int32_t value[8], init[8];
    lz_sop *body;
    uint32_t nbody;
    int32_t body_out[8];
    lz_val node; /* as that of a scalar op */
} lz_red;

/* Value k of the points of the inner loops, in row-major order, is row k of the outer point. After
 * the loops the rows are reordered together: stably, by the comparator `body`, whose LZ_S_ELT 2k
 * and 2k + 1 are the left and the right element of row k, and whose op `less` says whether the left
 * position comes before the right one. A comparator that is no strict weak order gives some
 * permutation. */
typedef struct lz_sort {
    uint32_t nrow;
    int32_t value[LZ_SORT_MAX]; /* scalar ops of the stage; rows have their dtypes */
    lz_sop *body;               /* LZ_S_CONST, LZ_S_ELT, LZ_S_EW */
    uint32_t nbody;
    int32_t less;
    bool partial; /* later stages read the first positions only: the others need no order */
} lz_sort;

typedef struct lz_loop_store {
    lz_access at;
    int32_t value; /* scalar op; its dtype is the buffer's */
    lz_val node;   /* as that of a scalar op */
} lz_loop_store;

typedef enum lz_dot_role {
    LZ_DOT_NONE,
    LZ_DOT_KERNEL, /* the kernel is this dot: outer loops [batch.., m, n], inner loops [k..] */
    LZ_DOT_ROW     /* one of a B2B kernel: inner loops [n, k]; its sums are a row buffer */
} lz_dot_role;

/* The dot of a stage: its one reduction sums multiply(a_sop, b_sop). to_loops fills this in,
 * loop_verify checks it, and code generators read it instead of matching the stage again. */
typedef struct lz_dot_info {
    lz_dot_role role;
    uint32_t m, n; /* loops of the result's rows and columns, numbered outer first, then inner */
    /* factors: scalar ops of the stage (a prologue hangs below them); a does not depend on n, b not
     * on m. a of an LZ_DOT_ROW may be a row */
    int32_t a_sop, b_sop;
} lz_dot_info;

typedef struct lz_stage {
    uint32_t ninner;
    lz_sz extent[LZ_LOOP_MAX];
    lz_sop *sops;
    uint32_t nsop;
    lz_access *accs; /* of loads */
    uint32_t nacc;
    lz_red *reds;
    uint32_t nred;
    lz_sort *sort;   /* NULL: none */
    lz_dot_info dot; /* of its reduction */
    uint32_t nrow;   /* values kept at every point of the one inner loop */
    int32_t row[LZ_ROW_MAX];
    lz_loop_store *stores; /* done at every point of the stage's loops */
    uint32_t nstore;
} lz_stage;

typedef enum lz_vec {
    LZ_VEC_NONE,
    LZ_VEC_OUTER /* last outer loop */,
    LZ_VEC_INNER /* last inner loop of each stage */
} lz_vec;

typedef struct lz_kbuf {
    lz_dtype dtype;
    bool read, written;
    /* written buffer may be the same memory as read buffer `inplace_with`: an element is read
     * before it is written, by the outer point that writes it, or by none */
    bool inplace_ok;
    int32_t inplace_with; /* -1 none */
} lz_kbuf;

typedef struct lz_kernel {
    lz_arena arena;
    char name[48]; /* debug only, e.g. "fused_relu_add"; outside the encoding */
    uint32_t nbuf;
    lz_kbuf buf[LZ_KBUF_MAX];
    uint32_t nouter;
    lz_sz outer[LZ_OUTER_MAX];
    uint32_t nstage;
    lz_stage *stages;
    bool serial; /* outer points in order, one thread (colliding scatters) */
    lz_vec vec;
    bool finished;
    uint32_t narg; /* run-time sizes */
    int64_t *args; /* values of this instance */
    lz_hash hash;  /* of the encoding */
    void *encoding;
    size_t nencoding;
    /* A loop of kernels that runs as one function, without stages (lower/plan/plan_join.h); else
     * NULL. */
    const struct lz_joined_loop *joined;
} lz_kernel;

/* The dot that the whole kernel is; its role is LZ_DOT_KERNEL then, and anything else otherwise.
 * The kernel has stages. */
static inline const lz_dot_info *lz_kernel_dot(const lz_kernel *k)
{
    return &k->stages[0].dot;
}
static inline bool lz_kernel_is_dot(const lz_kernel *k)
{
    return k->nstage > 0 && k->stages[0].dot.role == LZ_DOT_KERNEL;
}
/* Whether the sums of the stage are a row: a dot of a B2B kernel. */
static inline bool lz_stage_is_row_dot(const lz_stage *st)
{
    return st->dot.role == LZ_DOT_ROW;
}
/* Sets the dot of stage s of a B2B kernel, whose factors are those of the multiply that it sums;
 * false when it sums anything else. */
bool lz_stage_set_row_dot(lz_kernel *k, uint32_t s);
/* Whether some stage keeps rows; whether some stage's sums are rows: there are products. */
bool lz_kernel_has_rows(const lz_kernel *k);
bool lz_kernel_keeps_sums(const lz_kernel *k);
/* Whether a load of the first stage, which has loops of its own, goes down rows: along the last
 * outer loop lie elements that follow each other, along the last inner one others. */
bool lz_access_down_rows(const lz_kernel *k, const lz_access *a);
/* Whether a sum, no product, goes down the columns of rows. */
bool lz_kernel_sums_columns(const lz_kernel *k);
/* How many scalar ops come before the stage's first LZ_S_PREFIX: all, where it is no scan. */
uint32_t lz_stage_before_prefix(const lz_stage *st);
static inline bool lz_stage_scans(const lz_stage *st)
{
    return st->nred == 1 && lz_stage_before_prefix(st) < st->nsop;
}
lz_kernel *lz_kernel_new(const char *name);
void lz_kernel_free(lz_kernel *k);
/* decide slots, encoding, hash; then immutable */
lz_status lz_kernel_finish(lz_kernel *k);
/* LZ_EINTERNAL naming stage and op */
lz_status lz_kernel_verify(const lz_kernel *k);
void lz_kernel_print(const lz_kernel *k, lz_buf *out);
lz_status lz_kernel_parse(const char *text, size_t n, lz_kernel **out);
/* untrusted bytes */
lz_status lz_kernel_decode(const void *p, size_t n, const int64_t *args, uint32_t narg,
                           lz_kernel **out);
/* Slow executor: runs the kernel on raw buffers exactly as written. bufs[i] has room for every
 * address the kernel touches (nbytes[i], checked). */
lz_status lz_loop_run(const lz_kernel *k, void *const *bufs, const size_t *nbytes);
/* The same for a finished kernel with other run-time sizes: narg values. */
lz_status lz_loop_run_args(const lz_kernel *k, const int64_t *args, void *const *bufs,
                           const size_t *nbytes);
/* A size of an unfinished kernel; lz_kernel_finish decides whether it stays baked. */
static inline lz_sz lz_sz_of(int64_t v)
{
    lz_sz s = {v, -1};
    return s;
}
static inline int64_t lz_outer_points(const lz_kernel *k)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < k->nouter; i++)
        n *= k->outer[i].v;
    return n;
}
#endif
