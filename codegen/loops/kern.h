/* kern.h - between the files that emit a kernel's loops: state of the kernel and its stages,
 * evaluation of scalar ops, addresses and loads.
 *
 * Loop-invariant code motion: a scalar op is emitted at the outermost position where its operands
 * are known.
 *   TOP      once per call          no loop index
 *   ROW      once per row           outer indices but the last
 *   POINT    once per point, or per block of vectors of the last outer loop
 *   BODY     as POINT, but not run when an inner loop of the stage is empty: loads may be here
 *   INNER+j  inner loop j
 *
 * Vectors: the index of at most one loop (vdim) has a value per lane; it is unrolled by up to
 * KERN_U vectors. An op that does not depend on it is computed once, as a scalar.
 * Threads: belongs to one thread. */
#ifndef LZ_CODEGEN_LOOPS_KERN_H
#define LZ_CODEGEN_LOOPS_KERN_H
#include "codegen/emit/emit_ew.h"

enum { POS_TOP, POS_ROW, POS_POINT, POS_BODY, POS_INNER };
enum { KERN_U = 8, KERN_POS = POS_INNER + LZ_LOOP_MAX };

typedef struct kstage {
    const lz_stage *s;
    int vdim;         /* loop whose index is a vector, or -1 */
    int last;         /* position of the innermost code: stores */
    bool maybe_empty; /* has inner loops whose run-time extent may be 0 */
    uint32_t naccess; /* loads, then stores */
    uint32_t *dep;    /* per scalar op: bit per loop (outer first, then inner) it depends on */
    uint8_t *pos;     /* per scalar op: POS_... */
    bool *vec;        /* per scalar op: has a value per lane */
    bool *wide;       /* per scalar op: uniform, but wanted as a vector */
    bool *skip;       /* per scalar op: not emitted here */
    uint32_t *uses;
    Ev (*val)[KERN_U];  /* per scalar op and vector; uniform ones in [0] */
    Ev *splat;          /* uniform values as vectors */
    Val *ptr[KERN_POS]; /* per position and access: address so far */
    Val *square; /* per scalar op: the transposed block a load reads its rows from, or NULL */
    Val square_row;
    Val *stream;          /* per store: whether this call's are non-temporal, or NULL: never */
    uint32_t nacc;        /* accumulators of all its reductions */
    Ev (*red)[KERN_U];    /* results of reductions, per accumulator and vector */
    struct ksort *sort;   /* kernels_sort.h; NULL: none */
    bool scans;           /* stores its reduction so far at every point (kernels_scan.c) */
    Ev (*prefix)[KERN_U]; /* of a scan: that, per accumulator and vector */
    Val row[LZ_ROW_MAX];  /* addresses of the point's rows that the stage keeps (dot_b2b.c) */
    Ev now[LZ_ROW_MAX];   /* or their elements where the inner loop stands, in registers */
} kstage;

struct kern;
struct kctx;
struct kern_accs;
/* How the threads of a GPU share a kernel's loops (gpu/simt_reduce_row.c and others). */
typedef struct kern_threads {
    /* Cooperation: the last inner loop of every stage is shared, each thread from its own index, or
     * its own vector of indices, in steps. */
    Val first; /* this thread's first index */
    Val step;  /* indices between those of a thread */
    /* Makes the partial accumulators of all threads those of the stage. NULL: no cooperation. */
    void (*join)(struct kern *c, uint32_t stage, Ev *acc, uint32_t nacc);
    /* Sorts the stage's rows, which all threads have put there. NULL: each thread its own. */
    void (*sort)(struct kern *c, uint32_t stage);
    /* What this thread runs of loop j of stage s, in place of what `first` and `step` say; lo, hi
     * and step hold that. NULL: as they say. */
    void (*range)(struct kern *c, uint32_t s, uint32_t j, Val *lo, Val *hi, Val *step);
    /* The last inner loop j of stage s, in steps of `side` points each thread's, and all that is
     * inside, of stages whose loops are not empty. NULL: a loop. */
    void (*last_loop)(struct kern *c, uint32_t s, uint32_t j, int64_t side, const struct kctx *x,
                      struct kern_accs *a);
    Val stores;      /* i1: it stores what stages without loops do; NULL: the first thread does */
    unsigned unroll; /* points of the innermost loop whose loads are in flight at a time; 0: 1 */
    void *user;      /* of these functions */
    /* Owner-computes (gpu/simt_scatter.c): every thread runs all of the innermost loop, and does
     * the points whose scalar op `owned_by` is `owner` modulo `owners`, a power of two. */
    Val owners; /* NULL: one does everything */
    Val owner;
    int32_t owned_by;
} kern_threads;

typedef struct kern {
    em *e;
    const lz_kernel *k;
    lz_arena arena;
    unsigned lanes; /* of the vector loop; 1: scalar code */
    lz_vec vec;
    uint64_t written; /* bit per buffer stored to by this kernel */
    bool streams;     /* some call may have non-temporal stores */
    bool aligned;     /* contiguous vectors are aligned to their size, up to 16 bytes */
    Val bufs, args;   /* parameters of the function */
    Val buf[LZ_KBUF_MAX];
    Val *size;              /* run-time sizes by slot */
    Val oidx[LZ_OUTER_MAX]; /* outer indices: first lane */
    Val iidx[LZ_LOOP_MAX];  /* inner indices: first lane */
    kstage *st;
    struct kern_threads *threads; /* how a GPU's threads share its loops; NULL: one does it all */
} kern;

/* Vectors of the unrolled vector loop, and the lanes of each that exist (NULL: all). */
typedef struct kctx {
    unsigned u;
    Val mask[KERN_U];
    Val full; /* whether all lanes of mask[0] exist, where that is asked; NULL: not known */
} kctx;

/* Whether threads share the last inner loops. */
static inline bool kern_shares_loops(const kern *c)
{
    return c->threads && c->threads->join;
}

/* kernels_plan.c */
lz_status kern_init(kern *c, em *e, const lz_kernel *k); /* decides lanes and positions */
void kern_done(kern *c);
/* For products: to evaluate one op of stage 0 (skip[] holds for what it does not need), vectors
 * over loop vdim; and to run the later stages. */
lz_status kern_init_factor(kern *c, em *e, const lz_kernel *k, unsigned lanes, uint32_t vdim,
                           int32_t target);
lz_status kern_init_epilogue(kern *c, em *e, const lz_kernel *k, unsigned lanes);
/* Marks a scalar op and those it is made of. */
void kern_needs(const lz_stage *s, int32_t sop, bool *marks);
/* Whether some load that is not skipped is contiguous along loop `a` and not along loop `b`. */
bool kern_loads_along(const lz_stage *s, const bool *skip, uint32_t a, uint32_t b);
/* Scalar code, whatever vectors would suit. */
lz_status kern_init_scalar(kern *c, em *e, const lz_kernel *k);
/* Vectors of `lanes` along the last inner loop of every stage that has one. */
lz_status kern_init_rows(kern *c, em *e, const lz_kernel *k, unsigned lanes);
/* The addresses of buffers and the run-time sizes of another one of the same function. */
void kern_share(kern *c, const kern *from);
/* Whether no index of a serial kernel's last outer loop can meet what another one writes. Needs
 * nothing but the kernel. */
bool kern_lanes_apart(const lz_kernel *k);

/* kernels_eval.c */
void kern_enter(kern *c, Val bufs, Val args); /* at a function's start: loads addresses and sizes */
Val kern_size(kern *c, lz_sz s);              /* as i64 */
/* of all accesses, once the indices of `pos` are set */
void kern_addresses(kern *c, uint32_t s, int pos);
/* Addresses of position `to` from those of `from` and the indices of the loops in `loops` (a bit
 * each). */
void kern_advance(kern *c, uint32_t s, int from, int to, uint32_t loops);
/* the ops of stage s at a position, in order */
void kern_eval(kern *c, uint32_t s, int pos, const kctx *x);
/* those numbered from..to - 1 of them */
void kern_eval_part(kern *c, uint32_t s, int pos, const kctx *x, uint32_t from, uint32_t to);
Ev kern_value(kern *c, uint32_t s, int32_t sop, unsigned u); /* as it is: a scalar when uniform */
/* with a value per lane of the stage's vectors */
Ev kern_vector(kern *c, uint32_t s, int32_t sop, unsigned u);
void kern_stores(kern *c, uint32_t s, const kctx *x);
void kern_top(kern *c, uint32_t first); /* what stages from `first` on need once per call */
static inline Val kern_outer(kern *c, uint32_t l) /* extents, as i64: of an outer loop */
{
    return kern_size(c, c->k->outer[l]);
}
static inline Val kern_inner(kern *c, uint32_t s, uint32_t l) /* of a loop of stage s */
{
    return kern_size(c, c->k->stages[s].extent[l]);
}
/* Memory form of values: bits of an element, complex numbers as one integer. */
Ty kern_mem_type(em *e, lz_dtype d, unsigned n);
Ev kern_from_mem(em *e, lz_dtype d, Val m);
Val kern_to_mem(em *e, lz_dtype d, Ev v);
unsigned kern_align(lz_dtype d); /* of an element in memory, in bytes */

/* kernels_nt_store.c: at the start of lz_run, after kern_enter; at its end; and whether store j's
 * vectors from address p on are non-temporal (NULL: never) */
void kern_nt_enter(kern *c);
void kern_nt_leave(kern *c);
Val kern_nt_here(kern *c, uint32_t s, uint32_t j, Val p, const kctx *x);

/* kernels_stage.c */
void kern_stage(kern *c, uint32_t s, const kctx *x); /* everything of a stage from POINT inwards */
unsigned kern_unroll(const kern *c,
                     uint32_t s); /* unroll factor of the vector loop that suits a stage */
/* acc o elt, both partial results of reduction r; ed: dtypes of elt */
void kern_merge(kern *c, const lz_red *r, const Ev *acc, const Ev *elt, const lz_dtype *ed,
                Ev *out);

/* Accumulators of a stage while its loops run: n of them, u vectors of each. */
enum { KERN_ACCS = 32 };
typedef struct kern_accs {
    uint32_t n;
    unsigned u;
    Ev v[KERN_ACCS][KERN_U];
} kern_accs;
void kern_accs_start(kern *c, uint32_t s, kern_accs *a); /* u is set */
/* the elements of the current point */
void kern_accs_add(kern *c, uint32_t s, const kctx *x, kern_accs *a);
lz_dtype kern_acc_dtype(const kern *c, uint32_t s, uint32_t k); /* of accumulator k */
unsigned kern_stage_work(const kern *c, uint32_t s); /* operations on each element, roughly */

int kern_accs_flatten(const kern_accs *a, Val *out); /* how many; EM_PHI at most */
void kern_accs_unflatten(kern_accs *a, const Val *in);

/* kernels_sum_blocks.c: sums of many floats are sums of sums */
enum { KERN_SUM_LEVELS = 3 };
typedef struct kern_steps {
    /* the steps lo, lo + step.. below hi, one after the other */
    void (*run)(kern *c, const struct kern_steps *w, Val lo, Val hi, kern_accs *a);
    Val step;
    int64_t size[KERN_SUM_LEVELS]; /* steps of a block of each level */
    uint32_t s, j;                 /* stage and loop */
    const kctx *x;
} kern_steps;
/* How many levels of blocks loop j of stage s has, its steps being of `side` points, and their
 * sizes in steps; 0: its points are reduced one by one. */
unsigned kern_sum_blocks(const kern *c, uint32_t s, uint32_t j, int64_t side, int64_t *steps);
void kern_in_sum_blocks(kern *c, uint32_t s, const kern_steps *w, unsigned level, Val lo, Val hi,
                        kern_accs *a);
/* The accumulators a block begins with, a's being those around it; and the block's into a. */
void kern_sum_fresh(kern *c, uint32_t s, const kern_accs *a, kern_accs *fresh);
void kern_sum_join(kern *c, uint32_t s, kern_accs *a, const kern_accs *part);

/* kernels_scan.c: the inner loops of a scan */
void kern_scan(kern *c, uint32_t s, const kctx *x, kern_accs *a);

/* kernels_reduce_col.c: reductions down the columns of rows, for rows enough */
bool kern_reduces_columns(const kern *c, unsigned u); /* where blocks are of u vectors */
Val kern_reduce_col_here(kern *c);                    /* i1: there are enough in this call */
void kern_reduce_col(kern *c, Val lo, Val hi);        /* columns lo..hi-1, whole sides */
int64_t kern_reduce_col_side(const kern *c);          /* columns of a strip */

/* kernels_sort.c */
lz_status kern_sort_plan(kern *c, uint32_t s); /* makes st[s].sort, before any code */
/* bytes of scratch memory the sorting stages need */
Val kern_sort_scratch(kern *c);
void kern_sort_enter(kern *c, Val scratch); /* at the start of lz_run, after kern_enter */
void kern_sort_put(kern *c, uint32_t s);    /* the values of a point into the rows */
void kern_sort_run(kern *c, uint32_t s);    /* sorts them, after the loops */
Ev kern_sort_get(kern *c, uint32_t s, const lz_sop *p); /* LZ_S_SORTED in stage s */

/* kernels_rows.c */
void kern_row_put(kern *c, uint32_t s, const kctx *x); /* the values of a block of points */
Ev kern_row_get(kern *c, uint32_t s, const lz_sop *p, unsigned u); /* LZ_S_ROW in stage s */
unsigned kern_row_esize(lz_dtype d);                               /* bytes of an element */
Val kern_rows_scratch(kern *c);             /* bytes of scratch memory for one point's rows */
void kern_rows_enter(kern *c, Val scratch); /* at the start of lz_run, after kern_enter */
/* row_slots.c: memory of rows, a slot each */
enum { KERN_SLOTS = LZ_STAGE_MAX * LZ_ROW_MAX };
typedef struct kern_slots {
    uint8_t of[LZ_STAGE_MAX][LZ_ROW_MAX];
    unsigned n;
    uint32_t maker[KERN_SLOTS]; /* the first stage whose row it is */
    const lz_sz *extent[KERN_SLOTS];
    unsigned es[KERN_SLOTS]; /* bytes of an element */
} kern_slots;
void kern_slots_of(const lz_kernel *k, kern_slots *r);
uint32_t kern_rows_of(const lz_stage *st); /* how many the stage has */
/* The product of stage s as a kernel by itself, whose last outer loop is that of the sums. The row
 * that its left factor is, or NULL. */
const lz_sop *kern_product_view(const lz_kernel *k, uint32_t s, lz_kernel *view, lz_stage *stage);
/* Whether a stage behind s reads row r of stage `from`. */
bool kern_row_read_after(const lz_kernel *k, uint32_t s, uint32_t from, uint32_t r);
/* Whether a stage from `from` on reads accumulator acc of stage s. */
bool kern_read_later(const lz_kernel *k, uint32_t s, uint32_t acc, uint32_t from);

/* kern_access.c: whether a kernel is a GEMM; needs nothing but the kernel. */
bool kern_dot_form(const lz_kernel *k);
/* A factor that is a plain load, or NULL. */
const lz_access *kern_plain_access(const lz_kernel *k, int32_t sop);
/* kernels_transpose.c: the loop along which some load is contiguous while the stores are along the
 * last one, or -1; and that schedule. */
int kern_transposed_loop(const kern *c);
void kern_emit_transposed(kern *c, uint32_t d);
/* kernels_loops.c: any kernel */
bool kern_any_suits(const lz_kernel *k, const lz_target *t);
lz_status lz_kern_loops(em *e, const lz_kernel *k);
#endif
