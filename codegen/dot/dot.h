/* dot.h - between the files of the CPU's GEMM kernels: their plan, register tile, packing,
 * epilogue.
 *
 * C[m, n] = sum over k of A[m, k] B[k, n], one matrix per point of the outer loops before m and n.
 * As in BLIS: a register tile is mr rows and nv vectors of C, vectors run along n; B is packed into
 * panels of nv vectors, k-major (row k of a panel is nv * L elements); A is read in place when its
 * k stride is 1, else packed. For bf16 and int8, on machines that have the instruction (vdpbf16ps,
 * vpdpbusd), an element of packed A and B is a word: two bf16, of k = 2 j and 2 j + 1, or four
 * bytes.
 *
 * - macro-kernel, work partition: dot_blocking.c; tile and block sizes: dot.c, dot_config.c
 * - micro-kernel: dot_micro.c; packing: dot_pack.c; epilogue: dot_epilogue.c
 * - implicit GEMM (convolutions): dot_implicit.c; inner products: dot_inner.c; bf16 and int8 on AMX
 *   tiles: dot_amx.c; back-to-back GEMM (attention): dot_b2b.c
 *
 * Loop order: unit (matrix, block of columns, block of rows) > block of K > tile of rows > panel of
 *   columns. Inner loops but the last one are more blocks of K. Rows divide into tiles of mr (the
 *   last one partly empty); vectors and K divide into blocks of nearly equal size. Sums run over k
 *   in order in every tile, so results do not depend on the work partition.
 * Threads: belongs to one thread. */
#ifndef LZ_CODEGEN_DOT_DOT_H
#define LZ_CODEGEN_DOT_DOT_H
#include "codegen/loops/kern.h"

enum {
    DOT_MR = 8, /* bounds of the tile */
    DOT_NV = 8,
    DOT_SET_BYTES = 4096, /* cache lines so far apart share a set of the L1; */
    DOT_SET_NARROW = 256  /* of panels as narrow as a line, a run of rows takes so many sets */
};

typedef enum dot_a {
    DOT_A_PLACE, /* rows in place, k stride 1 */
    DOT_A_ROWS,  /* packed, rows of a fixed stride (evaluated in vectors along k) */
    DOT_A_COLS   /* the rows of a unit packed k-major (evaluated in vectors along m) */
} dot_a;
typedef enum dot_b {
    DOT_B_ROWS, /* vectors along n */
    DOT_B_COLS  /* vectors along k, transposed while packed */
} dot_b;

/* What every GEMM schedule of a CPU has. A macro of members, as C has no unnamed members of a named
 * type: `base` is the same memory, for functions of all schedules. */
#define DOT_COMMON                                                                                 \
    em *e;                                                                                         \
    const lz_kernel *k;                                                                            \
    lz_dtype d;     /* of the accumulators */                                                      \
    unsigned L, es; /* lanes of a vector, bytes of an element */                                   \
    uint32_t n;     /* the loop of columns */                                                      \
    Ty elem, vec;   /* an element, a vector of L */                                                \
    kern c;         /* evaluation of the epilogue */
typedef struct dot_common {
    DOT_COMMON
} dot_common;
#define DOT_BASE                                                                                   \
    union {                                                                                        \
        dot_common base;                                                                           \
        struct {                                                                                   \
            DOT_COMMON                                                                             \
        };                                                                                         \
    }

typedef struct dot {
    DOT_BASE;
    unsigned mr;           /* rows of a tile */
    unsigned nv, nv_small; /* vectors of a panel; of a narrow panel (equal: there is none) */
    unsigned log_steps;    /* log2 of the unroll factor along k */
    unsigned log_lines;    /* log2 of the cache lines of a panel row that is prefetched into L2 */
    dot_a amode;
    dot_b bmode;
    bool b_place; /* B may be read in place: always, or by the first tile, which packs it */
    bool whole;   /* no panel has columns that are not there, in a vector or of a whole one */
    /* elements of A and B are words of 1 << words k, for dot-product instructions; 0: plain
     * values */
    unsigned words;
    /* int8: vpdpbusd takes one signed and one unsigned operand. Where both are alike, A is offset
     * by 128; the row after a panel's last one in packed B is the correction: what the offset adds
     * to the sums of its columns, negated. */
    bool alike, a_signed;
    bool plain;         /* no epilogue, contiguous rows: full tiles are stored to C directly */
    bool stream;        /* B is always read in place: it is streamed, with prefetches */
    bool near;          /* all a tile touches is in the caches: nothing is prefetched */
    int64_t kc, nc, mc; /* bounds of a block: K, vectors, tiles */
    uint32_t m, kd;     /* loops; kd is the last inner one, counted from the first outer loop */
    uint32_t ki;        /* kd counted from the first inner loop */
    kern a, b;          /* evaluation of the factors */
    Val micro[2];       /* functions by [narrow panel] */
    /* emitted sizes */
    /* K: of the last inner loop, KO: of the others; row_b: bytes from one row of B in place to the
     * next */
    Val M, N, K, KO, batch, row_b;
    Val KS, T, V, RB, CB;            /* KS: steps of the last inner loop (K, or words) */
    Val panels;                      /* of columns: as few as there can be */
    Val direct;                      /* i1: B in place */
    Val wide;                        /* vectors of a unit's columns, at most */
    Val npack_b, npack_a;            /* bytes of the areas of the workspace but the last */
    Val grid, scratch;               /* what lz_grid and lz_scratch give */
    em_numbers numbers;              /* all but the first six, computed from these */
    Val each;                        /* i1: nothing is packed, a unit has one panel */
    Val KN, KB;                      /* blocks of the last inner loop; of all inner loops */
    Val pack_a, pack_b, block, zero; /* areas of the workspace; a row of zeros */
} dot;

/* Schedules (schedules.def). */
bool dot_suits(const lz_kernel *k, const lz_target *t); /* dot_config.c: any of the GEMMs here */
lz_status lz_kern_dot(em *e, const lz_kernel *k);       /* dot.c */
/* dot_b2b.c: back-to-back GEMMs. */
bool dot_b2b_suits(const lz_kernel *k, const lz_target *t);
lz_status lz_kern_b2b(em *e, const lz_kernel *k);

/* dot_config.c: the access of an operand that is a load; rows that are too few to repay packing */
const lz_access *dot_access(const dot *g, int32_t sop);
bool dot_plain_along(const dot *g, int32_t sop,
                     uint32_t d); /* a load that is contiguous along loop d */
int64_t dot_few_rows(const dot *g);
int64_t dot_most_vectors(const em *e); /* of columns in a block: more do not pay */
/* Evaluation of an operand, with vectors along the loop in which its loads are contiguous: `first`
 * when both or neither are. */
lz_status dot_choose_vectors(dot_common *g, kern *f, int32_t sop, uint32_t first, uint32_t second,
                             bool *took_first);
void dot_choose_tile(dot *g); /* mr, nv, nv_small */
/* Sets all of g but c, which kern_init_epilogue does. k: with the GEMM in stage 0. */
void dot_common_init(dot_common *g, em *e, const lz_kernel *k);
bool dot_stores_sums(const lz_kernel *k); /* as they are, contiguous along n */
int64_t dot_baked(lz_sz s);               /* a size that is known, or -1 */

/* dot_blocking.c */
/* Loop over the panels of vectors v0..v1-1: of 3 and of 2, narrow ones until the rest is a multiple
 * of the wide ones; otherwise narrow only where that is enough for the rest; where all is near,
 * wide ones as long as they are full. Gives the panel's first vector and how many it has. */
typedef struct dot_panels {
    Blk body, exit;
    Val v0, v1, v, nv, small;
} dot_panels;
void dot_panels_begin(dot *g, Val v0, Val v1, dot_panels *p);
void dot_panels_end(dot *g, dot_panels *p);
/* Packs rows k0.. (kc of them) of B's vectors v0..v1-1; a panel of them is at dot_panel_at. */
void dot_pack_panels(dot *g, Val v0, Val v1, Val k0, Val kc);
Val dot_panel_at(dot *g, Val v0, Val v, Val kc);
void dot_emit_blocking(dot *g); /* the emitted sizes; lz_grid, lz_scratch */
/* lz_grid and lz_scratch, which give the two of `numbers` that are kept at grid and scratch. First
 * comes the start of the function that computes them; between them the caller sets what they are
 * computed from. */
Val dot_sizes_begin(dot_common *g);
void dot_emit_sizes(dot_common *g, Val f, em_numbers *numbers, Val *grid, Val *scratch);
void dot_emit_run(dot *g);
/* Vectors of columns in blocks, which begin where any panel can: those of 3 vectors and of 2 fill
 * any number but 1. */
typedef struct dot_columns {
    Val vectors, blocks;
    unsigned nv, nv_small; /* of a panel, of a narrow one */
} dot_columns;
Val dot_block_start(em *e, dot_columns c, Val i); /* first vector of block i */
Val dot_block_most(em *e,
                   dot_columns c); /* vectors of the widest, with what its last panel has more */
/* First of block i when n items are divided into blocks of nearly equal size. */
Val dot_cut(em *e, Val n, Val parts, Val i);
/* Load balance: `blocks`, of `others` units each, or, where units are few, more, up to `most`, so
 * that two or four threads have equally many units. */
Val dot_share_equally(em *e, Val others, Val blocks, Val most);
/* i1: rows of B with this stride in bytes have no conflict misses: those that a tile uses do not
 * map to the same few sets of the L1. */
Val dot_rows_apart(em *e, Val row);
Val dot_bytes(kern *f, unsigned es, lz_sz elements); /* of es bytes each */
/* bytes between rows of packed A; between the k of a k-major one */
int64_t dot_a_stride(const dot *g);
/* k-major: vectors of a unit's rows; a multiple of KERN_U, or fewer */
unsigned dot_a_vectors(const dot *g);

/* dot_micro.c: emits functions of these arguments; strides are bytes. Rows from ROWS up read the
 * last row again. COLS: columns of B that exist (in place). C gets the whole tile, the sums plus
 * what is at OLD. NEXT: the first of the rows of A, 1 + NEXT_ROWS of them, that the next tile reads
 * and this one prefetches, like its own lines of C; NULL: all is near. With it, and B that may be
 * in place, FAR: rows of B, FAR_STRIDE apart, that are prefetched into L2, one in 1 << FAR_LOG
 * steps, at least as many as a row has lines. KEEP, with NEXT: where to pack B while it is read in
 * place, or NULL. Where all is near, ROWS may be any number of rows, of as many tiles, and OLD is
 * zero. */
enum micro_arg {
    MICRO_A,
    MICRO_A_STRIDE,
    MICRO_ROWS,
    MICRO_B,
    MICRO_B_STRIDE,
    MICRO_KC,
    MICRO_C,
    MICRO_C_STRIDE,
    MICRO_OLD,
    MICRO_OLD_STRIDE,
    MICRO_COLS,
    MICRO_KEEP,
    MICRO_NEXT,
    MICRO_NEXT_ROWS,
    MICRO_FAR,
    MICRO_FAR_STRIDE,
    MICRO_FAR_LOG,
    MICRO_ARGS
};
void dot_emit_micro(dot *g);
/* s and the products of vectors x of A and y of B */
Val dot_multiply_add(dot *g, Val x, Val y, Val s);
void dot_call_micro(dot *g, Val narrow, const Val *args);

/* dot_implicit.c: implicit GEMM, whose rows or k run over several loops. */
bool dot_implicit_suits(const lz_kernel *k, const lz_target *t);
lz_status dot_emit_implicit(em *e, const lz_kernel *k);
/* The next index, row-major. */
void dot_count_on(em *e, uint32_t n, const Val *ext, Val *i);

/* dot_amx.c: bf16 and bytes on AMX tiles. */
bool dot_amx_suits(const lz_kernel *k, const lz_target *t);
lz_status dot_emit_amx(em *e, const lz_kernel *k);

/* dot_inner.c: inner products, where both operands are contiguous along k. */
bool dot_inner_suits(const lz_kernel *k, const lz_target *t);
lz_status dot_emit_inner(em *e, const lz_kernel *k);

/* dot_pack.c */
/* a bit per loop that a unit and a block of K fix: batch, inner ones but the last */
uint32_t dot_fixed_loops(const dot *g);
void dot_share_indices(const dot *g, kern *f); /* of those loops */
/* B rows k0.. (kc of them), a panel of nv vectors from v0 to `out`; `full`: nv as a number, when it
 * is known. */
void dot_pack_b(dot *g, Val k0, Val kc, Val v0, Val nv, unsigned full, Val out);
/* rows of a tile, or of a unit (k-major) */
void dot_pack_a(dot *g, Val r, Val nrows, Val k0, Val kc);

/* dot_epilogue.c */
/* How many vectors a panel has, and a narrow one (as many: there is none). */
typedef struct dot_panel {
    unsigned nv, nv_small;
} dot_panel;
/* The epilogue of one row, vectors v..past-1, whose other outer indices are set; its
 * sums from v on begin at `row`. n, N: the loop of columns and how many there are. w: vectors
 * v..past-1 are mostly those of such a panel; NULL: any. */
void dot_epilogue_row(kern *f, uint32_t n, Val N, Val row, Val v, Val past, const dot_panel *w);
/* Whether the epilogue reads or writes anything that dot_prefetch_row prefetches: rows of nv
 * vectors from vector v on, where the other outer indices are set. */
bool dot_prefetches_rows(const kern *f, uint32_t n);
void dot_prefetch_row(kern *f, uint32_t n, Val v, unsigned nv);
#endif
