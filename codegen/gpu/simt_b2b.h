/* simt_b2b.h - between the files of the back-to-back GEMM kernels: products with row-wise ops
 * between them whose rows stay in shared memory (attention of any size; simt_flash.h has the usual
 * ones).
 *
 * A block of 256 threads takes up to 16 points of the last outer loop, as many as shared memory has
 * room for. It has, for each point: its rows, left operands that are not rows, and results of
 * reductions that are read behind a product; before them a tile of a right operand.
 *
 * GEMMs: 64 columns at a time. The right operand comes in tiles of 64 columns x 32 of k,
 * zero-filled past its end. 16-bit operands by mma.sync: a warp has 8 columns of all 16 points;
 * others by FMA: a thread has one column of 4 points. Sums run over k in order. Between GEMMs a
 * warp has a point, and its lanes share the row. Threads: belongs to one thread. */
#ifndef LZ_CODEGEN_GPU_SIMT_B2B_H
#define LZ_CODEGEN_GPU_SIMT_B2B_H
#include "codegen/gpu/simt_kern.h"
#include "lower/loops/loop_impl.h"

enum {
    B2B_POINTS = 16,
    B2B_COLUMNS = 64,
    B2B_STEP = 32, /* of k */
    B2B_THREADS = 256,
    B2B_SHARED = 96 << 10, /* bytes; every processor has them */
    B2B_SPREAD = 32,
    B2B_PAD = 8,           /* elements: rows of other points begin in other banks */
    B2B_SAVED = KERN_ACCS, /* of a stage, at most */
    B2B_AREAS = KERN_SLOTS + LZ_STAGE_MAX + 1
};

/* Memory of a point: n elements. */
typedef struct b2b_area {
    const lz_sz *extent; /* NULL: count */
    uint32_t count;
    unsigned es;
} b2b_area;
/* Slots first, then the packed left factors by stage, then what is saved. */
typedef struct b2b_layout {
    kern_slots slots;
    b2b_area area[B2B_AREAS];
    unsigned n;
    int packed[LZ_STAGE_MAX], saved;          /* areas; -1: none */
    uint8_t save_at[LZ_STAGE_MAX][B2B_SAVED]; /* 1 + place among what is saved; 0: not saved */
    unsigned k_tile;                          /* bytes of a k-tile of a right factor */
} b2b_layout;
void b2b_layout_of(const lz_kernel *k, b2b_layout *l);
/* The first stage from s on that is a product. */
uint32_t b2b_next_product(const lz_kernel *k, uint32_t s);

/* A stage that keeps its sums. */
typedef struct b2b_product {
    lz_kernel view;
    lz_stage stage;
    const lz_sop *left;
    const simt_mma *mma; /* NULL: by single threads */
    lz_dtype acc;
    unsigned es; /* bytes of an element of a k-tile */
    int32_t a_sop, b_sop;
    bool by_k;    /* the right factor is contiguous along k */
    bool vectors; /* and evaluated in vectors, */
    Val aligned;  /* where this holds */
    unsigned lanes;
    kern a, b, many;
    Val N, K;
} b2b_product;

typedef struct b2b {
    simt *s;
    em *e;
    const lz_kernel *k;
    kern c; /* the stages between products */
    kern_threads threads;
    b2b_layout l;
    b2b_product *p[LZ_STAGE_MAX];          /* by stage; NULL: no product */
    Val base[B2B_AREAS], pitch[B2B_AREAS]; /* of points; bytes */
    Ty saved_type[LZ_STAGE_MAX][B2B_SAVED];
    Val rows; /* points a block has room for */
    Val M, batch, blocks;
    Val lane, warp; /* of the thread */
    lz_arena arena;
} b2b;

/* simt_b2b_mma.c */
lz_status b2b_product_init(b2b *b, uint32_t s);
void b2b_product_top(b2b *b, uint32_t s);
/* The sums of points r0 .. r0 + n - 1. All threads; ends with a barrier. */
void b2b_product_run(b2b *b, uint32_t s, Val r0, Val n);
Val b2b_shared(b2b *b, Val byte); /* address in shared memory */
#endif
