/* simt_kern.h - between the files of the GPU schedules: the function under construction, what its
 * threads do together.
 * Threads: belongs to one thread. */
#ifndef LZ_CODEGEN_GPU_SIMT_KERN_H
#define LZ_CODEGEN_GPU_SIMT_KERN_H
#include "codegen/loops/kern.h"
#include "codegen/gpu/simt.h"
#include "codegen/schedules.h"

enum { SIMT_THREADS = 256 /* of a block that has no reason for another number */ };
enum { SIMT_LOG2_THREADS = 8 };
enum { SIMT_ROW_THREADS = 512 /* of a block that works on one row, at most */ };
enum { SIMT_BLOCKS_EACH = 16 /* blocks per multiprocessor, at most: the rest is a loop */ };
enum { SIMT_LONG_SORT = 64 /* elements of rows that a block sorts together */ };
enum { SIMT_WARP_ROW = 1024 /* elements of rows that are a warp's work */ };
enum { SIMT_ROW_SLICE = 2048 /* elements of a row that are worth a block, at least */ };
enum { SIMT_LOG2_GROUPS = 5 /* of the threads that combine the slices of a point */ };

/* The GPU's schedules: rows of schedules.def. */
typedef enum simt_kind {
#define SCHEDULE(target, ...) SCHEDULE_##target(__VA_ARGS__)
#define SCHEDULE_cpu(...)
#define SCHEDULE_gpu(id, name, suits, dims, emit, file, doc) SIMT_##id,
#include "codegen/schedules.def"
#undef SCHEDULE_cpu
#undef SCHEDULE_gpu
    SIMT_KINDS
} simt_kind;

typedef struct simt_plan {
    simt_kind kind;
    bool apart;          /* SIMT_SERIAL: the indices of the last outer loop never meet */
    unsigned lanes;      /* SIMT_ELEMENTWISE, SIMT_REDUCE_COL: points of the last loop that a thread
                            takes at once */
    uint32_t across;     /* SIMT_TRANSPOSE: the other loop */
    uint32_t max_block;  /* threads of a block, at most */
    uint32_t min_blocks; /* on a multiprocessor, for which registers must be left; 0: the
                            assembler's choice */
} simt_plan;
/* simt_schedule.c: a function of the canonical kernel and the target. */
void simt_plan_of(const lz_kernel *k, const lz_target *t, simt_plan *p);
/* What the dims of a schedule are computed from. */
typedef struct simt_sizes {
    const lz_kernel *k;
    const int64_t *args; /* run-time sizes */
    const lz_target *t;
    const simt_plan *plan;
    const lz_simt_pick *pick; /* of a GEMM; NULL: as the cost model says */
    int processors;           /* multiprocessors of the device */
    int64_t n;                /* points of the outer loops, not 0 */
    int64_t most;             /* blocks of a launch */
} simt_sizes;

typedef struct simt {
    em *e;
    const lz_kernel *k;
    simt_plan plan;
    lz_simt_entry entry;          /* the function under construction */
    Val thread;                   /* emulated: the lz_simt_thread */
    Val tid, ntid, ctaid, nctaid; /* i64 */
    Val shared;                   /* start of shared memory */
    Val by_warps;                 /* SIMT_REDUCE_ROW: a warp, not a block, has a point */
    struct row_split *row_split;  /* SIMT_REDUCE_ROW: how stage 0 is split */
    struct held_row *held_row;    /* SIMT_REDUCE_ROW: what threads hold of a row */
    Val words;                    /* emulated: simt_words */
    Val sums;                     /* emulated: sums that groups of warps add to */
    Val scratch, share;           /* of kernels that take scratch memory: lz_simt_dims */
    Val map[2];                   /* SIMT_TMA: addresses of the tensor maps */
    Val rank, ranks;              /* SIMT_TMA: of the block in its cluster; blocks of that */
    /* Threads that simt_barrier brings together, the first ones of the block; 0: all. */
    unsigned together;
} simt;

/* simt_em.c */
/* Starts the function of s->entry and reads its parameters into c; threads of a block at most
 * max_block. */
void simt_begin(simt *s, kern *c);
/* The scratch memory of this thread, where single ones sort. */
void simt_enter_sorts(simt *s, kern *c);
void simt_barrier(simt *s);
void simt_warp_barrier(simt *s);
Val simt_shuffle_xor(simt *s, Val v, unsigned x); /* any scalar type of at most 64 bits */
Val simt_shared_at(simt *s, Val index, int64_t scale, int64_t offset);
/* simt_mma.c: what the threads of a warp multiply together, and copies to shared memory that go on
 * by themselves. */
/* d[m, n] = a[m, k] b[k, n] + c[m, n]; a thread has na words of a, nb of b (of type `word`), nc
 * results. With l the lane: an element of a and b is in row l / 4, the words of k are l % 4 and,
 * for words of 32 bits, l % 4 + 4; rows of a are l / 4 and then l / 4 + 8, first these; results are
 * in columns 2 (l % 4) and the next, of the same rows. */
typedef struct simt_mma {
    lz_dtype d, acc;
    unsigned m, n, k, na, nb, nc;
    unsigned rate; /* multiply-adds in a clock of a multiprocessor, about */
    const char *ptx;
} simt_mma;
const simt_mma *simt_mma_of(lz_dtype d, lz_dtype acc); /* NULL: none */
/* A word of f32 as these multiply it: to the nearest of 10 bits behind the point. */
Val simt_round_tf32(simt *s, Val word);
void simt_mma_sync(simt *s, const simt_mma *op, const Val *a, const Val *b, Val *c);
/* Emulated: memory for as many words of 8 bytes, by which threads pass what they do together. */
enum { SIMT_WORDS = 10 };
Val simt_words(simt *s);
/* simt_wgmma.c: warpgroup MMA (wgmma), what four warps multiply together: sums[64, n] += a[64, k]
 * b[k, n], in a number of steps along k of 32 bytes. Factors are described: rows of 128 bytes in
 * shared memory with the 128-byte swizzle, along k or, of 16-bit types, along m or n. Or `a` is in
 * registers, of a warp 16 rows, four words per step as simt_mma_sync has them; so are the sums.
 * What is in shared memory has been fenced by those who wrote it. The sums are there, and the
 * memory is free, after the wait. */
enum { SIMT_WGMMA_STEPS = 4, SIMT_WGMMA_ROW = 128, SIMT_WGMMA_SUMS = 128 /* of a thread */ };
typedef struct simt_wgmma {
    lz_dtype d; /* LZ_F32: tf32 */
    unsigned n, steps;
    bool rs;    /* a is in registers (CUTLASS: RS; otherwise SS) */
    bool fresh; /* the sums are 0 before */
    bool a_rows_k, b_rows_k;
    Val a[4 * SIMT_WGMMA_STEPS], b; /* a[0], b: descriptors */
} simt_wgmma;
void simt_wgmma_multiply(simt *s, const simt_wgmma *w, Val *sum);
/* The descriptor of a factor that starts `at` bytes from the start of shared memory, a multiple of
 * 1024; lead: bytes from one block of 128-byte rows to the next, where they run along m or n. */
Val simt_wgmma_describe(simt *s, Val at, unsigned lead);
void simt_wgmma_wait(simt *s, Val *sum, unsigned n, unsigned left); /* for all but `left` of them */
/* What this thread wrote before is seen by the multiplications of the block behind a barrier. */
void simt_wgmma_fence(simt *s);
/* Four matrices of 8 rows of 16 bytes: lane 8 i + r gives the address of row r of matrix i; out[i]
 * is word l % 4 of row l / 4, or, transposed as one of 16-bit elements, the elements of column l /
 * 4 in rows 2 (l % 4) and the next. */
void simt_ldmatrix(simt *s, Val at, bool transposed, Val out[4]);
/* `width` (4, 8 or 16) bytes, of which the first `bytes` are copied and the others become 0. */
void simt_cp_async(simt *s, Val to, Val from, unsigned width, Val bytes);
/* 16 bytes, or zeros if they are not `there`. */
void simt_cp_async_16(simt *s, Val to, Val from, Val there);
/* 16 bytes of device memory as a vector of this type, if at[i] < left[i], 32 bits, otherwise zeros;
 * nothing moves the read elsewhere. */
Val simt_read_chunk(simt *s, Val from, Ty vector, const Val left[2], const unsigned at[2]);
void simt_cp_async_commit(simt *s);
/* Waits until all of this thread's cp.async groups but the last n have arrived. */
void simt_cp_async_wait(simt *s, unsigned n);
/* simt_vectorize.c: whether the accesses of stage s are contiguous or the same along the vector
 * loop, so that vectors of them are loaded and stored at once; and whether the addresses of
 * contiguous ones, wherever the other loops stand, are multiples of the vectors' size. After
 * POS_TOP. */
bool simt_vectors_suit(const kern *c, uint32_t s);
Val simt_vectors_aligned(kern *c, uint32_t s);
unsigned simt_vector_lanes(const lz_kernel *k, uint32_t first); /* that suit stages from `first` */
unsigned simt_elementwise_lanes(const lz_kernel *k); /* of vectors of points; 1: single ones */
/* Quotient of non-negative numbers; by 32-bit division where both fit. */
Val simt_udiv(em *e, Val a, Val b);
/* Indices 0..n-1 of `size` from a linear index; the last one fastest. */
void simt_split(em *e, Val linear, const Val *size, uint32_t n, Val *out);

/* The schedules. Bodies are what is between simt_begin and the final return. */
#define SCHEDULE(target, ...) SCHEDULE_##target(__VA_ARGS__)
#define SCHEDULE_cpu(...)
#define SCHEDULE_gpu(id, name, suits, dims, emit, file, doc)                                       \
    bool suits(const lz_kernel *k, const lz_target *t);                                            \
    void dims(const simt_sizes *z, lz_simt_dims *d);                                               \
    lz_status emit(simt *s);
#include "codegen/schedules.def"
#undef SCHEDULE_cpu
#undef SCHEDULE_gpu
void simt_elementwise_body(simt *s, kern *c, kern *many); /* many: in vectors, or NULL */
/* simt_sort.c: the threads of a block sort its rows together. */
Val simt_sorts_long(simt *s, kern *c); /* whether the rows are long enough */
void simt_sort_body(simt *s, kern *c);
/* simt_sort_config.c */
bool simt_sorts(const lz_kernel *k); /* some stage */
/* Where single threads sort: no more of them than there may be workspace for. */
void simt_sort_limit(const lz_kernel *k, const int64_t *args, lz_simt_dims *d);
void simt_transpose_body(simt *s, kern *c);
/* simt_elementwise_config.c */
enum {
    TRANSPOSE_SIDE = 32,
    TRANSPOSE_ROWS = 8, /* of a tile that a block copies at a time */
    TRANSPOSE_PITCH = TRANSPOSE_SIDE + 1,
    TRANSPOSE_LOADS = 8 /* that go through shared memory, at most */
};
int simt_transpose_loop(const lz_kernel *k); /* -1: there is nothing to read across */
/* Accesses that go through tiles in shared memory along loop d, and at which byte these start; how
 * many. */
uint32_t simt_transpose_loads(const lz_kernel *k, uint32_t d, uint32_t *access, uint32_t *start,
                              uint32_t *bytes);
void simt_serial_body(simt *s, kern *c);
/* simt_scatter.c: the scalar op that says which thread of a point has what is stored; -1: there is
 * none */
int32_t simt_scatter_by(const lz_kernel *k);
enum { SCATTER_MANY_POINTS = 1 << 16, SCATTER_GROUPS = 64 };
void simt_scatter_body(simt *s, kern *c);
void simt_reduce_row_body(simt *s, kern *c, kern *many); /* many: in vectors, or NULL */
/* simt_reduce_config.c */
/* What several stages load of a row and threads hold in registers from the first one on: where the
 * rows are short enough for the threads and the loads' strides, which are arguments, are equal. */
enum {
    SIMT_HELD = 2,        /* different ones, at most */
    SIMT_HELD_LOADS = 16, /* in all stages, at most */
    SIMT_HELD_SLOTS = 8,  /* vectors of a thread, and */
    SIMT_HELD_EACH = 32,  /* elements, at most */
};
typedef struct simt_held {
    uint32_t n;
    uint32_t nload;
    struct {
        uint32_t stage, access, value;
    } load[SIMT_HELD_LOADS];
} simt_held;
void simt_held_of(const lz_kernel *k, simt_held *h);
static inline unsigned simt_held_slots(unsigned lanes)
{
    unsigned n = SIMT_HELD_EACH / lanes;
    return n < SIMT_HELD_SLOTS ? n : SIMT_HELD_SLOTS;
}
bool simt_has_rows(const lz_kernel *k); /* that the threads of a block may share */
/* simt_reduce_acc.c: accumulators in memory, of `lanes` points side by side. */
unsigned simt_acc_bytes(lz_dtype d); /* of one */
void simt_acc_put(simt *s, Ev v, Val at);
Ev simt_acc_get(simt *s, lz_dtype d, unsigned lanes, Val at);
/* n of them as scalars or vectors, and back: what they were says which are complex. */
int simt_accs_flatten(const Ev *v, uint32_t n, Val *out);
void simt_accs_unflatten(Ev *v, uint32_t n, const Val *in);
/* simt_reduce_col.c */
typedef struct simt_range {
    Val loop, extent; /* of a stage: the inner loop that is shared */
} simt_range;
typedef struct simt_reduce_col {
    simt *s;
    kern_threads threads;
    Val log2, groups;         /* threads that share a point */
    Val log2_wide, wide;      /* neighbouring points of a block */
    Val group, column;        /* of this thread */
    Val point, in;            /* the last one where there is none for it */
    Val slices, slice, chunk; /* of the stage that is split; chunk NULL: none */
    uint32_t divided;
    simt_range range[LZ_STAGE_MAX];
} simt_reduce_col;
bool simt_has_columns(const lz_kernel *k);
unsigned simt_reduce_col_lanes(const lz_kernel *k);
uint32_t simt_reduce_col_shared(const lz_kernel *k, unsigned lanes);
void simt_reduce_col_body(simt *s, kern *c, kern *many); /* many: in vectors, or NULL */
/* The threads of a block as such a grid (log2 is set), and the points of one of its rounds. */
void simt_reduce_col_enter(simt_reduce_col *w, kern *c);
void simt_reduce_col_point(simt_reduce_col *w, kern *c, Val block, Val n);
/* simt_reduce_split.c: whether stage 0 may be split into slices: -1 if not, else the other stage
 * that is, too, or 0. The loop that is: its extent (of rows: in units of SIMT_ROW_SLICE). */
int simt_split_second(const lz_kernel *k);
int64_t simt_split_loop(const lz_kernel *k, uint32_t s, const int64_t *args, bool rows);
void simt_range_of(kern *c, uint32_t s, bool rows, simt_range *r);
uint64_t simt_split_workspace(const lz_kernel *k, int64_t slices, int64_t npoint);
/* The accumulators of a stage to scratch memory, where `mine`; and those of all slices, by a
 * block. */
void simt_workspace_store(simt *s, kern *c, uint32_t stage, Val slices, Val npoint, Val slice,
                          Val point, Val mine);
void simt_workspace_join(simt_reduce_col *w, kern *c, uint32_t stage, Val npoint, Val point);
void simt_reduce_final_body(simt *s, kern *c); /* SIMT_FINAL */
void simt_split_dims(const lz_kernel *k, int64_t slices, int64_t npoint, int64_t most,
                     lz_simt_dims *out);
/* Accumulators of a stage: a warp's to all of its lanes. */
void simt_join_warp(simt *s, kern *c, uint32_t stage, Ev *acc);
/* simt_b2b.c, simt_flash.c: make their own kerns, so they begin the function of s->entry
 * themselves. */
lz_status simt_b2b_function(simt *s);
lz_status simt_flash_function(simt *s);
bool simt_flash_has(const lz_kernel *k, const lz_target *t, lz_simt_entry entry);
uint32_t simt_flash_shared(const lz_kernel *k, lz_simt_entry entry);
/* of a block, at most; the kernel has the entry */
uint32_t simt_flash_threads(const lz_kernel *k, lz_simt_entry entry);
uint32_t simt_flash_min_blocks(const lz_kernel *k, lz_simt_entry entry); /* simt_plan */
/* simt_dot.c: makes its own kerns, so it begins the function itself. */
bool simt_gemm_suit(const lz_kernel *k);
/* The first of the outer loops that rows of tiles are of; the last one is m, and often it is the
 * only one. */
uint32_t simt_gemm_rows(const lz_kernel *k);
unsigned simt_gemm_threads(const lz_kernel *k, const lz_target *t, lz_simt_entry entry);
/* The instruction that multiplies; NULL: multiply-adds of single threads. */
const simt_mma *simt_gemm_mma(const lz_kernel *k, const lz_target *t);
/* Whether a thread wants more registers than several blocks on a multiprocessor leave it: sums that
 * do not stay in registers cost more than waiting does. */
bool simt_gemm_registers(const lz_kernel *k, const lz_target *t);
bool simt_gemm_has(const lz_kernel *k, const lz_target *t, lz_simt_entry entry);
uint32_t simt_gemm_shared(const lz_kernel *k, const lz_target *t, lz_simt_entry entry);
/* Whether k may be divided: it is not known to be short. */
bool simt_gemm_splits_k(const lz_kernel *k);
/* of numbers that are not negative; products beyond INT64_MAX are that */
static inline int64_t simt_ceil_div(int64_t n, int64_t by)
{
    return n / by + (n % by != 0);
}
static inline int64_t simt_times(int64_t a, int64_t b)
{
    int64_t r;
    return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;
}
static inline uint32_t simt_at_most(int64_t n, int64_t most)
{
    return (uint32_t)(n < most ? n : most);
}
/* simt_dot_cost.c */
uint32_t simt_gemm_picks(const lz_kernel *k, const int64_t *args, const lz_target *t,
                         lz_simt_pick out[SIMT_PICKS]);
/* n single threads, `most` blocks */
void simt_elementwise_launch(int64_t n, int64_t most, lz_simt_launch *out);
#endif
