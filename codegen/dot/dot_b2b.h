/* dot_b2b.h - between the files of the back-to-back GEMM kernels of a CPU: see dot_b2b.c.
 * Threads: belongs to one thread. */
#ifndef LZ_CODEGEN_DOT_DOT_B2B_H
#define LZ_CODEGEN_DOT_DOT_B2B_H
#include "codegen/dot/dot.h"

enum {
    BLOCK = 24,     /* points; three tiles */
    SLACK = DOT_MR, /* rows a tile writes beyond the block */
    UNITS = 8,      /* for threads to share */
    LINE = 64,      /* bytes */
    SIDE = 8,       /* points whose stages alternate: the latencies of their reductions overlap */
    ROW_PAD = 16    /* elements between rows, which would share sets of the cache otherwise */
};

/* A stage that keeps its sums. */
typedef struct product {
    dot g;
    lz_kernel view; /* as a product by itself: the loop of the sums is its last outer one */
    lz_stage stage;
    const lz_sop *left;   /* the row its left factor is, or NULL: it is packed */
    bool alike;           /* the tiles of an earlier product do */
    bool b_place;         /* the right operand may be laid out as one panel */
    uint32_t results;     /* the next stage, if all it does is to store the sums; or 0 */
    Val placed, stored;   /* i1: it is; the results are stored */
    Val b;                /* where it is then */
    Val pack_a, a_stride; /* left factors of the block, and the bytes between them */
} product;

/* An accumulator of a block's points that later products part from its readers: memory of both
 * parts of a complex one. */
typedef struct saved {
    Ty type;
    Val v, im; /* NULL: there is none */
} saved;

typedef struct dot_b2b {
    em *e;
    const lz_kernel *k;
    kern c;                   /* all stages but the products */
    product *p[LZ_STAGE_MAX]; /* by stage; NULL: no product */
    kern_slots slots;
    Val base[KERN_SLOTS], stride[KERN_SLOTS]; /* by slot */
    saved *saved[LZ_STAGE_MAX];               /* by stage and accumulator */
    Val batch, M, RU; /* points of the other loops, of the last one; units of one of the former */
    Val next[LZ_OUTER_MAX],
        more;             /* the point of the other loops that follows, and whether there is one */
    uint32_t prefetching; /* the stage beside which it is fetched */
    lz_arena arena;
} dot_b2b;

/* dot_b2b_prefetch.c: what is wanted next, while point i of the last loop is worked on: a few lines
 * at a time, for which nothing waits. */
void dot_b2b_prefetch(dot_b2b *r, Val i);
#endif
