/* simt_flash.h - between the files of the flash-attention kernels: two GEMMs with row-wise ops
 * between them (attention, and the products around the derivative of softmax),
 * FlashAttention-style.
 *
 * A warp has 32 query rows (points of the last outer loop), or 16, a block those of 2 to 8 warps.
 * It streams K and V in tiles of 64: the scores of a tile are made by mma.sync and stay in
 * registers, where the stages between the GEMMs are evaluated; what they make is, in the same
 * registers, the left operand of the second GEMM, whose accumulators stay in registers too. K and V
 * tiles come through a multistage buffer in shared memory, by cp.async where they are plain loads.
 * No row is anywhere as a whole: where a stage needs a reduction of the row, a pass over all its
 * tiles goes before, which makes the scores anew.
 *
 * - which kernels, how many passes, whether softmax may be online: simt_flash_match.c
 * - blocks, threads, shared memory: simt_flash_config.c
 * - the kernel and its passes: simt_flash.c; tile loads: simt_flash_load.c
 * - the two GEMMs of a warp: simt_flash_mma.c (mma.sync, wgmma), simt_flash_fma.c
 *
 * Invariant: results do not depend on how many warps a block has.
 * Online softmax: the sum of
 * exp(x - max) is made in the pass that finds max, rescaled when max grows. Where the left operand
 * is such an exponential over its sum, times what depends on neither, the second GEMM is made in
 * the same pass too, and divided in the end; of 16-bit floats, the exponential is rounded then, not
 * the quotient. Threads: belongs to one thread. */
#ifndef LZ_CODEGEN_GPU_SIMT_FLASH_H
#define LZ_CODEGEN_GPU_SIMT_FLASH_H
#include "codegen/gpu/simt_kern.h"
#include "lower/loops/loop_impl.h"

enum {
    FLASH_ROW = 64,     /* elements of a KV tile */
    FLASH_POINTS = 128, /* of a block; half of them where blocks are few, or passes more than one */
    FLASH_TILE = 16,    /* points of an MMA instruction */
    FLASH_STAGES = 2,   /* KV tiles in shared memory */
    FLASH_PAD = 16,     /* bytes between rows there: eight of them begin in other banks */
    FLASH_HEAD = 64,    /* head dimension of Q and K, and of V, at most; or */
    FLASH_WIDE_HEAD = 128, /* this, in SIMT_FLASH_WIDE */
    FLASH_REDS = 4,        /* reductions of a stage, at most */
    FLASH_TILES = 2, /* of a warp; 1 where more registers are wanted: for wide heads, for results of
                        elements */
    FLASH_LANE_ROWS = 8, /* points of a lane, at most */
    FLASH_LANE_COLUMNS = FLASH_ROW / 4
};

/* The pattern that was matched: a function of the kernel. */
typedef struct flash_pattern {
    uint32_t second;        /* stage of the second GEMM */
    bool row[LZ_STAGE_MAX]; /* stages whose loop is that of the scores, before or after that GEMM */
    uint8_t level[LZ_STAGE_MAX]; /* how many dependent reductions a stage's values need */
    bool fma;                    /* f32, by FMA; otherwise 16-bit floats, by mma.sync */
    uint32_t levels;             /* with reductions */
    bool online;                 /* levels 0 and 1 are a maximum and the sum of exponentials */
    bool once;                   /* and the second GEMM is in the same pass */
    bool checks;                 /* but is redone where dividing later is not the same */
    uint32_t max_stage, sum_stage;
    int32_t shift; /* of the sum's stage: what is subtracted */
} flash_pattern;
bool flash_pattern_of(const lz_kernel *k, flash_pattern *f);

typedef struct flash_product {
    lz_kernel view;
    lz_stage stage;
    const lz_sop *left; /* the row that it is; NULL: none */
    const simt_mma *mma;
    int32_t a_sop, b_sop;
    bool by_k;              /* the right operand and its rows in shared memory run along k */
    bool vectors;           /* it is evaluated in vectors, or copied, */
    Val aligned;            /* where this holds */
    unsigned lanes, es;     /* elements of a vector; bytes of one */
    const lz_access *plain; /* it is a load of this; NULL: it is evaluated */
    kern a, b, many;
    Val N, K;
    Val far, near;   /* plain: the thread's first chunk of a KV tile: its row, and element of it; */
    Val from, to;    /* where it is in memory, and in a stage of the multistage buffer */
    unsigned nn, nk; /* elements of a KV tile */
    unsigned pitch, size; /* bytes: of its rows, of all */
    unsigned at;          /* byte of the KV tile among those of a stage of the multistage buffer */
} flash_product;

typedef struct flash {
    simt *s;
    em *e;
    const lz_kernel *k;
    flash_pattern f;
    bool wgmma; /* KV tiles are swizzled rows of 128 bytes, products are wgmma's */
    kern c;     /* the stages between and after the GEMMs */
    flash_product first, second;
    unsigned head;                 /* FLASH_HEAD or FLASH_WIDE_HEAD */
    unsigned tiles, rows, columns; /* of a warp; points and elements of a KV tile of a lane */
    unsigned stage_bytes;          /* bytes of a stage of the multistage buffer */
    Val lane, warp, M, total;      /* total: KV tiles of a row */
    Val points;                    /* of the block */
    Val row[FLASH_LANE_ROWS], at_row[FLASH_LANE_ROWS]; /* points; such as there are */
    Val column;                                        /* the lane's first one, */
    Val sum_column;                                    /* and of the second GEMM's sums */
    Val left[FLASH_WIDE_HEAD / 16][FLASH_TILES * 4]; /* Q: words of the first GEMM's left operand */
    Val score[FLASH_LANE_ROWS][FLASH_LANE_COLUMNS];
    Val factor[FLASH_LANE_ROWS][FLASH_LANE_COLUMNS];      /* P: left operand of the second GEMM */
    Val known[LZ_STAGE_MAX][FLASH_REDS][FLASH_LANE_ROWS]; /* results of reductions */
    /* values of rows */
    Ev made[LZ_STAGE_MAX][LZ_ROW_MAX][FLASH_LANE_ROWS][FLASH_LANE_COLUMNS];
} flash;

/* simt_flash_load.c */
lz_status flash_product_init(flash *p, flash_product *d, uint32_t s, unsigned nn, unsigned nk);
void flash_product_top(flash *p, flash_product *d, uint32_t s);
void flash_product_enter(flash *p, flash_product *d); /* for this point of the batch */
void flash_stand_at(flash *p, flash_product *d, kern *f, uint32_t x, Val xi, Val ki);
/* Starts the loads of the first KV tiles of a pass; `both`: of both GEMMs. */
void flash_prologue(flash *p, bool both);
/* Starts the load of KV tile `index` of K, of V or of both; one cp.async group. */
void flash_load(flash *p, Val index, bool first, bool second);
/* Address of row `r`, element `x` of it, of the KV tile in stage `at` (in bytes) of the multistage
 * buffer. */
Val flash_tile_at(flash *p, const flash_product *d, Val at, Val r, Val x);
Val flash_stage_at(flash *p, Val index); /* byte of the stage that has a KV tile */
/* simt_flash_mma.c */
void flash_take_left(flash *p, Val r0);             /* r0: the block's first point */
void flash_scores(flash *p, Val index, bool both);  /* of the KV tile, into p->score */
void flash_multiply(flash *p, Val index, Val *sum); /* p->factor by the KV tile, added */
/* simt_flash_fma.c: the same by FMA. */
void flash_fma_take_left(flash *p, Val r0);
void flash_fma_scores(flash *p);
void flash_fma_multiply(flash *p, Val *sum);
enum {
    FLASH_FMA_WIDE = 4,            /* elements that a thread loads at once */
    FLASH_FMA_HALF = FLASH_ROW / 2 /* of a KV tile: what shared memory has room for of P */
};
static inline unsigned flash_fma_column(const flash_product *d,
                                        unsigned c) /* from the lane's first */
{
    return d->by_k ? 8 * c : c / FLASH_FMA_WIDE * 32 + c % FLASH_FMA_WIDE;
}
static inline unsigned flash_fma_pitch(unsigned n) /* bytes of a row of a left factor */
{
    return (n + FLASH_FMA_WIDE) * 4;
}
/* Where KV tile elements and sums of a lane are: column c less the first, point and column of sum
 * i. */
static inline unsigned flash_column(const flash *p, unsigned c)
{
    return p->f.fma ? flash_fma_column(&p->first, c) : c / 2 * 8 + c % 2;
}
static inline unsigned flash_sums(const flash *p)
{
    return p->f.fma ? p->rows * p->head / 8 : p->tiles * p->head / 8 * 4;
}
static inline unsigned flash_row_of(const flash *p, unsigned i)
{
    unsigned each = flash_sums(p) / (p->f.fma ? p->rows : p->tiles);
    return p->f.fma ? i / each : i / each * 2 + i / 2 % 2;
}
static inline unsigned flash_column_of(const flash *p, unsigned i)
{
    unsigned x = i % (flash_sums(p) / (p->f.fma ? p->rows : p->tiles));
    return p->f.fma ? flash_fma_column(&p->second, x) : x / 4 * 8 + x % 2;
}
/* What differs between the functions. */
static inline unsigned flash_head(lz_simt_entry entry)
{
    return entry == SIMT_FLASH_WIDE ? FLASH_WIDE_HEAD : FLASH_HEAD;
}
static inline unsigned flash_tiles(const flash_pattern *f, lz_simt_entry entry)
{
    return entry != SIMT_FLASH_NARROW || !f->once ? 1 : FLASH_TILES;
}
static inline unsigned flash_points(const flash_pattern *f) /* of a block, at most */
{
    return f->once ? FLASH_POINTS : FLASH_POINTS / 2;
}
#endif
